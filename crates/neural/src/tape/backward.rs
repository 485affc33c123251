//! The way back: from the slope of the loss by what was computed to that by each parameter.

use super::{Node, Step, Tape, Value, numbers};
use crate::functions::{add_scaled, dot, moments, sigmoid, sum};
use crate::kernel::{Lying, multiply_once, wide, widely};
use crate::parameters::{Parameters, Part};

impl Tape {
    /// Adds the slope by each parameter to `slopes`.
    pub(crate) fn backward(&mut self, parameters: &Parameters, slopes: &mut [f32]) {
        for number in (0..self.nodes.len()).rev() {
            if self.nodes[number].slope.is_empty() {
                continue;
            }
            let (before, rest) = self.nodes.split_at_mut(number);
            let node = &rest[0];
            // What is written to must be there.
            for Value(from) in sources(&node.step) {
                let from: &mut Node = &mut before[from];
                if from.slope.is_empty() {
                    from.slope = numbers(&mut self.spare, from.value.len());
                    from.slope.fill(0.0);
                }
            }
            self.room.step_back(parameters, slopes, before, node);
        }
    }
}

/// What a value was made of.
fn sources(step: &Step) -> impl Iterator<Item = Value> {
    let (first, rest): (Option<Value>, [Option<Value>; 2]) = match step {
        Step::Rows { .. } => (None, [None; 2]),
        Step::Linear { x, .. } | Step::Normal { x, .. } | Step::Positive(x) | Step::Dropped { x, .. } => {
            (Some(*x), [None; 2])
        }
        Step::Sum(a, b) => (Some(*a), [Some(*b), None]),
        Step::Attention { of: [query, key, value], .. } => (Some(*query), [Some(*key), Some(*value)]),
        Step::Recurrence { gates, inputs, .. } => (Some(*gates), [Some(*inputs), None]),
    };
    first.into_iter().chain(rest.into_iter().flatten())
}

/// The slopes of two values.
fn two(nodes: &mut [Node], a: Value, b: Value) -> [&mut Vec<f32>; 2] {
    let [a, b] = nodes.get_disjoint_mut([a.0, b.0]).expect("values are different and come before");
    [&mut a.slope, &mut b.slope]
}

impl crate::kernel::Room {
    fn step_back(&mut self, parameters: &Parameters, slopes: &mut [f32], before: &mut [Node], node: &Node) {
        let slope = node.slope.as_slice();
        let of = |part: Part| parameters.layout.range(part);
        match &node.step {
            Step::Rows { table, rows, scale } => {
                let to = &mut slopes[of(*table)];
                wide(|| {
                    for (row, slope) in rows.iter().zip(slope.chunks_exact(node.columns)) {
                        if let Some(row) = row {
                            add_scaled(&mut to[*row as usize * node.columns..], *scale, slope);
                        }
                    }
                });
            }
            Step::Sum(a, b) => {
                for value in [a, b] {
                    wide(|| add_scaled(&mut before[value.0].slope, 1.0, slope));
                }
            }
            Step::Linear { x, weight, lying, bias } => {
                add_rows(&mut slopes[of(*bias)], slope);
                let x = &mut before[x.0];
                let (rows, outer) = (slope.len() / node.columns, x.columns);
                let to = &mut slopes[of(*weight)];
                let back = match lying {
                    Lying::Rows => {
                        let a = (x.value.as_slice(), Lying::Columns);
                        multiply_once(self, a, (slope, Lying::Rows), (rows, node.columns), to);
                        Lying::Columns
                    }
                    Lying::Columns => {
                        multiply_once(
                            self,
                            (slope, Lying::Columns),
                            (&x.value, Lying::Rows),
                            (rows, outer),
                            to,
                        );
                        Lying::Rows
                    }
                };
                let weight = (parameters.of(*weight), back);
                multiply_once(self, (slope, Lying::Rows), weight, (node.columns, outer), &mut x.slope);
            }
            Step::Normal { x, gain, bias } => {
                add_rows(&mut slopes[of(*bias)], slope);
                normal_back(&mut before[x.0], slope, parameters.of(*gain), &mut slopes[of(*gain)]);
            }
            Step::Positive(x) => {
                wide(|| {
                    for ((to, value), slope) in before[x.0].slope.iter_mut().zip(&node.value).zip(slope) {
                        *to += if *value > 0.0 { *slope } else { 0.0 };
                    }
                });
            }
            Step::Dropped { x, mask } => {
                wide(|| {
                    for ((to, mask), slope) in before[x.0].slope.iter_mut().zip(mask).zip(slope) {
                        *to += mask * slope;
                    }
                });
            }
            Step::Attention { .. } => attention_back(before, node),
            Step::Recurrence { .. } => recurrence_back(before, node),
        }
    }
}

widely! {
    /// Adds rows to one row.
    fn add_rows(to: &mut [f32], rows: &[f32]) {
        rows.chunks_exact(to.len()).for_each(|row| add_scaled(to, 1.0, row));
    }
}

widely! {
    fn normal_back(x: &mut Node, slope: &[f32], gains: &[f32], by_gain: &mut [f32]) {
        let width = gains.len();
        let mut normal = vec![0.0; width];
        let mut inner = vec![0.0; width];
        let rows = x.value.chunks_exact(width).zip(x.slope.chunks_exact_mut(width));
        for ((row, x), slope) in rows.zip(slope.chunks_exact(width)) {
            let [mean, scale] = moments(row);
            for (normal, value) in normal.iter_mut().zip(row) {
                *normal = (value - mean) * scale;
            }
            for ((inner, slope), gain) in inner.iter_mut().zip(slope).zip(gains) {
                *inner = slope * gain;
            }
            for ((to, slope), normal) in by_gain.iter_mut().zip(slope).zip(&normal) {
                *to += slope * normal;
            }
            let count = width as f32;
            let even = sum(width, |place| inner[place]) / count;
            let along = dot(&inner, &normal) / count;
            for ((x, inner), normal) in x.iter_mut().zip(&inner).zip(&normal) {
                *x += scale * (inner - even - normal * along);
            }
        }
    }
}

widely! {
    fn attention_back(before: &mut [Node], node: &Node) {
        let Step::Attention { of, heads, queries, keys, shares } = &node.step else { return };
        let [query, key, value] =
            before.get_disjoint_mut(of.map(|of| of.0)).expect("values are different and come before");
        let (width, own, scale) = (heads.width, heads.own(), heads.scale());
        let mut shares = shares.as_slice();
        let mut inner: Vec<f32> = Vec::new();
        for (queries, keys) in queries.iter().zip(keys.iter()) {
            for place in queries.clone() {
                for head in 0..heads.count {
                    let (mine, rest) = shares.split_at(keys.len());
                    shares = rest;
                    let at = |place: usize| {
                        let from = place * width + head * own;
                        from..from + own
                    };
                    let slope = &node.slope[at(place)];
                    inner.clear();
                    let mut mean = 0.0;
                    for (share, key) in mine.iter().zip(keys.clone()) {
                        add_scaled(&mut value.slope[at(key)], *share, slope);
                        let by_share = dot(slope, &value.value[at(key)]);
                        mean += share * by_share;
                        inner.push(by_share);
                    }
                    for ((share, by_share), place_of_key) in mine.iter().zip(&inner).zip(keys.clone()) {
                        let by_score = share * (by_share - mean) * scale;
                        add_scaled(&mut query.slope[at(place)], by_score, &key.value[at(place_of_key)]);
                        add_scaled(&mut key.slope[at(place_of_key)], by_score, &query.value[at(place)]);
                    }
                }
            }
        }
    }
}

widely! {
    fn recurrence_back(before: &mut [Node], node: &Node) {
        let Step::Recurrence { gates, inputs, sentences, cells } = &node.step else { return };
        let width = node.columns;
        let gate_values = std::mem::take(&mut before[gates.0].value);
        let input_values = std::mem::take(&mut before[inputs.0].value);
        let [by_gate, by_input] = two(before, *gates, *inputs);
        let mut carried = vec![0.0_f32; width];
        for sentence in sentences.iter() {
            carried.fill(0.0);
            for place in sentence.clone().rev() {
                for (lane, carried) in carried.iter_mut().enumerate() {
                    let at = place * width + lane;
                    let by_cell = *carried + if cells[at] > 0.0 { node.slope[at] } else { 0.0 };
                    let last = if place > sentence.start { cells[at - width] } else { 0.0 };
                    let keep = sigmoid(gate_values[at]);
                    by_input[at] += by_cell * (1.0 - keep);
                    by_gate[at] += by_cell * (last - input_values[at]) * keep * (1.0 - keep);
                    *carried = by_cell * keep;
                }
            }
        }
        (before[gates.0].value, before[inputs.0].value) = (gate_values, input_values);
    }
}
