//! Train on a text, or align it with a saved model; then ask for the links of each pair.

use sylvan_base::{InputError, Progress, Result};

use crate::bitext::Bitext;
use crate::counts::LinkCounts;
use crate::em::{Em, EmModel, Iteration, Scratch};
use crate::gibbs::{Gibbs, GibbsConfig};
use crate::model::{Model, ModelKind};
use crate::portion::Portion;
use crate::posteriors::Posteriors;
use crate::preset::Method;
use crate::side::Side;
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
    Gibbs(Box<Gibbs>, GibbsConfig),
}

/// Portions whose results are held at a time.
const BATCH: usize = 32;

/// Expectation maximisation needs random access.
fn resident(bitext: &Bitext) -> Result<()> {
    if bitext.is_resident() {
        return Ok(());
    }
    Err(InputError::Format {
        path: "the text".into(),
        found: format!("{} pairs, which do not fit", bitext.len()),
        expected: "a text that fits into memory, for a model without fertility".into(),
        advice: "allow more memory".into(),
    })
}

impl<'a> Aligner<'a> {
    /// Trains on a text. The callback `report` gets each iteration of expectation maximisation, which needs the text
    /// in memory; sampling does not.
    pub fn train(
        bitext: &'a Bitext,
        method: &Method,
        threads: usize,
        progress: &dyn Progress,
        report: &mut dyn FnMut(Iteration),
    ) -> Result<Self> {
        let state = match method {
            Method::Em(config) => {
                resident(bitext)?;
                State::Em(Box::new(Em::train(bitext, config.clone(), threads, progress, report)))
            }
            Method::Gibbs(config) => {
                State::Gibbs(Box::new(Gibbs::train(bitext, config, None, threads, progress)?), config.clone())
            }
        };
        Ok(Self { bitext, state, threads })
    }

    /// Aligns a text with a saved model.
    ///
    /// A model with fertility is sampled on: its counts stand, and the links of this text are counted on top, so
    /// that words which the model does not know are learnt from this text. The other models stay as they are.
    pub fn apply(
        bitext: &'a Bitext,
        model: &Model,
        method: &Method,
        threads: usize,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let state = match (model.kind(), method) {
            (ModelKind::Fertility, Method::Gibbs(config)) => {
                let [alpha, null_alpha, null, _] = model.numbers;
                let config = GibbsConfig { alpha, null_alpha, null, ..config.clone() };
                let base = |pairs: Option<&_>| model.base(bitext, pairs);
                let gibbs = Gibbs::train(bitext, &config, Some(&base), threads, progress)?;
                State::Gibbs(Box::new(gibbs), config)
            }
            _ => {
                resident(bitext)?;
                State::Em(Box::new(model.em(bitext)))
            }
        };
        Ok(Self { bitext, state, threads })
    }

    /// What is believed about one kept pair. For all pairs there is [`for_each`](Self::for_each).
    pub fn posteriors(&self, pair: usize) -> Result<Posteriors> {
        let mut out = Posteriors::default();
        match &self.state {
            State::Em(em) => {
                em.posteriors(pair, &mut out, &mut Scratch::default());
            }
            State::Gibbs(gibbs, _) => {
                let number = self.bitext.portion_of(pair);
                let portion = self.bitext.portion(number)?;
                gibbs.posteriors(number, &portion, pair - portion.first(), &mut out)?;
            }
        }
        Ok(out)
    }

    fn for_portion(
        &self,
        number: usize,
        portion: &Portion<'_>,
        see: &mut dyn FnMut(usize, &Posteriors),
    ) -> Result<()> {
        match &self.state {
            State::Em(em) => {
                let (mut matrix, mut scratch) = (Posteriors::default(), Scratch::default());
                for index in 0..portion.len() {
                    em.posteriors(portion.first() + index, &mut matrix, &mut scratch);
                    see(index, &matrix);
                }
                Ok(())
            }
            State::Gibbs(gibbs, _) => gibbs.for_portion(number, portion, see),
        }
    }

    /// Maps each kept pair's posteriors, in threads, and hands the results over in the order of the text.
    /// Both callbacks get the portion of the text and the pair's number in it.
    pub fn for_each<T: Send, E: From<InputError>>(
        &self,
        make: impl Fn(&Portion<'_>, usize, &Posteriors) -> T + Sync,
        mut take: impl FnMut(&Portion<'_>, usize, T) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let portions: Vec<usize> = (0..self.bitext.portions()).collect();
        for batch in portions.chunks(BATCH) {
            let parts = work::run(self.threads, batch.to_vec(), |number| -> Result<_> {
                let portion = self.bitext.portion(number)?;
                let mut made = Vec::with_capacity(portion.len());
                self.for_portion(number, &portion, &mut |index, matrix| {
                    made.push(make(&portion, index, matrix));
                })?;
                Ok((portion, made))
            });
            for part in parts {
                let (portion, made) = part?;
                for (index, item) in made.into_iter().enumerate() {
                    take(&portion, index, item)?;
                }
            }
        }
        Ok(())
    }

    /// ln p(target | source) and ln p(source | target) of a kept pair under a saved model. A model with fertility
    /// is scored as the hidden Markov model inside it.
    pub fn scores(bitext: &Bitext, model: &Model, threads: usize) -> Result<Vec<[f64; 2]>> {
        resident(bitext)?;
        let em = model.em(bitext);
        let runs = work::cut(0..bitext.len(), 256, |_| 1);
        let parts = work::run(threads, runs, |run| {
            let (mut matrix, mut scratch) = (Posteriors::default(), Scratch::default());
            run.map(|pair| em.posteriors(pair, &mut matrix, &mut scratch)).collect::<Vec<_>>()
        });
        Ok(parts.concat())
    }

    /// The model, to be saved.
    pub fn model(&self) -> Result<Model> {
        let posteriors = |number: usize, portion: &Portion<'_>, see: &mut dyn FnMut(usize, &Posteriors)| {
            self.for_portion(number, portion, see)
        };
        let links = LinkCounts::collect(self.bitext, self.threads, &posteriors)?;
        let vocab = self.bitext.vocab().clone();
        let pairs = self.bitext.len() as u64;
        Ok(match &self.state {
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
        })
    }
}

fn priors(degree: &[u32], alpha: f64) -> Vec<f32> {
    degree.iter().map(|&degree| (f64::from(degree) * alpha) as f32).collect()
}
