//! Learning conventions from a treebank.
//!
//! Universal Dependencies say which words stand together (`SpaceAfter=No`) and what a contraction was before it was
//! taken apart (lines such as `3-4`). Trees in brackets say neither; there, the clitics of English and some pairs that
//! are always one word (`gon na`) are taken to be joined to the word before.

use std::collections::{BTreeMap, BTreeSet};

use super::Conventions;
use super::cuts::{Cuts, has_letters, is_wordish, normal};
use super::forms::Forms;

/// A piece of text and the words that the treebank has for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    /// As people write it.
    pub(crate) text: String,
    /// As the treebank writes it: usually one word.
    pub(crate) words: Vec<String>,
    /// Whether the next piece follows without a space.
    pub(crate) joined: bool,
    /// Whether it is a hyphen between two halves of a word.
    pub(crate) hyphen: bool,
}

/// The clitics of English. One that was seen once is cut off every word.
const CLITICS: [&str; 7] = ["n't", "'s", "'re", "'ve", "'ll", "'d", "'m"];
/// Any other clitic must have been seen with this many words.
const STEMS: usize = 3;
/// A word without apostrophe or hyphen that was cut less often was a slip of the pen: `theres` as `there s`.
const OFTEN: u64 = 2;
/// What is one word for people although a treebank makes two of it.
const PAIRS: [[&str; 2]; 8] = [
    ["can", "not"],
    ["gon", "na"],
    ["wan", "na"],
    ["got", "ta"],
    ["gim", "me"],
    ["lem", "me"],
    ["'t", "is"],
    ["'t", "was"],
];

/// Says which pieces are joined, for a treebank that does not.
pub(crate) fn guess_joins(sentence: &mut [Written]) {
    let texts: Vec<String> = sentence.iter().map(|piece| normal(&piece.text)).collect();
    for at in 1..sentence.len() {
        let (before, text) = (&texts[at - 1], &texts[at]);
        let word = is_wordish(before) && has_letters(before);
        let clitic = CLITICS.contains(&text.as_str()) && word && !CLITICS.contains(&before.as_str());
        let pair = PAIRS.iter().any(|pair| pair == &[before, text]);
        let elision =
            before.ends_with('\'') && has_letters(before) && text.starts_with(char::is_alphanumeric);
        let hyphen = sentence[at].hyphen || sentence[at - 1].hyphen;
        sentence[at - 1].joined = clitic || pair || elision || hyphen;
    }
}

/// Gathers what a treebank does.
#[derive(Debug, Default)]
pub(crate) struct Learner {
    words: BTreeMap<String, u64>,
    /// Cores, and how often each had which pieces.
    cores: BTreeMap<String, BTreeMap<Vec<String>, u64>>,
}

impl Learner {
    pub(crate) fn add(&mut self, sentence: &[Written]) {
        for word in sentence.iter().flat_map(|piece| &piece.words) {
            *self.words.entry(word.clone()).or_default() += 1;
        }
        let mut rest = sentence;
        while !rest.is_empty() {
            let wordish = |piece: &Written| is_wordish(&piece.text);
            let mut length = 1;
            while length < rest.len()
                && rest[length - 1].joined
                && wordish(&rest[length - 1])
                && wordish(&rest[length])
            {
                length += 1;
            }
            let (run, after) = rest.split_at(length);
            rest = after;
            let letters = |piece: &Written| wordish(piece) && has_letters(&piece.text);
            if let (Some(from), Some(to)) = (run.iter().position(letters), run.iter().rposition(letters)) {
                self.core(&run[from..=to]);
            }
        }
    }

    fn core(&mut self, run: &[Written]) {
        let mut core: String = run.iter().map(|piece| normal(&piece.text)).collect();
        // Scripts without spaces join everything; that is the tokeniser's business.
        let cased = |c: char| c.is_lowercase() || c == '\'' || c == '-' || c.is_ascii_digit();
        if run.len() > 1 && !core.chars().all(cased) {
            return;
        }
        let mut pieces: Vec<String> =
            run.iter().flat_map(|piece| &piece.words).map(|word| normal(word)).collect();
        // The apostrophe of a plural is no part of the core.
        if core.ends_with('\'') && pieces.len() > 1 && pieces.last().is_some_and(|last| last == "'") {
            core.pop();
            pieces.pop();
        }
        *self.cores.entry(core).or_default().entry(pieces).or_default() += 1;
    }

    pub(crate) fn finish(self) -> Conventions {
        let count = |word: &str| self.words.get(word).copied().unwrap_or(0);
        let forms = Forms::learn(count);
        // What each core usually is; of equals what has fewer pieces.
        let usual: BTreeMap<&str, (&[String], u64)> = self
            .cores
            .iter()
            .filter_map(|(core, ways)| {
                let best = ways.iter().min_by_key(|(pieces, count)| (u64::MAX - **count, pieces.len()))?;
                Some((core.as_str(), (best.0.as_slice(), *best.1)))
            })
            .collect();
        let mut cuts = Cuts {
            prefixes: clitics(&usual, <[String]>::first, |core, clitic| core.starts_with(clitic)),
            suffixes: clitics(&usual, <[String]>::last, |core, clitic| core.ends_with(clitic)),
            hyphens: cuts_hyphens(&usual),
            ..Cuts::default()
        };
        if cuts.hyphens {
            cuts.bound = bound(&usual);
        }
        // The rest is learnt by heart, against the patterns alone.
        let patterns = cuts.clone();
        for (core, &(pieces, count)) in &usual {
            let [hyphen, apostrophe] = ['-', '\''].map(|mark| core.contains(mark));
            let known = PAIRS.iter().any(|pair| pair == pieces);
            let letters = core.chars().all(char::is_alphabetic);
            let sure = hyphen && cuts.hyphens || apostrophe || known || letters && count >= OFTEN;
            // The tokeniser would cut it.
            let open = apostrophe && pieces.len() == 1 && !cuts.cuts_clitics_only() && !core.ends_with('\'');
            let clean = pieces.iter().all(|piece| !piece.is_empty() && !piece.contains(char::is_whitespace));
            if clean && sure && (open || patterns.pieces(core) != pieces) {
                cuts.add_word(core, &pieces.iter().map(String::as_str).collect::<Vec<_>>());
            }
        }
        Conventions { forms, cuts }
    }
}

type Usual<'a> = BTreeMap<&'a str, (&'a [String], u64)>;

/// The pieces with an apostrophe, or behind a hyphen (`-il`), that are cut off at one end of more words than they stay
/// with.
fn clitics(
    usual: &Usual<'_>,
    end: impl Fn(&[String]) -> Option<&String>,
    has: impl Fn(&str, &str) -> bool,
) -> Vec<String> {
    let mut stems: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (core, (pieces, _)) in usual {
        let Some(piece) = end(pieces).filter(|_| pieces.len() > 1 && pieces.concat() == *core) else {
            continue;
        };
        if (piece.contains('\'') || piece.starts_with('-')) && has_letters(piece) {
            stems.entry(piece).or_default().insert(core);
        }
    }
    let productive = |(clitic, stems): &(&str, BTreeSet<&str>)| {
        let all = usual.keys().filter(|core| core.len() > clitic.len() && has(core, clitic)).count();
        let enough = if CLITICS.contains(clitic) { 1 } else { STEMS };
        stems.len() >= enough && 2 * stems.len() > all
    };
    stems.into_iter().filter(productive).map(|(clitic, _)| clitic.to_string()).collect()
}

/// What stands in front of a hyphen in more words that are whole than in words that are cut.
fn bound(usual: &Usual<'_>) -> Vec<String> {
    let mut parts: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for (core, (pieces, _)) in usual {
        if let Some((part, rest)) =
            core.split_once('-').filter(|(part, rest)| !part.is_empty() && !rest.is_empty())
        {
            let whole = pieces.iter().any(|piece| piece.starts_with(part) && piece.contains(rest));
            parts.entry(part).or_default()[usize::from(whole)] += 1;
        }
    }
    let is_bound = |(_, [cut, whole]): &(&str, [usize; 2])| *whole >= 2 && whole > cut;
    parts.into_iter().filter(is_bound).map(|(part, _)| part.to_string()).collect()
}

/// Whether words with a hyphen are usually cut there.
fn cuts_hyphens(usual: &Usual<'_>) -> bool {
    let (mut cut, mut whole) = (0, 0);
    for (core, (pieces, count)) in usual {
        let inside = core.trim_matches('-');
        if inside.contains('-') && inside.chars().all(|c| c.is_alphanumeric() || c == '-') {
            *if pieces.iter().any(|piece| piece == "-") { &mut cut } else { &mut whole } += count;
        }
    }
    cut > whole && cut >= STEMS as u64
}

#[cfg(test)]
mod tests {
    use sylvan_base::Span;

    use super::*;

    /// Words with a space between them; `a_b` is joined, `zum=zu+dem` a contraction.
    fn sentence(text: &str) -> Vec<Written> {
        let mut out = Vec::new();
        for chunk in text.split(' ') {
            let pieces: Vec<&str> = chunk.split('_').collect();
            for (index, piece) in pieces.iter().enumerate() {
                let (text, words) = piece.split_once('=').unwrap_or((piece, piece));
                out.push(Written {
                    text: text.to_string(),
                    words: words.split('+').map(str::to_string).collect(),
                    joined: index + 1 < pieces.len(),
                    hyphen: text == "-",
                });
            }
        }
        out
    }

    fn learnt(texts: &[&str]) -> Conventions {
        let mut learner = Learner::default();
        texts.iter().for_each(|text| learner.add(&sentence(text)));
        let conventions = learner.finish();
        assert_eq!(Conventions::from_text(&conventions.to_text()), Some(conventions.clone()));
        conventions
    }

    /// The words of a line whose tokens are separated by `|` where no space is.
    fn cut(conventions: &Conventions, marked: &str) -> String {
        let line = marked.replace('|', "");
        let mut spans = Vec::new();
        let mut at = 0;
        for chunk in marked.split(' ') {
            for token in chunk.split('|') {
                spans.push(Span::new(at, at + token.len()));
                at += token.len();
            }
            at += 1;
        }
        let words = conventions.cut(&line, &spans, &[]);
        let mut end = 0;
        for word in &words {
            assert!(word.span.end >= end && !line[word.span.range()].contains(' '));
            end = word.span.end;
        }
        words.into_iter().map(|word| word.text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn contractions_of_universal_dependencies_are_learnt() {
        let german = learnt(&[
            "Er geht zum=zu+dem Haus_. zum=zu+dem",
            "Im=In+dem Haus_, im=in+dem Tal im",
            "am=an+dem am am ists=ist+s",
        ]);
        assert_eq!(
            cut(&german, "Zum Haus|, ZUM im zumal am ists"),
            "Zu dem Haus , ZU DEM in dem zumal am ists"
        );
        let french =
            learnt(&["l'_homme l'_eau l'_air d'_eau d'_or d'_ici aujourd'hui du=de+le du=de+le qu'_il"]);
        assert_eq!(
            cut(&french, "L’|eau d'|un aujourd'|hui du qu'|il qu'|on"),
            "L’ eau d' un aujourd'hui de le qu' il qu' on"
        );
        assert_eq!(french.cut("du", &[Span::new(0, 2)], &[(0, 2)]).len(), 1, "what is kept stays");
    }

    #[test]
    fn english_clitics_are_cut_as_in_the_treebank() {
        let mut texts =
            ["I do n't know", "Peter 's can not", "they 've gon na o'clock - can not (", "ol' man"]
                .map(sentence);
        let mut learner = Learner::default();
        for sentence in &mut texts {
            sentence.iter_mut().for_each(|piece| piece.hyphen = false);
            guess_joins(sentence);
            learner.add(sentence);
        }
        let english = learner.finish();
        for (marked, words) in [
            ("I don|'t know", "I do n't know"),
            ("CAN|’T won|'t|,", "CA N’T wo n't ,"),
            ("|'|don|'t|'", " ' do n't '"),
            ("It|'s Cannot gonna|!", "It 's Can not gon na !"),
            ("O|'Neil|'s o|'clock they|'d", "O'Neil 's o'clock they'd"),
            ("couldn|'t|'ve 90|'s", "could n't 've 90 's"),
            ("the boys| ' well-known", "the boys  ' well-known"),
            ("n't 's", "n't 's"),
        ] {
            assert_eq!(cut(&english, marked.trim_start_matches('|')), words.trim_start(), "{marked}");
        }
        // Tokens inside a word that have nothing to do with apostrophes stay.
        assert_eq!(cut(&english, "新|聞|'s a"), "新 聞 's a");
    }

    #[test]
    fn hyphens_cut_where_the_treebank_says_so() {
        let gum = learnt(&[
            "Eye_-_Tracking a well_-_known up_-_to_-_date e-mail e-mail x_-_ray",
            "co-owned co-star co-writer co_-_op girls'=girls+' sun_-_lit",
        ]);
        let line = "well-meant e-mail -x- a--b Mother-in-law|. co-pilot co-op girls|' e-x";
        let words = "well - meant e-mail -x- a--b Mother - in - law . co-pilot co - op girls ' e - x";
        assert_eq!(cut(&gum, line), words);
        let penn = learnt(&["well-known up-to-date e-mail x_-_ray"]);
        assert_eq!(cut(&penn, "well-meant x-ray"), "well-meant x-ray");
    }

    #[test]
    fn nothing_is_learnt_from_nothing() {
        assert_eq!(learnt(&["a b c"]), Conventions::default());
        assert_eq!(learnt(&["我_是_学生"]), Conventions::default());
        assert!(learnt(&[]).has_no_cuts());
        for text in ["form\t(", "word\tx", "suffix\t", "what", "form\t(\ta\tb\tc"] {
            assert_eq!(Conventions::from_text(text), None, "{text}");
        }
    }
}
