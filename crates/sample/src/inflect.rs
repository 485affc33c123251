//! Regular English inflection, so that the lexicon only spells out what is irregular.

/// The plural of a noun.
pub(crate) fn plural(noun: &str) -> String {
    add_s(noun)
}

/// The third person singular of a verb.
pub(crate) fn third_person(verb: &str) -> String {
    add_s(verb)
}

/// Plural nouns and third persons follow the same spelling.
fn add_s(word: &str) -> String {
    if let Some(stem) = consonant_y(word) {
        return format!("{stem}ies");
    }
    let hisses = ["s", "x", "z", "ch", "sh"].iter().any(|end| word.ends_with(end));
    let goes = ["go", "do", "potato", "tomato", "hero"].iter().any(|end| word.ends_with(end));
    if hisses || goes { format!("{word}es") } else { format!("{word}s") }
}

/// The regular past of a verb, which is also its participle.
pub(crate) fn past(verb: &str) -> String {
    if let Some(stem) = consonant_y(verb) {
        return format!("{stem}ied");
    }
    if verb.ends_with('e') {
        return format!("{verb}d");
    }
    format!("{}ed", doubled(verb))
}

/// The -ing form of a verb.
pub(crate) fn ing(verb: &str) -> String {
    if let Some(stem) = verb.strip_suffix("ie") {
        return format!("{stem}ying");
    }
    if verb.ends_with('e') && !verb.ends_with("ee") && !verb.ends_with("be") {
        return format!("{}ing", &verb[..verb.len() - 1]);
    }
    format!("{}ing", doubled(verb))
}

/// The comparative of an adjective: `-er` for short ones; longer ones must be written out in the lexicon.
pub(crate) fn comparative(adjective: &str) -> String {
    if let Some(stem) = consonant_y(adjective) {
        return format!("{stem}ier");
    }
    if adjective.ends_with('e') {
        return format!("{adjective}r");
    }
    format!("{}er", doubled(adjective))
}

/// `carr` for `carry`, nothing for `play`.
fn consonant_y(word: &str) -> Option<&str> {
    let stem = word.strip_suffix('y')?;
    (!stem.is_empty() && !stem.ends_with(vowel)).then_some(stem)
}

/// Doubles the last consonant of one-syllable words with one vowel letter: stop -> stopp.
fn doubled(word: &str) -> String {
    let letters: Vec<char> = word.chars().collect();
    let syllables = letters.windows(2).filter(|pair| vowel(pair[0]) && !vowel(pair[1])).count();
    if let [.., before, middle, last] = letters.as_slice() {
        let closed = !vowel(*before) && vowel(*middle) && !vowel(*last) && !"wxy".contains(*last);
        if closed && syllables == 1 {
            return format!("{word}{last}");
        }
    }
    word.to_owned()
}

fn vowel(letter: char) -> bool {
    "aeiou".contains(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_forms_follow_the_spelling_rules() {
        let check = |verb: &str, forms: [&str; 3]| {
            assert_eq!([third_person(verb), past(verb), ing(verb)], forms, "{verb}");
        };
        check("cook", ["cooks", "cooked", "cooking"]);
        check("stop", ["stops", "stopped", "stopping"]);
        check("study", ["studies", "studied", "studying"]);
        check("play", ["plays", "played", "playing"]);
        check("watch", ["watches", "watched", "watching"]);
        check("use", ["uses", "used", "using"]);
        check("visit", ["visits", "visited", "visiting"]);
        check("clean", ["cleans", "cleaned", "cleaning"]);
        check("agree", ["agrees", "agreed", "agreeing"]);
        check("answer", ["answers", "answered", "answering"]);
        check("fix", ["fixes", "fixed", "fixing"]);
        assert_eq!(plural("city"), "cities");
        assert_eq!(plural("day"), "days");
        assert_eq!(plural("box"), "boxes");
        assert_eq!(comparative("big"), "bigger");
        assert_eq!(comparative("happy"), "happier");
        assert_eq!(comparative("tall"), "taller");
        assert_eq!(comparative("large"), "larger");
        assert_eq!(comparative("cheap"), "cheaper");
    }
}
