//! Forced decoding: whether some derivation has exactly the words that are given.

use sylvan_base::{Id, Symbol};

use crate::{Target, TranslationForest};

impl TranslationForest {
    /// Whether some derivation has exactly these words. Glue that would be made on demand does not count.
    pub fn derives(&self, words: &[Symbol]) -> bool {
        let places = words.len() + 1;
        // Per vertex and place where it may begin, the places where it may end.
        let mut ends: Vec<Vec<Vec<usize>>> = Vec::new();
        for vertex in self.vertices() {
            let mut of_vertex = vec![vec![false; places]; places];
            for edge in self.edges(vertex) {
                for (start, found) in of_vertex.iter_mut().enumerate() {
                    let mut reached = vec![start];
                    for &symbol in self.target(edge) {
                        reached = match symbol {
                            Target::Bundle(bundle) => {
                                let said = |&place: &usize| {
                                    let mut said = self.bundle_words(bundle).zip(place..);
                                    let end = place + self.bundle(bundle).len();
                                    let same = said.all(|(word, at)| words.get(at) == Some(&word));
                                    same.then_some(end)
                                };
                                reached.iter().filter_map(said).collect()
                            }
                            Target::Vertex(tail) => {
                                let all = reached.iter().flat_map(|&place| &ends[tail.index()][place]);
                                let mut all: Vec<usize> = all.copied().collect();
                                all.sort_unstable();
                                all.dedup();
                                all
                            }
                        };
                    }
                    reached.into_iter().for_each(|end| found[end] = true);
                }
            }
            let list = |found: Vec<bool>| (0..places).filter(|&end| found[end]).collect();
            ends.push(of_vertex.into_iter().map(list).collect());
        }
        ends[self.goal.index()][0].contains(&words.len())
    }
}
