//! Evaluating: translates the tuning text and the held-out text with several searches, and scores them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sylvan_base::{Progress, parallel};
use sylvan_decode::{List, Model, Sentence, TargetText, With, Worker};
use sylvan_eval::compare::{Interval, interval};
use sylvan_eval::{Bleu, Chrf, Metric, Tokenizer};
use sylvan_rules::{Formalism, Weights};
use sylvan_search::{Search, SearchName, Stop};
use sylvan_store::{TextReader, read_lines};
use sylvan_text::Lang;
use sylvan_trees::surface;

use super::{open_model, read_sentences, write};
use crate::run::{Part, Run};
use crate::tuning::tuning_search;
use crate::work::Stage;
use sylvan_decode::{Error, Result};

pub(crate) fn run(run: &mut Run<'_>, say: &mut dyn FnMut(&str)) -> Result<()> {
    let scores = run.work.file("scores.json");
    let parts: Vec<(&str, Part)> = [("dev", Some(run.dev.clone())), ("holdout", run.holdout.clone())]
        .into_iter()
        .filter_map(|(name, part)| Some((name, part?)))
        .collect();
    let outputs: Vec<PathBuf> = parts.iter().map(|(name, _)| run.work.file(&format!("{name}.out"))).collect();
    let (rules, language_model, weights) =
        (run.rules.clone(), run.language_model.clone(), run.weights.clone());
    let besides = run.besides();
    let mut inputs = vec![rules.as_path(), &language_model, &weights];
    inputs.extend(besides.files());
    let formalism = run.settings.formalism;
    for (_, part) in &parts {
        inputs.extend([part.input(formalism)?.0, part.reference.as_path()]);
    }
    let config = run.config;
    let stage = Stage {
        name: "evaluate",
        inputs,
        settings: format!(
            "{} {} {} {} intervals",
            config.beam, config.target_lang, config.tokenized, besides.unseen
        ),
        outputs: outputs.iter().map(PathBuf::as_path).chain([scores.as_path()]).collect(),
    };
    let (target, metric) = measuring(config.tokenized, &config.target_lang);
    let (threads, progress) = (run.threads, run.progress);
    run.work.run(&stage, say, |say| {
        let weights = Weights::read(&mut TextReader::open(&weights)?)?;
        let model = Arc::new(open_model(&rules, &language_model, &besides, &weights)?);
        let mut all: BTreeMap<String, f64> = BTreeMap::new();
        // Tuning says another figure for the same text, and people wonder.
        let of_text = if config.tokenized { "" } else { " (of finished text; tuning compares words)" };
        for ((name, part), out) in parts.iter().zip(&outputs) {
            let sentences = read_sentences(&model, part.input(formalism)?)?;
            let mut references = read_lines(&part.reference)?;
            if config.tokenized {
                // No translation has codes of a treebank.
                references.iter_mut().for_each(|line| *line = without_codes(line));
            }
            let references = vec![references];
            for (number, search) in searches(&model, config.beam).into_iter().enumerate() {
                progress
                    .begin(&format!("translating {name}, {}", search.name()), Some(sentences.len() as u64));
                let lines = translate(&model, &sentences, search, &target, (threads, progress));
                progress.end();
                let search = search.name();
                let bleu = metric.corpus(&lines, &references).map_err(scores_error)?.score;
                say(&format!("  {name}, {search}: BLEU {bleu:.2}{of_text}"));
                all.insert(format!("{name}.{search}.bleu"), bleu);
                if number == 0 {
                    all.insert(format!("{name}.sentences"), lines.len() as f64);
                    measure(&format!("{name}.bleu"), &metric, &lines, &references, &mut all)?;
                    measure(&format!("{name}.chrf"), &Chrf::default(), &lines, &references, &mut all)?;
                    write(out, &(lines.join("\n") + "\n"))?;
                }
            }
        }
        write(&scores, &(serde_json::to_string_pretty(&all).unwrap_or_default() + "\n"))
    })?;
    let text = std::fs::read_to_string(&scores).map_err(sylvan_base::InputError::io(&scores, "read"))?;
    let all: BTreeMap<String, f64> = serde_json::from_str(&text).unwrap_or_default();
    run.scores = all.into_iter().collect();
    Ok(())
}

/// Test sets that are drawn to see how far a score is chance.
const SAMPLES: usize = 1000;
const SEED: u64 = 12345;

/// A score, and where 95 in 100 test sets of this kind would have it.
fn measure<M: Metric>(
    name: &str,
    metric: &M,
    lines: &[String],
    references: &[Vec<String>],
    all: &mut BTreeMap<String, f64>,
) -> Result<()> {
    let stats = metric.line_stats(lines, references, std::num::NonZeroUsize::MIN).map_err(scores_error)?;
    all.insert(name.to_string(), metric.value(&metric.sum(&stats)));
    if stats.len() > 1 {
        let Interval { low, high, .. } = interval(metric, &stats, SAMPLES, SEED);
        all.insert(format!("{name}.low"), low);
        all.insert(format!("{name}.high"), high);
    }
    Ok(())
}

/// The searches to measure: first the one used in tuning, then those that work left to right.
fn searches(model: &Model, beam: usize) -> Vec<Search> {
    let mut searches = vec![tuning_search(model, beam)];
    // From left to right already, and others would need all of the glue.
    if model.formalism() == Formalism::LrHiero {
        return searches;
    }
    for name in [SearchName::Incremental, SearchName::Prediction] {
        if name == searches[0].name() {
            continue;
        }
        // Items of a left-to-right search cost several times as much.
        let search = Search::named(name).with_beam(beam.min(name.default_beam()));
        searches.extend(model.search(Some(search)).ok());
    }
    searches
}

/// How translations are written and measured: tokens as they are, or natural text as is usual for the
/// language.
fn measuring(tokenized: bool, lang: &str) -> (TargetText, Bleu) {
    let Ok(lang) = lang.parse::<Lang>();
    let tokenizer = match (tokenized, lang) {
        (true, _) => Tokenizer::None,
        (false, Lang::Zh) => Tokenizer::Zh,
        (false, Lang::Ja) => Tokenizer::Char,
        (false, _) => Tokenizer::V13a,
    };
    let target = if tokenized { TargetText::words() } else { TargetText::natural(lang) };
    (target, Bleu { tokenizer, ..Bleu::default() })
}

fn translate(
    model: &Arc<Model>,
    sentences: &[Option<Sentence>],
    search: Search,
    target: &TargetText,
    (threads, progress): (usize, &dyn Progress),
) -> Vec<String> {
    let done = AtomicU64::new(0);
    let worker = || Worker::new(Arc::clone(model));
    parallel::map(sentences, threads, worker, |worker, _, sentence| {
        progress.at(done.fetch_add(1, Ordering::Relaxed) + 1);
        let Some(sentence) = sentence else { return String::new() };
        let decoded = worker.decode(sentence, With::default(), search, List::default(), &Stop::NEVER);
        let Some(best) = decoded.hypotheses.first() else { return String::new() };
        worker.derived(sentence, With::default(), &decoded.forest, &best.derivation).compose(*target).text
    })
}

/// The tokens of a line as people write them.
fn without_codes(line: &str) -> String {
    line.split_ascii_whitespace().map(surface).collect::<Vec<_>>().join(" ")
}

fn scores_error(error: sylvan_eval::EvalError) -> Error {
    Error::Scores(Box::new(error))
}
