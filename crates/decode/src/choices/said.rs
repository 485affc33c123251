//! What a vertex can say: different words, the most promising first.
//!
//! Bottom up, each vertex lists the best few of its translations; those of an edge are put together from the lists of its
//! tails, best first. They are ranked by the scores of rules and by language models that know no context.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use sylvan_base::{HashMap, HashSet, Id, Symbol};
use sylvan_forest::{EdgeId, Target, TokenId, TranslationForest, VertexId};

use super::forced::reached;

/// Words that a vertex can say.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// The words, as tokens of the forest.
    pub tokens: Vec<TokenId>,
    /// The scores of its rules and of its words without context.
    pub estimate: f64,
    rules: f64,
}

impl Said {
    /// The words.
    pub fn words(&self, forest: &TranslationForest) -> Vec<Symbol> {
        self.tokens.iter().map(|&token| forest.token(token).word).collect()
    }
}

/// A combination that waits: an edge, and which of its tails' lists.
struct Waiting {
    estimate: f64,
    hash: u64,
    edge: EdgeId,
    ranks: Vec<usize>,
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_score = self.estimate.total_cmp(&other.estimate);
        by_score.then_with(|| other.hash.cmp(&self.hash)).then_with(|| other.ranks.cmp(&self.ranks))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiting {}

/// At most so many different translations of a vertex, best first; `local` is the score of words without context.
pub fn said(
    forest: &TranslationForest,
    vertex: VertexId,
    most: usize,
    local: impl Fn(&[TokenId]) -> f64,
) -> Vec<Said> {
    let mut lists: Vec<Vec<Said>> = vec![Vec::new(); vertex.index() + 1];
    for below in reached(forest, vertex) {
        lists[below.index()] = Lists { forest, lists: &lists, local: &local }.of(below, most);
    }
    std::mem::take(&mut lists[vertex.index()])
}

struct Lists<'a, L> {
    forest: &'a TranslationForest,
    lists: &'a [Vec<Said>],
    local: &'a L,
}

impl<L: Fn(&[TokenId]) -> f64> Lists<'_, L> {
    fn of(&self, vertex: VertexId, most: usize) -> Vec<Said> {
        let mut queue: BinaryHeap<Waiting> = BinaryHeap::new();
        for edge in self.forest.edges(vertex) {
            queue.extend(self.waiting(edge, vec![0; self.forest.tails(edge).count()]));
        }
        let mut seen: HashSet<(EdgeId, Vec<usize>)> = HashSet::default();
        let mut known: HashMap<Vec<Symbol>, usize> = HashMap::default();
        let mut found: Vec<Said> = Vec::new();
        // Combinations may say the same; a few more than are wanted are looked at.
        for _ in 0..4 * most {
            let Some(Waiting { edge, ranks, .. }) = queue.pop() else { break };
            let made = self.made(edge, &ranks);
            let words = made.words(self.forest);
            match known.get(&words).copied() {
                Some(place) if made.estimate > found[place].estimate => found[place] = made,
                Some(_) => {}
                None if found.len() == most => break,
                None => {
                    known.insert(words, found.len());
                    found.push(made);
                }
            }
            for tail in 0..ranks.len() {
                let mut next = ranks.clone();
                next[tail] += 1;
                if seen.insert((edge, next.clone())) {
                    queue.extend(self.waiting(edge, next));
                }
            }
        }
        // Stable, so that what was found first stays first.
        found.sort_by(|a, b| b.estimate.total_cmp(&a.estimate));
        found
    }

    fn tails<'s>(&'s self, edge: EdgeId, ranks: &'s [usize]) -> impl Iterator<Item = Option<&'s Said>> + 's {
        self.forest.tails(edge).zip(ranks).map(|(tail, &rank)| self.lists[tail.index()].get(rank))
    }

    fn waiting(&self, edge: EdgeId, ranks: Vec<usize>) -> Option<Waiting> {
        let tails: Option<f64> = self.tails(edge, &ranks).map(|said| said.map(|said| said.estimate)).sum();
        let words = self.forest.target(edge).iter().map(|symbol| match symbol {
            Target::Bundle(bundle) => (self.local)(self.forest.bundle(*bundle)),
            Target::Vertex(_) => 0.0,
        });
        let spec = &self.forest.edge(edge).spec;
        let estimate = spec.score + words.sum::<f64>() + tails?;
        Some(Waiting { estimate, hash: spec.hash, edge, ranks })
    }

    fn made(&self, edge: EdgeId, ranks: &[usize]) -> Said {
        let mut rules = self.forest.edge(edge).spec.score;
        let mut tokens = Vec::new();
        let mut tails = self.tails(edge, ranks);
        for symbol in self.forest.target(edge) {
            match symbol {
                Target::Bundle(bundle) => tokens.extend_from_slice(self.forest.bundle(*bundle)),
                Target::Vertex(_) => {
                    if let Some(Some(said)) = tails.next() {
                        rules += said.rules;
                        tokens.extend_from_slice(&said.tokens);
                    }
                }
            }
        }
        let estimate = rules + (self.local)(&tokens);
        Said { tokens, estimate, rules }
    }
}
