//! A translation forest as JSON: vertices with their places, edges with their rules.

use serde_json::{Value, json};
use sylvan_base::Id;
use sylvan_forest::{Layer, Target, TranslationForest, VertexId};

use super::{Ready, Sentence};

impl Ready<'_> {
    /// A forest as JSON (docs/formats/forest.md). Target sides are lists of words and numbers of vertices.
    pub fn json(&self, sentence: &Sentence, forest: &TranslationForest) -> Value {
        let vocab = self.decoder.vocab();
        let label = |vertex: VertexId| vocab.text(sentence.syntax.label(vertex));
        let edges = |vertex: VertexId| -> Vec<Value> {
            let edges = forest.edges(vertex).map(|edge| {
                let mut target: Vec<Value> = Vec::new();
                for symbol in forest.target(edge) {
                    match *symbol {
                        Target::Vertex(tail) => target.push(tail.index().into()),
                        Target::Bundle(bundle) => {
                            target.extend(
                                forest.bundle(bundle).iter().map(|&word| Value::from(vocab.text(word))),
                            );
                        }
                    }
                }
                let spec = forest.edge(edge).spec;
                let rule = match spec.rule.layer {
                    Layer::Table => self.rule_text(sentence, spec.rule).into(),
                    Layer::Sentence => Value::Null,
                };
                json!({ "rule": rule, "score": spec.score, "target": target })
            });
            edges.collect()
        };
        let vertices = forest.vertices().map(|vertex| {
            // Source words are counted in the sentence, not in its leaves.
            let leaves = forest.span(vertex).range();
            let words = sentence.leaves.get(leaves.clone()).unwrap_or_default();
            let span = [words.first().map_or(0, |leaf| leaf.start), words.last().map_or(0, |leaf| leaf.end)];
            json!({ "label": label(vertex), "span": span, "edges": edges(vertex) })
        });
        json!({ "goal": forest.goal().index(), "vertices": vertices.collect::<Vec<_>>() })
    }
}
