//! `sylvan grammar filter`: a smaller rule table.

use std::path::PathBuf;

use clap::Args;
use sylvan_rules::{Filter as RuleFilter, Formalism, Grammar};
use sylvan_store::TextReader;
use sylvan_trees::penn::{PennOptions, PennReader};

use super::import::say;
use crate::outputs::OutPath;

/// Writes a table with only the rules that given trees or sentences can use, or that were seen often enough.
///
/// A table filtered for some input translates it exactly as the whole table does.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sylvan grammar filter enja.rules --out test.rules --trees test.en.tree --min-count 2"
)]
pub(crate) struct Filter {
    /// The table.
    #[arg(value_name = "RULES")]
    rules: PathBuf,
    /// Where the smaller table goes.
    #[arg(long, value_name = "RULES")]
    out: OutPath,
    /// Keep rules that match somewhere in these trees, one per line; for rules of trees.
    #[arg(long, value_name = "FILE")]
    trees: Option<PathBuf>,
    /// Keep rules that match somewhere in these sentences, one per line, words separated by spaces; for phrase pairs
    /// and Hiero rules.
    #[arg(long, value_name = "FILE", conflicts_with = "trees")]
    source: Option<PathBuf>,
    /// Keep rules seen at least this often.
    #[arg(long, value_name = "COUNT", default_value_t = 0.0)]
    min_count: f64,
    /// Keep this many target sides per source side, the most frequent; 0 keeps all.
    #[arg(long, value_name = "N", default_value_t = 0)]
    per_source: u32,
}

impl Filter {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let grammar = Grammar::open(&self.rules)?;
        let mut filter = RuleFilter::new(self.min_count, self.per_source);
        if let Some(path) = &self.source {
            anyhow::ensure!(
                grammar.meta().formalism != Formalism::Tree,
                "{}: found rules of kind tree, expected phrase pairs or Hiero rules for --source; give --trees",
                self.rules.display()
            );
            filter.only_marked(&grammar);
            let mut vocab = grammar.vocab();
            let mut reader = TextReader::open(path)?;
            while let Some(line) = reader.next_line()? {
                let words = vocab.intern_words(line);
                filter.mark_sentence(&grammar, &words);
            }
        }
        if let Some(path) = &self.trees {
            grammar.expect(Formalism::Tree)?;
            filter.only_marked(&grammar);
            let mut vocab = grammar.vocab();
            let mut reader = PennReader::open(path, PennOptions::as_is())?;
            while let Some(tree) = reader.next_tree(&mut vocab)? {
                let prepared = tree.and_then(|tree| grammar.meta().preprocessing.apply(tree, &mut vocab));
                if let Some(tree) = prepared {
                    filter.mark(&grammar, &tree);
                }
            }
        }
        let kept = grammar.write_filtered(&self.out, &filter)?;
        say(&format!("{kept} of {} rules kept", grammar.len()));
        Ok(())
    }
}
