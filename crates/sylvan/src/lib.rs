//! The library people use: train a model file from parallel text, translate with it, see why.
//!
//! ```text
//! texts, trees or a treebank --train--> model file --TextTranslator--> text, links, features, Explanation
//! (tree, target words, links)* --Trainer--> Model --Translator--> Translation       in memory, for tests and toys
//! ```
//!
//! To translate is to open a model ([`TextTranslator::open_with`]) and to ask it for a [`line`](TextTranslator::line),
//! for the [`nbest`](TextTranslator::nbest), or [why](TextTranslator::explain); [`add_term`](TextTranslator::add_term)
//! is a glossary. `examples/glossary.rs` is a whole program. What stands at the root of this crate keeps its shape
//! within a version (`tests/surface.rs` holds it); modules are what the `sylvan` program is made of, and may change:
//! `decoder` translates trees with rule tables and language models, `tuning` finds its weights, `model` is the file.
//!
//! *Useful for* everything from a notebook to the `sylvan` program. *Not useful for* terminals: it tells what happens
//! through callbacks.
//!
//! ```
//! use sylvan::{Search, Trainer, TrainerConfig, Translator};
//! use sylvan_corpus::{Alignment, Base};
//! let links = Alignment::parse("0-0 1-1", Base::Zero)?;
//! let mut trainer = Trainer::new(TrainerConfig::default())?;
//! trainer.add("(S (N 猫) (V 睡觉))", "cats sleep", links.sure())?;
//! trainer.add("(S (N 狗) (V 跑))", "dogs run", links.sure())?;
//! let mut model = trainer.finish()?;
//! let tree = model.read_tree("(S (N 猫) (V 跑))")?.expect("a tree");
//! let translator = Translator::new(&model);
//! let found = translator.translate(&tree, Search::default());
//! assert_eq!(found.text(&model.vocab), "cats run");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(missing_docs)]

pub mod compare;
pub mod decoder;
pub mod explain;
pub mod model;
mod ngram;
mod overlay;
pub mod report;
mod sides;
pub mod train;
mod training;
pub mod translate;
mod translator;
pub mod tuning;

pub use explain::Explanation;
pub use ngram::NgramScorer;
pub use sides::{SourceText, TargetText};
pub use training::{Model, TrainError, Trainer, TrainerConfig};
pub use translate::{
    Input, OpenConfig, Request, TextTranslator, TranslateError, TranslatedLine, TranslatedText,
};
pub use translator::{Search, Translation, Translator};
