//! The document that describes all calls, against the calls that there are.
#![allow(clippy::unwrap_used)]

mod running;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use running::Running;
use serde_json::Value;

/// Methods by address.
type Calls = BTreeMap<String, BTreeSet<String>>;

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// Addresses of the router, from its sources; their methods, from what it says itself.
fn routed(server: &Running) -> Calls {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let mut calls = Calls::new();
    for file in files {
        let text = std::fs::read_to_string(file).unwrap();
        for rest in text.split(".route(").skip(1) {
            let address = rest.trim_start().strip_prefix('"').unwrap().split_once('"').unwrap().0.to_string();
            let plain = address.replace(['{', '}'], "");
            let head = server.head(&format!("OPTIONS {plain} HTTP/1.1\r\nHost: x\r\n"));
            assert!(head.starts_with("http/1.1 204"), "{address}: {head}");
            let allowed = head.lines().find_map(|line| line.strip_prefix("allow: ")).unwrap();
            let methods = allowed.split(',').map(str::to_string).filter(|method| method != "head");
            calls.insert(address, methods.collect());
        }
    }
    calls
}

fn documented(server: &Running) -> (Value, Calls) {
    let (status, document) = server.ask("GET", "/openapi.json", "", "");
    assert_eq!(status, 200);
    let methods = |path: &Value| -> BTreeSet<String> { path.as_object().unwrap().keys().cloned().collect() };
    let paths = document["paths"].as_object().unwrap();
    let calls = paths.iter().map(|(address, path)| (address.clone(), methods(path))).collect();
    (document, calls)
}

#[test]
fn every_call_is_documented_and_every_documented_call_is_there() {
    let server = Running::usual();
    let (document, documented) = documented(&server);
    let routed = routed(&server);
    assert!(routed.len() > 20, "this test looks in the wrong place");
    assert_eq!(documented, routed);
    assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(server.ask("GET", "/spec", "", "").1, document);
}

/// All places of a document that refer to another.
fn references<'d>(value: &'d Value, found: &mut BTreeSet<&'d str>) {
    match value {
        Value::Object(object) => {
            found.extend(object.get("$ref").and_then(Value::as_str));
            object.values().for_each(|value| references(value, found));
        }
        Value::Array(list) => list.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[test]
fn what_the_document_refers_to_is_in_it_and_the_reverse() {
    let server = Running::usual();
    let (document, _) = documented(&server);
    let mut named = BTreeSet::new();
    references(&document, &mut named);
    for reference in &named {
        assert!(document.pointer(reference.strip_prefix('#').unwrap()).is_some(), "{reference}");
    }
    for kind in ["schemas", "responses"] {
        for name in document["components"][kind].as_object().unwrap().keys() {
            let reference = format!("#/components/{kind}/{name}");
            assert!(named.contains(reference.as_str()), "nobody refers to {reference}");
        }
    }
    let mut ids = BTreeSet::new();
    for path in document["paths"].as_object().unwrap().values() {
        for call in path.as_object().unwrap().values() {
            assert!(ids.insert(call["operationId"].as_str().unwrap()), "{call}");
        }
    }
}
