//! Left-to-right searches step by step, in the notation of their papers.

use sylvan_base::Vocab;
use sylvan_forest::{Target, TranslationForest, VertexId};
use sylvan_search::{
    Engine, LanguageModel, NoStepModel, PredictionStep, Problem, Step, Wanted, incremental_search,
    prediction_search,
};

use super::{Algorithm, Syntax};

/// One line per item that survived in its bin: the bin, the stack, score and estimate of the rest; for searches
/// without bins, nothing.
pub fn trace<L: LanguageModel>(
    forest: &TranslationForest,
    syntax: &Syntax,
    lm: &L,
    vocab: &Vocab,
    algorithm: Algorithm,
) -> Vec<String> {
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
    let mut lines = Vec::new();
    match algorithm {
        Algorithm::Incremental(limits, config) => {
            let mut on_step = |step: &Step| {
                let residual = symbols(&step.residual);
                let words = vocab.join(&step.words);
                lines.push(format!(
                    "{}\t[. {residual}]\t{words}\t{:.4}\t{:.4}",
                    step.bin, step.score, step.future
                ));
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
                lines.push(format!(
                    "{}.{}\t{stack}\t{:.4}\t{:.4}",
                    step.bin, step.round, step.score, step.future
                ));
            };
            prediction_search(&mut engine, &problem, limits, config, Wanted::default(), Some(&mut on_step));
        }
        Algorithm::Cube(_) | Algorithm::Refine(_) | Algorithm::Exact(..) => {}
    }
    lines
}
