//! Word alignments in the Pharaoh format: `0-0 1-2 3p3`.
//!
//! `i-j` is a sure link between source word `i` and target word `j`, `ipj` a possible one (Och & Ney 2003, who
//! need both to measure aligners). Files count from 0 or, mostly the hand-made ones, from 1; in memory it is always 0.

use std::fmt;

use sylvan_base::Fault;
use sylvan_base::limits::LINK_NUMBER;

/// The number of the first word in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Base {
    /// The first word is 0.
    #[default]
    Zero,
    /// The first word is 1.
    One,
}

impl Base {
    fn first(self) -> u32 {
        match self {
            Self::Zero => 0,
            Self::One => 1,
        }
    }
}

/// A source word and a target word, both counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link {
    /// The source position.
    pub source: u32,
    /// The target position.
    pub target: u32,
}

impl Link {
    /// A link.
    pub fn new(source: u32, target: u32) -> Self {
        Self { source, target }
    }
}

/// The links of one sentence pair. Both lists are sorted without duplicates, and no link is in both.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Alignment {
    sure: Vec<Link>,
    possible: Vec<Link>,
}

impl Alignment {
    /// An alignment of these links, in any order. Sure links are not listed as possible again.
    pub fn new(mut sure: Vec<Link>, mut possible: Vec<Link>) -> Self {
        for links in [&mut sure, &mut possible] {
            links.sort_unstable();
            links.dedup();
        }
        possible.retain(|link| sure.binary_search(link).is_err());
        Self { sure, possible }
    }

    /// The sure links, sorted by source, then target.
    pub fn sure(&self) -> &[Link] {
        &self.sure
    }

    /// The links that are only possible, sorted by source, then target.
    pub fn possible(&self) -> &[Link] {
        &self.possible
    }

    /// Reads a line. Links may stand in any order and more than once; an empty line has none.
    pub fn parse(line: &str, base: Base) -> Result<Self, Fault> {
        Self::parse_checked(line, base, |_, _| Ok(()))
    }

    /// Reads a line and checks each link against the numbers of words.
    pub fn parse_within(line: &str, base: Base, source_len: usize, target_len: usize) -> Result<Self, Fault> {
        Self::parse_checked(line, base, |link, at| {
            let sides = [("source", link.source, source_len), ("target", link.target, target_len)];
            for (side, position, len) in sides {
                if position as usize >= len {
                    let found = format!("{side} position {}", u64::from(position) + u64::from(base.first()));
                    let fault = Fault::at_byte(line, at, found, range(side, len, base));
                    return Err(
                        fault.advise("check that the files belong together and count from the same number")
                    );
                }
            }
            Ok(())
        })
    }

    fn parse_checked(
        line: &str,
        base: Base,
        check: impl Fn(Link, usize) -> Result<(), Fault>,
    ) -> Result<Self, Fault> {
        let (mut sure, mut possible) = (Vec::new(), Vec::new());
        let mut next = 0;
        for field in line.split([' ', '\t']) {
            let at = next;
            next += field.len() + 1;
            if field.is_empty() {
                continue;
            }
            let (link, is_sure) = parse_link(field, base).ok_or_else(|| malformed(line, at, field, base))?;
            check(link, at)?;
            let highest = link.source.max(link.target);
            if highest > LINK_NUMBER {
                let found = format!("word number {}", u64::from(highest) + u64::from(base.first()));
                let fault = Fault::at_byte(line, at, found, format!("at most {LINK_NUMBER}"));
                return Err(fault.advise("no sentence has so many words: is this a file of links?"));
            }
            if is_sure { sure.push(link) } else { possible.push(link) }
        }
        Ok(Self::new(sure, possible))
    }

    /// The links as text with the chosen numbering; [`Display`](fmt::Display) counts from 0. All links stand in
    /// one sorted row, sure and possible mixed.
    pub fn to_text(&self, base: Base) -> String {
        let mut all: Vec<(Link, char)> = self.sure.iter().map(|&link| (link, '-')).collect();
        all.extend(self.possible.iter().map(|&link| (link, 'p')));
        all.sort_unstable();
        let first = u64::from(base.first());
        let text = |&(link, mark): &(Link, char)| {
            format!("{}{mark}{}", u64::from(link.source) + first, u64::from(link.target) + first)
        };
        all.iter().map(text).collect::<Vec<_>>().join(" ")
    }
}

impl fmt::Display for Alignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text(Base::Zero))
    }
}

/// A link, and whether it is sure.
fn parse_link(field: &str, base: Base) -> Option<(Link, bool)> {
    let (mark, _) = field.char_indices().find(|(_, c)| !c.is_ascii_digit())?;
    let is_sure = match field.as_bytes()[mark] {
        b'-' => true,
        b'p' => false,
        _ => return None,
    };
    let number = |text: &str| {
        // `parse` would take a plus sign too.
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let number = if digits { text.parse::<u32>().ok() } else { None };
        number?.checked_sub(base.first())
    };
    Some((Link::new(number(&field[..mark])?, number(&field[mark + 1..])?), is_sure))
}

fn malformed(line: &str, at: usize, field: &str, base: Base) -> Fault {
    const LONGEST: usize = 40;
    let mut shown: String = field.chars().take(LONGEST).collect();
    if shown.len() < field.len() {
        shown.push_str("...");
    }
    let fault = Fault::at_byte(line, at, format!("\"{shown}\""), "i-j or ipj with word numbers i and j");
    match (base, parse_link(field, Base::Zero)) {
        (Base::One, Some(_)) => fault.advise("0 occurs, so the file does not count from 1"),
        _ => fault,
    }
}

fn range(side: &str, len: usize, base: Base) -> String {
    let first = base.first() as usize;
    match len {
        0 => format!("no link, for the {side} side has no words"),
        _ => format!("{first} to {}, for the {side} side has {len} words", len - 1 + first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sylvan_base::Rng;

    #[track_caller]
    fn check(line: &str, base: Base, expected: &str) {
        assert_eq!(Alignment::parse(line, base).unwrap().to_string(), expected);
    }

    #[track_caller]
    fn fail(line: &str, base: Base, column: usize, found: &str) {
        let fault = Alignment::parse_within(line, base, 4, 3).unwrap_err();
        assert_eq!((fault.column, fault.found.as_str()), (column, found), "{fault}");
    }

    #[test]
    fn numbers_that_no_sentence_has_are_errors() {
        let most = format!("{LINK_NUMBER}-0 0p{LINK_NUMBER}");
        assert_eq!(
            Alignment::parse(&most, Base::Zero).unwrap().to_text(Base::Zero),
            format!("0p{LINK_NUMBER} {LINK_NUMBER}-0")
        );
        for (line, column, found) in [
            ("0-0 4000000000-4000000000", 5, "word number 4000000000"),
            ("0p1000001", 1, "word number 1000001"),
        ] {
            let fault = Alignment::parse(line, Base::Zero).unwrap_err();
            assert_eq!((fault.column, fault.found.as_str()), (column, found), "{fault}");
        }
    }

    #[test]
    fn links_are_sorted_and_collapsed() {
        check("2-1 0-0  0-0\t1p2 1p2", Base::Zero, "0-0 1p2 2-1");
        check("1-1 2p3", Base::One, "0-0 1p2");
        check("1p1 1-1", Base::Zero, "1-1");
        check("10-0 9-0", Base::Zero, "9-0 10-0");
        check("", Base::Zero, "");
        let both = Alignment::parse("1p1 0-1", Base::Zero).unwrap();
        assert_eq!((both.sure(), both.possible()), (&[Link::new(0, 1)][..], &[Link::new(1, 1)][..]));
        assert_eq!(both.to_text(Base::One), "1-2 2p2");
    }

    #[test]
    fn faults_name_column_and_limits() {
        fail("0-0 1-x", Base::Zero, 5, "\"1-x\"");
        fail("0-0  11", Base::Zero, 6, "\"11\"");
        fail("0-0 -1", Base::Zero, 5, "\"-1\"");
        fail("0-+1", Base::Zero, 1, "\"0-+1\"");
        fail("0-1-2", Base::Zero, 1, "\"0-1-2\"");
        fail("1-99999999999", Base::Zero, 1, "\"1-99999999999\"");
        fail("新-1", Base::Zero, 1, "\"新-1\"");
        fail("1新1", Base::Zero, 1, "\"1新1\"");
        fail("0-0 4-0", Base::Zero, 5, "source position 4");
        fail("0-0 3p3", Base::Zero, 5, "target position 3");
        fail("1-1 5-1", Base::One, 5, "source position 5");
        fail("1-1 1-0", Base::One, 5, "\"1-0\"");
        let text = Alignment::parse_within("0-3", Base::Zero, 4, 3).unwrap_err().to_string();
        assert!(
            text.starts_with("found target position 3, expected 0 to 2, for the target side has 3 words")
        );
        let text = Alignment::parse("0-1", Base::One).unwrap_err().to_string();
        assert!(text.ends_with("0 occurs, so the file does not count from 1"), "{text}");
        let text = Alignment::parse_within("0-0", Base::Zero, 0, 3).unwrap_err().to_string();
        assert!(text.contains("expected no link, for the source side has no words"), "{text}");
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(
            sure in prop::collection::vec((0u32..9, 0u32..9), 0..12),
            possible in prop::collection::vec((0u32..9, 0..=LINK_NUMBER), 0..12),
            one in any::<bool>(),
        ) {
            let base = if one { Base::One } else { Base::Zero };
            let links = |pairs: &[(u32, u32)]| -> Vec<Link> {
                pairs.iter().map(|&(i, j)| Link::new(i, j)).collect()
            };
            let alignment = Alignment::new(links(&sure), links(&possible));
            prop_assert!(alignment.sure().is_sorted_by(|a, b| a < b));
            prop_assert!(alignment.possible().iter().all(|link| !alignment.sure().contains(link)));
            for &(i, j) in &sure {
                prop_assert!(alignment.sure().contains(&Link::new(i, j)));
            }
            prop_assert_eq!(Alignment::parse(&alignment.to_text(base), base), Ok(alignment));
        }
    }

    #[test]
    fn a_hundred_thousand_damaged_lines_do_no_harm() {
        let full = std::env::var("SYLVAN_TESTS").is_ok_and(|mode| mode == "full");
        let mut rng = Rng::new(31);
        let (mut good, mut bad) = (0, 0);
        for _ in 0..if full { 2_000_000 } else { 100_000 } {
            let mut line: Vec<char> = "1-1 1-2 2p1 10-11 3-3".chars().collect();
            for _ in 0..1 + rng.below(3) {
                let at = rng.below(line.len());
                let c = *rng.pick(&['0', '9', '-', 'p', ' ', '\t', '新', '\u{301}', '+', 'x']);
                match rng.below(3) {
                    0 => line[at] = c,
                    1 => line.insert(at, c),
                    _ => drop(line.remove(at)),
                }
            }
            let line: String = line.iter().collect();
            let base = if rng.chance(0.5) { Base::Zero } else { Base::One };
            match Alignment::parse_within(&line, base, 11, 12) {
                Ok(alignment) => {
                    good += 1;
                    let again = Alignment::parse(&alignment.to_text(base), base);
                    assert_eq!(again, Ok(alignment), "{line}");
                }
                Err(fault) => {
                    bad += 1;
                    assert!((1..=line.chars().count()).contains(&fault.column), "{line}: {fault}");
                }
            }
        }
        // Both must happen often, or the test tests nothing.
        assert!(good > 5_000 && bad > 5_000, "{good} {bad}");
    }
}
