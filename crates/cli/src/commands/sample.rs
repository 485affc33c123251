//! `sylvan sample`: parallel text from the built-in grammar.

use std::path::PathBuf;

use clap::Args;
use sylvan_base::{InputError, Progress};
use sylvan_sample::{Config, FileBuffers, Sampler};
use sylvan_store::Output;

use crate::progress::Terminal;
use crate::threads::Threads;

/// Writes a Chinese-English corpus with gold trees, links and dependencies.
///
/// Five files appear in the folder: source.txt, target.txt, source.tree (Penn brackets), target.conllu and
/// align.txt (0-based; i-j sure, ipj possible). Pair number i depends on the seed and the settings alone, so a
/// longer run starts with the shorter one's pairs.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sylvan sample --pairs 10000 --seed 1 --out corpus")]
pub(crate) struct Sample {
    /// How many sentence pairs.
    #[arg(long, value_name = "N")]
    pairs: u64,
    /// The seed: each gives a different corpus.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// The folder to write to; it is created if necessary.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Open vocabulary: this many names and numbers, Zipf-distributed.
    #[arg(long, value_name = "N")]
    types: Option<usize>,
    /// The shortest sentence, in words of either side, punctuation included.
    #[arg(long, value_name = "A", default_value_t = Config::default().min_words)]
    min_words: usize,
    /// The longest sentence.
    #[arg(long, value_name = "B", default_value_t = Config::default().max_words)]
    max_words: usize,
    #[command(flatten)]
    threads: Threads,
}

/// Pairs that one thread makes at a time: some megabytes of text.
const CHUNK: u64 = 4096;

impl Sample {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let sampler = Sampler::new(Config {
            seed: self.seed,
            min_words: self.min_words,
            max_words: self.max_words,
            types: self.types,
        })?;
        std::fs::create_dir_all(&self.out).map_err(InputError::io(&self.out, "create"))?;
        let threads = self.threads.count();
        let mut files = Files::create(&self)?;
        let progress = Terminal::default();
        progress.begin("writing sentence pairs", Some(self.pairs));
        let mut buffers: Vec<FileBuffers> = (0..threads).map(|_| FileBuffers::default()).collect();
        let mut next = 0;
        while next < self.pairs {
            // Each round, every thread makes one chunk; they are written in order.
            std::thread::scope(|scope| {
                for (thread, buffer) in buffers.iter_mut().enumerate() {
                    let start = (next + thread as u64 * CHUNK).min(self.pairs);
                    let range = start..(start + CHUNK).min(self.pairs);
                    let sampler = &sampler;
                    scope.spawn(move || {
                        buffer.clear();
                        sampler.write_all(range, buffer);
                    });
                }
            });
            for buffer in &buffers {
                files.write(buffer)?;
            }
            next = (next + threads as u64 * CHUNK).min(self.pairs);
            progress.at(next);
        }
        progress.end();
        files.finish()
    }
}

struct Files {
    source: Output,
    target: Output,
    tree: Output,
    conllu: Output,
    align: Output,
}

impl Files {
    fn create(command: &Sample) -> anyhow::Result<Self> {
        let create = |name: &str| Output::create(&command.out.join(name));
        Ok(Self {
            source: create("source.txt")?,
            target: create("target.txt")?,
            tree: create("source.tree")?,
            conllu: create("target.conllu")?,
            align: create("align.txt")?,
        })
    }

    fn write(&mut self, buffers: &FileBuffers) -> anyhow::Result<()> {
        self.source.write(&buffers.source)?;
        self.target.write(&buffers.target)?;
        self.tree.write(&buffers.source_tree)?;
        self.conllu.write(&buffers.target_conllu)?;
        self.align.write(&buffers.align)?;
        Ok(())
    }

    fn finish(self) -> anyhow::Result<()> {
        for output in [self.source, self.target, self.tree, self.conllu, self.align] {
            output.finish()?;
        }
        Ok(())
    }
}
