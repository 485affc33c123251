//! What a part of a sentence can be translated to, and choices among that.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::post;
use serde_json::{Value, json};
use sylvan::Choice;

use super::own::{answered, host, in_time, read, wanted, wrong};
use super::refusal::Refusal;
use super::{Counts, Shared};
use crate::input::Input;
use crate::pool::Part;
use crate::texts::alternatives;

/// Translations of a part if nothing is said, and at most.
const USUAL: u64 = 8;
const MOST: u64 = 50;
/// Choices of a request.
const CHOICES: usize = 100;

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new().route("/v1/alternatives", post(of_a_part))
}

/// Translations of parts that must be used: a list of objects with `span`, `words` and perhaps `label`.
pub(super) fn choices(input: &Input) -> Result<Vec<Choice>, Refusal> {
    let expected = || wrong("choose", "at most 100 of {\"span\": [from, to], \"words\": [..]}");
    let list = match input.get("choose") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(list)) if list.len() <= CHOICES => list,
        Some(_) => return Err(expected()),
    };
    let choice = |one: &Value| serde_json::from_value(one.clone()).map_err(|_| expected());
    list.iter().map(choice).collect()
}

async fn of_a_part(State(shared): State<Arc<Shared>>, request: Request<Body>) -> Response {
    Counts::add(&shared.counts.requests, 1);
    let started = Instant::now();
    let work = async {
        let input = read(&shared, request).await?;
        let text = input.text("text").ok_or_else(|| Refusal::missing("text"))?.to_string();
        super::limit(&shared, std::slice::from_ref(&text))?;
        let span = input.get("span").ok_or_else(|| Refusal::missing("span"))?;
        let span: [u32; 2] = serde_json::from_value(span.clone()).map_err(|_| {
            wrong("span", "the first word of the part, counted from 0, and one past the last")
        })?;
        let most = match input.get("most") {
            None | Some(Value::Null) => USUAL,
            Some(most) => {
                let most = most.as_u64().filter(|most| (1..=MOST).contains(most));
                most.ok_or_else(|| wrong("most", "a number from 1 to 50"))?
            }
        };
        let label = input.text("label").filter(|label| !label.is_empty()).map(str::to_string);
        let host = host(&shared, &input, &text)?;
        let wanted = wanted(&shared, &host, &input, started)?;
        let asked = Part { span, label, most: most as usize };
        let found = alternatives(&shared.pool, &host, &text, asked, &wanted).await?;
        Ok(json!(*found.ok_or_else(|| wrong("text", "words"))?))
    };
    answered(&shared, in_time(&shared, work).await)
}
