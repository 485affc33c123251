//! Lexicalised glue: a phrase inside a span, and behind it what it leaves of the span, in either order (Watanabe,
//! Tsukada & Isozaki 2006).
//!
//! ```text
//! X[i,j] -> P[a,b] X[i,a] X[b,j]    and    P[a,b] X[b,j] X[i,a]       (an X without words is left out)
//! ```
//!
//! A sentence has n² spans, and each can be glued in n ways, so forests say what glue is, and edges are made on demand
//! (`growing.rs`).

use sylvan_base::hash::fold;
use sylvan_base::{HashMap, HashSet, Span, Symbol};

use crate::{EdgeId, EdgeSpec, RuleRef, VertexId};

/// What glue costs and where it may be used.
#[derive(Debug, Clone)]
pub struct Glue {
    /// The rule of all its edges.
    pub rule: RuleRef,
    /// The label of the spans that it translates.
    pub label: Symbol,
    /// The score of each use.
    pub score: f64,
    /// What each source word costs that is jumped over.
    pub per_jump: f64,
    /// By first word: phrases and their ends, shortest first.
    phrases: Vec<Vec<(u32, VertexId)>>,
    pub(crate) whole: HashMap<Span, VertexId>,
    /// Spans and phrases inside of them for which there are rules, to which glue gives way.
    taken: HashSet<(Span, Span)>,
    /// Edges that the forest has taken over: head, phrase, whether turned.
    pub(crate) made: HashMap<(VertexId, VertexId, bool), EdgeId>,
}

impl Glue {
    /// Glue of a sentence of so many words.
    pub fn new(rule: RuleRef, label: Symbol, score: f64, per_jump: f64, length: usize) -> Self {
        let (whole, taken, made) = (HashMap::default(), HashSet::default(), HashMap::default());
        Self { rule, label, score, per_jump, phrases: vec![Vec::new(); length], whole, taken, made }
    }

    /// A vertex of phrases. Those that begin at the same word come shortest first.
    pub fn phrase(&mut self, span: Span, vertex: VertexId) {
        self.phrases[span.start as usize].push((span.end, vertex));
    }

    /// A vertex that stands for a span.
    pub fn whole(&mut self, span: Span, vertex: VertexId) {
        self.whole.insert(span, vertex);
    }

    /// Whether a vertex stands for a span, so that it can be glued.
    pub fn is_whole(&self, span: Span, vertex: VertexId) -> bool {
        self.whole.get(&span) == Some(&vertex)
    }

    /// The vertex of the phrases of a span.
    pub fn phrase_at(&self, span: Span) -> Option<VertexId> {
        let all = self.phrases.get(span.start as usize)?;
        all.iter().find(|(end, _)| *end == span.end).map(|&(_, vertex)| vertex)
    }

    /// In this span rules translate this phrase and what it leaves.
    pub fn take(&mut self, span: Span, phrase: Span) {
        self.taken.insert((span, phrase));
    }

    /// The phrases inside a span that may be glued to the rest of it.
    pub fn phrases(&self, span: Span) -> impl Iterator<Item = (Span, VertexId)> + '_ {
        let begin =
            |start: u32| self.phrases[start as usize].iter().map(move |&(end, vertex)| (start, end, vertex));
        let inside = (span.start..span.end)
            .flat_map(move |start| begin(start).take_while(move |&(_, end, _)| end <= span.end));
        let all = inside.map(|(start, end, vertex)| (Span { start, end }, vertex));
        all.filter(move |&(phrase, _)| phrase != span && !self.taken.contains(&(span, phrase)))
    }

    /// What a phrase leaves of a span, in the order of translation: that of the source, or the other.
    pub fn gaps(span: Span, phrase: Span, turned: bool) -> impl Iterator<Item = Span> {
        let before = Span { start: span.start, end: phrase.start };
        let after = Span { start: phrase.end, end: span.end };
        let order = if turned { [after, before] } else { [before, after] };
        order.into_iter().filter(|gap| gap.start < gap.end)
    }

    /// The orders of what a phrase leaves of a span.
    pub fn orders(span: Span, phrase: Span) -> &'static [bool] {
        if Self::gaps(span, phrase, false).count() == 2 { &[false, true] } else { &[false] }
    }

    /// The score of one use, without that of the phrase.
    pub fn score(&self, span: Span, phrase: Span, turned: bool) -> f64 {
        let mut gaps = [span; 2];
        let count = Self::gaps(span, phrase, turned).zip(&mut gaps).map(|(gap, place)| *place = gap).count();
        self.score - self.per_jump * f64::from(jumped(span, &gaps[..count]))
    }

    /// For ties.
    fn hash(&self, span: Span, phrase: Span, turned: bool) -> u64 {
        let place = [span.start, span.end, phrase.start, phrase.end, u32::from(turned)];
        place.into_iter().fold(u64::from(self.rule.id), |hash, part| fold(hash, u64::from(part)))
    }

    pub(crate) fn spec(&self, span: Span, phrase: Span, turned: bool) -> EdgeSpec {
        let (score, hash) = (self.score(span, phrase, turned), self.hash(span, phrase, turned));
        EdgeSpec { rule: self.rule, score, nodes: 1, hash }
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
    use super::*;

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
