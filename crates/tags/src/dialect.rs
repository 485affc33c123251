//! What the tags of a text mean.

use crate::scan::{Kind, Tag};

/// A language of tags.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// Inline elements of XLIFF 1.2: `<g>`, `<x/>`, `<bx/>`, `<ex/>`, `<bpt>`, `<ept>`, `<ph>`, `<it>`, `<mrk>`.
    Xliff,
    /// HTML.
    Html,
    /// Any XML. What elements with these names hold is not translated.
    Xml {
        /// Names of elements.
        ignored: Vec<String>,
    },
}

/// What a tag is to a translation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It opens, closes or stands alone, as it looks.
    Plain(Kind),
    /// It opens something that a tag elsewhere closes, and neither is an element: `<bx/>`.
    Begins,
    /// The other end: `<ex/>`.
    Ends,
    /// Its whole element is one of these marks, and what it holds is code.
    Code(Code),
    /// What its element holds is text that stays as it is.
    Kept,
}

/// What the code of an element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    Begins,
    Ends,
    Alone,
}

impl Dialect {
    /// XML without elements to ignore.
    pub fn xml() -> Self {
        Self::Xml { ignored: Vec::new() }
    }

    pub(crate) fn role(&self, tag: &Tag<'_>) -> Role {
        match self {
            Self::Xliff => xliff(tag),
            Self::Html => html(tag),
            Self::Xml { ignored } => {
                let is_ignored = tag.kind == Kind::Opens && ignored.iter().any(|name| name == tag.name);
                if is_ignored { Role::Kept } else { Role::Plain(tag.kind) }
            }
        }
    }

    /// Whether two elements have the same name.
    pub(crate) fn same(&self, one: &str, other: &str) -> bool {
        if *self == Self::Html { one.eq_ignore_ascii_case(other) } else { one == other }
    }

    /// Whether a tag that stands alone stands between words: `a<br>b` is two, `a<wbr>b` is one.
    pub(crate) fn separates(&self, name: &str) -> bool {
        !(*self == Self::Html && is_one_of(name, &["wbr"]))
    }

    /// Whether a tag with spaces on both sides may stand for a word: what it stands for in XLIFF and XML nobody knows.
    pub(crate) fn names_words(&self, name: &str) -> bool {
        *self != Self::Html || is_one_of(name, &["img", "code", "kbd", "samp", "var", "tt", "span"])
    }
}

fn xliff(tag: &Tag<'_>) -> Role {
    if tag.kind == Kind::Closes {
        return Role::Plain(tag.kind);
    }
    let alone = tag.kind == Kind::Alone;
    match tag.name {
        "bx" => Role::Begins,
        "ex" => Role::Ends,
        "bpt" if alone => Role::Begins,
        "ept" if alone => Role::Ends,
        "bpt" => Role::Code(Code::Begins),
        "ept" => Role::Code(Code::Ends),
        "it" if !alone && tag.attribute("pos") == Some("open") => Role::Code(Code::Begins),
        "it" if !alone && tag.attribute("pos") == Some("close") => Role::Code(Code::Ends),
        "ph" | "it" if !alone => Role::Code(Code::Alone),
        "mrk" if !alone && tag.attribute("mtype") == Some("protected") => Role::Kept,
        _ => Role::Plain(tag.kind),
    }
}

fn html(tag: &Tag<'_>) -> Role {
    const VOID: [&str; 14] = [
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
        "track", "wbr",
    ];
    /// What they hold is no text of the page.
    const CODE: [&str; 11] = [
        "script", "style", "template", "svg", "math", "iframe", "object", "canvas", "noscript", "audio",
        "video",
    ];
    const KEPT: [&str; 6] = ["code", "kbd", "samp", "var", "tt", "pre"];
    if tag.kind == Kind::Closes {
        return Role::Plain(tag.kind);
    }
    if is_one_of(tag.name, &VOID) {
        return Role::Plain(Kind::Alone);
    }
    if tag.kind == Kind::Opens {
        if is_one_of(tag.name, &CODE) {
            return Role::Code(Code::Alone);
        }
        let says_no = |name, value: &str| {
            tag.attribute(name).is_some_and(|found| found.split_ascii_whitespace().any(|word| word == value))
        };
        if is_one_of(tag.name, &KEPT) || says_no("translate", "no") || says_no("class", "notranslate") {
            return Role::Kept;
        }
    }
    Role::Plain(tag.kind)
}

pub(crate) fn is_one_of(name: &str, names: &[&str]) -> bool {
    names.iter().any(|known| name.eq_ignore_ascii_case(known))
}
