//! Binarisation: nodes with more than two children become chains of nodes with two.
//!
//! Flat nodes make poor rules: a rule needs all children of a node at once. Binarised nodes can be divided
//! anywhere along the chain. The shape and the labels are those of Travatar, so that its tables match: the new
//! nodes are labelled with the label of the node and a `'`, the same along the whole chain.
//!
//! ```text
//! Right  (X a b c d)  becomes  (X a (X' b (X' c d)))       the rest is nested on the right
//! Left   (X a b c d)  becomes  (X (X' (X' a b) c) d)       the rest is nested on the left
//! ```
//!
//! A label that ends in `'` itself (the tag `''` of closing quotes) gets one more.

use sylvan_base::{HashMap, Symbol, Vocab};

use crate::{Child, ForestEdge, NodeId, PackedForest, Step, Tree, TreeBuilder};

/// On which side the new nodes are nested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The first child stays, the others go below the new node.
    Right,
    /// The last child stays, the others go below the new node.
    Left,
}

/// Finds `X'` for `X`, each once.
struct Bars<'a> {
    vocab: &'a mut Vocab,
    known: HashMap<Symbol, Symbol>,
}

impl<'a> Bars<'a> {
    fn new(vocab: &'a mut Vocab) -> Self {
        Self { vocab, known: HashMap::default() }
    }

    fn of(&mut self, label: Symbol) -> Symbol {
        let vocab = &mut *self.vocab;
        *self.known.entry(label).or_insert_with(|| {
            let barred = format!("{}'", vocab.text(label));
            vocab.intern(&barred)
        })
    }
}

/// The tree with at most two children per node.
pub fn binarise(tree: &Tree, direction: Direction, vocab: &mut Vocab) -> Tree {
    let mut bars = Bars::new(vocab);
    let mut builder = TreeBuilder::new();
    // Of each open node: its label with a bar, its arity, and how many of its children have begun.
    let mut path: Vec<(Symbol, usize, usize)> = Vec::new();
    for step in tree.walk() {
        if let (Step::Open(_) | Step::Leaf(_), Some((bar, arity, begun))) = (step, path.last_mut()) {
            *begun += 1;
            // On the right a new node begins before each child but the first and the last.
            if direction == Direction::Right && *arity > 2 && *begun > 1 && *begun < *arity {
                builder.open(*bar);
            }
        }
        if let (Step::Close(_), Some(&(_, arity, _))) = (step, path.last()) {
            if direction == Direction::Right {
                (2..arity).for_each(|_| builder.close());
            }
            path.pop();
        }
        builder.step(step, tree);
        if let Step::Open(node) = step {
            let arity = tree.children(node).len();
            let bar = if arity > 2 { bars.of(tree.label(node)) } else { tree.label(node) };
            path.push((bar, arity, 0));
            if direction == Direction::Left {
                (2..arity).for_each(|_| builder.open(bar));
            }
        } else if let Some(&(_, arity, begun)) = path.last() {
            // On the left a new node ends after each child but the first and the last.
            if direction == Direction::Left && arity > 2 && begun > 1 && begun < arity {
                builder.close();
            }
        }
    }
    builder.finish().expect("binarisation leaves every node its children")
}

/// Undoes [`binarise`] in the same direction. A tree that had `X'` below `X` from the start, in the place and with
/// the two children of a new node, loses that node too.
pub fn unbinarise(tree: &Tree, direction: Direction, vocab: &mut Vocab) -> Tree {
    let mut bars = Bars::new(vocab);
    let mut builder = TreeBuilder::new();
    // Of each open node: the original node it belongs to, and whether it is new.
    let mut path: Vec<(NodeId, NodeId, bool)> = Vec::new();
    for step in tree.walk() {
        match step {
            Step::Leaf(_) => builder.step(step, tree),
            Step::Close(_) => {
                if let Some((_, _, false)) = path.pop() {
                    builder.close();
                }
            }
            Step::Open(node) => {
                let is_two = |node: NodeId| tree.children(node).len() == 2;
                let side = |parent: NodeId| match direction {
                    Direction::Right => tree.children(parent)[1],
                    Direction::Left => tree.children(parent)[0],
                };
                let origin = path.last().and_then(|&(parent, origin, _)| {
                    let fits = is_two(parent) && is_two(node) && side(parent) == Child::Node(node);
                    (fits && tree.label(node) == bars.of(tree.label(origin))).then_some(origin)
                });
                if origin.is_none() {
                    builder.step(step, tree);
                }
                path.push((node, origin.unwrap_or(node), origin.is_some()));
            }
        }
    }
    builder.finish().expect("undoing leaves every node its children")
}

/// The forest with at most two children per edge. New nodes with the same label over the same children are shared
/// between edges; the score of an edge stays at its top, the new edges below score 0. So every tree keeps its score.
pub fn binarise_forest(forest: &PackedForest, direction: Direction, vocab: &mut Vocab) -> PackedForest {
    let mut bars = Bars::new(vocab);
    let mut nodes = Vec::with_capacity(forest.len());
    let mut edges: Vec<ForestEdge> = Vec::with_capacity(forest.edge_count());
    let mut new_ids: Vec<NodeId> = Vec::with_capacity(forest.len());
    let mut shared: HashMap<(Symbol, Child, Child), NodeId> = HashMap::default();
    for node in forest.nodes() {
        let mut tops: Vec<(Vec<Child>, f64)> = Vec::new();
        for edge in forest.edges(node) {
            let mut children: Vec<Child> =
                forest.children(edge).iter().map(|&child| renumber(child, &new_ids)).collect();
            if children.len() > 2 {
                let bar = bars.of(forest.label(node));
                if direction == Direction::Left {
                    children.reverse();
                }
                // From the inside out; each new node is known by its two children.
                let mut inner = children.pop().expect("more than two children");
                while children.len() > 1 {
                    let outer = children.pop().expect("more than one child");
                    let pair = if direction == Direction::Right { (outer, inner) } else { (inner, outer) };
                    let made = *shared.entry((bar, pair.0, pair.1)).or_insert_with(|| {
                        let id = NodeId(nodes.len() as u32);
                        let span = sylvan_base::Span {
                            start: span_of(pair.0, &nodes).start,
                            end: span_of(pair.1, &nodes).end,
                        };
                        nodes.push((bar, span));
                        edges.push(ForestEdge { head: id, children: vec![pair.0, pair.1], score: 0.0 });
                        id
                    });
                    inner = Child::Node(made);
                }
                children.push(inner);
                if direction == Direction::Left {
                    children.reverse();
                }
            }
            tops.push((children, forest.score(edge)));
        }
        let head = NodeId(nodes.len() as u32);
        nodes.push((forest.label(node), forest.span(node)));
        new_ids.push(head);
        edges.extend(tops.into_iter().map(|(children, score)| ForestEdge { head, children, score }));
    }
    PackedForest::new(forest.words().to_vec(), &nodes, &edges)
        .expect("new nodes come before their heads and cover them")
}

fn renumber(child: Child, new_ids: &[NodeId]) -> Child {
    match child {
        Child::Leaf(_) => child,
        Child::Node(node) => Child::Node(new_ids[node.0 as usize]),
    }
}

fn span_of(child: Child, nodes: &[(Symbol, sylvan_base::Span)]) -> sylvan_base::Span {
    match child {
        Child::Leaf(position) => sylvan_base::Span { start: position, end: position + 1 },
        Child::Node(node) => nodes[node.0 as usize].1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::penn::{Brackets, parse_line};

    fn check(line: &str, direction: Direction, expected: &str) {
        let mut vocab = Vocab::new();
        let tree = parse_line(line, Brackets::Keep, &mut vocab).unwrap().unwrap();
        let binary = binarise(&tree, direction, &mut vocab);
        assert_eq!(binary.to_penn(&vocab), expected);
        assert_eq!(unbinarise(&binary, direction, &mut vocab), tree);
        let forest = binarise_forest(&PackedForest::from_tree(&tree), direction, &mut vocab);
        assert_eq!(forest.best().0, binary);
    }

    #[test]
    fn chains_have_travatars_shape_and_labels() {
        check("(A (B s) (C t) (. u))", Direction::Right, "(A (B s) (A' (C t) (. u)))");
        check("(A (B s) (C t) (. u))", Direction::Left, "(A (A' (B s) (C t)) (. u))");
        check("(X a b c d)", Direction::Right, "(X a (X' b (X' c d)))");
        check("(X a b c d)", Direction::Left, "(X (X' (X' a b) c) d)");
    }

    #[test]
    fn small_nodes_stay_and_bars_grow() {
        for direction in [Direction::Left, Direction::Right] {
            check("(S (NP he) (VP sleeps))", direction, "(S (NP he) (VP sleeps))");
            check("('' (NN '))", direction, "('' (NN '))");
        }
        check("('' a b c)", Direction::Right, "('' a (''' b c))");
        check("(S (NP a b c) (VP d) e)", Direction::Right, "(S (NP a (NP' b c)) (S' (VP d) e))");
        check("(S (NP a b c) (VP d) e)", Direction::Left, "(S (S' (NP (NP' a b) c) (VP d)) e)");
    }

    #[test]
    fn a_quote_tag_is_not_taken_for_a_new_node() {
        let mut vocab = Vocab::new();
        for line in ["(' a ('' b))", "(X (X' a) b)", "(X a (X' b))", "(X a (X' b c) d)"] {
            let tree = parse_line(line, Brackets::Keep, &mut vocab).unwrap().unwrap();
            for direction in [Direction::Left, Direction::Right] {
                assert_eq!(unbinarise(&tree, direction, &mut vocab), tree, "{line}");
            }
        }
    }
}
