//! Tables of other toolkits: lines as they write them, and our rules there and back.
#![allow(clippy::unwrap_used)]

use sylvan_base::{Rng, Silent, Symbol, Vocab};
use sylvan_rules::formats::{RuleReader, TextFormat, TextRule, export};
use sylvan_rules::{
    Count, Grammar, GrammarBuilder, ImportConfig, Rule, RuleCount, Source, TargetSide, WordLink, import,
};
use sylvan_store::{Output, TextReader};

const TREES: [TextFormat; 3] = [TextFormat::Travatar, TextFormat::Moses, TextFormat::Cdec];

fn read(format: TextFormat, text: &str, vocab: &mut Vocab) -> sylvan_base::Result<Vec<TextRule>> {
    let mut reader = TextReader::from_text("table", text);
    let mut rules = RuleReader::new(format);
    let mut found = Vec::new();
    while let Some(rule) = rules.next_rule(&mut reader, vocab)? {
        found.push(rule);
    }
    Ok(found)
}

fn write(grammar: &Grammar, vocab: &Vocab, format: TextFormat, name: &str) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    let mut out = Output::create(&path).unwrap();
    export(grammar, vocab, format, &mut out).unwrap();
    out.finish().unwrap();
    let mut reader = TextReader::open(&path).unwrap();
    let mut text = String::new();
    while let Some(line) = reader.next_line().unwrap() {
        text.push_str(line);
        text.push('\n');
    }
    (dir, text)
}

/// One rule in all formats, and what each of them says.
#[test]
fn a_rule_in_each_format() {
    let mut vocab = Vocab::new();
    let rule = Rule::parse("VP(VB(show) x1:NP PP(TO(to) x2:NP)) -> x2 に x1 を 見せ", &mut vocab).unwrap();
    let mut builder = GrammarBuilder::new(["p_ef", "p_fe"]);
    let count = |count| Count::from_f64(f64::from(count));
    let counts = RuleCount { rule: count(1), source: count(12), target: count(3) };
    builder.add_counted(&rule, &[-0.5, 0.0], counts, &[(0, 2), (1, 0)], &vocab);
    let grammar = builder.finish();
    let expected = [
        (
            TextFormat::Travatar,
            "VP ( VB ( \"show\" ) x0:NP PP ( TO ( \"to\" ) x1:NP ) ) ||| x1 \"に\" x0 \"を\" \"見せ\" ||| \
             egfp=-0.5 fgep=0 p=1 w=3 ||| 1 12 3 ||| 0-2 1-0\n",
        ),
        (
            TextFormat::Moses,
            "[VP [VB show] [NP] [PP [TO to] [NP]]] ||| [X][X] に [X][X] を 見せ [X] ||| \
             1 1 0.6065306597126334 1 ||| 0-4 1-2 2-1 3-0 ||| 3 12 1 ||| |||\n",
        ),
        (
            TextFormat::Cdec,
            "(VP (VB show) [NP] (PP (TO to) [NP])) ||| [2] に [1] を 見せ ||| p_ef=-0.5 p_fe=0 ||| 0-4 2-1\n",
        ),
        (
            TextFormat::Joshua,
            "[VP] ||| show [NP,1] to [NP,2] ||| [NP,2] に [NP,1] を 見せ ||| p_ef=-0.5 p_fe=0 ||| 0-4 2-1\n",
        ),
    ];
    for (format, text) in expected {
        let (_dir, written) = write(&grammar, &vocab, format, "out");
        assert_eq!(written, text);
        let again = read(format, text, &mut vocab).unwrap();
        let flat = Rule::parse("VP(show x1:NP to x2:NP) -> x2 に x1 を 見せ", &mut vocab).unwrap();
        assert_eq!(again[0].rule, if format == TextFormat::Joshua { flat } else { rule.clone() });
        assert_eq!(again[0].links, [(0, 2), (1, 0)]);
    }
}

/// What those toolkits' own tables look like beyond what we write.
#[test]
fn lines_of_other_toolkits() {
    let mut vocab = Vocab::new();
    let mut check = |format, text: &str, rule: &str, values: &[f32]| {
        let found = read(format, text, &mut vocab).unwrap();
        assert_eq!(found.len(), 1, "{text}");
        assert_eq!(found[0].rule.show(&vocab), rule);
        let seen: Vec<f32> = found[0].features.iter().map(|feature| feature.1).collect();
        assert_eq!(seen, values, "{text}");
    };
    // Comments, features without names, links left out, an empty side.
    check(
        TextFormat::Cdec,
        "# a comment\n\n(S [A-B] (C .)) ||| [1] . ||| 1.5 X=-2;Y=3\n",
        "S(x1:A-B C(.)) -> x1 .",
        &[1.5, -2.0, 3.0],
    );
    check(TextFormat::Cdec, "(A a) |||  ||| \n", "A(a) ->", &[]);
    check(TextFormat::Joshua, "[X] ||| a [X,1] b ||| c [X,1] ||| 0.5\n", "X(a x1:X b) -> c x1", &[0.5]);
    // cdec needs no labels in the target.
    check(TextFormat::Joshua, "[X] ||| [A,1] [B,2] ||| [2] [1] |||\n", "X(x1:A x2:B) -> x2 x1", &[]);
    // A tree, a flat source side, a probability of 0, entities.
    let tree = "[A [B] [C x&#91;y&amp;]] ||| [X][X] &quot;z [X] ||| 1 0 ||| 0-0 1-1 ||| 1 1 1 ||| |||\n";
    check(TextFormat::Moses, tree, "A(x1:B C(x[y&)) -> x1 \"\\\"z\"", &[0.0, -100.0]);
    check(TextFormat::Moses, "a [B][X] [A] ||| [B][X] c [X] ||| 1 ||| 1-0\n", "A(a x1:B) -> x1 c", &[0.0]);
    check(TextFormat::Moses, "[B][X] a [A] ||| [B][X] c [X] ||| 1 ||| 0-0\n", "A(x1:B a) -> x1 c", &[0.0]);
}

#[test]
fn broken_lines_are_named() {
    let cases = [
        (TextFormat::Cdec, "(A a) ||| b", "table:1"),
        (TextFormat::Cdec, "(A a)) ||| b ||| x=1", "table:1:6"),
        (TextFormat::Cdec, "(A (B)) ||| b ||| x=1", "table:1:6"),
        (TextFormat::Cdec, "(A a) (B b) ||| b ||| x=1", "table:1:7"),
        (TextFormat::Cdec, "(A a ||| b ||| x=1", "table:1:1"),
        (TextFormat::Cdec, "(A a) ||| [1] ||| x=1", "table:1"),
        (TextFormat::Cdec, "(A a) ||| b ||| x=y", "table:1:17"),
        (TextFormat::Cdec, "(A a) ||| b ||| x=1 ||| 0-1", "table:1:25"),
        (TextFormat::Cdec, "a ||| b ||| x=1", "table:1"),
        (TextFormat::Joshua, "A ||| a ||| b ||| x=1", "table:1:1"),
        (TextFormat::Joshua, "[A] ||| [B,2] ||| [B,2] ||| x=1", "table:1:9"),
        (TextFormat::Moses, "[A a] ||| b [X] ||| x", "table:1:21"),
        (TextFormat::Moses, "[A [B]] ||| [X][X] [X] ||| 1 |||", "table:1:13"),
        (TextFormat::Moses, "a b ||| b [X] ||| 1", "table:1:1"),
        (TextFormat::Moses, "[A a] ||| </s> [X] ||| 1", "table:1:11"),
        (TextFormat::Moses, "[A a] ||| b [X] ||| -1", "table:1:21"),
    ];
    for (format, line, place) in cases {
        let error = read(format, line, &mut Vocab::new()).unwrap_err().to_string();
        assert!(error.starts_with(place), "{line}: {error}");
    }
}

const LABELS: [&str; 8] = ["NP", "NP-SBJ", "S'", ".", "''", "-LRB-", "$", "PRP$"];
const WORDS: [&str; 16] =
    ["a", "|||", "[X]", "[1]", "a&b", "(", ")", "x0", "\"", "&amp;", "#", "[X][X]", "x1:NP", "|", "=1", "新"];

fn random_rule(rng: &mut Rng, vocab: &mut Vocab) -> (Rule, Vec<WordLink>) {
    let label = |rng: &mut Rng, vocab: &mut Vocab| vocab.intern(rng.pick::<&str>(&LABELS));
    let mut source: Vec<Source> = Vec::new();
    // Children still to come, per open node; at most some levels.
    let mut open = vec![1u32];
    let (mut words, mut variables) = (0, 0);
    while let Some(left) = open.last_mut() {
        if *left == 0 {
            open.pop();
            continue;
        }
        *left -= 1;
        let depth = open.len();
        if depth == 1 || (depth < 5 && rng.chance(0.4)) {
            let children = 1 + rng.below(3) as u32;
            source.push(Source::Open(label(rng, vocab), children));
            open.push(children);
        } else if rng.chance(0.5) {
            source.push(Source::Word(vocab.intern(rng.pick::<&str>(&WORDS))));
            words += 1;
        } else {
            source.push(Source::Var(label(rng, vocab)));
            variables += 1;
        }
    }
    let mut target: Vec<TargetSide> = (0..variables).map(TargetSide::Var).collect();
    for _ in 0..rng.below(4) {
        let word: Symbol = vocab.intern(rng.pick::<&str>(&WORDS));
        target.push(TargetSide::Word(word));
    }
    for index in (1..target.len()).rev() {
        target.swap(index, rng.below(index + 1));
    }
    let target_words = target.len() - variables as usize;
    let all = (0..words).flat_map(|s| (0..target_words as u32).map(move |t| (s, t)));
    let links = all.filter(|_| rng.chance(0.3)).collect();
    (Rule::new(source, target).unwrap(), links)
}

#[test]
fn any_table_comes_back_from_any_format_that_has_trees() {
    let mut rng = Rng::new(7);
    for round in 0..sylvan_testkit::cases(60, 1_000) {
        let mut vocab = Vocab::new();
        let mut builder = GrammarBuilder::new(["p_ef", "p_fe", "lex_ef", "lex_fe"]);
        for _ in 0..20 {
            let (rule, links) = random_rule(&mut rng, &mut vocab);
            let features: Vec<f32> = (0..4).map(|_| -(rng.unit() * 20.0) as f32).collect();
            let mut count = || Count::from_f64(rng.below(2000) as f64 / 8.0);
            let counts = RuleCount { rule: count(), source: count(), target: count() };
            builder.add_counted(&rule, &features, counts, &links, &vocab);
        }
        let grammar = builder.finish();
        for format in TREES {
            let name = *rng.pick(&["out", "out.gz", "out.zst"]);
            let (dir, _) = write(&grammar, &vocab, format, name);
            let table = dir.path().join("table");
            let from = dir.path().join(name);
            import(&from, format, &table, &ImportConfig::default(), &Silent).unwrap();
            let again = Grammar::open(&table).unwrap();
            again.verify().unwrap();
            assert_eq!(again.feature_names(), grammar.feature_names());
            let all = |grammar: &Grammar, vocab: &Vocab| {
                let mut all: Vec<_> = grammar
                    .rules()
                    .map(|id| {
                        let notes = grammar.notes(id);
                        let count = if format == TextFormat::Cdec { None } else { notes.count };
                        let count = count.map(|count| [count.rule.0, count.source.0, count.target.0]);
                        let features: Vec<u32> = grammar.features(id).iter().map(|f| f.to_bits()).collect();
                        (grammar.rule(id).show(vocab), features, count, notes.links)
                    })
                    .collect();
                all.sort();
                all
            };
            assert_eq!(all(&again, &again.vocab()), all(&grammar, &vocab), "{format:?}, round {round}");
        }
    }
}

#[test]
fn more_names_of_features_than_a_table_can_have_are_an_error() {
    let table = |names: usize| {
        let features: String = (0..names).map(|name| format!(" f{name}=1")).collect();
        let mut reader = TextReader::from_text("t", format!("(A b) ||| c |||{features}\n"));
        RuleReader::new(TextFormat::Cdec).next_rule(&mut reader, &mut Vocab::new())
    };
    assert_eq!(table(1_000).unwrap().unwrap().features.len(), 1_000);
    let error = table(200_000).err().map(|error| error.to_string()).unwrap();
    assert!(error.starts_with("t:1: found more than 1000 names of features"), "{error}");
    let mut reader = TextReader::from_text("t", "(A b) ||| c ||| f=1\n(A b) ||| c ||| f=3e38\n");
    let mut rules = RuleReader::new(TextFormat::Cdec);
    assert!(rules.next_rule(&mut reader, &mut Vocab::new()).is_ok());
    let error = rules.next_rule(&mut reader, &mut Vocab::new()).unwrap_err().to_string();
    assert!(error.starts_with("t:2:17: found \"f=3e38\""), "{error}");
}
