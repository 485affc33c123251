//! Which words can stand next to which in the translations of one forest.
//!
//! A word that no history allowed here lets score high is a word that an exact search can bound tightly: the maximum
//! over all histories of a model is attained by words that this sentence does not have.

use sylvan_base::HashMap;
use sylvan_forest::{TokenId, TranslationForest};

use super::plan::{Kind, Plan};

/// The words of a forest, and before each the words that some derivation can put there.
#[derive(Debug, Clone)]
pub struct Neighbours {
    words: Vec<TokenId>,
    numbers: HashMap<TokenId, u32>,
    before: Vec<Vec<TokenId>>,
    first: Set,
    last: Vec<TokenId>,
    empty: bool,
}

/// A set of word numbers.
#[derive(Debug, Clone)]
struct Set(Box<[u64]>);

impl Set {
    fn new(len: usize) -> Self {
        Self(vec![0; len.div_ceil(64)].into())
    }
    fn insert(&mut self, number: u32) {
        self.0[number as usize / 64] |= 1 << (number % 64);
    }
    fn contains(&self, number: u32) -> bool {
        self.0[number as usize / 64] >> (number % 64) & 1 == 1
    }
    fn extend(&mut self, other: &Set) {
        self.0.iter_mut().zip(&other.0).for_each(|(to, from)| *to |= from);
    }
    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(index, &bits)| {
            let mut bits = bits;
            std::iter::from_fn(move || {
                let bit = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
                bits &= bits - 1;
                Some(64 * index + bit)
            })
        })
    }
}

/// How what a table holds can begin and end.
#[derive(Debug, Clone)]
struct Rim {
    first: Set,
    last: Set,
    empty: bool,
}

impl Neighbours {
    /// Goes through the steps of a plan.
    pub(super) fn new(forest: &TranslationForest, plan: &Plan) -> Self {
        let mut words: Vec<TokenId> =
            plan.bundles.iter().flat_map(|&(_, bundle)| forest.bundle(bundle)).copied().collect();
        words.sort_unstable();
        words.dedup();
        let numbers: HashMap<TokenId, u32> = words.iter().copied().zip(0..).collect();
        let nothing = Set::new(words.len());
        let rim = Rim { first: nothing.clone(), last: nothing.clone(), empty: false };
        let mut rims = vec![rim; plan.tables];
        let mut after = vec![nothing; words.len()];
        for &(table, bundle) in &plan.bundles {
            let (rim, words) = (&mut rims[table as usize], forest.bundle(bundle));
            match (words.first(), words.last()) {
                (Some(first), Some(last)) => {
                    rim.first.insert(numbers[first]);
                    rim.last.insert(numbers[last]);
                }
                _ => rim.empty = true,
            }
            for pair in words.windows(2) {
                after[numbers[&pair[0]] as usize].insert(numbers[&pair[1]]);
            }
        }
        for step in &plan.steps {
            let mut rim = rims[step.first as usize].clone();
            if matches!(step.kind, Kind::Join | Kind::Attach) {
                let second = &rims[step.second as usize];
                rim.last.iter().for_each(|word| after[word].extend(&second.first));
                if rim.empty {
                    rim.first.extend(&second.first);
                }
                if second.empty {
                    rim.last.extend(&second.last);
                } else {
                    rim.last = second.last.clone();
                }
                rim.empty &= second.empty;
            }
            let out = &mut rims[step.out as usize];
            out.first.extend(&rim.first);
            out.last.extend(&rim.last);
            out.empty |= rim.empty;
        }
        let mut before = vec![Vec::new(); words.len()];
        for (&word, after) in words.iter().zip(&after) {
            after.iter().for_each(|next| before[next].push(word));
        }
        let Rim { first, last, empty } = rims.swap_remove(plan.goal as usize);
        let last = last.iter().map(|word| words[word]).collect();
        Self { words, numbers, before, first, last, empty }
    }

    /// All words, each with those that can stand right before it.
    pub fn words(&self) -> impl Iterator<Item = (TokenId, &[TokenId])> {
        self.words.iter().copied().zip(self.before.iter().map(Vec::as_slice))
    }

    /// Whether a sentence can begin with the word.
    pub fn is_first(&self, word: TokenId) -> bool {
        self.numbers.get(&word).is_some_and(|&number| self.first.contains(number))
    }

    /// The words with which a sentence can end.
    pub fn last_words(&self) -> &[TokenId] {
        &self.last
    }

    /// Whether a sentence can have no words.
    pub fn can_be_empty(&self) -> bool {
        self.empty
    }
}
