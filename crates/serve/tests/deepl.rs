//! DeepL's interface, asked as its clients do.
#![allow(clippy::unwrap_used)]

mod running;

use std::path::PathBuf;

use running::{BEST, LINE, Running, model};
use serde_json::{Value, json};

const FORM: &str = "application/x-www-form-urlencoded";

/// A copy of the model, so that glossaries are kept beside it.
fn copied() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.sylvan");
    std::fs::copy(model(), &path).unwrap();
    (folder, path)
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[test]
fn texts_are_translated() {
    let server = Running::usual();
    let one = json!({ "detected_source_language": "ZH", "text": BEST });
    let two = json!({ "text": [LINE, LINE], "target_lang": "EN-US" });
    assert_eq!(server.post("/v2/translate", &two), (200, json!({ "translations": [one, one] })));
    let form =
        format!("text={0}&text={0}&target_lang=en-gb&source_lang=ZH&show_billed_characters=1", encoded(LINE));
    let (status, answer) = server.ask("POST", "/v2/translate", FORM, &form);
    let first = &answer["translations"][1];
    assert_eq!((status, &first["text"]), (200, &json!(BEST)));
    assert_eq!(first["billed_characters"], json!(LINE.chars().count()));
    assert!(first.get("model_type_used").is_none());
    // Sentences are split, unless that is not wished for.
    let split = |how: Value| {
        let body =
            json!({ "text": [format!("{LINE}\n{LINE}")], "target_lang": "EN-US", "split_sentences": how });
        server.post("/v2/translate", &body).1["translations"][0]["text"].as_str().unwrap().to_string()
    };
    assert_eq!(split(json!("1")), format!("{BEST}\n{BEST}"));
    let typed = json!({ "text": LINE, "target_lang": "EN-US", "model_type": "quality_optimized" });
    let (_, answer) = server.post("/v2/translate", &typed);
    assert_eq!(answer["translations"][0]["model_type_used"], json!("latency_optimized"));
}

#[test]
fn a_text_may_be_one_sentence() {
    let server = Running::usual();
    let ask = |how: Value| {
        let text = "我 会 见 你 。我 会 见 你 。";
        let body = json!({ "text": [text], "target_lang": "EN-US", "split_sentences": how });
        server.post("/v2/translate", &body).1["translations"][0]["text"].as_str().unwrap().to_string()
    };
    let alone = server.post("/v2/translate", &json!({ "text": "我 会 见 你 。", "target_lang": "EN-US" }));
    let alone = alone.1["translations"][0]["text"].as_str().unwrap().to_string();
    assert_eq!(ask(json!("1")), format!("{alone}{alone}"));
    for whole in [json!("0"), json!(0), json!(false)] {
        assert_ne!(ask(whole), format!("{alone}{alone}"));
    }
}

#[test]
fn tags_are_moved() {
    let server = Running::usual();
    let text = "下个月 我 会 见 我 的 <b>邻居</b> 。";
    let ask = |more: Value| {
        let mut body = json!({ "text": [text], "target_lang": "EN-US" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.post("/v2/translate", &body).1["translations"][0]["text"].clone()
    };
    let moved = json!("next month I will meet my <b>neighbour</b> .");
    assert_eq!(ask(json!({ "tag_handling": "xml" })), moved);
    assert_eq!(ask(json!({ "tag_handling": "html" })), moved);
    let kept = json!("next month I will meet my <b>邻居</b> .");
    assert_eq!(ask(json!({ "tag_handling": "xml", "ignore_tags": ["b"] })), kept);
    assert_eq!(ask(json!({ "tag_handling": "xml", "ignore_tags": "a,b" })), kept);
}

#[test]
fn what_is_wrong_is_said() {
    let server = Running::usual();
    let said = |body: Value| {
        let (status, answer) = server.post("/v2/translate", &body);
        assert!(answer["message"].is_string(), "{answer}");
        status
    };
    assert_eq!(said(json!({})), 400);
    assert_eq!(said(json!({ "text": ["x"] })), 400);
    assert_eq!(said(json!({ "text": [1], "target_lang": "EN-US" })), 400);
    assert_eq!(said(json!({ "text": ["x"], "target_lang": "DE" })), 400);
    assert_eq!(said(json!({ "text": ["x"], "target_lang": "EN-US", "source_lang": "FR" })), 400);
    assert_eq!(said(json!({ "text": ["x"], "target_lang": "EN-US", "formality": "more" })), 400);
    assert_eq!(said(json!({ "text": ["x"], "target_lang": "EN-US", "tag_handling": "md" })), 400);
    assert_eq!(said(json!({ "text": ["x"], "target_lang": "EN-US", "glossary_id": "x" })), 404);
    let polite = json!({ "text": [LINE], "target_lang": "EN-US", "formality": "prefer_more" });
    assert_eq!(server.post("/v2/translate", &polite).0, 200);
}

#[test]
fn languages_and_usage_are_told() {
    let server = Running::usual();
    let source = json!([{ "language": "ZH", "name": "Chinese" }]);
    assert_eq!(server.ask("GET", "/v2/languages", "", ""), (200, source));
    let target = json!([{ "language": "EN", "name": "English", "supports_formality": false }]);
    // One client sends a form where it should not.
    assert_eq!(server.ask("GET", "/v2/languages", FORM, "type=target"), (200, target.clone()));
    assert_eq!(server.ask("GET", "/v2/languages?type=target", "", ""), (200, target));
    let (status, all) = server.ask("GET", "/v3/languages?resource=translate_text", "", "");
    let usable = |at: usize| (all[at]["lang"].clone(), all[at]["usable_as_source"].clone());
    assert_eq!(
        (status, usable(0), usable(1)),
        (200, (json!("en"), json!(false)), (json!("zh"), json!(true)))
    );
    // Nothing is rewritten here.
    assert_eq!(server.ask("GET", "/v3/languages?resource=write", "", ""), (200, json!([])));
    server.post("/v2/translate", &json!({ "text": [LINE], "target_lang": "EN-US" }));
    let (_, usage) = server.ask("GET", "/v2/usage", "", "");
    assert_eq!(usage["character_count"], json!(LINE.chars().count()));
}

#[test]
fn a_key_stands_in_a_header() {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys");
    std::fs::write(&keys, "secret\n").unwrap();
    let server = Running::new(model(), |config| config.keys = Some(keys));
    let status = |header: &str| {
        let body = json!({ "text": [LINE], "target_lang": "EN-US" }).to_string();
        let head = "POST /v2/translate HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n";
        let answer =
            server.raw(format!("{head}{header}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
        answer.split(' ').nth(1).unwrap().to_string()
    };
    assert_eq!(status("Authorization: DeepL-Auth-Key secret\r\n"), "200");
    for wrong in ["", "Authorization: DeepL-Auth-Key other\r\n", "Authorization: Bearer secret\r\n"] {
        assert_eq!(status(wrong), "403");
    }
    let old = json!({ "text": [LINE], "target_lang": "EN-US", "auth_key": "secret" });
    assert_eq!(server.post("/v2/translate", &old).0, 200);
    assert_eq!(server.ask("GET", "/v2/glossaries", "", "").0, 403);
}

#[test]
fn a_glossary_is_kept_and_obeyed() {
    let (_folder, path) = copied();
    let id = {
        let server = Running::new(path.clone(), |_| {});
        let body = json!({
            "name": "mine", "source_lang": "ZH", "target_lang": "EN", "entries_format": "tsv", "entries": "邻居\tbuddy",
        });
        let (status, made) = server.post("/v2/glossaries", &body);
        assert_eq!((status, &made["entry_count"], &made["ready"]), (201, &json!(1), &json!(true)));
        made["glossary_id"].as_str().unwrap().to_string()
    };
    let server = Running::new(path, |_| {});
    let translate = |id: &str| {
        let body = json!({ "text": [LINE], "target_lang": "EN-US", "source_lang": "ZH", "glossary_id": id });
        let (status, answer) = server.post("/v2/translate", &body);
        (status, answer["translations"][0]["text"].as_str().unwrap_or_default().to_string())
    };
    assert_eq!(translate(&id), (200, BEST.replace("neighbour", "buddy")));
    assert_eq!(server.ask("GET", &format!("/v2/glossaries/{id}/entries"), "", "").1, json!("邻居\tbuddy\n"));
    // More terms, other terms, another name.
    let dictionary = |entries: &str| json!({ "source_lang": "zh", "target_lang": "en", "entries": entries });
    let change = json!({ "name": "ours", "dictionaries": [dictionary("下个月\tsoon")] });
    let (status, changed) =
        server.ask("PATCH", &format!("/v3/glossaries/{id}"), "application/json", &change.to_string());
    assert_eq!((status, &changed["name"]), (200, &json!("ours")));
    assert_eq!(changed["dictionaries"][0]["entry_count"], json!(2));
    let both = BEST.replace("neighbour", "buddy").replace("next month", "soon");
    assert_eq!(translate(&id), (200, both));
    let put = dictionary("邻居\tfriend").to_string();
    assert_eq!(
        server.ask("PUT", &format!("/v3/glossaries/{id}/dictionaries"), "application/json", &put).0,
        200
    );
    assert_eq!(translate(&id), (200, BEST.replace("neighbour", "friend")));
    let address = format!("/v3/glossaries/{id}/entries?source_lang=zh&target_lang=en");
    assert_eq!(server.ask("GET", &address, "", "").1["dictionaries"][0]["entries"], json!("邻居\tfriend\n"));
    // Several pairs of languages; what is removed is gone.
    let several = json!({ "name": "two", "dictionaries": [dictionary("a\tb"), { "source_lang": "de", "target_lang": "en", "entries": "a,b", "entries_format": "csv" }] });
    let (status, made) = server.post("/v3/glossaries", &several);
    assert_eq!((status, made["dictionaries"].as_array().unwrap().len()), (201, 2));
    let other = made["glossary_id"].as_str().unwrap();
    let address = format!("/v3/glossaries/{other}/dictionaries?source_lang=de&target_lang=en");
    assert_eq!(server.ask("DELETE", &address, "", "").0, 204);
    assert_eq!(server.ask("DELETE", &address, "", "").0, 404);
    assert_eq!(server.ask("GET", "/v3/glossaries", "", "").1["glossaries"].as_array().unwrap().len(), 2);
    assert_eq!(server.ask("DELETE", &format!("/v2/glossaries/{id}"), "", "").0, 204);
    assert_eq!(server.ask("GET", &format!("/v2/glossaries/{id}"), "", "").0, 404);
    assert_eq!(translate(&id).0, 404);
    for wrong in [
        json!({}),
        json!({ "name": "x", "dictionaries": [] }),
        json!({ "name": "x", "dictionaries": [dictionary("a")] }),
    ] {
        assert_eq!(server.post("/v3/glossaries", &wrong).0, 400, "{wrong}");
    }
}

#[test]
fn nobody_from_elsewhere_keeps_glossaries_without_a_key() {
    let (_folder, path) = copied();
    let mut server = Running::new(path, |config| config.address = "0.0.0.0:0".parse().unwrap());
    server.address.set_ip("127.0.0.1".parse().unwrap());
    let body = json!({ "name": "x", "source_lang": "zh", "target_lang": "en", "entries": "a\tb" });
    assert_eq!(server.post("/v2/glossaries", &body).0, 403);
    assert_eq!(server.ask("GET", "/v2/glossaries", "", "").1, json!({ "glossaries": [] }));
}
