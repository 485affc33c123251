//! Turning a model in memory into a trie.

use sylvan_base::Id;
use sylvan_base::hash::content_hash;

use super::TrieWord;
use super::bits::{BitWriter, width_below};
use super::codes::Coder;
use super::perfect::{Perfect, key};
use crate::WordId;
use crate::hash::{HashLayout, cursor_of};
use crate::layout::{Layout, NO_CONTEXT};
use crate::store::List;
use crate::words::Words;

/// The ids of a trie: the unknown word first, then all words in the order of a hash of their text.
#[derive(Debug)]
pub(crate) struct Scatter {
    /// The old id of each new one.
    pub(crate) old: Vec<WordId>,
    /// The new id of each old one.
    pub(crate) new: Vec<WordId>,
}

impl Scatter {
    pub(crate) fn of(words: &Words) -> Self {
        let mut old: Vec<WordId> = (0..words.len()).map(WordId::from_index).collect();
        old.sort_by_cached_key(|&word| (word.0 != 0, content_hash(words.text(word).as_bytes()), word.0));
        let mut new = vec![WordId(0); old.len()];
        for (index, &word) in old.iter().enumerate() {
            new[word.index()] = WordId::from_index(index);
        }
        Self { old, new }
    }
}

/// The n-grams of one length as they are written.
#[derive(Debug)]
pub(crate) struct BuiltLevel {
    pub(crate) cells: usize,
    /// Empty if each word stands before its record.
    pub(crate) words: Vec<u8>,
    pub(crate) records: Vec<u8>,
    pub(crate) prob: Coder,
    pub(crate) backoff: Coder,
    pub(crate) next_width: u32,
    /// The function that says where n-grams stand, unless they are sorted.
    pub(crate) perfect: Option<Perfect>,
    /// The place in the trie of each n-gram of the list.
    pub(crate) places: Vec<u32>,
}

/// Whether the n-grams of this length have their words and records together.
pub(crate) fn is_together(n: usize, hashed: bool) -> bool {
    hashed || n > 2
}

/// The places of the n-grams of one length.
struct Placed {
    /// The place of the shorter n-gram and the oldest word, by number in the list.
    keys: Vec<u64>,
    /// By number in the list.
    places: Vec<u32>,
    perfect: Option<Perfect>,
    cells: usize,
}

fn place(keys: Vec<u64>, hashed: bool) -> Placed {
    if hashed {
        let perfect = Perfect::new(&keys);
        let places = keys.iter().map(|&key| perfect.cell(key) as u32).collect();
        return Placed { places, cells: perfect.cells, perfect: Some(perfect), keys };
    }
    let mut sorted: Vec<(u64, u32)> = keys.iter().copied().zip(0..).collect();
    sorted.sort_unstable();
    let mut places = vec![0; keys.len()];
    for (&(_, number), place) in sorted.iter().zip(0..) {
        places[number as usize] = place;
    }
    Placed { cells: keys.len(), places, perfect: None, keys }
}

/// The 1-grams and all levels, each handed to `put` as soon as it is ready.
pub(crate) fn build<E>(
    layout: &HashLayout,
    list: &List,
    scatter: &Scatter,
    quantize: Option<u32>,
    mut put: impl FnMut(usize, BuiltLevel) -> Result<(), E>,
) -> Result<Vec<TrieWord>, E> {
    let order = layout.order();
    // Fast, but it takes a few more bits per n-gram.
    let hashed = |n: usize| n < order && quantize.is_none() && list.grams(n).len() > 0;
    // The place of each n-gram by its slot in the tables, first of the words.
    let mut known: Vec<u32> = scatter.new.iter().map(|word| word.0).collect();
    let keys = |n: usize, known: &[u32]| -> Vec<u64> {
        let of = |words: &[WordId]| {
            let slot = slot(layout, &words[1..]).expect("all suffixes are there");
            key(known[slot], scatter.new[words[0].index()])
        };
        if n > order { Vec::new() } else { list.grams(n).map(of).collect() }
    };
    let mut current = place(keys(2, &known), hashed(2));
    let next = starts(&current.keys, scatter.old.len());
    let old = scatter.old.iter().map(|&word| layout.word(word));
    let mut words: Vec<TrieWord> = old
        .zip(&next)
        .map(|(gram, &next)| TrieWord { prob: gram.prob, backoff: gram.backoff, next })
        .collect();
    words.push(TrieWord { prob: 0.0, backoff: NO_CONTEXT, next: current.keys.len() as u32 });
    let word_width = width_below(scatter.old.len() as u64);
    let mut parents = scatter.old.len();
    for n in 2..=order {
        known = if n < order { vec![0; layout.slots(n)] } else { Vec::new() };
        let (mut probs, mut backoffs) = (Vec::new(), Vec::new());
        for (words, &place) in list.grams(n).zip(&current.places) {
            let table_key = crate::hash::key(cursor_of(words));
            if n < order {
                let found = layout.middle[n - 2].find(table_key);
                let (slot, gram) = found.expect("all n-grams of the list are there");
                known[slot] = place;
                probs.push(gram.prob);
                backoffs.push(gram.backoff);
            } else {
                let longest = layout.longest.as_ref().and_then(|table| table.find(table_key));
                probs.push(longest.expect("all n-grams of the list are there").1);
            }
        }
        let longer = place(keys(n + 1, &known), hashed(n + 1));
        // Where the next are hashed it is enough to know whether there are any.
        let next = (n < order).then(|| starts(&longer.keys, current.cells));
        let next = next.map(|next| if hashed(n + 1) { flags(&next) } else { next });
        let cells = current.cells;
        let widths = (word_width, width_below(parents as u64));
        put(n, pack(n, current, widths, &probs, &backoffs, next.as_deref(), quantize))?;
        (current, parents) = (longer, cells);
    }
    Ok(words)
}

/// The slot of an n-gram in the tables.
fn slot(layout: &HashLayout, words: &[WordId]) -> Option<usize> {
    match words {
        [word] => Some(word.index()),
        _ => Some(layout.middle.get(words.len() - 2)?.find(crate::hash::key(cursor_of(words)))?.0),
    }
}

/// How many of the longer n-grams belong to places before each one; one number more at the end.
fn starts(longer: &[u64], places: usize) -> Vec<u32> {
    let mut starts = vec![0; places + 1];
    for key in longer {
        starts[(key >> 32) as usize + 1] += 1;
    }
    for place in 0..places {
        starts[place + 1] += starts[place];
    }
    starts
}

/// 1 where something starts, else 0.
fn flags(starts: &[u32]) -> Vec<u32> {
    starts.windows(2).map(|pair| u32::from(pair[0] < pair[1])).chain([0]).collect()
}

/// `widths` are the bits of words and of places of shorter n-grams.
fn pack(
    n: usize,
    placed: Placed,
    (word_width, parent_width): (u32, u32),
    probs: &[f32],
    backoffs: &[f32],
    next: Option<&[u32]>,
    quantize: Option<u32>,
) -> BuiltLevel {
    let Placed { keys, places, perfect, cells } = placed;
    let prob = Coder::new(probs, quantize);
    let backoff = match next {
        Some(_) => Coder::new(backoffs, quantize),
        None => Coder { width: 0, table: None },
    };
    let most = next.and_then(|next| next.iter().max());
    let next_width = next.map_or(0, |_| width_below(most.map_or(0, |&most| u64::from(most) + 1)));
    // Which n-gram is where; the first one also where there is none, since no search for it comes by.
    let mut numbers = vec![0u32; cells];
    for (&place, number) in places.iter().zip(0..) {
        numbers[place as usize] = number;
    }
    let hashed = perfect.is_some();
    let together = is_together(n, hashed);
    let (mut words, mut records) = (BitWriter::default(), BitWriter::default());
    for (at, number) in numbers.into_iter().map(|number| number as usize).enumerate() {
        let key = keys.get(number).copied().unwrap_or(0);
        let words = if together { &mut records } else { &mut words };
        words.push(key & 0xFFFF_FFFF, word_width);
        if hashed {
            words.push(key >> 32, parent_width);
        }
        records.push(probs.get(number).map_or(0, |&value| prob.encode(value)), prob.width);
        if let Some(next) = next {
            records.push(backoffs.get(number).map_or(0, |&value| backoff.encode(value)), backoff.width);
            records.push(u64::from(next[at]), next_width);
        }
    }
    if let Some(&end) = next.and_then(<[u32]>::last) {
        let front = if hashed { [word_width, parent_width] } else { [word_width, 0] };
        if together {
            front.iter().for_each(|&width| records.push(0, width));
        }
        records.push(0, prob.width);
        records.push(0, backoff.width);
        records.push(u64::from(end), next_width);
    }
    let (words, records) = (words.finish(), records.finish());
    BuiltLevel { cells, words, records, prob, backoff, next_width, perfect, places }
}
