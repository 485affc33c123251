//! What the tests of several crates share: how many cases to run, where real data is, broken inputs, and
//! random trees with grammars. Never part of the program.
//!
//! ```text
//! seed --random_instance--> tree and rules as text --the crate under test--> compared with a slow twin
//! ```
//!
//! *Useful for* tests and benches only.
//!
//! ```
//! let instance = sylvan_testkit::random_instance(&mut sylvan_base::Rng::new(1));
//! assert!(instance.tree.starts_with('('));
//! ```

mod damage;

use std::io::Write;
use std::path::PathBuf;

pub use damage::{damage, payload, seal};

use sylvan_base::Rng;

/// How many random cases a test runs: `quick` normally, `full` when SYLVAN_TESTS=full (see CONTRIBUTING).
pub fn cases(quick: usize, full: usize) -> usize {
    if std::env::var_os("SYLVAN_TESTS").is_some_and(|value| value == "full") { full } else { quick }
}

/// A folder or file of real data below SYLVAN_DATA. Says so on standard error when it is missing, so
/// that a skipped test is never mistaken for a passed one.
pub fn data(what: &str) -> Option<PathBuf> {
    let found = std::env::var_os("SYLVAN_DATA").map(|root| PathBuf::from(root).join(what));
    match found {
        Some(path) if path.exists() => Some(path),
        _ => {
            // Written directly: the test harness hides what print macros write in a passing test.
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED: a test wants {what}, which SYLVAN_DATA does not provide"
            );
            None
        }
    }
}

/// What a variable names, such as a model that takes long to train. Says so on standard error when it is not set.
pub fn variable(name: &str) -> Option<String> {
    let found = std::env::var(name).ok();
    if found.is_none() {
        let _ = writeln!(std::io::stderr(), "SKIPPED: a test wants what {name} names, which is not set");
    }
    found
}

/// `line` with some bytes changed, dropped, doubled, moved or cut: what a broken disk, editor or script produces.
pub fn mutate(line: &[u8], rng: &mut Rng) -> Vec<u8> {
    const SPLICES: &[&[u8]] = &[
        b"(",
        b")",
        b"\t",
        b" ",
        b"\n",
        b"-",
        b"|||",
        b"\0",
        b"\xff",
        b"1e999",
        b"-",
        b"\xe6\x96",
        b"99999999999",
        b"",
    ];
    let mut bytes = line.to_vec();
    for _ in 0..1 + rng.below(4) {
        let at = rng.below(bytes.len() + 1);
        let length = rng.below(8).min(bytes.len() - at);
        match rng.below(6) {
            0 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << rng.below(8);
                }
            }
            1 => {
                bytes.drain(at..at + length);
            }
            2 => {
                let piece = bytes[at..at + length].to_vec();
                let to = rng.below(bytes.len() + 1);
                bytes.splice(to..to, piece);
            }
            3 => bytes.truncate(at),
            4 => {
                bytes.splice(at..at, rng.pick(SPLICES).iter().copied());
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = rng.next_u64() as u8;
                }
            }
        }
    }
    bytes
}

/// A random tree and rules for it, as text.
#[derive(Debug, Clone)]
pub struct Instance {
    /// Penn brackets.
    pub tree: String,
    /// Rules in the notation of `Rule::parse`, with their scores.
    pub rules: Vec<(String, f64)>,
}

#[derive(Debug)]
enum Child {
    Word(usize),
    Node(Box<Node>),
}

#[derive(Debug)]
struct Node {
    label: char,
    children: Vec<Child>,
}

/// A small random tree with one to three rules per node, cut out of the tree itself so that they match.
///
/// Words hang beside nodes, chains of single children occur, target sides may be empty and permute their
/// variables, and four target words for all make recombination common. Some nodes may lack a rule of their own.
pub fn random_instance(rng: &mut Rng) -> Instance {
    let mut words = 0;
    let depth = 2 + rng.below(2);
    let root = random_node(rng, depth, &mut words);
    let mut rules = Vec::new();
    let mut nodes = vec![&root];
    while let Some(node) = nodes.pop() {
        for _ in 0..*rng.pick(&[1, 1, 2, 3]) {
            rules.push(random_rule(node, rng));
        }
        nodes.extend(node.children.iter().filter_map(|child| match child {
            Child::Node(node) => Some(&**node),
            Child::Word(_) => None,
        }));
    }
    // Now and then a node loses all its rules and lives only inside larger ones.
    if rng.chance(0.2) {
        let drop = rng.below(rules.len());
        rules.remove(drop);
    }
    let mut tree = String::new();
    show(&root, &mut tree);
    Instance { tree, rules }
}

fn random_node(rng: &mut Rng, depth: usize, words: &mut usize) -> Node {
    let label = *rng.pick(&['A', 'B', 'C']);
    let mut word = || {
        *words += 1;
        Child::Word(*words)
    };
    if depth == 0 || rng.chance(0.25) {
        return Node { label, children: vec![word()] };
    }
    let mut children = Vec::new();
    for _ in 0..*rng.pick(&[1, 2, 2, 3]) {
        children.push(if rng.chance(0.15) {
            *words += 1;
            Child::Word(*words)
        } else {
            Child::Node(Box::new(random_node(rng, depth - 1, words)))
        });
    }
    Node { label, children }
}

fn show(node: &Node, out: &mut String) {
    out.push_str(&format!("({}", node.label));
    for child in &node.children {
        out.push(' ');
        match child {
            Child::Word(number) => out.push_str(&format!("w{number}")),
            Child::Node(node) => show(node, out),
        }
    }
    out.push(')');
}

fn random_rule(node: &Node, rng: &mut Rng) -> (String, f64) {
    let mut variables = 0;
    let source = treelet(node, rng, &mut variables);
    let mut target: Vec<String> = (1..=variables).map(|number| format!("x{number}")).collect();
    rng.shuffle(&mut target);
    for _ in 0..*rng.pick(&[0, 0, 1, 1, 2, 3]) {
        let at = rng.below(target.len() + 1);
        target.insert(at, rng.pick(&["a", "b", "c", "d"]).to_string());
    }
    let score = -(1.0 + rng.below(2999) as f64) / 1000.0;
    (format!("{source} -> {}", target.join(" ")).trim_end().to_string(), score)
}

fn treelet(node: &Node, rng: &mut Rng, variables: &mut usize) -> String {
    let parts: Vec<String> = node
        .children
        .iter()
        .map(|child| match child {
            Child::Word(number) => format!("w{number}"),
            Child::Node(node) if rng.chance(0.7) => {
                *variables += 1;
                format!("x{variables}:{}", node.label)
            }
            Child::Node(node) => treelet(node, rng, variables),
        })
        .collect();
    format!("{}({})", node.label, parts.join(" "))
}
