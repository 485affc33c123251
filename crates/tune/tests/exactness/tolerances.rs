//! Where rounding ends and a difference begins, on both sides of each limit; and how work is reported.

use std::sync::Mutex;

use sylvan_base::{Id, Progress, Symbol, Vocab};
use sylvan_eval::{Better, Metric, Workspace};
use sylvan_forest::EdgeId;
use sylvan_search::{EdgeOrder, OutForestBuilder, Words};
use sylvan_tune::{
    Candidate, Decode, Direction, FeatureForest, Line, Lists, MertConfig, Method, Plan, Pool, Segment, Space,
    Start, Values, line_search, mert, tune, upper_envelope, winners,
};

use crate::forests::edges;
use crate::problem::{EditStats, Edits, Problem, candidate};

const PLAIN: MertConfig = MertConfig { restarts: 0, random_directions: 0, seed: 1, threads: 1 };

/// Slopes are the same if they differ by less than 1e-10 of 1 and the slope together.
#[test]
fn parallel_lines_differ_by_less_than_a_ten_billionth() {
    for (slope, limit) in [(0.0, 1e-10), (1.0, 2e-10), (-4.0, 5e-10)] {
        for (share, count) in [(0.3, 1), (0.9, 1), (1.1, 2), (2.5, 2)] {
            let next = slope + share * limit;
            let lines = [(slope, 1.0), (next, 0.0)].map(|(slope, intercept)| Line { slope, intercept });
            let mut found = Vec::new();
            upper_envelope(&lines, &mut found);
            assert_eq!(found.len(), count, "{slope} and {share} of the limit");
        }
    }
}

/// One sentence that gets better at `first`, one that gets worse at `second`.
struct Steps {
    first: f64,
    second: f64,
}

impl Space for Steps {
    type Metric = Edits;
    type Prepared = ();
    fn metric(&self) -> &Edits {
        &Edits
    }
    fn sentences(&self) -> usize {
        2
    }
    fn dimensions(&self) -> usize {
        1
    }
    fn prepare(&self, _: &[f64]) {}
    fn winners(&self, sentence: usize, (): &(), _: &Direction, out: &mut Vec<(Segment, EditStats)>) {
        let (start, edits) = [(self.first, [2, 0]), (self.second, [0, 2])][sentence];
        let segment = |start, line| Segment { start, line };
        out.push((segment(f64::NEG_INFINITY, 0), EditStats { edits: edits[0], words: 4 }));
        out.push((segment(start, 1), EditStats { edits: edits[1], words: 4 }));
    }
}

/// Steps are the same if they differ by less than 1e-10 of 1 and the place together.
#[test]
fn steps_that_nobody_can_stand_between_are_one() {
    for (first, limit) in [(0.0, 1e-10), (1.0, 2e-10), (-4.0, 5e-10)] {
        for (share, gain) in [(0.3, -0.25), (0.9, -0.25), (1.1, 0.0), (2.5, 0.0)] {
            let steps = Steps { first, second: first + share * limit };
            let found = line_search(&steps, &(), &Direction::Axis(0));
            assert_eq!(found.gain, gain, "{first} and {share} of the limit");
        }
    }
    // The limit itself is rounding.
    let found = line_search(&Steps { first: 0.0, second: 1e-10 }, &(), &Direction::Axis(0));
    assert_eq!(found.gain, -0.25);
}

/// A node with one arc per pair of features; the arcs score as given.
fn flat(arcs: &[([f64; 2], f64)], margin: f64) -> FeatureForest {
    let (forest, mut out) = (edges(arcs.len() as u32), OutForestBuilder::new(1, EdgeOrder::TailsFirst));
    for (number, (_, score)) in arcs.iter().enumerate() {
        out.arc(0, &[], &[EdgeId::from_index(number)], Words::Around, *score, &forest);
    }
    let values: Vec<[f64; 2]> = arcs.iter().map(|(values, _)| *values).collect();
    FeatureForest::new(
        &out.finish(0),
        margin,
        move |edges| values[edges[0].index()].to_vec(),
        |_| String::new(),
    )
}

/// A derivation belongs to the envelope if it is above the others by more than 1e-11 of 1, of what the slope adds and
/// of the intercept together.
#[test]
fn what_is_above_by_rounding_is_not_above() {
    // The outer lines meet in (0, 0), in (4, -4), and in (0, 4).
    for (left, right, height, limit) in [
        ([-1.0, 0.0], [1.0, 0.0], 0.0, 1e-11),
        ([-1.0, 0.0], [1.0, -8.0], -4.0, 5e-11),
        ([-1.0, 4.0], [1.0, 4.0], 4.0, 5e-11),
    ] {
        for (share, count) in [(0.3, 2), (0.9, 2), (1.1, 3), (3.0, 3)] {
            let arcs = [left, right, [0.0, height + share * limit]].map(|values| (values, 0.0));
            let found = winners(&flat(&arcs, f64::INFINITY), &[0.0, 1.0], &[1.0, 0.0]);
            assert_eq!(found.len(), count, "{left:?}, {share} of the limit");
        }
    }
    // The limit itself is not above.
    let arcs = [[-1.0, 0.0], [1.0, 0.0], [0.0, 1e-11]].map(|values| (values, 0.0));
    assert_eq!(winners(&flat(&arcs, f64::INFINITY), &[0.0, 1.0], &[1.0, 0.0]).len(), 2);
}

/// Whatever the weights, derivations that cannot be told apart are one.
#[test]
fn derivations_with_the_same_line_have_one_winner() {
    let arcs = [([1.0, 0.5], 0.0), ([1.0, 0.5], -1.0), ([1.0, 0.25], 0.0)];
    for direction in [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]] {
        let found = winners(&flat(&arcs, f64::INFINITY), &[1.0, 0.0], &direction);
        assert_eq!(found[0].start, f64::NEG_INFINITY);
        assert_eq!(found.len(), if direction == [0.0, 1.0] { 2 } else { 1 }, "{direction:?}");
    }
}

#[test]
fn of_equal_derivations_the_first_wins() {
    // Each line twice: on the left, in the middle, on the right.
    let lines = [[-1.0, 0.0], [0.0, 1.0], [1.0, 0.0]];
    let arcs: Vec<([f64; 2], f64)> = lines.iter().flat_map(|&values| [(values, 0.0); 2]).collect();
    let found = winners(&flat(&arcs, f64::INFINITY), &[0.0, 1.0], &[1.0, 0.0]);
    let found: Vec<Vec<EdgeId>> = found.into_iter().map(|winner| winner.edges).collect();
    assert_eq!(found, [0, 2, 4].map(|number| vec![EdgeId::from_index(number)]));
}

/// What arcs are worth is found by exchange: of equal arcs and of equal surroundings the first are the best.
#[test]
fn exchanges_begin_with_the_first_of_equals() {
    let (forest, mut out) = (edges(4), OutForestBuilder::new(2, EdgeOrder::TailsFirst));
    let [a, b, x, y] = [0, 1, 2, 3].map(EdgeId::from_index);
    for (node, tails, edge) in [(0, vec![], a), (0, vec![], b), (1, vec![0], x), (1, vec![0], y)] {
        out.arc(node, &tails, &[edge], Words::Around, -1.0, &forest);
    }
    let mut asked = Vec::new();
    let values = |edges: &[EdgeId]| {
        asked.push(edges.to_vec());
        vec![0.0]
    };
    FeatureForest::new(&out.finish(1), f64::INFINITY, values, |_| String::new());
    // The second arc against the first, and then both arcs of the goal.
    assert_eq!(asked, [[a, x], [b, x], [a, x], [a, y]]);
}

/// Arcs at the margin are kept whatever the rounding: 1e-9 of 1 and the score together.
#[test]
fn the_margin_of_a_forest_has_room_for_rounding() {
    let arcs = [([0.0, 0.0], 0.0), ([1.0, 0.0], -4.0)];
    let kept = |margin: f64| flat(&arcs, margin).arcs().len();
    for (short, count) in [(0.0, 2), (3.0e-9, 2), (4.5e-9, 2), (5.5e-9, 1), (8.0e-9, 1), (1e-6, 1)] {
        assert_eq!(kept(4.0 - short), count, "{short} too narrow");
    }
    // The limit itself is inside.
    assert_eq!(kept(4.0 - 1e-9 * (1.0 + 4.0)), 2);
}

/// A metric in ten-millionths: the number of edits less one.
struct Tiny;

impl Metric for Tiny {
    type Stats = EditStats;
    fn name(&self) -> String {
        "tiny".into()
    }
    fn better(&self) -> Better {
        Better::Higher
    }
    fn line(&self, hypothesis: &str, references: &[&str], workspace: &mut Workspace) -> EditStats {
        Edits.line(hypothesis, references, workspace)
    }
    fn value(&self, total: &EditStats) -> f64 {
        (total.edits as f64 - 1.0) * 1e-7
    }
    fn signature(&self, _: usize) -> String {
        String::new()
    }
}

/// From weights below 0 the second translation is reached first, and from there the third: what it gains depends on its
/// edits. Where the first weight is below 0 the fourth is in its way.
fn two_steps(third: u64) -> Pool<'static, Tiny> {
    let mut pool = Pool::new(&Tiny, vec![vec![String::new()]]);
    let list = [(0, [0.0, 0.0]), (1, [1.0, 0.0]), (third, [1.0, 1.0]), (0, [-1.0, 2.0])];
    pool.add(0, list.iter().map(|(edits, values)| candidate(format!("{edits}/1"), values)).collect());
    pool
}

#[test]
fn a_step_must_gain_more_than_a_ten_millionth() {
    let spread = [1.0, 1.0];
    let gain = |third| mert(&Lists::new(&two_steps(third), 2), &[-1.0, -1.0], &spread, &PLAIN).gain;
    assert_eq!(gain(2), 0.0);
    assert_eq!(gain(3), 2e-7);
    // The same holds for another start, where the third is reached at once.
    let restarts = MertConfig { restarts: 30, ..PLAIN };
    let found = |third| mert(&Lists::new(&two_steps(third), 2), &[-1.0, 0.0], &spread, &restarts);
    assert_eq!(found(2).gain, 0.0);
    assert_eq!(found(2), mert(&Lists::new(&two_steps(2), 2), &[-1.0, 0.0], &spread, &PLAIN));
    assert_eq!(found(3).gain, 2e-7);
}

#[test]
fn features_beyond_the_dimensions_do_not_count() {
    let problem = Problem::of(&[&[(2, 4, &[1.0, 0.0, 5.0]), (0, 4, &[0.0, 1.0, -5.0])]]);
    let short = Problem::of(&[&[(2, 4, &[1.0, 0.0]), (0, 4, &[0.0, 1.0])]]);
    let (all, two) = (problem.pool(), short.pool());
    let (all, two) = (Lists::new(&all, 2), Lists::new(&two, 2));
    for weights in [[1.0, 0.0], [0.25, 0.5]] {
        assert_eq!(all.prepare(&weights), two.prepare(&weights));
        let direction = Direction::Vector(vec![1.0, -1.0]);
        let found = line_search(&all, &all.prepare(&weights), &direction);
        assert_eq!(found, line_search(&two, &two.prepare(&weights), &direction));
    }
}

/// Says what it hears.
#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Progress for Heard {
    fn begin(&self, stage: &str, total: Option<u64>) {
        self.0.lock().unwrap().push(format!("{stage}: {total:?}"));
    }
    fn at(&self, done: u64) {
        self.0.lock().unwrap().push(done.to_string());
    }
    fn end(&self) {
        self.0.lock().unwrap().push("end".into());
    }
}

/// Two translations, the first of them the better one, and one more each round.
struct Growing {
    rounds: usize,
    values: [f64; 2],
    heard: Heard,
}

impl Growing {
    fn new(values: [f64; 2]) -> Self {
        Self { rounds: 0, values, heard: Heard::default() }
    }
}

impl Decode for Growing {
    type Error = std::convert::Infallible;

    fn progress(&self) -> &dyn Progress {
        &self.heard
    }

    fn decode(&mut self, _: &mut Vocab, _: &[f64]) -> Result<Vec<Vec<Candidate>>, Self::Error> {
        self.rounds += 1;
        let one = |edits: usize, value: f64| Candidate {
            text: format!("{edits}/4"),
            values: Values::new([(Symbol(0), value)]),
        };
        // Never on top.
        let more = one(3, 1.0 / (self.rounds as f64 + 2.0));
        Ok(vec![vec![one(1, self.values[0]), one(2, self.values[1]), more]])
    }
}

/// Why it ended, and after how many rounds.
fn ended(decoder: &mut Growing, weight: f64, method: &Method, least_change: f64) -> (String, usize) {
    let start = [Start { name: "a".into(), weight, spread: 1.0 }];
    let plan = Plan { rounds: 4, patience: 1000, least_change };
    let references = vec![vec![String::new()]];
    let Ok(tuned) = tune(decoder, &Edits, references, &start, method, &plan, &mut |_| {});
    (tuned.ended, tuned.rounds.len())
}

#[test]
fn each_start_of_each_round_is_reported() {
    let mut decoder = Growing::new([1.0, -1.0]);
    let method = Method::Mert(MertConfig { restarts: 3, ..PLAIN });
    assert_eq!(ended(&mut decoder, 1.0, &method, -1.0).0, "4 rounds");
    let once = ["choosing weights: Some(4)", "1", "2", "3", "4", "end"];
    assert_eq!(*decoder.heard.0.lock().unwrap(), [once, once, once].concat());
}

#[test]
fn weights_that_do_not_change_at_all_end_it_at_any_limit() {
    let stays = |rounds| ("the weights stay as they are".to_string(), rounds);
    for least_change in [0.0, 1e-4] {
        let mut decoder = Growing::new([1.0, -1.0]);
        assert_eq!(ended(&mut decoder, 1.0, &Method::Mert(PLAIN), least_change), stays(1));
    }
    // Weights without a length have no change that would be small beside it: the first is a tenth, the second nothing.
    let mut decoder = Growing::new([-1.0, 1.0]);
    assert_eq!(ended(&mut decoder, 0.0, &Method::Mert(PLAIN), 0.5), stays(2));
}
