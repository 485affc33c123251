//! The examples of `docs/sample-corpus.md` are what the generator gives.

#[path = "../examples/show/page.rs"]
mod page;

#[test]
fn the_examples_of_the_page_are_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sample-corpus.md");
    let text = std::fs::read_to_string(path).expect("docs/sample-corpus.md is part of the repository");
    let (_, examples) =
        text.split_once("<!-- examples -->\n\n").expect("the page has a mark before its examples");
    let made = page::examples();
    let advice = "run `cargo run --release -p sylvan-sample --example show -- page` and paste";
    assert_eq!(examples.trim_end(), made.trim_end(), "{advice}");
}

#[test]
fn the_page_shows_every_phenomenon() {
    let sampler = sylvan_sample::Sampler::new(sylvan_sample::Config::default()).unwrap();
    let made = page::examples();
    for name in sampler.grammar().phenomena() {
        let shown = made.lines().filter(|line| line.starts_with("### "));
        let shown = shown.flat_map(|line| line.split([':', ',']).map(str::trim)).any(|other| other == name);
        assert!(shown, "{name}");
    }
}
