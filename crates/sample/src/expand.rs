//! Fills in features: every rule becomes one plain rule per combination of values, every lexicon line one plain
//! rule per form. [`compile`](crate::compile) lays them out in flat tables.

use sylvan_base::{HashMap, InputError};

use crate::syntax::{Arg, File, Term, Value};

/// A symbol: a category with all its feature values.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) category: u32,
    pub(crate) values: Vec<Value>,
}

/// A rule without variables.
#[derive(Debug, Clone)]
pub(crate) struct Instance {
    pub(crate) symbol: u32,
    pub(crate) slots: Vec<u32>,
    pub(crate) origin: Origin,
    pub(crate) weight: f64,
}

/// What an instance was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A rule of the file with the values of its variables.
    Rule(usize, Vec<Value>),
    /// A lexicon line and the number of the form.
    Entry(usize, usize),
}

/// All symbols and instances, useful or not.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    pub(crate) keys: Vec<Key>,
    index: HashMap<Key, u32>,
    pub(crate) instances: Vec<Instance>,
}

impl Symbols {
    /// The id of a symbol, which is added if new.
    fn intern(&mut self, key: Key) -> u32 {
        if let Some(&id) = self.index.get(&key) {
            return id;
        }
        let id = self.keys.len() as u32;
        self.keys.push(key.clone());
        self.index.insert(key, id);
        id
    }
}

/// Makes all instances. Lexical symbols come first, so that a rule with a slot no word fits is dropped early.
pub(crate) fn instantiate(file: &File) -> Result<Symbols, InputError> {
    let mut symbols = Symbols::default();
    for (number, entry) in file.entries.iter().enumerate() {
        let category = &file.categories[entry.category as usize];
        let Some(lexical) = &category.lexical else { continue };
        let forms = lexical.kind.forms();
        for args in &entry.args {
            for form in 0..forms.len().max(1) {
                let mut values = args.clone();
                values
                    .extend(category.domains.last().filter(|_| !forms.is_empty()).map(|domain| domain[form]));
                let symbol = symbols.intern(Key { category: entry.category, values });
                let origin = Origin::Entry(number, form);
                symbols.instances.push(Instance { symbol, slots: Vec::new(), origin, weight: entry.weight });
            }
        }
    }
    for number in 0..file.rules.len() {
        fill(file, number, &mut symbols);
    }
    Ok(symbols)
}

/// Runs an odometer over the variables of a rule; a lexical slot that no word fits skips to the next value of
/// the last variable it depends on.
fn fill(file: &File, number: usize, symbols: &mut Symbols) {
    let rule = &file.rules[number];
    let count = rule.variables.len();
    // For each number of bound variables, the lexical slots that are complete from then on.
    let mut ready: Vec<Vec<&Term>> = vec![Vec::new(); count + 1];
    for (_, term) in &rule.slots {
        if file.categories[term.category as usize].lexical.is_some() {
            let last = term.args.iter().map(|arg| match arg {
                Arg::Variable(at) => usize::from(*at) + 1,
                Arg::Fixed(_) => 0,
            });
            ready[last.max().unwrap_or(0)].push(term);
        }
    }
    let mut digits = vec![0usize; count];
    let mut values: Vec<Value> = Vec::new();
    loop {
        let fits = ready[values.len()].iter().all(|term| symbols.index.contains_key(&key(term, &values)));
        if fits && values.len() < count {
            let level = values.len();
            digits[level] = 0;
            values.push(rule.variables[level].1[0]);
            continue;
        }
        if fits {
            let symbol = symbols.intern(key(&rule.left, &values));
            let slots = rule.slots.iter().map(|(_, term)| symbols.intern(key(term, &values))).collect();
            let origin = Origin::Rule(number, values.clone());
            symbols.instances.push(Instance { symbol, slots, origin, weight: rule.weight });
        }
        // Next value of the innermost variable that has one left.
        loop {
            if values.pop().is_none() {
                return;
            }
            let level = values.len();
            digits[level] += 1;
            if let Some(&value) = rule.variables[level].1.get(digits[level]) {
                values.push(value);
                break;
            }
        }
    }
}

/// The symbol that a term means under given values.
fn key(term: &Term, values: &[Value]) -> Key {
    let values = term.args.iter().map(|arg| match arg {
        Arg::Fixed(value) => *value,
        Arg::Variable(at) => values[usize::from(*at)],
    });
    Key { category: term.category, values: values.collect() }
}
