//! The options of undirected search.

use clap::{Args, ValueEnum};
use sylvan_search::{Missing, Parents, Undirected};

/// See [`Undirected`].
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Undirected search, for experiments")]
pub(super) struct FreeOrder {
    /// Undirected: what partial items do [default: none].
    #[arg(long, value_enum)]
    parents: Option<ParentsName>,
    /// Undirected: what the language model is expected to say of each source word that is missing [default: 0].
    #[arg(long, value_name = "NATS", allow_negative_numbers = true)]
    missing_word: Option<f64>,
    /// Undirected: and if any is missing [default: 0].
    #[arg(long, value_name = "NATS", allow_negative_numbers = true)]
    missing_once: Option<f64>,
    /// Undirected: the share of what the words of missing rules score without history that is expected [default: 0.5].
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    missing_share: Option<f64>,
    /// Undirected: before the language model is asked, what is expected of it where two parts meet: the mean so far and N
    /// standard deviations; inf makes and scores all combinations at once [default: 1.5].
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    slack: Option<f64>,
    /// Undirected: let candidates wait that could not be taken any more.
    #[arg(long)]
    unbounded: bool,
    /// Undirected: take as many candidates everywhere, not fewer where less is promised.
    #[arg(long)]
    even: bool,
    /// Undirected: stop after N translations of the sentence [default: when nothing waits].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    enough: Option<u32>,
}

/// What partial items of undirected search do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ParentsName {
    /// There are none.
    None,
    /// The best is the context of candidates that are made after it.
    New,
    /// And of those that wait.
    All,
}

impl FreeOrder {
    /// Which options were given.
    pub(super) fn given(&self) -> [(&'static str, bool); 8] {
        [
            ("--parents", self.parents.is_some()),
            ("--missing-word", self.missing_word.is_some()),
            ("--missing-once", self.missing_once.is_some()),
            ("--missing-share", self.missing_share.is_some()),
            ("--slack", self.slack.is_some()),
            ("--unbounded", self.unbounded),
            ("--even", self.even),
            ("--enough", self.enough.is_some()),
        ]
    }

    /// Whether their values make sense.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        for (option, value) in [("--slack", self.slack), ("--missing-share", self.missing_share)] {
            anyhow::ensure!(
                value.is_none_or(|value| value >= 0.0),
                "{option} {}: expected 0 or more",
                value.unwrap_or_default()
            );
        }
        for (option, value) in [("--missing-word", self.missing_word), ("--missing-once", self.missing_once)]
        {
            anyhow::ensure!(
                value.is_none_or(|value| value.abs() <= 1e6),
                "{option} {}: expected a number of nats, such as -0.5",
                value.unwrap_or_default()
            );
        }
        Ok(())
    }

    /// The usual settings with those that were given.
    pub(super) fn settings(&self, usual: Undirected) -> Undirected {
        let thousandths = |nats: f64| (nats * 1000.0).round();
        Undirected {
            parents: match self.parents {
                Some(ParentsName::None) => Parents::None,
                Some(ParentsName::New) => Parents::New,
                Some(ParentsName::All) => Parents::All,
                None => usual.parents,
            },
            missing: Missing {
                per_word: self.missing_word.map_or(usual.missing.per_word, |nats| thousandths(nats) as i32),
                once: self.missing_once.map_or(usual.missing.once, |nats| thousandths(nats) as i32),
                share: self.missing_share.map_or(usual.missing.share, |share| thousandths(share) as u32),
            },
            bounded: usual.bounded && !self.unbounded,
            focus: usual.focus && !self.even,
            slack: self.slack.map_or(usual.slack, |nats| thousandths(nats).min(f64::from(u32::MAX)) as u32),
            enough: self.enough.map_or(usual.enough, |enough| enough as usize),
            ..usual
        }
    }
}
