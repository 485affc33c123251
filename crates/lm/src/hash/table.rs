//! Hash tables of lines.

use sylvan_base::prefetch;
use sylvan_store::Section;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::Gram;

/// A cache line of n-grams. Free places have the key 0 and come after the taken ones.
pub(crate) trait Line: Copy + Default + Send + Sync + 'static {
    /// What is known about an n-gram.
    type Value: Copy;
    /// How many n-grams fit.
    const PLACES: usize;

    /// The place of a key.
    fn find(&self, key: u64) -> Option<usize>;
    /// Whether no place is free.
    fn is_full(&self) -> bool;
    fn keys(&self) -> &[u64];
    fn value(&self, place: usize) -> Self::Value;
    fn set(&mut self, place: usize, key: u64, value: Self::Value);
}

/// N-grams with back-off weights. The last bit of a key is set if the n-gram grows to the left.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(64))]
pub(crate) struct MiddleLine {
    keys: [u64; 4],
    /// Probabilities and back-off weights.
    weights: [[f32; 2]; 4],
}

/// The longest n-grams.
#[derive(Debug, Clone, Copy, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(64))]
pub(crate) struct LongLine {
    keys: [u64; 5],
    probs: [f32; 5],
    unused: u32,
}

const _: () = assert!(size_of::<MiddleLine>() == 64 && size_of::<LongLine>() == 64);

impl Default for MiddleLine {
    fn default() -> Self {
        Self { keys: [0; 4], weights: [[0.0; 2]; 4] }
    }
}

/// The bit of a stored key that is no part of it.
const FLAG: u64 = 1;

/// One bit per equal key. All keys are compared without a branch, which could not be predicted.
#[inline(always)]
fn hits<const N: usize>(keys: &[u64; N], key: u64) -> u32 {
    let mut hits = 0;
    for (place, &other) in keys.iter().enumerate() {
        hits |= u32::from(other & !FLAG == key) << place;
    }
    hits
}

impl Line for MiddleLine {
    type Value = Gram;
    const PLACES: usize = 4;

    #[inline(always)]
    fn find(&self, key: u64) -> Option<usize> {
        let hits = hits(&self.keys, key);
        (hits != 0).then(|| hits.trailing_zeros() as usize & 3)
    }
    #[inline(always)]
    fn is_full(&self) -> bool {
        self.keys[3] != 0
    }
    fn keys(&self) -> &[u64] {
        &self.keys
    }
    #[inline(always)]
    fn value(&self, place: usize) -> Gram {
        let [prob, backoff] = self.weights[place & 3];
        Gram { prob, backoff, grows_left: self.keys[place & 3] & FLAG != 0 }
    }
    fn set(&mut self, place: usize, key: u64, value: Gram) {
        self.keys[place] = key | if value.grows_left { FLAG } else { 0 };
        self.weights[place] = [value.prob, value.backoff];
    }
}

impl Line for LongLine {
    type Value = f32;
    const PLACES: usize = 5;

    #[inline(always)]
    fn find(&self, key: u64) -> Option<usize> {
        let hits = hits(&self.keys, key);
        (hits != 0).then(|| (hits.trailing_zeros() as usize).min(4))
    }
    #[inline(always)]
    fn is_full(&self) -> bool {
        self.keys[4] != 0
    }
    fn keys(&self) -> &[u64] {
        &self.keys
    }
    #[inline(always)]
    fn value(&self, place: usize) -> f32 {
        self.probs[place.min(4)]
    }
    fn set(&mut self, place: usize, key: u64, value: f32) {
        (self.keys[place], self.probs[place]) = (key, value);
    }
}

/// A finished table, in memory or in a file.
#[derive(Debug, Clone)]
pub(crate) struct Table<L> {
    pub(crate) lines: Section<L>,
}

/// The line where the search for a key starts: its leading digits in base `lines`.
#[inline(always)]
fn home(key: u64, lines: usize) -> usize {
    ((u128::from(key) * lines as u128) >> 64) as usize
}

/// Line and place of a key, or `None`.
#[inline(always)]
fn locate<L: Line>(lines: &[L], key: u64) -> Option<(usize, usize)> {
    let mut at = home(key, lines.len());
    // At most one round, even if a damaged table has no free place.
    for _ in 0..lines.len() {
        let line = lines.get(at)?;
        if let Some(place) = line.find(key) {
            return Some((at, place));
        }
        if !line.is_full() {
            return None;
        }
        at = if at + 1 == lines.len() { 0 } else { at + 1 };
    }
    None
}

impl<L: Line> Table<L> {
    /// The slot and the value of a key.
    #[inline(always)]
    pub(crate) fn find(&self, key: u64) -> Option<(usize, L::Value)> {
        let lines = &*self.lines;
        let (at, place) = locate(lines, key)?;
        Some((at * L::PLACES + place, lines[at].value(place)))
    }

    #[inline(always)]
    pub(crate) fn announce(&self, key: u64) {
        let lines = &*self.lines;
        if let Some(line) = lines.get(home(key, lines.len())) {
            prefetch(line);
        }
    }

    pub(crate) fn slots(&self) -> usize {
        self.lines.len() * L::PLACES
    }

    /// What is wrong with the order of the places, if anything: every key must be found from its home.
    pub(crate) fn fault(&self, expected: u64) -> Option<String> {
        let mut taken = 0;
        for (at, line) in self.lines.iter().enumerate() {
            for (place, &key) in line.keys().iter().enumerate().filter(|(_, key)| **key != 0) {
                taken += 1;
                if locate(&self.lines, key & !FLAG) != Some((at, place)) {
                    return Some(format!("an n-gram in line {at} that no search finds"));
                }
            }
        }
        (taken != expected).then(|| format!("{taken} n-grams where {expected} are announced"))
    }
}

/// A table that takes n-grams.
#[derive(Debug, Clone)]
pub(crate) struct Growing<L> {
    lines: Vec<L>,
    taken: usize,
}

/// How full tables may be, in parts of 16. Full tables are small, emptier ones faster; at 12 a search looks at 1.1
/// lines.
const FULLEST: usize = 11;

fn lines_for<L: Line>(count: usize) -> usize {
    (count * 16).div_ceil(FULLEST * L::PLACES)
}

impl<L: Line> Growing<L> {
    pub(crate) fn new() -> Self {
        Self { lines: Vec::new(), taken: 0 }
    }

    /// Makes room for `count` n-grams in all.
    pub(crate) fn reserve(&mut self, count: usize) {
        let wanted = lines_for::<L>(count);
        if wanted > self.lines.len() {
            self.rebuild(wanted);
        }
    }

    fn rebuild(&mut self, lines: usize) {
        let old = std::mem::replace(&mut self.lines, vec![L::default(); lines]);
        for line in &old {
            for (place, &key) in line.keys().iter().enumerate().filter(|(_, key)| **key != 0) {
                self.place(key & !FLAG, line.value(place));
            }
        }
    }

    /// Puts a new key into the first free place.
    fn place(&mut self, key: u64, value: L::Value) {
        let mut at = home(key, self.lines.len());
        while self.lines[at].is_full() {
            at = if at + 1 == self.lines.len() { 0 } else { at + 1 };
        }
        let line = &mut self.lines[at];
        let place = line.keys().iter().position(|&key| key == 0).expect("a line that is not full has room");
        line.set(place, key, value);
    }

    /// Adds an n-gram; false if it is there already.
    pub(crate) fn insert(&mut self, key: u64, value: L::Value) -> bool {
        if lines_for::<L>(self.taken + 1) > self.lines.len() {
            self.rebuild((2 * self.lines.len()).max(4));
        }
        if locate(&self.lines, key).is_some() {
            return false;
        }
        self.place(key, value);
        self.taken += 1;
        true
    }

    /// Fetches the line of a key that will be asked for soon.
    #[inline]
    pub(crate) fn announce(&self, key: u64) {
        if let Some(line) = self.lines.get(home(key, self.lines.len())) {
            prefetch(line);
        }
    }

    pub(crate) fn get(&self, key: u64) -> Option<L::Value> {
        locate(&self.lines, key).map(|(at, place)| self.lines[at].value(place))
    }

    /// Changes the value of a key; `None` if it is not there.
    pub(crate) fn change<R>(&mut self, key: u64, change: impl FnOnce(&mut L::Value) -> R) -> Option<R> {
        let (at, place) = locate(&self.lines, key)?;
        let line = &mut self.lines[at];
        let mut value = line.value(place);
        let result = change(&mut value);
        line.set(place, key, value);
        Some(result)
    }

    /// The finished table, as full as tables may be.
    pub(crate) fn finish(mut self) -> Table<L> {
        let wanted = lines_for::<L>(self.taken);
        if wanted < self.lines.len() {
            self.rebuild(wanted);
        }
        self.settle();
        Table { lines: Section::from_vec(self.lines) }
    }

    /// Puts n-grams into an order that does not depend on when they came or how the table grew. How many each line holds
    /// never does; which ones is decided within each run of full lines and the line behind it.
    fn settle(&mut self) {
        let count = self.lines.len();
        let Some(first) = self.lines.iter().position(|line| !line.is_full()) else { return };
        let mut run: Vec<(usize, u64, L::Value)> = Vec::new();
        let mut begin = first + 1;
        for step in 1..=count {
            let at = (first + step) % count;
            if self.lines[at].is_full() {
                continue;
            }
            // Lines are counted from where the run begins, which may be before the end of the table.
            let begins = begin % count;
            run.clear();
            let lines = (at + count - begins) % count + 1;
            for ahead in 0..lines {
                let line = &mut self.lines[(begins + ahead) % count];
                for place in 0..L::PLACES {
                    let key = line.keys()[place] & !FLAG;
                    if key != 0 {
                        let home = (home(key, count) + count - begins) % count;
                        run.push((home, key, line.value(place)));
                    }
                }
                *line = L::default();
            }
            run.sort_unstable_by_key(|&(home, key, _)| (home, key));
            let (mut ahead, mut place) = (0, 0);
            for &(home, key, value) in &run {
                if place == L::PLACES || home > ahead {
                    (ahead, place) = (home.max(ahead + usize::from(place == L::PLACES)), 0);
                }
                self.lines[(begins + ahead) % count].set(place, key, value);
                place += 1;
            }
            begin = at + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sylvan_base::Rng;

    #[test]
    fn a_table_is_a_map() {
        let mut rng = Rng::new(5);
        for _ in 0..200 {
            let mut growing = Growing::<LongLine>::new();
            let mut map = std::collections::BTreeMap::new();
            let keys = 1 + rng.below(300);
            for step in 0..rng.below(600) {
                // Few different high halves make crowded lines.
                let key = (((rng.below(4) as u64) << 62) | (2 * rng.below(keys) as u64)).max(2);
                let new = !map.contains_key(&key);
                assert_eq!(growing.insert(key, step as f32), new);
                map.entry(key).or_insert(step as f32);
            }
            let table = growing.finish();
            assert_eq!(table.fault(map.len() as u64), None);
            for (&key, &value) in &map {
                assert_eq!(table.find(key).map(|(_, value)| value), Some(value));
                assert_eq!(table.find(key ^ (1 << 40)), None);
            }
        }
    }

    #[test]
    fn tables_do_not_depend_on_order_or_growth() {
        let mut rng = Rng::new(6);
        for _ in 0..300 {
            // Crowded at the end of the table, so that some go on at its beginning.
            let high =
                |rng: &mut Rng| if rng.chance(0.5) { u64::MAX << 60 } else { (rng.below(9) as u64) << 60 };
            let count = 1 + rng.below(200);
            let mut grams: Vec<(u64, Gram)> = Vec::new();
            for number in 0..count {
                let key = (high(&mut rng) | (2 * rng.below(1 << 20) as u64)).max(2);
                let gram = Gram { prob: number as f32, backoff: 0.5, grows_left: rng.chance(0.5) };
                if grams.iter().all(|(other, _)| *other != key) {
                    grams.push((key, gram));
                }
            }
            let made = |grams: &[(u64, Gram)], room: usize| {
                let mut growing = Growing::<MiddleLine>::new();
                growing.reserve(room);
                grams.iter().for_each(|&(key, gram)| assert!(growing.insert(key, gram)));
                growing.finish()
            };
            let grown = made(&grams, 0);
            assert_eq!(grown.fault(grams.len() as u64), None);
            for &(key, gram) in &grams {
                let found = grown.find(key).unwrap().1;
                assert!(found.prob == gram.prob && found.grows_left == gram.grows_left);
            }
            rng.shuffle(&mut grams);
            for room in [grams.len(), 3 * grams.len()] {
                let other = made(&grams, room);
                assert!(other.lines.as_bytes() == grown.lines.as_bytes());
            }
        }
    }

    #[test]
    fn a_full_table_ends_the_search() {
        let mut line = MiddleLine::default();
        (0..4).for_each(|place| line.set(place, 8 + 2 * place as u64, Gram::new(0.0, 0.0)));
        let table = Table { lines: Section::from_vec(vec![line; 3]) };
        assert!(table.find(2).is_none());
        assert!(Table::<MiddleLine> { lines: Section::from_vec(Vec::new()) }.find(2).is_none());
    }
}
