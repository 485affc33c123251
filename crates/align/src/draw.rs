//! An alignment as a picture: a matrix in the terminal, or SVG.

use sylvan_corpus::{Alignment, Link};

/// How wide a text is on a terminal: East Asian wide characters take two columns, combining marks none.
fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

fn char_width(c: char) -> usize {
    match c as u32 {
        0x300..=0x36f | 0x200b..=0x200f | 0x20d0..=0x20ff | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0x303e
        | 0x3041..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// What stands in a cell of the matrix.
fn mark(links: &Alignment, gold: Option<&Alignment>, link: Link) -> char {
    let sure = links.sure().binary_search(&link).is_ok();
    let possible = links.possible().binary_search(&link).is_ok();
    match gold {
        None if sure => '█',
        None if possible => '▒',
        None => '·',
        Some(gold) => {
            let wanted = gold.sure().binary_search(&link).is_ok();
            let allowed = wanted || gold.possible().binary_search(&link).is_ok();
            match (sure || possible, wanted, allowed) {
                (true, _, true) => '█',
                (true, _, false) => '+',
                (false, true, _) => '-',
                _ => '·',
            }
        }
    }
}

/// A matrix with a row for each source word and a column for each target word, written above it from
/// top to bottom. With `gold`, links that should not be are `+`, links that are missing `-`.
pub fn matrix(source: &[&str], target: &[&str], links: &Alignment, gold: Option<&Alignment>) -> String {
    let left = source.iter().map(|word| width(word)).max().unwrap_or(0);
    let letters: Vec<Vec<char>> =
        target.iter().map(|word| word.chars().filter(|&c| char_width(c) > 0).collect()).collect();
    let height = letters.iter().map(Vec::len).max().unwrap_or(0);
    let mut out = String::new();
    for row in 0..height {
        let mut line = " ".repeat(left + 1);
        for word in &letters {
            // Words end right above the matrix.
            match (row + word.len()).checked_sub(height).and_then(|at| word.get(at)) {
                Some(&c) => {
                    line.push(c);
                    line.push_str(if char_width(c) == 2 { "" } else { " " });
                }
                None => line.push_str("  "),
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    for (i, word) in source.iter().enumerate() {
        out.push_str(&" ".repeat(left - width(word)));
        out.push_str(word);
        for j in 0..target.len() {
            out.push(' ');
            out.push(mark(links, gold, Link::new(i as u32, j as u32)));
        }
        out.push('\n');
    }
    out
}

const CELL: usize = 18;

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The same matrix as an SVG drawing.
pub fn svg(source: &[&str], target: &[&str], links: &Alignment, gold: Option<&Alignment>) -> String {
    let extent = |words: &[&str]| 8 * words.iter().map(|word| width(word)).max().unwrap_or(0) + 12;
    let (left, top) = (extent(source), extent(target));
    let (across, down) = (target.len() * CELL, source.len() * CELL);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" font-family=\"sans-serif\" font-size=\"13\">\n",
        left + across + 8,
        top + down + 8
    );
    out.push_str(&format!(
        "<rect x=\"0\" y=\"0\" width=\"{}\" height=\"{}\" fill=\"white\"/>\n",
        left + across + 8,
        top + down + 8
    ));
    for (i, word) in source.iter().enumerate() {
        let y = top + i * CELL + 13;
        let text = escape(word);
        out.push_str(&format!("<text x=\"{}\" y=\"{y}\" text-anchor=\"end\">{text}</text>\n", left - 6));
    }
    for (j, word) in target.iter().enumerate() {
        let (x, y) = (left + j * CELL + 13, top - 6);
        let text = escape(word);
        out.push_str(&format!("<text transform=\"translate({x},{y}) rotate(-90)\">{text}</text>\n"));
    }
    for i in 0..source.len() {
        for j in 0..target.len() {
            let fill = match mark(links, gold, Link::new(i as u32, j as u32)) {
                '█' => "#234",
                '▒' => "#9ab",
                '+' => "#d55e00",
                '-' => "#f0c000",
                _ => "#f2f2f2",
            };
            let (x, y, side) = (left + j * CELL + 1, top + i * CELL + 1, CELL - 2);
            out.push_str(&format!(
                "<rect x=\"{x}\" y=\"{y}\" width=\"{side}\" height=\"{side}\" fill=\"{fill}\"/>\n"
            ));
        }
    }
    out.push_str("</svg>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use sylvan_corpus::Base;

    fn links(text: &str) -> Alignment {
        Alignment::parse(text, Base::Zero).unwrap()
    }

    #[test]
    fn words_stand_on_the_matrix() {
        let drawn = matrix(&["das", "Haus"], &["the", "家"], &links("0-0 1p1"), None);
        assert_eq!(drawn, "     t\n     h\n     e 家\n das █ ·\nHaus · ▒\n");
    }

    #[test]
    fn mistakes_are_marked_against_gold() {
        let drawn = matrix(&["a", "b"], &["x", "y"], &links("0-0 0-1"), Some(&links("0-0 1-1 1p0")));
        assert_eq!(drawn, "  x y\na █ +\nb · -\n");
    }

    #[test]
    fn svg_escapes_words_and_has_a_cell_for_each_pair() {
        let drawn = svg(&["<&>", "b"], &["\"", "y", "z"], &links("0-0"), None);
        assert!(drawn.contains("&lt;&amp;&gt;") && drawn.contains("&quot;"));
        assert_eq!(drawn.matches("<rect").count(), 7);
        assert_eq!(drawn.matches("#234").count(), 1);
    }
}
