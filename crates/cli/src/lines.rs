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
            // The receiver is gone once an error was seen or the output is closed.
            let failed = line.is_err();
            if send.send(line).is_err() || failed {
                break;
            }
        }
    })?;
    Ok(receive)
}

/// The lines that have arrived, at least one; `None` at the end.
pub(crate) fn next_chunk(lines: &Receiver<Line>) -> anyhow::Result<Option<Vec<String>>> {
    let Ok(first) = lines.recv() else { return Ok(None) };
    let mut chunk = vec![first?];
    while chunk.len() < CHUNK {
        match lines.try_recv() {
            Ok(line) => chunk.push(line?),
            Err(_) => break,
        }
    }
    Ok(Some(chunk))
}
