//! What people write comes back as they wrote it: brackets, quotation marks, contractions, addresses, markup, money,
//! emoji and foreign scripts; and no code of a treebank is ever written.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;

use common::corpus::{Corpus, failure, messages, success};
use common::run_in;
use serde_json::Value;

/// What was copied, and how much of it came back as it was.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Counts {
    lines: usize,
    words: usize,
    words_kept: usize,
    /// Two neighbours of the source that are neighbours in the translation.
    pairs: usize,
    pairs_kept: usize,
    codes: usize,
    /// Lines with a pair that did not.
    torn: Vec<String>,
}

const CODES: [&str; 8] = ["-LRB-", "-RRB-", "-LSB-", "-RSB-", "-LCB-", "-RCB-", "``", "''"];

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

fn spans(value: &Value) -> Vec<std::ops::Range<usize>> {
    let place = |span: &Value| span[0].as_u64().unwrap() as usize..span[1].as_u64().unwrap() as usize;
    value.as_array().unwrap().iter().map(place).collect()
}

impl Counts {
    /// Looks at a line and what `translate --json` says about it.
    fn add(&mut self, line: &str, json: &str) {
        let object: Value = serde_json::from_str(json).unwrap();
        self.lines += 1;
        let text = object["translation"].as_str().unwrap();
        self.codes += CODES.iter().filter(|code| text.contains(*code) && !line.contains(*code)).count();
        let Some(words) = object["words"].as_array().map(|_| strings(&object["words"])) else { return };
        self.codes += words.iter().filter(|word| CODES.contains(word) && !line.contains(**word)).count();
        let (source, from, to) =
            (strings(&object["source"]), spans(&object["source_spans"]), spans(&object["spans"]));
        // Links of copies, in the order of the translation; a word that copies several is no copy.
        let mut copied: Vec<Option<usize>> = vec![None; words.len()];
        for link in object["links"].as_array().unwrap() {
            let [s, t] = [0, 1].map(|side| link[side].as_u64().unwrap() as usize);
            if source[s] == words[t] {
                copied[t] = if copied[t].is_none() { Some(s) } else { Some(usize::MAX) };
            }
        }
        copied.iter_mut().for_each(|copy| *copy = copy.filter(|&s| s != usize::MAX));
        for (t, s) in copied.iter().enumerate().filter_map(|(t, s)| Some((t, (*s)?))) {
            let written = &text[to[t].clone()];
            let same = |other: &str| written.to_lowercase() == other.to_lowercase();
            self.words += 1;
            // A contraction is whole again, or only a part of it was copied.
            let part = from.iter().filter(|other| **other == from[s]).count() > 1 && same(source[s]);
            self.words_kept += usize::from(same(&line[from[s].clone()]) || part);
            if copied.get(t + 1) != Some(&Some(s + 1)) || from[s] == from[s + 1] {
                continue;
            }
            let mark = |word: &str| [".", ",", "!", "?", ";", ":"].contains(&word);
            if !mark(words[t]) && !mark(words[t + 1]) {
                self.pairs += 1;
                let joined = from[s].end == from[s + 1].start;
                if joined == (to[t].end == to[t + 1].start) {
                    self.pairs_kept += 1;
                } else {
                    self.torn.push(format!("{:?} in {line:?}: {text:?}", [words[t], words[t + 1]]));
                }
            }
        }
    }
}

/// Translates lines and counts.
fn counts(folder: &Path, model: &str, text: &str, more: &[&str]) -> Counts {
    let arguments = [&["translate", "--model", model, "--json"], more].concat();
    let output = success(&run_in(folder, &arguments, text));
    let mut counts = Counts::default();
    for (line, json) in text.lines().zip(output.lines()) {
        counts.add(line, json);
    }
    assert_eq!(counts.lines, text.lines().count());
    counts
}

/// A tiny language with brackets and contractions, its German, and its treebank.
fn raw_model() -> Corpus {
    let corpus = Corpus::new(10);
    let (mut source, mut target, mut bank) = (String::new(), String::new(), String::new());
    for (who, wer) in [("Anna", "Anna"), ("Peter", "Peter"), ("Tom", "Tom"), ("Mary", "Maria")] {
        for (what, was) in [("cat", "Katze"), ("dog", "Ratte"), ("house", "Tür"), ("car", "Uhr")] {
            for (side, seite) in [("left", "links"), ("right", "rechts")] {
                source.push_str(&format!(
                    "{who} sees the {what}.\n{who} doesn't see the {what}.\nThe {what} ({side}) sees {who}.\n"
                ));
                target.push_str(&format!(
                    "{wer} sieht die {was}.\n{wer} sieht die {was} nicht.\nDie {was} ({seite}) sieht {wer}.\n"
                ));
                let the = format!("(NP (DT the) (NN {what}))");
                bank.push_str(&format!("(S (NP (NNP {who})) (VP (VBZ sees) {the}) (. .))\n"));
                bank.push_str(&format!(
                    "(S (NP (NNP {who})) (VP (VBZ does) (RB n't) (VP (VB see) {the})) (. .))\n"
                ));
                bank.push_str(&format!(
                    "(S (NP {the} (PRN (-LRB- -LRB-) (JJ {side}) (-RRB- -RRB-))) (VP (VBZ sees) (NP (NNP {who}))) (. .))\n"
                ));
            }
        }
    }
    corpus.write("en", &source);
    corpus.write("de", &target);
    corpus.write("bank", &bank);
    for lang in ["en", "de"] {
        let all = corpus.read(lang);
        corpus.write(
            &format!("dev.{lang}.raw"),
            &all.lines().take(12).map(|line| format!("{line}\n")).collect::<String>(),
        );
    }
    train_raw(&corpus, "raw", "2");
    corpus
}

fn train_raw(corpus: &Corpus, out: &str, threads: &str) {
    let train = "train --source en --target de --dev-source dev.en.raw --dev-target dev.de.raw --source-lang en \
                 --target-lang de --treebank bank --rounds 1 --lm-order 3 --parser-epochs 3 --nbest 20";
    let mut arguments: Vec<&str> = train.split_whitespace().collect();
    arguments.extend(["--out", out, "--threads", threads]);
    success(&corpus.run(&arguments, ""));
}

/// Lines with everything that is easily torn apart.
const HARD: &str = "\
The cat (left) sees Tom.
Peter doesn't see the [old] {new} dog.
Tom can't see Anna's house; Mary couldn’t either.
\"Peter\" sees 'the cat' and “the dog”.
See https://example.org/a_(b)?c=1, www.x.org or me@y.org (now).
The car costs $3,499.99, £20 or 1.200,50€ (50% of 7,001¥).
A <b>bold</b> man &amp; a <a href=\"x y\">link</a>&nbsp;here &#39;so&#39;.
Anna sees 👨‍👩‍👧, 👍🏽 and 🇩🇪🇫🇷!
He wrote 新聞 and кошка and naïve café: 12:30, a/b, x=1, #5, @me, C++.
O'Neil's dog isn't at 5 o'clock -- is it?
";

#[test]
fn no_code_is_written_and_copies_come_back_as_they_were() {
    let corpus = raw_model();
    let folder = corpus.dir.path();
    let translate = |line: &str| success(&corpus.run(&["translate", "--model", "raw"], &format!("{line}\n")));
    assert_eq!(translate("The cat (left) sees Tom."), "Die Katze (links) sieht Tom.\n");
    // Words that no rule knows are copied, between brackets too.
    assert!(translate("The cat (bold) sees Tom.").contains("(bold)"));
    assert!(translate("The cat [bold] sees Tom.").contains("[bold]"));
    assert_eq!(translate("Tom doesn't see the house."), "Tom sieht die Tür nicht.\n");
    for search in ["cube", "incremental", "prediction"] {
        let all = counts(folder, "raw", HARD, &["--search", search, "--nbest", "3"]);
        assert_eq!(
            (all.codes, all.words_kept, all.pairs_kept),
            (0, all.words, all.pairs),
            "{search}: {all:?}"
        );
    }
    let all = counts(folder, "raw", HARD, &[]);
    assert!(all.words > 90 && all.pairs > 50, "{all:?}");
    assert_eq!((all.codes, all.words_kept, all.pairs_kept), (0, all.words, all.pairs), "{all:?}");
    // The same at any number of threads, in training and translation.
    train_raw(&corpus, "again", "1");
    assert!(std::fs::read(corpus.path("raw")).unwrap() == std::fs::read(corpus.path("again")).unwrap());
    let threads = |n: &str| success(&corpus.run(&["translate", "--model", "raw", "--threads", n], HARD));
    assert_eq!(threads("1"), threads("3"));
    for code in CODES {
        assert!(!threads("1").contains(code), "{code}");
    }
}

#[test]
fn markup_and_money_are_kept() {
    let corpus = raw_model();
    let output = success(&corpus.run(&["translate", "--model", "raw"], HARD));
    for kept in [
        "<b>",
        "</b>",
        "&amp;",
        "<a href=\"x y\">",
        "</a>&nbsp;",
        "&#39;so&#39;",
        "$3,499.99",
        "£20",
        "1.200,50€",
        "50%",
        "7,001¥",
        "👨‍👩‍👧",
        "👍🏽",
        "🇩🇪",
        "https://example.org/a_(b)?c=1",
        "新聞",
        "12:30",
        "a/b",
    ] {
        assert!(output.contains(kept), "{kept}: {output}");
    }
    let line = "<b>The cat (left)</b> sees <i>Tom</i>.\n";
    let tags = success(&corpus.run(&["translate", "--model", "raw"], line));
    assert!(tags.starts_with("<b>Die Katze (links)</b>") && tags.contains(" <i>Tom</i>"), "{tags}");
}

#[test]
fn text_is_cut_as_the_treebank_cuts_it() {
    let corpus = raw_model();
    let explained =
        success(&corpus.run(&["explain", "--model", "raw", "--json"], "Tom doesn't see Anna's cat.\n"));
    let object: Value = serde_json::from_str(explained.lines().next().unwrap()).unwrap();
    // The treebank has does n't, and no 's.
    assert_eq!(strings(&object["source"]), ["Tom", "does", "n't", "see", "Anna's", "cat", "."]);
    let line = "Tom doesn't see (Anna).";
    let json = success(&corpus.run(&["translate", "--model", "raw", "--json"], &format!("{line}\n")));
    let object: Value = serde_json::from_str(&json).unwrap();
    let cut: Vec<&str> = spans(&object["source_spans"]).into_iter().map(|span| &line[span]).collect();
    assert_eq!(cut, ["Tom", "does", "n't", "see", "(", "Anna", ")", "."]);
    assert_eq!(strings(&object["source"]), cut);
    // The words that rules were learnt from are the same.
    assert!(corpus.read("raw.work/train.source.tok").contains("Anna does n't see the cat ."));
    assert!(corpus.read("raw.work/train.trees").contains("(VBZ does) (RB n't)"));
    // A glossary's terms are cut in the same way.
    corpus.write("terms", "doesn't see\tübersieht\n");
    let with = success(
        &corpus.run(&["translate", "--model", "raw", "--glossary", "terms"], "Tom doesn't see the cat.\n"),
    );
    assert!(with.contains("übersieht"), "{with}");
}

#[test]
fn a_parser_gets_brackets_as_its_treebank_has_them() {
    let corpus = raw_model();
    corpus.write("two", "the cat ( left ) sees Tom .\nthe cat -LRB- left -RRB- sees Tom .\n");
    let trees = success(&corpus.run(&["parser", "parse", "--model", "raw.work/parser", "two"], ""));
    let trees: Vec<&str> = trees.lines().collect();
    assert_eq!(trees[0], trees[1], "with and without codes");
    assert!(trees[0].contains("(PRN (-LRB- -LRB-) (JJ left) (-RRB- -RRB-))"), "{}", trees[0]);
    let info = success(&corpus.run(&["parser", "info", "--conventions", "raw.work/parser"], ""));
    assert!(info.contains("form\t(\t-LRB-") && info.contains("suffix\tn't"), "{info}");
}

#[test]
fn languages_that_nobody_knows_are_named() {
    let corpus = Corpus::new(10);
    for (code, nearest) in [("english", "English is en"), ("xx", "the nearest is"), ("cz", "Czech is cs")] {
        for command in ["tokenize", "detokenize", "split"] {
            let told = failure(&corpus.run(&[command, "--lang", code], "a b\n"));
            assert!(told.contains(&format!("{code:?}")) && told.contains(nearest), "{command}: {told}");
        }
        for option in ["--source-lang", "--target-lang"] {
            let told = failure(&corpus.train("m", &[option, code]));
            assert!(told.contains(&option[2..]) && told.contains(nearest), "{told}");
        }
    }
    let output = corpus.run(&["tokenize", "--lang", "es"], "a,b\n");
    assert_eq!(success(&output), "a , b\n");
    assert!(messages(&output).contains("es has no rules of its own"), "{}", messages(&output));
    assert_eq!(messages(&corpus.run(&["tokenize", "--lang", "de-AT"], "a\n")), "");
}

#[test]
fn lines_without_a_known_word_are_counted_once_per_run() {
    let corpus = Corpus::new(120);
    let usual = ["--treebank", "train.tree", "--parser-epochs", "1", "--rounds", "1", "--out", "m"];
    success(&corpus.run(&common::corpus::arguments(&usual), ""));
    let known = corpus.read("dev.zh").lines().next().unwrap().to_string();
    let raw = format!("{}\n{known}\n两只狗在草地上玩耍吧。\n12 ,\n\n", known.replace(' ', ""));
    let output = corpus.run(&["translate", "--model", "m"], &raw);
    assert_eq!(success(&output).lines().count(), 5);
    let told = messages(&output);
    assert_eq!(told.matches("all words unknown").count(), 1, "{told}");
    assert!(told.contains("in 2 of 5 lines") && told.contains("separated by spaces"), "{told}");
    let output = corpus.run(&["translate", "--model", "m"], &format!("{known}\n12\n"));
    assert_eq!((success(&output).lines().count(), messages(&output).as_str()), (2, ""));
}

/// The first lines of a file.
fn head(from: &Path, lines: usize, to: &Path) {
    let text = std::fs::read_to_string(from).unwrap();
    std::fs::write(to, text.lines().take(lines).map(|line| format!("{line}\n")).collect::<String>()).unwrap();
}

/// Trains a small model on captions and translates captions and debates: all of their brackets, quotation marks,
/// contractions and signs.
#[allow(clippy::print_stdout)]
fn real(source: &str, target: &str, bank: &str, trees: usize) {
    let (Some(captions), Some(debates), Some(bank)) =
        (sylvan_testkit::data("multi30k"), sylvan_testkit::data("europarl"), sylvan_testkit::data(bank))
    else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    for (name, lang) in [("s", source), ("t", target)] {
        head(&captions.join(format!("train.{lang}")), 1_500, &dir.join(name));
        head(&captions.join(format!("val.{lang}")), 60, &dir.join(format!("dev.{name}")));
    }
    // Blocks of a treebank end with a blank line, trees in brackets with their line.
    let text = std::fs::read_to_string(&bank).unwrap();
    let end = if text.starts_with('(') { "\n" } else { "\n\n" };
    std::fs::write(dir.join("bank"), text.split(end).take(trees).collect::<Vec<_>>().join(end) + end)
        .unwrap();
    let train = format!(
        "train --source s --target t --dev-source dev.s --dev-target dev.t --source-lang {source} --target-lang {target} \
         --treebank bank --out m --rounds 1 --nbest 10 --beam 30 --parser-epochs 1 --align-preset fast --compose 2"
    );
    success(&run_in(dir, &train.split_whitespace().collect::<Vec<_>>(), ""));
    for text in [captions.join(format!("val.{source}")), debates.join(format!("dev.{source}"))] {
        let lines = std::fs::read_to_string(&text).unwrap();
        let all = counts(dir, "m", &lines, &["--search", "cube", "--beam", "20"]);
        println!("{}: {all:?}", text.display());
        assert_eq!(
            (all.codes, all.words_kept, all.pairs_kept),
            (0, all.words, all.pairs),
            "{}: {all:?}",
            text.display()
        );
        assert!(all.words > all.lines, "{all:?}");
    }
}

#[test]
fn captions_and_debates_in_english_come_back_as_they_were() {
    real("en", "de", "gum/train.ptb", 1_500);
}

#[test]
fn captions_and_debates_in_german_come_back_as_they_were() {
    real("de", "en", "ud/de/train.conllu", 1_500);
}
