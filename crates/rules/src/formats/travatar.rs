//! Travatar's text rule tables.
//!
//! ```text
//! VP ( VB ( "show" ) x0:NP ) ||| x0 "を" "見せ" ||| egfp=-2.48 fgep=-1.09 p=1 w=2 ||| 1 12 3 ||| 0-1
//! ```
//!
//! Words are quoted, labels are bare, variables are numbered from 0 in source order; on the target side a
//! variable's label and an `@ HEAD` may follow. Features are natural logs. Counts are those of the rule, of its
//! source side and of its target side; links are between the words of both sides. Both are optional.

use sylvan_base::{Fault, Result, Vocab};
use sylvan_store::TextReader;

use crate::{Count, Grammar, GrammarBuilder, Rule, RuleCount, Source, TargetSide, WordLink};

/// One line of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct TravatarRule {
    /// The rule.
    pub rule: Rule,
    /// Feature names, as numbers of [`TravatarReader::names`], and values.
    pub features: Vec<(usize, f32)>,
    /// How often it was seen, if the table says so.
    pub count: RuleCount,
    /// Links between words.
    pub links: Vec<WordLink>,
}

/// Reads a table line by line.
#[derive(Debug, Default)]
pub struct TravatarReader {
    names: Vec<String>,
}

impl TravatarReader {
    /// The feature names that were met so far, in that order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The next rule, or `None` at the end.
    pub fn next_rule(&mut self, reader: &mut TextReader, vocab: &mut Vocab) -> Result<Option<TravatarRule>> {
        while let Some(line) = reader.next_line()? {
            if line.trim().is_empty() {
                continue;
            }
            let parsed = self.parse_line(line, vocab);
            return match parsed {
                Ok(rule) => Ok(Some(rule)),
                Err(fault) => Err(reader.locate(fault.advise("is this a Travatar rule table?"))),
            };
        }
        Ok(None)
    }

    fn parse_line(&mut self, line: &str, vocab: &mut Vocab) -> std::result::Result<TravatarRule, Fault> {
        let mut fields = line.split("|||");
        let missing = || Fault::new(0, "too few fields", "source ||| target ||| features");
        let source = fields.next().ok_or_else(missing)?;
        let target = fields.next().ok_or_else(missing)?;
        let named = fields.next().ok_or_else(missing)?;
        let (source, variables) = parse_source(line, source, vocab)?;
        let target = parse_target(line, target, variables, vocab)?;
        let mut features = Vec::new();
        for pair in named.split_ascii_whitespace() {
            let value = |text: &str| text.parse::<f32>().ok().filter(|value| value.is_finite());
            let parsed = pair.rsplit_once('=').and_then(|(name, text)| Some((name, value(text)?)));
            let Some((name, value)) = parsed else { return Err(fault_at(line, pair, "name=number")) };
            features.push((self.name(name), value));
        }
        let count = parse_counts(line, fields.next().unwrap_or_default())?;
        let rule =
            Rule::new(source, target).map_err(|error| Fault::new(0, error.to_string(), "a linear rule"))?;
        let links = parse_links(line, fields.next().unwrap_or_default(), &rule)?;
        Ok(TravatarRule { rule, features, count, links })
    }

    fn name(&mut self, name: &str) -> usize {
        self.names.iter().position(|known| known == name).unwrap_or_else(|| {
            self.names.push(name.to_string());
            self.names.len() - 1
        })
    }
}

/// Reads a whole table. The grammar's features are those named in `features`; others are left out, and one
/// that a rule does not have is 0.
pub fn read_travatar(reader: &mut TextReader, features: &[&str], vocab: &mut Vocab) -> Result<Grammar> {
    let mut builder = GrammarBuilder::new(features.iter().copied());
    let mut values = vec![0.0; features.len()];
    let mut lines = TravatarReader::default();
    while let Some(line) = lines.next_rule(reader, vocab)? {
        values.fill(0.0);
        for (name, value) in line.features {
            if let Some(index) = features.iter().position(|&known| known == lines.names[name]) {
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
pub(crate) fn parse_count_line(line: &str, vocab: &mut Vocab) -> std::result::Result<CountedRule, Fault> {
    let mut fields = line.split("|||");
    let missing = || Fault::new(0, "too few fields", "source ||| target ||| count ||| links ||| lines");
    let source = fields.next().ok_or_else(missing)?;
    let target = fields.next().ok_or_else(missing)?;
    let count = fields.next().ok_or_else(missing)?.trim();
    let (source, variables) = parse_source(line, source, vocab)?;
    let target = parse_target(line, target, variables, vocab)?;
    let number = count.parse::<f64>().ok().filter(|number| *number > 0.0 && *number < 1e12);
    let count = Count::from_f64(number.ok_or_else(|| fault_at(line, count, "a count above 0"))?);
    let rule =
        Rule::new(source, target).map_err(|error| Fault::new(0, error.to_string(), "a linear rule"))?;
    let links = parse_links(line, fields.next().unwrap_or_default(), &rule)?;
    let mut lines = Vec::new();
    for field in fields.next().unwrap_or_default().split_ascii_whitespace() {
        lines.push(field.parse().map_err(|_| fault_at(line, field, "a line number"))?);
    }
    Ok(CountedRule { rule, count, links, lines })
}

fn parse_counts(line: &str, text: &str) -> std::result::Result<RuleCount, Fault> {
    let mut counts = [Count::default(); 3];
    let mut fields = text.split_ascii_whitespace();
    for count in &mut counts {
        let Some(field) = fields.next() else { break };
        let number = field.parse::<f64>().ok().filter(|number| (0.0..1e12).contains(number));
        *count = Count::from_f64(number.ok_or_else(|| fault_at(line, field, "a count"))?);
    }
    let [rule, source, target] = counts;
    Ok(RuleCount { rule, source, target })
}

fn parse_links(line: &str, text: &str, rule: &Rule) -> std::result::Result<Vec<WordLink>, Fault> {
    let source_words = rule.source().iter().filter(|token| matches!(token, Source::Word(_))).count() as u32;
    let target_words =
        rule.target().iter().filter(|token| matches!(token, TargetSide::Word(_))).count() as u32;
    let link = |field: &str| -> Option<WordLink> {
        let (source, target) = field.split_once('-')?;
        let link: WordLink = (source.parse().ok()?, target.parse().ok()?);
        (link.0 < source_words && link.1 < target_words).then_some(link)
    };
    let fields = text.split_ascii_whitespace();
    fields
        .map(|field| link(field).ok_or_else(|| fault_at(line, field, "a link between words, such as 0-1")))
        .collect()
}

/// A fault at the place of `token`, which must be a slice of `line`.
fn fault_at(line: &str, token: &str, expected: &str) -> Fault {
    let byte = (token.as_ptr() as usize).saturating_sub(line.as_ptr() as usize).min(line.len());
    let found = if token.is_empty() { "nothing".to_string() } else { format!("{token:?}") };
    Fault::at_byte(line, byte, found, expected)
}

fn parse_source(line: &str, text: &str, vocab: &mut Vocab) -> std::result::Result<(Vec<Source>, u32), Fault> {
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

fn parse_target(
    line: &str,
    text: &str,
    variables: u32,
    vocab: &mut Vocab,
) -> std::result::Result<Vec<TargetSide>, Fault> {
    let mut target = Vec::new();
    for token in text.split_ascii_whitespace() {
        if token == "@" {
            break;
        }
        if let Some(word) = quoted(token) {
            if matches!(word, "<s>" | "</s>") {
                return Err(fault_at(line, token, "a word; sentence boundaries cannot be translated"));
            }
            target.push(TargetSide::Word(vocab.intern(word)));
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
