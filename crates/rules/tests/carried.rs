//! What edges carry besides their scores, of trees and of charts, by hand: numbers of rules, content hashes, sizes,
//! outlooks, owners of source words, and where target words come from.
#![allow(clippy::unwrap_used)]

use sylvan_base::hash::{content_hash, fold};
use sylvan_base::{Span, Vocab};
use sylvan_forest::{EdgeId, Target, TranslationForest};
use sylvan_rules::apply::{
    Applier, Applying, Coverage, DefaultRules, Origin, Outlook, PHRASE, SENTENCE, SentenceRules, Workspace,
};
use sylvan_rules::{Grammar, GrammarBuilder, Rule, RuleCount, RuleId, Weights};

/// A rule as text, its features and its links.
type Written<'r> = (&'r str, [f32; 2], &'r [(u32, u32)]);

fn grammar(rules: &[Written<'_>], vocab: &mut Vocab) -> Grammar {
    let mut builder = GrammarBuilder::new(["p_ef", "rare"]);
    for (text, values, links) in rules {
        let rule = Rule::parse(text, vocab).unwrap();
        builder.add_counted(&rule, values, RuleCount::default(), links, vocab);
    }
    builder.finish()
}

fn weights() -> Weights {
    let of_rules = [("p_ef", 2.0), ("rare", 16.0), ("rules", 0.5), ("words", 0.25), ("parse", 9.0)];
    Weights::of(of_rules.into_iter().chain([("glue", -3.0), ("oov", -7.0)]))
}

const EVERYTHING: Applying = Applying {
    default_rules: DefaultRules::Always,
    coverage: Coverage::Links,
    outlook: Outlook::Translation,
    chart: sylvan_rules::apply::ChartLimits { max_span: 10 },
};

/// The target words of an edge and where they come from.
fn words(forest: &TranslationForest, edge: EdgeId, vocab: &Vocab) -> Vec<(String, Option<u32>)> {
    let bundles = forest.target(edge).iter().filter_map(|symbol| match symbol {
        Target::Bundle(bundle) => Some(*bundle),
        Target::Vertex(_) => None,
    });
    let tokens = bundles.flat_map(|bundle| forest.bundle(bundle)).map(|&token| forest.token(token));
    tokens.map(|token| (vocab.text(token.word).to_string(), token.source)).collect()
}

fn from(list: &[(&str, Option<u32>)]) -> Vec<(String, Option<u32>)> {
    list.iter().map(|&(word, source)| (word.to_string(), source)).collect()
}

/// The fold of numbers and words over a start, as ties are decided by it in every version.
fn hash(start: u64, steps: &[Result<u64, &str>]) -> u64 {
    let value = |step: &Result<u64, &str>| step.map_or_else(|word| content_hash(word.as_bytes()), |n| n);
    steps.iter().fold(start, |hash, step| fold(hash, value(step)))
}

/// `a b u c` with a rule around `b u`, and one that swaps any two neighbours.
struct Chart {
    vocab: Vocab,
    grammar: Grammar,
    sentence: Vec<sylvan_base::Symbol>,
}

impl Chart {
    fn new() -> Self {
        let mut vocab = Vocab::new();
        vocab.intern(PHRASE);
        vocab.intern(SENTENCE);
        let rules: [Written<'_>; 3] = [
            ("X(b) -> y", [-1.0, -2.0], &[(0, 0)]),
            ("X(a x1:X c) -> p x1 q", [-3.0, -4.0], &[(0, 1), (1, 0)]),
            ("X(x1:X x2:X) -> x2 x1", [-5.0, -6.0], &[]),
        ];
        let grammar = grammar(&rules, &mut vocab);
        let sentence = vocab.intern_words("a b u c");
        Self { vocab, grammar, sentence }
    }

    fn applier(&self, applying: Applying) -> Applier {
        Applier::new(&self.grammar, &weights(), applying)
    }

    fn forest(&self, applier: &Applier) -> TranslationForest {
        applier.chart_forest(&self.sentence, &self.vocab, SentenceRules::default())
    }

    /// The only edge from somewhere over some span.
    fn edge(&self, forest: &TranslationForest, applier: &Applier, origin: Origin, span: Span) -> EdgeId {
        let here = |edge: &EdgeId| {
            let edge = forest.edge(*edge);
            applier.origin(edge.spec.rule) == origin && forest.span(edge.head) == span
        };
        let mut found = forest.edge_ids().filter(here);
        let edge = found.next().unwrap();
        assert!(found.next().is_none());
        edge
    }

    fn rule(&self, text: &str) -> Origin {
        let rule = Rule::parse(text, &mut self.vocab.clone()).unwrap();
        Origin::Rule(0, self.grammar.find_rule(&rule).unwrap())
    }
}

#[test]
fn edges_of_a_chart_by_hand() {
    let chart = Chart::new();
    let usual = Applying { default_rules: DefaultRules::Missing, ..EVERYTHING };
    let applier = chart.applier(usual).with_affiliation(true);
    let forest = chart.forest(&applier);
    let at = |origin, start, end| chart.edge(&forest, &applier, origin, Span::new(start, end));
    let around = at(chart.rule("X(a x1:X c) -> p x1 q"), 0, 4);
    let single = at(chart.rule("X(b) -> y"), 1, 2);
    let swap = at(chart.rule("X(x1:X x2:X) -> x2 x1"), 1, 3);
    let copies = [at(Origin::Copy, 0, 1), at(Origin::Copy, 2, 3), at(Origin::Copy, 3, 4)];
    let start = at(Origin::Start, 0, 1);
    let second = forest.edge_ids().find(|&edge| {
        let edge = forest.edge(edge);
        applier.origin(edge.spec.rule) == Origin::Glue && forest.span(edge.head).end == 2
    });
    let glue = second.unwrap();
    // Where target words come from: the links of the rule, counted in words of the sentence.
    let of = |edge| words(&forest, edge, &chart.vocab);
    assert_eq!(of(around), from(&[("p", Some(3)), ("q", Some(0))]));
    assert_eq!(of(single), from(&[("y", Some(1))]));
    assert_eq!(of(copies[0]), from(&[("a", Some(0))]));
    assert_eq!(of(copies[1]), from(&[("u", Some(2))]));
    // Which bundle covers which source word.
    assert_eq!(forest.owners(around), Some(&[1, 0][..]));
    assert_eq!(forest.owners(copies[2]), Some(&[0][..]));
    for edge in [swap, start, glue] {
        assert_eq!(forest.owners(edge), Some(&[][..]));
    }
    // What estimates see: one feature of rules, all of the rest.
    let seen = [around, single, swap, copies[0], start, glue].map(|edge| forest.outlook(edge));
    assert_eq!(seen, [-6.0, -2.0, -10.0, -7.0, 0.0, -3.0]);
    let scores = [around, single, swap].map(|edge| forest.edge(edge).spec.score);
    assert_eq!(scores, [-6.0 - 64.0 + 1.0, -2.0 - 32.0 + 0.75, -10.0 - 96.0 + 0.5]);
    // Nothing here is a node of a tree.
    assert!(forest.vertices().all(|vertex| forest.nodes(vertex) == 1));
    assert!(
        forest.edge_ids().all(|edge| forest.edge(edge).spec.nodes == 1 && forest.input_score(edge) == 0.0)
    );
    let label = |vertex| chart.vocab.text(forest.label(vertex).unwrap());
    let labels: Vec<&str> = forest.vertices().map(label).collect();
    assert!(labels.iter().all(|&label| label == PHRASE || label == SENTENCE));
    assert_eq!(labels.iter().filter(|&&label| label == SENTENCE).count(), 4);
    // Content, by which ties are decided.
    let content = |edge| forest.edge(edge).spec.hash;
    let head = |edge| u64::from(forest.edge(edge).head.0);
    let (inner, [left, right]) = (head(swap), [head(single), head(copies[1])]);
    let steps = [Ok(head(around)), Ok(inner), Err("p"), Ok(2), Err("q")];
    assert_eq!(content(around), hash(1, &steps));
    assert_eq!(content(swap), hash(1, &[Ok(inner), Ok(left), Ok(right), Ok(3), Ok(2)]));
    let special = [start, glue, copies[0]].map(content);
    let last = u64::from(u32::MAX);
    assert_eq!(special, [fold(last, 1), fold(last - 1, 2), fold(last - 2, 1)]);
}

#[test]
fn what_is_not_asked_for_is_not_carried() {
    let chart = Chart::new();
    let applier = chart.applier(Applying::default());
    let forest = chart.forest(&applier);
    assert!(!forest.has_outlooks());
    for edge in forest.edge_ids() {
        assert!(forest.owners(edge).is_none());
        assert_eq!(forest.outlook(edge), forest.edge(edge).spec.score);
        assert!(words(&forest, edge, &chart.vocab).iter().all(|(_, source)| source.is_none()));
    }
}

#[test]
#[should_panic(expected = "both labels")]
fn a_vocabulary_without_the_labels_is_refused() {
    let chart = Chart::new();
    let mut vocab = Vocab::new();
    vocab.intern(PHRASE);
    let words = vocab.intern_words("a");
    chart.applier(Applying::default()).chart_forest(&words, &vocab, SentenceRules::default());
}

#[test]
fn edges_of_a_tree_by_hand() {
    let mut vocab = Vocab::new();
    let tree = sylvan_trees::penn::parse_line("(S (A a) x (B b c))", Default::default(), &mut vocab)
        .unwrap()
        .unwrap();
    let rules: [Written<'_>; 2] = [
        ("S(x1:A x x2:B) -> x2 p q x1 r", [-1.0, -2.0], &[(0, 2)]),
        ("B(b c) -> q p", [-3.0, -4.0], &[(0, 1), (1, 0)]),
    ];
    let table = grammar(&rules, &mut vocab);
    let more = grammar(&[("A(a) -> z", [-5.0, -6.0], &[])], &mut vocab);
    let own = grammar(&[("A(a) -> w", [-7.0, -8.0], &[])], &mut vocab);
    let given = SentenceRules { own: Some(&own), number: None, ..SentenceRules::default() };
    let applier = Applier::layered(&[&table, &more], &weights(), EVERYTHING);
    let forest = applier.forest_in(&tree, &vocab, given, &mut Workspace::default());
    let specs = forest.edge_ids().map(|edge| forest.edge(edge).spec);
    // Rules are numbered across layers, from 0.
    let mut found: Vec<(u32, Origin)> = specs.map(|spec| (spec.rule.id, applier.origin(spec.rule))).collect();
    let id = |text: &str| table.find_rule(&Rule::parse(text, &mut vocab.clone()).unwrap()).unwrap();
    let (top, below) = (id(rules[0].0), id(rules[1].0));
    let expected = [
        (2, Origin::Rule(1, RuleId(0))),
        (3, Origin::Rule(2, RuleId(0))),
        (0, Origin::Default(0)),
        (below.0, Origin::Rule(0, below)),
        (1, Origin::Default(1)),
        (top.0, Origin::Rule(0, top)),
        (2, Origin::Default(2)),
    ];
    assert_eq!(found, expected);
    // Own rules are numbered from 0 where there are no others.
    let alone = Applier::layered(&[], &weights(), Applying::default());
    let made = alone.forest_in(&tree, &vocab, given, &mut Workspace::default());
    found = made
        .edge_ids()
        .map(|edge| made.edge(edge).spec.rule)
        .map(|rule| (rule.id, alone.origin(rule)))
        .collect();
    assert_eq!(found[0], (0, Origin::Rule(0, RuleId(0))));
    assert_eq!((alone.layer_count(), alone.feature_weights(0).len()), (0, 0));
    assert_eq!(applier.feature_weights(1), [2.0, 16.0]);
    // Owners: `b` belongs to the second word, but the two words of the target side are one bundle.
    let edges: Vec<EdgeId> = forest.edge_ids().collect();
    let owners: Vec<&[u8]> = edges.iter().map(|&edge| forest.owners(edge).unwrap()).collect();
    assert_eq!(owners, [&[0][..], &[0], &[0], &[0, 0], &[0, 0], &[1], &[0]]);
    let seen: Vec<f64> = edges.iter().map(|&edge| forest.outlook(edge)).collect();
    assert_eq!(seen, [-10.0, -14.0, -10.0, -6.0, -17.0, -2.0, -10.0]);
    let content = |place: usize| forest.edge(edges[place]).spec.hash;
    assert_eq!(content(3), hash(1, &[Ok(1), Err("q"), Err("p")]));
    let steps = [Ok(2), Ok(0), Ok(1), Ok(3), Err("p"), Err("q"), Ok(2), Err("r")];
    assert_eq!(content(5), hash(1, &steps));
    assert_eq!(content(6), fold(content_hash(b"S"), 2));
}
