//! `sylvan score`: how good is a translation?

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use serde_json::{Map, Value, json};
use sylvan_eval::Metric;
use sylvan_store::{Output, read_lines};

use super::metric::{Details, MetricName, MetricOptions, MetricTask};

/// Scores a translation against one or more references.
///
/// BLEU, chrF, chrF++ and TER are sacreBLEU's to the last digit; signatures say how they were computed.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sylvan score --ref test.en --metric bleu,chrf,ter,ribes --json output.en\n  \
    sylvan score --ref test.1.en --ref test.2.en --sentences output.en"
)]
pub(crate) struct Score {
    /// A reference, one sentence per line; repeat the option for several.
    #[arg(long = "ref", value_name = "FILE", required = true)]
    references: Vec<PathBuf>,
    /// Which metrics, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "bleu")]
    metric: Vec<MetricName>,
    #[command(flatten)]
    options: MetricOptions,
    /// Print the score of each sentence as well.
    #[arg(long)]
    sentences: bool,
    /// Print JSON, for programs.
    #[arg(long)]
    json: bool,
    /// The translation, one sentence per line; - for standard input.
    #[arg(value_name = "HYP", default_value = "-")]
    hypothesis: PathBuf,
}

/// The score of one metric.
struct Scored {
    name: String,
    score: f64,
    signature: String,
    remark: String,
    fields: Map<String, Value>,
    sentences: Option<Vec<f64>>,
}

struct Task<'a> {
    command: &'a Score,
    hypothesis: &'a [String],
    references: &'a [Vec<String>],
}

impl MetricTask for Task<'_> {
    type Output = Scored;

    fn run<M: Metric + Details>(self, metric: &M) -> anyhow::Result<Scored> {
        let threads = self.command.options.threads;
        let lines = metric
            .line_stats(self.hypothesis, self.references, threads.non_zero())
            .with_context(|| format!("cannot score {}", self.command.hypothesis.display()))?;
        let total = metric.sum(&lines);
        let sentences = || lines.iter().map(|line| metric.line_value(line)).collect();
        Ok(Scored {
            name: metric.name(),
            score: metric.value(&total),
            signature: metric.signature(self.references.len()),
            remark: metric.remark(&total),
            fields: metric.fields(&total),
            sentences: self.command.sentences.then(sentences),
        })
    }
}

impl Score {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let hypothesis = read_lines(&self.hypothesis)?;
        let references: Vec<Vec<String>> =
            self.references.iter().map(|path| read_lines(path)).collect::<Result<_, _>>()?;
        let mut results: Vec<(String, Scored)> = Vec::new();
        for &metric in &self.metric {
            if results.iter().all(|(name, _)| *name != metric.name()) {
                let task = Task { command: &self, hypothesis: &hypothesis, references: &references };
                results.push((metric.name(), self.options.with(metric, task)?));
            }
        }
        let mut out = Output::create(Path::new("-"))?;
        match self.json {
            false => out.write(text(&results).as_bytes())?,
            true => {
                let fields = results.into_iter().map(json_field).collect();
                out.line(&Value::Object(fields).to_string())?;
            }
        }
        Ok(out.finish()?)
    }
}

fn text(results: &[(String, Scored)]) -> String {
    let mut text = String::new();
    let columns: Vec<&Vec<f64>> =
        results.iter().filter_map(|(_, scored)| scored.sentences.as_ref()).collect();
    if let Some(first) = columns.first() {
        let names: Vec<&str> = results.iter().map(|(_, scored)| scored.name.as_str()).collect();
        let _ = writeln!(text, "line\t{}", names.join("\t"));
        for line in 0..first.len() {
            let cells: Vec<String> = columns.iter().map(|column| format!("{:.2}", column[line])).collect();
            let _ = writeln!(text, "{}\t{}", line + 1, cells.join("\t"));
        }
    }
    for (_, Scored { name, score, signature, remark, .. }) in results {
        let first = format!("{name} {score:.2}  {remark}");
        let _ = writeln!(text, "{}\n{signature}", first.trim_end());
    }
    text
}

fn json_field((name, scored): (String, Scored)) -> (String, Value) {
    let mut fields = Map::new();
    fields.insert("score".to_string(), json!(scored.score));
    fields.insert("signature".to_string(), json!(scored.signature));
    fields.extend(scored.fields);
    if let Some(sentences) = scored.sentences {
        fields.insert("sentences".to_string(), json!(sentences));
    }
    (name, Value::Object(fields))
}
