//! Beyond the papers: what each addition to the models is worth, alone and together.
//!
//! ```text
//! words never seen   rules for words like them and for their parts        crates/decode/src/unseen
//! word classes       a second language model, of classes of words           crates/lm/src/classes
//! network            re-ranks what a search lists, or is asked inside it  crates/decode/src/models/neural.rs
//! consensus          what lists of trees, rules with gaps and phrases agree on   crates/eval/src/consensus.rs
//! ```

use std::num::NonZeroUsize;

use sylvan_decode::{Error, Result, Unseen};
use sylvan_eval::{Bleu, Chrf, Metric, Tokenizer};

use crate::corpora::Corpus;
use crate::lab::{Extra, Kind, Lab, Part, System};
use crate::lists::{Lists, agreed_lines, lists};
use crate::measured::{Measured, mean};
use crate::networks::network;
use crate::report::{Report, Table, Verdict};
use crate::scores::Scored;
use crate::ways::Way;

use super::joined;

pub(super) const NAME: &str = "additions";
const PAPER: &str = "Beyond the papers: what each addition is worth";

const SEEDS: [u64; 3] = [1, 2, 3];
/// What scores are multiplied with for consensus; the best on the text that weights were tuned on is taken.
const SCALES: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];

/// What a row has besides rules and an n-gram model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct With {
    unseen: Unseen,
    /// How many word classes a second language model is made of.
    classes: usize,
    network: bool,
}

const NOTHING: With = With { unseen: Unseen::Copied, classes: 0, network: false };
const UNSEEN: With = With { unseen: Unseen::Related, ..NOTHING };
const CLASSES: With = With { classes: 200, ..NOTHING };
const NETWORK: With = With { network: true, ..NOTHING };
const BOTH: With = With { network: true, ..UNSEEN };

/// Name, rules, search, beam, additions.
type Row = (&'static str, Kind, &'static str, usize, With);

const PHRASES: Kind = Kind::Phrase("hier");

const ROWS: [Row; 15] = [
    ("trees", Kind::Tree, "cube", 500, NOTHING),
    ("trees, words never seen", Kind::Tree, "cube", 500, UNSEEN),
    ("trees, word classes", Kind::Tree, "cube", 500, CLASSES),
    ("trees, network re-ranking", Kind::Tree, "cube", 500, NETWORK),
    ("trees, network inside", Kind::Tree, "incremental --network inside", 100, NETWORK),
    ("trees, words never seen, network re-ranking", Kind::Tree, "cube", 500, BOTH),
    ("trees, words never seen, network inside", Kind::Tree, "incremental --network inside", 100, BOTH),
    ("gaps", Kind::Hiero, "focus", 200, NOTHING),
    ("gaps, words never seen", Kind::Hiero, "focus", 200, UNSEEN),
    ("gaps, word classes", Kind::Hiero, "focus", 200, CLASSES),
    ("gaps, words never seen, network re-ranking", Kind::Hiero, "focus", 200, BOTH),
    ("phrases", PHRASES, "stacks", 120, NOTHING),
    ("phrases, words never seen", PHRASES, "stacks", 120, UNSEEN),
    ("phrases, word classes", PHRASES, "stacks", 120, CLASSES),
    ("phrases, words never seen, network re-ranking", PHRASES, "stacks", 120, BOTH),
];

/// Name, and the rows whose lists it is made of.
const AGREED: [(&str, [usize; 3]); 3] = [
    ("consensus alone", [0, 7, 11]),
    ("words never seen, consensus", [1, 8, 12]),
    ("all together", [5, 10, 14]),
];

/// What came of a row.
struct Done {
    name: &'static str,
    runs: Vec<Measured>,
}

pub(super) fn run(lab: &Lab<'_>, corpora: &[Corpus]) -> Result<Report> {
    let texts: Vec<&str> = corpora.iter().map(|corpus| corpus.title()).collect();
    let setting = format!(
        "Corpora: {}. Rules, links and language model as `sylvan train` makes them; weights tuned for each row with its own \
         search, {} runs. The network is trained on the same text, once. Consensus: lists of {} translations of trees, rules \
         with gaps and phrases, one scale for all, the best of {SCALES:?} on the text that weights were tuned on. Times are \
         processor time of one thread.",
        texts.join(", "),
        SEEDS.len(),
        crate::lists::LONGEST,
    );
    let mut report = Report::new(NAME, PAPER, setting);
    let (mut told, mut seen) = (Vec::new(), Vec::new());
    for &corpus in corpora {
        let trained = network(lab, corpus, 1)?;
        let (rows, references) = all_rows(lab, corpus, &trained.path)?;
        report.heading(corpus.title());
        let mut table = Table::new(
            format!("The network: {:.0} minutes of training with {} threads.", trained.minutes, lab.threads),
            &["", "BLEU", "chrF", "against trees alone", "ms"],
        );
        let base = Scored::new(&rows[0].runs, &references)?;
        let mut best = (f64::NEG_INFINITY, String::new());
        for Done { name, runs } in &rows {
            let scored = Scored::new(runs, &references)?;
            let time = mean(&runs.iter().map(Measured::time).collect::<Vec<_>>());
            let against = scored.against(&base);
            table.row([
                (*name).to_string(),
                scored.shown(),
                format!("{:.2}", chrf(runs, &references)?),
                if *name == rows[0].name { String::new() } else { against.clone() },
                if time > 0.0 { format!("{time:.1}") } else { String::new() },
            ]);
            if scored.bleu() > best.0 {
                best = (scored.bleu(), format!("{}: {name} {:.2}, {against}", corpus.title(), scored.bleu()));
            }
            if *name == "gaps, words never seen" {
                let gaps = rows.iter().find(|row| row.name == "gaps").map_or(&[][..], |row| &row.runs);
                let gaps = Scored::new(gaps, &references)?;
                seen.push(scored.bleu() > gaps.bleu());
                told.push(format!("{}: {}", corpus.title(), scored.against(&gaps)));
            }
        }
        report.table(table);
        report.claim(
            corpus.title(),
            "the best row, and its lead over trees alone",
            "",
            best.1,
            Verdict::Shown,
        );
    }
    report.claim(
        "words never seen",
        "(ours) rules for words like them and for their parts translate better than copies (rules with gaps)",
        "not tried",
        joined(told),
        Verdict::of_all(&seen),
    );
    Ok(report)
}

fn all_rows(lab: &Lab<'_>, corpus: Corpus, network: &std::path::Path) -> Result<(Vec<Done>, Vec<String>)> {
    let (mut rows, mut systems, mut references) = (Vec::new(), Vec::new(), Vec::new());
    for (name, kind, options, beam, with) in ROWS {
        let neural = with.network.then(|| network.to_path_buf());
        let extra = Extra { neural, unseen: with.unseen, classes: with.classes, ..Extra::default() };
        let system = lab.system(corpus, kind, &extra)?;
        let way = Way::new(options, beam)?;
        rows.push(Done { name, runs: lab.tuned_runs(&system, &way, &SEEDS)? });
        references = system.references(Part::Test)?;
        systems.push((system, way));
    }
    for (name, of) in AGREED {
        let parts: Vec<&(System, Way)> = of.iter().map(|&row| &systems[row]).collect();
        let runs = SEEDS.into_iter().map(|seed| agreement(lab, &parts, seed)).collect::<Result<_>>()?;
        rows.push(Done { name, runs });
    }
    Ok((rows, references))
}

/// What the lists of some systems agree on, with the scale that is best on the text that weights were tuned on.
fn agreement(lab: &Lab<'_>, parts: &[&(System, Way)], seed: u64) -> Result<Measured> {
    let of = |part: Part| -> Result<Vec<Lists>> {
        parts
            .iter()
            .map(|(system, way)| lists(lab, system, &lab.tuned(system, way, seed)?, way, part))
            .collect()
    };
    let (dev, references) = (of(Part::Dev)?, parts[0].0.references(Part::Dev)?);
    let mut best = (f64::NEG_INFINITY, SCALES[0]);
    for scale in SCALES {
        let found = bleu(&agreed_lines(&dev, scale), &references)?;
        if found > best.0 {
            best = (found, scale);
        }
    }
    Ok(Measured { texts: agreed_lines(&of(Part::Test)?, best.1), ..Measured::default() })
}

fn bleu(lines: &[String], references: &[String]) -> Result<f64> {
    value(&Bleu { tokenizer: Tokenizer::None, ..Bleu::default() }, lines, references)
}

/// The mean over runs.
fn chrf(runs: &[Measured], references: &[String]) -> Result<f64> {
    let values: Result<Vec<f64>> =
        runs.iter().map(|run| value(&Chrf::default(), &run.texts, references)).collect();
    Ok(mean(&values?))
}

fn value<M: Metric>(metric: &M, lines: &[String], references: &[String]) -> Result<f64> {
    let stats = metric.line_stats(lines, &[references.to_vec()], NonZeroUsize::MIN);
    Ok(metric.value(&metric.sum(&stats.map_err(|error| Error::Scores(Box::new(error)))?)))
}
