//! Minimal tree-to-string rules (Galley, Hopkins, Knight & Marcu 2004).
//!
//! ```text
//! span(n)    target positions linked to the words below n
//! closure(n) [min, max] of span(n)
//! frontier   n with a span, such that nothing outside n is linked into closure(n); and the root
//! ```
//!
//! The minimal rule of a frontier node expands it down to the next frontier nodes, which become variables, and
//! to words. Its target side is its closure (for the root: the whole sentence) with the variables' closures
//! replaced; so each target word without a link falls to the lowest frontier node whose closure contains it,
//! or to the root. The rules of one tree tile it: each node is expanded by exactly one of them.
//!
//! *Frontier test in constant time*: the links into closure(n) that come from below n are all of n's links, so
//! n is a frontier node exactly if they are as many as there are links into closure(n) at all.

use sylvan_base::{IndexVec, Symbol};
use sylvan_corpus::Link;
use sylvan_trees::{Child, NodeId, Tree};

use crate::{Rule, Source, TargetSide};

/// A rule and the node that it was learnt at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extracted {
    /// The treelet's root.
    pub node: NodeId,
    /// The rule.
    pub rule: Rule,
}

/// A link that points past the end of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("link {}-{}, but there are {source_len} source and {target_len} target words", link.source, link.target)]
pub struct LinkOutOfRange {
    link: Link,
    source_len: usize,
    target_len: usize,
}

/// The target words linked to what is below a node.
#[derive(Debug, Clone, Copy)]
struct Linked {
    first: u32,
    last: u32,
    links: u32,
}

impl Linked {
    const NOTHING: Linked = Linked { first: u32::MAX, last: 0, links: 0 };

    fn with(self, other: Linked) -> Linked {
        Linked {
            first: self.first.min(other.first),
            last: self.last.max(other.last),
            links: self.links + other.links,
        }
    }
}

/// The minimal rules of one sentence pair, children before parents; none if there is no link at all, because
/// such a pair says nothing about how its parts translate.
///
/// Links may come in any order; repeated ones count once.
pub fn minimal_rules(
    tree: &Tree,
    target: &[Symbol],
    links: &[Link],
) -> Result<Vec<Extracted>, LinkOutOfRange> {
    let closures = frontier(tree, target.len(), links)?;
    let mut rules = Vec::new();
    let mut work = Treelets::default();
    for (node, closure) in closures.iter_enumerated() {
        if let Some((first, last)) = *closure {
            let rule = work.rule(tree, target, &closures, node, first..last + 1);
            rules.push(Extracted { node, rule });
        }
    }
    Ok(rules)
}

/// Per node, its closure (first, last) if it is a frontier node.
fn frontier(
    tree: &Tree,
    target_len: usize,
    links: &[Link],
) -> Result<IndexVec<NodeId, Option<(u32, u32)>>, LinkOutOfRange> {
    let source_len = tree.words().len();
    let mut links = links.to_vec();
    links.sort_unstable();
    links.dedup();
    let mut words = vec![Linked::NOTHING; source_len];
    // into[t]: links to target positions below t.
    let mut into = vec![0u32; target_len + 1];
    for &link in &links {
        let (s, t) = (link.source as usize, link.target as usize);
        if s >= source_len || t >= target_len {
            return Err(LinkOutOfRange { link, source_len, target_len });
        }
        words[s] = words[s].with(Linked { first: link.target, last: link.target, links: 1 });
        into[t + 1] += 1;
    }
    for t in 0..target_len {
        into[t + 1] += into[t];
    }
    let mut nodes: IndexVec<NodeId, Linked> = IndexVec::new();
    let mut closures: IndexVec<NodeId, Option<(u32, u32)>> = IndexVec::new();
    for node in tree.nodes() {
        let linked = tree.children(node).iter().fold(Linked::NOTHING, |sum, child| {
            sum.with(match *child {
                Child::Node(child) => nodes[child],
                Child::Leaf(position) => words[position as usize],
            })
        });
        nodes.push(linked);
        let closed =
            linked.links > 0 && into[linked.last as usize + 1] - into[linked.first as usize] == linked.links;
        closures.push(closed.then_some((linked.first, linked.last)));
    }
    if !links.is_empty() {
        closures[tree.root()] = Some((0, target_len as u32 - 1));
    }
    Ok(closures)
}

/// Buffers for cutting treelets out.
#[derive(Default)]
struct Treelets {
    open: Vec<Child>,
    /// First and last target position of each variable, and its number.
    variables: Vec<(u32, u32, u32)>,
}

impl Treelets {
    fn rule(
        &mut self,
        tree: &Tree,
        target: &[Symbol],
        closures: &IndexVec<NodeId, Option<(u32, u32)>>,
        root: NodeId,
        range: std::ops::Range<u32>,
    ) -> Rule {
        self.open.clear();
        self.variables.clear();
        let mut source = Vec::new();
        self.open.push(Child::Node(root));
        while let Some(child) = self.open.pop() {
            match child {
                Child::Leaf(position) => source.push(Source::Word(tree.words()[position as usize])),
                Child::Node(node) => match closures[node] {
                    Some((first, last)) if node != root => {
                        self.variables.push((first, last, self.variables.len() as u32));
                        source.push(Source::Var(tree.label(node)));
                    }
                    _ => {
                        let children = tree.children(node);
                        source.push(Source::Open(tree.label(node), children.len() as u32));
                        self.open.extend(children.iter().rev());
                    }
                },
            }
        }
        // Closures of frontier nodes none of which is below another are disjoint, so their order is clear.
        self.variables.sort_unstable();
        let mut side = Vec::new();
        let mut next = range.start;
        for &(first, last, number) in &self.variables {
            side.extend(target[next as usize..first as usize].iter().map(|&word| TargetSide::Word(word)));
            side.push(TargetSide::Var(number));
            next = last + 1;
        }
        side.extend(target[next as usize..range.end as usize].iter().map(|&word| TargetSide::Word(word)));
        Rule::new(source, side).expect("a treelet with its variables once on each side is a rule")
    }
}
