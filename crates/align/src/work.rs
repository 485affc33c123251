//! Work shared out to threads so that nothing depends on how many there are.
//!
//! Jobs are cut by size, never by the number of threads; each owns what it writes; results come back in the order
//! of the jobs. What is added up across jobs is added in that order or in integers ([`Fixed`]).

use std::sync::Mutex;

/// Runs all jobs on up to `threads` threads and returns their results in the order of the jobs.
pub(crate) fn run<J: Send, R: Send>(threads: usize, jobs: Vec<J>, work: impl Fn(J) -> R + Sync) -> Vec<R> {
    if threads <= 1 || jobs.len() <= 1 {
        return jobs.into_iter().map(work).collect();
    }
    let mut results: Vec<Option<R>> = jobs.iter().map(|_| None).collect();
    let queue = Mutex::new(jobs.into_iter().zip(results.iter_mut()));
    std::thread::scope(|scope| {
        for _ in 0..threads.min(256) {
            scope.spawn(|| {
                loop {
                    // The lock is held only while a job is taken.
                    let next = queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
                    let Some((job, result)) = next else { break };
                    *result = Some(work(job));
                }
            });
        }
    });
    drop(queue);
    results.into_iter().flatten().collect()
}

/// Cuts `0..count` into runs of about `size` units, where `weight(i)` is the size of item `i`.
pub(crate) fn cut(
    range: std::ops::Range<usize>,
    size: usize,
    weight: impl Fn(usize) -> usize,
) -> Vec<std::ops::Range<usize>> {
    let mut runs = Vec::new();
    let (mut start, mut sum) = (range.start, 0);
    for item in range.clone() {
        sum += weight(item);
        if sum >= size {
            runs.push(start..item + 1);
            (start, sum) = (item + 1, 0);
        }
    }
    if start < range.end {
        runs.push(start..range.end);
    }
    runs
}

/// Takes the next `count` items off a slice.
pub(crate) fn take<'a, T>(rest: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    let (head, tail) = std::mem::take(rest).split_at_mut(count);
    *rest = tail;
    head
}

/// A sum that does not depend on the order of its parts: units of 2^-30 in 64 bits, enough for 8 billion.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Fixed(i64);

impl Fixed {
    const UNIT: f64 = (1u64 << 30) as f64;

    #[inline]
    pub(crate) fn add(&mut self, value: f64) {
        self.0 = self.0.saturating_add((value * Self::UNIT) as i64);
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.0 = self.0.saturating_add(other.0);
    }

    pub(crate) fn value(self) -> f64 {
        self.0 as f64 / Self::UNIT
    }
}
