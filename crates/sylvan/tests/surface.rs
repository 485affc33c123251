//! The items at the root of the crate are stable: a change to them does not compile here, and needs a new
//! version.

use std::path::Path;
use std::sync::Arc;

use sylvan::{
    Alternatives, Choice, Config, Corrections, Error, Explanation, Glossary, Input, Model, OpenOptions,
    Outcome, Progress, Request, Result, Stop, Translated, Worker, train, translate_lines, workers,
};

#[test]
#[allow(clippy::type_complexity, reason = "signatures are the point")]
fn the_surface_is_what_others_build_on() {
    let _: fn(&Path) -> Result<Model> = Model::open;
    let _: fn(&Path, &OpenOptions) -> Result<Model> = Model::open_with;
    let _: fn(&Model, &Path) -> Result<Glossary> = Model::read_glossary;
    let _: fn(&Model, &mut Glossary, &str, &str) = Model::add_term;
    let _: fn(&Model, &Path) -> Result<Option<Corrections>> = Corrections::beside;
    let _: fn(&Model, &[String]) -> Result<Corrections> = Corrections::from_lines;
    let _: fn(Arc<Model>) -> Worker = Worker::new;
    let _: fn(&mut Worker, &str, &Request) -> Result<Translated> = Worker::translate;
    let _: fn(&mut Worker, &str, &Request) -> Result<Option<Explanation>> = Worker::explain;
    let _: fn(&mut Worker, &str, [u32; 2], Option<&str>, usize, &Request) -> Result<Option<Alternatives>> =
        Worker::alternatives;
    let _: fn([u32; 2], &[&str]) -> Choice = Choice::new;
    let _: fn(&Arc<Model>, usize) -> Vec<Worker> = workers;
    let _: fn(&mut [Worker], &[String], &str, u64, &Request) -> Vec<Result<Translated>> = translate_lines;
    let _: fn(&Translated) -> &str = Translated::text;
    let _: fn(&Explanation) -> String = Explanation::json;
    let _: fn(&Explanation) -> String = Explanation::text;
    let _: fn(&Explanation) -> String = Explanation::html;
    let _: fn(&Config, &dyn Progress, &mut dyn FnMut(&str)) -> Result<Outcome> = train;
    let Request { input, search, best, details, tokens, glossary, corrections, tags, choices, stop, .. } =
        Request::default();
    assert!(input == Input::Text && search.is_none() && best == 1 && !tokens);
    assert!(!details.features && !details.links && !details.rules);
    assert!(glossary.is_none() && corrections.is_none() && tags.is_none() && choices.is_empty());
    let Stop { deadline, cancel } = stop;
    assert!(deadline.is_none() && cancel.is_none());
    let OpenOptions { keep, .. } = OpenOptions::default();
    assert!(keep.is_empty());
    // One error, which says where and why.
    let Err(error) = Model::open(Path::new("no/such/model")) else { panic!("there is no such model") };
    assert!(matches!(error, Error::Input(_)) && error.to_string().starts_with("no/such/model: "), "{error}");
}
