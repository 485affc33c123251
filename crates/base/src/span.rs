//! Half-open ranges of word positions.

use std::fmt;

/// The positions `start..end` of a sentence, 0-based.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// First position.
    pub start: u32,
    /// One past the last position.
    pub end: u32,
}

impl Span {
    /// The span `start..end`.
    #[inline]
    pub fn new(start: usize, end: usize) -> Self {
        debug_assert!(start <= end);
        Self { start: start as u32, end: end as u32 }
    }

    /// How many positions it covers.
    #[inline]
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether it covers nothing.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Whether it covers `position`.
    #[inline]
    pub fn contains(self, position: usize) -> bool {
        (self.start as usize) <= position && position < self.end as usize
    }

    /// Whether it covers all of another.
    #[inline]
    pub fn covers(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// As a range of indices.
    #[inline]
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{},{})", self.start, self.end)
    }
}
