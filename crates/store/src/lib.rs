//! Files: text that streams in, outputs that appear whole or not at all, and mapped sections.
//!
//! ```text
//! file | .gz | .zst | stdin --TextReader--> checked lines
//! lines | sections --Output--> temporary name --finish()--> final name
//! ```
//!
//! *Useful for* every crate that touches a file. *Not useful for* knowing what a line means: no format of the
//! field is known here.
//!
//! ```
//! use sylvan_store::TextReader;
//! let mut reader = TextReader::from_text("example", "one\ntwo\n");
//! assert_eq!(reader.next_line()?, Some("one"));
//! assert_eq!(reader.line_number(), 1);
//! # Ok::<(), sylvan_base::InputError>(())
//! ```

mod container;
mod heap;
mod lines;
mod map;
mod output;
mod runs;
mod same_file;
mod section;
mod text;
mod unfinished;
pub mod varint;
mod vocab;

pub use container::{Container, ContainerWriter, Name, is_container, kind_of, name};
pub use heap::ByteHeap;
pub use lines::{Lines, LinesWriter};
pub use output::Output;
pub use runs::{Feeder, Merge, Record, Scratch, ScratchFile, Sorter, radix_sort};
pub use same_file::is_same_file;
pub use section::Section;
pub use text::{TextReader, read_lines};
pub use unfinished::{Unfinished, remove_unfinished};
pub use vocab::FrozenVocab;
