//! What networks compute besides products of matrices, in plain single precision and a fixed order, so that it is the same
//! to the last bit on every processor.

use crate::kernel::widely;

/// Numbers that are added up side by side: compilers put them into registers.
pub(crate) const LANES: usize = 16;

/// `e` to the power of `x`, within a few units of the last place.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    // Adding and subtracting this rounds to an integer.
    const ROUND: f32 = 12_582_912.0;
    let x = x.clamp(-87.0, 88.0);
    let whole = (x * std::f32::consts::LOG2_E + ROUND) - ROUND;
    // What is left, with the logarithm of 2 in two parts.
    let rest = (x - whole * 0.693_359_4) - whole * -2.121_944_4e-4;
    let square = rest * rest;
    let mut value = 1.987_569_1e-4;
    for factor in [1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 5.0e-1] {
        value = value * rest + factor;
    }
    let value = value * square + rest + 1.0;
    let power = f32::from_bits(((whole as i32 + 127) as u32) << 23);
    value * power
}

/// The logistic function.
#[inline(always)]
pub(crate) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// The sum of what `term` says of each place.
#[inline(always)]
pub(crate) fn sum(length: usize, term: impl Fn(usize) -> f32) -> f32 {
    let mut lanes = [0.0_f32; LANES];
    let whole = length / LANES * LANES;
    for from in (0..whole).step_by(LANES) {
        for (lane, sum) in lanes.iter_mut().enumerate() {
            *sum += term(from + lane);
        }
    }
    let mut total = 0.0;
    for lane in lanes {
        total += lane;
    }
    for place in whole..length {
        total += term(place);
    }
    total
}

/// The inner product.
#[inline(always)]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let length = a.len().min(b.len());
    let (a, b) = (&a[..length], &b[..length]);
    sum(length, |place| a[place] * b[place])
}

/// `to += factor * from`.
#[inline(always)]
pub(crate) fn add_scaled(to: &mut [f32], factor: f32, from: &[f32]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += factor * from;
    }
}

/// The logarithm of the sum of the exponentials.
#[inline(always)]
pub(crate) fn log_sum_exp_here(values: &[f32]) -> f32 {
    let most = largest(values);
    let total = sum(values.len(), |place| exp(values[place] - most));
    most + libm::logf(total)
}

widely! {
    /// The same for a function that is not compiled for wide registers.
    pub(crate) fn log_sum_exp(values: &[f32]) -> f32 {
        log_sum_exp_here(values)
    }
}

#[inline(always)]
fn largest(values: &[f32]) -> f32 {
    let larger = |most: f32, value: f32| if value > most { value } else { most };
    let (whole, rest) = values.as_chunks::<LANES>();
    let mut lanes = [f32::NEG_INFINITY; LANES];
    for values in whole {
        for (most, value) in lanes.iter_mut().zip(values) {
            *most = larger(*most, *value);
        }
    }
    lanes.iter().chain(rest).fold(f32::NEG_INFINITY, |most, &value| larger(most, value))
}

/// Exponentials that add up to 1.
#[inline(always)]
pub(crate) fn softmax(values: &mut [f32]) {
    let most = largest(values);
    for value in values.iter_mut() {
        *value = exp(*value - most);
    }
    let inverse = 1.0 / sum(values.len(), |place| values[place]);
    for value in values.iter_mut() {
        *value *= inverse;
    }
}

/// Kept out of divisions by zero.
const TINY: f32 = 1e-5;

/// Mean and inverse deviation of a row.
#[inline(always)]
pub(crate) fn moments(row: &[f32]) -> [f32; 2] {
    let count = row.len() as f32;
    let mean = sum(row.len(), |place| row[place]) / count;
    let variance = sum(row.len(), |place| (row[place] - mean) * (row[place] - mean)) / count;
    [mean, 1.0 / (variance + TINY).sqrt()]
}

widely! {
    /// Each row with mean 0 and deviation 1, times `gain`, plus `bias` (layer normalisation, Ba et al. 2016).
    pub(crate) fn normalize(rows: &[f32], gain: &[f32], bias: &[f32], out: &mut [f32]) {
        let width = gain.len();
        for (row, out) in rows.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
            let [mean, scale] = moments(row);
            for (((out, value), gain), bias) in out.iter_mut().zip(row).zip(gain).zip(bias) {
                *out = (value - mean) * scale * gain + bias;
            }
        }
    }
}

/// How an attention is divided.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Heads {
    pub(crate) count: usize,
    /// Of all heads together.
    pub(crate) width: usize,
}

impl Heads {
    pub(crate) fn own(self) -> usize {
        self.width / self.count
    }

    pub(crate) fn scale(self) -> f32 {
        1.0 / (self.own() as f32).sqrt()
    }
}

widely! {
    /// What one query attends to: shares by head and key into `shares`, the mean of the values into `out` (Vaswani et al. 2017).
    pub(crate) fn attend(
        heads: Heads,
        query: &[f32],
        keys: &[f32],
        values: &[f32],
        shares: &mut [f32],
        out: &mut [f32],
    ) {
        let (width, own) = (heads.width, heads.own());
        let count = keys.len() / width;
        out.fill(0.0);
        for head in 0..heads.count {
            let part = head * own..(head + 1) * own;
            let shares = &mut shares[head * count..(head + 1) * count];
            for (share, key) in shares.iter_mut().zip(keys.chunks_exact(width)) {
                *share = dot(&query[part.clone()], &key[part.clone()]) * heads.scale();
            }
            softmax(shares);
            for (share, value) in shares.iter().zip(values.chunks_exact(width)) {
                add_scaled(&mut out[part.clone()], *share, &value[part.clone()]);
            }
        }
    }
}

widely! {
    /// A step of the recurrence: what is remembered of `cell`, by `gates`, and what of `input` comes to it (Kim et al. 2019).
    pub(crate) fn recur(gates: &[f32], input: &[f32], cell: &mut [f32]) {
        for ((cell, gate), input) in cell.iter_mut().zip(gates).zip(input) {
            let keep = sigmoid(*gate);
            *cell = keep * *cell + (1.0 - keep) * input;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_those_of_the_library() {
        for step in -8_700..8_800 {
            let x = step as f32 * 0.01;
            let wanted = f64::from(x).exp();
            assert!((f64::from(exp(x)) / wanted - 1.0).abs() < 3e-7, "{x}");
        }
        assert!((exp(0.0) - 1.0).abs() < f32::EPSILON);
        assert!(exp(-1e30) < 1e-37 && exp(1e30) > 1e38);
    }

    #[test]
    fn shares_add_up_to_one_and_the_largest_value_gets_the_most() {
        let mut values = [1.0, 3.0, 2.0];
        let z = log_sum_exp(&values);
        softmax(&mut values);
        assert!((values.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        assert!((values[1] - exp(3.0 - z)).abs() < 1e-6);
        assert!(values[1] > values[2] && values[2] > values[0]);
    }

    #[test]
    fn sums_of_any_length_are_those_of_the_plain_way() {
        for length in 0..70 {
            let a: Vec<f32> = (0..length).map(|place| place as f32 * 0.25).collect();
            let wanted: f32 = a.iter().map(|value| value * value).sum();
            assert!((dot(&a, &a) - wanted).abs() <= wanted * 1e-6);
        }
    }
}
