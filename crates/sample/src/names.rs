//! The open vocabulary: word number `rank` of three endless series, computed from the rank.
//!
//! Names are strings of syllables; every syllable is one Chinese character and two or three letters. A person's
//! name has consonant-vowel syllables only, so it can be cut in one way; a place name ends in one closed syllable
//! more (`-ton`, `-burg`), so no place is a person. No table of names exists, however many there are.

use sylvan_base::Rng;

use crate::syntax::Open;

/// Consonant-vowel syllables: 64 characters, 64 different pairs of letters.
const SYLLABLES: [(&str, &str); 64] = [
    ("巴", "ba"),
    ("贝", "be"),
    ("比", "bi"),
    ("波", "bo"),
    ("达", "da"),
    ("德", "de"),
    ("迪", "di"),
    ("多", "do"),
    ("法", "fa"),
    ("费", "fe"),
    ("菲", "fi"),
    ("福", "fo"),
    ("加", "ga"),
    ("盖", "ge"),
    ("吉", "gi"),
    ("戈", "go"),
    ("哈", "ha"),
    ("赫", "he"),
    ("希", "hi"),
    ("霍", "ho"),
    ("贾", "ja"),
    ("耶", "je"),
    ("季", "ji"),
    ("乔", "jo"),
    ("卡", "ka"),
    ("克", "ke"),
    ("基", "ki"),
    ("科", "ko"),
    ("拉", "la"),
    ("莱", "le"),
    ("利", "li"),
    ("洛", "lo"),
    ("马", "ma"),
    ("梅", "me"),
    ("米", "mi"),
    ("莫", "mo"),
    ("纳", "na"),
    ("内", "ne"),
    ("尼", "ni"),
    ("诺", "no"),
    ("帕", "pa"),
    ("佩", "pe"),
    ("皮", "pi"),
    ("珀", "po"),
    ("萨", "sa"),
    ("苏", "su"),
    ("西", "si"),
    ("索", "so"),
    ("塔", "ta"),
    ("特", "te"),
    ("蒂", "ti"),
    ("托", "to"),
    ("瓦", "va"),
    ("韦", "ve"),
    ("维", "vi"),
    ("沃", "vo"),
    ("扎", "za"),
    ("泽", "ze"),
    ("齐", "zi"),
    ("佐", "zo"),
    ("鲁", "ru"),
    ("图", "tu"),
    ("努", "nu"),
    ("库", "ku"),
];

/// Endings of place names.
const ENDINGS: [(&str, &str); 8] = [
    ("顿", "ton"),
    ("勒", "ler"),
    ("堡", "burg"),
    ("丹", "dan"),
    ("森", "sen"),
    ("姆", "ham"),
    ("恩", "ern"),
    ("罗斯", "ros"),
];

/// Ranks below this are left to the words of the grammar file.
pub(crate) const FIRST_NUMBER: u32 = 101;

/// Word ids of the open vocabulary: [`OPEN_BIT`](crate::grammar::OPEN_BIT), two bits of series, 29 bits of rank.
pub(crate) fn encode(series: Open, rank: u32) -> u32 {
    let series = match series {
        Open::Person => 0,
        Open::Place => 1,
        Open::Number => 2u32,
    };
    crate::grammar::OPEN_BIT | (series << 29) | rank
}

/// A rank from `0..count` with probability proportional to 1/(rank+1), in whole numbers only: an octave is drawn
/// uniformly, a number of the octave uniformly, and the number is kept with probability (octave's first)/(number).
pub(crate) fn zipf(rng: &mut Rng, count: u32) -> u32 {
    let octaves = (32 - count.max(1).leading_zeros()) as usize;
    loop {
        let first = 1usize << rng.below(octaves);
        let number = first + rng.below(first);
        if number <= count.max(1) as usize && rng.below(number) < first {
            return (number - 1) as u32;
        }
    }
}

/// Whether an open word is a number, not a name.
pub(crate) fn is_number(word: u32) -> bool {
    (word >> 29) & 3 == 2
}

/// Writes the source or the target form of an open word.
pub(crate) fn write(word: u32, target: bool, out: &mut Vec<u8>) {
    let rank = word & ((1 << 29) - 1);
    match (word >> 29) & 3 {
        0 => name(rank, None, target, out),
        1 => name(rank / 8, Some(rank % 8), target, out),
        _ => write_number(rank + FIRST_NUMBER, out),
    }
}

/// Writes a name: its syllables and, for places, the ending.
fn name(mut rank: u32, ending: Option<u32>, target: bool, out: &mut Vec<u8>) {
    // Names of k syllables come before names of k + 1; inside a length the rank is scrambled by an odd factor,
    // a bijection, so that neighbours do not look alike.
    let mut length = if ending.is_some() { 1 } else { 2 };
    let mut size = 64u32.pow(length);
    while rank >= size && length < 5 {
        rank -= size;
        length += 1;
        size = 64u32.pow(length);
    }
    let mut code = rank.wrapping_mul(0x9E37_79B1) & (size - 1);
    let begin = out.len();
    for _ in 0..length {
        let (character, letters) = SYLLABLES[(code & 63) as usize];
        out.extend_from_slice(if target { letters } else { character }.as_bytes());
        code >>= 6;
    }
    if let Some(ending) = ending {
        let (character, letters) = ENDINGS[ending as usize];
        out.extend_from_slice(if target { letters } else { character }.as_bytes());
    }
    if target {
        out[begin].make_ascii_uppercase();
    }
}

/// Appends a number in digits without going through a formatter.
pub(crate) fn write_number(number: u32, out: &mut Vec<u8>) {
    let mut digits = [0u8; 10];
    let mut at = digits.len();
    let mut rest = number;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use sylvan_base::HashSet;

    fn text(series: Open, rank: u32, target: bool) -> Vec<u8> {
        let mut out = Vec::new();
        write(encode(series, rank), target, &mut out);
        out
    }

    #[test]
    fn names_are_unique_on_both_sides() {
        let mut seen = [HashSet::default(), HashSet::default()];
        for rank in 0..60_000u32 {
            // A stride that visits all lengths up to ten million.
            let rank = if rank < 30_000 { rank } else { rank * 331 };
            for series in [Open::Person, Open::Place] {
                for (side, seen) in seen.iter_mut().enumerate() {
                    let name = text(series, rank, side == 1);
                    assert!(seen.insert(name.clone()), "{}", String::from_utf8_lossy(&name));
                }
            }
        }
    }

    /// No word of the shipped grammar can be cut into syllables, so no generated name is one of its words.
    #[test]
    fn names_are_no_words_of_the_grammar() {
        fn is_name(text: &str, side: impl Fn(&(&'static str, &'static str)) -> &'static str + Copy) -> bool {
            let ended = ENDINGS.iter().filter_map(|pair| text.strip_suffix(side(pair)));
            // A place has a syllable before its ending, a person has two.
            ended.map(|rest| (rest, 1)).chain([(text, 2)]).any(|(mut rest, fewest)| {
                let mut cut = 0;
                while let Some(next) = SYLLABLES.iter().find_map(|pair| rest.strip_prefix(side(pair))) {
                    (rest, cut) = (next, cut + 1);
                }
                rest.is_empty() && cut >= fewest
            })
        }
        let grammar = crate::shipped_grammar();
        for (_, word) in grammar.source_words.iter().filter(|(_, word)| word.chars().count() > 1) {
            assert!(!is_name(word, |pair| pair.0), "{word}");
        }
        for word in 0..grammar.words.len() as u32 {
            let form = grammar.form(word);
            let capital = form.starts_with(|c: char| c.is_ascii_uppercase());
            assert!(!capital || !is_name(&form.to_lowercase(), |pair| pair.1), "{form}");
        }
        // The test itself can tell.
        assert!(is_name("paros", |pair| pair.1) && !is_name("paris", |pair| pair.1));
    }

    #[test]
    fn numbers_are_the_same_on_both_sides() {
        assert_eq!(text(Open::Number, 0, false), b"101");
        assert_eq!(text(Open::Number, 4_899, true), b"5000");
    }

    #[test]
    fn zipf_has_the_stated_proportions() {
        let mut rng = Rng::new(3);
        let mut counts = [0u32; 10];
        for _ in 0..200_000 {
            counts[zipf(&mut rng, 10) as usize] += 1;
        }
        // The harmonic number of 10 is 2.929; each count is expected at 200000 / 2.929 / rank.
        for (rank, &count) in counts.iter().enumerate() {
            let expected = 200_000.0 / 2.928_968 / (rank + 1) as f64;
            assert!((f64::from(count) - expected).abs() < 5.0 * expected.sqrt(), "rank {rank}: {count}");
        }
    }
}
