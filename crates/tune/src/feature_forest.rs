//! The derivations of one sentence with the features of their arcs.
//!
//! A search knows scores, not features. What an arc adds to the features is found by exchange: the best derivation
//! through the arc against the best derivation through the node that it makes, both replayed as translations of n-best
//! lists are.
//!
//! ```text
//! value(a) = T(O(h) a I(t1) .. I(tk)) - T(O(h) I(h)) = f(a) + g(t1) + .. + g(tk) - g(h)
//!
//! T  the features of a whole derivation        a  an arc that makes the node h from t1 .. tk
//! I  the best derivation of a node             f  what the arc really adds
//! O  the best surroundings of a node           g  the features of the best derivation of a node
//! ```
//!
//! In a derivation each node but the goal is made once and used once, so the values of its arcs add up to its
//! features less those of the best derivation; arcs of the goal get these on top. This holds for all that a node's
//! state determines, rules and language models alike, whichever search made the forest.

use std::ops::Range;

use sylvan_forest::EdgeId;
use sylvan_search::{OutArc, OutForest};

/// The text of a derivation, given its edges.
type ReadEdges = dyn Fn(&[EdgeId]) -> String + Send + Sync;

/// The derivations of one sentence. Nodes come with tails before heads; the goal is last.
pub struct FeatureForest {
    /// The arcs that make each node.
    nodes: Vec<Range<usize>>,
    arcs: Vec<FeatureArc>,
    tails: Vec<u32>,
    edges: Vec<EdgeId>,
    /// Number and value of features that are not 0.
    values: Vec<(u32, f64)>,
    text: Box<ReadEdges>,
}

/// Where its tails, edges and values end; they begin where those of the arc before it end.
#[derive(Debug, Clone, Copy, Default)]
struct FeatureArc {
    tails: usize,
    edges: usize,
    values: usize,
}

impl FeatureForest {
    /// What a search found, without arcs whose best derivation is more than `margin` below the best of all; a margin
    /// of infinity keeps everything.
    ///
    /// `values` gives the features of a whole derivation by number, `text` its translation as it is to be scored. Both
    /// get the derivation's edges as [`OutForest`] has them: tails first, arc by arc.
    pub fn new(
        out: &OutForest,
        margin: f64,
        mut values: impl FnMut(&[EdgeId]) -> Vec<f64>,
        text: impl Fn(&[EdgeId]) -> String + Send + Sync + 'static,
    ) -> Self {
        let best = Best::of(out);
        let least = best.inside[out.goal()] - margin;
        // Where each node is kept.
        let mut places: Vec<Option<u32>> = vec![None; out.nodes()];
        let mut forest = Self {
            nodes: Vec::new(),
            arcs: Vec::new(),
            tails: Vec::new(),
            edges: Vec::new(),
            values: Vec::new(),
            text: Box::new(text),
        };
        for &node in &best.order {
            let first = forest.arcs.len();
            let mut without = None;
            for (index, arc) in out.arcs(node).iter().enumerate() {
                let score = best.outside[node] + best.score(out, arc);
                // The best derivation is kept whatever the rounding.
                if score + 1e-9 * (1.0 + score.abs()) < least || !score.is_finite() {
                    continue;
                }
                let tails = out.tails(arc).iter().map(|&tail| places[tail as usize]);
                let Some(tails) = tails.collect::<Option<Vec<u32>>>() else { continue };
                forest.tails.extend(tails);
                forest.edges.extend_from_slice(out.edges(arc));
                if node == out.goal() {
                    forest.values.extend(differences(&values(&best.edges(out, node, index)), &[]));
                } else if index != best.arc[node] {
                    let without =
                        without.get_or_insert_with(|| values(&best.edges(out, node, best.arc[node])));
                    forest.values.extend(differences(&values(&best.edges(out, node, index)), without));
                }
                forest.arcs.push(FeatureArc {
                    tails: forest.tails.len(),
                    edges: forest.edges.len(),
                    values: forest.values.len(),
                });
            }
            if forest.arcs.len() > first {
                places[node] = Some(forest.nodes.len() as u32);
                forest.nodes.push(first..forest.arcs.len());
            }
        }
        forest
    }

    /// The edges of each arc, node by node.
    pub fn arcs(&self) -> impl ExactSizeIterator<Item = &[EdgeId]> {
        (0..self.arcs.len()).map(|arc| self.edges(arc))
    }

    /// The arcs of each node, tails first; the goal is last.
    pub(crate) fn nodes(&self) -> &[Range<usize>] {
        &self.nodes
    }

    fn before(&self, arc: usize) -> FeatureArc {
        arc.checked_sub(1).map_or(FeatureArc::default(), |before| self.arcs[before])
    }

    /// The nodes that an arc starts from.
    pub(crate) fn tails(&self, arc: usize) -> &[u32] {
        &self.tails[self.before(arc).tails..self.arcs[arc].tails]
    }

    /// The edges of an arc.
    pub(crate) fn edges(&self, arc: usize) -> &[EdgeId] {
        &self.edges[self.before(arc).edges..self.arcs[arc].edges]
    }

    /// For each arc the sum of its values times weights.
    pub(crate) fn products<'w>(
        &'w self,
        weight: impl Fn(usize) -> f64 + 'w,
    ) -> impl Iterator<Item = f64> + 'w {
        let mut first = 0;
        self.arcs.iter().map(move |arc| {
            let values = &self.values[first..arc.values];
            first = arc.values;
            values.iter().map(|&(number, value)| value * weight(number as usize)).sum()
        })
    }

    /// The translation of a derivation.
    pub fn text(&self, edges: &[EdgeId]) -> String {
        (self.text)(edges)
    }
}

impl std::fmt::Debug for FeatureForest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FeatureForest of {} arcs", self.arcs.len())
    }
}

/// Differences that are smaller than this beside what they are the difference of are rounding.
const ROUNDING: f64 = 1e-11;

/// What differs, by number.
fn differences<'v>(values: &'v [f64], without: &'v [f64]) -> impl Iterator<Item = (u32, f64)> + 'v {
    let differences = values.iter().enumerate().map(|(number, &value)| {
        let without = without.get(number).copied().unwrap_or(0.0);
        let same = (value - without).abs() <= ROUNDING * value.abs();
        (number as u32, if same { 0.0 } else { value - without })
    });
    differences.filter(|(_, value)| *value != 0.0)
}

/// The best derivations through each node.
struct Best {
    /// The nodes below the goal, tails first; the goal is last.
    order: Vec<usize>,
    /// The score of each node's best derivation, and its last arc.
    inside: Vec<f64>,
    arc: Vec<usize>,
    /// The score of each node's best surroundings, and what they are: node, arc and tail.
    outside: Vec<f64>,
    above: Vec<Option<(usize, usize, usize)>>,
}

impl Best {
    fn of(out: &OutForest) -> Self {
        let none = vec![f64::NEG_INFINITY; out.nodes()];
        let (arc, above) = (vec![0; out.nodes()], vec![None; out.nodes()]);
        let mut best = Self { order: tails_first(out), inside: none.clone(), arc, outside: none, above };
        for place in 0..best.order.len() {
            let node = best.order[place];
            for (index, arc) in out.arcs(node).iter().enumerate() {
                let score = best.score(out, arc);
                if score > best.inside[node] {
                    (best.inside[node], best.arc[node]) = (score, index);
                }
            }
        }
        best.outside[out.goal()] = 0.0;
        for place in (0..best.order.len()).rev() {
            let node = best.order[place];
            for (index, arc) in out.arcs(node).iter().enumerate() {
                let whole = best.outside[node] + best.score(out, arc);
                for (number, &tail) in out.tails(arc).iter().enumerate() {
                    let tail = tail as usize;
                    let rest = whole - best.inside[tail];
                    if rest > best.outside[tail] {
                        (best.outside[tail], best.above[tail]) = (rest, Some((node, index, number)));
                    }
                }
            }
        }
        best
    }

    /// The score of the best derivation that ends with an arc.
    fn score(&self, out: &OutForest, arc: &OutArc) -> f64 {
        arc.score + out.tails(arc).iter().map(|&tail| self.inside[tail as usize]).sum::<f64>()
    }

    /// The edges of the best derivation through an arc of a node, tails first, arc by arc.
    fn edges(&self, out: &OutForest, node: usize, arc: usize) -> Vec<EdgeId> {
        // From the node up to the goal: which arc, and which of its tails leads down to the node.
        let mut way = vec![(arc, None)];
        let mut at = node;
        while let Some((above, arc, tail)) = self.above[at] {
            way.push((arc, Some(tail)));
            at = above;
        }
        let mut edges = Vec::new();
        // Read backwards: a node's own edges are last, then its last tail's.
        let mut open = vec![(out.goal(), way.pop())];
        while let Some((node, step)) = open.pop() {
            let (arc, down) = step.unwrap_or((self.arc[node], None));
            let arc = &out.arcs(node)[arc];
            edges.extend(out.edges(arc).iter().rev());
            for (number, &tail) in out.tails(arc).iter().enumerate() {
                let step = if down == Some(number) { way.pop() } else { None };
                open.push((tail as usize, step));
            }
        }
        edges.reverse();
        edges
    }
}

/// The nodes below the goal, tails first; the goal is last.
fn tails_first(out: &OutForest) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = vec![false; out.nodes()];
    let mut open = vec![(out.goal(), 0)];
    seen[out.goal()] = true;
    while let Some((node, arc)) = open.last_mut() {
        let Some(next) = out.arcs(*node).get(*arc) else {
            order.push(*node);
            open.pop();
            continue;
        };
        // One tail at a time: the next one may stand below it, too.
        match out.tails(next).iter().find(|&&tail| !seen[tail as usize]) {
            Some(&tail) => {
                seen[tail as usize] = true;
                open.push((tail as usize, 0));
            }
            None => *arc += 1,
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_by_rounding_does_not_differ() {
        let sparse = |values: &[f64], without: &[f64]| differences(values, without).collect::<Vec<_>>();
        let rounded = 0.1 + 0.2;
        assert!(rounded != 0.3);
        assert_eq!(sparse(&[rounded, 1e6 * rounded, 0.0], &[0.3, 3e5, 0.0]), []);
        assert_eq!(
            sparse(&[1e-6, 2.0, -1.0, 0.5], &[0.0, 0.5, 0.0]),
            [(0, 1e-6), (1, 1.5), (2, -1.0), (3, 0.5)]
        );
        assert_eq!(sparse(&[0.0], &[0.25]), [(0, -0.25)]);
    }
}
