//! Terms whose translation is given: a glossary, and words that must not be translated.
//!
//! Terms are compiled into the input, never into a search: the words of a term become one leaf of the tree
//! ([`sylvan_trees::join`]) under a name that no table knows, and rules of this sentence alone translate that leaf. So
//! no search can do without the term, and every search can use it.

use sylvan_base::{Fault, HashMap, Result, Span, Symbol, Vocab};
use sylvan_rules::{Grammar, GrammarBuilder, Rule, RuleCount, RuleId, Source, TargetSide};
use sylvan_store::TextReader;
use sylvan_trees::{Child, Tree, join};

use super::borrowed::{Borrowed, Term};

/// Source words and what they may be translated to.
#[derive(Debug, Clone)]
struct Entry {
    source: Box<[Symbol]>,
    /// What stands for the source words in a tree.
    leaf: Symbol,
    targets: Vec<Box<[Symbol]>>,
}

/// A term in a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occurrence {
    /// Its words.
    pub span: Span,
    entry: usize,
}

/// Terms with given translations.
#[derive(Debug, Clone, Default)]
pub struct Glossary {
    entries: Vec<Entry>,
    /// By first word, longest first.
    by_first: HashMap<Symbol, Vec<usize>>,
    by_leaf: HashMap<Symbol, usize>,
}

impl Glossary {
    /// Reads one term per line: source words, a tab, target words; source words alone stay as they are. Words are
    /// separated by spaces, as in the text that is translated. A term with several lines has several translations, and
    /// the search chooses.
    pub fn read(reader: &mut TextReader, vocab: &mut Vocab) -> Result<Self> {
        let mut glossary = Self::default();
        while let Some(line) = reader.next_line()? {
            if line.trim().is_empty() {
                continue;
            }
            let mut columns = line.split('\t').map(str::trim);
            let source = columns.next().unwrap_or_default();
            let target = columns.next();
            if source.is_empty() || target == Some("") || columns.next().is_some() {
                let fault = Fault::new(1, format!("{line:?}"), "source words, a tab, target words")
                    .advise("one term per line; source words alone are kept as they are");
                return Err(reader.locate(fault));
            }
            glossary.add(source, target.unwrap_or(source), vocab);
        }
        Ok(glossary)
    }

    /// Adds a term; one that is there gets one more translation.
    pub fn add(&mut self, source: &str, target: &str, vocab: &mut Vocab) {
        let (source, target) = (vocab.intern_words(source), vocab.intern_words(target));
        let Some(&first) = source.first() else { return };
        // Tokens hold no spaces, so this is no token.
        let leaf = vocab.intern(&format!("[ {} ]", vocab.join(&source)));
        let number = *self.by_leaf.entry(leaf).or_insert_with(|| {
            self.entries.push(Entry { source: source.into(), leaf, targets: Vec::new() });
            self.entries.len() - 1
        });
        let entry = &mut self.entries[number];
        if !entry.targets.iter().any(|known| **known == *target) {
            entry.targets.push(target.into());
        }
        let same_first = self.by_first.entry(first).or_default();
        if !same_first.contains(&number) {
            same_first.push(number);
            same_first.sort_by_key(|&entry| std::cmp::Reverse(self.entries[entry].source.len()));
        }
    }

    /// Whether there is no term.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The translations of an occurrence.
    pub fn targets(&self, term: Occurrence) -> impl Iterator<Item = &[Symbol]> {
        self.entries[term.entry].targets.iter().map(|target| &**target)
    }

    /// The terms of a sentence in order, and those that cannot be had because they overlap a longer one (of two that
    /// are equally long, the one that comes first is taken).
    pub fn find(&self, words: &[Symbol]) -> (Vec<Occurrence>, Vec<Occurrence>) {
        let mut all = Vec::new();
        for start in 0..words.len() {
            for &entry in self.by_first.get(&words[start]).map_or(&[][..], Vec::as_slice) {
                let source = &self.entries[entry].source;
                if words[start..].starts_with(source) {
                    all.push(Occurrence { span: Span::new(start, start + source.len()), entry });
                }
            }
        }
        all.sort_by_key(|term| (std::cmp::Reverse(term.span.len()), term.span.start));
        let mut taken = vec![false; words.len()];
        let (mut terms, mut missed): (Vec<_>, Vec<_>) = all.into_iter().partition(|term| {
            let free = term.span.range().all(|position| !taken[position]);
            if free {
                taken[term.span.range()].fill(true);
            }
            free
        });
        terms.sort_by_key(|term| term.span);
        missed.sort_by_key(|term| term.span);
        (terms, missed)
    }

    /// The tree in which each term is one leaf.
    pub(super) fn compile(&self, tree: &Tree, terms: &[Occurrence]) -> Tree {
        let runs: Vec<(Span, Symbol)> =
            terms.iter().map(|term| (term.span, self.entries[term.entry].leaf)).collect();
        join(tree, &runs)
    }

    /// The terms of a sentence as rules are borrowed for them.
    pub(super) fn borrowing(&self, terms: &[Occurrence]) -> Vec<Term<'_>> {
        let term = |term: &Occurrence| {
            let Entry { leaf, targets, .. } = &self.entries[term.entry];
            Term { span: term.span, leaf: *leaf, targets: targets.iter().map(|target| &**target).collect() }
        };
        terms.iter().map(term).collect()
    }

    /// Rules for the terms of a tree of [`compile`](Self::compile): those that are borrowed from the table, best first,
    /// and one that is nothing but the term, with the features of the best borrowed one that could stand in its place.
    /// The second list says of each rule which one of the table it was made of.
    pub(super) fn rules(
        &self,
        tree: &Tree,
        borrowed: &[Borrowed],
        table: &Grammar,
        vocab: &Vocab,
    ) -> (Grammar, Vec<Option<RuleId>>) {
        let mut builder = GrammarBuilder::new(table.feature_names().iter().map(String::as_str));
        let mut from = Vec::new();
        for Borrowed { rule, links, features, from: id, .. } in borrowed {
            builder.add_counted(rule, features, RuleCount::default(), links, vocab);
            from.push(Some(*id));
        }
        let mut alone: Vec<Rule> = Vec::new();
        for node in tree.nodes() {
            let [Child::Leaf(position)] = tree.children(node) else { continue };
            let Some(&entry) = self.by_leaf.get(&tree.words()[*position as usize]) else { continue };
            let Entry { leaf, targets, .. } = &self.entries[entry];
            for target in targets {
                let source = vec![Source::Open(tree.label(node), 1), Source::Word(*leaf)];
                let target = target.iter().map(|&word| TargetSide::Word(word)).collect();
                let rule = Rule::new(source, target).expect("a node over a word is a source side");
                if !alone.contains(&rule) && !borrowed.iter().any(|known| known.rule == rule) {
                    alone.push(rule);
                }
            }
        }
        for rule in &alone {
            let same = borrowed.iter().find(|known| known.rule.source() == rule.source());
            let none = || vec![0.0; table.feature_names().len()];
            builder.add(rule, &same.map_or_else(none, |same| same.features.clone()), vocab);
            from.push(None);
        }
        (builder.finish(), from)
    }
}
