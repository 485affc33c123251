//! `sylvan translate`: text in, translations out, line by line as they come.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use sylvan::{Details, Dialect, Translated, Translation, translate_lines, workers};
use sylvan_base::InputError;

use super::model_options::ModelOptions;
use super::tags::Kind;
use crate::bad_lines::{BadLines, Strictness};
use crate::lines::{next_chunk, read_ahead, texts};
use crate::outputs::OutPath;
use crate::threads::Threads;

/// Translates text with a model made by `sylvan train`.
///
/// Lines are translated as they come, one line each; an empty line stays one. Web and e-mail addresses, markup and what
/// --keep matches stay as they are, and what is copied keeps its spacing. With --tags, tags are no words: a pair of them
/// goes around what its words became.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sylvan translate --model enja.sylvan < text.en > text.ja\n  \
    sylvan translate --model enja.sylvan --json --nbest 5 --glossary terms.tsv < text.en\n  \
    sylvan translate --model enja.sylvan --tags xliff < segments.en > segments.ja\n\n\
    A glossary has a term per line: source words, a tab, target words. With --nbest K each line is: \
    number ||| translation ||| features ||| score.\nWith --json each line is an object: source (its words), \
    source_spans and spans (bytes of source and target words), translation, words, score, links ([source, target] from \
    0), features, nbest (with --nbest), missed_terms.")]
pub(crate) struct Translate {
    #[command(flatten)]
    model: ModelOptions,
    #[command(flatten)]
    threads: Threads,
    /// The best K translations of each line.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    nbest: Option<u32>,
    /// One JSON object per line.
    #[arg(long)]
    json: bool,
    /// Also write links: source-target pairs counted from 0, one line per input line.
    #[arg(long, value_name = "FILE")]
    align_out: Option<OutPath>,
    #[command(flatten)]
    strictness: Strictness,
    /// Leave words separated by spaces.
    #[arg(long)]
    no_detokenize: bool,
    /// What the tags in the text are. They are moved to where their words went, and each comes back once.
    #[arg(long, value_name = "KIND", value_enum)]
    tags: Option<Kind>,
    /// The text; - for standard input.
    #[arg(value_name = "TEXT", default_value = "-")]
    text: PathBuf,
}

impl Translate {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let (model, mut request) = self.model.open()?;
        request.tokens = self.no_detokenize;
        request.tags = self.tags.map(Dialect::from);
        request.best = self.nbest.unwrap_or(1) as usize;
        let mut details = Details::default();
        details.features = self.json || self.nbest.is_some();
        details.links = self.json || self.align_out.is_some();
        request.details = details;
        let mut workers = workers(&model, self.threads.count());
        let name = self.text.display().to_string();
        let mut align = self.align_out.as_deref().map(sylvan_store::Output::create).transpose()?;
        let mut out = std::io::stdout().lock();
        let lines = read_ahead(&self.text)?;
        let (mut number, mut foreign) = (0, 0);
        let mut bad = BadLines::new(self.strictness);
        while let Some(chunk) = next_chunk(&lines) {
            let (texts, faults) = texts(chunk);
            let translated = translate_lines(&mut workers, &texts, &name, number + 1, &request);
            for (line, fault) in translated.into_iter().zip(faults) {
                let line = match (line, fault) {
                    (Ok(line), None) => line,
                    (Err(error), None) => self.empty(&mut bad, error.into())?,
                    (_, Some(fault)) => self.empty(&mut bad, fault.into())?,
                };
                if line.cut_short && line.gap.is_none() {
                    warn(&name, number + 1);
                }
                foreign += u64::from(line.is_foreign());
                self.write(&mut out, number, &line).map_err(InputError::io("-", "write"))?;
                if let Some(align) = &mut align {
                    align.line(&line.best.first().map(links).unwrap_or_default())?;
                }
                number += 1;
            }
            out.flush().map_err(InputError::io("-", "write"))?;
        }
        bad.sum_up(number);
        if foreign > 0 {
            let tokens = model.source_text().tokenizer.is_none();
            say_foreign(&name, foreign, number, &model.languages()[0], tokens);
        }
        Ok(align.map_or(Ok(()), sylvan_store::Output::finish)?)
    }

    /// What stands for a line that cannot be read.
    fn empty(&self, bad: &mut BadLines, error: anyhow::Error) -> anyhow::Result<Translated> {
        bad.report(error)?;
        Ok(Translated::default())
    }

    fn write(&self, out: &mut impl Write, number: u64, line: &Translated) -> std::io::Result<()> {
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

    fn object(&self, line: &Translated) -> Value {
        let words: Vec<&str> = line.source.iter().map(|word| word.text.as_str()).collect();
        let spans: Vec<Option<[usize; 2]>> = line.source.iter().map(|word| word.span).collect();
        let mut object = json!({
            "source": words, "source_spans": spans, "translation": "", "missed_terms": line.missed_terms,
        });
        if let (Value::Object(fields), Some(object)) = (json!(line.best.first()), object.as_object_mut()) {
            object.extend(fields);
        }
        if self.nbest.is_some() {
            object["nbest"] = json!(line.best);
        }
        object
    }
}

/// Says once per run how many lines hold nothing that the model knows.
#[allow(clippy::print_stderr)]
fn say_foreign(name: &str, foreign: u64, lines: u64, lang: &str, tokens: bool) {
    let wanted = if tokens {
        "text whose words are separated by spaces, as the model was trained"
    } else {
        "text of the source language"
    };
    let lang = if lang.is_empty() { String::new() } else { format!(" ({lang})") };
    eprintln!(
        "warning: {name}: all words unknown in {foreign} of {lines} lines, which are copied; expected {wanted}{lang}"
    );
}

#[allow(clippy::print_stderr)]
fn warn(name: &str, line: u64) {
    eprintln!("{name}:{line}: the limit of work was reached; the translation is a best effort");
}

fn links(translation: &Translation) -> String {
    translation.links.iter().map(|(s, t)| format!("{s}-{t}")).collect::<Vec<_>>().join(" ")
}
