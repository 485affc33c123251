//! Lazy k-best derivations of an out-forest (Huang & Chiang 2005, algorithm 3).
//!
//! Each node keeps its best derivations found so far and a queue of candidates. The next best of a node is the head
//! of its queue; only then are that one's successors made, each by taking the next best of one tail. So the work is
//! what the list needs, not what the forest holds.
//!
//! If translations with the same words count as one, each node lists only the best derivation of each sequence of words:
//! what is made from a worse one has the same words as what is made from the best. So the many ways to cut a
//! sentence into rules are left out where they are, instead of being listed and thrown away.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use sylvan_base::HashSet;
use sylvan_base::hash::fold;
use sylvan_forest::{EdgeId, Target, TranslationForest};

use crate::out_forest::{OutArc, OutForest, Words};
use crate::said::Said;
use crate::total::Total;

/// A derivation of a node; ordered by score, then by content, then by what it is made of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Ranked {
    score: Total,
    hash: Reverse<u64>,
    made: Reverse<Made>,
    /// Its words, if those matter.
    said: Said,
}

/// An arc, and which derivation of each tail.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Made {
    arc: u32,
    ranks: Box<[u32]>,
}

#[derive(Debug, Default)]
struct Node {
    best: Vec<Ranked>,
    queue: BinaryHeap<Ranked>,
    /// The last that left the queue, until its successors are there.
    last: Option<Made>,
    /// The words of `best`, if those matter.
    seen: HashSet<Said>,
}

/// The derivations of an out-forest's goal, best first.
#[derive(Debug)]
pub struct KBest<'f> {
    forest: &'f OutForest,
    nodes: Vec<Node>,
    next: usize,
    /// The target sides of edges, if words matter.
    sides: Option<&'f TranslationForest>,
}

impl<'f> KBest<'f> {
    /// Finds the best derivation of every node below the goal.
    pub fn new(forest: &'f OutForest) -> Self {
        Self::of(forest, None)
    }

    /// The same, but of derivations with the same words only the best. The edges are those of `sides`.
    pub fn distinct(forest: &'f OutForest, sides: &'f TranslationForest) -> Self {
        Self::of(forest, Some(sides))
    }

    fn of(forest: &'f OutForest, sides: Option<&'f TranslationForest>) -> Self {
        let nodes = (0..forest.nodes()).map(|_| Node::default()).collect();
        let mut lists = Self { forest, nodes, next: 0, sides };
        for node in lists.below_goal() {
            lists.start(node);
        }
        lists
    }

    /// The nodes that the goal can be made from, tails before heads.
    fn below_goal(&self) -> Vec<usize> {
        let mut order = Vec::new();
        let mut seen = vec![false; self.forest.nodes()];
        // A node with the next of its arcs to look at.
        let mut open = vec![(self.forest.goal(), 0)];
        seen[self.forest.goal()] = true;
        while let Some((node, arc)) = open.last_mut() {
            let Some(next) = self.forest.arcs(*node).get(*arc) else {
                order.push(*node);
                open.pop();
                continue;
            };
            // One tail at a time: the next one may be below it, too.
            match self.forest.tails(next).iter().find(|&&tail| !seen[tail as usize]) {
                Some(&tail) => {
                    seen[tail as usize] = true;
                    open.push((tail as usize, 0));
                }
                None => *arc += 1,
            }
        }
        order
    }

    fn start(&mut self, node: usize) {
        for (index, arc) in self.forest.arcs(node).iter().enumerate() {
            let ranks = vec![0; self.forest.tails(arc).len()].into_boxed_slice();
            if let Some(ranked) = self.candidate(node, index as u32, ranks) {
                self.nodes[node].queue.push(ranked);
            }
        }
        self.take(node);
    }

    /// A derivation from known derivations of the tails; `None` if one of them is not known.
    fn candidate(&self, node: usize, arc: u32, ranks: Box<[u32]>) -> Option<Ranked> {
        let made = &self.forest.arcs(node)[arc as usize];
        let (mut score, mut hash) = (made.score, 0);
        for (&tail, &rank) in self.forest.tails(made).iter().zip(&*ranks) {
            let below = self.nodes[tail as usize].best.get(rank as usize)?;
            score += below.score.0;
            hash = fold(hash, below.hash.0);
        }
        let hash = Reverse(fold(hash, made.hash));
        let said = self.sides.map_or(Said::NOTHING, |sides| self.said(made, &ranks, sides));
        Some(Ranked { score: Total(score), hash, made: Reverse(Made { arc, ranks }), said })
    }

    /// The words of an arc with known derivations of its tails.
    fn said(&self, arc: &OutArc, ranks: &[u32], sides: &TranslationForest) -> Said {
        let tails = self.forest.tails(arc).iter().zip(ranks);
        let mut tails = tails.map(|(&tail, &rank)| self.nodes[tail as usize].best[rank as usize].said);
        match arc.words {
            Words::After(last) => tails.fold(Said::NOTHING, Said::then).then(last),
            Words::Around => {
                let target = self.forest.edges(arc).iter().flat_map(|&edge| sides.target(edge));
                let part = |&symbol: &Target| match symbol {
                    Target::Bundle(bundle) => Said::bundles(sides, &[bundle]),
                    Target::Vertex(_) => tails.next().unwrap_or(Said::NOTHING),
                };
                target.map(part).fold(Said::NOTHING, Said::then)
            }
        }
    }

    /// Moves the head of a node's queue to its list, unless its words are there already.
    fn take(&mut self, node: usize) {
        let is_any = self.sides.is_none();
        let node = &mut self.nodes[node];
        if let Some(best) = node.queue.pop() {
            node.last = Some(best.made.0.clone());
            if is_any || node.seen.insert(best.said) {
                node.best.push(best);
            }
        }
    }

    fn is_known(&self, node: usize, rank: usize) -> bool {
        let Node { best, queue, last, .. } = &self.nodes[node];
        best.len() > rank || (last.is_none() && queue.is_empty())
    }

    /// Makes a node's list long enough for `rank`, if it has that many.
    fn ensure(&mut self, node: usize, rank: usize) {
        let mut tasks = vec![(node, rank)];
        while let Some(&(node, rank)) = tasks.last() {
            if self.is_known(node, rank) {
                tasks.pop();
                continue;
            }
            if let Some(last) = &self.nodes[node].last {
                let arc = &self.forest.arcs(node)[last.arc as usize];
                let tails = self.forest.tails(arc);
                // Each combination has one predecessor: only tails from the last advanced one on move.
                let first = last.ranks.iter().rposition(|&rank| rank > 0).unwrap_or(0);
                let missing = (first..tails.len())
                    .map(|axis| (tails[axis] as usize, last.ranks[axis] as usize + 1))
                    .find(|&(tail, rank)| !self.is_known(tail, rank));
                if let Some(task) = missing {
                    tasks.push(task);
                    continue;
                }
                let last = last.clone();
                for axis in first..tails.len() {
                    let mut ranks = last.ranks.clone();
                    ranks[axis] += 1;
                    if let Some(ranked) = self.candidate(node, last.arc, ranks) {
                        self.nodes[node].queue.push(ranked);
                    }
                }
                self.nodes[node].last = None;
            }
            self.take(node);
        }
    }

    /// The edges of one derivation, tails first, arc by arc.
    fn edges(&self, node: usize, rank: usize) -> Vec<EdgeId> {
        // Read backwards: a node's own edges are last, then its last tail's.
        let mut edges = Vec::new();
        let mut open = vec![(node, rank)];
        while let Some((node, rank)) = open.pop() {
            let made = &self.nodes[node].best[rank].made.0;
            let arc = &self.forest.arcs(node)[made.arc as usize];
            edges.extend(self.forest.edges(arc).iter().rev());
            open.extend(
                self.forest.tails(arc).iter().zip(&*made.ranks).map(|(&t, &r)| (t as usize, r as usize)),
            );
        }
        edges.reverse();
        edges
    }
}

/// Score and edges, best first.
impl Iterator for KBest<'_> {
    type Item = (f64, Vec<EdgeId>);

    fn next(&mut self) -> Option<Self::Item> {
        let goal = self.forest.goal();
        self.ensure(goal, self.next);
        let score = self.nodes[goal].best.get(self.next)?.score.0;
        let edges = self.edges(goal, self.next);
        self.next += 1;
        Some((score, edges))
    }
}
