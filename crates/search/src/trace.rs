//! Searches step by step, in the notation of their papers.

use sylvan_base::Vocab;
use sylvan_forest::{Derivation, EdgeId, Target, TranslationForest, VertexId};

use crate::engine::{Engine, Run};
use crate::incremental::{self, Step};
use crate::prediction::{self, PredictionStep};
use crate::stacks::{self, StackStep};
use crate::undirected::{Agenda, Pop};
use crate::{LanguageModel, Outcome, Search, TwoSided};

/// An item of a left-to-right search as its paper writes it, or what undirected search took from its queue.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceItem {
    /// Its bin: how much of the source is covered. In undirected search, how many were taken before it.
    pub bin: usize,
    /// The round in the bin, for searches whose steps may lead back into a bin.
    pub round: Option<usize>,
    /// The stack.
    pub stack: String,
    /// The target words so far, where the stack does not show them.
    pub words: Option<String>,
    /// The score so far.
    pub score: f64,
    /// The estimate of the rest.
    pub future: f64,
    /// The rules charged so far, in the order of the search; undirected: the rules below it, tails first.
    pub edges: Vec<EdgeId>,
    /// Whether the beam kept it. Of those that it dropped only the best few are listed. Undirected: whether it is new.
    pub kept: bool,
    /// How many items competed with it, itself included.
    pub among: usize,
}

impl TraceItem {
    /// Bin, stack, words, score and estimate, separated by tabs.
    pub fn line(&self) -> String {
        let round = self.round.map_or(String::new(), |round| format!(".{round}"));
        let words = self.words.as_ref().map_or(String::new(), |words| format!("\t{words}"));
        format!("{}{round}\t{}{words}\t{:.4}\t{:.4}", self.bin, self.stack, self.score, self.future)
    }
}

/// Symbols of a forest as text.
struct Names<'a> {
    forest: &'a TranslationForest,
    vocab: &'a Vocab,
}

impl Names<'_> {
    /// The label of a vertex; its number where vertices have none.
    fn label(&self, vertex: VertexId) -> String {
        let label = self.forest.label(vertex);
        label.map_or_else(|| vertex.0.to_string(), |label| self.vocab.text(label).to_string())
    }

    fn symbols(&self, list: &[Target]) -> String {
        let shown = list.iter().map(|symbol| match symbol {
            Target::Vertex(vertex) => self.label(*vertex),
            Target::Bundle(bundle) => {
                let words = self.forest.bundle_words(*bundle).map(|word| self.vocab.text(word));
                words.collect::<Vec<_>>().join(" ")
            }
        });
        shown.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

impl Search {
    /// The items of a search, bins in order, best first, dropped ones after those that were kept; at the end
    /// the answer. Nothing for searches without bins.
    pub fn trace<L: LanguageModel + TwoSided>(
        &self,
        forest: &TranslationForest,
        run: Run<'_, L>,
        vocab: &Vocab,
    ) -> Vec<TraceItem> {
        let names = Names { forest, vocab };
        let run = Run { show_dropped: true, ..run };
        let mut items = Vec::new();
        let mut engine = Engine::default();
        match *self {
            Search::Incremental(limits, config) => {
                let mut on_step = |step: &Step| items.push(names.top_down(step));
                incremental::search(&mut engine, forest, run, limits, config, Some(&mut on_step));
            }
            Search::Prediction(limits, config) => {
                let mut on_step = |step: &PredictionStep| items.push(names.bottom_up(step));
                prediction::search(&mut engine, forest, run, limits, config, Some(&mut on_step));
            }
            Search::Stacks(limits, config) => {
                let mut on_step = |step: &StackStep| items.push(names.phrases(step));
                stacks::search(&mut engine, forest, run, limits, config, Some(&mut on_step));
            }
            Search::Undirected(config) => {
                let mut on_pop = |pop: &Pop| {
                    let item = names.free(items.len(), pop);
                    items.push(item);
                };
                let found = Agenda::default().search(forest, run.lm, config, run.stop, Some(&mut on_pop));
                items.extend(found.map(|found| names.free_answer(&found)));
            }
            Search::Cube(_) | Search::Refine(_) | Search::Exact(..) => {}
        }
        items
    }
}

impl Names<'_> {
    /// What is still to be produced; in left-to-right Hiero spans alone.
    fn residual(&self, step: &Step) -> String {
        let symbols = match self.forest.glue() {
            None => self.symbols(&step.residual),
            Some(_) => {
                let spans = step.open.iter().map(|span| format!("[{},{})", span.start, span.end));
                spans.collect::<Vec<_>>().join(" ")
            }
        };
        format!("[. {symbols}]")
    }

    fn top_down(&self, step: &Step) -> TraceItem {
        let words = step.words.iter().map(|&token| self.vocab.text(self.forest.token(token).word));
        TraceItem {
            bin: step.bin as usize,
            round: None,
            stack: self.residual(step),
            words: Some(words.collect::<Vec<_>>().join(" ")),
            score: step.score,
            future: step.future,
            edges: step.edges.clone(),
            kept: step.kept,
            among: step.among,
        }
    }

    /// What was taken from the queue: where, with which words, a gap for the hole.
    fn free(&self, number: usize, pop: &Pop) -> TraceItem {
        let place = match pop.vertex {
            None => "sentence".to_string(),
            Some(vertex) => {
                let span = self.forest.span(vertex);
                format!("{}[{},{})", self.label(vertex), span.start, span.end)
            }
        };
        let word =
            |token: &Option<_>| token.map_or("_", |token| self.vocab.text(self.forest.token(token).word));
        TraceItem {
            bin: number,
            round: None,
            stack: place,
            words: Some(pop.words.iter().map(word).collect::<Vec<_>>().join(" ")),
            score: pop.score,
            future: pop.estimate - pop.score,
            edges: pop.edges.clone(),
            kept: pop.fresh,
            among: pop.waiting,
        }
    }

    fn free_answer(&self, found: &Outcome) -> TraceItem {
        let words: Vec<&str> =
            found.words(self.forest).into_iter().map(|word| self.vocab.text(word)).collect();
        let edges = self.tails_first(found.derivation.edges());
        TraceItem {
            bin: 0,
            round: None,
            stack: "answer".to_string(),
            words: Some(words.join(" ")),
            score: found.score,
            future: 0.0,
            edges,
            kept: true,
            among: 1,
        }
    }

    /// Edges that are given heads first, each after its tails.
    fn tails_first(&self, heads_first: &[EdgeId]) -> Vec<EdgeId> {
        let mut out = Vec::with_capacity(heads_first.len());
        // Edges whose tails are not all there, and how many are missing.
        let mut open: Vec<(EdgeId, usize)> = Vec::new();
        for &edge in heads_first {
            open.push((edge, self.forest.tails(edge).count()));
            while let Some(&(edge, 0)) = open.last() {
                open.pop();
                out.push(edge);
                if let Some((_, missing)) = open.last_mut() {
                    *missing -= 1;
                }
            }
        }
        out
    }

    /// Translated source words as stars, the others as dots.
    fn phrases(&self, step: &StackStep) -> TraceItem {
        let visit = &step.visit;
        let words = Derivation::new(visit.edges.clone()).words(self.forest);
        let words: Vec<&str> = words.into_iter().map(|word| self.vocab.text(word)).collect();
        TraceItem {
            bin: visit.bin,
            round: None,
            stack: step.covered.iter().map(|&done| if done { '*' } else { '.' }).collect(),
            words: Some(words.join(" ")),
            score: visit.score,
            future: visit.future,
            edges: visit.edges.clone(),
            kept: visit.kept,
            among: visit.among,
        }
    }

    fn bottom_up(&self, step: &PredictionStep) -> TraceItem {
        let goal = self.label(self.forest.goal());
        let done = step.frames.is_empty() && step.bin > 0;
        let mut stack = if done { format!("[{goal} .]") } else { format!("[. {goal}]") };
        for (index, (_, prefix)) in step.frames.iter().enumerate() {
            // In a frame below another, the upper one's goal is pending.
            let pending = step.frames.get(index + 1).map_or(String::new(), |(goal, _)| self.label(*goal));
            let shown = format!("{} . {pending}", self.symbols(prefix));
            stack.push_str(&format!(" [{}]", shown.trim()));
        }
        TraceItem {
            bin: step.bin,
            round: Some(step.round),
            stack,
            words: None,
            score: step.score,
            future: step.future,
            edges: step.edges.clone(),
            kept: step.kept,
            among: step.among,
        }
    }
}
