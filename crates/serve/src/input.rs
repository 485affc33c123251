//! What a request says, however it says it: JSON, a form, a form with files, or its address.

use axum::body::{Body, HttpBody};
use axum::extract::{FromRequest, Multipart, Request};
use axum::http::Method;
use axum::http::header::CONTENT_TYPE;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::{Map, Value};

/// Why a request cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unread {
    /// There is more of it than is allowed.
    TooLarge,
    /// It says that it is JSON, and is not, or is no object.
    Json,
    /// Its body ended early, or a form is no form.
    Broken,
}

/// The parameters of a request. One that is given several times is a list.
#[derive(Debug, Clone, Default)]
pub(crate) struct Input {
    values: Map<String, Value>,
    files: Vec<(String, Upload)>,
    is_json: bool,
}

/// A file that was sent. Its name is what the client says, and means nothing here.
#[derive(Debug, Clone, Default)]
pub(crate) struct Upload {
    pub(crate) name: String,
    pub(crate) content: Vec<u8>,
}

impl Input {
    /// Reads a request of at most so many bytes.
    pub(crate) async fn read(request: Request<Body>, most: usize) -> Result<Self, Unread> {
        // Who says that there is too much need not send it.
        if request.body().size_hint().lower() > most as u64 {
            return Err(Unread::TooLarge);
        }
        let mut input = Self::default();
        input.form(request.uri().query().unwrap_or_default().as_bytes());
        let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default().to_ascii_lowercase();
        // Some clients say what kind the body is where there is none.
        let has_body = !matches!(*request.method(), Method::GET | Method::HEAD | Method::DELETE);
        if kind.starts_with("multipart/form-data") {
            input.multipart(request, most).await?;
            return Ok(input);
        }
        let body = Limited::new(request.into_body(), most).collect().await.map_err(|error| {
            if error.is::<LengthLimitError>() { Unread::TooLarge } else { Unread::Broken }
        })?;
        let body = body.to_bytes();
        if body.is_empty() && !has_body {
            return Ok(input);
        }
        if kind.starts_with("application/json") || kind.contains("+json") {
            let Ok(Value::Object(values)) = serde_json::from_slice(&body) else { return Err(Unread::Json) };
            input.values.extend(values);
            input.is_json = true;
        } else if kind.is_empty() || kind.starts_with("application/x-www-form-urlencoded") {
            input.form(&body);
        }
        Ok(input)
    }

    fn form(&mut self, body: &[u8]) {
        for (name, value) in form_urlencoded::parse(body) {
            self.add(&name, Value::String(value.into_owned()));
        }
    }

    fn add(&mut self, name: &str, value: Value) {
        match self.values.get_mut(name) {
            None => drop(self.values.insert(name.to_string(), value)),
            Some(Value::Array(list)) => list.push(value),
            Some(other) => *other = Value::Array(vec![std::mem::take(other), value]),
        }
    }

    async fn multipart(&mut self, request: Request<Body>, most: usize) -> Result<(), Unread> {
        let request = request.map(|body| Body::new(Limited::new(body, most)));
        let mut form = Multipart::from_request(request, &()).await.map_err(|_| Unread::Broken)?;
        loop {
            let field = match form.next_field().await {
                Ok(Some(field)) => field,
                Ok(None) => return Ok(()),
                Err(error) if error.status() == 413 => return Err(Unread::TooLarge),
                Err(_) => return Err(Unread::Broken),
            };
            let name = field.name().unwrap_or_default().to_string();
            let file = field.file_name().map(str::to_string);
            let content = field
                .bytes()
                .await
                .map_err(|error| if error.status() == 413 { Unread::TooLarge } else { Unread::Broken })?;
            match file {
                Some(file) => self.files.push((name, Upload { name: file, content: content.to_vec() })),
                None => self.add(&name, Value::String(String::from_utf8_lossy(&content).into_owned())),
            }
        }
    }

    /// A file.
    pub(crate) fn file(&self, name: &str) -> Option<&Upload> {
        self.files.iter().find(|(known, _)| known == name).map(|(_, file)| file)
    }

    /// Whether it came as JSON, in which lists are lists.
    pub(crate) fn is_json(&self) -> bool {
        self.is_json
    }

    /// A parameter.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// Whether a parameter is set: `true`, or that word or 1 in a form.
    pub(crate) fn is_true(&self, name: &str) -> bool {
        match self.get(name) {
            Some(Value::Bool(set)) => *set,
            _ => matches!(self.text(name), Some("true" | "1")),
        }
    }

    /// A parameter that is text.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            Value::String(text) => Some(text),
            // Of several the first one.
            Value::Array(list) => list.first()?.as_str(),
            _ => None,
        }
    }
}
