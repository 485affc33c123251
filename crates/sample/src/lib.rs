//! The sample corpus.
mod check;
mod derive;
mod expand;
mod grammar;
mod inflect;
mod layout;
mod lexicon;
mod names;
mod reader;
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
