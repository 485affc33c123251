//! Ways to search, as the program's options name them: what a table says is what a user can type.

use sylvan_decode::{Error, Result};
use sylvan_search::Search;

/// A search with its options.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Way {
    /// As on the command line, without the beam: `incremental --future none`.
    pub(crate) options: String,
    pub(crate) search: Search,
}

impl Way {
    /// Reads options such as `prediction --margin inf`. A number that ends in `b` is so many times the beam.
    pub(crate) fn new(options: &str, beam: usize) -> Result<Self> {
        let search = Search::with_options(options, beam)
            .map_err(|fault| Error::setting(options, fault.to_string(), "a search and its options"))?;
        Ok(Self { options: options.to_string(), search })
    }

    pub(crate) fn beam(&self) -> usize {
        self.search.beam().0
    }
}
