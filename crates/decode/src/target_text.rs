//! The target end of a translation: words to natural text, with the bytes of each word.
//!
//! What a translation copies from its source line ([`Copies`]) is put together as it was there: where two words were
//! joined in the line they are joined again, a contraction that the parser's treebank took apart is whole again, and
//! markup keeps its neighbours. Only sentence marks follow the target language, unless they stood inside something, as
//! in `12:30`. Everything else is put together by the language's rules.

use std::borrow::Cow;

use sylvan_text::{Detokenizer, Lang, Tag, capitalise, markup, tag};
use sylvan_trees::surface;

use crate::source_text::SourceWord;

/// How words become text.
#[derive(Debug, Clone, Copy)]
pub struct TargetText {
    /// Puts words together; without it they are separated by spaces.
    pub detokenizer: Option<Detokenizer>,
    /// Whether sentences begin with a capital.
    pub capitalise: bool,
}

/// Words as text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Composed {
    /// The text.
    pub text: String,
    /// The words, without codes of a treebank.
    pub words: Vec<String>,
    /// Where each word stands in the text: its first byte and one past its last. The words of a contraction that was
    /// copied all have the bytes of the contraction.
    pub spans: Vec<[usize; 2]>,
}

/// What a translation copies from its source.
#[derive(Debug, Clone, Default)]
pub(crate) struct Copies<'s> {
    /// The line, unless it was a tree or is tokenised.
    pub(crate) line: Option<&'s str>,
    /// The words of the source.
    pub(crate) source: &'s [SourceWord],
    /// For each target word the source word that it copies.
    pub(crate) from: Vec<Option<u32>>,
}

/// A target word, or several that are a contraction in the line.
struct Unit<'w> {
    text: Cow<'w, str>,
    /// How many target words it is.
    words: usize,
    /// The first and last source words that it copies.
    copied: Option<[usize; 2]>,
    /// Whether it is part of markup, and then on which sides that keeps its neighbours.
    markup: Option<[bool; 2]>,
}

impl<'s> Copies<'s> {
    fn of(&self, target: usize) -> Option<usize> {
        self.from.get(target).copied().flatten().map(|source| source as usize)
    }

    /// What a target word is.
    fn word<'w>(&self, target: usize, word: &'w str) -> Cow<'w, str>
    where
        's: 'w,
    {
        match (self.of(target).and_then(|source| self.source.get(source)), self.line) {
            // In a line everything is meant as it is written.
            (Some(source), Some(_)) => Cow::Borrowed(source.text.as_str()),
            (Some(source), None) => surface(&source.text),
            (None, _) => surface(word),
        }
    }

    fn span(&self, source: usize) -> Option<[usize; 2]> {
        self.source.get(source)?.span
    }

    /// The source words that have the same bytes as this one, if there are several.
    fn contraction(&self, source: usize) -> Option<(std::ops::Range<usize>, &'s str)> {
        let span = self.span(source)?;
        let same = |other: &usize| self.span(*other) == Some(span);
        let end = (source + 1..self.source.len()).take_while(same).last().map_or(source + 1, |last| last + 1);
        let start = (0..source).rev().take_while(same).last().unwrap_or(source);
        let text = self.line?.get(span[0]..span[1])?;
        (end - start > 1).then_some((start..end, text))
    }

    /// Whether no space stands between a source word and the next.
    fn joined_right(&self, source: usize) -> bool {
        matches!((self.span(source), self.span(source + 1)), (Some([_, end]), Some([start, _])) if end == start)
    }

    fn joined_left(&self, source: usize) -> bool {
        source > 0 && self.joined_right(source - 1)
    }

    fn units<'w>(&self, words: &[&'w str]) -> Vec<Unit<'w>>
    where
        's: 'w,
    {
        let found = self.line.map(markup).unwrap_or_default();
        let markup = |source: usize| {
            let [start, end] = self.span(source)?;
            let after = found.partition_point(|(from, _)| *from <= start);
            let (from, to) = *found[..after].last().filter(|(_, to)| end <= *to)?;
            // What a tag is about is inside: right of one that opens, left of one that closes.
            Some(match tag(self.line?.get(from..to)?) {
                Some(Tag::Opens) => [false, true],
                Some(Tag::Closes) => [true, false],
                Some(Tag::Alone) | None => [true, true],
            })
        };
        let mut units = Vec::with_capacity(words.len());
        let mut at = 0;
        while at < words.len() {
            let source = self.of(at);
            let whole = source.and_then(|source| self.contraction(source)).filter(|(range, _)| {
                let copied = self.from.get(at..at + range.len());
                copied.is_some_and(|copied| {
                    copied.iter().zip(range.clone()).all(|(&from, source)| from == Some(source as u32))
                })
            });
            units.push(match whole {
                Some((range, text)) => Unit {
                    text: Cow::Borrowed(text),
                    words: range.len(),
                    copied: Some([range.start, range.end - 1]),
                    markup: None,
                },
                None => Unit {
                    text: self.word(at, words[at]),
                    words: 1,
                    copied: source.map(|source| [source; 2]),
                    markup: source.and_then(markup),
                },
            });
            at += units.last().map_or(1, |unit| unit.words);
        }
        units
    }

    /// Whether two units are joined, if the line says so.
    fn joins(&self, left: &Unit<'_>, right: &Unit<'_>) -> Option<bool> {
        self.line?;
        if let (Some([_, last]), Some([_, true])) = (left.copied, left.markup) {
            return Some(self.joined_right(last));
        }
        if let (Some([first, _]), Some([true, _])) = (right.copied, right.markup) {
            return Some(self.joined_left(first));
        }
        let ([_, last], [first, _]) = (left.copied?, right.copied?);
        // A mark inside something belongs to it, at its end to the sentence.
        let inside = |source: usize| self.joined_left(source) && self.joined_right(source);
        let marks =
            is_sentence_mark(&left.text) && !inside(last) || is_sentence_mark(&right.text) && !inside(first);
        (last + 1 == first && !marks).then(|| self.joined_right(last))
    }

    /// Whether a unit that stands first keeps its case: names such as iPhone, addresses, and what begins with a small
    /// letter in the line, too.
    fn keeps_case(&self, unit: &Unit<'_>) -> bool {
        let Some([first, _]) = unit.copied else { return false };
        let (Some(line), Some([start, end])) = (self.line, self.span(first)) else { return false };
        let surface = line.get(start..end).unwrap_or_default();
        let plain = surface.chars().all(|c| c.is_alphabetic() || matches!(c, '\'' | '’' | '-'));
        let capital_inside = surface.chars().skip(1).any(char::is_uppercase);
        first == 0 && surface.starts_with(char::is_lowercase) || !plain || capital_inside
    }
}

fn is_sentence_mark(text: &str) -> bool {
    matches!(text, "." | "," | "!" | "?" | ";" | ":")
}

impl TargetText {
    /// Words as they are.
    pub fn words() -> Self {
        Self { detokenizer: None, capitalise: false }
    }

    /// Natural text of a language.
    pub fn natural(lang: Lang) -> Self {
        Self { detokenizer: Some(Detokenizer::new(lang)), capitalise: !lang.is_spaceless() }
    }

    /// The text of a list of words.
    pub fn text(&self, words: &[&str]) -> String {
        self.compose(words, &Copies::default()).text
    }

    /// The text of a list of words, some of which are copies.
    pub(crate) fn compose(&self, words: &[&str], copies: &Copies<'_>) -> Composed {
        let shown: Vec<String> =
            words.iter().enumerate().map(|(at, word)| copies.word(at, word).into_owned()).collect();
        let Some(detokenizer) = self.detokenizer else {
            // Words as they are keep even the spaces around empty ones.
            let mut text = String::new();
            let mut spans = Vec::with_capacity(shown.len());
            for (index, word) in shown.iter().enumerate() {
                if index > 0 {
                    text.push(' ');
                }
                spans.push([text.len(), text.len() + word.len()]);
                text.push_str(word);
            }
            return Composed { text, words: shown, spans };
        };
        let units = copies.units(words);
        let texts: Vec<&str> = units.iter().map(|unit| unit.text.as_ref()).collect();
        let mut joins = detokenizer.joins(&texts);
        for (at, pair) in units.windows(2).enumerate() {
            if let Some(joined) = copies.joins(&pair[0], &pair[1]) {
                joins[at + 1] = joined;
            }
        }
        let mut text = String::new();
        let mut spans = Vec::with_capacity(words.len());
        let mut first = None;
        for (unit, joined) in units.iter().zip(joins) {
            if !text.is_empty() && !joined {
                text.push(' ');
            }
            if unit.markup.is_none() && unit.text.contains(char::is_alphanumeric) {
                first.get_or_insert((text.len(), unit));
            }
            let span = [text.len(), text.len() + unit.text.len()];
            spans.extend(std::iter::repeat_n(span, unit.words));
            text.push_str(&unit.text);
        }
        if let Some((at, _)) = first.filter(|(_, unit)| self.capitalise && !copies.keeps_case(unit)) {
            raise(&mut text, at, &mut spans);
        }
        Composed { text, words: shown, spans }
    }
}

/// Begins the rest of a text with a capital.
fn raise(text: &mut String, from: usize, spans: &mut [[usize; 2]]) {
    let capital = capitalise(&text[from..]);
    // A capital may take more or fewer bytes than the small letter.
    let letter = text[from..].char_indices().find(|(_, c)| c.is_alphanumeric()).map(|(at, _)| from + at);
    let (before, after) = (text.len() - from, capital.len());
    let moved = |at: usize| {
        let behind = letter.is_some_and(|letter| at > letter);
        if behind { at + after - before } else { at }
    };
    spans.iter_mut().flatten().for_each(|at| *at = moved(*at));
    text.replace_range(from.., &capital);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn natural(words: &[&str]) -> Composed {
        TargetText::natural(Lang::En).compose(words, &Copies::default())
    }

    #[test]
    fn every_target_word_knows_its_bytes() {
        let words = ["\"", "ʼtis", "ﬁne", "\"", ",", "he", "said", "."];
        let composed = natural(&words);
        assert_eq!(composed.text, TargetText::natural(Lang::En).text(&words));
        assert_eq!(composed.spans.len(), words.len());
        for ([start, end], word) in composed.spans.iter().zip(words) {
            assert_eq!(composed.text[*start..*end].to_lowercase(), word.to_lowercase());
        }
        // ı is two bytes, I is one.
        let composed = natural(&["ışık", "var"]);
        assert_eq!((composed.text.as_str(), composed.spans), ("Işık var", vec![[0, 6], [7, 10]]));
        assert_eq!(TargetText::words().text(&["a", "", "b"]), "a  b");
    }

    #[test]
    fn no_code_of_a_treebank_is_written() {
        let words = ["a", "-LRB-", "b", "-RRB-", "``", "c", "''", "1\\/2", "."];
        assert_eq!(natural(&words).text, "A (b) \"c\" 1/2.");
        assert_eq!(TargetText::words().text(&words), "a ( b ) \" c \" 1/2 .");
        assert_eq!(natural(&words).words[1], "(");
    }

    /// Composes target words that copy the source words at these places of a line; `~` is a word of its own, and two
    /// source words with `+` between them are a contraction.
    fn copied(lang: Lang, line: &str, source: &[&str], target: &[Result<u32, &str>]) -> Composed {
        let mut words = Vec::new();
        let mut at = 0;
        for text in source {
            let (surface, pieces) = text.split_once("→").unwrap_or((text, text));
            let start = at + line[at..].find(surface).expect("a word of the line");
            at = start + surface.len();
            for piece in pieces.split('+') {
                words.push(SourceWord { text: piece.to_string(), span: Some([start, at]) });
            }
        }
        let texts: Vec<&str> = target
            .iter()
            .map(|word| word.map_or_else(|own| own, |at| words[at as usize].text.as_str()))
            .collect();
        let from = target.iter().map(|word| word.ok()).collect();
        TargetText::natural(lang).compose(&texts, &Copies { line: Some(line), source: &words, from })
    }

    #[test]
    fn what_is_copied_is_put_together_as_it_was() {
        let money = ["It", "costs", "$", "3,499.99", "."];
        let target = [Err("es"), Err("kostet"), Ok(2), Ok(3), Ok(4)];
        assert_eq!(copied(Lang::De, "It costs $3,499.99.", &money, &target).text, "Es kostet $3,499.99.");
        // Reordered words are put together by the language's rules.
        let target = [Ok(3), Ok(2)];
        assert_eq!(copied(Lang::De, "It costs $3,499.99.", &money, &target).text, "3,499.99 $");
        let line = "50% 新聞 12:30 a.b";
        let words = ["50", "%", "新", "聞", "12", ":", "30"];
        let target: Vec<Result<u32, &str>> = (0..7).map(Ok).collect();
        assert_eq!(copied(Lang::Fr, line, &words, &target).text, "50% 新聞 12:30");
        // Sentence marks follow the target language.
        assert_eq!(copied(Lang::Fr, "Paris!", &["Paris", "!"], &[Ok(0), Ok(1)]).text, "Paris !");
        assert_eq!(copied(Lang::En, "Paris !", &["Paris", "!"], &[Ok(0), Ok(1)]).text, "Paris!");
    }

    #[test]
    fn markup_keeps_its_neighbours_and_names_their_case() {
        let line = "a <b>bold</b> man &amp; <i x=\"1\">dog</i>";
        let source = ["a", "<b>", "bold", "</b>", "man", "&amp;", "<i", "x=\"1\">", "dog", "</i>"];
        let target = [Ok(1), Err("fetter"), Ok(3), Err("mann"), Ok(5), Ok(6), Ok(7), Err("Hund"), Ok(9)];
        let composed = copied(Lang::De, line, &source, &target);
        assert_eq!(composed.text, "<b>Fetter</b> mann &amp; <i x=\"1\">Hund</i>");
        for (name, shown) in
            [("iPhone", "iPhone"), ("dog", "dog"), ("www.x.org", "www.x.org"), ("Hund", "Hund")]
        {
            assert_eq!(copied(Lang::De, name, &[name], &[Ok(0)]).text, shown);
        }
        assert_eq!(copied(Lang::De, "a dog", &["a", "dog"], &[Ok(1)]).text, "Dog");
        assert_eq!(copied(Lang::De, "a www.x.org", &["a", "www.x.org"], &[Ok(1)]).text, "www.x.org");
    }

    #[test]
    fn contractions_are_whole_again_if_all_of_them_is_copied() {
        let source = ["Er", "geht", "zum→zu+dem", "Haus", "."];
        let line = "Er geht zum Haus.";
        let composed = copied(Lang::En, line, &source, &[Err("he"), Ok(2), Ok(3), Ok(4), Ok(5)]);
        assert_eq!(composed.text, "He zum Haus.");
        assert_eq!(composed.words, ["he", "zu", "dem", "Haus", "."]);
        assert_eq!(composed.spans[1..3], [[3, 6]; 2]);
        assert_eq!(copied(Lang::En, line, &source, &[Err("he"), Ok(3), Ok(2)]).text, "He dem zu");
        assert_eq!(copied(Lang::En, line, &source, &[Err("he"), Ok(2)]).text, "He zu");
    }
}
