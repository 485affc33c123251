//! A table with fewer rules: those that some input can use, or that were seen often enough.

use std::path::Path;

use sylvan_base::{Id, Result};

use super::build::{RuleRecord, TableBuilder};
use super::file::TableFile;
use super::tokens::TokenInterner;
use super::{Grammar, RuleId, SourceId};

/// Which rules are kept.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only those whose source side is marked; all if there are no marks.
    marked: Option<Vec<bool>>,
    /// Only those seen at least this often; tables without counts keep all.
    min_count: f64,
    /// At most this many target sides per source side, the most frequent ones; 0 keeps all.
    per_source: u32,
    /// Only those that are marked, by id; all if there are no marks.
    rules: Option<Vec<bool>>,
}

impl Filter {
    /// Keeps rules seen at least `min_count` times, and of each source side the `per_source` most frequent.
    pub fn new(min_count: f64, per_source: u32) -> Self {
        Self { marked: None, min_count, per_source, rules: None }
    }

    /// Keeps the rules that are marked, by their ids.
    pub fn of_rules(keep: Vec<bool>) -> Self {
        Self { rules: Some(keep), ..Self::default() }
    }

    /// Keeps nothing but what will be marked.
    pub fn only_marked(&mut self, grammar: &Grammar) {
        self.marks(grammar);
    }

    /// A mark per source side; all unmarked at first.
    pub(crate) fn marks(&mut self, grammar: &Grammar) -> &mut [bool] {
        self.marked.get_or_insert_with(|| vec![false; grammar.source_count()])
    }

    fn keeps(&self, source: SourceId) -> bool {
        self.marked.as_ref().is_none_or(|marked| marked.get(source.index()) == Some(&true))
    }
}

impl Grammar {
    /// Writes the rules that a filter keeps as a new table; vocabulary and description stay. Returns how many.
    pub fn write_filtered(&self, path: &Path, filter: &Filter) -> Result<u64> {
        let mut tokens = TokenInterner::default();
        for id in 0..self.tokens.tokens.len() as u32 {
            if let Some(token) = self.tokens.token(id) {
                tokens.intern(token);
            }
        }
        let mut meta = self.meta.clone();
        if filter.per_source > 0 {
            let before = meta.limits.per_source.unwrap_or(u32::MAX);
            meta.limits.per_source = Some(filter.per_source.min(before));
        }
        let mut table = TableBuilder::new(self.codes.clone());
        let mut kept = 0;
        let mut ids = Vec::new();
        for (source, rules) in self.sources() {
            if !filter.keeps(source) {
                continue;
            }
            let Some(sides) = self.source(source) else { continue };
            ids.clear();
            ids.extend(sides.into_iter().map(|token| tokens.intern(token)));
            let limit = if filter.per_source == 0 { usize::MAX } else { filter.per_source as usize };
            for id in rules.take(limit) {
                kept += u64::from(self.push_kept(&mut table, &ids, id, filter)?);
            }
        }
        let vocab = self.vocab();
        TableFile { meta, tokens: &tokens, vocab: &vocab, table }.write(path)?;
        Ok(kept)
    }

    fn push_kept(
        &self,
        table: &mut TableBuilder,
        source: &[u32],
        id: RuleId,
        filter: &Filter,
    ) -> Result<bool> {
        if filter.rules.as_ref().is_some_and(|rules| rules.get(id.index()) != Some(&true)) {
            return Ok(false);
        }
        let notes = self.notes(id);
        let seen = notes.count.is_none_or(|count| count.rule.to_f64() >= filter.min_count);
        let target = self.hot_rule(id).and_then(|(_, rule)| self.target_of(&rule));
        let (true, Some(target)) = (seen, target) else { return Ok(false) };
        let count = notes.count.unwrap_or_default();
        let features = self.features(id);
        let record = RuleRecord {
            target: &target,
            features: &features,
            count,
            links: &notes.links,
            lines: &notes.lines,
        };
        table.push(source, record)?;
        Ok(true)
    }
}
