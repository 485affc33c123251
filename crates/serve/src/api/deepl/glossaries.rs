//! Glossaries as clients of version 2 and 3 know them. In version 2 a glossary has one pair of languages; of one with several
//! it sees the first.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, put};
use serde_json::{Value, json};

use super::{answered, base, read, unsupported};
use crate::api::refusal::Refusal;
use crate::api::{Shared, json as answer};
use crate::glossaries::{Dictionary, Terms, Unkept, entries};
use crate::input::Input;

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/v2/glossary-language-pairs", get(pairs))
        .route("/v2/glossaries", get(list_2).post(create_2))
        .route("/v2/glossaries/{id}", get(show_2).delete(remove))
        .route("/v2/glossaries/{id}/entries", get(entries_2))
        .route("/v3/glossaries", get(list_3).post(create_3))
        .route("/v3/glossaries/{id}", get(show_3).patch(change_3).delete(remove))
        .route("/v3/glossaries/{id}/entries", get(entries_3))
        .route("/v3/glossaries/{id}/dictionaries", put(replace_3).delete(remove_3))
}

fn not_found() -> Refusal {
    Refusal(StatusCode::NOT_FOUND, "Glossary not found".into())
}

impl From<Unkept> for Refusal {
    fn from(unkept: Unkept) -> Self {
        match unkept {
            Unkept::TooMany => Self::bad("Too many glossaries"),
            Unkept::Unknown => not_found(),
            Unkept::Failed => Self::internal("Cannot keep the glossary"),
        }
    }
}

/// The glossary that a translation is to use. Of several the first.
pub(super) fn asked_for(shared: &Shared, input: &Input) -> Result<Option<Arc<Terms>>, Refusal> {
    let id = input.text("glossary_id").or_else(|| input.text("glossary_ids"));
    match id.filter(|id| !id.is_empty()) {
        Some(id) => shared.glossaries.get(id).map(Some).ok_or_else(not_found),
        None => Ok(None),
    }
}

/// Clients expect fractions of seconds.
fn creation_time(terms: &Terms) -> String {
    terms.created.replace('Z', ".000Z")
}

fn shown_2(terms: &Terms) -> Value {
    let first = terms.dictionaries.first();
    json!({
        "glossary_id": terms.id,
        "name": terms.name,
        "ready": true,
        "source_lang": first.map_or("", |first| &first.source),
        "target_lang": first.map_or("", |first| &first.target),
        "creation_time": creation_time(terms),
        "entry_count": first.map_or(0, |first| first.entries.len()),
    })
}

fn shown_3(terms: &Terms) -> Value {
    json!({
        "glossary_id": terms.id,
        "name": terms.name,
        "dictionaries": terms.dictionaries.iter().map(shown).collect::<Vec<_>>(),
        "creation_time": creation_time(terms),
    })
}

fn shown(dictionary: &Dictionary) -> Value {
    json!({
        "source_lang": dictionary.source,
        "target_lang": dictionary.target,
        "entry_count": dictionary.entries.len(),
    })
}

fn written(dictionary: &Dictionary) -> String {
    dictionary.entries.iter().map(|(source, target)| format!("{source}\t{target}\n")).collect()
}

/// A dictionary as clients send it.
fn dictionary(get: impl Fn(&str) -> Option<String>) -> Result<Dictionary, Refusal> {
    let needed = |name: &str| {
        get(name)
            .filter(|value| !value.is_empty())
            .ok_or_else(|| Refusal::bad(format!("Parameter '{name}' not specified.")))
    };
    let (source, target) = (base(&needed("source_lang")?), base(&needed("target_lang")?));
    let format = get("entries_format").unwrap_or_else(|| "tsv".into());
    if !matches!(format.as_str(), "tsv" | "csv") {
        return Err(unsupported("entries_format"));
    }
    let entries = entries(&needed("entries")?, &format)
        .map_err(|said| Refusal::bad(format!("Invalid glossary entries provided: {said}")))?;
    Ok(Dictionary { source, target, entries })
}

fn of_object(value: &Value) -> Result<Dictionary, Refusal> {
    dictionary(|name| value.get(name).and_then(Value::as_str).map(str::to_string))
}

fn of_input(input: &Input) -> Result<Dictionary, Refusal> {
    dictionary(|name| input.text(name).map(str::to_string))
}

/// All dictionaries of a request; none if it says nothing about them.
fn all_of(input: &Input) -> Result<Vec<Dictionary>, Refusal> {
    match input.get("dictionaries") {
        None => Ok(Vec::new()),
        Some(Value::Array(list)) => list.iter().map(of_object).collect(),
        Some(_) => Err(unsupported("dictionaries")),
    }
}

fn name_of(input: &Input) -> Option<&str> {
    input.text("name").filter(|name| !name.trim().is_empty())
}

fn no_name() -> Refusal {
    Refusal::bad("Parameter 'name' not specified.")
}

async fn pairs(State(shared): State<Arc<Shared>>, request: Request<Body>) -> Response {
    let told = async {
        read(&shared, request).await?;
        let hosts = shared.hosts.now();
        let pairs = hosts
            .iter()
            .map(|host| json!({ "source_lang": host.languages[0], "target_lang": host.languages[1] }));
        Ok(json!({ "supported_languages": pairs.collect::<Vec<_>>() }))
    };
    answered(&shared, told.await)
}

async fn list(shared: &Shared, request: Request<Body>, show: fn(&Terms) -> Value) -> Response {
    let told = async {
        read(shared, request).await?;
        let all: Vec<Value> = shared.glossaries.all().iter().map(|terms| show(terms)).collect();
        Ok(json!({ "glossaries": all }))
    };
    answered(shared, told.await)
}

async fn list_2(State(shared): State<Arc<Shared>>, request: Request<Body>) -> Response {
    list(&shared, request, shown_2).await
}

async fn list_3(State(shared): State<Arc<Shared>>, request: Request<Body>) -> Response {
    list(&shared, request, shown_3).await
}

async fn show(shared: &Shared, id: &str, request: Request<Body>, show: fn(&Terms) -> Value) -> Response {
    let told = async {
        read(shared, request).await?;
        Ok(show(&*shared.glossaries.get(id).ok_or_else(not_found)?))
    };
    answered(shared, told.await)
}

async fn show_2(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    request: Request<Body>,
) -> Response {
    show(&shared, &id, request, shown_2).await
}

async fn show_3(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    request: Request<Body>,
) -> Response {
    show(&shared, &id, request, shown_3).await
}

/// Something that writes, which needs the right to: a key, or this machine.
async fn changing(shared: &Shared, request: Request<Body>) -> Result<Input, Refusal> {
    let input = read(shared, request).await?;
    match shared.learns {
        true => Ok(input),
        false => Err(Refusal(StatusCode::FORBIDDEN, "Glossaries need a key on this server".into())),
    }
}

fn created(shared: &Shared, result: Result<Value, Refusal>) -> Response {
    match result {
        Ok(value) => answer(StatusCode::CREATED, &value),
        refused => answered(shared, refused),
    }
}

/// What writes to disk does not hold up connections.
async fn writing<T: Send + 'static>(
    shared: &Arc<Shared>,
    work: impl FnOnce(&Shared) -> Result<T, Unkept> + Send + 'static,
) -> Result<T, Refusal> {
    let shared = Arc::clone(shared);
    match tokio::task::spawn_blocking(move || work(&shared)).await {
        Ok(done) => Ok(done?),
        Err(_) => Err(Refusal::internal("Cannot keep the glossary")),
    }
}

async fn create_2(State(shared): State<Arc<Shared>>, request: Request<Body>) -> Response {
    let made = async {
        let input = changing(&shared, request).await?;
        let name = name_of(&input).ok_or_else(no_name)?.to_string();
        let one = of_input(&input)?;
        Ok(shown_2(&*writing(&shared, move |shared| shared.glossaries.add(&name, vec![one])).await?))
    };
    created(&shared, made.await)
}

async fn create_3(State(shared): State<Arc<Shared>>, request: Request<Body>) -> Response {
    let made = async {
        let input = changing(&shared, request).await?;
        let name = name_of(&input).ok_or_else(no_name)?.to_string();
        let all = all_of(&input)?;
        if all.is_empty() {
            return Err(Refusal::bad("Parameter 'dictionaries' not specified."));
        }
        Ok(shown_3(&*writing(&shared, move |shared| shared.glossaries.add(&name, all)).await?))
    };
    created(&shared, made.await)
}

/// A new name, and terms that are added to those that are there.
async fn change_3(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    request: Request<Body>,
) -> Response {
    let changed = async {
        let input = changing(&shared, request).await?;
        let name = name_of(&input).map(str::to_string);
        let more = all_of(&input)?;
        let work = move |shared: &Shared| {
            shared.glossaries.change(&id, |known, dictionaries| {
                *known = name.unwrap_or_else(|| known.clone());
                for one in more {
                    match place(dictionaries, &one.source, &one.target) {
                        Some(at) => dictionaries[at].entries.extend(one.entries),
                        None => dictionaries.push(one),
                    }
                }
            })
        };
        Ok(shown_3(&*writing(&shared, work).await?))
    };
    answered(&shared, changed.await)
}

fn place(dictionaries: &[Dictionary], source: &str, target: &str) -> Option<usize> {
    dictionaries.iter().position(|known| known.source == source && known.target == target)
}

/// Terms in place of those that are there.
async fn replace_3(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    request: Request<Body>,
) -> Response {
    let replaced = async {
        let one = of_input(&changing(&shared, request).await?)?;
        let told = shown(&one);
        let work = move |shared: &Shared| {
            shared.glossaries.change(&id, |_, dictionaries| {
                match place(dictionaries, &one.source, &one.target) {
                    Some(at) => dictionaries[at] = one,
                    None => dictionaries.push(one),
                }
            })
        };
        writing(&shared, work).await?;
        Ok(told)
    };
    answered(&shared, replaced.await)
}

async fn remove_3(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    request: Request<Body>,
) -> Response {
    let removed = async {
        let input = changing(&shared, request).await?;
        let code = |name| input.text(name).map(base).unwrap_or_default();
        let (source, target) = (code("source_lang"), code("target_lang"));
        let known = shared.glossaries.get(&id).ok_or_else(not_found)?;
        known.dictionary(&source, &target).ok_or_else(not_found)?;
        let work = move |shared: &Shared| {
            shared.glossaries.change(&id, |_, dictionaries| {
                dictionaries.retain(|known| known.source != source || known.target != target);
            })
        };
        writing(&shared, work).await
    };
    match removed.await {
        Ok(_) => StatusCode::NO_CONTENT.into_response(),
        Err(refusal) => answered(&shared, Err(refusal)),
    }
}

async fn remove(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    request: Request<Body>,
) -> Response {
    let removed = async {
        changing(&shared, request).await?;
        writing(&shared, move |shared| shared.glossaries.remove(&id)).await
    };
    match removed.await {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(refusal) => answered(&shared, Err(refusal)),
    }
}

/// Terms as a table.
async fn entries_2(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    request: Request<Body>,
) -> Response {
    let told = async {
        read(&shared, request).await?;
        let known = shared.glossaries.get(&id).ok_or_else(not_found)?;
        Ok(known.dictionaries.first().map(written).unwrap_or_default())
    };
    match told.await {
        Ok(text) => ([(CONTENT_TYPE, "text/tab-separated-values; charset=utf-8")], text).into_response(),
        Err(refusal) => answered(&shared, Err(refusal)),
    }
}

async fn entries_3(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    request: Request<Body>,
) -> Response {
    let told = async {
        let input = read(&shared, request).await?;
        let code = |name| input.text(name).map(base).unwrap_or_default();
        let known = shared.glossaries.get(&id).ok_or_else(not_found)?;
        let one = known.dictionary(&code("source_lang"), &code("target_lang")).ok_or_else(not_found)?;
        let mut shown = shown(one);
        shown["entries"] = written(one).into();
        shown["entries_format"] = "tsv".into();
        Ok(json!({ "dictionaries": [shown] }))
    };
    answered(&shared, told.await)
}
