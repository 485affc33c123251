//! Rest costs: better guesses for the first words of a piece (Heafield, Koehn & Lavie 2012).
//!
//! In a Kneser-Ney model the probabilities of short n-grams are made for backing off: they say how likely a word is
//! after histories that were *not* seen. The first word of a piece has no history, but it will get one, and mostly a
//! seen one. A separately estimated model of order 1 guesses it better, one of order 2 the second word, and
//! so on. Guesses change what a search keeps, never what a translation scores: they are added to the score of a
//! piece when pieces are compared, and forgotten when they are joined.

use std::sync::Arc;

use crate::beside::RestCosts;
use crate::hash::key;
use crate::layout::Layout;
use crate::query::AnyLayout;
use crate::{Left, Lm, WordId};

impl Lm {
    /// The same model with rest costs: those of n-grams of length n come from `lower[n - 1]`, which should be a model
    /// of order n of the same text. `None` if there are fewer models than shorter lengths, or if this model was
    /// compiled.
    pub fn with_rest_costs(&self, lower: &[Self]) -> Option<Self> {
        let (AnyLayout::Hash(layout), Some(list)) = (&self.layout, &self.list) else { return None };
        let mut costs = RestCosts::new();
        for n in 1..self.order() {
            let lower = lower.get(n - 1)?;
            let theirs: Vec<WordId> =
                (0..self.vocab_len() as u32).map(|word| lower.word(self.text(WordId(word)))).collect();
            let guess = |words: &[WordId]| {
                let mut state = lower.null();
                let mut score = 0.0;
                for word in words {
                    (score, state) = lower.score(&state, theirs[word.0 as usize]);
                }
                score
            };
            let mut slots = vec![0.0; layout.slots(n)];
            if n == 1 {
                for (word, slot) in (0..).map(WordId).zip(&mut slots) {
                    *slot = guess(&[word]);
                }
            } else {
                for words in list.grams(n) {
                    if let Some((slot, _)) = layout.middle[n - 2].find(key(crate::hash::cursor_of(words))) {
                        slots[slot] = guess(words);
                    }
                }
            }
            costs.push(slots);
        }
        let mut lm = self.clone();
        lm.rest = Some(Arc::new(costs));
        Some(lm)
    }

    /// What rest costs add to the score of a piece to which nothing has been revealed; 0 without them.
    pub fn rest(&self, left: &Left) -> f64 {
        let (AnyLayout::Hash(layout), Some(costs)) = (&self.layout, &self.rest) else { return 0.0 };
        let mut sum = 0.0;
        for (n, (cursor, charged)) in (1..).zip(left.open_grams()) {
            // The open n-grams start with the piece, so the n-th has n words.
            let slot = match n {
                1 => layout.words_slot(cursor),
                _ => layout.middle.get(n - 2).and_then(|table| table.find(key(cursor))).map(|(slot, _)| slot),
            };
            let guess = slot.and_then(|slot| costs.get(n - 1)?.get(slot));
            sum += guess.map_or(0.0, |guess| f64::from(*guess) - f64::from(charged));
        }
        sum
    }
}
