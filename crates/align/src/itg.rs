//! One-to-one links that an inversion transduction grammar (Wu 1997) could have made.
//!
//! Such a grammar builds both sentences at once by joining two neighbouring parts, straight or swapped. A
//! permutation can be built this way if and only if repeatedly merging neighbours whose values are consecutive leaves
//! one piece; shift-reduce does that in linear time (Zhang et al. 2006). Links are offered best first and taken
//! when neither word has one yet and the permutation of all links stays buildable.

use sylvan_corpus::Link;

#[derive(Debug, Default)]
pub(crate) struct Itg {
    /// Sorted by source.
    links: Vec<Link>,
}

impl Itg {
    /// Takes what can be taken of the candidates, in their order. The result is sorted.
    pub(crate) fn choose(candidates: impl Iterator<Item = Link>) -> Vec<Link> {
        let mut chosen = Self::default();
        for link in candidates {
            chosen.offer(link);
        }
        chosen.links
    }

    fn offer(&mut self, link: Link) {
        let at = self.links.partition_point(|other| other.source < link.source);
        let taken = self.links.get(at).is_some_and(|other| other.source == link.source);
        if taken || self.links.iter().any(|other| other.target == link.target) {
            return;
        }
        self.links.insert(at, link);
        if !is_buildable(&self.links) {
            self.links.remove(at);
        }
    }
}

/// Whether the permutation of the targets can be built by straight and swapped joins.
fn is_buildable(links: &[Link]) -> bool {
    let mut ranks: Vec<u32> = links.iter().map(|link| link.target).collect();
    ranks.sort_unstable();
    let rank = |target: u32| ranks.binary_search(&target).map_or(0, |rank| rank as u32);
    // Pieces as (lowest, highest) rank.
    let mut stack: Vec<(u32, u32)> = Vec::with_capacity(links.len());
    for link in links {
        let mut piece = (rank(link.target), rank(link.target));
        while let Some(&(low, high)) = stack.last() {
            if high + 1 == piece.0 {
                piece.0 = low;
            } else if piece.1 + 1 == low {
                piece.1 = high;
            } else {
                break;
            }
            stack.pop();
        }
        stack.push(piece);
    }
    stack.len() <= 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buildable(targets: &[u32]) -> bool {
        is_buildable(&targets.iter().enumerate().map(|(i, &j)| Link::new(i as u32, j)).collect::<Vec<_>>())
    }

    /// Splits a permutation in two in every way.
    fn splits(targets: &[u32]) -> bool {
        let consecutive = |part: &[u32]| {
            let (low, high) = (part.iter().min().unwrap(), part.iter().max().unwrap());
            (high - low) as usize + 1 == part.len()
        };
        targets.len() <= 1
            || (1..targets.len()).any(|at| {
                let (left, right) = targets.split_at(at);
                consecutive(left) && consecutive(right) && splits(left) && splits(right)
            })
    }

    #[test]
    fn shift_reduce_agrees_with_splitting_on_all_permutations_of_six() {
        let mut bad = 0;
        for code in 0..720usize {
            let (mut rest, mut code, mut permutation) = ((0..6).collect::<Vec<u32>>(), code, Vec::new());
            for size in (1..=6).rev() {
                permutation.push(rest.remove(code % size));
                code /= size;
            }
            assert_eq!(buildable(&permutation), splits(&permutation), "{permutation:?}");
            bad += usize::from(!splits(&permutation));
        }
        // The large Schroeder number of 6 is 394.
        assert_eq!(bad, 720 - 394);
    }

    #[test]
    fn inside_out_links_are_left_out() {
        let links = [(0, 1), (1, 3), (2, 0), (3, 2), (3, 3)].map(|(i, j)| Link::new(i, j));
        assert_eq!(Itg::choose(links.into_iter()).len(), 3);
    }
}
