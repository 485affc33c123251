//! The evaluator against a table whose counts were made by hand.
//!
//! Each row: the right tree, the parser's tree, then brackets of the right one, brackets of the parser's, brackets in
//! both, and right tags. The reason stands above each group.
#![allow(clippy::unwrap_used)]

use sylvan_base::Vocab;
use sylvan_parse::eval::attachments::AttachmentScore;
use sylvan_parse::eval::brackets::{BracketScore, Mismatch};
use sylvan_trees::conllu::{Columns, parse_block};
use sylvan_trees::{CleanUp, Tree, penn};

fn tree(line: &str, vocab: &mut Vocab) -> Option<Tree> {
    let tree = penn::parse_line(line, penn::Brackets::Keep, vocab).unwrap()?;
    CleanUp::standard().apply(tree, vocab)
}

type Row = (&'static str, &'static str, [u64; 4]);

const TABLE: &[Row] = &[
    // Equal trees: every bracket but the parts of speech counts.
    ("(S (NP (N a)) (VP (V b)))", "(S (NP (N a)) (VP (V b)))", [3, 3, 3, 2]),
    ("(S (NP (D a) (N b)) (VP (V c)))", "(S (NP (D a) (N b)) (VP (V c)))", [3, 3, 3, 3]),
    // A wrapper does not count, whatever its name, in either tree.
    ("(ROOT (S (NP (N a)) (VP (V b))))", "(S (NP (N a)) (VP (V b)))", [3, 3, 3, 2]),
    ("( (S (NP (N a)) (VP (V b))) )", "(TOP (S (NP (N a)) (VP (V b))))", [3, 3, 3, 2]),
    ("(S1 (S (N a) (V b)))", "(S (N a) (V b))", [1, 1, 1, 2]),
    // A wrapper over several nodes cannot be dropped, but does not count either.
    ("( (NP (N a)) (VP (V b)) )", "(ROOT (NP (N a)) (VP (V b)))", [2, 2, 2, 2]),
    // A wrong label, a wrong span.
    ("(S (NP (N a)) (VP (V b)))", "(S (NP (N a)) (PP (V b)))", [3, 3, 2, 2]),
    ("(S (NP (D a) (N b)) (VP (V c)))", "(S (NP (D a)) (VP (N b) (V c)))", [3, 3, 1, 3]),
    ("(S (NP (N a) (N b)) (N c))", "(S (N a) (NP (N b) (N c)))", [2, 2, 1, 3]),
    // Missing and superfluous brackets.
    ("(S (NP (N a)) (VP (V b)))", "(S (N a) (V b))", [3, 1, 1, 2]),
    ("(S (N a) (V b))", "(S (NP (N a)) (VP (V b)))", [1, 3, 1, 2]),
    // No tree at all.
    ("(S (NP (N a)) (VP (V b)))", "", [3, 0, 0, 0]),
    ("(S (NP (N a)) (VP (V b)))", "()", [3, 0, 0, 0]),
    // A tree of one word has no bracket but those above its part of speech.
    ("(N a)", "(N a)", [0, 0, 0, 1]),
    ("(NP (N a))", "(N a)", [1, 0, 0, 1]),
    ("(FRAG (NP (N a)))", "(NP (N a))", [2, 1, 1, 1]),
    // The same bracket twice counts twice.
    ("(NP (NP (N a) (N b)))", "(NP (NP (N a) (N b)))", [2, 2, 2, 2]),
    ("(NP (NP (N a) (N b)))", "(NP (N a) (N b))", [2, 1, 1, 2]),
    ("(NP (N a) (N b))", "(NP (NP (NP (N a) (N b))))", [1, 3, 1, 2]),
    // The order of a unary chain does not matter: brackets are a bag.
    ("(S (VP (V a) (N b)))", "(VP (S (V a) (N b)))", [2, 2, 2, 2]),
    // Wrong tags change nothing but the tag accuracy.
    ("(S (NP (N a)) (VP (V b)))", "(S (NP (V a)) (VP (N b)))", [3, 3, 3, 0]),
    // Punctuation is deleted: where it hangs does not matter.
    ("(S (NP (N a)) (VP (V b)) (. .))", "(S (NP (N a)) (VP (V b) (. .)))", [3, 3, 3, 3]),
    ("(S (NP (N a) (, ,)) (VP (V b)))", "(S (NP (N a)) (, ,) (VP (V b)))", [3, 3, 3, 3]),
    ("(S (`` x) (NP (N a)) ('' y) (: z))", "(S (NP (`` x) (N a) ('' y)) (: z))", [2, 2, 2, 4]),
    ("(IP (NP (NN a)) (PU b) (VP (VV c)))", "(IP (NP (NN a) (PU b)) (VP (VV c)))", [3, 3, 3, 3]),
    // A bracket over nothing but punctuation is no bracket.
    ("(S (NP (N a)) (PRN (, ,)))", "(S (NP (N a)) (, ,))", [2, 2, 2, 2]),
    ("(S (. .))", "(S (. .))", [0, 0, 0, 1]),
    // The right tree decides what is punctuation, so that a wrong tag does not shift the spans.
    ("(S (NP (N a)) (. b))", "(S (NP (N a)) (N b))", [2, 2, 2, 1]),
    ("(S (NP (N a)) (N b))", "(S (NP (N a)) (. b))", [2, 2, 2, 1]),
    // Hyphens, brackets and symbols are words.
    ("(NP (NP (N a)) (HYPH -) (N b))", "(NP (NP (N a) (HYPH -)) (N b))", [2, 2, 1, 3]),
    (
        "(NP (-LRB- -LRB-) (NP (N a)) (-RRB- -RRB-))",
        "(NP (-LRB- -LRB-) (NP (N a) (-RRB- -RRB-)))",
        [2, 2, 1, 3],
    ),
    // Function tags, indices and traces are gone before anything is counted.
    ("(S (NP-SBJ-1 (N a)) (VP (V b)))", "(S (NP (N a)) (VP (V b)))", [3, 3, 3, 2]),
    ("(S (NP (-NONE- *T*-1)) (VP (V b)))", "(S (VP (V b)))", [2, 2, 2, 1]),
    ("(S (NP=2 (N a)) (VP (V b) (NP (-NONE- *))))", "(S (NP (N a)) (VP (V b)))", [3, 3, 3, 2]),
    // Headings count; PRT is not ADVP.
    ("(HEADING (NP (N a)))", "(HEADING (NP (N a)))", [2, 2, 2, 1]),
    ("(TITLE (NP (N a)))", "(CAPTION (NP (N a)))", [2, 2, 1, 1]),
    ("(VP (V a) (PRT (RP b)))", "(VP (V a) (ADVP (RP b)))", [2, 2, 1, 2]),
    // Words beside nodes have no tag; a missing tag is the right one only where it is missing in both.
    ("(NP a (N b))", "(NP a (N b))", [1, 1, 1, 2]),
    ("(NP a (N b))", "(NP (N a) (N b))", [1, 1, 1, 1]),
];

#[test]
fn every_row_of_the_table() {
    const { assert!(TABLE.len() >= 30) };
    for (gold, predicted, expected) in TABLE {
        let mut vocab = Vocab::new();
        let gold_tree = tree(gold, &mut vocab).unwrap();
        let predicted_tree = tree(predicted, &mut vocab);
        let mut score = BracketScore::default();
        score.add(&gold_tree, predicted_tree.as_ref(), &vocab).unwrap();
        let found = [score.gold, score.predicted, score.matched, score.tags];
        assert_eq!(found, *expected, "{gold} {predicted}");
        let exact = expected[0] == expected[1] && expected[1] == expected[2] && predicted_tree.is_some();
        assert_eq!(score.exact, u64::from(exact), "{gold} {predicted}");
    }
}

#[test]
fn figures_are_over_all_brackets_not_over_sentences() {
    let mut vocab = Vocab::new();
    let mut score = BracketScore::default();
    for (gold, predicted, _) in &TABLE[6..8] {
        let (gold, predicted) = (tree(gold, &mut vocab).unwrap(), tree(predicted, &mut vocab));
        score.add(&gold, predicted.as_ref(), &vocab).unwrap();
    }
    // 2 of 3 and 1 of 3.
    assert!((score.f1() - 50.0).abs() < 1e-9 && (score.precision() - 50.0).abs() < 1e-9);
    assert!((score.tag_accuracy() - 100.0).abs() < 1e-9);
    assert_eq!((score.sentences, score.exact), (2, 0));
}

#[test]
fn other_words_cannot_be_compared() {
    let mut vocab = Vocab::new();
    let gold = tree("(S (N a) (N b))", &mut vocab).unwrap();
    let mut check = |line: &str| {
        let other = tree(line, &mut vocab);
        BracketScore::default().add(&gold, other.as_ref(), &vocab)
    };
    assert_eq!(check("(S (N a))"), Err(Mismatch::Length { gold: 2, predicted: 1 }));
    assert_eq!(check("(S (N a) (N c))"), Err(Mismatch::Word { position: 2 }));
}

#[test]
fn attachments_with_and_without_punctuation() {
    let gold = "1\the\t_\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n\
                2\tsees\t_\tVERB\tVBZ\t_\t0\troot\t_\t_\n\
                3\tdogs\t_\tNOUN\tNNS\t_\t2\tobj\t_\t_\n\
                4\t.\t_\tPUNCT\t.\t_\t2\tpunct\t_\t_\n";
    let predicted = "1\the\t_\tPRON\tPRP\t_\t2\tobj\t_\t_\n\
                     2\tsees\t_\tNOUN\tVBZ\t_\t0\troot\t_\t_\n\
                     3\tdogs\t_\tNOUN\tNN\t_\t2\tobj\t_\t_\n\
                     4\t.\t_\tPUNCT\t.\t_\t3\tpunct\t_\t_\n";
    let mut vocab = Vocab::new();
    let mut parse = |block: &str| parse_block(block, Columns::Basic, &mut vocab).unwrap().unwrap();
    let (gold, predicted) = (parse(gold), parse(predicted));
    let mut score = AttachmentScore::default();
    score.add(&gold, &predicted, &vocab).unwrap();
    assert_eq!((score.all.words, score.all.heads, score.all.labelled), (4, 3, 2));
    let without = score.without_punctuation;
    assert_eq!((without.words, without.heads, without.labelled), (3, 3, 2));
    assert_eq!((score.xpos, score.upos, score.exact), (3, 3, 0));
    assert!((score.all.uas() - 75.0).abs() < 1e-9 && (score.all.las() - 50.0).abs() < 1e-9);
    assert!((without.las() - 200.0 / 3.0).abs() < 1e-9);
}
