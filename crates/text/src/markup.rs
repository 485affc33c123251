//! What looks like markup: tags (`<b>`, `</a>`, `<x id="1"/>`) and character entities (`&amp;`, `&#39;`).
//!
//! A tag needs a name right behind its bracket, and attributes need values, so that `a < b and c > d` has none.

/// A tag is no longer than this many bytes.
const LONGEST: usize = 1000;

/// What a tag does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tag {
    /// `<b>`: something follows that it is about.
    Opens,
    /// `</b>`: something comes before it.
    Closes,
    /// `<br/>`: it stands alone.
    Alone,
}

/// Whether a token is a tag.
///
/// ```
/// use sylvan_text::{Tag, tag};
/// assert_eq!(["<b>", "</b>", "<x id='1'/>", "<3"].map(tag), [Some(Tag::Opens), Some(Tag::Closes), Some(Tag::Alone), None]);
/// ```
pub fn tag(token: &str) -> Option<Tag> {
    let (length, tag) = tag_at(token)?;
    (length == token.len()).then_some(tag)
}

/// The byte ranges of tags and entities in a line, in order.
pub fn markup(line: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = line[at..].find(['<', '&']) {
        let start = at + next;
        let rest = &line[start..];
        let length = tag_at(rest).map(|(length, _)| length).or_else(|| entity(rest));
        if let Some(length) = length {
            found.push((start, start + length));
        }
        at = start + length.unwrap_or(1);
    }
    found
}

/// The length of the tag that a text begins with.
fn tag_at(text: &str) -> Option<(usize, Tag)> {
    // Whatever a line holds, no more than this is looked at from each of its brackets.
    let most = (0..=LONGEST.min(text.len())).rev().find(|&end| text.is_char_boundary(end))?;
    let text = &text[..most];
    let inside = text.strip_prefix('<')?;
    let (end, inside) = match inside.strip_prefix('/') {
        Some(inside) => (Tag::Closes, inside),
        None => (Tag::Opens, inside),
    };
    let mut rest = name(inside)?;
    loop {
        let spaced = rest.trim_ascii_start();
        let alone = spaced.strip_prefix("/>").map(|after| (after, Tag::Alone));
        if let Some((after, tag)) = alone.or_else(|| Some((spaced.strip_prefix('>')?, end))) {
            return Some((text.len() - after.len(), tag));
        }
        if spaced.len() == rest.len() {
            return None;
        }
        let value = name(spaced)?.trim_ascii_start().strip_prefix('=')?.trim_ascii_start();
        rest = match value.chars().next()? {
            quote @ ('"' | '\'') => value[1..].split_once(quote)?.1,
            _ => {
                let end = value.find(|c: char| c.is_ascii_whitespace() || "<>\"'".contains(c))?;
                (end > 0).then(|| &value[end..])?
            }
        };
    }
}

/// What comes after the name that a text begins with.
fn name(text: &str) -> Option<&str> {
    let first = text.chars().next()?;
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, ':' | '.' | '_' | '-'))?;
    (first.is_ascii_alphabetic() && end > 0).then(|| &text[end..])
}

/// The length of the entity that a text begins with.
fn entity(text: &str) -> Option<usize> {
    let end = text.bytes().take(12).position(|byte| byte == b';')?;
    let inside = &text[1..end];
    let numeric =
        |digits: &str, test: fn(&u8) -> bool| !digits.is_empty() && digits.bytes().all(|b| test(&b));
    let whole = match inside.strip_prefix('#') {
        Some(number) => match number.strip_prefix(['x', 'X']) {
            Some(digits) => numeric(digits, u8::is_ascii_hexdigit),
            None => numeric(number, u8::is_ascii_digit),
        },
        // One letter would be a name such as R&D; before a semicolon.
        None => {
            let letters = inside.trim_end_matches(|c: char| c.is_ascii_digit());
            letters.len() >= 2
                && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
                && letters.bytes().skip(1).all(|byte| byte.is_ascii_lowercase())
        }
    };
    whole.then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(line: &str) -> Vec<&str> {
        markup(line).into_iter().map(|(start, end)| &line[start..end]).collect()
    }

    #[test]
    fn tags_and_entities_are_found() {
        assert_eq!(all("<b>bold</b> &amp; so"), ["<b>", "</b>", "&amp;"]);
        assert_eq!(all("a<br/>b <x id=\"1\" y='a > b' z=3/>."), ["<br/>", "<x id=\"1\" y='a > b' z=3/>"]);
        assert_eq!(
            all("<p\t>&#39;&#x2F;&frac12;</ul:li >"),
            ["<p\t>", "&#39;", "&#x2F;", "&frac12;", "</ul:li >"]
        );
    }

    #[test]
    fn what_only_has_brackets_is_no_markup() {
        for line in [
            "a < b and c > d",
            "a <b and c> d",
            "x<y",
            "<3",
            "R&D; AT&T;",
            "a & b;",
            "&;",
            "<>",
            "</>",
            "<b",
            "<b x=>",
            "<b x=\"1",
            "&#;",
            "&#x;",
            "<é>",
            "<<",
            "&é;",
        ] {
            assert_eq!(all(line), [""; 0], "{line}");
        }
        assert_eq!(all(&format!("<b x='{}'>", "y".repeat(LONGEST))), [""; 0]);
    }
}
