//! Grammars with weights, applied to trees and packed forests.

use std::sync::Arc;

use sylvan_base::hash::{content_hash, fold};
use sylvan_base::{Id, Span, Symbol, Vocab};
use sylvan_forest::{
    Brackets, EdgeSpec, ForestBuilder, GapCosts, Layer, Neighbour, Orientations, Part, RuleRef, Token,
    TranslationForest, VertexId,
};
use sylvan_trees::{Child, NodeId};

use super::affiliation::{affiliations, source_leaves};
use super::applying::{Applying, Coverage, DefaultRules, Outlook, bundles, owners};
use super::matching::{Match, Matcher};
use crate::features::ORIENTATIONS;
use crate::input::{Input, sizes};
use crate::{Grammar, Overlay, RuleId, SparseWeights, TargetSide, Weights};

/// One source of rules with the weights of its features.
#[derive(Debug, Clone)]
pub(super) struct RuleLayer {
    pub(super) grammar: Grammar,
    features: Vec<f64>,
    /// Features that count in one orientation only: the orientation's number for each, and its weight. Their weights
    /// above are 0.
    oriented: Vec<(usize, usize, f64)>,
    /// Which features estimates see.
    seen: Vec<bool>,
    per_rule: f64,
    per_word: f64,
    /// Its first rule id among those of all layers.
    base: u32,
}

impl RuleLayer {
    fn new(grammar: &Grammar, number: usize, base: u32, weights: &Weights, outlook: Outlook) -> Self {
        let names = grammar.feature_names().iter();
        let orientation = |name: &str| ORIENTATIONS.iter().position(|&oriented| oriented == name);
        let oriented = names.clone().enumerate().filter_map(|(feature, name)| {
            let weight = weights.of_layer(number, name);
            (weight != 0.0).then_some((feature, orientation(name)?, weight))
        });
        let oriented = oriented.collect();
        let weight = |name: &String| match orientation(name) {
            Some(_) => 0.0,
            None => weights.of_layer(number, name),
        };
        let features = names.clone().map(weight).collect();
        let seen = names.map(|name| outlook.sees(name)).collect();
        let (per_rule, per_word) = (weights.of_layer(number, "rules"), weights.of_layer(number, "words"));
        Self { grammar: grammar.clone(), features, oriented, seen, per_rule, per_word, base }
    }

    /// The first free rule id after those of the layer.
    fn end(&self) -> u32 {
        self.base + self.grammar.len() as u32
    }
}

/// Grammars with weights, ready to be applied.
///
/// Grammars are layers: a mapped table first, then what the user adds to it; rules for one sentence can be
/// given with the sentence. All are treated alike; a layer's features have weights under their names with or
/// without its prefix (`tm0.p_ef`, `tm1.p_ef`), and those of a sentence's own rules take the first layer's.
///
/// An applier shares the grammars' contents and borrows nothing; it is made once and used by all threads.
#[derive(Debug, Clone)]
pub struct Applier {
    layers: Vec<RuleLayer>,
    weights: Weights,
    parse: f64,
    sparse: SparseWeights,
    /// The weights of default rules and of the words that they copy.
    per_default: f64,
    per_copy: f64,
    applying: Applying,
    /// Corrections of the first layer, and the first of the layers that they add, one for each of their parts.
    overlay: Option<(Arc<Overlay>, usize)>,
    affiliate: bool,
}

/// What is given with one sentence alone.
#[derive(Debug, Clone, Copy, Default)]
pub struct SentenceRules<'s> {
    /// Rules for it.
    pub own: Option<&'s Grammar>,
    /// Its number, counted from 1, by which an [`Overlay`] refers to it.
    pub number: Option<u64>,
    /// Its constituents, for rules that have no syntax and translate from left to right.
    pub brackets: Option<&'s Arc<Brackets>>,
    /// Words that may be copied although there are rules for them alone.
    pub unseen: &'s [Symbol],
}

impl SentenceRules<'_> {
    /// Whether a node stands for a word that may be copied in any case.
    fn copies<I: Input>(&self, input: &I, node: NodeId) -> bool {
        let is_copied = |child: &Child| match *child {
            Child::Leaf(position) => self.unseen.contains(&input.words()[position as usize]),
            Child::Node(_) => false,
        };
        !self.unseen.is_empty() && input.ways(node).any(|way| input.children(way).iter().all(is_copied))
    }
}

/// Where the rule of an edge comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A rule of a layer; the layer after the last is that of the sentence's own rules.
    Rule(usize, RuleId),
    /// The default rule of a node (over a forest: of one way to divide it).
    Default(u32),
    /// Over a sentence without syntax: the first part of it.
    Start,
    /// The parts so far, and the next one in source order.
    Glue,
    /// A word that is copied.
    Copy,
}

/// Numbers of default rules that no node has.
pub(super) const START: u32 = u32::MAX;
pub(super) const GLUE: u32 = u32::MAX - 1;
pub(super) const COPY: u32 = u32::MAX - 2;

/// Memory that is reused from sentence to sentence; one per thread.
#[derive(Debug, Default)]
pub struct Workspace {
    matchers: Vec<Matcher>,
    sizes: Vec<u32>,
    parts: Vec<Part>,
}

impl Applier {
    /// One grammar. Besides its features, `rules` and `words` weigh each rule and each target word, `glue` and `oov`
    /// default rules and what they copy, and `parse` the scores of a packed forest.
    pub fn new(grammar: &Grammar, weights: &Weights, applying: impl Into<Applying>) -> Self {
        Self::layered(&[grammar], weights, applying)
    }

    /// Several grammars. Their symbols must come from one vocabulary: that of the first, if it is a mapped table.
    pub fn layered(grammars: &[&Grammar], weights: &Weights, applying: impl Into<Applying>) -> Self {
        let applying = applying.into();
        let mut layers: Vec<RuleLayer> = Vec::new();
        for (number, grammar) in grammars.iter().enumerate() {
            let base = layers.last().map_or(0, RuleLayer::end);
            layers.push(RuleLayer::new(grammar, number, base, weights, applying.outlook));
        }
        Self {
            layers,
            weights: weights.clone(),
            parse: weights.get("parse"),
            sparse: SparseWeights::default(),
            per_default: weights.get("glue"),
            per_copy: weights.get("oov"),
            applying,
            overlay: None,
            affiliate: false,
        }
    }

    /// Whether target words are affiliated with source words ([`Token::source`]), for models that look at the source
    /// around a word. Positions count the input's leaves.
    pub fn with_affiliation(self, affiliate: bool) -> Self {
        Self { affiliate, ..self }
    }

    /// With sparse features.
    pub fn with_sparse(self, sparse: SparseWeights) -> Self {
        Self { sparse, ..self }
    }

    /// With corrections of the first grammar, whose additions become one more layer for each of their parts. All of
    /// these have the weights of the first.
    pub fn with_overlay(mut self, overlay: Arc<Overlay>) -> Self {
        let number = self.layers.len();
        for added in (0..overlay.part_count()).filter_map(|part| overlay.added(part)) {
            let (base, outlook) = (self.end(), self.applying.outlook);
            self.layers.push(RuleLayer::new(added, number, base, &self.weights, outlook));
        }
        self.overlay = Some((overlay, number));
        self
    }

    /// The layer whose weights the features of a layer have: corrections are one, whatever their parts, and a
    /// sentence's own rules count as rules of the first.
    pub fn weighed_as(&self, layer: usize) -> usize {
        match &self.overlay {
            _ if layer >= self.layers.len() => 0,
            Some((_, added)) => layer.min(*added),
            None => layer,
        }
    }

    /// How many layers have weights of their own.
    pub fn weighed_count(&self) -> usize {
        match &self.overlay {
            Some((_, added)) => self.layers.len().min(added + 1),
            None => self.layers.len(),
        }
    }

    /// The part of the corrections that a layer is, if it is one.
    pub fn part(&self, layer: usize) -> Option<usize> {
        let (overlay, added) = self.overlay.as_ref()?;
        layer.checked_sub(*added).filter(|&part| part < overlay.part_count())
    }

    /// Its corrections, if it has any.
    pub fn overlay(&self) -> Option<&Overlay> {
        self.overlay.as_ref().map(|(overlay, _)| &**overlay)
    }

    /// The first rule id after those of all layers.
    fn end(&self) -> u32 {
        self.layers.last().map_or(0, RuleLayer::end)
    }

    /// Which rule of which layer an edge's rule is.
    pub fn origin(&self, rule: RuleRef) -> Origin {
        if rule.layer == Layer::Default {
            return match rule.id {
                START => Origin::Start,
                GLUE => Origin::Glue,
                COPY => Origin::Copy,
                id => Origin::Default(id),
            };
        }
        let after = self.layers.partition_point(|layer| layer.base <= rule.id);
        let number = after.saturating_sub(1);
        if rule.id >= self.end() {
            return Origin::Rule(self.layers.len(), RuleId(rule.id - self.end()));
        }
        Origin::Rule(number, RuleId(rule.id - self.layers[number].base))
    }

    /// How many layers there are, not counting those of single sentences.
    pub fn layer_count(&self) -> usize {
        self.layers.len()
    }

    /// The grammar of a layer.
    pub fn grammar(&self, layer: usize) -> Option<&Grammar> {
        self.layers.get(layer).map(|layer| &layer.grammar)
    }

    /// The weights of a layer's features, in the order of its feature names.
    pub fn feature_weights(&self, layer: usize) -> &[f64] {
        self.layers.get(layer).map_or(&[], |layer| &layer.features)
    }

    /// The translation forest of a tree or packed forest: one vertex per node, in the same order, and the root as
    /// goal. Symbols of the input and of the grammars must come from `vocab`.
    pub fn forest<I: Input>(&self, input: &I, vocab: &Vocab) -> TranslationForest {
        self.forest_in(input, vocab, SentenceRules::default(), &mut Workspace::default())
    }

    /// Like [`forest`](Self::forest), with rules for this input alone and with reused memory.
    pub fn forest_in<I: Input>(
        &self,
        input: &I,
        vocab: &Vocab,
        given: SentenceRules<'_>,
        work: &mut Workspace,
    ) -> TranslationForest {
        let own = given.own.map(|grammar| self.own_layer(grammar));
        let layers = || self.layers.iter().chain(own.as_ref());
        let Workspace { matchers, sizes: node_sizes, parts } = work;
        matchers.resize_with(layers().count(), Matcher::default);
        sizes(input, node_sizes);
        for (layer, matcher) in layers().zip(matchers.iter_mut()) {
            matcher.prepare(&layer.grammar, input);
        }
        let mut builder = ForestBuilder::new();
        for node in (0..input.node_count()).map(NodeId::from_index) {
            builder.vertex(node_sizes[node.index()], input.span(node));
            builder.label(input.label(node));
            for (number, (layer, matcher)) in layers().zip(matchers.iter_mut()).enumerate() {
                let corrected = self.corrected(number, given.number);
                matcher.at(&layer.grammar, input, node, |matched| {
                    let span = |node| input.span(node);
                    let place = Applied { span, node, matched: &matched, corrected, costs: None };
                    self.add(&mut builder, layer, &place, parts);
                });
            }
            let missing = builder.edges_of_last() == 0 || given.copies(input, node);
            if match self.applying.default_rules {
                DefaultRules::Missing => missing,
                DefaultRules::Always => true,
                DefaultRules::Never => false,
            } {
                self.add_default_rules(&mut builder, input, node, vocab);
            }
        }
        builder.finish(VertexId::from_index(input.node_count() - 1))
    }

    pub(super) fn layers(&self) -> &[RuleLayer] {
        &self.layers
    }

    pub(super) fn applying(&self) -> Applying {
        self.applying
    }

    pub(super) fn affiliates(&self) -> bool {
        self.affiliate
    }

    /// The weight of a default rule.
    pub(super) fn per_default(&self) -> f64 {
        self.per_default
    }

    /// The weight of a copied word.
    pub(super) fn per_copy(&self) -> f64 {
        self.per_copy
    }

    /// What another order than that of the source costs.
    pub(super) fn reordering(&self) -> (f64, Neighbour) {
        let orientation = self.layers.first().map(|layer| layer.grammar.meta().orientation.as_str());
        let neighbour = match orientation {
            Some("hier") => Neighbour::Block,
            Some("recent") => Neighbour::Recent,
            _ => Neighbour::Phrase,
        };
        // The feature counts downwards: larger is better.
        (-self.weights.get("distortion"), neighbour)
    }

    /// What orientations are seen against in a model that translates from left to right, if it has any.
    pub(super) fn left_to_right_orientation(&self) -> Option<Neighbour> {
        match self.layers.first()?.grammar.meta().orientation.as_str() {
            "lrm" => Some(Neighbour::Recent),
            "nvlrm" => Some(Neighbour::Late),
            _ => None,
        }
    }

    /// What gaps of rules cost, and those of glue; left to right.
    pub(super) fn gap_costs(&self, given: SentenceRules<'_>) -> [GapCosts; 2] {
        let per_crossing = self.weights.get("crossing");
        ["distortion", "glue_distortion"].map(|name| GapCosts {
            per_jump: self.weights.get(name),
            per_crossing,
            brackets: given.brackets.cloned(),
        })
    }

    /// What corrections say about a layer in one sentence.
    pub(super) fn corrected(&self, layer: usize, sentence: Option<u64>) -> Option<Corrected<'_>> {
        let (overlay, added) = self.overlay.as_ref()?;
        match (layer, layer.checked_sub(*added)) {
            (0, _) => Some(Corrected { overlay, part: None, sentence }),
            (_, Some(part)) if layer < self.layers.len() => {
                Some(Corrected { overlay, part: Some(part), sentence })
            }
            _ => None,
        }
    }

    /// A sentence's own rules, with the weights of the first layer.
    pub(super) fn own_layer(&self, grammar: &Grammar) -> RuleLayer {
        match self.layers.first() {
            // They usually have the same features: nothing needs to be looked up by name.
            Some(first) if first.grammar.feature_names() == grammar.feature_names() => {
                RuleLayer { grammar: grammar.clone(), base: self.end(), ..first.clone() }
            }
            _ => RuleLayer::new(grammar, 0, self.end(), &self.weights, self.applying.outlook),
        }
    }

    /// All rules of a source side that matches.
    #[inline]
    pub(super) fn add<S: Fn(NodeId) -> Span>(
        &self,
        builder: &mut ForestBuilder,
        layer: &RuleLayer,
        applied: &Applied<'_, S>,
        parts: &mut Vec<Part>,
    ) {
        let Applied { node, matched, corrected, .. } = *applied;
        // Ties are decided by what is applied where, not by the order in which rules were loaded.
        let place =
            matched.bound.iter().fold(fold(1, u64::from(node.0)), |hash, node| fold(hash, u64::from(node.0)));
        let parse = self.parse * matched.score;
        let grammar = &layer.grammar;
        grammar.each_rule(matched.source, grammar.hot_at(matched.at), |rule| {
            if corrected.is_some_and(|corrected| !corrected.allows(rule.id)) {
                return;
            }
            parts.clear();
            let (mut words, mut hash) = (0u32, place);
            for symbol in rule.symbols() {
                parts.push(match symbol {
                    TargetSide::Word(word) => {
                        words += 1;
                        hash = fold(hash, grammar.symbol_hash(word));
                        Part::word(word)
                    }
                    TargetSide::Var(variable) => {
                        // Only a damaged table has variables that the source side lacks.
                        let Some(&bound) = matched.bound.get(variable as usize) else { return };
                        hash = fold(hash, 2 + u64::from(variable));
                        Part::Vertex(vertex(bound))
                    }
                });
            }
            if self.affiliate {
                affiliate(grammar, rule.id, applied, parts);
            }
            let mut score = layer.per_rule + layer.per_word * f64::from(words) + parse;
            grammar.feature_values(&rule, |feature, value| {
                score += layer.features[feature] * f64::from(value);
            });
            if !self.sparse.is_empty() {
                score += self.sparse.rule(grammar, rule.id);
            }
            if let Some(costs) = applied.costs {
                let gaps = parts.iter().filter_map(|part| match part {
                    Part::Vertex(gap) => Some((applied.span)(NodeId(gap.0))),
                    Part::Word(_) => None,
                });
                let gaps: Vec<Span> = gaps.collect();
                score -= costs.of((applied.span)(node), &gaps);
            }
            let id = RuleRef { layer: Layer::Grammar, id: layer.base + rule.id.0 };
            builder.edge(EdgeSpec { rule: id, score, nodes: matched.nodes, hash }, parts);
            builder.input_score(matched.score);
            if self.applying.outlook != Outlook::All {
                let mut outlook = 0.0;
                grammar.feature_values(&rule, |feature, value| {
                    if layer.seen[feature] {
                        outlook += layer.features[feature] * f64::from(value);
                    }
                });
                builder.outlook(outlook);
            }
            if !layer.oriented.is_empty() {
                let mut scores = [0.0; 6];
                grammar.feature_values(&rule, |feature, value| {
                    let known = layer.oriented.iter().find(|(oriented, ..)| *oriented == feature);
                    if let Some(&(_, orientation, weight)) = known {
                        scores[orientation] = weight * f64::from(value);
                    }
                });
                let [before, after] =
                    [[0, 1, 2], [3, 4, 5]].map(|half| half.map(|place: usize| scores[place]));
                builder.orientations(Orientations { before, after });
            }
            if self.applying.coverage == Coverage::Links {
                let source = grammar.source(matched.source).unwrap_or_default();
                builder.owners(owners(&source, parts, &grammar.notes(rule.id).links));
            }
        });
    }

    fn add_default_rules<I: Input>(
        &self,
        builder: &mut ForestBuilder,
        input: &I,
        node: NodeId,
        vocab: &Vocab,
    ) {
        let label = content_hash(vocab.text(input.label(node)).as_bytes());
        for way in input.ways(node) {
            let mut score = self.per_default + self.parse * input.score(way);
            let children = input.children(way).iter();
            let parts: Vec<Part> = children
                .map(|child| match *child {
                    Child::Node(child) => Part::Vertex(vertex(child)),
                    Child::Leaf(position) => {
                        score += self.per_copy;
                        let source = self.affiliate.then_some(position);
                        Part::Word(Token { word: input.words()[position as usize], source })
                    }
                })
                .collect();
            let spec = EdgeSpec {
                rule: RuleRef { layer: Layer::Default, id: way },
                score,
                nodes: 1,
                hash: fold(label, u64::from(way)),
            };
            builder.edge(spec, &parts);
            builder.input_score(input.score(way));
            if self.applying.outlook != Outlook::All {
                builder.outlook(score);
            }
            if self.applying.coverage == Coverage::Links {
                // Each word is copied in its place.
                builder.owners(bundles(&parts).into());
            }
        }
    }
}

/// A source side that matches at a node.
pub(super) struct Applied<'a, S> {
    /// The words below a node.
    pub(super) span: S,
    pub(super) node: NodeId,
    pub(super) matched: &'a Match<'a>,
    pub(super) corrected: Option<Corrected<'a>>,
    /// What its gaps cost, if it translates from left to right.
    pub(super) costs: Option<&'a GapCosts>,
}

/// Gives the target words of a rule the source words that they are affiliated with.
fn affiliate<S: Fn(NodeId) -> Span>(
    grammar: &Grammar,
    id: RuleId,
    applied: &Applied<'_, S>,
    parts: &mut [Part],
) {
    let Applied { node, matched, .. } = applied;
    let span = (applied.span)(*node);
    let source = grammar.source(matched.source).unwrap_or_default();
    let leaves = source_leaves(&source, span, |variable| {
        matched.bound.get(variable).map_or(span.start, |&bound| (applied.span)(bound).end)
    });
    let words = parts.iter_mut().filter_map(|part| match part {
        Part::Word(token) => Some(token),
        Part::Vertex(_) => None,
    });
    let words: Vec<&mut Token> = words.collect();
    let sources = affiliations(&grammar.notes(id).links, &leaves, words.len(), span.start);
    for (token, source) in words.into_iter().zip(sources) {
        token.source = Some(source);
    }
}

/// A layer that an overlay is about, in one sentence.
#[derive(Debug, Clone, Copy)]
pub(super) struct Corrected<'o> {
    overlay: &'o Overlay,
    /// The part of the overlay that the layer is; the table if it is none.
    part: Option<usize>,
    sentence: Option<u64>,
}

impl Corrected<'_> {
    fn allows(self, rule: RuleId) -> bool {
        match self.part {
            Some(part) => self.overlay.uses(part, rule, self.sentence),
            None => self.overlay.allows(rule, self.sentence),
        }
    }
}

/// The vertex of a node: both are numbered in post-order.
fn vertex(node: NodeId) -> VertexId {
    VertexId::from_index(node.index())
}
