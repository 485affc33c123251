//! Reading ARPA text, the format of SRILM, KenLM and most others:
//!
//! ```text
//! \data\
//! ngram 1=6                       as many lines as the order, each with the size of a section
//!
//! \1-grams:
//! log10 p <tab> word [<tab> log10 back-off]
//!
//! \2-grams:
//! log10 p <tab> word word [<tab> log10 back-off]
//!
//! \end\
//! ```
//!
//! The parser takes one line at a time and trusts nothing: sizes in the header are compared, and allocated only as far
//! as the file has room for so many lines.

use sylvan_base::limits::VALUE;
use sylvan_base::{Fault, Result};
use sylvan_store::TextReader;

use crate::arpa_write::to_ln;
use crate::builder::{Builder, Duplicate};
use crate::{BEGIN, END, Lm, MAX_ORDER, UNKNOWN, WordId};

/// N-grams that are made room for on the word of the header, where the size of the text is not known.
const TRUSTED: u64 = 1 << 16;

/// How an ARPA file is understood.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ArpaConfig {
    /// log10 of the probability of unknown words if the file has no `<unk>`.
    pub unknown: f32,
    /// Whether the model remembers the words of its n-grams: writing it as text, compiling it to a trie and bounds need
    /// them, queries and compiling it to hash tables do not.
    pub list: bool,
}

impl Default for ArpaConfig {
    fn default() -> Self {
        Self { unknown: -100.0, list: true }
    }
}

impl Lm {
    /// Reads a model with the usual settings.
    pub fn read_arpa(reader: &mut TextReader) -> Result<Self> {
        Self::read_arpa_with(reader, ArpaConfig::default())
    }

    /// Reads a model. Reading ends after `\end\`.
    pub fn read_arpa_with(reader: &mut TextReader, config: ArpaConfig) -> Result<Self> {
        let mut parser = Parser::new(config, reader.size());
        while parser.part != Part::Over {
            let Some(line) = reader.next_line()? else {
                // An empty file has no line 0; its first line is where something is missing.
                return Err(parser.cut_off().at(reader.name(), reader.line_number().max(1)));
            };
            if let Err(fault) = parser.read(line) {
                return Err(fault.at(reader.name(), parser.number));
            }
        }
        parser.finish().map_err(|fault| reader.locate(fault))
    }
}

fn second(line: &str) -> Fault {
    let found = format!("a second {}", quote(line.trim_ascii()));
    Fault::new(0, found, "each n-gram once").advise(REBUILD)
}

/// Where the parser is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Before `\data\`.
    Start,
    /// Between `\data\` and the first section.
    Header,
    /// In the section of this n-gram length, after this many n-grams.
    Section { n: usize, seen: u64 },
    /// After `\end\`.
    Over,
}

struct Parser {
    part: Part,
    /// What the header promises per n-gram length.
    sizes: Vec<u64>,
    builder: Builder,
    unknown: f32,
    list: bool,
    /// Bytes of the whole text, if they are known.
    bytes: Option<u64>,
    words: Vec<WordId>,
    /// The number of the line at work.
    number: u64,
    /// N-grams that were read and announced but not added: their places in memory are on the way.
    waiting: Vec<Waiting>,
    /// The words of all of them, and their lines.
    waiting_words: Vec<WordId>,
    waiting_text: String,
}

/// An n-gram that will be added soon.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    prob: f32,
    backoff: f32,
    number: u64,
    /// Where its line ends.
    end: usize,
}

/// How many n-grams wait at most: enough to hide the way to memory, few enough to stay in the cache.
const WAITING: usize = 16;

type Step = std::result::Result<(), Fault>;

impl Parser {
    fn new(config: ArpaConfig, bytes: Option<u64>) -> Self {
        Self {
            part: Part::Start,
            sizes: Vec::new(),
            builder: Builder::new(1, config.list),
            unknown: to_ln(f64::from(config.unknown)),
            list: config.list,
            bytes,
            words: Vec::new(),
            number: 0,
            waiting: Vec::new(),
            waiting_words: Vec::new(),
            waiting_text: String::new(),
        }
    }

    /// Reads a line. What is wrong with lines before it comes first.
    fn read(&mut self, line: &str) -> Step {
        let number = self.number + 1;
        self.number = number;
        let result = self.line(line);
        if result.is_err() && self.number == number {
            self.add_waiting()?;
            self.number = number;
        }
        result
    }

    /// Adds the n-grams that wait.
    fn add_waiting(&mut self) -> Step {
        let Part::Section { n, .. } = self.part else { return Ok(()) };
        let (mut start, mut result) = (0, Ok(()));
        for (waiting, words) in self.waiting.drain(..).zip(self.waiting_words.chunks_exact(n)) {
            if self.builder.add(words, waiting.prob, waiting.backoff).is_err() {
                self.number = waiting.number;
                result = Err(second(&self.waiting_text[start..waiting.end]));
                break;
            }
            start = waiting.end;
        }
        self.waiting_words.clear();
        self.waiting_text.clear();
        result
    }

    /// How many n-grams of length `n` there can be, by the header and by the size of the text.
    fn room(&self, n: usize) -> usize {
        // The shortest lines have a number of one byte, and a space and a byte for each word.
        let line = 2 + 2 * n as u64;
        let most = self.bytes.map_or(TRUSTED, |bytes| bytes / line);
        self.sizes[n - 1].min(most) as usize
    }

    fn line(&mut self, line: &str) -> Step {
        let text = line.trim_ascii();
        if text.is_empty() {
            return Ok(());
        }
        match self.part {
            Part::Start => self.start(text),
            Part::Header if text.starts_with('\\') => self.next_section(text),
            Part::Header => self.size(line),
            Part::Section { .. } if text.starts_with('\\') => self.next_section(text),
            Part::Section { n, seen } => {
                if seen >= self.sizes[n - 1] {
                    let expected = format!("{} {n}-grams as the header says", self.sizes[n - 1]);
                    return Err(Fault::new(0, "one more", expected).advise(REBUILD));
                }
                self.part = Part::Section { n, seen: seen + 1 };
                self.gram(line, n)
            }
            Part::Over => Ok(()),
        }
    }

    fn start(&mut self, text: &str) -> Step {
        if text == "\\data\\" {
            self.part = Part::Header;
            return Ok(());
        }
        let expected = "\\data\\, the start of an ARPA file";
        let foreign = FOREIGN.iter().find(|(magic, _, _)| text.starts_with(magic));
        Err(match foreign {
            Some((_, name, advice)) => Fault::new(1, *name, expected).advise(*advice),
            None => Fault::new(1, quote(text), expected)
                .advise("give a language model in ARPA format; text before \\data\\ is not allowed"),
        })
    }

    /// `ngram 2=55588`
    fn size(&mut self, line: &str) -> Step {
        let n = self.sizes.len() + 1;
        let expected = format!("\"ngram {n}=\" and a number, or \\1-grams:");
        let size = line.trim_ascii().strip_prefix("ngram").and_then(|rest| {
            let (length, size) = rest.split_once('=')?;
            let length: usize = length.trim_ascii().parse().ok()?;
            Some((length, size.trim_ascii().parse::<u64>().ok()?))
        });
        match size {
            Some((length, size)) if length == n && n <= MAX_ORDER => {
                self.sizes.push(size);
                Ok(())
            }
            Some((length, _)) if length > MAX_ORDER => {
                let expected = format!("n-grams of at most {MAX_ORDER} words");
                Err(Fault::new(0, format!("n-grams of {length} words"), expected)
                    .advise("train the model with a smaller order"))
            }
            _ => Err(Fault::new(0, quote(line), expected)),
        }
    }

    /// `\2-grams:` or `\end\`
    fn next_section(&mut self, text: &str) -> Step {
        self.add_waiting()?;
        let n = match self.part {
            Part::Section { n, seen } => {
                if seen != self.sizes[n - 1] {
                    let expected = format!("{} as the header says", self.sizes[n - 1]);
                    let found = format!("the end of the section after {seen} {n}-grams");
                    return Err(Fault::new(0, found, expected).advise(REBUILD));
                }
                if n == 1 {
                    self.end_of_words()?;
                }
                n + 1
            }
            _ => 1,
        };
        let expected =
            if n > self.sizes.len().max(1) { "\\end\\".to_string() } else { format!("\\{n}-grams:") };
        if text != expected {
            return Err(Fault::new(1, quote(text), expected));
        }
        if self.sizes.is_empty() {
            return Err(Fault::new(0, quote(text), "\"ngram 1=\" and a number"));
        }
        if n > self.sizes.len() {
            self.part = Part::Over;
            return Ok(());
        }
        if n == 1 {
            self.builder = Builder::new(self.sizes.len(), self.list);
        }
        self.builder.store.reserve(n, self.room(n));
        self.part = Part::Section { n, seen: 0 };
        Ok(())
    }

    fn end_of_words(&mut self) -> Step {
        for word in [BEGIN, END] {
            if !self.builder.has_word(word) {
                return Err(Fault::new(
                    0,
                    format!("no {word} among the 1-grams"),
                    format!("a 1-gram {word}"),
                )
                .advise("train the model on whole sentences with boundary marks"));
            }
        }
        self.builder.state_unknown(self.unknown);
        Ok(())
    }

    /// `-0.46351805 <tab> a b <tab> -0.30103`
    fn gram(&mut self, line: &str, n: usize) -> Step {
        let mut fields = fields(line);
        let (at, text) = fields.next().unwrap_or((0, ""));
        let prob = number(line, at, text, "a log10 probability")?;
        if prob > 0.0 {
            let found = format!("the log10 probability {text}");
            return Err(Fault::at_byte(line, at, found, "at most 0")
                .advise("a probability cannot be above 1; rebuild the model"));
        }
        self.words.clear();
        let mut only = (0, "");
        for _ in 0..n {
            let Some((at, word)) = fields.next() else { return Err(too_few(line, n)) };
            if n == 1 {
                only = (at, word);
            } else if let Some(symbol) = self.builder.vocab.get(word) {
                self.words.push(WordId(symbol.0));
            } else if word == OTHER_UNKNOWN {
                self.words.push(WordId(0));
            } else {
                return Err(Fault::at_byte(line, at, quote(word), "a word that is among the 1-grams"));
            }
        }
        let mut backoff = 0.0;
        if let Some((at, text)) = fields.next() {
            backoff = number(line, at, text, "a log10 back-off weight or the end of the line")?;
        }
        if let Some((at, text)) = fields.next() {
            return Err(Fault::at_byte(line, at, quote(text), format!("the end of a line with {n} words")));
        }
        // Some tools write a weight after the longest n-grams too; no query ever asks for it.
        if n == 1 {
            let word = if only.1 == OTHER_UNKNOWN { UNKNOWN } else { only.1 };
            return self.builder.add_word(word, prob, backoff).map(drop).map_err(|Duplicate| second(line));
        }
        self.builder.store.announce(&self.words);
        self.waiting_words.extend_from_slice(&self.words);
        self.waiting_text.push_str(line);
        let end = self.waiting_text.len();
        self.waiting.push(Waiting { prob, backoff, number: self.number, end });
        if self.waiting.len() < WAITING { Ok(()) } else { self.add_waiting() }
    }

    /// What is missing at the end of the file.
    fn cut_off(&self) -> Fault {
        let expected = match self.part {
            Part::Start => "\\data\\, the start of an ARPA file".to_string(),
            Part::Header if self.sizes.is_empty() => "\"ngram 1=\" and a number".to_string(),
            Part::Header => "\\1-grams:".to_string(),
            Part::Section { n, seen } if seen < self.sizes[n - 1] => {
                format!("{} {n}-grams, of which {seen} are there", self.sizes[n - 1])
            }
            Part::Section { n, .. } if n < self.sizes.len() => format!("\\{}-grams:", n + 1),
            Part::Section { .. } | Part::Over => "\\end\\".to_string(),
        };
        Fault::new(0, "the end of the file", expected)
            .advise("the file seems cut off; copy or build it again")
    }

    fn finish(self) -> std::result::Result<Lm, Fault> {
        let Self { builder, unknown, .. } = self;
        builder
            .finish(unknown)
            .ok_or_else(|| Fault::new(0, "a model without sentence boundaries", "<s> and </s>"))
    }
}

const REBUILD: &str = "the file is damaged or was edited by hand; build it again";

/// Some tools write capitals.
const OTHER_UNKNOWN: &str = "<UNK>";

/// How files begin that are often given by mistake: magic, name, advice.
const FOREIGN: [(&str, &str, &str); 5] = [
    (
        "mmap lm http://kheafield.com/code",
        "a binary file of KenLM",
        "give the ARPA file that it was built from",
    ),
    ("iARPA", "an intermediate ARPA file of IRSTLM", "convert it with compile-lm --text=yes"),
    ("qARPA", "a quantised ARPA file of IRSTLM", "convert it with compile-lm --text=yes"),
    ("blmt", "a binary file of IRSTLM", "convert it with compile-lm --text=yes"),
    ("SRILM_BINARY_NGRAM", "a binary file of SRILM", "convert it with ngram -lm FILE -write-lm FILE.arpa"),
];

fn too_few(line: &str, n: usize) -> Fault {
    let found = format!("{} fields", fields(line).count());
    let noun = if n == 1 { "word" } else { "words" };
    Fault::new(0, found, format!("a log10 probability, {n} {noun} and perhaps a back-off weight"))
}

/// The fields of a line with their byte positions. Only space and tab separate: words may hold other white space.
pub(crate) fn fields(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    line.split([' ', '\t']).filter_map(move |field| {
        let start = at;
        at += field.len() + 1;
        (!field.is_empty()).then_some((start, field))
    })
}

fn number(line: &str, at: usize, text: &str, expected: &str) -> std::result::Result<f32, Fault> {
    let ln = text.parse::<f64>().map_or(f32::NAN, to_ln);
    if ln.abs() <= VALUE {
        return Ok(ln);
    }
    let fault = Fault::at_byte(line, at, quote(text), expected);
    Err(if text.contains("inf") { fault.advise("write -99 for a probability of zero") } else { fault })
}

/// For messages: quoted, and cut if it is long.
fn quote(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("\"{}...\"", &text[..end]),
        None => format!("\"{text}\""),
    }
}
