//! Options become searches, and options of other searches errors.
#![allow(clippy::unwrap_used)]

use clap::Parser;
use sylvan_search::{Beam, Missing, Network, Parents, Ways};

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
    let within = Limits { margin: 30, ..Limits::usual(Beam(500)) };
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
    let cube = Cube::new(Beam(500));
    let free = Search::Undirected;
    let usual_free = Undirected::new(Beam(256));
    let expected_free = Missing::default();
    let missing = |missing| Undirected { missing, ..usual_free };
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
        ("incremental --structured naive", limits(Limits { ways: Ways::All, parses: 2, ..usual })),
        ("incremental --structured best-parse", limits(Limits { ways: Ways::Best, ..usual })),
        ("incremental --structured rerank", limits(Limits { ways: Ways::Later, ..usual })),
        ("incremental --structured grouping", limits(Limits { ways: Ways::Groups(5), parses: 2, ..usual })),
        (
            "incremental --structured grouping --groups 3 --parses 7",
            limits(Limits { ways: Ways::Groups(3), parses: 7, ..usual }),
        ),
        ("incremental --structured packed --parses 9", limits(Limits { parses: 9, ..usual })),
        ("incremental --shortlist 0", limits(Limits { shortlist: None, ..usual })),
        ("incremental --shortlist 4", limits(Limits { shortlist: Some(4), ..usual })),
        ("incremental --network inside", limits(Limits { network: Network::Inside, ..usual })),
        ("incremental --network apart", limits(Limits { network: Network::Apart, ..usual })),
        ("incremental --plain-parses", limits(Limits { plain_parses: true, ..usual })),
        ("incremental --future none", top_down(Incremental { future: Future::None, ..config })),
        ("incremental --future rough", top_down(Incremental { future: Future::Rough, ..config })),
        ("incremental --future inside", top_down(config)),
        ("incremental --bins words", top_down(Incremental { progress: Progress::Words, ..config })),
        ("incremental --bins all-nodes", top_down(Incremental { progress: Progress::AllNodes, ..config })),
        ("incremental --signature stack", top_down(Incremental { signature: Signature::Stack, ..config })),
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
        ("undirected --parents all", free(Undirected { parents: Parents::All, ..usual_free })),
        ("undirected --parents new", free(Undirected { parents: Parents::New, ..usual_free })),
        ("undirected --missing-word -0.5", free(missing(Missing { per_word: -500, ..expected_free }))),
        ("undirected --missing-once -2", free(missing(Missing { once: -2000, ..expected_free }))),
        ("undirected --missing-share 0.25", free(missing(Missing { share: 250, ..expected_free }))),
        ("undirected --slack 0.1", free(Undirected { slack: 100, ..usual_free })),
        ("undirected --slack inf", free(Undirected { slack: u32::MAX, ..usual_free })),
        ("undirected --unbounded", free(Undirected { bounded: false, ..usual_free })),
        ("undirected --even", free(Undirected { focus: false, ..usual_free })),
        ("undirected --enough 3", free(Undirected { enough: 3, ..usual_free })),
        ("undirected --plain --beam 4", free(Undirected::paper(Beam(4)))),
        (
            "undirected --plain --beam 4 --parents new",
            free(Undirected { parents: Parents::New, ..Undirected::paper(Beam(4)) }),
        ),
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
fn what_tables_say_can_be_typed() {
    for options in [
        "cube --pops b",
        "cube --pops b --boundary none",
        "cube --plain",
        "exact --effort 5000000",
        "focus",
        "refine",
        "incremental --future none",
        "incremental --future rough --goals bins --signature stack",
        "incremental --bins words --margin 0.5",
        "incremental --pops 500 --diversity 10",
        "incremental --structured grouping --plain-parses --groups 8",
        "incremental --structured naive --plain-parses",
        "incremental --structured best-parse --plain-parses",
        "incremental --structured rerank --plain-parses",
        "incremental --pops 500 --structured packed --parses 3 --shortlist 2",
        "prediction --margin inf --prefixes 4",
        "prediction --future none",
        "prediction --reevaluate",
        "stacks --distortion-limit 6",
        "stacks --distortion-limit none",
        "undirected --plain --parents new --missing-word -0.3 --enough 1",
        "undirected --even --unbounded --slack inf --missing-share 0.25",
    ] {
        let typed = options.replace("--pops b", "--pops 7");
        let typed = search(&format!("--search {typed} --beam 7"));
        assert_eq!(Search::with_options(options, 7).unwrap(), typed, "{options}");
    }
}

#[test]
fn options_of_other_searches_are_errors() {
    for wrong in [
        "--margin 1",
        "--search cube --structured packed",
        "--search refine --network inside",
        "--search refine --parses 3",
        "--search exact --shortlist 1",
        "--search undirected --plain-parses",
        "--search incremental --groups 3",
        "--search incremental --structured naive --groups 3",
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
        "--search cube --parents all",
        "--search cube --missing-word -1",
        "--search cube --missing-once -1",
        "--search cube --missing-share 1",
        "--search refine --slack 1",
        "--search cube --unbounded",
        "--search focus --even",
        "--search prediction --enough 1",
        "--search undirected --pops 3",
        "--search undirected --slack -1",
        "--search undirected --missing-share -0.1",
        "--search undirected --missing-word nan",
        "--search undirected --missing-word 1e9",
    ] {
        let error = searching(wrong).named(Search::default()).unwrap_err().to_string();
        assert!(error.contains("found") || error.contains("expected"), "{wrong}: {error}");
    }
}
