//! Exact search under real n-gram models, whose states forget what cannot matter: against brute force.
#![allow(clippy::unwrap_used)]

mod random;

use sylvan_base::{Rng, Vocab};
use sylvan_decode::Ngram;
use sylvan_rules::apply::{Applier, DefaultRules};
use sylvan_rules::{GrammarBuilder, Rule, Weights};
use sylvan_search::{Derivations, Effort, NoBounds, brute_force, exact};
use sylvan_testkit::{cases, random_instance};

use random::{random_model, word_ids};

#[test]
fn ngram_models_are_searched_exactly() {
    let mut rng = Rng::new(31);
    let (mut done, mut proven, mut stopped) = (0, 0, 0);
    while done < cases(3_000, 30_000) {
        let instance = random_instance(&mut rng);
        let mut vocab = Vocab::new();
        let tree =
            sylvan_trees::penn::parse_line(&instance.tree, Default::default(), &mut vocab).unwrap().unwrap();
        let mut builder = GrammarBuilder::new(["score"]);
        for (text, score) in &instance.rules {
            builder.add(&Rule::parse(text, &mut vocab).unwrap(), &[*score as f32], &vocab);
        }
        let grammar = builder.finish();
        let weights = Weights::of([("score", 1.0)]);
        let forest = Applier::new(&grammar, &weights, DefaultRules::Never).forest(&tree, &vocab);
        let all = Derivations::of(&forest);
        if all.count() == 0 || all.count() > 2_000 {
            continue;
        }
        done += 1;
        let lm = random_model(&mut rng);
        let ids = word_ids(&lm, &forest, &vocab);
        let scorer = Ngram::new(&lm, &ids, 0.5 + rng.unit());
        let best = brute_force(&forest, &scorer, 2_000).unwrap().score;
        let start = all.get(rng.below(all.count() as usize) as u64);
        let effort = Effort { joins: if rng.chance(0.8) { u64::MAX } else { rng.below(200) as u64 } };
        let found = exact(&forest, &scorer, Some(start), effort, &mut || false).unwrap();
        let slack = 1e-5 * (1.0 + best.abs());
        let score = found.best.as_ref().unwrap().score;
        assert!(score <= best + slack && found.upper_bound >= best - slack, "{found:?} {best} {instance:?}");
        if found.proven {
            assert!((score - best).abs() <= slack, "{score} proven, but {best} is there: {instance:?}");
            proven += 1;
        } else {
            assert!(effort.joins < u64::MAX);
            stopped += 1;
        }
    }
    assert!(proven > done / 2 && stopped > 10, "{proven} proven, {stopped} stopped");
}

#[test]
fn a_negative_weight_is_refused() {
    let mut rng = Rng::new(32);
    let lm = random_model(&mut rng);
    let mut builder = sylvan_forest::ForestBuilder::new();
    let goal = builder.vertex(1, sylvan_base::Span::new(0, 1));
    let forest = builder.finish(goal);
    let refused = exact(&forest, &Ngram::new(&lm, &[], -1.0), None, Effort::UNLIMITED, &mut || false);
    assert_eq!(refused.unwrap_err(), NoBounds);
}
