//! `sylvan serve` with small models, and its page in a browser.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::browser::Page;
use super::common::corpus::{Corpus, success};

/// A model from trees, which knows its training lines and a parser, and one for the way back, without syntax.
pub fn models(pairs: usize) -> Corpus {
    let corpus = Corpus::new(pairs);
    let quick = "--align-preset fast --rounds 1 --nbest 10 --beam 20 --tokenized";
    let train = |from: &str, to: &str, more: &str| {
        let files = format!(
            "train --source train.{from} --target train.{to} --dev-source dev.{from} --dev-target dev.{to} \
             --source-lang {from} --target-lang {to} --out {from}{to}.sylvan {quick} {more}"
        );
        success(&corpus.run(&files.split_whitespace().collect::<Vec<_>>(), ""));
    };
    train("zh", "en", "--treebank train.tree");
    train("en", "zh", "--kind hiero");
    corpus
}

/// A server that ends when it is dropped.
pub struct Server {
    process: Child,
    pub address: String,
}

impl Server {
    pub fn start(folder: &Path, more: &[&str]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_sylvan"))
            .args([
                "serve",
                "--model",
                "zhen.sylvan",
                "--model",
                "enzh.sylvan",
                "--port",
                "0",
                "--threads",
                "2",
            ])
            .args(more)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(process.stderr.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let address =
            line.trim().strip_prefix("listening at ").unwrap_or_else(|| panic!("{line}")).to_string();
        // Nobody else reads what it says.
        std::thread::spawn(move || said.lines().map_while(Result::ok).for_each(drop));
        Self { process, address }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Asks the server from inside the page.
#[allow(clippy::needless_pass_by_value, reason = "callers make it on the spot")]
pub fn ask(page: &mut Page, path: &str, body: Value) -> Value {
    let body = json!(body.to_string());
    page.eval(&format!(
        "fetch('{path}', {{ method: 'POST', headers: {{ 'Content-Type': 'application/json' }}, body: {body} }})\
         .then((answer) => answer.json())"
    ))
}

/// Replaces the text of a field and waits until the translation is there.
pub fn translate(page: &mut Page, text: &str) {
    fill(page, "#text", text);
    settled(page);
}

/// Replaces the text of a field, as somebody does who types.
pub fn fill(page: &mut Page, field: &str, text: &str) {
    page.eval(&format!(
        "(() => {{ const field = document.querySelector('{field}'); field.focus(); field.select(); }})()"
    ));
    match text {
        "" => drop(page.eval("document.execCommand('delete')")),
        _ => page.type_text(text),
    }
}

/// Waits until what is shown is the translation of what is typed.
pub fn settled(page: &mut Page) {
    page.wait(
        "!document.querySelector('#output').classList.contains('stale') && \
         document.querySelectorAll('#output .line').length === document.querySelector('#text').value.split('\\n').length",
    );
}

pub fn text(page: &mut Page, selector: &str) -> String {
    let found = page.eval(&format!("document.querySelector({selector:?})?.textContent ?? '(nothing)'"));
    found.as_str().unwrap().to_string()
}

pub fn count(page: &mut Page, selector: &str) -> u64 {
    page.eval(&format!("document.querySelectorAll({selector:?}).length")).as_u64().unwrap()
}

/// Brings an element into view and clicks it.
pub fn click(page: &mut Page, selector: &str) {
    page.wait(&format!("!!document.querySelector({selector:?})"));
    page.eval(&format!("document.querySelector({selector:?}).scrollIntoView({{ block: 'center' }})"));
    page.click(selector);
}
