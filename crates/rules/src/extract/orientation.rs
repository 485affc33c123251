//! How a phrase pair stands to what is translated before and after it: monotone, swapped, or neither.
//!
//! Three definitions, which differ in what counts as standing next to the pair:
//!
//! | model | the neighbour is | paper |
//! |---|---|---|
//! | word | a linked word at the corner | Koehn et al. 2005 |
//! | phrase | that, or a phrase pair within the limits of extraction | Tillmann 2004 |
//! | hier | that, or a phrase pair of any length | Galley & Manning 2008 |
//!
//! Of a pair `(s1, s2, t1, t2)`, *previous* looks at the corners `(s1, t1)` for monotone and `(s2, t1)` for swap,
//! *next* at `(s2, t2)` and `(s1, t2)`. Monotone is looked for first. Before and behind both sentences there is one
//! more link, so that the first pair is monotone after the beginning.

use super::phrases::{Linked, PhraseLimits, PhrasePair, Side};

/// How a phrase pair stands to its neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Orientation {
    /// In the same order on both sides, with nothing between.
    Mono,
    /// In the opposite order, with nothing between.
    Swap,
    /// Neither: discontinuous.
    Disc,
}

/// What counts as a neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OrientationModel {
    /// Linked words.
    #[default]
    Word,
    /// Linked words and extracted phrase pairs.
    Phrase,
    /// Linked words and phrase pairs of any length.
    Hier,
    /// The same; a decoder looks at the span translated most recently (Siahbani & Sarkar 2017).
    Recent,
}

impl OrientationModel {
    /// As files and the command line name it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Word => "word",
            Self::Phrase => "phrase",
            Self::Hier => "hier",
            Self::Recent => "recent",
        }
    }
}

/// One bit per place between source words and place between target words.
#[derive(Debug, Default)]
struct Grid {
    width: usize,
    bits: Vec<u64>,
}

impl Grid {
    fn clear(&mut self, source_len: u32, target_len: u32) {
        self.width = target_len as usize + 1;
        self.bits.clear();
        self.bits.resize(((source_len as usize + 1) * self.width).div_ceil(64), 0);
    }

    fn place(&self, s: u32, t: u32) -> (usize, u32) {
        let index = s as usize * self.width + t as usize;
        (index / 64, (index % 64) as u32)
    }

    fn set(&mut self, s: u32, t: u32) {
        let (word, bit) = self.place(s, t);
        self.bits[word] |= 1 << bit;
    }

    fn get(&self, s: u32, t: u32) -> bool {
        let (word, bit) = self.place(s, t);
        self.bits[word] >> bit & 1 == 1
    }
}

/// The corners of one sentence pair.
#[derive(Debug, Default)]
pub(super) struct Corners {
    links: Grid,
    /// Whether some phrase pair has its corner (s1,t1), (s1,t2), (s2,t1) or (s2,t2) there.
    starts: Grid,
    start_ends: Grid,
    end_starts: Grid,
    ends: Grid,
    source_len: u32,
    target_len: u32,
}

impl Corners {
    pub(super) fn set(&mut self, linked: &Linked, model: OrientationModel, limits: &PhraseLimits) {
        (self.source_len, self.target_len) = (linked.source_len(), linked.target_len());
        let Self { links, starts, start_ends, end_starts, ends, source_len, target_len } = self;
        for grid in [&mut *links, &mut *starts, &mut *start_ends, &mut *end_starts, &mut *ends] {
            grid.clear(*source_len, *target_len);
        }
        linked.all().iter().for_each(|link| links.set(link.source, link.target));
        let limits = match model {
            OrientationModel::Word => return,
            OrientationModel::Phrase => *limits,
            OrientationModel::Hier | OrientationModel::Recent => {
                PhraseLimits { source: u32::MAX, target: u32::MAX, ..*limits }
            }
        };
        linked.each_side(&limits, |s1, s2, side| match side {
            Side::Start(t1) => {
                starts.set(s1, t1);
                end_starts.set(s2, t1);
            }
            Side::End(t2) => {
                start_ends.set(s1, t2);
                ends.set(s2, t2);
            }
        });
    }

    /// A link between word `s - 1` and word `t - 1`; there is one before both sentences and one behind them.
    fn link(&self, s: u32, t: u32) -> bool {
        let at = |place: u32, length: u32| (1..=length).contains(&place).then(|| place - 1);
        match (at(s, self.source_len), at(t, self.target_len)) {
            (Some(s), Some(t)) => self.links.get(s, t),
            _ => (s, t) == (0, 0) || (s, t) == (self.source_len + 1, self.target_len + 1),
        }
    }

    fn orientation(mono: (bool, bool), swap: (bool, bool)) -> Orientation {
        match (mono.0 && !swap.0 || mono.1, swap.0 && !mono.0 || swap.1) {
            (true, _) => Orientation::Mono,
            (false, true) => Orientation::Swap,
            (false, false) => Orientation::Disc,
        }
    }

    /// Whether phrase pairs stand next to a place, with nothing between: those that are translated before it in the same
    /// order, in the opposite order, or neither, and the same of those after it.
    pub(super) fn neighbours(&self, place: &PhrasePair) -> [bool; 6] {
        let &PhrasePair { s1, s2, t1, t2 } = place;
        let first = (s1, t1) == (0, 0);
        let last = (s2, t2) == (self.source_len, self.target_len);
        let (before, swapped_before) = (first || self.ends.get(s1, t1), self.start_ends.get(s2, t1));
        let (after, swapped_after) = (last || self.starts.get(s2, t2), self.end_starts.get(s1, t2));
        let neither = |a: bool, b: bool| !a && !b;
        [
            before,
            swapped_before,
            neither(before, swapped_before),
            after,
            swapped_after,
            neither(after, swapped_after),
        ]
    }

    /// To what is translated before.
    pub(super) fn previous(&self, pair: &PhrasePair) -> Orientation {
        let &PhrasePair { s1, s2, t1, .. } = pair;
        let mono = (self.link(s1, t1), self.ends.get(s1, t1));
        Self::orientation(mono, (self.link(s2 + 1, t1), self.start_ends.get(s2, t1)))
    }

    /// To what is translated after.
    pub(super) fn next(&self, pair: &PhrasePair) -> Orientation {
        let &PhrasePair { s1, s2, t2, .. } = pair;
        let mono = (self.link(s2 + 1, t2 + 1), self.starts.get(s2, t2));
        Self::orientation(mono, (self.link(s1, t2 + 1), self.end_starts.get(s1, t2)))
    }
}
