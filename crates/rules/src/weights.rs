//! Named weights.

use sylvan_base::limits::WEIGHT;
use sylvan_base::{Fault, Result};
use sylvan_store::TextReader;

/// Named weights; a name that is not there weighs 0.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Weights {
    values: Vec<(String, f64)>,
}

impl Weights {
    /// Weights from names and values. A repeated name keeps its last value.
    pub fn of<'n>(values: impl IntoIterator<Item = (&'n str, f64)>) -> Self {
        let mut weights = Self::default();
        for (name, value) in values {
            weights.set(name, value);
        }
        weights
    }

    /// Sets a weight.
    pub fn set(&mut self, name: &str, value: f64) {
        match self.values.iter_mut().find(|(known, _)| known == name) {
            Some(entry) => entry.1 = value,
            None => self.values.push((name.to_string(), value)),
        }
    }

    /// A weight.
    pub fn get(&self, name: &str) -> f64 {
        self.values.iter().find(|(known, _)| known == name).map_or(0.0, |&(_, value)| value)
    }

    /// The weight of a feature of rule layer `layer`: under its full name (`tm0.p_ef`) or else under its bare one.
    pub fn of_layer(&self, layer: usize, name: &str) -> f64 {
        let full = format!("tm{layer}.{name}");
        let named =
            |wanted: &str| self.values.iter().find(|(known, _)| known == wanted).map(|&(_, value)| value);
        named(&full).or_else(|| named(name)).unwrap_or(0.0)
    }

    /// Names and values in the order in which they were first set.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.values.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// Reads `name=value` lines; `#` starts a comment.
    pub fn read(reader: &mut TextReader) -> Result<Self> {
        let mut weights = Self::default();
        while let Some(line) = reader.next_line()? {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let parsed = line.split_once('=').and_then(|(name, value)| {
                let value: f64 = value.trim().parse().ok()?;
                (value.abs() <= WEIGHT).then(|| (name.trim().to_string(), value))
            });
            let Some((name, value)) = parsed else {
                let fault =
                    Fault::new(1, format!("{line:?}"), format!("name=value with a number up to {WEIGHT:e}"))
                        .advise("write one weight per line, such as lm=0.5");
                return Err(reader.locate(fault));
            };
            weights.set(&name, value);
        }
        Ok(weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_that_no_score_survives_are_errors_and_long_lines_are_cut() {
        let read = |text: &str| Weights::read(&mut TextReader::from_text("w", text));
        assert_eq!(read("lm=-1e9\n# a comment\nx = 2").unwrap(), Weights::of([("lm", -1e9), ("x", 2.0)]));
        for weight in ["1e308", "-1e308", "1.1e9", "inf", "NaN", "1e999"] {
            let error = read(&format!("x=1\nlm={weight}\n")).unwrap_err().to_string();
            assert!(
                error.starts_with("w:2:1: found \"lm=") && error.contains("a number up to 1e9"),
                "{error}"
            );
        }
        let error = read(&"x".repeat(10_000_000)).unwrap_err().to_string();
        assert!(error.len() < 500, "{} bytes", error.len());
    }
}
