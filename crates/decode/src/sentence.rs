//! What is translated: a tree or a packed forest, prepared as the table's trees were, with its terms compiled in.

use std::sync::{Arc, OnceLock};

use sylvan_base::{Id, Span, Symbol, Vocab};
use sylvan_forest::{Brackets, TranslationForest};
use sylvan_rules::apply::{Applier, Input, PHRASE, SENTENCE, SentenceRules, Workspace as Matching};
use sylvan_rules::{Grammar, Preprocessing, RuleId};
use sylvan_trees::{Child, NodeId, PackedForest, Tree, join};

use crate::choices::{Choice, Held, resolve};
use crate::error::Result;
use crate::glossary::{Glossary, Term, borrow, find_terms, own_rules, term_rules};
use crate::own::{Own, OwnBuilder};
use crate::source_text::SourceWord;
use crate::unseen::{Candidate, Finder, Lexicon};

/// The syntax of a sentence.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Syntax {
    /// One tree.
    Tree(Tree),
    /// Many trees.
    Forest(PackedForest),
    /// None: the words alone.
    Words(Vec<Symbol>),
}

impl Syntax {
    /// The words at its leaves.
    pub(crate) fn leaves(&self) -> &[Symbol] {
        match self {
            Syntax::Tree(tree) => tree.words(),
            Syntax::Forest(forest) => forest.words(),
            Syntax::Words(words) => words,
        }
    }
}

/// A sentence ready to be translated. Its own vocabulary extends the model's, so that it leaves nothing
/// behind in the model.
#[derive(Debug)]
pub struct Sentence {
    /// Its number, counted from 1; corrections refer to it.
    pub number: Option<u64>,
    /// The line that it was read from, unless that was a tree.
    pub line: Option<String>,
    /// Its words.
    pub words: Vec<SourceWord>,
    /// The syntax that rules are matched against.
    pub syntax: Syntax,
    /// Constituents, where rules have no syntax and translate from left to right.
    pub(crate) brackets: Option<Arc<Brackets>>,
    /// Which words of the sentence each leaf stands for.
    pub leaves: Vec<Span>,
    /// Rules for this sentence alone.
    pub(crate) own: Option<Own>,
    /// Terms that are in every translation.
    pub terms: Vec<Term>,
    /// The places of terms that overlap others and are translated freely.
    pub missed: Vec<Span>,
    /// Translations of its parts that every derivation must have.
    pub(crate) held: Vec<Held>,
    pub(crate) vocab: Vocab,
}

impl Sentence {
    /// A sentence without terms, its syntax as it is.
    fn plain(syntax: Syntax, words: Option<Vec<SourceWord>>, vocab: Vocab) -> Self {
        let leaves = syntax.leaves();
        let words =
            words.unwrap_or_else(|| leaves.iter().map(|&leaf| SourceWord::new(vocab.text(leaf))).collect());
        let leaves = (0..leaves.len()).map(|position| Span::new(position, position + 1)).collect();
        Self {
            number: None,
            line: None,
            words,
            syntax,
            brackets: None,
            leaves,
            own: None,
            terms: Vec::new(),
            missed: Vec::new(),
            held: Vec::new(),
            vocab,
        }
    }

    /// Holds translations of some of its parts, instead of those that it held before.
    pub fn hold(&mut self, choices: &[Choice]) -> Result<()> {
        self.held = resolve(choices, &self.leaves, &self.vocab)?;
        Ok(())
    }

    /// Labels and words: those of the model, and what only this sentence has.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    /// Whether these words are a term.
    pub(crate) fn is_term(&self, span: Span) -> bool {
        self.terms.binary_search_by_key(&span, |term| term.span).is_ok()
    }

    /// Places of words with letters that the model has never seen, and that are no terms.
    pub(crate) fn unknown_words(&self, known: &Vocab) -> Vec<u32> {
        let unknown = self.leaves.iter().zip(self.syntax.leaves()).filter(|&(span, &leaf)| {
            let text = self.vocab.text(leaf);
            text.contains(char::is_alphabetic) && !self.is_term(*span) && known.get(text).is_none()
        });
        unknown.flat_map(|(span, _)| span.start..span.end).collect()
    }

    /// The rules made for this sentence alone.
    pub fn own_rules(&self) -> Option<&Grammar> {
        self.own.as_ref().map(|own| &own.grammar)
    }

    /// The words of the sentence that a span of leaves stands for.
    pub(crate) fn words_of(&self, leaves: Span) -> [u32; 2] {
        let covered = self.leaves.get(leaves.range()).unwrap_or_default();
        [covered.first().map_or(0, |leaf| leaf.start), covered.last().map_or(0, |leaf| leaf.end)]
    }

    /// All derivations of the sentence.
    pub(crate) fn forest(&self, applier: &Applier, work: &mut Matching) -> TranslationForest {
        let (own, number, brackets) = (self.own_rules(), self.number, self.brackets.as_ref());
        let unseen = self.own.as_ref().map_or(&[][..], |own| &own.unseen);
        let given = SentenceRules { own, number, brackets, unseen };
        match &self.syntax {
            Syntax::Tree(tree) => applier.forest_in(tree, &self.vocab, given, work),
            Syntax::Forest(forest) => applier.forest_in(forest, &self.vocab, given, work),
            Syntax::Words(words) => applier.chart_forest(words, &self.vocab, given),
        }
    }
}

/// How sentences are prepared: the rules they are for, and the terms they must use.
pub(crate) struct Preparation<'p> {
    pub(crate) applier: &'p Applier,
    pub(crate) table: &'p Grammar,
    pub(crate) glossaries: &'p [&'p Glossary],
    /// What words that the table does not translate are like, if they are not just copied.
    pub(crate) lexicon: Option<&'p OnceLock<Lexicon>>,
}

impl Preparation<'_> {
    fn terms(&self, words: &[Symbol], vocab: &mut Vocab) -> (Vec<Term>, Vec<Span>) {
        if self.glossaries.iter().all(|glossary| glossary.is_empty()) {
            return (Vec::new(), Vec::new());
        }
        let texts: Vec<String> = words.iter().map(|&word| vocab.text(word).to_string()).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        find_terms(self.glossaries, &texts, vocab)
    }

    /// Prepares a tree, whose symbols are those of `vocab`; `None` if nothing is left of it. Its words are the leaves
    /// unless they are given.
    pub(crate) fn tree(
        &self,
        tree: Tree,
        words: Option<Vec<SourceWord>>,
        mut vocab: Vocab,
    ) -> Option<Sentence> {
        let preprocessing = self.table.meta().preprocessing;
        // Terms are found among the words without traces, and joined before nodes are binarised.
        let cleaned = Preprocessing { binarise: None, ..preprocessing }.apply(tree, &mut vocab)?;
        let divide = Preprocessing { binarise: preprocessing.binarise, ..Preprocessing::as_is() };
        let (terms, missed) = self.terms(cleaned.words(), &mut vocab);
        if terms.is_empty() {
            let tree = divide.apply(cleaned, &mut vocab)?;
            let own = self.own(&labelled_words(&tree), &vocab, |_, _| {});
            return Some(Sentence { own, ..Sentence::plain(Syntax::Tree(tree), words, vocab) });
        }
        let words = words.unwrap_or_else(|| {
            cleaned.words().iter().map(|&word| SourceWord::new(vocab.text(word))).collect()
        });
        let leaves = leaves(cleaned.words().len(), &terms);
        let runs: Vec<(Span, Symbol)> = terms.iter().map(|term| (term.span, term.leaf)).collect();
        let tree = divide.apply(join(&cleaned, &runs), &mut vocab)?;
        let before = divide.apply(cleaned, &mut vocab)?;
        let around =
            borrow(self.table, self.applier.feature_weights(0), |rule| self.allows(rule), &before, &terms);
        let own = self.own(&labelled_words(&tree), &vocab, |own, vocab| {
            own_rules(own, &terms, &tree, &around, vocab);
        });
        let sentence = Sentence::plain(Syntax::Tree(tree), Some(words), vocab);
        Some(Sentence { leaves, own, terms, missed, ..sentence })
    }

    /// Whether a user has not taken a rule out.
    fn allows(&self, rule: RuleId) -> bool {
        self.applier.overlay().is_none_or(|overlay| overlay.allows(rule, None))
    }

    /// The rules of the sentence: those for terms, which `terms` adds, and those for words under labels that the table does
    /// not translate.
    fn own(
        &self,
        words: &[(Symbol, Symbol)],
        vocab: &Vocab,
        terms: impl FnOnce(&mut OwnBuilder, &Vocab),
    ) -> Option<Own> {
        let mut unseen: Vec<(Symbol, Symbol, Vec<Candidate>)> = Vec::new();
        if let Some(lexicon) = self.lexicon {
            let (table, weights) = (self.table, self.applier.feature_weights(0));
            let finder = Finder { lexicon, table, weights, allowed: |rule| self.allows(rule), vocab };
            for &(label, word) in words {
                if unseen.iter().any(|known| (known.0, known.1) == (label, word)) {
                    continue;
                }
                let found = finder.candidates(label, word);
                if !found.is_empty() {
                    unseen.push((label, word, found));
                }
            }
        }
        let mut own = OwnBuilder::new(self.table, !unseen.is_empty());
        terms(&mut own, vocab);
        for (label, word, found) in unseen {
            own.unseen(label, word, found, vocab);
        }
        own.finish()
    }

    /// Prepares words, which are symbols of `vocab` in the same order; `None` if there are none.
    pub(crate) fn words(
        &self,
        symbols: &[Symbol],
        words: Vec<SourceWord>,
        mut vocab: Vocab,
    ) -> Option<Sentence> {
        if symbols.is_empty() {
            return None;
        }
        let [label, _] = [PHRASE, SENTENCE].map(|label| vocab.intern(label));
        let (terms, missed) = self.terms(symbols, &mut vocab);
        let labelled: Vec<(Symbol, Symbol)> = symbols.iter().map(|&word| (label, word)).collect();
        if terms.is_empty() {
            let own = self.own(&labelled, &vocab, |_, _| {});
            return Some(Sentence {
                own,
                ..Sentence::plain(Syntax::Words(symbols.to_vec()), Some(words), vocab)
            });
        }
        let leaves = leaves(symbols.len(), &terms);
        let joined = leaves.iter().map(|span| match terms.iter().find(|term| term.span == *span) {
            Some(term) => term.leaf,
            None => symbols[span.start as usize],
        });
        let syntax = Syntax::Words(joined.collect());
        let own = self.own(&labelled, &vocab, |own, vocab| term_rules(own, &terms, label, vocab));
        let sentence = Sentence::plain(syntax, Some(words), vocab);
        Some(Sentence { leaves, own, terms, missed, ..sentence })
    }

    /// Prepares a packed forest. If it has terms, its best tree is used: terms cut across brackets, and a
    /// forest has too many of them.
    pub(crate) fn forest(&self, forest: PackedForest, mut vocab: Vocab) -> Option<Sentence> {
        let preprocessing = self.table.meta().preprocessing;
        let forest = forest.map_words(|word| preprocessing.leaves.change(word, &mut vocab));
        if self.terms(forest.words(), &mut vocab).0.is_empty() {
            let forest = preprocessing.apply_forest(forest, &mut vocab);
            let own = self.own(&labelled_words(&forest), &vocab, |_, _| {});
            return Some(Sentence { own, ..Sentence::plain(Syntax::Forest(forest), None, vocab) });
        }
        self.tree(forest.best().0, None, vocab)
    }
}

/// The nodes over single words, as label and word.
fn labelled_words<I: Input>(input: &I) -> Vec<(Symbol, Symbol)> {
    let mut labelled = Vec::new();
    for node in (0..input.node_count()).map(NodeId::from_index) {
        for way in input.ways(node) {
            if let [Child::Leaf(position)] = input.children(way) {
                labelled.push((input.label(node), input.words()[*position as usize]));
            }
        }
    }
    labelled
}

/// An empty vocabulary on top of a shared one.
pub(crate) fn sentence_vocab(shared: &Arc<Vocab>) -> Vocab {
    Vocab::extending(Arc::clone(shared))
}

/// One span per leaf: that of a term, or one word.
fn leaves(words: usize, terms: &[Term]) -> Vec<Span> {
    let mut leaves = Vec::new();
    let mut at = 0;
    for term in terms {
        leaves.extend((at..term.span.start as usize).map(|position| Span::new(position, position + 1)));
        leaves.push(term.span);
        at = term.span.end as usize;
    }
    leaves.extend((at..words).map(|position| Span::new(position, position + 1)));
    leaves
}
