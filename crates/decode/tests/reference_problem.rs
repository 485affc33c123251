//! Another toolkit's derivations, scored by us: the same numbers, or the models differ.
#![allow(clippy::unwrap_used)]

mod reference;

use std::sync::Arc;

use reference::{Reference, lines};
use sylvan_base::{HashMap, Span, Vocab};
use sylvan_decode::{Derived, List, Sentence, With, Worker};
use sylvan_forest::{Derivation, EdgeId, VertexId};
use sylvan_rules::{Rule, RuleId, read_travatar};
use sylvan_search::{Search, SearchName, Stop};
use sylvan_store::TextReader;

/// The rules of one sentence's derivation by the span that they cover; `None` stands for a default rule.
type Trace = HashMap<Span, Vec<Option<Rule>>>;

fn read_traces(problem: &Reference) -> Vec<Trace> {
    let mut traces: Vec<Trace> = vec![HashMap::default(); problem.sentences.len()];
    for line in lines(&problem.folder.join("dev.pop500.trace.gz")) {
        let fields: Vec<&str> = line.split(" ||| ").collect();
        let [sentence, _, span, source, target, features] = fields[..] else { panic!("{line}") };
        if source.is_empty() {
            // The line that stands for the whole sentence.
            continue;
        }
        let (start, end) = span.trim_matches(['[', ']']).split_once(", ").unwrap();
        let span = Span::new(start.parse().unwrap(), end.parse().unwrap());
        let sentence: usize = sentence.parse().unwrap();
        let rule = (!features.contains("unk=1"))
            .then(|| parse_rule(source, target, problem.sentences[sentence].vocab()));
        traces[sentence].entry(span).or_default().push(rule);
    }
    traces
}

fn parse_rule(source: &str, target: &str, vocab: &Vocab) -> Rule {
    // All that a used rule says is known already, so ids mean the same in a copy.
    let mut vocab = vocab.clone();
    let mut reader = TextReader::from_text("trace", format!("{source} ||| {target} ||| p=1"));
    let grammar = read_travatar(&mut reader, &[], &mut vocab).unwrap();
    grammar.rule(RuleId(0)).clone()
}

/// Walks our forest along their rules. `any` is some derivation of the forest, to ask what its edges are.
fn follow(any: &Derived<'_>, mut trace: Trace) -> Derivation {
    let forest = any.forest();
    let mut edges = Vec::new();
    let mut open: Vec<VertexId> = vec![forest.goal()];
    while let Some(vertex) = open.pop() {
        let used = trace.get_mut(&forest.span(vertex)).expect("their derivation covers this span");
        let is_theirs = |edge: EdgeId, rule: &Option<Rule>| any.rule(edge) == *rule;
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
    let Some(problem) = Reference::load() else { return };
    let traces = read_traces(&problem);
    let theirs = problem.scores("dev.pop500.scores");
    let mut worker = Worker::new(Arc::clone(&problem.model));
    let mut by_prediction = 0.0;
    for (index, (sentence, trace)) in problem.sentences.iter().zip(traces).enumerate() {
        let sentence: &Sentence = sentence;
        // Every search must say of what it finds what replaying says, on real forests too.
        for name in [
            SearchName::Cube,
            SearchName::Focus,
            SearchName::Incremental,
            SearchName::Undirected,
            SearchName::Prediction,
        ] {
            let search = Search::named(name).with_beam(5);
            let found = worker.decode(sentence, With::default(), search, List::default(), &Stop::NEVER);
            let best = &found.hypotheses[0];
            let derived = worker.derived(sentence, With::default(), &found.forest, &best.derivation);
            let again = derived.contributions().score();
            assert!((again - best.score).abs() < 1e-5, "{index}, {search}: {} {again}", best.score);
            if name == SearchName::Prediction {
                by_prediction += best.score;
                let their_derivation = follow(&derived, trace.clone());
                let score = derived.other(&their_derivation).contributions().score();
                let theirs = theirs[index];
                assert!((score - theirs).abs() < 1e-4, "sentence {index}: {score}, theirs {theirs}");
            }
        }
    }
    let mean = by_prediction / problem.sentences.len() as f64;
    assert!((mean - -1.1132).abs() < 1e-3, "prediction at beam 5 reaches -1.1132; now {mean}");
}
