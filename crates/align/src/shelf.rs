//! Small numbers by portion of the text, in memory or in a scratch file: links, and sums of their probabilities.
//!
//! To change them, take a portion off, put it back, and after the last portion turn the shelf, so that a
//! file is only ever written from beginning to end. In files, runs of zeros take two bytes and other
//! numbers one to three, as most of them are zero or small.

use std::sync::Arc;

use sylvan_base::Result;
use sylvan_store::varint::{Cursor, put};
use sylvan_store::{Scratch, ScratchFile};

/// Numbers by portion.
#[derive(Debug)]
pub(crate) enum Shelf {
    Memory(Vec<Vec<u16>>),
    File(Filed),
}

#[derive(Debug)]
pub(crate) struct Filed {
    scratch: Arc<Scratch>,
    old: Coded,
    new: Coded,
    bytes: Vec<u8>,
}

#[derive(Debug)]
struct Coded {
    file: ScratchFile,
    /// Where each portion is, and how many bytes it has.
    places: Vec<(u64, usize)>,
}

impl Shelf {
    /// An empty shelf in memory, or in a file of the scratch folder.
    pub(crate) fn new(portions: usize, scratch: Option<&Arc<Scratch>>) -> Self {
        match scratch {
            None => Self::Memory(vec![Vec::new(); portions]),
            Some(scratch) => {
                let coded = || Coded { file: scratch.file(), places: Vec::new() };
                Self::File(Filed {
                    scratch: Arc::clone(scratch),
                    old: coded(),
                    new: coded(),
                    bytes: Vec::new(),
                })
            }
        }
    }

    /// Takes a portion's numbers off; none if there never were any.
    pub(crate) fn take(&mut self, portion: usize, out: &mut Vec<u16>) -> Result<()> {
        out.clear();
        match self {
            Self::Memory(portions) => std::mem::swap(out, &mut portions[portion]),
            Self::File(filed) => filed.old.read(portion, &mut filed.bytes, out)?,
        }
        Ok(())
    }

    /// Puts a portion's numbers back; portions come in order.
    pub(crate) fn put(&mut self, portion: usize, values: &mut Vec<u16>) -> Result<()> {
        match self {
            Self::Memory(portions) => std::mem::swap(values, &mut portions[portion]),
            Self::File(filed) => {
                filed.bytes.clear();
                encode(values, &mut filed.bytes);
                let at = filed.new.file.append(&filed.bytes)?;
                debug_assert_eq!(filed.new.places.len(), portion);
                filed.new.places.push((at, filed.bytes.len()));
            }
        }
        Ok(())
    }

    /// After the last portion was put back.
    pub(crate) fn turn(&mut self) {
        if let Self::File(Filed { scratch, old, new, .. }) = self {
            *old = std::mem::replace(new, Coded { file: scratch.file(), places: Vec::new() });
        }
    }

    /// A portion's numbers; `spare` is for what has to be read.
    pub(crate) fn get<'a>(&'a self, portion: usize, spare: &'a mut Vec<u16>) -> Result<&'a [u16]> {
        match self {
            Self::Memory(portions) => Ok(&portions[portion]),
            Self::File(filed) => {
                spare.clear();
                filed.old.read(portion, &mut Vec::new(), spare)?;
                Ok(spare)
            }
        }
    }

    /// Adds another shelf's numbers, of the same count; an empty shelf takes them over.
    pub(crate) fn add(&mut self, mut other: Self, portions: usize) -> Result<()> {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for portion in 0..portions {
            self.take(portion, &mut ours)?;
            other.take(portion, &mut theirs)?;
            if ours.is_empty() {
                std::mem::swap(&mut ours, &mut theirs);
            }
            for (a, &b) in ours.iter_mut().zip(&theirs) {
                *a = a.saturating_add(b);
            }
            self.put(portion, &mut ours)?;
        }
        self.turn();
        Ok(())
    }
}

impl Coded {
    fn read(&self, portion: usize, bytes: &mut Vec<u8>, out: &mut Vec<u16>) -> Result<()> {
        if let Some(&(at, len)) = self.places.get(portion) {
            bytes.clear();
            bytes.resize(len, 0);
            self.file.read(at, bytes)?;
            decode(bytes, out);
        }
        Ok(())
    }
}

/// A number that is not zero is written as a varint; a zero byte and a count, written likewise, stand for that many
/// zeros.
fn encode(values: &[u16], bytes: &mut Vec<u8>) {
    let mut zeros = 0;
    for &value in values {
        if value == 0 {
            zeros += 1;
            continue;
        }
        if zeros > 0 {
            bytes.push(0);
            put(bytes, zeros);
            zeros = 0;
        }
        put(bytes, u64::from(value));
    }
    if zeros > 0 {
        bytes.push(0);
        put(bytes, zeros);
    }
}

fn decode(bytes: &[u8], out: &mut Vec<u16>) {
    let mut cursor = Cursor::new(bytes, 0);
    while let Some(value) = cursor.number() {
        if value == 0 {
            let zeros = cursor.number().unwrap_or(0);
            out.resize(out.len() + zeros as usize, 0);
        } else {
            out.push(value as u16);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn files_give_back_what_memory_gives_back(
            portions in proptest::collection::vec(
                proptest::collection::vec(prop_oneof![3 => Just(0u16), 1 => 1u16..200, 1 => any::<u16>()], 0..400),
                0..5,
            ),
            sweeps in 1u16..4,
        ) {
            let scratch = Scratch::new(&std::env::temp_dir());
            let mut shelves = [Shelf::new(portions.len(), None), Shelf::new(portions.len(), Some(&scratch))];
            for sweep in 0..sweeps {
                for shelf in &mut shelves {
                    let mut values = Vec::new();
                    for (at, wanted) in portions.iter().enumerate() {
                        shelf.take(at, &mut values).unwrap();
                        values.resize(wanted.len(), 0);
                        for (value, &more) in values.iter_mut().zip(wanted) {
                            *value = value.wrapping_add(more.wrapping_mul(sweep + 1));
                        }
                        shelf.put(at, &mut values).unwrap();
                    }
                    shelf.turn();
                }
            }
            let [memory, mut file] = shelves;
            let (mut a, mut b) = (Vec::new(), Vec::new());
            for at in 0..portions.len() {
                prop_assert_eq!(memory.get(at, &mut a).unwrap(), file.get(at, &mut b).unwrap());
            }
            file.add(memory, portions.len()).unwrap();
            let factor: u16 = (1..=sweeps).sum();
            for (at, wanted) in portions.iter().enumerate() {
                let doubled: Vec<u16> =
                    wanted.iter().map(|v| v.wrapping_mul(factor)).map(|v| v.saturating_add(v)).collect();
                prop_assert_eq!(file.get(at, &mut b).unwrap(), doubled.as_slice());
            }
        }
    }
}
