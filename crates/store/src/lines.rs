//! Compressed lines of text with random access: for text that a model keeps to look things up in.
//!
//! ```text
//! container "lines", version 1
//! blocks  2 x u64 per block, and one more: its first line, counted from 0; where it begins in `bytes`
//! bytes   blocks, each a zstd frame of lines that end in \n
//! ```
//!
//! A block holds a few hundred lines: enough to compress well, few enough that one line costs well under a
//! millisecond. Opening compares all of it with its checksum.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sylvan_base::{InputError, Result};

use crate::container::{Container, ContainerWriter, Name, name};
use crate::section::Section;
use crate::unfinished::Unfinished;

const KIND: Name = name("lines");
const VERSION: u32 = 1;
const BLOCKS: Name = name("blocks");
const BYTES: Name = name("bytes");
/// A block ends after this many lines or bytes.
const BLOCK_LINES: u64 = 256;
const BLOCK_BYTES: usize = 1 << 20;
const LEVEL: i32 = 12;
/// No valid block is longer: it ends with the line that fills it, and that has two sides of at most
/// [`LINE_BYTES`](sylvan_base::limits::LINE_BYTES).
const MOST_BYTES: u64 = 64 << 20;

/// Writes lines. Nothing appears under the final name before [`finish`](Self::finish); blocks wait in a
/// temporary file, so that memory does not grow with the text.
#[derive(Debug)]
pub struct LinesWriter {
    path: PathBuf,
    blocks: Vec<[u64; 2]>,
    waiting: tempfile::NamedTempFile,
    _unfinished: Unfinished,
    written: u64,
    block: Vec<u8>,
    lines: u64,
}

impl LinesWriter {
    /// A file of lines.
    pub fn create(path: &Path) -> Result<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let waiting = tempfile::Builder::new().prefix(".lines").tempfile_in(folder.unwrap_or(Path::new(".")));
        let waiting = waiting.map_err(InputError::io(path, "create"))?;
        let (blocks, block) = (vec![[0, 0]], Vec::new());
        let unfinished = Unfinished::new(waiting.path());
        Ok(Self {
            path: path.to_path_buf(),
            blocks,
            waiting,
            _unfinished: unfinished,
            written: 0,
            block,
            lines: 0,
        })
    }

    /// Appends a line, which must hold no line end.
    pub fn push(&mut self, line: &str) -> Result<()> {
        debug_assert!(!line.contains('\n'), "one line");
        self.block.extend_from_slice(line.as_bytes());
        self.block.push(b'\n');
        self.lines += 1;
        let first = self.blocks.last().map_or(0, |block| block[0]);
        if self.lines - first >= BLOCK_LINES || self.block.len() >= BLOCK_BYTES {
            self.close()?;
        }
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        let packed =
            zstd::bulk::compress(&self.block, LEVEL).map_err(InputError::io(&self.path, "compress"))?;
        self.waiting.write_all(&packed).map_err(InputError::io(&self.path, "write"))?;
        self.written += packed.len() as u64;
        self.blocks.push([self.lines, self.written]);
        self.block.clear();
        Ok(())
    }

    /// Writes the file.
    pub fn finish(mut self) -> Result<()> {
        if !self.block.is_empty() {
            self.close()?;
        }
        let mut writer = ContainerWriter::create(&self.path, KIND, VERSION, 2)?;
        writer.section(BLOCKS, &self.blocks)?;
        writer.file(BYTES, self.waiting.path())?;
        writer.finish()
    }
}

/// Lines of a file, by number.
#[derive(Debug)]
pub struct Lines {
    file: Arc<Container>,
    blocks: Section<[u64; 2]>,
    bytes: Section<u8>,
}

impl Lines {
    /// Opens a file of lines.
    pub fn open(path: &Path) -> Result<Self> {
        Self::from_container(Container::open(path, KIND, VERSION..=VERSION)?)
    }

    /// Opens lines that are a section of a larger file, in place.
    pub fn inside(file: &Container, section: Name) -> Result<Self> {
        Self::from_container(file.part(section, KIND, VERSION..=VERSION)?)
    }

    fn from_container(file: Container) -> Result<Self> {
        let file = Arc::new(file);
        let blocks: Section<[u64; 2]> = Section::from_file(&file, BLOCKS)?;
        let bytes = Section::from_file(&file, BYTES)?;
        if blocks.is_empty() {
            return Err(file.bad("no end of the blocks".into(), "one".into()));
        }
        Ok(Self { file, blocks, bytes })
    }

    /// How many lines there are.
    pub fn len(&self) -> u64 {
        self.blocks.last().map_or(0, |block| block[0])
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A line, counted from 0; `None` past the last.
    pub fn get(&self, line: u64) -> Result<Option<String>> {
        if line >= self.len() {
            return Ok(None);
        }
        let block = self.blocks.partition_point(|block| block[0] <= line).saturating_sub(1);
        let text = self.block(block)?;
        // In a damaged file, blocks need not be in order.
        let nth = line.checked_sub(self.blocks[block][0]);
        let found = nth.and_then(|nth| text.lines().nth(nth as usize)).map(str::to_string);
        found.map(Some).ok_or_else(|| self.damaged("fewer lines in a block than it should have"))
    }

    /// Visits all lines in order.
    pub fn each<E: From<InputError>>(
        &self,
        mut visit: impl FnMut(&str) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        for block in 0..self.blocks.len() - 1 {
            self.block(block)?.lines().try_for_each(&mut visit)?;
        }
        Ok(())
    }

    fn block(&self, block: usize) -> Result<String> {
        let range = match (self.blocks.get(block), self.blocks.get(block + 1)) {
            (Some(&[_, start]), Some(&[_, end])) => start as usize..end as usize,
            _ => return Err(self.damaged("a block that is not there")),
        };
        let packed = self.bytes.get(range).ok_or_else(|| self.damaged("a block outside of the file"))?;
        let mut text = String::new();
        let unpacked =
            zstd::Decoder::new(packed).and_then(|decoder| decoder.take(MOST_BYTES).read_to_string(&mut text));
        unpacked.map_err(|error| self.damaged(&format!("a block that does not unpack ({error})")))?;
        Ok(text)
    }

    /// Reads everything and compares it with the checksums.
    pub fn verify(&self) -> Result<()> {
        self.file.verify()?;
        for block in 0..self.blocks.len() - 1 {
            let lines = self.blocks[block + 1][0].checked_sub(self.blocks[block][0]);
            if lines != Some(self.block(block)?.lines().count() as u64) {
                return Err(self.damaged("another number of lines in a block than it should have"));
            }
        }
        Ok(())
    }

    fn damaged(&self, found: &str) -> InputError {
        self.file.bad(found.to_string(), "the lines that were written".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sylvan_base::Rng;

    fn write(path: &Path, lines: &[String]) {
        let mut writer = LinesWriter::create(path).unwrap();
        lines.iter().for_each(|line| writer.push(line).unwrap());
        writer.finish().unwrap();
    }

    #[test]
    fn every_line_comes_back_by_its_number() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("l");
        let mut rng = Rng::new(1);
        for count in [0, 1, 255, 256, 257, 1000] {
            let line = |_| "語 ".repeat(rng.below(9));
            let mut lines: Vec<String> = (0..count).map(line).collect();
            if let Some(line) = lines.get_mut(300) {
                *line = "long ".repeat(400_000);
            }
            write(&path, &lines);
            let read = Lines::open(&path).unwrap();
            read.verify().unwrap();
            assert_eq!(read.len(), count);
            for (number, line) in lines.iter().enumerate() {
                assert_eq!(read.get(number as u64).unwrap().as_ref(), Some(line), "line {number} of {count}");
            }
            assert_eq!(read.get(count).unwrap(), None);
            let mut all = Vec::new();
            read.each(|line| {
                all.push(line.to_string());
                Ok::<(), InputError>(())
            })
            .unwrap();
            assert_eq!(all, lines);
        }
    }

    #[test]
    fn damage_is_an_error_and_never_a_panic() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("l");
        let lines: Vec<String> = (0..600).map(|number| format!("line number {number}")).collect();
        write(&path, &lines);
        let whole = std::fs::read(&path).unwrap();
        let mut rng = Rng::new(2);
        for _ in 0..150 {
            let mut bytes = whole.clone();
            let at = rng.below(bytes.len());
            bytes[at] ^= 1 << rng.below(8);
            std::fs::write(&path, &bytes).unwrap();
            let same = |read: &Lines| {
                let right = |line| read.get(line).is_ok_and(|got| got.as_ref() == lines.get(line as usize));
                (0..600).step_by(41).all(right)
            };
            assert!(
                Lines::open(&path).is_ok_and(|read| same(&read)) || Lines::open(&path).is_err(),
                "byte {at}"
            );
            // The same with the right checksums: not all lies can be found, but they do no harm.
            sylvan_testkit::seal(&mut bytes);
            std::fs::write(&path, &bytes).unwrap();
            if let Ok(read) = Lines::open(&path) {
                same(&read);
                let _ = read.verify();
            }
        }
    }
}
