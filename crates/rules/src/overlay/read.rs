//! Reading corrections.

use std::sync::Arc;

use sylvan_base::limits::VALUE;
use sylvan_base::{Fault, HashMap, Result, Vocab};
use sylvan_store::TextReader;

use super::{BOOST, GIVEN, Overlay, Part, Verdict};
use crate::{Grammar, GrammarBuilder, Rule, RuleCount, RuleId, Source, TargetSide, WordLink};

type Parsed<T> = std::result::Result<T, Fault>;

const FORMS: &str = "add RULE, forbid RULE, forbid SOURCE -> *, or boost NUMBER RULE";

/// A rule to be added to the table.
struct Added {
    rule: Rule,
    features: Vec<f32>,
    count: RuleCount,
    links: Vec<WordLink>,
    instead_of: Option<RuleId>,
    line: u64,
    is_given: bool,
}

struct Reading<'a> {
    table: &'a Grammar,
    vocab: &'a mut Vocab,
    /// What lines before these said.
    below: &'a Overlay,
    features: Vec<String>,
    added: Vec<Added>,
    verdicts: Vec<Vec<Verdict>>,
    entries: HashMap<Rule, usize>,
    of_table: HashMap<RuleId, usize>,
    of_added: HashMap<u32, usize>,
    numbers: Vec<Vec<u32>>,
    /// The line that is being read.
    line: u64,
}

impl Overlay {
    /// Reads corrections of a table; its symbols must be those of `vocab`, which new words are added to. Lines that
    /// begin with `#` are comments. The second value lists the lines about rules that the table does not have, such as
    /// `overlay:3: no such rule`: they change nothing.
    pub fn read(reader: &mut TextReader, table: &Grammar, vocab: &mut Vocab) -> Result<(Self, Vec<String>)> {
        Self::default().and(reader, table, vocab)
    }

    /// The same corrections and more, which come after them. Table and vocabulary must be those that they were read
    /// with; the vocabulary may have grown.
    pub fn and(
        &self,
        reader: &mut TextReader,
        table: &Grammar,
        vocab: &mut Vocab,
    ) -> Result<(Self, Vec<String>)> {
        let features = table.feature_names().iter().cloned().chain([BOOST.to_string()]);
        let mut reading = Reading {
            table,
            vocab,
            below: self,
            features: features.collect(),
            added: Vec::new(),
            verdicts: Vec::new(),
            entries: HashMap::default(),
            of_table: HashMap::default(),
            of_added: HashMap::default(),
            numbers: Vec::new(),
            line: 0,
        };
        let mut missing = Vec::new();
        while let Some(line) = reader.next_line()? {
            reading.line += 1;
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let known = reading.line(line);
            if !known.map_err(|fault| reader.locate(fault))? {
                missing.push(format!("{}:{}: no such rule", reader.name(), reader.line_number()));
            }
        }
        let part = Arc::new(reading.finish());
        Ok((Self { parts: self.parts.iter().cloned().chain([part]).collect() }, missing))
    }
}

impl Reading<'_> {
    /// Reads a line; false if it is about a rule that does not exist.
    fn line(&mut self, line: &str) -> Parsed<bool> {
        let mut rest = line;
        let mut sentence = None;
        if let Some(numbered) = line.strip_prefix('@') {
            let (number, after) = numbered.split_once(char::is_whitespace).unwrap_or((numbered, ""));
            let parsed = number.parse::<u64>().ok().filter(|number| *number > 0);
            let expected = "the number of a sentence, counted from 1";
            sentence = Some(parsed.ok_or_else(|| Fault::new(2, format!("{number:?}"), expected))?);
            rest = after.trim_start();
        }
        let (verb, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let rest = rest.trim();
        match verb {
            "add" => self.add(line, rest, sentence).map(|()| true),
            "forbid" => self.forbid(line, rest, sentence),
            "boost" => {
                let (number, rule) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                let boost = number.parse::<f32>().ok().filter(|boost| boost.abs() <= VALUE);
                let boost = boost.ok_or_else(|| at(line, number, "how much more the rule scores"))?;
                let rule = self.rule(line, rule.trim())?;
                Ok(self.boost(rule, boost, sentence))
            }
            _ => Err(at(line, verb, FORMS)),
        }
    }

    fn rule(&mut self, line: &str, text: &str) -> Parsed<Rule> {
        Rule::parse(text, self.vocab).map_err(|fault| shifted(fault, line, text))
    }

    fn add(&mut self, line: &str, text: &str, sentence: Option<u64>) -> Parsed<()> {
        let (text, values) = text.rsplit_once(" ||| ").unwrap_or((text, ""));
        let rule = self.rule(line, text)?;
        let boundary = |symbol: &TargetSide| match *symbol {
            TargetSide::Word(word) => matches!(self.vocab.text(word), "<s>" | "</s>"),
            TargetSide::Var(_) => false,
        };
        if rule.target().iter().any(boundary) {
            return Err(at(line, text, "words; sentence boundaries cannot be translated"));
        }
        let mut features = vec![0.0; self.features.len()];
        let mut links = Vec::new();
        for pair in values.split_ascii_whitespace() {
            if let Some(text) = pair.strip_prefix("links=") {
                let expected = "links=0-0,1-2: words of the source and of the target side, counted from 0";
                links = word_links(&rule, text).ok_or_else(|| at(line, pair, expected))?;
                continue;
            }
            let parsed = pair.split_once('=').and_then(|(name, value)| {
                let value = value.parse::<f32>().ok().filter(|value| value.abs() <= VALUE)?;
                Some((self.features.iter().position(|known| known == name)?, value))
            });
            let expected =
                || at(line, pair, &format!("name=number with one of {}", self.features.join(", ")));
            let (place, value) = parsed.ok_or_else(expected)?;
            features[place] = value;
        }
        let instead_of = self.table.find_rule(&rule);
        let boost = features.last().copied().unwrap_or(0.0);
        let is_given = boost >= GIVEN && rule.variables().next().is_none();
        let (count, line) = (RuleCount::default(), self.line);
        self.use_rule(Added { rule, features, count, links, instead_of, line, is_given }, sentence);
        Ok(())
    }

    fn forbid(&mut self, line: &str, text: &str, sentence: Option<u64>) -> Parsed<bool> {
        let any = text.strip_suffix('*').map(str::trim_end).filter(|text| text.ends_with("->"));
        let Some(source) = any else {
            let rule = self.rule(line, text)?;
            let in_table = self.table.find_rule(&rule);
            let mut below = self.below.parts.iter();
            let is_known =
                self.entries.contains_key(&rule) || below.any(|part| part.entries.contains_key(&rule));
            if in_table.is_none() && !is_known {
                return Ok(false);
            }
            let entry = self.entry(rule, in_table);
            self.verdicts[entry].push(Verdict { sentence, used: None });
            return Ok(true);
        };
        let source = Rule::parse_source(source, self.vocab).map_err(|fault| shifted(fault, line, text))?;
        let mut rules = self.rules_with(&source);
        for part in &self.below.parts {
            let Some(found) = part.added.find_source(&source) else { continue };
            part.added.each_rule_of(found, |id, target| {
                if let Ok(rule) = Rule::new(source.clone(), target.collect()) {
                    rules.push((rule, part.instead_of.get(id.0 as usize).copied().flatten()));
                }
            });
        }
        rules.extend(
            self.added
                .iter()
                .filter(|added| *added.rule.source() == *source)
                .map(|added| (added.rule.clone(), added.instead_of)),
        );
        for (rule, in_table) in &rules {
            let entry = self.entry(rule.clone(), *in_table);
            self.verdicts[entry].push(Verdict { sentence, used: None });
        }
        Ok(!rules.is_empty())
    }

    /// The rules of the table with a source side.
    fn rules_with(&self, source: &[Source]) -> Vec<(Rule, Option<RuleId>)> {
        let mut rules = Vec::new();
        if let Some(found) = self.table.find_source(source) {
            self.table.each_rule_of(found, |id, target| {
                if let Ok(rule) = Rule::new(source.to_vec(), target.collect()) {
                    rules.push((rule, Some(id)));
                }
            });
        }
        rules
    }

    fn boost(&mut self, rule: Rule, boost: f32, sentence: Option<u64>) -> bool {
        let in_table = self.table.find_rule(&rule);
        let (mut features, count, links) = match (self.added_before(&rule, sentence), in_table) {
            (Some(added), _) => added,
            (None, Some(id)) => {
                let notes = self.table.notes(id);
                let mut features = self.table.features(id);
                features.push(0.0);
                (features, notes.count.unwrap_or_default(), notes.links)
            }
            (None, None) => return false,
        };
        if let Some(last) = features.last_mut() {
            *last = boost;
        }
        let (line, instead_of) = (self.line, in_table);
        self.use_rule(Added { rule, features, count, links, instead_of, line, is_given: false }, sentence);
        true
    }

    /// What earlier lines made of a rule: it may have been added or favoured already.
    fn added_before(
        &self,
        rule: &Rule,
        sentence: Option<u64>,
    ) -> Option<(Vec<f32>, RuleCount, Vec<WordLink>)> {
        let concerns = |verdict: &&Verdict| verdict.sentence.is_none() || verdict.sentence == sentence;
        let last =
            |verdicts: &[Verdict]| verdicts.iter().rev().filter(concerns).find_map(|verdict| verdict.used);
        let here = self.entries.get(rule).and_then(|&entry| last(&self.verdicts[entry]));
        if let Some(number) = here {
            let Added { features, count, links, .. } = &self.added[(number - self.below.end()) as usize];
            return Some((features.clone(), *count, links.clone()));
        }
        let number = self.below.parts.iter().rev().find_map(|part| {
            let entry = *part.entries.get(rule)?;
            last(&part.verdicts[entry])
        })?;
        let (part, id) = self.below.place(number)?;
        let notes = part.added.notes(id);
        Some((part.added.features(id), notes.count.unwrap_or_default(), notes.links))
    }

    /// Records a rule of the overlay.
    fn use_rule(&mut self, added: Added, sentence: Option<u64>) {
        let entry = self.entry(added.rule.clone(), added.instead_of);
        let number = self.below.end() + self.added.len() as u32;
        self.verdicts[entry].push(Verdict { sentence, used: Some(number) });
        self.of_added.insert(number, entry);
        self.numbers[entry].push(number);
        self.added.push(added);
    }

    fn entry(&mut self, rule: Rule, in_table: Option<RuleId>) -> usize {
        let known = self.entries.get(&rule).copied();
        let entry = known.unwrap_or(self.verdicts.len());
        if known.is_none() {
            self.verdicts.push(Vec::new());
            self.numbers.push(Vec::new());
            // What is said here goes before what was said about the same rule below.
            for part in &self.below.parts {
                let Some(&below) = part.entries.get(&rule) else { continue };
                self.of_added.extend(part.numbers[below].iter().map(|&number| (number, entry)));
            }
            self.entries.insert(rule, entry);
        }
        if let Some(id) = in_table {
            self.of_table.insert(id, entry);
        }
        entry
    }

    fn finish(self) -> Part {
        let mut builder = GrammarBuilder::new(self.features.iter().map(String::as_str));
        for added in &self.added {
            builder.add_counted(&added.rule, &added.features, added.count, &added.links, self.vocab);
        }
        Part {
            first: self.below.end(),
            instead_of: self.added.iter().map(|added| added.instead_of).collect(),
            lines: self.added.iter().map(|added| added.line).collect(),
            given: self.added.iter().map(|added| added.is_given).collect(),
            added: builder.finish(),
            verdicts: self.verdicts,
            entries: self.entries,
            of_table: self.of_table,
            of_added: self.of_added,
            numbers: self.numbers,
        }
    }
}

/// Links between the words of a rule, such as `0-0,1-2`.
fn word_links(rule: &Rule, text: &str) -> Option<Vec<WordLink>> {
    let sources = rule.source().iter().filter(|token| matches!(token, Source::Word(_))).count();
    let targets = rule.target().iter().filter(|token| matches!(token, TargetSide::Word(_))).count();
    let link = |text: &str| {
        let (source, target) = text.split_once('-')?;
        let (source, target): (u32, u32) = (source.parse().ok()?, target.parse().ok()?);
        ((source as usize) < sources && (target as usize) < targets).then_some((source, target))
    };
    let mut links: Vec<WordLink> = text.split(',').map(link).collect::<Option<_>>()?;
    links.sort_unstable();
    links.dedup();
    Some(links)
}

/// A fault at the place of `token`, which must be a slice of `line`.
fn at(line: &str, token: &str, expected: &str) -> Fault {
    let found = if token.is_empty() { "nothing".to_string() } else { format!("{token:?}") };
    Fault::at_byte(line, offset(line, token), found, expected)
        .advise("rules are written as `sylvan grammar show` prints them")
}

/// A fault in a part of a line.
fn shifted(mut fault: Fault, line: &str, part: &str) -> Fault {
    fault.column = fault.column.max(1) + line[..offset(line, part)].chars().count();
    fault
}

fn offset(line: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(line.as_ptr() as usize).min(line.len())
}
