//! The slow twins of the searches on real forests: another toolkit's rules and language model.
//!
//! Real scores are rounded to multiples of 2^-36, each by less than 1e-11, so that sums are exact in any order and twins
//! must agree in every item and number, as they must on random problems. With the scores as they are, sums differ in
//! their last digits, and where two items are a tie but for that a search may go another way than its twin; these
//! runs are counted, and every other difference is an error.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used)]

#[path = "../../search/tests/twin/compare.rs"]
mod compare;
#[path = "../../search/tests/twin/cube.rs"]
mod cube;
#[path = "../../search/tests/twin/engine.rs"]
mod engine;
#[path = "../../search/tests/twin/estimate.rs"]
mod estimate;
#[path = "../../search/tests/twin/prediction.rs"]
mod prediction;
mod reference;
#[path = "../../search/tests/twin/top_down.rs"]
mod top_down;

use std::sync::Arc;

use compare::{Bound, Difference};
use engine::Tally;
use reference::Reference;
use sylvan_base::Vocab;
use sylvan_decode::{List, Ngram, With, Worker};
use sylvan_forest::{EdgeSpec, ForestBuilder, Part, Target, TokenId, TranslationForest};
use sylvan_lm::{Lm, WordId};
use sylvan_search::{
    Beam, BoundaryWords, Cube, Incremental, LanguageModel, Limits, Losers, Prediction, Search, Stop,
    prediction as predict,
};
use sylvan_testkit::cases;

fn round(score: f64) -> f64 {
    let grains = (1_u64 << 36) as f64;
    (score * grains).round() / grains
}

/// A model with rounded scores.
#[derive(Debug, Clone, Copy)]
struct Rounded<L>(L);

impl<L: LanguageModel> LanguageModel for Rounded<L> {
    type State = L::State;
    fn order(&self) -> usize {
        self.0.order()
    }
    fn begin(&self) -> L::State {
        self.0.begin()
    }
    fn null(&self) -> L::State {
        self.0.null()
    }
    fn score(&self, state: L::State, word: TokenId) -> (f64, L::State) {
        let (score, next) = self.0.score(state, word);
        (round(score), next)
    }
    fn end(&self, state: L::State) -> f64 {
        round(self.0.end(state))
    }
}

/// The forest with rounded scores.
fn rounded(forest: &TranslationForest) -> TranslationForest {
    let mut builder = ForestBuilder::new();
    for vertex in forest.vertices() {
        builder.vertex(forest.nodes(vertex), forest.span(vertex));
        for edge in forest.edges(vertex) {
            let mut parts = Vec::new();
            for &symbol in forest.target(edge) {
                match symbol {
                    Target::Vertex(tail) => parts.push(Part::Vertex(tail)),
                    Target::Bundle(bundle) => {
                        let tokens = forest.bundle(bundle).iter();
                        parts.extend(tokens.map(|&token| Part::Word(forest.token(token))));
                    }
                }
            }
            let spec = forest.edge(edge).spec;
            builder.edge(EdgeSpec { score: round(spec.score), ..spec }, &parts);
        }
    }
    builder.finish(forest.goal())
}

fn word_ids(forest: &TranslationForest, lm: &Lm, vocab: &Vocab) -> Vec<WordId> {
    forest.tokens().iter().map(|token| lm.word(vocab.text(token.word))).collect()
}

/// Runs with unrounded scores, and those of them that went another way where two values were equal but for rounding.
#[derive(Debug, Default)]
struct Unrounded {
    runs: usize,
    rounding_decided: usize,
}

impl Unrounded {
    fn add<T>(&mut self, result: Result<T, Difference>, index: usize) {
        self.runs += 1;
        match result {
            Ok(_) => {}
            Err(difference) if difference.is_rounding() => self.rounding_decided += 1,
            Err(difference) => panic!("sentence {index}, unrounded: {difference}"),
        }
    }
}

#[test]
fn searches_keep_what_their_twins_keep_on_real_forests() {
    let Some(problem) = Reference::load() else { return };
    let lm = Lm::open(&problem.folder.join("ja.5.arpa.gz")).unwrap();
    let weight = problem.model.weights().get("lm");
    let mut worker = Worker::new(Arc::clone(&problem.model));
    let (top_down, bottom_up) = (Incremental::default(), Prediction::default());
    let (mut all, mut cubes, mut unrounded) = (Tally::default(), Bound::default(), Unrounded::default());
    for (index, sentence) in problem.sentences.iter().take(cases(20, 100)).enumerate() {
        let real = worker.forest(sentence, With::default()).forest;
        let forest = rounded(&real);
        assert_eq!(real.tokens(), forest.tokens());
        let ids = word_ids(&forest, &lm, sentence.vocab());
        let real_lm = Ngram::new(&lm, &ids, weight);
        let lm = Rounded(real_lm);
        for beam in [5, 20, 50].map(Beam) {
            for limits in [Limits::usual(beam), Limits::beam(beam), Limits::grids(beam, 4 * beam.0)] {
                let fail = |difference| panic!("sentence {index}, {limits:?}: {difference}");
                all += compare::incremental(&forest, &lm, limits, top_down, false, 0.0).unwrap_or_else(fail);
                all += compare::prediction(&forest, &lm, limits, bottom_up, false, 0.0).unwrap_or_else(fail);
                let result = compare::incremental(&real, &real_lm, limits, top_down, false, 1e-6);
                unrounded.add(result, index);
                if beam.0 == 5 {
                    let result = compare::prediction(&real, &real_lm, limits, bottom_up, false, 1e-6);
                    unrounded.add(result, index);
                }
            }
            for limits in [Cube::new(beam), Cube { pops: 20, ..Cube::new(beam) }] {
                let pieces = BoundaryWords::new(&lm);
                let bound = compare::cube_pruning(&forest, &pieces, limits, Losers::Forget, 0.0)
                    .unwrap_or_else(|difference| panic!("sentence {index}, {limits:?}: {difference}"));
                cubes.beam += bound.beam;
                cubes.pops += bound.pops;
                // The model's own pieces, which keep fewer words.
                let result = compare::cube_pruning(&real, &real_lm, limits, Losers::Forget, 1e-6);
                unrounded.add(result, index);
            }
        }
        // This is the problem that the decoder solves.
        let limits = Limits::usual(Beam(20));
        let search = Search::Prediction(limits, bottom_up);
        let found = worker.decode(sentence, With::default(), search, List::default(), &Stop::NEVER);
        let score = predict(&real, &real_lm, limits, bottom_up).unwrap().score;
        assert_eq!(found.hypotheses[0].score, score, "sentence {index}");
    }
    println!("{all:?}, {cubes:?}, {unrounded:?}");
    assert!(all.turned_away.min(all.skipped).min(all.unpopped) > 1000, "{all:?}");
    assert!(cubes.beam.min(cubes.pops) > 100, "{cubes:?}");
    assert!(unrounded.rounding_decided * 20 < unrounded.runs, "{unrounded:?}");
}
