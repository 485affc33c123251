//! `sylvan tune`: the weights that make the translations of a held-out text best.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use clap::{Args, ValueEnum};
use sylvan::decode::{Sentence, With};
use sylvan::training::tuning::{Text, names_one_of, start_weights};
use sylvan::{Input, Model, Worker};
use sylvan_eval::Tokenizer;
use sylvan_rules::Weights;
use sylvan_store::{Output, TextReader, read_lines};
use sylvan_tune::{MertConfig, Method, MiraConfig, Mixture, Plan, ProConfig, Start, Tuned, curve};

use super::model_options::with_besides;
use super::searching::Searching;
use crate::outputs::OutPath;
use crate::progress::Terminal;
use crate::threads::Threads;

/// Finds the weights that translate a held-out text best.
///
/// Each round translates the text with the current weights, adds what is new to a pool of translations, and finds
/// the weights that would choose best from it; the weights of the best round are written. The same seed gives the
/// same bytes with any number of threads. `sylvan train` does this as one of its stages.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sylvan tune --grammar enja.rules --lm ja.lm --trees dev.en.tree --ref dev.ja \
    --tokenize none --out weights --log tune.json --plot tune.svg\n\nMixtures: --metric bleu:1,ter:1 is the mean of \
    BLEU and 100 - TER."
)]
pub(crate) struct Tune {
    /// The rule table, made by `sylvan grammar`.
    #[arg(long, value_name = "RULES")]
    grammar: PathBuf,
    /// A language model, ARPA or compiled; repeat the option for several.
    #[arg(long, value_name = "LM", required = true)]
    lm: Vec<PathBuf>,
    /// A structured language model, made by `sylvan lm structured`, or a dependency parser that looks at most one word ahead (weight
    /// slm).
    #[arg(long, value_name = "FILE")]
    structured_lm: Option<PathBuf>,
    /// A network, made by `sylvan neural train`, that scores whole translations (weight neural).
    #[arg(long, value_name = "FILE")]
    neural: Option<PathBuf>,
    /// The trees of the text, Penn brackets, one per line.
    #[arg(long, value_name = "FILE", required_unless_present = "text", conflicts_with = "text")]
    trees: Option<PathBuf>,
    /// The text itself, its words separated by spaces, for rules without syntax.
    #[arg(long, value_name = "FILE")]
    text: Option<PathBuf>,
    /// What the translation should be, line by line; repeat the option for several references.
    #[arg(long = "ref", value_name = "FILE", required = true)]
    references: Vec<PathBuf>,
    /// Where the weights go: name=value, one per line.
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: OutPath,
    /// Weights to start from; features without one start from a default.
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    #[command(flatten)]
    searching: Searching,
    #[command(flatten)]
    options: TuneOptions,
    /// Write what each round saw, as one JSON object.
    #[arg(long, value_name = "FILE.json")]
    log: Option<OutPath>,
    /// Draw the score of each round.
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<OutPath>,
    #[command(flatten)]
    threads: Threads,
}

/// How to tune.
#[derive(Debug, Clone, Args)]
struct TuneOptions {
    /// How weights are found.
    #[arg(long, value_enum, default_value = "mert")]
    method: MethodName,
    /// What to optimise: bleu, ter, chrf, ribes, or a mixture such as bleu:2,ribes:1.
    #[arg(long, value_name = "METRIC", default_value = "bleu")]
    metric: String,
    /// How lines are split into words for BLEU and RIBES: none, 13a, intl, zh or char.
    #[arg(long, value_name = "NAME", default_value = "none")]
    tokenize: Tokenizer,
    /// At most this many rounds.
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// Translations per sentence and round.
    #[arg(long, value_name = "K", default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..=10_000))]
    nbest: u32,
    /// Random starts of line searches.
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    restarts: u32,
    /// forest-mert: leave out of forests what only derivations have that score this much less than the best; inf
    /// keeps all.
    #[arg(long, value_name = "NATS", allow_negative_numbers = true, default_value_t = Method::USUAL_MARGIN)]
    forest_margin: f64,
    /// Give sparse features weights as well, with mira or pro: target words tw.W, linked words wp.S~T, orders
    /// of variables ro.L.2-1. `sylvan decode` takes them in its file of weights.
    #[arg(long)]
    sparse: bool,
    /// Leave a feature out: its weight is 0. A name that ends in * stands for all that begin so; repeat the option for
    /// several.
    #[arg(long, value_name = "NAME")]
    without: Vec<String>,
    /// The seed of random numbers.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MethodName {
    /// Line searches (Och 2003): for few features.
    Mert,
    /// The same on forests of all that the last round found, and the lists of all rounds (Kumar et al. 2009).
    ForestMert,
    /// Batch margin-infused learning (Cherry & Foster 2012): for many features.
    Mira,
    /// Pairwise ranking (Hopkins & May 2011): for many features.
    Pro,
}

impl TuneOptions {
    fn method(&self, threads: usize) -> Method {
        let (seed, restarts) = (self.seed, self.restarts as usize);
        let mert = MertConfig { restarts, seed, threads, ..MertConfig::default() };
        match self.method {
            MethodName::Mert => Method::Mert(mert),
            MethodName::ForestMert => Method::ForestMert { mert, margin: self.forest_margin },
            MethodName::Mira => Method::Mira(MiraConfig { seed, ..MiraConfig::default() }),
            MethodName::Pro => Method::Pro(ProConfig { seed, ..ProConfig::default() }),
        }
    }

    /// Tunes, reporting each round.
    fn run(
        &self,
        text: &mut Text<'_>,
        references: Vec<Vec<String>>,
        start: &[Start],
    ) -> anyhow::Result<(Tuned, String)> {
        let metric = Mixture::parse(&self.metric, self.tokenize).context("--metric")?;
        let plan = Plan { rounds: self.rounds as usize, ..Plan::default() };
        let method = self.method(text.threads);
        text.nbest = self.nbest as usize;
        text.sparse = self.sparse;
        text.without.clone_from(&self.without);
        Ok(text.tune(&metric, references, start, &method, &plan, &mut say))
    }
}

impl Tune {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        self.searching.check_named()?;
        let given = match &self.weights {
            Some(path) => Weights::read(&mut TextReader::open(path)?)?,
            None => Weights::default(),
        };
        Mixture::parse(&self.options.metric, self.options.tokenize).context("--metric")?;
        let method = self.options.method;
        anyhow::ensure!(
            !self.options.sparse || matches!(method, MethodName::Mira | MethodName::Pro),
            "--sparse: found --method {}, expected mira or pro; line searches are for few features",
            method.to_possible_value().map_or(String::new(), |value| value.get_name().to_string())
        );
        anyhow::ensure!(
            self.options.forest_margin >= 0.0,
            "--forest-margin {}: expected 0 or more, or inf; {} is usual",
            self.options.forest_margin,
            Method::USUAL_MARGIN
        );
        let (model, _) = Model::open_parts(&self.grammar, &self.lm, &given)?;
        let model = with_besides(model, self.structured_lm.as_deref(), self.neural.as_deref())?;
        let model = Arc::new(self.searching.applied(model));
        let (input, from) = match (&self.trees, &self.text) {
            (Some(trees), _) => (Input::Tree, trees.clone()),
            (None, text) => (Input::Text, text.clone().unwrap_or_default()),
        };
        let sentences = read_sentences(&model, &from, input)?;
        let references = read_references(&self.references, sentences.len(), &from)?;
        let mut start = start_weights(model.features());
        for feature in &mut start {
            let bare = feature.name.strip_prefix("tm0.").unwrap_or(&feature.name);
            let known = given.iter().find(|(name, _)| *name == feature.name || *name == bare);
            if let Some((_, weight)) = known {
                feature.weight = weight;
            }
        }
        for pattern in &self.options.without {
            let known = |feature: &Start| names_one_of(std::slice::from_ref(pattern), &feature.name);
            anyhow::ensure!(
                start.iter().any(known),
                "--without {pattern}: found no such feature, expected one of {}",
                start.iter().map(|feature| feature.name.as_str()).collect::<Vec<_>>().join(", ")
            );
            for feature in start.iter_mut().filter(|feature| known(feature)) {
                (feature.weight, feature.spread) = (0.0, 0.0);
            }
        }
        // Which search is usual depends on what weighs something.
        let weights = Weights::of(start.iter().map(|start| (start.name.as_str(), start.weight)));
        let search = self.searching.search(&model.with_weights(weights))?;
        let mut out = Output::create(&self.out)?;
        let progress = Terminal::default();
        let mut text = Text {
            model,
            sentences: &sentences,
            search,
            nbest: 0,
            sparse: false,
            without: Vec::new(),
            threads: self.threads.count(),
            progress: &progress,
        };
        let (tuned, metric) = self.options.run(&mut text, references, &start)?;
        out.line(&format!("# {metric} {:.4} on {}", tuned.score, from.display()))?;
        for (name, weight) in &tuned.weights {
            out.line(&format!("{name}={weight}"))?;
        }
        out.finish()?;
        if let Some(path) = &self.log {
            let mut file = Output::create(path)?;
            file.line(&sylvan::training::tuning::log(&tuned, &metric))?;
            file.finish()?;
        }
        if let Some(path) = &self.plot {
            let mut file = Output::create(path)?;
            file.write(curve(&tuned.rounds, &metric).as_bytes())?;
            file.finish()?;
        }
        Ok(())
    }
}

pub(super) fn read_sentences(
    model: &Arc<Model>,
    path: &Path,
    input: Input,
) -> anyhow::Result<Vec<Option<Sentence>>> {
    let mut worker = Worker::new(Arc::clone(model));
    let mut reader = TextReader::open(path)?;
    let mut sentences = Vec::new();
    while let Some(line) = reader.next_line()? {
        let sentence = worker.read(line, input, With::default());
        let at = reader.line_number();
        sentences.push(sentence.map_err(|unread| unread.at(reader.name(), at))?);
    }
    anyhow::ensure!(
        sentences.iter().any(Option::is_some),
        "{}: found no sentences, expected a text",
        path.display()
    );
    Ok(sentences)
}

/// The references of each line.
fn read_references(paths: &[PathBuf], lines: usize, trees: &Path) -> anyhow::Result<Vec<Vec<String>>> {
    let mut references = vec![Vec::new(); lines];
    for path in paths {
        let file = read_lines(path)?;
        anyhow::ensure!(
            file.len() == lines,
            "{}: found {} lines, expected {lines} as in {}; do the files belong together?",
            path.display(),
            file.len(),
            trees.display()
        );
        references.iter_mut().zip(file).for_each(|(list, line)| list.push(line));
    }
    Ok(references)
}

#[allow(clippy::print_stderr)]
fn say(line: &str) {
    eprintln!("{line}");
}
