//! `sylvan grammar show`: which rules have these words?

use std::path::{Path, PathBuf};

use clap::Args;
use sylvan_base::{Symbol, Vocab};
use sylvan_rules::{Grammar, Rule, RuleId, Source, TargetSide};
use sylvan_store::Output;

/// Finds rules by words of their source or target side and prints them, the most frequent first.
///
/// --source, --target or both must be given. All words must be on that side, in this order, one after the other (with variables between them or not).
#[derive(Debug, Args)]
#[command(
    override_usage = "sylvan grammar show <RULES> --source <WORDS> [--target <WORDS>] [OPTIONS]\n       \
    sylvan grammar show <RULES> --target <WORDS> [OPTIONS]"
)]
#[command(after_help = "Example:\n  sylvan grammar show enja.rules --source \"good morning\" --limit 5")]
pub(crate) struct Show {
    /// The table.
    #[arg(value_name = "RULES")]
    rules: PathBuf,
    /// Words of the source side.
    #[arg(long, value_name = "WORDS", required_unless_present = "target")]
    source: Option<String>,
    /// Words of the target side.
    #[arg(long, value_name = "WORDS")]
    target: Option<String>,
    /// Print at most this many rules; 0 for all.
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Print JSON, for programs.
    #[arg(long)]
    json: bool,
}

impl Show {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let grammar = Grammar::open(&self.rules)?;
        let vocab = grammar.vocab();
        let (Some(source), Some(target)) =
            (words(self.source.as_deref(), &vocab), words(self.target.as_deref(), &vocab))
        else {
            return Ok(());
        };
        let mut found = Vec::new();
        for (side, rules) in grammar.sources() {
            let tokens = grammar.source(side).unwrap_or_default();
            let words: Vec<Symbol> = tokens
                .iter()
                .filter_map(|token| match token {
                    Source::Word(word) => Some(*word),
                    _ => None,
                })
                .collect();
            if !contains(&words, &source) {
                continue;
            }
            for id in rules {
                let rule = grammar.rule(id);
                if contains(&target_words(&rule), &target) {
                    let count = grammar.notes(id).count.map_or(0, |count| count.rule.0);
                    found.push((std::cmp::Reverse(count), id, rule));
                }
            }
        }
        found.sort_by_key(|(count, id, _)| (*count, *id));
        if self.limit > 0 {
            found.truncate(self.limit);
        }
        let mut out = Output::create(Path::new("-"))?;
        for (_, id, rule) in &found {
            match self.json {
                false => out.line(&text(&grammar, *id, rule, &vocab))?,
                true => out.line(&json(&grammar, *id, rule, &vocab).to_string())?,
            }
        }
        Ok(out.finish()?)
    }
}

/// The symbols of words; `None` if the table does not know one, so that no rule can have it.
fn words(text: Option<&str>, vocab: &Vocab) -> Option<Vec<Symbol>> {
    text.unwrap_or_default().split_ascii_whitespace().map(|word| vocab.get(word)).collect()
}

fn contains(words: &[Symbol], wanted: &[Symbol]) -> bool {
    wanted.is_empty() || words.windows(wanted.len()).any(|window| window == wanted)
}

fn target_words(rule: &Rule) -> Vec<Symbol> {
    let word = |symbol: &TargetSide| match symbol {
        TargetSide::Word(word) => Some(*word),
        TargetSide::Var(_) => None,
    };
    rule.target().iter().filter_map(word).collect()
}

fn text(grammar: &Grammar, id: RuleId, rule: &Rule, vocab: &Vocab) -> String {
    let notes = grammar.notes(id);
    let mut text = rule.show(vocab);
    if let Some(count) = notes.count {
        text.push_str(&format!(
            "\n    seen {} times, source side {}, target side {}",
            count.rule, count.source, count.target
        ));
    }
    text.push_str("\n   ");
    for (name, value) in grammar.feature_names().iter().zip(grammar.features(id)) {
        text.push_str(&format!(" {name}={value:.4}"));
    }
    if !notes.links.is_empty() {
        let links: Vec<String> = notes.links.iter().map(|(s, t)| format!("{s}-{t}")).collect();
        text.push_str(&format!("\n    links {}", links.join(" ")));
    }
    if !notes.lines.is_empty() {
        let lines: Vec<String> = notes.lines.iter().map(ToString::to_string).collect();
        text.push_str(&format!("\n    training lines {}", lines.join(" ")));
    }
    text
}

fn json(grammar: &Grammar, id: RuleId, rule: &Rule, vocab: &Vocab) -> serde_json::Value {
    let notes = grammar.notes(id);
    let features: serde_json::Map<String, serde_json::Value> = grammar
        .feature_names()
        .iter()
        .zip(grammar.features(id))
        .map(|(name, value)| (name.clone(), f64::from(value).into()))
        .collect();
    let count = notes.count.map(|count| {
        serde_json::json!({
            "rule": count.rule.to_f64(), "source": count.source.to_f64(), "target": count.target.to_f64(),
        })
    });
    serde_json::json!({
        "id": id.0,
        "rule": rule.show(vocab),
        "count": count,
        "features": features,
        "links": notes.links,
        "lines": notes.lines,
    })
}
