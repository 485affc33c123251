//! Which rules could be chance (Johnson, Martin, Foster & Kuhn 2007): Fisher's exact test on how often the two sides
//! are seen together, given how often each is seen in all pairs.

/// -ln of the probability that two sides seen `source` and `target` times in `pairs` pairs are seen together
/// `together` times or more, if they had nothing to do with each other.
pub(crate) fn evidence(together: u64, source: u64, target: u64, pairs: u64) -> f64 {
    let (source, target) = (source.min(pairs), target.min(pairs));
    let together = together.min(source).min(target);
    let ln_choose = |n: u64, k: u64| {
        libm::lgamma(n as f64 + 1.0) - libm::lgamma(k as f64 + 1.0) - libm::lgamma((n - k) as f64 + 1.0)
    };
    let whole = ln_choose(pairs, target);
    let term = |k: u64| ln_choose(source, k) + ln_choose(pairs - source, target - k) - whole;
    // The largest term comes first, and the others fall off quickly.
    let mut sum = 0.0;
    let mut first = None;
    for k in together..=source.min(target) {
        if target - k > pairs - source {
            continue;
        }
        let ln = term(k);
        let base = *first.get_or_insert(ln);
        let part = libm::exp(ln - base);
        sum += part;
        if part < sum * 1e-12 {
            break;
        }
    }
    first.map_or(0.0, |base| -(base + libm::log(sum)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seen_once_each_and_together_weighs_the_logarithm_of_the_pairs() {
        assert!((evidence(1, 1, 1, 50_000) - 50_000f64.ln()).abs() < 1e-6);
    }

    #[test]
    fn small_cases_equal_the_sum_over_all_tables() {
        let choose = |n: u64, k: u64| (0..k).fold(1.0, |c, i| c * (n - i) as f64 / (i + 1) as f64);
        for pairs in [6u64, 11] {
            for source in 1..=pairs {
                for target in 1..=pairs {
                    for together in 1..=source.min(target) {
                        let most = source.min(target);
                        let ways: f64 = (together..=most)
                            .filter(|k| target - k <= pairs - source)
                            .map(|k| choose(source, k) * choose(pairs - source, target - k))
                            .sum();
                        let expected = -(ways / choose(pairs, target)).ln();
                        let found = evidence(together, source, target, pairs);
                        if ways > 0.0 {
                            assert!((found - expected).abs() < 1e-8, "{together} {source} {target} {pairs}");
                        }
                    }
                }
            }
        }
    }
}
