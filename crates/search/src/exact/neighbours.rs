//! Which words can stand next to which in the translations of one forest.
//!
//! They make the bounds of exact search tight: a model's maximum over all histories is usually attained by
//! words that this sentence does not have.

use sylvan_base::HashMap;
use sylvan_forest::{TokenId, TranslationForest};

use super::plan::{Kind, Plan};
use crate::neighbours::{Neighbours, Set};

/// How the items of a table can begin and end.
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
        let mut rims = vec![rim; plan.tables()];
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
}
