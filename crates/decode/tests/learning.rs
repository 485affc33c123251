//! Corrections: what is given is what comes out, others learn from it, and nothing else changes.
#![allow(clippy::unwrap_used)]

mod random;

use std::sync::Arc;

use random::{every_search, random_model};
use sylvan_base::{Rng, Vocab};
use sylvan_decode::corrections::{Correction, Corrections, Pair};
use sylvan_decode::{Input, Learned, Learning, Model, Origin, Request, Worker};
use sylvan_rules::{Formalism, GrammarBuilder, Meta, Rule, RuleCount, Weights};
use sylvan_search::{Search, SearchName, Stop};
use sylvan_testkit::cases;

const TIME: &str = "2026-11-18T09:50:00Z";

/// A model of rules `source -> target`, each with its links, seen ten times.
fn model(formalism: Formalism, rules: &[(&str, &[(u32, u32)])], rng: &mut Rng) -> Arc<Model> {
    let mut vocab = Vocab::new();
    let mut builder = GrammarBuilder::with_meta(Meta { formalism, ..Meta::new(["p_ef", "p_fe"]) });
    let count = RuleCount {
        rule: sylvan_rules::Count::whole(10),
        source: sylvan_rules::Count::whole(20),
        target: sylvan_rules::Count::whole(20),
    };
    for (text, links) in rules {
        let rule = Rule::parse(text, &mut vocab).unwrap();
        builder.add_counted(&rule, &[-0.7, -0.7], count, links, &vocab);
    }
    let weights = Weights::of([("p_ef", 1.0), ("p_fe", 1.0), ("words", 0.1), ("lm0", 0.1), ("oov", -9.0)]);
    Arc::new(Model::from_parts(builder.finish(), vec![random_model(rng)], weights, vocab).unwrap())
}

fn german(formalism: Formalism) -> Arc<Model> {
    let one: &[(u32, u32)] = &[(0, 0)];
    let rules = [
        ("X(der) -> the", one),
        ("X(den) -> the", one),
        ("X(Hund) -> dog", one),
        ("X(Bank) -> bank", one),
        ("X(Katze) -> cat", one),
        ("X(jagt) -> chases", one),
        ("X(sieht) -> sees", one),
        ("X(.) -> .", one),
    ];
    model(formalism, &rules, &mut Rng::new(3))
}

fn entry(source: &str, target: &str, learned: &Learned) -> String {
    let about = Pair::new(TIME, "Ann", source, target).about();
    Correction { about, lines: learned.lines.clone() }.text()
}

/// Corrects one sentence after the other.
fn corrected(
    worker: &mut Worker,
    pairs: &[(&str, &str)],
    learning: &Learning,
) -> (Corrections, Vec<Learned>) {
    let model = Arc::clone(worker.model());
    let mut known: Option<Corrections> = None;
    let mut all = Vec::new();
    for &(source, target) in pairs {
        let learned = worker.learn((source, target), Input::Text, known.as_ref(), learning).unwrap();
        let text = entry(source, target, &learned);
        known = Some(match &known {
            Some(known) => known.and(&model, &text).unwrap(),
            None => Corrections::from_lines(&model, &[text]).unwrap(),
        });
        all.push(learned);
    }
    (known.unwrap(), all)
}

fn request(corrections: &Arc<Corrections>) -> Request {
    let mut request = Request::default();
    request.corrections = Some(Arc::clone(corrections));
    request
}

#[test]
fn a_new_word_is_learnt_from_one_sentence_and_used_in_another() {
    for formalism in [Formalism::Hiero, Formalism::Phrase, Formalism::LrHiero] {
        let model = german(formalism);
        let mut worker = Worker::new(Arc::clone(&model));
        let pair = ("der Hund jagt den Flummi .", "the dog chases the bouncy ball .");
        let (corrections, learned) = corrected(&mut worker, &[pair], &Learning::default());
        assert_eq!(learned[0].links, [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (4, 5), (5, 6)]);
        assert!(learned[0].rules.contains(&"X(Flummi) -> bouncy ball".to_string()), "{:?}", learned[0].rules);
        // What the model knew already is not learnt again.
        assert!(!learned[0].rules.iter().any(|rule| rule.starts_with("X(Hund) ")), "{:?}", learned[0].rules);
        let request = request(&Arc::new(corrections));
        let said = worker.translate(pair.0, &request).unwrap();
        assert_eq!((said.text(), said.origin), (pair.1, Origin::Correction));
        let correction = said.correction.unwrap();
        assert_eq!((correction.author.as_str(), correction.time.as_str()), ("Ann", TIME));
        assert_eq!(said.best[0].text, pair.1);
        let other = worker.translate("der Flummi jagt den Hund .", &request).unwrap();
        assert_eq!((other.origin, &other.correction), (Origin::Model, &None));
        // Where order is free, nobody has taught this model any.
        let in_order = |text: &str| {
            let mut words: Vec<String> = text.split(' ').map(str::to_string).collect();
            if formalism != Formalism::Hiero {
                words.sort();
            }
            words
        };
        assert_eq!(in_order(other.text()), in_order("the bouncy ball chases the dog ."));
        assert!(other.text().contains("bouncy ball"));
    }
}

#[test]
fn a_known_word_gets_another_translation_and_keeps_it_until_it_is_corrected_again() {
    let model = german(Formalism::Hiero);
    let mut worker = Worker::new(Arc::clone(&model));
    let line = "der Hund sieht den Bank .";
    let pairs = [(line, "the dog sees the bench ."), (line, "the dog sees the shore .")];
    let (corrections, learned) = corrected(&mut worker, &pairs, &Learning::default());
    assert_eq!(learned[0].before, "the dog sees the bank .");
    assert!(learned[0].instead_of.is_none());
    let earlier = learned[1].instead_of.as_ref().unwrap();
    assert_eq!((earlier.translation.as_str(), earlier.author.as_str()), ("the dog sees the bench .", "Ann"));
    assert!(learned[1].lines.contains(&"forbid X(Bank) -> bench".to_string()), "{:?}", learned[1].lines);
    let request = request(&Arc::new(corrections));
    assert_eq!(worker.translate(line, &request).unwrap().text(), "the dog sees the shore .");
    let other = worker.translate("der Bank jagt den Katze .", &request).unwrap();
    assert!(!other.text().contains("bench"), "{}", other.text());
}

/// Whatever was learnt, whatever the search, whatever the language model says: what was given comes out. And sentences
/// that no rule of a correction matches stay as they are.
#[test]
fn what_is_given_comes_out_and_unrelated_sentences_stay() {
    let mut rng = Rng::new(7);
    let known = ["der", "den", "Hund", "Bank", "Katze", "jagt", "sieht", "."];
    let new = ["alpha", "beta", "gamma", "delta"];
    let said = ["the", "dog", "bank", "cat", "chases", "sees", ".", "one", "two", "three"];
    let mut learnt = 0;
    for round in 0..cases(40, 400) {
        let formalism = [Formalism::Hiero, Formalism::Phrase, Formalism::LrHiero][round % 3];
        let model = german(formalism);
        let mut worker = Worker::new(Arc::clone(&model));
        let row = |rng: &mut Rng, words: &[&str], most: usize| {
            (0..1 + rng.below(most)).map(|_| *rng.pick(words)).collect::<Vec<_>>().join(" ")
        };
        let sources: Vec<String> =
            (0..1 + rng.below(6)).map(|_| row(&mut rng, &[&known[..3], &new].concat(), 8)).collect();
        let pairs: Vec<(String, String)> =
            sources.into_iter().map(|source| (source, row(&mut rng, &said, 12))).collect();
        let pairs: Vec<(&str, &str)> =
            pairs.iter().map(|(one, other)| (one.as_str(), other.as_str())).collect();
        let mut learning = Learning::default();
        (learning.boost, learning.news, learning.variables) = (20.0, rng.chance(0.5), rng.below(3) as u32);
        let (corrections, learned) = corrected(&mut worker, &pairs, &learning);
        learnt += learned.iter().map(|one| one.rules.len()).sum::<usize>();
        let corrections = Arc::new(corrections);
        for &(source, _) in &pairs {
            let given = pairs.iter().rfind(|(other, _)| *other == source).unwrap().1;
            let searches: Vec<Search> = match formalism {
                Formalism::Phrase => vec![Search::named(SearchName::Stacks)],
                _ => every_search().to_vec(),
            };
            for search in searches {
                for best in [1, 5] {
                    let mut request = request(&corrections);
                    (request.search, request.best) = (Some(search), best);
                    // No time at all is enough.
                    request.stop = Stop { deadline: Some(std::time::Instant::now()), ..Stop::NEVER };
                    let translated = worker.translate(source, &request).unwrap();
                    assert_eq!(translated.text(), given, "{source} {search:?} {best}");
                    assert_eq!(translated.origin, Origin::Correction, "{source} {search:?} {best} {pairs:?}");
                    let texts: Vec<&str> = translated.best.iter().map(|one| one.text.as_str()).collect();
                    assert!(!texts[1..].contains(&given), "once is enough: {texts:?}");
                }
            }
        }
        // Words that no pair has.
        let other = row(&mut rng, &known[4..7], 6);
        let plain = worker.translate(&other, &Request::default()).unwrap();
        assert_eq!(worker.translate(&other, &request(&corrections)).unwrap(), plain);
        // Read at once or one by one, they are the same corrections.
        let lines: Vec<String> =
            pairs.iter().zip(&learned).map(|(pair, one)| entry(pair.0, pair.1, one)).collect();
        let at_once = Arc::new(Corrections::from_lines(&model, &lines).unwrap());
        let mixed = row(&mut rng, &[&known[..], &new].concat(), 8);
        let [one, both] =
            [&corrections, &at_once].map(|all| worker.translate(&mixed, &request(all)).unwrap());
        assert_eq!(one.text(), both.text(), "{mixed}");
    }
    assert!(learnt > 100, "{learnt}");
}

#[test]
fn over_trees_minimal_rules_are_learnt() {
    let rules: [(&str, &[(u32, u32)]); 5] = [
        ("S(x1:NP x2:VP) -> x1 x2", &[]),
        ("NP(DT(the) x1:NN) -> x1", &[]),
        ("NN(dog) -> inu", &[(0, 0)]),
        ("NN(cat) -> neko", &[(0, 0)]),
        ("VP(VB(runs)) -> hashiru", &[(0, 0)]),
    ];
    let model = model(Formalism::Tree, &rules, &mut Rng::new(4));
    let mut worker = Worker::new(Arc::clone(&model));
    let tree = |noun: &str, verb: &str| format!("(S (NP (DT the) (NN {noun})) (VP (VB {verb})))");
    let pair = (tree("dog", "sleeps"), "inu nemuru");
    let learned = worker.learn((&pair.0, pair.1), Input::Tree, None, &Learning::default()).unwrap();
    assert_eq!(learned.links, [(1, 0), (2, 1)]);
    assert!(learned.rules.contains(&"VB(sleeps) -> nemuru".to_string()), "{:?}", learned.rules);
    let corrections = Corrections::from_lines(&model, &[entry(&pair.0, pair.1, &learned)]).unwrap();
    let mut request = request(&Arc::new(corrections));
    request.input = Input::Tree;
    assert_eq!(worker.translate(&pair.0, &request).unwrap().text(), pair.1);
    let other = worker.translate(&tree("cat", "sleeps"), &request).unwrap();
    assert_eq!((other.text(), other.origin), ("neko nemuru", Origin::Model));
    // The whole sentence alone teaches nobody else.
    let exact = worker.learn((&pair.0, pair.1), Input::Tree, None, &Learning::exact()).unwrap();
    assert_eq!((exact.rules.len(), exact.lines.len()), (0, 1));
}

#[test]
fn what_is_wrong_with_a_pair_is_said() {
    let mut worker = Worker::new(german(Formalism::Hiero));
    for (source, target, said) in
        [("", "x", "a sentence without words"), ("x", " ", "a translation without words")]
    {
        let error = worker.learn((source, target), Input::Text, None, &Learning::default()).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
}
