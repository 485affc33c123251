//! Some consecutive pairs of a text, borrowed from memory or read from the scratch file.

use std::borrow::Cow;

use crate::side::Side;

/// Some consecutive pairs of a text.
#[derive(Debug)]
pub struct Portion<'a> {
    first: usize,
    lines: Cow<'a, [u32]>,
    source: Part<'a>,
    target: Part<'a>,
}

/// One side of a portion.
#[derive(Debug)]
pub(crate) struct Part<'a> {
    words: Cow<'a, [u32]>,
    /// Where each sentence ends, counted from somewhere.
    ends: Cow<'a, [u32]>,
    /// Where the first one starts, counted likewise.
    origin: u32,
}

impl<'a> Part<'a> {
    pub(crate) fn borrowed(words: &'a [u32], ends: &'a [u32], origin: u32) -> Self {
        Self { words: Cow::Borrowed(words), ends: Cow::Borrowed(ends), origin }
    }

    fn range(&self, index: usize) -> std::ops::Range<usize> {
        let start = if index == 0 { self.origin } else { self.ends[index - 1] };
        (start - self.origin) as usize..(self.ends[index] - self.origin) as usize
    }
}

impl<'a> Portion<'a> {
    pub(crate) fn new(first: usize, lines: &'a [u32], source: Part<'a>, target: Part<'a>) -> Self {
        Self { first, lines: Cow::Borrowed(lines), source, target }
    }

    /// The number of its first pair.
    pub fn first(&self) -> usize {
        self.first
    }

    /// How many pairs it has.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The 0-based input lines of its pairs.
    pub fn lines(&self) -> &[u32] {
        &self.lines
    }

    /// The words of a pair's side, as numbers of the text's vocabulary. Pairs count from the first one of the
    /// portion.
    pub fn words(&self, side: Side, index: usize) -> &[u32] {
        let part = self.part(side);
        &part.words[part.range(index)]
    }

    /// All words of a side.
    pub(crate) fn all(&self, side: Side) -> &[u32] {
        &self.part(side).words
    }

    /// How many pairs of tokens a pair has.
    pub(crate) fn cells(&self, index: usize) -> usize {
        self.source.range(index).len() * self.target.range(index).len()
    }

    /// How many pairs of tokens all pairs have.
    pub(crate) fn all_cells(&self) -> usize {
        (0..self.len()).map(|index| self.cells(index)).sum()
    }

    fn part(&self, side: Side) -> &Part<'a> {
        match side {
            Side::Source => &self.source,
            Side::Target => &self.target,
        }
    }

    /// The form in a scratch file: lines, ends of both sides, words of both sides.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut put = |number: u32| bytes.extend(number.to_le_bytes());
        self.lines.iter().for_each(|&line| put(line));
        for part in [&self.source, &self.target] {
            part.ends.iter().for_each(|&end| put(end - part.origin));
        }
        for part in [&self.source, &self.target] {
            part.words.iter().for_each(|&word| put(word));
        }
        bytes
    }

    /// Reads what [`Self::to_bytes`] wrote, with `len` pairs.
    pub(crate) fn from_bytes(first: usize, len: usize, bytes: &[u8]) -> Portion<'static> {
        let mut numbers = bytes.as_chunks::<4>().0.iter().map(|&number| u32::from_le_bytes(number));
        let mut next = |count: usize| -> Vec<u32> { numbers.by_ref().take(count).collect() };
        let (lines, source_ends, target_ends) = (next(len), next(len), next(len));
        let mut part = |ends: Vec<u32>| {
            let words = next(ends.last().map_or(0, |&end| end as usize));
            Part { words: Cow::Owned(words), ends: Cow::Owned(ends), origin: 0 }
        };
        let (source, target) = (part(source_ends), part(target_ends));
        Portion { first, lines: Cow::Owned(lines), source, target }
    }
}
