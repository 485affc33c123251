//! Arc-standard dependency parsing (Nivre 2004; Huang & Sagae 2010).
//!
//! | action | effect |
//! |---|---|
//! | shift | the next word comes on top of the stack |
//! | left | the item below the top becomes the leftmost child of the top |
//! | right | the top becomes the rightmost child of the item below |
//!
//! There is no artificial root: a finished parse is one item, and a sentence of n words takes 2n - 1 actions. An item
//! carries what features see of it and not only a position, so that a decoder can hold the items of many different
//! sentences at the same time.

use super::features;
use crate::lexicon::Word;
use crate::machine::{ActionSet, Effect, System, View};

pub(crate) const SHIFT: u8 = 0;
pub(crate) const LEFT: u8 = 1;
pub(crate) const RIGHT: u8 = 2;

/// A word as dependency features see it: 0 is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Atom {
    pub(crate) form: u64,
    /// The tag, plus 1.
    pub(crate) tag: u64,
}

impl Atom {
    pub(crate) fn new(word: &Word, tag: u8) -> Self {
        Self { form: word.low, tag: u64::from(tag) + 1 }
    }
}

/// A partial tree on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Item {
    pub(crate) word: Atom,
    /// The position of its head word, plus 1; 0 below the bottom.
    pub(crate) position: u32,
    pub(crate) left: Atom,
    pub(crate) right: Atom,
    /// The tags of the second children from outside.
    pub(crate) left2: u8,
    pub(crate) right2: u8,
    /// How many children on each side, up to 255.
    pub(crate) lefts: u8,
    pub(crate) rights: u8,
}

impl Item {
    pub(crate) fn word(word: Atom, position: usize) -> Self {
        Self { word, position: position as u32 + 1, ..Self::default() }
    }

    /// This item with another as its new leftmost child.
    pub(crate) fn take_left(mut self, child: &Self) -> Self {
        self.left2 = self.left.tag as u8;
        self.left = child.word;
        self.lefts = self.lefts.saturating_add(1);
        self
    }

    /// This item with another as its new rightmost child.
    pub(crate) fn take_right(mut self, child: &Self) -> Self {
        self.right2 = self.right.tag as u8;
        self.right = child.word;
        self.rights = self.rights.saturating_add(1);
        self
    }

    /// What tells it from other items in the same place.
    pub(crate) fn digest(&self) -> u64 {
        use sylvan_base::hash::fold;
        let small = [self.left2, self.right2, self.lefts, self.rights];
        let parts = [self.word, self.left, self.right];
        let hash =
            parts.iter().fold(u64::from(self.position), |hash, atom| fold(fold(hash, atom.form), atom.tag));
        fold(hash, u64::from(u32::from_le_bytes(small)))
    }
}

/// A sentence to parse, with nothing behind it.
#[derive(Debug, Clone)]
pub(crate) struct Sentence {
    pub(crate) length: usize,
    words: Vec<Atom>,
}

/// How many words after the top of the stack features can look at.
pub(crate) const WINDOW: usize = 3;

impl Sentence {
    pub(crate) fn new(words: &[Word], tags: &[u8]) -> Self {
        let mut atoms: Vec<Atom> = words.iter().zip(tags).map(|(word, &tag)| Atom::new(word, tag)).collect();
        let length = atoms.len();
        atoms.resize(length + WINDOW, Atom::default());
        Self { length, words: atoms }
    }
}

/// Which features are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Templates {
    /// The twenty of Yu, Mi, Huang & Liu (2014), table 1(b).
    Paper,
    /// More of the stack, children, distances (Huang & Sagae 2010; Zhang & Nivre 2011).
    Rich,
}

/// The transition system.
#[derive(Debug, Clone)]
pub(crate) struct DependencySystem {
    pub(crate) templates: Templates,
    /// How many of the next words are seen: 0 to [`WINDOW`]. With 0, a shift still sees the word that it shifts.
    pub(crate) lookahead: usize,
}

impl DependencySystem {
    /// The next words as far as they are seen, and the word that a shift would shift.
    fn queue(&self, sentence: &Sentence, next: usize) -> ([Atom; WINDOW], Atom) {
        let mut queue = [Atom::default(); WINDOW];
        for (ahead, atom) in queue.iter_mut().enumerate().take(self.lookahead) {
            *atom = sentence.words.get(next + ahead).copied().unwrap_or_default();
        }
        (queue, sentence.words[next])
    }
}

impl System for DependencySystem {
    type Sentence = Sentence;
    type Item = Item;

    fn steps(&self, sentence: &Sentence) -> usize {
        (2 * sentence.length).saturating_sub(1)
    }

    fn actions(&self) -> usize {
        3
    }

    fn legal(&self, sentence: &Sentence, view: View<'_, Item>) -> ActionSet {
        let mut legal = ActionSet::default();
        if view.next() < sentence.length {
            legal.insert(SHIFT);
        }
        if view.depth(2) == 2 {
            legal.insert(LEFT);
            legal.insert(RIGHT);
        }
        legal
    }

    fn keys(&self, sentence: &Sentence, view: View<'_, Item>, keys: &mut Vec<u64>) {
        let (queue, shifted) = self.queue(sentence, view.next());
        features::keys(self, view.items(), queue, shifted, keys);
    }

    fn applies(&self, index: usize, action: u8) -> bool {
        features::applies(self, index, action)
    }

    fn apply(&self, sentence: &Sentence, view: View<'_, Item>, action: u8) -> Effect<Item> {
        let [s0, s1] = view.items();
        match action {
            SHIFT => Effect::Push(Item::word(sentence.words[view.next()], view.next())),
            LEFT => Effect::Join(s0.take_left(s1)),
            _ => Effect::Join(s1.take_right(s0)),
        }
    }

    fn digest(&self, item: &Item) -> u64 {
        item.digest()
    }

    fn depth(&self) -> usize {
        match self.templates {
            Templates::Paper => 2,
            Templates::Rich => 3,
        }
    }
}

/// The actions that build a projective tree, given by its heads (`None`: the root): arcs to the left as soon as they
/// can be made, arcs to the right when the child has all of its own. `None` if the tree is not projective.
pub(crate) fn oracle(heads: &[Option<u32>]) -> Option<Vec<u8>> {
    let mut waiting = vec![0u32; heads.len()];
    for head in heads.iter().flatten() {
        waiting[*head as usize] += 1;
    }
    let mut actions = Vec::with_capacity(2 * heads.len());
    let mut stack: Vec<usize> = Vec::new();
    for word in 0..heads.len() {
        actions.push(SHIFT);
        stack.push(word);
        while let &[.., s1, s0] = stack.as_slice() {
            if heads[s1] == Some(s0 as u32) && waiting[s1] == 0 {
                actions.push(LEFT);
                waiting[s0] -= 1;
                stack.remove(stack.len() - 2);
            } else if heads[s0] == Some(s1 as u32) && waiting[s0] == 0 {
                actions.push(RIGHT);
                waiting[s1] -= 1;
                stack.pop();
            } else {
                break;
            }
        }
    }
    (stack.len() <= 1).then_some(actions)
}

/// The heads that actions build; `None` for the root, and for words that have none yet.
pub(crate) fn heads(actions: &[u8], length: usize) -> Vec<Option<u32>> {
    let mut heads = vec![None; length];
    let mut stack: Vec<u32> = Vec::new();
    let mut next = 0;
    for &action in actions {
        match (action, stack.as_slice()) {
            (LEFT, &[.., s1, s0]) => {
                heads[s1 as usize] = Some(s0);
                stack.remove(stack.len() - 2);
            }
            (RIGHT, &[.., s1, s0]) => {
                heads[s0 as usize] = Some(s1);
                stack.pop();
            }
            _ => {
                stack.push(next);
                next += 1;
            }
        }
    }
    heads
}

#[cfg(test)]
mod tests {
    use super::*;
    use sylvan_base::Rng;

    #[test]
    fn figure_1_of_yu_et_al_2014() {
        // Bush held a meeting with Sharon, with "with" below "held".
        let heads_of_figure = [Some(1), None, Some(3), Some(1), Some(1), Some(4)];
        let actions = oracle(&heads_of_figure).unwrap();
        use super::{LEFT as L, RIGHT as R, SHIFT as S};
        assert_eq!(actions, [S, S, L, S, S, L, R, S, S, R, R]);
        assert_eq!(heads(&actions, 6), heads_of_figure);
    }

    /// A random projective tree over `start..end` below `head`.
    fn random(start: u32, end: u32, head: Option<u32>, rng: &mut Rng, heads: &mut [Option<u32>]) {
        let mut todo = vec![(start, end, head)];
        while let Some((start, end, head)) = todo.pop() {
            if start >= end {
                continue;
            }
            let root = start + rng.below((end - start) as usize) as u32;
            heads[root as usize] = head;
            for (from, to) in [(start, root), (root + 1, end)] {
                // One child or two on this side.
                let cut = from + rng.below((to - from) as usize + 1) as u32;
                todo.push((from, cut, Some(root)));
                todo.push((cut, to, Some(root)));
            }
        }
    }

    #[test]
    fn projective_trees_survive_their_actions_and_others_are_refused() {
        let mut rng = Rng::new(9);
        for round in 0..500 {
            let length = 1 + round % 12;
            let mut tree = vec![None; length];
            random(0, length as u32, None, &mut rng, &mut tree);
            let actions = oracle(&tree).unwrap();
            assert_eq!(actions.len(), 2 * length - 1);
            assert_eq!(heads(&actions, length), tree);
        }
        assert_eq!(oracle(&[Some(2), None, Some(1)]), None, "the root lies under the arc from 3 to 1");
    }
}
