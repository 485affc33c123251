//! Corrections of a table: what each line says, and any list of lines against a table that was edited by hand.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use sylvan_base::{Rng, Vocab};
use sylvan_forest::TranslationForest;
use sylvan_rules::apply::{Applier, DefaultRules, Origin, SentenceRules, Workspace};
use sylvan_rules::{Grammar, GrammarBuilder, Overlay, Rule, RuleId, Weights};
use sylvan_store::TextReader;
use sylvan_testkit::{mutate, random_instance};
use sylvan_trees::Tree;

type Rules = BTreeMap<String, [f32; 2]>;

fn grammar(rules: &Rules, vocab: &mut Vocab) -> Grammar {
    let mut builder = GrammarBuilder::new(["score", "boost"]);
    for (text, features) in rules {
        let rule = Rule::parse(text, vocab).unwrap();
        builder.add(&rule, features, vocab);
    }
    builder.finish()
}

fn table(rules: &Rules, vocab: &mut Vocab) -> Grammar {
    let mut builder = GrammarBuilder::new(["score"]);
    for (text, features) in rules {
        let rule = Rule::parse(text, vocab).unwrap();
        builder.add(&rule, &features[..1], vocab);
    }
    builder.finish()
}

fn tree(text: &str, vocab: &mut Vocab) -> Tree {
    sylvan_trees::penn::parse_line(text, Default::default(), vocab).unwrap().unwrap()
}

fn read(text: &str, table: &Grammar, vocab: &mut Vocab) -> sylvan_base::Result<(Overlay, Vec<String>)> {
    Overlay::read(&mut TextReader::from_text("overlay", text), table, vocab)
}

/// Lines in parts, some of them empty: it must make no difference where they are divided.
fn read_in_parts(text: &str, table: &Grammar, vocab: &mut Vocab, rng: &mut Rng) -> (Overlay, usize) {
    let mut overlay = Overlay::default();
    let (mut part, mut missing) = (String::new(), 0);
    for line in text.lines().map(Some).chain([None]) {
        if line.is_none() || rng.chance(0.4) {
            let mut reader = TextReader::from_text("part", std::mem::take(&mut part));
            let (more, unknown) = overlay.and(&mut reader, table, vocab).unwrap();
            missing += unknown.len();
            overlay = more;
        }
        part += &line.map_or_else(String::new, |line| format!("{line}\n"));
    }
    let whole = read(text, table, vocab).unwrap();
    assert_eq!(missing, whole.1.len(), "{text}");
    (overlay, missing)
}

const WEIGHTS: [(&str, f64); 4] = [("score", 0.5), ("boost", 1.0), ("rules", 0.25), ("words", -0.125)];

/// What each vertex can become, whatever the numbers of the rules.
fn edges(forest: &TranslationForest) -> Vec<String> {
    let mut edges = Vec::new();
    for vertex in forest.vertices() {
        for edge in forest.edges(vertex) {
            let score = forest.edge(edge).spec.score;
            let side: Vec<String> = forest.target(edge).iter().map(|part| part_text(forest, part)).collect();
            edges.push(format!("{vertex:?} {} {score:.5}", side.join(" ")));
        }
    }
    edges.sort();
    edges
}

fn part_text(forest: &TranslationForest, part: &sylvan_forest::Target) -> String {
    match part {
        sylvan_forest::Target::Vertex(vertex) => format!("{vertex:?}"),
        sylvan_forest::Target::Bundle(bundle) => {
            format!("{:?}", forest.bundle_words(*bundle).collect::<Vec<_>>())
        }
    }
}

/// One line, spelt out.
#[derive(Debug, Clone)]
struct Line {
    scope: Option<u64>,
    action: Action,
}

#[derive(Debug, Clone)]
enum Action {
    Add(String, f32),
    Forbid(String),
    ForbidSource(String),
    Boost(String, f32),
}

impl Line {
    fn text(&self) -> String {
        let scope = self.scope.map_or(String::new(), |number| format!("@{number} "));
        match &self.action {
            Action::Add(rule, score) => format!("{scope}add {rule} ||| score={score}"),
            Action::Forbid(rule) => format!("{scope}forbid {rule}"),
            Action::ForbidSource(source) => format!("{scope}  forbid   {source} -> *"),
            Action::Boost(rule, boost) => format!("{scope}boost {boost} {rule}"),
        }
    }
}

fn source(rule: &str) -> &str {
    rule.split(" ->").next().unwrap()
}

/// The rules of one sentence: lines that concern it, one after the other.
fn edited(table: &Rules, lines: &[Line], sentence: u64) -> Rules {
    let mut rules = table.clone();
    // Values that lines gave to rules, and for whom: what a later boost goes by.
    let mut given: Vec<(Option<u64>, String, [f32; 2])> = Vec::new();
    for Line { scope, action } in lines {
        let concerned = scope.is_none() || *scope == Some(sentence);
        match action {
            Action::Add(rule, score) => {
                given.push((*scope, rule.clone(), [*score, 0.0]));
                if concerned {
                    rules.insert(rule.clone(), [*score, 0.0]);
                }
            }
            Action::Boost(rule, boost) => {
                let before = given
                    .iter()
                    .rev()
                    .find(|(other, known, _)| known == rule && (other.is_none() || other == scope));
                let before = before.map(|(_, _, values)| *values).or_else(|| table.get(rule).copied());
                let Some([score, _]) = before else { continue };
                given.push((*scope, rule.clone(), [score, *boost]));
                if concerned {
                    rules.insert(rule.clone(), [score, *boost]);
                }
            }
            Action::Forbid(rule) if concerned => {
                rules.remove(rule);
            }
            Action::ForbidSource(side) if concerned => rules.retain(|rule, _| source(rule) != side),
            _ => {}
        }
    }
    rules
}

#[test]
fn any_corrections_equal_a_table_edited_by_hand() {
    let mut rng = Rng::new(31);
    let mut changed = 0;
    for round in 0..sylvan_testkit::cases(1_500, 20_000) {
        let instance = random_instance(&mut rng);
        let mut vocab = Vocab::new();
        let tree = tree(&instance.tree, &mut vocab);
        let all: Vec<String> = instance
            .rules
            .iter()
            .map(|(text, _)| Rule::parse(text, &mut vocab).unwrap().show(&vocab))
            .collect();
        if all.is_empty() {
            continue;
        }
        // Some are in the table, all can be spoken of.
        let mut rules = Rules::new();
        for text in &all {
            if rng.chance(0.7) {
                rules.insert(text.clone(), [-(rng.below(8) as f32) / 4.0, 0.0]);
            }
        }
        let lines: Vec<Line> = (0..rng.below(7))
            .map(|_| {
                let rule = rng.pick(&all).clone();
                let value = rng.below(16) as f32 / 4.0 - 2.0;
                let action = match rng.below(4) {
                    0 => Action::Add(rule, value),
                    1 => Action::Forbid(rule),
                    2 => Action::ForbidSource(source(&rule).to_string()),
                    _ => Action::Boost(rule, value),
                };
                Line { scope: *rng.pick(&[None, None, Some(1), Some(2)]), action }
            })
            .collect();
        let text: String = lines.iter().map(|line| format!("{}\n", line.text())).collect();
        let weights = Weights::of(WEIGHTS);
        let defaults = DefaultRules::Missing;
        let base = table(&rules, &mut vocab);
        let (overlay, _) = read_in_parts(&text, &base, &mut vocab, &mut rng);
        let applier = Applier::new(&base, &weights, defaults).with_overlay(std::sync::Arc::new(overlay));
        let before = edges(&Applier::new(&base, &weights, defaults).forest(&tree, &vocab));
        for sentence in [1, 2, 3] {
            let given = SentenceRules { own: None, number: Some(sentence), ..SentenceRules::default() };
            let found = edges(&applier.forest_in(&tree, &vocab, given, &mut Workspace::default()));
            let by_hand = grammar(&edited(&rules, &lines, sentence), &mut vocab);
            let expected = edges(&Applier::new(&by_hand, &weights, defaults).forest(&tree, &vocab));
            assert_eq!(found, expected, "round {round}, sentence {sentence}\n{text}{rules:?}");
            changed += usize::from(found != before);
        }
    }
    assert!(changed > 1_000, "{changed} forests changed");
}

#[test]
fn lines_are_read_as_they_are_documented() {
    let mut vocab = Vocab::new();
    let rules =
        Rules::from([("A(a) -> x".to_string(), [1.0, 0.0]), ("S(x1:A) -> x1".to_string(), [2.0, 0.0])]);
    let base = table(&rules, &mut vocab);
    let text = "# a comment\n\nadd A(a) -> \"*\" \"|||\" ||| score=-1 boost=3\n  @7   boost 2.5 S(x1:A) -> x1\n\
        forbid A(b) -> x\nboost 1 A(b) -> x\nforbid B(x1:A) -> *\n";
    let (overlay, missing) = read(text, &base, &mut vocab).unwrap();
    assert_eq!(read_links(&base, &mut vocab), [(0, 1), (1, 0)]);
    assert_eq!(missing, ["overlay:5: no such rule", "overlay:6: no such rule", "overlay:7: no such rule"]);
    let added = overlay.added(0).unwrap();
    let shown: Vec<String> = added.rules().map(|id| added.rule(id).show(&vocab)).collect();
    assert_eq!(shown, ["A(a) -> \"*\" \"|||\"", "S(x1:A) -> x1"]);
    assert_eq!(added.feature_names(), ["score", "boost"]);
    assert_eq!([added.features(RuleId(0)), added.features(RuleId(1))], [[-1.0, 3.0], [2.0, 2.5]]);
    assert_eq!([overlay.instead_of(0, RuleId(0)), overlay.instead_of(0, RuleId(1))], [None, Some(RuleId(1))]);
    let weights = Weights::of(WEIGHTS);
    let applier =
        Applier::new(&base, &weights, DefaultRules::Never).with_overlay(std::sync::Arc::new(overlay));
    let tree = tree("(S (A a))", &mut vocab);
    let origins = |number| {
        let given = SentenceRules { own: None, number, ..SentenceRules::default() };
        let forest = applier.forest_in(&tree, &vocab, given, &mut Workspace::default());
        let origin = |edge| applier.origin(forest.edge(edge).spec.rule);
        forest.edge_ids().map(origin).collect::<Vec<_>>()
    };
    let (x, star) = (Origin::Rule(0, RuleId(0)), Origin::Rule(1, RuleId(0)));
    assert_eq!(origins(None), [x, star, Origin::Rule(0, RuleId(1))]);
    assert_eq!(origins(Some(7)), [x, star, Origin::Rule(1, RuleId(1))]);
}

fn read_links(base: &Grammar, vocab: &mut Vocab) -> Vec<(u32, u32)> {
    let (overlay, _) = read("add S(A(a) A(b)) -> y z ||| links=1-0,0-1,1-0\n", base, vocab).unwrap();
    overlay.added(0).unwrap().notes(RuleId(0)).links
}

#[test]
fn what_is_given_has_no_variables_and_a_boost_that_nothing_makes_up_for() {
    let mut vocab = Vocab::new();
    let base = table(&Rules::from([("A(a) -> x".to_string(), [1.0, 0.0])]), &mut vocab);
    let text =
        "# x\nadd A(a) -> y ||| boost=100\nadd A(a) -> z ||| boost=99\nadd S(x1:A) -> x1 ||| boost=100\n";
    let (overlay, _) = read(text, &base, &mut vocab).unwrap();
    assert_eq!([0, 1, 2].map(|id| overlay.is_given(0, RuleId(id))), [true, false, false]);
    assert_eq!([0, 1, 2].map(|id| overlay.line(0, RuleId(id))), [Some(2), Some(3), Some(4)]);
    assert!(!overlay.is_given(1, RuleId(0)) && overlay.line(0, RuleId(3)).is_none());
}

#[test]
fn mistakes_are_named() {
    let mut vocab = Vocab::new();
    let base = table(&Rules::from([("A(a) -> x".to_string(), [1.0, 0.0])]), &mut vocab);
    for (line, place, part) in [
        ("add A(a ->", "overlay:1:", "')'"),
        ("add A(x1:B) -> y", "overlay:1:", "x1"),
        ("add A(a) -> </s>", "overlay:1:5", "boundaries"),
        ("add A(a) -> y ||| p=1", "overlay:1:19", "score, boost"),
        ("add A(a) -> y ||| score=high", "overlay:1:19", "score, boost"),
        ("add A(a) -> y ||| links=0-1", "overlay:1:19", "links=0-0"),
        ("add A(a) -> y ||| links=0", "overlay:1:19", "links=0-0"),
        ("boost A(a) -> y", "overlay:1:7", "how much"),
        ("boost 1", "overlay:1:", "'->'"),
        ("forbid A( -> *", "overlay:1:", "found"),
        ("drop A(a) -> x", "overlay:1:1", "forbid SOURCE"),
        ("@0 add A(a) -> x", "overlay:1:2", "counted from 1"),
        ("@x", "overlay:1:2", "counted from 1"),
        ("@3", "overlay:1:", "add RULE"),
    ] {
        let error = read(&format!("{line}\n"), &base, &mut vocab).unwrap_err().to_string();
        assert!(error.starts_with(place) && error.contains(part), "{line}: {error}");
    }
    let good = "@2 add A(a) -> y z ||| score=-1\nforbid A(a) -> *\nboost 2 A(a) -> x";
    let mut rng = Rng::new(5);
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let bytes = mutate(good.as_bytes(), &mut rng);
        let mut reader = TextReader::from_reader("broken", std::io::Cursor::new(bytes));
        match Overlay::read(&mut reader, &base, &mut vocab) {
            Ok(_) => accepted += 1,
            Err(error) => {
                refused += 1;
                assert!(error.to_string().starts_with("broken:"), "{error}");
            }
        }
    }
    assert!(accepted > 1_000 && refused > 1_000, "{accepted} {refused}");
}
