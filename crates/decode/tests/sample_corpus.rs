//! The sample corpus and rules from its links judge each other.
#![allow(clippy::unwrap_used)]

use sylvan_base::{Id, Symbol, Vocab};
use sylvan_corpus::{Alignment, Base};
use sylvan_forest::{Token, TokenId};
use sylvan_rules::apply::{Applier, DefaultRules};
use sylvan_rules::extract::minimal_rules;
use sylvan_rules::{GrammarBuilder, Weights};
use sylvan_sample::{Config, Sampler, Workspace};
use sylvan_search::{Beam, Future, LanguageModel, incremental};
use sylvan_testkit::cases;

/// Knows one sentence: a word that continues it costs nothing, any other costs a lot.
struct Forced<'s> {
    words: &'s [Symbol],
    tokens: &'s [Token],
}

const WRONG: f64 = -1e6;

impl LanguageModel for Forced<'_> {
    /// How many words have been right, or none if one was wrong.
    type State = Option<usize>;
    fn order(&self) -> usize {
        self.words.len() + 1
    }
    fn begin(&self) -> Option<usize> {
        Some(0)
    }
    fn null(&self) -> Option<usize> {
        None
    }
    fn score(&self, state: Option<usize>, token: TokenId) -> (f64, Option<usize>) {
        let word = self.tokens[token.index()].word;
        match state {
            Some(place) if self.words.get(place) == Some(&word) => (0.0, Some(place + 1)),
            _ => (WRONG, None),
        }
    }
    fn end(&self, state: Option<usize>) -> f64 {
        if state == Some(self.words.len()) { 0.0 } else { WRONG }
    }
}

#[test]
fn every_pair_is_derived_again_by_the_rules_from_its_gold_links() {
    let count = cases(3_000, 50_000) as u64;
    for config in [
        Config::default(),
        Config { seed: 7, types: Some(100_000), ..Config::default() },
        Config { seed: 3, min_words: 60, max_words: 120, ..Config::default() },
    ] {
        let count = if config.min_words > 10 { count / 30 } else { count };
        let sampler = Sampler::new(config).unwrap();
        let mut workspace = Workspace::new();
        let mut rules = 0;
        for index in 0..count {
            let mut pair = sampler.pair(index, &mut workspace);
            let shown = format!("{}\n{}\n{}", pair.source_tree(), pair.target(), pair.alignment());
            let mut vocab = Vocab::new();
            let tree = sylvan_trees::penn::parse_line(&pair.source_tree(), Default::default(), &mut vocab);
            let tree = tree.unwrap().unwrap();
            let target = vocab.intern_words(&pair.target());
            let links =
                Alignment::parse_within(&pair.alignment(), Base::Zero, tree.words().len(), target.len());
            let mut builder = GrammarBuilder::new([]);
            let learnt = minimal_rules(&tree, &target, links.unwrap().sure()).unwrap();
            rules += learnt.len();
            for extracted in learnt {
                builder.add(&extracted.rule, &[], &vocab);
            }
            let grammar = builder.finish();
            let forest =
                Applier::new(&grammar, &Weights::default(), DefaultRules::Never).forest(&tree, &vocab);
            let forced = Forced { words: &target, tokens: forest.tokens() };
            let found = incremental(&forest, &forced, Beam::UNLIMITED, Future::None);
            assert_eq!(found.expect(&shown).score, 0.0, "not derived again: {shown}");
        }
        // Links that explained nothing would leave one huge rule per pair, and the test would prove little.
        assert!(rules as u64 > 5 * count, "{rules} rules for {count} pairs");
    }
}
