//! The compiled grammar: a weighted synchronous context-free grammar in flat tables.
//!
//! Feature variables are gone (every combination of values is a symbol of its own), words are ids, and a
//! derivation is made by index arithmetic only. Invariants, established by [`expand`](crate::expand) and
//! [`check`](crate::check): every symbol is productive and reachable from the start, none is left-recursive,
//! the rules of a symbol are contiguous, those that lengthen sentences last.

use sylvan_base::Vocab;

use crate::syntax::Open;

/// A compiled grammar, from the shipped data files or from a user's own.
#[derive(Debug)]
pub struct Grammar {
    pub(crate) symbols: Vec<SymbolInfo>,
    /// Cumulative weights of the rules of a symbol, scaled so that the last is `u32::MAX`.
    pub(crate) cumulative: Vec<u32>,
    pub(crate) rules: Vec<RuleInfo>,
    pub(crate) source_items: Vec<SourceItem>,
    pub(crate) slots: Vec<u32>,
    pub(crate) ops: Vec<TreeOp>,
    pub(crate) variants: Vec<VariantInfo>,
    pub(crate) target_items: Vec<TargetItem>,
    pub(crate) links: Vec<LinkInfo>,
    pub(crate) source_words: Vocab,
    pub(crate) labels: Vocab,
    pub(crate) relations: Vocab,
    pub(crate) words: Vec<WordInfo>,
    /// All text of [`WordInfo`] in one buffer.
    pub(crate) arena: String,
    pub(crate) phenomena: Vec<String>,
    pub(crate) start: u32,
    pub(crate) lexical_entries: usize,
}

/// A range of a table of [`Grammar`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Range {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Range {
    pub(crate) fn indices(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    pub(crate) fn len(self) -> usize {
        (self.end - self.start) as usize
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct SymbolInfo {
    /// Its rules; `grow_from..` are those that lengthen sentences.
    pub(crate) rules: Range,
    pub(crate) grow_from: u32,
    /// The fewest words it can give on either side.
    pub(crate) min_source: u16,
    pub(crate) min_target: u16,
    /// The rule with the fewest words in all.
    pub(crate) shortest: u32,
    pub(crate) open: Option<Open>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct RuleInfo {
    pub(crate) source: Range,
    /// Symbols of the slots in source order.
    pub(crate) slots: Range,
    pub(crate) ops: Range,
    pub(crate) variants: Range,
    pub(crate) phenomena: u64,
    pub(crate) min_source: u16,
    pub(crate) min_target: u16,
    /// How many literal words the source side has.
    pub(crate) source_words: u16,
    /// Whether the last source words of its slots must differ.
    pub(crate) distinct: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SourceItem {
    Word(u32),
    Slot(u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TreeOp {
    Open(u32),
    /// The next literal word.
    Word,
    Slot(u8),
    Close,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct VariantInfo {
    pub(crate) items: Range,
    pub(crate) links: Range,
    /// Probability of this variant and those before it.
    pub(crate) cumulative: f32,
    pub(crate) head: u8,
    /// How many literal words it has.
    pub(crate) words: u16,
    /// The source item that stands for the head on the source side.
    pub(crate) source_head: u8,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct TargetItem {
    pub(crate) what: TargetWhat,
    /// Item it depends on; its own position for the head.
    pub(crate) parent: u8,
    pub(crate) relation: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TargetWhat {
    Word(u32),
    Slot(u8),
}

/// A link between a source item and a target item of one rule; slots are meant by their heads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkInfo {
    pub(crate) source: u8,
    pub(crate) target: u8,
    pub(crate) sure: bool,
}

/// A target word: where its text stands in the arena.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WordInfo {
    pub(crate) form: Range,
    /// The columns from FORM to FEATS of its CoNLL-U line, tabs included.
    pub(crate) columns: Range,
    /// Whether "an" stands before it.
    pub(crate) vowel: bool,
    /// Whether it is the indefinite article, whose form the next word decides.
    pub(crate) article: bool,
}

/// Bit that marks a word id made by the open vocabulary; see [`names`](crate::names).
pub(crate) const OPEN_BIT: u32 = 1 << 31;

impl Grammar {
    /// How many lexicon lines the files hold; every one of them can occur in a sentence.
    pub fn lexical_entries(&self) -> usize {
        self.lexical_entries
    }

    /// How many rules the grammar has once features are filled in.
    pub fn rule_count(&self) -> usize {
        self.rules.len()
    }

    /// The names of the phenomena that its rules are marked with.
    pub fn phenomena(&self) -> &[String] {
        &self.phenomena
    }

    pub(crate) fn form(&self, word: u32) -> &str {
        &self.arena[self.words[word as usize].form.indices()]
    }
}
