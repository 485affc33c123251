//! Making a table of rules that come sorted by source side, and of rules that come in any order.

use std::path::Path;
use std::sync::Arc;

use sylvan_base::hash::content_hash;
use sylvan_base::{Result, Vocab};
use sylvan_store::Section;
use sylvan_store::varint::put;

use super::codes::{CodeBook, Codes, Precision};
use super::file::TableFile;
use super::meta::Meta;
use super::tokens::{TokenId, TokenInterner};
use super::trie::{Trie, TrieBuilder};
use super::{Blocks, Grammar, Order, RuleCount, RuleId, WordLink, encode_target};
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
}

/// Takes rules sorted by source side (as token numbers) and writes the sections of a table.
#[derive(Debug, Clone)]
pub(crate) struct TableBuilder {
    codes: Codes,
    trie: TrieBuilder,
    group: Group,
    spare: Group,
    pub(super) rules: u32,
    pub(super) sources: Vec<[u32; 2]>,
    pub(super) hot: Vec<u8>,
    pub(super) cold: Vec<u8>,
    pub(super) cold_starts: Vec<u32>,
    pub(super) lines: Vec<u8>,
    pub(super) line_starts: Vec<u32>,
    pub(super) has_cold: bool,
    pub(super) has_lines: bool,
}

impl TableBuilder {
    pub(crate) fn new(codes: Codes) -> Self {
        Self {
            codes,
            trie: TrieBuilder::default(),
            group: Group::default(),
            spare: Group::default(),
            rules: 0,
            sources: Vec::new(),
            hot: Vec::new(),
            cold: Vec::new(),
            cold_starts: Vec::new(),
            lines: Vec::new(),
            line_starts: Vec::new(),
            has_cold: false,
            has_lines: false,
        }
    }

    /// Adds a rule. Source sides must ascend; rules of one source side come one after the other.
    pub(crate) fn push(&mut self, source: &[TokenId], rule: RuleRecord<'_>) {
        if self.group.rules > 0 && self.group.tokens != source {
            self.close_group(source);
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
    }

    fn close_group(&mut self, next: &[TokenId]) {
        let mut group = std::mem::replace(&mut self.group, std::mem::take(&mut self.spare));
        let depth = self.trie.push(&group.tokens, next);
        self.sources.push([self.rules, self.hot.len() as u32]);
        self.rules += group.rules;
        let tail = &group.tokens[depth..];
        put(&mut self.hot, tail.len() as u64);
        tail.iter().for_each(|&token| put(&mut self.hot, u64::from(token)));
        self.hot.extend_from_slice(&group.hot);
        self.cold_starts.push(self.cold.len() as u32);
        self.cold.extend_from_slice(&group.cold);
        self.line_starts.push(self.lines.len() as u32);
        self.lines.extend_from_slice(&group.lines);
        group.rules = 0;
        group.hot.clear();
        group.cold.clear();
        group.lines.clear();
        self.spare = group;
    }

    /// Closes the last group. False if the table became too large for its offsets.
    pub(crate) fn close(&mut self) -> bool {
        if self.group.rules > 0 {
            self.close_group(&[]);
        }
        self.sources.push([self.rules, self.hot.len() as u32]);
        let limit = u32::MAX as usize;
        self.hot.len() <= limit && self.cold.len() <= limit && self.lines.len() <= limit
    }

    pub(super) fn take_trie(&mut self) -> (Vec<u32>, Vec<[u32; 2]>) {
        std::mem::take(&mut self.trie).finish()
    }

    pub(super) fn codes(&self) -> &Codes {
        &self.codes
    }

    fn into_grammar(mut self, meta: Meta, tokens: &TokenInterner, hashes: Vec<u64>) -> Grammar {
        assert!(self.close(), "rules in memory fit 32-bit offsets");
        let (starts, steps) = self.take_trie();
        let blocks = |present: bool, starts: Vec<u32>, bytes: Vec<u8>| {
            present.then(|| Blocks { starts: Section::from_vec(starts), bytes: Section::from_vec(bytes) })
        };
        Grammar {
            meta,
            tokens: tokens.freeze(),
            trie: Trie { starts: Section::from_vec(starts), steps: Section::from_vec(steps) },
            sources: Section::from_vec(self.sources),
            hot: Section::from_vec(self.hot),
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
    rules: Vec<Pending>,
    hashes: Vec<u64>,
}

#[derive(Debug)]
struct Pending {
    source: Vec<TokenId>,
    target: Vec<TargetSide>,
    features: Vec<f32>,
    count: RuleCount,
    links: Vec<WordLink>,
}

impl GrammarBuilder {
    /// A grammar whose rules have these features.
    pub fn new<'n>(feature_names: impl IntoIterator<Item = &'n str>) -> Self {
        Self::with_meta(Meta::new(feature_names))
    }

    /// A grammar that says this about itself.
    pub fn with_meta(meta: Meta) -> Self {
        Self { meta, tokens: TokenInterner::default(), rules: Vec::new(), hashes: Vec::new() }
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
        for index in self.hashes.len()..vocab.len() {
            self.hashes.push(content_hash(vocab.text(sylvan_base::Symbol(index as u32)).as_bytes()));
        }
        self.rules.push(Pending {
            source: rule.source().iter().map(|&token| self.tokens.intern(token)).collect(),
            target: rule.target().to_vec(),
            features: features.to_vec(),
            count,
            links: links.to_vec(),
        });
        RuleId((self.rules.len() - 1) as u32)
    }

    /// Rules by source side.
    fn sorted(&self) -> Vec<u32> {
        let mut id_of: Vec<u32> = (0..self.rules.len() as u32).collect();
        // Stable: rules of one source side stay in the order in which they came.
        id_of.sort_by(|&a, &b| self.rules[a as usize].source.cmp(&self.rules[b as usize].source));
        id_of
    }

    fn table(&self, order: &[u32], codes: Codes) -> TableBuilder {
        let mut table = TableBuilder::new(codes);
        for &id in order {
            let rule = &self.rules[id as usize];
            let record = RuleRecord {
                target: &rule.target,
                features: &rule.features,
                count: rule.count,
                links: &rule.links,
                lines: &[],
            };
            table.push(&rule.source, record);
        }
        table
    }

    /// Writes the grammar as a file. `vocab` must hold exactly what the rules were made with.
    pub fn write(self, path: &Path, vocab: &Vocab, precision: Precision) -> Result<()> {
        let features = self.meta.features.len();
        let codes = match precision {
            Precision::Exact => Codes::exact(features),
            Precision::Bits(bits) => {
                let mut books = vec![CodeBook::new(bits); features];
                for rule in &self.rules {
                    books.iter_mut().zip(&rule.features).for_each(|(book, &value)| book.add(value));
                }
                let books: Vec<Vec<f32>> = books.iter().map(CodeBook::values).collect();
                Codes::coded(bits, &books)
            }
        };
        let table = self.table(&self.sorted(), codes);
        TableFile { meta: self.meta, tokens: &self.tokens, vocab, table }.write(path)
    }

    /// The grammar.
    pub fn finish(self) -> Grammar {
        let id_of = self.sorted();
        let mut place_of = vec![0; id_of.len()];
        for (place, &id) in id_of.iter().enumerate() {
            place_of[id as usize] = place as u32;
        }
        let table = self.table(&id_of, Codes::exact(self.meta.features.len()));
        let mut grammar = table.into_grammar(self.meta, &self.tokens, self.hashes);
        grammar.order = Some(Arc::new(Order { id_of, place_of }));
        grammar
    }
}
