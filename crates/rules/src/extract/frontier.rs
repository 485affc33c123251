//! Which nodes can be cut off (Galley, Hopkins, Knight & Marcu 2004).
//!
//! ```text
//! span(n)    target positions linked to the words below n
//! closure(n) [min, max] of span(n)
//! frontier   n with a span, such that nothing outside n is linked into closure(n); and the root
//! ```
//!
//! *Frontier test in constant time*: the links into closure(n) that come from below n are all of n's links, so
//! n is a frontier node exactly if they are as many as there are links into closure(n) at all.

use sylvan_base::Id;
use sylvan_corpus::Link;
use sylvan_trees::{Child, NodeId};

use crate::input::Input;

/// A link that points past the end of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("link {}-{}, but there are {source_len} source and {target_len} target words", link.source, link.target)]
pub struct LinkOutOfRange {
    pub(super) link: Link,
    pub(super) source_len: usize,
    pub(super) target_len: usize,
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

/// The frontier of one sentence pair.
#[derive(Debug, Default)]
pub(super) struct Frontier {
    /// Sorted, each once.
    pub(super) links: Vec<Link>,
    /// Per node, its closure (first, last) if it is a frontier node. The root's is that of its links.
    pub(super) closures: Vec<Option<(u32, u32)>>,
    /// Links to target positions before each.
    into: Vec<u32>,
    words: Vec<Linked>,
    nodes: Vec<Linked>,
}

impl Frontier {
    pub(super) fn compute<I: Input>(
        &mut self,
        input: &I,
        target_len: usize,
        links: &[Link],
    ) -> Result<(), LinkOutOfRange> {
        let source_len = input.words().len();
        self.links.clear();
        self.links.extend_from_slice(links);
        self.links.sort_unstable();
        self.links.dedup();
        self.words.clear();
        self.words.resize(source_len, Linked::NOTHING);
        self.into.clear();
        self.into.resize(target_len + 1, 0);
        for &link in &self.links {
            let (s, t) = (link.source as usize, link.target as usize);
            if s >= source_len || t >= target_len {
                return Err(LinkOutOfRange { link, source_len, target_len });
            }
            self.words[s] = self.words[s].with(Linked { first: link.target, last: link.target, links: 1 });
            self.into[t + 1] += 1;
        }
        for t in 0..target_len {
            self.into[t + 1] += self.into[t];
        }
        self.nodes.clear();
        self.closures.clear();
        for node in (0..input.node_count()).map(NodeId::from_index) {
            // All ways to divide a node have the same words below.
            let way = input.ways(node).start;
            let linked = input.children(way).iter().fold(Linked::NOTHING, |sum, child| {
                sum.with(match *child {
                    Child::Node(child) => self.nodes[child.index()],
                    Child::Leaf(position) => self.words[position as usize],
                })
            });
            self.nodes.push(linked);
            let closed = linked.links > 0
                && self.into[linked.last as usize + 1] - self.into[linked.first as usize] == linked.links;
            self.closures.push(closed.then_some((linked.first, linked.last)));
        }
        Ok(())
    }

    /// Whether nothing is linked to a target position.
    pub(super) fn is_free(&self, target: u32) -> bool {
        self.into[target as usize + 1] == self.into[target as usize]
    }
}
