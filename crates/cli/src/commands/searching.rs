//! The options of search that all translating commands have in common.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use sylvan::{Model, Search, SearchName};
use sylvan_rules::Formalism;
use sylvan_rules::apply::{Applying, ChartLimits, Coverage, DefaultRules, Outlook};
use sylvan_search::{
    BoundaryEstimate, Cube, Effort, Future, Goals, Incremental, Limits, Missing, Parents, Prediction,
    Progress, Signature, Stacks, Undirected,
};

/// Options that nobody needs who only wants to translate.
const EXPERIMENTS: &str = "Search, for experiments";

/// How to search.
#[derive(Debug, Clone, Args)]
pub(crate) struct Searching {
    /// Which search [default: refine for rules with syntax, focus for rules with gaps, stacks for phrase pairs].
    #[arg(long, value_name = "SEARCH", value_parser = search_names())]
    search: Option<SearchName>,
    /// How many items are kept (per vertex or bin), or made (refine, exact) [default: 100; focus: 200; refine and exact: 500;
    /// stacks: 120; incremental for models of kind lr-hiero: 500].
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
    #[command(flatten)]
    experiment: Experiment,
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
    /// Undirected: what partial items do [default: none].
    #[arg(long, value_enum)]
    parents: Option<ParentsName>,
    /// Undirected: what the language model is expected to say of each source word that is missing [default: 0].
    #[arg(long, value_name = "NATS", allow_negative_numbers = true)]
    missing_word: Option<f64>,
    /// Undirected: and if any is missing [default: 0].
    #[arg(long, value_name = "NATS", allow_negative_numbers = true)]
    missing_once: Option<f64>,
    /// Undirected: the share of what the words of missing rules score without history that is expected [default: 0.5].
    #[arg(long, value_name = "SHARE")]
    missing_share: Option<f64>,
    /// Undirected: before the language model is asked, what is expected of it where two parts meet: the mean so far and N
    /// standard deviations; inf makes and scores all combinations at once [default: 1.5].
    #[arg(long, value_name = "N")]
    slack: Option<f64>,
    /// Undirected: let candidates wait that could not be taken any more.
    #[arg(long)]
    unbounded: bool,
    /// Undirected: take as many candidates everywhere, not fewer where less is promised.
    #[arg(long)]
    even: bool,
    /// Undirected: stop after N translations of the sentence [default: when nothing waits].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    enough: Option<u32>,
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

/// What partial items of undirected search do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ParentsName {
    /// There are none.
    None,
    /// The best is the context of candidates that are made after it.
    New,
    /// And of those that wait.
    All,
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
        let search = self.named(model.usual_search())?;
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
            Search::Undirected(config) => *config = self.experiment.undirected(*config),
            Search::Exact(_, effort) => effort.joins = self.effort.unwrap_or(Effort::default().joins),
            _ => {}
        }
        Ok(search)
    }

    /// A model whose rules are applied as was asked for.
    pub(crate) fn applied(&self, model: Model) -> Model {
        let applying = self.experiment.applying();
        if applying == Applying::default() { model } else { model.with_applying(applying) }
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
        let Experiment { parents, missing_word, missing_once, missing_share, .. } = self.experiment;
        let Experiment { slack, unbounded, even, enough, .. } = self.experiment;
        let given: [(&str, bool, &[SearchName]); 25] = [
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
            ("--parents", parents.is_some(), &[Undirected]),
            ("--missing-word", missing_word.is_some(), &[Undirected]),
            ("--missing-once", missing_once.is_some(), &[Undirected]),
            ("--missing-share", missing_share.is_some(), &[Undirected]),
            ("--slack", slack.is_some(), &[Undirected]),
            ("--unbounded", unbounded, &[Undirected]),
            ("--even", even, &[Undirected]),
            ("--enough", enough.is_some(), &[Undirected]),
        ];
        for (option, given, searches) in given {
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
        for (option, value) in [("--slack", slack), ("--missing-share", missing_share)] {
            anyhow::ensure!(
                value.is_none_or(|value| value >= 0.0),
                "{option} {}: expected 0 or more",
                value.unwrap_or_default()
            );
        }
        for (option, value) in [("--missing-word", missing_word), ("--missing-once", missing_once)] {
            anyhow::ensure!(
                value.is_none_or(|value| value.abs() <= 1e6),
                "{option} {}: expected a number of nats, such as -0.5",
                value.unwrap_or_default()
            );
        }
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
    fn undirected(&self, usual: Undirected) -> Undirected {
        let usual = if self.plain { Undirected::paper(usual.beam) } else { usual };
        let thousandths = |nats: f64| (nats * 1000.0).round();
        Undirected {
            parents: match self.parents {
                Some(ParentsName::None) => Parents::None,
                Some(ParentsName::New) => Parents::New,
                Some(ParentsName::All) => Parents::All,
                None => usual.parents,
            },
            missing: Missing {
                per_word: self.missing_word.map_or(usual.missing.per_word, |nats| thousandths(nats) as i32),
                once: self.missing_once.map_or(usual.missing.once, |nats| thousandths(nats) as i32),
                share: self.missing_share.map_or(usual.missing.share, |share| thousandths(share) as u32),
            },
            bounded: usual.bounded && !self.unbounded,
            focus: usual.focus && !self.even,
            slack: self.slack.map_or(usual.slack, |nats| thousandths(nats).min(f64::from(u32::MAX)) as u32),
            enough: self.enough.map_or(usual.enough, |enough| enough as usize),
            ..usual
        }
    }

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
#[allow(clippy::unwrap_used)]
mod tests {
    use clap::Parser;
    use sylvan_search::Beam;

    use super::*;

    #[derive(Debug, Parser)]
    struct Command {
        #[command(flatten)]
        searching: Searching,
    }

    fn searching(options: &str) -> Searching {
        let words = std::iter::once("sylvan").chain(options.split_whitespace());
        Command::try_parse_from(words).unwrap().searching
    }

    fn search(options: &str) -> Search {
        searching(options).named(Search::default()).unwrap()
    }

    #[test]
    fn a_name_alone_is_the_search_of_that_name() {
        for name in SearchName::ALL {
            assert_eq!(search(&format!("--search {name}")), Search::named(name));
            assert_eq!(search(&format!("--search {name} --beam 7")), Search::named(name).with_beam(7));
        }
        assert_eq!(searching("").experiment.applying(), Applying::default());
        // A model's usual search keeps its settings under its name, except those that are asked for.
        let usual = Search::Incremental(Limits::grids(Beam(500), 400), Incremental::default());
        let of_model = |options: &str| searching(options).named(usual).unwrap();
        assert_eq!(of_model(""), usual);
        assert_eq!(of_model("--search incremental --beam 7"), usual.with_beam(7));
        let within = Limits { margin: 30, ..Limits::beam(Beam(500)) };
        assert_eq!(of_model("--margin 0.03"), Search::Incremental(within, Incremental::default()));
        assert_eq!(of_model("--search cube"), Search::named(SearchName::Cube));
    }

    #[test]
    fn every_option_reaches_its_search() {
        let usual = Limits::usual(Beam(100));
        let limits = |limits| Search::Incremental(limits, Incremental::default());
        let top_down = |config| Search::Incremental(usual, config);
        let bottom_up = |config| Search::Prediction(usual, config);
        let (config, prediction) = (Incremental::default(), Prediction::default());
        let cube = Cube::new(Beam(100));
        let phrases = |config| Search::Stacks(Limits::usual(Beam(120)), config);
        for (options, expected) in [
            ("incremental --margin 0.5", limits(Limits { margin: 500, ..usual })),
            ("incremental --margin inf", limits(Limits { margin: u32::MAX, ..usual })),
            ("incremental --pops 9", limits(Limits { pops: 9, ..usual })),
            ("incremental --pops 9 --diversity 3", limits(Limits { pops: 9, diversity: 3, ..usual })),
            ("incremental --options 4", top_down(Incremental { glued: 4, ..config })),
            ("incremental --future phrases", top_down(Incremental { future: Future::Phrases, ..config })),
            ("incremental --work 99", limits(Limits { work: 99, ..usual })),
            ("incremental --goals bins", limits(Limits { goals: Goals::InBins, ..usual })),
            ("incremental --future none", top_down(Incremental { future: Future::None, ..config })),
            ("incremental --future rough", top_down(Incremental { future: Future::Rough, ..config })),
            ("incremental --future inside", top_down(config)),
            ("incremental --bins words", top_down(Incremental { progress: Progress::Words, ..config })),
            (
                "incremental --bins all-nodes",
                top_down(Incremental { progress: Progress::AllNodes, ..config }),
            ),
            (
                "incremental --signature stack",
                top_down(Incremental { signature: Signature::Stack, ..config }),
            ),
            ("prediction --future none", bottom_up(Prediction { future: false, ..prediction })),
            ("prediction --prefixes 3", bottom_up(Prediction { prefixes: 3, ..prediction })),
            ("prediction --options 4", bottom_up(Prediction { options: 4, ..prediction })),
            ("prediction --reevaluate", bottom_up(Prediction { reevaluate: true, ..prediction })),
            ("cube --pops 9", Search::Cube(Cube { pops: 9, ..cube })),
            ("focus --pops 9", Search::Cube(Cube { pops: 9, ..Cube::focused(Beam(200)) })),
            (
                "focus --boundary none",
                Search::Cube(Cube { boundary: BoundaryEstimate::None, ..Cube::focused(Beam(200)) }),
            ),
            ("cube --plain", Search::Cube(Cube { plain: true, ..cube })),
            ("cube --boundary none", Search::Cube(Cube { boundary: BoundaryEstimate::None, ..cube })),
            ("cube --boundary local", Search::Cube(Cube { boundary: BoundaryEstimate::Local, ..cube })),
            ("stacks --distortion-limit 4", phrases(Stacks { limit: Some(4), ..Stacks::default() })),
            ("stacks --distortion-limit none", phrases(Stacks { limit: None, ..Stacks::default() })),
            ("stacks --options 7", phrases(Stacks { options: 7, ..Stacks::default() })),
            ("stacks --future none", phrases(Stacks { future: false, ..Stacks::default() })),
            ("exact --effort 8", Search::Exact(Beam(500), Effort { joins: 8 })),
        ] {
            assert_eq!(search(&format!("--search {options}")), expected, "{options}");
        }
        let applying = |options: &str| searching(options).experiment.applying();
        let usual = Applying::default();
        let links = Applying { coverage: Coverage::Links, ..usual };
        assert_eq!(applying("--search prediction --coverage links"), links);
        let four = Applying { outlook: Outlook::Translation, ..usual };
        assert_eq!(applying("--future-features translation"), four);
        let short = Applying { chart: ChartLimits { max_span: 3 }, ..usual };
        assert_eq!(applying("--max-span 3"), short);
        for (name, default_rules) in [("always", DefaultRules::Always), ("never", DefaultRules::Never)] {
            let expected = Applying { default_rules, ..usual };
            assert_eq!(applying(&format!("--default-rules {name}")), expected);
        }
    }

    #[test]
    fn options_of_other_searches_are_errors() {
        for wrong in [
            "--margin 1",
            "--search cube --margin 1",
            "--search cube --work 1",
            "--search refine --pops 1",
            "--search cube --future none",
            "--search cube --future-features translation",
            "--search exact --goals bins",
            "--search prediction --bins words",
            "--search prediction --signature stack",
            "--search incremental --prefixes 1",
            "--search cube --options 1",
            "--search prediction --pops 3 --diversity 1",
            "--search prediction --future phrases",
            "--search incremental --reevaluate",
            "--search incremental --coverage links",
            "--search refine --boundary none",
            "--search refine --plain",
            "--search focus --plain",
            "--search refine --effort 1",
            "--search prediction --future rough",
            "--search prediction --future none --reevaluate",
            "--search cube --plain --pops 5",
            "--search incremental --margin -1",
            "--search prediction --distortion-limit 4",
            "--search stacks --future rough",
            "--search stacks --boundary none",
        ] {
            let error = searching(wrong).named(Search::default()).unwrap_err().to_string();
            assert!(error.contains("found") || error.contains("expected"), "{wrong}: {error}");
        }
    }
}
