//! `sylvan compare`: is one translation better than another, or was it luck?

use std::fmt::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use sylvan_eval::Metric;
use sylvan_eval::compare::{Bootstrap, Interval, Tally, bootstrap, mean_score, randomization, sign, tally};
use sylvan_store::{Output, read_lines};

use super::metric::{Details, MetricName, MetricOptions, MetricTask};

/// Compares systems with a baseline and says how likely the differences are to be chance.
///
/// A win is a sentence whose translation, put in place of the baseline's, makes the baseline's corpus score better
/// (Collins et al. 2005). With --replicates N, each system is N files: outputs of the same system after N runs of
/// tuning.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sylvan compare --ref test.en --metric bleu --test bootstrap --seed 1 base.en new.en\n  \
    sylvan compare --ref test.en --test randomization --replicates 3 b1 b2 b3 s1 s2 s3"
)]
pub(crate) struct Compare {
    /// A reference, one sentence per line; repeat the option for several.
    #[arg(long = "ref", value_name = "FILE", required = true)]
    references: Vec<PathBuf>,
    /// Which metric.
    #[arg(long, value_enum, default_value = "bleu")]
    metric: MetricName,
    #[command(flatten)]
    options: MetricOptions,
    /// Which test.
    #[arg(long, value_enum, default_value = "bootstrap")]
    test: Test,
    /// How many test sets to draw or shuffles to make [default: 1000 for bootstrap, 10000 for randomization].
    #[arg(long, value_name = "N")]
    samples: Option<NonZeroUsize>,
    /// The seed of random numbers.
    #[arg(long, value_name = "N", default_value = "12345")]
    seed: u64,
    /// How many files each system has.
    #[arg(long, value_name = "N", default_value = "1")]
    replicates: NonZeroUsize,
    /// Print JSON, for programs.
    #[arg(long)]
    json: bool,
    /// The baseline's translation, then those of the systems.
    #[arg(value_name = "BASE SYS", required = true)]
    outputs: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Test {
    /// Paired bootstrap: would other test sentences show it too? (Koehn 2004)
    Bootstrap,
    /// Paired approximate randomisation: would it vanish if outputs were swapped? (Riezler & Maxwell 2005)
    Randomization,
    /// Sign test: do more sentences win than lose? (Collins et al. 2005)
    Sign,
}

/// What is known about one system.
struct Compared {
    score: f64,
    p_value: f64,
    tally: Option<Tally>,
    bootstrap: Option<Bootstrap>,
}

/// What is known about all.
struct Comparison {
    name: String,
    signature: String,
    base: f64,
    systems: Vec<Compared>,
}

struct Task<'a> {
    command: &'a Compare,
    outputs: &'a [Vec<String>],
    references: &'a [Vec<String>],
}

impl MetricTask for Task<'_> {
    type Output = Comparison;

    fn run<M: Metric + Details>(self, metric: &M) -> anyhow::Result<Comparison> {
        let Compare { test, seed, options, .. } = self.command;
        let mut lines = Vec::new();
        for (path, output) in self.command.outputs.iter().zip(self.outputs) {
            let stats = metric.line_stats(output, self.references, options.threads.non_zero());
            lines.push(stats.with_context(|| format!("cannot score {}", path.display()))?);
        }
        let (base, systems) = lines.split_at(self.command.replicates.get());
        let compare = |system: &[Vec<M::Stats>]| {
            let mut found = Compared {
                score: mean_score(metric, system),
                p_value: 1.0,
                tally: match (base, system) {
                    ([base], [system]) => Some(tally(metric, base, system)),
                    _ => None,
                },
                bootstrap: None,
            };
            match test {
                Test::Bootstrap => {
                    let result = bootstrap(metric, base, system, self.command.samples(), *seed);
                    found.p_value = result.p_value;
                    found.bootstrap = Some(result);
                }
                Test::Randomization => {
                    found.p_value = randomization(metric, base, system, self.command.samples(), *seed);
                }
                Test::Sign => found.p_value = sign(metric, &base[0], &system[0]).p_value,
            }
            found
        };
        Ok(Comparison {
            name: metric.name(),
            signature: metric.signature(self.references.len()),
            base: mean_score(metric, base),
            systems: systems.chunks(self.command.replicates.get()).map(compare).collect(),
        })
    }
}

impl Compare {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let (files, each) = (self.outputs.len(), self.replicates.get());
        ensure!(
            files >= 2 * each && files.is_multiple_of(each),
            "found {files} translations, expected those of a baseline and at least one system, {each} file(s) each"
        );
        ensure!(
            self.test != Test::Sign || each == 1,
            "the sign test compares single outputs; use --test randomization for replicates"
        );
        let read =
            |paths: &[PathBuf]| paths.iter().map(|path| read_lines(path)).collect::<Result<Vec<_>, _>>();
        let (outputs, references) = (read(&self.outputs)?, read(&self.references)?);
        let task = Task { command: &self, outputs: &outputs, references: &references };
        let result = self.options.with(self.metric, task)?;
        let mut out = Output::create(Path::new("-"))?;
        match self.json {
            false => out.write(self.text(&result).as_bytes())?,
            true => out.line(&self.json(&result).to_string())?,
        }
        Ok(out.finish()?)
    }

    fn samples(&self) -> usize {
        let usual = if self.test == Test::Randomization { 10_000 } else { 1_000 };
        self.samples.map_or(usual, NonZeroUsize::get)
    }

    /// The names of the files of system `index`; the baseline is 0.
    fn files(&self, index: usize) -> String {
        let each = self.replicates.get();
        let names: Vec<String> = self.outputs[index * each..(index + 1) * each]
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        names.join(" ")
    }

    fn test_name(&self) -> String {
        self.test.to_possible_value().map_or_else(String::new, |value| value.get_name().to_string())
    }

    fn text(&self, result: &Comparison) -> String {
        let mut text = format!("{:<8} {:.2}  {}\n", result.name, result.base, self.files(0));
        for (index, system) in result.systems.iter().enumerate() {
            let Compared { score, p_value, tally, bootstrap } = system;
            let difference = score - result.base;
            let _ = write!(
                text,
                "{:<8} {score:.2}  {}\n         {difference:+.2}, p = {p_value:.4}",
                result.name,
                self.files(index + 1)
            );
            if let Some(Bootstrap { difference: Interval { low, high, .. }, better, .. }) = bootstrap {
                let _ = write!(
                    text,
                    ", 95 of 100 samples in {low:+.2} to {high:+.2}, better in {:.1} %",
                    100.0 * better
                );
            }
            if let Some(Tally { wins, ties, losses }) = tally {
                let _ = write!(text, "; {wins} wins, {ties} ties, {losses} losses");
            }
            text.push('\n');
        }
        let _ = writeln!(text, "{}|test:{}|seed:{}", result.signature, self.test_name(), self.seed);
        text
    }

    fn json(&self, result: &Comparison) -> Value {
        let systems: Vec<Value> = result
            .systems
            .iter()
            .enumerate()
            .map(|(index, system)| {
                let mut value = json!({
                    "files": self.files(index + 1),
                    "score": system.score,
                    "difference": system.score - result.base,
                    "p_value": system.p_value,
                });
                if let Some(Tally { wins, ties, losses }) = system.tally {
                    value["wins"] = json!(wins);
                    value["ties"] = json!(ties);
                    value["losses"] = json!(losses);
                }
                if let Some(result) = &system.bootstrap {
                    value["interval"] = interval(&result.system);
                    value["base_interval"] = interval(&result.base);
                    value["difference_interval"] = interval(&result.difference);
                    value["better"] = json!(result.better);
                }
                value
            })
            .collect();
        let mut value = json!({
            "metric": result.name,
            "signature": result.signature,
            "test": self.test_name(),
            "replicates": self.replicates,
            "base": { "files": self.files(0), "score": result.base },
            "systems": systems,
        });
        if self.test != Test::Sign {
            value["seed"] = json!(self.seed);
            value["samples"] = json!(self.samples());
        }
        value
    }
}

fn interval(interval: &Interval) -> Value {
    json!({ "mean": interval.mean, "low": interval.low, "high": interval.high })
}
