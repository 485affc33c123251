//! Reading the corpus: trees parsed and prepared, words and tokens numbered in the order of the corpus.

use sylvan_base::{Id, Result, Symbol, Vocab};
use sylvan_corpus::{Alignment, Base, Link, ParallelReader};
use sylvan_trees::penn::{Brackets, PennParser};
use sylvan_trees::{NodeId, Tree};

use super::TrainingFiles;
use crate::table::tokens::TokenInterner;
use crate::{Preprocessing, Source};

/// A sentence pair, ready to be learnt from.
#[derive(Debug)]
pub(super) struct TrainingPair {
    pub(super) line: u64,
    pub(super) tree: Tree,
    pub(super) target: Vec<Symbol>,
    pub(super) links: Vec<Link>,
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
    lines: ParallelReader,
    align_name: String,
    parser: PennParser,
    preprocessing: Preprocessing,
    vocab: Vocab,
    tokens: TokenInterner,
}

const TREES: usize = 0;
const ALIGN: usize = 2;

impl PairReader {
    pub(super) fn open(files: &TrainingFiles, preprocessing: Preprocessing) -> Result<Self> {
        Ok(Self {
            lines: ParallelReader::open(&[&files.trees, &files.target, &files.align])?,
            align_name: files.align.display().to_string(),
            parser: PennParser::new(Brackets::Keep),
            preprocessing,
            vocab: Vocab::new(),
            tokens: TokenInterner::default(),
        })
    }

    pub(super) fn lines(&self) -> u64 {
        self.lines.line_number()
    }

    pub(super) fn align_name(&self) -> &str {
        &self.align_name
    }

    /// Some pairs, or `None` at the end. Lines without a tree or without links are left out.
    pub(super) fn next_batch(&mut self) -> Result<Option<Vec<TrainingPair>>> {
        let mut batch = Vec::with_capacity(BATCH);
        while batch.len() < BATCH {
            let line = self.lines.line_number() + 1;
            let Some([tree, target, links]) = self.lines.next_lines()? else {
                return Ok((!batch.is_empty()).then_some(batch));
            };
            let parsed = self.parser.parse_line(tree, &mut self.vocab);
            let aligned = Alignment::parse(links, Base::Zero);
            let target = self.vocab.intern_words(target);
            let tree = parsed.map_err(|fault| self.lines.locate(TREES, fault))?;
            let links = aligned.map_err(|fault| self.lines.locate(ALIGN, fault))?;
            let tree = tree.and_then(|tree| self.preprocessing.apply(tree, &mut self.vocab));
            let Some(tree) = tree else { continue };
            if links.sure().is_empty() {
                continue;
            }
            let tokens = self.tokens_of(&tree);
            batch.push(TrainingPair { line, tree, target, links: links.sure().to_vec(), tokens });
        }
        Ok(Some(batch))
    }

    fn tokens_of(&mut self, tree: &Tree) -> InputTokens {
        let mut tokens = InputTokens::default();
        for node in (0..tree.len()).map(NodeId::from_index) {
            let label = tree.label(node);
            let children = tree.children(node).len() as u32;
            tokens.opens.push(self.tokens.intern(Source::Open(label, children)));
            tokens.variables.push(self.tokens.intern(Source::Var(label)));
        }
        tokens.words.extend(tree.words().iter().map(|&word| self.tokens.intern(Source::Word(word))));
        tokens
    }

    pub(super) fn into_vocab(self) -> (Vocab, TokenInterner) {
        (self.vocab, self.tokens)
    }
}
