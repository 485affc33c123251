//! The report, in the work folder: scores and the cost of each stage as JSON, and a page for people.

use serde_json::json;

use super::write;
use crate::report::{Places, Report};
use crate::run::Run;
use crate::verdict::verdict;
use sylvan_decode::{Input, Result};
use sylvan_rules::Formalism;

pub(crate) fn run(run: &mut Run<'_>, say: &mut dyn FnMut(&str)) -> Result<()> {
    let scores = &run.scores;
    let named: serde_json::Map<_, _> =
        scores.iter().map(|(name, score)| (name.clone(), json!(score))).collect();
    let report = json!({ "stages": run.work.reports, "scores": named, "threads": run.threads });
    write(
        &run.work.file("report.json"),
        &(serde_json::to_string_pretty(&report).unwrap_or_default() + "\n"),
    )?;
    let Some(links) = &run.links else { return Ok(()) };
    let places = Places {
        model: &run.config.out,
        work: &run.work.file(""),
        source: &run.train.source,
        target: &run.train.target,
        links,
        rules: &run.rules,
        dev_source: &run.dev.source,
        // What people would give the model.
        dev_input: match run.settings.formalism {
            Formalism::Tree => (run.dev.trees()?, Input::Tree),
            _ => (&run.dev.given, Input::Text),
        },
        dev_reference: &run.dev.reference,
        dev_out: &run.work.file("dev.out"),
    };
    let verdict = verdict(scores, run.pairs);
    let page =
        Report::gather(&places, scores, verdict, &run.work.reports, run.config.beam)?.write(places.work)?;
    say(&format!("report: {}", page.display()));
    Ok(())
}
