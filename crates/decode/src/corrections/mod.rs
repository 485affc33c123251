//! Corrections of a model without training again: rules added, forbidden and favoured.
//!
//! ```text
//! enja.sylvan.overlay --log.rs--> lines --Corrections--> a layer of rules over the model's table
//! a sentence pair, a training line --pairs.rs--> lines
//! ```
//!
//! The model is never touched: corrections belong to requests, and share its table and its vocabulary. The
//! worker sees to it that they change only the sentences that they concern (`worker/steady.rs`).

mod log;
mod pairs;

use std::path::Path;
use std::sync::Arc;

use sylvan_base::{InputError, Vocab};
use sylvan_rules::{Overlay, Weights};
use sylvan_store::TextReader;

pub use log::{Correction, CorrectionLog, layer_path, overlay_path};
pub use pairs::{pair_lines, rules_of_line};

use crate::error::Result;
use crate::model::{Model, Weighed, applier};

/// Corrections of one model, ready to be used by any number of requests.
#[derive(Debug)]
pub struct Corrections {
    /// The vocabulary of the model that they correct, by which they know it.
    of: Arc<Vocab>,
    /// The same, and after it words that only corrections have.
    pub(crate) vocab: Arc<Vocab>,
    pub(crate) rules: Weighed,
    pub(crate) weights: Weights,
    missing: Vec<String>,
}

impl Corrections {
    /// Reads corrections. What they add takes the table's weights, and `boost` the weight 1, unless the model
    /// has weights for it (`tm1.p_ef`, `boost`).
    pub fn read(model: &Model, reader: &mut TextReader) -> Result<Self> {
        let mut vocab = Vocab::extending(Arc::clone(model.vocab()));
        let (overlay, missing) = Overlay::read(reader, model.grammar(), &mut vocab)?;
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
        let applier = applier(model.grammar(), &weights, &vocab, model.applying());
        let applier = applier.with_overlay(Arc::new(overlay));
        let rules = Weighed::new(applier, model.model_count(), model.structured().is_some(), &weights);
        Ok(Self { of: Arc::clone(model.vocab()), vocab: Arc::new(vocab), rules, weights, missing })
    }

    /// The corrections beside a model file; `None` if there are none.
    pub fn beside(model: &Model, path: &Path) -> Result<Option<Self>> {
        let overlay = overlay_path(path);
        if !overlay.exists() {
            return Ok(None);
        }
        Self::read(model, &mut TextReader::open(&overlay)?).map(Some)
    }

    /// The corrections beside a model file, and those with these names after them; `None` if there are none at all.
    pub fn layered(model: &Model, path: &Path, layers: &[String]) -> Result<Option<Self>> {
        let mut text = String::new();
        for layer in std::iter::once("").chain(layers.iter().map(String::as_str)) {
            let overlay = layer_path(path, layer);
            if overlay.exists() {
                text += &std::fs::read_to_string(&overlay).map_err(InputError::io(&overlay, "read"))?;
                text.push('\n');
            }
        }
        if text.is_empty() {
            return Ok(None);
        }
        Self::read(model, &mut TextReader::from_text("corrections", &text)).map(Some)
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

    /// The lines about rules that the model does not have; they change nothing.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }
}
