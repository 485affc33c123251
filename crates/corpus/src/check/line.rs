//! What can be seen on one line alone.

use super::{CheckOptions, Kind};

/// The scripts that are distinguished, as places in [`LineFacts::scripts`].
pub(super) const SCRIPTS: [&str; 8] =
    ["Latin", "Cyrillic", "Greek", "Arabic or Hebrew", "Han", "Kana", "Hangul", "another script"];

/// What is kept of one side of a line.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LineFacts {
    /// Words between spaces.
    pub words: u32,
    /// Characters, wide ones double, without spaces.
    pub width: u32,
    /// Letters.
    pub letters: u32,
    /// The most frequent script among the letters, and how many letters are of it.
    pub script: u8,
    pub script_letters: u32,
}

impl LineFacts {
    pub(super) fn is_empty(&self) -> bool {
        self.words == 0
    }
}

/// Looks at one side of a line.
pub(super) fn look(bytes: &[u8], options: &CheckOptions, mut report: impl FnMut(Kind, String)) -> LineFacts {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => std::borrow::Cow::Borrowed(text),
        Err(error) => {
            let at = error.valid_up_to();
            report(Kind::InvalidUtf8, format!("byte 0x{:02x} at byte {}", bytes[at], at + 1));
            String::from_utf8_lossy(bytes)
        }
    };
    let invalid = matches!(text, std::borrow::Cow::Owned(_));
    let mut facts = LineFacts::default();
    let mut scripts = [0u32; SCRIPTS.len()];
    let (mut control, mut digits) = (None, 0);
    for c in text.chars() {
        match c {
            'a'..='z' | 'A'..='Z' => {
                scripts[0] += 1;
                facts.width += 1;
            }
            '0'..='9' => {
                digits += 1;
                facts.width += 1;
            }
            ' ' | '\t' => {}
            '!'..='~' => facts.width += 1,
            _ => {
                if is_control(c) {
                    control = control.or(Some(c));
                } else if !c.is_whitespace() {
                    let script = script(c);
                    if let Some(script) = script {
                        scripts[script] += 1;
                    }
                    digits += u32::from(script.is_none() && c.is_numeric());
                    facts.width += 1 + u32::from(matches!(script, Some(4..=6)));
                }
            }
        }
    }
    facts.letters = scripts.iter().sum();
    // Kana beside Han is Japanese: the two count together.
    if scripts[5] > 0 {
        scripts[5] += scripts[4];
        scripts[4] = 0;
    }
    // A Han character says about as much as three letters, a syllable of kana or Hangul as two.
    let weight = |script: usize| scripts[script] * [1, 1, 1, 1, 3, 2, 2, 1][script];
    let most = (0..SCRIPTS.len()).rev().max_by_key(|&script| weight(script)).unwrap_or(0);
    (facts.script, facts.script_letters) = (most as u8, scripts[most]);
    let (mut last, mut run) = ("", 0);
    for word in text.split_whitespace() {
        facts.words += 1;
        run = if word == last { run + 1 } else { 1 };
        last = word;
        if run == options.repeats && word.chars().any(char::is_alphabetic) {
            report(Kind::Repetition, format!("{word:?} {run} times in a row"));
        }
    }
    if facts.words as usize > options.max_words {
        report(Kind::TooLong, format!("{} words", facts.words));
    }
    if let Some(c) = control {
        report(Kind::ControlCharacter, format!("U+{:04X}", c as u32));
    }
    if facts.words > 0 && facts.letters + digits == 0 {
        report(Kind::NoLetters, "no letters or digits".to_string());
    }
    if !invalid && let Some(sign) = broken(&text) {
        report(Kind::BrokenEncoding, sign);
    }
    if let Some(sign) = markup(&text) {
        report(Kind::Markup, sign);
    }
    facts
}

/// Control characters, and invisible signs that reverse or hide text. Joiners that scripts need do not
/// count.
fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

fn script(c: char) -> Option<usize> {
    Some(match c {
        '\u{c0}'..='\u{24f}' if c != '×' && c != '÷' => 0,
        '\u{1e00}'..='\u{1eff}' => 0,
        '\u{400}'..='\u{52f}' => 1,
        '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => 2,
        '\u{590}'..='\u{77f}' | '\u{8a0}'..='\u{8ff}' => 3,
        '々'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}' => 4,
        '\u{3041}'..='\u{309f}' | '\u{30a1}'..='\u{30ff}' | '\u{ff66}'..='\u{ff9f}' => 5,
        '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7af}' => 6,
        _ if c.is_alphabetic() => 7,
        _ => return None,
    })
}

/// The replacement character, or UTF-8 read as Latin-1 or Windows-1252: A or a with a circumflex or tilde, followed
/// by a sign that does not occur inside words.
fn broken(text: &str) -> Option<String> {
    if text.is_ascii() {
        return None;
    }
    if text.contains('\u{fffd}') {
        return Some("U+FFFD, the sign for what could not be decoded".to_string());
    }
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied().unwrap_or(' ');
        let tail = matches!(
            next,
            '\u{a1}'
                ..='\u{bf}'
                    | '€'
                    | '‚'
                    | 'ƒ'
                    | '„'
                    | '…'
                    | '†'
                    | '‡'
                    | '‰'
                    | 'Š'
                    | '™'
                    | 'š'
                    | 'œ'
                    | 'ž'
        );
        if matches!(c, 'Ã' | 'Å' | 'Ä') && tail || c == 'â' && next == '€' {
            return Some(format!("{c}{next}, as UTF-8 looks when it is taken for Latin-1"));
        }
    }
    None
}

/// An element or an entity.
fn markup(text: &str) -> Option<String> {
    if !text.as_bytes().iter().any(|byte| matches!(byte, b'<' | b'&')) {
        return None;
    }
    for (at, _) in text.match_indices(['<', '&']) {
        let rest = &text[at + 1..];
        let (close, longest) = if text[at..].starts_with('<') { ('>', 100) } else { (';', 8) };
        let body = rest.strip_prefix('/').unwrap_or(rest);
        let named =
            body.starts_with(|c: char| c.is_ascii_alphabetic()) || close == ';' && body.starts_with('#');
        let end = rest.find(close).filter(|&end| end > 0 && end <= longest);
        if let Some(end) = end.filter(|_| named)
            && (close == '>' && !rest[..end].contains('<')
                || rest[..end].bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'#'))
        {
            return Some(text[at..=at + 1 + end].to_string());
        }
    }
    None
}
