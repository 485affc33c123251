//! Training: from treebanks to a parser.
//!
//! ```text
//! trees --> tags, known words --> tagger
//!    |             tags of each quarter by a tagger of the others   (jackknife)
//!    +--> actions ----------------+--> perceptron --> parser        after each epoch: the figure on held-out trees
//! ```
//!
//! A parser that learnt from right tags would trust the tagger too much, so it learns from tags that are as good
//! and as bad as those it will get.

use std::borrow::Cow;

use sylvan_base::{HashMap, Progress, parallel};

use crate::conventions::Conventions;
use crate::dependency::system::Templates;
use crate::lexicon::{Lexicon, Word};
use crate::machine::Search;
use crate::machine::learn::Epoch;
use crate::model::Parser;
use crate::tagger::{Tagger, TaggerTraining};
use crate::tags::TagSet;

pub use constituency::train_constituency;
pub use dependency::train_dependency;
pub use tagger::train_tagger;

mod constituency;
mod dependency;
mod passes;
mod tagger;

/// How to train.
#[derive(Debug, Clone)]
pub struct TrainConfig {
    /// States per step, in training and for the held-out figure.
    pub beam: usize,
    /// At most this many passes over the training trees.
    pub epochs: usize,
    /// How many perceptrons learn the same in different orders; the parser is their mean, which is better than each of
    /// them and takes that many times as long to learn. The file is no larger.
    pub members: usize,
    /// Threads. The result does not depend on them.
    pub threads: usize,
    /// How many words after the current one the tagger sees: 0 to 2.
    pub lookahead: usize,
    /// The size in bytes that the model should not exceed; the weights worth least are dropped to fit.
    pub size: usize,
    /// Dependencies: which features.
    pub templates: Templates,
    /// Dependencies: how many words after the top of the stack features see: 0 to 3. Word-by-word parsing needs 0 or 1.
    pub window: usize,
    /// Dependencies: the part of speech of a word depends on the word alone, as word-by-word parsing wants it.
    pub tags_alone: bool,
    /// How the treebank writes what people write otherwise ([`treebank::conventions`](crate::treebank::conventions));
    /// the parser keeps it.
    pub conventions: Conventions,
}

impl Default for TrainConfig {
    fn default() -> Self {
        Self {
            beam: 8,
            epochs: 12,
            members: 1,
            threads: 1,
            lookahead: 2,
            size: 58_000_000,
            templates: Templates::Rich,
            window: 3,
            tags_alone: false,
            conventions: Conventions::default(),
        }
    }
}

/// Why there is nothing to train from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrainError {
    /// No trees.
    #[error("found no trees to train from")]
    Empty,
    /// More than a byte of tags.
    #[error("found {0} parts of speech, expected at most 255")]
    Tags(usize),
}

/// What training reports.
#[derive(Debug, Clone, Copy)]
pub enum News<'a> {
    /// How it goes, a line at a time.
    Line(&'a str),
    /// The best parser so far: worth keeping if the training should be interrupted.
    Better(&'a Parser),
}

/// Callback for training events.
pub type Report<'a> = &'a mut dyn FnMut(News<'_>);

/// Tagged sentences with their atoms.
pub(crate) struct Tagged {
    pub(crate) words: Vec<Word>,
    pub(crate) tags: Vec<u8>,
}

/// The most frequent first.
pub(crate) fn by_frequency<'a>(items: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut counts: HashMap<&str, u64> = HashMap::default();
    for item in items {
        *counts.entry(item).or_default() += 1;
    }
    let mut all: Vec<(&str, u64)> = counts.into_iter().collect();
    all.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    all.into_iter().map(|(item, _)| item.to_string()).collect()
}

/// A word and the name of its tag.
pub(crate) type Tokens<'a> = (&'a str, Cow<'a, str>);

/// Words and tags of the training and held-out sentences, in numbers.
pub(crate) struct Prepared {
    pub(crate) lexicon: Lexicon,
    pub(crate) tags: TagSet,
    pub(crate) train: Vec<Tagged>,
    pub(crate) dev: Vec<Tagged>,
}

/// A tag that no training word has.
const UNSEEN: u8 = 255;

impl Prepared {
    /// From sentences of words with tags.
    pub(crate) fn new(train: &[Vec<Tokens<'_>>], dev: &[Vec<Tokens<'_>>]) -> Result<Self, TrainError> {
        if train.is_empty() {
            return Err(TrainError::Empty);
        }
        let tags = by_frequency(train.iter().flatten().map(|(_, tag)| tag.as_ref()));
        if tags.len() > 255 {
            return Err(TrainError::Tags(tags.len()));
        }
        let numbers: HashMap<&str, u8> = tags.iter().map(String::as_str).zip(0..).collect();
        let number = |tag: &str| numbers.get(tag).copied().unwrap_or(UNSEEN);
        let lexicon = Lexicon::build(train.iter().flatten().map(|(word, tag)| (*word, number(tag))));
        let prepare = |sentences: &[Vec<Tokens<'_>>]| {
            let one = |sentence: &Vec<Tokens<'_>>| Tagged {
                words: sentence.iter().map(|(word, _)| lexicon.word(word)).collect(),
                tags: sentence.iter().map(|(_, tag)| number(tag)).collect(),
            };
            sentences.iter().map(one).collect::<Vec<_>>()
        };
        let (train, dev) = (prepare(train), prepare(dev));
        drop(numbers);
        let tags = TagSet::new(&tags);
        Ok(Self { lexicon, tags, train, dev })
    }

    /// A tagger that is all there is to be: so many passes as asked for, unless the held-out sentences say that more do
    /// not help. Its accuracy there, if there are any.
    pub(crate) fn tagger_alone(
        &self,
        config: &TrainConfig,
        progress: &dyn Progress,
        report: Report<'_>,
    ) -> (Tagger, Option<f64>) {
        let training =
            TaggerTraining { lookahead: config.lookahead, epochs: config.epochs, threads: config.threads };
        let mut pass = 0.0;
        let judge = |tagger: &Tagger| {
            pass += 1.0;
            if self.dev.is_empty() { pass } else { self.accuracy(tagger, config.threads) }
        };
        let tagger = Tagger::train(
            &self.examples(),
            self.tags.len(),
            training,
            "tagger",
            progress,
            judge,
            |epoch: Epoch| {
                let Epoch { number, updates, figure, .. } = epoch;
                let accuracy =
                    if self.dev.is_empty() { String::new() } else { format!(", accuracy {figure:.2}") };
                report(News::Line(&format!(
                    "tagger epoch {number:>2}: {updates:>6} sentences wrong{accuracy}"
                )));
            },
        );
        let accuracy = (!self.dev.is_empty()).then(|| self.accuracy(&tagger, config.threads));
        (tagger, accuracy)
    }

    fn examples(&self) -> Vec<(&[Word], &[u8])> {
        self.train.iter().map(|tagged| (&tagged.words[..], &tagged.tags[..])).collect()
    }

    /// The tagger of a parser, judged on the held-out sentences, and its accuracy there.
    pub(crate) fn tagger(
        &self,
        config: &TrainConfig,
        progress: &dyn Progress,
        report: Report<'_>,
    ) -> (Tagger, f64) {
        let examples = self.examples();
        let judge = |tagger: &Tagger| self.accuracy(tagger, config.threads);
        let training =
            TaggerTraining { lookahead: config.lookahead, epochs: TAGGER_EPOCHS, threads: config.threads };
        let tagger =
            Tagger::train(&examples, self.tags.len(), training, "tagger", progress, judge, |epoch: Epoch| {
                report(News::Line(&format!(
                    "tagger epoch {:>2}: {:>6} sentences wrong, accuracy {:.2}",
                    epoch.number, epoch.updates, epoch.figure
                )));
            });
        let accuracy = self.accuracy(&tagger, config.threads);
        (tagger, accuracy)
    }

    /// How many words have the treebank's own tag.
    fn right(&self, found: &[u8], tags: &[u8]) -> usize {
        found.iter().zip(tags).filter(|&(&found, &tag)| self.tags.same(found, tag)).count()
    }

    /// Per cent of held-out words with the right tag.
    fn accuracy(&self, tagger: &Tagger, threads: usize) -> f64 {
        let words: Vec<&[Word]> = self.dev.iter().map(|tagged| &tagged.words[..]).collect();
        let found = tag_all(tagger, &words, false, threads);
        let right: usize = found.iter().zip(&self.dev).map(|(found, dev)| self.right(found, &dev.tags)).sum();
        right as f64 * 100.0 / words.iter().map(|words| words.len()).sum::<usize>().max(1) as f64
    }

    /// Tags of the training sentences by taggers that have not seen them.
    pub(crate) fn jackknife(
        &self,
        config: &TrainConfig,
        progress: &dyn Progress,
        report: Report<'_>,
    ) -> Vec<Vec<u8>> {
        if self.train.len() < 10 * FOLDS {
            return self.train.iter().map(|tagged| tagged.tags.clone()).collect();
        }
        let mut tags: Vec<Vec<u8>> = vec![Vec::new(); self.train.len()];
        let training =
            TaggerTraining { lookahead: config.lookahead, epochs: JACKKNIFE_EPOCHS, threads: config.threads };
        let (mut right, mut all) = (0, 0);
        for fold in 0..FOLDS {
            let others: Vec<(&[Word], &[u8])> = (0..self.train.len())
                .filter(|index| index % FOLDS != fold)
                .map(|index| (&self.train[index].words[..], &self.train[index].tags[..]))
                .collect();
            let stage = format!("tagger {} of {FOLDS}", fold + 1);
            // No judge, no early stop: the last epoch is the best guess.
            let mut epoch = 0.0;
            let judge = |_: &Tagger| {
                epoch += 1.0;
                epoch
            };
            let tagger = Tagger::train(&others, self.tags.len(), training, &stage, progress, judge, |_| {});
            let mine: Vec<usize> = (0..self.train.len()).filter(|index| index % FOLDS == fold).collect();
            let sentences: Vec<&[Word]> = mine.iter().map(|&index| &self.train[index].words[..]).collect();
            let found = tag_all(&tagger, &sentences, config.tags_alone, config.threads);
            for (index, found) in mine.into_iter().zip(found) {
                right += self.right(&found, &self.train[index].tags);
                all += found.len();
                tags[index] = found;
            }
        }
        report(News::Line(&format!(
            "jackknifed tags: accuracy {:.2}",
            right as f64 * 100.0 / all.max(1) as f64
        )));
        tags
    }
}

const TAGGER_EPOCHS: usize = 14;
const FOLDS: usize = 4;
const JACKKNIFE_EPOCHS: usize = 3;

/// Tags many sentences.
pub(crate) fn tag_all(tagger: &Tagger, sentences: &[&[Word]], alone: bool, threads: usize) -> Vec<Vec<u8>> {
    parallel::map(sentences, threads, Search::new, |search, _, words| tagger.tag_either(words, alone, search))
}
