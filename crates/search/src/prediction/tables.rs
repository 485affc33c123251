//! The static tables of the prediction decoder, per sentence.
//!
//! ```text
//! viable(v)    the bundles that translations of v start with
//! LC(v)        left corners: v, and the first vertex of each edge of a left corner
//! trie         all target sides symbol by symbol; bundles are equal if words and covered source words are
//! f(v)         the static estimate (estimate.rs)
//! g(v, A)      best way from a finished left corner A up to v:
//!              g(v, v) = 0,  g(v, A) = max over e: B -> A .., B in LC(v), of rest(e, 1) + g(v, B)
//! h(v, a)      best way to finish v when the prefix a is recognised:
//!              max over e: A -> a .., A in LC(v), of rest(e, |a|) + g(v, A);   h+ without edges that end at a
//! rest(e, k)   score(e) and the estimates of its symbols from the k-th on
//! ```
//!
//! g and h are the paper's future cost, which it computes by re-evaluating the forest of still applicable rules
//! after each action, in closed form: everything right of the stack is untouched and has its static value, and the
//! gap of a frame can only be closed by a chain of left corners.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use sylvan_base::{HashMap, Id, IndexVec, define_id};
use sylvan_forest::{BundleId, EdgeId, Target, TranslationForest, VertexId};

use super::left_corners::Corners;
use crate::{Estimate, LanguageModel, inside_estimate};

define_id!(
    /// A prefix of target sides: a node of the trie.
    PrefixId
);
define_id!(
    /// A symbol of the trie.
    SymId
);
define_id!(
    /// A set of source positions that a bundle covers; 0 is the empty set.
    CoverId
);

impl PrefixId {
    /// Nothing recognised yet.
    pub const EMPTY: PrefixId = PrefixId(0);
}

/// A prefix with more edges than this gets an index of them.
const FEW: usize = 64;

/// Heads of edges, and the edges' places, by head.
type Places = Rc<[(VertexId, u32)]>;

/// A symbol's meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Sym {
    Vertex(VertexId),
    /// The bundles of an edge share its source words: by its rule's links if the forest has them, else the first
    /// bundle covers all and later ones none.
    Bundle(BundleId, CoverId),
}

/// A bundle and the source positions that it covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// The words.
    pub words: BundleId,
    /// The positions, ascending.
    pub covers: Vec<u32>,
}

#[derive(Debug)]
struct Prefix {
    symbol: SymId,
    parent: PrefixId,
    depth: u32,
    /// Source words covered by its symbols.
    covered: u32,
    /// The edges that start with it, in `Tables::sorted`; those that end with it come first.
    edges: std::ops::Range<u32>,
    ending: u32,
    children: Vec<(SymId, PrefixId)>,
}

/// The target sides of all edges, one after the other.
#[derive(Debug, Default)]
struct Sides {
    symbols: Vec<SymId>,
    ends: Vec<u32>,
}

impl Sides {
    fn of(&self, edge: EdgeId) -> &[SymId] {
        let start = edge.index().checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.symbols[start as usize..self.ends[edge.index()] as usize]
    }
}

/// See the module documentation.
#[derive(Debug)]
pub struct PredictionTables<'f> {
    forest: &'f TranslationForest,
    estimate: Estimate,
    symbols: IndexVec<SymId, Sym>,
    covers: IndexVec<CoverId, Box<[u32]>>,
    /// Edges in the order of their symbols; equal target sides by head, then best first.
    sorted: Vec<EdgeId>,
    /// rest(e, k) for k = 0..=length, edge by edge in the order of `sorted`.
    rests: Vec<f64>,
    rest_start: Vec<u32>,
    /// The place of each edge in `sorted`.
    places: IndexVec<EdgeId, u32>,
    prefixes: IndexVec<PrefixId, Prefix>,
    children: HashMap<(PrefixId, SymId), PrefixId>,
    symbol_index: HashMap<Sym, SymId>,
    viable: IndexVec<VertexId, Vec<SymId>>,
    scans_cover_all: bool,
    left_corners: Corners,
    /// Places in `sorted` of the edges that start with a vertex.
    starting_with: IndexVec<VertexId, Vec<u32>>,
    /// The edges of prefixes with many of them, as places in `sorted`.
    by_head: RefCell<HashMap<PrefixId, Places>>,
    climbs: RefCell<HashMap<VertexId, HashMap<VertexId, f64>>>,
    /// Edges looked at for future costs.
    edges_seen: Cell<u64>,
}

impl<'f> PredictionTables<'f> {
    /// Computes everything that does not depend on a goal; g and h are filled as they are asked for.
    pub fn new<L: LanguageModel>(forest: &'f TranslationForest, lm: &L) -> Self {
        let mut tables = Self {
            forest,
            estimate: inside_estimate(forest, lm),
            symbols: IndexVec::new(),
            covers: IndexVec::from_vec(vec![Box::default()]),
            sorted: forest.edge_ids().collect(),
            rests: Vec::new(),
            rest_start: Vec::new(),
            places: forest.edge_ids().map(|_| 0).collect(),
            prefixes: IndexVec::new(),
            children: HashMap::default(),
            symbol_index: HashMap::default(),
            viable: IndexVec::new(),
            scans_cover_all: true,
            left_corners: Corners::default(),
            starting_with: forest.vertices().map(|_| Vec::new()).collect(),
            by_head: RefCell::default(),
            climbs: RefCell::default(),
            edges_seen: Cell::new(0),
        };
        let sides = tables.intern_symbols();
        tables.build_trie(&sides);
        tables.find_starts(&sides);
        tables
    }

    /// The target side of every edge as symbols.
    fn intern_symbols(&mut self) -> Sides {
        let mut cover_index: HashMap<Box<[u32]>, CoverId> = HashMap::default();
        cover_index.insert(Box::default(), CoverId(0));
        let mut sides = Sides::default();
        let (mut lexical, mut covered) = (Vec::new(), Vec::new());
        for edge in self.forest.edge_ids() {
            self.lexical(edge, &mut lexical);
            let owners = self.forest.owners(edge);
            let mut bundles = 0;
            for &symbol in self.forest.target(edge) {
                let symbol = match symbol {
                    Target::Vertex(vertex) => Sym::Vertex(vertex),
                    Target::Bundle(bundle) => {
                        covered.clear();
                        let own = |place: usize| owners.and_then(|owners| owners.get(place)).unwrap_or(&0);
                        let mine = lexical.iter().enumerate().filter(|&(place, _)| *own(place) == bundles);
                        covered.extend(mine.map(|(_, &position)| position));
                        bundles = bundles.saturating_add(1);
                        let id = cover_index.get(covered.as_slice()).copied().unwrap_or_else(|| {
                            let id = self.covers.push(covered.as_slice().into());
                            cover_index.insert(covered.as_slice().into(), id);
                            id
                        });
                        Sym::Bundle(bundle, id)
                    }
                };
                let symbols = &mut self.symbols;
                let id = *self.symbol_index.entry(symbol).or_insert_with(|| symbols.push(symbol));
                sides.symbols.push(id);
            }
            // Words that no bundle has taken are covered when the edge completes.
            self.scans_cover_all &= lexical.is_empty() || bundles > 0;
            sides.ends.push(sides.symbols.len() as u32);
        }
        sides
    }

    /// The source positions below an edge's head and below none of its tails.
    fn lexical(&self, edge: EdgeId, out: &mut Vec<u32>) {
        let span = self.forest.span(self.forest.edge(edge).head);
        let own = |&position: &usize| {
            !self.forest.tails(edge).any(|tail| self.forest.span(tail).contains(position))
        };
        out.clear();
        out.extend(span.range().filter(own).map(|position| position as u32));
    }

    fn build_trie(&mut self, sides: &Sides) {
        let forest = self.forest;
        // The first two symbols decide most comparisons, so they stand beside the edge as one number.
        let key = |edge: &EdgeId| {
            let side = sides.of(*edge);
            let second = side.get(1).map_or(0, |symbol| symbol.0 + 1);
            (u64::from(side[0].0) << 32) | u64::from(second)
        };
        let mut keyed: Vec<(u64, EdgeId)> = self.sorted.iter().map(|edge| (key(edge), *edge)).collect();
        keyed.sort_unstable_by(|(x_key, x), (y_key, y)| {
            x_key.cmp(y_key).then_with(|| {
                let (a, b) = (forest.edge(*x), forest.edge(*y));
                sides
                    .of(*x)
                    .cmp(sides.of(*y))
                    .then(a.head.cmp(&b.head))
                    .then(b.spec.score.total_cmp(&a.spec.score))
                    .then(a.spec.hash.cmp(&b.spec.hash))
                    .then(x.cmp(y))
            })
        });
        self.sorted = keyed.into_iter().map(|(_, edge)| edge).collect();
        let all = 0..self.sorted.len() as u32;
        self.prefixes.push(Prefix {
            symbol: SymId(0),
            parent: PrefixId::EMPTY,
            depth: 0,
            covered: 0,
            edges: all,
            ending: 0,
            children: Vec::new(),
        });
        // The path of the edge before: its prefixes by depth.
        let mut path = vec![PrefixId::EMPTY];
        for place in 0..self.sorted.len() as u32 {
            let edge = self.sorted[place as usize];
            let side = sides.of(edge);
            let common = (1..path.len())
                .take_while(|&depth| side.get(depth - 1) == Some(&self.prefixes[path[depth]].symbol))
                .count();
            path.truncate(common + 1);
            for &symbol in &side[common..] {
                let parent = path[path.len() - 1];
                let covered = self.prefixes[parent].covered + self.width(symbol);
                let depth = path.len() as u32;
                let edges = place..place;
                let new = self.prefixes.push(Prefix {
                    symbol,
                    parent,
                    depth,
                    covered,
                    edges,
                    ending: 0,
                    children: Vec::new(),
                });
                self.prefixes[parent].children.push((symbol, new));
                self.children.insert((parent, symbol), new);
                path.push(new);
            }
            for &prefix in &path[1..] {
                self.prefixes[prefix].edges.end = place + 1;
            }
            self.prefixes[path[path.len() - 1]].ending += 1;
            self.places[edge] = place;
            self.add_rests(edge);
        }
    }

    fn add_rests(&mut self, edge: EdgeId) {
        let target = self.forest.target(edge);
        let start = self.rests.len();
        self.rest_start.push(start as u32);
        self.rests.extend(target.iter().map(|_| self.forest.outlook(edge)));
        self.rests.push(self.forest.outlook(edge));
        for (index, &symbol) in target.iter().enumerate().rev() {
            self.rests[start + index] = self.rests[start + index + 1] + self.estimate.symbol(symbol);
        }
    }

    fn find_starts(&mut self, sides: &Sides) {
        for (place, &edge) in self.sorted.iter().enumerate() {
            if let Sym::Vertex(first) = self.symbols[sides.of(edge)[0]] {
                self.starting_with[first].push(place as u32);
            }
        }
        let mut first_vertices = Vec::new();
        for vertex in self.forest.vertices() {
            let mut viable = Vec::new();
            first_vertices.clear();
            for edge in self.forest.edges(vertex) {
                match self.symbols[sides.of(edge)[0]] {
                    Sym::Bundle(..) => viable.push(sides.of(edge)[0]),
                    Sym::Vertex(first) => first_vertices.push(first),
                }
            }
            first_vertices.sort_unstable();
            first_vertices.dedup();
            self.left_corners.push(&first_vertices);
            for &first in &first_vertices {
                viable.extend_from_slice(&self.viable[first]);
            }
            viable.sort_unstable();
            viable.dedup();
            self.viable.push(viable);
        }
    }

    pub(super) fn width(&self, symbol: SymId) -> u32 {
        match self.symbols[symbol] {
            Sym::Vertex(vertex) => self.forest.span(vertex).len() as u32,
            Sym::Bundle(_, covers) => self.covers[covers].len() as u32,
        }
    }

    /// The static estimate.
    pub fn estimate(&self) -> &Estimate {
        &self.estimate
    }

    /// The bundles that translations of a vertex start with.
    pub fn viable_prefixes(&self, vertex: VertexId) -> Vec<Bundle> {
        let bundles = self.viable[vertex].iter().filter_map(|&symbol| match self.symbols[symbol] {
            Sym::Bundle(words, covers) => Some(Bundle { words, covers: self.covers[covers].to_vec() }),
            Sym::Vertex(_) => None,
        });
        bundles.collect()
    }

    /// Whether `corner` can be the first thing recognised of `vertex`.
    pub fn is_left_corner(&self, vertex: VertexId, corner: VertexId) -> bool {
        self.left_corners.get(vertex.index(), corner.index())
    }

    /// The prefix of some symbols, given by words and vertices; `None` if no edge starts that way. Where
    /// bundles of equal words cover different source words, the first in the forest's order is meant.
    pub fn prefix(&self, symbols: &[Target]) -> Option<PrefixId> {
        symbols.iter().try_fold(PrefixId::EMPTY, |prefix, &target| {
            let same = |&&(symbol, _): &&(SymId, PrefixId)| match (self.symbols[symbol], target) {
                (Sym::Vertex(a), Target::Vertex(b)) => a == b,
                (Sym::Bundle(a, _), Target::Bundle(b)) => a == b,
                _ => false,
            };
            self.prefixes[prefix].children.iter().find(same).map(|&(_, child)| child)
        })
    }

    /// The edges whose target sides start with a prefix.
    pub fn edges_starting_with(&self, prefix: PrefixId) -> &[EdgeId] {
        let range = &self.prefixes[prefix].edges;
        &self.sorted[range.start as usize..range.end as usize]
    }

    /// The prefix extended by a vertex, if some edge continues that way.
    pub fn grown(&self, prefix: PrefixId, vertex: VertexId) -> Option<PrefixId> {
        self.after(prefix, vertex)
    }

    pub(super) fn symbols(&self, mut prefix: PrefixId) -> Vec<Target> {
        let mut symbols = Vec::new();
        while prefix != PrefixId::EMPTY {
            symbols.push(match self.symbols[self.prefixes[prefix].symbol] {
                Sym::Vertex(vertex) => Target::Vertex(vertex),
                Sym::Bundle(bundle, _) => Target::Bundle(bundle),
            });
            prefix = self.prefixes[prefix].parent;
        }
        symbols.reverse();
        symbols
    }

    pub(super) fn viable(&self, vertex: VertexId) -> &[SymId] {
        &self.viable[vertex]
    }

    pub(super) fn symbol(&self, symbol: SymId) -> Sym {
        self.symbols[symbol]
    }

    pub(super) fn covered(&self, prefix: PrefixId) -> u32 {
        self.prefixes[prefix].covered
    }

    pub(super) fn child(&self, prefix: PrefixId, symbol: SymId) -> Option<PrefixId> {
        self.children.get(&(prefix, symbol)).copied()
    }

    /// The prefix extended by a vertex, if some edge continues that way.
    pub(super) fn after(&self, prefix: PrefixId, vertex: VertexId) -> Option<PrefixId> {
        self.child(prefix, *self.symbol_index.get(&Sym::Vertex(vertex))?)
    }

    /// Calls `found` with the place and the head of each edge that starts with `prefix` and whose head is a left corner
    /// of `goal`, until it says stop; edges that end at the prefix by head, best first.
    ///
    /// Rules without source words start alike wherever they apply, so in a long input some prefixes have very many
    /// edges, of which few are near any one goal.
    #[inline]
    fn each_edge(&self, goal: VertexId, prefix: PrefixId, mut found: impl FnMut(u32, VertexId) -> bool) {
        let edges = self.prefixes[prefix].edges.clone();
        if edges.len() <= FEW {
            for place in edges {
                let head = self.forest.edge(self.sorted[place as usize]).head;
                if self.is_left_corner(goal, head) && !found(place, head) {
                    return;
                }
            }
            return;
        }
        let list = Rc::clone(self.by_head.borrow_mut().entry(prefix).or_insert_with(|| {
            let head = |place: u32| self.forest.edge(self.sorted[place as usize]).head;
            let mut list: Vec<(VertexId, u32)> = edges.map(|place| (head(place), place)).collect();
            list.sort_unstable();
            list.into()
        }));
        let lowest = VertexId::from_index(self.left_corners.lowest(goal.index()));
        let start = list.partition_point(|&(head, _)| head < lowest);
        for &(head, place) in list[start..].iter().take_while(|&&(head, _)| head <= goal) {
            if self.is_left_corner(goal, head) && !found(place, head) {
                return;
            }
        }
    }

    /// The edges that end at `prefix` and whose head is a left corner of `goal`; by head, best first.
    pub(super) fn ending(&self, goal: VertexId, prefix: PrefixId, out: &mut Vec<(VertexId, EdgeId)>) {
        let Prefix { edges, ending, .. } = &self.prefixes[prefix];
        let end = edges.start + ending;
        out.clear();
        if *ending == 0 {
            return;
        }
        self.each_edge(goal, prefix, |place, head| {
            if place < end {
                out.push((head, self.sorted[place as usize]));
            }
            true
        });
    }

    /// The symbols that follow `prefix` in some edge whose head is a left corner of `goal`, with the longer prefixes.
    pub(super) fn following(&self, goal: VertexId, prefix: PrefixId, out: &mut Vec<(SymId, PrefixId)>) {
        let Prefix { edges, ending, children, .. } = &self.prefixes[prefix];
        let first = edges.start + ending;
        out.clear();
        if edges.len() <= FEW {
            out.extend(children.iter().filter(|(_, longer)| self.leads_to(goal, *longer)));
            return;
        }
        let mut places = Vec::new();
        self.each_edge(goal, prefix, |place, _| {
            if place >= first {
                // Children share out the places in order.
                places.push(children.partition_point(|&(_, child)| self.prefixes[child].edges.end <= place));
            }
            true
        });
        places.sort_unstable();
        places.dedup();
        out.extend(places.into_iter().map(|child| children[child]));
    }

    /// Whether some edge that starts with `prefix` has a head that is a left corner of `goal`.
    fn leads_to(&self, goal: VertexId, prefix: PrefixId) -> bool {
        let mut any = false;
        self.each_edge(goal, prefix, |_, _| {
            any = true;
            false
        });
        any
    }

    /// Whether every edge's source words are covered by the time that its first bundle is scanned, so that completing
    /// edges never covers anything.
    pub(super) fn scans_cover_all(&self) -> bool {
        self.scans_cover_all
    }

    /// h(v, a): the best that finishing `goal` can give once `prefix` is recognised.
    pub fn finish(&self, goal: VertexId, prefix: PrefixId) -> f64 {
        self.both_finishes(goal, prefix).0
    }

    /// h+(v, a): the same when the next thing is to grow.
    pub fn finish_growing(&self, goal: VertexId, prefix: PrefixId) -> f64 {
        self.both_finishes(goal, prefix).1
    }

    /// h and h+.
    pub(super) fn both_finishes(&self, goal: VertexId, prefix: PrefixId) -> (f64, f64) {
        let Prefix { edges, ending, depth, .. } = &self.prefixes[prefix];
        let (mut all, mut growing) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        let mut seen = 0;
        self.each_edge(goal, prefix, |place, head| {
            let value = self.rest(place, *depth) + self.climb(goal, head);
            all = all.max(value);
            if place >= edges.start + ending {
                growing = growing.max(value);
            }
            seen += 1;
            true
        });
        self.edges_seen.set(self.edges_seen.get() + seen);
        (all, growing)
    }

    /// What [`finish`](Self::finish), or [`finish_growing`](Self::finish_growing) if `grows`, gives, by evaluating the
    /// forest of still applicable rules bottom-up, from the recognised prefix to the goal: the procedure of Feng et al.
    /// 2012. Nothing is remembered from one call to the next.
    pub fn reevaluate(&self, goal: VertexId, prefix: PrefixId, grows: bool) -> f64 {
        let Prefix { edges, ending, depth, .. } = &self.prefixes[prefix];
        let first = if grows { edges.start + ending } else { edges.start };
        let mut values: HashMap<VertexId, f64> = HashMap::default();
        let corners: Vec<usize> = self.left_corners.row_descending(goal.index()).collect();
        let mut seen = 0;
        for vertex in corners.into_iter().rev().map(VertexId::from_index) {
            let mut best = f64::NEG_INFINITY;
            for edge in self.forest.edges(vertex) {
                seen += 1;
                let place = self.places[edge];
                if (first..edges.end).contains(&place) {
                    best = best.max(self.rest(place, *depth));
                }
                if let Target::Vertex(corner) = self.forest.target(edge)[0] {
                    let below = values.get(&corner).copied().unwrap_or(f64::NEG_INFINITY);
                    best = best.max(self.rest(place, 1) + below);
                }
            }
            values.insert(vertex, best);
        }
        self.edges_seen.set(self.edges_seen.get() + seen);
        values.get(&goal).copied().unwrap_or(f64::NEG_INFINITY)
    }

    /// How many edges were looked at for future costs so far.
    pub(super) fn edges_seen(&self) -> u64 {
        self.edges_seen.get()
    }

    /// A number for a prefix that does not depend on how rules are numbered, for ties.
    pub(super) fn content(&self, prefix: PrefixId) -> u64 {
        let edges = self.edges_starting_with(prefix).iter();
        edges.map(|&edge| self.forest.edge(edge).spec.hash).min().unwrap_or(0)
    }

    fn rest(&self, place: u32, from: u32) -> f64 {
        self.rests[(self.rest_start[place as usize] + from) as usize]
    }

    /// g(v, A): the best way from a finished left corner up to `goal`.
    pub fn climb(&self, goal: VertexId, corner: VertexId) -> f64 {
        if goal == corner {
            return 0.0;
        }
        if let Some(row) = self.climbs.borrow().get(&goal) {
            return row.get(&corner).copied().unwrap_or(f64::NEG_INFINITY);
        }
        // Heads have larger ids than their first vertices, so in descending order every step up is already
        // known.
        let mut row: HashMap<VertexId, f64> = HashMap::default();
        row.insert(goal, 0.0);
        let mut seen = 0;
        for index in self.left_corners.row_descending(goal.index()).skip(1) {
            let below = VertexId::from_index(index);
            let mut best = f64::NEG_INFINITY;
            seen += self.starting_with[below].len() as u64;
            for &place in &self.starting_with[below] {
                let head = self.forest.edge(self.sorted[place as usize]).head;
                if let Some(up) = row.get(&head) {
                    best = best.max(self.rest(place, 1) + up);
                }
            }
            row.insert(below, best);
        }
        self.edges_seen.set(self.edges_seen.get() + seen);
        let found = row.get(&corner).copied().unwrap_or(f64::NEG_INFINITY);
        self.climbs.borrow_mut().insert(goal, row);
        found
    }
}
