//! A part of DeepL's interface, version 2 and what its clients use of version 3: texts, languages, usage, glossaries.
//!
//! Variants of languages (EN-US) are the language itself. What a model cannot do (a formality that must be obeyed, a style)
//! is refused; hints (context, model types, formality that is preferred) are taken and change nothing.

mod glossaries;

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::{get, post};
use serde_json::{Value, json};
use sylvan::Dialect;

use super::refusal::{self, Refusal};
use super::{Counts, Shared};
use crate::hosts::{Host, detect, find, name_of};
use crate::input::Input;
use crate::pool::Failure;
use crate::texts::{Untranslated, Wanted, translate};

/// Nobody is billed, but clients stop where a limit is reached.
const CHARACTER_LIMIT: u64 = 1_000_000_000_000;

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/v2/translate", post(translate_texts))
        .route("/v2/languages", get(languages).post(languages))
        .route("/v2/usage", get(usage).post(usage))
        .route("/v3/languages", get(languages_3))
        .merge(glossaries::routes())
}

fn answered(shared: &Shared, result: Result<Value, Refusal>) -> Response {
    refusal::answered(shared, result, "message")
}

/// The key, which stands in a header, or in a parameter of old clients.
fn key<'r>(headers: &'r HeaderMap, input: Option<&'r Input>) -> Option<&'r str> {
    let header = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let header = header.and_then(|value| value.strip_prefix("DeepL-Auth-Key "));
    header.map(str::trim).or_else(|| input?.text("auth_key"))
}

/// Reads a request and looks at its key.
async fn read(shared: &Shared, request: Request<Body>) -> Result<Input, Refusal> {
    let headers = request.headers().clone();
    let input = Input::read(request, shared.limits.body).await?;
    match shared.admits(key(&headers, Some(&input))) {
        true => Ok(input),
        false => Err(Refusal(StatusCode::FORBIDDEN, "Authorization failed".into())),
    }
}

/// A language without its variant, as models know it.
fn base(code: &str) -> String {
    code.split('-').next().unwrap_or_default().to_ascii_lowercase()
}

fn unsupported(name: &str) -> Refusal {
    Refusal::bad(format!("Value for '{name}' not supported."))
}

/// Whether something is wished for, as clients say it.
fn is_true(value: Option<&Value>) -> bool {
    match value {
        Some(Value::Bool(said)) => *said,
        Some(Value::String(said)) => said == "1" || said == "true",
        Some(Value::Number(said)) => said.as_f64() == Some(1.0),
        _ => false,
    }
}

/// Names with commas between them, or a list.
fn names(value: Option<&Value>) -> Vec<String> {
    let split = |text: &str| text.split(',').map(|name| name.trim().to_string()).collect::<Vec<_>>();
    match value {
        Some(Value::String(text)) => split(text),
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).flat_map(split).collect(),
        _ => Vec::new(),
    }
}

async fn translate_texts(State(shared): State<Arc<Shared>>, request: Request<Body>) -> Response {
    Counts::add(&shared.counts.requests, 1);
    let work = translated(&shared, request);
    let result = match tokio::time::timeout(shared.limits.request, work).await {
        Ok(result) => result,
        Err(_) => Err(Untranslated::Failed(Failure::Cancelled).into()),
    };
    answered(&shared, result)
}

async fn translated(shared: &Shared, request: Request<Body>) -> Result<Value, Refusal> {
    let started = Instant::now();
    let input = read(shared, request).await?;
    let texts: Option<Vec<String>> = match input.get("text") {
        Some(Value::String(text)) => Some(vec![text.clone()]),
        Some(Value::Array(list)) => list.iter().map(|text| text.as_str().map(str::to_string)).collect(),
        _ => None,
    };
    let texts = texts.ok_or_else(|| Refusal::bad("Parameter 'text' not specified."))?;
    super::limit(shared, &texts)?;
    let target = input.text("target_lang").filter(|code| !code.is_empty());
    let target = base(target.ok_or_else(|| Refusal::bad("Parameter 'target_lang' not specified."))?);
    if matches!(input.text("formality"), Some("more" | "less")) {
        return Err(Refusal::bad("'formality' is not supported for given 'target_lang'."));
    }
    let hosts = shared.hosts.now();
    if !hosts.iter().any(|host| host.languages[1] == target) {
        return Err(unsupported("target_lang"));
    }
    let by: Vec<Arc<Host>> = match input.text("source_lang").filter(|code| !code.is_empty()) {
        Some(source) => {
            let host = find(&hosts, &base(source), &target).ok_or_else(|| unsupported("source_lang"))?;
            vec![host; texts.len()]
        }
        None => {
            let able: Vec<Arc<Host>> =
                hosts.iter().filter(|host| host.languages[1] == target).cloned().collect();
            let likeliest = |text: &String| {
                let source = detect(&able, text).into_iter().next()?;
                find(&able, &source.code, &target)
            };
            texts.iter().filter_map(likeliest).collect()
        }
    };
    let wanted = Wanted {
        dialect: dialect(&input)?,
        best: 1,
        glossary: glossaries::asked_for(shared, &input)?,
        whole: matches!(input.get("split_sentences"), Some(said) if said == "0" || said == &json!(0) || said == &json!(false)),
        // The search narrows its beams before the request is given up.
        deadline: Some(started + shared.limits.request.mul_f64(0.8)),
        ..Wanted::default()
    };
    let some: Vec<Option<Arc<Host>>> = by.iter().cloned().map(Some).collect();
    let all = translate(&shared.pool, &texts, &some, &wanted).await?;
    let shows_type = input.text("model_type").is_some();
    let shown = all.iter().zip(&texts).zip(&by).map(|((best, text), host)| {
        let mut shown = json!({
            "detected_source_language": host.languages[0].to_uppercase(),
            "text": best[0],
        });
        if is_true(input.get("show_billed_characters")) {
            shown["billed_characters"] = text.chars().count().into();
        }
        if shows_type {
            shown["model_type_used"] = "latency_optimized".into();
        }
        shown
    });
    Ok(json!({ "translations": shown.collect::<Vec<_>>() }))
}

fn dialect(input: &Input) -> Result<Option<Dialect>, Refusal> {
    match input.text("tag_handling").unwrap_or_default() {
        "" => Ok(None),
        "html" => Ok(Some(Dialect::Html)),
        "xml" => Ok(Some(Dialect::Xml { ignored: names(input.get("ignore_tags")) })),
        _ => Err(unsupported("tag_handling")),
    }
}

async fn languages(State(shared): State<Arc<Shared>>, request: Request<Body>) -> Response {
    let told = async {
        let input = read(&shared, request).await?;
        let side = match input.text("type").unwrap_or("source") {
            "source" => 0,
            "target" => 1,
            _ => return Err(unsupported("type")),
        };
        let shown = codes(&shared, side).into_iter().map(|code| {
            let mut shown = json!({ "language": code.to_uppercase(), "name": name_of(&code) });
            if side == 1 {
                shown["supports_formality"] = false.into();
            }
            shown
        });
        Ok(shown.collect())
    };
    answered(&shared, told.await)
}

/// Codes of languages that are translated from, or to, in order.
fn codes(shared: &Shared, side: usize) -> Vec<String> {
    let mut codes: Vec<String> = shared.hosts.now().iter().map(|host| host.languages[side].clone()).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

async fn languages_3(State(shared): State<Arc<Shared>>, request: Request<Body>) -> Response {
    let told = async {
        let input = read(&shared, request).await?;
        // There are texts and glossaries here; nothing else that they name (documents, style, speech) has any language.
        if !matches!(input.text("resource").unwrap_or_default(), "" | "translate_text" | "glossary") {
            return Ok(json!([]));
        }
        let [sources, targets] = [0, 1].map(|side| codes(&shared, side));
        let mut all: Vec<&String> = sources.iter().chain(&targets).collect();
        all.sort_unstable();
        all.dedup();
        let shown = all.into_iter().map(|code| {
            json!({
                "lang": code,
                "name": name_of(code),
                "usable_as_source": sources.contains(code),
                "usable_as_target": targets.contains(code),
                "features": {
                    "glossary": { "status": "available" },
                    "tag_handling": { "status": "available" },
                },
            })
        });
        Ok(shown.collect())
    };
    answered(&shared, told.await)
}

async fn usage(State(shared): State<Arc<Shared>>, request: Request<Body>) -> Response {
    let told = async {
        read(&shared, request).await?;
        let count = shared.counts.characters.load(std::sync::atomic::Ordering::Relaxed);
        Ok(json!({ "character_count": count, "character_limit": CHARACTER_LIMIT }))
    };
    answered(&shared, told.await)
}
