//! The rule table: rules with features, found by walking their source sides.
//!
//! One type serves rules in memory and rules in a mapped file: [`Grammar`] reads sections and does not know where
//! they come from. Rules of one source side lie together, target sides and feature values first (`hot`: what
//! decoding reads), counts and links apart (`cold`), training lines apart from those (`lines`).

mod build;
mod codes;
mod count;
mod file;
mod meta;
mod open;
mod pending;
mod rewrite;
pub(crate) mod tokens;
pub(crate) mod trie;

use std::path::PathBuf;
use std::sync::Arc;

use sylvan_base::{Id, InputError, Result, Symbol, define_id};
use sylvan_store::varint::Cursor;
use sylvan_store::{Container, FrozenVocab, Section};

pub use build::GrammarBuilder;
pub(crate) use build::{RuleRecord, TableBuilder};
pub use codes::Precision;
pub(crate) use codes::{CodeBook, Codes};
pub use count::Count;
pub(crate) use file::TableFile;
pub use meta::{FLAT_LABEL, Formalism, Limits, Meta};
pub use rewrite::Filter;
use tokens::Tokens;
use trie::Trie;

use crate::{Rule, Source, TargetSide};

define_id!(
    /// A rule of one grammar.
    RuleId
);
define_id!(
    /// A source side of one grammar.
    SourceId
);

/// A word of the source side and one of the target side, both counted among the words of their side from 0.
pub type WordLink = (u32, u32);

/// How often a rule, its source side and its target side were seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RuleCount {
    /// The rule.
    pub rule: Count,
    /// Its source side, with all target sides.
    pub source: Count,
    /// Its target side (with root and variable labels), with all source sides.
    pub target: Count,
}

/// What a table keeps about a rule besides what decoding needs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RuleNotes {
    /// How often it was seen, if the table knows.
    pub count: Option<RuleCount>,
    /// The links between its words.
    pub links: Vec<WordLink>,
    /// Some training lines that it was seen in, counted from 1.
    pub lines: Vec<u64>,
}

/// A blob with one block per source.
#[derive(Debug, Clone)]
struct Blocks {
    starts: Section<u32>,
    bytes: Section<u8>,
}

impl Blocks {
    fn at(&self, source: SourceId) -> Option<Cursor<'_>> {
        let start = *self.starts.get(source.index())? as usize;
        Some(Cursor::new(&self.bytes, start))
    }
}

/// Rules with features, in memory or in a mapped file. See `docs/formats/rules.md`.
///
/// Whatever the payload of a file holds, no method panics or loops forever.
#[derive(Debug, Clone)]
pub struct Grammar {
    meta: Meta,
    pub(crate) tokens: Tokens,
    pub(crate) trie: Trie,
    /// First rule and place in `hot` of each source, and where the last ends.
    sources: Section<[u32; 2]>,
    hot: Section<u8>,
    codes: Codes,
    /// Content hash of each symbol's text.
    hashes: Section<u64>,
    cold: Option<Blocks>,
    lines: Option<Blocks>,
    order: Option<Arc<Order>>,
    file: Option<(Arc<Container>, FrozenVocab)>,
}

/// Rules of a [`GrammarBuilder`] keep the ids in which they were added, not those of their places.
#[derive(Debug)]
struct Order {
    id_of: Vec<u32>,
    place_of: Vec<u32>,
}

impl Grammar {
    /// How many rules there are.
    pub fn len(&self) -> usize {
        self.sources.last().map_or(0, |end| end[0] as usize)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many different source sides there are.
    pub fn source_count(&self) -> usize {
        self.sources.len().saturating_sub(1)
    }

    /// What the table says about itself.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// The file; empty for a grammar in memory.
    pub(crate) fn path(&self) -> PathBuf {
        self.file.as_ref().map_or_else(PathBuf::new, |(file, _)| file.path().to_path_buf())
    }

    /// Fails if the rules are not applied to what the caller has, such as a tree.
    pub fn expect(&self, formalism: Formalism) -> Result<()> {
        let found = self.meta.formalism;
        if found == formalism {
            return Ok(());
        }
        Err(InputError::Format {
            path: self.path(),
            found: format!("rules of kind {}", found.as_str()),
            expected: format!("rules of kind {}", formalism.as_str()),
            advice: format!("learn rules with `sylvan grammar extract --kind {}`", formalism.as_str()),
        })
    }

    /// The names of the features, in the order of [`features`](Self::features), without the layer's prefix.
    pub fn feature_names(&self) -> &[String] {
        &self.meta.features
    }

    /// All rules.
    pub fn rules(&self) -> impl DoubleEndedIterator<Item = RuleId> + ExactSizeIterator + use<> {
        (0..self.len()).map(RuleId::from_index)
    }

    fn place(&self, id: RuleId) -> u32 {
        self.order.as_ref().map_or(id.0, |order| order.place_of.get(id.index()).copied().unwrap_or(u32::MAX))
    }

    fn id(&self, place: u32) -> RuleId {
        RuleId(
            self.order.as_ref().map_or(place, |order| order.id_of.get(place as usize).copied().unwrap_or(0)),
        )
    }

    /// The source side of a rule, and which of its rules it is.
    fn find(&self, id: RuleId) -> Option<(SourceId, u32)> {
        let place = self.place(id);
        let after = self.sources.partition_point(|source| source[0] <= place);
        let source = after.checked_sub(1)?;
        (after < self.sources.len()).then(|| (SourceId::from_index(source), place - self.sources[source][0]))
    }

    /// Where a source's rules begin, behind its tail.
    pub(crate) fn rules_at(&self, source: SourceId) -> Option<Cursor<'_>> {
        let mut cursor = self.block(source)?;
        for _ in 0..cursor.small()? {
            cursor.number()?;
        }
        Some(cursor)
    }

    /// Where a source's block begins: its tail.
    #[inline]
    pub(crate) fn block(&self, source: SourceId) -> Option<Cursor<'_>> {
        let start = self.sources.get(source.index())?[1] as usize;
        Some(Cursor::new(&self.hot, start))
    }

    /// The rules that begin at a place of `hot`.
    #[inline]
    pub(crate) fn hot_at(&self, at: usize) -> Cursor<'_> {
        Cursor::new(&self.hot, at)
    }

    /// The rules of a source whose tail was read up to `cursor`.
    #[inline]
    pub(crate) fn each_rule<'g>(
        &'g self,
        source: SourceId,
        mut cursor: Cursor<'g>,
        mut found: impl FnMut(HotRule<'g>),
    ) {
        let Some(&[first, _]) = self.sources.get(source.index()) else { return };
        let Some(&[end, _]) = self.sources.get(source.index() + 1) else { return };
        for place in first..end {
            let Some(rule) = self.read_rule(&mut cursor) else { return };
            found(HotRule { id: self.id(place), ..rule });
        }
    }

    #[inline]
    fn read_rule<'g>(&'g self, cursor: &mut Cursor<'g>) -> Option<HotRule<'g>> {
        let symbols = cursor.small()?;
        let start = *cursor;
        for _ in 0..symbols {
            cursor.number()?;
        }
        let features = cursor.bytes(self.codes.width())?;
        Some(HotRule { id: RuleId(0), symbols, target: start, features })
    }

    fn hot_rule(&self, id: RuleId) -> Option<(SourceId, HotRule<'_>)> {
        let (source, nth) = self.find(id)?;
        let mut cursor = self.rules_at(source)?;
        for _ in 0..nth {
            self.read_rule(&mut cursor)?;
        }
        Some((source, self.read_rule(&mut cursor)?))
    }

    /// A rule. In a damaged file it may be one that was never written: an empty `S(S)`.
    ///
    /// # Panics
    /// If the id is not one of this grammar's.
    pub fn rule(&self, id: RuleId) -> Rule {
        assert!(id.index() < self.len(), "a rule of this grammar");
        self.try_rule(id).unwrap_or_else(Rule::placeholder)
    }

    fn try_rule(&self, id: RuleId) -> Option<Rule> {
        let (source, hot) = self.hot_rule(id)?;
        Rule::new(self.source(source)?, self.target_of(&hot)?).ok()
    }

    fn target_of(&self, rule: &HotRule<'_>) -> Option<Vec<TargetSide>> {
        let target =
            rule.symbols().map(|symbol| self.checked(symbol)).collect::<Option<Vec<TargetSide>>>()?;
        (target.len() == rule.symbols as usize).then_some(target)
    }

    fn checked(&self, symbol: TargetSide) -> Option<TargetSide> {
        match symbol {
            TargetSide::Word(word) if word.index() >= self.hashes.len() => None,
            symbol => Some(symbol),
        }
    }

    /// A source side as tokens; `None` out of range or where the file is damaged.
    pub fn source(&self, source: SourceId) -> Option<Vec<Source>> {
        let mut ids = self.trie_path(source)?;
        let mut cursor = self.block(source)?;
        for _ in 0..cursor.small()? {
            ids.push(cursor.small()?);
        }
        ids.into_iter().map(|id| self.tokens.token(id).filter(|&token| self.knows(token))).collect()
    }

    fn knows(&self, token: Source) -> bool {
        let (Source::Open(symbol, _) | Source::Word(symbol) | Source::Var(symbol)) = token;
        symbol.index() < self.hashes.len()
    }

    /// The tokens that lead through the trie to a source: at each place the last step that does not lead past it.
    fn trie_path(&self, source: SourceId) -> Option<Vec<u32>> {
        let mut path = Vec::new();
        let mut place = 0;
        // Places of a lower level have greater numbers; one that lies might lead in circles, or far.
        let mut budget = 1u32 << 22;
        loop {
            let row = self.trie.row(place);
            let after = row
                .partition_point(|&[_, next]| self.first_source(place, next, &mut budget) <= Some(source.0));
            let &[token, next] = row.get(after.checked_sub(1)?)?;
            path.push(token);
            if next & trie::LEAF != 0 {
                return (next & !trie::LEAF == source.0).then_some(path);
            }
            budget = budget.checked_sub(1)?;
            if next <= place {
                return None;
            }
            place = next;
        }
    }

    /// The first source below a step: levels are in order, so it is the leftmost one.
    fn first_source(&self, mut place: u32, mut next: u32, budget: &mut u32) -> Option<u32> {
        while next & trie::LEAF == 0 {
            *budget = budget.checked_sub(1)?;
            if next <= place {
                return None;
            }
            place = next;
            next = self.trie.row(next).first()?[1];
        }
        Some(next & !trie::LEAF)
    }

    /// A rule's feature values.
    pub fn features(&self, id: RuleId) -> Vec<f32> {
        let mut values = vec![0.0; self.meta.features.len()];
        if let Some((_, hot)) = self.hot_rule(id) {
            self.codes.each(hot.features, |feature, value| values[feature] = value);
        }
        values
    }

    /// Calls `value` with each feature of a rule that was found by matching.
    #[inline]
    pub(crate) fn feature_values(&self, rule: &HotRule<'_>, value: impl FnMut(usize, f32)) {
        self.codes.each(rule.features, value);
    }

    /// What else is known about a rule.
    pub fn notes(&self, id: RuleId) -> RuleNotes {
        let mut notes = RuleNotes::default();
        let Some((source, nth)) = self.find(id) else { return notes };
        let cold = self.cold.as_ref().and_then(|blocks| blocks.at(source));
        if let Some(mut cursor) = cold {
            (notes.count, notes.links) = read_cold(&mut cursor, nth).unwrap_or_default();
        }
        let lines = self.lines.as_ref().and_then(|blocks| blocks.at(source));
        if let Some(mut cursor) = lines {
            notes.lines = read_lines(&mut cursor, nth).unwrap_or_default();
        }
        notes
    }

    /// The content hash of a symbol's text, 0 for one that the grammar does not know.
    #[inline]
    pub(crate) fn symbol_hash(&self, symbol: Symbol) -> u64 {
        self.hashes.get(symbol.index()).copied().unwrap_or(0)
    }

    /// Source sides in order, with the rules of each.
    pub fn sources(&self) -> impl Iterator<Item = (SourceId, impl Iterator<Item = RuleId> + '_)> + '_ {
        (0..self.source_count()).map(|index| {
            let (first, end) = (self.sources[index][0], self.sources[index + 1][0]);
            (SourceId::from_index(index), (first..end).map(|place| self.id(place)))
        })
    }

    /// The words of source sides, in the order in which they were met.
    pub fn source_words(&self) -> impl Iterator<Item = Symbol> + '_ {
        (0..self.tokens.tokens.len() as u32).filter_map(|token| match self.tokens.token(token) {
            Some(Source::Word(word)) if word.index() < self.hashes.len() => Some(word),
            _ => None,
        })
    }

    /// The vocabulary of a mapped table: its ids are the symbols of the rules.
    pub fn frozen_vocab(&self) -> Option<&FrozenVocab> {
        self.file.as_ref().map(|(_, vocab)| vocab)
    }
}

fn read_cold(cursor: &mut Cursor<'_>, nth: u32) -> Option<(Option<RuleCount>, Vec<WordLink>)> {
    let source = Count::unpacked(cursor.number()?);
    for rest in (0..=nth).rev() {
        let rule = Count::unpacked(cursor.number()?);
        let target = Count::unpacked(cursor.number()?);
        let links = cursor.small()?;
        let mut read = Vec::new();
        for _ in 0..links {
            let link = (cursor.small()?, cursor.small()?);
            if rest == 0 {
                read.push(link);
            }
        }
        if rest == 0 {
            let count = RuleCount { rule, source, target };
            return Some(((count != RuleCount::default()).then_some(count), read));
        }
    }
    None
}

fn read_lines(cursor: &mut Cursor<'_>, nth: u32) -> Option<Vec<u64>> {
    for rest in (0..=nth).rev() {
        let count = cursor.small()?;
        let mut read = Vec::new();
        for _ in 0..count {
            let line = cursor.number()?;
            if rest == 0 {
                read.push(line);
            }
        }
        if rest == 0 {
            return Some(read);
        }
    }
    None
}

/// A rule as it lies in the table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HotRule<'g> {
    pub(crate) id: RuleId,
    symbols: u32,
    target: Cursor<'g>,
    features: &'g [u8],
}

impl HotRule<'_> {
    /// The target side.
    #[inline]
    pub(crate) fn symbols(&self) -> impl Iterator<Item = TargetSide> + '_ {
        let mut cursor = self.target;
        (0..self.symbols).map_while(move |_| Some(decode_target(cursor.small()?)))
    }
}

/// Words are even, variables odd.
#[inline]
pub(crate) fn encode_target(symbol: TargetSide) -> u64 {
    match symbol {
        TargetSide::Word(word) => u64::from(word.0) << 1,
        TargetSide::Var(variable) => (u64::from(variable) << 1) | 1,
    }
}

#[inline]
pub(crate) fn decode_target(code: u32) -> TargetSide {
    if code & 1 == 0 { TargetSide::Word(Symbol(code >> 1)) } else { TargetSide::Var(code >> 1) }
}
