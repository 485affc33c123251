//! What kind of character something is.

use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// Belongs to the character before it: accents, vowel signs, joiners and other invisible signs.
pub(crate) fn attaches(c: char) -> bool {
    !c.is_ascii()
        && (c.general_category_group() == GeneralCategoryGroup::Mark
            || c.general_category() == GeneralCategory::Format)
}

/// Whether a character belongs to the emoji before it: the colour of a skin, the other half of a flag, the next
/// picture of those that are joined into one.
pub(crate) fn completes(before: &str, c: char) -> bool {
    let (first, last) = (before.chars().next(), before.chars().next_back());
    let picture = |c: Option<char>| c.is_some_and(|c| !c.is_ascii() && !is_word(c));
    let half = |c: Option<char>| c.is_some_and(|c| ('\u{1f1e6}'..='\u{1f1ff}').contains(&c));
    match c {
        '\u{1f3fb}'..='\u{1f3ff}' => picture(first),
        _ if half(Some(c)) => half(first) && first == last && before.chars().count() == 1,
        _ => last == Some('\u{200d}') && picture(first) && picture(Some(c)),
    }
}

/// Letters and digits of all scripts.
pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric()
}

/// An apostrophe, straight or typographic.
pub(crate) fn is_apostrophe(c: char) -> bool {
    c == '\'' || c == '’'
}

/// Scripts as far as segmentation cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Script {
    Han,
    Hiragana,
    Katakana,
    /// Other scripts that write no spaces between words: Thai, Lao, Khmer, Burmese, Tibetan.
    Spaceless,
    Letter,
    Digit,
    Space,
    Other,
}

/// The script of a character.
pub(crate) fn script(c: char) -> Script {
    match c {
        '々' | '〆' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => {
            Script::Han
        }
        '\u{20000}'..='\u{3ffff}' => Script::Han,
        '\u{3041}'..='\u{309f}' => Script::Hiragana,
        '\u{30a1}'..='\u{30fa}' | 'ー' | '\u{30fd}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' => {
            Script::Katakana
        }
        '\u{ff66}'..='\u{ff9f}' => Script::Katakana,
        '\u{e00}'..='\u{eff}' | '\u{f00}'..='\u{fff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' => {
            Script::Spaceless
        }
        _ if c.is_numeric() => Script::Digit,
        _ if c.is_alphabetic() || attaches(c) => Script::Letter,
        _ if c.is_whitespace() => Script::Space,
        _ => Script::Other,
    }
}
