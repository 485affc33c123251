//! Makes runs of words one leaf each, whatever brackets are in the way.
//!
//! A term of a glossary is translated as a whole, so it must be one piece of the tree. Often it is one already; where
//! it is not, brackets that cross it go, and what is left of the tree stays as it was:
//!
//! ```text
//! (S (NP the old) (VP (V man) (NP boats)))  with "old man" joined:   (S the (V [old man]) (NP boats))
//! ```

use sylvan_base::{IndexVec, Span, Symbol};

use crate::{NodeId, Step, Tree, TreeBuilder};

/// What becomes of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stays,
    /// It crosses a joined run: its children go to its parent.
    Dissolves,
    /// It is a part of a joined run.
    Goes,
}

/// The tree with each run of words replaced by one leaf. Runs must not overlap, be empty, or be out of order.
///
/// A node that covers exactly a run keeps its label, and so do the nodes above it in a unary chain. Any other run gets
/// a node of its own, labelled like the last node inside it.
///
/// # Panics
/// If the runs break these rules: the caller's error, not the user's.
pub fn join(tree: &Tree, runs: &[(Span, Symbol)]) -> Tree {
    let ordered = runs.windows(2).all(|pair| pair[0].0.end <= pair[1].0.start);
    let inside = runs.iter().all(|(run, _)| !run.is_empty() && run.end as usize <= tree.words().len());
    assert!(ordered && inside, "runs of words, in order");
    let fates: IndexVec<NodeId, Fate> = tree.nodes().map(|node| fate(tree.span(node), runs)).collect();
    // Per run: whether a node covers exactly it, and else the label of the last of the largest nodes inside.
    let mut whole = vec![false; runs.len()];
    let mut last: Vec<Option<Symbol>> = vec![None; runs.len()];
    for node in tree.nodes() {
        let Some(run) = run_at(runs, tree.span(node).start) else { continue };
        match fates[node] {
            Fate::Stays if tree.span(node) == runs[run].0 => whole[run] = true,
            // In post-order a node comes after what is inside it and before what is right of it.
            Fate::Goes => last[run] = Some(tree.label(node)),
            _ => {}
        }
    }
    let mut builder = TreeBuilder::new();
    let mut open: Vec<Symbol> = Vec::new();
    for step in tree.walk() {
        match step {
            Step::Open(node) if fates[node] == Fate::Stays => {
                open.push(tree.label(node));
                builder.open(tree.label(node));
            }
            Step::Close(node) if fates[node] == Fate::Stays => {
                open.pop();
                builder.close();
            }
            Step::Open(_) | Step::Close(_) => {}
            Step::Leaf(position) => match run_at(runs, position) {
                None => builder.leaf(tree.words()[position as usize]),
                Some(run) if runs[run].0.start != position => {}
                Some(run) if whole[run] => builder.leaf(runs[run].1),
                Some(run) => {
                    let above = *open.last().expect("the root stays");
                    builder.open(last[run].unwrap_or(above));
                    builder.leaf(runs[run].1);
                    builder.close();
                }
            },
        }
    }
    builder.finish().expect("every node that stays holds a word or a run")
}

/// The run that a position belongs to.
fn run_at(runs: &[(Span, Symbol)], position: u32) -> Option<usize> {
    let run = runs.partition_point(|(run, _)| run.end <= position);
    runs.get(run).is_some_and(|(span, _)| span.start <= position).then_some(run)
}

fn fate(node: Span, runs: &[(Span, Symbol)]) -> Fate {
    // Only the runs at its two ends can cross a node or hold it.
    for position in [node.start, node.end - 1] {
        let Some(run) = run_at(runs, position) else { continue };
        let run = runs[run].0;
        match (run.covers(node), node.covers(run)) {
            (_, true) => {}
            (true, false) => return Fate::Goes,
            (false, false) => return Fate::Dissolves,
        }
    }
    Fate::Stays
}
