//! What of a sentence is translated, as the gaps that are left.

use std::ops::Range;

use sylvan_base::hash::fold;
use sylvan_base::{HashMap, IndexVec, Span, define_id};

use super::future::FutureCosts;

define_id!(
    /// A set of translated source words; equal sets have equal ids within one sentence.
    CoverageId
);

#[derive(Debug)]
struct Coverage {
    /// Its gaps, as a range of the pool, in source order.
    gaps: Range<usize>,
    covered: u32,
    future: f64,
}

/// The sets of one sentence. There are few gaps in a set, so lists of them serve sentences of any length.
#[derive(Debug)]
pub(super) struct Coverages {
    length: u32,
    sets: IndexVec<CoverageId, Coverage>,
    pool: Vec<Span>,
    index: HashMap<u64, Vec<CoverageId>>,
    /// What a set becomes with a span: most steps have been taken before, from other items.
    steps: HashMap<(CoverageId, Span), CoverageId>,
}

impl Coverages {
    /// Nothing is translated.
    pub(super) const NONE: CoverageId = CoverageId(0);

    pub(super) fn new(length: u32, futures: &FutureCosts) -> Self {
        let mut new = Self {
            length,
            sets: IndexVec::new(),
            pool: Vec::new(),
            index: HashMap::default(),
            steps: HashMap::default(),
        };
        new.intern(vec![Span { start: 0, end: length }], futures.of(Span { start: 0, end: length }));
        new
    }

    pub(super) fn gaps(&self, set: CoverageId) -> &[Span] {
        &self.pool[self.sets[set].gaps.clone()]
    }

    /// How many words are translated.
    pub(super) fn covered(&self, set: CoverageId) -> u32 {
        self.sets[set].covered
    }

    /// The estimate of all gaps.
    pub(super) fn future(&self, set: CoverageId) -> f64 {
        self.sets[set].future
    }

    /// Whether a word is still to be translated.
    pub(super) fn is_open(&self, set: CoverageId, position: u32) -> bool {
        self.gaps(set).iter().any(|gap| gap.start <= position && position < gap.end)
    }

    /// The gaps after a span inside one of them is translated as well.
    fn gaps_without(&self, set: CoverageId, span: Span) -> impl Iterator<Item = Span> + '_ {
        self.gaps(set).iter().flat_map(move |&gap| {
            let inside = gap.start <= span.start && span.end <= gap.end;
            let parts = if inside {
                [Span { start: gap.start, end: span.start }, Span { start: span.end, end: gap.end }]
            } else {
                [gap, Span { start: gap.end, end: gap.end }]
            };
            parts.into_iter().filter(|part| part.start < part.end)
        })
    }

    /// The estimate after a span is translated as well; the same sum, in the same order, as that of the larger set.
    pub(super) fn future_with(&self, set: CoverageId, span: Span, futures: &FutureCosts) -> f64 {
        self.gaps_without(set, span).map(|gap| futures.of(gap)).sum()
    }

    /// The set with a span inside one of its gaps.
    pub(super) fn with(&mut self, set: CoverageId, span: Span, futures: &FutureCosts) -> CoverageId {
        if let Some(&known) = self.steps.get(&(set, span)) {
            return known;
        }
        let gaps: Vec<Span> = self.gaps_without(set, span).collect();
        let future = self.future_with(set, span, futures);
        let with = self.intern(gaps, future);
        self.steps.insert((set, span), with);
        with
    }

    fn intern(&mut self, gaps: Vec<Span>, future: f64) -> CoverageId {
        let content = |hash, gap: &Span| fold(fold(hash, u64::from(gap.start)), u64::from(gap.end));
        let same = self.index.entry(gaps.iter().fold(0, content)).or_default();
        for &known in &*same {
            if self.pool[self.sets[known].gaps.clone()] == gaps {
                return known;
            }
        }
        let open: u32 = gaps.iter().map(|gap| gap.end - gap.start).sum();
        let first = self.pool.len();
        self.pool.extend(gaps);
        let gaps = first..self.pool.len();
        let id = self.sets.push(Coverage { gaps, covered: self.length - open, future });
        same.push(id);
        id
    }
}
