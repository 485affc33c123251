//! Which source words a translation's words come from: the links that rules kept from training, put together.

use sylvan_base::Id;
use sylvan_forest::{Derivation, EdgeId, TranslationForest, VertexId};
use sylvan_rules::apply::Origin;
use sylvan_rules::{Grammar, Source, TargetSide};

use super::{Ready, Sentence};

impl Ready<'_> {
    /// Pairs of a source word and a target word, counted from 0, sorted. Words of a rule without links of their own
    /// are linked to all words of the rule's other side.
    pub fn links(
        &self,
        sentence: &Sentence,
        forest: &TranslationForest,
        derivation: &Derivation,
    ) -> Vec<(u32, u32)> {
        // The words of each edge, in order.
        let mut targets: Vec<Vec<u32>> = vec![Vec::new(); derivation.edges().len()];
        let mut position = 0;
        derivation.walk(
            forest,
            |_, _| {},
            |from, _| {
                targets[from].push(position);
                position += 1;
            },
        );
        let mut links = Vec::new();
        for (&edge, words) in derivation.edges().iter().zip(&targets) {
            let (leaves, own) = self.source_leaves(sentence, forest, edge);
            let spans = |leaf: u32| sentence.leaves.get(leaf as usize).map_or(0..0, |span| span.range());
            let mut add =
                |leaf: u32, word: u32| links.extend(spans(leaf).map(|source| (source as u32, word)));
            let mut linked = vec![false; words.len()];
            for (leaf, word) in own {
                if let (Some(&leaf), Some(&target)) = (leaves.get(leaf), words.get(word)) {
                    linked[word] = true;
                    add(leaf, target);
                }
            }
            for (&word, _) in words.iter().zip(&linked).filter(|(_, linked)| !**linked) {
                leaves.iter().for_each(|&leaf| add(leaf, word));
            }
        }
        links.sort_unstable();
        links.dedup();
        links
    }

    /// The leaves that an edge translates itself, in order, and the links between these and its target words.
    pub(crate) fn source_leaves(
        &self,
        sentence: &Sentence,
        forest: &TranslationForest,
        edge: EdgeId,
    ) -> (Vec<u32>, Vec<(usize, usize)>) {
        let span = forest.span(forest.edge(edge).head);
        let tails: Vec<VertexId> = forest.tails(edge).collect();
        let Origin::Rule(layer, id) = self.applier.origin(forest.edge(edge).spec.rule) else {
            // A default rule: what its tails leave.
            let covered = |leaf: usize| tails.iter().any(|&tail| forest.span(tail).range().contains(&leaf));
            let leaves: Vec<u32> =
                span.range().filter(|&leaf| !covered(leaf)).map(|leaf| leaf as u32).collect();
            let links = (0..leaves.len()).map(|place| (place, place)).collect();
            return (leaves, links);
        };
        let grammar: Option<&Grammar> = self.applier.grammar(layer).or(sentence.own.as_ref());
        let Some(grammar) = grammar.filter(|grammar| id.index() < grammar.len()) else {
            return (Vec::new(), Vec::new());
        };
        let rule = grammar.rule(id);
        // Tails come in target order; variables in source order.
        let order = rule.target().iter().filter_map(|token| match token {
            TargetSide::Var(number) => Some(*number as usize),
            TargetSide::Word(_) => None,
        });
        let mut by_variable: Vec<Option<VertexId>> = vec![None; tails.len()];
        for (number, tail) in order.zip(&tails) {
            if let Some(slot) = by_variable.get_mut(number) {
                *slot = Some(*tail);
            }
        }
        let mut variables = by_variable.into_iter().flatten();
        let (mut leaves, mut at) = (Vec::new(), span.start);
        for token in rule.source() {
            match token {
                Source::Open(..) => {}
                Source::Word(_) => {
                    leaves.push(at);
                    at += 1;
                }
                Source::Var(_) => at = variables.next().map_or(at, |tail| forest.span(tail).end),
            }
        }
        let links = grammar.notes(id).links;
        (leaves, links.iter().map(|&(source, target)| (source as usize, target as usize)).collect())
    }
}
