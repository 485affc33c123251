//! The weights of a parser as scores of actions: the model of Yu, Mi, Huang & Liu (2014).
//!
//! Such scores are no probabilities: they have any sign and grow with the number of actions. They are divided by what
//! the parser gives to a word on average, so that a word is worth about 1.

use super::{Actions, Keep, Owing, Parses, Top};
use crate::dependency::features;
use crate::dependency::system::{
    Around, Atom, DependencySystem, Item, LEFT, RIGHT, SHIFT, Sentence, Templates,
};
use crate::machine::Rows;
use crate::machine::beam::{Search, Weights};
use crate::machine::system::MAX_ACTIONS;
use crate::model::{Body, Parser};

/// Words further apart look the same to features.
const FAR: u32 = 16;
/// The distance of the lowest tree to nothing.
const BOTTOM: u32 = FAR + 1;
/// What a word is worth to parsers that do not say.
const USUAL: f64 = 1000.0;
/// The name under which parsers say it.
const SCORE_PER_WORD: &str = "score per word";
/// And what a reduction is worth of it.
const SCORE_PER_REDUCTION: &str = "score per reduction";

/// A dependency parser that looks at most one word ahead.
#[derive(Debug, Clone)]
pub struct Perceptron {
    parser: Parser,
    system: DependencySystem,
    rows: Rows,
    scale: f64,
    expected: f64,
    reduction: f64,
}

/// A partial tree. Where features see distances, `position` says how far the head below is and `start` how many words
/// follow the head, both up to [`FAR`]: sentences that differ in nothing else share their stacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PerceptronTree(Item);

/// What the stack alone says of each action: most features, summed up once.
#[derive(Debug, Clone, Copy)]
pub struct PerceptronSeen(Scores);

/// Of shift, left and right reduction.
type Scores = [i32; 3];

/// A word with its part of speech.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PerceptronWord(Atom);

impl PerceptronWord {
    /// The number of its part of speech among [`Parser::tags`].
    pub fn tag(&self) -> u8 {
        self.0.tag.saturating_sub(1) as u8
    }
}

impl Perceptron {
    /// `None` for parsers of another kind, and for those that look further than one word ahead.
    pub fn new(parser: Parser) -> Option<Self> {
        let Body::Dependency { system, rows, .. } = &parser.body else { return None };
        if system.lookahead > 1 {
            return None;
        }
        let (system, rows) = (system.clone(), rows.clone());
        let note = |wanted: &str| {
            let known = parser.notes().iter().find(|(name, _)| name == wanted);
            known.and_then(|(_, value)| value.parse::<f64>().ok())
        };
        let per_word = note(SCORE_PER_WORD).filter(|&score| score > 0.0);
        let per_reduction = note(SCORE_PER_REDUCTION).unwrap_or(0.0);
        let (scale, expected) = (1.0 / per_word.unwrap_or(USUAL), f64::from(u8::from(per_word.is_some())));
        Some(Self { parser, system, rows, scale, expected, reduction: per_reduction * scale })
    }

    /// What a score of 1 is in the parser's own unit.
    pub fn unit(&self) -> f64 {
        1.0 / self.scale
    }

    /// The parser.
    pub fn parser(&self) -> &Parser {
        &self.parser
    }

    /// The weights of some features of a stack.
    fn sum(&self, top: Top<'_, PerceptronTree>, features: impl FnOnce([&Item; 3], &mut Vec<u64>)) -> Scores {
        let mut items = top.map(|tree| tree.map_or(Item::default(), |tree| tree.0));
        // Features take the difference of positions.
        let [s0, s1, s2] = &mut items;
        let apart = s0.position;
        (s2.position, s1.position) = (u32::from(s2.position > 0), u32::from(s1.position > 0));
        s0.position = if s1.position > 0 { 1 + apart } else { u32::from(apart > 0) };
        let mut keys = Vec::with_capacity(128);
        features([&items[0], &items[1], &items[2]], &mut keys);
        let mut scores = [0; MAX_ACTIONS];
        self.rows.add(&keys, &mut scores);
        [SHIFT, LEFT, RIGHT].map(|action| scores[usize::from(action)])
    }

    /// What features with the next word add, which parsers without lookahead know only once they shift it.
    fn with_next(&self, top: Top<'_, PerceptronTree>, next: Atom) -> Scores {
        self.sum(top, |items, keys| match self.system.lookahead {
            0 => features::shift_keys(&self.system, items, next, keys),
            _ => {
                let words = [next, Atom::default(), Atom::default()];
                features::queue_keys(&self.system, items, &words, keys);
            }
        })
    }

    /// What no feature sees of a tree is left out of it.
    fn seen(&self, mut item: Item) -> PerceptronTree {
        if self.system.templates == Templates::Paper {
            let tag = |atom: Atom| Atom { tag: atom.tag, ..Atom::default() };
            (item.left, item.right) = (tag(item.left), tag(item.right));
            (item.left2, item.right2, item.lefts, item.rights) = (0, 0, 0, 0);
            (item.position, item.start) = (1, 0);
        }
        PerceptronTree(item)
    }
}

/// How many sentences are looked at to know what words and reductions are usually worth.
const MEASURED: usize = 200;

impl Parser {
    /// The same with notes of what words and reductions are worth in such sentences, if it works word by word.
    pub(crate) fn with_usual_scores<'s>(mut self, sentences: impl Iterator<Item = &'s Sentence>) -> Self {
        let Some(plain) = Perceptron::new(self.clone()) else { return self };
        let sentences: Vec<_> = sentences.collect();
        let some = sentences.iter().step_by(sentences.len().div_ceil(MEASURED).max(1));
        let read: Vec<Vec<_>> = some
            .map(|sentence| sentence.words().iter().map(|&word| vec![(PerceptronWord(word), 0.0)]).collect())
            .collect();
        let mut parses = Parses::new(&plain);
        let (mut score, mut words) = (0.0, 0);
        for sentence in &read {
            parses.clear();
            let numbered: Vec<_> =
                sentence.iter().map(|ways| vec![(parses.stacks.word(ways[0].0), 0.0)]).collect();
            score += parses.parse(&numbered, Keep::ENOUGH).map_or(0.0, |parse| parse.score);
            words += sentence.len();
        }
        let per_word = score * plain.unit() / f64::from(words.max(1) as u32);
        self.notes.push((SCORE_PER_WORD.to_string(), format!("{per_word:.0}")));
        // In the unit that the first note defines.
        if let Some(scaled) = Perceptron::new(self.clone()) {
            let per_reduction = Owing::fit(&scaled, &read) * scaled.unit();
            self.notes.push((SCORE_PER_REDUCTION.to_string(), format!("{per_reduction:.0}")));
        }
        self
    }
}

impl Actions for Perceptron {
    type Tree = PerceptronTree;
    type Word = PerceptronWord;
    type Seen = PerceptronSeen;

    fn words(&self, text: &str, out: &mut Vec<(PerceptronWord, f64)>) {
        let word = self.parser.atoms(&[text]).first().copied().unwrap_or_default();
        // The tagger's choice for the word by itself.
        let tag = self.parser.tagger.tag(&[word], &mut Search::new()).first().copied().unwrap_or_default();
        out.push((PerceptronWord(Atom::new(&word, tag, self.parser.tags.group(tag))), 0.0));
    }

    fn leaf(&self, word: &PerceptronWord, below: Option<&PerceptronTree>) -> PerceptronTree {
        let mut item = Item::word(word.0, 0, Around::default());
        item.position = below.map_or(BOTTOM, |below| (below.0.start + 1).min(FAR));
        item.start = 0;
        self.seen(item)
    }

    fn left(&self, s0: &PerceptronTree, s1: &PerceptronTree) -> PerceptronTree {
        let mut item = s0.0.take_left(&s1.0);
        item.position = match s1.0.position {
            BOTTOM => BOTTOM,
            further => (s0.0.position + further).min(FAR),
        };
        item.start = s0.0.start;
        self.seen(item)
    }

    fn right(&self, s0: &PerceptronTree, s1: &PerceptronTree) -> PerceptronTree {
        let mut item = s1.0.take_right(&s0.0);
        item.start = (s0.0.position + s0.0.start).min(FAR);
        self.seen(item)
    }

    fn sees(&self) -> usize {
        match self.system.templates {
            Templates::Paper => 2,
            Templates::Rich => 3,
        }
    }

    fn see(&self, top: Top<'_, PerceptronTree>) -> PerceptronSeen {
        PerceptronSeen(self.sum(top, |items, keys| {
            features::stack_keys(&self.system, items, keys);
            if self.system.lookahead == 0 {
                features::queue_keys(&self.system, items, &[Atom::default(); 3], keys);
            }
        }))
    }

    fn shift(&self, top: Top<'_, PerceptronTree>, seen: &PerceptronSeen, word: &PerceptronWord) -> f64 {
        let ([stack, ..], [next, ..]) = (seen.0, self.with_next(top, word.0));
        f64::from(stack + next) * self.scale
    }

    fn reduce(
        &self,
        top: Top<'_, PerceptronTree>,
        seen: &PerceptronSeen,
        next: Option<&PerceptronWord>,
    ) -> [f64; 2] {
        let [_, left, right] = seen.0;
        let [_, next_left, next_right] = match self.system.lookahead {
            0 => [0; 3],
            _ => self.with_next(top, next.map_or(Atom::default(), |next| next.0)),
        };
        [left + next_left, right + next_right].map(|score| f64::from(score) * self.scale)
    }

    fn expected(&self, _word: &PerceptronWord) -> f64 {
        self.expected
    }

    fn expected_reduction(&self) -> f64 {
        self.reduction
    }

    fn delays(&self) -> bool {
        self.system.lookahead > 0
    }
}
