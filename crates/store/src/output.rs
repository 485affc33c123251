//! Outputs that appear whole or not at all.
//!
//! An output is written under a temporary name in the same folder and renamed when it is complete; an error,
//! a panic or a kill leaves no half-written file under the final name.

use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;

use sylvan_base::{InputError, Result};

use crate::unfinished::Unfinished;

/// A file under a temporary name that takes its final name in [`commit`](Self::commit).
#[derive(Debug)]
pub(crate) struct PendingFile {
    path: PathBuf,
    temporary: PathBuf,
    file: File,
    /// Bytes since the last flush to disk was started.
    behind: usize,
    flusher: Option<Flusher>,
    committed: bool,
    /// Written under its own name: a device or a pipe, which must not be replaced by a file.
    direct: bool,
    _unfinished: Option<Unfinished>,
}

/// Flushes to disk while more is being written, so that there is little to wait for at the end.
#[derive(Debug)]
struct Flusher {
    wake: mpsc::SyncSender<()>,
    thread: JoinHandle<std::io::Result<()>>,
}

/// Bytes after which a flush is started. Smaller outputs are flushed at the end only.
const FLUSH: usize = 32 << 20;

impl Flusher {
    fn start(file: &File) -> std::io::Result<Self> {
        let file = file.try_clone()?;
        let (wake, calls) = mpsc::sync_channel(1);
        let work = move || calls.into_iter().try_for_each(|()| file.sync_data());
        Ok(Self { wake, thread: std::thread::Builder::new().name("flusher".into()).spawn(work)? })
    }

    /// What went wrong so far: the system reports it only once, and maybe only here.
    fn finish(self) -> std::io::Result<()> {
        drop(self.wake);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl PendingFile {
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let name = path.file_name().ok_or_else(|| InputError::Io {
            path: path.to_path_buf(),
            action: "create",
            source: std::io::Error::other("it is not the name of a file"),
        })?;
        let special = |data: std::fs::Metadata| !data.is_file() && !data.is_dir();
        if std::fs::metadata(path).is_ok_and(special) {
            let file = File::options().write(true).open(path).map_err(InputError::io(path, "open"))?;
            let (path, temporary) = (path.to_path_buf(), PathBuf::new());
            return Ok(Self {
                path,
                temporary,
                file,
                behind: 0,
                flusher: None,
                committed: true,
                direct: true,
                _unfinished: None,
            });
        }
        // The process id keeps apart two runs that write the same output.
        let temporary =
            path.with_file_name(format!(".{}.{}.tmp", name.to_string_lossy(), std::process::id()));
        let unfinished = Some(Unfinished::new(&temporary));
        let file = File::create(&temporary).map_err(InputError::io(path, "create"))?;
        let path = path.to_path_buf();
        Ok(Self {
            path,
            temporary,
            file,
            behind: 0,
            flusher: None,
            committed: false,
            direct: false,
            _unfinished: unfinished,
        })
    }

    pub(crate) fn rewind(&mut self) -> Result<()> {
        self.file.seek(SeekFrom::Start(0)).map_err(InputError::io(&self.path, "write"))?;
        Ok(())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn commit(mut self) -> Result<()> {
        if self.direct {
            return self.file.flush().map_err(InputError::io(&self.path, "write"));
        }
        let flushed = self.flusher.take().map_or(Ok(()), Flusher::finish);
        flushed.and_then(|()| self.file.sync_all()).map_err(InputError::io(&self.path, "write"))?;
        std::fs::rename(&self.temporary, &self.path).map_err(InputError::io(&self.path, "rename to"))?;
        self.committed = true;
        Ok(())
    }
}

impl Write for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.behind += written;
        if self.behind >= FLUSH && !self.direct {
            self.behind = 0;
            if self.flusher.is_none() {
                // Without a thread everything is flushed at the end.
                self.flusher = Flusher::start(&self.file).ok();
            }
            if let Some(flusher) = &self.flusher {
                // Full means that a flush is already due.
                let _ = flusher.wake.try_send(());
            }
        }
        Ok(written)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        if !self.committed {
            // Nothing can be done about a failure here; the name shows that the file is temporary.
            let _ = std::fs::remove_file(&self.temporary);
        }
    }
}

enum Sink {
    Stdout(BufWriter<std::io::Stdout>),
    Plain(BufWriter<PendingFile>),
    Gzip(flate2::write::GzEncoder<BufWriter<PendingFile>>),
    Zstd(zstd::stream::write::Encoder<'static, BufWriter<PendingFile>>),
}

/// Writes text to a file (compressed when the name ends in `.gz` or `.zst`) or, for `-`, to standard output.
///
/// Nothing appears under the final name before [`finish`](Self::finish).
pub struct Output {
    path: PathBuf,
    sink: Sink,
}

impl Output {
    /// Creates an output.
    pub fn create(path: &Path) -> Result<Self> {
        let sink = if path == Path::new("-") {
            Sink::Stdout(BufWriter::with_capacity(1 << 16, std::io::stdout()))
        } else {
            let file = BufWriter::with_capacity(1 << 16, PendingFile::create(path)?);
            match path.extension().and_then(|ending| ending.to_str()) {
                Some("gz") => Sink::Gzip(flate2::write::GzEncoder::new(file, flate2::Compression::default())),
                Some("zst") => Sink::Zstd(
                    zstd::stream::write::Encoder::new(file, 3).map_err(InputError::io(path, "write"))?,
                ),
                _ => Sink::Plain(file),
            }
        };
        Ok(Self { path: path.to_path_buf(), sink })
    }

    /// Writes bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let result = match &mut self.sink {
            Sink::Stdout(sink) => sink.write_all(bytes),
            Sink::Plain(sink) => sink.write_all(bytes),
            Sink::Gzip(sink) => sink.write_all(bytes),
            Sink::Zstd(sink) => sink.write_all(bytes),
        };
        result.map_err(InputError::io(&self.path, "write"))
    }

    /// Writes a line and its line break.
    pub fn line(&mut self, line: &str) -> Result<()> {
        self.write(line.as_bytes())?;
        self.write(b"\n")
    }

    /// Completes the output and gives it its final name.
    pub fn finish(self) -> Result<()> {
        let Self { path, sink } = self;
        let pending = match sink {
            Sink::Stdout(mut sink) => return sink.flush().map_err(InputError::io(&path, "write")),
            Sink::Plain(sink) => sink,
            Sink::Gzip(sink) => sink.finish().map_err(InputError::io(&path, "write"))?,
            Sink::Zstd(sink) => sink.finish().map_err(InputError::io(&path, "write"))?,
        };
        pending.into_inner().map_err(|error| InputError::io(&path, "write")(error.into_error()))?.commit()
    }
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Output({})", self.path.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TextReader;

    #[test]
    #[cfg(unix)]
    fn devices_and_pipes_are_written_and_stay_what_they_are() {
        use std::os::unix::fs::FileTypeExt;
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reading = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::read_to_string(pipe).unwrap()
        });
        let mut output = Output::create(&pipe).unwrap();
        output.line("through").unwrap();
        output.finish().unwrap();
        assert_eq!(reading.join().unwrap(), "through\n");
        assert!(std::fs::metadata(&pipe).unwrap().file_type().is_fifo());
        let entries = std::fs::read_dir(dir.path()).unwrap().count();
        assert_eq!(entries, 1, "nothing else is left");
    }

    #[test]
    fn what_is_written_reads_back_in_every_compression() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a.txt", "a.txt.gz", "a.txt.zst"] {
            let path = dir.path().join(name);
            let mut output = Output::create(&path).unwrap();
            output.line("first").unwrap();
            output.line("第二").unwrap();
            assert!(!path.exists(), "nothing under the final name before finish");
            output.finish().unwrap();
            let mut reader = TextReader::open(&path).unwrap();
            assert_eq!(reader.next_line().unwrap(), Some("first"));
            assert_eq!(reader.next_line().unwrap(), Some("第二"));
            assert_eq!(reader.next_line().unwrap(), None);
        }
        let compressed = std::fs::read(dir.path().join("a.txt.gz")).unwrap();
        assert!(compressed.starts_with(&[0x1f, 0x8b]));
    }

    #[test]
    fn a_large_output_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        let line = "x".repeat(1 << 20);
        for finish in [true, false] {
            let mut output = Output::create(&path).unwrap();
            (0..70).for_each(|_| output.line(&line).unwrap());
            if finish {
                output.finish().unwrap();
            }
            assert_eq!(std::fs::metadata(&path).unwrap().len(), 70 * ((1 << 20) + 1));
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_unfinished_output_leaves_the_old_file_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        std::fs::write(&path, "old").unwrap();
        let mut output = Output::create(&path).unwrap();
        output.line("new").unwrap();
        drop(output);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_missing_folder_is_an_error_that_names_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let error = Output::create(&dir.path().join("no/such")).unwrap_err().to_string();
        assert!(error.contains("such: cannot create"), "{error}");
    }
}
