//! The rules of a linked sentence pair, and which of them are news.
//!
//! ```text
//! tree, translation, links  --GHKM--> rules --news--> rules --> lines of an overlay
//! words, translation, links --phrase pairs, Hiero--> ..
//! ```
//!
//! *News* is what the model did not say itself: a rule is learnt if it links a word that is not in the model's
//! translation. If most of the translation is what the model said, somebody changed it on purpose, and a rule is also
//! learnt if it puts parts next to each other that were not. What the model got right needs no rule.
//!
//! *Worth.* A rule counts as if training had seen it some more times: one that the table has gets the boost by which its
//! probability would rise, and a new one the probabilities of something rare.

use sylvan_base::{HashMap, Symbol, Vocab};
use sylvan_corpus::Link;
use sylvan_rules::extract::{
    Boundary, ExtractConfig, Extractor, FlatExtractor, FlatRules, HieroConfig, LeftToRight, PhraseConfig,
};
use sylvan_rules::features::ORIENTATIONS;
use sylvan_rules::{FLAT_LABEL, Formalism, Grammar, Rule, Source, TargetSide, WordLink};

use super::Learning;
use super::links::common;
use crate::sentence::{Sentence, Syntax};

/// A rule of the pair.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) rule: Rule,
    pub(super) links: Vec<WordLink>,
    /// Whether the model did not say it itself.
    pub(super) is_news: bool,
}

/// What the model said and the translation does not.
pub(super) struct News {
    /// Words of the translation that the model did not say.
    words: Vec<bool>,
    /// Whether a word stood before the next one in what the model said as well.
    joins: Vec<bool>,
    /// Whether most of it is what the model said.
    is_close: bool,
}

/// How much of a translation must be what the model said, for its order to be no accident.
const CLOSE: f64 = 0.7;

impl News {
    pub(super) fn new(said: &[Symbol], target: &[Symbol]) -> Self {
        let mut from = vec![None; target.len()];
        common(said, target).into_iter().for_each(|(one, other)| from[other] = Some(one));
        let joined = |pair: &[Option<usize>]| matches!(pair, [Some(one), Some(next)] if one + 1 == *next);
        let same = from.iter().flatten().count() as f64;
        Self {
            words: from.iter().map(Option::is_none).collect(),
            joins: from.windows(2).map(joined).collect(),
            is_close: same >= CLOSE * said.len().max(target.len()) as f64,
        }
    }

    /// Whether a rule over `range` whose variables stand for `holes` and whose words have these links says something
    /// new.
    fn is_in(&self, range: (u32, u32), holes: &[(u32, u32)], links: &[WordLink]) -> bool {
        let inside = |first: u32, last: u32| holes.iter().any(|&(start, end)| start <= first && last < end);
        let own = (range.0..range.1).filter(|&at| !inside(at, at));
        let mut words = own.enumerate().filter(|&(_, at)| self.words[at as usize]);
        words.any(|(number, _)| links.iter().any(|link| link.1 as usize == number))
            || self.is_close
                && (range.0..range.1.saturating_sub(1))
                    .any(|at| !inside(at, at + 1) && !self.joins[at as usize])
    }
}

/// All rules of the pair within limits, each once.
pub(super) fn rules(
    sentence: &Sentence,
    target: &[Symbol],
    links: &[Link],
    (formalism, news): (Formalism, &News),
    vocab: &mut Vocab,
    learning: &Learning,
) -> Vec<Found> {
    let mut all: Vec<Found> = Vec::new();
    let mut known: HashMap<Rule, usize> = HashMap::default();
    let mut add = |rule: Rule, links: Vec<WordLink>, is_news: bool| match known.get(&rule) {
        Some(&place) => all[place].is_news |= is_news,
        None => {
            known.insert(rule.clone(), all.len());
            all.push(Found { rule, links, is_news });
        }
    };
    match &sentence.syntax {
        Syntax::Tree(tree) => {
            let config = ExtractConfig {
                minimal_rules: learning.composed,
                words: learning.words,
                source_words: learning.words,
                ..ExtractConfig::default()
            };
            let done = Extractor::new(config).extract(tree, target, links, |found| {
                let is_news = news.is_in(found.range(), &found.holes(), found.links());
                add(found.rule(), found.links().to_vec(), is_news);
            });
            debug_assert!(done.is_ok(), "links are inside the pair");
        }
        Syntax::Words(words) => {
            let label = vocab.intern(FLAT_LABEL);
            let done = FlatExtractor::new(flat(formalism, learning)).extract(words, target, links, |found| {
                let pair = found.pair();
                let holes: Vec<(u32, u32)> =
                    found.variables().iter().map(|hole| (hole.t1, hole.t2)).collect();
                let links = found.links();
                let is_news = news.is_in((pair.t1, pair.t2), &holes, &links);
                add(found.rule(label), links, is_news);
            });
            debug_assert!(done.is_ok(), "links are inside the pair");
        }
        Syntax::Forest(_) => {}
    }
    // Leaves that stand for terms have names that nobody else knows.
    let terms: Vec<Symbol> = sentence.terms.iter().map(|term| term.leaf).collect();
    all.retain(|found| {
        let is_term = |token: &Source| matches!(token, Source::Word(word) if terms.contains(word));
        !found.rule.source().iter().any(is_term)
    });
    all
}

/// Which flat rules are learnt: small ones, since a pair has very many large ones.
fn flat(formalism: Formalism, learning: &Learning) -> FlatRules {
    let (words, variables) = (learning.words, learning.variables);
    let phrases =
        PhraseConfig { length: words, target_length: words, boundary: Boundary::Tight, orientation: None };
    let hiero = HieroConfig {
        span: learning.span,
        target_span: learning.span,
        symbols: words,
        target_symbols: words,
        variables,
        gap: 1,
        boundary: Boundary::Tight,
        ..HieroConfig::default()
    };
    match formalism {
        Formalism::Hiero if variables > 0 => FlatRules::Hiero(hiero),
        Formalism::LrHiero if variables > 0 => {
            FlatRules::LeftToRight(LeftToRight { rules: hiero, reordering: None })
        }
        _ => FlatRules::Phrase(phrases),
    }
}

/// The line of an overlay that a rule becomes; nothing if it would change next to nothing.
pub(super) fn line(found: &Found, table: &Grammar, vocab: &Vocab, learning: &Learning) -> Option<String> {
    let rule = found.rule.show(vocab);
    let more = learning.count;
    if let Some(id) = table.find_rule(&found.rule) {
        let seen = table.notes(id).count.unwrap_or_default();
        let (seen, of) = (seen.rule.to_f64().max(0.1), seen.source.to_f64().max(0.1));
        let gain = ((seen + more) / seen * of / (of + more)).ln();
        let boost = rounded(gain);
        return (boost >= USEFUL).then(|| format!("boost {boost} {rule}"));
    }
    let mut line = format!("add {rule} |||");
    let seen = table.find_source(found.rule.source()).and_then(|source| table.count_of(source));
    let seen = seen.map_or(0.0, sylvan_rules::Count::to_f64);
    let likely = (more / (more + learning.others + seen)).ln();
    let sources = found.rule.source().iter().filter(|token| matches!(token, Source::Word(_))).count();
    let targets = found.rule.target().iter().filter(|token| matches!(token, TargetSide::Word(_))).count();
    for name in table.feature_names() {
        let value = match name.as_str() {
            "p_ef" | "p_fe" => likely,
            "lex_ef" => learning.word * targets as f64,
            "lex_fe" => learning.word * sources as f64,
            "rare" => 1.0 / more.max(1.0),
            "lexical" => f64::from(u8::from(sources > 0)),
            // Nothing is known about its neighbours.
            name if ORIENTATIONS.contains(&name) => -(3.0f64.ln()),
            _ => 0.0,
        };
        if value != 0.0 {
            line += &format!(" {name}={}", rounded(value));
        }
    }
    if learning.boost != 0.0 {
        line += &format!(" boost={}", learning.boost);
    }
    if !found.links.is_empty() {
        line += &format!(" links={}", written(&found.links));
    }
    Some(line)
}

/// A smaller boost decides nothing.
const USEFUL: f64 = 0.05;

/// Links as lines of an overlay have them.
pub(super) fn written(links: &[WordLink]) -> String {
    links.iter().map(|(source, target)| format!("{source}-{target}")).collect::<Vec<_>>().join(",")
}

/// Short to read, and exact enough.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// How many words and variables a rule has on both sides: small ones come first.
pub(super) fn size(rule: &Rule) -> usize {
    let words = rule.source().iter().filter(|token| !matches!(token, Source::Open(..))).count();
    words + rule.target().len()
}

/// Whether a rule only puts its parts in order.
pub(super) fn is_order(rule: &Rule) -> bool {
    rule.target().iter().all(|token| matches!(token, TargetSide::Var(_)))
}
