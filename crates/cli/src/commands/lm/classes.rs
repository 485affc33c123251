//! `sylvan lm classes`: which words stand in the same places?

use std::path::PathBuf;

use clap::Args;
use sylvan_base::Progress;
use sylvan_lm::classes::{ClassConfig, MOST};
use sylvan_store::TextReader;

use crate::outputs::OutPath;
use crate::progress::Terminal;

/// Sorts the words of a text into classes: words that stand in the same places share one.
///
/// Classes are chosen so that a model of pairs of them makes the text as probable as can be (the exchange algorithm). A
/// language model of classes knows what follows words that are rare. The same text gives the same classes.
#[derive(Debug, Args)]
#[command(after_help = "Example, a language model of classes:\n  \
    sylvan lm classes --text train.en --out en.classes\n  \
    sylvan lm estimate --order 6 --text train.en --classes en.classes --out en.arpa --discount-fallback\n  \
    sylvan lm compile --arpa en.arpa --classes en.classes --out en-classes.lm\n  \
    sylvan decode --lm en.lm --lm en-classes.lm ..")]
pub(crate) struct Learn {
    /// A text of one sentence per line, words between spaces; - for standard input. Repeat for several.
    #[arg(long, value_name = "FILE", default_value = "-")]
    text: Vec<PathBuf>,
    /// How many classes.
    #[arg(long, value_name = "N", default_value_t = ClassConfig::default().count as u32, value_parser = clap::value_parser!(u32).range(1..i64::from(MOST)))]
    count: u32,
    /// At most this many passes over all words.
    #[arg(long, value_name = "N", default_value_t = ClassConfig::default().passes)]
    passes: usize,
    /// Where the classes go: lines of a word, a tab and a number.
    #[arg(long, value_name = "FILE")]
    out: OutPath,
}

impl Learn {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let progress = Terminal::default();
        let mut learner = ClassConfig { count: self.count as usize, passes: self.passes }.learner();
        for path in &self.text {
            learner.read(&mut TextReader::open(path)?.tolerant(), &progress)?;
        }
        progress.begin("sorting words", Some(self.passes as u64));
        let classes = learner.learn(&progress);
        progress.end();
        anyhow::ensure!(!classes.is_empty(), "no words in the text; give one of a sentence per line");
        Ok(classes.write(&self.out)?)
    }
}
