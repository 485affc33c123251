//! Where sentences end.
//!
//! A sentence ends after `.`, `!`, `?` or `…` with its closing quotation marks and brackets, when space follows and
//! then something that can begin a sentence: a capital, a digit, an opening mark, a letter without case. A full
//! stop of an abbreviation or an initial ends none. Chinese and Japanese full stops end a sentence at once.

use crate::Lang;

/// The sentences of a text, trimmed, none of them empty.
pub fn sentences(lang: Lang, text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let wide = matches!(c, '。' | '！' | '？');
        if !wide && !matches!(c, '.' | '!' | '?' | '…') {
            continue;
        }
        let mut end = at + c.len_utf8();
        // More end marks, then what closes.
        while let Some(&(next, mark)) = chars.peek() {
            if !matches!(mark, '.' | '!' | '?' | '…' | '。' | '！' | '？') && !closes(mark) {
                break;
            }
            chars.next();
            end = next + mark.len_utf8();
        }
        let rest = &text[end..];
        let spaced = rest.starts_with(char::is_whitespace);
        let begun = spaced && rest.trim_start().chars().next().is_some_and(begins);
        if !wide && !begun {
            continue;
        }
        if c == '.' && end == at + 1 && is_short(lang, &text[start..at], rest.trim_start()) {
            continue;
        }
        out.push(text[start..end].trim());
        start = end;
    }
    out.push(text[start..].trim());
    out.retain(|sentence| !sentence.is_empty());
    out
}

fn closes(c: char) -> bool {
    matches!(c, '"' | '\'' | ')' | ']' | '}' | '”' | '’' | '»' | '“' | '」' | '』' | '）')
}

fn begins(c: char) -> bool {
    !c.is_lowercase()
        && (c.is_alphanumeric()
            || matches!(c, '"' | '\'' | '(' | '[' | '“' | '„' | '«' | '¿' | '¡' | '‘' | '-' | '–'))
}

/// Whether the full stop after `text` only marks an abbreviation.
fn is_short(lang: Lang, text: &str, rest: &str) -> bool {
    let word = text.rsplit(char::is_whitespace).next().unwrap_or("");
    let word = word.trim_start_matches(|c: char| !c.is_alphanumeric());
    if word.is_empty() {
        return false;
    }
    let number = rest.starts_with(|c: char| c.is_numeric());
    // U.S. and z.B.; they may end a sentence, but far more often they do not.
    let letters =
        |part: &str| (1..=2).contains(&part.chars().count()) && part.chars().all(char::is_alphabetic);
    word.contains('.') && word.split('.').all(letters)
        || lang.is_abbreviation(word)
        || lang.is_ordinal(word)
        || number && lang.is_before_number(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lang: Lang, text: &str, expected: &str) {
        assert_eq!(sentences(lang, text).join("|"), expected);
    }

    #[test]
    fn sentences_end_where_they_should() {
        check(
            Lang::En,
            "He left. She stayed!  \"Why?\" No. 5 is here.",
            "He left.|She stayed!|\"Why?\"|No. 5 is here.",
        );
        check(Lang::En, "Mr. Smith met J. Doe. They spoke.", "Mr. Smith met J. Doe.|They spoke.");
        check(Lang::En, "It costs 3.50 at x.org. (Really.) So", "It costs 3.50 at x.org.|(Really.)|So");
        check(Lang::En, "Wait... what? e.g. this", "Wait... what? e.g. this");
        check(Lang::De, "Am 3. Mai kam er. Dann ging er.", "Am 3. Mai kam er.|Dann ging er.");
        check(Lang::Zh, "你好。我很好！是吗？", "你好。|我很好！|是吗？");
        check(Lang::Ja, "「はい。」と言った。次。", "「はい。」|と言った。|次。");
        check(Lang::En, "  ", "");
    }
}
