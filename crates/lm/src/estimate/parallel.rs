//! Two ways to use several threads whose results do not depend on how many there are.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// How many items may be in flight per thread. A thread may lose the processor for as long as several items
/// take; the others need not wait for it.
const WINDOW: usize = 8;

/// A pipeline: items are made one after the other, worked on in parallel, and used in the order in which they
/// were made. At most a few items per thread exist at a time.
///
/// There is no thread besides those that work: each makes an item, works on it, and uses whatever is next in line.
pub(crate) fn in_order<J, R: Send, E: Send>(
    threads: usize,
    mut produce: impl FnMut() -> Result<Option<J>, E> + Send,
    work: impl Fn(J) -> Result<R, E> + Sync,
    mut consume: impl FnMut(R) -> Result<(), E> + Send,
) -> Result<(), E> {
    if threads <= 1 {
        while let Some(item) = produce()? {
            consume(work(item)?)?;
        }
        return Ok(());
    }
    let source = Mutex::new(Source { produce, made: 0, over: false });
    let drain = Drain {
        line: Mutex::new(Line { used: 0, early: BTreeMap::new(), ended: false }),
        moved: Condvar::new(),
    };
    let consumer = Mutex::new((consume, Ok(())));
    let run = || {
        let _alarm = Alarm(&drain);
        loop {
            let (number, made) = {
                let mut source = lock(&source);
                if source.over || !drain.has_room(source.made, WINDOW * threads) {
                    return;
                }
                let number = source.made;
                source.made += 1;
                let made = (source.produce)();
                // After an error nothing more is made.
                source.over = !matches!(made, Ok(Some(_)));
                (number, made)
            };
            let result = match made {
                Ok(Some(item)) => work(item),
                Ok(None) => return,
                Err(error) => Err(error),
            };
            drain.put(number, result);
            // If another thread is using results, leave this one to it.
            while drain.is_ready() {
                let Ok(mut consumer) = consumer.try_lock() else { break };
                while let Some(result) = drain.take() {
                    let (consume, outcome) = &mut *consumer;
                    *outcome = result.and_then(&mut *consume);
                    if outcome.is_err() {
                        drain.end();
                        return;
                    }
                }
            }
        }
    };
    std::thread::scope(|scope| {
        let handles: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
        run();
        for handle in handles {
            if let Err(panic) = handle.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
    consumer.into_inner().unwrap_or_else(PoisonError::into_inner).1
}

/// Where items come from.
struct Source<P> {
    produce: P,
    made: usize,
    over: bool,
}

/// Results that wait for their turn.
struct Drain<R, E> {
    line: Mutex<Line<R, E>>,
    moved: Condvar,
}

struct Line<R, E> {
    used: usize,
    early: BTreeMap<usize, Result<R, E>>,
    /// After an error or a panic.
    ended: bool,
}

impl<R, E> Drain<R, E> {
    /// Waits until fewer than `window` of the items made are in flight; false if there will be no more.
    fn has_room(&self, made: usize, window: usize) -> bool {
        let mut line = lock(&self.line);
        while !line.ended && made - line.used >= window {
            line = self.moved.wait(line).unwrap_or_else(PoisonError::into_inner);
        }
        !line.ended
    }

    fn put(&self, number: usize, result: Result<R, E>) {
        lock(&self.line).early.insert(number, result);
    }

    fn is_ready(&self) -> bool {
        let line = lock(&self.line);
        !line.ended && line.early.contains_key(&line.used)
    }

    fn take(&self) -> Option<Result<R, E>> {
        let mut line = lock(&self.line);
        let used = line.used;
        let result = line.early.remove(&used)?;
        line.used += 1;
        self.moved.notify_all();
        Some(result)
    }

    fn end(&self) {
        lock(&self.line).ended = true;
        self.moved.notify_all();
    }
}

/// Ends the waiting of the others when a thread panics.
struct Alarm<'a, R, E>(&'a Drain<R, E>);

impl<R, E> Drop for Alarm<'_, R, E> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Works on the buckets `0..count`, idle threads taking the next one, each thread with a state of its own, and
/// returns the results by bucket.
pub(crate) fn by_bucket<S, R: Send, E: Send>(
    threads: usize,
    count: usize,
    begin: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> Result<R, E> + Sync,
    finish: impl Fn(S) -> Result<(), E> + Sync,
) -> Result<Vec<R>, E> {
    // A counter instead of a fixed share: buckets differ in size.
    let next = AtomicUsize::new(0);
    let run = || -> Result<Vec<(usize, R)>, E> {
        let mut state = begin();
        let mut done = Vec::new();
        loop {
            let bucket = next.fetch_add(1, Ordering::Relaxed);
            if bucket >= count {
                finish(state)?;
                return Ok(done);
            }
            match work(&mut state, bucket) {
                Ok(result) => done.push((bucket, result)),
                Err(error) => {
                    // The others stop after their current bucket.
                    next.store(count, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
    };
    let parts: Vec<_> = if threads <= 1 {
        vec![run()]
    } else {
        std::thread::scope(|scope| {
            let handles: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
            let wait = |handle: std::thread::ScopedJoinHandle<'_, _>| match handle.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            handles.into_iter().map(wait).collect()
        })
    };
    let mut all = Vec::with_capacity(count);
    for part in parts {
        all.extend(part?);
    }
    all.sort_by_key(|&(bucket, _)| bucket);
    Ok(all.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        for threads in 1..5 {
            let mut next = 0u64;
            let mut seen = Vec::new();
            let produce = || {
                next += 1;
                Ok::<_, ()>((next <= 100).then_some(next))
            };
            let work = |item: u64| {
                // Uneven work, so that results overtake each other.
                let spin = (0..(item * 7919 % 13) * 1000).fold(item, |sum, n| std::hint::black_box(sum ^ n));
                std::hint::black_box(spin);
                Ok(item * 2)
            };
            in_order(threads, produce, work, |item| {
                seen.push(item);
                Ok(())
            })
            .unwrap();
            assert_eq!(seen, (1..=100).map(|n| n * 2).collect::<Vec<u64>>());
            let squares = by_bucket(threads, 50, || (), |(), n| Ok::<_, ()>(n * n), |()| Ok(())).unwrap();
            assert_eq!(squares, (0..50).map(|n| n * n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_error_ends_the_work() {
        for threads in 1..4 {
            let mut next = 0;
            let produce = || {
                next += 1;
                Ok(Some(next))
            };
            let work = |item: i32| if item == 9 { Err("nine") } else { Ok(()) };
            assert_eq!(in_order(threads, produce, work, |()| Ok(())), Err("nine"));
            let result =
                by_bucket(threads, 1000, || (), |(), n| if n == 9 { Err(n) } else { Ok(()) }, |()| Ok(()));
            assert_eq!(result, Err(9));
        }
    }
}
