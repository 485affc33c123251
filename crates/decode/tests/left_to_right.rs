//! Left-to-right Hiero: its forest has the derivations of the definition, and every search finds the best.
#![allow(clippy::unwrap_used)]

mod random;

use std::collections::HashMap;
use std::sync::Arc;

use random::{every_search, random_model, replayed};
use sylvan_base::{Rng, Vocab};
use sylvan_decode::{Input, List, Model, With, Worker};
use sylvan_rules::apply::{Applying, ChartLimits};
use sylvan_rules::features::ORIENTATIONS;
use sylvan_rules::{Formalism, GrammarBuilder, Meta, Rule, Weights};
use sylvan_search::{Beam, Derivations, Incremental, Limits, Search, SearchName, Stop};
use sylvan_testkit::cases;

const GLUE: f64 = -0.7;
const COPY: f64 = -1.3;
const PER_WORD: f64 = 0.2;

/// A rule: source symbols, where a number is a variable; target words, and the order of variables behind them; score.
#[derive(Debug, Clone)]
struct Slow {
    source: Vec<Result<&'static str, usize>>,
    words: usize,
    order: Vec<usize>,
    score: f64,
}

struct Problem {
    rules: Vec<Slow>,
    jump: f64,
    glue_jump: f64,
    crossing: f64,
    limit: u32,
    /// Constituents, if the sentence has a tree.
    constituents: Vec<Spanned>,
}

type Spanned = (usize, usize);

/// A few random rules over three source words, as the definition and as a model. With a reordering model each rule has
/// random opinions of orientations.
fn random_problem(rng: &mut Rng, reordering: &str) -> (Problem, Worker) {
    let mut vocab = Vocab::new();
    let names = [&["score"][..], if reordering.is_empty() { &[] } else { &ORIENTATIONS }].concat();
    let orientation = reordering.to_string();
    let meta = Meta { formalism: Formalism::LrHiero, orientation, ..Meta::new(names.clone()) };
    let mut builder = GrammarBuilder::with_meta(meta);
    let mut rules: Vec<Slow> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for _ in 0..3 + rng.below(6) {
        let count = 1 + rng.below(4);
        let mut source: Vec<Result<&str, usize>> = Vec::new();
        let mut variables = 0;
        for _ in 0..count {
            if count > 1 && variables < 2 && rng.chance(0.45) && !matches!(source.last(), Some(Err(_))) {
                source.push(Err(variables));
                variables += 1;
            } else {
                source.push(Ok(*rng.pick(&["u", "v", "w"])));
            }
        }
        if source.iter().all(Result::is_err) {
            continue;
        }
        let words: Vec<&str> = (0..1 + rng.below(2)).map(|_| *rng.pick(&["a", "b", "c", "d"])).collect();
        let mut order: Vec<usize> = (0..variables).collect();
        rng.shuffle(&mut order);
        let shown: Vec<String> = source
            .iter()
            .map(|symbol| symbol.map_or_else(|variable| format!("x{}:X", variable + 1), str::to_string))
            .collect();
        let target = words.iter().map(ToString::to_string).chain(order.iter().map(|v| format!("x{}", v + 1)));
        let text = format!("X({}) -> {}", shown.join(" "), target.collect::<Vec<_>>().join(" "));
        if !seen.insert(text.clone()) {
            continue;
        }
        let value = -2.0 * rng.unit() as f32;
        let mut values = vec![value];
        values.extend(names[1..].iter().map(|_| -2.0 * rng.unit() as f32));
        builder.add(&Rule::parse(&text, &mut vocab).unwrap(), &values, &vocab);
        let score = f64::from(value) + PER_WORD * words.len() as f64;
        rules.push(Slow { source, words: words.len(), order, score });
    }
    let (jump, glue_jump, crossing) = (rng.unit() / 4.0, rng.unit() / 4.0, rng.unit());
    let weights = [
        ("score", 1.0),
        ("words", PER_WORD),
        ("glue", GLUE),
        ("oov", COPY),
        ("distortion", jump),
        ("glue_distortion", glue_jump),
        ("crossing", crossing),
        ("lm0", 0.5),
    ];
    let order = names[1..].iter().map(|&name| (name, 0.3 + rng.unit())).collect::<Vec<_>>();
    let weights = weights.into_iter().chain(order);
    let model = Model::from_parts(builder.finish(), vec![random_model(rng)], Weights::of(weights), vocab);
    let limit = 1 + rng.below(5) as u32;
    let applying = Applying { chart: ChartLimits { max_span: limit }, ..Applying::default() };
    let model = model.unwrap().with_applying(applying);
    let constituents = Vec::new();
    (Problem { rules, jump, glue_jump, crossing, limit, constituents }, Worker::new(Arc::new(model)))
}

/// All ways for symbols to span words `at..end`: the spans of variables, by number.
fn matches(
    symbols: &[Result<&'static str, usize>],
    words: &[&str],
    at: usize,
    end: usize,
) -> Vec<Vec<Spanned>> {
    match symbols.split_first() {
        None if at == end => vec![Vec::new()],
        None => Vec::new(),
        Some((Ok(word), rest)) if at < end && words[at] == *word => matches(rest, words, at + 1, end),
        Some((Ok(_), _)) => Vec::new(),
        Some((Err(_), rest)) => (at + 1..=end)
            .flat_map(|stop| {
                let rest = matches(rest, words, stop, end);
                rest.into_iter().map(move |others| [vec![(at, stop)], others].concat())
            })
            .collect(),
    }
}

/// Word by word: the words of the span outside the gaps in source order, then the gaps, then the end of the span.
fn jumps((start, end): Spanned, gaps: &[Spanned]) -> f64 {
    let inside = |position: usize| gaps.iter().any(|gap| gap.0 <= position && position < gap.1);
    let own = (start..end).filter(|&position| !inside(position)).map(|position| (position, position + 1));
    let (mut at, mut sum) = (start, 0);
    for (from, to) in own.chain(gaps.iter().copied()).chain([(end, end)]) {
        sum += at.abs_diff(from);
        at = to;
    }
    sum as f64
}

impl Problem {
    /// What gaps cost that cross constituents.
    fn crossings(&self, gaps: &[Spanned]) -> f64 {
        let crosses = |gap: &Spanned, other: &Spanned| {
            let (a, b) = (gap.0.min(other.0), gap.1.max(other.1));
            let (shared, within) =
                ((gap.0.max(other.0), gap.1.min(other.1)), [*gap, *other].contains(&(a, b)));
            shared.0 < shared.1 && !within
        };
        let crossing = gaps.iter().filter(|gap| self.constituents.iter().any(|other| crosses(gap, other)));
        self.crossing * crossing.count() as f64
    }

    /// How many translations a phrase has, and the best score.
    fn phrase(&self, words: &[&str], (start, end): Spanned) -> (u64, f64) {
        let alike = self.rules.iter().filter(|rule| {
            rule.order.is_empty()
                && end - start <= self.limit as usize
                && matches(&rule.source, words, start, end).len() == 1
        });
        let scores: Vec<f64> = alike.map(|rule| rule.score).collect();
        if scores.is_empty() && end - start == 1 {
            return (1, COPY);
        }
        (scores.len() as u64, scores.into_iter().fold(f64::NEG_INFINITY, f64::max))
    }

    /// How many derivations a span has, and the best score without a language model.
    fn span(&self, words: &[&str], span: Spanned, known: &mut HashMap<Spanned, (u64, f64)>) -> (u64, f64) {
        if let Some(&found) = known.get(&span) {
            return found;
        }
        let (mut count, mut best) = self.phrase(words, span);
        let mut add = |ways: u64, score: f64| {
            count += ways;
            best = f64::max(best, if ways > 0 { score } else { f64::NEG_INFINITY });
        };
        let short = span.1 - span.0 <= self.limit as usize;
        let mut patterns: Vec<Vec<Spanned>> = Vec::new();
        for rule in self.rules.iter().filter(|rule| short && !rule.order.is_empty()) {
            for gaps in matches(&rule.source, words, span.0, span.1) {
                let parts: Vec<_> = gaps.iter().map(|&gap| self.span(words, gap, known)).collect();
                let order: Vec<Spanned> = rule.order.iter().map(|&variable| gaps[variable]).collect();
                let score = rule.score + parts.iter().map(|part| part.1).sum::<f64>();
                let cost = self.jump * jumps(span, &order) + self.crossings(&order);
                add(parts.iter().map(|part| part.0).product(), score - cost);
                patterns.push(gaps);
            }
        }
        for start in span.0..span.1 {
            for end in start + 1..=span.1 {
                let gaps: Vec<Spanned> =
                    [(span.0, start), (end, span.1)].into_iter().filter(|gap| gap.0 < gap.1).collect();
                if gaps.is_empty() || (short && patterns.contains(&gaps)) {
                    continue;
                }
                let phrase = self.phrase(words, (start, end));
                if phrase.0 == 0 {
                    continue;
                }
                let parts: Vec<_> = gaps.iter().map(|&gap| self.span(words, gap, known)).collect();
                let ways = phrase.0 * parts.iter().map(|part| part.0).product::<u64>();
                let score =
                    GLUE + phrase.1 + parts.iter().map(|part| part.1).sum::<f64>() - self.crossings(&gaps);
                add(ways, score - self.glue_jump * jumps(span, &gaps));
                if gaps.len() == 2 {
                    let turned = [gaps[1], gaps[0]];
                    add(ways, score - self.glue_jump * jumps(span, &turned));
                }
            }
        }
        known.insert(span, (count, best));
        (count, best)
    }
}

/// A random tree over words, and the spans of its nodes.
fn bracketed(rng: &mut Rng, words: &[&str], start: usize, spans: &mut Vec<Spanned>) -> String {
    spans.push((start, start + words.len()));
    match words {
        [word] => format!("(A {word})"),
        _ => {
            let middle = 1 + rng.below(words.len() - 1);
            let left = bracketed(rng, &words[..middle], start, spans);
            format!("(B {left} {})", bracketed(rng, &words[middle..], start + middle, spans))
        }
    }
}

#[test]
fn the_forest_has_the_derivations_of_the_definition_and_every_search_finds_the_best() {
    let mut rng = Rng::new(71);
    let (mut compared, mut with_gaps) = (0, 0);
    while compared < cases(300, 20_000) {
        let (mut problem, mut worker) = random_problem(&mut rng, "");
        let words: Vec<&str> = (0..1 + rng.below(5)).map(|_| *rng.pick(&["u", "v", "w", "a"])).collect();
        // Half of the sentences have trees.
        let (line, input) = if rng.chance(0.5) {
            (words.join(" "), Input::Text)
        } else {
            (bracketed(&mut rng, &words, 0, &mut problem.constituents), Input::Tree)
        };
        let sentence = worker.read(&line, input, With::default()).unwrap().unwrap();
        let forest = worker.forest(&sentence, With::default()).with_all_glue();
        let all = Derivations::of(&forest.forest);
        let (count, best) = problem.span(&words, (0, words.len()), &mut HashMap::new());
        assert_eq!(all.count(), count, "{line}: {:?}", problem.rules);
        let local = (0..all.count().min(20_000)).map(|number| all.get(number).local_score(&forest.forest));
        let found = local.fold(f64::NEG_INFINITY, f64::max);
        if count <= 20_000 {
            assert!((found - best).abs() < 1e-4, "{line}: {found} {best}");
        }
        if count > 1_000 {
            continue;
        }
        compared += 1;
        with_gaps += usize::from(problem.rules.iter().any(|rule| !rule.order.is_empty() && rule.words > 0));
        let scores = (0..all.count()).map(|number| {
            let derivation = all.get(number);
            worker.derived(&sentence, With::default(), &forest, &derivation).contributions().score()
        });
        let best = scores.fold(f64::NEG_INFINITY, f64::max);
        for search in every_search() {
            let list = List { best: 3, distinct: false };
            let found = worker.decode(&sentence, With::default(), search, list, &Stop::NEVER);
            assert!(
                (found.hypotheses[0].score - best).abs() < 1e-4,
                "{search}: {line}: {} {best} {count}",
                found.hypotheses[0].score
            );
            for hypothesis in &found.hypotheses {
                let score = replayed(&worker, &sentence, With::default(), &found, hypothesis);
                assert!((score - hypothesis.score).abs() < 1e-4, "{search}: {line}");
            }
        }
        assert_eq!(worker.model().search(None).unwrap().name(), SearchName::Incremental);
    }
    assert!(with_gaps > compared / 2, "{with_gaps} of {compared}");
}

/// With a reordering model only left-to-right search finds the best, and it finds it: the orientations of all
/// derivations, from the positions that they translate, are the judge.
#[test]
fn reordering_models_take_part_in_the_search() {
    let mut rng = Rng::new(73);
    let mut compared = 0;
    while compared < cases(300, 20_000) {
        let reordering = *rng.pick(&["lrm", "nvlrm"]);
        let (_, mut worker) = random_problem(&mut rng, reordering);
        let words: Vec<&str> = (0..1 + rng.below(5)).map(|_| *rng.pick(&["u", "v", "w", "a"])).collect();
        let line = words.join(" ");
        let sentence = worker.read(&line, Input::Text, With::default()).unwrap().unwrap();
        let forest = worker.forest(&sentence, With::default()).with_all_glue();
        let all = Derivations::of(&forest.forest);
        if all.count() > 1_000 {
            continue;
        }
        compared += 1;
        let scores = (0..all.count()).map(|number| {
            let derivation = all.get(number);
            worker.derived(&sentence, With::default(), &forest, &derivation).contributions().score()
        });
        let best = scores.fold(f64::NEG_INFINITY, f64::max);
        let wide = Beam(100_000);
        for limits in [Limits::beam(wide), Limits::grids(wide, 100_000)] {
            let search = Search::Incremental(limits, Incremental::default());
            let list = List { best: 3, distinct: false };
            let found = worker.decode(&sentence, With::default(), search, list, &Stop::NEVER);
            let score = found.hypotheses[0].score;
            assert!((score - best).abs() < 1e-4, "{reordering}: {line}: {score} {best}");
            for hypothesis in &found.hypotheses {
                let score = replayed(&worker, &sentence, With::default(), &found, hypothesis);
                assert!((score - hypothesis.score).abs() < 1e-4, "{reordering}: {line}");
            }
        }
        let refused = worker.model().search(Some(Search::named(SearchName::Cube)));
        assert!(refused.unwrap_err().to_string().contains("reordering model"));
    }
}
