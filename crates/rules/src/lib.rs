//! Tree-to-string rules: what they are, how they are learnt, how they are found again in a tree.
//!
//! ```text
//! tree, words, links --extract--> rules --RuleCounts--> Grammar (source trie, features)
//!                                                          |
//!                                     tree --apply--> TranslationForest
//! ```
//!
//! *Useful for* getting from parallel trees to a forest that a search can walk. *Not useful for* choosing
//! among translations: no language model is known here.
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

pub mod apply;
mod count;
pub mod extract;
mod grammar;
mod notation;
mod rule;
mod travatar;

pub use count::RuleCounts;
pub use grammar::{Grammar, GrammarBuilder, RuleId, SourceId, Weights};
pub use rule::{InvalidRule, Rule, Source, TargetSide};
pub use travatar::read_travatar;
