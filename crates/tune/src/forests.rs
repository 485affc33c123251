//! Forests as a space for line searches: all derivations at once instead of a list of the best (Kumar et al. 2009).
//!
//! | paper | here |
//! |---|---|
//! | envelope of a vertex | `envelopes[node]`: segments, each a line and how it was made |
//! | Minkowski sum | [`join`]: breakpoints merge, slopes and intercepts add up |
//! | union and its upper hull | [`upper_envelope`] over the lines of all arcs |
//!
//! A forest here knows arcs and features only. What a derivation, given as a list of arcs, contributes to the metric is
//! up to the forest's maker.

use sylvan_eval::Metric;
use sylvan_search::OutForest;

use crate::envelope::{Line, Segment, upper_envelope};
use crate::line_search::{Direction, Space};
use crate::pool::Values;

/// A node's arcs, by number.
type Arcs = std::ops::Range<usize>;

/// The derivations of one sentence with the features of their arcs.
#[derive(Debug, Clone, Default)]
pub struct FeatureForest {
    /// Nodes with tails before heads; the goal is last.
    nodes: Vec<Arcs>,
    arcs: Vec<FeatureArc>,
}

#[derive(Debug, Clone)]
struct FeatureArc {
    tails: Vec<usize>,
    values: Values,
    /// The number of the arc for the forest's maker.
    name: usize,
}

impl FeatureForest {
    /// What a search found, without arcs whose best derivation is more than `margin` below the best of all.
    /// `values` gives an arc's features; arcs are named by their position in the order of nodes.
    ///
    /// Scores are those of the search, so a margin of infinity keeps all.
    pub fn new(out: &OutForest, margin: f64, mut values: impl FnMut(usize) -> Values) -> Self {
        let order = tails_first(out);
        let mut first_arc = vec![0; out.nodes() + 1];
        for node in 0..out.nodes() {
            first_arc[node + 1] = first_arc[node] + out.arcs(node).len();
        }
        let mut inside = vec![f64::NEG_INFINITY; out.nodes()];
        let arc_score = |arc: &sylvan_search::OutArc, inside: &[f64]| {
            arc.score + out.tails(arc).iter().map(|&tail| inside[tail as usize]).sum::<f64>()
        };
        for &node in &order {
            inside[node] =
                out.arcs(node).iter().map(|arc| arc_score(arc, &inside)).fold(f64::NEG_INFINITY, f64::max);
        }
        let mut outside = vec![f64::NEG_INFINITY; out.nodes()];
        outside[out.goal()] = 0.0;
        for &node in order.iter().rev() {
            for arc in out.arcs(node) {
                let whole = outside[node] + arc_score(arc, &inside);
                for &tail in out.tails(arc) {
                    let rest = whole - inside[tail as usize];
                    outside[tail as usize] = outside[tail as usize].max(rest);
                }
            }
        }
        let least = inside[out.goal()] - margin;
        let mut place = vec![usize::MAX; out.nodes()];
        let mut forest = Self::default();
        for &node in &order {
            let first = forest.arcs.len();
            for (index, arc) in out.arcs(node).iter().enumerate() {
                let score = outside[node] + arc_score(arc, &inside);
                // The best derivation is kept whatever the rounding.
                if score + 1e-9 * (1.0 + score.abs()) < least || !score.is_finite() {
                    continue;
                }
                let tails: Vec<usize> = out.tails(arc).iter().map(|&tail| place[tail as usize]).collect();
                if tails.contains(&usize::MAX) {
                    continue;
                }
                let name = first_arc[node] + index;
                forest.arcs.push(FeatureArc { tails, values: values(name), name });
            }
            if forest.arcs.len() > first {
                place[node] = forest.nodes.len();
                forest.nodes.push(first..forest.arcs.len());
            }
        }
        forest
    }

    /// How many arcs there are.
    pub fn arcs(&self) -> usize {
        self.arcs.len()
    }

    /// The winners along a line: where each begins, its line, and the names of its arcs, tails first.
    fn winners(&self, weights: &[f64], direction: &[f64]) -> Vec<(f64, Line, Vec<usize>)> {
        // How each line was made: arc and the lines of its tails; numbered through all nodes.
        let mut made: Vec<(usize, Vec<usize>)> = Vec::new();
        let mut envelopes: Vec<Vec<Step>> = Vec::with_capacity(self.nodes.len());
        let mut segments = Vec::new();
        for node in &self.nodes {
            let mut steps: Vec<(Line, usize, Vec<usize>)> = Vec::new();
            for number in node.clone() {
                let arc = &self.arcs[number];
                let own = Line { slope: arc.values.dot(direction), intercept: arc.values.dot(weights) };
                for (line, below) in join(own, arc.tails.iter().map(|&tail| envelopes[tail].as_slice())) {
                    steps.push((line, number, below));
                }
            }
            let lines: Vec<Line> = steps.iter().map(|(line, ..)| *line).collect();
            upper_envelope(&lines, &mut segments);
            let mut envelope = Vec::with_capacity(segments.len());
            for &Segment { start, line } in &segments {
                let (value, arc, below) = &mut steps[line];
                envelope.push(Step { start, line: *value, made: made.len() });
                made.push((*arc, std::mem::take(below)));
            }
            envelopes.push(envelope);
        }
        let goal = envelopes.last().map(Vec::as_slice).unwrap_or_default();
        goal.iter().map(|step| (step.start, step.line, self.names(&made, step.made))).collect()
    }

    /// The arcs of one line, tails first.
    fn names(&self, made: &[(usize, Vec<usize>)], line: usize) -> Vec<usize> {
        let mut names = Vec::new();
        let mut open = vec![line];
        // Read backwards: an arc, then its last tail's.
        while let Some(line) = open.pop() {
            let (arc, below) = &made[line];
            names.push(self.arcs[*arc].name);
            open.extend(below);
        }
        names.reverse();
        names
    }
}

/// A line of an envelope.
#[derive(Debug, Clone, Copy)]
struct Step {
    start: f64,
    line: Line,
    /// How it was made.
    made: usize,
}

/// The Minkowski sum of a line and envelopes: lines in order, each with the lines that it was made of.
fn join<'e>(own: Line, tails: impl Iterator<Item = &'e [Step]>) -> Vec<(Line, Vec<usize>)> {
    let mut sum = vec![(f64::NEG_INFINITY, own, Vec::new())];
    for tail in tails {
        let mut next = Vec::with_capacity(sum.len() + tail.len());
        let (mut a, mut b) = (0, 0);
        while let (Some((start, line, below)), Some(step)) = (sum.get(a), tail.get(b)) {
            let mut below: Vec<usize> = below.clone();
            below.push(step.made);
            let line =
                Line { slope: line.slope + step.line.slope, intercept: line.intercept + step.line.intercept };
            next.push((start.max(step.start), line, below));
            let (after_a, after_b) =
                (sum.get(a + 1).map(|next| next.0), tail.get(b + 1).map(|next| next.start));
            match (after_a, after_b) {
                (None, None) => break,
                (Some(_), None) => a += 1,
                (None, Some(_)) => b += 1,
                (Some(x), Some(y)) => {
                    a += usize::from(x <= y);
                    b += usize::from(y <= x);
                }
            }
        }
        sum = next;
    }
    sum.into_iter().map(|(_, line, below)| (line, below)).collect()
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

/// What a derivation, given as the names of its arcs, contributes to the metric.
pub trait Judge<S>: Sync {
    /// Its statistics, in forest number `forest` of sentence `sentence`.
    fn stats(&self, sentence: usize, forest: usize, arcs: &[usize]) -> S;
}

/// Forests of all sentences. A sentence may have several, from several rounds: its translations are those of all.
pub struct Forests<'f, M: Metric, J> {
    metric: &'f M,
    judge: &'f J,
    dimensions: usize,
    sentences: &'f [Vec<FeatureForest>],
}

impl<'f, M: Metric, J: Judge<M::Stats>> Forests<'f, M, J> {
    /// Forests with `dimensions` features.
    pub fn new(metric: &'f M, judge: &'f J, dimensions: usize, sentences: &'f [Vec<FeatureForest>]) -> Self {
        Self { metric, judge, dimensions, sentences }
    }
}

impl<M: Metric, J> std::fmt::Debug for Forests<'_, M, J> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Forests of {} sentences", self.sentences.len())
    }
}

impl<M: Metric, J: Judge<M::Stats>> Space for Forests<'_, M, J> {
    type Metric = M;
    type Prepared = Vec<f64>;

    fn metric(&self) -> &M {
        self.metric
    }

    fn sentences(&self) -> usize {
        self.sentences.len()
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn prepare(&self, weights: &[f64]) -> Vec<f64> {
        weights.to_vec()
    }

    fn winners(
        &self,
        sentence: usize,
        prepared: &Vec<f64>,
        direction: &Direction,
        out: &mut Vec<(Segment, M::Stats)>,
    ) {
        let vector: Vec<f64> = (0..self.dimensions).map(|feature| direction.of(feature)).collect();
        let mut all = Vec::new();
        for (number, forest) in self.sentences[sentence].iter().enumerate() {
            all.extend(forest.winners(prepared, &vector).into_iter().map(|winner| (number, winner)));
        }
        let lines: Vec<Line> = all.iter().map(|(_, (_, line, _))| *line).collect();
        let mut segments = Vec::new();
        upper_envelope(&lines, &mut segments);
        out.extend(segments.into_iter().map(|segment| {
            let (forest, (_, _, arcs)) = &all[segment.line];
            (segment, self.judge.stats(sentence, *forest, arcs))
        }));
    }
}
