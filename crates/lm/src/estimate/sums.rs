//! Sums over all words that follow a context, and with them each n-gram's own part of its probability.
//!
//! ```text
//! own(h w) = (a(h w) - D(a(h w))) / sum_x a(h x)
//! gamma(h) = (sum over kept h x of D(a(h x))  +  sum over pruned h x of a(h x)) / sum_x a(h x)
//! ```
//!
//! N-grams stand in suffix order, where those with the same context h are far apart, so they are sorted by
//! context. The sort need not look at words: an n-gram `w1 .. wn` has the parent `w2 .. wn`, whose context
//! `w2 .. wn-1` is known by its rank from the round before; with `w1` in front it is the context sought. The
//! pair (that rank, `w1`) therefore sorts n-grams by context, and in the order in which the contexts stand in
//! their own list:
//!
//! ```text
//! n-grams of length n --(rank of the parent's context, w1)--> sorted \
//! list of length n - 1, in order -------------------------------------> gamma for each entry of that list
//!                                                                     \-> own, gamma, rank of the context, back
//!                                                                         to where each n-gram stands
//! ```

use sylvan_base::Result;
use sylvan_store::{Feeder, Merge, Record, Sorter, radix_sort};
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::Tools;
use super::column::Segment;
use super::discount::{Discounts, class, discount};
use super::level::{Levels, Place};
use super::parallel::by_bucket;

/// An n-gram on its way to its context.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(crate) struct Tail {
    /// The rank of the context of the parent, then the oldest word: so the context is identified.
    oldest: u32,
    parent_context: u32,
    rank: u32,
    /// The adjusted count, doubled, and one more if the n-gram is pruned.
    count: u32,
}

impl Tail {
    #[inline]
    fn context(&self) -> u64 {
        u64::from(self.parent_context) << 32 | u64::from(self.oldest)
    }
}

impl Record for Tail {
    type Key = u64;
    const ADDS_UP: bool = false;
    #[inline]
    fn key(&self) -> u64 {
        self.context()
    }
    fn sort(records: &mut Vec<Self>, spare: &mut Vec<Self>) {
        radix_sort(records, spare, Self::context);
    }
}

/// What an n-gram gets from its context, on its way back.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(crate) struct Share {
    pub(crate) rank: u32,
    /// The rank of the context.
    pub(crate) context: u32,
    pub(crate) own: f64,
    pub(crate) gamma: f64,
}

impl Record for Share {
    type Key = u32;
    const ADDS_UP: bool = false;
    #[inline]
    fn key(&self) -> u32 {
        self.rank
    }
    fn sort(records: &mut Vec<Self>, spare: &mut Vec<Self>) {
        radix_sort(records, spare, |share| u64::from(share.rank));
    }
}

/// Sums up for the n-grams of length `n` >= 2. `contexts` are the ranks of the contexts of the n-grams of length
/// n - 1, if that is 3 or more. Returns gamma for the n-grams of length n - 1 (1 for those that are no context),
/// and the shares of the n-grams of length n.
pub(crate) fn sum_up(
    tools: &Tools,
    levels: &Levels,
    n: usize,
    contexts: &[Segment<u32>],
) -> Result<(Vec<Segment<f64>>, Sorter<Share>)> {
    let tails = Sorter::new(&tools.scratch, levels.buckets(), tools.memory / 6);
    send(tools, levels, n, contexts, &tails)?;
    let shares = Sorter::new(&tools.scratch, levels.buckets(), tools.memory / 4);
    let shelf = tools.pool.shelf();
    let gammas = by_bucket(
        tools.threads,
        levels.buckets(),
        || shares.feeder(),
        |feeder, bucket| {
            let mut gammas = shelf.writer();
            let mut groups = Groups::new(tails.drain(bucket, tools.merge_memory())?)?;
            let summer = Summer { levels, n, discounts: &levels.discounts[n - 1] };
            if n == 2 {
                for word in levels.starts[0][bucket]..levels.starts[0][bucket + 1] {
                    let pruned = levels.unigrams[word as usize].pruned;
                    gammas.push(summer.context(u64::from(word), word, pruned, &mut groups, feeder)?)?;
                }
            } else {
                let mut cursor = levels.cursor(n - 1, bucket);
                while let Some(Place { entry, rank, parent, .. }) = cursor.next()? {
                    let key = u64::from(parent) << 32 | u64::from(entry.oldest);
                    gammas.push(summer.context(key, rank, entry.is_pruned(), &mut groups, feeder)?)?;
                }
            }
            debug_assert!(groups.next.is_none(), "every n-gram met its context");
            gammas.finish()
        },
        Feeder::finish,
    )?;
    Ok((gammas, shares))
}

/// Sends all n-grams of length `n` to their contexts.
fn send(
    tools: &Tools,
    levels: &Levels,
    n: usize,
    contexts: &[Segment<u32>],
    tails: &Sorter<Tail>,
) -> Result<()> {
    by_bucket(
        tools.threads,
        levels.buckets(),
        || tails.feeder(),
        |feeder, bucket| {
            let mut cursor = levels.cursor(n, bucket);
            let mut contexts = (n > 3).then(|| contexts[bucket].reader());
            let base = levels.starts[n - 2][bucket];
            let (mut known, mut target) = (None, 0);
            while let Some(Place { entry, rank, parent, parent_oldest }) = cursor.next()? {
                // The context of the parent, and the bucket of the context sought, which ends in the same word.
                let parent_context = match n {
                    2 => 0,
                    3 => parent_oldest,
                    _ => match &mut contexts {
                        Some(contexts) => contexts.at((parent - base) as usize)?.unwrap_or(0),
                        None => 0,
                    },
                };
                if n == 2 {
                    target = levels.bucket(1, entry.oldest);
                } else if known != Some(parent_context) {
                    target = levels.bucket(n - 2, parent_context);
                    known = Some(parent_context);
                }
                let count = entry.count() << 1 | u32::from(entry.is_pruned());
                feeder.push(target, Tail { oldest: entry.oldest, parent_context, rank, count })?;
            }
            Ok(())
        },
        Feeder::finish,
    )?;
    Ok(())
}

/// N-grams by context.
struct Groups<'a> {
    merge: Merge<'a, Tail>,
    next: Option<Tail>,
    group: Vec<Tail>,
}

impl<'a> Groups<'a> {
    fn new(mut merge: Merge<'a, Tail>) -> Result<Self> {
        let next = merge.next_record()?;
        Ok(Self { merge, next, group: Vec::new() })
    }

    /// The n-grams with this context; contexts must be asked for in order.
    #[inline]
    fn of(&mut self, context: u64) -> Result<&[Tail]> {
        self.group.clear();
        while let Some(tail) = self.next.filter(|tail| tail.context() == context) {
            self.group.push(tail);
            self.next = self.merge.next_record()?;
        }
        Ok(&self.group)
    }
}

struct Summer<'a> {
    levels: &'a Levels,
    n: usize,
    discounts: &'a Discounts,
}

impl Summer<'_> {
    /// Sums up over one context, sends the shares, and returns gamma. Integers are summed before anything is
    /// rounded, so the order of the n-grams does not matter.
    #[inline]
    fn context(
        &self,
        key: u64,
        rank: u32,
        pruned: bool,
        groups: &mut Groups<'_>,
        shares: &mut Feeder<'_, Share>,
    ) -> Result<f64> {
        let group = groups.of(key)?;
        let (mut total, mut cut, mut seen) = (0u64, 0u64, [0u64; 3]);
        for tail in group {
            let count = tail.count >> 1;
            total += u64::from(count);
            if tail.count & 1 == 1 {
                cut += u64::from(count);
            } else if let Some(class) = class(count) {
                seen[class] += 1;
            }
        }
        if total == 0 {
            return Ok(1.0);
        }
        let taken: f64 = seen.iter().zip(self.discounts).map(|(&n, d)| n as f64 * d).sum();
        let total = total as f64;
        let gamma = (taken + cut as f64) / total;
        // Pruned n-grams are only needed as parents of longer ones.
        let longest = self.n == self.levels.order;
        for tail in group.iter().filter(|tail| !(longest && (pruned || tail.count & 1 == 1))) {
            let count = tail.count >> 1;
            let own = (f64::from(count) - discount(self.discounts, count)) / total;
            let bucket = self.levels.bucket(self.n, tail.rank);
            shares.push(bucket, Share { rank: tail.rank, context: rank, own, gamma })?;
        }
        Ok(gamma)
    }
}
