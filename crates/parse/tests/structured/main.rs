//! Structured language models: the paper's figures, all sequences of actions, probabilities that add up to one.
#![allow(clippy::unwrap_used)]

mod toy;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use sylvan_base::Rng;
use sylvan_parse::structured::{
    Actions, Beginnings, Generative, GenerativeEstimator, Keep, Owing, Parses, Partial, StackId, Stacks, Top,
};
use sylvan_testkit::cases;
use toy::{Bush, Hashed, Toy, brute};

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found}, expected {expected}");
}

const SENTENCE: [&str; 6] = ["Bush", "held", "a", "meeting", "with", "Sharon"];

/// The best parse of a whole sentence, found with so many parses of each size.
fn best<A: Actions>(actions: A, words: &[&str], most: usize) -> f64 {
    let mut parses = Parses::new(actions);
    let read: Vec<_> = words.iter().map(|word| parses.read(word)).collect();
    parses.parse(&read, Keep::of_each_size(most)).map_or(0.0, |parse| {
        close(parse.words.iter().sum::<f64>() + parse.end, parse.score);
        parse.score
    })
}

#[test]
fn yu_2014_figure_1_stacks_scores_and_reductions() {
    let mut stacks = Stacks::new(Toy(Bush));
    let mut words = SENTENCE.iter().map(|word| {
        let mut ways = Vec::new();
        Toy(Bush).words(word, &mut ways);
        ways[0].0
    });
    let (mut stack, mut score, mut shifted) = (StackId::EMPTY, 0.0, 0);
    // Action, reductions so far, score so far, and the two topmost trees: tags of head, leftmost and rightmost child.
    let steps: [(&str, u32, f64, &str); 11] = [
        ("shift", 0, 0.0, "NNP()"),
        ("shift", 0, 0.0, "VBD() NNP()"),
        ("left", 1, 1.0, "VBD(NNP,)"),
        ("shift", 1, 1.0, "DT() VBD(NNP,)"),
        ("shift", 1, 1.0, "NN() DT()"),
        ("left", 2, 2.0, "NN(DT,) VBD(NNP,)"),
        ("right", 3, 2.8, "VBD(NNP,NN)"),
        ("shift", 3, 2.8, "IN() VBD(NNP,NN)"),
        ("shift", 3, 2.8, "NNP() IN()"),
        ("right", 4, 3.7, "IN(,NNP) VBD(NNP,NN)"),
        ("right", 5, 4.0, "VBD(NNP,IN)"),
    ];
    for (action, reductions, expected, signature) in steps {
        let (gain, next) = match action {
            "shift" => {
                let word = stacks.word(words.next().unwrap());
                shifted += 1;
                stacks.shift(stack, word)
            }
            "left" => stacks.reduce(stack, None)[0],
            _ => stacks.reduce(stack, None)[1],
        };
        (stack, score) = (next, score + gain);
        close(score, expected);
        assert_eq!(shifted - stacks.size(stack), reductions, "{action}");
        let shown: Vec<String> = stacks
            .trees(stack)
            .iter()
            .take(2)
            .map(|tree| match (tree.left, tree.right) {
                ("", "") => format!("{}()", tree.tag),
                (left, right) => format!("{}({left},{right})", tree.tag),
            })
            .collect();
        assert_eq!(shown.join(" "), signature, "{action}");
    }
    close(best(Toy(Bush), &SENTENCE, usize::MAX), 4.0);
    for (words, expected) in [
        (&["Bush", "held", "talks", "with", "Sharon"][..], 2.2),
        (&["Bush", "with", "Sharon", "held", "a", "meeting"], 3.8),
        (&["Bush", "with", "Sharon", "held", "talks"], 2.0),
    ] {
        close(best(Toy(Bush), words, usize::MAX), expected);
    }
    let mut parses = Parses::new(Toy(Bush));
    let read: Vec<_> = SENTENCE.iter().map(|word| parses.read(word)).collect();
    let heads = parses.parse(&read, Keep::ALL).unwrap().heads;
    assert_eq!(heads, [Some(1), None, Some(3), Some(1), Some(1), Some(4)]);
}

/// Trees in full, so that structures can be counted.
#[derive(Default)]
struct Whole(RefCell<(Vec<String>, BTreeMap<String, u32>)>);

impl Whole {
    fn intern(&self, text: String) -> u32 {
        let mut known = self.0.borrow_mut();
        let next = known.0.len() as u32;
        let number = *known.1.entry(text.clone()).or_insert(next);
        if number == next {
            known.0.push(text);
        }
        number
    }
    fn text(&self, tree: u32) -> String {
        self.0.borrow().0[tree as usize].clone()
    }
}

impl Actions for Whole {
    type Tree = u32;
    type Word = u32;
    type Seen = ();
    fn words(&self, text: &str, out: &mut Vec<(u32, f64)>) {
        out.push((self.intern(format!("{text}[][]")), 0.0));
    }
    fn leaf(&self, word: &u32, _below: Option<&u32>) -> u32 {
        *word
    }
    fn left(&self, s0: &u32, s1: &u32) -> u32 {
        // The new child comes first among those on the left, which are between the first brackets.
        let (s0, s1) = (self.text(*s0), self.text(*s1));
        let at = s0.find('[').unwrap() + 1;
        self.intern(format!("{}{s1} {}", &s0[..at], &s0[at..]))
    }
    fn right(&self, s0: &u32, s1: &u32) -> u32 {
        let (s0, s1) = (self.text(*s0), self.text(*s1));
        self.intern(format!("{} {s0}]", &s1[..s1.len() - 1]))
    }
    fn see(&self, _top: Top<'_, u32>) {}
    fn shift(&self, _top: Top<'_, u32>, (): &(), _word: &u32) -> f64 {
        0.0
    }
    fn reduce(&self, _top: Top<'_, u32>, (): &(), _next: Option<&u32>) -> [f64; 2] {
        [0.0; 2]
    }
}

/// How many different stacks there are by number of reductions.
fn by_reductions<A: Actions>(parses: &Parses<A>, partials: &[Partial], words: u32) -> Vec<usize> {
    let mut counts = BTreeMap::new();
    let distinct: BTreeSet<StackId> = partials.iter().map(|partial| partial.stack).collect();
    assert_eq!(distinct.len(), partials.len(), "equal stacks are one");
    for stack in distinct {
        *counts.entry(words - parses.stacks.size(stack)).or_insert(0) += 1;
    }
    counts.into_values().collect()
}

#[test]
fn partial_structures_are_counted_as_they_should_be() {
    let mut parses = Parses::new(Whole::default());
    let mut partials = vec![Partial::START];
    let mut next = Vec::new();
    let partial = [1, 3, 12, 55, 273, 1428];
    let complete = [1, 2, 7, 30, 143, 728];
    for n in 0..6 {
        let word = parses.read(SENTENCE[n]);
        parses.advance(&partials, &word, Keep::ALL, &mut next);
        std::mem::swap(&mut partials, &mut next);
        let counts = by_reductions(&parses, &partials, n as u32 + 1);
        assert_eq!(counts.iter().sum::<usize>(), partial[n]);
        assert_eq!(counts[n], complete[n]);
    }
}

/// The groups of figure 4, from the structure in which "held" has taken "Bush" on.
fn groups_after<A: Actions>(actions: A) -> Vec<Vec<usize>> {
    let mut parses = Parses::new(actions);
    let read: Vec<_> = SENTENCE.iter().map(|word| parses.read(word)).collect();
    let first = parses.stacks.shift(StackId::EMPTY, read[0][0].0).1;
    let second = parses.stacks.shift(first, read[1][0].0).1;
    let mut partials = vec![Partial::new(parses.stacks.reduce(second, None)[0].1, 0.0)];
    let (mut next, mut groups) = (Vec::new(), Vec::new());
    for (place, word) in read.iter().enumerate().skip(2) {
        parses.advance(&partials, word, Keep::ALL, &mut next);
        std::mem::swap(&mut partials, &mut next);
        groups.push(by_reductions(&parses, &partials, place as u32 + 1));
    }
    groups
}

#[test]
fn yu_2014_figure_4_groups() {
    let structures = [vec![1, 2], vec![1, 4, 7], vec![1, 6, 18, 30], vec![1, 8, 33, 88, 143]];
    assert_eq!(groups_after(Whole::default()), structures);
    let seen = groups_after(Toy(Bush));
    assert_eq!(seen[2..], [vec![1, 6, 14, 10], vec![1, 8, 27, 39, 18]]);
}

#[test]
fn sharing_stacks_loses_no_sequence_of_actions() {
    let mut rng = Rng::new(3);
    let mut narrow = 0;
    for case in 0..cases(800, 20_000) {
        let actions =
            Toy(Hashed { delays: rng.chance(0.3), tags: 1 + rng.below(2), ..Hashed::new(case as u64) });
        let most = if actions.0.tags == 1 { 6 } else { 4 };
        let words: Vec<&str> = (0..rng.below(most)).map(|_| *rng.pick(&["a", "b", "c", "d", "e"])).collect();
        let expected = brute(&actions, &words);
        close(best(actions, &words, usize::MAX), expected);
        // Whatever the number of parses: what is found is possible.
        let few = best(actions, &words, 1);
        assert!(few <= expected + 1e-9);
        narrow += usize::from(few < expected);
    }
    assert!(narrow > 0, "one parse of each size is not always enough");
}

#[test]
fn sentences_that_begin_alike_are_parsed_as_if_alone() {
    let mut rng = Rng::new(35);
    for seed in 0..cases(100, 2_000) as u64 {
        let actions = Toy(Hashed { delays: rng.chance(0.5), tags: 1 + rng.below(2), ..Hashed::new(seed) });
        let (mut parses, mut beginnings) = (Parses::new(actions), Beginnings::default());
        let keep = Keep { of_each_size: 1 + rng.below(3), in_all: 1 + rng.below(8) };
        for _ in 0..10 {
            let words: Vec<_> =
                (0..rng.below(7)).map(|_| parses.read(rng.pick::<&str>(&["a", "b", "c"]))).collect();
            let shared = parses.parse_after(&mut beginnings, &words, keep);
            assert_eq!(shared, parses.parse(&words, keep), "seed {seed}: {words:?}");
        }
    }
}

#[test]
fn what_is_to_come_changes_no_score() {
    let mut rng = Rng::new(4);
    for case in 0..cases(200, 5_000) {
        let actions = Toy(Hashed::new(case as u64));
        let words: Vec<&str> = (0..5).map(|_| *rng.pick(&["a", "b", "c", "d"])).collect();
        let partial = |words: &[&str]| {
            let mut parses = Parses::new(actions);
            let (mut partials, mut next) = (vec![Partial::START], Vec::new());
            for word in &words[..3] {
                let read = parses.read(word);
                parses.advance(&partials, &read, Keep::ALL, &mut next);
                std::mem::swap(&mut partials, &mut next);
            }
            partials.iter().map(|partial| partial.score).collect::<Vec<f64>>()
        };
        let mut others = words.clone();
        others.swap(3, 4);
        assert_eq!(partial(&words), partial(&others));
    }
}

/// A model from random trees over few words.
fn random_generative(rng: &mut Rng, ways: usize) -> (Generative, Vec<&'static str>) {
    let tags: Vec<String> = ["N", "V", "D"].map(String::from).to_vec();
    let mut estimator = GenerativeEstimator::new(&tags, ways);
    let vocabulary = ["a", "b", "c", "d", "e", "f"];
    for _ in 0..1 + rng.below(30) {
        let length = 1 + rng.below(6);
        let words: Vec<&str> = (0..length).map(|_| *rng.pick(&vocabulary)).collect();
        let tags: Vec<u8> = (0..length).map(|_| rng.below(3) as u8).collect();
        // Random reductions make a random tree.
        let (mut heads, mut stack) = (vec![None; length], Vec::new());
        for word in 0..length {
            stack.push(word);
            while stack.len() >= 2 && (word + 1 == length || rng.chance(0.5)) {
                let (s0, s1) = (stack.pop().unwrap(), stack.pop().unwrap());
                let (head, child) = if rng.chance(0.5) { (s0, s1) } else { (s1, s0) };
                heads[child] = Some(head as u32);
                stack.push(head);
            }
        }
        estimator.add(&words, &tags, &heads);
    }
    let words = vocabulary.to_vec();
    (estimator.finish(Vec::new()), words)
}

/// What cannot become one of the best is not looked at, and nothing else is left out.
#[test]
fn the_best_in_all_are_the_best_of_all() {
    let mut rng = Rng::new(36);
    for _ in 0..cases(300, 5_000) {
        let ways = 1 + rng.below(2);
        let (model, vocabulary) = random_generative(&mut rng, ways);
        let owing = Owing::new(&model);
        let actions = if rng.chance(0.5) { owing } else { owing.plain() };
        let mut parses = Parses::new(actions);
        let (of_each_size, in_all) = (1 + rng.below(4), 1 + rng.below(6));
        let (mut partials, mut few, mut all) = (vec![Partial::START], Vec::new(), Vec::new());
        for _ in 0..8 {
            let word = parses.read(rng.pick::<&str>(&vocabulary));
            parses.advance(&partials, &word, Keep { of_each_size, in_all }, &mut few);
            parses.advance(&partials, &word, Keep::of_each_size(of_each_size), &mut all);
            all.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.stack.cmp(&b.stack)));
            all.truncate(in_all);
            let scores = |partials: &[Partial]| partials.iter().map(|one| one.score).collect::<Vec<_>>();
            assert_eq!(scores(&few), scores(&all));
            std::mem::swap(&mut partials, &mut few);
        }
    }
}

#[test]
fn probabilities_of_words_and_actions_add_up_to_one() {
    let mut rng = Rng::new(5);
    for _ in 0..cases(100, 2_000) {
        let ways = 1 + rng.below(2);
        let (model, vocabulary) = random_generative(&mut rng, ways);
        let words: Vec<&str> = (0..4).map(|_| *rng.pick(&vocabulary)).collect();
        let mut parses = Parses::new(&model);
        let (mut partials, mut next) = (vec![Partial::START], Vec::new());
        // Words that were never seen are one word.
        let known = vocabulary.iter().filter(|word| {
            let mut ways = Vec::new();
            model.words(word, &mut ways);
            let mut unknown = Vec::new();
            model.words("never", &mut unknown);
            ways[0].0 != unknown[0].0
        });
        let outcomes: Vec<&str> = known.copied().chain(["never"]).collect();
        for word in &words {
            for partial in &partials {
                let mut total = 0.0;
                for outcome in &outcomes {
                    for (word, choice) in parses.read(outcome) {
                        total += (parses.stacks.shift(partial.stack, word).0 + choice).exp();
                    }
                }
                match parses.stacks.size(partial.stack) {
                    0 => {}
                    1 => total += parses.stacks.end(partial.stack).exp(),
                    _ => {
                        let reduced = parses.stacks.reduce(partial.stack, None);
                        total += reduced.iter().map(|(score, _)| score.exp()).sum::<f64>();
                    }
                }
                assert!((total - 1.0).abs() < 1e-4, "{total}");
            }
            let read = parses.read(word);
            parses.advance(&partials, &read, Keep::ALL, &mut next);
            std::mem::swap(&mut partials, &mut next);
        }
    }
}

#[test]
fn a_generative_model_survives_its_file() {
    let (model, vocabulary) = random_generative(&mut Rng::new(6), 2);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("slm");
    model.write(&path).unwrap();
    let Ok(sylvan_parse::structured::StructuredLm::Generative(again)) =
        sylvan_parse::structured::StructuredLm::open(&path)
    else {
        panic!("it is generative")
    };
    assert_eq!(again.notes(), model.notes());
    let mut rng = Rng::new(7);
    for _ in 0..50 {
        let words: Vec<&str> = (0..6).map(|_| *rng.pick(&vocabulary)).collect();
        assert_eq!(best(&*again, &words, 8), best(&model, &words, 8));
        close(best(&model, &words[..4], usize::MAX), brute(&&model, &words[..4]));
    }
}
