//! Tuning: which weights make the translations of a held-out text best.
//!
//! ```text
//! weights --Decode--> n-best lists --Pool--> mert | mira | pro --> weights --> .. until nothing changes
//!                     `--and forests --FeatureForest, Forests--> mert
//! ```
//!
//! Metrics are those of `sylvan-eval`; all work goes through their statistics per line. Results are the same bytes
//! for the same seed, at any number of threads.
//!
//! *Useful for* anything that translates with a weighted sum of features. *Not useful for* learning the features
//! themselves or for reading files: it takes a decoder behind a trait, and references as lines.
//!
//! ```
//! use sylvan_base::{Symbol, Vocab};
//! use sylvan_eval::Ter;
//! use sylvan_tune::{Candidate, Decode, Method, Plan, Start, Values, tune};
//!
//! /// Knows two translations of the only sentence.
//! struct Toy;
//! impl Decode for Toy {
//!     type Error = std::convert::Infallible;
//!     fn decode(&mut self, _: &mut Vocab, weights: &[f64]) -> Result<Vec<Vec<Candidate>>, Self::Error> {
//!         let mut list: Vec<Candidate> = [("a b", 1.0), ("b a", 2.0)]
//!             .map(|(text, value)| Candidate { text: text.into(), values: Values::new([(Symbol(0), value)]) })
//!             .into();
//!         list.sort_by(|x, y| y.values.dot(weights).total_cmp(&x.values.dot(weights)));
//!         Ok(vec![list])
//!     }
//! }
//! let start = [Start { name: "length".into(), weight: 1.0, spread: 1.0 }];
//! let references = vec![vec!["a b".to_string()]];
//! let method = Method::Mert(Default::default());
//! let tuned = tune(&mut Toy, &Ter::default(), references, &start, &method, &Plan::default(), &mut |_| {});
//! let tuned = tuned.expect("the toy cannot fail");
//! assert_eq!(tuned.score, 0.0);
//! assert!(tuned.weights[0].1 < 0.0);
//! ```

mod envelope;
mod feature_forest;
mod forest_envelope;
mod forests;
mod line_search;
mod lists;
mod mert;
mod mira;
mod mixture;
mod pattern_search;
mod plot;
mod pool;
mod pro;
mod swap;
mod tuning;

pub use envelope::{Line, Segment, upper_envelope};
pub use feature_forest::FeatureForest;
pub use forest_envelope::{Winner, winners};
pub use forests::Forests;
pub use line_search::{Direction, Point, Space, line_search};
pub use lists::Lists;
pub use mert::{MertConfig, Optimum, mert};
pub use mira::{MiraConfig, mira};
pub use mixture::{Mixture, MixtureStats};
pub use pattern_search::{Knob, pattern_search};
pub use plot::curve;
pub use pool::{Candidate, Entry, Pool, Values, vector};
pub use pro::{ProConfig, pro};
pub use tuning::{Decode, Listed, Method, Plan, Round, Start, Tuned, tune};
