//! A server on loopback for tests.
#![allow(dead_code, clippy::unwrap_used, clippy::needless_pass_by_value, unreachable_pub)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use serde_json::Value;
use sylvan_serve::{Config, Named, Server};
use tokio::sync::oneshot;

pub const LINE: &str = "下个月 我 会 见 我 的 邻居 。";
pub const BEST: &str = "next month I will meet my neighbour .";

pub fn model() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../sylvan/tests/formats/model-v1.sylvan")
}

/// A server that stops when it is dropped.
pub struct Running {
    pub address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    pub fn new(path: PathBuf, set: impl FnOnce(&mut Config)) -> Self {
        Self::between(&path, &[["zh", "en"]], set)
    }

    /// The same model for several pairs of languages.
    pub fn between(path: &Path, pairs: &[[&str; 2]], set: impl FnOnce(&mut Config)) -> Self {
        let named =
            |pair: &[&str; 2]| Named { path: path.to_path_buf(), languages: Some(pair.map(str::to_string)) };
        let mut config = Config::new(pairs.iter().map(named).collect(), "127.0.0.1:0".parse().unwrap());
        set(&mut config);
        let server = Server::bind(config).unwrap();
        let address = server.address().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || server.run(async { drop(stopped.await) }, |_| {}));
        Self { address, stop: Some(stop), thread: Some(thread) }
    }

    pub fn usual() -> Self {
        Self::new(model(), |_| {})
    }

    /// Sends bytes, and reads until the server is done.
    pub fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8(answer).unwrap()
    }

    pub fn ask(&self, method: &str, path: &str, kind: &str, body: &str) -> (u16, Value) {
        let kind = if kind.is_empty() { String::new() } else { format!("Content-Type: {kind}\r\n") };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{kind}Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let answer = self.raw(request.as_bytes());
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        (status, serde_json::from_str(body).unwrap_or(Value::String(body.to_string())))
    }

    /// The head of an answer.
    pub fn head(&self, request: &str) -> String {
        let answer = self.raw(format!("{request}Connection: close\r\n\r\n").as_bytes());
        answer.split_once("\r\n\r\n").unwrap().0.to_lowercase()
    }

    pub fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.ask("POST", path, "application/json", &body.to_string())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.stop.take());
        let _ = self.thread.take().unwrap().join();
    }
}
