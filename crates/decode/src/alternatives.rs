//! The other translations of some words of a sentence, and what each would cost the whole.
//!
//! ```text
//! words --> vertex --said--> candidates --each held, the rest searched again--> scores of whole translations
//! ```
//!
//! Candidates are what the best translations of the sentence say there, and what the vertex can say by the estimate of
//! its rules and words. Each is then held while the sentence is searched again, so that a difference is that of two whole
//! translations; with exact search, of the best two.

use serde::Serialize;
use sylvan_base::{HashSet, Symbol};
use sylvan_forest::{Derivation, EdgeId, TranslationForest, VertexId};

use crate::choices::{Choice, Held, hold, leaves_of, place, said};
use crate::error::{Error, Result};
use crate::hypotheses::List;
use crate::sentence::Sentence;
use crate::target_text::Composed;
use crate::translate::Request;
use crate::worker::{Decoded, RuleKind, SentenceForest, Worker};

/// The sentence's best translations in which candidates are looked for.
const LISTED: usize = 100;
/// Candidates that are searched for each one that is wanted.
const TRIED: usize = 3;
/// Those that a vertex lists.
const SAID: usize = 50;

/// What some words of a sentence can be translated to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Alternatives {
    /// The source words: the first, and one past the last.
    pub span: [u32; 2],
    /// The label of their constituent.
    pub label: Option<String>,
    /// The words.
    pub source: Vec<String>,
    /// The best translation of the sentence, whatever it does with these words.
    pub translation: String,
    /// Its score.
    pub score: f64,
    /// Where in it these words are translated: the first target word, and one past the last. None if they are translated
    /// as parts of something larger.
    pub places: Option<[usize; 2]>,
    /// For exact search: how much better anything can be; 0 if it is the optimum.
    pub gap: Option<f64>,
    /// The best first.
    pub alternatives: Vec<Alternative>,
    /// Whether time was up before all of them were searched.
    pub cut_short: bool,
}

/// A translation of some words.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Alternative {
    /// The target words: what a [`Choice`] takes.
    pub words: Vec<String>,
    /// The same as people write it.
    pub text: String,
    /// The sentence with it.
    pub translation: String,
    /// Where in it these words are translated.
    pub places: [usize; 2],
    /// The score of that.
    pub score: f64,
    /// How much worse it is than the best; below 0, the search missed it.
    pub difference: f64,
    /// For exact search: how much better the sentence can be with these words; 0 if this is the optimum.
    pub gap: Option<f64>,
    /// The rule at the top of the words.
    pub rule: String,
    /// Where it comes from.
    pub kind: RuleKind,
    /// Whether it is one of the request's choices.
    pub chosen: bool,
}

impl Worker {
    /// At most so many translations of some words of a line, whose constituent may be named by its label; `None` if the
    /// line has no words. Choices of the request about other words are held. [`Request::best`] is ignored.
    pub fn alternatives(
        &mut self,
        line: &str,
        span: [u32; 2],
        label: Option<&str>,
        most: usize,
        request: &Request,
    ) -> Result<Option<Alternatives>> {
        let sentence = self.read(line, request.input, request.with());
        let Some(mut sentence) = sentence.map_err(|unread| unread.at("the sentence", 1))? else {
            return Ok(None);
        };
        let leaves = leaves_of(span, &sentence.leaves)?;
        // A choice that has no place in the sentence is an error, whatever it is about.
        sentence.hold(&request.choices)?;
        let (own, others): (Vec<Choice>, Vec<Choice>) =
            request.choices.iter().cloned().partition(|choice| choice.overlaps(span));
        sentence.hold(&others)?;
        let free = Request { best: LISTED, choices: others, ..request.clone() };
        let unknown = || {
            Error::setting("the label", format!("{label:?}"), "the label of a constituent of the sentence")
        };
        let symbol = label.map(|text| sentence.vocab().get(text).ok_or_else(unknown)).transpose()?;
        let decoded = self.decode_request(&sentence, &free)?;
        let Some(best) = decoded.hypotheses.first() else { return Ok(None) };
        // Edges have other numbers in other forests; vertices have not, unless glue is made.
        let forest = self.forest(&sentence, request.with()).with_all_glue();
        let Some(vertex) = place(&forest.forest, leaves, symbol) else {
            let found = format!("words {} to {}, which no rule translates by themselves", span[0], span[1]);
            return Err(Error::setting("the span", found, "those of a constituent, or of a rule"));
        };
        let top = Top { span: leaves, label: forest.forest.label(vertex), is_named: symbol.is_some() };
        let candidates = self.candidates(&forest, vertex, &decoded, &top, TRIED * most + own.len());
        let target = self.model().target_text();
        let compose = |worker: &Self, sentence: &Sentence, decoded: &Decoded, derivation: &Derivation| {
            worker.derived(sentence, request.with(), &decoded.forest, derivation).compose(target)
        };
        let (score, text) = (best.score, compose(self, &sentence, &decoded, &best.derivation).text);
        let part = top.part(&decoded.forest.forest, &best.derivation);
        let mut found = Alternatives {
            span,
            label: top.label.map(|label| sentence.vocab().text(label).to_string()),
            source: words_of(&sentence, span),
            translation: text,
            score,
            places: part.map(|part| part.places),
            gap: decoded.gap.filter(|gap| gap.is_finite()),
            alternatives: Vec::new(),
            cut_short: decoded.cut_short,
        };
        let search = self.model().search(request.search)?;
        let is_chosen =
            |words: &[String]| own.iter().any(|choice| choice.span == span && choice.words == words);
        for words in candidates {
            if request.stop.is_due() {
                found.cut_short = true;
                break;
            }
            let held = Held { span: leaves, label: symbol, words };
            let held_forest = SentenceForest {
                forest: hold(forest.forest.clone(), std::slice::from_ref(&held)),
                ..forest.clone()
            };
            let words: Vec<String> =
                held.words.iter().map(|&word| sentence.vocab().text(word).to_string()).collect();
            sentence.held.push(held);
            let list = List { best: 1, distinct: true };
            let again =
                self.decode_forest(&sentence, request.with(), held_forest, search, list, &request.stop);
            sentence.held.pop();
            let Some(with) = again.hypotheses.first() else { continue };
            let Some(part) = top.part(&again.forest.forest, &with.derivation) else { continue };
            let derived = self.derived(&sentence, request.with(), &again.forest, &with.derivation);
            let Composed { text, spans, .. } = derived.compose(target);
            let [from, to] = part.places;
            let bytes = spans.get(from..to).and_then(|spans| Some(spans.first()?[0]..spans.last()?[1]));
            found.cut_short |= again.cut_short;
            found.alternatives.push(Alternative {
                chosen: is_chosen(&words),
                words,
                text: bytes.and_then(|bytes| text.get(bytes)).unwrap_or_default().to_string(),
                places: part.places,
                score: with.score,
                difference: difference(score, with.score),
                gap: again.gap.filter(|gap| gap.is_finite()),
                rule: derived.rule_text(part.edge),
                kind: derived.rule_of(part.edge).0,
                translation: text,
            });
        }
        if request.stop.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let all = &mut found.alternatives;
        all.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.words.cmp(&b.words)));
        // What was chosen is shown, however good others are.
        let kept = all.iter().enumerate().map(|(place, one)| place < most || one.chosen);
        let mut kept = kept.collect::<Vec<bool>>().into_iter();
        all.retain(|_| kept.next().unwrap_or(false));
        Ok(Some(found))
    }

    /// Words that a vertex may say, those of the sentence's best translations first.
    fn candidates(
        &self,
        forest: &SentenceForest,
        vertex: VertexId,
        decoded: &Decoded,
        top: &Top,
        most: usize,
    ) -> Vec<Vec<Symbol>> {
        let listed = decoded.hypotheses.iter().filter_map(|one| {
            let part = top.part(&decoded.forest.forest, &one.derivation)?;
            one.words.get(part.places[0]..part.places[1]).map(<[Symbol]>::to_vec)
        });
        let promising = said(&forest.forest, vertex, SAID, self.local(forest));
        let promising = promising.iter().map(|one| one.words(&forest.forest));
        let mut seen: HashSet<Vec<Symbol>> = HashSet::default();
        listed.chain(promising).filter(|words| seen.insert(words.clone())).take(most).collect()
    }
}

/// Searches add up scores in different orders: what is rounding is no difference.
fn difference(best: f64, other: f64) -> f64 {
    let difference = best - other;
    if difference.abs() <= 1e-9 * best.abs().max(1.0) { 0.0 } else { difference }
}

fn words_of(sentence: &Sentence, [start, end]: [u32; 2]) -> Vec<String> {
    let words = sentence.words.get(start as usize..end as usize).unwrap_or_default();
    words.iter().map(|word| word.text.clone()).collect()
}

/// The vertex that is asked about, in any forest of the sentence.
struct Top {
    span: sylvan_base::Span,
    label: Option<Symbol>,
    is_named: bool,
}

/// A part of a derivation.
struct Part {
    edge: EdgeId,
    /// Its target words: the first, and one past the last.
    places: [usize; 2],
}

impl Top {
    /// What a derivation makes of it.
    fn part(&self, forest: &TranslationForest, derivation: &Derivation) -> Option<Part> {
        // Forests whose glue is made on demand number their vertices otherwise.
        let is_named = |head: VertexId| !self.is_named || forest.label(head) == self.label;
        let fits = |head: VertexId| forest.span(head) == self.span && is_named(head);
        let only_begins = |head: VertexId| forest.begins(head) && head != forest.goal();
        let heads = || derivation.edges().iter().map(|&edge| forest.edge(edge).head);
        let mut found = heads().enumerate().filter(|&(_, head)| fits(head)).peekable();
        let first = found.peek().copied();
        let (at, _) = found.find(|&(_, head)| !only_begins(head)).or(first)?;
        let mut depths: Vec<usize> = Vec::new();
        let mut owners: Vec<usize> = Vec::new();
        derivation.walk(forest, |depth, _| depths.push(depth), |edge, _| owners.push(edge));
        let inside = depths[at + 1..].iter().take_while(|&&depth| depth > depths[at]).count();
        let own = |owner: &usize| (at..=at + inside).contains(owner);
        let from = owners.iter().position(own).unwrap_or_default();
        let to = owners.iter().rposition(own).map_or(from, |last| last + 1);
        Some(Part { edge: derivation.edges()[at], places: [from, to] })
    }
}
