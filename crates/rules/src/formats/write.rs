//! Our tables as text that other toolkits read.

use std::fmt::Write;

use sylvan_base::{Result, Vocab};
use sylvan_store::Output;

use crate::features::to_travatar;
use crate::{Count, Grammar, Rule, RuleId, RuleNotes, Source, TargetSide, WordLink};

/// A text format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFormat {
    /// Travatar's tables: all of a rule.
    Travatar,
    /// Moses' rule tables with source trees in a property: `[NP] x [X]`-like flat sides, the tree beside them.
    Moses,
    /// cdec's and Joshua's grammars: flat sides under the label of the root; the inner tree is lost.
    Cdec,
}

/// Writes all rules of a table, in the order of the table.
pub fn export(grammar: &Grammar, vocab: &Vocab, format: TextFormat, out: &mut Output) -> Result<u64> {
    let mut line = String::new();
    let mut rules = 0;
    for (_, ids) in grammar.sources() {
        for id in ids {
            line.clear();
            let rule = grammar.rule(id);
            let notes = grammar.notes(id);
            match format {
                TextFormat::Travatar => travatar(grammar, id, &rule, &notes, vocab, &mut line),
                TextFormat::Moses => moses(grammar, id, &rule, &notes, vocab, &mut line),
                TextFormat::Cdec => cdec(grammar, id, &rule, &notes, vocab, &mut line),
            }
            out.line(&line)?;
            rules += 1;
        }
    }
    Ok(rules)
}

/// One line of a Travatar table.
pub(crate) fn travatar(
    grammar: &Grammar,
    id: RuleId,
    rule: &Rule,
    notes: &RuleNotes,
    vocab: &Vocab,
    line: &mut String,
) {
    travatar_sides(rule.source(), rule.target(), vocab, line);
    for (name, value) in grammar.feature_names().iter().zip(grammar.features(id)) {
        push(line, format_args!(" {}={value}", to_travatar(name).unwrap_or(name)));
    }
    let words = rule.target().iter().filter(|symbol| matches!(symbol, TargetSide::Word(_))).count();
    line.push_str(" p=1");
    if words > 0 {
        push(line, format_args!(" w={words}"));
    }
    line.push_str(" |||");
    if let Some(count) = notes.count {
        push(line, format_args!(" {} {} {}", count.rule, count.source, count.target));
    }
    line.push_str(" |||");
    for (source, target) in &notes.links {
        push(line, format_args!(" {source}-{target}"));
    }
}

fn travatar_sides(source: &[Source], target: &[TargetSide], vocab: &Vocab, line: &mut String) {
    travatar_source(source, vocab, line);
    line.push_str(" |||");
    for symbol in target {
        match symbol {
            TargetSide::Word(word) => push(line, format_args!(" \"{}\"", vocab.text(*word))),
            TargetSide::Var(variable) => push(line, format_args!(" x{variable}")),
        }
    }
    line.push_str(" |||");
}

/// A counted rule as a line between extraction and scoring.
pub(crate) fn count_line(
    source: &[Source],
    target: &[TargetSide],
    count: Count,
    links: &[WordLink],
    lines: &[u64],
    vocab: &Vocab,
) -> String {
    let mut line = String::new();
    travatar_sides(source, target, vocab, &mut line);
    push(&mut line, format_args!(" {count} |||"));
    links.iter().for_each(|(s, t)| push(&mut line, format_args!(" {s}-{t}")));
    line.push_str(" |||");
    lines.iter().for_each(|number| push(&mut line, format_args!(" {number}")));
    line
}

fn travatar_source(source: &[Source], vocab: &Vocab, line: &mut String) {
    let mut open: Vec<u32> = Vec::new();
    let mut variable = 0;
    for (index, token) in source.iter().enumerate() {
        if index > 0 {
            line.push(' ');
        }
        match *token {
            Source::Open(label, children) => {
                push(line, format_args!("{} (", vocab.text(label)));
                open.push(children + 1);
            }
            Source::Word(word) => push(line, format_args!("\"{}\"", vocab.text(word))),
            Source::Var(label) => {
                push(line, format_args!("x{variable}:{}", vocab.text(label)));
                variable += 1;
            }
        }
        while let Some(left) = open.last_mut() {
            *left -= 1;
            if *left > 0 {
                break;
            }
            open.pop();
            line.push_str(" )");
        }
    }
}

/// `the [X][NP] of [S] ||| [X][NP] の [X] ||| p_fe lex_fe p_ef lex_ef ||| links ||| c(e) c(f) c(f,e) ||| ||| {{Tree ..}}`.
fn moses(grammar: &Grammar, id: RuleId, rule: &Rule, notes: &RuleNotes, vocab: &Vocab, line: &mut String) {
    // Places of the variables on the source side, and of words on both.
    let (mut variables, mut source_words) = (Vec::new(), Vec::new());
    let mut place = 0;
    for token in rule.source() {
        match token {
            Source::Open(..) => continue,
            Source::Word(word) => {
                source_words.push(place);
                push(line, format_args!("{} ", escaped(vocab.text(*word))));
            }
            Source::Var(label) => {
                variables.push((place, *label));
                push(line, format_args!("[X][{}] ", escaped(vocab.text(*label))));
            }
        }
        place += 1;
    }
    line.push_str("[X] |||");
    let (mut links, mut target_words) = (Vec::new(), Vec::new());
    for (place, symbol) in rule.target().iter().enumerate() {
        match symbol {
            TargetSide::Word(word) => {
                target_words.push(place);
                push(line, format_args!(" {}", escaped(vocab.text(*word))));
            }
            TargetSide::Var(variable) => {
                let (source, label) = variables[*variable as usize];
                links.push((source, place));
                push(line, format_args!(" [X][{}]", escaped(vocab.text(label))));
            }
        }
    }
    push(line, format_args!(" [{}] |||", escaped(vocab.text(rule.root()))));
    for name in ["p_fe", "lex_fe", "p_ef", "lex_ef"] {
        push(line, format_args!(" {}", libm::exp(f64::from(feature(grammar, id, name)))));
    }
    line.push_str(" |||");
    links.extend(notes.links.iter().map(|&(s, t)| (source_words[s as usize], target_words[t as usize])));
    links.sort_unstable();
    for (source, target) in links {
        push(line, format_args!(" {source}-{target}"));
    }
    line.push_str(" |||");
    if let Some(count) = notes.count {
        push(line, format_args!(" {} {} {}", count.target, count.source, count.rule));
    }
    line.push_str(" ||| ||| {{Tree ");
    moses_tree(rule, vocab, line);
    line.push_str("}}");
}

/// The source tree in Moses' square brackets; variables are labels without children.
fn moses_tree(rule: &Rule, vocab: &Vocab, line: &mut String) {
    let mut open: Vec<u32> = Vec::new();
    for (index, token) in rule.source().iter().enumerate() {
        if index > 0 {
            line.push(' ');
        }
        match *token {
            Source::Open(label, children) => {
                push(line, format_args!("[{}", escaped(vocab.text(label))));
                open.push(children + 1);
            }
            Source::Word(word) => line.push_str(&escaped(vocab.text(word))),
            Source::Var(label) => push(line, format_args!("[{}]", escaped(vocab.text(label)))),
        }
        while let Some(left) = open.last_mut() {
            *left -= 1;
            if *left > 0 {
                break;
            }
            open.pop();
            line.push(']');
        }
    }
}

/// `[NP] ||| the [NN,1] ||| [NN,1] の ||| p_ef=-0.5 ||| 0-1`.
fn cdec(grammar: &Grammar, id: RuleId, rule: &Rule, notes: &RuleNotes, vocab: &Vocab, line: &mut String) {
    push(line, format_args!("[{}] |||", escaped(vocab.text(rule.root()))));
    let (mut labels, mut source_words, mut place) = (Vec::new(), Vec::new(), 0);
    for token in rule.source() {
        match token {
            Source::Open(..) => continue,
            Source::Word(word) => {
                source_words.push(place);
                push(line, format_args!(" {}", escaped(vocab.text(*word))));
            }
            Source::Var(label) => {
                labels.push(escaped(vocab.text(*label)));
                push(line, format_args!(" [{},{}]", labels[labels.len() - 1], labels.len()));
            }
        }
        place += 1;
    }
    line.push_str(" |||");
    let mut target_words = Vec::new();
    for (place, symbol) in rule.target().iter().enumerate() {
        match symbol {
            TargetSide::Word(word) => {
                target_words.push(place);
                push(line, format_args!(" {}", escaped(vocab.text(*word))));
            }
            TargetSide::Var(variable) => {
                push(line, format_args!(" [{},{}]", labels[*variable as usize], variable + 1));
            }
        }
    }
    line.push_str(" |||");
    for (name, value) in grammar.feature_names().iter().zip(grammar.features(id)) {
        push(line, format_args!(" {name}={value}"));
    }
    line.push_str(" |||");
    for &(s, t) in &notes.links {
        push(line, format_args!(" {}-{}", source_words[s as usize], target_words[t as usize]));
    }
}

fn feature(grammar: &Grammar, id: RuleId, name: &str) -> f32 {
    let place = grammar.feature_names().iter().position(|known| known == name);
    place.map_or(0.0, |place| grammar.features(id)[place])
}

/// Moses and cdec keep brackets and bars for themselves.
pub(crate) fn escaped(text: &str) -> String {
    if !text.contains(['|', '[', ']', '&']) {
        return text.to_string();
    }
    text.replace('&', "&amp;").replace('|', "&#124;").replace('[', "&#91;").replace(']', "&#93;")
}

fn push(line: &mut String, arguments: std::fmt::Arguments<'_>) {
    line.write_fmt(arguments).expect("writing to a string cannot fail");
}
