//! How rules are applied, apart from their weights.

use sylvan_forest::Part;

use crate::{Source, WordLink};

/// What translating uses is the default; the rest are the other choices of the papers, for experiments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Applying {
    /// Where default rules are.
    pub default_rules: DefaultRules,
    /// When source words count as covered.
    pub coverage: Coverage,
    /// What estimates of the future see.
    pub outlook: Outlook,
    /// How sentences without syntax are divided.
    pub chart: ChartLimits,
}

/// How a sentence without syntax is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChartLimits {
    /// Words that a rule may span, with everything inside it.
    pub max_span: u32,
}

impl Default for ChartLimits {
    fn default() -> Self {
        Self { max_span: 10 }
    }
}

impl From<DefaultRules> for Applying {
    fn from(default_rules: DefaultRules) -> Self {
        Self { default_rules, ..Self::default() }
    }
}

/// Where there is a default rule: words are copied and children translated in source order. Its weights are `glue` for
/// the rule and `oov` for each word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DefaultRules {
    /// At nodes where no rule matches.
    #[default]
    Missing,
    /// At every node, beside the rules that match.
    Always,
    /// Nowhere: a node where no rule matches has no translation of its own.
    Never,
}

/// Which bundle of a target side covers which of the rule's source words (Feng et al. 2012 count them when a bundle is
/// scanned, and do not say which belong to it).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Coverage {
    /// The first bundle covers all.
    #[default]
    First,
    /// Each bundle covers the words that it is linked to.
    Links,
}

/// Which features estimates of the future see, besides the language model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Outlook {
    /// All.
    #[default]
    All,
    /// The translation probabilities of rules and of their words, in both directions: the four features of Feng et al.
    /// 2012. Default rules, which have none of these, keep their score.
    Translation,
}

impl Outlook {
    /// Whether a feature of rules is seen.
    pub(super) fn sees(self, feature: &str) -> bool {
        self == Self::All || ["p_ef", "p_fe", "lex_ef", "lex_fe"].contains(&feature)
    }
}

/// For each word of a source side the bundle that it belongs to, by place among the bundles of the target side: that of
/// the leftmost target word linked to it; without a link, that of the source word before it; and the first bundle for
/// words before all of these.
pub(super) fn owners(source: &[Source], target: &[Part], links: &[WordLink]) -> Box<[u8]> {
    let bundle_of = bundles(target);
    let words = source.iter().filter(|token| matches!(token, Source::Word(_))).count();
    let mut before = 0;
    let owner = |word: usize| {
        let linked = links.iter().filter(|&&(source, _)| source as usize == word);
        let leftmost = linked.map(|&(_, target)| target as usize).min();
        before = leftmost.and_then(|target| bundle_of.get(target).copied()).unwrap_or(before);
        before
    };
    (0..words).map(owner).collect()
}

/// The bundle of each target word: words between two variables are one.
pub(super) fn bundles(target: &[Part]) -> Vec<u8> {
    let (mut bundles, mut next, mut inside) = (Vec::new(), 0u8, false);
    for part in target {
        match part {
            Part::Word(_) => {
                bundles.push(next);
                inside = true;
            }
            Part::Vertex(_) => {
                next = next.saturating_add(u8::from(inside));
                inside = false;
            }
        }
    }
    bundles
}

#[cfg(test)]
mod tests {
    use sylvan_base::Symbol;
    use sylvan_forest::VertexId;

    use super::*;

    #[test]
    fn source_words_belong_to_the_bundles_that_they_are_linked_to() {
        let (word, variable) = (Part::word(Symbol(1)), Part::Vertex(VertexId(0)));
        let source = [Source::Word(Symbol(0)); 5];
        // held x with: words 1 and 3 are linked to "held", word 4 to "with"; 0 and 2 have no links.
        let target = [word, variable, word, word];
        assert_eq!(*owners(&source, &target, &[(1, 0), (3, 0), (4, 2), (4, 1)]), [0, 0, 0, 0, 1]);
        assert_eq!(*owners(&source, &target, &[(1, 2), (3, 0)]), [0, 1, 1, 0, 0]);
        // The leftmost of several.
        assert_eq!(*owners(&source[..1], &target, &[(0, 2), (0, 0)]), [0]);
        // No links at all, no target words, links to words that are not there.
        assert_eq!(*owners(&source[..2], &target, &[]), [0, 0]);
        assert_eq!(*owners(&source[..2], &[variable], &[(0, 0)]), [0, 0]);
        assert_eq!(*owners(&source[..1], &target, &[(0, 9)]), [0]);
        // A variable at the beginning, two side by side.
        assert_eq!(bundles(&[variable, word, variable, variable, word]), [0, 1]);
    }
}
