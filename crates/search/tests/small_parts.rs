//! Small parts that searches are put together from: names and their defaults, sums, marks, models side by side.
#![allow(clippy::unwrap_used)]

mod common;

use common::{HashLm, close};
use sylvan_base::{Fault, Rng, Span, Symbol};
use sylvan_forest::{BundleId, EdgeSpec, ForestBuilder, Layer, Part, RuleRef, TokenId};
use sylvan_search::{
    Application, Beam, BoundaryWords, Choice, ClassId, Counters, CubePruning, Deduction, EdgeOrder, Effort,
    ItemId, LanguageModel, Limits, ListId, Mark, Move, NoLanguageModel, Part as ModelPart, Refine, Search,
    SearchName, Side, StepModel, StepModels, StepState, TwoSided, Worth,
};

#[test]
fn names_stand_for_searches_with_documented_defaults() {
    let beams = SearchName::ALL.map(|name| (name.as_str(), name.default_beam()));
    let expected = [
        ("cube", 500),
        ("focus", 200),
        ("refine", 500),
        ("incremental", 100),
        ("prediction", 100),
        ("stacks", 120),
        ("undirected", 256),
        ("exact", 500),
    ];
    assert_eq!(beams, expected);
    assert_eq!(Effort::default().joins, 100_000_000);
    assert_eq!(Limits::USUAL_MARGIN, 20);
    assert_eq!("cube:7".parse::<Search>().unwrap().beam(), Beam(7));
    assert_eq!("prediction:1".parse::<Search>().unwrap().beam(), Beam(1));
    let wrong = |text: &str| -> Fault { text.parse::<Search>().unwrap_err() };
    // The column is that of the beam, or the whole text is meant.
    assert_eq!((wrong("cube:0").column, wrong("prediction:x").column), (6, 12));
    assert_eq!((wrong("magic").column, wrong("magic:3").column), (0, 0));
    for name in SearchName::ALL {
        let bottom_up = ["cube", "focus", "refine", "undirected", "exact"].contains(&name.as_str());
        assert_eq!(name.is_left_to_right(), !bottom_up);
    }
}

#[test]
fn counters_add_up_one_by_one() {
    let one = Counters {
        items: 1,
        recombined: 10,
        pruned: 100,
        kept: 7,
        lm_queries: 1_000,
        lm_remembered: 40,
        future_edges: 10_000,
    };
    let mut sum = Counters {
        items: 5,
        recombined: 6,
        pruned: 7,
        kept: 1,
        lm_queries: 8,
        lm_remembered: 2,
        future_edges: 9,
    };
    sum += one;
    let expected = Counters {
        items: 6,
        recombined: 16,
        pruned: 107,
        kept: 8,
        lm_queries: 1_008,
        lm_remembered: 42,
        future_edges: 10_009,
    };
    assert_eq!(sum, expected);
}

#[test]
fn no_model_scores_nothing() {
    let lm = NoLanguageModel;
    assert_eq!((lm.order(), lm.score((), TokenId(3)).0, lm.end(())), (1, 0.0, 0.0));
}

#[test]
fn a_mark_of_several_models_ends_where_all_have_ended() {
    let (open, closed, word) = (Mark::end(false), Mark::end(true), Mark::word(7));
    let all = |marks: &[Mark]| Mark::of_all(marks.iter().copied());
    assert!(open.is_end() && closed.is_end() && !word.is_end() && !Mark::word(u32::MAX).is_end());
    assert!(all(&[open, closed]).is_end() && all(&[closed; 8]).is_end());
    assert!(!all(&[open, word]).is_end() && !all(&[word, open]).is_end());
    // Which of them are closed matters, one by one.
    let ends: Vec<Mark> =
        (0..8).map(|bits| all(&[0, 1, 2].map(|model| Mark::end(bits >> model & 1 == 1)))).collect();
    for (a, first) in ends.iter().enumerate() {
        for (b, second) in ends.iter().enumerate() {
            assert_eq!(first == second, a == b);
        }
    }
    assert_eq!(all(&[word, open]), all(&[word, open]));
    assert_ne!(all(&[word, open]), all(&[open, word]));
    // Ends are the last 256 numbers: eight models, each closed or not.
    assert!(Mark(u64::MAX).is_end() && Mark(u64::MAX - 255).is_end() && !Mark(u64::MAX - 256).is_end());
    assert_eq!(all(&[closed; 8]), Mark(u64::MAX - 255));
    assert_eq!(all(&[]), open);
}

/// A deduction that says no more than it must.
struct Bare(sylvan_forest::TranslationForest);

impl Deduction for Bare {
    type Forest = sylvan_forest::TranslationForest;
    fn forest(&self) -> &Self::Forest {
        &self.0
    }
    fn axiom(&mut self) -> ItemId {
        ItemId(0)
    }
    fn bins(&self) -> usize {
        1
    }
    fn bin(&self, _: ItemId) -> usize {
        0
    }
    fn class(&self, _: ItemId) -> Option<ClassId> {
        None
    }
    fn options(&mut self, _: ListId, out: &mut Vec<Choice>) {
        out.push(Choice::new(3, -1.5));
    }
    fn emit(&self, _: ItemId, _: u32, _: &mut Vec<BundleId>) -> f64 {
        f64::INFINITY
    }
    fn apply(&mut self, _: ItemId, _: u32, _: &Worth<'_>, _: &mut Application) {}
    fn order(&self) -> EdgeOrder {
        EdgeOrder::HeadsFirst
    }
}

#[test]
fn a_deduction_that_says_nothing_expects_nothing() {
    let mut builder = ForestBuilder::new();
    let goal = builder.vertex(1, Span::new(0, 1));
    let mut bare = Bare(builder.finish(goal));
    let axiom = bare.axiom();
    assert_eq!((bare.future(axiom), bare.rest(axiom)), (0.0, 0.0));
    let (mut lists, mut open, mut options) = (Vec::new(), Vec::new(), Vec::new());
    bare.lists(ClassId(7), &mut lists);
    bare.frontier(axiom, &mut open);
    bare.options(lists[0].0, &mut options);
    assert_eq!((lists, open), (vec![(ListId(7), 0.0)], Vec::new()));
    let choice = Choice { id: 3, estimate: -1.5, advance: 0, exactly: false };
    assert_eq!(options, [choice]);
}

#[test]
fn what_never_ran_was_not_cut_short() {
    assert!(!CubePruning::<()>::default().chart().was_cut_short());
    assert!(!Refine::<(), ()>::default().chart().was_cut_short());
}

/// A model with so many parts, which get worse, and that may want to know what is open.
struct Plain {
    parts: u32,
    frontier: bool,
}

impl StepModel for Plain {
    fn begin(&mut self) -> StepState {
        StepState(0)
    }
    fn advance(&mut self, state: StepState, _: &Move<'_>, next: &mut Vec<(f64, StepState)>) {
        next.push((-1.0, state));
    }
    fn finish(&mut self, _: StepState) -> f64 {
        -f64::from(self.parts)
    }
    fn parts(&mut self, _: StepState, parts: &mut Vec<ModelPart>) {
        parts.extend((0..self.parts).map(|part| ModelPart {
            key: u64::from(part),
            score: -f64::from(part),
            group: part,
        }));
    }
    fn restrict(&mut self, _: StepState, kept: &[bool]) -> (f64, StepState) {
        let first = kept.iter().position(|&kept| kept).unwrap() as u32;
        (-f64::from(first), StepState(100 + first))
    }
    fn signature(&mut self, state: StepState) -> StepState {
        if self.parts == 9 { StepState::ANY } else { state }
    }
    fn sees_words_only(&self) -> bool {
        !self.frontier
    }
    fn wants_frontier(&self) -> bool {
        self.frontier
    }
    fn features(&self) -> usize {
        1
    }
    fn values(&mut self, _: StepState, _: &Move<'_>, _: Option<StepState>, values: &mut [f64]) {
        values[0] += 1.0;
    }
}

/// What is not said is the default.
struct Silent;

impl StepModel for Silent {
    fn begin(&mut self) -> StepState {
        StepState(0)
    }
    fn advance(&mut self, state: StepState, _: &Move<'_>, next: &mut Vec<(f64, StepState)>) {
        next.push((0.0, state));
    }
    fn finish(&mut self, _: StepState) -> f64 {
        0.0
    }
    fn features(&self) -> usize {
        0
    }
    fn values(&mut self, _: StepState, _: &Move<'_>, _: Option<StepState>, _: &mut [f64]) {}
}

#[test]
fn models_side_by_side_have_the_parts_of_one_and_want_what_any_wants() {
    let of = |parts: &[(u32, bool)]| {
        let models = parts.iter().map(|&(parts, frontier)| {
            let model: Box<dyn StepModel> = Box::new(Plain { parts, frontier });
            model
        });
        let mut models = StepModels::new(models.collect());
        let state = models.begin();
        let mut parts = Vec::new();
        models.parts(state, &mut parts);
        let groups: Vec<u32> = parts.iter().map(|part| part.group).collect();
        assert_eq!(models.sees_words_only(), !models.wants_frontier());
        (groups, models.wants_frontier(), models.features(), models.finish(state))
    };
    assert_eq!(of(&[(1, false), (3, false), (2, true)]), (vec![0, 1, 2], true, 3, -6.0));
    assert_eq!(of(&[(2, false), (5, false)]), (vec![0, 1], false, 2, -7.0));
    assert_eq!(of(&[(1, false)]), (vec![0], false, 1, -1.0));
    // What is dropped is dropped from the model that has it; signatures are those of all.
    let plain = |parts| -> Box<dyn StepModel> { Box::new(Plain { parts, frontier: false }) };
    let mut models = StepModels::new(vec![plain(1), plain(3), plain(9)]);
    let state = models.begin();
    let (gain, restricted) = models.restrict(state, &[false, true, true]);
    assert_eq!(gain, -1.0);
    assert_ne!(restricted, state);
    assert_ne!(models.signature(state), models.signature(restricted));
    let mut same = StepModels::new(vec![plain(9), plain(9)]);
    let state = same.begin();
    assert_eq!(same.signature(state), StepState::ANY);
    let mut silent = Silent;
    let state = silent.begin();
    let mut parts = Vec::new();
    silent.parts(state, &mut parts);
    assert_eq!(parts, [ModelPart { key: 0, score: 0.0, group: 0 }]);
    assert_eq!((silent.restrict(state, &[true]), silent.signature(state)), ((0.0, state), state));
    assert!(!silent.wants_frontier() && !silent.sees_words_only());
}

/// Pieces of random words under a model of each order: what they are charged, what is still open, and how they look.
#[test]
fn pieces_are_what_their_words_say() {
    let mut builder = ForestBuilder::new();
    let goal = builder.vertex(1, Span::new(0, 1));
    let rule = RuleRef { layer: Layer::Grammar, id: 0 };
    let words: Vec<Part> = (0..6).map(|word| Part::word(Symbol(word))).collect();
    builder.edge(EdgeSpec { rule, score: 0.0, nodes: 1, hash: 0 }, &words);
    let forest = builder.finish(goal);
    let mut rng = Rng::new(8);
    for case in 0..400 {
        let lm = HashLm::new(&forest, 1 + case % 5, rng.next_u64(), 1.0);
        let (two_sided, history) = (BoundaryWords::new(&lm), lm.order() - 1);
        let words: Vec<TokenId> = (0..rng.below(12)).map(|_| TokenId(rng.below(6) as u32)).collect();
        let (score, piece) = two_sided.piece(&words);
        assert!(close(score, lm.local(&words)));
        let open = words.len().min(history);
        assert_eq!(two_sided.open(&piece), open);
        assert!(close(two_sided.without_history(&piece), lm.local(&words[..open])));
        assert!(close(score + TwoSided::sentence(&two_sided, &piece), lm.sentence(&words)));
        assert_eq!(two_sided.rest(&piece), 0.0);
        // The same words in parts are the same piece, and cost the same.
        let cuts = [rng.below(words.len() + 1), rng.below(words.len() + 1)];
        let (first, last) = (cuts[0].min(cuts[1]), cuts[0].max(cuts[1]));
        let parts = [&words[..first], &words[first..last], &words[last..]].map(|part| two_sided.piece(part));
        let sum: f64 = parts.iter().map(|(score, _)| score).sum();
        let (change, joined) = two_sided.join(parts.iter().map(|(_, part)| part));
        assert!(close(sum + change, score));
        assert!(
            two_sided.same(&joined, &piece) && two_sided.state_hash(&joined) == two_sided.state_hash(&piece)
        );
        // All shown, the change is known; with nothing shown, nothing is.
        let shown = |known| parts.map(|(_, part)| two_sided.show(&part, known, known));
        assert!(close(two_sided.estimate(shown(usize::MAX).iter()), change));
        assert_eq!(two_sided.estimate(shown(0).iter()), 0.0);
        for known in 0..=history {
            let open = two_sided.open_shown(&two_sided.show(&piece, known, known));
            assert_eq!(open, known.min(words.len()));
        }
        // Marks are words from the outside in, then the end: closed where words beyond could be hidden.
        let ends = |side: Side, words: Vec<TokenId>| {
            for (index, word) in words.iter().take(history).enumerate() {
                assert_eq!(two_sided.mark(&piece, side, index), Mark::word(word.0));
            }
            assert_eq!(
                two_sided.mark(&piece, side, words.len().min(history)),
                Mark::end(words.len() >= history)
            );
        };
        ends(Side::Left, words.clone());
        ends(Side::Right, words.iter().rev().copied().collect());
    }
}
