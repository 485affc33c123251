//! Estimating the model from trees.
//!
//! Words: interpolated Kneser-Ney with three discounts. The counts of a context that sees less are the numbers of
//! contexts above it in which a word was seen, so that a word that always follows the same head is not expected elsewhere.
//! Actions: Witten-Bell; there are few outcomes, all of them frequent.

use std::sync::Arc;

use sylvan_base::HashMap;
use sylvan_store::Section;

use super::contexts::{Contexts, LEVELS, Legal, action_contexts, word_contexts};
use super::table::{Decisions, Outcomes, Table, context_key, outcome_key};
use super::{
    ACTIONS, END, Generative, GenerativeTree, GenerativeWord, LEFT, RIGHT, SHIFT, UNKNOWN, numbered,
};
use crate::dependency::system::{LEFT as OWN_LEFT, SHIFT as OWN_SHIFT, oracle};
use crate::structured::{Actions, Keep, Owing, Parses, Partial};

/// Collects trees.
#[derive(Debug)]
pub struct GenerativeEstimator {
    tags: Vec<Box<str>>,
    ways: usize,
    words: HashMap<Box<str>, u32>,
    texts: Vec<Box<str>>,
    sentences: Vec<Sentence>,
    left_out: u64,
}

#[derive(Debug)]
struct Sentence {
    words: Vec<u32>,
    tags: Vec<u8>,
    actions: Vec<u8>,
}

/// A decision: what it saw, and what it was.
#[derive(Debug, Clone, Copy)]
struct Event {
    contexts: Contexts,
    outcome: u32,
}

impl GenerativeEstimator {
    /// Parts of speech by number, and how many a word may have.
    pub fn new(tags: &[String], ways: usize) -> Self {
        Self {
            tags: tags.iter().map(|tag| tag.as_str().into()).collect(),
            ways: ways.clamp(1, 255),
            words: HashMap::default(),
            texts: Vec::new(),
            sentences: Vec::new(),
            left_out: 0,
        }
    }

    /// Adds a sentence with its parts of speech and heads (`None`: the root). Trees with crossing arcs are left out.
    pub fn add(&mut self, words: &[&str], tags: &[u8], heads: &[Option<u32>]) {
        let Some(actions) = oracle(heads).filter(|_| !words.is_empty() && words.len() == tags.len()) else {
            self.left_out += 1;
            return;
        };
        let ids = words.iter().map(|&word| match self.words.get(word) {
            Some(&known) => known,
            None => {
                self.texts.push(word.into());
                let new = self.texts.len() as u32;
                self.words.insert(word.into(), new);
                new
            }
        });
        let (words, tags) = (ids.collect(), tags.to_vec());
        self.sentences.push(Sentence { words, tags, actions });
    }

    /// The model. Notes are kept in its file.
    pub fn finish(self, mut notes: Vec<(String, String)>) -> Generative {
        notes.push(("sentences".into(), self.sentences.len().to_string()));
        notes.push(("left out".into(), self.left_out.to_string()));
        let (word_tags, tag_scores) = self.likely_tags();
        let (mut actions, mut words) = (Vec::new(), Vec::new());
        for sentence in &self.sentences {
            self.events(sentence, &word_tags, &mut actions, &mut words);
        }
        let uniform = 1.0 / (self.texts.len() + 1) as f64;
        let (decisions, outcomes) =
            (Decisions(self::actions(actions)), Outcomes(self::words(words, uniform)));
        let texts: Arc<[Box<str>]> = self.texts.iter().cloned().collect();
        let mut model = Generative {
            words: Arc::new(numbered(&texts)),
            expected: Section::from_vec(vec![0.0; texts.len() + 1]),
            reduction: 0.0,
            texts,
            tags: self.tags.iter().cloned().collect(),
            word_tags: Section::from_vec(word_tags),
            tag_scores: Section::from_vec(tag_scores),
            ways: self.ways,
            actions: decisions,
            outcomes,
            notes,
        };
        model.reduction = self.expected_reduction(&model);
        model.expected = Section::from_vec(self.expected_words(&model));
        model
    }

    /// By word: its most frequent parts of speech, plus 1, and the logarithms of their shares. Unknown words are
    /// expected to be what words that were seen once are.
    fn likely_tags(&self) -> (Vec<u8>, Vec<f32>) {
        let mut counts = vec![vec![0u32; self.tags.len()]; self.texts.len() + 1];
        for sentence in &self.sentences {
            for (&word, &tag) in sentence.words.iter().zip(&sentence.tags) {
                if let Some(count) = counts[word as usize].get_mut(usize::from(tag)) {
                    *count += 1;
                }
            }
        }
        let mut unknown = vec![0; self.tags.len()];
        for counts in counts.iter().filter(|counts| counts.iter().sum::<u32>() == 1) {
            unknown.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        counts[UNKNOWN as usize] = unknown;
        let (mut tags, mut scores) = (Vec::new(), Vec::new());
        for counts in counts {
            let mut ranked: Vec<(u32, usize)> =
                counts.iter().copied().zip(0..).filter(|(count, _)| *count > 0).collect();
            ranked.sort_unstable_by_key(|&(count, tag)| (std::cmp::Reverse(count), tag));
            ranked.truncate(self.ways);
            let all: u32 = ranked.iter().map(|(count, _)| count).sum();
            for way in 0..self.ways {
                let (tag, score) = ranked.get(way).map_or((0, 0.0), |&(count, tag)| {
                    (tag as u8 + 1, (f64::from(count) / f64::from(all)).ln() as f32)
                });
                tags.push(tag);
                scores.push(score);
            }
        }
        (tags, scores)
    }

    fn events(&self, sentence: &Sentence, likely: &[u8], actions: &mut Vec<Event>, words: &mut Vec<Event>) {
        let mut stack: Vec<GenerativeTree> = Vec::new();
        let mut next = 0;
        for action in sentence.actions.iter().map(Some).chain([None]) {
            let mut from_top = stack.iter().rev();
            let top = [from_top.next(), from_top.next(), from_top.next()];
            let own = match action {
                None => END,
                Some(&OWN_SHIFT) => SHIFT,
                Some(&OWN_LEFT) => LEFT,
                Some(_) => RIGHT,
            };
            if Legal::of(top) != Legal::Shift {
                actions.push(Event { contexts: action_contexts(top), outcome: own as u32 });
            }
            match own {
                SHIFT => {
                    let id = sentence.words[next];
                    words.push(Event { contexts: word_contexts(top), outcome: id });
                    // A part of speech that the word will not be read with is replaced by its most frequent one.
                    let known = &likely[id as usize * self.ways..][..self.ways];
                    let tag = sentence.tags[next] + 1;
                    let tag = if known.contains(&tag) { tag } else { known[0] };
                    stack.push(GenerativeTree { word: GenerativeWord { id, tag }, left: 0, right: 0 });
                    next += 1;
                }
                _ => {
                    if let (Some(s0), Some(s1)) = (stack.pop(), stack.pop()) {
                        stack.push(if own == LEFT {
                            GenerativeTree { left: s1.word.tag, ..s0 }
                        } else {
                            GenerativeTree { right: s0.word.tag, ..s1 }
                        });
                    }
                }
            }
        }
    }

    /// Some of the sentences, as they are read.
    fn some(&self) -> impl Iterator<Item = &Sentence> {
        self.sentences.iter().step_by(self.sentences.len().div_ceil(MEASURED).max(1))
    }

    /// What a reduction should be expected to add.
    fn expected_reduction(&self, model: &Generative) -> f64 {
        let read = |sentence: &Sentence| -> Vec<Vec<(GenerativeWord, f64)>> {
            let read = |&word: &u32| {
                let mut ways = Vec::new();
                model.words(&self.texts[word as usize - 1], &mut ways);
                ways
            };
            sentence.words.iter().map(read).collect()
        };
        let sentences: Vec<_> = self.some().map(read).collect();
        Owing::fit(model, &sentences)
    }

    /// What each word adds on average to the best parse of a sentence.
    fn expected_words(&self, model: &Generative) -> Vec<f32> {
        let mut sums = vec![(0.0, 0u32); self.texts.len() + 1];
        let mut parses = Parses::new(Owing::new(model));
        for sentence in self.some() {
            parses.clear();
            let mut partials = vec![Partial::START];
            let (mut next, mut before) = (Vec::new(), 0.0);
            for &word in &sentence.words {
                let read = parses.read(&self.texts[word as usize - 1]);
                parses.advance(&partials, &read, Keep::in_all(8), &mut next);
                std::mem::swap(&mut partials, &mut next);
                let best = partials.first().map_or(before, |best| best.score);
                let (sum, count) = &mut sums[word as usize];
                *sum += best - before;
                *count += 1;
                before = best;
            }
        }
        let (all, count) = sums.iter().fold((0.0, 0), |(all, count), sum| (all + sum.0, count + sum.1));
        let mean = all / f64::from(count.max(1));
        // Rare words are drawn towards the mean.
        sums.iter().map(|&(sum, count)| ((sum + mean) / f64::from(count + 1)) as f32).collect()
    }
}

/// About how many sentences expectations are measured on.
const MEASURED: usize = 1000;

/// Outcomes with their counts, in the order of contexts.
type Counted = Vec<(Event, u32)>;

/// Counts outcomes per level, most specific first. If `kinds`, a level after the first counts the contexts of the level
/// before it instead of occurrences.
fn count(mut events: Vec<Event>, kinds: bool) -> Vec<Counted> {
    let mut levels = Vec::with_capacity(LEVELS);
    for level in 0..LEVELS {
        let key = |event: &Event| (event.contexts[level], event.outcome);
        events.sort_unstable_by_key(key);
        let same = |a: &Event, b: &Event| key(a) == key(b);
        levels.push(events.chunk_by(same).map(|chunk| (chunk[0], chunk.len() as u32)).collect());
        if kinds {
            events.dedup_by(|a, b| same(a, b));
        }
    }
    levels
}

/// The outcomes of each context of a level.
fn contexts(counted: &Counted, level: usize) -> impl Iterator<Item = &[(Event, u32)]> {
    counted.chunk_by(move |a, b| a.0.contexts[level] == b.0.contexts[level])
}

/// Contexts that were seen less often say nothing: what is known of those that see less counts.
const LEAST: u32 = 2;

fn is_rare(context: &[(Event, u32)], level: usize) -> bool {
    level + 1 < LEVELS && context.iter().map(|entry| entry.1).sum::<u32>() < LEAST
}

/// Witten-Bell: the probabilities of all actions in each context.
fn actions(events: Vec<Event>) -> Table {
    let levels = count(events, false);
    let mut known: HashMap<u64, [f64; ACTIONS]> = HashMap::default();
    // A context's probabilities need those of the one that sees less.
    for level in (0..LEVELS).rev() {
        let mut found = Vec::new();
        for context in contexts(&levels[level], level).filter(|context| !is_rare(context, level)) {
            let kinds = context.len() as f64;
            let all: f64 = context.iter().map(|entry| f64::from(entry.1)).sum();
            let own = context[0].0.contexts;
            let below = own[level + 1..].iter().find_map(|below| known.get(below));
            let uniform = Legal::of_context(own[LEVELS - 1]).uniform().exp();
            let mut probabilities = below.map_or([uniform; ACTIONS], |below| *below);
            for (action, probability) in probabilities.iter_mut().enumerate() {
                let seen = context.iter().find(|entry| entry.0.outcome as usize == action);
                let count = seen.map_or(0.0, |entry| f64::from(entry.1));
                *probability = (count + kinds * *probability) / (all + kinds);
            }
            found.push((own[level], probabilities));
        }
        known.extend(found);
    }
    let entries =
        known.into_iter().map(|(context, found)| (context_key(context), found.map(|p| p.ln() as f32)));
    let mut entries: Vec<(u64, [f32; ACTIONS])> = entries.collect();
    entries.sort_unstable_by_key(|&(key, _)| key);
    Table::new(&entries)
}

/// Interpolated Kneser-Ney: the probabilities of words that were seen in a context, and what is left for others.
fn words(events: Vec<Event>, uniform: f64) -> Table {
    let levels = count(events, true);
    let mut known: HashMap<u64, f64> = HashMap::default();
    let mut entries: Vec<(u64, [f32; 1])> = Vec::new();
    for level in (0..LEVELS).rev() {
        let discounts = discounts(&levels[level]);
        let mut found: Vec<(u64, f64)> = Vec::new();
        for context in contexts(&levels[level], level).filter(|context| !is_rare(context, level)) {
            let all: f64 = context.iter().map(|entry| f64::from(entry.1)).sum();
            let left = context.iter().map(|entry| discounts[entry.1.min(3) as usize]).sum::<f64>() / all;
            for (event, count) in context {
                let own = (f64::from(*count) - discounts[(*count).min(3) as usize]) / all;
                let below = event.contexts[level + 1..].iter();
                let below = below.filter_map(|&below| known.get(&outcome_key(below, event.outcome))).next();
                let probability = own + left * below.copied().unwrap_or(uniform);
                found.push((outcome_key(event.contexts[level], event.outcome), probability));
            }
            entries.push((context_key(context[0].0.contexts[level]), [left.ln() as f32]));
        }
        known.extend(found);
    }
    entries.extend(known.into_iter().map(|(key, probability)| (key, [probability.ln() as f32])));
    entries.sort_unstable_by_key(|&(key, _)| key);
    Table::new(&entries)
}

/// Three discounts, for what was counted once, twice and more often (Chen & Goodman 1998); usual ones where there is too
/// little to tell.
fn discounts(counted: &[(Event, u32)]) -> [f64; 4] {
    let mut of = [0.0; 5];
    for &(_, count) in counted {
        if let Some(number) = of.get_mut(count as usize) {
            *number += 1.0;
        }
    }
    let usual = [0.0, 0.5, 1.0, 1.5];
    if of[1..].contains(&0.0) {
        return usual;
    }
    let y = of[1] / (of[1] + 2.0 * of[2]);
    let found =
        [0.0, 1.0 - 2.0 * y * of[2] / of[1], 2.0 - 3.0 * y * of[3] / of[2], 3.0 - 4.0 * y * of[4] / of[3]];
    let is_fit = |place: usize| found[place] > 0.0 && found[place] < place as f64;
    if (1..4).all(is_fit) { found } else { usual }
}
