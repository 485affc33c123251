//! What `Counters::lm_queries` says is what a language model is really asked, for every search.
//!
//! A query is a word scored given some history, or the end of a sentence. `Asked` counts them where they arrive.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use std::cell::Cell;
use std::rc::Rc;

use common::{Context, HashLm, random_problems};
use sylvan_forest::{BundleId, Target, TokenId, TranslationForest};
use sylvan_search::{
    Beam, BoundaryEstimate, BoundaryWords, Bounds, Cube, Effort, Future, Goals, Incremental, LanguageModel,
    Limits, Mark, Neighbours, Prediction, Run, Search, SearchName, Side, Stop, TwoSided, WorkspaceOf,
    cube_pruning, exact, incremental, prediction, refine,
};
use sylvan_testkit::cases;

/// A model that counts the words and ends that it is asked to score; a bound counts as one.
struct Asked {
    lm: HashLm,
    count: Rc<Cell<u64>>,
}

impl Asked {
    fn new(forest: &TranslationForest, order: usize, seed: u64) -> Self {
        Self { lm: HashLm::new(forest, order, seed, 1.0), count: Rc::default() }
    }

    fn one_more(&self) {
        self.count.set(self.count.get() + 1);
    }

    /// How often the model was asked during some work.
    fn during<T>(&self, work: impl FnOnce() -> T) -> (T, u64) {
        self.count.set(0);
        let done = work();
        (done, self.count.get())
    }
}

impl LanguageModel for Asked {
    type State = Context;
    fn order(&self) -> usize {
        self.lm.order()
    }
    fn begin(&self) -> Context {
        self.lm.begin()
    }
    fn null(&self) -> Context {
        self.lm.null()
    }
    fn score(&self, state: Context, word: TokenId) -> (f64, Context) {
        self.one_more();
        self.lm.score(state, word)
    }
    fn end(&self, state: Context) -> f64 {
        self.one_more();
        self.lm.end(state)
    }
    fn bounds(&self, neighbours: &Neighbours) -> Option<Box<dyn Bounds + '_>> {
        let bounds = self.lm.bounds(neighbours)?;
        Some(Box::new(AskedBounds { bounds, count: Rc::clone(&self.count) }))
    }
}

struct AskedBounds<'m> {
    bounds: Box<dyn Bounds + 'm>,
    count: Rc<Cell<u64>>,
}

impl Bounds for AskedBounds<'_> {
    fn upper_bound(&mut self, known: &[TokenId], next: Option<TokenId>) -> f64 {
        self.count.set(self.count.get() + 1);
        self.bounds.upper_bound(known, next)
    }
}

/// A two-sided model that asks for nothing twice: pieces keep the charges of their first words and the state after
/// their last one. As in an n-gram model, a side that is cut has to be scored anew.
struct Keeping<'m>(&'m Asked);

const MOST: usize = 4;

#[derive(Debug, Clone, Copy)]
struct Kept {
    /// The first words, at most `order - 1`, and what was charged for them.
    first: [TokenId; MOST],
    charged: [f64; MOST],
    open: usize,
    /// The last words, at most as many, oldest first.
    last: [TokenId; MOST],
    reach: usize,
    state: Context,
}

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        self.first() == other.first() && self.last() == other.last()
    }
}

impl Eq for Kept {}

impl std::hash::Hash for Kept {
    fn hash<H: std::hash::Hasher>(&self, hasher: &mut H) {
        (self.first(), self.last()).hash(hasher);
    }
}

impl Kept {
    fn first(&self) -> &[TokenId] {
        &self.first[..self.open]
    }

    fn last(&self) -> &[TokenId] {
        &self.last[..self.reach]
    }
}

impl Keeping<'_> {
    fn most(&self) -> usize {
        self.0.order() - 1
    }

    fn empty(&self) -> Kept {
        let none = [TokenId(0); MOST];
        Kept { first: none, charged: [0.0; MOST], open: 0, last: none, reach: 0, state: self.0.null() }
    }

    /// Scores a word behind a piece.
    fn push(&self, piece: &mut Kept, word: TokenId) -> f64 {
        let (score, state) = self.0.score(piece.state, word);
        piece.state = state;
        if piece.open < self.most() {
            (piece.first[piece.open], piece.charged[piece.open]) = (word, score);
            piece.open += 1;
        }
        let last: Vec<TokenId> = piece.last().iter().copied().chain([word]).collect();
        let last = &last[last.len().saturating_sub(self.most())..];
        piece.last[..last.len()].copy_from_slice(last);
        piece.reach = last.len();
        score
    }

    /// The change when `part` comes behind `state`, and the state behind it.
    fn charge(&self, mut state: Context, part: &Kept) -> (f64, [f64; MOST], Context) {
        let (mut change, mut charged) = (0.0, [0.0; MOST]);
        for (index, &word) in part.first().iter().enumerate() {
            let (score, next) = self.0.score(state, word);
            change += score - part.charged[index];
            charged[index] = score;
            state = next;
        }
        (change, charged, if part.open < self.most() { state } else { part.state })
    }
}

impl TwoSided for Keeping<'_> {
    type State = Kept;
    /// And whether it is whole: then what follows is seen from before it.
    type Shown = (Kept, bool);

    fn piece(&self, words: &[TokenId]) -> (f64, Kept) {
        let mut piece = self.empty();
        let score = words.iter().map(|&word| self.push(&mut piece, word)).sum();
        (score, piece)
    }

    fn join<'s>(&self, mut parts: impl Iterator<Item = &'s Kept>) -> (f64, Kept) {
        let mut whole = parts.next().copied().unwrap_or_else(|| self.empty());
        let mut total = 0.0;
        for part in parts {
            let (change, charged, state) = self.charge(whole.state, part);
            total += change;
            whole.state = state;
            for (&word, charge) in part.first().iter().zip(charged) {
                if whole.open < self.most() {
                    (whole.first[whole.open], whole.charged[whole.open]) = (word, charge);
                    whole.open += 1;
                }
            }
            let last = [whole.last(), part.last()].concat();
            let last = &last[last.len().saturating_sub(self.most())..];
            whole.last[..last.len()].copy_from_slice(last);
            whole.reach = last.len();
        }
        (total, whole)
    }

    fn begin(&self, _: &Kept) -> (f64, Kept) {
        unreachable!("no vertex of these forests is known to begin the sentence")
    }

    fn sentence(&self, piece: &Kept) -> f64 {
        let (change, _, state) = self.charge(self.0.begin(), piece);
        change + self.0.end(state)
    }

    fn without_history(&self, piece: &Kept) -> f64 {
        piece.charged[..piece.open].iter().sum()
    }

    fn open(&self, piece: &Kept) -> usize {
        piece.open
    }

    fn mark(&self, piece: &Kept, side: Side, index: usize) -> Mark {
        let word = match side {
            Side::Left => piece.first().get(index),
            Side::Right => piece.last().iter().rev().nth(index),
        };
        word.map_or(Mark::end(piece.open == self.most()), |word| Mark::word(word.0))
    }

    fn show(&self, piece: &Kept, left: usize, right: usize) -> (Kept, bool) {
        if left > piece.open && right > piece.reach {
            return (*piece, true);
        }
        let mut shown = *piece;
        if left <= piece.open {
            shown = self.piece(&piece.first()[..left]).1;
        }
        shown.state = match right > piece.reach {
            true => piece.state,
            false => self.0.run(self.0.null(), &piece.last()[piece.reach - right..]).1,
        };
        (shown, false)
    }

    fn open_shown(&self, (shown, _): &(Kept, bool)) -> usize {
        shown.open
    }

    fn estimate<'s>(&self, mut parts: impl Iterator<Item = &'s (Kept, bool)>) -> f64 {
        let Some((first, _)) = parts.next() else { return 0.0 };
        let (mut total, mut before) = (0.0, first.state);
        for (part, whole) in parts {
            let (change, _, state) = self.charge(before, part);
            total += change;
            before = if *whole { state } else { part.state };
        }
        total
    }
}

impl LanguageModel for Keeping<'_> {
    type State = Context;
    fn order(&self) -> usize {
        self.0.order()
    }
    fn begin(&self) -> Context {
        self.0.begin()
    }
    fn null(&self) -> Context {
        self.0.null()
    }
    fn score(&self, state: Context, word: TokenId) -> (f64, Context) {
        self.0.score(state, word)
    }
    fn end(&self, state: Context) -> f64 {
        self.0.end(state)
    }
    fn bounds(&self, neighbours: &Neighbours) -> Option<Box<dyn Bounds + '_>> {
        self.0.bounds(neighbours)
    }
}

const BEAMS: [Beam; 4] = [Beam(1), Beam(2), Beam(5), Beam::UNLIMITED];

#[test]
fn left_to_right_counts_every_word_that_is_scored() {
    random_problems(41, cases(500, 5_000), |problem, shown, rng| {
        let forest = &problem.forest;
        let lm = Asked::new(forest, 1 + rng.below(4), rng.next_u64());
        for beam in BEAMS {
            let all = Limits::beam(beam);
            let in_bins = Limits { goals: Goals::InBins, ..all };
            for limits in [all, Limits::usual(beam), Limits::grids(beam, 7), in_bins] {
                for future in [Future::Inside, Future::Rough, Future::None] {
                    let config = Incremental::from(future);
                    let (found, asked) = lm.during(|| incremental(forest, &lm, limits, config));
                    let Some(found) = found else { continue };
                    assert_eq!(
                        found.counters.lm_queries, asked,
                        "incremental, {limits:?}, {future:?}: {shown}"
                    );
                }
                for future in [true, false] {
                    let config = Prediction { future, ..Prediction::default() };
                    let (found, asked) = lm.during(|| prediction(forest, &lm, limits, config));
                    let Some(found) = found else { continue };
                    assert_eq!(found.counters.lm_queries, asked, "prediction, {limits:?}, {future}: {shown}");
                }
            }
        }
    });
}

#[test]
fn bottom_up_counts_every_word_that_is_scored() {
    let mut joints = 0;
    random_problems(42, cases(1_000, 10_000), |problem, shown, rng| {
        let forest = &problem.forest;
        let lm = Asked::new(forest, 1 + rng.below(4), rng.next_u64());
        let two_sided = Keeping(&lm);
        for beam in BEAMS {
            let (found, asked) = lm.during(|| cube_pruning(forest, &two_sided, Cube::new(beam)));
            let Some(found) = found else { return };
            assert_eq!(found.counters.lm_queries, asked, "cube, {beam:?}: {shown}");
            let plain = Cube { plain: true, boundary: BoundaryEstimate::None, ..Cube::new(beam) };
            let (found, plainly) = lm.during(|| cube_pruning(forest, &two_sided, plain));
            assert_eq!(found.unwrap().counters.lm_queries, plainly, "plain, {beam:?}: {shown}");
            let pieces: u64 =
                (0..forest.bundle_count() as u32).map(|b| forest.bundle(BundleId(b)).len() as u64).sum();
            joints += u64::from(asked > pieces + 1);
            // A group is shown once, and at most the words known of its two sides are scored.
            let (found, asked) = lm.during(|| refine(forest, &two_sided, beam));
            assert_eq!(found.unwrap().counters.lm_queries, asked, "refine, {beam:?}: {shown}");
        }
    });
    assert!(joints > 1_000, "{joints} searches scored anything at a joint");
}

#[test]
fn every_search_counts_by_its_name() {
    let mut work = WorkspaceOf::<Keeping<'_>>::default();
    random_problems(45, cases(500, 5_000), |problem, shown, rng| {
        let asked = Asked::new(&problem.forest, 1 + rng.below(4), rng.next_u64());
        let lm = Keeping(&asked);
        for search in SearchName::ON_FORESTS.map(|name| Search::named(name).with_beam(1 + rng.below(5))) {
            let (found, asked) = asked.during(|| search.run(&problem.forest, Run::new(&lm), &mut work));
            let Some(found) = found else { continue };
            assert_eq!(found.best.counters.lm_queries, asked, "{search}: {shown}");
        }
    });
}

#[test]
fn what_was_found_says_how_sure_it_is() {
    let mut work = WorkspaceOf::<Keeping<'_>>::default();
    let past = Instant::now() - Duration::from_secs(1);
    let due = Stop { deadline: Some(past), ..Stop::NEVER };
    let cancelled = Stop { cancel: Some(Arc::new(AtomicBool::new(true))), ..Stop::NEVER };
    let mut found = 0;
    random_problems(46, cases(100, 1_000), |problem, shown, rng| {
        let asked = Asked::new(&problem.forest, 1 + rng.below(3), rng.next_u64());
        let lm = Keeping(&asked);
        for name in SearchName::ALL {
            let (search, out_forest) = (Search::named(name), rng.chance(0.5));
            let mut with = |stop: &Stop| {
                search.run(&problem.forest, Run { stop, out_forest, ..Run::new(&lm) }, &mut work)
            };
            let is_exact = name == SearchName::Exact;
            assert!(with(&cancelled).is_none(), "{name}: {shown}");
            let Some(calm) = with(&Stop::NEVER) else { continue };
            assert_eq!((calm.cut_short, calm.out.is_some()), (false, out_forest), "{name}: {shown}");
            assert_eq!(calm.gap, is_exact.then_some(0.0), "{name}: {shown}");
            let hurried = with(&due).unwrap();
            assert!(hurried.cut_short || is_exact, "{name}: {shown}");
            assert_eq!(hurried.gap.is_some(), is_exact);
            assert!(hurried.best.score <= calm.best.score + 1e-9 || !is_exact);
            found += 1;
        }
    });
    assert!(found > 200, "{found} answers");
}

#[test]
fn the_first_part_of_a_rule_costs_nothing() {
    // One rule over two words: the words once without history, "b" again after "a", both again after <s>, and </s>.
    let problem = common::Problem::new(
        "(S (A a) (B b))",
        &[("", "S(x1:A x2:B) -> x1 x2", -0.1), ("", "A(a) -> a", -0.1), ("", "B(b) -> b", -0.1)],
    );
    let lm = Asked::new(&problem.forest, 3, 1);
    let found = cube_pruning(&problem.forest, &Keeping(&lm), Cube::new(Beam(10))).unwrap();
    assert_eq!(found.counters.lm_queries, 2 + 1 + 2 + 1);
    let found = refine(&problem.forest, &Keeping(&lm), Beam(10)).unwrap();
    assert_eq!(found.counters.lm_queries, 2 + 1 + 2 + 1);
    // From left to right: both words without history for the estimate, both with it, and </s>.
    let found = incremental(&problem.forest, &lm, Beam(10), Future::Inside).unwrap();
    assert_eq!(found.counters.lm_queries, 2 + 2 + 1);
    let found = prediction(&problem.forest, &lm, Beam(10), Prediction::default()).unwrap();
    assert_eq!(found.counters.lm_queries, 2 + 2 + 1);
}

#[test]
fn boundary_words_repeat_themselves_within_bounds() {
    // Per joint, the history is run for its state (at most order - 1 words) and the words once more without it.
    random_problems(43, cases(500, 5_000), |problem, shown, rng| {
        let forest = &problem.forest;
        let lm = Asked::new(forest, 1 + rng.below(4), rng.next_u64());
        let (plain, keeping) = (BoundaryWords::new(&lm), Keeping(&lm));
        let empty = |&target: &Target| target == Target::Bundle(BundleId::EMPTY);
        let silent = forest.edge_ids().any(|edge| forest.target(edge).iter().any(empty));
        for beam in BEAMS {
            let (found, asked) = lm.during(|| cube_pruning(forest, &plain, Cube::new(beam)));
            let Some(found) = found else { return };
            let counted = found.counters.lm_queries;
            let same = cube_pruning(forest, &keeping, Cube::new(beam)).unwrap();
            assert_eq!(counted, same.counters.lm_queries, "counted as if nothing were repeated: {shown}");
            assert!(asked <= (lm.order() as u64 + 1) * counted, "{asked} for {counted}: {shown}");
            // Behind a piece without words nothing is scored, but it is counted.
            assert!(asked >= counted || silent, "{asked} for {counted}: {shown}");
        }
    });
}

#[test]
fn exact_search_counts_its_bounds_and_scores() {
    let mut looked = 0;
    random_problems(44, cases(500, 5_000), |problem, shown, rng| {
        let forest = &problem.forest;
        let lm = Asked::new(forest, 1 + rng.below(4), rng.next_u64());
        let Some(start) = cube_pruning(forest, &Keeping(&lm), Cube::new(Beam(1))) else { return };
        let (found, asked) = lm.during(|| {
            exact(forest, &lm, Some(start.derivation.clone()), Effort::UNLIMITED, &mut || false).unwrap()
        });
        assert_eq!(found.best.unwrap().counters.lm_queries, asked, "{shown}");
        looked += usize::from(asked > 20);
    });
    assert!(looked > 100, "{looked} problems had anything to prove");
}
