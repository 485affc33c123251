//! Our own interface: translations with everything that is known about them, explanations, corrections in layers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use sylvan::{Correction, CorrectionLog, Details, Dialect, Origin, Pair, Search};

use super::corrections::{correct, pairs};
use super::refusal::{self, Refusal};
use super::{Counts, Shared};
use crate::glossaries::{Dictionary, Terms};
use crate::hosts::{Given, Host, Kept, detect, find};
use crate::input::Input;
use crate::pool::Failure;
use crate::texts::{Untranslated, Wanted, explain, sentences_of, translate};

/// Translations of a sentence.
const BEST: usize = 100;
/// Wider ones are not asked for in earnest.
const BEAM: u64 = 10_000;
/// Layers of a request.
const LAYERS: usize = 8;

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/v1/translate", post(translate_texts))
        .route("/v1/explain", post(explain_sentence))
        .route("/v1/corrections", get(list).post(add).delete(undo))
}

pub(super) fn answered(shared: &Shared, result: Result<Value, Refusal>) -> Response {
    refusal::answered(shared, result, "error")
}

/// Reads a request and looks at its key: `Authorization: Bearer KEY`, or the parameter `api_key`.
pub(super) async fn read(shared: &Shared, request: Request<Body>) -> Result<Input, Refusal> {
    let headers = request.headers().clone();
    let input = Input::read(request, shared.limits.body).await?;
    match shared.admits(bearer(&headers).or_else(|| input.text("api_key"))) {
        true => Ok(input),
        false => Err(Refusal(StatusCode::FORBIDDEN, "Invalid API key".into())),
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers.get(AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ").map(str::trim)
}

pub(super) fn wrong(name: &str, expected: &str) -> Refusal {
    Refusal::bad(format!("Invalid request: {name}: expected {expected}"))
}

/// The model for the languages of a request. Without a source language it is the likeliest of the text.
pub(super) fn host(shared: &Shared, input: &Input, text: &str) -> Result<Arc<Host>, Refusal> {
    let hosts = shared.hosts.now();
    let code = |name| input.text(name).filter(|code| !code.is_empty() && *code != "auto");
    let able: Vec<Arc<Host>> = hosts
        .iter()
        .filter(|host| code("target").is_none_or(|target| host.languages[1] == target))
        .filter(|host| code("source").is_none_or(|source| host.languages[0] == source))
        .cloned()
        .collect();
    let likeliest = match able.as_slice() {
        [] => None,
        [one] => Some(Arc::clone(one)),
        _ => {
            let source = detect(&able, text).into_iter().next();
            let target = code("target").map_or_else(|| able[0].languages[1].clone(), str::to_string);
            source.and_then(|source| find(&able, &source.code, &target))
        }
    };
    likeliest.ok_or_else(|| Refusal::bad("Invalid request: no model for these languages"))
}

/// What is asked for besides the texts.
pub(super) fn wanted(
    shared: &Shared,
    host: &Host,
    input: &Input,
    started: Instant,
) -> Result<Wanted, Refusal> {
    let best = match input.get("best") {
        None | Some(Value::Null) => 1,
        Some(count) => {
            count.as_u64().filter(|&count| count > 0).ok_or_else(|| wrong("best", "a number from 1"))?
        }
    };
    let dialect = match input.text("tags") {
        None | Some("") => None,
        Some("html") => Some(Dialect::Html),
        Some("xml") => Some(Dialect::xml()),
        Some("xliff") => Some(Dialect::Xliff),
        Some(_) => return Err(wrong("tags", "html, xml or xliff")),
    };
    let mut details = Details::default();
    details.links = true;
    details.features = true;
    let choices = super::alternatives::choices(input)?;
    Ok(Wanted {
        dialect,
        best: (best as usize).min(BEST),
        glossary: glossary(shared, host, input)?,
        search: search(host, input)?,
        details,
        layers: layers(input)?,
        // Choices are about the words of one sentence.
        whole: !choices.is_empty(),
        choices,
        deadline: Some(started + shared.limits.request.mul_f64(0.8)),
    })
}

/// The name of a search, and its beam.
fn search(host: &Host, input: &Input) -> Result<Option<Search>, Refusal> {
    let Some(name) = input.text("search").filter(|name| !name.is_empty()) else { return Ok(None) };
    let name = name.parse().map_err(|_| wrong("search", "the name of a search"))?;
    let search = Search::named(name);
    let search = match input.get("beam") {
        None | Some(Value::Null) => search,
        Some(beam) => {
            let beam = beam.as_u64().filter(|beam| (1..=BEAM).contains(beam));
            search.with_beam(beam.ok_or_else(|| wrong("beam", "a number from 1 to 10000"))? as usize)
        }
    };
    match host.model().search(Some(search)) {
        Ok(search) => Ok(Some(search)),
        Err(error) => Err(Refusal::bad(format!("Invalid request: {error}"))),
    }
}

/// Terms: an object of source and target, or the id of a glossary that is kept here.
fn glossary(shared: &Shared, host: &Host, input: &Input) -> Result<Option<Arc<Terms>>, Refusal> {
    match input.get("glossary") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(id)) => {
            let kept = shared.glossaries.get(id);
            kept.map(Some).ok_or_else(|| Refusal(StatusCode::NOT_FOUND, "no such glossary".into()))
        }
        Some(Value::Object(terms)) => {
            let entry =
                |(source, target): (&String, &Value)| Some((source.clone(), target.as_str()?.to_string()));
            let entries: Option<BTreeMap<String, String>> = terms.iter().map(entry).collect();
            let entries = entries.ok_or_else(|| wrong("glossary", "terms and their translations"))?;
            let [source, target] = host.languages.clone();
            Ok(Some(Arc::new(Terms::of_one(Dictionary { source, target, entries }))))
        }
        Some(_) => Err(wrong("glossary", "an object of terms, or the id of a glossary")),
    }
}

/// Names of layers are parts of names of files.
fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !name.is_empty() && name.len() <= 40 && name.bytes().all(plain)
}

fn layers(input: &Input) -> Result<Vec<String>, Refusal> {
    let names: Vec<String> = match input.get("layers") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(names)) => names.split(',').map(|name| name.trim().to_string()).collect(),
        Some(Value::Array(names)) => {
            names.iter().map(|name| name.as_str().unwrap_or("").to_string()).collect()
        }
        Some(_) => return Err(wrong("layers", "a list of names")),
    };
    match names.len() <= LAYERS && names.iter().all(|name| is_name(name)) {
        true => Ok(names),
        false => Err(wrong("layers", "at most 8 names of letters, digits, - and _")),
    }
}

fn layer(input: &Input) -> Result<String, Refusal> {
    let name = input.text("layer").unwrap_or_default();
    match name.is_empty() || is_name(name) {
        true => Ok(name.to_string()),
        false => Err(wrong("layer", "a name of letters, digits, - and _")),
    }
}

/// Texts of a request: one, or a list.
fn texts(input: &Input, name: &str) -> Result<Vec<String>, Refusal> {
    match input.get(name) {
        Some(Value::String(text)) => Ok(vec![text.clone()]),
        Some(Value::Array(list)) => {
            let texts: Option<Vec<String>> =
                list.iter().map(|text| text.as_str().map(str::to_string)).collect();
            texts.ok_or_else(|| wrong(name, "texts"))
        }
        _ => Err(Refusal::missing(name)),
    }
}

pub(super) async fn in_time<T>(
    shared: &Shared,
    work: impl Future<Output = Result<T, Refusal>>,
) -> Result<T, Refusal> {
    let late = || Untranslated::Failed(Failure::Cancelled).into();
    tokio::time::timeout(shared.limits.request, work).await.unwrap_or_else(|_| Err(late()))
}

async fn translate_texts(State(shared): State<Arc<Shared>>, request: Request<Body>) -> Response {
    Counts::add(&shared.counts.requests, 1);
    let started = Instant::now();
    let work = async {
        let input = read(&shared, request).await?;
        let texts = texts(&input, "text")?;
        super::limit(&shared, &texts)?;
        let host = host(&shared, &input, &texts.join("\n"))?;
        let wanted = wanted(&shared, &host, &input, started)?;
        let some: Vec<&str> = texts.iter().map(String::as_str).collect();
        let all = sentences_of(&shared.pool, &host, &some, &wanted).await?;
        let shown: Vec<Value> = texts
            .iter()
            .zip(&all)
            .map(|(text, parts)| {
                let sentences = parts.iter().map(|(bytes, translated)| {
                    let mut shown = json!(translated);
                    shown["bytes"] = json!(bytes);
                    shown
                });
                let whole = crate::texts::together(text, parts, 1).swap_remove(0);
                json!({ "text": whole, "sentences": sentences.collect::<Vec<_>>() })
            })
            .collect();
        Ok(json!({ "languages": host.languages, "translations": shown }))
    };
    answered(&shared, in_time(&shared, work).await)
}

/// As JSON, or as a page of its own.
async fn explain_sentence(State(shared): State<Arc<Shared>>, request: Request<Body>) -> Response {
    Counts::add(&shared.counts.requests, 1);
    let started = Instant::now();
    let work = async {
        let input = read(&shared, request).await?;
        let text = input.text("text").ok_or_else(|| Refusal::missing("text"))?.to_string();
        super::limit(&shared, std::slice::from_ref(&text))?;
        let host = host(&shared, &input, &text)?;
        let wanted = wanted(&shared, &host, &input, started)?;
        let found = explain(&shared.pool, &host, &text, &wanted).await?;
        let found = found.ok_or_else(|| wrong("text", "words"))?;
        match input.text("format").unwrap_or("json") {
            "json" => Ok((json!(*found), None)),
            "html" => Ok((Value::Null, Some(found.html()))),
            _ => Err(wrong("format", "json or html")),
        }
    };
    match in_time(&shared, work).await {
        Ok((_, Some(page))) => {
            // The page has its scripts and styles in it, and asks nobody for anything.
            let policy =
                "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";
            ([(CONTENT_TYPE, "text/html; charset=utf-8"), (CONTENT_SECURITY_POLICY, policy)], page)
                .into_response()
        }
        result => answered(&shared, result.map(|(found, _)| found)),
    }
}

/// A correction as it was asked for.
fn shown(correction: &Correction) -> Value {
    match Pair::parse(&correction.about) {
        Some(pair) => {
            let mut shown = json!(pair);
            shown["lines"] = json!(correction.lines);
            shown
        }
        // About rules, not about a sentence.
        None => json!({ "about": correction.about, "lines": correction.lines }),
    }
}

/// A correction as it was kept: the sentence is translated so from now on, and this is what else was learnt.
fn learnt(Kept { pair, learned }: &Kept) -> Value {
    let mut shown = json!(learned);
    shown["origin"] = json!(Origin::Correction);
    for (name, value) in json!(pair).as_object().into_iter().flatten() {
        shown[name.as_str()] = value.clone();
    }
    shown
}

async fn list(State(shared): State<Arc<Shared>>, request: Request<Body>) -> Response {
    let told = async {
        let input = read(&shared, request).await?;
        is_trusted(&shared)?;
        let (host, layer) = (host(&shared, &input, "")?, layer(&input)?);
        let log = CorrectionLog::open_layer(&host.path, &layer)
            .map_err(|_| Refusal::internal("Cannot read the corrections"))?;
        Ok(json!({ "corrections": log.corrections().iter().map(shown).collect::<Vec<_>>() }))
    };
    answered(&shared, told.await)
}

/// Whoever may correct, and see what others corrected: somebody with a key, or on this machine.
fn is_trusted(shared: &Shared) -> Result<(), Refusal> {
    match shared.learns {
        true => Ok(()),
        false => Err(Refusal(StatusCode::FORBIDDEN, "Corrections need a key on this server".into())),
    }
}

/// Keeps a correction, and says which of some other texts are translated otherwise since.
async fn add(State(shared): State<Arc<Shared>>, request: Request<Body>) -> Response {
    let started = Instant::now();
    let work = async {
        let input = read(&shared, request).await?;
        is_trusted(&shared)?;
        let needed =
            |name| input.text(name).filter(|text| !text.is_empty()).ok_or_else(|| Refusal::missing(name));
        let (text, better) = (needed("text")?, needed("translation")?);
        let also = if input.get("also").is_some() { texts(&input, "also")? } else { Vec::new() };
        super::limit(&shared, &also)?;
        let host = host(&shared, &input, text)?;
        let layer = layer(&input)?;
        let mut wanted = wanted(&shared, &host, &input, started)?;
        if !layer.is_empty() && !wanted.layers.contains(&layer) {
            wanted.layers.push(layer.clone());
        }
        let given = Given {
            pairs: pairs(&host, text, better)?,
            author: input.text("author").unwrap_or("anonymous").to_string(),
            exact: input.is_true("exact"),
        };
        let by = |host: &Arc<Host>| vec![Some(Arc::clone(host)); also.len()];
        let before = translate(&shared.pool, &also, &by(&host), &wanted).await?;
        let kept = correct(&shared, Arc::clone(&host), layer, given).await?;
        let now = find(&shared.hosts.now(), &host.languages[0], &host.languages[1]).unwrap_or(host);
        let after = translate(&shared.pool, &also, &by(&now), &wanted).await?;
        let changed: Vec<Value> = also
            .iter()
            .zip(before.iter().zip(&after))
            .filter(|(_, (before, after))| before[0] != after[0])
            .map(|(text, (before, after))| json!({ "text": text, "before": before[0], "after": after[0] }))
            .collect();
        let learnt: Vec<Value> = kept.iter().map(learnt).collect();
        Ok(json!({ "kept": kept.len(), "corrections": learnt, "changed": changed }))
    };
    answered(&shared, in_time(&shared, work).await)
}

async fn undo(State(shared): State<Arc<Shared>>, request: Request<Body>) -> Response {
    let work = async {
        let input = read(&shared, request).await?;
        is_trusted(&shared)?;
        let (host, layer) = (host(&shared, &input, "")?, layer(&input)?);
        let work = Arc::clone(&shared);
        let here = Arc::new(());
        let waiting = Arc::downgrade(&here);
        match tokio::task::spawn_blocking(move || work.hosts.undo(&host, &layer, &waiting)).await {
            Ok(Ok(undone)) => Ok(json!({ "undone": undone.as_ref().map(shown) })),
            _ => Err(Refusal::internal("Cannot undo the correction")),
        }
    };
    answered(&shared, work.await)
}
