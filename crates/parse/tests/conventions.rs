//! What treebanks write otherwise than people do is learnt, kept in the parser's file, and applied.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use sylvan_base::{Silent, Span, Vocab};
use sylvan_parse::{Conventions, Parser, TrainConfig, Workspace, train_constituency, treebank};

/// The words of a line whose tokens are those between spaces, or between `|` where there is no space.
fn cut(conventions: &Conventions, marked: &str) -> String {
    let line = marked.replace('|', "");
    let (mut spans, mut at) = (Vec::new(), 0);
    for chunk in marked.split(' ') {
        for token in chunk.split('|') {
            spans.push(Span::new(at, at + token.len()));
            at += token.len();
        }
        at += 1;
    }
    conventions.cut(&line, &spans, &[]).into_iter().map(|word| word.text).collect::<Vec<_>>().join(" ")
}

fn learnt(path: &Path) -> Conventions {
    treebank::conventions(&[path]).unwrap()
}

/// A treebank in brackets that has codes and clitics.
const PENN: &str = "\
(S (NP (DT a) (NN man)) (PRN (-LRB- -LRB-) (JJ left) (-RRB- -RRB-)) (VP (VBZ sleeps)) (. .))
(S (NP (DT a) (NN dog)) (PRN (-LRB- -LRB-) (JJ right) (-RRB- -RRB-)) (VP (VBZ does) (RB n't) (VP (VB sleep))) (. .))
(S (NP (DT the) (NN man)) (VP (VBZ does) (RB n't) (VP (VB see) (NP (NP (DT the) (NN dog) (POS 's)) (NN cat)))) (. .))
(S (NP (NP (DT the) (NN cat) (POS 's)) (NN dog)) (PRN (-LRB- -LRB-) (JJ left) (-RRB- -RRB-)) (VP (VBZ sleeps)) (. .))
";

#[test]
fn brackets_reach_the_parser_as_the_treebank_has_them_and_come_back_as_written() {
    let folder = tempfile::tempdir().unwrap();
    let (bank, file) = (folder.path().join("bank"), folder.path().join("parser"));
    std::fs::write(&bank, PENN).unwrap();
    let mut vocab = Vocab::new();
    let trees: Vec<_> =
        treebank::read_constituents(&bank, &mut vocab).unwrap().into_iter().flatten().collect();
    let rules = treebank::head_rules(&trees, &vocab);
    let config = TrainConfig { conventions: learnt(&bank), epochs: 8, ..TrainConfig::default() };
    let parser = train_constituency(&trees, &[], &rules, &mut vocab, &config, &Silent, &mut |_| {}).unwrap();
    parser.write(&file).unwrap();
    let parser = Parser::open(&file).unwrap();
    assert_eq!(parser.conventions(), &config.conventions);
    let parse = |text: &str| {
        let words: Vec<&str> = text.split(' ').collect();
        let mut vocab = Vocab::new();
        let parsed = parser.constituents(&words, 8, 1, &mut vocab, &mut Workspace::new());
        let leaves = vocab.join(parsed[0].tree.words());
        (parsed[0].tree.to_penn(&vocab), leaves, parsed[0].score)
    };
    let (plain, coded) = (parse("the man ( left ) sleeps ."), parse("the man -LRB- left -RRB- sleeps ."));
    assert!(plain.0.contains("(PRN (-LRB- -LRB-) (JJ left) (-RRB- -RRB-))"), "{}", plain.0);
    assert_eq!((&plain.0, plain.2), (&coded.0, coded.2));
    assert_eq!(plain.1, "the man ( left ) sleeps .", "the leaves are what was given");
    // Typographic apostrophes are worth as much as plain ones.
    assert_eq!(parse("the dog does n’t sleep .").2, parse("the dog does n't sleep .").2);
}

#[test]
fn what_two_small_treebanks_do_is_learnt() {
    let folder = tempfile::tempdir().unwrap();
    let bank = folder.path().join("bank");
    std::fs::write(&bank, PENN).unwrap();
    let penn = learnt(&bank);
    assert_eq!(penn.to_text(), "form\t(\t-LRB-\t-LRB-\nform\t)\t-RRB-\t-RRB-\nsuffix\t's\nsuffix\tn't\n");
    assert_eq!(cut(&penn, "The man|'s cat didn|'t|."), "The man 's cat did n't .");
    let line = |id: &str, form: &str, head: &str, misc: &str| {
        let other =
            if id.contains('-') { "_\t_\t_\t_\t_\t_".into() } else { format!("_\tX\t_\t_\t{head}\tdep") };
        format!("{id}\t{form}\t{other}\t_\t{misc}\n")
    };
    let text = [
        line("1", "Er", "0", "_"),
        line("2-3", "zum", "", "SpaceAfter=No"),
        line("2", "zu", "1", "_"),
        line("3", "dem", "1", "_"),
        line("4", "(", "1", "SpaceAfter=No"),
        line("5-6", "Zum", "", "_"),
        line("5", "Zu", "1", "_"),
        line("6", "dem", "1", "_"),
    ];
    std::fs::write(&bank, text.concat() + "\n").unwrap();
    let german = learnt(&bank);
    assert_eq!(german.to_text(), "form\t-LRB-\t(\t(\nword\tzum\tzu\tdem\n");
    assert_eq!(cut(&german, "Zum|, bis"), "Zu dem , bis");
    // Some treebanks say what is joined only in the text of a sentence.
    let text = ["# text = l'homme, l'eau l'air\n".to_string()].into_iter().chain(
        ["l'", "homme", ",", "l'", "eau", "l'", "air"]
            .iter()
            .enumerate()
            .map(|(at, form)| line(&(at + 1).to_string(), form, if at == 0 { "0" } else { "1" }, "_")),
    );
    std::fs::write(&bank, text.collect::<String>() + "\n").unwrap();
    assert_eq!(learnt(&bank).to_text(), "prefix\tl'\n");
}

#[test]
fn what_real_treebanks_do_is_learnt() {
    for (bank, pairs) in [
        ("gum/train.ptb", &ENGLISH[..]),
        ("gum/train.conllu", &ENGLISH[..]),
        ("ud/de/train.conllu", &[("Zum Haus im|, ins", "Zu dem Haus in dem , in das")][..]),
        (
            "ud/fr/train.conllu",
            &[("l’|homme du port|, aux aujourd'|hui", "l’ homme de le port , à les aujourd'hui")][..],
        ),
        ("ud/cs/train.conllu", &[("aby abych", "aby by aby bych")][..]),
    ] {
        let Some(path) = sylvan_testkit::data(bank) else { continue };
        let conventions = learnt(&path);
        for (marked, words) in pairs {
            assert_eq!(&cut(&conventions, marked), words, "{bank}");
        }
    }
}

const ENGLISH: [(&str, &str); 3] = [
    ("I don|'t know|, Peter|’s can|'t|.", "I do n't know , Peter ’s ca n't ."),
    ("We|'re gonna cannot", "We 're gon na can not"),
    ("O|'Neil o|'clock", "O'Neil o'clock"),
];
