//! A parser that is fed word by word, for decoders that grow many sentences side by side.
//!
//! States live in an arena and are named by number; extending one never changes it, so different continuations share
//! what they have in common. With a lookahead of 0 a word is shifted as soon as it comes and then reduced any number
//! of times, with the next word unknown. With a lookahead of 1 the reductions that follow a word wait until the next
//! word comes (`delayed`). Either way the score of a sentence and its structure depends on the words alone, not on how
//! they arrived, and is exactly the score that the batch parser gives to the same actions.

use crate::dependency::features;
use crate::dependency::system::{Around, Atom, DependencySystem, Item, LEFT, Queue, RIGHT, SHIFT};
use crate::lexicon::Word;
use crate::machine::Rows;
use crate::machine::beam::Weights;
use crate::machine::system::MAX_ACTIONS;
use crate::model::{Body, Parser};

/// A state of a [`WordByWord`] parser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateId(pub u32);

/// A word with its part of speech, as the parser sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IncomingWord(Atom);

#[derive(Debug, Clone, Copy)]
struct Kept {
    item: Item,
    below: u32,
    score: i64,
    words: u32,
    reductions: u32,
    previous: u32,
    action: u8,
}

/// Feeds sentences to a dependency parser word by word.
#[derive(Debug)]
pub struct WordByWord<'p> {
    parser: &'p Parser,
    system: &'p DependencySystem,
    rows: &'p Rows,
    states: Vec<Kept>,
}

impl Parser {
    /// A word-by-word parser. `None` for parsers of another kind, and for those that look further than one word ahead.
    pub fn word_by_word(&self) -> Option<WordByWord<'_>> {
        let Body::Dependency { system, rows, .. } = &self.body else { return None };
        (system.lookahead <= 1).then(|| WordByWord::new(self, system, rows))
    }
}

impl<'p> WordByWord<'p> {
    fn new(parser: &'p Parser, system: &'p DependencySystem, rows: &'p Rows) -> Self {
        let start = Kept {
            item: Item::default(),
            below: 0,
            score: 0,
            words: 0,
            reductions: 0,
            previous: 0,
            action: SHIFT,
        };
        Self { parser, system, rows, states: vec![start] }
    }

    /// The state before the first word.
    pub fn start(&self) -> StateId {
        StateId(0)
    }

    /// Forgets all states but the first.
    pub fn clear(&mut self) {
        self.states.truncate(1);
    }

    /// A word, with the part of speech that the tagger gives it out of context: a function of the word, so that it
    /// adds nothing to a state.
    pub fn word(&self, text: &str) -> IncomingWord {
        let word = self.form(text);
        let tag = self.parser.tagger.tag(&[word], &mut crate::machine::Search::new());
        self.incoming(&word, tag.first().copied().unwrap_or(0))
    }

    /// A word with one of the parser's parts of speech, by number (see [`Parser::tags`]).
    pub fn tagged_word(&self, text: &str, tag: u8) -> IncomingWord {
        self.incoming(&self.form(text), tag)
    }

    /// A word as the treebank writes it; without its sentence, a quotation mark always opens.
    fn form(&self, text: &str) -> Word {
        self.parser.atoms(&[text]).first().copied().unwrap_or_default()
    }

    fn incoming(&self, word: &Word, tag: u8) -> IncomingWord {
        IncomingWord(Atom::new(word, tag, self.parser.tags.group(tag)))
    }

    /// The sum of the scores of all actions that led to a state.
    pub fn score(&self, state: StateId) -> i64 {
        self.states[state.0 as usize].score
    }

    /// How many reductions led to a state: states of one sentence that agree in it can be compared.
    pub fn reductions(&self, state: StateId) -> u32 {
        self.states[state.0 as usize].reductions
    }

    /// How many words a state has seen.
    pub fn words(&self, state: StateId) -> u32 {
        self.states[state.0 as usize].words
    }

    /// How many partial trees lie on the stack: words minus reductions.
    pub fn stack_size(&self, state: StateId) -> u32 {
        self.words(state) - self.reductions(state)
    }

    /// All that decides the future of a state, in one number: states with the same signature get the same scores for
    /// the same actions from here on.
    pub fn signature(&self, state: StateId) -> u64 {
        use sylvan_base::hash::fold;
        let mut hash = 0;
        let mut at = state.0;
        while at != 0 {
            let kept = &self.states[at as usize];
            hash = fold(hash, kept.item.digest());
            at = kept.below;
        }
        hash
    }

    /// The heads of the words of a state: `None` for those that have none yet. Positions count from 0.
    pub fn heads(&self, state: StateId) -> Vec<Option<u32>> {
        let mut actions = Vec::new();
        let mut at = state.0;
        while at != 0 {
            actions.push(self.states[at as usize].action);
            at = self.states[at as usize].previous;
        }
        actions.reverse();
        crate::dependency::system::heads(&actions, self.words(state) as usize)
    }

    /// The states that a state can become by the next word, best first, at most `most` for each number of reductions.
    pub fn advance(&mut self, state: StateId, word: IncomingWord, most: usize) -> Vec<StateId> {
        if self.system.lookahead == 0 {
            let shifted = self.act(state.0, SHIFT, word.0, word.0);
            self.reduce_all(shifted, Atom::default(), most, 0)
        } else {
            let before = self.reduce_all(state.0, word.0, most, 0);
            let mut after: Vec<StateId> =
                before.into_iter().map(|state| StateId(self.act(state.0, SHIFT, word.0, word.0))).collect();
            self.sort(&mut after);
            after
        }
    }

    /// The finished states that a state can become when no more words come, best first: one tree each.
    pub fn finish(&mut self, state: StateId, most: usize) -> Vec<StateId> {
        if self.words(state) == 0 {
            return vec![state];
        }
        let mut done = self.reduce_all(state.0, Atom::default(), most, self.words(state) - 1);
        done.retain(|&state| self.stack_size(state) == 1);
        done
    }

    /// The state itself and all that reductions make of it, at least `least` in all, best first.
    fn reduce_all(&mut self, from: u32, q0: Atom, most: usize, least: u32) -> Vec<StateId> {
        let mut all = Vec::new();
        let mut layer = vec![StateId(from)];
        while !layer.is_empty() {
            all.extend(layer.iter().copied().filter(|&state| self.reductions(state) >= least));
            let mut next = Vec::new();
            for state in layer {
                if self.stack_size(state) >= 2 {
                    next.extend([LEFT, RIGHT].map(|action| StateId(self.act(state.0, action, q0, q0))));
                }
            }
            self.sort(&mut next);
            next.truncate(most.max(1));
            layer = next;
        }
        self.sort(&mut all);
        all
    }

    fn sort(&self, states: &mut [StateId]) {
        states.sort_by_key(|&state| (std::cmp::Reverse(self.score(state)), state));
    }

    /// The state after one action.
    fn act(&mut self, at: u32, action: u8, q0: Atom, shifted: Atom) -> u32 {
        let kept = self.states[at as usize];
        let s1 = self.states[kept.below as usize];
        let s2 = &self.states[s1.below as usize].item;
        let mut queue = Queue { shifted, ..Queue::default() };
        if self.system.lookahead > 0 {
            queue.words[0] = q0;
        }
        let mut keys = Vec::new();
        features::keys(self.system, [&kept.item, &s1.item, s2], &queue, &mut keys);
        let mut scores = [0; MAX_ACTIONS];
        self.rows.add(&keys, &mut scores);
        let (item, below) = match action {
            SHIFT => (Item::word(shifted, kept.words as usize, Around::default()), at),
            LEFT => (kept.item.take_left(&s1.item), s1.below),
            _ => (s1.item.take_right(&kept.item), s1.below),
        };
        self.states.push(Kept {
            item,
            below,
            score: kept.score + i64::from(scores[usize::from(action)]),
            words: kept.words + u32::from(action == SHIFT),
            reductions: kept.reductions + u32::from(action == LEFT || action == RIGHT),
            previous: at,
            action,
        });
        self.states.len() as u32 - 1
    }
}
