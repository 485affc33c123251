//! The interfaces that clients speak.

mod alternatives;
mod corrections;
mod deepl;
mod files;
mod libretranslate;
mod manners;
mod operations;
mod own;
mod page;
mod refusal;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::Value;

use crate::Limits;
use crate::glossaries::Glossaries;
use crate::hosts::Hosts;
use crate::pool::Pool;
use crate::shelf::Shelf;
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
    /// Files that were translated.
    pub(crate) files: Shelf,
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
    let calls = Router::new()
        .merge(libretranslate::routes())
        .merge(files::routes())
        .merge(deepl::routes())
        .merge(own::routes())
        .merge(alternatives::routes())
        .merge(page::routes())
        .merge(operations::routes());
    manners::around(calls, &shared).with_state(shared)
}

/// Counts the characters of texts; refuses more texts, or a longer one, than the limits allow.
fn limit(shared: &Shared, texts: &[String]) -> Result<(), Refusal> {
    let over = |size: usize, most: Option<usize>| most.filter(|&most| size > most).map(|most| (size, most));
    let lengths: Vec<usize> = texts.iter().map(|text| text.chars().count()).collect();
    let count = over(texts.len(), shared.limits.texts);
    let longest = lengths.iter().copied().max().unwrap_or(0);
    match count.or(over(longest, shared.limits.characters)) {
        None => {
            Counts::add(&shared.counts.characters, lengths.iter().sum::<usize>() as u64);
            Ok(())
        }
        Some((size, most)) => {
            Err(Refusal::bad(format!("Invalid request: request ({size}) exceeds text limit ({most})")))
        }
    }
}

/// An answer in JSON.
pub(crate) fn json(status: StatusCode, value: &Value) -> Response {
    let body = value.to_string();
    (status, [(CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response()
}
