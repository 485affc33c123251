//! Small tuning problems, and line searches and error-rate training on them as their definitions say: every interval,
//! every translation, one after the other. Nothing of the crate is used for it.

use std::ops::{AddAssign, SubAssign};

use sylvan_base::{Rng, Symbol};
use sylvan_eval::{Better, Metric, Workspace};
use sylvan_tune::{Candidate, Pool, Values};

/// Edits per reference word; a translation is written as `edits/words`, and nothing as nothing.
#[derive(Debug)]
pub struct Edits;

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct EditStats {
    pub edits: u64,
    pub words: u64,
}

impl AddAssign for EditStats {
    fn add_assign(&mut self, other: Self) {
        self.edits += other.edits;
        self.words += other.words;
    }
}

impl SubAssign for EditStats {
    fn sub_assign(&mut self, other: Self) {
        self.edits -= other.edits;
        self.words -= other.words;
    }
}

impl Metric for Edits {
    type Stats = EditStats;
    fn name(&self) -> String {
        "edits".into()
    }
    fn better(&self) -> Better {
        Better::Lower
    }
    fn line(&self, hypothesis: &str, _: &[&str], _: &mut Workspace) -> EditStats {
        let (edits, words) = hypothesis.split_once('/').unwrap_or(("0", "0"));
        EditStats { edits: edits.parse().unwrap(), words: words.parse().unwrap() }
    }
    fn value(&self, total: &EditStats) -> f64 {
        total.edits as f64 / total.words.max(1) as f64
    }
    fn signature(&self, _: usize) -> String {
        String::new()
    }
}

/// A translation.
#[derive(Debug, Clone, PartialEq)]
pub struct Hypothesis {
    pub edits: u64,
    pub words: u64,
    pub values: Vec<f64>,
}

impl Hypothesis {
    pub fn score(&self, weights: &[f64]) -> f64 {
        self.values.iter().zip(weights).map(|(value, weight)| value * weight).sum()
    }

    pub fn candidate(&self) -> Candidate {
        candidate(format!("{}/{}", self.edits, self.words), &self.values)
    }
}

pub fn candidate(text: String, values: &[f64]) -> Candidate {
    let named = values.iter().enumerate().map(|(number, &value)| (Symbol(number as u32), value));
    Candidate { text, values: Values::new(named) }
}

/// The translations of each sentence.
#[derive(Debug, Clone)]
pub struct Problem(pub Vec<Vec<Hypothesis>>);

impl Problem {
    /// From edits, words and features.
    pub fn of(sentences: &[&[(u64, u64, &[f64])]]) -> Self {
        let one = |&(edits, words, values): &(u64, u64, &[f64])| Hypothesis {
            edits,
            words,
            values: values.to_vec(),
        };
        Self(sentences.iter().map(|list| list.iter().map(one).collect()).collect())
    }

    /// Features are whole numbers, so that lines are often parallel or the same, meet in 0, and metrics are equal.
    pub fn with_ties(rng: &mut Rng, features: usize) -> Self {
        let one = |rng: &mut Rng| Hypothesis {
            edits: rng.below(4) as u64,
            words: 4,
            values: (0..features).map(|_| rng.below(5) as f64 - 2.0).collect(),
        };
        let sentences = 1 + rng.below(3);
        Self((0..sentences).map(|_| (0..1 + rng.below(6)).map(|_| one(rng)).collect()).collect())
    }

    /// Hardly anything is equal.
    pub fn random(rng: &mut Rng, sentences: usize, most: usize) -> Self {
        let value = |rng: &mut Rng| (rng.below(2001) as f64 - 1000.0) / 64.0;
        let one = |rng: &mut Rng| Hypothesis {
            edits: rng.below(6) as u64,
            words: 5,
            values: (0..3).map(|_| value(rng)).collect(),
        };
        Self((0..sentences).map(|_| (0..1 + rng.below(most)).map(|_| one(rng)).collect()).collect())
    }

    /// The crate's view of the problem.
    pub fn pool(&self) -> Pool<'static, Edits> {
        let mut pool = Pool::new(&Edits, self.0.iter().map(|_| vec![String::new()]).collect());
        for (number, list) in self.0.iter().enumerate() {
            let added = pool.add(number, list.iter().map(Hypothesis::candidate).collect());
            assert!(added <= list.len());
        }
        pool
    }

    /// The metric of these translations, turned so that more is better.
    pub fn gain_of(&self, chosen: &[usize]) -> f64 {
        let chosen = || self.0.iter().zip(chosen).map(|(list, &index)| &list[index]);
        let (edits, words) = (chosen().map(|h| h.edits).sum::<u64>(), chosen().map(|h| h.words).sum::<u64>());
        -(edits as f64 / words as f64)
    }

    /// The metric with these weights: in each sentence the first of the best wins.
    pub fn gain(&self, weights: &[f64]) -> f64 {
        let winners = self.0.iter().map(|list| first_of_best(list.iter().map(|h| h.score(weights))));
        self.gain_of(&winners.collect::<Vec<_>>())
    }

    /// All intervals in which no winner changes, left to right, with the metric in each.
    pub fn intervals(&self, weights: &[f64], direction: &[f64]) -> Vec<Interval> {
        let lines: Vec<Vec<(f64, f64)>> = self
            .0
            .iter()
            .map(|list| list.iter().map(|h| (h.score(direction), h.score(weights))).collect())
            .collect();
        let mut ends: Vec<f64> = lines.iter().flat_map(|lines| crossings(lines)).collect();
        ends.sort_by(f64::total_cmp);
        ends.push(f64::INFINITY);
        // Nobody can stand between two steps that differ by rounding.
        ends.dedup_by(|next, before| *next - *before < 1e-9);
        let mut found: Vec<(Interval, Vec<usize>)> = Vec::new();
        let mut start = f64::NEG_INFINITY;
        for end in ends {
            let inside = inside(start, end);
            let winners: Vec<usize> =
                lines.iter().map(|lines| first_of_best(lines.iter().map(|(a, b)| a * inside + b))).collect();
            match found.last_mut() {
                Some((last, before)) if *before == winners => last.end = end,
                _ => found.push((Interval { start, end, gain: self.gain_of(&winners) }, winners)),
            }
            start = end;
        }
        found.into_iter().map(|(interval, _)| interval).collect()
    }

    /// The best point of a line: gamma and gain.
    pub fn line_search(&self, weights: &[f64], direction: &[f64]) -> (f64, f64) {
        let all = self.intervals(weights, direction);
        let top = all.iter().map(|interval| interval.gain).fold(f64::NEG_INFINITY, f64::max);
        let best: Vec<Interval> = all.into_iter().filter(|interval| interval.gain == top).collect();
        let with_zero = best.iter().find(|interval| interval.start < 0.0 && 0.0 < interval.end);
        let widest = best.iter().map(Interval::width).fold(0.0, f64::max);
        let mut wide = best.iter().filter(|interval| interval.width() == widest);
        let Interval { start, end, .. } = with_zero.unwrap_or_else(|| wide.next().unwrap());
        let gamma = match (start.is_infinite(), end.is_infinite()) {
            (true, true) => 0.0,
            // Well inside is a tenth from the end.
            (true, false) if end - 0.1 > 0.0 => 0.0,
            (true, false) => end - 0.1,
            (false, true) if start + 0.1 < 0.0 => 0.0,
            (false, true) => start + 0.1,
            (false, false) => (start + end) / 2.0,
        };
        (gamma, top)
    }

    /// Error-rate training along features: the best line of each step, the first of equals, until nothing gains.
    pub fn climb(&self, start: &[f64], free: &[bool]) -> (Vec<f64>, f64) {
        let (mut weights, mut gain) = (start.to_vec(), f64::NEG_INFINITY);
        loop {
            let mut best: Option<(usize, f64, f64)> = None;
            for axis in (0..weights.len()).filter(|&axis| free[axis]) {
                let direction: Vec<f64> =
                    (0..weights.len()).map(|f| if f == axis { 1.0 } else { 0.0 }).collect();
                let (gamma, found) = self.line_search(&weights, &direction);
                if best.is_none_or(|(_, _, held)| found > held) {
                    best = Some((axis, gamma, found));
                }
            }
            match best {
                Some((axis, gamma, found)) if found > gain + 1e-7 => {
                    gain = found;
                    weights[axis] += gamma;
                }
                _ => return (weights, gain),
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub start: f64,
    pub end: f64,
    pub gain: f64,
}

impl Interval {
    fn width(&self) -> f64 {
        self.end - self.start
    }
}

/// Where any two lines meet.
pub fn crossings(lines: &[(f64, f64)]) -> Vec<f64> {
    let pairs = lines.iter().flat_map(|a| lines.iter().map(move |b| (a, b)));
    pairs.filter(|(a, b)| a.0 > b.0).map(|(a, b)| (b.1 - a.1) / (a.0 - b.0)).collect()
}

/// A point inside an interval.
pub fn inside(start: f64, end: f64) -> f64 {
    match (start.is_infinite(), end.is_infinite()) {
        (true, true) => 0.0,
        (true, false) => end - 1.0,
        (false, true) => start + 1.0,
        (false, false) => (start + end) / 2.0,
    }
}

pub fn first_of_best(scores: impl Iterator<Item = f64>) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (index, score) in scores.enumerate() {
        if score > best.1 {
            best = (index, score);
        }
    }
    best.0
}

/// The sum of absolute values.
pub fn length(weights: &[f64]) -> f64 {
    weights.iter().map(|weight| weight.abs()).sum()
}

/// The same weights with another sum of absolute values.
pub fn scaled(weights: &[f64], wanted: f64) -> Vec<f64> {
    weights.iter().map(|weight| weight * wanted / length(weights)).collect()
}

#[track_caller]
pub fn close(found: &[f64], wanted: &[f64], tolerance: f64) {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= tolerance * (1.0 + b.abs());
    assert!(
        found.len() == wanted.len() && found.iter().zip(wanted).all(near),
        "{found:?}, expected {wanted:?}"
    );
}
