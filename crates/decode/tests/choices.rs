//! Translations of parts that are held: against all derivations of small forests, one by one.
#![allow(clippy::unwrap_used)]

mod random;

use std::collections::BTreeMap;
use std::sync::Arc;

use sylvan_base::{Id, Rng, Span, Symbol, Vocab};
use sylvan_decode::choices::{hold_at, place, said, saying};
use sylvan_decode::{Choice, Input, Model, Ngram, Request, With, Worker};
use sylvan_forest::{Derivation, EdgeId, TranslationForest, VertexId};
use sylvan_rules::apply::{Applier, DefaultRules};
use sylvan_rules::{Formalism, GrammarBuilder, Meta, Rule, Weights};
use sylvan_search::{
    Beam, Derivations, Effort, LanguageModel, Limits, Run, Search, Stacks, Stop, brute_force, exact,
};
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
                let found = search.run(
                    &held,
                    Run { stop: &Stop::NEVER, ..Run::new(&scorer) },
                    &mut Default::default(),
                );
                let found = found.unwrap().best;
                assert!(
                    (found.score - expected).abs() <= slack,
                    "{search:?}: {} for {expected}",
                    found.score
                );
            }
        }
        // Words that it cannot say leave nothing.
        let other = [Symbol(u32::MAX - 1)];
        assert!(saying(&forest, vertex, &other).is_none() && hold_at(&forest, vertex, &other).is_dead());
    }
    assert!(skipped_around > done && worse > done, "{skipped_around} {worse}");
}

/// A model of a few random rules over three source words.
fn random_worker(rng: &mut Rng, formalism: Formalism) -> Worker {
    let mut vocab = Vocab::new();
    let mut builder = GrammarBuilder::with_meta(Meta { formalism, ..Meta::new(["score"]) });
    for _ in 0..4 + rng.below(6) {
        let count = 1 + rng.below(3);
        let (mut source, mut variables) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let apart = source.last().is_none_or(|last: &String| !last.contains(':'));
            if formalism != Formalism::Phrase && count > 1 && apart && variables.len() < 2 && rng.chance(0.4)
            {
                variables.push(format!("x{}", variables.len() + 1));
                source.push(format!("{}:X", variables[variables.len() - 1]));
            } else {
                source.push((*rng.pick(&["u", "v", "w"])).to_string());
            }
        }
        rng.shuffle(&mut variables);
        // Rules that translate from left to right have their words first.
        let words = 1 + rng.below(2);
        let mut target: Vec<String> =
            (0..words).map(|_| (*rng.pick(&["a", "b", "c", "d"])).to_string()).collect();
        match formalism {
            Formalism::Hiero => {
                for variable in variables {
                    target.insert(rng.below(target.len() + 1), variable);
                }
            }
            _ => target.extend(variables),
        }
        let rule =
            Rule::parse(&format!("X({}) -> {}", source.join(" "), target.join(" ")), &mut vocab).unwrap();
        builder.add(&rule, &[-2.0 * rng.unit() as f32], &vocab);
    }
    let mut weights = Weights::of([("score", 1.0), ("words", 0.2), ("oov", -1.3), ("lm0", 0.5 + rng.unit())]);
    weights.set(if formalism == Formalism::Phrase { "distortion" } else { "glue" }, -0.3);
    Worker::new(Arc::new(
        Model::from_parts(builder.finish(), vec![random_model(rng)], weights, vocab).unwrap(),
    ))
}

/// All derivations of a sentence: of its forest, or all chains of phrases.
fn all_derivations(forest: &TranslationForest, formalism: Formalism) -> Vec<Derivation> {
    if formalism != Formalism::Phrase {
        let all = Derivations::of(forest);
        return if all.count() > 1_500 {
            Vec::new()
        } else {
            (0..all.count()).map(|number| all.get(number)).collect()
        };
    }
    let span = |edge: EdgeId| forest.span(forest.edge(edge).head);
    let phrases: Vec<EdgeId> =
        forest.edge_ids().filter(|&edge| forest.tails(edge).next().is_none()).collect();
    let (mut found, mut open) = (Vec::new(), vec![Vec::<EdgeId>::new()]);
    while let Some(chain) = open.pop() {
        let covered = |place: usize| chain.iter().any(|&edge| span(edge).range().contains(&place));
        if (0..forest.span(forest.goal()).len()).all(covered) {
            found.push(Derivation::new(chain));
            continue;
        }
        open.extend(
            phrases
                .iter()
                .filter(|&&edge| !span(edge).range().any(covered))
                .map(|&edge| [&chain[..], &[edge]].concat()),
        );
    }
    found
}

/// What is listed for a span is what all derivations say there, with the scores of the best of them.
#[test]
fn alternatives_without_syntax_cost_what_all_derivations_say() {
    let mut rng = Rng::new(72);
    let mut listed = [0; 3];
    for case in 0..cases(500, 6_000) {
        let kind = case % 3;
        let formalism = [Formalism::Hiero, Formalism::LrHiero, Formalism::Phrase][kind];
        let mut worker = random_worker(&mut rng, formalism);
        let length = 1 + rng.below(4);
        let line: Vec<&str> = (0..length).map(|_| *rng.pick(&["u", "v", "w", "a"])).collect();
        let line = line.join(" ");
        let sentence = worker.read(&line, Input::Text, With::default()).unwrap().unwrap();
        let forest = worker.forest(&sentence, With::default()).with_all_glue();
        let derivations = all_derivations(&forest.forest, formalism);
        let start = rng.below(length);
        let span = [start, start + 1 + rng.below(length - start)].map(|end| end as u32);
        let leaves = Span::new(span[0] as usize, span[1] as usize);
        let mut request = Request::default();
        request.search = Some(match formalism {
            Formalism::Phrase => Search::Stacks(Limits::beam(Beam::UNLIMITED), Stacks::WHOLE),
            _ => *rng.pick(&every_search()),
        });
        let answer = worker.alternatives(&line, span, None, 1_000, &request);
        let Some(vertex) = place(&forest.forest, leaves, None) else {
            assert!(answer.unwrap_err().to_string().contains("the span"));
            continue;
        };
        if derivations.is_empty() {
            continue;
        }
        let found = answer.unwrap().unwrap();
        let score = |one: &Derivation| {
            worker.derived(&sentence, With::default(), &forest, one).contributions().score()
        };
        let best = derivations.iter().map(score).fold(f64::NEG_INFINITY, f64::max);
        assert!((found.score - best).abs() < 1e-4, "{line}: {} for {best}", found.score);
        let mut ways: BTreeMap<Vec<String>, f64> = BTreeMap::new();
        for one in &derivations {
            let Some(words) = at(&forest.forest, one, vertex) else { continue };
            let words = words.iter().map(|&word| sentence.vocab().text(word).to_string()).collect();
            let known = ways.entry(words).or_insert(f64::NEG_INFINITY);
            *known = known.max(score(one));
        }
        // A vertex lists fifty, and so do a hundred translations at least.
        assert!(found.alternatives.len() == ways.len() || ways.len() > 50, "{line} {span:?}: {ways:?}");
        for one in &found.alternatives {
            let expected = ways[&one.words];
            assert!(
                (one.score - expected).abs() < 1e-4,
                "{line} {span:?} {:?}: {} for {expected}",
                one.words,
                one.score
            );
            assert!((one.difference - (best - expected)).abs() < 2e-4);
            // Chosen, it is what comes out, with these words in this place.
            let mut chosen = request.clone();
            chosen.tokens = true;
            chosen.choices = vec![Choice { span, label: None, words: one.words.clone() }];
            let got = &worker.translate(&line, &chosen).unwrap().best[0];
            assert!((got.score - one.score).abs() < 1e-9);
            assert_eq!(got.words[one.places[0]..one.places[1]], one.words);
            listed[kind] += 1;
        }
    }
    assert!(listed.iter().all(|&count| count > 100), "{listed:?}");
}
