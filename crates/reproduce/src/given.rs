//! Weights that an earlier run tuned, here or elsewhere: numbers, by what they are weights of.
//!
//! Tuning takes most of the time of an experiment, and a model's parts are the same bytes wherever they are learnt. So each
//! report leaves its weights beside it, and a run that is given them searches and scores at once.

use std::collections::BTreeMap;
use std::path::Path;

use sylvan_base::{Fault, Result};
use sylvan_store::{Output, TextReader};

/// To be raised with every change to what is learnt, tuned or found, so that nothing is read that an older program made.
pub(crate) const RESULTS: u32 = 2;

/// What is known of tuned weights: how they were found, and `name=value` for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tuned {
    pub(crate) told: String,
    pub(crate) values: Vec<String>,
}

/// Tuned weights, by the system and the search that they are for.
pub(crate) type Known = BTreeMap<u64, Tuned>;

/// The first line: a program that finds something else has other weights.
fn header() -> String {
    format!("# tuned weights, results {RESULTS}")
}

/// Reads lines of a number in hexadecimal digits, how the weights were found, and the weights, between tabs.
pub(crate) fn read(path: &Path) -> Result<Known> {
    let mut reader = TextReader::open(path)?;
    let name = reader.name().to_string();
    let mut known = Known::new();
    let first = reader.next_line()?.unwrap_or_default();
    if first != header() {
        return Err(Fault::new(0, format!("{first:?}"), format!("{:?}", header()))
            .advise("give a file that this version of `sylvan reproduce` wrote: NAME.weights beside a report")
            .at(name, 1));
    }
    loop {
        let number = reader.line_number() + 1;
        let Some(line) = reader.next_line()? else { return Ok(known) };
        let mut fields = line.split('\t');
        let key = fields.next().and_then(|key| u64::from_str_radix(key, 16).ok());
        let (Some(key), Some(told), Some(values), None) = (key, fields.next(), fields.next(), fields.next())
        else {
            let expected = "a number, how weights were found, and weights, between tabs";
            return Err(Fault::new(0, format!("{line:?}"), expected).at(name, number));
        };
        let values = values.split(' ').map(str::to_string).collect();
        known.insert(key, Tuned { told: told.to_string(), values });
    }
}

/// Writes what [`read`] reads.
pub(crate) fn write(path: &Path, known: &Known) -> Result<()> {
    let mut out = Output::create(path)?;
    out.line(&header())?;
    for (key, Tuned { told, values }) in known {
        out.line(&format!("{key:016x}\t{told}\t{}", values.join(" ")))?;
    }
    out.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_come_back_from_their_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("w");
        let tuned = |told: &str| Tuned { told: told.into(), values: vec!["lm=0.5".into(), "a=-1".into()] };
        let known: Known = [(7, tuned("BLEU 1, seed 1")), (u64::MAX, tuned("seed 2"))].into();
        write(&path, &known).unwrap();
        assert_eq!(read(&path).unwrap(), known);
        std::fs::write(&path, format!("{}\n7\ttold\n", header())).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("w:2") && error.contains("between tabs"), "{error}");
        std::fs::write(&path, "# tuned weights, results 0\n").unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("w:1") && error.contains(&header()), "{error}");
    }
}
