//! `sylvan model diff`: what changed from one model to another.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde_json::json;
use sylvan::decode::compare::{ChangedLine, compare_translations};
use sylvan::decode::file::{ModelFile, compare_rules, compare_weights};
use sylvan::{Model, Request};
use sylvan_store::{Output, read_lines};

use crate::commands::model_options::{InputName, corrections};
use crate::commands::searching::Searching;
use crate::threads::Threads;

/// Shows how two models differ: settings, weights, rules, and with --text what they translate differently
/// and why.
///
/// Translations use the corrections beside each model (MODEL.overlay).
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sylvan model diff enja.sylvan small.sylvan\n  \
    sylvan model diff enja.sylvan small.sylvan --text devtest.en.tree --input tree")]
pub(super) struct Diff {
    /// The first model.
    #[arg(value_name = "MODEL")]
    first: PathBuf,
    /// The second model.
    #[arg(value_name = "OTHER")]
    second: PathBuf,
    /// Lines to be translated with both.
    #[arg(long, value_name = "FILE")]
    text: Option<PathBuf>,
    /// What these lines are.
    #[arg(long, value_enum, default_value = "text")]
    input: InputName,
    #[command(flatten)]
    searching: Searching,
    #[command(flatten)]
    threads: Threads,
    /// Name at most this many rules as examples.
    #[arg(long, value_name = "N", default_value_t = 5)]
    examples: usize,
    /// Print JSON, for programs.
    #[arg(long)]
    json: bool,
}

impl Diff {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let [first, second] = [ModelFile::open(&self.first)?, ModelFile::open(&self.second)?];
        let weights = compare_weights(&first.weights()?, &second.weights()?);
        let rules = compare_rules(&first, &second, self.examples)?;
        let [ours, theirs] = [first.manifest(), second.manifest()].map(|manifest| &manifest.settings);
        let names: std::collections::BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
        let settings: Vec<[&str; 3]> = names
            .into_iter()
            .filter(|name| ours.get(*name) != theirs.get(*name))
            .map(|name| [name.as_str(), of(ours, name), of(theirs, name)])
            .collect();
        let changed = self.changed()?;
        let mut out = Output::create(Path::new("-"))?;
        if self.json {
            let lines = changed.as_ref().map(|(lines, _)| lines);
            let object = json!({
                "settings": settings.iter().map(|[name, a, b]| json!({ "name": name, "first": a, "second": b })).collect::<Vec<_>>(),
                "weights": weights.iter().map(|one| json!({ "feature": one.feature, "first": one.first, "second": one.second })).collect::<Vec<_>>(),
                "rules": { "same": rules.same, "changed": rules.changed, "only_first": rules.only_first, "only_second": rules.only_second, "lost": rules.lost, "new": rules.new },
                "lines": lines,
                "translations": changed.as_ref().map(|(_, all)| all.iter().map(|one| json!({ "line": one.number, "source": one.source, "first": one.first, "second": one.second, "reasons": one.reasons })).collect::<Vec<_>>()),
            });
            out.line(&object.to_string())?;
            return Ok(out.finish()?);
        }
        for [name, a, b] in &settings {
            out.line(&format!("setting {name}: {a} -> {b}"))?;
        }
        for one in &weights {
            out.line(&format!("weight {}: {:.4} -> {:.4}", one.feature, one.first, one.second))?;
        }
        out.line(&format!(
            "rules: {} the same, {} with other features, {} only in the first, {} only in the second",
            rules.same, rules.changed, rules.only_first, rules.only_second
        ))?;
        for (sign, list) in [('-', &rules.lost), ('+', &rules.new)] {
            for (rule, count) in list {
                out.line(&format!("  {sign} {rule}  (seen {count} times)"))?;
            }
        }
        if let Some((lines, all)) = &changed {
            out.line(&format!("translations: {} of {lines} lines differ", all.len()))?;
            for ChangedLine { number, source, first, second, reasons } in all {
                out.line(&format!("\nline {number}: {source}\n  - {first}\n  + {second}"))?;
                for reason in reasons {
                    out.line(&format!("    {reason}"))?;
                }
            }
        }
        Ok(out.finish()?)
    }

    /// How many lines there are, and those that differ.
    fn changed(&self) -> anyhow::Result<Option<(usize, Vec<ChangedLine>)>> {
        let Some(path) = &self.text else { return Ok(None) };
        self.searching.check_named()?;
        let lines = read_lines(path)?;
        let open = |path: &Path| -> anyhow::Result<(Arc<Model>, Request)> {
            let model = self.searching.applied(Model::open(path)?);
            let mut request = Request::default();
            (request.input, request.search) = (self.input.into(), Some(self.searching.search(&model)?));
            request.corrections = corrections(&model, path)?;
            Ok((Arc::new(model), request))
        };
        let ((first, ours), (second, theirs)) = (open(&self.first)?, open(&self.second)?);
        let (name, threads) = (path.display().to_string(), self.threads.count());
        let changed = compare_translations([&first, &second], [&ours, &theirs], &lines, &name, threads)?;
        Ok(Some((lines.len(), changed)))
    }
}

/// A setting, or that there is none.
fn of<'s>(settings: &'s std::collections::BTreeMap<String, String>, name: &str) -> &'s str {
    settings.get(name).map_or("none", String::as_str)
}
