//! Several language models at once, chosen at run time.
//!
//! Scores add up. A state is one state of each model; such tuples are interned, so that a search compares and copies
//! one number whatever the number of models, and each tuple is hashed once. A run of words is scored model by model:
//! only the state after it is interned.

use std::cell::RefCell;
use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use sylvan_forest::TokenId;
use sylvan_lm::State;
use sylvan_search::{Bounds, Horizon, LanguageModel, Mark, Neighbours, Side, TwoSided};

use super::Ngram;
use super::ngram::{Piece, ShownPiece};

/// Language models side by side, for one sentence.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Several<'s> {
    models: &'s [Ngram<'s>],
    memory: &'s Memory,
}

/// The states of several models, by number; reused from sentence to sentence.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    states: RefCell<Tuples<State>>,
    pieces: RefCell<Vec<Piece>>,
    /// Pieces of which only the outer words are known; nothing asks whether two are equal.
    shown: RefCell<Vec<ShownPiece>>,
    /// Where the parts being joined are.
    places: RefCell<Vec<usize>>,
}

/// Tuples in one flat list; equal tuples have one number.
#[derive(Debug)]
struct Tuples<T> {
    values: Vec<T>,
    index: HashTable<u32>,
    scratch: Vec<T>,
}

impl<T> Default for Tuples<T> {
    fn default() -> Self {
        Self { values: Vec::new(), index: HashTable::new(), scratch: Vec::new() }
    }
}

impl<T: Copy + Eq + Hash> Tuples<T> {
    fn clear(&mut self) {
        self.values.clear();
        self.index.clear();
    }

    fn get(&self, tuple: u32, width: usize) -> &[T] {
        &self.values[tuple as usize * width..][..width]
    }

    /// The number of the tuple in `scratch`.
    fn intern(&mut self) -> u32 {
        let Self { values, index, scratch } = self;
        let width = scratch.len();
        let hasher = FixedState::default();
        let at = |values: &[T], tuple: u32| {
            tuple as usize * width..(tuple as usize * width + width).min(values.len())
        };
        let entry = index.entry(
            hasher.hash_one(scratch.as_slice()),
            |&tuple| values[at(values, tuple)] == scratch[..],
            |&tuple| hasher.hash_one(&values[at(values, tuple)]),
        );
        let next = (values.len() / width.max(1)) as u32;
        let tuple = *entry.or_insert(next).get();
        if tuple == next {
            values.extend_from_slice(scratch);
        }
        tuple
    }
}

impl<'s> Several<'s> {
    /// Models side by side. What `memory` held is forgotten.
    pub(crate) fn new(models: &'s [Ngram<'s>], memory: &'s mut Memory) -> Self {
        memory.states.get_mut().clear();
        memory.pieces.get_mut().clear();
        memory.shown.get_mut().clear();
        Self { models, memory }
    }

    fn state(&self, of: impl Fn(&Ngram<'s>) -> State) -> u32 {
        let mut states = self.memory.states.borrow_mut();
        states.scratch.clear();
        states.scratch.extend(self.models.iter().map(of));
        states.intern()
    }
}

impl LanguageModel for Several<'_> {
    type State = u32;

    fn order(&self) -> usize {
        self.models.iter().map(LanguageModel::order).max().unwrap_or(1)
    }
    fn begin(&self) -> u32 {
        self.state(LanguageModel::begin)
    }
    fn null(&self) -> u32 {
        self.state(LanguageModel::null)
    }
    fn score(&self, state: u32, word: TokenId) -> (f64, u32) {
        self.run(state, &[word])
    }
    fn run(&self, state: u32, words: &[TokenId]) -> (f64, u32) {
        let mut states = self.memory.states.borrow_mut();
        let Tuples { values, scratch, .. } = &mut *states;
        let width = self.models.len();
        let before = &values[state as usize * width..][..width];
        scratch.clear();
        let mut total = 0.0;
        for (model, &state) in self.models.iter().zip(before) {
            let (score, next) = model.run(state, words);
            total += score;
            scratch.push(next);
        }
        (total, states.intern())
    }
    fn local(&self, words: &[TokenId]) -> f64 {
        self.models.iter().map(|model| model.local(words)).sum()
    }
    fn end(&self, state: u32) -> f64 {
        let states = self.memory.states.borrow();
        let tuple = states.get(state, self.models.len());
        self.models.iter().zip(tuple).map(|(model, &state)| model.end(state)).sum()
    }
    fn bounds(&self, neighbours: &Neighbours) -> Option<Box<dyn Bounds + '_>> {
        let all = self.models.iter().map(|model| model.bounds(neighbours));
        Some(Box::new(SumOfBounds(all.collect::<Option<Vec<_>>>()?)))
    }
    fn horizon(&self, words: &[TokenId]) -> Horizon {
        let all = self.models.iter().map(|model| model.horizon(words));
        let most = |a: Horizon, b: Horizon| Horizon {
            open: a.open.max(b.open),
            closed: a.closed && b.closed,
            reach: a.reach.max(b.reach),
        };
        all.reduce(most).unwrap_or(Horizon { open: 0, closed: true, reach: 0 })
    }
}

/// No sum of scores exceeds the sum of the bounds.
struct SumOfBounds<'b>(Vec<Box<dyn Bounds + 'b>>);

impl Bounds for SumOfBounds<'_> {
    fn upper_bound(&mut self, known: &[TokenId], next: Option<TokenId>) -> f64 {
        self.0.iter_mut().map(|bounds| bounds.upper_bound(known, next)).sum()
    }
}

/// A piece under several models, by the place of its first part; what searches ask all the time is beside it. Equal
/// pieces may stand in several places.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PieceId {
    place: u32,
    open: u32,
    rest: f64,
}

impl PartialEq for PieceId {
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place
    }
}

impl Eq for PieceId {}

impl Hash for PieceId {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.place.hash(hasher);
    }
}

/// A piece of which the outer words are known, by the place of its first part.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShownId {
    place: u32,
    open: u32,
}

impl TwoSided for Several<'_> {
    type State = PieceId;
    type Shown = ShownId;

    fn same(&self, a: &PieceId, b: &PieceId) -> bool {
        let (pieces, width) = (self.memory.pieces.borrow(), self.models.len());
        pieces[a.place as usize..][..width] == pieces[b.place as usize..][..width]
    }

    fn state_hash(&self, piece: &PieceId) -> u64 {
        let pieces = self.memory.pieces.borrow();
        FixedState::default().hash_one(&pieces[piece.place as usize..][..self.models.len()])
    }

    fn piece(&self, words: &[TokenId]) -> (f64, PieceId) {
        let mut pieces = self.memory.pieces.borrow_mut();
        let mut whole = PieceId { place: pieces.len() as u32, open: 0, rest: 0.0 };
        let mut total = 0.0;
        for model in self.models {
            let (score, piece) = model.piece(words);
            total += score;
            whole.add(model, &piece);
            pieces.push(piece);
        }
        (total, whole)
    }

    fn join<'p>(&self, parts: impl Iterator<Item = &'p PieceId>) -> (f64, PieceId) {
        // The iterator may ask the model about its parts, so nothing else is borrowed while it runs.
        let mut places = self.memory.places.borrow_mut();
        places.clear();
        places.extend(parts.map(|part| part.place as usize));
        let mut pieces = self.memory.pieces.borrow_mut();
        let mut whole = PieceId { place: pieces.len() as u32, open: 0, rest: 0.0 };
        let mut total = 0.0;
        for (number, model) in self.models.iter().enumerate() {
            let (change, piece) = model.join(places.iter().map(|&place| &pieces[place + number]));
            total += change;
            whole.add(model, &piece);
            pieces.push(piece);
        }
        (total, whole)
    }

    fn begin(&self, piece: &PieceId) -> (f64, PieceId) {
        let mut pieces = self.memory.pieces.borrow_mut();
        let mut whole = PieceId { place: pieces.len() as u32, open: 0, rest: 0.0 };
        let mut total = 0.0;
        for (number, model) in self.models.iter().enumerate() {
            let before = pieces[piece.place as usize + number];
            let (change, begun) = TwoSided::begin(model, &before);
            total += change;
            whole.add(model, &begun);
            pieces.push(begun);
        }
        (total, whole)
    }

    fn sentence(&self, piece: &PieceId) -> f64 {
        self.sum(piece, |model, piece| TwoSided::sentence(model, piece))
    }

    fn rest(&self, piece: &PieceId) -> f64 {
        piece.rest
    }

    fn without_history(&self, piece: &PieceId) -> f64 {
        let pieces = self.memory.pieces.borrow();
        let tuple = &pieces[piece.place as usize..][..self.models.len()];
        self.models.iter().zip(tuple).map(|(model, piece)| model.without_history(piece)).sum()
    }

    fn open(&self, piece: &PieceId) -> usize {
        piece.open as usize
    }

    fn mark(&self, piece: &PieceId, side: Side, index: usize) -> Mark {
        let pieces = self.memory.pieces.borrow();
        let tuple = &pieces[piece.place as usize..][..self.models.len()];
        let marks = self.models.iter().zip(tuple).map(|(model, piece)| model.mark(piece, side, index));
        Mark::of_all(marks)
    }

    fn show(&self, piece: &PieceId, left: usize, right: usize) -> ShownId {
        let pieces = self.memory.pieces.borrow();
        let tuple = &pieces[piece.place as usize..][..self.models.len()];
        let mut shown = self.memory.shown.borrow_mut();
        let mut whole = ShownId { place: shown.len() as u32, open: 0 };
        for (model, piece) in self.models.iter().zip(tuple) {
            let part = model.show(piece, left, right);
            whole.open = whole.open.max(model.open_shown(&part) as u32);
            shown.push(part);
        }
        whole
    }

    fn open_shown(&self, shown: &ShownId) -> usize {
        shown.open as usize
    }

    fn estimate<'p>(&self, parts: impl Iterator<Item = &'p ShownId>) -> f64 {
        let mut places = self.memory.places.borrow_mut();
        places.clear();
        places.extend(parts.map(|part| part.place as usize));
        let shown = self.memory.shown.borrow();
        let of = |(number, model): (usize, &Ngram<'_>)| {
            model.estimate(places.iter().map(|&place| &shown[place + number]))
        };
        self.models.iter().enumerate().map(of).sum()
    }
}

impl PieceId {
    fn add(&mut self, model: &Ngram<'_>, piece: &Piece) {
        // Models score a word together: where one has it open, all are asked.
        self.open = self.open.max(model.open(piece) as u32);
        self.rest += model.rest(piece);
    }
}

impl Several<'_> {
    fn sum(&self, piece: &PieceId, of: impl Fn(&Ngram<'_>, &Piece) -> f64) -> f64 {
        let pieces = self.memory.pieces.borrow();
        let tuple = &pieces[piece.place as usize..][..self.models.len()];
        self.models.iter().zip(tuple).map(|(model, piece)| of(model, piece)).sum()
    }
}
