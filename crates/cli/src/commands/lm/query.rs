//! `sylvan lm query`: how likely is a text?

use std::f64::consts::LN_10;
use std::path::{Path, PathBuf};

use clap::Args;
use sylvan_base::limits::SENTENCE_WORDS;
use sylvan_lm::Lm;
use sylvan_parse::structured::{Actions, Keep, Owing, Parses, StructuredLm};
use sylvan_store::{Output, TextReader};

/// Scores a text with a language model.
///
/// Words are what spaces separate. Tokens are the words and one end per line; the unknown words among them are
/// counted. The perplexity without unknown words leaves out their probabilities and their number, but they remain
/// histories of other words. All this is as in KenLM's query.
///
/// A structured language model scores the best tree of each sentence. If its scores are probabilities, the perplexity is a
/// bound: other trees of the same words have a share, too.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sylvan lm query --lm en.lm --json < test.en")]
pub(crate) struct Query {
    /// The model: ARPA text or compiled.
    #[arg(long, value_name = "FILE")]
    lm: PathBuf,
    /// Print JSON, for programs.
    #[arg(long)]
    json: bool,
    /// Print each word with its log10 probability first, one sentence per line.
    #[arg(long)]
    words: bool,
    /// The text, one sentence per line; - for standard input.
    #[arg(value_name = "TEXT", default_value = "-")]
    text: PathBuf,
}

/// What is summed up over a text. Sums of ln p.
#[derive(Debug, Default)]
struct Totals {
    tokens: u64,
    unknown: u64,
    sum: f64,
    unknown_sum: f64,
}

impl Totals {
    fn log10(&self) -> f64 {
        self.sum / LN_10
    }

    fn perplexity(&self) -> f64 {
        (-self.sum / self.tokens as f64).exp()
    }

    fn perplexity_without_unknown(&self) -> f64 {
        (-(self.sum - self.unknown_sum) / (self.tokens - self.unknown) as f64).exp()
    }
}

impl Query {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        if StructuredLm::is_one(&self.lm) {
            return match StructuredLm::open(&self.lm)? {
                StructuredLm::Perceptron(model) => self.parse(&*model),
                StructuredLm::Generative(model) => self.parse(&*model),
            };
        }
        let lm = Lm::open(&self.lm)?;
        let mut reader = TextReader::open(&self.text)?.tolerant();
        let mut out = Output::create(Path::new("-"))?;
        let mut totals = Totals::default();
        let mut line = String::new();
        while let Some(sentence) = reader.next_line()? {
            line.clear();
            let mut state = lm.begin();
            let words = sentence.split_ascii_whitespace().map(|text| (text, lm.word(text)));
            for (text, word) in words.chain([("</s>", lm.end_word())]) {
                let (score, next) = lm.score(&state, word);
                state = next;
                totals.tokens += 1;
                totals.sum += f64::from(score);
                if word.0 == 0 {
                    totals.unknown += 1;
                    totals.unknown_sum += f64::from(score);
                }
                if self.words {
                    let gap = if line.is_empty() { "" } else { "\t" };
                    line.push_str(&format!("{gap}{text} {:.6}", f64::from(score) / LN_10));
                }
            }
            if self.words {
                out.line(&line)?;
            }
        }
        anyhow::ensure!(
            totals.tokens > 0,
            "{}: found no line, expected a sentence per line",
            self.text.display()
        );
        match self.json {
            false => {
                out.line(&format!("tokens                       {}", totals.tokens))?;
                out.line(&format!("unknown words                {}", totals.unknown))?;
                out.line(&format!("log10 probability            {:.4}", totals.log10()))?;
                out.line(&format!("perplexity                   {:.4}", totals.perplexity()))?;
                out.line(&format!(
                    "perplexity without unknown   {:.4}",
                    totals.perplexity_without_unknown()
                ))?;
            }
            true => {
                let json = serde_json::json!({
                    "tokens": totals.tokens,
                    "oov": totals.unknown,
                    "log10_prob": totals.log10(),
                    "perplexity": totals.perplexity(),
                    "perplexity_without_oov": totals.perplexity_without_unknown(),
                });
                out.line(&json.to_string())?;
            }
        }
        Ok(out.finish()?)
    }

    /// Scores a text with a structured language model.
    fn parse(&self, model: &impl Actions) -> anyhow::Result<()> {
        let mut reader = TextReader::open(&self.text)?.tolerant();
        let mut out = Output::create(Path::new("-"))?;
        let mut parses = Parses::new(Owing::new(model));
        let mut totals = Totals::default();
        while let Some(sentence) = reader.next_line()? {
            parses.clear();
            let words: Vec<&str> = sentence.split_ascii_whitespace().take(SENTENCE_WORDS).collect();
            let read: Vec<_> = words.iter().map(|word| parses.read(word)).collect();
            let parse = parses.parse(&read, Keep::ENOUGH);
            totals.tokens += words.len() as u64 + 1;
            totals.sum += parse.as_ref().map_or(0.0, |parse| parse.score);
            if self.words {
                let scores = parse.iter().flat_map(|parse| parse.words.iter().chain([&parse.end]));
                let scored = words.iter().chain([&"</s>"]).zip(scores);
                let scored: Vec<String> = scored.map(|(word, score)| format!("{word} {score:.6}")).collect();
                out.line(&scored.join("\t"))?;
            }
        }
        anyhow::ensure!(
            totals.tokens > 0,
            "{}: found no line, expected a sentence per line",
            self.text.display()
        );
        let perplexity = model.is_normalized().then(|| totals.perplexity());
        if self.json {
            let json = serde_json::json!({
                "tokens": totals.tokens, "score": totals.sum, "perplexity": perplexity,
            });
            out.line(&json.to_string())?;
        } else {
            out.line(&format!("tokens                       {}", totals.tokens))?;
            out.line(&format!("score of the best trees      {:.4}", totals.sum))?;
            if let Some(perplexity) = perplexity {
                out.line(&format!("perplexity at most           {perplexity:.4}"))?;
            }
        }
        Ok(out.finish()?)
    }
}
