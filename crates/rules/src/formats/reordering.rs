//! Moses' lexicalised reordering tables: how phrase pairs stand to what is translated before and after them.
//!
//! ```text
//! auf der ||| on the ||| 0.6 0.2 0.2 0.4 0.4 0.2
//! ```
//!
//! Probabilities of monotone, swap and discontinuous, towards what is before and towards what is after: those of
//! `msd-bidirectional-fe`, whatever counts as a neighbour. Of left-to-right rules it has their phrase pairs: `[X]` stands
//! for a gap inside.

use sylvan_base::hash::content_hash;
use sylvan_base::{Fault, HashMap, HashSet, InputError, Result, Symbol, Vocab};
use sylvan_store::{Output, TextReader};

use super::line::{Fields, Parsed, fault_at, push, push_escaped, unescaped};
use super::moses::{KEPT, LOWEST};
use crate::features::ORIENTATIONS;
use crate::{Formalism, Grammar, Source, TargetSide};

const EXPECTED: &str = "source ||| target ||| six probabilities: mono swap other, before and after";

/// What a reordering table says about each phrase pair: natural logarithms, by a hash of both sides' text, since tables
/// are large and the text of each pair is in the phrase table already.
#[derive(Debug, Default)]
pub(crate) struct ReorderingTable {
    entries: HashMap<[u64; 2], ([f32; 6], bool)>,
}

/// 128 bits: two of a billion pairs are alike by chance in fewer than one of 10^20 tables.
fn key(source: &str, target: &str) -> [u64; 2] {
    let text = format!("{source}\t{target}");
    let first = content_hash(text.as_bytes());
    [first, content_hash(format!("{first:x}\t{text}").as_bytes())]
}

impl ReorderingTable {
    /// Reads a table.
    pub(crate) fn read(reader: &mut TextReader) -> Result<Self> {
        let mut table = Self::default();
        while let Some(line) = reader.next_line()? {
            if line.trim().is_empty() {
                continue;
            }
            let (sides, values) = match parse(line) {
                Ok(parsed) => parsed,
                Err(fault) => {
                    let fault = fault.advise("is this a Moses reordering table of msd-bidirectional-fe?");
                    return Err(reader.locate(fault));
                }
            };
            table.entries.entry(key(&sides.0, &sides.1)).or_insert((values, false));
        }
        Ok(table)
    }

    /// The values of a phrase pair, if the table has it.
    pub(crate) fn find(
        &mut self,
        source: &[Source],
        target: &[TargetSide],
        vocab: &Vocab,
    ) -> Option<[f32; 6]> {
        let (source, target) = phrase(source, target);
        let text = |words: &[Option<Symbol>]| {
            words.iter().map(|word| word.map_or(GAP, |word| vocab.text(word))).collect::<Vec<_>>().join(" ")
        };
        let entry = self.entries.get_mut(&key(&text(&source), &text(&target)))?;
        entry.1 = true;
        Some(entry.0)
    }

    /// How many entries nothing asked for.
    pub(crate) fn unused(&self) -> usize {
        self.entries.values().filter(|(_, used)| !used).count()
    }
}

/// Stands for a gap inside a source side.
const GAP: &str = "[X]";

/// The phrase pair of a rule: the source side without gaps at its ends, gaps inside are `None`, and the target words.
fn phrase(source: &[Source], target: &[TargetSide]) -> (Vec<Option<Symbol>>, Vec<Option<Symbol>>) {
    let source = source.iter().filter_map(|token| match token {
        Source::Word(word) => Some(Some(*word)),
        Source::Var(_) => Some(None),
        Source::Open(..) => None,
    });
    let mut source: Vec<Option<Symbol>> = source.skip_while(Option::is_none).collect();
    source.truncate(source.iter().rposition(Option::is_some).map_or(0, |last| last + 1));
    let target = target.iter().filter_map(|symbol| match symbol {
        TargetSide::Word(word) => Some(Some(*word)),
        TargetSide::Var(_) => None,
    });
    (source, target.collect())
}

fn parse(line: &str) -> Parsed<((String, String), [f32; 6])> {
    let mut fields = Fields::new(line);
    let mut side = || -> Parsed<String> {
        let words = fields.need(EXPECTED)?.split_ascii_whitespace();
        Ok(words.map(|word| unescaped(word).into_owned()).collect::<Vec<_>>().join(" "))
    };
    let sides = (side()?, side()?);
    let scores = fields.need(EXPECTED)?;
    let mut values = [0.0; 6];
    let mut count = 0;
    for field in scores.split_ascii_whitespace() {
        let score = field.parse::<f64>().ok().filter(|score| (0.0..=1.0).contains(score));
        let score = score.ok_or_else(|| fault_at(line, field, "a probability"))?;
        if let Some(value) = values.get_mut(count) {
            *value = if score == 0.0 { LOWEST as f32 } else { libm::log(score) as f32 };
        }
        count += 1;
    }
    if count != values.len() {
        return Err(Fault::new(0, format!("{count} probabilities"), EXPECTED));
    }
    Ok((sides, values))
}

/// Writes the orientations of all phrase pairs of a table.
pub fn export_reordering(grammar: &Grammar, vocab: &Vocab, out: &mut Output) -> Result<u64> {
    if grammar.meta().formalism != Formalism::LrHiero {
        grammar.expect(Formalism::Phrase)?;
    }
    let places: Option<Vec<usize>> = ORIENTATIONS
        .iter()
        .map(|name| grammar.feature_names().iter().position(|known| known == name))
        .collect();
    let Some(places) = places else {
        return Err(InputError::Format {
            path: grammar.path(),
            found: "rules without orientations".into(),
            expected: format!("the features {} and so on", ORIENTATIONS[0]),
            advice: "learn them with `sylvan grammar extract --kind phrase --orientation word`, or `--kind lr-hiero \
                     --reordering lrm`"
                .into(),
        });
    };
    let mut line = String::new();
    let mut written = 0;
    // Rules that differ only in gaps around them have one phrase pair.
    let mut seen = HashSet::default();
    for (source, ids) in grammar.sources() {
        let sides = grammar.source(source).unwrap_or_default();
        for id in ids {
            line.clear();
            let (source, target) = phrase(&sides, grammar.rule(id).target());
            let write = |line: &mut String, symbol: &Option<Symbol>| match symbol {
                Some(word) => push_escaped(line, vocab.text(*word), KEPT),
                None => line.push_str(GAP),
            };
            for symbol in &source {
                write(&mut line, symbol);
                line.push(' ');
            }
            line.push_str("|||");
            for symbol in &target {
                line.push(' ');
                write(&mut line, symbol);
            }
            if grammar.meta().formalism == Formalism::LrHiero && !seen.insert((source, target)) {
                continue;
            }
            line.push_str(" |||");
            let values = grammar.features(id);
            places
                .iter()
                .for_each(|&place| push(&mut line, format_args!(" {}", libm::exp(f64::from(values[place])))));
            out.line(&line)?;
            written += 1;
        }
    }
    Ok(written)
}
