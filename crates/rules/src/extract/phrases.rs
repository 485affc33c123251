//! Phrase pairs that are consistent with links (Koehn, Och & Marcu 2003): what phrases and Hiero rules start from.
//!
//! ```text
//! (s1, s2, t1, t2)  source words s1..s2 and target words t1..t2 with at least one link between them and no
//!                   link from inside one side to outside the other
//! core              the target range of a source range that is consistent and begins and ends with linked words
//! ```
//!
//! *Consistency in constant time*: the links from `s1..s2` into its core are all of its links, so the range is
//! consistent exactly if they are as many as there are links into the core at all. Every consistent pair is a core
//! extended over unlinked target words, so no pair of ranges is looked at twice.

use sylvan_corpus::Link;

use super::LinkOutOfRange;

/// A phrase pair by its place: source words `s1..s2`, target words `t1..t2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PhrasePair {
    /// The first source word.
    pub s1: u32,
    /// Behind the last source word.
    pub s2: u32,
    /// The first target word.
    pub t1: u32,
    /// Behind the last target word.
    pub t2: u32,
}

impl PhrasePair {
    /// How many source words it has.
    pub fn source_len(&self) -> u32 {
        self.s2 - self.s1
    }

    /// How many target words it has.
    pub fn target_len(&self) -> u32 {
        self.t2 - self.t1
    }
}

/// Whether phrases may begin or end with words that have no link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Boundary {
    /// They may not, on either side: of several pairs with the same links the smallest.
    Tight,
    /// They may.
    Loose,
}

/// Which phrase pairs are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhraseLimits {
    /// Source words.
    pub source: u32,
    /// Target words.
    pub target: u32,
    /// Unlinked words at the ends.
    pub boundary: Boundary,
}

/// The links of one sentence pair, prepared for questions about ranges.
#[derive(Debug, Default)]
pub(super) struct Linked {
    /// Sorted, each once.
    links: Vec<Link>,
    source_len: u32,
    target_len: u32,
    /// Per source word, the first and the last target word that it is linked to.
    reach: Vec<(u32, u32)>,
    /// Links of the source words before each.
    from: Vec<u32>,
    /// Links of the target words before each.
    into: Vec<u32>,
}

impl Linked {
    pub(super) fn set(
        &mut self,
        source_len: usize,
        target_len: usize,
        links: &[Link],
    ) -> Result<(), LinkOutOfRange> {
        self.links.clear();
        self.links.extend_from_slice(links);
        self.links.sort_unstable();
        self.links.dedup();
        (self.source_len, self.target_len) = (source_len as u32, target_len as u32);
        self.reach.clear();
        self.reach.resize(source_len, (u32::MAX, 0));
        self.from.clear();
        self.from.resize(source_len + 1, 0);
        self.into.clear();
        self.into.resize(target_len + 1, 0);
        for &link in &self.links {
            let (s, t) = (link.source as usize, link.target as usize);
            if s >= source_len || t >= target_len {
                return Err(LinkOutOfRange { link, source_len, target_len });
            }
            let (first, last) = self.reach[s];
            self.reach[s] = (first.min(link.target), last.max(link.target));
            self.from[s + 1] += 1;
            self.into[t + 1] += 1;
        }
        for sums in [&mut self.from, &mut self.into] {
            for index in 1..sums.len() {
                sums[index] += sums[index - 1];
            }
        }
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    pub(super) fn source_len(&self) -> u32 {
        self.source_len
    }

    pub(super) fn target_len(&self) -> u32 {
        self.target_len
    }

    pub(super) fn all(&self) -> &[Link] {
        &self.links
    }

    /// The links of a source word, by target word.
    pub(super) fn of_source(&self, position: u32) -> &[Link] {
        &self.links[self.from[position as usize] as usize..self.from[position as usize + 1] as usize]
    }

    /// How many links the source words of a range have.
    pub(super) fn count(&self, s1: u32, s2: u32) -> u32 {
        self.from[s2 as usize] - self.from[s1 as usize]
    }

    fn source_is_free(&self, position: u32) -> bool {
        self.count(position, position + 1) == 0
    }

    fn target_is_free(&self, position: u32) -> bool {
        self.into[position as usize] == self.into[position as usize + 1]
    }

    /// Calls `found` with every consistent source range of at most `longest` words and its core, by `s1`, then `s2`.
    /// With [`Boundary::Tight`] the source range, too, begins and ends with linked words.
    fn each_core(&self, longest: u32, boundary: Boundary, mut found: impl FnMut(PhrasePair)) {
        for s1 in 0..self.source_len {
            if boundary == Boundary::Tight && self.source_is_free(s1) {
                continue;
            }
            let (mut first, mut last) = (u32::MAX, 0);
            for s2 in s1 + 1..=self.source_len.min(s1.saturating_add(longest)) {
                let reach = self.reach[s2 as usize - 1];
                (first, last) = (first.min(reach.0), last.max(reach.1));
                let links = self.count(s1, s2);
                if links == 0 || (boundary == Boundary::Tight && self.source_is_free(s2 - 1)) {
                    continue;
                }
                if self.into[last as usize + 1] - self.into[first as usize] == links {
                    found(PhrasePair { s1, s2, t1: first, t2: last + 1 });
                }
            }
        }
    }

    /// How far a core can be extended over unlinked target words: the smallest start and the largest end.
    fn free_around(&self, core: &PhrasePair, boundary: Boundary) -> (u32, u32) {
        let (mut start, mut end) = (core.t1, core.t2);
        if boundary == Boundary::Loose {
            while start > 0 && self.target_is_free(start - 1) {
                start -= 1;
            }
            while end < self.target_len && self.target_is_free(end) {
                end += 1;
            }
        }
        (start, end)
    }

    /// Collects every phrase pair within limits, in ascending order.
    pub(super) fn pairs(&self, limits: &PhraseLimits, out: &mut Vec<PhrasePair>) {
        out.clear();
        self.each_core(limits.source, limits.boundary, |core| {
            if core.target_len() > limits.target {
                return;
            }
            let (start, end) = self.free_around(&core, limits.boundary);
            for t1 in start.max(core.t2.saturating_sub(limits.target))..=core.t1 {
                for t2 in core.t2..=end.min(t1.saturating_add(limits.target)) {
                    out.push(PhrasePair { t1, t2, ..core });
                }
            }
        });
    }

    /// Calls `side` with the places where phrase pairs within limits begin and end on the target side: for each
    /// consistent source range every `t1` of a pair, and every `t2` of a pair.
    pub(super) fn each_side(&self, limits: &PhraseLimits, mut side: impl FnMut(u32, u32, Side)) {
        self.each_core(limits.source, limits.boundary, |core| {
            if core.target_len() > limits.target {
                return;
            }
            let (start, end) = self.free_around(&core, limits.boundary);
            // A pair with this end exists if the shortest one fits, and that begins with the core.
            for t1 in start.max(core.t2.saturating_sub(limits.target))..=core.t1 {
                side(core.s1, core.s2, Side::Start(t1));
            }
            for t2 in core.t2..=end.min(core.t1.saturating_add(limits.target)) {
                side(core.s1, core.s2, Side::End(t2));
            }
        });
    }
}

/// One end of a target range.
#[derive(Debug, Clone, Copy)]
pub(super) enum Side {
    Start(u32),
    End(u32),
}
