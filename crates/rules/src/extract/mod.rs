//! Learning rules from target words and word links, with trees of the source sentences or without.
//!
//! ```text
//! input, target, links  --frontier--> closures --graph--> minimal rules --compose--> rule occurrences
//! source, target, links --phrases--> phrase pairs --hiero or orientation--> flat rule occurrences
//! ```

mod compose;
mod flat;
mod frontier;
mod graph;
mod hiero;
mod occurrence;
mod orientation;
mod phrases;

use sylvan_base::Symbol;
use sylvan_corpus::Link;
use sylvan_trees::{NodeId, Tree};

use crate::input::Input;
use crate::{Count, Rule};
use compose::Composer;
pub(crate) use flat::FlatPlace;
pub use flat::{FlatExtractor, FlatOccurrence, FlatRules, GapReordering, LeftToRight, PhraseConfig};
use frontier::Frontier;
pub use frontier::LinkOutOfRange;
use graph::RuleGraph;
pub use hiero::HieroConfig;
pub use occurrence::Occurrence;
pub(crate) use occurrence::Place;
pub use orientation::{Orientation, OrientationModel};
pub use phrases::{Boundary, PhraseLimits, PhrasePair};

/// What becomes of target words without a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Attach {
    /// Each goes to the rule of the lowest frontier node whose closure contains it, or to the root's.
    #[default]
    Lowest,
    /// The same, but words outside the closure of the root are dropped.
    Inside,
    /// Every way to extend closures over at most this many unlinked words on each side, with fractional counts. Where a
    /// minimal rule has more variables than a rule may have, its variables are not extended.
    Exhaustive(u32),
}

/// Which rules are learnt. Minimal rules beyond a limit are not learnt either, but composition goes through them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtractConfig {
    /// Minimal rules per rule; 1 for minimal rules alone.
    pub minimal_rules: u32,
    /// Expanded nodes per rule.
    pub nodes: u32,
    /// Target words per rule.
    pub words: u32,
    /// Source words per rule.
    pub source_words: u32,
    /// Variables per rule.
    pub variables: u32,
    /// Below nodes of at most this many words, the last variable of a rule may be filled with any rule without
    /// variables, whatever the number of minimal rules: whole phrases become rules. This is Travatar's way.
    pub phrase_words: u32,
    /// Unlinked target words.
    pub attach: Attach,
    /// Of a packed forest, at most this many minimal rules per node, best ones first.
    pub ways_per_node: u32,
    /// Occurrences with a smaller fractional count than this are not learnt: of a forest with many trees, most of what
    /// can be cut out belongs to very improbable trees.
    pub least_share: Count,
    /// How the variables of the target side are numbered.
    pub numbering: Numbering,
}

/// How the variables of the target side are numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Numbering {
    /// As those of the source side: `x1` on both sides is the same node.
    #[default]
    Source,
    /// In the order in which Travatar's extractor meets them: those below a node before those deeper down. Where a
    /// node that cannot be cut off stands before one that can, its rules confuse their variables; its phrases too
    /// are found in this order. For comparisons with its tables, not for translation.
    Travatar,
}

impl Default for ExtractConfig {
    fn default() -> Self {
        Self {
            minimal_rules: 4,
            nodes: 10,
            words: 10,
            source_words: u32::MAX,
            variables: 4,
            phrase_words: 0,
            attach: Attach::Lowest,
            ways_per_node: 100,
            least_share: Count(0),
            numbering: Numbering::Source,
        }
    }
}

impl ExtractConfig {
    /// Minimal rules, all of them.
    pub fn minimal() -> Self {
        Self { minimal_rules: 1, nodes: u32::MAX, words: u32::MAX, variables: u32::MAX, ..Self::default() }
    }

    /// The limits that Travatar's training script sets.
    pub fn travatar() -> Self {
        Self { nodes: u32::MAX, source_words: 10, variables: 2, phrase_words: 10, ..Self::default() }
    }
}

/// Learns the rules of one sentence pair after the other and reuses its memory.
#[derive(Debug)]
pub struct Extractor {
    config: ExtractConfig,
    frontier: Frontier,
    graph: RuleGraph,
    composer: Composer,
}

impl Extractor {
    /// An extractor for these limits.
    pub fn new(config: ExtractConfig) -> Self {
        Self {
            config,
            frontier: Frontier::default(),
            graph: RuleGraph::default(),
            composer: Composer::default(),
        }
    }

    /// Calls `found` with every occurrence of a rule, children before parents. A pair without links has none: it
    /// says nothing about how its parts translate. Links may come in any order; repeated ones count once.
    pub fn extract<I: Input>(
        &mut self,
        input: &I,
        target: &[Symbol],
        links: &[Link],
        mut found: impl FnMut(&Occurrence<'_, I>),
    ) -> Result<(), LinkOutOfRange> {
        self.frontier.compute(input, target.len(), links)?;
        if self.frontier.links.is_empty() {
            return Ok(());
        }
        self.graph.build(input, target.len() as u32, &self.frontier, &self.config);
        self.composer.compose(input, &self.graph, &self.config);
        let mut occurrence = Occurrence::new(
            input,
            target,
            &self.frontier.links,
            &self.graph,
            &self.composer,
            self.config.numbering,
        );
        for fragment in 0..self.composer.len() {
            occurrence.set(fragment);
            // Of exhaustive attachment, some vertices are in no derivation of the whole.
            if occurrence.share() > 0.0 {
                found(&occurrence);
            }
        }
        Ok(())
    }
}

/// A rule and the node that it was learnt at.
#[derive(Debug, Clone, PartialEq)]
pub struct Extracted {
    /// The treelet's root.
    pub node: NodeId,
    /// The rule.
    pub rule: Rule,
    /// How much of an occurrence it is.
    pub share: f64,
}

/// The minimal rules of one sentence pair, children before parents; none if there is no link at all.
pub fn minimal_rules(
    tree: &Tree,
    target: &[Symbol],
    links: &[Link],
) -> Result<Vec<Extracted>, LinkOutOfRange> {
    extract_rules(tree, target, links, ExtractConfig::minimal())
}

/// All rules of one sentence pair within limits.
pub fn extract_rules<I: Input>(
    input: &I,
    target: &[Symbol],
    links: &[Link],
    config: ExtractConfig,
) -> Result<Vec<Extracted>, LinkOutOfRange> {
    let mut rules = Vec::new();
    Extractor::new(config).extract(input, target, links, |occurrence| {
        let rule = occurrence.rule();
        rules.push(Extracted { node: occurrence.node(), rule, share: occurrence.share() });
    })?;
    Ok(rules)
}
