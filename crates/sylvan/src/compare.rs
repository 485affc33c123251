//! What two models make of the same lines, and why they differ.

use sylvan_rules::Rule;

use crate::decoder::Decoder;
use crate::translate::{Request, TextTranslator, TranslateError, TranslatedText};

/// So many translations are searched for the other model's one.
const LISTED: usize = 100;
/// So many features of a difference are named.
const NAMED: usize = 3;

/// A line that two models translate differently.
#[derive(Debug, Clone, PartialEq)]
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

/// Translates lines with two models and tells which differ, and why: rules that one of them lacks, or else what each
/// of them says about both translations.
pub fn compare_translations(
    first: &mut TextTranslator,
    second: &mut TextTranslator,
    lines: &[String],
    name: &str,
    request: &Request,
) -> Result<Vec<ChangedLine>, TranslateError> {
    let request = Request { best: LISTED, details: true, ..*request };
    let ours = first.translate(lines, name, 1, &request)?;
    let theirs = second.translate(lines, name, 1, &request)?;
    let mut changed = Vec::new();
    for (index, (our, their)) in ours.iter().zip(&theirs).enumerate() {
        let (Some(a), Some(b)) = (our.best.first(), their.best.first()) else { continue };
        if a.text == b.text {
            continue;
        }
        let mut reasons = Vec::new();
        reasons.extend(lacking(a, &mut second.decoder).map(|rule| format!("the second has no rule {rule}")));
        reasons.extend(lacking(b, &mut first.decoder).map(|rule| format!("the first has no rule {rule}")));
        reasons.extend(margin("the first", &first.decoder, &our.best, b));
        reasons.extend(margin("the second", &second.decoder, &their.best, a));
        changed.push(ChangedLine {
            number: index as u64 + 1,
            source: lines[index].clone(),
            first: a.text.clone(),
            second: b.text.clone(),
            reasons,
        });
    }
    Ok(changed)
}

/// The rules of a translation that a decoder does not have.
fn lacking(translation: &TranslatedText, decoder: &mut Decoder) -> impl Iterator<Item = String> + use<> {
    let mut lacking = Vec::new();
    for line in translation.derivation.lines() {
        let text = line.trim_start();
        let Ok(rule) = Rule::parse(text, decoder.vocab_mut()) else { continue };
        if decoder.grammar().find_rule(&rule).is_none() && !lacking.iter().any(|known| known == text) {
            lacking.push(text.to_string());
        }
    }
    lacking.into_iter()
}

/// What a model says about its own translation against the other one's, if it knows that.
fn margin(who: &str, decoder: &Decoder, list: &[TranslatedText], other: &TranslatedText) -> Option<String> {
    let best = list.first()?;
    let found = list.iter().find(|one| one.words == other.words)?;
    let weight =
        |name: &str| decoder.weights().iter().find(|(known, _)| *known == name).map_or(0.0, |(_, w)| w);
    let of = |one: &TranslatedText, name: &str| {
        one.features.iter().find(|(known, _)| known == name).map_or(0.0, |(_, value)| value * weight(name))
    };
    let mut differences: Vec<(f64, &str)> = best
        .features
        .iter()
        .map(|(name, _)| (of(best, name) - of(found, name), name.as_str()))
        .filter(|(difference, _)| *difference != 0.0)
        .collect();
    differences.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()).then(a.1.cmp(b.1)));
    let named: Vec<String> =
        differences.iter().take(NAMED).map(|(difference, name)| format!("{name} {difference:+.3}")).collect();
    let total = best.score - found.score;
    Some(format!("{who} prefers its own by {total:.3}: {}", named.join(", ")))
}
