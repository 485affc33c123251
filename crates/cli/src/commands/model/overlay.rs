//! `sylvan model overlay`: corrections of a model without training again.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::bail;
use clap::{Args, Subcommand};
use sylvan::decode::corrections::{overlay_path, rules_of_line, written_time};
use sylvan::decode::file::ModelFile;
use sylvan::{Correction, CorrectionLog, Corrections, Learned, Learning, Model, Pair, Worker};
use sylvan_store::Output;

use crate::commands::model_options::InputName;

/// Adds, forbids or favours rules and sentences without training again.
///
/// Corrections are kept beside the model in MODEL.overlay, in the order in which they were made; `sylvan
/// translate` and `sylvan explain` use them. The model itself is never changed, and `undo` takes back the
/// last correction.
#[derive(Debug, Args)]
#[command(after_help = "Rules are written as `sylvan explain` shows them.\n\nExamples:\n  \
    sylvan model overlay add enja.sylvan \"NN(bank) -> 川岸\"\n  \
    sylvan model overlay add enja.sylvan --pair \"good morning .\" \"おはよう 。\"\n  \
    sylvan model overlay forbid enja.sylvan \"NN(bank) -> *\"\n  \
    sylvan model overlay forbid enja.sylvan --line 4711\n  \
    sylvan model overlay boost enja.sylvan --by 2 \"NN(bank) -> 銀行\"\n  \
    sylvan model overlay list enja.sylvan\n  \
    sylvan model overlay undo enja.sylvan")]
pub(super) struct Overlay {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Adds a rule, or a sentence with its translation and what can be learnt from it.
    Add(Add),
    /// Forbids a rule, or what was learnt from one training line alone.
    Forbid(Forbid),
    /// Favours a rule, or what was learnt from one training line alone; below 0 it is held back.
    Boost(Boost),
    /// Lists corrections.
    List(List),
    /// Takes back the last correction.
    Undo(Undo),
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sylvan model overlay list enja.sylvan")]
struct List {
    /// The model.
    #[arg(value_name = "MODEL")]
    model: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sylvan model overlay undo enja.sylvan")]
struct Undo {
    /// The model.
    #[arg(value_name = "MODEL")]
    model: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sylvan model overlay add enja.sylvan \"NN(bank) -> 川岸\"\n  \
    sylvan model overlay add enja.sylvan --pair \"good morning .\" \"おはよう 。\"\n  \
    sylvan model overlay add enja.sylvan --exact --author Ann --pair \"good night .\" \"おやすみ 。\"")]
struct Add {
    /// The model.
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// The rule, with features if they are not to be 0: VP(VB(show) x1:NP) -> x1 zeigen ||| p_ef=-0.5.
    #[arg(value_name = "RULE", required_unless_present = "pair", conflicts_with = "pair")]
    rule: Option<String>,
    /// A sentence and the translation that it is always to have. Where the model said something else, rules are
    /// learnt for other sentences, and shown.
    #[arg(long, num_args = 2, value_names = ["SENTENCE", "TRANSLATION"])]
    pair: Option<Vec<String>>,
    /// What the sentence of --pair is.
    #[arg(long, value_enum, default_value = "text")]
    input: InputName,
    /// Of --pair, learn nothing but the sentence itself: no rules for other sentences.
    #[arg(long, requires = "pair")]
    exact: bool,
    /// Who gives the translation of --pair.
    #[arg(long, value_name = "NAME", requires = "pair", default_value = "anonymous")]
    author: String,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sylvan model overlay forbid enja.sylvan \"NN(bank) -> *\"\n  \
    sylvan model overlay forbid enja.sylvan --line 4711")]
struct Forbid {
    /// The model.
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    #[command(flatten)]
    rules: Rules,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sylvan model overlay boost enja.sylvan --by 2 \"NN(bank) -> 銀行\"")]
struct Boost {
    /// The model.
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// How much more it is to score wherever it is used.
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    by: f32,
    #[command(flatten)]
    rules: Rules,
}

/// What a correction is about.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Rules {
    /// The rule; SOURCE -> * for all rules of a source side (only with forbid).
    #[arg(value_name = "RULE")]
    rule: Option<String>,
    /// A training line, by its number in the files that training was given.
    #[arg(long, value_name = "N")]
    line: Option<u64>,
}

impl Overlay {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self.what {
            What::Add(add) => add.run(),
            What::Forbid(Forbid { model, rules }) => rules.correct(&model, "forbid"),
            What::Boost(Boost { model, by, rules }) => rules.correct(&model, &format!("boost {by}")),
            What::List(List { model }) => list(&model),
            What::Undo(Undo { model }) => undo(&model),
        }
    }
}

impl Add {
    fn run(self) -> anyhow::Result<()> {
        let model = Arc::new(Model::open(&self.model)?);
        let Some(pair) = &self.pair else {
            let line = format!("add {}", self.rule.as_deref().unwrap_or_default());
            return write(&self.model, &model, &Correction { about: line.clone(), lines: vec![line] });
        };
        let [source, target] = [&pair[0], &pair[1]];
        let learning = if self.exact { Learning::exact() } else { Learning::default() };
        let known = Corrections::beside(&model, &self.model)?;
        let mut worker = Worker::new(Arc::clone(&model));
        let learned = worker.learn((source, target), self.input.into(), known.as_ref(), &learning)?;
        let about = Pair::new(&written_time(SystemTime::now()), &self.author, source, target).about();
        write(&self.model, &model, &Correction { about, lines: learned.lines.clone() })?;
        tell(&learned);
        Ok(())
    }
}

/// What a pair taught.
#[allow(clippy::print_stderr)]
fn tell(learned: &Learned) {
    if let Some(Pair { time, author, translation, .. }) = &learned.instead_of {
        eprintln!("instead of {translation:?}, which {author} gave at {time}");
    }
    learned.rules.iter().for_each(|rule| eprintln!("learnt: {rule}"));
}

impl Rules {
    fn correct(&self, path: &Path, verb: &str) -> anyhow::Result<()> {
        let model = Model::open(path)?;
        let correction = match (&self.rule, self.line) {
            (_, Some(number)) => {
                let Some(rules) = rules_of_line(&model, number)? else {
                    bail!(
                        "--line: found {number}, expected the number of a training line that the model keeps; \
                         was it trained with --no-lines, or was the line left out?"
                    );
                };
                if rules.is_empty() {
                    bail!("--line: found {number}, expected a line with rules that no other line has");
                }
                let lines = rules.iter().map(|rule| format!("{verb} {rule}")).collect();
                Correction { about: format!("{verb} --line {number}"), lines }
            }
            (rule, None) => {
                let line = format!("{verb} {}", rule.as_deref().unwrap_or_default());
                Correction { about: line.clone(), lines: vec![line] }
            }
        };
        write(path, &model, &correction)
    }
}

/// Checks a correction and adds it to the log.
#[allow(clippy::print_stderr)]
fn write(path: &Path, model: &Model, correction: &Correction) -> anyhow::Result<()> {
    let mut log = CorrectionLog::open(path)?;
    // A rule that an earlier correction added counts, too.
    let mut lines: Vec<String> = log.corrections().into_iter().flat_map(|one| one.lines).collect();
    let before = lines.len();
    lines.extend(correction.lines.iter().cloned());
    let read = Corrections::from_lines(model, &lines)?;
    let missing = read.missing();
    let last = format!("correction:{}:", before + 1);
    if correction.lines.len() == 1 && missing.iter().any(|line| line.starts_with(&last)) {
        bail!(
            "found {:?}, expected a rule of the model; `sylvan explain` shows those of a sentence",
            correction.lines[0]
        );
    }
    log.push(correction)?;
    eprintln!("{} now in {}", count(lines.len()), overlay_path(path).display());
    Ok(())
}

fn count(lines: usize) -> String {
    if lines == 1 { "1 line".to_string() } else { format!("{lines} lines") }
}

/// The corrections of a model file, which must be valid.
fn corrections(model: &Path) -> anyhow::Result<CorrectionLog> {
    ModelFile::open(model)?;
    Ok(CorrectionLog::open(model)?)
}

fn list(model: &Path) -> anyhow::Result<()> {
    let mut out = Output::create(Path::new("-"))?;
    for (number, Correction { about, lines }) in corrections(model)?.corrections().iter().enumerate() {
        out.line(&format!("{}\t{about}\t{}", number + 1, count(lines.len())))?;
    }
    Ok(out.finish()?)
}

#[allow(clippy::print_stderr)]
fn undo(model: &Path) -> anyhow::Result<()> {
    match corrections(model)?.undo()? {
        Some(correction) => eprintln!("undone: {}", correction.about),
        None => bail!("found no correction of {}, expected one to undo", model.display()),
    }
    Ok(())
}
