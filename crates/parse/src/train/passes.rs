//! The passes over the training trees that all kinds of parser share: learn, measure on held-out trees, report,
//! keep the best.

use sylvan_base::{Progress, parallel};

use super::{News, Report, TrainConfig};
use crate::machine::{Example, LearnConfig, Rows, Search, System, learn};
use crate::model::Parser;

/// What a parser learns from and is measured on.
pub(crate) struct Passes<'a, S: System> {
    pub(crate) system: &'a S,
    pub(crate) examples: &'a [Example<S::Sentence>],
    pub(crate) held_out: &'a [S::Sentence],
    /// What the figure on held-out trees is called.
    pub(crate) figure: &'static str,
}

impl<S: System> Passes<'_, S> {
    /// Makes the passes. `measure` turns the actions for the held-out sentences into the figure, larger is better;
    /// `assemble` puts the weights and the figure, if there is one, into a parser.
    pub(crate) fn run(
        &self,
        learning: &LearnConfig,
        config: &TrainConfig,
        progress: &dyn Progress,
        report: Report<'_>,
        mut measure: impl FnMut(&[Vec<u8>]) -> f64,
        assemble: impl Fn(Rows, Option<f64>) -> Parser,
    ) -> Parser {
        let mut passes = 0.0;
        let mut judge = |rows: &Rows| {
            if self.held_out.is_empty() {
                // Nothing to judge by: the last pass wins.
                passes += 1.0;
                return passes;
            }
            let actions = parallel::map(self.held_out, config.threads, Search::new, |search, _, sentence| {
                search.run(self.system, rows, sentence, config.beam);
                search.actions(search.beam[0])
            });
            measure(&actions)
        };
        let shown = |figure: f64| (!self.held_out.is_empty()).then_some(figure);
        let rows =
            learn(self.system, self.examples, learning, "parser", progress, &mut judge, |epoch, rows| {
                let figure = shown(epoch.figure).map(|figure| format!(", {} {figure:.2}", self.figure));
                report(News::Line(&format!(
                    "parser epoch {:>2}: {:>6} sentences wrong{}",
                    epoch.number,
                    epoch.updates,
                    figure.unwrap_or_default()
                )));
                if epoch.best {
                    report(News::Better(&assemble(rows.clone(), shown(epoch.figure))));
                }
            });
        let figure = judge(&rows);
        assemble(rows, shown(figure))
    }
}
