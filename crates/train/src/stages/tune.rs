//! Tuning: finds the weights that translate the tuning text best.

use std::path::PathBuf;
use std::sync::Arc;

use sylvan_rules::Weights;
use sylvan_store::read_lines;
use sylvan_tune::{MertConfig, Method, MiraConfig, Plan, curve};

use super::{open_model, read_sentences, write};
use crate::preflight::Tuner;
use crate::run::{Of, Run};
use crate::tuning::{Text, log, start_weights, tuning_search};
use crate::work::Stage;
use sylvan_decode::{Input, Result};

pub(crate) fn run(run: &mut Run<'_>, say: &mut dyn FnMut(&str)) -> Result<()> {
    let files = ["weights", "tune.json", "tune.svg"].map(|name| run.work.file(name));
    let parts = || std::iter::once(&run.dev).chain(run.rest.as_ref().map(|rest| &rest.aside));
    let texts: Vec<(PathBuf, Input)> = parts()
        .map(|part| part.input(run.settings.formalism).map(|(path, input)| (path.to_path_buf(), input)))
        .collect::<Result<_>>()?;
    let targets: Vec<PathBuf> = parts().map(|part| part.target.clone()).collect();
    let config = run.config;
    let plan = Plan { rounds: config.rounds, ..Plan::default() };
    let mert = MertConfig { seed: config.seed, threads: run.threads, ..MertConfig::default() };
    let method = match run.settings.tuner {
        Tuner::Mert => Method::Mert(mert),
        Tuner::ForestMert => Method::ForestMert { mert, margin: Method::USUAL_MARGIN },
        Tuner::Mira => Method::Mira(MiraConfig { seed: config.seed, ..MiraConfig::default() }),
    };
    let metric = run.settings.metric;
    // What was learnt without the pairs that are tuned on, if there are such.
    let (rules, language_model) =
        (run.rules(Of::Rest).to_path_buf(), run.language_model(Of::Rest).to_path_buf());
    let besides = run.besides_tuned();
    let mut inputs = vec![rules.as_path(), &language_model];
    inputs.extend(texts.iter().map(|(path, _)| path.as_path()).chain(targets.iter().map(PathBuf::as_path)));
    inputs.extend(besides.files());
    let stage = Stage {
        name: "tune",
        inputs,
        settings: format!(
            "{:?} {} {} {} {} {} {}",
            run.settings.tuner,
            config.metric,
            config.rounds,
            config.nbest,
            config.seed,
            config.beam,
            besides.unseen
        ),
        outputs: files.iter().map(PathBuf::as_path).collect(),
    };
    let (threads, progress) = (run.threads, run.progress);
    run.work.run(&stage, say, |say| {
        let model = open_model(&rules, &language_model, &besides, &Weights::default())?;
        let start = start_weights(model.features());
        // Which search is usual depends on what weighs something.
        let weights = Weights::of(start.iter().map(|start| (start.name.as_str(), start.weight)));
        let model = Arc::new(model.with_weights(weights));
        let (mut sentences, mut references) = (Vec::new(), Vec::new());
        for ((text, input), target) in texts.iter().zip(&targets) {
            sentences.extend(read_sentences(&model, (text, *input))?);
            references.extend(read_lines(target)?.into_iter().map(|line| vec![line]));
        }
        let search = tuning_search(&model, config.beam);
        let mut tuning = Text {
            model,
            sentences: &sentences,
            search,
            nbest: config.nbest,
            sparse: false,
            without: Vec::new(),
            threads,
            progress,
        };
        let mut told = |line: &str| say(&format!("  {line}"));
        let (tuned, name) = tuning.tune(&metric, references, &start, &method, &plan, &mut told);
        let weights: String =
            tuned.weights.iter().map(|(name, weight)| format!("{name}={weight}\n")).collect();
        write(&files[0], &weights)?;
        write(&files[1], &(log(&tuned, &name) + "\n"))?;
        write(&files[2], &curve(&tuned.rounds, &name))
    })
}
