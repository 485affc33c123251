//! Packing: puts the model file together.

use std::path::Path;

use sylvan_decode::file::{Manifest, Origin, Parts, pack};
use sylvan_rules::{Formalism, Weights};
use sylvan_store::TextReader;

use crate::run::Run;
use crate::work::{Stage, hash_file};
use sylvan_decode::{Error, Result};

pub(crate) fn run(run: &mut Run<'_>, say: &mut dyn FnMut(&str)) -> Result<()> {
    let manifest = manifest(run)?;
    let out = run.config.out.clone();
    let (parser, source_case, lines) = (run.parser.clone(), run.source_case.clone(), run.lines.clone());
    let besides = run.besides();
    let (rules, weights) = (run.rules.clone(), run.weights.clone());
    let models: Vec<_> = std::iter::once(&run.language_model).chain(&besides.classes).cloned().collect();
    let mut inputs = vec![rules.as_path(), &models[0], &weights];
    inputs.extend(parser.as_deref());
    inputs.extend(besides.files());
    inputs.extend(source_case.as_deref());
    inputs.extend(lines.as_deref());
    let settings = serde_json::to_string(&manifest).unwrap_or_default();
    let stage = Stage { name: "model", inputs, settings, outputs: vec![&out] };
    run.work.run(&stage, say, |_| {
        let weights = Weights::read(&mut TextReader::open(&weights)?)?;
        let parts = Parts {
            manifest: &manifest,
            rules: &rules,
            models: &models,
            weights: &weights,
            parser: parser.as_deref(),
            structured: besides.structured.as_deref(),
            neural: besides.neural.as_deref(),
            source_case: source_case.as_deref(),
            lines: lines.as_deref(),
        };
        Ok::<(), Error>(pack(&out, parts)?)
    })
}

fn manifest(run: &Run<'_>) -> Result<Manifest> {
    let config = run.config;
    let mut files: Vec<(&str, &Path)> = vec![("source", &config.source), ("target", &config.target)];
    // Otherwise it was a part of the training text.
    if run.settings.dev == 0 {
        files.extend([("dev-source", config.dev_source.as_path()), ("dev-target", &config.dev_target)]);
    }
    let optional = [
        ("treebank", &config.treebank),
        ("parser", &config.parser),
        ("trees", &config.trees),
        ("dev-trees", &config.dev_trees),
        ("align", &config.align),
        ("structured-lm", &config.structured_lm),
    ];
    files.extend(optional.iter().filter_map(|(role, path)| Some((*role, path.as_deref()?))));
    files.extend(config.lm_text.iter().map(|path| ("lm-text", path.as_path())));
    let mut origins = Vec::new();
    for (role, path) in files {
        origins.push(Origin {
            role: role.to_string(),
            name: path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
            hash: format!("{:016x}", hash_file(path)?),
            lines: if ["parser", "structured-lm"].contains(&role) { 0 } else { lines_of(path)? },
        });
    }
    let mut settings = vec![
        ("align-preset", config.align_preset.clone()),
        ("symmetrize", config.symmetrize.clone()),
        ("compose", config.compose.to_string()),
        ("smoothing", run.settings.smoothing.as_str().to_string()),
        ("min-count", run.settings.least_count(config, run.pairs).to_string()),
        ("evidence", config.evidence.to_string()),
        ("binarize", config.binarize.clone()),
        ("lm-order", config.lm_order.to_string()),
        ("metric", config.metric.clone()),
        ("tuner", run.settings.tuner.as_str().to_string()),
        ("rounds", config.rounds.to_string()),
        ("nbest", config.nbest.to_string()),
        ("beam", config.beam.to_string()),
        ("parser-beam", config.parser_beam.to_string()),
        ("seed", config.seed.to_string()),
        ("unseen", run.settings.unseen.to_string()),
        ("holdout", run.settings.holdout.to_string()),
    ];
    if config.tune_more > 0 {
        settings.push(("tune-more", config.tune_more.to_string()));
    }
    if run.class_model.is_some() {
        settings.push(("lm-classes", config.lm_classes.to_string()));
    }
    if run.structured.is_some() {
        settings.push(("structured-kind", run.settings.structured.as_str().to_string()));
    }
    if run.neural.is_some() {
        let epochs = config.neural_epochs.map_or("usual".to_string(), |epochs| epochs.to_string());
        settings.push(("neural-epochs", epochs));
        settings.push(("neural-width", config.neural_width.to_string()));
    }
    match run.settings.formalism {
        Formalism::Phrase => settings.push(("orientation", config.orientation.clone())),
        Formalism::LrHiero => settings.push(("reordering", config.reordering.clone())),
        _ => {}
    }
    Ok(Manifest {
        made_by: concat!("sylvan ", env!("CARGO_PKG_VERSION")).to_string(),
        source_lang: config.source_lang.clone(),
        target_lang: config.target_lang.clone(),
        formalism: run.settings.formalism,
        tokenized: config.tokenized,
        licences: config.licence.clone(),
        origins,
        settings: settings.into_iter().map(|(name, value)| (name.to_string(), value)).collect(),
        figures: run.scores.iter().cloned().collect(),
    })
}

fn lines_of(path: &Path) -> Result<u64> {
    let mut reader = TextReader::open(path)?;
    while reader.next_bytes()?.is_some() {}
    Ok(reader.line_number())
}
