//! `sylvan lm estimate`: a language model from text.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use sylvan_lm::classes::Classes;
use sylvan_lm::{EstimateConfig, EstimateError, EstimateSummary, Estimator, Marks, Prune, temp_folder};
use sylvan_store::{Output, TextReader};

use crate::outputs::OutPath;
use crate::progress::Terminal;
use crate::threads::Threads;

/// Estimates a Kneser-Ney language model and writes it as ARPA text.
///
/// The model is KenLM's: interpolated modified Kneser-Ney smoothing. Texts may be larger than memory, and
/// compressed (gzip, zstd). Neither --memory nor --threads changes the result.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sylvan lm estimate --order 5 --text train.en --out en.arpa.gz --prune \"0 0 1\" \
    --memory 2G"
)]
pub(crate) struct Estimate {
    /// The length of the longest n-grams, 1 to 7.
    #[arg(long, value_name = "N")]
    order: usize,
    /// A text of one sentence per line, words between spaces; - for standard input. Repeat for several.
    #[arg(long, value_name = "FILE", default_value = "-")]
    text: Vec<PathBuf>,
    /// Where the model goes; compressed if the name ends in .gz or .zst; - for standard output.
    #[arg(long, value_name = "FILE")]
    out: OutPath,
    /// Leave out n-grams seen this often or less, one number per length; the last one repeats.
    #[arg(long, value_name = "COUNTS", default_value = "0")]
    prune: String,
    /// Memory for counting and sorting, besides the vocabulary: 64M, 2G, 50%.
    #[arg(long, value_name = "SIZE", default_value = "50%", value_parser = parse_size)]
    memory: usize,
    #[command(flatten)]
    threads: Threads,
    /// Use the discounts 0.5, 1 and 1.5 where the text is too small or too odd to give its own.
    #[arg(long)]
    discount_fallback: bool,
    /// Leave out n-grams with words that are not in this file (words between spaces or line breaks).
    #[arg(long, value_name = "FILE")]
    limit_vocab: Option<PathBuf>,
    /// A model of word classes: lines become lines of the classes that this file gives to words (`sylvan lm classes`).
    /// Words without a class are refused, or left out with --skip-symbols.
    #[arg(long, value_name = "FILE", conflicts_with = "limit_vocab")]
    classes: Option<PathBuf>,
    /// Leave out the words `<s>`, `</s>` and `<unk>` in the text instead of refusing them.
    #[arg(long)]
    skip_symbols: bool,
    /// Where scratch files go; by default beside the model.
    #[arg(long, value_name = "FOLDER")]
    scratch: Option<PathBuf>,
}

impl Estimate {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let threads = self.threads.count();
        let config = EstimateConfig {
            order: self.order,
            fallback: self.discount_fallback.then_some([0.5, 1.0, 1.5]),
            prune: Prune::parse(&self.prune).context("--prune")?,
            marks: if self.skip_symbols { Marks::Skip } else { Marks::Refuse },
            memory: self.memory,
            threads,
        };
        let temp = self.scratch.unwrap_or_else(|| temp_folder(&self.out));
        let mut estimator = Estimator::with_temp(config, &temp)?;
        if let Some(path) = &self.limit_vocab {
            estimator = estimator.limit_vocabulary(read_words(path)?);
        }
        let progress = Terminal::default();
        let classes = self.classes.as_deref().map(Classes::read).transpose()?;
        // Opened before the text is read: a path that cannot be written should not cost an hour.
        let mut out = Output::create(&self.out)?;
        for path in &self.text {
            let mut reader = TextReader::open(path)?.tolerant();
            match &classes {
                Some(classes) => estimator.read_classes(&mut reader, classes, &progress)?,
                None => estimator.read(&mut reader, &progress)?,
            }
        }
        let summary = estimator.write_arpa(&mut out, &progress).map_err(|error| match error {
            // Only here is it known where the text should have been.
            EstimateError::NoText => {
                let names: Vec<String> = self.text.iter().map(|path| path.display().to_string()).collect();
                anyhow::anyhow!("{}: {error}", names.join(", "))
            }
            other => other.into(),
        })?;
        out.finish()?;
        report(&summary);
        Ok(())
    }
}

fn read_words(path: &Path) -> anyhow::Result<Vec<String>> {
    let mut reader = TextReader::open(path)?.tolerant();
    let mut words = Vec::new();
    while let Some(line) = reader.next_line()? {
        words.extend(line.split_ascii_whitespace().map(ToString::to_string));
    }
    Ok(words)
}

/// What was done goes to standard error: standard output may be the model.
#[allow(clippy::print_stderr)]
fn report(summary: &EstimateSummary) {
    eprintln!("{} sentences, {} words", summary.sentences, summary.tokens);
    for (n, (count, [d1, d2, d3])) in (1..).zip(summary.counts.iter().zip(&summary.discounts)) {
        eprintln!("{count:>12} {n}-grams, discounts {d1:.4} {d2:.4} {d3:.4}");
    }
    eprintln!("temporary files: at most {} MB", summary.disk.div_ceil(1 << 20));
}

/// Bytes from `64M`, `2G`, `50%`. A bare number means bytes.
fn parse_size(text: &str) -> Result<usize, String> {
    let wrong = || format!("found {text:?}, expected a size such as 64M, 2G or 50%");
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..split].parse().map_err(|_| wrong())?;
    let unit = match &text[split..] {
        "" | "b" | "B" => 1.0,
        "k" | "K" => f64::from(1 << 10),
        "m" | "M" => f64::from(1 << 20),
        "g" | "G" => f64::from(1 << 30),
        "t" | "T" => f64::from(1 << 30) * 1024.0,
        "%" => {
            physical_memory().ok_or("cannot find out how much memory there is; give a size such as 2G")?
                / 100.0
        }
        _ => return Err(wrong()),
    };
    let bytes = number * unit;
    if bytes < f64::from(1 << 20) {
        return Err(format!("found {text:?}, expected at least 1M"));
    }
    Ok(bytes as usize)
}

/// Bytes of memory, where the system says.
fn physical_memory() -> Option<f64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find(|line| line.starts_with("MemTotal:"))?;
    let kilobytes: f64 = line.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_size("64M"), Ok(64 << 20));
        assert_eq!(parse_size("1.5G"), Ok(3 << 29));
        for wrong in ["", "M", "12X", "1K", "-1G"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }
}
