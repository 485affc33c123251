//! Forty random grammars with gaps, each with a sentence, a language model and what a slow decoder of another hand found.

use serde_json::Value;
use sylvan_base::{HashMap, Span, Symbol, Vocab};
use sylvan_forest::{EdgeSpec, ForestBuilder, Layer, Part, RuleRef, TokenId, TranslationForest, VertexId};
use sylvan_search::LanguageModel;

/// One of them.
pub struct Vector {
    pub json: Value,
    pub vocab: Vocab,
    pub forest: TranslationForest,
}

pub fn vectors() -> Vec<Vector> {
    let all: Vec<Value> = serde_json::from_str(include_str!("vectors.json")).unwrap();
    all.into_iter().map(Vector::new).collect()
}

/// A symbol of either side.
enum Sym<'a> {
    Word(&'a str),
    Variable(usize),
}

fn side(json: &Value) -> Vec<Sym<'_>> {
    let symbols = json.as_array().unwrap().iter().map(|symbol| match symbol.as_str() {
        Some(word) => Sym::Word(word),
        None => Sym::Variable(symbol["i"].as_u64().unwrap() as usize - 1),
    });
    symbols.collect()
}

/// All ways for a source side to span words `at..end`: the span of each variable, in source order.
fn matches(source: &[Sym<'_>], words: &[&str], at: usize, end: usize) -> Vec<Vec<(usize, Span)>> {
    let Some((first, rest)) = source.split_first() else {
        return if at == end { vec![Vec::new()] } else { Vec::new() };
    };
    match first {
        Sym::Word(word) if at < end && words[at] == *word => matches(rest, words, at + 1, end),
        Sym::Word(_) => Vec::new(),
        Sym::Variable(variable) => {
            let mut all = Vec::new();
            for stop in at + 1..=end {
                for mut others in matches(rest, words, stop, end) {
                    others.insert(0, (*variable, Span::new(at, stop)));
                    all.push(others);
                }
            }
            all
        }
    }
}

/// The words that are jumped over: first the runs of source words in source order, then the variables in target order,
/// then the end of the span.
fn distortion(source: &[Sym<'_>], target: &[Sym<'_>], span: Span, variables: &[(usize, Span)]) -> f64 {
    let of = |variable: usize| variables.iter().find(|(other, _)| *other == variable).unwrap().1;
    let (mut at, mut places): (u32, Vec<Span>) = (span.start, Vec::new());
    let mut open = false;
    for symbol in source {
        match symbol {
            Sym::Variable(variable) => (at, open) = (of(*variable).end, false),
            Sym::Word(_) => {
                match places.last_mut() {
                    Some(run) if open => run.end += 1,
                    _ => places.push(Span { start: at, end: at + 1 }),
                }
                (at, open) = (at + 1, true);
            }
        }
    }
    places.extend(target.iter().filter_map(|symbol| match symbol {
        Sym::Variable(variable) => Some(of(*variable)),
        Sym::Word(_) => None,
    }));
    let (mut at, mut jumped) = (span.start, 0);
    for place in places {
        jumped += at.abs_diff(place.start);
        at = place.end;
    }
    f64::from(jumped + at.abs_diff(span.end))
}

impl Vector {
    fn new(json: Value) -> Self {
        let words: Vec<&str> =
            json["words"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        let per_word = json["w_dist"].as_f64().unwrap();
        let mut vocab = Vocab::new();
        let mut builder = ForestBuilder::new();
        let mut of_span: HashMap<Span, VertexId> = HashMap::default();
        for length in 1..=words.len() {
            for start in 0..=words.len() - length {
                let span = Span::new(start, start + length);
                let mut edges = Vec::new();
                for (id, rule) in json["rules"].as_array().unwrap().iter().enumerate() {
                    let (source, target) = (side(&rule["src"]), side(&rule["tgt"]));
                    for variables in matches(&source, &words, start, start + length) {
                        if variables.iter().any(|(_, span)| !of_span.contains_key(span)) {
                            continue;
                        }
                        let parts: Vec<Part> = target
                            .iter()
                            .map(|symbol| match symbol {
                                Sym::Word(word) => Part::word(vocab.intern(word)),
                                Sym::Variable(variable) => {
                                    let (_, span) =
                                        variables.iter().find(|(other, _)| other == variable).unwrap();
                                    Part::Vertex(of_span[span])
                                }
                            })
                            .collect();
                        let score = rule["w"].as_f64().unwrap()
                            + per_word * distortion(&source, &target, span, &variables);
                        let rule = RuleRef { layer: Layer::Grammar, id: id as u32 };
                        edges.push((EdgeSpec { rule, score, nodes: 1, hash: id as u64 }, parts));
                    }
                }
                if !edges.is_empty() {
                    of_span.insert(span, builder.vertex(1, span));
                    edges.iter().for_each(|(spec, parts)| builder.edge(*spec, parts));
                }
            }
        }
        let goal = of_span[&Span::new(0, words.len())];
        Self { vocab, forest: builder.finish(goal), json }
    }

    pub fn number(&self, name: &str) -> f64 {
        self.json[name].as_f64().unwrap()
    }

    pub fn lm(&self) -> BackOff {
        let symbol = |word: &str| match word {
            "<s>" => BEGIN,
            "</s>" => END,
            // A word that no rule has.
            other => self.vocab.get(other).map_or(u32::MAX - 2, |word| word.0),
        };
        let table = |name: &str| -> HashMap<Vec<u32>, f64> {
            let entries = self.json[name].as_object().unwrap();
            let key = |words: &String| words.split(' ').map(symbol).collect();
            entries.iter().map(|(words, value)| (key(words), value.as_f64().unwrap())).collect()
        };
        BackOff {
            order: self.json["order"].as_u64().unwrap() as usize,
            weight: self.number("lambda_lm"),
            unknown: self.number("lm_unk"),
            scores: table("lm_prob"),
            back_offs: table("lm_backoff"),
            tokens: self.forest.tokens().iter().map(|token| token.word).collect(),
        }
    }
}

const BEGIN: u32 = u32::MAX;
const END: u32 = u32::MAX - 1;

/// A back-off model of up to three words.
pub struct BackOff {
    order: usize,
    weight: f64,
    unknown: f64,
    scores: HashMap<Vec<u32>, f64>,
    back_offs: HashMap<Vec<u32>, f64>,
    tokens: Vec<Symbol>,
}

impl BackOff {
    fn after(&self, context: &[u32], word: u32) -> f64 {
        match (self.scores.get(&[context, &[word]].concat()), context) {
            (Some(score), _) => *score,
            (None, []) => self.unknown,
            (None, [_, fewer @ ..]) => {
                self.back_offs.get(context).copied().unwrap_or(0.0) + self.after(fewer, word)
            }
        }
    }

    /// The words that matter of what came before, oldest first.
    fn context(state: &[Option<u32>; 2]) -> Vec<u32> {
        state.iter().copied().flatten().collect()
    }
}

impl LanguageModel for BackOff {
    type State = [Option<u32>; 2];
    fn order(&self) -> usize {
        self.order
    }
    fn begin(&self) -> Self::State {
        [None, Some(BEGIN)]
    }
    fn null(&self) -> Self::State {
        [None, None]
    }
    fn score(&self, state: Self::State, token: TokenId) -> (f64, Self::State) {
        let word = self.tokens[token.0 as usize].0;
        let older = if self.order > 2 { state[1] } else { None };
        (self.weight * self.after(&Self::context(&state), word), [older, Some(word)])
    }
    fn end(&self, state: Self::State) -> f64 {
        self.weight * self.after(&Self::context(&state), END)
    }
}
