//! Several metrics at once: their weighted mean.

use std::ops::{AddAssign, SubAssign};

use sylvan_eval::{
    Better, Bleu, BleuStats, Chrf, ChrfStats, Metric, Ribes, RibesStats, Ter, TerStats, Workspace,
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
