//! Making dependency trees projective by lifting (Nivre & Nilsson 2005, "Pseudo-projective dependency parsing").
//!
//! A constituent covers neighbouring words, so a word that stands apart from its head's other words cannot go
//! below that head. It is lifted: it goes to the lowest ancestor from which all words in between hang down too.
//! Arcs that were projective stay; the word order never changes.
//!
//! Words are taken children before heads. Each word grows its block, at first only itself, over neighbouring
//! finished blocks whose top word is below it in the original tree; those become its dependents. What is not
//! reached waits for a higher word. Every block is absorbed once, so the time is linear.

use crate::DependencyTree;
use crate::dependency::{Dependents, Head};

impl DependencyTree {
    /// Whether no arc crosses: the words between a head and its dependent are all below the head.
    pub fn is_projective(&self) -> bool {
        self.is_complete() && lift(&self.words().iter().map(|word| word.head).collect::<Vec<_>>()).1 == 0
    }
}

/// The tree with crossing arcs lifted, and how many words got a new head. A tree with missing heads stays as it is.
pub fn projective(tree: &DependencyTree) -> (DependencyTree, usize) {
    if !tree.is_complete() {
        return (tree.clone(), 0);
    }
    let heads: Vec<Head> = tree.words().iter().map(|word| word.head).collect();
    let (heads, lifted) = lift(&heads);
    (tree.with_heads(&heads), lifted)
}

/// The heads after lifting, and how many changed. The heads must form one tree.
fn lift(heads: &[Head]) -> (Vec<Head>, usize) {
    let order = Order::of(heads);
    let mut lifted = heads.to_vec();
    // A finished block is known by its two ends: its other end and its top word stand in these tables.
    let mut by_start: Vec<Option<(usize, usize)>> = vec![None; heads.len()];
    let mut by_end: Vec<Option<(usize, usize)>> = vec![None; heads.len()];
    for &word in &order.post {
        let (mut start, mut end) = (word, word);
        let mut adopt = |top: usize| lifted[top] = Head::Word(word as u32);
        loop {
            if let Some(before) = start.checked_sub(1)
                && let Some((first, top)) = by_end[before]
                && order.is_below(top, word)
            {
                adopt(top);
                start = first;
            } else if let Some(&Some((last, top))) = by_start.get(end + 1)
                && order.is_below(top, word)
            {
                adopt(top);
                end = last;
            } else {
                break;
            }
        }
        by_start[start] = Some((end, word));
        by_end[end] = Some((start, word));
    }
    let changed = lifted.iter().zip(heads).filter(|(new, old)| new != old).count();
    (lifted, changed)
}

/// A depth-first numbering of the words.
struct Order {
    /// Children before heads.
    post: Vec<usize>,
    /// When a word was entered.
    entered: Vec<u32>,
}

impl Order {
    fn of(heads: &[Head]) -> Self {
        let dependents = Dependents::of(heads.iter().copied());
        let mut order = Self { post: Vec::with_capacity(heads.len()), entered: vec![0; heads.len()] };
        let mut clock = 0;
        let mut path: Vec<(usize, usize)> = Vec::new();
        for root in (0..heads.len()).filter(|&word| heads[word] == Head::Root) {
            path.push((root, 0));
            while let Some((word, next)) = path.last_mut() {
                if *next == 0 {
                    clock += 1;
                    order.entered[*word] = clock;
                }
                match dependents.get(*word).get(*next) {
                    Some(&below) => {
                        *next += 1;
                        path.push((below as usize, 0));
                    }
                    None => {
                        order.post.push(*word);
                        path.pop();
                    }
                }
            }
        }
        order
    }

    /// Whether a word is below another. Only for words that are done when it is the other's turn in `post`:
    /// those that were entered after it are below it, the others lie beside it.
    fn is_below(&self, done: usize, above: usize) -> bool {
        self.entered[above] < self.entered[done]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_projective_slow(heads: &[Head]) -> bool {
        (0..heads.len()).all(|word| arc_is_projective(heads, word))
    }

    fn ancestors(heads: &[Head], word: usize) -> Vec<usize> {
        let mut above = Vec::new();
        let mut at = word;
        while let Head::Word(head) = heads[at] {
            at = head as usize;
            above.push(at);
        }
        above
    }

    fn arc_is_projective(heads: &[Head], word: usize) -> bool {
        let Head::Word(head) = heads[word] else { return true };
        let head = head as usize;
        (word.min(head) + 1..word.max(head)).all(|between| ancestors(heads, between).contains(&head))
    }

    /// Any tree: words are attached to earlier words of a random order.
    fn trees() -> impl Strategy<Value = Vec<Head>> {
        prop::collection::vec(any::<u32>(), 1..12).prop_flat_map(|picks| {
            Just((0..picks.len()).collect::<Vec<_>>()).prop_shuffle().prop_map(move |order| {
                let mut heads = vec![Head::Root; picks.len()];
                for (index, &word) in order.iter().enumerate().skip(1) {
                    heads[word] = Head::Word(order[picks[index] as usize % index] as u32);
                }
                heads
            })
        })
    }

    proptest! {
        #[test]
        fn lifting_gives_a_projective_tree_and_moves_only_crossing_arcs_upwards(heads in trees()) {
            let (lifted, changed) = lift(&heads);
            prop_assert!(is_projective_slow(&lifted));
            prop_assert_eq!(changed == 0, is_projective_slow(&heads));
            for word in 0..heads.len() {
                if lifted[word] == heads[word] {
                    continue;
                }
                prop_assert!(!arc_is_projective(&heads, word), "word {} was moved without need", word);
                let Head::Word(head) = lifted[word] else { panic!("a lifted word keeps a head") };
                prop_assert!(ancestors(&heads, word).contains(&(head as usize)));
            }
        }
    }

    #[test]
    fn a_crossing_arc_goes_to_the_lowest_ancestor_that_reaches_it() {
        // 1 <- 3 <- 2 = root: the root stands between 1 and its head, so 1 goes to the root.
        let word = |head: u32| Head::Word(head - 1);
        let heads = [word(3), Head::Root, word(2)];
        assert_eq!(lift(&heads), (vec![word(2), Head::Root, word(2)], 1));
    }
}
