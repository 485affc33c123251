//! Terms whose translation is given: a glossary, and words that must not be translated.
//!
//! Terms are compiled into the input, never into a search: the words of a term become one leaf of the tree
//! ([`sylvan_trees::join`]) under a name that no table knows, and rules of this sentence alone translate that leaf
//! (`rules.rs`, `borrow.rs`). So no search can leave the term out, and every search can use it.
//!
//! A glossary is plain text. It depends on no model and no vocabulary, is shared by requests, and costs a
//! sentence one look-up per word.

mod borrow;
mod rules;

use sylvan_base::{Fault, HashMap, Result, Span, Symbol, Vocab};
use sylvan_store::TextReader;

pub(crate) use borrow::borrow;
pub(crate) use rules::{own_rules, term_rules};

/// Source words and what they may be translated to.
#[derive(Debug, Clone)]
struct Entry {
    source: Vec<Box<str>>,
    targets: Vec<Box<str>>,
}

/// Terms with given translations, in words as the model sees them.
#[derive(Debug, Clone, Default)]
pub struct Glossary {
    entries: Vec<Entry>,
    /// By first word.
    by_first: HashMap<Box<str>, Vec<usize>>,
    /// Lines of several words that had no translation.
    pub(crate) untranslated: Vec<u64>,
}

/// A term in a sentence.
#[derive(Debug, Clone)]
pub struct Term {
    /// Its words.
    pub span: Span,
    /// The leaf that stands for them.
    pub(crate) leaf: Symbol,
    /// What they may be translated to.
    pub targets: Vec<Box<[Symbol]>>,
}

/// The place of a term and what it may be translated to.
struct Occurrence<'g> {
    span: Span,
    targets: Vec<&'g str>,
}

impl Glossary {
    /// Reads one term per line: source words, a tab, target words; source words alone stay as they are. Words are
    /// separated by spaces, as in the text that is translated. A term with several lines has several translations, and
    /// the search chooses.
    pub fn read(reader: &mut TextReader) -> Result<Self> {
        let mut glossary = Self::default();
        glossary.untranslated = each_line(reader, |source, target| glossary.add(source, target))?;
        Ok(glossary)
    }

    /// The lines of a file that have several words and no tab. They stay as they are, which may not be what was meant.
    pub fn untranslated(&self) -> &[u64] {
        &self.untranslated
    }

    /// Adds a term: words separated by spaces. A known one gets one more translation.
    pub fn add(&mut self, source: &str, target: &str) {
        let source: Vec<Box<str>> = source.split_ascii_whitespace().map(Box::from).collect();
        let Some(first) = source.first().cloned() else { return };
        let target: Vec<&str> = target.split_ascii_whitespace().collect();
        let target = target.join(" ").into_boxed_str();
        let same_first = self.by_first.entry(first).or_default();
        let known = same_first.iter().copied().find(|&entry| self.entries[entry].source == source);
        let number = known.unwrap_or_else(|| {
            same_first.push(self.entries.len());
            self.entries.push(Entry { source, targets: Vec::new() });
            self.entries.len() - 1
        });
        let entry = &mut self.entries[number];
        if !entry.targets.contains(&target) {
            entry.targets.push(target);
        }
    }

    /// Whether there are no terms.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many terms there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    fn find<'g>(&'g self, words: &[&str], out: &mut Vec<Occurrence<'g>>) {
        let mut places: HashMap<Span, usize> = HashMap::default();
        places.extend(out.iter().enumerate().map(|(index, known)| (known.span, index)));
        for start in 0..words.len() {
            for &entry in self.by_first.get(words[start]).map_or(&[][..], Vec::as_slice) {
                let Entry { source, targets } = &self.entries[entry];
                let here = words[start..].iter().copied().take(source.len());
                if words.len() - start >= source.len() && here.eq(source.iter().map(|word| &**word)) {
                    let span = Span::new(start, start + source.len());
                    let targets: Vec<&str> = targets.iter().map(|target| &**target).collect();
                    match places.get(&span).map(|&known| &mut out[known]) {
                        // Another glossary has the same term.
                        Some(known) => {
                            for target in targets {
                                if !known.targets.contains(&target) {
                                    known.targets.push(target);
                                }
                            }
                        }
                        None => {
                            places.insert(span, out.len());
                            out.push(Occurrence { span, targets });
                        }
                    }
                }
            }
        }
    }
}

/// The terms of a sentence in order, and the places of those left out because they overlap a longer one (of
/// two equally long ones, the first is taken). Their words are added to the vocabulary.
pub(crate) fn find_terms(
    glossaries: &[&Glossary],
    words: &[&str],
    vocab: &mut Vocab,
) -> (Vec<Term>, Vec<Span>) {
    let mut all = Vec::new();
    for glossary in glossaries {
        glossary.find(words, &mut all);
    }
    all.sort_by_key(|term| (std::cmp::Reverse(term.span.len()), term.span.start));
    let mut taken = vec![false; words.len()];
    let (mut terms, mut missed) = (Vec::new(), Vec::new());
    for Occurrence { span, targets } in all {
        if span.range().any(|position| taken[position]) {
            missed.push(span);
            continue;
        }
        taken[span.range()].fill(true);
        // Tokens have no spaces, so this cannot be one.
        let leaf = vocab.intern(&format!("[ {} ]", words[span.range()].join(" ")));
        let targets = targets.iter().map(|target| vocab.intern_words(target).into()).collect();
        terms.push(Term { span, leaf, targets });
    }
    terms.sort_by_key(|term| term.span);
    missed.sort();
    (terms, missed)
}

/// Calls `found` with the two sides of each line of a glossary. Returns the lines of several words without a
/// translation.
pub(crate) fn each_line(reader: &mut TextReader, mut found: impl FnMut(&str, &str)) -> Result<Vec<u64>> {
    let mut untranslated = Vec::new();
    while let Some(line) = reader.next_line()? {
        if line.trim().is_empty() {
            continue;
        }
        let columns: Vec<&str> = line.split('\t').map(str::trim).collect();
        match *columns {
            [source] if !source.is_empty() => {
                found(source, source);
                if source.contains(char::is_whitespace) {
                    untranslated.push(reader.line_number());
                }
            }
            [source, target] if !source.is_empty() && !target.is_empty() => found(source, target),
            _ => {
                let fault = Fault::new(1, format!("{line:?}"), "source words, a tab, target words")
                    .advise("one term per line; source words alone are kept as they are");
                return Err(reader.locate(fault));
            }
        }
    }
    Ok(untranslated)
}
