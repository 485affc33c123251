//! From a line to a sentence: text is split into words and parsed, trees are read; then both are prepared
//! alike.
//!
//! ```text
//! text --tokenise, truecase--> words --parse--> tree --+
//! Penn brackets ---------------------------------------+--terms, preprocessing--> Sentence
//! packed forest ---------------------------------------+
//! ```
//!
//! What a line may be depends on the model's formalism: rules over trees need trees, from the line or from a parser.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;
use sylvan_base::limits::SENTENCE_WORDS;
use sylvan_base::{Fault, Span, Symbol, Vocab};
use sylvan_forest::Brackets as Constituents;
use sylvan_parse::Workspace as Parsing;
use sylvan_rules::Formalism;
use sylvan_trees::penn::{Brackets, parse_line};
use sylvan_trees::{PackedForest, escape, unescape};

use crate::error::Error;
use crate::glossary::Glossary;
use crate::model::{Model, Weighed};
use crate::sentence::{Preparation, Sentence, sentence_vocab};
use crate::source_text::SourceWord;

/// What the lines of an input are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Input {
    /// Text, raw or tokenised as the model was trained.
    #[default]
    Text,
    /// Trees in Penn brackets.
    Tree,
}

/// Why a line could not be read as a sentence.
#[derive(Debug)]
pub enum Unread {
    /// Something is wrong with the line.
    Fault(Fault),
    /// The model cannot take such lines.
    Error(Error),
}

impl Unread {
    /// The error, with the place of the line.
    pub fn at(self, name: &str, line: u64) -> Error {
        match self {
            Self::Fault(fault) => Error::Input(fault.at(name, line)),
            Self::Error(error) => error,
        }
    }
}

/// Reads the sentences of a request.
pub(crate) struct Reading<'r> {
    pub(crate) model: &'r Model,
    /// The rules that sentences are read for: the model's, or those with corrections.
    pub(crate) rules: &'r Weighed,
    /// Their vocabulary.
    pub(crate) vocab: &'r Arc<Vocab>,
    pub(crate) glossary: Option<&'r Glossary>,
    /// Bytes of a line that must stay as they are.
    pub(crate) kept: &'r [[usize; 2]],
}

impl Reading<'_> {
    /// The sentence of a line; `None` if it has no words.
    pub(crate) fn line(
        &self,
        line: &str,
        input: Input,
        parsing: &mut Parsing,
    ) -> Result<Option<Sentence>, Unread> {
        match (self.model.formalism(), input) {
            (Formalism::Tree, Input::Text) => self.text(line, parsing),
            (Formalism::Tree, Input::Tree) => self.tree(line).map_err(Unread::Fault),
            (Formalism::Hiero | Formalism::Phrase | Formalism::LrHiero, Input::Text) => Ok(self.words(line)),
            (Formalism::LrHiero, Input::Tree) => self.bracketed(line).map_err(Unread::Fault),
            (other, input) => Err(Unread::Fault(Fault::new(
                0,
                format!("{input:?} for a model of kind {}", other.as_str()),
                "text, or another model",
            ))),
        }
    }

    fn preparation<'p>(&'p self, glossaries: &'p [&'p Glossary]) -> Preparation<'p> {
        let (applier, table, lexicon) = (&self.rules.applier, self.model.grammar(), self.model.lexicon());
        Preparation { applier, table, glossaries, lexicon }
    }

    /// Parses text.
    fn text(&self, line: &str, parsing: &mut Parsing) -> Result<Option<Sentence>, Unread> {
        let Some((parser, beam)) = self.model.parser() else { return Err(Unread::Error(Error::NoParser)) };
        let words = self.model.source_text().words(line);
        few_enough(words.len()).map_err(Unread::Fault)?;
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        let mut vocab = sentence_vocab(self.vocab);
        let Some(parsed) = parser.constituents(&texts, beam, 1, &mut vocab, parsing).into_iter().next()
        else {
            return Ok(None);
        };
        // Rules were learnt from trees in brackets, where round brackets are escaped; what the table wants instead is
        // part of its preprocessing.
        let tree = parsed.tree.map_symbols(|symbol| escaped(symbol, &mut vocab));
        let kept = self.kept(line, &words);
        let glossaries: Vec<&Glossary> = self.glossary.into_iter().chain(kept.as_ref()).collect();
        let sentence = self.preparation(&glossaries).tree(tree, Some(words), vocab);
        Ok(sentence.map(|sentence| Sentence { line: Some(line.to_string()), ..sentence }))
    }

    /// Text that is not parsed.
    fn words(&self, line: &str) -> Option<Sentence> {
        let words = self.model.source_text().words(line);
        let mut vocab = sentence_vocab(self.vocab);
        let symbols: Vec<Symbol> = words.iter().map(|word| vocab.intern(&word.text)).collect();
        let kept = self.kept(line, &words);
        let glossaries: Vec<&Glossary> = self.glossary.into_iter().chain(kept.as_ref()).collect();
        let sentence = self.preparation(&glossaries).words(&symbols, words, vocab)?;
        Some(Sentence { line: Some(line.to_string()), ..sentence })
    }

    /// The words of a tree in Penn brackets, and its constituents, which gaps should not cross.
    fn bracketed(&self, line: &str) -> Result<Option<Sentence>, Fault> {
        let mut vocab = sentence_vocab(self.vocab);
        let Some(tree) = parse_line(line, Brackets::default(), &mut vocab)? else { return Ok(None) };
        few_enough(tree.words().len())?;
        let texts: Vec<String> =
            tree.words().iter().map(|&word| unescape(vocab.text(word)).into_owned()).collect();
        let words: Vec<SourceWord> = texts.iter().map(SourceWord::new).collect();
        let symbols: Vec<Symbol> = texts.iter().map(|text| vocab.intern(text)).collect();
        let glossaries: Vec<&Glossary> = self.glossary.into_iter().collect();
        let Some(sentence) = self.preparation(&glossaries).words(&symbols, words, vocab) else {
            return Ok(None);
        };
        // Terms are one leaf each; constituents that begin or end inside of one are left out.
        let begins = |start: u32| sentence.leaves.iter().position(|leaf| leaf.start == start);
        let ends = |end: u32| sentence.leaves.iter().position(|leaf| leaf.end == end);
        let constituents = tree.nodes().map(|node| tree.span(node)).filter(|span| span.len() > 1);
        let constituents: Vec<Span> = constituents
            .filter_map(|span| Some(Span::new(begins(span.start)?, ends(span.end)? + 1)))
            .collect();
        let brackets = Constituents::new(sentence.leaves.len(), constituents);
        Ok(Some(Sentence { brackets: Some(Arc::new(brackets)), ..sentence }))
    }

    /// Reads a tree in Penn brackets. `None` stands for an empty parse.
    pub(crate) fn tree(&self, line: &str) -> Result<Option<Sentence>, Fault> {
        let mut vocab = sentence_vocab(self.vocab);
        let tree = parse_line(line, Brackets::default(), &mut vocab)?;
        tree.as_ref().map_or(Ok(()), |tree| few_enough(tree.words().len()))?;
        let glossaries: Vec<&Glossary> = self.glossary.into_iter().collect();
        Ok(tree.and_then(|tree| self.preparation(&glossaries).tree(tree, None, vocab)))
    }

    /// Prepares a packed forest whose symbols are those of `vocab`.
    pub(crate) fn forest(&self, forest: PackedForest, vocab: Vocab) -> Option<Sentence> {
        let glossaries: Vec<&Glossary> = self.glossary.into_iter().collect();
        self.preparation(&glossaries).forest(forest, vocab)
    }

    /// Addresses, markup and what the user wants to keep stay as they are, and so do amounts of money that no rule
    /// knows: they become terms of this line.
    fn kept(&self, line: &str, words: &[SourceWord]) -> Option<Glossary> {
        let mut terms = Glossary::default();
        for [start, end] in self.kept {
            let inside =
                |word: &&SourceWord| word.span.is_some_and(|span| *start <= span[0] && span[1] <= *end);
            let words: Vec<&SourceWord> = words.iter().filter(inside).collect();
            let seen: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
            let written: Vec<&str> =
                words.iter().filter_map(|word| word.span).map(|span| &line[span[0]..span[1]]).collect();
            terms.add(&seen.join(" "), &written.join(" "));
        }
        for (start, end) in self.model.kept().find(line) {
            let words: Vec<&str> = line[start..end].split_whitespace().collect();
            let kept = words.join(" ");
            // As the first word of a sentence its case may have been changed.
            if let Some(truecaser) = &self.model.source_text().truecaser {
                terms.add(&truecaser.apply(&words).join(" "), &kept);
            }
            terms.add(&kept, &kept);
        }
        for pair in words.windows(2) {
            let [first, second] = [&pair[0], &pair[1]];
            let joined =
                matches!((first.span, second.span), (Some([_, end]), Some([start, _])) if end == start);
            let amount = is_currency(&first.text) && is_number(&second.text)
                || is_number(&first.text) && is_currency(&second.text);
            let unknown = |word: &SourceWord| is_number(&word.text) && self.vocab.get(&word.text).is_none();
            if joined && amount && pair.iter().any(unknown) {
                let kept = format!("{} {}", first.text, second.text);
                terms.add(&kept, &kept);
            }
        }
        (!terms.is_empty()).then_some(terms)
    }
}

/// Time and memory grow with the words of a sentence, so there is an end to them.
fn few_enough(words: usize) -> Result<(), Fault> {
    if words <= SENTENCE_WORDS {
        return Ok(());
    }
    let fault = Fault::new(0, format!("{words} words"), format!("a sentence of at most {SENTENCE_WORDS}"));
    Err(fault.advise("put each sentence on a line of its own; `sylvan split` does so"))
}

fn is_currency(word: &str) -> bool {
    let mut chars = word.chars();
    matches!(chars.next(), Some('$' | '¢'..='¥' | '\u{20a0}'..='\u{20cf}')) && chars.next().is_none()
}

fn is_number(word: &str) -> bool {
    let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    digit(word.chars().next())
        && digit(word.chars().next_back())
        && word.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ','))
}

/// A word or label as trees in brackets write it.
fn escaped(symbol: Symbol, vocab: &mut Vocab) -> Symbol {
    let text = match escape(vocab.text(symbol)) {
        Cow::Borrowed(_) => return symbol,
        Cow::Owned(text) => text,
    };
    vocab.intern(&text)
}
