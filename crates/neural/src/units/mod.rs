//! What the network reads and writes: words, and parts of rare words.
//!
//! Parts are learnt by putting together what stands together most often (Sennrich et al. 2016): characters first, until
//! there are as many units as wanted. The last part of a word is another unit than the same characters inside one, so
//! that units say where words end.

mod learn;

use sylvan_base::{HashMap, InputError, Result};

/// The number of a unit.
pub type UnitId = u32;

/// The unit that ends a sentence, and stands before its first word.
pub const END: UnitId = 0;
/// The unit of characters that were never seen.
pub const UNKNOWN: UnitId = 1;

/// Marks what ends a word, in files and in the table.
const WORD_ENDS: char = '\u{2581}';

/// Units of one language.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Units {
    /// Their text; the last of a word with a mark.
    texts: Vec<String>,
    ids: HashMap<String, UnitId>,
    /// Pairs that are put together, and what becomes of them; the earlier ones first.
    pairs: HashMap<[UnitId; 2], (u32, UnitId)>,
    /// The pairs in their order.
    order: Vec<[UnitId; 2]>,
}

impl Units {
    fn new() -> Self {
        let mut units = Self::default();
        units.add(String::new());
        units.add("<unk>".to_string());
        units
    }

    fn add(&mut self, text: String) -> UnitId {
        if let Some(&known) = self.ids.get(&text) {
            return known;
        }
        let id = self.texts.len() as UnitId;
        self.ids.insert(text.clone(), id);
        self.texts.push(text);
        id
    }

    fn join(&mut self, pair: [UnitId; 2]) -> UnitId {
        let text = format!("{}{}", self.texts[pair[0] as usize], self.texts[pair[1] as usize]);
        let joined = self.add(text);
        self.pairs.insert(pair, (self.order.len() as u32, joined));
        self.order.push(pair);
        joined
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are none; there always are.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Appends the units of a word.
    pub fn of_word(&self, word: &str, out: &mut Vec<UnitId>) {
        let from = out.len();
        let mut chars = word.chars().peekable();
        let mut text = String::new();
        while let Some(char) = chars.next() {
            text.clear();
            text.push(char);
            if chars.peek().is_none() {
                text.push(WORD_ENDS);
            }
            out.push(self.ids.get(&text).copied().unwrap_or(UNKNOWN));
        }
        // Words are short: the pair that was learnt first, again and again.
        loop {
            let joins = out[from..].windows(2).enumerate().filter_map(|(place, pair)| {
                let &(rank, joined) = self.pairs.get(&[pair[0], pair[1]])?;
                Some((rank, place, joined))
            });
            let Some((_, place, joined)) = joins.min() else { break };
            out[from + place] = joined;
            out.remove(from + place + 1);
        }
    }

    /// The units of a line of words, and the end.
    pub fn of_line(&self, line: &str) -> Vec<UnitId> {
        let mut units = Vec::new();
        for word in line.split_ascii_whitespace() {
            self.of_word(word, &mut units);
        }
        units.push(END);
        units
    }

    /// Units as words.
    pub fn line(&self, units: &[UnitId]) -> String {
        let mut line = String::new();
        for &unit in units.iter().take_while(|&&unit| unit != END) {
            match self.texts[unit as usize].strip_suffix(WORD_ENDS) {
                Some(last) => {
                    line.push_str(last);
                    line.push(' ');
                }
                None => line.push_str(&self.texts[unit as usize]),
            }
        }
        line.truncate(line.trim_end().len());
        line
    }

    /// As lines of text: characters, then pairs.
    pub(crate) fn to_text(&self) -> String {
        let mut text = String::new();
        for (unit, is_joined) in self.texts.iter().zip(self.joined()).skip(2) {
            if !is_joined {
                text.push_str(unit);
                text.push('\n');
            }
        }
        text.push('\n');
        for [a, b] in &self.order {
            text.push_str(&format!("{} {}\n", self.texts[*a as usize], self.texts[*b as usize]));
        }
        text
    }

    /// Whether each unit was put together.
    fn joined(&self) -> Vec<bool> {
        let mut joined = vec![false; self.texts.len()];
        for pair in &self.order {
            joined[self.pairs[pair].1 as usize] = true;
        }
        joined
    }

    /// From [`to_text`](Self::to_text); `bad` makes an error of what was found and what was expected.
    pub(crate) fn from_text(text: &str, bad: impl Fn(String, String) -> InputError) -> Result<Self> {
        let mut units = Self::new();
        let mut lines = text.lines();
        for line in lines.by_ref().take_while(|line| !line.is_empty()) {
            units.add(line.to_string());
        }
        for line in lines {
            let known = |text: &str| units.ids.get(text).copied();
            let pair = line.split_once(' ').and_then(|(a, b)| Some([known(a)?, known(b)?]));
            let Some(pair) = pair else {
                return Err(bad(line.to_string(), "two units that came before".to_string()));
            };
            units.join(pair);
        }
        Ok(units)
    }
}
