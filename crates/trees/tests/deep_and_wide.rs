//! Trees 10,000 levels deep and trees with 100,000 words, through every function. A recursive function would
//! overflow the stack here, a quadratic one would not finish.
#![allow(clippy::unwrap_used)] // The helpers are tests too.

mod support;

use std::fmt::Write;

use support::check_tree;
use sylvan_base::limits::{BLOCK_BYTES, TREE_DEPTH};
use sylvan_base::{Symbol, Vocab};
use sylvan_store::TextReader;
use sylvan_trees::conllu::{self, Columns};
use sylvan_trees::penn::{Brackets, Layout, parse_line};
use sylvan_trees::{
    CleanUp, ConlluReader, DependencyTree, DependencyWord, Direction, EgretReader, Head, HeadRules,
    PackedForest, PennOptions, PennReader, Phrases, Statistics, Tags, Tree, Unaries, binarise,
    binarise_forest, egret, projective, to_constituents, to_dependencies, unbinarise,
};

/// Everything that takes a tree.
fn through_everything(line: &str) -> (Tree, Vocab) {
    let mut vocab = Vocab::new();
    let tree = parse_line(line, Brackets::Unescape, &mut vocab).unwrap().unwrap();
    check_tree(&tree);
    assert_eq!(tree.to_penn(&vocab), line);
    let options = PennOptions { layout: Layout::ManyLines, ..PennOptions::as_is() };
    let mut reader = PennReader::new(TextReader::from_text("t", line.replace(" (", "\n(")), options);
    assert_eq!(reader.next_tree(&mut vocab).unwrap(), Some(Some(tree.clone())));

    for clean_up in [CleanUp::standard(), CleanUp { unaries: Unaries::Collapse, ..CleanUp::standard() }] {
        let clean = clean_up.apply(tree.clone(), &mut vocab).unwrap();
        check_tree(&clean);
    }
    assert_eq!(tree.sizes()[tree.root()] as usize, tree.len());
    assert_eq!(tree.sizes_all()[tree.root()] as usize, tree.len() + tree.words().len());
    let deepest = tree.nodes().next().unwrap();
    assert!(!tree.address(deepest).is_empty());
    assert_eq!(tree.parents()[tree.root()], None);

    let mut statistics = Statistics::new();
    statistics.add(Some(&tree));
    assert_eq!(statistics.max_depth, tree.depth());

    for direction in [Direction::Left, Direction::Right] {
        let binary = binarise(&tree, direction, &mut vocab);
        check_tree(&binary);
        assert_eq!(unbinarise(&binary, direction, &mut vocab), tree);
    }
    for rules in [HeadRules::english(), HeadRules::chinese(), HeadRules::generic()] {
        let dependencies = to_dependencies(&tree, &rules, &mut vocab);
        assert_eq!(dependencies.len(), tree.words().len());
        assert_eq!(projective(&dependencies).1, 0);
        let back = to_constituents(&dependencies, Tags::Own, Phrases::Relation, &mut vocab).unwrap();
        assert_eq!(back.words(), tree.words());
    }

    let forest = PackedForest::from_tree(&tree);
    let mut text = String::new();
    egret::write(&forest, 1, &vocab, &mut text);
    let mut reader = EgretReader::new(TextReader::from_text("t", text));
    let forest = reader.next_forest(&mut vocab).unwrap().unwrap().unwrap();
    assert_eq!(forest.tree_count(), 1);
    assert_eq!(forest.best().0, tree);
    assert_eq!(forest.trees(2)[0].0, tree);
    for direction in [Direction::Left, Direction::Right] {
        let binary = binarise_forest(&forest, direction, &mut vocab);
        assert_eq!(binary.best().0, binarise(&tree, direction, &mut vocab));
    }
    (tree, vocab)
}

#[test]
fn a_unary_chain_of_ten_thousand() {
    let levels = 10_000;
    let (tree, _) = through_everything(&format!("{}w{}", "(NP ".repeat(levels), ")".repeat(levels)));
    assert_eq!(tree.depth(), levels);
}

#[test]
fn ten_thousand_levels_to_the_right_and_to_the_left() {
    let levels = 10_000;
    let (tree, vocab) =
        through_everything(&format!("{}(NN w){}", "(VP (VB v) ".repeat(levels), ")".repeat(levels)));
    assert_eq!(tree.depth(), levels + 1);
    assert_eq!(vocab.text(tree.words()[levels]), "w");
    through_everything(&format!("{}(NN w){}", "(NP ".repeat(levels), " b (NN c))".repeat(levels)));
}

#[test]
fn a_hundred_thousand_words_below_one_node_and_in_groups() {
    let flat = format!("(S{})", " (NN w)".repeat(100_000));
    let (tree, _) = through_everything(&flat);
    assert_eq!(tree.words().len(), 100_000);
    through_everything(&format!("(S{})", " w".repeat(100_000)));
    let group = format!(" (NP{})", " (NN w)".repeat(100));
    through_everything(&format!("(S{})", group.repeat(1000)));
}

#[test]
fn traces_below_ten_thousand_levels() {
    let levels = 10_000;
    let mut vocab = Vocab::new();
    let line = format!("(S w {}(-NONE- *){})", "(NP ".repeat(levels), ")".repeat(levels));
    let tree = parse_line(&line, Brackets::Keep, &mut vocab).unwrap().unwrap();
    assert_eq!(CleanUp::standard().apply(tree, &mut vocab).unwrap().to_penn(&vocab), "(S w)");
    let line = format!("(-NONE- {}w{})", "(NP ".repeat(levels), ")".repeat(levels));
    let tree = parse_line(&line, Brackets::Keep, &mut vocab).unwrap().unwrap();
    assert_eq!(CleanUp::standard().apply(tree, &mut vocab), None);
}

#[test]
fn broken_deep_trees_are_errors() {
    let mut vocab = Vocab::new();
    for line in ["(A ".repeat(100_000), "(".repeat(100_000), ")".repeat(100_000), "(A b ".repeat(100_000)] {
        assert!(parse_line(&line, Brackets::Keep, &mut vocab).is_err());
    }
}

/// Deeper trees are errors that name their place, before they take memory: in brackets and in forests.
#[test]
fn trees_that_are_too_deep_are_errors() {
    let mut vocab = Vocab::new();
    let chain = |levels: usize| format!("{}w{}", "(A ".repeat(levels), ")".repeat(levels));
    assert!(parse_line(&chain(TREE_DEPTH), Brackets::Keep, &mut vocab).is_ok());
    let fault = parse_line(&chain(200_000), Brackets::Keep, &mut vocab).unwrap_err();
    assert_eq!(fault.column, 3 * TREE_DEPTH + 1, "{fault}");
    assert!(fault.found.contains("more than 20000 levels"), "{fault}");
    let forest = |levels: usize| {
        let mut text = "sentence 1 :\nw\nA[0,0] => w ||| -1\n".to_string();
        for level in 2..=levels {
            let below = if level == 2 { "A[0,0]".to_string() } else { format!("A#{}[0,0]", level - 1) };
            writeln!(text, "A#{level}[0,0] => {below} ||| -1").unwrap();
        }
        EgretReader::new(TextReader::from_text("t", text)).next_forest(&mut Vocab::new())
    };
    assert_eq!(forest(TREE_DEPTH).unwrap().unwrap().unwrap().best().0.depth(), TREE_DEPTH);
    let error = forest(TREE_DEPTH + 5).unwrap_err().to_string();
    assert!(error.starts_with("t:20003:1: found a node with more than 20000 levels below it"), "{error}");
}

/// Blocks of lines that never end are errors as well.
#[test]
fn blocks_without_an_end_are_errors() {
    let line = format!("{}\n", "w ".repeat(1 << 19));
    let text = line.repeat(BLOCK_BYTES / line.len() + 2);
    let error = EgretReader::new(TextReader::from_text("t", format!("sentence 1 :\n{text}")))
        .next_forest(&mut Vocab::new())
        .unwrap_err();
    assert!(error.to_string().contains("without a blank line"), "{error}");
    let options = PennOptions { layout: Layout::ManyLines, ..PennOptions::as_is() };
    let error = PennReader::new(TextReader::from_text("t", format!("(A\n{text})")), options)
        .next_tree(&mut Vocab::new())
        .unwrap_err();
    assert!(error.to_string().contains("a tree of more than 67108864 bytes"), "{error}");
}

#[test]
fn many_trees_on_one_line() {
    let options = PennOptions { layout: Layout::ManyLines, ..PennOptions::as_is() };
    let mut reader = PennReader::new(TextReader::from_text("t", "(A b)".repeat(100_000)), options);
    let mut vocab = Vocab::new();
    let mut count = 0;
    while let Some(tree) = reader.next_tree(&mut vocab).unwrap() {
        count += tree.map_or(0, |tree| tree.len());
    }
    assert_eq!(count, 100_000);
}

/// Heads by rule, 1-based, 0 for the root.
fn dependencies(count: usize, head: impl Fn(usize) -> usize, vocab: &mut Vocab) -> DependencyTree {
    let (form, none): (Symbol, Symbol) = (vocab.intern("w"), vocab.intern("_"));
    let words = (1..=count).map(|word| DependencyWord {
        form,
        lemma: none,
        upos: none,
        xpos: none,
        feats: none,
        head: match head(word) {
            0 => Head::Root,
            head => Head::Word(head as u32 - 1),
        },
        deprel: none,
        deps: none,
        misc: none,
    });
    DependencyTree::new(words.collect()).unwrap()
}

#[test]
fn a_hundred_thousand_dependencies() {
    const COUNT: usize = 100_000;
    let mut vocab = Vocab::new();
    let shapes: [&dyn Fn(usize) -> usize; 5] = [
        &|word| word - 1,
        &|word| if word == COUNT { 0 } else { word + 1 },
        &|word| usize::from(word != 1),
        // Two chains that cross at every word, and a chain with a long arc from each of its words.
        &|word| if word <= 2 { word - 1 } else { word - 2 },
        &|word| if word * 2 > COUNT { word - COUNT / 2 } else { word - 1 },
    ];
    for (index, shape) in shapes.into_iter().enumerate() {
        let tree = dependencies(COUNT, shape, &mut vocab);
        let (lifted, changed) = projective(&tree);
        assert_eq!(changed > 0, index >= 3, "shape {index}");
        assert!(lifted.is_projective());
        let constituents = to_constituents(&tree, Tags::Universal, Phrases::Tag, &mut vocab).unwrap();
        assert_eq!(constituents.words().len(), COUNT);
        let mut text = String::new();
        conllu::write(&tree, &vocab, &mut text);
        let mut reader = ConlluReader::new(TextReader::from_text("t", text), Columns::All);
        assert_eq!(reader.next_tree(&mut vocab).unwrap(), Some(Some(tree)));
    }
}

#[test]
fn a_forest_of_exponentially_many_trees() {
    let mut vocab = Vocab::new();
    let mut text = "sentence 1 :\nw\nA0[0,0] => w ||| -1\n".to_string();
    for level in 1..5000 {
        for score in ["-1", "-2"] {
            writeln!(text, "A{level}[0,0] => A{}[0,0] ||| {score}", level - 1).unwrap();
        }
    }
    let forest =
        EgretReader::new(TextReader::from_text("t", text)).next_forest(&mut vocab).unwrap().unwrap().unwrap();
    assert_eq!(forest.tree_count(), u64::MAX);
    assert_eq!(forest.best().1, -5000.0);
    assert_eq!(forest.trees(10).len(), 10);
}
