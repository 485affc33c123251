//! Word classes: words that stand in the same places, so that a model of classes knows what follows rare words.
//!
//! ```text
//! lines --learn--> Classes --write--> text: word, tab, class        learn.rs: the exchange algorithm
//! lines --line--> lines of classes --Estimator--> Lm --with_classes--> a model that is asked about words
//! ```

mod learn;

use std::path::Path;

use sylvan_base::{Fault, HashMap, Result};
use sylvan_store::{Output, TextReader};

pub use learn::{ClassConfig, ClassLearner};

/// The class of each word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Classes {
    of: HashMap<Box<str>, u32>,
    /// The words, those of a class together.
    words: Vec<Box<str>>,
    count: u32,
}

impl Classes {
    /// The classes of words, given in the order in which they are to be written.
    fn new(words: Vec<(Box<str>, u32)>) -> Self {
        let count = words.iter().map(|&(_, class)| class + 1).max().unwrap_or(0);
        let of = words.iter().cloned().collect();
        Self { of, words: words.into_iter().map(|(word, _)| word).collect(), count }
    }

    /// How many classes there are.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The class of a word that was seen when they were learnt.
    pub fn of(&self, word: &str) -> Option<u32> {
        self.of.get(word).copied()
    }

    /// The words and their classes, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        self.words.iter().map(|word| (&**word, self.of[word]))
    }

    /// The classes of the words of a line; `<unk>` stands for the class of other words.
    pub fn line(&self, line: &str) -> String {
        let words = line.split_ascii_whitespace().map(|word| match self.of(word) {
            Some(class) => class.to_string(),
            None => crate::UNKNOWN.to_string(),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// Reads lines of a word, a tab and the number of its class.
    pub fn read(path: &Path) -> Result<Self> {
        let mut reader = TextReader::open(path)?;
        let name = path.display().to_string();
        let mut words: Vec<(Box<str>, u32)> = Vec::new();
        let mut known: HashMap<Box<str>, u64> = HashMap::default();
        loop {
            let number = reader.line_number() + 1;
            let Some(line) = reader.next_line()? else { break };
            let wrong = |fault: Fault| fault.at(name.clone(), number);
            let fields = line.split_once('\t').filter(|(word, _)| !word.is_empty() && !word.contains(' '));
            let class = fields.and_then(|(word, class)| Some((word, class.parse().ok()?)));
            let (word, class) = class.filter(|&(_, class)| class < MOST).ok_or_else(|| {
                wrong(Fault::new(0, format!("{line:?}"), format!("a word, a tab and a number below {MOST}")))
            })?;
            if let Some(first) = known.insert(word.into(), number) {
                let found = format!("{word:?} again, as in line {first}");
                return Err(wrong(Fault::new(0, found, "each word once")));
            }
            words.push((word.into(), class));
        }
        if words.is_empty() {
            let fault = Fault::new(0, "no words", "a word, a tab and the number of its class in each line");
            return Err(fault.advise("make such a file with `sylvan lm classes`").at(name, 1));
        }
        Ok(Self::new(words))
    }

    /// Writes what [`read`](Self::read) reads.
    pub fn write(&self, path: &Path) -> Result<()> {
        let mut out = Output::create(path)?;
        for (word, class) in self.iter() {
            out.line(&format!("{word}\t{class}"))?;
        }
        out.finish()
    }
}

/// More classes than this are words.
pub const MOST: u32 = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_come_back_from_their_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("classes");
        let classes = Classes::learn(["a x", "b x", "a y"], ClassConfig { count: 2, passes: 3 });
        classes.write(&path).unwrap();
        assert_eq!(Classes::read(&path).unwrap(), classes);
        assert_eq!(classes.line("a q x").split(' ').nth(1), Some("<unk>"));
        std::fs::write(&path, "a\t0\nb 1\n").unwrap();
        let error = Classes::read(&path).unwrap_err().to_string();
        assert!(error.contains(":2") && error.contains("a tab"), "{error}");
        std::fs::write(&path, "").unwrap();
        assert!(Classes::read(&path).unwrap_err().to_string().contains("no words"));
        std::fs::write(&path, "a\t0\na\t1\n").unwrap();
        assert!(Classes::read(&path).unwrap_err().to_string().contains("each word once"));
    }
}
