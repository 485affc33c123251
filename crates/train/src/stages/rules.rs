//! Rules: extracted from trees or words, links and target words, and scored.

use std::path::PathBuf;

use sylvan_rules::extract::{ExtractConfig, FlatRules, HieroConfig, LeftToRight, PhraseConfig};
use sylvan_rules::{FlatConfig, Formalism, Preprocessing, ScoreConfig, TextFiles, Trained, TrainingFiles};

use crate::preflight::shown;
use crate::run::{Of, Run};
use crate::work::Stage;
use sylvan_decode::{Error, Result};

pub(crate) fn run(run: &mut Run<'_>, say: &mut dyn FnMut(&str)) -> Result<()> {
    for of in run.texts() {
        match run.settings.formalism {
            Formalism::Tree => of_trees(run, of, say)?,
            _ => of_text(run, of, say)?,
        }
    }
    Ok(())
}

const NAMES: [&str; 2] = ["rules", "rules-rest"];

fn scoring(run: &Run<'_>) -> ScoreConfig {
    ScoreConfig {
        smoothing: run.settings.smoothing,
        lines: if run.config.lines { ScoreConfig::default().lines } else { 0 },
        evidence: run.config.evidence,
        min_count: run.settings.least_count(run.config, run.pairs),
        ..ScoreConfig::default()
    }
}

fn of_trees(run: &mut Run<'_>, of: Of, say: &mut dyn FnMut(&str)) -> Result<()> {
    let table = run.rules(of).to_path_buf();
    let Some(trees) = run.text(of).trees.clone() else {
        return Err(Error::setting("trees", "no trees", "trees or a parser"));
    };
    let files = TrainingFiles { trees, target: run.text(of).target.clone(), links: run.links(of)? };
    let config = sylvan_rules::TrainConfig {
        preprocessing: Preprocessing { binarise: run.settings.binarize, ..Preprocessing::default() },
        extract: ExtractConfig { minimal_rules: run.config.compose.max(1), ..ExtractConfig::default() },
        score: scoring(run),
        memory: run.config.memory,
        threads: run.threads,
        ..sylvan_rules::TrainConfig::default()
    };
    let stage = Stage {
        name: of.name(NAMES),
        inputs: [&files.trees, &files.target].into_iter().chain(&files.links).map(PathBuf::as_path).collect(),
        settings: format!("{:?} {:?} {:?}", config.preprocessing, config.extract, config.score),
        outputs: vec![&table],
    };
    let progress = run.progress;
    run.work.run(&stage, say, |say| {
        told(&sylvan_rules::train(&files, &table, &config, progress)?, &shown(&files.trees), say)
    })
}

fn of_text(run: &mut Run<'_>, of: Of, say: &mut dyn FnMut(&str)) -> Result<()> {
    let table = run.rules(of).to_path_buf();
    let (source, target) = (run.text(of).source.clone(), run.text(of).target.clone());
    let files = TextFiles { source, target, links: run.links(of)? };
    let rules = match run.settings.formalism {
        Formalism::Phrase => FlatRules::Phrase(PhraseConfig {
            orientation: run.settings.orientation,
            ..PhraseConfig::default()
        }),
        Formalism::LrHiero => FlatRules::LeftToRight(LeftToRight {
            reordering: run.settings.reordering,
            ..LeftToRight::default()
        }),
        _ => FlatRules::Hiero(HieroConfig::default()),
    };
    let config = FlatConfig {
        score: scoring(run),
        memory: run.config.memory,
        threads: run.threads,
        ..FlatConfig::new(rules)
    };
    let stage = Stage {
        name: of.name(NAMES),
        inputs: [&files.source, &files.target]
            .into_iter()
            .chain(&files.links)
            .map(PathBuf::as_path)
            .collect(),
        settings: format!("{:?} {:?}", config.rules, config.score),
        outputs: vec![&table],
    };
    let progress = run.progress;
    run.work.run(&stage, say, |say| {
        told(&sylvan_rules::train_flat(&files, &table, &config, progress)?, &shown(&files.source), say)
    })
}

fn told(trained: &Trained, text: &str, say: &mut dyn FnMut(&str)) -> Result<()> {
    if trained.scored.kept == 0 {
        return Err(
            Error::setting(text, "no rules", "a text with links").advise("are all lines or links empty?")
        );
    }
    say(&format!("  {} rules from {} pairs", trained.scored.kept, trained.pairs));
    Ok(())
}
