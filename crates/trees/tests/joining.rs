//! Runs of words made one leaf: every bracket that does not cross a run must survive, in its place.

#![allow(clippy::unwrap_used)]

mod support;

use proptest::prelude::*;
use sylvan_base::{Span, Symbol, Vocab};
use sylvan_trees::penn::{Brackets, parse_line};
use sylvan_trees::{Tree, join};

use support::{check_tree, grow, seeds};

fn joined(text: &str, runs: &[(usize, usize)]) -> String {
    let mut vocab = Vocab::new();
    let tree = parse_line(text, Brackets::default(), &mut vocab).unwrap().unwrap();
    let runs: Vec<(Span, Symbol)> =
        runs.iter().map(|&(start, end)| (Span::new(start, end), vocab.intern("T"))).collect();
    let mut out = String::new();
    sylvan_trees::penn::write(&join(&tree, &runs), &vocab, &mut out);
    out.trim().to_string()
}

#[test]
fn constituents_words_and_crossing_runs() {
    let tree = "(S (NP (DT the) (JJ old)) (VP (V man) (NP (DT the) (N boats))))";
    assert_eq!(joined(tree, &[(3, 5)]), "(S (NP (DT the) (JJ old)) (VP (V man) (NP T)))");
    assert_eq!(joined(tree, &[(2, 3)]), "(S (NP (DT the) (JJ old)) (VP (V T) (NP (DT the) (N boats))))");
    assert_eq!(joined(tree, &[(1, 3)]), "(S (DT the) (V T) (NP (DT the) (N boats)))");
    assert_eq!(joined(tree, &[(0, 1), (1, 4)]), "(S (DT T) (DT T) (N boats))");
    assert_eq!(joined(tree, &[(0, 5)]), "(S T)");
    // A unary chain over the run stays; bare words get a node labelled like the one above.
    assert_eq!(joined("(S (NP (N a)) (V b))", &[(0, 1)]), "(S (NP (N T)) (V b))");
    assert_eq!(joined("(S a b c)", &[(0, 2)]), "(S (S T) c)");
}

/// Labels and spans of all nodes.
fn brackets(tree: &Tree) -> Vec<(Symbol, Span)> {
    let mut all: Vec<(Symbol, Span)> = tree.nodes().map(|node| (tree.label(node), tree.span(node))).collect();
    all.sort();
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(support::times(500, 20_000) as u32))]

    #[test]
    fn every_bracket_that_does_not_cross_survives(
        seed in seeds("[A-D]", 40),
        cuts in prop::collection::vec((0usize..12, 1usize..5), 0..4),
    ) {
        let mut vocab = Vocab::new();
        let tree = grow(&seed, &mut vocab);
        let mark = vocab.intern("T");
        let mut runs: Vec<(Span, Symbol)> = Vec::new();
        let mut at = 0;
        for (gap, length) in cuts {
            let (start, end) = (at + gap % 3, (at + gap % 3 + length).min(tree.words().len()));
            if start < end {
                runs.push((Span::new(start, end), mark));
                at = end;
            }
        }
        let result = join(&tree, &runs);
        check_tree(&result);
        // Where a position of the old sentence is in the new one.
        let mut new = Vec::new();
        let mut words = Vec::new();
        for (position, &word) in tree.words().iter().enumerate() {
            let run = runs.iter().find(|(run, _)| run.contains(position));
            match run {
                Some((run, _)) if run.start as usize != position => {}
                Some(_) => words.push(mark),
                None => words.push(word),
            }
            new.push(words.len() - 1);
        }
        prop_assert_eq!(result.words(), words.as_slice());
        // Brackets that hold or avoid every run stay where they were; only runs without one get a new one.
        let mut expected = Vec::new();
        for (label, span) in brackets(&tree) {
            let fits = runs.iter().all(|(run, _)| {
                let apart = run.end <= span.start || span.end <= run.start;
                apart || (span.start <= run.start && run.end <= span.end)
            });
            if fits {
                expected.push((label, Span::new(new[span.start as usize], new[span.end as usize - 1] + 1)));
            }
        }
        let mut left = brackets(&result);
        for bracket in &expected {
            let place = left.iter().position(|other| other == bracket);
            prop_assert!(place.is_some(), "lost {:?}", bracket);
            left.remove(place.unwrap());
        }
        let bare = runs.iter().filter(|(run, _)| !brackets(&tree).iter().any(|(_, span)| span == run)).count();
        prop_assert_eq!(left.len(), bare);
        prop_assert!(left.iter().all(|(_, span)| span.len() == 1 && words[span.start as usize] == mark));
    }
}
