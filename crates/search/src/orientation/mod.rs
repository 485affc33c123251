//! Lexicalised reordering for rules with gaps, as step models of left-to-right search (Siahbani & Sarkar 2017).
//!
//! A step translates the words of one rule. How they lie to what was translated before is the step's *orientation*, and
//! each rule says what it thinks of the three ([`Orientations`]): of its own towards what is before, and of the next
//! step's towards it.
//!
//! | model | seen against | counted |
//! |---|---|---|
//! | [`Recent`] | the span translated most recently, and within a hole of it the rule before | at once |
//! | [`Late`] | the rule before | when the smallest rule that holds both is complete |

mod late;
mod recent;

pub use late::Late;
pub use recent::Recent;
use sylvan_base::{HashMap, Span};
use sylvan_forest::{Derivation, EdgeId, Neighbour, Orientation, Orientations, TranslationForest, own_words};

use crate::step_model::{StepModel, StepModels};

/// The step model that a forest's orientations ask for; none where it has none or a deduction knows them itself.
fn model(forest: &TranslationForest) -> Option<Box<dyn StepModel + '_>> {
    let reordering = forest.reordering().filter(|reordering| reordering.is_oriented())?;
    match reordering.neighbour {
        Neighbour::Recent => Some(Box::new(Recent::new(forest))),
        Neighbour::Late => Some(Box::new(Late::new(forest))),
        Neighbour::Phrase | Neighbour::Block => None,
    }
}

/// Searches with the forest's own step model besides one that is given.
pub(crate) fn with_own<R>(
    forest: &TranslationForest,
    given: Option<&mut dyn StepModel>,
    search: impl FnOnce(Option<&mut dyn StepModel>) -> R,
) -> R {
    match (given, model(forest)) {
        (given, None) => search(given),
        (None, Some(mut own)) => search(Some(&mut *own)),
        (Some(given), Some(own)) => {
            let both: Vec<Box<dyn StepModel + '_>> = vec![Box::new(given), own];
            search(Some(&mut StepModels::new(both)))
        }
    }
}

/// The source words that a rule itself translates: runs in source order, of which a rule has few.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Words {
    runs: [Span; RUNS],
    count: u8,
}

/// Rules with two gaps have at most three runs. Of what has more, the last run stretches over the rest.
const RUNS: usize = 3;

impl Words {
    /// Before the first word.
    const START: Self = Self { runs: [Span { start: 0, end: 0 }; RUNS], count: 0 };

    /// Those of an edge; nothing if it has none, as glue that only joins parts.
    fn of(forest: &TranslationForest, edge: EdgeId) -> Option<Self> {
        let gaps: Vec<Span> = forest.tails(edge).map(|tail| forest.span(tail)).collect();
        let mut words = Self::START;
        own_words(forest.span(forest.edge(edge).head), &gaps, |run| {
            let place = usize::from(words.count).min(RUNS - 1);
            let start = if place < usize::from(words.count) { words.runs[place].start } else { run.start };
            words.runs[place] = Span { start, end: run.end };
            words.count = place as u8 + 1;
        });
        (words.count > 0).then_some(words)
    }

    fn runs(&self) -> &[Span] {
        &self.runs[..usize::from(self.count)]
    }

    /// Where the first run begins.
    fn start(&self) -> u32 {
        self.runs[0].start
    }

    /// Where the last run ends.
    fn end(&self) -> u32 {
        self.runs().last().map_or(0, |run| run.end)
    }

    fn extent(&self) -> Span {
        Span { start: self.start(), end: self.end() }
    }

    /// Whether a run ends right before a word.
    fn ends_at(&self, start: u32) -> bool {
        // The place before the sentence is one, too.
        if self.count == 0 { start == 0 } else { self.runs().iter().any(|run| run.end == start) }
    }

    /// Whether a run begins at a word.
    fn begins_at(&self, end: u32) -> bool {
        self.runs().iter().any(|run| run.start == end)
    }
}

/// A rule with words.
#[derive(Debug, Clone, Copy)]
struct Rule {
    words: Words,
    /// What it thinks of its own step.
    before: [f64; 3],
    /// What it thinks of the next one: a number of [`Oriented::afters`].
    after: u32,
}

/// What edges are made of, looked up once per sentence.
#[derive(Debug)]
struct Oriented<'f> {
    forest: &'f TranslationForest,
    rules: Vec<Option<Option<Rule>>>,
    /// What rules think of the next step: equal ones have one number, 0 says nothing.
    afters: Vec<[f64; 3]>,
    after_of: HashMap<[u64; 3], u32>,
    edges: usize,
}

impl<'f> Oriented<'f> {
    fn new(forest: &'f TranslationForest) -> Self {
        let edges = forest.edge_ids().len();
        let mut after_of = HashMap::default();
        after_of.insert([0; 3], 0);
        Self { forest, rules: vec![None; edges], afters: vec![[0.0; 3]], after_of, edges }
    }

    /// The rule of a step. Of all edges that a step charges, one has words of its own; glue that is made on demand is no
    /// edge of the forest and has none.
    fn rule(&mut self, edges: &[EdgeId]) -> Option<Rule> {
        let most = self.edges;
        for edge in edges.iter().copied().filter(|edge| (edge.0 as usize) < most) {
            let rule = match self.rules[edge.0 as usize] {
                Some(known) => known,
                None => self.look_up(edge),
            };
            if rule.is_some() {
                return rule;
            }
        }
        None
    }

    fn look_up(&mut self, edge: EdgeId) -> Option<Rule> {
        let rule = Words::of(self.forest, edge).map(|words| {
            let Orientations { before, after } = self.forest.orientations(edge);
            let bits = after.map(|score| (score + 0.0).to_bits());
            let afters = &mut self.afters;
            let after = *self.after_of.entry(bits).or_insert_with(|| {
                afters.push(after);
                (afters.len() - 1) as u32
            });
            Rule { words, before, after }
        });
        self.rules[edge.0 as usize] = Some(rule);
        rule
    }

    fn length(&self) -> u32 {
        self.forest.span(self.forest.goal()).end
    }
}

/// One step of a finished derivation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrientedStep {
    /// Its edge, by place in the derivation.
    pub place: usize,
    /// How its words lie to what is before.
    pub before: Orientation,
    /// How the next step lies to it; for the last step, how the end does.
    pub after: Orientation,
    /// Where the span translated most recently begins and ends after it; from -1 if it holds the beginning.
    pub recent: (i64, i64),
}

/// The orientations of a finished derivation, from the positions that are translated and nothing else.
pub fn oriented(
    forest: &TranslationForest,
    derivation: &Derivation,
    neighbour: Neighbour,
) -> Vec<OrientedStep> {
    let steps: Vec<(usize, Words)> = derivation
        .edges()
        .iter()
        .enumerate()
        .filter_map(|(place, &edge)| Some((place, Words::of(forest, edge)?)))
        .collect();
    let positions = |words: &Words| -> Vec<i64> {
        words.runs().iter().flat_map(|run| i64::from(run.start)..i64::from(run.end)).collect()
    };
    let length = i64::from(forest.span(forest.goal()).end);
    let of: Vec<Vec<i64>> = steps.iter().map(|(_, words)| positions(words)).collect();
    let ends = |own: &[i64]| (own.first().copied().unwrap_or(-1), own.last().copied().unwrap_or(-1));
    let mut recent = (-1, -1);
    let mut found = Vec::new();
    for (number, own) in of.iter().enumerate() {
        let (first, last) = ends(own);
        let previous: &[i64] = number.checked_sub(1).map_or(&[-1], |previous| &of[previous]);
        let inside = recent.0 <= first && last <= recent.1;
        let before = match neighbour {
            Neighbour::Recent if first == recent.1 + 1 => Orientation::Mono,
            Neighbour::Recent if last == recent.0 - 1 => Orientation::Swap,
            Neighbour::Recent if previous.contains(&(first - 1)) => Orientation::Mono,
            Neighbour::Recent if previous.contains(&(last + 1)) => Orientation::Swap,
            Neighbour::Recent => Orientation::Disc,
            _ => side_by_side(ends(previous), (first, last)),
        };
        recent = if first == recent.1 + 1 {
            (recent.0, last)
        } else if last == recent.0 - 1 {
            (first, recent.1)
        } else if inside {
            recent
        } else {
            (first, last)
        };
        let after = match of.get(number + 1) {
            None if last == length - 1 => Orientation::Mono,
            None => Orientation::Disc,
            Some(next) => {
                let next = ends(next);
                let is_open = |position: i64| !of[..=number].iter().any(|done| done.contains(&position));
                match (side_by_side((first, last), next), neighbour) {
                    (Orientation::Disc, Neighbour::Recent) if next.0 > last && is_open(last + 1) => {
                        Orientation::Mono
                    }
                    (Orientation::Disc, Neighbour::Recent) if next.1 < first && is_open(first - 1) => {
                        Orientation::Swap
                    }
                    (orientation, _) => orientation,
                }
            }
        };
        found.push(OrientedStep { place: steps[number].0, before, after, recent });
    }
    found
}

/// First and last words of two steps, one after the other.
fn side_by_side(before: (i64, i64), next: (i64, i64)) -> Orientation {
    if next.0 == before.1 + 1 {
        Orientation::Mono
    } else if next.1 == before.0 - 1 {
        Orientation::Swap
    } else {
        Orientation::Disc
    }
}
