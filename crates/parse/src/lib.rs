//! Parsers that work in time linear in the length of a sentence: parts of speech, constituents and dependencies
//! from plain words. They are trained here too, from any treebank that `sylvan-trees` reads.
//!
//! ```text
//! treebank --train--> Parser --write, open--> model file, mapped
//! words --tagger--> tags --transition system, beam--> actions --> trees, best first
//! trees, right trees --eval--> brackets, attachments
//! ```
//!
//! One machine (`machine/`) runs everything: a transition system says what a state is, which actions are legal and
//! what can be seen; the machine scores all actions of a state at once, keeps a beam of states, and learns weights as
//! an averaged structured perceptron.
//!
//! *Useful for* parsing source sentences when there is no other parser, and for evaluating trees. *Not useful for* the
//! last per cent of accuracy, which takes a neural parser and a graphics card; its trees can be read instead.
//!
//! ```
//! use sylvan_base::{Silent, Vocab};
//! use sylvan_parse::{TrainConfig, Workspace, train_constituency};
//! use sylvan_trees::{HeadRules, penn};
//!
//! let mut vocab = Vocab::new();
//! let lines = ["(S (NP (D the) (N cat)) (VP (V sleeps)))", "(S (NP (D a) (N dog)) (VP (V sees) (NP (D the) (N cat))))"];
//! let trees: Vec<_> = lines
//!     .iter()
//!     .filter_map(|line| penn::parse_line(line, penn::Brackets::Keep, &mut vocab).ok()?)
//!     .collect();
//! let (rules, config) = (HeadRules::english(), TrainConfig::default());
//! let parser = train_constituency(&trees, &[], &rules, &mut vocab, &config, &Silent, &mut |_| {})?;
//!
//! let words = ["the", "dog", "sleeps"];
//! let parsed = parser.constituents(&words, 16, 1, &mut vocab, &mut Workspace::new());
//! assert_eq!(parsed[0].tree.to_penn(&vocab), "(S (NP (D the) (N dog)) (VP (V sleeps)))");
//! # Ok::<(), sylvan_parse::TrainError>(())
//! ```

mod constituency;
mod conventions;
mod dependency;
pub mod eval;
mod forest;
mod lexicon;
mod machine;
mod model;
mod parse;
pub mod structured;
mod tagger;
mod tags;
mod train;
pub mod treebank;

pub use conventions::{Conventions, TreebankWord};
pub use dependency::system::Templates;
pub use forest::pack;
pub use model::{Kind, Parser};
pub use parse::{MergeStatistics, Parsed, ParsedDependencies, Workspace, flat};
pub use train::{News, Report, TrainConfig, TrainError, train_constituency, train_dependency, train_tagger};
