//! Turning a model in memory into a trie.

use sylvan_base::Id;
use sylvan_base::hash::content_hash;

use super::TrieWord;
use super::bits::{BitWriter, width_below};
use super::codes::Coder;
use crate::hash::{HashLayout, cursor_of, key, lengthen};
use crate::layout::{Cursor, Layout, NO_CONTEXT};
use crate::store::List;
use crate::words::Words;
use crate::{MAX_ORDER, WordId};

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
    pub(crate) count: usize,
    /// Empty if each word stands before its record.
    pub(crate) words: Vec<u8>,
    pub(crate) records: Vec<u8>,
    pub(crate) prob: Coder,
    pub(crate) backoff: Coder,
    pub(crate) next_width: u32,
    /// A table of places, if this length has one.
    pub(crate) jumps: Option<Vec<u8>>,
    /// The place in the trie of each n-gram of the list.
    pub(crate) places: Vec<u32>,
}

/// An n-gram in the order of the trie: newest word first, new ids, and its number in the list.
type Path = ([u32; MAX_ORDER], u32);

fn paths(list: &List, n: usize, scatter: &Scatter) -> Vec<Path> {
    let mut paths: Vec<Path> = list
        .grams(n)
        .zip(0..)
        .map(|(words, number)| {
            let mut path = [0; MAX_ORDER];
            for (to, from) in path.iter_mut().zip(words.iter().rev()) {
                *to = scatter.new[from.index()].0;
            }
            (path, number)
        })
        .collect();
    paths.sort_unstable();
    paths
}

/// How many of the longer n-grams stand before those of each shorter one; one number more at the end.
fn starts<'a>(shorter: impl Iterator<Item = &'a [u32]>, longer: &[Path], n: usize) -> Vec<u32> {
    let mut starts = vec![0];
    let mut at = 0;
    for path in shorter {
        while longer.get(at).is_some_and(|(other, _)| other[..n] == *path) {
            at += 1;
        }
        starts.push(at as u32);
    }
    starts
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
    let singles: Vec<[u32; 1]> = (0..scatter.old.len() as u32).map(|word| [word]).collect();
    let mut current = if order > 1 { paths(list, 2, scatter) } else { Vec::new() };
    let next = starts(singles.iter().map(<[u32; 1]>::as_slice), &current, 1);
    let old = scatter.old.iter().map(|&word| layout.word(word));
    let mut words: Vec<TrieWord> = old
        .zip(&next)
        .map(|(gram, &next)| TrieWord { prob: gram.prob, backoff: gram.backoff, next })
        .collect();
    words.push(TrieWord { prob: 0.0, backoff: NO_CONTEXT, next: current.len() as u32 });
    let word_width = width_below(scatter.old.len() as u64);
    for n in 2..=order {
        let longer = if n < order { paths(list, n + 1, scatter) } else { Vec::new() };
        let next = (n < order).then(|| starts(current.iter().map(|(path, _)| &path[..n]), &longer, n));
        let grams: Vec<&[WordId]> = list.grams(n).collect();
        let (mut probs, mut backoffs) = (Vec::new(), Vec::new());
        for (_, number) in &current {
            let cursor = cursor_of(grams[*number as usize]);
            if n < order {
                let gram =
                    layout.middle[n - 2].find(key(cursor)).expect("all n-grams of the list are there").1;
                probs.push(gram.prob);
                backoffs.push(gram.backoff);
            } else {
                let longest = layout.longest.as_ref().and_then(|table| table.find(key(cursor)));
                probs.push(longest.expect("all n-grams of the list are there").1);
            }
        }
        put(n, pack(n, &current, word_width, &probs, &backoffs, next.as_deref(), quantize))?;
        current = longer;
    }
    Ok(words)
}

/// Whether the n-grams of this length have their words and records together.
pub(crate) fn interleaved(n: usize) -> bool {
    n > 2
}

fn pack(
    n: usize,
    paths: &[Path],
    word_width: u32,
    probs: &[f32],
    backoffs: &[f32],
    next: Option<&[u32]>,
    quantize: Option<u32>,
) -> BuiltLevel {
    let prob = Coder::new(probs, quantize);
    let backoff = match next {
        Some(_) => Coder::new(backoffs, quantize),
        None => Coder { width: 0, table: None },
    };
    let next_width = next.map_or(0, |next| width_below(next.last().map_or(0, |&last| u64::from(last) + 1)));
    let (mut words, mut records) = (BitWriter::default(), BitWriter::default());
    let mut places = vec![0; paths.len()];
    for (at, (path, number)) in paths.iter().enumerate() {
        places[*number as usize] = at as u32;
        let words = if interleaved(n) { &mut records } else { &mut words };
        words.push(u64::from(path[n - 1]), word_width);
        records.push(prob.encode(probs[at]), prob.width);
        if let Some(next) = next {
            records.push(backoff.encode(backoffs[at]), backoff.width);
            records.push(u64::from(next[at]), next_width);
        }
    }
    if let Some(&end) = next.and_then(<[u32]>::last) {
        if interleaved(n) {
            records.push(0, word_width);
        }
        records.push(0, prob.width);
        records.push(0, backoff.width);
        records.push(u64::from(end), next_width);
    }
    let (words, records) = (words.finish(), records.finish());
    let jumps = next.filter(|_| interleaved(n) && quantize.is_none()).map(|next| jumps(n, paths, next));
    BuiltLevel { count: paths.len(), words, records, prob, backoff, next_width, jumps, places }
}

/// A table of places by hash. Where several n-grams meet, the one that grows most is likely to be the most frequent.
fn jumps(n: usize, paths: &[Path], next: &[u32]) -> Vec<u8> {
    let mut places = vec![0usize; paths.len()];
    let growth = |at: usize| next[at + 1] - next[at];
    let mut taken = vec![false; paths.len()];
    for (at, (path, _)) in paths.iter().enumerate() {
        let cursor =
            (1..).zip(&path[..n]).fold(Cursor(0), |cursor, (n, &word)| lengthen(n, cursor, WordId(word)));
        let slot = ((u128::from(key(cursor)) * paths.len() as u128) >> 64) as usize;
        if !taken[slot] || growth(places[slot]) < growth(at) {
            (taken[slot], places[slot]) = (true, at);
        }
    }
    let mut writer = BitWriter::default();
    let width = width_below(paths.len() as u64);
    places.iter().for_each(|&place| writer.push(place as u64, width));
    writer.finish()
}
