//! N-gram language models: reading and writing ARPA files, left-to-right queries with minimal states, and
//! Kneser-Ney estimation from texts of any size.
//!
//! ```text
//! ARPA text | compiled file --Lm::open--> Lm --score(state, word)--> ln p, next state
//! ARPA text --Lm::open--> Lm --compile--> compiled file: hash tables for speed, a trie for size
//! lines --Estimator--> Lm --write_arpa--> ARPA text
//! models, held-out text --Mixture--> one model, ARPA text
//! lines --Classes--> lines of word classes: the same again for classes, asked about words
//! ```
//!
//! Files hold base-10 logarithms; everything inside is a natural logarithm, converted once when a file is read.
//! A model is immutable and can be shared by threads.
//!
//! *Useful for* scoring target words in any left-to-right decoder, and for making the language model of a corpus.
//! *Not useful for* other smoothing methods or for KenLM's binary files (which are recognised and refused).
//!
//! ```
//! use sylvan_lm::{EstimateConfig, Estimator, Lm};
//! let mut estimator = Estimator::new(EstimateConfig { order: 2, ..EstimateConfig::default() })?;
//! for line in ["the cat sleeps", "the dog sleeps", "a cat"] {
//!     estimator.add(line).map_err(|fault| fault.at("lines", 1))?;
//! }
//! let lm: Lm = estimator.finish()?;
//! let (the, cat) = (lm.word("the"), lm.word("cat"));
//! let (first, state) = lm.score(&lm.begin(), the);
//! let (second, state) = lm.score(&state, cat);
//! let sum = f64::from(first) + f64::from(second) + f64::from(lm.end(&state));
//! assert!((sum - lm.sentence(&[the, cat])).abs() < 1e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arpa;
mod arpa_write;
mod batch;
mod beside;
mod binary;
mod bounds;
mod builder;
mod chart;
pub mod classes;
mod estimate;
mod hash;
mod interpolation;
mod layout;
mod local_bounds;
mod query;
mod rest;
mod state;
mod store;
mod trie;
mod walk;
mod words;

pub use arpa::ArpaConfig;
pub use binary::{CompileConfig, Info, LayoutKind};
pub use chart::{ChartState, Joiner, Left};
pub use estimate::{
    Discounts, EstimateConfig, EstimateError, EstimateSummary, Estimator, MAX_ESTIMATE_ORDER, Marks, Prune,
    temp_folder,
};
pub use interpolation::{Mixture, Perplexity, Tuned};
pub use local_bounds::LocalBounds;
pub use query::Lm;
pub use state::{State, WordId};

/// The longest n-gram that a model may hold.
pub const MAX_ORDER: usize = 7;

/// The words that every model has: unknown, sentence start, sentence end.
pub(crate) const UNKNOWN: &str = "<unk>";
pub(crate) const BEGIN: &str = "<s>";
pub(crate) const END: &str = "</s>";
