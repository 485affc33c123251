//! Translation over HTTP.
//!
//! ```text
//! connection --http.rs--> request --api/--> texts --texts.rs--> sentences --pool.rs--> translations --> answer
//!                                   files --documents.rs--^
//! ```
//!
//! A fixed number of threads translates; connections, bodies, texts and waiting sentences have limits, and what is beyond
//! them is refused at once. Answers do not depend on what else is asked for at the same time.
//!
//! *Useful for* programs that speak LibreTranslate's or DeepL's interface. *Not useful for* encryption: a proxy in front of it does
//! that.

#![deny(missing_docs)]

mod api;
mod digest;
mod documents;
mod glossaries;
mod hosts;
mod http;
mod input;
mod pool;
mod shelf;
mod stream;
mod texts;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

pub use hosts::Named;
pub use http::{Server, told_to_stop};

/// What a server is started with.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Config {
    /// The models.
    pub models: Vec<Named>,
    /// Where it listens.
    pub address: SocketAddr,
    /// Threads that translate.
    pub threads: usize,
    /// A file of keys, one per line, one of which every request must have.
    pub keys: Option<PathBuf>,
    /// Where glossaries are kept; beside the first model if nothing is said.
    pub glossaries: Option<PathBuf>,
    /// What it takes at most.
    pub limits: Limits,
}

impl Config {
    /// Models at an address, all else as usual.
    pub fn new(models: Vec<Named>, address: SocketAddr) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self { models, address, threads, keys: None, glossaries: None, limits: Limits::default() }
    }
}

/// What a server takes at most.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a request.
    pub body: usize,
    /// Bytes of a file.
    pub file: usize,
    /// Characters of a text; none for no limit.
    pub characters: Option<usize>,
    /// Texts of a request; none for no limit.
    pub texts: Option<usize>,
    /// Sentences that wait.
    pub queue: usize,
    /// Connections.
    pub connections: usize,
    /// How long a client may take to say what it wants, or to say nothing between two requests.
    pub header: Duration,
    /// How long a request may take.
    pub request: Duration,
    /// How long a request to translate a file may take.
    pub file_time: Duration,
    /// How long a client may leave an answer unread.
    pub answer: Duration,
    /// How long requests may still take when the server is to stop.
    pub stopping: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 1 << 20,
            file: 8 << 20,
            characters: None,
            texts: None,
            queue: 1000,
            connections: 512,
            header: Duration::from_secs(10),
            request: Duration::from_secs(20),
            file_time: Duration::from_secs(300),
            answer: Duration::from_secs(30),
            stopping: Duration::from_secs(25),
        }
    }
}
