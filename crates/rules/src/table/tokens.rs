//! The dictionary of source tokens: each `NP` with two children, each variable `x:NP`, each word gets a number.
//!
//! The trie then compares single numbers, and what a tree node can be in a treelet is looked up once per
//! sentence, not once per partial match.

use sylvan_base::{HashMap, Id, Symbol};
use sylvan_store::Section;

use crate::Source;

/// A token's number; numbers are given in order of first appearance.
pub(crate) type TokenId = u32;

/// No such token: the grammar has no rule with it.
pub(crate) const NO_TOKEN: TokenId = u32::MAX;

/// One token in a file: kind in the two highest bits of the first number, child count below; then the symbol.
pub(crate) type PackedToken = [u32; 2];

const OPEN: u32 = 0;
const WORD: u32 = 1;
const VAR: u32 = 2;
const KIND_SHIFT: u32 = 30;

pub(crate) fn pack(token: Source) -> PackedToken {
    match token {
        Source::Open(label, children) => {
            [(OPEN << KIND_SHIFT) | children.min((1 << KIND_SHIFT) - 1), label.0]
        }
        Source::Word(word) => [WORD << KIND_SHIFT, word.0],
        Source::Var(label) => [VAR << KIND_SHIFT, label.0],
    }
}

/// `None` if the file is damaged.
fn unpack([first, symbol]: PackedToken) -> Option<Source> {
    let symbol = Symbol(symbol);
    match first >> KIND_SHIFT {
        OPEN => Some(Source::Open(symbol, first)),
        WORD => Some(Source::Word(symbol)),
        VAR => Some(Source::Var(symbol)),
        _ => None,
    }
}

/// Gives numbers to tokens.
#[derive(Debug, Clone, Default)]
pub(crate) struct TokenInterner {
    tokens: Vec<Source>,
    /// Words and variables by symbol, 0 for none, else the number and 1.
    words: Vec<u32>,
    variables: Vec<u32>,
    opens: HashMap<(Symbol, u32), TokenId>,
}

impl TokenInterner {
    /// The number of a token, which is added if it is new.
    #[inline]
    pub(crate) fn intern(&mut self, token: Source) -> TokenId {
        let slot = match token {
            Source::Open(label, children) => {
                let next = self.tokens.len() as u32;
                let id = *self.opens.entry((label, children)).or_insert(next);
                if id == next {
                    self.tokens.push(token);
                }
                return id;
            }
            Source::Word(word) => at(&mut self.words, word),
            Source::Var(label) => at(&mut self.variables, label),
        };
        if *slot == 0 {
            self.tokens.push(token);
            *slot = self.tokens.len() as u32;
        }
        *slot - 1
    }

    /// All tokens by their number.
    pub(crate) fn tokens(&self) -> &[Source] {
        &self.tokens
    }

    /// The sections that [`Tokens`] reads.
    pub(crate) fn freeze(&self) -> Tokens {
        let mut opens: Vec<[u32; 3]> = self.opens.iter().map(|(&(label, n), &id)| [label.0, n, id]).collect();
        opens.sort_unstable();
        Tokens {
            tokens: Section::from_vec(self.tokens.iter().map(|&token| pack(token)).collect()),
            words: Section::from_vec(self.words.clone()),
            variables: Section::from_vec(self.variables.clone()),
            opens: Section::from_vec(opens),
        }
    }
}

fn at(slots: &mut Vec<u32>, symbol: Symbol) -> &mut u32 {
    if slots.len() <= symbol.index() {
        slots.resize(symbol.index() + 1, 0);
    }
    &mut slots[symbol.index()]
}

/// The dictionary, from memory or from a file.
#[derive(Debug, Clone)]
pub(crate) struct Tokens {
    pub(crate) tokens: Section<PackedToken>,
    pub(crate) words: Section<u32>,
    pub(crate) variables: Section<u32>,
    /// Label, number of children and token, sorted.
    pub(crate) opens: Section<[u32; 3]>,
}

impl Tokens {
    /// The token of a word, or [`NO_TOKEN`].
    #[inline]
    pub(crate) fn word(&self, word: Symbol) -> TokenId {
        self.words.get(word.index()).map_or(NO_TOKEN, |&slot| slot.wrapping_sub(1))
    }

    /// The token of a variable.
    #[inline]
    pub(crate) fn variable(&self, label: Symbol) -> TokenId {
        self.variables.get(label.index()).map_or(NO_TOKEN, |&slot| slot.wrapping_sub(1))
    }

    /// The token of an expanded node.
    #[inline]
    pub(crate) fn open(&self, label: Symbol, children: u32) -> TokenId {
        let key = (label.0, children);
        match self.opens.binary_search_by(|open| (open[0], open[1]).cmp(&key)) {
            Ok(place) => self.opens[place][2],
            Err(_) => NO_TOKEN,
        }
    }

    /// What a number stands for; `None` out of range or where the file is damaged.
    pub(crate) fn token(&self, id: TokenId) -> Option<Source> {
        unpack(*self.tokens.get(id as usize)?)
    }
}
