//! Reading formats whose unit is a block of several lines.
//!
//! The lines of a block are gathered in one string, so that its parser is a function of text and can still name
//! the line and column of a mistake that shows only at the end, such as a cycle.

use sylvan_base::limits::BLOCK_BYTES;
use sylvan_base::{Fault, InputError, Result};
use sylvan_store::TextReader;

/// A fault in a block of lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockFault {
    /// The 0-based line of the block.
    pub line: usize,
    /// What is wrong there.
    pub fault: Fault,
}

impl BlockFault {
    /// Adds the place: the file, and the 1-based line where the block begins.
    pub fn at(self, file: impl Into<String>, first_line: u64) -> InputError {
        self.fault.at(file, first_line + self.line as u64)
    }
}

/// Gathers blocks of lines from a text. Blank lines end a block.
#[derive(Debug)]
pub(crate) struct Block {
    text: TextReader,
    lines: String,
    first: u64,
    /// The last block broke off at a line that is not text: the rest of it is skipped.
    broken: bool,
}

impl Block {
    pub(crate) fn new(text: TextReader) -> Self {
        Self { text, lines: String::new(), first: 0, broken: false }
    }

    /// Gathers the next block; false at the end of the text. Its first `header` lines may be blank, except the
    /// very first.
    pub(crate) fn advance(&mut self, header: usize) -> Result<bool> {
        self.lines.clear();
        let mut count = 0;
        loop {
            let line = match self.text.next_line() {
                Ok(line) => line,
                Err(error) => {
                    self.broken = true;
                    return Err(error);
                }
            };
            let Some(line) = line else { return Ok(count > 0) };
            let blank = line.trim_ascii().is_empty();
            if self.broken {
                self.broken = !blank;
                continue;
            }
            if blank && count == 0 {
                continue;
            }
            if blank && count >= header {
                return Ok(true);
            }
            if self.lines.len() + line.len() > BLOCK_BYTES {
                self.broken = true;
                let found = format!("more than {BLOCK_BYTES} bytes without a blank line");
                let fault = Fault::new(0, found, "a blank line after each sentence");
                return Err(self.text.locate(fault));
            }
            self.lines.push_str(line);
            self.lines.push('\n');
            count += 1;
            if count == 1 {
                self.first = self.text.line_number();
            }
        }
    }

    /// The block, each line with its line break.
    pub(crate) fn text(&self) -> &str {
        &self.lines
    }

    /// The line where the block began.
    pub(crate) fn first_line(&self) -> u64 {
        self.first
    }

    /// The file name for messages.
    pub(crate) fn name(&self) -> &str {
        self.text.name()
    }

    /// Adds the place to a fault of this block.
    pub(crate) fn locate(&self, fault: BlockFault) -> InputError {
        fault.at(self.text.name(), self.first)
    }
}
