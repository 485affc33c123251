//! Small scorers of actions: the specification's toy weights, and weights that are a hash of what is seen.
#![allow(dead_code, unreachable_pub)]

use sylvan_base::hash::{content_hash, fold};
use sylvan_parse::structured::{Actions, Top};

/// A tree as the paper's features see it: head word, its tag, and the tags of its outermost children; 0 is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Seen {
    pub word: u64,
    pub tag: &'static str,
    pub left: &'static str,
    pub right: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tagged {
    pub word: u64,
    pub tag: &'static str,
}

/// Weights of actions by what is seen. `next` is the word that is shifted or waited for.
pub trait Weights {
    fn tags(&self, text: &str) -> Vec<&'static str>;
    fn weight(&self, top: Top<'_, Seen>, next: Option<&Tagged>, action: &str) -> f64;
    fn delays(&self) -> bool {
        false
    }
    fn expected(&self, _word: &Tagged) -> f64 {
        0.0
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Toy<W>(pub W);

pub fn number(text: &str) -> u64 {
    content_hash(text.as_bytes())
}

impl<W: Weights> Actions for Toy<W> {
    type Tree = Seen;
    type Word = Tagged;
    type Seen = ();

    fn words(&self, text: &str, out: &mut Vec<(Tagged, f64)>) {
        out.extend(self.0.tags(text).into_iter().map(|tag| (Tagged { word: number(text), tag }, 0.0)));
    }
    fn leaf(&self, word: &Tagged, _below: Option<&Seen>) -> Seen {
        Seen { word: word.word, tag: word.tag, left: "", right: "" }
    }
    fn left(&self, s0: &Seen, s1: &Seen) -> Seen {
        Seen { left: s1.tag, ..*s0 }
    }
    fn right(&self, s0: &Seen, s1: &Seen) -> Seen {
        Seen { right: s0.tag, ..*s1 }
    }
    fn see(&self, _top: Top<'_, Seen>) {}
    fn shift(&self, top: Top<'_, Seen>, (): &(), word: &Tagged) -> f64 {
        self.0.weight(top, Some(word), "shift")
    }
    fn reduce(&self, top: Top<'_, Seen>, (): &(), next: Option<&Tagged>) -> [f64; 2] {
        [self.0.weight(top, next, "left"), self.0.weight(top, next, "right")]
    }
    fn expected(&self, word: &Tagged) -> f64 {
        self.0.expected(word)
    }
    fn delays(&self) -> bool {
        self.0.delays()
    }
}

/// The toy weights, all on the tags of the two topmost trees.
#[derive(Debug, Clone, Copy)]
pub struct Bush;

impl Weights for Bush {
    fn tags(&self, text: &str) -> Vec<&'static str> {
        vec![match text {
            "Bush" | "Sharon" => "NNP",
            "held" => "VBD",
            "a" => "DT",
            "meeting" => "NN",
            "talks" => "NNS",
            _ => "IN",
        }]
    }
    fn weight(&self, top: Top<'_, Seen>, _next: Option<&Tagged>, action: &str) -> f64 {
        let [s0, s1] = [top[0], top[1]].map(|tree| tree.map_or("", |tree| tree.tag));
        match (s0, s1, action) {
            ("VBD", "NNP", "left") | ("NN", "DT", "left") => 1.0,
            ("NNP", "VBD", "left") => -0.5,
            ("NN", "VBD", "right") => 0.8,
            ("IN", "VBD", "right") => 0.3,
            ("IN", "NN", "right") => 0.2,
            ("NNP", "IN", "right") => 0.9,
            ("NNP", "VBD", "right") => -0.2,
            _ => 0.0,
        }
    }
}

/// Weights that are a hash of everything that the paper's features see; multiples of a power of two, so that sums are
/// exact in any order.
#[derive(Debug, Clone, Copy)]
pub struct Hashed {
    pub seed: u64,
    pub delays: bool,
    /// How many tags some words have.
    pub tags: usize,
    /// Whether words are expected to add something.
    pub expects: bool,
}

const TAGS: [&str; 3] = ["N", "V", "D"];

impl Hashed {
    pub fn new(seed: u64) -> Self {
        Self { seed, delays: false, tags: 1, expects: false }
    }
}

impl Weights for Hashed {
    fn tags(&self, text: &str) -> Vec<&'static str> {
        let first = (number(text) % 3) as usize;
        (0..self.tags).map(|more| TAGS[(first + more) % 3]).collect()
    }
    fn weight(&self, top: Top<'_, Seen>, next: Option<&Tagged>, action: &str) -> f64 {
        let mut hash = fold(self.seed, number(action));
        if let Some(next) = next {
            hash = fold(fold(hash, next.word), number(next.tag));
        }
        for tree in top.into_iter().take(2) {
            let parts = tree
                .map_or([0; 4], |tree| [tree.word, number(tree.tag), number(tree.left), number(tree.right)]);
            hash = parts.into_iter().fold(hash, fold);
        }
        (content_hash(&hash.to_le_bytes()) % 256) as f64 / 64.0 - 2.0
    }
    fn delays(&self) -> bool {
        self.delays
    }
    fn expected(&self, word: &Tagged) -> f64 {
        if self.expects { (word.word % 16) as f64 / 8.0 - 1.0 } else { 0.0 }
    }
}

/// The best score over all sequences of actions, without any sharing: the definition.
pub fn brute<A: Actions>(actions: &A, words: &[&str]) -> f64 {
    let read: Vec<Vec<(A::Word, f64)>> = words
        .iter()
        .map(|word| {
            let mut ways = Vec::new();
            actions.words(word, &mut ways);
            ways
        })
        .collect();
    if words.is_empty() {
        return 0.0;
    }
    walk(actions, &read, &mut Vec::new(), 0)
}

fn walk<A: Actions>(
    actions: &A,
    words: &[Vec<(A::Word, f64)>],
    stack: &mut Vec<A::Tree>,
    next: usize,
) -> f64 {
    let top = |stack: &[A::Tree]| -> [Option<A::Tree>; 3] {
        std::array::from_fn(|depth| stack.len().checked_sub(depth + 1).map(|at| stack[at]))
    };
    let mut best = f64::NEG_INFINITY;
    let seen = top(stack);
    let seen = [seen[0].as_ref(), seen[1].as_ref(), seen[2].as_ref()];
    let looked_up = actions.see(seen);
    if next == words.len() && stack.len() == 1 {
        best = actions.end(&looked_up);
    }
    if let Some(ways) = words.get(next) {
        for (word, choice) in ways {
            let score = choice + actions.shift(seen, &looked_up, word);
            stack.push(actions.leaf(word, seen[0]));
            best = best.max(score + walk(actions, words, stack, next + 1));
            stack.pop();
        }
    }
    if let (Some(s0), Some(s1)) = (seen[0], seen[1]) {
        // What waits for a word knows it, and all of its readings: the reading is chosen before the reductions.
        let readings: Vec<Option<usize>> = match words.get(next) {
            Some(ways) if actions.delays() => (0..ways.len()).map(Some).collect(),
            _ => vec![None],
        };
        for reading in readings {
            let mut rest: Vec<Vec<(A::Word, f64)>> = words.to_vec();
            if let Some(reading) = reading {
                rest[next] = vec![words[next][reading]];
            }
            let ahead = reading.map(|reading| &words[next][reading].0);
            let scores = actions.reduce(seen, &looked_up, ahead);
            let trees = [actions.left(s0, s1), actions.right(s0, s1)];
            for (score, tree) in scores.into_iter().zip(trees) {
                let mut reduced = stack[..stack.len() - 2].to_vec();
                reduced.push(tree);
                best = best.max(score + walk(actions, &rest, &mut reduced, next));
            }
        }
    }
    best
}
