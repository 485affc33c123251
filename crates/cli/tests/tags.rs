//! Tags on the command line: `sylvan translate --tags` and `sylvan tags`.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;

fn out(folder: &Path, arguments: &[&str], input: &str) -> String {
    let output = common::run_in(folder, arguments, input);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn tags_are_taken_out_and_put_back() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let source = "the <g id=\"1\">red</g> house &amp; garden\n<x id=\"1\"/>a note<x id=\"2\"/>.\n";
    write("source", source);
    assert_eq!(
        out(folder.path(), &["tags", "strip", "--tags", "xliff"], source),
        "the red house & garden\na note.\n"
    );
    write("target", "la maison rouge & jardin\nune note.\n");
    write("links", "0-0 1-2 2-1 3-3 4-4\n0-0 1-1 2-2\n");
    let place =
        ["tags", "place", "--tags", "xliff", "--langs", "en", "fr", "--links", "links", "source", "target"];
    let placed = "la maison <g id=\"1\">rouge</g> &amp; jardin\n<x id=\"1\"/>une note<x id=\"2\"/>.\n";
    assert_eq!(out(folder.path(), &place, ""), placed);
    write("placed", placed);
    write("wanted", &placed.replace("maison <g id=\"1\">", "<g id=\"1\">maison "));
    let score = out(folder.path(), &["tags", "score", "placed", "wanted"], "");
    let expected = "tags in place: 75.0 % (3 of 4)\nwith text on both sides: 66.7 % (2 of 3)\n\
                    at an edge: 100.0 % (1 of 1)\nlines with all tags in place: 50.0 % (1 of 2)\n\
                    lines with the same tags: 100.0 % (2 of 2)\n";
    assert_eq!(score, expected);
    // A link to a word that is not there, and a line too few, are errors that say where.
    let fails = |wanted: &str| {
        let output = common::run_in(folder.path(), &place, "");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains(wanted), "{said}");
    };
    write("links", "0-0 1-9\n0-0\n");
    fails("links:1");
    write("links", "0-0\n");
    fails("different numbers of lines");
}

#[test]
fn a_translation_has_the_tags_of_its_source() {
    let folder = tempfile::tempdir().unwrap();
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sylvan/tests/formats/model-v1.sylvan");
    let model = model.to_str().unwrap();
    let line = "<g id=\"1\">下个月</g> 我 会 见 我 的 邻居 。\n";
    let tagged = out(folder.path(), &["translate", "--model", model, "--tags", "xliff"], line);
    assert_eq!(tagged, "<g id=\"1\">next month</g> I will meet my neighbour .\n");
    let json = out(folder.path(), &["translate", "--model", model, "--tags", "html", "--json"], line);
    assert!(json.contains("\"translation\":\"<g id=\\\"1\\\">next month</g> I will"), "{json}");
}
