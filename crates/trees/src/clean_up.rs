//! Making treebank trees fit for translation: wrappers, traces, function tags and unary chains.
//!
//! Extraction and decoding must see the same trees, so what was done is one value, [`CleanUp`], that a rule
//! table can record. The steps run in the order of the fields and each leaves the word order as it is.

use sylvan_base::{Id, Symbol, Vocab};

use crate::{Child, NodeId, Tree, TreeBuilder};

/// What becomes of an outermost bracket that is unlabelled or labelled `ROOT` or `TOP` and has one node below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Root {
    /// It stays.
    Keep,
    /// It stays, and gets the label `ROOT` if it has none.
    Name,
    /// It goes. One with several children cannot go and is named.
    #[default]
    Drop,
}

/// What becomes of `-NONE-` subtrees: traces, and pronouns that are not spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum EmptyCategories {
    /// They stay, and their `*T*-1` counts as a word.
    Keep,
    /// They go, and nodes that have nothing else below go with them.
    #[default]
    Drop,
}

/// What becomes of `-SBJ-2` in `NP-SBJ-2` and `=1` in `NP=1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FunctionTags {
    /// Labels stay.
    Keep,
    /// Labels end before the first `-` or `=`; labels that begin with one, such as `-LRB-`, stay.
    #[default]
    Strip,
}

/// What becomes of a node whose only child is a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Unaries {
    /// It stays.
    #[default]
    Keep,
    /// It becomes one with its child, as `S+VP`. Nodes that have only words below (parts of speech) stay apart.
    Collapse,
}

/// What is done to a tree before it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CleanUp {
    /// Traces; done first, because they can leave a wrapper with one child.
    pub empty_categories: EmptyCategories,
    /// Tags and indices in labels.
    pub function_tags: FunctionTags,
    /// The outermost bracket.
    pub root: Root,
    /// Unary chains.
    pub unaries: Unaries,
}

impl FunctionTags {
    /// What becomes of a label.
    pub fn of(self, label: &str) -> &str {
        match self {
            Self::Keep => label,
            Self::Strip => tag_start(label).map_or(label, |cut| &label[..cut]),
        }
    }
}

impl CleanUp {
    /// Nothing is changed.
    pub fn as_is() -> Self {
        Self {
            empty_categories: EmptyCategories::Keep,
            function_tags: FunctionTags::Keep,
            root: Root::Keep,
            unaries: Unaries::Keep,
        }
    }

    /// Wrappers, traces and tags go, unary chains stay: the default of training and translation.
    pub fn standard() -> Self {
        Self {
            empty_categories: EmptyCategories::Drop,
            function_tags: FunctionTags::Strip,
            root: Root::Drop,
            unaries: Unaries::Keep,
        }
    }

    /// The clean tree; `None` if nothing is left of it.
    pub fn apply(&self, tree: Tree, vocab: &mut Vocab) -> Option<Tree> {
        let mut tree = tree;
        if self.empty_categories == EmptyCategories::Drop
            && let Some(none) = vocab.get("-NONE-")
            && tree.labels().contains(&none)
        {
            tree = without(&tree, none)?;
        }
        if self.function_tags == FunctionTags::Strip {
            for label in tree.labels_mut() {
                let text = vocab.text(*label);
                if let Some(cut) = tag_start(text) {
                    let bare = text[..cut].to_string();
                    *label = vocab.intern(&bare);
                }
            }
        }
        if self.root != Root::Keep {
            self.treat_root(&mut tree, vocab);
        }
        if self.unaries == Unaries::Collapse {
            tree = collapse(&tree, vocab);
        }
        Some(tree)
    }

    fn treat_root(&self, tree: &mut Tree, vocab: &mut Vocab) {
        loop {
            let label = vocab.text(tree.label(tree.root()));
            let unlabelled = label.is_empty();
            if !unlabelled && label != "ROOT" && label != "TOP" {
                return;
            }
            let single = matches!(tree.children(tree.root()), [Child::Node(_)]);
            if single && self.root == Root::Drop {
                tree.drop_root();
                continue;
            }
            if unlabelled {
                let name = vocab.intern("ROOT");
                if let Some(label) = tree.labels_mut().last_mut() {
                    *label = name;
                }
            }
            return;
        }
    }
}

/// Where the tags of a label begin, if it has any.
fn tag_start(label: &str) -> Option<usize> {
    label.find(['-', '=']).filter(|&at| at > 0)
}

/// The tree without the subtrees labelled `none` and without nodes that are left with nothing below.
fn without(tree: &Tree, none: Symbol) -> Option<Tree> {
    // Parents first: what lies below a dropped node is dropped.
    let mut dropped = vec![false; tree.len()];
    for node in tree.nodes().rev() {
        let here = dropped[node.index()] || tree.label(node) == none;
        dropped[node.index()] = here;
        if here {
            for &child in tree.children(node) {
                if let Child::Node(below) = child {
                    dropped[below.index()] = true;
                }
            }
        }
    }
    // Children first: what has nothing below is dropped.
    for node in tree.nodes() {
        let has_any = tree.children(node).iter().any(|&child| match child {
            Child::Node(below) => !dropped[below.index()],
            Child::Leaf(_) => true,
        });
        dropped[node.index()] |= !has_any;
    }
    if dropped[tree.root().index()] {
        return None;
    }
    let mut builder = TreeBuilder::new();
    for step in tree.walk_where(|node| !dropped[node.index()]) {
        builder.step(step, tree);
    }
    Some(builder.finish().expect("a node stays only if something below it stays"))
}

/// The tree with chains of single node children merged.
fn collapse(tree: &Tree, vocab: &mut Vocab) -> Tree {
    let single = |node: NodeId| match tree.children(node) {
        &[Child::Node(below)] if !tree.is_preterminal(below) => Some(below),
        _ => None,
    };
    let mut builder = TreeBuilder::new();
    let mut stack: Vec<(NodeId, usize)> = Vec::new();
    // Each pass opens one chain as a single node, under the label of all its members.
    let mut next = Some(tree.root());
    loop {
        if let Some(mut node) = next.take() {
            let top = tree.label(node);
            let mut joined: Option<String> = None;
            while let Some(below) = single(node) {
                let text = joined.get_or_insert_with(|| vocab.text(top).to_string());
                text.push('+');
                text.push_str(vocab.text(tree.label(below)));
                node = below;
            }
            builder.open(joined.map_or(top, |text| vocab.intern(&text)));
            stack.push((node, 0));
        }
        let Some((node, index)) = stack.last_mut() else { break };
        match tree.children(*node).get(*index) {
            Some(&child) => {
                *index += 1;
                match child {
                    Child::Leaf(position) => builder.leaf(tree.words()[position as usize]),
                    Child::Node(below) => next = Some(below),
                }
            }
            None => {
                builder.close();
                stack.pop();
            }
        }
    }
    builder.finish().expect("merging leaves every node its children")
}
