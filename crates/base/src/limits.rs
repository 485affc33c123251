//! What input may demand of a machine. Anything above is an error with its place, before memory is asked for.
//!
//! No text of people comes near these limits; a file that does is damaged, of another kind, or hostile. They are
//! such that whatever is let through takes less than 2 GB.

/// The longest line of a text, in bytes.
pub const LINE_BYTES: usize = 16 << 20;

/// The longest block of lines that belong together: a sentence in CoNLL-U, a forest, a tree over many lines.
pub const BLOCK_BYTES: usize = 64 << 20;

/// The most words of a sentence that is parsed or translated. Time and memory grow with them: 20,000 take about
/// 20 seconds and 1.4 GB with a large model.
pub const SENTENCE_WORDS: usize = 20_000;

/// The deepest tree. Trees of people's sentences have some dozens of levels.
pub const TREE_DEPTH: usize = 20_000;

/// The highest number of a word that a link may name, counted from 0.
pub const LINK_NUMBER: u32 = 1_000_000;

/// The largest weight of a feature, whatever its sign. Larger ones make scores that are no numbers.
pub const WEIGHT: f64 = 1e9;

/// The largest value of a feature, whatever its sign: so many of these times [`WEIGHT`] are still numbers.
pub const VALUE: f32 = 1e15;

/// The most characters of its input that a message shows.
const SHOWN: usize = 160;

/// The beginning of a text, for a message; what follows becomes dots.
pub fn shorten(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}... ({} more bytes)", &text[..end], text.len() - end),
        None => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(shorten("short"), "short");
        let exact = "é".repeat(SHOWN);
        assert_eq!(shorten(&exact), exact);
        assert_eq!(shorten(&format!("{exact}ab")), format!("{exact}... (2 more bytes)"));
    }
}
