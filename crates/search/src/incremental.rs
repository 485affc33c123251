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
//! constant time, and complete costs nothing. The bin of an item, the nodes covered, is |T| minus the nodes below
//! the residual's vertices.
//!
//! | here | paper |
//! |---|---|
//! | `StackId` | the stack of dotted rules, residual form |
//! | `EdgeSpec::nodes` | \|C(r)\| |
//! | a bin | the beam of one step |

use sylvan_base::{HashMap, Id, IndexVec, Symbol, define_id};
use sylvan_forest::{BundleId, Derivation, EdgeId, Target, TranslationForest, VertexId};

use crate::bins::{self, Limits, OnVisit};
use crate::deduction::{Application, Charge, Choice, Deduction, Successor};
use crate::{Estimate, LanguageModel, Outcome, inside_estimate};

/// What an item's rank adds to its score for the part not yet translated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Future {
    /// Nothing.
    None,
    /// The average cost of a source word, f(goal) / n, for each word still to be translated: how Feng et al. 2012
    /// describe the top-down decoder that they compare with.
    Rough,
    /// The estimate f of every vertex and bundle in the residual: exact but for the joints.
    Inside,
}

define_id!(
    /// A residual stack: the list of symbols still to be produced.
    StackId
);

impl StackId {
    /// Nothing left but `</s>`.
    const EMPTY: StackId = StackId(0);
}

/// A cell of the shared list of residuals.
#[derive(Debug, Clone, Copy)]
struct Cell {
    first: Target,
    rest: StackId,
    /// The estimate of all symbols from here to the end, without `</s>`.
    future: f64,
    /// Input nodes below the vertices from here to the end.
    nodes: u32,
}

/// The deduction: all residuals of one sentence; equal lists are one cell.
#[derive(Debug)]
struct TopDown<'f> {
    forest: &'f TranslationForest,
    estimate: &'f Estimate,
    future: Future,
    cells: IndexVec<StackId, Cell>,
    index: HashMap<(Target, StackId), StackId>,
}

impl<'f> TopDown<'f> {
    fn new(forest: &'f TranslationForest, estimate: &'f Estimate, future: Future) -> Self {
        // Cell 0 is the empty list; its symbol is never looked at.
        let empty =
            Cell { first: Target::Bundle(BundleId::EMPTY), rest: StackId::EMPTY, future: 0.0, nodes: 0 };
        let cells = IndexVec::from_vec(vec![empty]);
        Self { forest, estimate, future, cells, index: HashMap::default() }
    }

    fn push(&mut self, first: Target, rest: StackId) -> StackId {
        if let Some(&known) = self.index.get(&(first, rest)) {
            return known;
        }
        let tail = self.cells[rest];
        let nodes =
            tail.nodes + if let Target::Vertex(vertex) = first { self.forest.nodes(vertex) } else { 0 };
        let future = tail.future + self.value(first);
        let cell = self.cells.push(Cell { first, rest, future, nodes });
        self.index.insert((first, rest), cell);
        cell
    }

    /// What a symbol of the residual is expected to cost.
    fn value(&self, symbol: Target) -> f64 {
        match (self.future, symbol) {
            (Future::None, _) | (Future::Rough, Target::Bundle(_)) => 0.0,
            (Future::Rough, Target::Vertex(vertex)) => {
                let goal = self.forest.goal();
                let per_word = self.estimate.vertex(goal) / (self.forest.span(goal).len().max(1)) as f64;
                per_word * self.forest.span(vertex).len() as f64
            }
            (Future::Inside, symbol) => self.estimate.symbol(symbol),
        }
    }

    fn pop(&self, stack: StackId) -> Option<(Target, StackId)> {
        (stack != StackId::EMPTY).then(|| (self.cells[stack].first, self.cells[stack].rest))
    }

    fn residual(&self, mut stack: StackId) -> Vec<Target> {
        let mut symbols = Vec::new();
        while let Some((symbol, rest)) = self.pop(stack) {
            symbols.push(symbol);
            stack = rest;
        }
        symbols
    }
}

impl Deduction for TopDown<'_> {
    type Item = StackId;
    /// The vertex that is next.
    type Class = VertexId;

    fn axiom(&mut self) -> StackId {
        self.push(Target::Vertex(self.forest.goal()), StackId::EMPTY)
    }

    fn bins(&self) -> usize {
        self.forest.nodes(self.forest.goal()) as usize + 1
    }

    fn bin(&self, item: StackId) -> usize {
        (self.forest.nodes(self.forest.goal()) - self.cells[item].nodes) as usize
    }

    fn class(&self, item: StackId) -> Option<VertexId> {
        match self.pop(item)? {
            (Target::Vertex(vertex), _) => Some(vertex),
            (Target::Bundle(_), _) => unreachable!("a step scans all bundles before it ends"),
        }
    }

    fn future(&self, item: StackId) -> f64 {
        self.cells[item].future
    }

    fn rest(&self, item: StackId) -> f64 {
        self.cells[self.cells[item].rest].future
    }

    fn options(&mut self, class: VertexId, out: &mut Vec<Choice>) {
        out.extend(self.forest.edges(class).map(|edge| {
            let symbols = self.forest.target(edge).iter();
            let estimate = self.forest.edge(edge).spec.score
                + symbols.map(|&symbol| self.estimate.symbol(symbol)).sum::<f64>();
            Choice { id: edge.0, estimate }
        }));
    }

    /// Predict, then scan and complete until the next symbol is a vertex or nothing is left.
    fn apply(&mut self, item: StackId, choice: u32, out: &mut Application<StackId>) {
        let edge = EdgeId::from_index(choice as usize);
        let forest = self.forest;
        // Leading bundles are scanned right away instead of being pushed and popped again.
        let mut target = forest.target(edge);
        while let [Target::Bundle(bundle), after @ ..] = target {
            out.bundles.push(*bundle);
            target = after;
        }
        let mut stack = self.cells[item].rest;
        for &symbol in target.iter().rev() {
            stack = self.push(symbol, stack);
        }
        while let Some((Target::Bundle(bundle), after)) = self.pop(stack) {
            out.bundles.push(bundle);
            stack = after;
        }
        out.trail.push(Charge { edge, after: None });
        out.successors.push(Successor { item: stack, score: forest.edge(edge).spec.score, charged: Some(0) });
    }

    /// Predictions come in target order, heads first: they are the derivation.
    fn derivation(&self, edges: Vec<EdgeId>) -> Derivation {
        Derivation::new(edges)
    }
}

/// One line of a search trace: a closed item as it was expanded.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Input nodes covered.
    pub bin: u32,
    /// Score so far.
    pub score: f64,
    /// Estimate of what is left, `</s>` included.
    pub future: f64,
    /// The symbols still to be produced, without `</s>`.
    pub residual: Vec<Target>,
    /// The target words so far.
    pub words: Vec<Symbol>,
}

/// The best derivation that incremental search finds; `None` if the forest has none.
pub fn incremental<L: LanguageModel>(
    forest: &TranslationForest,
    lm: &L,
    limits: impl Into<Limits>,
    future: Future,
) -> Option<Outcome> {
    let estimate = inside_estimate(forest, lm);
    run(forest, lm, limits.into(), &mut TopDown::new(forest, &estimate, future), None)
}

/// [`incremental`], reporting each item that survives in its bin, best first, bins in order, and at the end the
/// best complete one.
pub fn incremental_traced<L: LanguageModel>(
    forest: &TranslationForest,
    lm: &L,
    limits: impl Into<Limits>,
    future: Future,
    mut on_step: impl FnMut(&Step),
) -> Option<Outcome> {
    let estimate = inside_estimate(forest, lm);
    let end = lm.end(lm.null());
    // The trace needs the residuals while the search owns them: items are collected and shown afterwards.
    let mut visits = Vec::new();
    let mut deduction = TopDown::new(forest, &estimate, future);
    let found = run(forest, lm, limits.into(), &mut deduction, Some(&mut |visit| visits.push(visit.clone())));
    for visit in visits {
        let complete = visit.item == StackId::EMPTY;
        on_step(&Step {
            bin: visit.bin as u32,
            score: visit.score,
            future: if complete { 0.0 } else { visit.future + end },
            residual: deduction.residual(visit.item),
            words: prefix_words(forest, &visit.edges),
        });
    }
    found
}

fn run<L: LanguageModel>(
    forest: &TranslationForest,
    lm: &L,
    limits: Limits,
    deduction: &mut TopDown<'_>,
    on_visit: OnVisit<'_, StackId>,
) -> Option<Outcome> {
    if forest.is_dead() {
        return None;
    }
    let queries = deduction.estimate.lm_queries;
    let mut found = bins::search(forest, lm, deduction, limits, on_visit)?;
    found.counters.lm_queries += queries;
    Some(found)
}

/// The words that a prefix of a derivation has produced once scan and complete are done.
fn prefix_words(forest: &TranslationForest, edges: &[EdgeId]) -> Vec<Symbol> {
    let mut words = Vec::new();
    let mut open: Vec<Target> = vec![Target::Vertex(forest.goal())];
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
