//! `sylvan parser eval`: how good are parses?

use std::path::{Path, PathBuf};

use clap::Args;
use sylvan_base::{Fault, Vocab};
use sylvan_parse::eval::attachments::AttachmentScore;
use sylvan_parse::eval::brackets::BracketScore;
use sylvan_parse::treebank;
use sylvan_store::Output;

use super::Kind;

/// Compares a parser's output with gold trees.
///
/// Constituents are counted as EVALB does: labelled brackets of all lengths; words whose gold tag is
/// punctuation (, . : `` '' ? ! PU PUNCT) are deleted, as are an outermost ROOT, TOP, S1 or unlabelled
/// bracket, traces and function tags; parts of speech do not count as brackets; PRT is not ADVP.
/// Dependencies: UAS and LAS over all words, and without punctuation. Figures are per cent.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sylvan parser eval --kind constituency --gold dev.mrg --pred dev.out --json"
)]
pub(crate) struct Eval {
    /// What is compared.
    #[arg(long, value_enum)]
    kind: Kind,
    /// The gold trees.
    #[arg(long, value_name = "FILE")]
    gold: PathBuf,
    /// The parser's trees, sentence by sentence.
    #[arg(long, value_name = "FILE")]
    pred: PathBuf,
    /// Print JSON, for programs.
    #[arg(long)]
    json: bool,
}

impl Eval {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let figures = match self.kind {
            Kind::Constituency => self.constituents()?,
            Kind::Dependency | Kind::Tagger => self.dependencies()?,
        };
        let mut out = Output::create(Path::new("-"))?;
        match self.json {
            false => {
                for (name, value) in figures {
                    out.line(&format!("{name:<28} {value}"))?;
                }
            }
            true => {
                let object: serde_json::Map<String, serde_json::Value> =
                    figures.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
                out.line(&serde_json::Value::Object(object).to_string())?;
            }
        }
        Ok(out.finish()?)
    }

    fn constituents(&self) -> anyhow::Result<Vec<(&'static str, serde_json::Value)>> {
        let mut vocab = Vocab::new();
        let gold = treebank::read_constituents(&self.gold, &mut vocab)?;
        let predicted = treebank::read_constituents(&self.pred, &mut vocab)?;
        self.same_number(gold.len(), predicted.len())?;
        let mut score = BracketScore::default();
        for (index, (gold, predicted)) in gold.iter().zip(&predicted).enumerate() {
            let Some(gold) = gold else { continue };
            score.add(gold, predicted.as_ref(), &vocab).map_err(|error| self.mismatch(index, &error))?;
        }
        Ok(vec![
            ("f1", round(score.f1())),
            ("precision", round(score.precision())),
            ("recall", round(score.recall())),
            ("exact", round(score.exact_match())),
            ("tag_accuracy", round(score.tag_accuracy())),
            ("sentences", score.sentences.into()),
            ("words", score.words.into()),
            ("missing", score.missing.into()),
        ])
    }

    fn dependencies(&self) -> anyhow::Result<Vec<(&'static str, serde_json::Value)>> {
        let mut vocab = Vocab::new();
        let gold = treebank::read_dependencies(&self.gold, &mut vocab)?;
        let predicted = treebank::read_dependencies(&self.pred, &mut vocab)?;
        self.same_number(gold.len(), predicted.len())?;
        let mut score = AttachmentScore::default();
        for (index, (gold, predicted)) in gold.iter().zip(&predicted).enumerate() {
            score.add(gold, predicted, &vocab).map_err(|error| self.mismatch(index, &error))?;
        }
        Ok(vec![
            ("uas", round(score.all.uas())),
            ("las", round(score.all.las())),
            ("uas_without_punctuation", round(score.without_punctuation.uas())),
            ("las_without_punctuation", round(score.without_punctuation.las())),
            ("exact", round(score.exact_match())),
            ("tag_accuracy", round(score.tag_accuracy())),
            ("upos_accuracy", round(score.upos_accuracy())),
            ("sentences", score.sentences.into()),
            ("words", score.all.words.into()),
        ])
    }

    fn same_number(&self, gold: usize, predicted: usize) -> anyhow::Result<()> {
        anyhow::ensure!(
            gold == predicted,
            "{}: found {predicted} sentences, expected the {gold} of {}",
            self.pred.display(),
            self.gold.display()
        );
        Ok(())
    }

    fn mismatch(&self, index: usize, error: &dyn std::fmt::Display) -> sylvan_base::InputError {
        let expected = format!("the words of sentence {} of {}", index + 1, self.gold.display());
        Fault::new(0, format!("sentence {} with {error}", index + 1), expected)
            .at(self.pred.display().to_string(), index as u64 + 1)
    }
}

/// Two decimals are more than any test set supports.
fn round(value: f64) -> serde_json::Value {
    ((value * 100.0).round() / 100.0).into()
}
