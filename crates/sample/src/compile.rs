//! From grammar files to the flat tables of [`Grammar`]: read, fill in features, check, lay out.

use sylvan_base::{Fault, HashMap, InputError, Vocab};

use crate::check::{self, Checked};
use crate::expand::{self, Instance, Origin};
use crate::grammar::{
    Grammar, LinkInfo, Range, RuleInfo, SourceItem, SymbolInfo, TargetItem, TargetWhat, TreeOp, VariantInfo,
    WordInfo,
};
use crate::lexicon::{self, Analysis};
use crate::reader;
use crate::syntax::{End, File, Op, Rule, Value, What, Word};

impl Grammar {
    /// Reads and compiles one grammar file. `name` is used in error messages.
    ///
    /// # Errors
    /// The first thing in the file that is not as it should be, with its line.
    pub fn parse(name: &str, text: &str) -> Result<Self, InputError> {
        Self::parse_files(&[(name, text)])
    }

    /// Reads several files, in order, as one grammar: pairs of name and text.
    ///
    /// # Errors
    /// The first thing in the files that is not as it should be, with its place.
    pub fn parse_files(files: &[(&str, &str)]) -> Result<Self, InputError> {
        let file = reader::read(files)?;
        let symbols = expand::instantiate(&file)?;
        let checked = check::check(&file, symbols)?;
        tables(&file, &checked)
    }
}

/// Replaces every `<Variable>` in a word by its value.
fn substitute(file: &File, rule: &Rule, values: &[Value], text: &str) -> Result<String, Fault> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        let Some(close) = rest[open..].find('>') else { break };
        let name = &rest[open + 1..open + close];
        let Some(at) = rule.variables.iter().position(|(other, _)| other == name) else {
            return Err(Fault::new(0, format!("`<{name}>`"), "a variable of the rule between < and >"));
        };
        out.push_str(&rest[..open]);
        out.push_str(&file.values[usize::from(values[at])]);
        rest = &rest[open + close + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// Lays the checked instances out in tables.
fn tables(file: &File, checked: &Checked) -> Result<Grammar, InputError> {
    let mut builder = Builder::new(file);
    for (symbol, info) in checked.symbols.iter().enumerate() {
        let start = builder.grammar.rules.len() as u32;
        let (mut total, mut grow_from) = (0.0, None);
        let weights: f64 = info.instances.iter().map(|&at| checked.instances[at].weight).sum();
        for (position, &at) in info.instances.iter().enumerate() {
            let instance = &checked.instances[at];
            if position >= info.grow_from && grow_from.is_none() {
                grow_from = Some(builder.grammar.rules.len() as u32);
            }
            total += instance.weight;
            // The last edge is exact, so that a draw can never fall behind it.
            let last = position + 1 == info.instances.len();
            let share = if last { 1.0 } else { total / weights };
            builder.grammar.cumulative.push((share * f64::from(u32::MAX)) as u32);
            builder.instance(instance, checked.rule_minimum[at])?;
        }
        let end = builder.grammar.rules.len() as u32;
        let minimum = checked.minimum[symbol];
        builder.grammar.symbols.push(SymbolInfo {
            rules: Range { start, end },
            grow_from: grow_from.unwrap_or(end),
            min_source: minimum.0,
            min_target: minimum.1,
            shortest: start + info.shortest as u32,
            open: info.open,
        });
    }
    builder.grammar.start = checked.start;
    Ok(builder.grammar)
}

/// The grammar while it grows.
struct Builder<'a> {
    file: &'a File,
    grammar: Grammar,
    words: HashMap<(String, String, String, String), u32>,
}

impl<'a> Builder<'a> {
    fn new(file: &'a File) -> Self {
        let grammar = Grammar {
            symbols: Vec::new(),
            cumulative: Vec::new(),
            rules: Vec::new(),
            source_items: Vec::new(),
            slots: Vec::new(),
            ops: Vec::new(),
            variants: Vec::new(),
            target_items: Vec::new(),
            links: Vec::new(),
            source_words: Vocab::new(),
            labels: Vocab::new(),
            relations: Vocab::new(),
            words: Vec::new(),
            arena: String::new(),
            phenomena: file.phenomena.clone(),
            start: 0,
            lexical_entries: file.entries.len(),
        };
        Self { file, grammar, words: HashMap::default() }
    }

    /// Appends one rule to all tables. Ranges are taken before and after, so each rule's parts are contiguous.
    fn instance(&mut self, instance: &Instance, minimum: (u16, u16)) -> Result<(), InputError> {
        let slots = Range { start: self.grammar.slots.len() as u32, end: 0 };
        self.grammar.slots.extend(&instance.slots);
        let slots = Range { end: self.grammar.slots.len() as u32, ..slots };
        let source = self.grammar.source_items.len() as u32;
        let ops = self.grammar.ops.len() as u32;
        let variants = self.grammar.variants.len() as u32;
        let (mut phenomena, mut distinct) = (0, false);
        match &instance.origin {
            Origin::Rule(number, values) => {
                let rule = &self.file.rules[*number];
                (phenomena, distinct) = (rule.phenomena, rule.distinct);
                self.rule(rule, values)?;
            }
            Origin::Entry(number, form) => self.entry(*number, *form)?,
        }
        let items = &self.grammar.source_items[source as usize..];
        let source_words = items.iter().filter(|item| matches!(item, SourceItem::Word(_))).count() as u16;
        self.grammar.rules.push(RuleInfo {
            source: Range { start: source, end: self.grammar.source_items.len() as u32 },
            slots,
            ops: Range { start: ops, end: self.grammar.ops.len() as u32 },
            variants: Range { start: variants, end: self.grammar.variants.len() as u32 },
            phenomena,
            min_source: minimum.0,
            min_target: minimum.1,
            source_words,
            distinct,
        });
        Ok(())
    }

    /// The parts of a rule of the file, with its variables replaced by values.
    fn rule(&mut self, rule: &Rule, values: &[Value]) -> Result<(), InputError> {
        let file = self.file;
        // Positions of literals and slots among the source items.
        let mut literal_at = vec![0u8; rule.literals.len()];
        let mut slot_at = vec![0u8; rule.slots.len()];
        let mut position = 0u8;
        for op in &rule.ops {
            let op = match op {
                Op::Open(label) => TreeOp::Open(self.grammar.labels.intern(label).0),
                Op::Close => TreeOp::Close,
                Op::Word(literal) => {
                    let text = substitute(file, rule, values, &rule.literals[usize::from(*literal)])
                        .map_err(|fault| file.error(rule.place, fault))?;
                    let word = self.grammar.source_words.intern(&text).0;
                    self.grammar.source_items.push(SourceItem::Word(word));
                    literal_at[usize::from(*literal)] = position;
                    position += 1;
                    TreeOp::Word
                }
                Op::Slot(slot) => {
                    self.grammar.source_items.push(SourceItem::Slot(*slot));
                    slot_at[usize::from(*slot)] = position;
                    position += 1;
                    TreeOp::Slot(*slot)
                }
            };
            self.grammar.ops.push(op);
        }
        let total: f64 = rule.variants.iter().map(|variant| variant.weight).sum();
        let mut sum = 0.0;
        for variant in &rule.variants {
            let items = self.grammar.target_items.len() as u32;
            let links = self.grammar.links.len() as u32;
            let mut words = 0;
            let mut source_head = None;
            for (at, item) in variant.items.iter().enumerate() {
                let what = match &item.what {
                    What::Slot(slot) => TargetWhat::Slot(*slot),
                    What::Word(name) => {
                        words += 1;
                        let word = self
                            .named_word(rule, values, name)
                            .map_err(|fault| file.error(variant.place, fault))?;
                        TargetWhat::Word(word)
                    }
                };
                // The head on the source side is what the target head stands for: the slot itself, or the first
                // word that a literal head is linked to. Links to a slot mean this word.
                let is_head = at == usize::from(variant.head);
                if let (true, TargetWhat::Slot(slot)) = (is_head, what) {
                    source_head = Some(slot_at[usize::from(slot)]);
                }
                for (end, sure) in &item.links {
                    let source = match end {
                        End::Literal(literal) => literal_at[usize::from(*literal)],
                        End::Slot(slot) => slot_at[usize::from(*slot)],
                    };
                    self.grammar.links.push(LinkInfo { source, target: at as u8, sure: *sure });
                    if is_head && source_head.is_none() {
                        source_head = Some(source);
                    }
                }
                let (parent, relation) = match &item.arc {
                    Some((parent, relation)) => (*parent, relation.as_str()),
                    None => (at as u8, "root"),
                };
                let relation = self.grammar.relations.intern(relation).0;
                self.grammar.target_items.push(TargetItem { what, parent, relation });
            }
            sum += variant.weight;
            self.grammar.variants.push(VariantInfo {
                items: Range { start: items, end: self.grammar.target_items.len() as u32 },
                links: Range { start: links, end: self.grammar.links.len() as u32 },
                cumulative: (sum / total) as f32,
                head: variant.head,
                words,
                source_head: source_head.unwrap_or(0),
            });
        }
        Ok(())
    }

    /// A word that a rule names; `be.<A>` is looked up with the value of `A` in place.
    fn named_word(&mut self, rule: &Rule, values: &[Value], name: &str) -> Result<u32, Fault> {
        let name = substitute(self.file, rule, values, name)?;
        let word = self.file.words.get(&name).cloned().ok_or_else(|| {
            let advice = "declare it with `word NAME UPOS XPOS`, or check the slot names of the rule";
            Fault::new(0, format!("`{name}`"), "a slot or a declared word").advise(advice)
        })?;
        Ok(self.word(&word))
    }

    /// A lexicon line in one form: a tag, a word, and one target side per translation. All its target words are
    /// linked to the one source word.
    fn entry(&mut self, number: usize, form: usize) -> Result<(), InputError> {
        let file = self.file;
        let entry = &file.entries[number];
        let Some(lexical) = &file.categories[entry.category as usize].lexical else { return Ok(()) };
        let label = self.grammar.labels.intern(&lexical.label).0;
        self.grammar.ops.extend([TreeOp::Open(label), TreeOp::Word, TreeOp::Close]);
        let source = self.grammar.source_words.intern(&entry.source).0;
        self.grammar.source_items.push(SourceItem::Word(source));
        let total: f64 = entry.variants.iter().map(|&(weight, _)| weight).sum();
        let mut sum = 0.0;
        for (weight, forms) in &entry.variants {
            let Analysis { words, head } = lexicon::analyse(file, lexical.kind, forms, form)
                .map_err(|fault| file.error(entry.place, fault))?;
            let items = self.grammar.target_items.len() as u32;
            let links = self.grammar.links.len() as u32;
            for (at, part) in words.iter().enumerate() {
                let what = TargetWhat::Word(self.word(&part.word));
                let relation = self.grammar.relations.intern(part.relation).0;
                self.grammar.target_items.push(TargetItem { what, parent: part.parent as u8, relation });
                self.grammar.links.push(LinkInfo { source: 0, target: at as u8, sure: part.sure });
            }
            sum += weight;
            self.grammar.variants.push(VariantInfo {
                items: Range { start: items, end: self.grammar.target_items.len() as u32 },
                links: Range { start: links, end: self.grammar.links.len() as u32 },
                cumulative: (sum / total) as f32,
                head: head as u8,
                words: words.len() as u16,
                source_head: 0,
            });
        }
        Ok(())
    }

    /// The id of a target word; its text and its CoNLL-U columns are written to the arena once.
    fn word(&mut self, word: &Word) -> u32 {
        let key = (word.form.clone(), word.lemma.clone(), word.upos.clone(), word.xpos.clone());
        if let Some(&id) = self.words.get(&key) {
            return id;
        }
        let grammar = &mut self.grammar;
        let mut add = |text: &str| {
            let start = grammar.arena.len() as u32;
            grammar.arena.push_str(text);
            Range { start, end: grammar.arena.len() as u32 }
        };
        let form = add(&word.form);
        let columns = add(&format!("\t{}\t{}\t{}\t{}\t_\t", word.form, word.lemma, word.upos, word.xpos));
        // A rule of thumb with a list of exceptions in the grammar file.
        let first_letter_sounds = word.form.starts_with(|c: char| "aeiouAEIOU".contains(c));
        let vowel = self.file.vowel_sound.contains(&word.form)
            || (first_letter_sounds && !self.file.consonant_sound.contains(&word.form));
        let article = word.form == "a" && word.upos == "DET";
        let id = grammar.words.len() as u32;
        grammar.words.push(WordInfo { form, columns, vowel, article });
        self.words.insert(key, id);
        id
    }
}
