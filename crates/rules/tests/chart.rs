//! The chart of a sentence against what flat rules derive by definition.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use sylvan_base::{Rng, Symbol, Vocab};
use sylvan_forest::TranslationForest;
use sylvan_rules::apply::{
    Applier, Applying, ChartLimits, DefaultRules, Origin, PHRASE, SENTENCE, SentenceRules,
};
use sylvan_rules::{Filter, Grammar, GrammarBuilder, Rule, RuleId, Source, TargetSide, Weights};

type Span = (u32, u32);

/// A sentence and flat rules with at most two variables, which may be side by side.
fn random_problem(rng: &mut Rng, vocab: &mut Vocab) -> (Vec<Symbol>, Grammar) {
    let label = vocab.intern(PHRASE);
    vocab.intern(SENTENCE);
    let words = ["a", "b", "c"].map(|word| vocab.intern(word));
    let sentence: Vec<Symbol> = (0..1 + rng.below(6)).map(|_| *rng.pick(&words)).collect();
    let mut builder = GrammarBuilder::new(["score"]);
    for _ in 0..4 + rng.below(12) {
        let count = 1 + rng.below(4);
        let mut source = vec![Source::Open(label, count as u32)];
        let mut variables = 0;
        for _ in 0..count {
            // Sometimes a variable alone: such a rule would stand for itself, and applies nowhere.
            if variables < 2 && rng.chance(if count > 1 { 0.4 } else { 0.1 }) {
                source.push(Source::Var(label));
                variables += 1;
            } else {
                source.push(Source::Word(*rng.pick(&words)));
            }
        }
        let mut target: Vec<TargetSide> = (0..variables).map(TargetSide::Var).collect();
        rng.shuffle(&mut target);
        for _ in 0..rng.below(3) {
            let word = vocab.intern(rng.pick::<&str>(&["x", "y"]));
            target.insert(rng.below(target.len() + 1), TargetSide::Word(word));
        }
        builder.add(&Rule::new(source, target).unwrap(), &[-(rng.unit() as f32)], vocab);
    }
    (sentence, builder.finish())
}

/// All ways in which a source side covers a span, given which spans are derived.
fn ways(sentence: &[Symbol], source: &[Source], (at, end): Span, derived: &BTreeSet<Span>) -> Vec<Vec<Span>> {
    let Some((token, rest)) = source.split_first() else {
        return if at == end { vec![Vec::new()] } else { Vec::new() };
    };
    match token {
        Source::Word(word) if at < end && sentence[at as usize] == *word => {
            ways(sentence, rest, (at + 1, end), derived)
        }
        Source::Var(_) => (at + 1..=end)
            .filter(|&until| derived.contains(&(at, until)))
            .flat_map(|until| {
                let rest = ways(sentence, rest, (until, end), derived);
                rest.into_iter().map(move |parts| [vec![(at, until)], parts].concat())
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// What each rule derives, with its parts in source order.
type Edges = BTreeSet<(Span, String, Vec<Span>)>;

/// Adds rules until nothing new is derived; then everything that a whole sentence uses.
fn by_definition(sentence: &[Symbol], grammar: &Grammar, limit: u32, defaults: DefaultRules) -> Edges {
    let length = sentence.len() as u32;
    let is_alone = |rule: &Rule| matches!(rule.source(), [_, Source::Var(_)]);
    let rules = grammar.rules().map(|id| (id, grammar.rule(id)));
    let rules: Vec<(RuleId, Rule)> = rules.filter(|(_, rule)| !is_alone(rule)).collect();
    let alone = |at: u32| {
        rules.iter().any(|(_, rule)| {
            let source = rule.source();
            source.len() == 2 && source[1] == Source::Word(sentence[at as usize])
        })
    };
    let copied = |at: u32| match defaults {
        DefaultRules::Missing => !alone(at),
        DefaultRules::Always => true,
        DefaultRules::Never => false,
    };
    let mut derived: BTreeSet<Span> = (0..length).filter(|&at| copied(at)).map(|at| (at, at + 1)).collect();
    loop {
        let before = derived.len();
        for start in 0..length {
            for end in start + 1..=length.min(start + limit) {
                let matches =
                    |rule: &Rule| !ways(sentence, &rule.source()[1..], (start, end), &derived).is_empty();
                if rules.iter().any(|(_, rule)| matches(rule)) {
                    derived.insert((start, end));
                }
            }
        }
        if derived.len() == before {
            break;
        }
    }
    let mut phrases = Edges::new();
    for &(start, end) in &derived {
        for (id, rule) in &rules {
            for parts in ways(sentence, &rule.source()[1..], (start, end), &derived) {
                phrases.insert(((start, end), format!("{:?}", Origin::Rule(0, *id)), parts));
            }
        }
        if end == start + 1 && copied(start) {
            phrases.insert(((start, end), format!("{:?}", Origin::Copy), Vec::new()));
        }
    }
    // S[0,k] for all k that can be reached from 0 and from which the end can be reached.
    let mut begun = BTreeSet::from([0]);
    for end in 1..=length {
        if derived.iter().any(|&(start, until)| until == end && begun.contains(&start)) {
            begun.insert(end);
        }
    }
    let mut ends = BTreeSet::from([length]);
    for start in (0..length).rev() {
        if derived.iter().any(|&(from, until)| from == start && ends.contains(&until)) {
            ends.insert(start);
        }
    }
    let good = |place: u32| begun.contains(&place) && ends.contains(&place);
    let mut all = Edges::new();
    let mut open: Vec<Span> = Vec::new();
    for &(start, end) in derived.iter().filter(|&&(start, end)| good(start) && good(end)) {
        open.push((start, end));
        // The part before it is a sentence, if there is one.
        let name = if start == 0 { Origin::Start } else { Origin::Glue };
        all.insert(((0, end), format!("{name:?}"), vec![(start, end)]));
    }
    let mut used: BTreeSet<Span> = BTreeSet::new();
    while let Some(span) = open.pop() {
        if used.insert(span) {
            for edge in phrases.iter().filter(|(head, ..)| *head == span) {
                open.extend(edge.2.iter().copied());
                all.insert(edge.clone());
            }
        }
    }
    all
}

fn edges(forest: &TranslationForest, applier: &Applier, grammar: &Grammar) -> (Edges, usize) {
    let (mut found, mut count) = (Edges::new(), 0);
    let span = |vertex| {
        let span: sylvan_base::Span = forest.span(vertex);
        (span.start, span.end)
    };
    for vertex in forest.vertices() {
        for edge in forest.edges(vertex) {
            let origin = applier.origin(forest.edge(edge).spec.rule);
            let tails: Vec<Span> = forest.tails(edge).map(span).collect();
            let parts = match origin {
                Origin::Rule(_, id) => {
                    let mut parts = vec![(0, 0); tails.len()];
                    let variables = grammar.rule(id).target().to_vec();
                    let variables = variables.iter().filter_map(|side| match side {
                        TargetSide::Var(variable) => Some(*variable as usize),
                        TargetSide::Word(_) => None,
                    });
                    variables.zip(tails).for_each(|(variable, tail)| parts[variable] = tail);
                    parts
                }
                // The sentence before it is what it is.
                Origin::Glue => {
                    assert_eq!(tails[0], (0, tails[1].0));
                    tails[1..].to_vec()
                }
                _ => tails,
            };
            found.insert((span(vertex), format!("{origin:?}"), parts));
            count += 1;
        }
    }
    (found, count)
}

#[test]
fn charts_hold_what_flat_rules_derive_and_a_whole_sentence_uses() {
    let mut rng = Rng::new(23);
    let (mut derivable, mut with_parts) = (0, 0);
    for case in 0..sylvan_testkit::cases(3_000, 20_000) {
        let mut vocab = Vocab::new();
        let (sentence, grammar) = random_problem(&mut rng, &mut vocab);
        let limit = 1 + rng.below(7) as u32;
        let defaults = *rng.pick(&[DefaultRules::Missing, DefaultRules::Always, DefaultRules::Never]);
        // There is nothing to be parsed, so that its weight does not matter.
        let of_rules = [("score", 1.0), ("rules", 0.5), ("words", -0.25), ("parse", 9.0)];
        let weights = Weights::of(of_rules.into_iter().chain([("glue", -3.0), ("oov", -7.0)]));
        let chart = ChartLimits { max_span: limit };
        let applying = Applying { default_rules: defaults, chart, ..Applying::default() };
        let applier = Applier::new(&grammar, &weights, applying);
        let forest = applier.chart_forest(&sentence, &vocab, SentenceRules::default());
        let expected = by_definition(&sentence, &grammar, limit, defaults);
        // Without a way through there is no forest.
        let whole = expected.iter().any(|(span, name, _)| {
            *span == (0, sentence.len() as u32) && (name == "Start" || name == "Glue")
        });
        if !whole {
            assert!(forest.is_dead() && forest.edge_ids().len() == 0, "case {case}");
            assert_eq!(forest.span(forest.goal()), sylvan_base::Span::new(0, sentence.len()));
            continue;
        }
        let (found, count) = edges(&forest, &applier, &grammar);
        assert_eq!(found, expected, "case {case}");
        assert_eq!(count, found.len(), "no edge is there twice");
        derivable += 1;
        with_parts +=
            usize::from(found.iter().any(|(_, name, parts)| name.starts_with("Rule") && parts.len() > 1));
        // Scores of what is no rule.
        for edge in forest.edge_ids() {
            let spec = forest.edge(edge).spec;
            match applier.origin(spec.rule) {
                Origin::Start => assert_eq!(spec.score, 0.0),
                Origin::Glue => assert_eq!(spec.score, -3.0),
                Origin::Copy => assert_eq!(spec.score, -7.0),
                Origin::Default(_) => panic!("there are no nodes"),
                Origin::Rule(_, id) => {
                    let rule = grammar.rule(id);
                    let words =
                        rule.target().iter().filter(|side| matches!(side, TargetSide::Word(_))).count();
                    let score = f64::from(grammar.features(id)[0]) + 0.5 - 0.25 * words as f64;
                    assert!((spec.score - score).abs() < 1e-9);
                }
            }
        }
    }
    assert!(derivable > 1_000 && with_parts > 100, "{derivable} {with_parts}");
}

/// n words that no rule has: n copies, n beginnings, and 2n - 1 + n edges (the specification counts one more, of a goal
/// of its own).
#[test]
fn unknown_words_are_copied_one_by_one() {
    for length in 1..9 {
        let mut vocab = Vocab::new();
        vocab.intern(PHRASE);
        vocab.intern(SENTENCE);
        let words: Vec<Symbol> = (0..length).map(|index| vocab.intern(&format!("u{index}"))).collect();
        let grammar = GrammarBuilder::new([]).finish();
        let applier =
            Applier::new(&grammar, &Weights::of([("glue", -1.0), ("oov", -10.0)]), DefaultRules::Missing);
        let forest = applier.chart_forest(&words, &vocab, SentenceRules::default());
        assert_eq!(forest.vertices().count(), 2 * length);
        assert_eq!(forest.edge_ids().count(), 2 * length);
    }
}

/// Rules that could match somewhere in one of the sentences are kept, a variable being one word or more.
#[test]
fn sentences_mark_the_rules_that_can_match_in_them() {
    fn matches(side: &[Source], words: &[Symbol]) -> bool {
        match side.split_first() {
            None => true,
            Some((Source::Word(word), rest)) => words.first() == Some(word) && matches(rest, &words[1..]),
            Some((_, rest)) => (1..=words.len()).any(|length| matches(rest, &words[length..])),
        }
    }
    let mut rng = Rng::new(29);
    let (mut all, mut kept) = (0, 0);
    for _ in 0..150 {
        let mut vocab = Vocab::new();
        let (first, grammar) = random_problem(&mut rng, &mut vocab);
        let (second, _) = random_problem(&mut rng, &mut vocab);
        let mut filter = Filter::new(0.0, 0);
        let sentences = if rng.chance(0.5) { vec![first, second] } else { vec![first] };
        sentences.iter().for_each(|words| filter.mark_sentence(&grammar, words));
        let usable = |id: &RuleId| {
            let rule = grammar.rule(*id);
            let suffixes = sentences.iter().flat_map(|words| (0..words.len()).map(|start| &words[start..]));
            suffixes.into_iter().any(|words| matches(&rule.source()[1..], words))
        };
        let expected = grammar.rules().filter(usable).count() as u64;
        let folder = tempfile::tempdir().unwrap();
        let found = grammar.write_filtered(&folder.path().join("rules"), &filter).unwrap();
        assert_eq!(found, expected);
        (all, kept) = (all + grammar.len() as u64, kept + expected);
    }
    assert!(kept > 300 && kept < all - 300, "{kept} of {all}");
}

/// Source sides have any number of symbols; those of a table span no more than the limit, and what is added to it may be
/// longer if it has no variables.
#[test]
fn source_sides_are_as_long_as_the_limit_or_as_a_user_says() {
    let mut vocab = Vocab::new();
    let [label, _, word] = [PHRASE, SENTENCE, "w"].map(|text| vocab.intern(text));
    for (count, layer, matches) in
        [(33, 0, true), (40, 0, true), (41, 0, false), (40, 1, true), (41, 1, true), (90, 1, true)]
    {
        let mut source = vec![Source::Open(label, count)];
        source.extend((0..count).map(|_| Source::Word(word)));
        let mut builder = GrammarBuilder::new([]);
        builder.add(&Rule::new(source, vec![TargetSide::Word(word)]).unwrap(), &[], &vocab);
        let grammar = builder.finish();
        let chart = ChartLimits { max_span: 40 };
        let table = GrammarBuilder::new([]).finish();
        let layers = if layer == 0 { vec![&grammar] } else { vec![&table, &grammar] };
        let applying = Applying { chart, ..DefaultRules::Never.into() };
        let applier = Applier::layered(&layers, &Weights::default(), applying);
        let forest = applier.chart_forest(&vec![word; count as usize], &vocab, SentenceRules::default());
        assert_eq!(!forest.is_dead(), matches, "{count} symbols in layer {layer}");
    }
}
