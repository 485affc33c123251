//! What the benches of the reference search problem share: searches by the options of the program, and what they find
//! and cost, sentence by sentence.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::borrow::Borrow;
use std::sync::OnceLock;
use std::time::Instant;

use sylvan_decode::{List, Sentence, With, Worker};
use sylvan_rules::apply::{Applying, Coverage, Outlook};
use sylvan_search::{BoundaryEstimate, Counters, Future, Goals, Parents, Search, Stop, Undirected, Ways};

/// A search as the program's options name it, such as `prediction --margin inf`: its defaults, this beam, and the
/// options; `b` after a number stands for the beam.
pub fn search(options: &str, beam: usize) -> Search {
    let mut words = options.split(' ');
    let mut search: Search = words.next().unwrap().parse().unwrap();
    search = search.with_beam(beam);
    while let Some(option) = words.next() {
        if ["--plain", "--reevaluate", "--even", "--bounded", "--plain-parses"].contains(&option) {
            match (option, &mut search) {
                ("--plain-parses", search) => search.limits_mut().unwrap().plain_parses = true,
                ("--plain", Search::Cube(cube)) => cube.plain = true,
                ("--plain", Search::Undirected(config)) => *config = Undirected::paper(config.beam),
                ("--even", Search::Undirected(config)) => config.focus = false,
                ("--bounded", Search::Undirected(config)) => config.bounded = true,
                (_, Search::Prediction(_, config)) => config.reevaluate = true,
                _ => panic!("{options}"),
            }
            continue;
        }
        let value = words.next().unwrap();
        let number = || match value.strip_suffix('b') {
            Some("") => beam,
            Some(times) => times.parse::<usize>().unwrap() * beam,
            None => value.parse().unwrap(),
        };
        if ["--coverage", "--future-features"].contains(&option) {
            // Not the search's: see `applying`.
            continue;
        }
        match (option, &mut search) {
            ("--pops", Search::Cube(cube)) => cube.pops = number(),
            ("--boundary", Search::Cube(cube)) => {
                cube.boundary = match value {
                    "none" => BoundaryEstimate::None,
                    "local" => BoundaryEstimate::Local,
                    _ => panic!("{options}"),
                }
            }
            ("--future", Search::Incremental(_, config)) => {
                config.future = match value {
                    "none" => Future::None,
                    "rough" => Future::Rough,
                    _ => panic!("{options}"),
                }
            }
            ("--parents", Search::Undirected(config)) => {
                config.parents = match value {
                    "none" => Parents::None,
                    "new" => Parents::New,
                    "all" => Parents::All,
                    _ => panic!("{options}"),
                }
            }
            ("--missing-word", Search::Undirected(config)) => {
                config.missing.per_word = (1000.0 * value.parse::<f64>().unwrap()) as i32;
            }
            ("--missing-share", Search::Undirected(config)) => {
                config.missing.share = (1000.0 * value.parse::<f64>().unwrap()) as u32;
            }
            ("--slack", Search::Undirected(config)) => {
                config.slack = (1000.0 * value.parse::<f64>().unwrap()).min(f64::from(u32::MAX)) as u32;
            }
            ("--enough", Search::Undirected(config)) => config.enough = number(),
            ("--future", Search::Prediction(_, config)) if value == "none" => config.future = false,
            (_, search) => {
                let limits = search.limits_mut().unwrap();
                match (option, value) {
                    ("--margin", "inf") => limits.margin = u32::MAX,
                    ("--structured", _) => {
                        limits.ways = match value {
                            "packed" => Ways::Packed,
                            "best-parse" => Ways::Best,
                            "naive" => Ways::All,
                            "rerank" => Ways::Later,
                            "grouping" => Ways::Groups(5),
                            _ => panic!("{options}"),
                        };
                        limits.parses =
                            if value == "naive" || value == "grouping" { 2 } else { limits.parses };
                    }
                    ("--groups", _) => limits.ways = Ways::Groups(number()),
                    ("--parses", _) => limits.parses = number(),
                    ("--shortlist", "0") => limits.shortlist = None,
                    ("--shortlist", _) => limits.shortlist = Some(number()),
                    ("--pops", _) => limits.pops = number(),
                    ("--goals", "bins") => limits.goals = Goals::InBins,
                    _ => panic!("{options}"),
                }
            }
        }
    }
    search
}

/// How rules are applied with these options.
pub fn applying(options: &str) -> Applying {
    let mut applying = Applying::default();
    if options.contains("--coverage links") {
        applying.coverage = Coverage::Links;
    }
    if options.contains("--future-features translation") {
        applying.outlook = Outlook::Translation;
    }
    applying
}

/// What a search found and cost, by sentence.
///
/// Times are from the tree to the words: matching, forest and search.
#[derive(Debug, Default, Clone)]
pub struct Measured {
    pub scores: Vec<f64>,
    pub counters: Vec<Counters>,
    /// Wall clock of each sentence.
    pub milliseconds: Vec<f64>,
    /// Processor time of all together. Others at work disturb it less, and the system counts it too coarsely for one
    /// sentence.
    seconds: f64,
}

impl Measured {
    pub fn of<S: Borrow<Sentence>>(worker: &mut Worker, sentences: &[S], search: Search) -> Self {
        let mut measured = Self::default();
        let begun = seconds();
        for sentence in sentences {
            let started = Instant::now();
            let found =
                worker.decode(sentence.borrow(), With::default(), search, List::default(), &Stop::NEVER);
            measured.milliseconds.push(started.elapsed().as_secs_f64() * 1000.0);
            measured.scores.push(found.hypotheses[0].score);
            measured.counters.push(found.counters);
        }
        measured.seconds = seconds() - begun;
        measured
    }

    /// The same, with the best times of some rounds.
    pub fn best_of(rounds: usize, worker: &mut Worker, sentences: &[Sentence], search: Search) -> Self {
        let mut best = Self::of(worker, sentences, search);
        for _ in 1..rounds {
            best.faster_of(&Self::of(worker, sentences, search));
        }
        best
    }

    pub fn faster_of(&mut self, other: &Self) {
        for (best, &time) in self.milliseconds.iter_mut().zip(&other.milliseconds) {
            *best = best.min(time);
        }
        self.seconds = self.seconds.min(other.seconds);
    }

    pub fn score(&self) -> f64 {
        mean(self.scores.iter().copied())
    }

    /// Milliseconds of processor time per sentence.
    pub fn time(&self) -> f64 {
        1000.0 * self.seconds / self.scores.len() as f64
    }

    pub fn queries(&self) -> f64 {
        mean(self.counters.iter().map(|counters| counters.lm_queries as f64))
    }

    pub fn items(&self) -> f64 {
        mean(self.counters.iter().map(|counters| counters.items as f64))
    }

    /// The columns model score, LM queries, items, ms.
    pub fn columns(&self) -> String {
        format!("{:.4} | {:.0} | {:.0} | {:.2}", self.score(), self.queries(), self.items(), self.time())
    }
}

pub fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    for value in values {
        sum += value;
        count += 1;
    }
    sum / f64::from(count)
}

/// How many scores are better than, equal to, worse than others.
#[derive(Debug, Clone, Copy)]
pub struct Duel([usize; 3]);

impl Duel {
    pub fn of(ours: &[f64], theirs: &[f64]) -> Self {
        let mut duel = [0; 3];
        for (ours, theirs) in ours.iter().zip(theirs) {
            let place = match ours - theirs {
                difference if difference > 1e-4 => 0,
                difference if difference < -1e-4 => 2,
                _ => 1,
            };
            duel[place] += 1;
        }
        Self(duel)
    }

    pub fn counts(&self) -> String {
        self.0.map(|count| count.to_string()).join("/")
    }

    pub fn percent(&self) -> String {
        let all = self.0.iter().sum::<usize>().max(1) as f64;
        self.0.map(|count| format!("{:.0}", 100.0 * count as f64 / all)).join("/")
    }
}

/// The words after `--`.
pub fn arguments() -> Vec<String> {
    std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect()
}

/// Processor time of this thread where the system says, else the time since the start.
pub fn seconds() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let start = START.get_or_init(Instant::now);
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ran = stat.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    ran.map_or_else(|| start.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}
