//! A small encoder-decoder network that says how probable a translation is, trained on a processor.
//!
//! ```text
//! two texts --Units::learn--> units --train--> NeuralModel (a file) --Reader--> Histories --> logarithms of probabilities
//! ```
//!
//! The encoder reads the source by attention (Vaswani et al. 2017), the decoder remembers what it has said in the cells of
//! a recurrence (Kim et al. 2019), so that a search can keep thousands of histories of a few vectors each. Everything is
//! computed in one fixed order, whatever the processor, the number of threads and what is computed beside it: training
//! gives the same bytes everywhere, and a history scored alone has the scores that it has among others.
//!
//! *Useful for* choosing among translations that rules allow, and for looking at what a network of this size knows.
//! *Not useful for* large texts: a billion words want other machines.
//!
//! ```
//! use std::sync::Arc;
//! use sylvan_neural::{NeuralModel, Reader, Size, Units};
//! let units = || Units::learn([("uno", 3), ("duo", 2)], 20);
//! let size = Size { width: 8, inner: 16, heads: 2, encoder: 1, decoder: 1 };
//! let reader = Arc::new(Reader::new(Arc::new(NeuralModel::untrained(size, [units(), units()], 1))));
//! let said = reader.score("uno duo", "duo uno");
//! assert_eq!(said.len(), 3, "two words and the end of the sentence");
//! ```

mod file;
mod functions;
mod kernel;
mod network;
mod parameters;
mod reader;
mod tape;
#[cfg(test)]
mod tests;
pub mod train;
mod units;

pub use file::{KIND, NeuralModel};
pub use network::Size;
pub use reader::{Histories, History, Reader};
pub use units::{END, UNKNOWN, UnitId, Units};
