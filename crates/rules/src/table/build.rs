//! Making a table of rules that come sorted by source side, and of rules that come in any order.

use std::path::Path;
use std::sync::Arc;

use sylvan_base::hash::content_hash;
use sylvan_base::{HashMap, HashSet, Result, Vocab};
use sylvan_store::varint::put;
use sylvan_store::{ByteHeap, Scratch, Section};

use super::codes::{CodeBook, Codes, Precision};
use super::file::TableFile;
use super::meta::Meta;
use super::pending::{PendingRule, PendingRules};
use super::tokens::{TokenId, TokenInterner};
use super::trie::{Trie, TrieBuilder};
use super::{Blocks, Count, Grammar, Order, RuleCount, RuleId, WordLink, encode_target};
use crate::{Rule, TargetSide};

/// A rule on its way into a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RuleRecord<'a> {
    pub(crate) target: &'a [TargetSide],
    pub(crate) features: &'a [f32],
    pub(crate) count: RuleCount,
    pub(crate) links: &'a [WordLink],
    pub(crate) lines: &'a [u64],
}

/// The rules of the source side that is being collected.
#[derive(Debug, Clone, Default)]
struct Group {
    tokens: Vec<TokenId>,
    rules: u32,
    hot: Vec<u8>,
    cold: Vec<u8>,
    lines: Vec<u8>,
    /// What the trie leaves of the source side.
    tail: Vec<u8>,
}

/// Takes rules sorted by source side (as token numbers) and writes the sections of a table.
#[derive(Debug)]
pub(crate) struct TableBuilder {
    codes: Codes,
    trie: TrieBuilder,
    group: Group,
    spare: Group,
    pub(super) rules: u32,
    pub(super) sources: Vec<[u32; 2]>,
    pub(super) hot: ByteHeap,
    pub(super) cold: ByteHeap,
    pub(super) cold_starts: Vec<u32>,
    pub(super) lines: ByteHeap,
    pub(super) line_starts: Vec<u32>,
    pub(super) has_cold: bool,
    pub(super) has_lines: bool,
}

impl TableBuilder {
    /// In memory alone.
    pub(crate) fn new(codes: Codes) -> Self {
        Self::with_heaps(codes, ByteHeap::in_memory)
    }

    /// With at most about `memory` bytes of rules in memory, besides 16 for each source side and the trie.
    pub(crate) fn spilling(codes: Codes, scratch: &Arc<Scratch>, memory: usize) -> Self {
        Self::with_heaps(codes, || ByteHeap::new(scratch, memory / 3))
    }

    fn with_heaps(codes: Codes, heap: impl Fn() -> ByteHeap) -> Self {
        Self {
            codes,
            trie: TrieBuilder::default(),
            group: Group::default(),
            spare: Group::default(),
            rules: 0,
            sources: Vec::new(),
            hot: heap(),
            cold: heap(),
            cold_starts: Vec::new(),
            lines: heap(),
            line_starts: Vec::new(),
            has_cold: false,
            has_lines: false,
        }
    }

    /// Adds a rule. Source sides must ascend; rules of one source side come one after the other.
    pub(crate) fn push(&mut self, source: &[TokenId], rule: RuleRecord<'_>) -> Result<()> {
        if self.group.rules > 0 && self.group.tokens != source {
            self.close_group(source)?;
        }
        let group = &mut self.group;
        if group.rules == 0 {
            group.tokens.clear();
            group.tokens.extend_from_slice(source);
            put(&mut group.cold, rule.count.source.packed());
        }
        group.rules += 1;
        put(&mut group.hot, rule.target.len() as u64);
        rule.target.iter().for_each(|&symbol| put(&mut group.hot, encode_target(symbol)));
        self.codes.put(&mut group.hot, rule.features);
        put(&mut group.cold, rule.count.rule.packed());
        put(&mut group.cold, rule.count.target.packed());
        put(&mut group.cold, rule.links.len() as u64);
        for &(source, target) in rule.links {
            put(&mut group.cold, u64::from(source));
            put(&mut group.cold, u64::from(target));
        }
        put(&mut group.lines, rule.lines.len() as u64);
        rule.lines.iter().for_each(|&line| put(&mut group.lines, line));
        self.has_cold |= rule.count != RuleCount::default() || !rule.links.is_empty();
        self.has_lines |= !rule.lines.is_empty();
        Ok(())
    }

    fn close_group(&mut self, next: &[TokenId]) -> Result<()> {
        let mut group = std::mem::replace(&mut self.group, std::mem::take(&mut self.spare));
        let depth = self.trie.push(&group.tokens, next);
        self.sources.push([self.rules, self.hot.len() as u32]);
        self.rules += group.rules;
        let tail = &group.tokens[depth..];
        let mut bytes = std::mem::take(&mut group.tail);
        put(&mut bytes, tail.len() as u64);
        tail.iter().for_each(|&token| put(&mut bytes, u64::from(token)));
        self.hot.extend(&bytes)?;
        bytes.clear();
        group.tail = bytes;
        self.hot.extend(&group.hot)?;
        self.cold_starts.push(self.cold.len() as u32);
        self.cold.extend(&group.cold)?;
        self.line_starts.push(self.lines.len() as u32);
        self.lines.extend(&group.lines)?;
        group.rules = 0;
        group.hot.clear();
        group.cold.clear();
        group.lines.clear();
        self.spare = group;
        Ok(())
    }

    /// Closes the last group. False if the table became too large for its offsets.
    pub(crate) fn close(&mut self) -> Result<bool> {
        if self.group.rules > 0 {
            self.close_group(&[])?;
        }
        self.sources.push([self.rules, self.hot.len() as u32]);
        Ok([&self.hot, &self.cold, &self.lines].into_iter().all(|heap| heap.len() <= u64::from(u32::MAX)))
    }

    pub(super) fn take_trie(&mut self) -> (Vec<u32>, Vec<[u32; 2]>) {
        std::mem::take(&mut self.trie).finish()
    }

    pub(super) fn codes(&self) -> &Codes {
        &self.codes
    }

    fn into_grammar(mut self, meta: Meta, tokens: &TokenInterner, hashes: Vec<u64>) -> Grammar {
        assert!(matches!(self.close(), Ok(true)), "rules in memory fit 32-bit offsets");
        let (starts, steps) = self.take_trie();
        let section = |heap: ByteHeap| Section::from_vec(heap.into_vec().expect("it was made in memory"));
        let blocks = |present: bool, starts: Vec<u32>, bytes: ByteHeap| {
            present.then(|| Blocks { starts: Section::from_vec(starts), bytes: section(bytes) })
        };
        Grammar {
            meta,
            tokens: tokens.freeze(),
            trie: Trie { starts: Section::from_vec(starts), steps: Section::from_vec(steps) },
            sources: Section::from_vec(self.sources),
            hot: section(self.hot),
            codes: self.codes,
            hashes: Section::from_vec(hashes),
            cold: blocks(self.has_cold, self.cold_starts, self.cold),
            lines: blocks(self.has_lines, self.line_starts, self.lines),
            order: None,
            file: None,
        }
    }
}

/// Builds a [`Grammar`] in memory, rule by rule, in any order.
#[derive(Debug)]
pub struct GrammarBuilder {
    meta: Meta,
    tokens: TokenInterner,
    rules: PendingRules,
    hashes: Vec<u64>,
    /// Which feature a rule's numbered value is, if that is not its number.
    columns: Option<HashMap<u32, usize>>,
    /// Rules that are left out because they read like earlier ones, and what those are to count more.
    dropped: HashSet<u32>,
    repeats: HashMap<u32, Count>,
}

impl GrammarBuilder {
    /// A grammar whose rules have these features.
    pub fn new<'n>(feature_names: impl IntoIterator<Item = &'n str>) -> Self {
        Self::with_meta(Meta::new(feature_names))
    }

    /// A grammar that says this about itself.
    pub fn with_meta(meta: Meta) -> Self {
        let (tokens, rules) = (TokenInterner::default(), PendingRules::default());
        Self {
            meta,
            tokens,
            rules,
            hashes: Vec::new(),
            columns: None,
            dropped: HashSet::default(),
            repeats: HashMap::default(),
        }
    }

    /// Adds a rule with its feature values.
    ///
    /// # Panics
    /// If the number of values is not the number of features.
    pub fn add(&mut self, rule: &Rule, features: &[f32], vocab: &Vocab) -> RuleId {
        self.add_counted(rule, features, RuleCount::default(), &[], vocab)
    }

    /// Adds a rule with its feature values, counts and links.
    ///
    /// # Panics
    /// If the number of values is not the number of features.
    pub fn add_counted(
        &mut self,
        rule: &Rule,
        features: &[f32],
        count: RuleCount,
        links: &[WordLink],
        vocab: &Vocab,
    ) -> RuleId {
        assert_eq!(features.len(), self.meta.features.len(), "one value per feature");
        let values = features.iter().enumerate().map(|(number, &value)| (number as u32, value));
        self.add_numbered(rule, values, count, links, vocab)
    }

    /// Adds a rule whose values are numbered as [`columns`](Self::columns) will say.
    pub(crate) fn add_numbered(
        &mut self,
        rule: &Rule,
        values: impl ExactSizeIterator<Item = (u32, f32)>,
        count: RuleCount,
        links: &[WordLink],
        vocab: &Vocab,
    ) -> RuleId {
        for index in self.hashes.len()..vocab.len() {
            self.hashes.push(content_hash(vocab.text(sylvan_base::Symbol(index as u32)).as_bytes()));
        }
        let source = rule.source().iter().map(|&token| self.tokens.intern(token));
        self.rules.push(source, rule.target(), values, count, links);
        RuleId((self.rules.len() - 1) as u32)
    }

    /// Says what the grammar is, once that is known: for each feature its name and the number of its values. Values
    /// with other numbers are left out.
    pub(crate) fn describe(&mut self, meta: Meta, numbers: &[u32]) {
        self.meta = meta;
        self.columns = Some(numbers.iter().enumerate().map(|(column, &number)| (number, column)).collect());
    }

    /// Reads a rule and its features.
    fn read(&self, rule: u32, into: &mut PendingRule, features: &mut Vec<f32>) {
        self.rules.read(rule, into);
        features.clear();
        features.resize(self.meta.features.len(), 0.0);
        // The first counts of values that a line states twice.
        for &(number, value) in into.values.iter().rev() {
            let column = match &self.columns {
                None => Some(number as usize),
                Some(columns) => columns.get(&number).copied(),
            };
            if let Some(column) = column {
                features[column] = value;
            }
        }
    }

    /// Rules by source side.
    fn sorted(&self) -> Vec<u32> {
        let mut id_of: Vec<u32> = (0..self.rules.len() as u32).collect();
        // Stable: rules of one source side stay in the order in which they came.
        id_of.sort_by(|&a, &b| self.rules.source(a).cmp(self.rules.source(b)));
        id_of
    }

    fn table(&self, order: &[u32], codes: Codes) -> Result<TableBuilder> {
        let mut table = TableBuilder::new(codes);
        let (mut rule, mut features) = (PendingRule::default(), Vec::new());
        for &id in order.iter().filter(|id| !self.dropped.contains(*id)) {
            self.read(id, &mut rule, &mut features);
            if let Some(more) = self.repeats.get(&id).filter(|_| rule.count.rule > Count::default()) {
                rule.count.rule += *more;
            }
            let record = RuleRecord {
                target: &rule.target,
                features: &features,
                count: rule.count,
                links: &rule.links,
                lines: &[],
            };
            table.push(self.rules.source(id), record)?;
        }
        Ok(table)
    }

    /// Leaves out rules that read like an earlier one, and says how many. Their counts are added to those of the first,
    /// where counts are known.
    pub(crate) fn merge_repeats(&mut self) -> usize {
        let order = self.sorted();
        let mut of_target: HashMap<Vec<TargetSide>, u32> = HashMap::default();
        let mut rule = PendingRule::default();
        for (place, &id) in order.iter().enumerate() {
            if place > 0 && self.rules.source(order[place - 1]) != self.rules.source(id) {
                of_target.clear();
            }
            self.rules.read(id, &mut rule);
            let Some(&first) = of_target.get(&rule.target) else {
                of_target.insert(std::mem::take(&mut rule.target), id);
                continue;
            };
            *self.repeats.entry(first).or_default() += rule.count.rule;
            self.dropped.insert(id);
        }
        self.dropped.len()
    }

    /// Writes the grammar as a file. `vocab` must hold exactly what the rules were made with.
    pub fn write(self, path: &Path, vocab: &Vocab, precision: Precision) -> Result<()> {
        let features = self.meta.features.len();
        let codes = match precision {
            Precision::Exact => Codes::exact(features),
            Precision::Bits(bits) => {
                let mut books = vec![CodeBook::new(bits); features];
                let (mut rule, mut values) = (PendingRule::default(), Vec::new());
                for id in 0..self.rules.len() as u32 {
                    self.read(id, &mut rule, &mut values);
                    books.iter_mut().zip(&values).for_each(|(book, &value)| book.add(value));
                }
                let books: Vec<Vec<f32>> = books.iter().map(CodeBook::values).collect();
                Codes::coded(bits, &books)
            }
        };
        let table = self.table(&self.sorted(), codes)?;
        TableFile { meta: self.meta, tokens: &self.tokens, vocab, table }.write(path)
    }

    /// The grammar.
    pub fn finish(self) -> Grammar {
        let id_of = self.sorted();
        let mut place_of = vec![0; id_of.len()];
        for (place, &id) in id_of.iter().enumerate() {
            place_of[id as usize] = place as u32;
        }
        let table = self.table(&id_of, Codes::exact(self.meta.features.len())).expect("no file is written");
        let mut grammar = table.into_grammar(self.meta, &self.tokens, self.hashes);
        grammar.order = Some(Arc::new(Order { id_of, place_of }));
        grammar
    }
}
