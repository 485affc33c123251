//! Phrase-based decoding: phrases in any order within a limit, one stack per number of translated words (Koehn 2004).
//!
//! ```text
//! item      <C, [a,b), rho> : w     C the source words translated, [a,b) the phrase before, rho the target words so far
//!
//! axiom     <{}, [0,0), <s>> : 0
//!
//! extend    <C, [a,b), rho> : w           p a phrase over [i,j), none of it in C, |i - b| within the limit
//!           --------------------------------------------------------------------------------------------
//!           <C + [i,j), [i,j), rho p> : w + score(p) + lm(p | rho) + jump(b, i) + orientations
//!
//! goal      <all words, .., rho> : w + lm(</s> | rho)
//! ```
//!
//! Options are the edges without tails of any forest over spans, so a chart of phrase pairs serves this search and all
//! others: they translate it in source order, and with a limit of 0 so does this one. What another order costs is said
//! by the forest ([`Reordering`](sylvan_forest::Reordering)). Items are ranked with the future costs of their gaps.
//!
//! | here | Moses |
//! |---|---|
//! | a bin | a stack |
//! | [`Stacks::limit`] | `-distortion-limit` |
//! | the beam | `-stack` |
//! | pops | `-cube-pruning-pop-limit` with `-search-algorithm 1` |

mod coverage;
mod future;
mod order;

use coverage::{CoverageId, Coverages};
pub(crate) use future::FutureCosts;
use order::{Blocks, after_block, is_within, jump};
pub use order::{Placed, placed};
use sylvan_base::{HashMap, IndexVec, Span};
use sylvan_forest::{BundleId, EdgeId, Neighbour, Orientation, Target, TranslationForest, VertexId};

use crate::deduction::{
    Application, Charge, Choice, ClassId, Deduction, EdgeOrder, ItemId, ListId, Successor, Worth,
};
use crate::engine::{Completed, Engine, Limits, OnVisit, Run, Visit};
use crate::{LanguageModel, Outcome, orientation};

/// Settings of phrase-based decoding besides its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stacks {
    /// How many source words may be jumped over between neighbouring phrases; `None` is any number. Where nothing can be
    /// completed within the limit, it is raised by 2 until something is.
    pub limit: Option<u32>,
    /// How many phrases of a place are tried: the best by what they score alone.
    pub options: usize,
    /// Whether items are ranked with the future costs of their gaps.
    pub future: bool,
}

impl Stacks {
    /// The default limit.
    pub const USUAL_LIMIT: u32 = 10;
    /// The default number of options.
    pub const USUAL_OPTIONS: usize = 20;

    /// Any order, every phrase: the whole space.
    pub const WHOLE: Self = Self { limit: None, options: usize::MAX, future: true };
}

impl Default for Stacks {
    fn default() -> Self {
        Self { limit: Some(Self::USUAL_LIMIT), options: Self::USUAL_OPTIONS, future: true }
    }
}

/// A place that phrases translate.
#[derive(Debug)]
struct Place {
    span: Span,
    /// Its phrases, and what each scores alone, best first.
    phrases: Vec<(EdgeId, f64)>,
}

/// All that decides an item's future, except the words' state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Item {
    coverage: CoverageId,
    /// The phrase before; empty at the start. Where no orientation counts, its end alone.
    before: Span,
    /// What the phrase before thinks of the next one: a number of distinct scores.
    after: u32,
    /// The blocks so far, if they count.
    blocks: u32,
}

/// The deduction.
#[derive(Debug)]
pub struct PhraseBased<'f> {
    forest: &'f TranslationForest,
    config: Stacks,
    length: u32,
    places: Vec<Place>,
    /// By source word: the places that begin there.
    beginning: Vec<std::ops::Range<usize>>,
    futures: FutureCosts,
    coverages: Coverages,
    per_word: f64,
    oriented: Option<Neighbour>,
    /// By edge: the number of its scores towards what comes after it.
    after_of: Vec<u32>,
    afters: Vec<[f64; 3]>,
    blocks: Blocks,
    items: IndexVec<ItemId, Item>,
    index: HashMap<Item, ItemId>,
    /// Words scored to set it up.
    lm_queries: u64,
}

impl<'f> PhraseBased<'f> {
    /// The deduction over a forest; `None` if its phrases do not cover the input.
    pub fn new<L: LanguageModel>(forest: &'f TranslationForest, lm: &L, config: Stacks) -> Option<Self> {
        let length = forest.span(forest.goal()).end;
        let (mut local, mut lm_queries) = (Vec::with_capacity(forest.bundle_count()), 0);
        for bundle in (0..forest.bundle_count() as u32).map(BundleId) {
            lm_queries += forest.bundle(bundle).len() as u64;
            local.push(lm.local(forest.bundle(bundle)));
        }
        let alone = |edge: EdgeId| {
            let words = words_of(forest, edge).map(|bundle| local[bundle.0 as usize]);
            forest.outlook(edge) + words.sum::<f64>()
        };
        let place = |vertex: VertexId| {
            let mut phrases: Vec<(EdgeId, f64)> =
                phrases(forest, vertex).map(|edge| (edge, alone(edge))).collect();
            let content = |edge: EdgeId| (forest.edge(edge).spec.hash, edge);
            phrases
                .sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| content(a.0).cmp(&content(b.0))));
            phrases.truncate(config.options.max(1));
            (!phrases.is_empty()).then(|| Place { span: forest.span(vertex), phrases })
        };
        let mut places: Vec<Place> = forest.vertices().filter_map(place).collect();
        places.sort_by_key(|place| (place.span.start, place.span.end));
        let mut beginning = vec![0..0; length as usize];
        for (number, place) in places.iter().enumerate() {
            let range = &mut beginning[place.span.start as usize];
            *range = if range.end == 0 { number } else { range.start }..number + 1;
        }
        let mut best: Vec<(Span, f64)> =
            places.iter().map(|place| (place.span, place.phrases[0].1)).collect();
        best.sort_by_key(|(span, _)| (span.end, span.start));
        let mut reached = vec![false; length as usize + 1];
        reached[0] = true;
        for (span, _) in &best {
            reached[span.end as usize] |= reached[span.start as usize];
        }
        if !reached[length as usize] {
            return None;
        }
        let futures =
            if config.future { FutureCosts::new(length as usize, &best) } else { FutureCosts::none() };
        let reordering = forest.reordering();
        let own = |neighbour| matches!(neighbour, Neighbour::Phrase | Neighbour::Block);
        // Other orientations are those of a step model.
        let oriented = reordering.filter(|reordering| reordering.is_oriented() && own(reordering.neighbour));
        let mut new = Self {
            forest,
            config,
            length,
            places,
            beginning,
            coverages: Coverages::new(length, &futures),
            futures,
            per_word: reordering.map_or(0.0, |reordering| reordering.per_word),
            oriented: oriented.map(|reordering| reordering.neighbour),
            after_of: Vec::new(),
            afters: vec![[0.0; 3]],
            blocks: Blocks::default(),
            items: IndexVec::new(),
            index: HashMap::default(),
            lm_queries,
        };
        new.number_afters();
        Some(new)
    }

    /// Phrases that think the same of what comes after them recombine.
    fn number_afters(&mut self) {
        if self.oriented.is_none() {
            return;
        }
        let mut numbers: HashMap<[u64; 3], u32> = HashMap::default();
        numbers.insert([0; 3], 0);
        for edge in self.forest.edge_ids() {
            let after = self.forest.orientations(edge).after;
            let number = *numbers.entry(after.map(|score| (score + 0.0).to_bits())).or_insert_with(|| {
                self.afters.push(after);
                (self.afters.len() - 1) as u32
            });
            self.after_of.push(number);
        }
    }

    fn intern(&mut self, item: Item) -> ItemId {
        let items = &mut self.items;
        *self.index.entry(item).or_insert_with(|| items.push(item))
    }

    fn span(&self, edge: EdgeId) -> Span {
        self.forest.span(self.forest.edge(edge).head)
    }

    fn is_complete(&self, item: &Item) -> bool {
        self.coverages.covered(item.coverage) == self.length
    }

    /// How the next phrase lies to what is before it, and what the order adds apart from the phrase's own view of it.
    #[inline]
    fn reorder(&self, item: &Item, next: Span) -> (Orientation, f64) {
        let jumps = self.per_word * f64::from(jump(item.before.end, next));
        let Some(neighbour) = self.oriented else { return (Orientation::Mono, jumps) };
        let is_first = item.coverage == Coverages::NONE;
        let (before, after) = match neighbour {
            Neighbour::Phrase | Neighbour::Recent | Neighbour::Late if is_first => {
                (Orientation::of_first(next), None)
            }
            Neighbour::Phrase | Neighbour::Recent | Neighbour::Late => {
                let both = Orientation::of(item.before, next);
                (both, Some(both))
            }
            Neighbour::Block => {
                let is_open = |position| {
                    self.coverages.is_open(item.coverage, position)
                        && !next.range().contains(&(position as usize))
                };
                let after = (!is_first).then(|| after_block(item.before, next, is_open));
                (self.blocks.orientation(item.blocks, next), after)
            }
        };
        (before, jumps + after.map_or(0.0, |after| self.afters[item.after as usize][after as usize]))
    }

    /// The score of a step apart from its words, without the future.
    fn charge(&self, item: &Item, edge: EdgeId) -> f64 {
        let (before, order) = self.reorder(item, self.span(edge));
        self.forest.edge(edge).spec.score + order + self.towards_before(edge, before)
    }

    fn towards_before(&self, edge: EdgeId, before: Orientation) -> f64 {
        if self.oriented.is_none() { 0.0 } else { self.forest.orientations(edge).before[before as usize] }
    }

    /// Which source words an item has translated.
    fn covered(&self, item: ItemId) -> Vec<bool> {
        let coverage = self.items[item].coverage;
        (0..self.length).map(|position| !self.coverages.is_open(coverage, position)).collect()
    }
}

/// The edges of a vertex that are phrases.
fn phrases(forest: &TranslationForest, vertex: VertexId) -> impl Iterator<Item = EdgeId> + '_ {
    forest.edges(vertex).filter(|&edge| forest.tails(edge).next().is_none())
}

fn words_of(forest: &TranslationForest, edge: EdgeId) -> impl Iterator<Item = BundleId> + '_ {
    forest.target(edge).iter().filter_map(|symbol| match symbol {
        Target::Bundle(bundle) => Some(*bundle),
        Target::Vertex(_) => None,
    })
}

/// How many orientations there are.
const ORIENTATIONS: u32 = 3;

impl Deduction for PhraseBased<'_> {
    type Forest = TranslationForest;

    fn forest(&self) -> &TranslationForest {
        self.forest
    }

    fn axiom(&mut self) -> ItemId {
        let before = Span { start: 0, end: 0 };
        self.intern(Item { coverage: Coverages::NONE, before, after: 0, blocks: Blocks::EMPTY })
    }

    fn bins(&self) -> usize {
        self.length as usize + 1
    }

    fn bin(&self, item: ItemId) -> usize {
        self.coverages.covered(self.items[item].coverage) as usize
    }

    fn class(&self, item: ItemId) -> Option<ClassId> {
        (!self.is_complete(&self.items[item])).then_some(ClassId(item.0))
    }

    fn future(&self, item: ItemId) -> f64 {
        self.coverages.future(self.items[item].coverage)
    }

    /// One list for each place that may come next, in the orientation that it then has.
    fn lists(&mut self, class: ClassId, out: &mut Vec<(ListId, f64)>) {
        let item = self.items[ItemId(class.0)];
        let gaps = self.coverages.gaps(item.coverage);
        let Some(first) = gaps.first() else { return };
        // What the limit allows at all, so that a step costs the same in sentences of any length.
        let end = item.before.end as usize;
        let (nearest, farthest) = self.config.limit.map_or((0, usize::MAX), |limit| {
            (end.saturating_sub(limit as usize), end.saturating_add(limit as usize))
        });
        let within =
            |gap: std::ops::Range<usize>| gap.start.max(nearest)..gap.end.min(farthest.saturating_add(1));
        for gap in gaps {
            for start in within(gap.range()) {
                for number in self.beginning[start].clone() {
                    let span = self.places[number].span;
                    if span.end > gap.end {
                        break;
                    }
                    if !is_within(self.config.limit, first.start, item.before.end, span) {
                        continue;
                    }
                    let future = self.coverages.future_with(item.coverage, span, &self.futures);
                    if future == f64::NEG_INFINITY {
                        continue;
                    }
                    let (before, order) = self.reorder(&item, span);
                    out.push((ListId(number as u32 * ORIENTATIONS + before as u32), order + future));
                }
            }
        }
    }

    fn options(&mut self, list: ListId, out: &mut Vec<Choice>) {
        let Place { span, phrases } = &self.places[(list.0 / ORIENTATIONS) as usize];
        let orientation = match list.0 % ORIENTATIONS {
            0 => Orientation::Mono,
            1 => Orientation::Swap,
            _ => Orientation::Disc,
        };
        for &(edge, alone) in phrases {
            // Estimates may see less than the score, which counts here.
            let score = alone - self.forest.outlook(edge) + self.forest.edge(edge).spec.score;
            out.push(Choice {
                id: edge.0,
                estimate: score + self.towards_before(edge, orientation),
                advance: span.end - span.start,
                exactly: true,
            });
        }
    }

    fn emit(&self, item: ItemId, choice: u32, bundles: &mut Vec<BundleId>) -> f64 {
        let (item, edge) = (self.items[item], EdgeId(choice));
        bundles.extend(words_of(self.forest, edge));
        let span = self.span(edge);
        if self.coverages.covered(item.coverage) + (span.end - span.start) == self.length {
            return f64::INFINITY;
        }
        self.charge(&item, edge) + self.coverages.future_with(item.coverage, span, &self.futures)
    }

    fn apply(&mut self, item: ItemId, choice: u32, _worth: &Worth<'_>, out: &mut Application) {
        let (from, edge) = (self.items[item], EdgeId(choice));
        let (span, score) = (self.span(edge), self.charge(&from, edge));
        let coverage = self.coverages.with(from.coverage, span, &self.futures);
        let order_counts = self.per_word != 0.0 || self.config.limit.is_some();
        let next = match self.oriented {
            None => {
                let end = if order_counts { span.end } else { 0 };
                Item { coverage, before: Span { start: end, end }, after: 0, blocks: Blocks::EMPTY }
            }
            Some(neighbour) => {
                let blocks = match neighbour {
                    Neighbour::Phrase | Neighbour::Recent | Neighbour::Late => Blocks::EMPTY,
                    Neighbour::Block => self.blocks.push(from.blocks, span),
                };
                Item { coverage, before: span, after: self.after_of[edge.0 as usize], blocks }
            }
        };
        let item = self.intern(next);
        out.trail.push(Charge { edge, after: None });
        out.successors.push(Successor { item, score, charged: Some(0) });
    }

    fn order(&self) -> EdgeOrder {
        EdgeOrder::HeadsFirst
    }

    fn frontier(&self, item: ItemId, out: &mut Vec<Span>) {
        out.extend_from_slice(self.coverages.gaps(self.items[item].coverage));
    }
}

/// An item as a trace shows it.
#[derive(Debug, Clone)]
pub struct StackStep {
    /// The item in general.
    pub visit: Visit,
    /// Which source words are translated.
    pub covered: Vec<bool>,
}

/// The best derivation that phrase-based search finds: a chain of phrases in target order; `None` if there is none.
pub fn stacks<L: LanguageModel>(
    forest: &TranslationForest,
    lm: &L,
    limits: impl Into<Limits>,
    config: Stacks,
) -> Option<Outcome> {
    search(&mut Engine::default(), forest, Run::new(lm), limits.into(), config, None).map(Outcome::from)
}

/// Phrase-based search in full: with a step model, reused memory and everything that was found.
pub fn search<L: LanguageModel>(
    engine: &mut Engine<L::State>,
    forest: &TranslationForest,
    run: Run<'_, L>,
    limits: Limits,
    config: Stacks,
    on_step: Option<&mut dyn FnMut(&StackStep)>,
) -> Option<Completed> {
    let Run { lm, steps, out_forest, show_dropped, stop } = run;
    orientation::with_own(forest, steps, |steps| {
        let steps = steps.map(|steps| steps as _);
        let run = Run { lm, steps, out_forest, show_dropped, stop };
        within_limits(engine, forest, run, limits, config, on_step)
    })
}

/// Raises the distortion limit until something is found.
fn within_limits<L: LanguageModel>(
    engine: &mut Engine<L::State>,
    forest: &TranslationForest,
    run: Run<'_, L>,
    limits: Limits,
    mut config: Stacks,
    on_step: Option<&mut dyn FnMut(&StackStep)>,
) -> Option<Completed> {
    let Run { lm, mut steps, out_forest, show_dropped, stop } = run;
    let mut visits = Vec::new();
    loop {
        let mut deduction = PhraseBased::new(forest, lm, config)?;
        visits.clear();
        let mut on_visit = |visit: &Visit| visits.push(visit.clone());
        let on_visit: OnVisit<'_> = if on_step.is_some() { Some(&mut on_visit) } else { None };
        let steps = steps.as_deref_mut().map(|steps| steps as _);
        let run = Run { lm, steps, out_forest, show_dropped, stop };
        match (engine.search(run, &mut deduction, limits, on_visit), config.limit) {
            (Some(mut found), _) => {
                found.counters.lm_queries += deduction.lm_queries;
                if let Some(on_step) = on_step {
                    for visit in visits {
                        let covered = deduction.covered(visit.item);
                        on_step(&StackStep { visit, covered });
                    }
                }
                return Some(found);
            }
            // Phrases may have been put so that no way back is short enough.
            (None, Some(limit)) if limit < deduction.length && !stop.is_cancelled() => {
                config.limit = Some(limit + 2);
            }
            (None, _) => return None,
        }
    }
}
