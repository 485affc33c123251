//! Lists of translations, and what several of them agree on.

use sylvan_decode::{List, Result, With};
use sylvan_eval::consensus::{Listed, agreed};
use sylvan_rules::Weights;
use sylvan_search::Stop;

use crate::lab::Lab;
use crate::system::{Part, System};
use crate::ways::Way;

/// Of each sentence different translations and their scores, best first.
pub(crate) type Lists = Vec<Listed>;

/// How long lists are.
pub(crate) const LONGEST: usize = 100;

/// What a search lists of a text.
pub(crate) fn lists(
    lab: &Lab<'_>,
    system: &System,
    weights: &Weights,
    way: &Way,
    part: Part,
) -> Result<Lists> {
    let key = system.key_of(weights, way, system.content(part, usize::MAX)?);
    lab.once("lists", key, || {
        let mut worker = system.worker_for(weights, way);
        let sentences = system.sentences(part)?;
        lab.progress.begin(&format!("{}, lists", way.options), Some(sentences.len() as u64));
        let mut lists = Lists::new();
        for sentence in sentences.iter() {
            let list = List { best: LONGEST, distinct: true };
            let found = worker.decode(sentence, With::default(), way.search, list, &Stop::NEVER);
            let listed = found.hypotheses.iter();
            lists.push(listed.map(|one| (sentence.vocab().join(&one.words), one.score)).collect());
            lab.progress.at(lists.len() as u64);
        }
        lab.progress.end();
        Ok(lists)
    })
}

/// The translation of each sentence that agrees best with all lists, which count alike; `scale` is what scores are
/// multiplied with.
pub(crate) fn agreed_lines(systems: &[Lists], scale: f64) -> Vec<String> {
    let count = systems.iter().map(Vec::len).max().unwrap_or(0);
    let alike = vec![1.0; systems.len()];
    let sentence = |number: usize| {
        let lists: Vec<Listed> =
            systems.iter().map(|lists| lists.get(number).cloned().unwrap_or_default()).collect();
        agreed(&lists, &alike, scale).unwrap_or_default().to_string()
    };
    (0..count).map(sentence).collect()
}
