//! The exchange algorithm (Kneser & Ney 1993; Martin, Liermann & Ney 1998): word by word, each moves to the class that
//! makes the text most probable under a model of pairs of classes, until nothing moves.
//!
//! With `N(g, h)` pairs of classes next to each other and `N(g)` words of a class, the logarithm of that probability is,
//! up to what no move changes, the sum of `f(N(g, h))` less twice the sum of `f(N(g))`, where `f(n) = n ln n`.

use sylvan_base::{HashMap, Id, Progress, Silent, Vocab};

use super::Classes;
use sylvan_store::TextReader;

/// How classes are learnt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassConfig {
    /// How many.
    pub count: usize,
    /// At most this many passes over all words.
    pub passes: usize,
}

impl Default for ClassConfig {
    fn default() -> Self {
        Self { count: 200, passes: 12 }
    }
}

/// The classes of the beginning and the end of a sentence; those of words follow.
const EDGES: usize = 2;

impl Classes {
    /// Learns classes from lines of words. The same lines give the same classes.
    pub fn learn<L: AsRef<str>>(lines: impl IntoIterator<Item = L>, config: ClassConfig) -> Self {
        let mut learner = config.learner();
        lines.into_iter().for_each(|line| learner.add(line.as_ref()));
        learner.learn(&Silent)
    }
}

impl ClassConfig {
    /// Somebody who learns classes, without text so far.
    pub fn learner(self) -> ClassLearner {
        ClassLearner { config: self, ..ClassLearner::default() }
    }
}

/// Takes lines and gives classes: knows which words stand next to each other, and how often.
#[derive(Debug, Default)]
pub struct ClassLearner {
    config: ClassConfig,
    vocab: Vocab,
    counts: Vec<u32>,
    /// Pairs of places: a word's number, or `u32::MAX` for the edge of a sentence.
    pairs: HashMap<(u32, u32), u32>,
}

const EDGE: u32 = u32::MAX;

impl ClassLearner {
    /// Learns the classes of the words of all lines so far.
    pub fn learn(&self, progress: &dyn Progress) -> Classes {
        let mut exchange = Exchange::new(self, self.config.count.clamp(1, super::MOST as usize));
        for pass in 0..self.config.passes {
            if exchange.pass() == 0 {
                break;
            }
            progress.at(pass as u64 + 1);
        }
        let Exchange { order, class, classes, .. } = exchange;
        // Classes are numbered by their most frequent words, and words stand by their classes.
        let mut numbers = vec![u32::MAX; classes];
        let mut next = 0;
        let mut words: Vec<(u32, Box<str>)> = Vec::new();
        for word in order {
            let number = &mut numbers[class[word] as usize];
            if *number == u32::MAX {
                (*number, next) = (next, next + 1);
            }
            words.push((*number, self.vocab.text(sylvan_base::Symbol::from_index(word)).into()));
        }
        words.sort_by_key(|&(class, _)| class);
        Classes::new(words.into_iter().map(|(class, word)| (word, class)).collect())
    }

    /// Adds all lines of a text.
    pub fn read(&mut self, reader: &mut TextReader, progress: &dyn Progress) -> sylvan_base::Result<()> {
        progress.begin("reading text", None);
        while let Some(line) = reader.next_line()? {
            self.add(line);
            progress.at(reader.line_number());
        }
        progress.end();
        Ok(())
    }

    /// Adds a line of words.
    pub fn add(&mut self, line: &str) {
        let mut last = EDGE;
        for word in line.split_ascii_whitespace() {
            let word = self.vocab.intern(word).0;
            if word as usize == self.counts.len() {
                self.counts.push(0);
            }
            self.counts[word as usize] += 1;
            *self.pairs.entry((last, word)).or_default() += 1;
            last = word;
        }
        if last != EDGE {
            *self.pairs.entry((last, EDGE)).or_default() += 1;
        }
    }
}

/// Another word and how often it is next to one.
type Next = (u32, u32);

struct Exchange {
    /// Words, the most frequent ones first.
    order: Vec<usize>,
    counts: Vec<u32>,
    /// By word: what comes before it, and after it; the word itself is in neither.
    before: Vec<Vec<Next>>,
    after: Vec<Vec<Next>>,
    /// By word: how often it follows itself.
    doubled: Vec<u32>,
    class: Vec<u32>,
    classes: usize,
    /// Pairs of classes, row by row.
    pairs: Vec<u32>,
    totals: Vec<u32>,
    values: Values,
}

/// `n ln n`, from a table where it is asked for most.
struct Values(Vec<f64>);

impl Values {
    fn new() -> Self {
        Self((0..1 << 14).map(Self::compute).collect())
    }

    fn compute(n: u32) -> f64 {
        if n == 0 { 0.0 } else { f64::from(n) * libm::log(f64::from(n)) }
    }

    fn of(&self, n: u32) -> f64 {
        self.0.get(n as usize).copied().unwrap_or_else(|| Self::compute(n))
    }

    /// What `n` gains if `more` come to it.
    fn gain(&self, n: u32, more: u32) -> f64 {
        self.of(n + more) - self.of(n)
    }
}

impl Exchange {
    fn new(text: &ClassLearner, count: usize) -> Self {
        let words = text.counts.len();
        let mut order: Vec<usize> = (0..words).collect();
        let name = |word: usize| text.vocab.text(sylvan_base::Symbol::from_index(word));
        order.sort_by(|&a, &b| text.counts[b].cmp(&text.counts[a]).then_with(|| name(a).cmp(name(b))));
        let mut class = vec![0; words];
        for (rank, &word) in order.iter().enumerate() {
            class[word] = (rank % count + EDGES) as u32;
        }
        let (mut before, mut after) = (vec![Vec::new(); words], vec![Vec::new(); words]);
        let mut doubled = vec![0; words];
        let classes = count + EDGES;
        let mut exchange = Self {
            order,
            counts: text.counts.clone(),
            before: Vec::new(),
            after: Vec::new(),
            doubled: Vec::new(),
            class,
            classes,
            pairs: vec![0; classes * classes],
            totals: vec![0; classes],
            values: Values::new(),
        };
        let mut pairs: Vec<((u32, u32), u32)> =
            text.pairs.iter().map(|(&pair, &count)| (pair, count)).collect();
        pairs.sort_unstable();
        for ((first, second), count) in pairs {
            let at = exchange.of(first, 0) * classes + exchange.of(second, 1);
            exchange.pairs[at] += count;
            if first == second {
                doubled[first as usize] = count;
                continue;
            }
            if first != EDGE {
                after[first as usize].push((second, count));
            }
            if second != EDGE {
                before[second as usize].push((first, count));
            }
        }
        for (word, &class) in exchange.class.iter().enumerate() {
            exchange.totals[class as usize] += exchange.counts[word];
        }
        (exchange.before, exchange.after, exchange.doubled) = (before, after, doubled);
        exchange
    }

    /// The class of a word, or that of an edge.
    fn of(&self, word: u32, edge: usize) -> usize {
        if word == EDGE { edge } else { self.class[word as usize] as usize }
    }

    /// How often a word stands next to each class, where it does: before it, and after it.
    fn neighbours(&self, word: usize, sums: &mut [Vec<u32>; 2], found: &mut [Vec<usize>; 2]) {
        for (side, list) in [&self.before[word], &self.after[word]].into_iter().enumerate() {
            for class in found[side].drain(..) {
                sums[side][class] = 0;
            }
            for &(other, count) in list {
                let class = self.of(other, side);
                if sums[side][class] == 0 {
                    found[side].push(class);
                }
                sums[side][class] += count;
            }
            // So that sums do not depend on how classes were numbered before.
            found[side].sort_unstable();
        }
    }

    /// Takes a word out of its class, or puts it into one.
    fn count(&mut self, word: usize, class: usize, sums: &[Vec<u32>; 2], found: &[Vec<usize>; 2], add: bool) {
        let (classes, doubled) = (self.classes, self.doubled[word]);
        let change = |value: &mut u32, by: u32| *value = if add { *value + by } else { *value - by };
        for &other in &found[0] {
            change(&mut self.pairs[other * classes + class], sums[0][other]);
        }
        for &other in &found[1] {
            change(&mut self.pairs[class * classes + other], sums[1][other]);
        }
        change(&mut self.pairs[class * classes + class], doubled);
        change(&mut self.totals[class], self.counts[word]);
    }

    /// What the text gains if a word that is in no class comes to this one.
    fn gain(&self, word: usize, class: usize, sums: &[Vec<u32>; 2], found: &[Vec<usize>; 2]) -> f64 {
        let values = &self.values;
        let mut gain = 0.0;
        for &other in &found[0] {
            if other != class {
                gain += values.gain(self.pairs[other * self.classes + class], sums[0][other]);
            }
        }
        for &other in &found[1] {
            if other != class {
                gain += values.gain(self.pairs[class * self.classes + other], sums[1][other]);
            }
        }
        let own = self.doubled[word] + sums[0][class] + sums[1][class];
        gain += values.gain(self.pairs[class * self.classes + class], own);
        gain - 2.0 * values.gain(self.totals[class], self.counts[word])
    }

    /// Lets each word move once; how many did.
    fn pass(&mut self) -> usize {
        let mut sums = [vec![0; self.classes], vec![0; self.classes]];
        let mut found = [Vec::new(), Vec::new()];
        let mut moved = 0;
        for place in 0..self.order.len() {
            let word = self.order[place];
            let own = self.class[word] as usize;
            self.neighbours(word, &mut sums, &mut found);
            self.count(word, own, &sums, &found, false);
            let mut best = (self.gain(word, own, &sums, &found), own);
            for class in EDGES..self.classes {
                let gain = self.gain(word, class, &sums, &found);
                // What differs by rounding alone is no reason to move.
                if gain > best.0 + 1e-6 {
                    best = (gain, class);
                }
            }
            self.count(word, best.1, &sums, &found, true);
            self.class[word] = best.1 as u32;
            moved += usize::from(best.1 != own);
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The logarithm of the text's probability under the maximum-likelihood model of pairs of classes, by its definition.
    fn by_definition(lines: &[String], class: &dyn Fn(&str) -> u32) -> f64 {
        let (mut pairs, mut firsts, mut words) =
            (HashMap::<(u32, u32), f64>::default(), HashMap::<u32, f64>::default(), HashMap::default());
        let mut totals = HashMap::<u32, f64>::default();
        let edges = [u32::MAX, u32::MAX - 1];
        for line in lines {
            let own: Vec<&str> = line.split_ascii_whitespace().collect();
            if own.is_empty() {
                continue;
            }
            let classes: Vec<u32> = std::iter::once(edges[0])
                .chain(own.iter().map(|word| class(word)))
                .chain([edges[1]])
                .collect();
            for pair in classes.windows(2) {
                *pairs.entry((pair[0], pair[1])).or_default() += 1.0;
                *firsts.entry(pair[0]).or_default() += 1.0;
            }
            for word in own {
                *words.entry(word).or_insert(0.0) += 1.0;
                *totals.entry(class(word)).or_default() += 1.0;
            }
        }
        let transitions: f64 = pairs.iter().map(|((first, _), &n)| n * (n / firsts[first]).ln()).sum();
        let emissions: f64 =
            words.iter().map(|(word, &n): (_, &f64)| n * (n / totals[&class(word)]).ln()).sum();
        transitions + emissions
    }

    fn lines() -> impl Strategy<Value = Vec<String>> {
        let line = prop::collection::vec(0..9_u8, 0..8);
        let text = |words: Vec<u8>| words.iter().map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ");
        prop::collection::vec(line.prop_map(text), 1..12)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(sylvan_testkit::cases(100, 5_000) as u32))]
        #[test]
        fn no_single_word_would_gain_by_moving(lines in lines(), count in 1..4_usize) {
            let classes = Classes::learn(&lines, ClassConfig { count, passes: 100 });
            let known = |word: &str| classes.of(word).unwrap();
            let reached = by_definition(&lines, &known);
            for (moved, own) in classes.iter() {
                for other in (0..count as u32).filter(|&other| other != own) {
                    let class = |word: &str| if word == moved { other } else { known(word) };
                    prop_assert!(by_definition(&lines, &class) < reached + 1e-5, "{} to {}", moved, other);
                }
            }
        }
    }

    #[test]
    fn words_of_a_kind_share_a_class() {
        let (names, verbs) = (["ann", "bob", "cid", "dan"], ["sees", "likes", "calls"]);
        let mut lines = Vec::new();
        for (at, first) in names.iter().enumerate() {
            for (and, verb) in verbs.iter().enumerate() {
                lines.push(format!("{first} {verb} {}", names[(at + and + 1) % names.len()]));
            }
        }
        let classes = Classes::learn(&lines, ClassConfig { count: 2, passes: 20 });
        let of = |words: &[&str]| words.iter().map(|word| classes.of(word).unwrap()).collect::<Vec<_>>();
        assert!(of(&names).windows(2).all(|two| two[0] == two[1]), "{classes:?}");
        assert!(of(&verbs).windows(2).all(|two| two[0] == two[1]), "{classes:?}");
        assert_ne!(classes.of("ann"), classes.of("sees"));
    }
}
