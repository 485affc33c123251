//! The loop: decode, add what is new to the pool, optimise, decode again, and keep what was best.

use serde::Serialize;
use sylvan_base::{Progress, Silent, Vocab};
use sylvan_eval::Metric;

use crate::feature_forest::FeatureForest;
use crate::forests::Forests;
use crate::lists::Lists;
use crate::mert::{MertConfig, length, mert_with, set_length};
use crate::mira::{MiraConfig, mira};
use crate::pool::{Candidate, Pool, vector};
use crate::pro::{ProConfig, pro};

/// The best translations of a sentence, and all that were found if they are known.
pub type Listed = (Vec<Candidate>, Option<FeatureForest>);

/// A decoder as tuning sees it.
pub trait Decode {
    /// What can go wrong.
    type Error;
    /// Where to say how far the choice of weights is.
    fn progress(&self) -> &dyn Progress {
        &Silent
    }

    /// The best translations of each sentence, best first, with these weights (one per feature; features without a
    /// weight weigh 0). Features are numbered by `names`, to which new ones are added.
    fn decode(&mut self, names: &mut Vocab, weights: &[f64]) -> Result<Vec<Vec<Candidate>>, Self::Error>;

    /// The same, each sentence with a forest of what the search found within `margin` of the best. A decoder that has
    /// no forests is tuned on lists.
    fn decode_forests(
        &mut self,
        names: &mut Vocab,
        weights: &[f64],
        _margin: f64,
    ) -> Result<Vec<Listed>, Self::Error> {
        Ok(self.decode(names, weights)?.into_iter().map(|list| (list, None)).collect())
    }
}

/// How weights are found from a pool.
#[derive(Debug, Clone, PartialEq)]
pub enum Method {
    /// Line searches; for up to some dozens of features.
    Mert(MertConfig),
    /// Line searches on forests as well, without arcs that no derivation within `margin` of the best one has.
    ForestMert {
        /// Settings of the optimiser.
        mert: MertConfig,
        /// How much less a derivation may score.
        margin: f64,
    },
    /// Margins; for any number of features.
    Mira(MiraConfig),
    /// Rankings; for any number of features.
    Pro(ProConfig),
}

impl Method {
    /// The margin of forests unless another is wanted.
    pub const USUAL_MARGIN: f64 = 1.0;
}

/// One feature before tuning.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// Its name.
    pub name: String,
    /// Its weight.
    pub weight: f64,
    /// How far from 0 random weights may lie; 0 lets line searches leave the weight alone.
    pub spread: f64,
}

/// When to stop.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// At most this many rounds of decoding.
    pub rounds: usize,
    /// Stop after this many rounds without a better score.
    pub patience: usize,
    /// A change of weights (sum of absolute values, as a share of their length) that counts as none.
    pub least_change: f64,
}

impl Default for Plan {
    fn default() -> Self {
        Self { rounds: 15, patience: 4, least_change: 1e-4 }
    }
}

/// The result of one round.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Round {
    /// From 1.
    pub number: usize,
    /// The metric of the round's best translations.
    pub score: f64,
    /// What the optimiser promised: the metric of the pool with these weights; none in the first round.
    pub promised: Option<f64>,
    /// Translations that were new.
    pub new: usize,
    /// Translations in the pool.
    pub pool: usize,
    /// Whether no earlier round was better.
    pub best: bool,
    /// The weights used for decoding.
    pub weights: Vec<(String, f64)>,
}

/// The result of tuning.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tuned {
    /// The weights of the best round.
    pub weights: Vec<(String, f64)>,
    /// The metric of that round.
    pub score: f64,
    /// All rounds.
    pub rounds: Vec<Round>,
    /// Why it ended.
    pub ended: String,
}

/// Tunes weights. The callback `hear` gets each round as it ends.
pub fn tune<M: Metric, D: Decode>(
    decoder: &mut D,
    metric: &M,
    references: Vec<Vec<String>>,
    start: &[Start],
    method: &Method,
    plan: &Plan,
    hear: &mut dyn FnMut(&Round),
) -> Result<Tuned, D::Error> {
    let mut names = Vocab::of(start.iter().map(|start| start.name.as_str()));
    let given: Vec<(String, f64)> = start.iter().map(|start| (start.name.clone(), start.weight)).collect();
    let mut weights = vector(&names, &given);
    let size = length(&weights);
    let mut pool = Pool::new(metric, references);
    let mut rounds: Vec<Round> = Vec::new();
    let mut promised = None;
    let mut best: Option<usize> = None;
    let ended = loop {
        let found = match method {
            Method::ForestMert { margin, .. } => decoder.decode_forests(&mut names, &weights, *margin)?,
            _ => decoder.decode(&mut names, &weights)?.into_iter().map(|list| (list, None)).collect(),
        };
        weights.resize(names.len(), 0.0);
        let mut total = M::Stats::default();
        let mut new = 0;
        let mut forests = Vec::with_capacity(pool.len());
        for (sentence, (list, forest)) in found.into_iter().enumerate().take(pool.len()) {
            forests.push(forest);
            let first = list.first().map(|candidate| candidate.text.clone()).unwrap_or_default();
            total += pool.stats(sentence, &first);
            new += pool.add(sentence, list);
        }
        let score = metric.value(&total);
        let gain = |score| metric.better().gain(score);
        let is_best = best.is_none_or(|best| gain(score) > gain(rounds[best].score));
        let number = rounds.len() + 1;
        let named =
            names.iter().zip(&weights).map(|((_, name), &weight)| (name.to_string(), weight)).collect();
        let round = Round { number, score, promised, new, pool: pool.total(), best: is_best, weights: named };
        hear(&round);
        rounds.push(round);
        if is_best {
            best = Some(number - 1);
        }
        if new == 0 {
            break "no new translations".to_string();
        }
        if number >= plan.rounds {
            break format!("{number} rounds");
        }
        if best.is_some_and(|best| number - 1 - best >= plan.patience) {
            break format!("{} rounds without a better score", plan.patience);
        }
        let spread: Vec<f64> =
            (0..names.len()).map(|n| start.get(n).map_or(0.1, |start| start.spread)).collect();
        // Different random numbers in each round, but the same in each run.
        let seed_of = |seed: u64| seed.wrapping_mul(1000).wrapping_add(number as u64);
        let in_round = |config: &MertConfig| MertConfig { seed: seed_of(config.seed), ..config.clone() };
        let best_weights = vector(&names, &rounds[best.unwrap_or(0)].weights);
        let optimum = match method {
            Method::Mert(config) => {
                let space = Lists::new(&pool, names.len());
                mert_with(&space, &weights, &spread, &in_round(config), decoder.progress())
            }
            Method::ForestMert { mert: config, .. } => {
                let space = Forests::new(&pool, &forests, names.len());
                mert_with(&space, &weights, &spread, &in_round(config), decoder.progress())
            }
            // Small steps do not come back from a round that went astray, so they begin where it was best.
            Method::Mira(config) => {
                let config = MiraConfig { seed: seed_of(config.seed), ..config.clone() };
                mira(&pool, &best_weights, &config)
            }
            Method::Pro(config) => pro(&pool, &weights, config),
        };
        promised = Some(metric.better().gain(optimum.gain));
        let mut next = optimum.weights;
        set_length(&mut next, size);
        let least = plan.least_change * size.max(1e-12);
        let stays = [&weights, &best_weights].into_iter().any(|seen| {
            let change: f64 = next.iter().zip(seen).map(|(a, b)| (a - b).abs()).sum();
            change <= least
        });
        weights = next;
        if stays {
            break "the weights stay as they are".to_string();
        }
    };
    let best = &rounds[best.expect("the first round is the best so far")];
    Ok(Tuned { weights: best.weights.clone(), score: best.score, ended, rounds: rounds.clone() })
}
