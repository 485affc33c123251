//! Incremental decoding: top-down, strictly left to right, linear time with a beam (Huang & Mi 2010).
//!
//! ```text
//! item      l : <stack, rho> : w     l input nodes covered, rho the target words so far (only its state)
//!
//! axiom     0 : <[. goal </s>], <s>> : 0
//!
//! predict   l : <.. [a . v b], rho> : w                    e an edge of v
//!           ----------------------------------------------------------------
//!           l + |C(e)| : <.. [a . v b] [. target(e)], rho> : w + score(e)
//!
//! scan      l : <.. [a . t b], rho> : w                    t a word
//!           ----------------------------------------------------------------
//!           l : <.. [a t . b], rho t> : w + lm(t | rho)
//!
//! complete  l : <.. [a . v b] [c .], rho> : w   =>   l : <.. [a v . b], rho> : w
//!
//! goal      |T| : <[goal </s> .], rho> : w
//! ```
//!
//! Only predict chooses; scan and complete are forced, so one macro step is a predict and all that follows. What
//! lies left of the dots never matters again, so a stack is kept as its *residual*: the symbols still to be
//! produced, first to last, as a shared list of cells. Equal residuals are the same cell, push and pop take
//! constant time, and complete costs nothing. (The paper compares whole stacks: [`Signature::Stack`].) The bin of an item, the nodes covered, is |T| minus the nodes below
//! the residual's vertices.
//!
//! | here | paper |
//! |---|---|
//! | a cell, by its `ItemId` | the stack of dotted rules, residual form |
//! | `EdgeSpec::nodes` | \|C(r)\| |
//! | a bin | the beam of one step |
//!
//! Where a forest has lexicalised glue ([`Glue`]), this is left-to-right Hiero (`glue.rs`).

mod glue;

use glue::{GlueFutures, Glued};
use sylvan_base::{HashMap, IndexVec, Span};
use sylvan_forest::{BundleId, EdgeId, Edges, Growing, Target, TokenId, TranslationForest, VertexId};

use crate::deduction::{
    Application, Charge, Choice, ClassId, Deduction, EdgeOrder, ItemId, ListId, Successor, Worth,
};
use crate::engine::{Completed, Engine, Limits, OnVisit, Run};
use crate::{Estimate, LanguageModel, Outcome, inside_estimate, orientation};

/// What an item's rank adds to its score for the part not yet translated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Future {
    /// Nothing.
    None,
    /// The average cost of a source word, f(goal) / n, for each word still to be translated: how Feng et al. 2012
    /// describe the top-down decoder that they compare with.
    Rough,
    /// The estimate f of every vertex and bundle in the residual: exact except at the joints.
    Inside,
    /// The best row of phrases for each span, as in phrase-based search (Siahbani, Sankaran & Sarkar 2013). Where there is
    /// no glue, the same as inside.
    Phrases,
}

/// What a bin counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Input nodes covered by the source sides of the rules so far (Huang & Mi 2010). For trees; over packed trees of
    /// different sizes source words are counted instead.
    Nodes,
    /// The same with words and the roots of what is still to be translated (Yu et al. 2014). For trees.
    AllNodes,
    /// Source words covered. For trees and for parse forests, where derivations have different numbers of nodes.
    Words,
}

/// What makes two stacks the same, so that they recombine where the words' states are equal too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signature {
    /// The symbols still to be produced: all that the future depends on.
    Residual,
    /// The dotted rules of the whole stack (Huang & Mi 2010): fewer recombine.
    Stack,
}

/// Settings of the incremental decoder besides its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Incremental {
    /// The estimate of what is still to come.
    pub future: Future,
    /// What competes with what.
    pub progress: Progress,
    /// What recombines.
    pub signature: Signature,
    /// How many ways to glue a span are tried: those that promise most.
    pub glued: usize,
}

impl Incremental {
    /// The default number of ways to glue a span.
    pub const USUAL_GLUED: usize = 100;
}

impl Default for Incremental {
    fn default() -> Self {
        Self {
            future: Future::Inside,
            progress: Progress::Nodes,
            signature: Signature::Residual,
            glued: Self::USUAL_GLUED,
        }
    }
}

impl From<Future> for Incremental {
    fn from(future: Future) -> Self {
        Self { future, ..Self::default() }
    }
}

/// Nothing left but `</s>`.
const EMPTY: ItemId = ItemId(0);

/// The number of all stacks where they do not matter, and of the one that is empty.
const NO_STACK: u32 = 0;

/// A cell of the shared list of residuals.
#[derive(Debug, Clone, Copy)]
struct Cell {
    first: Target,
    rest: ItemId,
    /// The estimate of all symbols from here to the end, without `</s>`.
    future: f64,
    /// What a bin counts, of the vertices from here to the end.
    left: u32,
    /// The stack of dotted rules with this symbol after the topmost dot.
    stack: u32,
}

/// The deduction: all residuals of one sentence; equal lists are one cell.
#[derive(Debug)]
pub struct TopDown<'f> {
    /// All edges but glue.
    forest: &'f TranslationForest,
    /// These, and the glue that was made so far.
    growing: Growing<'f>,
    futures: Option<GlueFutures>,
    estimate: &'f Estimate,
    config: Incremental,
    axiom: ItemId,
    cells: IndexVec<ItemId, Cell>,
    index: HashMap<(Target, ItemId, u32), ItemId>,
    /// Numbers of stacks: the topmost rule, the place of its dot, and the stack below.
    stacks: HashMap<(EdgeId, u32, u32), u32>,
}

impl<'f> TopDown<'f> {
    /// The deduction over a forest without glue, with its static estimate.
    pub fn new(forest: &'f TranslationForest, estimate: &'f Estimate, config: Incremental) -> Self {
        Self::with_futures(forest, estimate, None, config)
    }

    fn with_futures(
        forest: &'f TranslationForest,
        estimate: &'f Estimate,
        futures: Option<GlueFutures>,
        mut config: Incremental,
    ) -> Self {
        // Where packed trees have different sizes, only words are covered at the same pace by all derivations.
        if forest.is_uneven() || forest.glue().is_some() {
            config.progress = Progress::Words;
        }
        // Cell 0 is the empty list; its symbol is never looked at.
        let empty = Cell {
            first: Target::Bundle(BundleId::EMPTY),
            rest: EMPTY,
            future: 0.0,
            left: 0,
            stack: NO_STACK,
        };
        let cells = IndexVec::from_vec(vec![empty]);
        let (index, stacks) = (HashMap::default(), HashMap::default());
        let growing = Growing::new(forest);
        let mut new = Self { forest, growing, futures, estimate, config, axiom: EMPTY, cells, index, stacks };
        new.axiom = new.push(Target::Vertex(forest.goal()), EMPTY, NO_STACK);
        new
    }

    fn push(&mut self, first: Target, rest: ItemId, stack: u32) -> ItemId {
        if let Some(&known) = self.index.get(&(first, rest, stack)) {
            return known;
        }
        let tail = self.cells[rest];
        let (future, left) = (tail.future + self.value(first), tail.left + self.weight(first));
        let cell = self.cells.push(Cell { first, rest, future, left, stack });
        self.index.insert((first, rest, stack), cell);
        cell
    }

    /// The stack with the dot before a symbol of `edge`, on the stack in which its head is pending.
    fn stack(&mut self, edge: EdgeId, dot: usize, below: u32) -> u32 {
        if self.config.signature == Signature::Residual {
            return NO_STACK;
        }
        let next = self.stacks.len() as u32 + 1;
        *self.stacks.entry((edge, dot as u32, below)).or_insert(next)
    }

    /// What a symbol of the residual is expected to cost.
    fn value(&self, symbol: Target) -> f64 {
        match (self.config.future, symbol) {
            (Future::None, _) | (Future::Rough, Target::Bundle(_)) => 0.0,
            (Future::Rough, Target::Vertex(vertex)) => {
                let goal = self.forest.goal();
                let per_word = self.estimate.vertex(goal) / (self.forest.span(goal).len().max(1)) as f64;
                per_word * self.growing.span(vertex).len() as f64
            }
            (Future::Inside | Future::Phrases, Target::Vertex(vertex)) if self.growing.is_grown(vertex) => {
                self.futures.as_ref().map_or(0.0, |futures| futures.of(self.growing.span(vertex)))
            }
            (Future::Inside | Future::Phrases, symbol) => self.estimate.symbol(symbol),
        }
    }

    /// What taking an edge with this target side is expected to cost: the words that it emits at once, and what the
    /// future says of the rest. An ablated future must not come back through here.
    fn step_estimate(&self, target: &[Target]) -> f64 {
        let leading = target.iter().take_while(|symbol| matches!(symbol, Target::Bundle(_))).count();
        let values = target.iter().enumerate().map(|(place, &symbol)| match symbol {
            Target::Bundle(bundle) if place < leading => self.estimate.bundle(bundle),
            _ => self.value(symbol),
        });
        values.sum()
    }

    /// What a symbol of the residual leaves uncovered.
    fn weight(&self, symbol: Target) -> u32 {
        let Target::Vertex(vertex) = symbol else { return 0 };
        let words = self.growing.span(vertex).len() as u32;
        match self.config.progress {
            Progress::Nodes => self.forest.nodes(vertex),
            Progress::AllNodes => self.forest.nodes(vertex) + words - 1,
            Progress::Words => words,
        }
    }

    /// The most that a bin can count.
    fn total(&self) -> u32 {
        let goal = self.weight(Target::Vertex(self.forest.goal()));
        goal + u32::from(self.config.progress == Progress::AllNodes)
    }

    fn pop(&self, stack: ItemId) -> Option<(Target, ItemId)> {
        (stack != EMPTY).then(|| (self.cells[stack].first, self.cells[stack].rest))
    }

    fn residual(&self, mut stack: ItemId) -> Vec<Target> {
        let mut symbols = Vec::new();
        while let Some((symbol, rest)) = self.pop(stack) {
            symbols.push(symbol);
            stack = rest;
        }
        symbols
    }

    /// The residual after the bundles that it starts with.
    fn skip_bundles(&self, mut stack: ItemId, mut on_bundle: impl FnMut(BundleId)) -> ItemId {
        while let Some((Target::Bundle(bundle), after)) = self.pop(stack) {
            on_bundle(bundle);
            stack = after;
        }
        stack
    }
}

/// The bundles that a target side starts with are scanned right away instead of being pushed and popped again.
fn leading_bundles(mut target: &[Target], mut on_bundle: impl FnMut(BundleId)) -> &[Target] {
    while let [Target::Bundle(bundle), after @ ..] = target {
        on_bundle(*bundle);
        target = after;
    }
    target
}

impl<'f> Deduction for TopDown<'f> {
    type Forest = Growing<'f>;

    fn forest(&self) -> &Growing<'f> {
        &self.growing
    }

    fn axiom(&mut self) -> ItemId {
        self.axiom
    }

    fn bins(&self) -> usize {
        self.total() as usize + 1
    }

    fn bin(&self, item: ItemId) -> usize {
        if item == self.axiom { 0 } else { (self.total() - self.cells[item].left) as usize }
    }

    /// The vertex that is next.
    fn class(&self, item: ItemId) -> Option<ClassId> {
        match self.pop(item)? {
            (Target::Vertex(vertex), _) => Some(ClassId(vertex.0)),
            (Target::Bundle(_), _) => unreachable!("a step scans all bundles before it ends"),
        }
    }

    fn future(&self, item: ItemId) -> f64 {
        self.cells[item].future
    }

    fn rest(&self, item: ItemId) -> f64 {
        self.cells[self.cells[item].rest].future
    }

    fn lists(&mut self, class: ClassId, out: &mut Vec<(ListId, f64)>) {
        match self.forest.glue() {
            None => out.push((ListId(class.0), 0.0)),
            Some(glue) => self.glue_lists(glue, VertexId(class.0), out),
        }
    }

    fn options(&mut self, list: ListId, out: &mut Vec<Choice>) {
        let vertex = match self.forest.glue() {
            None => VertexId(list.0),
            Some(_) => match glue::of_list(list) {
                (vertex, None) => vertex,
                (phrase, Some(turned)) => return self.glue_options(phrase, turned, out),
            },
        };
        out.extend(self.growing.edges(vertex).map(|edge| {
            let estimate = self.forest.edge(edge).spec.score + self.step_estimate(self.forest.target(edge));
            let tails: u32 = self.forest.target(edge).iter().map(|&symbol| self.weight(symbol)).sum();
            let all_nodes = self.config.progress == Progress::AllNodes && vertex == self.forest.goal();
            let advance = self.weight(Target::Vertex(vertex)) + u32::from(all_nodes) - tails;
            Choice { id: edge.0, estimate, advance, exactly: true }
        }));
    }

    fn emit(&self, item: ItemId, choice: u32, bundles: &mut Vec<BundleId>) -> f64 {
        if let Some(glued) = Glued::of(choice) {
            return self.emit_glued(item, glued, bundles);
        }
        let edge = EdgeId(choice);
        let target = leading_bundles(self.forest.target(edge), |bundle| bundles.push(bundle));
        let mut stack = self.cells[item].rest;
        if target.is_empty() {
            stack = self.skip_bundles(stack, |bundle| bundles.push(bundle));
        }
        // A complete item is compared with its last word, which is not known here.
        if target.is_empty() && stack == EMPTY {
            return f64::INFINITY;
        }
        let future = target.iter().fold(self.cells[stack].future, |sum, &symbol| sum + self.value(symbol));
        self.forest.edge(edge).spec.score + future
    }

    /// Predict, then scan and complete until the next symbol is a vertex or nothing is left.
    fn apply(&mut self, item: ItemId, choice: u32, _worth: &Worth<'_>, out: &mut Application) {
        if let Some(glued) = Glued::of(choice) {
            return self.apply_glued(item, glued, out);
        }
        let edge = EdgeId(choice);
        let all = self.forest.target(edge);
        let target = leading_bundles(all, |_| {});
        let Cell { rest: mut stack, stack: below, .. } = self.cells[item];
        for (place, &symbol) in target.iter().enumerate().rev() {
            let dotted = self.stack(edge, all.len() - target.len() + place, below);
            stack = self.push(symbol, stack, dotted);
        }
        let stack = self.skip_bundles(stack, |_| {});
        out.trail.push(Charge { edge, after: None });
        let score = self.forest.edge(edge).spec.score;
        out.successors.push(Successor { item: stack, score, charged: Some(0) });
    }

    /// Predictions come in target order, heads first: they are the derivation.
    fn order(&self) -> EdgeOrder {
        EdgeOrder::HeadsFirst
    }

    fn frontier(&self, mut item: ItemId, out: &mut Vec<Span>) {
        while let Some((symbol, rest)) = self.pop(item) {
            if let Target::Vertex(vertex) = symbol {
                out.push(self.growing.span(vertex));
            }
            item = rest;
        }
    }
}

/// One line of a search trace: a closed item as it was expanded or dropped.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The bin.
    pub bin: u32,
    /// Score so far.
    pub score: f64,
    /// Estimate of what is left, `</s>` included.
    pub future: f64,
    /// The symbols still to be produced, without `</s>`.
    pub residual: Vec<Target>,
    /// The places still to be translated, next first.
    pub open: Vec<Span>,
    /// The target words so far.
    pub words: Vec<TokenId>,
    /// The edges charged so far.
    pub edges: Vec<EdgeId>,
    /// Whether the beam kept it; of the others only the best few are shown.
    pub kept: bool,
    /// How many items competed in the bin.
    pub among: usize,
}

/// The best derivation that incremental search finds; `None` if the forest has none.
pub fn incremental<L: LanguageModel>(
    forest: &TranslationForest,
    lm: &L,
    limits: impl Into<Limits>,
    config: impl Into<Incremental>,
) -> Option<Outcome> {
    let found = search(&mut Engine::default(), forest, Run::new(lm), limits.into(), config.into(), None);
    found.map(Outcome::from)
}

/// Incremental search in full: with a step model, reused memory and everything that was found.
pub fn search<L: LanguageModel>(
    engine: &mut Engine<L::State>,
    forest: &TranslationForest,
    run: Run<'_, L>,
    limits: Limits,
    config: Incremental,
    on_step: Option<&mut dyn FnMut(&Step)>,
) -> Option<Completed> {
    if forest.is_dead() {
        return None;
    }
    let lm = run.lm;
    let (estimate, futures) = match forest.glue() {
        None => (inside_estimate(forest, lm), None),
        Some(glue) => {
            let (estimate, futures) = glue::estimate(forest, glue, lm, config.future);
            (estimate, Some(futures))
        }
    };
    let mut deduction = TopDown::with_futures(forest, &estimate, futures, config);
    if deduction.cells[deduction.axiom].future == f64::NEG_INFINITY {
        return None;
    }
    let mut visits = Vec::new();
    // The trace needs the residuals while the search owns them: items are collected and shown afterwards.
    let mut on_visit = |visit: &_| visits.push(Clone::clone(visit));
    let on_visit: OnVisit<'_> = if on_step.is_some() { Some(&mut on_visit) } else { None };
    let Run { steps, out_forest, show_dropped, stop, .. } = run;
    let mut found = orientation::with_own(forest, steps, |steps| {
        let steps = steps.map(|steps| steps as _);
        let run = Run { lm, steps, out_forest, show_dropped, stop };
        engine.search(run, &mut deduction, limits, on_visit)
    })?;
    found.counters.lm_queries += estimate.lm_queries;
    if let Some(on_step) = on_step {
        let end = lm.end(lm.null());
        for visit in visits {
            on_step(&Step {
                bin: visit.bin as u32,
                score: visit.score,
                future: if visit.item == EMPTY { 0.0 } else { visit.future + end },
                residual: deduction.residual(visit.item),
                open: {
                    let mut open = Vec::new();
                    deduction.frontier(visit.item, &mut open);
                    open
                },
                words: prefix_words(forest.goal(), &deduction.growing, &visit.edges),
                edges: visit.edges,
                kept: visit.kept,
                among: visit.among,
            });
        }
    }
    found.grown = deduction.growing.grown();
    Some(found)
}

/// [`incremental`], reporting each item that survives in its bin, best first, then the best of those that do not, bins
/// in order, and at the end the best complete one.
pub fn incremental_traced<L: LanguageModel>(
    forest: &TranslationForest,
    lm: &L,
    limits: impl Into<Limits>,
    config: impl Into<Incremental>,
    mut on_step: impl FnMut(&Step),
) -> Option<Outcome> {
    let mut engine = Engine::default();
    let (limits, config) = (limits.into(), config.into());
    let run = Run { show_dropped: true, ..Run::new(lm) };
    let found = search(&mut engine, forest, run, limits, config, Some(&mut on_step))?;
    Some(Outcome::from(found))
}

/// The words that a prefix of a derivation has produced once scan and complete are done.
fn prefix_words(goal: VertexId, forest: &Growing<'_>, edges: &[EdgeId]) -> Vec<TokenId> {
    let mut words = Vec::new();
    let mut open: Vec<Target> = vec![Target::Vertex(goal)];
    let mut edges = edges.iter();
    while let Some(symbol) = open.pop() {
        match symbol {
            Target::Bundle(bundle) => words.extend_from_slice(forest.bundle(bundle)),
            Target::Vertex(_) => match edges.next() {
                Some(&edge) => open.extend(forest.target(edge).iter().rev()),
                None => break,
            },
        }
    }
    words
}
