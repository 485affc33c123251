//! Corrections of a model at work: applied when it is opened, and made from sentence pairs and training lines.

use std::path::Path;

use sylvan_base::{Fault, Symbol};
use sylvan_rules::{Rule, RuleId, Source, TargetSide};
use sylvan_store::TextReader;
use sylvan_trees::{Child, NodeId, Tree};

use crate::decoder::{Algorithm, Glossary, Syntax};
use crate::model::overlay_path;
use crate::translate::{Input, OpenConfig, Request, TextTranslator, TranslateError};

/// How much more a sentence scores that is given with its translation: more than any other can make up for.
const GIVEN: f32 = 100.0;

impl TextTranslator {
    /// Opens a model with the corrections beside it. The second value names those about rules that it does not have,
    /// which change nothing.
    pub fn open_with(path: &Path, config: &OpenConfig) -> Result<(Self, Vec<String>), TranslateError> {
        let mut translator = Self::open(path, &config.keep)?;
        let overlay = overlay_path(path);
        let mut missing = Vec::new();
        if !config.no_overlay && overlay.exists() {
            missing = translator.decoder.read_overlay(&mut TextReader::open(&overlay)?)?;
        }
        Ok((translator, missing))
    }

    /// Reads lines of an overlay, as if they stood beside the model: a fault names what is wrong with them, and what
    /// comes back are those about rules that the model does not have.
    pub fn check_overlay(&mut self, lines: &[String]) -> Result<Vec<String>, TranslateError> {
        let mut reader = TextReader::from_text("correction", &(lines.join("\n") + "\n"));
        Ok(self.decoder.read_overlay(&mut reader)?)
    }

    /// The overlay line with which a sentence is translated as given: its whole tree is the rule's source side.
    pub fn pair_line(&mut self, source: &str, target: &str, input: Input) -> Result<String, TranslateError> {
        // Nothing is translated here.
        let algorithm = Algorithm::Refine(sylvan_search::Beam(1));
        let request = Request { input, algorithm, best: 1, details: false, threads: 1 };
        self.terms = Glossary::default();
        let (_, mut sentences) = self.read(&[source.to_string()], "the sentence", 1, &request)?;
        let words: Vec<String> = match &self.term_tokenizers {
            Some([_, tokenizer]) => {
                tokenizer.tokenize(target).iter().map(|token| token.text(target).to_string()).collect()
            }
            None => target.split_whitespace().map(str::to_string).collect(),
        };
        let nothing = |what: &str| {
            let fault = Fault::new(0, format!("{what} without words"), "a sentence and its translation");
            TranslateError::from(fault.at("the pair", 1))
        };
        let Some(sentence) = sentences.pop().flatten() else { return Err(nothing("a sentence")) };
        let Syntax::Tree(tree) = &sentence.syntax else { return Err(nothing("a forest")) };
        if words.is_empty() {
            return Err(nothing("a translation"));
        }
        let vocab = self.decoder.vocab_mut();
        let words: Vec<Symbol> = words.iter().map(|word| vocab.intern(word)).collect();
        let target = words.into_iter().map(TargetSide::Word).collect();
        let rule = Rule::new(whole(tree), target).expect("a tree is a source side");
        Ok(format!("add {} ||| boost={GIVEN}", rule.show(vocab)))
    }

    /// Rules that were learnt from one pair alone, by its number in the files that training was given; `None` if the
    /// model does not know that pair.
    pub fn rules_of_line(&self, number: u64) -> Result<Option<Vec<String>>, TranslateError> {
        let Some(lines) = &self.lines else { return Ok(None) };
        let Some(kept) = lines.kept(number)? else { return Ok(None) };
        let grammar = self.decoder.grammar();
        let alone = |id: &RuleId| {
            let notes = grammar.notes(*id);
            // Counts are shared out where a sentence has several derivations, and never above 1 then.
            notes.lines == [kept] && notes.count.is_some_and(|count| count.rule.to_f64() <= 1.0)
        };
        let rules = grammar.rules().filter(alone);
        Ok(Some(rules.map(|id| grammar.rule(id).show(self.decoder.vocab())).collect()))
    }
}

/// A tree as a source side, depth first.
fn whole(tree: &Tree) -> Vec<Source> {
    let mut source = Vec::new();
    let mut open: Vec<Child> = vec![Child::Node(tree.root())];
    while let Some(child) = open.pop() {
        match child {
            Child::Leaf(position) => source.push(Source::Word(tree.words()[position as usize])),
            Child::Node(node) => {
                let children: &[Child] = tree.children(node as NodeId);
                source.push(Source::Open(tree.label(node), children.len() as u32));
                open.extend(children.iter().rev());
            }
        }
    }
    source
}
