//! What undirected search expects of what is missing around an item: a child, or all that is outside.
//!
//! ```text
//! missing child c      inside(c)  + g(words of c)                    scores of rules: the best there can be
//! missing parent of v  outside(v) + g(words of the sentence outside v)
//! ```
//!
//! Gesmundo & Henderson 2011 let g depend on the number of source words alone. Words that rules could give there say more,
//! so a share of what they score without history can be counted with the rules.

use sylvan_forest::{BundleId, InsideOutside, Sum, TranslationForest, VertexId};

/// What the language model is expected to say of what is missing. All numbers are thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    /// For each source word that is missing, in nats.
    pub per_word: i32,
    /// If any is missing, in nats.
    pub once: i32,
    /// The share of what the words of rules score without history: with 1,000 all of it, with 0, as in the paper, none.
    pub share: u32,
}

impl Default for Missing {
    fn default() -> Self {
        Self { per_word: 0, once: 0, share: 500 }
    }
}

impl Missing {
    /// As in the paper: a number of nats for each word.
    pub fn per_word(nats: f64) -> Self {
        Self { per_word: (nats * 1000.0).round() as i32, once: 0, share: 0 }
    }

    fn context(&self, words: usize) -> f64 {
        match words {
            0 => 0.0,
            words => f64::from(self.per_word) * 1e-3 * words as f64 + f64::from(self.once) * 1e-3,
        }
    }
}

/// The expectations of one sentence.
#[derive(Debug)]
pub(super) struct Expected {
    children: Vec<f64>,
    parents: Vec<f64>,
}

impl Expected {
    /// `words` is what a bundle scores without history.
    pub(super) fn new(forest: &TranslationForest, missing: Missing, words: impl Fn(BundleId) -> f64) -> Self {
        let share = f64::from(missing.share) * 1e-3;
        let scores = InsideOutside::of(forest, Sum::Best, |bundle| share * words(bundle));
        let len = |vertex: VertexId| forest.span(vertex).len();
        let whole = len(forest.goal());
        let child = |vertex| scores.inside(vertex) + missing.context(len(vertex));
        let parent = |vertex| scores.outside(vertex) + missing.context(whole.saturating_sub(len(vertex)));
        Self {
            children: forest.vertices().map(child).collect(),
            parents: forest.vertices().map(parent).collect(),
        }
    }

    /// Of a child that is missing.
    pub(super) fn child(&self, vertex: VertexId) -> f64 {
        self.children[vertex.0 as usize]
    }

    /// Of all that is outside; minus infinity if nothing can be there.
    pub(super) fn parent(&self, vertex: VertexId) -> f64 {
        self.parents[vertex.0 as usize]
    }
}

/// What the language model changed where parts met, in this sentence so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Changes {
    joints: f64,
    sum: f64,
    squares: f64,
}

impl Changes {
    /// Joints that nobody has seen and that changed nothing, so that the first few do not count for too much.
    const PRIOR: f64 = 20.0;

    /// The change at so many joints of one candidate.
    pub(super) fn add(&mut self, joints: usize, change: f64) {
        if joints > 0 {
            let joints = joints as f64;
            self.joints += joints;
            self.sum += change;
            self.squares += change * change / joints;
        }
    }

    /// What is expected at a joint: the mean, and so many standard deviations.
    pub(super) fn expected(&self, deviations: f64) -> f64 {
        let joints = self.joints + Self::PRIOR;
        let mean = self.sum / joints;
        mean + deviations * (self.squares / joints - mean * mean).max(0.0).sqrt()
    }
}
