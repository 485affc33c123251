//! Items shared out among threads; results in the order of the items.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Does something with each item on several threads, each with a state of its own. An idle thread takes the next item,
/// so one item may take as long as it likes.
pub fn map<T: Sync, R: Send, W>(
    items: &[T],
    threads: usize,
    state: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, usize, &T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::new(None)).collect();
    let run = || {
        let mut state = state();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { break };
            let result = work(&mut state, index, item);
            *results[index].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(items.len()) {
            scope.spawn(run);
        }
        run();
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
