//! Reading the corpus: trees parsed and prepared, words and tokens numbered in the order of the corpus.

use std::path::PathBuf;

use sylvan_base::{Fault, Id, Result, Symbol, Vocab};
use sylvan_corpus::{Link, ParallelReader};
use sylvan_trees::NodeId;
use sylvan_trees::penn::{Brackets, PennParser};

use super::TrainingFiles;
use super::forests::{ForestFile, Parses, Syntax};
use super::share_out::Pairs;
use crate::input::Input;
use crate::table::tokens::TokenInterner;
use crate::{Preprocessing, Source};

/// How the source side of a corpus is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TreeFormat {
    /// Penn brackets, one tree per line.
    #[default]
    Penn,
    /// Packed forests in Egret's format, with log scores.
    Forests,
    /// Lists of trees, `number ||| log score ||| tree`: those of one sentence one after the other, sentences counted
    /// from 1.
    Lists,
}

/// A sentence pair, ready to be learnt from.
#[derive(Debug)]
pub(super) struct TrainingPair {
    pub(super) line: u64,
    /// Never empty; all have the same words.
    pub(super) parses: Vec<Parse>,
    pub(super) target: Vec<Symbol>,
    /// Set by set.
    pub(super) links: Vec<Vec<Link>>,
}

/// One way to see the source sentence.
#[derive(Debug)]
pub(super) struct Parse {
    pub(super) syntax: Syntax,
    /// How much it counts; those of one sentence make 1.
    pub(super) share: f64,
    pub(super) tokens: InputTokens,
}

/// What the dictionary of tokens calls an input's nodes and words.
#[derive(Debug, Default)]
pub(super) struct InputTokens {
    /// Per way, expanded.
    pub(super) opens: Vec<u32>,
    /// Per node, as a variable.
    pub(super) variables: Vec<u32>,
    pub(super) words: Vec<u32>,
}

/// Pairs that are handed over at a time.
const BATCH: usize = 128;

/// Reads pairs.
#[derive(Debug)]
pub(super) struct PairReader {
    source: SourceSide,
    /// Targets and links; trees before them if they are in brackets, one per line.
    lines: ParallelReader,
    /// How many of the files are sets of links; they are the last ones.
    sets: usize,
    preprocessing: Preprocessing,
    vocab: Vocab,
    tokens: TokenInterner,
}

#[derive(Debug)]
enum SourceSide {
    Penn(PennParser),
    Forests(Box<ForestFile>),
}

impl PairReader {
    pub(super) fn open(
        files: &TrainingFiles,
        preprocessing: Preprocessing,
        format: TreeFormat,
        scale: f64,
    ) -> Result<Self> {
        let TrainingFiles { trees, target, links } = files;
        let before = |first: &[&PathBuf]| first.iter().copied().chain(links).cloned().collect::<Vec<_>>();
        let (source, lines) = match format {
            TreeFormat::Penn => {
                let parser = PennParser::new(Brackets::Keep);
                (SourceSide::Penn(parser), ParallelReader::open(&before(&[trees, target]))?)
            }
            TreeFormat::Forests | TreeFormat::Lists => {
                let forests = ForestFile::open(trees, format, preprocessing, scale)?;
                (SourceSide::Forests(Box::new(forests)), ParallelReader::open(&before(&[target]))?)
            }
        };
        Ok(Self {
            source,
            lines,
            sets: links.len(),
            preprocessing,
            vocab: Vocab::new(),
            tokens: TokenInterner::default(),
        })
    }

    /// The next line: `None` at the end, `Some(None)` if nothing can be learnt from it.
    fn next_pair(&mut self) -> Result<Option<Option<TrainingPair>>> {
        let line = self.lines.line_number() + 1;
        let Self { source, lines, vocab, preprocessing, sets, .. } = self;
        let Some(read) = lines.next_lines()? else {
            if let SourceSide::Forests(file) = source {
                file.expect_end(line - 1)?;
            }
            return Ok(None);
        };
        let (texts, links) = read.split_at(read.len() - *sets);
        let Some(target) = texts.last() else { return Ok(None) };
        // Numbers of words go by the order of the corpus: source sides come first.
        let parses = match source {
            SourceSide::Penn(parser) => {
                let tree = parser.parse_line(&read[0], vocab).map_err(|fault| advised(fault, &read[0]));
                tree.map(|tree| tree.and_then(|tree| preprocessing.apply(tree, vocab)).map(Parses::one))
            }
            SourceSide::Forests(file) => Ok(file.next(line, vocab)?),
        };
        let first = texts.len();
        let aligned = super::sets_of(links);
        let target = vocab.intern_words(target);
        let parses = parses.map_err(|fault| self.lines.locate(0, fault))?;
        let links = aligned.map_err(|(set, fault)| self.lines.locate(first + set, fault))?;
        let Some(parses) = parses else { return Ok(Some(None)) };
        if links.iter().all(Vec::is_empty) {
            return Ok(Some(None));
        }
        let parse = |(syntax, share): (Syntax, f64)| {
            let tokens = match &syntax {
                Syntax::Tree(tree) => tokens_of(tree, &mut self.tokens),
                Syntax::Forest(forest) => tokens_of(forest, &mut self.tokens),
            };
            Parse { syntax, share, tokens }
        };
        let parses = parses.0.into_iter().map(parse).collect();
        Ok(Some(Some(TrainingPair { line, parses, target, links })))
    }

    pub(super) fn into_vocab(self) -> (Vocab, TokenInterner) {
        (self.vocab, self.tokens)
    }
}

impl Pairs for PairReader {
    type Pair = TrainingPair;

    /// Lines without a tree or without links are left out.
    fn next_batch(&mut self) -> Result<Option<Vec<TrainingPair>>> {
        let mut batch = Vec::with_capacity(BATCH);
        while batch.len() < BATCH {
            match self.next_pair()? {
                None => return Ok((!batch.is_empty()).then_some(batch)),
                Some(None) => {}
                Some(Some(pair)) => batch.push(pair),
            }
        }
        Ok(Some(batch))
    }

    fn lines(&self) -> u64 {
        self.lines.line_number()
    }
}

/// Recognises the other formats.
fn advised(fault: Fault, line: &str) -> Fault {
    let number = line.split("|||").next().is_some_and(|field| field.trim().parse::<u64>().is_ok());
    if line.starts_with("sentence ") {
        fault.advise("packed forests are read with --tree-format forest")
    } else if number {
        fault.advise("lists of trees are read with --tree-format list")
    } else {
        fault
    }
}

fn tokens_of<I: Input>(input: &I, interner: &mut TokenInterner) -> InputTokens {
    let mut tokens = InputTokens::default();
    tokens.opens.reserve(input.way_count());
    for node in (0..input.node_count()).map(NodeId::from_index) {
        let label = input.label(node);
        for way in input.ways(node) {
            let children = input.children(way).len() as u32;
            tokens.opens.push(interner.intern(Source::Open(label, children)));
        }
        tokens.variables.push(interner.intern(Source::Var(label)));
    }
    tokens.words.extend(input.words().iter().map(|&word| interner.intern(Source::Word(word))));
    tokens
}
