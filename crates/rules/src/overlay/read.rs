//! Reading corrections.

use sylvan_base::limits::VALUE;
use sylvan_base::{Fault, HashMap, Result, Vocab};
use sylvan_store::TextReader;

use super::{BOOST, Overlay, Verdict};
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
    entry: usize,
}

struct Reading<'a> {
    table: &'a Grammar,
    vocab: &'a mut Vocab,
    features: Vec<String>,
    added: Vec<Added>,
    verdicts: Vec<Vec<Verdict>>,
    entries: HashMap<Rule, usize>,
    of_table: HashMap<RuleId, usize>,
}

impl Overlay {
    /// Reads corrections of a table; its symbols must be those of `vocab`, which new words are added to. Lines that
    /// begin with `#` are comments. The second value lists the lines about rules that the table does not have, such as
    /// `overlay:3: no such rule`: they change nothing.
    pub fn read(reader: &mut TextReader, table: &Grammar, vocab: &mut Vocab) -> Result<(Self, Vec<String>)> {
        let features = table.feature_names().iter().cloned().chain([BOOST.to_string()]);
        let mut reading = Reading {
            table,
            vocab,
            features: features.collect(),
            added: Vec::new(),
            verdicts: Vec::new(),
            entries: HashMap::default(),
            of_table: HashMap::default(),
        };
        let mut missing = Vec::new();
        while let Some(line) = reader.next_line()? {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let known = reading.line(line);
            if !known.map_err(|fault| reader.locate(fault))? {
                missing.push(format!("{}:{}: no such rule", reader.name(), reader.line_number()));
            }
        }
        Ok((reading.finish(), missing))
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
        for pair in values.split_ascii_whitespace() {
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
        self.use_rule(rule, features, RuleCount::default(), Vec::new(), instead_of, sentence);
        Ok(())
    }

    fn forbid(&mut self, line: &str, text: &str, sentence: Option<u64>) -> Parsed<bool> {
        let any = text.strip_suffix('*').map(str::trim_end).filter(|text| text.ends_with("->"));
        let Some(source) = any else {
            let rule = self.rule(line, text)?;
            let in_table = self.table.find_rule(&rule);
            if in_table.is_none() && !self.entries.contains_key(&rule) {
                return Ok(false);
            }
            let entry = self.entry(rule, in_table);
            self.verdicts[entry].push(Verdict { sentence, used: None });
            return Ok(true);
        };
        let source = Rule::parse_source(source, self.vocab).map_err(|fault| shifted(fault, line, text))?;
        let mut rules = self.rules_with(&source);
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
        // Earlier lines about the rule count: it may have been added or favoured already.
        let before = self.entries.get(&rule).and_then(|&entry| {
            let concerns = |verdict: &&Verdict| verdict.sentence.is_none() || verdict.sentence == sentence;
            self.verdicts[entry].iter().rev().filter(concerns).find_map(|verdict| verdict.used)
        });
        let in_table = self.table.find_rule(&rule);
        let (mut features, count, links) = match (before, in_table) {
            (Some(added), _) => {
                let Added { features, count, links, .. } = &self.added[added.0 as usize];
                (features.clone(), *count, links.clone())
            }
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
        self.use_rule(rule, features, count, links, in_table, sentence);
        true
    }

    /// Records a rule of the overlay.
    fn use_rule(
        &mut self,
        rule: Rule,
        features: Vec<f32>,
        count: RuleCount,
        links: Vec<WordLink>,
        instead_of: Option<RuleId>,
        sentence: Option<u64>,
    ) {
        let entry = self.entry(rule.clone(), instead_of);
        let used = Some(RuleId(self.added.len() as u32));
        self.verdicts[entry].push(Verdict { sentence, used });
        self.added.push(Added { rule, features, count, links, instead_of, entry });
    }

    fn entry(&mut self, rule: Rule, in_table: Option<RuleId>) -> usize {
        let next = self.verdicts.len();
        let entry = *self.entries.entry(rule).or_insert(next);
        if entry == next {
            self.verdicts.push(Vec::new());
        }
        if let Some(id) = in_table {
            self.of_table.insert(id, entry);
        }
        entry
    }

    fn finish(self) -> Overlay {
        let mut builder = GrammarBuilder::new(self.features.iter().map(String::as_str));
        for added in &self.added {
            builder.add_counted(&added.rule, &added.features, added.count, &added.links, self.vocab);
        }
        Overlay {
            of_added: self.added.iter().map(|added| added.entry).collect(),
            instead_of: self.added.iter().map(|added| added.instead_of).collect(),
            added: builder.finish(),
            verdicts: self.verdicts,
            of_table: self.of_table,
        }
    }
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
