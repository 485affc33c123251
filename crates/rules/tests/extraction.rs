//! Composed rules, attachment and forest input against their definitions, spelt out in exponential time.
#![allow(clippy::unwrap_used)]

mod shared;

use std::collections::BTreeMap;

use shared::random_forest;
use sylvan_base::{Rng, Symbol, Vocab};
use sylvan_corpus::Link;
use sylvan_rules::extract::{Attach, ExtractConfig, extract_rules};
use sylvan_rules::{Count, Rule, Source, TargetSide};
use sylvan_testkit::random_instance;
use sylvan_trees::{Child, NodeId, Tree};

type Range = (u32, u32);

/// A sentence pair and everything that the definitions speak of.
struct Pair<'a> {
    tree: &'a Tree,
    target: &'a [Symbol],
    links: &'a [Link],
    config: ExtractConfig,
}

impl Pair<'_> {
    fn closure(&self, node: NodeId) -> Option<Range> {
        let span = self.tree.span(node);
        let inside = |link: &&Link| span.contains(link.source as usize);
        let first = self.links.iter().filter(inside).map(|link| link.target).min()?;
        let last = self.links.iter().filter(inside).map(|link| link.target).max()?;
        let crossed = self.links.iter().any(|link| !inside(&link) && (first..=last).contains(&link.target));
        (!crossed).then_some((first, last + 1))
    }

    /// The frontier nodes that a minimal rule at a node leaves as variables.
    fn tails(&self, node: NodeId) -> Vec<NodeId> {
        let mut tails = Vec::new();
        let mut open: Vec<NodeId> = self.child_nodes(node);
        while let Some(below) = open.pop() {
            match self.closure(below) {
                Some(_) => tails.push(below),
                None => open.extend(self.child_nodes(below)),
            }
        }
        tails.sort();
        tails
    }

    fn child_nodes(&self, node: NodeId) -> Vec<NodeId> {
        let node_of = |child: &Child| match *child {
            Child::Node(node) => Some(node),
            Child::Leaf(_) => None,
        };
        self.tree.children(node).iter().filter_map(node_of).collect()
    }

    fn is_free(&self, position: u32) -> bool {
        self.links.iter().all(|link| link.target != position)
    }

    /// The ranges that a frontier node can take.
    fn ranges(&self, node: NodeId, extended: bool) -> Vec<Range> {
        let (first, end) = self.closure(node).unwrap();
        let length = self.target.len() as u32;
        if node == self.tree.root() && self.config.attach != Attach::Inside {
            return vec![(0, length)];
        }
        let Attach::Exhaustive(most) = self.config.attach else { return vec![(first, end)] };
        let most = if extended { most } else { 0 };
        let mut ranges = Vec::new();
        for start in 0..=first {
            for stop in end..=length {
                let free = (start..first).chain(end..stop).all(|position| self.is_free(position));
                if free && first - start <= most && stop - end <= most {
                    ranges.push((start, stop));
                }
            }
        }
        ranges
    }

    /// All ways to give every frontier node below `node` a range.
    fn derivations(&self, node: NodeId, range: Range) -> Vec<BTreeMap<NodeId, Range>> {
        let tails = self.tails(node);
        let extended = tails.len() <= self.config.variables as usize;
        let mut all = vec![BTreeMap::from([(node, range)])];
        for &tail in &tails {
            let mut next = Vec::new();
            for chosen in &all {
                for (start, end) in self.ranges(tail, extended) {
                    let beside = tails
                        .iter()
                        .filter_map(|other| chosen.get(other))
                        .all(|o| end <= o.0 || o.1 <= start);
                    if range.0 <= start && end <= range.1 && beside {
                        for below in self.derivations(tail, (start, end)) {
                            let mut both = chosen.clone();
                            both.extend(below);
                            next.push(both);
                        }
                    }
                }
            }
            all = next;
        }
        all
    }

    /// Every choice of frontier nodes below `node` as variables, none below another.
    fn cuts(&self, node: NodeId) -> Vec<Vec<NodeId>> {
        let mut cuts = vec![Vec::new()];
        for tail in self.tails(node) {
            let mut options = vec![vec![tail]];
            options.extend(self.cuts(tail));
            cuts = cuts.iter().flat_map(|cut| options.iter().map(|more| [&cut[..], more].concat())).collect();
        }
        cuts
    }

    /// How many minimal rules make up the rule that keeps these variables.
    fn size(&self, node: NodeId, variables: &[NodeId]) -> u32 {
        let expanded = self.tails(node).into_iter().filter(|tail| !variables.contains(tail));
        1 + expanded.map(|tail| self.size(tail, variables)).sum::<u32>()
    }

    /// Whether the whole of a node may become a rule although it has too many minimal rules.
    fn is_phrase(&self, node: NodeId) -> bool {
        let tails = self.tails(node);
        if self.size(node, &[]) <= self.config.minimal_rules {
            return true;
        }
        let Some((last, others)) = tails.split_last() else { return false };
        let size: u32 = 1 + others.iter().map(|&tail| self.size(tail, &[])).sum::<u32>();
        self.tree.span(node).len() <= self.config.phrase_words as usize
            && size <= self.config.minimal_rules
            && others.iter().all(|&tail| self.is_phrase(tail))
            && self.is_phrase(*last)
    }

    fn rule(&self, node: NodeId, variables: &[NodeId], ranges: &BTreeMap<NodeId, Range>) -> Option<Rule> {
        let size = self.size(node, variables);
        if size > self.config.minimal_rules && !(variables.is_empty() && self.is_phrase(node)) {
            return None;
        }
        let mut source = Vec::new();
        let mut open = vec![Child::Node(node)];
        let mut bound = Vec::new();
        while let Some(child) = open.pop() {
            match child {
                Child::Leaf(position) => source.push(Source::Word(self.tree.words()[position as usize])),
                Child::Node(below) if variables.contains(&below) => {
                    bound.push(below);
                    source.push(Source::Var(self.tree.label(below)));
                }
                Child::Node(below) => {
                    let children = self.tree.children(below);
                    source.push(Source::Open(self.tree.label(below), children.len() as u32));
                    open.extend(children.iter().rev());
                }
            }
        }
        let mut target = Vec::new();
        let (start, end) = ranges[&node];
        for position in start..end {
            let inside = bound.iter().position(|tail| (ranges[tail].0..ranges[tail].1).contains(&position));
            let symbol = match inside {
                Some(variable) => TargetSide::Var(variable as u32),
                None => TargetSide::Word(self.target[position as usize]),
            };
            if target.last() != Some(&symbol) || matches!(symbol, TargetSide::Word(_)) {
                target.push(symbol);
            }
        }
        let rule = Rule::new(source, target).unwrap();
        let words = rule.target().len() as u32 - bound.len() as u32;
        let source_words =
            rule.source().iter().filter(|token| matches!(token, Source::Word(_))).count() as u32;
        let fits = rule.nodes() <= self.config.nodes
            && words <= self.config.words
            && source_words <= self.config.source_words
            && bound.len() as u32 <= self.config.variables;
        fits.then_some(rule)
    }

    /// Expected counts of all rules; `None` if there are too many derivations to spell out.
    fn counts(&self, limit: usize) -> Option<BTreeMap<Rule, f64>> {
        let mut counts = BTreeMap::new();
        if self.links.is_empty() {
            return Some(counts);
        }
        let root = self.tree.root();
        let derivations = self.derivations(root, self.ranges(root, true)[0]);
        if derivations.len() > limit {
            return None;
        }
        for ranges in &derivations {
            for &node in ranges.keys() {
                for variables in self.cuts(node) {
                    if let Some(rule) = self.rule(node, &variables, ranges) {
                        *counts.entry(rule).or_default() += 1.0 / derivations.len() as f64;
                    }
                }
            }
        }
        Some(counts)
    }
}

fn random_links(rng: &mut Rng, source: usize, target: usize) -> Vec<Link> {
    let mut links = Vec::new();
    // Mostly along the diagonal, so that there is a frontier; now and then anywhere.
    for s in 0..source {
        for _ in 0..*rng.pick(&[0, 1, 1, 1, 2]) {
            let t = if rng.chance(0.7) {
                (s * target / source + rng.below(2)).min(target - 1)
            } else {
                rng.below(target)
            };
            links.push(Link::new(s as u32, t as u32));
        }
    }
    links.sort_unstable();
    links.dedup();
    links
}

fn found(counts: impl Iterator<Item = (Rule, f64)>) -> BTreeMap<Rule, f64> {
    counts.fold(BTreeMap::new(), |mut sums, (rule, count)| {
        *sums.entry(rule).or_default() += count;
        sums
    })
}

#[track_caller]
fn assert_same(
    found: &BTreeMap<Rule, f64>,
    expected: &BTreeMap<Rule, f64>,
    tolerance: f64,
    what: &str,
    vocab: &Vocab,
) {
    let show = |counts: &BTreeMap<Rule, f64>| -> Vec<String> {
        counts.iter().map(|(rule, count)| format!("{} {count:.4}", rule.show(vocab))).collect()
    };
    let close = found.len() == expected.len()
        && found.iter().zip(expected).all(|((a, x), (b, y))| a == b && (x - y).abs() < tolerance);
    assert!(close, "{what}\nfound {:#?}\nexpected {:#?}", show(found), show(expected));
}

#[test]
fn rules_equal_their_definition_for_all_limits_and_attachments() {
    let mut rng = Rng::new(11);
    let (mut compared, mut rules) = (0, 0);
    for round in 0..sylvan_testkit::cases(12_000, 60_000) {
        let mut vocab = Vocab::new();
        let text = random_instance(&mut rng).tree;
        let tree = sylvan_trees::penn::parse_line(&text, Default::default(), &mut vocab).unwrap().unwrap();
        let length = 1 + rng.below(9);
        let target: Vec<Symbol> =
            (0..length).map(|_| vocab.intern(rng.pick::<&str>(&["a", "b", "c", "d"]))).collect();
        let links = random_links(&mut rng, tree.words().len(), length);
        let base = match round % 3 {
            0 => ExtractConfig::minimal(),
            1 => ExtractConfig { nodes: 3 + rng.below(8) as u32, ..ExtractConfig::default() },
            _ => ExtractConfig::travatar(),
        };
        let mut config = ExtractConfig {
            attach: *rng.pick(&[
                Attach::Lowest,
                Attach::Inside,
                Attach::Exhaustive(1),
                Attach::Exhaustive(2),
            ]),
            ..base
        };
        if round % 3 != 0 {
            config.minimal_rules = 1 + rng.below(5) as u32;
            config.words = *rng.pick(&[2, 4, 10]);
            config.variables = *rng.pick(&[0, 1, 2, 4]);
            config.source_words = *rng.pick(&[1, 3, u32::MAX]);
            config.phrase_words = *rng.pick(&[0, 2, 4, 10]);
        }
        let pair = Pair { tree: &tree, target: &target, links: &links, config };
        let Some(expected) = pair.counts(2_000) else { continue };
        let extracted = extract_rules(&tree, &target, &links, config).unwrap();
        let ours = found(extracted.into_iter().map(|extracted| (extracted.rule, extracted.share)));
        let what = format!("{text} / {} / {links:?} / {config:?}", vocab.join(&target));
        assert_same(&ours, &expected, 1e-9, &what, &vocab);
        compared += 1;
        rules += ours.len();
    }
    assert!(compared > 10_000 && rules > 40_000, "{compared} pairs, {rules} rules");
}

#[test]
fn a_forest_gives_the_expected_counts_over_its_trees() {
    let mut rng = Rng::new(12);
    for _ in 0..sylvan_testkit::cases(500, 3_000) {
        let mut vocab = Vocab::new();
        let forest = random_forest(&mut rng, &mut vocab);
        let length = 1 + rng.below(4);
        let target: Vec<Symbol> = (0..length).map(|index| vocab.intern(&format!("t{index}"))).collect();
        let links = random_links(&mut rng, forest.words().len(), length);
        let config = ExtractConfig { minimal_rules: 1 + rng.below(3) as u32, ..ExtractConfig::default() };
        let trees = forest.trees(1_000);
        let total: f64 = trees.iter().map(|(_, score)| score.exp()).sum();
        let mut expected: BTreeMap<Rule, f64> = BTreeMap::new();
        for (tree, score) in &trees {
            let pair = Pair { tree, target: &target, links: &links, config };
            for (rule, count) in pair.counts(1).unwrap() {
                *expected.entry(rule).or_default() += count * score.exp() / total;
            }
        }
        let extracted = extract_rules(&forest, &target, &links, config).unwrap();
        let ours = found(extracted.into_iter().map(|extracted| (extracted.rule, extracted.share)));
        assert_same(&ours, &expected, 1e-9, &format!("{links:?}"), &vocab);
    }
}

#[test]
fn least_shares_leave_out_what_is_less_and_nothing_else() {
    let mut rng = Rng::new(13);
    let (mut kept, mut dropped) = (0, 0);
    for _ in 0..sylvan_testkit::cases(500, 3_000) {
        let mut vocab = Vocab::new();
        let forest = random_forest(&mut rng, &mut vocab);
        let target = vocab.intern_words("a b c");
        let links = random_links(&mut rng, forest.words().len(), target.len());
        let least_share = Count::from_f64(*rng.pick(&[0.013, 0.17, 0.41]));
        let attach = *rng.pick(&[Attach::Lowest, Attach::Exhaustive(1)]);
        let all =
            ExtractConfig { minimal_rules: 1 + rng.below(4) as u32, attach, ..ExtractConfig::default() };
        let some = ExtractConfig { least_share, ..all };
        let rules = |config| {
            let rules = extract_rules(&forest, &target, &links, config).unwrap();
            rules.into_iter().map(|extracted| (extracted.node, extracted.rule, extracted.share))
        };
        let expected: Vec<_> = rules(all).filter(|rule| rule.2 >= least_share.to_f64()).collect();
        let found: Vec<_> = rules(some).collect();
        assert_eq!(found, expected);
        kept += found.len();
        dropped += rules(all).count() - found.len();
    }
    assert!(kept > 1_000 && dropped > 1_000, "{kept} kept, {dropped} dropped");
}

#[test]
fn a_limit_on_ways_keeps_the_best() {
    let mut vocab = Vocab::new();
    let text = "sentence 1 :\na b\nA[0,0] => a ||| 0\nB[1,1] => b ||| 0\nC[0,0] => a ||| 0\nD[1,1] => b ||| 0\n\
        S[0,1] => A[0,0] B[1,1] ||| -2\nS[0,1] => C[0,0] D[1,1] ||| -1\nS[0,1] => A[0,0] D[1,1] ||| -3\n";
    let forest = sylvan_trees::egret::parse_block(text, &mut vocab).unwrap().unwrap();
    let target = vocab.intern_words("x y");
    let links = [Link::new(0, 0), Link::new(1, 1)];
    for (ways_per_node, expected) in [(1, vec!["S(x1:C x2:D)"]), (2, vec!["S(x1:A x2:B)", "S(x1:C x2:D)"])] {
        let config = ExtractConfig { ways_per_node, ..ExtractConfig::minimal() };
        let rules = extract_rules(&forest, &target, &links, config).unwrap();
        let shown = rules.iter().map(|extracted| extracted.rule.show(&vocab));
        let mut shown: Vec<String> = shown.filter(|rule| rule.starts_with('S')).collect();
        shown.sort();
        let expected: Vec<String> = expected.iter().map(|side| format!("{side} -> x1 x2")).collect();
        assert_eq!(shown, expected);
    }
}

#[test]
fn galley_2006_exhaustive_attachment_of_a_meeting() {
    let mut vocab = Vocab::new();
    let text = "(IP (NP bushi) (VP (PP (P yu) (NP shalong)) (VP (VV juxing) (AS le) (NP huitan))))";
    let tree = sylvan_trees::penn::parse_line(text, Default::default(), &mut vocab).unwrap().unwrap();
    let target = vocab.intern_words("Bush held a meeting with Sharon");
    let links: Vec<Link> = [(0, 0), (1, 4), (2, 5), (3, 1), (5, 3)].map(|(s, t)| Link::new(s, t)).to_vec();
    let config = ExtractConfig { attach: Attach::Exhaustive(1), ..ExtractConfig::minimal() };
    let rules = extract_rules(&tree, &target, &links, config).unwrap();
    let mut shown: BTreeMap<String, f64> = BTreeMap::new();
    for extracted in &rules {
        *shown.entry(extracted.rule.show(&vocab)).or_default() += extracted.share;
    }
    for (rule, count) in [
        ("NP(huitan) -> a meeting", 1.0 / 3.0),
        ("NP(huitan) -> meeting", 2.0 / 3.0),
        ("VV(juxing) -> held a", 1.0 / 3.0),
        ("VP(x1:VV AS(le) x2:NP) -> x1 a x2", 1.0 / 3.0),
        ("VP(x1:VV AS(le) x2:NP) -> x1 x2", 2.0 / 3.0),
    ] {
        assert!((shown[rule] - count).abs() < 1e-5, "{rule} {}", shown[rule]);
    }
}
