//! Interpolated modified Kneser-Ney smoothing (Chen & Goodman 1998), in the definition of KenLM's `lmplz`
//! (Heafield et al. 2013), for texts of any size. The files are the steps:
//!
//! ```text
//! text           lines --> word ids
//! count          word ids --> sorted n-grams of the full length        blocks, runs, merge
//! adjust, level  --> all shorter ones with adjusted counts, a trie in suffix order
//! discount       --> D1, D2, D3+ of each length
//! prune          which n-grams stay
//! sums           --> for each context its total and gamma              two sorts per length
//! probabilities  --> p = own + gamma p(shorter), shortest first
//! output         --> ARPA text, or a model in memory
//! ```
//!
//! | papers | here |
//! |---|---|
//! | a(h w), the adjusted count | `Entry::count` |
//! | n_i, the number of n-grams with a = i | `Tally::n` |
//! | D_1, D_2, D_3+ | [`Discounts`] |
//! | gamma(h), the back-off weight | `Share::gamma` |
//! | V, the words that can follow | the words that stay, without `<s>` |
//!
//! Everything between the steps is a stream in a fixed order that stays in memory while it fits and goes to a
//! scratch file otherwise; counts are integers until the last division. So neither the memory cap nor the number
//! of threads changes a bit of the result.

mod adjust;
mod column;
mod count;
mod discount;
mod level;
mod output;
mod parallel;
mod probabilities;
mod prune;
mod sums;
mod text;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sylvan_base::{Fault, HashSet, InputError, Progress, Silent, Vocab};
use sylvan_store::{Output, Scratch, TextReader};

pub(crate) use output::Piece;
pub(crate) use parallel::{by_bucket, in_order};

pub use discount::Discounts;
pub use prune::Prune;
pub use text::Marks;

use crate::classes::Classes;
use crate::{Lm, MAX_ORDER};
use adjust::Tally;
use column::Pool;
use count::{Counter, VocabularyGrew};
use level::{Finder, Levels, Unigram};
use output::{ArpaSink, LmSink, Section, Sink};
use probabilities::Finished;
use prune::Pruning;
use text::{Batch, Ids};

/// The longest n-grams that can be estimated.
pub const MAX_ESTIMATE_ORDER: usize = MAX_ORDER;

/// The ids of the words that are no words.
const UNKNOWN_ID: u32 = 0;
const BEGIN_ID: u32 = 1;
const END_ID: u32 = 2;

/// How a model is estimated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EstimateConfig {
    /// The length of the longest n-grams, 1 to 7.
    pub order: usize,
    /// The discounts for orders whose own cannot be computed, as in very small or artificial corpora. With
    /// `None` such corpora are refused.
    pub fallback: Option<Discounts>,
    /// Which n-grams are left out.
    pub prune: Prune,
    /// What is done about `<s>`, `</s>` and `<unk>` in the text.
    pub marks: Marks,
    /// Bytes that counting and sorting may take, besides the vocabulary.
    pub memory: usize,
    /// How many threads; the result does not depend on it.
    pub threads: usize,
}

impl Default for EstimateConfig {
    fn default() -> Self {
        Self {
            order: 3,
            fallback: Some([0.5, 1.0, 1.5]),
            prune: Prune::default(),
            marks: Marks::Refuse,
            memory: 1 << 30,
            threads: 1,
        }
    }
}

/// Why there is no model.
#[derive(Debug, thiserror::Error)]
pub enum EstimateError {
    /// The order is not supported.
    #[error("found the order {found}, expected 1 to {MAX_ESTIMATE_ORDER}")]
    Order {
        /// What was asked for.
        found: usize,
    },
    /// More thresholds than lengths.
    #[error("found {found} pruning thresholds, expected at most one for each of the {order} orders")]
    Thresholds {
        /// How many there are.
        found: usize,
        /// The order of the model.
        order: usize,
    },
    /// There was no sentence.
    #[error("found no sentence, expected at least one")]
    NoText,
    /// The corpus is too small or too uniform.
    #[error(
        "cannot compute discounts for {n}-grams: found {counts:?} of them seen once, twice, three and four times, \
         expected falling numbers above zero; give more text or allow fallback discounts (--discount-fallback)"
    )]
    Discounts {
        /// Which n-grams.
        n: usize,
        /// How many occur once, twice, three and four times (in adjusted counts).
        counts: [u64; 4],
    },
    /// More n-grams or words than 32 bits can number, or than keys can hold.
    #[error("found too many different {what}, expected fewer; lower the order or split the text")]
    TooMany {
        /// Of what.
        what: String,
    },
    /// A file cannot be read or written.
    #[error(transparent)]
    Input(#[from] InputError),
}

/// What an estimation did.
#[derive(Debug, Clone, PartialEq)]
pub struct EstimateSummary {
    /// Lines of text.
    pub sentences: u64,
    /// Words, without sentence boundaries.
    pub tokens: u64,
    /// N-grams in the model by length; the first includes `<unk>`, `<s>` and `</s>`.
    pub counts: Vec<u64>,
    /// The discounts by length.
    pub discounts: Vec<Discounts>,
    /// Peak bytes in temporary files.
    pub disk: u64,
}

/// What all steps use.
#[derive(Debug)]
pub(crate) struct Tools {
    threads: usize,
    memory: usize,
    scratch: Arc<Scratch>,
    pool: Pool,
}

impl Tools {
    fn new(config: &EstimateConfig, temp: &Path) -> Self {
        let scratch = Scratch::new(temp);
        let pool = Pool::new(&scratch, config.memory / 2);
        Self { threads: config.threads.max(1), memory: config.memory, scratch, pool }
    }

    /// Memory for merging the runs of one bucket.
    fn merge_memory(&self) -> usize {
        self.memory / 16 / self.threads
    }
}

/// Takes sentences and gives a model.
#[derive(Debug)]
pub struct Estimator {
    config: EstimateConfig,
    vocab: Vocab,
    counter: Counter,
    tools: Tools,
    limit: Option<HashSet<String>>,
    sentences: u64,
    tokens: u64,
}

impl Estimator {
    /// An estimator without text. Temporary files, should any be needed, go to the system's folder for them.
    pub fn new(config: EstimateConfig) -> Result<Self, EstimateError> {
        Self::with_temp(config, &std::env::temp_dir())
    }

    /// An estimator without text that puts temporary files into a folder.
    pub fn with_temp(config: EstimateConfig, temp: &Path) -> Result<Self, EstimateError> {
        let EstimateConfig { order, prune, .. } = config;
        if order == 0 || order > MAX_ESTIMATE_ORDER {
            return Err(EstimateError::Order { found: order });
        }
        if prune.given() > order {
            return Err(EstimateError::Thresholds { found: prune.given(), order });
        }
        Ok(Self {
            config,
            vocab: text::marks(),
            counter: Counter::new(order),
            tools: Tools::new(&config, temp),
            limit: None,
            sentences: 0,
            tokens: 0,
        })
    }

    /// Leaves out all n-grams with other words than these.
    #[must_use]
    pub fn limit_vocabulary(mut self, words: impl IntoIterator<Item = String>) -> Self {
        self.limit = Some(words.into_iter().collect());
        self
    }

    /// Adds a sentence of words between spaces or tabs. An empty line is an empty sentence. After a fault nothing
    /// was added.
    pub fn add(&mut self, line: &str) -> Result<(), Fault> {
        let before = self.counter.tokens().len();
        text::tokenise(line, self.config.marks, &mut self.vocab, self.counter.tokens())?;
        self.sentences += 1;
        self.tokens += (self.counter.tokens().len() - before) as u64 - 2;
        Ok(())
    }

    /// Adds all lines of a text.
    pub fn read(&mut self, reader: &mut TextReader, progress: &dyn Progress) -> Result<(), EstimateError> {
        progress.begin("reading text", None);
        let Self { config, vocab, counter, tools, sentences, tokens, .. } = self;
        let produce = || Ok::<_, EstimateError>(Batch::read(reader)?);
        let work = |batch: Batch| Ok(batch.ids(config.marks)?);
        parallel::in_order(tools.threads, produce, work, |ids: Ids| {
            ids.join(vocab, counter.tokens());
            *sentences += ids.lines;
            *tokens += ids.tokens.len() as u64 - 2 * ids.lines;
            progress.at(*sentences);
            if counter.is_full(tools.memory) {
                counter.spill(tools, vocab.len())?.map_err(too_many_words)?;
            }
            Ok(())
        })?;
        progress.end();
        Ok(())
    }

    /// Adds the classes of the words of all lines of a text: for a model to be asked with [`Lm::with_classes`].
    pub fn read_classes(
        &mut self,
        reader: &mut TextReader,
        classes: &Classes,
        progress: &dyn Progress,
    ) -> Result<(), EstimateError> {
        progress.begin("reading text", None);
        loop {
            let number = reader.line_number() + 1;
            let Some(line) = reader.next_line()? else { break };
            let strange = line.split_ascii_whitespace().find(|word| classes.of(word).is_none());
            if let Some(word) = strange.filter(|_| self.config.marks == Marks::Refuse) {
                let found = format!("{word:?}, which has no class and would be <unk>");
                let fault = Fault::new(0, found, "words that have classes");
                let advice = "learn classes from this text as well, or leave such words out (--skip-symbols)";
                return Err(fault.advise(advice).at(reader.name(), number).into());
            }
            let line = classes.line(line);
            self.add(&line).map_err(|fault| fault.at(reader.name(), number))?;
            progress.at(self.sentences);
            if self.counter.is_full(self.tools.memory) {
                self.counter.spill(&self.tools, self.vocab.len())?.map_err(too_many_words)?;
            }
        }
        progress.end();
        Ok(())
    }

    /// The model.
    pub fn finish(self) -> Result<Lm, EstimateError> {
        self.finish_telling(&Silent)
    }

    /// The model, with news of what is done.
    pub fn finish_telling(self, progress: &dyn Progress) -> Result<Lm, EstimateError> {
        let mut sink = LmSink::new(self.config.order);
        self.run(&mut sink, progress)?;
        Ok(sink.finish())
    }

    /// Writes the model as ARPA text. The output must still be finished.
    pub fn write_arpa(
        self,
        out: &mut Output,
        progress: &dyn Progress,
    ) -> Result<EstimateSummary, EstimateError> {
        self.run(&mut ArpaSink { out, sections: 0 }, progress)
    }

    fn run(mut self, sink: &mut dyn Sink, progress: &dyn Progress) -> Result<EstimateSummary, EstimateError> {
        if self.sentences == 0 {
            return Err(EstimateError::NoText);
        }
        progress.begin("counting n-grams", None);
        let levels = self.count()?;
        progress.end();
        let Self { vocab, tools, .. } = &self;
        let total = levels.kept.iter().sum();
        progress.begin("computing probabilities", Some(total));
        sink.begin(&levels.kept)?;
        let words = probabilities::unigrams(&levels);
        let mut last = Finished { probs: Vec::new(), contexts: Vec::new() };
        let mut done = 0;
        for n in 1..=levels.order {
            // Of each length: first its back-off weights, which come from the next longer n-grams, then it goes
            // out, then the probabilities of the next.
            let (gammas, shares) = if n < levels.order {
                let (gammas, shares) = sums::sum_up(tools, &levels, n + 1, &last.contexts)?;
                (gammas, Some(shares))
            } else {
                (Vec::new(), None)
            };
            sink.section(vocab, Section::new(&levels, n, &words, &last.probs, &gammas), tools)?;
            if let Some(shares) = shares {
                last = probabilities::interpolate(tools, &levels, n + 1, &shares, &words, &last.probs)?;
            }
            done += levels.kept[n - 1];
            progress.at(done);
        }
        progress.end();
        Ok(EstimateSummary {
            sentences: self.sentences,
            tokens: self.tokens,
            counts: levels.kept,
            discounts: levels.discounts,
            disk: tools.scratch.peak(),
        })
    }

    /// From the text to adjusted counts and discounts.
    fn count(&mut self) -> Result<Levels, EstimateError> {
        let Self { config, vocab, tools, .. } = self;
        let order = config.order;
        let mut counter = std::mem::replace(&mut self.counter, Counter::new(order));
        if counter.has_spilled() && !counter.tokens().is_empty() {
            counter.spill(tools, vocab.len())?.map_err(too_many_words)?;
        }
        let frequencies = counter.frequencies(vocab.len());
        let outside = |limit: &HashSet<String>| -> Vec<bool> {
            vocab.iter().map(|(symbol, text)| symbol.0 > END_ID && !limit.contains(text)).collect()
        };
        let outside = self.limit.as_ref().map(outside).unwrap_or_default();
        let pruning = Pruning { counts: config.prune, outside };
        let mut unigrams: Vec<Unigram> = (0u32..)
            .zip(&frequencies)
            .map(|(word, &frequency)| Unigram {
                count: 0,
                pruned: word > END_ID && pruning.prunes(&[word], frequency),
            })
            .collect();
        let mut tallies = [Tally::default(); MAX_ORDER];
        let mut entries: Vec<Vec<column::Segment<level::Entry>>> = (2..=order).map(|_| Vec::new()).collect();
        let mut starts;
        if order == 1 {
            for (unigram, &frequency) in unigrams.iter_mut().zip(&frequencies) {
                unigram.count = frequency;
            }
            unigrams[BEGIN_ID as usize].count = 0;
            starts = vec![vec![0, vocab.len() as u32]];
        } else {
            let shelves: Vec<_> = (2..=order).map(|_| tools.pool.shelf()).collect();
            let (buckets, adjusted) = counter.adjust(tools, &frequencies, &shelves, &pruning)?;
            starts = vec![buckets.starts];
            for part in adjusted {
                for (word, count) in part.unigrams {
                    unigrams[word as usize].count = count;
                }
                for (list, segment) in entries.iter_mut().zip(part.entries) {
                    list.push(segment);
                }
                for (tally, other) in tallies.iter_mut().zip(&part.tallies) {
                    tally.add_all(other);
                }
            }
        }
        for unigram in &unigrams {
            tallies[0].add(unigram.count, unigram.pruned);
        }
        for (n, list) in (2..).zip(&entries) {
            starts.push(ranks(list).ok_or_else(|| EstimateError::TooMany { what: format!("{n}-grams") })?);
        }
        let discounts = (1..).zip(&tallies[..order]).map(|(n, tally)| {
            discount::discounts(tally.n)
                .or(config.fallback)
                .ok_or(EstimateError::Discounts { n, counts: tally.n })
        });
        let discounts = discounts.collect::<Result<_, _>>()?;
        let kept = tallies[..order].iter().map(|tally| tally.kept).collect();
        let finders = starts.iter().map(|starts| Finder::new(starts)).collect();
        Ok(Levels { order, starts, finders, unigrams, entries, kept, discounts })
    }
}

fn too_many_words(_: VocabularyGrew) -> EstimateError {
    EstimateError::TooMany { what: "words for n-grams of this length".to_string() }
}

/// Where each segment starts among all entries of a length.
fn ranks(segments: &[column::Segment<level::Entry>]) -> Option<Vec<u32>> {
    let mut starts = vec![0u32];
    let mut sum = 0usize;
    for segment in segments {
        sum += segment.len();
        starts.push(u32::try_from(sum).ok()?);
    }
    Some(starts)
}

/// The folder for temporary files that belongs to an output: the one it is in.
pub fn temp_folder(output: &Path) -> PathBuf {
    match output.parent() {
        Some(folder) if output != Path::new("-") => folder.to_path_buf(),
        _ => std::env::temp_dir(),
    }
}
