//! Parallel text: files whose lines belong together, word alignments, and what is wrong with a corpus.
//!
//! ```text
//! a.en, a.ja, a.align --ParallelReader--> ["the cat", "猫", "1-0"] line by line
//! "0-0 1p2" --Alignment::parse--> sure and possible links --Display--> "0-0 1p2"
//! lines --check::Checker--> "line 7: duplicate", ...
//! ```
//!
//! *Useful for* everything that reads training or test text. *Not useful for* trees and rules, which have their
//! own readers, or for finding out which lines belong together: here line `i` belongs to line `i`.
//!
//! ```
//! use sylvan_corpus::{Alignment, Base, ParallelReader};
//! use sylvan_store::TextReader;
//! let files = [("a.en", "the cat\n"), ("a.de", "die Katze\n"), ("a.align", "1-1 0-0\n")];
//! let readers = files.map(|(name, text)| TextReader::from_text(name, text));
//! let mut reader = ParallelReader::new(readers.into());
//! while let Some(lines) = reader.next_lines()? {
//!     let alignment = Alignment::parse(&lines[2], Base::Zero).expect("two links");
//!     assert_eq!(alignment.to_string(), "0-0 1-1");
//! }
//! # Ok::<(), sylvan_base::InputError>(())
//! ```

mod alignment;
pub mod check;
mod parallel;

pub use alignment::{Alignment, Base, Link};
pub use parallel::{ParallelReader, split_pair};
