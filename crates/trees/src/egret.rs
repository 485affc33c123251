//! Packed forests in the text format of the Egret parser, which Travatar reads as `egret`.
//!
//! ```text
//! sentence 1 :
//! the cat                                   the words
//! DT[0,0] => the ||| -0.01                  an edge: head, children, log score
//! NN[1,1] => cat ||| -0.02                  spans count from 0 and include their last word
//! NP[0,1] => DT[0,0] NN[1,1]  ||| -0.5      the last head is the root
//!                                           a blank line ends the forest
//! ```
//!
//! A block without edges is a sentence that could not be parsed. Nodes are named by label and span, so the format
//! has no way to write two nodes of the same label over the same span (`NP` over `NP`): the writer numbers them
//! `NP#2[0,1]`, and the reader takes a `#` with digits at the end of a label off again. Edges that cannot be
//! reached from the root are left out.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;

use sylvan_base::limits::TREE_DEPTH;
use sylvan_base::{Fault, HashMap, Result, Span, Symbol, Vocab};
use sylvan_store::TextReader;

use crate::block::{Block, BlockFault};
use crate::brackets::{one_token, quote};
use crate::forest::{ForestEdge, ForestError, PackedForest};
use crate::{Child, NodeId};

/// The lines before the edges: the number of the sentence, and its words.
const HEADER: usize = 2;

/// The forest of one block; `None` if the sentence was not parsed.
pub fn parse_block(block: &str, vocab: &mut Vocab) -> std::result::Result<Option<PackedForest>, BlockFault> {
    let lines: Vec<&str> = block.lines().collect();
    if !lines.first().is_some_and(|line| line.starts_with("sentence")) {
        let found = quote(lines.first().copied().unwrap_or_default());
        let fault = Fault::new(1, found, "'sentence' and a number").advise("is this an Egret forest?");
        return Err(BlockFault { line: 0, fault });
    }
    let Some(sentence) = lines.get(1) else {
        return Err(BlockFault {
            line: 0,
            fault: Fault::new(0, "the end of the text", "the words of the sentence"),
        });
    };
    let words: Vec<Symbol> = vocab.intern_words(sentence);
    let lines = &lines[HEADER..];
    if lines.is_empty() {
        return Ok(None);
    }
    let mut names = Names::default();
    for (index, line) in lines.iter().enumerate() {
        names.define(index, line, words.len()).map_err(|fault| BlockFault { line: index + HEADER, fault })?;
    }
    let mut edges = Vec::with_capacity(lines.len());
    for (index, line) in lines.iter().enumerate() {
        let edge = parse_edge(line, &names, &words, vocab);
        edges.push(edge.map_err(|fault| BlockFault { line: index + HEADER, fault })?);
    }
    assemble(words, &names, edges, vocab).map(Some)
}

/// The nodes of a block, in the order of the first line that divides them.
#[derive(Default)]
struct Names<'a> {
    by_name: HashMap<&'a str, usize>,
    nodes: Vec<(&'a str, Span)>,
    /// The line of each node's first edge, counted from the first edge.
    lines: Vec<usize>,
}

impl<'a> Names<'a> {
    /// Notes the head of an edge line.
    fn define(&mut self, index: usize, line: &'a str, words: usize) -> std::result::Result<(), Fault> {
        let name = line.split_ascii_whitespace().next().unwrap_or_default();
        if self.by_name.contains_key(name) {
            return Ok(());
        }
        let Some((label, span)) = parse_name(name) else {
            return Err(Fault::at_byte(line, offset(line, name), quote(name), "a node such as NP[0,1]")
                .advise("end each forest with a blank line"));
        };
        if span.end as usize > words {
            let expected = format!("a span within the {words} words of the sentence");
            return Err(Fault::at_byte(line, offset(line, name), quote(name), expected));
        }
        self.by_name.insert(name, self.nodes.len());
        self.nodes.push((label, span));
        self.lines.push(index);
        Ok(())
    }
}

/// `NP#2[0,1]` is the label `NP` and the span of the first two words.
fn parse_name(name: &str) -> Option<(&str, Span)> {
    let (label, range) = name.strip_suffix(']')?.rsplit_once('[')?;
    let (start, last) = range.split_once(',')?;
    let (start, last) = (digits(start)?, digits(last)?);
    (start <= last).then_some((numbered(label).unwrap_or(label), Span { start, end: last + 1 }))
}

/// The label before a `#` and digits at its end, if there is one.
fn numbered(label: &str) -> Option<&str> {
    let (bare, number) = label.rsplit_once('#')?;
    (!bare.is_empty() && digits(number).is_some()).then_some(bare)
}

fn digits(text: &str) -> Option<u32> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok().filter(|&number: &u32| number < 1 << 31) } else { None }
}

/// Where a token of `line` begins.
fn offset(line: &str, token: &str) -> usize {
    (token.as_ptr() as usize).saturating_sub(line.as_ptr() as usize)
}

fn parse_edge(
    line: &str,
    names: &Names<'_>,
    words: &[Symbol],
    vocab: &Vocab,
) -> std::result::Result<ForestEdge, Fault> {
    let tokens: Vec<&str> = line.split_ascii_whitespace().collect();
    // `|||` and `=>` may be words too, so the separators are known by their places.
    let &[head, arrow, ref parts @ .., bars, score] = tokens.as_slice() else {
        return Err(Fault::new(0, format!("{} fields", tokens.len()), "NODE => CHILD CHILD ... ||| SCORE"));
    };
    if arrow != "=>" {
        return Err(Fault::at_byte(line, offset(line, arrow), quote(arrow), "'=>'"));
    }
    if bars != "|||" {
        return Err(Fault::at_byte(line, offset(line, bars), quote(bars), "'|||' and one score"));
    }
    if parts.is_empty() {
        return Err(Fault::at_byte(line, offset(line, bars), "'|||'", "a node or a word"));
    }
    let head_index = names.by_name[head];
    let span = names.nodes[head_index].1;
    let mut at = span.start;
    let mut children = Vec::with_capacity(parts.len());
    for &part in parts {
        let is_word = words.get(at as usize).is_some_and(|&word| vocab.text(word) == part);
        let node = names.by_name.get(part).filter(|_| !(part == head && is_word));
        let (child, start, end) = match node {
            Some(&node) => {
                (Child::Node(NodeId(node as u32)), names.nodes[node].1.start, names.nodes[node].1.end)
            }
            None if is_word => (Child::Leaf(at), at, at + 1),
            None => return Err(stranger(line, part, words.get(at as usize).map(|&word| vocab.text(word)))),
        };
        if start != at || end > span.end {
            let expected = format!("a part of {head} that begins at word {at}");
            return Err(Fault::at_byte(line, offset(line, part), quote(part), expected));
        }
        children.push(child);
        at = end;
    }
    if at != span.end {
        let found = format!("parts up to word {}", at - 1);
        return Err(Fault::at_byte(
            line,
            offset(line, bars),
            found,
            format!("parts that cover {}", quote(head)),
        ));
    }
    let value = score.parse::<f64>().ok().filter(|value| !value.is_nan() && *value < f64::INFINITY);
    let Some(value) = value else {
        return Err(Fault::at_byte(line, offset(line, score), quote(score), "a log score"));
    };
    Ok(ForestEdge { head: NodeId(head_index as u32), children, score: value })
}

/// The fault of a part that is neither a node nor the word at its place.
fn stranger(line: &str, part: &str, word: Option<&str>) -> Fault {
    let at = offset(line, part);
    match word {
        _ if parse_name(part).is_some() => {
            Fault::at_byte(line, at, quote(part), "a node that has an edge of its own")
        }
        Some(word) => Fault::at_byte(line, at, quote(part), format!("a node or the word {}", quote(word))),
        None => Fault::at_byte(line, at, quote(part), "a node"),
    }
}

/// Numbers the nodes children first, without those that the root does not reach.
fn assemble(
    words: Vec<Symbol>,
    names: &Names<'_>,
    edges: Vec<ForestEdge>,
    vocab: &mut Vocab,
) -> std::result::Result<PackedForest, BlockFault> {
    let root = edges.last().map_or(0, |edge| edge.head.0 as usize);
    let blame = |node: usize, fault: Fault| BlockFault { line: names.lines[node] + HEADER, fault };
    let order = match topological_order(names.nodes.len(), root, &edges) {
        Ok(order) => order,
        Err(node) => {
            return Err(blame(node, Fault::new(1, "a node that is below itself", "edges without a cycle")));
        }
    };
    if let Some(node) = too_deep(&order, &edges, names.nodes.len()) {
        let found = format!("a node with more than {TREE_DEPTH} levels below it");
        return Err(blame(node, Fault::new(1, found, "trees of a sentence")));
    }
    let mut new_id = vec![None; names.nodes.len()];
    let mut nodes = Vec::with_capacity(order.len());
    for (index, &old) in order.iter().enumerate() {
        new_id[old] = Some(NodeId(index as u32));
        nodes.push((vocab.intern(names.nodes[old].0), names.nodes[old].1));
    }
    let renumber = |edge: ForestEdge| -> Option<ForestEdge> {
        let children = edge.children.iter().map(|&child| match child {
            Child::Leaf(_) => Some(child),
            Child::Node(below) => new_id[below.0 as usize].map(Child::Node),
        });
        let head = new_id[edge.head.0 as usize]?;
        Some(ForestEdge { head, children: children.collect::<Option<_>>()?, score: edge.score })
    };
    let edges: Vec<ForestEdge> = edges.into_iter().filter_map(renumber).collect();
    PackedForest::new(words, &nodes, &edges).map_err(|error| match error {
        ForestError::Root => blame(
            root,
            Fault::new(1, "a last node over part of the sentence", "a root over the whole sentence"),
        ),
        other => blame(root, Fault::new(0, other.to_string(), "a packed forest")),
    })
}

/// A node whose deepest tree is too deep. Nodes come children first.
fn too_deep(order: &[usize], edges: &[ForestEdge], count: usize) -> Option<usize> {
    let mut edges_of = vec![Vec::new(); count];
    for edge in edges {
        edges_of[edge.head.0 as usize].push(edge);
    }
    let mut depths = vec![0; count];
    order.iter().copied().find(|&node| {
        let below = edges_of[node].iter().flat_map(|edge| &edge.children).map(|child| match child {
            Child::Node(below) => depths[below.0 as usize],
            Child::Leaf(_) => 0,
        });
        depths[node] = 1 + below.max().unwrap_or(0);
        depths[node] > TREE_DEPTH
    })
}

/// The nodes below the root, children first, otherwise in the order given; or a node on a cycle.
fn topological_order(
    count: usize,
    root: usize,
    edges: &[ForestEdge],
) -> std::result::Result<Vec<usize>, usize> {
    let mut edges_of = vec![Vec::new(); count];
    for (index, edge) in edges.iter().enumerate() {
        edges_of[edge.head.0 as usize].push(index);
    }
    let below = |edge: usize| {
        edges[edge].children.iter().filter_map(|child| match child {
            Child::Node(node) => Some(node.0 as usize),
            Child::Leaf(_) => None,
        })
    };
    // From the root down: what is reached, and from how many places each node waits for the nodes below it.
    let mut waits = vec![0usize; count];
    let mut heads_of = vec![Vec::new(); count];
    let mut reached = vec![false; count];
    reached[root] = true;
    let mut open = vec![root];
    let mut total = 0;
    while let Some(node) = open.pop() {
        total += 1;
        for child in edges_of[node].iter().flat_map(|&edge| below(edge)) {
            waits[node] += 1;
            heads_of[child].push(node);
            if !reached[child] {
                reached[child] = true;
                open.push(child);
            }
        }
    }
    let mut ready: BinaryHeap<Reverse<usize>> =
        (0..count).filter(|&node| reached[node] && waits[node] == 0).map(Reverse).collect();
    let mut order = Vec::with_capacity(total);
    while let Some(Reverse(node)) = ready.pop() {
        order.push(node);
        for &head in &heads_of[node] {
            waits[head] -= 1;
            if waits[head] == 0 {
                ready.push(Reverse(head));
            }
        }
    }
    if order.len() == total {
        return Ok(order);
    }
    Err((0..count).find(|&node| reached[node] && waits[node] > 0).unwrap_or(root))
}

/// Reads a file of forests.
#[derive(Debug)]
pub struct EgretReader {
    block: Block,
}

impl EgretReader {
    /// Opens a file, plain or compressed, `-` for standard input.
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self::new(TextReader::open(path)?))
    }

    /// Reads from a text that is already open.
    pub fn new(text: TextReader) -> Self {
        Self { block: Block::new(text) }
    }

    /// The next sentence: `None` at the end of the file, `Some(None)` for one that was not parsed. After an error
    /// the reader goes on with the next sentence.
    pub fn next_forest(&mut self, vocab: &mut Vocab) -> Result<Option<Option<PackedForest>>> {
        if !self.block.advance(HEADER)? {
            return Ok(None);
        }
        parse_block(self.block.text(), vocab).map(Some).map_err(|fault| self.block.locate(fault))
    }

    /// The line where the last sentence began.
    pub fn line_number(&self) -> u64 {
        self.block.first_line()
    }

    /// The file name for messages.
    pub fn name(&self) -> &str {
        self.block.name()
    }
}

/// Appends a forest as sentence `number`, with the blank line that ends it.
pub fn write(forest: &PackedForest, number: u64, vocab: &Vocab, out: &mut String) {
    write_header(forest.words(), number, vocab, out);
    let names = node_names(forest, vocab);
    for node in forest.nodes() {
        for edge in forest.edges(node) {
            out.push_str(&names[node.0 as usize]);
            out.push_str(" =>");
            for &child in forest.children(edge) {
                out.push(' ');
                match child {
                    Child::Node(below) => out.push_str(&names[below.0 as usize]),
                    Child::Leaf(position) => {
                        out.push_str(&one_token(vocab.text(forest.words()[position as usize])));
                    }
                }
            }
            // The debug form is the shortest that reads back as the same number.
            out.push_str(&format!(" ||| {:?}\n", forest.score(edge)));
        }
    }
    out.push('\n');
}

/// Appends a sentence that was not parsed, as Egret does: with two blank lines.
pub fn write_unparsed(words: &[Symbol], number: u64, vocab: &Vocab, out: &mut String) {
    write_header(words, number, vocab, out);
    out.push_str("\n\n");
}

fn write_header(words: &[Symbol], number: u64, vocab: &Vocab, out: &mut String) {
    out.push_str(&format!("sentence {number} :\n"));
    for (index, &word) in words.iter().enumerate() {
        if index > 0 {
            out.push(' ');
        }
        out.push_str(&one_token(vocab.text(word)));
    }
    out.push('\n');
}

fn node_names(forest: &PackedForest, vocab: &Vocab) -> Vec<String> {
    let mut seen: HashMap<(Symbol, Span), u32> = HashMap::default();
    let name = |node: NodeId| {
        let (symbol, span) = (forest.label(node), forest.span(node));
        let label = one_token(vocab.text(symbol));
        let same = seen.entry((symbol, span)).or_insert(0);
        *same += 1;
        let number = if *same > 1 || numbered(&label).is_some() { format!("#{same}") } else { String::new() };
        format!("{label}{number}[{},{}]", span.start, span.end - 1)
    };
    forest.nodes().map(name).collect()
}
