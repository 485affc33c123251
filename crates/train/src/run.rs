//! A training run: what the stages hand on to each other.

use std::path::{Path, PathBuf};

use sylvan_base::Progress;

use crate::config::Config;
use crate::preflight::Settings;
use crate::work::WorkFolder;
use sylvan_decode::{Error, Input, Result, Unseen};
use sylvan_rules::Formalism;

/// One text on its way through the stages: where its words, trees and references are now.
#[derive(Debug, Clone, Default)]
pub(crate) struct Part {
    /// Source words.
    pub(crate) source: PathBuf,
    /// Target words.
    pub(crate) target: PathBuf,
    /// Source trees.
    pub(crate) trees: Option<PathBuf>,
    /// The target as given, to measure against.
    pub(crate) reference: PathBuf,
    /// The source as given.
    pub(crate) given: PathBuf,
}

impl Part {
    fn new(source: &Path, target: &Path, trees: Option<&Path>) -> Self {
        Self {
            source: source.to_path_buf(),
            target: target.to_path_buf(),
            trees: trees.map(Path::to_path_buf),
            reference: target.to_path_buf(),
            given: source.to_path_buf(),
        }
    }

    /// What is translated of it: its words, or its trees, which a stage or the user has made by now.
    pub(crate) fn input(&self, formalism: Formalism) -> Result<(&Path, Input)> {
        match formalism {
            Formalism::Tree => Ok((self.trees()?, Input::Tree)),
            _ => Ok((&self.source, Input::Text)),
        }
    }

    /// Its trees, which a stage or the user has made by now.
    pub(crate) fn trees(&self) -> Result<&Path> {
        self.trees.as_deref().ok_or_else(|| Error::setting("trees", "no trees", "trees or a parser"))
    }
}

/// What a model may have besides rules and its n-gram model.
#[derive(Debug, Clone, Default)]
pub(crate) struct Besides {
    /// The language model of word classes.
    pub(crate) classes: Option<PathBuf>,
    /// The structured language model.
    pub(crate) structured: Option<PathBuf>,
    /// The network.
    pub(crate) neural: Option<PathBuf>,
    /// What becomes of words that no rule translates.
    pub(crate) unseen: Unseen,
}

impl Besides {
    /// Those that there are.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        [&self.classes, &self.structured, &self.neural].into_iter().filter_map(|file| file.as_deref())
    }
}

/// What is known so far. A stage reads what it needs and records what it made.
pub(crate) struct Run<'r> {
    pub(crate) config: &'r Config,
    pub(crate) settings: Settings,
    pub(crate) work: WorkFolder,
    pub(crate) progress: &'r dyn Progress,
    pub(crate) threads: usize,
    pub(crate) train: Part,
    pub(crate) dev: Part,
    pub(crate) holdout: Option<Part>,
    pub(crate) links: Option<PathBuf>,
    /// Other sets of links.
    pub(crate) more_links: Vec<PathBuf>,
    pub(crate) parser: Option<PathBuf>,
    pub(crate) source_case: Option<PathBuf>,
    /// The rule table.
    pub(crate) rules: PathBuf,
    /// The compiled language model.
    pub(crate) language_model: PathBuf,
    /// The compiled language model of word classes, if there is to be one.
    pub(crate) class_model: Option<PathBuf>,
    /// The structured language model, if there is to be one.
    pub(crate) structured: Option<PathBuf>,
    /// The network, if there is to be one.
    pub(crate) neural: Option<PathBuf>,
    pub(crate) weights: PathBuf,
    pub(crate) scores: Vec<(String, f64)>,
    /// How many pairs were learnt from.
    pub(crate) pairs: u64,
    /// The training text for the model, if it is to be kept.
    pub(crate) lines: Option<PathBuf>,
}

impl<'r> Run<'r> {
    pub(crate) fn new(
        config: &'r Config,
        settings: Settings,
        work: WorkFolder,
        progress: &'r dyn Progress,
    ) -> Self {
        Self {
            config,
            settings,
            progress,
            threads: config.thread_count(),
            train: Part::new(&config.source, &config.target, config.trees.as_deref()),
            dev: Part::new(&config.dev_source, &config.dev_target, config.dev_trees.as_deref()),
            holdout: None,
            links: config.align.clone(),
            more_links: Vec::new(),
            parser: config.parser.clone(),
            source_case: None,
            rules: work.file("rules"),
            language_model: work.file("lm"),
            class_model: None,
            structured: None,
            neural: None,
            weights: work.file("weights"),
            scores: Vec::new(),
            pairs: 0,
            lines: None,
            work,
        }
    }

    /// What the model has besides rules and its n-gram model.
    pub(crate) fn besides(&self) -> Besides {
        Besides {
            classes: self.class_model.clone(),
            structured: self.structured.clone(),
            neural: self.neural.clone(),
            unseen: self.settings.unseen,
        }
    }

    /// All texts, by name.
    pub(crate) fn parts(&mut self) -> impl Iterator<Item = (&'static str, &mut Part)> {
        let more = self.holdout.as_mut().map(|part| ("holdout", part));
        [("train", &mut self.train), ("dev", &mut self.dev)].into_iter().chain(more)
    }
}
