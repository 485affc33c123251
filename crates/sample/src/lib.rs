//! The sample corpus: Chinese-English sentence pairs with source trees, word alignments and target dependency
//! trees, all of them gold, made by a hand-written synchronous grammar. It ships inside the program, so that the
//! demonstration, the tests and the scale benchmarks need no data from elsewhere.
//!
//! ```text
//! data/*.grammar, *.lexicon --Grammar--> flat tables --Sampler(seed, i)--> pair i:
//!     他 看 了 一 本 书 。     (IP (NP (PN 他)) (VP (VV 看) (AS 了) ...) (PU 。))     0-0 1-1 2p1 ...
//!     he read a book .        1 he he PRON PRP _ 2 nsubj ...
//! ```
//!
//! What the source sentence does not decide is left to chance at most once per sentence, between translations
//! that the grammar marks as free; [`Pair::oracle`] is the target with that choice made as the most probable
//! one. No system can be expected to do better than this oracle.
//!
//! *Useful for* demonstrations, tests with known truth, corpora of any size (pair `i` is made from `i` alone) and
//! vocabularies of up to ten million words. *Not useful for* training a system for real texts: the language is
//! grammatical, but small and a little dull.
//!
//! ```
//! use sylvan_sample::{Config, Sampler, Workspace};
//!
//! let sampler = Sampler::new(Config { max_words: 20, ..Config::default() })?;
//! let mut workspace = Workspace::new();
//! let mut pair = sampler.pair(0, &mut workspace);
//! assert!(pair.source().ends_with(['。', '？']));
//! assert!(pair.source_tree().starts_with('('));
//! assert_eq!(pair.conllu().lines().filter(|line| line.contains("\troot\t")).count(), 1);
//! # Ok::<(), sylvan_sample::ConfigError>(())
//! ```

mod check;
mod compile;
mod derive;
mod expand;
mod grammar;
mod inflect;
mod layout;
mod lexicon;
mod names;
mod reader;
#[cfg(test)]
mod recognise;
mod rule_reader;
mod sampler;
mod syntax;
mod write;

pub use grammar::Grammar;
pub use sampler::{
    Config, ConfigError, FileBuffers, MAX_TYPES, MAX_WORDS, MIN_TYPES, Pair, Sampler, Workspace,
};

/// The files of the shipped grammar, in reading order: name and text.
pub const GRAMMAR_FILES: [(&str, &str); 7] = [
    ("1-features.grammar", include_str!("../data/1-features.grammar")),
    ("2-nouns.lexicon", include_str!("../data/2-nouns.lexicon")),
    ("3-verbs.lexicon", include_str!("../data/3-verbs.lexicon")),
    ("4-others.lexicon", include_str!("../data/4-others.lexicon")),
    ("5-phrases.grammar", include_str!("../data/5-phrases.grammar")),
    ("6-clauses.grammar", include_str!("../data/6-clauses.grammar")),
    ("7-sentences.grammar", include_str!("../data/7-sentences.grammar")),
];

fn shipped_grammar() -> Grammar {
    Grammar::parse_files(&GRAMMAR_FILES).expect("the shipped grammar is tested")
}
