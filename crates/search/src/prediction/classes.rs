//! What a frame alone decides, whatever is below it: how it can be finished, and what completes do inside it.
//!
//! Frames with the same goal and prefix are of one class. Each class is worked out once per sentence; applying a step
//! is then reading lists.

use std::ops::Range;

use sylvan_base::hash::fold;
use sylvan_base::{HashMap, IndexVec};
use sylvan_forest::{EdgeId, TranslationForest, VertexId};

use super::tables::{PredictionTables, PrefixId};
use crate::deduction::ClassId;
use crate::outcome::better;

#[derive(Debug)]
struct Class {
    goal: VertexId,
    prefix: PrefixId,
    /// h and h+.
    finish: f64,
    growing: f64,
    closure: Option<Closure>,
}

/// Everything that completes can lead to inside a frame.
#[derive(Debug, Clone)]
pub(super) struct Closure {
    /// The states that can grow, for [`Classes::stop`].
    pub(super) stops: Range<u32>,
    /// The ways to recognise the frame's goal, for [`Classes::reached`].
    pub(super) reached: Range<u32>,
}

/// A state of the frame that can grow, and a way to it.
#[derive(Debug, Clone)]
pub(super) struct Stop {
    pub(super) class: ClassId,
    pub(super) score: f64,
    pub(super) edges: Range<u32>,
    /// Source words that its prefix covers.
    pub(super) covered: u32,
}

/// A sequence of completes.
#[derive(Debug, Clone)]
pub(super) struct Charges {
    pub(super) score: f64,
    pub(super) edges: Range<u32>,
}

/// How far a sequence of completes has come: where, and by which completes.
#[derive(Debug, Clone, Copy)]
struct Progress {
    corner: VertexId,
    score: f64,
    hash: u64,
    /// The last complete, in `Scratch::steps`; `START` if there is none.
    last: u32,
}

const START: u32 = u32::MAX;

/// Memory that closures use one after the other.
#[derive(Debug, Default)]
struct Scratch {
    /// Completes, each with the one before it: sequences that begin alike share their beginning.
    steps: Vec<(EdgeId, u32)>,
    /// What still has to go on, the goal excepted.
    corners: Vec<Progress>,
    ways: Vec<Progress>,
    reached: Vec<Progress>,
    ending: Vec<(VertexId, EdgeId)>,
}

#[derive(Debug)]
pub(super) struct Classes {
    classes: IndexVec<ClassId, Class>,
    index: HashMap<(VertexId, PrefixId), ClassId>,
    stops: Vec<Stop>,
    reached: Vec<Charges>,
    edges: Vec<EdgeId>,
    /// Whether all ways are kept or only the best to each state.
    all: bool,
    scratch: Scratch,
}

impl Classes {
    /// The class of the axiom, which has no frame with a goal.
    pub(super) const AXIOM: ClassId = ClassId(0);

    pub(super) fn new(forest: &TranslationForest, all: bool) -> Self {
        let (finish, growing) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        let axiom = Class { goal: forest.goal(), prefix: PrefixId::EMPTY, finish, growing, closure: None };
        Self {
            classes: IndexVec::from_vec(vec![axiom]),
            index: HashMap::default(),
            stops: Vec::new(),
            reached: Vec::new(),
            edges: Vec::new(),
            all,
            scratch: Scratch::default(),
        }
    }

    pub(super) fn intern(
        &mut self,
        tables: &PredictionTables<'_>,
        goal: VertexId,
        prefix: PrefixId,
    ) -> ClassId {
        let classes = &mut self.classes;
        *self.index.entry((goal, prefix)).or_insert_with(|| {
            let (finish, growing) = tables.both_finishes(goal, prefix);
            classes.push(Class { goal, prefix, finish, growing, closure: None })
        })
    }

    pub(super) fn goal(&self, class: ClassId) -> VertexId {
        self.classes[class].goal
    }

    pub(super) fn prefix(&self, class: ClassId) -> PrefixId {
        self.classes[class].prefix
    }

    /// h: the best that finishing the goal can give.
    pub(super) fn finish(&self, class: ClassId) -> f64 {
        self.classes[class].finish
    }

    /// h+: the same when the next thing is to grow.
    pub(super) fn growing(&self, class: ClassId) -> f64 {
        self.classes[class].growing
    }

    pub(super) fn stop(&self, index: u32) -> Stop {
        self.stops[index as usize].clone()
    }

    pub(super) fn reached(&self, index: u32) -> Charges {
        self.reached[index as usize].clone()
    }

    pub(super) fn edges(&self, range: &Range<u32>) -> &[EdgeId] {
        &self.edges[range.start as usize..range.end as usize]
    }

    /// What completes lead to. In a frame the state is its recognised prefix at first and then always one vertex, a
    /// left corner of the goal; completes lead from smaller vertices to larger ones, so in ascending order all ways
    /// to a state are known when its turn comes. Of several ways the one with the higher score, then with the smaller
    /// content hash of the completes in this frame, is the best.
    pub(super) fn closure(
        &mut self,
        tables: &PredictionTables<'_>,
        forest: &TranslationForest,
        class: ClassId,
    ) -> Closure {
        if let Some(known) = &self.classes[class].closure {
            return known.clone();
        }
        let goal = self.goal(class);
        let mut scratch = std::mem::take(&mut self.scratch);
        let Scratch { steps, corners, ways, reached, ending } = &mut scratch;
        steps.clear();
        reached.clear();
        let first_stop = self.stops.len() as u32;
        let mut state = class;
        ways.clear();
        ways.push(Progress { corner: goal, score: 0.0, hash: 0, last: START });
        loop {
            tables.ending(goal, self.prefix(state), ending);
            for way in &*ways {
                if self.growing(state) > f64::NEG_INFINITY {
                    let edges = self.keep(steps, way.last);
                    let covered = tables.covered(self.prefix(state));
                    self.stops.push(Stop { class: state, score: way.score, edges, covered });
                }
                for &(corner, edge) in &*ending {
                    let spec = forest.edge(edge).spec;
                    let (score, hash) = (way.score + spec.score, fold(way.hash, spec.hash));
                    let list = if corner == goal { &mut *reached } else { &mut *corners };
                    let old = if self.all { None } else { list.iter().position(|old| old.corner == corner) };
                    if old.is_some_and(|old| !better(score, hash, list[old].score, list[old].hash)) {
                        continue;
                    }
                    steps.push((edge, way.last));
                    let new = Progress { corner, score, hash, last: steps.len() as u32 - 1 };
                    match old {
                        Some(old) => list[old] = new,
                        None => list.push(new),
                    }
                }
            }
            let Some(corner) = corners.iter().map(|way| way.corner).min() else { break };
            ways.clear();
            ways.extend(corners.extract_if(.., |way| way.corner == corner));
            let prefix = tables.after(PrefixId::EMPTY, corner).expect("some edge starts with a left corner");
            state = self.intern(tables, goal, prefix);
        }
        let first = self.reached.len() as u32;
        for way in &*reached {
            let edges = self.keep(steps, way.last);
            self.reached.push(Charges { score: way.score, edges });
        }
        self.scratch = scratch;
        let closure =
            Closure { stops: first_stop..self.stops.len() as u32, reached: first..self.reached.len() as u32 };
        self.classes[class].closure = Some(closure.clone());
        closure
    }

    /// Keeps a sequence of completes, the first one first.
    fn keep(&mut self, steps: &[(EdgeId, u32)], mut last: u32) -> Range<u32> {
        let start = self.edges.len();
        while let Some(&(edge, before)) = steps.get(last as usize) {
            self.edges.push(edge);
            last = before;
        }
        self.edges[start..].reverse();
        start as u32..self.edges.len() as u32
    }
}
