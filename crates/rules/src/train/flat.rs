//! Flat rules from two texts and their links: phrase pairs, and Hiero rules.
//!
//! The same way as with trees: one thread reads and numbers words, the others extract and sort, and what comes out
//! does not depend on which did what.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sylvan_base::hash::{content_hash, fold};
use sylvan_base::{Progress, Result, Symbol, Vocab};
use sylvan_corpus::{Link, ParallelReader};
use sylvan_store::Scratch;

use super::share_out::{Learn, Learnt, Pairs as PairSource, learn_all};
use super::{Collected, Trained, collect, out_of_range, scratch_folder};
use crate::aggregate::{MOST_TALLIES, Merged, Pairs, RuleValues, key};
use crate::extract::{
    Boundary, FlatExtractor, FlatOccurrence, FlatPlace, FlatRules, GapReordering, LeftToRight,
};
use crate::score::{
    CountedOrientations, FlatScoring, Instances, Lexicon, MapSmoothing, OrientationSmoothing, RANK,
    ScoreConfig, Scorer, Tallies,
};
use crate::table::FLAT_LABEL;
use crate::table::tokens::TokenInterner;
use crate::{Count, Formalism, Limits, Meta, Source};

/// Settings of training without trees.
#[derive(Debug, Clone)]
pub struct FlatConfig {
    /// Which rules are learnt.
    pub rules: FlatRules,
    /// How they are scored.
    pub score: ScoreConfig,
    /// Smoothing of orientations, if phrase pairs have them.
    pub orientations: OrientationSmoothing,
    /// The same for those of rules with gaps.
    pub map: MapSmoothing,
    /// About how many bytes rules may take in memory before they are written to scratch files.
    pub memory: usize,
    /// Threads.
    pub threads: usize,
    /// Where scratch files go; beside the table if not given.
    pub scratch: Option<PathBuf>,
}

impl FlatConfig {
    /// Such rules, and defaults for all else.
    pub fn new(rules: FlatRules) -> Self {
        Self {
            rules,
            score: ScoreConfig::default(),
            orientations: OrientationSmoothing::default(),
            map: MapSmoothing::default(),
            memory: 1 << 30,
            threads: 1,
            scratch: None,
        }
    }

    fn reordering(&self) -> Option<GapReordering> {
        match self.rules {
            FlatRules::LeftToRight(config) => config.reordering,
            _ => None,
        }
    }

    fn scoring(&self) -> FlatScoring {
        match self.rules {
            FlatRules::Phrase(phrase) => {
                FlatScoring { orientations: phrase.orientation.map(|_| self.orientations), samples: 0 }
            }
            FlatRules::Hiero(hiero) | FlatRules::LeftToRight(LeftToRight { rules: hiero, .. }) => {
                FlatScoring { orientations: None, samples: hiero.samples }
            }
        }
    }
}

/// A corpus without trees.
#[derive(Debug, Clone)]
pub struct TextFiles {
    /// Source sentences.
    pub source: PathBuf,
    /// Target sentences.
    pub target: PathBuf,
    /// Word links, `i-j`, from 0. Rules are learnt from each of several sets, which count alike and make 1 together.
    pub links: Vec<PathBuf>,
}

/// Learns flat rules, scores them and writes a table.
pub fn train_flat(
    files: &TextFiles,
    out: &Path,
    config: &FlatConfig,
    progress: &dyn Progress,
) -> Result<Trained> {
    let scratch = Scratch::new(&scratch_folder(config.scratch.as_deref(), out));
    progress.begin("learning rules", None);
    let mut reader = FlatReader::open(files, config.rules.symbols())?;
    // Half of the memory is for collecting, the other half for what comes after.
    let memory = config.memory / 2 / config.threads.max(1);
    let counted = config.reordering().map(|_| CountedOrientations::new(&scratch, config.memory / 8));
    let worker = || FlatWorker::new(config, &scratch, memory, &files.links, counted.as_ref());
    let learnt = learn_all(&mut reader, config.threads, worker, progress)?;
    progress.end();
    let FlatReader { vocab, tokens, lines, .. } = reader;
    let Collected { mut trained, parts, lexicon, vocab, tokens, scratch } =
        collect(learnt, lines.line_number(), vocab, tokens, scratch);
    let reordering = counted.map(|counted| Tallies::new(&counted, &scratch, config.memory / 8, config.map));
    let scorer = Scorer {
        config: config.score,
        meta: Meta { pairs: trained.pairs, made_by: describe(config), ..meta_of(config) },
        tokens: &tokens,
        vocab: &vocab,
        lexicon: &lexicon,
        scratch: Arc::clone(&scratch),
        memory: config.memory / 2,
        flat: Some(config.scoring()),
        reordering: reordering.transpose()?,
        progress,
    };
    let mut merged = Merged::new(&parts, config.memory / 8)?;
    trained.scored = scorer.write(&mut merged, out)?;
    trained.scratch = scratch.peak();
    Ok(trained)
}

fn meta_of(config: &FlatConfig) -> Meta {
    let limited = |limit: u32| (limit != u32::MAX).then_some(limit);
    match config.rules {
        FlatRules::Phrase(phrase) => Meta {
            formalism: Formalism::Phrase,
            orientation: phrase.orientation.map(|model| model.as_str().to_string()).unwrap_or_default(),
            limits: Limits {
                span: limited(phrase.length),
                target_span: limited(phrase.target_length),
                ..Limits::default()
            },
            ..Meta::new([])
        },
        FlatRules::Hiero(hiero) | FlatRules::LeftToRight(LeftToRight { rules: hiero, .. }) => Meta {
            formalism: match config.rules {
                FlatRules::LeftToRight(_) => Formalism::LrHiero,
                _ => Formalism::Hiero,
            },
            orientation: config.reordering().map(|model| model.as_str().to_string()).unwrap_or_default(),
            limits: Limits {
                span: limited(hiero.span),
                target_span: limited(hiero.target_span),
                symbols: limited(hiero.symbols),
                target_symbols: limited(hiero.target_symbols),
                variables: limited(hiero.variables),
                gap: limited(hiero.gap),
                target_gap: limited(hiero.target_gap),
                ..Limits::default()
            },
            ..Meta::new([])
        },
    }
}

/// For the table's description.
fn describe(config: &FlatConfig) -> String {
    let ends = |boundary| match boundary {
        Boundary::Tight => "tight",
        Boundary::Loose => "loose",
    };
    let what = match config.rules {
        FlatRules::Phrase(phrase) => {
            let mut text = format!("phrase extraction, {}", ends(phrase.boundary));
            if phrase.orientation.is_some() {
                let OrientationSmoothing { constant, global } = config.orientations;
                let kind = if global { " by frequency" } else { "" };
                text.push_str(&format!(", orientations smoothed by {constant}{kind}"));
            }
            text
        }
        FlatRules::Hiero(_) | FlatRules::LeftToRight(_) => {
            let hiero = config.rules.hiero().unwrap_or_default();
            let mut text = format!("Hiero extraction, {}", ends(hiero.boundary));
            if hiero.adjacent {
                text.push_str(", adjacent variables");
            }
            if hiero.words_first {
                text.push_str(", target words first");
            }
            if hiero.unlinked {
                text.push_str(", rules without links");
            }
            if config.reordering().is_some() {
                let MapSmoothing { global, side, source, target } = config.map;
                text.push_str(&format!(", orientations smoothed by {global}, {side}, {source}, {target}"));
            }
            text.push_str(if hiero.whole_counts { ", whole counts" } else { ", fractional counts" });
            if hiero.samples > 0 {
                text.push_str(&format!(", {} occurrences per source side", hiero.samples));
            }
            text
        }
    };
    format!("{what}, smoothing {:?}, significance {:?}", config.score.smoothing, config.score.significance)
}

/// A sentence pair, ready to be learnt from.
#[derive(Debug)]
struct FlatPair {
    line: u64,
    source: Vec<Symbol>,
    target: Vec<Symbol>,
    /// Set by set.
    links: Vec<Vec<Link>>,
    /// The token of each source word.
    words: Vec<u32>,
    tokens: Arc<FlatTokens>,
}

/// The tokens that are no words.
#[derive(Debug, Clone, Default)]
struct FlatTokens {
    variable: u32,
    /// By number of symbols, from 1.
    opens: Vec<u32>,
}

/// Reads pairs; numbers words and tokens in the order of the corpus.
#[derive(Debug)]
struct FlatReader {
    lines: ParallelReader,
    vocab: Vocab,
    tokens: TokenInterner,
    label: Symbol,
    flat: Arc<FlatTokens>,
    /// Symbols that a source side can have.
    longest: u32,
}

/// Pairs that are handed over at a time.
const BATCH: usize = 128;

impl FlatReader {
    fn open(files: &TextFiles, longest: u32) -> Result<Self> {
        let texts = [&files.source, &files.target];
        let paths: Vec<&PathBuf> = texts.into_iter().chain(&files.links).collect();
        let lines = ParallelReader::open(&paths)?;
        let (mut vocab, mut tokens) = (Vocab::new(), TokenInterner::default());
        let label = vocab.intern(FLAT_LABEL);
        let flat = FlatTokens { variable: tokens.intern(Source::Var(label)), opens: Vec::new() };
        Ok(Self { lines, vocab, tokens, label, flat: Arc::new(flat), longest })
    }

    /// The next line: `None` at the end, `Some(None)` if nothing can be learnt from it.
    fn next_pair(&mut self) -> Result<Option<Option<FlatPair>>> {
        let line = self.lines.line_number() + 1;
        let Some([source, target, links @ ..]) = self.lines.next_lines()? else { return Ok(None) };
        let aligned = super::sets_of(links);
        let (source, target) = (self.vocab.intern_words(source), self.vocab.intern_words(target));
        let links = aligned.map_err(|(set, fault)| self.lines.locate(2 + set, fault))?;
        if links.iter().all(Vec::is_empty) {
            return Ok(Some(None));
        }
        let longest = self.longest.min(source.len() as u32);
        if (self.flat.opens.len() as u32) < longest {
            let mut more = FlatTokens::clone(&self.flat);
            for symbols in more.opens.len() as u32 + 1..=longest {
                more.opens.push(self.tokens.intern(Source::Open(self.label, symbols)));
            }
            self.flat = Arc::new(more);
        }
        let words = source.iter().map(|&word| self.tokens.intern(Source::Word(word))).collect();
        let tokens = Arc::clone(&self.flat);
        Ok(Some(Some(FlatPair { line, source, target, links, words, tokens })))
    }
}

impl PairSource for FlatReader {
    type Pair = FlatPair;

    fn next_batch(&mut self) -> Result<Option<Vec<FlatPair>>> {
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

/// Cuts rules out of pairs and counts links.
struct FlatWorker<'a> {
    extractor: FlatExtractor,
    pairs: Pairs,
    lexicon: Lexicon,
    keeps_lines: bool,
    sampled: bool,
    /// The files of links.
    sets: &'a [PathBuf],
    instances: Option<Instances<'a>>,
    learnt: u64,
    occurrences: u64,
}

impl<'a> FlatWorker<'a> {
    fn new(
        config: &FlatConfig,
        scratch: &Arc<Scratch>,
        memory: usize,
        sets: &'a [PathBuf],
        counted: Option<&'a CountedOrientations>,
    ) -> Self {
        let scoring = config.scoring();
        let values = RuleValues { lines: config.score.lines as usize, tallies: scoring.tallies() };
        Self {
            extractor: FlatExtractor::new(config.rules),
            pairs: Pairs::new(scratch, memory, values),
            lexicon: Lexicon::default(),
            keeps_lines: config.score.lines > 0,
            sampled: scoring.samples > 0,
            sets,
            instances: counted.map(Instances::new),
            learnt: 0,
            occurrences: 0,
        }
    }
}

impl Learn<FlatPair> for FlatWorker<'_> {
    fn learn(&mut self, batch: &[FlatPair]) -> Result<()> {
        let (mut key, mut value, mut target, mut links) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for pair in batch {
            let sets = pair.links.len() as f64;
            for (set, linked) in pair.links.iter().enumerate().filter(|(_, linked)| !linked.is_empty()) {
                let Self { extractor, pairs, occurrences, sampled, keeps_lines, instances, .. } = self;
                if let Some(instances) = instances {
                    instances.begin();
                }
                let lines = if *keeps_lines { std::slice::from_ref(&pair.line) } else { &[] };
                let mut failed = None;
                let extracted = extractor.extract(&pair.source, &pair.target, linked, |occurrence| {
                    key.clear();
                    key::put(&mut key, pair.tokens.opens[occurrence.symbols() as usize - 1]);
                    for place in occurrence.places() {
                        let token = match place {
                            FlatPlace::Word(position) => pair.words[position as usize],
                            FlatPlace::Var => pair.tokens.variable,
                        };
                        key::put(&mut key, token);
                    }
                    if *sampled {
                        key.extend_from_slice(&rank(pair.line, occurrence));
                    }
                    occurrence.read_target(&mut target);
                    occurrence.read_links(&mut links);
                    key::put_target(&mut key, &target, &links);
                    value.clear();
                    let tallies = occurrence.orientations().map(|(previous, next)| {
                        let mut tallies = [0; MOST_TALLIES];
                        tallies[previous as usize] = 1;
                        tallies[3 + next as usize] = 1;
                        tallies
                    });
                    let tallies = tallies.as_ref().map_or(&[][..], |tallies| &tallies[..]);
                    key::put_value(&mut value, Count::from_f64(occurrence.share() / sets), tallies, lines);
                    *occurrences += 1;
                    let pushed = pairs.push(&key, &value);
                    let counted =
                        instances.as_mut().map_or(Ok(()), |instances| instances.add(occurrence, &target));
                    if let Err(error) = pushed.and(counted) {
                        failed.get_or_insert(error);
                    }
                });
                if let Some(error) = failed {
                    return Err(error);
                }
                extracted.map_err(|error| out_of_range(&error, &self.sets[set], pair.line))?;
                self.lexicon.add(&pair.source, &pair.target, linked);
            }
            self.learnt += 1;
        }
        Ok(())
    }

    fn finish(self) -> Result<Learnt> {
        self.instances.map_or(Ok(()), Instances::finish)?;
        Ok(Learnt {
            pairs: self.learnt,
            occurrences: self.occurrences,
            lexicon: self.lexicon,
            sorted: self.pairs.finish(),
        })
    }
}

/// A random but fixed order of the places where a source side stands.
fn rank(line: u64, occurrence: &FlatOccurrence<'_>) -> [u8; RANK] {
    let place = |s1: u32, s2: u32| (u64::from(s1) << 32) | u64::from(s2);
    let pair = occurrence.pair();
    let start = fold(content_hash(&line.to_le_bytes()), place(pair.s1, pair.s2));
    let variables = occurrence.variables().iter();
    variables.fold(start, |hash, variable| fold(hash, place(variable.s1, variable.s2))).to_be_bytes()
}
