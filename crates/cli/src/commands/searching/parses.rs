//! The options of a structured language model and of a network inside a search.

use clap::{Args, ValueEnum};
use sylvan_search::{Limits, Network, Ways};

/// See [`Ways`].
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Structured language model")]
pub(super) struct ParsesOptions {
    /// What becomes of the parses of a translation [default: packed].
    #[arg(long, value_enum, value_name = "WAY")]
    structured: Option<Way>,
    /// With --structured grouping: groups that are kept in a bin [default: 5].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    groups: Option<u32>,
    /// Parses that are kept: packed and best-parse, of each item [default: 4]; naive and grouping, of each item and number of
    /// reductions [default: 2].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    parses: Option<u32>,
    /// Ask the model only about the best items of a bin, N times the beam; 0 asks about all at once [default: 1].
    #[arg(long, value_name = "N")]
    shortlist: Option<u32>,
    /// Compare parses by their scores alone, as in the paper, and not by the reductions that they still owe as well.
    #[arg(long)]
    plain_parses: bool,
    /// When a network is asked [default: later].
    #[arg(long, value_enum, value_name = "WHEN", help_heading = "Network")]
    network: Option<When>,
}

/// See [`Network`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum When {
    /// The 100 best translations are compared with it afterwards.
    Later,
    /// As the search goes on, about the best items of each bin; of those that agree in all that the other models
    /// remember, the best goes on.
    Inside,
    /// The same, and translations with different words are never taken for the same: exact if the beam is large enough.
    Apart,
}

/// How many parses of each number of reductions compete by default.
const COMPETING: usize = 2;

/// What becomes of parses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Way {
    /// An item has several at the same time and counts as the best of them.
    Packed,
    /// Each is an item of its own; items with different numbers of reductions do not compete.
    Grouping,
    /// Each is an item of its own, and all compete.
    Naive,
    /// Only the best of each translation so far is kept.
    BestParse,
    /// None: the 100 best translations are compared afterwards.
    Rerank,
}

impl ParsesOptions {
    /// Which options were given.
    pub(super) fn given(&self) -> [(&'static str, bool); 4] {
        [
            ("--groups", self.groups.is_some()),
            ("--parses", self.parses.is_some()),
            ("--shortlist", self.shortlist.is_some()),
            ("--plain-parses", self.plain_parses),
        ]
    }

    /// Whether a way was asked for that only left-to-right searches have.
    pub(super) fn is_inside(&self) -> bool {
        self.structured.is_some_and(|way| way != Way::Rerank)
    }

    /// The same of a network.
    pub(super) fn asks_network(&self) -> bool {
        self.network.is_some_and(|when| when != When::Later)
    }

    /// Whether they fit together.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.groups.is_none() || self.structured == Some(Way::Grouping),
            "--groups: expected with --structured grouping"
        );
        Ok(())
    }

    /// Changes limits as was asked for.
    pub(super) fn limit(&self, limits: &mut Limits) {
        if let Some(way) = self.structured {
            limits.ways = match way {
                Way::Packed => Ways::Packed,
                Way::Grouping => Ways::Groups(self.groups.unwrap_or(5) as usize),
                Way::Naive => Ways::All,
                Way::BestParse => Ways::Best,
                Way::Rerank => Ways::Later,
            };
        }
        limits.plain_parses |= self.plain_parses;
        if let Some(when) = self.network {
            limits.network = match when {
                When::Later => Network::Later,
                When::Inside => Network::Inside,
                When::Apart => Network::Apart,
            };
        }
        // Where parses compete in a bin, more of them leave less room for other words.
        if matches!(limits.ways, Ways::All | Ways::Groups(_)) {
            limits.parses = limits.parses.min(COMPETING);
        }
        if let Some(parses) = self.parses {
            limits.parses = parses as usize;
        }
        if let Some(shortlist) = self.shortlist {
            limits.shortlist = (shortlist > 0).then_some(shortlist as usize);
        }
    }
}
