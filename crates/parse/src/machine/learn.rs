//! The averaged structured perceptron (Collins 2002) in mini-batches (Zhao & Huang 2013).
//!
//! The sentences of a batch are parsed with the same weights, by as many threads as there are; then their updates
//! are made in the order of the sentences. Weights are whole numbers, so the result depends on the batch size but
//! not on the number of threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use sylvan_base::{Progress, Rng};

use super::beam::{Search, Update};
use super::rows::Rows;
use super::system::System;
use super::table::Table;

/// A sentence and the actions that are right for it.
pub(crate) struct Example<T> {
    pub(crate) sentence: T,
    pub(crate) gold: Vec<u8>,
}

/// How to learn.
#[derive(Debug, Clone)]
pub(crate) struct LearnConfig {
    pub(crate) beam: usize,
    pub(crate) epochs: usize,
    /// Sentences per batch, at the most.
    pub(crate) batch: usize,
    pub(crate) threads: usize,
    pub(crate) update: Update,
    /// Stop when the held-out figure was not the best one for so many epochs.
    pub(crate) patience: usize,
    /// Averages of a smaller size are dropped.
    pub(crate) least: f64,
    pub(crate) seed: u64,
}

/// What an epoch was like.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Epoch {
    pub(crate) number: usize,
    /// Sentences that led to an update.
    pub(crate) updates: usize,
    pub(crate) figure: f64,
    /// The weights of this epoch are the best so far.
    pub(crate) best: bool,
}

/// Learns from examples. After each epoch `judge` gives a figure to the averaged weights, larger is better; those
/// with the best are the result.
pub(crate) fn learn<S: System>(
    system: &S,
    examples: &[Example<S::Sentence>],
    config: &LearnConfig,
    stage: &str,
    progress: &dyn Progress,
    mut judge: impl FnMut(&Rows) -> f64,
    mut report: impl FnMut(Epoch, &Rows),
) -> Rows {
    let mut table = Table::new();
    // Few examples need small batches, or there would be hardly any updates.
    let batch = config.batch.min(examples.len() / 64).max(1);
    let mut order: Vec<usize> = (0..examples.len()).collect();
    let mut time = 0i64;
    let mut best: Option<(f64, usize, Rows)> = None;
    let mut searches: Vec<Search<S::Item>> = (0..config.threads.max(1)).map(|_| Search::new()).collect();
    for number in 0..config.epochs {
        progress.begin(&format!("{stage}, epoch {}", number + 1), Some(examples.len() as u64));
        Rng::for_item(config.seed, number as u64).shuffle(&mut order);
        let mut updates = 0;
        let mut done = 0;
        for batch in order.chunks(batch) {
            time += 1;
            for changes in changes_of(system, &table, examples, batch, config, &mut searches) {
                updates += usize::from(!changes.is_empty());
                for (key, action, delta) in changes {
                    table.change(key, action, i32::from(delta), time);
                }
            }
            done += batch.len();
            progress.at(done as u64);
        }
        progress.end();
        // The weights of the last batch count for one more moment.
        let rows = Rows::average(&table, time + 1, config.least);
        let figure = judge(&rows);
        let is_best = best.as_ref().is_none_or(|(most, _, _)| figure > *most);
        report(Epoch { number: number + 1, updates, figure, best: is_best }, &rows);
        if is_best {
            best = Some((figure, number, rows));
        }
        let stale = best.as_ref().is_some_and(|(_, at, _)| number - at >= config.patience);
        if stale || updates == 0 {
            break;
        }
    }
    best.map_or_else(|| Rows::average(&table, 1, 0.0), |(_, _, rows)| rows)
}

/// Changes of weights: key, action, delta.
type Changes = Vec<(u64, u8, i8)>;

/// The changes that each sentence of a batch asks for, in the order of the batch.
fn changes_of<S: System>(
    system: &S,
    table: &Table,
    examples: &[Example<S::Sentence>],
    batch: &[usize],
    config: &LearnConfig,
    searches: &mut [Search<S::Item>],
) -> Vec<Changes> {
    let all: Vec<Mutex<Changes>> = batch.iter().map(|_| Mutex::default()).collect();
    let next = AtomicUsize::new(0);
    let work = |search: &mut Search<S::Item>| {
        while let Some((at, &example)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            batch.get(at).map(|example| (at, example))
        } {
            let Example { sentence, gold } = &examples[example];
            let violation = search.violation(system, table, sentence, gold, config.beam, config.update);
            if let Some(violation) = violation {
                let mut changes = Changes::new();
                search.changes(system, sentence, violation, &mut changes);
                *all[at].lock().unwrap_or_else(PoisonError::into_inner) = changes;
            }
        }
    };
    match searches {
        [one] => work(one),
        many => std::thread::scope(|scope| {
            for search in many {
                scope.spawn(|| work(search));
            }
        }),
    }
    all.into_iter().map(|changes| changes.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}
