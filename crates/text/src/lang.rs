//! What is particular about a language: abbreviations, apostrophes, quotation marks, spaces.

use std::convert::Infallible;
use std::str::FromStr;

/// A language as far as its rules differ. All others have the general rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Lang {
    /// English.
    En,
    /// German.
    De,
    /// French.
    Fr,
    /// Czech.
    Cs,
    /// Chinese.
    Zh,
    /// Japanese.
    Ja,
    /// Any other language that writes spaces.
    Other,
}

/// By its ISO 639-1 code; a code without rules of its own is [`Lang::Other`].
impl FromStr for Lang {
    type Err = Infallible;
    fn from_str(code: &str) -> Result<Self, Infallible> {
        Ok(match code.split(['-', '_']).next().unwrap_or("").to_ascii_lowercase().as_str() {
            "en" => Self::En,
            "de" => Self::De,
            "fr" => Self::Fr,
            "cs" => Self::Cs,
            "zh" => Self::Zh,
            "ja" => Self::Ja,
            _ => Self::Other,
        })
    }
}

/// On which side of an apostrophe between two letters the line is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Elision {
    /// `doesn 't`
    Before,
    /// `l' homme`
    After,
    /// `x ' y`
    Around,
}

impl Lang {
    /// Whether it is written without spaces between words.
    pub fn is_spaceless(self) -> bool {
        matches!(self, Self::Zh | Self::Ja)
    }

    pub(crate) fn elision(self) -> Elision {
        match self {
            Self::En => Elision::Before,
            Self::Fr => Elision::After,
            _ => Elision::Around,
        }
    }

    /// Whether a full stop after `word` belongs to it wherever it stands.
    pub(crate) fn is_abbreviation(self, word: &str) -> bool {
        // A single capital is an initial.
        let mut chars = word.chars();
        if let (Some(c), None) = (chars.next(), chars.next())
            && c.is_uppercase()
            && c.is_alphabetic()
        {
            return true;
        }
        let list: &[&str] = match self {
            Self::En => &EN,
            Self::De => &DE,
            Self::Fr => &FR,
            Self::Cs => &CS,
            _ => &[],
        };
        list.contains(&word)
    }

    /// Whether a full stop makes an ordinal of `word`, as on days in German and Czech.
    pub(crate) fn is_ordinal(self, word: &str) -> bool {
        let short = (1..=2).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit());
        short && matches!(self, Self::De | Self::Cs)
    }

    /// Whether a full stop after `word` belongs to it when a number follows: "No. 5".
    pub(crate) fn is_before_number(self, word: &str) -> bool {
        let list: &[&str] = match self {
            Self::En => &["No", "Nos", "Art", "Nr", "pp", "p", "vol", "Vol", "fig", "Fig", "ch", "sec"],
            Self::De => &["Nr", "Art", "Bd", "Abb", "Kap", "S"],
            Self::Fr => &["art", "fig", "p", "pp", "vol", "chap"],
            Self::Cs => &["č", "čl", "str", "kap", "obr"],
            _ => &[],
        };
        list.contains(&word)
    }
}

const EN: [&str; 52] = [
    "Mr", "Mrs", "Ms", "Dr", "Prof", "St", "Sr", "Jr", "Gen", "Col", "Capt", "Lt", "Sgt", "Maj", "Adm",
    "Cmdr", "Gov", "Sen", "Rep", "Rev", "Hon", "Pres", "Supt", "Mt", "Ft", "Ave", "Blvd", "Rd", "Bros",
    "Inc", "Ltd", "Corp", "Co", "vs", "v", "etc", "al", "approx", "dept", "est", "Jan", "Feb", "Mar", "Apr",
    "Jun", "Jul", "Aug", "Sep", "Sept", "Oct", "Nov", "Dec",
];

const DE: [&str; 38] = [
    "Hr", "Hrn", "Fr", "Frl", "Dr", "Prof", "Ing", "Dipl", "Mag", "St", "Str", "Nr", "Abs", "Art", "Bd",
    "bzw", "bspw", "ca", "evtl", "ggf", "inkl", "exkl", "max", "min", "sog", "usw", "usf", "vgl", "zzgl",
    "Jan", "Feb", "Apr", "Aug", "Sept", "Okt", "Nov", "Dez", "Tel",
];

const FR: [&str; 26] = [
    "M", "MM", "Mme", "Mmes", "Mlle", "Mlles", "Mgr", "Dr", "Pr", "Me", "St", "Ste", "av", "bd", "cf", "env",
    "etc", "ex", "janv", "févr", "juil", "sept", "oct", "nov", "déc", "tél",
];

const CS: [&str; 34] = [
    "atd", "apod", "tj", "tzv", "tzn", "např", "popř", "příp", "resp", "cca", "č", "čl", "ing", "Ing", "Mgr",
    "Bc", "MUDr", "JUDr", "PhDr", "RNDr", "Dr", "prof", "Prof", "doc", "Doc", "sv", "Sv", "ul", "nám", "tř",
    "hod", "min", "str", "tel",
];
