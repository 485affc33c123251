//! Left-to-right searches step by step, in the notation of their papers.

use sylvan_base::Vocab;
use sylvan_forest::{EdgeId, Target, TranslationForest, VertexId};
use sylvan_search::{
    Engine, LanguageModel, NoStepModel, PredictionStep, Problem, Step, Wanted, incremental_search,
    prediction_search,
};

use super::{Algorithm, Syntax};

/// An item of a left-to-right search as its paper writes it.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceItem {
    /// What of the source is covered: its bin.
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
    /// The rules charged so far, in the order of the search.
    pub edges: Vec<EdgeId>,
    /// Whether the beam kept it. Of those that it dropped only the best few are listed.
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

/// The items of a search, bins in order, best first, dropped ones behind those that were kept; at the end the answer.
/// For searches without bins, nothing.
pub fn trace<L: LanguageModel>(
    forest: &TranslationForest,
    syntax: &Syntax,
    lm: &L,
    vocab: &Vocab,
    algorithm: Algorithm,
) -> Vec<TraceItem> {
    let label = |vertex: VertexId| vocab.text(syntax.label(vertex)).to_string();
    let symbol = |symbol: &Target| match symbol {
        Target::Vertex(vertex) => label(*vertex),
        Target::Bundle(bundle) => vocab.join(forest.bundle(*bundle)),
    };
    let symbols = |list: &[Target]| {
        let shown: Vec<String> = list.iter().map(symbol).filter(|text| !text.is_empty()).collect();
        shown.join(" ")
    };
    let problem = Problem { forest, lm, steps: &NoStepModel };
    let mut engine = Engine::default();
    let mut items = Vec::new();
    match algorithm {
        Algorithm::Incremental(limits, config) => {
            let mut on_step = |step: &Step| {
                items.push(TraceItem {
                    bin: step.bin as usize,
                    round: None,
                    stack: format!("[. {}]", symbols(&step.residual)),
                    words: Some(vocab.join(&step.words)),
                    score: step.score,
                    future: step.future,
                    edges: step.edges.clone(),
                    kept: step.kept,
                    among: step.among,
                });
            };
            incremental_search(&mut engine, &problem, limits, config, Wanted::default(), Some(&mut on_step));
        }
        Algorithm::Prediction(limits, config) => {
            let goal = label(forest.goal());
            let mut on_step = |step: &PredictionStep| {
                let mut stack = if step.frames.is_empty() && step.bin > 0 {
                    format!("[{goal} .]")
                } else {
                    format!("[. {goal}]")
                };
                for (index, (_, prefix)) in step.frames.iter().enumerate() {
                    // In a frame below another, the upper one's goal is pending.
                    let pending = step.frames.get(index + 1).map_or(String::new(), |(goal, _)| label(*goal));
                    let shown = format!("{} . {pending}", symbols(prefix));
                    stack.push_str(&format!(" [{}]", shown.trim()));
                }
                items.push(TraceItem {
                    bin: step.bin,
                    round: Some(step.round),
                    stack,
                    words: None,
                    score: step.score,
                    future: step.future,
                    edges: step.edges.clone(),
                    kept: step.kept,
                    among: step.among,
                });
            };
            prediction_search(&mut engine, &problem, limits, config, Wanted::default(), Some(&mut on_step));
        }
        Algorithm::Cube(_) | Algorithm::Refine(_) | Algorithm::Exact(..) => {}
    }
    items
}
