//! Which word pairs occur together, with a number for each: found once, used by every iteration.
//!
//! For each pair of tokens of a sentence pair there is the *slot* of its pair of types, in rows by source word:
//! `slots[start(sentence) + i * target_len + j]`. Parameters and counts are arrays over slots, so the inner
//! loops neither hash nor search. The table is made by walking the occurrences of one source word at a time with
//! a dense scratch array over the target vocabulary, which costs a few nanoseconds per token pair.
//!
//! Samplers count only links. The count of a pair of types that meets once, without the one link it may have, is
//! always zero; [`Once::Shared`] gives all such pairs slot 0, which saves three quarters of the table.

use crate::bitext::Bitext;
use crate::side::Side;

/// What happens to pairs of types that meet only once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Once {
    /// They all have slot 0.
    Shared,
    /// Each has its own slot, as expectation maximisation needs it.
    Own,
    /// Each has its own slot, and slot 0 belongs to none, as sampling on top of a saved model needs it.
    OwnFromOne,
}

/// The slots of all token pairs.
#[derive(Debug)]
pub(crate) struct Pairs {
    slots: Vec<u32>,
    /// Where each sentence pair's slots start; one more at the end.
    starts: Vec<u64>,
    /// The first slot of each source type; one more at the end. Rows of types are consecutive.
    rows: Vec<u32>,
    /// The target type of each slot.
    targets: Vec<u32>,
    /// How many different target types each type meets as a source word.
    source_degree: Vec<u32>,
    /// How many different source types each type meets as a target word.
    target_degree: Vec<u32>,
}

impl Pairs {
    pub(crate) fn build(bitext: &Bitext, once: Once) -> Self {
        let types = bitext.vocab().len();
        let (source, target) = (bitext.side(Side::Source), bitext.side(Side::Target));
        let mut starts = Vec::with_capacity(bitext.len() + 1);
        let mut sentence_of = vec![0u32; source.words.len()];
        let mut end = 0u64;
        for pair in 0..bitext.len() {
            starts.push(end);
            let range = source.range(pair);
            end += (range.len() * target.range(pair).len()) as u64;
            sentence_of[range].fill(pair as u32);
        }
        starts.push(end);
        let occurrences = Occurrences::new(&source.words, types);
        let first = u32::from(once != Once::Own);
        let mut pairs = Self {
            slots: vec![0; end as usize],
            starts,
            rows: Vec::with_capacity(types + 1),
            targets: vec![0; first as usize],
            source_degree: vec![0; types],
            target_degree: vec![0; types],
        };
        // For each target type: how often it met the present source type, then the slot of the two.
        let mut met = vec![0u32; types];
        let mut seen = Vec::new();
        for word in 0..types {
            pairs.rows.push(pairs.targets.len() as u32);
            let tokens = occurrences.of(word);
            for &token in tokens {
                for &other in target.get(sentence_of[token as usize] as usize) {
                    if met[other as usize] == 0 {
                        seen.push(other);
                    }
                    met[other as usize] += 1;
                }
            }
            pairs.source_degree[word] = seen.len() as u32;
            for &other in &seen {
                pairs.target_degree[other as usize] += 1;
                let often = &mut met[other as usize];
                if once != Once::Shared || *often > 1 {
                    *often = pairs.targets.len() as u32;
                    pairs.targets.push(other);
                } else {
                    *often = 0;
                }
            }
            for &token in tokens {
                let sentence = sentence_of[token as usize] as usize;
                let words = target.get(sentence);
                let row = token as usize - source.start(sentence);
                let at = pairs.starts[sentence] as usize + row * words.len();
                for (slot, &other) in pairs.slots[at..at + words.len()].iter_mut().zip(words) {
                    *slot = met[other as usize];
                }
            }
            for other in seen.drain(..) {
                met[other as usize] = 0;
            }
        }
        pairs.rows.push(pairs.targets.len() as u32);
        pairs
    }

    /// How many slots there are.
    pub(crate) fn len(&self) -> usize {
        self.targets.len()
    }

    /// Where a sentence pair's token pairs lie.
    pub(crate) fn range(&self, pair: usize) -> std::ops::Range<usize> {
        self.starts[pair] as usize..self.starts[pair + 1] as usize
    }

    /// The slots of a sentence pair, in rows by source word.
    pub(crate) fn of(&self, pair: usize) -> &[u32] {
        &self.slots[self.range(pair)]
    }

    /// The slots of a source type.
    pub(crate) fn row(&self, word: usize) -> std::ops::Range<usize> {
        self.rows[word] as usize..self.rows[word + 1] as usize
    }

    /// The target type of each slot.
    pub(crate) fn targets(&self) -> &[u32] {
        &self.targets
    }

    /// How many different words each type meets when it stands on the given side.
    pub(crate) fn degree(&self, side: Side) -> &[u32] {
        match side {
            Side::Source => &self.source_degree,
            Side::Target => &self.target_degree,
        }
    }
}

/// The positions of each type in an array of words, in order.
#[derive(Debug)]
pub(crate) struct Occurrences {
    starts: Vec<u32>,
    tokens: Vec<u32>,
}

impl Occurrences {
    pub(crate) fn new(words: &[u32], types: usize) -> Self {
        let mut starts = vec![0u32; types + 1];
        for &word in words {
            starts[word as usize + 1] += 1;
        }
        for word in 0..types {
            starts[word + 1] += starts[word];
        }
        let mut next = starts.clone();
        let mut tokens = vec![0; words.len()];
        for (token, &word) in words.iter().enumerate() {
            tokens[next[word as usize] as usize] = token as u32;
            next[word as usize] += 1;
        }
        Self { starts, tokens }
    }

    pub(crate) fn of(&self, word: usize) -> &[u32] {
        &self.tokens[self.starts[word] as usize..self.starts[word + 1] as usize]
    }
}
