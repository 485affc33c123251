//! What stands at the root of the crate keeps its shape: a change of it does not compile here, and wants a new version.

use std::path::Path;

use sylvan::{
    Explanation, Input, OpenConfig, Request, TextTranslator, TranslateError, TranslatedLine, TranslatedText,
};

type Told<T> = Result<T, TranslateError>;

#[test]
#[allow(clippy::type_complexity, reason = "signatures are the point")]
fn the_surface_is_what_others_build_on() {
    let _: fn(&Path, &OpenConfig) -> Told<(TextTranslator, Vec<String>)> = TextTranslator::open_with;
    let _: fn(&mut TextTranslator, &str) -> Told<String> = TextTranslator::line;
    let _: fn(&mut TextTranslator, &str, usize) -> Told<Vec<TranslatedText>> = TextTranslator::nbest;
    let _: fn(&mut TextTranslator, &str, &Request) -> Told<Option<Explanation>> = TextTranslator::explain;
    let _: fn(&mut TextTranslator, &str, &str) = TextTranslator::add_term;
    let _: fn(&mut TextTranslator, &Path) -> sylvan_base::Result<()> = TextTranslator::read_glossary;
    let _: fn(&mut TextTranslator, &[String], &str, u64, &Request) -> Told<Vec<TranslatedLine>> =
        TextTranslator::translate;
    let _: fn(&mut TextTranslator) = TextTranslator::leave_tokens;
    let _: fn(&Explanation) -> String = Explanation::json;
    let _: fn(&Explanation) -> String = Explanation::text;
    let _: fn(&Explanation) -> String = Explanation::html;
    let Request { input, best, details, threads, .. } = Request::default();
    assert!(input == Input::Text && best == 1 && !details && threads == 1);
    let OpenConfig { keep, no_overlay } = OpenConfig::default();
    assert!(keep.is_empty() && !no_overlay);
}
