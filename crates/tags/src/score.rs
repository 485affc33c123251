//! How many tags stand where they should.

use crate::scan::{Piece, Scanner};

/// Right ones, and all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Share {
    /// How many are right.
    pub right: u64,
    /// How many there are.
    pub all: u64,
}

impl Share {
    fn count(&mut self, right: bool) {
        self.right += u64::from(right);
        self.all += 1;
    }

    /// In percent; none of none is all.
    pub fn percent(&self) -> f64 {
        if self.all == 0 { 100.0 } else { 100.0 * self.right as f64 / self.all as f64 }
    }
}

/// Tags compared with those of a reference whose text is the same. A tag is right if it has as many characters before it,
/// spaces apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Placement {
    /// Tags with text on both sides.
    pub inner: Share,
    /// Tags at an edge.
    pub edge: Share,
    /// Segments with tags that have all of them right.
    pub segments: Share,
    /// Segments that have the same tags, wherever they are.
    pub same_tags: Share,
}

impl Placement {
    /// Compares one more segment.
    pub fn add(&mut self, segment: &str, reference: &str) {
        let (mut found, _) = places(segment);
        let (wanted, length) = places(reference);
        let names = |tags: &[(&str, usize)]| {
            let mut names: Vec<String> = tags.iter().map(|(raw, _)| (*raw).to_string()).collect();
            names.sort_unstable();
            names
        };
        self.same_tags.count(names(&found) == names(&wanted));
        if wanted.is_empty() {
            return;
        }
        let mut all = true;
        for tag in &wanted {
            let place = found.iter().position(|other| other == tag);
            place.map(|place| found.swap_remove(place));
            all &= place.is_some();
            let share = if 0 < tag.1 && tag.1 < length { &mut self.inner } else { &mut self.edge };
            share.count(place.is_some());
        }
        self.segments.count(all);
    }

    /// All tags.
    pub fn tags(&self) -> Share {
        Share { right: self.inner.right + self.edge.right, all: self.inner.all + self.edge.all }
    }
}

/// The tags of a segment, each with the number of characters before it, and the number of all characters.
fn places(segment: &str) -> (Vec<(&str, usize)>, usize) {
    let (mut tags, mut length) = (Vec::new(), 0);
    for piece in Scanner::new(segment) {
        match piece {
            Piece::Text(text) => length += text.chars().filter(|c| !c.is_whitespace()).count(),
            Piece::Tag(tag) => tags.push((tag.raw, length)),
            Piece::Other(raw) => tags.push((raw, length)),
        }
    }
    (tags, length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_right_where_they_are() {
        let mut placement = Placement::default();
        placement.add("<g>a <x/>b</g> c", "<g>a</g> <x/> b c");
        placement.add("a b", "a b");
        placement.add("<x/>a", "a<x/>");
        let share = |right, all| Share { right, all };
        assert_eq!(placement.inner, share(1, 2));
        assert_eq!(placement.edge, share(1, 2));
        assert_eq!((placement.segments, placement.same_tags), (share(0, 2), share(3, 3)));
        assert_eq!(placement.tags(), share(2, 4));
    }
}
