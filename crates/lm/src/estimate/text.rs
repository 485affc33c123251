//! Text to word ids, in batches that threads work on.
//!
//! Ids follow the first appearance of the words, whatever the number of threads: a thread gives the words of its
//! batch ids of their own, and the vocabularies of the batches, which are much shorter than the batches, are
//! joined one after the other.

use sylvan_base::{Fault, InputError, Result, Vocab};
use sylvan_store::TextReader;

use super::{BEGIN_ID, END_ID};
use crate::{BEGIN, END, UNKNOWN};

/// Bytes of a batch, more or less.
const BATCH: usize = 1 << 19;

/// The vocabulary that every text starts with.
pub(crate) fn marks() -> Vocab {
    Vocab::of([UNKNOWN, BEGIN, END])
}

/// What is done about `<s>`, `</s>` and `<unk>` in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Marks {
    /// They are errors.
    #[default]
    Refuse,
    /// They are left out.
    Skip,
}

/// Some lines of a text.
#[derive(Debug)]
pub(crate) struct Batch {
    name: String,
    first_line: u64,
    lines: u64,
    text: String,
}

/// The same lines as word ids, and what the ids mean.
#[derive(Debug)]
pub(crate) struct Ids {
    pub(crate) lines: u64,
    pub(crate) tokens: Vec<u32>,
    pub(crate) vocab: Vocab,
}

impl Batch {
    /// The next lines, if there are any.
    pub(crate) fn read(reader: &mut TextReader) -> Result<Option<Self>> {
        let mut batch = Self {
            name: reader.name().to_string(),
            first_line: reader.line_number() + 1,
            lines: 0,
            text: String::with_capacity(BATCH + BATCH / 8),
        };
        while batch.text.len() < BATCH {
            let Some(line) = reader.next_line()? else { break };
            batch.text.push_str(line);
            batch.text.push('\n');
            batch.lines += 1;
        }
        Ok((batch.lines > 0).then_some(batch))
    }

    pub(crate) fn ids(&self, marks_are: Marks) -> Result<Ids> {
        let mut ids =
            Ids { lines: self.lines, tokens: Vec::with_capacity(self.text.len() / 4), vocab: marks() };
        for (number, line) in (self.first_line..).zip(self.text.split_terminator('\n')) {
            tokenise(line, marks_are, &mut ids.vocab, &mut ids.tokens)
                .map_err(|fault| -> InputError { fault.at(&self.name, number) })?;
        }
        Ok(ids)
    }
}

/// Appends a sentence with its boundaries. Words are what stands between spaces and tabs. After a fault the
/// tokens are as before.
pub(crate) fn tokenise(
    line: &str,
    marks_are: Marks,
    vocab: &mut Vocab,
    tokens: &mut Vec<u32>,
) -> std::result::Result<(), Fault> {
    let before = tokens.len();
    tokens.push(BEGIN_ID);
    let bytes = line.as_bytes();
    let is_space = |byte: u8| byte == b' ' || byte == b'\t';
    let mut at = 0;
    while at < bytes.len() {
        if is_space(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && !is_space(bytes[at]) {
            at += 1;
        }
        let word = vocab.intern(&line[start..at]).0;
        if word > END_ID {
            tokens.push(word);
        } else if marks_are == Marks::Refuse {
            tokens.truncate(before);
            return Err(Fault::at_byte(
                line,
                start,
                &line[start..at],
                "a word, not a mark of the language model",
            )
            .advise("remove it, or skip such marks (--skip-symbols)"));
        }
    }
    tokens.push(END_ID);
    Ok(())
}

impl Ids {
    /// Appends the tokens with the ids of `vocab`, which grows by the new words.
    pub(crate) fn join(&self, vocab: &mut Vocab, tokens: &mut Vec<u32>) {
        let ids: Vec<u32> = self.vocab.iter().map(|(_, text)| vocab.intern(text).0).collect();
        tokens.extend(self.tokens.iter().map(|&token| ids[token as usize]));
    }
}
