//! Training: parallel trees and sentences into a rule table, in one go.
//!
//! ```text
//! trees, targets, links --reader--> pairs --workers: extract--> sorted runs --merge, score--> table
//! ```
//!
//! One thread reads, parses and numbers words and tokens, in the order of the corpus; the others extract and sort
//! rules. Numbers, sums and samples of lines do not depend on which thread did what, so the table is the same bytes
//! for any number of threads and any amount of memory.

mod counts;
mod forests;
mod reader;
mod worker;

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use sylvan_base::{Progress, Result, Vocab};
use sylvan_store::Scratch;

use crate::aggregate::{Merged, SortedPairs};
use crate::extract::{Attach, ExtractConfig};
use crate::score::{Lexicon, ScoreConfig, Scored, Scorer};
use crate::table::tokens::TokenInterner;
use crate::{Limits, Meta, Preprocessing};
pub use counts::{extract_counts, score_counts};
pub use reader::TreeFormat;
use reader::{PairReader, TrainingPair};
use worker::{Learnt, Worker};

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
    /// Word links, `i-j`, from 0.
    pub align: PathBuf,
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
    let folder = config.scratch.clone().or_else(|| out.parent().map(Path::to_path_buf)).unwrap_or_default();
    let scratch = Scratch::new(&folder);
    progress.begin("learning rules", None);
    let mut reader = PairReader::open(files, config.preprocessing, config.trees, config.tree_scale)?;
    let learnt = if config.threads <= 1 {
        vec![learn_alone(&mut reader, config, &scratch, progress)?]
    } else {
        learn_together(&mut reader, config, &scratch, progress)?
    };
    progress.end();
    let mut trained = Trained { lines: reader.lines(), ..Trained::default() };
    let mut lexicon = Lexicon::default();
    let mut parts: Vec<SortedPairs> = Vec::new();
    for Learnt { pairs, occurrences, lexicon: more, sorted } in learnt {
        trained.pairs += pairs;
        trained.occurrences += occurrences;
        lexicon.merge(more);
        parts.push(sorted);
    }
    let (vocab, tokens) = reader.into_vocab();
    Ok(Collected { trained, parts, lexicon, vocab, tokens, scratch })
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
            per_source: None,
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

fn worker(config: &TrainConfig, scratch: &Arc<Scratch>) -> Worker {
    // Half of the memory is for collecting, the other half for what comes after.
    Worker::new(config, scratch, config.memory / 2 / config.threads.max(1))
}

fn learn_alone(
    reader: &mut PairReader,
    config: &TrainConfig,
    scratch: &Arc<Scratch>,
    progress: &dyn Progress,
) -> Result<Learnt> {
    let mut worker = worker(config, scratch);
    while let Some(batch) = reader.next_batch()? {
        worker.learn(&batch, reader.align_name())?;
        progress.at(reader.lines());
    }
    Ok(worker.finish())
}

fn learn_together(
    reader: &mut PairReader,
    config: &TrainConfig,
    scratch: &Arc<Scratch>,
    progress: &dyn Progress,
) -> Result<Vec<Learnt>> {
    let name = reader.align_name().to_string();
    let (send, receive) = sync_channel::<Vec<TrainingPair>>(2 * config.threads);
    let receive = Mutex::new(receive);
    std::thread::scope(|scope| {
        let work = || -> Result<Learnt> {
            let mut worker = worker(config, scratch);
            while let Some(batch) = next_batch(&receive) {
                worker.learn(&batch, &name)?;
            }
            Ok(worker.finish())
        };
        let workers: Vec<_> = (0..config.threads).map(|_| scope.spawn(work)).collect();
        let mut failed = None;
        loop {
            match reader.next_batch() {
                // The channel closes only if all workers failed; they report why.
                Ok(Some(batch)) => {
                    if send.send(batch).is_err() {
                        break;
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
            progress.at(reader.lines());
        }
        drop(send);
        let learnt: Vec<Result<Learnt>> =
            workers.into_iter().map(|worker| worker.join().expect("workers do not panic")).collect();
        match failed {
            Some(error) => Err(error),
            None => learnt.into_iter().collect(),
        }
    })
}

fn next_batch(receive: &Mutex<Receiver<Vec<TrainingPair>>>) -> Option<Vec<TrainingPair>> {
    receive.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}
