//! Words that no rule translates alone: what words like them, and what their parts, are translated to.
//!
//! ```text
//! browning    ends otherwise than  brown, browned    (endings that many words of the table change)    related
//! Castle      is written otherwise than  castle                                                        related
//! castle-like is  castle + like,   Hundeleine is  Hund(e) + leine                                      parts
//! ```
//!
//! They become rules of one sentence, beside the default rule that copies the word: they keep the features of the rules
//! that they were made from (those of parts are added up), and have two of their own, which say how far the word had to be
//! bent. So the language model chooses, and whoever asks is told what a word was made from.

mod lexicon;
mod parts;
mod related;

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use sylvan_base::{Symbol, Vocab};
use sylvan_rules::apply::each_alone;
use sylvan_rules::{Count, Grammar, RuleId, TargetSide, WordLink};

pub(crate) use lexicon::Lexicon;

/// What becomes of words that no rule translates alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
#[non_exhaustive]
pub enum Unseen {
    /// They are copied.
    #[default]
    Copied,
    /// They are also translated as words like them are, and as their parts are.
    Related,
}

impl Unseen {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Copied => "copied",
            Self::Related => "related",
        }
    }
}

impl fmt::Display for Unseen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Unseen {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        [Self::Copied, Self::Related].into_iter().find(|one| one.as_str() == name).ok_or(())
    }
}

/// The features that rules for unseen words have besides those of the table, in this order. Both count downwards: how many
/// letters of the word's ending are others, and how many parts more than one it has.
pub(crate) const FEATURES: [&str; 2] = ["unseen.related", "unseen.parts"];

/// At most this many translations of a related word, and of a part.
const RULES: usize = 4;
/// At most this many words are taken for related.
const RELATIVES: usize = 3;
/// At most this many translations are made of parts.
const COMBINED: usize = 8;

/// A translation of an unseen word.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) target: Vec<Symbol>,
    pub(crate) links: Vec<WordLink>,
    /// Those of the table, then [`FEATURES`].
    pub(crate) features: Vec<f32>,
    /// The rules that it was made from.
    pub(crate) from: Vec<RuleId>,
    /// How good its rules are, to choose among them: their probability, or features times weights where nothing was counted.
    score: f64,
}

/// Looks for rules in the table.
pub(crate) struct Finder<'f, A> {
    pub(crate) lexicon: &'f OnceLock<Lexicon>,
    pub(crate) table: &'f Grammar,
    /// The weights of the table's features.
    pub(crate) weights: &'f [f64],
    /// Which rules a user has not taken out.
    pub(crate) allowed: A,
    pub(crate) vocab: &'f Vocab,
}

impl<A: Fn(RuleId) -> bool> Finder<'_, A> {
    /// Translations of a word under a label (that of its node; of phrases, where there are no trees); none if a rule of the
    /// table translates it there, or if it is no word.
    pub(crate) fn candidates(&self, label: Symbol, word: Symbol) -> Vec<Candidate> {
        let text = self.vocab.text(word);
        let is_word = text.contains(char::is_alphabetic) && !text.contains(char::is_numeric);
        if !is_word || text.starts_with('[') || self.has(label, word) {
            return Vec::new();
        }
        let mut all = Vec::new();
        for (relative, letters) in self.relatives(word) {
            let mut rules = self.rules(relative, Some(label));
            rules.truncate(RULES);
            for rule in &mut rules {
                rule.features.extend([-(letters as f32), 0.0]);
            }
            all.extend(rules);
        }
        // Under another label the word itself is the nearest relative; parts are for words that are really new.
        if !self.is_known(word) {
            all.extend(self.of_parts(text));
        }
        // Of those that say the same the best stays.
        all.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.from.cmp(&b.from)));
        let mut seen = sylvan_base::HashSet::default();
        all.retain(|one| seen.insert(one.target.clone()));
        all
    }

    fn lexicon(&self) -> &Lexicon {
        self.lexicon.get_or_init(|| Lexicon::new(self.table, self.vocab))
    }

    fn has(&self, label: Symbol, word: Symbol) -> bool {
        let mut has = false;
        each_alone(self.table, word, |known, rule| has |= known == label && (self.allowed)(rule));
        has
    }

    /// Whether some rule translates a word alone.
    fn is_known(&self, word: Symbol) -> bool {
        let mut known = false;
        each_alone(self.table, word, |_, rule| known |= (self.allowed)(rule));
        known
    }

    /// The rules that translate a word alone, best first; those under the labels that are most like the one that is given.
    fn rules(&self, word: Symbol, like: Option<Symbol>) -> Vec<Candidate> {
        let mut found: Vec<(usize, RuleId)> = Vec::new();
        let like = like.map(|label| self.vocab.text(label));
        each_alone(self.table, word, |label, rule| {
            if (self.allowed)(rule) {
                found.push((like.map_or(0, |like| alike(self.vocab.text(label), like)), rule));
            }
        });
        let most = found.iter().map(|&(alike, _)| alike).max().unwrap_or(0);
        let rules = found.into_iter().filter(|&(alike, _)| alike == most).map(|(_, rule)| rule);
        let mut rules: Vec<Candidate> = rules.filter_map(|rule| self.as_candidate(rule)).collect();
        rules.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.from.cmp(&b.from)));
        rules
    }

    fn as_candidate(&self, rule: RuleId) -> Option<Candidate> {
        let whole = self.table.rule(rule);
        let target = whole.target().iter().map(|symbol| match *symbol {
            TargetSide::Word(word) => Some(word),
            TargetSide::Var(_) => None,
        });
        let target: Option<Vec<Symbol>> = target.collect();
        // What says nothing says nothing about words like it.
        let target = target.filter(|target| !target.is_empty())?;
        let (features, notes) = (self.table.features(rule), self.table.notes(rule));
        // How often it was seen does not depend on weights, so that what is tuned on is what is translated.
        let seen = notes.count.filter(|count| count.rule > Count(0) && count.source > Count(0));
        let score = match seen {
            Some(count) => (count.rule.to_f64() / count.source.to_f64()).ln(),
            None => features.iter().zip(self.weights).map(|(&value, weight)| f64::from(value) * weight).sum(),
        };
        Some(Candidate { target, links: notes.links, features, from: vec![rule], score })
    }
}

/// How many letters two labels begin with alike.
fn alike(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}
