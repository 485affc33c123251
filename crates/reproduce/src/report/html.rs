//! Reports as pages that need no other file.

use sylvan_decode::explain::escaped;

use super::summary::Summed;
use super::{Claim, Piece, Report, Table, Verdict};

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;\
color:#222;background:#fff}table{border-collapse:collapse;margin:1rem 0;font-size:.85rem;display:block;overflow-x:auto}\
th,td{border-bottom:1px solid #8886;padding:.25rem .6rem;text-align:left;vertical-align:top}caption{text-align:left;\
padding:.3rem 0}svg{max-width:100%;height:auto;margin:1rem 0}.held{color:#06753f}.not-held{color:#b3261e}\
.partly{color:#8a5a00}code{font-size:.9em}\
@media (prefers-color-scheme:dark){body{color:#ddd;background:#181818}.held{color:#5ecb95}.not-held{color:#ff8a80}\
.partly{color:#e6b35a}a{color:#8ab4f8}}";

/// A whole page.
pub(super) fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>{}</title><style>{STYLE}</style></head><body>\n{body}</body></html>\n",
        escaped(title)
    )
}

/// One paper.
pub(super) fn report(report: &Report) -> String {
    let mut out = format!("<h1>{}</h1>\n<p>{}</p>\n", escaped(report.paper), text(&report.setting));
    out.push_str(&claims(&report.claims));
    for piece in &report.pieces {
        match piece {
            Piece::Heading(words) => out.push_str(&format!("<h2>{}</h2>\n", escaped(words))),
            Piece::Text(words) => out.push_str(&format!("<p>{}</p>\n", text(words))),
            Piece::Table(one) => out.push_str(&table(one)),
            Piece::Plot(plot) => out.push_str(&plot.svg()),
        }
    }
    out + &format!("<p>{}</p>\n", text(&report.closing()))
}

/// All papers.
pub(super) fn summary(reports: &[Summed]) -> String {
    let mut out = String::from("<h1>The papers, run again</h1>\n");
    for report in reports {
        out.push_str(&format!(
            "<h2><a href=\"{}.html\">{}</a></h2>\n{}",
            report.name,
            escaped(&report.paper),
            claims(&report.claims)
        ));
    }
    out
}

fn claims(claims: &[Claim]) -> String {
    let mut out = String::from(
        "<table><tr><th>item</th><th>claim</th><th>the paper</th><th>here</th><th></th><th>why</th></tr>\n",
    );
    for claim in claims {
        let class = match claim.verdict {
            Verdict::Held => "held",
            Verdict::Partly => "partly",
            Verdict::NotHeld => "not-held",
            Verdict::Shown => "shown",
        };
        out.push_str(&format!(
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"{class}\"><b>{}</b></td><td>{}</td></tr>\n",
            text(&claim.item),
            text(&claim.claim),
            text(&claim.printed),
            text(&claim.found),
            claim.verdict.name(),
            text(&claim.why)
        ));
    }
    out + "</table>\n"
}

fn table(table: &Table) -> String {
    let row = |cells: &[String], tag: &str| {
        let cells: String = cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", text(cell))).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let rows: String = table.rows.iter().map(|cells| row(cells, "td")).collect();
    format!("<table><caption>{}</caption>{}{rows}</table>\n", text(&table.caption), row(&table.head, "th"))
}

/// Text with `code`, as in Markdown.
fn text(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(place, part)| match place % 2 {
        0 => escaped(part),
        _ => format!("<code>{}</code>", escaped(part)),
    });
    parts.collect()
}
