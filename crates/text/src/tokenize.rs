//! Cutting a line into tokens.
//!
//! The rules are those of the Moses tokeniser, the usual one for phrase- and syntax-based translation, written as
//! one pass over the characters. Where spaces do not separate words, the [`Segmenter`](crate::Segmenter) takes
//! over.
//!
//! 1. Spaces cut.
//! 2. What is protected stays whole.
//! 3. A mark that is no letter, digit, full stop, comma, apostrophe, back-tick or hyphen is a token.
//! 4. Two full stops or more are a token.
//! 5. A comma is a token unless digits stand on both sides.
//! 6. An apostrophe is cut as the language demands ([`Elision`]).
//! 7. A full stop at the end of a piece is a token, unless the piece is an abbreviation or the next begins with a
//!    small letter.
//!
//! It differs from Moses on purpose: addresses, markup and emoji stay whole, an accent stays with its letter, and a
//! typographic apostrophe is an apostrophe.

use crate::chars::{Script, attaches, completes, is_apostrophe, is_word, script};
use crate::lang::Elision;
use crate::token::from_pieces;
use crate::{Lang, Protect, Segmenter, Token};

/// Cuts lines of one language into tokens.
#[derive(Debug, Clone)]
pub struct Tokenizer {
    lang: Lang,
    protect: Protect,
    segmenter: Segmenter,
}

/// A part of a line between cuts.
#[derive(Debug, Clone, Copy)]
struct Piece {
    start: usize,
    end: usize,
    /// Whether a full stop at its end may still be cut off.
    open: bool,
}

impl Tokenizer {
    /// The rules of a language.
    pub fn new(lang: Lang) -> Self {
        Self { lang, protect: Protect::default(), segmenter: Segmenter::for_lang(lang) }
    }

    /// Keeps more than addresses and markup in one piece.
    #[must_use]
    pub fn protecting(mut self, protect: Protect) -> Self {
        self.protect = protect;
        self
    }

    /// Cuts text without spaces with this segmenter.
    #[must_use]
    pub fn segmenting(mut self, segmenter: Segmenter) -> Self {
        self.segmenter = segmenter;
        self
    }

    /// The byte ranges of a line that stay in one piece.
    pub fn kept(&self, line: &str) -> Vec<(usize, usize)> {
        self.protect.find(line)
    }

    /// The tokens of a line, from left to right.
    pub fn tokenize(&self, line: &str) -> Vec<Token> {
        let kept = self.kept(line);
        let mut pieces = Vec::with_capacity(line.len() / 4 + 1);
        let mut at = 0;
        for &(start, end) in &kept {
            self.cut(line, at, start, &mut pieces);
            // Space inside what is kept still separates tokens, because tokens are written with spaces.
            for part in line[start..end].split_whitespace() {
                let from = part.as_ptr() as usize - line.as_ptr() as usize;
                pieces.push(Piece { start: from, end: from + part.len(), open: false });
            }
            at = end;
        }
        self.cut(line, at, line.len(), &mut pieces);
        from_pieces(&self.stops(line, &pieces))
    }

    /// Rules 1 and 3 to 6, for the bytes `start..end`.
    fn cut(&self, line: &str, start: usize, end: usize, pieces: &mut Vec<Piece>) {
        let mut open: Option<usize> = None;
        let mut chars = line[start..end].char_indices().map(|(at, c)| (start + at, c)).peekable();
        let mut before = line[..start].chars().next_back();
        while let Some((at, c)) = chars.next() {
            let after = chars.peek().map(|&(_, c)| c).or_else(|| line[end..].chars().next());
            if c.is_whitespace() {
                self.close(line, &mut open, at, pieces);
                before = Some(c);
                continue;
            }
            let (cut_before, cut_after) = self.cuts(before, c, after);
            if cut_before {
                self.close(line, &mut open, at, pieces);
            }
            let from = *open.get_or_insert(at);
            let mut stop = at + c.len_utf8();
            // Marks go with the character before them, an emoji of several characters and a run of full stops are
            // one token.
            while let Some(&(next, mark)) = chars.peek() {
                let run = c == '.' && mark == '.' || completes(&line[at..stop], mark);
                if !(attaches(mark) && !is_word(mark) || run) {
                    break;
                }
                chars.next();
                stop = next + mark.len_utf8();
            }
            if cut_after {
                pieces.push(Piece { start: from, end: stop, open: false });
                open = None;
            }
            before = Some(c);
        }
        self.close(line, &mut open, end, pieces);
    }

    /// Ends the open piece, which is segmented if it has no spaces where there should be.
    fn close(&self, line: &str, open: &mut Option<usize>, end: usize, pieces: &mut Vec<Piece>) {
        let Some(start) = open.take() else { return };
        let text = &line[start..end];
        let spaceless =
            |c| matches!(script(c), Script::Han | Script::Hiragana | Script::Katakana | Script::Spaceless);
        if text.is_ascii() || !text.chars().any(spaceless) {
            pieces.push(Piece { start, end, open: true });
            return;
        }
        let mut from = start;
        for cut in self.segmenter.cuts(text) {
            pieces.push(Piece { start: from, end: start + cut, open: false });
            from = start + cut;
        }
        pieces.push(Piece { start: from, end, open: true });
    }

    /// Whether to cut before and after a character. `None` is the edge of the line.
    fn cuts(&self, before: Option<char>, c: char, after: Option<char>) -> (bool, bool) {
        let is = |side: Option<char>, test: fn(char) -> bool| side.is_some_and(test);
        match c {
            '.' => {
                let run = after == Some('.');
                (run, run)
            }
            '-' | '`' => (false, false),
            ',' => {
                let number = is(before, char::is_numeric) && is(after, char::is_numeric);
                (!number, !number)
            }
            _ if is_word(c) => (false, false),
            _ if is_apostrophe(c) => {
                let letters = (is(before, char::is_alphabetic), is(after, char::is_alphabetic));
                match (self.lang.elision(), letters) {
                    (Elision::Before, (true, true)) => (true, false),
                    (Elision::After, (true, true)) => (false, true),
                    // "the 90's"; other letters after a digit stay with it.
                    (Elision::Before, (false, true)) if is(before, char::is_numeric) => {
                        (after == Some('s'), false)
                    }
                    _ => (true, true),
                }
            }
            _ if attaches(c) => (false, false),
            _ => (true, true),
        }
    }

    /// Rule 7.
    fn stops(&self, line: &str, pieces: &[Piece]) -> Vec<(usize, usize)> {
        let mut out = Vec::with_capacity(pieces.len() + 1);
        for (index, &Piece { start, end, open }) in pieces.iter().enumerate() {
            let word = line[start..end].strip_suffix('.').filter(|word| open && !word.is_empty());
            let next = pieces.get(index + 1).and_then(|next| line[next.start..next.end].chars().next());
            match word {
                Some(word) if !self.keeps_stop(word, next) => out.extend([(start, end - 1), (end - 1, end)]),
                _ => out.push((start, end)),
            }
        }
        out
    }

    fn keeps_stop(&self, word: &str, next: Option<char>) -> bool {
        word.contains('.') && word.chars().any(char::is_alphabetic)
            || next.is_some_and(char::is_lowercase)
            || self.lang.is_abbreviation(word)
            || next.is_some() && self.lang.is_ordinal(word)
            || next.is_some_and(char::is_numeric) && self.lang.is_before_number(word)
    }
}
