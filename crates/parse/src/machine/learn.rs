//! The averaged structured perceptron (Collins 2002) in mini-batches (Zhao & Huang 2013).
//!
//! The sentences of a batch are parsed with the same weights, by as many threads as there are; then their updates
//! are made in the order of the sentences. Weights are whole numbers, so the result depends on the batch size but
//! not on the number of threads.

use std::borrow::Borrow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use sylvan_base::{Progress, Rng};

use super::beam::{Search, Update};
use super::rows::Rows;
use super::system::System;
use super::table::Table;

/// A sentence and the actions that are right for it.
#[derive(Debug, Clone)]
pub(crate) struct Example<T> {
    pub(crate) sentence: T,
    pub(crate) gold: Vec<u8>,
}

/// How to learn.
#[derive(Debug, Clone)]
pub(crate) struct LearnConfig {
    pub(crate) beam: usize,
    pub(crate) epochs: usize,
    /// At most this many sentences per batch.
    pub(crate) batch: usize,
    pub(crate) threads: usize,
    pub(crate) update: Update,
    /// Passes of greedy learning ([`Update::Local`]) before all others: a cheap way to weights that are worth
    /// searching with.
    pub(crate) warm_up: usize,
    /// Stop after this many epochs without a new best held-out figure.
    pub(crate) patience: usize,
    /// Averages smaller than this are dropped.
    pub(crate) least: f64,
    /// How many bytes the weights may take; those worth least are dropped.
    pub(crate) room: usize,
    /// How many perceptrons learn the same in different orders; the result is their mean. A single one
    /// depends too much on the order of the examples.
    pub(crate) members: usize,
    pub(crate) seed: u64,
}

/// How an epoch went.
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
pub(crate) fn learn<S: System, E: Borrow<Example<S::Sentence>> + Sync>(
    system: &S,
    examples: &[E],
    config: &LearnConfig,
    stage: &str,
    progress: &dyn Progress,
    mut judge: impl FnMut(&Rows) -> f64,
    mut report: impl FnMut(Epoch, &Rows),
) -> Rows {
    let mut members: Vec<Member> =
        (0..config.members.max(1) as u64).map(|member| Member::new(config.seed + 100 * member)).collect();
    let mut best: Option<(f64, usize, Rows)> = None;
    let mut searches: Vec<Search<S::Item>> = (0..config.threads.max(1)).map(|_| Search::new()).collect();
    let average = |members: &[Member]| {
        let tables: Vec<&Table> = members.iter().map(|member| &member.table).collect();
        // The weights after the last batch count once, too.
        Rows::average(&tables, members[0].time + 1, config.least, config.room)
    };
    for pass in 0..config.warm_up + config.epochs {
        let warming = pass < config.warm_up;
        let update = if warming { Update::Local } else { config.update };
        progress.begin(&format!("{stage}, pass {}", pass + 1), Some((examples.len() * members.len()) as u64));
        let mut updates = 0;
        for (index, member) in members.iter_mut().enumerate() {
            let shown = |done: usize| progress.at((index * examples.len() + done) as u64);
            updates += member.pass(system, examples, pass, update, config, &mut searches, shown);
        }
        progress.end();
        if warming {
            if pass + 1 == config.warm_up {
                members.iter_mut().for_each(Member::begin_anew);
            }
            continue;
        }
        let number = pass - config.warm_up;
        let rows = average(&members);
        let figure = judge(&rows);
        let is_best = best.as_ref().is_none_or(|(most, _, _)| figure > *most);
        let updates = updates.div_ceil(members.len());
        report(Epoch { number: number + 1, updates, figure, best: is_best }, &rows);
        if is_best {
            best = Some((figure, number, rows));
        }
        let stale = best.as_ref().is_some_and(|(_, at, _)| number - at >= config.patience);
        if stale || updates == 0 {
            break;
        }
    }
    best.map_or_else(|| average(&members), |(_, _, rows)| rows)
}

/// One perceptron.
struct Member {
    table: Table,
    /// Batches so far.
    time: i64,
    seed: u64,
}

impl Member {
    fn new(seed: u64) -> Self {
        Self { table: Table::new(), time: 0, seed }
    }

    /// Keeps the weights learnt so far and restarts their averages.
    fn begin_anew(&mut self) {
        self.table.forget_averages();
        self.time = 0;
    }

    /// Goes over all examples; how many of them led to an update.
    #[allow(clippy::too_many_arguments)] // A loop taken out of `learn`, with that function's variables.
    fn pass<S: System, E: Borrow<Example<S::Sentence>> + Sync>(
        &mut self,
        system: &S,
        examples: &[E],
        pass: usize,
        update: Update,
        config: &LearnConfig,
        searches: &mut [Search<S::Item>],
        shown: impl Fn(usize),
    ) -> usize {
        // Few examples need small batches, or there would be hardly any updates.
        let batch = config.batch.min(examples.len() / 64).max(1);
        let mut order: Vec<usize> = (0..examples.len()).collect();
        Rng::for_item(self.seed, pass as u64).shuffle(&mut order);
        let (mut updates, mut done) = (0, 0);
        for batch in order.chunks(batch) {
            self.time += 1;
            let learning = Learning { system, table: &self.table, examples, update, beam: config.beam };
            // Chance depends on the sentence and the pass alone, not on the thread.
            let chance = |example: usize| Rng::for_item(self.seed, (pass * examples.len() + example) as u64);
            for changes in learning.changes(batch, pass > 0, chance, searches) {
                updates += usize::from(!changes.is_empty());
                for (key, action, delta) in changes {
                    self.table.change(key, action, i32::from(delta), self.time);
                }
            }
            done += batch.len();
            shown(done);
        }
        updates
    }
}

/// How often a greedy search goes on after an error as if it were none.
const EXPLORE: f64 = 0.9;

/// Changes of weights: key, action, delta.
type Changes = Vec<(u64, u8, i8)>;

/// What a batch is learnt with.
struct Learning<'a, S: System, E> {
    system: &'a S,
    table: &'a Table,
    examples: &'a [E],
    update: Update,
    beam: usize,
}

impl<S: System, E: Borrow<Example<S::Sentence>> + Sync> Learning<'_, S, E> {
    /// The changes that each sentence of a batch asks for, in the order of the batch.
    fn changes(
        &self,
        batch: &[usize],
        explore: bool,
        chance: impl Fn(usize) -> Rng + Sync,
        searches: &mut [Search<S::Item>],
    ) -> Vec<Changes> {
        let all: Vec<Mutex<Changes>> = batch.iter().map(|_| Mutex::default()).collect();
        let next = AtomicUsize::new(0);
        let &Self { system, table, examples, update, beam } = self;
        let work = |search: &mut Search<S::Item>| {
            while let Some((at, &example)) = {
                let at = next.fetch_add(1, Ordering::Relaxed);
                batch.get(at).map(|example| (at, example))
            } {
                let Example { sentence, gold } = examples[example].borrow();
                let mut changes = Changes::new();
                if update == Update::Local {
                    let mut rng = chance(example);
                    let explore = || explore && rng.chance(EXPLORE);
                    search.local(system, table, sentence, explore, &mut changes);
                } else if let Some(violation) = search.violation(system, table, sentence, gold, beam, update)
                {
                    search.changes(system, sentence, violation, &mut changes);
                }
                *all[at].lock().unwrap_or_else(PoisonError::into_inner) = changes;
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
}
