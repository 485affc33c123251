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
pub(super) const HEAD: &str = "#: ";

/// A sentence and the translation that somebody gave it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Pair {
    /// When, as in 2026-11-18T09:50:00Z.
    pub time: String,
    /// Who.
    pub author: String,
    /// The sentence.
    pub text: String,
    /// Its translation.
    pub translation: String,
}

impl Pair {
    /// A pair.
    pub fn new(time: &str, author: &str, text: &str, translation: &str) -> Self {
        // It is kept on one line.
        let line = |text: &str| text.replace(['\n', '\r'], " ").trim().to_string();
        let author = line(author).replace(": ", " ");
        Self { time: line(time), author, text: line(text), translation: line(translation) }
    }

    /// What was asked, for the log.
    pub fn about(&self) -> String {
        format!("{} {}: {} ||| {}", self.time, self.author, self.text, self.translation)
    }

    /// The pair that a correction is about, unless it is about something else.
    pub fn parse(about: &str) -> Option<Self> {
        let (time, rest) = about.split_once(' ')?;
        let is_time =
            time.len() == 20 && time.starts_with(|c: char| c.is_ascii_digit()) && time.ends_with('Z');
        let (author, pair) = rest.split_once(": ").filter(|_| is_time)?;
        // A sentence with the mark in it cannot be told from its translation.
        let (text, translation) = pair.split_once(" ||| ").filter(|(_, rest)| !rest.contains(" ||| "))?;
        Some(Self::new(time, author, text, translation))
    }
}

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

impl Correction {
    /// As it stands in a log.
    pub fn text(&self) -> String {
        // One line, whatever was asked.
        let mut text = format!("{HEAD}{}\n", self.about.replace(['\n', '\r'], " "));
        for line in &self.lines {
            text.push_str(line);
            text.push('\n');
        }
        text
    }
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

    /// The file as it is.
    pub fn text(&self) -> &str {
        &self.text
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

    /// Adds a correction; when this returns it is on disk.
    pub fn push(&mut self, correction: &Correction) -> Result<()> {
        self.extend(std::slice::from_ref(correction))
    }

    /// Adds corrections, all of them or none; when this returns they are on disk.
    pub fn extend(&mut self, corrections: &[Correction]) -> Result<()> {
        let before = self.text.len();
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        corrections.iter().for_each(|correction| self.text.push_str(&correction.text()));
        let written = self.write();
        if written.is_err() {
            self.text.truncate(before);
        }
        written
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
    fn a_pair_is_read_as_it_was_written() {
        let pair = Pair::new("2026-11-18T09:50:00Z", "Ann: Lee", " a b .", "c:\nd .");
        assert_eq!(pair.about(), "2026-11-18T09:50:00Z Ann Lee: a b . ||| c: d .");
        assert_eq!(Pair::parse(&pair.about()), Some(pair));
        for other in
            ["add A(b) -> c", "add --pair \"a: b\" \"c\"", "2026-11-18T09:50:00Z A: a ||| b ||| c", ""]
        {
            assert_eq!(Pair::parse(other), None, "{other}");
        }
    }

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
