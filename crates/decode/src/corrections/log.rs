//! Corrections beside a model: an overlay, which is its own log.
//!
//! ```text
//! enja.sylvan            the model, never touched
//! enja.sylvan.overlay    #: forbid --line 4711                  one entry per correction: what was asked,
//!                        #{
//!                        forbid NN(bank) -> 銀行                 then its lines (docs/formats/overlay.md)
//!                        #}
//! ```
//!
//! One more entry is written behind the others, which are not written again. An entry without its end was being written
//! when the process was killed: nobody was told that it is kept, and it is not read. Entries of earlier versions have no
//! marks and count as they are.
//!
//! An entry is undone by truncating the file where it begins, so what stood before it is restored byte for
//! byte.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use sylvan_base::{InputError, Result};
use sylvan_store::Output;

/// What an entry begins with.
pub(super) const HEAD: &str = "#: ";
/// What stands before and behind its lines.
const MARKS: [&str; 2] = ["#{", "#}"];

/// The bytes of a log without what was being written when a process was killed; none if there is no log.
pub(super) fn kept(path: &Path) -> Result<Option<Vec<u8>>> {
    match std::fs::read(path) {
        Ok(mut bytes) => {
            bytes.truncate(whole(&bytes));
            Ok(Some(bytes))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(InputError::io(path, "read")(error)),
    }
}

/// The same as text.
pub(super) fn kept_text(path: &Path) -> Result<Option<String>> {
    let text = kept(path)?.map(String::from_utf8).transpose();
    text.map_err(|error| InputError::io(path, "read")(std::io::Error::other(error.utf8_error())))
}

/// Where the last entry begins if its end is missing, and else the length of all.
fn whole(bytes: &[u8]) -> usize {
    let is_line = |line: &[u8], mark: &str| line.strip_suffix(b"\n") == Some(mark.as_bytes());
    let mut end = bytes.len();
    while end > 0 {
        let start = bytes[..end - 1].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let line = &bytes[start..end];
        if is_line(line, MARKS[1]) {
            break;
        }
        if line.starts_with(HEAD.as_bytes()) {
            let rest = &bytes[end..];
            let first = rest.iter().position(|byte| *byte == b'\n').map_or(rest, |at| &rest[..=at]);
            // It may be cut anywhere, in its first lines as well.
            if is_line(first, MARKS[0]) || MARKS[0].as_bytes().starts_with(first) {
                return start;
            }
            break;
        }
        end = start;
    }
    // The first bytes of the line that begins an entry say nothing by themselves.
    let last = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    if HEAD.as_bytes().starts_with(&bytes[last..]) { last } else { bytes.len() }
}

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
        let mut text = format!("{HEAD}{}\n{}\n", self.about.replace(['\n', '\r'], " "), MARKS[0]);
        for line in self.lines.iter().map(String::as_str).chain([MARKS[1]]) {
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
    /// Whether there is a file, and nothing else in it than this text.
    is_file: bool,
}

impl CorrectionLog {
    /// Opens the corrections of a model; there may be none.
    pub fn open(model: &Path) -> Result<Self> {
        Self::open_layer(model, "")
    }

    /// Opens the corrections of a model that have a name of their own; there may be none.
    pub fn open_layer(model: &Path, layer: &str) -> Result<Self> {
        let path = layer_path(model, layer);
        let text = kept_text(&path)?.unwrap_or_default();
        let is_file = std::fs::metadata(&path).is_ok_and(|data| data.len() == text.len() as u64);
        Ok(Self { path, text, is_file })
    }

    /// The file as it is, without an entry that has no end.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// All corrections. Lines written by hand above the first one are not among them.
    pub fn corrections(&self) -> Vec<Correction> {
        let mut all: Vec<Correction> = Vec::new();
        for line in self.text.lines().filter(|line| !MARKS.contains(line)) {
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
        // Of several, the first might be whole and the others not.
        let written = match corrections {
            [_] if self.is_file => append(&self.path, &self.text[before..]),
            _ => self.write(),
        };
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
            self.is_file = false;
        } else {
            self.write()?;
        }
        Ok(Some(last))
    }

    fn write(&mut self) -> Result<()> {
        let mut out = Output::create(&self.path)?;
        out.write(self.text.as_bytes())?;
        out.finish()?;
        self.is_file = true;
        Ok(())
    }
}

/// Writes text behind a file; when this returns it is on disk.
fn append(path: &Path, text: &str) -> Result<()> {
    let work = || {
        let mut file = File::options().append(true).open(path)?;
        let before = file.metadata()?.len();
        let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_data());
        if written.is_err() {
            // If that fails as well: what has no end is not read.
            let _ = file.set_len(before);
        }
        written
    };
    work().map_err(InputError::io(path, "write"))
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

    fn correction(about: &str, lines: &[&str]) -> Correction {
        Correction { about: about.into(), lines: lines.iter().map(ToString::to_string).collect() }
    }

    #[test]
    fn an_entry_that_was_being_written_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let model = dir.path().join("m");
        let path = overlay_path(&model);
        let [one, two, three] = [
            correction("add", &["add X(a) -> b", "# a remark"]),
            correction(
                "2026-11-18T09:50:00Z \u{e9}: a ||| \u{e9}",
                &["add X(\u{e9}) -> c", "boost 1 X(d) -> e"],
            ),
            correction("last", &["add X(f) -> g"]),
        ];
        let (before, entry) = (one.text(), two.text());
        for before in ["", before.as_str(), "forbid X(a) -> z\n", "#: old\nforbid X(a) -> z\n"] {
            let known = before.matches(HEAD).count();
            for cut in 0..=entry.len() {
                let bytes = [before.as_bytes(), &entry.as_bytes()[..cut]].concat();
                std::fs::write(&path, bytes).unwrap();
                let mut log = CorrectionLog::open(&model).unwrap();
                let whole = if cut == entry.len() { &*entry } else { "" };
                assert_eq!(log.text(), format!("{before}{whole}"), "cut after {cut} bytes");
                assert_eq!(log.corrections().len(), known + usize::from(!whole.is_empty()));
                // The next one takes its place.
                log.push(&three).unwrap();
                let written = std::fs::read_to_string(&path).unwrap();
                assert_eq!(written, format!("{before}{whole}{}", three.text()));
                assert_eq!(CorrectionLog::open(&model).unwrap().corrections().last(), Some(&three));
            }
        }
    }

    #[test]
    fn entries_of_earlier_versions_count_as_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let model = dir.path().join("m");
        // As they were written before there were marks, the last line by hand.
        let old = "#: add X(a) -> b\nadd X(a) -> b\n#: 2026-11-18T09:50:00Z Ann: a ||| b\nadd X(a) -> b ||| boost=100\nforbid X(c) -> d";
        std::fs::write(overlay_path(&model), old).unwrap();
        let mut log = CorrectionLog::open(&model).unwrap();
        assert_eq!(log.text(), old);
        let lines: Vec<usize> = log.corrections().iter().map(|one| one.lines.len()).collect();
        assert_eq!(lines, [1, 2]);
        let new = correction("new", &["add X(e) -> f"]);
        log.push(&new).unwrap();
        let mut log = CorrectionLog::open(&model).unwrap();
        assert_eq!(log.text(), format!("{old}\n{}", new.text()));
        assert_eq!(log.corrections().len(), 3);
        log.undo().unwrap();
        assert_eq!(std::fs::read_to_string(overlay_path(&model)).unwrap(), format!("{old}\n"));
    }

    #[test]
    fn one_more_is_written_behind_the_others() {
        let dir = tempfile::tempdir().unwrap();
        let model = dir.path().join("m");
        let path = overlay_path(&model);
        let one = correction("one", &["add X(a) -> b"]);
        let mut log = CorrectionLog::open(&model).unwrap();
        log.push(&one).unwrap();
        // Somebody else adds one meanwhile: it stays.
        CorrectionLog::open(&model).unwrap().push(&correction("two", &["add X(c) -> d"])).unwrap();
        log.push(&correction("three", &["add X(e) -> f"])).unwrap();
        let abouts = |log: CorrectionLog| log.corrections().into_iter().map(|one| one.about);
        let all: Vec<String> = abouts(CorrectionLog::open(&model).unwrap()).collect();
        assert_eq!(all, ["one", "two", "three"]);
        // What cannot be written changes nothing.
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        let before = log.clone();
        assert!(log.push(&one).is_err());
        assert_eq!(log, before);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_undone_leaves_the_bytes_of_before() {
        let dir = tempfile::tempdir().unwrap();
        let model = dir.path().join("m");
        let read = || std::fs::read_to_string(overlay_path(&model)).ok();
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
