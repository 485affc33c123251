//! What a left-to-right decoder is, apart from its search: items, options and what becomes of them.
//!
//! A decoder file states its paper's items and inference rules by implementing [`Deduction`]; the engine in
//! `bins.rs` owns everything else: language-model states, recombination, beams, the choice of what to try next
//! and the way back. One step of a deduction is a *macro step*: one free choice, then everything that is
//! forced.
//!
//! Items with the same [`class`](Deduction::class) have the same options. The engine therefore sorts the options
//! once per class and takes combinations of items and options best first, instead of making all of them.

use std::fmt::Debug;
use std::hash::Hash;

use sylvan_forest::{BundleId, Derivation, EdgeId};

/// A left-to-right decoder's items and inference rules over one sentence.
pub trait Deduction {
    /// All of an item that decides its future, but for the language-model state and the score. Equal items
    /// recombine.
    type Item: Copy + Eq + Hash + Debug;
    /// What decides an item's options.
    type Class: Copy + Eq + Hash + Debug;

    /// The item to start with.
    fn axiom(&mut self) -> Self::Item;
    /// How many bins there are.
    fn bins(&self) -> usize;
    /// The bin of an item: items of one bin compete. No step leads to a smaller one.
    fn bin(&self, item: Self::Item) -> usize;
    /// The item's class, or `None` if it is complete.
    fn class(&self, item: Self::Item) -> Option<Self::Class>;
    /// The estimate of everything that an item still lacks, for ranking in its bin.
    fn future(&self, item: Self::Item) -> f64;
    /// The part of the estimate that does not depend on the option chosen next.
    fn rest(&self, item: Self::Item) -> f64;
    /// The options of a class, in any order. Asked once per class.
    fn options(&mut self, class: Self::Class, out: &mut Vec<Choice>);
    /// Takes an option: the words that it emits, and the items that it leads to. `out` is empty.
    fn apply(&mut self, item: Self::Item, choice: u32, out: &mut Application<Self::Item>);
    /// The derivation of a complete item from the edges that the steps to it recorded, in order.
    fn derivation(&self, edges: Vec<EdgeId>) -> Derivation;
}

/// An option of a class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The deduction's own number for it.
    pub id: u32,
    /// The estimate of what it will cost, up to where [`Deduction::rest`] begins.
    pub estimate: f64,
}

/// What a step does.
#[derive(Debug, Clone)]
pub struct Application<I> {
    /// The words emitted, bundle by bundle.
    pub bundles: Vec<BundleId>,
    /// The items reached; all have emitted the same words.
    pub successors: Vec<Successor<I>>,
    /// The edges charged on the way, each after the one before it. Successors share beginnings, so a step that
    /// charges many edges and stops at many items stays linear.
    pub trail: Vec<Charge>,
}

/// An edge charged in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charge {
    /// The edge.
    pub edge: EdgeId,
    /// The charge before it in the same step, as an index of [`Application::trail`].
    pub after: Option<u32>,
}

/// An item that a step leads to.
#[derive(Debug, Clone)]
pub struct Successor<I> {
    /// The item.
    pub item: I,
    /// The scores of the edges charged in this step.
    pub score: f64,
    /// The last of these edges, as an index of [`Application::trail`]. From the first step to the last they come
    /// in the order that [`Deduction::derivation`] expects.
    pub charged: Option<u32>,
}

impl<I> Default for Application<I> {
    fn default() -> Self {
        Self { bundles: Vec::new(), successors: Vec::new(), trail: Vec::new() }
    }
}

impl<I> Application<I> {
    /// Empties it and keeps the memory.
    pub fn clear(&mut self) {
        self.bundles.clear();
        self.successors.clear();
        self.trail.clear();
    }
}
