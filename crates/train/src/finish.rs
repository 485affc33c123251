//! The last stages: tune the weights, measure, pack the model, report.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::json;
use sylvan_base::{Vocab, parallel};
use sylvan_eval::{Bleu, Chrf, Metric, Tokenizer};
use sylvan_rules::Weights;
use sylvan_search::{Beam, Future, Incremental, Limits, Prediction};
use sylvan_store::{Output, TextReader};
use sylvan_text::Lang;
use sylvan_tune::{MertConfig, Method, Plan, curve};

use super::work::{Stage, hash_file};
use super::{Part, PipelineError, Result, Run};
use crate::decoder::{Algorithm, Decoder, Sentence, Wish, Workspace};
use crate::model::{Manifest, Origin, Parts, pack, write_lines};
use crate::report::{Places, Report};
use crate::sides::TargetText;
use crate::translate::Request;
use crate::tuning::{DecoderOnText, feature_names, log, start_weights};

/// What was learnt so far.
pub(super) struct Finish {
    pub(super) rules: PathBuf,
    pub(super) model: PathBuf,
}

impl Run<'_> {
    fn part_trees(part: &Part) -> Result<&Path> {
        part.trees.as_deref().ok_or_else(|| PipelineError::setting("trees", "no trees", "trees or a parser"))
    }

    /// Finds weights.
    pub(super) fn tune(&mut self, finish: &Finish, hear: &mut dyn FnMut(&str)) -> Result<PathBuf> {
        let files = ["weights", "tune.json", "tune.svg"].map(|name| self.work.file(name));
        let trees = Self::part_trees(&self.dev)?.to_path_buf();
        let target = self.dev.target.clone();
        let config = self.config;
        let plan = Plan { rounds: config.rounds, ..Plan::default() };
        let method =
            Method::Mert(MertConfig { seed: config.seed, threads: self.threads, ..MertConfig::default() });
        let metric = self.settings.metric;
        let stage = Stage {
            name: "tune",
            inputs: vec![&finish.rules, &finish.model, &trees, &target],
            settings: format!(
                "{} {} {} {} {}",
                config.metric, config.rounds, config.nbest, config.seed, config.beam
            ),
            outputs: files.iter().map(PathBuf::as_path).collect(),
        };
        let (threads, progress) = (self.threads, self.progress);
        self.work.run(&stage, hear, |hear| {
            let (mut decoder, sentences) = open(finish, &Weights::default(), &trees)?;
            let references = read_lines(&target)?.into_iter().map(|line| vec![line]).collect();
            let names = feature_names(&decoder);
            let start = start_weights(names.iter().map(String::as_str));
            let mut text = DecoderOnText {
                decoder: &mut decoder,
                sentences: &sentences,
                algorithm: Algorithm::Refine(Beam(config.beam)),
                nbest: config.nbest,
                sparse: false,
                threads,
                progress,
                text: &|vocab: &Vocab, words| vocab.join(words),
            };
            let mut told = |line: &str| hear(&format!("  {line}"));
            let (tuned, name) = text.tune(&metric, references, &start, &method, &plan, &mut told);
            let weights: String =
                tuned.weights.iter().map(|(name, weight)| format!("{name}={weight}\n")).collect();
            write(&files[0], &weights)?;
            write(&files[1], &(log(&tuned, &name) + "\n"))?;
            write(&files[2], &curve(&tuned.rounds, &name))
        })?;
        let [weights, ..] = files;
        Ok(weights)
    }

    /// Translates the tuning text and what was held out, with each search, and measures.
    pub(super) fn evaluate(
        &mut self,
        finish: &Finish,
        weights: &Path,
        hear: &mut dyn FnMut(&str),
    ) -> Result<Vec<(String, f64)>> {
        let scores = self.work.file("scores.json");
        let parts: Vec<(&str, Part)> = [("dev", Some(self.dev.clone())), ("holdout", self.holdout.clone())]
            .into_iter()
            .filter_map(|(name, part)| Some((name, part?)))
            .collect();
        let outputs: Vec<PathBuf> =
            parts.iter().map(|(name, _)| self.work.file(&format!("{name}.out"))).collect();
        let mut inputs = vec![finish.rules.as_path(), finish.model.as_path(), weights];
        for (_, part) in &parts {
            inputs.extend([Self::part_trees(part)?, part.reference.as_path()]);
        }
        let config = self.config;
        let stage = Stage {
            name: "evaluate",
            inputs,
            settings: format!("{} {} {}", config.beam, config.target_lang, config.tokenized),
            outputs: outputs.iter().map(PathBuf::as_path).chain([scores.as_path()]).collect(),
        };
        let (target, metric) = measuring(config.tokenized, &config.target_lang);
        let threads = self.threads;
        self.work.run(&stage, hear, |hear| {
            let weights = Weights::read(&mut TextReader::open(weights)?)?;
            let mut all: BTreeMap<String, f64> = BTreeMap::new();
            for ((name, part), out) in parts.iter().zip(&outputs) {
                let (decoder, sentences) = open(finish, &weights, Self::part_trees(part)?)?;
                let references = vec![read_lines(&part.reference)?];
                for (search, algorithm) in searches(config.beam) {
                    let lines = translate(&decoder, &sentences, algorithm, &target, threads);
                    let bleu = metric.corpus(&lines, &references)?.score;
                    hear(&format!("  {name}, {search}: BLEU {bleu:.2}"));
                    all.insert(format!("{name}.{search}.bleu"), bleu);
                    if search == "refine" {
                        let chrf = Chrf::default();
                        let stats = chrf.line_stats(&lines, &references, std::num::NonZeroUsize::MIN)?;
                        all.insert(format!("{name}.bleu"), bleu);
                        all.insert(format!("{name}.chrf"), chrf.value(&chrf.sum(&stats)));
                        write(out, &(lines.join("\n") + "\n"))?;
                    }
                }
            }
            write(&scores, &(serde_json::to_string_pretty(&all).unwrap_or_default() + "\n"))
        })?;
        let text = std::fs::read_to_string(&scores).map_err(sylvan_base::InputError::io(&scores, "read"))?;
        let all: BTreeMap<String, f64> = serde_json::from_str(&text).unwrap_or_default();
        Ok(all.into_iter().collect())
    }

    /// Packs the training text for the model, unless it is not to be kept.
    fn keep_lines(&mut self, hear: &mut dyn FnMut(&str)) -> Result<Option<PathBuf>> {
        if !self.config.lines {
            return Ok(None);
        }
        let (out, dropped) = (self.work.file("lines"), self.work.file("dropped.tsv"));
        let (source, target) = (self.train.source.clone(), self.train.target.clone());
        let stage = Stage {
            name: "lines",
            inputs: vec![&source, &target, &dropped],
            settings: String::new(),
            outputs: vec![&out],
        };
        self.work.run(&stage, hear, |_| {
            Ok::<(), PipelineError>(write_lines(&source, &target, Some(&dropped), &out)?)
        })?;
        Ok(Some(out))
    }

    /// Puts the model together.
    pub(super) fn pack(
        &mut self,
        finish: &Finish,
        weights: &Path,
        scores: &[(String, f64)],
        hear: &mut dyn FnMut(&str),
    ) -> Result<()> {
        let manifest = self.manifest(scores)?;
        let lines = self.keep_lines(hear)?;
        let out = self.config.out.clone();
        let (parser, source_case) = (self.parser.clone(), self.source_case.clone());
        let models = [finish.model.clone()];
        let mut inputs = vec![finish.rules.as_path(), finish.model.as_path(), weights];
        inputs.extend(parser.as_deref());
        inputs.extend(source_case.as_deref());
        inputs.extend(lines.as_deref());
        let settings = serde_json::to_string(&manifest).unwrap_or_default();
        let stage = Stage { name: "model", inputs, settings, outputs: vec![&out] };
        self.work.run(&stage, hear, |_| {
            let weights = Weights::read(&mut TextReader::open(weights)?)?;
            let parts = Parts {
                manifest: &manifest,
                rules: &finish.rules,
                models: &models,
                weights: &weights,
                parser: parser.as_deref(),
                source_case: source_case.as_deref(),
                source_segmenter: None,
                lines: lines.as_deref(),
            };
            Ok::<(), PipelineError>(pack(&out, parts)?)
        })
    }

    fn manifest(&mut self, scores: &[(String, f64)]) -> Result<Manifest> {
        let config = self.config;
        let mut files: Vec<(&str, &Path)> = vec![
            ("source", &config.source),
            ("target", &config.target),
            ("dev-source", &config.dev_source),
            ("dev-target", &config.dev_target),
        ];
        let optional = [
            ("treebank", &config.treebank),
            ("parser", &config.parser),
            ("trees", &config.trees),
            ("dev-trees", &config.dev_trees),
            ("align", &config.align),
        ];
        files.extend(optional.iter().filter_map(|(role, path)| Some((*role, path.as_deref()?))));
        files.extend(config.lm_text.iter().map(|path| ("lm-text", path.as_path())));
        let mut origins = Vec::new();
        for (role, path) in files {
            origins.push(Origin {
                role: role.to_string(),
                name: path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
                hash: format!("{:016x}", hash_file(path)?),
                lines: if role == "parser" { 0 } else { lines_of(path)? },
            });
        }
        let settings = [
            ("align-preset", config.align_preset.clone()),
            ("symmetrize", config.symmetrize.clone()),
            ("compose", config.compose.to_string()),
            ("smoothing", config.smoothing.clone()),
            ("evidence", config.evidence.to_string()),
            ("binarize", config.binarize.clone()),
            ("lm-order", config.lm_order.to_string()),
            ("metric", config.metric.clone()),
            ("rounds", config.rounds.to_string()),
            ("nbest", config.nbest.to_string()),
            ("beam", config.beam.to_string()),
            ("parser-beam", config.parser_beam.to_string()),
            ("seed", config.seed.to_string()),
            ("holdout", config.holdout.to_string()),
        ];
        Ok(Manifest {
            made_by: concat!("sylvan ", env!("CARGO_PKG_VERSION")).to_string(),
            source_lang: config.source_lang.clone(),
            target_lang: config.target_lang.clone(),
            tokenized: config.tokenized,
            licences: config.licence.clone(),
            origins,
            settings: settings.into_iter().map(|(name, value)| (name.to_string(), value)).collect(),
            figures: scores.iter().cloned().collect(),
        })
    }

    /// What each stage cost as JSON, and a report to look at, in the work folder.
    pub(super) fn write_report(
        &self,
        finish: &Finish,
        scores: &[(String, f64)],
        hear: &mut dyn FnMut(&str),
    ) -> Result<()> {
        let named: serde_json::Map<_, _> =
            scores.iter().map(|(name, score)| (name.clone(), json!(score))).collect();
        let report = json!({ "stages": self.work.reports, "scores": named, "threads": self.threads });
        write(
            &self.work.file("report.json"),
            &(serde_json::to_string_pretty(&report).unwrap_or_default() + "\n"),
        )?;
        let Some(links) = &self.links else { return Ok(()) };
        let places = Places {
            model: &self.config.out,
            work: &self.work.file(""),
            source: &self.train.source,
            target: &self.train.target,
            links,
            rules: &finish.rules,
            dev_source: &self.dev.source,
            dev_trees: Self::part_trees(&self.dev)?,
            dev_reference: &self.dev.reference,
            dev_out: &self.work.file("dev.out"),
        };
        let algorithm = Algorithm::Refine(Beam(self.config.beam));
        let request = Request { algorithm, details: true, ..Request::default() };
        let page = Report::gather(&places, scores, &self.work.reports, &request)?.write(places.work)?;
        hear(&format!("report: {}", page.display()));
        Ok(())
    }
}

/// The searches that are measured: the default first, then those that work left to right.
fn searches(beam: usize) -> [(&'static str, Algorithm); 3] {
    // Items of a left-to-right search cost several times as much.
    let limits = Limits::beam(Beam(beam.min(100)));
    [
        ("refine", Algorithm::Refine(Beam(beam))),
        ("incremental", Algorithm::Incremental(limits, Incremental::from(Future::Inside))),
        ("prediction", Algorithm::Prediction(limits, Prediction::default())),
    ]
}

/// How translations are written and measured: tokens as they are, or natural text as others would measure it.
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

/// A decoder and the sentences of a file of trees.
fn open(finish: &Finish, weights: &Weights, trees: &Path) -> Result<(Decoder, Vec<Option<Sentence>>)> {
    let (mut decoder, _) = Decoder::open(&finish.rules, std::slice::from_ref(&finish.model), weights)?;
    let mut reader = TextReader::open(trees)?;
    let mut sentences = Vec::new();
    while let Some(line) = reader.next_line()? {
        let sentence = decoder.read_tree(line);
        sentences.push(sentence.map_err(|fault| reader.locate(fault))?);
    }
    Ok((decoder, sentences))
}

fn translate(
    decoder: &Decoder,
    sentences: &[Option<Sentence>],
    algorithm: Algorithm,
    target: &TargetText,
    threads: usize,
) -> Vec<String> {
    let ready = decoder.ready();
    parallel::map(sentences, threads, Workspace::default, |workspace, _, sentence| {
        let Some(sentence) = sentence else { return String::new() };
        let decoded = ready.decode(sentence, algorithm, Wish::default(), workspace);
        let words = decoded.hypotheses.first().map(|best| best.words.as_slice()).unwrap_or_default();
        let words: Vec<&str> = words.iter().map(|&word| decoder.vocab().text(word)).collect();
        target.text(&words)
    })
}

/// All lines of a file.
pub(crate) fn read_lines(path: &Path) -> sylvan_base::Result<Vec<String>> {
    let mut reader = TextReader::open(path)?.tolerant();
    let mut lines = Vec::new();
    while let Some(line) = reader.next_line()? {
        lines.push(line.to_string());
    }
    Ok(lines)
}

fn lines_of(path: &Path) -> Result<u64> {
    let mut reader = TextReader::open(path)?;
    while reader.next_bytes()?.is_some() {}
    Ok(reader.line_number())
}

fn write(path: &Path, text: &str) -> Result<()> {
    let mut file = Output::create(path)?;
    file.write(text.as_bytes())?;
    Ok(file.finish()?)
}
