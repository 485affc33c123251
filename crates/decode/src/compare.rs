//! What two models make of the same lines, and why they differ.

use std::sync::Arc;

use serde::Serialize;
use sylvan_base::parallel;
use sylvan_forest::Derivation;

use crate::error::Result;
use crate::explain::decided;
use crate::model::Model;
use crate::sentence::Sentence;
use crate::translate::Request;
use crate::worker::{Decoded, Derived, Worker};

/// How many translations are searched for the other model's.
const LISTED: usize = 100;
/// How many features of a difference are named.
const NAMED: usize = 3;

/// A line that two models translate differently.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChangedLine {
    /// Its number, counted from 1.
    pub number: u64,
    /// The line.
    pub source: String,
    /// What the first model makes of it.
    pub first: String,
    /// What the second makes of it.
    pub second: String,
    /// Why, in words, the strongest reason first.
    pub reasons: Vec<String>,
}

/// Translates lines with two models, each with its own request (they may have different corrections). Returns
/// the lines that differ and why: rules that one of them lacks, and how each of them scores both
/// translations.
pub fn compare_translations(
    models: [&Arc<Model>; 2],
    requests: [&Request; 2],
    lines: &[String],
    name: &str,
    threads: usize,
) -> Result<Vec<ChangedLine>> {
    let workers = || models.map(|model| Worker::new(Arc::clone(model)));
    let changed = parallel::map(lines, threads, workers, |workers, index, line| {
        let [first, second] = workers;
        let number = index as u64 + 1;
        let ours = Answer::new(first, requests[0], line, name, number)?;
        let theirs = Answer::new(second, requests[1], line, name, number)?;
        let (Some(ours), Some(theirs)) = (ours, theirs) else { return Ok(None) };
        if ours.text() == theirs.text() {
            return Ok(None);
        }
        let mut reasons = Vec::new();
        reasons.extend(ours.lacking_in(models[1]).map(|rule| format!("the second has no rule {rule}")));
        reasons.extend(theirs.lacking_in(models[0]).map(|rule| format!("the first has no rule {rule}")));
        reasons.extend(ours.margin("the first", &theirs));
        reasons.extend(theirs.margin("the second", &ours));
        let source = line.clone();
        Ok(Some(ChangedLine { number, source, first: ours.text(), second: theirs.text(), reasons }))
    });
    Ok(changed.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// What a model makes of a line.
struct Answer<'w> {
    worker: &'w Worker,
    request: &'w Request,
    sentence: Sentence,
    decoded: Decoded,
}

impl<'w> Answer<'w> {
    fn new(
        worker: &'w mut Worker,
        request: &'w Request,
        line: &str,
        name: &str,
        number: u64,
    ) -> Result<Option<Self>> {
        let sentence = worker.read(line, request.input, request.with());
        let Some(sentence) = sentence.map_err(|unread| unread.at(name, number))? else { return Ok(None) };
        let listed = Request { best: LISTED, ..request.clone() };
        let decoded = worker.decode_request(&sentence, &listed)?;
        Ok((!decoded.hypotheses.is_empty()).then_some(Self { worker, request, sentence, decoded }))
    }

    fn derived<'a>(&'a self, derivation: &'a Derivation) -> Derived<'a> {
        self.worker.derived(&self.sentence, self.request.with(), &self.decoded.forest, derivation)
    }

    fn words(&self, number: usize) -> Vec<&str> {
        let words = self.decoded.hypotheses[number].words.iter();
        words.map(|&word| self.sentence.vocab().text(word)).collect()
    }

    fn text(&self) -> String {
        self.derived(&self.decoded.hypotheses[0].derivation).compose(self.worker.model().target_text()).text
    }

    /// The rules of the best translation that another model does not have.
    fn lacking_in(&self, other: &Model) -> impl Iterator<Item = String> + use<> {
        let derivation = &self.decoded.hypotheses[0].derivation;
        let derived = self.derived(derivation);
        let mut lacking: Vec<String> = Vec::new();
        for &edge in derivation.edges() {
            let Some(rule) = derived.rule(edge) else { continue };
            let theirs = rule.in_vocab(self.sentence.vocab(), other.vocab());
            if theirs.is_none_or(|rule| other.grammar().find_rule(&rule).is_none()) {
                let text = rule.show(self.sentence.vocab());
                if !lacking.contains(&text) {
                    lacking.push(text);
                }
            }
        }
        lacking.into_iter()
    }

    /// By how much the model prefers its own translation to the other's, if its list has both.
    fn margin(&self, who: &str, other: &Answer<'_>) -> Option<String> {
        let list = &self.decoded.hypotheses;
        let wanted = other.words(0);
        let found = (0..list.len()).find(|&number| self.words(number) == wanted)?;
        let [best, found] = [&list[0], &list[found]];
        let totals = |derivation: &Derivation| self.derived(derivation).contributions().totals();
        let (ours, theirs) = (totals(&best.derivation), totals(&found.derivation));
        let differences = decided(&ours, &theirs);
        let named: Vec<String> = differences
            .iter()
            .take(NAMED)
            .map(|one| format!("{} {:+.3}", one.feature, one.difference))
            .collect();
        let total = best.score - found.score;
        Some(format!("{who} prefers its own by {total:.3}: {}", named.join(", ")))
    }
}
