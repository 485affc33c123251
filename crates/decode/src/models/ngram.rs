//! An n-gram model of `sylvan-lm` as the searches need it: weighted, and over the tokens of one sentence.

use std::hash::{Hash, Hasher};

use super::structured::Expected;
use sylvan_base::{HashMap, Id};
use sylvan_forest::TokenId;
use sylvan_lm::{ChartState, Joiner, Lm, LocalBounds, MAX_ORDER, State, WordId};
use sylvan_search::{Bounds, Horizon, LanguageModel, Mark, Neighbours, Side, TwoSided};

/// An n-gram model with its weight, over the tokens of one sentence.
#[derive(Debug, Clone, Copy)]
pub struct Ngram<'s> {
    lm: &'s Lm,
    weight: f64,
    /// The model's id of each token.
    ids: &'s [WordId],
    /// What each token scores besides, whatever it follows; empty if nothing.
    besides: &'s [f64],
    /// The weight in estimates of words to come, if another model is expected to say the same of them.
    ahead: Option<f64>,
}

impl<'s> Ngram<'s> {
    /// A model over tokens with these ids. `weight` multiplies natural logs.
    pub fn new(lm: &'s Lm, ids: &'s [WordId], weight: f64) -> Self {
        Self { lm, weight, ids, besides: &[], ahead: None }
    }

    /// The same with what a step model expects of each token, from left to right only.
    pub(crate) fn and(self, expected: &'s Expected) -> Self {
        let ahead = expected.ahead.map(|weight| self.weight + weight);
        Self { besides: &expected.words, ahead, ..self }
    }

    /// The natural logarithm of each word's probability after those before it, and of the sentence's end;
    /// unweighted.
    pub fn word_log_probabilities(&self, words: &[TokenId]) -> Vec<f64> {
        let mut state = self.lm.begin();
        let mut scores = Vec::with_capacity(words.len() + 1);
        for &word in words {
            let (score, next) = self.lm.score(&state, self.word(word));
            scores.push(f64::from(score));
            state = next;
        }
        scores.push(f64::from(self.lm.end(&state)));
        scores
    }

    #[inline]
    fn word(&self, token: TokenId) -> WordId {
        self.ids[token.index()]
    }
}

impl LanguageModel for Ngram<'_> {
    type State = State;

    fn order(&self) -> usize {
        self.lm.order()
    }
    fn begin(&self) -> State {
        self.lm.begin()
    }
    fn null(&self) -> State {
        self.lm.null()
    }
    fn score(&self, state: State, word: TokenId) -> (f64, State) {
        let (score, next) = self.lm.score(&state, self.word(word));
        let besides = self.besides.get(word.index()).copied().unwrap_or(0.0);
        (f64::from(score) * self.weight + besides, next)
    }
    fn local(&self, words: &[TokenId]) -> f64 {
        match self.ahead {
            Some(weight) => Self { besides: &[], ahead: None, weight, ..*self }.local(words),
            None => self.run(self.null(), words).0,
        }
    }
    fn end(&self, state: State) -> f64 {
        f64::from(self.lm.end(&state)) * self.weight
    }
    fn bounds(&self, neighbours: &Neighbours) -> Option<Box<dyn Bounds + '_>> {
        // A negative weight would turn the best into the worst.
        if self.weight < 0.0 {
            return None;
        }
        let mut before: HashMap<WordId, Vec<WordId>> = HashMap::default();
        let ends = neighbours.last_words();
        for (word, others) in neighbours.words() {
            let list = before.entry(self.word(word)).or_default();
            list.extend(others.iter().map(|&other| self.word(other)));
            if neighbours.is_first(word) {
                list.push(self.lm.begin_word());
            }
        }
        let list = before.entry(self.lm.end_word()).or_default();
        list.extend(ends.iter().map(|&word| self.word(word)));
        if neighbours.can_be_empty() {
            list.push(self.lm.begin_word());
        }
        #[allow(clippy::iter_over_hash_type, reason = "each list is sorted by itself")]
        for list in before.values_mut() {
            list.sort_unstable();
            list.dedup();
        }
        Some(Box::new(NgramBounds { scorer: *self, bounds: self.lm.local_bounds(before) }))
    }
    fn horizon(&self, words: &[TokenId]) -> Horizon {
        let mut joiner = Joiner::new(self.lm);
        words.iter().for_each(|&word| joiner.word(self.word(word)));
        let (_, ChartState { left, right }) = joiner.finish();
        Horizon { open: left.open(), closed: left.is_closed(), reach: right.words().len() }
    }
}

/// The bounds of one sentence.
struct NgramBounds<'s> {
    scorer: Ngram<'s>,
    bounds: LocalBounds<'s>,
}

impl Bounds for NgramBounds<'_> {
    fn upper_bound(&mut self, known: &[TokenId], next: Option<TokenId>) -> f64 {
        let mut words = [WordId(0); MAX_ORDER];
        let known = &known[known.len().saturating_sub(MAX_ORDER)..];
        for (to, &from) in words.iter_mut().zip(known) {
            *to = self.scorer.word(from);
        }
        let next = next.map_or(self.scorer.lm.end_word(), |word| self.scorer.word(word));
        f64::from(self.bounds.upper_bound(&words[..known.len()], next)) * self.scorer.weight
    }
}

/// At most this many words can wait for their history.
const MOST: usize = MAX_ORDER - 1;

/// A piece of a translation: only words that can still matter, and those of its left side by name.
#[derive(Debug, Clone, Copy)]
pub struct Piece {
    chart: ChartState,
    /// The open words, first to last.
    first: [WordId; MOST],
    /// Whether the sentence begins with it.
    begun: bool,
}

impl PartialEq for Piece {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.chart == other.chart
    }
}

impl Eq for Piece {}

impl Hash for Piece {
    #[inline]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.chart.hash(hasher);
    }
}

/// A piece of which the outer words are known.
#[derive(Debug, Clone, Copy)]
pub struct ShownPiece {
    /// The known words of the left side; the piece itself if it is whole.
    left: ChartState,
    right: State,
    whole: bool,
}

impl TwoSided for Ngram<'_> {
    type State = Piece;
    type Shown = ShownPiece;

    fn piece(&self, words: &[TokenId]) -> (f64, Piece) {
        let mut joiner = Joiner::new(self.lm);
        let mut first = [WordId(0); MOST];
        for (index, &word) in words.iter().enumerate() {
            let word = self.word(word);
            joiner.word(word);
            if let Some(place) = first.get_mut(index) {
                *place = word;
            }
        }
        let (score, chart) = joiner.finish();
        (score * self.weight, Piece { chart, first, begun: false })
    }

    #[inline]
    fn join<'s>(&self, mut parts: impl Iterator<Item = &'s Piece>) -> (f64, Piece) {
        let Some(head) = parts.next() else {
            return (0.0, Piece { chart: ChartState::EMPTY, first: [WordId(0); MOST], begun: false });
        };
        let mut first = head.first;
        // While all words are open, those of the next piece come after them.
        let mut open = head.chart.left.open();
        let mut joiner = Joiner::new(self.lm);
        joiner.piece(&head.chart, 0.0);
        for part in parts {
            joiner.piece(&part.chart, 0.0);
            for &word in &part.first[..part.chart.left.open()] {
                if let Some(place) = first.get_mut(open) {
                    *place = word;
                    open += 1;
                }
            }
        }
        let (change, chart) = joiner.finish();
        (change * self.weight, Piece { chart, first, begun: head.begun })
    }

    fn begin(&self, piece: &Piece) -> (f64, Piece) {
        let mut joiner = Joiner::begin(self.lm);
        joiner.piece(&piece.chart, 0.0);
        let (change, chart) = joiner.finish();
        (change * self.weight, Piece { chart, first: [WordId(0); MOST], begun: true })
    }

    fn sentence(&self, piece: &Piece) -> f64 {
        let mut joiner = if piece.begun { Joiner::new(self.lm) } else { Joiner::begin(self.lm) };
        joiner.piece(&piece.chart, 0.0);
        joiner.word(self.lm.end_word());
        joiner.finish().0 * self.weight
    }

    fn rest(&self, piece: &Piece) -> f64 {
        self.lm.rest(&piece.chart.left) * self.weight
    }

    fn without_history(&self, piece: &Piece) -> f64 {
        piece.chart.left.charged() * self.weight
    }

    fn open(&self, piece: &Piece) -> usize {
        piece.chart.left.open()
    }

    fn mark(&self, piece: &Piece, side: Side, index: usize) -> Mark {
        let left = &piece.chart.left;
        let words = match side {
            Side::Left => &piece.first[..left.open()],
            Side::Right => piece.chart.right.words(),
        };
        words.get(index).map_or(Mark::end(left.is_closed()), |word| Mark::word(word.0))
    }

    fn show(&self, piece: &Piece, left: usize, right: usize) -> ShownPiece {
        let open = piece.chart.left.open();
        let words = piece.chart.right.words();
        if left > open && right > words.len() {
            return ShownPiece { left: piece.chart, right: piece.chart.right, whole: true };
        }
        let shown = match left > open {
            true => piece.chart,
            false => self.lm.piece(&piece.first[..left]).1,
        };
        let newest = words.len().min(right);
        let mut oldest_first = [WordId(0); MOST];
        for (to, from) in oldest_first.iter_mut().zip(words[..newest].iter().rev()) {
            *to = *from;
        }
        let right = match newest == words.len() {
            true => piece.chart.right,
            false => self.lm.piece(&oldest_first[..newest]).1.right,
        };
        ShownPiece { left: shown, right, whole: false }
    }

    fn open_shown(&self, shown: &ShownPiece) -> usize {
        shown.left.left.open()
    }

    fn estimate<'s>(&self, parts: impl Iterator<Item = &'s ShownPiece>) -> f64 {
        let mut context = self.lm.null();
        let mut change = 0.0;
        for part in parts {
            let mut left = part.left;
            change += self.lm.reveal(&context, 0, &mut left);
            context = if part.whole { left.right } else { part.right };
        }
        change * self.weight
    }
}
