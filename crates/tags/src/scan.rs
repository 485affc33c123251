//! Where markup is in a text. Nothing is ever an error: what is no markup is text.
//!
//! `sylvan_text` finds tags, too, in text that may have none, and so takes only what can hardly be anything else. Here
//! somebody said that there is markup: comments, attributes without values and code are part of it.

/// A piece of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece<'t> {
    /// Text, with entities in it.
    Text(&'t str),
    /// A tag.
    Tag(Tag<'t>),
    /// A comment, a declaration, an instruction, a section of characters.
    Other(&'t str),
}

/// A tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tag<'t> {
    /// As it is written.
    pub(crate) raw: &'t str,
    /// The name of its element.
    pub(crate) name: &'t str,
    pub(crate) kind: Kind,
}

/// What a tag does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `<b>`
    Opens,
    /// `</b>`
    Closes,
    /// `<br/>`
    Alone,
}

impl<'t> Tag<'t> {
    /// The value of an attribute, as it is written.
    pub(crate) fn attribute(&self, wanted: &str) -> Option<&'t str> {
        let mut rest = self.raw.get(1 + self.name.len()..)?;
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
            let end = rest.find(|c: char| c.is_ascii_whitespace() || "=/>".contains(c))?;
            let (name, after) = rest.split_at(end);
            let after = after.trim_ascii_start();
            let Some(value) = after.strip_prefix('=').map(str::trim_ascii_start) else {
                if name.is_empty() {
                    return None;
                }
                rest = after;
                continue;
            };
            let (value, after) = match value.chars().next()? {
                quote @ ('"' | '\'') => value[1..].split_once(quote)?,
                _ => value.split_at(value.find(|c: char| c.is_ascii_whitespace() || c == '>')?),
            };
            if name.eq_ignore_ascii_case(wanted) {
                return Some(value);
            }
            rest = after;
        }
    }
}

/// Takes a text apart.
#[derive(Debug, Clone)]
pub(crate) struct Scanner<'t> {
    text: &'t str,
    /// Where the next piece begins.
    at: usize,
    /// No such end of a comment or quotation mark is found from these places on, so that no text is searched again and again.
    none: [usize; ENDS.len()],
}

/// What markup may have to be searched for.
const ENDS: [&str; 5] = ["\"", "'", "-->", "]]>", "?>"];

impl<'t> Scanner<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, at: 0, none: [usize::MAX; ENDS.len()] }
    }

    /// Where the next piece begins.
    pub(crate) fn place(&self) -> usize {
        self.at
    }

    /// Goes behind the end of an element that was opened; whatever is in it is no markup. If there is none, nothing
    /// happens, and the answer is no.
    pub(crate) fn skip_element(&mut self, name: &str) -> bool {
        let rest = &self.text[self.at..];
        let mut from = 0;
        while let Some(next) = rest[from..].find("</") {
            let after = from + next + 2;
            let is_name =
                rest.get(after..after + name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name));
            if is_name && let Some(end) = rest[after..].find('>') {
                self.at += after + end + 1;
                return true;
            }
            from = after;
        }
        false
    }

    /// Behind the next end of this kind.
    fn behind(&mut self, end: usize, from: usize) -> Option<usize> {
        if from >= self.none[end] {
            return None;
        }
        let found = self.text.get(from..)?.find(ENDS[end]);
        if found.is_none() {
            self.none[end] = from;
        }
        found.map(|at| from + at + ENDS[end].len())
    }

    /// The markup that begins here, and where it ends.
    fn markup(&mut self, start: usize) -> Option<(Piece<'t>, usize)> {
        let text = self.text;
        let rest = &text[start..];
        for (head, end) in [("<!--", 2), ("<![CDATA[", 3), ("<?", 4)] {
            if rest.starts_with(head) {
                let end = self.behind(end, start + head.len())?;
                return Some((Piece::Other(&text[start..end]), end));
            }
        }
        if let Some(declared) = rest.strip_prefix("<!") {
            let end =
                declared.starts_with(|c: char| c.is_ascii_alphabetic()).then(|| declared.find(['>', '<']));
            let end = end.flatten().filter(|&end| declared.as_bytes()[end] == b'>')?;
            return Some((Piece::Other(&rest[..end + 3]), start + end + 3));
        }
        let closes = rest.starts_with("</");
        let from = start + 1 + usize::from(closes);
        let name = &text[from..];
        let length = name.find(|c: char| !c.is_ascii_alphanumeric() && !"_:.-".contains(c))?;
        let name = &name[..length];
        if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            return None;
        }
        let mut at = from + length;
        if !text[at..].starts_with(|c: char| c.is_ascii_whitespace() || c == '/' || c == '>') {
            return None;
        }
        loop {
            at += text[at..].find(['"', '\'', '<', '>'])?;
            at = match text.as_bytes()[at] {
                b'"' => self.behind(0, at + 1)?,
                b'\'' => self.behind(1, at + 1)?,
                b'>' => break,
                _ => return None,
            };
        }
        let raw = &text[start..=at];
        let kind = match (closes, raw.ends_with("/>")) {
            (true, _) => Kind::Closes,
            (false, true) => Kind::Alone,
            (false, false) => Kind::Opens,
        };
        Some((Piece::Tag(Tag { raw, name, kind }), at + 1))
    }
}

impl<'t> Iterator for Scanner<'t> {
    type Item = Piece<'t>;

    fn next(&mut self) -> Option<Piece<'t>> {
        let start = self.at;
        if start >= self.text.len() {
            return None;
        }
        let mut at = start;
        while let Some(next) = self.text[at..].find('<') {
            at += next;
            if let Some((piece, end)) = self.markup(at) {
                if at > start {
                    // It is found once more: it is short, or nothing was searched for.
                    self.at = at;
                    return Some(Piece::Text(&self.text[start..at]));
                }
                self.at = end;
                return Some(piece);
            }
            at += 1;
        }
        self.at = self.text.len();
        Some(Piece::Text(&self.text[start..]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let show = |piece: Piece<'_>| match piece {
            Piece::Text(text) => format!("T {text}"),
            Piece::Tag(tag) => format!("{:?} {} {}", tag.kind, tag.name, tag.raw),
            Piece::Other(raw) => format!("O {raw}"),
        };
        Scanner::new(text).map(show).collect()
    }

    #[test]
    fn markup_is_told_from_text() {
        assert_eq!(
            shown("a <b c='>'>d</b > <br/>e"),
            ["T a ", "Opens b <b c='>'>", "T d", "Closes b </b >", "T  ", "Alone br <br/>", "T e"]
        );
        for text in ["a < b", "<3 & <", "<a", "<a \"b>", "< b>", "a<b<c", "<é>", "<!-- x", "<!", "<?x", "</>"]
        {
            assert_eq!(shown(text).concat().matches("T ").count(), 1, "{text}");
            assert!(shown(text).iter().all(|piece| piece.starts_with("T ")), "{text}");
        }
        assert_eq!(
            shown("<!DOCTYPE html><!-- <b> --><![CDATA[<b>]]><?x?>"),
            ["O <!DOCTYPE html>", "O <!-- <b> -->", "O <![CDATA[<b>]]>", "O <?x?>"]
        );
        assert_eq!(shown("<input disabled value=x>"), ["Opens input <input disabled value=x>"]);
    }

    #[test]
    fn attributes_are_read() {
        let text = "<g id=\"1\" hidden  rid = 'a b' x=y/>";
        let Some(Piece::Tag(tag)) = Scanner::new(text).next() else { panic!("a tag") };
        let of = |name| tag.attribute(name);
        assert_eq!([of("id"), of("RID"), of("x"), of("hidden")], [Some("1"), Some("a b"), Some("y/"), None]);
    }

    #[test]
    fn hostile_text_takes_linear_time() {
        for text in ["<a \"", "<!--", "<a '<", "<", "<![CDATA[", "<a b=\"'"] {
            let text = text.repeat(100_000);
            assert_eq!(
                Scanner::new(&text).map(|piece| matches!(piece, Piece::Text(_)) as usize).sum::<usize>(),
                1
            );
        }
    }
}
