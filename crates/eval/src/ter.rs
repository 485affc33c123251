//! Translation edit rate (Snover et al. 2006): insertions, deletions, substitutions and shifts of blocks that
//! turn a translation into its reference, per word of the reference.
//!
//! ```text
//! words --edits--> best shift? --yes--> shifted words --edits--> ... --no--> shifts made + edit distance
//! ```
//!
//! Finding the fewest edits with shifts is hard in general, so Tercom's greedy search defines the metric; the
//! search here has Tercom's limits as sacreBLEU sets them, since other limits are other numbers.

use std::ops::{AddAssign, SubAssign};

use crate::{Better, Case, Metric, Tokenizer, VERSION, Workspace};

/// One way to compute TER. The default is that of sacreBLEU: lower case, words between spaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ter {
    /// Whether case counts.
    pub case: Case,
}

impl Default for Ter {
    fn default() -> Self {
        Self { case: Case::Lower }
    }
}

/// What TER needs to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TerStats {
    /// Edits to the reference that needs the fewest.
    pub edits: u64,
    /// Words of all references together.
    pub reference_words: u64,
    /// How many references there were, summed over lines.
    pub references: u64,
    /// How many lines.
    pub lines: u64,
}

impl TerStats {
    /// Words of an average reference.
    pub fn mean_reference(&self) -> f64 {
        if self.lines == 0 {
            return 0.0;
        }
        // All lines have the same number of references.
        self.reference_words as f64 / (self.references / self.lines).max(1) as f64
    }
}

impl AddAssign for TerStats {
    fn add_assign(&mut self, other: Self) {
        self.edits += other.edits;
        self.reference_words += other.reference_words;
        self.references += other.references;
        self.lines += other.lines;
    }
}

impl SubAssign for TerStats {
    fn sub_assign(&mut self, other: Self) {
        self.edits -= other.edits;
        self.reference_words -= other.reference_words;
        self.references -= other.references;
        self.lines -= other.lines;
    }
}

impl Metric for Ter {
    type Stats = TerStats;

    /// The costs of two matrices of words by words: 200 MB.
    fn most_words(&self) -> Option<usize> {
        Some(5_000)
    }

    fn name(&self) -> String {
        "TER".to_string()
    }

    fn better(&self) -> Better {
        Better::Lower
    }

    fn line(&self, hypothesis: &str, references: &[&str], workspace: &mut Workspace) -> TerStats {
        let Workspace { words, ter, .. } = workspace;
        words.read(Tokenizer::None, self.case, hypothesis, references);
        let edits = words.references.iter().map(|reference| ter.edits(&words.hypothesis, reference)).min();
        TerStats {
            edits: edits.unwrap_or(0),
            reference_words: words.references.iter().map(|reference| reference.len() as u64).sum(),
            references: references.len() as u64,
            lines: 1,
        }
    }

    fn value(&self, total: &TerStats) -> f64 {
        let length = total.mean_reference();
        match (length > 0.0, total.edits > 0) {
            (true, _) => 100.0 * (total.edits as f64 / length),
            (false, true) => 100.0,
            (false, false) => 0.0,
        }
    }

    fn signature(&self, references: usize) -> String {
        let case = self.case.name();
        format!("nrefs:{references}|case:{case}|tok:tercom|norm:no|punct:yes|asian:no|version:{VERSION}")
    }
}
