//! Why a request is not answered as its client would like. Each interface has its own name for the reason.

use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use serde_json::{Map, Value};

use super::{Counts, Shared, json};
use crate::input::Unread;
use crate::pool::Failure;
use crate::texts::Untranslated;

/// A status, and what is said about it.
#[derive(Debug)]
pub(super) struct Refusal(pub(super) StatusCode, pub(super) String);

impl Refusal {
    pub(super) fn bad(said: impl Into<String>) -> Self {
        Self(StatusCode::BAD_REQUEST, said.into())
    }

    pub(super) fn missing(name: &str) -> Self {
        Self::bad(format!("Invalid request: missing {name} parameter"))
    }

    /// What went wrong is none of the client's business.
    pub(super) fn internal(said: &str) -> Self {
        Self(StatusCode::INTERNAL_SERVER_ERROR, said.into())
    }
}

impl From<Unread> for Refusal {
    fn from(unread: Unread) -> Self {
        match unread {
            Unread::TooLarge => {
                Self(StatusCode::PAYLOAD_TOO_LARGE, "Invalid request: it is too large".into())
            }
            Unread::Json => Self::bad("Invalid JSON format"),
            Unread::Broken => Self::bad("Invalid request: its body cannot be read"),
        }
    }
}

impl From<Untranslated> for Refusal {
    fn from(untranslated: Untranslated) -> Self {
        match untranslated {
            Untranslated::Busy => {
                Self(StatusCode::SERVICE_UNAVAILABLE, "Slowdown: too many sentences wait".into())
            }
            Untranslated::Failed(Failure::Bad(said)) => Self::bad(format!("Cannot translate text: {said}")),
            Untranslated::Failed(Failure::Cancelled) => {
                Self(StatusCode::SERVICE_UNAVAILABLE, "Cannot translate text: time is up".into())
            }
            Untranslated::Failed(Failure::Internal) => Self::internal("Cannot translate text"),
        }
    }
}

/// The answer, or the refusal in a field of this name. Whoever is sent away because there is too much to do may come back.
pub(super) fn answered(shared: &Shared, result: Result<Value, Refusal>, field: &str) -> Response {
    let Refusal(status, said) = match result {
        Ok(value) => return json(StatusCode::OK, &value),
        Err(refusal) => refusal,
    };
    let mut response = json(status, &Value::Object(Map::from_iter([(field.to_string(), said.into())])));
    match status {
        StatusCode::SERVICE_UNAVAILABLE => {
            Counts::add(&shared.counts.refused, 1);
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        StatusCode::INTERNAL_SERVER_ERROR => Counts::add(&shared.counts.failed, 1),
        _ => {}
    }
    response
}
