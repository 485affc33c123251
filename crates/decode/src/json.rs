//! A translation forest as JSON: vertices with their places, edges with their rules.

use serde_json::{Value, json};
use sylvan_base::Id;
use sylvan_forest::{Layer, Target, VertexId};

use crate::worker::Derived;

/// The forest of a derivation as JSON (docs/formats/forest.md). Target sides are lists of words and numbers of
/// vertices.
pub fn forest_json(derived: &Derived<'_>) -> Value {
    let (sentence, forest) = (derived.sentence(), derived.forest());
    let vocab = sentence.vocab();
    let edges = |vertex: VertexId| -> Vec<Value> {
        let edges = forest.edges(vertex).map(|edge| {
            let mut target: Vec<Value> = Vec::new();
            for symbol in forest.target(edge) {
                match *symbol {
                    Target::Vertex(tail) => target.push(tail.index().into()),
                    Target::Bundle(bundle) => {
                        target.extend(forest.bundle_words(bundle).map(|word| Value::from(vocab.text(word))));
                    }
                }
            }
            let spec = forest.edge(edge).spec;
            let rule = match spec.rule.layer {
                Layer::Grammar => derived.rule_text(edge).into(),
                Layer::Default => Value::Null,
            };
            json!({ "rule": rule, "score": spec.score, "target": target })
        });
        edges.collect()
    };
    let vertices = forest.vertices().map(|vertex| {
        // Spans count the words of the sentence, not its leaves.
        let span = sentence.words_of(forest.span(vertex));
        let label = forest.label(vertex).map_or("", |label| vocab.text(label));
        json!({ "label": label, "span": span, "edges": edges(vertex) })
    });
    json!({ "goal": forest.goal().index(), "vertices": vertices.collect::<Vec<_>>() })
}
