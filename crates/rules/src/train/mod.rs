//! Training: parallel trees or sentences into a rule table, in one go.
//!
//! ```text
//! trees or sentences, targets, links --reader--> pairs --workers: extract--> sorted runs --merge, score--> table
//! ```
//!
//! One thread reads, parses and numbers words and tokens, in the order of the corpus; the others extract and sort
//! rules. Numbers, sums and samples of lines do not depend on which thread did what, so the table is the same bytes
//! for any number of threads and any amount of memory.

mod counts;
mod flat;
mod forests;
mod reader;
mod share_out;
mod worker;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sylvan_base::{Fault, InputError, Progress, Result, Vocab};
use sylvan_corpus::{Alignment, Base, Link};
use sylvan_store::Scratch;

use crate::aggregate::{Merged, SortedPairs};
use crate::extract::{Attach, ExtractConfig, LinkOutOfRange};
use crate::score::{Lexicon, ScoreConfig, Scored, Scorer};
use crate::table::tokens::TokenInterner;
use crate::{Limits, Meta, Preprocessing};
pub use counts::{extract_counts, score_counts};
pub use flat::{FlatConfig, TextFiles, train_flat};
use reader::PairReader;
pub use reader::TreeFormat;
use share_out::{Learnt, learn_all};
use worker::Worker;

/// Settings of training.
#[derive(Debug, Clone)]
pub struct TrainConfig {
    /// How the trees are written.
    pub trees: TreeFormat,
    /// Factor for scores of forests and lists before they count as log-probabilities; 0 counts all trees
    /// alike.
    pub tree_scale: f64,
    /// What is done to the trees.
    pub preprocessing: Preprocessing,
    /// Which rules are learnt.
    pub extract: ExtractConfig,
    /// How they are scored.
    pub score: ScoreConfig,
    /// About how many bytes rules may take in memory before they are written to scratch files.
    pub memory: usize,
    /// Threads.
    pub threads: usize,
    /// Where scratch files go; beside the table if not given.
    pub scratch: Option<PathBuf>,
}

impl Default for TrainConfig {
    fn default() -> Self {
        Self {
            trees: TreeFormat::Penn,
            tree_scale: 1.0,
            preprocessing: Preprocessing::default(),
            extract: ExtractConfig::default(),
            score: ScoreConfig::default(),
            memory: 1 << 30,
            threads: 1,
            scratch: None,
        }
    }
}

/// The corpus.
#[derive(Debug, Clone)]
pub struct TrainingFiles {
    /// Source trees, as [`TrainConfig::trees`] says.
    pub trees: PathBuf,
    /// Target sentences.
    pub target: PathBuf,
    /// Word links, `i-j`, from 0. Rules are learnt from each of several sets, which count alike and make 1 together.
    pub links: Vec<PathBuf>,
}

/// What training found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Trained {
    /// Lines of the corpus.
    pub lines: u64,
    /// Lines that rules were learnt from: those with a tree and a link.
    pub pairs: u64,
    /// Occurrences of rules.
    pub occurrences: u64,
    /// Different rules, source sides, rules in the table.
    pub scored: Scored,
    /// Peak bytes in scratch files.
    pub scratch: u64,
}

/// What the corpus gave, before scoring.
struct Collected {
    trained: Trained,
    parts: Vec<SortedPairs>,
    lexicon: Lexicon,
    vocab: Vocab,
    tokens: TokenInterner,
    scratch: Arc<Scratch>,
}

/// Reads the corpus and cuts rules out.
fn learn(
    files: &TrainingFiles,
    out: &Path,
    config: &TrainConfig,
    progress: &dyn Progress,
) -> Result<Collected> {
    let scratch = Scratch::new(&scratch_folder(config.scratch.as_deref(), out));
    progress.begin("learning rules", None);
    let mut reader = PairReader::open(files, config.preprocessing, config.trees, config.tree_scale)?;
    // Half of the memory is for collecting, the other half for what comes after.
    let memory = config.memory / 2 / config.threads.max(1);
    let worker = || Worker::new(config, &scratch, memory, &files.links);
    let learnt = learn_all(&mut reader, config.threads, worker, progress)?;
    progress.end();
    let lines = share_out::Pairs::lines(&reader);
    let (vocab, tokens) = reader.into_vocab();
    Ok(collect(learnt, lines, vocab, tokens, scratch))
}

/// Where scratch files go: where they are wanted, else beside the table.
fn scratch_folder(wanted: Option<&Path>, out: &Path) -> PathBuf {
    wanted.or_else(|| out.parent()).map(Path::to_path_buf).unwrap_or_default()
}

/// What all workers found.
fn collect(
    learnt: Vec<Learnt>,
    lines: u64,
    vocab: Vocab,
    tokens: TokenInterner,
    scratch: Arc<Scratch>,
) -> Collected {
    let mut trained = Trained { lines, ..Trained::default() };
    let mut lexicon = Lexicon::default();
    let mut parts: Vec<SortedPairs> = Vec::new();
    for Learnt { pairs, occurrences, lexicon: more, sorted } in learnt {
        trained.pairs += pairs;
        trained.occurrences += occurrences;
        lexicon.merge(more);
        parts.push(sorted);
    }
    Collected { trained, parts, lexicon, vocab, tokens, scratch }
}

/// Names the line of a link that points past the end of a sentence.
fn out_of_range(error: &LinkOutOfRange, links: &Path, line: u64) -> InputError {
    Fault::new(0, error.to_string(), "links inside the sentences")
        .advise("check that the files belong together and count from 0")
        .at(links.display().to_string(), line)
}

/// The sure links of each set of a sentence; of a fault, in which set it is.
fn sets_of(lines: &[String]) -> std::result::Result<Vec<Vec<Link>>, (usize, Fault)> {
    let sets = lines.iter().enumerate();
    sets.map(|(set, line)| match Alignment::parse(line, Base::Zero) {
        Ok(links) => Ok(links.sure().to_vec()),
        Err(fault) => Err((set, fault)),
    })
    .collect()
}

/// Learns rules, scores them and writes a table.
pub fn train(
    files: &TrainingFiles,
    out: &Path,
    config: &TrainConfig,
    progress: &dyn Progress,
) -> Result<Trained> {
    let Collected { mut trained, parts, lexicon, vocab, tokens, scratch } =
        learn(files, out, config, progress)?;
    let scorer = Scorer {
        config: config.score,
        meta: Meta { pairs: trained.pairs, made_by: describe(config), ..meta_of(config) },
        tokens: &tokens,
        vocab: &vocab,
        lexicon: &lexicon,
        scratch: Arc::clone(&scratch),
        memory: config.memory / 2,
        flat: None,
        reordering: None,
        progress,
    };
    let mut merged = Merged::new(&parts, config.memory / 8)?;
    trained.scored = scorer.write(&mut merged, out)?;
    trained.scratch = scratch.peak();
    Ok(trained)
}

/// What a table says about limits and preprocessing.
fn meta_of(config: &TrainConfig) -> Meta {
    let extract = &config.extract;
    let limited = |limit: u32| (limit != u32::MAX).then_some(limit);
    Meta {
        preprocessing: config.preprocessing,
        limits: Limits {
            minimal_rules: limited(extract.minimal_rules),
            nodes: limited(extract.nodes),
            words: limited(extract.words),
            source_words: limited(extract.source_words),
            variables: limited(extract.variables),
            phrase_words: (extract.phrase_words > 0).then_some(extract.phrase_words),
            ..Limits::default()
        },
        ..Meta::new([])
    }
}

/// For the table's description.
fn describe(config: &TrainConfig) -> String {
    let attach = match config.extract.attach {
        Attach::Lowest => "lowest".to_string(),
        Attach::Inside => "inside".to_string(),
        Attach::Exhaustive(words) => format!("exhaustive up to {words}"),
    };
    format!(
        "tree-to-string extraction, unlinked words {attach}, smoothing {:?}, significance {:?}, target sides {:?}",
        config.score.smoothing, config.score.significance, config.score.target_key
    )
}
