//! Phrase-based search: items are coverage and the end of the last phrase; options come from a chart of spans, and
//! become edges when they are first asked for.

use sylvan_base::{HashMap, Id, IndexVec, Rng, Span, Symbol};
use sylvan_forest::{
    BundleId, EdgeId, Edges, ForestBuilder, Part, Target, Token, TokenId, TranslationForest, VertexId,
};
use sylvan_search::{
    Application, Beam, Charge, Choice, ClassId, Deduction, EdgeOrder, Engine, ItemId, KBest, LanguageModel,
    Limits, ListId, Run, Successor, Worth, rescore,
};

use crate::common::{HashLm, close};
use crate::spec;

/// Edges that exist once they were asked for, numbered in that order.
struct OnDemand<'f> {
    options: &'f TranslationForest,
    made: Vec<EdgeId>,
    known: HashMap<EdgeId, EdgeId>,
}

impl OnDemand<'_> {
    fn make(&mut self, option: EdgeId) -> EdgeId {
        let made = &mut self.made;
        *self.known.entry(option).or_insert_with(|| {
            made.push(option);
            EdgeId::from_index(made.len() - 1)
        })
    }

    fn option(&self, edge: EdgeId) -> EdgeId {
        self.made[edge.index()]
    }

    fn span(&self, edge: EdgeId) -> Span {
        span_of(self.options, self.option(edge))
    }
}

impl Edges for OnDemand<'_> {
    fn target(&self, edge: EdgeId) -> &[Target] {
        self.options.target(self.option(edge))
    }
    fn bundle(&self, bundle: BundleId) -> &[TokenId] {
        self.options.bundle(bundle)
    }
    fn token(&self, token: TokenId) -> Token {
        self.options.token(token)
    }
    fn score(&self, edge: EdgeId) -> f64 {
        self.options.score(self.option(edge))
    }
    fn hash(&self, edge: EdgeId) -> u64 {
        self.options.hash(self.option(edge))
    }
}

struct PhraseBased<'f> {
    edges: OnDemand<'f>,
    length: usize,
    limit: usize,
    /// Coverage and the end of the last phrase.
    items: IndexVec<ItemId, (u64, u32)>,
    index: HashMap<(u64, u32), ItemId>,
}

impl PhraseBased<'_> {
    fn item(&mut self, key: (u64, u32)) -> ItemId {
        let items = &mut self.items;
        *self.index.entry(key).or_insert_with(|| items.push(key))
    }

    fn may_follow(&self, (covered, end): (u64, u32), span: Span) -> bool {
        let bits = span.range().fold(0u64, |bits, position| bits | 1 << position);
        covered & bits == 0 && span.range().start.abs_diff(end as usize) <= self.limit
    }
}

impl<'f> Deduction for PhraseBased<'f> {
    type Forest = OnDemand<'f>;

    fn forest(&self) -> &OnDemand<'f> {
        &self.edges
    }
    fn axiom(&mut self) -> ItemId {
        self.item((0, 0))
    }
    fn bins(&self) -> usize {
        self.length + 1
    }
    fn bin(&self, item: ItemId) -> usize {
        self.items[item].0.count_ones() as usize
    }
    fn class(&self, item: ItemId) -> Option<ClassId> {
        (self.bin(item) < self.length).then_some(ClassId(item.0))
    }
    fn options(&mut self, list: ListId, out: &mut Vec<Choice>) {
        for option in self.edges.options.edge_ids() {
            if self.may_follow(self.items[ItemId(list.0)], span_of(self.edges.options, option)) {
                let edge = self.edges.make(option);
                out.push(Choice::new(edge.0, self.edges.score(edge)));
            }
        }
    }
    fn emit(&self, _item: ItemId, choice: u32, bundles: &mut Vec<BundleId>) -> f64 {
        let edge = EdgeId(choice);
        for &symbol in self.edges.target(edge) {
            let Target::Bundle(bundle) = symbol else { panic!("phrases have no gaps") };
            bundles.push(bundle);
        }
        self.edges.score(edge)
    }
    fn apply(&mut self, item: ItemId, choice: u32, _worth: &Worth<'_>, out: &mut Application) {
        let edge = EdgeId(choice);
        let span = self.edges.span(edge);
        let covered = span.range().fold(self.items[item].0, |bits, position| bits | 1 << position);
        let item = self.item((covered, span.range().end as u32));
        out.trail.push(Charge { edge, after: None });
        let score = self.edges.score(edge);
        out.successors.push(Successor { item, score, charged: Some(0) });
    }
    fn order(&self) -> EdgeOrder {
        EdgeOrder::HeadsFirst
    }
}

/// Every sequence of phrases that covers everything.
fn best_order<L: LanguageModel>(search: &PhraseBased<'_>, lm: &L) -> f64 {
    let mut best = f64::NEG_INFINITY;
    let mut open = vec![((0u64, 0u32), 0.0, lm.begin())];
    while let Some((key, score, state)) = open.pop() {
        if key.0.count_ones() as usize == search.length {
            best = best.max(score + lm.end(state));
        }
        for edge in search.edges.options.edge_ids() {
            let span = search.edges.options.span(search.edges.options.edge(edge).head);
            if search.may_follow(key, span) {
                let [Target::Bundle(bundle)] = search.edges.options.target(edge) else { panic!() };
                let (gain, state) = lm.run(state, search.edges.options.bundle(*bundle));
                let covered = span.range().fold(key.0, |bits, position| bits | 1 << position);
                let score = score + gain + search.edges.options.edge(edge).spec.score;
                open.push(((covered, span.range().end as u32), score, state));
            }
        }
    }
    best
}

#[test]
fn phrase_based_search_with_a_distortion_limit_equals_brute_force() {
    let mut rng = Rng::new(5);
    let mut chains = 0;
    for _ in 0..200 {
        let length = 2 + rng.below(4);
        let mut builder = ForestBuilder::new();
        for start in 0..length {
            for end in start + 1..=(start + 2).min(length) {
                builder.vertex(1, Span::new(start, end));
                for _ in 0..1 + rng.below(2) {
                    let words: Vec<Part> =
                        (0..rng.below(3)).map(|_| Part::word(Symbol(rng.below(4) as u32))).collect();
                    builder.edge(spec(rng.below(1000) as u32, -(rng.below(100) as f64) / 50.0), &words);
                }
            }
        }
        let options = builder.finish(VertexId::from_index(0));
        let lm = HashLm::new(&options, 1 + rng.below(3), rng.next_u64(), 1.0);
        let limit = rng.below(length + 1);
        let edges = OnDemand { options: &options, made: Vec::new(), known: HashMap::default() };
        let (items, index) = (IndexVec::new(), HashMap::default());
        let mut deduction = PhraseBased { edges, length, limit, items, index };
        let expected = best_order(&deduction, &lm);
        let limits = Limits::beam(Beam::UNLIMITED);
        let run = Run { out_forest: true, ..Run::new(&lm) };
        let found = Engine::default().search(run, &mut deduction, limits, None);
        // With a tight limit there may be no way to cover everything.
        let Some(found) = found else {
            assert_eq!(expected, f64::NEG_INFINITY);
            continue;
        };
        assert!(close(found.score, expected));
        // A derivation is a chain of phrases: it covers everything, and its parts add up to the score.
        let derivation = &found.derivation;
        let covered: usize = derivation.edges().iter().map(|&edge| deduction.edges.span(edge).len()).sum();
        assert_eq!(covered, length);
        assert!(close(rescore(&deduction.edges, &lm, derivation), found.score));
        chains += usize::from(derivation.edges().len() > 1);
        let out = found.out_forest.as_ref().unwrap();
        for (score, edges) in KBest::new(out).take(5) {
            assert!(close(rescore(&deduction.edges, &lm, &out.derivation(&deduction.edges, edges)), score));
        }
    }
    assert!(chains > 50, "{chains}");
}

fn span_of(options: &TranslationForest, edge: EdgeId) -> Span {
    options.span(options.edge(edge).head)
}
