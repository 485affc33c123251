//! What a model knows about the words of one sentence pair.
//!
//! Rules that match the sentence know which of their words belong together; the model's own translation says where
//! words went that the other translation shares with it; and what is written alike is likely the same.

use sylvan_base::{HashSet, Symbol};
use sylvan_forest::{EdgeId, Target};
use sylvan_rules::apply::Origin;
use sylvan_rules::{Grammar, RuleId};

use super::links::{Evidence, common};
use crate::worker::Derived;

/// Of rules with variables, how many are asked about links.
const ASKED: usize = 3_000;
/// What is written alike and means nothing else to the model.
const ALIKE: f64 = 0.9;
/// Links of the model's own translation.
const OWN: f64 = 0.75;

/// The evidence for a sentence and a translation of it; `derived` is the model's own.
pub(super) fn evidence(derived: &Derived<'_>, target: &[Symbol]) -> Evidence {
    let leaves = derived.sentence().syntax.leaves();
    let mut evidence = Evidence::new(leaves.len(), target.len());
    from_rules(derived, target, &mut evidence);
    from_own(derived, target, &mut evidence);
    let vocab = derived.sentence().vocab();
    for (source, &leaf) in leaves.iter().enumerate() {
        let known = (0..target.len()).any(|place| evidence.at(source, place) > 0.0);
        let text = vocab.text(leaf);
        let number = text.contains(|c: char| c.is_ascii_digit());
        for (place, _) in target.iter().enumerate().filter(|(_, word)| **word == leaf) {
            if number || !known {
                evidence.add(source, place, ALIKE);
            }
        }
    }
    evidence
}

/// Links inside the rules that match, and phrases that stand in the translation as they are.
fn from_rules(derived: &Derived<'_>, target: &[Symbol], evidence: &mut Evidence) {
    let forest = derived.forest();
    let wanted: HashSet<Symbol> = target.iter().copied().collect();
    // Which bundles are made of words of the translation.
    let bundles: Vec<bool> = (0..forest.bundle_count())
        .map(|bundle| {
            let bundle = sylvan_base::Id::from_index(bundle);
            forest.bundle_words(bundle).all(|word| wanted.contains(&word))
        })
        .collect();
    let mut asked = 0;
    for edge in forest.edge_ids() {
        let Origin::Rule(layer, id) = derived.origin(edge) else { continue };
        let side = forest.target(edge);
        let is_part = |symbol: &Target| match symbol {
            Target::Bundle(bundle) => bundles[sylvan_base::Id::index(*bundle)],
            Target::Vertex(_) => true,
        };
        if !side.iter().all(is_part) {
            continue;
        }
        let has_variables = side.iter().any(|symbol| matches!(symbol, Target::Vertex(_)));
        if has_variables {
            asked += 1;
            if asked > ASKED {
                continue;
            }
        }
        let Some(grammar) = derived.grammar_of(layer, id) else { continue };
        let words = words_of(derived, edge);
        if !words.is_empty() {
            let value = strength(grammar, id);
            of_rule(derived, edge, &words, (target, has_variables), value, evidence);
        }
    }
}

fn words_of(derived: &Derived<'_>, edge: EdgeId) -> Vec<Symbol> {
    let forest = derived.forest();
    let bundles = forest.target(edge).iter().filter_map(|symbol| match symbol {
        Target::Bundle(bundle) => Some(forest.bundle_words(*bundle)),
        Target::Vertex(_) => None,
    });
    bundles.flatten().collect()
}

fn of_rule(
    derived: &Derived<'_>,
    edge: EdgeId,
    words: &[Symbol],
    (target, has_variables): (&[Symbol], bool),
    value: f64,
    evidence: &mut Evidence,
) {
    let (leaves, mut links) = derived.leaves_of(edge);
    if links.is_empty() {
        // Tables of other toolkits and corrections may know of none.
        links = (0..leaves.len()).flat_map(|leaf| (0..words.len()).map(move |word| (leaf, word))).collect();
    }
    let value =
        if links.len() > 1 && leaves.len() * words.len() == links.len() { value * 0.5 } else { value };
    for &(leaf, word) in &links {
        let (Some(&leaf), Some(&word)) = (leaves.get(leaf), words.get(word)) else { continue };
        let places = target.iter().enumerate().filter(|(_, other)| **other == word);
        places.for_each(|(place, _)| evidence.add(leaf as usize, place, value));
    }
    if has_variables || words.len() < 2 || words.len() > target.len() {
        return;
    }
    // A longer phrase that stands there as it is says where each of its words belongs.
    let value = (value + 0.15 * words.len() as f64).min(0.95);
    for start in (0..=target.len() - words.len()).filter(|&at| target[at..].starts_with(words)) {
        for &(leaf, word) in &links {
            if let Some(&leaf) = leaves.get(leaf) {
                evidence.add(leaf as usize, start + word, value);
            }
        }
    }
}

/// How sure a rule is of itself: the mean of both conditional probabilities, less if it was seen seldom.
fn strength(grammar: &Grammar, id: RuleId) -> f64 {
    let values = grammar.features(id);
    let log = |name: &str| {
        let place = grammar.feature_names().iter().position(|known| known == name);
        place.and_then(|place| values.get(place)).map_or(-1.0, |&value| f64::from(value).min(0.0))
    };
    let seen = grammar.notes(id).count.map_or(1.0, |count| count.rule.to_f64());
    (0.5 * (log("p_ef") + log("p_fe"))).exp() * seen / (seen + 0.5)
}

/// Words that the model's translation shares with the other keep their links, and if they had none they keep none. Source
/// words that it has no word for are noted.
fn from_own(derived: &Derived<'_>, target: &[Symbol], evidence: &mut Evidence) {
    let (forest, derivation) = (derived.forest(), derived.derivation());
    let own = derivation.words(forest);
    let mut places = vec![None; own.len()];
    common(&own, target).into_iter().for_each(|(one, other)| places[one] = Some(other));
    let mut words: Vec<Vec<usize>> = vec![Vec::new(); derivation.edges().len()];
    let mut count = 0;
    derivation.walk(
        forest,
        |_, _| {},
        |step, _| {
            words[step].push(count);
            count += 1;
        },
    );
    evidence.silent.fill(true);
    for (&edge, words) in derivation.edges().iter().zip(&words) {
        let (leaves, links) = derived.leaves_of(edge);
        // Tables of other toolkits know of no links: then all words of a rule stand for all.
        let is_unsure = links.is_empty() && !words.is_empty();
        let heard = |place: usize| is_unsure || links.iter().any(|&(leaf, _)| leaf == place);
        for (_, &leaf) in leaves.iter().enumerate().filter(|&(place, _)| heard(place)) {
            evidence.silent[leaf as usize] = false;
        }
        let is_rule = matches!(derived.origin(edge), Origin::Rule(..));
        let mut linked = vec![false; words.len()];
        for (leaf, word) in links {
            let (Some(&leaf), Some(&word_place)) = (leaves.get(leaf), words.get(word)) else { continue };
            linked[word] = true;
            // A word that was copied for want of a rule says nothing.
            if let Some(place) = places[word_place].filter(|_| is_rule) {
                let sure = evidence.at(leaf as usize, place);
                evidence.add(leaf as usize, place, OWN + 0.2 * sure);
            }
        }
        if linked.iter().any(|&linked| linked) {
            for (&word, _) in words.iter().zip(&linked).filter(|(_, linked)| !**linked) {
                if let Some(place) = places[word] {
                    evidence.alone[place] = true;
                }
            }
        }
    }
}
