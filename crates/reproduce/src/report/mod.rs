//! The report of a paper: claims, tables, plots.

mod html;
mod markdown;
pub(crate) mod plot;

use std::path::Path;

use serde::Serialize;
use sylvan_base::InputError;
use sylvan_decode::Result;
use sylvan_store::Output;

use plot::Plot;

/// Whether a claim held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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

    /// Held if all did, not held if none did.
    pub(crate) fn of_all(held: &[bool]) -> Self {
        match held.iter().filter(|held| **held).count() {
            count if count == held.len() => Self::Held,
            0 => Self::NotHeld,
            _ => Self::Partly,
        }
    }
}

/// What a paper claims and what was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    /// The name of its files.
    pub name: &'static str,
    /// Authors, year, title.
    pub paper: &'static str,
    /// How it was made: corpora, settings, seeds.
    pub(crate) setting: String,
    /// Claim by claim.
    pub claims: Vec<Claim>,
    pub(crate) pieces: Vec<Piece>,
    /// All translations, scores and counts behind it as a number: the same in every run, while times are not.
    pub fingerprint: u64,
}

impl Report {
    pub(crate) fn new(name: &'static str, paper: &'static str, setting: String) -> Self {
        Self { name, paper, setting, claims: Vec::new(), pieces: Vec::new(), fingerprint: 0 }
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

    pub(crate) fn plot(&mut self, plot: Plot) {
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

    /// How to tell whether another run found the same.
    fn closing(&self) -> String {
        format!(
            "Made by `sylvan reproduce {}`. All translations, scores and counts behind it, times apart, have the fingerprint \
             `{:016x}`: another run from scratch gives the same.",
            self.name, self.fingerprint
        )
    }

    fn plots(&self) -> impl Iterator<Item = &Plot> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Plot(plot) => Some(plot),
            _ => None,
        })
    }

    /// Writes NAME.md with its plots in `plots/`, and NAME.html, which needs nothing else.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let plots = folder.join("plots");
        std::fs::create_dir_all(&plots).map_err(InputError::io(&plots, "create"))?;
        for plot in self.plots() {
            write(&plots.join(format!("{}-{}.svg", self.name, plot.name)), &plot.svg())?;
        }
        write(&folder.join(format!("{}.md", self.name)), &markdown::report(self))?;
        write(&folder.join(format!("{}.html", self.name)), &html::page(self.name, &html::report(self)))
    }
}

/// Writes the page of all papers: README.md, index.html, and claims.json for programs.
pub fn write_summary(reports: &[Report], folder: &Path) -> Result<()> {
    write(&folder.join("README.md"), &markdown::summary(reports))?;
    write(&folder.join("index.html"), &html::page("papers", &html::summary(reports)))?;
    let claims: Vec<_> = reports
        .iter()
        .map(|report| {
            serde_json::json!({
                "name": report.name,
                "paper": report.paper,
                "fingerprint": format!("{:016x}", report.fingerprint),
                "claims": report.claims,
            })
        })
        .collect();
    write(&folder.join("claims.json"), &format!("{:#}\n", serde_json::Value::from(claims)))
}

fn write(path: &Path, text: &str) -> Result<()> {
    let mut out = Output::create(path)?;
    out.write(text.as_bytes())?;
    Ok(out.finish()?)
}
