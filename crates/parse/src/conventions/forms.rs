//! Marks that a treebank writes in its own way.
//!
//! Which way is a matter of counting: of the ways to write a mark the treebank has one or two. A mark that it has as
//! people write it stays so, and so does one that it has in no way at all.

use std::collections::BTreeMap;

/// Ways to write one mark, where it opens something and where it closes something.
struct Mark {
    opening: &'static [&'static str],
    closing: &'static [&'static str],
    /// What else is written for it, if the treebank has none of these.
    otherwise: Option<&'static str>,
}

const fn single(ways: &'static [&'static str]) -> Mark {
    Mark { opening: ways, closing: ways, otherwise: None }
}

const MARKS: [Mark; 10] = [
    single(&["(", "-LRB-"]),
    single(&[")", "-RRB-"]),
    single(&["[", "-LSB-"]),
    single(&["]", "-RSB-"]),
    single(&["{", "-LCB-"]),
    single(&["}", "-RCB-"]),
    Mark { opening: &["\"", "``", "“", "„", "«"], closing: &["\"", "''", "”", "»"], otherwise: None },
    // Most apostrophes are no quotation marks.
    Mark { opening: &["`", "‘"], closing: &["'", "’"], otherwise: Some("'") },
    single(&["–", "—", "--"]),
    single(&["...", "…"]),
];

/// A way that is at least one in this many is the treebank's, too.
const SHARE: u64 = 20;

/// Words that the treebank writes otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Forms {
    /// Where they open and where they close something.
    changed: BTreeMap<String, [String; 2]>,
}

impl Forms {
    /// From how often the treebank has a word.
    pub(super) fn learn(count: impl Fn(&str) -> u64) -> Self {
        let mut forms = Self::default();
        for mark in &MARKS {
            let usual = |ways: &[&'static str]| {
                let seen = ways.iter().map(|way| count(way));
                // Of equals the first.
                let best = ways.iter().zip(seen).rev().max_by_key(|&(_, count)| count);
                let best = best.filter(|&(_, count)| count > 0).map(|(way, count)| (*way, count));
                best.or_else(|| mark.otherwise.map(|way| (way, count(way))).filter(|&(_, count)| count > 0))
            };
            let (opening, closing) = (usual(mark.opening), usual(mark.closing));
            for &way in mark.opening.iter().chain(mark.closing) {
                let form = |usual: Option<(&'static str, u64)>| match usual {
                    Some((usual, most)) if count(way) * SHARE < most => usual,
                    _ => way,
                };
                forms.add(way, [form(opening), form(closing)]);
            }
        }
        forms
    }

    pub(super) fn add(&mut self, mark: &str, forms: [&str; 2]) {
        if forms != [mark; 2] {
            self.changed.insert(mark.to_string(), forms.map(str::to_string));
        }
    }

    pub(super) fn of<'w>(&'w self, words: &[&'w str]) -> Vec<&'w str> {
        if self.changed.is_empty() {
            return words.to_vec();
        }
        // Marks that look the same at both ends are paired from left to right.
        let (mut inside, mut low) = (false, false);
        let form = |&word: &&'w str| {
            let closes = match word {
                "\"" => {
                    inside = !inside;
                    !inside
                }
                "„" => {
                    low = true;
                    false
                }
                "“" => std::mem::take(&mut low),
                "”" | "''" | "»" | "'" | "’" => {
                    low = false;
                    true
                }
                _ => false,
            };
            self.changed.get(word).map_or(word, |forms| forms[usize::from(closes)].as_str())
        };
        words.iter().map(form).collect()
    }

    pub(super) fn write(&self, text: &mut String) {
        for (mark, [opening, closing]) in &self.changed {
            text.push_str(&format!("form\t{mark}\t{opening}\t{closing}\n"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learnt(seen: &[(&str, u64)]) -> Forms {
        Forms::learn(|word| seen.iter().find(|(known, _)| *known == word).map_or(0, |&(_, count)| count))
    }

    fn forms(forms: &Forms, line: &str) -> String {
        forms.of(&line.split(' ').collect::<Vec<_>>()).join(" ")
    }

    #[test]
    fn the_penn_treebank_has_codes() {
        let penn =
            learnt(&[("-LRB-", 9), ("-RRB-", 9), ("``", 8), ("''", 7), ("'", 3), ("--", 2), ("...", 2)]);
        assert_eq!(
            forms(&penn, "( a [ b ) \" c \" “ d ” „ e “ f – g … ‘ h ’ -LRB- ` \" i"),
            "-LRB- a [ b -RRB- `` c '' `` d '' `` e '' f -- g ... ' h ' -LRB- ' `` i"
        );
    }

    #[test]
    fn other_treebanks_write_as_people_do() {
        let plain = learnt(&[("(", 9), (")", 9), ("\"", 8), ("“", 5), ("”", 5), ("’", 1), ("'", 12)]);
        assert_eq!(forms(&plain, "( a ) \" “ ” ’ -LRB- -RRB- `` ''"), "( a ) \" “ ” ’ ( ) \" \"");
        assert_eq!(forms(&learnt(&[]), "( \" ' -LRB- …"), "( \" ' -LRB- …");
        // Rare ways are slips.
        let mixed = learnt(&[("-LRB-", 100), ("(", 4), ("-RRB-", 100), (")", 5)]);
        assert_eq!(forms(&mixed, "( )"), "-LRB- )");
    }
}
