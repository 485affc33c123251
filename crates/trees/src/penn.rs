//! Trees in Penn Treebank brackets: `(S (NP he) (VP (V sees) her))`.
//!
//! The parser takes lines and keeps its state between them, so one tree per line and trees over many lines are
//! the same code, and a mistake is always named with its own line and column. Brackets and ASCII white space
//! separate; everything else, no-break spaces included, is part of a label or word.
//!
//! Accepted because real treebanks have it: an unlabelled outermost bracket (its label is the empty string),
//! words beside nodes, and the parser's way to say "no parse": `()`, `(())` and `( )`.

use std::path::Path;

use sylvan_base::limits::{BLOCK_BYTES, TREE_DEPTH};
use sylvan_base::{Fault, InputError, Result, Vocab};
use sylvan_store::TextReader;

use crate::brackets::{escape, quote, unescape};
use crate::{Child, CleanUp, NodeId, Step, Tree, TreeBuilder};

/// How trees lie on lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// Each line is a tree; a blank line or an empty parse is a sentence without one.
    #[default]
    OnePerLine,
    /// A tree ends where its brackets balance; blank lines mean nothing.
    ManyLines,
}

/// What becomes of `-LRB-` and the like in words. Labels are never touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Brackets {
    /// Words stay as they are written.
    #[default]
    Keep,
    /// Words get their brackets back.
    Unescape,
}

/// How a file of bracketed trees is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PennOptions {
    /// How trees lie on lines.
    pub layout: Layout,
    /// What becomes of `-LRB-`.
    pub brackets: Brackets,
    /// What is done to each tree.
    pub clean_up: CleanUp,
}

impl PennOptions {
    /// One tree per line, nothing changed.
    pub fn as_is() -> Self {
        Self { layout: Layout::OnePerLine, brackets: Brackets::Keep, clean_up: CleanUp::as_is() }
    }

    /// One tree per line, cleaned for training and translation: [`CleanUp::standard`].
    pub fn standard() -> Self {
        Self { clean_up: CleanUp::standard(), ..Self::as_is() }
    }
}

/// The tree of one line; `None` for a blank line or an empty parse.
pub fn parse_line(
    line: &str,
    brackets: Brackets,
    vocab: &mut Vocab,
) -> std::result::Result<Option<Tree>, Fault> {
    PennParser::new(brackets).parse_line(line, vocab)
}

/// How far a line brought the parser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fed {
    /// The line is used up and no tree is complete.
    More,
    /// A tree is complete, and this many bytes of the line are used: [`PennParser::take`] has it.
    Complete(usize),
}

/// Parses bracketed text line by line and reuses its buffers.
#[derive(Debug)]
pub struct PennParser {
    builder: TreeBuilder,
    brackets: Brackets,
    state: State,
}

/// Where the parser stands between two tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the first label: how many brackets are open, and whether one was closed (then it is an empty parse).
    Lead { open: u8, closed: bool },
    /// Inside the tree.
    Inside,
    /// Inside, right after an opening bracket.
    Label,
}

const START: State = State::Lead { open: 0, closed: false };

impl PennParser {
    /// A parser that treats bracket names this way.
    pub fn new(brackets: Brackets) -> Self {
        Self { builder: TreeBuilder::new(), brackets, state: START }
    }

    /// The tree of one line; `None` for a blank line or an empty parse.
    pub fn parse_line(&mut self, line: &str, vocab: &mut Vocab) -> std::result::Result<Option<Tree>, Fault> {
        self.reset();
        let result = match self.feed(line, 0, vocab)? {
            Fed::Complete(used) => {
                let rest = line[used..].trim_ascii();
                if !rest.is_empty() {
                    let at = line.len() - line[used..].trim_ascii_start().len();
                    return Err(Fault::at_byte(line, at, quote(rest), "the end of the line")
                        .advise("put one tree on each line, or read the file as trees over many lines"));
                }
                Ok(self.take())
            }
            Fed::More if self.in_tree() => Err(self.unclosed(line)),
            Fed::More => Ok(None),
        };
        self.reset();
        result
    }

    /// Goes on with `line` from byte `from` until a tree is complete or the line ends.
    pub fn feed(&mut self, line: &str, from: usize, vocab: &mut Vocab) -> std::result::Result<Fed, Fault> {
        let bytes = line.as_bytes();
        let mut at = from;
        while let Some(&byte) = bytes.get(at) {
            match CLASS[byte as usize] {
                SPACE => at += 1,
                OPEN => {
                    self.open(line, at)?;
                    at += 1;
                }
                CLOSE => {
                    let complete = self.close(line, at)?;
                    at += 1;
                    if complete {
                        return Ok(Fed::Complete(at));
                    }
                }
                _ => {
                    let start = at;
                    while bytes.get(at).is_some_and(|&byte| CLASS[byte as usize] == TOKEN) {
                        at += 1;
                    }
                    self.token(line, start, &line[start..at], vocab)?;
                }
            }
        }
        Ok(Fed::More)
    }

    /// The complete tree, `None` for an empty parse; the parser is ready for the next one.
    pub fn take(&mut self) -> Option<Tree> {
        self.state = START;
        // The states above admit only well-formed trees, so the one error left is "no node": an empty parse.
        self.builder.take().ok()
    }

    /// Whether a tree has begun and is not complete.
    pub fn in_tree(&self) -> bool {
        self.state != START
    }

    /// Forgets a tree that has begun.
    pub fn reset(&mut self) {
        self.builder.clear();
        self.state = START;
    }

    fn open(&mut self, line: &str, at: usize) -> std::result::Result<(), Fault> {
        if self.builder.open_nodes() >= TREE_DEPTH {
            let found = format!("more than {TREE_DEPTH} levels of brackets");
            return Err(
                Fault::at_byte(line, at, found, "a tree of a sentence").advise("balance the brackets")
            );
        }
        self.state = match self.state {
            State::Inside => State::Label,
            State::Lead { open: 0, closed: false } => State::Lead { open: 1, closed: false },
            State::Lead { open: 1, closed: false } => State::Lead { open: 2, closed: false },
            State::Lead { closed: true, .. } => {
                return Err(Fault::at_byte(line, at, "'('", "')', because an empty bracket means no parse"));
            }
            State::Lead { .. } | State::Label => {
                return Err(Fault::at_byte(line, at, "'('", "a label")
                    .advise("only the outermost bracket may be without a label"));
            }
        };
        Ok(())
    }

    /// Whether the tree is complete now.
    fn close(&mut self, line: &str, at: usize) -> std::result::Result<bool, Fault> {
        match self.state {
            State::Lead { open: 0, .. } => {
                Err(Fault::at_byte(line, at, "')'", "'('").advise("balance the brackets"))
            }
            State::Lead { open, .. } => {
                self.state = State::Lead { open: open - 1, closed: true };
                Ok(open == 1)
            }
            State::Label => Err(Fault::at_byte(line, at, "')'", "a label")),
            State::Inside if !self.builder.has_children() => {
                Err(Fault::at_byte(line, at, "')'", "a word or '('")
                    .advise("a node needs at least one child; write an empty parse as ()"))
            }
            State::Inside => {
                self.builder.close();
                Ok(self.builder.open_nodes() == 0)
            }
        }
    }

    fn token(
        &mut self,
        line: &str,
        at: usize,
        token: &str,
        vocab: &mut Vocab,
    ) -> std::result::Result<(), Fault> {
        match self.state {
            State::Inside => {
                let word = match self.brackets {
                    Brackets::Keep => vocab.intern(token),
                    Brackets::Unescape => vocab.intern(&unescape(token)),
                };
                self.builder.leaf(word);
            }
            State::Label => {
                self.builder.open(vocab.intern(token));
                self.state = State::Inside;
            }
            State::Lead { open: open @ 1.., closed: false } => {
                if open == 2 {
                    self.builder.open(vocab.intern(""));
                }
                self.builder.open(vocab.intern(token));
                self.state = State::Inside;
            }
            State::Lead { closed: true, .. } => {
                return Err(Fault::at_byte(
                    line,
                    at,
                    quote(token),
                    "')', because an empty bracket means no parse",
                ));
            }
            State::Lead { .. } => {
                return Err(Fault::at_byte(line, at, quote(token), "'('")
                    .advise("a tree is written (LABEL child child ...)"));
            }
        }
        Ok(())
    }

    /// The fault of a text that ends inside a tree.
    fn unclosed(&self, line: &str) -> Fault {
        let open = match self.state {
            State::Lead { open, .. } => usize::from(open),
            State::Inside => self.builder.open_nodes(),
            State::Label => self.builder.open_nodes() + 1,
        };
        let missing = if open == 1 { "')'".to_string() } else { format!("{open} more ')'") };
        Fault::at_byte(line, line.len(), "the end of the text", missing)
            .advise("balance the brackets; trees over many lines need the many-lines layout")
    }
}

const TOKEN: u8 = 0;
const SPACE: u8 = 1;
const OPEN: u8 = 2;
const CLOSE: u8 = 3;

const CLASS: [u8; 256] = {
    let mut class = [TOKEN; 256];
    let mut space = 0;
    while space < 6 {
        class[b" \t\n\r\x0b\x0c"[space] as usize] = SPACE;
        space += 1;
    }
    class[b'(' as usize] = OPEN;
    class[b')' as usize] = CLOSE;
    class
};

/// Reads a file of bracketed trees.
#[derive(Debug)]
pub struct PennReader {
    text: TextReader,
    options: PennOptions,
    parser: PennParser,
    /// In the many-lines layout: the line at work, and how many of its bytes are used.
    current: String,
    used: usize,
    /// In the many-lines layout: the bytes that the tree at work has taken so far.
    gathered: usize,
    /// Where the last tree began.
    line: u64,
}

impl PennReader {
    /// Opens a file, plain or compressed, `-` for standard input.
    pub fn open(path: &Path, options: PennOptions) -> Result<Self> {
        Ok(Self::new(TextReader::open(path)?, options))
    }

    /// Reads from a text that is already open.
    pub fn new(text: TextReader, options: PennOptions) -> Self {
        let parser = PennParser::new(options.brackets);
        Self { text, options, parser, current: String::new(), used: 0, gathered: 0, line: 0 }
    }

    /// The next sentence: `None` at the end of the file, `Some(None)` for a sentence without a tree (blank line,
    /// empty parse, or nothing left by the clean-up). After an error the reader goes on with the next line.
    pub fn next_tree(&mut self, vocab: &mut Vocab) -> Result<Option<Option<Tree>>> {
        let tree = match self.options.layout {
            Layout::OnePerLine => self.next_line(vocab)?,
            Layout::ManyLines => self.next_block(vocab)?,
        };
        let clean_up = &self.options.clean_up;
        Ok(tree.map(|tree| tree.and_then(|tree| clean_up.apply(tree, vocab))))
    }

    fn next_line(&mut self, vocab: &mut Vocab) -> Result<Option<Option<Tree>>> {
        let Some(line) = self.text.next_line()? else { return Ok(None) };
        let parsed = self.parser.parse_line(line, vocab);
        self.line = self.text.line_number();
        parsed.map(Some).map_err(|fault| self.text.locate(fault))
    }

    fn next_block(&mut self, vocab: &mut Vocab) -> Result<Option<Option<Tree>>> {
        loop {
            if self.used == self.current.len() {
                self.current.clear();
                self.used = 0;
                match self.text.next_line() {
                    Ok(Some(line)) => {
                        self.current.push_str(line);
                        self.gathered += line.len();
                    }
                    Ok(None) if self.parser.in_tree() => return Err(self.ends_in_tree()),
                    Ok(None) => return Ok(None),
                    Err(error) => {
                        self.parser.reset();
                        return Err(error);
                    }
                }
            }
            if !self.parser.in_tree() {
                self.line = self.text.line_number();
                self.gathered = self.current.len() - self.used;
            }
            if self.gathered > BLOCK_BYTES {
                self.parser.reset();
                self.used = self.current.len();
                let found = format!("a tree of more than {BLOCK_BYTES} bytes");
                let advice = format!("balance the brackets; the tree starts at line {}", self.line);
                return Err(self.text.locate(Fault::new(0, found, "')'").advise(advice)));
            }
            match self.parser.feed(&self.current, self.used, vocab) {
                Ok(Fed::More) => self.used = self.current.len(),
                Ok(Fed::Complete(used)) => {
                    self.used = used;
                    return Ok(Some(self.parser.take()));
                }
                Err(fault) => {
                    self.parser.reset();
                    self.used = self.current.len();
                    return Err(self.text.locate(fault));
                }
            }
        }
    }

    fn ends_in_tree(&mut self) -> InputError {
        let fault = self.parser.unclosed("").advise(format!(
            "balance the brackets; the tree that is not closed starts at line {}",
            self.line
        ));
        self.parser.reset();
        Fault { column: 0, ..fault }.at(self.text.name(), self.text.line_number())
    }

    /// The line where the last tree began.
    pub fn line_number(&self) -> u64 {
        self.line
    }

    /// The file name for messages.
    pub fn name(&self) -> &str {
        self.text.name()
    }
}

/// Appends the tree in brackets on one line, without a line break. Words and labels that would break the format
/// are [escaped](escape).
pub fn write(tree: &Tree, vocab: &Vocab, out: &mut String) {
    for step in tree.walk() {
        match step {
            Step::Open(node) => {
                if node != tree.root() {
                    out.push(' ');
                }
                open(tree, vocab, node, out);
            }
            Step::Leaf(position) => {
                out.push(' ');
                out.push_str(&escape(vocab.text(tree.words()[position as usize])));
            }
            Step::Close(_) => out.push(')'),
        }
    }
}

fn open(tree: &Tree, vocab: &Vocab, node: NodeId, out: &mut String) {
    out.push('(');
    let label = vocab.text(tree.label(node));
    // The empty label is what an unlabelled outermost bracket was read as.
    let unlabelled =
        label.is_empty() && node == tree.root() && matches!(tree.children(node)[0], Child::Node(_));
    if !unlabelled {
        out.push_str(&escape(label));
    }
}

/// The line of a sentence: its tree, or `()` if it has none.
pub fn to_line(tree: Option<&Tree>, vocab: &Vocab) -> String {
    let mut line = String::new();
    match tree {
        Some(tree) => write(tree, vocab, &mut line),
        None => line.push_str("()"),
    }
    line
}

impl Tree {
    /// The tree in brackets, on one line.
    pub fn to_penn(&self, vocab: &Vocab) -> String {
        to_line(Some(self), vocab)
    }
}
