//! What the words are where a treebank cuts otherwise than the tokeniser.
//!
//! Tokens that stand together without a space and consist of letters, digits, apostrophes and hyphens make a *core*:
//! `don 't` is the core `don't`. A core is looked up as a whole; if it is not known, the treebank's clitics are cut off
//! at both ends (`l'`, `n't`, `'s`) and what is left is looked up again. Where clitics follow their word and none
//! precedes it, as in English, an apostrophe cuts nowhere else: `O'Neil` is one word, whatever the tokeniser did.

use std::collections::BTreeMap;
use std::ops::Range;

use sylvan_base::Span;

use super::TreebankWord;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Cuts {
    /// Cores as [`normal`] writes them and their pieces, likewise.
    pub(super) words: BTreeMap<String, Vec<String>>,
    pub(super) prefixes: Vec<String>,
    pub(super) suffixes: Vec<String>,
    /// Whether a hyphen between letters is a word.
    pub(super) hyphens: bool,
    /// Parts in front of a hyphen that does not cut: `co`, `non`.
    pub(super) bound: Vec<String>,
}

/// A piece of a core: the places of its characters, and its text if that is not what stands there.
type Piece = (Range<usize>, Option<String>);

impl Cuts {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether an apostrophe cuts only before known clitics.
    pub(super) fn cuts_clitics_only(&self) -> bool {
        self.prefixes.is_empty() && !self.suffixes.is_empty()
    }

    pub(super) fn add_word(&mut self, word: &str, pieces: &[&str]) {
        self.words.insert(word.to_string(), pieces.iter().copied().map(str::to_string).collect());
    }

    pub(super) fn apply(&self, line: &str, tokens: &[Span], kept: &[(usize, usize)]) -> Vec<TreebankWord> {
        let as_is = |span: &Span| TreebankWord { text: line[span.range()].to_string(), span: *span };
        if self.is_empty() {
            return tokens.iter().map(as_is).collect();
        }
        let is_kept = |span: Span| {
            let after = kept.partition_point(|&(start, _)| start <= span.start as usize);
            after > 0 && (span.start as usize) < kept[after - 1].1
        };
        let mut out = Vec::with_capacity(tokens.len() + 4);
        let mut rest = tokens;
        while let Some((first, _)) = rest.split_first() {
            let part_of_core = |span: Span| is_wordish(&line[span.range()]) && !is_kept(span);
            let mut length = usize::from(part_of_core(*first));
            while length > 0
                && rest
                    .get(length)
                    .is_some_and(|next| rest[length - 1].end == next.start && part_of_core(*next))
            {
                length += 1;
            }
            let (run, after) = rest.split_at(length.max(1));
            rest = after;
            let letters = |span: &Span| has_letters(&line[span.range()]);
            let (Some(from), Some(to)) = (run.iter().position(letters), run.iter().rposition(letters)) else {
                out.extend(run.iter().map(as_is));
                continue;
            };
            out.extend(run[..from].iter().map(as_is));
            if length == 0 {
                out.push(as_is(first));
            } else {
                self.core(line, &run[from..=to], &mut out);
            }
            out.extend(run[to + 1..].iter().map(as_is));
        }
        out
    }

    fn core(&self, line: &str, tokens: &[Span], out: &mut Vec<TreebankWord>) {
        let (start, end) = (tokens[0].start as usize, tokens[tokens.len() - 1].end as usize);
        let core = Core::new(&line[start..end]);
        let own: Vec<usize> =
            tokens[1..].iter().map(|token| core.place(token.start as usize - start)).collect();
        let mut before = None;
        for (range, text) in self.segment(&core.normal, &own) {
            let (from, to) = (core.byte(range.start), core.byte(range.end));
            let surface = &line[start + from..start + to];
            let first = before.replace(range.clone()) != Some(range);
            let text = text.map_or_else(|| surface.to_string(), |text| in_case_of(surface, &text, first));
            out.push(TreebankWord { text, span: Span::new(start + from, start + to) });
        }
    }

    /// The pieces of a core, given the places where the tokeniser cuts it.
    fn segment(&self, core: &[char], own: &[usize]) -> Vec<Piece> {
        if let Some(pieces) = self.known(core, 0) {
            return pieces;
        }
        let (mut start, mut end) = (0, core.len());
        let mut pieces: Vec<Piece> = Vec::new();
        while let Some(length) = longest(&self.prefixes, |prefix| starts(&core[start..end], prefix)) {
            pieces.push((start..start + length, None));
            start += length;
        }
        let mut last: Vec<Piece> = Vec::new();
        while let Some(length) = longest(&self.suffixes, |suffix| ends(&core[start..end], suffix)) {
            last.push((end - length..end, None));
            end -= length;
        }
        let stem = (start > 0 || end < core.len()).then(|| self.known(&core[start..end], start)).flatten();
        pieces.extend(stem.unwrap_or_else(|| self.stem(core, start..end, own)));
        pieces.extend(last.into_iter().rev());
        pieces
    }

    /// The pieces of a word that the treebank has, if they are not simply the word.
    fn known(&self, word: &[char], at: usize) -> Option<Vec<Piece>> {
        let pieces = self.words.get(&word.iter().collect::<String>())?;
        let whole = at..at + word.len();
        if !pieces.iter().flat_map(|piece| piece.chars()).eq(word.iter().copied()) {
            return Some(pieces.iter().map(|piece| (whole.clone(), Some(piece.clone()))).collect());
        }
        let mut start = at;
        let slice = |piece: &String| {
            let range = start..start + piece.chars().count();
            start = range.end;
            (range, None)
        };
        Some(pieces.iter().map(slice).collect())
    }

    /// What is left between clitics: cut at hyphens if the treebank does so, and where the tokeniser cuts.
    fn stem(&self, core: &[char], stem: Range<usize>, own: &[usize]) -> Vec<Piece> {
        let mut cuts: Vec<usize> = Vec::new();
        let clitics = self.cuts_clitics_only();
        cuts.extend(own.iter().copied().filter(|&at| {
            let apostrophe = core[at - 1] == '\'' || core[at] == '\'';
            stem.start < at && at < stem.end && !(clitics && apostrophe)
        }));
        if self.hyphens {
            let mut part = stem.start;
            for at in stem.clone() {
                let inside = at > stem.start && at + 1 < stem.end;
                if !(inside && core[at] == '-' && core[at - 1] != '-' && core[at + 1] != '-') {
                    continue;
                }
                if !self.bound.iter().any(|bound| bound.chars().eq(core[part..at].iter().copied())) {
                    cuts.extend([at, at + 1]);
                    part = at + 1;
                }
            }
        }
        cuts.push(stem.end);
        cuts.sort_unstable();
        cuts.dedup();
        let mut start = stem.start;
        let piece = |end: usize| (std::mem::replace(&mut start, end)..end, None);
        cuts.into_iter().map(piece).collect()
    }

    /// The pieces of a core that the tokeniser leaves whole, by patterns alone; for learning.
    pub(super) fn pieces(&self, core: &str) -> Vec<String> {
        let core: Vec<char> = core.chars().collect();
        let text = |(range, text): Piece| text.unwrap_or_else(|| core[range].iter().collect());
        self.segment(&core, &[]).into_iter().map(text).collect()
    }

    pub(super) fn write(&self, text: &mut String) {
        for (word, pieces) in &self.words {
            text.push_str(&format!("word\t{word}\t{}\n", pieces.join("\t")));
        }
        for (kind, all) in [("prefix", &self.prefixes), ("suffix", &self.suffixes), ("bound", &self.bound)] {
            for one in all {
                text.push_str(&format!("{kind}\t{one}\n"));
            }
        }
        if self.hyphens {
            text.push_str("hyphens\n");
        }
    }
}

/// A core with its characters as tables have them.
struct Core<'l> {
    text: &'l str,
    normal: Vec<char>,
    starts: Vec<usize>,
}

impl<'l> Core<'l> {
    fn new(text: &'l str) -> Self {
        let starts = text.char_indices().map(|(at, _)| at).collect();
        Self { text, normal: text.chars().map(normal_char).collect(), starts }
    }

    fn byte(&self, place: usize) -> usize {
        self.starts.get(place).copied().unwrap_or(self.text.len())
    }

    fn place(&self, byte: usize) -> usize {
        self.starts.partition_point(|&start| start < byte)
    }
}

/// The longest of some affixes that fits, in characters.
fn longest(affixes: &[String], fits: impl Fn(&str) -> bool) -> Option<usize> {
    affixes.iter().filter(|affix| fits(affix)).map(|affix| affix.chars().count()).max()
}

/// Whether a core begins with a clitic and something is left that begins with a letter or digit.
fn starts(core: &[char], clitic: &str) -> bool {
    let length = clitic.chars().count();
    core.len() > length && clitic.chars().eq(core[..length].iter().copied()) && core[length].is_alphanumeric()
}

/// Whether a core ends in a clitic and something is left that ends in a letter or digit.
fn ends(core: &[char], clitic: &str) -> bool {
    let Some(left) = core.len().checked_sub(clitic.chars().count()).filter(|&left| left > 0) else {
        return false;
    };
    clitic.chars().eq(core[left..].iter().copied()) && core[left - 1].is_alphanumeric()
}

/// Whether a token can be part of a core.
pub(super) fn is_wordish(token: &str) -> bool {
    let joins = |c: char| is_apostrophe(c) || c == '-' || ('\u{300}'..='\u{36f}').contains(&c);
    !token.is_empty() && token.chars().all(|c| c.is_alphanumeric() || joins(c))
}

pub(super) fn has_letters(token: &str) -> bool {
    token.chars().any(char::is_alphanumeric)
}

fn is_apostrophe(c: char) -> bool {
    c == '\'' || c == '’'
}

/// A character as tables have it: small, and with one kind of apostrophe. One for one, so that places stay.
fn normal_char(c: char) -> char {
    if is_apostrophe(c) { '\'' } else { c.to_lowercase().next().unwrap_or(c) }
}

/// A word as tables have it.
pub(super) fn normal(word: &str) -> String {
    word.chars().map(normal_char).collect()
}

/// A piece of a contraction in the case of the contraction.
fn in_case_of(surface: &str, piece: &str, first: bool) -> String {
    let letters = || surface.chars().filter(|c| c.is_alphabetic());
    if letters().count() > 1 && letters().all(char::is_uppercase) {
        return piece.to_uppercase();
    }
    let mut rest = piece.chars();
    match rest.next() {
        Some(c) if first && letters().next().is_some_and(char::is_uppercase) => {
            c.to_uppercase().chain(rest).collect()
        }
        _ => piece.to_string(),
    }
}
