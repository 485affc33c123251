//! Stacks of partial trees as numbers: equal stacks are one, and each action is scored once for each.

use std::cell::OnceCell;

use sylvan_base::{HashMap, define_id};

use super::{Actions, Top};

define_id!(
    /// A stack of partial trees.
    StackId
);
define_id!(
    /// A word of the sentence with its part of speech.
    WordNumber
);

impl StackId {
    /// The stack without trees.
    pub const EMPTY: Self = Self(0);
}

/// A score and the stack after an action.
type Scored = (f64, StackId);

#[derive(Debug)]
struct Cell<A: Actions> {
    /// The tree on top; none only for the empty stack.
    tree: Option<A::Tree>,
    below: StackId,
    size: u32,
    /// What scoring looks up, once it has been asked for.
    seen: OnceCell<A::Seen>,
    /// Left and right reduction without a next word, once they have been asked for.
    reduced: Option<[Scored; 2]>,
}

impl<A: Actions> Cell<A> {
    fn new(tree: Option<A::Tree>, below: StackId, size: u32) -> Self {
        Self { tree, below, size, seen: OnceCell::new(), reduced: None }
    }
}

/// The stacks of one sentence, or of all that may become one.
#[derive(Debug)]
pub struct Stacks<A: Actions> {
    actions: A,
    cells: Vec<Cell<A>>,
    index: HashMap<(A::Tree, StackId), StackId>,
    words: Vec<A::Word>,
    word_numbers: HashMap<A::Word, WordNumber>,
    shifted: HashMap<(StackId, WordNumber), Scored>,
    /// Reductions before a known word.
    reduced: HashMap<(StackId, WordNumber), [Scored; 2]>,
}

impl<A: Actions> Stacks<A> {
    /// Nothing but the empty stack.
    pub fn new(actions: A) -> Self {
        let mut stacks = Self {
            actions,
            cells: Vec::new(),
            index: HashMap::default(),
            words: Vec::new(),
            word_numbers: HashMap::default(),
            shifted: HashMap::default(),
            reduced: HashMap::default(),
        };
        stacks.clear();
        stacks
    }

    /// Forgets a sentence and keeps the memory.
    pub fn clear(&mut self) {
        self.cells.clear();
        self.cells.push(Cell::new(None, StackId::EMPTY, 0));
        self.index.clear();
        self.words.clear();
        self.word_numbers.clear();
        self.shifted.clear();
        self.reduced.clear();
    }

    /// What scores actions.
    pub fn actions(&self) -> &A {
        &self.actions
    }

    /// The number of a word; equal words have one.
    pub fn word(&mut self, word: A::Word) -> WordNumber {
        let words = &mut self.words;
        *self.word_numbers.entry(word).or_insert_with(|| {
            words.push(word);
            WordNumber(words.len() as u32 - 1)
        })
    }

    /// A word by its number.
    pub fn word_of(&self, number: WordNumber) -> &A::Word {
        &self.words[number.0 as usize]
    }

    /// How many trees a stack has.
    #[inline]
    pub fn size(&self, stack: StackId) -> u32 {
        self.cells[stack.0 as usize].size
    }

    /// The trees of a stack, from the top.
    pub fn trees(&self, mut stack: StackId) -> Vec<A::Tree> {
        let mut trees = Vec::new();
        while let Cell { tree: Some(tree), below, .. } = &self.cells[stack.0 as usize] {
            trees.push(*tree);
            stack = *below;
        }
        trees
    }

    fn top(&self, stack: StackId) -> Top<'_, A::Tree> {
        // The empty stack lies below itself.
        let s0 = &self.cells[stack.0 as usize];
        let s1 = &self.cells[s0.below.0 as usize];
        let s2 = &self.cells[s1.below.0 as usize];
        [s0.tree.as_ref(), s1.tree.as_ref(), s2.tree.as_ref()]
    }

    fn seen(&self, stack: StackId) -> &A::Seen {
        self.cells[stack.0 as usize].seen.get_or_init(|| self.actions.see(self.top(stack)))
    }

    fn push(&mut self, tree: A::Tree, below: StackId) -> StackId {
        let size = self.cells[below.0 as usize].size + 1;
        let cells = &mut self.cells;
        *self.index.entry((tree, below)).or_insert_with(|| {
            cells.push(Cell::new(Some(tree), below, size));
            StackId(cells.len() as u32 - 1)
        })
    }

    /// Shifts a word.
    pub fn shift(&mut self, stack: StackId, word: WordNumber) -> Scored {
        if let Some(&known) = self.shifted.get(&(stack, word)) {
            return known;
        }
        let top = self.top(stack);
        let shifted = self.words[word.0 as usize];
        let score = self.actions.shift(top, self.seen(stack), &shifted);
        let tree = self.actions.leaf(&shifted, top[0]);
        let found = (score, self.push(tree, stack));
        self.shifted.insert((stack, word), found);
        found
    }

    /// Left and right reduction of a stack of at least two trees.
    pub fn reduce(&mut self, stack: StackId, next: Option<WordNumber>) -> [Scored; 2] {
        let known = match next {
            None => self.cells[stack.0 as usize].reduced.as_ref(),
            Some(next) => self.reduced.get(&(stack, next)),
        };
        if let Some(&known) = known {
            return known;
        }
        let top = self.top(stack);
        let [Some(s0), Some(s1), _] = top else {
            debug_assert!(false, "only what has two trees can be reduced");
            return [(f64::NEG_INFINITY, stack); 2];
        };
        let next_word = next.map(|next| &self.words[next.0 as usize]);
        let scores = self.actions.reduce(top, self.seen(stack), next_word);
        let trees = [self.actions.left(s0, s1), self.actions.right(s0, s1)];
        let below = self.cells[stack.0 as usize].below;
        let rest = self.cells[below.0 as usize].below;
        let found = [(scores[0], self.push(trees[0], rest)), (scores[1], self.push(trees[1], rest))];
        match next {
            None => self.cells[stack.0 as usize].reduced = Some(found),
            Some(next) => {
                self.reduced.insert((stack, next), found);
            }
        }
        found
    }

    /// The score of ending with a stack.
    pub fn end(&self, stack: StackId) -> f64 {
        self.actions.end(self.seen(stack))
    }
}
