//! What a search found and cost, sentence by sentence.

use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use sylvan_base::hash::{content_hash, fold};
use sylvan_decode::{Error, List, Model, Result, Sentence, With, Worker};
use sylvan_search::{Search, Stop};

/// One search on one text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Measured {
    /// Model scores of the best translations.
    pub(crate) scores: Vec<f64>,
    /// The same as the search knew them: a structured language model may find a better parse of a whole translation.
    pub(crate) searched: Vec<f64>,
    /// The translations.
    pub(crate) texts: Vec<String>,
    /// Wall clock of each sentence, from its words or tree to its translation.
    pub(crate) milliseconds: Vec<f64>,
    /// Words scored by the language model.
    pub(crate) queries: Vec<u64>,
    /// Left-to-right search: words whose scores it remembered.
    pub(crate) remembered: Vec<u64>,
    /// Partial derivations made.
    pub(crate) items: Vec<u64>,
    /// Left-to-right search: those that were among the best of their bin and went on.
    pub(crate) kept: Vec<u64>,
    /// Source words.
    pub(crate) words: Vec<u64>,
    /// For exact search: whether the optimum was proved.
    pub(crate) proved: Vec<bool>,
    /// Processor time of all sentences together, which others at work disturb less.
    pub(crate) seconds: f64,
}

impl Measured {
    /// Translates all sentences, on this thread.
    pub(crate) fn of(
        model: &Arc<Model>,
        sentences: &[Sentence],
        search: Search,
        tick: &dyn Fn(u64),
    ) -> Result<Self> {
        let mut worker = Worker::new(Arc::clone(model));
        let mut measured = Self::default();
        let begun = processor_seconds();
        for (index, sentence) in sentences.iter().enumerate() {
            let started = Instant::now();
            let found = worker.decode(sentence, With::default(), search, List::default(), &Stop::NEVER);
            measured.milliseconds.push(started.elapsed().as_secs_f64() * 1000.0);
            let best = found.hypotheses.first().ok_or_else(|| {
                Error::setting(format!("sentence {}", index + 1), "no translation", "at least one")
            })?;
            measured.scores.push(best.score);
            measured.searched.push(found.searched);
            measured.texts.push(sentence.vocab().join(&best.words));
            measured.queries.push(found.counters.lm_queries);
            measured.remembered.push(found.counters.lm_remembered);
            measured.items.push(found.counters.items);
            measured.kept.push(found.counters.kept);
            measured.words.push(sentence.words.len() as u64);
            measured.proved.push(found.gap == Some(0.0));
            tick(index as u64 + 1);
        }
        measured.seconds = processor_seconds() - begun;
        Ok(measured)
    }

    pub(crate) fn len(&self) -> usize {
        self.scores.len()
    }

    /// The mean model score.
    pub(crate) fn score(&self) -> f64 {
        mean(&self.scores)
    }

    /// Milliseconds of processor time per sentence.
    pub(crate) fn time(&self) -> f64 {
        1000.0 * self.seconds / self.len().max(1) as f64
    }

    /// Queries to the language model per sentence.
    pub(crate) fn lm_calls(&self) -> f64 {
        mean_count(&self.queries)
    }

    /// The same if nothing were remembered.
    pub(crate) fn lm_calls_without_memory(&self) -> f64 {
        mean_count(&self.queries) + mean_count(&self.remembered)
    }

    /// Items made per sentence.
    pub(crate) fn made(&self) -> f64 {
        mean_count(&self.items)
    }

    /// Items that went on, per source word.
    pub(crate) fn kept_per_word(&self) -> f64 {
        mean_count(&self.kept) / mean_count(&self.words).max(1.0)
    }

    /// Sentences whose best translation has a better parse than those that the search kept.
    pub(crate) fn parsed_better_alone(&self) -> usize {
        let pairs = self.scores.iter().zip(&self.searched);
        pairs.filter(|(whole, searched)| **whole > **searched + Duel::SAME).count()
    }

    /// Everything but times, as a number: two runs with the same one found the same.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut sum = content_hash(self.texts.join("\n").as_bytes());
        for score in self.scores.iter().chain(&self.searched) {
            sum = fold(sum, score.to_bits());
        }
        for &count in
            [&self.queries, &self.remembered, &self.items, &self.kept, &self.words].into_iter().flatten()
        {
            sum = fold(sum, count);
        }
        self.proved.iter().fold(sum, |sum, &proved| fold(sum, proved.into()))
    }

    /// For tables: how many of the optima that exact search proved this one finds.
    pub(crate) fn reached(&self, exact: &Self) -> String {
        let proved = |line: &usize| exact.proved[*line];
        let found = |line: &usize| self.scores[*line] > exact.scores[*line] - Duel::SAME;
        let of = (0..exact.len()).filter(proved);
        format!("{} of {}", of.clone().filter(found).count(), of.count())
    }

    /// The same for some sentences alone. Times are their share by wall clock.
    pub(crate) fn only(&self, wanted: impl Fn(usize) -> bool) -> Self {
        let kept: Vec<usize> = (0..self.len()).filter(|&index| wanted(index)).collect();
        let all: f64 = self.milliseconds.iter().sum();
        let part: f64 = kept.iter().map(|&index| self.milliseconds[index]).sum();
        Self {
            scores: of(&kept, &self.scores),
            searched: of(&kept, &self.searched),
            texts: of(&kept, &self.texts),
            milliseconds: of(&kept, &self.milliseconds),
            queries: of(&kept, &self.queries),
            remembered: of(&kept, &self.remembered),
            items: of(&kept, &self.items),
            kept: of(&kept, &self.kept),
            words: of(&kept, &self.words),
            proved: of(&kept, &self.proved),
            seconds: if all > 0.0 { self.seconds * part / all } else { 0.0 },
        }
    }
}

fn of<T: Clone>(places: &[usize], values: &[T]) -> Vec<T> {
    places.iter().map(|&place| values[place].clone()).collect()
}

/// How many sentences one search scores higher than, the same as, lower than another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Duel {
    pub(crate) better: u64,
    pub(crate) equal: u64,
    pub(crate) worse: u64,
}

impl Duel {
    /// Scores that differ by less are the same derivation, summed in another order.
    pub(crate) const SAME: f64 = 1e-4;

    pub(crate) fn of(ours: &Measured, theirs: &Measured) -> Self {
        let mut duel = Self { better: 0, equal: 0, worse: 0 };
        for (ours, theirs) in ours.scores.iter().zip(&theirs.scores) {
            match ours - theirs {
                difference if difference > Self::SAME => duel.better += 1,
                difference if difference < -Self::SAME => duel.worse += 1,
                _ => duel.equal += 1,
            }
        }
        duel
    }

    /// The probability that so uneven a result is chance.
    pub(crate) fn sign_test(self) -> f64 {
        sylvan_eval::compare::two_sided(self.better, self.worse)
    }

    pub(crate) fn shares(self) -> [f64; 3] {
        let all = (self.better + self.equal + self.worse).max(1) as f64;
        [self.better, self.equal, self.worse].map(|count| 100.0 * count as f64 / all)
    }

    /// For tables: how many, and how many of a hundred.
    pub(crate) fn shown(self) -> String {
        let [better, equal, worse] = self.shares();
        let Self { better: more, equal: same, worse: fewer } = self;
        format!("{more} / {same} / {fewer} ({better:.0} / {equal:.0} / {worse:.0} %)")
    }
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn mean_count(counts: &[u64]) -> f64 {
    mean(&counts.iter().map(|&count| count as f64).collect::<Vec<_>>())
}

/// The standard deviation of some runs.
pub(crate) fn deviation(values: &[f64]) -> f64 {
    let middle = mean(values);
    let squares: f64 = values.iter().map(|value| (value - middle).powi(2)).sum();
    (squares / (values.len().max(2) - 1) as f64).sqrt()
}

/// Processor time of this thread where the system says, else the time since some start.
#[cfg(unix)]
fn processor_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Processor time of this thread where the system says, else the time since some start.
#[cfg(not(unix))]
fn processor_seconds() -> f64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// A straight line through points by least squares: its slope, half the width of the slope's 95 % interval, and the share of
/// the variance that it explains.
pub(crate) fn regression(points: &[(f64, f64)]) -> [f64; 3] {
    let n = points.len() as f64;
    let (xs, ys): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    let (x, y) = (mean(&xs), mean(&ys));
    let sxx: f64 = xs.iter().map(|value| (value - x).powi(2)).sum();
    let syy: f64 = ys.iter().map(|value| (value - y).powi(2)).sum();
    let sxy: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    let slope = sxy / sxx;
    let rest = (syy - slope * sxy).max(0.0);
    let freedom = (n - 2.0).max(1.0);
    let interval = student(freedom) * (rest / freedom / sxx).sqrt();
    [slope, interval, if syy > 0.0 { 1.0 - rest / syy } else { 1.0 }]
}

/// Student's t for 95 %, two-sided: exact values for few degrees of freedom, near the normal distribution's for many.
fn student(freedom: f64) -> f64 {
    const FEW: [f64; 10] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
    FEW.get(freedom as usize - 1).copied().unwrap_or(1.96 + 2.5 / freedom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_through_points() {
        let points: Vec<(f64, f64)> = (0..5).map(|x| (f64::from(x), 2.0 * f64::from(x) + 1.0)).collect();
        let [slope, interval, share] = regression(&points);
        assert!((slope - 2.0).abs() < 1e-12 && interval < 1e-6 && share > 0.999);
        // By hand: sxx 2, sxy 1, syy 2/3; the rest is 1/6 with one degree of freedom.
        let [slope, interval, share] = regression(&[(0.0, 0.0), (1.0, 1.0), (2.0, 1.0)]);
        assert!((slope - 0.5).abs() < 1e-12);
        assert!((interval - 12.706 * (1.0f64 / 6.0 / 2.0).sqrt()).abs() < 1e-9);
        assert!((share - 0.75).abs() < 1e-12);
    }

    #[test]
    fn duels_count_sentences() {
        let of = |scores: &[f64]| Measured { scores: scores.to_vec(), ..Measured::default() };
        let duel = Duel::of(&of(&[1.0, 2.0, 3.0, 4.0]), &of(&[0.0, 2.00001, 3.5, 3.0]));
        assert_eq!(duel, Duel { better: 2, equal: 1, worse: 1 });
        assert_eq!(duel.shares(), [50.0, 25.0, 25.0]);
        assert_eq!(duel.shown(), "2 / 1 / 1 (50 / 25 / 25 %)");
        assert_eq!(deviation(&[1.0, 3.0]), 2f64.sqrt());
        let exact = Measured { proved: vec![true, false, true], ..of(&[1.0, 2.0, 3.2]) };
        assert_eq!(of(&[1.0, 2.0, 3.0, 4.0]).reached(&exact), "1 of 2");
    }
}
