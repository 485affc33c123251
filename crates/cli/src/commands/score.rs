//! `sylvan score`: how good is a translation?

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use sylvan_base::InputError;
use sylvan_eval::{Bleu, Case, Tokenizer};
use sylvan_store::{Output, TextReader};

use super::Format;

/// Scores a translation against one or more references.
///
/// BLEU is sacreBLEU's to the last digit; the signature says how it was computed.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sylvan score --ref test.en --metrics bleu --tokenize none --format json output.en"
)]
pub(crate) struct Score {
    /// A reference, one sentence per line; repeat the option for several.
    #[arg(long = "ref", value_name = "FILE", required = true)]
    references: Vec<PathBuf>,
    /// Which metrics, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "bleu")]
    metrics: Vec<Metric>,
    /// How lines become words.
    #[arg(long, value_enum, default_value = "13a")]
    tokenize: Tokenize,
    /// Compare in lower case.
    #[arg(long)]
    lowercase: bool,
    /// How to print.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// The translation, one sentence per line; - for standard input.
    #[arg(value_name = "HYP", default_value = "-")]
    hypothesis: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Metric {
    /// Papineni et al. 2002.
    Bleu,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Tokenize {
    /// Words are what spaces separate: for text that is tokenised already.
    None,
    /// The rules of mteval-v13a.
    #[value(name = "13a")]
    V13a,
}

impl Score {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let hypothesis = read_lines(&self.hypothesis)?;
        let references: Vec<Vec<String>> =
            self.references.iter().map(|path| read_lines(path)).collect::<Result<_, _>>()?;
        let bleu = Bleu {
            tokenizer: match self.tokenize {
                Tokenize::None => Tokenizer::None,
                Tokenize::V13a => Tokenizer::V13a,
            },
            case: if self.lowercase { Case::Lower } else { Case::Mixed },
            ..Bleu::default()
        };
        let mut metrics = self.metrics;
        metrics.dedup();
        let mut json = serde_json::Map::new();
        let mut text = String::new();
        for metric in metrics {
            match metric {
                Metric::Bleu => {
                    let result = bleu
                        .corpus(&hypothesis, &references)
                        .with_context(|| format!("cannot score {}", self.hypothesis.display()))?;
                    let signature = bleu.signature(references.len());
                    let [p1, p2, p3, p4] = result.precisions;
                    text.push_str(&format!(
                        "BLEU {:.2}  ({p1:.1}/{p2:.1}/{p3:.1}/{p4:.1}, brevity {:.3}, {} words, {} in the reference)\n{signature}\n",
                        result.score, result.brevity, result.stats.hyp_len, result.stats.ref_len
                    ));
                    let value = serde_json::json!({
                        "score": result.score,
                        "signature": signature,
                        "precisions": result.precisions,
                        "brevity_penalty": result.brevity,
                        "hypothesis_length": result.stats.hyp_len,
                        "reference_length": result.stats.ref_len,
                    });
                    json.insert("bleu".to_string(), value);
                }
            }
        }
        let mut out = Output::create(Path::new("-"))?;
        match self.format {
            Format::Text => out.write(text.as_bytes())?,
            Format::Json => out.line(&serde_json::Value::Object(json).to_string())?,
        }
        Ok(out.finish()?)
    }
}

fn read_lines(path: &Path) -> Result<Vec<String>, InputError> {
    let mut reader = TextReader::open(path)?;
    let mut lines = Vec::new();
    while let Some(line) = reader.next_line()? {
        lines.push(line.to_string());
    }
    Ok(lines)
}
