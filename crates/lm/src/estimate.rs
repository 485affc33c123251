//! Interpolated modified Kneser-Ney smoothing (Chen & Goodman 1998), in the definition of KenLM's `lmplz`
//! (Heafield et al. 2013), for a corpus in memory.
//!
//! | papers | here |
//! |---|---|
//! | a(h w), the adjusted count | `Counted::count` after `adjust` |
//! | n_i, the number of n-grams with a = i | `n[i-1]` |
//! | D_1, D_2, D_3+ | [`Discounts`] |
//! | gamma(h), the back-off weight | `Context::gamma` |
//! | V, the words that can follow | the vocabulary without `<s>` |
//!
//! ```text
//! p(w | h) = (a(h w) - D(a(h w))) / sum_x a(h x)  +  gamma(h) p(w | h without its oldest word)
//! p(w)     = (a(w) - D(a(w))) / sum_x a(x)        +  gamma() / V
//! gamma(h) = sum_x D(a(h x)) / sum_x a(h x)
//! ```

use sylvan_base::{Fault, Vocab};

pub use crate::counts::MAX_ESTIMATE_ORDER;

use crate::arpa::fields;
use crate::builder::{Builder, Duplicate};
use crate::counts::{BEGIN_ID, Counted, END_ID, UNKNOWN_ID, adjust, context, count, count_words};
use crate::{BEGIN, END, Lm, UNKNOWN, WordId};

/// What is taken away from n-grams that were seen once, twice, or more often.
pub type Discounts = [f64; 3];

/// ln of a probability that is zero: -99 in an ARPA file.
const ZERO: f32 = -227.955_93;

/// How a model is estimated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EstimateConfig {
    /// The length of the longest n-grams, 1 to 5.
    pub order: usize,
    /// The discounts for orders whose own cannot be computed, as in very small or artificial corpora. With
    /// `None` such corpora are refused.
    pub fallback: Option<Discounts>,
}

impl Default for EstimateConfig {
    fn default() -> Self {
        Self { order: 3, fallback: Some([0.5, 1.0, 1.5]) }
    }
}

/// Why there is no model.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EstimateError {
    /// The order is not supported.
    #[error("found the order {found}, expected 1 to {MAX_ESTIMATE_ORDER}")]
    Order {
        /// What was asked for.
        found: usize,
    },
    /// There was no sentence.
    #[error("found no sentence, expected at least one")]
    NoText,
    /// The corpus is too small or too uniform.
    #[error(
        "cannot compute discounts for {n}-grams: found {counts:?} of them seen once, twice, three and four times, \
         expected falling numbers above zero; give more text or allow fallback discounts"
    )]
    Discounts {
        /// Which n-grams.
        n: usize,
        /// How many occur once, twice, three and four times (in adjusted counts).
        counts: [u64; 4],
    },
}

/// Takes sentences and gives a model.
#[derive(Debug, Clone)]
pub struct Estimator {
    config: EstimateConfig,
    vocab: Vocab,
    /// All sentences with their boundaries, one behind the other.
    text: Vec<u32>,
}

impl Estimator {
    /// An estimator without text.
    pub fn new(config: EstimateConfig) -> Result<Self, EstimateError> {
        if config.order == 0 || config.order > MAX_ESTIMATE_ORDER {
            return Err(EstimateError::Order { found: config.order });
        }
        let vocab = Vocab::of([UNKNOWN, BEGIN, END]);
        Ok(Self { config, vocab, text: Vec::new() })
    }

    /// Adds a sentence of words between spaces or tabs. An empty line is an empty sentence. The three special words
    /// must not occur; after a fault nothing was added.
    pub fn add(&mut self, line: &str) -> Result<(), Fault> {
        let marks = [UNKNOWN, BEGIN, END];
        if let Some((at, mark)) = fields(line).find(|(_, word)| marks.contains(word)) {
            return Err(Fault::at_byte(line, at, mark, "a word, not a mark of the language model")
                .advise("remove or replace it"));
        }
        self.text.push(BEGIN_ID);
        self.text.extend(fields(line).map(|(_, word)| self.vocab.intern(word).0));
        self.text.push(END_ID);
        Ok(())
    }

    /// The model.
    pub fn finish(self) -> Result<Lm, EstimateError> {
        if self.text.is_empty() {
            return Err(EstimateError::NoText);
        }
        let order = self.config.order;
        let mut lists = vec![count_words(&self.text, self.vocab.len())];
        lists[0][UNKNOWN_ID as usize].count = 0;
        lists.extend((2..=order).map(|n| count(&self.text, n)));
        for n in 1..order {
            let (shorter, longer) = lists.split_at_mut(n);
            adjust(&mut shorter[n - 1], &mut longer[0], n);
        }
        // `<s>` is never predicted; its count must not take part in anything.
        lists[0][BEGIN_ID as usize].count = 0;
        let mut models = Vec::with_capacity(order);
        let mut probs = vec![1.0 / (self.vocab.len() - 1) as f64];
        for n in 1..=order {
            let shorter = if n == 1 { &[][..] } else { &lists[n - 2] };
            let discounts = self.discounts(&lists[n - 1], n)?;
            let (next, contexts) = interpolate(&lists[n - 1], shorter, &probs, &discounts);
            models.push(Interpolated { probs: std::mem::replace(&mut probs, next), contexts });
        }
        Ok(self.build(&lists, &models, &probs))
    }

    fn discounts(&self, list: &[Counted], n: usize) -> Result<Discounts, EstimateError> {
        let mut counts = [0u64; 4];
        for gram in list {
            if let times @ 1..=4 = gram.count {
                counts[times as usize - 1] += 1;
            }
        }
        discounts(counts).or(self.config.fallback).ok_or(EstimateError::Discounts { n, counts })
    }

    /// Puts the n-grams into a model, in suffix order as `lmplz` writes them.
    fn build(&self, lists: &[Vec<Counted>], models: &[Interpolated], longest: &[f64]) -> Lm {
        let mut builder = Builder::new(lists.len());
        let mut words = Vec::new();
        for (index, list) in lists.iter().enumerate() {
            let n = index + 1;
            builder.store.reserve(n, list.len());
            // Each round of `finish` put the probabilities of the order before beside the contexts.
            let probs = models.get(n).map_or(longest, |model| &model.probs);
            for (at, gram) in list.iter().enumerate() {
                let backoff = models.get(n).map_or(0.0, |model| model.contexts[at].backoff());
                let prob = if n == 1 && gram.words[0] == BEGIN_ID { 0.0 } else { ln(probs[at]).min(0.0) };
                let added = if n == 1 {
                    let text = self.vocab.text(sylvan_base::Symbol(gram.words[0]));
                    builder.add_word(text, prob, backoff).map(drop)
                } else {
                    words.clear();
                    words.extend(gram.words[..n].iter().rev().map(|&word| WordId(word)));
                    builder.add(&words, prob, backoff)
                };
                debug_assert!(!matches!(added, Err(Duplicate)), "each n-gram is listed once");
            }
        }
        builder.finish(ZERO).expect("the sentence boundaries are in every vocabulary")
    }
}

/// What one order knows about the order before it.
struct Interpolated {
    /// The probabilities of the order before.
    probs: Vec<f64>,
    /// The n-grams of the order before as contexts.
    contexts: Vec<Context>,
}

/// The sums over all words that follow a context.
#[derive(Debug, Clone, Copy, Default)]
struct Context {
    /// How many n-grams have the count 1, 2, or more. Integers, so that their order cannot matter.
    seen: [u64; 3],
    total: u64,
    gamma: f64,
}

impl Context {
    fn backoff(&self) -> f32 {
        if self.total == 0 { 0.0 } else { ln(self.gamma) }
    }
}

/// The probabilities of the n-grams in `list`, given those of the shorter ones, and the sums for each context.
/// For 1-grams `shorter` is empty, and the only context is the empty one.
fn interpolate(
    list: &[Counted],
    shorter: &[Counted],
    shorter_probs: &[f64],
    discounts: &Discounts,
) -> (Vec<f64>, Vec<Context>) {
    let of = |gram: &Counted| if shorter.is_empty() { 0 } else { context(shorter, &gram.words) };
    let mut contexts = vec![Context::default(); shorter.len().max(1)];
    let places: Vec<u32> = list.iter().map(|gram| of(gram) as u32).collect();
    for (gram, &place) in list.iter().zip(&places) {
        let context = &mut contexts[place as usize];
        context.total += gram.count;
        if let Some(class) = class(gram.count) {
            context.seen[class] += 1;
        }
    }
    for context in contexts.iter_mut().filter(|context| context.total > 0) {
        let mass: f64 = context.seen.iter().zip(discounts).map(|(&n, d)| n as f64 * d).sum();
        context.gamma = mass / context.total as f64;
    }
    let probs = list.iter().zip(&places).map(|(gram, &place)| {
        let context = &contexts[place as usize];
        let discount = class(gram.count).map_or(0.0, |class| discounts[class]);
        let own = (gram.count as f64 - discount) / context.total as f64;
        own + context.gamma * shorter_probs[gram.suffix as usize]
    });
    (probs.collect(), contexts)
}

/// Which discount a count has.
fn class(count: u64) -> Option<usize> {
    (count > 0).then(|| count.min(3) as usize - 1)
}

/// The closed-form discounts (Chen & Goodman 1998, section 4.2), if the counts allow them.
fn discounts(n: [u64; 4]) -> Option<Discounts> {
    if n[..3].contains(&0) {
        return None;
    }
    let [n1, n2, n3, n4] = n.map(|count| count as f64);
    let y = n1 / (n1 + 2.0 * n2);
    let d = [1.0 - 2.0 * y * n2 / n1, 2.0 - 3.0 * y * n3 / n2, 3.0 - 4.0 * y * n4 / n3];
    let sound = d.iter().zip(1..).all(|(d, most)| (0.0..=f64::from(most)).contains(d));
    sound.then_some(d)
}

/// The logarithm of a probability or weight, finite also for zero.
fn ln(p: f64) -> f32 {
    if p > 0.0 { (libm::log(p) as f32).max(ZERO) } else { ZERO }
}
