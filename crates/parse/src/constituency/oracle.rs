//! From trees to actions and back.

use sylvan_base::{HashMap, Id, Symbol, Vocab};
use sylvan_trees::{Child, Heads, NodeId, Tree, TreeBuilder};

use super::labels::{Counts, JOINT, Labels, NONE};
use super::system::{JOIN_LEFT, JOIN_RIGHT, SHIFT};

/// A tree as the parser sees it: unary chains are one label, words have tags.
pub(crate) struct Plan {
    /// Per node of the tree the chain that ends in it, if it is the lowest of its chain and no part of speech.
    chains: HashMap<NodeId, String>,
    /// What is entered first: the lowest node of the topmost chain, or a word.
    top: Unit,
    /// The tag of each word; words beside nodes have none.
    pub(crate) tags: Vec<Option<Symbol>>,
}

#[derive(Debug, Clone, Copy)]
enum Unit {
    /// A node with at least two children.
    Phrase(NodeId),
    /// A word, by the node above whose chain it carries, if there is one.
    Word(Option<NodeId>),
}

impl Plan {
    pub(crate) fn of(tree: &Tree, vocab: &Vocab) -> Self {
        let mut tags = vec![None; tree.words().len()];
        for node in tree.nodes() {
            if let &[Child::Leaf(word)] = tree.children(node) {
                tags[word as usize] = Some(tree.label(node));
            }
        }
        let mut plan = Self { chains: HashMap::default(), top: Unit::Word(None), tags };
        plan.top = plan.follow(tree, vocab, Child::Node(tree.root()));
        for node in tree.nodes().filter(|&node| tree.children(node).len() > 1) {
            for &child in tree.children(node) {
                plan.follow(tree, vocab, child);
            }
        }
        plan
    }

    /// Follows a chain down from its topmost member to a phrase or a word, and notes its label there.
    fn follow(&mut self, tree: &Tree, vocab: &Vocab, child: Child) -> Unit {
        let (mut name, mut at, mut lowest) = (String::new(), child, None);
        loop {
            match at {
                Child::Leaf(_) => {
                    if let Some(lowest) = lowest {
                        self.chains.insert(lowest, name);
                    }
                    return Unit::Word(lowest);
                }
                Child::Node(node) => {
                    // A part of speech is no part of the chain.
                    if let &[Child::Leaf(word)] = tree.children(node) {
                        at = Child::Leaf(word);
                        continue;
                    }
                    if !name.is_empty() {
                        name.push(JOINT);
                    }
                    name.push_str(&vocab.text(tree.label(node)).replace([JOINT, '\n'], "_"));
                    lowest = Some(node);
                    match tree.children(node) {
                        &[only] => at = only,
                        _ => {
                            self.chains.insert(node, name);
                            return Unit::Phrase(node);
                        }
                    }
                }
            }
        }
    }

    fn unit(&self, tree: &Tree, child: Child) -> Unit {
        let (mut at, mut lowest) = (child, None);
        loop {
            match at {
                Child::Leaf(_) => return Unit::Word(lowest),
                Child::Node(node) => match *tree.children(node) {
                    [Child::Leaf(_)] => return Unit::Word(lowest),
                    [only] => (at, lowest) = (only, Some(node)),
                    _ => return Unit::Phrase(node),
                },
            }
        }
    }

    /// Counts the labels of this tree.
    pub(crate) fn count(&self, tree: &Tree, counts: &mut Counts) {
        for node in tree.nodes() {
            if let Some(name) = self.chains.get(&node) {
                let over_phrase = usize::from(tree.children(node).len() > 1);
                counts.entry(name.clone()).or_default()[over_phrase] += 1;
            }
        }
    }

    /// The actions that build the tree; `None` if a label is not among the model's.
    pub(crate) fn actions(&self, tree: &Tree, heads: &Heads, labels: &Labels) -> Option<Vec<u8>> {
        let mut actions = Vec::with_capacity(tree.words().len() * 4);
        // Phrases that are entered: the node and how many of its children are done.
        let mut path: Vec<(NodeId, usize)> = Vec::new();
        let mut next = Some(self.top);
        loop {
            match next.take() {
                Some(Unit::Phrase(node)) => {
                    path.push((node, 0));
                    next = Some(self.unit(tree, tree.children(node)[0]));
                    continue;
                }
                Some(Unit::Word(lowest)) => {
                    actions.push(SHIFT);
                    actions.push(match lowest.and_then(|node| self.chains.get(&node)) {
                        Some(name) => labels.complete(name, true)?,
                        None => NONE,
                    });
                }
                None => {}
            }
            // A unit is done: it is child number `done` of the innermost open phrase.
            let Some(&mut (node, ref mut done)) = path.last_mut() else { return Some(actions) };
            let children = tree.children(node);
            let head = heads.child[node] as usize;
            let complete = labels.complete(self.chains.get(&node)?, false)?;
            let mut join = |action: u8, parts: usize| {
                actions.push(action);
                actions.push(if parts == children.len() { complete } else { labels.open_of(complete) });
            };
            match (*done).cmp(&head) {
                std::cmp::Ordering::Less => {}
                std::cmp::Ordering::Equal => (2..head + 2).for_each(|parts| join(JOIN_RIGHT, parts)),
                std::cmp::Ordering::Greater => join(JOIN_LEFT, *done + 1),
            }
            *done += 1;
            match children.get(*done) {
                Some(&child) => next = Some(self.unit(tree, child)),
                None => {
                    path.pop();
                }
            }
        }
    }
}

/// What was built: a node of a growing tree.
enum Built {
    Word(u32),
    /// An open or finished node and its parts.
    Phrase {
        label: u8,
        parts: Vec<u32>,
    },
}

/// The tree that actions build over words with tags. The actions must be legal and complete.
pub(crate) fn build(
    actions: &[u8],
    labels: &Labels,
    words: &[Symbol],
    tags: &[Symbol],
    vocab: &mut Vocab,
) -> Option<Tree> {
    let mut built: Vec<(Built, u8)> = Vec::new();
    let mut stack: Vec<u32> = Vec::new();
    let mut word = 0;
    for pair in actions.chunks_exact(2) {
        let (action, label) = (pair[0], pair[1]);
        let node = if action == SHIFT {
            word += 1;
            Built::Word(word - 1)
        } else {
            let (right, left) = (stack.pop()?, stack.pop()?);
            // An open part gives its parts to the whole.
            let mut parts = Vec::new();
            for part in [left, right] {
                match &mut built[part as usize] {
                    (Built::Phrase { label, parts: inner }, _) if labels.is_open(*label) => {
                        if parts.is_empty() {
                            parts = std::mem::take(inner);
                        } else {
                            parts.append(inner);
                        }
                    }
                    _ => parts.push(part),
                }
            }
            Built::Phrase { label, parts }
        };
        stack.push(built.len() as u32);
        built.push((node, label));
    }
    let &[root] = stack.as_slice() else { return None };
    let names: Vec<Vec<Symbol>> = (0..labels.len())
        .map(|label| labels.chain(label as u8).map(|name| vocab.intern(name)).collect())
        .collect();
    enum Task {
        Enter(u32),
        Close,
    }
    let mut builder = TreeBuilder::new();
    let mut tasks = vec![Task::Enter(root)];
    while let Some(task) = tasks.pop() {
        let Task::Enter(at) = task else {
            builder.close();
            continue;
        };
        let (node, label) = &built[at as usize];
        for &name in &names[usize::from(*label)] {
            builder.open(name);
            tasks.push(Task::Close);
        }
        match node {
            Built::Word(position) => {
                let position = *position as usize;
                builder.open(*tags.get(position)?);
                builder.leaf(*words.get(position)?);
                builder.close();
            }
            Built::Phrase { parts, .. } => tasks.extend(parts.iter().rev().map(|&part| Task::Enter(part))),
        }
    }
    let tree = builder.finish().ok()?;
    debug_assert!(tree.root().index() + 1 == tree.len());
    Some(tree)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constituency::system::{ConstituencySystem, Sentence};
    use crate::lexicon::Word;
    use crate::machine::system::{View, advance, initial};
    use crate::machine::{ActionSet, System};
    use sylvan_base::Rng;
    use sylvan_trees::{HeadRules, penn};

    fn tree(line: &str, vocab: &mut Vocab) -> Tree {
        penn::parse_line(line, penn::Brackets::Keep, vocab).unwrap().unwrap()
    }

    /// Actions of a tree, each of them checked to be legal; and the tree they build.
    fn round(tree: &Tree, vocab: &mut Vocab) -> (Vec<u8>, Tree) {
        let plan = Plan::of(tree, vocab);
        let mut counts = Counts::default();
        plan.count(tree, &mut counts);
        let labels = Labels::new(&counts);
        let actions = plan.actions(tree, &HeadRules::english().heads(tree, vocab), &labels).unwrap();
        let length = tree.words().len();
        let sentence = Sentence::new(&vec![Word::default(); length], &vec![0; length]);
        let system = ConstituencySystem { labels };
        assert_eq!(system.steps(&sentence), actions.len());
        let mut states = vec![initial()];
        for (step, &action) in actions.iter().enumerate() {
            let view = View { states: &states, at: step as u32, step };
            assert!(system.legal(&sentence, view).contains(action), "{} at {step}", tree.to_penn(vocab));
            states.push(advance(&system, &sentence, view, action, 0));
        }
        let tags: Vec<Symbol> = plan.tags.iter().map(|tag| tag.unwrap()).collect();
        let built = build(&actions, &system.labels, tree.words(), &tags, vocab).unwrap();
        (actions, built)
    }

    #[test]
    fn trees_survive_their_actions() {
        let mut vocab = Vocab::new();
        for line in [
            "(S (NP (PRP he)) (VP (VBZ sees) (NP (DT the) (JJ old) (NN man) (PP (IN of) (NP (NN war))))) (. .))",
            "(NN a)",
            "(X (NP (NN a)))",
            "(S (S (VP (VP (VB a) (NP (X (NN b)))))) (CC c) (S (NN d)))",
            "(NP (DT a) (JJ b) (JJ c) (NN d) (PP (IN e)) (PP (IN f)) (. g))",
        ] {
            let tree = tree(line, &mut vocab);
            let (_, built) = round(&tree, &mut vocab);
            assert_eq!(built.to_penn(&vocab), line);
        }
    }

    /// A random tree over `words` words: parts are joined at random until one is left.
    fn random_tree(words: usize, rng: &mut Rng) -> String {
        let mut parts: Vec<String> = (0..words).map(|word| format!("(T{} w{word})", rng.below(3))).collect();
        while parts.len() > 1 || rng.chance(0.3) {
            let count = (1 + rng.below(4)).min(parts.len());
            let at = rng.below(parts.len() - count + 1);
            let label = *rng.pick(&["S", "VP", "NP", "PP"]);
            let joined = format!("({label} {})", parts[at..at + count].join(" "));
            parts.splice(at..at + count, [joined]);
        }
        parts.swap_remove(0)
    }

    #[test]
    fn random_trees_survive_their_actions() {
        let mut rng = Rng::new(1);
        for round_number in 0..300 {
            let mut vocab = Vocab::new();
            let line = random_tree(1 + round_number % 12, &mut rng);
            let tree = tree(&line, &mut vocab);
            let (_, built) = round(&tree, &mut vocab);
            assert_eq!(built.to_penn(&vocab), line);
        }
    }

    #[test]
    fn whatever_is_legal_leads_to_a_tree() {
        let mut rng = Rng::new(2);
        let counts: Counts = [("NP", [3, 3]), ("S+VP", [1, 2]), ("S", [0, 5]), ("ADJP", [3, 0])]
            .into_iter()
            .map(|(name, counts)| (name.to_string(), counts))
            .collect();
        let system = ConstituencySystem { labels: Labels::new(&counts) };
        for round in 0..2000 {
            let length = 1 + round % 9;
            let sentence = Sentence::new(&vec![Word::default(); length], &vec![0; length]);
            let mut states = vec![initial()];
            for step in 0..system.steps(&sentence) {
                let view = View { states: &states, at: step as u32, step };
                let legal = system.legal(&sentence, view);
                assert_ne!(legal, ActionSet::default(), "stuck at step {step}");
                let choices: Vec<u8> = legal.iter().collect();
                states.push(advance(&system, &sentence, view, *rng.pick(&choices), 0));
            }
            let actions: Vec<u8> = states[1..].iter().map(|state| state.action).collect();
            let mut vocab = Vocab::new();
            let words: Vec<Symbol> = (0..length).map(|word| vocab.intern(&word.to_string())).collect();
            let built = build(&actions, &system.labels, &words, &words, &mut vocab).unwrap();
            assert_eq!(built.words(), words);
        }
    }
}
