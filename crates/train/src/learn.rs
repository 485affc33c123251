//! The stages that learn from clean text: parser, trees, links, rules, language model.

use std::path::{Path, PathBuf};

use sylvan_align::{Aligner, Bitext, Memory, Portion, ReadConfig};
use sylvan_base::{HashSet, Symbol, Vocab};
use sylvan_corpus::Alignment;
use sylvan_lm::{CompileConfig, EstimateConfig, Estimator, LayoutKind, Lm, Marks, Prune};
use sylvan_parse::{News, Parser, TrainConfig, Workspace, train_constituency, treebank};
use sylvan_rules::extract::ExtractConfig;
use sylvan_rules::{Preprocessing, ScoreConfig, TrainingFiles};
use sylvan_store::{Output, Scratch, TextReader};
use sylvan_trees::{Tree, penn};

use super::preflight::shown;
use super::text::each_line;
use super::work::Stage;
use super::{PipelineError, Result, Run};

/// One in so many trees of a treebank measures the parser and is not learnt from.
const HELD: usize = 20;
/// A parser that knows fewer of a text's words than one in so many belongs to another language.
const KNOWN: usize = 3;

impl Run<'_> {
    /// Trains a parser from a treebank.
    pub(super) fn train_parser(&mut self, hear: &mut dyn FnMut(&str)) -> Result<()> {
        let Some(trees) = &self.config.treebank else {
            if let Some(path) = &self.parser {
                let parser = Parser::open(path)?;
                same_language(path, &self.dev.source, |word| parser.knows(word))?;
            }
            return Ok(());
        };
        let model = self.work.file("parser");
        let (epochs, threads, progress) = (self.config.parser_epochs, self.threads, self.progress);
        let dev = self.dev.source.clone();
        let stage = Stage {
            name: "parser",
            inputs: vec![trees, &dev],
            settings: epochs.to_string(),
            outputs: vec![&model],
        };
        self.work.run(&stage, hear, |hear| {
            let mut vocab = Vocab::new();
            let all: Vec<Tree> =
                treebank::read_constituents(trees, &mut vocab)?.into_iter().flatten().collect();
            let words: HashSet<Symbol> = all.iter().flat_map(|tree| tree.words().iter().copied()).collect();
            let lower =
                |word: &str| vocab.get(&word.to_lowercase()).is_some_and(|word| words.contains(&word));
            same_language(trees, &dev, |word| {
                vocab.get(word).is_some_and(|word| words.contains(&word)) || lower(word)
            })?;
            let rules = treebank::head_rules(&all, &vocab);
            let (mut train, mut held) = (Vec::new(), Vec::new());
            for (index, tree) in all.into_iter().enumerate() {
                if index % HELD == HELD - 1 { held.push(tree) } else { train.push(tree) }
            }
            let config = TrainConfig { epochs, threads, ..TrainConfig::default() };
            let mut told = |news: News<'_>| {
                if let News::Line(line) = news {
                    hear(&format!("  {line}"));
                }
            };
            let parser = train_constituency(&train, &held, &rules, &mut vocab, &config, progress, &mut told)?;
            parser.write(&model)?;
            Ok::<(), PipelineError>(())
        })?;
        self.parser = Some(model);
        Ok(())
    }

    /// Makes trees of texts that have none.
    pub(super) fn parse(&mut self, hear: &mut dyn FnMut(&str)) -> Result<()> {
        let Some(model) = self.parser.clone() else { return Ok(()) };
        let parts = [
            ("train", Some(&mut self.train)),
            ("dev", Some(&mut self.dev)),
            ("holdout", self.holdout.as_mut()),
        ];
        let (threads, progress) = (self.threads, self.progress);
        let beam = self.config.parser_beam.max(1);
        let mut jobs = Vec::new();
        for (name, part) in parts {
            let Some(part) = part.filter(|part| part.trees.is_none()) else { continue };
            let out = self.work.file(&format!("{name}.trees"));
            jobs.push((part.source.clone(), out.clone()));
            part.trees = Some(out);
        }
        if jobs.is_empty() {
            return Ok(());
        }
        let stage = Stage {
            name: "parse",
            inputs: jobs.iter().map(|(from, _)| from.as_path()).chain([model.as_path()]).collect(),
            settings: beam.to_string(),
            outputs: jobs.iter().map(|(_, to)| to.as_path()).collect(),
        };
        self.work.run(&stage, hear, |_| {
            let parser = Parser::open(&model)?;
            progress.begin("parsing", None);
            for (from, to) in &jobs {
                each_line(from, to, threads, &|line| parse_line(&parser, beam, line), &mut |lines| {
                    progress.at(lines);
                })?;
            }
            progress.end();
            Ok::<(), PipelineError>(())
        })
    }

    /// Finds word links.
    pub(super) fn align(&mut self, hear: &mut dyn FnMut(&str)) -> Result<()> {
        if self.links.is_some() {
            return Ok(());
        }
        let links = self.work.file("links");
        let (preset, heuristic) = (self.settings.preset, self.settings.heuristic);
        let (seed, threads, progress) = (self.config.seed, self.threads, self.progress);
        let (source, target) = (self.train.source.clone(), self.train.target.clone());
        let stage = Stage {
            name: "align",
            inputs: vec![&source, &target],
            settings: format!("{preset} {heuristic} {seed}"),
            outputs: vec![&links],
        };
        let memory = Memory { limit: self.config.memory, scratch: Scratch::new(&self.work.file("")) };
        self.work.run(&stage, hear, |_| {
            let config = ReadConfig { lowercase: true, ..ReadConfig::default() };
            let bitext = Bitext::open(&source, &target, config, memory, progress)?;
            let method = preset.method(bitext.len(), seed);
            let aligner = Aligner::train(&bitext, &method, threads, progress, &mut |_| {})?;
            let mut out = Output::create(&links)?;
            let mut written = 0;
            aligner.for_each(
                |_, _, matrix| Alignment::new(matrix.links(heuristic), Vec::new()).to_string(),
                |portion: &Portion<'_>, index, line: String| -> Result<()> {
                    // Lines that were left out are empty.
                    while written < portion.lines()[index] {
                        out.line("")?;
                        written += 1;
                    }
                    written += 1;
                    Ok(out.line(&line)?)
                },
            )?;
            for _ in written as usize..bitext.total() {
                out.line("")?;
            }
            out.finish()?;
            Ok::<(), PipelineError>(())
        })?;
        self.links = Some(links);
        Ok(())
    }

    /// Learns rules.
    pub(super) fn rules(&mut self, hear: &mut dyn FnMut(&str)) -> Result<PathBuf> {
        let table = self.work.file("rules");
        let (Some(trees), Some(links)) = (self.train.trees.clone(), self.links.clone()) else {
            return Err(PipelineError::setting("trees", "no trees", "trees or a parser"));
        };
        let files = TrainingFiles { trees, target: self.train.target.clone(), align: links };
        let config = sylvan_rules::TrainConfig {
            preprocessing: Preprocessing { binarise: self.settings.binarize, ..Preprocessing::default() },
            extract: ExtractConfig { minimal_rules: self.config.compose.max(1), ..ExtractConfig::default() },
            score: ScoreConfig {
                smoothing: self.settings.smoothing,
                lines: if self.config.lines { ScoreConfig::default().lines } else { 0 },
                evidence: self.config.evidence,
                ..ScoreConfig::default()
            },
            memory: self.config.memory,
            threads: self.threads,
            ..sylvan_rules::TrainConfig::default()
        };
        let stage = Stage {
            name: "rules",
            inputs: vec![&files.trees, &files.target, &files.align],
            settings: format!("{:?} {:?} {:?}", config.preprocessing, config.extract, config.score),
            outputs: vec![&table],
        };
        let progress = self.progress;
        self.work.run(&stage, hear, |hear| {
            let trained = sylvan_rules::train(&files, &table, &config, progress)?;
            if trained.scored.kept == 0 {
                return Err(PipelineError::setting(shown(&files.trees), "no rules", "trees with links")
                    .advise("are trees and links empty?"));
            }
            hear(&format!("  {} rules from {} pairs", trained.scored.kept, trained.pairs));
            Ok(())
        })?;
        Ok(table)
    }

    /// Learns the language model.
    pub(super) fn language_model(&mut self, hear: &mut dyn FnMut(&str)) -> Result<PathBuf> {
        let model = self.work.file("lm");
        let mut texts = vec![self.train.target.clone()];
        texts.extend(self.config.lm_text.iter().cloned());
        let order = self.config.lm_order;
        let config = EstimateConfig {
            order,
            fallback: Some([0.5, 1.0, 1.5]),
            prune: Prune::default(),
            marks: Marks::Skip,
            memory: self.config.memory,
            threads: self.threads,
        };
        let stage = Stage {
            name: "lm",
            inputs: texts.iter().map(PathBuf::as_path).collect(),
            settings: order.to_string(),
            outputs: vec![&model],
        };
        let (progress, arpa) = (self.progress, self.work.file("lm.arpa"));
        self.work.run(&stage, hear, |_| {
            let mut estimator = Estimator::with_temp(config, &sylvan_lm::temp_folder(&model))?;
            for text in &texts {
                estimator.read(&mut TextReader::open(text)?.tolerant(), progress)?;
            }
            let mut out = Output::create(&arpa)?;
            estimator.write_arpa(&mut out, progress)?;
            out.finish()?;
            let layout = LayoutKind::Hash;
            Lm::open(&arpa)?.compile(&model, CompileConfig { layout, quantize: None, bounds: false })?;
            // Only the compiled model is wanted.
            std::fs::remove_file(&arpa).map_err(sylvan_base::InputError::io(&arpa, "remove"))?;
            Ok::<(), PipelineError>(())
        })?;
        Ok(model)
    }
}

/// A line of words as a tree in one line.
fn parse_line(parser: &Parser, beam: usize, line: &str) -> String {
    thread_local! {
        static WORKSPACE: std::cell::RefCell<Workspace> = std::cell::RefCell::new(Workspace::new());
    }
    WORKSPACE.with_borrow_mut(|workspace| {
        penn_line(parser, beam, &line.split_ascii_whitespace().collect::<Vec<_>>(), workspace)
    })
}

/// The best tree of some words, in Penn brackets.
pub(crate) fn penn_line(parser: &Parser, beam: usize, words: &[&str], workspace: &mut Workspace) -> String {
    let mut vocab = Vocab::new();
    let parsed = parser.constituents(words, beam, 1, &mut vocab, workspace);
    penn::to_line(parsed.first().map(|parsed| &parsed.tree), &vocab)
}

/// Whether enough words of a text are known to a parser or treebank.
fn same_language(what: &Path, text: &Path, knows: impl Fn(&str) -> bool) -> Result<()> {
    let mut reader = TextReader::open(text)?.tolerant();
    let (mut words, mut known) = (0, 0);
    while let Some(line) = reader.next_line()? {
        for word in line.split_ascii_whitespace() {
            words += 1;
            known += usize::from(knows(word));
        }
    }
    if known * KNOWN >= words {
        return Ok(());
    }
    let found = format!("{known} of the {words} words in {} known", text.display());
    Err(PipelineError::setting(shown(what), found, "trees of the source language")
        .advise("is it the right language, and tokenised in the same way?"))
}
