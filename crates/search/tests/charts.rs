//! Sentences without syntax: on the chart of flat rules every search finds what brute force finds.
#![allow(clippy::unwrap_used)]

mod common;

use common::{HashLm, LIMIT, close};
use sylvan_base::{Rng, Symbol, Vocab};
use sylvan_forest::TranslationForest;
use sylvan_rules::apply::{Applier, Applying, ChartLimits, PHRASE, SENTENCE, SentenceRules};
use sylvan_rules::{GrammarBuilder, Rule, Weights};
use sylvan_search::{
    Beam, BoundaryWords, Cube, Derivations, Effort, Future, LanguageModel, Outcome, Prediction, Undirected,
    brute_force, cube_pruning, exact, incremental, prediction, refine, rescore, undirected,
};
use sylvan_testkit::cases;

/// A sentence of a few words and flat rules with up to two variables, in any order on the target side.
fn random_chart(rng: &mut Rng) -> TranslationForest {
    let mut vocab = Vocab::new();
    vocab.intern(PHRASE);
    vocab.intern(SENTENCE);
    let names = ["a", "b", "c"];
    let words: Vec<Symbol> = (0..1 + rng.below(5)).map(|_| vocab.intern(rng.pick::<&str>(&names))).collect();
    let mut builder = GrammarBuilder::new(["score"]);
    for _ in 0..3 + rng.below(8) {
        let count = 1 + rng.below(3);
        let (mut source, mut target) = (Vec::new(), Vec::new());
        for _ in 0..count {
            if count > 1 && target.len() < 2 && rng.chance(0.45) {
                target.push(format!("x{}", target.len() + 1));
                source.push(format!("{}:X", target[target.len() - 1]));
            } else {
                source.push((*rng.pick(&names)).to_string());
            }
        }
        rng.shuffle(&mut target);
        for _ in 0..rng.below(3) {
            let word = rng.pick::<&str>(&["p", "q", "r"]).to_string();
            target.insert(rng.below(target.len() + 1), word);
        }
        let text = format!("X({}) -> {}", source.join(" "), target.join(" "));
        builder.add(&Rule::parse(&text, &mut vocab).unwrap(), &[-(rng.unit() as f32) * 3.0], &vocab);
    }
    let weights = Weights::of([("score", 1.0), ("glue", -0.7), ("oov", -1.3)]);
    let chart = ChartLimits { max_span: 2 + rng.below(4) as u32 };
    let applier = Applier::new(&builder.finish(), &weights, Applying { chart, ..Applying::default() });
    applier.chart_forest(&words, &vocab, SentenceRules::default())
}

type Search = fn(&TranslationForest, &HashLm, Beam) -> Option<Outcome>;

fn searches() -> [(&'static str, Search); 9] {
    [
        ("cube pruning", |forest, lm, beam| cube_pruning(forest, &BoundaryWords::new(lm), Cube::new(beam))),
        ("refine", |forest, lm, beam| refine(forest, &BoundaryWords::new(lm), beam)),
        ("incremental, inside", |forest, lm, beam| incremental(forest, lm, beam, Future::Inside)),
        ("incremental, rough", |forest, lm, beam| incremental(forest, lm, beam, Future::Rough)),
        ("incremental, no future", |forest, lm, beam| incremental(forest, lm, beam, Future::None)),
        ("prediction", |forest, lm, beam| prediction(forest, lm, beam, Prediction::default())),
        ("undirected", |forest, lm, beam| undirected(forest, &BoundaryWords::new(lm), Undirected::new(beam))),
        ("undirected, the paper's", |forest, lm, beam| {
            undirected(forest, &BoundaryWords::new(lm), Undirected::paper(beam))
        }),
        ("exact", |forest, lm, _| exact(forest, lm, None, Effort::UNLIMITED, &mut || false).unwrap().best),
    ]
}

#[test]
fn every_search_finds_the_best_derivation_of_a_chart() {
    let mut rng = Rng::new(31);
    let (mut ambiguous, mut done) = (0, 0);
    while done < cases(1_500, 20_000) {
        let forest = random_chart(&mut rng);
        if Derivations::of(&forest).count() > LIMIT {
            continue;
        }
        done += 1;
        let lm = HashLm::new(&forest, 1 + rng.below(4), rng.next_u64(), 1.0);
        let best = brute_force(&forest, &lm, LIMIT).unwrap();
        ambiguous += usize::from(Derivations::of(&forest).count() > 10);
        for (name, search) in searches() {
            let found = search(&forest, &lm, Beam::UNLIMITED).unwrap();
            assert!(close(found.score, best.score), "{name}: {} not {}", found.score, best.score);
            assert!(close(rescore(&forest, &lm, &found.derivation), found.score), "{name}");
            // A small beam finds something, and nothing better.
            let beam = Beam(1 + rng.below(4));
            let found = search(&forest, &lm, beam).unwrap();
            assert!(found.score <= best.score + 1e-6 * (1.0 + best.score.abs()), "{name}, {beam:?}");
        }
        assert!(lm.order() > 0);
    }
    assert!(ambiguous > done / 5, "{ambiguous} of {done}");
}

#[test]
fn a_forest_derives_the_words_of_its_derivations_and_no_others() {
    let mut rng = Rng::new(33);
    let (mut done, mut others) = (0, 0);
    while done < cases(300, 20_000) {
        let forest = random_chart(&mut rng);
        let derivations = Derivations::of(&forest);
        if derivations.count() > LIMIT {
            continue;
        }
        done += 1;
        let all: std::collections::BTreeSet<Vec<Symbol>> =
            (0..derivations.count()).map(|index| derivations.get(index).words(&forest)).collect();
        let mut known: Vec<Symbol> = all.iter().flatten().copied().collect();
        known.dedup();
        for words in &all {
            assert!(forest.derives(words), "{words:?}");
            // One word changed, left out or put in: a derivation of other words, or none.
            let mut other = words.clone();
            let place = rng.below(words.len() + 1);
            match (rng.below(3), known.is_empty(), place < words.len()) {
                (0, false, true) => other[place] = *rng.pick(&known),
                (1, _, true) => drop(other.remove(place)),
                (_, false, _) => other.insert(place, *rng.pick(&known)),
                _ => {}
            }
            others += usize::from(!all.contains(&other));
            assert_eq!(forest.derives(&other), all.contains(&other), "{other:?}");
        }
    }
    assert!(others > done, "{others}");
}
