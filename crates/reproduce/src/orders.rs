//! The order of a translation's words beside that of the reference.
//!
//! Neighbouring source words are in order, or swapped, by the first target word that each is linked to: in the translation
//! by the links of its derivation, in the reference by those of an aligner. What BLEU says of a reordering model it says of
//! everything at once; this is about order alone.

use serde::{Deserialize, Serialize};
use sylvan_align::{Aligner, Bitext, Heuristic, Preset, ReadConfig};
use sylvan_base::Progress;
use sylvan_decode::Result;

/// How often translation and reference agree about neighbouring source words, by what the reference does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Agreement {
    /// Pairs in order, and those of them that the translation has in order.
    pub(crate) in_order: [u64; 2],
    /// Pairs swapped, and those of them that the translation has swapped.
    pub(crate) swapped: [u64; 2],
}

impl Agreement {
    /// Adds a sentence, by its links.
    pub(crate) fn add(&mut self, words: usize, translation: &[(u32, u32)], reference: &[(u32, u32)]) {
        let [ours, theirs] = [translation, reference].map(|links| first_targets(words, links));
        // A word without links has no place in an order; its neighbours are neighbours then.
        let both: Vec<(u32, u32)> =
            ours.into_iter().zip(theirs).filter_map(|(ours, theirs)| Some((ours?, theirs?))).collect();
        for pair in both.windows(2) {
            let [is_swapped, should_be] = [pair[1].0 < pair[0].0, pair[1].1 < pair[0].1];
            let count = if should_be { &mut self.swapped } else { &mut self.in_order };
            count[0] += 1;
            count[1] += u64::from(is_swapped == should_be);
        }
    }

    /// The share of pairs on which both agree, in percent.
    pub(crate) fn agreed(&self) -> f64 {
        100.0 * (self.in_order[1] + self.swapped[1]) as f64
            / (self.in_order[0] + self.swapped[0]).max(1) as f64
    }

    /// The share of the reference's swaps that the translation has, in percent.
    pub(crate) fn swaps_found(&self) -> f64 {
        100.0 * self.swapped[1] as f64 / self.swapped[0].max(1) as f64
    }
}

/// The first target word that each source word is linked to.
fn first_targets(words: usize, links: &[(u32, u32)]) -> Vec<Option<u32>> {
    let mut first: Vec<Option<u32>> = vec![None; words];
    for &(source, target) in links {
        if let Some(known) = first.get_mut(source as usize) {
            *known = Some(known.map_or(target, |known| known.min(target)));
        }
    }
    first
}

/// The links of a text to its references, by an aligner that has seen the training text as well.
pub(crate) fn reference_links(
    train: [&[String]; 2],
    text: [&[String]; 2],
    threads: usize,
    progress: &dyn Progress,
) -> Result<Vec<Vec<(u32, u32)>>> {
    let config = ReadConfig { lowercase: true, ..ReadConfig::default() };
    let mut bitext = Bitext::default();
    let mut places = Vec::with_capacity(text[0].len());
    for [sources, targets] in [text, train] {
        for (source, target) in sources.iter().zip(targets) {
            let place = bitext.len();
            bitext.push(source, target, config)?;
            if places.len() < text[0].len() {
                // Pairs that are too long, or empty, are left out.
                places.push((bitext.len() > place).then_some(place));
            }
        }
    }
    let method = Preset::Default.method(bitext.len(), 1);
    let aligner = Aligner::train(&bitext, &method, threads, progress, &mut |_| {})?;
    let links = |place: Option<usize>| -> Result<Vec<(u32, u32)>> {
        let Some(place) = place else { return Ok(Vec::new()) };
        let links = aligner.posteriors(place)?.links(Heuristic::GrowDiagFinalAnd);
        Ok(links.iter().map(|link| (link.source, link.target)).collect())
    };
    places.into_iter().map(links).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sylvan_base::Silent;

    #[test]
    fn order_is_that_of_the_first_words_linked() {
        let mut agreement = Agreement::default();
        // The reference swaps the last two of four words; the third has no link in the translation.
        let reference = [(0, 0), (0, 5), (1, 1), (2, 3), (3, 2)];
        agreement.add(4, &[(0, 1), (1, 0), (3, 2)], &reference);
        // 0 and 1: in order there, swapped here; 1 and 3, neighbours now: in order in both.
        assert_eq!((agreement.in_order, agreement.swapped), ([2, 1], [0, 0]));
        agreement.add(4, &[(0, 0), (1, 1), (2, 3), (3, 2), (9, 0)], &reference);
        assert_eq!((agreement.in_order, agreement.swapped), ([4, 3], [1, 1]));
        assert_eq!((agreement.agreed(), agreement.swaps_found()), (80.0, 100.0));
    }

    #[test]
    fn lines_that_cannot_be_linked_keep_their_places() {
        let lines = |lines: &[&str]| lines.iter().map(ToString::to_string).collect::<Vec<_>>();
        let train =
            [lines(&["das Haus", "das Buch", "ein Buch"]), lines(&["the house", "the book", "a book"])];
        let text = [lines(&["", "das Buch"]), lines(&["x", "the book"])];
        let found = reference_links([&train[0], &train[1]], [&text[0], &text[1]], 1, &Silent).expect("links");
        assert_eq!(found, [vec![], vec![(0, 0), (1, 1)]]);
    }
}
