//! Foreign tables into ours.

use std::path::{Path, PathBuf};

use sylvan_base::{Progress, Result, Vocab};
use sylvan_store::TextReader;

use crate::features::ORIENTATIONS;
use crate::features::{FEATURES, from_travatar};
use crate::formats::{ReorderingTable, RuleReader, TextFormat, TextRule};
use crate::{Formalism, GrammarBuilder, Limits, Meta, Precision, Preprocessing, TargetSide};

/// Settings of an import.
#[derive(Debug, Clone, Default)]
pub struct ImportConfig {
    /// What was done to the trees that the rules were learnt from.
    pub preprocessing: Preprocessing,
    /// How feature values are kept.
    pub precision: Precision,
    /// The kind of rules.
    pub formalism: Formalism,
    /// Of phrase pairs: Moses' table of their orientations.
    pub reordering: Option<PathBuf>,
}

/// What an import did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Imported {
    /// Rules.
    pub rules: usize,
    /// Names that were changed: theirs, ours.
    pub renamed: Vec<(String, String)>,
    /// Features left out because they can be read off every rule: counts of rules and words.
    pub implied: Vec<String>,
    /// Rules that read like an earlier one, and were left out.
    pub repeated: usize,
    /// Glue rules that were left out.
    pub glue: usize,
    /// Phrase pairs without orientations, if there is a table of them.
    pub unoriented: usize,
    /// Orientations of phrase pairs that the table does not have.
    pub unused: usize,
}

/// Reads another toolkit's table and writes ours.
pub fn import(
    from: &Path,
    format: TextFormat,
    to: &Path,
    config: &ImportConfig,
    progress: &dyn Progress,
) -> Result<Imported> {
    progress.begin("reading rules", None);
    let mut reordering = match &config.reordering {
        Some(path) => Some(ReorderingTable::read(&mut TextReader::open(path)?.tolerant())?),
        None => None,
    };
    let mut reader = TextReader::open(from)?.tolerant();
    let mut vocab = Vocab::new();
    let mut lines = RuleReader::of(format, config.formalism);
    let mut builder = GrammarBuilder::new([]);
    let mut implied = Implied::new(format);
    let mut imported = Imported::default();
    let mut values: Vec<(u32, f32)> = Vec::new();
    while let Some(mut line) = lines.next_rule(&mut reader, &mut vocab)? {
        config.preprocessing.leaves.change_rule(&mut line.rule, &mut vocab);
        implied.see(&line, lines.names());
        values.clear();
        values.extend(line.features.iter().map(|&(name, value)| (theirs(name), value)));
        if let Some(table) = &mut reordering {
            let found = table.find(line.rule.source(), line.rule.target(), &vocab);
            imported.unoriented += usize::from(found.is_none());
            // As in Moses, what the table does not have costs nothing.
            let found = found.unwrap_or_default().into_iter().enumerate();
            values.extend(found.map(|(index, value)| (orientation(index), value)));
        }
        builder.add_numbered(&line.rule, values.iter().copied(), line.count, &line.links, &vocab);
        imported.rules += 1;
        if imported.rules.is_multiple_of(1 << 14) {
            progress.at(imported.rules as u64);
        }
    }
    imported.glue = lines.glue();
    imported.unused = reordering.as_ref().map_or(0, ReorderingTable::unused);
    progress.end();
    progress.begin("writing the table", None);
    let features = choose_features(format, lines.names(), &implied, &mut imported);
    let mut names: Vec<&str> = features.iter().map(|(name, _)| name.as_str()).collect();
    let mut numbers: Vec<u32> = features.iter().map(|&(_, name)| theirs(name)).collect();
    if reordering.take().is_some() {
        names.extend(ORIENTATIONS);
        numbers.extend((0..ORIENTATIONS.len()).map(orientation));
    }
    let meta = Meta {
        formalism: config.formalism,
        preprocessing: config.preprocessing,
        orientation: match (config.formalism, &config.reordering) {
            (Formalism::LrHiero, Some(_)) => "lrm".to_string(),
            _ => String::new(),
        },
        made_by: format!("import of a {} table", format.name()),
        limits: Limits::default(),
        ..Meta::new(names)
    };
    builder.describe(meta, &numbers);
    imported.repeated = builder.merge_repeats();
    builder.write(to, &vocab, config.precision)?;
    progress.end();
    Ok(imported)
}

/// Values are numbered while names are still to come: theirs have even numbers, orientations odd ones.
fn theirs(name: usize) -> u32 {
    2 * name as u32
}

fn orientation(index: usize) -> u32 {
    2 * index as u32 + 1
}

/// Which of their features only count rules or words, which every rule says itself.
struct Implied {
    format: TextFormat,
    /// By the number of the name: whether all rules so far agree.
    agree: Vec<bool>,
    rules: u64,
    /// Target words of all rules so far.
    words: u64,
}

impl Implied {
    fn new(format: TextFormat) -> Self {
        Self { format, agree: Vec::new(), rules: 0, words: 0 }
    }

    /// What a feature of this name would count in a rule, if it is one that counts.
    fn counted(&self, name: &str, rule: &TextRule) -> Option<usize> {
        match (self.format, name) {
            // Moses once wrote e for each rule into its tables.
            (TextFormat::Moses, "moses4") | (TextFormat::Travatar, "p") => Some(1),
            (TextFormat::Travatar, "w") => Some(words(rule)),
            _ => None,
        }
    }

    fn see(&mut self, rule: &TextRule, names: &[String]) {
        // It was printed as 2.718.
        let least = if self.format == TextFormat::Moses { 1e-3 } else { 0.0 };
        for (number, name) in names.iter().enumerate() {
            if number == self.agree.len() {
                // Earlier rules have none: that is right if there was nothing to count.
                let none = if name == "w" { self.words == 0 } else { self.rules == 0 };
                self.agree.push(none && self.counted(name, rule).is_some());
            }
            if self.agree[number] {
                let value =
                    rule.features.iter().find(|(known, _)| *known == number).map_or(0.0, |&(_, value)| value);
                let counted = self.counted(name, rule).unwrap_or(0) as f32;
                self.agree[number] = (value - counted).abs() <= least;
            }
        }
        self.rules += 1;
        self.words += words(rule) as u64;
    }
}

fn words(rule: &TextRule) -> usize {
    rule.rule.target().iter().filter(|symbol| matches!(symbol, TargetSide::Word(_))).count()
}

/// Our names with the numbers of theirs: known ones in the order of the registry, then the others as they came.
fn choose_features(
    format: TextFormat,
    names: &[String],
    implied: &Implied,
    imported: &mut Imported,
) -> Vec<(String, usize)> {
    let mut features: Vec<(usize, String, usize)> = Vec::new();
    for (number, name) in names.iter().enumerate() {
        if implied.agree.get(number).is_some_and(|agree| *agree) {
            imported.implied.push(name.clone());
            continue;
        }
        // A `p` or `w` that counts something else is a feature of its own.
        let known = format == TextFormat::Travatar && !["p", "w"].contains(&name.as_str());
        let ours = if known { from_travatar(name) } else { None };
        if let Some(ours) = ours {
            imported.renamed.push((name.clone(), ours.to_string()));
        }
        let ours = ours.unwrap_or(name);
        let rank =
            FEATURES.iter().position(|feature| feature.name == ours).unwrap_or(FEATURES.len() + number);
        features.push((rank, ours.to_string(), number));
    }
    features.sort();
    features.into_iter().map(|(_, name, number)| (name, number)).collect()
}
