//! The source tree: flat arrays in post-order.
//!
//! Every decoder walks its tree from the leaves up, thousands of times per sentence. So nodes are numbered in
//! post-order, which makes "children before parents" a plain loop over ids, and the children of all nodes lie in
//! one array (compressed sparse rows). Nothing here recurses: a tree may be as deep as memory allows.
//!
//! ```text
//! (S (NP he) (VP (V sees) her))        id   label  children              span
//!                                       0   NP     [Leaf 0]              [0,1)
//!                                       1   V      [Leaf 1]              [1,2)
//!                                       2   VP     [Node 1, Leaf 2]      [1,3)
//!                                       3   S      [Node 0, Node 2]      [0,3)   the root is the last id
//! ```

use sylvan_base::{Id, IndexVec, Span, Symbol, define_id};

define_id!(
    /// An internal node: dense, in post-order, so every child id is smaller than its parent's and the root's is
    /// the largest. A packed forest numbers its nodes with it too, children first.
    NodeId
);

/// What stands below a node: another node, or the word at a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Child {
    /// An internal node.
    Node(NodeId),
    /// A word, by its 0-based position in the sentence.
    Leaf(u32),
}

/// One step of a walk through a tree in document order, which is the order of its brackets in text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A node begins.
    Open(NodeId),
    /// A word.
    Leaf(u32),
    /// A node ends.
    Close(NodeId),
}

/// An ordered, labelled tree over a sentence. It has at least one node, and every node has at least one child.
///
/// Labels and words are symbols of a vocabulary that the caller keeps. A node may have words and nodes as
/// children side by side: pre-terminals are not assumed anywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    labels: Vec<Symbol>,
    spans: Vec<Span>,
    /// The children of node `n` are `children[ends[n - 1]..ends[n]]`, with 0 before the first.
    ends: Vec<u32>,
    children: Vec<Child>,
    words: Vec<Symbol>,
}

impl Tree {
    /// The root, which is the last id.
    #[inline]
    pub fn root(&self) -> NodeId {
        NodeId::from_index(self.labels.len() - 1)
    }

    /// How many internal nodes there are, at least 1.
    #[inline]
    #[allow(clippy::len_without_is_empty)] // A tree is never empty.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// All nodes in post-order, which is id order.
    #[inline]
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + use<> {
        (0..self.labels.len()).map(NodeId::from_index)
    }

    /// The label of a node.
    #[inline]
    pub fn label(&self, node: NodeId) -> Symbol {
        self.labels[node.index()]
    }

    /// The labels in id order.
    pub fn labels(&self) -> &[Symbol] {
        &self.labels
    }

    /// The children of a node, left to right, at least one.
    #[inline]
    pub fn children(&self, node: NodeId) -> &[Child] {
        let index = node.index();
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        &self.children[start..self.ends[index] as usize]
    }

    /// The word positions under a node.
    #[inline]
    pub fn span(&self, node: NodeId) -> Span {
        self.spans[node.index()]
    }

    /// The sentence: the words of all leaves, left to right.
    #[inline]
    pub fn words(&self) -> &[Symbol] {
        &self.words
    }

    /// The same tree with other labels and words.
    #[must_use]
    pub fn map_symbols(mut self, mut change: impl FnMut(Symbol) -> Symbol) -> Self {
        for symbol in self.labels.iter_mut().chain(&mut self.words) {
            *symbol = change(*symbol);
        }
        self
    }

    /// The same tree with other words.
    #[must_use]
    pub fn map_words(mut self, change: impl FnMut(&mut Symbol)) -> Self {
        self.words.iter_mut().for_each(change);
        self
    }

    /// Whether all children of a node are words, as those of a part of speech are.
    pub fn is_preterminal(&self, node: NodeId) -> bool {
        self.children(node).iter().all(|child| matches!(child, Child::Leaf(_)))
    }

    /// The parent of each node; only the root has none.
    pub fn parents(&self) -> IndexVec<NodeId, Option<NodeId>> {
        let mut parents = IndexVec::from_vec(vec![None; self.len()]);
        for node in self.nodes() {
            for &child in self.children(node) {
                if let Child::Node(below) = child {
                    parents[below] = Some(node);
                }
            }
        }
        parents
    }

    /// Internal nodes in the subtree of each node, itself included. Post-order makes the subtree of `n` the ids
    /// `n + 1 - size(n) ..= n`.
    pub fn sizes(&self) -> IndexVec<NodeId, u32> {
        self.count_below(0)
    }

    /// Internal nodes and words in the subtree of each node, itself included.
    pub fn sizes_all(&self) -> IndexVec<NodeId, u32> {
        self.count_below(1)
    }

    fn count_below(&self, leaf: u32) -> IndexVec<NodeId, u32> {
        let mut sizes: IndexVec<NodeId, u32> = IndexVec::new();
        for node in self.nodes() {
            let below = self.children(node).iter().map(|&child| match child {
                Child::Node(below) => sizes[below],
                Child::Leaf(_) => leaf,
            });
            let size = 1 + below.sum::<u32>();
            sizes.push(size);
        }
        sizes
    }

    /// Internal nodes on the longest way from the root to a word. Words do not count.
    pub fn depth(&self) -> usize {
        let mut depths: Vec<u32> = Vec::with_capacity(self.len());
        for node in self.nodes() {
            let below = self.children(node).iter().map(|&child| match child {
                Child::Node(below) => depths[below.index()],
                Child::Leaf(_) => 0,
            });
            let depth = 1 + below.max().unwrap_or(0);
            depths.push(depth);
        }
        depths.last().map_or(0, |&depth| depth as usize)
    }

    /// The tree in document order, as steps that a [`TreeBuilder`] takes.
    pub fn walk(&self) -> impl Iterator<Item = Step> + '_ {
        self.walk_where(|_| true)
    }

    /// Like [`walk`](Self::walk) without the subtrees whose root `enter` refuses.
    pub(crate) fn walk_where<'a>(
        &'a self,
        enter: impl Fn(NodeId) -> bool + 'a,
    ) -> impl Iterator<Item = Step> + 'a {
        let mut path: Vec<(NodeId, usize)> = Vec::new();
        let mut start = Some(self.root());
        std::iter::from_fn(move || {
            if let Some(root) = start.take() {
                path.push((root, 0));
                return Some(Step::Open(root));
            }
            loop {
                let (node, next) = path.last_mut()?;
                match self.children(*node).get(*next) {
                    Some(&child) => {
                        *next += 1;
                        match child {
                            Child::Leaf(position) => return Some(Step::Leaf(position)),
                            Child::Node(below) if enter(below) => {
                                path.push((below, 0));
                                return Some(Step::Open(below));
                            }
                            Child::Node(_) => {}
                        }
                    }
                    None => {
                        let node = *node;
                        path.pop();
                        return Some(Step::Close(node));
                    }
                }
            }
        })
    }

    pub(crate) fn labels_mut(&mut self) -> &mut [Symbol] {
        &mut self.labels
    }

    /// Makes the only child of the root, a node, the new root.
    pub(crate) fn drop_root(&mut self) {
        debug_assert!(matches!(self.children(self.root()), [Child::Node(_)]));
        // The only child of the last node in post-order is the node before it, and its row the one before.
        self.labels.pop();
        self.spans.pop();
        self.ends.pop();
        self.children.pop();
    }

    /// The Gorn address: the 1-based child numbers on the way down from the root, words counted, as in `2.1.2`;
    /// the root is `ε`. Costs the sum of the arities on that way.
    pub fn address(&self, node: NodeId) -> String {
        let mut at = self.root();
        let mut text = String::new();
        while at != node {
            // Post-order: the subtree that holds `node` is the first whose root id is not smaller.
            let below = self.children(at).iter().enumerate().find_map(|(index, &child)| match child {
                Child::Node(below) if below >= node => Some((index, below)),
                _ => None,
            });
            let (index, below) = below.expect("a node that is not `at` lies below one of its children");
            if !text.is_empty() {
                text.push('.');
            }
            text.push_str(&(index + 1).to_string());
            at = below;
        }
        if text.is_empty() { "ε".to_string() } else { text }
    }
}

/// Why opened, closed and worded brackets are no tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// Nothing was opened.
    #[error("a tree without a node")]
    Empty,
    /// A node was closed before it had a child.
    #[error("a node without children")]
    NoChildren,
    /// More nodes were opened than closed.
    #[error("a node that is not closed")]
    Unclosed,
    /// More nodes were closed than opened.
    #[error("a close without an open")]
    Unopened,
    /// A second root, or a word outside the root.
    #[error("something outside the root")]
    OutsideRoot,
    /// More than `u32::MAX` words or children.
    #[error("a tree with more than 2^32 - 1 parts")]
    TooLarge,
}

/// Builds a [`Tree`] in document order: open a node, its words and nodes, close it.
///
/// The first mistake is remembered and reported at the end, so that the calls need no error handling.
///
/// ```
/// use sylvan_base::Vocab;
/// use sylvan_trees::TreeBuilder;
/// let mut vocab = Vocab::new();
/// let mut builder = TreeBuilder::new();
/// builder.open(vocab.intern("NP"));
/// builder.leaf(vocab.intern("he"));
/// builder.close();
/// assert_eq!(builder.finish().unwrap().len(), 1);
/// ```
#[derive(Debug, Clone, Default)]
pub struct TreeBuilder {
    labels: Vec<Symbol>,
    spans: Vec<Span>,
    ends: Vec<u32>,
    children: Vec<Child>,
    words: Vec<Symbol>,
    open: Vec<Frame>,
    /// Finished children of the open nodes; each frame owns those from its `first` on.
    waiting: Vec<Child>,
    error: Option<BuildError>,
}

#[derive(Debug, Clone, Copy)]
struct Frame {
    label: Symbol,
    first: u32,
    start: u32,
}

impl TreeBuilder {
    /// An empty builder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens a node below the one that is open now.
    #[inline]
    pub fn open(&mut self, label: Symbol) {
        if self.open.is_empty() && !self.labels.is_empty() {
            self.fail(BuildError::OutsideRoot);
            return;
        }
        self.open.push(Frame { label, first: self.waiting.len() as u32, start: self.words.len() as u32 });
    }

    /// Adds a word below the open node.
    #[inline]
    pub fn leaf(&mut self, word: Symbol) {
        if self.open.is_empty() {
            self.fail(BuildError::OutsideRoot);
            return;
        }
        let Ok(position) = u32::try_from(self.words.len()) else {
            self.fail(BuildError::TooLarge);
            return;
        };
        self.waiting.push(Child::Leaf(position));
        self.words.push(word);
    }

    /// Closes the open node.
    #[inline]
    pub fn close(&mut self) {
        let Some(frame) = self.open.pop() else {
            self.fail(BuildError::Unopened);
            return;
        };
        let first = frame.first as usize;
        if first == self.waiting.len() {
            self.fail(BuildError::NoChildren);
            return;
        }
        self.children.extend_from_slice(&self.waiting[first..]);
        self.waiting.truncate(first);
        let Ok(end) = u32::try_from(self.children.len()) else {
            self.fail(BuildError::TooLarge);
            return;
        };
        let node = NodeId(self.labels.len() as u32);
        self.labels.push(frame.label);
        self.spans.push(Span { start: frame.start, end: self.words.len() as u32 });
        self.ends.push(end);
        self.waiting.push(Child::Node(node));
    }

    /// Repeats a step of a walk through `tree`.
    #[inline]
    pub fn step(&mut self, step: Step, tree: &Tree) {
        match step {
            Step::Open(node) => self.open(tree.label(node)),
            Step::Leaf(position) => self.leaf(tree.words()[position as usize]),
            Step::Close(_) => self.close(),
        }
    }

    /// How many nodes are open.
    #[inline]
    pub fn open_nodes(&self) -> usize {
        self.open.len()
    }

    /// Whether the open node has a child yet.
    #[inline]
    pub fn has_children(&self) -> bool {
        self.open.last().is_some_and(|frame| self.waiting.len() > frame.first as usize)
    }

    /// The tree, or the first mistake.
    pub fn finish(mut self) -> Result<Tree, BuildError> {
        self.check()?;
        Ok(Tree {
            labels: self.labels,
            spans: self.spans,
            ends: self.ends,
            children: self.children,
            words: self.words,
        })
    }

    /// The tree, or the first mistake; the builder is empty afterwards and keeps its memory for the next one.
    pub fn take(&mut self) -> Result<Tree, BuildError> {
        let result = self.check().map(|()| Tree {
            labels: self.labels.clone(),
            spans: self.spans.clone(),
            ends: self.ends.clone(),
            children: self.children.clone(),
            words: self.words.clone(),
        });
        self.clear();
        result
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.labels.clear();
        self.spans.clear();
        self.ends.clear();
        self.children.clear();
        self.words.clear();
        self.open.clear();
        self.waiting.clear();
        self.error = None;
    }

    #[cold]
    fn fail(&mut self, error: BuildError) {
        self.error.get_or_insert(error);
    }

    fn check(&mut self) -> Result<(), BuildError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if !self.open.is_empty() {
            return Err(BuildError::Unclosed);
        }
        if self.labels.is_empty() { Err(BuildError::Empty) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(steps: &str) -> Result<Tree, BuildError> {
        let mut builder = TreeBuilder::new();
        for step in steps.bytes() {
            match step {
                b'(' => builder.open(Symbol(0)),
                b')' => builder.close(),
                _ => builder.leaf(Symbol(1)),
            }
        }
        let taken = builder.clone().take();
        assert_eq!(taken, builder.clone().finish(), "take and finish agree on {steps}");
        taken
    }

    #[test]
    fn children_lie_in_rows_and_words_may_stand_beside_nodes() {
        let tree = build("(w(w)w)").unwrap();
        assert_eq!(tree.len(), 2);
        assert_eq!(tree.children(NodeId(0)), [Child::Leaf(1)]);
        assert_eq!(tree.children(tree.root()), [Child::Leaf(0), Child::Node(NodeId(0)), Child::Leaf(2)]);
        assert_eq!(tree.span(NodeId(0)), Span::new(1, 2));
        assert!(tree.is_preterminal(NodeId(0)) && !tree.is_preterminal(tree.root()));
    }

    #[test]
    fn the_first_mistake_is_reported() {
        for (steps, error) in [
            ("", BuildError::Empty),
            ("(", BuildError::Unclosed),
            ("(w", BuildError::Unclosed),
            (")", BuildError::Unopened),
            ("()", BuildError::NoChildren),
            ("(w())", BuildError::NoChildren),
            ("(w)(w)", BuildError::OutsideRoot),
            ("(w)w", BuildError::OutsideRoot),
            ("w", BuildError::OutsideRoot),
            ("(w))", BuildError::Unopened),
            ("())(", BuildError::NoChildren),
        ] {
            assert_eq!(build(steps), Err(error), "{steps}");
        }
    }

    #[test]
    fn a_used_builder_starts_afresh() {
        let mut builder = TreeBuilder::new();
        builder.close();
        assert!(builder.take().is_err());
        builder.open(Symbol(0));
        builder.leaf(Symbol(1));
        builder.close();
        assert_eq!(builder.take(), build("(w)"));
        assert_eq!(builder.take(), Err(BuildError::Empty));
    }

    #[test]
    fn a_child_takes_eight_bytes() {
        assert_eq!(std::mem::size_of::<Child>(), 8);
    }
}
