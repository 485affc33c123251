//! The work folder: which stages are done, with what, and what they cost.
//!
//! A stage is done if its stamp says so: the stamp names the content of everything that went in (files and
//! settings) and of everything that came out. Outputs appear whole, the stamp last, so after a run is killed
//! at any moment the next one finds each stage either finished or to be done again; and a changed input
//! redoes what depends on it and nothing else.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use sylvan_base::hash::{content_hash, fold};
use sylvan_base::{HashMap, InputError, Result};
use sylvan_store::Output;

/// What a stage cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageReport {
    /// Its name.
    pub stage: String,
    /// Whether an earlier run did it.
    pub reused: bool,
    /// How long it took when it was done.
    pub seconds: f64,
    /// The program's peak memory while it ran, where the system says.
    pub peak_bytes: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Stamp {
    inputs: String,
    outputs: BTreeMap<String, String>,
    seconds: f64,
    peak_bytes: Option<u64>,
}

/// Keeps other runs out of a folder. The system lets go of the lock when the run ends, however it ends.
#[cfg(unix)]
fn lock(folder: &Path) -> Result<Option<std::fs::File>> {
    use rustix::fs::{FlockOperation, flock};
    let path = folder.join("lock");
    let file = std::fs::File::create(&path).map_err(InputError::io(&path, "create"))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Err(error) if error == rustix::io::Errno::WOULDBLOCK => Err(InputError::Format {
            path: folder.to_path_buf(),
            found: "another run that works in this folder".into(),
            expected: "one at a time".into(),
            advice: "wait until it has ended, or choose another --out".into(),
        }),
        // Some network disks have no locks.
        _ => Ok(Some(file)),
    }
}

#[cfg(not(unix))]
fn lock(_: &Path) -> Result<Option<std::fs::File>> {
    Ok(None)
}

/// What goes into a stage and what comes out.
#[derive(Debug)]
pub(crate) struct Stage<'s> {
    pub(crate) name: &'static str,
    /// Files whose content matters.
    pub(crate) inputs: Vec<&'s Path>,
    /// Everything else that matters, in words.
    pub(crate) settings: String,
    /// The files that it makes.
    pub(crate) outputs: Vec<&'s Path>,
}

/// The folder beside the model.
#[derive(Debug)]
pub(crate) struct WorkFolder {
    folder: PathBuf,
    /// Held as long as the run lasts.
    _lock: Option<std::fs::File>,
    hashes: HashMap<PathBuf, u64>,
    pub(crate) reports: Vec<StageReport>,
}

impl WorkFolder {
    /// Opens or makes the folder and clears away what a killed run left half-written.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        std::fs::create_dir_all(folder).map_err(InputError::io(folder, "create"))?;
        let lock = lock(folder)?;
        let entries = std::fs::read_dir(folder).map_err(InputError::io(folder, "read"))?;
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with('.') {
                let path = entry.path();
                std::fs::remove_file(&path).map_err(InputError::io(&path, "remove"))?;
            }
        }
        Ok(Self {
            folder: folder.to_path_buf(),
            _lock: lock,
            hashes: HashMap::default(),
            reports: Vec::new(),
        })
    }

    /// A file of the folder.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The content hash of a file, read once per run.
    pub(crate) fn hash(&mut self, path: &Path) -> Result<u64> {
        if let Some(&hash) = self.hashes.get(path) {
            return Ok(hash);
        }
        let hash = hash_file(path)?;
        self.hashes.insert(path.to_path_buf(), hash);
        Ok(hash)
    }

    /// Runs a stage unless it is already done; `say` gets a message either way.
    pub(crate) fn run<E: From<InputError>>(
        &mut self,
        stage: &Stage<'_>,
        say: &mut dyn FnMut(&str),
        work: impl FnOnce(&mut dyn FnMut(&str)) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut key = content_hash(format!("{}\n{}", stage.name, stage.settings).as_bytes());
        for path in &stage.inputs {
            key = fold(key, self.hash(path)?);
        }
        let inputs = format!("{key:016x}");
        let stamp_path = self.file(&format!("{}.done", stage.name));
        if let Some(stamp) = self.finished(&stamp_path, &inputs, stage)? {
            say(&format!("{}: done before, kept", stage.name));
            let Stamp { seconds, peak_bytes, .. } = stamp;
            self.reports.push(StageReport {
                stage: stage.name.to_string(),
                reused: true,
                seconds,
                peak_bytes,
            });
            return Ok(());
        }
        // From here on the stage is not done, whatever happens.
        if stamp_path.exists() {
            std::fs::remove_file(&stamp_path).map_err(InputError::io(&stamp_path, "remove"))?;
        }
        say(&format!("{} ..", stage.name));
        reset_peak();
        let started = Instant::now();
        work(say)?;
        let (seconds, peak_bytes) = (started.elapsed().as_secs_f64(), peak());
        let mut outputs = BTreeMap::new();
        for path in &stage.outputs {
            self.hashes.remove(*path);
            outputs.insert(short(path), format!("{:016x}", self.hash(path)?));
        }
        let stamp = Stamp { inputs, outputs, seconds, peak_bytes };
        let mut file = Output::create(&stamp_path)?;
        file.line(&serde_json::to_string(&stamp).expect("strings and numbers can be written as JSON"))?;
        file.finish()?;
        let memory = peak_bytes.map_or(String::new(), |bytes| format!(", {} MB", bytes >> 20));
        say(&format!("{}: {seconds:.1} s{memory}", stage.name));
        self.reports.push(StageReport { stage: stage.name.to_string(), reused: false, seconds, peak_bytes });
        Ok(())
    }

    /// The stamp of a stage that was done with the same inputs and whose outputs are what they were.
    fn finished(&mut self, path: &Path, inputs: &str, stage: &Stage<'_>) -> Result<Option<Stamp>> {
        let Ok(text) = std::fs::read_to_string(path) else { return Ok(None) };
        let Ok(stamp) = serde_json::from_str::<Stamp>(&text) else { return Ok(None) };
        if stamp.inputs != inputs || stamp.outputs.len() != stage.outputs.len() {
            return Ok(None);
        }
        for output in &stage.outputs {
            let known = stamp.outputs.get(&short(output));
            if !output.is_file() || known != Some(&format!("{:016x}", self.hash(output)?)) {
                return Ok(None);
            }
        }
        Ok(Some(stamp))
    }
}

fn short(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A content hash of a file of any size.
pub(crate) fn hash_file(path: &Path) -> Result<u64> {
    let mut file = std::fs::File::open(path).map_err(InputError::io(path, "open"))?;
    let mut buffer = vec![0; 1 << 20];
    let mut hash = 0;
    loop {
        let mut filled = 0;
        while filled < buffer.len() {
            match file.read(&mut buffer[filled..]).map_err(InputError::io(path, "read"))? {
                0 => break,
                count => filled += count,
            }
        }
        if filled == 0 {
            return Ok(hash);
        }
        hash = fold(hash, content_hash(&buffer[..filled]));
    }
}

/// Peak memory since [`reset_peak`], where the system is Linux.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()? << 10)
}

fn reset_peak() {
    // If that is not permitted, the figure is that of the whole run so far.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(folder: &Path, input: &Path, settings: &str) -> (bool, String) {
        let mut work = WorkFolder::open(folder).unwrap();
        let out = work.file("out");
        let stage =
            Stage { name: "copy", inputs: vec![input], settings: settings.into(), outputs: vec![&out] };
        let mut ran = false;
        let copy = |_: &mut dyn FnMut(&str)| -> Result<()> {
            ran = true;
            std::fs::copy(input, &out).map(|_| ()).map_err(InputError::io(&out, "copy to"))
        };
        work.run(&stage, &mut |_| {}, copy).unwrap();
        (ran, std::fs::read_to_string(&out).unwrap())
    }

    #[test]
    fn a_stage_runs_when_something_changed_and_not_otherwise() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, input) = (dir.path().join("work"), dir.path().join("in"));
        std::fs::write(&input, "one").unwrap();
        assert_eq!(run(&folder, &input, "a"), (true, "one".into()));
        assert_eq!(run(&folder, &input, "a"), (false, "one".into()));
        assert_eq!(run(&folder, &input, "b"), (true, "one".into()), "other settings");
        std::fs::write(&input, "two").unwrap();
        assert_eq!(run(&folder, &input, "b"), (true, "two".into()), "another input");
        std::fs::write(folder.join("out"), "spoilt").unwrap();
        assert_eq!(run(&folder, &input, "b"), (true, "two".into()), "a changed output");
        std::fs::remove_file(folder.join("out")).unwrap();
        assert_eq!(run(&folder, &input, "b"), (true, "two".into()), "a lost output");
        std::fs::write(folder.join("copy.done"), "{").unwrap();
        std::fs::write(folder.join(".out.123.tmp"), "half").unwrap();
        assert_eq!(run(&folder, &input, "b"), (true, "two".into()), "a broken stamp");
        assert!(!folder.join(".out.123.tmp").exists(), "leftovers are cleared away");
    }

    #[test]
    fn a_stage_that_fails_is_not_done() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, input) = (dir.path().join("work"), dir.path().join("in"));
        std::fs::write(&input, "one").unwrap();
        run(&folder, &input, "a");
        let mut work = WorkFolder::open(&folder).unwrap();
        let out = work.file("out");
        let stage = Stage { name: "copy", inputs: vec![&input], settings: "b".into(), outputs: vec![&out] };
        let fail =
            |_: &mut dyn FnMut(&str)| Err(InputError::io("x", "write")(std::io::Error::other("no room")));
        assert!(work.run(&stage, &mut |_| {}, fail).is_err());
        let another = WorkFolder::open(&folder).unwrap_err().to_string();
        assert!(another.contains("another run"), "one at a time: {another}");
        drop(work);
        assert_eq!(run(&folder, &input, "a"), (true, "one".into()), "the earlier stamp is gone");
    }
}
