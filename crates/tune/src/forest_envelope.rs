//! The upper envelope of all derivations of a forest, without spelling them out (Kumar et al. 2009).
//!
//! The paper builds an envelope for each node from those of its tails: sums, then hulls. Of all these lines few reach
//! the goal. Here the goal's envelope is found from its corners (Eisner & Severance 1976): where two known lines meet,
//! the best derivation is either on one of them, and then there is nothing between the two, or it is a new line, which
//! parts the problem in two. Each question costs one pass over the arcs, and there are about two per line.

use sylvan_forest::EdgeId;

use crate::envelope::{Line, upper_envelope};
use crate::feature_forest::FeatureForest;

/// A derivation that wins somewhere along a line through weight space.
#[derive(Debug, Clone, PartialEq)]
pub struct Winner {
    /// From where on; minus infinity for the first.
    pub start: f64,
    /// Its score.
    pub line: Line,
    /// Its edges, tails first, arc by arc.
    pub edges: Vec<EdgeId>,
}

/// The winners of a forest along `weights + gamma * direction`, left to right. A feature without a weight weighs 0.
pub fn winners(forest: &FeatureForest, weights: &[f64], direction: &[f64]) -> Vec<Winner> {
    let of = |vector: &[f64], feature: usize| vector.get(feature).copied().unwrap_or(0.0);
    let (slopes, intercepts) =
        (forest.products(|feature| of(direction, feature)), forest.products(|feature| of(weights, feature)));
    let lines: Vec<Line> =
        slopes.zip(intercepts).map(|(slope, intercept)| Line { slope, intercept }).collect();
    winners_of(forest, &lines)
}

/// The winners of a forest whose arcs have these lines.
pub(crate) fn winners_of(forest: &FeatureForest, lines: &[Line]) -> Vec<Winner> {
    let mut passes = Passes { forest, lines, best: vec![(NOWHERE, 0); forest.nodes().len()] };
    let flat = |line: &Line| (line.slope, line.intercept);
    let Some(first) = passes.best(|a, b| (-a.slope, a.intercept) > (-b.slope, b.intercept)) else {
        return Vec::new();
    };
    let mut found = vec![first];
    found.extend(passes.best(|a, b| flat(a) > flat(b)));
    let mut open = vec![(0, 1)];
    while let Some((left, right)) = open.pop() {
        let (a, b): (Line, Line) = (found[left].0, found[right].0);
        if b.slope <= a.slope {
            continue;
        }
        let at = (a.intercept - b.intercept) / (b.slope - a.slope);
        let height = |line: &Line| line.slope * at + line.intercept;
        let Some(top) = passes.best(|a, b| height(a) > height(b)) else { continue };
        let size = 1.0 + (a.slope * at).abs() + a.intercept.abs();
        if height(&top.0) - height(&a) > ABOVE * size {
            let middle = found.len();
            found.push(top);
            open.extend([(left, middle), (middle, right)]);
        }
    }
    let lines: Vec<Line> = found.iter().map(|(line, _)| *line).collect();
    let mut segments = Vec::new();
    upper_envelope(&lines, &mut segments);
    let winner = |segment: &crate::envelope::Segment| {
        let (line, edges) = &mut found[segment.line];
        Winner { start: segment.start, line: *line, edges: std::mem::take(edges) }
    };
    segments.iter().map(winner).collect()
}

/// A line that is above another by less than this beside its size is not above it: sums are rounded.
const ABOVE: f64 = 1e-11;

/// What every line is better than.
const NOWHERE: Line = Line { slope: f64::NAN, intercept: f64::NAN };

/// Searches for best derivations.
struct Passes<'f> {
    forest: &'f FeatureForest,
    lines: &'f [Line],
    /// The best derivation of each node and its last arc.
    best: Vec<(Line, usize)>,
}

impl Passes<'_> {
    /// The best derivation of the goal; the first of equals at each node.
    fn best(&mut self, better: impl Fn(&Line, &Line) -> bool) -> Option<(Line, Vec<EdgeId>)> {
        for (node, arcs) in self.forest.nodes().iter().enumerate() {
            let mut best: Option<(Line, usize)> = None;
            for arc in arcs.clone() {
                let line = self.forest.tails(arc).iter().fold(self.lines[arc], |sum, &tail| {
                    let Line { slope, intercept } = self.best[tail as usize].0;
                    Line { slope: sum.slope + slope, intercept: sum.intercept + intercept }
                });
                if best.as_ref().is_none_or(|(held, _)| better(&line, held)) {
                    best = Some((line, arc));
                }
            }
            self.best[node] = best.unwrap_or((NOWHERE, 0));
        }
        let goal = self.best.len().checked_sub(1)?;
        Some((self.best[goal].0, self.edges(goal)))
    }

    fn edges(&self, goal: usize) -> Vec<EdgeId> {
        let mut edges = Vec::new();
        let mut open = vec![goal];
        // Read backwards: an arc's own edges are last, then its last tail's.
        while let Some(node) = open.pop() {
            let arc = self.best[node].1;
            edges.extend(self.forest.edges(arc).iter().rev());
            open.extend(self.forest.tails(arc).iter().map(|&tail| tail as usize));
        }
        edges.reverse();
        edges
    }
}
