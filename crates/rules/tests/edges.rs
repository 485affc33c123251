//! Every edge of a translation forest, its score and its size, against a slow reading of packed forests by the
//! definition of each term: features of several layers, words, parse scores, sparse features, default rules.
#![allow(clippy::unwrap_used)]

use sylvan_base::{Rng, Span, Vocab};
use sylvan_forest::Target;
use sylvan_rules::apply::{
    Applier, DefaultRules, Origin, SentenceRules, Workspace, each_match, source_leaves,
};
use sylvan_rules::{
    Filter, Grammar, GrammarBuilder, Rule, RuleId, Source, SparseWeights, TargetSide, Weights,
};
use sylvan_trees::{Child, EdgeId, ForestEdge, NodeId, PackedForest};

/// All ways to bracket a sentence in pairs, and some in threes, each with a score.
fn random_forest(rng: &mut Rng, vocab: &mut Vocab) -> PackedForest {
    let length = 2 + rng.below(3);
    let words: Vec<_> = (0..length).map(|_| vocab.intern(rng.pick::<&str>(&["a", "b", "c"]))).collect();
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
            for first in start + 1..end {
                for second in (first + 1..end).filter(|_| rng.chance(0.5)) {
                    let parts = [(start, first), (first, second), (second, end)];
                    ways.push(parts.map(|(start, end)| Child::Node(id(start, end))).to_vec());
                }
            }
            if width == 1 {
                ways.push(vec![Child::Leaf(start as u32)]);
            }
            rng.shuffle(&mut ways);
            edges.extend(ways.into_iter().map(|children| ForestEdge { head, children, score: -rng.unit() }));
        }
    }
    PackedForest::new(words, &nodes, &edges).unwrap()
}

/// Treelets of random trees of the forest, with random target sides.
fn random_grammar(rng: &mut Rng, forest: &PackedForest, vocab: &mut Vocab, names: &[&str]) -> Grammar {
    let trees = forest.trees(100);
    let mut builder = GrammarBuilder::new(names.iter().copied());
    for _ in 0..12 {
        let (tree, _) = rng.pick(&trees);
        let mut open = vec![Child::Node(NodeId(rng.below(tree.len()) as u32))];
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
        let mut target: Vec<TargetSide> = (0..variables).map(TargetSide::Var).collect();
        rng.shuffle(&mut target);
        for _ in 0..rng.below(3) {
            let word = vocab.intern(rng.pick::<&str>(&["x", "y", "z"]));
            target.insert(rng.below(target.len() + 1), TargetSide::Word(word));
        }
        let values: Vec<f32> = names.iter().map(|_| -(rng.unit() as f32)).collect();
        builder.add(&Rule::new(source, target).unwrap(), &values, vocab);
    }
    builder.finish()
}

/// What is bound, how many nodes are inside, and the parse score, for each way in which a source side matches.
type Matches = Vec<(Vec<NodeId>, u32, f64)>;

fn matches(forest: &PackedForest, node: NodeId, source: &[Source]) -> Matches {
    let mut found = Vec::new();
    descend(forest, vec![Child::Node(node)], source, true, (Vec::new(), 0, 0.0), &mut found);
    found
}

fn descend(
    forest: &PackedForest,
    mut open: Vec<Child>,
    source: &[Source],
    top: bool,
    so_far: (Vec<NodeId>, u32, f64),
    found: &mut Matches,
) {
    let Some((token, rest)) = source.split_first() else {
        if open.is_empty() {
            found.push(so_far);
        }
        return;
    };
    match (*token, open.pop()) {
        (Source::Word(word), Some(Child::Leaf(at))) if forest.words()[at as usize] == word => {
            descend(forest, open, rest, false, so_far, found);
        }
        (Source::Var(label), Some(Child::Node(node))) if !top && forest.label(node) == label => {
            let (mut bound, nodes, score) = so_far;
            bound.push(node);
            descend(forest, open, rest, false, (bound, nodes, score), found);
        }
        (Source::Open(label, count), Some(Child::Node(node))) if forest.label(node) == label => {
            for way in forest.edges(node).filter(|&way| forest.children(way).len() == count as usize) {
                let mut open = open.clone();
                open.extend(forest.children(way).iter().rev());
                let (bound, nodes, score) = so_far.clone();
                let so_far = (bound, nodes + 1, score + forest.score(way));
                descend(forest, open, rest, false, so_far, found);
            }
        }
        _ => {}
    }
}

/// Vertex, where the rule is from, what it binds in source order, size, score and score of the input times 1e9 rounded.
type Edge = (usize, String, Vec<usize>, u32, i64, i64);

fn rounded(score: f64) -> i64 {
    (score * 1e9).round() as i64
}

#[test]
fn edges_are_what_the_definitions_of_their_parts_say() {
    let mut rng = Rng::new(17);
    let (mut of_rules, mut of_defaults) = (0, 0);
    for _ in 0..sylvan_testkit::cases(300, 3_000) {
        let mut vocab = Vocab::new();
        let forest = random_forest(&mut rng, &mut vocab);
        // The second layer and the sentence's own rules have other features than the first, in another order.
        let table = random_grammar(&mut rng, &forest, &mut vocab, &["p", "q"]);
        let more = random_grammar(&mut rng, &forest, &mut vocab, &["q", "r", "p"]);
        let own_names: &[&str] = if rng.chance(0.5) { &["p", "q"] } else { &["q", "p"] };
        let own = random_grammar(&mut rng, &forest, &mut vocab, own_names);
        let weight = |name: &str| match name {
            "p" | "tm0.p" => 0.5,
            "q" | "tm0.q" => 0.25,
            "tm1.p" => 2.0,
            "tm1.q" => 4.0,
            "tm1.r" => 8.0,
            "rules" | "tm0.rules" => 0.125,
            "tm1.rules" => 1.5,
            "words" | "tm0.words" => -0.75,
            "tm1.words" => -3.0,
            "parse" => 0.375,
            "glue" => -10.0,
            "oov" => -5.0,
            "tw.x" => 16.0,
            "ro.A.2-1" => 32.0,
            _ => 0.0,
        };
        let names = [
            "p",
            "q",
            "tm1.p",
            "tm1.q",
            "tm1.r",
            "rules",
            "tm1.rules",
            "words",
            "tm1.words",
            "parse",
            "glue",
            "oov",
            "tw.x",
            "ro.A.2-1",
        ];
        let weights = Weights::of(names.map(|name| (name, weight(name))));
        let applier = Applier::layered(&[&table, &more], &weights, DefaultRules::Always)
            .with_sparse(SparseWeights::of(&weights, &vocab));
        assert_eq!(applier.layer_count(), 2);
        assert_eq!(applier.grammar(1).map(Grammar::len), Some(more.len()));
        assert!(applier.grammar(2).is_none() && applier.overlay().is_none());
        let given = SentenceRules { own: Some(&own), number: None, ..SentenceRules::default() };
        let made = applier.forest_in(&forest, &vocab, given, &mut Workspace::default());
        let mut found: Vec<Edge> = Vec::new();
        for vertex in made.vertices() {
            for edge in made.edges(vertex) {
                let spec = made.edge(edge).spec;
                let origin = applier.origin(spec.rule);
                let mut tails: Vec<usize> = made.tails(edge).map(|tail| tail.0 as usize).collect();
                if let Origin::Rule(layer, id) = origin {
                    let grammar = applier.grammar(layer).unwrap_or(&own);
                    let order = grammar.rule(id).target().to_vec();
                    let order: Vec<u32> = order
                        .iter()
                        .filter_map(|side| if let TargetSide::Var(v) = side { Some(*v) } else { None })
                        .collect();
                    let mut sorted = vec![0; tails.len()];
                    order.iter().zip(&tails).for_each(|(&variable, &tail)| sorted[variable as usize] = tail);
                    tails = sorted;
                }
                found.push((
                    vertex.0 as usize,
                    format!("{origin:?}"),
                    tails,
                    spec.nodes,
                    rounded(spec.score),
                    rounded(made.input_score(edge)),
                ));
            }
        }
        let mut expected: Vec<Edge> = Vec::new();
        for node in forest.nodes() {
            for (number, grammar) in [&table, &more, &own].into_iter().enumerate() {
                // The sentence's own rules take the weights of the first layer.
                let of = |name: &str| weight(&format!("tm{}.{name}", number % 2));
                for id in grammar.rules() {
                    let rule = grammar.rule(id);
                    let words: Vec<_> = rule
                        .target()
                        .iter()
                        .filter_map(|side| if let TargetSide::Word(w) = side { Some(*w) } else { None })
                        .collect();
                    let swapped = rule
                        .target()
                        .iter()
                        .filter(|side| matches!(side, TargetSide::Var(_)))
                        .eq([&TargetSide::Var(1), &TargetSide::Var(0)]);
                    let label =
                        matches!(rule.source()[0], Source::Open(label, _) if vocab.text(label) == "A");
                    let mut base = of("rules") + of("words") * words.len() as f64;
                    for (name, value) in grammar.feature_names().iter().zip(grammar.features(id)) {
                        base += of(name) * f64::from(value);
                    }
                    base += 16.0 * words.iter().filter(|&&word| vocab.text(word) == "x").count() as f64;
                    base += if swapped && label { 32.0 } else { 0.0 };
                    for (bound, nodes, parse) in matches(&forest, node, rule.source()) {
                        let bound = bound.iter().map(|node| node.0 as usize).collect();
                        let origin = format!("{:?}", Origin::Rule(number, id));
                        let score = rounded(base + 0.375 * parse);
                        expected.push((node.0 as usize, origin, bound, nodes, score, rounded(parse)));
                        of_rules += 1;
                    }
                }
            }
            for way in forest.edges(node) {
                let children = forest.children(way);
                let copied = children.iter().filter(|child| matches!(child, Child::Leaf(_))).count();
                let bound = children.iter().filter_map(|child| match child {
                    Child::Node(node) => Some(node.0 as usize),
                    Child::Leaf(_) => None,
                });
                let score = -10.0 - 5.0 * copied as f64 + 0.375 * forest.score(way);
                let origin = format!("{:?}", Origin::Default(way_number(&forest, way)));
                let parse = rounded(forest.score(way));
                expected.push((node.0 as usize, origin, bound.collect(), 1, rounded(score), parse));
                of_defaults += 1;
            }
        }
        found.sort();
        expected.sort();
        assert_eq!(found, expected);
        // Words of the target side are where the rule has them.
        for edge in made.edge_ids() {
            if let Origin::Rule(layer, id) = applier.origin(made.edge(edge).spec.rule) {
                let grammar = applier.grammar(layer).unwrap_or(&own);
                let words: usize = made.target(edge).iter().map(|part| words_of(&made, part)).sum();
                let expected =
                    grammar.rule(id).target().iter().filter(|t| matches!(t, TargetSide::Word(_))).count();
                assert_eq!(words, expected);
            }
        }
    }
    assert!(of_rules > 5_000 && of_defaults > 2_000, "{of_rules} {of_defaults}");
}

fn way_number(forest: &PackedForest, way: EdgeId) -> u32 {
    let before = forest.nodes().flat_map(|node| forest.edges(node)).position(|other| other == way);
    before.unwrap() as u32
}

fn words_of(forest: &sylvan_forest::TranslationForest, part: &Target) -> usize {
    match part {
        Target::Bundle(bundle) => forest.bundle(*bundle).len(),
        Target::Vertex(_) => 0,
    }
}

#[test]
fn matches_and_marks_are_those_of_every_node() {
    let mut rng = Rng::new(18);
    let mut all = 0;
    for _ in 0..100 {
        let mut vocab = Vocab::new();
        let forest = random_forest(&mut rng, &mut vocab);
        // Rules of another forest, of which only some match here.
        let other = random_forest(&mut rng, &mut vocab);
        let grammar = random_grammar(&mut rng, &other, &mut vocab, &["p"]);
        let wanted = |node: NodeId| node.0 != 1;
        let mut found: Vec<(u32, RuleId)> = Vec::new();
        each_match(&grammar, &forest, wanted, |node, _, rules| {
            found.extend(rules.iter().map(|&id| (node.0, id)));
        });
        let mut expected: Vec<(u32, RuleId)> = Vec::new();
        let (mut filter, mut kept) = (Filter::new(0.0, 0), 0);
        filter.mark(&grammar, &forest);
        for id in grammar.rules() {
            let at = |node: NodeId| matches(&forest, node, grammar.rule(id).source()).len();
            let here = forest.nodes().filter(|&node| wanted(node));
            expected.extend(here.flat_map(|node| vec![(node.0, id); at(node)]));
            kept += u64::from(forest.nodes().any(|node| at(node) > 0));
        }
        found.sort();
        expected.sort();
        assert_eq!(found, expected);
        all += found.len();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rules");
        assert_eq!(grammar.write_filtered(&path, &filter).unwrap() as u64, kept);
    }
    assert!(all > 200, "{all}");
}

#[test]
fn leaves_of_a_source_side_are_counted_past_variables() {
    let mut vocab = Vocab::new();
    let rule = Rule::parse("S(a b x1:A c x2:B d) -> x1 x2", &mut vocab).unwrap();
    // The first variable ends before 7, the second before 20.
    let leaves = source_leaves(rule.source(), Span::new(3, 21), |variable| [7, 20][variable]);
    assert_eq!(leaves, [3, 4, 7, 20]);
}

#[test]
fn corrections_are_a_layer_of_their_own() {
    let mut vocab = Vocab::new();
    let mut builder = GrammarBuilder::new(["p"]);
    builder.add(&Rule::parse("A(a) -> x", &mut vocab).unwrap(), &[-1.0], &vocab);
    let table = builder.finish();
    let mut text = sylvan_store::TextReader::from_text("overlay", "add A(a) -> y\n");
    let (overlay, _) = sylvan_rules::Overlay::read(&mut text, &table, &mut vocab).unwrap();
    let applier = Applier::new(&table, &Weights::of([("p", 1.0)]), DefaultRules::Never);
    assert!(applier.overlay().is_none() && applier.layer_count() == 1);
    let corrected = applier.with_overlay(std::sync::Arc::new(overlay));
    assert!(corrected.overlay().is_some() && corrected.layer_count() == 2);
    assert_eq!(corrected.grammar(1).map(Grammar::len), Some(1));
}
