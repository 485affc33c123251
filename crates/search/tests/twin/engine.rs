//! The engine of left-to-right search once more, in the plainest words: a slow twin that must keep the same items at
//! every beam, margin and number of pops.
//!
//! An item is a stack with everything that led to it: all target words and all edges charged, each in a list of its
//! own. Nothing is shared, numbered or remembered; scores are computed from these lists each time. The definitions:
//!
//! - *Score* of an item: the scores of its edges and the model's score of its words after `<s>`. *Merit*: score and
//!   future. *Content*: the fold over the hashes of its edges in the order in which they were charged.
//! - *Order* of items: higher merit, then smaller content, then the one that was made first in its bin. An item that
//!   takes the place of another, or of one that was dropped, counts as made when that one was.
//! - *Recombination*: two items of a bin are the same if their signatures and model states are. Of a waiting item and
//!   a new one the one with the higher score, then with the smaller content, stays. A new item is nothing new if the
//!   same one was expanded with at least its score; if it is better, it waits beside it and is expanded too. If the
//!   same one was dropped, the better of the two waits in its place.
//! - *Rounds*: a round takes all items that wait in a bin; the best `beam` of them are expanded, the others are
//!   dropped. What expansion brings back into the bin waits for the next round. A bin ends with its first empty round.
//! - *Bar*: whenever `max(2 * beam, 32)` items wait in a bin, it is looked over: the best `beam` stay, the others are
//!   dropped, and the merit of the worst that stays is the bin's bar until its next round begins. Before that there is
//!   none. Items whose merit is below the bar of their bin are turned away; complete items never are.
//! - *Cells*: an expanded item and one of its options. Survivors best first, and of each the options by how far they
//!   lead, then best estimate first. A cell's value is score, rest and the option's estimate; it is left out if that is
//!   below the bar, at this moment, of the bin that the option leads to by more than the margin.
//! - *Pops*: with a limit on them there is no margin. The cells of a round are taken by value, then by the content of
//!   their items, then by the place of the item, then by the place of the option among those that lead equally far,
//!   then by how far it leads, until there are `pops`. Places of items: classes in the order of their best items;
//!   in a class by score and rest, then content, then age.
//! - *Diversity*: if it is not 0, cells are not taken in the order of their values. A grid is the items of one class and
//!   their options that lead equally far. In the queue are at first the best cells of each grid, as many as the diversity
//!   says; when one is taken, the next option of its item joins them, and after an item's first option also the next
//!   item's first, unless they were there at first. They are taken by the merit of the item that they lead to; if that is
//!   complete, by the value of the cell; ties as above.
//! - *Work*: after a round that ends with at least `work` cells tried since the start, rounds keep one item each.
//! - *Complete* items compete in no bin, or, if they are in bins, like others, with the score of `</s>` less what it
//!   would be without history, which the others' futures leave out; those that survive are the answers. The best is that
//!   with the highest score, `</s>` included, then the smallest content.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::Debug;

use sylvan_base::hash::fold;
use sylvan_forest::{EdgeId, TokenId, TranslationForest};
use sylvan_search::{Goals, LanguageModel, Limits};

/// What makes a left-to-right decoder: its stacks, and where they lead.
pub trait Decoder {
    type Stack: Clone + Debug;
    /// What of a stack decides its future.
    type Signature: Ord + Debug;
    /// What of a stack decides its options.
    type Class: Ord;
    type Move: Clone + Debug;

    fn axiom(&self) -> Self::Stack;
    fn is_complete(&self, stack: &Self::Stack) -> bool;
    fn signature(&self, stack: &Self::Stack) -> Self::Signature;
    fn class(&self, stack: &Self::Stack) -> Self::Class;
    /// The bin of an item with this stack and these edges.
    fn bin(&self, stack: &Self::Stack, edges: &[EdgeId]) -> usize;
    /// The estimate of all that a stack lacks.
    fn future(&self, stack: &Self::Stack) -> f64;
    /// The part of it that does not depend on the next option.
    fn rest(&self, stack: &Self::Stack) -> f64;
    /// The options; where estimates are equal they are taken in this order.
    fn options(&self, stack: &Self::Stack) -> Vec<Choice<Self::Move>>;
    /// The words that a move emits, and each stack that it leads to with the edges charged.
    fn step(&self, stack: &Self::Stack, taken: &Self::Move) -> Stepped<Self::Stack>;
    /// How many options were not given out because of a limit.
    fn left_out(&self, _stack: &Self::Stack) -> usize {
        0
    }
}

/// An option of an item.
#[derive(Debug, Clone)]
pub struct Choice<M> {
    pub estimate: f64,
    /// How many bins further on it leads at least.
    pub advance: usize,
    pub take: M,
}

/// What a move does.
#[derive(Debug, Clone)]
pub struct Stepped<S> {
    pub words: Vec<TokenId>,
    pub successors: Vec<(S, Vec<EdgeId>)>,
}

/// What was found of an item that was expanded, or of the best complete one.
#[derive(Debug, Clone)]
pub struct Kept<S> {
    pub bin: usize,
    pub round: usize,
    pub among: usize,
    pub stack: S,
    pub words: Vec<TokenId>,
    pub edges: Vec<EdgeId>,
    pub score: f64,
    pub future: f64,
}

/// All that a search did.
#[derive(Debug)]
pub struct Found<S> {
    /// The expanded items, round by round, best first.
    pub kept: Vec<Kept<S>>,
    pub goal: Option<Kept<S>>,
    pub cut_short: bool,
    pub tally: Tally,
}

/// How often each limit made a difference, so that a test can say whether it tested anything.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    pub items: usize,
    pub recombined: usize,
    /// Items that a round or a look over a bin dropped.
    pub dropped: usize,
    /// Items below a bar.
    pub turned_away: usize,
    /// Cells outside the margin.
    pub skipped: usize,
    /// Cells that were left when pops had run out.
    pub unpopped: usize,
    /// Options that were left out before anything was tried.
    pub left_out: usize,
    /// Rounds after a bin's first.
    pub later_rounds: usize,
    /// Items that were expanded again because they came back better.
    pub again: usize,
    /// Items that came back after they had been dropped.
    pub returned: usize,
    /// Decisions between items of equal merit or score by content, and by age.
    pub by_content: usize,
    pub by_age: usize,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.items += other.items;
        self.recombined += other.recombined;
        self.dropped += other.dropped;
        self.turned_away += other.turned_away;
        self.skipped += other.skipped;
        self.unpopped += other.unpopped;
        self.left_out += other.left_out;
        self.later_rounds += other.later_rounds;
        self.again += other.again;
        self.returned += other.returned;
        self.by_content += other.by_content;
        self.by_age += other.by_age;
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Waiting,
    Expanded,
    Dropped,
}

#[derive(Debug, Clone)]
struct Item<S, M> {
    stack: S,
    words: Vec<TokenId>,
    edges: Vec<EdgeId>,
    state: M,
    score: f64,
    future: f64,
    content: u64,
    fate: Fate,
}

impl<S, M> Item<S, M> {
    fn merit(&self) -> f64 {
        self.score + self.future
    }
}

/// The items that have come to a bin, oldest first, and where those of each signature are.
struct Bin<D: Decoder, M> {
    items: Vec<Item<D::Stack, M>>,
    places: BTreeMap<D::Signature, Vec<usize>>,
    bar: f64,
}

impl<D: Decoder, M> Bin<D, M> {
    fn new() -> Self {
        Self { items: Vec::new(), places: BTreeMap::new(), bar: f64::NEG_INFINITY }
    }

    /// The waiting items, best first.
    fn waiting(&self) -> Vec<usize> {
        let all = 0..self.items.len();
        let mut waiting: Vec<usize> = all.filter(|&age| self.items[age].fate == Fate::Waiting).collect();
        waiting.sort_by(|&a, &b| {
            let (x, y) = (&self.items[a], &self.items[b]);
            descending(x.merit(), y.merit()).then(x.content.cmp(&y.content)).then(a.cmp(&b))
        });
        waiting
    }

    /// Counts what decided the order of neighbours.
    fn count_ties(&self, ranked: &[usize], tally: &mut Tally) {
        for pair in ranked.windows(2) {
            let (x, y) = (&self.items[pair[0]], &self.items[pair[1]]);
            if x.merit() == y.merit() {
                let tie = if x.content == y.content { &mut tally.by_age } else { &mut tally.by_content };
                *tie += 1;
            }
        }
    }
}

/// Larger numbers first.
pub fn descending(a: f64, b: f64) -> Ordering {
    b.partial_cmp(&a).expect("scores are numbers")
}

/// The content of a list of edges.
pub fn content(forest: &TranslationForest, edges: &[EdgeId]) -> u64 {
    edges.iter().fold(0, |hash, &edge| fold(hash, forest.edge(edge).spec.hash))
}

type ItemOf<D, L> = Item<<D as Decoder>::Stack, <L as LanguageModel>::State>;

struct Twin<'a, D: Decoder, L: LanguageModel> {
    decoder: &'a D,
    forest: &'a TranslationForest,
    lm: &'a L,
    limits: Limits,
    bins: Vec<Bin<D, L::State>>,
    goals: Vec<ItemOf<D, L>>,
    tally: Tally,
}

/// Searches; see the definitions above.
pub fn search<D: Decoder, L: LanguageModel>(
    decoder: &D,
    forest: &TranslationForest,
    lm: &L,
    limits: Limits,
) -> Found<D::Stack> {
    let (bins, goals, tally) = (Vec::new(), Vec::new(), Tally::default());
    let mut twin = Twin { decoder, forest, lm, limits, bins, goals, tally };
    let axiom = twin.item(decoder.axiom(), Vec::new(), Vec::new());
    twin.arrive(axiom);
    let (mut kept, mut cells, mut cut_short) = (Vec::new(), 0, false);
    let mut bin = 0;
    while bin < twin.bins.len() {
        for round in 0.. {
            let beam = if cut_short { 1 } else { limits.beam.0 };
            let (survivors, among) = twin.take_survivors(bin, beam);
            if survivors.is_empty() {
                break;
            }
            twin.tally.later_rounds += usize::from(round > 0);
            let shown = survivors.iter().map(|&age| twin.show(&twin.bins[bin].items[age], bin, round, among));
            kept.extend(shown);
            let (complete, survivors): (Vec<usize>, Vec<usize>) =
                survivors.into_iter().partition(|&age| decoder.is_complete(&twin.bins[bin].items[age].stack));
            for age in complete {
                let item = twin.bins[bin].items[age].clone();
                twin.goals.push(item);
            }
            cells += twin.expand(bin, &survivors);
            cut_short |= cells >= limits.work;
        }
        bin += 1;
    }
    let goal = twin.best_goal();
    Found { kept, goal, cut_short, tally: twin.tally }
}

impl<D: Decoder, L: LanguageModel> Twin<'_, D, L> {
    fn item(&self, stack: D::Stack, words: Vec<TokenId>, edges: Vec<EdgeId>) -> ItemOf<D, L> {
        let (words_score, state) = self.lm.run(self.lm.begin(), &words);
        let edges_score: f64 = edges.iter().map(|&edge| self.forest.edge(edge).spec.score).sum();
        let (mut score, mut future) = (edges_score + words_score, self.decoder.future(&stack));
        if self.decoder.is_complete(&stack) {
            // Compared with others as if `</s>` had no history, which is what they will pay at the least.
            score += self.lm.end(state);
            future = -self.lm.end(self.lm.null());
        }
        let content = content(self.forest, &edges);
        Item { stack, words, edges, state, score, future, content, fate: Fate::Waiting }
    }

    fn bin(&mut self, bin: usize) -> &mut Bin<D, L::State> {
        while self.bins.len() <= bin {
            self.bins.push(Bin::new());
        }
        &mut self.bins[bin]
    }

    /// An item comes to where it belongs.
    fn arrive(&mut self, item: ItemOf<D, L>) {
        self.tally.items += 1;
        if self.decoder.is_complete(&item.stack) && self.limits.goals == Goals::Free {
            self.goals.push(item);
            return;
        }
        let number = self.decoder.bin(&item.stack, &item.edges);
        let signature = self.decoder.signature(&item.stack);
        let mut tally = self.tally;
        let bin = self.bin(number);
        if item.merit() < bin.bar {
            self.tally.turned_away += 1;
            return;
        }
        let places = bin.places.entry(signature).or_default();
        // If one was expanded and came back better there are two; the later one counts.
        let same = places.iter().rev().copied().find(|&age| bin.items[age].state == item.state);
        tally.recombined += usize::from(same.is_some());
        let is_new = match same.map(|age| (age, bin.items[age].fate)) {
            None => {
                places.push(bin.items.len());
                bin.items.push(item);
                true
            }
            Some((age, Fate::Expanded)) => {
                let is_better = item.score > bin.items[age].score;
                if is_better {
                    tally.again += 1;
                    places.push(bin.items.len());
                    bin.items.push(item);
                }
                is_better
            }
            Some((age, Fate::Dropped)) => {
                tally.returned += 1;
                let old = &bin.items[age];
                if item.score > old.score || item.score == old.score && item.content < old.content {
                    bin.items[age] = item;
                }
                bin.items[age].fate = Fate::Waiting;
                true
            }
            Some((age, Fate::Waiting)) => {
                let old = &bin.items[age];
                tally.by_content += usize::from(item.score == old.score);
                if item.score > old.score || item.score == old.score && item.content < old.content {
                    bin.items[age] = item;
                }
                false
            }
        };
        self.tally = tally;
        if is_new {
            self.look_over(number);
        }
    }

    /// Drops the worst of a bin that holds many, and sets its bar.
    fn look_over(&mut self, number: usize) {
        let beam = self.limits.beam.0;
        let many = beam.saturating_mul(2).max(32);
        let bin = &mut self.bins[number];
        if bin.items.iter().filter(|item| item.fate == Fate::Waiting).count() < many {
            return;
        }
        let ranked = bin.waiting();
        for &age in &ranked[beam..] {
            bin.items[age].fate = Fate::Dropped;
        }
        bin.bar = bin.items[ranked[beam - 1]].merit();
        self.tally.dropped += ranked.len() - beam;
        bin.count_ties(&ranked[..=beam], &mut self.tally);
    }

    /// The items of the next round, best first, and how many competed.
    fn take_survivors(&mut self, number: usize, beam: usize) -> (Vec<usize>, usize) {
        let bin = &mut self.bins[number];
        let ranked = bin.waiting();
        bin.count_ties(&ranked, &mut self.tally);
        bin.bar = f64::NEG_INFINITY;
        let kept = beam.min(ranked.len());
        for (place, &age) in ranked.iter().enumerate() {
            bin.items[age].fate = if place < kept { Fate::Expanded } else { Fate::Dropped };
        }
        self.tally.dropped += ranked.len() - kept;
        (ranked[..kept].to_vec(), ranked.len())
    }

    /// Tries cells of the survivors of a round; returns how many.
    fn expand(&mut self, bin: usize, survivors: &[usize]) -> u64 {
        for &age in survivors {
            self.tally.left_out += self.decoder.left_out(&self.bins[bin].items[age].stack);
        }
        if self.limits.pops == usize::MAX {
            self.within_the_margin(bin, survivors)
        } else {
            self.best_first(bin, survivors)
        }
    }

    fn within_the_margin(&mut self, bin: usize, survivors: &[usize]) -> u64 {
        let margin = match self.limits.margin {
            u32::MAX => f64::INFINITY,
            thousandths => f64::from(thousandths) / 1000.0,
        };
        let mut cells = 0;
        for &age in survivors {
            let item = self.bins[bin].items[age].clone();
            let merit = item.score + self.decoder.rest(&item.stack);
            for choice in self.options(&item.stack) {
                let bar = self.bin(bin + choice.advance).bar;
                if merit + choice.estimate < bar - margin {
                    self.tally.skipped += 1;
                    continue;
                }
                self.step(&item, &choice);
                cells += 1;
            }
        }
        cells
    }

    /// The options of a stack, by how far they lead, then best first.
    fn options(&self, stack: &D::Stack) -> Vec<Choice<D::Move>> {
        let mut options = self.decoder.options(stack);
        options.sort_by(|a, b| a.advance.cmp(&b.advance).then(descending(a.estimate, b.estimate)));
        options
    }

    fn best_first(&mut self, bin: usize, survivors: &[usize]) -> u64 {
        struct Cell<S, M, D> {
            value: f64,
            row: usize,
            column: usize,
            item: Item<S, M>,
            choice: Choice<D>,
        }
        let mut cells: Vec<Cell<_, _, _>> = Vec::new();
        for (row, age) in self.rows(bin, survivors).into_iter().enumerate() {
            let item = self.bins[bin].items[age].clone();
            let merit = item.score + self.decoder.rest(&item.stack);
            let (mut column, mut advance) = (0, None);
            for choice in self.options(&item.stack) {
                column = if advance == Some(choice.advance) { column + 1 } else { 0 };
                advance = Some(choice.advance);
                cells.push(Cell { value: merit + choice.estimate, row, column, item: item.clone(), choice });
            }
        }
        cells.sort_by(|a, b| {
            descending(a.value, b.value)
                .then(a.item.content.cmp(&b.item.content))
                .then((a.row, a.column, a.choice.advance).cmp(&(b.row, b.column, b.choice.advance)))
        });
        if self.limits.diversity > 0 {
            let grids = cells.iter().map(|cell| (self.decoder.class(&cell.item.stack), cell.choice.advance));
            let grids: Vec<(D::Class, usize)> = grids.collect();
            let valued = cells.iter().map(|cell| self.valued(&cell.item, &cell.choice, cell.value));
            let valued: Vec<f64> = valued.collect();
            let place = |cell: usize| (cells[cell].row, cells[cell].column, cells[cell].choice.advance);
            let find = |grid: &(D::Class, usize), row: usize, column: usize| {
                (0..cells.len()).find(|&cell| grids[cell] == *grid && place(cell) == (row, column, grid.1))
            };
            let mut seen: Vec<&(D::Class, usize)> = Vec::new();
            let mut queue: Vec<usize> = Vec::new();
            for (cell, grid) in grids.iter().enumerate() {
                let before = seen.iter().filter(|other| **other == grid).count();
                seen.push(grid);
                if before < self.limits.diversity {
                    queue.push(cell);
                }
            }
            let started = queue.clone();
            let mut taken = Vec::new();
            while taken.len() < self.limits.pops && !queue.is_empty() {
                queue.sort_by(|&a, &b| {
                    descending(valued[a], valued[b])
                        .then(cells[a].item.content.cmp(&cells[b].item.content))
                        .then(place(a).cmp(&place(b)))
                });
                let cell = queue.remove(0);
                taken.push(cell);
                let (row, column, _) = place(cell);
                let behind = find(&grids[cell], row, column + 1);
                let below = if column == 0 { find(&grids[cell], row + 1, 0) } else { None };
                queue.extend(behind.into_iter().chain(below).filter(|next| !started.contains(next)));
            }
            self.tally.unpopped += cells.len() - taken.len();
            for &cell in &taken {
                let (item, choice) = (cells[cell].item.clone(), cells[cell].choice.clone());
                self.step(&item, &choice);
            }
            return taken.len() as u64;
        }
        self.tally.unpopped += cells.len().saturating_sub(self.limits.pops);
        cells.truncate(self.limits.pops);
        for Cell { item, choice, .. } in &cells {
            self.step(item, choice);
        }
        cells.len() as u64
    }

    /// The merit of what a cell leads to; its value if that is complete.
    fn valued(&self, item: &ItemOf<D, L>, choice: &Choice<D::Move>, value: f64) -> f64 {
        let Stepped { words, successors } = self.decoder.step(&item.stack, &choice.take);
        let [(stack, edges)] = &successors[..] else { panic!("one item after each step") };
        if self.decoder.is_complete(stack) {
            return value;
        }
        let (words, edges) = ([&item.words[..], &words].concat(), [&item.edges[..], edges].concat());
        self.item(stack.clone(), words, edges).merit()
    }

    /// The survivors class by class, classes in the order of their best; in a class by score and rest.
    fn rows(&self, bin: usize, survivors: &[usize]) -> Vec<usize> {
        let items = &self.bins[bin].items;
        let class = |age: usize| self.decoder.class(&items[age].stack);
        let merit = |age: usize| items[age].score + self.decoder.rest(&items[age].stack);
        let mut classes: Vec<D::Class> = Vec::new();
        for &age in survivors {
            if !classes.contains(&class(age)) {
                classes.push(class(age));
            }
        }
        let mut rows = Vec::new();
        for wanted in classes {
            let mut members: Vec<usize> =
                survivors.iter().copied().filter(|&age| class(age) == wanted).collect();
            members.sort_by(|&a, &b| {
                descending(merit(a), merit(b)).then(items[a].content.cmp(&items[b].content)).then(a.cmp(&b))
            });
            rows.extend(members);
        }
        rows
    }

    /// Takes an option of an item.
    fn step(&mut self, item: &ItemOf<D, L>, choice: &Choice<D::Move>) {
        let Stepped { words, successors } = self.decoder.step(&item.stack, &choice.take);
        for (stack, edges) in successors {
            let new =
                self.item(stack, [&item.words[..], &words].concat(), [&item.edges[..], &edges].concat());
            self.arrive(new);
        }
    }

    fn best_goal(&self) -> Option<Kept<D::Stack>> {
        let mut best: Option<(f64, &ItemOf<D, L>)> = None;
        for goal in &self.goals {
            let score = goal.score;
            let is_better =
                best.is_none_or(|(old, item)| score > old || score == old && goal.content < item.content);
            if is_better {
                best = Some((score, goal));
            }
        }
        let (_, item) = best?;
        let bin = self.decoder.bin(&item.stack, &item.edges);
        Some(Kept { future: 0.0, ..self.show(item, bin, 0, 1) })
    }

    fn show(&self, item: &ItemOf<D, L>, bin: usize, round: usize, among: usize) -> Kept<D::Stack> {
        let Item { stack, words, edges, score, future, .. } = item.clone();
        Kept { bin, round, among, stack, words, edges, score, future }
    }
}
