//! Learning of units from counted words.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use sylvan_base::HashMap;

use super::{UNKNOWN, UnitId, Units, WORD_ENDS};

/// Characters seen less often are no units.
const RARE: u64 = 2;
/// Pairs seen less often are not put together.
const RARE_PAIR: u64 = 2;

impl Units {
    /// Learns units from words and how often each was seen; at most `most`, unless there are more characters.
    pub fn learn<'w>(words: impl IntoIterator<Item = (&'w str, u64)>, most: usize) -> Self {
        let mut words: Vec<(&str, u64)> = words.into_iter().collect();
        words.sort_unstable();
        let mut learner = Learner { units: Self::new(), ..Learner::default() };
        learner.characters(&words);
        learner.pairs_of_all();
        while learner.units.len() < most && learner.join_best() {}
        learner.units
    }

    /// Learns units from lines of words.
    pub fn learn_from_lines<'l>(lines: impl IntoIterator<Item = &'l str>, most: usize) -> Self {
        let mut counts: HashMap<&str, u64> = HashMap::default();
        for word in lines.into_iter().flat_map(str::split_ascii_whitespace) {
            *counts.entry(word).or_default() += 1;
        }
        Self::learn(counts, most)
    }
}

#[derive(Debug, Default)]
struct Learner {
    units: Units,
    /// The words as units, and how often each was seen.
    words: Vec<(Vec<UnitId>, u64)>,
    counts: HashMap<[UnitId; 2], u64>,
    /// Words that a pair is or was in.
    places: HashMap<[UnitId; 2], Vec<u32>>,
    /// Counts as they were at some time.
    best: BinaryHeap<(u64, Reverse<[UnitId; 2]>)>,
}

impl Learner {
    fn characters(&mut self, words: &[(&str, u64)]) {
        let mut seen: HashMap<String, u64> = HashMap::default();
        let parts = |word: &str| -> Vec<String> {
            let mut parts: Vec<String> = word.chars().map(String::from).collect();
            if let Some(last) = parts.last_mut() {
                last.push(WORD_ENDS);
            }
            parts
        };
        for (word, count) in words {
            for part in parts(word) {
                *seen.entry(part).or_default() += count;
            }
        }
        let mut frequent: Vec<(&String, &u64)> = seen.iter().filter(|&(_, &count)| count >= RARE).collect();
        frequent.sort_unstable();
        for (part, _) in frequent {
            self.units.add(part.clone());
        }
        for &(word, count) in words {
            let parts = parts(word);
            let units = parts.iter().map(|part| self.units.ids.get(part).copied().unwrap_or(UNKNOWN));
            self.words.push((units.collect(), count));
        }
    }

    fn pairs_of_all(&mut self) {
        for (number, (units, count)) in self.words.iter().enumerate() {
            for pair in units.windows(2).filter(|pair| !pair.contains(&UNKNOWN)) {
                let pair = [pair[0], pair[1]];
                *self.counts.entry(pair).or_default() += count;
                self.places.entry(pair).or_default().push(number as u32);
            }
        }
        let mut all: Vec<([UnitId; 2], u64)> =
            self.counts.iter().map(|(&pair, &count)| (pair, count)).collect();
        all.sort_unstable();
        self.best.extend(all.into_iter().map(|(pair, count)| (count, Reverse(pair))));
    }

    /// Puts the most frequent pair together; whether there was one.
    fn join_best(&mut self) -> bool {
        let pair = loop {
            let Some((count, Reverse(pair))) = self.best.pop() else { return false };
            let now = self.counts.get(&pair).copied().unwrap_or(0);
            if now == count && count >= RARE_PAIR {
                break pair;
            }
            if now >= RARE_PAIR && now < count {
                self.best.push((now, Reverse(pair)));
            }
        };
        let joined = self.units.join(pair);
        let mut places = self.places.remove(&pair).unwrap_or_default();
        places.sort_unstable();
        places.dedup();
        let mut changed: Vec<[UnitId; 2]> = Vec::new();
        for number in places {
            let (units, count) = &mut self.words[number as usize];
            let mut place = 0;
            while place + 1 < units.len() {
                if [units[place], units[place + 1]] != pair {
                    place += 1;
                    continue;
                }
                // The pairs with the neighbours are others now.
                let before = place.checked_sub(1).map(|before| units[before]);
                let after = units.get(place + 2).copied();
                let gone = [before.map(|before| [before, pair[0]]), after.map(|after| [pair[1], after])];
                let come = [before.map(|before| [before, joined]), after.map(|after| [joined, after])];
                for gone in gone.into_iter().flatten() {
                    if let Some(left) = self.counts.get_mut(&gone) {
                        *left = left.saturating_sub(*count);
                    }
                }
                for come in come.into_iter().flatten().filter(|come| !come.contains(&UNKNOWN)) {
                    *self.counts.entry(come).or_default() += *count;
                    self.places.entry(come).or_default().push(number);
                    changed.push(come);
                }
                units[place] = joined;
                units.remove(place + 1);
                place += 1;
            }
        }
        self.counts.remove(&pair);
        changed.sort_unstable();
        changed.dedup();
        for pair in changed {
            self.best.push((self.counts[&pair], Reverse(pair)));
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sylvan_base::InputError;

    fn said(units: &Units, word: &str) -> Vec<String> {
        let mut of = Vec::new();
        units.of_word(word, &mut of);
        of.iter().map(|&unit| units.texts[unit as usize].clone()).collect()
    }

    #[test]
    fn the_example_of_the_paper() {
        // Sennrich et al. 2016, figure 1: the first three pairs are e s, es t and l o.
        let words = [("low", 5), ("lower", 2), ("newest", 6), ("widest", 3)];
        let characters = Units::learn(words, 0).len();
        let units = Units::learn(words, characters + 3);
        assert_eq!(said(&units, "lowest"), ["lo", "w", "est▁"]);
        let texts: Vec<String> = units
            .order
            .iter()
            .map(|pair| pair.map(|unit| units.texts[unit as usize].clone()).join(" "))
            .collect();
        assert_eq!(texts, ["e s", "es t▁", "l o"]);
    }

    proptest! {
        #[test]
        fn units_are_the_words_again(words in proptest::collection::vec("[abc]{1,6}", 1..30), most in 0..60_usize) {
            let line = words.join(" ");
            let units = Units::learn_from_lines([line.as_str(), line.as_str()], most);
            prop_assert_eq!(units.line(&units.of_line(&line)), line.clone());
            let again = Units::from_text(&units.to_text(), |found, expected| {
                InputError::io("units", "read")(std::io::Error::other(format!("{found}, {expected}")))
            });
            prop_assert_eq!(again.unwrap().of_line(&line), units.of_line(&line));
        }

        #[test]
        fn the_most_frequent_pair_comes_next(words in proptest::collection::vec("[abc]{1,6}", 1..20)) {
            // Counted anew after each pair, words cut by the units so far.
            let line = words.join(" ");
            let characters = Units::learn_from_lines([line.as_str(); 2], 0).len();
            for most in characters..characters + 6 {
                let units = Units::learn_from_lines([line.as_str(); 2], most);
                let next = Units::learn_from_lines([line.as_str(); 2], most + 1);
                let mut counts: HashMap<[UnitId; 2], u64> = HashMap::default();
                for word in &words {
                    let mut of = Vec::new();
                    units.of_word(word, &mut of);
                    for pair in of.windows(2) {
                        *counts.entry([pair[0], pair[1]]).or_default() += 2;
                    }
                }
                let most = counts.values().copied().max().unwrap_or(0);
                if let Some(pair) = next.order.get(units.order.len()) {
                    prop_assert_eq!(counts.get(pair).copied(), Some(most));
                } else {
                    prop_assert!(most < RARE_PAIR);
                }
            }
        }
    }
}
