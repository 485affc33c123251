//! The minimal rules of a sentence pair as a hypergraph.
//!
//! A vertex is a frontier node with a range of target words; an edge is a minimal rule: one way to expand the node
//! down to the next frontier nodes and words. Over a tree with one way to attach unlinked words each vertex has one
//! edge; packed forests (Mi & Huang 2008) and exhaustive attachment (Galley et al. 2006) have several, and edges
//! then carry the share of their vertex's derivations that use them.

use sylvan_trees::{Child, NodeId};

use super::frontier::Frontier;
use super::{Attach, ExtractConfig};
use crate::input::Input;

/// A frontier node and the target words that it takes.
#[derive(Debug, Clone)]
pub(super) struct Vertex {
    pub(super) node: NodeId,
    /// Target words `first..end`.
    pub(super) first: u32,
    pub(super) end: u32,
    pub(super) edges: std::ops::Range<u32>,
    /// Logarithm of the sum over derivations.
    inside: f64,
    /// The expected number of times that the vertex is used.
    pub(super) outside: f64,
}

/// One symbol of a minimal rule's source side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    /// A node is expanded in this way.
    Open(u32),
    /// A word.
    Word(u32),
    /// The next tail.
    Tail,
}

/// A minimal rule.
#[derive(Debug, Clone)]
pub(super) struct Minimal {
    pub(super) pieces: std::ops::Range<u32>,
    pub(super) tails: std::ops::Range<u32>,
    pub(super) nodes: u32,
    pub(super) source_words: u32,
    pub(super) words: u32,
    /// Logarithm of its weight, then its share among the edges of its vertex.
    weight: f64,
    pub(super) share: f64,
}

/// The minimal rules of one sentence pair.
#[derive(Debug, Default)]
pub(super) struct RuleGraph {
    pub(super) vertices: Vec<Vertex>,
    pub(super) edges: Vec<Minimal>,
    pub(super) pieces: Vec<Piece>,
    pub(super) tails: Vec<u32>,
    /// Beside `tails`: the places among the tails of an edge, in the order in which Travatar meets them.
    met: Vec<u32>,
    /// The vertices of each node.
    of_node: Vec<std::ops::Range<u32>>,
    work: Work,
}

/// A treelet that is being cut out.
#[derive(Debug, Clone)]
struct Cut {
    pieces: Vec<Piece>,
    tails: Vec<NodeId>,
    met: Vec<NodeId>,
    open: Vec<Child>,
    nodes: u32,
    source_words: u32,
    weight: f64,
}

#[derive(Debug, Default)]
struct Work {
    cuts: Vec<Cut>,
    done: Vec<Cut>,
    chosen: Vec<u32>,
}

impl RuleGraph {
    pub(super) fn build<I: Input>(
        &mut self,
        input: &I,
        target_len: u32,
        frontier: &Frontier,
        config: &ExtractConfig,
    ) {
        self.vertices.clear();
        self.edges.clear();
        self.pieces.clear();
        self.tails.clear();
        self.met.clear();
        self.of_node.clear();
        let root = input.node_count() - 1;
        for index in 0..input.node_count() {
            let first_vertex = self.vertices.len() as u32;
            if let Some(closure) = frontier.closures[index] {
                let node = NodeId(index as u32);
                self.cut(input, node, frontier, config.ways_per_node as usize);
                for (first, end) in ranges(closure, index == root, target_len, frontier, config.attach) {
                    self.add_vertex(node, first, end, config);
                }
            }
            self.of_node.push(first_vertex..self.vertices.len() as u32);
        }
        self.weigh();
    }

    /// All ways to cut the treelet of the minimal rule at a node, into `work.done`; likely ones first if there are
    /// more than `limit`.
    fn cut<I: Input>(&mut self, input: &I, node: NodeId, frontier: &Frontier, limit: usize) {
        let Work { cuts, done, .. } = &mut self.work;
        done.clear();
        cuts.clear();
        let start = |way: u32| {
            let mut cut = Cut {
                pieces: Vec::new(),
                tails: Vec::new(),
                met: Vec::new(),
                open: Vec::new(),
                nodes: 0,
                source_words: 0,
                weight: 0.0,
            };
            expand(&mut cut, input, way, frontier);
            cut
        };
        let ways = input.ways(node);
        if ways.len() == 1 {
            cuts.push(start(ways.start));
        } else {
            cuts.extend(best_last(input, ways).into_iter().map(start));
        }
        while let Some(mut cut) = cuts.pop() {
            let mut ended = true;
            while let Some(child) = cut.open.pop() {
                match child {
                    Child::Leaf(position) => {
                        cut.source_words += 1;
                        cut.pieces.push(Piece::Word(position));
                    }
                    Child::Node(below) if frontier.closures[below.0 as usize].is_some() => {
                        cut.pieces.push(Piece::Tail);
                        cut.tails.push(below);
                    }
                    Child::Node(below) => {
                        let ways = input.ways(below);
                        let first = ways.start;
                        if ways.len() > 1 {
                            for way in best_last(input, ways) {
                                let mut other = cut.clone();
                                expand(&mut other, input, way, frontier);
                                cuts.push(other);
                            }
                            ended = false;
                            break;
                        }
                        expand(&mut cut, input, first, frontier);
                    }
                }
            }
            if ended {
                done.push(cut);
                if done.len() >= limit {
                    return;
                }
            }
        }
    }

    /// A vertex and its edges: for each treelet, each choice of vertices for its tails that fits.
    fn add_vertex(&mut self, node: NodeId, first: u32, end: u32, config: &ExtractConfig) {
        let start = self.edges.len() as u32;
        let done = std::mem::take(&mut self.work.done);
        let mut chosen = std::mem::take(&mut self.work.chosen);
        for cut in &done {
            let pieces = self.pieces.len() as u32;
            self.pieces.extend_from_slice(&cut.pieces);
            let pieces = pieces..self.pieces.len() as u32;
            let extended = cut.tails.len() <= config.variables as usize;
            chosen.clear();
            // An odometer over the tails' vertices, the first tail slowest.
            let mut next = 0u32;
            loop {
                if chosen.len() == cut.tails.len() {
                    self.add_edge(cut, pieces.clone(), &chosen, first, end);
                } else {
                    let vertices = self.of_node[cut.tails[chosen.len()].0 as usize].clone();
                    let last = if extended { vertices.end } else { (vertices.start + 1).min(vertices.end) };
                    let fits =
                        (vertices.start + next..last).find(|&vertex| self.fits(vertex, &chosen, first, end));
                    if let Some(vertex) = fits {
                        chosen.push(vertex);
                        next = 0;
                        continue;
                    }
                }
                let Some(back) = chosen.pop() else { break };
                next = back + 1 - self.of_node[cut.tails[chosen.len()].0 as usize].start;
            }
        }
        self.work.done = done;
        self.work.chosen = chosen;
        let edges = start..self.edges.len() as u32;
        self.vertices.push(Vertex { node, first, end, edges, inside: 0.0, outside: 0.0 });
    }

    /// Whether a vertex lies inside the range and beside those that were chosen before.
    fn fits(&self, vertex: u32, chosen: &[u32], first: u32, end: u32) -> bool {
        let vertex = &self.vertices[vertex as usize];
        let beside = |&other: &u32| {
            let other = &self.vertices[other as usize];
            vertex.end <= other.first || other.end <= vertex.first
        };
        first <= vertex.first && vertex.end <= end && chosen.iter().all(beside)
    }

    fn add_edge(&mut self, cut: &Cut, pieces: std::ops::Range<u32>, chosen: &[u32], first: u32, end: u32) {
        let tails = self.tails.len() as u32;
        self.tails.extend_from_slice(chosen);
        let place = |node: &NodeId| cut.tails.iter().position(|tail| tail == node).unwrap_or(0) as u32;
        self.met.extend(cut.met.iter().map(place));
        let taken: u32 = chosen.iter().map(|&tail| self.range_len(tail)).sum();
        self.edges.push(Minimal {
            pieces,
            tails: tails..self.tails.len() as u32,
            nodes: cut.nodes,
            source_words: cut.source_words,
            words: end - first - taken,
            weight: cut.weight,
            share: 1.0,
        });
    }

    fn range_len(&self, vertex: u32) -> u32 {
        let vertex = &self.vertices[vertex as usize];
        vertex.end - vertex.first
    }

    pub(super) fn edge_tails(&self, edge: &Minimal) -> &[u32] {
        &self.tails[edge.tails.start as usize..edge.tails.end as usize]
    }

    /// The places among the tails of an edge, in the order in which Travatar meets them.
    pub(super) fn edge_met(&self, edge: &Minimal) -> &[u32] {
        &self.met[edge.tails.start as usize..edge.tails.end as usize]
    }

    /// Shares and expected uses. With one edge everywhere both are 1 and nothing is computed.
    fn weigh(&mut self) {
        let Some(root) = self.vertices.len().checked_sub(1) else { return };
        let one_each = self.of_node.iter().all(|vertices| vertices.len() <= 1);
        if one_each && self.edges.len() == self.vertices.len() {
            self.vertices.iter_mut().for_each(|vertex| vertex.outside = 1.0);
            return;
        }
        for index in 0..self.vertices.len() {
            let edges = self.vertices[index].edges.clone();
            let weight = |graph: &Self, edge: u32| {
                let edge = &graph.edges[edge as usize];
                let tails = graph.edge_tails(edge).iter().map(|&tail| graph.vertices[tail as usize].inside);
                edge.weight + tails.sum::<f64>()
            };
            let best = edges.clone().map(|edge| weight(self, edge)).fold(f64::NEG_INFINITY, f64::max);
            if best == f64::NEG_INFINITY {
                // Nothing fits below: no derivation uses it.
                edges.for_each(|edge| self.edges[edge as usize].share = 0.0);
                self.vertices[index].inside = best;
                continue;
            }
            let sum: f64 = edges.clone().map(|edge| libm::exp(weight(self, edge) - best)).sum();
            for edge in edges {
                let share = libm::exp(weight(self, edge) - best) / sum;
                self.edges[edge as usize].share = share;
            }
            self.vertices[index].inside = best + libm::log(sum);
        }
        self.vertices[root].outside = 1.0;
        for index in (0..self.vertices.len()).rev() {
            let outside = self.vertices[index].outside;
            for edge in self.vertices[index].edges.clone() {
                let Minimal { tails, share, .. } = self.edges[edge as usize].clone();
                for tail in tails {
                    self.vertices[self.tails[tail as usize] as usize].outside += outside * share;
                }
            }
        }
    }
}

/// Ways by score, for a stack: the best is taken off first, of equal ones the first.
fn best_last<I: Input>(input: &I, ways: std::ops::Range<u32>) -> Vec<u32> {
    let mut ways: Vec<u32> = ways.rev().collect();
    ways.sort_by(|&a, &b| input.score(a).total_cmp(&input.score(b)));
    ways
}

fn expand<I: Input>(cut: &mut Cut, input: &I, way: u32, frontier: &Frontier) {
    cut.pieces.push(Piece::Open(way));
    cut.met.extend(input.children(way).iter().filter_map(|child| match *child {
        Child::Node(below) if frontier.closures[below.0 as usize].is_some() => Some(below),
        _ => None,
    }));
    cut.nodes += 1;
    cut.weight += input.score(way);
    cut.open.extend(input.children(way).iter().rev());
}

/// The ranges of target words that a frontier node can take; its own closure first.
fn ranges(
    (first, last): (u32, u32),
    is_root: bool,
    target_len: u32,
    frontier: &Frontier,
    attach: Attach,
) -> Vec<(u32, u32)> {
    match attach {
        Attach::Lowest | Attach::Exhaustive(_) if is_root => vec![(0, target_len)],
        Attach::Lowest | Attach::Inside => vec![(first, last + 1)],
        Attach::Exhaustive(most) => {
            let free = |position: &u32| frontier.is_free(*position);
            let before = (0..first).rev().take(most as usize).take_while(free).count() as u32;
            let after = (last + 1..target_len).take(most as usize).take_while(free).count() as u32;
            let ends = move |before| (0..=after).map(move |after| (first - before, last + 1 + after));
            (0..=before).flat_map(ends).collect()
        }
    }
}
