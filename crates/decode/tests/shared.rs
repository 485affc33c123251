//! One model, many threads: what a request gives depends on nothing but the request.
#![allow(clippy::unwrap_used)]

mod random;

use std::sync::Arc;

use random::random_model;
use sylvan_base::{Rng, Vocab, parallel};
use sylvan_decode::corrections::Corrections;
use sylvan_decode::{Details, Glossary, Input, Model, OpenOptions, Request, Translated, Worker};
use sylvan_rules::{GrammarBuilder, Rule, RuleCount, Weights};
use sylvan_search::{Search, SearchName};
use sylvan_testkit::{cases, random_instance};

/// Everything that is shared may be shared.
#[test]
fn models_and_what_goes_with_them_are_shared_and_workers_are_sent() {
    fn shared<T: Send + Sync + 'static>() {}
    fn sent<T: Send + 'static>() {}
    shared::<Model>();
    shared::<Glossary>();
    shared::<Corrections>();
    shared::<Request>();
    shared::<OpenOptions>();
    sent::<Worker>();
}

/// A model with the rules of many random instances, and the trees of these.
fn random_shared_model(rng: &mut Rng, instances: usize) -> (Model, Vec<String>, Vec<String>) {
    let mut vocab = Vocab::new();
    let mut builder = GrammarBuilder::new(["score"]);
    let (mut trees, mut rules) = (Vec::new(), Vec::new());
    for _ in 0..instances {
        let instance = random_instance(rng);
        for (text, score) in &instance.rules {
            if rules.contains(text) {
                continue;
            }
            let rule = Rule::parse(text, &mut vocab).unwrap();
            builder.add_counted(&rule, &[*score as f32], RuleCount::default(), &[], &vocab);
            rules.push(text.clone());
        }
        trees.push(instance.tree);
    }
    let weights = Weights::of([
        ("tm0.score", 1.0),
        ("lm0", 0.6),
        ("lm1", 0.3),
        ("tm0.rules", -0.1),
        ("tm0.words", 0.3),
        ("glue", -3.0),
        ("oov", -2.0),
    ]);
    let models = vec![random_model(rng), random_model(rng)];
    (Model::from_parts(builder.finish(), models, weights, vocab).unwrap(), trees, rules)
}

/// A tree, some of whose words are new.
fn with_new_words(tree: &str, rng: &mut Rng) -> String {
    let renamed = tree.split(' ').map(|piece| match piece.strip_prefix('w') {
        Some(rest) if rng.chance(0.2) => format!("new{}{rest}", rng.below(1_000_000)),
        _ => piece.to_string(),
    });
    renamed.collect::<Vec<_>>().join(" ")
}

fn random_glossary(rng: &mut Rng) -> Glossary {
    let mut glossary = Glossary::default();
    for _ in 0..1 + rng.below(3) {
        let first = 1 + rng.below(6);
        let source: Vec<String> = (first..first + 1 + rng.below(2)).map(|word| format!("w{word}")).collect();
        glossary.add(&source.join(" "), &format!("term{} a", rng.below(50)));
    }
    glossary
}

fn random_corrections(model: &Model, rules: &[String], rng: &mut Rng) -> Corrections {
    let lines: Vec<String> = (0..1 + rng.below(3))
        .map(|_| {
            let rule = rng.pick(rules);
            match rng.below(3) {
                0 => format!("forbid {rule}"),
                1 => format!("boost {} {rule}", rng.below(5)),
                _ => {
                    let (source, _) = rule.split_once(" -> ").unwrap();
                    let variables = (1..9).filter(|n| source.contains(&format!("x{n}:")));
                    let target: Vec<String> = variables.map(|n| format!("x{n}")).collect();
                    format!("add {source} -> {} own{} ||| score=4", target.join(" "), rng.below(99))
                }
            }
        })
        .collect();
    Corrections::from_lines(model, &lines).unwrap()
}

#[test]
fn requests_of_eight_threads_give_what_they_give_one_after_the_other() {
    let mut rng = Rng::new(19);
    let (model, trees, rules) = random_shared_model(&mut rng, 300);
    let model = Arc::new(model);
    let glossaries: Vec<Arc<Glossary>> = (0..12).map(|_| Arc::new(random_glossary(&mut rng))).collect();
    let corrections: Vec<Arc<Corrections>> =
        (0..12).map(|_| Arc::new(random_corrections(&model, &rules, &mut rng))).collect();
    let requests: Vec<(String, Request)> = (0..cases(1_500, 10_000))
        .map(|_| {
            let mut request = Request::default();
            request.input = Input::Tree;
            request.search =
                Some(Search::named(*rng.pick(&SearchName::ON_FORESTS)).with_beam(1 + rng.below(40)));
            request.best = 1 + rng.below(6);
            request.glossary = rng.chance(0.4).then(|| Arc::clone(rng.pick(&glossaries)));
            request.corrections = rng.chance(0.4).then(|| Arc::clone(rng.pick(&corrections)));
            request.details = if rng.chance(0.5) { Details::all() } else { Details::default() };
            request.tokens = rng.chance(0.5);
            (with_new_words(&trees[rng.below(trees.len())], &mut rng), request)
        })
        .collect();
    let known = model.vocab().len();
    let translate = |worker: &mut Worker, (line, request): &(String, Request)| -> Translated {
        worker.translate(line, request).unwrap()
    };
    let worker = || Worker::new(Arc::clone(&model));
    // A fresh worker for each, so that nothing of an earlier request could be left over.
    let alone: Vec<Translated> = requests.iter().map(|request| translate(&mut worker(), request)).collect();
    let together = parallel::map(&requests, 8, worker, |worker, _, request| translate(worker, request));
    for ((alone, together), request) in alone.iter().zip(&together).zip(&requests) {
        assert_eq!(alone, together, "{request:?}");
    }
    assert_eq!(model.vocab().len(), known, "requests leave nothing in the model");
    let used = |what: &dyn Fn(&Request) -> bool| requests.iter().filter(|(_, request)| what(request)).count();
    assert!(used(&|request| request.glossary.is_some() && request.corrections.is_some()) > 100);
    let terms = together.iter().filter(|line| line.text().contains("term")).count();
    let mut plain = worker();
    let mut changed = |(line, request): &(String, Request), found: &Translated| {
        let mut as_it_is = request.clone();
        as_it_is.corrections = None;
        request.corrections.is_some() && plain.translate(line, &as_it_is).unwrap() != *found
    };
    let corrected = requests.iter().zip(&together).filter(|(request, found)| changed(request, found)).count();
    assert!(terms > requests.len() / 20, "{terms} terms");
    assert!(corrected > requests.len() / 50, "{corrected} corrections");
}

#[test]
fn a_cancelled_request_is_an_error_and_a_late_one_still_has_an_answer() {
    let mut rng = Rng::new(20);
    let (model, trees, _) = random_shared_model(&mut rng, 40);
    let mut worker = Worker::new(Arc::new(model));
    let mut whole = 0;
    for name in SearchName::ON_FORESTS {
        for tree in &trees {
            let mut request = Request::list(3);
            (request.input, request.search) = (Input::Tree, Some(Search::named(name)));
            let usual = worker.translate(tree, &request).unwrap();
            assert!(!usual.cut_short && usual.gap.is_none_or(|gap| gap == 0.0));
            request.stop.deadline = Some(std::time::Instant::now());
            let late = worker.translate(tree, &request).unwrap();
            assert_eq!(late.best.is_empty(), usual.best.is_empty(), "{name} {tree}");
            whole += usize::from(late.text() == usual.text());
            request.stop.deadline = None;
            let cancel = Arc::new(std::sync::atomic::AtomicBool::new(true));
            request.stop.cancel = Some(Arc::clone(&cancel));
            let error = worker.translate(tree, &request).unwrap_err();
            assert!(matches!(error, sylvan_decode::Error::Cancelled), "{error}");
            // Cancelling leaves nothing behind.
            cancel.store(false, std::sync::atomic::Ordering::Relaxed);
            assert_eq!(worker.translate(tree, &request).unwrap(), usual);
        }
    }
    assert!(whole < trees.len() * SearchName::ON_FORESTS.len(), "a deadline must change something");
}

#[test]
fn corrections_of_another_model_are_refused() {
    let mut rng = Rng::new(21);
    let (one, trees, rules) = random_shared_model(&mut rng, 20);
    let (other, ..) = random_shared_model(&mut rng, 20);
    let mut request = Request::default();
    request.input = Input::Tree;
    request.corrections = Some(Arc::new(random_corrections(&one, &rules, &mut rng)));
    let error = Worker::new(Arc::new(other)).translate(&trees[0], &request).unwrap_err().to_string();
    assert!(error.contains("those of another model"), "{error}");
    // The same model with other weights is the same model.
    let tuned = one.with_weights(one.weights().clone());
    for model in [one, tuned] {
        assert!(!Worker::new(Arc::new(model)).translate(&trees[0], &request).unwrap().best.is_empty());
    }
}

/// The same on a model of real text, where one is named: `SYLVAN_ENJA_MODEL`, made as in docs/notes/training.md.
#[test]
fn requests_of_eight_threads_on_a_real_model() {
    let (Some(path), Some(dev)) =
        (sylvan_testkit::variable("SYLVAN_ENJA_MODEL"), sylvan_testkit::data("enja/dev.en.tree"))
    else {
        return;
    };
    let model = Arc::new(Model::open(std::path::Path::new(&path)).unwrap());
    let trees = sylvan_store::read_lines(&dev).unwrap();
    let mut rng = Rng::new(7);
    // Terms and corrections of what the sentences use.
    let mut worker = Worker::new(Arc::clone(&model));
    let mut usual = Request::list(1);
    usual.input = Input::Tree;
    let used: Vec<Translated> =
        trees.iter().take(60).map(|tree| worker.translate(tree, &usual).unwrap()).collect();
    let rules: Vec<String> = used
        .iter()
        .flat_map(|line| line.best[0].rules.lines().map(|rule| rule.trim().to_string()))
        .filter(|rule| rule.contains(" -> "))
        .collect();
    let corrections: Vec<Arc<Corrections>> = (0..8)
        .map(|_| {
            let lines: Vec<String> =
                (0..5).map(|_| format!("forbid {}", rules[rng.below(rules.len())])).collect();
            Arc::new(Corrections::from_lines(&model, &lines).unwrap())
        })
        .collect();
    let glossaries: Vec<Arc<Glossary>> = (0..8)
        .map(|number| {
            let mut glossary = Glossary::default();
            for line in used.iter().skip(number * 7).take(7) {
                let at = rng.below(line.source.len());
                glossary.add(&line.source[at].text, &format!("zzterm{number}"));
            }
            Arc::new(glossary)
        })
        .collect();
    let requests: Vec<(String, Request)> = (0..cases(400, 10_000))
        .map(|_| {
            let mut request = Request::default();
            request.input = Input::Tree;
            // Exact search takes seconds for some sentences, and is one search more.
            let name = SearchName::ON_FORESTS[rng.below(SearchName::ON_FORESTS.len() - 1)];
            request.search = Some(Search::named(name).with_beam(1 + rng.below(60)));
            request.best = 1 + rng.below(10);
            request.glossary = rng.chance(0.4).then(|| Arc::clone(rng.pick(&glossaries)));
            request.corrections = rng.chance(0.4).then(|| Arc::clone(rng.pick(&corrections)));
            request.details = if rng.chance(0.5) { Details::all() } else { Details::default() };
            (trees[rng.below(trees.len())].clone(), request)
        })
        .collect();
    let alone: Vec<Translated> =
        requests.iter().map(|(line, request)| worker.translate(line, request).unwrap()).collect();
    let worker = || Worker::new(Arc::clone(&model));
    let together = parallel::map(&requests, 8, worker, |worker, _, (line, request)| {
        worker.translate(line, request).unwrap()
    });
    assert_eq!(alone, together);
    let terms = together.iter().filter(|line| line.text().contains("zzterm")).count();
    assert!(terms > requests.len() / 50, "{terms}");
}
