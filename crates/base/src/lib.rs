//! What every other crate builds on: typed ids, the vocabulary, spans, errors that name their place,
//! repeatable hashing and random numbers, work shared out among threads, and the progress interface.
//!
//! ```text
//! "the cat" --Vocab::intern--> [Symbol(0), Symbol(1)] --Vocab::text--> "the", "cat"
//! ```
//!
//! *Useful for* anything that three crates need. *Not useful for* anything that knows what a tree, a rule or a
//! file format is; and nothing in here reads or writes files.
//!
//! ```
//! use sylvan_base::Vocab;
//! let mut vocab = Vocab::new();
//! let cat = vocab.intern("cat");
//! assert_eq!(vocab.text(cat), "cat");
//! assert_eq!(vocab.get("dog"), None);
//! ```

mod error;
pub mod hash;
mod id;
pub mod limits;
pub mod parallel;
mod prefetch;
mod progress;
mod rng;
mod span;
mod vocab;

pub use error::{Fault, InputError, Result};
pub use hash::{HashMap, HashSet};
pub use id::{Id, IndexVec};
pub use prefetch::prefetch;
pub use progress::{Progress, Silent};
pub use rng::Rng;
pub use span::Span;
pub use vocab::{Symbol, Vocab};
