//! Counting n-grams for the estimator.
//!
//! An n-gram is an array with its newest word first and zeros behind its oldest. Sorted lists of such arrays are
//! in *suffix order*: all n-grams that end alike stand together, and they stand in the same order as their
//! common suffix does in the list of the shorter n-grams. So one walk through two neighbouring lists finds the
//! suffix of every n-gram and counts how many different words precede it.

/// The longest n-gram that can be counted.
pub const MAX_ESTIMATE_ORDER: usize = 5;

/// The ids of the words that are no words: `<unk>`, `<s>`, `</s>`.
pub(crate) const UNKNOWN_ID: u32 = 0;
pub(crate) const BEGIN_ID: u32 = 1;
pub(crate) const END_ID: u32 = 2;

pub(crate) type Words = [u32; MAX_ESTIMATE_ORDER];

/// An n-gram with its counts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counted {
    /// Newest first.
    pub(crate) words: Words,
    /// How often it occurs; after [`adjust`] the count that Kneser-Ney smoothing uses.
    pub(crate) count: u64,
    /// The position of the n-gram without its oldest word in the list of the shorter n-grams.
    pub(crate) suffix: u32,
}

/// All n-grams of length `n` of a text of `<s> .. </s>` sentences, in suffix order.
pub(crate) fn count(text: &[u32], n: usize) -> Vec<Counted> {
    // A window crosses no boundary if `<s>` stands nowhere but at its start.
    let inside = |window: &&[u32]| !window[1..].contains(&BEGIN_ID);
    let mut all: Vec<Words> = text
        .windows(n)
        .filter(inside)
        .map(|window| {
            let mut words = [0; MAX_ESTIMATE_ORDER];
            for (to, from) in words.iter_mut().zip(window.iter().rev()) {
                *to = *from;
            }
            words
        })
        .collect();
    all.sort_unstable();
    all.chunk_by(|a, b| a == b)
        .map(|same| Counted { words: same[0], count: same.len() as u64, suffix: 0 })
        .collect()
}

/// All words as 1-grams, at the positions that their ids say, those that are never counted included.
pub(crate) fn count_words(text: &[u32], vocab: usize) -> Vec<Counted> {
    let mut list: Vec<Counted> = (0..vocab)
        .map(|id| {
            let mut words = [0; MAX_ESTIMATE_ORDER];
            words[0] = id as u32;
            Counted { words, count: 0, suffix: 0 }
        })
        .collect();
    for &word in text {
        list[word as usize].count += 1;
    }
    list
}

/// Links each n-gram of `longer` (length `n` + 1) to its suffix in `shorter`, and turns the counts of `shorter`
/// into the number of different words that precede. N-grams with `<s>` in front keep their count: nothing
/// precedes them.
pub(crate) fn adjust(shorter: &mut [Counted], longer: &mut [Counted], n: usize) {
    for gram in shorter.iter_mut().filter(|gram| gram.words[n - 1] != BEGIN_ID) {
        gram.count = 0;
    }
    let mut at = 0;
    for gram in longer.iter_mut() {
        while shorter[at].words[..n] != gram.words[..n] {
            at += 1;
        }
        gram.suffix = at as u32;
        shorter[at].count += u64::from(shorter[at].words[n - 1] != BEGIN_ID);
    }
}

/// The position of the context of an n-gram (all but its newest word) in the list of the shorter n-grams.
pub(crate) fn context(shorter: &[Counted], words: &Words) -> usize {
    let mut key = [0; MAX_ESTIMATE_ORDER];
    key[..MAX_ESTIMATE_ORDER - 1].copy_from_slice(&words[1..]);
    shorter.binary_search_by(|gram| gram.words.cmp(&key)).expect("a context occurs where its n-gram does")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_counted_apart_and_predecessors_once() {
        // <s> 3 4 </s> <s> 3 4 </s> <s> 4 </s>
        let text = [1, 3, 4, 2, 1, 3, 4, 2, 1, 4, 2];
        let mut words = count_words(&text, 5);
        let mut pairs = count(&text, 2);
        let shown: Vec<_> = pairs.iter().map(|gram| (gram.words[1], gram.words[0], gram.count)).collect();
        assert_eq!(shown, [(4, 2, 3), (1, 3, 2), (1, 4, 1), (3, 4, 2)]);
        adjust(&mut words, &mut pairs, 1);
        let adjusted: Vec<_> = words.iter().map(|gram| gram.count).collect();
        assert_eq!(adjusted, [0, 3, 1, 1, 2]);
        assert_eq!(pairs.iter().map(|gram| gram.suffix).collect::<Vec<_>>(), [2, 3, 4, 4]);
        assert_eq!(context(&words, &pairs[3].words), 3);
    }
}
