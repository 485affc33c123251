//! The options of search, input and model that all translating commands have in common.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use sylvan::{Corrections, Input, Model, OpenOptions, Request, Search, SearchName};
use sylvan_search::{Cube, Effort, Future, Limits};

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

/// The estimate of what is still to be translated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FutureCost {
    /// None.
    None,
    /// The average cost of a source word.
    Rough,
    /// The best translation of each part, joints left out.
    Inside,
}

/// How to search.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Searching {
    /// Which search.
    #[arg(long, value_name = "SEARCH", default_value = "refine", value_parser = search_names())]
    search: SearchName,
    /// How many items are kept (per vertex or bin), or made (refine, exact) [default: 100; refine and exact: 500].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    beam: Option<u32>,
    /// Left to right: skip a step whose estimate is worse than a full bin by more than this; inf skips none.
    #[arg(
        long,
        value_name = "NATS",
        allow_negative_numbers = true,
        default_value_t = f64::from(Limits::USUAL_MARGIN) / 1000.0
    )]
    margin: f64,
    /// Left to right: take at most N steps per bin, best first from grids, instead of all within the margin.
    /// Cube: take at most N candidates per vertex [default: the beam, at least 1000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pops: Option<u32>,
    /// Left to right: the estimate of what is still to be translated (prediction has inside and none).
    #[arg(long, value_enum, default_value = "inside")]
    future: FutureCost,
    /// Left to right: at most N steps per sentence; then a beam of one finishes it, with a warning.
    #[arg(long, value_name = "N")]
    work: Option<u64>,
    /// Exact: at most N joins per sentence.
    #[arg(long, value_name = "N", default_value_t = Effort::default().joins)]
    effort: u64,
}

fn search_names() -> impl TypedValueParser<Value = SearchName> {
    let names = SearchName::ALL.map(|name| PossibleValue::new(name.as_str()).help(name.about()));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<SearchName>())
}

impl Searching {
    /// The search that was asked for.
    pub(crate) fn search(&self) -> anyhow::Result<Search> {
        anyhow::ensure!(
            self.margin >= 0.0,
            "--margin {}: expected 0 or more, or inf; {} is usual",
            self.margin,
            f64::from(Limits::USUAL_MARGIN) / 1000.0
        );
        let mut search = Search::named(self.search);
        if let Some(beam) = self.beam {
            search = search.with_beam(beam as usize);
        }
        if let Some(limits) = search.limits_mut() {
            limits.pops = self.pops.map_or(usize::MAX, |pops| pops as usize);
            // Thousandths of a nat; the largest value stands for no margin at all.
            limits.margin = (self.margin * 1000.0).min(f64::from(u32::MAX)) as u32;
            limits.work = self.work.unwrap_or(u64::MAX);
        }
        match &mut search {
            Search::Incremental(_, config) => {
                config.future = match self.future {
                    FutureCost::None => Future::None,
                    FutureCost::Rough => Future::Rough,
                    FutureCost::Inside => Future::Inside,
                };
            }
            Search::Prediction(_, config) => {
                anyhow::ensure!(
                    self.future != FutureCost::Rough,
                    "--future rough: found the search prediction, expected incremental; prediction has inside or none"
                );
                config.future = self.future == FutureCost::Inside;
            }
            Search::Cube(cube) => {
                let pops = self.pops.map_or(cube.pops, |pops| pops as usize);
                *cube = Cube { pops, ..*cube };
            }
            Search::Exact(_, effort) => *effort = Effort { joins: self.effort },
            _ => {}
        }
        Ok(search)
    }

    pub(crate) fn name(&self) -> SearchName {
        self.search
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
        let mut options = OpenOptions::default();
        options.keep.clone_from(&self.keep);
        let model = Model::open_with(&self.model, &options)?;
        let mut request = Request::default();
        request.input = self.input.into();
        request.search = self.searching.search()?;
        if let Some(path) = &self.glossary {
            request.glossary = Some(Arc::new(model.read_glossary(path)?));
        }
        if !self.no_overlay {
            request.corrections = corrections(&model, &self.model)?;
        }
        Ok((Arc::new(model), request))
    }
}

/// The corrections beside a model; those about rules that it does not have are named.
#[allow(clippy::print_stderr)]
pub(crate) fn corrections(model: &Model, path: &Path) -> anyhow::Result<Option<Arc<Corrections>>> {
    let corrections = Corrections::beside(model, path)?;
    corrections.iter().flat_map(Corrections::missing).for_each(|line| eprintln!("{line}"));
    Ok(corrections.map(Arc::new))
}
