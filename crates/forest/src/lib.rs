//! The translation forest: all derivations of one input, before any language model.
//!
//! ```text
//! tree x rules --rules::apply--> TranslationForest --search--> Derivation --> target words
//! ```
//!
//! A vertex is a place in the input (a tree node); an edge is a rule applied there, projected to its target
//! side: words in bundles, and the vertices still to be translated, in target order. Every search in this
//! project walks this structure and no other.
//!
//! *Useful for* searches and everything after them. *Not useful for* finding which rules match: that is
//! `sylvan-rules`, and nothing here knows what a tree is.
//!
//! ```
//! use sylvan_base::{Span, Vocab};
//! use sylvan_forest::{Derivation, EdgeSpec, ForestBuilder, Layer, Part, RuleRef};
//! let mut vocab = Vocab::new();
//! let (he, slept) = (vocab.intern("he"), vocab.intern("slept"));
//! let rule = |id| RuleRef { layer: Layer::Grammar, id };
//! let mut builder = ForestBuilder::new();
//! let np = builder.vertex(1, Span::new(0, 1));
//! builder.edge(EdgeSpec { rule: rule(0), score: -0.5, nodes: 1, hash: 1 }, &[Part::word(he)]);
//! let s = builder.vertex(2, Span::new(0, 2));
//! builder.edge(EdgeSpec { rule: rule(1), score: -0.1, nodes: 1, hash: 2 }, &[Part::Vertex(np), Part::word(slept)]);
//! let forest = builder.finish(s);
//! let derivation = Derivation::new(forest.edge_ids().rev().collect());
//! assert_eq!(derivation.words(&forest), [he, slept]);
//! ```

mod builder;
mod derivation;
mod derives;
mod edges;
mod gaps;
mod glue;
mod growing;
mod inside_outside;
mod parts;
mod reordering;
mod token;
mod translation;

pub use builder::ForestBuilder;
pub use derivation::Derivation;
pub use edges::Edges;
pub use gaps::{Brackets, GapCosts, jumped, own_words};
pub use glue::Glue;
pub use growing::{Growing, Grown};
pub use inside_outside::{InsideOutside, Sum};
pub use parts::{BundleId, EdgeId, EdgeSpec, Layer, Part, RuleRef, Target, VertexId};
pub use reordering::{Neighbour, Orientation, Orientations, Reordering};
pub use token::{Token, TokenId};
pub use translation::{Edge, TranslationForest};
