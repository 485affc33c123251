//! Opening tables: checks checksums, sizes and bounds; nothing is copied.

use std::path::Path;
use std::sync::Arc;

use sylvan_base::{Result, Symbol, Vocab};
use sylvan_store::{Container, FrozenVocab, Name, Section};

use super::codes::{Codes, Precision};
use super::file::*;
use super::tokens::Tokens;
use super::trie::Trie;
use super::{Blocks, Grammar, Meta};
use crate::Rule;

impl Grammar {
    /// Opens a table file.
    pub fn open(path: &Path) -> Result<Self> {
        Self::from_container(Container::open(path, KIND, OLDEST..=VERSION)?)
    }

    /// Opens a table that is a section of a larger file, in place.
    pub fn inside(file: &Container, section: Name) -> Result<Self> {
        Self::from_container(file.part(section, KIND, OLDEST..=VERSION)?)
    }

    fn from_container(file: Container) -> Result<Self> {
        file.check_all()?;
        let file = Arc::new(file);
        let meta: Meta = serde_json::from_slice(file.section(META)?).map_err(|error| {
            file.bad(format!("a description that does not read ({error})"), "JSON".into())
        })?;
        let vocab = FrozenVocab::inside(&file)?;
        let hashes = Section::from_file(&file, HASHES)?;
        if hashes.len() != vocab.len() {
            return Err(file.bad(format!("{} hashes", hashes.len()), format!("{}", vocab.len())));
        }
        let features = meta.features.len();
        let codes = match meta.feature_bits {
            32 => Codes::exact(features),
            bits @ 1..=16 => {
                let values: Section<f32> = Section::from_file(&file, BOOK)?;
                let ends: Vec<usize> =
                    file.section::<u64>(BOOK_ENDS)?.iter().map(|&end| end as usize).collect();
                if ends.len() != features
                    || !ends.is_sorted()
                    || ends.last().is_some_and(|&end| end > values.len())
                {
                    return Err(file.bad("code books of other sizes".into(), format!("{features} books")));
                }
                Codes { precision: Precision::Bits(bits), features, values, ends }
            }
            other => return Err(file.bad(format!("{other} bits per value"), "1 to 16, or 32".into())),
        };
        let sources: Section<[u32; 2]> = Section::from_file(&file, SOURCES)?;
        if sources.is_empty() {
            return Err(file.bad("no end of the sources".into(), "one".into()));
        }
        let hot: Section<u8> = Section::from_file(&file, HOT)?;
        // What counts rules and makes room for them may rely on both: each rule has a byte of its own at least.
        let rules = sources.last().map_or(0, |end| end[0] as usize);
        if !sources.is_sorted_by_key(|source| source[0]) || rules > hot.len() {
            return Err(file.bad("rules that are not numbered in order".into(), "rules in order".into()));
        }
        let blocks = |starts, bytes| -> Result<Option<Blocks>> {
            if !file.has(bytes) {
                return Ok(None);
            }
            let blocks = Blocks {
                starts: Section::from_file(&file, starts)?,
                bytes: Section::from_file(&file, bytes)?,
            };
            Ok(Some(blocks))
        };
        Ok(Self {
            tokens: Tokens {
                tokens: Section::from_file(&file, TOKENS)?,
                words: Section::from_file(&file, WORDS)?,
                variables: Section::from_file(&file, VARIABLES)?,
                opens: Section::from_file(&file, OPENS)?,
            },
            trie: Trie {
                starts: Section::from_file(&file, STARTS)?,
                steps: Section::from_file(&file, STEPS)?,
            },
            sources,
            hot,
            codes,
            hashes,
            cold: blocks(COLD_STARTS, COLD)?,
            lines: blocks(LINE_STARTS, LINES)?,
            order: None,
            meta,
            file: Some((file, vocab)),
        })
    }

    /// A vocabulary that starts with the table's own, so that the same ids mean the same; empty for a grammar in
    /// memory, whose owner has its vocabulary. Read input with it, and it grows by what the table does not know.
    pub fn vocab(&self) -> Vocab {
        let mut vocab = Vocab::new();
        if let Some((_, frozen)) = &self.file {
            for index in 0..frozen.len() {
                // A damaged string must not shift the others.
                match frozen.text(Symbol(index as u32)) {
                    Some(text) if vocab.get(text).is_none() => vocab.intern(text),
                    _ => vocab.intern(&format!("\u{fffd}{index}")),
                };
            }
        }
        vocab
    }

    /// Checks a whole file: checksums, strings, and that every rule is valid.
    pub fn verify(&self) -> Result<()> {
        let Some((file, vocab)) = &self.file else { return Ok(()) };
        vocab.verify()?;
        let bad = |what: String| Err(file.bad(what, "a table whose rules all read".into()));
        for (source, rules) in self.sources() {
            let (Some(tokens), Some(mut cursor)) = (self.source(source), self.rules_at(source)) else {
                return bad(format!("source side {} that does not read", source.0));
            };
            for id in rules {
                let target = self.read_rule(&mut cursor).and_then(|rule| self.target_of(&rule));
                if target.is_none_or(|target| Rule::new(tokens.clone(), target).is_err()) {
                    return bad(format!("rule {} that is none", id.0));
                }
            }
        }
        Ok(())
    }

    /// Names and sizes in bytes of a file's sections.
    pub fn sections(&self) -> Vec<(String, u64)> {
        self.file.as_ref().map(|(file, _)| file.sections().collect()).unwrap_or_default()
    }
}
