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
    let hull = (lines.len() >= MANY).then(|| Chords::of(lines));
    let shown = |line: &Line| hull.as_ref().is_none_or(|chords| !chords.hide(*line));
    let mut order: Vec<(Line, usize)> =
        lines.iter().copied().zip(0..).filter(|(line, _)| shown(line)).collect();
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

/// From so many lines on it pays to look for chords: lists for tuning have hundreds, few of which are ever on top.
const MANY: usize = 16;

/// How far below a chord a line must be to be dropped, relative to the numbers that are compared: more than what
/// counts as parallel, so that no line is dropped that could decide between two others.
const BELOW: f64 = 1e-9;

/// As points (slope, intercept), the lines on top are the upper hull. What is below a chord between two points is not
/// on the hull (Akl & Toussaint 1978), and need not be sorted.
struct Chords([Chord; 4]);

/// All that is below `height + slope * rise` between the two points of the chord is hidden.
#[derive(Clone, Copy)]
struct Chord {
    height: f64,
    rise: f64,
}

impl Chords {
    /// From the least slope to the greatest intercept to the greatest slope, on either side by way of the point that
    /// is farthest above.
    fn of(lines: &[Line]) -> Self {
        let (mut left, mut top, mut right) = (lines[0], lines[0], lines[0]);
        let mut size = 1.0;
        for &line in lines {
            let Line { slope, intercept } = line;
            size = f64::max(size, slope.abs().max(intercept.abs()));
            if slope < left.slope || (slope == left.slope && intercept > left.intercept) {
                left = line;
            }
            if intercept > top.intercept {
                top = line;
            }
            if slope > right.slope || (slope == right.slope && intercept > right.intercept) {
                right = line;
            }
        }
        let sides = [Chord::between(left, top, size), Chord::between(top, right, size)];
        let mut farthest = [left, right];
        let over = |side: usize, line: Line| line.intercept - line.slope * sides[side].rise;
        let mut most = [over(0, left), over(1, right)];
        for &line in lines {
            for side in 0..2 {
                let this = over(side, line);
                if this > most[side] {
                    (farthest[side], most[side]) = (line, this);
                }
            }
        }
        let corners = [left, farthest[0], top, farthest[1], right];
        Self([0, 1, 2, 3].map(|chord| Chord::between(corners[chord], corners[chord + 1], size)))
    }

    /// The corners are on the hull, so that of all chords the one between the nearest corners is the lowest; were it
    /// not for rounding, and then less is hidden.
    fn hide(&self, line: Line) -> bool {
        let over = |chord: Chord| chord.height + line.slope * chord.rise;
        let [a, b, c, d] = self.0.map(over);
        let lowest = a.min(b).min(c.min(d));
        lowest < f64::INFINITY && line.intercept < lowest
    }
}

impl Chord {
    /// Between two points, where no number is greater than `size`. Between a point and itself nothing is hidden, and
    /// other chords decide; between points too near for a chord nothing is hidden, whatever other chords say.
    fn between(from: Line, to: Line, size: f64) -> Self {
        let rise = (to.intercept - from.intercept) / (to.slope - from.slope);
        let height = from.intercept - from.slope * rise - BELOW * size * (1.0 + rise.abs());
        if from.slope == to.slope {
            Self { height: f64::INFINITY, rise: 0.0 }
        } else if height.is_finite() {
            Self { height, rise }
        } else {
            Self { height: f64::NEG_INFINITY, rise: 0.0 }
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
