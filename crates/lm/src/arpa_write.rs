//! Writing ARPA text.

use std::convert::Infallible;
use std::f64::consts::LN_10;
use std::fmt::Write;

use sylvan_base::Result;
use sylvan_store::Output;

use crate::Lm;
use crate::store::Node;

impl Lm {
    /// Writes the model as ARPA text. Reading it back gives the same floats.
    pub fn write_arpa(&self, out: &mut Output) -> Result<()> {
        self.arpa_lines(|line| out.line(line))
    }

    /// The model as ARPA text, for models that are small.
    pub fn arpa_text(&self) -> String {
        let mut text = String::new();
        let put = |line: &str| {
            text.push_str(line);
            text.push('\n');
            Ok::<(), Infallible>(())
        };
        match self.arpa_lines(put) {
            Ok(()) => text,
            Err(never) => match never {},
        }
    }

    fn arpa_lines<E>(
        &self,
        mut put: impl FnMut(&str) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        put("\\data\\")?;
        for n in 1..=self.order() {
            put(&format!("ngram {n}={}", self.count(n)))?;
        }
        let (mut line, mut words) = (String::new(), Vec::new());
        for n in 1..=self.order() {
            put("")?;
            put(&format!("\\{n}-grams:"))?;
            for (node, gram) in (0..).map(Node).zip(self.store().grams(n)) {
                if !gram.is_stated() {
                    continue;
                }
                line.clear();
                push_log10(&mut line, gram.prob);
                self.store().words(n, node, &mut words);
                for (index, &word) in words.iter().enumerate() {
                    line.push(if index == 0 { '\t' } else { ' ' });
                    line.push_str(self.text(word));
                }
                if n < self.order() {
                    line.push('\t');
                    push_log10(&mut line, gram.backoff);
                }
                put(&line)?;
            }
        }
        put("")?;
        put("\\end\\")
    }
}

/// Natural to base 10. Single precision is what such files usually have, and mostly enough to come back to the
/// same natural logarithm; where it is not, more digits are written.
fn push_log10(out: &mut String, ln: f32) {
    let exact = f64::from(ln) / LN_10;
    let short = exact as f32;
    let start = out.len();
    let _ = write!(out, "{short}");
    let back = out[start..].parse::<f64>().map(to_ln);
    if back != Ok(ln) {
        out.truncate(start);
        let _ = write!(out, "{exact}");
    }
}

/// Base 10 to natural, as it is done once for every number of a file.
#[inline]
pub(crate) fn to_ln(log10: f64) -> f32 {
    (log10 * LN_10) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(ln in -300.0f32..10.0) {
            let mut text = String::new();
            push_log10(&mut text, ln);
            prop_assert_eq!(to_ln(text.parse().unwrap()), ln);
        }
    }
}
