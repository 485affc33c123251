//! Source sides that are not certain: packed forests (Mi & Huang 2008) and lists of trees, with log scores.

use std::path::Path;

use sylvan_base::{Fault, InputError, Result, Symbol, Vocab};
use sylvan_store::TextReader;
use sylvan_trees::penn::{Brackets, PennParser};
use sylvan_trees::{EgretReader, PackedForest, Tree, Unaries};

use super::reader::TreeFormat;
use crate::Preprocessing;

/// The syntax of a sentence.
#[derive(Debug)]
pub(super) enum Syntax {
    Tree(Tree),
    Forest(PackedForest),
}

impl Syntax {
    pub(super) fn words(&self) -> &[Symbol] {
        match self {
            Self::Tree(tree) => tree.words(),
            Self::Forest(forest) => forest.words(),
        }
    }
}

/// What a sentence may look like, and how much each counts; never empty, and the shares make 1.
#[derive(Debug)]
pub(super) struct Parses(pub(super) Vec<(Syntax, f64)>);

impl Parses {
    pub(super) fn one(tree: Tree) -> Self {
        Self(vec![(Syntax::Tree(tree), 1.0)])
    }

    /// Shares from log scores; `None` if there is nothing, or nothing possible.
    fn weighed(scored: Vec<(Syntax, f64)>) -> Option<Self> {
        let best = scored.iter().map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max);
        if best == f64::NEG_INFINITY {
            return None;
        }
        let sum: f64 = scored.iter().map(|(_, score)| libm::exp(score - best)).sum();
        let share = |(syntax, score): (Syntax, f64)| (syntax, libm::exp(score - best) / sum);
        Some(Self(scored.into_iter().map(share).filter(|(_, share)| *share > 0.0).collect()))
    }
}

/// Reads forests or lists.
#[derive(Debug)]
pub(super) struct ForestFile {
    kind: Kind,
    preprocessing: Preprocessing,
    scale: f64,
    read: u64,
}

#[derive(Debug)]
enum Kind {
    Forests(EgretReader),
    Lists { reader: TextReader, parser: Box<PennParser>, waiting: Option<Listed> },
}

/// One tree of a list.
#[derive(Debug)]
struct Listed {
    number: u64,
    score: f64,
    tree: Option<Tree>,
    line: u64,
}

impl ForestFile {
    pub(super) fn open(
        path: &Path,
        format: TreeFormat,
        preprocessing: Preprocessing,
        scale: f64,
    ) -> Result<Self> {
        let kind = if format == TreeFormat::Lists {
            let parser = Box::new(PennParser::new(Brackets::Keep));
            Kind::Lists { reader: TextReader::open(path)?, parser, waiting: None }
        } else {
            if preprocessing.clean_up.unaries == Unaries::Collapse {
                return Err(InputError::Format {
                    path: path.to_path_buf(),
                    found: "packed forests whose unary chains should be collapsed".into(),
                    expected: "trees".into(),
                    advice: "keep unary chains, or give lists of trees".into(),
                });
            }
            Kind::Forests(EgretReader::open(path)?)
        };
        Ok(Self { kind, preprocessing, scale, read: 0 })
    }

    /// What sentence `number` may look like; `None` if it was not parsed.
    pub(super) fn next(&mut self, number: u64, vocab: &mut Vocab) -> Result<Option<Parses>> {
        let Self { kind, preprocessing, scale, read } = self;
        match kind {
            Kind::Forests(reader) => {
                let Some(forest) = reader.next_forest(vocab)? else {
                    let found = format!("the end after {read} forests");
                    let fault = Fault::new(0, found, "as many forests as there are lines in the other files");
                    return Err(fault.at(reader.name(), reader.line_number().max(1)));
                };
                *read += 1;
                let Some(forest) = forest else { return Ok(None) };
                let roots = preprocessing.forest_roots(forest, *scale, vocab).into_iter();
                Ok(Parses::weighed(roots.map(|(forest, score)| (Syntax::Forest(forest), score)).collect()))
            }
            Kind::Lists { reader, parser, waiting } => {
                let mut list: Vec<(Syntax, f64)> = Vec::new();
                loop {
                    if waiting.is_none() {
                        *waiting = next_listed(reader, parser, preprocessing, vocab)?;
                    }
                    let Some(listed) = waiting.take_if(|listed| listed.number <= number) else { break };
                    let at = |fault: Fault| fault.at(reader.name(), listed.line);
                    if listed.number < number || listed.number < *read {
                        let found = format!("sentence {}", listed.number);
                        let expected = "sentences in order, counted from 1";
                        return Err(at(Fault::new(1, found, expected)));
                    }
                    *read = listed.number;
                    let Some(tree) = listed.tree else { continue };
                    if list.first().is_some_and(|(first, _)| first.words() != tree.words()) {
                        let found = "a tree with other words";
                        let expected = "the words of the first tree of the sentence";
                        return Err(at(Fault::new(0, found, expected)));
                    }
                    let score =
                        if listed.score == f64::NEG_INFINITY { listed.score } else { listed.score * *scale };
                    list.push((Syntax::Tree(tree), score));
                }
                Ok(Parses::weighed(list))
            }
        }
    }

    /// An error if there are more than `lines` sentences.
    pub(super) fn expect_end(&mut self, lines: u64) -> Result<()> {
        let (place, name, found) = match &mut self.kind {
            Kind::Forests(reader) => {
                if reader.next_forest(&mut Vocab::new())?.is_none() {
                    return Ok(());
                }
                (reader.line_number(), reader.name().to_string(), "one more forest".to_string())
            }
            Kind::Lists { reader, waiting, .. } => {
                let Some(listed) = waiting else { return Ok(()) };
                (listed.line, reader.name().to_string(), format!("sentence {}", listed.number))
            }
        };
        let fault = Fault::new(0, found, format!("the end after {lines} sentences, as in the other files"));
        Err(fault.advise("look for a line that is missing or broken in two").at(name, place))
    }
}

/// `number ||| score ||| tree`.
fn next_listed(
    reader: &mut TextReader,
    parser: &mut PennParser,
    preprocessing: &Preprocessing,
    vocab: &mut Vocab,
) -> Result<Option<Listed>> {
    let Some(text) = reader.next_line()? else { return Ok(None) };
    let parse = || {
        let mut fields = text.splitn(3, "|||");
        let number = fields.next()?.trim().parse::<u64>().ok().filter(|number| *number > 0)?;
        let score = fields.next()?.trim().parse::<f64>().ok().filter(|score| *score < f64::INFINITY)?;
        Some((number, score, fields.next()?.trim()))
    };
    let Some((number, score, tree)) = parse() else {
        let fault = Fault::new(1, format!("{text:?}"), "number ||| score ||| tree, sentences counted from 1");
        return Err(reader.locate(fault));
    };
    let tree = parser.parse_line(tree, vocab);
    let tree = tree.map_err(|fault| reader.locate(fault))?;
    let tree = tree.and_then(|tree| preprocessing.apply(tree, vocab));
    Ok(Some(Listed { number, score, tree, line: reader.line_number() }))
}
