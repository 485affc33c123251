//! Reads the two sides of a rule.
//!
//! ```text
//! VP[S,T] 2 -> (VP (PP (P 与) who:NP[person]) do:VP[S,T])      left side, weight, source fragment
//!   = *do with#与/case@who who/obl                              target items
//! ```
//!
//! A target item is a slot or a word name, then links (`#x` sure, `~x` possible; `x` is a literal source word or
//! a slot), then `/relation` and perhaps `@item` for what it depends on. `*` marks the head; items without `@`
//! depend on the head.

use sylvan_base::Fault;

use crate::syntax::{Arg, End, File, Item, Op, Place, Rule, Term, Value, Variant, What};

type Read<T> = Result<T, Fault>;

/// Reads one line of a rule; the line is kept to give columns.
pub(crate) struct RuleReader<'a> {
    file: &'a mut File,
    line: &'a str,
    variables: Vec<(String, Vec<Value>)>,
}

impl<'a> RuleReader<'a> {
    pub(crate) fn new(file: &'a mut File, line: &'a str) -> Self {
        Self { file, line, variables: Vec::new() }
    }

    /// A fault at a piece of the line, which is found again by its text.
    fn fault(&self, piece: &str, expected: impl Into<String>) -> Fault {
        let byte = self.line.find(piece).unwrap_or(0);
        Fault::at_byte(self.line, byte, format!("`{piece}`"), expected)
    }

    /// `LEFT [weight] -> SOURCE`.
    pub(crate) fn rule(mut self, place: Place, text: &str) -> Read<Rule> {
        let (left, source) = text.split_once("->").unwrap_or((text, ""));
        let mut fields = left.split_whitespace();
        let left = fields.next().unwrap_or_default();
        let weight = fields.next().map_or(Ok(1.0), positive)?;
        if let Some(extra) = fields.next() {
            return Err(self.fault(extra, "`->`"));
        }
        let left = self.term(left)?;
        if self.file.categories[left.category as usize].lexical.is_some() {
            return Err(self.fault(text, "a phrase category on the left").advise("use `entries` for words"));
        }
        let mut rule = Rule {
            place,
            left,
            weight,
            ops: Vec::new(),
            literals: Vec::new(),
            slots: Vec::new(),
            variants: Vec::new(),
            phenomena: 0,
            grow: false,
            distinct: false,
            variables: Vec::new(),
        };
        self.source(source, &mut rule)?;
        rule.variables = self.variables;
        Ok(rule)
    }

    /// The source fragment: brackets, words inside a tag, and `name:Category[args]` slots.
    fn source(&mut self, text: &str, rule: &mut Rule) -> Read<()> {
        let spaced = text.replace('(', " ( ").replace(')', " ) ");
        let mut tokens = spaced.split_whitespace();
        let mut depth = 0usize;
        while let Some(token) = tokens.next() {
            match token {
                "(" => {
                    let label = tokens.next().filter(|label| !label.contains(['(', ')', ':']));
                    let label = label.ok_or_else(|| self.fault("(", "a label after the bracket"))?;
                    rule.ops.push(Op::Open(label.to_owned()));
                    depth += 1;
                }
                ")" => {
                    if depth == 0 || matches!(rule.ops.last(), Some(Op::Open(_))) {
                        return Err(self.fault(")", "a word or a slot before the bracket"));
                    }
                    depth -= 1;
                    rule.ops.push(Op::Close);
                }
                _ if token.contains(':') => self.slot(token, rule)?,
                _ if matches!(rule.ops.last(), Some(Op::Open(_))) => {
                    rule.ops.push(Op::Word(small(rule.literals.len())?));
                    rule.literals.push(token.to_owned());
                    self.feature_word(token)?;
                }
                _ => return Err(self.fault(token, "`name:Category` or a word right after its tag: `(P 与)`")),
            }
        }
        if depth > 0 {
            return Err(self.fault(text.trim(), "balanced brackets").advise(format!("{depth} are open")));
        }
        if rule.slots.is_empty() && rule.literals.is_empty() {
            return Err(Fault::new(0, "an empty source side", "a tree fragment after `->`"));
        }
        small(rule.ops.len()).map(|_| ())
    }

    /// A literal `<Feature>` varies over all values of that feature, without being an argument anywhere.
    fn feature_word(&mut self, token: &str) -> Read<()> {
        let Some(name) = token.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')) else {
            return Ok(());
        };
        let known = self.variables.iter().any(|(other, _)| other == name);
        if let Some(domain) = self.file.features.get(name).filter(|_| !known) {
            self.variables.push((name.to_owned(), domain.clone()));
        }
        small(self.variables.len()).map(|_| ())
    }

    /// `name:Category[args]`.
    fn slot(&mut self, token: &str, rule: &mut Rule) -> Read<()> {
        let (name, term) = token.split_once(':').unwrap_or((token, ""));
        if rule.slots.iter().any(|(other, _)| other == name) {
            return Err(self.fault(token, "a slot name that is not yet taken in this rule"));
        }
        let term = self.term(term)?;
        rule.ops.push(Op::Slot(small(rule.slots.len())?));
        rule.slots.push((name.to_owned(), term));
        Ok(())
    }

    /// `Category[arg,arg]`; every position narrows its variable's values.
    fn term(&mut self, text: &str) -> Read<Term> {
        let (name, args) = split_term(text).map_err(|_| self.fault(text, "Category[value,Variable]"))?;
        let category = find_category(self.file, name).map_err(|_| self.fault(name, "a declared category"))?;
        let domains = self.file.categories[category as usize].domains.clone();
        if args.len() != domains.len() {
            return Err(self.fault(text, format!("{} values for {name}", domains.len())));
        }
        let mut list = Vec::new();
        for (arg, domain) in args.iter().zip(&domains) {
            list.push(self.arg(arg, domain)?);
        }
        Ok(Term { category, args: list })
    }

    /// A value, a set, `a|b`, a variable, or a variable with its values: `T=past|pres`.
    fn arg(&mut self, text: &str, domain: &[Value]) -> Read<Arg> {
        let (name, values) = match text.split_once('=') {
            Some((name, values)) => (name, Some(values)),
            None if text.starts_with(|c: char| c.is_ascii_uppercase()) => (text, None),
            None => ("", Some(text)),
        };
        let allowed = match values {
            Some(values) => alternatives(self.file, values, domain)
                .map_err(|fault| self.fault(text, fault.expected.clone()).advise(fault.found))?,
            None => domain.to_vec(),
        };
        if name.is_empty() && allowed.len() == 1 {
            return Ok(Arg::Fixed(allowed[0]));
        }
        // All uses of a name share one variable, whose values shrink to those that every position allows.
        // A set without a name varies on its own: it becomes a variable that nothing else can name.
        let found = self.variables.iter().position(|(other, _)| !name.is_empty() && other == name);
        let at = found.unwrap_or_else(|| {
            self.variables.push((name.to_owned(), allowed.clone()));
            self.variables.len() - 1
        });
        self.variables[at].1.retain(|value| allowed.contains(value));
        if self.variables[at].1.is_empty() {
            return Err(self.fault(text, "a variable whose positions share a value"));
        }
        Ok(Arg::Variable(small(at)?))
    }

    /// One target side, after its `=`: `[weight] item item ...`.
    pub(crate) fn target(self, place: Place, rule: &Rule, text: &str) -> Read<Variant> {
        let mut weight = 1.0;
        let mut tokens: Vec<&str> = text.split_whitespace().collect();
        if let Some(percent) = tokens.first().and_then(|token| token.strip_suffix('%')) {
            weight = positive(percent)?;
            tokens.remove(0);
        }
        small(tokens.len())?;
        let names: Vec<&str> = tokens.iter().map(|token| item_name(token)).collect();
        let single = tokens.len() == 1;
        let starred = tokens.iter().position(|token| token.starts_with('*'));
        let head = match starred {
            Some(at) => at,
            None if single => 0,
            None => return Err(Fault::new(0, "no head", "`*` before one target item")),
        };
        let mut items = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            if at != head && token.starts_with('*') {
                return Err(self.fault(token, "only one head"));
            }
            items.push(self.item(rule, &names, token, at, head)?);
        }
        for (slot, (name, _)) in rule.slots.iter().enumerate() {
            let uses = items.iter().filter(|item| item.what == What::Slot(slot as u8)).count();
            if uses != 1 {
                let found = format!("slot `{name}` {uses} times");
                return Err(Fault::new(0, found, "every slot once on the target side"));
            }
        }
        let variant = Variant { place, weight, items, head: small(head)? };
        check_projective(&variant)?;
        Ok(variant)
    }

    /// One target item: name, links, relation.
    fn item(&self, rule: &Rule, names: &[&str], token: &str, at: usize, head: usize) -> Read<Item> {
        let body = token.strip_prefix('*').unwrap_or(token);
        let name = item_name(token);
        if name.is_empty() {
            return Err(self.fault(token, "a slot or a word after `*`"));
        }
        let (linked, relation) = match body[name.len()..].find('/') {
            Some(slash) => (&body[..name.len() + slash], Some(&body[name.len() + slash + 1..])),
            None => (body, None),
        };
        let slot = rule.slots.iter().position(|(other, _)| other == name);
        let what = match slot {
            Some(slot) => What::Slot(small(slot)?),
            None => What::Word(name.to_owned()),
        };
        let mut links = Vec::new();
        let mut rest = &linked[name.len()..];
        while let Some(mark) = rest.chars().next() {
            let end = rest[1..].find(['#', '~']).map_or(rest.len(), |next| next + 1);
            links.push((self.link_end(rule, &rest[1..end])?, mark == '#'));
            rest = &rest[end..];
        }
        let arc = match (at == head, relation) {
            (true, None) => None,
            (true, Some(_)) => return Err(self.fault(token, "no relation on the head")),
            (false, None) => return Err(self.fault(token, "`/relation` on every item but the head")),
            (false, Some(relation)) => {
                let (relation, to) = relation.split_once('@').unwrap_or((relation, ""));
                let to = if to.is_empty() {
                    head
                } else {
                    let mut places = (0..names.len()).filter(|&other| names[other] == to);
                    match (places.next(), places.next()) {
                        (Some(place), None) => place,
                        (Some(_), Some(_)) => return Err(self.fault(token, "a name used once after `@`")),
                        _ => return Err(self.fault(token, "the name of another item after `@`")),
                    }
                };
                if relation.is_empty() || to == at {
                    return Err(self.fault(token, "a relation to another item"));
                }
                Some((small(to)?, relation.to_owned()))
            }
        };
        Ok(Item { what, links, arc })
    }

    /// What a link points to: slots come first, then literal words.
    fn link_end(&self, rule: &Rule, name: &str) -> Read<End> {
        if let Some(slot) = rule.slots.iter().position(|(other, _)| other == name) {
            return Ok(End::Slot(small(slot)?));
        }
        // `他:2` is the second 他 of the rule.
        let (word, nth) = match name.rsplit_once(':') {
            Some((word, nth)) => (word, nth.parse::<usize>().ok().filter(|&nth| nth > 0)),
            None => (name, Some(1)),
        };
        let places: Vec<usize> = (0..rule.literals.len()).filter(|&at| rule.literals[at] == word).collect();
        if places.len() > 1 && word == name {
            return Err(self.fault(name, format!("`{name}:1` or `{name}:2`: the word occurs more than once")));
        }
        match nth.and_then(|nth| places.get(nth - 1)) {
            Some(&at) => Ok(End::Literal(small(at)?)),
            None => Err(self.fault(name, "a source word or a slot of the rule")),
        }
    }
}

/// The slot or word name at the beginning of a target item. Punctuation marks may stand for themselves.
fn item_name(token: &str) -> &str {
    let body = token.strip_prefix('*').unwrap_or(token);
    let first = body.chars().next().map_or(0, char::len_utf8);
    let end = body[first..].find(['#', '~', '/']).map_or(body.len(), |at| at + first);
    &body[..end]
}

/// Items must form one projective tree: then all target trees are projective, because slots fill whole spans.
fn check_projective(variant: &Variant) -> Read<()> {
    let count = variant.items.len();
    let parent = |at: usize| variant.items[at].arc.as_ref().map(|(to, _)| usize::from(*to));
    for at in 0..count {
        let (mut node, mut steps) = (at, 0);
        while let Some(next) = parent(node) {
            (node, steps) = (next, steps + 1);
            if steps > count {
                return Err(Fault::new(0, "a circle of dependencies", "a tree with the starred item on top"));
            }
        }
        // Every item between a dependent and its head must hang below that head.
        let Some(top) = parent(at) else { continue };
        for between in at.min(top) + 1..at.max(top) {
            let mut node = Some(between);
            while node.is_some_and(|n| n != top) {
                node = node.and_then(parent);
            }
            if node.is_none() {
                return Err(Fault::new(0, "crossing dependencies", "a projective target side"));
            }
        }
    }
    Ok(())
}

/// Splits `Name[a,b]` into the name and its arguments.
pub(crate) fn split_term(text: &str) -> Read<(&str, Vec<&str>)> {
    let fault = || Fault::new(0, format!("`{text}`"), "Name or Name[value,value]");
    let Some((name, rest)) = text.split_once('[') else {
        let plain = !text.is_empty() && !text.contains([']', ',']) && !text.contains(char::is_whitespace);
        return if plain { Ok((text, Vec::new())) } else { Err(fault()) };
    };
    let inner = rest.strip_suffix(']').ok_or_else(fault)?;
    if name.is_empty() || inner.contains(['[', ']']) || inner.split(',').any(|arg| arg.trim().is_empty()) {
        return Err(fault());
    }
    Ok((name, inner.split(',').map(str::trim).collect()))
}

/// The number of a declared category.
pub(crate) fn find_category(file: &File, name: &str) -> Read<u32> {
    let at = file.categories.iter().position(|category| category.name == name);
    at.map(|at| at as u32).ok_or_else(|| {
        Fault::new(0, format!("`{name}`"), "a declared category")
            .advise("declare it with category or lexical")
    })
}

/// The values of `a|set|b` that the position allows.
pub(crate) fn alternatives(file: &File, text: &str, domain: &[Value]) -> Read<Vec<Value>> {
    let mut list = Vec::new();
    for name in text.split('|') {
        let values = file.values_of(name).ok_or_else(|| unknown_value(name))?;
        if let Some(&bad) = values.iter().find(|value| !domain.contains(value)) {
            let found = format!("`{}`", file.values[usize::from(bad)]);
            return Err(Fault::new(0, found, "a value of the feature in this position"));
        }
        list.extend(values);
    }
    list.sort_unstable();
    list.dedup();
    Ok(list)
}

/// A weight. The upper limit keeps sums of weights far from the limits of a double.
pub(crate) fn positive(text: &str) -> Read<f64> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number <= 1e6 => Ok(number),
        _ => Err(Fault::new(0, format!("`{text}`"), "a number above 0 and at most 1000000")),
    }
}

pub(crate) fn unknown_value(name: &str) -> Fault {
    Fault::new(0, format!("`{name}`"), "a feature value or a set").advise("declare it with feature or set")
}

/// Rules are small; their parts are counted in bytes.
fn small(number: usize) -> Read<u8> {
    u8::try_from(number).map_err(|_| Fault::new(0, "a rule with more than 255 parts", "a shorter rule"))
}
