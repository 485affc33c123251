//! How much a left-to-right search may keep and try.

use crate::Beam;

/// Where complete items are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goals {
    /// They compete in no bin: what is complete is an answer.
    Free,
    /// In the last bin, where the beam holds for them too (Huang & Mi 2010).
    InBins,
}

/// What becomes of the ways in which a step model can go on, such as the parses of a structured language model (Yu et
/// al. 2014).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ways {
    /// Each competes with all of its bin (*naive*).
    All,
    /// Only the best is kept, and items that differ in it alone recombine (*best-parse*).
    Best,
    /// Each competes with those of its group: the beam holds in each group, and the groups with the best of them, this
    /// many, are kept (*grouping*).
    Groups(usize),
    /// An item has several at the same time, as many as [`Limits::parses`], and counts as the best of them.
    Packed,
    /// The search knows nothing of the step model: whole translations are compared with it afterwards (*re-ranking*).
    Later,
}

/// When a network that scores whole translations is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// Afterwards: the best translations of the search are compared with it.
    Later,
    /// As the search goes on. What it remembers of words long ago keeps no items apart: of those that agree in all else,
    /// the best goes on.
    Inside,
    /// As the search goes on, and items with different words never recombine. With unlimited beams that is exact.
    Apart,
}

/// How much a left-to-right search may keep and try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Distinct items kept per bin and round.
    pub beam: Beam,
    /// Cells (an item and an option) tried per bin and round, best first from grids.
    pub pops: usize,
    /// With `pops`: if not 0, cells are compared by what they score with their words, and at first this many of each grid
    /// are (queue diversity; Siahbani & Sarkar 2014). Words are then scored for cells that are never taken, too. With 0
    /// they are compared by estimates, in which words at the joint are missing.
    pub diversity: usize,
    /// Where a bin is full, cells are not tried if their estimate is worse than all of it by more than this, in
    /// thousandths of a nat. A bin is full once it has held twice the beam, at least 32 items: then and whenever that
    /// many wait again, the best are kept, and the worst of these says what "all of it" is. Not used with
    /// `pops`.
    pub margin: u32,
    /// What becomes of the ways in which a step model can go on.
    pub ways: Ways,
    /// How many ways step models may keep where they count them: for a structured language model, parses.
    pub parses: usize,
    /// Whether parses are compared by their scores alone, and not by what they still owe (a structured language model's).
    pub plain_parses: bool,
    /// When a network is asked.
    pub network: Network,
    /// If set, step models that look at words alone score a step only if the item that it leads to is among the best of
    /// its bin without that: this many times the beam.
    pub shortlist: Option<usize>,
    /// Cells tried per sentence. After that it goes on with a beam of one, so that there still is an answer.
    pub work: u64,
    /// Where complete items are.
    pub goals: Goals,
}

impl Limits {
    /// The default margin.
    pub const USUAL_MARGIN: u32 = 20;
    /// The default shortlist.
    pub const USUAL_SHORTLIST: usize = 1;
    /// The default number of parses.
    pub const USUAL_PARSES: usize = 4;

    /// A beam, and every option of the items that it keeps within the usual margin.
    pub fn usual(beam: Beam) -> Self {
        Self { margin: Self::USUAL_MARGIN, shortlist: Some(Self::USUAL_SHORTLIST), ..Self::beam(beam) }
    }

    /// A beam, and every option of every item that it keeps.
    pub fn beam(beam: Beam) -> Self {
        Self {
            beam,
            pops: usize::MAX,
            diversity: 0,
            margin: u32::MAX,
            ways: Ways::Packed,
            parses: Self::USUAL_PARSES,
            plain_parses: false,
            network: Network::Later,
            shortlist: None,
            work: u64::MAX,
            goals: Goals::Free,
        }
    }

    /// A beam, and the best cells from grids.
    pub fn grids(beam: Beam, pops: usize) -> Self {
        Self { pops, shortlist: Some(Self::USUAL_SHORTLIST), ..Self::beam(beam) }
    }
}

impl From<Beam> for Limits {
    fn from(beam: Beam) -> Self {
        Self::beam(beam)
    }
}
