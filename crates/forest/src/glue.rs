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

use crate::{EdgeId, EdgeSpec, GapCosts, RuleRef, VertexId};

/// What glue costs and where it may be used.
#[derive(Debug, Clone)]
pub struct Glue {
    /// The rule of all its edges.
    pub rule: RuleRef,
    /// The label of the spans that it translates.
    pub label: Symbol,
    /// The score of each use.
    pub score: f64,
    /// What its gaps cost.
    pub costs: GapCosts,
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
    pub fn new(rule: RuleRef, label: Symbol, score: f64, costs: GapCosts, length: usize) -> Self {
        let (whole, taken, made) = (HashMap::default(), HashSet::default(), HashMap::default());
        Self { rule, label, score, costs, phrases: vec![Vec::new(); length], whole, taken, made }
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
        self.score - self.costs.of(span, &gaps[..count])
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
