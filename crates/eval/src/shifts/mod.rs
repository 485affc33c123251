//! Tercom's greedy search for shifts (Snover et al. 2006, section 3, and the limits of its program).
//!
//! A block of the translation may move when it equals a block of the reference, something in it is wrong, and
//! something in the block of the reference is missing. Each round tries all such moves and takes the one after
//! which the edit distance is smallest; then the longest, then the leftmost, then the one that moves to the
//! leftmost place. Rounds go on as long as the distance shrinks.

mod edits;

use sylvan_base::Symbol;

use edits::{Band, Costs, Edit, distance_after};

/// Longest block.
const MAX_BLOCK: usize = 10;
/// Longest way.
const MAX_WAY: usize = 50;
/// Moves tried per sentence, over all rounds.
const MAX_TRIED: usize = 1000;

/// Memory for one sentence.
#[derive(Debug, Default)]
pub(crate) struct TerWork {
    hyp: Vec<Symbol>,
    shifted: Vec<Symbol>,
    best: Vec<Symbol>,
    forwards: Costs,
    backwards: Costs,
    rows: [Vec<u32>; 2],
    /// Per word of the reference: the word of the translation beside it or before it, counted from 1; 0: none.
    beside: Vec<usize>,
    /// How many of the first words of the translation are wrong.
    wrong: Vec<usize>,
    /// How many of the first words of the reference are missing.
    missing: Vec<usize>,
    trace: Vec<Edit>,
}

impl TerWork {
    /// The number of edits, shifts included, from a translation to a reference.
    pub(crate) fn edits(&mut self, hyp: &[Symbol], reference: &[Symbol]) -> u64 {
        if reference.is_empty() {
            return hyp.len() as u64;
        }
        if hyp == reference {
            return 0;
        }
        self.hyp.clear();
        self.hyp.extend_from_slice(hyp);
        let band = Band::new(hyp.len(), reference.len());
        let (mut shifts, mut tried) = (0, 0);
        loop {
            self.forwards.forwards(&band, &self.hyp, reference);
            let distance = self.forwards.distance();
            let gain = if distance == 0 { 0 } else { self.round(&band, distance, reference, &mut tried) };
            // A search that was cut short does not make its last move.
            if tried >= MAX_TRIED || gain <= 0 {
                return shifts + u64::from(distance);
            }
            shifts += 1;
            std::mem::swap(&mut self.hyp, &mut self.best);
        }
    }

    /// Tries the moves of one round, leaves the best order in `best` and returns what it gains.
    fn round(&mut self, band: &Band, distance: u32, reference: &[Symbol], tried: &mut usize) -> i64 {
        self.align(reference);
        let mut backwards_ready = false;
        // What is better, as a tuple that compares: gain, length, and the negated places from and to.
        let mut best: Option<(i64, usize, isize, isize)> = None;
        let words = self.hyp.len();
        for from in 0..words {
            let first = from.saturating_sub(MAX_WAY);
            let last = (from + MAX_WAY + 1).min(reference.len());
            for place in first..last {
                let longest = MAX_BLOCK.min(words - from).min(reference.len() - place);
                for length in 1..=longest {
                    if self.hyp[from + length - 1] != reference[place + length - 1] {
                        break;
                    }
                    let right = self.wrong[from + length] == self.wrong[from];
                    let there = self.missing[place + length] == self.missing[place];
                    // Not within itself.
                    let within = (from + 1..=from + length).contains(&self.beside[place]);
                    if right || there || within {
                        continue;
                    }
                    if !backwards_ready {
                        self.backwards.backwards(band, &self.hyp, reference);
                        backwards_ready = true;
                    }
                    let mut last_to = None;
                    for word in place..=place + length {
                        // After what is aligned with the word before.
                        let to = if word == 0 { 0 } else { self.beside[word - 1] };
                        if last_to.replace(to) == Some(to) {
                            continue;
                        }
                        let changed = shift(&self.hyp, from, length, to, &mut self.shifted);
                        let after = distance_after(
                            (&self.forwards, &self.backwards),
                            band,
                            changed,
                            &self.shifted,
                            reference,
                            &mut self.rows,
                        );
                        *tried += 1;
                        let gain = i64::from(distance) - i64::from(after);
                        let candidate = (gain, length, -(from as isize), -(to as isize));
                        if best.is_none_or(|best| candidate > best) {
                            best = Some(candidate);
                            std::mem::swap(&mut self.best, &mut self.shifted);
                        }
                    }
                    if *tried >= MAX_TRIED {
                        return best.map_or(0, |best| best.0);
                    }
                }
            }
        }
        best.map_or(0, |best| best.0)
    }

    /// Reads off the forward costs which words are wrong, missing, and beside each other.
    fn align(&mut self, reference: &[Symbol]) {
        self.trace.clear();
        let trace = &mut self.trace;
        self.forwards.trace(&self.hyp, reference, |edit| trace.push(edit));
        self.beside.clear();
        for counts in [&mut self.wrong, &mut self.missing] {
            counts.clear();
            counts.push(0);
        }
        let (mut wrong, mut missing, mut hyp) = (0, 0, 0);
        for edit in self.trace.iter().rev() {
            let error = usize::from(*edit != Edit::Keep);
            if *edit != Edit::Insert {
                hyp += 1;
                wrong += error;
                self.wrong.push(wrong);
            }
            if *edit != Edit::Delete {
                missing += error;
                self.missing.push(missing);
                self.beside.push(hyp);
            }
        }
    }
}

/// Moves `length` words at `from` to before place `to`, and returns which places have changed. A target inside
/// the block moves the block to the right by as much as the target is inside.
fn shift(words: &[Symbol], from: usize, length: usize, to: usize, out: &mut Vec<Symbol>) -> (usize, usize) {
    out.clear();
    out.extend_from_slice(words);
    if to < from {
        out[to..from + length].rotate_right(length);
        (to, from + length)
    } else {
        let end = if to > from + length { to } else { (to + length).min(words.len()) };
        out[from..end].rotate_left(length);
        (from, end)
    }
}
