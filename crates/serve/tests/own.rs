//! Our own interface.
#![allow(clippy::unwrap_used)]

mod running;

use std::path::PathBuf;
use std::time::Duration;

use running::{BEST, LINE, Running, model};
use serde_json::{Value, json};

/// A copy of the model, so that corrections are kept beside it.
fn copied() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.sylvan");
    std::fs::copy(model(), &path).unwrap();
    (folder, path)
}

fn text(server: &Running, more: &Value) -> String {
    let mut body = json!({ "text": LINE, "source": "zh", "target": "en" });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let (status, answer) = server.post("/v1/translate", &body);
    assert_eq!(status, 200, "{answer}");
    answer["translations"][0]["text"].as_str().unwrap().to_string()
}

#[test]
fn a_translation_comes_with_all_that_is_known() {
    let server = Running::usual();
    let line = format!("{LINE}\n{LINE}");
    let body = json!({ "text": [line, "。"], "source": "zh", "best": 3 });
    let (status, answer) = server.post("/v1/translate", &body);
    assert_eq!((status, &answer["languages"]), (200, &json!(["zh", "en"])));
    let first = &answer["translations"][0];
    assert_eq!(first["text"], json!(format!("{BEST}\n{BEST}")));
    let second = &first["sentences"][1];
    assert_eq!(second["bytes"], json!([LINE.len() + 1, 2 * LINE.len() + 1]));
    assert_eq!(second["best"].as_array().unwrap().len(), 3);
    let best = &second["best"][0];
    // Links, bytes and features say the same as the text and the score.
    let spans: Vec<[usize; 2]> = serde_json::from_value(best["spans"].clone()).unwrap();
    let words: Vec<&str> = spans.iter().map(|&[start, end]| &BEST[start..end]).collect();
    assert_eq!(json!(words), best["words"]);
    let linked =
        |source: usize, target: usize| best["links"].as_array().unwrap().contains(&json!([source, target]));
    assert!(linked(6, 6) && !linked(0, 6), "{best}");
    assert!(best["features"].as_object().unwrap().len() > 3);
    assert_eq!(second["source"][6]["text"], json!("邻居"));
    assert_eq!(second["unknown_words"], json!([]));
}

#[test]
fn searches_terms_and_tags_are_chosen_by_request() {
    let server = Running::usual();
    assert_eq!(text(&server, &json!({})), BEST);
    assert_eq!(
        text(&server, &json!({ "glossary": { "邻居": "buddy" } })),
        BEST.replace("neighbour", "buddy")
    );
    let tagged = json!({ "text": "下个月 我 会 见 我 的 <g id=\"1\">邻居</g> 。", "tags": "xliff" });
    assert_eq!(text(&server, &tagged), BEST.replace("neighbour", "<g id=\"1\">neighbour</g>"));
    let proven = server.post("/v1/translate", &json!({ "text": LINE, "search": "exact" })).1;
    assert_eq!(proven["translations"][0]["sentences"][0]["gap"], json!(0.0));
    let usual = server.post("/v1/translate", &json!({ "text": LINE })).1;
    assert_eq!(usual["translations"][0]["sentences"][0]["gap"], json!(null));
    for wrong in [
        json!({}),
        json!({ "text": 1 }),
        json!({ "text": LINE, "source": "xx" }),
        json!({ "text": LINE, "best": 0 }),
        json!({ "text": LINE, "best": "x" }),
        json!({ "text": LINE, "tags": "md" }),
        json!({ "text": LINE, "search": "x" }),
        json!({ "text": LINE, "search": "stacks" }),
        json!({ "text": LINE, "search": "cube", "beam": 0 }),
        json!({ "text": LINE, "glossary": { "a": 1 } }),
        json!({ "text": LINE, "layers": ["../x"] }),
    ] {
        let (status, answer) = server.post("/v1/translate", &wrong);
        assert!(status == 400 && answer["error"].is_string(), "{wrong}: {answer}");
    }
    assert_eq!(server.post("/v1/translate", &json!({ "text": LINE, "glossary": "x" })).0, 404);
}

#[test]
fn a_translation_is_explained() {
    let server = Running::usual();
    let (status, found) = server.post("/v1/explain", &json!({ "text": LINE, "source": "zh" }));
    assert_eq!((status, &found["translation"], &found["version"]), (200, &json!(BEST), &json!(1)));
    assert!(found["steps"].as_array().unwrap().len() > 1);
    let (_, narrow) =
        server.post("/v1/explain", &json!({ "text": LINE, "search": "incremental", "beam": 7 }));
    assert_eq!((&narrow["search"]["name"], &narrow["search"]["beam"]), (&json!("incremental"), &json!(7)));
    let page = server.post("/v1/explain", &json!({ "text": LINE, "format": "html" })).1;
    assert!(page.as_str().unwrap().starts_with("<!DOCTYPE html>"));
    assert_eq!(server.post("/v1/explain", &json!({ "text": "" })).0, 400);
    assert_eq!(server.post("/v1/explain", &json!({ "text": LINE, "format": "x" })).0, 400);
}

#[test]
fn corrections_are_listed_and_undone() {
    let (_folder, path) = copied();
    let server = Running::new(path.clone(), |_| {});
    let other = "我 会 见 我 的 邻居 。";
    let add = |translation: &str, also: &[&str]| {
        let body = json!({ "text": LINE, "translation": translation, "author": "Ann", "also": also });
        server.post("/v1/corrections", &body)
    };
    let (status, answer) = add("soon .", &[LINE, other]);
    assert_eq!((status, &answer["kept"]), (200, &json!(1)));
    assert_eq!(answer["changed"], json!([{ "text": LINE, "before": BEST, "after": "soon ." }]));
    assert_eq!(add("later .", &[]).1["changed"], json!([]));
    assert_eq!(text(&server, &json!({})), "later .");
    let (_, listed) = server.ask("GET", "/v1/corrections?source=zh&target=en", "", "");
    let said: Vec<&Value> =
        listed["corrections"].as_array().unwrap().iter().map(|one| &one["translation"]).collect();
    assert_eq!(said, [&json!("soon ."), &json!("later .")]);
    assert_eq!(listed["corrections"][0]["author"], json!("Ann"));
    let undo = || server.ask("DELETE", "/v1/corrections", "", "").1["undone"]["translation"].clone();
    assert_eq!(undo(), json!("later ."));
    assert_eq!(text(&server, &json!({})), "soon .");
    assert_eq!(undo(), json!("soon ."));
    assert_eq!(text(&server, &json!({})), BEST);
    assert_eq!(undo(), Value::Null);
    assert!(!path.with_extension("sylvan.overlay").exists());
}

/// The sentence comes as it was given and says so; others have learnt from it; undo takes all of it back.
#[test]
fn a_correction_says_what_it_taught() {
    let (_folder, path) = copied();
    let server = Running::new(path.clone(), |_| {});
    // A word that the model has never seen.
    let line = LINE.replace("邻居", "老王");
    let add = |translation: &str, more: &Value| {
        let mut body = json!({ "text": line, "translation": translation, "author": "Ann" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let (status, answer) = server.post("/v1/corrections", &body);
        assert_eq!(status, 200, "{answer}");
        answer
    };
    let sentence = |line: &str| {
        let (_, answer) = server.post("/v1/translate", &json!({ "text": line, "source": "zh" }));
        answer["translations"][0]["sentences"][0].clone()
    };
    assert_eq!(sentence(&line)["origin"], json!("model"));
    let other = "我 会 见 我 的 老王 。";
    let [first, before] = [&line, other].map(|line| sentence(line)["best"][0]["translation"].clone());
    let better = BEST.replace("neighbour", "buddy");
    let answer = add(&better, &json!({ "also": [line, other, "。"] }));
    let learnt = &answer["corrections"][0];
    assert_eq!([&learnt["origin"], &learnt["author"]], [&json!("correction"), &json!("Ann")]);
    assert_eq!([&learnt["before"], &learnt["instead_of"]], [&first, &Value::Null]);
    let rules: Vec<&str> =
        learnt["rules"].as_array().unwrap().iter().map(|rule| rule.as_str().unwrap()).collect();
    assert!(rules.iter().any(|rule| rule.contains("老王") && rule.ends_with("-> buddy")), "{rules:?}");
    assert!(!rules.iter().any(|rule| rule.contains("下个月")), "only what was new: {rules:?}");
    let after = before.as_str().unwrap().replace("老王", "buddy");
    let changed = json!([
        { "text": line, "before": first, "after": better },
        { "text": other, "before": before, "after": after },
    ]);
    assert_eq!(answer["changed"], changed);
    let told = sentence(&line);
    assert_eq!([&told["origin"], &told["correction"]["author"]], [&json!("correction"), &json!("Ann")]);
    assert_eq!(told["correction"]["time"], learnt["time"]);
    assert_eq!(sentence(other)["origin"], json!("model"));
    // Another translation of the same sentence.
    let again = add("never .", &json!({}));
    assert_eq!(again["corrections"][0]["instead_of"]["translation"], json!(better));
    assert_eq!(sentence(&line)["best"][0]["translation"], json!("never ."));
    assert_eq!(sentence(other)["best"][0]["translation"], before, "what the first one taught is gone");
    let undo = || server.ask("DELETE", "/v1/corrections", "", "").1;
    assert_eq!(undo()["undone"]["translation"], json!("never ."));
    assert_eq!(sentence(other)["best"][0]["translation"], json!(after));
    assert_eq!(undo()["undone"]["translation"], json!(better));
    assert_eq!(sentence(other)["best"][0]["translation"], before);
    // The sentence alone.
    let exact = add(&better, &json!({ "exact": true }));
    assert_eq!(exact["corrections"][0]["rules"], json!([]));
    assert_eq!(sentence(other)["best"][0]["translation"], before);
    assert_eq!(sentence(&line)["best"][0]["translation"], json!(better));
    // Somebody else may write the file, too.
    std::fs::write(path.with_extension("sylvan.overlay"), "").unwrap();
    add("x .", &json!({}));
    let (_, listed) = server.ask("GET", "/v1/corrections?source=zh&target=en", "", "");
    assert_eq!(listed["corrections"].as_array().unwrap().len(), 1);
}

#[test]
fn nothing_is_kept_that_cannot_be_read_again() {
    let (_folder, path) = copied();
    let server = Running::new(path.clone(), |_| {});
    let add = |text: &str, translation: &str, author: &str| {
        let body = json!({ "text": text, "translation": translation, "author": author });
        server.post("/v1/corrections", &body).0
    };
    for letter in ["\0", "\u{1c}", "\u{7f}", "\u{85}"] {
        assert_eq!(add(&format!("我{letter}你"), "x", ""), 400, "{letter:?}");
        assert_eq!(add("我 。", &format!("x{letter}y"), ""), 400, "{letter:?}");
    }
    assert_eq!([add("\n", "x", ""), add("我", " \n", "")], [400; 2]);
    assert!(!path.with_extension("sylvan.overlay").exists());
    // Who it was cannot be more than a name.
    assert_eq!(add("我 。", "a\tb", "Ann\nforbid x\u{1c}: y"), 200);
    let (_, listed) = server.ask("GET", "/v1/corrections", "application/json", "");
    assert_eq!(listed["corrections"].as_array().unwrap().len(), 1, "{listed}");
    drop(server);
    let server = Running::new(path, |_| {});
    let (status, undone) = server.ask("DELETE", "/v1/corrections", "application/json", "");
    assert_eq!((status, &undone["undone"]["text"]), (200, &json!("我 。")));
}

#[test]
fn a_layer_counts_only_where_it_is_asked_for() {
    let (_folder, path) = copied();
    let server = Running::new(path, |_| {});
    let add = |layer: &str, translation: &str| {
        let body = json!({ "text": LINE, "translation": translation, "layer": layer });
        server.post("/v1/corrections", &body).0
    };
    assert_eq!(add("ours", "soon ."), 200);
    assert_eq!(text(&server, &json!({})), BEST);
    assert_eq!(text(&server, &json!({ "layers": ["ours"] })), "soon .");
    assert_eq!(text(&server, &json!({ "layers": "ours,theirs" })), "soon .");
    assert_eq!(text(&server, &json!({ "layers": ["theirs"] })), BEST);
    assert_eq!(add("ours", "later ."), 200);
    assert_eq!(text(&server, &json!({ "layers": ["ours"] })), "later .");
    assert_eq!(add("../x", "x"), 400);
    let undone = server.ask("DELETE", "/v1/corrections?layer=ours", "", "").1;
    assert_eq!(undone["undone"]["translation"], json!("later ."));
    assert_eq!(text(&server, &json!({ "layers": ["ours"] })), "soon .");
}

#[test]
fn a_correction_that_takes_too_long_is_not_kept_and_holds_nobody_up() {
    let (_folder, path) = copied();
    let server = Running::new(path, |config| config.limits.request = Duration::from_secs(1));
    let many = |line: &str| vec![line; 8000].join("\n");
    let body = json!({ "text": many(LINE), "translation": many("x .") });
    assert_eq!(server.post("/v1/corrections", &body).0, 503);
    assert_eq!(server.post("/v1/corrections", &json!({ "text": LINE, "translation": "soon ." })).0, 200);
    let kept = server.ask("GET", "/v1/corrections", "", "").1;
    assert_eq!(kept["corrections"].as_array().unwrap().len(), 1);
}

#[test]
fn nobody_from_elsewhere_changes_or_sees_corrections_without_a_key() {
    let (_folder, path) = copied();
    let mut server = Running::new(path, |config| config.address = "0.0.0.0:0".parse().unwrap());
    server.address.set_ip("127.0.0.1".parse().unwrap());
    let body = json!({ "text": LINE, "translation": "x" });
    assert_eq!(server.post("/v1/corrections", &body).0, 403);
    assert_eq!(server.ask("DELETE", "/v1/corrections", "", "").0, 403);
    assert_eq!(server.ask("GET", "/v1/corrections", "", "").0, 403);
}

#[test]
fn a_key_stands_in_a_header() {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys");
    std::fs::write(&keys, "secret\n").unwrap();
    let server = Running::new(model(), |config| config.keys = Some(keys));
    assert_eq!(server.post("/v1/translate", &json!({ "text": LINE })).0, 403);
    let answer = server.raw(b"GET /v1/corrections HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer secret\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}
