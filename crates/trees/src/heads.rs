//! Heads: which child of a node carries its meaning.
//!
//! A rule table says, for each label, in which order to look for the head (Magerman 1995, Collins 1999). Tables are
//! plain text, one label per line:
//!
//! ```text
//! skip: , .                      never a head, unless there is nothing else
//! coordinators: CC               in "A CC B" with the head B, A is the head
//! VP: first VBD > VB MD > VP     look from the left for VBD; if there is none, for the first of VB and MD; ...
//! NP: last NN NNS; first NP      look from the right for NN or NNS; if there is none, from the left for NP
//! *:  first = > ~ > *            all other labels. = is the label of the parent, ~ a label with the same first
//!                                letter, * anything
//! ```
//!
//! If nothing fits, the first child is the head. Function tags do not matter: `NP-SBJ` is looked up as `NP`.

use std::collections::BTreeMap;
use std::path::Path;

use sylvan_base::{Fault, IndexVec, Result, Vocab};
use sylvan_store::TextReader;

use crate::block::BlockFault;
use crate::brackets::quote;
use crate::{Child, NodeId, Tree};

/// Which child is the head, by label.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HeadRules {
    skip: Vec<String>,
    coordinators: Vec<String>,
    rules: BTreeMap<String, Vec<Look>>,
    others: Vec<Look>,
}

/// One pass over the children.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Look {
    from_left: bool,
    wanted: Vec<String>,
}

/// The heads of all nodes of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heads {
    /// The 0-based number of the head among the children.
    pub child: IndexVec<NodeId, u32>,
    /// The position of the word that the heads lead down to.
    pub word: IndexVec<NodeId, u32>,
}

impl HeadRules {
    /// The English Penn Treebank, after Collins (1999).
    pub fn english() -> Self {
        Self::built_in(include_str!("heads/english.heads"))
    }

    /// The Penn Chinese Treebank, after Sun & Jurafsky (2004).
    pub fn chinese() -> Self {
        Self::built_in(include_str!("heads/chinese.heads"))
    }

    /// For labels of an unknown treebank.
    pub fn generic() -> Self {
        Self::built_in(include_str!("heads/generic.heads"))
    }

    fn built_in(table: &str) -> Self {
        Self::parse(table).expect("the tables that come with the program are tested")
    }

    /// Reads a table from a file.
    pub fn open(path: &Path) -> Result<Self> {
        let mut text = TextReader::open(path)?;
        let mut table = String::new();
        while let Some(line) = text.next_line()? {
            table.push_str(line);
            table.push('\n');
        }
        Self::parse(&table).map_err(|fault| fault.at(text.name(), 1))
    }

    /// Reads a table from text.
    pub fn parse(table: &str) -> std::result::Result<Self, BlockFault> {
        let mut rules = Self::default();
        for (number, line) in table.lines().enumerate() {
            let line = line.trim_ascii();
            if !line.is_empty() && !line.starts_with('#') {
                rules.line(line).map_err(|fault| BlockFault { line: number, fault })?;
            }
        }
        Ok(rules)
    }

    fn line(&mut self, line: &str) -> std::result::Result<(), Fault> {
        // A label may itself hold a colon, so the first colon before white space or the end counts.
        let Some((label, rest)) =
            line.split_once(": ").or_else(|| line.strip_suffix(':').map(|label| (label, "")))
        else {
            return Err(Fault::new(1, quote(line), "a label, a colon and what to look for"));
        };
        let words = |text: &str| text.split_ascii_whitespace().map(str::to_string).collect::<Vec<_>>();
        match label {
            "skip" => self.skip = words(rest),
            "coordinators" => self.coordinators = words(rest),
            _ => {
                let mut looks = Vec::new();
                for clause in rest.split("; ") {
                    let clause = clause.trim_ascii();
                    let (side, groups) = clause.split_once(' ').unwrap_or((clause, ""));
                    let from_left = match side {
                        "first" => true,
                        "last" => false,
                        _ => return Err(Fault::new(0, quote(side), "'first' or 'last'")),
                    };
                    for group in groups.split(" > ") {
                        let wanted = words(group);
                        if wanted.is_empty() {
                            return Err(Fault::new(0, "nothing", "labels to look for, or *"));
                        }
                        looks.push(Look { from_left, wanted });
                    }
                }
                let known = if label == "*" {
                    !std::mem::replace(&mut self.others, looks).is_empty()
                } else {
                    self.rules.insert(label.to_string(), looks).is_some()
                };
                if known {
                    return Err(Fault::new(1, format!("{} again", quote(label)), "one line per label"));
                }
            }
        }
        Ok(())
    }

    /// The 0-based number of the head among the children of a node.
    pub fn head_child(&self, tree: &Tree, node: NodeId, vocab: &Vocab) -> usize {
        let children = tree.children(node);
        if children.len() == 1 {
            return 0;
        }
        let parent = bare(vocab.text(tree.label(node)));
        let labels: Vec<Option<&str>> = children
            .iter()
            .map(|&child| match child {
                Child::Node(below) => Some(bare(vocab.text(tree.label(below)))),
                Child::Leaf(_) => None,
            })
            .collect();
        let is_skipped =
            |index: usize| labels[index].is_some_and(|label| self.skip.iter().any(|skip| skip == label));
        let looks = self.rules.get(parent).unwrap_or(&self.others);
        let head = find(looks, parent, &labels, |index| !is_skipped(index))
            .or_else(|| (0..labels.len()).find(|&index| !is_skipped(index)))
            .or_else(|| find(looks, parent, &labels, |_| true))
            .unwrap_or(0);
        let coordinates = |index: usize| {
            labels[index]
                .is_some_and(|label| self.coordinators.iter().any(|coordinator| coordinator == label))
        };
        if head >= 2 && coordinates(head - 1) && !is_skipped(head - 2) { head - 2 } else { head }
    }

    /// The heads of all nodes.
    pub fn heads(&self, tree: &Tree, vocab: &Vocab) -> Heads {
        let mut heads = Heads { child: IndexVec::new(), word: IndexVec::new() };
        for node in tree.nodes() {
            let head = self.head_child(tree, node, vocab);
            let word = match tree.children(node)[head] {
                Child::Leaf(position) => position,
                Child::Node(below) => heads.word[below],
            };
            heads.child.push(head as u32);
            heads.word.push(word);
        }
        heads
    }
}

fn find(looks: &[Look], parent: &str, labels: &[Option<&str>], may: impl Fn(usize) -> bool) -> Option<usize> {
    looks.iter().find_map(|look| {
        let fits =
            |&index: &usize| may(index) && look.wanted.iter().any(|want| fits(want, parent, labels[index]));
        if look.from_left { (0..labels.len()).find(fits) } else { (0..labels.len()).rev().find(fits) }
    })
}

fn fits(want: &str, parent: &str, label: Option<&str>) -> bool {
    match (want, label) {
        ("*", _) => true,
        (_, None) => false,
        ("=", Some(label)) => label == parent,
        ("~", Some(label)) => label.chars().next() == parent.chars().next(),
        (want, Some(label)) => want == label,
    }
}

/// The label without tags, indices and binarisation marks.
fn bare(label: &str) -> &str {
    let label = match label.find(['-', '=']) {
        Some(at) if at > 0 => &label[..at],
        _ => label,
    };
    let unbarred = label.trim_end_matches('\'');
    if unbarred.is_empty() { label } else { unbarred }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::penn::{Brackets, parse_line};

    fn check(rules: &HeadRules, line: &str, expected: &str) {
        let mut vocab = Vocab::new();
        let tree = parse_line(line, Brackets::Keep, &mut vocab).unwrap().unwrap();
        let heads = rules.heads(&tree, &vocab);
        let word = |node| vocab.text(tree.words()[heads.word[node] as usize]);
        let found: Vec<String> = tree
            .nodes()
            .filter(|&node| !tree.is_preterminal(node))
            .map(|node| format!("{}:{}", vocab.text(tree.label(node)), word(node)))
            .collect();
        assert_eq!(found.join(" "), expected, "{line}");
    }

    #[test]
    fn collins_1999_heads() {
        let english = HeadRules::english();
        // The sentence of Collins' figure 2.1, and its heads.
        check(
            &english,
            "(S (NP (NNP IBM)) (VP (VBD bought) (NP (NNP Lotus)) (NP-TMP (NN yesterday))))",
            "NP:IBM NP:Lotus NP-TMP:yesterday VP:bought S:bought",
        );
        check(
            &english,
            "(NP (NP (DT the) (NN man)) (PP (IN of) (NP (NN war))))",
            "NP:man NP:war PP:of NP:man",
        );
        check(&english, "(NP (NNP Smith) (POS 's))", "NP:'s");
        check(&english, "(NP (NN cats) (CC and) (NN dogs))", "NP:cats");
        check(&english, "(FRAG (NP (NN cat)) (. .))", "NP:cat FRAG:cat");
        check(&english, "(VP (MD can) (VP (VB go)))", "VP:go VP:can");
        check(&english, "(X (, ,) (. .))", "X:,");
    }

    #[test]
    fn sun_and_jurafsky_2004_heads() {
        let chinese = HeadRules::chinese();
        check(
            &chinese,
            "(IP (NP (NR Bushi)) (VP (PP (P yu) (NP (NR Shalong))) (VP (VV juxing) (AS le) (NP (NN huitan)))) (PU .))",
            "NP:Bushi NP:Shalong PP:yu NP:huitan VP:juxing VP:juxing IP:juxing",
        );
        check(&chinese, "(DP (DT zhe) (CLP (M ge)))", "CLP:ge DP:zhe");
    }

    #[test]
    fn words_beside_nodes_and_unknown_labels_have_heads() {
        let generic = HeadRules::generic();
        check(&generic, "(VP a (PU ,) (VV b) c)", "VP:b");
        check(&generic, "(QQ (PU ,) a (RR b))", "QQ:a");
        check(&generic, "(QQ (PU ,) (PU .))", "QQ:,");
    }

    #[test]
    fn a_broken_table_names_its_line() {
        for (table, line) in
            [("NP first", 0), ("\nNP: left NN", 1), ("NP: first A\nNP: last B", 1), ("NP: first", 0)]
        {
            assert_eq!(HeadRules::parse(table).unwrap_err().line, line, "{table:?}");
        }
    }
}
