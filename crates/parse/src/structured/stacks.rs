//! Stacks of partial trees as numbers: equal stacks are one, and what an action makes of each is found once.

use sylvan_base::{HashMap, define_id};

use super::Actions;
use super::tops::{TopNumber, TopTrees, Tops, TreeNumber};

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
struct Cell {
    /// The tree on top; none only for the empty stack.
    tree: TreeNumber,
    below: StackId,
    size: u32,
    /// What scoring sees, once it has been asked for.
    top: Option<TopNumber>,
    /// Left and right reduction without a next word, once they have been asked for.
    reduced: Option<[Scored; 2]>,
}

impl Cell {
    fn new(tree: TreeNumber, below: StackId, size: u32) -> Self {
        Self { tree, below, size, top: None, reduced: None }
    }
}

/// The stacks of one sentence, or of all that may become one.
#[derive(Debug)]
pub struct Stacks<A: Actions> {
    cells: Vec<Cell>,
    index: HashMap<(TreeNumber, StackId), StackId>,
    words: Vec<A::Word>,
    word_numbers: HashMap<A::Word, WordNumber>,
    shifted: HashMap<(StackId, WordNumber), Scored>,
    /// Reductions before a known word.
    reduced: HashMap<(StackId, WordNumber), [Scored; 2]>,
    tops: Tops<A>,
}

impl<A: Actions> Stacks<A> {
    /// Nothing but the empty stack.
    pub fn new(actions: A) -> Self {
        let mut stacks = Self {
            cells: Vec::new(),
            index: HashMap::default(),
            words: Vec::new(),
            word_numbers: HashMap::default(),
            shifted: HashMap::default(),
            reduced: HashMap::default(),
            tops: Tops::new(actions),
        };
        stacks.clear();
        stacks
    }

    /// Forgets a sentence and keeps the memory.
    pub fn clear(&mut self) {
        self.cells.clear();
        self.cells.push(Cell::new(TreeNumber::NONE, StackId::EMPTY, 0));
        self.index.clear();
        self.words.clear();
        self.word_numbers.clear();
        self.shifted.clear();
        self.reduced.clear();
        self.tops.clear();
    }

    /// What scores actions.
    pub fn actions(&self) -> &A {
        self.tops.actions()
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
        while let Some(tree) = self.tops.tree(self.cells[stack.0 as usize].tree) {
            trees.push(*tree);
            stack = self.cells[stack.0 as usize].below;
        }
        trees
    }

    fn trees_on_top(&self, stack: StackId) -> TopTrees {
        // The empty stack lies below itself.
        let s0 = &self.cells[stack.0 as usize];
        let s1 = &self.cells[s0.below.0 as usize];
        let s2 = &self.cells[s1.below.0 as usize];
        [s0.tree, s1.tree, s2.tree]
    }

    fn top(&mut self, stack: StackId) -> TopNumber {
        if let Some(known) = self.cells[stack.0 as usize].top {
            return known;
        }
        let top = self.tops.top(self.trees_on_top(stack));
        self.cells[stack.0 as usize].top = Some(top);
        top
    }

    fn push(&mut self, tree: TreeNumber, below: StackId) -> StackId {
        let size = self.cells[below.0 as usize].size + 1;
        let cells = &mut self.cells;
        *self.index.entry((tree, below)).or_insert_with(|| {
            cells.push(Cell::new(tree, below, size));
            StackId(cells.len() as u32 - 1)
        })
    }

    /// Shifts a word.
    pub fn shift(&mut self, stack: StackId, word: WordNumber) -> Scored {
        if let Some(&known) = self.shifted.get(&(stack, word)) {
            return known;
        }
        let top = self.top(stack);
        let shifted = (word, &self.words[word.0 as usize]);
        let score = self.tops.shift(top, shifted);
        let tree = self.tops.leaf(shifted, self.cells[stack.0 as usize].tree);
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
        let [s0, s1, _] = self.trees_on_top(stack);
        let Some([left, right]) = self.tops.join(s0, s1) else {
            debug_assert!(false, "only what has two trees can be reduced");
            return [(f64::NEG_INFINITY, stack); 2];
        };
        let top = self.top(stack);
        let scores = self.tops.reduce(top, next.map(|next| (next, &self.words[next.0 as usize])));
        let below = self.cells[stack.0 as usize].below;
        let rest = self.cells[below.0 as usize].below;
        let found = [(scores[0], self.push(left, rest)), (scores[1], self.push(right, rest))];
        match next {
            None => self.cells[stack.0 as usize].reduced = Some(found),
            Some(next) => {
                self.reduced.insert((stack, next), found);
            }
        }
        found
    }

    /// The score of ending with a stack.
    pub fn end(&mut self, stack: StackId) -> f64 {
        let top = self.top(stack);
        self.tops.end(top)
    }
}
