//! Another toolkit's derivations, scored by us: the same numbers, or the models differ.
#![allow(clippy::unwrap_used)]

mod reference;

use reference::{Reference, lines};
use sylvan::{Search, Translator};
use sylvan_base::{HashMap, Span, Vocab};
use sylvan_forest::{Derivation, EdgeId, Layer, TranslationForest, VertexId};
use sylvan_rules::{Rule, RuleId, read_travatar};
use sylvan_search::{Beam, Cube, Future, Prediction, rescore};
use sylvan_store::TextReader;

/// The rules of one sentence's derivation by the span that they cover; `None` stands for a default rule.
type Trace = HashMap<Span, Vec<Option<Rule>>>;

fn read_traces(problem: &mut Reference) -> Vec<Trace> {
    let mut traces: Vec<Trace> = vec![HashMap::default(); problem.trees.len()];
    for line in lines(&problem.folder.join("dev.pop500.trace.gz")) {
        let fields: Vec<&str> = line.split(" ||| ").collect();
        let [sentence, _, span, source, target, features] = fields[..] else { panic!("{line}") };
        if source.is_empty() {
            // The line that stands for the whole sentence.
            continue;
        }
        let (start, end) = span.trim_matches(['[', ']']).split_once(", ").unwrap();
        let span = Span::new(start.parse().unwrap(), end.parse().unwrap());
        let rule =
            (!features.contains("unk=1")).then(|| parse_rule(source, target, &mut problem.model.vocab));
        traces[sentence.parse::<usize>().unwrap()].entry(span).or_default().push(rule);
    }
    traces
}

fn parse_rule(source: &str, target: &str, vocab: &mut Vocab) -> Rule {
    let mut reader = TextReader::from_text("trace", format!("{source} ||| {target} ||| p=1"));
    let grammar = read_travatar(&mut reader, &[], vocab).unwrap();
    grammar.rule(RuleId(0)).clone()
}

/// Walks our forest along their rules.
fn follow(problem: &Reference, forest: &TranslationForest, mut trace: Trace) -> Derivation {
    let mut edges = Vec::new();
    let mut open: Vec<VertexId> = vec![forest.goal()];
    while let Some(vertex) = open.pop() {
        let used = trace.get_mut(&forest.span(vertex)).expect("their derivation covers this span");
        let grammar = &problem.model.grammar;
        let is_theirs = |edge: EdgeId, rule: &Option<Rule>| {
            let ours = forest.edge(edge).spec.rule;
            match (ours.layer, rule) {
                (Layer::Table, Some(theirs)) => grammar.rule(RuleId(ours.id)) == *theirs,
                (Layer::Sentence, None) => true,
                _ => false,
            }
        };
        let found = forest
            .edges(vertex)
            .find_map(|edge| Some((edge, used.iter().position(|rule| is_theirs(edge, rule))?)))
            .expect("their rule is among our edges");
        used.remove(found.1);
        edges.push(found.0);
        let tails: Vec<VertexId> = forest.tails(found.0).collect();
        open.extend(tails.iter().rev());
    }
    Derivation::new(edges)
}

#[test]
fn travatars_derivations_have_the_scores_that_travatar_gave_them() {
    let Some(mut problem) = Reference::load() else { return };
    let traces = read_traces(&mut problem);
    let theirs = problem.scores("dev.pop500.scores");
    let translator = Translator::with_defaults(&problem.model, problem.defaults);
    let mut ours_by_prediction = 0.0;
    for (index, (tree, trace)) in problem.trees.iter().zip(traces).enumerate() {
        let forest = translator.forest(tree);
        let derivation = follow(&problem, &forest, trace);
        let score = rescore(&forest, translator.scorer(), &derivation);
        assert!((score - theirs[index]).abs() < 1e-4, "sentence {index}: {score}, theirs {}", theirs[index]);
        // Every search must find what brute rescoring finds, on real forests too.
        for search in [
            Search::CubePruning(Cube::new(Beam(5))),
            Search::Incremental(Beam(5).into(), Future::Inside),
            Search::Prediction(Beam(5).into(), Prediction::default()),
        ] {
            let found = translator.search(&forest, search);
            let again = rescore(&forest, translator.scorer(), &found.derivation);
            assert!(
                (again - found.score).abs() < 1e-6,
                "sentence {index}, {search:?}: {} {again}",
                found.score
            );
            if matches!(search, Search::Prediction(..)) {
                ours_by_prediction += found.score;
            }
        }
    }
    let mean = ours_by_prediction / problem.trees.len() as f64;
    assert!(mean > -1.15, "prediction at beam 5 reached -1.10 once; now {mean}");
}
