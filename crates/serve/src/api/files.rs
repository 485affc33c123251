//! Files, as LibreTranslate takes them: sent, translated, kept for a while, fetched.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};

use super::libretranslate::{Languages, answered, read};
use super::refusal::Refusal;
use super::{Counts, Shared};
use crate::documents::{Format, translated};
use crate::hosts::detect;
use crate::pool::Failure;
use crate::texts::{Untranslated, Wanted};

/// What a form needs besides the file in it.
const FORM: usize = 64 << 10;
/// How many times as long as another request a file may take to send.
const SENDING: u32 = 3;

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/translate_file", post(translate_file).layer(DefaultBodyLimit::disable()))
        .route("/download_file/{name}", get(download_file))
}

async fn translate_file(State(shared): State<Arc<Shared>>, request: Request<Body>) -> Response {
    Counts::add(&shared.counts.requests, 1);
    let work = tokio::time::timeout(shared.limits.file_time, kept(&shared, request));
    answered(&shared, work.await.unwrap_or_else(|_| Err(Untranslated::Failed(Failure::Cancelled).into())))
}

async fn kept(shared: &Shared, request: Request<Body>) -> Result<Value, Refusal> {
    let started = Instant::now();
    let _place = shared.files.places.try_acquire().map_err(|_| Untranslated::Busy)?;
    let address = base(request.headers());
    // A file may take a while to send, but not as long as to translate: there are few places.
    let sent = tokio::time::timeout(
        SENDING * shared.limits.request,
        read(shared, request, shared.limits.file + FORM),
    );
    let slow = || Refusal(StatusCode::REQUEST_TIMEOUT, "the request took too long".into());
    let input = sent.await.unwrap_or_else(|_| Err(slow()))?;
    let file = input.file("file").filter(|file| !file.name.is_empty());
    let file = file.ok_or_else(|| Refusal::missing("file"))?;
    let languages = Languages::asked(&input)?;
    let known = Format::of(&file.name);
    let (format, ending) = known.ok_or_else(|| Refusal::bad("Invalid request: file format not supported"))?;
    let hosts = shared.hosts.now();
    languages.are_known(&hosts)?;
    if file.content.len() > shared.limits.file {
        return Err(Refusal(StatusCode::PAYLOAD_TOO_LARGE, "Invalid request: it is too large".into()));
    }
    let document = std::str::from_utf8(&file.content)
        .map_err(|_| Refusal::bad("Invalid request: the file is not text in UTF-8"))?;
    Counts::add(&shared.counts.characters, document.chars().count() as u64);
    let source = match languages.source.as_str() {
        "auto" => detect(&hosts, document).into_iter().next().map(|found| found.code).unwrap_or_default(),
        source => source.to_string(),
    };
    let content = match languages.host(&hosts, &source)? {
        None => document.to_string(),
        Some(host) => {
            let deadline = Some(started + shared.limits.file_time.mul_f64(0.8));
            let wanted = Wanted { best: 1, deadline, ..Wanted::default() };
            translated(&shared.pool, &host, document, format, wanted).await?
        }
    };
    let (stem, ending) = file.name.split_at(ending);
    let name = format!("{stem}_{}{}", languages.target, ending.to_ascii_lowercase());
    let kept = shared.files.keep(&name, format.kind(), content);
    Ok(json!({ "translatedFileUrl": format!("{address}/download_file/{kept}") }))
}

/// What the client calls this server; nothing if that is no name.
fn base(headers: &HeaderMap) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    // A proxy that speaks TLS says so.
    let is_secure = headers.get("x-forwarded-proto").is_some_and(|said| said == "https");
    let scheme = if is_secure { "https" } else { "http" };
    match host.filter(|host| !host.is_empty() && host.bytes().all(is_plain)) {
        Some(host) => format!("{scheme}://{host}"),
        None => String::new(),
    }
}

async fn download_file(State(shared): State<Arc<Shared>>, Path(name): Path<String>) -> Response {
    let Some(file) = shared.files.get(&name) else {
        return answered(&shared, Err(Refusal(StatusCode::NOT_FOUND, "Invalid filename".into())));
    };
    // It is to be saved; no page of somebody else's is to run as one of ours.
    let saved = format!("attachment; filename=\"{}\"", file.name);
    (
        [
            (CONTENT_TYPE, file.kind),
            (CONTENT_DISPOSITION, saved.as_str()),
            (CONTENT_SECURITY_POLICY, "sandbox"),
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (CACHE_CONTROL, "private"),
        ],
        file.content.clone(),
    )
        .into_response()
}
