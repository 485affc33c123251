//! Rules of the table in which a term's translation replaces that of its words.
//!
//! A term is one leaf that no rule of the table knows, so none could supply what goes with it: particles,
//! articles, word order. So rules that match the sentence as it was, and whose links show which of their
//! target words translate the term, are used again with the term's own translation there:
//!
//! ```text
//! NP(DT(the) NN(book)) -> hon wo      with book = shoseki:      NP(DT(the) NN([ book ])) -> shoseki wo
//! ```
//!
//! They keep their features, and the bare term takes those of the best rule for its words: so a term costs
//! what its words would have cost, and the search weighs what is around it as always.

use sylvan_base::Symbol;
use sylvan_rules::apply::each_match;
use sylvan_rules::{Grammar, Rule, RuleId, Source, TargetSide, WordLink};
use sylvan_trees::{Child, NodeId, Tree};

use super::Term;

/// A rule made from one of the table.
#[derive(Debug, Clone)]
pub(crate) struct Borrowed {
    pub(super) rule: Rule,
    pub(super) links: Vec<WordLink>,
    pub(super) features: Vec<f32>,
    pub(super) from: RuleId,
    /// Its features times their weights.
    score: f64,
}

/// All rules of a table that terms fit into; of those that come out alike, the best. `weights` are those of
/// the table's features; `tree` is the sentence before its terms became leaves.
pub(crate) fn borrow(
    table: &Grammar,
    weights: &[f64],
    allowed: impl Fn(RuleId) -> bool,
    tree: &Tree,
    terms: &[Term],
) -> Vec<Borrowed> {
    let holds_term = |node: NodeId| terms.iter().any(|term| tree.span(node).covers(term.span));
    let mut all: Vec<Borrowed> = Vec::new();
    each_match(table, tree, holds_term, |node, source, rules| {
        let source = table.source(source).unwrap_or_default();
        let Some(side) = SourceSide::with_terms(&source, tree, node, terms) else { return };
        for &id in rules.iter().filter(|&&id| allowed(id)) {
            let (rule, links) = (table.rule(id), table.notes(id).links);
            let Some(places) = places(rule.target(), &links, &side) else { continue };
            let features = table.features(id);
            let score = features.iter().zip(weights).map(|(&value, weight)| f64::from(value) * weight).sum();
            for choice in choices(&side, terms) {
                let (target, links) = replaced(rule.target(), &links, &side, &places, &choice);
                let Ok(rule) = Rule::new(side.tokens.clone(), target) else { continue };
                all.push(Borrowed { rule, links, features: features.clone(), from: id, score });
            }
        }
    });
    // Best first: of those that come out alike only the first stays.
    all.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.from.cmp(&b.from)));
    let mut seen = sylvan_base::HashSet::default();
    all.retain(|one| seen.insert(one.rule.clone()));
    all
}

/// A source side in which terms are leaves.
struct SourceSide {
    tokens: Vec<Source>,
    /// The new place of each source word, counted among the words.
    moved: Vec<usize>,
    /// Its terms, and the new place of each.
    terms: Vec<(usize, usize)>,
}

impl SourceSide {
    /// `None` if it has no term, or one that is not a node of it.
    fn with_terms(source: &[Source], tree: &Tree, node: NodeId, terms: &[Term]) -> Option<Self> {
        let mut side = Self { tokens: Vec::new(), moved: Vec::new(), terms: Vec::new() };
        let mut words = 0;
        // Terms are in order and apart.
        let term_at = |place: u32| {
            let term = terms.partition_point(|term| term.span.end <= place);
            terms.get(term).is_some_and(|found| found.span.start <= place).then_some(term)
        };
        let mut pending = vec![Child::Node(node)];
        for token in source {
            match (token, pending.pop()?) {
                (Source::Open(label, _), Child::Node(at)) => {
                    let (span, children) = (tree.span(at), tree.children(at));
                    pending.extend(children.iter().rev());
                    match term_at(span.start) {
                        Some(term) if span == terms[term].span => {
                            side.tokens.push(Source::Open(*label, 1));
                            let is_chain = matches!(children, &[Child::Node(_)]);
                            if !is_chain {
                                side.tokens.push(Source::Word(terms[term].leaf));
                                side.terms.push((term, words));
                                words += 1;
                            }
                        }
                        // What is inside a term is replaced with it.
                        Some(term) if terms[term].span.covers(span) => {}
                        _ => side.tokens.push(*token),
                    }
                }
                (Source::Word(_), Child::Leaf(place)) => match (term_at(place), side.terms.last()) {
                    (None, _) => {
                        side.tokens.push(*token);
                        side.moved.push(words);
                        words += 1;
                    }
                    (Some(term), Some(&(last, at))) if last == term => side.moved.push(at),
                    (Some(_), _) => return None,
                },
                (Source::Var(_), Child::Node(at)) => {
                    let span = tree.span(at);
                    let inside = |term: usize| terms[term].span.covers(span) && span != terms[term].span;
                    if term_at(span.start).is_some_and(inside) {
                        return None;
                    }
                    side.tokens.push(*token);
                }
                _ => return None,
            }
        }
        (!side.terms.is_empty()).then_some(side)
    }
}

/// Where in the target each term of a side is translated; `None` unless each is one piece of its own.
fn places(
    target: &[TargetSide],
    links: &[WordLink],
    side: &SourceSide,
) -> Option<Vec<std::ops::Range<usize>>> {
    let words: Vec<usize> =
        (0..target.len()).filter(|&at| matches!(target[at], TargetSide::Word(_))).collect();
    let linked = |at: usize| {
        let word = words.binary_search(&at).unwrap_or(usize::MAX);
        let to = links.iter().filter(move |&&(_, target)| target as usize == word);
        to.map(|&(source, _)| side.moved.get(source as usize).copied())
    };
    let place = |&(_, term): &(usize, usize)| {
        let mut own = words.iter().copied().filter(|&at| linked(at).any(|source| source == Some(term)));
        let first = own.next()?;
        let last = own.next_back().unwrap_or(first);
        let alone = |at: usize| {
            matches!(target[at], TargetSide::Word(_)) && linked(at).all(|source| source == Some(term))
        };
        (first..=last).all(alone).then_some(first..last + 1)
    };
    side.terms.iter().map(place).collect()
}

/// All choices of a translation for each term of a side, up to a limit.
fn choices<'t>(side: &SourceSide, terms: &'t [Term]) -> Vec<Vec<&'t [Symbol]>> {
    const MOST: usize = 64;
    let mut all: Vec<Vec<&[Symbol]>> = vec![Vec::new()];
    for &(term, _) in &side.terms {
        let more = all.iter().flat_map(|one| {
            terms[term].targets.iter().map(move |target| [one.as_slice(), &[&**target]].concat())
        });
        all = more.take(MOST).collect();
    }
    all
}

/// The target side with each term's translation in its place, and the links of the new rule.
fn replaced(
    target: &[TargetSide],
    links: &[WordLink],
    side: &SourceSide,
    places: &[std::ops::Range<usize>],
    choice: &[&[Symbol]],
) -> (Vec<TargetSide>, Vec<WordLink>) {
    let (mut tokens, mut new_links) = (Vec::new(), Vec::new());
    let (mut word, mut new_word) = (0, 0);
    for (at, &token) in target.iter().enumerate() {
        let term = places.iter().position(|place| place.contains(&at));
        if let Some(term) = term.filter(|&term| places[term].start == at) {
            for &symbol in choice[term] {
                tokens.push(TargetSide::Word(symbol));
                new_links.push((side.terms[term].1 as u32, new_word));
                new_word += 1;
            }
        }
        if matches!(token, TargetSide::Var(_)) {
            tokens.push(token);
            continue;
        }
        if term.is_none() {
            tokens.push(token);
            let own = links.iter().filter(|&&(_, target)| target == word);
            new_links.extend(
                own.filter_map(|&(source, _)| Some((*side.moved.get(source as usize)? as u32, new_word))),
            );
            new_word += 1;
        }
        word += 1;
    }
    new_links.sort_unstable();
    new_links.dedup();
    (tokens, new_links)
}
