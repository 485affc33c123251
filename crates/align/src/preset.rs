//! Ready-made settings, and what they turn into for a text of a given size.
//!
//! All three sample the model with fertility; they differ in how long. The number of sweeps falls with the square
//! root of the number of sentence pairs, as in Östling & Tiedemann (2016): more text needs fewer. The settings were
//! chosen by measured error against measured time (docs/notes/alignment.md).

use std::str::FromStr;

use crate::em::{EmConfig, EmModel};
use crate::gibbs::GibbsConfig;

/// How links are found.
#[derive(Debug, Clone)]
pub enum Method {
    /// By expectation maximisation.
    Em(EmConfig),
    /// By sampling the model with fertility.
    Gibbs(GibbsConfig),
}

/// How much time to spend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preset {
    /// A quick look.
    Fast,
    /// Good links in about the time that `fast_align` takes.
    #[default]
    Default,
    /// The best links.
    Best,
}

impl Preset {
    /// All presets.
    pub const ALL: [Self; 3] = [Self::Fast, Self::Default, Self::Best];

    /// The settings for a text with `pairs` sentence pairs.
    pub fn method(self, pairs: usize, seed: u64) -> Method {
        // Chains, and sweeps of the three stages for a text of a million pairs. Averaging several short
        // chains beats one long chain: each settles on one reading of a rare word and stays with it.
        let (chains, shares) = match self {
            Self::Fast => (2, [0.5, 0.5, 0.7]),
            Self::Default => (4, [0.7, 0.7, 1.4]),
            Self::Best => (12, [1.2, 1.2, 4.8]),
        };
        let [words, jumps, fertility] = shares.map(|share: f64| {
            let sweeps = share * (1e6 / pairs.max(1) as f64).sqrt();
            (sweeps.round() as usize).clamp(2, 200)
        });
        let collect = fertility.div_ceil(2);
        Method::Gibbs(GibbsConfig {
            chains,
            words,
            jumps,
            fertility,
            collect,
            seed,
            ..GibbsConfig::default()
        })
    }
}

impl Method {
    /// Expectation maximisation with the usual schedule up to a model.
    pub fn em(model: EmModel) -> Self {
        let schedule = match model {
            EmModel::Ibm1 => vec![(EmModel::Ibm1, 5)],
            EmModel::Diagonal => vec![(EmModel::Ibm1, 1), (EmModel::Diagonal, 4)],
            EmModel::Hmm => vec![(EmModel::Ibm1, 1), (EmModel::Hmm, 5)],
        };
        Self::Em(EmConfig { schedule, ..EmConfig::default() })
    }
}

impl std::fmt::Display for Preset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Fast => "fast",
            Self::Default => "default",
            Self::Best => "best",
        })
    }
}

impl FromStr for Preset {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|preset| preset.to_string() == text);
        known.ok_or_else(|| format!("found {text:?}, expected fast, default or best"))
    }
}
