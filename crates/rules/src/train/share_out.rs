//! Batches of sentence pairs shared out among threads: one reads, the others learn.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use sylvan_base::{Progress, Result};

use crate::aggregate::SortedPairs;
use crate::score::Lexicon;

/// Hands out pairs in the order of the corpus.
pub(super) trait Pairs {
    type Pair: Send + Sync;
    /// Some pairs, or `None` at the end.
    fn next_batch(&mut self) -> Result<Option<Vec<Self::Pair>>>;
    /// Lines that were read.
    fn lines(&self) -> u64;
}

/// One thread's share of the extraction.
pub(super) trait Learn<Pair> {
    fn learn(&mut self, batch: &[Pair]) -> Result<()>;
    fn finish(self) -> Result<Learnt>;
}

/// What a worker found.
pub(super) struct Learnt {
    pub(super) pairs: u64,
    pub(super) occurrences: u64,
    pub(super) lexicon: Lexicon,
    pub(super) sorted: SortedPairs,
}

/// Lets workers learn from all pairs.
pub(super) fn learn_all<P: Pairs, W: Learn<P::Pair>>(
    reader: &mut P,
    threads: usize,
    worker: impl Fn() -> W + Sync,
    progress: &dyn Progress,
) -> Result<Vec<Learnt>> {
    if threads <= 1 {
        let mut worker = worker();
        while let Some(batch) = reader.next_batch()? {
            worker.learn(&batch)?;
            progress.at(reader.lines());
        }
        return Ok(vec![worker.finish()?]);
    }
    let (send, receive) = sync_channel::<Vec<P::Pair>>(2 * threads);
    // Only workers hold the receiving end, so that the channel closes when the last of them has failed: the reader
    // would wait for ever otherwise.
    let receive = Arc::new(Mutex::new(receive));
    let broken = AtomicBool::new(false);
    let (worker, broken) = (&worker, &broken);
    std::thread::scope(|scope| {
        let work = move |receive: Arc<Mutex<Receiver<Vec<P::Pair>>>>| -> Result<Learnt> {
            let mut worker = worker();
            while let Some(batch) = next_batch(&receive) {
                worker.learn(&batch).inspect_err(|_| broken.store(true, Ordering::Relaxed))?;
            }
            worker.finish()
        };
        let spawn = |_| {
            let receive = Arc::clone(&receive);
            scope.spawn(move || work(receive))
        };
        let workers: Vec<_> = (0..threads).map(spawn).collect();
        drop(receive);
        let mut failed = None;
        // What one worker found wrong is reported at the end; there is no use in reading on.
        while !broken.load(Ordering::Relaxed) {
            match reader.next_batch() {
                Ok(Some(batch)) => {
                    if send.send(batch).is_err() {
                        break;
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
            progress.at(reader.lines());
        }
        drop(send);
        let learnt: Vec<Result<Learnt>> =
            workers.into_iter().map(|worker| worker.join().expect("workers do not panic")).collect();
        match failed {
            Some(error) => Err(error),
            None => learnt.into_iter().collect(),
        }
    })
}

fn next_batch<Pair>(receive: &Mutex<Receiver<Vec<Pair>>>) -> Option<Vec<Pair>> {
    receive.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}
