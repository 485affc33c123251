//! `sylvan decode` and `sylvan translate` are two doors to one room: the same search, beam and input give the same
//! answers, with terms and corrections too.
#![allow(clippy::unwrap_used)]

mod common;

use common::corpus::{model, success};
use common::run_in;

#[test]
fn decode_and_translate_agree_for_every_search() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    let trees = model(folder, 400, 40, &["--rounds", "1", "--nbest", "10", "--beam", "20"]);
    // A term and a correction of what these sentences use.
    let first = success(&run_in(folder, &["explain", "--model", "m", "--input", "tree", "--json"], &trees));
    let explained: serde_json::Value = serde_json::from_str(first.lines().next().unwrap()).unwrap();
    let word = explained["source"][0].as_str().unwrap();
    std::fs::write(folder.join("terms"), format!("{word}\tzzterm zz\n")).unwrap();
    let rule = explained["steps"][0]["rule"].as_str().unwrap();
    success(&run_in(folder, &["model", "overlay", "forbid", "m", rule], ""));
    let parts = [
        "--grammar",
        "m.work/rules",
        "--lm",
        "m.work/lm",
        "--weights",
        "m.work/weights",
        "--unseen",
        "related",
    ];
    let whole = ["--model", "m", "--input", "tree", "--no-detokenize", "--threads", "2"];
    let mut changed = 0;
    for (search, more) in [
        ("cube", &[][..]),
        ("cube", &["--pops", "3"]),
        ("refine", &[]),
        ("incremental", &[]),
        ("incremental", &["--margin", "inf", "--future", "none"]),
        ("incremental", &["--pops", "5", "--future", "rough"]),
        ("prediction", &[]),
        ("prediction", &["--margin", "1.5"]),
        ("prediction", &["--work", "50"]),
        ("exact", &["--effort", "1000"]),
    ] {
        for beam in ["1", "6", "70"] {
            let common = [&["--search", search, "--beam", beam, "--nbest", "3"][..], more].concat();
            let decode = |extra: &[&str]| {
                let arguments = [&["decode", "--distinct"][..], &parts, &common, extra].concat();
                success(&run_in(folder, &arguments, &trees))
            };
            let translate = |extra: &[&str]| {
                let arguments = [&["translate"][..], &whole, &common, extra].concat();
                success(&run_in(folder, &arguments, &trees))
            };
            let plain = translate(&["--no-overlay"]);
            assert_eq!(decode(&[]), plain, "{common:?}");
            let corrected = translate(&["--glossary", "terms"]);
            assert_eq!(decode(&["--glossary", "terms", "--overlay", "m.overlay"]), corrected, "{common:?}");
            changed += usize::from(plain != corrected);
        }
    }
    assert_eq!(changed, 30, "terms and corrections must change something");
    // Without any options both are the same search, too.
    let usual = success(&run_in(folder, &[&["decode"][..], &parts].concat(), &trees));
    let whole = [&["translate", "--no-overlay"][..], &whole].concat();
    assert_eq!(usual, success(&run_in(folder, &whole, &trees)));
}
