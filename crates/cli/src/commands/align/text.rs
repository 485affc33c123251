//! What `train` and `apply` share: reading the two texts, and writing links and everything that goes with
//! them.

use std::path::PathBuf;

use clap::Args;
use sylvan_align::{Aligner, Bitext, Heuristic, LexicalTable, Memory, Portion, Posteriors, ReadConfig};
use sylvan_base::Progress;
use sylvan_corpus::{Alignment, Link};
use sylvan_store::{Output, Scratch};

use crate::commands::grammar::parse_size;
use crate::outputs::OutPath;

/// The text.
#[derive(Debug, Args)]
pub(super) struct Text {
    /// The source text, one sentence per line, words separated by spaces; - for standard input.
    #[arg(long, value_name = "FILE")]
    source: PathBuf,
    /// The target text, line by line the translation of the source.
    #[arg(long, value_name = "FILE")]
    target: PathBuf,
    /// Leave out pairs with more words than this on a side; their lines of links stay empty.
    #[arg(long, value_name = "WORDS", default_value_t = 250, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    max_words: u16,
    /// Compare words in lower case.
    #[arg(long)]
    lowercase: bool,
    /// How much memory to use besides the vocabulary and the model, such as 64M or 2G. What does not fit goes
    /// to scratch files, which takes about twice the time; the result is the same bytes.
    #[arg(long, value_name = "SIZE", default_value = "384M", value_parser = parse_size)]
    memory: usize,
    /// Where scratch files go; by default the system's folder for temporary files.
    #[arg(long, value_name = "FOLDER")]
    scratch: Option<PathBuf>,
}

impl Text {
    /// Reads both texts; `limited` says whether the method can make do with little memory.
    pub(super) fn read(&self, limited: bool, progress: &dyn Progress) -> anyhow::Result<Bitext> {
        let config = ReadConfig { lowercase: self.lowercase, max_words: self.max_words.into() };
        let folder = self.scratch.clone().unwrap_or_else(std::env::temp_dir);
        let limit = if limited { self.memory } else { usize::MAX };
        let memory = Memory { limit, scratch: Scratch::new(&folder) };
        let bitext = Bitext::open(&self.source, &self.target, config, memory, progress)?;
        let skipped = bitext.skipped();
        for (count, what) in [
            (skipped.empty, "an empty side".to_string()),
            (skipped.long, format!("more than {} words on a side", self.max_words)),
        ] {
            if count > 0 {
                note(&format!("left out {count} of {} pairs, which have {what}", bitext.total()));
            }
        }
        Ok(bitext)
    }
}

/// Where results go.
#[derive(Debug, Args)]
pub(super) struct Results {
    /// The links: 0-based source-target pairs, one line per input line; - for standard output.
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: OutPath,
    /// How both directions become one: forward, reverse, intersection, union, grow-diag, grow-diag-final,
    /// grow-diag-final-and, itg, posterior or posterior:THRESHOLD (on the geometric mean of
    /// both probabilities), mean or mean:THRESHOLD (on the arithmetic mean).
    #[arg(long, value_name = "HEURISTIC", default_value_t = Heuristic::Mean(Heuristic::MEAN_THRESHOLD))]
    symmetrize: Heuristic,
    /// Also write posteriors: for each likely link i-j:FORWARD:REVERSE.
    #[arg(long, value_name = "FILE")]
    posteriors: Option<OutPath>,
    /// Also write lexical tables of the links: w(target|source) to PREFIX.f2e, w(source|target) to PREFIX.e2f.
    #[arg(long, value_name = "PREFIX")]
    lexicon: Option<PathBuf>,
}

/// Links whose probability is lower in both directions are not written as posteriors.
const LEAST: f32 = 0.01;

impl Results {
    pub(super) fn write(&self, bitext: &Bitext, aligner: &Aligner<'_>) -> anyhow::Result<()> {
        let mut out = Output::create(&self.out)?;
        let mut posteriors = self.posteriors.as_ref().map(|path| Output::create(path)).transpose()?;
        let mut lexicon = self.lexicon.as_ref().map(|_| LexicalTable::new());
        // Lines that were left out are empty.
        let mut written = 0;
        let wants_posteriors = posteriors.is_some();
        aligner.for_each(
            |_, _, matrix| {
                let links = matrix.links(self.symmetrize);
                let cells = if wants_posteriors { cells(matrix) } else { String::new() };
                (links, cells)
            },
            |portion: &Portion<'_>, index, (links, cells): (Vec<Link>, String)| -> anyhow::Result<()> {
                let line = portion.lines()[index];
                while written < line {
                    out.line("")?;
                    if let Some(posteriors) = &mut posteriors {
                        posteriors.line("")?;
                    }
                    written += 1;
                }
                if let Some(lexicon) = &mut lexicon {
                    use sylvan_align::Side::{Source, Target};
                    lexicon.add(portion.words(Source, index), portion.words(Target, index), &links);
                }
                out.line(&Alignment::new(links, Vec::new()).to_string())?;
                if let Some(posteriors) = &mut posteriors {
                    posteriors.line(&cells)?;
                }
                written += 1;
                Ok(())
            },
        )?;
        for _ in written as usize..bitext.total() {
            out.line("")?;
            if let Some(posteriors) = &mut posteriors {
                posteriors.line("")?;
            }
        }
        if let (Some(lexicon), Some(prefix)) = (lexicon, &self.lexicon) {
            let named = |ending: &str| {
                let mut name = prefix.clone().into_os_string();
                name.push(ending);
                Output::create(&PathBuf::from(name))
            };
            let (mut forward, mut reverse) = (named(".f2e")?, named(".e2f")?);
            lexicon.write(bitext.vocab(), &mut forward, &mut reverse)?;
            forward.finish()?;
            reverse.finish()?;
        }
        if let Some(posteriors) = posteriors {
            posteriors.finish()?;
        }
        Ok(out.finish()?)
    }
}

fn cells(matrix: &Posteriors) -> String {
    let mut out = String::new();
    for i in 0..matrix.source_len {
        for j in 0..matrix.target_len {
            let at = i * matrix.target_len + j;
            let (forward, reverse) = (matrix.forward[at], matrix.reverse[at]);
            if forward.max(reverse) >= LEAST {
                let gap = if out.is_empty() { "" } else { " " };
                out.push_str(&format!("{gap}{i}-{j}:{forward:.3}:{reverse:.3}"));
            }
        }
    }
    out
}

/// Prints a note on standard error.
#[allow(clippy::print_stderr)]
pub(super) fn note(message: &str) {
    eprintln!("{message}");
}
