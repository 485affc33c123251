//! Extraction against the worked examples and against its definition.
#![allow(clippy::unwrap_used)]

use sylvan_base::{HashMap, Rng, Symbol, Vocab};
use sylvan_corpus::{Alignment, Base, Link};
use sylvan_rules::extract::{Extracted, minimal_rules};
use sylvan_rules::{Rule, TargetSide};
use sylvan_trees::{Child, NodeId, Tree};

fn tree(text: &str, vocab: &mut Vocab) -> Tree {
    sylvan_trees::penn::parse_line(text, Default::default(), vocab).unwrap().unwrap()
}

fn links(text: &str) -> Vec<Link> {
    Alignment::parse(text, Base::Zero).unwrap().sure().to_vec()
}

fn check(source: &str, target: &str, alignment: &str, expected: &[&str]) {
    let mut vocab = Vocab::new();
    let tree = tree(source, &mut vocab);
    let target = vocab.intern_words(target);
    let rules = minimal_rules(&tree, &target, &links(alignment)).unwrap();
    let mut found: Vec<String> = rules.iter().map(|extracted| extracted.rule.show(&vocab)).collect();
    let mut expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

const BUSH: &str = "(IP (NP Bushi) (VP (PP (P yu) (NP Shalong)) (VP (VV juxing) (AS le) (NP huitan))))";

#[test]
fn huang_mi_2010_figure_2_bush_held_talks_with_sharon() {
    check(
        BUSH,
        "Bush held talks with Sharon",
        "0-0 1-3 2-4 3-1 4-1 5-2",
        &[
            "NP(Bushi) -> Bush",
            "P(yu) -> with",
            "NP(Shalong) -> Sharon",
            "PP(x1:P x2:NP) -> x1 x2",
            "NP(huitan) -> talks",
            "VP(VV(juxing) AS(le) x1:NP) -> held x1",
            "VP(x1:PP x2:VP) -> x2 x1",
            "IP(x1:NP x2:VP) -> x1 x2",
        ],
    );
}

#[test]
fn an_unlinked_source_word_frees_its_neighbour() {
    check(
        BUSH,
        "Bush held talks with Sharon",
        "0-0 1-3 2-4 3-1 5-2",
        &[
            "NP(Bushi) -> Bush",
            "P(yu) -> with",
            "NP(Shalong) -> Sharon",
            "PP(x1:P x2:NP) -> x1 x2",
            "NP(huitan) -> talks",
            "VV(juxing) -> held",
            "VP(x1:VV AS(le) x2:NP) -> x1 x2",
            "VP(x1:PP x2:VP) -> x2 x1",
            "IP(x1:NP x2:VP) -> x1 x2",
        ],
    );
}

#[test]
fn galley_2004_he_does_not_go() {
    check(
        "(S (NP (PRP he)) (VP (AUX does) (RB not) (VB go)))",
        "il ne va pas",
        "0-0 1-1 1-3 2-1 2-3 3-2",
        &[
            "S(x1:NP x2:VP) -> x1 x2",
            "NP(x1:PRP) -> x1",
            "PRP(he) -> il",
            "VP(AUX(does) RB(not) x1:VB) -> ne x1 pas",
            "VB(go) -> va",
        ],
    );
}

#[test]
fn unlinked_target_words_fall_to_the_lowest_node_around_them() {
    check(
        BUSH,
        "Bush held a meeting with Sharon",
        "0-0 1-4 2-5 3-1 5-3",
        &[
            "NP(Bushi) -> Bush",
            "P(yu) -> with",
            "NP(Shalong) -> Sharon",
            "PP(x1:P x2:NP) -> x1 x2",
            "NP(huitan) -> meeting",
            "VV(juxing) -> held",
            "VP(x1:VV AS(le) x2:NP) -> x1 a x2",
            "VP(x1:PP x2:VP) -> x2 x1",
            "IP(x1:NP x2:VP) -> x1 x2",
        ],
    );
}

#[test]
fn without_links_nothing_is_learnt_and_bad_links_are_errors() {
    let mut vocab = Vocab::new();
    let tree = tree("(S (A a) (B b))", &mut vocab);
    let target = vocab.intern_words("x y z");
    assert!(minimal_rules(&tree, &target, &[]).unwrap().is_empty());
    assert!(minimal_rules(&tree, &target, &links("2-0")).is_err());
    let error = minimal_rules(&tree, &target, &links("0-3")).unwrap_err().to_string();
    assert_eq!(error, "link 0-3, but there are 2 source and 3 target words");
}

/// Frontier nodes straight from the definition, in quadratic time.
fn is_frontier(tree: &Tree, node: NodeId, links: &[Link]) -> bool {
    let span = tree.span(node);
    let inside: Vec<u32> =
        links.iter().filter(|l| span.contains(l.source as usize)).map(|l| l.target).collect();
    if node == tree.root() {
        return !links.is_empty();
    }
    let (Some(first), Some(last)) = (inside.iter().min(), inside.iter().max()) else { return false };
    !links.iter().any(|l| !span.contains(l.source as usize) && (first..=last).contains(&&l.target))
}

/// Puts the rules together again from the root down: the target side that they spell, and the nodes expanded.
fn compose(tree: &Tree, rules: &[Extracted]) -> (Vec<Symbol>, usize) {
    let by_node: HashMap<NodeId, &Rule> = rules.iter().map(|e| (e.node, &e.rule)).collect();
    fn go(tree: &Tree, by_node: &HashMap<NodeId, &Rule>, node: NodeId, out: &mut Vec<Symbol>) -> usize {
        let rule = by_node[&node];
        // The variables' nodes: frontier nodes met on the way down from `node`, left to right.
        let mut bound = Vec::new();
        let mut open: Vec<Child> = tree.children(node).iter().rev().copied().collect();
        while let Some(child) = open.pop() {
            if let Child::Node(child) = child {
                if by_node.contains_key(&child) {
                    bound.push(child);
                } else {
                    open.extend(tree.children(child).iter().rev());
                }
            }
        }
        let mut expanded = rule.nodes() as usize;
        for token in rule.target() {
            match *token {
                TargetSide::Word(word) => out.push(word),
                TargetSide::Var(variable) => expanded += go(tree, by_node, bound[variable as usize], out),
            }
        }
        expanded
    }
    let mut out = Vec::new();
    let expanded = go(tree, &by_node, tree.root(), &mut out);
    (out, expanded)
}

#[test]
fn rules_tile_the_tree_and_spell_the_target_on_random_pairs() {
    let mut rng = Rng::new(11);
    for _ in 0..sylvan_testkit::cases(5_000, 50_000) {
        let mut vocab = Vocab::new();
        let tree = tree(&sylvan_testkit::random_instance(&mut rng).tree, &mut vocab);
        let length = 1 + rng.below(7);
        let target: Vec<Symbol> =
            (0..length).map(|_| vocab.intern(["a", "b", "c", "d"][rng.below(4)])).collect();
        let mut links = Vec::new();
        for _ in 0..rng.below(8) {
            links.push(Link {
                source: rng.below(tree.words().len()) as u32,
                target: rng.below(length) as u32,
            });
        }
        let rules = minimal_rules(&tree, &target, &links).unwrap();
        let nodes: Vec<NodeId> = rules.iter().map(|extracted| extracted.node).collect();
        let expected: Vec<NodeId> = tree.nodes().filter(|&node| is_frontier(&tree, node, &links)).collect();
        assert_eq!(nodes, expected, "{} {links:?}", tree.to_penn(&vocab));
        if !links.is_empty() {
            let (words, expanded) = compose(&tree, &rules);
            assert_eq!(words, target);
            assert_eq!(expanded, tree.len(), "each node is expanded once");
        }
    }
}
