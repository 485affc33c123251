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
//! bytes at any number of threads and in any memory: texts that do not fit are walked through in portions.
//!
//! *Useful for* making grammars, lexicons and training data from parallel text, and for evaluating aligners.
//! *Not useful for* finding out which sentences belong together.
//!
//! ```
//! use sylvan_align::{Aligner, Bitext, Heuristic, Preset, ReadConfig};
//! use sylvan_base::Silent;
//! let mut bitext = Bitext::default();
//! for (source, target) in [("das Haus", "the house"), ("das Buch", "the book"), ("ein Buch", "a book")] {
//!     bitext.push(source, target, ReadConfig::default())?;
//! }
//! let method = Preset::Default.method(bitext.len(), 1);
//! let aligner = Aligner::train(&bitext, &method, 1, &Silent, &mut |_| {})?;
//! assert!(!aligner.posteriors(0)?.links(Heuristic::Union).is_empty());
//! # Ok::<(), sylvan_base::InputError>(())
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
mod meetings;
mod model;
mod pairs;
mod portion;
mod posteriors;
mod preset;
mod shelf;
mod side;
mod symmetrize;
mod work;

pub use aligner::Aligner;
pub use bitext::{Bitext, Memory, ReadConfig, Skipped};
pub use em::{EmConfig, EmModel, Iteration};
pub use evaluation::Evaluation;
pub use gibbs::GibbsConfig;
pub use lexical::{LexicalTable, NULL};
pub use model::{Model, ModelKind};
pub use portion::Portion;
pub use posteriors::Posteriors;
pub use preset::{Method, Preset};
pub use side::Side;
pub use symmetrize::{Heuristic, symmetrize};
