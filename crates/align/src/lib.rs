//! Word alignment: which word of a sentence was translated by which word of the other.
//!
//! ```text
//! two texts --Bitext--> word numbers --Aligner::train--> Posteriors of each pair --Heuristic--> links
//!                                            |
//!                                          Model --save, open, Aligner::apply--> links of other texts
//! ```
//!
//! Models: IBM 1, diagonal IBM 2 and the hidden Markov model by expectation maximisation (`em/`), and the Bayesian
//! hidden Markov model with fertility by Gibbs sampling (`gibbs/`), which the presets use. Results are the same
//! bytes at any number of threads.
//!
//! *Useful for* making grammars, lexicons and training data out of parallel text, and for judging aligners.
//! *Not useful for* finding out which sentences belong together.
//!
//! ```
//! use sylvan_align::{Aligner, Bitext, Heuristic, Posteriors, Preset, ReadConfig};
//! use sylvan_base::Silent;
//! let mut bitext = Bitext::default();
//! for (source, target) in [("das Haus", "the house"), ("das Buch", "the book"), ("ein Buch", "a book")] {
//!     bitext.push(source, target, ReadConfig::default());
//! }
//! let method = Preset::Default.method(bitext.len(), 1);
//! let aligner = Aligner::train(&bitext, &method, 1, &Silent, &mut |_| {});
//! let mut posteriors = Posteriors::default();
//! aligner.posteriors(0, &mut posteriors);
//! assert!(!posteriors.links(Heuristic::Union).is_empty());
//! ```

mod aligner;
mod bitext;
mod counts;
pub mod draw;
mod em;
mod evaluation;
mod gibbs;
mod itg;
mod lexical;
mod model;
mod pairs;
mod posteriors;
mod preset;
mod symmetrize;
mod work;

pub use aligner::Aligner;
pub use bitext::{Bitext, ReadConfig, Side, Skipped};
pub use em::{EmConfig, EmModel, Iteration};
pub use evaluation::Evaluation;
pub use gibbs::GibbsConfig;
pub use lexical::{LexicalTable, NULL};
pub use model::{Model, ModelKind};
pub use posteriors::Posteriors;
pub use preset::{Method, Preset};
pub use symmetrize::{Heuristic, symmetrize};
