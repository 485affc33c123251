//! Segments taken apart and put together again.

use proptest::prelude::*;
use sylvan_tags::{Dialect, Segment};

/// Bytes of the words between spaces.
fn words(text: &str) -> Vec<[usize; 2]> {
    let start = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
    text.split_whitespace().map(|word| [start(word), start(word) + word.len()]).collect()
}

/// Puts a segment's tags into words, given links as "0-1 1-0".
fn placed(dialect: &Dialect, segment: &str, target: &str, links: &str) -> String {
    let segment = Segment::new(segment, dialect);
    let links: Vec<(u32, u32)> = links
        .split_whitespace()
        .map(|link| {
            let (source, target) = link.split_once('-').expect("a link");
            (source.parse().expect("a number"), target.parse().expect("a number"))
        })
        .collect();
    segment.translated(&words(segment.text()), target, &words(target), &links).text
}

fn xliff(segment: &str, target: &str, links: &str) -> String {
    placed(&Dialect::Xliff, segment, target, links)
}

#[test]
fn a_pair_follows_its_words() {
    let links = "0-1 1-0 2-2 3-3";
    assert_eq!(xliff("a <g id=\"1\">b</g> c d", "B A C D", links), "<g id=\"1\">B</g> A C D");
    assert_eq!(xliff("a <g id=\"1\">b c</g> d", "B A C D", links), "<g id=\"1\">B</g> A C D");
    // Inner pairs stay inside.
    let nested = "a <g id=\"1\">b <g id=\"2\">c</g></g> d";
    assert_eq!(xliff(nested, "A B C D", "0-0 1-1 2-2 3-3"), "A <g id=\"1\">B <g id=\"2\">C</g></g> D");
    // Words without links are inside only between others.
    assert_eq!(xliff("a <g>b</g> c", "A x B x B2 x C", "0-0 1-2 1-4 2-6"), "A x <g>B x B2</g> x C");
    // A pair whose words became nothing is where they would be.
    assert_eq!(xliff("a <g>b</g> c", "A C", "0-0 2-1"), "A <g></g>C");
}

#[test]
fn part_of_a_word_is_part_of_a_word_again() {
    let text = "less CO<sub>2</sub> than";
    assert_eq!(
        placed(&Dialect::Html, text, "weniger CO2-Ausstoß als", "0-0 1-1 2-2"),
        "weniger CO<sub>2</sub>-Ausstoß als"
    );
    assert_eq!(placed(&Dialect::Html, text, "als weniger CO2", ""), "als weniger CO<sub>2</sub>");
    assert_eq!(
        placed(&Dialect::Html, "the m<sup>2 </sup>of", "die m2 von", "0-0 1-1 2-2"),
        "die m<sup>2</sup> von"
    );
    // One that is not the same is inside as a whole.
    assert_eq!(placed(&Dialect::Html, "<b>B</b>ig dog", "großer Hund", "0-0 1-1"), "<b>großer</b> Hund");
}

#[test]
fn what_is_between_two_pairs_that_touch_belongs_to_the_second() {
    let text = "<g id=\"1\">1 million</g> <g id=\"2\">people</g> came";
    let expected = "<g id=\"1\">1 million</g> <g id=\"2\">de gens</g> vinrent";
    assert_eq!(xliff(text, "1 million de gens vinrent", "0-0 1-1 2-3 3-4"), expected);
}

#[test]
fn a_note_is_behind_all_that_it_is_about() {
    let links = "0-0 1-2 2-1 3-3";
    assert_eq!(
        xliff("the western Balkans<x id=\"1\"/>.", "les Balkans occidentaux .", links),
        "les Balkans occidentaux<x id=\"1\"/> ."
    );
    assert_eq!(
        xliff("uses a document<x id=\"1\"/> .", "ein Dokument nutzen .", "0-2 1-0 2-1 3-3"),
        "ein Dokument<x id=\"1\"/> nutzen ."
    );
}

#[test]
fn two_pairs_never_cross() {
    let segment = "<g id=\"1\">a b</g> <g id=\"2\">c d</g>";
    let all = xliff(segment, "A C B D", "0-0 1-2 2-1 3-3");
    assert_eq!(all, "<g id=\"1\">A</g> <g id=\"2\">C</g> B D");
}

#[test]
fn edges_stay_to_the_byte() {
    assert_eq!(xliff("<g id=\"1\"> a b.</g> ", "B. A", "0-1 1-0"), "<g id=\"1\"> B. A</g> ");
    assert_eq!(
        xliff(" <x id=\"1\"/>  a b <bx id=\"2\"/>", "B A", "0-1 1-0"),
        " <x id=\"1\"/>  B A <bx id=\"2\"/>"
    );
    assert_eq!(xliff("<x id=\"1\"/> ", "", ""), "<x id=\"1\"/> ");
    assert_eq!(xliff("", "", ""), "");
    // A pair at an edge goes with its words if it is not around all of them.
    assert_eq!(xliff("<g>a</g> b", "B A", "0-1 1-0"), "B <g>A</g>");
}

#[test]
fn single_tags_stay_with_the_word_that_they_touch() {
    assert_eq!(xliff("a<x id=\"1\"/> b c", "C A B", "0-1 1-2 2-0"), "C A<x id=\"1\"/> B");
    // One before a word stays between what is on either side of it.
    assert_eq!(xliff("a <x id=\"1\"/>b c", "A C B", "0-0 1-2 2-1"), "A <x id=\"1\"/>C B");
    // One that alone keeps words apart does so again.
    assert_eq!(xliff("(1)<x id=\"1\"/>a b", "(1) A B", "0-0 1-1 2-2"), "(1)<x id=\"1\"/>A B");
    assert_eq!(xliff("a <x/>b", "A B", "0-0 1-1"), "A <x/>B");
    assert_eq!(placed(&Dialect::Html, "a<br>b", "A B", "0-0 1-1"), "A<br>B");
    // One with spaces on both sides, among words, is one of them.
    let segment = Segment::new("you have <x id=\"7\"/> new mails", &Dialect::Xliff);
    assert_eq!(words(segment.text()).len(), 5);
    let kept = &segment.kept()[0];
    let there = &segment.text()[kept[0]..kept[1]];
    let target = format!("neue Mails: {there}");
    let links = [(0, 2), (2, 2), (3, 0), (4, 1)];
    let translated = segment.translated(&words(segment.text()), &target, &words(&target), &links);
    assert_eq!(translated.text, "neue Mails: <x id=\"7\"/>");
    // A translation that lost it has it at its end.
    let lost = segment.translated(&words(segment.text()), "neue Mails", &words("neue Mails"), &[]);
    assert_eq!(lost.text, "neue Mails<x id=\"7\"/>");
}

#[test]
fn white_space_is_on_the_side_where_it_was() {
    assert_eq!(xliff("a<g> b</g> c", "A B C", "0-0 1-1 2-2"), "A<g> B</g> C");
    assert_eq!(xliff("a <g>b </g>c", "A B C", "0-0 1-1 2-2"), "A <g>B </g>C");
    assert_eq!(placed(&Dialect::Html, "a <wbr> b", "A B", "0-0 1-1"), "A <wbr> B");
}

#[test]
fn the_ends_of_xliff_know_each_other() {
    let text = "a <bx id=\"1\" rid=\"5\"/>b<ex id=\"2\" rid=\"5\"/> c d";
    assert_eq!(
        xliff(text, "C A B D", "0-1 1-2 2-0 3-3"),
        "C A <bx id=\"1\" rid=\"5\"/>B<ex id=\"2\" rid=\"5\"/> D"
    );
    let code = "a <bpt id=\"1\">{\\b c}</bpt>b<ept id=\"1\">{\\b0}</ept> c <ph id=\"2\">%s</ph>.";
    let segment = Segment::new(code, &Dialect::Xliff);
    assert!(!segment.text().contains(['{', '%']) && segment.tags() == 3);
    // One end alone belongs to the word that it touches.
    assert_eq!(xliff("a b<ex id=\"1\"/> c d", "C B A D", "0-2 1-1 2-0 3-3"), "C B A<ex id=\"1\"/> D");
    assert_eq!(xliff("a <bx id=\"1\"/>b c d", "B A C D", "0-1 1-0 2-2 3-3"), "<bx id=\"1\"/>B A C D");
    // Crossing elements, ends stand for themselves.
    let crossing = "a <g>b <bx id=\"1\"/>c</g> d<ex id=\"1\"/> e";
    let upper = "A <g>B <bx id=\"1\"/>C</g> D<ex id=\"1\"/> E";
    assert_eq!(xliff(crossing, "A B C D E", "0-0 1-1 2-2 3-3 4-4"), upper);
}

#[test]
fn text_that_is_kept_is_said_so() {
    for (dialect, text) in [
        (Dialect::Html, "press <code>a &amp; b</code> now"),
        (Dialect::Html, "press <span translate=\"no\">a &amp; b</span> now"),
        (Dialect::Html, "press <b class='x notranslate'>a &amp; b</b> now"),
        (Dialect::Xliff, "press <mrk mtype=\"protected\">a &amp; b</mrk> now"),
        (Dialect::Xml { ignored: vec!["keep".into()] }, "press <keep>a &amp; b</keep> now"),
    ] {
        let segment = Segment::new(text, &dialect);
        assert_eq!(segment.text(), "press a & b now");
        let kept: Vec<&str> =
            segment.kept().iter().map(|&[start, end]| &segment.text()[start..end]).collect();
        assert_eq!(kept, ["a & b"], "{text}");
        let same = "0-0 1-1 2-2 3-3 4-4";
        assert_eq!(placed(&dialect, text, "press a & b now", same), text);
    }
    let script = Segment::new("a<script>if (a < b) {\"</b>\"}</script> b", &Dialect::Html);
    assert_eq!(script.text(), "a b");
    // Placeholders of translation systems.
    let ignored = Dialect::Xml { ignored: vec!["x".into()] };
    let segment = Segment::new("Hello <x id=\"0\"></x>, you.", &ignored);
    assert_eq!((segment.tags(), segment.kept().len()), (1, 1));
}

#[test]
fn words_know_where_they_were() {
    let line = "<p>a &lt;<b>b&eacute;</b>";
    let segment = Segment::new(line, &Dialect::Html);
    assert_eq!(segment.text(), "a <bé");
    let origin = |start, end| {
        let [start, end] = segment.origin([start, end]);
        &line[start..end]
    };
    assert_eq!(
        [origin(0, 1), origin(2, 3), origin(3, 6), origin(4, 6)],
        ["a", "&lt;", "b&eacute;", "&eacute;"]
    );
}

/// Pieces of segments, of all sorts.
fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "a",
        "b c",
        " ",
        "  ",
        "é",
        "&amp;",
        "&",
        "<",
        ">",
        "<3",
        "<g id=\"1\">",
        "</g>",
        "<g>",
        "<b>",
        "</b>",
        "</B>",
        "<br>",
        "<br/>",
        "<x/>",
        "<x id=\"2\"/>",
        "<bx id=\"3\"/>",
        "<ex id=\"3\"/>",
        "<bpt>c</bpt>",
        "<ept>d</ept>",
        "<code>",
        "</code>",
        "<!-- x -->",
        "<mrk mtype=\"protected\">",
        "</mrk>",
        ".",
        "(",
        ")",
        "\u{f000}",
        "<a \"",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// Whatever the segment and the links are, every tag comes back once, and pairs are nested as they were.
    #[test]
    fn every_tag_comes_back_once(
        pieces in prop::collection::vec(piece(), 0..14),
        targets in 0usize..6,
        links in prop::collection::vec((0u32..8, 0u32..6), 0..10),
        which in 0usize..3,
    ) {
        let line = pieces.concat();
        let dialect = [Dialect::Xliff, Dialect::Html, Dialect::Xml { ignored: vec!["code".into()] }][which].clone();
        let segment = Segment::new(&line, &dialect);
        let source = words(segment.text());
        let target: Vec<String> = (0..targets).map(|number| format!("t{number}")).collect();
        let target = if source.is_empty() { String::new() } else { target.join(" ") };
        let translated = segment.translated(&source, &target, &words(&target), &links);
        let again = Segment::new(&translated.text, &dialect);
        let tags = segment.all_tags().concat();
        for piece in &pieces {
            if piece.starts_with('<') && piece.ends_with('>') {
                let count = |text: &str| text.matches(piece).count();
                prop_assert_eq!(count(&tags), count(&translated.text), "{} in {}", piece, translated.text);
            }
        }
        for (span, word) in translated.spans.iter().zip(target.split(' ')) {
            prop_assert_eq!(&translated.text[span[0]..span[1]], word);
        }
        if !segment.is_well_formed() {
            return Ok(());
        }
        prop_assert!(again.is_well_formed(), "{}", translated.text);
        // The same words in the same order give the same line, but for entities.
        let same: Vec<(u32, u32)> = (0..source.len() as u32).map(|word| (word, word)).collect();
        let trimmed = segment.text().trim();
        let back = segment.translated(&source, trimmed, &words(trimmed), &same);
        // A tag inside a word goes around it, and may then be one of the words, or no longer.
        let letters = |segment: &Segment| {
            let is_letter = |c: &char| !c.is_whitespace() && !('\u{f000}'..'\u{f800}').contains(c);
            segment.text().chars().filter(is_letter).collect::<String>()
        };
        prop_assert_eq!(letters(&Segment::new(&back.text, &dialect)), letters(&segment));
        if !line.contains(['&', '<', '>']) {
            prop_assert_eq!(&back.text, &line);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// Parts are in order and apart from each other, whatever the document is.
    #[test]
    fn parts_are_apart(pieces in prop::collection::vec(piece(), 0..20), which in 0usize..3) {
        let text = pieces.concat();
        let dialect = [None, Some(Dialect::Html), Some(Dialect::Xliff)][which].clone();
        let sentences = |text: &str| {
            let ends: Vec<usize> = text.match_indices('.').map(|(at, _)| at + 1).chain([text.len()]).collect();
            let starts = [0].into_iter().chain(ends.iter().copied());
            starts.zip(&ends).map(|(start, &end)| [start, end]).collect()
        };
        let mut at = 0;
        for [start, end] in sylvan_tags::parts(&text, dialect.as_ref(), sentences) {
            prop_assert!(at <= start && start <= end && end <= text.len(), "{start} {end} in {text:?}");
            prop_assert!(text.is_char_boundary(start) && text.is_char_boundary(end));
            at = end;
        }
    }
}
