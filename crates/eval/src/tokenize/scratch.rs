//! The buffers between which rewriting passes go back and forth, and the pass over pairs of neighbours.

/// Two buffers; they keep their memory between lines.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// The text so far.
    pub(super) from: String,
    to: String,
}

impl Scratch {
    /// Rewrites the text.
    pub(super) fn pass(&mut self, rewrite: impl Fn(&str, &mut String)) {
        self.to.clear();
        rewrite(&self.from, &mut self.to);
        std::mem::swap(&mut self.from, &mut self.to);
    }
}

/// Where a pass over pairs of neighbours puts its spaces.
#[derive(Clone, Copy)]
pub(super) enum Gap {
    /// `ab` becomes `a b `.
    BeforeSecond,
    /// `ab` becomes ` a b`.
    AroundFirst,
}

/// Rewrites each pair of neighbouring bytes that `matches`, from the left and without overlap.
///
/// Bytes will do for characters here: the rules ask for ASCII characters and for anything that is no ASCII digit, and
/// a pair that matches has an ASCII character at its cut, so no character is cut in two.
pub(super) fn pairs(text: &str, out: &mut String, matches: impl Fn(u8, u8) -> bool, gap: Gap) {
    let bytes = text.as_bytes();
    let (mut at, mut copied) = (0, 0);
    while at + 1 < bytes.len() {
        if !matches(bytes[at], bytes[at + 1]) {
            at += 1;
            continue;
        }
        // The second byte may open a longer character, which the pair eats as a whole.
        let end = (at + 2..=bytes.len()).find(|&end| text.is_char_boundary(end)).unwrap_or(bytes.len());
        match gap {
            Gap::BeforeSecond => {
                out.push_str(&text[copied..=at]);
                out.push(' ');
                out.push_str(&text[at + 1..end]);
                out.push(' ');
            }
            Gap::AroundFirst => {
                out.push_str(&text[copied..at]);
                out.push(' ');
                out.push_str(&text[at..=at]);
                out.push(' ');
                out.push_str(&text[at + 1..end]);
            }
        }
        (at, copied) = (end, end);
    }
    out.push_str(&text[copied..]);
}
