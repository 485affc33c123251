//! (TER − BLEU) / 2: one number for fluency and edits together, the lower the better; often reported next to the
//! two in papers on syntax-based translation.

use std::ops::{AddAssign, SubAssign};

use crate::{Better, Bleu, BleuStats, Metric, Ter, TerStats, Workspace};

/// Half the difference of TER and BLEU.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TerBleu {
    /// How TER is computed.
    pub ter: Ter,
    /// How BLEU is computed.
    pub bleu: Bleu,
}

/// What both need to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TerBleuStats {
    /// For TER.
    pub ter: TerStats,
    /// For BLEU.
    pub bleu: BleuStats,
}

impl AddAssign for TerBleuStats {
    fn add_assign(&mut self, other: Self) {
        self.ter += other.ter;
        self.bleu += other.bleu;
    }
}

impl SubAssign for TerBleuStats {
    fn sub_assign(&mut self, other: Self) {
        self.ter -= other.ter;
        self.bleu -= other.bleu;
    }
}

impl Metric for TerBleu {
    type Stats = TerBleuStats;

    fn most_words(&self) -> Option<usize> {
        self.ter.most_words()
    }

    fn name(&self) -> String {
        "(TER-BLEU)/2".to_string()
    }

    fn better(&self) -> Better {
        Better::Lower
    }

    fn line(&self, hypothesis: &str, references: &[&str], workspace: &mut Workspace) -> TerBleuStats {
        TerBleuStats {
            ter: self.ter.line(hypothesis, references, workspace),
            bleu: self.bleu.line(hypothesis, references, workspace),
        }
    }

    fn value(&self, total: &TerBleuStats) -> f64 {
        (self.ter.value(&total.ter) - self.bleu.value(&total.bleu)) / 2.0
    }

    fn line_value(&self, line: &TerBleuStats) -> f64 {
        (self.ter.line_value(&line.ter) - self.bleu.line_value(&line.bleu)) / 2.0
    }

    fn signature(&self, references: usize) -> String {
        format!("{} and {}", self.ter.signature(references), self.bleu.signature(references))
    }
}
