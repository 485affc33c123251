//! An explanation for a terminal.

use std::fmt::Write;
use sylvan_rules::features::meaning;

use super::build::note;
use super::{Child, Contribution, Difference, Explanation, Line, Piece, Step, Taken};

/// How many features of a difference are named.
const NAMED: usize = 4;

impl Explanation {
    /// As text: translation, tree, derivation, words, features, the second best, the search.
    pub fn text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out).expect("strings take everything that is written to them");
        out
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "{}", self.source.join(" "))?;
        writeln!(out, "{}", self.translation)?;
        writeln!(out, "score {:.4}", self.score)?;
        for [start, end] in &self.missed_terms {
            let words = self.source.get(*start as usize..*end as usize).unwrap_or_default();
            writeln!(out, "not translated as a term, because it overlaps another: {}", words.join(" "))?;
        }
        if !self.tree.is_empty() {
            writeln!(out, "\nSource tree")?;
        }
        self.write_tree(out)?;
        self.write_structure(out)?;
        writeln!(out, "\nDerivation (rules in target order; what each adds to the score)")?;
        for (index, step) in self.steps.iter().enumerate() {
            self.write_step(out, index, step)?;
        }
        writeln!(out, "\nWords (step, source words, language model)")?;
        for (position, word) in self.words.iter().enumerate() {
            let from: Vec<&str> = word
                .links
                .iter()
                .filter_map(|&link| Some(self.source.get(link as usize)?.as_str()))
                .collect();
            let from = if from.is_empty() { "-".to_string() } else { from.join(" ") };
            let lm = sum(&word.parts);
            writeln!(
                out,
                "{:>4} {:>9.4}  step {:<3} {}  <- {from}",
                position + 1,
                lm,
                word.step + 1,
                word.text
            )?;
        }
        writeln!(out, "{:>4} {:>9.4}  end", "", sum(&self.end))?;
        writeln!(out, "\nFeatures (value x weight)")?;
        for part in &self.features {
            writeln!(
                out,
                "  {:<12} {:>10.4} x {:>8.4} = {:>9.4}   {}",
                part.feature,
                part.value,
                part.weight,
                part.score,
                meaning(&part.feature)
            )?;
        }
        writeln!(out, "  {:<12} {:>10}   {:>8}   {:>9.4}", "score", "", "", self.score)?;
        self.write_runner_up(out)?;
        self.write_overruled(out)?;
        self.write_search(out)
    }

    fn write_tree(&self, out: &mut String) -> std::fmt::Result {
        if self.tree.is_empty() {
            return Ok(());
        }
        // Nodes still to be written, with the branches left of them; the last one of its parent bends.
        let mut open: Vec<(Child, String, bool, bool)> =
            vec![(Child::Node(self.tree.len() - 1), String::new(), true, true)];
        while let Some((child, left, last, root)) = open.pop() {
            let (branch, below) = match (root, last) {
                (true, _) => ("", ""),
                (false, true) => ("└ ", "  "),
                (false, false) => ("├ ", "│ "),
            };
            match child {
                Child::Words(span) => writeln!(out, "  {left}{branch}{}", self.span(span))?,
                Child::Node(node) => {
                    let node = &self.tree[node];
                    if let [Child::Words(span)] = node.children[..] {
                        writeln!(out, "  {left}{branch}{} {}", node.label, self.span(span))?;
                        continue;
                    }
                    writeln!(out, "  {left}{branch}{}", node.label)?;
                    let left = format!("{left}{below}");
                    let count = node.children.len();
                    let children = node.children.iter().enumerate().rev();
                    open.extend(children.map(|(nth, &child)| (child, left.clone(), nth + 1 == count, false)));
                }
            }
        }
        Ok(())
    }

    fn write_structure(&self, out: &mut String) -> std::fmt::Result {
        let Some(structure) = &self.structure else { return Ok(()) };
        writeln!(
            out,
            "\nTarget tree (part of speech, what the structured language model says of each word)"
        )?;
        for (path, word) in structure.lines() {
            let (last, above) = match path.split_last() {
                None => ("", &[][..]),
                Some((true, above)) => ("└ ", above),
                Some((false, above)) => ("├ ", above),
            };
            let left: String = above.iter().map(|&last| if last { "  " } else { "│ " }).collect();
            let text = self.words.get(word).map_or("", |word| word.text.as_str());
            let attached = &structure.words[word];
            writeln!(out, "  {left}{last}{text} {} {:.4}", attached.tag, attached.value)?;
        }
        writeln!(out, "  {:.4} in all; {}", structure.value, structure.text)
    }

    fn span(&self, [start, end]: [u32; 2]) -> String {
        self.source.get(start as usize..end as usize).unwrap_or_default().join(" ")
    }

    fn write_step(&self, out: &mut String, index: usize, step: &Step) -> std::fmt::Result {
        let indent = "  ".repeat(step.depth.min(20));
        writeln!(out, "{:>4} {:>9.4}  {indent}{}", index + 1, step.score, step.rule)?;
        let pad = format!("{:>16}{indent}", "");
        let pieces: Vec<String> = step
            .target
            .iter()
            .map(|piece| match *piece {
                Piece::Word(word) => self.words[word as usize].text.clone(),
                Piece::Step(step) => format!("[{}]", step + 1),
            })
            .collect();
        let mut about = Vec::new();
        if !note(step.kind).is_empty() {
            about.push(note(step.kind).to_string());
        }
        if !step.stands_for.is_empty() {
            about.push(format!("as {}", step.stands_for.join(" + ")));
        }
        if let Some([rule, source, _]) = step.count {
            about.push(format!("seen {} of {} times", short(rule), short(source)));
        }
        writeln!(out, "{pad}makes {}{}", pieces.join(" "), joined(&about))?;
        if let Some(order) = &step.order {
            writeln!(out, "{pad}{} ({})", order.text, order.orientation)?;
        }
        let parts: Vec<String> =
            step.parts.iter().map(|part| format!("{} {:.4}", part.feature, part.score)).collect();
        writeln!(out, "{pad}{}", parts.join(", "))?;
        for line in &step.lines {
            let Line { number, source, target, source_marks, target_marks } = line;
            writeln!(out, "{pad}line {number}: {}", marked(source, source_marks))?;
            writeln!(
                out,
                "{pad}{:>width$}  {}",
                "",
                marked(target, target_marks),
                width = 5 + number.to_string().len()
            )?;
        }
        if let Some(other) = &step.competitor {
            writeln!(out, "{pad}instead {}: {}", compared(other.difference), other.rule)?;
            writeln!(out, "{pad}        {}", because(&other.decided))?;
        }
        Ok(())
    }

    fn write_runner_up(&self, out: &mut String) -> std::fmt::Result {
        let Some(other) = &self.runner_up else { return writeln!(out, "\nNo other translation was found.") };
        let missed = other.difference < 0.0;
        writeln!(out, "\n{}", if missed { "Better, and missed by the search" } else { "Second best" })?;
        writeln!(out, "  {}", other.translation)?;
        writeln!(out, "  score {:.4}, {}", other.score, compared(other.difference))?;
        for rule in &other.rules {
            writeln!(out, "    {rule}")?;
        }
        writeln!(out, "  what decided (this translation, second best, difference)")?;
        for one in &other.decided {
            writeln!(
                out,
                "    {:<12} {:>9.4} {:>9.4} {:>+9.4}",
                one.feature, one.score, one.other, one.difference
            )?;
        }
        writeln!(out, "    {:<12} {:>9.4} {:>9.4} {:>+9.4}", "sum", self.score, other.score, other.difference)
    }

    fn write_overruled(&self, out: &mut String) -> std::fmt::Result {
        let Some(other) = &self.overruled else { return Ok(()) };
        let own: Vec<String> = self.words.iter().map(|word| word.text.clone()).collect();
        writeln!(out, "\nWithout the network (words that differ between asterisks)")?;
        writeln!(out, "  here      {}", marked(&own, &other.put_in))?;
        writeln!(out, "  without   {}", marked(&other.words, &other.left_out))?;
        writeln!(
            out,
            "  for this translation: the network {:+.4}, all else {:+.4}: {}",
            other.network,
            other.others,
            because(&other.decided)
        )
    }

    fn write_search(&self, out: &mut String) -> std::fmt::Result {
        let search = &self.search;
        let beam = search.beam.map_or(String::new(), |beam| format!(", beam {beam}"));
        writeln!(
            out,
            "\nSearch: {}{beam}; {} items, {} recombined, {} pruned, {} words scored",
            search.name, search.items, search.recombined, search.pruned, search.lm_queries
        )?;
        match search.gap {
            Some(0.0) => writeln!(out, "  proven: no translation of this model scores more")?,
            Some(gap) => writeln!(out, "  no translation of this model scores more than {gap:.4} above it")?,
            None => {}
        }
        if !search.bins.is_empty() {
            writeln!(out, "  * begins like the answer, x dropped by the beam; score, estimate, item")?;
        }
        if !search.taken.is_empty() {
            writeln!(
                out,
                "  the parts of the answer in the order in which they were taken: number, score, estimate of the whole, of how many"
            )?;
        }
        for part in &search.taken {
            let Taken { before, waiting, place, words, score, estimate } = part;
            writeln!(
                out,
                "    {:>6}  {score:>9.4} {estimate:>9.4} {waiting:>7}  {place}  {words}",
                before + 1
            )?;
        }
        for bin in &search.bins {
            let round = bin.round.map_or(String::new(), |round| format!(".{round}"));
            writeln!(out, "  bin {}{round}: kept {} of {}", bin.bin, bin.kept, bin.competed)?;
            for item in &bin.items {
                let mark = match (item.agrees, item.kept) {
                    (true, true) => '*',
                    (_, false) => 'x',
                    (false, true) => ' ',
                };
                let words = item.words.as_deref().map_or(String::new(), |words| format!("  {words}"));
                writeln!(out, "    {mark} {:>9.4} {:>9.4}  {}{words}", item.score, item.future, item.stack)?;
            }
        }
        Ok(())
    }
}

fn sum(parts: &[Contribution]) -> f64 {
    parts.iter().map(|part| part.score).sum()
}

fn joined(about: &[String]) -> String {
    if about.is_empty() { String::new() } else { format!("  ({})", about.join("; ")) }
}

/// The words of a line, those of the rule between asterisks.
fn marked(words: &[String], marks: &[u32]) -> String {
    let words = words.iter().enumerate().map(|(position, word)| {
        if marks.contains(&(position as u32)) { format!("*{word}*") } else { word.clone() }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The largest differences.
/// How much worse another is, in words. Everywhere a difference above 0 speaks for the translation.
fn compared(difference: f64) -> String {
    if difference < 0.0 {
        format!("{:.4} more, which the search missed; a larger --beam looks at more", -difference)
    } else {
        format!("{difference:.4} less")
    }
}

fn because(decided: &[Difference]) -> String {
    let mut named: Vec<String> =
        decided.iter().take(NAMED).map(|one| format!("{} {:+.4}", one.feature, one.difference)).collect();
    if decided.len() > NAMED {
        let rest: f64 = decided[NAMED..].iter().map(|one| one.difference).sum();
        named.push(format!("others {rest:+.4}"));
    }
    named.join(", ")
}

/// A count, without decimals if it is whole.
fn short(count: f64) -> String {
    if count.fract().abs() < 5e-3 { format!("{count:.0}") } else { format!("{count:.2}") }
}
