//! Writing ARPA text.

use std::convert::Infallible;
use std::f64::consts::LN_10;
use std::fmt::Write;

use sylvan_base::{Id, InputError, Result};
use sylvan_store::Output;

use crate::hash::{cursor_of, key};
use crate::layout::Layout;
use crate::query::AnyLayout;
use crate::{Lm, WordId};

impl Lm {
    /// Writes the model as ARPA text. Reading it back gives the same floats. A compiled model of the layout `hash`
    /// does not know the words of its n-grams and cannot be written.
    pub fn write_arpa(&self, out: &mut Output) -> Result<()> {
        if !self.is_listed() {
            return Err(InputError::Format {
                path: self.file.as_ref().map(|file| file.path().to_path_buf()).unwrap_or_default(),
                found: "a language model that keeps hashes of its n-grams".into(),
                expected: "one that keeps their words".into(),
                advice: "give the ARPA file or a model compiled with --layout trie".into(),
            });
        }
        self.arpa_lines(|line| out.line(line))
    }

    /// The model as ARPA text, for models that are small. Empty where [`write_arpa`](Self::write_arpa) fails.
    pub fn arpa_text(&self) -> String {
        let mut text = String::new();
        if !self.is_listed() {
            return text;
        }
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
            put(&format!("ngram {n}={}", self.written(n)))?;
        }
        let mut line = String::new();
        for n in 1..=self.order() {
            put("")?;
            put(&format!("\\{n}-grams:"))?;
            // The first error stops the writing; the visits that follow do nothing.
            let mut result = Ok(());
            self.visit(n, |words, prob, backoff| {
                if result.is_err() {
                    return;
                }
                line.clear();
                push_log10(&mut line, prob);
                for (index, &word) in words.iter().enumerate() {
                    line.push(if index == 0 { '\t' } else { ' ' });
                    line.push_str(self.text(word));
                }
                if n < self.order() {
                    line.push('\t');
                    push_log10(&mut line, backoff);
                }
                result = put(&line);
            });
            result?;
        }
        put("")?;
        put("\\end\\")
    }

    /// How many n-grams are written: those that the model states. A trie does not know its blanks from the others
    /// and states them too, which changes no score.
    fn written(&self, n: usize) -> usize {
        let mut count = 0;
        self.visit(n, |_, _, _| count += 1);
        count
    }

    /// Visits the n-grams of length `n`, oldest word first, with probability and back-off weight.
    fn visit(&self, n: usize, mut visit: impl FnMut(&[WordId], f32, f32)) {
        match (&self.layout, &self.list) {
            (AnyLayout::Trie(layout), _) => layout.for_each(n, |words, prob, backoff| {
                // A probability above 1 is a blank after a weight above 1; no file may state it.
                if prob <= 0.0 {
                    visit(words, prob, backoff);
                }
            }),
            (AnyLayout::Hash(layout), _) if n == 1 => {
                for index in 0..self.vocab_len() {
                    let word = WordId::from_index(index);
                    let gram = layout.word(word);
                    visit(&[word], gram.prob, gram.backoff);
                }
            }
            (AnyLayout::Hash(layout), Some(list)) => {
                for words in list.grams(n).take(list.stated(n)) {
                    let key = key(cursor_of(words));
                    if let Some((_, gram)) = layout.middle.get(n - 2).and_then(|table| table.find(key)) {
                        visit(words, gram.prob, gram.backoff);
                    } else if let Some((_, prob)) = layout.longest.as_ref().and_then(|table| table.find(key))
                    {
                        visit(words, prob, 0.0);
                    }
                }
            }
            (AnyLayout::Hash(_), None) => {}
        }
    }
}

/// Natural to base 10. Single precision is what such files usually have, and mostly enough to come back to the
/// same natural logarithm; where it is not, more digits are written.
fn push_log10(out: &mut String, ln: f32) {
    // Adding 0 takes the sign from a zero.
    let exact = f64::from(ln) / LN_10 + 0.0;
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
