//! Applying flat rules to a sentence without syntax: the chart of all spans that rules derive, as a translation forest
//! (Chiang 2007; dotted rules as in the CYK+ algorithm of Chappelier & Rajman 1998).
//!
//! ```text
//! X[i,j]   a rule  X -> < w X1 w' .. , .. >  whose source side spans i to j, at most `max_span` words; what a user
//!          adds may be longer where it has no variables
//! S[0,j]   X[0,j], or S[0,k] X[k,j]: parts in source order (glue)
//! ```
//!
//! Source sides are walked through the trie from each place of the sentence, last place first, so that all parts to
//! the right of a place are known. A part that begins where the rule begins is shorter than the rule, so parts of one
//! place are completed from the shortest on. What cannot be part of a whole translation is not built.

use sylvan_base::{HashMap, HashSet, Id, Span, Symbol, Vocab};
use sylvan_forest::{EdgeSpec, ForestBuilder, Layer, Part, RuleRef, Token, TranslationForest, VertexId};
use sylvan_trees::NodeId;

use super::applier::{Applied, Applier, COPY, GLUE, START, SentenceRules};
use super::applying::{Coverage, DefaultRules, Outlook};
use super::left_to_right::Used;
use super::matching::{Match, Place, step};
use crate::{Formalism, Grammar, SourceId};

/// The label of all phrases.
pub const PHRASE: &str = crate::FLAT_LABEL;
/// The label of what begins with the sentence.
pub const SENTENCE: &str = "S";

/// A source side that matches a span.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    layer: u32,
    source: SourceId,
    at: usize,
    /// Its parts, as a range of [`Chart::bound`].
    bound: (u32, u32),
}

impl Found {
    /// Whether it has no variables.
    pub(super) fn is_lexical(&self) -> bool {
        self.bound.0 == self.bound.1
    }

    pub(super) fn layer(&self) -> usize {
        self.layer as usize
    }

    /// As the rules of a source side are added, without its parts.
    pub(super) fn matched(&self) -> Match<'static> {
        Match { source: self.source, at: self.at, bound: &[], nodes: 1, score: 0.0 }
    }
}

/// A source side that matches so far.
#[derive(Debug, Clone, Copy)]
struct Partial {
    place: Place,
    position: u32,
    /// The part bound last, as a link of a chain.
    last: u32,
}

/// Nothing is bound yet.
const NONE: u32 = u32::MAX;

/// All that rules derive.
#[derive(Debug)]
pub(super) struct Chart {
    words: u32,
    /// By span: what matches it.
    cells: HashMap<(u32, u32), Vec<Found>>,
    bound: Vec<(u32, u32)>,
    /// Chains of parts: the part, and the link before it.
    chain: Vec<((u32, u32), u32)>,
    open: Vec<Partial>,
}

impl Chart {
    fn new(words: u32) -> Self {
        Self { words, cells: HashMap::default(), bound: Vec::new(), chain: Vec::new(), open: Vec::new() }
    }

    /// Matches source sides at all spans that begin at `start`. `copies` says whether the first word is copied, given
    /// whether a rule translates it alone; the answer is returned.
    fn fill(
        &mut self,
        start: u32,
        limit: u32,
        layers: &[ChartLayer<'_>],
        copies: impl Fn(bool) -> bool,
    ) -> bool {
        let end = self.words.min(start.saturating_add(limit));
        for (number, layer) in layers.iter().enumerate() {
            for &(_, place) in &layer.roots {
                self.open.push(Partial { place, position: start, last: NONE });
                self.follow(number as u32, layer, start, end);
            }
        }
        let copied = copies(!self.found((start, start + 1)).is_empty());
        if copied {
            self.cells.entry((start, start + 1)).or_default();
        }
        // Rules that begin with a part: it is shorter than the rule, so the shortest come first. None is empty.
        for middle in start..end {
            if !self.cells.contains_key(&(start, middle)) {
                continue;
            }
            self.chain.push(((start, middle), NONE));
            let last = (self.chain.len() - 1) as u32;
            for (number, layer) in layers.iter().enumerate() {
                // A rule of one part alone would stand for itself.
                for &(_, root) in layer.roots.iter().filter(|(symbols, _)| *symbols > 1) {
                    let Some(place) = step(layer.grammar, root, layer.phrase) else { continue };
                    self.open.push(Partial { place, position: middle, last });
                    self.follow(number as u32, layer, start, end);
                }
            }
        }
        copied
    }

    /// Follows partial matches until there are none.
    fn follow(&mut self, number: u32, layer: &ChartLayer<'_>, start: u32, end: u32) {
        while let Some(Partial { place, position, last }) = self.open.pop() {
            if let Place::Tail { source, at, left: 0 } = place {
                let bound = self.parts(last);
                let found = Found { layer: number, source, at, bound };
                self.cells.entry((start, position)).or_default().push(found);
                continue;
            }
            // Rules are no longer than the limit, unless a user gave a translation of these very words.
            if position >= end && (number == 0 || last != NONE || position >= self.words) {
                continue;
            }
            if let Some(place) = step(layer.grammar, place, layer.words[position as usize]) {
                self.open.push(Partial { place, position: position + 1, last });
            }
            // Parts that begin where the rule begins come from `fill`.
            if position == start {
                continue;
            }
            let Some(place) = step(layer.grammar, place, layer.phrase) else { continue };
            for until in position..=end {
                if self.cells.contains_key(&(position, until)) {
                    self.chain.push(((position, until), last));
                    let last = (self.chain.len() - 1) as u32;
                    self.open.push(Partial { place, position: until, last });
                }
            }
        }
    }

    fn parts(&mut self, last: u32) -> (u32, u32) {
        let first = self.bound.len() as u32;
        let mut link = last;
        while link != NONE {
            let (part, before) = self.chain[link as usize];
            self.bound.push(part);
            link = before;
        }
        self.bound[first as usize..].reverse();
        (first, self.bound.len() as u32)
    }

    /// What matches a span.
    pub(super) fn found(&self, span: (u32, u32)) -> &[Found] {
        self.cells.get(&span).map_or(&[], Vec::as_slice)
    }

    /// All spans that something matches.
    pub(super) fn all(&self) -> impl Iterator<Item = ((u32, u32), &[Found])> {
        self.cells.iter().map(|(&span, found)| (span, found.as_slice()))
    }

    /// Takes every span of up to so many words for a part.
    fn open_all(&mut self, limit: u32) {
        for start in 0..self.words {
            for end in start + 1..=self.words.min(start.saturating_add(limit)) {
                self.cells.entry((start, end)).or_default();
            }
        }
    }

    pub(super) fn parts_of(&self, found: &Found) -> &[(u32, u32)] {
        &self.bound[found.bound.0 as usize..found.bound.1 as usize]
    }
}

/// A grammar in terms of one sentence.
struct ChartLayer<'g> {
    grammar: &'g Grammar,
    /// The words of the sentence as its trie knows them.
    words: Vec<u32>,
    /// A variable.
    phrase: u32,
    /// Where source sides of so many symbols begin.
    roots: Vec<(u32, Place)>,
}

impl<'g> ChartLayer<'g> {
    fn new(grammar: &'g Grammar, words: &[Symbol], label: Symbol) -> Self {
        let tokens = &grammar.tokens;
        let most = words.len() as u32;
        let root = |count: u32| Some((count, step(grammar, Place::Trie(0), tokens.open(label, count))?));
        Self {
            grammar,
            words: words.iter().map(|&word| tokens.word(word)).collect(),
            phrase: tokens.variable(label),
            roots: (1..=most).filter_map(root).collect(),
        }
    }
}

/// Which parts of a sentence are parts of a whole translation, and their vertices.
#[derive(Debug, Default)]
struct Vertices {
    /// X by span.
    phrases: HashMap<(u32, u32), VertexId>,
    /// S by end.
    sentences: HashMap<u32, VertexId>,
}

impl Applier {
    /// The translation forest of a sentence without syntax: rules must be flat, their labels [`PHRASE`]. The goal is the
    /// whole sentence. Symbols of the sentence and of the grammars must come from `vocab`, which must have both labels.
    ///
    /// # Panics
    /// If there are no words, or a label is missing.
    pub fn chart_forest(
        &self,
        words: &[Symbol],
        vocab: &Vocab,
        given: SentenceRules<'_>,
    ) -> TranslationForest {
        assert!(!words.is_empty(), "a sentence has words");
        let (Some(phrase), Some(sentence)) = (vocab.get(PHRASE), vocab.get(SENTENCE)) else {
            panic!("the vocabulary has both labels");
        };
        let own = given.own.map(|grammar| self.own_layer(grammar));
        let layers: Vec<_> = self.layers().iter().chain(own.as_ref()).collect();
        let trie: Vec<ChartLayer<'_>> =
            layers.iter().map(|layer| ChartLayer::new(&layer.grammar, words, phrase)).collect();
        let length = words.len() as u32;
        // Phrase pairs are as long as they were learnt, and are put together in any order.
        let formalism = trie.first().map(|table| table.grammar.meta().formalism);
        let is_free = formalism == Some(Formalism::Phrase);
        let longest = if is_free { u32::MAX } else { self.applying().chart.max_span.max(1) };
        let mut chart = Chart::new(length);
        if formalism == Some(Formalism::LrHiero) {
            chart.open_all(longest);
        }
        let mut copied = vec![false; words.len()];
        for start in (0..length).rev() {
            copied[start as usize] =
                chart.fill(start, longest, &trie, |alone| match self.applying().default_rules {
                    DefaultRules::Missing => !alone || given.unseen.contains(&words[start as usize]),
                    DefaultRules::Always => true,
                    DefaultRules::Never => false,
                });
        }
        if formalism == Some(Formalism::LrHiero) {
            let used = Used { chart: &chart, copied: &copied, words, layers: &layers, given };
            return self.left_to_right_forest(&used, phrase);
        }
        let (nodes, vertices) = reachable(&chart, length, phrase, sentence);
        let mut builder = ForestBuilder::new();
        if is_free {
            let (per_word, neighbour) = self.reordering();
            builder.reordering(per_word, neighbour);
        }
        let mut parts = Vec::new();
        let mut bound = Vec::new();
        for (node, &(label, span)) in nodes.iter().enumerate() {
            let node = NodeId::from_index(node);
            builder.vertex(1, span);
            builder.label(label);
            if label == sentence {
                builder.begins();
                self.add_glue(&mut builder, span.end, &vertices);
                continue;
            }
            for found in chart.cells.get(&(span.start, span.end)).into_iter().flatten() {
                let number = found.layer as usize;
                bound.clear();
                bound.extend(chart.parts_of(found).iter().map(|part| NodeId(vertices.phrases[part].0)));
                let matched = Match { bound: &bound, ..found.matched() };
                let corrected = self.corrected(number, given.number);
                let span = |node: NodeId| nodes[node.index()].1;
                let place = Applied { span, node, matched: &matched, corrected, costs: None };
                self.add(&mut builder, layers[number], &place, &mut parts);
            }
            if span.len() == 1 && copied[span.start as usize] {
                self.add_copy(&mut builder, words, span.start);
            }
        }
        builder.finish(vertices.sentences[&length])
    }

    fn add_special(&self, builder: &mut ForestBuilder, id: u32, score: f64, parts: &[Part]) {
        let spec = EdgeSpec {
            rule: RuleRef { layer: Layer::Default, id },
            score,
            nodes: 1,
            hash: sylvan_base::hash::fold(u64::from(id), parts.len() as u64),
        };
        builder.edge(spec, parts);
        if self.applying().outlook != Outlook::All {
            builder.outlook(score);
        }
        if self.applying().coverage == Coverage::Links {
            builder.owners(super::applying::bundles(parts).into());
        }
    }

    pub(super) fn add_copy(&self, builder: &mut ForestBuilder, words: &[Symbol], position: u32) {
        let source = self.affiliates().then_some(position);
        let token = Token { word: words[position as usize], source };
        self.add_special(builder, COPY, self.per_copy(), &[Part::Word(token)]);
    }

    fn add_glue(&self, builder: &mut ForestBuilder, end: u32, vertices: &Vertices) {
        for start in 0..end {
            let Some(&phrase) = vertices.phrases.get(&(start, end)) else { continue };
            if start == 0 {
                self.add_special(builder, START, 0.0, &[Part::Vertex(phrase)]);
            } else if let Some(&before) = vertices.sentences.get(&start) {
                let parts = [Part::Vertex(before), Part::Vertex(phrase)];
                self.add_special(builder, GLUE, self.per_default(), &parts);
            }
        }
    }
}

/// The vertices that a whole translation can have, tails before heads: what ends at each place, and there what begins
/// last first, then what begins with the sentence.
fn reachable(
    chart: &Chart,
    length: u32,
    phrase: Symbol,
    sentence: Symbol,
) -> (Vec<(Symbol, Span)>, Vertices) {
    let derived = |start: u32, end: u32| chart.cells.contains_key(&(start, end));
    let mut begun = vec![false; length as usize + 1];
    begun[0] = true;
    for end in 1..=length {
        begun[end as usize] = (0..end).any(|start| begun[start as usize] && derived(start, end));
    }
    let mut wanted_sentence = vec![false; length as usize + 1];
    wanted_sentence[length as usize] = begun[length as usize];
    let mut wanted: HashSet<(u32, u32)> = HashSet::default();
    for end in (1..=length).rev().filter(|&end| begun[end as usize]) {
        if !wanted_sentence[end as usize] {
            continue;
        }
        for start in (0..end).filter(|&start| begun[start as usize] && derived(start, end)) {
            wanted_sentence[start as usize] = true;
            wanted.insert((start, end));
        }
    }
    let mut open: Vec<(u32, u32)> = wanted.iter().copied().collect();
    while let Some(span) = open.pop() {
        for found in chart.cells.get(&span).into_iter().flatten() {
            open.extend(chart.parts_of(found).iter().copied().filter(|&part| wanted.insert(part)));
        }
    }
    let (mut nodes, mut vertices) = (Vec::new(), Vertices::default());
    for end in 1..=length {
        for start in (0..end).rev().filter(|&start| wanted.contains(&(start, end))) {
            vertices.phrases.insert((start, end), VertexId::from_index(nodes.len()));
            nodes.push((phrase, Span { start, end }));
        }
        if wanted_sentence[end as usize] {
            vertices.sentences.insert(end, VertexId::from_index(nodes.len()));
            nodes.push((sentence, Span { start: 0, end }));
        }
    }
    if nodes.is_empty() {
        // Nothing derives the sentence; its vertex has no edges.
        vertices.sentences.insert(length, VertexId(0));
        nodes.push((sentence, Span { start: 0, end: length }));
    }
    (nodes, vertices)
}
