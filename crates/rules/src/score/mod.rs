//! From counted rules to a table: frequencies both ways, lexical weights, smoothing, pruning.
//!
//! ```text
//! sorted rules --group--> per source: targets, counts, links   (spooled in order)
//!                    \--> (target side, rule) --sort--> counts of target sides --sort back--> in rule order
//! both together --score--> features --limits--> table
//! ```

mod foretold;
mod lexicon;
mod orientations;
mod reordering;
mod samples;
mod significance;
mod smoothing;
mod targets;

use std::path::Path;
use std::sync::Arc;

use sylvan_base::{Progress, Result, Vocab};
use sylvan_store::Scratch;
use sylvan_store::varint::{Cursor, put};

use crate::aggregate::{MOST_TALLIES, Merged, RuleValues, Spool, key};
use crate::table::tokens::TokenInterner;
use crate::table::{CodeBook, Codes, RuleRecord, TableBuilder, TableFile};
use crate::{Count, Meta, Precision, RuleCount, Source, TargetSide, WordLink};
pub use foretold::Foretold;
use lexicon::LexWork;
pub(crate) use lexicon::Lexicon;
use orientations::OrientationPriors;
pub use orientations::OrientationSmoothing;
pub use reordering::MapSmoothing;
pub(crate) use reordering::{Counted as CountedOrientations, Instances, Tallies};
use samples::Counts;
pub(crate) use samples::RANK;
pub use smoothing::Smoothing;
use smoothing::{CountsOfCounts, Partners, Smoother};
use targets::{TargetCounts, TargetSorter};

/// What is one target side when its occurrences are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TargetKey {
    /// Words and variables with their labels, under the label of the rule's root.
    #[default]
    Labelled,
    /// Words and variables alone, as Travatar counts.
    Plain,
}

/// Which rules could be chance.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Significance {
    /// All rules stay.
    #[default]
    Off,
    /// Rules stay that have more evidence than what was seen once together and never apart: singletons go.
    AlphaPlus,
    /// The same, but singletons stay.
    AlphaMinus,
    /// Rules stay with at least this much evidence, -ln of the probability of chance.
    Above(f64),
}

/// How rules are scored and which are kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreConfig {
    /// Smoothing of the relative frequencies.
    pub smoothing: Smoothing,
    /// What counts as one target side.
    pub target_key: TargetKey,
    /// Target sides per source side; 0 for all.
    pub per_source: u32,
    /// Rules that were seen less often are left out, but count for the frequencies of others.
    pub min_count: f64,
    /// Pruning of rules that could be chance.
    pub significance: Significance,
    /// How feature values are kept.
    pub precision: Precision,
    /// Training lines per rule.
    pub lines: u32,
    /// Whether rules have features that mark rare ones and large ones.
    pub evidence: bool,
}

/// What scoring does to flat rules besides.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FlatScoring {
    /// Smoothing of orientations, if they were counted.
    pub(crate) orientations: Option<OrientationSmoothing>,
    /// Occurrences per source side that count; 0 for all.
    pub(crate) samples: u32,
}

impl FlatScoring {
    /// How many tallies each rule has.
    pub(crate) fn tallies(&self) -> usize {
        if self.orientations.is_some() { MOST_TALLIES } else { 0 }
    }
}

impl Default for ScoreConfig {
    fn default() -> Self {
        Self {
            smoothing: Smoothing::None,
            target_key: TargetKey::Labelled,
            per_source: 20,
            min_count: 0.0,
            significance: Significance::Off,
            precision: Precision::Bits(16),
            lines: 3,
            evidence: false,
        }
    }
}

/// What scoring met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scored {
    /// Different rules that were seen.
    pub distinct: u64,
    /// Different source sides that were seen.
    pub sources: u64,
    /// Rules that are in the table.
    pub kept: u64,
}

/// What scoring works with.
pub(crate) struct Scorer<'a> {
    pub(crate) config: ScoreConfig,
    pub(crate) meta: Meta,
    pub(crate) tokens: &'a TokenInterner,
    pub(crate) vocab: &'a Vocab,
    pub(crate) lexicon: &'a Lexicon,
    pub(crate) scratch: Arc<Scratch>,
    pub(crate) memory: usize,
    pub(crate) flat: Option<FlatScoring>,
    /// Orientations of rules with gaps.
    pub(crate) reordering: Option<Tallies>,
    pub(crate) progress: &'a dyn Progress,
}

/// A rule with what was counted about it.
#[derive(Debug, Clone, Default)]
struct Counted {
    target: Vec<TargetSide>,
    count: Count,
    /// How often each orientation was seen.
    tallies: Vec<u64>,
    links: Vec<WordLink>,
    lines: Vec<u64>,
    features: Vec<f32>,
    target_count: Count,
}

/// The rules of one source side.
#[derive(Debug, Default)]
struct Group {
    source: Vec<u8>,
    tokens: Vec<u32>,
    sides: Vec<Source>,
    count: Count,
    rules: Vec<Counted>,
}

impl Scorer<'_> {
    /// Scores all rules and writes the table.
    pub(crate) fn write(mut self, merged: &mut Merged<'_>, path: &Path) -> Result<Scored> {
        self.progress.begin("counting rules", None);
        let mut scored = Scored::default();
        let mut spool = Spool::new(&self.scratch, self.memory / 8);
        let mut targets = TargetSorter::new(&self.scratch, self.memory / 8);
        let mut counts = CountsOfCounts::default();
        let mut orientations = [0; MOST_TALLIES];
        self.group(merged, |group, record| {
            for rule in &group.rules {
                counts.add(rule.count);
                orientations.iter_mut().zip(&rule.tallies).for_each(|(sum, tally)| *sum += tally);
                targets.add(&group.sides, &rule.target, rule.count, self.config.target_key)?;
            }
            scored.sources += 1;
            scored.distinct += group.rules.len() as u64;
            if scored.sources.is_multiple_of(1 << 14) {
                self.progress.at(scored.distinct);
            }
            spool.push(record)
        })?;
        self.progress.end();
        self.progress.begin("scoring rules", Some(scored.distinct));
        let smoother = Smoother::new(self.config.smoothing, &counts);
        let smoothing = self.flat.and_then(|flat| flat.orientations).unwrap_or_default();
        let priors = OrientationPriors::new(smoothing, &orientations);
        let mut of_targets = targets.finish(scored.distinct)?;
        let names = self.features();
        let mut reordering = self.reordering.take();
        self.meta.features = names.iter().map(ToString::to_string).collect();
        self.meta.lines_per_rule = self.config.lines;
        self.meta.limits.per_source = (self.config.per_source > 0).then_some(self.config.per_source);
        let mut group = Group::default();
        let mut work = LexWork::default();
        let mut books: Vec<CodeBook> = match self.config.precision {
            Precision::Bits(bits) => vec![CodeBook::new(bits); names.len()],
            Precision::Exact => Vec::new(),
        };
        let mut kept = Spool::new(&self.scratch, self.memory / 8);
        let build = |codes| TableBuilder::spilling(codes, &self.scratch, self.memory / 4);
        let mut table = build(Codes::exact(names.len()));
        let mut record = Vec::new();
        spool.read(|bytes| {
            self.read_group(bytes, &mut group);
            self.score(&mut group, &mut of_targets, &smoother, scored.distinct, &mut work)?;
            if self.tallies() > 0 {
                for rule in &mut group.rules {
                    rule.features.extend(priors.features(&rule.tallies));
                }
            }
            self.limit(&mut group);
            if let Some(reordering) = &mut reordering {
                for rule in &mut group.rules {
                    rule.features.extend(reordering.features(&group.sides, &rule.target)?);
                }
            }
            scored.kept += group.rules.len() as u64;
            if books.is_empty() {
                return push_group(&mut table, &group);
            }
            for rule in &group.rules {
                books.iter_mut().zip(&rule.features).for_each(|(book, &value)| book.add(value));
            }
            record.clear();
            write_group(&group, true, &mut record);
            kept.push(&record)
        })?;
        drop(spool);
        self.progress.end();
        self.progress.begin("writing the table", None);
        if let Precision::Bits(bits) = self.config.precision {
            let books: Vec<Vec<f32>> = books.iter().map(CodeBook::values).collect();
            table = build(Codes::coded(bits, &books));
            kept.read(|bytes| {
                read_group(bytes, self.tallies(), Some(names.len()), &mut group)
                    .expect("records are written by this program");
                push_group(&mut table, &group)
            })?;
        }
        drop(kept);
        let result = TableFile { meta: self.meta, tokens: self.tokens, vocab: self.vocab, table }.write(path);
        self.progress.end();
        result.map(|()| scored)
    }

    /// The features that scoring gives rules.
    fn features(&self) -> Vec<&'static str> {
        const ALL: [&str; 6] = ["p_ef", "p_fe", "lex_ef", "lex_fe", "rare", "lexical"];
        let mut names = if self.config.evidence { ALL.to_vec() } else { ALL[..4].to_vec() };
        if self.tallies() > 0 || self.reordering.is_some() {
            names.extend(crate::features::ORIENTATIONS);
        }
        names
    }

    fn tallies(&self) -> usize {
        self.flat.map_or(0, |flat| flat.tallies())
    }

    /// Calls `each` with the rules of each source side, and with the same as bytes.
    fn group(
        &self,
        merged: &mut Merged<'_>,
        mut each: impl FnMut(&Group, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let values = RuleValues { lines: self.config.lines as usize, tallies: self.tallies() };
        let samples = self.flat.map_or(0, |flat| flat.samples);
        let tokens = self.tokens.tokens();
        let mut merged = Counts::new(merged, samples, values)?;
        let mut tallies = vec![0; self.tallies()];
        let mut group = Group::default();
        let mut record = Vec::new();
        let (mut target, mut links, mut lines) = (Vec::new(), Vec::new(), Vec::new());
        // Of the current rule: its key without the links, and how often its best links were seen.
        let (mut sides, mut best) = (Vec::new(), Count::default());
        let mut more = merged.advance(tokens)?;
        while more {
            let bytes = key::source_len(&merged.key, tokens).unwrap_or(0);
            group.source.clear();
            group.source.extend_from_slice(&merged.key[..bytes]);
            key::take_source(&group.source, &mut group.tokens);
            group.sides.clear();
            group.sides.extend(group.tokens.iter().map(|&token| tokens[token as usize]));
            group.count = Count::default();
            group.rules.clear();
            sides.clear();
            // No source side is the beginning of another, so the same bytes are the same source side.
            while more && merged.key.starts_with(&group.source) {
                let mut rest = &merged.key[bytes..];
                key::take_target(&mut rest, &mut target).expect("keys are written by this program");
                let head = merged.key.len() - rest.len();
                key::take_links(&mut rest, &mut links).expect("keys are written by this program");
                let count = key::read_value(&merged.value, &mut tallies, &mut lines);
                group.count += count;
                match group.rules.last_mut() {
                    Some(rule) if sides == merged.key[..head] => {
                        rule.count += count;
                        rule.tallies.iter_mut().zip(&tallies).for_each(|(sum, tally)| *sum += tally);
                        values.merge_lines(&mut rule.lines, &lines);
                        // The links seen most often; among equals the first in order.
                        if count > best {
                            best = count;
                            rule.links.clone_from(&links);
                        }
                    }
                    _ => {
                        sides.clear();
                        sides.extend_from_slice(&merged.key[..head]);
                        best = count;
                        group.rules.push(Counted {
                            target: target.clone(),
                            count,
                            tallies: tallies.clone(),
                            links: links.clone(),
                            lines: lines.clone(),
                            ..Counted::default()
                        });
                    }
                }
                more = merged.advance(tokens)?;
            }
            record.clear();
            write_group(&group, false, &mut record);
            each(&group, &record)?;
        }
        Ok(())
    }

    fn read_group(&self, bytes: &[u8], group: &mut Group) {
        read_group(bytes, self.tallies(), None, group).expect("records are written by this program");
        let tokens = self.tokens.tokens();
        group.sides.clear();
        group.sides.extend(group.tokens.iter().map(|&token| tokens[token as usize]));
    }

    /// Computes features and prunes what could be chance.
    fn score(
        &self,
        group: &mut Group,
        of_targets: &mut TargetCounts,
        smoother: &Smoother,
        distinct: u64,
        work: &mut LexWork,
    ) -> Result<()> {
        let mut of_source = Partners::default();
        group.rules.iter().for_each(|rule| of_source.add(rule.count));
        let source_spread = f64::from(of_source.total()) / distinct as f64;
        let ln = |p: f64| libm::log(p) as f32;
        for rule in &mut group.rules {
            let target = of_targets.next()?;
            let target_spread = f64::from(target.partners.total()) / distinct as f64;
            let ef = smoother.probability(rule.count, group.count, of_source, target_spread);
            let fe = smoother.probability(rule.count, target.count, target.partners, source_spread);
            let (lex_ef, lex_fe) = if self.lexicon.is_empty() {
                (0.0, 0.0)
            } else {
                self.lexicon.weights(&group.sides, &rule.target, &rule.links, work)
            };
            rule.target_count = target.count;
            rule.features.clear();
            rule.features.extend([ln(ef), ln(fe), lex_ef, lex_fe]);
            if self.config.evidence {
                let lexical = group.sides.iter().any(|side| matches!(side, Source::Word(_)));
                rule.features.extend([rareness(rule.count), f32::from(u8::from(lexical))]);
            }
        }
        let pairs = self.meta.pairs;
        let alpha = libm::log(pairs.max(1) as f64);
        let least = match self.config.significance {
            Significance::Off => return Ok(()),
            Significance::AlphaPlus => alpha + 1e-3,
            Significance::AlphaMinus => alpha - 1e-3,
            Significance::Above(least) => least,
        };
        let source = group.count.rounded();
        group.rules.retain(|rule| {
            significance::evidence(rule.count.rounded(), source, rule.target_count.rounded(), pairs) >= least
        });
        Ok(())
    }

    /// Drops what is too rare, sorts by count, equal ones by the text of the target side, and keeps the first.
    fn limit(&self, group: &mut Group) {
        group.rules.retain(|rule| rule.count.to_f64() >= self.config.min_count);
        let keep = if self.config.per_source == 0 { usize::MAX } else { self.config.per_source as usize };
        if group.rules.len() > 1 {
            group.rules.sort_by_cached_key(|rule| {
                (std::cmp::Reverse(rule.count), target_text(&rule.target, self.vocab))
            });
        }
        group.rules.truncate(keep);
    }
}

/// 1 for a rule that was seen once, near 0 for one that was seen often.
fn rareness(count: Count) -> f32 {
    (1.0 / count.to_f64().max(1.0)) as f32
}

/// The target side as Travatar's tables print and sort it.
fn target_text(target: &[TargetSide], vocab: &Vocab) -> String {
    let mut text = String::new();
    for symbol in target {
        match symbol {
            TargetSide::Word(word) => {
                text.push('"');
                text.push_str(vocab.text(*word));
                text.push_str("\" ");
            }
            TargetSide::Var(variable) => text.push_str(&format!("x{variable} ")),
        }
    }
    text.push_str("|||");
    text
}

fn push_group(table: &mut TableBuilder, group: &Group) -> Result<()> {
    for rule in &group.rules {
        let count = RuleCount { rule: rule.count, source: group.count, target: rule.target_count };
        let record = RuleRecord {
            target: &rule.target,
            features: &rule.features,
            count,
            links: &rule.links,
            lines: &rule.lines,
        };
        table.push(&group.tokens, record)?;
    }
    Ok(())
}

/// A group as bytes; features and counts of target sides are written once they are known.
fn write_group(group: &Group, scored: bool, out: &mut Vec<u8>) {
    put(out, group.tokens.len() as u64);
    group.tokens.iter().for_each(|&token| put(out, u64::from(token)));
    put(out, group.count.packed());
    for rule in &group.rules {
        key::put_target(out, &rule.target, &rule.links);
        put(out, rule.count.packed());
        rule.tallies.iter().for_each(|&tally| put(out, tally));
        put(out, rule.lines.len() as u64);
        rule.lines.iter().for_each(|&line| put(out, line));
        if scored {
            put(out, rule.target_count.packed());
            rule.features.iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
        }
    }
}

/// Reads what [`write_group`] wrote, with this many tallies; `features` says how many each rule has, if they were
/// written.
fn read_group(bytes: &[u8], tallies: usize, features: Option<usize>, group: &mut Group) -> Option<()> {
    let mut cursor = Cursor::new(bytes, 0);
    group.tokens.clear();
    for _ in 0..cursor.small()? {
        group.tokens.push(cursor.small()?);
    }
    group.count = Count::unpacked(cursor.number()?);
    let mut used = 0;
    while cursor.at() < bytes.len() {
        if group.rules.len() == used {
            group.rules.push(Counted::default());
        }
        let rule = &mut group.rules[used];
        let mut rest = &bytes[cursor.at()..];
        key::take_target(&mut rest, &mut rule.target)?;
        key::take_links(&mut rest, &mut rule.links)?;
        cursor = Cursor::new(bytes, bytes.len() - rest.len());
        rule.count = Count::unpacked(cursor.number()?);
        rule.tallies.clear();
        for _ in 0..tallies {
            rule.tallies.push(cursor.number()?);
        }
        rule.lines.clear();
        for _ in 0..cursor.small()? {
            rule.lines.push(cursor.number()?);
        }
        if let Some(features) = features {
            rule.target_count = Count::unpacked(cursor.number()?);
            rule.features.clear();
            let values = cursor.bytes(4 * features)?.as_chunks::<4>().0;
            rule.features.extend(values.iter().map(|value| f32::from_le_bytes(*value)));
        }
        used += 1;
    }
    group.rules.truncate(used);
    Some(())
}
