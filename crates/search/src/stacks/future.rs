//! Future costs: the best that each span can give when its phrases stand alone (Koehn 2010, section 6.3).

use sylvan_base::Span;

/// Longer spans are worth what their parts of this length are worth, so that memory grows with the sentence and not with
/// its square.
const LONGEST: usize = 256;
/// No part of a long span is worth less: a phrase may lie across the cut.
const LEAST: f64 = -1e6;

/// By span: the best sum over the phrases that cover it, language model without the joints, order for nothing.
#[derive(Debug)]
pub(crate) struct FutureCosts {
    /// The longest span that is looked up, and one.
    width: usize,
    /// Row by start, one value per length.
    best: Vec<f64>,
}

impl FutureCosts {
    /// Nothing is expected of anything.
    pub(crate) fn none() -> Self {
        Self { width: 0, best: Vec::new() }
    }

    /// `phrases` are the spans that phrases cover, each with its best phrase, sorted by end.
    pub(crate) fn new(length: usize, phrases: &[(Span, f64)]) -> Self {
        let width = length.min(LONGEST) + 1;
        let mut costs = Self { width, best: vec![f64::NEG_INFINITY; length * width] };
        for start in 0..length {
            costs.set(start, start, 0.0);
            let first = phrases.partition_point(|(span, _)| span.end as usize <= start);
            // The last phrase of a span, after the best of what is before it.
            for &(span, score) in &phrases[first..] {
                let (middle, end) = (span.start as usize, span.end as usize);
                if end - start >= width {
                    break;
                }
                if middle < start {
                    continue;
                }
                let sum = costs.get(start, middle) + score;
                if sum > costs.get(start, end) {
                    costs.set(start, end, sum);
                }
            }
        }
        costs
    }

    fn get(&self, start: usize, end: usize) -> f64 {
        self.best[start * self.width + end - start]
    }

    fn set(&mut self, start: usize, end: usize, value: f64) {
        self.best[start * self.width + end - start] = value;
    }

    pub(crate) fn of(&self, span: Span) -> f64 {
        let (mut start, end) = (span.start as usize, span.end as usize);
        if self.best.is_empty() || start == end {
            return 0.0;
        }
        if end - start < self.width {
            return self.get(start, end);
        }
        let mut sum = 0.0;
        while start < end {
            let until = end.min(start + self.width - 1);
            sum += self.get(start, until).max(LEAST);
            start = until;
        }
        sum
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
    fn long_spans_are_worth_their_parts() {
        let word = |start: usize, score| (Span::new(start, start + 1), score);
        let mut phrases: Vec<(Span, f64)> = (0..1000).map(|start| word(start, -1.0)).collect();
        // Two words better than one by one; the word at the first cut has no phrase of its own.
        phrases.retain(|(span, _)| span.start != 256);
        phrases.extend([(Span::new(10, 12), -0.5), (Span::new(256, 258), -3.0)]);
        phrases.sort_by_key(|(span, _)| (span.end, span.start));
        let costs = FutureCosts::new(1000, &phrases);
        assert_eq!(costs.of(Span::new(0, 12)), -10.5);
        assert_eq!(costs.of(Span::new(0, 256)), -254.5);
        assert_eq!(costs.of(Span::new(0, 1000)), -254.5 - 3.0 - 254.0 - 256.0 - 232.0);
        assert_eq!(costs.of(Span::new(256, 257)), f64::NEG_INFINITY);
        // A cut inside the only phrase does not make a sentence hopeless.
        assert!(costs.of(Span::new(1, 1000)).is_finite());
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
