//! What each decision sees of the stack, from most to least. A context knows nothing that the one before it does not:
//! back-off relies on it.

use sylvan_base::hash::fold;

use super::super::Top;
use super::GenerativeTree;

/// How many contexts a decision has; the last one is always seen.
pub(super) const LEVELS: usize = 5;

/// Contexts as numbers, each different from those of other levels and decisions.
pub(super) type Contexts = [u64; LEVELS];

/// Which actions are possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Legal {
    /// The stack is empty.
    Shift,
    /// One tree: the sentence may be over.
    ShiftOrEnd,
    /// Two or more.
    ShiftOrReduce,
}

impl Legal {
    pub(super) fn of(top: Top<'_, GenerativeTree>) -> Self {
        match top {
            [None, ..] => Self::Shift,
            [_, None, _] => Self::ShiftOrEnd,
            _ => Self::ShiftOrReduce,
        }
    }

    /// That of the context that sees nothing else.
    pub(super) fn of_context(context: u64) -> Self {
        let is = |legal: &Self| context == last_action_context(*legal);
        [Self::Shift, Self::ShiftOrEnd].into_iter().find(is).unwrap_or(Self::ShiftOrReduce)
    }

    /// The logarithm of one in as many.
    pub(super) fn uniform(self) -> f64 {
        match self {
            Self::Shift => 0.0,
            Self::ShiftOrEnd => -std::f64::consts::LN_2,
            Self::ShiftOrReduce => -(3f64.ln()),
        }
    }
}

/// What is seen of one tree.
struct Seen {
    word: u64,
    tag: u64,
    /// Parts of speech of the outermost children.
    children: u64,
}

fn see(tree: Option<&GenerativeTree>) -> Seen {
    tree.map_or(Seen { word: u64::MAX, tag: 0xFFFF, children: 0 }, |tree| Seen {
        word: u64::from(tree.word.id),
        tag: u64::from(tree.word.tag),
        children: u64::from(tree.left) << 8 | u64::from(tree.right),
    })
}

fn context(decision: u64, level: u64, parts: &[u64]) -> u64 {
    parts.iter().fold(fold(decision, level + 1), |all, &part| fold(all, part))
}

/// For the choice of an action.
pub(super) fn action_contexts(top: Top<'_, GenerativeTree>) -> Contexts {
    let legal = Legal::of(top) as u64;
    let [s0, s1, s2] = top.map(see);
    let below = s1.children & 0xFF;
    [
        context(1, 0, &[legal, s0.tag, s0.children, s1.tag, s1.children, s2.tag, s0.word, s1.word]),
        context(1, 1, &[legal, s0.tag, s0.children, s1.tag, below, s2.tag, s0.word]),
        context(1, 2, &[legal, s0.tag, s0.children, s1.tag, below, s2.tag]),
        context(1, 3, &[legal, s0.tag, s1.tag]),
        last_action_context(Legal::of(top)),
    ]
}

fn last_action_context(legal: Legal) -> u64 {
    context(1, 4, &[legal as u64])
}

/// For the choice of a word.
pub(super) fn word_contexts(top: Top<'_, GenerativeTree>) -> Contexts {
    let [s0, s1, _] = top.map(see);
    let last = s0.children & 0xFF;
    [
        context(2, 0, &[s0.word, s0.tag, s0.children, s1.word, s1.tag]),
        context(2, 1, &[s0.word, s0.tag, s0.children, s1.tag]),
        context(2, 2, &[s0.word, s0.tag, last]),
        context(2, 3, &[s0.tag, last]),
        context(2, 4, &[]),
    ]
}
