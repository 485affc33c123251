//! Left-to-right Hiero: lexicalised glue in the incremental decoder (Siahbani, Sankaran & Sarkar 2013, 2014).
//!
//! ```text
//! glue      l : <[. [i,j) ..], rho> : w        p a phrase over [a,b) inside [i,j)
//!           ----------------------------------------------------------------------------------------
//!           l + b - a : <[. [i,a) [b,j) ..], rho p> : w + glue + jumps + score(p) + lm(p | rho)
//!           (or [b,j) first; a span without words is left out)
//! ```
//!
//! In the forests of left-to-right Hiero all target sides have their words first, so that a residual is a list of spans:
//! the hypothesis of the papers. Words are covered, so a bin is one of their stacks. A choice is a phrase with the order
//! of what it leaves; the phrases of a place are one list, sorted once for all spans around it. Edges are made only for
//! choices that are taken.
//!
//! | here | papers |
//! |---|---|
//! | a residual | the ordered list of uncovered spans |
//! | a class: the first span | a group (coverage, first span) |
//! | a grid: a class and a list | a cube: a group and a source pattern |

use sylvan_base::{IndexVec, Span};
use sylvan_forest::{BundleId, EdgeId, Glue, Target, TranslationForest, VertexId};

use super::{Future, TopDown};
use crate::deduction::{Application, Charge, Choice, ItemId, ListId, Successor};
use crate::stacks::FutureCosts;
use crate::{Estimate, LanguageModel};

/// What spans are worth that glue can translate: the best row of phrases and rules side by side, all but one of them
/// glued.
#[derive(Debug)]
pub(super) struct GlueFutures {
    costs: FutureCosts,
    glue: f64,
}

impl GlueFutures {
    pub(super) fn of(&self, span: Span) -> f64 {
        self.costs.of(span) - self.glue
    }
}

/// The static estimate of a forest with glue, and of all spans.
pub(super) fn estimate<L: LanguageModel>(
    forest: &TranslationForest,
    glue: &Glue,
    lm: &L,
    future: Future,
) -> (Estimate, GlueFutures) {
    let mut lm_queries = 0;
    let local = |bundle: BundleId| {
        let words = forest.bundle(bundle);
        lm_queries += words.len() as u64;
        lm.local(words)
    };
    let bundles: IndexVec<BundleId, f64> =
        (0..forest.bundle_count() as u32).map(BundleId).map(local).collect();
    let length = forest.span(forest.goal()).end;
    // Rules have gaps, so what their parts are worth must be known first: short spans before long ones. Only spans as long
    // as rules are looked up.
    let is_goal = |vertex: VertexId| vertex == forest.goal();
    let is_whole = |vertex: VertexId| glue.is_whole(forest.span(vertex), vertex);
    let has_rules = |vertex: &VertexId| {
        forest.edges(*vertex).len() > 0 && (future != Future::Phrases || !is_whole(*vertex))
    };
    let rules: Vec<VertexId> = forest.vertices().filter(has_rules).collect();
    let longest = rules.iter().flat_map(|&vertex| forest.edges(vertex)).flat_map(|edge| forest.tails(edge));
    let longest = longest.map(|tail| forest.span(tail).len() as u32).max().unwrap_or(0).min(length);
    let mut near = Near::new(length, longest);
    let mut vertices: IndexVec<VertexId, f64> = forest.vertices().map(|_| f64::NEG_INFINITY).collect();
    let (mut next, mut units) = (0, Vec::new());
    for size in 1..=length {
        while let Some(&vertex) = rules.get(next).filter(|&&vertex| forest.span(vertex).len() as u32 == size)
        {
            next += 1;
            let mut best = f64::NEG_INFINITY;
            for edge in forest.edges(vertex) {
                let parts = forest.target(edge).iter().map(|&symbol| match symbol {
                    Target::Bundle(bundle) => bundles[bundle],
                    Target::Vertex(gap) => near.get(forest.span(gap)),
                });
                best = best.max(forest.outlook(edge) + parts.sum::<f64>());
            }
            vertices[vertex] = best;
            let span = forest.span(vertex);
            units.push((span, best + glue.score));
            near.improve(span, best);
        }
        if size > longest && next == rules.len() {
            break;
        }
        near.join(size, glue.score);
    }
    units.sort_by_key(|(span, _)| (span.end, span.start));
    let futures = GlueFutures { costs: FutureCosts::new(length as usize, &units), glue: glue.score };
    // Phrases are worth what they are; spans may be glued.
    for vertex in
        forest.vertices().filter(|&vertex| glue.is_whole(forest.span(vertex), vertex) || is_goal(vertex))
    {
        vertices[vertex] = futures.of(forest.span(vertex));
    }
    (Estimate::of_parts(vertices, bundles, lm_queries), futures)
}

/// What short spans are worth.
struct Near {
    longest: u32,
    values: Vec<f64>,
}

impl Near {
    fn new(length: u32, longest: u32) -> Self {
        Self { longest, values: vec![f64::NEG_INFINITY; length as usize * longest as usize] }
    }

    fn get(&self, span: Span) -> f64 {
        let size = span.len() as u32;
        if size == 0 || size > self.longest {
            return f64::NEG_INFINITY;
        }
        self.values[(span.start * self.longest + size - 1) as usize]
    }

    fn improve(&mut self, span: Span, value: f64) {
        let size = span.len() as u32;
        if size <= self.longest {
            let place = &mut self.values[(span.start * self.longest + size - 1) as usize];
            *place = place.max(value);
        }
    }

    /// Spans of a length as two parts that are glued.
    fn join(&mut self, size: u32, glue: f64) {
        if size > self.longest {
            return;
        }
        let length = (self.values.len() / self.longest.max(1) as usize) as u32;
        for start in 0..(length + 1).saturating_sub(size) {
            for middle in start + 1..start + size {
                let [left, right] = [(start, middle), (middle, start + size)]
                    .map(|(start, end)| self.get(Span { start, end }));
                self.improve(Span { start, end: start + size }, left + right + glue);
            }
        }
    }
}

/// A choice that glues a phrase.
#[derive(Debug, Clone, Copy)]
pub(super) struct Glued {
    edge: EdgeId,
    turned: bool,
}

/// The highest bits of a choice say that it glues, and that what the phrase leaves is translated last part first.
const GLUES: u32 = 1 << 31;
const TURNS: u32 = 1 << 30;

impl Glued {
    #[inline]
    pub(super) fn of(choice: u32) -> Option<Self> {
        let edge = EdgeId(choice & !(GLUES | TURNS));
        (choice & GLUES != 0).then_some(Self { edge, turned: choice & TURNS != 0 })
    }

    fn choice(self) -> u32 {
        self.edge.0 | GLUES | if self.turned { TURNS } else { 0 }
    }
}

/// The rules of a vertex, or its phrases as glue in one order of what they leave.
fn list(vertex: VertexId, turned: Option<bool>) -> ListId {
    ListId(3 * vertex.0 + turned.map_or(0, |turned| 1 + u32::from(turned)))
}

pub(super) fn of_list(list: ListId) -> (VertexId, Option<bool>) {
    let turned = match list.0 % 3 {
        0 => None,
        1 => Some(false),
        _ => Some(true),
    };
    (VertexId(list.0 / 3), turned)
}

impl TopDown<'_> {
    /// What a gap is expected to cost.
    fn gap_value(&self, gap: Span) -> f64 {
        match (self.config.future, &self.futures) {
            (Future::Inside | Future::Phrases, Some(futures)) => futures.of(gap),
            (Future::Rough, Some(futures)) => {
                let goal = self.forest.span(self.forest.goal());
                futures.of(goal) / goal.len().max(1) as f64 * gap.len() as f64
            }
            _ => 0.0,
        }
    }

    /// What the gaps that a phrase leaves are expected to cost. Minus infinity where one of them has no translation.
    fn gap_values(&self, span: Span, phrase: Span) -> f64 {
        let is_possible =
            |gap: Span| self.futures.as_ref().is_none_or(|futures| futures.of(gap) > f64::NEG_INFINITY);
        let value = |gap: Span| if is_possible(gap) { self.gap_value(gap) } else { f64::NEG_INFINITY };
        Glue::gaps(span, phrase, false).map(value).sum()
    }

    pub(super) fn glue_lists(&self, glue: &Glue, vertex: VertexId, out: &mut Vec<(ListId, f64)>) {
        if self.growing.edges(vertex).len() > 0 {
            out.push((list(vertex, None), 0.0));
        }
        // Phrases are no spans that glue can be used in.
        let span = self.growing.span(vertex);
        let first = out.len();
        let mut ranks: Vec<(f64, u32)> = Vec::new();
        for (inside, phrase) in glue.phrases(span) {
            let gaps = self.gap_values(span, inside);
            if gaps == f64::NEG_INFINITY {
                continue;
            }
            for &turned in Glue::orders(span, inside) {
                let offset = glue.score(span, inside, turned) + gaps;
                ranks.push((offset + self.estimate.vertex(phrase), out.len() as u32));
                out.push((list(phrase, Some(turned)), offset));
            }
        }
        if ranks.len() > self.config.glued {
            let best_first = |a: &(f64, u32), b: &(f64, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
            ranks.select_nth_unstable_by(self.config.glued, best_first);
            ranks.truncate(self.config.glued);
            let mut kept: Vec<u32> = ranks.into_iter().map(|(_, place)| place).collect();
            kept.sort_unstable();
            for (place, &from) in kept.iter().enumerate() {
                out[first + place] = out[from as usize];
            }
            out.truncate(first + kept.len());
        }
    }

    pub(super) fn glue_options(&self, phrase: VertexId, turned: bool, out: &mut Vec<Choice>) {
        let advance = self.forest.span(phrase).len() as u32;
        out.extend(self.forest.edges(phrase).map(|edge| {
            let words =
                self.forest.target(edge).iter().map(|&symbol| self.estimate.symbol(symbol)).sum::<f64>();
            let estimate = self.forest.edge(edge).spec.score + words;
            Choice { id: Glued { edge, turned }.choice(), estimate, advance, exactly: true }
        }));
    }

    /// The vertex that is next, its span and that of the phrase.
    fn around(&self, item: ItemId, glued: Glued) -> Option<(VertexId, Span, Span)> {
        let Target::Vertex(head) = self.cells[item].first else { return None };
        let phrase = self.forest.edge(glued.edge).head;
        Some((head, self.growing.span(head), self.forest.span(phrase)))
    }

    pub(super) fn emit_glued(&self, item: ItemId, glued: Glued, bundles: &mut Vec<BundleId>) -> f64 {
        let (Some((_, span, phrase)), Some(glue)) = (self.around(item, glued), self.forest.glue()) else {
            return f64::INFINITY;
        };
        super::leading_bundles(self.forest.target(glued.edge), |bundle| bundles.push(bundle));
        let score = self.forest.edge(glued.edge).spec.score + glue.score(span, phrase, glued.turned);
        let gaps: f64 = Glue::gaps(span, phrase, glued.turned).map(|gap| self.gap_value(gap)).sum();
        score + gaps + self.cells[self.cells[item].rest].future
    }

    pub(super) fn apply_glued(&mut self, item: ItemId, glued: Glued, out: &mut Application) {
        let Some((head, span, phrase)) = self.around(item, glued) else { return };
        let inside = self.forest.edge(glued.edge).head;
        let (Some(edge), Some(glue)) = (self.growing.glue(head, inside, glued.turned), self.forest.glue())
        else {
            return;
        };
        let gaps: Vec<Span> = Glue::gaps(span, phrase, glued.turned).collect();
        let below = self.cells[item].stack;
        let mut stack = self.cells[item].rest;
        for (place, &gap) in gaps.iter().enumerate().rev() {
            let vertex = self.growing.vertex(gap);
            // After the phrase.
            let dotted = self.stack(edge, place + 1, below);
            stack = self.push(Target::Vertex(vertex), stack, dotted);
        }
        out.trail.push(Charge { edge, after: None });
        out.trail.push(Charge { edge: glued.edge, after: Some(0) });
        let score = glue.score(span, phrase, glued.turned) + self.forest.edge(glued.edge).spec.score;
        out.successors.push(Successor { item: stack, score, charged: Some(1) });
    }
}
