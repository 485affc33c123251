//! The trie matcher against a naive one that tries every rule at every node.
#![allow(clippy::unwrap_used)]

use sylvan_base::{Rng, Span, Vocab};
use sylvan_forest::{Target, TranslationForest};
use sylvan_rules::apply::{
    Applier, Applying, DefaultRules, Origin, Outlook, SentenceRules, Workspace, match_rules,
};
use sylvan_rules::{Grammar, GrammarBuilder, Rule, RuleCount, RuleId, Source, Weights};
use sylvan_testkit::{Instance, random_instance};
use sylvan_trees::{Child, ForestEdge, NodeId, PackedForest, Tree};

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
    let applier = Applier::new(&grammar, &weights, DefaultRules::Missing);
    let forest = applier.forest(&tree, &vocab);
    let scores: Vec<Vec<f64>> = forest
        .vertices()
        .map(|vertex| forest.edges(vertex).map(|edge| forest.edge(edge).spec.score).collect())
        .collect();
    // A by its rule; B copies one word; S copies x and joins its children.
    assert_eq!(scores, [vec![-0.75], vec![-110.0], vec![-110.0]]);
    let none = Applier::new(&grammar, &weights, DefaultRules::Never).forest(&tree, &vocab);
    assert!(none.is_dead());
    // Everywhere: A by its rule or by copying its word.
    let always = Applier::new(&grammar, &weights, DefaultRules::Always).forest(&tree, &vocab);
    let scores: Vec<Vec<f64>> = always
        .vertices()
        .map(|vertex| always.edges(vertex).map(|edge| always.edge(edge).spec.score).collect())
        .collect();
    assert_eq!(scores, [vec![-0.75, -110.0], vec![-110.0], vec![-110.0]]);
}

/// Feng et al. 2012, section 3.4: estimates see "rule probability, lexical probability" in both directions.
#[test]
fn estimates_see_four_features_if_that_is_asked_for() {
    let mut vocab = Vocab::new();
    let tree = tree("(S (A a) x)", &mut vocab);
    let mut builder = GrammarBuilder::new(["p_ef", "p_fe", "lex_ef", "lex_fe", "rare", "lexical"]);
    let rule = Rule::parse("A(a) -> alpha", &mut vocab).unwrap();
    builder.add(&rule, &[-1.0, -2.0, -3.0, -4.0, -5.0, -6.0], &vocab);
    let grammar = builder.finish();
    let names = [("p_ef", 1.0), ("p_fe", 10.0), ("lex_ef", 100.0), ("lex_fe", 1000.0)];
    let others = [("rare", 1e4), ("lexical", 1e5), ("rules", 0.5), ("words", 0.25), ("glue", -7.0)];
    let weights = Weights::of(names.into_iter().chain(others));
    let outlooks = |outlook| {
        let applying = Applying { outlook, ..Applying::default() };
        let forest = Applier::new(&grammar, &weights, applying).forest(&tree, &vocab);
        forest.edge_ids().map(|edge| (forest.edge(edge).spec.score, forest.outlook(edge))).collect::<Vec<_>>()
    };
    let score = -4321.0 - 5e4 - 6e5 + 0.75;
    assert_eq!(outlooks(Outlook::All), [(score, score), (-7.0, -7.0)]);
    // The default rule of S has none of the four and keeps its score.
    assert_eq!(outlooks(Outlook::Translation), [(score, -4321.0), (-7.0, -7.0)]);
}

#[test]
fn a_deep_chain_is_matched_without_recursion() {
    let depth = sylvan_base::limits::TREE_DEPTH - 1;
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

#[test]
fn layers_and_rules_of_one_sentence_take_part_alike() {
    let mut vocab = Vocab::new();
    let tree = tree("(S (A a))", &mut vocab);
    let mut build = |rules: &[(&str, f32)]| {
        let mut builder = GrammarBuilder::new(["score"]);
        for (text, score) in rules {
            let rule = Rule::parse(text, &mut vocab).unwrap();
            builder.add(&rule, &[*score], &vocab);
        }
        builder.finish()
    };
    let table = build(&[("A(a) -> x", 1.0), ("S(x1:A) -> x1", 1.0)]);
    let overlay = build(&[("A(a) -> y", 1.0)]);
    let own = build(&[("A(a) -> z", 3.0), ("B(b) -> b", 1.0)]);
    // The sentence's own rules are weighed as the first layer is.
    let weights = Weights::of([("score", 1.0), ("tm1.score", 2.0), ("tm2.score", 9.0)]);
    let applier = Applier::layered(&[&table, &overlay], &weights, DefaultRules::Never);
    let forest = applier.forest_in(
        &tree,
        &vocab,
        SentenceRules { own: Some(&own), number: None, ..SentenceRules::default() },
        &mut Workspace::default(),
    );
    let mut found: Vec<(f64, Origin)> = forest
        .edge_ids()
        .map(|edge| (forest.edge(edge).spec.score, applier.origin(forest.edge(edge).spec.rule)))
        .collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then(format!("{:?}", a.1).cmp(&format!("{:?}", b.1))));
    let expected = [
        (1.0, Origin::Rule(0, RuleId(0))),
        (1.0, Origin::Rule(0, RuleId(1))),
        (2.0, Origin::Rule(1, RuleId(0))),
        (3.0, Origin::Rule(2, RuleId(0))),
    ];
    assert_eq!(found, expected);
}

/// All binary bracketings of a sentence, and all treelets of all trees found in it.
#[test]
fn a_forest_matches_what_its_trees_match() {
    let mut rng = Rng::new(6);
    let mut matches = 0;
    for _ in 0..sylvan_testkit::cases(300, 3_000) {
        let mut vocab = Vocab::new();
        let length = 2 + rng.below(3);
        let words: Vec<_> = (0..length).map(|index| vocab.intern(&format!("w{index}"))).collect();
        let (mut nodes, mut edges) = (Vec::new(), Vec::new());
        let id = |start: usize, end: usize| {
            let narrower: usize = (1..end - start).map(|width| length + 1 - width).sum();
            NodeId((narrower + start) as u32)
        };
        for width in 1..=length {
            for start in 0..=length - width {
                let (end, head) = (start + width, id(start, start + width));
                nodes.push((vocab.intern(rng.pick::<&str>(&["A", "B"])), Span::new(start, end)));
                let mut ways: Vec<Vec<Child>> = (start + 1..end)
                    .map(|middle| vec![Child::Node(id(start, middle)), Child::Node(id(middle, end))])
                    .collect();
                if width == 1 {
                    ways.push(vec![Child::Leaf(start as u32)]);
                }
                edges.extend(ways.into_iter().map(|children| ForestEdge { head, children, score: 0.0 }));
            }
        }
        let forest = PackedForest::new(words, &nodes, &edges).unwrap();
        let trees = forest.trees(100);
        // Random treelets of random trees.
        let mut builder = GrammarBuilder::new([]);
        for _ in 0..30 {
            let (tree, _) = rng.pick(&trees);
            let node = NodeId(rng.below(tree.len()) as u32);
            let mut open = vec![Child::Node(node)];
            let mut source = Vec::new();
            while let Some(child) = open.pop() {
                match child {
                    Child::Leaf(at) => source.push(Source::Word(tree.words()[at as usize])),
                    Child::Node(below) if !source.is_empty() && rng.chance(0.4) => {
                        source.push(Source::Var(tree.label(below)));
                    }
                    Child::Node(below) => {
                        source.push(Source::Open(tree.label(below), tree.children(below).len() as u32));
                        open.extend(tree.children(below).iter().rev());
                    }
                }
            }
            let variables = source.iter().filter(|token| matches!(token, Source::Var(_))).count() as u32;
            let target = (0..variables).map(sylvan_rules::TargetSide::Var).collect();
            builder.add(&Rule::new(source, target).unwrap(), &[], &vocab);
        }
        let grammar = builder.finish();
        let mut found = std::collections::BTreeSet::new();
        for node in forest.nodes() {
            match_rules(&grammar, &forest, node, |rule, bound| {
                let spans: Vec<Span> = bound.iter().map(|&node| forest.span(node)).collect();
                found.insert((forest.span(node), rule, spans));
            });
        }
        let mut expected = std::collections::BTreeSet::new();
        for (tree, _) in &trees {
            for node in tree.nodes() {
                match_rules(&grammar, tree, node, |rule, bound| {
                    let spans: Vec<Span> = bound.iter().map(|&node| tree.span(node)).collect();
                    expected.insert((tree.span(node), rule, spans));
                });
            }
        }
        assert_eq!(found, expected);
        matches += found.len();
    }
    assert!(matches > 5_000, "{matches}");
}

/// Where target words come from, by hand: figures of no paper, but of the definition (Devlin et al. 2014).
#[test]
fn target_words_are_affiliated_with_source_words_if_that_is_asked_for() {
    let mut vocab = Vocab::new();
    let tree = tree("(S (A a) x (B b c))", &mut vocab);
    let mut builder = GrammarBuilder::new([]);
    let mut add = |text: &str, links: &[(u32, u32)]| {
        let rule = Rule::parse(text, &mut vocab).unwrap();
        builder.add_counted(&rule, &[], RuleCount::default(), links, &vocab);
    };
    // The variable covers the first word, so `x` is the second.
    add("S(x1:A x x2:B) -> x2 p q x1 r", &[(0, 1)]);
    add("B(b c) -> q p", &[(0, 0), (1, 0), (1, 1)]);
    add("B(b c) -> p", &[]);
    let grammar = builder.finish();
    let weights = Weights::default();
    let applier = Applier::new(&grammar, &weights, DefaultRules::Missing);
    let words = |forest: &TranslationForest| -> Vec<Vec<(String, Option<u32>)>> {
        let of_edge = |edge| {
            let bundles = forest.target(edge).iter().filter_map(|symbol| match symbol {
                Target::Bundle(bundle) => Some(*bundle),
                Target::Vertex(_) => None,
            });
            let tokens = bundles.flat_map(|bundle| forest.bundle(bundle)).map(|&token| forest.token(token));
            tokens.map(|token| (vocab.text(token.word).to_string(), token.source)).collect()
        };
        forest.edge_ids().map(of_edge).collect()
    };
    let with = applier.clone().with_affiliation(true).forest(&tree, &vocab);
    let at = |list: &[(&str, u32)]| -> Vec<(String, Option<u32>)> {
        list.iter().map(|&(word, source)| (word.to_string(), Some(source))).collect()
    };
    let found = words(&with);
    // The default rule copies `a` where it stands.
    assert_eq!(found[0], at(&[("a", 0)]));
    assert_eq!(found[1], at(&[("q", 3), ("p", 3)]));
    assert_eq!(found[2], at(&[("p", 3)]));
    assert_eq!(found[3], at(&[("p", 1), ("q", 1), ("r", 1)]));
    // The same word at two places is two tokens, and one where nobody asks.
    assert_eq!(with.tokens().len(), 6);
    let without = applier.forest(&tree, &vocab);
    assert!(words(&without).iter().flatten().all(|(_, source)| source.is_none()));
    assert_eq!(without.tokens().len(), 4);
}
