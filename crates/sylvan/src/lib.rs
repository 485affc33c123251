//! The public library: train a model file from parallel text, translate with it, see why.
//!
//! ```text
//! texts, trees or a treebank --train--> model file --Model::open--> Model --Worker--> Translated, Explanation
//! ```
//!
//! A [`Model`] is opened once and shared by any number of threads; each has a [`Worker`]. How to translate a
//! line is stated in a [`Request`]: which [`Search`], how many translations, a [`Glossary`], [`Corrections`],
//! a deadline. Programs to start from are in `examples/`: `translate`, `train`, `glossary`, `explain`.
//!
//! The items at the root of this crate are stable within a version (`tests/surface.rs` checks that). The
//! modules `decode` and `training` re-export the crates beneath, for more.
//!
//! *Useful for* everything from a notebook to the `sylvan` program. *Not useful for* printing to a terminal:
//! it reports progress through callbacks.
//!
//! ```
//! use std::{path::Path, sync::Arc};
//! use sylvan::{Model, Request, Worker};
//! let model = Arc::new(Model::open(Path::new("tests/formats/model-v1.sylvan"))?);
//! let mut worker = Worker::new(Arc::clone(&model));
//! let translated = worker.translate("下个月 我 会 见 我 的 邻居 。", &Request::default())?;
//! assert_eq!(translated.text(), "next month I will meet my neighbour .");
//! # Ok::<(), sylvan::Error>(())
//! ```

#![deny(missing_docs)]

pub use sylvan_base::{Progress, Silent};
pub use sylvan_decode::corrections::{Correction, CorrectionLog, Corrections, Pair};
pub use sylvan_decode::{
    Alternatives, Choice, Details, Dialect, Error, Explanation, Glossary, Input, Learned, Learning, Model,
    OpenOptions, Origin, Request, Result, SourceWord, Translated, Translation, Unseen, Worker,
    translate_lines, workers,
};
pub use sylvan_search::{Search, SearchName, Stop};
pub use sylvan_train::{Config, Outcome, StageReport, train};

/// Translating, in full: features, forests, derivations, model files.
pub use sylvan_decode as decode;
/// Training, in full.
pub use sylvan_train as training;
