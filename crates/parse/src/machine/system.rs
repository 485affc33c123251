//! What a transition system is to the machine: items on a stack, actions, features.
//!
//! A state is a stack of items, the number of words consumed and a score. States of one sentence lie in one arena;
//! a stack is a chain of states: the item on top belongs to the state itself, the item below it to the state
//! `below`, and so on down to state 0, whose item is the default one and lies below itself. So looking below the
//! bottom gives "nothing" without a test, and a new state costs the same whatever the size of its stack
//! (the graph-structured stack of Tomita 1986, here without sharing).

/// Actions are numbered from 0; there are at most this many.
pub(crate) const MAX_ACTIONS: usize = 256;

/// A set of actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ActionSet([u64; MAX_ACTIONS / 64]);

impl ActionSet {
    /// The actions `0..count`.
    pub(crate) fn first(count: usize) -> Self {
        (0..count).map(|action| action as u8).collect()
    }

    #[inline]
    pub(crate) fn insert(&mut self, action: u8) {
        self.0[action as usize / 64] |= 1 << (action % 64);
    }

    #[inline]
    pub(crate) fn contains(&self, action: u8) -> bool {
        self.0[action as usize / 64] >> (action % 64) & 1 == 1
    }

    /// The actions in increasing order.
    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = u8> + '_ {
        self.0.iter().enumerate().flat_map(|(index, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros();
                rest &= rest.wrapping_sub(1);
                (bit < 64).then(|| index as u8 * 64 + bit as u8)
            })
        })
    }
}

impl FromIterator<u8> for ActionSet {
    fn from_iter<I: IntoIterator<Item = u8>>(actions: I) -> Self {
        let mut set = Self::default();
        for action in actions {
            set.insert(action);
        }
        set
    }
}

/// One state of a search.
#[derive(Debug, Clone, Copy)]
pub(crate) struct State<I> {
    /// The item on top of the stack.
    pub(crate) item: I,
    /// The state whose item lies below this one.
    pub(crate) below: u32,
    /// The state before the last action.
    pub(crate) previous: u32,
    /// How many words are consumed.
    pub(crate) next: u32,
    /// The sum of the scores of all actions so far.
    pub(crate) score: i32,
    /// The last action.
    pub(crate) action: u8,
}

/// What an action does to the stack.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Effect<I> {
    /// A word is consumed and becomes an item on top.
    Push(I),
    /// The two items on top become one.
    Join(I),
    /// The item on top becomes another.
    Change(I),
}

/// A state with its stack, as a transition system sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a, I> {
    pub(crate) states: &'a [State<I>],
    pub(crate) at: u32,
    /// How many actions were taken before.
    pub(crate) step: usize,
}

impl<'a, I: Copy> View<'a, I> {
    /// The state itself.
    #[inline]
    pub(crate) fn state(&self) -> &'a State<I> {
        &self.states[self.at as usize]
    }

    /// How many words are consumed: the position of the next one.
    #[inline]
    pub(crate) fn next(&self) -> usize {
        self.state().next as usize
    }

    /// The topmost items, from the top; the default item where there is none.
    #[inline]
    pub(crate) fn items<const N: usize>(&self) -> [&'a I; N] {
        let mut at = self.at as usize;
        std::array::from_fn(|_| {
            let state = &self.states[at];
            at = state.below as usize;
            &state.item
        })
    }

    /// How many items there are, counted up to `most`.
    #[inline]
    pub(crate) fn depth(&self, most: usize) -> usize {
        let (mut at, mut depth) = (self.at, 0);
        while depth < most && at != 0 {
            at = self.states[at as usize].below;
            depth += 1;
        }
        depth
    }
}

/// A transition system: how a sentence becomes a structure, one action at a time.
///
/// Every sequence of legal actions has the same length for a sentence, so that states of one step can be compared,
/// and never gets stuck.
pub(crate) trait System: Sync {
    /// What is known of a sentence before it is parsed.
    type Sentence: Sync;
    /// What lies on the stack. The default is what is found below the bottom.
    type Item: Copy + Default + Send + Sync;

    /// How many actions a sentence takes.
    fn steps(&self, sentence: &Self::Sentence) -> usize;

    /// How many actions there are in all, at most [`MAX_ACTIONS`].
    fn actions(&self) -> usize;

    /// The actions that may be taken now; at least one before the last step.
    fn legal(&self, sentence: &Self::Sentence, view: View<'_, Self::Item>) -> ActionSet;

    /// The features that all states of a step share; they are scored once per step.
    fn shared_keys(&self, _sentence: &Self::Sentence, _step: usize, _keys: &mut Vec<u64>) {}

    /// The features of a state. An action's score is the sum of its weights in the rows of all of them.
    fn keys(&self, sentence: &Self::Sentence, view: View<'_, Self::Item>, keys: &mut Vec<u64>);

    /// Whether the feature at a place of the list of [`keys`](Self::keys) may have a weight for an action.
    #[inline]
    fn applies(&self, _index: usize, _action: u8) -> bool {
        true
    }

    /// The legal actions that lead to the best result that can still be reached, as far as the right result of the
    /// sentence is known; at least one where one is legal.
    fn good(&self, sentence: &Self::Sentence, view: View<'_, Self::Item>) -> ActionSet {
        self.legal(sentence, view)
    }

    /// How many items from the top features look at. States that agree in those and in the next word have the same
    /// future, whatever lies below.
    fn depth(&self) -> usize {
        4
    }

    /// What distinguishes an item from others in the same place, with `under` items on top of it: items with the same
    /// digest are the same to features. For the topmost item it must include where it begins: what lies below ends
    /// there.
    fn digest(&self, item: &Self::Item, under: usize) -> u64;

    /// What an action does. It must be legal.
    fn apply(&self, sentence: &Self::Sentence, view: View<'_, Self::Item>, action: u8) -> Effect<Self::Item>;
}

/// The state after an action, as it would be added to the arena.
#[inline]
pub(crate) fn advance<S: System>(
    system: &S,
    sentence: &S::Sentence,
    view: View<'_, S::Item>,
    action: u8,
    score: i32,
) -> State<S::Item> {
    let state = view.state();
    let (item, below, next) = match system.apply(sentence, view, action) {
        Effect::Push(item) => (item, view.at, state.next + 1),
        Effect::Join(item) => (item, view.states[state.below as usize].below, state.next),
        Effect::Change(item) => (item, state.below, state.next),
    };
    State { item, below, previous: view.at, next, score, action }
}

/// The state before the first action.
pub(crate) fn initial<I: Default>() -> State<I> {
    State { item: I::default(), below: 0, previous: 0, next: 0, score: 0, action: 0 }
}
