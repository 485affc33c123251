//! What a model believes about one sentence pair, and the links that follow from it.

use sylvan_corpus::Link;

use crate::itg::Itg;
use crate::symmetrize::{Heuristic, symmetrize};

/// For each source word `i` and target word `j` the probability of a link, once from the model in which target
/// words pick source words (forward) and once from the reverse model. Rows by source word.
///
/// In the forward model the probabilities of a column sum to at most one, in the reverse model those of a row;
/// the rest is the probability of no link.
#[derive(Debug, Clone, Default)]
pub struct Posteriors {
    /// The number of source words.
    pub source_len: usize,
    /// The number of target words.
    pub target_len: usize,
    /// `forward[i * target_len + j]`.
    pub forward: Vec<f32>,
    /// `reverse[i * target_len + j]`.
    pub reverse: Vec<f32>,
}

impl Posteriors {
    /// All zero, for sentences of these lengths.
    pub fn reset(&mut self, source_len: usize, target_len: usize) {
        (self.source_len, self.target_len) = (source_len, target_len);
        for matrix in [&mut self.forward, &mut self.reverse] {
            matrix.clear();
            matrix.resize(source_len * target_len, 0.0);
        }
    }

    /// The geometric mean of both directions, which is high only where they agree.
    pub fn mean(&self, i: usize, j: usize) -> f32 {
        let at = i * self.target_len + j;
        (self.forward[at] * self.reverse[at]).sqrt()
    }

    /// The links of a heuristic, sorted.
    pub fn links(&self, heuristic: Heuristic) -> Vec<Link> {
        match heuristic {
            Heuristic::Forward => self.forward_links(),
            Heuristic::Reverse => self.reverse_links(),
            Heuristic::Posterior(threshold) => self.above(threshold),
            Heuristic::Mean(threshold) => self.above_mean(threshold),
            Heuristic::Itg => {
                let mut candidates: Vec<(f32, Link)> = self.cells().collect();
                candidates.retain(|&(mean, _)| mean > 0.05);
                // Best first; equal ones by position.
                candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                Itg::choose(candidates.into_iter().map(|(_, link)| link))
            }
            _ => symmetrize(&self.forward_links(), &self.reverse_links(), heuristic),
        }
    }

    fn cells(&self) -> impl Iterator<Item = (f32, Link)> + '_ {
        let cell = |i, j| (self.mean(i, j), Link::new(i as u32, j as u32));
        (0..self.source_len).flat_map(move |i| (0..self.target_len).map(move |j| cell(i, j)))
    }

    fn above(&self, threshold: f32) -> Vec<Link> {
        self.cells().filter(|&(mean, _)| mean >= threshold).map(|(_, link)| link).collect()
    }

    fn above_mean(&self, threshold: f32) -> Vec<Link> {
        let both = self.forward.iter().zip(&self.reverse).enumerate();
        let chosen = both.filter(|&(_, (forward, reverse))| forward + reverse >= 2.0 * threshold);
        let link = |at: usize| Link::new((at / self.target_len) as u32, (at % self.target_len) as u32);
        chosen.map(|(at, _)| link(at)).collect()
    }

    /// The best source word of each target word, unless no link is likelier. Ties go to the smaller position.
    fn forward_links(&self) -> Vec<Link> {
        let mut links = Vec::with_capacity(self.target_len);
        for j in 0..self.target_len {
            let column = (0..self.source_len).map(|i| self.forward[i * self.target_len + j]);
            links.extend(best(column).map(|i| Link::new(i as u32, j as u32)));
        }
        links.sort_unstable();
        links
    }

    fn reverse_links(&self) -> Vec<Link> {
        let mut links = Vec::with_capacity(self.source_len);
        if self.target_len > 0 {
            for (i, row) in self.reverse.chunks_exact(self.target_len).enumerate() {
                links.extend(best(row.iter().copied()).map(|j| Link::new(i as u32, j as u32)));
            }
        }
        links
    }
}

/// Where the largest probability is, unless the rest to 1 is larger.
fn best(probabilities: impl Iterator<Item = f32>) -> Option<usize> {
    let (mut at, mut top, mut sum) = (None, 0.0, 0.0);
    for (index, probability) in probabilities.enumerate() {
        sum += probability;
        if probability > top {
            (at, top) = (Some(index), probability);
        }
    }
    at.filter(|_| top > 1.0 - sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sylvan_corpus::Alignment;

    #[test]
    fn each_heuristic_reads_the_matrices_as_it_says() {
        let matrix = Posteriors {
            source_len: 2,
            target_len: 2,
            forward: vec![0.9, 0.3, 0.05, 0.3],
            reverse: vec![0.4, 0.5, 0.0, 0.2],
        };
        let check = |heuristic: &str, expected: &str| {
            let links = matrix.links(heuristic.parse().unwrap());
            assert_eq!(Alignment::new(links, Vec::new()).to_string(), expected, "{heuristic}");
        };
        // The second target word more likely has no link than either; so has the second source word.
        check("forward", "0-0");
        check("reverse", "0-1");
        check("intersection", "");
        check("union", "0-0 0-1");
        check("posterior:0.38", "0-0 0-1");
        check("posterior:0.5", "0-0");
        check("mean:0.5", "0-0");
        check("mean:0.24", "0-0 0-1 1-1");
        check("itg", "0-0 1-1");
    }
}
