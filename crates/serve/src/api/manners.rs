//! What holds for all calls: how long they may take, who may make them from a page, how refusals look, what is said while the
//! server stops.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_MAX_AGE, ALLOW, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, ORIGIN, RETRY_AFTER,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

use super::{Shared, json};

/// Puts all of it around the calls.
pub(super) fn around(router: Router<Arc<Shared>>, shared: &Arc<Shared>) -> Router<Arc<Shared>> {
    router
        .layer(from_fn_with_state(Arc::clone(shared), in_time))
        .layer(from_fn_with_state(Arc::clone(shared), from_here))
        .layer(from_fn_with_state(Arc::clone(shared), while_open))
        .layer(axum::middleware::from_fn(in_json))
        .layer(map_response(open_to_pages))
}

/// What is wrong, in the field that clients of this address look into.
fn refused(address: &Uri, status: StatusCode, said: &str) -> Response {
    let is_deepl = ["/v2/", "/v3/"].iter().any(|root| address.path().starts_with(root));
    let field = if is_deepl { "message" } else { "error" };
    json(status, &Value::Object(Map::from_iter([(field.to_string(), said.into())])))
}

/// Whoever sends a body slowly is not waited for.
async fn in_time(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let address = request.uri().clone();
    // What is translated has its own answer when time is up.
    let most = match address.path() {
        "/translate_file" => shared.limits.file_time,
        _ => shared.limits.request,
    };
    let answered = tokio::time::timeout(most + Duration::from_secs(1), next.run(request)).await;
    answered.unwrap_or_else(|_| refused(&address, StatusCode::REQUEST_TIMEOUT, "the request took too long"))
}

/// Corrections and glossaries are written and shown without a key on this machine alone. A page from elsewhere that is open
/// in a browser here is not of this machine, and neither is one that calls itself by another name. What reads from its own
/// host does not say where it is from: then the host's name tells.
async fn from_here(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    const OURS: [&str; 4] = ["/suggest", "/v1/corrections", "/v2/glossaries", "/v3/glossaries"];
    let path = request.uri().path();
    let is_ours = OURS.iter().any(|root| path.starts_with(root));
    if is_ours && shared.keys.is_none() && is_foreign(request.headers()) {
        let said = "pages from elsewhere need a key: start the server with --api-keys";
        return refused(request.uri(), StatusCode::FORBIDDEN, said);
    }
    next.run(request).await
}

fn is_foreign(headers: &HeaderMap) -> bool {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, port)| {
        if port.bytes().all(|byte| byte.is_ascii_digit()) { name } else { host }
    });
    let is_local = matches!(name, "localhost" | "127.0.0.1" | "[::1]");
    match headers.get(ORIGIN) {
        Some(origin) => !is_local || origin.as_bytes() != format!("http://{host}").as_bytes(),
        // Anybody may own a domain and let it lead here; addresses and plain names of machines are nobody's.
        None => name.contains('.') && name.parse::<Ipv4Addr>().is_err(),
    }
}

/// Who comes while the server stops is told to come again; who is there already is answered.
async fn while_open(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let is_about_us = matches!(request.uri().path(), "/ready" | "/health" | "/metrics");
    if is_about_us || !shared.stopping.load(Ordering::Relaxed) {
        return next.run(request).await;
    }
    let mut response = refused(request.uri(), StatusCode::SERVICE_UNAVAILABLE, "Slowdown: the server stops");
    let headers = response.headers_mut();
    headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Refusals that no call made are in JSON as well. What a page asks before it asks is answered.
async fn in_json(request: Request, next: Next) -> Response {
    let address = request.uri().clone();
    let method = request.method().clone();
    let response = next.run(request).await;
    let status = response.status();
    if method == Method::OPTIONS && status == StatusCode::METHOD_NOT_ALLOWED {
        let allowed = response.headers().get(ALLOW).cloned();
        let mut response = StatusCode::NO_CONTENT.into_response();
        allowed.map(|allowed| response.headers_mut().insert(ALLOW, allowed));
        return response;
    }
    let is_json = response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if is_json || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let (parts, body) = response.into_parts();
    let said = to_bytes(body, 4096).await.unwrap_or_default();
    let said = match std::str::from_utf8(&said) {
        Ok(said) if !said.is_empty() => said,
        _ => parts.status.canonical_reason().unwrap_or("refused"),
    };
    let (ours, body) = refused(&address, parts.status, said).into_parts();
    let mut response = Response::from_parts(parts, if method == Method::HEAD { Body::empty() } else { body });
    response.headers_mut().remove(CONTENT_LENGTH);
    response.headers_mut().extend(ours.headers);
    response
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
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
    response
}
