//! Terms hold in every translation that any search can find, whatever brackets are in the way.
#![allow(clippy::unwrap_used)]

mod random;

use std::sync::Arc;

use sylvan_base::{Rng, Symbol, Vocab};
use sylvan_decode::{Glossary, Input, List, Model, Sentence, With, Worker};
use sylvan_forest::TranslationForest;
use sylvan_rules::{GrammarBuilder, Meta, Preprocessing, Rule, RuleCount, Source, TargetSide, Weights};
use sylvan_search::{Derivations, Search, Stop};
use sylvan_testkit::{Instance, cases, random_instance};
use sylvan_trees::Direction;

use random::{every_search, random_model, read_tree, replayed};

/// A worker for a random instance, over trees as they are or binarised.
fn worker(instance: &Instance, rng: &mut Rng) -> Worker {
    let mut vocab = Vocab::new();
    let mut meta = Meta::new(["score"]);
    meta.preprocessing = Preprocessing::as_is();
    meta.preprocessing.binarise = rng.chance(0.3).then_some(Direction::Right);
    let mut builder = GrammarBuilder::with_meta(meta);
    for (text, score) in &instance.rules {
        let rule = Rule::parse(text, &mut vocab).unwrap();
        let links = random_links(&rule, rng);
        builder.add_counted(&rule, &[*score as f32], RuleCount::default(), &links, &vocab);
    }
    let weights = Weights::of([
        ("score", 1.0),
        ("lm", 0.5 + rng.unit()),
        ("rules", -0.1),
        ("words", 0.3),
        ("glue", -3.0),
        ("oov", -2.0),
    ]);
    let model = Model::from_parts(builder.finish(), vec![random_model(rng)], weights, vocab).unwrap();
    Worker::new(Arc::new(model))
}

/// Links between the words of a rule: each target word to one source word, to several or to none.
fn random_links(rule: &Rule, rng: &mut Rng) -> Vec<(u32, u32)> {
    let sources = rule.source().iter().filter(|token| matches!(token, Source::Word(_))).count();
    let targets = rule.target().iter().filter(|token| matches!(token, TargetSide::Word(_))).count();
    let mut links = Vec::new();
    for target in 0..targets as u32 {
        for _ in 0..rng.below(3).min(sources) {
            links.push((rng.below(sources) as u32, target));
        }
    }
    links.sort_unstable();
    links.dedup();
    links
}

/// How often `part` stands in `words`.
fn times(words: &[Symbol], part: &[Symbol]) -> usize {
    words.windows(part.len()).filter(|window| *window == part).count()
}

/// Random terms over the words w1, w2, .. of an instance: one to three words, targets that nothing else emits.
fn random_glossary(rng: &mut Rng) -> (Glossary, Vec<(Vec<String>, String)>) {
    let mut glossary = Glossary::default();
    let mut terms = Vec::new();
    for number in 0..1 + rng.below(3) {
        let first = 1 + rng.below(6);
        let source: Vec<String> = (first..first + 1 + rng.below(3)).map(|word| format!("w{word}")).collect();
        let target = format!("t{number} u{number}");
        glossary.add(&source.join(" "), &target);
        terms.push((source, target));
    }
    (glossary, terms)
}

/// Every derivation there is: the terms that were promised stand in it, as often as they were promised.
fn check_all(sentence: &Sentence, forest: &TranslationForest) {
    let all = Derivations::of(forest);
    for index in 0..all.count().min(300) {
        let words = all.get(index * all.count() / all.count().min(300)).words(forest);
        for term in &sentence.terms {
            let promised = sentence.terms.iter().filter(|other| other.targets == term.targets).count();
            let found: usize = term.targets.iter().map(|target| times(&words, target)).sum();
            assert_eq!(found, promised);
        }
    }
}

#[test]
fn terms_hold_in_every_search() {
    let mut rng = Rng::new(77);
    let (mut compared, mut terms, mut missed) = (0, 0, 0);
    let mut borrowed = 0;
    while compared < cases(300, 20_000) {
        let instance = random_instance(&mut rng);
        let mut worker = worker(&instance, &mut rng);
        let (glossary, wanted) = random_glossary(&mut rng);
        let with = With { glossary: Some(&glossary), ..With::default() };
        let sentence = read_tree(&mut worker, &instance.tree, with);
        if sentence.terms.is_empty() {
            continue;
        }
        // An independent look at the sentence: every place where the words stand is a term or is reported.
        let yield_of = instance.tree.replace(['(', ')'], " ");
        let words: Vec<&str> = yield_of.split_whitespace().filter(|word| word.starts_with('w')).collect();
        let mut wanted: Vec<Vec<String>> = wanted.into_iter().map(|(source, _)| source).collect();
        wanted.sort();
        wanted.dedup();
        let places: usize = wanted
            .iter()
            .map(|source| words.windows(source.len()).filter(|window| window == source).count())
            .sum();
        assert_eq!(sentence.terms.len() + sentence.missed.len(), places, "{instance:?}");
        let forest = worker.forest(&sentence, with).forest;
        let count = Derivations::of(&forest).count();
        if count > 2_000 {
            continue;
        }
        compared += 1;
        (terms, missed) = (terms + sentence.terms.len(), missed + sentence.missed.len());
        let more = sentence.own_rules().is_some_and(|own| own.len() > sentence.terms.len());
        borrowed += usize::from(more);
        check_all(&sentence, &forest);
        // The words of leaves are in order and complete.
        let covered: Vec<usize> = sentence.leaves.iter().flat_map(|leaf| leaf.range()).collect();
        assert_eq!(covered, (0..words.len()).collect::<Vec<_>>());
        let mut scores = Vec::new();
        for search in every_search() {
            let found =
                worker.decode(&sentence, with, search, List { best: 5, distinct: false }, &Stop::NEVER);
            for hypothesis in &found.hypotheses {
                let score = replayed(&worker, &sentence, with, &found, hypothesis);
                assert!((score - hypothesis.score).abs() < 1e-4, "{search}: {score} {}", hypothesis.score);
            }
            scores.push(found.hypotheses[0].score);
        }
        assert!(scores.iter().all(|score| (score - scores[0]).abs() < 1e-4), "{scores:?} {instance:?}");
    }
    assert!(terms > compared && missed > compared / 20, "{terms} terms, {missed} missed in {compared}");
    assert!(borrowed > compared / 10, "rules were borrowed for {borrowed} of {compared}");
}

/// Translates with a glossary of one term and rules with links; the words, and the rules as they were used.
fn with_term(tree: &str, rules: &[(&str, &[(u32, u32)])], term: (&str, &str)) -> (String, String) {
    let mut rng = Rng::new(2);
    let mut vocab = Vocab::new();
    let mut builder = GrammarBuilder::new(["score"]);
    for (text, links) in rules {
        let rule = Rule::parse(text, &mut vocab).unwrap();
        builder.add_counted(&rule, &[-1.0], RuleCount::default(), links, &vocab);
    }
    // Of what scores the same, the longer.
    let weights = [("tm0.score", 1.0), ("tm0.words", 0.01), ("lm", 1e-6), ("glue", -50.0), ("oov", -50.0)];
    let weights = Weights::of(weights);
    let model = Model::from_parts(builder.finish(), vec![random_model(&mut rng)], weights, vocab).unwrap();
    let mut worker = Worker::new(Arc::new(model));
    let mut glossary = Glossary::default();
    glossary.add(term.0, term.1);
    let with = With { glossary: Some(&glossary), ..With::default() };
    let sentence = read_tree(&mut worker, tree, with);
    let search: Search = "refine:100".parse().unwrap();
    let found = worker.decode(&sentence, with, search, List::default(), &Stop::NEVER);
    let best = &found.hypotheses[0];
    let derived = worker.derived(&sentence, with, &found.forest, &best.derivation);
    (format!("{} {:?}", sentence.vocab().join(&best.words), derived.links()), derived.show())
}

#[test]
fn a_term_takes_the_place_of_what_its_words_were_translated_to() {
    let tree = "(S (NP (DT the) (NN book)) (VP opens))";
    let around = ("S(x1:NP x2:VP) -> x1 x2", &[][..]);
    let verb = ("VP(opens) -> hiraku", &[(0, 0)][..]);
    let rule = ("NP(DT(the) NN(book)) -> ano hon wo", &[(0, 0), (1, 1)][..]);
    let (found, shown) = with_term(tree, &[around, verb, rule], ("book", "shoseki no"));
    // The particle stays, and so does the article.
    assert_eq!(found, "ano shoseki no wo hiraku [(0, 0), (0, 3), (1, 1), (1, 2), (1, 3), (2, 4)]");
    assert!(shown.contains("NP(DT(the) NN(\"[ book ]\")) -> ano shoseki no wo"), "{shown}");
    // Nodes above a term in a chain stay as well, and of several words the whole is replaced.
    let chain = [
        around,
        ("VP(V(gives) PRT(up)) -> akirameru mono", &[(0, 0), (1, 0)][..]),
        ("NP(N(she)) -> kanojo ga", &[(0, 0)][..]),
    ];
    let (found, _) = with_term("(S (NP (N she)) (VP (V gives) (PRT up)))", &chain, ("gives up", "yameru"));
    assert_eq!(found, "kanojo ga yameru mono [(0, 0), (0, 1), (1, 2), (1, 3), (2, 2), (2, 3)]");
    let (found, _) = with_term("(S (NP (N she)) (VP (V gives) (PRT up)))", &chain, ("she", "X"));
    assert_eq!(found, "X ga akirameru mono [(0, 0), (0, 1), (1, 2), (1, 3), (2, 2), (2, 3)]");
    // What is linked to other words too, or is in two pieces, belongs to no single word.
    for links in [&[(0, 1), (1, 1)][..], &[(1, 0), (1, 2), (0, 1)], &[(0, 0)]] {
        let rules = [around, verb, ("NP(DT(the) NN(book)) -> ano hon wo", links)];
        let (found, shown) = with_term(tree, &rules, ("book", "shoseki"));
        assert!(!shown.contains("NN(\"[ book ]\")) -> "), "{shown}");
        assert!(found.starts_with("the shoseki hiraku"), "{found}");
    }
}

#[test]
fn the_longest_term_wins_and_alternatives_compete() {
    let mut rng = Rng::new(1);
    let instance = Instance {
        tree: "(S (A w1) (B w2) (A w3))".to_string(),
        rules: vec![("S(x1:A x2:B x3:A) -> x3 x2 x1".to_string(), -1.0), ("A(w3) -> c".to_string(), -1.0)],
    };
    let mut worker = worker(&instance, &mut rng);
    let mut glossary = Glossary::default();
    for (source, target) in [("w1", "one"), ("w1 w2", "both"), ("w1 w2", "two words"), ("w2 w3", "late")] {
        glossary.add(source, target);
    }
    let with = With { glossary: Some(&glossary), ..With::default() };
    let sentence = worker.read("(S (A w1) (B w2) (A w3) (A w1))", Input::Tree, with).unwrap().unwrap();
    let spans: Vec<(u32, u32)> = sentence.terms.iter().map(|term| (term.span.start, term.span.end)).collect();
    assert_eq!(spans, [(0, 2), (3, 4)]);
    let missed: Vec<(u32, u32)> = sentence.missed.iter().map(|span| (span.start, span.end)).collect();
    assert_eq!(missed, [(0, 1), (1, 3)]);
    assert_eq!(sentence.terms[0].targets.len(), 2);
}
