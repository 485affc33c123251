//! Nothing is lost on the way to tokens and back.
#![allow(clippy::unwrap_used)]

use std::sync::LazyLock;

use proptest::prelude::*;
use sylvan_text::{Detokenizer, Lang, Protect, Tokenizer, join, mark, unmark};

const LANGS: [Lang; 7] = [Lang::En, Lang::De, Lang::Fr, Lang::Cs, Lang::Zh, Lang::Ja, Lang::Other];

/// Made once: the dictionary of one of them takes a moment to load.
static TOKENIZERS: LazyLock<Vec<Tokenizer>> = LazyLock::new(|| LANGS.map(Tokenizer::new).into());

fn collapsed(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn words(lang: Lang, line: &str) -> String {
    let tokens = Tokenizer::new(lang).tokenize(line);
    tokens.iter().map(|token| token.text(line)).collect::<Vec<_>>().join(" ")
}

proptest! {
    #[test]
    fn tokens_and_joins_give_the_line_back(line in "[a-zA-Z0-9 .,;:!?'’\"()&@/#%$é\u{301}新は„“«»￭\u{3000}-]{0,60}", which in 0usize..7) {
        let tokens = TOKENIZERS[which].tokenize(&line);
        prop_assert_eq!(join(&line, &tokens), collapsed(&line));
        // The marks make even the text exact.
        prop_assert_eq!(unmark(&mark(&line, &tokens)), collapsed(&line));
        let mut end = 0;
        for (index, token) in tokens.iter().enumerate() {
            prop_assert!(!token.text(&line).is_empty() && !token.text(&line).contains(char::is_whitespace));
            prop_assert!(token.span.start as usize >= end);
            prop_assert!(line[end..token.span.start as usize].trim().is_empty());
            prop_assert_eq!(token.joined_left, index > 0 && token.span.start as usize == end);
            prop_assert_eq!(token.joined_right, tokens.get(index + 1).is_some_and(|next| next.joined_left));
            end = token.span.end as usize;
        }
        prop_assert!(line[end..].trim().is_empty());
    }

    #[test]
    fn any_text_is_cut_and_put_together_without_a_fall(line in any::<String>(), which in 0usize..7) {
        let tokens = TOKENIZERS[which].tokenize(&line);
        prop_assert_eq!(join(&line, &tokens), collapsed(&line));
        let texts: Vec<&str> = tokens.iter().map(|token| token.text(&line)).collect();
        let back = Detokenizer::new(LANGS[which]).detokenize(&texts);
        prop_assert_eq!(back.replace(' ', ""), texts.concat().replace(' ', ""));
    }
}

#[track_caller]
fn check(lang: Lang, line: &str, expected: &str) {
    assert_eq!(words(lang, line), expected);
    let tokens: Vec<&str> = expected.split(' ').collect();
    assert_eq!(Detokenizer::new(lang).detokenize(&tokens), line);
}

#[test]
fn english_there_and_back() {
    check(Lang::En, "He doesn't, the boys' dog's 90's.", "He doesn 't , the boys ' dog 's 90 's .");
    check(
        Lang::En,
        "\"No!\" said Mr. X (of the U.S.): 'yes'.",
        "\" No ! \" said Mr. X ( of the U.S. ) : ' yes ' .",
    );
    check(
        Lang::En,
        "Wait... 3,000.50 at No. 5, and/or #7 for $8.",
        "Wait ... 3,000.50 at No. 5 , and / or # 7 for $ 8 .",
    );
    check(Lang::En, "See http://a.b/c?d=1, or mail x.y@z.org.", "See http://a.b/c?d=1 , or mail x.y@z.org .");
    check(Lang::En, "It’s the well-known café.", "It ’s the well-known café .");
}

#[test]
fn german_french_and_czech_there_and_back() {
    check(
        Lang::De,
        "Am 3. Mai kam Dr. Maus in die „Bar“-Straße.",
        "Am 3. Mai kam Dr. Maus in die „ Bar “ -Straße .",
    );
    check(Lang::De, "Wie geht's?", "Wie geht ' s ?");
    check(Lang::Fr, "L'homme d’ici dit : \"Où es-tu ?\"", "L' homme d’ ici dit : \" Où es-tu ? \"");
    check(Lang::Cs, "Muž řekl: „ne“, např. dnes.", "Muž řekl : „ ne “ , např. dnes .");
}

#[test]
fn scripts_without_spaces() {
    #[cfg(feature = "zh")]
    check(Lang::Zh, "他来到了北京大学。", "他 来到 了 北京大学 。");
    check(Lang::Ja, "私はテニスをします。", "私 は テニス をします 。");
    assert_eq!(words(Lang::En, "He said 新聞 twice."), "He said 新 聞 twice .");
}

#[test]
fn what_is_to_be_kept_is_kept() {
    let line = "Use {b:class=\"x\"} and v1.2-rc!";
    let tokenizer =
        Tokenizer::new(Lang::En).protecting(Protect::new(&["\\{[^}]*\\}", "v[0-9].*rc"]).unwrap());
    let tokens = tokenizer.tokenize(line);
    let texts: Vec<&str> = tokens.iter().map(|token| token.text(line)).collect();
    assert_eq!(texts.join(" "), "Use {b:class=\"x\"} and v1.2-rc !");
    assert_ne!(words(Lang::En, line), "Use {b:class=\"x\"} and v1.2-rc !");
}

#[test]
fn markup_and_emoji_stay_whole() {
    check(Lang::En, "A <b>bold</b> man &amp; a <br/> dog.", "A <b> bold </b> man &amp; a <br/> dog .");
    assert_eq!(words(Lang::En, "<i x=\"1\">so</i>"), "<i x=\"1\"> so </i>");
    check(Lang::De, "Ja 👨‍👩‍👧 👍🏽 🇩🇪 ❤️ 1️⃣!", "Ja 👨‍👩‍👧 👍🏽 🇩🇪 ❤️ 1️⃣ !");
    assert_eq!(words(Lang::En, "🇩🇪🇫🇷👍👍🏽a"), "🇩🇪 🇫🇷 👍 👍🏽 a");
}

#[test]
fn captions_come_back_as_they_were() {
    let Some(folder) = sylvan_testkit::data("multi30k") else { return };
    for (code, lang) in [("en", Lang::En), ("de", Lang::De), ("fr", Lang::Fr), ("cs", Lang::Cs)] {
        let (mut same, mut all) = (0u32, 0u32);
        for part in ["train", "val", "test_2016_flickr"] {
            let text = std::fs::read_to_string(folder.join(format!("{part}.{code}"))).unwrap();
            for line in text.lines() {
                let tokens = words(lang, line);
                let back = Detokenizer::new(lang).detokenize(&tokens.split(' ').collect::<Vec<_>>());
                same += u32::from(back == collapsed(line));
                all += 1;
            }
        }
        let share = 100.0 * f64::from(same) / f64::from(all);
        assert!(share >= 99.5, "{code}: {share:.2} % of {all} lines come back");
    }
}
