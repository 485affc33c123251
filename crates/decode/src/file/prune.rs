//! A smaller model: fewer rules, and a language model that takes less room.
//!
//! The language model may take a quarter of the room; rules get what is left. Those worth least go first:
//! worth is how often a rule was seen, against how much of it other rules can make up for. A rule for a
//! single word cannot be made from others and goes last; one that joins several rules and was seen once goes
//! first.

use std::collections::BTreeMap;
use std::path::Path;

use sylvan_base::{Id, InputError, Silent};
use sylvan_lm::{CompileConfig, EstimateConfig, Estimator, LayoutKind, Lm, Marks};
use sylvan_rules::{Filter, Grammar, RuleId};
use sylvan_store::{ContainerWriter, Output, TextReader};

use super::{KIND, LINES, MANIFEST, MODELS, Manifest, ModelFile, RULES, VERSION, model_name};
use crate::error::{Error, Result};

/// What a smaller model has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pruned {
    /// Its size.
    pub bytes: u64,
    /// Rules before and after.
    pub rules: [u64; 2],
    /// Bytes of the language model before and after.
    pub language_model: [u64; 2],
    /// Whether it keeps the training text.
    pub lines: bool,
}

/// The language model may take one part in this many.
const LM_SHARE: u64 = 4;
/// Ever smaller language models: bits per value, and by length the count up to which n-grams are dropped.
const LM_STEPS: [(Option<u32>, &str); 6] = [
    (None, "0"),
    (Some(8), "0"),
    (Some(8), "0 0 0 1"),
    (Some(8), "0 0 1"),
    (Some(8), "0 0 1 2"),
    (Some(6), "0 1 2 3"),
];
/// How many tables are written, at most, to find out how many rules fit.
const TRIES: usize = 6;

/// Writes a model of at most `size` bytes. Without `lines` the training text is dropped, for more rules.
pub fn prune(model: &Path, out: &Path, size: u64, lines: bool) -> Result<Pruned, Error> {
    let file = ModelFile::open(model)?;
    let grammar = file.grammar()?;
    let lines = lines && file.file.has(LINES);
    let folder = tempfile::tempdir_in(
        out.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new(".")),
    );
    let folder = folder.map_err(InputError::io(out, "make a folder beside"))?;
    let _unfinished = sylvan_store::Unfinished::new(folder.path());
    let sections: BTreeMap<String, u64> = file.sections().collect();
    let length = |name: &str| sections.get(name).copied().unwrap_or(0);
    let total: u64 = sections.values().sum();
    let new_lm = folder.path().join("lm");
    let lm_before = length("lm0");
    // If everything fits, only what was asked for goes.
    let whole = total - if lines { 0 } else { length("lines") } + 4096;
    let smaller = if whole <= size { false } else { shrink_lm(&file, size / LM_SHARE, &new_lm)? };
    let lm_after = if smaller { bytes_of(&new_lm)? } else { lm_before };
    let beside: u64 = whole - length("rules") - lm_before + lm_after;
    let parser = length("parser");
    let text = if lines { length("lines") } else { 0 };
    let (structured, neural) = (length("slm"), length("neural"));
    let too_small = |needed| Error::TooSmall {
        needed,
        size,
        advice: advice([parser, text, lm_after, structured, neural]),
    };
    let room = size.checked_sub(beside).filter(|&room| room > 0).ok_or_else(|| too_small(beside))?;
    let table = folder.path().join("rules");
    let before = grammar.len() as u64;
    let kept = if length("rules") <= room { before } else { shrink_rules(&grammar, room, &table)? };
    if kept == 0 && before > 0 {
        // A table has a vocabulary and a trie as well. A model without rules translates nothing.
        return Err(too_small(beside + bytes_of(&table)?));
    }
    let mut manifest = file.manifest.clone();
    if kept < before || smaller {
        // The figures were measured on the larger model.
        manifest.figures.clear();
        manifest.settings.insert("pruned-to".into(), size.to_string());
    }
    let mut writer = ContainerWriter::create(out, KIND, VERSION, MODELS + 8)?;
    for (name, _) in file.sections() {
        let name = padded(&name);
        if name == MANIFEST {
            write_manifest(&mut writer, &manifest)?;
        } else if name == RULES && kept < before {
            writer.file(RULES, &table)?;
        } else if name == model_name(0) && smaller {
            writer.file(name, &new_lm)?;
        } else if name != LINES || lines {
            writer.section(name, file.file.section::<u8>(name)?)?;
        }
    }
    writer.finish()?;
    let bytes = bytes_of(out)?;
    Ok(Pruned { bytes, rules: [before, kept], language_model: [lm_before, lm_after], lines })
}

/// What takes room besides the rules, and what can be done about it: the largest part first.
fn advice([parser, lines, lm, structured, neural]: [u64; 5]) -> String {
    let mut parts = [
        (parser, "the parser", "train with a smaller treebank or fewer --parser-epochs, or give trees"),
        (lines, "the training text", "leave it out with --no-lines"),
        (lm, "the language model", "train with a lower --lm-order"),
        (structured, "the structured language model", "train without --structured-lm"),
        (neural, "the network", "train without --neural"),
    ];
    parts.sort_by_key(|part| std::cmp::Reverse(part.0));
    let parts = parts.into_iter().filter(|part| part.0 > 0);
    let told: Vec<String> =
        parts.map(|(bytes, part, remedy)| format!("{part} takes {bytes} of them ({remedy})")).collect();
    format!("ask for more: {}", told.join(", "))
}

fn write_manifest(writer: &mut ContainerWriter, manifest: &Manifest) -> sylvan_base::Result<()> {
    let text = serde_json::to_vec_pretty(manifest).expect("strings and numbers can be written as JSON");
    writer.section(MANIFEST, &text)
}

fn padded(name: &str) -> sylvan_store::Name {
    let mut padded = [0; 8];
    for (to, from) in padded.iter_mut().zip(name.bytes()) {
        *to = from;
    }
    padded
}

fn bytes_of(path: &Path) -> sylvan_base::Result<u64> {
    Ok(std::fs::metadata(path).map_err(InputError::io(path, "open"))?.len())
}

/// Re-estimates the language model from the text that the model keeps, smaller each time until it fits. False
/// if it fits as it is, or was not learnt from that text alone.
fn shrink_lm(model: &ModelFile, room: u64, out: &Path) -> Result<bool, Error> {
    let first = model_name(0);
    // A model of classes beside it stays as it is; it is small.
    let others = model.models()?.into_iter().skip(1).any(|lm| lm.classed_words().is_none());
    let single = model.file.has(first) && !others;
    let fits = |bytes: u64| bytes <= room;
    let now = model.file.section::<u8>(first)?.len() as u64;
    let more_text = model.manifest.origins.iter().any(|origin| origin.role == "lm-text");
    let Some(lines) = model.training_lines()?.filter(|_| single && !more_text && !fits(now)) else {
        return Ok(false);
    };
    let order = Lm::inside(&model.file, first)?.order();
    for (quantize, thresholds) in LM_STEPS {
        let prune = sylvan_lm::Prune::parse(thresholds).map_err(|fault| fault.at("thresholds", 1))?;
        let config = EstimateConfig {
            order,
            fallback: Some([0.5, 1.0, 1.5]),
            prune,
            marks: Marks::Skip,
            threads: 1,
            ..EstimateConfig::default()
        };
        let mut estimator = Estimator::with_temp(config, &sylvan_lm::temp_folder(out))?;
        lines.each(|line| {
            let added = estimator.add(&line.target);
            added.map_err(|fault| Error::from(fault.at("the training text", line.number)))
        })?;
        let arpa = out.with_extension("arpa");
        let mut text = Output::create(&arpa)?;
        estimator.write_arpa(&mut text, &Silent)?;
        text.finish()?;
        let lm = Lm::read_arpa(&mut TextReader::open(&arpa)?.tolerant())?;
        lm.compile(out, CompileConfig { layout: LayoutKind::Trie, quantize, bounds: false })?;
        if fits(bytes_of(out)?) {
            break;
        }
    }
    Ok(true)
}

/// Writes as many rules as fit, those worth most; returns how many.
fn shrink_rules(grammar: &Grammar, room: u64, out: &Path) -> sylvan_base::Result<u64> {
    let mut ranked: Vec<(f64, RuleId)> = grammar.rules().map(|id| (worth(grammar, id), id)).collect();
    ranked.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let (mut fits, mut too_many) = (0usize, ranked.len());
    let write = |count: usize| -> sylvan_base::Result<u64> {
        let mut keep = vec![false; ranked.len()];
        ranked[..count].iter().for_each(|(_, id)| keep[id.index()] = true);
        grammar.write_filtered(out, &Filter::of_rules(keep))?;
        bytes_of(out)
    };
    // The size grows almost linearly with the rules, so a few guesses are enough.
    let empty = write(0)?;
    let (mut known, mut at) = ((0usize, empty), None);
    let mut slope = (bytes_of_table(grammar) - empty as f64) / ranked.len() as f64;
    for _ in 0..TRIES {
        let guess = known.0 as f64 + (room as f64 - known.1 as f64) / slope.max(1.0) * 0.995;
        let guess = (guess.max(0.0) as usize).clamp(fits, too_many.saturating_sub(1));
        if at == Some(guess) {
            break;
        }
        let bytes = write(guess)?;
        at = Some(guess);
        slope = (bytes - empty) as f64 / guess.max(1) as f64;
        known = (guess, bytes);
        if bytes > room {
            too_many = guess;
        } else {
            fits = guess;
            if bytes as f64 > 0.98 * room as f64 {
                break;
            }
        }
    }
    if at != Some(fits) {
        write(fits)?;
    }
    Ok(fits as u64)
}

fn bytes_of_table(grammar: &Grammar) -> f64 {
    // Roughly what rules take; later guesses are better.
    48.0 * grammar.len() as f64
}

/// What a rule is worth: its count and its probabilities in both directions, less what joining smaller rules
/// would do as well.
fn worth(grammar: &Grammar, id: RuleId) -> f64 {
    let count = grammar.notes(id).count.map_or(1.0, |count| count.rule.to_f64());
    let named = grammar.feature_names().iter().zip(grammar.features(id));
    let sure: f64 = named
        .filter(|(name, _)| matches!(name.as_str(), "p_ef" | "p_fe"))
        .map(|(_, value)| f64::from(value))
        .sum();
    let nodes = f64::from(grammar.rule(id).nodes());
    count.max(0.01).ln() + 0.25 * sure - 0.7 * (nodes - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_names_the_largest_part_first_and_only_what_is_there() {
        let told = advice([33_000_000, 260_000, 900_000, 0, 0]);
        assert!(told.starts_with("ask for more: the parser takes 33000000 of them"), "{told}");
        let places = ["the parser", "the language model", "--no-lines"].map(|part| told.find(part).unwrap());
        assert!(places.is_sorted(), "{told}");
        assert!(
            !advice([0, 5, 3, 0, 0]).contains("parser takes")
                && !advice([9, 0, 3, 0, 0]).contains("--no-lines")
        );
    }
}
