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
//! | `Frame` | `[a . X]` with its goal; a stack is its topmost frame |
//! | `tables::PrefixId` | the part left of the dot |
//! | `classes::Classes` | what a frame alone decides: (goal, prefix) |
//! | `PredictionTables` | viable prefixes; inside costs of the forest that is still applicable, in closed form |

mod classes;
mod left_corners;
mod tables;

use std::cmp::Reverse;

use sylvan_base::{HashMap, IndexVec};
use sylvan_forest::{BundleId, EdgeId, Target, TranslationForest, VertexId};

use classes::Classes;
pub use tables::{Bundle, PredictionTables, PrefixId};
use tables::{Sym, SymId};

use crate::deduction::{
    Application, Charge, Choice, ClassId, Deduction, EdgeOrder, ItemId, ListId, Successor, Worth,
};
use crate::engine::{Completed, Engine, Limits, OnVisit, Run};
use crate::total::Total;
use crate::{LanguageModel, Outcome};

/// Settings of the prediction decoder besides its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prediction {
    /// Whether items are ranked with the cost of what is still to come. Without it the decoder is Feng et al.'s
    /// own ablation.
    pub future: bool,
    /// u: at most this many viable prefixes of one vertex, the best by estimate.
    pub prefixes: usize,
    /// At most this many ways to continue from one item, the best by estimate. A frame may grow in several ways, each
    /// with prefixes of its own, so it is this limit, not u, that makes the time of a beam O(n u b).
    pub options: usize,
    /// Whether the future cost of each item is found by evaluating the forest of still applicable rules again, as Feng
    /// et al. do, instead of being read from tables. The values are the same; this is for measuring.
    pub reevaluate: bool,
}

impl Default for Prediction {
    fn default() -> Self {
        Self { future: true, prefixes: usize::MAX, options: usize::MAX, reevaluate: false }
    }
}

/// The goal vertex is pending and nothing else is there.
const AXIOM: ItemId = ItemId(0);
/// The goal vertex is recognised.
const GOAL: ItemId = ItemId(1);

/// The topmost frame of a stack. In a frame below another, the upper one's goal is pending.
#[derive(Debug, Clone, Copy)]
struct Frame {
    class: ClassId,
    below: ItemId,
    /// The class of the frame below once this frame's goal is recognised.
    grown: ClassId,
    /// The future cost of all frames below.
    lower: f64,
    /// Source words covered by the prefixes of this frame and of all below.
    covered: u32,
}

/// A way to continue: scan a bundle, either directly or after growing a vertex and predicting from it.
#[derive(Debug, Clone, Copy)]
struct Way {
    words: BundleId,
    /// Source words that the bundle covers.
    width: u32,
    /// The class of the topmost frame after the scan.
    after: ClassId,
    /// If a vertex was grown: the class of the frame in which it is pending, once it is recognised.
    grown: Option<ClassId>,
    /// The future cost of these frames.
    future: f64,
}

/// A frame in which completes are due, in the middle of a step.
#[derive(Debug, Clone, Copy)]
struct Completing {
    class: ClassId,
    below: ItemId,
    grown: ClassId,
    score: f64,
    charged: Option<u32>,
}

/// The deduction over one forest.
#[derive(Debug)]
struct BottomUp<'f> {
    forest: &'f TranslationForest,
    tables: PredictionTables<'f>,
    classes: Classes,
    config: Prediction,
    frames: IndexVec<ItemId, Frame>,
    index: HashMap<(ClassId, ItemId), ItemId>,
    ways: Vec<Way>,
    /// By vertex: the ways to start it, once they have been asked for.
    starts: IndexVec<VertexId, Vec<Way>>,
    open: Vec<Completing>,
    following: Vec<(SymId, PrefixId)>,
}

impl<'f> BottomUp<'f> {
    fn new(
        forest: &'f TranslationForest,
        tables: PredictionTables<'f>,
        config: Prediction,
        all: bool,
    ) -> Self {
        let classes = Classes::new(forest, all);
        // The first two stacks are the axiom and the goal; of their frames only `lower` and `covered` are used.
        let axiom =
            Frame { class: Classes::AXIOM, below: AXIOM, grown: Classes::AXIOM, lower: 0.0, covered: 0 };
        let goal = Frame { covered: forest.span(forest.goal()).len() as u32, ..axiom };
        Self {
            forest,
            tables,
            classes,
            config,
            frames: IndexVec::from_vec(vec![axiom, goal]),
            index: HashMap::default(),
            ways: Vec::new(),
            starts: forest.vertices().map(|_| Vec::new()).collect(),
            open: Vec::new(),
            following: Vec::new(),
        }
    }

    /// The stack with a frame of some class on top of `below`; `grown` follows from both.
    fn push(&mut self, class: ClassId, below: ItemId, grown: ClassId) -> ItemId {
        if let Some(&known) = self.index.get(&(class, below)) {
            return known;
        }
        let under = self.frames[below];
        let covered = self.tables.covered(self.classes.prefix(class)) + under.covered;
        let lower = if below == AXIOM { 0.0 } else { under.lower + self.classes.finish(grown) };
        let stack = self.frames.push(Frame { class, below, grown, lower, covered });
        self.index.insert((class, below), stack);
        stack
    }

    /// The future cost of a way; nothing if that is ablated.
    fn ahead(&self, way: &Way) -> f64 {
        if self.config.future { way.future } else { 0.0 }
    }

    fn way(&mut self, way: Way, out: &mut Vec<Choice>) {
        let estimate = self.tables.estimate().bundle(way.words) + self.ahead(&way);
        let (id, advance) = (self.ways.len() as u32, way.width);
        out.push(Choice { id, estimate, advance, exactly: self.tables.scans_cover_all() });
        self.ways.push(way);
    }

    /// The ways that start a vertex: its viable prefixes. `grown` is the class of the frame that it is pending in.
    fn predict(&mut self, vertex: VertexId, grown: Option<ClassId>, out: &mut Vec<Choice>) {
        if self.starts[vertex].is_empty() {
            self.starts[vertex] = self.find_starts(vertex);
        }
        let upper = grown.map_or(0.0, |grown| self.classes.finish(grown));
        let starts = std::mem::take(&mut self.starts[vertex]);
        for start in &starts {
            self.way(Way { grown, future: start.future + upper, ..*start }, out);
        }
        self.starts[vertex] = starts;
    }

    /// The same list for every frame that the vertex can be pending in, in the order that grids need: what is
    /// sorted once for the vertex need not be sorted again for each of them.
    fn find_starts(&mut self, vertex: VertexId) -> Vec<Way> {
        let mut starts = Vec::with_capacity(self.tables.viable(vertex).len());
        for place in 0..self.tables.viable(vertex).len() {
            let symbol = self.tables.viable(vertex)[place];
            let Sym::Bundle(words, _) = self.tables.symbol(symbol) else { unreachable!("bundles start") };
            let prefix = self.tables.child(PrefixId::EMPTY, symbol).expect("a viable prefix starts an edge");
            let after = self.classes.intern(&self.tables, vertex, prefix);
            let (width, future) = (self.tables.width(symbol), self.classes.finish(after));
            starts.push(Way { words, width, after, grown: None, future });
        }
        let estimate = self.tables.estimate();
        let value = |way: &Way| self.ahead(way) + estimate.bundle(way.words);
        if starts.len() > self.config.prefixes {
            let content = |way: &Way| self.tables.content(self.classes.prefix(way.after));
            let mut best: Vec<usize> = (0..starts.len()).collect();
            best.sort_by_cached_key(|&place| {
                (Reverse(Total(value(&starts[place]))), content(&starts[place]))
            });
            best.truncate(self.config.prefixes);
            best.sort_unstable();
            starts = best.into_iter().map(|place| starts[place]).collect();
        }
        starts.sort_by(|a, b| a.width.cmp(&b.width).then(value(b).total_cmp(&value(a))));
        starts
    }

    /// The future cost of a stack by the paper's own procedure, frame by frame.
    fn reevaluated(&self, item: ItemId) -> f64 {
        let Frame { class, mut below, mut grown, .. } = self.frames[item];
        let evaluate = |class, grows| {
            self.tables.reevaluate(self.classes.goal(class), self.classes.prefix(class), grows)
        };
        let mut total = evaluate(class, true);
        while below != AXIOM {
            total += evaluate(grown, false);
            (below, grown) = (self.frames[below].below, self.frames[below].grown);
        }
        total
    }

    /// The frames from the bottom up: goal, and the symbols left of the dot; and the prefixes' numbers.
    fn show(&self, mut stack: ItemId) -> (Vec<(VertexId, Vec<Target>)>, Vec<PrefixId>) {
        let (mut frames, mut prefixes) = (Vec::new(), Vec::new());
        while stack != AXIOM && stack != GOAL {
            let frame = self.frames[stack];
            let (goal, prefix) = (self.classes.goal(frame.class), self.classes.prefix(frame.class));
            frames.push((goal, self.tables.symbols(prefix)));
            prefixes.push(prefix);
            stack = frame.below;
        }
        frames.reverse();
        prefixes.reverse();
        (frames, prefixes)
    }
}

/// Adds the charges of some edges, one after the other.
fn charge(out: &mut Application, mut after: Option<u32>, edges: &[EdgeId]) -> Option<u32> {
    for &edge in edges {
        out.trail.push(Charge { edge, after });
        after = Some(out.trail.len() as u32 - 1);
    }
    after
}

impl Deduction for BottomUp<'_> {
    type Forest = TranslationForest;

    fn forest(&self) -> &TranslationForest {
        self.forest
    }

    fn axiom(&mut self) -> ItemId {
        AXIOM
    }

    fn bins(&self) -> usize {
        self.forest.span(self.forest.goal()).len() + 1
    }

    fn bin(&self, item: ItemId) -> usize {
        self.frames[item].covered as usize
    }

    fn class(&self, item: ItemId) -> Option<ClassId> {
        (item != GOAL).then(|| self.frames[item].class)
    }

    fn future(&self, item: ItemId) -> f64 {
        match item {
            _ if !self.config.future => 0.0,
            GOAL => 0.0,
            AXIOM => self.tables.estimate().vertex(self.forest.goal()),
            _ if self.config.reevaluate => self.reevaluated(item),
            _ => self.frames[item].lower + self.classes.growing(self.frames[item].class),
        }
    }

    fn rest(&self, item: ItemId) -> f64 {
        if self.config.future { self.frames[item].lower } else { 0.0 }
    }

    fn options(&mut self, list: ListId, out: &mut Vec<Choice>) {
        let class = ClassId(list.0);
        let start = out.len();
        if class == Classes::AXIOM {
            self.predict(self.forest.goal(), None, out);
        } else {
            let (goal, prefix) = (self.classes.goal(class), self.classes.prefix(class));
            let mut following = std::mem::take(&mut self.following);
            self.tables.following(goal, prefix, &mut following);
            for &(symbol, longer) in &following {
                let next = self.classes.intern(&self.tables, goal, longer);
                match self.tables.symbol(symbol) {
                    Sym::Vertex(vertex) => self.predict(vertex, Some(next), out),
                    Sym::Bundle(words, _) => {
                        let (width, future) = (self.tables.width(symbol), self.classes.finish(next));
                        self.way(Way { words, width, after: next, grown: None, future }, out);
                    }
                }
            }
            self.following = following;
        }
        if out.len() - start > self.config.options {
            let content = |choice: &Choice| {
                let Way { after, grown, .. } = self.ways[choice.id as usize];
                let content = |class| self.tables.content(self.classes.prefix(class));
                (content(after), grown.map(content))
            };
            out[start..].sort_by_cached_key(|choice| (Reverse(Total(choice.estimate)), content(choice)));
            out.truncate(start + self.config.options);
        }
    }

    fn emit(&self, item: ItemId, choice: u32, bundles: &mut Vec<BundleId>) -> f64 {
        let Way { words, width, future, .. } = self.ways[choice as usize];
        bundles.push(words);
        let Frame { lower, covered, .. } = self.frames[item];
        // Where estimates do not see the scores that will be charged, they bound nothing. In the last bin the step may
        // recognise the goal, which no full bin turns away.
        let is_last = (covered + width) as usize + 1 == self.bins();
        let known = self.config.future && !self.forest.has_outlooks() && !is_last;
        if known { lower + future } else { f64::INFINITY }
    }

    /// After the scan: all sequences of completes, and the items on the way that can grow.
    ///
    /// Frame by frame, from the top. What completes can do inside a frame depends on its class alone; the ways that
    /// reach the frame's goal go on in the frame below (one, unless all ways are wanted).
    fn apply(&mut self, item: ItemId, choice: u32, worth: &Worth<'_>, out: &mut Application) {
        let way = self.ways[choice as usize];
        let Frame { below, grown, .. } = self.frames[item];
        let (below, grown) = way.grown.map_or((below, grown), |grown| (item, grown));
        let mut open = std::mem::take(&mut self.open);
        open.push(Completing { class: way.after, below, grown, score: 0.0, charged: None });
        while let Some(Completing { class, below, grown, score, charged }) = open.pop() {
            let closure = self.classes.closure(&self.tables, self.forest, class);
            let under = self.frames[below];
            let lower = if below == AXIOM { 0.0 } else { under.lower + self.classes.finish(grown) };
            for index in closure.stops {
                let stop = self.classes.stop(index);
                let bin = (stop.covered + under.covered) as usize;
                let future = if self.config.future { self.classes.growing(stop.class) + lower } else { 0.0 };
                if !worth.has_room(bin, score + stop.score + future) {
                    out.left_out += 1;
                    continue;
                }
                let charged = charge(out, charged, self.classes.edges(&stop.edges));
                let item = self.push(stop.class, below, grown);
                out.successors.push(Successor { item, score: score + stop.score, charged });
            }
            for index in closure.reached {
                let reached = self.classes.reached(index);
                let charged = charge(out, charged, self.classes.edges(&reached.edges));
                let score = score + reached.score;
                if below == AXIOM {
                    out.successors.push(Successor { item: GOAL, score, charged });
                } else {
                    let (class, below, grown) = (grown, under.below, under.grown);
                    open.push(Completing { class, below, grown, score, charged });
                }
            }
        }
        self.open = open;
    }

    /// Completes come in post-order.
    fn order(&self) -> EdgeOrder {
        EdgeOrder::TailsFirst
    }
}

/// One line of a search trace: an item as it was expanded or dropped.
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
    /// The same prefixes as the tables number them.
    pub prefixes: Vec<PrefixId>,
    /// The edges charged so far, each after those of its tails.
    pub edges: Vec<EdgeId>,
    /// Whether the beam kept it; of the others only the best few are shown.
    pub kept: bool,
    /// How many items competed in the round.
    pub among: usize,
}

/// The best derivation that prediction finds; `None` if the forest has none.
pub fn prediction<L: LanguageModel>(
    forest: &TranslationForest,
    lm: &L,
    limits: impl Into<Limits>,
    config: Prediction,
) -> Option<Outcome> {
    let found = search(&mut Engine::default(), forest, Run::new(lm), limits.into(), config, None);
    found.map(Outcome::from)
}

/// [`prediction`], reporting each item that survives in its round, best first, then the best of those that do not, bins
/// in order, and at the end the best complete one.
pub fn prediction_traced<L: LanguageModel>(
    forest: &TranslationForest,
    lm: &L,
    limits: impl Into<Limits>,
    config: Prediction,
    mut on_step: impl FnMut(&PredictionStep),
) -> Option<Outcome> {
    let mut engine = Engine::default();
    let run = Run { show_dropped: true, ..Run::new(lm) };
    let found = search(&mut engine, forest, run, limits.into(), config, Some(&mut on_step))?;
    Some(Outcome::from(found))
}

/// Prediction in full: with a step model, reused memory and everything that was found.
pub fn search<L: LanguageModel>(
    engine: &mut Engine<L::State>,
    forest: &TranslationForest,
    run: Run<'_, L>,
    limits: Limits,
    config: Prediction,
    on_step: Option<&mut dyn FnMut(&PredictionStep)>,
) -> Option<Completed> {
    if forest.is_dead() {
        return None;
    }
    let tables = PredictionTables::new(forest, run.lm);
    let queries = tables.estimate().lm_queries;
    let mut deduction = BottomUp::new(forest, tables, config, run.out_forest);
    let mut visits: Vec<crate::Visit> = Vec::new();
    let mut on_visit = |visit: &crate::Visit| visits.push(visit.clone());
    let on_visit: OnVisit<'_> = if on_step.is_some() { Some(&mut on_visit) } else { None };
    let mut found = engine.search(run, &mut deduction, limits, on_visit)?;
    found.counters.lm_queries += queries;
    found.counters.future_edges += deduction.tables.edges_seen();
    if let Some(on_step) = on_step {
        for crate::Visit { bin, round, item, score, future, edges, kept, among } in visits {
            let (frames, prefixes) = deduction.show(item);
            on_step(&PredictionStep { bin, round, score, future, frames, prefixes, edges, kept, among });
        }
    }
    Some(found)
}
