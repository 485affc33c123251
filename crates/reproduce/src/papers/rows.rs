//! Reports whose rows are systems with something added: what each of them is worth on corpora, and what their lists agree on.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use sylvan_decode::{Error, Result, Unseen};
use sylvan_eval::{Bleu, Chrf, Metric, Tokenizer};

use super::joined;
use crate::corpora::Corpus;
use crate::lab::Lab;
use crate::lists::{Lists, agreed_lines, lists};
use crate::measured::{Measured, mean};
use crate::networks::{alone, network};
use crate::report::{Report, Table, Verdict};
use crate::scores::Scored;
use crate::system::{Extra, Kind, Part, System};
use crate::ways::Way;

const SEEDS: [u64; 3] = [1, 2, 3];
/// What scores are multiplied with for consensus; the best on the text that weights were tuned on is taken.
const SCALES: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];

/// What a row has besides rules and an n-gram model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct With {
    pub(super) unseen: Unseen,
    /// How many word classes a second language model is made of.
    pub(super) classes: usize,
    pub(super) network: bool,
    /// Whether rules are learnt from two sets of links.
    pub(super) two_sets: bool,
    /// Whether weights of sparse features are tuned as well, by MIRA.
    pub(super) sparse: bool,
    /// How many pairs of the training text are tuned on besides the tuning text.
    pub(super) more: usize,
}

/// Two ways to make links of the probabilities of both directions.
const TWO_SETS: &str = "mean,grow-diag";

pub(super) const NOTHING: With =
    With { unseen: Unseen::Copied, classes: 0, network: false, two_sets: false, sparse: false, more: 0 };
pub(super) const UNSEEN: With = With { unseen: Unseen::Related, ..NOTHING };
pub(super) const CLASSES: With = With { classes: 200, ..NOTHING };
pub(super) const SETS: With = With { two_sets: true, ..NOTHING };
pub(super) const SPARSE: With = With { sparse: true, more: MORE.more, ..NOTHING };
pub(super) const MORE: With = With { more: 1_000, ..NOTHING };

/// Name, rules, search, beam, additions.
pub(super) type Row = (&'static str, Kind, &'static str, usize, With);

pub(super) const TREES: Kind = Kind::Tree;
pub(super) const FORESTS: Kind = Kind::Forest;
pub(super) const GAPS: Kind = Kind::Hiero;
pub(super) const PHRASES: Kind = Kind::Phrase("hier");

/// What is claimed of some rows: item, claim, and pairs of rows of which the first is to translate better than the second.
pub(super) type Claim = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// A report: its name, its title, its systems, and what is claimed of them. The first row is what all others are compared
/// with.
pub(super) struct Experiment {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) rows: &'static [Row],
    /// Name, and the rows whose lists it is made of.
    pub(super) agreed: &'static [(&'static str, [&'static str; 3])],
    pub(super) claims: &'static [Claim],
}

/// What came of a row.
struct Done {
    name: &'static str,
    runs: Vec<Measured>,
}

impl Experiment {
    pub(super) fn run(&self, lab: &Lab<'_>, corpora: &[Corpus]) -> Result<Report> {
        let texts: Vec<&str> = corpora.iter().map(|corpus| corpus.title()).collect();
        let setting = format!(
            "Corpora: {}. Rules, links and language model as `sylvan train` makes them; weights tuned for each row with its \
             own search, {} runs. Consensus: lists of {} translations of trees, rules with gaps and phrases, one scale for \
             all, the best of {SCALES:?} on the text that weights were tuned on. Times are processor time of one thread.",
            texts.join(", "),
            SEEDS.len(),
            crate::lists::LONGEST,
        );
        let mut report = Report::new(self.name, self.title, setting);
        let mut told: Vec<(Vec<String>, Vec<bool>)> = vec![Default::default(); self.claims.len()];
        for &corpus in corpora {
            let (rows, references, trained) = self.systems(lab, corpus)?;
            report.heading(corpus.title());
            let mut table = Table::new(trained, &["", "BLEU", "chrF", "against the first row", "ms"]);
            let base = Scored::new(&rows[0].runs, &references)?;
            let mut best = (f64::NEG_INFINITY, String::new());
            for (at, Done { name, runs }) in rows.iter().enumerate() {
                let scored = Scored::new(runs, &references)?;
                let time = mean(&runs.iter().map(Measured::time).collect::<Vec<_>>());
                let against = scored.against(&base);
                table.row([
                    (*name).to_string(),
                    scored.shown(),
                    format!("{:.2}", chrf(runs, &references)?),
                    if at == 0 { String::new() } else { against.clone() },
                    if time > 0.0 { format!("{time:.1}") } else { String::new() },
                ]);
                if scored.bleu() > best.0 {
                    best = (scored.bleu(), format!("{name} {:.2}, {against}", scored.bleu()));
                }
            }
            report.table(table);
            let found = best.1;
            report.claim(
                corpus.title(),
                "the best row, and its lead over the first",
                "",
                found,
                Verdict::Shown,
            );
            let of = |name: &str| -> Result<Scored> {
                let runs = rows.iter().find(|row| row.name == name).map_or(&[][..], |row| &row.runs);
                Scored::new(runs, &references)
            };
            for ((_, _, pairs), (told, held)) in self.claims.iter().zip(&mut told) {
                for &(row, other) in *pairs {
                    let (row_scored, other) = (of(row)?, of(other)?);
                    held.push(row_scored.bleu() > other.bleu());
                    told.push(format!("{}, {row}: {}", corpus.title(), row_scored.against(&other)));
                }
            }
        }
        for ((item, claim, _), (told, held)) in self.claims.iter().zip(told) {
            report.claim(item, claim, "not tried", joined(told), Verdict::of_all(&held));
        }
        Ok(report)
    }

    /// What came of all rows, what translations should be, and what there is to say of the network, if there is one.
    fn systems(&self, lab: &Lab<'_>, corpus: Corpus) -> Result<(Vec<Done>, Vec<String>, String)> {
        let mut rows: Vec<Done> = Vec::new();
        let mut systems: Vec<(System, Way)> = Vec::new();
        let (mut references, mut trained) = (Vec::new(), None);
        for &(name, kind, options, beam, with) in self.rows {
            if with.network && trained.is_none() {
                trained = Some(network(lab, corpus, 0, 1)?);
            }
            let neural: Option<PathBuf> =
                trained.as_ref().filter(|_| with.network).map(|trained| trained.path.clone());
            let extra = Extra {
                neural,
                unseen: with.unseen,
                classes: with.classes,
                links: with.two_sets.then_some(TWO_SETS),
                sparse: with.sparse,
                more: if corpus == Corpus::Sample { with.more.min(20) } else { with.more },
                ..Extra::default()
            };
            let system = lab.system(corpus, kind, &extra)?;
            let way = Way::new(options, beam)?;
            rows.push(Done { name, runs: lab.tuned_runs(&system, &way, &SEEDS)? });
            references = system.references(Part::Test)?;
            systems.push((system, way));
        }
        if let Some(trained) = &trained {
            let learnt = lab.learn(corpus, GAPS)?;
            rows.push(Done { name: "network alone", runs: vec![alone(lab, trained, &learnt)?] });
        }
        for (name, of) in self.agreed {
            let at = |wanted: &&str| self.rows.iter().position(|row| row.0 == *wanted);
            let parts: Vec<&(System, Way)> = of.iter().filter_map(at).map(|row| &systems[row]).collect();
            assert_eq!(parts.len(), of.len(), "{name} is made of rows that there are");
            let runs = SEEDS.into_iter().map(|seed| agreement(lab, &parts, seed)).collect::<Result<_>>()?;
            rows.push(Done { name, runs });
        }
        let minutes = |trained: crate::networks::Trained| {
            format!("The network: {:.0} minutes of training with {} threads.", trained.minutes, lab.threads)
        };
        Ok((rows, references, trained.map_or(String::new(), minutes)))
    }
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
