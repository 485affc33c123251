//! A segment taken apart: its text without tags, and its tags with their places.

use std::collections::HashMap;

use crate::dialect::{Code, Dialect, Role};
use crate::scan::{Kind, Piece, Scanner, Tag};

/// A tag, or several things that are one to a translation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    /// As it is written.
    pub(crate) raw: String,
    /// The byte of the text that it stands before.
    pub(crate) at: usize,
    pub(crate) what: What,
    /// Whether white space is right before it, and right after it.
    pub(crate) spaced: [bool; 2],
    /// Whether it touches the end of something, with white space or a mark of the sentence behind it; and whether it
    /// touches the beginning of something.
    pub(crate) touches: [bool; 2],
    /// Whether it alone kept two words apart, so that a space is in its place.
    pub(crate) glue: bool,
}

/// What a mark is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// It opens, and this one closes; none if that is not in the segment.
    Opens(Option<usize>),
    /// It closes, and this one opens; none if that is not in the segment.
    Closes(Option<usize>),
    /// It stands alone, and belongs to neither side.
    Alone,
    /// It begins something that ends outside of the segment, and belongs to what comes next.
    Begins,
    /// It ends something that began outside of the segment, and belongs to what came before.
    Ends,
}

/// Where a piece of the text was: bytes of the text, and bytes of the segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Origin {
    text: [usize; 2],
    segment: [usize; 2],
}

/// A segment without its tags.
///
/// ```
/// use sylvan_tags::{Dialect, Segment};
/// let segment = Segment::new("A <g id=\"1\">big</g> dog &amp; cat", &Dialect::Xliff);
/// assert_eq!(segment.text(), "A big dog & cat");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    pub(crate) text: String,
    pub(crate) marks: Vec<Mark>,
    /// Tags among words; the characters of `STAND_INS` stand for them in the text, in this order.
    pub(crate) words: Vec<String>,
    kept: Vec<[usize; 2]>,
    origins: Vec<Origin>,
}

/// The characters that stand for tags among words: private ones, which hardly any text uses.
pub(crate) const STAND_INS: std::ops::RangeInclusive<char> = '\u{f000}'..='\u{f7ff}';

impl Segment {
    /// Takes a segment apart. A tag with spaces on both sides may stand for a word: then a character that nothing else uses
    /// is there, to be copied as it is.
    pub fn new(segment: &str, dialect: &Dialect) -> Self {
        // What is there already stands for itself.
        Self::read(segment, dialect, !segment.contains(|c| STAND_INS.contains(&c)))
    }

    /// Takes apart a segment whose translation exists already: no tag stands for a word.
    pub fn translated_already(segment: &str, dialect: &Dialect) -> Self {
        Self::read(segment, dialect, false)
    }

    fn read(segment: &str, dialect: &Dialect, stands_in: bool) -> Self {
        let mut reading = Reading {
            dialect,
            out: Self {
                text: String::new(),
                marks: Vec::new(),
                words: Vec::new(),
                kept: Vec::new(),
                origins: Vec::new(),
            },
            apart: None,
            open: Vec::new(),
            waiting: HashMap::new(),
            never_closed: Vec::new(),
            segment,
            words: words(segment),
            stands_in,
        };
        reading.all();
        reading.out
    }

    /// The text, with entities resolved.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Bytes of the text that must stay as they are.
    pub fn kept(&self) -> &[[usize; 2]] {
        &self.kept
    }

    /// How many tags there are.
    pub fn tags(&self) -> usize {
        self.marks.len() + self.words.len()
    }

    /// The tags as they are written; what is one to a translation is one.
    pub fn all_tags(&self) -> Vec<&str> {
        self.marks.iter().map(|mark| &mark.raw).chain(&self.words).map(String::as_str).collect()
    }

    /// Whether every element that opens in the segment closes in it, and the other way round.
    pub fn is_well_formed(&self) -> bool {
        !self.marks.iter().any(|mark| matches!(mark.what, What::Opens(None) | What::Closes(None)))
    }

    /// The bytes of the segment that some bytes of the text come from.
    pub fn origin(&self, [start, end]: [usize; 2]) -> [usize; 2] {
        let piece = |at: usize| {
            let after = self.origins.partition_point(|origin| origin.text[0] <= at);
            self.origins[..after].last()
        };
        let verbatim =
            |origin: &Origin| origin.text[1] - origin.text[0] == origin.segment[1] - origin.segment[0];
        let from = piece(start).map_or(0, |origin| match verbatim(origin) {
            true => origin.segment[0] + (start - origin.text[0]).min(origin.text[1] - origin.text[0]),
            false => origin.segment[0],
        });
        let to = end.checked_sub(1).filter(|&last| last >= start).and_then(piece).map_or(from, |origin| {
            match verbatim(origin) {
                true => origin.segment[0] + (end - origin.text[0]).min(origin.text[1] - origin.text[0]),
                false => origin.segment[1],
            }
        });
        [from, to.max(from)]
    }
}

/// A tag that waits for its other end.
struct Open {
    mark: usize,
    name: String,
    /// By which its other end knows it, if they are no element.
    id: Option<String>,
    is_element: bool,
}

struct Reading<'s> {
    dialect: &'s Dialect,
    segment: &'s str,
    /// The first and the last byte of its words.
    words: Option<[usize; 2]>,
    stands_in: bool,
    /// The last tag since the last text that keeps words apart.
    apart: Option<usize>,
    open: Vec<Open>,
    /// How many elements of each name are open.
    waiting: HashMap<String, usize>,
    /// Names of elements that are opened and never closed.
    never_closed: Vec<String>,
    out: Segment,
}

impl<'s> Reading<'s> {
    fn all(&mut self) {
        let mut scanner = Scanner::new(self.segment);
        let mut at = 0;
        while let Some(piece) = scanner.next() {
            match piece {
                Piece::Text(text) => self.text(text, at),
                Piece::Other(raw) => self.mark(raw, What::Alone, [at, scanner.place()]),
                Piece::Tag(tag) => self.tag(tag, &mut scanner, at),
            }
            at = scanner.place();
        }
    }

    /// Text with entities.
    fn text(&mut self, text: &str, at: usize) {
        let mut rest = text;
        while !rest.is_empty() {
            let here = at + text.len() - rest.len();
            let entity = rest.starts_with('&').then(|| entity(rest)).flatten();
            let (length, plain) = match entity {
                Some((length, plain)) => (length, Some(plain)),
                None => {
                    let next = rest.char_indices().skip(1).find(|(_, c)| *c == '&');
                    (next.map_or(rest.len(), |(next, _)| next), None)
                }
            };
            self.push(plain.as_deref().unwrap_or(&rest[..length]), [here, here + length]);
            rest = &rest[length..];
        }
    }

    fn push(&mut self, text: &str, segment: [usize; 2]) {
        let apart = self.apart.take();
        if self.out.text.chars().next_back().is_some_and(|c| !opens(c))
            && text.chars().next().is_some_and(|c| !closes(c))
            && let Some(mark) = apart
        {
            self.out.marks[mark].glue = true;
            self.out.text.push(' ');
        }
        let start = self.out.text.len();
        self.out.text.push_str(text);
        self.out.origins.push(Origin { text: [start, self.out.text.len()], segment });
    }

    fn tag(&mut self, tag: Tag<'s>, scanner: &mut Scanner<'s>, start: usize) {
        let end = scanner.place();
        match self.dialect.role(&tag) {
            Role::Plain(Kind::Alone) => self.alone(tag.raw, tag.name, [start, end]),
            Role::Plain(Kind::Opens) => {
                self.mark(tag.raw, What::Opens(None), [start, end]);
                self.wait(&tag, true);
            }
            Role::Plain(Kind::Closes) => {
                self.mark(tag.raw, What::Closes(None), [start, end]);
                self.close(tag.name, None, true);
            }
            Role::Begins => {
                self.mark(tag.raw, What::Begins, [start, end]);
                self.wait(&tag, false);
            }
            Role::Ends => {
                self.mark(tag.raw, What::Ends, [start, end]);
                self.close(tag.name, id(&tag), false);
            }
            Role::Code(code) => {
                let Some([_, end]) = self.skip(&tag, scanner) else {
                    return self.unclosed(&tag, [start, end]);
                };
                let raw = &self.segment[start..end];
                match code {
                    Code::Alone => self.alone(raw, tag.name, [start, end]),
                    Code::Begins => {
                        self.mark(raw, What::Begins, [start, end]);
                        self.wait(&tag, false);
                    }
                    Code::Ends => {
                        self.mark(raw, What::Ends, [start, end]);
                        self.close(tag.name, id(&tag), false);
                    }
                }
            }
            Role::Kept => self.keep(&tag, scanner, [start, end]),
        }
    }

    /// Goes behind the end of an element: where its closing tag begins, and where that ends. Nothing happens if there is
    /// none.
    fn skip(&mut self, tag: &Tag<'_>, scanner: &mut Scanner<'s>) -> Option<[usize; 2]> {
        // Who looked for it once need not look again.
        if self.never_closed.iter().any(|name| name == tag.name) {
            return None;
        }
        let mut ahead = scanner.clone();
        let mut depth = 1;
        loop {
            let start = ahead.place();
            match ahead.next() {
                Some(Piece::Tag(inner)) if self.dialect.same(inner.name, tag.name) => match inner.kind {
                    Kind::Opens => depth += 1,
                    Kind::Closes => depth -= 1,
                    Kind::Alone => {}
                },
                Some(_) => {}
                None => {
                    self.never_closed.push(tag.name.to_string());
                    return None;
                }
            }
            if depth == 0 {
                *scanner = ahead;
                return Some([start, scanner.place()]);
            }
        }
    }

    /// The beginning of an element that has no end.
    fn unclosed(&mut self, tag: &Tag<'_>, place: [usize; 2]) {
        self.mark(tag.raw, What::Opens(None), place);
        self.wait(tag, true);
    }

    /// An element whose text stays as it is. With markup in it, or without text, it is one mark.
    fn keep(&mut self, tag: &Tag<'s>, scanner: &mut Scanner<'s>, [start, inside]: [usize; 2]) {
        let segment = self.segment;
        let Some([closing, end]) = self.skip(tag, scanner) else {
            return self.unclosed(tag, [start, inside]);
        };
        let text = &segment[inside..closing];
        if text.contains('<') || text.trim().is_empty() {
            return self.alone(&segment[start..end], tag.name, [start, end]);
        }
        self.mark(&segment[start..inside], What::Opens(None), [start, inside]);
        let open = self.out.marks.len() - 1;
        let from = self.out.text.len();
        self.text(text, inside);
        self.out.kept.push([from, self.out.text.len()]);
        self.mark(&segment[closing..end], What::Closes(Some(open)), [closing, end]);
        self.out.marks[open].what = What::Opens(Some(self.out.marks.len() - 1));
    }

    /// A tag that stands alone: among words, for a word, or beside one.
    fn alone(&mut self, raw: &str, name: &str, [start, end]: [usize; 2]) {
        let (before, after) = (&self.segment[..start], &self.segment[end..]);
        let stand_in = { STAND_INS }.nth(self.out.words.len()).filter(|_| self.stands_in);
        let is_word = self.dialect.names_words(name)
            && before.ends_with(opens)
            && after.starts_with(closes)
            && (before.ends_with(char::is_whitespace) || after.starts_with(char::is_whitespace))
            && self.words.is_some_and(|[first, last]| first < start && end <= last);
        if let Some(stand_in) = stand_in.filter(|_| is_word) {
            let at = self.out.text.len();
            self.push(stand_in.encode_utf8(&mut [0; 4]), [start, end]);
            self.out.kept.push([at, self.out.text.len()]);
            self.out.words.push(raw.to_string());
            return;
        }
        self.mark(raw, What::Alone, [start, end]);
        if self.dialect.separates(name) {
            self.apart = Some(self.out.marks.len() - 1);
        }
    }

    fn mark(&mut self, raw: &str, what: What, [start, end]: [usize; 2]) {
        let (before, after) = (&self.segment[..start], &self.segment[end..]);
        let spaced = [before.ends_with(char::is_whitespace), after.starts_with(char::is_whitespace)];
        let ends = |text: &str, is: fn(char) -> bool| text.chars().next_back().is_none_or(is);
        let begins = |text: &str, is: fn(char) -> bool| text.chars().next().is_none_or(is);
        let touches =
            [!ends(before, opens) && begins(after, closes), ends(before, opens) && !begins(after, closes)];
        let at = self.out.text.len();
        self.out.marks.push(Mark { raw: raw.to_string(), at, what, spaced, touches, glue: false });
    }

    fn wait(&mut self, tag: &Tag<'_>, is_element: bool) {
        let (mark, name) = (self.out.marks.len() - 1, tag.name.to_string());
        if is_element {
            *self.waiting.entry(name.to_ascii_lowercase()).or_default() += 1;
        }
        self.open.push(Open { mark, name, id: id(tag).map(str::to_string), is_element });
    }

    /// The last mark closes something, if that is open.
    fn close(&mut self, name: &str, id: Option<&str>, is_element: bool) {
        if is_element && self.waiting.get(&name.to_ascii_lowercase()).is_none_or(|&count| count == 0) {
            return;
        }
        let matches = |open: &&Open, by_id: bool| {
            open.is_element == is_element
                && if is_element {
                    self.dialect.same(&open.name, name)
                } else {
                    !by_id || open.id.as_deref() == id
                }
        };
        let find = |by_id: bool| self.open.iter().rposition(|open| matches(&open, by_id));
        // Ends of XLIFF say by an id what they end, or nothing if it is clear.
        let Some(place) = find(true).or_else(|| find(false)) else { return };
        let above = &self.open[place + 1..];
        if !is_element && above.iter().any(|open| open.is_element) {
            // Not nested in elements: both ends stand for themselves.
            self.open.remove(place);
            return;
        }
        let closing = self.out.marks.len() - 1;
        let opening = self.open[place].mark;
        for closed in self.open.drain(place..).filter(|open| open.is_element) {
            if let Some(count) = self.waiting.get_mut(&closed.name.to_ascii_lowercase()) {
                *count -= 1;
            }
        }
        self.out.marks[opening].what = What::Opens(Some(closing));
        self.out.marks[closing].what = What::Closes(Some(opening));
    }
}

/// White space, or what stands before words and touches them.
fn opens(c: char) -> bool {
    c.is_whitespace() || "([{\"'«“„‘¿¡".contains(c)
}

/// White space, or what stands behind words and touches them.
fn closes(c: char) -> bool {
    c.is_whitespace() || ".,;:!?)]}\"'»”’…".contains(c)
}

/// The first and the last byte of the words of a segment; none without words.
fn words(segment: &str) -> Option<[usize; 2]> {
    let mut found: Option<[usize; 2]> = None;
    let mut scanner = Scanner::new(segment);
    let mut at = 0;
    while let Some(piece) = scanner.next() {
        if let Piece::Text(text) = piece
            && let (Some(first), Some(last)) =
                (text.find(char::is_alphanumeric), text.rfind(char::is_alphanumeric))
        {
            found = Some([found.map_or(at + first, |[start, _]| start), at + last]);
        }
        at = scanner.place();
    }
    found
}

fn id<'t>(tag: &Tag<'t>) -> Option<&'t str> {
    tag.attribute("rid").or_else(|| tag.attribute("id"))
}

/// The entity that a text begins with: how long it is, and what it stands for.
fn entity(text: &str) -> Option<(usize, String)> {
    /// Longer than any name.
    const LONGEST: usize = 40;
    let end = text.char_indices().take(LONGEST).find(|(_, c)| *c == ';')?.0 + 1;
    let plain = html_escape::decode_html_entities(&text[..end]);
    (plain != text[..end]).then(|| (end, plain.into_owned()))
}
