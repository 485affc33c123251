//! Phrase pairs, orientations and Hiero rules by their definitions, with no cleverness.
#![allow(clippy::unwrap_used, dead_code, unreachable_pub)]

use std::collections::BTreeSet;

use sylvan_base::{Symbol, Vocab};
use sylvan_corpus::Link;
use sylvan_rules::WordLink;
use sylvan_rules::extract::{Boundary, HieroConfig, Orientation, OrientationModel, PhrasePair};

/// A sentence pair with links.
#[derive(Debug)]
pub struct Case {
    pub vocab: Vocab,
    pub label: Symbol,
    pub source: Vec<Symbol>,
    pub target: Vec<Symbol>,
    pub links: Vec<Link>,
}

impl Case {
    pub fn new(source: &str, target: &str, links: Vec<Link>) -> Self {
        let mut vocab = Vocab::new();
        let label = vocab.intern("X");
        let (source, target) = (vocab.intern_words(source), vocab.intern_words(target));
        Self { vocab, label, source, target, links }
    }

    fn has(&self, s: i64, t: i64) -> bool {
        let ends = [(-1, -1), (self.source.len() as i64, self.target.len() as i64)];
        let linked = |link: &Link| (i64::from(link.source), i64::from(link.target)) == (s, t);
        ends.contains(&(s, t)) || self.links.iter().any(linked)
    }

    /// Places of words that are not inside variables.
    fn words(start: u32, end: u32, holes: &[(u32, u32)]) -> Vec<u32> {
        (start..end).filter(|place| !holes.iter().any(|hole| (hole.0..hole.1).contains(place))).collect()
    }

    /// The rule as text.
    pub fn rule(&self, pair: &PhrasePair, holes: &[PhrasePair]) -> String {
        let sources: Vec<_> = holes.iter().map(|hole| (hole.s1, hole.s2)).collect();
        let targets: Vec<_> = holes.iter().map(|hole| (hole.t1, hole.t2)).collect();
        let side = |words: &[Symbol], start, end, holes: &[(u32, u32)], label: &str| {
            let mut text = Vec::new();
            for place in start..end {
                if let Some(number) = holes.iter().position(|hole| hole.0 == place) {
                    text.push(format!("x{}{label}", number + 1));
                } else if !holes.iter().any(|hole| (hole.0..hole.1).contains(&place)) {
                    text.push(self.vocab.text(words[place as usize]).to_string());
                }
            }
            text.join(" ")
        };
        let source = side(&self.source, pair.s1, pair.s2, &sources, ":X");
        format!("X({source}) -> {}", side(&self.target, pair.t1, pair.t2, &targets, ""))
    }

    /// The links between words of a rule, by their numbers.
    pub fn links_of(&self, pair: &PhrasePair, holes: &[PhrasePair]) -> Vec<WordLink> {
        let sources: Vec<_> = holes.iter().map(|hole| (hole.s1, hole.s2)).collect();
        let targets: Vec<_> = holes.iter().map(|hole| (hole.t1, hole.t2)).collect();
        let source = Self::words(pair.s1, pair.s2, &sources);
        let target = Self::words(pair.t1, pair.t2, &targets);
        let mut links = Vec::new();
        for (s, &place) in source.iter().enumerate() {
            for (t, &other) in target.iter().enumerate() {
                if self.links.contains(&Link::new(place, other)) {
                    links.push((s as u32, t as u32));
                }
            }
        }
        links
    }
}

/// All pairs of ranges that are phrase pairs.
pub fn pairs(case: &Case, source: u32, target: u32, boundary: Boundary) -> Vec<PhrasePair> {
    let (n, m) = (case.source.len() as u32, case.target.len() as u32);
    let mut found = Vec::new();
    for s1 in 0..n {
        for s2 in s1 + 1..=n {
            for t1 in 0..m {
                for t2 in t1 + 1..=m {
                    let ends =
                        |link: &Link| ((s1..s2).contains(&link.source), (t1..t2).contains(&link.target));
                    let consistent = case.links.iter().all(|link| ends(link).0 == ends(link).1);
                    let linked = case.links.iter().any(|link| ends(link) == (true, true));
                    let source_has = |place: u32| case.links.iter().any(|link| link.source == place);
                    let target_has = |place: u32| case.links.iter().any(|link| link.target == place);
                    let tight = source_has(s1) && source_has(s2 - 1) && target_has(t1) && target_has(t2 - 1);
                    let short = s2 - s1 <= source && t2 - t1 <= target;
                    if consistent && linked && short && (tight || boundary == Boundary::Loose) {
                        found.push(PhrasePair { s1, s2, t1, t2 });
                    }
                }
            }
        }
    }
    found
}

fn orientation(
    model: OrientationModel,
    links: (bool, bool),
    neighbours: &[PhrasePair],
    mono: impl Fn(&PhrasePair) -> bool,
    swap: impl Fn(&PhrasePair) -> bool,
) -> Orientation {
    let phrases = model != OrientationModel::Word;
    if (links.0 && !links.1) || (phrases && neighbours.iter().any(mono)) {
        Orientation::Mono
    } else if (links.1 && !links.0) || (phrases && neighbours.iter().any(swap)) {
        Orientation::Swap
    } else {
        Orientation::Disc
    }
}

/// To what is translated before; `neighbours` are the phrase pairs that count as such.
pub fn previous(
    case: &Case,
    neighbours: &[PhrasePair],
    p: &PhrasePair,
    model: OrientationModel,
) -> Orientation {
    let (s1, s2, t1) = (i64::from(p.s1), i64::from(p.s2), i64::from(p.t1));
    let links = (case.has(s1 - 1, t1 - 1), case.has(s2, t1 - 1));
    let mono = |q: &PhrasePair| q.s2 == p.s1 && q.t2 == p.t1;
    orientation(model, links, neighbours, mono, |q| q.s1 == p.s2 && q.t2 == p.t1)
}

/// To what is translated after.
pub fn next(case: &Case, neighbours: &[PhrasePair], p: &PhrasePair, model: OrientationModel) -> Orientation {
    let (s1, s2, t2) = (i64::from(p.s1), i64::from(p.s2), i64::from(p.t2));
    let links = (case.has(s2, t2), case.has(s1 - 1, t2));
    let mono = |q: &PhrasePair| q.s1 == p.s2 && q.t1 == p.t2;
    orientation(model, links, neighbours, mono, |q| q.s2 == p.s1 && q.t1 == p.t2)
}

type Occurrence = (PhrasePair, String, Vec<WordLink>, f64);

/// All Hiero rules, by phrase pair and text; and how many choices of variables read like others.
pub fn hiero(case: &Case, config: &HieroConfig) -> (Vec<Occurrence>, usize) {
    let all = pairs(case, config.span, config.target_span, config.boundary);
    let (mut found, mut repeated) = (Vec::new(), 0);
    for pair in &all {
        let inside = |q: &&PhrasePair| {
            *q != pair
                && pair.s1 <= q.s1
                && q.s2 <= pair.s2
                && pair.t1 <= q.t1
                && q.t2 <= pair.t2
                && q.s2 - q.s1 >= config.gap
                && q.t2 - q.t1 >= config.target_gap
        };
        let holes: Vec<PhrasePair> = all.iter().filter(inside).copied().collect();
        let (mut texts, mut rules) = (BTreeSet::new(), Vec::new());
        for chosen in choices(&holes, config.variables as usize) {
            if !fits(case, config, pair, &chosen) {
                continue;
            }
            let text = case.rule(pair, &chosen);
            if texts.insert(text.clone()) {
                rules.push((text, case.links_of(pair, &chosen)));
            } else {
                repeated += 1;
            }
        }
        let share = if config.whole_counts { 1.0 } else { 1.0 / rules.len() as f64 };
        found.extend(rules.into_iter().map(|(text, links)| (*pair, text, links, share)));
    }
    found.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    (found, repeated)
}

/// All subsets of at most `most`, in order.
fn choices(holes: &[PhrasePair], most: usize) -> Vec<Vec<PhrasePair>> {
    let mut all = vec![Vec::new()];
    let mut last = vec![(0, Vec::new())];
    for _ in 0..most {
        let mut longer = Vec::new();
        for (from, chosen) in &last {
            for (place, hole) in holes.iter().enumerate().skip(*from) {
                let mut more: Vec<PhrasePair> = chosen.clone();
                more.push(*hole);
                // Overlapping ones never become good again.
                let apart = |a: &PhrasePair, b: &PhrasePair| {
                    (a.s2 <= b.s1 || b.s2 <= a.s1) && (a.t2 <= b.t1 || b.t2 <= a.t1)
                };
                if chosen.iter().all(|other| apart(other, hole)) {
                    all.push(more.clone());
                    longer.push((place + 1, more));
                }
            }
        }
        last = longer;
    }
    all
}

fn fits(case: &Case, config: &HieroConfig, pair: &PhrasePair, holes: &[PhrasePair]) -> bool {
    let sources: Vec<_> = holes.iter().map(|hole| (hole.s1, hole.s2)).collect();
    let targets: Vec<_> = holes.iter().map(|hole| (hole.t1, hole.t2)).collect();
    let source_words = Case::words(pair.s1, pair.s2, &sources).len();
    let target_words = Case::words(pair.t1, pair.t2, &targets).len();
    let touching = sources.iter().any(|a| sources.iter().any(|b| a.1 == b.0));
    let linked = !case.links_of(pair, holes).is_empty();
    // Behind the first variable there is no word, and before it there is one.
    let place = |t: u32| targets.iter().any(|hole| hole.0 <= t && t < hole.1);
    let taken: Vec<bool> = (pair.t1..pair.t2).map(place).collect();
    let words_first = !taken[0] && taken.is_sorted();
    (config.adjacent || !touching)
        && (words_first || !config.words_first)
        && source_words > 0
        && (linked || config.unlinked)
        && source_words + holes.len() <= config.symbols as usize
        && target_words + holes.len() <= config.target_symbols as usize
}
