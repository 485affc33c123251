//! The training text inside a model: what a rule was learnt from, word for word.
//!
//! Rules remember up to three lines that they were learnt from (`sylvan_rules::RuleNotes::lines`). Those
//! numbers count the lines that training kept; people have the files that they gave, so each line comes with
//! its number there.

use std::path::Path;

use sylvan_base::{Fault, InputError, Result};
use sylvan_store::{Container, Lines, LinesWriter, Name, TextReader};

/// A pair that rules were learnt from.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct TrainingLine {
    /// Its number in the files that training was given, counted from 1.
    pub number: u64,
    /// Its source words, separated by spaces.
    pub source: String,
    /// Its target words, separated by spaces.
    pub target: String,
}

impl TrainingLine {
    fn parse(text: &str) -> Option<Self> {
        let mut columns = text.split('\t');
        let number = columns.next()?.parse().ok()?;
        let (source, target) = (columns.next()?.to_string(), columns.next()?.to_string());
        Some(Self { number, source, target })
    }
}

/// All pairs that rules were learnt from.
#[derive(Debug)]
pub struct TrainingLines(Lines);

impl TrainingLines {
    /// Opens the lines of a model.
    pub(crate) fn inside(file: &Container, section: Name) -> Result<Self> {
        Lines::inside(file, section).map(Self)
    }

    /// A pair by its number among those that were kept, counted from 1, as rules store it; `None` if there is
    /// none.
    pub fn get(&self, kept: u64) -> Result<Option<TrainingLine>> {
        let Some(index) = kept.checked_sub(1) else { return Ok(None) };
        Ok(self.0.get(index)?.and_then(|text| TrainingLine::parse(&text)))
    }

    /// Visits all pairs in order.
    pub(crate) fn each<E: From<InputError>>(
        &self,
        mut visit: impl FnMut(&TrainingLine) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        self.0.each(|text| TrainingLine::parse(text).map_or(Ok(()), |line| visit(&line)))
    }

    /// The number among kept pairs of the pair with this number in the files that training was given.
    pub fn kept(&self, number: u64) -> Result<Option<u64>> {
        // Numbers ascend.
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.get(middle + 1)? {
                Some(line) if line.number == number => return Ok(Some(middle + 1)),
                Some(line) if line.number < number => low = middle + 1,
                _ => high = middle,
            }
        }
        Ok(None)
    }

    /// How many pairs there are.
    pub fn len(&self) -> u64 {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads everything.
    pub(crate) fn verify(&self) -> Result<()> {
        self.0.verify()
    }
}

/// Writes the training text for a model: the words that were kept, and from `dropped` (as the check wrote it: first
/// line, last line, fate, ..) the numbers that they had before.
pub fn write_lines(source: &Path, target: &Path, dropped: Option<&Path>, out: &Path) -> Result<()> {
    let mut gaps = match dropped {
        Some(path) => dropped_lines(path)?,
        None => Vec::new(),
    };
    gaps.sort_unstable();
    let mut gaps = gaps.into_iter().peekable();
    let mut sides = [TextReader::open(source)?.tolerant(), TextReader::open(target)?.tolerant()];
    let mut writer = LinesWriter::create(out)?;
    let mut number = 0;
    let [source, target] = &mut sides;
    while let (Some(source), Some(target)) = (source.next_line()?, target.next_line()?) {
        number += 1;
        // Findings may overlap, so a gap can begin before the current line.
        while let Some((_, last)) = gaps.next_if(|&(first, _)| first <= number) {
            number = number.max(last + 1);
        }
        let words = |side: &str| side.split_whitespace().collect::<Vec<_>>().join(" ");
        writer.push(&format!("{number}\t{}\t{}", words(source), words(target)))?;
    }
    writer.finish()
}

/// First and last lines of what was left out.
fn dropped_lines(path: &Path) -> Result<Vec<(u64, u64)>> {
    let mut reader = TextReader::open(path)?;
    let mut gaps = Vec::new();
    while let Some(line) = reader.next_line()? {
        let mut columns = line.split('\t');
        let mut number = || columns.next()?.parse::<u64>().ok();
        let (Some(first), Some(last), Some(fate)) = (number(), number(), columns.next()) else {
            let fault = Fault::new(1, format!("{line:?}"), "first line, last line, dropped or kept, ..");
            return Err(reader.locate(fault));
        };
        if fate == "dropped" {
            gaps.push((first, last));
        }
    }
    Ok(gaps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_the_numbers_that_they_had_before_others_were_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        // Of lines 1 to 9, 1, 3, 4, 5 and 8 are dropped.
        std::fs::write(path("s"), "a  2\nb 6\nc 7\nd 9\n").unwrap();
        std::fs::write(path("t"), "A\nB\nC\nD\n").unwrap();
        let log = "8\t8\tdropped\tx\t\n3\t5\tdropped\tx\t\n1\t1\tdropped\tx\t\n2\t9\tkept\ty\t\n4\t5\tdropped\tz\t\n";
        std::fs::write(path("log"), log).unwrap();
        write_lines(&path("s"), &path("t"), Some(&path("log")), &path("out")).unwrap();
        let lines = TrainingLines(Lines::open(&path("out")).unwrap());
        let got: Vec<TrainingLine> = (1..=4).map(|line| lines.get(line).unwrap().unwrap()).collect();
        assert_eq!(got.iter().map(|line| line.number).collect::<Vec<_>>(), [2, 6, 7, 9]);
        assert_eq!((got[0].source.as_str(), got[3].target.as_str()), ("a 2", "D"));
        assert_eq!((lines.get(0).unwrap(), lines.get(5).unwrap()), (None, None));
        let kept: Vec<Option<u64>> = (1..=10).map(|number| lines.kept(number).unwrap()).collect();
        let numbers = [None, Some(1), None, None, None, Some(2), Some(3), None, Some(4), None];
        assert_eq!(kept, numbers);
    }
}
