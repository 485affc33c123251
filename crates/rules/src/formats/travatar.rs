//! Travatar's text rule tables.
//!
//! ```text
//! VP ( VB ( "show" ) x0:NP ) ||| x0 "を" "見せ" ||| egfp=-2.48 fgep=-1.09 p=1 w=2 ||| 1 12 3 ||| 0-1
//! ```
//!
//! Words are quoted, labels are bare, variables are numbered from 0 in source order; on the target side a
//! variable's label and an `@ HEAD` may follow. Features are natural logs. Counts are those of the rule, of its
//! source side and of its target side; links are between the words of both sides. Both are optional.

use sylvan_base::{Result, Vocab};
use sylvan_store::TextReader;

use super::line::{
    Fields, Parsed, checked_word, counts, fault_at, links, named_value, push, rule, rule_count,
};
use super::{Names, RuleReader, TextFormat, TextRule};
use crate::features::to_travatar;
use crate::{Count, Grammar, GrammarBuilder, Rule, RuleId, RuleNotes, Source, TargetSide, WordLink};

const EXPECTED: &str = "source ||| target ||| features";

pub(super) fn parse(line: &str, names: &mut Names, vocab: &mut Vocab) -> Parsed<TextRule> {
    let mut fields = Fields::new(line);
    let (source, target) = (fields.need(EXPECTED)?, fields.need(EXPECTED)?);
    let named = fields.need(EXPECTED)?;
    let (source, variables) = parse_source(line, source, vocab)?;
    let target = parse_target(line, target, variables, vocab)?;
    let mut features = Vec::new();
    for pair in named.split_ascii_whitespace() {
        let (name, value) = named_value(line, pair)?;
        features.push((names.number(name), value));
    }
    let [of_rule, of_source, of_target] = counts(line, fields.next().unwrap_or_default())?;
    let rule = rule(source, target)?;
    let links = word_links(line, fields.next().unwrap_or_default(), &rule)?;
    Ok(TextRule { rule, features, count: rule_count(of_rule, of_source, of_target), links })
}

/// Reads a whole table. The grammar's features are those named in `features`; others are left out, and one
/// that a rule does not have is 0.
pub fn read_travatar(reader: &mut TextReader, features: &[&str], vocab: &mut Vocab) -> Result<Grammar> {
    let mut builder = GrammarBuilder::new(features.iter().copied());
    let mut values = vec![0.0; features.len()];
    let mut lines = RuleReader::new(TextFormat::Travatar);
    while let Some(line) = lines.next_rule(reader, vocab)? {
        values.fill(0.0);
        for (name, value) in line.features {
            if let Some(index) = features.iter().position(|&known| known == lines.names()[name]) {
                values[index] = value;
            }
        }
        builder.add_counted(&line.rule, &values, line.count, &line.links, vocab);
    }
    Ok(builder.finish())
}

/// A counted rule: one line between extraction and scoring.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CountedRule {
    pub(crate) rule: Rule,
    pub(crate) count: Count,
    pub(crate) links: Vec<WordLink>,
    pub(crate) lines: Vec<u64>,
}

/// Reads `source ||| target ||| count ||| links ||| lines`.
pub(crate) fn parse_count_line(line: &str, vocab: &mut Vocab) -> Parsed<CountedRule> {
    const EXPECTED: &str = "source ||| target ||| count ||| links ||| lines";
    let mut fields = Fields::new(line);
    let (source, target) = (fields.need(EXPECTED)?, fields.need(EXPECTED)?);
    let count = fields.need(EXPECTED)?.trim();
    let (source, variables) = parse_source(line, source, vocab)?;
    let target = parse_target(line, target, variables, vocab)?;
    let number = count.parse::<f64>().ok().filter(|number| *number > 0.0 && *number < 1e12);
    let count = Count::from_f64(number.ok_or_else(|| fault_at(line, count, "a count above 0"))?);
    let rule = rule(source, target)?;
    let links = word_links(line, fields.next().unwrap_or_default(), &rule)?;
    let mut lines = Vec::new();
    for field in fields.next().unwrap_or_default().split_ascii_whitespace() {
        lines.push(field.parse().map_err(|_| fault_at(line, field, "a line number"))?);
    }
    Ok(CountedRule { rule, count, links, lines })
}

fn word_links(line: &str, text: &str, rule: &Rule) -> Parsed<Vec<WordLink>> {
    let source_words = rule.source().iter().filter(|token| matches!(token, Source::Word(_))).count() as u32;
    let target_words =
        rule.target().iter().filter(|token| matches!(token, TargetSide::Word(_))).count() as u32;
    let inside = |link: Parsed<(&str, WordLink)>| {
        let (field, link) = link?;
        let fits = link.0 < source_words && link.1 < target_words;
        if fits { Ok(link) } else { Err(fault_at(line, field, "a link between words, such as 0-1")) }
    };
    links(line, text).map(inside).collect()
}

fn parse_source(line: &str, text: &str, vocab: &mut Vocab) -> Parsed<(Vec<Source>, u32)> {
    let mut source: Vec<Source> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut variables = 0;
    let mut tokens = text.split_ascii_whitespace().peekable();
    while let Some(token) = tokens.next() {
        if token == ")" && open.pop().is_some() {
            continue;
        }
        if !source.is_empty() && open.is_empty() {
            return Err(fault_at(line, token, "the end of the source tree"));
        }
        if let Some(Source::Open(_, children)) = open.last().map(|&node| &mut source[node]) {
            *children += 1;
        }
        let is_node = tokens.peek() == Some(&"(");
        if is_node {
            tokens.next();
            open.push(source.len());
            source.push(Source::Open(vocab.intern(token), 0));
        } else if let Some(word) = quoted(token) {
            source.push(Source::Word(vocab.intern(word)));
        } else if let Some((number, Some(label))) = variable(token) {
            if number != variables {
                return Err(fault_at(line, token, &format!("x{variables}: variables in source order")));
            }
            variables += 1;
            source.push(Source::Var(vocab.intern(label)));
        } else {
            return Err(fault_at(line, token, "LABEL (, \"word\", x0:LABEL or )"));
        }
    }
    if open.is_empty() { Ok((source, variables)) } else { Err(fault_at(line, text, "balanced brackets")) }
}

fn parse_target(line: &str, text: &str, variables: u32, vocab: &mut Vocab) -> Parsed<Vec<TargetSide>> {
    let mut target = Vec::new();
    for token in text.split_ascii_whitespace() {
        if token == "@" {
            break;
        }
        if let Some(word) = quoted(token) {
            target.push(TargetSide::Word(vocab.intern(checked_word(line, token, word)?)));
        } else if let Some((number, _)) = variable(token).filter(|&(number, _)| number < variables) {
            target.push(TargetSide::Var(number));
        } else {
            return Err(fault_at(line, token, "\"word\" or a variable of the source side"));
        }
    }
    Ok(target)
}

fn quoted(token: &str) -> Option<&str> {
    (token.len() >= 3).then(|| token.strip_prefix('"')?.strip_suffix('"'))?
}

/// The number and, if given, the label of `x0` or `x0:NP`.
fn variable(token: &str) -> Option<(u32, Option<&str>)> {
    let rest = token.strip_prefix('x')?;
    match rest.split_once(':') {
        Some((number, label)) if !label.is_empty() => Some((number.parse().ok()?, Some(label))),
        Some(_) => None,
        None => Some((rest.parse().ok()?, None)),
    }
}

/// Writes a rule.
pub(super) fn write(
    grammar: &Grammar,
    id: RuleId,
    rule: &Rule,
    notes: &RuleNotes,
    vocab: &Vocab,
    line: &mut String,
) {
    write_sides(rule.source(), rule.target(), vocab, line);
    for (name, value) in grammar.feature_names().iter().zip(grammar.features(id)) {
        push(line, format_args!(" {}={value}", to_travatar(name).unwrap_or(name)));
    }
    let words = rule.target().iter().filter(|symbol| matches!(symbol, TargetSide::Word(_))).count();
    line.push_str(" p=1");
    if words > 0 {
        push(line, format_args!(" w={words}"));
    }
    line.push_str(" |||");
    if let Some(count) = notes.count {
        push(line, format_args!(" {} {} {}", count.rule, count.source, count.target));
    }
    line.push_str(" |||");
    for (source, target) in &notes.links {
        push(line, format_args!(" {source}-{target}"));
    }
}

/// A counted rule as a line between extraction and scoring.
pub(crate) fn count_line(
    source: &[Source],
    target: &[TargetSide],
    count: Count,
    links: &[WordLink],
    lines: &[u64],
    vocab: &Vocab,
) -> String {
    let mut line = String::new();
    write_sides(source, target, vocab, &mut line);
    push(&mut line, format_args!(" {count} |||"));
    links.iter().for_each(|(s, t)| push(&mut line, format_args!(" {s}-{t}")));
    line.push_str(" |||");
    lines.iter().for_each(|number| push(&mut line, format_args!(" {number}")));
    line
}

fn write_sides(source: &[Source], target: &[TargetSide], vocab: &Vocab, line: &mut String) {
    write_source(source, vocab, line);
    line.push_str(" |||");
    for symbol in target {
        match symbol {
            TargetSide::Word(word) => push(line, format_args!(" \"{}\"", vocab.text(*word))),
            TargetSide::Var(variable) => push(line, format_args!(" x{variable}")),
        }
    }
    line.push_str(" |||");
}

fn write_source(source: &[Source], vocab: &Vocab, line: &mut String) {
    let mut open: Vec<u32> = Vec::new();
    let mut variable = 0;
    for (index, token) in source.iter().enumerate() {
        if index > 0 {
            line.push(' ');
        }
        match *token {
            Source::Open(label, children) => {
                push(line, format_args!("{} (", vocab.text(label)));
                open.push(children + 1);
            }
            Source::Word(word) => push(line, format_args!("\"{}\"", vocab.text(word))),
            Source::Var(label) => {
                push(line, format_args!("x{variable}:{}", vocab.text(label)));
                variable += 1;
            }
        }
        while let Some(left) = open.last_mut() {
            *left -= 1;
            if *left > 0 {
                break;
            }
            open.pop();
            line.push_str(" )");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RuleId;

    fn read(text: &str, vocab: &mut Vocab) -> Result<Grammar> {
        read_travatar(&mut TextReader::from_text("table", text), &["egfp", "w"], vocab)
    }

    #[test]
    fn rules_of_the_documented_forms_read() {
        let mut vocab = Vocab::new();
        let text = "VP ( VB ( \"show\" ) x0:NP ) ||| x0 \"を\" \"見せ\" ||| w=2 egfp=-0.5 p=1 ||| 1 2 3 ||| 0-1\n\
                    vp ( vbd ( \"a\" ) x0:sbar ) ||| x0:sbar \"b\" @ vp ||| p=1\n\
                    ( ( \")\" ) ||| \"x0\" ||| egfp=0\n";
        let grammar = read(text, &mut vocab).unwrap();
        let shown: Vec<String> = grammar.rules().map(|id| grammar.rule(id).show(&vocab)).collect();
        assert_eq!(
            shown,
            ["VP(VB(show) x1:NP) -> x1 を 見せ", "vp(vbd(a) x1:sbar) -> x1 b", "\"(\"(\")\") -> \"x0\""]
        );
        assert_eq!(grammar.features(RuleId(0)), [-0.5, 2.0]);
        assert_eq!(grammar.features(RuleId(1)), [0.0, 0.0]);
    }

    #[test]
    fn broken_lines_are_named() {
        let good = "A ( \"a\" ) ||| \"b\" ||| egfp=0";
        for (bad, place) in [
            ("A ( \"a\" ||| \"b\" ||| egfp=0", "table:2:1"),
            ("A ( \"a\" ) ||| b ||| egfp=0", "table:2:15"),
            ("A ( \"a\" ) ||| x0 ||| egfp=0", "table:2:15"),
            ("A ( \"a\" ) ||| \"</s>\" ||| egfp=0", "table:2:15"),
            ("A ( \"a\" ) ||| \"b\" ||| egfp=low", "table:2:23"),
            ("A ( \"a\" ) B ||| \"b\" ||| egfp=0", "table:2:11"),
            ("A ( x1:B ) ||| \"b\" ||| egfp=0", "table:2:5"),
            ("A ( \"a\" )", "table:2:"),
        ] {
            let error = read(&format!("{good}\n{bad}\n"), &mut Vocab::new()).unwrap_err().to_string();
            assert!(error.starts_with(place), "{bad}: {error}");
        }
    }
}
