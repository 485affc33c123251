//! What kind of character something is.

use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// Belongs to the character before it: accents, vowel signs, joiners and other invisible signs.
pub(crate) fn attaches(c: char) -> bool {
    !c.is_ascii()
        && (c.general_category_group() == GeneralCategoryGroup::Mark
            || c.general_category() == GeneralCategory::Format)
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
