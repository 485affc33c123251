//! From rule occurrences to relative frequencies.

use sylvan_base::{HashMap, Symbol};

use crate::{Grammar, GrammarBuilder, Rule, Source, TargetSide};

/// Counts rules and turns the counts into a [`Grammar`] with the features `p_ef` = ln p(target | source) and
/// `p_fe` = ln p(source | target).
///
/// The two sides are those of Huang & Mi 2010: the treelet, and the target string with its variables' labels
/// under the treelet's root label.
#[derive(Debug, Default)]
pub struct RuleCounts {
    rules: Vec<(Rule, u64)>,
    index: HashMap<Rule, u32>,
}

/// A target token with the variable's label, so that `x1:NP` and `x1:VP` differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Labelled {
    Word(Symbol),
    Var(u32, Symbol),
}

impl RuleCounts {
    /// No rules yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one occurrence.
    pub fn add(&mut self, rule: Rule) {
        match self.index.get(&rule) {
            Some(&index) => self.rules[index as usize].1 += 1,
            None => {
                self.index.insert(rule.clone(), self.rules.len() as u32);
                self.rules.push((rule, 1));
            }
        }
    }

    /// How many different rules were counted.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Rules and counts in order of first appearance.
    pub fn iter(&self) -> impl Iterator<Item = (&Rule, u64)> {
        self.rules.iter().map(|(rule, count)| (rule, *count))
    }

    /// The grammar. Frequencies are relative to all counted rules; after that, at most `per_source` targets
    /// are kept for each treelet, the most frequent first and equal ones by content.
    pub fn grammar(&self, vocab: &sylvan_base::Vocab, per_source: usize) -> Grammar {
        let mut sources: HashMap<&[Source], Vec<usize>> = HashMap::default();
        let mut targets: HashMap<(Symbol, Vec<Labelled>), u64> = HashMap::default();
        for (index, (rule, count)) in self.rules.iter().enumerate() {
            sources.entry(rule.source()).or_default().push(index);
            *targets.entry((rule.root(), labelled(rule))).or_default() += count;
        }
        let mut builder = GrammarBuilder::new(["p_ef", "p_fe"]);
        for (rule, _) in &self.rules {
            // Each treelet is handled where it first appears, which keeps the order independent of hashing.
            let Some(mut group) = sources.remove(rule.source()) else { continue };
            let total: u64 = group.iter().map(|&index| self.rules[index].1).sum();
            group.sort_by_cached_key(|&index| {
                let (rule, count) = &self.rules[index];
                (std::cmp::Reverse(*count), rule.content_hash(vocab))
            });
            for &index in group.iter().take(per_source) {
                let (rule, count) = &self.rules[index];
                let with_target = targets[&(rule.root(), labelled(rule))];
                let ln_ratio = |whole: u64| (*count as f64 / whole as f64).ln() as f32;
                builder.add(rule, &[ln_ratio(total), ln_ratio(with_target)], vocab);
            }
        }
        builder.finish()
    }
}

fn labelled(rule: &Rule) -> Vec<Labelled> {
    let labels: Vec<Symbol> = rule.variables().collect();
    rule.target()
        .iter()
        .map(|token| match *token {
            TargetSide::Word(word) => Labelled::Word(word),
            TargetSide::Var(variable) => Labelled::Var(variable, labels[variable as usize]),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sylvan_base::Vocab;

    #[test]
    fn frequencies_are_relative_to_each_side() {
        let mut vocab = Vocab::new();
        let mut counts = RuleCounts::new();
        for (text, times) in [
            ("NP(x1:A) -> the x1", 3),
            ("NP(x1:A) -> x1", 1),
            ("NP(x1:B) -> x1", 2),
            ("VP(x1:A) -> the x1", 5),
            ("NP(N(a) x1:A) -> x1", 7),
        ] {
            for _ in 0..times {
                counts.add(Rule::parse(text, &mut vocab).unwrap());
            }
        }
        let grammar = counts.grammar(&vocab, usize::MAX);
        let found: Vec<(String, Vec<f64>)> = grammar
            .rules()
            .map(|id| {
                let features =
                    grammar.features(id).into_iter().map(|f| (f64::from(f).exp() * 1e4).round() / 1e4);
                (grammar.rule(id).show(&vocab), features.collect())
            })
            .collect();
        let expected = [
            ("NP(x1:A) -> the x1", [0.75, 1.0]),
            ("NP(x1:A) -> x1", [0.25, 0.125]),
            ("NP(x1:B) -> x1", [1.0, 1.0]),
            ("VP(x1:A) -> the x1", [1.0, 1.0]),
            ("NP(N(a) x1:A) -> x1", [1.0, 0.875]),
        ];
        assert_eq!(found.len(), expected.len());
        for ((text, features), (rule, numbers)) in found.iter().zip(expected) {
            assert_eq!(text, rule);
            assert_eq!(features, &numbers, "{rule}");
        }
        // The limit drops rules after the frequencies are taken.
        let limited = counts.grammar(&vocab, 1);
        assert_eq!(limited.len(), 4);
        assert!((f64::from(limited.features(crate::RuleId(0))[0]).exp() - 0.75).abs() < 1e-6);
    }
}
