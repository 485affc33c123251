//! What those who run a server ask: is it there, is it ready, what does it do.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::json;

use super::{Shared, json as answer};

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/health", get(health))
        .route("/ready", get(ready))
        .route("/metrics", get(metrics))
        .route("/openapi.json", get(openapi))
        .route("/spec", get(openapi))
}

/// All calls, for programs.
async fn openapi() -> Response {
    let document = include_str!("openapi.json").replacen("VERSION", env!("CARGO_PKG_VERSION"), 1);
    ([(CONTENT_TYPE, "application/json")], document).into_response()
}

async fn health() -> Response {
    answer(StatusCode::OK, &json!({ "status": "ok" }))
}

async fn ready(State(shared): State<Arc<Shared>>) -> Response {
    match shared.stopping.load(Ordering::Relaxed) {
        true => answer(StatusCode::SERVICE_UNAVAILABLE, &json!({ "status": "stopping" })),
        false => answer(StatusCode::OK, &json!({ "status": "ready" })),
    }
}

/// In the text format of Prometheus. No label names a client, a key or a text.
async fn metrics(State(shared): State<Arc<Shared>>) -> Response {
    let counts = &shared.counts;
    let mut out = String::new();
    let mut show = |name: &str, kind: &str, help: &str, value: u64| {
        out.push_str(&format!("# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n"));
    };
    let of = |count: &std::sync::atomic::AtomicU64| count.load(Ordering::Relaxed);
    show("sylvan_requests_total", "counter", "Requests for a translation.", of(&counts.requests));
    show("sylvan_refused_total", "counter", "Requests refused because too much waits.", of(&counts.refused));
    show("sylvan_failed_total", "counter", "Requests that failed here.", of(&counts.failed));
    show("sylvan_characters_total", "counter", "Characters of texts to translate.", of(&counts.characters));
    show("sylvan_sentences_total", "counter", "Sentences that were translated.", shared.pool.made());
    show("sylvan_waiting_sentences", "gauge", "Sentences that wait.", shared.pool.waiting() as u64);
    show("sylvan_threads", "gauge", "Threads that translate.", shared.pool.threads() as u64);
    show("sylvan_models", "gauge", "Models that are served.", shared.hosts.now().len() as u64);
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], out).into_response()
}
