//! `sylvan tune`: the weights that make the translations of a held-out text best.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::json;
use sylvan::decoder::Decoder;
use sylvan::tuning::{DecoderOnText, feature_names, start_weights};
use sylvan_base::Vocab;
use sylvan_eval::{Bleu, Chrf, Metric, Ribes, Tokenizer};
use sylvan_rules::Weights;
use sylvan_store::{Output, TextReader};
use sylvan_trees::Tree;
use sylvan_tune::{
    MertConfig, Method, MiraConfig, Mixture, Plan, ProConfig, Round, Start, Tuned, curve, tune,
};

use super::metric::read_lines;
use super::searching::{Searching, threads};
use crate::progress::Terminal;

/// Finds the weights with which a held-out text is translated best.
///
/// Each round translates the text with the current weights, adds what is new to a pool of translations, and finds
/// the weights that would choose best from it; the weights of the best round are written. The same seed gives the
/// same bytes at any number of threads. `sylvan train` does this as one of its stages.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sylvan tune --grammar enja.rules --lm ja.lm --trees dev.en.tree --reference dev.ja \
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
    /// The trees of the text, Penn brackets, one per line.
    #[arg(long, value_name = "FILE")]
    trees: PathBuf,
    /// What the translation should be, line by line; repeat the option for several references.
    #[arg(long, value_name = "FILE", required = true)]
    reference: Vec<PathBuf>,
    /// Where the weights go: name=value, one per line.
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
    /// Weights to begin with; features without one begin with a usual one.
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    #[command(flatten)]
    searching: Searching,
    #[command(flatten)]
    options: TuneOptions,
    /// Write what each round saw, as one JSON object.
    #[arg(long, value_name = "FILE.json")]
    log: Option<PathBuf>,
    /// Draw the score of each round.
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Threads; as many as there are processors unless given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
}

/// How to tune, for `tune` and `train` alike.
#[derive(Debug, Clone, Args)]
pub(crate) struct TuneOptions {
    /// How weights are found.
    #[arg(long, value_enum, default_value = "mert")]
    method: MethodName,
    /// What is to be best: bleu, ter, chrf, ribes, or a mixture such as bleu:2,ribes:1.
    #[arg(long, value_name = "METRIC", default_value = "bleu")]
    metric: String,
    /// How lines become words for BLEU and RIBES: none, 13a, intl, zh or char.
    #[arg(long, value_name = "NAME", default_value = "none")]
    tokenize: Tokenizer,
    /// Rounds, at the most.
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// Translations per sentence and round.
    #[arg(long, value_name = "K", default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..=10_000))]
    nbest: u32,
    /// Random starts of line searches.
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    restarts: u32,
    /// Where the random numbers start.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MethodName {
    /// Line searches (Och 2003): for few features.
    Mert,
    /// Batch margin-infused learning (Cherry & Foster 2012): for many features.
    Mira,
    /// Pairwise ranking (Hopkins & May 2011): for many features.
    Pro,
}

impl TuneOptions {
    fn method(&self, threads: usize) -> Method {
        let (seed, restarts) = (self.seed, self.restarts as usize);
        match self.method {
            MethodName::Mert => Method::Mert(MertConfig { restarts, seed, threads, ..MertConfig::default() }),
            MethodName::Mira => Method::Mira(MiraConfig { seed, ..MiraConfig::default() }),
            MethodName::Pro => Method::Pro(ProConfig { seed, ..ProConfig::default() }),
        }
    }

    /// The metric as a mixture, and whether it is BLEU alone.
    fn mixture(&self) -> anyhow::Result<(Mixture, bool)> {
        let bleu = Bleu { tokenizer: self.tokenize, ..Bleu::default() };
        let ribes = Ribes { tokenizer: self.tokenize, ..Ribes::default() };
        let mut mixture = Mixture {
            bleu: (bleu, 0.0),
            ribes: (ribes, 0.0),
            chrf: (Chrf::default(), 0.0),
            ..Mixture::default()
        };
        for part in self.metric.split(',') {
            let (name, weight) = part.split_once(':').unwrap_or((part, "1"));
            let weight = weight.parse::<f64>().ok().filter(|weight| weight.is_finite() && *weight > 0.0);
            let slot = match name {
                "bleu" => Some(&mut mixture.bleu.1),
                "ter" => Some(&mut mixture.ter.1),
                "chrf" => Some(&mut mixture.chrf.1),
                "ribes" => Some(&mut mixture.ribes.1),
                _ => None,
            };
            let (Some(slot), Some(weight)) = (slot, weight) else {
                anyhow::bail!(
                    "--metric: found {part:?}, expected bleu, ter, chrf or ribes, each with a weight above 0 such as \
                     bleu:2"
                );
            };
            *slot = weight;
        }
        let only_bleu = mixture.ter.1 + mixture.chrf.1 + mixture.ribes.1 == 0.0;
        Ok((mixture, only_bleu))
    }

    /// Tunes, telling of each round.
    pub(crate) fn run(
        &self,
        text: &mut DecoderOnText<'_>,
        references: Vec<Vec<String>>,
        start: &[Start],
    ) -> anyhow::Result<(Tuned, String)> {
        let (mixture, only_bleu) = self.mixture()?;
        let (method, plan) =
            (self.method(text.threads), Plan { rounds: self.rounds as usize, ..Plan::default() });
        text.nbest = self.nbest as usize;
        // BLEU alone has smaller statistics.
        if only_bleu {
            go(text, &mixture.bleu.0, references, start, &method, &plan)
        } else {
            go(text, &mixture, references, start, &method, &plan)
        }
    }
}

fn go<M: Metric>(
    text: &mut DecoderOnText<'_>,
    metric: &M,
    references: Vec<Vec<String>>,
    start: &[Start],
    method: &Method,
    plan: &Plan,
) -> anyhow::Result<(Tuned, String)> {
    let name = metric.name();
    let mut hear = |round: &Round| {
        let Round { number, score, promised, new, pool, best, .. } = round;
        let promised = promised.map_or(String::new(), |promised| format!(", promised {promised:.2}"));
        let best = if *best { " *" } else { "" };
        say(&format!("round {number}: {name} {score:.2}{promised}; {new} new of {pool} translations{best}"));
    };
    let Ok(tuned) = tune(text, metric, references, start, method, plan, &mut hear);
    say(&format!(
        "tuning ended after {} rounds ({}): {name} {:.2}",
        tuned.rounds.len(),
        tuned.ended,
        tuned.score
    ));
    Ok((tuned, name))
}

impl Tune {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let given = match &self.weights {
            Some(path) => Weights::read(&mut TextReader::open(path)?)?,
            None => Weights::default(),
        };
        self.options.mixture()?;
        let (mut decoder, _) = Decoder::open(&self.grammar, &self.lm, &given)?;
        let trees = read_trees(&mut decoder, &self.trees)?;
        let references = read_references(&self.reference, trees.len(), &self.trees)?;
        let names = feature_names(&decoder);
        let mut start = start_weights(names.iter().map(String::as_str));
        for feature in &mut start {
            let bare = feature.name.strip_prefix("tm0.").unwrap_or(&feature.name);
            let known = given.iter().find(|(name, _)| *name == feature.name || *name == bare);
            if let Some((_, weight)) = known {
                feature.weight = weight;
            }
        }
        let mut out = Output::create(&self.out)?;
        let progress = Terminal::default();
        let mut text = DecoderOnText {
            decoder: &mut decoder,
            trees: &trees,
            algorithm: self.searching.algorithm(),
            nbest: 0,
            threads: threads(self.threads),
            progress: &progress,
            text: &|vocab: &Vocab, words| vocab.join(words),
        };
        let (tuned, metric) = self.options.run(&mut text, references, &start)?;
        out.line(&format!("# {metric} {:.4} on {}", tuned.score, self.trees.display()))?;
        for (name, weight) in &tuned.weights {
            out.line(&format!("{name}={weight}"))?;
        }
        out.finish()?;
        write_log(self.log.as_deref(), &tuned, &metric)?;
        if let Some(path) = &self.plot {
            let mut file = Output::create(path)?;
            file.write(curve(&tuned.rounds, &metric).as_bytes())?;
            file.finish()?;
        }
        Ok(())
    }
}

fn write_log(path: Option<&Path>, tuned: &Tuned, metric: &str) -> anyhow::Result<()> {
    let Some(path) = path else { return Ok(()) };
    let weights = |weights: &[(String, f64)]| {
        let map: serde_json::Map<String, serde_json::Value> =
            weights.iter().map(|(name, weight)| (name.clone(), json!(weight))).collect();
        map
    };
    let rounds: Vec<_> = tuned
        .rounds
        .iter()
        .map(|round| {
            json!({
                "round": round.number, "score": round.score, "promised": round.promised, "new": round.new,
                "pool": round.pool, "best": round.best, "weights": weights(&round.weights),
            })
        })
        .collect();
    let all = json!({
        "metric": metric, "score": tuned.score, "ended": tuned.ended, "weights": weights(&tuned.weights),
        "rounds": rounds,
    });
    let mut file = Output::create(path)?;
    file.line(&serde_json::to_string_pretty(&all)?)?;
    Ok(file.finish()?)
}

fn read_trees(decoder: &mut Decoder, path: &Path) -> anyhow::Result<Vec<Option<Tree>>> {
    let mut reader = TextReader::open(path)?;
    let mut trees = Vec::new();
    while let Some(line) = reader.next_line()? {
        let tree = decoder.read_tree(line);
        trees.push(tree.map_err(|fault| reader.locate(fault))?);
    }
    anyhow::ensure!(
        trees.iter().any(Option::is_some),
        "{}: found no trees, expected a text to tune on",
        path.display()
    );
    Ok(trees)
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
