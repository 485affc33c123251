//! `sylvan grammar info`: what is in a rule table?

use std::path::{Path, PathBuf};

use clap::Args;
use sylvan_rules::Grammar;
use sylvan_store::Output;

/// Shows sizes, features, limits and preprocessing of a rule table.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sylvan grammar info enja.rules")]
pub(crate) struct Info {
    /// The table.
    #[arg(value_name = "RULES")]
    rules: PathBuf,
    /// Print JSON, for programs.
    #[arg(long)]
    json: bool,
}

impl Info {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let grammar = Grammar::open(&self.rules)?;
        let symbols = grammar.frozen_vocab().map_or(0, sylvan_store::FrozenVocab::len);
        let mut out = Output::create(Path::new("-"))?;
        let description = serde_json::to_value(grammar.meta())?;
        if self.json {
            let sections: serde_json::Map<String, serde_json::Value> =
                grammar.sections().into_iter().map(|(name, bytes)| (name, bytes.into())).collect();
            let answer = serde_json::json!({
                "rules": grammar.len(),
                "sources": grammar.source_count(),
                "symbols": symbols,
                "description": description,
                "sections": sections,
            });
            out.line(&serde_json::to_string_pretty(&answer)?)?;
            return Ok(out.finish()?);
        }
        out.line(&format!("rules           {}", grammar.len()))?;
        out.line(&format!("source sides    {}", grammar.source_count()))?;
        out.line(&format!("symbols         {symbols}"))?;
        if let serde_json::Value::Object(fields) = description {
            for (name, value) in fields {
                if let serde_json::Value::Object(inner) = value {
                    for (part, value) in inner.iter().filter(|(_, value)| !value.is_null()) {
                        out.line(&format!("{:<15} {part} {value}", name.replace('_', " ")))?;
                    }
                } else {
                    out.line(&format!("{:<15} {value}", name.replace('_', " ")))?;
                }
            }
        }
        for (name, bytes) in grammar.sections() {
            out.line(&format!("section         {name:<8} {bytes:>14} bytes"))?;
        }
        Ok(out.finish()?)
    }
}
