//! Moses' rule tables for its tree-to-string and hierarchical decoders, and its phrase tables.
//!
//! ```text
//! [VP [VB show] [NP]] ||| [X][X] を 見せ [X] ||| 0.08 0.1 0.33 0.2 ||| 0-2 1-0 ||| 3 12 1 ||| |||
//! show [X][X] [X] ||| [X][X] を 見せ [X] ||| 0.08 0.1 0.33 0.2 ||| 0-2 1-0 ||| 3 12 1 ||| |||
//! show ||| を 見せ ||| 0.08 0.1 0.33 0.2 ||| 0-1 ||| 3 12 1 ||| |||
//! ```
//!
//! Scores are probabilities: source side given target side, its lexical weight, target side given source side, its
//! lexical weight; further ones are kept under the names `moses4`, `moses5`, ... Links are between places of the two
//! sides, and those of the variables say which is which. Counts are those of target side, source side and rule. A
//! table for its decoder without trees has flat source sides, `show [NP][X] [VP]`; they are trees of one level.
//! Orientations of phrase pairs are in a table of their own ([`reordering`](super::reordering)).

use sylvan_base::Vocab;

use super::brackets::Brackets;
use super::line::{
    Fields, Leaf, Parsed, checked_word, counts, fault_at, links, place_links, push, push_escaped, rule,
    rule_count, source_leaves, unescaped, write_place_links,
};
use super::{Names, TextRule};
use crate::features::ORIENTATIONS;
use crate::{FLAT_LABEL, Grammar, Rule, RuleId, RuleNotes, Source, TargetSide};

pub(super) const KEPT: &str = "|[]";
const TREES: Brackets = Brackets { open: '[', close: ']', kept: KEPT };
const SCORES: [&str; 4] = ["p_fe", "lex_fe", "p_ef", "lex_ef"];
/// What Moses takes for the logarithm of 0.
pub(super) const LOWEST: f64 = -100.0;
const EXPECTED: &str = "source ||| target ||| scores ||| links ||| counts";

pub(super) fn parse(line: &str, names: &mut Names, vocab: &mut Vocab) -> Parsed<TextRule> {
    let mut fields = Fields::new(line);
    let source = fields.need(EXPECTED)?;
    let target = fields.need(EXPECTED)?;
    let scores = fields.need(EXPECTED)?;
    let linked = fields.next().unwrap_or_default();
    let source = parse_source(line, source, vocab)?;
    let target = parse_target(line, target, linked, &source, vocab)?;
    finish(line, source, target, scores, linked, fields, names)
}

/// Reads a line of a phrase table: words alone.
pub(super) fn parse_phrase(line: &str, names: &mut Names, vocab: &mut Vocab) -> Parsed<TextRule> {
    let mut fields = Fields::new(line);
    let words: Vec<&str> = fields.need(EXPECTED)?.split_ascii_whitespace().collect();
    let target = fields.need(EXPECTED)?;
    let scores = fields.need(EXPECTED)?;
    let linked = fields.next().unwrap_or_default();
    let mut source = vec![Source::Open(vocab.intern(FLAT_LABEL), words.len() as u32)];
    source.extend(words.iter().map(|word| Source::Word(vocab.intern(&unescaped(word)))));
    let word = |token: &str| {
        let word = unescaped(token);
        Ok(TargetSide::Word(vocab.intern(checked_word(line, token, &word)?)))
    };
    let target = target.split_ascii_whitespace().map(word).collect::<Parsed<_>>()?;
    finish(line, source, target, scores, linked, fields, names)
}

fn finish(
    line: &str,
    source: Vec<Source>,
    target: Vec<TargetSide>,
    scores: &str,
    linked: &str,
    mut fields: Fields<'_>,
    names: &mut Names,
) -> Parsed<TextRule> {
    let mut features = Vec::new();
    for (number, field) in scores.split_ascii_whitespace().enumerate() {
        let score = field.parse::<f64>().ok().filter(|score| score.is_finite() && *score >= 0.0);
        let score = score.ok_or_else(|| fault_at(line, field, "a probability"))?;
        let value = if score == 0.0 { LOWEST } else { libm::log(score).max(LOWEST) };
        let name = SCORES.get(number).map_or_else(|| format!("moses{number}"), ToString::to_string);
        features.push((names.number(&name), value as f32));
    }
    let rule = rule(source, target)?;
    let links = place_links(line, linked, &rule)?;
    let [of_target, of_source, of_rule] = counts(line, fields.next().unwrap_or_default())?;
    Ok(TextRule { rule, features, count: rule_count(of_rule, of_source, of_target), links })
}

fn parse_source(line: &str, text: &str, vocab: &mut Vocab) -> Parsed<Vec<Source>> {
    // A tree begins with a label that is not closed at once.
    let after_label = |rest: &'_ str| rest.find(['[', ']', ' ', '\t']).map(|at| !rest[at..].starts_with(']'));
    let is_tree = text.trim_start().strip_prefix('[').and_then(after_label) == Some(true);
    if is_tree {
        return TREES.parse(line, text, vocab);
    }
    let mut tokens: Vec<&str> = text.split_ascii_whitespace().collect();
    let root = tokens.pop().and_then(|token| token.strip_prefix('[')?.strip_suffix(']'));
    let root = root.filter(|label| !label.contains(['[', ']']) && !label.is_empty());
    let root =
        root.ok_or_else(|| fault_at(line, text, "a tree, or words with the label in brackets last"))?;
    let mut source = vec![Source::Open(vocab.intern(&unescaped(root)), tokens.len() as u32)];
    for token in tokens {
        source.push(match pair(token) {
            Some((label, _)) => Source::Var(vocab.intern(&unescaped(label))),
            None => Source::Word(vocab.intern(&unescaped(token))),
        });
    }
    Ok(source)
}

/// `[NP][X]`.
fn pair(token: &str) -> Option<(&str, &str)> {
    token.strip_prefix('[')?.strip_suffix(']')?.split_once("][")
}

fn parse_target(
    line: &str,
    text: &str,
    linked: &str,
    source: &[Source],
    vocab: &mut Vocab,
) -> Parsed<Vec<TargetSide>> {
    let mut tokens: Vec<&str> = text.split_ascii_whitespace().collect();
    let is_label = |token: &&&str| token.starts_with('[') && token.ends_with(']') && pair(token).is_none();
    if tokens.last().as_ref().filter(|token| is_label(token)).is_some() {
        tokens.pop();
    }
    // Which variable stands where: a link between two places says so.
    let leaves = source_leaves(source);
    let mut variables = vec![None; tokens.len()];
    for link in links(line, linked) {
        let (_, (s, t)) = link?;
        if let (Some(&Leaf::Var(variable)), Some(place)) =
            (leaves.get(s as usize), variables.get_mut(t as usize))
        {
            *place = Some(variable);
        }
    }
    let mut target = Vec::with_capacity(tokens.len());
    for (token, variable) in tokens.into_iter().zip(variables) {
        target.push(match (pair(token), variable) {
            (None, _) => {
                let word = unescaped(token);
                TargetSide::Word(vocab.intern(checked_word(line, token, &word)?))
            }
            (Some(_), Some(variable)) => TargetSide::Var(variable),
            (Some(_), None) => return Err(fault_at(line, token, "a link to a variable of the source side")),
        });
    }
    Ok(target)
}

pub(super) fn write(
    grammar: &Grammar,
    id: RuleId,
    rule: &Rule,
    notes: &RuleNotes,
    vocab: &Vocab,
    line: &mut String,
) {
    TREES.write(rule.source(), vocab, line);
    line.push_str(" |||");
    write_target(rule, vocab, line);
    line.push_str(" [X] |||");
    write_rest(grammar, id, rule, notes, line);
}

/// Writes a Hiero rule.
pub(super) fn write_flat(
    grammar: &Grammar,
    id: RuleId,
    rule: &Rule,
    notes: &RuleNotes,
    vocab: &Vocab,
    line: &mut String,
) {
    write_source(rule, vocab, line);
    line.push_str("[X] |||");
    write_target(rule, vocab, line);
    line.push_str(" [X] |||");
    write_rest(grammar, id, rule, notes, line);
}

/// Writes a phrase pair.
pub(super) fn write_phrase(
    grammar: &Grammar,
    id: RuleId,
    rule: &Rule,
    notes: &RuleNotes,
    vocab: &Vocab,
    line: &mut String,
) {
    write_source(rule, vocab, line);
    line.push_str("|||");
    write_target(rule, vocab, line);
    line.push_str(" |||");
    write_rest(grammar, id, rule, notes, line);
}

/// The symbols of a flat source side, with a space after each.
fn write_source(rule: &Rule, vocab: &Vocab, line: &mut String) {
    for token in rule.source() {
        match token {
            Source::Open(..) => continue,
            Source::Word(word) => push_escaped(line, vocab.text(*word), KEPT),
            Source::Var(_) => line.push_str("[X][X]"),
        }
        line.push(' ');
    }
}

/// The symbols of a target side, with a space before each.
fn write_target(rule: &Rule, vocab: &Vocab, line: &mut String) {
    for symbol in rule.target() {
        line.push(' ');
        match symbol {
            TargetSide::Word(word) => push_escaped(line, vocab.text(*word), KEPT),
            TargetSide::Var(_) => line.push_str("[X][X]"),
        }
    }
}

fn write_rest(grammar: &Grammar, id: RuleId, rule: &Rule, notes: &RuleNotes, line: &mut String) {
    let features = grammar.features(id);
    let value = |name: &str| {
        let place = grammar.feature_names().iter().position(|known| known == name);
        place.map_or(0.0, |place| f64::from(features[place]))
    };
    SCORES.iter().for_each(|name| push(line, format_args!(" {}", libm::exp(value(name)))));
    let elsewhere = |name: &str| SCORES.contains(&name) || ORIENTATIONS.contains(&name);
    let others = grammar.feature_names().iter().filter(|name| !elsewhere(name));
    others.for_each(|name| push(line, format_args!(" {}", libm::exp(value(name)))));
    line.push_str(" |||");
    write_place_links(rule, &notes.links, true, line);
    line.push_str(" |||");
    if let Some(count) = notes.count {
        push(line, format_args!(" {} {} {}", count.target, count.source, count.rule));
    }
    line.push_str(" ||| |||");
}
