//! The trie matcher against a naive one that tries every rule at every node.
#![allow(clippy::unwrap_used)]

use sylvan_base::{Rng, Vocab};
use sylvan_rules::apply::{Applier, DefaultRules, match_rules};
use sylvan_rules::{Grammar, GrammarBuilder, Rule, RuleId, Source, Weights};
use sylvan_testkit::{Instance, random_instance};
use sylvan_trees::{Child, NodeId, Tree};

fn tree(text: &str, vocab: &mut Vocab) -> Tree {
    sylvan_trees::penn::parse_line(text, Default::default(), vocab).unwrap().unwrap()
}

fn grammar(instance: &Instance, vocab: &mut Vocab) -> Grammar {
    let mut builder = GrammarBuilder::new(["score"]);
    for (text, score) in &instance.rules {
        let rule = Rule::parse(text, vocab).unwrap();
        builder.add(&rule, &[*score as f32], vocab);
    }
    builder.finish()
}

/// Reads the source side token by token while descending the tree.
fn naive(tree: &Tree, node: NodeId, rule: &Rule) -> Option<Vec<NodeId>> {
    let mut bound = Vec::new();
    let mut agenda = vec![Child::Node(node)];
    for (index, token) in rule.source().iter().enumerate() {
        match (*token, agenda.pop()?) {
            (Source::Word(word), Child::Leaf(at)) if tree.words()[at as usize] == word => {}
            (Source::Var(label), Child::Node(node)) if index > 0 && tree.label(node) == label => {
                bound.push(node);
            }
            (Source::Open(label, children), Child::Node(node))
                if tree.label(node) == label && tree.children(node).len() == children as usize =>
            {
                agenda.extend(tree.children(node).iter().rev());
            }
            _ => return None,
        }
    }
    agenda.is_empty().then_some(bound)
}

#[test]
fn trie_matching_equals_naive_matching_on_random_instances() {
    let mut rng = Rng::new(5);
    let mut matches = 0;
    for _ in 0..sylvan_testkit::cases(2_000, 20_000) {
        let mut vocab = Vocab::new();
        let instance = random_instance(&mut rng);
        let tree = tree(&instance.tree, &mut vocab);
        // Rules of another tree too, which mostly do not match.
        let mut all = instance.clone();
        all.rules.extend(random_instance(&mut rng).rules);
        let grammar = grammar(&all, &mut vocab);
        for node in tree.nodes() {
            let mut found: Vec<(RuleId, Vec<NodeId>)> = Vec::new();
            match_rules(&grammar, &tree, node, |rule, bound| found.push((rule, bound.to_vec())));
            let mut expected: Vec<(RuleId, Vec<NodeId>)> = grammar
                .rules()
                .filter_map(|rule| Some((rule, naive(&tree, node, &grammar.rule(rule))?)))
                .collect();
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "{instance:?}");
            matches += found.len();
        }
    }
    assert!(matches > 5_000, "the instances must match often: {matches}");
}

#[test]
fn a_node_without_rules_gets_a_default_rule_only_where_nothing_matches() {
    let mut vocab = Vocab::new();
    let tree = tree("(S (A a) x (B b))", &mut vocab);
    let mut builder = GrammarBuilder::new([]);
    let rule = Rule::parse("A(a) -> alpha", &mut vocab).unwrap();
    builder.add(&rule, &[], &vocab);
    let grammar = builder.finish();
    let weights = Weights::of([("rules", -0.25), ("words", -0.5), ("glue", -10.0), ("oov", -100.0)]);
    let applier = Applier::new(&grammar, &weights, DefaultRules::weighted(&weights));
    let forest = applier.forest(&tree, &vocab);
    let scores: Vec<Vec<f64>> = forest
        .vertices()
        .map(|vertex| forest.edges(vertex).map(|edge| forest.edge(edge).spec.score).collect())
        .collect();
    // A by its rule; B copies one word; S copies x and joins its children.
    assert_eq!(scores, [vec![-0.75], vec![-110.0], vec![-110.0]]);
    let none = Applier::new(&grammar, &weights, DefaultRules::Never).forest(&tree, &vocab);
    assert!(none.is_dead());
}

#[test]
fn a_deep_chain_is_matched_without_recursion() {
    let depth = 20_000;
    let text = format!("{}(A a){}", "(A ".repeat(depth), ")".repeat(depth));
    let mut vocab = Vocab::new();
    let tree = tree(&text, &mut vocab);
    let mut builder = GrammarBuilder::new([]);
    for text in ["A(x1:A) -> x1", "A(A(x1:A)) -> b x1", "A(a) -> a"] {
        let rule = Rule::parse(text, &mut vocab).unwrap();
        builder.add(&rule, &[], &vocab);
    }
    let grammar = builder.finish();
    let forest = Applier::new(&grammar, &Weights::default(), DefaultRules::Never).forest(&tree, &vocab);
    assert_eq!(forest.edge_ids().len(), 1 + depth + depth - 1);
}
