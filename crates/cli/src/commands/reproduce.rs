//! `sylvan reproduce`: the experiments of the papers, run again.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Args};
use sylvan_reproduce::{Options, Paper, Report, Verdict, reproduce};
use sylvan_store::Output;

use crate::progress::Terminal;
use crate::threads::Threads;

/// Runs the experiments of a paper again, and says of each claim whether it held.
///
/// Models are trained, weights tuned and searches run; all of it is kept in OUT/work by content, so a run that was
/// interrupted goes on where it stopped. Reports are Markdown, and pages with plots; README.md and index.html sum up
/// all that are in OUT. A second run from scratch gives the same figures, times apart.
///
/// The folder of the corpora has enja, multi30k, zhen, europarl, ud and gum below it.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("text").required(true).args(["data", "sample"])))]
#[command(after_help = "Examples:\n  sylvan reproduce all --sample --out papers\n  \
    sylvan reproduce feng-2012 --data corpora --out papers\n  \
    sylvan reproduce cross --data corpora --corpus enja --out papers\n  \
    sylvan reproduce cross --data corpora --weights docs/papers/cross.weights --out papers")]
pub(crate) struct Reproduce {
    /// Which paper.
    #[arg(value_name = "PAPER", value_parser = papers())]
    paper: String,
    /// The folder of the corpora.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Only this one of the corpora that the paper is run on (enja, zhen, deen, csen, fren, europarl); repeat the option for
    /// several. The report is called after them.
    #[arg(long, value_name = "NAME", conflicts_with = "sample")]
    corpus: Vec<String>,
    /// Use the built-in corpus.
    #[arg(long)]
    sample: bool,
    /// Where reports go.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Weights that an earlier run left beside its report (NAME.weights): what they are for is not tuned again, which is
    /// most of the time. Repeat the option for several files.
    #[arg(long, value_name = "FILE")]
    weights: Vec<PathBuf>,
    #[command(flatten)]
    threads: Threads,
}

fn papers() -> PossibleValuesParser {
    Paper::ALL.iter().map(|paper| paper.name()).chain(["all"]).collect::<Vec<_>>().into()
}

impl Reproduce {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let (corpora, threads) = (self.corpus, self.threads.count());
        let options = Options { data: self.data, corpora, out: self.out, weights: self.weights, threads };
        let wanted = Paper::ALL.iter().filter(|paper| self.paper == "all" || self.paper == paper.name());
        for &paper in wanted {
            let report = reproduce(paper, &options, &Terminal::default(), &say)
                .with_context(|| format!("reproduce {}", paper.name()))?;
            tell(&report)?;
        }
        Ok(())
    }
}

/// The claims of a report on standard output.
fn tell(report: &Report) -> anyhow::Result<()> {
    let mut out = Output::create(Path::new("-"))?;
    out.line(report.paper)?;
    for claim in &report.claims {
        let mark = match claim.verdict {
            Verdict::Held => "+",
            Verdict::Partly => "~",
            Verdict::NotHeld => "-",
            Verdict::Shown => " ",
        };
        let (item, said, verdict) = (&claim.item, &claim.claim, claim.verdict.name());
        out.line(&format!("{mark} {item}: {said}: {verdict} ({})", claim.found))?;
    }
    Ok(out.finish()?)
}

/// What happens goes to standard error.
#[allow(clippy::print_stderr)]
fn say(line: &str) {
    eprintln!("{line}");
}
