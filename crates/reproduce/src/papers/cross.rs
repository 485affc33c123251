//! Every search on every kind of forest: what it finds, what it costs, and what it translates with weights of its own.

use sylvan_decode::Result;

use crate::corpora::Corpus;
use crate::lab::Lab;
use crate::measured::{Duel, Measured};
use crate::report::{Report, Table, Verdict};
use crate::scores::Scored;
use crate::system::{Extra, Kind, Part};
use crate::ways::Way;

use super::joined;

pub(super) const NAME: &str = "cross";
const PAPER: &str = "The cross table: every search on every forest";

const SEEDS: [u64; 3] = [1, 2, 3];
/// Joins per sentence, and sentences, of the search for optima.
const EXACT: &str = "exact --effort 5000000";
const CERTIFIED: usize = 100;
/// Of trees: bottom-up searches whose scores are to be reached, and beams to reach them with.
const LEVELS: [(&str, usize); 4] =
    [("cube --pops b", 500), ("cube --pops b", 2000), ("refine", 500), ("refine", 2000)];
const REACHING: [&str; 2] = ["prediction", "incremental"];
const BEAMS: [usize; 7] = [50, 100, 200, 300, 400, 600, 800];

/// The searches of a kind of rules, at beams that take about the same time; the others are compared with the first one, whose
/// weights are those of the columns with the same weights for all.
type Row = (Kind, &'static str, &'static [(&'static str, usize)]);

const OF_TREES: &[(&str, usize)] =
    &[("refine", 500), ("cube", 500), ("incremental", 200), ("prediction", 100), ("undirected", 256)];

const ROWS: [Row; 5] = [
    (Kind::Tree, "trees", OF_TREES),
    (Kind::Forest, "packed forests", OF_TREES),
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
        let mut best = Vec::new();
        for (kind, name, searches) in ROWS {
            best.push(of_kind(lab, &mut table, (corpus, kind, name), searches)?);
        }
        report.table(table);
        report.claim(
            corpus.title(),
            "the search whose own weights translate best, by kind of forest, and its lead over the first one",
            "",
            joined(best),
            Verdict::Shown,
        );
    }
    equal_scores(lab, &mut report, corpora)?;
    Ok(report)
}

/// The beams that reach a score on the text that weights were tuned on, and on one that nothing was tuned on.
fn equal_scores(lab: &Lab<'_>, report: &mut Report, corpora: &[Corpus]) -> Result<()> {
    report.heading("Beams for equal scores");
    let mut table = Table::new(
        "Trees, the weights of the first search: the smallest beam of a left-to-right search whose mean model score is at least \
         that of a bottom-up one, and what both take on the text that nothing was tuned on.",
        &[
            "corpus",
            "to reach",
            "score, dev",
            "score, test",
            "by",
            "beam, dev",
            "beam, test",
            "ms",
            "ms",
            "LM calls",
            "LM calls",
        ],
    );
    let (mut same, mut told) = (Vec::new(), Vec::new());
    for &corpus in corpora {
        let system = lab.system(corpus, Kind::Tree, &Extra::default())?;
        let weights = lab.tuned(&system, &Way::new(OF_TREES[0].0, OF_TREES[0].1)?, SEEDS[0])?;
        let parts = [Part::Dev, Part::Test];
        let run = |options: &str, beam: usize| -> Result<[Measured; 2]> {
            let way = Way::new(options, beam)?;
            let [dev, test] = parts.map(|part| lab.run(&system, &weights, &way, part));
            Ok([dev?, test?])
        };
        for options in REACHING {
            let tried: Vec<(usize, [Measured; 2])> =
                BEAMS.into_iter().map(|beam| Ok((beam, run(options, beam)?))).collect::<Result<_>>()?;
            for (level, pops) in LEVELS {
                let wanted = run(level, pops)?;
                let reach = |part: usize| {
                    tried.iter().find(|(_, found)| found[part].score() > wanted[part].score() - Duel::SAME)
                };
                let beam = |part| reach(part).map_or("not reached".to_string(), |(beam, _)| beam.to_string());
                let cost = |of: fn(&Measured) -> f64, places: usize| {
                    reach(1).map_or(String::new(), |(_, found)| format!("{:.places$}", of(&found[1])))
                };
                table.row([
                    corpus.title().to_string(),
                    format!("`{level}` {pops}"),
                    format!("{:.4}", wanted[0].score()),
                    format!("{:.4}", wanted[1].score()),
                    format!("`{options}`"),
                    beam(0),
                    beam(1),
                    format!("{:.2}", wanted[1].time()),
                    cost(Measured::time, 2),
                    format!("{:.0}", wanted[1].lm_calls()),
                    cost(Measured::lm_calls, 0),
                ]);
                // What is not reached on the one says nothing of the other.
                if let Some((first, _)) = reach(0) {
                    same.push(reach(1).is_some_and(|(second, _)| second <= first));
                    told.push(format!(
                        "{}, `{level}` {pops} by {options}: {} and {}",
                        corpus.title(),
                        beam(0),
                        beam(1)
                    ));
                }
            }
        }
    }
    report.table(table);
    report.claim(
        "control",
        "a beam that reaches a score on the text that weights were tuned on reaches it on other text",
        "",
        joined(told),
        Verdict::of_all(&same),
    );
    Ok(())
}

/// The rows of a kind of forest; returns which of them translates best.
fn of_kind(
    lab: &Lab<'_>,
    table: &mut Table,
    (corpus, kind, name): (Corpus, Kind, &str),
    searches: &[(&str, usize)],
) -> Result<String> {
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
    let mut best = (f64::NEG_INFINITY, String::new());
    for way in &ways {
        let runs = lab.tuned_runs(&system, way, &SEEDS)?;
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
        if scored.bleu() > best.0 {
            let lead = first.as_ref().map_or(String::new(), |first| format!(", {}", scored.against(first)));
            best = (scored.bleu(), format!("{name}: `{}` {:.2}{lead}", way.options, scored.bleu()));
        }
        first.get_or_insert(scored);
    }
    Ok(best.1)
}
