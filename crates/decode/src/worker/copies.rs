//! What a derivation copies from its source, and the text that it makes.

use std::collections::BTreeMap;

use sylvan_base::Symbol;
use sylvan_rules::apply::Origin;

use super::Derived;
use crate::target_text::{Composed, Copies, TargetText};

impl Derived<'_> {
    /// The text of the translation.
    pub fn compose(&self, target: TargetText) -> Composed {
        let (sentence, vocab) = (self.sentence(), self.sentence().vocab());
        let words = self.derivation().words(self.forest());
        let words: Vec<&str> = words.into_iter().map(|word| vocab.text(word)).collect();
        let raw = self.model().source_text().tokenizer.is_some();
        let line = sentence.line.as_deref().filter(|_| raw);
        target.compose(&words, &Copies { line, source: &sentence.words, from: self.copies() })
    }

    /// For each target word the source word that it copies: a default rule copied it, or a rule has the same word on
    /// both sides.
    fn copies(&self) -> Vec<Option<u32>> {
        let (forest, derivation) = (self.forest(), self.derivation());
        // Per edge its target words and their places.
        let mut targets: Vec<Vec<(Symbol, usize)>> = vec![Vec::new(); derivation.edges().len()];
        let mut count = 0;
        derivation.walk(
            forest,
            |_, _| {},
            |step, token| {
                targets[step].push((forest.token(token).word, count));
                count += 1;
            },
        );
        let mut copies = vec![None; count];
        for (&edge, targets) in derivation.edges().iter().zip(&targets) {
            if targets.is_empty() {
                continue;
            }
            let (leaves, _) = self.leaves_of(edge);
            let sources = self.source_words(&leaves);
            if let Origin::Default(_) | Origin::Copy = self.origin(edge) {
                for (&(_, source), &(_, target)) in sources.iter().zip(targets) {
                    copies[target] = Some(source);
                }
                continue;
            }
            let mut places: BTreeMap<Symbol, [Vec<usize>; 2]> = BTreeMap::new();
            for &(word, source) in &sources {
                places.entry(word).or_default()[0].push(source as usize);
            }
            for &(word, target) in targets {
                if let Some(places) = places.get_mut(&word) {
                    places[1].push(target);
                }
            }
            // Which of several equal words is which is known only if all of them are copied.
            for [sources, targets] in
                places.values().filter(|[sources, targets]| sources.len() == targets.len())
            {
                for (&source, &target) in sources.iter().zip(targets) {
                    copies[target] = Some(source as u32);
                }
            }
        }
        copies
    }

    /// The source words of some leaves, as symbols and places. Those of a term are as they would be in its
    /// translation.
    fn source_words(&self, leaves: &[u32]) -> Vec<(Symbol, u32)> {
        let sentence = self.sentence();
        let mut words = Vec::new();
        for &leaf in leaves {
            let Some(span) = sentence.leaves.get(leaf as usize) else { continue };
            let is_term = sentence.is_term(*span);
            for place in span.range() {
                let word = if is_term {
                    sentence.vocab().get(&sentence.words[place].text)
                } else {
                    sentence.syntax.leaves().get(leaf as usize).copied()
                };
                words.extend(word.map(|word| (word, place as u32)));
            }
        }
        words
    }
}
