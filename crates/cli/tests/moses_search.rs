//! Moses' search problems: its derivations have its scores, and our searches find at least what its searches found.
//!
//! The tables, outputs and figures are in SYLVAN_DATA/moses-deen; nothing of them is here.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use common::corpus::success;
use common::run_in;
use sylvan::decode::{List, SentenceForest, With};
use sylvan::{Input, Model, Search, Stop, Worker};
use sylvan_forest::{Derivation, EdgeId, Target, TranslationForest, VertexId};
use sylvan_rules::Weights;
use sylvan_rules::apply::{Applying, ChartLimits};

/// Weights of the two searches under this program's names. `oov` holds what Moses charges an unknown word besides its
/// language-model score: 100, one word, one phrase.
const PHRASES_6: &str = "p_fe=0.0845381 lex_fe=0.0598499 p_ef=0.0701497 lex_ef=0.0585258 words=0.199539 rules=0.0148761 \
     lm=0.156422 distortion=0.0555814 msd.prev.mono=0.0147497 msd.prev.swap=0.151427 msd.prev.disc=0.0571295 \
     msd.next.mono=0.0409095 msd.next.swap=-0.00487633 msd.next.disc=0.0314258 oov=-99.7855849";
const PHRASES_NONE: &str = "p_fe=0.0937876 lex_fe=0.0322308 p_ef=0.0432111 lex_ef=0.0673369 words=0.216487 rules=0.0446683 \
     lm=0.132305 distortion=0.0448602 msd.prev.mono=0.00994431 msd.prev.swap=0.126292 msd.prev.disc=0.0353134 \
     msd.next.mono=0.0673238 msd.next.swap=-0.0124908 msd.next.disc=0.0737497 oov=-99.7388447";
const RULES: &str = "p_fe=0.152783 lex_fe=0.000187099 p_ef=0.00396343 lex_ef=0.126942 words=0.328457 rules=0.0711231 \
     lm=0.180612 glue=0.207042 oov=-99.6004199";
/// What Moses' rules for the ends of a sentence and for its first part add: three rules, one glue score, two words.
const ENDS: f64 = 3.0 * 0.0711231 + 0.135933 * 0.999896 + 2.0 * 0.328457;

struct Problem {
    model: Arc<Model>,
    worker: Worker,
    lines: Vec<String>,
    folder: std::path::PathBuf,
}

impl Problem {
    /// Imports the tables with the program itself.
    fn new(dir: &Path, kind: &str, weights: &str) -> Option<Self> {
        let folder = sylvan_testkit::data("moses-deen")?;
        let file = |name: &str| folder.join(name).display().to_string();
        let (table, lm) = (format!("{kind}.rules"), "en5.lm");
        let tables: &[&str] = match kind {
            "phrase" => &["--reordering", &file("reordering-table.gz"), &file("phrase-table.gz")],
            _ => &[&file("rule-table.gz")],
        };
        let import = ["grammar", "import", "--format", "moses", "--kind", kind, "--out", &table];
        success(&run_in(dir, &[&import, tables].concat(), ""));
        success(&run_in(dir, &["lm", "compile", "--arpa", &file("en5.arpa.gz"), "--out", lm], ""));
        let pairs = weights.split_whitespace().map(|pair| pair.split_once('=').unwrap());
        let weights = Weights::of(pairs.map(|(name, value)| (name, value.parse().unwrap())));
        let (model, _) = Model::open_parts(&dir.join(&table), &[dir.join(lm)], &weights).unwrap();
        let chart = ChartLimits { max_span: 20 };
        let model = Arc::new(model.with_applying(Applying { chart, ..Applying::default() }));
        let lines = std::fs::read_to_string(folder.join("val300.de")).unwrap();
        let lines = lines.lines().map(str::to_string).collect();
        Some(Self { worker: Worker::new(Arc::clone(&model)), model, lines, folder })
    }

    fn output(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder.join("out").join(name)).unwrap();
        text.lines().map(str::to_string).collect()
    }

    /// The score of a derivation that `find` makes of a line's forest.
    fn score(&mut self, line: usize, find: impl FnOnce(&Find<'_>) -> Vec<EdgeId>) -> f64 {
        let sentence = self.worker.read(&self.lines[line], Input::Text, With::default()).unwrap().unwrap();
        let SentenceForest { forest, .. } = &self.worker.forest(&sentence, With::default());
        let edges = find(&Find { forest, vocab: sentence.vocab() });
        let all = self.worker.forest(&sentence, With::default());
        let derivation = Derivation::new(edges);
        let derived = self.worker.derived(&sentence, With::default(), &all, &derivation);
        derived.contributions().score()
    }

    /// The scores of the best that a search finds.
    fn search(&mut self, search: Search) -> Vec<f64> {
        let (model, stop) = (Arc::clone(&self.model), Stop::NEVER);
        let search = model.search(Some(search)).unwrap();
        let decode = |line: &String| {
            let sentence = self.worker.read(line, Input::Text, With::default()).unwrap().unwrap();
            let decoded = self.worker.decode(&sentence, With::default(), search, List::default(), &stop);
            decoded.hypotheses[0].score
        };
        self.lines.iter().map(decode).collect()
    }
}

/// Looks edges up by what they translate.
struct Find<'f> {
    forest: &'f TranslationForest,
    vocab: &'f sylvan_base::Vocab,
}

/// A part of a target side: a word, or a span that is translated there.
#[derive(Debug, PartialEq)]
enum Part {
    Word(String),
    Span(u32, u32),
}

impl Find<'_> {
    fn parts(&self, edge: EdgeId) -> Vec<Part> {
        let mut parts = Vec::new();
        for symbol in self.forest.target(edge) {
            match *symbol {
                Target::Vertex(vertex) => {
                    let span = self.forest.span(vertex);
                    parts.push(Part::Span(span.start, span.end));
                }
                Target::Bundle(bundle) => {
                    let words =
                        self.forest.bundle_words(bundle).map(|word| self.vocab.text(word).to_string());
                    parts.extend(words.map(Part::Word));
                }
            }
        }
        parts
    }

    /// The edge of a label over a span with a target side; the best of several (two rules may differ in links alone).
    fn edge(&self, label: &str, span: (u32, u32), wanted: &[Part]) -> EdgeId {
        let is_there = |vertex: &VertexId| {
            let found = self.forest.span(*vertex);
            let name = self.forest.label(*vertex).map(|name| self.vocab.text(name));
            (found.start, found.end) == span && name == Some(label)
        };
        let vertex = self.forest.vertices().find(is_there).unwrap();
        let score = |edge: &EdgeId| self.forest.edge(*edge).spec.score;
        let edges = self.forest.edges(vertex).filter(|&edge| self.parts(edge) == wanted);
        edges
            .max_by(|a, b| score(a).total_cmp(&score(b)))
            .unwrap_or_else(|| panic!("{label}{span:?}: {wanted:?}"))
    }
}

fn average(scores: &[f64]) -> f64 {
    scores.iter().sum::<f64>() / scores.len() as f64
}

/// A span and what it is translated to.
type Phrase = ((u32, u32), Vec<Part>);

/// `a man |0-1| in |3-3|` as spans and words, after the score.
fn phrases_of(line: &str) -> (f64, Vec<Phrase>) {
    let (score, rest) = line.split_once(' ').unwrap();
    let (mut phrases, mut words) = (Vec::new(), Vec::new());
    for token in rest.split_whitespace() {
        let place = token
            .strip_prefix('|')
            .and_then(|token| token.strip_suffix('|'))
            .and_then(|place| place.split_once('-'));
        match place {
            Some((first, last)) => {
                let span = (first.parse().unwrap(), last.parse::<u32>().unwrap() + 1);
                phrases.push((span, std::mem::take(&mut words)));
            }
            None => words.push(Part::Word(token.to_string())),
        }
    }
    (score.parse().unwrap(), phrases)
}

#[test]
fn phrase_based_derivations_have_moses_scores_and_none_is_missed() {
    let dir = tempfile::tempdir().unwrap();
    for (weights, limit, name, average_of_moses) in
        [(PHRASES_6, Some(6), "pb-dl6", -42.4513), (PHRASES_NONE, None, "pb-dlnone", -40.6771)]
    {
        let Some(mut problem) = Problem::new(dir.path(), "phrase", weights) else { return };
        for run in ["stack100"] {
            for (number, line) in problem.output(&format!("{name}.{run}.txt")).iter().enumerate() {
                let (score, phrases) = phrases_of(line);
                let found = problem.score(number, |find| {
                    phrases.iter().map(|(span, words)| find.edge("X", *span, words)).collect()
                });
                assert!((found - score).abs() < 1e-3, "{name} {run} {number}: {found} {score}");
            }
        }
        let mut search = Search::named(sylvan::SearchName::Stacks);
        if let Search::Stacks(_, config) = &mut search {
            config.limit = limit;
        }
        let found = average(&problem.search(search));
        assert!(found >= average_of_moses, "{name}: {found}");
    }
}

/// Rules of a derivation, by label and span, positions as ours.
type Rules = HashMap<Place, Vec<Part>>;
type Place = (String, (u32, u32));

/// `Trans Opt 3 [1..4]: [4..4]=b   [1..3]=X  : X ->X  -> c X :..: term=..: nonterm=0-1 : ..`
fn rule_of(line: &str) -> Option<(usize, Place, Vec<Part>)> {
    let span = |text: &str| {
        let (first, last) = text.trim_start_matches('[').split_once("..").unwrap();
        (first.parse::<u32>().unwrap(), last.parse::<u32>().unwrap() + 1)
    };
    let rest = line.strip_prefix("Trans Opt ")?;
    let (number, rest) = rest.split_once(' ')?;
    let (place, rest) = rest.split_once("]: ")?;
    let (source, rest) = rest.split_once(" : ")?;
    let (label, rest) = rest.split_once(" ->")?;
    let (_, rest) = rest.split_once("  -> ")?;
    let (target, rest) = rest.split_once(" :")?;
    let (_, rest) = rest.split_once("nonterm=")?;
    let (variables, _) = rest.split_once(':')?;
    // Source symbols come last first.
    let mut symbols: Vec<(u32, u32)> =
        source.split_whitespace().map(|symbol| span(symbol.split_once("]=").unwrap().0)).collect();
    symbols.sort_unstable();
    let variables: HashMap<usize, usize> = variables
        .split_whitespace()
        .map(|pair| pair.split_once('-').unwrap())
        .map(|(source, target)| (target.parse().unwrap(), source.parse().unwrap()))
        .collect();
    let parts = target.split_whitespace().enumerate().map(|(place, word)| match variables.get(&place) {
        Some(&source) => Part::Span(symbols[source].0, symbols[source].1),
        None => Part::Word(word.split("|UNK").next().unwrap().to_string()),
    });
    Some((number.parse().ok()?, (label.to_string(), span(place)), parts.collect()))
}

/// Our edges of a Moses derivation, which has the sentence's ends as words; heads first.
fn edges_of(find: &Find<'_>, rules: &Rules, words: u32) -> Vec<EdgeId> {
    let shift = |part: &Part| match part {
        Part::Span(start, end) => Part::Span(start - 1, end - 1),
        Part::Word(word) => Part::Word(word.clone()),
    };
    // The parts that are glued, last first: S -> S </s>, then S -> S X, then S -> <s>.
    let mut glued: Vec<(u32, u32)> = Vec::new();
    let mut end = words + 1;
    while let [Part::Span(0, before), Part::Span(start, until)] = rules[&("S".to_string(), (0, end))][..] {
        glued.push((start, until));
        end = before;
    }
    let mut edges = Vec::new();
    for &(start, end) in &glued {
        let (start, end) = (start - 1, end - 1);
        let parts = match start {
            0 => vec![Part::Span(0, end)],
            _ => vec![Part::Span(0, start), Part::Span(start, end)],
        };
        edges.push(find.edge("S", (0, end), &parts));
    }
    let mut open: Vec<(u32, u32)> = glued;
    while let Some(span) = open.pop() {
        let parts = &rules[&("X".to_string(), span)];
        let ours: Vec<Part> = parts.iter().map(shift).collect();
        edges.push(find.edge("X", (span.0 - 1, span.1 - 1), &ours));
        let inside = parts.iter().rev().filter_map(|part| match part {
            Part::Span(start, end) => Some((*start, *end)),
            Part::Word(_) => None,
        });
        open.extend(inside);
    }
    edges
}

#[test]
fn hierarchical_derivations_have_moses_scores_and_none_is_missed() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut problem) = Problem::new(dir.path(), "hiero", RULES) else { return };
    for run in ["pop1000"] {
        let file = problem.folder.join(format!("out/hiero.{run}.derivations.gz"));
        let mut all: HashMap<usize, Rules> = HashMap::new();
        for line in sylvan_store::read_lines(&file).unwrap() {
            if let Some((number, place, parts)) = rule_of(&line) {
                all.entry(number).or_default().insert(place, parts);
            }
        }
        for (number, line) in problem.output(&format!("hiero.{run}.txt")).iter().enumerate() {
            let score: f64 = line.split(' ').next().unwrap().parse().unwrap();
            let words = problem.lines[number].split_whitespace().count() as u32;
            // Everything but the sentence's ends is below the glue that ends before </s>.
            let found = problem.score(number, |find| edges_of(find, &all[&number], words)) + ENDS;
            assert!((found - score).abs() < 1e-3, "{run} {number}: {found} {score}");
        }
    }
    let found = average(&problem.search(Search::default())) + ENDS;
    assert!(found >= -38.5117, "{found}");
}
