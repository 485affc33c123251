//! Partial trees as numbers, and what each action scores for the trees on top of a stack.
//!
//! Scoring sees the topmost trees alone, so stacks that differ further down share what was looked up and all scores.

use sylvan_base::{HashMap, define_id};

use super::{Actions, Top, WordNumber};

define_id!(
    /// A partial tree.
    TreeNumber
);
define_id!(
    /// The trees on top of a stack, as many as scoring sees.
    TopNumber
);

impl TreeNumber {
    /// Below the bottom of a stack.
    pub(super) const NONE: Self = Self(0);
}

/// From the top.
pub(super) type TopTrees = [TreeNumber; 3];

#[derive(Debug)]
struct Known<A: Actions> {
    trees: TopTrees,
    seen: A::Seen,
    /// Left and right reduction without a next word, once they have been asked for.
    reduced: Option<[f64; 2]>,
}

/// The trees and tops of one sentence, or of all that may become one.
#[derive(Debug)]
pub(super) struct Tops<A: Actions> {
    actions: A,
    /// Tree n is at n - 1; number 0 is no tree.
    trees: Vec<A::Tree>,
    numbers: HashMap<A::Tree, TreeNumber>,
    /// Words on top of a tree.
    leaves: HashMap<(WordNumber, TreeNumber), TreeNumber>,
    /// Two trees as one, by left and by right reduction.
    joined: HashMap<(TreeNumber, TreeNumber), [TreeNumber; 2]>,
    tops: Vec<Known<A>>,
    top_numbers: HashMap<TopTrees, TopNumber>,
    shifted: HashMap<(TopNumber, WordNumber), f64>,
    /// Reductions before a known word.
    reduced: HashMap<(TopNumber, WordNumber), [f64; 2]>,
}

impl<A: Actions> Tops<A> {
    pub(super) fn new(actions: A) -> Self {
        Self {
            actions,
            trees: Vec::new(),
            numbers: HashMap::default(),
            leaves: HashMap::default(),
            joined: HashMap::default(),
            tops: Vec::new(),
            top_numbers: HashMap::default(),
            shifted: HashMap::default(),
            reduced: HashMap::default(),
        }
    }

    /// Forgets a sentence and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.trees.clear();
        self.numbers.clear();
        self.leaves.clear();
        self.joined.clear();
        self.tops.clear();
        self.top_numbers.clear();
        self.shifted.clear();
        self.reduced.clear();
    }

    pub(super) fn actions(&self) -> &A {
        &self.actions
    }

    pub(super) fn tree(&self, number: TreeNumber) -> Option<&A::Tree> {
        self.trees.get((number.0 as usize).checked_sub(1)?)
    }

    fn number(&mut self, tree: A::Tree) -> TreeNumber {
        let trees = &mut self.trees;
        *self.numbers.entry(tree).or_insert_with(|| {
            trees.push(tree);
            TreeNumber(trees.len() as u32)
        })
    }

    /// A word on top of a tree.
    pub(super) fn leaf(&mut self, (number, word): (WordNumber, &A::Word), below: TreeNumber) -> TreeNumber {
        if let Some(&known) = self.leaves.get(&(number, below)) {
            return known;
        }
        let leaf = self.number(self.actions.leaf(word, self.tree(below)));
        self.leaves.insert((number, below), leaf);
        leaf
    }

    /// The two topmost trees as one, by left and by right reduction; `None` unless there are two.
    pub(super) fn join(&mut self, s0: TreeNumber, s1: TreeNumber) -> Option<[TreeNumber; 2]> {
        if let Some(&known) = self.joined.get(&(s0, s1)) {
            return Some(known);
        }
        let (top, below) = (self.tree(s0)?, self.tree(s1)?);
        let both = [self.actions.left(top, below), self.actions.right(top, below)];
        let both = both.map(|tree| self.number(tree));
        self.joined.insert((s0, s1), both);
        Some(both)
    }

    /// The number of what scoring sees of these trees.
    pub(super) fn top(&mut self, mut trees: TopTrees) -> TopNumber {
        trees.iter_mut().skip(self.actions.sees()).for_each(|unseen| *unseen = TreeNumber::NONE);
        if let Some(&known) = self.top_numbers.get(&trees) {
            return known;
        }
        let seen = self.actions.see(self.trees_of(trees));
        self.tops.push(Known { trees, seen, reduced: None });
        let number = TopNumber(self.tops.len() as u32 - 1);
        self.top_numbers.insert(trees, number);
        number
    }

    fn trees_of(&self, trees: TopTrees) -> Top<'_, A::Tree> {
        trees.map(|tree| self.tree(tree))
    }

    /// The score of shifting a word.
    pub(super) fn shift(&mut self, top: TopNumber, (number, word): (WordNumber, &A::Word)) -> f64 {
        if let Some(&known) = self.shifted.get(&(top, number)) {
            return known;
        }
        let known = &self.tops[top.0 as usize];
        let score = self.actions.shift(self.trees_of(known.trees), &known.seen, word);
        self.shifted.insert((top, number), score);
        score
    }

    /// The scores of left and right reduction.
    pub(super) fn reduce(&mut self, top: TopNumber, next: Option<(WordNumber, &A::Word)>) -> [f64; 2] {
        let known = &self.tops[top.0 as usize];
        let before = match next {
            None => known.reduced.as_ref(),
            Some((next, _)) => self.reduced.get(&(top, next)),
        };
        if let Some(&scores) = before {
            return scores;
        }
        let scores = self.actions.reduce(self.trees_of(known.trees), &known.seen, next.map(|(_, word)| word));
        match next {
            None => self.tops[top.0 as usize].reduced = Some(scores),
            Some((next, _)) => {
                self.reduced.insert((top, next), scores);
            }
        }
        scores
    }

    /// The score of ending with one tree.
    pub(super) fn end(&self, top: TopNumber) -> f64 {
        self.actions.end(&self.tops[top.0 as usize].seen)
    }
}
