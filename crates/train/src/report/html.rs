//! The report as one HTML page that needs nothing but the explanations beside it.

use super::charts::{bars, histograms};
use super::{Report, Sample};
use sylvan_decode::explain::escaped;

const STYLE: &str = include_str!("page.css");

impl Report {
    /// As a page for a browser.
    pub(crate) fn html(&self) -> String {
        let mut out = format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta name=\"viewport\" \
             content=\"width=device-width\">\n<title>{0}</title>\n<style>{STYLE}</style></head>\n<body>\n<h1>{0}</h1>\n",
            escaped(&self.title)
        );
        out.push_str(&format!(
            "<p class=\"quiet\">{} sentence pairs, {} and {} words; {} rules from {} source sides</p>\n\
             <p>The model is of kind {}: {}.</p>\n",
            self.lengths.sentences,
            self.lengths.words[0],
            self.lengths.words[1],
            self.rules.rules,
            self.rules.sources,
            self.rules.kind.as_str(),
            self.rules.kind.about()
        ));
        let scores: Vec<(String, f64, String)> = self
            .table()
            .into_iter()
            .map(|(text, search, score)| (format!("{text}, {search}"), score, format!("{score:.2}")))
            .collect();
        let verdict: String = self.verdict.iter().map(|line| format!("<p>{}</p>\n", escaped(line))).collect();
        section(&mut out, "scores", "BLEU", &(bars(&scores) + &verdict));
        section(&mut out, "tuning", "Tuning", &self.curve);
        let time: Vec<(String, f64, String)> = self
            .stages
            .iter()
            .map(|stage| {
                let memory = stage.peak_bytes.map_or(String::new(), |bytes| format!(", {} MB", bytes >> 20));
                let reused = if stage.reused { ", done before" } else { "" };
                (stage.stage.clone(), stage.seconds, format!("{:.1} s{memory}{reused}", stage.seconds))
            })
            .collect();
        section(&mut out, "stages", "Time and memory", &bars(&time));
        let [source, target] = &self.lengths.counts;
        section(
            &mut out,
            "lengths",
            "Sentence lengths",
            &histograms(["source", "target"], [source.as_slice(), target.as_slice()]),
        );
        let classes = |classes: &[(String, u64)]| {
            let rows = classes.iter().map(|(name, rules)| (name.clone(), *rules as f64, rules.to_string()));
            bars(&rows.collect::<Vec<_>>())
        };
        section(&mut out, "seen", "Rules by how often they were seen", &classes(&self.rules.by_count));
        section(&mut out, "variables", "Rules by variables", &classes(&self.rules.by_variables));
        section(
            &mut out,
            "links",
            "Links",
            &format!("<div class=\"matrices\">{}</div>", self.matrices.concat()),
        );
        section(&mut out, "samples", "Translations", &table(&self.samples));
        section(&mut out, "worst", "Worst sentences", &table(&self.worst));
        let unknown: u64 = self.unknown.iter().map(|(_, count)| count).sum();
        let words = self.unknown.iter().take(100).map(|(word, count)| match count {
            1 => format!("<li>{}</li>", escaped(word)),
            _ => format!("<li>{} <small>{count}</small></li>", escaped(word)),
        });
        let words: String = words.collect();
        let told = format!(
            "<p>{unknown} of {} words of the tuning text do not occur in training.</p><ul class=\"words\">{words}</ul>",
            self.dev_words
        );
        section(&mut out, "unknown", "Unknown words", &told);
        out + "</body></html>\n"
    }
}

fn section(out: &mut String, id: &str, title: &str, body: &str) {
    if !body.is_empty() {
        out.push_str(&format!("<section id=\"{id}\"><h2>{title}</h2>\n{body}</section>\n"));
    }
}

fn table(samples: &[Sample]) -> String {
    let rows = samples.iter().map(|sample| {
        let why = sample.page.as_ref().map_or(String::new(), |page| format!("<a href=\"{page}\">why?</a>"));
        format!(
            "<tbody><tr><th rowspan=\"3\">{}<br><small>chrF {:.0}</small><br>{why}</th><td class=\"quiet\">{}</td></tr>\
             <tr><td>{}</td></tr><tr><td class=\"quiet\">{}</td></tr></tbody>\n",
            sample.line,
            sample.score,
            escaped(&sample.source),
            escaped(&sample.translation),
            escaped(&sample.reference)
        )
    });
    let rows: String = rows.collect();
    format!("<p class=\"quiet\">line: source, translation, reference</p><table>{rows}</table>")
}
