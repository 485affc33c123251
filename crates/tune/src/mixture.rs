//! Several metrics at once: their weighted mean.

use std::ops::{AddAssign, SubAssign};

use sylvan_base::Fault;
use sylvan_eval::{
    Better, Bleu, BleuStats, Chrf, ChrfStats, Metric, Ribes, RibesStats, Ter, TerStats, Tokenizer, Workspace,
};

/// A weighted sum of metrics, TER counted as 100 - TER, so that more is better.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Mixture {
    /// BLEU and its weight.
    pub bleu: (Bleu, f64),
    /// TER and its weight.
    pub ter: (Ter, f64),
    /// chrF and its weight.
    pub chrf: (Chrf, f64),
    /// RIBES and its weight.
    pub ribes: (Ribes, f64),
}

/// What all of them need to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MixtureStats {
    bleu: BleuStats,
    ter: TerStats,
    chrf: ChrfStats,
    ribes: RibesStats,
}

impl AddAssign for MixtureStats {
    fn add_assign(&mut self, other: Self) {
        self.bleu += other.bleu;
        self.ter += other.ter;
        self.chrf += other.chrf;
        self.ribes += other.ribes;
    }
}

impl SubAssign for MixtureStats {
    fn sub_assign(&mut self, other: Self) {
        self.bleu -= other.bleu;
        self.ter -= other.ter;
        self.chrf -= other.chrf;
        self.ribes -= other.ribes;
    }
}

impl Mixture {
    /// Reads `bleu`, `ter`, `chrf`, `ribes`, or several with weights: `bleu:2,ribes:1`. The tokeniser is that of BLEU
    /// and RIBES.
    pub fn parse(text: &str, tokenizer: Tokenizer) -> Result<Self, Fault> {
        let bleu = Bleu { tokenizer, ..Bleu::default() };
        let ribes = Ribes { tokenizer, ..Ribes::default() };
        let mut mixture = Self { bleu: (bleu, 0.0), ribes: (ribes, 0.0), ..Self::default() };
        for part in text.split(',') {
            let (name, weight) = part.split_once(':').unwrap_or((part, "1"));
            let weight = weight.parse::<f64>().ok().filter(|weight| weight.is_finite() && *weight > 0.0);
            let slot = match name {
                "bleu" => Some(&mut mixture.bleu.1),
                "ter" => Some(&mut mixture.ter.1),
                "chrf" => Some(&mut mixture.chrf.1),
                "ribes" => Some(&mut mixture.ribes.1),
                _ => None,
            };
            let (Some(slot), Some(weight)) = (slot, weight) else {
                let found = format!("the metric {part:?}");
                return Err(Fault::new(
                    0,
                    found,
                    "bleu, ter, chrf or ribes, each with a weight such as bleu:2",
                ));
            };
            *slot = weight;
        }
        Ok(mixture)
    }

    /// BLEU, if it is all that counts.
    pub fn only_bleu(&self) -> Option<Bleu> {
        let [_, others @ ..] = self.weights();
        (others == [0.0; 3]).then_some(self.bleu.0)
    }

    fn weights(&self) -> [f64; 4] {
        [self.bleu.1, self.ter.1, self.chrf.1, self.ribes.1]
    }
}

impl Metric for Mixture {
    type Stats = MixtureStats;

    fn name(&self) -> String {
        let names = [self.bleu.0.name(), self.ter.0.name(), self.chrf.0.name(), self.ribes.0.name()];
        let used = self.weights().into_iter().zip(names).filter(|(weight, _)| *weight != 0.0);
        used.map(|(weight, name)| format!("{weight} {name}")).collect::<Vec<_>>().join(" + ")
    }

    fn line(&self, hypothesis: &str, references: &[&str], workspace: &mut Workspace) -> MixtureStats {
        let mut stats = MixtureStats::default();
        if self.bleu.1 != 0.0 {
            stats.bleu = self.bleu.0.line(hypothesis, references, workspace);
        }
        if self.ter.1 != 0.0 {
            stats.ter = self.ter.0.line(hypothesis, references, workspace);
        }
        if self.chrf.1 != 0.0 {
            stats.chrf = self.chrf.0.line(hypothesis, references, workspace);
        }
        if self.ribes.1 != 0.0 {
            stats.ribes = self.ribes.0.line(hypothesis, references, workspace);
        }
        stats
    }

    fn value(&self, total: &MixtureStats) -> f64 {
        fn part<M: Metric>((metric, weight): &(M, f64), total: &M::Stats) -> f64 {
            let value = metric.value(total);
            let value = if metric.better() == Better::Lower { 100.0 - value } else { value };
            if *weight == 0.0 { 0.0 } else { weight * value }
        }
        let sum = part(&self.bleu, &total.bleu)
            + part(&self.ter, &total.ter)
            + part(&self.chrf, &total.chrf)
            + part(&self.ribes, &total.ribes);
        let weights: f64 = self.weights().iter().sum();
        if weights == 0.0 { 0.0 } else { sum / weights }
    }

    fn signature(&self, references: usize) -> String {
        let Self { bleu, ter, chrf, ribes } = self;
        let all = [
            (bleu.1, bleu.0.signature(references)),
            (ter.1, ter.0.signature(references)),
            (chrf.1, chrf.0.signature(references)),
            (ribes.1, ribes.0.signature(references)),
        ];
        let used = all.into_iter().filter(|(weight, _)| *weight != 0.0);
        used.map(|(weight, signature)| format!("{weight}*({signature})")).collect::<Vec<_>>().join(" + ")
    }
}
