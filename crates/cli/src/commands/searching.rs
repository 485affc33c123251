//! The options of search and input that `tune`, `translate` and `explain` have in common.

use std::path::Path;

use clap::{Args, ValueEnum};
use sylvan::decoder::Algorithm;
use sylvan::translate::{Input, OpenConfig, TextTranslator};
use sylvan_search::{Beam, Cube, Effort, Future, Incremental, Limits, Prediction};

/// A search by its name on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchName {
    /// Bottom-up with cube pruning.
    Cube,
    /// Bottom-up, refining groups of items by their boundary words.
    Refine,
    /// Left to right, top-down.
    Incremental,
    /// Left to right, bottom-up, with viable prefixes.
    Prediction,
    /// The optimum with its proof, or a best effort.
    Exact,
}

/// What lines are.
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

/// How to search.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Searching {
    /// Which search.
    #[arg(long, value_enum, default_value = "refine")]
    search: SearchName,
    /// How many items are kept (per vertex or bin), or made (refine, exact) [default: 100; refine and exact: 500].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    beam: Option<u32>,
}

impl Searching {
    pub(crate) fn algorithm(self) -> Algorithm {
        let usual = match self.search {
            SearchName::Refine | SearchName::Exact => 500,
            SearchName::Cube | SearchName::Incremental | SearchName::Prediction => 100,
        };
        algorithm(self.search, self.beam.unwrap_or(usual) as usize)
    }
}

/// A search with a beam and its other settings as usual.
pub(crate) fn algorithm(search: SearchName, beam: usize) -> Algorithm {
    let beam = Beam(beam);
    match search {
        SearchName::Cube => Algorithm::Cube(Cube::new(beam)),
        SearchName::Refine => Algorithm::Refine(beam),
        SearchName::Incremental => {
            Algorithm::Incremental(Limits::beam(beam), Incremental::from(Future::Inside))
        }
        SearchName::Prediction => Algorithm::Prediction(Limits::beam(beam), Prediction::default()),
        SearchName::Exact => Algorithm::Exact(beam, Effort::default()),
    }
}

/// Opens a model with the corrections beside it; those about rules that it does not have are named.
#[allow(clippy::print_stderr)]
pub(crate) fn open(model: &Path, config: &OpenConfig) -> anyhow::Result<TextTranslator> {
    let (translator, missing) = TextTranslator::open_with(model, config)?;
    missing.iter().for_each(|line| eprintln!("{line}"));
    Ok(translator)
}
