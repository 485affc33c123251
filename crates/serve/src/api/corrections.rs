//! Corrections: sentences and what they should become.

use std::sync::Arc;

use super::Shared;
use super::refusal::Refusal;
use crate::hosts::{Given, Host, Kept};
use crate::texts::{LONGEST, split, too_long};

/// The sentences of a text with those of its translation. One that would be cut when it is translated is refused, since
/// no piece of it would ever be what was corrected.
pub(super) fn pairs(host: &Host, text: &str, better: &str) -> Result<Vec<(String, String)>, Refusal> {
    let pairs = side_by_side(host, text, better)?;
    if pairs.iter().any(|(source, _)| source.chars().nth(LONGEST).is_some()) {
        return Err(Refusal::bad(format!("Invalid request: {}", too_long())));
    }
    Ok(pairs)
}

fn side_by_side(host: &Host, text: &str, better: &str) -> Result<Vec<(String, String)>, Refusal> {
    let sentences = |text: &str| -> Vec<String> {
        let parts = sylvan_tags::parts(text, None, |plain| split(host, plain));
        parts.into_iter().map(|[start, end]| text[start..end].to_string()).collect()
    };
    let (ours, theirs) = (sentences(text), sentences(better));
    match (ours.len(), theirs.len()) {
        (0, _) | (_, 0) => Err(Refusal::bad("Invalid request: expected words, found none")),
        (one, other) if one == other => Ok(ours.into_iter().zip(theirs).collect()),
        // One sentence may become several.
        (1, _) => {
            Ok(vec![(text.trim().to_string(), better.split_whitespace().collect::<Vec<_>>().join(" "))])
        }
        (one, other) => {
            let said = format!("Invalid request: {other} sentences for {one}; send them one by one");
            Err(Refusal::bad(said))
        }
    }
}

/// Keeps corrections in a layer. When this returns they are on disk, and count; when it is dropped before, they are not kept.
pub(super) async fn correct(
    shared: &Arc<Shared>,
    host: Arc<Host>,
    layer: String,
    mut given: Given,
) -> Result<Vec<Kept>, Refusal> {
    // They become lines of a file that is read again: one that cannot be read would take the others with it.
    let is_text = |text: &String| !text.contains(|letter: char| letter.is_control() && letter != '\t');
    if !given.pairs.iter().all(|(source, target)| is_text(source) && is_text(target)) {
        return Err(Refusal::bad("Invalid request: expected text without control characters"));
    }
    given.author = given.author.replace(char::is_control, " ");
    let work = Arc::clone(shared);
    // Here as long as somebody waits for the answer.
    let here = Arc::new(());
    let waiting = Arc::downgrade(&here);
    // It reads, parses and writes.
    match tokio::task::spawn_blocking(move || work.hosts.correct(&host, &layer, &given, &waiting)).await {
        Ok(Ok(kept)) => Ok(kept),
        Ok(Err(error)) => Err(Refusal::bad(format!("Invalid request: {error}"))),
        Err(_) => Err(Refusal::internal("Cannot keep the correction")),
    }
}
