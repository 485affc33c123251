//! The gaps of rules that translate from left to right: jumps over source words, and constituents of the input that gaps
//! cross.

use std::sync::Arc;

use sylvan_base::Span;

/// The constituents of a sentence. Whether a span crosses one takes constant time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Brackets {
    /// By place between words: where the first constituent ends that begins before it and ends behind it.
    first_end: Vec<u32>,
    /// Where the last one begins that begins before it and ends behind it.
    last_start: Vec<u32>,
}

impl Brackets {
    /// Constituents of a sentence of so many words, in any order.
    pub fn new(length: usize, constituents: impl IntoIterator<Item = Span>) -> Self {
        let mut new = Self { first_end: vec![u32::MAX; length + 1], last_start: vec![0; length + 1] };
        for Span { start, end } in constituents {
            for place in start + 1..end {
                let place = place as usize;
                new.first_end[place] = new.first_end[place].min(end);
                new.last_start[place] = new.last_start[place].max(start);
            }
        }
        new
    }

    /// Whether a span and a constituent overlap and neither holds the other.
    #[inline]
    pub fn is_crossed_by(&self, span: Span) -> bool {
        self.first_end[span.start as usize] < span.end || self.last_start[span.end as usize] > span.start
    }
}

/// What the gaps of a rule that translates from left to right cost.
#[derive(Debug, Clone, Default)]
pub struct GapCosts {
    /// Each source word that is jumped over.
    pub per_jump: f64,
    /// Each gap that crosses a constituent.
    pub per_crossing: f64,
    /// The constituents, where they are known.
    pub brackets: Option<Arc<Brackets>>,
}

impl GapCosts {
    /// The gaps, in target order, of a rule that is used on a span.
    pub fn of(&self, head: Span, gaps: &[Span]) -> f64 {
        let mut cost = 0.0;
        if self.per_jump != 0.0 {
            cost += self.per_jump * f64::from(jumped(head, gaps));
        }
        if self.per_crossing != 0.0 {
            cost += self.per_crossing * f64::from(self.crossings(gaps));
        }
        cost
    }

    /// How many of some gaps cross a constituent.
    pub fn crossings(&self, gaps: &[Span]) -> u32 {
        let Some(brackets) = &self.brackets else { return 0 };
        gaps.iter().filter(|&&gap| brackets.is_crossed_by(gap)).count() as u32
    }
}

/// The source words that are jumped over where a rule is used: first its words are translated, in source order, then its
/// gaps, in target order, and then the reader is behind its span (Siahbani, Sankaran & Sarkar 2013).
pub fn jumped(head: Span, gaps: &[Span]) -> u32 {
    let (mut at, mut jumped) = (head.start, 0);
    let mut go = |start: u32, end: u32| {
        jumped += at.abs_diff(start);
        at = end;
    };
    own_words(head, gaps, |run| go(run.start, run.end));
    gaps.iter().for_each(|gap| go(gap.start, gap.end));
    go(head.end, head.end);
    jumped
}

/// The runs of words of a span that no gap holds, in source order.
pub fn own_words(head: Span, gaps: &[Span], mut found: impl FnMut(Span)) {
    let mut from = head.start;
    // Rules have few gaps: the next one in source order is looked for among all.
    loop {
        let next =
            gaps.iter().filter(|gap| gap.start >= from && gap.end <= head.end).min_by_key(|gap| gap.start);
        let until = next.map_or(head.end, |gap| gap.start);
        if from < until {
            found(Span { start: from, end: until });
        }
        let Some(next) = next else { return };
        from = next.end;
    }
}

#[cfg(test)]
mod tests {
    use sylvan_base::Rng;

    use super::*;

    #[test]
    fn spans_cross_by_definition() {
        let mut rng = Rng::new(5);
        for _ in 0..500 {
            let length = 1 + rng.below(8);
            let span = |rng: &mut Rng| {
                let start = rng.below(length);
                Span::new(start, start + 1 + rng.below(length - start))
            };
            let constituents: Vec<Span> = (0..rng.below(6)).map(|_| span(&mut rng)).collect();
            let brackets = Brackets::new(length, constituents.iter().copied());
            let tried = span(&mut rng);
            let holds = |a: Span, b: Span| a.start <= b.start && b.end <= a.end;
            let crosses = |&other: &Span| {
                tried.start < other.end
                    && other.start < tried.end
                    && !holds(tried, other)
                    && !holds(other, tried)
            };
            assert_eq!(
                brackets.is_crossed_by(tried),
                constituents.iter().any(crosses),
                "{constituents:?} {tried:?}"
            );
        }
    }

    /// The values of the specification: words, then gaps as the target side orders them.
    #[test]
    fn jumps_of_the_specification() {
        let all = Span::new(0, 10);
        let [left, right] = [Span::new(0, 3), Span::new(4, 10)];
        assert_eq!(jumped(all, &[]), 0);
        assert_eq!(jumped(all, &[Span::new(1, 10)]), 0, "f X1 -> f' X1");
        assert_eq!(jumped(all, &[Span::new(0, 9)]), 20, "X1 f -> f' X1");
        assert_eq!(jumped(all, &[left, right]), 8, "X1 f X2 -> f' X1 X2");
        assert_eq!(jumped(all, &[right, left]), 20, "X1 f X2 -> f' X2 X1");
        // Rule 3 of figure 2 of Siahbani & Sarkar 2017.
        assert_eq!(jumped(Span::new(6, 10), &[Span::new(7, 8), Span::new(9, 10)]), 4);
    }
}
