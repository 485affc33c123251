//! The page of all papers, made of what the reports of a folder left for programs.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sylvan_base::InputError;
use sylvan_decode::{Error, Result};

use super::{Claim, Report, html, markdown};

/// What the page says of a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Summed {
    pub(super) name: String,
    pub(super) paper: String,
    pub(super) fingerprint: String,
    pub(super) claims: Vec<Claim>,
}

impl Summed {
    pub(super) fn of(report: &Report) -> Self {
        Self {
            name: report.name.clone(),
            paper: report.paper.to_string(),
            fingerprint: format!("{:016x}", report.fingerprint),
            claims: report.claims.clone(),
        }
    }

    /// Writes NAME.json.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self);
        let text = text.map_err(|error| Error::setting(&self.name, error.to_string(), "a report"))?;
        super::write(&folder.join(format!("{}.json", self.name)), &(text + "\n"))
    }

    fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(InputError::io(path, "read"))?;
        let read = serde_json::from_str(&text).map_err(|error| InputError::Format {
            path: path.to_path_buf(),
            found: error.to_string(),
            expected: "what `sylvan reproduce` wrote".into(),
            advice: "delete it, or run that paper again".into(),
        });
        Ok(read?)
    }
}

/// Writes README.md and index.html of those of the reports with these names that are there.
pub(crate) fn write(folder: &Path, names: impl IntoIterator<Item = String>) -> Result<()> {
    let mut reports = Vec::new();
    for name in names {
        let path = folder.join(format!("{name}.json"));
        if path.exists() {
            reports.push(Summed::read(&path)?);
        }
    }
    super::write(&folder.join("README.md"), &markdown::summary(&reports))?;
    super::write(&folder.join("index.html"), &html::page("papers", &html::summary(&reports)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Verdict;

    #[test]
    fn papers_that_are_run_one_by_one_are_on_one_page() {
        let folder = tempfile::tempdir().unwrap();
        let page = || std::fs::read_to_string(folder.path().join("README.md")).unwrap();
        let sum_up = || super::write(folder.path(), ["first", "second", "second-zhen"].map(String::from));
        let write = |name: &'static str, verdict| {
            let mut report = Report::new(name, "authors", String::new());
            report.claim("item", "a | claim", "printed", format!("found of {name}"), verdict);
            report.write(folder.path()).unwrap();
            sum_up().unwrap();
        };
        write("second", Verdict::Shown);
        assert!(!page().contains("first"));
        write("first", Verdict::Partly);
        let both = page();
        assert!(both.contains("| [authors](first.md) | 0 | 1 | 0 | 0 | `0000000000000000` |"), "{both}");
        let [first, second] = ["found of first", "found of second"].map(|found| both.find(found).unwrap());
        assert!(first < second, "{both}");
        // Corpora that are run one by one have a report each.
        let mut part = Report::new("second", "authors", String::new());
        part.limit_to(&["zhen"]);
        part.write(folder.path()).unwrap();
        sum_up().unwrap();
        let all = page();
        let [whole, part] = ["(second.md)", "(second-zhen.md)"].map(|name| all.find(name).unwrap());
        assert!(whole < part, "{all}");
        let text = std::fs::read_to_string(folder.path().join("second-zhen.md")).unwrap();
        assert!(text.contains("`sylvan reproduce second --corpus zhen`"), "{text}");
        // A report that is made anew takes its place.
        write("first", Verdict::Held);
        assert!(page().contains("| [authors](first.md) | 1 | 0 | 0 | 0 |"));
        std::fs::write(folder.path().join("second.json"), "{").unwrap();
        let error = sum_up().unwrap_err().to_string();
        assert!(error.contains("second.json") && error.contains("delete it"), "{error}");
    }
}
