//! Training settings: from flags or from a TOML file, under the same names.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sylvan_base::{Fault, InputError};
use sylvan_decode::Unseen;

/// All settings of a training run. Paths in a file are relative to it.
///
/// ```
/// use sylvan_train::Config;
/// let text = "source = 'a.en'\ntarget = 'a.ja'\ndev-source = 'd.en'\ndev-target = 'd.ja'\nsource-lang = 'en'\n\
///             target-lang = 'ja'\ntrees = 'a.tree'\ndev-trees = 'd.tree'\nout = 'enja.sylvan'\ntokenized = true\n";
/// let config = Config::parse(text, "train.toml".as_ref())?;
/// assert!(config.tokenized && config.lm_order == 5);
/// # Ok::<(), sylvan_base::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Config {
    /// Source text, one sentence per line.
    pub source: PathBuf,
    /// Its translation, line by line.
    pub target: PathBuf,
    /// Source text to tune on; if there is none, a part of the training text is kept for it.
    pub dev_source: PathBuf,
    /// Its translation.
    pub dev_target: PathBuf,
    /// The source language, as a two-letter code.
    pub source_lang: String,
    /// The target language.
    pub target_lang: String,
    /// Where the model goes.
    pub out: PathBuf,
    /// Whether texts are already tokenised; then translations are tokens, too.
    pub tokenized: bool,
    /// What rules are learnt: tree, hiero or phrase; empty for tree if there are trees or a way to make them, else hiero.
    pub kind: String,
    /// Trees to train a parser from.
    pub treebank: Option<PathBuf>,
    /// A trained parser.
    pub parser: Option<PathBuf>,
    /// Trees of the source text.
    pub trees: Option<PathBuf>,
    /// Trees of the source text to tune on.
    pub dev_trees: Option<PathBuf>,
    /// Word links of the training text.
    pub align: Option<PathBuf>,
    /// A dependency parser of the target language, for a structured language model.
    pub structured_lm: Option<PathBuf>,
    /// What that model is: generative (probabilities, learnt from the parses of the target text) or perceptron (the parser's
    /// own scores).
    pub structured_kind: String,
    /// Whether a network is trained as well.
    pub neural: bool,
    /// Its passes through the text, at most; `None` for as many as show it two million pairs.
    pub neural_epochs: Option<u32>,
    /// Numbers between its layers.
    pub neural_width: usize,
    /// What becomes of words that no rule translates: related (translated as words like them and as their parts are, or
    /// copied) or copied.
    pub unseen: String,
    /// More target text, for the language model.
    pub lm_text: Vec<PathBuf>,
    /// This many training pairs, the last ones, are kept out of training and measured on at the end; without a number
    /// one in twenty, at most 500, and none of a text with fewer than 1,000 pairs.
    pub holdout: Option<u64>,
    /// Licences of the data, for the model's manifest.
    pub licence: Vec<String>,
    /// Whether the model keeps the training text, for explanations.
    pub lines: bool,
    /// Threads; 0 for as many as there are processors. Does not change the model.
    pub threads: usize,
    /// Memory for sorting, in bytes. Does not change the model.
    pub memory: usize,
    /// How much time alignment takes: fast, default or best.
    pub align_preset: String,
    /// How both directions of links become one; with several ways between commas, rules are learnt from the links of each.
    pub symmetrize: String,
    /// The length of the language model's longest n-grams.
    pub lm_order: usize,
    /// How many classes of words a second language model is made of; 0 for none.
    pub lm_classes: usize,
    /// At most this many minimal rules per rule.
    pub compose: u32,
    /// Smoothing of rule probabilities: none, good-turing or kneser-ney; empty for good-turing with gaps, else none.
    pub smoothing: String,
    /// Rules seen less often are left out. Counts of rules with gaps are shares of the phrase pairs that they are made
    /// of, so they may be below 1. Without a number 0.2 for rules with gaps from 100,000 pairs or more, else 0.
    pub min_count: Option<f64>,
    /// What phrase pairs are counted as neighbours, for kind phrase: word, phrase, hier, recent or none.
    pub orientation: String,
    /// What the order of rules is learnt with, for kind lr-hiero: lrm, nvlrm or none.
    pub reordering: String,
    /// Whether rules have features that mark rare and lexical ones.
    pub evidence: bool,
    /// Binarisation of trees: none, left or right.
    pub binarize: String,
    /// How weights are tuned: mert, forest-mert or mira; empty for mert with kind tree, else mira.
    pub tuner: String,
    /// At most this many rounds of tuning.
    pub rounds: usize,
    /// Translations per sentence and round.
    pub nbest: usize,
    /// What tuning optimises: bleu, ter, chrf, ribes or a mixture such as bleu:2,ribes:1.
    pub metric: String,
    /// The seed of random numbers.
    pub seed: u64,
    /// How many pairs of the training text are tuned on besides the tuning text, with rules and n-gram models learnt
    /// without them; the model's own are learnt from all. Other parts of a model are learnt without them.
    pub tune_more: usize,
    /// How wide the search of tuning and translation is.
    pub beam: usize,
    /// States that the parser keeps per step.
    pub parser_beam: usize,
    /// At most this many passes of parser training over a treebank.
    pub parser_epochs: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            source: PathBuf::new(),
            target: PathBuf::new(),
            dev_source: PathBuf::new(),
            dev_target: PathBuf::new(),
            source_lang: String::new(),
            target_lang: String::new(),
            out: PathBuf::new(),
            tokenized: false,
            kind: String::new(),
            treebank: None,
            parser: None,
            trees: None,
            dev_trees: None,
            align: None,
            structured_lm: None,
            structured_kind: "generative".to_string(),
            neural: false,
            neural_epochs: None,
            neural_width: 256,
            unseen: Unseen::Related.to_string(),
            lm_text: Vec::new(),
            holdout: None,
            licence: Vec::new(),
            lines: true,
            threads: 0,
            memory: 1 << 30,
            align_preset: "best".to_string(),
            symmetrize: "mean".to_string(),
            lm_order: 5,
            lm_classes: 0,
            compose: 6,
            smoothing: String::new(),
            min_count: None,
            orientation: "hier".to_string(),
            reordering: "lrm".to_string(),
            evidence: true,
            binarize: "right".to_string(),
            tuner: String::new(),
            rounds: 10,
            nbest: 100,
            metric: "bleu".to_string(),
            seed: 1,
            tune_more: 0,
            beam: 500,
            parser_beam: 16,
            parser_epochs: 6,
        }
    }
}

/// No configuration is longer; a text that is given by mistake is.
const MOST_BYTES: u64 = 1 << 20;

impl Config {
    /// Reads a file.
    pub fn open(path: &Path) -> Result<Self, InputError> {
        use std::io::Read;
        let read = std::fs::File::open(path).and_then(|file| {
            let mut text = String::new();
            file.take(MOST_BYTES + 1).read_to_string(&mut text).map(|_| text)
        });
        let text = read.map_err(InputError::io(path, "read"))?;
        if text.len() as u64 > MOST_BYTES {
            let fault = Fault::new(0, format!("more than {MOST_BYTES} bytes"), "settings: name = value");
            return Err(fault.at(path.display().to_string(), 1));
        }
        Self::parse(&text, path)
    }

    /// Reads the text of a file; `path` says what its paths are relative to.
    pub fn parse(text: &str, path: &Path) -> Result<Self, InputError> {
        let config: Result<Self, toml::de::Error> = toml::from_str(text);
        let mut config = config.map_err(|error| {
            let before = &text[..error.span().map_or(0, |span| span.start).min(text.len())];
            let line = before.matches('\n').count() as u64 + 1;
            let found = error.message().replace('\n', " ");
            Fault::new(0, found, "settings: name = value")
                .advise("`sylvan train --help` lists the names")
                .at(path.display().to_string(), line)
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        for file in config.files_mut() {
            if !file.as_os_str().is_empty() {
                *file = folder.join(&*file);
            }
        }
        Ok(config)
    }

    fn files_mut(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        let single =
            [&mut self.source, &mut self.target, &mut self.dev_source, &mut self.dev_target, &mut self.out];
        let optional = [
            &mut self.treebank,
            &mut self.parser,
            &mut self.trees,
            &mut self.dev_trees,
            &mut self.align,
            &mut self.structured_lm,
        ];
        single.into_iter().chain(optional.into_iter().flatten()).chain(&mut self.lm_text)
    }

    /// All files that are read.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = &Path> {
        let texts = [&self.source, &self.target, &self.dev_source, &self.dev_target];
        let optional =
            [&self.treebank, &self.parser, &self.trees, &self.dev_trees, &self.align, &self.structured_lm];
        let all = texts.into_iter().chain(optional.into_iter().flatten()).chain(&self.lm_text);
        all.map(PathBuf::as_path).filter(|path| !path.as_os_str().is_empty())
    }

    /// How many threads to use.
    pub fn thread_count(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            count => count,
        }
    }

    /// The work folder, beside the model.
    pub fn work_folder(&self) -> PathBuf {
        let mut name = self.out.clone().into_os_string();
        name.push(".work");
        PathBuf::from(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_and_wrong_values_are_told_with_their_line() {
        let message = |text: &str| Config::parse(text, "c.toml".as_ref()).unwrap_err().to_string();
        assert!(
            message("source = 'x'\nsuorce = 'y'\n").starts_with("c.toml:2: found unknown field `suorce`")
        );
        assert!(message("\n\nthreads = 'many'\n").starts_with("c.toml:3:"));
    }

    #[test]
    fn paths_are_relative_to_the_file() {
        let config =
            Config::parse("source = 'x'\nparser = '/p'\nlm-text = ['y']", "a/c.toml".as_ref()).unwrap();
        assert_eq!(config.source, Path::new("a/x"));
        assert_eq!(config.parser.as_deref(), Some(Path::new("/p")));
        assert_eq!(config.lm_text, [Path::new("a/y")]);
        assert_eq!(config.target, Path::new(""));
    }
}
