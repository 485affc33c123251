//! What a treebank is made of: figures that show at a glance whether the right trees were read.

use std::fmt;

use sylvan_base::{HashMap, Symbol, Vocab};

use crate::Tree;

/// Counts over many trees.
#[derive(Debug, Clone, Default)]
pub struct Statistics {
    /// Sentences with a tree.
    pub trees: u64,
    /// Sentences without one.
    pub empty: u64,
    /// Internal nodes.
    pub nodes: u64,
    /// Words.
    pub words: u64,
    /// Nodes with one child.
    pub unary: u64,
    /// Nodes with one child that is a node.
    pub unary_over_node: u64,
    /// Children of all nodes.
    pub children: u64,
    /// The most children of one node.
    pub max_arity: usize,
    /// The sum of the depths of all trees.
    pub depth_sum: u64,
    /// The depth of the deepest tree.
    pub max_depth: usize,
    labels: HashMap<Symbol, u64>,
}

impl Statistics {
    /// Nothing counted yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts a sentence.
    pub fn add(&mut self, tree: Option<&Tree>) {
        let Some(tree) = tree else {
            self.empty += 1;
            return;
        };
        self.trees += 1;
        self.nodes += tree.len() as u64;
        self.words += tree.words().len() as u64;
        let depth = tree.depth();
        self.depth_sum += depth as u64;
        self.max_depth = self.max_depth.max(depth);
        for node in tree.nodes() {
            let arity = tree.children(node).len();
            self.children += arity as u64;
            self.max_arity = self.max_arity.max(arity);
            if arity == 1 {
                self.unary += 1;
                self.unary_over_node += u64::from(!tree.is_preterminal(node));
            }
            *self.labels.entry(tree.label(node)).or_insert(0) += 1;
        }
    }

    /// Labels and how often each occurs, most frequent first, equally frequent ones by their text.
    pub fn labels<'a>(&self, vocab: &'a Vocab) -> Vec<(&'a str, u64)> {
        let mut labels: Vec<(&str, u64)> =
            self.labels.iter().map(|(&label, &count)| (vocab.text(label), count)).collect();
        labels.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        labels
    }

    /// How many different labels there are.
    pub fn label_count(&self) -> usize {
        self.labels.len()
    }

    /// The mean depth, 0 without trees.
    pub fn mean_depth(&self) -> f64 {
        ratio(self.depth_sum, self.trees)
    }

    /// The mean number of children, 0 without nodes.
    pub fn mean_arity(&self) -> f64 {
        ratio(self.children, self.nodes)
    }

    /// The share of nodes whose only child is a node, 0 without nodes.
    pub fn unary_share(&self) -> f64 {
        ratio(self.unary_over_node, self.nodes)
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "trees        {} (sentences without one: {})", self.trees, self.empty)?;
        writeln!(f, "words        {} ({:.1} per tree)", self.words, ratio(self.words, self.trees))?;
        writeln!(f, "nodes        {} ({:.1} per tree)", self.nodes, ratio(self.nodes, self.trees))?;
        writeln!(f, "depth        {:.2} mean, {} most", self.mean_depth(), self.max_depth)?;
        writeln!(f, "children     {:.2} mean, {} most", self.mean_arity(), self.max_arity)?;
        writeln!(f, "unary chains {:.2} % of nodes", 100.0 * self.unary_share())?;
        write!(f, "labels       {}", self.label_count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::penn::{Brackets, parse_line};

    #[test]
    fn counts_are_those_of_the_trees() {
        let mut vocab = Vocab::new();
        let mut statistics = Statistics::new();
        for line in ["(S (NP (NN a)) (VP b c))", "()", "(S d)"] {
            statistics.add(parse_line(line, Brackets::Keep, &mut vocab).unwrap().as_ref());
        }
        let text = statistics.to_string();
        let expected = "trees        2 (sentences without one: 1)
words        4 (2.0 per tree)
nodes        5 (2.5 per tree)
depth        2.00 mean, 3 most
children     1.40 mean, 2 most
unary chains 20.00 % of nodes
labels       4";
        assert_eq!(text, expected);
        assert_eq!(statistics.labels(&vocab), [("S", 2), ("NN", 1), ("NP", 1), ("VP", 1)]);
        assert_eq!(statistics.unary, 3);
    }
}
