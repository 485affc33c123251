//! Floats as short codes.
//!
//! A code is either the float itself or its number in a table. Back-off weights of real models have only some
//! thousand different values, because most contexts were seen once or twice; a table of all of them loses nothing
//! and halves the space. Quantisation makes the table shorter than that: values are put into bins with the same
//! number of n-grams each, and the mean of a bin stands for its values (Federico & Bertoldi 2006).

use sylvan_store::Section;

use super::bits::width_below;

const SIGN: u32 = 1 << 31;

/// How the floats of one kind and n-gram length are kept.
#[derive(Debug, Clone)]
pub(crate) struct Codes {
    /// Bits per code; 31 without a table means that the sign is always set.
    pub(crate) width: u32,
    pub(crate) table: Option<Section<f32>>,
}

impl Codes {
    #[inline(always)]
    pub(crate) fn decode(&self, code: u64) -> f32 {
        match &self.table {
            Some(table) => table.get(code as usize).copied().unwrap_or(0.0),
            None => f32::from_bits(code as u32 | if self.width == 31 { SIGN } else { 0 }),
        }
    }
}

/// Makes codes.
#[derive(Debug)]
pub(crate) struct Coder {
    pub(crate) width: u32,
    /// In rising order of [`sortable`].
    pub(crate) table: Option<Vec<f32>>,
}

/// An integer that is ordered as the floats are, with -0 before 0.
fn sortable(value: f32) -> u32 {
    let bits = value.to_bits();
    if bits & SIGN != 0 { !bits } else { bits | SIGN }
}

fn value_of(sortable: u32) -> f32 {
    f32::from_bits(if sortable & SIGN != 0 { sortable & !SIGN } else { !sortable })
}

impl Coder {
    /// The best coder for `values`, or one with at most 2^`bits` different values.
    pub(crate) fn new(values: &[f32], bits: Option<u32>) -> Self {
        let mut sorted: Vec<u32> = values.iter().map(|&value| sortable(value)).collect();
        sorted.sort_unstable();
        let mut distinct = sorted.clone();
        distinct.dedup();
        if let Some(bits) = bits {
            let table = if distinct.len() <= 1 << bits { distinct } else { bins(&sorted, 1 << bits) };
            return Self::with_table(table);
        }
        let plain = if distinct.iter().all(|&value| value < SIGN) { 31 } else { 32 };
        let coded = u64::from(width_below(distinct.len() as u64)) * values.len() as u64;
        let worth = coded + 32 * (distinct.len() as u64) < plain * values.len() as u64;
        if worth { Self::with_table(distinct) } else { Self { width: plain as u32, table: None } }
    }

    fn with_table(table: Vec<u32>) -> Self {
        let width = width_below(table.len() as u64);
        Self { width, table: Some(table.into_iter().map(value_of).collect()) }
    }

    /// The code of a value: that of the nearest one in the table.
    pub(crate) fn encode(&self, value: f32) -> u64 {
        let Some(table) = &self.table else {
            let bits = value.to_bits();
            return u64::from(if self.width == 31 { bits & !SIGN } else { bits });
        };
        let above = table.partition_point(|&other| sortable(other) < sortable(value));
        let exact = table.get(above).is_some_and(|other| other.to_bits() == value.to_bits());
        if exact || above == 0 {
            return above as u64;
        }
        // Zeros have bits of their own and a meaning; nothing else may become one.
        let distance = |at: usize| match table.get(at) {
            Some(&other) if other != 0.0 => (f64::from(other) - f64::from(value)).abs(),
            _ => f64::INFINITY,
        };
        let nearest =
            (above.saturating_sub(3)..above + 3).min_by(|&a, &b| distance(a).total_cmp(&distance(b)));
        nearest.unwrap_or(above) as u64
    }
}

/// The means of `count` bins of equally many values each; zeros keep their own.
fn bins(sorted: &[u32], count: usize) -> Vec<u32> {
    let zeros = [sortable(-0.0), sortable(0.0)];
    let others: Vec<u32> = sorted.iter().copied().filter(|value| !zeros.contains(value)).collect();
    let mut table: Vec<u32> =
        zeros.iter().copied().filter(|zero| sorted.binary_search(zero).is_ok()).collect();
    let rest = count.saturating_sub(table.len()).max(1);
    for bin in 0..rest {
        let members = &others[bin * others.len() / rest..(bin + 1) * others.len() / rest];
        if !members.is_empty() {
            let sum: f64 = members.iter().map(|&value| f64::from(value_of(value))).sum();
            table.push(sortable((sum / members.len() as f64) as f32));
        }
    }
    table.sort_unstable();
    table.dedup();
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use sylvan_base::Rng;

    fn decode(coder: &Coder, value: f32) -> f32 {
        let table = coder.table.clone().map(Section::from_vec);
        Codes { width: coder.width, table }.decode(coder.encode(value))
    }

    #[test]
    fn codes_without_quantisation_lose_nothing() {
        let mut rng = Rng::new(4);
        for round in 0..300 {
            let kinds = 1 + rng.below(if round % 2 == 0 { 5 } else { 1000 });
            let signed = rng.chance(0.5);
            let values: Vec<f32> = (0..rng.below(500))
                .map(|_| {
                    let value = -(rng.below(kinds) as f32) / 7.0;
                    if signed { value + 1.0 } else { value }
                })
                .collect();
            let coder = Coder::new(&values, None);
            for &value in &values {
                assert_eq!(decode(&coder, value).to_bits(), value.to_bits());
            }
        }
        let few = Coder::new(&[-1.0, -2.0].repeat(100), None);
        assert_eq!((few.width, few.table.map(|table| table.len())), (1, Some(2)));
    }

    #[test]
    fn quantised_values_are_near_and_zeros_stay() {
        let mut rng = Rng::new(5);
        let mut values: Vec<f32> = (0..5000).map(|_| -(rng.unit() as f32) - 1e-6).collect();
        values.extend([0.0, -0.0]);
        let coder = Coder::new(&values, Some(8));
        assert!(coder.table.as_ref().unwrap().len() <= 256);
        for &value in &values {
            let found = decode(&coder, value);
            assert!((found - value).abs() < 0.02, "{value} {found}");
            assert_eq!(found == 0.0, value == 0.0);
            if value == 0.0 {
                assert_eq!(found.to_bits(), value.to_bits());
            }
        }
    }
}
