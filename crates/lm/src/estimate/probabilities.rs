//! Probabilities, from short n-grams to long ones.
//!
//! ```text
//! p(w)     = own(w) + gamma() / V                   V: the words that stay, without <s>
//! p(w | h) = own(h w) + gamma(h) p(w | h without its oldest word)
//! ```

use sylvan_base::Result;
use sylvan_store::Sorter;

use super::column::Segment;
use super::discount::{class, discount};
use super::level::{Levels, Unigram};
use super::parallel::by_bucket;
use super::sums::Share;
use super::{BEGIN_ID, Tools, UNKNOWN_ID};

/// The probabilities of all words.
pub(crate) fn unigrams(levels: &Levels) -> Vec<f64> {
    let discounts = &levels.discounts[0];
    let capped = |unigram: &Unigram| unigram.count.min(u64::from(u32::MAX)) as u32;
    let (mut total, mut cut, mut seen) = (0u64, 0u64, [0u64; 3]);
    for unigram in &levels.unigrams {
        total += unigram.count;
        if unigram.pruned {
            cut += unigram.count;
        } else if let Some(class) = class(capped(unigram)) {
            seen[class] += 1;
        }
    }
    let taken: f64 = seen.iter().zip(discounts).map(|(&n, d)| n as f64 * d).sum();
    let total = total as f64;
    let uniform = (taken + cut as f64) / total / (levels.kept[0] - 1) as f64;
    let own = |unigram: &Unigram| (unigram.count as f64 - discount(discounts, capped(unigram))) / total;
    let mut probs: Vec<f64> = levels.unigrams.iter().map(|unigram| own(unigram) + uniform).collect();
    probs[UNKNOWN_ID as usize] = uniform;
    // Never predicted; scoring it as the first word of a sentence costs nothing.
    probs[BEGIN_ID as usize] = 1.0;
    probs
}

/// The n-grams of one length, finished: their probabilities, and the ranks of their contexts.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) probs: Vec<Segment<f64>>,
    pub(crate) contexts: Vec<Segment<u32>>,
}

/// The probabilities of the n-grams of length `n` >= 2 from their shares and the probabilities of the shorter
/// ones: of all words for n = 2, else of the list before.
pub(crate) fn interpolate(
    tools: &Tools,
    levels: &Levels,
    n: usize,
    shares: &Sorter<Share>,
    words: &[f64],
    shorter: &[Segment<f64>],
) -> Result<Finished> {
    let (probs, contexts) = (tools.pool.shelf(), tools.pool.shelf());
    // Only the contexts of parents are ever asked for, and those of 2-grams are their oldest words.
    let wants_contexts = n > 2 && n < levels.order;
    let both = by_bucket(
        tools.threads,
        levels.buckets(),
        || (),
        |(), bucket| {
            let (mut probs, mut contexts) = (probs.writer(), contexts.writer());
            let mut cursor = levels.cursor(n, bucket);
            let mut shorter = (n > 2).then(|| shorter[bucket].reader());
            let base = levels.starts[n - 2][bucket];
            let mut merge = shares.drain(bucket, tools.merge_memory())?;
            let mut next = merge.next_record()?;
            while let Some(place) = cursor.next()? {
                let Some(share) = next.filter(|share| share.rank == place.rank) else {
                    // A pruned n-gram of the full length; nothing asks for it.
                    probs.push(0.0)?;
                    continue;
                };
                next = merge.next_record()?;
                let backed_off = match &mut shorter {
                    None => words[place.parent as usize],
                    Some(shorter) => shorter.at((place.parent - base) as usize)?.unwrap_or(0.0),
                };
                probs.push(share.own + share.gamma * backed_off)?;
                if wants_contexts {
                    contexts.push(share.context)?;
                }
            }
            debug_assert!(next.is_none(), "every share met its n-gram");
            Ok((probs.finish()?, contexts.finish()?))
        },
        |()| Ok(()),
    )?;
    let (probs, contexts) = both.into_iter().unzip();
    Ok(Finished { probs, contexts })
}
