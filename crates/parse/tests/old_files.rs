//! Parsers of every version open, and parse as they did when they were made.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use sylvan_base::Vocab;
use sylvan_parse::structured::{Keep, Parses, Perceptron, StructuredLm};
use sylvan_parse::{Kind, Parser, Workspace};

const SENTENCES: [&str; 3] = ["a cat sees dogs .", "the dog sleeps .", "unheard-of cats , see 7"];

fn open(file: &str, kind: Kind) -> Parser {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats").join(file);
    Parser::verify(&path).unwrap();
    let parser = Parser::open(&path).unwrap();
    assert_eq!(parser.kind(), kind);
    parser
}

/// Each word with its tag, its head and its relation, and the score.
fn dependencies(parser: &Parser, sentence: &str) -> String {
    let words: Vec<&str> = sentence.split(' ').collect();
    let parsed = parser.dependencies(&words, 16, None, &mut Workspace::new()).unwrap();
    let shown = words.iter().enumerate().map(|(at, word)| {
        let tag = parsed.tags[at];
        let head = parsed.heads[at].map_or("-", |head| words[head as usize]);
        let relation = &parser.relations()[usize::from(parsed.relations[at])];
        format!("{word}/{}/{}:{head}/{relation}", parser.tags()[usize::from(tag)], parser.universal_tag(tag))
    });
    format!("{} {}", shown.collect::<Vec<_>>().join(" "), parsed.score)
}

#[test]
fn version_3_of_a_constituency_parser_opens() {
    let parser = open("constituency-v3.parser", Kind::Constituency);
    let parsed = SENTENCES.map(|sentence| {
        let words: Vec<&str> = sentence.split(' ').collect();
        let mut vocab = Vocab::new();
        let parsed = parser.constituents(&words, 16, 1, &mut vocab, &mut Workspace::new());
        format!("{} {}", parsed[0].tree.to_penn(&vocab), parsed[0].score)
    });
    let expected = [
        "(S (NP (NP (D a) (N cat)) (VP (V sees) (NP (N dogs)))) (VP (N .))) 123066",
        "(S (NP (D the) (N dog)) (VP (V sleeps) (NP (N .)))) 125389",
        "(S (NP (NP (D unheard-of) (N cats)) (N ,)) (VP (V see) (NP (N 7)))) 92409",
    ];
    assert_eq!(parsed, expected);
}

#[test]
fn version_3_of_a_dependency_parser_opens() {
    let parser = open("dependency-v3.parser", Kind::Dependency);
    let expected = [
        "a/D/DET:cat/det cat/N/NOUN:sees/nsubj sees/V/VERB:-/root dogs/N/NOUN:sees/obj ././PUNCT:sees/punct 206235",
        "the/D/DET:dog/det dog/N/NOUN:sleeps/nsubj sleeps/V/VERB:-/root ././PUNCT:sleeps/punct 181343",
        "unheard-of/./PUNCT:cats/punct cats/N/NOUN:-/root ,/./PUNCT:cats/punct see/./PUNCT:cats/punct 7/./PUNCT:cats/punct 7835",
    ];
    assert_eq!(SENTENCES.map(|sentence| dependencies(&parser, sentence)), expected);
}

#[test]
fn version_3_of_a_dependency_parser_with_other_settings_opens() {
    let parser = open("dependency-paper-v3.parser", Kind::Dependency);
    assert!(Perceptron::new(parser.clone()).is_some(), "it looks one word ahead");
    let expected = [
        "a/D/DET:cat/det cat/./PUNCT:sees/nsubj sees/./PUNCT:-/root dogs/./PUNCT:sees/punct ././PUNCT:sees/punct 11439",
        "the/./PUNCT:dog/det dog/./PUNCT:-/root sleeps/./PUNCT:dog/punct ././PUNCT:dog/punct 4050",
        "unheard-of/./PUNCT:-/root cats/./PUNCT:unheard-of/punct ,/./PUNCT:cats/punct see/./PUNCT:,/punct 7/./PUNCT:see/punct 7887",
    ];
    assert_eq!(SENTENCES.map(|sentence| dependencies(&parser, sentence)), expected);
}

#[test]
fn version_3_of_a_tagger_opens() {
    let parser = open("tagger-v3.parser", Kind::Tagger);
    let tagged = SENTENCES.map(|sentence| {
        let words: Vec<&str> = sentence.split(' ').collect();
        parser.tag(&words, &mut Workspace::new()).join(" ")
    });
    let expected = ["D N V N .", "D N V .", ". N . . ."];
    assert_eq!(tagged, expected);
    assert!(parser.knows("cat") && !parser.knows("unheard-of"));
}

const CONVENTIONS: &str = "form\t(\t-LRB-\t-LRB-\nform\t)\t-RRB-\t-RRB-\nsuffix\t's\nsuffix\tn't\n";

#[test]
fn version_4_knows_how_its_treebank_writes() {
    let words = ["the", "man", "(", "left", ")", "sleeps", "."];
    let parser = open("constituency-v4.parser", Kind::Constituency);
    assert_eq!(parser.conventions().to_text(), CONVENTIONS);
    let mut vocab = Vocab::new();
    let parsed = parser.constituents(&words, 16, 1, &mut vocab, &mut Workspace::new());
    assert_eq!(
        format!("{} {}", parsed[0].tree.to_penn(&vocab), parsed[0].score),
        "(S (NP (VB the) (NN man)) (PRN (-LRB- -LRB-) (JJ left) (-RRB- -RRB-)) (VP (VBZ sleeps)) (. .)) 274099"
    );
    let tagger = open("tagger-v4.parser", Kind::Tagger);
    assert_eq!(tagger.conventions().to_text(), CONVENTIONS);
    assert_eq!(tagger.tag(&words, &mut Workspace::new()).join(" "), "VB NN -LRB- JJ -RRB- VBZ .");
    // What version 3 knows is what its words say: nothing here.
    assert_eq!(open("tagger-v3.parser", Kind::Tagger).conventions().to_text(), "");
}

#[test]
fn version_1_of_a_structured_language_model_opens() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats/generative-v1.slm");
    let StructuredLm::Generative(model) = StructuredLm::open(&path).unwrap() else {
        panic!("it is generative")
    };
    let mut parses = Parses::new(&*model);
    let parsed = SENTENCES.map(|sentence| {
        let read: Vec<_> = sentence.split(' ').map(|word| parses.read(word)).collect();
        let parse = parses.parse(&read, Keep::ENOUGH).unwrap();
        let heads: Vec<String> =
            parse.heads.iter().map(|head| head.map_or("-".into(), |head| head.to_string())).collect();
        format!("{} {:.4}", heads.join(" "), parse.score)
    });
    assert_eq!(parsed, ["1 2 - 2 2 -4.0448", "1 2 - 2 -3.5330", "2 0 3 4 - -23.4330"]);
}
