//! The model file: everything that translation needs, in one mapped file (docs/formats/model.md).
//!
//! ```text
//! container "model", version 1
//! manifest   JSON: languages, settings, where the data came from
//! weights    name=value lines
//! rules      a container of its own, opened in place
//! lm0 to lm7 likewise; at least lm0
//! parser     likewise; only if the model can parse
//! neural     a network that reads the source; only if the model has one
//! slm        a structured language model or the parser that is one, likewise; only if the model has one
//! srccase    words in their usual case, one per line; only for raw text
//! lines      the training text that rules point into; only if it was to be kept
//! ```

mod diff;
mod prune;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sylvan_base::Result;
use sylvan_lm::Lm;
use sylvan_neural::NeuralModel;
use sylvan_parse::Parser;
use sylvan_parse::structured::StructuredLm;
use sylvan_rules::{Formalism, Grammar, Weights};
use sylvan_store::{Container, ContainerWriter, Name, name};
use sylvan_text::{Lang, Protect, Truecaser};

pub use diff::{RuleDiff, WeightDiff, compare_rules, compare_weights};
pub use prune::{Pruned, prune};

use crate::lines::TrainingLines;
use crate::source_text::{SourceText, section_reader, tokenizer};
use crate::target_text::TargetText;
use crate::unseen::Unseen;

const KIND: Name = name("model");
const VERSION: u32 = 1;
const MANIFEST: Name = name("manifest");
const WEIGHTS: Name = name("weights");
const RULES: Name = name("rules");
const PARSER: Name = name("parser");
const NEURAL: Name = name("neural");
const STRUCTURED: Name = name("slm");
const SOURCE_CASE: Name = name("srccase");
const LINES: Name = name("lines");
/// At most this many language models.
const MODELS: usize = 8;

/// A file that a model was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// What it was used as: `source`, `dev-target`, ..
    pub role: String,
    /// Its name, without folders.
    pub name: String,
    /// Its content hash, in hexadecimal.
    pub hash: String,
    /// Its lines.
    pub lines: u64,
}

/// What a model says about itself. It holds no times and no folders: the same data gives the same bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The program and its version.
    pub made_by: String,
    /// The source language, as a code.
    pub source_lang: String,
    /// The target language, as a code.
    pub target_lang: String,
    /// What its rules are applied to; trees, in models that do not say.
    #[serde(default)]
    pub formalism: Formalism,
    /// Whether it was trained on tokenised text: then its input and its output are tokens, too.
    pub tokenized: bool,
    /// Licences of the data, as stated by the user.
    pub licences: Vec<String>,
    /// The files it was made from.
    pub origins: Vec<Origin>,
    /// Settings of the training, by name.
    pub settings: BTreeMap<String, String>,
    /// Sizes and scores, by name.
    pub figures: BTreeMap<String, f64>,
}

impl Manifest {
    /// States that the parser keeps per step, as the model was trained.
    pub fn parser_beam(&self) -> usize {
        self.settings.get("parser-beam").and_then(|beam| beam.parse().ok()).unwrap_or(16)
    }

    /// What becomes of words that no rule translates, as the model was tuned; older models copy them.
    pub fn unseen(&self) -> Unseen {
        self.settings.get("unseen").and_then(|name| name.parse().ok()).unwrap_or_default()
    }
}

/// What a model file is packed from.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'p> {
    /// What it says about itself.
    pub manifest: &'p Manifest,
    /// The rule table.
    pub rules: &'p Path,
    /// Compiled language models.
    pub models: &'p [PathBuf],
    /// The weights.
    pub weights: &'p Weights,
    /// The parser.
    pub parser: Option<&'p Path>,
    /// The structured language model.
    pub structured: Option<&'p Path>,
    /// The network.
    pub neural: Option<&'p Path>,
    /// The source truecaser.
    pub source_case: Option<&'p Path>,
    /// The training text, as [`write_lines`](crate::lines::write_lines) writes it.
    pub lines: Option<&'p Path>,
}

fn model_name(index: usize) -> Name {
    let mut name = name("lm0");
    name[2] += index as u8;
    name
}

/// Writes a model file; it appears whole or not at all.
pub fn pack(path: &Path, parts: Parts<'_>) -> Result<()> {
    let mut writer = ContainerWriter::create(path, KIND, VERSION, MODELS + 8)?;
    let manifest =
        serde_json::to_vec_pretty(parts.manifest).expect("strings and numbers can be written as JSON");
    writer.section(MANIFEST, &manifest)?;
    let weights: String = parts.weights.iter().map(|(name, weight)| format!("{name}={weight}\n")).collect();
    writer.section(WEIGHTS, weights.as_bytes())?;
    writer.file(RULES, parts.rules)?;
    for (index, path) in parts.models.iter().take(MODELS).enumerate() {
        writer.file(model_name(index), path)?;
    }
    let optional = [
        (PARSER, parts.parser),
        (STRUCTURED, parts.structured),
        (NEURAL, parts.neural),
        (SOURCE_CASE, parts.source_case),
        (LINES, parts.lines),
    ];
    for (name, path) in optional {
        if let Some(path) = path {
            writer.file(name, path)?;
        }
    }
    writer.finish()
}

/// An open model file. Opening reads the manifest; each part is compared with its checksums when it is opened.
#[derive(Debug)]
pub struct ModelFile {
    file: Container,
    manifest: Manifest,
}

impl ModelFile {
    /// Maps a model file.
    pub fn open(path: &Path) -> Result<Self> {
        let file = Container::open(path, KIND, VERSION..=VERSION)?;
        let manifest = serde_json::from_slice(file.section(MANIFEST)?).map_err(|error| {
            let expected = "JSON that this version understands";
            file.bad(format!("an unreadable manifest ({error})"), expected.into())
        })?;
        Ok(Self { file, manifest })
    }

    /// What the model says about itself.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Names and sizes in bytes of its sections.
    pub fn sections(&self) -> impl Iterator<Item = (String, u64)> {
        self.file.sections()
    }

    /// Reads and checks everything.
    pub fn verify(&self) -> Result<()> {
        self.file.verify()?;
        self.grammar()?.verify()?;
        self.models()?;
        self.parser()?;
        self.structured()?;
        self.neural()?;
        self.source_text(Protect::default())?;
        if let Some(lines) = self.training_lines()? {
            lines.verify()?;
        }
        self.weights().map(|_| ())
    }

    /// The weights.
    pub fn weights(&self) -> Result<Weights> {
        Weights::read(&mut section_reader("weights of the model", self.file.section(WEIGHTS)?))
    }

    /// The rules.
    pub fn grammar(&self) -> Result<Grammar> {
        Grammar::inside(&self.file, RULES)
    }

    /// The language models.
    pub fn models(&self) -> Result<Vec<Lm>> {
        let names = (0..MODELS).map(model_name).filter(|&name| self.file.has(name));
        names.map(|name| Lm::inside(&self.file, name)).collect()
    }

    /// The parser, if the model has one.
    pub fn parser(&self) -> Result<Option<Parser>> {
        if self.file.has(PARSER) { Parser::inside(&self.file, PARSER).map(Some) } else { Ok(None) }
    }

    /// The structured language model, if the model has one.
    pub fn structured(&self) -> Result<Option<StructuredLm>> {
        if self.file.has(STRUCTURED) {
            StructuredLm::inside(&self.file, STRUCTURED).map(Some)
        } else {
            Ok(None)
        }
    }

    /// The network, if the model has one.
    pub fn neural(&self) -> Result<Option<NeuralModel>> {
        if self.file.has(NEURAL) { NeuralModel::inside(&self.file, NEURAL).map(Some) } else { Ok(None) }
    }

    /// The training text, if the model keeps it.
    pub fn training_lines(&self) -> Result<Option<TrainingLines>> {
        if self.file.has(LINES) { TrainingLines::inside(&self.file, LINES).map(Some) } else { Ok(None) }
    }

    /// How source text becomes words.
    pub fn source_text(&self, protect: Protect) -> Result<SourceText> {
        if self.manifest.tokenized {
            return Ok(SourceText::default());
        }
        let truecaser = if self.file.has(SOURCE_CASE) {
            let bytes = self.file.section(SOURCE_CASE)?;
            Some(Truecaser::read(&mut section_reader("truecaser of the model", bytes))?)
        } else {
            None
        };
        let tokenizer = Some(tokenizer(&self.manifest.source_lang, protect));
        let conventions = self.parser()?.map(|parser| parser.conventions().clone()).unwrap_or_default();
        Ok(SourceText { tokenizer, conventions, truecaser })
    }

    /// How target words become text.
    pub fn target_text(&self) -> TargetText {
        if self.manifest.tokenized {
            return TargetText::words();
        }
        let Ok(lang) = self.manifest.target_lang.parse::<Lang>();
        TargetText::natural(lang)
    }
}
