//! Siahbani & Sarkar 2017: lexicalised reordering for left-to-right hierarchical phrase-based translation.
//!
//! Hiero with cube pruning and phrase-based translation with and without a lexicalised reordering model stand beside it, with
//! the same links and language model.

use sylvan_base::hash::{content_hash, fold};
use sylvan_base::{Fault, Symbol, Vocab};
use sylvan_corpus::{Alignment, Base};
use sylvan_decode::{Error, Input, Request, Result, Sentence, With};
use sylvan_rules::extract::{FlatRules, GapReordering, LeftToRight};
use sylvan_rules::{Foretold, MapSmoothing, Weights};
use sylvan_store::read_lines;

use crate::corpora::Corpus;
use crate::lab::Lab;
use crate::measured::{Duel, Measured};
use crate::orders::{Agreement, reference_links};
use crate::report::plot::{Axis, Plot, Series};
use crate::report::{Report, Table, Verdict};
use crate::scores::Scored;
use crate::system::{Extra, Kind, Part, System};
use crate::ways::Way;

use super::joined;

pub(super) const NAME: &str = "lr-hiero";
const PAPER: &str =
    "Siahbani & Sarkar 2017: Lexicalized reordering for left-to-right hierarchical phrase-based translation";

const SEEDS: [u64; 3] = [1, 2, 3];
/// The paper's pop limit.
const POPS: usize = 500;
const SWEEP: [usize; 5] = [50, 100, 300, 500, 1000];
/// Training pairs to be made again, and how long they may be: all ways to glue them are looked at.
const FORCED: usize = 200;
const FORCED_WORDS: usize = 25;
/// One in so many training pairs is to be foretold.
const HELD: usize = 10;

const HIERO: &str = "Hiero, cube pruning";
const PLAIN: &str = "left to right";
const LRM: &str = "left to right + LRM";
const NVLRM: &str = "left to right + NVLRM";
const PHRASES: &str = "phrase-based";
const PHRASES_LRM: &str = "phrase-based + LRM";

/// The systems, their rules and searches. Those of rules with gaps take at most 500 steps per span or bin.
const SYSTEMS: [(&str, Kind, &str); 6] = [
    (HIERO, Kind::Hiero, "cube --pops b"),
    (PLAIN, Kind::LrHiero("none"), "incremental --pops 500"),
    (LRM, Kind::LrHiero("lrm"), "incremental --pops 500"),
    (NVLRM, Kind::LrHiero("nvlrm"), "incremental --pops 500"),
    (PHRASES, Kind::Phrase("none"), "stacks --distortion-limit 10"),
    (PHRASES_LRM, Kind::Phrase("hier"), "stacks --distortion-limit 10"),
];

struct Found {
    corpus: Corpus,
    /// Pairs and words that were learnt from.
    sizes: [usize; 3],
    references: Vec<String>,
    /// By system, one run for each seed.
    runs: Vec<(&'static str, Vec<Measured>)>,
    /// Of the system with the reordering model and of that without: by seed, fewer and more steps.
    sweep: Vec<(&'static str, Vec<Vec<Measured>>)>,
    /// The papers' order of cells.
    diverse: Measured,
    /// Training pairs that the rules of each kind can make, of those tried.
    forced: Vec<(&'static str, Vec<bool>)>,
    /// The perplexity of orientations on pairs that nothing was counted on: given the phrase pair, and given nothing.
    foretold: [f64; 2],
    /// By system without phrases: how far the order of its translations is that of the references.
    orders: Vec<(&'static str, Agreement)>,
}

impl Found {
    fn new(lab: &Lab<'_>, corpus: Corpus) -> Result<Self> {
        let mut runs = Vec::new();
        let (mut sweep, mut diverse) = (Vec::new(), Measured::default());
        let (mut sizes, mut references) = ([0; 3], Vec::new());
        let (mut forced, mut foretold, mut orders) = (Vec::new(), [0.0; 2], Vec::new());
        for (name, kind, options) in SYSTEMS {
            let system = lab.system(corpus, kind, &Extra::default())?;
            let beam = if matches!(kind, Kind::Phrase(_)) { 120 } else { POPS };
            let way = Way::new(options, beam)?;
            let found = lab.tuned_runs(&system, &way, &SEEDS)?;
            let weights = lab.tuned(&system, &way, SEEDS[0])?;
            if name == PLAIN || name == LRM {
                let of_seed = |seed| {
                    let weights = lab.tuned(&system, &way, seed)?;
                    let run = |pops: usize| {
                        let way = Way::new(&format!("incremental --pops {pops}"), pops)?;
                        lab.run(&system, &weights, &way, Part::Test)
                    };
                    SWEEP.into_iter().map(run).collect::<Result<_>>()
                };
                sweep.push((name, SEEDS.into_iter().map(of_seed).collect::<Result<_>>()?));
            }
            if !matches!(kind, Kind::Phrase(_)) {
                orders.push((name, order(lab, &system, &weights, &way)?));
            }
            if name == HIERO || name == PLAIN {
                forced.push((name, forced_decoding(lab, &system)?));
            }
            if name == LRM {
                foretold = lab.once("foretold", fold(system.key, content_hash(b"foretold")), || {
                    perplexities(&system)
                })?;
                let way = Way::new("incremental --pops 500 --diversity 10", POPS)?;
                diverse = lab.run(&system, &weights, &way, Part::Test)?;
                references = system.references(Part::Test)?;
                let [source, target] = &system.learnt.train;
                let words = |lines: &[String]| lines.iter().map(|line| line.split(' ').count()).sum();
                let (source, target) = (read_lines(source)?, read_lines(target)?);
                sizes = [source.len(), words(&source), words(&target)];
            }
            runs.push((name, found));
        }
        Ok(Self { corpus, sizes, references, runs, sweep, diverse, forced, foretold, orders })
    }

    fn runs(&self, name: &str) -> &[Measured] {
        self.runs.iter().find(|(known, _)| *known == name).map_or(&[], |(_, runs)| runs)
    }

    fn scored(&self, name: &str) -> Result<Scored> {
        Scored::new(self.runs(name), &self.references)
    }

    /// A mean over runs.
    fn mean(&self, name: &str, of: fn(&Measured) -> f64) -> f64 {
        crate::measured::mean(&self.runs(name).iter().map(of).collect::<Vec<_>>())
    }
}

/// How well orientations are foretold on every tenth pair by the counts of the others.
fn perplexities(system: &System) -> Result<[f64; 2]> {
    let rules = LeftToRight { reordering: Some(GapReordering::Lrm), ..LeftToRight::default() };
    let mut foretold = Foretold::new(FlatRules::LeftToRight(rules), MapSmoothing::default());
    let [source, target] = &system.learnt.train;
    let Some(links) = &system.learnt.links else { return Ok([0.0; 2]) };
    let mut vocab = Vocab::new();
    let files = [source, target, links].map(|path| read_lines(path));
    let [sources, targets, all_links] = files;
    let lines: Vec<_> = sources?.into_iter().zip(targets?).zip(all_links?).collect();
    for is_held in [false, true] {
        for (place, ((source, target), line)) in lines.iter().enumerate() {
            if (place % HELD == 0) != is_held {
                continue;
            }
            let at = |fault: Fault| Error::Input(fault.at(links.display().to_string(), place as u64 + 1));
            let parsed = Alignment::parse(line, Base::Zero).map_err(at)?;
            let [source, target] = [source, target]
                .map(|line| line.split_whitespace().map(|word| vocab.intern(word)).collect::<Vec<Symbol>>());
            let done = match is_held {
                false => foretold.learn(&source, &target, parsed.sure()),
                true => foretold.measure(&source, &target, parsed.sure()),
            };
            done.map_err(|error| at(Fault::new(0, error.to_string(), "links between words that are there")))?;
        }
    }
    Ok(foretold.perplexities())
}

/// How far the order of translations is that of the references.
fn order(lab: &Lab<'_>, system: &System, weights: &Weights, way: &Way) -> Result<Agreement> {
    let text = system.content(Part::Test, usize::MAX)?;
    let links = lab.once("links", fold(lab.pairs(system)?, text), || {
        let [train_source, train_target] = &system.learnt.train;
        let test = system.text(Part::Test)?;
        let files = [train_source, train_target, &test.source, &test.target].map(|path| read_lines(path));
        let [train_source, train_target, source, target] = files;
        let (train, test) = ([train_source?, train_target?], [source?, target?]);
        let [train, test] = [&train, &test].map(|[source, target]| [source.as_slice(), target.as_slice()]);
        reference_links(train, test, lab.threads, lab.progress)
    })?;
    let key = fold(system.key_of(weights, way, text), content_hash(b"order"));
    lab.once("orders", key, || {
        let mut worker = system.worker(weights);
        let mut request = Request::default();
        (request.search, request.details.links) = (Some(way.search), true);
        let mut agreement = Agreement::default();
        for (line, links) in read_lines(&system.text(Part::Test)?.path)?.iter().zip(&links) {
            let translated = worker.translate(line, &request)?;
            let ours = translated.best.first().map(|best| best.links.as_slice()).unwrap_or_default();
            agreement.add(translated.source.len(), ours, links);
        }
        Ok(agreement)
    })
}

/// Which of some training pairs have a derivation.
fn forced_decoding(lab: &Lab<'_>, system: &System) -> Result<Vec<bool>> {
    let [source, target] = &system.learnt.train;
    let pairs: Vec<(String, String)> = read_lines(source)?.into_iter().zip(read_lines(target)?).collect();
    let short = |(source, target): &&(String, String)| {
        [source, target].iter().all(|line| line.split(' ').count() <= FORCED_WORDS)
    };
    // From all over the text.
    let step = (pairs.len() / FORCED).max(1);
    let some: Vec<&(String, String)> = pairs.iter().step_by(step).filter(short).take(FORCED).collect();
    let key = some.iter().fold(fold(system.key, content_hash(b"forced")), |key, (source, target)| {
        fold(fold(key, content_hash(source.as_bytes())), content_hash(target.as_bytes()))
    });
    lab.once("forced", key, || {
        let lines: Vec<String> = some.iter().map(|(source, _)| source.clone()).collect();
        let sentences = system.sentences_of(&lines, Input::Text, "training lines")?;
        let mut worker = system.worker(&Weights::default());
        let derives = |(sentence, (_, target)): (&Sentence, &&(String, String))| {
            let forest = worker.forest(sentence, With::default()).with_all_glue();
            let words: Option<Vec<Symbol>> =
                target.split(' ').map(|word| sentence.vocab().get(word)).collect();
            words.is_some_and(|words| forest.forest.derives(&words))
        };
        Ok(sentences.iter().zip(&some).map(derives).collect())
    })
}

pub(super) fn run(lab: &Lab<'_>, corpora: &[Corpus]) -> Result<Report> {
    let all: Vec<Found> = corpora.iter().map(|&corpus| Found::new(lab, corpus)).collect::<Result<_>>()?;
    let texts: Vec<&str> = all.iter().map(|found| found.corpus.title()).collect();
    let setting = format!(
        "Corpora: {}. Rules, links and language model as `sylvan train` makes them for each kind; weights tuned for each system \
         with its own search, batch MIRA, {} runs. At most {POPS} steps per span (Hiero) or bin (left to right). \
         Calls of the language model are words scored, caches on. Times are processor time of one thread.",
        texts.join(", "),
        SEEDS.len()
    );
    let mut report = Report::new(NAME, PAPER, setting);
    table_1(&mut report, &all);
    table_3(&mut report, &all)?;
    table_2(&mut report, &all);
    sweeps(&mut report, &all);
    coverage(&mut report, &all);
    Ok(report)
}

/// What can be said without a search: orientations foretold, training pairs covered.
fn coverage(report: &mut Report, all: &[Found]) {
    report.claim(
        "control",
        "orientations of pairs that nothing was counted on are less of a surprise given the phrase pair than given nothing \
         (perplexity; every tenth training pair)",
        "not given",
        joined(all.iter().map(|found| {
            let [given, nothing] = found.foretold;
            format!("{}: {given:.3} and {nothing:.3}", found.corpus.title())
        })),
        Verdict::of_all(&all.iter().map(|found| found.foretold[0] < found.foretold[1]).collect::<Vec<_>>()),
    );
    let of = |found: &Found, name: &str| {
        let known = found.orders.iter().find(|(known, _)| *known == name);
        known.map_or(Agreement::default(), |(_, agreement)| *agreement)
    };
    report.claim(
        "control",
        "with the reordering model neighbouring source words are more often in the reference's order (percent of all pairs; of \
         those that the reference swaps)",
        "not given",
        joined(all.iter().map(|found| {
            let shares = found.orders.iter().map(|(name, agreement)| {
                format!("{name} {:.1} ({:.1})", agreement.agreed(), agreement.swaps_found())
            });
            format!("{}: {}", found.corpus.title(), shares.collect::<Vec<_>>().join(", "))
        })),
        Verdict::of_all(
            &all.iter()
                .map(|found| of(found, LRM).agreed() > of(found, PLAIN).agreed())
                .collect::<Vec<_>>(),
        ),
    );
    report.because_if_not(
        "most neighbours stay neighbours in most references, so that a search that swaps little agrees with them; the model swaps \
         more, where the reference does (in brackets) and where it does not",
    );
    report.claim(
        "control",
        "rules of left-to-right Hiero make fewer of the training pairs again, word by word, than those of Hiero",
        "not given",
        joined(all.iter().map(|found| {
            let shares = found.forced.iter().map(|(_, made)| {
                let count = made.iter().filter(|made| **made).count();
                format!("{count} of {}", made.len())
            });
            format!("{}: {}", found.corpus.title(), shares.collect::<Vec<_>>().join(" and "))
        })),
        Verdict::of_all(
            &all.iter()
                .map(|found| {
                    let count = |name| {
                        let made = found.forced.iter().find(|(known, _)| *known == name);
                        made.map_or(0, |(_, made)| made.iter().filter(|made| **made).count())
                    };
                    count(PLAIN) < count(HIERO)
                })
                .collect::<Vec<_>>(),
        ),
    );
    report.because_if_not(
        "a rule of Hiero covers ten words at most, and what is above is put together in order; what is glued from left to right may \
         jump over any span, which makes up for rules that must begin with words",
    );
}

/// What was learnt from.
fn table_1(report: &mut Report, all: &[Found]) {
    report.heading("Table 1: corpora");
    let mut table =
        Table::new("After cleaning.", &["corpus", "pairs", "source words", "target words", "test lines"]);
    for found in all {
        let [pairs, source, target] = found.sizes.map(|size| size.to_string());
        let lines = found.references.len().to_string();
        table.row([found.corpus.title().to_string(), pairs, source, target, lines]);
    }
    report.table(table);
}

/// Translation quality.
fn table_3(report: &mut Report, all: &[Found]) -> Result<()> {
    report.heading("Table 3: BLEU");
    let mut table = Table::new(
        format!(
            "Mean and deviation of {} runs of tuning; differences with bootstrap p over all runs.",
            SEEDS.len()
        ),
        &["corpus", "system", "BLEU", "against left to right", "LM calls", "items", "ms"],
    );
    let (mut gains, mut harms, mut over, mut ratios) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut told = Vec::new();
    for found in all {
        let base = found.scored(PLAIN)?;
        for (name, _) in &found.runs {
            let scored = found.scored(name)?;
            table.row([
                found.corpus.title().to_string(),
                (*name).to_string(),
                scored.shown(),
                if *name == PLAIN { String::new() } else { scored.against(&base) },
                format!("{:.0}", found.mean(name, Measured::lm_calls)),
                format!("{:.0}", found.mean(name, Measured::made)),
                format!("{:.2}", found.mean(name, Measured::time)),
            ]);
        }
        let (lrm, nvlrm) = (found.scored(LRM)?, found.scored(NVLRM)?);
        let (phrases, phrases_lrm) = (found.scored(PHRASES)?, found.scored(PHRASES_LRM)?);
        let gain = lrm.bleu() - base.bleu();
        gains.push(gain > 0.0);
        harms.push(gain < 0.0 && lrm.p_value(&base) < 0.05);
        over.push(lrm.bleu() >= nvlrm.bleu());
        told.push(format!("{}: {}", found.corpus.title(), lrm.against(&base)));
        let other = phrases_lrm.bleu() - phrases.bleu();
        ratios.push(format!("{}: {gain:+.2} and {other:+.2}", found.corpus.title()));
    }
    report.table(table);
    let enough = 3 * gains.iter().filter(|gain| **gain).count() >= 2 * gains.len();
    let held = enough && harms.iter().all(|harm| !harm);
    report.claim(
        "Table 3",
        "the reordering model helps: a gain on two of three pairs and no significant loss",
        "better on all three, significantly on two",
        told.join("; "),
        if held { Verdict::Held } else { Verdict::NotHeld },
    );
    report.because_if_not(
        "orientations are six more features to tune; how much there is to gain on a text, phrase-based search shows with its \
         own model (below)",
    );
    report.claim(
        "Table 3",
        "it is at least as good as the model of neighbours without the span translated last (NVLRM)",
        "NVLRM does not help",
        joined(all.iter().map(|found| match (found.scored(LRM), found.scored(NVLRM)) {
            (Ok(lrm), Ok(nvlrm)) => format!("{}: {}", found.corpus.title(), lrm.against(&nvlrm)),
            _ => String::new(),
        })),
        Verdict::of_all(&over),
    );
    report.claim(
        "Table 3",
        "the gain is like that of phrase-based translation from its reordering model",
        "comparable",
        ratios.join("; "),
        Verdict::Shown,
    );
    Ok(())
}

/// Calls of the language model.
fn table_2(report: &mut Report, all: &[Found]) {
    let ratio = |found: &Found| found.mean(HIERO, Measured::lm_calls) / found.mean(LRM, Measured::lm_calls);
    report.claim(
        "Table 2",
        "left to right with the reordering model needs at least two times fewer calls of the language model than Hiero",
        "about 3 times fewer",
        joined(all.iter().map(|found| format!("{}: {:.0} times", found.corpus.title(), ratio(found)))),
        Verdict::of_all(&all.iter().map(|found| ratio(found) >= 2.0).collect::<Vec<_>>()),
    );
    let uncached = |found: &Found| {
        found.mean(HIERO, Measured::lm_calls) / found.mean(LRM, Measured::lm_calls_without_memory)
    };
    report.claim(
        "Table 2",
        "the same if left-to-right search remembered no scores, while Hiero does those of the words of rules",
        "same wrapper for all",
        joined(all.iter().map(|found| format!("{}: {:.1} times", found.corpus.title(), uncached(found)))),
        Verdict::of_all(&all.iter().map(|found| uncached(found) >= 2.0).collect::<Vec<_>>()),
    );
    let speed =
        |found: &Found, name: &str| found.mean(name, Measured::made) / found.mean(name, Measured::time);
    let share = |found: &Found| speed(found, LRM) / speed(found, PLAIN);
    report.claim(
        "Figures 3, 4",
        "orientations cost nothing: hypotheses per second with the model at least 0.9 times those without",
        "constant time",
        joined(all.iter().map(|found| format!("{}: {:.2} times", found.corpus.title(), share(found)))),
        Verdict::of_all(&all.iter().map(|found| share(found) >= 0.9).collect::<Vec<_>>()),
    );
    report.because_if_not(
        "the comparison of spans is constant, but the span translated last is part of a state: what would be one item without it is \
         several, each with a queue of its own, for the same number of items that go on",
    );
}

/// More steps, and the papers' order of them.
fn sweeps(report: &mut Report, all: &[Found]) {
    report.heading("Pop limits");
    for found in all {
        let line = |(name, seeds): &(&'static str, Vec<Vec<Measured>>)| {
            // Scores of different models are far apart; what counts is how far each is from its best.
            let lost = |runs: &Vec<Measured>| {
                let scores: Vec<f64> = runs.iter().map(Measured::score).collect();
                let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                scores.into_iter().map(|score| score - best).collect::<Vec<_>>()
            };
            let lost: Vec<Vec<f64>> = seeds.iter().map(lost).collect();
            let at = |place: usize| lost.iter().map(|lost| lost[place]).collect::<Vec<_>>();
            let places = || SWEEP.into_iter().enumerate();
            let points = places().map(|(place, pops)| (pops as f64, crate::measured::mean(&at(place))));
            let band = places().map(|(place, _)| {
                let lost = at(place).into_iter();
                (lost.clone().fold(f64::INFINITY, f64::min), lost.fold(f64::NEG_INFINITY, f64::max))
            });
            Series { band: band.collect(), ..Series::line(*name, points.collect()) }
        };
        report.plot(Plot {
            name: format!("pops-{}", found.corpus.name()),
            title: format!("{}: what fewer steps lose, {} runs of tuning", found.corpus.title(), SEEDS.len()),
            x: Axis::log("steps per bin"),
            y: Axis::linear("mean model score below the best, nats"),
            series: found.sweep.iter().map(line).collect(),
        });
    }
    report.claim(
        "2014",
        "cells in the order of their scores with words, ten of each grid at first (queue diversity), find more",
        "helps BLEU",
        joined(all.iter().map(|found| {
            let usual = &found.runs(LRM)[0];
            format!(
                "{}: score {:+.4}, calls {:.1} times",
                found.corpus.title(),
                found.diverse.score() - usual.score(),
                found.diverse.lm_calls() / usual.lm_calls()
            )
        })),
        Verdict::of_all(
            &all.iter().map(|found| found.diverse.score() > found.runs(LRM)[0].score() + Duel::SAME).collect::<Vec<_>>(),
        ),
    );
}
