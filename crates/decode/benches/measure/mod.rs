//! What the benches of the reference search problem share: what searches find and cost, sentence by sentence.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::borrow::Borrow;
use std::sync::OnceLock;
use std::time::Instant;

use sylvan_decode::{List, Sentence, With, Worker};
use sylvan_search::{Counters, Search, Stop};

/// What a search found and cost, by sentence.
///
/// Times are from the tree to the words: matching, forest and search.
#[derive(Debug, Default, Clone)]
pub struct Measured {
    pub scores: Vec<f64>,
    pub counters: Vec<Counters>,
    /// Processor time of all together. Others at work disturb it less, and the system counts it too coarsely for one
    /// sentence.
    seconds: f64,
}

impl Measured {
    pub fn of<S: Borrow<Sentence>>(worker: &mut Worker, sentences: &[S], search: Search) -> Self {
        let mut measured = Self::default();
        let begun = seconds();
        for sentence in sentences {
            let found =
                worker.decode(sentence.borrow(), With::default(), search, List::default(), &Stop::NEVER);
            measured.scores.push(found.hypotheses[0].score);
            measured.counters.push(found.counters);
        }
        measured.seconds = seconds() - begun;
        measured
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
}

/// Processor time of this thread where the system says, else the time since the start.
pub fn seconds() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let start = START.get_or_init(Instant::now);
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ran = stat.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    ran.map_or_else(|| start.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}
