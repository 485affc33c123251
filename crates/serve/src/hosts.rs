//! The models that are served, by the languages that they translate between.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};
use std::time::SystemTime;

use sylvan::decode::corrections::written_time;
use sylvan::{
    Correction, CorrectionLog, Corrections, Error, Input, Learned, Learning, Model, Pair, Result, Worker,
};
use sylvan_base::InputError;
use sylvan_text::{Lang, language, language_name};

use crate::pool::Served;

/// How many combinations of layers are kept ready.
const LAYERED: usize = 64;

/// Characters that a language is recognised by.
const RECOGNISED_BY: usize = 5000;

/// A model that is served.
#[derive(Debug)]
pub(crate) struct Host {
    /// Its file.
    pub(crate) path: PathBuf,
    /// The model, for the pool.
    pub(crate) served: Arc<Served>,
    /// Those that always count.
    corrections: Option<Arc<Corrections>>,
    /// The same with those of layers, by their names.
    layered: Mutex<BTreeMap<Vec<String>, Option<Arc<Corrections>>>>,
    /// Codes of its languages.
    pub(crate) languages: [String; 2],
    /// How the source language ends its sentences.
    pub(crate) splitting: Lang,
    /// Which file it is, and when that was written.
    written: Option<Stamp>,
}

impl Host {
    pub(crate) fn model(&self) -> &Model {
        &self.served.0
    }

    /// The corrections that always count, and those of layers. What is wrong with them is said.
    pub(crate) fn corrections(&self, layers: &[String]) -> Result<Option<Arc<Corrections>>, String> {
        if layers.is_empty() {
            return Ok(self.corrections.clone());
        }
        let mut layered = self.layered.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = layered.get(layers) {
            return Ok(known.clone());
        }
        let read = Corrections::layered(self.model(), &self.path, layers);
        let read = read.map_err(|error| error.to_string())?.map(Arc::new);
        if layered.len() >= LAYERED {
            layered.clear();
        }
        layered.insert(layers.to_vec(), read.clone());
        Ok(read)
    }

    /// The corrections that are on disk now, which somebody else may have changed.
    fn current(&self, layer: &str) -> Result<Option<Arc<Corrections>>> {
        let layers: Vec<String> =
            Some(layer.to_string()).filter(|name| !name.is_empty()).into_iter().collect();
        let known = self.corrections(&layers).ok().flatten();
        match known {
            Some(known) if known.are_written(&self.path, &layers)? => Ok(Some(known)),
            _ => Ok(Corrections::layered(self.model(), &self.path, &layers)?.map(Arc::new)),
        }
    }

    /// The same model with other corrections in a layer.
    fn corrected(&self, layer: &str, now: Option<Arc<Corrections>>) -> Self {
        let mut layered = BTreeMap::new();
        let mut corrections = now.clone();
        if !layer.is_empty() {
            corrections.clone_from(&self.corrections);
            layered.clone_from(&self.layered.lock().unwrap_or_else(PoisonError::into_inner));
            layered.retain(|layers: &Vec<String>, _| layers.iter().all(|other| other != layer));
            layered.insert(vec![layer.to_string()], now);
        }
        Self {
            path: self.path.clone(),
            served: Arc::clone(&self.served),
            corrections,
            layered: Mutex::new(layered),
            languages: self.languages.clone(),
            splitting: self.splitting,
            written: self.written,
        }
    }

    /// Opens a model. Its languages are those that it knows itself to be of, unless others are given.
    fn open(path: &Path, given: Option<&[String; 2]>) -> Result<Self> {
        let model = Model::open(path)?;
        let languages = given.unwrap_or(model.languages()).clone();
        if let Some(side) = languages.iter().position(String::is_empty) {
            let missing = ["source", "target"][side];
            return Err(InputError::Format {
                path: path.to_path_buf(),
                found: format!("a model that does not say its {missing} language"),
                expected: "one that does".into(),
                advice: "name both before the file: --model de:en=FILE".into(),
            }
            .into());
        }
        let corrections = Corrections::beside(&model, path)?.map(Arc::new);
        let splitting = language(&languages[0]).unwrap_or(Lang::Other);
        let written = modified(path);
        Ok(Self {
            path: path.to_path_buf(),
            served: Arc::new(Served(Arc::new(model))),
            corrections,
            layered: Mutex::default(),
            languages,
            splitting,
            written,
        })
    }
}

/// Tells a file from another one of the same name: what was copied with its times may be as old.
pub(crate) type Stamp = (SystemTime, u64, u64);

fn modified(path: &Path) -> Option<Stamp> {
    let data = std::fs::metadata(path).ok()?;
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(&data);
    #[cfg(not(unix))]
    let number = 0;
    Some((data.modified().ok()?, data.len(), number))
}

/// A model file as it is asked for: `FILE`, or `de:en=FILE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The file.
    pub path: PathBuf,
    /// Codes of its languages, if it does not know them itself.
    pub languages: Option<[String; 2]>,
}

impl std::str::FromStr for Named {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (languages, path) = match text.split_once('=') {
            Some((pair, path)) if pair.contains(':') => {
                let (source, target) = pair.split_once(':').unwrap_or((pair, ""));
                if source.is_empty() || target.is_empty() {
                    return Err(format!("{pair:?} is no pair of languages such as de:en"));
                }
                (Some([source.to_string(), target.to_string()]), path)
            }
            _ => (None, text),
        };
        Ok(Self { path: path.into(), languages })
    }
}

/// Sentences with their translations, and who gave them.
#[derive(Debug, Clone)]
pub(crate) struct Given {
    pub(crate) pairs: Vec<(String, String)>,
    pub(crate) author: String,
    /// Whether nothing else is learnt from them.
    pub(crate) exact: bool,
}

/// A sentence with its translation, as it was kept, and what was learnt from it.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    pub(crate) pair: Pair,
    pub(crate) learned: Learned,
}

/// All models, shared; those in use stay while others take their places.
#[derive(Debug)]
pub(crate) struct Hosts {
    named: Vec<Named>,
    open: RwLock<Arc<Vec<Arc<Host>>>>,
    /// Held while corrections are written, or models are opened again.
    correcting: Mutex<()>,
}

impl Hosts {
    /// Opens all of them. Two for the same languages are an error.
    pub(crate) fn open(named: Vec<Named>) -> Result<Self> {
        let mut open: Vec<Arc<Host>> = Vec::new();
        for Named { path, languages } in &named {
            let host = Host::open(path, languages.as_ref())?;
            if let Some(other) = open.iter().find(|other| other.languages == host.languages) {
                return Err(InputError::Format {
                    path: path.clone(),
                    found: format!("a second model from {} to {}", host.languages[0], host.languages[1]),
                    expected: format!("one model for two languages; {} is the other", other.path.display()),
                    advice: "leave one of them out".into(),
                }
                .into());
            }
            open.push(Arc::new(host));
        }
        Ok(Self { named, open: RwLock::new(Arc::new(open)), correcting: Mutex::default() })
    }

    /// Those of now.
    pub(crate) fn now(&self) -> Arc<Vec<Arc<Host>>> {
        Arc::clone(&self.open.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// When the files were written, as they are now; none if they are those in use.
    pub(crate) fn newer(&self) -> Option<Vec<Option<Stamp>>> {
        let now = self.now();
        let times: Vec<Option<Stamp>> = now.iter().map(|host| modified(&host.path)).collect();
        let are_new = now.iter().zip(&times).any(|(host, time)| host.written != *time);
        are_new.then_some(times)
    }

    /// Opens files that were written since, or all of them, beside those in use; returns how many. If one of them cannot be opened, all
    /// stay as they are.
    pub(crate) fn reload(&self, all: bool) -> Result<usize> {
        let _one = self.correcting.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.now();
        let mut changed = 0;
        let mut open = Vec::with_capacity(now.len());
        for (host, Named { languages, .. }) in now.iter().zip(&self.named) {
            if !all && modified(&host.path) == host.written {
                open.push(Arc::clone(host));
                continue;
            }
            open.push(Arc::new(Host::open(&host.path, languages.as_ref())?));
            changed += 1;
        }
        *self.open.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(open);
        Ok(changed)
    }

    /// Keeps translations of sentences for a model, all of them or none: they are on disk, and from the next request on
    /// they are used, when this returns. None if nobody waits for it any more.
    pub(crate) fn correct(
        &self,
        of: &Host,
        layer: &str,
        given: &Given,
        waiting: &Weak<()>,
    ) -> Result<Vec<Kept>> {
        self.change(of, layer, waiting, |host, log| {
            let learning = if given.exact { Learning::exact() } else { Learning::default() };
            let time = written_time(SystemTime::now());
            let mut worker = Worker::new(Arc::clone(&host.served.0));
            let mut now = host.current(layer)?;
            let (mut entries, mut all) = (Vec::new(), Vec::new());
            for (source, target) in &given.pairs {
                is_wanted(waiting)?;
                let learned = worker.learn((source, target), Input::Text, now.as_deref(), &learning)?;
                let pair = Pair::new(&time, &given.author, source, target);
                let entry = Correction { about: pair.about(), lines: learned.lines.clone() };
                now = Some(Arc::new(match &now {
                    Some(known) => known.and(host.model(), &entry.text())?,
                    None => Corrections::from_lines(host.model(), &[entry.text()])?,
                }));
                entries.push(entry);
                all.push(Kept { pair, learned });
            }
            is_wanted(waiting)?;
            log.extend(&entries)?;
            Ok((all, now))
        })
    }

    /// Takes the last correction of a layer back, with all that was learnt from it; `None` if there is none.
    pub(crate) fn undo(&self, of: &Host, layer: &str, waiting: &Weak<()>) -> Result<Option<Correction>> {
        self.change(of, layer, waiting, |host, log| {
            let undone = log.undo()?;
            Ok((undone, host.current(layer)?))
        })
    }

    /// Changes the corrections of a model, one change at a time.
    fn change<T>(
        &self,
        of: &Host,
        layer: &str,
        waiting: &Weak<()>,
        change: impl FnOnce(&Host, &mut CorrectionLog) -> Result<(T, Option<Arc<Corrections>>)>,
    ) -> Result<T> {
        let _one = self.correcting.lock().unwrap_or_else(PoisonError::into_inner);
        is_wanted(waiting)?;
        let now = self.now();
        let Some(place) = now.iter().position(|host| host.languages == of.languages) else {
            return Err(Error::Cancelled);
        };
        let mut log = CorrectionLog::open_layer(&now[place].path, layer)?;
        let (done, corrections) = change(&now[place], &mut log)?;
        let mut open: Vec<Arc<Host>> = now.iter().map(Arc::clone).collect();
        open[place] = Arc::new(now[place].corrected(layer, corrections));
        *self.open.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(open);
        Ok(done)
    }

    /// Codes of source languages with those that they are translated to, in the order of codes.
    pub(crate) fn pairs(&self) -> Vec<(String, Vec<String>)> {
        let mut pairs: Vec<(String, Vec<String>)> = Vec::new();
        for host in self.now().iter() {
            let [source, target] = host.languages.clone();
            match pairs.iter_mut().find(|(code, _)| *code == source) {
                Some((_, targets)) => targets.push(target),
                None => pairs.push((source, vec![target])),
            }
        }
        pairs.sort();
        pairs
    }
}

/// Who was told that it took too long, or has gone, changes nothing any more.
fn is_wanted(waiting: &Weak<()>) -> Result<()> {
    if waiting.strong_count() > 0 { Ok(()) } else { Err(Error::Cancelled) }
}

/// The model for two languages.
pub(crate) fn find(hosts: &[Arc<Host>], source: &str, target: &str) -> Option<Arc<Host>> {
    hosts.iter().find(|host| host.languages == [source, target]).cloned()
}

/// A language of a text, and how sure that is in percent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Detected {
    pub(crate) code: String,
    pub(crate) confidence: f64,
}

/// Which of the source languages a text may be, the likeliest first: by the share of its words that the models know.
pub(crate) fn detect(hosts: &[Arc<Host>], text: &str) -> Vec<Detected> {
    let mut found: Vec<Detected> = Vec::new();
    // A page says as much as a book.
    let text = text.char_indices().nth(RECOGNISED_BY).map_or(text, |(end, _)| &text[..end]);
    for host in hosts {
        let words = host.model().source_text().words(text);
        let words: Vec<&str> = words
            .iter()
            .map(|word| word.text.as_str())
            .filter(|word| word.contains(char::is_alphabetic))
            .collect();
        let known = |word: &&&str| {
            let vocab = host.model().vocab();
            vocab.get(word).is_some() || vocab.get(&word.to_lowercase()).is_some()
        };
        let share = words.iter().filter(known).count() as f64 / words.len().max(1) as f64;
        let confidence = (100.0 * share).round();
        let code = &host.languages[0];
        match found.iter_mut().find(|detected| detected.code == *code) {
            Some(known) => known.confidence = known.confidence.max(confidence),
            None => found.push(Detected { code: code.clone(), confidence }),
        }
    }
    found.sort_by(|one, other| other.confidence.total_cmp(&one.confidence).then(one.code.cmp(&other.code)));
    found
}

/// A language's name, or its code.
pub(crate) fn name_of(code: &str) -> &str {
    language_name(code).unwrap_or(code)
}
