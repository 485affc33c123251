//! The partial parses of words as they come, the best of each size.
//!
//! Parses of the same words with stacks of the same size have taken the same number of actions, so they can be compared
//! whatever their scores mean. Reductions make stacks smaller: going from the largest size to the smallest meets every
//! parse once, with the best way to it, and an unlimited number of parses is an exhaustive search.

use sylvan_base::HashMap;

use super::{Actions, StackId, Stacks, WordNumber};

/// A partial parse: its stack, and the sum of the scores of its actions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Partial {
    /// The partial trees.
    pub stack: StackId,
    /// The score.
    pub score: f64,
    /// How it came about; meaningless unless that was recorded.
    trail: u32,
}

impl Partial {
    /// Before the first word.
    pub const START: Self = Self::new(StackId::EMPTY, 0.0);

    /// A stack with a score.
    pub const fn new(stack: StackId, score: f64) -> Self {
        Self { stack, score, trail: NOWHERE }
    }

    /// Best first.
    fn order(a: &Self, b: &Self) -> std::cmp::Ordering {
        b.score.total_cmp(&a.score).then(a.stack.cmp(&b.stack))
    }
}

const NOWHERE: u32 = u32::MAX;

/// How many parses are kept after a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// Of each size of the stack.
    pub of_each_size: usize,
    /// In all.
    pub in_all: usize,
}

impl Keep {
    /// Everything.
    pub const ALL: Self = Self::of_each_size(usize::MAX);

    /// So many of each size.
    pub const fn of_each_size(most: usize) -> Self {
        Self { of_each_size: most, in_all: usize::MAX }
    }

    /// So many in all.
    pub const fn in_all(most: usize) -> Self {
        Self { of_each_size: most, in_all: most }
    }

    /// Enough for a sentence that is parsed once, and time that is linear in its length. Scores should have reductions
    /// charged in advance ([`Owing`](super::Owing)).
    pub const ENOUGH: Self = Self { of_each_size: 8, in_all: 24 };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Shift(WordNumber),
    Left,
    Right,
    End,
}

#[derive(Debug, Clone, Copy)]
struct Taken {
    action: Action,
    score: f64,
    before: u32,
}

/// The best parse of a whole sentence.
#[derive(Debug, Clone, PartialEq)]
pub struct Parse {
    /// The sum of the scores of all actions.
    pub score: f64,
    /// What each word added: its shift and the reductions up to the next.
    pub words: Vec<f64>,
    /// What the end added.
    pub end: f64,
    /// The head of each word, counted from 0; `None` for the root.
    pub heads: Vec<Option<u32>>,
    /// The words as they were read, with their parts of speech.
    pub read: Vec<WordNumber>,
}

/// The ways to read a word, each with the bits of its score.
type Readings = Box<[(WordNumber, u64)]>;

/// The parses of sentences' beginnings, each made once: translations of a list mostly differ in a few words.
#[derive(Debug, Default)]
pub struct Beginnings {
    /// By beginning; the first has no words.
    parses: Vec<Vec<Partial>>,
    /// A beginning with one more word.
    longer: HashMap<(u32, Readings), u32>,
    taken: Vec<Taken>,
}

/// Partial parses of sentences that grow word by word.
#[derive(Debug)]
pub struct Parses<A: Actions> {
    /// The stacks that parses are made of.
    pub stacks: Stacks<A>,
    /// By size of the stack: the parses of the current word.
    layers: Vec<Vec<Partial>>,
    ready: Vec<Partial>,
    /// The best scores of the current word.
    best: Vec<f64>,
    /// How parses came about, if that is recorded.
    taken: Option<Vec<Taken>>,
}

impl<A: Actions> Parses<A> {
    /// No words yet.
    pub fn new(actions: A) -> Self {
        Self {
            stacks: Stacks::new(actions),
            layers: Vec::new(),
            ready: Vec::new(),
            best: Vec::new(),
            taken: None,
        }
    }

    /// Forgets a sentence and keeps the memory.
    pub fn clear(&mut self) {
        self.stacks.clear();
        self.layers.iter_mut().for_each(Vec::clear);
    }

    /// The ways to read a word.
    pub fn read(&mut self, text: &str) -> Vec<(WordNumber, f64)> {
        let mut words = Vec::new();
        self.stacks.actions().words(text, &mut words);
        words.into_iter().map(|(word, score)| (self.stacks.word(word), score)).collect()
    }

    /// What parses become by the next word, which can be read in several ways: as many as are to be kept, best first if
    /// they are counted in all, else largest first, and best first within a size.
    pub fn advance(
        &mut self,
        from: &[Partial],
        word: &[(WordNumber, f64)],
        keep: Keep,
        out: &mut Vec<Partial>,
    ) {
        out.clear();
        if self.stacks.actions().delays() {
            let mut ready = std::mem::take(&mut self.ready);
            for &(number, choice) in word {
                for &partial in from {
                    self.put(partial);
                }
                self.reduce_all(Some(number), Keep::of_each_size(keep.of_each_size), &mut ready);
                for partial in ready.drain(..) {
                    let shifted = self.shift(partial, number, choice);
                    self.put(shifted);
                }
                // Readings never meet: stacks that differ in the last word alone are different ones.
                self.take(keep.of_each_size, out);
            }
            self.ready = ready;
        } else {
            for &(number, choice) in word {
                for &partial in from {
                    let shifted = self.shift(partial, number, choice);
                    self.put(shifted);
                }
            }
            self.reduce_all(None, keep, out);
        }
        if keep.in_all < usize::MAX {
            out.sort_unstable_by(Partial::order);
            out.truncate(keep.in_all.max(1));
        }
    }

    /// The best tree that parses become when no more words come, its score included; `None` if there is none. Without
    /// words that is nothing, at no cost.
    pub fn finish(&mut self, from: &[Partial], most: usize) -> Option<Partial> {
        let mut best: Option<Partial> = from.iter().copied().find(|partial| partial.stack == StackId::EMPTY);
        for &partial in from.iter().filter(|partial| partial.stack != StackId::EMPTY) {
            self.put(partial);
        }
        let mut all = std::mem::take(&mut self.ready);
        self.reduce_all(None, Keep::of_each_size(most), &mut all);
        for partial in all.drain(..) {
            if self.stacks.size(partial.stack) != 1 {
                continue;
            }
            let end = self.stacks.end(partial.stack);
            let ended = self.extend(partial, partial.stack, end, Action::End);
            if best.is_none_or(|best| ended.score > best.score) {
                best = Some(ended);
            }
        }
        self.ready = all;
        best
    }

    /// The best parse of a whole sentence; `None` for one without words.
    pub fn parse(&mut self, words: &[Vec<(WordNumber, f64)>], keep: Keep) -> Option<Parse> {
        self.parse_after(&mut Beginnings::default(), words, keep)
    }

    /// The same for one of many sentences that may begin alike, with the same number of parses for all.
    pub fn parse_after(
        &mut self,
        beginnings: &mut Beginnings,
        words: &[Vec<(WordNumber, f64)>],
        keep: Keep,
    ) -> Option<Parse> {
        let Beginnings { parses, longer, taken } = beginnings;
        if parses.is_empty() {
            parses.push(vec![Partial::START]);
        }
        self.taken = Some(std::mem::take(taken));
        let mut at = 0;
        for word in words {
            let readings = word.iter().map(|&(number, score)| (number, score.to_bits()));
            let new = parses.len() as u32;
            let next = *longer.entry((at, readings.collect())).or_insert(new);
            if next == new {
                let mut made = Vec::new();
                self.advance(&parses[at as usize], word, keep, &mut made);
                parses.push(made);
            }
            at = next;
        }
        let best = self.finish(&parses[at as usize], keep.of_each_size);
        *taken = self.taken.take().unwrap_or_default();
        let best = best.filter(|best| best.trail != NOWHERE)?;
        let mut actions = Vec::new();
        let mut at = best.trail;
        while at != NOWHERE {
            actions.push(taken[at as usize]);
            at = taken[at as usize].before;
        }
        actions.reverse();
        let delays = self.stacks.actions().delays();
        let mut parse = Parse {
            score: best.score,
            words: Vec::with_capacity(words.len()),
            end: 0.0,
            heads: vec![None; words.len()],
            read: Vec::with_capacity(words.len()),
        };
        // Reductions that wait for a word belong to it; those of the end to the end.
        let mut waiting = 0.0;
        let mut stack: Vec<u32> = Vec::new();
        for Taken { action, score, .. } in actions {
            match (action, stack.as_slice()) {
                (Action::Shift(word), _) => {
                    stack.push(parse.read.len() as u32);
                    parse.read.push(word);
                    parse.words.push(score + waiting);
                    waiting = 0.0;
                    continue;
                }
                (Action::Left, &[.., s1, s0]) => {
                    parse.heads[s1 as usize] = Some(s0);
                    stack.remove(stack.len() - 2);
                }
                (Action::Right, &[.., s1, s0]) => {
                    parse.heads[s0 as usize] = Some(s1);
                    stack.pop();
                }
                (Action::End, _) => waiting += score,
                _ => {}
            }
            match parse.words.last_mut() {
                _ if action == Action::End => {}
                Some(last) if !delays => *last += score,
                _ => waiting += score,
            }
        }
        parse.end = waiting;
        Some(parse)
    }

    fn extend(&mut self, from: Partial, stack: StackId, score: f64, action: Action) -> Partial {
        let trail = match &mut self.taken {
            None => NOWHERE,
            Some(taken) => {
                taken.push(Taken { action, score, before: from.trail });
                taken.len() as u32 - 1
            }
        };
        Partial { stack, score: from.score + score, trail }
    }

    fn shift(&mut self, from: Partial, word: WordNumber, choice: f64) -> Partial {
        let (score, stack) = self.stacks.shift(from.stack, word);
        self.extend(from, stack, score + choice, Action::Shift(word))
    }

    /// Adds a parse to the layer of its size; of equal stacks the better one stays.
    fn put(&mut self, partial: Partial) {
        let size = self.stacks.size(partial.stack) as usize;
        if self.layers.len() <= size {
            self.layers.resize_with(size + 1, Vec::new);
        }
        match self.layers[size].iter_mut().find(|known| known.stack == partial.stack) {
            Some(known) if known.score >= partial.score => {}
            Some(known) => *known = partial,
            None => self.layers[size].push(partial),
        }
    }

    /// Remembers the best scores, so many of them, the worst first.
    fn note(&mut self, layer: &[Partial], most: usize) {
        for partial in layer {
            if self.best.len() == most {
                if partial.score <= self.best[0] {
                    return;
                }
                self.best.remove(0);
            }
            let place = self.best.partition_point(|&score| score < partial.score);
            self.best.insert(place, partial.score);
        }
    }

    fn best_of(&mut self, size: usize, most: usize) -> Vec<Partial> {
        let mut layer = std::mem::take(&mut self.layers[size]);
        layer.sort_unstable_by(Partial::order);
        layer.truncate(most.max(1));
        layer
    }

    /// Empties the layers, largest first.
    fn take(&mut self, most: usize, out: &mut Vec<Partial>) {
        for size in (0..self.layers.len()).rev() {
            let mut layer = self.best_of(size, most);
            out.append(&mut layer);
            self.layers[size] = layer;
        }
    }

    /// Empties the layers with all that reductions make of what is in them, largest first; what can become one of those
    /// that are kept in all is among them.
    fn reduce_all(&mut self, next: Option<WordNumber>, keep: Keep, out: &mut Vec<Partial>) {
        let largest = self.stacks.actions().largest_reduction().max(0.0);
        let most = keep.in_all.max(1);
        let is_bounded = largest.is_finite() && most < usize::MAX;
        self.best.clear();
        for size in (0..self.layers.len()).rev() {
            if self.layers[size].is_empty() {
                continue;
            }
            let mut layer = self.best_of(size, keep.of_each_size);
            if is_bounded {
                self.note(&layer, most);
            }
            if size >= 2 {
                // The best come first: after one that is hopeless all others of its size are, and so is whatever its
                // reductions would have crowded out of the smaller sizes.
                let enough =
                    if is_bounded && self.best.len() == most { self.best[0] } else { f64::NEG_INFINITY };
                let gain = largest * (size - 1) as f64;
                for &partial in layer.iter().take_while(|partial| partial.score + gain >= enough) {
                    let [left, right] = self.stacks.reduce(partial.stack, next);
                    for ((score, stack), action) in [(left, Action::Left), (right, Action::Right)] {
                        let reduced = self.extend(partial, stack, score, action);
                        self.put(reduced);
                    }
                }
            }
            out.append(&mut layer);
            self.layers[size] = layer;
        }
    }
}
