//! Glossaries that clients keep here: each has a name and, for some pairs of languages, terms.
//!
//! They are files of a folder, one each, written whole before a request is answered, and read again when the server starts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sylvan::{Glossary, Result};
use sylvan_base::InputError;
use sylvan_base::hash::{content_hash, fold};
use sylvan_store::Output;

use crate::hosts::Host;
use crate::pool::Served;
use sylvan::decode::corrections::written_time;

/// More are not kept.
const MOST: usize = 1000;

/// Terms of two languages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Dictionary {
    pub(crate) source: String,
    pub(crate) target: String,
    /// Sorted by source; each source is there once.
    pub(crate) entries: BTreeMap<String, String>,
}

/// A glossary.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Terms {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) created: String,
    pub(crate) dictionaries: Vec<Dictionary>,
    /// The same in the words of the models that asked for it.
    #[serde(skip)]
    made: Mutex<Vec<(Weak<Served>, Arc<Glossary>)>>,
}

impl Terms {
    /// Terms that nobody keeps.
    pub(crate) fn of_one(dictionary: Dictionary) -> Self {
        Self { dictionaries: vec![dictionary], ..Self::default() }
    }

    /// The terms of two languages.
    pub(crate) fn dictionary(&self, source: &str, target: &str) -> Option<&Dictionary> {
        self.dictionaries.iter().find(|known| known.source == source && known.target == target)
    }

    /// The terms for a model; none if there are none for its languages.
    pub(crate) fn of(&self, host: &Host) -> Arc<Glossary> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let served = Arc::as_ptr(&host.served);
        if let Some((_, known)) = made.iter().find(|(model, _)| std::ptr::eq(model.as_ptr(), served)) {
            return Arc::clone(known);
        }
        let mut glossary = Glossary::default();
        let entries = self.dictionary(&host.languages[0], &host.languages[1]);
        for (source, target) in entries.iter().flat_map(|dictionary| &dictionary.entries) {
            host.model().add_term(&mut glossary, source, target);
        }
        let glossary = Arc::new(glossary);
        // Models that are no longer served go.
        made.retain(|(model, _)| model.strong_count() > 0);
        made.push((Arc::downgrade(&host.served), Arc::clone(&glossary)));
        glossary
    }
}

/// Why a glossary cannot be kept.
#[derive(Debug)]
pub(crate) enum Unkept {
    TooMany,
    Unknown,
    Failed,
}

/// All glossaries.
#[derive(Debug)]
pub(crate) struct Glossaries {
    folder: PathBuf,
    known: RwLock<BTreeMap<String, Arc<Terms>>>,
    /// Held while one is written.
    writing: Mutex<u64>,
}

impl Glossaries {
    /// Those of a folder, which need not be there.
    pub(crate) fn open(folder: PathBuf) -> Result<Self> {
        let mut known = BTreeMap::new();
        if folder.exists() {
            for file in std::fs::read_dir(&folder).map_err(InputError::io(&folder, "read"))? {
                let path = file.map_err(InputError::io(&folder, "read"))?.path();
                if path.extension().is_some_and(|ending| ending == "json") {
                    let terms = read(&path)?;
                    known.insert(terms.id.clone(), Arc::new(terms));
                }
            }
        }
        Ok(Self { folder, known: RwLock::new(known), writing: Mutex::default() })
    }

    /// One of them.
    pub(crate) fn get(&self, id: &str) -> Option<Arc<Terms>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    /// All of them, the oldest first.
    pub(crate) fn all(&self) -> Vec<Arc<Terms>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<Arc<Terms>> = known.values().cloned().collect();
        all.sort_by(|one, other| (&one.created, &one.id).cmp(&(&other.created, &other.id)));
        all
    }

    /// Keeps a new one.
    pub(crate) fn add(&self, name: &str, dictionaries: Vec<Dictionary>) -> Result<Arc<Terms>, Unkept> {
        let mut count = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if self.all().len() >= MOST {
            return Err(Unkept::TooMany);
        }
        let now = SystemTime::now();
        *count += 1;
        let since = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
        // An id says nothing; it only has to be another one.
        let id = (0..).map(|try_| new_id(fold(fold(since, *count), try_), content_hash(name.as_bytes())));
        let id = id.into_iter().find(|id| self.get(id).is_none()).unwrap_or_default();
        let (name, created) = (name.to_string(), written_time(now));
        self.keep(Terms { id, name, created, dictionaries, made: Mutex::default() })
    }

    /// Puts others in place of the name or the dictionaries of one.
    pub(crate) fn change(
        &self,
        id: &str,
        change: impl FnOnce(&mut String, &mut Vec<Dictionary>),
    ) -> Result<Arc<Terms>, Unkept> {
        let _one = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let known = self.get(id).ok_or(Unkept::Unknown)?;
        let (mut name, mut dictionaries) = (known.name.clone(), known.dictionaries.clone());
        change(&mut name, &mut dictionaries);
        let (id, created) = (known.id.clone(), known.created.clone());
        self.keep(Terms { id, name, created, dictionaries, made: Mutex::default() })
    }

    /// Forgets one.
    pub(crate) fn remove(&self, id: &str) -> Result<(), Unkept> {
        let _one = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let known = self.get(id).ok_or(Unkept::Unknown)?;
        std::fs::remove_file(self.path(&known.id)).map_err(|_| Unkept::Failed)?;
        self.known.write().unwrap_or_else(PoisonError::into_inner).remove(id);
        Ok(())
    }

    /// Ids are ours, so no client names a file.
    fn path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }

    fn keep(&self, terms: Terms) -> Result<Arc<Terms>, Unkept> {
        let write = || -> Option<()> {
            std::fs::create_dir_all(&self.folder).ok()?;
            let text = serde_json::to_string_pretty(&terms).ok()?;
            let mut out = Output::create(&self.path(&terms.id)).ok()?;
            out.line(&text).ok()?;
            out.finish().ok()
        };
        write().ok_or(Unkept::Failed)?;
        let terms = Arc::new(terms);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(terms.id.clone(), Arc::clone(&terms));
        Ok(terms)
    }
}

/// In the form that clients know ids in.
fn new_id(one: u64, other: u64) -> String {
    let text = format!("{one:016x}{other:016x}");
    [&text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..]].join("-")
}

fn read(path: &Path) -> Result<Terms> {
    let text = std::fs::read_to_string(path).map_err(InputError::io(path, "read"))?;
    let broken = |found: String| InputError::Format {
        path: path.to_path_buf(),
        found,
        expected: "a glossary that `sylvan serve` wrote".into(),
        advice: "delete it, or move it elsewhere".into(),
    };
    let terms: Terms = serde_json::from_str(&text).map_err(|error| broken(error.to_string()))?;
    if path.file_stem().is_none_or(|name| name != terms.id.as_str()) {
        return Err(broken(format!("the glossary {:?}", terms.id)).into());
    }
    Ok(terms)
}

/// Reads terms: a line each, with a tab or (CSV) a comma between source and target. Says what is wrong with one that has no
/// two sides.
pub(crate) fn entries(text: &str, format: &str) -> Result<BTreeMap<String, String>, String> {
    let mut entries = BTreeMap::new();
    for (line, number) in text.lines().zip(1..) {
        if line.trim().is_empty() {
            continue;
        }
        let fields = match format {
            "csv" => comma_separated(line),
            _ => line.split('\t').map(|field| field.trim().to_string()).collect(),
        };
        match fields.as_slice() {
            [source, target, ..] if !source.is_empty() && !target.is_empty() => {
                if let Some(known) = entries.insert(source.clone(), target.clone())
                    && known != *target
                {
                    return Err(format!("{source:?} has two translations (line {number})"));
                }
            }
            _ => return Err(format!("line {number} is not a term and its translation")),
        }
    }
    match entries.is_empty() {
        true => Err("a glossary needs a term".to_string()),
        false => Ok(entries),
    }
}

/// The fields of a line; those in quotation marks may have commas, and two marks stand for one.
fn comma_separated(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let field = fields.last_mut().expect("there is always one");
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            other => field.push(other),
        }
    }
    fields.iter().map(|field| field.trim().to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_read_or_refused_with_their_line() {
        let pairs = |text: &str, format: &str| -> Result<Vec<(String, String)>, String> {
            entries(text, format).map(|entries| entries.into_iter().collect())
        };
        let pair = |one: &str, other: &str| (one.to_string(), other.to_string());
        assert_eq!(pairs("b\tc d\n\na\tx\r\n", "tsv").unwrap(), [pair("a", "x"), pair("b", "c d")]);
        let quoted = "\"a, b\",\"say \"\"c\"\"\"\nd,e,de,en\n";
        assert_eq!(pairs(quoted, "csv").unwrap(), [pair("a, b", "say \"c\""), pair("d", "e")]);
        for wrong in ["a", "a\t", "\tb", "", "a\tb\na\tc"] {
            assert!(pairs(wrong, "tsv").is_err(), "{wrong:?}");
        }
        assert!(pairs("x\ty\nz", "tsv").unwrap_err().contains("line 2"));
    }

    #[test]
    fn what_is_kept_is_there_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("glossaries");
        let dictionary = |target: &str| Dictionary {
            source: "de".into(),
            target: "en".into(),
            entries: BTreeMap::from([("Haus".to_string(), target.to_string())]),
        };
        let kept = Glossaries::open(path.clone()).unwrap();
        let [one, two] = ["x", "x"].map(|name| kept.add(name, vec![dictionary("house")]).unwrap());
        assert_ne!(one.id, two.id);
        kept.change(&one.id, |name, dictionaries| {
            *name = "y".into();
            dictionaries[0] = dictionary("home");
        })
        .unwrap();
        kept.remove(&two.id).unwrap();
        assert!(matches!(kept.remove(&two.id), Err(Unkept::Unknown)));
        let again = Glossaries::open(path.clone()).unwrap();
        let found = again.all();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].name.as_str(), &found[0].dictionaries), ("y", &vec![dictionary("home")]));
        assert_eq!(found[0].created, one.created);
        std::fs::write(path.join("x.json"), "{").unwrap();
        let error = Glossaries::open(path).unwrap_err().to_string();
        assert!(error.contains("x.json") && error.contains("delete it"), "{error}");
    }
}
