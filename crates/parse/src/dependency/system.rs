//! Arc-standard dependency parsing (Nivre 2004; Huang & Sagae 2010).
//!
//! | action | effect |
//! |---|---|
//! | shift | the next word comes on top of the stack |
//! | left | the item below the top becomes the leftmost child of the top |
//! | right | the top becomes the rightmost child of the item below |
//!
//! There is no artificial root: a finished parse is one item, and a sentence of n words takes 2n - 1 actions. An item
//! carries what features see of it and not only a position, so that a decoder can hold items of many sentences at
//! the same time.

use sylvan_base::hash::fold;

use super::features;
use crate::lexicon::Word;
use crate::machine::{ActionSet, Effect, System, View};

pub(crate) const SHIFT: u8 = 0;
pub(crate) const LEFT: u8 = 1;
pub(crate) const RIGHT: u8 = 2;

/// A word as dependency features see it: 0 is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Atom {
    pub(crate) form: u64,
    /// The tag, plus 1.
    pub(crate) tag: u16,
    /// Its group, plus 1 (see [`TagSet`](crate::tags::TagSet)).
    pub(crate) group: u16,
}

impl Atom {
    pub(crate) fn new(word: &Word, tag: u8, group: u8) -> Self {
        Self { form: word.low, tag: u16::from(tag) + 1, group: u16::from(group) + 1 }
    }
}

/// A partial tree on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Item {
    pub(crate) word: Atom,
    /// The position of its head word, plus 1; 0 below the bottom.
    pub(crate) position: u32,
    /// The position of its first word, plus 1. No feature sees it.
    pub(crate) start: u32,
    pub(crate) left: Atom,
    pub(crate) right: Atom,
    /// The tags of the second children from outside.
    pub(crate) left2: u16,
    pub(crate) right2: u16,
    /// How many children on each side, up to 255.
    pub(crate) lefts: u8,
    pub(crate) rights: u8,
    pub(crate) around: Around,
}

/// What stands around a partial tree and its head word. Empty where the parser does not look further than one
/// word ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Around {
    /// The tags of the words before and after the head word.
    pub(crate) before: u16,
    pub(crate) after: u16,
    /// Words put aside (see `aside.rs`) just before the head word and before the whole tree.
    pub(crate) mark: u32,
    pub(crate) edge: u32,
    /// The head and the last child of the head word in the first guess (see `guess.rs`), as positions plus 1; 0 for
    /// none, [`ROOT`] for the head of the root.
    pub(crate) head: u32,
    pub(crate) last: u32,
}

/// Stands for the head of the root.
pub(crate) const ROOT: u32 = u32::MAX;

impl Item {
    pub(crate) fn word(word: Atom, position: usize, around: Around) -> Self {
        let position = position as u32 + 1;
        Self { word, position, start: position, around, ..Self::default() }
    }

    /// This item with another as its new leftmost child.
    pub(crate) fn take_left(mut self, child: &Self) -> Self {
        self.left2 = self.left.tag;
        self.left = child.word;
        self.lefts = self.lefts.saturating_add(1);
        self.around.edge = child.around.edge;
        self.start = child.start;
        self
    }

    /// This item with another as its new rightmost child.
    pub(crate) fn take_right(mut self, child: &Self) -> Self {
        self.right2 = self.right.tag;
        self.right = child.word;
        self.rights = self.rights.saturating_add(1);
        self
    }

    /// What features see of it, in one number.
    pub(crate) fn digest(&self) -> u64 {
        let tags = [self.word.tag, self.left.tag, self.right.tag, self.left2].map(u64::from);
        let tags = tags.iter().fold(0, |all, tag| all << 16 | tag);
        let small = [u64::from(self.right2) << 16, u64::from(self.lefts) << 8, u64::from(self.rights)];
        // The guess goes with the position.
        let Around { before, after, mark, edge, .. } = self.around;
        let parts = [
            self.word.form,
            self.left.form,
            self.right.form,
            tags,
            small.iter().sum::<u64>() << 32 | u64::from(self.position),
            u64::from(before) << 16 | u64::from(after),
            u64::from(mark) << 32 | u64::from(edge),
        ];
        parts.into_iter().fold(0, fold)
    }
}

/// A sentence to parse, padded at its end.
#[derive(Debug, Clone)]
pub(crate) struct Sentence {
    pub(crate) length: usize,
    words: Vec<Atom>,
    /// What was put aside just before each word, and after the last.
    marks: Vec<u32>,
    /// The right heads, if they are known.
    gold: Vec<Option<u32>>,
    /// The first guess: head and last child of each word, as in [`Around`]; empty if there is none.
    guess: Vec<(u32, u32)>,
}

/// How many words after the top of the stack features can look at.
pub(crate) const WINDOW: usize = 3;

impl Sentence {
    /// From words and what was put aside before each and after the last (one more than words); empty means nothing.
    pub(crate) fn new(mut words: Vec<Atom>, mut marks: Vec<u32>) -> Self {
        let length = words.len();
        words.resize(length + WINDOW, Atom::default());
        marks.resize(length + WINDOW, 0);
        Self { length, words, marks, gold: Vec::new(), guess: Vec::new() }
    }

    /// The same with its right heads.
    pub(crate) fn with_heads(mut self, heads: Vec<Option<u32>>) -> Self {
        self.gold = heads;
        self
    }

    /// The same with a first guess at its heads.
    pub(crate) fn with_guess(mut self, heads: &[Option<u32>]) -> Self {
        self.guess = heads.iter().map(|head| (head.map_or(ROOT, |head| head + 1), 0)).collect();
        for (child, head) in heads.iter().enumerate() {
            if let Some(head) = head {
                // Children come in order: the last one stays.
                self.guess[*head as usize].1 = child as u32 + 1;
            }
        }
        self
    }

    /// The sentence from its end to its beginning.
    pub(crate) fn reversed(&self) -> Self {
        let words = self.words[..self.length].iter().rev().copied().collect();
        let marks = self.marks[..=self.length].iter().rev().copied().collect();
        Self::new(words, marks).with_heads(reversed(&self.gold))
    }

    /// Its words.
    pub(crate) fn words(&self) -> &[Atom] {
        &self.words[..self.length]
    }

    /// The right heads; none if they are not known.
    pub(crate) fn gold(&self) -> &[Option<u32>] {
        &self.gold
    }

    fn tag(&self, at: Option<usize>) -> u16 {
        at.and_then(|at| self.words.get(at)).map_or(0, |word| word.tag)
    }
}

/// The heads of a sentence that is read from its end.
pub(crate) fn reversed(heads: &[Option<u32>]) -> Vec<Option<u32>> {
    let last = heads.len() as u32;
    heads.iter().rev().map(|head| head.map(|head| last - 1 - head)).collect()
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

/// What features see of the words ahead.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Queue {
    /// The next words, as far as they are seen.
    pub(crate) words: [Atom; WINDOW],
    /// The word that a shift would shift.
    pub(crate) shifted: Atom,
    /// What was put aside before the next word and before the one after it.
    pub(crate) marks: [u32; 2],
    /// The position of the next word, plus 1, and that of its head in the first guess.
    pub(crate) position: u32,
    pub(crate) head: u32,
}

impl DependencySystem {
    /// Whether features look around, beyond the items and the next word.
    #[inline]
    pub(crate) fn looks_around(&self) -> bool {
        self.templates == Templates::Rich && self.lookahead >= 2
    }

    fn queue(&self, sentence: &Sentence, next: usize) -> Queue {
        let mut words = [Atom::default(); WINDOW];
        for (ahead, atom) in words.iter_mut().enumerate().take(self.lookahead) {
            *atom = sentence.words.get(next + ahead).copied().unwrap_or_default();
        }
        let mark = |at: usize| sentence.marks.get(at).copied().unwrap_or_default();
        Queue {
            words,
            shifted: sentence.words[next],
            marks: [mark(next), mark(next + 1)],
            position: next as u32 + 1,
            head: sentence.guess.get(next).map_or(0, |&(head, _)| head),
        }
    }

    fn around(&self, sentence: &Sentence, at: usize) -> Around {
        if !self.looks_around() {
            return Around::default();
        }
        let mark = sentence.marks.get(at).copied().unwrap_or_default();
        let (head, last) = sentence.guess.get(at).copied().unwrap_or_default();
        let (before, after) = (sentence.tag(at.checked_sub(1)), sentence.tag(Some(at + 1)));
        Around { before, after, mark, edge: mark, head, last }
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
        features::keys(self, view.items(), &self.queue(sentence, view.next()), keys);
    }

    fn good(&self, sentence: &Sentence, view: View<'_, Item>) -> ActionSet {
        let legal = self.legal(sentence, view);
        if sentence.gold.is_empty() || view.depth(2) < 2 {
            return legal;
        }
        let least = legal.iter().map(|action| lost(sentence, view, action)).min();
        legal.iter().filter(|&action| Some(lost(sentence, view, action)) == least).collect()
    }

    fn applies(&self, index: usize, action: u8) -> bool {
        features::applies(self, index, action)
    }

    fn apply(&self, sentence: &Sentence, view: View<'_, Item>, action: u8) -> Effect<Item> {
        let [s0, s1] = view.items();
        match action {
            SHIFT => {
                let at = view.next();
                Effect::Push(Item::word(sentence.words[at], at, self.around(sentence, at)))
            }
            LEFT => Effect::Join(s0.take_left(s1)),
            _ => Effect::Join(s1.take_right(s0)),
        }
    }

    fn digest(&self, item: &Item, under: usize) -> u64 {
        let tags = |tags: [u16; 3]| tags.into_iter().fold(0, |all, tag| all << 16 | u64::from(tag));
        match (self.templates, under) {
            (Templates::Paper, 0) => {
                let word = fold(item.word.form, tags([item.word.tag, item.left.tag, item.right.tag]));
                fold(word, u64::from(item.start))
            }
            (Templates::Paper, _) => fold(item.word.form, u64::from(item.word.tag)),
            (Templates::Rich, 0) => fold(item.digest(), u64::from(item.start)),
            (Templates::Rich, 1) => item.digest(),
            (Templates::Rich, _) => {
                fold(item.word.form, u64::from(item.word.tag) << 32 | u64::from(item.around.edge))
            }
        }
    }

    fn depth(&self) -> usize {
        match self.templates {
            Templates::Paper => 2,
            Templates::Rich => 3,
        }
    }
}

/// How many right arcs an action gives up, with at least two items on the stack. For a shift it is a guess: one, where
/// the two items belong together and the one on top waits for nothing that comes. An exact count would have to look
/// at all that can follow (Goldberg, Sartorio & Satta 2014).
fn lost(sentence: &Sentence, view: View<'_, Item>, action: u8) -> usize {
    let gold = &sentence.gold;
    let [s0, s1] = view.items().map(|item: &Item| item.position - 1);
    let head = |word: u32| gold[word as usize];
    let next = view.next();
    let coming = |of: u32| gold[next..].iter().filter(|&&head| head == Some(of)).count();
    if action == SHIFT {
        let belong = head(s0) == Some(s1) || head(s1) == Some(s0);
        return usize::from(belong && coming(s0) == 0);
    }
    let (child, parent) = if action == LEFT { (s1, s0) } else { (s0, s1) };
    let mut lost = coming(child);
    // Words on the stack: those that the child would lose, and whether its own head is one of them.
    let mut reachable = head(child).is_none_or(|head| head as usize >= next);
    let mut at = view.at;
    while at != 0 {
        let state = &view.states[at as usize];
        let word = state.item.position - 1;
        lost += usize::from(word != child && head(word) == Some(child));
        reachable |= head(child) == Some(word);
        at = state.below;
    }
    lost + usize::from(reachable && head(child) != Some(parent))
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
pub(crate) mod tests {
    use super::*;
    use crate::machine::system::{advance, initial};
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

    pub(crate) fn random_tree(length: usize, rng: &mut Rng) -> Vec<Option<u32>> {
        let mut tree = vec![None; length];
        random(0, length as u32, None, rng, &mut tree);
        tree
    }

    #[test]
    fn good_actions_in_any_order_lead_to_the_right_tree() {
        let mut rng = Rng::new(8);
        let system = DependencySystem { templates: Templates::Rich, lookahead: 3 };
        for round in 0..500 {
            let length = 1 + round % 12;
            let tree = random_tree(length, &mut rng);
            let sentence = Sentence::new(vec![Atom::default(); length], Vec::new()).with_heads(tree.clone());
            let mut states = vec![initial()];
            for step in 0..system.steps(&sentence) {
                let view = View { states: &states, at: step as u32, step };
                let good: Vec<u8> = system.good(&sentence, view).iter().collect();
                let state = advance(&system, &sentence, view, *rng.pick(&good), 0);
                states.push(state);
            }
            let actions: Vec<u8> = states[1..].iter().map(|state| state.action).collect();
            assert_eq!(heads(&actions, length), tree);
        }
    }

    #[test]
    fn projective_trees_survive_their_actions_and_others_are_refused() {
        let mut rng = Rng::new(9);
        for round in 0..500 {
            let length = 1 + round % 12;
            let tree = random_tree(length, &mut rng);
            let actions = oracle(&tree).unwrap();
            assert_eq!(actions.len(), 2 * length - 1);
            assert_eq!(heads(&actions, length), tree);
        }
        assert_eq!(oracle(&[Some(2), None, Some(1)]), None, "the root lies under the arc from 3 to 1");
    }
}
