//! Every search on every kind of forest: what it finds, what it costs, and what it translates with weights of its own.

use sylvan_decode::Result;

use crate::corpora::Corpus;
use crate::lab::{Extra, Kind, Lab, Part};
use crate::measured::Measured;
use crate::report::{Report, Table};
use crate::scores::Scored;
use crate::ways::Way;

pub(super) const NAME: &str = "cross";
const PAPER: &str = "The cross table: every search on every forest";

const SEEDS: [u64; 3] = [1, 2, 3];
/// Joins per sentence, and sentences, of the search for optima.
const EXACT: &str = "exact --effort 5000000";
const CERTIFIED: usize = 100;

/// The searches of a kind of rules, at beams that take about the same time; the first one is the usual one, and its weights
/// are those of the columns with the same weights for all.
type Row = (Kind, &'static str, &'static [(&'static str, usize)]);

const ROWS: [Row; 4] = [
    (
        Kind::Tree,
        "trees",
        &[("refine", 500), ("cube", 500), ("incremental", 200), ("prediction", 100), ("undirected", 256)],
    ),
    (
        Kind::Hiero,
        "Hiero",
        &[
            ("focus", 200),
            ("cube --pops b", 256),
            ("refine", 300),
            ("incremental", 100),
            ("prediction", 100),
            ("undirected", 256),
        ],
    ),
    (
        Kind::LrHiero("none"),
        "left-to-right Hiero",
        &[("incremental --pops 500", 500), ("cube --pops b", 256), ("refine", 300), ("undirected", 256)],
    ),
    (
        Kind::Phrase("hier"),
        "phrases",
        &[("stacks", 120), ("stacks", 500), ("stacks --distortion-limit 6", 120)],
    ),
];

pub(super) fn run(lab: &Lab<'_>, corpora: &[Corpus]) -> Result<Report> {
    let texts: Vec<&str> = corpora.iter().map(|corpus| corpus.title()).collect();
    let setting = format!(
        "Corpora: {}. Model score, optima, calls of the language model and time: the weights of the first search of each kind, \
         seed 1, for all. BLEU: weights tuned with that search, mean and deviation of {} runs, on lines that nothing was \
         tuned on. Optima: of those among the first {CERTIFIED} lines that `{EXACT}` proves. Times are processor time \
         of one thread.",
        texts.join(", "),
        SEEDS.len()
    );
    let mut report = Report::new(NAME, PAPER, setting);
    for &corpus in corpora {
        report.heading(corpus.title());
        let mut table = Table::new(
            String::new(),
            &[
                "rules",
                "search",
                "beam",
                "model score",
                "optimum",
                "LM calls",
                "ms",
                "BLEU, own weights",
                "against the first",
            ],
        );
        for (kind, name, searches) in ROWS {
            of_kind(lab, &mut table, (corpus, kind, name), searches)?;
        }
        report.table(table);
    }
    Ok(report)
}

fn of_kind(
    lab: &Lab<'_>,
    table: &mut Table,
    (corpus, kind, name): (Corpus, Kind, &str),
    searches: &[(&str, usize)],
) -> Result<()> {
    let system = lab.system(corpus, kind, &Extra::default())?;
    let references = system.references(Part::Test)?;
    let ways: Vec<Way> =
        searches.iter().map(|&(options, beam)| Way::new(options, beam)).collect::<Result<_>>()?;
    let common = lab.tuned(&system, &ways[0], SEEDS[0])?;
    // Phrases are put together in any order, which has no proof.
    let exact = match kind {
        Kind::Phrase(_) => None,
        _ => {
            let (way, lines) = (Way::new(EXACT, 500)?, (Part::Test, CERTIFIED));
            Some(lab.run_first(&system, &common, &way, lines, "looking for the optimum")?)
        }
    };
    let mut first: Option<Scored> = None;
    for way in &ways {
        let run = |seed| {
            let weights = lab.tuned(&system, way, seed)?;
            lab.run(&system, &weights, way, Part::Test)
        };
        let runs: Vec<Measured> = SEEDS.into_iter().map(run).collect::<Result<_>>()?;
        let scored = Scored::new(&runs, &references)?;
        let same = lab.run(&system, &common, way, Part::Test)?;
        table.row([
            name.to_string(),
            format!("`{}`", way.options),
            way.beam().to_string(),
            format!("{:.4}", same.score()),
            exact.as_ref().map_or(String::new(), |exact| same.reached(exact)),
            format!("{:.0}", same.lm_calls()),
            format!("{:.2}", same.time()),
            scored.shown(),
            first.as_ref().map_or(String::new(), |first| scored.against(first)),
        ]);
        first.get_or_insert(scored);
    }
    Ok(())
}
