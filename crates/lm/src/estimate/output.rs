//! Where finished n-grams go: into ARPA text or into a model in memory.
//!
//! Sections come shortest first. Logarithms and digits are most of the work of writing a model, so pieces of a
//! section are formatted by several threads and written in order.

use std::sync::{Mutex, PoisonError};

use sylvan_base::hash::fold;
use sylvan_base::{Result, Symbol, Vocab};
use sylvan_store::Output;

use super::column::{Reader, Segment};
use super::level::{Levels, Walk};
use super::parallel::in_order;
use super::{BEGIN_ID, Tools};
use crate::builder::Builder;
use crate::{Lm, WordId};

/// N-grams that are handled together: their text fits into the cache of one core.
const PIECE: usize = 2048;

/// log10 of a probability that is zero.
const ZERO: f64 = -99.0;

/// Some n-grams of one length.
#[derive(Debug, Default)]
pub(crate) struct Piece {
    pub(crate) n: usize,
    /// `n` words for each, oldest first.
    pub(crate) words: Vec<u32>,
    pub(crate) probs: Vec<f64>,
    /// Empty for the longest n-grams.
    pub(crate) gammas: Vec<f64>,
}

/// All n-grams of one length that stay in the model.
#[derive(Debug)]
pub(crate) struct Section<'a> {
    levels: &'a Levels,
    n: usize,
    /// By word, for n = 1.
    words: &'a [f64],
    /// By bucket, for n > 1.
    probs: &'a [Segment<f64>],
    /// By bucket; empty for the longest n-grams.
    gammas: &'a [Segment<f64>],
    bucket: usize,
    place: Option<Bucket<'a>>,
}

/// The place in one bucket of a section.
#[derive(Debug)]
struct Bucket<'a> {
    /// The next word of a section of 1-grams.
    word: u32,
    walk: Option<Walk<'a>>,
    probs: Option<Reader<'a, f64>>,
    gammas: Option<Reader<'a, f64>>,
}

impl<'a> Section<'a> {
    pub(crate) fn new(
        levels: &'a Levels,
        n: usize,
        words: &'a [f64],
        probs: &'a [Segment<f64>],
        gammas: &'a [Segment<f64>],
    ) -> Self {
        Self { levels, n, words, probs, gammas, bucket: 0, place: None }
    }

    fn open(&self) -> Bucket<'a> {
        let longer = self.n > 1;
        Bucket {
            word: self.levels.starts[0][self.bucket],
            walk: longer.then(|| self.levels.walk(self.n, self.bucket)),
            probs: longer.then(|| self.probs[self.bucket].reader()),
            gammas: self.gammas.get(self.bucket).map(Segment::reader),
        }
    }

    /// The next n-grams, until the section is over. Pieces do not end where buckets do. The memory of an `old`
    /// piece is used again.
    pub(crate) fn next_piece(&mut self, old: Piece) -> Result<Option<Piece>> {
        let mut piece = Piece { n: self.n, ..old };
        piece.words.clear();
        piece.probs.clear();
        piece.gammas.clear();
        while self.bucket < self.levels.buckets() && piece.probs.len() < PIECE {
            let mut place = self.place.take().unwrap_or_else(|| self.open());
            if self.fill(&mut piece, &mut place)? {
                self.bucket += 1;
            } else {
                self.place = Some(place);
            }
        }
        Ok((!piece.probs.is_empty()).then_some(piece))
    }

    /// Takes n-grams from a bucket; returns whether it is at its end.
    fn fill(&self, piece: &mut Piece, place: &mut Bucket<'_>) -> Result<bool> {
        while piece.probs.len() < PIECE {
            let (prob, pruned) = if let (Some(walk), Some(probs)) = (&mut place.walk, &mut place.probs) {
                let Some((words, entry)) = walk.next()? else { return Ok(true) };
                if !entry.is_pruned() {
                    piece.words.extend(words.iter().rev());
                }
                (probs.next()?.unwrap_or(0.0), entry.is_pruned())
            } else {
                let word = place.word;
                if word == self.levels.starts[0][self.bucket + 1] {
                    return Ok(true);
                }
                place.word += 1;
                let pruned = self.levels.unigrams[word as usize].pruned;
                if !pruned {
                    piece.words.push(word);
                }
                (self.words[word as usize], pruned)
            };
            let gamma = match &mut place.gammas {
                Some(gammas) => gammas.next()?,
                None => None,
            };
            if !pruned {
                piece.probs.push(prob);
                piece.gammas.extend(gamma);
            }
        }
        Ok(false)
    }
}

/// Takes the sections of a model, shortest n-grams first.
pub(crate) trait Sink {
    /// Before the first section: how many n-grams of each length there will be.
    fn begin(&mut self, kept: &[u64]) -> Result<()>;
    fn section(&mut self, vocab: &Vocab, section: Section<'_>, tools: &Tools) -> Result<()>;
}

/// Writes ARPA text.
#[derive(Debug)]
pub(crate) struct ArpaSink<'a> {
    pub(crate) out: &'a mut Output,
    pub(crate) sections: usize,
}

impl Sink for ArpaSink<'_> {
    fn begin(&mut self, kept: &[u64]) -> Result<()> {
        self.sections = kept.len();
        self.out.line("\\data\\")?;
        for (n, count) in (1..).zip(kept) {
            self.out.line(&format!("ngram {n}={count}"))?;
        }
        Ok(())
    }

    fn section(&mut self, vocab: &Vocab, mut section: Section<'_>, tools: &Tools) -> Result<()> {
        let n = section.n;
        self.out.line(&format!("\n\\{n}-grams:"))?;
        // Buffers are recycled: what one thread frees another would soon allocate.
        let (pieces, texts) = (Spare::<Piece>::default(), Spare::<Vec<u8>>::default());
        let format = |piece: Piece| {
            let mut text = texts.take();
            text.clear();
            piece.format(vocab, &mut text);
            pieces.put(piece);
            Ok(text)
        };
        in_order(
            tools.threads,
            || section.next_piece(pieces.take()),
            format,
            |text| {
                self.out.write(&text)?;
                texts.put(text);
                Ok(())
            },
        )?;
        if n == self.sections { self.out.line("\n\\end\\") } else { Ok(()) }
    }
}

/// Used buffers that can be reused.
#[derive(Debug, Default)]
struct Spare<T>(Mutex<Vec<T>>);

impl<T: Default> Spare<T> {
    fn take(&self) -> T {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    fn put(&self, thing: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(thing);
    }
}

impl Piece {
    /// Appends lines of ARPA text.
    pub(crate) fn format(&self, vocab: &Vocab, text: &mut Vec<u8>) {
        let mut weights = Weights::new();
        for (index, &prob) in self.probs.iter().enumerate() {
            // Rounding may leave a probability just above one.
            push_log10(text, prob.min(1.0));
            let mut separator = b'\t';
            for &word in &self.words[index * self.n..(index + 1) * self.n] {
                text.push(separator);
                text.extend_from_slice(vocab.text(Symbol(word)).as_bytes());
                separator = b' ';
            }
            if let Some(&gamma) = self.gammas.get(index) {
                text.push(b'\t');
                weights.push(text, gamma);
            }
            text.push(b'\n');
        }
    }
}

/// Appends log10 with up to seven digits after the point.
fn push_log10(text: &mut Vec<u8>, p: f64) {
    let log = if p > 0.0 { libm::log10(p).max(ZERO) } else { ZERO };
    let scaled = (log.abs() * 1e7 + 0.5) as u64;
    if log < 0.0 && scaled > 0 {
        text.push(b'-');
    }
    let (whole, rest) = ((scaled / 10_000_000) as u32, (scaled % 10_000_000) as u32);
    if whole >= 10 {
        text.extend_from_slice(&pair(whole % 100));
    } else {
        text.push(b'0' + whole as u8);
    }
    if rest > 0 {
        // The digits in pairs, which are independent of each other.
        let [[a, b], [c, d], [e, f]] = [rest / 100_000, rest / 1_000 % 100, rest / 10 % 100].map(pair);
        let digits = [b'.', a, b, c, d, e, f, b'0' + (rest % 10) as u8];
        let used = digits.iter().rposition(|&digit| digit != b'0').map_or(0, |last| last + 1);
        text.extend_from_slice(&digits[..used]);
    }
}

/// Two digits.
#[inline]
fn pair(number: u32) -> [u8; 2] {
    [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8]
}

/// Back-off weights as text. Most contexts were seen once or twice and share a handful of weights, so the last
/// ones are remembered.
struct Weights {
    known: Vec<(u64, [u8; 12], u8)>,
    text: Vec<u8>,
}

/// How many weights are remembered; a power of two.
const WEIGHTS: usize = 256;

impl Weights {
    fn new() -> Self {
        // The bits of no number: a NaN.
        Self { known: vec![(u64::MAX, [0; 12], 0); WEIGHTS], text: Vec::new() }
    }

    /// Appends log10 of a weight.
    fn push(&mut self, text: &mut Vec<u8>, gamma: f64) {
        let bits = gamma.to_bits();
        let known = &mut self.known[(fold(0, bits) >> 40) as usize % WEIGHTS];
        if known.0 != bits {
            self.text.clear();
            push_log10(&mut self.text, gamma);
            let len = self.text.len().min(known.1.len());
            *known = (bits, [0; 12], len as u8);
            known.1[..len].copy_from_slice(&self.text[..len]);
        }
        text.extend_from_slice(&known.1[..usize::from(known.2)]);
    }
}

/// Makes a model in memory.
pub(crate) struct LmSink {
    builder: Builder,
}

impl LmSink {
    pub(crate) fn new(order: usize) -> Self {
        Self { builder: Builder::new(order, true) }
    }

    pub(crate) fn finish(self) -> Lm {
        self.builder.finish(ln(0.0)).expect("the sentence boundaries are in every vocabulary")
    }
}

impl Sink for LmSink {
    fn begin(&mut self, _kept: &[u64]) -> Result<()> {
        Ok(())
    }

    fn section(&mut self, vocab: &Vocab, mut section: Section<'_>, _tools: &Tools) -> Result<()> {
        let n = section.n;
        let mut words = Vec::new();
        let mut spare = Piece::default();
        while let Some(piece) = section.next_piece(spare)? {
            for (index, &prob) in piece.probs.iter().enumerate() {
                let backoff = piece.gammas.get(index).map_or(0.0, |&gamma| ln(gamma));
                let gram = &piece.words[index * n..(index + 1) * n];
                let prob = if n == 1 && gram[0] == BEGIN_ID { 0.0 } else { ln(prob).min(0.0) };
                let added = if n == 1 {
                    self.builder.add_word(vocab.text(Symbol(gram[0])), prob, backoff).map(drop)
                } else {
                    words.clear();
                    // A vocabulary that was limited has other ids in the model.
                    words.extend(gram.iter().map(|&word| self.word(vocab, word)));
                    self.builder.add(&words, prob, backoff)
                };
                debug_assert!(added.is_ok(), "each n-gram is listed once");
            }
            spare = piece;
        }
        Ok(())
    }
}

impl LmSink {
    /// The word of the model.
    fn word(&self, vocab: &Vocab, word: u32) -> WordId {
        WordId(self.builder.vocab.get(vocab.text(Symbol(word))).map_or(0, |symbol| symbol.0))
    }
}

/// The logarithm of a probability or weight, finite also for zero.
fn ln(p: f64) -> f32 {
    let zero = ZERO * std::f64::consts::LN_10;
    (if p > 0.0 { libm::log(p).max(zero) } else { zero }) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back_to_within_half_of_the_last_digit(log in -99.0f64..3.0) {
            let p = 10f64.powf(log);
            let mut text = Vec::new();
            push_log10(&mut text, p);
            let back: f64 = std::str::from_utf8(&text).unwrap().parse().unwrap();
            prop_assert!((back - libm::log10(p)).abs() < 5.1e-8, "{log} {back}");
        }
    }

    #[test]
    fn simple_numbers_are_written_simply() {
        for (p, expected) in
            [(1.0, "0"), (0.1, "-1"), (0.0, "-99"), (1e-12, "-12"), (10f64.powf(-0.25), "-0.25")]
        {
            let mut text = Vec::new();
            push_log10(&mut text, p);
            assert_eq!(String::from_utf8(text).unwrap(), expected);
        }
        let mut text = Vec::new();
        push_log10(&mut text, 1.0 - 1e-9);
        assert_eq!(text, b"0");
    }
}
