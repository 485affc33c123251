//! Prediction (Feng, Liu, Liu & Cohn 2012) from its definition: stacks of frames `[goal: recognised . pending]`.
//!
//! ```text
//! axiom      nothing but the forest's goal, pending
//! predict    [v: a . k]  =>  [v: a . k] [k: . b]       b a bundle that a translation of k starts with
//! scan       [v: a . b]  =>  [v: a b .]                emits b
//! complete   [u: c . v] [v: a .]                       e: A -> a, A a left corner of v; charges e
//!            => A = v: [u: c v .]     else: [u: c . v] [v: A .]
//! grow       [v: a .]    =>  [v: a . X]                some edge A -> a X .., A a left corner of v
//! ```
//!
//! - A *move* grows (the axiom does not), predicts if a vertex was grown, scans, and then completes in all possible
//!   ways; each stack on the way that can grow is an item, and so is the recognised goal. Of several sequences of
//!   completes inside one frame that recognise the same vertex only the best is used: the highest score of its edges,
//!   then the smallest content of the sequence alone. Searches that keep everything use all of them.
//! - *Symbols* are vertices, or bundles with the source words that they cover: the first bundle of an edge covers the
//!   words of the edge's source side, the others none, unless the forest says which covers which. Bundles are the same if words and covered words are.
//! - *Bin*: the source words covered by recognised symbols, in all frames.
//! - *Future*: the best value of the forest's goal in the forest of edges that still apply, where recognised symbols
//!   cost nothing, words to come their local scores and untouched vertices their f. In the topmost frame only edges
//!   that go on after the recognised symbols apply, because the item waits to grow. Without future it is 0.
//! - *Rest*: the same when the topmost frame's goal is taken as recognised.
//! - *Estimate* of a move: what the future would be before its bundle is scanned, less the rest. Without future the
//!   local score of the bundle.
//! - *u* limits the bundles that are predicted from a vertex to the best: by their local scores and the value of the
//!   vertex when they are recognised, then by content, the smallest hash of an edge that starts with them.
//! - *Options* are the moves of an item, limited to the best by estimate, then by the content of what is recognised
//!   after the scan, then of what was grown.
//! - *Order* of moves with equal estimates: by the grown symbol, in the order in which symbols first occur in the
//!   forest; then by the number of covered words, the value, and the first occurrence of the predicted bundle.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use sylvan_forest::{BundleId, EdgeId, Target, TranslationForest, VertexId};
use sylvan_search::{LanguageModel, Prediction};

use super::engine::{Choice, Decoder, Stepped, content, descending};
use super::estimate::{Estimate, lexical};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Symbol {
    Vertex(VertexId),
    /// Words, and the source positions that they cover.
    Bundle(BundleId, Vec<usize>),
}

impl Symbol {
    fn target(&self) -> Target {
        match self {
            Self::Vertex(vertex) => Target::Vertex(*vertex),
            Self::Bundle(bundle, _) => Target::Bundle(*bundle),
        }
    }
}

/// In a frame below another, the upper one's goal is pending.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Frame {
    goal: VertexId,
    recognised: Vec<Symbol>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stack {
    Axiom,
    /// From the bottom up.
    Frames(Vec<Frame>),
    Goal,
}

/// What is grown, and predicted if that is a vertex.
#[derive(Debug, Clone)]
pub struct Move {
    grown: Option<Symbol>,
    predicted: Option<Symbol>,
}

/// What stands right of the topmost dot when a stack is valued.
#[derive(Debug, Clone, Copy)]
enum Ahead<'s> {
    /// Something, whatever it is.
    Anything,
    /// A bundle that was not scanned yet.
    Pending(&'s Symbol),
    /// A vertex that was just recognised, and anything or nothing after it.
    Recognised(VertexId),
}

/// A goal, whether its frame must grow, and what is recognised or pending in it.
type Question = (VertexId, bool, Vec<Symbol>);

pub struct BottomUp<'f> {
    forest: &'f TranslationForest,
    estimate: Estimate<'f>,
    config: Prediction,
    /// Whether all sequences of completes are used.
    all: bool,
    /// The target sides of all edges.
    sides: Vec<Vec<Symbol>>,
    /// Symbols in the order of their first occurrence.
    places: BTreeMap<Symbol, usize>,
    /// The vertices themselves, and the first vertices of edges of left corners.
    left_corners: Vec<BTreeSet<VertexId>>,
    /// The bundles that translations of each vertex start with.
    viable: Vec<BTreeSet<Symbol>>,
    /// What [`open`](Self::open) said: real forests are too large to value every frame of every item anew.
    said: RefCell<BTreeMap<Question, f64>>,
}

impl<'f> BottomUp<'f> {
    pub fn new<L: LanguageModel>(
        forest: &'f TranslationForest,
        lm: &L,
        config: Prediction,
        all: bool,
    ) -> Self {
        let sides: Vec<Vec<Symbol>> = forest.edge_ids().map(|edge| side(forest, edge)).collect();
        let mut places = BTreeMap::new();
        for symbol in sides.iter().flatten() {
            let next = places.len();
            places.entry(symbol.clone()).or_insert(next);
        }
        let mut left_corners: Vec<BTreeSet<VertexId>> = Vec::new();
        let mut viable: Vec<BTreeSet<Symbol>> = Vec::new();
        for vertex in forest.vertices() {
            let (mut corners, mut starts) = (BTreeSet::from([vertex]), BTreeSet::new());
            for edge in forest.edges(vertex) {
                match &sides[edge.0 as usize][0] {
                    Symbol::Vertex(first) => {
                        corners.extend(&left_corners[first.0 as usize]);
                        starts.extend(viable[first.0 as usize].iter().cloned());
                    }
                    bundle => {
                        starts.insert(bundle.clone());
                    }
                }
            }
            left_corners.push(corners);
            viable.push(starts);
        }
        let estimate = Estimate::new(forest, lm);
        let said = RefCell::default();
        Self { forest, estimate, config, all, sides, places, left_corners, viable, said }
    }

    fn side(&self, edge: EdgeId) -> &[Symbol] {
        &self.sides[edge.0 as usize]
    }

    /// The frames as goals and plain symbols.
    pub fn show(&self, stack: &Stack) -> Vec<(VertexId, Vec<Target>)> {
        let plain = |frame: &Frame| (frame.goal, frame.recognised.iter().map(Symbol::target).collect());
        match stack {
            Stack::Frames(frames) => frames.iter().map(plain).collect(),
            Stack::Axiom | Stack::Goal => Vec::new(),
        }
    }

    /// The edges of the left corners of a vertex.
    fn spine(&self, vertex: VertexId) -> Vec<EdgeId> {
        self.left_corners[vertex.0 as usize].iter().flat_map(|&corner| self.forest.edges(corner)).collect()
    }

    /// The symbols that can follow in a frame.
    fn following(&self, frame: &Frame) -> BTreeSet<Symbol> {
        let mut following = BTreeSet::new();
        for edge in self.spine(frame.goal) {
            if let Some([next, ..]) = self.side(edge).strip_prefix(&frame.recognised[..]) {
                following.insert(next.clone());
            }
        }
        following
    }

    /// The best value of the lowest frame's goal in the forest of edges that still apply; minus infinity if none do.
    fn value(&self, frames: &[Frame], ahead: Ahead<'_>) -> f64 {
        let Some((lowest, above)) = frames.split_first() else { return 0.0 };
        let mut start = lowest.recognised.clone();
        let mut must_grow = false;
        // What the symbol after the recognised ones costs.
        let next = match (above.first(), ahead) {
            (Some(upper), ahead) => {
                start.push(Symbol::Vertex(upper.goal));
                self.value(above, ahead)
            }
            (None, Ahead::Pending(symbol)) => {
                start.push(symbol.clone());
                self.estimate.symbol(symbol.target())
            }
            (None, Ahead::Recognised(vertex)) => {
                start.push(Symbol::Vertex(vertex));
                0.0
            }
            (None, Ahead::Anything) => {
                must_grow = true;
                0.0
            }
        };
        next + self.open(lowest.goal, &start, must_grow)
    }

    /// The best value of a vertex if one of its edges, or of its first vertex's edges and so on, begins with `start`,
    /// which costs nothing.
    fn open(&self, vertex: VertexId, start: &[Symbol], must_grow: bool) -> f64 {
        let question = (vertex, must_grow, start.to_vec());
        if let Some(&answer) = self.said.borrow().get(&question) {
            return answer;
        }
        let mut values: BTreeMap<VertexId, f64> = BTreeMap::new();
        for &corner in &self.left_corners[vertex.0 as usize] {
            let mut best = f64::NEG_INFINITY;
            for edge in self.forest.edges(corner) {
                let side = self.side(edge);
                if side.starts_with(start) && (side.len() > start.len() || !must_grow) {
                    best = best.max(self.estimate.rest(edge, start.len()));
                }
                if let Symbol::Vertex(first) = &side[0] {
                    best = best.max(values[first] + self.estimate.rest(edge, 1));
                }
            }
            values.insert(corner, best);
        }
        self.said.borrow_mut().insert(question, values[&vertex]);
        values[&vertex]
    }

    /// The frames in which a move's bundle is scanned.
    fn grow(&self, stack: &Stack, taken: &Move) -> (Vec<Frame>, Symbol) {
        let mut frames = match stack {
            Stack::Frames(frames) => frames.clone(),
            Stack::Axiom | Stack::Goal => Vec::new(),
        };
        let pending = match (&taken.grown, &taken.predicted) {
            (Some(Symbol::Vertex(vertex)), Some(bundle)) => {
                frames.push(Frame { goal: *vertex, recognised: Vec::new() });
                bundle
            }
            (None, Some(bundle)) => {
                frames.push(Frame { goal: self.forest.goal(), recognised: Vec::new() });
                bundle
            }
            (Some(bundle), _) => bundle,
            (None, None) => unreachable!("a move scans something"),
        };
        (frames, pending.clone())
    }

    /// All moves, and how they are ordered where estimates are equal: by their places in this list.
    fn moves(&self, stack: &Stack) -> Vec<Choice<Move>> {
        let mut moves = Vec::new();
        let predict = |grown: Option<Symbol>, vertex: VertexId| {
            let mut part: Vec<(Symbol, Choice<Move>)> = Vec::new();
            for symbol in self.starts(vertex) {
                let taken = Move { grown: grown.clone(), predicted: Some(symbol.clone()) };
                part.push((symbol, self.choice(stack, taken)));
            }
            part.sort_by(|(x, a), (y, b)| {
                a.advance
                    .cmp(&b.advance)
                    .then(descending(a.estimate, b.estimate))
                    .then(self.places[x].cmp(&self.places[y]))
            });
            part.into_iter().map(|(_, choice)| choice).collect::<Vec<_>>()
        };
        match stack {
            Stack::Goal => {}
            Stack::Axiom => moves.extend(predict(None, self.forest.goal())),
            Stack::Frames(frames) => {
                let top = frames.last().expect("a stack has frames");
                let mut following: Vec<Symbol> = self.following(top).into_iter().collect();
                following.sort_by_key(|symbol| self.places[symbol]);
                for symbol in following {
                    match symbol {
                        Symbol::Vertex(vertex) => moves.extend(predict(Some(symbol), vertex)),
                        Symbol::Bundle(..) => {
                            moves.push(self.choice(stack, Move { grown: Some(symbol), predicted: None }));
                        }
                    }
                }
            }
        }
        moves
    }

    /// The bundles that may be predicted from a vertex.
    fn starts(&self, vertex: VertexId) -> Vec<Symbol> {
        let mut starts: Vec<Symbol> = self.viable[vertex.0 as usize].iter().cloned().collect();
        starts.sort_by_key(|symbol| self.places[symbol]);
        if starts.len() > self.config.prefixes {
            let value = |symbol: &Symbol| {
                let Symbol::Bundle(words, _) = symbol else { unreachable!("bundles start") };
                let ahead = if self.config.future {
                    self.open(vertex, std::slice::from_ref(symbol), false)
                } else {
                    0.0
                };
                ahead + self.estimate.bundle(*words)
            };
            starts.sort_by(|a, b| {
                let content = |symbol: &Symbol| self.content(std::slice::from_ref(symbol));
                descending(value(a), value(b)).then(content(a).cmp(&content(b)))
            });
            starts.truncate(self.config.prefixes);
        }
        starts
    }

    /// The smallest hash of an edge that starts with some symbols.
    fn content(&self, start: &[Symbol]) -> u64 {
        let edges = self.forest.edge_ids().filter(|&edge| self.side(edge).starts_with(start));
        edges.map(|edge| self.forest.edge(edge).spec.hash).min().expect("some edge starts so")
    }

    /// The content of what a move leads to: of the frame in which it scans, and of the one in which it has grown a
    /// vertex.
    fn move_content(&self, stack: &Stack, taken: &Move) -> (u64, Option<u64>) {
        let (frames, pending) = self.grow(stack, taken);
        let (top, below) = frames.split_last().expect("a move scans in a frame");
        let after = |frame: &Frame, symbol: &Symbol| {
            let mut symbols = frame.recognised.clone();
            symbols.push(symbol.clone());
            self.content(&symbols)
        };
        let grown = match &taken.grown {
            Some(vertex @ Symbol::Vertex(_)) => below.last().map(|frame| after(frame, vertex)),
            _ => None,
        };
        (after(top, &pending), grown)
    }

    fn choice(&self, stack: &Stack, taken: Move) -> Choice<Move> {
        let (frames, pending) = self.grow(stack, &taken);
        let Symbol::Bundle(words, covers) = &pending else { unreachable!("bundles are scanned") };
        let estimate = match self.config.future {
            true => self.value(&frames, Ahead::Pending(&pending)) - self.rest(stack),
            false => self.estimate.bundle(*words),
        };
        Choice { estimate, advance: covers.len(), take: taken }
    }

    /// The vertices that completes can make of what is recognised in a frame, ascending, each with the sequences of
    /// edges that do; with the best sequence only unless all are used.
    fn completes(&self, frame: &Frame) -> Vec<(VertexId, Vec<Vec<EdgeId>>)> {
        // States of the frame: what is recognised in it, and how that was reached.
        let mut states: Vec<(Vec<Symbol>, Vec<Vec<EdgeId>>)> =
            vec![(frame.recognised.clone(), vec![Vec::new()])];
        let mut reached = Vec::new();
        for &corner in &self.left_corners[frame.goal.0 as usize] {
            // Completes lead from smaller vertices to larger ones, so all states that lead here are known.
            let mut ways: Vec<Vec<EdgeId>> = Vec::new();
            for (recognised, before) in &states {
                let mut edges: Vec<EdgeId> =
                    self.forest.edges(corner).filter(|&edge| self.side(edge) == &recognised[..]).collect();
                edges.sort_by(|&a, &b| {
                    let (a, b) = (self.forest.edge(a).spec, self.forest.edge(b).spec);
                    descending(a.score, b.score).then(a.hash.cmp(&b.hash))
                });
                for way in before {
                    ways.extend(edges.iter().map(|&edge| [&way[..], &[edge]].concat()));
                }
            }
            if !self.all {
                ways = self.best(ways).into_iter().collect();
            }
            if !ways.is_empty() {
                states.push((vec![Symbol::Vertex(corner)], ways.clone()));
                reached.push((corner, ways));
            }
        }
        reached
    }

    fn best(&self, ways: Vec<Vec<EdgeId>>) -> Option<Vec<EdgeId>> {
        let score = |way: &[EdgeId]| way.iter().map(|&edge| self.forest.edge(edge).spec.score).sum::<f64>();
        let content = |way: &[EdgeId]| content(self.forest, way);
        ways.into_iter()
            .min_by(|a, b| descending(score(a), score(b)).then_with(|| content(a).cmp(&content(b))))
    }
}

/// The symbols of an edge.
fn side(forest: &TranslationForest, edge: EdgeId) -> Vec<Symbol> {
    let words = lexical(forest, edge);
    let mut bundles = 0;
    let symbol = |&target: &Target| match target {
        Target::Vertex(vertex) => Symbol::Vertex(vertex),
        Target::Bundle(bundle) => {
            let mine = |place: usize| forest.owners(edge).map_or(0, |owners| owners[place]) == bundles;
            let covers = (0..words.len()).filter(|&place| mine(place)).map(|place| words[place]).collect();
            bundles += 1;
            Symbol::Bundle(bundle, covers)
        }
    };
    forest.target(edge).iter().map(symbol).collect()
}

impl Decoder for BottomUp<'_> {
    type Stack = Stack;
    type Signature = Stack;
    type Class = Option<Frame>;
    type Move = Move;

    fn axiom(&self) -> Stack {
        Stack::Axiom
    }

    fn is_complete(&self, stack: &Stack) -> bool {
        *stack == Stack::Goal
    }

    fn signature(&self, stack: &Stack) -> Stack {
        stack.clone()
    }

    /// The topmost frame.
    fn class(&self, stack: &Stack) -> Option<Frame> {
        match stack {
            Stack::Frames(frames) => frames.last().cloned(),
            Stack::Axiom | Stack::Goal => None,
        }
    }

    fn bin(&self, stack: &Stack, _edges: &[EdgeId]) -> usize {
        let frames = match stack {
            Stack::Axiom => return 0,
            Stack::Goal => return self.forest.span(self.forest.goal()).len(),
            Stack::Frames(frames) => frames,
        };
        let mut covered = BTreeSet::new();
        for symbol in frames.iter().flat_map(|frame| &frame.recognised) {
            match symbol {
                Symbol::Vertex(vertex) => covered.extend(self.forest.span(*vertex).range()),
                Symbol::Bundle(_, covers) => covered.extend(covers),
            }
        }
        covered.len()
    }

    fn future(&self, stack: &Stack) -> f64 {
        match stack {
            _ if !self.config.future => 0.0,
            Stack::Axiom => self.estimate.vertex(self.forest.goal()),
            Stack::Goal => 0.0,
            Stack::Frames(frames) => self.value(frames, Ahead::Anything),
        }
    }

    fn rest(&self, stack: &Stack) -> f64 {
        match stack {
            Stack::Frames(frames) if self.config.future => {
                let (top, below) = frames.split_last().expect("a stack has frames");
                self.value(below, Ahead::Recognised(top.goal))
            }
            _ => 0.0,
        }
    }

    fn options(&self, stack: &Stack) -> Vec<Choice<Move>> {
        let moves = self.moves(stack);
        let mut best: Vec<usize> = (0..moves.len()).collect();
        if moves.len() > self.config.options {
            let content = |place: usize| self.move_content(stack, &moves[place].take);
            best.sort_by(|&a, &b| {
                descending(moves[a].estimate, moves[b].estimate).then_with(|| content(a).cmp(&content(b)))
            });
            best.truncate(self.config.options);
            best.sort_unstable();
        }
        best.into_iter().map(|place| moves[place].clone()).collect()
    }

    fn step(&self, stack: &Stack, taken: &Move) -> Stepped<Stack> {
        let (mut frames, pending) = self.grow(stack, taken);
        let Symbol::Bundle(words, _) = pending else { unreachable!("bundles are scanned") };
        frames.last_mut().expect("a frame scans").recognised.push(pending);
        let mut successors = Vec::new();
        let mut open = vec![(frames, Vec::new())];
        while let Some((frames, charged)) = open.pop() {
            let (top, below) = frames.split_last().expect("a frame is completed");
            let can_grow = |frame: &Frame| self.open(frame.goal, &frame.recognised, true) > f64::NEG_INFINITY;
            if can_grow(top) {
                successors.push((Stack::Frames(frames.clone()), charged.clone()));
            }
            for (corner, ways) in self.completes(top) {
                for way in ways {
                    let charged = [&charged[..], &way].concat();
                    let mut frames = below.to_vec();
                    if corner != top.goal {
                        let frame = Frame { goal: top.goal, recognised: vec![Symbol::Vertex(corner)] };
                        if can_grow(&frame) {
                            frames.push(frame);
                            successors.push((Stack::Frames(frames), charged));
                        }
                    } else if let Some(lower) = frames.last_mut() {
                        lower.recognised.push(Symbol::Vertex(corner));
                        open.push((frames, charged));
                    } else {
                        successors.push((Stack::Goal, charged));
                    }
                }
            }
        }
        Stepped { words: self.forest.bundle(words).to_vec(), successors }
    }

    fn left_out(&self, stack: &Stack) -> usize {
        let too_many = |vertex: &Symbol| match vertex {
            Symbol::Vertex(vertex) => {
                self.viable[vertex.0 as usize].len().saturating_sub(self.config.prefixes)
            }
            Symbol::Bundle(..) => 0,
        };
        let top = match stack {
            Stack::Axiom => Symbol::Vertex(self.forest.goal()),
            Stack::Goal => return 0,
            Stack::Frames(frames) => {
                let top = frames.last().expect("a stack has frames");
                let prefixes: usize = self.following(top).iter().map(too_many).sum();
                return prefixes + self.moves(stack).len().saturating_sub(self.config.options);
            }
        };
        too_many(&top) + self.moves(stack).len().saturating_sub(self.config.options)
    }
}
