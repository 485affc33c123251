//! Where experiments are made: corpora, models, weights and runs, each made once and kept by content.
//!
//! A second call with the same inputs and settings reads what the first one wrote, in this run or an earlier one, so a run
//! that was interrupted goes on where it stopped. What the program itself finds may change: then [`RESULTS`] does.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use sylvan_base::hash::{content_hash, fold};
use sylvan_base::{HashMap, Progress};
use sylvan_decode::{Error, Model, Result, Sentence, Unseen};
use sylvan_neural::NeuralModel;
use sylvan_parse::Parser;
use sylvan_parse::structured::StructuredLm;
use sylvan_rules::{Formalism, Weights};
use sylvan_store::{Output, TextReader, read_lines};
use sylvan_train::tuning::{Text, start_weights};
use sylvan_train::{Config, Learnt, learn};
use sylvan_tune::{MertConfig, Method, MiraConfig, Mixture, Plan};

use crate::content::hash;
use crate::corpora::{Corpus, Prepared, SampleSizes};
use crate::given::{Known, RESULTS, Tuned};
use crate::measured::Measured;
use crate::packed;
use crate::system::{Extra, Kind, Part, System};
use crate::ways::Way;

/// Where to work, and with what.
pub(crate) struct Lab<'l> {
    pub(crate) data: Option<PathBuf>,
    pub(crate) folder: PathBuf,
    pub(crate) sizes: SampleSizes,
    pub(crate) threads: usize,
    pub(crate) progress: &'l dyn Progress,
    pub(crate) say: &'l dyn Fn(&str),
    /// The corpora whose texts this run has written.
    pub(crate) corpora: RefCell<HashMap<Corpus, Prepared>>,
    /// What is in the files of models, which are large.
    pub(crate) hashes: RefCell<HashMap<PathBuf, u64>>,
    /// Weights that need not be tuned.
    pub(crate) given: Known,
    /// Weights that were asked for.
    pub(crate) used: RefCell<Known>,
    /// All that was found so far, times apart, as a number.
    pub(crate) fingerprint: Cell<u64>,
}

impl std::fmt::Debug for Lab<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Lab in {}", self.folder.display())
    }
}

/// How weights are tuned: as `sylvan train` does, but without random restarts of line searches. On the few translations
/// of the first rounds they lead astray, and take most of the time.
const ROUNDS: usize = 10;

impl<'l> Lab<'l> {
    /// A laboratory in a folder; without `data` the built-in corpus is all there is.
    pub(crate) fn new(
        data: Option<PathBuf>,
        folder: PathBuf,
        threads: usize,
        progress: &'l dyn Progress,
        say: &'l dyn Fn(&str),
    ) -> Self {
        Self {
            data,
            folder,
            sizes: SampleSizes::USUAL,
            threads,
            progress,
            say,
            corpora: RefCell::default(),
            hashes: RefCell::default(),
            given: Known::default(),
            used: RefCell::default(),
            fingerprint: Cell::default(),
        }
    }

    /// The texts of a corpus, written anew by each run: what was learnt from the same texts is found by their content.
    pub(crate) fn prepared(&self, corpus: Corpus) -> Result<Prepared> {
        if let Some(known) = self.corpora.borrow().get(&corpus) {
            return Ok(known.clone());
        }
        let made = corpus.prepare(self.data.as_deref(), self.sizes, &self.folder.join(corpus.name()))?;
        self.corpora.borrow_mut().insert(corpus, made.clone());
        Ok(made)
    }

    /// Learns the parts of a model.
    pub(crate) fn learn(&self, corpus: Corpus, kind: Kind) -> Result<Learnt> {
        self.learn_with(corpus, kind, &Extra::default())
    }

    /// The same from some of the pairs, or with a language model of word classes.
    pub(crate) fn learn_with(&self, corpus: Corpus, kind: Kind, extra: &Extra) -> Result<Learnt> {
        let (mut name, mut prepared) = (corpus.name().to_string(), self.prepared(corpus)?);
        if extra.pairs > 0 {
            name = format!("{name}-{}", extra.pairs);
            prepared = prepared.first(extra.pairs, &self.folder.join(&name))?;
        }
        let mut config = Config::default();
        [config.source, config.target] = prepared.train;
        [config.dev_source, config.dev_target] = prepared.dev;
        config.source_lang = prepared.languages[0].to_string();
        config.target_lang = prepared.languages[1].to_string();
        config.tokenized = true;
        config.holdout = Some(prepared.held_out as u64);
        // A folder holds what was learnt in one way.
        let links = extra.links.map_or(String::new(), |links| format!("-{}", links.replace([',', ':'], "-")));
        config.out = self.folder.join(format!("{name}-{}{links}", kind.name()));
        if let Some(links) = extra.links {
            config.symmetrize = links.to_string();
        }
        config.threads = self.threads;
        config.lm_classes = extra.classes;
        config.tune_more = extra.more;
        config.kind = match kind {
            Kind::Tree | Kind::Forest => "tree",
            Kind::Hiero => "hiero",
            Kind::LrHiero(_) => "lr-hiero",
            Kind::Phrase(_) => "phrase",
        }
        .to_string();
        match kind {
            Kind::Tree | Kind::Forest => {
                config.treebank = prepared.treebank;
                [config.trees, config.dev_trees] = match prepared.trees {
                    Some([trees, dev]) => [Some(trees), Some(dev)],
                    None => [None, None],
                };
            }
            Kind::LrHiero(reordering) => config.reordering = reordering.to_string(),
            Kind::Phrase(orientation) => config.orientation = orientation.to_string(),
            Kind::Hiero => {}
        }
        let title = format!("{}, {}", corpus.title(), kind.name());
        // What was done before is not worth a line, nor how much room it would take.
        let quiet = |line: &str| line.ends_with("kept") || line.contains(" MB of ");
        learn(&config, self.progress, &mut |line| {
            if !quiet(line) {
                (self.say)(&format!("{title}: {line}"));
            }
        })
    }

    /// A model of a corpus.
    pub(crate) fn system(&self, corpus: Corpus, kind: Kind, extra: &Extra) -> Result<System> {
        let learnt = self.learn_with(corpus, kind, extra)?;
        let mut rest = None;
        if let Some(parts) = &learnt.rest {
            let mut without = learnt.clone();
            without.rules.clone_from(&parts.rules);
            without.language_model.clone_from(&parts.language_model);
            without.class_model.clone_from(&parts.class_model);
            rest = Some(Box::new(self.of_parts(without, kind, extra, None)?));
        }
        self.of_parts(learnt, kind, extra, rest)
    }

    /// A model of parts that were learnt.
    fn of_parts(
        &self,
        learnt: Learnt,
        kind: Kind,
        extra: &Extra,
        rest: Option<Box<System>>,
    ) -> Result<System> {
        let first = extra.lm.as_ref().unwrap_or(&learnt.language_model);
        let others = learnt.class_model.iter().chain(&extra.lms);
        let lms: Vec<PathBuf> = std::iter::once(first).chain(others).cloned().collect();
        let (mut model, _) = Model::open_parts(&learnt.rules, &lms, &Weights::default())?;
        if let Some(path) = &extra.structured {
            model = model.with_structured(StructuredLm::open(path)?);
        }
        if let Some(path) = &extra.neural {
            model = model.with_neural(NeuralModel::open(path)?);
        }
        model = model.with_unseen(extra.unseen);
        let mut key = content_hash(b"system");
        let others = lms.iter().chain(&extra.structured).chain(&extra.neural);
        for path in std::iter::once(&learnt.rules).chain(others) {
            key = fold(key, self.hash_once(path)?);
        }
        if extra.unseen != Unseen::default() {
            key = fold(key, content_hash(extra.unseen.as_str().as_bytes()));
        }
        let mut forests = None;
        if kind == Kind::Forest
            && let Some(path) = self.source_parser(&learnt)?
        {
            key = fold(key, hash(&path)?);
            forests = Some(Parser::open(&path)?);
        }
        Ok(System { learnt, model, forests, key, sparse: extra.sparse, rest, sentences: RefCell::default() })
    }

    /// A parser that makes trees like those that rules were learnt from: the one that made them, or one learnt from them.
    fn source_parser(&self, learnt: &Learnt) -> Result<Option<PathBuf>> {
        let (None, Some(trees)) = (&learnt.parser, &learnt.trees) else { return Ok(learnt.parser.clone()) };
        let path = self.kept("parsers", fold(content_hash(b"source"), hash(trees)?));
        if !path.exists() {
            (self.say)("learning a parser of the source language from the trees of the text");
            packed::learn_parser(trees, &path, self.threads, self.progress)?;
        }
        Ok(Some(path))
    }

    /// Weights that were tuned with a search.
    pub(crate) fn tuned(&self, system: &System, way: &Way, seed: u64) -> Result<Weights> {
        let tuned_as = system.tuned_as();
        let mut key = tuned_as.key;
        for text in system.tuning_texts() {
            key = fold(fold(key, hash(&text.path)?), hash(&text.target)?);
        }
        key = fold(key, content_hash(format!("{way:?} {ROUNDS} {seed}").as_bytes()));
        if system.sparse {
            key = fold(key, content_hash(b"sparse"));
        }
        let path = self.kept("weights", key);
        if !path.exists()
            && let Some(given) = self.given.get(&key)
        {
            write_weights(&path, given)?;
        } else if !path.exists() {
            let (mut sentences, mut references) = (Vec::new(), Vec::new());
            for text in system.tuning_texts() {
                sentences.extend(tuned_as.read(text)?.into_iter().map(Some));
                references.extend(read_lines(&text.target)?.into_iter().map(|line| vec![line]));
            }
            let start = start_weights(system.model.features());
            let mut text = Text {
                model: tuned_as.with(&Weights::default(), way.applying),
                sentences: &sentences,
                search: way.search,
                nbest: 100,
                sparse: system.sparse,
                without: Vec::new(),
                threads: self.threads,
                progress: self.progress,
            };
            let method = match system.model.formalism() {
                Formalism::Tree if !system.sparse => Method::Mert(MertConfig {
                    seed,
                    restarts: 0,
                    threads: self.threads,
                    ..MertConfig::default()
                }),
                _ => Method::Mira(MiraConfig { seed, ..MiraConfig::default() }),
            };
            let metric = Mixture::parse("bleu", sylvan_eval::Tokenizer::None)
                .map_err(|fault| Error::setting("metric", fault.to_string(), "bleu"))?;
            let plan = Plan { rounds: ROUNDS, ..Plan::default() };
            let mut told = |line: &str| (self.say)(&format!("  {line}"));
            (self.say)(&format!("tuning with {}, beam {}, seed {seed}", way.options, way.beam()));
            let (tuned, _) = text.tune(&metric, references, &start, &method, &plan, &mut told);
            let told = format!("BLEU {:.4}, {}, seed {seed}", tuned.score, way.options);
            let values = tuned.weights.iter().map(|(name, weight)| format!("{name}={weight}")).collect();
            write_weights(&path, &Tuned { told, values })?;
        }
        self.used.borrow_mut().insert(key, read_weights(&path)?);
        Ok(Weights::read(&mut TextReader::open(&path)?)?)
    }

    /// What a search makes of the text to report on, with weights that were tuned with it: a run for each seed.
    pub(crate) fn tuned_runs(&self, system: &System, way: &Way, seeds: &[u64]) -> Result<Vec<Measured>> {
        let run = |&seed: &u64| {
            let weights = self.tuned(system, way, seed)?;
            self.run(system, &weights, way, Part::Test)
        };
        seeds.iter().map(run).collect()
    }

    /// What a search makes of a text.
    pub(crate) fn run(&self, system: &System, weights: &Weights, way: &Way, part: Part) -> Result<Measured> {
        let sentences = system.sentences(part)?;
        let text = system.content(part, usize::MAX)?;
        let name = format!("{} beam {}", way.options, way.beam());
        self.run_on(system, weights, way, (&sentences, text), &name)
    }

    /// The same for the first lines of a text.
    pub(crate) fn run_first(
        &self,
        system: &System,
        weights: &Weights,
        way: &Way,
        (part, lines): (Part, usize),
        name: &str,
    ) -> Result<Measured> {
        let sentences = system.sentences(part)?;
        let some = &sentences[..lines.min(sentences.len())];
        self.run_on(system, weights, way, (some, system.content(part, lines)?), name)
    }

    /// The same for sentences of one's own; `content` tells them apart from others.
    pub(crate) fn run_on(
        &self,
        system: &System,
        weights: &Weights,
        way: &Way,
        (sentences, content): (&[Sentence], u64),
        name: &str,
    ) -> Result<Measured> {
        let key = system.key_of(weights, way, content);
        let measured: Measured = self.read_or("runs", key, || {
            let model = system.with(weights, way.applying);
            self.progress.begin(name, Some(sentences.len() as u64));
            let measured = Measured::of(&model, sentences, way.search, &|done| self.progress.at(done));
            self.progress.end();
            measured
        })?;
        self.count(measured.fingerprint());
        Ok(measured)
    }

    /// Something other than a run that is worked out once.
    pub(crate) fn once<T: Serialize + DeserializeOwned>(
        &self,
        what: &str,
        key: u64,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let found = self.read_or(what, key, work)?;
        self.count(content_hash(json(what, &found)?.as_bytes()));
        Ok(found)
    }

    /// Takes note of something that was found.
    fn count(&self, found: u64) {
        self.fingerprint.set(fold(self.fingerprint.get(), found));
    }

    /// What is kept as JSON, or what work makes of it now.
    fn read_or<T: Serialize + DeserializeOwned>(
        &self,
        what: &str,
        key: u64,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let path = self.kept(what, key);
        let known = std::fs::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        if let Some(known) = known {
            return Ok(known);
        }
        let made = work()?;
        let mut out = Output::create(&path)?;
        out.line(&json(what, &made)?)?;
        out.finish()?;
        Ok(made)
    }

    /// What a model was learnt from, as a number.
    pub(crate) fn pairs(&self, system: &System) -> Result<u64> {
        let [source, target] = &system.learnt.train;
        Ok(fold(self.hash_once(source)?, self.hash_once(target)?))
    }

    /// What is in a file that does not change while this runs, as a number.
    fn hash_once(&self, path: &Path) -> Result<u64> {
        if let Some(&known) = self.hashes.borrow().get(path) {
            return Ok(known);
        }
        let made = hash(path)?;
        self.hashes.borrow_mut().insert(path.to_path_buf(), made);
        Ok(made)
    }

    /// Where something is kept.
    pub(crate) fn kept(&self, what: &str, key: u64) -> PathBuf {
        let folder = self.folder.join(format!("results-{RESULTS}")).join(what);
        // If it cannot be made, writing to it says so.
        let _ = std::fs::create_dir_all(&folder);
        folder.join(format!("{key:016x}"))
    }
}

/// Writes weights as `sylvan tune` does; a comment says how they were found.
fn write_weights(path: &Path, tuned: &Tuned) -> Result<()> {
    let mut out = Output::create(path)?;
    out.line(&format!("# {}", tuned.told))?;
    for value in &tuned.values {
        out.line(value)?;
    }
    Ok(out.finish()?)
}

fn read_weights(path: &Path) -> Result<Tuned> {
    let mut lines = read_lines(path)?.into_iter();
    let told = lines.next().unwrap_or_default().trim_start_matches("# ").to_string();
    Ok(Tuned { told, values: lines.collect() })
}

fn json(what: &str, found: &impl Serialize) -> Result<String> {
    serde_json::to_string(found)
        .map_err(|error| Error::setting(what, error.to_string(), "numbers and strings"))
}
