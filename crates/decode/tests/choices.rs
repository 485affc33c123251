//! Translations of parts that are held: against all derivations of small forests, one by one.
#![allow(clippy::unwrap_used)]

mod random;

use std::collections::BTreeMap;

use sylvan_base::{Id, Rng, Symbol, Vocab};
use sylvan_decode::Ngram;
use sylvan_decode::choices::{hold_at, said, saying};
use sylvan_forest::{Derivation, TranslationForest, VertexId};
use sylvan_rules::apply::{Applier, DefaultRules};
use sylvan_rules::{GrammarBuilder, Rule, Weights};
use sylvan_search::{Derivations, Effort, LanguageModel, Run, Stop, brute_force, exact};
use sylvan_testkit::{cases, random_instance};

use random::{every_search, random_model, word_ids};

/// What a derivation says at a vertex, if it has it: plainly, from its edges alone.
fn at(forest: &TranslationForest, derivation: &Derivation, vertex: VertexId) -> Option<Vec<Symbol>> {
    let place = derivation.edges().iter().position(|&edge| forest.edge(edge).head == vertex)?;
    let mut open = 1;
    let mut end = place;
    while open > 0 {
        open += forest.tails(derivation.edges()[end]).count();
        open -= 1;
        end += 1;
    }
    Some(Derivation::new(derivation.edges()[place..end].to_vec()).words(forest))
}

fn forest(instance: &sylvan_testkit::Instance, vocab: &mut Vocab) -> TranslationForest {
    let tree = sylvan_trees::penn::parse_line(&instance.tree, Default::default(), vocab).unwrap().unwrap();
    let mut builder = GrammarBuilder::new(["score"]);
    for (text, score) in &instance.rules {
        builder.add(&Rule::parse(text, vocab).unwrap(), &[*score as f32], vocab);
    }
    let weights = Weights::of([("score", 1.0)]);
    Applier::new(&builder.finish(), &weights, DefaultRules::Always).forest(&tree, vocab)
}

#[test]
fn every_search_finds_the_best_translation_with_the_words_that_are_held() {
    let mut rng = Rng::new(71);
    let (mut done, mut skipped_around, mut worse) = (0, 0, 0);
    while done < cases(400, 6_000) {
        let mut vocab = Vocab::new();
        let forest = forest(&random_instance(&mut rng), &mut vocab);
        let all = Derivations::of(&forest);
        if all.count() == 0 || all.count() > 1_000 {
            continue;
        }
        done += 1;
        let lm = random_model(&mut rng);
        let ids = word_ids(&lm, &forest, &vocab);
        let scorer = Ngram::new(&lm, &ids, 0.5 + rng.unit());
        let derivations: Vec<Derivation> = (0..all.count()).map(|number| all.get(number)).collect();
        let score = |one: &Derivation| {
            one.local_score(&forest) + LanguageModel::sentence(&scorer, &one.tokens(&forest))
        };
        let best = derivations.iter().map(score).fold(f64::NEG_INFINITY, f64::max);
        let vertex = VertexId::from_index(rng.below(forest.vertices().len()));
        // By what they say there: the best of all derivations, and how many there are.
        let mut ways: BTreeMap<Vec<Symbol>, f64> = BTreeMap::new();
        for one in &derivations {
            match at(&forest, one, vertex) {
                Some(words) => {
                    let known = ways.entry(words).or_insert(f64::NEG_INFINITY);
                    *known = known.max(score(one));
                }
                None => skipped_around += 1,
            }
        }
        // All that a vertex can say is listed if the list is long enough.
        let list = said(&forest, vertex, 10_000, |words| scorer.local(words));
        for words in ways.keys() {
            assert!(list.iter().any(|one| one.words(&forest) == *words), "{words:?} is not listed");
        }
        for (words, expected) in ways {
            let held = hold_at(&forest, vertex, &words);
            let slack = 1e-5 * (1.0 + expected.abs());
            let judge = brute_force(&held, &scorer, 1_000).unwrap();
            assert!((judge.score - expected).abs() <= slack, "{} for {expected}", judge.score);
            assert_eq!(at(&held, &judge.derivation, vertex).as_deref(), Some(&words[..]));
            worse += usize::from(expected < best - slack);
            // No derivation is left that says anything else there.
            let left = Derivations::of(&held);
            for number in 0..left.count() {
                assert_eq!(at(&held, &left.get(number), vertex).as_deref(), Some(&words[..]));
            }
            let found = exact(&held, &scorer, None, Effort::UNLIMITED, &mut || false).unwrap();
            assert!(found.proven && (found.best.unwrap().score - expected).abs() <= slack);
            for search in every_search() {
                let found =
                    search.run(&held, Run { stop: &Stop::NEVER, ..Run::new(&scorer) }, &mut Default::default());
                let found = found.unwrap().best;
                assert!((found.score - expected).abs() <= slack, "{search:?}: {} for {expected}", found.score);
            }
        }
        // Words that it cannot say leave nothing.
        let other = [Symbol(u32::MAX - 1)];
        assert!(saying(&forest, vertex, &other).is_none() && hold_at(&forest, vertex, &other).is_dead());
    }
    assert!(skipped_around > done && worse > done, "{skipped_around} {worse}");
}
