//! Four small clients of the seams, one per family of decoders that is still to come: a structured language model, a
//! reordering model, undirected search, phrase-based search. Each is checked against figures of its paper or against
//! brute force.
#![allow(clippy::unwrap_used)]

mod common;

use std::cell::RefCell;

use common::{HashLm, Problem, TableLm, assert_close, close, toy_b_of, toy_b_plus};
use sylvan_base::{HashMap, Id, IndexVec, Rng, Span, Symbol};
use sylvan_forest::{
    BundleId, EdgeId, EdgeSpec, ForestBuilder, Layer, Part, RuleRef, Target, TranslationForest, VertexId,
};
use sylvan_search::{
    Application, Beam, BoundaryWords, Charge, Choice, ClassId, Deduction, Derivations, EdgeOrder, Engine,
    Incremental, ItemId, LanguageModel, Limits, Move, NoStepModel, Prediction, Problem as SearchProblem,
    Progress, StepModel, Successor, TwoSided, Wanted, Worth, incremental_search, prediction_search, rescore,
};

// ---------------------------------------------------------------------------------------------------------------
// A structured language model: shift-reduce dependency parsing with toy weights (Yu et al. 2014).

/// A partial parse: the head's tag, and the tree as text.
type Parse = (&'static str, String);
/// Partial parses, newest last, and the number of reductions.
type Stack = (Vec<Parse>, u32);

/// Weights on the tags of the two topmost trees.
struct Parser<'p> {
    problem: &'p Problem,
    /// By state.
    states: RefCell<Vec<Stack>>,
}

impl<'p> Parser<'p> {
    fn new(problem: &'p Problem) -> Self {
        Self { problem, states: RefCell::new(vec![(Vec::new(), 0)]) }
    }

    fn shift(&self, word: Symbol) -> Parse {
        let text = self.problem.vocab.text(word);
        let tag = match text {
            "Bush" | "Sharon" => "NNP",
            "held" => "VBD",
            "a" => "DT",
            "meeting" => "NN",
            "talks" => "NNS",
            _ => "IN",
        };
        (tag, text.to_string())
    }

    /// Left and right reduction of the two topmost trees: the weight, and the tree that they become.
    fn reductions(first: &Parse, second: &Parse) -> [(f64, Parse); 2] {
        let (s0, s1) = (first.0, second.0);
        let left = match (s0, s1) {
            ("VBD", "NNP") | ("NN", "DT") => 1.0,
            ("NNP", "VBD") => -0.5,
            _ => 0.0,
        };
        let right = match (s0, s1) {
            ("NN", "VBD") => 0.8,
            ("IN", "VBD") => 0.3,
            ("IN", "NN") => 0.2,
            ("NNP", "IN") => 0.9,
            ("NNP", "VBD") => -0.2,
            _ => 0.0,
        };
        let under_first = (s0, format!("{}<{}", second.1, first.1));
        let under_second = (s1, format!("({}>{})", second.1, first.1));
        [(left, under_first), (right, under_second)]
    }

    fn intern(&self, state: Stack) -> u32 {
        let mut states = self.states.borrow_mut();
        let place = states.iter().position(|known| *known == state).unwrap_or_else(|| {
            states.push(state);
            states.len() - 1
        });
        place as u32
    }

    /// All stacks after any number of reductions.
    fn reduced(start: Stack, score: f64) -> Vec<(f64, Stack)> {
        let mut all = vec![(score, start)];
        let mut next = 0;
        while next < all.len() {
            let (score, (stack, count)) = all[next].clone();
            next += 1;
            if let [rest @ .., s1, s0] = stack.as_slice() {
                for (weight, head) in Self::reductions(s0, s1) {
                    let mut stack = rest.to_vec();
                    stack.push(head);
                    all.push((score + weight, (stack, count + 1)));
                }
            }
        }
        all
    }

    /// The best parse of a whole sentence, over all sequences of actions.
    fn best(&self, words: &[Symbol]) -> f64 {
        let mut states = vec![(0.0, (Vec::new(), 0))];
        for &word in words {
            states = states
                .into_iter()
                .flat_map(|(score, (mut stack, count))| {
                    stack.push(self.shift(word));
                    Self::reduced((stack, count), score)
                })
                .collect();
        }
        let complete = states.iter().filter(|(_, (stack, _))| stack.len() <= 1);
        complete.map(|(score, _)| *score).fold(f64::NEG_INFINITY, f64::max)
    }
}

impl StepModel for Parser<'_> {
    type State = u32;

    fn begin(&self) -> u32 {
        0
    }
    fn advance(&self, state: u32, step: &Move<'_>, next: &mut dyn FnMut(f64, u32)) {
        let mut states = vec![(0.0, self.states.borrow()[state as usize].clone())];
        for &word in step.words {
            states = states
                .into_iter()
                .flat_map(|(score, (mut stack, count))| {
                    stack.push(self.shift(word));
                    Self::reduced((stack, count), score)
                })
                .collect();
        }
        for (score, state) in states {
            next(score, self.intern(state));
        }
    }
    fn finish(&self, state: u32) -> f64 {
        let state = self.states.borrow()[state as usize].clone();
        let done = Self::reduced(state, 0.0).into_iter().filter(|(_, (stack, _))| stack.len() <= 1);
        done.map(|(score, _)| score).fold(f64::NEG_INFINITY, f64::max)
    }
    /// The number of reductions so far.
    fn group(&self, state: u32) -> u32 {
        self.states.borrow()[state as usize].1
    }
}

fn with_parser(problem: &Problem, lm: &TableLm, limits: Limits) -> (f64, String) {
    let parser = Parser::new(problem);
    let search = SearchProblem { forest: &problem.forest, lm, steps: &parser };
    let config = Incremental { progress: Progress::AllNodes, ..Incremental::default() };
    let found =
        incremental_search(&mut Engine::default(), &search, limits, config, Wanted::default(), None).unwrap();
    let derivation = sylvan_forest::Derivation::new(found.edges);
    (found.score, problem.text(&derivation))
}

#[test]
fn yu_2014_a_structured_language_model_changes_the_best_translation() {
    let (problem, lm) = toy_b_plus();
    let parser = Parser::new(&problem);
    let all = Derivations::of(&problem.forest);
    let total = |index| {
        let derivation = all.get(index);
        rescore(&problem.forest, &lm, &derivation) + parser.best(&derivation.words(&problem.forest))
    };
    let best = (0..all.count()).map(total).fold(f64::NEG_INFINITY, f64::max);
    assert_close(best, -2.0);
    let unlimited = Limits::beam(Beam::UNLIMITED);
    let (score, text) = with_parser(&problem, &lm, unlimited);
    assert_close(score, best);
    assert_eq!(text, "Bush held a meeting with Sharon");
    let grouped = Limits { groups: Some(usize::MAX), ..unlimited };
    assert_close(with_parser(&problem, &lm, grouped).0, best);
    let search = SearchProblem { forest: &problem.forest, lm: &lm, steps: &parser };
    let config = Prediction::default();
    let found =
        prediction_search(&mut Engine::default(), &search, unlimited, config, Wanted::default(), None)
            .unwrap();
    assert_close(found.score, best);
}

#[test]
fn yu_2014_figure_4_grouping_keeps_what_naive_search_loses() {
    // The one derivation of the paper's figure 3.
    let (problem, lm) = toy_b_of(&["r1", "r2", "r3", "s5", "r5"]);
    let run = |beam, groups| with_parser(&problem, &lm, Limits { groups, ..Limits::beam(Beam(beam)) }).0;
    assert_close(run(2, Some(5)), -2.1);
    assert_close(run(1, Some(1)), -3.2);
    assert_close(run(2, None), -3.2);
    assert_close(run(usize::MAX, None), -2.1);
}

// ---------------------------------------------------------------------------------------------------------------
// A lexicalised reordering model: the orientation of each rule to the span translated last (Siahbani & Sarkar 2017).

struct Orientation<'f> {
    forest: &'f TranslationForest,
    monotone: f64,
    swap: f64,
    other: f64,
}

/// Extents of the source span translated last, and the positions of the rule before.
type Recent = (i32, i32, [i32; 2]);

impl StepModel for Orientation<'_> {
    type State = Recent;
    const WANTS_FRONTIER: bool = true;

    fn begin(&self) -> Recent {
        (-1, -1, [-1, -1])
    }
    fn advance(&self, mut state: Recent, step: &Move<'_>, next: &mut dyn FnMut(f64, Recent)) {
        let mut score = 0.0;
        for &edge in step.edges {
            let span = self.forest.span(self.forest.edge(edge).head);
            let tails: Vec<Span> = self.forest.tails(edge).map(|tail| self.forest.span(tail)).collect();
            let own: Vec<i32> = span
                .range()
                .filter(|&position| !tails.iter().any(|tail| tail.contains(position)))
                .map(|position| position as i32)
                .collect();
            assert!(step.open.iter().all(|open| own.iter().all(|&p| !open.contains(p as usize))));
            let (u, v) = (own[0], own[own.len() - 1]);
            let (low, high, previous) = state;
            if u == high + 1 {
                score += self.monotone;
                state = (low, v, [u, v]);
            } else if v == low - 1 {
                score += self.swap;
                state = (u, high, [u, v]);
            } else {
                score += if previous.contains(&(u - 1)) {
                    self.monotone
                } else if previous.contains(&(v + 1)) {
                    self.swap
                } else {
                    self.other
                };
                let covered = low <= u && v <= high;
                state = if covered { (low, high, [u, v]) } else { (u, v, [u, v]) };
            }
        }
        next(score, state);
    }
    fn finish(&self, _state: Recent) -> f64 {
        0.0
    }
}

fn spec(id: u32, score: f64) -> EdgeSpec {
    EdgeSpec { rule: RuleRef { layer: Layer::Table, id }, score, nodes: 1, hash: u64::from(id) + 1 }
}

#[test]
fn siahbani_2017_orientations_inside_a_gap_are_monotone() {
    // Rules over the positions {0, 1}, then {2, 5} with a gap, then {3} and {4} inside the gap.
    let word = |id| Part::Word(Symbol(id));
    let mut builder = ForestBuilder::new();
    let four = builder.vertex(1, Span::new(4, 5));
    builder.edge(spec(0, 0.0), &[word(1)]);
    let three = builder.vertex(2, Span::new(3, 5));
    builder.edge(spec(1, 0.0), &[word(2), Part::Vertex(four)]);
    let two = builder.vertex(3, Span::new(2, 6));
    builder.edge(spec(2, 0.0), &[word(3), Part::Vertex(three)]);
    let top = builder.vertex(4, Span::new(0, 6));
    builder.edge(spec(3, 0.0), &[word(4), Part::Vertex(two)]);
    let forest = builder.finish(top);
    let steps = Orientation { forest: &forest, monotone: -1.0, swap: -10.0, other: -100.0 };
    let lm = HashLm { order: 1, seed: 0, weight: 0.0 };
    let problem = SearchProblem { forest: &forest, lm: &lm, steps: &steps };
    let limits = Limits::beam(Beam(5));
    let found = incremental_search(
        &mut Engine::default(),
        &problem,
        limits,
        Incremental::default(),
        Wanted::default(),
        None,
    );
    assert_close(found.unwrap().score, -4.0);
}

// ---------------------------------------------------------------------------------------------------------------
// Undirected search: one best-first queue over items of all vertices (Gesmundo & Henderson 2011).

#[test]
fn gesmundo_2011_figure_1_i_run() {
    let mut vocab = sylvan_base::Vocab::of(["Je", "course", "courir", "cours", "courons"]);
    let lm = common::bigram(
        &[
            ("<s>", "Je", -1.0),
            ("Je", "course", -6.0),
            ("Je", "courir", -5.0),
            ("Je", "cours", -1.0),
            ("Je", "courons", -7.0),
            ("course", "</s>", -1.0),
            ("courir", "</s>", -1.0),
            ("cours", "</s>", -1.0),
            ("courons", "</s>", -1.0),
        ],
        &[
            ("Je", -1.8),
            ("course", -2.0),
            ("courir", -2.5),
            ("cours", -3.0),
            ("courons", -3.5),
            ("</s>", -2.0),
        ],
        &mut vocab,
    );
    let lm = BoundaryWords::new(&lm);
    let words = |text: &str| [vocab.get(text).unwrap()];
    let je = lm.piece(&words("Je"));
    let verbs: Vec<(&str, f64, _)> = [("course", -0.5), ("courir", -0.9), ("cours", -1.2), ("courons", -1.6)]
        .into_iter()
        .map(|(verb, score)| (verb, score, lm.piece(&words(verb))))
        .collect();
    // Scores outside and the expected cost of a source word.
    let (outside_je, outside_verb, per_word) = (-0.5, -0.2, -1.5);
    let first = -0.2 + je.0 + outside_je + per_word;
    assert_close(first, -4.0);
    // Without context the verbs are ranked by themselves.
    let alone: Vec<f64> =
        verbs.iter().map(|(_, score, (q, _))| score + q + outside_verb + per_word).collect();
    for (found, expected) in alone.iter().zip([-4.2, -5.1, -5.9, -6.8]) {
        assert_close(*found, expected);
    }
    // The partial item `Je _` is popped next; it ranks the candidates for its hole.
    let partial = -0.2 + je.0 + -0.5 + per_word;
    assert_close(partial, -4.0);
    let with_parent: Vec<f64> = verbs
        .iter()
        .map(|(_, score, (q, state))| -0.2 + je.0 + score + q + lm.join([&je.1, state].into_iter()).0)
        .collect();
    for (found, expected) in with_parent.iter().zip([-8.5, -7.9, -4.2, -10.6]) {
        assert_close(*found, expected);
    }
    let best = (0..verbs.len()).max_by(|&a, &b| with_parent[a].total_cmp(&with_parent[b])).unwrap();
    assert_eq!(verbs[best].0, "cours");
    let (change, state) = lm.join([&je.1, &verbs[best].2.1].into_iter());
    let whole = -0.2 + je.0 + verbs[best].1 + verbs[best].2.0 + change + lm.sentence(&state);
    assert_close(whole, -4.4);
}

// ---------------------------------------------------------------------------------------------------------------
// Phrase-based search: items are coverage and the end of the last phrase; options come from a chart of spans.

struct PhraseBased<'f> {
    options: &'f TranslationForest,
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

impl Deduction for PhraseBased<'_> {
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
    fn future(&self, _item: ItemId) -> f64 {
        0.0
    }
    fn rest(&self, _item: ItemId) -> f64 {
        0.0
    }
    fn options(&mut self, class: ClassId, out: &mut Vec<Choice>) {
        for edge in self.options.edge_ids() {
            let span = self.options.span(self.options.edge(edge).head);
            if self.may_follow(self.items[ItemId(class.0)], span) {
                let (estimate, advance) = (self.options.edge(edge).spec.score, span.len() as u32);
                out.push(Choice { id: edge.0, estimate, advance, exactly: true });
            }
        }
    }
    fn emit(&self, _item: ItemId, choice: u32, bundles: &mut Vec<BundleId>) -> f64 {
        let edge = EdgeId(choice);
        for &symbol in self.options.target(edge) {
            let Target::Bundle(bundle) = symbol else { panic!("phrases have no gaps") };
            bundles.push(bundle);
        }
        self.options.edge(edge).spec.score
    }
    fn apply(&mut self, item: ItemId, choice: u32, _worth: &Worth<'_>, out: &mut Application) {
        let edge = EdgeId(choice);
        let span = self.options.span(self.options.edge(edge).head);
        let covered = span.range().fold(self.items[item].0, |bits, position| bits | 1 << position);
        let item = self.item((covered, span.range().end as u32));
        out.trail.push(Charge { edge, after: None });
        let score = self.options.edge(edge).spec.score;
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
        for edge in search.options.edge_ids() {
            let span = search.options.span(search.options.edge(edge).head);
            if search.may_follow(key, span) {
                let [Target::Bundle(bundle)] = search.options.target(edge) else { panic!() };
                let (gain, state) = lm.run(state, search.options.bundle(*bundle));
                let covered = span.range().fold(key.0, |bits, position| bits | 1 << position);
                let score = score + gain + search.options.edge(edge).spec.score;
                open.push(((covered, span.range().end as u32), score, state));
            }
        }
    }
    best
}

#[test]
fn phrase_based_search_with_a_distortion_limit_equals_brute_force() {
    let mut rng = Rng::new(5);
    for _ in 0..200 {
        let length = 2 + rng.below(4);
        let mut builder = ForestBuilder::new();
        for start in 0..length {
            for end in start + 1..=(start + 2).min(length) {
                builder.vertex(1, Span::new(start, end));
                for _ in 0..1 + rng.below(2) {
                    let words: Vec<Part> =
                        (0..rng.below(3)).map(|_| Part::Word(Symbol(rng.below(4) as u32))).collect();
                    builder.edge(spec(rng.below(1000) as u32, -(rng.below(100) as f64) / 50.0), &words);
                }
            }
        }
        let options = builder.finish(VertexId::from_index(0));
        let lm = HashLm { order: 1 + rng.below(3), seed: rng.next_u64(), weight: 1.0 };
        let limit = rng.below(length + 1);
        let (items, index) = (IndexVec::new(), HashMap::default());
        let mut deduction = PhraseBased { options: &options, length, limit, items, index };
        let expected = best_order(&deduction, &lm);
        let problem = SearchProblem { forest: &options, lm: &lm, steps: &NoStepModel };
        let limits = Limits::beam(Beam::UNLIMITED);
        let found = Engine::default().search(&problem, &mut deduction, limits, Wanted::default(), None);
        // With a tight limit there may be no way to cover everything.
        match found {
            None => assert_eq!(expected, f64::NEG_INFINITY),
            Some(found) => assert!(close(found.score, expected)),
        }
    }
}
