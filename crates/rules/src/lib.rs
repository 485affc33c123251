//! Translation rules: what they are, how they are learnt, kept, and found again in a tree. Tree-to-string rules, and
//! without trees Hiero rules and phrase pairs.
//!
//! ```text
//! corpus --extract--> occurrences --aggregate--> counted rules --score--> Grammar (a mapped table)
//!                                                                           |
//!                                        tree or packed forest --apply--> TranslationForest
//! ```
//!
//! *Useful for* getting from parallel text or trees to tables, and from a tree to a forest that a search can walk.
//! *Not useful for* choosing among translations: there is no language model here.
//!
//! ```
//! use sylvan_base::Vocab;
//! use sylvan_rules::Rule;
//! let mut vocab = Vocab::new();
//! let rule = Rule::parse("VP(x1:PP x2:VP) -> x2 x1", &mut vocab)?;
//! assert_eq!(rule.nodes(), 1);
//! assert_eq!(rule.show(&vocab), "VP(x1:PP x2:VP) -> x2 x1");
//! # Ok::<(), sylvan_base::Fault>(())
//! ```

mod aggregate;
pub mod apply;
pub mod extract;
pub mod features;
mod forest_roots;
pub mod formats;
mod import;
mod input;
mod notation;
mod overlay;
mod preprocessing;
mod rule;
mod score;
mod sparse;
mod table;
mod train;
mod weights;

pub use formats::read_travatar;
pub use import::{ImportConfig, Imported, import};
pub use overlay::{GIVEN, Overlay};
pub use preprocessing::{Leaves, Preprocessing};
pub use rule::{InvalidRule, Rule, Source, TargetSide};
pub use score::{
    Foretold, MapSmoothing, OrientationSmoothing, ScoreConfig, Scored, Significance, Smoothing, TargetKey,
};
pub use sparse::{Sparse, SparseWeights};
pub use table::{
    Count, FLAT_LABEL, Filter, Formalism, Grammar, GrammarBuilder, Limits, Meta, Precision, RuleCount,
    RuleId, RuleNotes, SourceId, WordLink,
};
pub use train::{
    FlatConfig, TextFiles, TrainConfig, Trained, TrainingFiles, TreeFormat, extract_counts, score_counts,
    train, train_flat,
};
pub use weights::Weights;
