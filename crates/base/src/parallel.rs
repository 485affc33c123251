//! Items shared out among threads; results in the order of the items.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Does something with each item on several threads, each with a state of its own. An idle thread takes the next item,
/// so one item may take as long as it likes.
pub fn map<T: Sync, R: Send, W: Send>(
    items: &[T],
    threads: usize,
    state: impl Fn() -> W,
    work: impl Fn(&mut W, usize, &T) -> R + Sync,
) -> Vec<R> {
    let mut states: Vec<W> = (0..threads.clamp(1, items.len().max(1))).map(|_| state()).collect();
    map_with(&mut states, items, work)
}

/// The same with states that outlive the work: as many threads as there are states.
pub fn map_with<T: Sync, R: Send, W: Send>(
    states: &mut [W],
    items: &[T],
    work: impl Fn(&mut W, usize, &T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::new(None)).collect();
    let run = |state: &mut W| {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { break };
            let result = work(state, index, item);
            *results[index].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        }
    };
    std::thread::scope(|scope| {
        let mut states = states.iter_mut();
        let own = states.next();
        for state in states.take(items.len().saturating_sub(1)) {
            scope.spawn(|| run(state));
        }
        own.map(run);
    });
    let results = results.into_iter().map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner));
    results.map(|slot| slot.expect("a thread that panics ends the scope with a panic")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn results_come_in_the_order_of_the_items_and_threads_keep_their_state() {
        let items: Vec<u64> = (0..100).collect();
        for threads in [0, 1, 3, 200] {
            let states = AtomicUsize::new(0);
            let state = || (states.fetch_add(1, Ordering::Relaxed), 0);
            let found = map(&items, threads, state, |(_, done), index, &item| {
                *done += 1;
                // The first take longest, so later ones finish before them.
                std::thread::sleep(Duration::from_micros(100 - item));
                (index as u64, item * item, *done)
            });
            assert!(
                found
                    .iter()
                    .zip(&items)
                    .all(|(&(index, square, _), &item)| { index == item && square == item * item })
            );
            assert!(states.into_inner() <= threads.clamp(1, items.len()));
            assert!(found.iter().any(|&(_, _, done)| done >= 100 / threads.clamp(1, 100)));
        }
        assert!(map(&[] as &[u8], 2, || (), |(), _, _| ()).is_empty());
    }
}
