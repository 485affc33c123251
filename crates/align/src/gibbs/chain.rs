//! One chain: the links of one direction, their counts, and the sweep that samples each link anew.

use sylvan_base::Rng;

use super::GibbsConfig;
use super::fertility::{Fertility, LIMIT, SIZE};
use super::jumps::Jumps;
use crate::bitext::{Bitext, Side, Words};
use crate::pairs::Pairs;

/// How much of the model is in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Words,
    Jumps,
    Fertility,
}

pub(super) struct Chain<'a> {
    pairs: &'a Pairs,
    given: &'a Words,
    generated: &'a Words,
    /// Whether target words pick source words, so that slots lie in columns.
    transposed: bool,
    sentences: usize,
    /// For each generated word 0 or the linked given position, from 1.
    links: Vec<u16>,
    /// Links by slot, by given type, by generated type when there is none, and without.
    counts: Vec<u32>,
    totals: Vec<u32>,
    nulls: Vec<u32>,
    null_total: u32,
    /// 1 / (totals + prior) by given type.
    inverse: Vec<f32>,
    /// alpha * how many types the given type meets.
    prior: Vec<f32>,
    alpha: f32,
    null_alpha: f32,
    null_prior: f32,
    null: f32,
    jumps: Jumps,
    fertility: Fertility,
    base: &'a Base,
    rng: Rng,
    scratch: Scratch,
}

/// Counts of a saved model, under the numbers of the present text; all empty without one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Base {
    /// By slot.
    pub(crate) counts: Vec<f32>,
    /// By given type, with the model's prior.
    pub(crate) totals: Vec<f32>,
    /// By generated type.
    pub(crate) nulls: Vec<f32>,
    pub(crate) null_total: f32,
    pub(crate) jumps: Vec<f32>,
    pub(crate) fertility: Vec<[f32; SIZE]>,
}

/// What one sentence pair needs; rows by generated word.
#[derive(Default)]
struct Scratch {
    /// The counts of all its word pairs, copied so that the sampling need not wait for memory.
    counts: Vec<f32>,
    /// 1 / (total + prior) of the given words, times the ratio of fertilities.
    factor: Vec<f32>,
    /// How many links each given word has.
    degree: Vec<u8>,
    /// The next position with the same given word, in a ring.
    twin: Vec<u16>,
    /// Whether the generated word occurs again behind this one.
    again: Vec<bool>,
    weights: Vec<f32>,
    /// The next linked position behind each generated word.
    next: Vec<u16>,
}

impl<'a> Chain<'a> {
    /// A chain whose links start at random. `base` holds the counts of a saved model.
    pub(super) fn new(
        bitext: &'a Bitext,
        pairs: &'a Pairs,
        given: Side,
        config: &GibbsConfig,
        base: &'a Base,
        seed: u64,
    ) -> Self {
        let types = bitext.vocab().len();
        let degree = pairs.degree(given);
        let seen = pairs.degree(given.other()).iter().filter(|&&degree| degree > 0).count();
        let mut prior: Vec<f32> = degree.iter().map(|&degree| config.alpha as f32 * degree as f32).collect();
        for (prior, base) in prior.iter_mut().zip(&base.totals) {
            *prior += base;
        }
        let (given_words, generated) = (bitext.side(given), bitext.side(given.other()));
        let longest = (0..bitext.len()).map(|pair| given_words.range(pair).len()).max().unwrap_or(0);
        let mut chain = Self {
            pairs,
            given: given_words,
            generated,
            transposed: given == Side::Source,
            sentences: bitext.len(),
            links: vec![0; generated.words.len()],
            counts: vec![0; pairs.len()],
            totals: vec![0; types],
            nulls: vec![0; types],
            null_total: 0,
            inverse: vec![0.0; types],
            prior,
            alpha: config.alpha as f32,
            null_alpha: config.null_alpha as f32,
            null_prior: config.null_alpha as f32 * seen as f32 + base.null_total,
            null: config.null as f32,
            jumps: Jumps::new(longest, &base.jumps),
            fertility: Fertility::new(types, base.fertility.clone()),
            base,
            rng: Rng::new(seed),
            scratch: Scratch::default(),
        };
        chain.start();
        chain
    }

    pub(super) fn jump_counts(&self) -> &[u32] {
        self.jumps.counts()
    }

    pub(super) fn fertility_counts(&self) -> &[[u32; SIZE]] {
        self.fertility.counts()
    }

    /// Links at random.
    fn start(&mut self) {
        for pair in 0..self.sentences {
            let given = self.given.get(pair);
            let slots = self.pairs.of(pair);
            let width = if self.transposed { self.generated.range(pair).len() } else { given.len() };
            for (j, at) in self.generated.range(pair).enumerate() {
                let link = self.rng.below(given.len() + 1);
                self.links[at] = link as u16;
                if link == 0 {
                    self.nulls[self.generated.words[at] as usize] += 1;
                    self.null_total += 1;
                } else {
                    let i = link - 1;
                    let slot = if self.transposed { slots[i * width + j] } else { slots[j * width + i] };
                    self.counts[slot as usize] += 1;
                    self.totals[given[i] as usize] += 1;
                }
            }
        }
        self.counts[0] = 0;
        for ((inverse, &total), &prior) in self.inverse.iter_mut().zip(&self.totals).zip(&self.prior) {
            *inverse = 1.0 / (total as f32 + prior);
        }
    }

    /// Samples every link once. `collect` receives the probabilities, `scale` being one.
    pub(super) fn sweep(&mut self, stage: Stage, mut collect: Option<&mut [u16]>, scale: f32) {
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut all_links = std::mem::take(&mut self.links);
        self.jumps.clear();
        self.fertility.clear();
        for pair in 0..self.sentences {
            let cells = self.pairs.range(pair);
            let links = &mut all_links[self.generated.range(pair)];
            let collect = collect.as_deref_mut().map(|sums| &mut sums[cells]);
            match stage {
                Stage::Words => self.sentence::<false, false>(pair, links, &mut scratch, collect, scale),
                Stage::Jumps => self.sentence::<true, false>(pair, links, &mut scratch, collect, scale),
                Stage::Fertility => self.sentence::<true, true>(pair, links, &mut scratch, collect, scale),
            }
        }
        self.scratch = scratch;
        self.links = all_links;
        self.jumps.update();
        self.fertility.update();
    }

    fn sentence<const JUMPS: bool, const FERTILITY: bool>(
        &mut self,
        pair: usize,
        links: &mut [u16],
        scratch: &mut Scratch,
        mut collect: Option<&mut [u16]>,
        scale: f32,
    ) {
        let given = self.given.get(pair);
        let generated = self.generated.get(pair);
        let (n, m) = (given.len(), generated.len());
        let slots = self.pairs.of(pair);
        let transposed = self.transposed;
        let slot_at = move |j: usize, i: usize| if transposed { i * m + j } else { j * n + i };
        scratch.load(slots, transposed, &self.counts, n, m);
        if !self.base.counts.is_empty() {
            scratch.load_base(slots, slot_at, &self.base.counts, n, m);
        }
        scratch.rings(given, generated);
        let Scratch { counts, factor, degree, twin, again, weights, next } = scratch;
        degree.clear();
        degree.resize(n, 0);
        next.resize(m, 0);
        let mut behind = n as u16 + 1;
        for (j, &link) in links.iter().enumerate().rev() {
            next[j] = behind;
            if link > 0 {
                behind = link;
                let degree = &mut degree[link as usize - 1];
                *degree = degree.saturating_add(1);
            }
        }
        factor.clear();
        for (&word, &degree) in given.iter().zip(&*degree) {
            let ratio = if FERTILITY { self.fertility.ratio(word, degree) } else { 1.0 };
            factor.push(self.inverse[word as usize] * ratio);
        }
        weights.resize(n, 0.0);
        let mut previous = 0;
        for j in 0..m {
            let word = generated[j] as usize;
            let old = links[j] as usize;
            let (from, to) =
                if JUMPS { self.jumps.around(previous, next[j] as usize, n) } else { (&[][..], &[][..]) };
            // Weigh all positions as if the present link were another one.
            let row = &counts[j * n..(j + 1) * n];
            if JUMPS {
                let cells = weights.iter_mut().zip(row).zip(&*factor);
                for (((weight, &count), &factor), (&from, &to)) in cells.zip(from.iter().zip(to)) {
                    *weight = (count + self.alpha) * factor * (from * to);
                }
            } else {
                for ((weight, &count), &factor) in weights.iter_mut().zip(row).zip(&*factor) {
                    *weight = (count + self.alpha) * factor;
                }
            }
            let mut no_link = (self.nulls[word] - u32::from(old == 0)) as f32 + self.null_alpha;
            no_link += self.base.nulls.get(word).unwrap_or(&0.0);
            no_link *= self.null / ((self.null_total - u32::from(old == 0)) as f32 + self.null_prior);
            if JUMPS {
                no_link *= self.jumps.across(previous, next[j] as usize);
            }
            // Then take the present link out, wherever its word stands.
            if old > 0 {
                let i = old - 1;
                let type_ = given[i];
                let inverse = 1.0 / ((self.totals[type_ as usize] - 1) as f32 + self.prior[type_ as usize]);
                let shared = f32::from(slots[slot_at(j, i)] > 0);
                let mut k = i;
                loop {
                    let degree = degree[k] - u8::from(k == i);
                    let mut weight = (row[k] - shared + self.alpha) * inverse;
                    if FERTILITY {
                        weight *= self.fertility.ratio(type_, degree);
                    }
                    if JUMPS {
                        weight *= from[k] * to[k];
                    }
                    weights[k] = weight;
                    k = twin[k] as usize;
                    if k == i {
                        break;
                    }
                }
            }
            let all = sum(weights) + no_link;
            if let Some(sums) = &mut collect {
                let unit = scale / all;
                for (sum, &weight) in sums[j * n..(j + 1) * n].iter_mut().zip(&*weights) {
                    *sum += (weight * unit + 0.5) as i32 as u16;
                }
            }
            let at = self.rng.unit() as f32 * all;
            let new = pick(weights, no_link, old, at);
            if new != old {
                links[j] = new as u16;
                self.relink(generated[j], given, slots, (old, new), j, slot_at);
                for link in [old, new] {
                    if link == 0 {
                        continue;
                    }
                    let i = link - 1;
                    let by = if link == new { 1 } else { u8::MAX };
                    degree[i] = degree[i].wrapping_add(by);
                    let inverse = self.inverse[given[i] as usize];
                    let mut k = i;
                    loop {
                        let ratio = if FERTILITY { self.fertility.ratio(given[k], degree[k]) } else { 1.0 };
                        factor[k] = inverse * ratio;
                        k = twin[k] as usize;
                        if k == i {
                            break;
                        }
                    }
                }
                if again[j] {
                    // Later occurrences must see the new counts.
                    for later in j + 1..m {
                        if generated[later] == generated[j] {
                            for (i, cell) in counts[later * n..(later + 1) * n].iter_mut().enumerate() {
                                let slot = slots[slot_at(later, i)] as usize;
                                *cell = self.counts[slot] as f32 + self.base.counts.get(slot).unwrap_or(&0.0);
                            }
                        }
                    }
                }
            }
            if new > 0 {
                if JUMPS {
                    self.jumps.count(previous, new);
                }
                previous = new;
            }
        }
        if JUMPS {
            self.jumps.count(previous, n + 1);
        }
        for (&word, &degree) in given.iter().zip(&*degree) {
            self.fertility.count(word, degree.min(LIMIT as u8));
        }
    }

    /// Changes the counts from one link of a generated word to another.
    #[inline]
    fn relink(
        &mut self,
        word: u32,
        given: &[u32],
        slots: &[u32],
        (old, new): (usize, usize),
        j: usize,
        slot_at: impl Fn(usize, usize) -> usize,
    ) {
        for (link, by) in [(old, u32::MAX), (new, 1)] {
            if link == 0 {
                let nulls = &mut self.nulls[word as usize];
                *nulls = nulls.wrapping_add(by);
                self.null_total = self.null_total.wrapping_add(by);
                continue;
            }
            let slot = slots[slot_at(j, link - 1)] as usize;
            if slot > 0 {
                self.counts[slot] = self.counts[slot].wrapping_add(by);
            }
            let type_ = given[link - 1] as usize;
            self.totals[type_] = self.totals[type_].wrapping_add(by);
            self.inverse[type_] = 1.0 / (self.totals[type_] as f32 + self.prior[type_]);
        }
    }
}

impl Scratch {
    fn load(&mut self, slots: &[u32], transposed: bool, counts: &[u32], n: usize, m: usize) {
        self.counts.resize(n * m, 0.0);
        if transposed {
            for (i, row) in slots.chunks_exact(m).enumerate() {
                for (j, &slot) in row.iter().enumerate() {
                    self.counts[j * n + i] = counts[slot as usize] as f32;
                }
            }
        } else {
            for (cell, &slot) in self.counts.iter_mut().zip(slots) {
                *cell = counts[slot as usize] as f32;
            }
        }
    }

    /// Adds the counts of a saved model.
    fn load_base(
        &mut self,
        slots: &[u32],
        slot_at: impl Fn(usize, usize) -> usize,
        base: &[f32],
        n: usize,
        m: usize,
    ) {
        for j in 0..m {
            for i in 0..n {
                self.counts[j * n + i] += base[slots[slot_at(j, i)] as usize];
            }
        }
    }

    fn rings(&mut self, given: &[u32], generated: &[u32]) {
        self.twin.clear();
        self.twin.extend(0..given.len() as u16);
        for (i, word) in given.iter().enumerate() {
            // The last one before closes the ring; it takes over where that one pointed.
            if let Some(before) = given[..i].iter().rposition(|other| other == word) {
                self.twin[i] = self.twin[before];
                self.twin[before] = i as u16;
            }
        }
        self.again.clear();
        self.again.extend(generated.iter().enumerate().map(|(j, word)| generated[j + 1..].contains(word)));
    }
}

/// The sum in a fixed order that the compiler can do in parallel.
#[inline]
fn sum(values: &[f32]) -> f32 {
    let mut sums = [0f32; 4];
    let parts = values.chunks_exact(4);
    let rest: f32 = parts.remainder().iter().sum();
    for part in parts {
        for lane in 0..4 {
            sums[lane] += part[lane];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// The link that the random number `at` falls on. The present one is tried first: it is mostly the answer.
#[inline]
fn pick(weights: &[f32], no_link: f32, old: usize, mut at: f32) -> usize {
    let stay = if old == 0 { no_link } else { weights[old - 1] };
    if at < stay {
        return old;
    }
    at -= stay;
    if old > 0 {
        if at < no_link {
            return 0;
        }
        at -= no_link;
    }
    for (i, &weight) in weights.iter().enumerate() {
        if i + 1 == old {
            continue;
        }
        if at < weight {
            return i + 1;
        }
        at -= weight;
    }
    // Rounding only.
    old
}
