//! Translating with a model: sentences go in, translations come out with all that is known about them.
//!
//! ```text
//! model file --Model::open--> Model --Arc--> Worker --translate--> Translated (text, words, spans, links, features)
//!                                                `----explain---> Explanation (why)
//! ```
//!
//! A [`Model`] is opened once, never changes and is shared by all threads; each thread has a [`Worker`]. What
//! a caller wants is in the [`Request`]: search, glossary, corrections, how much detail, a deadline. A
//! worker's earlier requests never change a result.
//!
//! *Useful for* everything that translates: the program, a server, a notebook. *Not useful for* making models, which is
//! `sylvan-train`.

#![deny(missing_docs)]

pub mod alternatives;
pub mod choices;
pub mod compare;
pub mod corrections;
mod error;
pub mod explain;
pub mod features;
pub mod file;
pub mod glossary;
mod hypotheses;
mod json;
pub mod learning;
pub mod lines;
mod model;
mod models;
mod own;
mod reading;
mod sentence;
mod source_text;
mod target_text;
mod translate;
mod unseen;
mod worker;

pub use alternatives::Alternatives;
pub use choices::Choice;
pub use error::{Error, Result};
pub use explain::Explanation;
pub use glossary::Glossary;
pub use hypotheses::{Hypothesis, List};
pub use json::forest_json;
pub use learning::{Learned, Learning};
pub use model::{Model, OpenOptions};
pub use models::Ngram;
pub use models::structured::{Parsing, Structured};
pub use reading::{Input, Unread};
pub use sentence::{Sentence, Syntax};
pub use source_text::{SourceText, SourceWord, tokenizer};
pub use sylvan_tags::Dialect;
pub use target_text::{Composed, TargetText};
pub use translate::{Details, Origin, Request, Translated, Translation, translate_lines, workers};
pub use unseen::Unseen;
pub use worker::{Decoded, Derived, RuleKind, SentenceForest, With, Worker};
