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
//! Only predict chooses; scan and complete are forced and done at once, so bins hold items that wait for a
//! rule. What lies left of the dots never matters again, so a stack is kept as its *residual*: the symbols
//! still to be produced, first to last, as a shared list of cells. Equal residuals are the same cell, push
//! and pop are constant time, and complete costs nothing. Two items recombine when residual and state are
//! equal. The bin of an item, the nodes covered, is |T| minus the nodes below the residual's vertices.
//!
//! | here | paper |
//! |---|---|
//! | `Item::stack` | the stack of dotted rules, residual form |
//! | `EdgeSpec::nodes` | \|C(r)\| |
//! | `bins[l]` | beam of step l |

use sylvan_base::hash::fold;
use sylvan_base::{HashMap, IndexVec, Symbol, define_id};
use sylvan_forest::{BundleId, Derivation, EdgeId, Target, TranslationForest, VertexId};

use crate::outcome::better;
use crate::{Beam, Counters, Estimate, LanguageModel, Outcome, inside_estimate};

/// What an item's rank adds to its score for the part not yet translated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Future {
    /// Nothing.
    None,
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
    /// The sum of the estimates of all symbols from here to the end, without `</s>`.
    future: f64,
}

/// All residuals of one sentence; equal lists are one cell.
#[derive(Debug)]
struct Stacks<'e> {
    cells: IndexVec<StackId, Cell>,
    index: HashMap<(Target, StackId), StackId>,
    estimate: &'e Estimate,
}

impl<'e> Stacks<'e> {
    fn new(estimate: &'e Estimate) -> Self {
        // Cell 0 is the empty list; its contents are never looked at.
        let empty = Cell { first: Target::Bundle(BundleId::EMPTY), rest: StackId::EMPTY, future: 0.0 };
        Self { cells: IndexVec::from_vec(vec![empty]), index: HashMap::default(), estimate }
    }

    fn push(&mut self, first: Target, rest: StackId) -> StackId {
        let (cells, estimate) = (&mut self.cells, self.estimate);
        *self.index.entry((first, rest)).or_insert_with(|| {
            let future = estimate.symbol(first) + cells[rest].future;
            cells.push(Cell { first, rest, future })
        })
    }

    fn future(&self, stack: StackId) -> f64 {
        self.cells[stack].future
    }

    fn pop(&self, stack: StackId) -> Option<(Target, StackId)> {
        (stack != StackId::EMPTY).then(|| (self.cells[stack].first, self.cells[stack].rest))
    }
}

define_id!(
    /// An item of the search, for back-pointers.
    ItemId
);

#[derive(Debug, Clone, Copy)]
struct Item<S> {
    stack: StackId,
    state: S,
    score: f64,
    hash: u64,
    /// The item this one was predicted from, and the edge; `None` for the axiom.
    back: Option<(ItemId, EdgeId)>,
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

/// The best derivation that incremental search finds; `None` if the forest has none or the beam lost all.
pub fn incremental<L: LanguageModel>(
    forest: &TranslationForest,
    lm: &L,
    beam: Beam,
    future: Future,
) -> Option<Outcome> {
    search(forest, lm, beam, future, None)
}

/// [`incremental`], reporting each item that survives in its bin, best first, bins in order.
pub fn incremental_traced<L: LanguageModel>(
    forest: &TranslationForest,
    lm: &L,
    beam: Beam,
    future: Future,
    mut on_step: impl FnMut(&Step),
) -> Option<Outcome> {
    search(forest, lm, beam, future, Some(&mut on_step))
}

fn search<L: LanguageModel>(
    forest: &TranslationForest,
    lm: &L,
    beam: Beam,
    future: Future,
    mut on_step: Option<&mut dyn FnMut(&Step)>,
) -> Option<Outcome> {
    if forest.is_dead() {
        return None;
    }
    let estimate = inside_estimate(forest, lm);
    let end_estimate = lm.end(lm.null());
    let mut search = Search {
        forest,
        lm,
        future,
        stacks: Stacks::new(&estimate),
        items: IndexVec::new(),
        counters: Counters { lm_queries: estimate.lm_queries, ..Counters::default() },
    };
    let last = forest.nodes(forest.goal()) as usize;
    let mut bins: Vec<HashMap<(StackId, L::State), ItemId>> = vec![HashMap::default(); last + 1];
    let axiom = search.axiom();
    bins[0].insert(search.signature(axiom), axiom);
    for bin in 0..last {
        for item in search.survivors(std::mem::take(&mut bins[bin]), beam) {
            if let Some(on_step) = &mut on_step {
                on_step(&search.step(bin as u32, item, end_estimate));
            }
            let (vertex, rest) = search.next_vertex(item);
            for edge in forest.edges(vertex) {
                let next = search.predict(item, edge, rest);
                let covered = bin + forest.edge(edge).spec.nodes as usize;
                search.insert(&mut bins[covered], next);
            }
        }
    }
    let finals = search.survivors(std::mem::take(&mut bins[last]), beam);
    let best = finals.into_iter().reduce(|a, b| {
        let (x, y) = (&search.items[a], &search.items[b]);
        if better(y.score, y.hash, x.score, x.hash) { b } else { a }
    })?;
    if let Some(on_step) = &mut on_step {
        on_step(&search.step(last as u32, best, 0.0));
    }
    Some(Outcome {
        derivation: search.derivation(best),
        score: search.items[best].score,
        counters: search.counters,
    })
}

struct Search<'a, L: LanguageModel> {
    forest: &'a TranslationForest,
    lm: &'a L,
    future: Future,
    stacks: Stacks<'a>,
    items: IndexVec<ItemId, Item<L::State>>,
    counters: Counters,
}

impl<L: LanguageModel> Search<'_, L> {
    fn axiom(&mut self) -> ItemId {
        let stack = self.stacks.push(Target::Vertex(self.forest.goal()), StackId::EMPTY);
        self.items.push(Item { stack, state: self.lm.begin(), score: 0.0, hash: 0, back: None })
    }

    fn signature(&self, item: ItemId) -> (StackId, L::State) {
        (self.items[item].stack, self.items[item].state)
    }

    /// Predict, then scan and complete until the next symbol is a vertex or nothing is left.
    fn predict(&mut self, from: ItemId, edge: EdgeId, rest: StackId) -> ItemId {
        let Item { mut state, mut score, hash, .. } = self.items[from];
        let spec = self.forest.edge(edge).spec;
        score += spec.score;
        // Leading bundles are scanned right away instead of being pushed and popped again.
        let mut target = self.forest.target(edge);
        while let [Target::Bundle(bundle), after @ ..] = target {
            (score, state) = self.scan(*bundle, score, state);
            target = after;
        }
        let mut stack = rest;
        for &symbol in target.iter().rev() {
            stack = self.stacks.push(symbol, stack);
        }
        while let Some((Target::Bundle(bundle), after)) = self.stacks.pop(stack) {
            (score, state) = self.scan(bundle, score, state);
            stack = after;
        }
        if stack == StackId::EMPTY {
            score += self.lm.end(state);
            self.counters.lm_queries += 1;
            // Nothing can follow: all finished items of one stack are one item.
            state = self.lm.begin();
        }
        self.counters.items += 1;
        self.items.push(Item { stack, state, score, hash: fold(hash, spec.hash), back: Some((from, edge)) })
    }

    fn scan(&mut self, bundle: BundleId, score: f64, state: L::State) -> (f64, L::State) {
        let words = self.forest.bundle(bundle);
        self.counters.lm_queries += words.len() as u64;
        let (gain, state) = self.lm.run(state, words);
        (score + gain, state)
    }

    fn next_vertex(&self, item: ItemId) -> (VertexId, StackId) {
        match self.stacks.pop(self.items[item].stack) {
            Some((Target::Vertex(vertex), rest)) => (vertex, rest),
            _ => unreachable!("a closed item below the last bin waits for a vertex"),
        }
    }

    fn insert(&mut self, bin: &mut HashMap<(StackId, L::State), ItemId>, item: ItemId) {
        let signature = self.signature(item);
        let new = &self.items[item];
        bin.entry(signature)
            .and_modify(|old| {
                self.counters.recombined += 1;
                let known = &self.items[*old];
                if better(new.score, new.hash, known.score, known.hash) {
                    *old = item;
                }
            })
            .or_insert(item);
    }

    fn merit(&self, item: &Item<L::State>) -> f64 {
        match self.future {
            Future::None => item.score,
            Future::Inside => item.score + self.stacks.future(item.stack),
        }
    }

    /// The bin's items that the beam keeps, best merit first.
    fn survivors(&mut self, bin: HashMap<(StackId, L::State), ItemId>, beam: Beam) -> Vec<ItemId> {
        let mut ranked: Vec<ItemId> = bin.into_values().collect();
        ranked.sort_by(|&a, &b| {
            let (x, y) = (&self.items[a], &self.items[b]);
            // Merits may tie where scores and hashes do not; ids of items in one bin never decide.
            self.merit(y).total_cmp(&self.merit(x)).then(x.hash.cmp(&y.hash))
        });
        self.counters.pruned += ranked.len().saturating_sub(beam.0) as u64;
        ranked.truncate(beam.0);
        ranked
    }

    fn derivation(&self, mut item: ItemId) -> Derivation {
        let mut edges = Vec::new();
        while let Some((from, edge)) = self.items[item].back {
            edges.push(edge);
            item = from;
        }
        edges.reverse();
        Derivation::new(edges)
    }

    fn step(&self, bin: u32, id: ItemId, end_estimate: f64) -> Step {
        let item = &self.items[id];
        let mut residual = Vec::new();
        let mut stack = item.stack;
        while let Some((symbol, rest)) = self.stacks.pop(stack) {
            residual.push(symbol);
            stack = rest;
        }
        let words = prefix_words(self.forest, self.derivation(id).edges());
        let future = self.stacks.future(item.stack) + end_estimate;
        Step { bin, score: item.score, future, residual, words }
    }
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
