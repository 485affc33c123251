//! Why a translation is what it is: each word with its rule, each rule with its features and the training lines behind
//! it, what came second and what decided, what the search saw.
//!
//! ```text
//! line --Worker::explain--> Explanation --+--> text()        for a terminal
//!                                         +--> json()        docs/formats/explanation.md
//!                                         +--> html()        one page, no network
//! ```
//!
//! Numbers add up: the parts of all rules and words are the score, and what decided between two translations is the
//! difference of their scores.

mod alternatives;
mod build;
mod html;
mod line;
mod marks;
mod order;
mod overruled;
mod search;
mod structure;
mod text;

use std::collections::BTreeMap;

use serde::Serialize;

pub use crate::features::Contribution;
pub use crate::worker::RuleKind;
pub use html::{escaped, page};
pub use order::Order;
pub use overruled::Overruled;
pub use search::{Bin, Item, SearchView, Taken};
pub use structure::{Attached, Structure};

/// What is known about the translation of one line.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The version of this format.
    pub version: u32,
    /// The languages, as codes: source and target.
    pub languages: [String; 2],
    /// The line as it was given.
    pub input: String,
    /// Its words.
    pub source: Vec<String>,
    /// Its tree, as rules see it.
    pub tree: Vec<Node>,
    /// The translation as people write it.
    pub translation: String,
    /// The model score: the sum of all parts.
    pub score: f64,
    /// The target words.
    pub words: Vec<Word>,
    /// What the end of the sentence adds.
    pub end: Vec<Contribution>,
    /// The rules in the order in which a reader of the translation meets them, each before those inside it.
    pub steps: Vec<Step>,
    /// Each feature once, over the whole translation.
    pub features: Vec<Contribution>,
    /// What each of them means.
    pub meanings: BTreeMap<String, &'static str>,
    /// The best translation with other words that is known.
    pub runner_up: Option<RunnerUp>,
    /// The tree of the translation, if the model has a structured language model.
    pub structure: Option<Structure>,
    /// What would have been said without the model's network, if that is something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overruled: Option<Overruled>,
    /// What the search did.
    pub search: SearchView,
    /// Places of terms that overlap others and were translated freely, as source words from and to.
    pub missed_terms: Vec<[u32; 2]>,
}

/// A node of the source tree; nodes come after their children, the root last.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Node {
    /// Its label.
    pub label: String,
    /// Its source words: the first, and one past the last.
    pub span: [u32; 2],
    /// What it holds, from left to right.
    pub children: Vec<Child>,
}

/// A part of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Child {
    /// Another node, by its place in the list.
    Node(usize),
    /// Words: the first, and one past the last. More than one if they are a term.
    Words([u32; 2]),
}

/// A target word.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Word {
    /// The word.
    pub text: String,
    /// The step whose rule it stands in.
    pub step: usize,
    /// The source words that it comes from.
    pub links: Vec<u32>,
    /// What language models add for it.
    pub parts: Vec<Contribution>,
}

/// A part of a step's target side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Piece {
    /// A word, by its place in the translation.
    Word(u32),
    /// What another step makes.
    Step(usize),
}

/// A rule at work.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Step {
    /// The step that holds it; none for the first.
    pub parent: Option<usize>,
    /// How many steps it is inside.
    pub depth: usize,
    /// The node of the tree that it translates.
    pub node: usize,
    /// The rule, as rule tables show it.
    pub rule: String,
    /// Where it comes from.
    pub kind: RuleKind,
    /// The words whose rules it was made from, if it is for a word that no rule of the table translates.
    pub stands_for: Vec<String>,
    /// How often training saw the rule, its source side and its target side, where the model knows.
    pub count: Option<[f64; 3]>,
    /// How it lies to what was translated before it, where the model has an opinion on that.
    pub order: Option<Order>,
    /// The source words that it translates itself.
    pub source: Vec<u32>,
    /// Its target side.
    pub target: Vec<Piece>,
    /// What its features add.
    pub parts: Vec<Contribution>,
    /// The sum of these.
    pub score: f64,
    /// Training lines that it was learnt from.
    pub lines: Vec<Line>,
    /// The best other rule here that leads to other words, if there is one.
    pub competitor: Option<Competitor>,
}

/// A training line, with the words of the rule marked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Line {
    /// Its number in the files that training was given, counted from 1.
    pub number: u64,
    /// Its source words.
    pub source: Vec<String>,
    /// Its target words.
    pub target: Vec<String>,
    /// Where the rule's source words stand in it: the narrowest place that has all of them in order.
    pub source_marks: Vec<u32>,
    /// The same for target words.
    pub target_marks: Vec<u32>,
}

/// What a feature says about two translations.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// The feature.
    pub feature: String,
    /// What it adds to the translation.
    pub score: f64,
    /// What it adds to the other one.
    pub other: f64,
    /// The first minus the second: above 0, it speaks for the translation.
    pub difference: f64,
}

/// The second best translation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RunnerUp {
    /// As people write it.
    pub translation: String,
    /// Its words.
    pub words: Vec<String>,
    /// Its model score.
    pub score: f64,
    /// How much worse it is.
    pub difference: f64,
    /// Why: the differences of features, the largest first; their sum is the difference.
    pub decided: Vec<Difference>,
    /// Its rules that the translation does not have.
    pub rules: Vec<String>,
}

/// Another rule for the same place, with everything outside it left as it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Competitor {
    /// The rule.
    pub rule: String,
    /// Where it comes from.
    pub kind: RuleKind,
    /// The translation with it.
    pub words: Vec<String>,
    /// The model score of that.
    pub score: f64,
    /// How much worse it is; below 0, the search missed it.
    pub difference: f64,
    /// Why, as for the second best translation.
    pub decided: Vec<Difference>,
}

impl Explanation {
    /// The format's version.
    pub const VERSION: u32 = 1;

    /// As JSON (docs/formats/explanation.md).
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("strings and finite numbers can be written as JSON")
    }
}

/// What decided between two translations: the differences that are not 0, the largest first.
pub(crate) fn decided(this: &[Contribution], other: &[Contribution]) -> Vec<Difference> {
    let of = |parts: &[Contribution], name: &str| {
        parts.iter().filter(|part| part.feature == name).map(|part| part.score).sum::<f64>()
    };
    let mut names: Vec<&str> = this.iter().chain(other).map(|part| part.feature.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let mut all: Vec<Difference> = names
        .into_iter()
        .map(|name| {
            let (score, other) = (of(this, name), of(other, name));
            Difference { feature: name.to_string(), score, other, difference: score - other }
        })
        .filter(|one| one.difference != 0.0)
        .collect();
    all.sort_by(|a, b| {
        b.difference.abs().total_cmp(&a.difference.abs()).then_with(|| a.feature.cmp(&b.feature))
    });
    all
}
