//! What scores target words besides the n-gram model of the training text: parsers and models of a treebank.

use std::path::{Path, PathBuf};

use sylvan_base::Vocab;
use sylvan_base::hash::{content_hash, fold};
use sylvan_decode::{Error, Result};
use sylvan_lm::{EstimateConfig, Estimator, Marks, Prune};
use sylvan_parse::structured::FromText;
use sylvan_parse::{Parser, Templates, TrainConfig, train_dependency, treebank};
use sylvan_store::{Output, read_lines};

use crate::content::hash;
use crate::corpora::Corpus;
use crate::lab::Lab;
use crate::system::Kind;

/// The treebank of the target language.
fn target_treebank(lab: &Lab<'_>, corpus: Corpus) -> Result<PathBuf> {
    lab.prepared(corpus)?
        .target_treebank
        .ok_or_else(|| Error::setting(corpus.title(), "no treebank of the target language", "one of English"))
}

/// A parser for word-by-word use: the paper's templates, nothing seen ahead.
pub(crate) fn word_by_word_parser(lab: &Lab<'_>, corpus: Corpus) -> Result<PathBuf> {
    let config = TrainConfig {
        templates: Templates::Paper,
        window: 0,
        lookahead: 0,
        tags_alone: true,
        ..TrainConfig::default()
    };
    parser(lab, corpus, &config, "word by word")
}

/// The best parser that there is.
fn full_parser(lab: &Lab<'_>, corpus: Corpus) -> Result<PathBuf> {
    parser(lab, corpus, &TrainConfig::default(), "full")
}

fn parser(lab: &Lab<'_>, corpus: Corpus, config: &TrainConfig, name: &str) -> Result<PathBuf> {
    let bank = target_treebank(lab, corpus)?;
    let path = lab.kept("parsers", fold(content_hash(name.as_bytes()), hash(&bank)?));
    if !path.exists() {
        (lab.say)(&format!("learning a parser of English ({name})"));
        let mut vocab = Vocab::new();
        let trees = treebank::read_dependencies(&bank, &mut vocab)?;
        let conventions = treebank::conventions(std::slice::from_ref(&bank))?;
        let config = TrainConfig { members: 3, threads: lab.threads, conventions, ..config.clone() };
        let made = train_dependency(&trees, &[], &vocab, &config, lab.progress, &mut |_| {})?;
        made.write(&path)?;
    }
    Ok(path)
}

/// Probabilities learnt from the parses of the target text.
pub(crate) fn generative(lab: &Lab<'_>, corpus: Corpus) -> Result<PathBuf> {
    let parser = full_parser(lab, corpus)?;
    let [_, text] = lab.learn(corpus, Kind::Tree)?.train;
    let path = lab.kept("structured", fold(hash(&parser)?, hash(&text)?));
    if !path.exists() {
        let learning = FromText { threads: lab.threads, ..FromText::default() };
        let made = learning.learn(&Parser::open(&parser)?, &read_lines(&text)?, lab.progress);
        let kind = || Error::setting("the parser", "another kind", "one of dependencies");
        made.ok_or_else(kind)?.write(&path)?;
    }
    Ok(path)
}

/// A trigram model of the treebank's words.
pub(crate) fn second_lm(lab: &Lab<'_>, corpus: Corpus) -> Result<PathBuf> {
    let bank = target_treebank(lab, corpus)?;
    let path = lab.kept("lms", hash(&bank)?);
    if !path.exists() {
        let mut vocab = Vocab::new();
        let trees = treebank::read_dependencies(&bank, &mut vocab)?;
        let words = trees.iter().map(|tree| {
            let words: Vec<&str> = tree.words().iter().map(|word| vocab.text(word.form)).collect();
            words.join(" ")
        });
        estimate_trigrams(lab, words, &bank, &path)?;
    }
    Ok(path)
}

/// A trigram model of the target text.
pub(crate) fn trigrams(lab: &Lab<'_>, corpus: Corpus) -> Result<PathBuf> {
    let [_, text] = lab.learn(corpus, Kind::Hiero)?.train;
    let path = lab.kept("lms", hash(&text)?);
    if !path.exists() {
        estimate_trigrams(lab, read_lines(&text)?.into_iter(), &text, &path)?;
    }
    Ok(path)
}

fn estimate_trigrams(
    lab: &Lab<'_>,
    lines: impl Iterator<Item = String>,
    from: &Path,
    to: &Path,
) -> Result<()> {
    let config = EstimateConfig {
        order: 3,
        fallback: Some([0.5, 1.0, 1.5]),
        prune: Prune::default(),
        marks: Marks::Skip,
        memory: 1 << 28,
        threads: lab.threads,
    };
    let mut estimator = Estimator::with_temp(config, &sylvan_lm::temp_folder(to))?;
    for (line, number) in lines.zip(1..) {
        estimator.add(&line).map_err(|fault| fault.at(from.display().to_string(), number))?;
    }
    let mut out = Output::create(to)?;
    estimator.write_arpa(&mut out, lab.progress)?;
    Ok(out.finish()?)
}
