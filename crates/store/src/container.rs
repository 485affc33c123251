//! The model-file container: named, aligned, checksummed sections in one memory-mapped file.
//!
//! Layout (all numbers little-endian; docs/formats/container.md):
//!
//! ```text
//! 0   magic "SYLVAN\r\n"        a transfer that rewrites line ends breaks it visibly
//! 8   kind, 8 bytes, zero-padded ("vocab")
//! 16  u32 version of the kind
//! 20  u32 number of sections n
//! 24  u64 length of the file
//! 32  u64 xxh3 of bytes 8..32 and the section table
//! 64  n x { name 8 bytes, u64 offset, u64 length, u64 xxh3 of the section }
//! ..  sections, each at a multiple of 64
//! ```
//!
//! Opening checks the header, the table and all bounds, which is fast at any size. A section is compared with its
//! checksum when it is first asked for, once per open file: no value comes out of a section that is not the one
//! that was written, and what nobody asks for costs nothing. [`Container::check_all`] does so for all sections on
//! several threads, for readers that want them all; [`Container::verify`] reads everything again.

use std::io::{Read, Write};
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use sylvan_base::hash::{ContentHasher, content_hash};
use sylvan_base::{InputError, Result};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::heap::ByteHeap;
use crate::map::MappedFile;
use crate::output::PendingFile;

const MAGIC: [u8; 8] = *b"SYLVAN\r\n";
const HEADER: usize = 64;
const ENTRY: usize = 32;
const ALIGN: usize = 64;
const MAX_SECTIONS: usize = 256;
/// Fewer bytes are checked by one thread: starting others takes as long.
const CHECK_ALONE: u64 = 4 << 20;
/// Memory is not read faster by more.
const CHECK_THREADS: usize = 4;

#[cfg(target_endian = "big")]
compile_error!("model files are little-endian and mapped as they are");

/// The name of a section or of a kind of file: at most 8 ASCII characters.
pub type Name = [u8; 8];

/// Makes a [`Name`] from a string literal: `name("offsets")`. Fails to compile in a constant when too long.
pub const fn name(text: &str) -> Name {
    let bytes = text.as_bytes();
    assert!(bytes.len() <= 8, "a section name has at most 8 bytes");
    let mut name = [0; 8];
    let mut index = 0;
    while index < bytes.len() {
        name[index] = bytes[index];
        index += 1;
    }
    name
}

fn shown(name: Name) -> String {
    String::from_utf8_lossy(&name).trim_end_matches('\0').escape_debug().to_string()
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    name: Name,
    offset: u64,
    length: u64,
    sum: u64,
}

/// Writes a container. Nothing appears under the final name before [`finish`](Self::finish).
#[derive(Debug)]
pub struct ContainerWriter {
    file: PendingFile,
    kind: Name,
    version: u32,
    capacity: usize,
    entries: Vec<Entry>,
    end: usize,
}

impl ContainerWriter {
    /// A container with room for `sections` sections.
    pub fn create(path: &Path, kind: Name, version: u32, sections: usize) -> Result<Self> {
        assert!(sections <= MAX_SECTIONS);
        let mut writer = Self {
            file: PendingFile::create(path)?,
            kind,
            version,
            capacity: sections,
            entries: Vec::new(),
            end: 0,
        };
        writer.append(&vec![0; HEADER + sections * ENTRY])?;
        Ok(writer)
    }

    /// Appends a section of plain values.
    pub fn section<T: IntoBytes + Immutable>(&mut self, name: Name, values: &[T]) -> Result<()> {
        assert!(self.entries.len() < self.capacity, "more sections than announced");
        let padding = self.end.next_multiple_of(ALIGN) - self.end;
        self.append(&[0; ALIGN][..padding])?;
        let bytes = values.as_bytes();
        let entry =
            Entry { name, offset: self.end as u64, length: bytes.len() as u64, sum: content_hash(bytes) };
        self.entries.push(entry);
        self.append(bytes)
    }

    /// Appends bytes that come in parts, as one section.
    pub fn heap(&mut self, name: Name, bytes: &ByteHeap) -> Result<()> {
        self.section::<u8>(name, &[])?;
        let mut sum = ContentHasher::default();
        bytes.read(&mut |part| {
            sum.update(part);
            self.append(part)
        })?;
        if let Some(entry) = self.entries.last_mut() {
            (entry.length, entry.sum) = (bytes.len(), sum.finish());
        }
        Ok(())
    }

    /// Appends a whole file as a section. If that file is a container, [`Container::part`] opens it in place.
    pub fn file(&mut self, name: Name, path: &Path) -> Result<()> {
        // An empty file cannot be mapped everywhere.
        if std::fs::metadata(path).map_err(InputError::io(path, "open"))?.len() == 0 {
            return self.section::<u8>(name, &[]);
        }
        self.section(name, MappedFile::open(path)?.bytes())
    }

    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let path = self.file.path().to_path_buf();
        self.file.write_all(bytes).map_err(InputError::io(path, "write"))?;
        self.end += bytes.len();
        Ok(())
    }

    /// Writes header and table and gives the file its final name.
    pub fn finish(mut self) -> Result<()> {
        let mut table = Vec::with_capacity(self.capacity * ENTRY);
        for entry in &self.entries {
            table.extend_from_slice(&entry.name);
            for number in [entry.offset, entry.length, entry.sum] {
                table.extend_from_slice(&number.to_le_bytes());
            }
        }
        let mut header = Vec::with_capacity(HEADER);
        header.extend_from_slice(&MAGIC);
        header.extend_from_slice(&self.kind);
        header.extend_from_slice(&self.version.to_le_bytes());
        header.extend_from_slice(&(self.entries.len() as u32).to_le_bytes());
        header.extend_from_slice(&(self.end as u64).to_le_bytes());
        let sum = header_sum(&header[8..32], &table);
        header.extend_from_slice(&sum.to_le_bytes());
        header.resize(HEADER, 0);
        header.extend_from_slice(&table);
        self.file.rewind()?;
        let path = self.file.path().to_path_buf();
        self.file.write_all(&header).map_err(InputError::io(path, "write"))?;
        self.file.commit()
    }
}

/// Whether a file starts like a container. One that cannot be read does not.
pub fn is_container(path: &Path) -> bool {
    let mut head = [0; MAGIC.len()];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head == MAGIC
}

/// The kind that a file says it is of, if it starts like a container.
pub fn kind_of(path: &Path) -> Option<Name> {
    let mut head = [0; MAGIC.len() + 8];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut head)).ok()?;
    (head[..MAGIC.len()] == MAGIC).then(|| name_at(&head, MAGIC.len()))
}

fn header_sum(fields: &[u8], table: &[u8]) -> u64 {
    content_hash(&[fields, table].concat())
}

/// An open container: sections as typed slices, straight from the mapped file.
#[derive(Debug)]
pub struct Container {
    path: PathBuf,
    file: Arc<MappedFile>,
    /// Where the container lies in the file: all of it, or a section of a larger one.
    place: Range<usize>,
    entries: Vec<Entry>,
    version: u32,
}

impl Container {
    /// Opens a container of the given kind whose version lies in `versions`.
    pub fn open(path: &Path, kind: Name, versions: RangeInclusive<u32>) -> Result<Self> {
        let file = Arc::new(MappedFile::open(path)?);
        let place = 0..file.bytes().len();
        Self::at(path, file, place, kind, versions)
    }

    /// Opens a container that is a section of this one, in place: nothing is copied.
    pub fn part(&self, name: Name, kind: Name, versions: RangeInclusive<u32>) -> Result<Self> {
        let entry = self.entry(name)?;
        let start = self.place.start + entry.offset as usize;
        let place = start..start + entry.length as usize;
        Self::at(&self.path, Arc::clone(&self.file), place, kind, versions)
    }

    fn at(
        path: &Path,
        file: Arc<MappedFile>,
        place: Range<usize>,
        kind: Name,
        versions: RangeInclusive<u32>,
    ) -> Result<Self> {
        let checked = check_header(&file.bytes()[place.clone()], kind, versions);
        let (entries, version) = checked.map_err(|problem| InputError::Format {
            path: path.to_path_buf(),
            found: problem.0,
            expected: problem.1,
            advice: problem.2.to_string(),
        })?;
        Ok(Self { path: path.to_path_buf(), file, place, entries, version })
    }

    /// The kind that a section says it is of, if it is a container.
    pub fn kind_of_part(&self, name: Name) -> Option<Name> {
        let entry = self.entry(name).ok()?;
        let start = self.place.start + entry.offset as usize;
        let head = self.file.bytes().get(start..start + (entry.length as usize).min(MAGIC.len() + 8))?;
        (head.len() == MAGIC.len() + 8 && head[..MAGIC.len()] == MAGIC).then(|| name_at(head, MAGIC.len()))
    }

    fn entry(&self, name: Name) -> Result<&Entry> {
        let found = self.entries.iter().find(|entry| entry.name == name);
        found.ok_or_else(|| self.bad(format!("no section {:?}", shown(name)), "that section".into()))
    }

    /// The version of the file's kind.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The file's name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The names and lengths in bytes of all sections, in the order of the file.
    pub fn sections(&self) -> impl Iterator<Item = (String, u64)> {
        self.entries.iter().map(|entry| (shown(entry.name), entry.length))
    }

    /// Whether there is a section of this name.
    pub fn has(&self, name: Name) -> bool {
        self.entries.iter().any(|entry| entry.name == name)
    }

    /// A section's values; an error if it is missing, damaged or not a whole number of them.
    pub fn section<T: FromBytes + Immutable + KnownLayout>(&self, name: Name) -> Result<&[T]> {
        let entry = self.entry(name)?;
        self.check(entry)?;
        let bytes = self.bytes_of(entry);
        <[T]>::ref_from_bytes(bytes).map_err(|_| {
            self.bad(
                format!("{} bytes in section {:?}", bytes.len(), shown(name)),
                format!("a multiple of {}", size_of::<T>()),
            )
        })
    }

    /// Compares all sections with their checksums, those that were before excepted, on several threads if there
    /// is much to read. It saves time, nothing else: [`section`](Self::section) would do it one by one.
    pub fn check_all(&self) -> Result<()> {
        let mut waiting: Vec<&Entry> = self.entries.iter().collect();
        let total: u64 = waiting.iter().map(|entry| entry.length).sum();
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = if total < CHECK_ALONE { 1 } else { cores.min(CHECK_THREADS) };
        if threads == 1 {
            return waiting.into_iter().try_for_each(|entry| self.check(entry));
        }
        // The longest first: one that comes last would keep the others waiting.
        waiting.sort_by_key(|entry| entry.length);
        let waiting = Mutex::new(waiting);
        let next = || waiting.lock().ok().and_then(|mut waiting| waiting.pop());
        std::thread::scope(|scope| {
            let work = || std::iter::from_fn(next).try_for_each(|entry| self.check(entry));
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mine = work();
            let joined = others
                .into_iter()
                .map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            joined.fold(mine, Result::and)
        })
    }

    /// Reads everything, whatever was read before, and compares the sections with their checksums.
    pub fn verify(&self) -> Result<()> {
        self.entries.iter().try_for_each(|entry| self.compare(entry))
    }

    fn check(&self, entry: &Entry) -> Result<()> {
        let piece = [self.place.start as u64 + entry.offset, entry.length, entry.sum];
        if !self.file.is_good(piece) {
            self.compare(entry)?;
            self.file.remember(piece);
        }
        Ok(())
    }

    fn compare(&self, entry: &Entry) -> Result<()> {
        if content_hash(self.bytes_of(entry)) == entry.sum {
            return Ok(());
        }
        let found = format!("changed bytes in section {:?}", shown(entry.name));
        Err(self.bad(found, "the bytes that were written".into()))
    }

    fn bytes_of(&self, entry: &Entry) -> &[u8] {
        // In range: `check_header` compared offset and length with the file.
        &self.file.bytes()[self.place.clone()][entry.offset as usize..(entry.offset + entry.length) as usize]
    }

    /// An error about this file's content.
    pub fn bad(&self, found: String, expected: String) -> InputError {
        let advice = "copy the file again or make it anew".into();
        InputError::Format { path: self.path.clone(), found, expected, advice }
    }
}

type Problem = (String, String, &'static str);

fn check_header(
    bytes: &[u8],
    kind: Name,
    versions: RangeInclusive<u32>,
) -> std::result::Result<(Vec<Entry>, u32), Problem> {
    const DAMAGED: &str = "the file is damaged: copy it again or make it anew";
    let u32_at = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    if bytes.len() < HEADER || bytes[..8] != MAGIC {
        let advice = "is this a model file of this program?";
        return Err(("another kind of file".into(), "a Sylvan model file".into(), advice));
    }
    let found = name_at(bytes, 8);
    if found != kind {
        let advice = "give the file that this command works on";
        return Err((format!("a {:?} file", shown(found)), format!("a {:?} file", shown(kind)), advice));
    }
    let version = u32_at(16);
    if !versions.contains(&version) {
        let expected = format!("version {} to {}", versions.start(), versions.end());
        let advice = "make the file anew with this version of the program";
        return Err((format!("version {version}"), expected, advice));
    }
    let length = u64_at(bytes, 24);
    if length != bytes.len() as u64 {
        return Err((format!("{} bytes", bytes.len()), format!("{length} bytes"), DAMAGED));
    }
    let sections = u32_at(20) as usize;
    let table_end = HEADER + sections.min(MAX_SECTIONS + 1) * ENTRY;
    if sections > MAX_SECTIONS || table_end > bytes.len() {
        return Err((format!("{sections} sections"), "fewer".into(), DAMAGED));
    }
    let table = &bytes[HEADER..table_end];
    if header_sum(&bytes[8..32], table) != u64_at(bytes, 32) {
        return Err(("a changed header".into(), "the header that was written".into(), DAMAGED));
    }
    let mut entries = Vec::with_capacity(sections);
    for row in table.chunks_exact(ENTRY) {
        let entry = Entry {
            name: name_at(row, 0),
            offset: u64_at(row, 8),
            length: u64_at(row, 16),
            sum: u64_at(row, 24),
        };
        let fits = entry.offset.checked_add(entry.length).is_some_and(|end| end <= length);
        if !fits || !entry.offset.is_multiple_of(ALIGN as u64) {
            let found =
                format!("section {:?} at {} with {} bytes", shown(entry.name), entry.offset, entry.length);
            return Err((found, "a section inside the file".into(), DAMAGED));
        }
        entries.push(entry);
    }
    Ok((entries, version))
}

fn name_at(bytes: &[u8], at: usize) -> Name {
    let mut name = [0; 8];
    name.copy_from_slice(&bytes[at..at + 8]);
    name
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(name_at(bytes, at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sylvan_base::Rng;

    const KIND: Name = name("test");

    fn write(path: &Path) {
        let mut writer = ContainerWriter::create(path, KIND, 3, 2).unwrap();
        writer.section(name("numbers"), &[1u32, 2, 3]).unwrap();
        writer.section(name("bytes"), b"hello").unwrap();
        writer.finish().unwrap();
    }

    #[test]
    fn sections_come_back_typed_and_verified() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("c");
        write(&path);
        let container = Container::open(&path, KIND, 1..=3).unwrap();
        assert_eq!(container.section::<u32>(name("numbers")).unwrap(), [1, 2, 3]);
        assert_eq!(container.section::<u8>(name("bytes")).unwrap(), b"hello");
        assert!(container.section::<u32>(name("bytes")).is_err(), "5 bytes are no u32s");
        assert!(container.section::<u8>(name("none")).is_err());
        container.verify().unwrap();
    }

    #[test]
    fn a_container_inside_another_opens_in_place_and_its_damage_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let (inner, outer) = (dir.path().join("inner"), dir.path().join("outer"));
        write(&inner);
        let mut writer = ContainerWriter::create(&outer, name("model"), 1, 3).unwrap();
        writer.section(name("note"), b"x").unwrap();
        writer.file(name("inner"), &inner).unwrap();
        std::fs::write(dir.path().join("empty"), "").unwrap();
        writer.file(name("empty"), &dir.path().join("empty")).unwrap();
        writer.finish().unwrap();
        let open = || Container::open(&outer, name("model"), 1..=1).unwrap();
        assert_eq!(open().section::<u8>(name("empty")).unwrap(), b"");
        let part = open().part(name("inner"), KIND, 1..=3).unwrap();
        assert_eq!(part.section::<u32>(name("numbers")).unwrap(), [1, 2, 3]);
        part.verify().unwrap();
        assert!(open().part(name("note"), KIND, 1..=3).is_err(), "no container");
        assert!(open().part(name("inner"), KIND, 4..=4).is_err(), "another version");
        assert!(open().part(name("none"), KIND, 1..=3).is_err());
        let mut bytes = std::fs::read(&outer).unwrap();
        let at = bytes.windows(5).position(|window| window == b"hello").unwrap();
        bytes[at] = b'y';
        std::fs::write(&outer, &bytes).unwrap();
        let part = open().part(name("inner"), KIND, 1..=3).unwrap();
        assert!(part.verify().is_err());
        assert!(part.check_all().is_err());
        assert_eq!(part.section::<u32>(name("numbers")).unwrap(), [1, 2, 3], "this one is whole");
        let error = part.section::<u8>(name("bytes")).unwrap_err().to_string();
        assert!(error.contains("outer: found changed bytes in section \"bytes\""), "{error}");
        assert!(open().verify().is_err());
        assert!(open().section::<u8>(name("inner")).is_err());
        assert!(open().section::<u8>(name("note")).is_ok());
    }

    #[test]
    fn other_kinds_versions_and_files_are_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("c");
        write(&path);
        let message = |kind, versions| Container::open(&path, kind, versions).unwrap_err().to_string();
        assert!(message(name("lm"), 1..=3).contains("found a \"test\" file, expected a \"lm\" file"));
        assert!(message(KIND, 4..=5).contains("found version 3, expected version 4 to 5"));
        std::fs::write(&path, "just text").unwrap();
        assert!(message(KIND, 1..=3).contains("another kind of file"));
        std::fs::write(&path, "").unwrap();
        assert!(Container::open(&path, KIND, 1..=3).is_err());
    }

    #[test]
    fn every_truncation_and_every_change_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("c");
        write(&path);
        let good = std::fs::read(&path).unwrap();
        for length in 0..good.len() {
            std::fs::write(&path, &good[..length]).unwrap();
            assert!(Container::open(&path, KIND, 1..=3).is_err(), "cut to {length}");
        }
        let mut rng = Rng::new(7);
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1 << rng.below(8);
            std::fs::write(&path, &bad).unwrap();
            let in_header = at < 40 || (HEADER..HEADER + 2 * ENTRY).contains(&at);
            match Container::open(&path, KIND, 1..=3) {
                Err(_) => assert!(in_header, "byte {at} is no header"),
                Ok(container) => {
                    assert!(!in_header, "header byte {at} changed unnoticed");
                    let payload = (128..140).contains(&at) || at >= 192;
                    assert_eq!(container.verify().is_err(), payload, "byte {at}");
                    assert_eq!(container.check_all().is_err(), payload, "byte {at}");
                    let numbers = container.section::<u32>(name("numbers"));
                    assert_eq!(numbers.is_err(), (128..140).contains(&at), "byte {at}");
                    assert_eq!(container.section::<u8>(name("bytes")).is_err(), at >= 192, "byte {at}");
                }
            }
        }
    }

    /// Large enough that several threads share the work; the damage is in a section that another thread reads.
    #[test]
    fn large_files_are_checked_on_several_threads() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("c");
        let mut writer = ContainerWriter::create(&path, KIND, 1, 8).unwrap();
        for section in 0..8u8 {
            let mut name = name("part0");
            name[4] += section;
            writer.section(name, &vec![section; (CHECK_ALONE / 8) as usize + 1]).unwrap();
        }
        writer.finish().unwrap();
        let good = std::fs::read(&path).unwrap();
        let open = || Container::open(&path, KIND, 1..=1).unwrap();
        open().check_all().unwrap();
        for section in 0..8 {
            let mut bad = good.clone();
            let at = bad.len() * (2 * section + 1) / 16;
            bad[at] ^= 16;
            std::fs::write(&path, &bad).unwrap();
            let error = open().check_all().unwrap_err().to_string();
            assert!(error.contains(&format!("changed bytes in section \"part{section}\"")), "{error}");
        }
    }
}
