//! The rule: a treelet of the source tree and a target string over words and the treelet's variables.

use sylvan_base::hash::{content_hash, fold};
use sylvan_base::{Symbol, Vocab};

/// One token of a source treelet, written out depth first, left to right.
///
/// `VP(PP(P(yu) x1:NP) x2:VP)` is `Open(VP,2) Open(PP,2) Open(P,1) Word(yu) Var(NP) Var(VP)`. The child counts
/// make closing brackets unnecessary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// A node that the rule expands: its label and its number of children.
    Open(Symbol, u32),
    /// A source word.
    Word(Symbol),
    /// A node that the rule leaves to another rule, by its label. Variables are numbered in this order.
    Var(Symbol),
}

/// One token of a target side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TargetSide {
    /// A target word.
    Word(Symbol),
    /// The translation of the variable with this number, counted from 0 in source order.
    Var(u32),
}

/// A tree-to-string rule. Each variable stands exactly once on each side.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Rule {
    source: Box<[Source]>,
    target: Box<[TargetSide]>,
}

/// Why something is no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRule {
    /// The source side does not start with an expanded node, or its brackets do not close.
    #[error("the source side is not one tree with at least one expanded node")]
    NoTree,
    /// A variable is missing or repeated.
    #[error("variable x{} stands {count} times in the target, expected once", variable + 1)]
    NotLinear {
        /// The variable, from 0.
        variable: u32,
        /// How often it stands in the target.
        count: usize,
    },
    /// The target names a variable that the source does not have.
    #[error("variable x{} of the target is not in the source", .0 + 1)]
    UnknownVariable(u32),
}

impl Rule {
    /// A rule from its two sides.
    pub fn new(source: Vec<Source>, target: Vec<TargetSide>) -> Result<Self, InvalidRule> {
        let mut open = 1u64;
        let mut variables = 0;
        for (index, token) in source.iter().enumerate() {
            if open == 0 || (index == 0 && !matches!(token, Source::Open(..))) {
                return Err(InvalidRule::NoTree);
            }
            open -= 1;
            match token {
                Source::Open(_, 0) => return Err(InvalidRule::NoTree),
                Source::Open(_, children) => open += u64::from(*children),
                Source::Var(_) => variables += 1,
                Source::Word(_) => {}
            }
        }
        if open != 0 || source.is_empty() {
            return Err(InvalidRule::NoTree);
        }
        let mut counts = vec![0usize; variables];
        for token in &target {
            if let TargetSide::Var(variable) = *token {
                let count =
                    counts.get_mut(variable as usize).ok_or(InvalidRule::UnknownVariable(variable))?;
                *count += 1;
            }
        }
        match counts.iter().position(|&count| count != 1) {
            Some(bad) => Err(InvalidRule::NotLinear { variable: bad as u32, count: counts[bad] }),
            None => Ok(Self { source: source.into(), target: target.into() }),
        }
    }

    /// An empty rule, in place of one that a damaged file lacks.
    pub(crate) fn placeholder() -> Self {
        let source = Box::new([Source::Open(Symbol(0), 1), Source::Word(Symbol(0))]);
        Self { source, target: Box::new([]) }
    }

    /// The same rule in the symbols of another vocabulary; `None` if that lacks one of its words or labels.
    pub fn in_vocab(&self, from: &Vocab, to: &Vocab) -> Option<Self> {
        let symbol = |symbol: Symbol| to.get(from.text(symbol));
        let source = self.source.iter().map(|token| {
            Some(match *token {
                Source::Open(label, children) => Source::Open(symbol(label)?, children),
                Source::Word(word) => Source::Word(symbol(word)?),
                Source::Var(label) => Source::Var(symbol(label)?),
            })
        });
        let target = self.target.iter().map(|token| {
            Some(match *token {
                TargetSide::Word(word) => TargetSide::Word(symbol(word)?),
                TargetSide::Var(variable) => TargetSide::Var(variable),
            })
        });
        Some(Self { source: source.collect::<Option<_>>()?, target: target.collect::<Option<_>>()? })
    }

    /// The source treelet.
    pub fn source(&self) -> &[Source] {
        &self.source
    }

    /// The target side.
    pub fn target(&self) -> &[TargetSide] {
        &self.target
    }

    /// The label of the treelet's root.
    pub fn root(&self) -> Symbol {
        match self.source[0] {
            Source::Open(label, _) | Source::Word(label) | Source::Var(label) => label,
        }
    }

    /// |C(r)|: the nodes that the treelet expands, without words and variables.
    pub fn nodes(&self) -> u32 {
        self.source.iter().filter(|token| matches!(token, Source::Open(..))).count() as u32
    }

    /// The labels of the variables, in source order.
    pub fn variables(&self) -> impl Iterator<Item = Symbol> + '_ {
        self.source.iter().filter_map(|token| match token {
            Source::Var(label) => Some(*label),
            _ => None,
        })
    }

    /// A hash of what the rule says, the same whatever the order in which words and rules were loaded.
    pub fn content_hash(&self, vocab: &Vocab) -> u64 {
        let text = |symbol| content_hash(vocab.text(symbol).as_bytes());
        let source = self.source.iter().fold(1, |hash, token| match *token {
            Source::Open(label, children) => fold(fold(hash, text(label)), 4 * u64::from(children)),
            Source::Word(word) => fold(fold(hash, text(word)), 1),
            Source::Var(label) => fold(fold(hash, text(label)), 2),
        });
        self.target.iter().fold(source, |hash, token| match *token {
            TargetSide::Word(word) => fold(fold(hash, text(word)), 1),
            TargetSide::Var(variable) => fold(hash, 2 + u64::from(variable)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_rules_are_refused() {
        let (s, x) = (Symbol(0), Symbol(1));
        let open = |n| Source::Open(s, n);
        let var = Source::Var(x);
        assert_eq!(Rule::new(vec![], vec![]), Err(InvalidRule::NoTree));
        assert_eq!(Rule::new(vec![var], vec![TargetSide::Var(0)]), Err(InvalidRule::NoTree));
        assert_eq!(Rule::new(vec![open(0)], vec![]), Err(InvalidRule::NoTree));
        assert_eq!(Rule::new(vec![open(2), var], vec![TargetSide::Var(0)]), Err(InvalidRule::NoTree));
        assert_eq!(Rule::new(vec![open(1), var, var], vec![]), Err(InvalidRule::NoTree));
        assert_eq!(
            Rule::new(vec![open(1), var], vec![]),
            Err(InvalidRule::NotLinear { variable: 0, count: 0 })
        );
        assert_eq!(
            Rule::new(vec![open(1), var], vec![TargetSide::Var(1)]),
            Err(InvalidRule::UnknownVariable(1))
        );
        assert!(Rule::new(vec![open(1), var], vec![TargetSide::Var(0)]).is_ok());
    }
}
