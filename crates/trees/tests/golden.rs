//! The two toy trees of the tree-to-string literature, and small cases of every reader, written out.
#![allow(clippy::unwrap_used)] // The helpers are tests too.

use sylvan_base::{Id, Vocab};
use sylvan_store::TextReader;
use sylvan_trees::conllu::{self, Columns};
use sylvan_trees::penn::{Brackets, Layout, parse_line};
use sylvan_trees::{
    Child, CleanUp, ConlluReader, EgretReader, NodeId, PennOptions, PennReader, Root, Tree, Unaries, egret,
};

fn read(line: &str, vocab: &mut Vocab) -> Tree {
    parse_line(line, Brackets::Keep, vocab).unwrap().unwrap()
}

/// All nodes as `LABEL@address`, top down and left to right.
fn addresses(tree: &Tree, vocab: &Vocab) -> String {
    let mut all: Vec<String> =
        tree.nodes().map(|node| format!("{}@{}", vocab.text(tree.label(node)), tree.address(node))).collect();
    all.sort_by_key(|text| text.split_once('@').unwrap().1.replace('ε', ""));
    all.join(" ")
}

#[test]
fn feng_2012_figure_1() {
    let mut vocab = Vocab::new();
    let tree = read("(IP (NP (NN1 toupiao) (NN2 jieguo)) (VP (NT wanshang) (VV gongbu)))", &mut vocab);
    assert_eq!(tree.words().len(), 4);
    assert_eq!(tree.sizes()[tree.root()], 7);
    assert_eq!(tree.sizes_all()[tree.root()], 11);
    assert_eq!(tree.depth(), 3);
    assert_eq!(addresses(&tree, &vocab), "IP@ε NP@1 NN1@1.1 NN2@1.2 VP@2 NT@2.1 VV@2.2");
}

#[test]
fn huang_mi_2010_figure_3() {
    let mut vocab = Vocab::new();
    let line = "(IP (NP Bushi) (VP (PP (P yu) (NP Shalong)) (VP (VV juxing) (AS le) (NP huitan))))";
    let tree = read(line, &mut vocab);
    assert_eq!(tree.words().len(), 6);
    assert_eq!(tree.sizes()[tree.root()], 10);
    assert_eq!(tree.sizes_all()[tree.root()], 16);
    assert_eq!(tree.depth(), 4);
    assert_eq!(
        addresses(&tree, &vocab),
        "IP@ε NP@1 VP@2 PP@2.1 P@2.1.1 NP@2.1.2 VP@2.2 VV@2.2.1 AS@2.2.2 NP@2.2.3"
    );
    // Post-order by hand: NP P NP PP VV AS NP VP VP IP.
    let labels: Vec<&str> = tree.nodes().map(|node| vocab.text(tree.label(node))).collect();
    assert_eq!(labels.join(" "), "NP P NP PP VV AS NP VP VP IP");
    let spans: Vec<String> = tree.nodes().map(|node| format!("{:?}", tree.span(node))).collect();
    assert_eq!(spans.join(" "), "[0,1) [1,2) [2,3) [1,3) [3,4) [4,5) [5,6) [3,6) [1,6) [0,6)");
    let parents: Vec<usize> = tree.parents().iter().map(|parent| parent.map_or(99, Id::index)).collect();
    assert_eq!(parents, [9, 3, 3, 8, 7, 7, 7, 8, 9, 99]);
    assert_eq!(tree.children(NodeId(3)), [Child::Node(NodeId(1)), Child::Node(NodeId(2))]);
    assert_eq!(tree.to_penn(&vocab), line);
}

#[test]
fn clean_up_step_by_step() {
    let line =
        "( (TOP (S-1 (NP-SBJ=2 (-NONE- *)) (VP (-LRB- -LRB-) (SBAR (-NONE- 0) (S (NP (-NONE- *T*-1))))))) )";
    let mut vocab = Vocab::new();
    let mut check = |clean_up: CleanUp, expected: &str| {
        let tree = read(line, &mut vocab);
        assert_eq!(clean_up.apply(tree, &mut vocab).unwrap().to_penn(&vocab), expected);
    };
    let as_written =
        "( (TOP (S-1 (NP-SBJ=2 (-NONE- *)) (VP (-LRB- -LRB-) (SBAR (-NONE- 0) (S (NP (-NONE- *T*-1))))))))";
    check(CleanUp::as_is(), as_written);
    check(CleanUp::standard(), "(S (VP (-LRB- -LRB-)))");
    check(CleanUp { root: Root::Name, ..CleanUp::standard() }, "(ROOT (TOP (S (VP (-LRB- -LRB-)))))");
    check(CleanUp { root: Root::Keep, ..CleanUp::standard() }, "( (TOP (S (VP (-LRB- -LRB-)))))");
    check(CleanUp { unaries: Unaries::Collapse, ..CleanUp::standard() }, "(S+VP (-LRB- -LRB-))");
}

#[test]
fn collapsing_keeps_parts_of_speech_and_joins_the_rest() {
    let mut vocab = Vocab::new();
    let clean_up = CleanUp { unaries: Unaries::Collapse, ..CleanUp::as_is() };
    for (line, expected) in [
        ("(S (VP (VB go)))", "(S+VP (VB go))"),
        ("(NP (NN x))", "(NP (NN x))"),
        ("(A (B (C (D x) (E (F (G y z))))))", "(A+B+C (D x) (E+F (G y z)))"),
        ("(A (B (C x)) y)", "(A (B (C x)) y)"),
    ] {
        let tree = read(line, &mut vocab);
        assert_eq!(clean_up.apply(tree, &mut vocab).unwrap().to_penn(&vocab), expected);
    }
}

#[test]
fn a_tree_of_traces_is_no_tree_and_several_trees_in_one_wrapper_stay() {
    let mut vocab = Vocab::new();
    let tree = read("( (S (NP (-NONE- *)) (-NONE- 0)) )", &mut vocab);
    assert_eq!(CleanUp::standard().apply(tree, &mut vocab), None);
    let tree = read("( (S a) (S b) )", &mut vocab);
    assert_eq!(CleanUp::standard().apply(tree, &mut vocab).unwrap().to_penn(&vocab), "(ROOT (S a) (S b))");
    let tree = read("(ROOT word)", &mut vocab);
    assert_eq!(CleanUp::standard().apply(tree, &mut vocab).unwrap().to_penn(&vocab), "(ROOT word)");
}

/// What a reader makes of a text: trees, `-` for sentences without one, and error messages.
fn penn(text: &str, options: PennOptions) -> Vec<String> {
    let mut vocab = Vocab::new();
    let mut reader = PennReader::new(TextReader::from_text("t", text), options);
    let mut out = Vec::new();
    loop {
        match reader.next_tree(&mut vocab) {
            Ok(None) => return out,
            Ok(Some(tree)) => {
                out.push(tree.map_or("-".to_string(), |tree| {
                    format!("{} {}", reader.line_number(), tree.to_penn(&vocab))
                }));
            }
            Err(error) => out.push(error.to_string()),
        }
    }
}

#[test]
fn one_tree_per_line_keeps_the_line_count() {
    let text = "(S a)\n\n (())\n()\n( )\n \t\n( ( ) )\n(S\ta  b(C d)e )";
    assert_eq!(
        penn(text, PennOptions::as_is()),
        ["1 (S a)", "-", "-", "-", "-", "-", "-", "8 (S a b (C d) e)"]
    );
    let text = "( (S (-NONE- *)) )\n(TOP (S-X -LRB-))\n";
    assert_eq!(penn(text, PennOptions::standard()), ["-", "2 (S -LRB-)"]);
    let options = PennOptions { brackets: Brackets::Unescape, ..PennOptions::as_is() };
    let mut vocab = Vocab::new();
    let tree = PennReader::new(TextReader::from_text("t", "(-LRB- :-RRB-)"), options).next_tree(&mut vocab);
    let tree = tree.unwrap().unwrap().unwrap();
    assert_eq!(vocab.join(tree.words()), ":)");
    assert_eq!(tree.to_penn(&vocab), "(-LRB- :-RRB-)");
}

#[test]
fn trees_over_many_lines_end_where_brackets_balance() {
    let options = PennOptions { layout: Layout::ManyLines, ..PennOptions::as_is() };
    let text = "\n( (S\n    (NP he)\n\n    (VP sleeps)) )\n(A a)(B b) (C\nc)\n(\n)\n";
    assert_eq!(
        penn(text, options.clone()),
        ["2 ( (S (NP he) (VP sleeps)))", "6 (A a)", "6 (B b)", "6 (C c)", "-"]
    );
    assert_eq!(
        penn("(A\n\n (B x))\n\n (S (NP\n\n", options.clone()),
        [
            "1 (A (B x))",
            "t:6: found the end of the text, expected 2 more ')'; balance the brackets; the tree that is not closed starts at line 5"
        ]
    );
    assert_eq!(
        penn("(A\n x (新 )\n(B y)", options),
        [
            "t:2:7: found ')', expected a word or '('; a node needs at least one child; write an empty parse as ()",
            "3 (B y)"
        ]
    );
}

#[test]
fn mistakes_in_brackets_are_named() {
    for (line, expected) in [
        ("(S (NP a)", "t:1:10: found the end of the text, expected ')'"),
        ("(S (NP a) (", "t:1:12: found the end of the text, expected 2 more ')'"),
        ("(S a) (S b)", "t:1:7: found '(S b)', expected the end of the line"),
        ("(S a))", "t:1:6: found ')', expected the end of the line"),
        ("S a", "t:1:1: found 'S', expected '('"),
        (")", "t:1:1: found ')', expected '('"),
        ("(S)", "t:1:3: found ')', expected a word or '('"),
        ("(S ())", "t:1:5: found ')', expected a label"),
        ("(新 ((A b)))", "t:1:5: found '(', expected a label"),
        ("(((S a)))", "t:1:3: found '(', expected a label"),
        ("(() a)", "t:1:5: found 'a', expected ')'"),
        ("(() (A b))", "t:1:5: found '(', expected ')'"),
        ("(()", "t:1:4: found the end of the text, expected ')'"),
    ] {
        let found = penn(line, PennOptions::as_is());
        assert!(found.len() == 1 && found[0].starts_with(expected), "{line}: {found:?}");
    }
}

const CONLLU: &str = "# text = vámonos al mar\n1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_\n1\tvamos\tir\tVERB\t_\tMood=Imp\t0\troot\t0:root\t_\n2\tnos\tnosotros\tPRON\tPP\t_\t1\tobj\t_\tX=1\n2.1\tx\t_\t_\t_\t_\t_\t_\t1:dep\t_\n3\tal mar\tmar\tNOUN\t_\t_\t1\tobl\t_\t_\n\n";

#[test]
fn conllu_comes_back_as_it_was() {
    let mut vocab = Vocab::new();
    let text = format!("\n\n{CONLLU}# only a comment\n\n{CONLLU}");
    let mut reader = ConlluReader::new(TextReader::from_text("t", text), Columns::All);
    let mut out = String::new();
    let mut lines = Vec::new();
    while let Some(tree) = reader.next_tree(&mut vocab).unwrap() {
        lines.push(reader.line_number());
        match tree {
            Some(tree) => conllu::write(&tree, &vocab, &mut out),
            None => out.push_str("none\n\n"),
        }
    }
    assert_eq!(out, format!("{CONLLU}none\n\n{CONLLU}"));
    assert_eq!(lines, [3, 10, 12]);
    let tree = conllu::parse_block(CONLLU.trim_end(), Columns::Basic, &mut vocab).unwrap().unwrap();
    let mut basic = String::new();
    conllu::write(&tree, &vocab, &mut basic);
    assert_eq!(
        basic,
        "1\tvamos\tir\tVERB\t_\t_\t0\troot\t_\t_\n2\tnos\tnosotros\tPRON\tPP\t_\t1\tobj\t_\t_\n3\tal mar\tmar\tNOUN\t_\t_\t1\tobl\t_\t_\n\n"
    );
}

#[test]
fn mistakes_in_conllu_are_named() {
    let row = |id: &str, head: &str| format!("{id}\tw\t_\t_\t_\t_\t{head}\t_\t_\t_\n");
    let ok = row("1", "0");
    for (text, expected) in [
        (format!("{ok}{}", row("2", "3")), "t:2:13: found '3', expected a head between 0 and 2"),
        (format!("{ok}{}", row("2", "0")), "t:2:13: found a second root, expected one root; word 1 is one"),
        (format!("{ok}{}", row("2", "2")), "t:2:13: found the head '2', which is below this word"),
        (format!("{ok}{}", row("3", "1")), "t:2:1: found '3', expected the word number 2"),
        (format!("{ok}{}", row("4-5", "_")), "t:2:1: found '4-5', expected the word number 2"),
        (format!("{ok}{}", row("2.1", "_")), "t:2:1: found '2.1', expected the word number 2"),
        (format!("{ok}{}", row("0.1", "_")), "t:2:1: found '0.1', expected the word number 2"),
        (format!("{ok}{}", row("x", "1")), "t:2:1: found 'x', expected a word number"),
        (format!("{ok}{}", row("+2", "1")), "t:2:1: found '+2', expected a word number"),
        (format!("{ok}{}", row("2", "-1")), "t:2:13: found '-1', expected the number of the head, 0 or _"),
        (format!("{ok}{}", row("2", "")), "t:2:13: found an empty column, expected HEAD or _"),
        (format!("{ok}2 w\n"), "t:2: found 1 columns, expected 10 columns"),
        (row("1", "1"), "t:1:13: found the head '1', which is below this word"),
        (format!("{}{}", row("1", "2"), row("2", "99999999999")), "t:2:13: found '99999999999'"),
    ] {
        let mut reader =
            ConlluReader::new(TextReader::from_text("t", text.clone() + "\n" + &ok), Columns::Basic);
        let mut vocab = Vocab::new();
        let error = reader.next_tree(&mut vocab).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{text}: {error}");
        assert!(reader.next_tree(&mut vocab).unwrap().unwrap().is_some(), "the next sentence is read");
    }
}

const EGRET: &str = "sentence 1 :
boats on water
NN[0,0] => boats ||| -7.5e-6
NP*[0,0] => NN[0,0] ||| -0.3
IN[1,1] => on ||| -2e-6
NN[2,2] => water ||| -0.04
NP*[2,2] => NN[2,2] ||| -0.04
PP*[1,2] => IN[1,1] NP*[2,2] ||| -0.5
NP*[0,2] => NP*[0,0] PP*[1,2] ||| -0.45
ROOT[0,2] => NP*[0,2] ||| -0.25
ROOT[0,2] => NN[0,0] PP*[1,2] ||| -2.75

";

#[test]
fn egret_forests_come_back_as_they_were() {
    let mut vocab = Vocab::new();
    // The second forest is not parsed, and the third has edges top down, twice the blanks and a node too many.
    let text = format!(
        "{EGRET}sentence 2 :\nno parse\n\n\nsentence 3 :\nx y \nA[0,1] => B[0,0]  y  ||| -1\nC[0,0] => x ||| 0\nB[0,0] => x ||| -2\nA[0,1] => x y ||| -inf"
    );
    let mut reader = EgretReader::new(TextReader::from_text("t", text));
    let mut out = String::new();
    let forest = reader.next_forest(&mut vocab).unwrap().unwrap().unwrap();
    assert_eq!((forest.len(), forest.edge_count(), forest.tree_count()), (8, 9, 2));
    egret::write(&forest, 1, &vocab, &mut out);
    assert_eq!(out, EGRET);
    let (best, score) = forest.best();
    assert_eq!(best.to_penn(&vocab), "(ROOT (NP* (NP* (NN boats)) (PP* (IN on) (NP* (NN water)))))");
    assert!((score - (-0.25 - 0.45 - 0.3 - 0.5 - 0.04 - 0.04 - 7.5e-6 - 2e-6)).abs() < 1e-12);
    assert_eq!(reader.next_forest(&mut vocab).unwrap().unwrap(), None);
    let forest = reader.next_forest(&mut vocab).unwrap().unwrap().unwrap();
    assert_eq!(reader.line_number(), 17);
    out.clear();
    egret::write(&forest, 3, &vocab, &mut out);
    assert_eq!(
        out,
        "sentence 3 :\nx y\nB[0,0] => x ||| -2.0\nA[0,1] => B[0,0] y ||| -1.0\nA[0,1] => x y ||| -inf\n\n"
    );
    assert!(reader.next_forest(&mut vocab).unwrap().is_none());
}

#[test]
fn a_sentence_without_words_has_no_forest() {
    let mut vocab = Vocab::new();
    let mut reader = EgretReader::new(TextReader::from_text("t", format!("sentence 1 :\n\n\n\n{EGRET}")));
    assert_eq!(reader.next_forest(&mut vocab).unwrap(), Some(None));
    assert!(reader.next_forest(&mut vocab).unwrap().unwrap().is_some());
    assert!(reader.next_forest(&mut vocab).unwrap().is_none());
    let mut text = String::new();
    let words = vocab.intern_words("no parse");
    egret::write_unparsed(&words, 5, &vocab, &mut text);
    assert_eq!(text, "sentence 5 :\nno parse\n\n\n");
}

#[test]
fn words_may_look_like_the_marks_of_the_format() {
    let mut vocab = Vocab::new();
    let text = "sentence 1 :\nA[0,0] => ||| B[1,1]\nA[0,0] => A[0,0] ||| 0.0\nS[0,3] => A[0,0] => ||| B[1,1] ||| -1.0\n\n";
    let forest = egret::parse_block(text.trim_end(), &mut vocab).unwrap().unwrap();
    assert_eq!(forest.best().0.to_penn(&vocab), "(S (A A[0,0]) => ||| B[1,1])");
    let mut out = String::new();
    egret::write(&forest, 1, &vocab, &mut out);
    assert_eq!(out, text);
}

#[test]
fn normalising_makes_the_edges_of_a_node_sum_to_one() {
    let mut vocab = Vocab::new();
    let mut forest = egret::parse_block(EGRET.trim_end(), &mut vocab).unwrap().unwrap();
    forest.normalise();
    for node in forest.nodes() {
        let sum: f64 = forest.edges(node).map(|edge| forest.score(edge).exp()).sum();
        assert!((sum - 1.0).abs() < 1e-12);
    }
    let ratio: Vec<f64> = forest.edges(forest.root()).map(|edge| forest.score(edge)).collect();
    assert!((ratio[0] - ratio[1] - 2.5).abs() < 1e-12);
}

#[test]
fn mistakes_in_egret_forests_are_named() {
    for (edges, expected) in [
        ("A[0,1] => x y z ||| 0", "t:3:15: found 'z', expected a node"),
        ("A[0,1] => x ||| 0", "t:3:13: found parts up to word 0, expected parts that cover 'A[0,1]'"),
        ("A[0,1] => y x ||| 0", "t:3:11: found 'y', expected a node or the word 'x'"),
        ("A[0,1] => x B[1,1] ||| 0", "t:3:13: found 'B[1,1]', expected a node that has an edge of its own"),
        ("B[1,1] => y ||| 0\nA[0,1] => B[1,1] x ||| 0", "t:4:11: found 'B[1,1]', expected a part of A[0,1]"),
        ("A[0,1] => A[0,1] ||| 0\nA[0,1] => x y ||| 0", "t:3:1: found a node that is below itself"),
        ("A[0,2] => x y ||| 0", "t:3:1: found 'A[0,2]', expected a span within the 2 words"),
        ("A[1,0] => x y ||| 0", "t:3:1: found 'A[1,0]', expected a node such as NP[0,1]"),
        ("A[0,1] -> x y ||| 0", "t:3:8: found '->', expected '=>'"),
        ("A[0,1] => x y ||| zero", "t:3:19: found 'zero', expected a log score"),
        ("A[0,1] => x y ||| nan", "t:3:19: found 'nan', expected a log score"),
        ("A[0,1] => x y", "t:3:11: found 'x', expected '|||' and one score"),
        ("A[0,1] => ||| 0", "t:3:11: found '|||', expected a node or a word"),
        ("A[0,1] =>", "t:3: found 2 fields"),
        ("A[0,0] => x ||| 0", "t:3:1: found a last node over part of the sentence"),
    ] {
        let mut vocab = Vocab::new();
        let mut reader =
            EgretReader::new(TextReader::from_text("t", format!("sentence 1 :\nx y\n{edges}\n\n{EGRET}")));
        let error = reader.next_forest(&mut vocab).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{edges}: {error}");
        assert!(reader.next_forest(&mut vocab).unwrap().unwrap().is_some(), "the next forest is read");
    }
    let mut reader = EgretReader::new(TextReader::from_text("t", "\n(S a)\n"));
    let error = reader.next_forest(&mut Vocab::new()).unwrap_err().to_string();
    assert!(error.starts_with("t:2:1: found '(S a)', expected 'sentence' and a number"), "{error}");
}
