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
    let mut reader = TextReader::open(from)?;
    let mut vocab = Vocab::new();
    let mut lines = RuleReader::of(format, config.formalism);
    let mut rules: Vec<TextRule> = Vec::new();
    while let Some(mut rule) = lines.next_rule(&mut reader, &mut vocab)? {
        config.preprocessing.leaves.change_rule(&mut rule.rule, &mut vocab);
        rules.push(rule);
        if rules.len().is_multiple_of(1 << 14) {
            progress.at(rules.len() as u64);
        }
    }
    progress.end();
    progress.begin("writing the table", None);
    let mut imported = Imported { rules: rules.len(), glue: lines.glue(), ..Imported::default() };
    let features = choose_features(format, lines.names(), &rules, &mut imported);
    let mut names: Vec<&str> = features.iter().map(|(name, _)| name.as_str()).collect();
    let mut reordering = match &config.reordering {
        Some(path) => Some(ReorderingTable::read(&mut TextReader::open(path)?)?),
        None => None,
    };
    if reordering.is_some() {
        names.extend(ORIENTATIONS);
    }
    let meta = Meta {
        formalism: config.formalism,
        preprocessing: config.preprocessing,
        made_by: format!("import of a {} table", format.name()),
        limits: Limits::default(),
        ..Meta::new(names)
    };
    let mut builder = GrammarBuilder::with_meta(meta);
    let mut values = vec![0.0; features.len() + if reordering.is_some() { ORIENTATIONS.len() } else { 0 }];
    for line in &rules {
        for (value, &(_, theirs)) in values.iter_mut().zip(&features) {
            *value = line.features.iter().find(|(name, _)| *name == theirs).map_or(0.0, |&(_, value)| value);
        }
        if let Some(table) = &mut reordering {
            let found = table.find(line.rule.source(), line.rule.target(), &vocab);
            imported.unoriented += usize::from(found.is_none());
            // As in Moses, what the table does not have costs nothing.
            values[features.len()..].copy_from_slice(&found.unwrap_or_default());
        }
        builder.add_counted(&line.rule, &values, line.count, &line.links, &vocab);
    }
    imported.unused = reordering.map_or(0, |table| table.unused());
    drop(rules);
    builder.write(to, &vocab, config.precision)?;
    progress.end();
    Ok(imported)
}

/// Our names with the numbers of theirs: known ones in the order of the registry, then the others as they came.
fn choose_features(
    format: TextFormat,
    names: &[String],
    rules: &[TextRule],
    imported: &mut Imported,
) -> Vec<(String, usize)> {
    let value = |rule: &TextRule, name: usize| {
        rule.features.iter().find(|(known, _)| *known == name).map_or(0.0, |&(_, value)| value)
    };
    let mut features: Vec<(usize, String, usize)> = Vec::new();
    for (number, name) in names.iter().enumerate() {
        let implied: Option<fn(&TextRule) -> usize> = match name.as_str() {
            // Moses once wrote e for each rule into its tables.
            "moses4" if format == TextFormat::Moses => Some(|_| 1),
            _ if format != TextFormat::Travatar => None,
            "p" => Some(|_| 1),
            "w" => {
                Some(|rule| rule.rule.target().iter().filter(|t| matches!(t, TargetSide::Word(_))).count())
            }
            _ => None,
        };
        // It was printed as 2.718.
        let least = if format == TextFormat::Moses { 1e-3 } else { 0.0 };
        let is_implied = |rule: &TextRule, count: fn(&TextRule) -> usize| {
            (value(rule, number) - count(rule) as f32).abs() <= least
        };
        if implied.is_some_and(|count| rules.iter().all(|rule| is_implied(rule, count))) {
            imported.implied.push(name.clone());
            continue;
        }
        // A `p` or `w` that counts something else is a feature of its own.
        let known = format == TextFormat::Travatar && implied.is_none();
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
