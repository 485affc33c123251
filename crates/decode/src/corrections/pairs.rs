//! Corrections made from sentence pairs and from training lines.

use sylvan_base::{Fault, Symbol, Vocab};
use sylvan_parse::Workspace as Parsing;
use sylvan_rules::{FLAT_LABEL, Rule, RuleId, Source, TargetSide};
use sylvan_trees::{Child, NodeId, Tree};

use super::CorrectionLog;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::reading::{Input, Reading};
use crate::sentence::Syntax;

/// The boost of a translation given for a whole sentence: more than any other can make up for.
const GIVEN: f32 = 100.0;

/// The overlay lines that make a sentence translate as given: its whole tree, or all its words, are the rule's source
/// side. What was given for it before is forbidden.
pub fn pair_lines(
    model: &Model,
    source: &str,
    target: &str,
    input: Input,
    before: &CorrectionLog,
) -> Result<Vec<String>> {
    let rule = whole_rule(model, source, target, input)?;
    let side = |rule: &str| rule.split(" -> ").next().unwrap_or_default().to_string();
    let mut lines: Vec<String> = Vec::new();
    for known in before.corrections().iter().flat_map(|correction| &correction.lines) {
        let Some(known) = known.strip_prefix("add ") else { continue };
        let known = known.split(" ||| ").next().unwrap_or_default().trim();
        let line = format!("forbid {known}");
        if known != rule && side(known) == side(&rule) && !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.push(format!("add {rule} ||| boost={GIVEN}"));
    Ok(lines)
}

/// A rule for a whole sentence.
fn whole_rule(model: &Model, source: &str, target: &str, input: Input) -> Result<String> {
    let reading = Reading { model, rules: model.rules(), vocab: model.vocab(), glossary: None, kept: &[] };
    let sentence = reading.line(source, input, &mut Parsing::new());
    let sentence = sentence.map_err(|error| error.at("the sentence", 1))?;
    let words = model.target_words(target);
    let nothing = |what: &str| {
        let fault = Fault::new(0, format!("{what} without words"), "a sentence and its translation");
        Error::from(fault.at("the pair", 1))
    };
    let Some(sentence) = sentence else { return Err(nothing("a sentence")) };
    let mut vocab: Vocab = sentence.vocab.clone();
    let source = match &sentence.syntax {
        Syntax::Tree(tree) => whole(tree),
        Syntax::Words(words) => {
            let label = Source::Open(vocab.intern(FLAT_LABEL), words.len() as u32);
            std::iter::once(label).chain(words.iter().map(|&word| Source::Word(word))).collect()
        }
        Syntax::Forest(_) => return Err(nothing("a forest")),
    };
    if words.is_empty() {
        return Err(nothing("a translation"));
    }
    let words: Vec<Symbol> = words.iter().map(|word| vocab.intern(word)).collect();
    let target = words.into_iter().map(TargetSide::Word).collect();
    let rule = Rule::new(source, target).expect("a tree and a row of words are source sides");
    Ok(rule.show(&vocab))
}

/// Rules that were learnt from one pair alone, by its number in the files that training was given; `None` if the model
/// does not know that pair.
pub fn rules_of_line(model: &Model, number: u64) -> Result<Option<Vec<String>>> {
    let Some(lines) = model.training_lines() else { return Ok(None) };
    let Some(kept) = lines.kept(number)? else { return Ok(None) };
    let grammar = model.grammar();
    let alone = |id: &RuleId| {
        let notes = grammar.notes(*id);
        // Where a sentence has several derivations they share its counts, which never exceed 1.
        notes.lines == [kept] && notes.count.is_some_and(|count| count.rule.to_f64() <= 1.0)
    };
    let rules = grammar.rules().filter(alone);
    Ok(Some(rules.map(|id| grammar.rule(id).show(model.vocab())).collect()))
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
