//! From two directed alignments to one: the heuristics of Och & Ney (2003) and Koehn et al. (2003), and
//! combinations of posteriors.
//!
//! *Forward* links come from the model in which every target word picks a source word, *reverse* links from the
//! one in which every source word picks a target word. The growing heuristics depend on the order in which links
//! are looked at; here it is that of the tool `atools` of Dyer et al. (2013): candidates sorted by source, then
//! target, each effective at once. Moses' `symal` walks in another order and differs on about a quarter of
//! sentences.

use std::str::FromStr;

use sylvan_base::{Fault, HashSet};
use sylvan_corpus::Link;

use crate::itg::Itg;

/// How two directions become one alignment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Heuristic {
    /// Forward links alone.
    Forward,
    /// Reverse links alone.
    Reverse,
    /// Links that both directions have.
    Intersection,
    /// Links that one direction has.
    Union,
    /// The intersection, grown by neighbouring links of the union that cover a new word.
    GrowDiag,
    /// Growing, then links of either direction that cover a new word.
    GrowDiagFinal,
    /// Growing, then links of either direction whose words are both new.
    GrowDiagFinalAnd,
    /// One-to-one links, likeliest first, as long as an inversion transduction grammar could have made them.
    Itg,
    /// All links whose geometric mean of both posteriors reaches a threshold (Liang, Taskar & Klein 2006, who
    /// take the product).
    Posterior(f32),
    /// All links whose arithmetic mean of both posteriors reaches a threshold: what one direction is sure of
    /// counts even if the other does not see it. Where a word becomes two, only one direction can link both, so
    /// a heuristic that requires both directions loses one of the links.
    Mean(f32),
}

impl Heuristic {
    /// The threshold of a plain `posterior`.
    pub const THRESHOLD: f32 = 0.35;
    /// The threshold of a plain `mean`.
    pub const MEAN_THRESHOLD: f32 = 0.4;

    /// All heuristics, with the usual threshold.
    pub const ALL: [Self; 10] = [
        Self::Forward,
        Self::Reverse,
        Self::Intersection,
        Self::Union,
        Self::GrowDiag,
        Self::GrowDiagFinal,
        Self::GrowDiagFinalAnd,
        Self::Itg,
        Self::Posterior(Self::THRESHOLD),
        Self::Mean(Self::MEAN_THRESHOLD),
    ];
}

impl std::fmt::Display for Heuristic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Forward => "forward",
            Self::Reverse => "reverse",
            Self::Intersection => "intersection",
            Self::Union => "union",
            Self::GrowDiag => "grow-diag",
            Self::GrowDiagFinal => "grow-diag-final",
            Self::GrowDiagFinalAnd => "grow-diag-final-and",
            Self::Itg => "itg",
            Self::Posterior(threshold) => return write!(f, "posterior:{threshold}"),
            Self::Mean(threshold) => return write!(f, "mean:{threshold}"),
        })
    }
}

impl FromStr for Heuristic {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        if let Some((name @ ("posterior" | "mean"), threshold)) = text.split_once(':') {
            let make = if name == "mean" { Self::Mean } else { Self::Posterior };
            return match threshold.parse::<f32>() {
                Ok(value) if value > 0.0 && value <= 1.0 => Ok(make(value)),
                _ => {
                    Err(Fault::new(0, format!("the threshold {threshold:?}"), "a number above 0 and up to 1"))
                }
            };
        }
        let known = |heuristic: &Self| heuristic.to_string() == text;
        match text {
            "intersect" => Ok(Self::Intersection),
            "posterior" => Ok(Self::Posterior(Self::THRESHOLD)),
            "mean" => Ok(Self::Mean(Self::MEAN_THRESHOLD)),
            _ => Self::ALL.into_iter().find(known).ok_or_else(|| {
                let names: Vec<String> = Self::ALL.iter().map(ToString::to_string).collect();
                Fault::new(0, format!("{text:?}"), format!("one of {}", names.join(", ")))
            }),
        }
    }
}

/// Combines two sets of links, both sorted and without duplicates; the result is sorted.
/// A threshold on posteriors is out of place here and gives the intersection.
pub fn symmetrize(forward: &[Link], reverse: &[Link], heuristic: Heuristic) -> Vec<Link> {
    match heuristic {
        Heuristic::Forward => forward.to_vec(),
        Heuristic::Reverse => reverse.to_vec(),
        Heuristic::Intersection | Heuristic::Posterior(_) | Heuristic::Mean(_) => {
            intersection(forward, reverse)
        }
        // Where there are no posteriors, links of both directions come first.
        Heuristic::Itg => {
            let both = intersection(forward, reverse);
            let one = union(forward, reverse);
            Itg::choose(both.into_iter().chain(one))
        }
        Heuristic::Union => union(forward, reverse),
        Heuristic::GrowDiag | Heuristic::GrowDiagFinal | Heuristic::GrowDiagFinalAnd => {
            let mut grid = Grid::new(forward, reverse);
            for &link in &intersection(forward, reverse) {
                grid.add(link);
            }
            grid.grow(&union(forward, reverse));
            if heuristic != Heuristic::GrowDiag {
                let both = heuristic == Heuristic::GrowDiagFinalAnd;
                grid.finish(forward, both);
                grid.finish(reverse, both);
            }
            grid.links()
        }
    }
}

fn intersection(a: &[Link], b: &[Link]) -> Vec<Link> {
    a.iter().copied().filter(|link| b.binary_search(link).is_ok()).collect()
}

fn union(a: &[Link], b: &[Link]) -> Vec<Link> {
    let mut all = [a, b].concat();
    all.sort_unstable();
    all.dedup();
    all
}

/// The links chosen so far. Links are few where sentences are long, so there is no matrix.
struct Grid {
    chosen: HashSet<Link>,
    source: Vec<bool>,
    target: Vec<bool>,
}

impl Grid {
    fn new(forward: &[Link], reverse: &[Link]) -> Self {
        let all = || forward.iter().chain(reverse);
        let height = all().map(|link| link.source as usize + 1).max().unwrap_or(0);
        let width = all().map(|link| link.target as usize + 1).max().unwrap_or(0);
        Self { chosen: HashSet::default(), source: vec![false; height], target: vec![false; width] }
    }

    fn add(&mut self, link: Link) {
        self.chosen.insert(link);
        (self.source[link.source as usize], self.target[link.target as usize]) = (true, true);
    }

    /// Whether the source and the target word have a link.
    fn covered(&self, link: Link) -> (bool, bool) {
        (self.source[link.source as usize], self.target[link.target as usize])
    }

    /// Whether one of the eight neighbours is chosen.
    fn touches(&self, link: Link) -> bool {
        let around = |at: u32| at.saturating_sub(1)..=at.saturating_add(1);
        around(link.source)
            .flat_map(|source| around(link.target).map(move |target| Link::new(source, target)))
            .any(|near| near != link && self.chosen.contains(&near))
    }

    fn grow(&mut self, candidates: &[Link]) {
        loop {
            let mut changed = false;
            for &link in candidates {
                // A link that is already chosen has both words covered.
                let (source, target) = self.covered(link);
                if (!source || !target) && self.touches(link) {
                    self.add(link);
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
    }

    fn finish(&mut self, candidates: &[Link], both: bool) {
        for &link in candidates {
            let (source, target) = self.covered(link);
            let wanted = if both { !source && !target } else { !source || !target };
            if wanted {
                self.add(link);
            }
        }
    }

    fn links(self) -> Vec<Link> {
        let mut links: Vec<Link> = self.chosen.into_iter().collect();
        links.sort_unstable();
        links
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sylvan_corpus::{Alignment, Base};

    fn links(text: &str) -> Vec<Link> {
        Alignment::parse(text, Base::Zero).unwrap().sure().to_vec()
    }

    #[track_caller]
    fn check(heuristic: &str, expected: &str) {
        let (forward, reverse) = (links("0-0 1-1 2-1 3-4"), links("0-0 1-1 1-2 3-3 4-4"));
        let found = symmetrize(&forward, &reverse, heuristic.parse().unwrap());
        assert_eq!(Alignment::new(found, Vec::new()).to_string(), expected, "{heuristic}");
    }

    /// A matrix of a million by a million words would not fit anywhere.
    #[test]
    fn words_far_apart_take_no_memory() {
        let (forward, reverse) = (links("0-0 999999-1000000 1000000-1000000"), links("0-0 1000000-1000000"));
        for heuristic in Heuristic::ALL {
            let found = symmetrize(&forward, &reverse, heuristic);
            assert!(found.contains(&Link::new(1_000_000, 1_000_000)), "{heuristic}: {found:?}");
        }
    }

    #[test]
    fn the_worked_example_of_every_heuristic() {
        check("forward", "0-0 1-1 2-1 3-4");
        check("reverse", "0-0 1-1 1-2 3-3 4-4");
        check("intersection", "0-0 1-1");
        check("intersect", "0-0 1-1");
        check("union", "0-0 1-1 1-2 2-1 3-3 3-4 4-4");
        check("grow-diag", "0-0 1-1 1-2 2-1");
        check("grow-diag-final", "0-0 1-1 1-2 2-1 3-3 3-4 4-4");
        check("grow-diag-final-and", "0-0 1-1 1-2 2-1 3-4");
    }

    #[test]
    fn names_read_back_and_wrong_ones_are_explained() {
        for heuristic in Heuristic::ALL {
            assert_eq!(heuristic.to_string().parse(), Ok(heuristic));
        }
        assert_eq!("posterior:0.5".parse(), Ok(Heuristic::Posterior(0.5)));
        assert_eq!("mean:0.25".parse(), Ok(Heuristic::Mean(0.25)));
        for wrong in ["posterior:0", "posterior:x", "posterior:nan", "diag", ""] {
            assert!(wrong.parse::<Heuristic>().unwrap_err().to_string().contains("expected"), "{wrong}");
        }
    }

    #[test]
    fn nothing_in_nothing_out() {
        for heuristic in Heuristic::ALL {
            assert!(symmetrize(&[], &[], heuristic).is_empty());
        }
    }
}
