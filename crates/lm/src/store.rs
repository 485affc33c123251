//! How n-grams are kept: a trie over reversed words, one hash table per order.
//!
//! A node stands for an n-gram. Its parent is the n-gram without its oldest word, so a walk away from the root
//! reads the sentence backwards: `c`, `b c`, `a b c`. The pair (parent, oldest word) identifies a node exactly:
//! two n-grams can share a hash value but are never taken for each other.
//!
//! Nodes of an order are numbered in the order in which they were added; nothing depends on the tables' order.
//! Queries and readers see only the methods of [`Store`], so that another layout can take its place.

use hashbrown::HashTable;
use sylvan_base::hash::fold;

use crate::WordId;

/// Numbers a node among those of its order. A 1-gram's number is its word's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Node(pub(crate) u32);

/// An n-gram.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gram {
    /// The n-gram without its oldest word. Unused in 1-grams.
    parent: Node,
    /// The oldest word.
    oldest: WordId,
    /// ln p(newest word | the others).
    pub(crate) prob: f32,
    /// ln of the back-off weight.
    pub(crate) backoff: f32,
    flags: u8,
}

/// The model itself holds the n-gram; otherwise it is a blank that keeps the walks unbroken.
const STATED: u8 = 1;
/// Some n-gram is this one with an older word in front.
const GROWS_LEFT: u8 = 2;
/// Some n-gram is this one with a newer word behind.
const GROWS_RIGHT: u8 = 4;

const _: () = assert!(size_of::<Gram>() == 20);

impl Gram {
    pub(crate) fn is_stated(&self) -> bool {
        self.flags & STATED != 0
    }

    pub(crate) fn grows_left(&self) -> bool {
        self.flags & GROWS_LEFT != 0
    }

    /// Whether having seen this n-gram can change the score of a later word.
    pub(crate) fn is_context(&self) -> bool {
        self.flags & GROWS_RIGHT != 0 || self.backoff != 0.0
    }
}

#[derive(Clone, Default)]
struct Level {
    grams: Vec<Gram>,
    /// Positions in `grams`; empty for 1-grams, which are found by their word.
    index: HashTable<u32>,
}

/// All n-grams of a model.
#[derive(Clone)]
pub(crate) struct Store {
    levels: Vec<Level>,
}

impl Store {
    pub(crate) fn new(order: usize) -> Self {
        Self { levels: vec![Level::default(); order] }
    }

    pub(crate) fn order(&self) -> usize {
        self.levels.len()
    }

    /// Expects about so many n-grams of length `n`.
    pub(crate) fn reserve(&mut self, n: usize, count: usize) {
        let Level { grams, index } = &mut self.levels[n - 1];
        grams.reserve(count);
        if n > 1 {
            index.reserve(count, |&at| hash(grams[at as usize].parent, grams[at as usize].oldest));
        }
    }

    /// The n-grams of length `n` in the order of their numbers.
    pub(crate) fn grams(&self, n: usize) -> &[Gram] {
        &self.levels[n - 1].grams
    }

    #[inline]
    pub(crate) fn gram(&self, n: usize, node: Node) -> &Gram {
        &self.levels[n - 1].grams[node.0 as usize]
    }

    fn gram_mut(&mut self, n: usize, node: Node) -> &mut Gram {
        &mut self.levels[n - 1].grams[node.0 as usize]
    }

    /// The n-gram of length `n` that is `parent` with `oldest` in front.
    #[inline]
    pub(crate) fn find(&self, n: usize, parent: Node, oldest: WordId) -> Option<Node> {
        let Level { grams, index } = &self.levels[n - 1];
        let same = |&at: &u32| {
            let gram = &grams[at as usize];
            gram.parent == parent && gram.oldest == oldest
        };
        index.find(hash(parent, oldest), same).map(|&at| Node(at))
    }

    /// The words of an n-gram of length `n`, oldest first.
    pub(crate) fn words(&self, n: usize, mut node: Node, out: &mut Vec<WordId>) {
        out.clear();
        for n in (1..=n).rev() {
            let gram = self.gram(n, node);
            out.push(gram.oldest);
            node = gram.parent;
        }
    }

    /// Adds a 1-gram; its word must be the next one.
    pub(crate) fn push_word(&mut self, word: WordId) {
        debug_assert_eq!(word.0 as usize, self.levels[0].grams.len());
        let gram = Gram { parent: Node(0), oldest: word, prob: 0.0, backoff: 0.0, flags: 0 };
        self.levels[0].grams.push(gram);
    }

    /// Adds a blank of length `n` > 1, which must be new, with the probability that backing off gives it.
    pub(crate) fn push(&mut self, n: usize, parent: Node, oldest: WordId, prob: f32) -> Node {
        self.gram_mut(n - 1, parent).flags |= GROWS_LEFT;
        let Level { grams, index } = &mut self.levels[n - 1];
        let at = u32::try_from(grams.len()).expect("fewer than 2^32 n-grams of one order");
        grams.push(Gram { parent, oldest, prob, backoff: 0.0, flags: 0 });
        index.insert_unique(hash(parent, oldest), at, |&at| {
            let gram = &grams[at as usize];
            hash(gram.parent, gram.oldest)
        });
        Node(at)
    }

    /// Gives an n-gram the weights that the model states for it.
    pub(crate) fn state(&mut self, n: usize, node: Node, prob: f32, backoff: f32) {
        let gram = self.gram_mut(n, node);
        (gram.prob, gram.backoff) = (prob, backoff);
        gram.flags |= STATED;
    }

    /// Notes that an n-gram is the context of another.
    pub(crate) fn mark_context(&mut self, n: usize, node: Node) {
        self.gram_mut(n, node).flags |= GROWS_RIGHT;
    }
}

#[inline]
fn hash(parent: Node, oldest: WordId) -> u64 {
    fold(0, u64::from(parent.0) << 32 | u64::from(oldest.0))
}
