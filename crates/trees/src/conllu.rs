//! Dependency trees in CoNLL-U, the format of Universal Dependencies.
//!
//! A sentence is a block of lines up to a blank one: comments, then a line of ten tab-separated columns per word.
//! Lines of multi-word tokens (`3-4`) and empty nodes (`8.1`) belong to no word; they are checked lightly and kept
//! only on request, and then the writer gives the file back byte for byte.

use std::path::Path;

use sylvan_base::{Fault, Result, Symbol, Vocab};
use sylvan_store::TextReader;

use crate::block::{Block, BlockFault};
use crate::brackets::quote;
use crate::dependency::{DependencyError, DependencyTree, DependencyWord, ExtraLine, Head};

/// How much of a file is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Columns {
    /// Form, lemma, parts of speech, head and relation; the other columns read as `_`.
    #[default]
    Basic,
    /// All columns, comments, multi-word tokens and empty nodes.
    All,
}

const NAMES: [&str; 10] = ["ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"];
const HEAD: usize = 6;

/// The sentence of one block, without the blank line that ends it; `None` if it has no words.
pub fn parse_block(
    block: &str,
    columns: Columns,
    vocab: &mut Vocab,
) -> std::result::Result<Option<DependencyTree>, BlockFault> {
    let mut sentence = Sentence::new(columns, vocab);
    for (number, line) in block.lines().enumerate() {
        sentence.line(number, line, vocab).map_err(|fault| BlockFault { line: number, fault })?;
    }
    sentence.finish(block)
}

/// The part of a sentence that is read.
struct Sentence {
    columns: Columns,
    blank: Symbol,
    words: Vec<DependencyWord>,
    /// The line in the block of each word.
    lines: Vec<u32>,
    comments: Vec<String>,
    extra_lines: Vec<ExtraLine>,
}

/// The kind of a line, from its first column.
enum LineId {
    Word(u32),
    Range(u32, u32),
    EmptyNode(u32),
}

impl Sentence {
    fn new(columns: Columns, vocab: &mut Vocab) -> Self {
        let blank = vocab.intern("_");
        Self {
            columns,
            blank,
            words: Vec::new(),
            lines: Vec::new(),
            comments: Vec::new(),
            extra_lines: Vec::new(),
        }
    }

    fn line(&mut self, number: usize, line: &str, vocab: &mut Vocab) -> std::result::Result<(), Fault> {
        if line.starts_with('#') {
            if self.columns == Columns::All {
                self.comments.push(line.to_string());
            }
            return Ok(());
        }
        let fields = split(line)?;
        let next = self.words.len() as u32 + 1;
        match parse_id(fields[0]) {
            Some(LineId::Word(id)) if id == next => self.word(number, line, &fields, vocab),
            // A range stands before its first word, an empty node after its word.
            Some(LineId::Range(first, last)) if first == next && first <= last => self.extra(line),
            Some(LineId::EmptyNode(after)) if after + 1 == next => self.extra(line),
            Some(_) => Err(Fault::new(1, quote(fields[0]), format!("the word number {next}"))
                .advise("number the words of each sentence 1, 2, 3 and end it with a blank line")),
            None => Err(Fault::new(1, quote(fields[0]), "a word number such as 3, 3-4 or 3.1")),
        }
    }

    fn word(
        &mut self,
        number: usize,
        line: &str,
        fields: &[&str; 10],
        vocab: &mut Vocab,
    ) -> std::result::Result<(), Fault> {
        let head = match fields[HEAD] {
            "_" => Head::Missing,
            text => match digits(text) {
                Some(0) => Head::Root,
                Some(head) => Head::Word(head - 1),
                None => {
                    return Err(Fault::new(
                        column(line, HEAD),
                        quote(text),
                        "the number of the head, 0 or _",
                    ));
                }
            },
        };
        let mut rare = |field: usize| match self.columns {
            Columns::Basic => self.blank,
            Columns::All => vocab.intern(fields[field]),
        };
        let (feats, deps, misc) = (rare(5), rare(8), rare(9));
        self.words.push(DependencyWord {
            form: vocab.intern(fields[1]),
            lemma: vocab.intern(fields[2]),
            upos: vocab.intern(fields[3]),
            xpos: vocab.intern(fields[4]),
            feats,
            head,
            deprel: vocab.intern(fields[7]),
            deps,
            misc,
        });
        self.lines.push(number as u32);
        Ok(())
    }

    fn extra(&mut self, line: &str) -> std::result::Result<(), Fault> {
        if self.columns == Columns::All {
            self.extra_lines.push(ExtraLine { after: self.words.len() as u32, text: line.to_string() });
        }
        Ok(())
    }

    fn finish(self, block: &str) -> std::result::Result<Option<DependencyTree>, BlockFault> {
        if self.words.is_empty() {
            return Ok(None);
        }
        let count = self.words.len();
        match DependencyTree::new(self.words) {
            Ok(mut tree) => {
                tree.comments = self.comments;
                tree.extra_lines = self.extra_lines;
                Ok(Some(tree))
            }
            Err(error) => {
                let line = self.lines[error.word().unwrap_or(0)] as usize;
                let text = block.lines().nth(line).unwrap_or_default();
                Err(BlockFault { line, fault: blame(error, text, count) })
            }
        }
    }
}

/// The fault of a word whose head is wrong, at its HEAD column.
fn blame(error: DependencyError, line: &str, count: usize) -> Fault {
    let at = column(line, HEAD);
    let found = quote(line.split('\t').nth(HEAD).unwrap_or_default());
    match error {
        DependencyError::OutOfRange { .. } => Fault::new(at, found, format!("a head between 0 and {count}")),
        DependencyError::TwoRoots { first, .. } => {
            Fault::new(at, "a second root", format!("one root; word {} is one", first + 1))
        }
        DependencyError::Cycle { .. } => {
            Fault::new(at, format!("the head {found}, which is below this word"), "heads without a cycle")
        }
        DependencyError::NoRoot | DependencyError::Empty => {
            Fault::new(0, "a sentence without a root", "one word with the head 0")
        }
    }
}

/// The ten columns of a line, none of them empty.
fn split(line: &str) -> std::result::Result<[&str; 10], Fault> {
    let mut fields = [""; 10];
    let (mut count, mut start) = (0, 0);
    // One pass over the bytes: ten searches for the next tab cost twice as much on fields this short.
    let tabs = line.bytes().enumerate().filter(|&(_, byte)| byte == b'\t').map(|(at, _)| at);
    for end in tabs.chain([line.len()]) {
        if let Some(field) = fields.get_mut(count) {
            *field = &line[start..end];
        }
        count += 1;
        start = end + 1;
    }
    if count != 10 {
        let fault = Fault::new(0, format!("{count} columns"), "10 columns with a tab between them");
        return Err(if count == 1 { fault.advise("is this file CoNLL-U?") } else { fault });
    }
    match fields.iter().position(|field| field.is_empty()) {
        Some(empty) => {
            Err(Fault::new(column(line, empty), "an empty column", format!("{} or _", NAMES[empty])))
        }
        None => Ok(fields),
    }
}

/// The 1-based character column where a field begins.
fn column(line: &str, field: usize) -> usize {
    line.split('\t').take(field).map(|text| text.chars().count() + 1).sum::<usize>() + 1
}

fn parse_id(text: &str) -> Option<LineId> {
    if let Some(id) = digits(text) {
        return Some(LineId::Word(id));
    }
    if let Some((first, last)) = text.split_once('-') {
        return Some(LineId::Range(digits(first)?, digits(last)?));
    }
    let (after, number) = text.split_once('.')?;
    digits(number)?;
    Some(LineId::EmptyNode(digits(after)?))
}

/// A number below 2^31 in plain digits. `parse` alone would take `+3`.
fn digits(text: &str) -> Option<u32> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok().filter(|&number: &u32| number < 1 << 31)
}

/// Reads a CoNLL-U file sentence by sentence.
#[derive(Debug)]
pub struct ConlluReader {
    block: Block,
    columns: Columns,
}

impl ConlluReader {
    /// Opens a file, plain or compressed, `-` for standard input.
    pub fn open(path: &Path, columns: Columns) -> Result<Self> {
        Ok(Self::new(TextReader::open(path)?, columns))
    }

    /// Reads from a text that is already open.
    pub fn new(text: TextReader, columns: Columns) -> Self {
        Self { block: Block::new(text), columns }
    }

    /// The next sentence: `None` at the end of the file, `Some(None)` for a block without words. After an error
    /// the reader goes on with the next sentence.
    pub fn next_tree(&mut self, vocab: &mut Vocab) -> Result<Option<Option<DependencyTree>>> {
        if !self.block.advance(0)? {
            return Ok(None);
        }
        let parsed = parse_block(self.block.text(), self.columns, vocab);
        parsed.map(Some).map_err(|fault| self.block.locate(fault))
    }

    /// The line where the last sentence began.
    pub fn line_number(&self) -> u64 {
        self.block.first_line()
    }

    /// The file name for messages.
    pub fn name(&self) -> &str {
        self.block.name()
    }
}

/// Appends the sentence with the blank line that ends it.
pub fn write(tree: &DependencyTree, vocab: &Vocab, out: &mut String) {
    for comment in &tree.comments {
        out.push_str(comment);
        out.push('\n');
    }
    let mut extra = tree.extra_lines.iter().peekable();
    let mut write_extra = |words: usize, out: &mut String| {
        while let Some(line) = extra.next_if(|line| line.after as usize <= words) {
            out.push_str(&line.text);
            out.push('\n');
        }
    };
    write_extra(0, out);
    for (index, word) in tree.words().iter().enumerate() {
        out.push_str(&(index + 1).to_string());
        for symbol in [word.form, word.lemma, word.upos, word.xpos, word.feats] {
            push_field(vocab.text(symbol), out);
        }
        match word.head {
            Head::Root => out.push_str("\t0"),
            Head::Word(head) => {
                out.push('\t');
                out.push_str(&(head + 1).to_string());
            }
            Head::Missing => out.push_str("\t_"),
        }
        for symbol in [word.deprel, word.deps, word.misc] {
            push_field(vocab.text(symbol), out);
        }
        out.push('\n');
        write_extra(index + 1, out);
    }
    out.push('\n');
}

/// A column: never empty, never with a tab or line break.
fn push_field(text: &str, out: &mut String) {
    out.push('\t');
    if text.is_empty() {
        out.push('_');
    } else if text.contains(['\t', '\n', '\r']) {
        out.push_str(&text.replace(['\t', '\n', '\r'], " "));
    } else {
        out.push_str(text);
    }
}
