//! Train on a text, or align it with a saved model; then ask for the links of each pair.

use sylvan_base::Progress;

use crate::bitext::{Bitext, Side};
use crate::counts::LinkCounts;
use crate::em::{Em, EmModel, Iteration, Scratch};
use crate::gibbs::{Gibbs, GibbsConfig};
use crate::model::{Model, ModelKind};
use crate::posteriors::Posteriors;
use crate::preset::Method;
use crate::work;

/// What a model believes about every pair of a text.
#[derive(Debug)]
pub struct Aligner<'a> {
    bitext: &'a Bitext,
    state: State<'a>,
    threads: usize,
}

#[derive(Debug)]
enum State<'a> {
    Em(Box<Em<'a>>),
    Gibbs(Box<Gibbs<'a>>, GibbsConfig),
}

/// Token pairs per job when links are made.
const JOB: usize = 1 << 17;

impl<'a> Aligner<'a> {
    /// Trains on a text. `report` hears of the iterations of expectation maximisation.
    pub fn train(
        bitext: &'a Bitext,
        method: &Method,
        threads: usize,
        progress: &dyn Progress,
        report: &mut dyn FnMut(Iteration),
    ) -> Self {
        let state = match method {
            Method::Em(config) => {
                State::Em(Box::new(Em::train(bitext, config.clone(), threads, progress, report)))
            }
            Method::Gibbs(config) => {
                State::Gibbs(Box::new(Gibbs::train(bitext, config, None, threads, progress)), config.clone())
            }
        };
        Self { bitext, state, threads }
    }

    /// Aligns a text with a saved model.
    ///
    /// A model with fertility is sampled on: its counts stand, and the links of this text are counted on top, so
    /// that words which the model does not know are learned from this text. The other models stay as they are.
    pub fn apply(
        bitext: &'a Bitext,
        model: &Model,
        method: &Method,
        threads: usize,
        progress: &dyn Progress,
    ) -> Self {
        let state = match (model.kind(), method) {
            (ModelKind::Fertility, Method::Gibbs(config)) => {
                let [alpha, null_alpha, null, _] = model.numbers;
                let config = GibbsConfig { alpha, null_alpha, null, ..config.clone() };
                let base = |pairs: &_| model.base(bitext, pairs);
                State::Gibbs(Box::new(Gibbs::train(bitext, &config, Some(&base), threads, progress)), config)
            }
            _ => State::Em(Box::new(Em::with_model(bitext, model))),
        };
        Self { bitext, state, threads }
    }

    /// What is believed about one kept pair.
    pub fn posteriors(&self, pair: usize, out: &mut Posteriors) {
        match &self.state {
            State::Em(em) => {
                em.posteriors(pair, out, &mut Scratch::default());
            }
            State::Gibbs(gibbs, _) => gibbs.posteriors(pair, out),
        }
    }

    /// Makes something of each kept pair's posteriors, in threads, and hands it over in the order of the text.
    pub fn for_each<T: Send, E>(
        &self,
        make: impl Fn(usize, &Posteriors) -> T + Sync,
        mut take: impl FnMut(usize, T) -> Result<(), E>,
    ) -> Result<(), E> {
        let cells = |pair: usize| {
            self.bitext.words(Side::Source, pair).len() * self.bitext.words(Side::Target, pair).len()
        };
        let runs = work::cut(0..self.bitext.len(), JOB, cells);
        for batch in runs.chunks(64) {
            let parts = work::run(self.threads, batch.to_vec(), |run| {
                let (mut matrix, mut scratch) = (Posteriors::default(), Scratch::default());
                let mut one = |pair: usize| {
                    match &self.state {
                        State::Em(em) => {
                            em.posteriors(pair, &mut matrix, &mut scratch);
                        }
                        State::Gibbs(gibbs, _) => gibbs.posteriors(pair, &mut matrix),
                    }
                    make(pair, &matrix)
                };
                (run.start, run.map(&mut one).collect::<Vec<T>>())
            });
            for (start, part) in parts {
                for (offset, item) in part.into_iter().enumerate() {
                    take(start + offset, item)?;
                }
            }
        }
        Ok(())
    }

    /// ln p(target | source) and ln p(source | target) of a kept pair under a saved model. A model with fertility
    /// is scored as the hidden Markov model inside it.
    pub fn scores(bitext: &Bitext, model: &Model, threads: usize) -> Vec<[f64; 2]> {
        let em = Em::with_model(bitext, model);
        let runs = work::cut(0..bitext.len(), 256, |_| 1);
        let parts = work::run(threads, runs, |run| {
            let (mut matrix, mut scratch) = (Posteriors::default(), Scratch::default());
            run.map(|pair| em.posteriors(pair, &mut matrix, &mut scratch)).collect::<Vec<_>>()
        });
        parts.concat()
    }

    /// The model, to be saved.
    pub fn model(&self) -> Model {
        let links = LinkCounts::collect(self.bitext, self.threads, &|pair, out| self.posteriors(pair, out));
        let vocab = self.bitext.vocab().clone();
        let pairs = self.bitext.len() as u64;
        match &self.state {
            State::Em(em) => {
                let config = em.config();
                let kind = match config.schedule.last() {
                    Some((EmModel::Hmm, _)) => ModelKind::Hmm,
                    Some((EmModel::Diagonal, _)) => ModelKind::Diagonal,
                    _ => ModelKind::Ibm1,
                };
                let alpha = config.alpha.unwrap_or(0.0);
                let priors = [Side::Source, Side::Target].map(|side| priors(em.degree(side), alpha));
                let positions = em.directions().each_ref().map(|direction| direction.position.numbers());
                let numbers = [alpha, 0.0, config.null, config.jump_smoothing];
                Model { kind, vocab, links, pairs, priors, positions, fertility: Default::default(), numbers }
            }
            State::Gibbs(gibbs, config) => {
                let chains = config.chains.max(1) as f32;
                let priors =
                    [Side::Source, Side::Target].map(|side| priors(gibbs.degree(side), config.alpha));
                let positions = gibbs
                    .sums()
                    .each_ref()
                    .map(|sums| sums.jumps.iter().map(|&count| count as f32 / chains).collect());
                let fertility = gibbs.sums().each_ref().map(|sums| {
                    sums.fertility.iter().map(|counts| counts.map(|count| count as f32 / chains)).collect()
                });
                let numbers = [config.alpha, config.null_alpha, config.null, 0.0];
                Model {
                    kind: ModelKind::Fertility,
                    vocab,
                    links,
                    pairs,
                    priors,
                    positions,
                    fertility,
                    numbers,
                }
            }
        }
    }
}

fn priors(degree: &[u32], alpha: f64) -> Vec<f32> {
    degree.iter().map(|&degree| (f64::from(degree) * alpha) as f32).collect()
}
