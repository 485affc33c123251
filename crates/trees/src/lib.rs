//! Source trees and packed forests: what they are, how they are read, written and turned into one another.
//!
//! ```text
//! (S (NP he) (VP sees her))  --penn-->    Tree          --binarise, CleanUp-->    Tree
//! 1 he ... 2 nsubj           --conllu-->  Dependencies  --heads, convert-->       Tree, and back
//! NP[0,0] => he ||| -0.1     --egret-->   PackedForest  --best, trees-->          Tree
//! ```
//!
//! *Useful for* everything that needs to know the syntax of the source sentence. *Not useful for* parsing (trees
//! come from a parser's output or a treebank), for rules and for translation forests, which have their own crates.
//!
//! ```
//! use sylvan_base::Vocab;
//! use sylvan_trees::{CleanUp, penn};
//!
//! let mut vocab = Vocab::new();
//! let line = "( (S (NP-SBJ (PRP he)) (VP (VBZ sleeps) (NP (-NONE- *T*-1)))) )";
//! let tree = penn::parse_line(line, penn::Brackets::Keep, &mut vocab).unwrap().unwrap();
//! let tree = CleanUp::standard().apply(tree, &mut vocab).unwrap();
//! assert_eq!(tree.to_penn(&vocab), "(S (NP (PRP he)) (VP (VBZ sleeps)))");
//! assert_eq!(vocab.join(tree.words()), "he sleeps");
//! ```

mod binarise;
mod block;
mod brackets;
mod clean_up;
pub mod conllu;
mod convert;
mod dependency;
pub mod egret;
mod forest;
mod heads;
mod join;
pub mod penn;
mod projective;
mod statistics;
mod tree;

pub use binarise::{Direction, binarise, binarise_forest, unbinarise};
pub use block::BlockFault;
pub use brackets::{escape, surface, unescape};
pub use clean_up::{CleanUp, EmptyCategories, FunctionTags, Root, Unaries};
pub use conllu::ConlluReader;
pub use convert::{Phrases, Tags, to_constituents, to_dependencies};
pub use dependency::{DependencyError, DependencyTree, DependencyWord, Dependents, ExtraLine, Head};
pub use egret::EgretReader;
pub use forest::{EdgeId, ForestEdge, ForestError, PackedForest};
pub use heads::{HeadRules, Heads};
pub use join::join;
pub use penn::{PennOptions, PennReader};
pub use projective::projective;
pub use statistics::Statistics;
pub use tree::{BuildError, Child, NodeId, Step, Tree, TreeBuilder};
