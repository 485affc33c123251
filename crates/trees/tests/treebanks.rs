//! Real treebanks, every line of them, if they are there. Nothing of them is kept in the project.
#![allow(clippy::unwrap_used)] // The helpers are tests too.

mod support;

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use support::{check_tree, data, times};
use sylvan_base::Vocab;
use sylvan_store::TextReader;
use sylvan_trees::conllu::{self, Columns};
use sylvan_trees::penn::Brackets;
use sylvan_trees::{
    Child, CleanUp, ConlluReader, Direction, EgretReader, HeadRules, PackedForest, PennOptions, PennReader,
    Phrases, Statistics, Tags, Unaries, binarise, egret, projective, to_constituents, to_dependencies,
    unbinarise,
};

const TREEBANKS: [&str; 8] = [
    "craft/dev.mrg",
    "craft/train.mrg",
    "gum/dev.ptb",
    "gum/train.ptb",
    "enja/dev.en.tree",
    "enja/train.en.tree",
    "zhen/val.zh.tree",
    "zhen/train.zh.tree",
];

/// An independent tokeniser: brackets, and what stands between brackets and blanks.
fn tokens(line: &str) -> Vec<String> {
    let spaced = line.replace('(', " ( ").replace(')', " ) ");
    spaced.split([' ', '\t']).filter(|token| !token.is_empty()).map(str::to_string).collect()
}

fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap().lines().map(str::to_string).collect()
}

#[test]
fn every_line_reads_as_it_is_and_writes_back() {
    for name in TREEBANKS {
        let Some(path) = data(name) else { continue };
        let mut vocab = Vocab::new();
        let mut reader = PennReader::open(&path, PennOptions::as_is()).unwrap();
        let lines = lines(&path);
        for (index, line) in lines.iter().enumerate() {
            let tree = reader.next_tree(&mut vocab).unwrap().unwrap();
            let brackets = line.bytes().filter(|&byte| byte == b'(').count();
            assert_eq!(tree.as_ref().map_or(0, sylvan_trees::Tree::len), brackets, "{name}:{}", index + 1);
            let Some(tree) = tree else { panic!("{name}:{}: no tree", index + 1) };
            check_tree(&tree);
            // Comparing tokens is slow, so only some lines in quick mode.
            if index % times(20, 1) == 0 {
                assert_eq!(tokens(&tree.to_penn(&vocab)), tokens(line), "{name}:{}", index + 1);
            }
        }
        assert!(reader.next_tree(&mut vocab).unwrap().is_none());
    }
}

#[test]
fn every_line_can_be_cleaned() {
    for name in TREEBANKS {
        let Some(path) = data(name) else { continue };
        let mut vocab = Vocab::new();
        let mut reader = PennReader::open(&path, PennOptions::standard()).unwrap();
        let mut statistics = Statistics::new();
        while let Some(tree) = reader.next_tree(&mut vocab).unwrap() {
            statistics.add(tree.as_ref());
            let Some(tree) = tree else { continue };
            for &label in tree.labels() {
                let label = vocab.text(label);
                assert!(label.starts_with('-') || !label.contains(['-', '=']), "{name}: {label}");
                assert_ne!(label, "-NONE-", "{name}");
            }
            let root = vocab.text(tree.label(tree.root()));
            assert!(!["", "ROOT", "TOP"].contains(&root), "{name}:{}: {root}", reader.line_number());
        }
        assert_eq!(statistics.trees + statistics.empty, lines(&path).len() as u64, "{name}");
        assert!(statistics.trees > 100 * statistics.empty, "{name}\n{statistics}");
    }
}

#[test]
fn words_are_those_of_the_parallel_text() {
    for (trees, text) in [
        ("enja/dev.en.tree", "enja/dev.en"),
        ("enja/train.en.tree", "enja/train.en"),
        ("zhen/val.zh.tree", "zhen/val.zh.seg"),
        ("zhen/train.zh.tree", "zhen/train.zh.seg"),
    ] {
        let (Some(path), Some(text)) = (data(trees), data(text)) else { continue };
        let mut vocab = Vocab::new();
        let options = PennOptions { brackets: Brackets::Unescape, ..PennOptions::standard() };
        let mut reader = PennReader::open(&path, options).unwrap();
        for (index, line) in lines(&text).iter().enumerate() {
            let tree = reader.next_tree(&mut vocab).unwrap().unwrap().unwrap();
            let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
            assert_eq!(vocab.join(tree.words()), words.join(" "), "{trees}:{}", index + 1);
        }
    }
}

#[test]
fn conversions_keep_real_trees() {
    for (name, rules) in [
        ("craft/dev.mrg", HeadRules::english()),
        ("gum/dev.ptb", HeadRules::english()),
        ("enja/dev.en.tree", HeadRules::english()),
        ("zhen/val.zh.tree", HeadRules::chinese()),
    ] {
        let Some(path) = data(name) else { continue };
        let mut vocab = Vocab::new();
        let mut reader = PennReader::open(&path, PennOptions::standard()).unwrap();
        let collapse = CleanUp { unaries: Unaries::Collapse, ..CleanUp::standard() };
        let mut forests = String::new();
        let mut trees = Vec::new();
        while let Some(tree) = reader.next_tree(&mut vocab).unwrap() {
            let Some(tree) = tree else { continue };
            for direction in [Direction::Left, Direction::Right] {
                let binary = binarise(&tree, direction, &mut vocab);
                assert_eq!(binary.words(), tree.words());
                assert_eq!(unbinarise(&binary, direction, &mut vocab), tree);
            }
            let dependencies = to_dependencies(&tree, &rules, &mut vocab);
            assert!(dependencies.is_projective());
            let collapsed = collapse.apply(tree.clone(), &mut vocab).unwrap();
            assert_eq!(collapsed.words(), tree.words());
            egret::write(&PackedForest::from_tree(&tree), trees.len() as u64 + 1, &vocab, &mut forests);
            trees.push(tree);
        }
        let mut reader = EgretReader::new(TextReader::from_text("forests", forests));
        for tree in &trees {
            let forest = reader.next_forest(&mut vocab).unwrap().unwrap().unwrap();
            assert_eq!(forest.best(), (tree.clone(), 0.0), "{name}");
        }
    }
}

#[test]
fn universal_dependencies_write_back_byte_for_byte() {
    for name in ["gum/dev.conllu", "gum/train.conllu"] {
        let Some(path) = data(name) else { continue };
        let mut vocab = Vocab::new();
        let mut reader = ConlluReader::open(&path, Columns::All).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let mut out = String::new();
        let (mut arcs, mut lifted) = (0, 0);
        while let Some(tree) = reader.next_tree(&mut vocab).unwrap() {
            let tree = tree.unwrap();
            conllu::write(&tree, &vocab, &mut out);
            let (projective, changed) = projective(&tree);
            assert!(projective.is_projective());
            arcs += tree.len();
            lifted += changed;
            let constituents = to_constituents(&tree, Tags::Own, Phrases::Relation, &mut vocab).unwrap();
            assert_eq!(constituents.words(), tree.forms());
        }
        assert!(out == text, "{name} does not come back as it was");
        assert!(lifted * 50 < arcs, "{name}: {lifted} of {arcs} arcs lifted is too many for English");
    }
}

/// `LABEL child child`, where words count as `"`.
type Production = Vec<String>;

/// The productions of a source side such as `S' ( '' ( "x" ) x0:NP )`.
fn productions(source: &str) -> Vec<Production> {
    let mut open: Vec<Production> = Vec::new();
    let mut done = Vec::new();
    let tokens: Vec<&str> = source.split(' ').filter(|token| !token.is_empty()).collect();
    let add = |open: &mut Vec<Production>, label: &str| {
        if let Some(parent) = open.last_mut() {
            parent.push(label.to_string());
        }
    };
    for (index, &token) in tokens.iter().enumerate() {
        if tokens.get(index + 1) == Some(&"(") {
            add(&mut open, token);
            open.push(vec![token.to_string()]);
        } else if token == ")" {
            done.extend(open.pop());
        } else if token.len() > 1 && token.starts_with('"') && token.ends_with('"') {
            add(&mut open, "\"");
        } else if token != "(" {
            add(&mut open, token.split_once(':').unwrap().1);
        }
    }
    done
}

#[test]
fn right_binarisation_is_that_of_a_travatar_rule_table() {
    let (Some(table), Some(trees)) = (data("travatar-enja/rule-table.gz"), data("enja/train.en.tree")) else {
        return;
    };
    let mut vocab = Vocab::new();
    let mut reader = PennReader::open(&trees, PennOptions::as_is()).unwrap();
    let mut known: HashSet<Production> = HashSet::new();
    let mut ids: BTreeSet<Vec<Option<sylvan_base::Symbol>>> = BTreeSet::new();
    while let Some(tree) = reader.next_tree(&mut vocab).unwrap() {
        let tree = binarise(&tree.unwrap(), Direction::Right, &mut vocab);
        for node in tree.nodes() {
            let label = |child: &Child| match child {
                Child::Leaf(_) => None,
                Child::Node(below) => Some(tree.label(*below)),
            };
            let parts = [Some(tree.label(node))].into_iter().chain(tree.children(node).iter().map(label));
            ids.insert(parts.collect());
        }
    }
    for production in &ids {
        let text = |part: &Option<_>| part.map_or("\"".to_string(), |label| vocab.text(label).to_string());
        known.insert(production.iter().map(text).collect());
    }
    let mut rules = TextReader::open(&table).unwrap();
    let (mut number, mut binarised) = (0, 0);
    while let Some(line) = rules.next_line().unwrap() {
        // Every fifth rule in quick mode; rules come sorted, so that is a fair sample.
        number += 1;
        if !usize::is_multiple_of(number, times(5, 1)) {
            continue;
        }
        for production in productions(line.split(" ||| ").next().unwrap()) {
            binarised += usize::from(production[0].ends_with('\'') && production.len() == 3);
            assert!(
                known.contains(&production),
                "{production:?} is in the table, not in the binarised trees"
            );
        }
    }
    assert!(binarised > 1000, "{binarised}");
}
