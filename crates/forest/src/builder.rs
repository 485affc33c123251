//! Building a translation forest, vertex by vertex.

use sylvan_base::{HashMap, Id, IndexVec, Span, Symbol};

use crate::translation::Vertex;
use crate::{
    BundleId, Edge, EdgeId, EdgeSpec, GapCosts, Glue, Neighbour, Orientations, Part, Reordering, Target,
    Token, TokenId, TranslationForest, VertexId,
};

/// Builds a [`TranslationForest`] bottom-up: declare a vertex, then its edges, then the next vertex.
#[derive(Debug)]
pub struct ForestBuilder {
    vertices: IndexVec<VertexId, Vertex>,
    edges: IndexVec<EdgeId, Edge>,
    targets: Vec<Target>,
    bundle_ends: Vec<u32>,
    words: Vec<TokenId>,
    bundles: HashMap<Box<[Token]>, BundleId>,
    run: Vec<Token>,
    tokens: IndexVec<TokenId, Token>,
    token_ids: HashMap<Token, TokenId>,
    labels: Vec<Symbol>,
    inputs: Vec<f64>,
    outlooks: Vec<f64>,
    owners: Vec<Box<[u8]>>,
    begins: Vec<bool>,
    reordering: Option<Box<Reordering>>,
    gap_costs: Option<Box<GapCosts>>,
    glue: Option<Box<Glue>>,
    uneven: bool,
}

impl Default for ForestBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl ForestBuilder {
    /// An empty forest.
    pub fn new() -> Self {
        let mut builder = Self {
            vertices: IndexVec::new(),
            edges: IndexVec::new(),
            targets: Vec::new(),
            bundle_ends: Vec::new(),
            words: Vec::new(),
            bundles: HashMap::default(),
            run: Vec::new(),
            tokens: IndexVec::new(),
            token_ids: HashMap::default(),
            labels: Vec::new(),
            inputs: Vec::new(),
            outlooks: Vec::new(),
            owners: Vec::new(),
            begins: Vec::new(),
            reordering: None,
            gap_costs: None,
            glue: None,
            uneven: false,
        };
        // The empty bundle is bundle 0.
        builder.bundle();
        builder
    }

    /// Declares the next vertex, with the number of input nodes and the source words below it.
    pub fn vertex(&mut self, nodes: u32, span: Span) -> VertexId {
        let next = self.edges.len() as u32;
        self.vertices.push(Vertex { edges: next..next, nodes, span })
    }

    /// The label of the vertex declared last. Either all vertices have labels or none.
    pub fn label(&mut self, label: Symbol) {
        self.labels.push(label);
    }

    /// The vertex declared last begins the sentence, wherever it is used: it is the goal, or the first part of edges of
    /// such vertices. Searches need not wait for its left context.
    pub fn begins(&mut self) {
        self.begins.resize(self.vertices.len(), false);
        if let Some(last) = self.begins.last_mut() {
            *last = true;
        }
    }

    /// Adds an edge to the vertex declared last.
    ///
    /// # Panics
    /// If there is no vertex yet, or a tail is not below the head: the caller's error, not the user's.
    pub fn edge(&mut self, spec: EdgeSpec, target: &[Part]) {
        let head = VertexId::from_index(self.vertices.len().checked_sub(1).expect("a vertex comes first"));
        let start = self.targets.len() as u32;
        self.run.clear();
        for &part in target {
            match part {
                Part::Word(word) => self.run.push(word),
                Part::Vertex(vertex) => {
                    assert!(vertex < head, "tails come before their head");
                    self.flush_run();
                    self.targets.push(Target::Vertex(vertex));
                }
            }
        }
        self.flush_run();
        if self.targets.len() as u32 == start {
            self.targets.push(Target::Bundle(BundleId::EMPTY));
        }
        let below = self.targets[start as usize..].iter().map(|&symbol| match symbol {
            Target::Vertex(tail) => self.vertices[tail].nodes,
            Target::Bundle(_) => 0,
        });
        self.uneven |= below.fold(spec.nodes, u32::saturating_add) != self.vertices[head].nodes;
        self.edges.push(Edge { head, spec, target: start..self.targets.len() as u32 });
        self.vertices[head].edges.end += 1;
    }

    /// The parser's score of what the edge added last covers; 0 by default.
    pub fn input_score(&mut self, score: f64) {
        if score != 0.0 {
            self.inputs.resize(self.edges.len().saturating_sub(1), 0.0);
            self.inputs.push(score);
        }
    }

    /// What estimates of the future see of the edge added last, instead of its score. Either all edges have one or none.
    pub fn outlook(&mut self, score: f64) {
        self.outlooks.push(score);
    }

    /// Which of its bundles, by place among them, each own source word of the edge added last belongs to. Either all
    /// edges are given theirs or none.
    pub fn owners(&mut self, owners: Box<[u8]>) {
        self.owners.push(owners);
    }

    /// The order of phrases is free: what a jump costs, by source word, and what orientations are seen against.
    pub fn reordering(&mut self, per_word: f64, neighbour: Neighbour) {
        self.reordering = Some(Box::new(Reordering { per_word, neighbour, edges: Vec::new() }));
    }

    /// What the edge added last thinks of its neighbours; nothing by default. Has no effect where the order is not free.
    pub fn orientations(&mut self, orientations: Orientations) {
        if let Some(reordering) = &mut self.reordering {
            reordering.edges.resize(self.edges.len().saturating_sub(1), Orientations::default());
            reordering.edges.push(orientations);
        }
    }

    /// Phrases can be glued to what they leave of a span. Then no edge is removed: what seems to have no derivation may
    /// have one with glue.
    pub fn glue(&mut self, glue: Glue) {
        self.gap_costs = Some(Box::new(glue.costs.clone()));
        self.glue = Some(Box::new(glue));
    }

    /// How many edges the vertex declared last has so far.
    pub fn edges_of_last(&self) -> usize {
        self.vertices.last().map_or(0, |vertex| vertex.edges.len())
    }

    fn flush_run(&mut self) {
        if !self.run.is_empty() {
            let bundle = self.bundle();
            self.targets.push(Target::Bundle(bundle));
            self.run.clear();
        }
    }

    /// The id of the words in `self.run`.
    fn bundle(&mut self) -> BundleId {
        if let Some(&bundle) = self.bundles.get(self.run.as_slice()) {
            return bundle;
        }
        let bundle = BundleId::from_index(self.bundle_ends.len());
        let Self { tokens, token_ids, run, words, .. } = self;
        for &token in &*run {
            words.push(*token_ids.entry(token).or_insert_with(|| tokens.push(token)));
        }
        self.bundle_ends.push(self.words.len() as u32);
        self.bundles.insert(self.run.clone().into_boxed_slice(), bundle);
        bundle
    }

    /// Completes the forest and removes edges with a tail that has no derivation, so that no search starts
    /// what it cannot finish.
    pub fn finish(self, goal: VertexId) -> TranslationForest {
        debug_assert!(self.outlooks.is_empty() || self.outlooks.len() == self.edges.len(), "all or none");
        debug_assert!(self.owners.is_empty() || self.owners.len() == self.edges.len(), "all or none");
        let forest = TranslationForest {
            vertices: self.vertices,
            edges: self.edges,
            targets: self.targets,
            bundle_ends: self.bundle_ends,
            words: self.words,
            tokens: self.tokens,
            labels: self.labels,
            inputs: self.inputs,
            outlooks: self.outlooks,
            owners: self.owners,
            begins: self.begins,
            reordering: self.reordering,
            gap_costs: self.gap_costs,
            glue: self.glue,
            uneven: self.uneven,
            goal,
        };
        if forest.glue.is_some() { forest } else { forest.retain(|_| true) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Layer, RuleRef};

    fn word(symbol: Symbol) -> Part {
        Part::word(symbol)
    }

    fn spec(id: u32) -> EdgeSpec {
        EdgeSpec { rule: RuleRef { layer: Layer::Grammar, id }, score: -1.0, nodes: 1, hash: u64::from(id) }
    }

    #[test]
    fn words_are_bundled_and_equal_bundles_shared() {
        let mut builder = ForestBuilder::new();
        let (a, b) = (Symbol(0), Symbol(1));
        let x = builder.vertex(1, Span::new(0, 1));
        builder.edge(spec(0), &[word(a), word(b)]);
        builder.edge(spec(1), &[]);
        let top = builder.vertex(2, Span::new(0, 2));
        builder.edge(spec(2), &[word(a), word(b), Part::Vertex(x), word(b)]);
        let forest = builder.finish(top);
        let edges: Vec<EdgeId> = forest.edge_ids().collect();
        let [Target::Bundle(ab)] = forest.target(edges[0]) else { panic!() };
        assert!(forest.bundle_words(*ab).eq([a, b]));
        assert_eq!(forest.target(edges[1]), [Target::Bundle(BundleId::EMPTY)]);
        assert!(forest.bundle(BundleId::EMPTY).is_empty());
        let [Target::Bundle(first), Target::Vertex(v), Target::Bundle(last)] = forest.target(edges[2]) else {
            panic!()
        };
        assert_eq!((first, *v), (ab, x));
        assert!(forest.bundle_words(*last).eq([b]));
    }

    #[test]
    fn edges_that_cannot_be_completed_disappear_upwards() {
        let mut builder = ForestBuilder::new();
        let dead = builder.vertex(1, Span::new(0, 1));
        let middle = builder.vertex(2, Span::new(0, 1));
        builder.edge(spec(0), &[Part::Vertex(dead)]);
        let top = builder.vertex(3, Span::new(0, 1));
        builder.edge(spec(1), &[Part::Vertex(middle)]);
        builder.edge(spec(2), &[word(Symbol(5))]);
        let forest = builder.finish(top);
        assert_eq!(forest.edges(dead).len(), 0);
        assert_eq!(forest.edges(middle).len(), 0);
        let left: Vec<u32> = forest.edges(top).map(|edge| forest.edge(edge).spec.rule.id).collect();
        assert_eq!(left, [2]);
        assert!(!forest.is_dead());
    }

    #[test]
    fn bundles_are_equal_only_if_their_tokens_are() {
        let mut builder = ForestBuilder::new();
        let at = |source| Part::Word(Token { word: Symbol(7), source });
        let top = builder.vertex(1, Span::new(0, 2));
        for (id, source) in [(0, Some(0)), (1, Some(1)), (2, None), (3, Some(1))] {
            builder.edge(spec(id), &[at(source)]);
        }
        let forest = builder.finish(top);
        let bundles: Vec<Target> = forest.edge_ids().map(|edge| forest.target(edge)[0]).collect();
        assert_eq!(bundles[1], bundles[3]);
        assert!(bundles[0] != bundles[1] && bundles[0] != bundles[2] && bundles[1] != bundles[2]);
        assert_eq!(forest.tokens().len(), 3);
        for edge in forest.edge_ids() {
            let [Target::Bundle(bundle)] = forest.target(edge) else { panic!() };
            assert!(forest.bundle_words(*bundle).eq([Symbol(7)]));
        }
    }
}
