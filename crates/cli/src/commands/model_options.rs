//! The options of model and input that all translating commands have in common.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use sylvan::{Corrections, Glossary, Input, Model, OpenOptions, Request};
use sylvan_neural::NeuralModel;
use sylvan_parse::structured::StructuredLm;

use super::searching::Searching;

/// What the lines are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputName {
    /// Text, raw or tokenised as the model was trained.
    Text,
    /// Trees in Penn brackets.
    Tree,
}

impl From<InputName> for Input {
    fn from(name: InputName) -> Self {
        match name {
            InputName::Text => Self::Text,
            InputName::Tree => Self::Tree,
        }
    }
}

/// A model and what to use with it.
#[derive(Debug, Args)]
pub(crate) struct ModelOptions {
    /// The model.
    #[arg(long, value_name = "MODEL")]
    model: PathBuf,
    /// What the lines are.
    #[arg(long, value_enum, default_value = "text")]
    input: InputName,
    /// Terms that must be used.
    #[arg(long, value_name = "FILE")]
    glossary: Option<PathBuf>,
    /// A regular expression for what must be kept as it is; repeat the option for several.
    #[arg(long, value_name = "PATTERN")]
    keep: Vec<String>,
    /// Ignore corrections beside the model (MODEL.overlay).
    #[arg(long)]
    no_overlay: bool,
    #[command(flatten)]
    searching: Searching,
}

impl ModelOptions {
    /// Opens the model, and makes the request that goes with it.
    pub(crate) fn open(&self) -> anyhow::Result<(Arc<Model>, Request)> {
        self.searching.check_named()?;
        let mut options = OpenOptions::default();
        options.keep.clone_from(&self.keep);
        let model = self.searching.applied(Model::open_with(&self.model, &options)?);
        let mut request = Request::default();
        request.input = self.input.into();
        request.search = Some(self.searching.search(&model)?);
        if let Some(path) = &self.glossary {
            let glossary = model.read_glossary(path)?;
            warn_of_untranslated(path, &glossary);
            request.glossary = Some(Arc::new(glossary));
        }
        if !self.no_overlay {
            request.corrections = corrections(&model, &self.model)?;
        }
        Ok((Arc::new(model), request))
    }
}

/// A model with a structured language model and a network besides, if there are any.
pub(crate) fn with_besides(
    mut model: Model,
    structured: Option<&Path>,
    neural: Option<&Path>,
) -> anyhow::Result<Model> {
    if let Some(path) = structured {
        model = model.with_structured(StructuredLm::open(path)?);
    }
    if let Some(path) = neural {
        model = model.with_neural(NeuralModel::open(path)?);
    }
    Ok(model)
}

/// A space where the tab should be makes a term that no text has.
#[allow(clippy::print_stderr)]
pub(crate) fn warn_of_untranslated(path: &Path, glossary: &Glossary) {
    if let Some(line) = glossary.untranslated().first() {
        eprintln!(
            "warning: {}:{line}: found several words and no tab, expected source words, a tab, target words; they will be \
             kept as they are ({} such lines)",
            path.display(),
            glossary.untranslated().len()
        );
    }
}

/// The corrections beside a model; those about rules that it does not have are named.
#[allow(clippy::print_stderr)]
pub(crate) fn corrections(model: &Model, path: &Path) -> anyhow::Result<Option<Arc<Corrections>>> {
    let corrections = Corrections::beside(model, path)?;
    corrections.iter().flat_map(Corrections::missing).for_each(|line| eprintln!("{line}"));
    Ok(corrections.map(Arc::new))
}
