//! A translation with the tags of its source.
//!
//! White space around a tag is as it was: an end that touched its word does so again, and what stood before the first word
//! or behind the last one stays to the byte.

use crate::segment::{Mark, STAND_INS, Segment, What};

/// A text with tags.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Tagged {
    /// The text.
    pub text: String,
    /// Where each word stands in it: its first byte and one past its last.
    pub spans: Vec<[usize; 2]>,
}

/// On which side of a space a tag stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
    /// There is one on either side.
    Between,
    /// There is none: the tag alone keeps words apart.
    Instead,
}

impl Mark {
    fn side(&self) -> Side {
        match (self.what, self.spaced) {
            _ if self.glue => Side::Instead,
            (What::Closes(_), [true, false]) => Side::After,
            (What::Closes(_), _) => Side::Before,
            (What::Opens(_), [false, true]) => Side::Before,
            (What::Opens(_), _) => Side::After,
            (What::Alone, [true, true]) => Side::Between,
            _ if self.touches[1] && !self.spaced[1] => Side::After,
            (_, [true, false]) | (What::Begins, _) => Side::After,
            (_, [false, true]) | (What::Ends | What::Alone, _) => Side::Before,
        }
    }
}

impl Segment {
    /// Puts the tags into a translation: `words` are the bytes of the source words in [`text`](Self::text), `spans` those
    /// of the target words in the translation, and links pairs of a source word and a target word, counted from 0. Every
    /// tag comes back once, and tags are nested as they were.
    pub fn translated(
        &self,
        words: &[[usize; 2]],
        target: &str,
        spans: &[[usize; 2]],
        links: &[(u32, u32)],
    ) -> Tagged {
        let mut out = Writer {
            segment: self,
            target,
            out: Tagged::default(),
            left: self.words.len(),
            written: Vec::new(),
        };
        out.written = vec![false; self.words.len()];
        let (Some(first), Some(last)) = (words.first(), words.last()) else {
            // Nothing was translated.
            out.edge(self.marks.iter().enumerate().map(|(number, _)| number), [0, self.text.len()]);
            return out.out;
        };
        let targets: Vec<&str> = spans.iter().map(|&[start, end]| &target[start..end]).collect();
        let placed = self.place(words, &targets, links);
        let all_of = |at: usize| {
            let start = placed.partition_point(|tag| tag.place < at);
            let end = placed.partition_point(|tag| tag.place <= at);
            placed[start..end].iter()
        };
        let place_of = |at: usize| {
            all_of(at).filter(|tag| tag.inside.is_none()).map(|tag| tag.mark).collect::<Vec<usize>>()
        };
        let mut here = place_of(0);
        // What was before the first word is so again.
        let was_first = |mark: &usize| self.marks[*mark].at <= first[0];
        let leading = here.iter().position(|mark| !was_first(mark)).unwrap_or(here.len());
        let rest = here.split_off(leading);
        out.edge(here.into_iter(), [0, first[0]]);
        here = rest;
        let mut at = target.len() - target.trim_start().len();
        for (place, &[start, end]) in spans.iter().enumerate() {
            let start = start.max(at);
            out.gap(&here, [at, start]);
            let from = out.out.text.len();
            let mut written = start;
            for (mark, inside) in all_of(place).filter_map(|tag| Some((tag.mark, tag.inside?))) {
                let inside = (spans[place][0] + inside).clamp(written, end.max(written));
                out.plain(&target[written..inside]);
                out.out.text.push_str(&self.marks[mark].raw);
                written = inside;
            }
            out.plain(&target[written..end.max(written)]);
            // The words of a contraction have the same bytes.
            let span = match place.checked_sub(1).filter(|&before| spans[before] == spans[place]) {
                Some(before) => out.out.spans[before],
                None => [from, out.out.text.len()],
            };
            out.out.spans.push(span);
            at = end.max(at);
            here = place_of(place + 1);
        }
        let was_last = |mark: &usize| self.marks[*mark].at >= last[1];
        let trailing = here.iter().rposition(|mark| !was_last(mark)).map_or(0, |mark| mark + 1);
        out.gap(&here[..trailing], [at, at]);
        out.plain(target[at..].trim_end());
        out.lost();
        out.edge(here[trailing..].iter().copied(), [last[1], self.text.len()]);
        out.out
    }
}

struct Writer<'s> {
    segment: &'s Segment,
    target: &'s str,
    out: Tagged,
    /// Tags that stand for words and are not written yet: how many, and which are.
    left: usize,
    written: Vec<bool>,
}

impl Writer<'_> {
    /// Text, with what stands for tags replaced by them.
    fn plain(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '&' => self.out.text.push_str("&amp;"),
                '<' => self.out.text.push_str("&lt;"),
                '>' => self.out.text.push_str("&gt;"),
                _ if self.segment.words.is_empty() || !STAND_INS.contains(&c) => self.out.text.push(c),
                _ => {
                    let number = (c as usize) - (*STAND_INS.start() as usize);
                    if let Some(written) = self.written.get_mut(number).filter(|written| !**written) {
                        *written = true;
                        self.left -= 1;
                        self.out.text.push_str(&self.segment.words[number]);
                    }
                }
            }
        }
    }

    /// Tags that the translation left out, though it should not.
    fn lost(&mut self) {
        if self.left == 0 {
            return;
        }
        for (number, raw) in self.segment.words.iter().enumerate() {
            if !std::mem::replace(&mut self.written[number], true) {
                self.out.text.push_str(raw);
            }
        }
    }

    /// Tags between two words, and the space there.
    fn gap(&mut self, marks: &[usize], [start, end]: [usize; 2]) {
        let (segment, target) = (self.segment, self.target);
        let space = &target[start..end];
        let mut written = false;
        for &mark in marks {
            let mark = &segment.marks[mark];
            let side = mark.side();
            if matches!(side, Side::After | Side::Between) && !written {
                self.plain(space);
                written = true;
            }
            self.out.text.push_str(&mark.raw);
            match side {
                Side::Between => self.plain(space),
                Side::Instead => written = true,
                Side::Before | Side::After => {}
            }
        }
        if !written {
            self.plain(space);
        }
    }

    /// Tags before or behind all words, with the white space of the source.
    fn edge(&mut self, marks: impl Iterator<Item = usize>, [start, end]: [usize; 2]) {
        let segment = self.segment;
        let mut at = start;
        for mark in marks {
            let mark = &segment.marks[mark];
            if mark.at > at {
                self.plain(&segment.text[at..mark.at]);
                at = mark.at;
            }
            self.out.text.push_str(&mark.raw);
        }
        self.plain(&segment.text[at.min(end)..end]);
    }
}
