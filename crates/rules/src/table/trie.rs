//! The trie of source sides, and how it is made of sorted ones.
//!
//! Treelets written as tokens with child counts are prefix-free, so rules hang at leaves only. A treelet leaves
//! the trie where no other shares its way; the rest of it, its *tail*, stands before its rules. The steps of a
//! place are one sorted row; rows lie level by level, so that both are made in one pass over sorted treelets.
//!
//! ```text
//! starts  u32 per place (and one more)   where its row of steps begins
//! steps   token, next                    next: a place, or LEAF + the number of a source
//! ```

use sylvan_store::Section;

use super::tokens::TokenId;

/// Marks a step that leads to a source.
pub(crate) const LEAF: u32 = 1 << 31;

/// The trie, from memory or from a file.
#[derive(Debug, Clone)]
pub(crate) struct Trie {
    pub(crate) starts: Section<u32>,
    pub(crate) steps: Section<[u32; 2]>,
}

impl Trie {
    /// Where a token leads from a place.
    #[inline]
    pub(crate) fn step(&self, place: u32, token: TokenId) -> Option<u32> {
        let place = place as usize;
        let (start, end) = (*self.starts.get(place)? as usize, *self.starts.get(place + 1)? as usize);
        let row = self.steps.get(start..end)?;
        // Most rows are short.
        if row.len() <= 8 {
            return row.iter().find(|step| step[0] == token).map(|step| step[1]);
        }
        let found = row.binary_search_by_key(&token, |step| step[0]).ok()?;
        Some(row[found][1])
    }

    /// The row of a place.
    pub(crate) fn row(&self, place: u32) -> &[[u32; 2]] {
        let place = place as usize;
        let bounds = self.starts.get(place).zip(self.starts.get(place + 1));
        bounds.and_then(|(&start, &end)| self.steps.get(start as usize..end as usize)).unwrap_or(&[])
    }
}

#[derive(Debug, Clone, Default)]
struct Level {
    starts: Vec<u32>,
    steps: Vec<[u32; 2]>,
}

/// Makes a [`Trie`] of treelets that come in ascending order.
#[derive(Debug, Clone, Default)]
pub(crate) struct TrieBuilder {
    levels: Vec<Level>,
    before: Vec<TokenId>,
    sources: u32,
}

impl TrieBuilder {
    /// Adds a treelet that is greater than the one before and no prefix of any; `next` is the one that will
    /// come after it. Returns how many of its tokens are in the trie; the others are its tail.
    pub(crate) fn push(&mut self, tokens: &[TokenId], next: &[TokenId]) -> usize {
        let shared = common(&self.before, tokens);
        let known = if self.sources == 0 { 0 } else { shared };
        let depth = known.max(common(tokens, next)) + 1;
        for (level, &token) in tokens.iter().enumerate().take(depth).skip(known) {
            if self.levels.len() <= level {
                self.levels.push(Level::default());
            }
            // The first step of a new row, unless the row was begun by the treelet before.
            if level > known || self.sources == 0 {
                let row = self.levels[level].steps.len() as u32;
                self.levels[level].starts.push(row);
            }
            let next = if level + 1 < depth {
                self.levels.get(level + 1).map_or(0, |below| below.starts.len()) as u32
            } else {
                LEAF | self.sources
            };
            self.levels[level].steps.push([token, next]);
        }
        self.sources += 1;
        self.before.clear();
        self.before.extend_from_slice(tokens);
        depth.min(tokens.len())
    }

    /// The whole trie: levels one after the other, numbers made absolute.
    pub(crate) fn finish(self) -> (Vec<u32>, Vec<[u32; 2]>) {
        let mut starts =
            Vec::with_capacity(self.levels.iter().map(|level| level.starts.len()).sum::<usize>() + 1);
        let mut steps = Vec::with_capacity(self.levels.iter().map(|level| level.steps.len()).sum());
        for level in self.levels {
            let (row, below) = (steps.len() as u32, (starts.len() + level.starts.len()) as u32);
            starts.extend(level.starts.iter().map(|start| start + row));
            steps.extend(
                level
                    .steps
                    .iter()
                    .map(|&[token, next]| [token, if next & LEAF == 0 { next + below } else { next }]),
            );
        }
        starts.push(steps.len() as u32);
        (starts, steps)
    }
}

fn common(a: &[TokenId], b: &[TokenId]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}
