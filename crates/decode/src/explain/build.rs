//! Putting an explanation together from what decoding left behind.

use sylvan_base::{Result, Span, Symbol};
use sylvan_forest::{Derivation, EdgeId, Target, TranslationForest};
use sylvan_rules::features::meaning;
use sylvan_rules::{RuleId, Source, TargetSide};
use sylvan_search::{Search, TraceItem};
use sylvan_trees::Child as TreeChild;

use super::alternatives::{Alternatives, Changed};
use super::marks::narrowest;
use super::order::orders;
use super::overruled::overruled;
use super::search::view;
use super::structure::structure;
use super::{Child, Competitor, Explanation, Line, Node, Piece, RuleKind, RunnerUp, Step, Word, decided};
use crate::features::{Contribution, Contributions};
use crate::sentence::{Sentence, Syntax};
use crate::target_text::{Composed, TargetText};
use crate::worker::{Decoded, Derived, SentenceForest};

/// Explains the best of a decoded sentence's translations.
pub(super) fn explain(
    derived: &Derived<'_>,
    decoded: &Decoded,
    unasked: Option<(SentenceForest, Derivation)>,
    (search, trace): (Search, &[TraceItem]),
    input: &str,
) -> Result<Explanation> {
    let (sentence, forest, derivation) = (derived.sentence(), derived.forest(), derived.derivation());
    let builder = Builder { derived, sentence, forest, target: derived.model().target_text() };
    let parts = derived.contributions();
    let totals = parts.totals();
    let alternatives = Alternatives::new(derived);
    let changes: Vec<Option<Changed>> =
        (0..derivation.edges().len()).map(|step| alternatives.best_for(step)).collect();
    // The second best is what a list has second. Without one, the best derivation with one rule changed stands for it;
    // that can be better than the answer, if the search missed it.
    let words = derivation.words(forest);
    let listed = decoded.hypotheses.iter().find(|other| other.words != words);
    let listed = listed.map(|other| (other.score, &other.derivation));
    let changed = changes.iter().flatten().map(|change| (change.score, &change.derivation));
    let runner_up = listed.or_else(|| changed.reduce(|a, b| if b.0 > a.0 { b } else { a }));
    let overruled = unasked.and_then(|unasked| overruled(derived, &totals, &unasked));
    let structure = structure(derived, runner_up.map(|(_, other)| other));
    let runner_up = runner_up.map(|(_, other)| builder.runner_up(derivation, &totals, parts.score(), other));
    let Contributions { rules, words } = &parts;
    let target_words = builder.words(derivation, words);
    let steps = builder.steps(derivation, rules, changes, &totals, parts.score())?;
    // What decided may be a feature that the translation itself does not have.
    let competitors = steps.iter().filter_map(|step| step.competitor.as_ref());
    let against =
        competitors.map(|other| &other.decided).chain(runner_up.as_ref().map(|other| &other.decided));
    let named = totals.iter().map(|part| &part.feature);
    let named = named.chain(against.flatten().map(|one| &one.feature));
    let meanings = named.map(|name| (name.clone(), meaning(name))).collect();
    Ok(Explanation {
        version: Explanation::VERSION,
        languages: derived.model().languages().clone(),
        input: input.to_string(),
        source: builder.source(),
        tree: builder.tree(),
        translation: builder.compose(derivation).text,
        score: parts.score(),
        words: target_words,
        end: words.last().cloned().unwrap_or_default(),
        steps,
        meanings,
        features: totals,
        runner_up,
        structure,
        overruled,
        search: view(decoded, trace, search),
        missed_terms: sentence.missed.iter().map(|span| [span.start, span.end]).collect(),
    })
}

struct Builder<'a> {
    derived: &'a Derived<'a>,
    sentence: &'a Sentence,
    forest: &'a TranslationForest,
    target: TargetText,
}

impl Builder<'_> {
    fn text(&self, symbol: Symbol) -> String {
        self.sentence.vocab().text(symbol).to_string()
    }

    /// The text of a derivation and its words.
    fn compose(&self, derivation: &Derivation) -> Composed {
        self.derived.other(derivation).compose(self.target)
    }

    /// The words of the sentence as rules see them.
    fn source(&self) -> Vec<String> {
        self.sentence.words.iter().map(|word| word.text.clone()).collect()
    }

    fn leaf_span(&self, leaf: usize) -> [u32; 2] {
        self.sentence.words_of(Span::new(leaf, leaf + 1))
    }

    fn tree(&self) -> Vec<Node> {
        // A packed forest is not shown: it has no single tree.
        let Syntax::Tree(tree) = &self.sentence.syntax else { return Vec::new() };
        let nodes = tree.nodes().map(|node| {
            let span = self.sentence.words_of(tree.span(node));
            let children = tree.children(node).iter().map(|child| match *child {
                TreeChild::Node(node) => Child::Node(node.0 as usize),
                TreeChild::Leaf(leaf) => Child::Words(self.leaf_span(leaf as usize)),
            });
            Node { label: self.text(tree.label(node)), span, children: children.collect() }
        });
        nodes.collect()
    }

    fn words(&self, derivation: &Derivation, parts: &[Vec<Contribution>]) -> Vec<Word> {
        let mut texts = self.compose(derivation).words.into_iter();
        let mut words: Vec<Word> = Vec::new();
        derivation.walk(
            self.forest,
            |_, _| {},
            |step, _| {
                let parts = parts.get(words.len()).cloned().unwrap_or_default();
                let text = texts.next().unwrap_or_default();
                words.push(Word { text, step, links: Vec::new(), parts });
            },
        );
        for (source, target) in self.derived.other(derivation).links() {
            if let Some(word) = words.get_mut(target as usize) {
                word.links.push(source);
            }
        }
        words
    }

    fn steps(
        &self,
        derivation: &Derivation,
        rules: &[Vec<Contribution>],
        changes: Vec<Option<Changed>>,
        totals: &[Contribution],
        score: f64,
    ) -> Result<Vec<Step>> {
        let edges = derivation.edges();
        let mut depths = Vec::new();
        let mut own: Vec<Vec<u32>> = vec![Vec::new(); edges.len()];
        let mut position = 0;
        derivation.walk(
            self.forest,
            |depth, _| depths.push(depth),
            |step, _| {
                own[step].push(position);
                position += 1;
            },
        );
        let mut parents = Vec::with_capacity(edges.len());
        let mut path: Vec<usize> = Vec::new();
        let mut held: Vec<Vec<usize>> = vec![Vec::new(); edges.len()];
        for (index, &depth) in depths.iter().enumerate() {
            path.truncate(depth);
            if let Some(&parent) = path.last() {
                held[parent].push(index);
            }
            parents.push(path.last().copied());
            path.push(index);
        }
        let mut orders = orders(self.forest, derivation, &self.source());
        let mut steps = Vec::with_capacity(edges.len());
        for (index, change) in changes.into_iter().enumerate() {
            let edge = edges[index];
            let (kind, rule) = self.derived.rule_of(edge);
            let (mut words, mut inner) = (own[index].iter(), held[index].iter());
            let mut target = Vec::new();
            for symbol in self.forest.target(edge) {
                match symbol {
                    Target::Bundle(bundle) => {
                        let count = self.forest.bundle(*bundle).len();
                        target.extend(words.by_ref().take(count).map(|&word| Piece::Word(word)));
                    }
                    Target::Vertex(_) => target.extend(inner.next().map(|&step| Piece::Step(step))),
                }
            }
            let (leaves, _) = self.derived.leaves_of(edge);
            let source = leaves.into_iter().flat_map(|leaf| {
                let [start, end] = self.leaf_span(leaf as usize);
                start..end
            });
            let parts = rules.get(index).cloned().unwrap_or_default();
            steps.push(Step {
                parent: parents[index],
                depth: depths[index],
                node: self.forest.edge(edge).head.0 as usize,
                rule: self.derived.rule_text(edge),
                kind,
                stands_for: self.derived.stands_for(edge).into_iter().map(str::to_string).collect(),
                count: self.count(rule),
                order: orders[index].take(),
                source: source.collect(),
                target,
                score: parts.iter().map(|part| part.score).sum(),
                parts,
                lines: self.lines_of(edge, rule)?,
                competitor: change.map(|change| self.competitor(&change, totals, score)),
            });
        }
        Ok(steps)
    }

    fn count(&self, rule: Option<RuleId>) -> Option<[f64; 3]> {
        let count = self.derived.model().grammar().notes(rule?).count?;
        Some([count.rule.to_f64(), count.source.to_f64(), count.target.to_f64()])
    }

    /// The training lines of an edge's rule, or of all rules that it was made from.
    fn lines_of(&self, edge: EdgeId, rule: Option<RuleId>) -> Result<Vec<Line>> {
        let behind = self.derived.made_from(edge);
        let mut lines = Vec::new();
        for rule in if behind.len() > 1 { behind } else { rule.as_slice() } {
            lines.extend(self.lines(Some(*rule))?);
        }
        Ok(lines)
    }

    /// The training lines of a rule of the table.
    fn lines(&self, rule: Option<RuleId>) -> Result<Vec<Line>> {
        let (Some(id), Some(lines)) = (rule, self.derived.model().training_lines()) else {
            return Ok(Vec::new());
        };
        let table = self.derived.model().grammar();
        let rule = table.rule(id);
        let vocab = self.sentence.vocab();
        let source: Vec<&str> = rule
            .source()
            .iter()
            .filter_map(|token| match token {
                Source::Word(word) => Some(vocab.text(*word)),
                Source::Open(..) | Source::Var(_) => None,
            })
            .collect();
        let target: Vec<&str> = rule
            .target()
            .iter()
            .filter_map(|token| match token {
                TargetSide::Word(word) => Some(vocab.text(*word)),
                TargetSide::Var(_) => None,
            })
            .collect();
        let mut found = Vec::new();
        for number in table.notes(id).lines {
            let Some(line) = lines.get(number)? else { continue };
            let cut = |text: &str| text.split_whitespace().map(str::to_string).collect::<Vec<_>>();
            let (from, to) = (cut(&line.source), cut(&line.target));
            let marks = |words: &[&str], text: &[String]| {
                let text: Vec<&str> = text.iter().map(String::as_str).collect();
                narrowest(words, &text).unwrap_or_default()
            };
            let (source_marks, target_marks) = (marks(&source, &from), marks(&target, &to));
            found.push(Line { number: line.number, source: from, target: to, source_marks, target_marks });
        }
        Ok(found)
    }

    fn competitor(&self, change: &Changed, totals: &[Contribution], score: f64) -> Competitor {
        let parts = self.derived.other(&change.derivation).contributions();
        Competitor {
            rule: self.derived.rule_text(change.edge),
            kind: self.derived.rule_of(change.edge).0,
            words: self.compose(&change.derivation).words,
            score: parts.score(),
            difference: score - parts.score(),
            decided: decided(totals, &parts.totals()),
        }
    }

    fn runner_up(
        &self,
        best: &Derivation,
        totals: &[Contribution],
        score: f64,
        other: &Derivation,
    ) -> RunnerUp {
        let parts = self.derived.other(other).contributions();
        let Composed { text, words, .. } = self.compose(other);
        let new: Vec<EdgeId> =
            other.edges().iter().copied().filter(|edge| !best.edges().contains(edge)).collect();
        let rules = new.into_iter().map(|edge| self.derived.rule_text(edge));
        RunnerUp {
            translation: text,
            score: parts.score(),
            difference: score - parts.score(),
            decided: decided(totals, &parts.totals()),
            rules: rules.collect(),
            words,
        }
    }
}

/// Where a rule comes from, in words; empty for learnt rules.
pub(super) fn note(kind: RuleKind) -> &'static str {
    match kind {
        RuleKind::Table => "",
        RuleKind::Overlay => "from the overlay",
        RuleKind::Term => "from the glossary, or kept as it is",
        RuleKind::Unseen => "for a word like it, or for its parts: no rule is for the word itself",
        RuleKind::Copy => "no rule matches: words copied, parts in source order",
        RuleKind::Glue => "parts joined",
    }
}
