//! What defines a left-to-right decoder, apart from its search: items, options and what they lead to.
//!
//! A decoder file states its paper's items and inference rules by implementing [`Deduction`]; the engine
//! (`engine/`) owns everything else: states of the models, recombination, beams, the choice of what to try
//! next and back-pointers. One step of a deduction is a *macro step*: one free choice, then everything that
//! is forced.
//!
//! Items and classes are dense ids that the deduction gives out, equal ids for equal contents (hash-consed cells),
//! so that the engine compares and stores four bytes whatever an item is made of.
//!
//! Items with the same [`class`](Deduction::class) have the same options. The engine therefore sorts the options
//! once per class and takes combinations of items and options best first, instead of making all of them. Where classes
//! differ in which options they have but not in how these rank, they share lists of options
//! ([`lists`](Deduction::lists)), and each list is sorted once per sentence.

use sylvan_base::{Span, define_id};
use sylvan_forest::{BundleId, EdgeId, Edges};

define_id!(
    /// Everything of an item that decides its future, except model states and score. Equal items recombine.
    ItemId
);
define_id!(
    /// What decides an item's options.
    ClassId
);
define_id!(
    /// Options that classes have together or not at all.
    ListId
);

/// A left-to-right decoder's items and inference rules over one sentence.
///
/// A deduction owns its edges: a translation forest, or a store that grows as the search goes on.
pub trait Deduction {
    /// What its edges live in.
    type Forest: Edges;
    /// The edges known so far.
    fn forest(&self) -> &Self::Forest;
    /// The item to start with.
    fn axiom(&mut self) -> ItemId;
    /// How many bins there are.
    fn bins(&self) -> usize;
    /// The bin of an item: items of one bin compete. No step leads to a smaller one.
    fn bin(&self, item: ItemId) -> usize;
    /// The item's class, or `None` if it is complete.
    fn class(&self, item: ItemId) -> Option<ClassId>;
    /// The estimate of everything that an item still lacks, for ranking in its bin.
    fn future(&self, _item: ItemId) -> f64 {
        0.0
    }
    /// The part of the estimate that does not depend on the option chosen next.
    fn rest(&self, _item: ItemId) -> f64 {
        0.0
    }
    /// The lists that make up a class's options, and what to add to the estimates of each. Asked once per class; by
    /// default a class has one list of its own, under its own number.
    fn lists(&mut self, class: ClassId, out: &mut Vec<(ListId, f64)>) {
        out.push((ListId(class.0), 0.0));
    }
    /// The options of a list, in any order. Asked once per list.
    fn options(&mut self, list: ListId, out: &mut Vec<Choice>);
    /// What taking an option emits, into `bundles`, which is empty. Returns charges and future of the best successor
    /// (none has more), or infinity if that is unknown or if a complete item, which competes in no bin, may be among
    /// them.
    fn emit(&self, item: ItemId, choice: u32, bundles: &mut Vec<BundleId>) -> f64;
    /// Takes an option: the items that it leads to. `out` is empty. Items that are not `worth` making, given
    /// their bin, charges and future, may be left out.
    fn apply(&mut self, item: ItemId, choice: u32, worth: &Worth<'_>, out: &mut Application);
    /// The order in which the steps charge edges.
    fn order(&self) -> EdgeOrder;
    /// The places of the input still to be translated, next first, for models that ask for them.
    fn frontier(&self, _item: ItemId, _out: &mut Vec<Span>) {}
}

/// The order in which a search meets the edges of a derivation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeOrder {
    /// Each edge before those of its tails, tails in target order.
    HeadsFirst,
    /// Each edge after those of its tails, tails in target order.
    TailsFirst,
}

/// An option of a class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The deduction's own number for it.
    pub id: u32,
    /// The estimate of what it will cost, up to where [`Deduction::rest`] begins.
    pub estimate: f64,
    /// Its successors are at least this many bins further on.
    pub advance: u32,
    /// Whether all of them are exactly that far on.
    pub exactly: bool,
}

impl Choice {
    /// An option of which nothing is known but its estimate.
    pub fn new(id: u32, estimate: f64) -> Self {
        Self { id, estimate, advance: 0, exactly: false }
    }
}

/// Which successors bins still have room for.
#[derive(Debug, Clone, Copy)]
pub struct Worth<'a> {
    /// What an item must reach, by bin.
    pub(crate) thresholds: &'a [f64],
    /// The score that all successors of the step have before charges.
    pub(crate) reached: f64,
}

impl Worth<'_> {
    /// Whether a successor with these charges and future can stay in a bin.
    #[inline]
    pub fn has_room(&self, bin: usize, charges_and_future: f64) -> bool {
        self.thresholds.get(bin).is_none_or(|&enough| self.reached + charges_and_future >= enough)
    }
}

/// What a step does.
#[derive(Debug, Clone, Default)]
pub struct Application {
    /// The items reached; all have emitted the same words.
    pub successors: Vec<Successor>,
    /// The edges charged on the way, each after the one before it. Successors share beginnings, so a step that
    /// charges many edges and stops at many items stays linear.
    pub trail: Vec<Charge>,
    /// How many items were not worth making.
    pub left_out: u64,
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
#[derive(Debug, Clone, Copy)]
pub struct Successor {
    /// The item.
    pub item: ItemId,
    /// The scores of the edges charged in this step.
    pub score: f64,
    /// The last of these edges, as an index of [`Application::trail`]. From the first step to the last they come
    /// in the [`order`](Deduction::order) that the deduction states.
    pub charged: Option<u32>,
}

impl Application {
    /// Empties it and keeps the memory.
    pub fn clear(&mut self) {
        self.successors.clear();
        self.trail.clear();
        self.left_out = 0;
    }
}
