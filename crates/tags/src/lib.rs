//! Inline tags: taken out of a text before it is translated, and put back by the links between its words.
//!
//! ```text
//! segment --Segment::new--> text without tags --a translator--> words, links --Segment::translated--> text with tags
//! ```
//!
//! A document is taken apart into segments by [`parts`], a file of XLIFF into units by [`xliff_units`]. *Useful for* anything that translates or aligns text with markup:
//! XLIFF, HTML, XML. *Not useful for* files of other formats.
//!
//! ```
//! use sylvan_tags::{Dialect, Segment};
//! let segment = Segment::new("the <b>red</b> house", &Dialect::Html);
//! let translated =
//!     segment.translated(&[[0, 3], [4, 7], [8, 13]], "la maison rouge", &[[0, 2], [3, 9], [10, 15]], &[(0, 0), (1, 2), (2, 1)]);
//! assert_eq!(translated.text, "la maison <b>rouge</b>");
//! ```

#![deny(missing_docs)]

mod dialect;
mod document;
mod place;
mod scan;
mod score;
mod segment;
mod write;
mod xliff;

pub use dialect::Dialect;
pub use document::parts;
pub use score::{Placement, Share};
pub use segment::Segment;
pub use write::Tagged;
pub use xliff::{Unit, xliff_units};
