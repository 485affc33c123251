//! The frozen vocabulary: written once, mapped back, never rebuilt.
//!
//! ```text
//! section "ends"   n x u32   where each string ends in "bytes"
//! section "bytes"            all strings, one after the other
//! section "slots"  m x u32   open-addressing table: id + 1, 0 = free; m is a power of two, at least 2n
//! ```

use std::path::Path;
use std::sync::Arc;

use sylvan_base::hash::content_hash;
use sylvan_base::{Id, Result, Symbol, Vocab};

use crate::container::{Container, ContainerWriter, Name, name};
use crate::section::Section;

const KIND: Name = name("vocab");
const VERSION: u32 = 1;
const ENDS: Name = name("ends");
const BYTES: Name = name("bytes");
const SLOTS: Name = name("slots");

/// A vocabulary in a mapped file: opening compares it with its checksums and copies nothing.
///
/// It is a file of its own or a part of a larger one. Whatever the payload holds, no method panics or loops
/// forever: a file that was made wrong and has the right sums gives wrong answers, which
/// [`verify`](Self::verify) finds.
#[derive(Debug, Clone)]
pub struct FrozenVocab {
    container: Arc<Container>,
    ends: Section<u32>,
    bytes: Section<u8>,
    slots: Section<u32>,
}

impl FrozenVocab {
    /// How many sections [`append`](Self::append) writes.
    pub const SECTIONS: usize = 3;

    /// Writes `vocab` with its ids as a file of its own.
    pub fn write(path: &Path, vocab: &Vocab) -> Result<()> {
        let mut writer = ContainerWriter::create(path, KIND, VERSION, Self::SECTIONS)?;
        Self::append(&mut writer, vocab.len(), vocab.iter().map(|(_, text)| text))?;
        writer.finish()
    }

    /// Writes strings, which must differ from each other, as sections of a larger file. Their ids are their
    /// positions; `count` is how many there are.
    pub fn append<'a>(
        writer: &mut ContainerWriter,
        count: usize,
        strings: impl Iterator<Item = &'a str>,
    ) -> Result<()> {
        let slots = (count * 2).next_power_of_two();
        let mut table = vec![0u32; slots];
        let mut ends = Vec::with_capacity(count);
        let mut bytes = Vec::new();
        for (text, id) in strings.take(count).zip(1u32..) {
            bytes.extend_from_slice(text.as_bytes());
            ends.push(bytes.len() as u32);
            let mut slot = content_hash(text.as_bytes()) as usize & (slots - 1);
            while table[slot] != 0 {
                slot = (slot + 1) & (slots - 1);
            }
            table[slot] = id;
        }
        writer.section(ENDS, &ends)?;
        writer.section(BYTES, &bytes)?;
        writer.section(SLOTS, &table)
    }

    /// Maps a vocabulary file.
    pub fn open(path: &Path) -> Result<Self> {
        Self::inside(&Arc::new(Container::open(path, KIND, VERSION..=VERSION)?))
    }

    /// The vocabulary that is a part of this file.
    pub fn inside(container: &Arc<Container>) -> Result<Self> {
        let ends = Section::from_file(container, ENDS)?;
        let bytes = Section::from_file(container, BYTES)?;
        let slots = Section::from_file(container, SLOTS)?;
        if !slots.len().is_power_of_two() || slots.len() < ends.len() {
            let expected = "a power of two that is not below the number of strings".into();
            return Err(container.bad(format!("{} slots", slots.len()), expected));
        }
        Ok(Self { container: Arc::clone(container), ends, bytes, slots })
    }

    /// Checks the whole file: its checksums, and that every string is found under its own id.
    pub fn verify(&self) -> Result<()> {
        self.container.verify()?;
        for index in 0..self.len() {
            let symbol = Symbol::from_index(index);
            if self.text(symbol).and_then(|text| self.get(text)) != Some(symbol) {
                let found = format!("string {index} that cannot be found");
                return Err(self.container.bad(found, "each string in the table".into()));
            }
        }
        Ok(())
    }

    /// How many strings there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The string of an id; `None` out of range or where the file is damaged.
    pub fn text(&self, symbol: Symbol) -> Option<&str> {
        let end = *self.ends.get(symbol.index())? as usize;
        let start = if symbol.0 == 0 { 0 } else { self.ends[symbol.index() - 1] as usize };
        std::str::from_utf8(self.bytes.get(start..end)?).ok()
    }

    /// The id of a string.
    pub fn get(&self, text: &str) -> Option<Symbol> {
        let mask = self.slots.len() - 1;
        let mut at = content_hash(text.as_bytes()) as usize & mask;
        // At most one round, even if a damaged table has no free slot.
        for _ in 0..self.slots.len() {
            let symbol = Symbol(self.slots[at].checked_sub(1)?);
            if self.text(symbol) == Some(text) {
                return Some(symbol);
            }
            at = (at + 1) & mask;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sylvan_base::Rng;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn the_frozen_vocabulary_answers_like_the_growing_one(words in prop::collection::vec(".{0,6}", 0..100)) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("v");
            let vocab = Vocab::of(words.iter().map(String::as_str));
            FrozenVocab::write(&path, &vocab).unwrap();
            let frozen = FrozenVocab::open(&path).unwrap();
            frozen.verify().unwrap();
            prop_assert_eq!(frozen.len(), vocab.len());
            for (symbol, text) in vocab.iter() {
                prop_assert_eq!(frozen.text(symbol), Some(text));
                prop_assert_eq!(frozen.get(text), Some(symbol));
            }
            prop_assert_eq!(frozen.get("not a word of it"), None);
            prop_assert_eq!(frozen.text(Symbol(vocab.len() as u32)), None);
        }
    }

    #[test]
    fn lies_give_errors_or_wrong_answers_but_no_panic_and_no_endless_loop() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("v");
        let words: Vec<String> = (0..50).map(|i| format!("w{i}")).collect();
        FrozenVocab::write(&path, &Vocab::of(words.iter().map(String::as_str))).unwrap();
        let good = std::fs::read(&path).unwrap();
        let mut rng = Rng::new(3);
        for _ in 0..500 {
            let mut bad = good.clone();
            for _ in 0..1 + rng.below(40) {
                let at = 160 + rng.below(bad.len() - 160);
                bad[at] = rng.next_u64() as u8;
            }
            std::fs::write(&path, &bad).unwrap();
            // What is accepted differs between sections only.
            assert!(FrozenVocab::open(&path).is_err() || FrozenVocab::open(&path).unwrap().verify().is_ok());
            sylvan_testkit::seal(&mut bad);
            std::fs::write(&path, &bad).unwrap();
            if let Ok(frozen) = FrozenVocab::open(&path) {
                for word in &words {
                    frozen.get(word);
                }
                for index in 0..60 {
                    frozen.text(Symbol(index));
                }
            }
        }
    }
}
