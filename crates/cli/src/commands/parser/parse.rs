//! `sylvan parser parse`: trees for text.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use sylvan_base::limits::SENTENCE_WORDS;
use sylvan_base::{Fault, InputError, Progress, Vocab, parallel};
use sylvan_parse::{Kind, MergeStatistics, Parser, Workspace, pack};
use sylvan_trees::{Tree, egret, penn};

use crate::bad_lines::{BadLines, Strictness};
use crate::lines::{Line, next_chunk, read_ahead, texts};
use crate::progress::Terminal;
use crate::threads::Threads;

/// Parses text, one sentence per line, words separated by spaces.
///
/// Each line gives one tree, an empty line an empty one, so that files stay parallel. The time is linear in the
/// length of a line. Brackets and quotation marks are read as the parser's treebank writes them; in Penn brackets, round
/// ones are written -LRB- and -RRB-, as everywhere.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sylvan parser parse --model en.parser < text.en > text.tree")]
pub(crate) struct Parse {
    /// The model.
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// States per step: more is slower and finds better trees; 1 is greedy.
    #[arg(long, value_name = "N", default_value_t = 16)]
    beam: usize,
    /// What to write. Default: what the model makes (penn or conllu).
    #[arg(long, value_enum)]
    format: Option<Written>,
    /// Constituents: at most K best trees of each sentence, `number ||| score ||| tree`.
    #[arg(long, value_name = "K")]
    nbest: Option<usize>,
    /// Dependencies: merge states with the same future; the counts go to standard error.
    #[arg(long)]
    merge: bool,
    #[command(flatten)]
    strictness: Strictness,
    #[command(flatten)]
    threads: Threads,
    /// The text; - for standard input.
    #[arg(value_name = "TEXT", default_value = "-")]
    text: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Written {
    /// Penn brackets, one tree per line.
    Penn,
    /// CoNLL-U: words with parts of speech, and heads and relations of a dependency parser.
    Conllu,
    /// The trees of the beam as a packed forest in Egret's format, scores as log-probabilities.
    Forest,
}

impl Parse {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        anyhow::ensure!(self.beam > 0, "--beam 0: expected at least 1");
        anyhow::ensure!(self.nbest != Some(0), "--nbest 0: expected at least 1");
        let parser = Parser::open(&self.model)?;
        let kind = parser.kind();
        let usual = if kind == Kind::Constituency { Written::Penn } else { Written::Conllu };
        let format = self.format.unwrap_or(usual);
        let fits = match format {
            Written::Penn | Written::Forest => kind == Kind::Constituency,
            Written::Conllu => kind != Kind::Constituency,
        };
        let model = self.model.display();
        anyhow::ensure!(fits, "{model}: found a {} model, expected one that makes this format", kind.name());
        anyhow::ensure!(
            self.nbest.is_none() || format == Written::Penn,
            "--nbest: expected with --format penn and a constituency model"
        );
        anyhow::ensure!(!self.merge || kind == Kind::Dependency, "--merge: expected with a dependency model");
        let mut out = std::io::stdout().lock();
        let progress = Terminal::default();
        progress.begin("parsing", None);
        let lines = read_ahead(&self.text)?;
        let worker = || Worker {
            parser: &parser,
            command: &self,
            format,
            workspace: Workspace::new(),
            vocab: Vocab::new(),
        };
        let mut merged = MergeStatistics::default();
        let mut number = 0;
        let mut bad = BadLines::new(self.strictness);
        while let Some(chunk) = next_chunk(&lines) {
            let chunk = chunk.into_iter().zip(number + 1..).map(|(line, at)| self.fits(line?, at));
            let (chunk, faults) = texts(chunk.collect());
            let parsed = parallel::map(&chunk, self.threads.count(), worker, |worker, index, line| {
                worker.line(number + index as u64 + 1, line)
            });
            for ((text, statistics), fault) in parsed.into_iter().zip(faults) {
                fault.map_or(Ok(()), |fault| bad.report(fault.into()))?;
                out.write_all(text.as_bytes()).map_err(InputError::io("-", "write"))?;
                merged.states += statistics.states;
                merged.derivations += statistics.derivations;
            }
            // A reader at the other end of a pipe gets what is ready.
            out.flush().map_err(InputError::io("-", "write"))?;
            number += chunk.len() as u64;
            progress.at(number);
        }
        progress.end();
        bad.sum_up(number);
        if self.merge {
            report(&merged);
        }
        Ok(())
    }

    /// A line, if it is not far longer than any sentence.
    fn fits(&self, line: String, at: u64) -> Line {
        let words = line.split_ascii_whitespace().count();
        if words <= SENTENCE_WORDS {
            return Ok(line);
        }
        let expected = format!("a sentence of at most {SENTENCE_WORDS}");
        let fault = Fault::new(0, format!("{words} words"), expected);
        let fault = fault.advise("put each sentence on a line of its own");
        Err(fault.at(self.text.display().to_string(), at))
    }
}

struct Worker<'a> {
    parser: &'a Parser,
    command: &'a Parse,
    format: Written,
    workspace: Workspace,
    vocab: Vocab,
}

impl Worker<'_> {
    /// What is written for a line, and what merging of states did.
    fn line(&mut self, number: u64, line: &str) -> (String, MergeStatistics) {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match self.format {
            Written::Penn => (self.penn(number, &words), MergeStatistics::default()),
            Written::Forest => (self.forest(number, &words), MergeStatistics::default()),
            Written::Conllu => self.conllu(&words),
        }
    }

    fn penn(&mut self, number: u64, words: &[&str]) -> String {
        let most = self.command.nbest.unwrap_or(1);
        let beam = self.command.beam.max(most);
        let parsed = self.parser.constituents(words, beam, most, &mut self.vocab, &mut self.workspace);
        let line = |tree: Option<&Tree>| penn::to_line(tree, &self.vocab);
        match self.command.nbest {
            None => line(parsed.first().map(|parsed| &parsed.tree)) + "\n",
            Some(_) => parsed
                .iter()
                .map(|parsed| format!("{number} ||| {} ||| {}\n", parsed.score, line(Some(&parsed.tree))))
                .collect(),
        }
    }

    fn forest(&mut self, number: u64, words: &[&str]) -> String {
        let mut text = String::new();
        let beam = self.command.beam;
        let parsed = self.parser.constituents(words, beam, beam, &mut self.vocab, &mut self.workspace);
        match pack(&parsed) {
            Some(forest) => egret::write(&forest, number, &self.vocab, &mut text),
            None => {
                let symbols: Vec<_> = words.iter().map(|word| self.vocab.intern(word)).collect();
                egret::write_unparsed(&symbols, number, &self.vocab, &mut text);
            }
        }
        text
    }

    fn conllu(&mut self, words: &[&str]) -> (String, MergeStatistics) {
        let mut text = String::new();
        let mut statistics = MergeStatistics::default();
        let merge = self.command.merge.then_some(&mut statistics);
        let parsed = self.parser.dependencies(words, self.command.beam, merge, &mut self.workspace);
        let tags = match &parsed {
            Some(parsed) => parsed.tags.clone(),
            None => self.parser.tag_numbers(words, &mut self.workspace),
        };
        for (index, (word, tag)) in words.iter().zip(tags).enumerate() {
            let (own, universal) = (&self.parser.tags()[usize::from(tag)], self.parser.universal_tag(tag));
            let (head, relation) = match &parsed {
                Some(parsed) => {
                    let head = parsed.heads[index].map_or(0, |head| head + 1);
                    let relation = &self.parser.relations()[usize::from(parsed.relations[index])];
                    (head.to_string(), relation.as_str())
                }
                None => ("_".to_string(), "_"),
            };
            let line = format!("{}\t{word}\t_\t{universal}\t{own}\t_\t{head}\t{relation}\t_\t_\n", index + 1);
            text.push_str(&line);
        }
        text.push('\n');
        (text, statistics)
    }
}

/// Counts go to standard error: standard output is the trees.
#[allow(clippy::print_stderr)]
fn report(merged: &MergeStatistics) {
    eprintln!("{} states, for {:.3e} sequences of actions", merged.states, merged.derivations);
}
