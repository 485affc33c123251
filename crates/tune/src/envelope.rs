//! Upper envelopes: which of several lines is on top, and from where.
//!
//! Along a line through weight space, `weights + gamma * direction`, the score of a translation is a line in gamma:
//! its slope is `features . direction`, its intercept `features . weights`. The translation that wins is the one on
//! top; it changes at few points only (Och 2003). Values are finite: decoders give no others.

/// The score of one translation along a line through weight space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// How the score changes.
    pub slope: f64,
    /// The score at 0.
    pub intercept: f64,
}

/// From where on a line is on top.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// The least gamma; minus infinity for the first.
    pub start: f64,
    /// Which line.
    pub line: usize,
}

/// Lines whose slopes differ relatively less than this are parallel: the slopes are sums, and sums of the same numbers
/// in another order differ by rounding. Where such lines meet means nothing.
const PARALLEL: f64 = 1e-10;

/// The lines on top from minus to plus infinity, left to right. Of equal lines the first one stands for all.
pub fn upper_envelope(lines: &[Line], out: &mut Vec<Segment>) {
    let mut order: Vec<(Line, usize)> = lines.iter().copied().zip(0..).collect();
    // Stable, so that the first of equal lines stays the first.
    order.sort_by(|(x, _), (y, _)| {
        x.slope.total_cmp(&y.slope).then_with(|| y.intercept.total_cmp(&x.intercept))
    });
    out.clear();
    // By rising slope; each new line hides those that it meets before their own start.
    for &(Line { slope, intercept }, line) in &order {
        let mut start = f64::NEG_INFINITY;
        let mut hidden = false;
        while let Some(&Segment { start: begins, line: held }) = out.last() {
            let held = lines[held];
            if slope - held.slope > PARALLEL * (1.0 + slope.abs()) {
                start = (held.intercept - intercept) / (slope - held.slope);
                if start > begins {
                    break;
                }
            } else if intercept <= held.intercept {
                hidden = true;
                break;
            }
            out.pop();
            start = f64::NEG_INFINITY;
        }
        if !hidden {
            out.push(Segment { start, line });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(values: &[(f64, f64)]) -> Vec<Line> {
        values.iter().map(|&(slope, intercept)| Line { slope, intercept }).collect()
    }

    fn envelope(values: &[(f64, f64)]) -> Vec<Segment> {
        let mut out = Vec::new();
        upper_envelope(&lines(values), &mut out);
        out
    }

    #[test]
    fn a_line_below_the_others_never_shows() {
        let found = envelope(&[(1.0, -1.0), (2.0, -1.5), (0.0, 0.5)]);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].line, found[1].line), (2, 1));
        assert!((found[1].start - 1.0).abs() < 1e-12);
    }

    #[test]
    fn parallel_and_equal_lines() {
        let found = envelope(&[(1.0, 0.0), (1.0, 2.0), (1.0, 2.0)]);
        assert_eq!(found, [Segment { start: f64::NEG_INFINITY, line: 1 }]);
        assert!(envelope(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn the_line_that_is_named_is_on_top(values in prop::collection::vec((-20i32..20, -20i32..20), 1..30), at in -500i32..500) {
            let values: Vec<(f64, f64)> = values.iter().map(|&(a, b)| (f64::from(a), f64::from(b))).collect();
            let gamma = f64::from(at) / 37.0;
            let segments = envelope(&values);
            prop_assert!(segments.windows(2).all(|pair| pair[0].start < pair[1].start));
            let inside = segments.iter().rev().find(|segment| segment.start <= gamma).expect("the first starts at minus infinity");
            let score = |line: &(f64, f64)| line.0 * gamma + line.1;
            let top = values.iter().map(score).fold(f64::NEG_INFINITY, f64::max);
            prop_assert!((score(&values[inside.line]) - top).abs() < 1e-9);
        }
    }
}
