//! One chain: the links of one direction, their counts, and the sweep that samples each link anew.

use sylvan_base::{Result, Rng};

use super::counts::Counts;
use super::fertility::{Fertility, LIMIT};
use super::jumps::Jumps;
use super::{Base, GibbsConfig};
use crate::bitext::Bitext;
use crate::portion::Portion;
use crate::shelf::Shelf;
use crate::side::Side;
use crate::work;

/// How much of the model is in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Words,
    Jumps,
    Fertility,
}

pub(super) struct Chain<'a, C> {
    bitext: &'a Bitext,
    given: Side,
    /// For each generated word 0 or the linked given position, from 1.
    links: Shelf,
    /// Links by pair of types, by given type, by generated type when there is none, and without.
    counts: C,
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

/// The words of a sentence pair.
pub(super) struct Cells<'t> {
    pub(super) pair: usize,
    pub(super) given: &'t [u32],
    pub(super) generated: &'t [u32],
}

impl<'t> Cells<'t> {
    fn of(portion: &'t Portion<'_>, given: Side, index: usize) -> Self {
        Self {
            pair: portion.first() + index,
            given: portion.words(given, index),
            generated: portion.words(given.other(), index),
        }
    }
}

/// What one sentence pair needs; rows by generated word.
#[derive(Default)]
struct Scratch {
    /// The counts of all its word pairs, copied so that the sampling need not wait for memory.
    counts: Vec<f32>,
    /// 1 / (total + prior) of the given words, times the ratio of fertilities.
    factor: Vec<f32>,
    /// How many links each given word has.
    degree: Vec<u16>,
    /// The next position with the same given word, in a ring.
    twin: Vec<u16>,
    /// Whether the generated word occurs again later.
    again: Vec<bool>,
    weights: Vec<f32>,
    /// The next linked position after each generated word.
    next: Vec<u16>,
}

impl<'a, C: Counts> Chain<'a, C> {
    /// A chain whose links start at random. `degree` says how many different words each type meets on a side,
    /// `base` holds the counts of a saved model; links are kept on the (empty) shelf.
    pub(super) fn new<'b>(
        bitext: &'a Bitext,
        (given, counts, links): (Side, C, Shelf),
        degree: impl Fn(Side) -> &'b [u32],
        config: &GibbsConfig,
        base: &'a Base,
        seed: u64,
    ) -> Result<Self> {
        let types = bitext.vocab().len();
        let seen = degree(given.other()).iter().filter(|&&degree| degree > 0).count();
        let mut prior: Vec<f32> =
            degree(given).iter().map(|&degree| config.alpha as f32 * degree as f32).collect();
        for (prior, base) in prior.iter_mut().zip(&base.totals) {
            *prior += base;
        }
        let mut chain = Self {
            bitext,
            given,
            links,
            counts,
            totals: vec![0; types],
            nulls: vec![0; types],
            null_total: 0,
            inverse: vec![0.0; types],
            prior,
            alpha: config.alpha as f32,
            null_alpha: config.null_alpha as f32,
            null_prior: config.null_alpha as f32 * seen as f32 + base.null_total,
            null: config.null as f32,
            jumps: Jumps::new(bitext.longest(given), &base.jumps),
            fertility: Fertility::new(types, base.fertility.clone()),
            base,
            rng: Rng::new(seed),
            scratch: Scratch::default(),
        };
        chain.start()?;
        Ok(chain)
    }

    /// About how much memory it takes, links apart: the table of counts, half as much again while it grows, and
    /// what is kept by type.
    pub(super) fn bytes(&self) -> usize {
        let by_type = 5 * size_of::<u32>() + 2 * size_of::<[u32; super::FERTILITIES]>();
        self.counts.bytes() / 2 * 3 + self.totals.len() * by_type
    }

    pub(super) fn jump_counts(&self) -> &[u32] {
        self.jumps.counts()
    }

    pub(super) fn fertility_counts(&self) -> &[[u32; super::FERTILITIES]] {
        self.fertility.counts()
    }

    /// Links at random.
    fn start(&mut self) -> Result<()> {
        let mut links = Vec::new();
        for number in 0..self.bitext.portions() {
            let portion = self.bitext.portion(number)?;
            links.clear();
            for index in 0..portion.len() {
                let cells = Cells::of(&portion, self.given, index);
                for (j, &word) in cells.generated.iter().enumerate() {
                    let link = self.rng.below(cells.given.len() + 1);
                    links.push(link as u16);
                    if link == 0 {
                        self.nulls[word as usize] += 1;
                        self.null_total += 1;
                    } else {
                        self.counts.add(&cells, j, link - 1);
                        self.totals[cells.given[link - 1] as usize] += 1;
                    }
                }
            }
            self.links.put(number, &mut links)?;
        }
        self.links.turn();
        self.counts.tidy();
        for ((inverse, &total), &prior) in self.inverse.iter_mut().zip(&self.totals).zip(&self.prior) {
            *inverse = 1.0 / (total as f32 + prior);
        }
        Ok(())
    }

    /// Samples every link once. `collect` receives the probabilities, `scale` being one.
    pub(super) fn sweep(&mut self, stage: Stage, mut collect: Option<&mut Shelf>, scale: f32) -> Result<()> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let (mut links, mut sums) = (Vec::new(), Vec::new());
        self.jumps.clear();
        self.fertility.clear();
        for number in 0..self.bitext.portions() {
            let portion = self.bitext.portion(number)?;
            self.links.take(number, &mut links)?;
            if let Some(shelf) = &mut collect {
                shelf.take(number, &mut sums)?;
                sums.resize(portion.all_cells(), 0);
            }
            let (mut open_links, mut open_sums) = (links.as_mut_slice(), sums.as_mut_slice());
            for index in 0..portion.len() {
                let cells = Cells::of(&portion, self.given, index);
                let links = work::take(&mut open_links, cells.generated.len());
                let sums = collect.is_some().then(|| work::take(&mut open_sums, portion.cells(index)));
                match stage {
                    Stage::Words => self.sentence::<false, false>(&cells, links, &mut scratch, sums, scale),
                    Stage::Jumps => self.sentence::<true, false>(&cells, links, &mut scratch, sums, scale),
                    Stage::Fertility => self.sentence::<true, true>(&cells, links, &mut scratch, sums, scale),
                }
            }
            self.links.put(number, &mut links)?;
            if let Some(shelf) = &mut collect {
                shelf.put(number, &mut sums)?;
            }
        }
        self.links.turn();
        if let Some(shelf) = collect {
            shelf.turn();
        }
        self.scratch = scratch;
        self.counts.tidy();
        self.jumps.update();
        self.fertility.update();
        Ok(())
    }

    fn sentence<const JUMPS: bool, const FERTILITY: bool>(
        &mut self,
        cells: &Cells<'_>,
        links: &mut [u16],
        scratch: &mut Scratch,
        mut collect: Option<&mut [u16]>,
        scale: f32,
    ) {
        let (given, generated) = (cells.given, cells.generated);
        let (n, m) = (given.len(), generated.len());
        scratch.counts.resize(n * m, 0.0);
        self.counts.load(cells, &mut scratch.counts);
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
                degree[link as usize - 1] += 1;
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
                let own = f32::from(self.counts.holds(cells, j, i));
                let mut k = i;
                loop {
                    let degree = degree[k] - u16::from(k == i);
                    let mut weight = (row[k] - own + self.alpha) * inverse;
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
                    // A model that lies may have counts whose shares do not add up to 1.
                    *sum = sum.saturating_add((weight * unit + 0.5) as i32 as u16);
                }
            }
            let at = self.rng.unit() as f32 * all;
            let new = pick(weights, no_link, old, at);
            if new != old {
                links[j] = new as u16;
                self.relink(cells, (old, new), j);
                for link in [old, new] {
                    if link == 0 {
                        continue;
                    }
                    let i = link - 1;
                    let by = if link == new { 1 } else { u16::MAX };
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
                                *cell = self.counts.get(cells, later, i);
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
            self.fertility.count(word, degree.min(LIMIT as u16));
        }
    }

    /// Changes the counts from one link of a generated word to another.
    #[inline]
    fn relink(&mut self, cells: &Cells<'_>, (old, new): (usize, usize), j: usize) {
        for (link, by) in [(old, u32::MAX), (new, 1)] {
            if link == 0 {
                let nulls = &mut self.nulls[cells.generated[j] as usize];
                *nulls = nulls.wrapping_add(by);
                self.null_total = self.null_total.wrapping_add(by);
                continue;
            }
            let i = link - 1;
            if by == 1 {
                self.counts.add(cells, j, i);
            } else {
                self.counts.remove(cells, j, i);
            }
            let type_ = cells.given[i] as usize;
            self.totals[type_] = self.totals[type_].wrapping_add(by);
            self.inverse[type_] = 1.0 / (self.totals[type_] as f32 + self.prior[type_]);
        }
    }
}

impl Scratch {
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
