//! Rules of one sentence: for its terms, and for words that no rule of the table translates.

use sylvan_base::{Symbol, Vocab};
use sylvan_rules::{Grammar, GrammarBuilder, Rule, RuleCount, RuleId, Source, TargetSide, WordLink};

use crate::unseen::{Candidate, FEATURES};

/// What a rule of a sentence is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum For {
    /// A term that must be translated so.
    Term,
    /// A word that the table does not translate.
    Unseen,
}

/// What a rule of a sentence is for, and which rules of the table it was made from.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    pub(crate) what: For,
    pub(crate) from: Vec<RuleId>,
}

/// The rules of a sentence.
#[derive(Debug)]
pub(crate) struct Own {
    pub(crate) grammar: Grammar,
    /// By rule.
    pub(crate) made: Vec<Made>,
    /// Leaves that may be copied although there are rules for them.
    pub(crate) unseen: Vec<Symbol>,
}

/// Collects the rules of a sentence.
pub(crate) struct OwnBuilder {
    builder: GrammarBuilder,
    features: usize,
    made: Vec<Made>,
    unseen: Vec<Symbol>,
}

impl OwnBuilder {
    /// For a sentence with words that are unseen, or without.
    pub(crate) fn new(table: &Grammar, with_unseen: bool) -> Self {
        let more = FEATURES.iter().copied().filter(|_| with_unseen);
        let names: Vec<&str> = table.feature_names().iter().map(String::as_str).chain(more).collect();
        let features = names.len();
        Self { builder: GrammarBuilder::new(names), features, made: Vec::new(), unseen: Vec::new() }
    }

    /// Adds a rule for a term.
    pub(crate) fn term(
        &mut self,
        rule: &Rule,
        features: &[f32],
        links: &[WordLink],
        from: Option<RuleId>,
        vocab: &Vocab,
    ) {
        self.add(rule, features, links, vocab);
        self.made.push(Made { what: For::Term, from: from.into_iter().collect() });
    }

    /// Adds rules for a word under a label.
    pub(crate) fn unseen(&mut self, label: Symbol, leaf: Symbol, candidates: Vec<Candidate>, vocab: &Vocab) {
        for Candidate { target, links, features, from, .. } in candidates {
            let source = vec![Source::Open(label, 1), Source::Word(leaf)];
            let target = target.into_iter().map(TargetSide::Word).collect();
            let Ok(rule) = Rule::new(source, target) else { continue };
            self.add(&rule, &features, &links, vocab);
            self.made.push(Made { what: For::Unseen, from });
        }
        if !self.unseen.contains(&leaf) {
            self.unseen.push(leaf);
        }
    }

    fn add(&mut self, rule: &Rule, features: &[f32], links: &[WordLink], vocab: &Vocab) {
        let mut features = features.to_vec();
        features.resize(self.features, 0.0);
        self.builder.add_counted(rule, &features, RuleCount::default(), links, vocab);
    }

    /// The rules, if there are any.
    pub(crate) fn finish(self) -> Option<Own> {
        let Self { builder, made, unseen, .. } = self;
        (!made.is_empty()).then(|| Own { grammar: builder.finish(), made, unseen })
    }
}
