//! The report as Markdown, for terminals and repositories.

use std::fmt::Write;

use super::{Report, Sample};

impl Report {
    /// As Markdown.
    pub(crate) fn markdown(&self) -> String {
        // Writing to a string cannot fail.
        let mut out = String::new();
        let _ = writeln!(out, "# {}\n", self.title);
        let _ = writeln!(
            out,
            "{} sentence pairs, {} and {} words; {} rules from {} source sides.\n\nThe model is of kind {}: {}.\n",
            self.lengths.sentences,
            self.lengths.words[0],
            self.lengths.words[1],
            self.rules.rules,
            self.rules.sources,
            self.rules.kind.as_str(),
            self.rules.kind.about()
        );
        let _ = writeln!(out, "## Scores\n\n| text | search | BLEU |\n|---|---|---|");
        for (text, search, score) in self.table() {
            let _ = writeln!(out, "| {text} | {search} | {score:.2} |");
        }
        for line in &self.verdict {
            let _ = writeln!(out, "\n{}", quoted(line));
        }
        let _ = writeln!(out, "\n## Stages\n\n| stage | seconds | peak memory | |\n|---|---|---|---|");
        for stage in &self.stages {
            let memory = stage.peak_bytes.map_or(String::new(), |bytes| format!("{} MB", bytes >> 20));
            let reused = if stage.reused { "done before" } else { "" };
            let _ = writeln!(out, "| {} | {:.1} | {memory} | {reused} |", stage.stage, stage.seconds);
        }
        for (name, classes) in [("seen", &self.rules.by_count), ("variables", &self.rules.by_variables)] {
            let _ = writeln!(out, "\n## Rules by {name}\n\n| {name} | rules |\n|---|---|");
            for (class, rules) in classes {
                let _ = writeln!(out, "| {class} | {rules} |");
            }
        }
        for (name, samples) in [("Translations", &self.samples), ("Worst sentences", &self.worst)] {
            let _ = writeln!(out, "\n## {name}\n");
            samples.iter().for_each(|sample| one(&mut out, sample));
        }
        let unknown: u64 = self.unknown.iter().map(|(_, count)| count).sum();
        let _ = writeln!(
            out,
            "\n## Unknown words\n\n{unknown} of {} words of the tuning text do not occur in training.\n",
            self.dev_words
        );
        for (word, count) in self.unknown.iter().take(50) {
            let _ = writeln!(out, "- {} ({count})", quoted(word));
        }
        out
    }
}

fn one(out: &mut String, sample: &Sample) {
    let page = sample.page.as_ref().map_or(String::new(), |page| format!(" [why]({page})"));
    let _ = writeln!(
        out,
        "- line {}, chrF {:.1}{page}\n  - source: {}\n  - translation: {}\n  - reference: {}",
        sample.line,
        sample.score,
        quoted(&sample.source),
        quoted(&sample.translation),
        quoted(&sample.reference)
    );
}

/// Text that Markdown leaves alone.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '_' | '`' | '[' | ']' | '<' | '>' | '\\' | '#' | '|') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
