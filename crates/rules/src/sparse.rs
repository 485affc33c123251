//! Sparse features: very many, each seen rarely, found in the rules themselves.
//!
//! | name | counts |
//! |---|---|
//! | `tw.WORD` | target words of rules |
//! | `wp.SOURCE~TARGET` | linked words of rules |
//! | `ro.LABEL.2-1` | rules for a label with two or more variables, by the order of these in the target |
//!
//! A feature exists because a weight names it; tables hold nothing of them. In names, `%`, `=`, `#`, `~` and white space
//! of words are written `%` and two hexadecimal digits per byte.

use sylvan_base::{HashMap, Symbol, Vocab};

use crate::{Grammar, RuleId, Source, TargetSide, Weights};

/// One sparse feature.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sparse {
    /// A target word.
    Word(Symbol),
    /// A source word and a target word that are linked.
    Pair(Symbol, Symbol),
    /// The order of the variables of a rule for a label, counted from 1.
    Order(Symbol, Box<[u32]>),
}

impl Sparse {
    /// The features of a rule, each as often as it counts.
    pub fn of_rule(grammar: &Grammar, id: RuleId) -> Vec<Sparse> {
        let rule = grammar.rule(id);
        let sources: Vec<Symbol> = rule
            .source()
            .iter()
            .filter_map(|token| match token {
                Source::Word(word) => Some(*word),
                _ => None,
            })
            .collect();
        let mut targets = Vec::new();
        let mut order = Vec::new();
        for symbol in rule.target() {
            match *symbol {
                TargetSide::Word(word) => targets.push(word),
                TargetSide::Var(variable) => order.push(variable + 1),
            }
        }
        let mut all: Vec<Sparse> = targets.iter().map(|&word| Sparse::Word(word)).collect();
        for (source, target) in grammar.notes(id).links {
            // Damaged notes may link words that are not there.
            let ends = sources.get(source as usize).zip(targets.get(target as usize));
            all.extend(ends.map(|(&source, &target)| Sparse::Pair(source, target)));
        }
        if let (Some(Source::Open(label, _)), true) = (rule.source().first(), order.len() > 1) {
            all.push(Sparse::Order(*label, order.into()));
        }
        all
    }

    /// Its name.
    pub fn name(&self, vocab: &Vocab) -> String {
        match self {
            Sparse::Word(word) => format!("tw.{}", escape(vocab.text(*word))),
            Sparse::Pair(source, target) => {
                format!("wp.{}~{}", escape(vocab.text(*source)), escape(vocab.text(*target)))
            }
            Sparse::Order(label, order) => {
                let order: Vec<String> = order.iter().map(u32::to_string).collect();
                format!("ro.{}.{}", escape(vocab.text(*label)), order.join("-"))
            }
        }
    }

    /// Whether a name is that of a sparse feature.
    pub fn is_name(name: &str) -> bool {
        ["tw.", "wp.", "ro."].iter().any(|kind| name.starts_with(kind))
    }

    /// The feature of a name; `None` if it is no sparse feature or has words that the vocabulary lacks.
    pub fn from_name(name: &str, vocab: &Vocab) -> Option<Self> {
        let symbol = |text: &str| vocab.get(&unescape(text)?);
        if let Some(word) = name.strip_prefix("tw.") {
            return Some(Sparse::Word(symbol(word)?));
        }
        if let Some((source, target)) = name.strip_prefix("wp.").and_then(|pair| pair.split_once('~')) {
            return Some(Sparse::Pair(symbol(source)?, symbol(target)?));
        }
        let (label, order) = name.strip_prefix("ro.")?.rsplit_once('.')?;
        let order: Option<Box<[u32]>> = order.split('-').map(|number| number.parse().ok()).collect();
        Some(Sparse::Order(symbol(label)?, order?))
    }
}

/// The weights of sparse features.
#[derive(Debug, Clone, Default)]
pub struct SparseWeights(HashMap<Sparse, f64>);

impl SparseWeights {
    /// Those among all weights, over the vocabulary as it is.
    pub fn of(weights: &Weights, vocab: &Vocab) -> Self {
        let named = weights.iter().filter_map(|(name, value)| Some((Sparse::from_name(name, vocab)?, value)));
        Self(named.filter(|(_, value)| *value != 0.0).collect())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What a rule's sparse features are worth.
    pub fn rule(&self, grammar: &Grammar, id: RuleId) -> f64 {
        let features = Sparse::of_rule(grammar, id);
        features.iter().filter_map(|feature| self.0.get(feature)).sum()
    }
}

fn escape(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        if matches!(character, '%' | '=' | '#' | '~') || character.is_whitespace() {
            let mut bytes = [0; 4];
            for byte in character.encode_utf8(&mut bytes).bytes() {
                out.push_str(&format!("%{byte:02X}"));
            }
        } else {
            out.push(character);
        }
    }
    out
}

fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        if first == b'%' {
            let digits = std::str::from_utf8(after.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GrammarBuilder, Rule, RuleCount, WordLink};

    #[test]
    fn names_lead_back_to_their_features() {
        let vocab = Vocab::of(["a", "=", "50%", "#1", "x~y", "non\u{a0}breaking", "VP", "."]);
        let symbols: Vec<Symbol> = vocab.iter().map(|(symbol, _)| symbol).collect();
        for &one in &symbols {
            for feature in [
                Sparse::Word(one),
                Sparse::Order(one, [2, 1].into()),
                Sparse::Pair(one, symbols[3]),
                Sparse::Pair(symbols[4], one),
            ] {
                let name = feature.name(&vocab);
                assert!(!name.contains(['=', '#']) && !name.contains(char::is_whitespace), "{name}");
                assert!(Sparse::is_name(&name), "{name}");
                assert_eq!(Sparse::from_name(&name, &vocab), Some(feature), "{name}");
            }
        }
        for none in ["lm", "tw.unknown", "wp.a", "ro.VP", "ro.VP.x", "tw.%4", "tm0.p_ef"] {
            assert_eq!(Sparse::from_name(none, &vocab), None, "{none}");
        }
    }

    #[test]
    fn a_rule_counts_words_links_and_order() {
        let mut vocab = Vocab::new();
        let mut builder = GrammarBuilder::new([]);
        let rule = Rule::parse("VP(x1:PP V(eat) x2:NP) -> x2 tabe x1 tabe", &mut vocab).unwrap();
        let links: [WordLink; 1] = [(0, 1)];
        let id = builder.add_counted(&rule, &[], RuleCount::default(), &links, &vocab);
        let grammar = builder.finish();
        let mut names: Vec<String> =
            Sparse::of_rule(&grammar, id).iter().map(|feature| feature.name(&vocab)).collect();
        names.sort();
        assert_eq!(names, ["ro.VP.2-1", "tw.tabe", "tw.tabe", "wp.eat~tabe"]);
        let weights = Weights::of([("tw.tabe", 0.5), ("wp.eat~tabe", 2.0), ("ro.VP.1-2", 7.0), ("lm", 1.0)]);
        assert_eq!(SparseWeights::of(&weights, &vocab).rule(&grammar, id), 3.0);
    }
}
