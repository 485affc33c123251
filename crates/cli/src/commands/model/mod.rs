//! `sylvan model`: what is in a model file, whether it is intact, and how to change it.

mod diff;
mod overlay;
mod prune;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use sylvan::decode::file::ModelFile;
use sylvan_store::Output;

/// Shows, checks, compares, prunes and corrects model files.
#[derive(Debug, Args)]
pub(crate) struct Model {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Diff(Box<diff::Diff>),
    Info(Info),
    Overlay(overlay::Overlay),
    Prune(prune::Prune),
    Verify(Verify),
}

/// Shows what a model was made from, with which settings, and how large its parts are.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sylvan model info enja.sylvan")]
struct Info {
    /// Print JSON, for programs.
    #[arg(long)]
    json: bool,
    /// The model.
    #[arg(value_name = "MODEL")]
    model: PathBuf,
}

/// Reads a whole model and checks it against its checksums; prints nothing if all is well.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sylvan model verify enja.sylvan && echo whole")]
struct Verify {
    /// The model.
    #[arg(value_name = "MODEL")]
    model: PathBuf,
}

impl Model {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        match self.what {
            What::Diff(diff) => diff.run(),
            What::Info(info) => info.run(),
            What::Overlay(overlay) => overlay.run(),
            What::Prune(prune) => prune.run(),
            What::Verify(verify) => Ok(ModelFile::open(&verify.model)?.verify()?),
        }
    }
}

impl Info {
    fn run(&self) -> anyhow::Result<()> {
        let model = ModelFile::open(&self.model)?;
        let (manifest, weights) = (model.manifest(), model.weights()?);
        let mut out = Output::create(Path::new("-"))?;
        if self.json {
            let mut object = serde_json::to_value(manifest)?;
            let sections: Vec<Value> =
                model.sections().map(|(name, bytes)| json!({ "name": name, "bytes": bytes })).collect();
            object["sections"] = Value::Array(sections);
            let weights: serde_json::Map<String, Value> =
                weights.iter().map(|(name, weight)| (name.to_string(), json!(weight))).collect();
            object["weights"] = Value::Object(weights);
            out.line(&object.to_string())?;
            return Ok(out.finish()?);
        }
        let kind = if manifest.tokenized { "tokenised text" } else { "raw text" };
        out.line(&format!("{} to {}, {kind}", manifest.source_lang, manifest.target_lang))?;
        out.line(&format!("rules over: {}", manifest.formalism.as_str()))?;
        out.line(&format!("made by {}", manifest.made_by))?;
        for licence in &manifest.licences {
            out.line(&format!("licence: {licence}"))?;
        }
        out.line("\nfrom")?;
        for origin in &manifest.origins {
            let lines = if origin.lines > 0 { format!("  {} lines", origin.lines) } else { String::new() };
            out.line(&format!("  {:<12} {}  {}{lines}", origin.role, origin.hash, origin.name))?;
        }
        out.line("\nsettings")?;
        for (name, value) in &manifest.settings {
            out.line(&format!("  {name:<12} {value}"))?;
        }
        out.line("\nfigures")?;
        for (name, value) in &manifest.figures {
            out.line(&format!("  {name:<28} {value:.2}"))?;
        }
        out.line("\nweights")?;
        for (name, weight) in weights.iter() {
            out.line(&format!("  {name:<12} {weight:.4}"))?;
        }
        out.line("\nparts")?;
        for (name, bytes) in model.sections() {
            out.line(&format!("  {name:<12} {bytes:>12} bytes"))?;
        }
        Ok(out.finish()?)
    }
}
