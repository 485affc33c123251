//! `sylvan translate`: text in, translations out, line by line as they come.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use sylvan::translate::{OpenConfig, Request, TranslatedLine, TranslatedText};
use sylvan_base::InputError;

use super::searching::{InputName, Searching, open};
use crate::lines::{next_chunk, read_ahead};
use crate::threads::threads;

/// Translates text with a model of `sylvan train`.
///
/// Lines are translated as they come, one line each; an empty line stays one. Web and e-mail addresses and what
/// --keep matches go through as they are.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sylvan translate --model enja.sylvan < text.en > text.ja\n  \
    sylvan translate --model enja.sylvan --json --nbest 5 --glossary terms.tsv < text.en\n\n\
    A glossary has a term per line: source words, a tab, target words. With --nbest K each line is: \
    number ||| translation ||| features ||| score.\nWith --json each line is an object: source (its words), \
    translation, words, score, links ([source, target] from 0), features, nbest (with --nbest), missed_terms.")]
pub(crate) struct Translate {
    /// The model.
    #[arg(long, value_name = "MODEL")]
    model: PathBuf,
    /// What the lines are.
    #[arg(long, value_enum, default_value = "text")]
    input: InputName,
    #[command(flatten)]
    searching: Searching,
    /// Threads; as many as there are processors unless given. The output does not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// The best K translations of each line.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    nbest: Option<u32>,
    /// One JSON object per line.
    #[arg(long)]
    json: bool,
    /// Write links beside: source-target pairs from 0, one line per line.
    #[arg(long, value_name = "FILE")]
    align: Option<PathBuf>,
    /// Terms that must be used.
    #[arg(long, value_name = "FILE")]
    glossary: Option<PathBuf>,
    /// A regular expression for what must go through as it is; repeat the option for several.
    #[arg(long, value_name = "PATTERN")]
    keep: Vec<String>,
    /// Leave corrections beside the model (MODEL.overlay) aside.
    #[arg(long)]
    no_overlay: bool,
    /// Leave words separated by spaces.
    #[arg(long)]
    no_detokenize: bool,
    /// The text; - for standard input.
    #[arg(value_name = "TEXT", default_value = "-")]
    text: PathBuf,
}

impl Translate {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let config = OpenConfig { keep: self.keep.clone(), no_overlay: self.no_overlay };
        let mut translator = open(&self.model, &config)?;
        if let Some(path) = &self.glossary {
            translator.read_glossary(path)?;
        }
        if self.no_detokenize {
            translator.leave_tokens();
        }
        let request = Request {
            input: self.input.into(),
            algorithm: self.searching.algorithm(),
            best: self.nbest.unwrap_or(1) as usize,
            details: self.json || self.nbest.is_some() || self.align.is_some(),
            threads: threads(self.threads),
        };
        let name = self.text.display().to_string();
        let mut align = self.align.as_deref().map(sylvan_store::Output::create).transpose()?;
        let mut out = std::io::stdout().lock();
        let lines = read_ahead(&self.text)?;
        let mut number = 0;
        while let Some(chunk) = next_chunk(&lines)? {
            for line in translator.translate(&chunk, &name, number + 1, &request)? {
                self.write(&mut out, number, &line).map_err(InputError::io("-", "write"))?;
                if let Some(align) = &mut align {
                    align.line(&line.best.first().map(links).unwrap_or_default())?;
                }
                number += 1;
            }
            out.flush().map_err(InputError::io("-", "write"))?;
        }
        Ok(align.map_or(Ok(()), sylvan_store::Output::finish)?)
    }

    fn write(&self, out: &mut impl Write, number: u64, line: &TranslatedLine) -> std::io::Result<()> {
        if self.json {
            return writeln!(out, "{}", self.object(line));
        }
        match self.nbest {
            None => writeln!(out, "{}", line.best.first().map_or("", |best| &best.text)),
            Some(_) => line.best.iter().try_for_each(|one| {
                let shown = one.features.iter().filter(|(_, value)| *value != 0.0);
                let features: Vec<String> = shown.map(|(name, value)| format!("{name}={value:.6}")).collect();
                writeln!(out, "{number} ||| {} ||| {} ||| {:.6}", one.text, features.join(" "), one.score)
            }),
        }
    }

    fn object(&self, line: &TranslatedLine) -> Value {
        let mut object =
            json!({ "source": line.source, "translation": "", "missed_terms": line.missed_terms });
        if let Some(best) = line.best.first() {
            for (name, value) in one(best) {
                object[name] = value;
            }
        }
        if self.nbest.is_some() {
            object["nbest"] = line.best.iter().map(|best| Value::Object(one(best))).collect();
        }
        object
    }
}

fn one(translation: &TranslatedText) -> serde_json::Map<String, Value> {
    let features: serde_json::Map<String, Value> =
        translation.features.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    let fields = [
        ("translation", json!(translation.text)),
        ("words", json!(translation.words)),
        ("score", json!(translation.score)),
        ("links", json!(translation.links)),
        ("features", Value::Object(features)),
    ];
    fields.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

fn links(translation: &TranslatedText) -> String {
    translation.links.iter().map(|(s, t)| format!("{s}-{t}")).collect::<Vec<_>>().join(" ")
}
