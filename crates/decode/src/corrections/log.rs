//! Corrections beside a model: an overlay, which is its own log.
//!
//! ```text
//! enja.sylvan            the model, never touched
//! enja.sylvan.overlay    #: forbid --line 4711                  one entry per correction: what was asked,
//!                        forbid NN(bank) -> 銀行                 then its lines (docs/formats/overlay.md)
//! ```
//!
//! An entry is undone by truncating the file where it begins, so what stood before it is restored byte for
//! byte.

use std::path::{Path, PathBuf};

use sylvan_base::{InputError, Result};
use sylvan_store::Output;

/// What an entry begins with.
const HEAD: &str = "#: ";

/// The overlay of a model file.
pub fn overlay_path(model: &Path) -> PathBuf {
    layer_path(model, "")
}

/// The overlay of a model file that has a name, of a project or a person: MODEL.NAME.overlay. The one without a name always
/// counts.
pub fn layer_path(model: &Path, layer: &str) -> PathBuf {
    let mut name = model.as_os_str().to_os_string();
    if !layer.is_empty() {
        name.push(".");
        name.push(layer);
    }
    name.push(".overlay");
    PathBuf::from(name)
}

/// One correction: what was asked, and the lines that it became.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Correction {
    /// What was asked.
    pub about: String,
    /// Lines of an overlay.
    pub lines: Vec<String>,
}

/// The corrections of a model, in the order in which they were made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorrectionLog {
    path: PathBuf,
    text: String,
}

impl CorrectionLog {
    /// Opens the corrections of a model; there may be none.
    pub fn open(model: &Path) -> Result<Self> {
        Self::open_layer(model, "")
    }

    /// Opens the corrections of a model that have a name of their own; there may be none.
    pub fn open_layer(model: &Path, layer: &str) -> Result<Self> {
        let path = layer_path(model, layer);
        let text = if path.exists() {
            std::fs::read_to_string(&path).map_err(InputError::io(&path, "read"))?
        } else {
            String::new()
        };
        Ok(Self { path, text })
    }

    /// All corrections. Lines written by hand above the first one are not among them.
    pub fn corrections(&self) -> Vec<Correction> {
        let mut all: Vec<Correction> = Vec::new();
        for line in self.text.lines() {
            match (line.strip_prefix(HEAD), all.last_mut()) {
                (Some(about), _) => all.push(Correction { about: about.to_string(), lines: Vec::new() }),
                (None, Some(last)) => last.lines.push(line.to_string()),
                (None, None) => {}
            }
        }
        all
    }

    /// Adds a correction.
    pub fn push(&mut self, correction: &Correction) -> Result<()> {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text.push_str(HEAD);
        // One line, whatever was asked.
        self.text.push_str(&correction.about.replace(['\n', '\r'], " "));
        self.text.push('\n');
        for line in &correction.lines {
            self.text.push_str(line);
            self.text.push('\n');
        }
        self.write()
    }

    /// Undoes the last correction; `None` if there is none. A file that becomes empty is removed.
    pub fn undo(&mut self) -> Result<Option<Correction>> {
        let Some(last) = self.corrections().pop() else { return Ok(None) };
        let inner = self.text.rfind(&format!("\n{HEAD}")).map(|at| at + 1);
        self.text.truncate(inner.unwrap_or(0));
        if self.text.is_empty() {
            std::fs::remove_file(&self.path).map_err(InputError::io(&self.path, "remove"))?;
        } else {
            self.write()?;
        }
        Ok(Some(last))
    }

    fn write(&self) -> Result<()> {
        let mut out = Output::create(&self.path)?;
        out.write(self.text.as_bytes())?;
        out.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_undone_leaves_the_bytes_of_before() {
        let dir = tempfile::tempdir().unwrap();
        let model = dir.path().join("m");
        let read = || std::fs::read_to_string(overlay_path(&model)).ok();
        let correction = |about: &str, lines: &[&str]| Correction {
            about: about.into(),
            lines: lines.iter().map(ToString::to_string).collect(),
        };
        let mut log = CorrectionLog::open(&model).unwrap();
        assert_eq!(log.undo().unwrap(), None);
        let one = correction("add", &["add X(a) -> b"]);
        log.push(&one).unwrap();
        let before = read();
        let two = correction("forbid\ntwo", &["forbid X(a) -> c", "# a remark", "forbid X(a) -> d"]);
        log.push(&two).unwrap();
        let mut log = CorrectionLog::open(&model).unwrap();
        assert_eq!(log.corrections(), [one.clone(), Correction { about: "forbid two".into(), ..two }]);
        log.undo().unwrap();
        assert_eq!(read(), before);
        assert_eq!(log.undo().unwrap(), Some(one));
        assert_eq!(read(), None, "as it was before the first");
        // Lines written by hand stay, whatever is undone.
        std::fs::write(overlay_path(&model), "forbid X(a) -> z").unwrap();
        let mut log = CorrectionLog::open(&model).unwrap();
        log.push(&correction("x", &["y"])).unwrap();
        log.undo().unwrap();
        assert_eq!(read().as_deref(), Some("forbid X(a) -> z\n"));
        assert_eq!(log.undo().unwrap(), None);
    }
}
