//! From a line of the lexicon to tagged target words: inflection, tags, and the inner structure of
//! translations of several words (`train_station`, `look_after`, `last_year`).

use sylvan_base::Fault;

use crate::inflect;
use crate::syntax::{File, Kind, Word};

/// The target words of one form of one translation, as a small tree.
#[derive(Debug, Clone)]
pub(crate) struct Analysis {
    pub(crate) words: Vec<Part>,
    pub(crate) head: usize,
}

/// One word of a translation.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) word: Word,
    /// The word it depends on; its own position for the head.
    pub(crate) parent: usize,
    pub(crate) relation: &'static str,
    /// Whether its link to the source word is sure.
    pub(crate) sure: bool,
}

/// More words than this are no translation of one word.
const MAX_WORDS: usize = 20;

/// Analyses form number `form` of a translation whose forms are written as `forms`.
pub(crate) fn analyse(file: &File, kind: Kind, forms: &[String], form: usize) -> Result<Analysis, Fault> {
    let parts: Vec<&str> = forms[0].split('_').collect();
    if parts.iter().any(|part| part.is_empty()) || parts.len() > MAX_WORDS {
        let expected = format!("at most {MAX_WORDS} words joined by single `_`");
        return Err(Fault::new(0, format!("`{}`", forms[0]), expected));
    }
    // Verbs have their head first (look_after), everything else last (train_station, last_year).
    let head = if matches!(kind, Kind::Verb | Kind::Name) { 0 } else { parts.len() - 1 };
    let lemma = parts[head];
    let (surface, upos, xpos) = inflected(kind, forms, form, head)?;
    let default = match kind {
        Kind::Name => ("PROPN", "NNP"),
        Kind::Number => ("NUM", "CD"),
        _ => ("NOUN", "NN"),
    };
    let listed = |part: &str| file.words.get(part).filter(|_| kind != Kind::Name).cloned();
    let mut words: Vec<Word> = parts
        .iter()
        .map(|part| listed(part).unwrap_or_else(|| word((*part).to_owned(), default.0, default.1, part)))
        .collect();
    // Phrases and uncounted nouns may have a listed word as head: `on_Monday`, `English`.
    if !matches!(kind, Kind::Phrase | Kind::Mass) || !file.words.contains_key(lemma) {
        words[head] = word(surface, upos, xpos, lemma);
    }
    // "more interesting": the comparative of long adjectives has an adverb before it.
    if let (Kind::Adjective, Some(rest)) = (kind, words[head].form.strip_prefix("more_")) {
        words[head] = word(rest.to_owned(), "ADJ", "JJ", lemma);
        words.insert(head, word("more".to_owned(), "ADV", "RBR", "more"));
        return Ok(attach(&words, head + 1, kind));
    }
    Ok(attach(&words, head, kind))
}

/// Gives every word but the head its relation: determiners, adjectives and numbers hang on the next noun,
/// prepositions on the last noun, and what follows a verb is its particle, object or complement.
fn attach(words: &[Word], head: usize, kind: Kind) -> Analysis {
    let nominal = |word: &Word| matches!(word.upos.as_str(), "NOUN" | "PROPN");
    let last = words.len() - 1;
    let mut list = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let next_noun = (at + 1..words.len()).find(|&other| nominal(&words[other])).unwrap_or(head);
        let below = |fallback: usize| if at < last && next_noun > at { next_noun } else { fallback };
        let (parent, relation) = match (kind, word.upos.as_str()) {
            _ if at == head => (head, "root"),
            (Kind::Name, _) => (head, "flat"),
            (Kind::Number, _) => (head, "compound"),
            (_, "DET") => (below(head), "det"),
            (_, "NUM") => (below(head), "nummod"),
            (Kind::Verb, "ADP" | "SCONJ") if at < last => (below(head), "case"),
            (Kind::Verb, "ADP" | "SCONJ" | "PART") => (head, "compound:prt"),
            (Kind::Verb, "ADJ" | "VERB") => (head, "xcomp"),
            (Kind::Verb, "ADV") => (head, "advmod"),
            (Kind::Verb, _) if words[..at].iter().any(|word| word.upos == "ADP") => (head, "obl"),
            (Kind::Verb, _) => (head, "obj"),
            (_, "ADP") => (head, "case"),
            (_, "ADJ") => (below(head), "amod"),
            (_, "ADV") => (head, "advmod"),
            _ if words[head].upos == "ADV" => (head, "obl:npmod"),
            _ => (head, "compound"),
        };
        let mut word = word.clone();
        if relation == "compound:prt" {
            (word.upos, word.xpos) = ("ADP".to_owned(), "RP".to_owned());
        }
        list.push(Part { sure: relation != "det", word, parent, relation });
    }
    Analysis { words: list, head }
}

/// The head in the wanted form, with its tags.
fn inflected(
    kind: Kind,
    forms: &[String],
    form: usize,
    head: usize,
) -> Result<(String, &'static str, &'static str), Fault> {
    let written = |at: usize| -> Option<String> {
        let text = forms.get(at)?;
        // Later forms may be written for the head alone or for the whole (`look_after looked_after`).
        Some(text.split('_').nth(head).unwrap_or(text).to_owned())
    };
    let base = written(0).unwrap_or_default();
    let wrong = |expected: &str| Err(Fault::new(0, format!("{} forms", forms.len()), expected));
    Ok(match kind {
        Kind::Noun => {
            if forms.len() > 2 {
                return wrong("singular, or singular and plural");
            }
            let plural = || written(1).unwrap_or_else(|| inflect::plural(&base));
            if form == 0 { (base, "NOUN", "NN") } else { (plural(), "NOUN", "NNS") }
        }
        Kind::Verb => {
            if !matches!(forms.len(), 1 | 3 | 5) {
                return wrong("base; or base, past, participle; or base, -s, past, participle, -ing");
            }
            let full = forms.len() == 5;
            let past_at = if full { 2 } else { 1 };
            let past = || written(past_at).unwrap_or_else(|| inflect::past(&base));
            let participle = || written(past_at + 1).unwrap_or_else(|| inflect::past(&base));
            let third =
                || if full { written(1) } else { None }.unwrap_or_else(|| inflect::third_person(&base));
            let ing = || if full { written(4) } else { None }.unwrap_or_else(|| inflect::ing(&base));
            match form {
                0 => (base, "VERB", "VB"),
                1 | 2 => (base, "VERB", "VBP"),
                3 => (third(), "VERB", "VBZ"),
                4 => (past(), "VERB", "VBD"),
                5 => (participle(), "VERB", "VBN"),
                _ => (ing(), "VERB", "VBG"),
            }
        }
        Kind::Adjective => {
            if forms.len() > 2 {
                return wrong("base, or base and comparative");
            }
            // The comparative is taken whole: `more_useful` is split later.
            let er = || forms.get(1).cloned().unwrap_or_else(|| inflect::comparative(&base));
            if form == 0 { (base, "ADJ", "JJ") } else { (er(), "ADJ", "JJR") }
        }
        _ if forms.len() > 1 => return wrong("one form; join words with `_`"),
        Kind::Mass | Kind::Phrase => (base, "NOUN", "NN"),
        Kind::Adverb => (base, "ADV", "RB"),
        Kind::Name => (base, "PROPN", "NNP"),
        Kind::Number => (base, "NUM", "CD"),
    })
}

fn word(form: String, upos: &str, xpos: &str, lemma: &str) -> Word {
    Word { form, upos: upos.to_owned(), xpos: xpos.to_owned(), lemma: lemma.to_owned() }
}
