//! Checks a grammar and drops what cannot be used: unproductive and unreachable symbols, left recursion, and
//! the shortest yield of every symbol, which the length budget needs.
//!
//! Single instances may well be useless (no noun is both food and counted in volumes); but a *line* of the file
//! none of whose instances is useful is a mistake of its writer and is reported.

use sylvan_base::{Fault, InputError};

use crate::expand::{Instance, Origin, Symbols};
use crate::syntax::{File, Open, Place};

/// The useful part of a grammar, renumbered.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) symbols: Vec<SymbolPart>,
    pub(crate) instances: Vec<Instance>,
    /// Fewest source and target words of every instance and of every symbol.
    pub(crate) rule_minimum: Vec<(u16, u16)>,
    pub(crate) minimum: Vec<(u16, u16)>,
    pub(crate) start: u32,
}

/// One useful symbol.
#[derive(Debug, Default)]
pub(crate) struct SymbolPart {
    /// Its instances; those that lengthen sentences from position `grow_from` on.
    pub(crate) instances: Vec<usize>,
    pub(crate) grow_from: usize,
    /// Position of the instance with the fewest words.
    pub(crate) shortest: usize,
    pub(crate) open: Option<Open>,
}

/// Longer minimal yields than this are not grammars for sentences; it also keeps sums inside 16 bits.
const TOO_LONG: u32 = 1000;

/// Runs all checks in an order in which each can rely on those before it.
pub(crate) fn check(file: &File, symbols: Symbols) -> Result<Checked, InputError> {
    let Some(start_category) = file.start else {
        let place = Place { file: 0, line: 1 };
        return Err(
            file.error(place, Fault::new(0, "no start statement", "`start NAME` for the top category"))
        );
    };
    let first = file.categories[start_category as usize].place;
    let start = symbols.keys.iter().position(|key| key.category == start_category);
    let productive = productive(&symbols);
    let Some(start) = start.filter(|&start| productive[start]) else {
        return Err(unproductive_start(file, &symbols, &productive, first));
    };
    let useful = reachable(&symbols, &productive, start);
    every_line_is_used(file, &symbols, &productive, &useful)?;
    let mut checked = renumber(file, symbols, &productive, &useful, start);
    share_weights(file, &mut checked);
    no_left_recursion(file, &checked)?;
    minima(file, &mut checked)?;
    shortest(file, &mut checked);
    Ok(checked)
}

/// Whether all slots of an instance can be filled.
fn is_live(instance: &Instance, productive: &[bool]) -> bool {
    instance.slots.iter().all(|&slot| productive[slot as usize])
}

/// Symbols that some finite string can be made from. Counts the missing slots of every instance and walks from
/// symbols to the instances that use them, so the time is linear in the grammar.
fn productive(symbols: &Symbols) -> Vec<bool> {
    let mut uses: Vec<Vec<usize>> = vec![Vec::new(); symbols.keys.len()];
    let mut missing: Vec<usize> = Vec::with_capacity(symbols.instances.len());
    let mut productive = vec![false; symbols.keys.len()];
    let mut queue = Vec::new();
    for (at, instance) in symbols.instances.iter().enumerate() {
        missing.push(instance.slots.len());
        for &slot in &instance.slots {
            uses[slot as usize].push(at);
        }
        if instance.slots.is_empty() && !productive[instance.symbol as usize] {
            productive[instance.symbol as usize] = true;
            queue.push(instance.symbol);
        }
    }
    while let Some(symbol) = queue.pop() {
        for &at in &uses[symbol as usize] {
            missing[at] -= 1;
            let left = symbols.instances[at].symbol;
            if missing[at] == 0 && !productive[left as usize] {
                productive[left as usize] = true;
                queue.push(left);
            }
        }
    }
    productive
}

/// Symbols that some sentence contains, found from the start symbol through live instances only.
fn reachable(symbols: &Symbols, productive: &[bool], start: usize) -> Vec<bool> {
    let mut rules_of: Vec<Vec<usize>> = vec![Vec::new(); symbols.keys.len()];
    for (at, instance) in symbols.instances.iter().enumerate() {
        if is_live(instance, productive) {
            rules_of[instance.symbol as usize].push(at);
        }
    }
    let mut seen = vec![false; symbols.keys.len()];
    let mut queue = vec![start];
    seen[start] = true;
    while let Some(symbol) = queue.pop() {
        for &at in &rules_of[symbol] {
            for &slot in &symbols.instances[at].slots {
                if !std::mem::replace(&mut seen[slot as usize], true) {
                    queue.push(slot as usize);
                }
            }
        }
    }
    seen
}

/// The error for a grammar that makes no sentence at all.
fn unproductive_start(file: &File, symbols: &Symbols, productive: &[bool], place: Place) -> InputError {
    let name = &file.categories[file.start.unwrap_or(0) as usize].name;
    // The first category without any productive symbol is the likeliest culprit.
    let empty = file.categories.iter().enumerate().find(|(number, category)| {
        let any =
            |(at, key): (usize, &crate::expand::Key)| key.category as usize == *number && productive[at];
        category.name != *name && !symbols.keys.iter().enumerate().any(any)
    });
    let mut fault = Fault::new(0, format!("{name}, which makes no sentence"), "rules that end in words");
    if let Some((_, category)) = empty {
        fault = fault.advise(format!("{} has no rule or entry that ends in words", category.name));
    }
    file.error(place, fault)
}

/// Reports the first line of the files that no sentence can contain.
fn every_line_is_used(
    file: &File,
    symbols: &Symbols,
    productive: &[bool],
    useful: &[bool],
) -> Result<(), InputError> {
    let mut rule_live = vec![false; file.rules.len()];
    let mut rule_used = vec![false; file.rules.len()];
    let mut entry_used = vec![false; file.entries.len()];
    for instance in &symbols.instances {
        let live = is_live(instance, productive);
        let used = live && useful[instance.symbol as usize];
        match instance.origin {
            Origin::Rule(number, _) => {
                rule_live[number] |= live;
                rule_used[number] |= used;
            }
            Origin::Entry(number, _) => entry_used[number] |= used,
        }
    }
    for (number, rule) in file.rules.iter().enumerate() {
        if !rule_live[number] {
            let culprit = rule.slots.iter().find(|(_, term)| {
                let any =
                    |(at, key): (usize, &crate::expand::Key)| key.category == term.category && productive[at];
                !symbols.keys.iter().enumerate().any(any)
            });
            let advice = match culprit {
                Some((slot, term)) => {
                    let name = &file.categories[term.category as usize].name;
                    format!("slot `{slot}`: nothing makes {name}")
                }
                None => "no choice of feature values lets all slots be filled".to_owned(),
            };
            let fault = Fault::new(0, "an unproductive rule", "slots that rules or entries can fill");
            return Err(file.error(rule.place, fault.advise(advice)));
        }
        if !rule_used[number] {
            let fault =
                Fault::new(0, "a rule that no sentence reaches", "a rule used from the start category");
            return Err(file.error(rule.place, fault));
        }
    }
    match entry_used.iter().position(|used| !used) {
        Some(number) => {
            let entry = &file.entries[number];
            let found = format!("`{}`, which no rule uses with these features", entry.source);
            Err(file.error(entry.place, Fault::new(0, found, "an entry that some rule can use")))
        }
        None => Ok(()),
    }
}

/// Keeps what is useful under new numbers, in the old order; rules that lengthen sentences go to the end.
fn renumber(file: &File, symbols: Symbols, productive: &[bool], useful: &[bool], start: usize) -> Checked {
    let mut new_id = vec![u32::MAX; symbols.keys.len()];
    let mut parts: Vec<SymbolPart> = Vec::new();
    for (at, key) in symbols.keys.iter().enumerate() {
        if useful[at] && productive[at] {
            new_id[at] = parts.len() as u32;
            let lexical = file.categories[key.category as usize].lexical.as_ref();
            parts
                .push(SymbolPart { open: lexical.and_then(|lexical| lexical.open), ..SymbolPart::default() });
        }
    }
    let mut instances = Vec::new();
    for instance in symbols.instances {
        let symbol = new_id[instance.symbol as usize];
        if symbol != u32::MAX && is_live(&instance, productive) {
            let slots = instance.slots.iter().map(|&slot| new_id[slot as usize]).collect();
            instances.push(Instance { symbol, slots, ..instance });
        }
    }
    let grows = |instance: &Instance| match instance.origin {
        Origin::Rule(number, _) => file.rules[number].grow,
        Origin::Entry(..) => false,
    };
    for grow in [false, true] {
        for (at, instance) in instances.iter().enumerate().filter(|(_, instance)| grows(instance) == grow) {
            let part = &mut parts[instance.symbol as usize];
            part.instances.push(at);
            part.grow_from += usize::from(!grow);
        }
    }
    Checked { symbols: parts, instances, rule_minimum: Vec::new(), minimum: Vec::new(), start: new_id[start] }
}

/// A rule's weight is shared by its instances with the same left side, in proportion to the weight of the words
/// that fill their lexical slots and of the feature values that are open: so "any noun with its measure word" means
/// any noun with equal probability.
fn share_weights(file: &File, checked: &mut Checked) {
    let mut mass = vec![0.0; checked.symbols.len()];
    for instance in &checked.instances {
        if matches!(instance.origin, Origin::Entry(..)) {
            mass[instance.symbol as usize] += instance.weight;
        }
    }
    let factors: Vec<f64> = checked
        .instances
        .iter()
        .map(|instance| {
            let weights = instance.slots.iter().map(|&slot| mass[slot as usize]);
            let words: f64 = weights.filter(|&weight| weight > 0.0).product();
            let values: f64 = match &instance.origin {
                Origin::Rule(_, values) => {
                    values.iter().map(|&value| file.value_weights[usize::from(value)]).product()
                }
                Origin::Entry(..) => 1.0,
            };
            words * values
        })
        .collect();
    for part in &checked.symbols {
        // Instances of one rule stand next to each other.
        let mut from = 0;
        while from < part.instances.len() {
            let Origin::Rule(number, _) = checked.instances[part.instances[from]].origin else { break };
            let same = part.instances[from..].iter().take_while(
                |&&at| matches!(checked.instances[at].origin, Origin::Rule(other, _) if other == number),
            );
            let end = from + same.count();
            let total: f64 = part.instances[from..end].iter().map(|&at| factors[at]).sum();
            for &at in &part.instances[from..end] {
                let share = factors[at] / total;
                checked.instances[at].weight = file.rules[number].weight * share;
            }
            from = end;
        }
    }
}

/// Depth-first expansion in source order must meet a word before it meets the same symbol again; this is what
/// lets the length budget bound every derivation.
fn no_left_recursion(file: &File, checked: &Checked) -> Result<(), InputError> {
    let first_slot = |at: usize| -> Option<u32> {
        let instance = &checked.instances[at];
        let Origin::Rule(number, _) = instance.origin else { return None };
        let first = file.rules[number].ops.iter().find_map(|op| match op {
            crate::syntax::Op::Slot(slot) => Some(Some(instance.slots[usize::from(*slot)])),
            crate::syntax::Op::Word(_) => Some(None),
            _ => None,
        });
        first.flatten()
    };
    // 0 new, 1 on the path, 2 done; an explicit stack of (symbol, next instance).
    let mut state = vec![0u8; checked.symbols.len()];
    for root in 0..checked.symbols.len() {
        if state[root] != 0 {
            continue;
        }
        let mut path = vec![(root, 0usize)];
        state[root] = 1;
        while let Some((symbol, next)) = path.last_mut() {
            let Some(&at) = checked.symbols[*symbol].instances.get(*next) else {
                state[*symbol] = 2;
                path.pop();
                continue;
            };
            *next += 1;
            let Some(slot) = first_slot(at).map(|slot| slot as usize) else { continue };
            if state[slot] == 1 {
                let Origin::Rule(number, _) = checked.instances[at].origin else { continue };
                let rule = &file.rules[number];
                let name = &file.categories[rule.left.category as usize].name;
                let fault = Fault::new(
                    0,
                    format!("left recursion through {name}"),
                    "a word before the circle closes",
                )
                .advise("begin one of the rules of the circle with a word, or use a smaller category");
                return Err(file.error(rule.place, fault));
            }
            if state[slot] == 0 {
                state[slot] = 1;
                path.push((slot, 0));
            }
        }
    }
    Ok(())
}

/// The literal words of an instance on both sides; of several target sides, the fewest.
fn own_words(file: &File, instance: &Instance) -> (u32, u32) {
    match &instance.origin {
        Origin::Rule(number, _) => {
            let rule = &file.rules[*number];
            let words = rule.variants.iter().map(|variant| variant.items.len() - rule.slots.len());
            (rule.literals.len() as u32, words.min().unwrap_or(0) as u32)
        }
        Origin::Entry(number, _) => {
            let variants = file.entries[*number].variants.iter();
            let words = variants.map(|(_, forms)| forms[0].split('_').count());
            (1, words.min().unwrap_or(1) as u32)
        }
    }
}

/// Finds for every symbol the instance that begins its shortest derivation, both sides counted together. Following
/// these instances ends: each has a higher cost than its slots, or an equal one and a single slot, and a circle of
/// such instances would be left recursion. (The minima of the two sides would not do: they may come from different
/// instances.)
fn shortest(file: &File, checked: &mut Checked) {
    let mut cost = vec![u32::MAX; checked.symbols.len()];
    let total = |instance: &Instance, cost: &[u32]| {
        let (source, target) = own_words(file, instance);
        instance.slots.iter().fold(source + target, |sum, &slot| sum.saturating_add(cost[slot as usize]))
    };
    let mut changed = true;
    while changed {
        changed = false;
        for (at, instance) in checked.instances.iter().enumerate() {
            let symbol = instance.symbol as usize;
            let better = total(instance, &cost);
            if better < cost[symbol] {
                cost[symbol] = better;
                let part = &mut checked.symbols[symbol];
                part.shortest = part.instances.iter().position(|&other| other == at).unwrap_or(0);
                changed = true;
            }
        }
    }
}

/// Relaxes minimal yields until nothing changes; they only ever sink, and never below zero.
fn minima(file: &File, checked: &mut Checked) -> Result<(), InputError> {
    let mut minimum = vec![(TOO_LONG, TOO_LONG); checked.symbols.len()];
    let total = |instance: &Instance, minimum: &[(u32, u32)]| {
        let (source, target) = own_words(file, instance);
        instance.slots.iter().fold((source, target), |sum, &slot| {
            let slot = minimum[slot as usize];
            ((sum.0 + slot.0).min(TOO_LONG), (sum.1 + slot.1).min(TOO_LONG))
        })
    };
    let mut changed = true;
    while changed {
        changed = false;
        for instance in &checked.instances {
            let (source, target) = total(instance, &minimum);
            let best = &mut minimum[instance.symbol as usize];
            let better = (best.0.min(source), best.1.min(target));
            changed |= better != *best;
            *best = better;
        }
    }
    if minimum[checked.start as usize].0.max(minimum[checked.start as usize].1) >= TOO_LONG {
        let place = file.categories[file.start.unwrap_or(0) as usize].place;
        let found = format!("a start category of at least {TOO_LONG} words");
        return Err(file.error(place, Fault::new(0, found, "sentences of ordinary length")));
    }
    let narrow = |pair: (u32, u32)| (pair.0 as u16, pair.1 as u16);
    checked.rule_minimum = checked.instances.iter().map(|i| narrow(total(i, &minimum))).collect();
    checked.minimum = minimum.into_iter().map(narrow).collect();
    Ok(())
}
