//! Texts, not sentences: each is taken apart, its sentences are translated side by side, and it is put together again.

use std::sync::Arc;
use std::time::Instant;

use sylvan::{Alternatives, Choice, Details, Dialect, Explanation, Request, Search, Translated};
use sylvan_text::sentences;

use crate::glossaries::Terms;
use crate::hosts::Host;
use crate::pool::{Busy, Failure, Made, Part as Asked, Pool, Work};

/// Characters of a sentence. Time grows faster than length does, and nobody writes longer ones: what has more is cut between
/// words, so that no request keeps a thread for long.
pub(crate) const LONGEST: usize = 2000;

/// From so many bytes on, taking a text apart is work that connections do not wait for.
const LONG: usize = 32 << 10;

/// How texts are to be translated.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted {
    /// What their markup is; without it there is none.
    pub(crate) dialect: Option<Dialect>,
    /// How many translations of each text.
    pub(crate) best: usize,
    /// Terms.
    pub(crate) glossary: Option<Arc<Terms>>,
    /// Whether a text is one sentence, whatever it looks like.
    pub(crate) whole: bool,
    /// How to search; as is usual for the model if nothing is said.
    pub(crate) search: Option<Search>,
    /// What is wanted of each translation besides its text.
    pub(crate) details: Details,
    /// Names of layers of corrections besides those that always count.
    pub(crate) layers: Vec<String>,
    /// Translations of parts of a sentence that must be used.
    pub(crate) choices: Vec<Choice>,
    pub(crate) deadline: Option<Instant>,
}

/// Why texts were not translated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Untranslated {
    Busy,
    Failed(Failure),
}

/// Translates texts, each with the model beside it; one without a model stays as it is. Each has at least one translation,
/// the best first. Texts of one model wait together.
pub(crate) async fn translate(
    pool: &Pool,
    texts: &[String],
    by: &[Option<Arc<Host>>],
    wanted: &Wanted,
) -> Result<Vec<Vec<String>>, Untranslated> {
    let mut all: Vec<Vec<String>> = texts.iter().map(|text| vec![text.clone()]).collect();
    let mut hosts: Vec<&Arc<Host>> = by.iter().flatten().collect();
    hosts.sort_by_key(|host| Arc::as_ptr(host));
    hosts.dedup_by_key(|host| Arc::as_ptr(host));
    for host in hosts {
        let mine = |at: &usize| by[*at].as_ref().is_some_and(|one| Arc::ptr_eq(one, host));
        let places: Vec<usize> = (0..texts.len()).filter(mine).collect();
        let some: Vec<&str> = places.iter().map(|&at| texts[at].as_str()).collect();
        let translated = with_model(pool, host, &some, wanted).await?;
        places.into_iter().zip(translated).for_each(|(at, best)| all[at] = best);
    }
    Ok(all)
}

/// Translates texts with one model.
async fn with_model(
    pool: &Pool,
    host: &Arc<Host>,
    texts: &[&str],
    wanted: &Wanted,
) -> Result<Vec<Vec<String>>, Untranslated> {
    let all = sentences_of(pool, host, texts, wanted).await?;
    Ok(texts.iter().zip(&all).map(|(text, parts)| together(text, parts, wanted.best)).collect())
}

/// A sentence of a text: its bytes, and what it became.
pub(crate) type Part = ([usize; 2], Translated);

/// Translates the sentences of texts.
pub(crate) async fn sentences_of(
    pool: &Pool,
    host: &Arc<Host>,
    texts: &[&str],
    wanted: &Wanted,
) -> Result<Vec<Vec<Part>>, Untranslated> {
    let parts: Vec<Vec<[usize; 2]>> = texts.iter().map(|text| parts(host, text, wanted)).collect();
    let lines = texts
        .iter()
        .zip(&parts)
        .flat_map(|(text, parts)| parts.iter().map(|&[start, end]| text[start..end].to_string()));
    let made = run(pool, host, Work::Translate, lines.collect(), wanted).await?;
    let mut translated = made.into_iter().filter_map(|made| match made {
        Made::Translated(translated) => Some(*translated),
        Made::Explained(_) | Made::Alternatives(_) => None,
    });
    Ok(parts.into_iter().map(|parts| parts.into_iter().zip(translated.by_ref()).collect()).collect())
}

/// Explains the translation of a sentence; nothing if it has no words.
pub(crate) async fn explain(
    pool: &Pool,
    host: &Arc<Host>,
    sentence: &str,
    wanted: &Wanted,
) -> Result<Option<Arc<Explanation>>, Untranslated> {
    is_short(sentence)?;
    let made = run(pool, host, Work::Explain, vec![sentence.to_string()], wanted).await?;
    Ok(made.into_iter().find_map(|made| match made {
        Made::Explained(explained) => explained,
        Made::Translated(_) | Made::Alternatives(_) => None,
    }))
}

/// What a part of a sentence can be translated to; nothing if the sentence has no words.
pub(crate) async fn alternatives(
    pool: &Pool,
    host: &Arc<Host>,
    sentence: &str,
    asked: Asked,
    wanted: &Wanted,
) -> Result<Option<Arc<Alternatives>>, Untranslated> {
    is_short(sentence)?;
    let made = run(pool, host, Work::Alternatives(asked), vec![sentence.to_string()], wanted).await?;
    Ok(made.into_iter().find_map(|made| match made {
        Made::Alternatives(found) => found,
        Made::Translated(_) | Made::Explained(_) => None,
    }))
}

/// Whether a sentence is one that is not cut.
fn is_short(sentence: &str) -> Result<(), Untranslated> {
    match sentence.chars().nth(LONGEST) {
        None => Ok(()),
        Some(_) => Err(Untranslated::Failed(Failure::Bad(too_long()))),
    }
}

/// What is said of a sentence that is too long to be one.
pub(crate) fn too_long() -> String {
    format!("more than {LONGEST} characters, expected a sentence")
}

/// What becomes of lines, one for one.
async fn run(
    pool: &Pool,
    host: &Arc<Host>,
    work: Work,
    lines: Vec<String>,
    wanted: &Wanted,
) -> Result<Vec<Made>, Untranslated> {
    let mut request = Request::default();
    request.best = wanted.best.max(1);
    request.search = wanted.search;
    request.details = wanted.details;
    request.tags.clone_from(&wanted.dialect);
    request.glossary = wanted.glossary.as_ref().map(|terms| terms.of(host));
    request.corrections =
        host.corrections(&wanted.layers).map_err(|said| Untranslated::Failed(Failure::Bad(said)))?;
    request.choices.clone_from(&wanted.choices);
    request.stop.deadline = wanted.deadline;
    let count = lines.len();
    let ticket = pool.submit(&host.served, work, request, lines).map_err(|Busy| Untranslated::Busy)?;
    let made: Vec<Made> =
        ticket.outcomes().await.into_iter().collect::<Result<_, _>>().map_err(Untranslated::Failed)?;
    // Nothing is known of what was cancelled.
    if made.len() == count { Ok(made) } else { Err(Untranslated::Failed(Failure::Cancelled)) }
}

/// The parts of a text that are translated, as bytes.
fn parts(host: &Host, text: &str, wanted: &Wanted) -> Vec<[usize; 2]> {
    let sentences = |plain: &str| {
        let whole = if wanted.whole { vec![trimmed(plain)] } else { split(host, plain) };
        whole.into_iter().flat_map(|bytes| cut(plain, bytes)).collect()
    };
    let found = || sylvan_tags::parts(text, wanted.dialect.as_ref(), sentences);
    if text.len() < LONG { found() } else { tokio::task::block_in_place(found) }
}

/// A sentence, or pieces of one that is too long.
fn cut(text: &str, [start, end]: [usize; 2]) -> Vec<[usize; 2]> {
    let mut pieces = Vec::new();
    let mut rest = start;
    while let Some((most, _)) = text[rest..end].char_indices().nth(LONGEST) {
        let piece = &text[rest..rest + most];
        // What has no spaces is cut anywhere.
        let words = piece.rfind(char::is_whitespace).map_or("", |at| piece[..at].trim_end());
        let length = if words.is_empty() { most } else { words.len() };
        pieces.push([rest, rest + length]);
        rest += length;
        rest += text[rest..end].len() - text[rest..end].trim_start().len();
    }
    pieces.push([rest, end]);
    pieces
}

/// The sentences of a text, as bytes.
pub(crate) fn split(host: &Host, text: &str) -> Vec<[usize; 2]> {
    let start = |sentence: &str| sentence.as_ptr() as usize - text.as_ptr() as usize;
    sentences(host.splitting, text).into_iter().map(|one| [start(one), start(one) + one.len()]).collect()
}

/// The bytes of a text without the space around it.
fn trimmed(text: &str) -> [usize; 2] {
    let start = text.len() - text.trim_start().len();
    [start, start + text.trim().len()]
}

/// A text with its parts translated: the best of each, then the second best of each, as far as there are any.
pub(crate) fn together(text: &str, parts: &[Part], best: usize) -> Vec<String> {
    let most = parts.iter().map(|(_, part)| part.best.len()).max().unwrap_or(0).clamp(1, best.max(1));
    (0..most)
        .map(|rank| {
            let mut out = String::with_capacity(text.len());
            let mut at = 0;
            for ([start, end], part) in parts {
                out.push_str(&text[at..*start]);
                // What has no words stays.
                let best = part.best.get(rank).or(part.best.first());
                out.push_str(best.map_or(&text[*start..*end], |best| &best.text));
                at = *end;
            }
            out.push_str(&text[at..]);
            out
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_sentences_are_cut_between_words() {
        let words = "word \u{3000}".repeat(1000);
        let text = format!("x{words}y");
        let pieces = cut(&text, [1, text.len()]);
        assert!(
            pieces.len() == 4
                && pieces.iter().all(|&[start, end]| text[start..end].chars().count() <= LONGEST)
        );
        assert!(pieces.iter().all(|&[start, end]| text[start..end] == *text[start..end].trim()));
        let joined: usize = pieces.iter().map(|&[start, end]| text[start..end].matches("word").count()).sum();
        assert_eq!((joined, pieces[3][1]), (1000, text.len()));
        let solid = "\u{e9}".repeat(LONGEST + 1);
        assert_eq!(cut(&solid, [0, solid.len()]), [[0, 2 * LONGEST], [2 * LONGEST, solid.len()]]);
        assert_eq!(cut("a b", [0, 3]), [[0, 3]]);
    }
}
