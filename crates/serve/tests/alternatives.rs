//! Other translations of parts of a sentence, choices among them, and the page that asks for them.
#![allow(clippy::unwrap_used)]

mod running;

use running::{BEST, LINE, Running};
use serde_json::{Value, json};

fn ask(server: &Running, path: &str, more: &Value) -> (u16, Value) {
    let mut body = json!({ "text": LINE, "source": "zh", "target": "en" });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    server.post(path, &body)
}

fn sentence(server: &Running, more: &Value) -> Value {
    let (status, answer) = ask(server, "/v1/translate", more);
    assert_eq!(status, 200, "{answer}");
    answer["translations"][0]["sentences"][0].clone()
}

/// What is said to be the difference is that between two proven translations, of which the second has the words.
#[test]
fn a_choice_costs_what_its_alternative_said() {
    let server = Running::usual();
    let (_, told) = ask(&server, "/v1/explain", &json!({}));
    let best = sentence(&server, &json!({ "search": "exact" }))["best"][0]["score"].as_f64().unwrap();
    let (mut chosen, mut worse) = (0, 0);
    for node in told["tree"].as_array().unwrap() {
        let part = json!({ "span": node["span"], "label": node["label"], "search": "exact", "most": 3 });
        let (status, found) = ask(&server, "/v1/alternatives", &part);
        assert_eq!(status, 200, "{found}");
        assert_eq!((&found["label"], &found["translation"]), (&node["label"], &json!(BEST)));
        let alternatives = found["alternatives"].as_array().unwrap();
        assert!(alternatives.len() <= 3);
        for one in alternatives {
            let choose = json!([{ "span": node["span"], "label": node["label"], "words": one["words"] }]);
            let again = sentence(&server, &json!({ "choose": choose, "search": "exact" }));
            let got = &again["best"][0];
            assert_eq!((&got["translation"], &again["gap"]), (&one["translation"], &json!(0.0)));
            let difference = best - got["score"].as_f64().unwrap();
            assert!((difference - one["difference"].as_f64().unwrap()).abs() < 1e-6 && difference > -1e-6);
            let [from, to] = [0, 1].map(|end| one["places"][end].as_u64().unwrap() as usize);
            assert_eq!(json!(got["words"].as_array().unwrap()[from..to]), one["words"]);
            let text = one["text"].as_str().unwrap();
            assert!(one["translation"].as_str().unwrap().contains(text));
            // The usual search obeys as well, and so do explanations.
            let (_, why) = ask(&server, "/v1/explain", &json!({ "choose": choose }));
            let words: Vec<&Value> =
                why["words"].as_array().unwrap().iter().map(|word| &word["text"]).collect();
            let held: Vec<&Value> = one["words"].as_array().unwrap().iter().collect();
            assert!(
                held.is_empty() || words.windows(held.len()).any(|some| some == held),
                "{words:?} {held:?}"
            );
            chosen += 1;
            worse += usize::from(difference > 1e-6);
        }
    }
    assert!(chosen > 20 && worse > 10, "{chosen} choices, {worse} of them worse");
}

#[test]
fn choices_go_together_and_what_cannot_be_is_said() {
    let server = Running::usual();
    let list = |span: [u32; 2], choose: &Value| {
        let (status, found) = ask(&server, "/v1/alternatives", &json!({ "span": span, "choose": choose }));
        assert_eq!(status, 200, "{found}");
        found
    };
    let (_, told) = ask(&server, "/v1/explain", &json!({}));
    let spans: Vec<[u32; 2]> = told["tree"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| serde_json::from_value(node["span"].clone()).unwrap())
        .filter(|&[start, end]: &[u32; 2]| end - start < 8)
        .collect();
    let other_at = |span: [u32; 2]| {
        let found = list(span, &json!([]));
        let others = found["alternatives"].as_array().unwrap().clone();
        others.into_iter().find(|one| one["difference"] != 0.0).map(|one| (span, one))
    };
    let (span, other) = spans.iter().find_map(|&span| other_at(span)).unwrap();
    assert_eq!(other["chosen"], json!(false));
    let choice = json!({ "span": span, "words": other["words"] });
    // Asked again, the choice is marked, and does not change what the others cost.
    let again = list(span, &json!([choice]));
    let marked: Vec<&Value> =
        again["alternatives"].as_array().unwrap().iter().filter(|one| one["chosen"] == true).collect();
    assert_eq!((marked.len(), &marked[0]["words"]), (1, &other["words"]));
    assert_eq!(marked[0]["difference"], other["difference"]);
    // Somewhere else, it is held.
    let apart = |other: &&[u32; 2]| other[1] <= span[0] || span[1] <= other[0];
    let mut both = 0;
    for &elsewhere in spans.iter().filter(apart) {
        let found = list(elsewhere, &json!([choice]));
        assert_eq!(found["translation"], other["translation"]);
        for two in found["alternatives"].as_array().unwrap() {
            let choose = json!([choice, { "span": elsewhere, "words": two["words"] }]);
            let got = sentence(&server, &json!({ "choose": choose }));
            assert_eq!(got["best"][0]["translation"], two["translation"]);
            both += 1;
        }
    }
    assert!(both > 3, "{both}");
    for wrong in [
        json!({ "choose": "x" }),
        json!({ "choose": [{ "span": [0, 1] }] }),
        json!({ "choose": [{ "span": [0, 1], "words": ["nobody", "says", "this"] }] }),
        json!({ "choose": [{ "span": [0, 1], "words": ["my"] }] }),
        json!({ "choose": [{ "span": [5, 900], "words": ["my"] }] }),
        json!({ "choose": [{ "span": [3, 2], "words": ["my"] }] }),
        json!({ "choose": [choice, { "span": [0, 8], "words": ["my"] }] }),
        json!({ "choose": [{ "span": [0, 1], "words": ["my"], "x": 1 }] }),
    ] {
        let (status, answer) = ask(&server, "/v1/translate", &wrong);
        assert!(status == 400 && answer["error"].is_string(), "{wrong}: {answer}");
    }
    for wrong in [
        json!({}),
        json!({ "span": [0] }),
        json!({ "span": [0, 0] }),
        json!({ "span": [0, 99] }),
        json!({ "span": [-1, 2] }),
        json!({ "span": [0, 1], "most": 0 }),
        json!({ "span": [0, 1], "label": "nothing" }),
        json!({ "span": [0, 1], "text": "" }),
        json!({ "span": [0, 1], "choose": [{ "span": [5, 900], "words": [] }] }),
    ] {
        let (status, answer) = ask(&server, "/v1/alternatives", &wrong);
        assert!(status == 400 && answer["error"].is_string(), "{wrong}: {answer}");
    }
}

#[test]
fn the_page_is_one_file_and_allows_nothing_else() {
    let server = Running::usual();
    let answer = server.raw(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    let (head, page) = answer.split_once("\r\n\r\n").unwrap();
    let head = head.to_ascii_lowercase();
    assert!(
        head.starts_with("http/1.1 200") && head.contains("content-type: text/html; charset=utf-8"),
        "{head}"
    );
    let policy = head.lines().find_map(|line| line.strip_prefix("content-security-policy: ")).unwrap();
    assert!(
        policy.starts_with("default-src 'none'; script-src 'sha256-") && !policy.contains("unsafe"),
        "{policy}"
    );
    assert!(page.starts_with("<!DOCTYPE html>"));
    // Nothing in it leads anywhere else, except the name of SVG.
    for (at, _) in page.match_indices("://") {
        assert!(page[at..].starts_with("://www.w3.org/2000/svg"), "{}", &page[at..at + 30]);
    }
    assert!(
        !page.contains(" src=")
            && !page.contains("<link")
            && !page.contains("@import")
            && !page.contains("url(")
    );
}
