//! How good a translation is: BLEU with the numbers of sacreBLEU, and its additive statistics.
//!
//! ```text
//! line --Tokenizer--> words --References::stats--> BleuStats --sum--> BleuStats --Bleu::score--> BleuScore
//! ```
//!
//! The crate knows the base crate only: a score must be trustable without trusting the decoder that made the
//! translation.
//!
//! *Useful for* scoring whole files ([`Bleu::corpus`]), single sentences ([`Bleu::sentence`]) and, through
//! [`BleuStats`], anything that swaps translations and wants the new corpus score at once (tuning, significance
//! tests). *Not useful for* reading files: it takes lines.
//!
//! ```
//! use sylvan_eval::Bleu;
//! let hypotheses = ["The cat sat on the mat.", "A dog is in the garden."];
//! let references = [vec!["The cat is on the mat.", "There is a dog in the garden."]];
//! let bleu = Bleu::default();
//! let score = bleu.corpus(&hypotheses, &references)?;
//! assert_eq!(format!("{:.2}", score.score), "44.03");
//! assert!(bleu.signature(1).starts_with("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:sylvan-"));
//! # Ok::<(), sylvan_eval::EvalError>(())
//! ```

mod bleu;
mod error;
mod stats;
mod tokenize;

pub use bleu::{Bleu, BleuScore, Case, Smoothing};
pub use error::EvalError;
pub use stats::{BleuStats, ORDER, References};
pub use tokenize::Tokenizer;
