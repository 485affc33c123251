//! What the scores of a run mean, in sentences.

/// What a reader can expect at a BLEU of so much or more. Rough, and about text like that which was measured.
const MEANING: [(f64, &str); 6] = [
    (50.0, "very good where text is as alike as this"),
    (40.0, "good: mostly right and fluent, with errors to correct"),
    (30.0, "understandable, with errors in most sentences"),
    (20.0, "the gist comes through, with many errors"),
    (10.0, "parts can be made out, hardly whole sentences"),
    (0.0, "single words are right, and little more"),
];
/// Below this even a tiny text is no excuse.
const BROKEN: f64 = 2.0;

/// The last lines of a report: scores of the held-out text (or else of the tuning text), and what they mean for so
/// many pairs of training text.
pub(crate) fn verdict(scores: &[(String, f64)], pairs: u64) -> Vec<String> {
    let score = |name: &str| scores.iter().find(|(known, _)| known == name).map(|(_, score)| *score);
    let held_out = score("holdout.bleu").is_some();
    let part = if held_out { "holdout" } else { "dev" };
    let (Some(bleu), Some(sentences)) = (score(&format!("{part}.bleu")), score(&format!("{part}.sentences")))
    else {
        return Vec::new();
    };
    let shown = |name: &str, metric: &str| {
        let value = score(&format!("{part}.{name}")).unwrap_or(0.0);
        match (score(&format!("{part}.{name}.low")), score(&format!("{part}.{name}.high"))) {
            (Some(low), Some(high)) => format!("{metric} {value:.1} ({low:.1} to {high:.1})"),
            _ => format!("{metric} {value:.1}"),
        }
    };
    let (of, caveat) = if held_out {
        ("held-out", "neither trained nor tuned on")
    } else {
        ("tuning", "the weights were tuned on them, so this flatters")
    };
    let mut lines = vec![format!(
        "{of} text, {sentences:.0} sentences ({caveat}): {}, {}; in brackets where 95 of 100 such texts would be",
        shown("bleu", "BLEU"),
        shown("chrf", "chrF")
    )];
    if bleu < BROKEN {
        lines.push(format!(
            "warning: BLEU {bleu:.1} is next to nothing, also for {pairs} pairs; look at the warnings above and at the \
             translations in the report: sides swapped? lines shuffled? another language?"
        ));
        return lines;
    }
    let meaning = MEANING.iter().find(|(least, _)| bleu >= *least).map_or("", |(_, meaning)| meaning);
    lines.push(format!(
        "what that means: {meaning}. {pairs} pairs were learnt from; more text of the same kind \
         helps most"
    ));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(list: &[(&str, f64)]) -> Vec<(String, f64)> {
        list.iter().map(|(name, score)| (name.to_string(), *score)).collect()
    }

    #[test]
    fn the_held_out_text_counts_if_there_is_one() {
        let dev = [("dev.bleu", 35.0), ("dev.chrf", 60.0), ("dev.sentences", 100.0)];
        let held = [
            ("holdout.bleu", 27.25),
            ("holdout.bleu.low", 25.1),
            ("holdout.bleu.high", 29.9),
            ("holdout.chrf", 52.0),
            ("holdout.sentences", 250.0),
        ];
        let both = verdict(&scores(&[&dev[..], &held].concat()), 5000);
        assert!(both[0].starts_with("held-out text, 250 sentences"), "{both:?}");
        assert!(both[0].contains("BLEU 27.2 (25.1 to 29.9), chrF 52.0;"), "{both:?}");
        assert!(both[1].contains("the gist comes through") && both[1].contains("5000 pairs"), "{both:?}");
        let alone = verdict(&scores(&dev), 300);
        assert!(alone[0].contains("so this flatters") && alone[1].contains("understandable"), "{alone:?}");
    }

    #[test]
    fn next_to_nothing_is_called_that() {
        let nothing = verdict(&scores(&[("dev.bleu", 0.4), ("dev.chrf", 9.0), ("dev.sentences", 9.0)]), 5000);
        assert!(nothing[1].starts_with("warning: BLEU 0.4 is next to nothing"), "{nothing:?}");
        assert!(verdict(&[], 1).is_empty());
    }
}
