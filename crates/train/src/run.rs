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

/// The training text without the pairs that are set aside to tune on, and what is learnt from it for that.
#[derive(Debug, Clone)]
pub(crate) struct Rest {
    /// The text.
    pub(crate) train: Part,
    /// Its links, set by set.
    pub(crate) links: Vec<PathBuf>,
    /// Its rule table.
    pub(crate) rules: PathBuf,
    /// Its language model.
    pub(crate) language_model: PathBuf,
    /// Its language model of word classes, if there is to be one.
    pub(crate) class_model: Option<PathBuf>,
    /// The pairs that are set aside.
    pub(crate) aside: Part,
}

/// What rules and n-gram models are learnt from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of {
    /// The whole training text.
    All,
    /// What is left of it where pairs are set aside.
    Rest,
}

impl Of {
    /// Of two names the one for this.
    pub(crate) fn name(self, names: [&'static str; 2]) -> &'static str {
        names[self as usize]
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
    /// If pairs are set aside to tune on: all else.
    pub(crate) rest: Option<Rest>,
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
            rest: None,
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

    /// The texts that rules and n-gram models are learnt from.
    pub(crate) fn texts(&self) -> impl Iterator<Item = Of> + use<> {
        std::iter::once(Of::All).chain(self.rest.is_some().then_some(Of::Rest))
    }

    /// One of these texts.
    pub(crate) fn text(&self, of: Of) -> &Part {
        match (of, &self.rest) {
            (Of::Rest, Some(rest)) => &rest.train,
            _ => &self.train,
        }
    }

    /// What nothing that is tuned may have seen: the text for parts of the model that are learnt once.
    pub(crate) fn text_to_learn_once(&self) -> &Part {
        self.text(Of::Rest)
    }

    /// The links of a text, set by set.
    pub(crate) fn links(&self, of: Of) -> Result<Vec<PathBuf>> {
        match (of, &self.rest, &self.links) {
            (Of::Rest, Some(rest), _) => Ok(rest.links.clone()),
            (_, _, Some(links)) => Ok(std::iter::once(links).chain(&self.more_links).cloned().collect()),
            (_, _, None) => Err(Error::setting("links", "no links", "links of the training text")),
        }
    }

    /// Where the rules of a text go.
    pub(crate) fn rules(&self, of: Of) -> &Path {
        match (of, &self.rest) {
            (Of::Rest, Some(rest)) => &rest.rules,
            _ => &self.rules,
        }
    }

    /// Where its language model goes.
    pub(crate) fn language_model(&self, of: Of) -> &Path {
        match (of, &self.rest) {
            (Of::Rest, Some(rest)) => &rest.language_model,
            _ => &self.language_model,
        }
    }

    /// What the model that is tuned has besides rules and its n-gram model.
    pub(crate) fn besides_tuned(&self) -> Besides {
        match &self.rest {
            Some(rest) => Besides { classes: rest.class_model.clone(), ..self.besides() },
            None => self.besides(),
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
