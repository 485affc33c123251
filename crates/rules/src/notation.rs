//! The readable form of a rule: `VP(PP(P(yu) x1:NP) x2:VP) -> x2 with x1`.
//!
//! Variables are `x1`, `x2`, ... in source order. A word or label that could be misread is put in double quotes,
//! with `\"` and `\\` inside: one that is empty, contains white space, a bracket, a quote or a backslash, looks
//! like a variable, or is `->`, `*` or `|||`.

use sylvan_base::{Fault, Vocab};

use crate::{Rule, Source, TargetSide};

impl Rule {
    /// The rule in readable form.
    pub fn show(&self, vocab: &Vocab) -> String {
        let mut out = String::new();
        let mut variable = 0;
        // Children still to be written, per open node.
        let mut open: Vec<u32> = Vec::new();
        for token in self.source() {
            if out.ends_with(|c| c != '(') && !out.is_empty() {
                out.push(' ');
            }
            match *token {
                Source::Open(label, children) => {
                    push_quoted(&mut out, vocab.text(label));
                    out.push('(');
                    open.push(children + 1);
                }
                Source::Word(word) => push_quoted(&mut out, vocab.text(word)),
                Source::Var(label) => {
                    variable += 1;
                    out.push_str(&format!("x{variable}:"));
                    push_quoted(&mut out, vocab.text(label));
                }
            }
            // Each token is a child of the innermost open node; a node that was just opened counts itself.
            while let Some(left) = open.last_mut() {
                *left -= 1;
                if *left > 0 {
                    break;
                }
                open.pop();
                out.push(')');
            }
        }
        out.push_str(" ->");
        for token in self.target() {
            out.push(' ');
            match *token {
                TargetSide::Word(word) => push_quoted(&mut out, vocab.text(word)),
                TargetSide::Var(variable) => out.push_str(&format!("x{}", variable + 1)),
            }
        }
        out
    }

    /// Reads the readable form. Variables may be numbered in any order; they are renumbered in source order.
    pub fn parse(text: &str, vocab: &mut Vocab) -> Result<Self, Fault> {
        let (source, target) = parse_sides(text, vocab)?;
        Rule::new(source, target).map_err(|error| Fault::new(0, error.to_string(), "a linear rule"))
    }

    /// Reads the source side of a rule without a target side, `NP(x1:DT NN(dog)) ->`.
    pub(crate) fn parse_source(text: &str, vocab: &mut Vocab) -> Result<Vec<Source>, Fault> {
        let (source, _) = parse_sides(text, vocab)?;
        let variables = source.iter().filter(|token| matches!(token, Source::Var(_))).count() as u32;
        let rule = Rule::new(source, (0..variables).map(TargetSide::Var).collect());
        let rule = rule.map_err(|error| Fault::new(0, error.to_string(), "a source side"))?;
        Ok(rule.source().to_vec())
    }
}

fn parse_sides(text: &str, vocab: &mut Vocab) -> Result<(Vec<Source>, Vec<TargetSide>), Fault> {
    let mut reader = Reader { text, at: 0 };
    let mut source = Vec::new();
    let mut names: Vec<u32> = Vec::new();
    // Positions in `source` of open nodes, whose child counts are filled in on the way.
    let mut open: Vec<usize> = Vec::new();
    loop {
        let start = reader.skip_space();
        match reader.peek() {
            None => return Err(reader.fault(start, "the end of the line", "'->' and a target side")),
            Some(')') => {
                reader.at += 1;
                let Some(node) = open.pop() else {
                    return Err(reader.fault(start, "')'", "no closing bracket here"));
                };
                if let Source::Open(_, 0) = source[node] {
                    return Err(reader.fault(start, "')'", "a child"));
                }
            }
            Some(_) if reader.text[start..].starts_with("->") => {
                reader.at += 2;
                break;
            }
            Some(_) => {
                if source.len() > 1 && open.is_empty() {
                    return Err(reader.fault(start, "more text after the tree", "'->'"));
                }
                if let Some(Source::Open(_, children)) = open.last().map(|&node| &mut source[node]) {
                    *children += 1;
                }
                let (token, quoted) = reader.token()?;
                if reader.peek() == Some('(') {
                    reader.at += 1;
                    open.push(source.len());
                    source.push(Source::Open(vocab.intern(&token), 0));
                } else if let Some(number) = variable(&token, quoted)
                    && reader.peek() == Some(':')
                {
                    reader.at += 1;
                    let (label, _) = reader.token()?;
                    names.push(number);
                    source.push(Source::Var(vocab.intern(&label)));
                } else {
                    source.push(Source::Word(vocab.intern(&token)));
                }
            }
        }
    }
    if !open.is_empty() {
        return Err(reader.fault(reader.at, "'->'", "')'"));
    }
    let mut target = Vec::new();
    while reader.skip_space() < text.len() {
        let start = reader.at;
        let (token, quoted) = reader.token()?;
        target.push(match variable(&token, quoted) {
            None => TargetSide::Word(vocab.intern(&token)),
            Some(number) => {
                let position = names.iter().position(|&name| name == number);
                let unknown = || reader.fault(start, &token, "a variable of the source side");
                TargetSide::Var(position.ok_or_else(unknown)? as u32)
            }
        });
    }
    Ok((source, target))
}

/// Appends a word or label, quoted where it could be misread.
fn push_quoted(out: &mut String, text: &str) {
    let special = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '"' | '\\' | ':');
    let plain = !text.is_empty() && !text.contains(special) && !text.starts_with("->");
    let plain = plain && !matches!(text, "*" | "|||");
    if plain && variable(text, false).is_none() {
        out.push_str(text);
        return;
    }
    out.push('"');
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
}

/// The number of an unquoted `x1`, `x2`, ...
fn variable(token: &str, quoted: bool) -> Option<u32> {
    if quoted { None } else { token.strip_prefix('x')?.parse().ok() }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn skip_space(&mut self) -> usize {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.at
    }

    fn fault(&self, at: usize, found: &str, expected: &str) -> Fault {
        Fault::at_byte(self.text, at, found, expected)
            .advise("write rules like NP(x1:DT NN(dog)) -> x1 Hund, odd words in double quotes")
    }

    /// A quoted or plain token, and whether it was quoted.
    fn token(&mut self) -> Result<(String, bool), Fault> {
        let start = self.at;
        if self.peek() != Some('"') {
            let rest = &self.text[start..];
            let stop = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '"' | ':');
            let length = rest.find(stop).unwrap_or(rest.len());
            if length == 0 {
                let found = self.peek().map_or("the end of the line".to_string(), |c| format!("{c:?}"));
                return Err(self.fault(start, &found, "a word or a label"));
            }
            self.at += length;
            return Ok((rest[..length].to_string(), false));
        }
        let mut token = String::new();
        let mut chars = self.text[start + 1..].char_indices();
        while let Some((offset, c)) = chars.next() {
            match c {
                '"' => {
                    self.at = start + 1 + offset + 1;
                    return Ok((token, true));
                }
                '\\' => match chars.next() {
                    Some((_, escaped)) => token.push(escaped),
                    None => break,
                },
                _ => token.push(c),
            }
        }
        Err(self.fault(start, "a quote that does not end", "a closing '\"'"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_papers_rules_read_and_print_alike() {
        let mut vocab = Vocab::new();
        for text in [
            "VP(PP(P(yu) x1:NP) VP(VV(juxing) AS(le) x2:NP)) -> held x2 with x1",
            "NP(NN1(toupiao) x1:NN2) -> x1 of the vote",
            "NP(Bushi) -> Bush",
            "AS(le) ->",
        ] {
            let rule = Rule::parse(text, &mut vocab).unwrap();
            assert_eq!(rule.show(&vocab), text);
        }
        let six =
            Rule::parse("VP(PP(P(yu) x1:NP) VP(VV(juxing) AS(le) x2:NP)) -> held x2 with x1", &mut vocab);
        assert_eq!(six.unwrap().nodes(), 6);
    }

    #[test]
    fn variables_are_renumbered_in_source_order() {
        let mut vocab = Vocab::new();
        let rule = Rule::parse("S(x7:B x2:A) -> x2 x7", &mut vocab).unwrap();
        assert_eq!(rule.show(&vocab), "S(x1:B x2:A) -> x2 x1");
    }

    #[test]
    fn errors_name_the_column() {
        let mut vocab = Vocab::new();
        for (text, column) in [
            ("S(x1:A", 7),
            ("S() -> a", 3),
            ("S(a)) -> a", 5),
            ("S(a) b -> c", 6),
            ("S(a) -> x3", 9),
            ("S(\"a", 3),
        ] {
            assert_eq!(Rule::parse(text, &mut vocab).unwrap_err().column, column, "{text}");
        }
        assert!(Rule::parse("", &mut vocab).is_err());
        assert!(Rule::parse("S -> a", &mut vocab).is_err());
    }

    fn any_rule() -> impl Strategy<Value = (Vec<(u8, String)>, u64)> {
        (prop::collection::vec((0u8..3, "[a-z():\"\\\\ x0-9>-]{0,5}"), 1..12), any::<u64>())
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back((tokens, seed) in any_rule()) {
            // Any list of tokens becomes a tree: nodes are opened as unary, the root takes the rest.
            let mut vocab = Vocab::new();
            let mut body = Vec::new();
            let mut children = 0;
            let mut variables = 0;
            for (kind, text) in &tokens {
                let symbol = vocab.intern(text);
                children += 1;
                match kind {
                    0 => body.push(Source::Word(symbol)),
                    1 => {
                        body.push(Source::Var(symbol));
                        variables += 1;
                    }
                    _ => {
                        body.push(Source::Open(symbol, 1));
                        body.push(Source::Word(symbol));
                    }
                }
            }
            let mut source = vec![Source::Open(vocab.intern("S"), children)];
            source.append(&mut body);
            let mut target: Vec<TargetSide> = (0..variables).map(TargetSide::Var).collect();
            target.extend(tokens.iter().map(|(_, text)| TargetSide::Word(vocab.intern(text))));
            sylvan_base::Rng::new(seed).shuffle(&mut target);
            let rule = Rule::new(source, target).unwrap();
            let again = Rule::parse(&rule.show(&vocab), &mut vocab).unwrap();
            prop_assert_eq!(again, rule);
        }

        #[test]
        fn any_text_is_a_rule_or_an_error(text in "[A-Zx1-9():\" \\\\>-]{0,20}") {
            let mut vocab = Vocab::new();
            if let Ok(rule) = Rule::parse(&text, &mut vocab) {
                prop_assert!(rule.nodes() >= 1);
            }
        }
    }
}
