//! Tables of other toolkits, as text: one rule per line, read and written.

mod brackets;
mod cdec;
mod line;
mod moses;
mod travatar;

use sylvan_base::{Fault, Result, Vocab};
use sylvan_store::{Output, TextReader};

use crate::{Grammar, Rule, RuleCount, WordLink};
pub use travatar::read_travatar;
pub(crate) use travatar::{count_line, parse_count_line};

/// A text format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFormat {
    /// Travatar's tables: all of a rule.
    Travatar,
    /// Moses' rule tables with source trees: four scores, links and counts. Features beyond those of this crate lose
    /// their names.
    Moses,
    /// cdec's tree-to-string grammars: all features and links; counts are lost.
    Cdec,
    /// Joshua's grammars, which cdec reads too: flat sides under the label of the root, so that trees of more than one
    /// level lose their inside.
    Joshua,
}

impl TextFormat {
    /// The name of the toolkit.
    pub fn name(self) -> &'static str {
        match self {
            Self::Travatar => "Travatar",
            Self::Moses => "Moses",
            Self::Cdec => "cdec",
            Self::Joshua => "Joshua",
        }
    }
}

/// One line of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct TextRule {
    /// The rule.
    pub rule: Rule,
    /// Feature names, as numbers of [`RuleReader::names`], and values.
    pub features: Vec<(usize, f32)>,
    /// How often it was seen, if the table says so.
    pub count: RuleCount,
    /// Links between words.
    pub links: Vec<WordLink>,
}

/// A table keeps a value of each feature for each rule, so there is an end to names.
const MOST_FEATURES: usize = 1_000;

/// Feature names in the order in which they were met.
#[derive(Debug, Default)]
struct Names(Vec<String>);

impl Names {
    fn number(&mut self, name: &str) -> usize {
        self.0.iter().position(|known| known == name).unwrap_or_else(|| {
            // One more than allowed is kept, which the reader finds.
            if self.0.len() <= MOST_FEATURES {
                self.0.push(name.to_string());
            }
            self.0.len() - 1
        })
    }
}

/// Reads a table line by line.
#[derive(Debug)]
pub struct RuleReader {
    format: TextFormat,
    names: Names,
}

impl RuleReader {
    /// A reader for one table.
    pub fn new(format: TextFormat) -> Self {
        Self { format, names: Names::default() }
    }

    /// The feature names that were met so far, in that order.
    pub fn names(&self) -> &[String] {
        &self.names.0
    }

    /// The next rule, or `None` at the end. Empty lines are skipped, and so are comments in formats that have them.
    pub fn next_rule(&mut self, reader: &mut TextReader, vocab: &mut Vocab) -> Result<Option<TextRule>> {
        let comments = matches!(self.format, TextFormat::Cdec | TextFormat::Joshua);
        while let Some(line) = reader.next_line()? {
            if line.trim().is_empty() || (comments && line.starts_with('#')) {
                continue;
            }
            let parsed = match self.format {
                TextFormat::Travatar => travatar::parse(line, &mut self.names, vocab),
                TextFormat::Moses => moses::parse(line, &mut self.names, vocab),
                TextFormat::Cdec => cdec::parse(line, &mut self.names, vocab),
                TextFormat::Joshua => cdec::parse_flat(line, &mut self.names, vocab),
            };
            if self.names.0.len() > MOST_FEATURES {
                let found = format!("more than {MOST_FEATURES} names of features");
                let fault = Fault::new(0, found, "a table whose rules have the same features");
                return Err(reader.locate(fault));
            }
            return parsed.map(Some).map_err(|fault| {
                reader.locate(fault.advise(format!("is this a {} rule table?", self.format.name())))
            });
        }
        Ok(None)
    }
}

/// Writes all rules of a table, in the order of the table.
pub fn export(grammar: &Grammar, vocab: &Vocab, format: TextFormat, out: &mut Output) -> Result<u64> {
    let write = match format {
        TextFormat::Travatar => travatar::write,
        TextFormat::Moses => moses::write,
        TextFormat::Cdec => cdec::write,
        TextFormat::Joshua => cdec::write_flat,
    };
    let mut line = String::new();
    let mut rules = 0;
    for (_, ids) in grammar.sources() {
        for id in ids {
            line.clear();
            write(grammar, id, &grammar.rule(id), &grammar.notes(id), vocab, &mut line);
            out.line(&line)?;
            rules += 1;
        }
    }
    Ok(rules)
}
