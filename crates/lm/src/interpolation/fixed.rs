//! A mixture as one back-off model, as SRILM's `ngram -mix-lm` makes it (Stolcke 2002).
//!
//! The model holds the n-grams of all models with their mixed probabilities. What backing off gives then differs
//! from the mixture for n-grams that no model holds; the back-off weights are computed anew so that the sum
//! after every context is 1:
//!
//! ```text
//! bow(h) = (1 - sum over the h w held of p(w | h)) / (1 - sum over the same w of p(w | h without its oldest word))
//! ```

use std::convert::Infallible;

use sylvan_base::{Progress, Result};
use sylvan_store::Output;

use super::{BEGIN_ID, Mixture, UNKNOWN_ID};
use crate::estimate::{Piece, by_bucket, in_order};
use crate::query::AnyLayout;
use crate::{Lm, MAX_ORDER, WordId};

/// Words of the joint vocabulary, newest first; zeros after the oldest.
type Words = [u32; MAX_ORDER];

/// The n-grams of one length in suffix order.
struct Level {
    words: Vec<Words>,
    probs: Vec<f64>,
}

/// N-grams that are worked on together.
const PIECE: usize = 4096;

/// Less than this counts as no mass left: all words follow the context.
const NOTHING: f64 = 1e-12;

pub(super) fn write(
    mixture: &Mixture,
    out: &mut Output,
    threads: usize,
    progress: &dyn Progress,
) -> Result<Vec<u64>> {
    let order = mixture.models.iter().map(Lm::order).max().unwrap_or(1);
    let mut levels: Vec<Level> = Vec::with_capacity(order);
    progress.begin("mixing probabilities", Some(order as u64));
    for n in 1..=order {
        let words = joint(mixture, n);
        let probs = mixture.probs(&words, n, threads);
        levels.push(Level { words, probs });
        progress.at(n as u64);
    }
    progress.end();
    let counts: Vec<u64> = levels.iter().map(|level| level.words.len() as u64).collect();
    progress.begin("writing the mixture", Some(counts.iter().sum()));
    out.line("\\data\\")?;
    for (n, count) in (1..).zip(&counts) {
        out.line(&format!("ngram {n}={count}"))?;
    }
    for n in 1..=order {
        let backoffs = if n < order { backoffs(&levels, n) } else { Vec::new() };
        out.line(&format!("\n\\{n}-grams:"))?;
        let level = &levels[n - 1];
        let mut next = 0;
        let produce = || {
            let range = next..(next + PIECE).min(level.words.len());
            next = range.end;
            Ok((!range.is_empty()).then_some(range))
        };
        let format = |range: std::ops::Range<usize>| {
            let words = level.words[range.clone()].iter().flat_map(|words| words[..n].iter().rev());
            let gammas = backoffs.get(range.clone()).unwrap_or_default().to_vec();
            let piece =
                Piece { n, words: words.copied().collect(), probs: level.probs[range].to_vec(), gammas };
            let mut text = Vec::new();
            piece.format(&mixture.vocab, &mut text);
            Ok(text)
        };
        in_order(threads, produce, format, |text| out.write(&text))?;
    }
    out.line("\n\\end\\")?;
    progress.end();
    Ok(counts)
}

/// The n-grams of length `n` of all models, each once, in suffix order. Those of each model are complete: with an
/// n-gram come its parts.
fn joint(mixture: &Mixture, n: usize) -> Vec<Words> {
    let mut all: Vec<Words> = Vec::new();
    if n == 1 {
        for word in 0..mixture.vocab.len() as u32 {
            let mut words = [0; MAX_ORDER];
            words[0] = word;
            all.push(words);
        }
        return all;
    }
    for model in &mixture.models {
        let joint: Vec<u32> = (0..model.vocab_len() as u32)
            .map(|word| mixture.vocab.get(model.text(WordId(word))).map_or(UNKNOWN_ID, |symbol| symbol.0))
            .collect();
        grams(model, n, |gram| {
            let mut words = [0; MAX_ORDER];
            for (to, from) in words.iter_mut().zip(gram.iter().rev()) {
                *to = joint[from.0 as usize];
            }
            all.push(words);
        });
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// Visits the n-grams of length `n` > 1, oldest word first.
fn grams(model: &Lm, n: usize, mut visit: impl FnMut(&[WordId])) {
    if n > model.order() {
        return;
    }
    match (&model.layout, &model.list) {
        (AnyLayout::Trie(layout), _) => layout.for_each(n, |words, _, _| visit(words)),
        (AnyLayout::Hash(_), Some(list)) => list.grams(n).for_each(visit),
        (AnyLayout::Hash(_), None) => {}
    }
}

impl Mixture {
    fn probs(&self, grams: &[Words], n: usize, threads: usize) -> Vec<f64> {
        let pieces: Vec<&[Words]> = grams.chunks(PIECE).collect();
        let work = |(): &mut (), piece: usize| {
            Ok::<_, Infallible>(
                pieces[piece].iter().map(|words| self.prob(&words[..n])).collect::<Vec<f64>>(),
            )
        };
        match by_bucket(threads, pieces.len(), || (), work, |()| Ok(())) {
            Ok(parts) => parts.concat(),
            Err(never) => match never {},
        }
    }

    /// p of the newest word after the others.
    fn prob(&self, words: &[u32]) -> f64 {
        if words == [BEGIN_ID] {
            // Never predicted.
            return 1.0;
        }
        let parts = self.models.iter().zip(&self.words).zip(&self.weights).map(|((model, ids), weight)| {
            let Some(newest) = ids[words[0] as usize] else { return 0.0 };
            let mut state = model.null();
            for &word in words[1..].iter().rev() {
                state = if word == BEGIN_ID {
                    model.begin()
                } else {
                    model.score(&state, ids[word as usize].unwrap_or(WordId(0))).1
                };
            }
            weight * libm::exp(f64::from(model.score(&state, newest).0))
        });
        parts.sum()
    }
}

/// The back-off weights of the n-grams of length `n`; the list of the longer ones must be there.
fn backoffs(levels: &[Level], n: usize) -> Vec<f64> {
    let (contexts, longer) = (&levels[n - 1], &levels[n]);
    let (mut own, mut shorter) = (vec![0.0; contexts.words.len()], vec![0.0; contexts.words.len()]);
    let mut suffix = 0;
    for (words, prob) in longer.words.iter().zip(&longer.probs) {
        // Both lists are in suffix order, so the suffixes come one after the other.
        while contexts.words[suffix][..n] != words[..n] {
            suffix += 1;
        }
        let mut context = [0; MAX_ORDER];
        context[..n].copy_from_slice(&words[1..=n]);
        if let Ok(context) = contexts.words.binary_search(&context) {
            own[context] += prob;
            shorter[context] += contexts.probs[suffix];
        }
    }
    let weight = |(&own, &shorter): (&f64, &f64)| {
        if own == 0.0 || 1.0 - shorter < NOTHING { 1.0 } else { ((1.0 - own) / (1.0 - shorter)).max(NOTHING) }
    };
    own.iter().zip(&shorter).map(weight).collect()
}
