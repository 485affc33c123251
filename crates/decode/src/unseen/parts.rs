//! Words that are made of others: at hyphens, and where they are written together (Koehn & Knight 2003: the parts whose
//! frequencies have the largest geometric mean; fewer where these are equal).

use sylvan_base::Symbol;
use sylvan_rules::RuleId;

use super::related::capitalised;
use super::{COMBINED, Candidate, Finder, RULES};

/// What may join two parts, besides nothing.
const JOINTS: [&str; 6] = ["s", "es", "n", "en", "e", "er"];
/// Parts of words in letters have at least this many; signs that stand for syllables and words are parts on their own.
const LETTERS: usize = 4;
/// A word has at most this many parts.
const MOST: usize = 4;
/// Longer words are not taken apart.
const LONGEST: usize = 60;

impl<A: Fn(RuleId) -> bool> Finder<'_, A> {
    /// What a word's parts are translated to, in their order.
    pub(super) fn of_parts(&self, text: &str) -> Vec<Candidate> {
        let parts = if text.contains('-') { self.at_hyphens(text) } else { self.written_together(text) };
        let Some(parts) = parts.filter(|parts| parts.len() > 1) else { return Vec::new() };
        let mut all = vec![Candidate {
            target: Vec::new(),
            links: Vec::new(),
            features: vec![0.0; self.table.feature_names().len()],
            from: Vec::new(),
            score: 0.0,
        }];
        for &part in &parts {
            let mut rules = self.rules(part, None);
            rules.truncate(RULES);
            let mut longer: Vec<Candidate> =
                all.iter().flat_map(|before| rules.iter().map(move |rule| before.and(rule))).collect();
            longer.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.from.cmp(&b.from)));
            longer.truncate(COMBINED);
            all = longer;
        }
        for one in &mut all {
            one.links = (0..one.target.len() as u32).map(|word| (0, word)).collect();
            one.features.extend([0.0, -((parts.len() - 1) as f32)]);
        }
        all
    }

    /// The pieces between hyphens, all of which must be known.
    fn at_hyphens(&self, text: &str) -> Option<Vec<Symbol>> {
        text.split('-').filter(|piece| !piece.is_empty()).map(|piece| self.part(piece)).collect()
    }

    /// A word that rules translate alone, in one case or another.
    fn part(&self, text: &str) -> Option<Symbol> {
        let cases = [text.to_string(), text.to_lowercase(), capitalised(text)];
        cases.iter().find_map(|text| self.lexicon().get(text).filter(|&word| self.is_known(word)))
    }

    fn written_together(&self, text: &str) -> Option<Vec<Symbol>> {
        let mut places: Vec<usize> = text.char_indices().map(|(place, _)| place).collect();
        places.push(text.len());
        if places.len() > LONGEST {
            return None;
        }
        // By where the parts so far end and how many there are: the sum of the logarithms of their frequencies, the last
        // part, and where it begins.
        let mut best: Vec<[Option<(f64, Symbol, usize)>; MOST + 1]> = vec![[None; MOST + 1]; places.len()];
        for end in 1..places.len() {
            for start in 0..end {
                let piece = &text[places[start]..places[end]];
                let is_reached = start == 0 || best[start].iter().any(Option::is_some);
                let piece = is_reached.then(|| self.piece(piece, end + 1 == places.len())).flatten();
                let Some((word, frequency)) = piece else { continue };
                for count in 0..MOST {
                    let before = if start == 0 {
                        (count == 0).then_some(0.0)
                    } else {
                        best[start][count].map(|b| b.0)
                    };
                    let Some(sum) = before.map(|before| before + frequency.ln()) else { continue };
                    let known = &mut best[end][count + 1];
                    if known.is_none_or(|known| sum > known.0) {
                        *known = Some((sum, word, start));
                    }
                }
            }
        }
        let mut end = places.len() - 1;
        let mean = |count: usize| best[end][count].map(|(sum, ..)| sum / count as f64);
        let means = (2..=MOST).filter_map(|count| Some((mean(count)?, count)));
        let (_, mut count) = means.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))?;
        let mut parts = Vec::new();
        while let Some((_, word, start)) = best[end][count].filter(|_| count > 0) {
            parts.push(word);
            (end, count) = (start, count - 1);
        }
        parts.reverse();
        Some(parts)
    }

    /// A part, with what joins it to the next one, and how often its word was seen.
    fn piece(&self, piece: &str, is_last: bool) -> Option<(Symbol, f64)> {
        let as_it_is = |piece: &str| {
            let is_long = piece.chars().count() >= LETTERS || piece.chars().all(is_sign);
            let word = is_long.then(|| self.part(piece)).flatten()?;
            Some((word, self.frequency(word)))
        };
        let joints = JOINTS.iter().filter(|_| !is_last).filter_map(|joint| piece.strip_suffix(joint));
        let found = std::iter::once(piece).chain(joints).filter_map(as_it_is);
        found.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
    }

    /// How often a word was seen as the source side of a rule; more than 0.
    fn frequency(&self, word: Symbol) -> f64 {
        let mut seen = 0.0;
        let mut last = None;
        sylvan_rules::apply::each_alone(self.table, word, |label, rule| {
            // All rules of one label have the same source side.
            if last.replace(label) != Some(label) {
                seen += self.table.notes(rule).count.map_or(1.0, |count| count.source.to_f64());
            }
        });
        seen.max(1e-3)
    }
}

impl Candidate {
    /// What comes before and what comes after.
    fn and(&self, next: &Self) -> Self {
        Self {
            target: [&self.target[..], &next.target].concat(),
            links: Vec::new(),
            features: self.features.iter().zip(&next.features).map(|(a, b)| a + b).collect(),
            from: [&self.from[..], &next.from].concat(),
            score: self.score + next.score,
        }
    }
}

/// Whether a letter stands for a syllable or a word.
fn is_sign(letter: char) -> bool {
    matches!(letter, '\u{2e80}'..='\u{2fff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}
