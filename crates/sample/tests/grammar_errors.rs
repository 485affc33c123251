//! A wrong grammar file is refused with its line, what was found and what was expected.

use proptest::prelude::*;
use sylvan_sample::{Config, GRAMMAR_FILES, Grammar, Sampler, Workspace};

const SMALL: &str = "feature Agr = s p
category S
category NP[Agr]
lexical N noun NN
lexical V verb VV
word the DET DT
word . PUNCT .
start S
entries N
  猫 cat
  狗 dog 60% | hound 40%
entries V
  跑 run ran run
S -> (IP n:NP[A] (VP v:V[A]) (PU 。))
  = n/nsubj *v .#。/punct
NP[A] -> (NP (DT 那) n:N[A])
  = the#那/det *n
";

fn cases() -> u32 {
    if std::env::var("SYLVAN_TESTS").is_ok_and(|mode| mode == "full") { 1_000 } else { 64 }
}

/// Replaces a piece of the small grammar and returns the error.
fn error(from: &str, to: &str) -> String {
    assert!(SMALL.contains(from), "{from}");
    Grammar::parse("small", &SMALL.replacen(from, to, 1)).expect_err("the text is damaged").to_string()
}

#[test]
fn the_small_grammar_works() {
    let grammar = Grammar::parse("small", SMALL).unwrap();
    assert_eq!(grammar.lexical_entries(), 3);
    let sampler = Sampler::with_grammar(grammar, Config::default()).unwrap();
    let mut workspace = Workspace::new();
    let mut seen: Vec<String> = (0..200).map(|index| sampler.pair(index, &mut workspace).target()).collect();
    seen.sort();
    seen.dedup();
    assert_eq!(
        seen,
        [
            "the cat runs .",
            "the cats run .",
            "the dog runs .",
            "the dogs run .",
            "the hound runs .",
            "the hounds run ."
        ]
    );
}

#[test]
fn errors_name_the_line_and_what_was_expected() {
    let check = |from: &str, to: &str, expected: &str| {
        let found = error(from, to);
        assert!(found.starts_with(expected), "\n{found}\nshould begin with\n{expected}");
    };
    check("start S", "begin S", "small:8:1: found `begin`, expected a statement");
    check("start S\n", "", "small:1: found no start statement, expected `start NAME`");
    check("start S", "start T", "small:8: found `T`, expected a category");
    check("category NP[Agr]", "category NP[Case]", "small:3: found `Case`, expected the name of a feature");
    check("noun NN", "nuon NN", "small:4: found `nuon`, expected one of noun, mass, verb");
    check("  猫 cat", "  猫", "small:10: found `猫`, expected SOURCE translation");
    check("  跑 run ran run", "  跑 run ran", "small:13: found 2 forms, expected base; or");
    check("狗 dog 60% | hound 40%", "狗 dog 40% | hound 60%", "small:11: found a later variant");
    check("n:NP[A] ", "n:MP[A] ", "small:14:12: found `MP`, expected a declared category");
    check("n:NP[A] ", "n:NP[A,B] ", "small:14:12: found `NP[A,B]`, expected 1 values for NP");
    check("n:NP[A] ", "n:NP[q] ", "small:14:15: found `q`, expected a feature value or a set");
    check("(PU 。)", "(PU 。", "small:14:");
    check("n/nsubj *v", "n/nsubj v", "small:15:");
    check("n/nsubj *v .", "n *v .", "small:15:5: found `n`, expected `/relation`");
    check("n/nsubj *v", "*v", "small:15: found slot `n` 0 times, expected every slot once");
    check("#。/punct", "#？/punct", "small:15:");
    check("the#那", "thee#那", "small:17: found `thee`, expected a slot or a declared word");
    check("  = the#那/det *n\n", "", "small:16: found a rule without a target side");
    check("(NP (DT 那) n:N[A])", "(NP n:NP[A] (DT 那) m:N[A])", "small:17:");
}

/// The cheapest way on each side goes through the other symbol: a generator that followed them would never end.
#[test]
fn a_grammar_whose_short_ways_run_in_a_circle_still_ends() {
    let text = "category S
category X
category Y
word w NOUN NN
start S
S -> (S (W 一) x:X)
  = *x w#一/dep
X -> (X (W 一) (W 二) (W 三) (W 四) (W 五) (W 六))
  = *w#一
X -> (X (W 一) y:Y)
  = w#一/dep *y
Y -> (Y (W 一) x:X)
  = w#一/dep *x
Y -> (Y (W 一))
  = *w#一 w/dep w/dep w/dep w/dep w/dep w/dep
";
    let grammar = Grammar::parse("circle", text).unwrap();
    let sampler =
        Sampler::with_grammar(grammar, Config { min_words: 1, max_words: 9, ..Config::default() }).unwrap();
    let mut workspace = Workspace::new();
    for index in 0..1_000 {
        assert!(sampler.pair(index, &mut workspace).source().split(' ').count() <= 9);
    }
}

#[test]
fn useless_and_circular_rules_are_refused() {
    let add = |more: &str| Grammar::parse("small", &format!("{SMALL}{more}")).unwrap_err().to_string();
    let unproductive = add("category X\nS -> (IP x:X (PU 。))\n  = *x .#。/punct\n");
    assert!(unproductive.starts_with("small:19: found an unproductive rule"), "{unproductive}");
    assert!(unproductive.ends_with("nothing makes X"), "{unproductive}");
    let unreachable = add("category X\nX -> (X (Y 一))\n  = *the#一\n");
    assert!(unreachable.starts_with("small:19: found a rule that no sentence reaches"), "{unreachable}");
    let unused = add("lexical W noun NN\nentries W\n  人 man men\n");
    assert!(unused.starts_with("small:20: found `人`, which no rule uses"), "{unused}");
    let left = add("NP[A] -> (NP n:NP[A] (CC 和) m:N[A])\n  = *n the#和/det@m m/conj\n");
    assert!(left.contains("found left recursion through NP"), "{left}");
    let crossing =
        add("NP[s] -> (NP (DT 一) (DT 二) (DT 三) n:N[s])\n  = the#一/det@. the#二/det *n .#三/punct\n");
    assert!(crossing.contains("found crossing dependencies"), "{crossing}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    /// Whatever is done to the text, reading it ends with a grammar or with an error, never with a panic; and a
    /// grammar that is accepted can be sampled from.
    #[test]
    fn damaged_grammars_never_panic(at in 0usize..SMALL.len(), cut in 0usize..12, put in "[ \\n\\[\\]()a-zA-Z0-9:=*#~/|<>@%.,猫!-]{0,6}") {
        let mut text: Vec<char> = SMALL.chars().collect();
        let at = at.min(text.len());
        let end = (at + cut).min(text.len());
        text.splice(at..end, put.chars());
        let text: String = text.into_iter().collect();
        let config = Config { min_words: 1, ..Config::default() };
        let grammar = Grammar::parse("damaged", &text).ok();
        if let Some(sampler) = grammar.and_then(|grammar| Sampler::with_grammar(grammar, config).ok()) {
            let mut workspace = Workspace::new();
            let mut pair = sampler.pair(0, &mut workspace);
            let tokens = pair.target().split(' ').count();
            prop_assert_eq!(pair.conllu().lines().count(), tokens + 3);
        }
    }

    #[test]
    fn damaged_lines_of_the_shipped_grammar_never_panic(file in 0usize..7, line in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), put in "[ \\[\\](){}a-zA-Z0-9:=*#~/|<>@%.,了!-]{0,4}") {
        let mut files: Vec<(String, String)> =
            GRAMMAR_FILES.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        let mut lines: Vec<String> = files[file].1.lines().map(str::to_owned).collect();
        let line = line.index(lines.len());
        let mut chars: Vec<char> = lines[line].chars().collect();
        let at = at.index(chars.len() + 1);
        chars.splice(at..at, put.chars());
        lines[line] = chars.into_iter().collect();
        files[file].1 = lines.join("\n");
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        // Either outcome is fine; the test is that there is one.
        drop(Grammar::parse_files(&files));
    }
}

#[test]
fn a_hundred_thousand_broken_grammars_are_grammars_or_errors_with_their_place() {
    let lines: Vec<&str> = SMALL.lines().collect();
    let mut rng = sylvan_base::Rng::new(31);
    let (mut accepted, mut refused) = (0, 0);
    for round in 0..100_000 {
        let broken = round % lines.len();
        let mutated = sylvan_testkit::mutate(lines[broken].as_bytes(), &mut rng);
        let mutated = String::from_utf8_lossy(&mutated);
        let text: Vec<&str> =
            lines.iter().enumerate().map(|(at, line)| if at == broken { &*mutated } else { line }).collect();
        match Grammar::parse("broken", &text.join("\n")) {
            Ok(_) => accepted += 1,
            Err(error) => {
                refused += 1;
                assert!(error.to_string().starts_with("broken:"), "{error}");
            }
        }
    }
    assert!(accepted > 1_000 && refused > 1_000, "{accepted} accepted, {refused} refused");
}
