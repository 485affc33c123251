//! Language models and toy problems that the tests of all searches share.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use sylvan_base::hash::{content_hash, fold};
use sylvan_base::{HashMap, Rng, Symbol, Vocab};
use sylvan_forest::{BundleId, Derivation, Layer, TokenId, TranslationForest, VertexId};
use sylvan_rules::apply::{Applier, DefaultRules};
use sylvan_rules::{Grammar, GrammarBuilder, Rule, RuleId, Weights};
use sylvan_search::{Bounds, Derivations, LanguageModel, Neighbours};
use sylvan_testkit::random_instance;
use sylvan_trees::{NodeId, Tree};

/// A bigram model given by a table of pairs: a pair that is not listed costs 0.5 more than the word alone.
pub struct TableLm {
    pairs: HashMap<(Symbol, Symbol), f64>,
    words: HashMap<Symbol, f64>,
    other: f64,
    begin: Symbol,
    end: Symbol,
    /// The words of the forest's tokens.
    tokens: Vec<Symbol>,
}

impl TableLm {
    fn new(
        pairs: &[(&str, &str, f64)],
        words: &[(&str, f64)],
        other: f64,
        vocab: &mut Vocab,
        forest: &TranslationForest,
    ) -> Self {
        Self {
            tokens: words_of(forest),
            pairs: pairs.iter().map(|&(v, w, s)| ((vocab.intern(v), vocab.intern(w)), s)).collect(),
            words: words.iter().map(|&(w, s)| (vocab.intern(w), s)).collect(),
            other,
            begin: vocab.intern("<s>"),
            end: vocab.intern("</s>"),
        }
    }

    fn alone(&self, word: Symbol) -> f64 {
        self.words.get(&word).copied().unwrap_or(self.other)
    }
}

fn words_of(forest: &TranslationForest) -> Vec<Symbol> {
    forest.tokens().iter().map(|token| token.word).collect()
}

impl TableLm {
    fn after(&self, state: Option<Symbol>, word: Symbol) -> f64 {
        match state {
            None => self.alone(word),
            Some(before) => {
                self.pairs.get(&(before, word)).copied().unwrap_or_else(|| self.alone(word) - 0.5)
            }
        }
    }
}

impl LanguageModel for TableLm {
    type State = Option<Symbol>;
    fn order(&self) -> usize {
        2
    }
    fn begin(&self) -> Option<Symbol> {
        Some(self.begin)
    }
    fn null(&self) -> Option<Symbol> {
        None
    }
    fn score(&self, state: Option<Symbol>, token: TokenId) -> (f64, Option<Symbol>) {
        let word = self.tokens[token.0 as usize];
        (self.after(state, word), Some(word))
    }
    fn end(&self, state: Option<Symbol>) -> f64 {
        self.after(state, self.end)
    }
    fn bounds(&self, neighbours: &Neighbours) -> Option<Box<dyn Bounds + '_>> {
        Some(Box::new(AllHistories { lm: self, neighbours: neighbours.clone() }))
    }
}

/// A model of any order up to 5 whose scores are a hash of context and word: nothing smooth to rely on.
pub struct HashLm {
    pub order: usize,
    pub seed: u64,
    /// Scores are multiplied by this: 0 turns the model off but keeps its states.
    pub weight: f64,
    /// The words of the forest's tokens, so that scores do not depend on how tokens are numbered.
    tokens: Vec<Symbol>,
}

/// The last words, newest first; how many are known.
pub type Context = ([u32; 4], usize);

const BEGIN: u32 = u32::MAX;
const END: u32 = u32::MAX - 1;

impl HashLm {
    pub fn new(forest: &TranslationForest, order: usize, seed: u64, weight: f64) -> Self {
        Self { order, seed, weight, tokens: words_of(forest) }
    }

    fn value(&self, (words, known): Context, word: u32) -> f64 {
        let hash = words[..known].iter().fold(self.seed, |hash, &w| fold(hash, u64::from(w)));
        let hash = content_hash(&fold(fold(hash, known as u64), u64::from(word)).to_le_bytes());
        -((hash % 4000) as f64 + 1.0) / 1000.0 * self.weight
    }
}

impl LanguageModel for HashLm {
    type State = Context;
    fn order(&self) -> usize {
        self.order
    }
    fn begin(&self) -> Context {
        let mut words = [0; 4];
        words[..self.order - 1].fill(BEGIN);
        (words, self.order - 1)
    }
    fn null(&self) -> Context {
        ([0; 4], 0)
    }
    fn score(&self, state: Context, token: TokenId) -> (f64, Context) {
        let word = self.tokens[token.0 as usize];
        let score = self.value(state, word.0);
        let (mut words, known) = state;
        words.copy_within(0..3, 1);
        words[0] = word.0;
        words[self.order - 1..].fill(0);
        (score, (words, (known + 1).min(self.order - 1)))
    }
    fn end(&self, state: Context) -> f64 {
        self.value(state, END)
    }
    fn bounds(&self, neighbours: &Neighbours) -> Option<Box<dyn Bounds + '_>> {
        Some(Box::new(AllHistories { lm: self, neighbours: neighbours.clone() }))
    }
}

/// True bounds of any model, by looking at all histories that a sentence allows.
pub struct AllHistories<'m, L> {
    lm: &'m L,
    neighbours: Neighbours,
}

impl<L: LanguageModel> Bounds for AllHistories<'_, L> {
    fn upper_bound(&mut self, known: &[TokenId], next: Option<TokenId>) -> f64 {
        let score = |state| next.map_or_else(|| self.lm.end(state), |word| self.lm.score(state, word).0);
        if known.len() + 1 >= self.lm.order() {
            return score(self.lm.run(self.lm.null(), known).1);
        }
        let (before, first) = match known.first().copied().or(next) {
            Some(word) => {
                let before = self.neighbours.words().find(|(other, _)| *other == word).unwrap().1;
                (before.to_vec(), self.neighbours.is_first(word))
            }
            None => (self.neighbours.last_words().to_vec(), self.neighbours.can_be_empty()),
        };
        let mut best = f64::NEG_INFINITY;
        if first {
            best = score(self.lm.run(self.lm.begin(), known).1);
        }
        for word in before {
            best = best.max(self.upper_bound(&[&[word], known].concat(), next));
        }
        assert!(best > f64::NEG_INFINITY, "{next:?} has no history");
        best
    }
}

/// A tree, its rules and everything needed to print results.
pub struct Problem {
    pub vocab: Vocab,
    pub tree: Tree,
    pub grammar: Grammar,
    pub forest: TranslationForest,
    names: Vec<String>,
}

impl Problem {
    pub fn new(tree: &str, rules: &[(&str, &str, f64)]) -> Self {
        // The random instances' target words first: `HashLm` scores ids, which must not depend on rule order.
        let mut vocab = Vocab::of(["a", "b", "c", "d"]);
        let tree = sylvan_trees::penn::parse_line(tree, Default::default(), &mut vocab).unwrap().unwrap();
        let mut builder = GrammarBuilder::new(["score"]);
        for (_, text, score) in rules {
            let rule = Rule::parse(text, &mut vocab).unwrap();
            builder.add(&rule, &[*score as f32], &vocab);
        }
        let grammar = builder.finish();
        let weights = Weights::of([("score", 1.0)]);
        let forest = Applier::new(&grammar, &weights, DefaultRules::Never).forest(&tree, &vocab);
        let names = rules.iter().map(|(name, _, _)| name.to_string()).collect();
        Self { vocab, tree, grammar, forest, names }
    }

    pub fn text(&self, derivation: &Derivation) -> String {
        self.vocab.join(&derivation.words(&self.forest))
    }

    /// The words of a bundle.
    pub fn words(&self, bundle: BundleId) -> String {
        self.vocab.join(&self.forest.bundle_words(bundle).collect::<Vec<_>>())
    }

    /// The words of tokens.
    pub fn token_text(&self, tokens: &[TokenId]) -> String {
        self.vocab.join(&tokens.iter().map(|&token| self.forest.token(token).word).collect::<Vec<_>>())
    }

    /// The names of a derivation's rules, in target order.
    pub fn rule_names(&self, derivation: &Derivation) -> String {
        let names: Vec<&str> = derivation
            .edges()
            .iter()
            .map(|&edge| {
                let rule = self.forest.edge(edge).spec.rule;
                assert_eq!(rule.layer, Layer::Grammar);
                self.names[rule.id as usize].as_str()
            })
            .collect();
        names.join(" ")
    }

    /// A vertex as the papers write it: `NP@2.1.2`.
    pub fn vertex(&self, vertex: VertexId) -> String {
        let node = NodeId(vertex.0);
        format!("{}@{}", self.vocab.text(self.tree.label(node)), self.tree.address(node))
    }

    /// The vertex of a name like `NP@2.1.2`.
    pub fn find(&self, name: &str) -> VertexId {
        self.forest.vertices().find(|&vertex| self.vertex(vertex) == name).unwrap()
    }

    pub fn rule(&self, id: u32) -> Rule {
        self.grammar.rule(RuleId(id))
    }
}

/// Toy A: Feng et al. 2012, figure 1.
pub fn toy_a() -> (Problem, TableLm) {
    let mut problem = Problem::new(
        "(IP (NP (NN1 toupiao) (NN2 jieguo)) (VP (NT wanshang) (VV gongbu)))",
        &[
            ("r1", "NN1(toupiao) -> the vote", -0.6),
            ("r2", "NN2(jieguo) -> the result", -0.5),
            ("r3", "NP(x1:NN1 x2:NN2) -> x2 of x1", -0.9),
            ("r4", "NP(NN1(toupiao) x1:NN2) -> x1 of the vote", -0.7),
            ("r5", "VP(NT(wanshang) VV(gongbu)) -> was released at night", -1.2),
            ("r6", "IP(x1:NP x2:VP) -> x1 x2", -0.2),
            ("r7", "IP(NP(NN1(toupiao) x1:NN2) x2:VP) -> x1 of the vote x2", -1.0),
            ("r8", "IP(x1:NP x2:VP) -> x2 x1", -1.6),
        ],
    );
    let pairs = [
        ("<s>", "the", -0.5),
        ("the", "result", -0.7),
        ("the", "vote", -0.9),
        ("result", "of", -0.4),
        ("of", "the", -0.3),
        ("vote", "was", -0.8),
        ("was", "released", -0.5),
        ("released", "at", -0.9),
        ("at", "night", -0.6),
        ("night", "</s>", -0.4),
        ("vote", "</s>", -1.1),
        ("night", "the", -1.5),
        ("<s>", "was", -2.0),
    ];
    let words = [("the", -1.0), ("of", -1.2), ("was", -1.5), ("</s>", -1.0)];
    let lm = TableLm::new(&pairs, &words, -2.0, &mut problem.vocab, &problem.forest);
    (problem, lm)
}

const BUSH: &str = "(IP (NP Bushi) (VP (PP (P yu) (NP Shalong)) (VP (VV juxing) (AS le) (NP huitan))))";
const B: [(&str, &str, f64); 5] = [
    ("r1", "IP(x1:NP x2:VP) -> x1 x2", -0.1),
    ("r2", "NP(Bushi) -> Bush", -0.2),
    ("r3", "VP(PP(P(yu) x1:NP) VP(VV(juxing) AS(le) x2:NP)) -> held x2 with x1", -1.4),
    ("r4", "NP(huitan) -> talks", -0.5),
    ("r5", "NP(Shalong) -> Sharon", -0.3),
];
const B_PLUS: [(&str, &str, f64); 5] = [
    ("s1", "VP(x1:PP x2:VP) -> x2 x1", -0.4),
    ("s2", "VP(x1:PP x2:VP) -> x1 x2", -0.9),
    ("s3", "PP(P(yu) x1:NP) -> with x1", -0.3),
    ("s4", "VP(VV(juxing) AS(le) x1:NP) -> held x1", -0.6),
    ("s5", "NP(huitan) -> a meeting", -0.7),
];

fn bush_lm(problem: &mut Problem) -> TableLm {
    let pairs = [
        ("<s>", "Bush", -0.6),
        ("Bush", "held", -0.5),
        ("held", "talks", -0.7),
        ("held", "a", -0.4),
        ("a", "meeting", -0.3),
        ("talks", "with", -0.6),
        ("meeting", "with", -0.5),
        ("with", "Sharon", -0.8),
        ("Sharon", "</s>", -0.3),
        ("talks", "</s>", -0.9),
        ("Bush", "with", -1.9),
        ("Sharon", "held", -1.4),
    ];
    let words = [("with", -1.2), ("held", -1.6), ("a", -1.1), ("</s>", -1.0)];
    TableLm::new(&pairs, &words, -2.0, &mut problem.vocab, &problem.forest)
}

/// Toy B: Huang & Mi 2010, figures 3 and 4.
pub fn toy_b() -> (Problem, TableLm) {
    let mut problem = Problem::new(BUSH, &B);
    let lm = bush_lm(&mut problem);
    (problem, lm)
}

/// Toy B with five more rules, so that there is something to choose.
pub fn toy_b_plus() -> (Problem, TableLm) {
    let mut problem = Problem::new(BUSH, &[&B[..], &B_PLUS[..]].concat());
    let lm = bush_lm(&mut problem);
    (problem, lm)
}

/// Toy B+ with some of its rules.
pub fn toy_b_of(names: &[&str]) -> (Problem, TableLm) {
    let mut rules = [&B[..], &B_PLUS[..]].concat();
    rules.retain(|(name, _, _)| names.contains(name));
    let mut problem = Problem::new(BUSH, &rules);
    let lm = bush_lm(&mut problem);
    (problem, lm)
}

/// A bigram model from tables of pairs and words.
pub fn bigram(
    pairs: &[(&str, &str, f64)],
    words: &[(&str, f64)],
    vocab: &mut Vocab,
    forest: &TranslationForest,
) -> TableLm {
    TableLm::new(pairs, words, -2.0, vocab, forest)
}

/// Equal except for rounding.
#[track_caller]
pub fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-5, "found {found}, expected {expected}");
}

/// Brute force looks at no more derivations than this.
pub const LIMIT: u64 = 4_000;

/// Random trees and grammars with at most [`LIMIT`] derivations.
pub fn random_problems(seed: u64, count: usize, mut test: impl FnMut(&Problem, &str, &mut Rng)) {
    let mut rng = Rng::new(seed);
    let mut done = 0;
    while done < count {
        let instance = random_instance(&mut rng);
        let rules: Vec<(&str, &str, f64)> =
            instance.rules.iter().map(|(text, score)| ("", text.as_str(), *score)).collect();
        let problem = Problem::new(&instance.tree, &rules);
        if Derivations::of(&problem.forest).count() > LIMIT {
            continue;
        }
        test(&problem, &format!("{instance:?}"), &mut rng);
        done += 1;
    }
}

pub fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * (1.0 + a.abs())
}
