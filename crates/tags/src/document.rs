//! The sentences of a document, with the tags that belong to them; all else stays as it is.
//!
//! ```text
//! <p>One. <b>Two.</b></p><ul><li>three</li></ul>   -->   One.   <b>Two.</b>   three
//! ```

use crate::dialect::{Code, Dialect, Role, is_one_of};
use crate::scan::{Kind, Piece, Scanner};
use crate::segment::Segment;

/// The bytes of the parts of a document to be translated, in order; each is a segment, perhaps with tags. `sentences` gives
/// the bytes of the sentences in a text without tags. Without a dialect, markup is text.
///
/// ```
/// use sylvan_tags::{Dialect, parts};
/// let text = "<p>One <i>two</i>.</p><p>three</p>";
/// let whole = |text: &str| vec![[0, text.len()]];
/// let found: Vec<&str> =
///     parts(text, Some(&Dialect::Html), whole).into_iter().map(|[start, end]| &text[start..end]).collect();
/// assert_eq!(found, ["One <i>two</i>.", "three"]);
/// ```
pub fn parts(
    document: &str,
    dialect: Option<&Dialect>,
    sentences: impl Fn(&str) -> Vec<[usize; 2]>,
) -> Vec<[usize; 2]> {
    let Some(dialect) = dialect else { return lines(document, &sentences) };
    let segments = match dialect {
        Dialect::Html => blocks(document, dialect),
        _ => vec![[0, document.len()]],
    };
    let mut parts = Vec::new();
    for [start, end] in segments {
        let cut = cut(&document[start..end], dialect, &sentences);
        parts.extend(cut.into_iter().map(|[from, to]| [start + from, start + to]));
    }
    parts
}

/// The sentences of the lines of a text.
fn lines(text: &str, sentences: &impl Fn(&str) -> Vec<[usize; 2]>) -> Vec<[usize; 2]> {
    let mut parts = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive(['\n', '\r']) {
        let found = sentences(line).into_iter().map(|[start, end]| [at + start, at + end]);
        parts.extend(found.filter(|[start, end]| !text[*start..*end].trim().is_empty()));
        at += line.len();
    }
    parts
}

/// What is between tags that begin a new line on the page.
fn blocks(document: &str, dialect: &Dialect) -> Vec<[usize; 2]> {
    const BLOCKS: [&str; 66] = [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "br",
        "button",
        "caption",
        "center",
        "col",
        "colgroup",
        "dd",
        "details",
        "dialog",
        "dir",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "head",
        "header",
        "hgroup",
        "hr",
        "html",
        "input",
        "legend",
        "li",
        "link",
        "main",
        "menu",
        "meta",
        "nav",
        "noscript",
        "ol",
        "optgroup",
        "option",
        "p",
        "pre",
        "script",
        "section",
        "select",
        "style",
        "summary",
        "table",
        "tbody",
        "td",
        "template",
        "textarea",
        "tfoot",
        "th",
        "thead",
        "title",
        "tr",
        "ul",
        "video",
        "audio",
    ];
    let mut found = Vec::new();
    let mut scanner = Scanner::new(document);
    let (mut start, mut at) = (0, 0);
    let mut endless: Vec<&str> = Vec::new();
    while let Some(piece) = scanner.next() {
        let ends = match piece {
            Piece::Text(_) => false,
            Piece::Other(raw) => raw.starts_with("<!D") || raw.starts_with("<!d"),
            Piece::Tag(tag) => {
                let is_code = matches!(dialect.role(&tag), Role::Code(Code::Alone))
                    || tag.kind == Kind::Opens && is_one_of(tag.name, &["pre"]);
                // Who looked for an end once need not look again.
                if is_code && !endless.contains(&tag.name) && !scanner.skip_element(tag.name) {
                    endless.push(tag.name);
                }
                is_one_of(tag.name, &BLOCKS)
            }
        };
        if ends {
            found.push([start, at]);
            start = scanner.place();
        }
        at = scanner.place();
    }
    found.push([start, document.len()]);
    found
}

/// The sentences of a segment. Tags that close right behind a sentence belong to it, others to the next one.
fn cut(segment: &str, dialect: &Dialect, sentences: &impl Fn(&str) -> Vec<[usize; 2]>) -> Vec<[usize; 2]> {
    let plain = Segment::new(segment, dialect);
    let text = plain.text();
    let is_word = |&[start, end]: &[usize; 2]| text[start..end].contains(char::is_alphanumeric);
    let mut found = sentences(text);
    found.retain(|&[start, end]| !text[start..end].trim().is_empty());
    if !found.iter().any(is_word) {
        return Vec::new();
    }
    let lead = segment.len() - segment.trim_start().len();
    let mut parts: Vec<[usize; 2]> = vec![[lead, segment.trim_end().len()]];
    for pair in found.windows(2) {
        let ([_, end], [next, _]) = (pair[0], pair[1]);
        let (from, to) = (plain.origin([end.saturating_sub(1), end])[1], plain.origin([next, next + 1])[0]);
        let Some(between) = segment.get(from..to) else { continue };
        let mut scanner = Scanner::new(between);
        let mut closed = 0;
        while let Some(Piece::Tag(tag)) = scanner.next()
            && tag.kind == Kind::Closes
        {
            closed = scanner.place();
        }
        let rest = &between[closed..];
        let space = rest.len() - rest.trim_start().len();
        if let Some(last) = parts.last_mut() {
            let end = std::mem::replace(&mut last[1], from + closed);
            parts.push([from + closed + space, end]);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sentences end with a full stop and a space.
    fn simple(text: &str) -> Vec<[usize; 2]> {
        let (mut found, mut start) = (Vec::new(), 0);
        for (at, _) in text.match_indices(". ") {
            found.push([start, at + 1]);
            start = at + 2;
        }
        found.push([start, text.len()]);
        found
    }

    fn shown<'t>(text: &'t str, dialect: Option<&Dialect>) -> Vec<&'t str> {
        parts(text, dialect, simple).into_iter().map(|[start, end]| &text[start..end]).collect()
    }

    #[test]
    fn a_page_is_taken_apart() {
        let html = Some(&Dialect::Html);
        let page = "<!DOCTYPE html><html><head><title>A b</title><style>p { x: y. z }</style></head>\n<body>\n\
                    <p>One <b>two. Three</b> four. </p><!-- no. no --> <ul><li> five<br>six</li></ul>\
                    <script>if (a < b) { \"<p>x</p>\" }</script><pre>a. b</pre><p>  </p></body></html>";
        assert_eq!(shown(page, html), ["A b", "One <b>two.", "Three</b> four. ".trim(), "five", "six"]);
        assert_eq!(shown("One.</i> <i>Two.", html), ["One.</i>", "<i>Two."]);
        assert_eq!(shown("<p>1. </p>", html), ["1."]);
        assert_eq!(shown("<p><img src='x'/></p> ", html), [""; 0]);
    }

    #[test]
    fn text_is_lines_of_sentences() {
        assert_eq!(shown("One. Two\n\n <b>three</b>\r\n", None), ["One.", "Two\n", " <b>three</b>\r"]);
        assert_eq!(shown("One. <x/>Two", Some(&Dialect::Xliff)), ["One.", "<x/>Two"]);
    }
}
