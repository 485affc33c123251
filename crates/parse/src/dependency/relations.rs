//! Relations, once the tree is there: a transition system that names the arc above each word, left to right.
//!
//! Naming arcs after the parse instead of during it keeps the parser's rows short, and each name can look at the whole
//! tree; and the unlabelled parser is what a structured language model needs. In one comparison it also found more
//! heads (docs/notes/parsing.md).

use crate::lexicon::Word;
use crate::machine::{ActionSet, Effect, System, Templates, View};

/// A sentence with its heads, and with what was put aside before each word.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    /// The features of each word's arc; of what is decided here they depend only on the previous relation.
    keys: Vec<Vec<u64>>,
}

const ARC: u64 = 5000;
const HISTORY: u64 = 5100;

impl Tree {
    pub(crate) fn new(words: &[Word], tags: &[u8], heads: &[Option<u32>], marks: &[u32]) -> Self {
        let length = words.len();
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); length];
        for (word, head) in heads.iter().enumerate() {
            if let Some(head) = head {
                children[*head as usize].push(word as u32);
            }
        }
        let tag = |at: Option<usize>| at.and_then(|at| tags.get(at)).map_or(0, |&tag| u64::from(tag) + 1);
        let form = |at: Option<usize>| at.and_then(|at| words.get(at)).map_or(0, |word| word.low);
        let keys = (0..length).map(|d| {
            let mut keys = Vec::new();
            let head = heads[d].map(|head| head as usize);
            let (dw, dt) = (form(Some(d)), tag(Some(d)));
            let (hw, ht) = (form(head), tag(head));
            let direction = match head {
                None => 0,
                Some(head) if head < d => 1,
                Some(_) => 2,
            };
            let apart = head.map_or(0, |head| head.abs_diff(d).min(7) as u64);
            let mine = &children[d];
            let first = mine.first().map(|&child| child as usize);
            let last = mine.last().map(|&child| child as usize);
            // The neighbours among the children of the head.
            let siblings: &[u32] = head.map_or(&[], |head| &children[head]);
            let place = siblings.iter().position(|&child| child as usize == d);
            let sibling = |offset: isize| {
                let at = place.and_then(|place| place.checked_add_signed(offset))?;
                siblings.get(at).map(|&child| child as usize)
            };
            let same_side = |at: &&u32| head.is_some_and(|head| (**at as usize) < head) == (direction == 2);
            let rank = siblings.iter().filter(same_side).position(|&child| child as usize == d);
            let rank = rank.map_or(0, |rank| rank.min(5) as u64 + 1);
            let grand = head.and_then(|head| heads[head]).map(|grand| grand as usize);
            let (previous, next) = (d.checked_sub(1), Some(d + 1));
            let pair = ht << 20 | dt << 10 | direction;
            let word = &words[d];
            let mut f = Templates::new(&mut keys, ARC);
            f.one(direction);
            f.two(dt, direction);
            f.two(dw, direction);
            f.two(hw, direction);
            f.one(pair);
            f.two(hw, pair);
            f.two(dw, pair);
            f.three(hw, dw, direction);
            f.two(pair, apart);
            f.two(pair, rank);
            f.two(pair, tag(first));
            f.two(pair, tag(last));
            f.two(dw, form(first));
            f.two(pair, form(first));
            f.two(pair, form(last));
            f.two(pair, tag(sibling(-1)));
            f.two(pair, tag(sibling(1)));
            f.two(pair, form(sibling(1)));
            f.two(pair, tag(grand));
            f.two(pair, tag(previous));
            f.two(pair, tag(next));
            f.two(pair, form(previous));
            f.two(pair, form(next));
            f.two(pair, word.suffixes[2]);
            f.two(pair, word.shape);
            f.two(pair, mine.len().min(4) as u64);
            f.three(dw, tag(next), direction);
            f.three(hw, dt, form(first));
            f.three(dw, hw, apart);
            f.two(pair, (siblings.len().min(6) as u64) << 4 | rank);
            f.three(pair, tag(first), tag(last));
            f.two(pair, u64::from(marks[d]));
            f.three(pair, u64::from(marks[d]), tag(first));
            f.two(pair, u64::from(marks[d + 1]));
            keys
        });
        Self { keys: keys.collect() }
    }
}

/// The transition system. An item is a relation, plus 1.
#[derive(Debug, Clone)]
pub(crate) struct RelationSystem {
    pub(crate) relations: usize,
}

impl System for RelationSystem {
    type Sentence = Tree;
    type Item = u8;

    fn steps(&self, tree: &Tree) -> usize {
        tree.keys.len()
    }

    fn actions(&self) -> usize {
        self.relations
    }

    fn legal(&self, _: &Tree, _: View<'_, u8>) -> ActionSet {
        ActionSet::first(self.relations)
    }

    fn shared_keys(&self, tree: &Tree, step: usize, keys: &mut Vec<u64>) {
        keys.extend_from_slice(&tree.keys[step]);
    }

    fn keys(&self, tree: &Tree, view: View<'_, u8>, keys: &mut Vec<u64>) {
        let [before, second] = view.items();
        let arc = tree.keys[view.step][4];
        let mut f = Templates::new(keys, HISTORY);
        f.two(arc, u64::from(*before));
        f.three(arc, u64::from(*before), u64::from(*second));
    }

    fn digest(&self, relation: &u8, _: usize) -> u64 {
        u64::from(*relation)
    }

    fn apply(&self, _: &Tree, _: View<'_, u8>, action: u8) -> Effect<u8> {
        Effect::Push(action + 1)
    }
}
