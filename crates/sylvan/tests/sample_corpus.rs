//! The sample corpus and the thin line judge each other.
#![allow(clippy::unwrap_used)]

use sylvan::{Search, Trainer, TrainerConfig, Translator};
use sylvan_base::{Symbol, Vocab};
use sylvan_corpus::{Alignment, Base};
use sylvan_rules::apply::{Applier, DefaultRules};
use sylvan_rules::extract::minimal_rules;
use sylvan_rules::{GrammarBuilder, Weights};
use sylvan_sample::{Config, Sampler, Workspace};
use sylvan_search::{Beam, Future, LanguageModel, incremental};
use sylvan_testkit::cases;

/// Knows one sentence: a word that continues it costs nothing, any other costs a lot.
struct Forced<'s>(&'s [Symbol]);

const WRONG: f64 = -1e6;

impl LanguageModel for Forced<'_> {
    /// How many words have been right, or none if one was wrong.
    type State = Option<usize>;
    fn order(&self) -> usize {
        self.0.len() + 1
    }
    fn begin(&self) -> Option<usize> {
        Some(0)
    }
    fn null(&self) -> Option<usize> {
        None
    }
    fn score(&self, state: Option<usize>, word: Symbol) -> (f64, Option<usize>) {
        match state {
            Some(place) if self.0.get(place) == Some(&word) => (0.0, Some(place + 1)),
            _ => (WRONG, None),
        }
    }
    fn end(&self, state: Option<usize>) -> f64 {
        if state == Some(self.0.len()) { 0.0 } else { WRONG }
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
            let found = incremental(&forest, &Forced(&target), Beam::UNLIMITED, Future::None);
            assert_eq!(found.expect(&shown).score, 0.0, "not derived again: {shown}");
        }
        // Links that explained nothing would leave one huge rule per pair, and the test would prove little.
        assert!(rules as u64 > 5 * count, "{rules} rules for {count} pairs");
    }
}

#[test]
fn the_thin_line_translates_unseen_sample_sentences() {
    let sampler = Sampler::new(Config::default()).unwrap();
    let mut workspace = Workspace::new();
    let mut trainer = Trainer::new(TrainerConfig::default()).unwrap();
    for index in 0..3_000 {
        let mut pair = sampler.pair(index, &mut workspace);
        let links = Alignment::parse(&pair.alignment(), Base::Zero).unwrap();
        trainer.add(&pair.source_tree(), &pair.target(), links.sure()).unwrap();
    }
    let mut model = trainer.finish().unwrap();
    let (mut hypotheses, mut references) = (Vec::new(), Vec::new());
    let mut trees = Vec::new();
    for index in 100_000..100_200 {
        let mut pair = sampler.pair(index, &mut workspace);
        trees.push(model.read_tree(&pair.source_tree()).unwrap().unwrap());
        references.push(pair.target());
    }
    let translator = Translator::new(&model);
    for tree in &trees {
        hypotheses.push(translator.translate(tree, Search::default()).text(&model.vocab));
    }
    let bleu = sylvan_eval::Bleu { tokenizer: sylvan_eval::Tokenizer::None, ..Default::default() };
    let score = bleu.corpus(&hypotheses, &[references]).unwrap().score;
    // Far from the oracle's, and far above what a broken stage would leave.
    assert!(score > 60.0, "BLEU {score}");
}

#[test]
fn training_errors_name_the_pair() {
    let links = Alignment::parse("0-5", Base::Zero).unwrap();
    let mut trainer = Trainer::new(TrainerConfig::default()).unwrap();
    trainer.add("(S (A a))", "x", &[]).unwrap();
    let error = trainer.add("(S (A a))", "x", links.sure()).unwrap_err().to_string();
    assert!(error.starts_with("training pair 2: link 0-5"), "{error}");
    let error = trainer.add("(S (A a)", "x", &[]).unwrap_err().to_string();
    assert!(error.starts_with("training pair 3: "), "{error}");
}
