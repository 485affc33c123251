//! What is written reads back the same, and conversions keep what they promise, on random trees and forests.
#![allow(clippy::unwrap_used)] // The helpers are tests too.

mod support;

use proptest::prelude::*;
use proptest::test_runner::Config;
use support::{any_token, check_tree, grow, random_forest, seeds, times};
use sylvan_base::{Rng, Symbol, Vocab};
use sylvan_store::TextReader;
use sylvan_trees::conllu::{self, Columns};
use sylvan_trees::penn::{Brackets, Layout, parse_line};
use sylvan_trees::{
    CleanUp, DependencyTree, DependencyWord, Direction, ExtraLine, Head, HeadRules, PackedForest,
    PennOptions, PennReader, Phrases, Root, Step, Tags, Tree, Unaries, binarise, binarise_forest, egret,
    projective, to_constituents, to_dependencies, unbinarise,
};

fn config() -> Config {
    Config { cases: times(200, 5000) as u32, failure_persistence: None, ..Config::default() }
}

fn words(tree: &Tree, vocab: &Vocab) -> String {
    vocab.join(tree.words())
}

/// Dependency trees: heads as offsets into a random order, and columns of any text without tabs.
fn sentences() -> impl Strategy<Value = Vec<(u32, Vec<String>)>> {
    let field = "[^\\p{C}]{1,4}".prop_filter("only blanks make a blank line", |text| !text.trim().is_empty());
    prop::collection::vec((any::<u32>(), prop::collection::vec(field, 8)), 1..8)
}

fn sentence(rows: &[(u32, Vec<String>)], complete: bool, vocab: &mut Vocab) -> DependencyTree {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&word| rows[word].0.rotate_left(16));
    let mut heads = vec![Head::Root; rows.len()];
    for (index, &word) in order.iter().enumerate().skip(1) {
        let above = order[rows[word].0 as usize % index] as u32;
        heads[word] =
            if !complete && rows[word].0.is_multiple_of(3) { Head::Missing } else { Head::Word(above) };
    }
    let word = |(row, head): (&(u32, Vec<String>), Head)| {
        let symbols: Vec<Symbol> = row.1.iter().map(|text| vocab.intern(text)).collect();
        DependencyWord {
            form: symbols[0],
            lemma: symbols[1],
            upos: symbols[2],
            xpos: symbols[3],
            feats: symbols[4],
            head,
            deprel: symbols[5],
            deps: symbols[6],
            misc: symbols[7],
        }
    };
    DependencyTree::new(rows.iter().zip(heads).map(word).collect()).unwrap()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn penn_trees_read_back(seed in seeds(any_token(), 40)) {
        let mut vocab = Vocab::new();
        let tree = grow(&seed, &mut vocab);
        let line = tree.to_penn(&vocab);
        let back = parse_line(&line, Brackets::Keep, &mut vocab).unwrap().unwrap();
        check_tree(&back);
        prop_assert_eq!(&back, &tree);
        prop_assert_eq!(back.to_penn(&vocab), line);
    }

    #[test]
    fn words_with_brackets_and_blanks_read_back_escaped(seed in seeds("[a()\\[ ]{0,3}", 20)) {
        let mut vocab = Vocab::new();
        let tree = grow(&seed, &mut vocab);
        let line = tree.to_penn(&vocab);
        let back = parse_line(&line, Brackets::Unescape, &mut vocab).unwrap().unwrap();
        let expected = tree.words().iter().map(|&word| vocab.text(word).replace(' ', "\u{a0}"));
        let expected: Vec<String> = expected.map(|word| if word.is_empty() { "_".into() } else { word }).collect();
        let found: Vec<&str> = back.words().iter().map(|&word| vocab.text(word)).collect();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(back.len(), tree.len());
    }

    #[test]
    fn white_space_between_tokens_means_nothing(seed in seeds(any_token(), 30), breaks in any::<u64>()) {
        let mut vocab = Vocab::new();
        let trees = [grow(&seed, &mut vocab), grow(&seed[..seed.len() / 2].to_vec(), &mut vocab)];
        let mut rng = Rng::new(breaks);
        let mut text = String::new();
        for tree in &trees {
            for c in tree.to_penn(&vocab).chars() {
                match c {
                    ' ' => text.push_str(rng.pick::<&str>(&[" ", "\n", "\n\n  ", "\t", "\r\n"])),
                    '(' | ')' if rng.chance(0.3) => text.extend([c, *rng.pick(&[' ', '\n'])]),
                    c => text.push(c),
                }
            }
            text.push_str(rng.pick::<&str>(&["", "\n", " \n\n"]));
        }
        let options = PennOptions { layout: Layout::ManyLines, ..PennOptions::as_is() };
        let mut reader = PennReader::new(TextReader::from_text("t", text), options);
        for tree in &trees {
            let back = reader.next_tree(&mut vocab).unwrap().unwrap().unwrap();
            prop_assert_eq!(&back, tree);
        }
        prop_assert!(reader.next_tree(&mut vocab).unwrap().is_none());
    }

    #[test]
    fn walking_rebuilds_and_sizes_agree(seed in seeds(any_token(), 40)) {
        let mut vocab = Vocab::new();
        let tree = grow(&seed, &mut vocab);
        let (sizes, all, parents) = (tree.sizes(), tree.sizes_all(), tree.parents());
        for node in tree.nodes() {
            // The slow twins: climb from every node and every word.
            let is_above = |mut at: sylvan_trees::NodeId| loop {
                if at == node { return true }
                match parents[at] { Some(parent) => at = parent, None => return false }
            };
            let below = tree.nodes().filter(|&other| is_above(other)).count() as u32;
            prop_assert_eq!(sizes[node], below);
            prop_assert_eq!(all[node], below + tree.span(node).len() as u32);
            let opened = tree.walk().filter(|&step| step == Step::Open(node)).count();
            prop_assert_eq!(opened, 1);
            let depth = tree.nodes().filter(|&other| is_above_of(&parents, other, node)).count();
            let address = tree.address(node);
            prop_assert_eq!(address.split('.').filter(|part| *part != "ε").count() + 1, depth);
            prop_assert!(depth <= tree.depth());
        }
    }

    #[test]
    fn clean_up_keeps_real_words_and_is_done_after_once(seed in seeds(clean_token(), 40), collapse in any::<bool>()) {
        let mut vocab = Vocab::new();
        let tree = grow(&seed, &mut vocab);
        let unaries = if collapse { Unaries::Collapse } else { Unaries::Keep };
        let clean_up = CleanUp { unaries, ..CleanUp::standard() };
        // The slow twin: words without a -NONE- above them.
        let parents = tree.parents();
        let mut kept = Vec::new();
        let mut path = Vec::new();
        for step in tree.walk() {
            match step {
                Step::Open(node) => path.push(node),
                Step::Close(_) => { path.pop(); }
                Step::Leaf(at) => if !path.iter().any(|&node| vocab.text(tree.label(node)) == "-NONE-") {
                    kept.push(tree.words()[at as usize]);
                }
            }
        }
        prop_assert_eq!(parents.len(), tree.len());
        match clean_up.apply(tree, &mut vocab) {
            None => prop_assert!(kept.is_empty()),
            Some(clean) => {
                check_tree(&clean);
                prop_assert_eq!(clean.words(), kept);
                for node in clean.nodes() {
                    let label = vocab.text(clean.label(node));
                    let bare = |part: &str| part.starts_with(['-', '=']) || !part.contains(['-', '=']);
                    prop_assert!(label.split('+').all(bare), "{}", label);
                }
                // A joined label can hold a '-' that a second round would take for a tag.
                if !collapse {
                    prop_assert_eq!(clean_up.apply(clean.clone(), &mut vocab), Some(clean));
                }
            }
        }
    }

    #[test]
    fn nothing_to_clean_changes_nothing(seed in seeds("[A-Z]{1,3}", 40)) {
        let mut vocab = Vocab::new();
        let tree = grow(&seed, &mut vocab);
        prop_assert_eq!(CleanUp::as_is().apply(tree.clone(), &mut vocab), Some(tree.clone()));
        let kept_root = CleanUp { root: Root::Keep, ..CleanUp::standard() };
        prop_assert_eq!(kept_root.apply(tree.clone(), &mut vocab), Some(tree));
    }

    #[test]
    fn binarisation_can_be_undone(seed in seeds("[A-Z]{1,3}", 60)) {
        let mut vocab = Vocab::new();
        let tree = grow(&seed, &mut vocab);
        for direction in [Direction::Left, Direction::Right] {
            let binary = binarise(&tree, direction, &mut vocab);
            check_tree(&binary);
            prop_assert_eq!(binary.words(), tree.words());
            prop_assert!(binary.nodes().all(|node| binary.children(node).len() <= 2));
            let more: usize = tree.nodes().map(|node| tree.children(node).len().saturating_sub(2)).sum();
            prop_assert_eq!(binary.len(), tree.len() + more);
            prop_assert_eq!(binarise(&binary, direction, &mut vocab), binary.clone());
            prop_assert_eq!(unbinarise(&binary, direction, &mut vocab), tree.clone());
            let forest = binarise_forest(&PackedForest::from_tree(&tree), direction, &mut vocab);
            prop_assert_eq!(forest.best(), (binary, 0.0));
        }
    }

    #[test]
    fn heads_are_words_of_their_nodes_and_make_projective_trees(seed in seeds(any_token(), 40)) {
        let mut vocab = Vocab::new();
        let tree = grow(&seed, &mut vocab);
        for rules in [HeadRules::english(), HeadRules::chinese(), HeadRules::generic()] {
            let heads = rules.heads(&tree, &vocab);
            for node in tree.nodes() {
                prop_assert!(tree.span(node).contains(heads.word[node] as usize));
            }
            let dependencies = to_dependencies(&tree, &rules, &mut vocab);
            prop_assert!(dependencies.is_projective());
            prop_assert_eq!(dependencies.forms(), tree.words());
            prop_assert_eq!(dependencies.root(), Some(heads.word[tree.root()] as usize));
        }
    }

    #[test]
    fn conllu_reads_back(rows in sentences(), complete in any::<bool>(), extra in 0u32..4) {
        let mut vocab = Vocab::new();
        let mut tree = sentence(&rows, complete, &mut vocab);
        tree.comments.push("# text = any".into());
        let id = extra.min(tree.len() as u32);
        tree.extra_lines.push(ExtraLine { after: id, text: format!("{id}.1\tx\t_\t_\t_\t_\t_\t_\t_\t_") });
        let mut text = String::new();
        conllu::write(&tree, &vocab, &mut text);
        let back = conllu::parse_block(text.trim_end_matches('\n'), Columns::All, &mut vocab).unwrap().unwrap();
        prop_assert_eq!(back, tree);
    }

    #[test]
    fn dependencies_become_constituents_over_the_same_words(rows in sentences(), relation in any::<bool>()) {
        let mut vocab = Vocab::new();
        let tree = sentence(&rows, true, &mut vocab);
        let phrases = if relation { Phrases::Relation } else { Phrases::Tag };
        let constituents = to_constituents(&tree, Tags::Own, phrases, &mut vocab).unwrap();
        check_tree(&constituents);
        prop_assert_eq!(constituents.words(), tree.forms());
        // One node per word, and one phrase per word with dependents; each covers the words below it.
        let (lifted, _) = projective(&tree);
        let dependents = lifted.dependents();
        let phrases = (0..lifted.len()).filter(|&word| !dependents.get(word).is_empty()).count();
        prop_assert_eq!(constituents.len(), tree.len() + phrases);
        let spans: Vec<_> = constituents.nodes().map(|node| constituents.span(node).range()).collect();
        for word in 0..lifted.len() {
            let below: Vec<usize> = (0..lifted.len()).filter(|&other| reaches(&lifted, other, word)).collect();
            prop_assert!(spans.contains(&(below[0]..below[below.len() - 1] + 1)));
        }
    }

    #[test]
    fn forests_read_back_and_hold_their_trees(seed in any::<u64>()) {
        let mut vocab = Vocab::new();
        let forest = random_forest(&mut Rng::new(seed), &mut vocab);
        let mut text = String::new();
        egret::write(&forest, 7, &vocab, &mut text);
        let back = egret::parse_block(text.trim_end_matches('\n'), &mut vocab).unwrap().unwrap();
        prop_assert_eq!(&back, &forest, "{}", text);

        let count = forest.tree_count();
        let trees = forest.trees(300);
        prop_assert_eq!(trees.len() as u64, count.min(300));
        for (tree, _) in &trees {
            check_tree(tree);
            prop_assert_eq!(tree.words(), forest.words());
        }
        if count <= 300 {
            // Brute force; scores are multiples of 1/64, so sums are exact and ties are ties.
            let most = trees.iter().map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max);
            let (best, score) = forest.best();
            prop_assert_eq!(score, most);
            prop_assert!(trees.iter().any(|(tree, score)| *score == most && *tree == best));
        }
    }

    #[test]
    fn binarised_forests_hold_the_same_trees_with_the_same_scores(seed in any::<u64>()) {
        let mut vocab = Vocab::new();
        let forest = random_forest(&mut Rng::new(seed), &mut vocab);
        prop_assume!(forest.tree_count() <= 200);
        let lines = |forest: &PackedForest, undo: Option<Direction>, vocab: &mut Vocab| {
            let mut lines: Vec<(String, u64)> = Vec::new();
            for (tree, score) in forest.trees(1000) {
                let tree = if let Some(direction) = undo { unbinarise(&tree, direction, vocab) } else { tree };
                lines.push((tree.to_penn(vocab), score.to_bits()));
            }
            lines.sort();
            lines
        };
        for direction in [Direction::Left, Direction::Right] {
            let binary = binarise_forest(&forest, direction, &mut vocab);
            for node in binary.nodes() {
                prop_assert!(binary.edges(node).all(|edge| binary.children(edge).len() <= 2));
            }
            prop_assert_eq!(lines(&binary, Some(direction), &mut vocab), lines(&forest, None, &mut vocab));
        }
    }
}

fn is_above_of(
    parents: &sylvan_base::IndexVec<sylvan_trees::NodeId, Option<sylvan_trees::NodeId>>,
    above: sylvan_trees::NodeId,
    mut at: sylvan_trees::NodeId,
) -> bool {
    loop {
        if at == above {
            return true;
        }
        match parents[at] {
            Some(parent) => at = parent,
            None => return false,
        }
    }
}

fn reaches(tree: &DependencyTree, mut from: usize, to: usize) -> bool {
    loop {
        if from == to {
            return true;
        }
        match tree.head(from) {
            Head::Word(head) => from = head as usize,
            _ => return false,
        }
    }
}

fn clean_token() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[A-C]{1,2}",
        2 => Just("-NONE-".to_string()),
        1 => Just("ROOT".to_string()),
        1 => "[A-C]{1,2}[-=]{1,2}[A-Z0-9]{0,2}",
        1 => "[-=][A-C]{1,2}-",
    ]
}

#[test]
fn joined_words_are_the_sentence() {
    let mut vocab = Vocab::new();
    let tree = parse_line("(S (A a) b (C (D c)))", Brackets::Keep, &mut vocab).unwrap().unwrap();
    assert_eq!(words(&tree, &vocab), "a b c");
}
