//! Corrections of a model without training again: rules added, forbidden and favoured.
//!
//! ```text
//! enja.sylvan.overlay --log.rs--> lines --Corrections--> layers of rules over the model's table
//! ```
//!
//! The model is never touched: corrections belong to requests, and share its table and its vocabulary. The
//! worker sees to it that they change only the sentences that they concern (`worker/steady.rs`).
//!
//! One more correction does not read the others again: its lines become a part of their own ([`Overlay`]), and small
//! parts are put together now and then, so that there are few.

mod lines;
mod log;
mod time;

use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use sylvan_base::{HashSet, Vocab};
use sylvan_rules::{Overlay, Rule, RuleId, Source, TargetSide, Weights};
use sylvan_store::TextReader;

pub use lines::rules_of_line;
pub use log::{Correction, CorrectionLog, Pair, layer_path, overlay_path};
pub use time::written_time;

use crate::error::Result;
use crate::model::{Model, Weighed, applier};

/// Lines of parts that are put together. More would take too long for somebody who waits for an answer.
const PART: usize = 8_192;

/// Corrections of one model, ready to be used by any number of requests.
#[derive(Debug)]
pub struct Corrections {
    /// The vocabulary of the model that they correct, by which they know it.
    of: Arc<Vocab>,
    /// The same, and after it words that only corrections have.
    pub(crate) vocab: Arc<Vocab>,
    pub(crate) rules: Weighed,
    pub(crate) weights: Weights,
    overlay: Arc<Overlay>,
    /// What each part of the overlay was read from.
    texts: Vec<Arc<Text>>,
    missing: Vec<String>,
}

/// Lines of a log.
#[derive(Debug)]
struct Text {
    text: String,
    lines: usize,
    /// Where entries begin, counted from 1, and what was asked.
    heads: Vec<(u64, String)>,
}

impl Text {
    fn new(text: String) -> Self {
        let head =
            |(at, line): (usize, &str)| Some((at as u64 + 1, line.strip_prefix(log::HEAD)?.to_string()));
        let heads = text.lines().enumerate().filter_map(head).collect();
        Self { lines: text.lines().count(), heads, text }
    }

    /// The entry that a line belongs to.
    fn entry(&self, line: u64) -> Option<(usize, &str)> {
        let entry = self.heads.partition_point(|(at, _)| *at <= line).checked_sub(1)?;
        Some((entry, &self.heads[entry].1))
    }

    /// All lines of entries, each with the number of its entry.
    fn entries(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut heads = 0;
        self.text.lines().filter_map(move |line| {
            let is_head = line.starts_with(log::HEAD);
            heads += usize::from(is_head);
            heads.checked_sub(1).filter(|_| !is_head).map(|entry| (entry, line))
        })
    }
}

/// A translation that was given for a sentence before, and lines that take back what it taught.
#[derive(Debug, Clone)]
pub(crate) struct Earlier {
    pub(crate) pair: Pair,
    pub(crate) lines: Vec<String>,
}

impl Corrections {
    /// Reads corrections. What they add takes the table's weights, and `boost` the weight 1, unless the model
    /// has weights for it (`tm1.p_ef`, `boost`).
    pub fn read(model: &Model, reader: &mut TextReader) -> Result<Self> {
        let mut text = String::new();
        while let Some(line) = reader.next_line()? {
            text.push_str(line);
            text.push('\n');
        }
        let name = reader.name().to_string();
        Self::on(model, &name, None, Text::new(text))
    }

    /// The same corrections and more, which come after them; the others are not read again.
    pub fn and(&self, model: &Model, more: &str) -> Result<Self> {
        let mut more = more.to_string();
        if !more.is_empty() && !more.ends_with('\n') {
            more.push('\n');
        }
        let mut text = Text::new(more);
        let mut kept = self.texts.len();
        // Each part is at least twice as long as the next.
        while let Some(last) = kept.checked_sub(1).map(|last| &self.texts[last]) {
            if last.lines > 2 * text.lines || last.lines + text.lines > PART {
                break;
            }
            text = Text::new(format!("{}{}", last.text, text.text));
            kept -= 1;
        }
        Self::on(model, "correction", Some((self, kept)), text)
    }

    /// Reads a text on top of the first parts of others.
    fn on(model: &Model, name: &str, below: Option<(&Self, usize)>, text: Text) -> Result<Self> {
        let mut vocab = match below {
            Some((below, _)) => (*below.vocab).clone(),
            None => Vocab::extending(Arc::clone(model.vocab())),
        };
        let lowest = below.map_or_else(Overlay::default, |(below, parts)| below.overlay.lowest(parts));
        let mut reader = TextReader::from_text(name, &text.text);
        let (overlay, missing) = lowest.and(&mut reader, model.grammar(), &mut vocab)?;
        let mut texts = below.map_or_else(Vec::new, |(below, parts)| below.texts[..parts].to_vec());
        texts.push(Arc::new(text));
        let weights = below.map_or_else(|| weights(model), |(below, _)| below.weights.clone());
        let overlay = Arc::new(overlay);
        let applier = applier(model.grammar(), &weights, &vocab, model.applying());
        let applier = applier.with_overlay(Arc::clone(&overlay));
        let rules = Weighed::new(applier, model.others(), &weights);
        let (of, vocab) = (Arc::clone(model.vocab()), Arc::new(vocab));
        Ok(Self { of, vocab, rules, weights, overlay, texts, missing })
    }

    /// The corrections beside a model file; `None` if there are none.
    pub fn beside(model: &Model, path: &Path) -> Result<Option<Self>> {
        let overlay = overlay_path(path);
        let Some(bytes) = log::kept(&overlay)? else { return Ok(None) };
        let mut reader = TextReader::from_reader(overlay.display().to_string(), Cursor::new(bytes));
        Self::read(model, &mut reader).map(Some)
    }

    /// The corrections beside a model file, and those with these names after them; `None` if there are none at all.
    pub fn layered(model: &Model, path: &Path, layers: &[String]) -> Result<Option<Self>> {
        let text = written(path, layers)?;
        if text.is_empty() {
            return Ok(None);
        }
        Self::read(model, &mut TextReader::from_text("corrections", &text)).map(Some)
    }

    /// Whether these are the corrections beside a model file, and those with these names after them, as they are on
    /// disk now.
    pub fn are_written(&self, path: &Path, layers: &[String]) -> Result<bool> {
        let text = written(path, layers)?;
        let mut rest = text.as_str();
        let mut all = self.texts.iter();
        Ok(all.all(|part| rest.strip_prefix(part.text.as_str()).map(|after| rest = after).is_some())
            && rest.is_empty())
    }

    /// Corrections from the lines of a log, or from anywhere else.
    pub fn from_lines(model: &Model, lines: &[String]) -> Result<Self> {
        Self::read(model, &mut TextReader::from_text("correction", &(lines.join("\n") + "\n")))
    }

    /// Whether they were made for this model, whatever its weights. Rules go by numbers, so in another model
    /// they would be other rules.
    pub(crate) fn are_of(&self, model: &Model) -> bool {
        Arc::ptr_eq(&self.of, model.vocab())
    }

    /// The lines about rules that the model does not have; they change nothing. Of corrections that were added to
    /// others, those that were read last.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// In how many parts rules are looked up.
    pub fn part_count(&self) -> usize {
        self.overlay.part_count()
    }

    /// What was asked when a rule of a part was added; nothing if it was written by hand.
    pub(crate) fn pair_of(&self, part: usize, rule: RuleId) -> Option<Pair> {
        let (_, about) = self.texts.get(part)?.entry(self.overlay.line(part, rule)?)?;
        Pair::parse(about)
    }

    /// How often a rule was added or favoured, and whether it gives a sentence its translation.
    pub(crate) fn known(&self, rule: &Rule) -> (usize, bool) {
        let (mut times, mut given) = (0, false);
        for part in 0..self.overlay.part_count() {
            let Some(added) = self.overlay.added(part) else { continue };
            let Some(source) = added.find_source(rule.source()) else { continue };
            for id in added.rules_of(source).filter(|&id| added.rule(id).target() == rule.target()) {
                times += 1;
                given |= self.overlay.is_given(part, id) && self.overlay.uses(part, id, None);
            }
        }
        (times, given)
    }

    /// The last translation that was given for a source side, if it is another one than this.
    pub(crate) fn given_for(&self, source: &[Source], target: &[TargetSide]) -> Option<Earlier> {
        for part in (0..self.overlay.part_count()).rev() {
            let Some(added) = self.overlay.added(part) else { continue };
            let Some(found) = added.find_source(source) else { continue };
            let given = |id: &RuleId| self.overlay.is_given(part, *id) && self.overlay.uses(part, *id, None);
            let Some(last) = added.rules_of(found).filter(given).max() else { continue };
            if added.rule(last).target() == target {
                return None;
            }
            let text = &self.texts[part];
            let (entry, about) = text.entry(self.overlay.line(part, last)?)?;
            let pair = Pair::parse(about)?;
            return Some(Earlier { pair, lines: self.taken_back(part, entry) });
        }
        None
    }

    /// Lines that take back what an entry added and favoured, but for what others did as well.
    fn taken_back(&self, part: usize, entry: usize) -> Vec<String> {
        let mut others: HashSet<&str> = HashSet::default();
        for (number, text) in self.texts.iter().enumerate() {
            let lines = text.entries().filter(|&(other, _)| (number, other) != (part, entry));
            others.extend(lines.filter_map(|(_, line)| rule_of(line)));
        }
        let back = |line: &str| match (rule_of(line)?, line.starts_with("add ")) {
            (rule, _) if others.contains(rule) => None,
            (rule, true) => Some(format!("forbid {rule}")),
            (rule, false) => Some(format!("boost 0 {rule}")),
        };
        let lines = self.texts[part].entries().filter(|&(other, _)| other == entry);
        lines.filter_map(|(_, line)| back(line)).collect()
    }
}

/// The text of corrections beside a model file: those that always count, then those with names.
fn written(path: &Path, layers: &[String]) -> Result<String> {
    let mut text = String::new();
    for layer in std::iter::once("").chain(layers.iter().map(String::as_str)) {
        if let Some(kept) = log::kept_text(&layer_path(path, layer))? {
            text += &kept;
            if !text.ends_with('\n') {
                text.push('\n');
            }
        }
    }
    Ok(text)
}

/// The rule that a line adds or favours.
fn rule_of(line: &str) -> Option<&str> {
    let rule = match line.strip_prefix("add ") {
        Some(rest) => rest.rsplit_once(" ||| ").map_or(rest, |(rule, _)| rule),
        None => line.strip_prefix("boost ")?.split_once(' ')?.1,
    };
    Some(rule.trim())
}

/// The weights of a model, and the same for what corrections add.
fn weights(model: &Model) -> Weights {
    let mut weights = model.weights().clone();
    let named = |name: &str| model.weights().iter().any(|(known, _)| known == name);
    for (name, weight) in model.weights().iter() {
        if let Some(bare) = name.strip_prefix("tm0.") {
            let name = format!("tm1.{bare}");
            if !named(&name) {
                weights.set(&name, weight);
            }
        }
    }
    if !named("boost") && !named("tm1.boost") {
        weights.set("tm1.boost", 1.0);
    }
    weights
}
