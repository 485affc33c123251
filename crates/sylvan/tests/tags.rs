//! Tags in what is translated: each comes back once, around what its words became.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;

use sylvan::{Dialect, Input, Model, Request, Translated, Worker};

fn worker() -> Worker {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats/model-v1.sylvan");
    Worker::new(Arc::new(Model::open(&path).unwrap()))
}

fn tagged(line: &str, dialect: Dialect, best: usize) -> Translated {
    let mut request = Request::list(best);
    request.tags = Some(dialect);
    worker().translate(line, &request).unwrap()
}

#[test]
fn a_pair_goes_where_its_words_went() {
    let line = "<g id=\"1\">下个月</g> 我 会 见 <g id=\"2\">我 的 <g id=\"3\">邻居</g></g> 。<x id=\"4\"/>";
    let translated = tagged(line, Dialect::Xliff, 1);
    let expected =
        "<g id=\"1\">next month</g> I will meet <g id=\"2\">my <g id=\"3\">neighbour</g></g> .<x id=\"4\"/>";
    assert_eq!(translated.text(), expected);
    // Places are those of the lines with tags.
    let best = &translated.best[0];
    for (word, span) in best.words.iter().zip(&best.spans) {
        assert_eq!(word, &best.text[span[0]..span[1]]);
    }
    for word in &translated.source {
        let [start, end] = word.span.unwrap();
        assert_eq!(word.text, line[start..end]);
    }
}

#[test]
fn whatever_the_translation_every_tag_is_there_once() {
    let line = "下个月 <b>我 会</b> <i>见 我</i> 的 <u>邻居 。</u>";
    let translated = tagged(line, Dialect::Html, 20);
    assert!(translated.best.len() > 5);
    for best in &translated.best {
        for tag in ["<b>", "</b>", "<i>", "</i>", "<u>", "</u>"] {
            assert_eq!(best.text.matches(tag).count(), 1, "{tag} in {}", best.text);
        }
    }
}

#[test]
fn what_is_kept_and_what_stands_for_a_word_is_copied() {
    let kept = tagged("下个月 我 会 见 <code>我 的</code> 邻居 。", Dialect::Html, 1);
    assert!(kept.text().contains("<code>我 的</code>"), "{}", kept.text());
    let ignored = Dialect::Xml { ignored: vec!["x".into()] };
    let word = tagged("下个月 我 会 见 <x id=\"0\"></x> 。", ignored, 1);
    assert_eq!(word.text().matches("<x id=\"0\"></x>").count(), 1, "{}", word.text());
    assert!(word.text().ends_with(" <x id=\"0\"></x> ."), "{}", word.text());
}

#[test]
fn markup_without_words_stays_and_so_do_entities() {
    assert_eq!(tagged(" <x id=\"1\"/> ", Dialect::Xliff, 1).text(), " <x id=\"1\"/> ");
    assert_eq!(tagged("", Dialect::Xliff, 1).text(), "");
    let amp = tagged("我 会 见 a&amp;b 。", Dialect::Html, 1);
    assert!(amp.text().contains("a&amp;b"), "{}", amp.text());
}

#[test]
fn trees_have_no_tags() {
    let mut request = Request::default();
    (request.tags, request.input) = (Some(Dialect::Xliff), Input::Tree);
    let error = worker().translate("(S (NP (PN 我)))", &request).unwrap_err().to_string();
    assert!(error.contains("tags") && error.contains("trees"), "{error}");
}
