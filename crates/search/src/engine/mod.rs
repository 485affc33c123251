//! The engine of left-to-right search: bins, beams, grids.
//!
//! Bins are worked through in order. In each, items with equal signature (deduction item and states of the models)
//! have recombined on arrival; the best `beam` by merit, score plus future, survive. The survivors of one class span
//! a grid with the class's options; cells of all grids are taken best first by the sum of the item's part and the
//! option's estimate, up to `pops` per bin. Without limits every cell is taken and the search is exact.
//!
//! A cell's words are scored before its items are made, and a bin that holds a full beam of better items already
//! turns it away: what the beam would drop anyway is not even built.
//!
//! Steps may lead back into the same bin (a scan that covers no source word). Such items form the bin's next
//! *round*, which is pruned on its own; an item that comes back better than it was is expanded again. Rounds end
//! because no step can be repeated forever in an acyclic forest.
//!
//! Ties of merit go by the content hash of the edges charged, then by age; an item that takes the place of another, or
//! of one that was dropped, is as old as that one. `tests/twin` defines all of this once more without any of the
//! structures that make it fast, and must keep the same items.

mod explored;
mod grids;
mod groups;
mod late;
mod limits;
mod nodes;
mod states;

use std::hash::Hash;

use grids::{Column, Grids, Row};
use groups::Parts;
use late::Late;
pub use limits::{Goals, Limits, Network, Ways};
use nodes::{Arrival, Fate, Node, NodeId, Nodes, Stage, TrailId};
use states::{StateId, States};
use sylvan_base::Span;
use sylvan_forest::{BundleId, Derivation, EdgeId, Edges, Grown, TokenId};

use crate::deduction::{Application, Choice, ClassId, Deduction, ItemId, Successor, Worth};
use crate::out_forest::{OutForest, derivation};
use crate::outcome::better;
use crate::said::Said;
use crate::step_model::{Move, StepModel, StepState};
use crate::stop::Stop;
use crate::{Beam, Counters, LanguageModel, Outcome};

/// What a left-to-right search found.
#[derive(Debug, Clone)]
pub struct Completed {
    /// The best derivation.
    pub derivation: Derivation,
    /// Its score.
    pub score: f64,
    /// What it cost.
    pub counters: Counters,
    /// Whether the work limit or a deadline was reached, so that the answer is a best effort.
    pub cut_short: bool,
    /// Everything that was found, if it was asked for.
    pub out_forest: Option<OutForest>,
    /// Edges that were made on demand.
    pub grown: Grown,
}

impl From<Completed> for Outcome {
    fn from(found: Completed) -> Self {
        let Completed { derivation, score, counters, .. } = found;
        Self { derivation, score, counters }
    }
}

/// An item as a trace shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Visit {
    /// Its bin, and the round in it.
    pub bin: usize,
    /// Rounds are counted from 0.
    pub round: usize,
    /// The item.
    pub item: ItemId,
    /// Score so far; for a complete item, `</s>` included.
    pub score: f64,
    /// Estimate of what is left, without `</s>`.
    pub future: f64,
    /// The edges charged so far.
    pub edges: Vec<EdgeId>,
    /// Whether the beam kept it. Of the others only the best few are shown.
    pub kept: bool,
    /// How many items competed in the round.
    pub among: usize,
}

/// How many of the items that a beam drops a trace shows.
const DROPPED_SHOWN: usize = 5;

/// How many cells are tried between two looks at the clock.
const CELLS_PER_LOOK: u64 = 256;

/// Called with each item that a trace shows.
pub type OnVisit<'v> = Option<&'v mut dyn FnMut(&Visit)>;

/// What a left-to-right search is given besides its deduction and its limits.
pub struct Run<'a, L> {
    /// The word model.
    pub lm: &'a L,
    /// The step model, if there is one.
    pub steps: Option<&'a mut dyn StepModel>,
    /// Whether everything that was found is kept, for n-best lists.
    pub out_forest: bool,
    /// Whether a trace also shows the best items that a beam drops. Then no item is turned away before its bin is
    /// complete, so there is no margin; a trace without them changes nothing.
    pub show_dropped: bool,
    /// When to stop.
    pub stop: &'a Stop,
}

impl<'a, L> Run<'a, L> {
    /// A word model alone, and nothing but the best derivation.
    pub fn new(lm: &'a L) -> Self {
        Self { lm, steps: None, out_forest: false, show_dropped: false, stop: &Stop::NEVER }
    }
}

impl<L> std::fmt::Debug for Run<'_, L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Run (step model: {}, out-forest: {})", self.steps.is_some(), self.out_forest)
    }
}

/// The memory of left-to-right searches, reused from sentence to sentence.
#[derive(Debug)]
pub struct Engine<S> {
    states: States<S>,
    nodes: Nodes,
    grids: Grids,
    application: Application,
    bundles: Vec<BundleId>,
    words: Vec<TokenId>,
    edges: Vec<EdgeId>,
    open: Vec<Span>,
    ways: Vec<(f64, StepState)>,
    survivors: Vec<NodeId>,
    rows: Vec<(ClassId, Row)>,
    goals: Vec<Goal>,
    place_of_goals: Goals,
    late: Late,
    /// Whether the step model, or a part of it, is asked late.
    is_late: bool,
    /// Whether it, or a part of it, is asked at once.
    is_asked_first: bool,
    shortlist: Vec<NodeId>,
    competing: Vec<NodeId>,
    parts: Parts,
    counters: Counters,
}

/// An option with its words: the score with them, what [`Deduction::emit`] says of the rest, and the state after them.
#[derive(Debug, Clone, Copy)]
struct Emitted {
    reached: f64,
    ahead: f64,
    state: StateId,
}

/// A complete item and its score with the end of the sentence.
#[derive(Debug, Clone, Copy)]
struct Goal {
    node: NodeId,
    from: NodeId,
    since: TrailId,
    score: f64,
    /// The words of the last step.
    said: Said,
}

impl<S: Copy + Eq + Hash> Default for Engine<S> {
    fn default() -> Self {
        Self {
            states: States::new(),
            nodes: Nodes::new(),
            grids: Grids::default(),
            application: Application::default(),
            bundles: Vec::new(),
            words: Vec::new(),
            edges: Vec::new(),
            open: Vec::new(),
            ways: Vec::new(),
            survivors: Vec::new(),
            rows: Vec::new(),
            goals: Vec::new(),
            place_of_goals: Goals::Free,
            late: Late::default(),
            is_late: false,
            is_asked_first: false,
            shortlist: Vec::new(),
            competing: Vec::new(),
            parts: Parts::default(),
            counters: Counters::default(),
        }
    }
}

impl<S: Copy + Eq + Hash> Engine<S> {
    /// Runs a deduction; `None` if no complete item was reached.
    pub fn search<D, L>(
        &mut self,
        run: Run<'_, L>,
        deduction: &mut D,
        limits: Limits,
        mut on_visit: OnVisit<'_>,
    ) -> Option<Completed>
    where
        D: Deduction,
        L: LanguageModel<State = S>,
    {
        let Run { lm, mut steps, out_forest, show_dropped, stop } = run;
        // Complete items compete with the end of their sentence, which a step model must be asked about.
        self.is_late = limits.shortlist.is_some()
            && limits.goals == Goals::Free
            && steps.as_deref().is_some_and(StepModel::can_wait);
        self.is_asked_first = !self.is_late || steps.as_deref().is_some_and(|steps| !steps.sees_words_only());
        // Groups forbid dropping items before their bin is complete, unless the step model is asked late, and so does a
        // trace that shows them.
        let is_grouped = steps.is_some() && matches!(limits.ways, Ways::All | Ways::Groups(_));
        let may_shrink = (!is_grouped || self.is_late) && !show_dropped;
        self.nodes.reset(deduction.bins(), self.room(limits), out_forest, may_shrink);
        self.late.clear();
        self.place_of_goals = limits.goals;
        self.states.clear();
        self.grids.clear();
        self.goals.clear();
        self.counters = Counters::default();
        let axiom = deduction.axiom();
        let begin = self.states.intern(lm.begin());
        let start = deduction.bin(axiom);
        let future = deduction.future(axiom);
        match &mut steps {
            None => self.nodes.start::<true>(axiom, begin, StepState::default(), future, start),
            Some(steps) => self.nodes.start::<false>(axiom, begin, steps.begin(), future, start),
        }
        let (mut cells, mut cut_short) = (0, false);
        for bin in start..self.nodes.bins() {
            for round in 0.. {
                let limits = if cut_short {
                    let ways = match limits.ways {
                        Ways::Groups(_) => Ways::Groups(1),
                        ways => ways,
                    };
                    Limits { beam: Beam(1), ways, ..limits }
                } else {
                    limits
                };
                self.take_survivors(&mut steps, bin, limits);
                if self.survivors.is_empty() {
                    break;
                }
                if let Some(on_visit) = &mut on_visit {
                    let among = self.nodes.ranked().len();
                    for &node in &self.survivors {
                        on_visit(&Visit { among, ..self.visit(deduction, bin, round, node) });
                    }
                    let is_dropped = |node: &&NodeId| self.nodes.get(**node).stage == Stage::Dropped;
                    let dropped = self.nodes.ranked().iter().filter(is_dropped);
                    for &node in dropped.take(if show_dropped { DROPPED_SHOWN } else { 0 }) {
                        on_visit(&Visit { among, kept: false, ..self.visit(deduction, bin, round, node) });
                    }
                }
                if limits.goals == Goals::InBins {
                    self.collect_goals(deduction);
                }
                let stop = if cut_short { &Stop::NEVER } else { stop };
                // Without a step model the engine is compiled without any trace of one.
                cells += match steps {
                    None => self.expand::<D, L, true>(lm, &mut steps, stop, deduction, bin, limits),
                    Some(_) => self.expand::<D, L, false>(lm, &mut steps, stop, deduction, bin, limits),
                };
                cut_short |= cells >= limits.work || stop.is_due();
                if stop.is_cancelled() {
                    return None;
                }
            }
        }
        if let Some(steps) = &mut steps
            && self.is_late
        {
            self.ask_goals(*steps, limits);
        }
        let best = self.best_goal()?;
        if let Some(on_visit) = &mut on_visit {
            let last = deduction.bins() - 1;
            let visit = self.visit(deduction, last, 0, best.node);
            on_visit(&Visit { score: best.score, future: 0.0, ..visit });
        }
        self.counters.lm_queries += self.states.queries;
        self.counters.lm_remembered += self.states.remembered;
        let (forest, order) = (deduction.forest(), deduction.order());
        let edges = self.nodes.edges(self.nodes.get(best.node).trail, TrailId::START);
        Some(Completed {
            derivation: derivation(forest, edges, order),
            score: best.score,
            counters: self.counters,
            cut_short,
            out_forest: out_forest.then(|| self.out_forest(forest, order)),
            grown: Grown::default(),
        })
    }

    /// Complete items that survived in their bin are answers.
    fn collect_goals<D: Deduction>(&mut self, deduction: &D) {
        for &id in &self.survivors {
            let &Node { item, score, trail, .. } = self.nodes.get(id);
            if deduction.class(item).is_none() {
                self.goals.push(Goal { node: id, from: id, since: trail, score, said: Said::NOTHING });
            }
        }
    }

    /// Takes cells of the survivors and their options; returns how many. When it is time to stop, the first survivor
    /// still gets its turn.
    fn expand<D, L, const SILENT: bool>(
        &mut self,
        lm: &L,
        steps: &mut Option<&mut dyn StepModel>,
        stop: &Stop,
        deduction: &mut D,
        bin: usize,
        limits: Limits,
    ) -> u64
    where
        D: Deduction,
        L: LanguageModel<State = S>,
    {
        let mut grids = std::mem::take(&mut self.grids);
        let survivors = std::mem::take(&mut self.survivors);
        let mut cells = 0;
        let margin = if limits.margin == u32::MAX { f64::INFINITY } else { f64::from(limits.margin) * 1e-3 };
        if limits.pops == usize::MAX {
            let mut next_look = CELLS_PER_LOOK;
            for &node in &survivors {
                if cells >= next_look {
                    next_look = cells + CELLS_PER_LOOK;
                    if stop.is_due() {
                        break;
                    }
                }
                let &Node { item, score, .. } = self.nodes.get(node);
                let Some(class) = deduction.class(item) else { continue };
                let merit = score + deduction.rest(item);
                for column in grids.columns_of(class, deduction) {
                    let Column { options, advance, offset } = grids.column(column);
                    let merit = merit + offset;
                    for option in options {
                        let choice = grids.option(option);
                        let enough = self.nodes.threshold(bin + advance as usize);
                        if merit + choice.estimate + margin < enough {
                            break;
                        }
                        self.step::<D, L, SILENT>(lm, steps, deduction, node, choice, bin);
                        cells += 1;
                    }
                }
            }
        } else {
            let rows = survivors.iter().filter_map(|&id| {
                let &Node { item, score, hash, .. } = self.nodes.get(id);
                let class = deduction.class(item)?;
                Some((class, Row { node: id, merit: score + deduction.rest(item), hash }))
            });
            self.rows.clear();
            self.rows.extend(rows);
            grids.fill(self.rows.iter().copied(), deduction);
            match limits.diversity {
                0 => grids.queue(limits.pops),
                first => grids.queue_valued(first, |node, choice, estimate| {
                    self.value(lm, deduction, node, choice, estimate)
                }),
            }
            for _ in 0..limits.pops {
                let next = match limits.diversity {
                    0 => grids.next(),
                    _ => grids.next_valued(|node, choice, estimate| {
                        self.value(lm, deduction, node, choice, estimate)
                    }),
                };
                let Some((node, choice)) = next else { break };
                self.step::<D, L, SILENT>(lm, steps, deduction, node, choice, bin);
                cells += 1;
                if cells % CELLS_PER_LOOK == 0 && stop.is_due() {
                    break;
                }
            }
        }
        (self.grids, self.survivors) = (grids, survivors);
        cells
    }

    /// What a cell leads to at best, words included; its estimate if that is not known before it is taken.
    fn value<D, L>(&mut self, lm: &L, deduction: &D, node: NodeId, choice: Choice, estimate: f64) -> f64
    where
        D: Deduction,
        L: LanguageModel<State = S>,
    {
        let Emitted { reached, ahead, .. } = self.emit(lm, deduction, node, choice.id);
        if ahead.is_finite() { reached + ahead } else { estimate }
    }

    /// Scores the words of an option.
    #[inline(always)]
    fn emit<D, L>(&mut self, lm: &L, deduction: &D, node: NodeId, choice: u32) -> Emitted
    where
        D: Deduction,
        L: LanguageModel<State = S>,
    {
        let &Node { item, mut state, score: mut reached, .. } = self.nodes.get(node);
        self.bundles.clear();
        let ahead = deduction.emit(item, choice, &mut self.bundles);
        for &bundle in &self.bundles {
            let (gain, next) = self.states.bundle(lm, deduction.forest(), state, bundle);
            reached += gain;
            state = next;
        }
        Emitted { reached, ahead, state }
    }

    /// Takes one option of one item and puts what comes of it into bins.
    fn step<D, L, const SILENT: bool>(
        &mut self,
        lm: &L,
        steps: &mut Option<&mut dyn StepModel>,
        deduction: &mut D,
        from: NodeId,
        choice: Choice,
        bin: usize,
    ) where
        D: Deduction,
        L: LanguageModel<State = S>,
    {
        let Emitted { reached, ahead, state } = self.emit(lm, deduction, from, choice.id);
        let item = self.nodes.get(from).item;
        // What a step model will say is not known yet, so with one nothing is turned away early, unless all of it is asked late.
        let is_certain = SILENT || !self.is_asked_first;
        let enough = self.nodes.threshold(bin + choice.advance as usize);
        if is_certain && choice.exactly && reached + ahead < enough {
            self.counters.pruned += 1;
            return;
        }
        let mut application = std::mem::take(&mut self.application);
        application.clear();
        let thresholds = if is_certain { self.nodes.thresholds() } else { &[] };
        deduction.apply(item, choice.id, &Worth { thresholds, reached }, &mut application);
        self.counters.pruned += application.left_out;
        self.nodes.begin_step(&application);
        let said = match self.nodes.keeps_arcs() {
            true => Said::bundles(deduction.forest(), &self.bundles),
            false => Said::NOTHING,
        };
        let before = if SILENT { StepState::default() } else { self.nodes.step_state(from) };
        let (extra, key) = match !SILENT && !self.is_asked_first && !application.successors.is_empty() {
            true => self.pend(steps, before, deduction.forest()),
            false => (before, before),
        };
        for &successor in &application.successors {
            let Successor { item, score, charged } = successor;
            let (score, future) = (reached + score, deduction.future(item));
            let merit = score + future;
            let arrival = Arrival { item, state, extra, key, score, merit, from, charged, said };
            if SILENT {
                self.settle::<D, L, true>(lm, steps, deduction, &application, &arrival);
            } else if !self.is_asked_first {
                self.settle::<D, L, false>(lm, steps, deduction, &application, &arrival);
            } else {
                self.arrive(lm, steps, deduction, &application, &arrival, future);
            }
        }
        self.application = application;
    }

    /// One successor of a step, in each of the ways in which the step model can go on.
    #[inline(never)]
    fn arrive<D, L>(
        &mut self,
        lm: &L,
        steps: &mut Option<&mut dyn StepModel>,
        deduction: &D,
        application: &Application,
        arrival: &Arrival,
        future: f64,
    ) where
        D: Deduction,
        L: LanguageModel<State = S>,
    {
        let Some(model) = steps else { return };
        self.words.clear();
        for &bundle in &self.bundles {
            self.words.extend_from_slice(deduction.forest().bundle(bundle));
        }
        self.edges.clear();
        let mut at = arrival.charged;
        while let Some(charge) = at {
            self.edges.push(application.trail[charge as usize].edge);
            at = application.trail[charge as usize].after;
        }
        self.edges.reverse();
        self.open.clear();
        if model.wants_frontier() {
            deduction.frontier(arrival.item, &mut self.open);
        }
        let mut ways = std::mem::take(&mut self.ways);
        ways.clear();
        let step = Move { words: &self.words, edges: &self.edges, open: &self.open };
        match self.is_late {
            true => model.advance_first(arrival.extra, &step, &mut ways),
            false => model.advance(arrival.extra, &step, &mut ways),
        }
        for &(gain, extra) in &ways {
            let score = arrival.score + gain;
            let (extra, key) = match self.is_late {
                true => self.pend(steps, extra, deduction.forest()),
                false => (extra, steps.as_mut().map_or(extra, |steps| steps.signature(extra))),
            };
            let arrival = Arrival { extra, key, score, merit: score + future, ..*arrival };
            self.settle::<D, L, false>(lm, steps, deduction, application, &arrival);
        }
        self.ways = ways;
    }

    /// Puts a new item where it belongs.
    #[inline(always)]
    fn settle<D, L, const SILENT: bool>(
        &mut self,
        lm: &L,
        steps: &mut Option<&mut dyn StepModel>,
        deduction: &D,
        application: &Application,
        arrival: &Arrival,
    ) where
        D: Deduction,
        L: LanguageModel<State = S>,
    {
        self.counters.items += 1;
        let forest = deduction.forest();
        let mut arrival = *arrival;
        if deduction.class(arrival.item).is_none() {
            let end = lm.end(self.states.get(arrival.state));
            let last = match steps {
                Some(steps) if !SILENT && !self.is_late => steps.finish(arrival.extra),
                _ => 0.0,
            };
            let score = arrival.score + (end + last);
            self.counters.lm_queries += 1;
            if self.place_of_goals == Goals::Free {
                let since = self.nodes.get(arrival.from).trail;
                let trail = self.nodes.trail(forest, application, since, arrival.charged);
                let node = self.nodes.complete::<SILENT>(&arrival, trail);
                self.goals.push(Goal { node, from: arrival.from, since, score, said: arrival.said });
                return;
            }
            // What others still lack is estimated without the sentence's end, so it is not held against this one.
            arrival = Arrival { score, merit: score - lm.end(lm.null()), ..arrival };
            self.counters.lm_queries += 1;
        }
        let bin = deduction.bin(arrival.item);
        match self.nodes.insert::<_, SILENT>(forest, application, &arrival, bin) {
            Fate::New => {}
            Fate::Recombined => self.counters.recombined += 1,
            Fate::Pruned => self.counters.pruned += 1,
        }
    }

    fn best_goal(&self) -> Option<Goal> {
        let hash = |goal: &Goal| self.nodes.hash(self.nodes.get(goal.node).trail);
        self.goals.iter().copied().reduce(|best, goal| {
            if better(goal.score, hash(&goal), best.score, hash(&best)) { goal } else { best }
        })
    }

    fn visit<D: Deduction>(&self, deduction: &D, bin: usize, round: usize, id: NodeId) -> Visit {
        let node = self.nodes.get(id);
        Visit {
            bin,
            round,
            item: node.item,
            score: node.score,
            future: deduction.future(node.item),
            edges: self.nodes.edges(node.trail, TrailId::START),
            kept: true,
            among: 1,
        }
    }
}
