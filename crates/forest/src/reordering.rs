//! What it costs to translate parts of a sentence in another order, for searches that choose that order.
//!
//! Searches over a tree or a chart need none of this: there a rule's target side is the order. Where phrases are put
//! together freely, the forest says what a jump costs and what each phrase thinks of its neighbours.

use sylvan_base::Span;

/// How a phrase lies to another that is translated right before it (or after it).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Orientation {
    /// In source order, side by side.
    Mono,
    /// The other way round, side by side.
    Swap,
    /// Apart.
    Disc,
}

impl Orientation {
    /// How a phrase lies to the one translated before it.
    pub fn of(before: Span, next: Span) -> Self {
        if next.start == before.end {
            Self::Mono
        } else if next.end == before.start {
            Self::Swap
        } else {
            Self::Disc
        }
    }

    /// The orientation of the first phrase: in order if it begins the sentence.
    pub fn of_first(first: Span) -> Self {
        if first.start == 0 { Self::Mono } else { Self::Disc }
    }
}

/// What an orientation is seen against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Neighbour {
    /// The phrase translated right before.
    #[default]
    Phrase,
    /// The largest block of neighbouring phrases that ends there (Galley & Manning 2008).
    Block,
    /// The span translated most recently, which has holes where rules have gaps; within a hole, the rule before (Siahbani
    /// & Sarkar 2017).
    Recent,
    /// The rule translated right before, counted only when the smallest rule that holds both is complete (Nguyen & Vogel
    /// 2013, adapted by Siahbani & Sarkar 2017).
    Late,
}

/// Weighted scores of a phrase by [`Orientation`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Orientations {
    /// Towards what is translated before it.
    pub before: [f64; 3],
    /// Towards what is translated after it.
    pub after: [f64; 3],
}

/// What another order costs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reordering {
    /// The score of each source word that a jump goes over.
    pub per_word: f64,
    /// What orientations are seen against.
    pub neighbour: Neighbour,
    /// By edge; empty if there are none.
    pub(crate) edges: Vec<Orientations>,
}

impl Reordering {
    /// Whether any edge has orientations.
    pub fn is_oriented(&self) -> bool {
        !self.edges.is_empty()
    }
}
