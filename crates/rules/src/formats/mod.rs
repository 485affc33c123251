//! Tables of other toolkits, as text: one rule per line, read and written.

mod brackets;
mod cdec;
mod kriya;
mod line;
mod moses;
mod reordering;
mod travatar;

use line::Fields;
use sylvan_base::{Fault, Result, Vocab};
use sylvan_store::{Output, TextReader};

use crate::{Formalism, Grammar, Rule, RuleCount, RuleId, RuleNotes, WordLink};
pub(crate) use reordering::ReorderingTable;
pub use reordering::export_reordering;
pub use travatar::read_travatar;
pub(crate) use travatar::{count_line, parse_count_line};

/// A text format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFormat {
    /// Travatar's tables: all of a rule.
    Travatar,
    /// Moses' rule tables with source trees, its hierarchical rule tables, its phrase tables: four scores, links and
    /// counts. Features beyond those of this crate lose their names.
    Moses,
    /// cdec's tree-to-string grammars, and its hierarchical ones: all features and links; counts are lost.
    Cdec,
    /// Joshua's grammars, which cdec reads too: flat sides under the label of the root, so that trees of more than one
    /// level lose their inside.
    Joshua,
    /// Tables of Kriya and its left-to-right decoder: four scores.
    Kriya,
}

impl TextFormat {
    /// The name of the toolkit.
    pub fn name(self) -> &'static str {
        match self {
            Self::Travatar => "Travatar",
            Self::Moses => "Moses",
            Self::Cdec => "cdec",
            Self::Joshua => "Joshua",
            Self::Kriya => "Kriya",
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
    formalism: Formalism,
    names: Names,
    glue: usize,
}

impl RuleReader {
    /// A reader for one table of rules for trees.
    pub fn new(format: TextFormat) -> Self {
        Self::of(format, Formalism::Tree)
    }

    /// A reader for one table of rules of some kind.
    pub fn of(format: TextFormat, formalism: Formalism) -> Self {
        Self { format, formalism, names: Names::default(), glue: 0 }
    }

    /// How many glue rules were skipped: those of Hiero grammars that have no words. Decoders have their own.
    pub fn glue(&self) -> usize {
        self.glue
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
            if matches!(self.formalism, Formalism::Hiero | Formalism::LrHiero) && is_glue(self.format, line) {
                self.glue += 1;
                continue;
            }
            let parse = match (self.format, self.formalism) {
                (TextFormat::Travatar, _) => travatar::parse,
                (TextFormat::Moses, Formalism::Phrase) => moses::parse_phrase,
                (TextFormat::Moses, _) => moses::parse,
                (TextFormat::Cdec, Formalism::Tree) => cdec::parse,
                (TextFormat::Cdec | TextFormat::Joshua, _) => cdec::parse_flat,
                (TextFormat::Kriya, _) => kriya::parse,
            };
            let parsed = parse(line, &mut self.names, vocab).and_then(|rule| {
                let checked = self.formalism.check(&rule.rule, vocab);
                checked.map_err(|expected| Fault::new(0, rule.rule.show(vocab), expected))?;
                Ok(rule)
            });
            if self.names.0.len() > MOST_FEATURES {
                let found = format!("more than {MOST_FEATURES} names of features");
                let fault = Fault::new(0, found, "a table whose rules have the same features");
                return Err(reader.locate(fault));
            }
            return parsed.map(Some).map_err(|fault| {
                let kind = match self.formalism {
                    Formalism::Tree => "rule table",
                    Formalism::Hiero => "table of Hiero rules (--kind hiero)",
                    Formalism::LrHiero => "table of left-to-right Hiero rules (--kind lr-hiero)",
                    Formalism::Phrase => "phrase table (--kind phrase)",
                };
                reader.locate(fault.advise(format!("is this a {} {kind}?", self.format.name())))
            });
        }
        Ok(None)
    }
}

/// Whether the source side of a line has nothing but variables and sentence boundaries.
fn is_glue(format: TextFormat, line: &str) -> bool {
    let field = match format {
        TextFormat::Travatar => return false,
        TextFormat::Moses | TextFormat::Kriya => 0,
        TextFormat::Cdec | TextFormat::Joshua => 1,
    };
    let Some(source) = Fields::new(line).nth(field) else { return false };
    let bare = |token: &str| {
        matches!(token, "<s>" | "</s>")
            || (token.starts_with('[') && token.ends_with(']'))
            || (format == TextFormat::Kriya && token.starts_with("X__"))
    };
    source.split_ascii_whitespace().all(bare) && !source.trim().is_empty()
}

type Write = fn(&Grammar, RuleId, &Rule, &RuleNotes, &Vocab, &mut String);

/// Writes all rules of a table, in the order of the table.
pub fn export(grammar: &Grammar, vocab: &Vocab, format: TextFormat, out: &mut Output) -> Result<u64> {
    let write: Write = match (format, grammar.meta().formalism) {
        (TextFormat::Travatar, _) => travatar::write,
        (TextFormat::Moses, Formalism::Tree) => moses::write,
        (TextFormat::Moses, Formalism::Hiero | Formalism::LrHiero) => moses::write_flat,
        (TextFormat::Moses, Formalism::Phrase) => moses::write_phrase,
        (TextFormat::Cdec, Formalism::Tree) => cdec::write,
        (TextFormat::Cdec | TextFormat::Joshua, _) => cdec::write_flat,
        (TextFormat::Kriya, _) => {
            if grammar.meta().formalism != Formalism::LrHiero {
                grammar.expect(Formalism::Hiero)?;
            }
            kriya::write
        }
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
