//! Learning from a corrected translation: the sentence is translated as given from now on, and what was new in it
//! becomes rules for other sentences.
//!
//! ```text
//! sentence, translation --evidence.rs--> what speaks for which links --links.rs--> links --rules.rs--> lines
//! ```
//!
//! A model file has no aligner in it. Its rules know which words belong together, and that is enough for one pair
//! (docs/notes/corrections.md).

mod evidence;
mod links;
mod rules;

use std::collections::BTreeSet;

use serde::Serialize;
use sylvan_base::{Fault, Symbol, Vocab};
use sylvan_corpus::Link;
use sylvan_rules::{FLAT_LABEL, GIVEN, Rule, Source, TargetSide, WordLink};
use sylvan_search::Stop;
use sylvan_trees::{Child, NodeId, Tree};

use crate::corrections::{Corrections, Pair};
use crate::error::{Error, Result};
use crate::hypotheses::List;
use crate::reading::Input;
use crate::sentence::{Sentence, Syntax};
use crate::worker::{With, Worker};

pub(crate) use links::common;

/// Which rules are learnt from a pair, and what they are worth. The defaults were chosen by feeding corrections back one
/// by one (docs/notes/corrections.md).
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Learning {
    /// At most this many rules, small ones first; none if only the sentence itself is to be translated as given.
    pub rules: usize,
    /// Whether rules are left out that say what the model said itself.
    pub news: bool,
    /// Minimal rules per rule over trees.
    pub composed: u32,
    /// Words of each side of a rule.
    pub words: u32,
    /// Flat rules: words that a rule with variables stretches over.
    pub span: u32,
    /// Flat rules: variables.
    pub variables: u32,
    /// How many more times a rule counts as seen, for each correction that has it.
    pub count: f64,
    /// How often something else is taken to have been seen in place of a new rule, besides what the table has seen.
    pub others: f64,
    /// The lexical probability of each word of a new rule, as a logarithm.
    pub word: f64,
    /// What is added to the score besides, wherever a new rule is used.
    pub boost: f32,
}

impl Default for Learning {
    fn default() -> Self {
        Self {
            rules: 20,
            news: true,
            composed: 2,
            words: 5,
            span: 10,
            variables: 0,
            count: 1.0,
            others: 2.0,
            word: -1.0,
            boost: 0.0,
        }
    }
}

impl Learning {
    /// The sentence alone.
    pub fn exact() -> Self {
        Self { rules: 0, ..Self::default() }
    }
}

/// What a pair became.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Learned {
    /// The rules for other sentences, as tables write them.
    pub rules: Vec<String>,
    /// Words of the sentence and of its translation that belong together, counted from 0.
    pub links: Vec<(u32, u32)>,
    /// What the sentence was translated to before.
    pub before: String,
    /// The earlier correction of the same sentence that gave it another translation and counts no more.
    pub instead_of: Option<Pair>,
    /// Lines of an overlay.
    #[serde(skip)]
    pub lines: Vec<String>,
}

impl Worker {
    /// Learns from a sentence and its translation, on top of earlier corrections.
    pub fn learn(
        &mut self,
        (source, target): (&str, &str),
        input: Input,
        corrections: Option<&Corrections>,
        learning: &Learning,
    ) -> Result<Learned> {
        let with = With { corrections, ..With::default() };
        let nothing = |what: &str| {
            let fault = Fault::new(0, format!("{what} without words"), "a sentence and its translation");
            Error::from(fault.at("the pair", 1))
        };
        let sentence = self.read(source, input, with).map_err(|unread| unread.at("the sentence", 1))?;
        let Some(mut sentence) = sentence else { return Err(nothing("a sentence")) };
        if matches!(sentence.syntax, Syntax::Forest(_)) {
            return Err(nothing("a forest"));
        }
        let texts = self.model().target_words(target);
        if texts.is_empty() {
            return Err(nothing("a translation"));
        }
        let words: Vec<Symbol> = texts.iter().map(|word| sentence.vocab.intern(word)).collect();
        let seen = self.look(&mut sentence, with, &words)?;
        let given = whole(&mut sentence, &words);
        let mut learned = Learned {
            rules: Vec::new(),
            links: seen.links.iter().map(|link| (link.source, link.target)).collect(),
            before: seen.before,
            instead_of: None,
            lines: Vec::new(),
        };
        if let Some(corrections) = corrections {
            let earlier = corrections.given_for(given.source(), given.target());
            learned.instead_of = earlier.map(|earlier| {
                learned.lines = earlier.lines;
                earlier.pair
            });
        }
        let vocab = &mut sentence.vocab.clone();
        let formalism = self.model().formalism();
        let news = rules::News::new(&seen.said, &seen.words);
        let found = rules::rules(&sentence, &seen.words, &seen.links, (formalism, &news), vocab, learning);
        let table = self.model().grammar();
        for found in chosen(found, &given, learning) {
            if learned.rules.len() == learning.rules {
                break;
            }
            let (times, is_given) = corrections.map_or((0, false), |known| known.known(&found.rule));
            // Another sentence that is this rule keeps its translation.
            if is_given {
                continue;
            }
            let count = learning.count * (times + 1) as f64;
            if let Some(line) = rules::line(&found, table, vocab, &Learning { count, ..*learning }) {
                learned.rules.push(found.rule.show(vocab));
                learned.lines.push(line);
            }
        }
        let links = rules::written(&word_links(&seen.links));
        let links = if links.is_empty() { String::new() } else { format!(" links={links}") };
        learned.lines.push(format!("add {} ||| boost={GIVEN}{links}", given.show(vocab)));
        Ok(learned)
    }

    /// Links a sentence with its translation.
    fn look(&mut self, sentence: &mut Sentence, with: With<'_>, words: &[Symbol]) -> Result<Seen> {
        let search = self.model().search(None)?;
        let mut decoded = self.decode(sentence, with, search, List::default(), &Stop::NEVER);
        let mut with = with;
        let mut before = None;
        if let (Some(_), Some(first)) = (decoded.given, decoded.hypotheses.first()) {
            // What was given for it before says nothing about the model, and is about to be taken back.
            let derived = self.derived(sentence, with, &decoded.forest, &first.derivation);
            before = Some(derived.compose(self.model().target_text()).text);
            with.corrections = None;
            decoded = self.decode(sentence, with, search, List::default(), &Stop::NEVER);
        }
        let Some(best) = decoded.hypotheses.first() else {
            return Ok(Seen { words: words.to_vec(), ..Seen::default() });
        };
        let mut words = words.to_vec();
        if let Some(usual) = usual_case(sentence, &decoded.forest.forest, words[0], self.model().vocab())
            && self.model().target_text().capitalise
        {
            words[0] = sentence.vocab.intern(&usual);
        }
        let derived = self.derived(sentence, with, &decoded.forest, &best.derivation);
        let links = links::link(&evidence::evidence(&derived, &words));
        let before = before.unwrap_or_else(|| derived.compose(self.model().target_text()).text);
        Ok(Seen { said: best.words.clone(), words, links, before })
    }
}

/// What a model sees in a pair.
#[derive(Debug, Default)]
struct Seen {
    /// What it says itself.
    said: Vec<Symbol>,
    before: String,
    /// The words of the translation, the first of them in its usual case.
    words: Vec<Symbol>,
    links: Vec<Link>,
}

/// The first word of a translation has a capital because it is the first; rules have it as it usually is. A model has
/// no list of usual forms of its target language, but rules that match the sentence have the form that they learnt.
fn usual_case(
    sentence: &Sentence,
    forest: &sylvan_forest::TranslationForest,
    first: Symbol,
    known: &Vocab,
) -> Option<String> {
    let text = sentence.vocab.text(first);
    let mut chars = text.chars();
    let capital = chars.next().filter(|c| c.is_uppercase())?;
    if chars.clone().any(char::is_uppercase) {
        return None;
    }
    let lower: String = capital.to_lowercase().chain(chars).collect();
    let has = |word: Symbol| forest.tokens().iter().any(|token| token.word == word);
    let symbol = known.get(&lower)?;
    (has(symbol) && !has(first) || known.get(text).is_none()).then_some(lower)
}

/// Which of the rules may be learnt, small ones first.
fn chosen(mut found: Vec<rules::Found>, given: &Rule, learning: &Learning) -> Vec<rules::Found> {
    found.retain(|found| (found.is_news || !learning.news) && found.rule != *given);
    // The whole sentence is one rule already; order alone is learnt only where it is news.
    found.retain(|found| found.is_news || !rules::is_order(&found.rule));
    found.sort_by_key(|found| rules::size(&found.rule));
    found
}

fn word_links(links: &[Link]) -> Vec<WordLink> {
    let all: BTreeSet<WordLink> = links.iter().map(|link| (link.source, link.target)).collect();
    all.into_iter().collect()
}

/// The rule for a whole sentence: its tree, or all its words.
fn whole(sentence: &mut Sentence, words: &[Symbol]) -> Rule {
    let label = sentence.vocab.intern(FLAT_LABEL);
    let source = match &sentence.syntax {
        Syntax::Tree(tree) => whole_tree(tree),
        Syntax::Words(words) => {
            let open = Source::Open(label, words.len() as u32);
            std::iter::once(open).chain(words.iter().map(|&word| Source::Word(word))).collect()
        }
        Syntax::Forest(_) => Vec::new(),
    };
    let target = words.iter().map(|&word| TargetSide::Word(word)).collect();
    Rule::new(source, target).expect("a tree and a row of words are source sides")
}

/// A tree as a source side, depth first.
fn whole_tree(tree: &Tree) -> Vec<Source> {
    let mut source = Vec::new();
    let mut open: Vec<Child> = vec![Child::Node(tree.root())];
    while let Some(child) = open.pop() {
        match child {
            Child::Leaf(position) => source.push(Source::Word(tree.words()[position as usize])),
            Child::Node(node) => {
                let children: &[Child] = tree.children(node as NodeId);
                source.push(Source::Open(tree.label(node), children.len() as u32));
                open.extend(children.iter().rev());
            }
        }
    }
    source
}
