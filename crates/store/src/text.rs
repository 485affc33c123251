//! Streaming lines from plain, gzip and zstd files and from standard input.
//!
//! Compression is recognised by the first bytes, not by the name, so that `cat x.gz | sylvan ...` works too.
//! Each line is checked once, here: valid UTF-8, no NUL, no control characters except tab. Everything
//! downstream may rely on it.

use std::fs::File;
use std::io::{BufRead, BufReader, Chain, Cursor, Read};
use std::path::Path;

use sylvan_base::limits::LINE_BYTES;
use sylvan_base::{Fault, InputError, Result};

const BUFFER: usize = 1 << 16;
const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Reads a text line by line and knows where it is.
///
/// A `\r` before the newline and a byte-order mark at the start are dropped; a last line without newline
/// counts as a line.
pub struct TextReader {
    name: String,
    input: Box<dyn BufRead + Send>,
    line: Vec<u8>,
    number: u64,
    /// The size of a file that is not compressed.
    size: Option<u64>,
    tolerant: bool,
    /// The line at work was too long, and its rest is still to come.
    skip: bool,
}

impl TextReader {
    /// Opens a file, or standard input for `-`.
    pub fn open(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        if name == "-" {
            return Self::detect("standard input".to_string(), Box::new(std::io::stdin()), None);
        }
        let file = File::open(path).map_err(InputError::io(path, "open"))?;
        let meta = file.metadata().ok();
        if meta.as_ref().is_some_and(std::fs::Metadata::is_dir) {
            let source = std::io::Error::other("it is a folder, expected a file");
            return Err(InputError::Io { path: path.to_path_buf(), action: "open", source });
        }
        let size = meta.filter(std::fs::Metadata::is_file).map(|meta| meta.len());
        Self::detect(name, Box::new(file), size)
    }

    /// Reads from anything; `name` stands for the file name in messages.
    pub fn from_reader(name: impl Into<String>, input: impl Read + Send + 'static) -> Self {
        let input: Box<dyn Read + Send> = Box::new(input);
        Self::plain(name.into(), BufReader::with_capacity(BUFFER, input))
    }

    /// Reads from a string in memory.
    pub fn from_text(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self::from_reader(name, Cursor::new(text.into().into_bytes()))
    }

    fn plain(name: String, input: impl BufRead + Send + 'static) -> Self {
        Self::of(name, Box::new(input), None)
    }

    fn of(name: String, input: Box<dyn BufRead + Send>, size: Option<u64>) -> Self {
        Self { name, input, line: Vec::new(), number: 0, size, tolerant: false, skip: false }
    }

    fn detect(name: String, mut raw: Box<dyn Read + Send>, size: Option<u64>) -> Result<Self> {
        let mut head = Vec::with_capacity(4);
        raw.by_ref().take(4).read_to_end(&mut head).map_err(InputError::io(&name, "read"))?;
        let gzip = head.starts_with(&GZIP);
        let zstd = head.starts_with(&ZSTD);
        let all: Chain<Cursor<Vec<u8>>, Box<dyn Read + Send>> = Cursor::new(head).chain(raw);
        let reader: Box<dyn BufRead + Send> = if gzip {
            Box::new(BufReader::with_capacity(BUFFER, flate2::read::MultiGzDecoder::new(all)))
        } else if zstd {
            let decoder =
                zstd::stream::read::Decoder::new(all).map_err(InputError::io(&name, "decompress"))?;
            Box::new(BufReader::with_capacity(BUFFER, decoder))
        } else {
            Box::new(BufReader::with_capacity(BUFFER, all))
        };
        Ok(Self::of(name, reader, size.filter(|_| !gzip && !zstd)))
    }

    /// How many bytes the text has, if that is known before it is read.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// Lets C1 controls (U+0080 to U+009F) through: scraped corpora are full of them where
    /// Windows-1252 was taken for Latin-1. They do no harm inside a word.
    #[must_use]
    pub fn tolerant(mut self) -> Self {
        self.tolerant = true;
        self
    }

    /// The next line without its line break, or `None` at the end.
    pub fn next_line(&mut self) -> Result<Option<&str>> {
        let Some(start) = self.advance()? else { return Ok(None) };
        match check(&self.line[start..], self.tolerant) {
            Ok(text) => Ok(Some(text)),
            Err(fault) => Err(fault.at(&self.name, self.number)),
        }
    }

    /// The next line as it is, without its line break: for callers that look for bad bytes themselves.
    pub fn next_bytes(&mut self) -> Result<Option<&[u8]>> {
        Ok(self.advance()?.map(|start| &self.line[start..]))
    }

    /// Passes over the rest of a line that is too long, without keeping it.
    fn skip_line(&mut self) -> Result<()> {
        let skipped = self.input.skip_until(b'\n');
        skipped.map(|_| self.skip = false).map_err(InputError::io(&self.name, "read"))
    }

    /// Reads a line into the buffer and returns where its text begins. One that is too long is an error, and the
    /// next line is the one behind it.
    fn advance(&mut self) -> Result<Option<usize>> {
        self.line.clear();
        if self.skip {
            self.skip_line()?;
        }
        let read = (&mut self.input).take(LINE_BYTES as u64 + 2).read_until(b'\n', &mut self.line);
        if read.map_err(InputError::io(&self.name, "read"))? == 0 {
            return Ok(None);
        }
        self.number += 1;
        let breaks = match self.line.as_slice() {
            [.., b'\r', b'\n'] => 2,
            [.., b'\n'] => 1,
            _ => 0,
        };
        if self.line.len() - breaks > LINE_BYTES {
            // The whole of it may have been read, with its line break.
            self.skip = breaks == 0;
            self.line = Vec::new();
            let found = format!("a line of more than {LINE_BYTES} bytes");
            return Err(self.locate(
                Fault::new(0, found, "shorter lines").advise("is this a text? break the line, or remove it"),
            ));
        }
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
        }
        if self.line.last() == Some(&b'\r') {
            self.line.pop();
        }
        let mark = self.number == 1 && self.line.starts_with("\u{feff}".as_bytes());
        Ok(Some(if mark { 3 } else { 0 }))
    }

    /// The 1-based number of the line read last; 0 before the first.
    pub fn line_number(&self) -> u64 {
        self.number
    }

    /// The file name for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Adds this place (name and the line read last) to a fault.
    pub fn locate(&self, fault: Fault) -> InputError {
        fault.at(&self.name, self.number)
    }
}

/// All lines of a file, plain or compressed, or of standard input for `-`: for translations, references and other
/// text that is wanted whole. C1 controls pass, as with [`TextReader::tolerant`].
pub fn read_lines(path: &Path) -> Result<Vec<String>> {
    let mut reader = TextReader::open(path)?.tolerant();
    let mut lines = Vec::new();
    while let Some(line) = reader.next_line()? {
        lines.push(line.to_string());
    }
    Ok(lines)
}

impl std::fmt::Debug for TextReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TextReader({}:{})", self.name, self.number)
    }
}

/// Valid UTF-8 without control characters, or what is wrong where.
fn check(line: &[u8], tolerant: bool) -> std::result::Result<&str, Fault> {
    let text = std::str::from_utf8(line).map_err(|error| {
        let valid = error.valid_up_to();
        let column = String::from_utf8_lossy(&line[..valid]).chars().count() + 1;
        Fault::new(column, format!("the byte 0x{:02x}", line[valid]), "UTF-8 text")
            .advise("convert the file to UTF-8, for example with iconv")
    })?;
    // The common case costs one pass over the bytes; C1 controls are the two-byte sequences C2 80..9F.
    let mut after_c2 = false;
    let suspicious = line.iter().any(|&byte| {
        let bad = (byte < 0x20 && byte != b'\t') || byte == 0x7f || (after_c2 && byte < 0xa0);
        after_c2 = byte == 0xc2;
        bad
    });
    if suspicious {
        let bad = |c: char| c != '\t' && c.is_control() && !(tolerant && c > '\u{7f}');
        let found = text.chars().enumerate().find(|&(_, c)| bad(c));
        if let Some((index, c)) = found {
            let name = if c == '\0' { "a NUL character".into() } else { format!("U+{:04X}", c as u32) };
            return Err(Fault::new(index + 1, name, "text without control characters")
                .advise("remove it, for example with tr -d"));
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn plain_gzip_and_zstd_read_alike_whatever_their_name() {
        let dir = tempfile::tempdir().unwrap();
        let text = "\u{feff}eins\r\nzwei\n\n新 华社";
        let expected = ["eins", "zwei", "", "新 华社"];
        let plain = dir.path().join("plain");
        std::fs::write(&plain, text).unwrap();
        let gz = dir.path().join("gz");
        // Two gzip members in a row, as from `cat a.gz b.gz`.
        let mut file = File::create(&gz).unwrap();
        for part in ["\u{feff}eins\r\nzw", "ei\n\n新 华社"] {
            let mut encoder = flate2::write::GzEncoder::new(&mut file, flate2::Compression::default());
            encoder.write_all(part.as_bytes()).unwrap();
            encoder.finish().unwrap();
        }
        let zst = dir.path().join("zst");
        std::fs::write(&zst, zstd::encode_all(text.as_bytes(), 3).unwrap()).unwrap();
        for path in [plain, gz, zst] {
            assert_eq!(read_lines(&path).unwrap(), expected, "{}", path.display());
        }
    }

    #[test]
    fn bad_bytes_are_named_with_line_and_column() {
        let cases: [(&[u8], &str); 4] = [
            (b"ok\n\xe6\x96\xb0\xff", "t:2:2: found the byte 0xff, expected UTF-8 text"),
            (b"a\0b", "t:1:2: found a NUL character, expected text without control characters"),
            (b"ok\n\nab\x1b", "t:3:3: found U+001B, expected text without control characters"),
            ("é\u{85}".as_bytes(), "t:1:2: found U+0085, expected text without control characters"),
        ];
        for (bytes, expected) in cases {
            let mut reader = TextReader::from_reader("t", Cursor::new(bytes.to_vec()));
            let error = loop {
                match reader.next_line() {
                    Ok(Some(_)) => {}
                    Ok(None) => panic!("no error in {bytes:?}"),
                    Err(error) => break error.to_string(),
                }
            };
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn a_tolerant_reader_passes_c1_controls_and_nothing_else() {
        let text = "a\u{9d}b\nc\u{7f}";
        let mut reader = TextReader::from_text("t", text).tolerant();
        assert_eq!(reader.next_line().unwrap(), Some("a\u{9d}b"));
        assert!(reader.next_line().is_err());
    }

    #[test]
    fn lines_read_whole_pass_c1_controls_and_name_what_is_wrong() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("text");
        std::fs::write(&path, "a\u{9d}b\n\nc").unwrap();
        assert_eq!(read_lines(&path).unwrap(), ["a\u{9d}b", "", "c"]);
        std::fs::write(&path, "").unwrap();
        assert!(read_lines(&path).unwrap().is_empty());
        std::fs::write(&path, "a\nb\0").unwrap();
        let error = read_lines(&path).unwrap_err().to_string();
        assert!(error.contains("text:2:2: found a NUL character"), "{error}");
    }

    #[test]
    fn a_truncated_gzip_file_is_an_error_that_names_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cut.gz");
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(&b"a line\n".repeat(1000)).unwrap();
        let bytes = encoder.finish().unwrap();
        std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        let mut reader = TextReader::open(&path).unwrap();
        let error = loop {
            match reader.next_line() {
                Ok(Some(_)) => {}
                Ok(None) => panic!("the cut went unnoticed"),
                Err(error) => break error.to_string(),
            }
        };
        assert!(error.contains("cut.gz"), "{error}");
    }

    #[test]
    fn any_bytes_are_lines_or_an_error_that_names_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("any");
        let text = "one\ntwo 二\n\nfour\n".repeat(20);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(text.as_bytes()).unwrap();
        let good = [
            text.clone().into_bytes(),
            gzip.finish().unwrap(),
            zstd::encode_all(text.as_bytes(), 3).unwrap(),
        ];
        let mut rng = sylvan_base::Rng::new(17);
        for round in 0..3_000 {
            let mut bytes = good[round % 3].clone();
            for _ in 0..1 + rng.below(5) {
                let at = rng.below(bytes.len());
                bytes[at] = rng.next_u64() as u8;
            }
            bytes.truncate(bytes.len() - rng.below(4));
            std::fs::write(&path, &bytes).unwrap();
            let read = || -> Result<u64> {
                let mut reader = TextReader::open(&path)?;
                while reader.next_line()?.is_some() {}
                Ok(reader.line_number())
            };
            if let Err(error) = read() {
                assert!(error.to_string().contains("any"), "{error}");
            }
        }
    }

    /// Some kilobytes that unpack to gigabytes must not be unpacked into memory.
    #[test]
    fn a_line_that_is_too_long_is_an_error_and_takes_no_memory() {
        let dir = tempfile::tempdir().unwrap();
        let fits = "x".repeat(LINE_BYTES);
        let mut reader = TextReader::from_text("t", format!("{fits}\r\n{fits}\nend"));
        assert_eq!(reader.next_line().unwrap().map(str::len), Some(LINE_BYTES));
        assert_eq!(reader.next_line().unwrap().map(str::len), Some(LINE_BYTES));
        assert_eq!(reader.next_line().unwrap(), Some("end"));
        let path = dir.path().join("bomb.zst");
        let zeros = std::io::repeat(0).take(1 << 28);
        let bomb = zstd::encode_all(b"one\n".chain(zeros).chain(&b"\nthree"[..]), 1).unwrap();
        assert!(bomb.len() < 1 << 20);
        std::fs::write(&path, bomb).unwrap();
        let mut reader = TextReader::open(&path).unwrap();
        assert_eq!(reader.next_bytes().unwrap(), Some(&b"one"[..]));
        let error = reader.next_bytes().unwrap_err().to_string();
        assert!(error.contains("bomb.zst:2: found a line of more than 16777216 bytes"), "{error}");
        assert!(reader.line.capacity() < LINE_BYTES, "its memory is given back");
        assert_eq!(reader.next_bytes().unwrap(), Some(&b"three"[..]), "reading goes on behind it");
        assert_eq!(reader.next_bytes().unwrap(), None);
        assert_eq!(reader.line_number(), 3);
        // One byte too long, with its line break.
        let mut reader = TextReader::from_text("t", format!("x{fits}\nend"));
        assert!(reader.next_line().is_err());
        assert_eq!(reader.next_line().unwrap(), Some("end"));
    }

    #[test]
    fn missing_files_and_folders_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let error = TextReader::open(&dir.path().join("none")).unwrap_err().to_string();
        assert!(error.contains("none: cannot open"), "{error}");
        let error = TextReader::open(dir.path()).unwrap_err().to_string();
        assert!(error.contains("folder"), "{error}");
    }
}
