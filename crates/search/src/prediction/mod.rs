//! Prediction: left to right and bottom-up, with viable prefixes and dynamic future cost (Feng, Liu, Liu & Cohn
//! 2012).
//!
//! From a vertex to translate, jump straight to a bundle of words that one of its translations starts with, leave
//! the rules between the two open, and fill the gap from below. In parsing terms: left-corner parsing of the
//! forest's target side, where a stack element is a prefix shared by all edges that start alike.
//!
//! ```text
//! item      <.. [v: a . X], state> : w      v the frame's goal, a a prefix of target sides, X what is pending
//!
//! axiom     <[: . goal], begin> : 0
//!
//! predict   <.. [v: a . k], s> : w              b a viable prefix of k
//!           => <.. [v: a . k] [k: . b], s> : w
//!
//! scan      <.. [v: a . b], s> : w   =>   <.. [v: a b .], s b> : w + lm(b | s)
//!
//! complete  <.. [u: c . v] [v: a .], s> : w     e: A -> a, A a left corner of v
//!           => A = v:  <.. [u: c v .], s> : w + score(e)
//!              else:   <.. [u: c . v] [v: A .], s> : w + score(e)
//!
//! grow      <.. [v: a .], s> : w   =>   <.. [v: a . X], s> : w     some edge A -> a X .., A a left corner of v
//!
//! goal      <[: goal .], s> : w
//! ```
//!
//! One macro step is grow, predict if a vertex was grown, scan, and then every sequence of completes; each state on
//! the way that can grow is an item. Bins count the source words covered. The edges' scores are charged when they
//! complete; until then the future cost stands for them.
//!
//! | here | paper |
//! |---|---|
//! | `Frame` | `[a . X]` with its goal |
//! | `tables::PrefixId` | the part left of the dot |
//! | `PredictionTables` | viable prefixes; inside costs of the forest that is still applicable, in closed form |

mod tables;

use std::collections::BTreeMap;

use sylvan_base::hash::fold;
use sylvan_base::{HashMap, IndexVec, define_id};
use sylvan_forest::{Derivation, EdgeId, Target, TranslationForest, VertexId};

pub use tables::{Bundle, PredictionTables, PrefixId};
use tables::{Sym, SymId};

use crate::bins::{self, Limits, Visit};
use crate::deduction::{Application, Charge, Choice, Deduction, Successor};
use crate::outcome::better;
use crate::{LanguageModel, Outcome};

/// What the prediction decoder can be told beside its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prediction {
    /// Whether items are ranked with the cost of what is still to come. Without it the decoder is Feng et al.'s
    /// own ablation.
    pub future: bool,
    /// u: at most so many ways to go on from one frame, the best by estimate.
    pub prefixes: usize,
}

impl Default for Prediction {
    fn default() -> Self {
        Self { future: true, prefixes: usize::MAX }
    }
}

define_id!(
    /// A stack of frames; equal stacks have equal ids.
    StackId
);

impl StackId {
    /// The goal vertex is pending and nothing else is there.
    const AXIOM: StackId = StackId(0);
    /// The goal vertex is recognised.
    const GOAL: StackId = StackId(1);
}

/// The topmost frame of a stack. In a frame below another, the upper one's goal is pending.
#[derive(Debug, Clone, Copy)]
struct Frame {
    goal: VertexId,
    prefix: PrefixId,
    below: StackId,
    /// The future cost of all frames below.
    lower: f64,
    /// Source words covered by the prefixes of this frame and of all below.
    covered: u32,
}

/// What decides the ways to go on: the topmost frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Class {
    Axiom,
    Frame(VertexId, PrefixId),
}

/// A way to go on: scan a bundle, after growing and predicting from a vertex or not.
#[derive(Debug, Clone, Copy)]
struct Way {
    grow: Option<VertexId>,
    bundle: SymId,
}

struct BottomUp<'f> {
    forest: &'f TranslationForest,
    tables: PredictionTables<'f>,
    config: Prediction,
    frames: IndexVec<StackId, Frame>,
    index: HashMap<(VertexId, PrefixId, StackId), StackId>,
    ways: Vec<Way>,
}

/// How far one step has come: the score charged, and the last edge charged, with its content hash for ties.
#[derive(Debug, Clone, Copy)]
struct Progress {
    score: f64,
    charged: Option<u32>,
    hash: u64,
}

/// Keeps the better of two ways to the same state.
fn improve(best: &mut Option<Progress>, new: Progress) {
    if best.is_none_or(|old| better(new.score, new.hash, old.score, old.hash)) {
        *best = Some(new);
    }
}

impl<'f> BottomUp<'f> {
    fn new(forest: &'f TranslationForest, tables: PredictionTables<'f>, config: Prediction) -> Self {
        // The first two stacks are the axiom and the goal; their frames are never looked at.
        let goal = forest.goal();
        let dummy = Frame { goal, prefix: PrefixId::EMPTY, below: StackId::AXIOM, lower: 0.0, covered: 0 };
        Self {
            forest,
            tables,
            config,
            frames: IndexVec::from_vec(vec![dummy, dummy]),
            index: HashMap::default(),
            ways: Vec::new(),
        }
    }

    fn push(&mut self, goal: VertexId, prefix: PrefixId, below: StackId) -> StackId {
        if let Some(&known) = self.index.get(&(goal, prefix, below)) {
            return known;
        }
        let (mut lower, mut covered) = (0.0, self.tables.covered(prefix));
        if below != StackId::AXIOM {
            let frame = self.frames[below];
            covered += frame.covered;
            if self.config.future {
                let grown = self.after(frame.prefix, goal);
                lower = frame.lower + self.tables.finish(frame.goal, grown);
            }
        }
        let stack = self.frames.push(Frame { goal, prefix, below, lower, covered });
        self.index.insert((goal, prefix, below), stack);
        stack
    }

    fn way(&mut self, way: Way, estimate: f64, out: &mut Vec<Choice>) {
        out.push(Choice { id: self.ways.len() as u32, estimate });
        self.ways.push(way);
    }

    /// After a scan: all sequences of completes, and the items on the way that can grow.
    ///
    /// Frame by frame, from the top. In a frame the state is its recognised prefix at first and then always one
    /// vertex, a left corner of the goal; completes lead from smaller vertices to larger ones, so in ascending order
    /// each state is final when its turn comes. All ways that reach the goal go on as one in the frame below.
    fn complete(
        &mut self,
        mut goal: VertexId,
        mut prefix: PrefixId,
        mut below: StackId,
        out: &mut Application<StackId>,
    ) {
        let mut progress = Progress { score: 0.0, charged: None, hash: 0 };
        loop {
            let mut corners: BTreeMap<VertexId, Option<Progress>> = BTreeMap::new();
            let mut reached: Option<Progress> = None;
            loop {
                if self.tables.can_grow(goal, prefix) {
                    let item = self.push(goal, prefix, below);
                    out.successors.push(Successor { item, score: progress.score, charged: progress.charged });
                }
                for (head, edge) in self.tables.ending(goal, prefix) {
                    let spec = self.forest.edge(edge).spec;
                    out.trail.push(Charge { edge, after: progress.charged });
                    let new = Progress {
                        score: progress.score + spec.score,
                        charged: Some(out.trail.len() as u32 - 1),
                        hash: fold(progress.hash, spec.hash),
                    };
                    improve(if head == goal { &mut reached } else { corners.entry(head).or_default() }, new);
                }
                let Some((corner, Some(next))) = corners.pop_first() else { break };
                progress = next;
                prefix = self.after(PrefixId::EMPTY, corner);
            }
            match reached {
                None => return,
                Some(reached) if below == StackId::AXIOM => {
                    let (score, charged) = (reached.score, reached.charged);
                    out.successors.push(Successor { item: StackId::GOAL, score, charged });
                    return;
                }
                Some(reached) => {
                    let frame = self.frames[below];
                    (prefix, progress) = (self.after(frame.prefix, goal), reached);
                    (goal, below) = (frame.goal, frame.below);
                }
            }
        }
    }

    /// The prefix that a vertex makes longer. It is there: the vertex was grown, or is a left corner.
    fn after(&self, prefix: PrefixId, vertex: VertexId) -> PrefixId {
        self.tables.child(prefix, Sym::Vertex(vertex)).expect("some edge goes on with this vertex")
    }

    /// The frames from the bottom up: goal, and the symbols left of the dot.
    fn show(&self, mut stack: StackId) -> Vec<(VertexId, Vec<Target>)> {
        let mut frames = Vec::new();
        while stack != StackId::AXIOM && stack != StackId::GOAL {
            let frame = self.frames[stack];
            frames.push((frame.goal, self.tables.symbols(frame.prefix)));
            stack = frame.below;
        }
        frames.reverse();
        frames
    }
}

impl Deduction for BottomUp<'_> {
    type Item = StackId;
    type Class = Class;

    fn axiom(&mut self) -> StackId {
        StackId::AXIOM
    }

    fn bins(&self) -> usize {
        self.forest.span(self.forest.goal()).len() + 1
    }

    fn bin(&self, item: StackId) -> usize {
        self.frames[item].covered as usize
    }

    fn class(&self, item: StackId) -> Option<Class> {
        match item {
            StackId::GOAL => None,
            StackId::AXIOM => Some(Class::Axiom),
            _ => Some(Class::Frame(self.frames[item].goal, self.frames[item].prefix)),
        }
    }

    fn future(&self, item: StackId) -> f64 {
        match item {
            _ if !self.config.future => 0.0,
            StackId::GOAL => 0.0,
            StackId::AXIOM => self.tables.estimate().vertex(self.forest.goal()),
            _ => {
                let frame = self.frames[item];
                frame.lower + self.tables.finish_growing(frame.goal, frame.prefix)
            }
        }
    }

    fn rest(&self, item: StackId) -> f64 {
        self.frames[item].lower
    }

    fn options(&mut self, class: Class, out: &mut Vec<Choice>) {
        let start = out.len();
        let root = self.forest.goal();
        match class {
            Class::Axiom => {
                for bundle in self.tables.viable(root).to_vec() {
                    let estimate = self.tables.local(bundle) + self.tables.finish_after(root, bundle);
                    self.way(Way { grow: None, bundle }, estimate, out);
                }
            }
            Class::Frame(goal, prefix) => {
                for (symbol, grown) in self.tables.growing(goal, prefix) {
                    let after = self.tables.finish(goal, grown);
                    match self.tables.symbol(symbol) {
                        Sym::Bundle(..) => {
                            let estimate = self.tables.local(symbol) + after;
                            self.way(Way { grow: None, bundle: symbol }, estimate, out);
                        }
                        Sym::Vertex(vertex) => {
                            for bundle in self.tables.viable(vertex).to_vec() {
                                let below = self.tables.finish_after(vertex, bundle);
                                let estimate = self.tables.local(bundle) + below + after;
                                self.way(Way { grow: Some(vertex), bundle }, estimate, out);
                            }
                        }
                    }
                }
            }
        }
        out[start..].sort_by(|a, b| b.estimate.total_cmp(&a.estimate).then(a.id.cmp(&b.id)));
        out.truncate(start.saturating_add(self.config.prefixes));
    }

    fn apply(&mut self, item: StackId, choice: u32, out: &mut Application<StackId>) {
        let Way { grow, bundle } = self.ways[choice as usize];
        let symbol = self.tables.symbol(bundle);
        let Sym::Bundle(words, _) = symbol else { unreachable!("ways scan bundles") };
        out.bundles.push(words);
        let (goal, from, below) = match grow {
            Some(vertex) => (vertex, PrefixId::EMPTY, item),
            None if item == StackId::AXIOM => (self.forest.goal(), PrefixId::EMPTY, StackId::AXIOM),
            None => (self.frames[item].goal, self.frames[item].prefix, self.frames[item].below),
        };
        let prefix = self.tables.child(from, symbol).expect("a way leads to a prefix");
        self.complete(goal, prefix, below, out);
    }

    /// Completes come in post-order: each edge after those of its tails, in target order.
    fn derivation(&self, edges: Vec<EdgeId>) -> Derivation {
        // Roots of finished subtrees, as places in `edges`; each edge takes its tails from the end.
        let mut roots: Vec<usize> = Vec::new();
        let mut children: Vec<Vec<usize>> = Vec::with_capacity(edges.len());
        for (place, &edge) in edges.iter().enumerate() {
            let arity = self.forest.tails(edge).count();
            children.push(roots.split_off(roots.len() - arity));
            roots.push(place);
        }
        let mut order = Vec::with_capacity(edges.len());
        while let Some(place) = roots.pop() {
            order.push(edges[place]);
            roots.extend(children[place].iter().rev());
        }
        Derivation::new(order)
    }
}

/// One line of a search trace: an item as it was expanded.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictionStep {
    /// Source words covered.
    pub bin: usize,
    /// The round in the bin.
    pub round: usize,
    /// Score so far; for the complete item, `</s>` included.
    pub score: f64,
    /// Estimate of what is left, without `</s>`.
    pub future: f64,
    /// The frames from the bottom up: goal, and the symbols left of the dot. Empty for axiom and goal.
    pub frames: Vec<(VertexId, Vec<Target>)>,
}

/// The best derivation that prediction finds; `None` if the forest has none.
pub fn prediction<L: LanguageModel>(
    forest: &TranslationForest,
    lm: &L,
    limits: impl Into<Limits>,
    config: Prediction,
) -> Option<Outcome> {
    run(forest, lm, limits.into(), config, None)
}

/// [`prediction`], reporting each item that survives in its round, best first, bins in order, and at the end the
/// best complete one.
pub fn prediction_traced<L: LanguageModel>(
    forest: &TranslationForest,
    lm: &L,
    limits: impl Into<Limits>,
    config: Prediction,
    mut on_step: impl FnMut(&PredictionStep),
) -> Option<Outcome> {
    run(forest, lm, limits.into(), config, Some(&mut on_step))
}

fn run<L: LanguageModel>(
    forest: &TranslationForest,
    lm: &L,
    limits: Limits,
    config: Prediction,
    on_step: Option<&mut dyn FnMut(&PredictionStep)>,
) -> Option<Outcome> {
    if forest.is_dead() {
        return None;
    }
    let tables = PredictionTables::new(forest, lm);
    let queries = tables.estimate().lm_queries;
    let mut deduction = BottomUp::new(forest, tables, config);
    let mut found = match on_step {
        None => bins::search(forest, lm, &mut deduction, limits, None),
        Some(on_step) => {
            let mut visits: Vec<Visit<StackId>> = Vec::new();
            let found =
                bins::search(forest, lm, &mut deduction, limits, Some(&mut |v| visits.push(v.clone())));
            for Visit { bin, round, item, score, future, .. } in visits {
                on_step(&PredictionStep { bin, round, score, future, frames: deduction.show(item) });
            }
            found
        }
    }?;
    found.counters.lm_queries += queries;
    Some(found)
}
