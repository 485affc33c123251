//! Forests that get the edges of their glue when a search asks for them, or all at once.

use sylvan_base::{HashMap, HashSet, Id, IndexVec, Span};

use crate::translation::{Edge, Vertex};
use crate::{BundleId, EdgeId, EdgeSpec, Edges, Glue, Target, Token, TokenId, TranslationForest, VertexId};

/// A forest whose glue is made when a search asks for it. Without glue it is the forest itself.
#[derive(Debug)]
pub struct Growing<'f> {
    forest: &'f TranslationForest,
    grown: Grown,
    vertices: HashMap<Span, VertexId>,
    edges: HashMap<(VertexId, VertexId, bool), EdgeId>,
}

/// Edges that were made on demand, and the vertices that they needed; numbered after those of their forest.
#[derive(Debug, Clone, Default)]
pub struct Grown {
    vertices: Vec<Span>,
    edges: Vec<Edge>,
    targets: Vec<Target>,
    keys: Vec<(VertexId, VertexId, bool)>,
}

impl<'f> Growing<'f> {
    /// Nothing has grown yet.
    pub fn new(forest: &'f TranslationForest) -> Self {
        Self { forest, grown: Grown::default(), vertices: HashMap::default(), edges: HashMap::default() }
    }

    /// The forest without what has grown.
    pub fn base(&self) -> &'f TranslationForest {
        self.forest
    }

    /// The source words below a vertex.
    #[inline]
    pub fn span(&self, vertex: VertexId) -> Span {
        match vertex.index().checked_sub(self.forest.vertices.len()) {
            None => self.forest.span(vertex),
            Some(grown) => self.grown.vertices[grown],
        }
    }

    /// The edges of a vertex except glue.
    pub fn edges(
        &self,
        vertex: VertexId,
    ) -> impl DoubleEndedIterator<Item = EdgeId> + ExactSizeIterator + use<> {
        let known = vertex.index() < self.forest.vertices.len();
        let range = if known { self.forest.vertices[vertex].edges.clone() } else { 0..0 };
        range.map(EdgeId)
    }

    /// Whether a vertex was not in the forest at first.
    #[inline]
    pub fn is_grown(&self, vertex: VertexId) -> bool {
        vertex.index() >= self.forest.vertices.len()
    }

    /// The vertex that stands for a span.
    pub fn vertex(&mut self, span: Span) -> VertexId {
        if let Some(&known) = self.forest.glue.as_ref().and_then(|glue| glue.whole.get(&span)) {
            return known;
        }
        let (vertices, base) = (&mut self.grown.vertices, self.forest.vertices.len());
        *self.vertices.entry(span).or_insert_with(|| {
            vertices.push(span);
            VertexId::from_index(base + vertices.len() - 1)
        })
    }

    /// The edge that glues a phrase to the rest of what a vertex stands for; `None` if the forest has no glue.
    pub fn glue(&mut self, head: VertexId, phrase: VertexId, turned: bool) -> Option<EdgeId> {
        if let Some(&known) = self.edges.get(&(head, phrase, turned)) {
            return Some(known);
        }
        let glue = self.forest.glue.as_ref()?;
        if let Some(&made) = glue.made.get(&(head, phrase, turned)) {
            return Some(made);
        }
        let (span, inside) = (self.span(head), self.forest.span(phrase));
        let start = self.grown.targets.len() as u32;
        let gaps: Vec<Target> =
            Glue::gaps(span, inside, turned).map(|gap| Target::Vertex(self.vertex(gap))).collect();
        self.grown.targets.push(Target::Vertex(phrase));
        self.grown.targets.extend(gaps);
        let edge = EdgeId::from_index(self.forest.edges.len() + self.grown.edges.len());
        let target = start..self.grown.targets.len() as u32;
        self.grown.edges.push(Edge { head, spec: glue.spec(span, inside, turned), target });
        self.grown.keys.push((head, phrase, turned));
        self.edges.insert((head, phrase, turned), edge);
        Some(edge)
    }

    /// What has grown.
    pub fn grown(self) -> Grown {
        self.grown
    }
}

impl Edges for Growing<'_> {
    #[inline]
    fn target(&self, edge: EdgeId) -> &[Target] {
        match edge.index().checked_sub(self.forest.edges.len()) {
            None => self.forest.target(edge),
            Some(grown) => {
                let range = &self.grown.edges[grown].target;
                &self.grown.targets[range.start as usize..range.end as usize]
            }
        }
    }
    #[inline]
    fn bundle(&self, bundle: BundleId) -> &[TokenId] {
        self.forest.bundle(bundle)
    }
    #[inline]
    fn token(&self, token: TokenId) -> Token {
        self.forest.token(token)
    }
    #[inline]
    fn score(&self, edge: EdgeId) -> f64 {
        self.spec(edge).score
    }
    #[inline]
    fn hash(&self, edge: EdgeId) -> u64 {
        self.spec(edge).hash
    }
}

impl Growing<'_> {
    #[inline]
    fn spec(&self, edge: EdgeId) -> &EdgeSpec {
        match edge.index().checked_sub(self.forest.edges.len()) {
            None => &self.forest.edges[edge].spec,
            Some(grown) => &self.grown.edges[grown].spec,
        }
    }
}

impl TranslationForest {
    /// The glue that is not among its edges.
    pub fn glue(&self) -> Option<&Glue> {
        self.glue.as_deref()
    }

    /// Takes over what has grown, so that derivations with it can be read.
    pub fn grow(&mut self, grown: Grown) {
        if grown.edges.is_empty() {
            return;
        }
        let (targets, end) = (self.targets.len() as u32, self.edges.len() as u32);
        let Some(glue) = &mut self.glue else { return };
        for span in grown.vertices {
            let vertex = self.vertices.push(Vertex { edges: end..end, nodes: 1, span });
            glue.whole.insert(span, vertex);
            if !self.labels.is_empty() {
                self.labels.push(glue.label);
            }
        }
        for (edge, key) in grown.edges.into_iter().zip(grown.keys) {
            let target = edge.target.start + targets..edge.target.end + targets;
            glue.made.insert(key, self.edges.push(Edge { target, ..edge }));
        }
        self.targets.extend(grown.targets);
    }

    /// The same derivations in a forest that has all edges of its glue.
    pub fn with_all_glue(&self) -> TranslationForest {
        let Some(glue) = &self.glue else { return self.clone() };
        let (whole, phrases) = self.reached(glue);
        let mut order: Vec<(u32, bool, Span)> =
            whole.iter().map(|span| (span.len() as u32, true, *span)).collect();
        order.extend(phrases.keys().map(|span| (span.len() as u32, false, *span)));
        order.sort_unstable_by_key(|&(size, is_whole, span)| (size, span.start, is_whole));
        let mut new = TranslationForest {
            vertices: IndexVec::new(),
            edges: IndexVec::new(),
            targets: Vec::new(),
            labels: Vec::new(),
            inputs: Vec::new(),
            outlooks: Vec::new(),
            owners: Vec::new(),
            begins: Vec::new(),
            gap_costs: self.gap_costs.clone(),
            glue: None,
            uneven: true,
            bundle_ends: self.bundle_ends.clone(),
            words: self.words.clone(),
            tokens: self.tokens.clone(),
            reordering: self.reordering.clone(),
            goal: VertexId(0),
        };
        if let Some(reordering) = &mut new.reordering {
            reordering.edges.clear();
        }
        let goal = self.span(self.goal);
        // By old vertex, and by span where there was none.
        let (mut renamed, mut places): (HashMap<VertexId, VertexId>, HashMap<Span, VertexId>) =
            Default::default();
        for (_, is_whole, span) in order {
            let old = if is_whole { glue.whole.get(&span).copied() } else { phrases.get(&span).copied() };
            let start = new.edges.len() as u32;
            let vertex = new.vertices.push(Vertex { edges: start..start, nodes: 1, span });
            new.labels.push(glue.label);
            new.begins.push(is_whole && span == goal);
            renamed.extend(old.map(|old| (old, vertex)));
            if is_whole {
                places.insert(span, vertex);
            }
            for edge in old.into_iter().flat_map(|old| self.edges(old)) {
                let targets = self.target(edge).iter().map(|&symbol| match symbol {
                    Target::Vertex(tail) => renamed.get(&tail).map(|&tail| Target::Vertex(tail)),
                    bundle => Some(bundle),
                });
                // A gap that nothing reaches has no derivation.
                let Some(targets) = targets.collect::<Option<Vec<Target>>>() else { continue };
                new.add(vertex, self.edges[edge].spec, &targets);
                new.inputs.push(self.input_score(edge));
                new.outlooks.extend(self.outlooks.get(edge.index()));
                new.owners.extend(self.owners.get(edge.index()).cloned());
                if let (Some(from), Some(to)) = (&self.reordering, &mut new.reordering)
                    && !from.edges.is_empty()
                {
                    to.edges.push(from.edges.get(edge.index()).copied().unwrap_or_default());
                }
            }
            if !is_whole {
                continue;
            }
            for (inside, phrase) in glue.phrases(span) {
                for &turned in Glue::orders(span, inside) {
                    let gaps = Glue::gaps(span, inside, turned)
                        .map(|gap| places.get(&gap).map(|&gap| Target::Vertex(gap)));
                    let phrase = renamed.get(&phrase).map(|&phrase| Target::Vertex(phrase));
                    let Some(targets) = std::iter::once(phrase).chain(gaps).collect::<Option<Vec<Target>>>()
                    else {
                        continue;
                    };
                    let spec = glue.spec(span, inside, turned);
                    new.add(vertex, spec, &targets);
                    new.inputs.push(0.0);
                    if !self.outlooks.is_empty() {
                        new.outlooks.push(spec.score);
                    }
                    if !self.owners.is_empty() {
                        new.owners.push(Box::default());
                    }
                    if let (Some(from), Some(to)) = (&self.reordering, &mut new.reordering)
                        && !from.edges.is_empty()
                    {
                        to.edges.push(Default::default());
                    }
                }
            }
        }
        new.goal = places.get(&goal).copied().unwrap_or(VertexId(0));
        new.retain(|_| true)
    }

    fn add(&mut self, head: VertexId, spec: EdgeSpec, target: &[Target]) {
        let start = self.targets.len() as u32;
        self.targets.extend_from_slice(target);
        self.edges.push(Edge { head, spec, target: start..self.targets.len() as u32 });
        self.vertices[head].edges.end += 1;
    }

    /// The spans that a derivation can have, and the phrases that can be glued.
    fn reached(&self, glue: &Glue) -> (HashSet<Span>, HashMap<Span, VertexId>) {
        let goal = self.span(self.goal);
        let (mut whole, mut phrases) = (HashSet::default(), HashMap::default());
        whole.insert(goal);
        let mut open = vec![goal];
        while let Some(span) = open.pop() {
            let mut want = |part: Span| {
                if whole.insert(part) {
                    open.push(part);
                }
            };
            for edge in glue.whole.get(&span).into_iter().flat_map(|&vertex| self.edges(vertex)) {
                self.tails(edge).for_each(|tail| want(self.span(tail)));
            }
            for (inside, phrase) in glue.phrases(span) {
                phrases.insert(inside, phrase);
                Glue::gaps(span, inside, false).for_each(&mut want);
            }
        }
        (whole, phrases)
    }
}
