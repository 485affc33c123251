//! `sylvan align eval`: how good are links?

use std::path::{Path, PathBuf};

use clap::Args;
use sylvan_align::Evaluation;
use sylvan_corpus::Base;
use sylvan_store::Output;

use super::links::Links;

/// Compares links with hand-made ones: alignment error rate, precision, recall, F1.
///
/// Lines of links beyond the last hand-made one are ignored, so a text that was aligned together with more
/// text can be judged as it is. Values are shares between 0 and 1.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sylvan align eval --gold test.gold --gold-one-based --pred links --json")]
pub(crate) struct Eval {
    /// Hand-made links: i-j sure, ipj possible.
    #[arg(long, value_name = "FILE")]
    gold: PathBuf,
    /// The links to judge.
    #[arg(long, value_name = "FILE")]
    pred: PathBuf,
    /// The hand-made links count from 1.
    #[arg(long)]
    gold_one_based: bool,
    /// The links to judge count from 1.
    #[arg(long)]
    pred_one_based: bool,
    /// Print JSON, for programs.
    #[arg(long)]
    json: bool,
}

impl Eval {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let base = |one: bool| if one { Base::One } else { Base::Zero };
        let mut gold = Links::open(&self.gold, base(self.gold_one_based))?;
        let mut pred = Links::open(&self.pred, base(self.pred_one_based))?;
        let mut evaluation = Evaluation::default();
        while let Some(wanted) = gold.next()? {
            let found = pred.next()?.ok_or_else(|| pred.ended(&self.gold))?;
            evaluation.add(&wanted, &found);
        }
        anyhow::ensure!(evaluation.pairs > 0, "{}: found no line, expected links", self.gold.display());
        let mut out = Output::create(Path::new("-"))?;
        let Evaluation { pairs, links, sure, .. } = evaluation;
        match self.json {
            false => {
                out.line(&format!(
                    "AER {:.2}  precision {:.2}  recall {:.2}  F1 {:.2}  ({pairs} pairs, {links} links, {sure} sure)",
                    100.0 * evaluation.aer(),
                    100.0 * evaluation.precision(),
                    100.0 * evaluation.recall(),
                    100.0 * evaluation.f1()
                ))?;
            }
            true => {
                let json = serde_json::json!({
                    "aer": evaluation.aer(),
                    "precision": evaluation.precision(),
                    "recall": evaluation.recall(),
                    "f1": evaluation.f1(),
                    "pairs": pairs,
                    "links": links,
                    "sure": sure,
                });
                out.line(&json.to_string())?;
            }
        }
        Ok(out.finish()?)
    }
}
