//! The report of a paper: claims, tables, plots.

mod html;
mod markdown;
pub(crate) mod plot;
pub(crate) mod summary;

use std::path::Path;

use serde::{Deserialize, Serialize};
use sylvan_base::InputError;
use sylvan_decode::Result;
use sylvan_store::Output;

use plot::Plot;
use summary::Summed;

/// Whether a claim held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// On every corpus.
    Held,
    /// On some, or in a part.
    Partly,
    /// On none.
    NotHeld,
    /// Not something that holds or not.
    Shown,
}

impl Verdict {
    /// For tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Partly => "partly",
            Self::NotHeld => "did not hold",
            Self::Shown => "shown",
        }
    }

    /// Held if all did, not held if none did; of nothing nothing is said.
    pub(crate) fn of_all(held: &[bool]) -> Self {
        match held.iter().filter(|held| **held).count() {
            _ if held.is_empty() => Self::Shown,
            count if count == held.len() => Self::Held,
            0 => Self::NotHeld,
            _ => Self::Partly,
        }
    }
}

/// What a paper claims and what was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The table, figure or section.
    pub item: String,
    /// What is claimed.
    pub claim: String,
    /// What the paper printed.
    pub printed: String,
    /// What was found here.
    pub found: String,
    /// Whether it held.
    pub verdict: Verdict,
    /// Why, where that needs saying.
    pub why: String,
}

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Table {
    pub(crate) caption: String,
    pub(crate) head: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(caption: impl Into<String>, head: &[&str]) -> Self {
        Self {
            caption: caption.into(),
            head: head.iter().map(ToString::to_string).collect(),
            rows: Vec::new(),
        }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let row: Vec<String> = cells.into_iter().collect();
        debug_assert_eq!(row.len(), self.head.len(), "{row:?}");
        self.rows.push(row);
    }
}

/// What a report is made of.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    Heading(String),
    Text(String),
    Table(Table),
    Plot(Plot),
}

/// What a paper claims, what was found, and the tables behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The name of its files: the paper's, and if only some of the paper's corpora were used, theirs.
    pub name: String,
    /// The paper's name on the command line, and the options that it was run with.
    pub(crate) command: String,
    /// Authors, year, title.
    pub paper: &'static str,
    /// How it was made: corpora, settings, seeds.
    pub(crate) setting: String,
    /// Claim by claim.
    pub claims: Vec<Claim>,
    pub(crate) pieces: Vec<Piece>,
    /// The series of all plots so far.
    names: Vec<String>,
    /// All translations, scores and counts behind it as a number: the same in every run, while times are not.
    pub fingerprint: u64,
}

impl Report {
    pub(crate) fn new(name: &'static str, paper: &'static str, setting: String) -> Self {
        Self {
            name: name.to_string(),
            command: name.to_string(),
            paper,
            setting,
            claims: Vec::new(),
            pieces: Vec::new(),
            names: Vec::new(),
            fingerprint: 0,
        }
    }

    /// Says that only these corpora were used.
    pub(crate) fn limit_to(&mut self, corpora: &[&str]) {
        for corpus in corpora {
            self.name.push_str(&format!("-{corpus}"));
            self.command.push_str(&format!(" --corpus {corpus}"));
        }
    }

    pub(crate) fn heading(&mut self, text: impl Into<String>) {
        self.pieces.push(Piece::Heading(text.into()));
    }

    pub(crate) fn text(&mut self, text: impl Into<String>) {
        self.pieces.push(Piece::Text(text.into()));
    }

    pub(crate) fn table(&mut self, table: Table) {
        self.pieces.push(Piece::Table(table));
    }

    /// Adds a plot; what has the same name in several plots has the same colour.
    pub(crate) fn plot(&mut self, mut plot: Plot) {
        for series in &mut plot.series {
            let known = self.names.iter().position(|name| *name == series.name);
            series.colour = Some(known.unwrap_or(self.names.len()));
            if known.is_none() {
                self.names.push(series.name.clone());
            }
        }
        self.pieces.push(Piece::Plot(plot));
    }

    pub(crate) fn claim(&mut self, item: &str, claim: &str, printed: &str, found: String, verdict: Verdict) {
        self.claims.push(Claim {
            item: item.to_string(),
            claim: claim.to_string(),
            printed: printed.to_string(),
            found,
            verdict,
            why: String::new(),
        });
    }

    /// Says why the last claim held or did not.
    pub(crate) fn because(&mut self, why: &str) {
        if let Some(claim) = self.claims.last_mut() {
            claim.why = why.to_string();
        }
    }

    /// Says why the last claim did not hold, or only partly, if that is so.
    pub(crate) fn because_if_not(&mut self, why: &str) {
        if self.claims.last().is_some_and(|claim| matches!(claim.verdict, Verdict::NotHeld | Verdict::Partly))
        {
            self.because(why);
        }
    }

    /// How to tell whether another run found the same.
    fn closing(&self) -> String {
        format!(
            "Made by `sylvan reproduce {}`. All translations, scores and counts behind it, times apart, have the fingerprint \
             `{:016x}`: another run from scratch gives the same.",
            self.command, self.fingerprint
        )
    }

    fn plots(&self) -> impl Iterator<Item = &Plot> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Plot(plot) => Some(plot),
            _ => None,
        })
    }

    /// Writes NAME.md with its plots in `plots/`, NAME.html, which needs nothing else, and NAME.json for programs.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let plots = folder.join("plots");
        std::fs::create_dir_all(&plots).map_err(InputError::io(&plots, "create"))?;
        for plot in self.plots() {
            write(&plots.join(format!("{}-{}.svg", self.name, plot.name)), &plot.svg())?;
        }
        write(&folder.join(format!("{}.md", self.name)), &markdown::report(self))?;
        write(&folder.join(format!("{}.html", self.name)), &html::page(&self.name, &html::report(self)))?;
        Summed::of(self).write(folder)
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    let mut out = Output::create(path)?;
    out.write(text.as_bytes())?;
    Ok(out.finish()?)
}

#[cfg(test)]
mod tests {
    use super::plot::{Axis, Series};
    use super::*;

    #[test]
    fn what_has_one_name_has_one_colour() {
        let mut report = Report::new("name", "paper", String::new());
        for names in [["a", "b"], ["b", "c"]] {
            let series = names.map(|name| Series::line(name, vec![(1.0, 1.0)])).to_vec();
            let (name, title) = (names.concat(), String::new());
            report.plot(Plot { name, title, x: Axis::linear("x"), y: Axis::linear("y"), series });
        }
        let colours: Vec<_> =
            report.plots().flat_map(|plot| plot.series.iter().map(|series| series.colour)).collect();
        assert_eq!(colours, [Some(0), Some(1), Some(1), Some(2)]);
    }

    #[test]
    fn only_what_did_not_hold_needs_a_reason() {
        let mut report = Report::new("name", "paper", String::new());
        for verdict in [Verdict::Held, Verdict::Partly, Verdict::NotHeld, Verdict::Shown] {
            report.claim("item", "claim", "printed", String::new(), verdict);
            report.because_if_not("why");
        }
        let whys: Vec<&str> = report.claims.iter().map(|claim| claim.why.as_str()).collect();
        assert_eq!(whys, ["", "why", "why", ""]);
    }
}
