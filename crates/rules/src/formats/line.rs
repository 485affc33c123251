//! What the line formats share: fields between bars, numbers, links, and reserved characters.

use std::fmt::Write;

use sylvan_base::Fault;
use sylvan_base::limits::VALUE;

use crate::{Count, Rule, RuleCount, Source, TargetSide, WordLink};

pub(super) type Parsed<T> = std::result::Result<T, Fault>;

/// The parts of a line between bars. Bars are `|||` between white space; a word may contain them.
pub(super) struct Fields<'a> {
    rest: Option<&'a str>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        Self { rest: Some(line) }
    }

    /// The next field, or a fault that shows what a line should look like.
    pub(super) fn need(&mut self, expected: &str) -> Parsed<&'a str> {
        self.next().ok_or_else(|| Fault::new(0, "too few fields", expected))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        const BARS: &str = "|||";
        let rest = self.rest?;
        let is_space = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_whitespace);
        let alone = |&(at, _): &(usize, &str)| {
            let before = at.checked_sub(1).and_then(|at| rest.as_bytes().get(at));
            is_space(before) && is_space(rest.as_bytes().get(at + BARS.len()))
        };
        let bars = rest.match_indices(BARS).find(alone);
        let (field, after) = match bars {
            Some((at, _)) => (&rest[..at], Some(&rest[at + BARS.len()..])),
            None => (rest, None),
        };
        self.rest = after;
        Some(field)
    }
}

/// A fault at the place of `token`, which must be a slice of `line`.
pub(super) fn fault_at(line: &str, token: &str, expected: &str) -> Fault {
    let byte = (token.as_ptr() as usize).saturating_sub(line.as_ptr() as usize).min(line.len());
    let found = if token.is_empty() { "nothing".to_string() } else { format!("{token:?}") };
    Fault::at_byte(line, byte, found, expected)
}

/// A rule of two sides that were read.
pub(super) fn rule(source: Vec<Source>, target: Vec<TargetSide>) -> Parsed<Rule> {
    Rule::new(source, target).map_err(|error| Fault::new(0, error.to_string(), "a linear rule"))
}

/// A target word; sentence boundaries are none.
pub(super) fn checked_word<'a>(line: &str, token: &str, word: &'a str) -> Parsed<&'a str> {
    if matches!(word, "<s>" | "</s>") {
        return Err(fault_at(line, token, "a word; sentence boundaries cannot be translated"));
    }
    Ok(word)
}

/// `name=value`.
pub(super) fn named_value<'a>(line: &str, pair: &'a str) -> Parsed<(&'a str, f32)> {
    let value = |text: &str| text.parse::<f32>().ok().filter(|value| value.abs() <= VALUE);
    let parsed = pair.rsplit_once('=').and_then(|(name, text)| Some((name, value(text)?)));
    parsed.filter(|(name, _)| !name.is_empty()).ok_or_else(|| fault_at(line, pair, "name=number"))
}

/// Up to three counts, in the order of the file; those that are missing are 0.
pub(super) fn counts(line: &str, text: &str) -> Parsed<[Count; 3]> {
    let mut counts = [Count::default(); 3];
    for (count, field) in counts.iter_mut().zip(text.split_ascii_whitespace()) {
        let number = field.parse::<f64>().ok().filter(|number| (0.0..1e12).contains(number));
        *count = Count::from_f64(number.ok_or_else(|| fault_at(line, field, "a count"))?);
    }
    Ok(counts)
}

/// Counts of the rule, its source side and its target side.
pub(super) fn rule_count(rule: Count, source: Count, target: Count) -> RuleCount {
    RuleCount { rule, source, target }
}

/// `0-1 2-0`, with the text of each.
pub(super) fn links<'a>(
    line: &'a str,
    text: &'a str,
) -> impl Iterator<Item = Parsed<(&'a str, WordLink)>> + 'a {
    text.split_ascii_whitespace().map(move |field| {
        let parsed = field.split_once('-').and_then(|(s, t)| Some((s.parse().ok()?, t.parse().ok()?)));
        Ok((field, parsed.ok_or_else(|| fault_at(line, field, "a link such as 0-1"))?))
    })
}

/// What stands at the places of a flat side: words and variables, each counted among its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaf {
    Word(u32),
    Var(u32),
}

/// The places of a source side without its nodes.
pub(super) fn source_leaves(source: &[Source]) -> Vec<Leaf> {
    let (mut words, mut variables) = (0, 0);
    let leaf = |token: &Source| match token {
        Source::Open(..) => None,
        Source::Word(_) => {
            words += 1;
            Some(Leaf::Word(words - 1))
        }
        Source::Var(_) => {
            variables += 1;
            Some(Leaf::Var(variables - 1))
        }
    };
    source.iter().filter_map(leaf).collect()
}

/// The places of a target side.
pub(super) fn target_leaves(target: &[TargetSide]) -> Vec<Leaf> {
    let mut words = 0;
    let leaf = |token: &TargetSide| match *token {
        TargetSide::Word(_) => {
            words += 1;
            Leaf::Word(words - 1)
        }
        TargetSide::Var(variable) => Leaf::Var(variable),
    };
    target.iter().map(leaf).collect()
}

/// Links between words from links between places; links of variables are already known.
pub(super) fn place_links(line: &str, text: &str, rule: &Rule) -> Parsed<Vec<WordLink>> {
    let (source, target) = (source_leaves(rule.source()), target_leaves(rule.target()));
    let mut words = Vec::new();
    for link in links(line, text) {
        let (field, (s, t)) = link?;
        match (source.get(s as usize), target.get(t as usize)) {
            (Some(&Leaf::Word(s)), Some(&Leaf::Word(t))) => words.push((s, t)),
            (Some(Leaf::Var(s)), Some(Leaf::Var(t))) if s == t => {}
            _ => return Err(fault_at(line, field, "a link between words, or of a variable with itself")),
        }
    }
    words.sort_unstable();
    words.dedup();
    Ok(words)
}

/// Links between places: those of the words, and those of the variables if wanted.
pub(super) fn write_place_links(rule: &Rule, words: &[WordLink], variables: bool, line: &mut String) {
    let (source, target) = (source_leaves(rule.source()), target_leaves(rule.target()));
    let mut places = Vec::new();
    for (s, from) in source.iter().enumerate() {
        for (t, to) in target.iter().enumerate() {
            let linked = match (from, to) {
                (Leaf::Word(s), Leaf::Word(t)) => words.contains(&(*s, *t)),
                (Leaf::Var(s), Leaf::Var(t)) => variables && s == t,
                _ => false,
            };
            if linked {
                places.push((s, t));
            }
        }
    }
    places.iter().for_each(|(s, t)| push(line, format_args!(" {s}-{t}")));
}

const ENTITIES: [(char, &str); 10] = [
    ('&', "&amp;"),
    ('|', "&#124;"),
    ('[', "&#91;"),
    (']', "&#93;"),
    ('(', "&#40;"),
    (')', "&#41;"),
    ('<', "&lt;"),
    ('>', "&gt;"),
    ('\'', "&apos;"),
    ('"', "&quot;"),
];

/// Appends a word with the reserved characters of a format written as in XML.
pub(super) fn push_escaped(line: &mut String, text: &str, kept: &str) {
    for c in text.chars() {
        let entity = ENTITIES.iter().find(|(known, _)| *known == c && (c == '&' || kept.contains(c)));
        match entity {
            Some((_, entity)) => line.push_str(entity),
            None => line.push(c),
        }
    }
}

/// A word as it was before it was escaped, by us or by Moses' scripts.
pub(super) fn unescaped(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.contains('&') {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let bar = ('|', "&bar;");
        match ENTITIES.iter().chain([&bar]).find(|(_, entity)| rest.starts_with(entity)) {
            Some((c, entity)) => {
                out.push(*c);
                rest = &rest[entity.len()..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out.into()
}

pub(super) fn push(line: &mut String, arguments: std::fmt::Arguments<'_>) {
    line.write_fmt(arguments).expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bars_inside_words_divide_nothing() {
        let fields: Vec<&str> = Fields::new("a \"|||\" b||| ||| |||c |||").collect();
        assert_eq!(fields, ["a \"|||\" b||| ", " |||c ", ""]);
        assert_eq!(Fields::new("").collect::<Vec<_>>(), [""]);
    }

    proptest! {
        #[test]
        fn words_come_back(word in "[&|\\[\\]()<>'\"a-z;#0-9]{0,12}") {
            let mut line = String::new();
            push_escaped(&mut line, &word, "|[]()");
            prop_assert!(!line.contains(['|', '[', ']', '(', ')']));
            prop_assert_eq!(unescaped(&line), word);
        }
    }
}
