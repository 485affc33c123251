//! LibreTranslate's interface.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use serde_json::{Value, json};
use sylvan::Dialect;

use super::corrections::{correct, pairs};
use super::refusal::{self, Refusal};
use super::{Counts, Shared, json as answer};
use crate::documents::ENDINGS;
use crate::hosts::{Detected, Given, Host, detect, find, name_of};
use crate::input::Input;
use crate::pool::Failure;
use crate::texts::{Untranslated, Wanted, translate};

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/translate", post(translate_texts))
        .route("/detect", post(detect_language))
        // Old clients post where they should get.
        .route("/languages", get(languages).post(languages))
        .route("/frontend/settings", get(settings))
        .route("/suggest", post(suggest))
}

pub(super) fn answered(shared: &Shared, result: Result<Value, Refusal>) -> Response {
    refusal::answered(shared, result, "error")
}

/// Reads a request of at most so many bytes, and looks at its key.
pub(super) async fn read(shared: &Shared, request: Request<Body>, most: usize) -> Result<Input, Refusal> {
    let input = Input::read(request, most).await?;
    let key = input.text("api_key").filter(|key| !key.is_empty());
    match (shared.admits(key), key) {
        (true, _) => Ok(input),
        (false, Some(_)) => Err(Refusal(StatusCode::FORBIDDEN, "Invalid API key".into())),
        // No key is another thing than a wrong one.
        (false, None) => Err(Refusal::bad("Please contact the server operator to get an API key")),
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
    let input = read(shared, request, shared.limits.body).await?;
    let asked = Asked::new(&input)?;
    super::limit(shared, &asked.texts)?;
    let hosts = shared.hosts.now();
    let detected: Vec<Detected> = match asked.languages.source.as_str() {
        "auto" => asked.texts.iter().filter_map(|text| detect(&hosts, text).into_iter().next()).collect(),
        _ => Vec::new(),
    };
    asked.languages.are_known(&hosts)?;
    let dialect = match asked.format.as_str() {
        "" | "text" => None,
        "html" => Some(Dialect::Html),
        other => return Err(Refusal::bad(format!("{other} format is not supported"))),
    };
    let wanted = Wanted {
        dialect,
        best: 1 + asked.alternatives,
        // The search narrows its beams before the request is given up.
        deadline: Some(started + shared.limits.request.mul_f64(0.8)),
        ..Wanted::default()
    };
    // Texts of a list may be of different languages.
    let source_of = |at: usize| match asked.languages.source.as_str() {
        "auto" => detected.get(at).map_or("", |detected| detected.code.as_str()),
        source => source,
    };
    let by = (0..asked.texts.len())
        .map(|at| asked.languages.host(&hosts, source_of(at)))
        .collect::<Result<Vec<_>, _>>()?;
    let all = translate(&shared.pool, &asked.texts, &by, &wanted).await?;
    let mut object = serde_json::Map::new();
    let best: Vec<Value> = all.iter().map(|all| json!(all[0])).collect();
    object.insert("translatedText".into(), asked.one_or_all(best));
    if asked.languages.source == "auto" {
        let shown =
            detected.iter().map(|found| json!({ "confidence": found.confidence, "language": found.code }));
        object.insert("detectedLanguage".into(), asked.one_or_all(shown.collect()));
    }
    if asked.alternatives > 0 {
        let others = all.iter().map(|all| json!(all[1..])).collect();
        object.insert("alternatives".into(), asked.one_or_all(others));
    }
    Ok(Value::Object(object))
}

/// What a request for translations asks for.
struct Asked {
    texts: Vec<String>,
    is_list: bool,
    languages: Languages,
    format: String,
    alternatives: usize,
}

/// More of them are not asked for in earnest.
const ALTERNATIVES: usize = 100;

impl Asked {
    fn new(input: &Input) -> Result<Self, Refusal> {
        let no_text = || Refusal::bad("Invalid request: q parameter is not text");
        let (texts, is_list) = match input.get("q") {
            // Forms have lines as the web has them, and a list in a form is its first text.
            Some(_) if !input.is_json() => {
                (vec![input.text("q").unwrap_or_default().lines().collect::<Vec<_>>().join("\n")], false)
            }
            Some(Value::String(text)) => (vec![text.clone()], false),
            Some(Value::Array(list)) if !list.is_empty() => {
                let texts = list.iter().map(|text| text.as_str().map(str::to_string)).collect();
                (Option::ok_or_else(texts, no_text)?, true)
            }
            Some(Value::Number(number)) if number.as_f64() != Some(0.0) => return Err(no_text()),
            Some(Value::Object(object)) if !object.is_empty() => return Err(no_text()),
            Some(Value::Bool(true)) => return Err(no_text()),
            _ => return Err(Refusal::missing("q")),
        };
        if !is_list && texts.iter().all(String::is_empty) {
            return Err(Refusal::missing("q"));
        }
        let languages = Languages::asked(input)?;
        let no_number = || Refusal::bad("Invalid request: alternatives parameter is not a number");
        let alternatives = match input.get("alternatives") {
            None | Some(Value::Null) => 0,
            Some(Value::Number(count)) => count.as_f64().map_or(0, |count| count.max(0.0) as usize),
            Some(_) => {
                let text = input.text("alternatives").ok_or_else(no_number)?;
                let count: i64 = text.trim().parse().map_err(|_| no_number())?;
                usize::try_from(count).unwrap_or(0)
            }
        };
        let format = word(input, "format").unwrap_or_default();
        Ok(Self { texts, is_list, languages, format, alternatives: alternatives.min(ALTERNATIVES) })
    }

    /// For a list a list, for one text what is for that.
    fn one_or_all(&self, mut all: Vec<Value>) -> Value {
        if self.is_list || all.len() != 1 { Value::Array(all) } else { all.swap_remove(0) }
    }
}

/// A parameter that should be a word; what is none is shown as it was said.
fn word(input: &Input, name: &str) -> Option<String> {
    match input.get(name)? {
        Value::Null | Value::Bool(false) => None,
        Value::String(_) | Value::Array(_) => input.text(name).map(str::to_string),
        other => Some(other.to_string()),
    }
}

/// Two languages, as clients name them.
pub(super) struct Languages {
    pub(super) source: String,
    pub(super) target: String,
}

impl Languages {
    pub(super) fn asked(input: &Input) -> Result<Self, Refusal> {
        let needed = |name| -> Result<String, Refusal> {
            let code =
                word(input, name).filter(|code| !code.is_empty()).ok_or_else(|| Refusal::missing(name))?;
            let code = code.to_lowercase();
            // Names of scripts and countries that stand for a language of its own here.
            Ok(match code.as_str() {
                "zh-hans" => "zh".into(),
                "zh-hant" => "zt".into(),
                "pt-br" => "pb".into(),
                _ => code,
            })
        };
        Ok(Self { source: needed("source")?, target: needed("target")? })
    }

    /// Refuses what no model has.
    pub(super) fn are_known(&self, hosts: &[Arc<Host>]) -> Result<(), Refusal> {
        let known = |code: &str| hosts.iter().any(|host| host.languages.iter().any(|known| known == code));
        let source = Some(&self.source).filter(|source| *source != "auto");
        match source.into_iter().chain([&self.target]).find(|code| !known(code)) {
            Some(code) => Err(Refusal::bad(format!("{code} is not supported"))),
            None => Ok(()),
        }
    }

    /// The model from a language to the target; none if they are the same.
    pub(super) fn host(&self, hosts: &[Arc<Host>], source: &str) -> Result<Option<Arc<Host>>, Refusal> {
        let target = self.target.as_str();
        if source == target {
            return Ok(None);
        }
        find(hosts, source, target).map(Some).ok_or_else(|| {
            let (name, other) = (name_of(target), name_of(source));
            Refusal::bad(format!(
                "{name} ({target}) is not available as a target language from {other} ({source})"
            ))
        })
    }
}

async fn detect_language(State(shared): State<Arc<Shared>>, request: Request<Body>) -> Response {
    let found = async {
        let input = read(&shared, request, shared.limits.body).await?;
        let text = input.text("q").filter(|text| !text.is_empty()).ok_or_else(|| Refusal::missing("q"))?;
        let found = detect(&shared.hosts.now(), text);
        Ok(found.iter().map(|one| json!({ "confidence": one.confidence, "language": one.code })).collect())
    };
    answered(&shared, found.await)
}

/// A better translation: it is used from the next request on.
async fn suggest(State(shared): State<Arc<Shared>>, request: Request<Body>) -> Response {
    let learnt = async {
        if !shared.learns {
            return Err(Refusal(StatusCode::FORBIDDEN, "Suggestions are disabled on this server.".into()));
        }
        let input = read(&shared, request, shared.limits.body).await?;
        let needed =
            |name| input.text(name).filter(|text| !text.is_empty()).ok_or_else(|| Refusal::missing(name));
        let (text, better) = (needed("q")?, needed("s")?);
        let languages = Languages::asked(&input)?;
        let hosts = shared.hosts.now();
        languages.are_known(&hosts)?;
        if languages.source == "auto" {
            return Err(Refusal::bad("auto is not supported"));
        }
        let Some(host) = languages.host(&hosts, &languages.source)? else {
            return Ok(json!({ "success": true }));
        };
        let given = Given { pairs: pairs(&host, text, better)?, author: "suggest".into(), exact: false };
        correct(&shared, host, String::new(), given).await?;
        Ok(json!({ "success": true }))
    };
    answered(&shared, learnt.await)
}

async fn languages(State(shared): State<Arc<Shared>>) -> Response {
    let pairs = shared.hosts.pairs();
    let all = pairs
        .iter()
        .map(|(code, targets)| json!({ "code": code, "name": name_of(code), "targets": targets }));
    // Languages that are only translated to are languages, too.
    let mut others: Vec<&String> = pairs.iter().flat_map(|(_, targets)| targets).collect();
    others.sort_unstable();
    others.dedup();
    others.retain(|code| !pairs.iter().any(|(known, _)| known == *code));
    let others = others.iter().map(|code| json!({ "code": code, "name": name_of(code), "targets": [] }));
    answer(StatusCode::OK, &all.chain(others).collect())
}

async fn settings(State(shared): State<Arc<Shared>>) -> Response {
    let pairs = shared.hosts.pairs();
    let shown = |code: &str| json!({ "code": code, "name": name_of(code) });
    let (source, target) = pairs
        .first()
        .map_or(("", ""), |(source, targets)| (source.as_str(), targets.first().map_or("", String::as_str)));
    let limit = shared.limits.characters.map_or(-1, |most| most as i64);
    answer(
        StatusCode::OK,
        &json!({
            "apiKeys": shared.keys.is_some(),
            "charLimit": limit,
            "filesTranslation": true,
            "frontendTimeout": 500,
            "keyRequired": shared.keys.is_some(),
            "language": { "source": shown(source), "target": shown(target) },
            "suggestions": shared.learns,
            "supportedFilesFormat": ENDINGS.map(|(ending, _)| ending),
        }),
    )
}
