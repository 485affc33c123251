//! A computation that remembers how it was made, so that it can be gone through backwards: what each parameter should
//! have been for a smaller loss.
//!
//! Rows of all sentences of a batch stand below each other without gaps. What is computed row by row knows no
//! sentences; attention and recurrence are told where each one begins.

mod backward;

use std::ops::Range;
use std::sync::Arc;

use sylvan_base::Rng;

use crate::functions::{Heads, attend, exp, log_sum_exp_here, normalize, recur, sum};
use crate::kernel::{Lying, Room, multiply_once, wide, widely};
use crate::parameters::{Parameters, Part};

/// A matrix that was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Value(usize);

/// The rows of each sentence.
pub(crate) type Sentences = Arc<[Range<usize>]>;

/// How a value was made.
#[derive(Debug)]
enum Step {
    /// Rows of a table, times a number; `None` is a row of zeros.
    Rows {
        table: Part,
        rows: Vec<Option<u32>>,
        scale: f32,
    },
    Sum(Value, Value),
    /// `x W + b`; `lying` says how `W` lies.
    Linear {
        x: Value,
        weight: Part,
        lying: Lying,
        bias: Part,
    },
    Normal {
        x: Value,
        gain: Part,
        bias: Part,
    },
    Positive(Value),
    /// Times numbers that are 0 or larger than 1.
    Dropped {
        x: Value,
        mask: Vec<f32>,
    },
    /// Queries, keys and values; `shares` by query, head and key.
    Attention {
        of: [Value; 3],
        heads: Heads,
        queries: Sentences,
        keys: Sentences,
        shares: Vec<f32>,
    },
    /// Gates and inputs; `cells` by row.
    Recurrence {
        gates: Value,
        inputs: Value,
        sentences: Sentences,
        cells: Vec<f32>,
    },
}

#[derive(Debug)]
struct Node {
    step: Step,
    columns: usize,
    value: Vec<f32>,
    /// How the loss changes with the value; empty if that is not known to be anything but 0.
    slope: Vec<f32>,
}

/// The computation of a part of a batch, and its memory.
#[derive(Debug, Default)]
pub(crate) struct Tape {
    nodes: Vec<Node>,
    /// Memory of computations that are done with.
    spare: Vec<Vec<f32>>,
    room: Room,
}

/// The sum of the positions' signals, `width` for each place (Vaswani et al. 2017).
pub(crate) fn position(place: usize, out: &mut [f32]) {
    let width = out.len();
    for pair in 0..width / 2 {
        let rate = libm::powf(10_000.0, -2.0 * pair as f32 / width as f32);
        out[2 * pair] += libm::sinf(place as f32 * rate);
        out[2 * pair + 1] += libm::cosf(place as f32 * rate);
    }
}

/// As many numbers, whatever they are, in memory that was used before if there is any of the size.
fn numbers(spare: &mut Vec<Vec<f32>>, count: usize) -> Vec<f32> {
    let at = spare.partition_point(|memory| memory.capacity() < count);
    let mut memory = if at < spare.len() { spare.remove(at) } else { Vec::new() };
    memory.resize(count, 0.0);
    memory
}

impl Tape {
    /// Forgets everything but the memory.
    pub(crate) fn clear(&mut self) {
        for node in self.nodes.drain(..) {
            let more = match node.step {
                Step::Dropped { mask: more, .. }
                | Step::Attention { shares: more, .. }
                | Step::Recurrence { cells: more, .. } => more,
                _ => Vec::new(),
            };
            self.spare
                .extend([node.value, node.slope, more].into_iter().filter(|memory| memory.capacity() > 0));
        }
        self.spare.sort_by_key(Vec::capacity);
    }

    /// Room for as many numbers, whatever they are.
    fn numbers(&mut self, count: usize) -> Vec<f32> {
        numbers(&mut self.spare, count)
    }

    fn push(&mut self, step: Step, columns: usize, value: Vec<f32>) -> Value {
        self.nodes.push(Node { step, columns, value, slope: Vec::new() });
        Value(self.nodes.len() - 1)
    }

    /// The numbers of a value.
    pub(crate) fn of(&self, value: Value) -> &[f32] {
        &self.nodes[value.0].value
    }

    /// Rows of a table times `scale`; where `signals` says how far into its sentence each row is, with positions.
    pub(crate) fn rows(
        &mut self,
        parameters: &Parameters,
        table: Part,
        rows: Vec<Option<u32>>,
        scale: f32,
        signals: Option<&[f32]>,
    ) -> Value {
        let (_, columns) = parameters.layout.size(table);
        let numbers = parameters.of(table);
        let mut value = self.numbers(rows.len() * columns);
        for (place, (row, out)) in rows.iter().zip(value.chunks_exact_mut(columns)).enumerate() {
            match row {
                Some(row) => {
                    let from = *row as usize * columns;
                    for (out, number) in out.iter_mut().zip(&numbers[from..from + columns]) {
                        *out = number * scale;
                    }
                }
                None => out.fill(0.0),
            }
            if let Some(signals) = signals {
                let from = place * columns;
                for (out, signal) in out.iter_mut().zip(&signals[from..from + columns]) {
                    *out += signal;
                }
            }
        }
        self.push(Step::Rows { table, rows, scale }, columns, value)
    }

    /// `a + b`.
    pub(crate) fn sum(&mut self, a: Value, b: Value) -> Value {
        let mut value = self.numbers(self.of(a).len());
        let (left, right) = (self.of(a), self.of(b));
        wide(|| {
            for ((out, a), b) in value.iter_mut().zip(left).zip(right) {
                *out = a + b;
            }
        });
        self.push(Step::Sum(a, b), self.nodes[a.0].columns, value)
    }

    /// `x W + b`; `lying` says how `W` lies in its part.
    pub(crate) fn linear(
        &mut self,
        parameters: &Parameters,
        x: Value,
        weight: Part,
        lying: Lying,
        bias: Part,
    ) -> Value {
        let inner = self.nodes[x.0].columns;
        let (rows, columns) = (self.of(x).len() / inner, parameters.layout.size(bias).1);
        let mut value = self.numbers(rows * columns);
        let numbers = parameters.of(bias);
        value.chunks_exact_mut(columns).for_each(|row| row.copy_from_slice(numbers));
        let a = (self.nodes[x.0].value.as_slice(), Lying::Rows);
        multiply_once(&mut self.room, a, (parameters.of(weight), lying), (inner, columns), &mut value);
        self.push(Step::Linear { x, weight, lying, bias }, columns, value)
    }

    /// Layer normalisation.
    pub(crate) fn normal(&mut self, parameters: &Parameters, x: Value, gain: Part, bias: Part) -> Value {
        let mut value = self.numbers(self.of(x).len());
        normalize(self.of(x), parameters.of(gain), parameters.of(bias), &mut value);
        self.push(Step::Normal { x, gain, bias }, self.nodes[x.0].columns, value)
    }

    /// What is positive of `x`.
    pub(crate) fn positive(&mut self, x: Value) -> Value {
        let mut value = self.numbers(self.of(x).len());
        let from = self.of(x);
        wide(|| {
            for (out, x) in value.iter_mut().zip(from) {
                *out = x.max(0.0);
            }
        });
        self.push(Step::Positive(x), self.nodes[x.0].columns, value)
    }

    /// `x` with a share of its numbers left out and the others enlarged for them (Srivastava et al. 2014).
    pub(crate) fn dropped(&mut self, x: Value, share: f32, rng: &mut Rng) -> Value {
        if share <= 0.0 {
            return x;
        }
        let count = self.of(x).len();
        let mut mask = self.numbers(count);
        let limit = (f64::from(share) * 65_536.0) as u64;
        let kept = 1.0 / (1.0 - share);
        for four in mask.chunks_mut(4) {
            let mut bits = rng.next_u64();
            for mask in four {
                *mask = if bits & 0xFFFF >= limit { kept } else { 0.0 };
                bits >>= 16;
            }
        }
        let mut value = self.numbers(count);
        let (from, masks) = (self.of(x), mask.as_slice());
        wide(|| {
            for ((out, x), mask) in value.iter_mut().zip(from).zip(masks) {
                *out = x * mask;
            }
        });
        self.push(Step::Dropped { x, mask }, self.nodes[x.0].columns, value)
    }

    /// What each query of a sentence finds among the keys of that sentence.
    pub(crate) fn attention(
        &mut self,
        of: [Value; 3],
        heads: Heads,
        queries: &Sentences,
        keys: &Sentences,
    ) -> Value {
        let width = heads.width;
        let shares = queries.iter().zip(keys.iter()).map(|(queries, keys)| queries.len() * keys.len());
        let mut shares = self.numbers(shares.sum::<usize>() * heads.count);
        let mut value = self.numbers(self.of(of[0]).len());
        let [query, key, values] = of.map(|value| self.of(value));
        let mut left = shares.as_mut_slice();
        for (queries, keys) in queries.iter().zip(keys.iter()) {
            let memory = keys.start * width..keys.end * width;
            for place in queries.clone() {
                let (own, rest) = left.split_at_mut(keys.len() * heads.count);
                left = rest;
                let row = place * width..(place + 1) * width;
                let out = &mut value[row.clone()];
                attend(heads, &query[row], &key[memory.clone()], &values[memory.clone()], own, out);
            }
        }
        let step =
            Step::Attention { of, heads, queries: Arc::clone(queries), keys: Arc::clone(keys), shares };
        self.push(step, width, value)
    }

    /// What is positive of cells that forget by `gates` and take in `inputs`, word by word.
    pub(crate) fn recurrence(&mut self, gates: Value, inputs: Value, sentences: &Sentences) -> Value {
        let width = self.nodes[inputs.0].columns;
        let mut cells = self.numbers(self.of(inputs).len());
        let mut value = self.numbers(cells.len());
        let (gate, input) = (self.of(gates), self.of(inputs));
        for sentence in sentences.iter() {
            for place in sentence.clone() {
                let row = place * width..(place + 1) * width;
                if place > sentence.start {
                    cells.copy_within((place - 1) * width..place * width, place * width);
                } else {
                    cells[row.clone()].fill(0.0);
                }
                recur(&gate[row.clone()], &input[row.clone()], &mut cells[row]);
            }
        }
        for (out, cell) in value.iter_mut().zip(&cells) {
            *out = cell.max(0.0);
        }
        let step = Step::Recurrence { gates, inputs, sentences: Arc::clone(sentences), cells };
        self.push(step, width, value)
    }

    /// The loss of scores, row by row, for what should have been: minus the logarithm of its probability, a share
    /// `smoothing` of which is spread over everything (Szegedy et al. 2016). Gives the sum of the losses and that of
    /// the logarithms; the slope of the scores, times `scale`, replaces the scores.
    pub(crate) fn loss(&mut self, scores: Value, wanted: &[u32], smoothing: f32, scale: f32) -> [f64; 2] {
        let Node { columns, value, slope, .. } = &mut self.nodes[scores.0];
        let mut sums = [0.0_f64; 2];
        for (row, &wanted) in value.chunks_exact_mut(*columns).zip(wanted) {
            let [smoothed, plain] = loss_of(row, wanted as usize, smoothing, scale);
            sums[0] += smoothed;
            sums[1] += plain;
        }
        *slope = std::mem::take(value);
        sums
    }
}

widely! {
    /// The loss of a row of scores, smoothed and plain; slopes replace the scores.
    fn loss_of(row: &mut [f32], wanted: usize, smoothing: f32, scale: f32) -> [f64; 2] {
        let count = row.len() as f32;
        let even = smoothing / count;
        let z = log_sum_exp_here(row);
        let said = f64::from(row[wanted] - z);
        let all = sum(row.len(), |place| row[place]) - z * count;
        for value in row.iter_mut() {
            *value = (exp(*value - z) - even) * scale;
        }
        row[wanted] -= (1.0 - smoothing) * scale;
        [-f64::from(1.0 - smoothing) * said - f64::from(even * all), -said]
    }
}
