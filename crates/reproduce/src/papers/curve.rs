//! Beyond the papers: what more text is worth, with a network and without.

use sylvan_decode::Result;

use super::joined;
use crate::corpora::Corpus;
use crate::lab::Lab;
use crate::measured::Measured;
use crate::networks::{alone, network};
use crate::report::plot::{Axis, Plot, Series};
use crate::report::{Report, Table, Verdict};
use crate::scores::Scored;
use crate::system::{Extra, Kind, Part};
use crate::ways::Way;

pub(super) const NAME: &str = "curve";
const TITLE: &str = "Beyond the papers: how much text, with a network and without";

const SEEDS: [u64; 3] = [1, 2, 3];
/// Pairs to learn from; what a corpus has is the last point of its curve.
const PAIRS: [usize; 3] = [5_000, 10_000, 25_000];

/// What is compared: name, options, beam, whether a network helps.
const LINES: [(&str, &str, usize, bool); 3] = [
    ("rules alone", "cube --pops b", 500, false),
    ("network re-ranking", "cube --pops b", 500, true),
    ("network inside", "prediction --network inside", 100, true),
];
const ALONE: &str = "network alone";

/// The rules that a corpus is translated with: trees where they come with it.
fn kind(corpus: Corpus) -> Kind {
    if corpus.has_trees() { Kind::Tree } else { Kind::Hiero }
}

/// The points of a corpus's curve; 0 for all of its pairs, and how many these are.
fn points(lab: &Lab<'_>, corpus: Corpus) -> Result<Vec<(usize, usize)>> {
    let all = lab.prepared(corpus)?.pairs()?;
    let some = if corpus == Corpus::Sample { [4, 3, 2].map(|part| all / part) } else { PAIRS };
    let fewer = some.into_iter().filter(|&pairs| pairs < all).map(|pairs| (pairs, pairs));
    Ok(fewer.chain([(0, all)]).collect())
}

/// The runs of each line at one point of a curve.
fn at(lab: &Lab<'_>, corpus: Corpus, pairs: usize) -> Result<(Vec<Vec<Measured>>, Vec<String>)> {
    let trained = network(lab, corpus, pairs, 1)?;
    let (mut lines, mut references) = (Vec::new(), Vec::new());
    for (_, options, beam, with_network) in LINES {
        let neural = with_network.then(|| trained.path.clone());
        let system = lab.system(corpus, kind(corpus), &Extra { pairs, neural, ..Extra::default() })?;
        lines.push(lab.tuned_runs(&system, &Way::new(options, beam)?, &SEEDS)?);
        references = system.references(Part::Test)?;
    }
    let learnt = lab.learn_with(corpus, Kind::Hiero, &Extra { pairs, ..Extra::default() })?;
    lines.push(vec![alone(lab, &trained, &learnt)?]);
    Ok((lines, references))
}

pub(super) fn run(lab: &Lab<'_>, corpora: &[Corpus]) -> Result<Report> {
    let texts: Vec<&str> = corpora.iter().map(|corpus| corpus.title()).collect();
    let setting = format!(
        "Corpora: {}. The first pairs of the text that models are learnt from; links, rules, language model and network are \
         learnt from them alone, weights tuned for each line with its own search, {} runs. Trees where they come with the \
         corpus, rules with gaps elsewhere. The network alone: one run, a beam of {}.",
        texts.join(", "),
        SEEDS.len(),
        crate::networks::BEAM,
    );
    let mut report = Report::new(NAME, TITLE, setting);
    let (mut told, mut held) = (Vec::new(), Vec::new());
    for &corpus in corpora {
        report.heading(corpus.title());
        let names = LINES.map(|line| line.0);
        let head: Vec<&str> = ["pairs"]
            .into_iter()
            .chain(names)
            .chain([ALONE, "re-ranking for rules alone", "inside for re-ranking"])
            .collect();
        let mut table = Table::new("BLEU on lines that nothing was tuned on.", &head);
        let mut series: Vec<Series> =
            names.into_iter().chain([ALONE]).map(|name| Series::line(name, Vec::new())).collect();
        let mut begins = None;
        for (pairs, count) in points(lab, corpus)? {
            let (lines, references) = at(lab, corpus, pairs)?;
            let scored: Vec<Scored> =
                lines.iter().map(|runs| Scored::new(runs, &references)).collect::<Result<_>>()?;
            let mut row = vec![count.to_string()];
            for (series, scored) in series.iter_mut().zip(&scored) {
                let all = scored.all();
                let ends =
                    [f64::min, f64::max].map(|end: fn(f64, f64) -> f64| all.iter().copied().reduce(end));
                series.points.push((count as f64, scored.bleu()));
                series.band.push((ends[0].unwrap_or_default(), ends[1].unwrap_or_default()));
                row.push(scored.shown());
            }
            row.push(scored[1].against(&scored[0]));
            row.push(scored[2].against(&scored[1]));
            table.row(row);
            let best = if scored[2].bleu() > scored[1].bleu() { &scored[2] } else { &scored[1] };
            let pays = best.bleu() > scored[0].bleu() && best.p_value(&scored[0]) < 0.05;
            // It pays from here on only if it pays with more text, too.
            begins = if pays { begins.or(Some(count)) } else { None };
            held.push(pays);
        }
        report.table(table);
        report.plot(Plot {
            name: corpus.name().to_string(),
            title: format!("{}: BLEU against text, {} runs of tuning", corpus.title(), SEEDS.len()),
            x: Axis::log("pairs of sentences"),
            y: Axis::linear("BLEU"),
            series,
        });
        told.push(match begins {
            Some(count) => format!("{}: from {count} pairs", corpus.title()),
            None => format!("{}: not with all pairs", corpus.title()),
        });
    }
    report.claim(
        "learning curve",
        "(ours) a network pays at every size, re-ranking or inside (p < 0.05)",
        "not tried",
        joined(told),
        Verdict::of_all(&held),
    );
    Ok(report)
}
