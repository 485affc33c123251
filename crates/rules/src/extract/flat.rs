//! Rules without syntax: phrase pairs and Hiero rules, learnt from two sentences and their links.
//!
//! ```text
//! source, target, links --phrases--> phrase pairs ----------------orientation--> phrase occurrences
//!                                              \--hiero: variables--> rule occurrences
//! ```
//!
//! Both are rules of one flat node: `X(w1 w2 ..) -> ..`, with variables `x1:X` if they are Hiero's.

use sylvan_base::Symbol;
use sylvan_corpus::Link;

use super::LinkOutOfRange;
use super::hiero::{HieroConfig, Subtractor};
use super::orientation::{Corners, Orientation, OrientationModel};
use super::phrases::{Boundary, Linked, PhraseLimits, PhrasePair};
use crate::{Rule, Source, TargetSide, WordLink};

/// Which phrase pairs are learnt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhraseConfig {
    /// Source words.
    pub length: u32,
    /// Target words.
    pub target_length: u32,
    /// Whether phrases may begin or end with unlinked words.
    pub boundary: Boundary,
    /// How orientations are counted; not at all without one.
    pub orientation: Option<OrientationModel>,
}

impl Default for PhraseConfig {
    /// As Moses does.
    fn default() -> Self {
        Self {
            length: 7,
            target_length: 7,
            boundary: Boundary::Loose,
            orientation: Some(OrientationModel::Word),
        }
    }
}

/// How rules with gaps that translate from left to right are learnt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeftToRight {
    /// Which; target words come first whatever this says.
    pub rules: HieroConfig,
    /// Whether the orientations of their phrase pairs are counted, and for which model.
    pub reordering: Option<GapReordering>,
}

impl Default for LeftToRight {
    fn default() -> Self {
        Self { rules: HieroConfig::left_to_right(), reordering: None }
    }
}

/// Models of the order of rules with gaps; they differ only in how a decoder finds orientations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GapReordering {
    /// Against the span translated most recently (Siahbani & Sarkar 2017).
    Lrm,
    /// Against the rule before, once the rule that holds both is complete (Nguyen & Vogel 2013).
    Nvlrm,
}

impl GapReordering {
    /// As files and the command line name it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lrm => "lrm",
            Self::Nvlrm => "nvlrm",
        }
    }
}

/// Which flat rules are learnt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlatRules {
    /// Phrase pairs.
    Phrase(PhraseConfig),
    /// Hiero rules.
    Hiero(HieroConfig),
    /// Hiero rules that translate from left to right; target words come first whatever the limits say.
    LeftToRight(LeftToRight),
}

impl FlatRules {
    /// The most symbols that a source side can have.
    pub(crate) fn symbols(&self) -> u32 {
        match self {
            Self::Phrase(config) => config.length,
            Self::Hiero(config) => config.symbols,
            Self::LeftToRight(config) => config.rules.symbols,
        }
    }
}

impl FlatRules {
    /// How rules with variables are learnt.
    pub(crate) fn hiero(&self) -> Option<HieroConfig> {
        match *self {
            Self::Phrase(_) => None,
            Self::Hiero(config) => Some(config),
            Self::LeftToRight(config) => Some(HieroConfig { words_first: true, ..config.rules }),
        }
    }
}

/// Learns the flat rules of one sentence pair after the other and reuses its memory.
#[derive(Debug)]
pub struct FlatExtractor {
    rules: FlatRules,
    linked: Linked,
    corners: Corners,
    pairs: Vec<PhrasePair>,
    subtractor: Subtractor,
}

impl FlatExtractor {
    /// An extractor for such rules.
    pub fn new(rules: FlatRules) -> Self {
        Self {
            rules,
            linked: Linked::default(),
            corners: Corners::default(),
            pairs: Vec::new(),
            subtractor: Subtractor::default(),
        }
    }

    /// Calls `found` with every occurrence of a rule, by the places of their phrase pairs. Links may come in any order;
    /// repeated ones count once.
    pub fn extract(
        &mut self,
        source: &[Symbol],
        target: &[Symbol],
        links: &[Link],
        mut found: impl FnMut(&FlatOccurrence<'_>),
    ) -> Result<(), LinkOutOfRange> {
        self.linked.set(source.len(), target.len(), links)?;
        if self.linked.is_empty() {
            return Ok(());
        }
        let linked = &self.linked;
        let whole = FlatOccurrence {
            source,
            target,
            linked,
            pair: PhrasePair { s1: 0, s2: 0, t1: 0, t2: 0 },
            variables: &[],
            share: 1.0,
            orientations: None,
            corners: None,
        };
        match &self.rules {
            FlatRules::Phrase(config) => {
                let PhraseConfig { length, target_length, boundary, orientation } = *config;
                let limits = PhraseLimits { source: length, target: target_length, boundary };
                linked.pairs(&limits, &mut self.pairs);
                if let Some(model) = orientation {
                    self.corners.set(linked, model, &limits);
                }
                for &pair in &self.pairs {
                    let orientations =
                        orientation.map(|_| (self.corners.previous(&pair), self.corners.next(&pair)));
                    found(&FlatOccurrence { pair, orientations, ..whole });
                }
            }
            FlatRules::Hiero(_) | FlatRules::LeftToRight(_) => {
                let Some(config) = self.rules.hiero() else { return Ok(()) };
                let whole = match self.rules {
                    FlatRules::LeftToRight(LeftToRight { reordering: Some(_), .. }) => {
                        // Neighbours may have any length.
                        self.corners.set(linked, OrientationModel::Hier, &config.limits());
                        FlatOccurrence { corners: Some(&self.corners), ..whole }
                    }
                    _ => whole,
                };
                self.subtractor.each(linked, source, target, &config, |pair, variables, share| {
                    found(&FlatOccurrence { pair, variables, share, ..whole });
                });
            }
        }
        Ok(())
    }
}

/// An occurrence of a flat rule.
#[derive(Debug, Clone, Copy)]
pub struct FlatOccurrence<'a> {
    source: &'a [Symbol],
    target: &'a [Symbol],
    linked: &'a Linked,
    pair: PhrasePair,
    variables: &'a [PhrasePair],
    share: f64,
    orientations: Option<(Orientation, Orientation)>,
    corners: Option<&'a Corners>,
}

/// One symbol of the source side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FlatPlace {
    /// The word at a position.
    Word(u32),
    /// A variable.
    Var,
}

impl FlatOccurrence<'_> {
    /// The phrase pair that it was learnt from.
    pub fn pair(&self) -> PhrasePair {
        self.pair
    }

    /// The phrase pairs that its variables stand for, in source order.
    pub fn variables(&self) -> &[PhrasePair] {
        self.variables
    }

    /// How much of an occurrence it is.
    pub fn share(&self) -> f64 {
        self.share
    }

    /// How it stands to what is translated before and after, if that was asked for.
    pub fn orientations(&self) -> Option<(Orientation, Orientation)> {
        self.orientations
    }

    /// A source word of the sentence.
    pub(crate) fn source_word(&self, position: u32) -> Symbol {
        self.source[position as usize]
    }

    /// Whether phrase pairs stand next to a place in the sentence pair: before it in the same order, in the opposite
    /// order or neither, and the same after it. `None` if that was not asked for.
    pub(crate) fn neighbours(&self, source: (u32, u32), target: (u32, u32)) -> Option<[bool; 6]> {
        let place = PhrasePair { s1: source.0, s2: source.1, t1: target.0, t2: target.1 };
        self.corners.map(|corners| corners.neighbours(&place))
    }

    /// The symbols of the source side.
    pub(crate) fn places(&self) -> impl Iterator<Item = FlatPlace> + '_ {
        let mut at = self.pair.s1;
        let mut variables = self.variables.iter();
        let mut next = variables.next();
        std::iter::from_fn(move || {
            if at >= self.pair.s2 {
                return None;
            }
            Some(match next.filter(|variable| variable.s1 == at) {
                Some(variable) => {
                    at = variable.s2;
                    next = variables.next();
                    FlatPlace::Var
                }
                None => {
                    at += 1;
                    FlatPlace::Word(at - 1)
                }
            })
        })
    }

    /// How many symbols the source side has.
    pub(crate) fn symbols(&self) -> u32 {
        let inside: u32 = self.variables.iter().map(PhrasePair::source_len).sum();
        self.pair.source_len() - inside + self.variables.len() as u32
    }

    /// Reads the target side.
    pub(crate) fn read_target(&self, out: &mut Vec<TargetSide>) {
        out.clear();
        let mut at = self.pair.t1;
        while at < self.pair.t2 {
            match self.variables.iter().position(|variable| variable.t1 == at) {
                Some(number) => {
                    out.push(TargetSide::Var(number as u32));
                    at = self.variables[number].t2;
                }
                None => {
                    out.push(TargetSide::Word(self.target[at as usize]));
                    at += 1;
                }
            }
        }
    }

    /// Reads the links between the rule's words, sorted.
    pub(crate) fn read_links(&self, out: &mut Vec<WordLink>) {
        out.clear();
        let words = self.places().filter_map(|place| match place {
            FlatPlace::Word(position) => Some(position),
            FlatPlace::Var => None,
        });
        for (word, position) in words.enumerate() {
            for link in self.linked.of_source(position) {
                // Phrase pairs are consistent: the other end is a word of the rule.
                let before = self.variables.iter().filter(|variable| variable.t2 <= link.target);
                let inside: u32 = before.map(PhrasePair::target_len).sum();
                out.push((word as u32, link.target - self.pair.t1 - inside));
            }
        }
    }

    /// Links between the rule's words, sorted.
    pub fn links(&self) -> Vec<WordLink> {
        let mut links = Vec::new();
        self.read_links(&mut links);
        links
    }

    /// The rule, under this label.
    pub fn rule(&self, label: Symbol) -> Rule {
        let symbols = self.places().map(|place| match place {
            FlatPlace::Word(position) => Source::Word(self.source[position as usize]),
            FlatPlace::Var => Source::Var(label),
        });
        let source = std::iter::once(Source::Open(label, self.symbols())).chain(symbols).collect();
        let mut target = Vec::new();
        self.read_target(&mut target);
        Rule::new(source, target).expect("phrase pairs with their variables once on each side are rules")
    }
}
