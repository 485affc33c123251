//! The translation table of one direction, `t(generated | given)`, over the slots of the word pairs that occur.

use crate::bitext::Bitext;
use crate::pairs::Pairs;
use crate::side::Side;
use crate::work;

/// `t(e | f)` for all pairs that occur together, and for no given word at all.
#[derive(Debug)]
pub(crate) struct Lexicon {
    given: Side,
    /// By slot.
    pub(crate) table: Vec<f32>,
    /// By generated type.
    pub(crate) null: Vec<f32>,
}

/// Slots per job of an update.
const JOB: usize = 1 << 18;

impl Lexicon {
    /// All words alike.
    pub(crate) fn uniform(bitext: &Bitext, pairs: &Pairs, given: Side) -> Self {
        // Each type of the generated side meets some given word.
        let types = pairs.degree(given.other()).iter().filter(|&&degree| degree > 0).count();
        let value = 1.0 / types.max(1) as f32;
        Self { given, table: vec![value; pairs.len()], null: vec![value; bitext.vocab().len()] }
    }

    /// A table that is already known.
    pub(crate) fn new(given: Side, table: Vec<f32>, null: Vec<f32>) -> Self {
        Self { given, table, null }
    }

    /// New probabilities from expected counts: by maximum likelihood, or by variational Bayes with a symmetric
    /// Dirichlet prior over the words seen with the given one.
    pub(crate) fn update(
        &mut self,
        counts: Vec<f32>,
        null: &[f64],
        pairs: &Pairs,
        alpha: Option<f64>,
        threads: usize,
    ) {
        self.table = counts;
        let prior = alpha.unwrap_or(0.0);
        let scale = |sum: f64| match (alpha, sum) {
            (_, 0.0) => 0.0,
            (None, sum) => 1.0 / sum,
            (Some(_), sum) => 1.0 / exp_digamma(sum),
        };
        let value = move |count: f64, scale: f64| match alpha {
            None => (count * scale) as f32,
            Some(alpha) => (exp_digamma(count + alpha) * scale) as f32,
        };
        let types = pairs.degree(Side::Source).len();
        // The scale of each given type.
        let scales: Vec<f64> = match self.given {
            Side::Source => Vec::new(),
            Side::Target => {
                let mut sums = vec![0.0; types];
                for (&count, &target) in self.table.iter().zip(pairs.targets()) {
                    sums[target as usize] += f64::from(count) + prior;
                }
                sums.into_iter().map(scale).collect()
            }
        };
        let mut rest = self.table.as_mut_slice();
        let mut jobs = Vec::new();
        for run in work::cut(0..types, JOB, |word| pairs.row(word).len()) {
            let slots = pairs.row(run.end - 1).end - pairs.row(run.start).start;
            jobs.push((run, work::take(&mut rest, slots)));
        }
        let given = self.given;
        work::run(threads, jobs, |(run, mut table)| {
            for word in run {
                let slots = pairs.row(word);
                let row = work::take(&mut table, slots.len());
                if given == Side::Source {
                    let sum: f64 = row.iter().map(|&count| f64::from(count) + prior).sum();
                    let scale = scale(sum);
                    for count in row {
                        *count = value(f64::from(*count), scale);
                    }
                } else {
                    for (count, &target) in row.iter_mut().zip(&pairs.targets()[slots]) {
                        *count = value(f64::from(*count), scales[target as usize]);
                    }
                }
            }
        });
        let seen = pairs.degree(given.other()).iter().filter(|&&degree| degree > 0).count();
        let sum: f64 = null.iter().sum::<f64>() + prior * seen as f64;
        let scale = scale(sum);
        self.null = null.iter().map(|&count| value(count, scale)).collect();
    }
}

/// exp(digamma(x)) for x > 0. The asymptotic series of exp(digamma(x + 1/2)) needs no logarithm; smaller
/// arguments are shifted up with digamma(x) = digamma(x + 1) - 1/x.
fn exp_digamma(x: f64) -> f64 {
    // Below, the result is smaller than the smallest single-precision number that is not 0.
    if x < 0.0097 {
        return 0.0;
    }
    let (mut x, mut shift) = (x, 0.0);
    while x < 4.0 {
        shift += 1.0 / x;
        x += 1.0;
    }
    let y = x - 0.5;
    let z = 1.0 / (y * y);
    let value = y * (1.0 + z * (1.0 / 24.0 - z * (37.0 / 5760.0 - z * (10313.0 / 2_903_040.0))));
    if shift == 0.0 { value } else { value * libm::exp(-shift) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_digamma_has_its_known_values() {
        // digamma(1) = -gamma, digamma(1/2) = -gamma - 2 ln 2, digamma(10) = H(9) - gamma.
        let gamma = 0.577_215_664_901_532_9f64;
        let h9: f64 = (1..10).map(|i| 1.0 / f64::from(i)).sum();
        let cases = [
            (1.0, -gamma),
            (0.5, -gamma - 2.0 * std::f64::consts::LN_2),
            (10.0, h9 - gamma),
            (4.0, 11.0 / 6.0 - gamma),
        ];
        for (x, digamma) in cases {
            let relative = exp_digamma(x) / digamma.exp() - 1.0;
            assert!(relative.abs() < 2e-7, "{x}: {relative}");
        }
        assert_eq!(exp_digamma(0.009), 0.0);
        assert!(exp_digamma(0.02) > 0.0);
    }

    #[test]
    fn exp_digamma_grows() {
        let values: Vec<f64> = (1..4000).map(|i| exp_digamma(f64::from(i) * 0.003)).collect();
        assert!(values.is_sorted());
    }
}
