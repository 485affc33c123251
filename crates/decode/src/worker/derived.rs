//! A derivation with all that is known about it: features, links, the rules and where they come from.

use std::sync::Arc;

use serde::Serialize;
use sylvan_base::Vocab;
use sylvan_forest::{Derivation, EdgeId, TranslationForest, VertexId};
use sylvan_rules::apply::{Origin, source_leaves};
use sylvan_rules::{Grammar, Rule, RuleId, Source, TargetSide};

use super::{SentenceForest, With};
use crate::features::{Contributions, Replay, sparse_contributions, sparse_values};
use crate::model::{Model, Weighed};
use crate::models::Ngram;
use crate::models::neural::Opinion;
use crate::models::structured::{Parsed, Read};
use crate::own::{For, Made};
use crate::sentence::Sentence;

/// What stands for a rule where none matches.
const NO_RULE: &str = "(no rule matches: words copied, parts in source order)";

/// Where the rule of an edge comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum RuleKind {
    /// It was learnt.
    Table,
    /// A correction added or favoured it.
    Overlay,
    /// It is for a glossary term, or for text that is kept as it is.
    Term,
    /// It is for a word that no rule of the table translates, made from rules for words like it, or for its parts.
    Unseen,
    /// No rule matched: words are copied, parts stay in source order.
    Copy,
    /// Parts of a sentence without syntax, joined.
    Glue,
}

/// A derivation of a sentence.
#[derive(Debug)]
pub struct Derived<'a> {
    model: &'a Model,
    rules: &'a Weighed,
    weights: &'a sylvan_rules::Weights,
    sentence: &'a Sentence,
    forest: &'a TranslationForest,
    models: Vec<Ngram<'a>>,
    read: Option<&'a Read>,
    opinion: Option<&'a Opinion>,
    derivation: &'a Derivation,
}

impl<'a> Derived<'a> {
    pub(super) fn new(
        model: &'a Model,
        with: With<'a>,
        sentence: &'a Sentence,
        forest: &'a SentenceForest,
        derivation: &'a Derivation,
    ) -> Self {
        let weights = with.corrections.map_or(model.weights(), |corrections| &corrections.weights);
        Self {
            model,
            rules: with.rules(model),
            weights,
            sentence,
            forest: &forest.forest,
            models: model.ngrams(&forest.ids),
            read: forest.read.as_deref(),
            opinion: forest.opinion.as_deref(),
            derivation,
        }
    }

    /// Another derivation of the same sentence.
    pub fn other<'b>(&'b self, derivation: &'b Derivation) -> Derived<'b> {
        let Self { model, rules, weights, sentence, forest, read, opinion, .. } = *self;
        Derived {
            model,
            rules,
            weights,
            sentence,
            forest,
            models: self.models.clone(),
            read,
            opinion,
            derivation,
        }
    }

    /// A derivation of another forest of the same sentence.
    pub(crate) fn in_forest<'b>(
        &'b self,
        forest: &'b SentenceForest,
        derivation: &'b Derivation,
    ) -> Derived<'b> {
        Derived {
            forest: &forest.forest,
            models: self.model.ngrams(&forest.ids),
            read: forest.read.as_deref(),
            opinion: forest.opinion.as_deref(),
            ..self.other(derivation)
        }
    }

    /// The rules, as edges of the forest.
    pub fn derivation(&self) -> &'a Derivation {
        self.derivation
    }

    /// The forest.
    pub fn forest(&self) -> &'a TranslationForest {
        self.forest
    }

    /// The sentence.
    pub fn sentence(&self) -> &'a Sentence {
        self.sentence
    }

    /// The model.
    pub fn model(&self) -> &'a Model {
        self.model
    }

    /// The language models over the sentence.
    pub(crate) fn models(&self) -> &[Ngram<'a>] {
        &self.models
    }

    /// The tree of the translation that its structured language model prefers, if it has one.
    pub(crate) fn parsed(&self) -> Option<Arc<Parsed>> {
        self.read?.parse(&self.derivation.tokens(self.forest))
    }

    /// Whether there is a part of the model that weighs something and sees more than n-grams of words.
    pub(crate) fn sees_far(&self) -> bool {
        self.rules.structured != 0.0 || self.rules.neural != 0.0
    }

    fn vocab(&self) -> &'a Vocab {
        self.sentence.vocab()
    }

    fn replay(&self) -> Replay<'_> {
        Replay {
            applier: &self.rules.applier,
            own: self.sentence.own_rules(),
            models: &self.models,
            read: self.read,
            opinion: self.opinion,
            forest: self.forest,
            derivation: self.derivation,
        }
    }

    /// Names and values of all features; weights times values is the score.
    pub fn features(&self) -> Vec<(String, f64)> {
        self.rules.features.named_values(&self.replay())
    }

    /// The values of all features, in the order of [`features`](Self::features).
    pub fn values(&self) -> Vec<f64> {
        self.rules.features.values(&self.replay())
    }

    /// The sparse features, in the order of their names.
    pub fn sparse_features(&self) -> Vec<(String, f64)> {
        sparse_values(&self.replay(), self.vocab())
    }

    /// The score taken apart. Features without a value are left out.
    pub fn contributions(&self) -> Contributions {
        let mut parts = self.rules.features.contributions(&self.replay());
        sparse_contributions(&self.replay(), self.vocab(), self.weights, &mut parts);
        parts
    }

    /// The grammar that a rule is in: a shared one, or the sentence's own.
    pub(crate) fn grammar_of(&self, layer: usize, rule: RuleId) -> Option<&'a Grammar> {
        let grammar = self.rules.applier.grammar(layer).or(self.sentence.own_rules());
        grammar.filter(|grammar| (rule.0 as usize) < grammar.len())
    }

    /// The rule of an edge.
    pub(crate) fn origin(&self, edge: EdgeId) -> Origin {
        self.rules.applier.origin(self.forest.edge(edge).spec.rule)
    }

    /// Where an edge's rule comes from, and which rule of the table it is or stands for.
    pub fn rule_of(&self, edge: EdgeId) -> (RuleKind, Option<RuleId>) {
        let applier = &self.rules.applier;
        match self.origin(edge) {
            Origin::Default(_) | Origin::Copy => (RuleKind::Copy, None),
            Origin::Start | Origin::Glue => (RuleKind::Glue, None),
            Origin::Rule(0, rule) => (RuleKind::Table, Some(rule)),
            Origin::Rule(layer, rule) if layer < applier.layer_count() => {
                let part = applier.part(layer);
                let overlay = applier.overlay().zip(part);
                (RuleKind::Overlay, overlay.and_then(|(overlay, part)| overlay.instead_of(part, rule)))
            }
            Origin::Rule(_, rule) => match self.made(rule) {
                Some(Made { what: For::Unseen, from }) => (RuleKind::Unseen, from.first().copied()),
                made => (RuleKind::Term, made.and_then(|made| made.from.first().copied())),
            },
        }
    }

    fn made(&self, rule: RuleId) -> Option<&'a Made> {
        self.sentence.own.as_ref()?.made.get(rule.0 as usize)
    }

    /// The rules of the table that an edge's rule was made from, if it is one for this sentence alone.
    pub(crate) fn made_from(&self, edge: EdgeId) -> &'a [RuleId] {
        match self.origin(edge) {
            Origin::Rule(layer, rule) if layer >= self.rules.applier.layer_count() => {
                self.made(rule).map_or(&[], |made| &made.from)
            }
            _ => &[],
        }
    }

    /// The source words that an edge's rule was made from, if it is for a word that the table does not translate.
    pub fn stands_for(&self, edge: EdgeId) -> Vec<&'a str> {
        if self.rule_of(edge).0 != RuleKind::Unseen {
            return Vec::new();
        }
        let words = self.made_from(edge).iter().flat_map(|&rule| {
            let source = self.model.grammar().rule(rule).source().to_vec();
            source.into_iter().filter_map(|token| match token {
                Source::Word(word) => Some(word),
                Source::Open(..) | Source::Var(_) => None,
            })
        });
        words.map(|word| self.vocab().text(word)).collect()
    }

    /// An edge's rule; `None` for a default rule.
    pub fn rule(&self, edge: EdgeId) -> Option<Rule> {
        match self.origin(edge) {
            Origin::Rule(layer, rule) => Some(self.grammar_of(layer, rule)?.rule(rule)),
            Origin::Default(_) | Origin::Start | Origin::Glue | Origin::Copy => None,
        }
    }

    /// An edge's rule in the notation of rule tables.
    pub fn rule_text(&self, edge: EdgeId) -> String {
        let other = || match self.origin(edge) {
            Origin::Start | Origin::Glue => self.glue_text(edge),
            _ => NO_RULE.to_string(),
        };
        self.rule(edge).map_or_else(other, |rule| rule.show(self.vocab()))
    }

    /// Parts that are joined, as a rule: variables are numbered in source order.
    fn glue_text(&self, edge: EdgeId) -> String {
        let label = |vertex| self.forest.label(vertex).map_or("X", |label| self.vocab().text(label));
        let tails: Vec<VertexId> = self.forest.tails(edge).collect();
        let mut in_order = tails.clone();
        in_order.sort_unstable_by_key(|&tail| self.forest.span(tail).start);
        let number = |tail: &VertexId| in_order.iter().position(|other| other == tail).unwrap_or(0) + 1;
        let source: Vec<String> =
            in_order.iter().map(|tail| format!("x{}:{}", number(tail), label(*tail))).collect();
        let target: Vec<String> = tails.iter().map(|tail| format!("x{}", number(tail))).collect();
        let head = label(self.forest.edge(edge).head);
        format!("{head}({}) -> {}", source.join(" "), target.join(" "))
    }

    /// The rules, one per line, indented by depth.
    pub fn show(&self) -> String {
        let mut out = String::new();
        let on_edge = |depth: usize, edge| {
            out.push_str(&format!("{:width$}{}\n", "", self.rule_text(edge), width = 2 * depth));
        };
        self.derivation.walk(self.forest, on_edge, |_, _| {});
        out
    }

    /// Pairs of a source word and a target word, counted from 0, sorted. Words of a rule without links of their own
    /// are linked to all words of the rule's other side.
    pub fn links(&self) -> Vec<(u32, u32)> {
        // The words of each edge, in order.
        let mut targets: Vec<Vec<u32>> = vec![Vec::new(); self.derivation.edges().len()];
        let mut position = 0;
        self.derivation.walk(
            self.forest,
            |_, _| {},
            |from, _| {
                targets[from].push(position);
                position += 1;
            },
        );
        let mut links = Vec::new();
        for (&edge, words) in self.derivation.edges().iter().zip(&targets) {
            let (leaves, own) = self.leaves_of(edge);
            let spans = |leaf: u32| self.sentence.leaves.get(leaf as usize).map_or(0..0, |span| span.range());
            let mut add =
                |leaf: u32, word: u32| links.extend(spans(leaf).map(|source| (source as u32, word)));
            let mut linked = vec![false; words.len()];
            for (leaf, word) in own {
                if let (Some(&leaf), Some(&target)) = (leaves.get(leaf), words.get(word)) {
                    linked[word] = true;
                    add(leaf, target);
                }
            }
            for (&word, _) in words.iter().zip(&linked).filter(|(_, linked)| !**linked) {
                leaves.iter().for_each(|&leaf| add(leaf, word));
            }
        }
        links.sort_unstable();
        links.dedup();
        links
    }

    /// The leaves that an edge translates itself, in order, and the links between these and its target words.
    pub(crate) fn leaves_of(&self, edge: EdgeId) -> (Vec<u32>, Vec<(usize, usize)>) {
        let forest = self.forest;
        let span = forest.span(forest.edge(edge).head);
        let tails: Vec<VertexId> = forest.tails(edge).collect();
        let Origin::Rule(layer, id) = self.origin(edge) else {
            // A default rule translates what its tails leave.
            let covered = |leaf: usize| tails.iter().any(|&tail| forest.span(tail).range().contains(&leaf));
            let leaves: Vec<u32> =
                span.range().filter(|&leaf| !covered(leaf)).map(|leaf| leaf as u32).collect();
            let links = (0..leaves.len()).map(|place| (place, place)).collect();
            return (leaves, links);
        };
        let Some(grammar) = self.grammar_of(layer, id) else { return (Vec::new(), Vec::new()) };
        let rule = grammar.rule(id);
        // Tails come in target order; variables in source order.
        let order = rule.target().iter().filter_map(|token| match token {
            TargetSide::Var(number) => Some(*number as usize),
            TargetSide::Word(_) => None,
        });
        let mut ends: Vec<Option<u32>> = vec![None; tails.len()];
        for (number, tail) in order.zip(&tails) {
            if let Some(slot) = ends.get_mut(number) {
                *slot = Some(forest.span(*tail).end);
            }
        }
        let ends: Vec<u32> = ends.into_iter().flatten().collect();
        let leaves =
            source_leaves(rule.source(), span, |variable| ends.get(variable).copied().unwrap_or(span.end));
        let links = grammar.notes(id).links;
        (leaves, links.iter().map(|&(source, target)| (source as usize, target as usize)).collect())
    }
}
