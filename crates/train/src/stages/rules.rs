//! Rules: extracted from trees, links and target words, and scored.

use sylvan_rules::extract::ExtractConfig;
use sylvan_rules::{Preprocessing, ScoreConfig, TrainingFiles};

use crate::preflight::shown;
use crate::run::Run;
use crate::work::Stage;
use sylvan_decode::{Error, Result};

pub(crate) fn run(run: &mut Run<'_>, say: &mut dyn FnMut(&str)) -> Result<()> {
    let table = run.rules.clone();
    let (Some(trees), Some(links)) = (run.train.trees.clone(), run.links.clone()) else {
        return Err(Error::setting("trees", "no trees", "trees or a parser"));
    };
    let files = TrainingFiles { trees, target: run.train.target.clone(), align: links };
    let config = sylvan_rules::TrainConfig {
        preprocessing: Preprocessing { binarise: run.settings.binarize, ..Preprocessing::default() },
        extract: ExtractConfig { minimal_rules: run.config.compose.max(1), ..ExtractConfig::default() },
        score: ScoreConfig {
            smoothing: run.settings.smoothing,
            lines: if run.config.lines { ScoreConfig::default().lines } else { 0 },
            evidence: run.config.evidence,
            ..ScoreConfig::default()
        },
        memory: run.config.memory,
        threads: run.threads,
        ..sylvan_rules::TrainConfig::default()
    };
    let stage = Stage {
        name: "rules",
        inputs: vec![&files.trees, &files.target, &files.align],
        settings: format!("{:?} {:?} {:?}", config.preprocessing, config.extract, config.score),
        outputs: vec![&table],
    };
    let progress = run.progress;
    run.work.run(&stage, say, |say| {
        let trained = sylvan_rules::train(&files, &table, &config, progress)?;
        if trained.scored.kept == 0 {
            return Err(Error::setting(shown(&files.trees), "no rules", "trees with links")
                .advise("are trees and links empty?"));
        }
        say(&format!("  {} rules from {} pairs", trained.scored.kept, trained.pairs));
        Ok(())
    })
}
