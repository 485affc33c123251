//! RIBES (Isozaki et al. 2010): how well the order of the words agrees, for language pairs that order them
//! very differently.
//!
//! RIBES = NKT · P1^α · BP^β with
//!
//! | paper | here |
//! |---|---|
//! | worder | [`order`]: for each word of the translation that can be told apart, its place in the reference |
//! | NKT | share of pairs of these that stand in the same order, (Kendall's τ + 1) / 2 |
//! | P1 | words in worder / words of the translation |
//! | BP | BLEU's brevity penalty, of the sentence |
//! | α, β | 0.25 and 0.10 |
//!
//! A word can be told apart when it occurs once on both sides, or when a run of words that begins or ends with it
//! does; shorter runs are tried first, and those to the left before those to the right. The score of a corpus is
//! the mean over its lines, the score of a line that of its best reference.

use std::ops::{AddAssign, SubAssign};

use sylvan_base::Symbol;

use crate::{Case, Metric, Tokenizer, VERSION, Workspace};

/// The unit of [`RibesStats::sum`], as a power of two.
const UNIT: f64 = (1u64 << 40) as f64;

/// One way to compute RIBES.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ribes {
    /// How lines become words.
    pub tokenizer: Tokenizer,
    /// Whether case counts.
    pub case: Case,
    /// The exponent of the precision.
    pub alpha: f64,
    /// The exponent of the brevity penalty.
    pub beta: f64,
}

impl Default for Ribes {
    fn default() -> Self {
        Self { tokenizer: Tokenizer::default(), case: Case::Mixed, alpha: 0.25, beta: 0.10 }
    }
}

/// What RIBES needs to know. A fixed-point number, so that sums do not depend on their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RibesStats {
    /// The scores of the lines, in units of 2^-40.
    pub sum: u64,
    /// How many lines.
    pub lines: u64,
}

impl AddAssign for RibesStats {
    fn add_assign(&mut self, other: Self) {
        self.sum += other.sum;
        self.lines += other.lines;
    }
}

impl SubAssign for RibesStats {
    fn sub_assign(&mut self, other: Self) {
        self.sum -= other.sum;
        self.lines -= other.lines;
    }
}

impl Metric for Ribes {
    type Stats = RibesStats;

    /// A line of one word again and again takes the cube of them.
    fn most_words(&self) -> Option<usize> {
        Some(2_000)
    }

    fn words(&self, line: &str) -> usize {
        match self.tokenizer {
            Tokenizer::Zh | Tokenizer::Char => line.chars().filter(|c| !c.is_whitespace()).count(),
            _ => line.split_whitespace().count(),
        }
    }

    fn name(&self) -> String {
        "RIBES".to_string()
    }

    fn line(&self, hypothesis: &str, references: &[&str], workspace: &mut Workspace) -> RibesStats {
        let words = &mut workspace.words;
        words.read(self.tokenizer, self.case, hypothesis, references);
        let scores = words.references.iter().map(|reference| self.sentence(&words.hypothesis, reference));
        let best = scores.fold(0.0, f64::max);
        RibesStats { sum: (best * UNIT).round() as u64, lines: 1 }
    }

    /// 0 to 100, like the other metrics; the authors' program prints a hundredth of it.
    fn value(&self, total: &RibesStats) -> f64 {
        if total.lines == 0 { 0.0 } else { 100.0 * (total.sum as f64 / UNIT / total.lines as f64) }
    }

    fn signature(&self, references: usize) -> String {
        let (case, tokenizer) = (self.case.name(), self.tokenizer.name());
        let Self { alpha, beta, .. } = self;
        format!(
            "nrefs:{references}|case:{case}|tok:{tokenizer}|alpha:{alpha:.2}|beta:{beta:.2}|version:{VERSION}"
        )
    }
}

impl Ribes {
    /// 0 to 1.
    fn sentence(&self, hyp: &[Symbol], reference: &[Symbol]) -> f64 {
        if hyp.is_empty() || reference.is_empty() {
            return 0.0;
        }
        let order = order(hyp, reference);
        let words = order.len();
        let agreement = match words {
            // One word has no order; it is right only when there is nothing else.
            0 => 0.0,
            1 => f64::from(u8::from(reference.len() == 1)),
            _ => in_order(&order) as f64 / (words * (words - 1) / 2) as f64,
        };
        let precision = words as f64 / hyp.len() as f64;
        let brevity = (1.0 - reference.len() as f64 / hyp.len() as f64).min(0.0).exp();
        agreement * precision.powf(self.alpha) * brevity.powf(self.beta)
    }
}

/// How many pairs stand in the order of the reference.
fn in_order(order: &[usize]) -> usize {
    let pairs =
        order.iter().enumerate().map(|(i, first)| order[i + 1..].iter().filter(|&then| first < then).count());
    pairs.sum()
}

/// The place in the reference of each word of the translation that can be told apart.
fn order(hyp: &[Symbol], reference: &[Symbol]) -> Vec<usize> {
    let mut order = Vec::with_capacity(hyp.len());
    for i in 0..hyp.len() {
        if let Some(place) = unique(&hyp[i..=i], hyp, reference) {
            order.push(place);
            continue;
        }
        if !reference.contains(&hyp[i]) {
            continue;
        }
        let longest = i.max(hyp.len() - 1 - i);
        let found = (1..=longest).find_map(|more| {
            let left = i.checked_sub(more).and_then(|start| unique(&hyp[start..=i], hyp, reference));
            let right = || hyp.get(i..=i + more).and_then(|run| unique(run, hyp, reference));
            left.map(|place| place + more).or_else(right)
        });
        order.extend(found);
    }
    order
}

/// Where `run` stands in the reference, if it stands once there and once in the translation.
fn unique(run: &[Symbol], hyp: &[Symbol], reference: &[Symbol]) -> Option<usize> {
    let mut places = reference.windows(run.len()).enumerate().filter(|(_, other)| *other == run);
    let (place, _) = places.next()?;
    if places.next().is_some() {
        return None;
    }
    (hyp.windows(run.len()).filter(|other| *other == run).count() == 1).then_some(place)
}
