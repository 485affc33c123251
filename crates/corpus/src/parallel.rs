//! Reading files side by side.

use std::path::Path;

use sylvan_base::{Fault, InputError, Result};
use sylvan_store::TextReader;

/// Reads any number of files line by line, all at the same pace.
///
/// Files of unequal length are an error, and the message says how long each one is: one line too many or too few
/// shifts everything after it, and the difference is the first hint where.
#[derive(Debug)]
pub struct ParallelReader {
    readers: Vec<TextReader>,
    lines: Vec<String>,
}

impl ParallelReader {
    /// Opens files; `-` is standard input, which can be given only once.
    pub fn open<P: AsRef<Path>>(paths: &[P]) -> Result<Self> {
        if paths.iter().filter(|path| path.as_ref() == Path::new("-")).count() > 1 {
            return Err(InputError::Format {
                path: "-".into(),
                found: "standard input more than once".into(),
                expected: "different files".into(),
                advice: "give all files but one by name".into(),
            });
        }
        let open = |path: &P| Ok(TextReader::open(path.as_ref())?.tolerant());
        Ok(Self::new(paths.iter().map(open).collect::<Result<_>>()?))
    }

    /// Reads from readers that are already open.
    pub fn new(readers: Vec<TextReader>) -> Self {
        let lines = vec![String::new(); readers.len()];
        Self { readers, lines }
    }

    /// The next line of each file, in the order of the files, or `None` when all are at their end.
    pub fn next_lines(&mut self) -> Result<Option<&[String]>> {
        let mut ended = 0;
        for (reader, buffer) in self.readers.iter_mut().zip(&mut self.lines) {
            buffer.clear();
            match reader.next_line()? {
                Some(line) => buffer.push_str(line),
                None => ended += 1,
            }
        }
        if ended == self.readers.len() {
            return Ok(None);
        }
        if ended > 0 {
            return Err(self.unequal()?);
        }
        Ok(Some(&self.lines))
    }

    /// The number of the line read last, the same in all files; 0 before the first.
    pub fn line_number(&self) -> u64 {
        self.readers.first().map_or(0, TextReader::line_number)
    }

    /// Adds the place to a fault in the line that file `index` gave last.
    pub fn locate(&self, index: usize, fault: Fault) -> InputError {
        match self.readers.get(index) {
            Some(reader) => reader.locate(fault),
            None => fault.at(format!("file {}", index + 1), self.line_number()),
        }
    }

    /// Reads all files to their end and reports their lengths.
    fn unequal(&mut self) -> Result<InputError> {
        for reader in &mut self.readers {
            while reader.next_line()?.is_some() {}
        }
        let shortest = self.readers.iter().min_by_key(|reader| reader.line_number());
        let Some(shortest) = shortest else { return Ok(self.locate(0, Fault::new(0, "nothing", "files"))) };
        let others: Vec<String> = self
            .readers
            .iter()
            .filter(|reader| reader.line_number() != shortest.line_number())
            .map(|reader| format!("{} has {}", reader.name(), reader.line_number()))
            .collect();
        let found = format!("the end after {} lines", shortest.line_number());
        let fault = Fault::new(0, found, format!("as many lines as in the others ({})", others.join(", ")))
            .advise("look for a line that is missing or broken in two");
        Ok(fault.at(shortest.name(), shortest.line_number().max(1)))
    }
}

/// The two sides of a line in the format of `fast_align`: `source ||| target`.
pub fn split_pair(line: &str) -> std::result::Result<(&str, &str), Fault> {
    const BAR: &str = "|||";
    // The bar must be a field of its own: words may contain it.
    let is_bar = |&at: &usize| {
        let (before, after) = (&line[..at], &line[at + BAR.len()..]);
        (before.is_empty() || before.ends_with([' ', '\t']))
            && (after.is_empty() || after.starts_with([' ', '\t']))
    };
    let mut bars = line.match_indices(BAR).map(|(at, _)| at).filter(is_bar);
    match (bars.next(), bars.next()) {
        (Some(at), None) => Ok((line[..at].trim_ascii(), line[at + BAR.len()..].trim_ascii())),
        (Some(_), Some(second)) => Err(Fault::at_byte(line, second, "a second |||", "source ||| target")),
        (None, _) => Err(Fault::new(0, "no |||", "source ||| target")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn reader(files: &[(&str, &str)]) -> ParallelReader {
        ParallelReader::new(files.iter().map(|&(name, text)| TextReader::from_text(name, text)).collect())
    }

    fn last(mut reader: ParallelReader) -> Result<u64> {
        while reader.next_lines()?.is_some() {}
        Ok(reader.line_number())
    }

    #[test]
    fn lines_come_together_and_empty_ones_count() {
        let mut reader = reader(&[("a", "1\n\n3"), ("b", "x\ny\nz\n")]);
        let mut seen = Vec::new();
        while let Some(lines) = reader.next_lines().unwrap() {
            seen.push(lines.join("|"));
        }
        assert_eq!(seen, ["1|x", "|y", "3|z"]);
        assert_eq!(reader.line_number(), 3);
    }

    #[test]
    fn unequal_lengths_are_reported_with_all_lengths() {
        let error = last(reader(&[("a", "1\n2\n3\n4\n"), ("b", "1\n2\n"), ("c", "1\n2\n3\n")])).unwrap_err();
        assert_eq!(
            error.to_string(),
            "b:2: found the end after 2 lines, expected as many lines as in the others (a has 4, c has 3); \
             look for a line that is missing or broken in two"
        );
        let error = last(reader(&[("a", ""), ("b", "1\n")])).unwrap_err().to_string();
        assert!(error.starts_with("a:1: found the end after 0 lines"), "{error}");
    }

    #[test]
    fn nothing_to_read_is_no_error() {
        assert_eq!(last(reader(&[])).unwrap(), 0);
        assert_eq!(last(reader(&[("a", ""), ("b", "")])).unwrap(), 0);
    }

    #[test]
    fn bad_bytes_are_named_with_file_line_and_column() {
        let good = TextReader::from_text("good", "a\nb\n");
        let bad = TextReader::from_reader("bad", Cursor::new(b"a\nxy\xff\n".to_vec()));
        let error = last(ParallelReader::new(vec![good, bad])).unwrap_err().to_string();
        assert!(error.starts_with("bad:2:3: found the byte 0xff"), "{error}");
    }

    #[test]
    fn files_are_opened_and_missing_ones_named() {
        let dir = tempfile::tempdir().unwrap();
        let paths = ["a", "b"].map(|name| dir.path().join(name));
        std::fs::write(&paths[0], "1\n2\n").unwrap();
        let error = ParallelReader::open(&paths).unwrap_err().to_string();
        assert!(error.contains("b: cannot open"), "{error}");
        std::fs::write(&paths[1], "1\n2\n").unwrap();
        assert_eq!(last(ParallelReader::open(&paths).unwrap()).unwrap(), 2);
        let error = ParallelReader::open(&["-", "x", "-"]).unwrap_err().to_string();
        assert!(error.contains("standard input more than once"), "{error}");
    }

    #[test]
    fn a_fault_gets_the_place_of_its_file() {
        let mut reader = reader(&[("a", "1\n2\n"), ("b", "x\ny\n")]);
        reader.next_lines().unwrap();
        reader.next_lines().unwrap();
        let error = reader.locate(1, Fault::new(3, "q", "r"));
        assert_eq!(error.to_string(), "b:2:3: found q, expected r");
    }

    #[test]
    fn pairs_split_at_a_bar_of_its_own() {
        assert_eq!(split_pair("a b ||| c").unwrap(), ("a b", "c"));
        assert_eq!(split_pair("a|||b |||").unwrap(), ("a|||b", ""));
        assert_eq!(split_pair("a b").unwrap_err().found, "no |||");
        assert_eq!(split_pair("新 ||| b ||| c").unwrap_err().column, 9);
    }
}
