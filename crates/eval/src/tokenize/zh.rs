//! The Chinese tokeniser of sacreBLEU: every Chinese character is a word, the rest follows the four passes of
//! 13a (without its entities, and without the spaces that it puts around the line).

use super::is_space;
use super::scratch::Scratch;
use super::v13a;

/// Cuts a line; the words stand in `scratch`, separated by spaces.
pub(super) fn cut(line: &str, scratch: &mut Scratch) {
    scratch.from.clear();
    for c in line.trim_matches(is_space).chars() {
        if is_single(c) {
            scratch.from.extend([' ', c, ' ']);
        } else {
            scratch.from.push(c);
        }
    }
    v13a::western(scratch);
}

/// Whether a character is a word of its own.
fn is_single(c: char) -> bool {
    // The established list means to contain U+20000..U+2A6D6 and U+2F800..U+2FA1D but writes them with four
    // digits and a letter behind, so that it contains U+2001..U+2A6D (quotation marks, dashes, arrows, ...) and
    // U+2F81..U+2FA1 instead. Published scores were computed with it, so it stays.
    matches!(c,
        '\u{2001}'..='\u{2a6d}'
        | '\u{2e80}'..='\u{2fdf}'
        | '\u{2ff0}'..='\u{303f}'
        | '\u{3100}'..='\u{312f}'
        | '\u{31a0}'..='\u{31bf}'
        | '\u{31c0}'..='\u{31ef}'
        | '\u{3200}'..='\u{33ff}'
        | '\u{3400}'..='\u{4db5}'
        | '\u{4e00}'..='\u{9fbb}'
        | '\u{f900}'..='\u{fa2d}'
        | '\u{fa30}'..='\u{fa6a}'
        | '\u{fa70}'..='\u{fad9}'
        | '\u{fe10}'..='\u{fe1f}'
        | '\u{fe30}'..='\u{fe4f}'
        | '\u{ff00}'..='\u{ffef}')
}

#[cfg(test)]
mod tests {
    use crate::Tokenizer;

    #[test]
    fn chinese_characters_are_words() {
        let check = |line: &str, expected: &str| assert_eq!(Tokenizer::Zh.tokenize(line), expected, "{line}");
        check("我有3.5本书。OK?", "我 有 3.5 本 书 。 OK ?");
        check(" “新”—x ", "“ 新 ” — x");
        check("5.", "5.");
        check("&lt;", "& lt ;");
    }
}
