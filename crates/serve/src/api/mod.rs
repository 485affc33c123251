//! The interfaces that clients speak.

mod alternatives;
mod corrections;
mod deepl;
mod libretranslate;
mod operations;
mod own;
mod page;
mod refusal;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, CONTENT_TYPE,
};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::Value;

use crate::Limits;
use crate::glossaries::Glossaries;
use crate::hosts::Hosts;
use crate::pool::Pool;
use refusal::Refusal;

/// What all requests share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) hosts: Hosts,
    pub(crate) glossaries: Glossaries,
    pub(crate) pool: Pool,
    pub(crate) limits: Limits,
    /// Whether corrections and glossaries are taken: from those with a key, or from this machine.
    pub(crate) learns: bool,
    /// Keys, if requests must have one.
    pub(crate) keys: Option<Vec<String>>,
    /// Whether it is about to stop.
    pub(crate) stopping: AtomicBool,
    pub(crate) counts: Counts,
}

/// What was done so far.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) requests: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) characters: AtomicU64,
}

impl Counts {
    pub(crate) fn add(count: &AtomicU64, more: u64) {
        count.fetch_add(more, Ordering::Relaxed);
    }
}

impl Shared {
    /// Whether a request with this key may be answered. How long that takes says nothing about the keys.
    pub(crate) fn admits(&self, key: Option<&str>) -> bool {
        let Some(keys) = &self.keys else { return true };
        let key = key.unwrap_or_default().as_bytes();
        let same = |known: &String| {
            let known = known.as_bytes();
            let mut differs = known.len() ^ key.len();
            for (at, byte) in known.iter().enumerate() {
                differs |= usize::from(byte ^ key.get(at).copied().unwrap_or(!byte));
            }
            differs == 0
        };
        keys.iter().fold(false, |admitted, known| same(known) | admitted)
    }
}

/// All addresses.
pub(crate) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .merge(libretranslate::routes())
        .merge(deepl::routes())
        .merge(own::routes())
        .merge(alternatives::routes())
        .merge(page::routes())
        .merge(operations::routes())
        .layer(axum::middleware::from_fn_with_state(Arc::clone(&shared), in_time))
        .layer(axum::middleware::map_response(open_to_pages))
        .with_state(shared)
}

/// Whoever sends a body slowly is not waited for.
async fn in_time(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    // What is translated has its own answer when time is up.
    let most = shared.limits.request + Duration::from_secs(1);
    let late =
        || json(StatusCode::REQUEST_TIMEOUT, &serde_json::json!({ "error": "the request took too long" }));
    tokio::time::timeout(most, next.run(request)).await.unwrap_or_else(|_| late())
}

/// Counts the characters of texts, and refuses more than the limits allow.
fn limit(shared: &Shared, texts: &[String]) -> Result<(), Refusal> {
    let characters: usize = texts.iter().map(|text| text.chars().count()).sum();
    Counts::add(&shared.counts.characters, characters as u64);
    let over = |size: usize, most: Option<usize>| most.filter(|&most| size > most).map(|most| (size, most));
    let count = over(texts.len(), shared.limits.texts);
    match over(characters, shared.limits.characters).or(count) {
        None => Ok(()),
        Some((size, most)) => {
            Err(Refusal::bad(format!("Invalid request: request ({size}) exceeds text limit ({most})")))
        }
    }
}

/// Pages of any origin may ask.
async fn open_to_pages(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("Authorization, Content-Type"));
    headers.insert(
        ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static("GET, POST, PUT, PATCH, DELETE, OPTIONS"),
    );
    response
}

/// An answer in JSON.
pub(crate) fn json(status: StatusCode, value: &Value) -> Response {
    let body = value.to_string();
    (status, [(CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response()
}
