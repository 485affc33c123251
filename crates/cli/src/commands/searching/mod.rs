//! The options of search that all translating commands have in common.

mod free_order;
mod parses;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use sylvan::{Model, Search, SearchName, Unseen};
use sylvan_rules::Formalism;
use sylvan_rules::apply::{Applying, ChartLimits, Coverage, DefaultRules, Outlook};
use sylvan_search::{
    BoundaryEstimate, Cube, Effort, Future, Goals, Incremental, Limits, Prediction, Progress, Signature,
    Stacks, Undirected,
};

use free_order::FreeOrder;
use parses::ParsesOptions;

/// Options that nobody needs who only wants to translate.
const EXPERIMENTS: &str = "Search, for experiments";

/// How to search.
#[derive(Debug, Clone, Args)]
pub(crate) struct Searching {
    /// Which search [default: cube for rules with syntax, focus for rules with gaps, stacks for phrase pairs].
    #[arg(long, value_name = "SEARCH", value_parser = search_names())]
    search: Option<SearchName>,
    /// How many items are kept (per vertex or bin), or made (refine, exact) [default: 100; focus: 200; undirected: 256; cube,
    /// refine and exact: 500; stacks: 120; incremental for models of kind lr-hiero: 500, with a structured language
    /// model 100; for others with one: 200].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    beam: Option<u32>,
    /// Left to right: skip a step whose estimate is worse than a full bin by more than this; inf skips none [default:
    /// 0.02].
    #[arg(long, value_name = "NATS", allow_negative_numbers = true)]
    margin: Option<f64>,
    /// Left to right: take at most N steps per bin, best first from grids, instead of all within the margin.
    /// Cube, focus: take at most N candidates per vertex [default: the beam, at least 1000; focus: 3 times the beam;
    /// incremental for models of kind lr-hiero: 500].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pops: Option<u32>,
    /// Left to right, with --pops: compare steps with their words scored, beginning with the best N of each grid by estimate;
    /// 0 compares estimates [default: 0].
    #[arg(long, value_name = "N", requires = "pops")]
    diversity: Option<u32>,
    /// Left to right: at most N steps per sentence; then a beam of one finishes it, with a warning.
    #[arg(long, value_name = "N")]
    work: Option<u64>,
    /// Exact: at most N joins per sentence [default: 100000000].
    #[arg(long, value_name = "N")]
    effort: Option<u64>,
    /// Stacks: the source words that may be jumped over between neighbouring phrases, or none for no limit [default: 10].
    #[arg(long, value_name = "N", value_parser = distortion_limit)]
    distortion_limit: Option<DistortionLimit>,
    /// What becomes of words that no rule translates: related (translated as words like them and as their parts are, or
    /// copied) or copied [default: as the model was tuned].
    #[arg(long, value_enum)]
    unseen: Option<UnseenName>,
    #[command(flatten)]
    experiment: Experiment,
    #[command(flatten)]
    free: FreeOrder,
    #[command(flatten)]
    parses: ParsesOptions,
}

/// The choices of the papers that are not the program's.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = EXPERIMENTS)]
struct Experiment {
    /// Left to right: the estimate of what is still to be translated [default: inside].
    #[arg(long, value_enum)]
    future: Option<FutureCost>,
    /// Left to right: which features of rules that estimate sees, besides the language model [default: all].
    #[arg(long, value_enum)]
    future_features: Option<FutureFeatures>,
    /// Left to right: where complete translations compete [default: free].
    #[arg(long, value_enum)]
    goals: Option<GoalPlace>,
    /// Incremental: what a bin counts [default: nodes; words over packed trees of different sizes].
    #[arg(long, value_enum)]
    bins: Option<Bins>,
    /// Incremental: what recombines [default: residual].
    #[arg(long, value_enum)]
    signature: Option<SignatureName>,
    /// Prediction: u, the viable prefixes of a vertex that are tried, the best N [default: all].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    prefixes: Option<u32>,
    /// Prediction: the ways to go on from an item that are tried, the best N [default: all]. Stacks: the phrases of a
    /// place that are tried, the best N [default: 20]. Incremental, in models of kind lr-hiero: the ways to glue a span that
    /// are tried, the best N [default: 100].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    options: Option<u32>,
    /// Prediction: find the estimate of each item by evaluating the forest again; the same values, slowly.
    #[arg(long)]
    reevaluate: bool,
    /// Prediction: which source words a run of target words covers [default: first].
    #[arg(long, value_enum)]
    coverage: Option<CoverageName>,
    /// Cube: what words that lack their history count for when items are compared [default: rest].
    #[arg(long, value_enum)]
    boundary: Option<BoundaryName>,
    /// Cube: no cubes; make all combinations, then keep the best. Undirected: as in its paper; parents all, missing share 0,
    /// 0.5 nats for each missing word, slack inf, unbounded, even.
    #[arg(long)]
    plain: bool,
    /// Rules without syntax: the words that a rule may span, with everything inside it [default: 10].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_span: Option<u32>,
    /// Where words may be copied and children translated in source order [default: missing].
    #[arg(long, value_enum)]
    default_rules: Option<DefaultRulesName>,
}

/// The estimate of what is still to be translated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FutureCost {
    /// None.
    None,
    /// The average cost of a source word (incremental).
    Rough,
    /// The best translation of each part, joints left out.
    Inside,
    /// The best row of phrases for each part, for models of kind lr-hiero.
    Phrases,
}

/// What estimates see of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FutureFeatures {
    /// Everything.
    All,
    /// p_ef, p_fe, lex_ef and lex_fe.
    Translation,
}

/// Where complete translations compete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum GoalPlace {
    /// Nowhere.
    Free,
    /// In the last bin, like all others.
    Bins,
}

/// What a bin counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Bins {
    /// Nodes of the tree that rules have covered.
    Nodes,
    /// The same with words and the roots of what is still to be translated.
    AllNodes,
    /// Source words.
    Words,
}

/// What recombines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SignatureName {
    /// Items with the same symbols to come.
    Residual,
    /// Items with the same stack of dotted rules.
    Stack,
}

/// Which source words a run of target words covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CoverageName {
    /// The first run of a rule covers all of its source words.
    First,
    /// Each run covers the words that it is linked to.
    Links,
}

/// What words that lack their history count for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BoundaryName {
    /// Nothing.
    None,
    /// Their score without history.
    Local,
    /// The language model's rest costs, if it has any; else their score without history.
    Rest,
}

/// Where default rules are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DefaultRulesName {
    /// Where no rule matches.
    Missing,
    /// Everywhere.
    Always,
    /// Nowhere: where no rule matches, nothing is translated.
    Never,
}

/// What becomes of words that no rule translates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum UnseenName {
    /// They are translated as words like them and as their parts are, or copied.
    Related,
    /// They are copied.
    Copied,
}

fn search_names() -> impl TypedValueParser<Value = SearchName> {
    let names = SearchName::ALL.map(|name| PossibleValue::new(name.as_str()).help(name.about()));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<SearchName>())
}

/// How far phrases may jump; `None` is any number of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct DistortionLimit(Option<u32>);

fn distortion_limit(text: &str) -> Result<DistortionLimit, String> {
    match text {
        "none" => Ok(DistortionLimit(None)),
        number => match number.parse() {
            Ok(limit) => Ok(DistortionLimit(Some(limit))),
            Err(_) => Err("expected a number of words, or none".to_string()),
        },
    }
}

impl Searching {
    /// What can be said before a model is opened: whether the options are those of the search that was named.
    pub(crate) fn check_named(&self) -> anyhow::Result<()> {
        self.search.map_or(Ok(()), |name| self.check(name))
    }

    /// The search that was asked for, or the model's usual one.
    pub(crate) fn search(&self, model: &Model) -> anyhow::Result<Search> {
        self.search_or(model, model.usual_search())
    }

    /// The search that was asked for, or another that is usual where it is asked.
    pub(crate) fn search_or(&self, model: &Model, usual: Search) -> anyhow::Result<Search> {
        let search = self.named(usual)?;
        let kind = model.formalism();
        anyhow::ensure!(
            self.experiment.future != Some(FutureCost::Phrases) || kind == Formalism::LrHiero,
            "--future phrases: found a model of kind {}, expected lr-hiero; others have inside, rough or none",
            kind.as_str()
        );
        anyhow::ensure!(
            self.experiment.options.is_none()
                || search.name() != SearchName::Incremental
                || kind == Formalism::LrHiero,
            "--options: found the search incremental and a model of kind {}, expected prediction or stacks, or a model of kind \
             lr-hiero",
            kind.as_str()
        );
        Ok(model.search(Some(search))?)
    }

    /// The search of a name is a model's usual one if that has the name.
    fn named(&self, usual: Search) -> anyhow::Result<Search> {
        let name = self.search.unwrap_or(usual.name());
        self.check(name)?;
        let mut search = if name == usual.name() { usual } else { Search::named(name) };
        if let Some(beam) = self.beam {
            search = search.with_beam(beam as usize);
        }
        if let Some(limits) = search.limits_mut() {
            self.limit(limits);
        }
        match &mut search {
            Search::Incremental(_, config) => *config = self.experiment.incremental(),
            Search::Prediction(_, config) => *config = self.experiment.prediction(),
            Search::Stacks(_, config) => {
                let limit = self.distortion_limit.map_or(config.limit, |DistortionLimit(limit)| limit);
                let options = self.experiment.options.map_or(config.options, |options| options as usize);
                *config = Stacks { limit, options, future: self.experiment.future != Some(FutureCost::None) };
            }
            Search::Cube(cube) => *cube = self.cube(*cube),
            Search::Undirected(config) => {
                let paper = Undirected::paper(config.beam);
                *config = self.free.settings(if self.experiment.plain { paper } else { *config });
            }
            Search::Exact(_, effort) => effort.joins = self.effort.unwrap_or(Effort::default().joins),
            _ => {}
        }
        Ok(search)
    }

    /// A model whose rules are applied as was asked for.
    pub(crate) fn applied(&self, model: Model) -> Model {
        let applying = self.experiment.applying();
        let model = if applying == Applying::default() { model } else { model.with_applying(applying) };
        match self.unseen {
            Some(UnseenName::Copied) => model.with_unseen(Unseen::Copied),
            Some(UnseenName::Related) => model.with_unseen(Unseen::Related),
            None => model,
        }
    }

    /// Whether optima are proven.
    pub(crate) fn is_exact(&self) -> bool {
        self.search == Some(SearchName::Exact)
    }

    fn limit(&self, limits: &mut Limits) {
        if let Some(pops) = self.pops {
            limits.pops = pops as usize;
        }
        if let Some(diversity) = self.diversity {
            limits.diversity = diversity as usize;
        }
        if self.margin.is_some() && self.pops.is_none() {
            // Within a margin everything is tried.
            limits.pops = usize::MAX;
        }
        if let Some(margin) = self.margin {
            // Thousandths of a nat; the largest value stands for no margin at all.
            limits.margin = (margin * 1000.0).min(f64::from(u32::MAX)) as u32;
        }
        self.parses.limit(limits);
        limits.work = self.work.unwrap_or(u64::MAX);
        if self.experiment.goals == Some(GoalPlace::Bins) {
            limits.goals = Goals::InBins;
        }
    }

    fn cube(&self, usual: Cube) -> Cube {
        Cube {
            pops: self.pops.map_or(usual.pops, |pops| pops as usize),
            boundary: match self.experiment.boundary {
                Some(BoundaryName::None) => BoundaryEstimate::None,
                Some(BoundaryName::Local) => BoundaryEstimate::Local,
                Some(BoundaryName::Rest) | None => BoundaryEstimate::Rest,
            },
            plain: self.experiment.plain,
            ..usual
        }
    }

    /// An option that the search does not have is an error, not nothing.
    fn check(&self, search: SearchName) -> anyhow::Result<()> {
        use SearchName::{Cube, Exact, Focus, Incremental, Prediction, Stacks, Undirected};
        let Experiment { future, future_features, goals, bins, signature, .. } = self.experiment;
        let Experiment { prefixes, options, reevaluate, coverage, boundary, plain, .. } = self.experiment;
        let given: [(&str, bool, &[SearchName]); 19] = [
            ("--network", self.parses.asks_network(), &[Incremental, Prediction, Stacks]),
            ("--structured", self.parses.is_inside(), &[Incremental, Prediction, Stacks]),
            ("--diversity", self.diversity.is_some(), &[Incremental, Stacks]),
            ("--margin", self.margin.is_some(), &[Incremental, Prediction, Stacks]),
            ("--pops", self.pops.is_some(), &[Cube, Focus, Incremental, Prediction, Stacks]),
            ("--work", self.work.is_some(), &[Incremental, Prediction, Stacks]),
            ("--distortion-limit", self.distortion_limit.is_some(), &[Stacks]),
            ("--effort", self.effort.is_some(), &[Exact]),
            ("--future", future.is_some(), &[Incremental, Prediction, Stacks]),
            ("--future-features", future_features.is_some(), &[Incremental, Prediction, Stacks]),
            ("--goals", goals.is_some(), &[Incremental, Prediction, Stacks]),
            ("--bins", bins.is_some(), &[Incremental]),
            ("--signature", signature.is_some(), &[Incremental]),
            ("--prefixes", prefixes.is_some(), &[Prediction]),
            ("--options", options.is_some(), &[Incremental, Prediction, Stacks]),
            ("--reevaluate", reevaluate, &[Prediction]),
            ("--coverage", coverage.is_some(), &[Prediction]),
            ("--boundary", boundary.is_some(), &[Cube, Focus]),
            ("--plain", plain, &[Cube, Undirected]),
        ];
        let free = self.free.given().map(|(option, given)| (option, given, &[Undirected][..]));
        let left_to_right = &[Incremental, Prediction, Stacks][..];
        let parses = self.parses.given().map(|(option, given)| (option, given, left_to_right));
        for (option, given, searches) in given.into_iter().chain(free).chain(parses) {
            let names: Vec<&str> = searches.iter().map(|name| name.as_str()).collect();
            anyhow::ensure!(
                !given || searches.contains(&search),
                "{option}: found the search {search}, expected {}; leave the option out, or choose with --search",
                names.join(" or ")
            );
        }
        anyhow::ensure!(
            self.margin.is_none_or(|margin| margin >= 0.0),
            "--margin {}: expected 0 or more, or inf; {} is usual",
            self.margin.unwrap_or_default(),
            f64::from(Limits::USUAL_MARGIN) / 1000.0
        );
        self.free.check()?;
        self.parses.check()?;
        anyhow::ensure!(
            search == Incremental || !matches!(future, Some(FutureCost::Rough | FutureCost::Phrases)),
            "--future rough or phrases: found the search {search}, expected incremental; {search} has inside or none"
        );
        anyhow::ensure!(
            !reevaluate || future != Some(FutureCost::None),
            "--reevaluate: found --future none, expected inside; without an estimate there is nothing to evaluate"
        );
        anyhow::ensure!(
            !plain || self.pops.is_none(),
            "--pops: found --plain, which makes all combinations; leave out one of the two"
        );
        Ok(())
    }
}

impl Experiment {
    fn incremental(&self) -> Incremental {
        Incremental {
            future: match self.future {
                Some(FutureCost::None) => Future::None,
                Some(FutureCost::Rough) => Future::Rough,
                Some(FutureCost::Phrases) => Future::Phrases,
                Some(FutureCost::Inside) | None => Future::Inside,
            },
            progress: match self.bins {
                Some(Bins::Nodes) | None => Progress::Nodes,
                Some(Bins::AllNodes) => Progress::AllNodes,
                Some(Bins::Words) => Progress::Words,
            },
            signature: match self.signature {
                Some(SignatureName::Residual) | None => Signature::Residual,
                Some(SignatureName::Stack) => Signature::Stack,
            },
            glued: self.options.map_or(Incremental::USUAL_GLUED, |options| options as usize),
        }
    }

    fn prediction(&self) -> Prediction {
        let number = |given: Option<u32>| given.map_or(usize::MAX, |number| number as usize);
        Prediction {
            future: self.future != Some(FutureCost::None),
            prefixes: number(self.prefixes),
            options: number(self.options),
            reevaluate: self.reevaluate,
        }
    }

    fn applying(&self) -> Applying {
        Applying {
            default_rules: match self.default_rules {
                Some(DefaultRulesName::Missing) | None => DefaultRules::Missing,
                Some(DefaultRulesName::Always) => DefaultRules::Always,
                Some(DefaultRulesName::Never) => DefaultRules::Never,
            },
            coverage: match self.coverage {
                Some(CoverageName::First) | None => Coverage::First,
                Some(CoverageName::Links) => Coverage::Links,
            },
            outlook: match self.future_features {
                Some(FutureFeatures::All) | None => Outlook::All,
                Some(FutureFeatures::Translation) => Outlook::Translation,
            },
            chart: self.max_span.map_or_else(ChartLimits::default, |max_span| ChartLimits { max_span }),
        }
    }
}

#[cfg(test)]
mod tests;
