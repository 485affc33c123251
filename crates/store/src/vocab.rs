//! The frozen vocabulary: written once, mapped back, never rebuilt.
//!
//! ```text
//! section "ends"   n x u32   where each string ends in "bytes"
//! section "bytes"            all strings, one behind the other
//! section "slots"  m x u32   open-addressing table: id + 1, 0 = free; m is a power of two, at least 2n
//! ```

use std::path::Path;

use sylvan_base::hash::content_hash;
use sylvan_base::{Id, Result, Symbol, Vocab};

use crate::container::{Container, ContainerWriter, Name, name};

const KIND: Name = name("vocab");
const VERSION: u32 = 1;
const ENDS: Name = name("ends");
const BYTES: Name = name("bytes");
const SLOTS: Name = name("slots");

/// A vocabulary in a mapped file: opening costs nothing that grows with its size.
///
/// Whatever the payload holds, no method panics or loops forever; a damaged file gives wrong answers, which
/// [`verify`](Self::verify) finds.
#[derive(Debug)]
pub struct FrozenVocab {
    container: Container,
}

impl FrozenVocab {
    /// Writes `vocab` with its ids.
    pub fn write(path: &Path, vocab: &Vocab) -> Result<()> {
        let slots = (vocab.len() * 2).next_power_of_two();
        let mut table = vec![0u32; slots];
        let mut ends = Vec::with_capacity(vocab.len());
        let mut bytes = Vec::new();
        for (symbol, text) in vocab.iter() {
            bytes.extend_from_slice(text.as_bytes());
            ends.push(bytes.len() as u32);
            let mut slot = content_hash(text.as_bytes()) as usize & (slots - 1);
            while table[slot] != 0 {
                slot = (slot + 1) & (slots - 1);
            }
            table[slot] = symbol.0 + 1;
        }
        let mut writer = ContainerWriter::create(path, KIND, VERSION, 3)?;
        writer.section(ENDS, &ends)?;
        writer.section(BYTES, &bytes)?;
        writer.section(SLOTS, &table)?;
        writer.finish()
    }

    /// Maps a vocabulary file.
    pub fn open(path: &Path) -> Result<Self> {
        let frozen = Self { container: Container::open(path, KIND, VERSION..=VERSION)? };
        let strings = frozen.container.section::<u32>(ENDS)?.len();
        frozen.container.section::<u8>(BYTES)?;
        let slots = frozen.container.section::<u32>(SLOTS)?.len();
        if !slots.is_power_of_two() || slots < strings {
            let expected = "a power of two that is not below the number of strings".into();
            return Err(frozen.container.bad(format!("{slots} slots"), expected));
        }
        Ok(frozen)
    }

    /// Checks the whole file.
    pub fn verify(&self) -> Result<()> {
        self.container.verify()
    }

    /// How many strings there are.
    pub fn len(&self) -> usize {
        self.numbers(ENDS).len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The string of an id; `None` out of range or where the file is damaged.
    pub fn text(&self, symbol: Symbol) -> Option<&str> {
        let ends = self.numbers(ENDS);
        let end = *ends.get(symbol.index())? as usize;
        let start = if symbol.0 == 0 { 0 } else { ends[symbol.index() - 1] as usize };
        let bytes = self.container.section::<u8>(BYTES).ok()?.get(start..end)?;
        std::str::from_utf8(bytes).ok()
    }

    /// The id of a string.
    pub fn get(&self, text: &str) -> Option<Symbol> {
        let slots = self.numbers(SLOTS);
        let mask = slots.len() - 1;
        let mut at = content_hash(text.as_bytes()) as usize & mask;
        // At most one round, even if a damaged table has no free slot.
        for _ in 0..slots.len() {
            let symbol = Symbol(slots[at].checked_sub(1)?);
            if self.text(symbol) == Some(text) {
                return Some(symbol);
            }
            at = (at + 1) & mask;
        }
        None
    }

    fn numbers(&self, section: Name) -> &[u32] {
        self.container.section(section).unwrap_or(&[])
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
    fn damaged_files_give_errors_or_wrong_answers_but_no_panic_and_no_endless_loop() {
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
