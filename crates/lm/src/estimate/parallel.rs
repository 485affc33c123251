//! Two ways to use several threads whose results do not depend on how many there are.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};

/// A pipeline: items are made one after the other, worked on in parallel, and used in the order in which they
/// were made. At most a few items per thread exist at a time.
pub(crate) fn in_order<J: Send, R: Send, E: Send>(
    threads: usize,
    mut produce: impl FnMut() -> Result<Option<J>, E>,
    work: impl Fn(J) -> Result<R, E> + Sync,
    mut consume: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    if threads <= 1 {
        while let Some(item) = produce()? {
            consume(work(item)?)?;
        }
        return Ok(());
    }
    // Items carry their number; results come in any order and wait in `early` for their turn.
    let (job_in, job_out) = mpsc::channel::<(usize, J)>();
    let (result_in, result_out) = mpsc::channel();
    let job_out = Mutex::new(job_out);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (jobs, results, work) = (&job_out, result_in.clone(), &work);
            scope.spawn(move || {
                loop {
                    let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok((number, item)) = job else { return };
                    // The other side only hangs up after an error, and then nobody wants the result.
                    let _ = results.send((number, work(item)));
                }
            });
        }
        drop(result_in);
        // Moved in here, so that an early return closes the channel and ends the threads.
        let jobs = job_in;
        let (mut made, mut used, mut over) = (0, 0, false);
        let mut early = BTreeMap::new();
        loop {
            while !over && made - used < 4 * threads {
                match produce()? {
                    Some(item) => {
                        let _ = jobs.send((made, item));
                        made += 1;
                    }
                    None => over = true,
                }
            }
            if used == made {
                return Ok(());
            }
            // A thread that panicked sends nothing; leaving here lets the scope pass the panic on.
            let Ok((number, result)) = result_out.recv() else { return Ok(()) };
            early.insert(number, result?);
            while let Some(result) = early.remove(&used) {
                consume(result)?;
                used += 1;
            }
        }
    })
}

/// Works on the buckets `0..count`, whoever is free on the next one, each thread with a state of its own, and returns the results by bucket.
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
                    // The others stop after the bucket that they are at.
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
