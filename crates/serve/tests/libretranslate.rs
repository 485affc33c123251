//! Requests, valid and not, answered as LibreTranslate 1.9.6 answered them.
//!
//! `libretranslate.jsonl` has a request per line, with the status, the fields and the error of its own application (three
//! models that only marked their input, 200 characters of a text, 5 texts of a list, suggestions; where it says `keys`, with
//! keys that everybody needs). Where ours is meant to differ, `ours` says how and why. Texts that its web framework has for all
//! errors are left out.
#![allow(clippy::unwrap_used)]

mod running;

use running::{Running, model};
use serde_json::{Map, Value, json};

/// Of a value the kinds of things in it, as the table has them.
fn fields(value: &Value) -> Value {
    match value {
        Value::String(_) => json!("s"),
        Value::Bool(_) => json!("b"),
        Value::Number(_) => json!("n"),
        Value::Null => Value::Null,
        Value::Array(list) => Value::Array(list.first().map(fields).into_iter().collect()),
        Value::Object(object) => {
            let field = |(name, value): (&String, &Value)| match name.as_str() {
                // There may be fewer than were asked for.
                "alternatives" => (name.clone(), json!(if value[0].is_array() { "lists" } else { "list" })),
                _ => (name.clone(), fields(value)),
            };
            Value::Object(object.iter().map(field).collect::<Map<_, _>>())
        }
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// The status and the body of an answer.
fn ask(server: &Running, row: &Value) -> (u16, Value) {
    let text = |name: &str| row[name].as_str().unwrap_or_default();
    let body = row["hex"].as_str().map_or_else(|| text("body").as_bytes().to_vec(), bytes);
    let kind = match text("kind") {
        "" => String::new(),
        kind => format!("Content-Type: {kind}\r\n"),
    };
    let head = format!("{} {} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n", text("method"), text("path"));
    let mut request = format!("{head}{kind}Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    request.extend(body);
    let answer = server.raw(&request);
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap_or(Value::Null))
}

#[test]
fn answers_are_those_of_libretranslate() {
    let folder = tempfile::tempdir().unwrap();
    let (path, keys) = (folder.path().join("m.sylvan"), folder.path().join("keys"));
    std::fs::copy(model(), &path).unwrap();
    std::fs::write(&keys, "secret\n").unwrap();
    let pairs = [["de", "en"], ["en", "de"], ["fr", "en"]];
    let start = |keys: Option<_>| {
        Running::between(&path, &pairs, |config| {
            config.limits.characters = Some(200);
            config.limits.texts = Some(5);
            config.keys = keys;
        })
    };
    let servers = [start(None), start(Some(keys))];
    let (mut wrong, mut same, mut meant) = (Vec::new(), 0, 0);
    for line in include_str!("libretranslate.jsonl").lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let (status, answer) = ask(&servers[usize::from(row["keys"] == json!(true))], &row);
        let found = (json!(status), fields(&answer), answer["error"].clone());
        // Pages in HTML have no fields to compare.
        let expected = |row: &Value| {
            let fields = if row["fields"].is_null() { found.1.clone() } else { row["fields"].clone() };
            let error = row.get("error").unwrap_or(&found.2).clone();
            (row["status"].clone(), fields, error)
        };
        match row.get("ours") {
            None if found == expected(&row) => same += 1,
            Some(ours) if found == expected(ours) && found != expected(&row) => meant += 1,
            _ => wrong.push(format!("{line}\n    {found:?}")),
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), wrong.len() + same + meant, wrong.join("\n"));
    assert!(same >= 200 && meant < 50, "{same} the same, {meant} different on purpose");
}
