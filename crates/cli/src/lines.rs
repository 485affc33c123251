//! Lines of text as they come: all that have arrived are processed together, without waiting for more.

use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};

use sylvan_base::InputError;
use sylvan_store::TextReader;

/// At most this many lines are processed together: enough for threads, few enough that output comes soon.
const CHUNK: usize = 256;

pub(crate) type Line = Result<String, InputError>;

/// Reads lines in a thread of its own, so that those already read can be processed while others are awaited.
pub(crate) fn read_ahead(path: &Path) -> anyhow::Result<Receiver<Line>> {
    let mut reader = TextReader::open(path)?.tolerant();
    let (send, receive) = sync_channel(4 * CHUNK);
    std::thread::Builder::new().name("reader".into()).spawn(move || {
        loop {
            let line = match reader.next_line() {
                Ok(None) => break,
                Ok(Some(line)) => Ok(line.to_string()),
                Err(error) => Err(error),
            };
            // The receiver is gone once the output is closed. After a line that is wrong come others.
            let ended = line.as_ref().is_err_and(|error| !matches!(error, InputError::Text { .. }));
            if send.send(line).is_err() || ended {
                break;
            }
        }
    })?;
    Ok(receive)
}

/// The lines that have arrived, at least one; `None` at the end.
pub(crate) fn next_chunk(lines: &Receiver<Line>) -> Option<Vec<Line>> {
    let mut chunk = vec![lines.recv().ok()?];
    chunk.extend(lines.try_iter().take(CHUNK - 1));
    Some(chunk)
}

/// The text of lines, empty where they cannot be read, and what is wrong with those.
pub(crate) fn texts(chunk: Vec<Line>) -> (Vec<String>, Vec<Option<InputError>>) {
    chunk
        .into_iter()
        .map(|line| match line {
            Ok(text) => (text, None),
            Err(error) => (String::new(), Some(error)),
        })
        .unzip()
}
