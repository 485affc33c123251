//! Reports as Markdown.

use super::summary::Summed;
use super::{Claim, Piece, Report, Table, Verdict};

/// One paper.
pub(super) fn report(report: &Report) -> String {
    let mut out = format!("# {}\n\n{}\n\n", report.paper, report.setting);
    out.push_str(&claims(&report.claims));
    for piece in &report.pieces {
        match piece {
            Piece::Heading(text) => out.push_str(&format!("## {text}\n\n")),
            Piece::Text(text) => out.push_str(&format!("{text}\n\n")),
            Piece::Table(one) => out.push_str(&table(one)),
            Piece::Plot(plot) => {
                out.push_str(&format!("![{}](plots/{}-{}.svg)\n\n", plot.title, report.name, plot.name));
            }
        }
    }
    out + &report.closing() + "\n"
}

/// All papers: how many claims held, and which did not.
pub(super) fn summary(reports: &[Summed]) -> String {
    let mut out = String::from(
        "# The papers, run again\n\nMade by `sylvan reproduce`; each report says with what.\n\n",
    );
    out.push_str(
        "| paper | held | partly | did not hold | shown | fingerprint |\n|---|---|---|---|---|---|\n",
    );
    for report in reports {
        let count = |verdict: Verdict| report.claims.iter().filter(|claim| claim.verdict == verdict).count();
        out.push_str(&format!(
            "| [{}]({}.md) | {} | {} | {} | {} | `{}` |\n",
            cell(&report.paper),
            report.name,
            count(Verdict::Held),
            count(Verdict::Partly),
            count(Verdict::NotHeld),
            count(Verdict::Shown),
            report.fingerprint
        ));
    }
    out.push('\n');
    for report in reports {
        out.push_str(&format!("## {}\n\n{}", report.paper, claims(&report.claims)));
    }
    out.trim_end().to_string() + "\n"
}

fn claims(claims: &[Claim]) -> String {
    let mut all = Table::new("", &["item", "claim", "the paper", "here", "", "why"]);
    for claim in claims {
        let Claim { item, claim, printed, found, verdict, why } = claim;
        let verdict = format!("**{}**", verdict.name());
        all.row([item, claim, printed, found, &verdict, why].map(Clone::clone));
    }
    table(&all)
}

fn table(table: &Table) -> String {
    let row = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|text| cell(text)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let caption = if table.caption.is_empty() { String::new() } else { format!("{}\n\n", table.caption) };
    let rule = format!("|{}\n", "---|".repeat(table.head.len()));
    let rows: String = table.rows.iter().map(|cells| row(cells)).collect();
    format!("{caption}{}{rule}{rows}\n", row(&table.head))
}

/// A bar would end the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
