//! Reads grammar files: one statement per line, rules with their target lines below them.
//!
//! The syntax is described for its users in `data/README.md`. Statements may refer to later ones only for
//! words; features, sets and categories come first, as they do in the shipped files. This module holds the
//! statements; [`rule_reader`](crate::rule_reader) reads the two sides of a rule.

use sylvan_base::{Fault, InputError};

use crate::lexicon;
use crate::rule_reader::{self, RuleReader};
use crate::syntax::{Category, Entry, File, Kind, Lexical, Open, Place, Rule, Value, Word};

/// Reads several files as one grammar.
pub(crate) fn read(files: &[(&str, &str)]) -> Result<File, InputError> {
    let mut reader = Reader::default();
    for (index, (name, text)) in files.iter().enumerate() {
        reader.file.names.push((*name).to_owned());
        reader.section = None;
        for (number, line) in text.lines().enumerate() {
            let place = Place { file: index as u32, line: number as u32 + 1 };
            reader.line(place, line)?;
        }
        reader.finish_rule()?;
    }
    Ok(reader.file)
}

#[derive(Default)]
struct Reader {
    file: File,
    /// The `entries` heading that indented lines belong to: category and feature combinations.
    section: Option<(u32, Vec<Vec<Value>>)>,
    /// The rule whose target lines are being read.
    rule: Option<Rule>,
}

type Read<T> = Result<T, Fault>;

impl Reader {
    /// One line: what it is depends on its indentation and on the heading or rule above it.
    fn line(&mut self, place: Place, line: &str) -> Result<(), InputError> {
        let text = line.trim();
        if text.is_empty() || text.starts_with('#') {
            return Ok(());
        }
        let indented = line.starts_with([' ', '\t']);
        if !indented {
            // A new statement closes the rule above it, whose faults carry its own line.
            self.finish_rule()?;
            self.section = None;
        }
        let read = match (indented, self.rule.is_some()) {
            (true, true) => self.rule_line(place, line, text),
            (true, false) => self.entry(place, line, text),
            (false, _) => self.statement(place, line, text),
        };
        read.map_err(|fault| self.file.error(place, fault))
    }

    /// A line that is not indented. Rules are recognised by their arrow, all else by the first word.
    fn statement(&mut self, place: Place, line: &str, text: &str) -> Read<()> {
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim();
        match word {
            "feature" => self.feature(rest),
            "set" => self.set(rest),
            "category" => self.category(place, rest),
            "lexical" => self.lexical(place, rest),
            "word" => self.word(rest),
            "verb" => self.verb(rest),
            "sound" => self.sound(rest),
            "start" => self.start(rest),
            "entries" => self.entries(rest),
            _ if text.contains("->") => {
                self.rule = Some(RuleReader::new(&mut self.file, line).rule(place, text)?);
                Ok(())
            }
            _ => Err(Fault::new(1, format!("`{word}`"), "a statement").advise(
                "begin the line with feature, set, category, lexical, word, verb, sound, start or entries, \
                 write a rule with `->`, or indent it under `entries` or under a rule",
            )),
        }
    }

    /// Files the rule whose lines were being read, if there is one.
    fn finish_rule(&mut self) -> Result<(), InputError> {
        let Some(rule) = self.rule.take() else { return Ok(()) };
        if rule.variants.is_empty() {
            let fault =
                Fault::new(0, "a rule without a target side", "an indented line that begins with `=`");
            return Err(self.file.error(rule.place, fault));
        }
        self.file.rules.push(rule);
        Ok(())
    }

    /// `feature NAME = value value*weight ...`. Features may share values: agreement and verb forms do.
    fn feature(&mut self, rest: &str) -> Read<()> {
        let (name, values) = assignment(rest, "feature NAME = value value*weight ...")?;
        if self.file.features.contains_key(name) {
            return Err(Fault::new(0, format!("feature {name} again"), "a new name"));
        }
        let mut list = Vec::new();
        for value in values {
            if value.starts_with(|c: char| c.is_ascii_uppercase()) {
                let advice = "names that begin with a capital are variables";
                return Err(Fault::new(0, format!("value `{value}`"), "a small first letter").advise(advice));
            }
            let (value, weight) = match value.split_once('*') {
                Some((value, weight)) => (value, Some(rule_reader::positive(weight)?)),
                None => (value, None),
            };
            let id = self.value(value)?;
            if let Some(weight) = weight {
                self.file.value_weights[usize::from(id)] = weight;
            }
            list.push(id);
        }
        self.file.features.insert(name.to_owned(), list);
        Ok(())
    }

    /// The id of a value, which is added if new.
    fn value(&mut self, name: &str) -> Read<Value> {
        if let Some(at) = self.file.values.iter().position(|value| value == name) {
            return Ok(at as Value);
        }
        if self.file.values.len() >= usize::from(Value::MAX) {
            return Err(Fault::new(0, "more than 255 feature values", "at most 255"));
        }
        self.file.values.push(name.to_owned());
        self.file.value_weights.push(1.0);
        Ok((self.file.values.len() - 1) as Value)
    }

    /// `set NAME = value set ...`: a short name for several values, usable wherever a value is.
    fn set(&mut self, rest: &str) -> Read<()> {
        let (name, members) = assignment(rest, "set NAME = value value ...")?;
        if self.file.values_of(name).is_some() {
            return Err(Fault::new(0, format!("`{name}` again"), "a name that is not yet a value or a set"));
        }
        let mut list = Vec::new();
        for member in members {
            let values = self.file.values_of(member).ok_or_else(|| rule_reader::unknown_value(member))?;
            list.extend(values);
        }
        list.sort_unstable();
        list.dedup();
        self.file.sets.insert(name.to_owned(), list);
        Ok(())
    }

    /// `category NAME[Feature,...]`.
    fn category(&mut self, place: Place, rest: &str) -> Read<()> {
        let (name, domains) = self.signature(rest)?;
        self.file.categories.push(Category { name, place, domains, lexical: None });
        Ok(())
    }

    /// `NAME[Feature,Feature]`: the name and the domain of each position.
    fn signature(&mut self, text: &str) -> Read<(String, Vec<Vec<Value>>)> {
        let (name, args) = rule_reader::split_term(text)?;
        if self.file.categories.iter().any(|category| category.name == name) {
            return Err(Fault::new(0, format!("category {name} again"), "a new name"));
        }
        let mut domains = Vec::new();
        for feature in args {
            let domain = self.file.features.get(feature);
            domains.push(domain.cloned().ok_or_else(|| {
                Fault::new(0, format!("`{feature}`"), "the name of a feature").advise("declare it above")
            })?);
        }
        if domains.len() > MAX_FEATURES {
            return Err(Fault::new(0, format!("{} features", domains.len()), "at most 6"));
        }
        Ok((name.to_owned(), domains))
    }

    /// `lexical NAME[Feature,...] KIND LABEL [open SERIES]`. The kind's inflected forms become one more feature,
    /// so that rules ask for a form as they ask for any other value.
    fn lexical(&mut self, place: Place, rest: &str) -> Read<()> {
        let expected = "lexical NAME[Features] KIND LABEL, and perhaps `open person|place|number`";
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let (signature, kind, label, open) = match *fields.as_slice() {
            [signature, kind, label] => (signature, kind, label, None),
            [signature, kind, label, "open", series] => (signature, kind, label, Some(series)),
            _ => return Err(Fault::new(0, format!("`{rest}`"), expected)),
        };
        let kind =
            Kind::NAMES.iter().find(|(name, _)| *name == kind).map(|&(_, kind)| kind).ok_or_else(|| {
                let kinds: Vec<&str> = Kind::NAMES.iter().map(|&(name, _)| name).collect();
                Fault::new(0, format!("`{kind}`"), format!("one of {}", kinds.join(", ")))
            })?;
        let open = match open {
            None => None,
            Some("person") => Some(Open::Person),
            Some("place") => Some(Open::Place),
            Some("number") => Some(Open::Number),
            Some(other) => return Err(Fault::new(0, format!("`{other}`"), "person, place or number")),
        };
        let (name, mut domains) = self.signature(signature)?;
        if !kind.forms().is_empty() {
            let mut forms = Vec::new();
            for form in kind.forms() {
                forms.push(self.value(form)?);
            }
            domains.push(forms);
        }
        let lexical = Some(Lexical { kind, label: label.to_owned(), open });
        self.file.categories.push(Category { name, place, domains, lexical });
        Ok(())
    }

    /// `word NAME UPOS XPOS [FORM [LEMMA]]`: the name is what rules write, so one form can have several.
    fn word(&mut self, rest: &str) -> Read<()> {
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let (name, upos, xpos, form, lemma) = match *fields.as_slice() {
            [name, upos, xpos] => (name, upos, xpos, name, name),
            [name, upos, xpos, form] => (name, upos, xpos, form, form),
            [name, upos, xpos, form, lemma] => (name, upos, xpos, form, lemma),
            _ => return Err(Fault::new(0, format!("`{rest}`"), "word NAME UPOS XPOS [FORM [LEMMA]]")),
        };
        let word = Word { form: form.into(), upos: upos.into(), xpos: xpos.into(), lemma: lemma.into() };
        if self.file.words.insert(name.to_owned(), word).is_some() {
            return Err(Fault::new(0, format!("word {name} again"), "a new name"));
        }
        Ok(())
    }

    /// `verb NAME forms`: one word per form, named `NAME.base`, `NAME.past` and so on.
    fn verb(&mut self, rest: &str) -> Read<()> {
        let mut fields = rest.split_whitespace();
        let name = fields.next().unwrap_or_default();
        let forms: Vec<String> = fields.map(str::to_owned).collect();
        if forms.is_empty() {
            return Err(Fault::new(0, format!("`{rest}`"), "verb NAME base [past participle]"));
        }
        for (number, form) in Kind::Verb.forms().iter().enumerate() {
            let word = lexicon::analyse(&self.file, Kind::Verb, &forms, number)?.words.swap_remove(0).word;
            self.file.words.insert(format!("{name}.{form}"), word);
        }
        Ok(())
    }

    /// `sound vowel = ...`: words whose first letter does not tell whether "an" stands before them.
    fn sound(&mut self, rest: &str) -> Read<()> {
        let (which, words) = assignment(rest, "sound vowel = word ... or sound consonant = word ...")?;
        let list = match which {
            "vowel" => &mut self.file.vowel_sound,
            "consonant" => &mut self.file.consonant_sound,
            other => return Err(Fault::new(0, format!("`{other}`"), "vowel or consonant")),
        };
        list.extend(words.map(str::to_owned));
        Ok(())
    }

    /// `start NAME`. Without features, or it would be unclear which of its symbols is meant.
    fn start(&mut self, rest: &str) -> Read<()> {
        let at = self.file.categories.iter().position(|category| category.name == rest);
        let at = at.ok_or_else(|| Fault::new(0, format!("`{rest}`"), "a category declared above"))?;
        if !self.file.categories[at].domains.is_empty() {
            return Err(Fault::new(0, format!("{rest} with features"), "a start category without features"));
        }
        self.file.start = Some(at as u32);
        Ok(())
    }

    /// `entries NAME[value,...]`: the heading of lexicon lines. All combinations of the listed values are meant.
    fn entries(&mut self, rest: &str) -> Read<()> {
        let (name, args) = rule_reader::split_term(rest)?;
        let category = rule_reader::find_category(&self.file, name)?;
        let declared = &self.file.categories[category as usize];
        let Some(lexical) = &declared.lexical else {
            return Err(Fault::new(0, format!("`{name}`"), "a lexical category"));
        };
        let arity = declared.domains.len() - usize::from(!lexical.kind.forms().is_empty());
        if args.len() != arity {
            return Err(Fault::new(0, format!("{} values", args.len()), format!("{arity} for {name}")));
        }
        let mut combinations = vec![Vec::new()];
        for (position, arg) in args.iter().enumerate() {
            let values = rule_reader::alternatives(&self.file, arg, &declared.domains[position])?;
            combinations = combinations
                .iter()
                .flat_map(|head: &Vec<Value>| values.iter().map(|&v| [head.as_slice(), &[v]].concat()))
                .collect();
        }
        self.section = Some((category, combinations));
        Ok(())
    }

    /// `SOURCE [*weight] forms [percent] | forms [percent]`: a line of the lexicon.
    fn entry(&mut self, place: Place, line: &str, text: &str) -> Read<()> {
        let Some((category, args)) = &self.section else {
            return Err(Fault::at_byte(
                line,
                line.len() - text.len(),
                "an indented line",
                "a heading above it",
            )
            .advise("indented lines belong to `entries` or to a rule"));
        };
        let mut fields = text.split_whitespace().peekable();
        let source = fields.next().unwrap_or_default().to_owned();
        let mut weight = 1.0;
        if let Some(field) = fields.peek().and_then(|field| field.strip_prefix('*')) {
            weight = rule_reader::positive(field)?;
            fields.next();
        }
        let mut variants = vec![(1.0, Vec::new())];
        for field in fields {
            let last = variants.len() - 1;
            if field == "|" {
                variants.push((1.0, Vec::new()));
            } else if let Some(percent) = field.strip_suffix('%') {
                variants[last].0 = rule_reader::positive(percent)?;
            } else {
                variants[last].1.push(field.to_owned());
            }
        }
        if variants.iter().any(|(_, forms)| forms.is_empty()) {
            return Err(
                Fault::new(0, format!("`{text}`"), "SOURCE translation").advise("every word needs one")
            );
        }
        check_default(variants.iter().map(|&(weight, _)| weight))?;
        let (category, args) = (*category, args.clone());
        self.file.entries.push(Entry { place, category, args, source, weight, variants });
        Ok(())
    }

    /// A line below a rule: a target side or names of phenomena.
    fn rule_line(&mut self, place: Place, line: &str, text: &str) -> Read<()> {
        let Some(mut rule) = self.rule.take() else { return Ok(()) };
        if let Some(tags) = text.strip_prefix('!') {
            for tag in tags.split_whitespace() {
                self.tag(&mut rule, tag)?;
            }
        } else if let Some(target) = text.strip_prefix('=') {
            let variant = RuleReader::new(&mut self.file, line).target(place, &rule, target)?;
            rule.variants.push(variant);
            check_default(rule.variants.iter().map(|variant| variant.weight))?;
        } else {
            let advice = "target sides begin with `=`, names of phenomena with `!`";
            return Err(Fault::new(0, format!("`{text}`"), "`=` or `!`").advise(advice));
        }
        self.rule = Some(rule);
        Ok(())
    }

    /// A name after `!`: two of them change how the generator treats the rule, the others are only counted.
    fn tag(&mut self, rule: &mut Rule, tag: &str) -> Read<()> {
        if tag == "grow" {
            rule.grow = true;
            return Ok(());
        }
        if tag == "distinct" {
            rule.distinct = true;
            return Ok(());
        }
        let phenomena = &mut self.file.phenomena;
        let at = phenomena.iter().position(|name| name == tag).unwrap_or_else(|| {
            phenomena.push(tag.to_owned());
            phenomena.len() - 1
        });
        if at >= 64 {
            return Err(Fault::new(0, "more than 64 phenomena", "at most 64"));
        }
        rule.phenomena |= 1 << at;
        Ok(())
    }
}

/// Feature positions that fit the packed key of a symbol, form feature not counted.
const MAX_FEATURES: usize = 6;

/// The oracle takes the first variant, so the first one has to be the most probable.
fn check_default(mut weights: impl Iterator<Item = f64>) -> Read<()> {
    let first = weights.next().unwrap_or(1.0);
    if weights.any(|weight| weight > first) {
        return Err(Fault::new(0, "a later variant with a higher weight", "the most probable variant first"));
    }
    Ok(())
}

/// `name = word word ...`, split.
fn assignment<'a>(
    text: &'a str,
    expected: &str,
) -> Read<(&'a str, std::iter::Peekable<std::str::SplitWhitespace<'a>>)> {
    let fault = || Fault::new(0, format!("`{text}`"), expected);
    let (name, values) = text.split_once('=').ok_or_else(fault)?;
    let mut values = values.split_whitespace().peekable();
    if name.trim().is_empty() || values.peek().is_none() {
        return Err(fault());
    }
    Ok((name.trim(), values))
}
