//! Hiero rules (Chiang 2005, 2007): phrase pairs with smaller phrase pairs taken out of them.
//!
//! ```text
//! X(f)           -> e          if (f, e) is an initial phrase pair
//! X(a x1:X b ..) -> c x1 d ..  if X(a f b ..) -> c e d .. is a rule and (f, e) an initial phrase pair
//! ```
//!
//! Each initial phrase pair, wherever it stands, has a count of one, which the different rules made of it share.

use sylvan_base::{HashSet, Symbol};

use super::phrases::{Boundary, Linked, PhraseLimits, PhrasePair};

/// Which Hiero rules are learnt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HieroConfig {
    /// Source words of an initial phrase pair.
    pub span: u32,
    /// Target words of an initial phrase pair.
    pub target_span: u32,
    /// Symbols of a source side: words and variables.
    pub symbols: u32,
    /// Symbols of a target side.
    pub target_symbols: u32,
    /// Variables of a rule.
    pub variables: u32,
    /// The least number of source words that a variable is put in place of.
    pub gap: u32,
    /// The least number of target words that a variable is put in place of.
    pub target_gap: u32,
    /// Whether variables may stand next to each other on the source side.
    pub adjacent: bool,
    /// Whether target words must come before all variables, so that rules translate from left to right (Watanabe,
    /// Tsukada & Isozaki 2006; Siahbani, Sankaran & Sarkar 2013).
    pub words_first: bool,
    /// Whether rules are learnt none of whose words are linked. Each still has a source word: without one it would
    /// match everywhere.
    pub unlinked: bool,
    /// Whether initial phrase pairs may begin or end with unlinked words.
    pub boundary: Boundary,
    /// Whether each rule counts one wherever it stands, instead of its share of an initial phrase pair.
    pub whole_counts: bool,
    /// Of each source side, at most this many occurrences are counted, chosen by a hash; 0 for all.
    pub samples: u32,
}

impl Default for HieroConfig {
    /// Chiang's limits (2007), with phrases that begin or end with unlinked words: of the ways that were compared
    /// (docs/notes/text-alone.md) these translate best.
    fn default() -> Self {
        Self {
            span: 10,
            target_span: 10,
            symbols: 5,
            target_symbols: u32::MAX,
            variables: 2,
            gap: 2,
            target_gap: 1,
            adjacent: false,
            words_first: false,
            unlinked: false,
            boundary: Boundary::Loose,
            whole_counts: false,
            samples: 0,
        }
    }
}

impl HieroConfig {
    /// The limits of Chiang (2007): phrases begin and end with linked words and have any number of target words.
    pub fn chiang() -> Self {
        Self { boundary: Boundary::Tight, target_span: u32::MAX, ..Self::default() }
    }

    /// What Moses' extractor does if it is told nothing else.
    pub fn moses() -> Self {
        Self { target_symbols: 999, ..Self::default() }
    }

    /// The grammar of left-to-right Hiero (Siahbani & Sarkar 2017).
    pub fn left_to_right() -> Self {
        Self { symbols: 7, gap: 1, words_first: true, ..Self::default() }
    }

    /// What cdec's extractor does if it is told nothing else.
    pub fn cdec() -> Self {
        Self {
            span: 15,
            target_span: 15,
            gap: 1,
            boundary: Boundary::Tight,
            whole_counts: true,
            samples: 300,
            ..Self::default()
        }
    }

    pub(super) fn limits(&self) -> PhraseLimits {
        PhraseLimits { source: self.span, target: self.target_span, boundary: self.boundary }
    }
}

/// Takes phrase pairs out of phrase pairs.
#[derive(Debug, Default)]
pub(super) struct Subtractor {
    pairs: Vec<PhrasePair>,
    /// Phrase pairs that a variable can stand for, by `s1`, and where those of each `s1` begin.
    holes: Vec<PhrasePair>,
    of_start: Vec<u32>,
    /// Of the current phrase pair: the variables of each of its rules, one rule after the other, and where each ends.
    chosen: Vec<PhrasePair>,
    ends: Vec<u32>,
    stack: Vec<PhrasePair>,
    /// Whether some of its variables touch, so that they could share out the same words in other ways.
    touching: bool,
    seen: HashSet<Vec<u32>>,
}

/// What the variables that were chosen leave of a phrase pair.
#[derive(Debug, Clone, Copy)]
struct Left {
    /// Where the next variable may begin.
    from: u32,
    source_words: u32,
    target_words: u32,
    links: u32,
}

impl Subtractor {
    /// Calls `found` with each rule: its initial phrase pair, its variables in source order, its share.
    pub(super) fn each(
        &mut self,
        linked: &Linked,
        source: &[Symbol],
        target: &[Symbol],
        config: &HieroConfig,
        mut found: impl FnMut(PhrasePair, &[PhrasePair], f64),
    ) {
        linked.pairs(&config.limits(), &mut self.pairs);
        self.find_holes(linked, config);
        for index in 0..self.pairs.len() {
            let pair = self.pairs[index];
            self.chosen.clear();
            self.ends.clear();
            self.touching = false;
            let whole = Left {
                from: pair.s1,
                source_words: pair.source_len(),
                target_words: pair.target_len(),
                links: linked.count(pair.s1, pair.s2),
            };
            self.subtract(linked, config, &pair, whole);
            let alike =
                || self.touching || repeats(source, pair.s1, pair.s2) || repeats(target, pair.t1, pair.t2);
            if config.variables > 1 && alike() {
                self.drop_repeated(source, target, &pair);
            }
            let share = if config.whole_counts { 1.0 } else { 1.0 / self.ends.len() as f64 };
            let mut start = 0;
            for &end in &self.ends {
                found(pair, &self.chosen[start..end as usize], share);
                start = end as usize;
            }
        }
    }

    fn find_holes(&mut self, linked: &Linked, config: &HieroConfig) {
        self.holes.clear();
        let wide = |pair: &&PhrasePair| {
            pair.source_len() >= config.gap && pair.target_len() >= config.target_gap && config.variables > 0
        };
        self.holes.extend(self.pairs.iter().filter(wide));
        self.of_start.clear();
        let mut next = 0;
        for s1 in 0..=linked.source_len() {
            next += self.holes[next..].iter().take_while(|hole| hole.s1 < s1).count();
            self.of_start.push(next as u32);
        }
        self.of_start.push(self.holes.len() as u32);
    }

    /// Adds the rule of the variables on the stack, then those with one more behind the last.
    fn subtract(&mut self, linked: &Linked, config: &HieroConfig, pair: &PhrasePair, left: Left) {
        let variables = self.stack.len() as u32;
        let has_words = if config.unlinked { left.source_words > 0 } else { left.links > 0 };
        if !has_words {
            // More variables leave even less.
            return;
        }
        if left.source_words + variables <= config.symbols
            && left.target_words + variables <= config.target_symbols
            && (!config.words_first || self.words_come_first(pair))
        {
            self.chosen.extend_from_slice(&self.stack);
            self.ends.push(self.chosen.len() as u32);
        }
        if variables == config.variables {
            return;
        }
        for s1 in left.from..pair.s2 {
            for place in self.of_start[s1 as usize]..self.of_start[s1 as usize + 1] {
                let hole = self.holes[place as usize];
                if hole.s2 > pair.s2 {
                    break;
                }
                let inside = hole.t1 >= pair.t1 && hole.t2 <= pair.t2 && hole != *pair;
                let apart = |other: &PhrasePair| other.t2 <= hole.t1 || hole.t2 <= other.t1;
                if !inside || !self.stack.iter().all(apart) {
                    continue;
                }
                let slides = |other: &PhrasePair| {
                    other.s2 == hole.s1
                        || config.boundary == Boundary::Loose && (other.t2 == hole.t1 || hole.t2 == other.t1)
                };
                self.touching |= self.stack.iter().any(slides);
                self.stack.push(hole);
                let rest = Left {
                    from: hole.s2 + u32::from(!config.adjacent),
                    source_words: left.source_words - hole.source_len(),
                    target_words: left.target_words - hole.target_len(),
                    links: left.links - linked.count(hole.s1, hole.s2),
                };
                self.subtract(linked, config, pair, rest);
                self.stack.pop();
            }
        }
    }

    /// Whether the variables on the stack take the end of the target side, and leave a word before it.
    fn words_come_first(&self, pair: &PhrasePair) -> bool {
        let taken: u32 = self.stack.iter().map(PhrasePair::target_len).sum();
        let first = self.stack.iter().map(|hole| hole.t1).min().unwrap_or(pair.t2);
        // They do not overlap, so nothing is between them if they are as long as what they stretch over.
        first > pair.t1 && first + taken == pair.t2
    }

    /// Keeps of rules that read alike the first.
    fn drop_repeated(&mut self, source: &[Symbol], target: &[Symbol], pair: &PhrasePair) {
        self.seen.clear();
        let (mut kept, mut kept_ends, mut start) = (Vec::new(), Vec::new(), 0);
        for &end in &self.ends {
            let holes = &self.chosen[start..end as usize];
            let mut text = Vec::new();
            let sides = [
                (source, pair.s1, pair.s2, holes.iter().map(|hole| (hole.s1, hole.s2)).collect::<Vec<_>>()),
                (target, pair.t1, pair.t2, holes.iter().map(|hole| (hole.t1, hole.t2)).collect()),
            ];
            for (words, mut at, last, holes) in sides {
                while at < last {
                    match holes.iter().position(|hole| hole.0 == at) {
                        Some(variable) => {
                            text.push(2 * variable as u32 + 1);
                            at = holes[variable].1;
                        }
                        None => {
                            text.push(2 * words[at as usize].0);
                            at += 1;
                        }
                    }
                }
                text.push(u32::MAX);
            }
            if self.seen.insert(text) {
                kept.extend_from_slice(holes);
                kept_ends.push(kept.len() as u32);
            }
            start = end as usize;
        }
        (self.chosen, self.ends) = (kept, kept_ends);
    }
}

/// Whether some word stands twice in a range; unless variables touch, only then can two choices of them read alike.
fn repeats(words: &[Symbol], start: u32, end: u32) -> bool {
    let words = &words[start as usize..end as usize];
    words.iter().enumerate().any(|(index, word)| words[..index].contains(word))
}
