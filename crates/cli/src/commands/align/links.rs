//! Reading files of links in the usual formats.

use std::path::{Path, PathBuf};

use sylvan_base::{Fault, InputError, Result};
use sylvan_corpus::{Alignment, Base};
use sylvan_store::TextReader;

/// How links are written in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum LinkFormat {
    /// `i-j` counted from 0; `ipj` for links that are only possible.
    Pharaoh,
    /// The same counted from 1, as in most hand-made sets.
    Talp,
}

impl LinkFormat {
    pub(super) fn base(self) -> Base {
        match self {
            Self::Pharaoh => Base::Zero,
            Self::Talp => Base::One,
        }
    }
}

/// Reads a file of links line by line.
pub(super) struct Links {
    reader: TextReader,
    base: Base,
}

impl Links {
    pub(super) fn open(path: &Path, base: Base) -> Result<Self> {
        Ok(Self { reader: TextReader::open(path)?, base })
    }

    pub(super) fn next(&mut self) -> Result<Option<Alignment>> {
        let parsed = match self.reader.next_line()? {
            None => return Ok(None),
            Some(line) => Alignment::parse(line, self.base),
        };
        parsed.map(Some).map_err(|fault| self.reader.locate(fault))
    }

    /// The error that this file ends before another.
    pub(super) fn ended(&self, other: &Path) -> InputError {
        let fault = Fault::new(0, "the end", format!("as many lines as in {}", other.display()))
            .advise("do the files belong together?");
        fault.at(self.reader.name(), self.reader.line_number().max(1))
    }
}

/// Reads two files line by line; they must be equally long.
pub(super) fn for_each_line(
    a: (&PathBuf, Base),
    b: (&PathBuf, Base),
    mut see: impl FnMut(Alignment, Alignment) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let (mut first, mut second) = (Links::open(a.0, a.1)?, Links::open(b.0, b.1)?);
    loop {
        match (first.next()?, second.next()?) {
            (Some(x), Some(y)) => see(x, y)?,
            (None, None) => return Ok(()),
            (None, Some(_)) => return Err(first.ended(b.0).into()),
            (Some(_), None) => return Err(second.ended(a.0).into()),
        }
    }
}
