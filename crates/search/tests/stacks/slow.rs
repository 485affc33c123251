//! Phrase-based translation from its definition alone: lists of flags, sorted lists, no sharing.

use sylvan_base::Span;
use sylvan_forest::{EdgeId, Neighbour, Target, TranslationForest};
use sylvan_search::LanguageModel;

/// A translation so far.
#[derive(Clone)]
pub(crate) struct Hypothesis<S> {
    pub(crate) phrases: Vec<EdgeId>,
    pub(crate) score: f64,
    pub(crate) state: S,
}

pub(crate) struct Problem<'f, L> {
    pub(crate) forest: &'f TranslationForest,
    pub(crate) lm: &'f L,
    pub(crate) limit: Option<u32>,
    pub(crate) options: usize,
    pub(crate) future: bool,
}

impl<L: LanguageModel> Problem<'_, L> {
    pub(crate) fn length(&self) -> usize {
        self.forest.span(self.forest.goal()).len()
    }

    pub(crate) fn span(&self, edge: EdgeId) -> Span {
        self.forest.span(self.forest.edge(edge).head)
    }

    /// Everything that may be put next somewhere.
    fn options(&self) -> Vec<EdgeId> {
        let is_phrase =
            |edge: &EdgeId| !self.forest.target(*edge).iter().any(|t| matches!(t, Target::Vertex(_)));
        let all: Vec<EdgeId> = self.forest.edge_ids().filter(is_phrase).collect();
        // Of each place the best by what they score alone.
        let alone = |edge: EdgeId| self.forest.edge(edge).spec.score + self.lm.local(&self.words(edge));
        let is_among_the_best = |edge: &EdgeId| {
            let head = self.forest.edge(*edge).head;
            let better =
                |other: &&EdgeId| self.forest.edge(**other).head == head && alone(**other) > alone(*edge);
            all.iter().filter(better).count() < self.options
        };
        all.iter().copied().filter(is_among_the_best).collect()
    }

    fn words(&self, edge: EdgeId) -> Vec<sylvan_forest::TokenId> {
        let [Target::Bundle(bundle)] = self.forest.target(edge) else { panic!("phrases are words") };
        self.forest.bundle(*bundle).to_vec()
    }

    pub(crate) fn covered(&self, phrases: &[EdgeId]) -> Vec<bool> {
        let mut covered = vec![false; self.length()];
        for &phrase in phrases {
            self.span(phrase).range().for_each(|position| covered[position] = true);
        }
        covered
    }

    pub(crate) fn start(&self) -> Hypothesis<L::State> {
        Hypothesis { phrases: Vec::new(), score: 0.0, state: self.lm.begin() }
    }

    fn may_follow(&self, before: &Hypothesis<L::State>, edge: EdgeId) -> bool {
        let (covered, next) = (self.covered(&before.phrases), self.span(edge));
        let (i, j) = (next.start as i64, next.end as i64);
        let end = before.phrases.last().map_or(0, |&last| i64::from(self.span(last).end));
        let gap = covered.iter().position(|done| !done).unwrap_or(0) as i64;
        let free = next.range().all(|position| !covered[position]);
        let near = self.limit.is_none_or(|limit| {
            (i - end).abs() <= i64::from(limit) && (i == gap || (j - gap).abs() <= i64::from(limit))
        });
        free && near
    }

    /// 0 for in order, 1 for swapped, 2 for apart: how the next phrase lies to what is before it, and what the phrase
    /// before thinks of the next one.
    fn orientations(&self, before: &[EdgeId], next: Span) -> (usize, Option<usize>) {
        let spans: Vec<(u32, u32)> =
            before.iter().map(|&edge| self.span(edge)).map(|span| (span.start, span.end)).collect();
        let side = |(start, end): (u32, u32), next: Span| {
            if next.start == end {
                0
            } else if next.end == start {
                1
            } else {
                2
            }
        };
        let first = if next.start == 0 { 0 } else { 2 };
        let Some(&last) = spans.last() else { return (first, None) };
        if self.forest.reordering().unwrap().neighbour == Neighbour::Phrase {
            return (side(last, next), Some(side(last, next)));
        }
        let blocks = self.blocks(before);
        let mut covered = self.covered(before);
        next.range().for_each(|position| covered[position] = true);
        let (a, b) = last;
        let after = if next.start == b || (next.start > b && !covered[b as usize]) {
            0
        } else if next.end == a || (next.end < a && !covered[a as usize - 1]) {
            1
        } else {
            2
        };
        (side(blocks[blocks.len() - 1], next), Some(after))
    }

    /// Neighbouring phrases joined, from the first to the last.
    fn blocks(&self, phrases: &[EdgeId]) -> Vec<(u32, u32)> {
        let mut blocks: Vec<(u32, u32)> = Vec::new();
        for span in phrases.iter().map(|&edge| self.span(edge)).map(|span| (span.start, span.end)) {
            blocks.push(span);
            while let [.., below, top] = blocks[..] {
                if below.1 != top.0 && top.1 != below.0 {
                    break;
                }
                blocks.truncate(blocks.len() - 2);
                blocks.push((below.0.min(top.0), below.1.max(top.1)));
            }
        }
        blocks
    }

    /// What a phrase costs in its place, without its words.
    pub(crate) fn charge(&self, before: &[EdgeId], edge: EdgeId) -> f64 {
        let reordering = self.forest.reordering().unwrap();
        let next = self.span(edge);
        let end = before.last().map_or(0, |&last| self.span(last).end);
        let mut score = self.forest.edge(edge).spec.score;
        score += reordering.per_word * f64::from(next.start.abs_diff(end));
        let (own, others) = self.orientations(before, next);
        score += self.forest.orientations(edge).before[own];
        if let (Some(others), Some(&last)) = (others, before.last()) {
            score += self.forest.orientations(last).after[others];
        }
        score
    }

    fn extend(&self, before: &Hypothesis<L::State>, edge: EdgeId) -> Hypothesis<L::State> {
        let (gain, state) = self.lm.run(before.state, &self.words(edge));
        let mut phrases = before.phrases.clone();
        phrases.push(edge);
        Hypothesis { score: before.score + self.charge(&before.phrases, edge) + gain, phrases, state }
    }

    fn is_complete(&self, hypothesis: &Hypothesis<L::State>) -> bool {
        self.covered(&hypothesis.phrases).iter().all(|&done| done)
    }

    /// The best of all orders of all segmentations; minus infinity if there is none.
    pub(crate) fn best(&self) -> f64 {
        let mut best = f64::NEG_INFINITY;
        let mut open = vec![self.start()];
        while let Some(hypothesis) = open.pop() {
            if self.is_complete(&hypothesis) {
                best = best.max(hypothesis.score + self.lm.end(hypothesis.state));
                continue;
            }
            for edge in self.options() {
                if self.may_follow(&hypothesis, edge) {
                    open.push(self.extend(&hypothesis, edge));
                }
            }
        }
        best
    }

    /// The best way to cover the words that are left, in source order, each phrase alone.
    pub(crate) fn future(&self, covered: &[bool]) -> f64 {
        if !self.future {
            return 0.0;
        }
        let Some(first) = covered.iter().position(|done| !done) else { return 0.0 };
        let mut best = f64::NEG_INFINITY;
        for edge in self.options() {
            let span = self.span(edge);
            if span.start as usize == first && span.range().all(|position| !covered[position]) {
                let mut after = covered.to_vec();
                span.range().for_each(|position| after[position] = true);
                let alone = self.forest.edge(edge).spec.score + self.lm.local(&self.words(edge));
                best = best.max(alone + self.future(&after));
            }
        }
        best
    }

    fn merit(&self, hypothesis: &Hypothesis<L::State>) -> f64 {
        hypothesis.score + self.future(&self.covered(&hypothesis.phrases))
    }

    /// All that decides what a hypothesis can become.
    fn signature(&self, hypothesis: &Hypothesis<L::State>) -> (Vec<bool>, L::State, Vec<u64>) {
        let reordering = self.forest.reordering().unwrap();
        let mut rest = Vec::new();
        if let Some(&last) = hypothesis.phrases.last() {
            let span = self.span(last);
            if reordering.is_oriented() {
                rest.extend([u64::from(span.start), u64::from(span.end)]);
                rest.extend(self.forest.orientations(last).after.map(|score| (score + 0.0).to_bits()));
                if reordering.neighbour == Neighbour::Block {
                    let blocks = self.blocks(&hypothesis.phrases);
                    rest.extend(blocks.iter().flat_map(|&(start, end)| [u64::from(start), u64::from(end)]));
                }
            } else if reordering.per_word != 0.0 || self.limit.is_some() {
                rest.push(u64::from(span.end));
            }
        }
        (self.covered(&hypothesis.phrases), hypothesis.state, rest)
    }

    /// Stack after stack, everything made before anything is dropped. `pops` is the number of cells tried per stack,
    /// best first.
    pub(crate) fn beam_search(&self, beam: usize, pops: usize) -> Option<f64> {
        let mut stacks: Vec<Vec<Hypothesis<L::State>>> = vec![Vec::new(); self.length() + 1];
        stacks[0].push(self.start());
        let mut best: Option<f64> = None;
        for number in 0..self.length() {
            let mut stack = std::mem::take(&mut stacks[number]);
            stack.sort_by(|a, b| self.merit(b).total_cmp(&self.merit(a)));
            let mut seen: Vec<(Vec<bool>, L::State, Vec<u64>)> = Vec::new();
            // Of equals the best has come first.
            stack.retain(|hypothesis| {
                let signature = self.signature(hypothesis);
                let new = !seen.contains(&signature);
                seen.push(signature);
                new
            });
            stack.truncate(beam);
            let mut cells: Vec<(f64, usize, EdgeId)> = Vec::new();
            for (place, hypothesis) in stack.iter().enumerate() {
                for edge in self.options() {
                    let mut covered = self.covered(&hypothesis.phrases);
                    if !self.may_follow(hypothesis, edge) {
                        continue;
                    }
                    self.span(edge).range().for_each(|position| covered[position] = true);
                    let own = self.charge(&hypothesis.phrases, edge) + self.lm.local(&self.words(edge));
                    let future = self.future(&covered);
                    if future > f64::NEG_INFINITY {
                        cells.push((hypothesis.score + own + future, place, edge));
                    }
                }
            }
            cells.sort_by(|a, b| b.0.total_cmp(&a.0));
            for &(_, place, edge) in cells.iter().take(pops) {
                let new = self.extend(&stack[place], edge);
                if self.is_complete(&new) {
                    let score = new.score + self.lm.end(new.state);
                    best = Some(best.map_or(score, |best: f64| best.max(score)));
                } else {
                    let bin = self.covered(&new.phrases).iter().filter(|done| **done).count();
                    stacks[bin].push(new);
                }
            }
        }
        best
    }
}
