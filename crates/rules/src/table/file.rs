//! Writing tables: the container kind `rules` (docs/formats/rules.md).

use std::path::Path;

use sylvan_base::hash::content_hash;
use sylvan_base::{InputError, Result, Vocab};
use sylvan_store::{ContainerWriter, FrozenVocab, Name, name};

use super::build::TableBuilder;
use super::codes::Precision;
use super::meta::Meta;
use super::tokens::TokenInterner;

pub(super) const KIND: Name = name("rules");
pub(super) const VERSION: u32 = 2;
/// Version 1 does not say how words are written.
pub(super) const OLDEST: u32 = 1;
pub(super) const META: Name = name("meta");
pub(super) const HASHES: Name = name("hashes");
pub(super) const TOKENS: Name = name("tokens");
pub(super) const WORDS: Name = name("words");
pub(super) const VARIABLES: Name = name("vars");
pub(super) const OPENS: Name = name("opens");
pub(super) const STARTS: Name = name("starts");
pub(super) const STEPS: Name = name("steps");
pub(super) const SOURCES: Name = name("sources");
pub(super) const HOT: Name = name("hot");
pub(super) const COLD: Name = name("cold");
pub(super) const COLD_STARTS: Name = name("coldat");
pub(super) const LINES: Name = name("lines");
pub(super) const LINE_STARTS: Name = name("linesat");
pub(super) const BOOK: Name = name("book");
pub(super) const BOOK_ENDS: Name = name("bookends");

/// What a table file is made of.
pub(crate) struct TableFile<'a> {
    pub(crate) meta: Meta,
    pub(crate) tokens: &'a TokenInterner,
    pub(crate) vocab: &'a Vocab,
    pub(crate) table: TableBuilder,
}

impl TableFile<'_> {
    /// Writes the file.
    pub(crate) fn write(self, path: &Path) -> Result<()> {
        let Self { mut meta, tokens, vocab, mut table } = self;
        if !table.close()? {
            return Err(InputError::Format {
                path: path.to_path_buf(),
                found: "rules that take more than 4 GiB".into(),
                expected: "a table that 32-bit offsets reach".into(),
                advice: "keep fewer rules: lower the limits or the number of targets per source".into(),
            });
        }
        let mut writer = ContainerWriter::create(path, KIND, VERSION, 19)?;
        meta.feature_bits = match table.codes().precision {
            Precision::Exact => 32,
            Precision::Bits(bits) => bits,
        };
        let json = serde_json::to_vec_pretty(&meta).expect("strings and numbers can be written as JSON");
        writer.section(META, &json)?;
        FrozenVocab::append(&mut writer, vocab.len(), vocab.iter().map(|(_, text)| text))?;
        let hashes: Vec<u64> = vocab.iter().map(|(_, text)| content_hash(text.as_bytes())).collect();
        writer.section(HASHES, &hashes)?;
        let frozen = tokens.freeze();
        writer.section(TOKENS, &frozen.tokens)?;
        writer.section(WORDS, &frozen.words)?;
        writer.section(VARIABLES, &frozen.variables)?;
        writer.section(OPENS, &frozen.opens)?;
        let (starts, steps) = table.take_trie();
        writer.section(STARTS, &starts)?;
        writer.section(STEPS, &steps)?;
        drop((starts, steps));
        writer.section(SOURCES, &table.sources)?;
        writer.heap(HOT, &table.hot)?;
        if table.codes().precision != Precision::Exact {
            let ends: Vec<u64> = table.codes().ends.iter().map(|&end| end as u64).collect();
            writer.section(BOOK, &table.codes().values)?;
            writer.section(BOOK_ENDS, &ends)?;
        }
        if table.has_cold {
            writer.section(COLD_STARTS, &table.cold_starts)?;
            writer.heap(COLD, &table.cold)?;
        }
        if table.has_lines {
            writer.section(LINE_STARTS, &table.line_starts)?;
            writer.heap(LINES, &table.lines)?;
        }
        writer.finish()
    }
}
