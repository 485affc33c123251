//! Future costs: the best that each span can give when its phrases stand alone (Koehn 2010, section 6.3).

use sylvan_base::Span;

/// By span: the best sum over the phrases that cover it, language model without the joints, order for nothing.
#[derive(Debug)]
pub(super) struct FutureCosts {
    length: usize,
    /// Row by start, one value per end from there on.
    best: Vec<f64>,
}

impl FutureCosts {
    /// Nothing is expected of anything.
    pub(super) fn none() -> Self {
        Self { length: 0, best: Vec::new() }
    }

    /// `phrases` are the spans that phrases cover, each with its best phrase, sorted by end.
    pub(super) fn new(length: usize, phrases: &[(Span, f64)]) -> Self {
        let mut costs = Self { length, best: vec![f64::NEG_INFINITY; length * (length + 1)] };
        for start in 0..length {
            costs.set(start, start, 0.0);
            // The last phrase of a span, after the best of what is before it.
            for &(span, score) in phrases.iter().filter(|(span, _)| span.start as usize >= start) {
                let (middle, end) = (span.start as usize, span.end as usize);
                let sum = costs.get(start, middle) + score;
                if sum > costs.get(start, end) {
                    costs.set(start, end, sum);
                }
            }
        }
        costs
    }

    fn get(&self, start: usize, end: usize) -> f64 {
        self.best[start * (self.length + 1) + end]
    }

    fn set(&mut self, start: usize, end: usize, value: f64) {
        self.best[start * (self.length + 1) + end] = value;
    }

    pub(super) fn of(&self, span: Span) -> f64 {
        if self.best.is_empty() { 0.0 } else { self.get(span.start as usize, span.end as usize) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stacks::coverage::Coverages;

    /// Phrases [0,1) -1, [1,2) -2, [2,3) -1.5, [0,2) -2.5, [1,3) -4.
    #[test]
    fn a_span_is_worth_its_best_segmentation() {
        let phrase = |start, end, score| (Span { start, end }, score);
        let phrases = [
            phrase(0, 1, -1.0),
            phrase(0, 2, -2.5),
            phrase(1, 2, -2.0),
            phrase(1, 3, -4.0),
            phrase(2, 3, -1.5),
        ];
        let costs = FutureCosts::new(3, &phrases);
        let of = |start, end| costs.of(Span { start, end });
        assert_eq!((of(0, 2), of(1, 3), of(0, 3)), (-2.5, -3.5, -4.0));
        let mut sets = Coverages::new(3, &costs);
        assert_eq!(sets.future(Coverages::NONE), -4.0);
        let middle = sets.with(Coverages::NONE, Span { start: 1, end: 2 }, &costs);
        assert_eq!((sets.future(middle), sets.covered(middle)), (-2.5, 1));
        assert_eq!(FutureCosts::none().of(Span { start: 0, end: 3 }), 0.0);
    }

    #[test]
    fn sets_are_the_same_however_they_came_about() {
        let costs = FutureCosts::none();
        let mut sets = Coverages::new(5, &costs);
        let span = |start, end| Span { start, end };
        let mut cover =
            |spans: &[Span]| spans.iter().fold(Coverages::NONE, |set, &span| sets.with(set, span, &costs));
        let one = cover(&[span(1, 2), span(3, 5)]);
        let other = cover(&[span(4, 5), span(3, 4), span(1, 2)]);
        let all = cover(&[span(2, 4), span(0, 2), span(4, 5)]);
        assert_eq!(one, other);
        assert_eq!(sets.gaps(one), [span(0, 1), span(2, 3)]);
        assert!(
            sets.is_open(one, 0) && !sets.is_open(one, 1) && sets.is_open(one, 2) && !sets.is_open(one, 4)
        );
        assert_eq!((sets.gaps(all), sets.covered(all)), (&[][..], 5));
    }
}
