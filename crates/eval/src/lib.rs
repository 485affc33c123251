//! How good a translation is: BLEU, chrF and TER with the numbers of sacreBLEU, RIBES, and whether a difference
//! between systems means anything.
//!
//! ```text
//! line, references --Metric::line--> statistics --sum--> statistics --Metric::value--> score, signature
//!                                        |
//!                    two or more systems +--compare--> p-value, intervals, wins and losses
//! ```
//!
//! The crate knows the base crate only: a score must be trustworthy without trusting the decoder that made the
//! translation.
//!
//! *Useful for* scoring whole files and single sentences and, through the additive statistics, anything that
//! swaps translations and wants the new corpus score at once (tuning, significance tests). *Not useful for*
//! reading files: it takes lines.
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
mod bleu_stats;
mod chrf;
mod chrf_stats;
pub mod compare;
pub mod consensus;
mod error;
mod grams;
mod metric;
mod ribes;
mod shifts;
mod ter;
mod ter_bleu;
mod tokenize;
mod words;

pub use bleu::{Bleu, BleuScore, Smoothing};
pub use bleu_stats::{BleuStats, ORDER, References};
pub use chrf::Chrf;
pub use chrf_stats::ChrfStats;
pub use error::EvalError;
pub use metric::{Better, Metric, Workspace};
pub use ribes::{Ribes, RibesStats};
pub use ter::{Ter, TerStats};
pub use ter_bleu::{TerBleu, TerBleuStats};
pub use tokenize::Tokenizer;
pub use words::Case;

/// What signatures call this implementation.
const VERSION: &str = concat!("sylvan-", env!("CARGO_PKG_VERSION"));
