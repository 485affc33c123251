//! Files of text, pages, subtitles and files for translators: what of them is translated, and how it is put back.

use std::sync::Arc;

use sylvan::Dialect;
use sylvan_tags::{Unit, xliff_units};

use crate::hosts::Host;
use crate::pool::Pool;
use crate::texts::{Untranslated, Wanted, translate};

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    Html,
    /// Subtitles: SubRip.
    Srt,
    /// What translators' tools exchange: XLIFF 1.2.
    Xliff,
}

/// How names of files end.
pub(crate) const ENDINGS: [(&str, Format); 6] = [
    (".txt", Format::Text),
    (".html", Format::Html),
    (".htm", Format::Html),
    (".srt", Format::Srt),
    (".xlf", Format::Xliff),
    (".xliff", Format::Xliff),
];

impl Format {
    /// By the ending of a file's name, and where that begins.
    pub(crate) fn of(name: &str) -> Option<(Self, usize)> {
        let (_, ending) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty())?;
        let known = ENDINGS.iter().find(|(known, _)| known[1..].eq_ignore_ascii_case(ending))?;
        Some((known.1, name.len() - known.0.len()))
    }

    /// What clients are told that it is.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::Html => "text/html; charset=utf-8",
            Self::Xliff => "application/xliff+xml",
            Self::Text | Self::Srt => "text/plain; charset=utf-8",
        }
    }
}

/// A document in another language. Whatever is no text of it stays byte by byte.
pub(crate) async fn translated(
    pool: &Pool,
    host: &Arc<Host>,
    document: &str,
    format: Format,
    mut wanted: Wanted,
) -> Result<String, Untranslated> {
    // Where the texts are, and what they take the place of.
    let units = if format == Format::Xliff { xliff_units(document) } else { Vec::new() };
    let (texts, places): (Vec<String>, Vec<[usize; 2]>) = match format {
        Format::Text | Format::Html => (vec![document.to_string()], vec![[0, document.len()]]),
        Format::Srt => {
            let said = speeches(document);
            (said.iter().map(|&[start, end]| one_line(&document[start..end])).collect(), said)
        }
        Format::Xliff => {
            let source = |unit: &Unit| document[unit.source[0]..unit.source[1]].to_string();
            (units.iter().map(source).collect(), units.iter().map(|unit| unit.place).collect())
        }
    };
    wanted.dialect = match format {
        Format::Text => None,
        Format::Html | Format::Srt => Some(Dialect::Html),
        Format::Xliff => Some(Dialect::Xliff),
    };
    let all = translate(pool, &texts, &vec![Some(Arc::clone(host)); texts.len()], &wanted).await?;
    let mut out = String::with_capacity(document.len());
    let mut at = 0;
    for (number, (&[start, end], best)) in places.iter().zip(&all).enumerate() {
        out.push_str(&document[at..start]);
        match format {
            Format::Text | Format::Html => out.push_str(&best[0]),
            Format::Srt => out.push_str(&in_lines(&best[0], &document[start..end])),
            Format::Xliff => out.push_str(&units[number].target(&best[0])),
        }
        at = end;
    }
    out.push_str(&document[at..]);
    Ok(out)
}

/// What is said in subtitles, as bytes: the lines after a time up to an empty one; where several people speak, each by itself.
fn speeches(document: &str) -> Vec<[usize; 2]> {
    let mut found: Vec<[usize; 2]> = Vec::new();
    // Whether a time was the last line but those of the same speech.
    let (mut is_timed, mut is_same) = (false, false);
    let mut at = 0;
    for line in document.split_inclusive('\n') {
        let text = line.trim();
        let start = at + (line.len() - line.trim_start().len());
        at += line.len();
        if text.is_empty() {
            (is_timed, is_same) = (false, false);
        } else if text.contains("-->") {
            (is_timed, is_same) = (true, false);
        } else if is_timed {
            // Codes for places on the screen stand before the text.
            let codes = if text.starts_with("{\\") { text.find('}').map_or(0, |end| end + 1) } else { 0 };
            let [start, end] = [start + codes, start + text.len()];
            let begins = text[codes..].starts_with(['-', '\u{2013}', '\u{2014}']);
            match found.last_mut() {
                Some(last) if is_same && !begins => last[1] = end,
                _ => found.push([start, end]),
            }
            is_same = true;
        }
    }
    found
}

/// Sentences do not end where lines do.
fn one_line(speech: &str) -> String {
    speech.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

/// A text in as many lines as another has, as even as its spaces allow. Lines end as they did.
fn in_lines(text: &str, like: &str) -> String {
    let count = like.lines().count();
    let end = if like.contains("\r\n") { "\r\n" } else { "\n" };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    for left in (2..=count).rev() {
        // The space that is nearest to where a line should end, unless it is in a tag.
        let length = |text: &str| text.chars().count() as i64;
        let ideal = length(rest) / left as i64;
        let spaces = rest
            .match_indices(' ')
            .map(|(at, _)| at)
            .filter(|&at| rest[..at].rfind('<').is_none_or(|opened| rest[opened..at].contains('>')));
        let Some(at) = spaces.min_by_key(|&at| (length(&rest[..at]) - ideal).abs()) else { break };
        out.push_str(rest[..at].trim_end());
        out.push_str(end);
        rest = rest[at..].trim_start();
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_in_subtitles_is_found() {
        let file = "1\r\n00:00:01,000 --> 00:00:02,000\r\nOne\r\ntwo.\r\n\r\n2\n00:00:03,000 --> 00:00:04,000\n\
                    - Three\nfour.\n- <i>Five</i>\n\n3\n00:00:05,000 --> 00:00:06,000\n{\\an8}Six\n\n4\n\nseven";
        let said: Vec<&str> = speeches(file).into_iter().map(|[start, end]| &file[start..end]).collect();
        assert_eq!(said, ["One\r\ntwo.", "- Three\nfour.", "- <i>Five</i>", "Six"]);
        assert_eq!(one_line(said[0]), "One two.");
        assert!(speeches("").is_empty());
    }

    #[test]
    fn lines_are_as_many_as_they_were() {
        assert_eq!(in_lines("one two three", "a\r\nb"), "one two\r\nthree");
        assert_eq!(in_lines("one two three", "a\nb\nc"), "one\ntwo\nthree");
        assert_eq!(in_lines("one", "a\nb"), "one");
        assert_eq!(in_lines("<font color=\"red\">a b</font>", "a\nb"), "<font color=\"red\">a\nb</font>");
        assert_eq!(in_lines("a b", "a"), "a b");
    }

    #[test]
    fn files_are_known_by_their_endings() {
        assert_eq!(Format::of("a.TXT"), Some((Format::Text, 1)));
        assert_eq!(Format::of("a.b.htm"), Some((Format::Html, 3)));
        for wrong in ["", "txt", ".txt", "a.docx", "a.txt.exe", "a."] {
            assert_eq!(Format::of(wrong), None, "{wrong}");
        }
    }
}
