//! How each rule lies to what was translated before it, where a model has an opinion on that.

use serde::Serialize;
use sylvan_base::Span;
use sylvan_forest::{Derivation, EdgeId, Neighbour, Orientation, TranslationForest, own_words};
use sylvan_search::{oriented, placed};

/// How a rule lies to what was translated before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Order {
    /// `mono`, `swap` or `disc`, as in the names of features.
    pub orientation: &'static str,
    /// The source words that it is seen against: those translated most recently. None at the beginning.
    pub against: Option<[u32; 2]>,
    /// The same in words.
    pub text: String,
}

impl Order {
    fn new(orientation: Orientation, against: Option<Span>, own: Span, source: &[String]) -> Self {
        let name = match orientation {
            Orientation::Mono => "mono",
            Orientation::Swap => "swap",
            Orientation::Disc => "disc",
        };
        let shown = |span: Span| source.get(span.range()).unwrap_or_default().join(" ");
        let inside = against.filter(|span| span.start <= own.start && own.end <= span.end);
        let text = match (orientation, inside.or(against)) {
            (Orientation::Mono, Some(span)) if inside.is_some() => {
                format!("in a gap of \u{201c}{}\u{201d}, behind the rule before, in order", shown(span))
            }
            (Orientation::Swap, Some(span)) if inside.is_some() => {
                format!(
                    "in a gap of \u{201c}{}\u{201d}, before the rule before, swapped with it",
                    shown(span)
                )
            }
            (Orientation::Disc, Some(span)) if inside.is_some() => {
                format!("in a gap of \u{201c}{}\u{201d}, apart from the rule before", shown(span))
            }
            (Orientation::Mono, None) => "begins where the sentence begins".to_string(),
            (_, None) => "does not begin where the sentence begins".to_string(),
            (Orientation::Mono, Some(span)) => {
                format!("right behind \u{201c}{}\u{201d}, in order", shown(span))
            }
            (Orientation::Swap, Some(span)) => {
                format!("right before \u{201c}{}\u{201d}, swapped with it", shown(span))
            }
            (Orientation::Disc, Some(span)) => format!("apart from \u{201c}{}\u{201d}", shown(span)),
        };
        Self { orientation: name, against: against.map(|span| [span.start, span.end]), text }
    }
}

/// By step of a derivation.
pub(super) fn orders(
    forest: &TranslationForest,
    derivation: &Derivation,
    source: &[String],
) -> Vec<Option<Order>> {
    let mut orders = vec![None; derivation.edges().len()];
    let Some(reordering) = forest.reordering().filter(|reordering| reordering.is_oriented()) else {
        return orders;
    };
    let neighbour = reordering.neighbour;
    let mut against = None;
    match neighbour {
        Neighbour::Recent | Neighbour::Late => {
            for step in oriented(forest, derivation, neighbour) {
                let edge = derivation.edges()[step.place];
                let gaps: Vec<Span> = forest.tails(edge).map(|tail| forest.span(tail)).collect();
                let mut runs: Vec<Span> = Vec::new();
                own_words(forest.span(forest.edge(edge).head), &gaps, |run| runs.push(run));
                let (Some(low), Some(high)) = (runs.first(), runs.last()) else { continue };
                let own = Span { start: low.start, end: high.end };
                orders[step.place] = Some(Order::new(step.before, against, own, source));
                let (first, last) = step.recent;
                against = Some(match neighbour {
                    Neighbour::Recent => Span { start: first.max(0) as u32, end: last as u32 + 1 },
                    _ => own,
                });
            }
        }
        Neighbour::Phrase | Neighbour::Block => {
            let is_phrase = |edge: &EdgeId| forest.tails(*edge).next().is_none();
            let phrases: Vec<(usize, Span)> = derivation
                .edges()
                .iter()
                .enumerate()
                .filter(|(_, edge)| is_phrase(edge))
                .map(|(place, &edge)| (place, forest.span(forest.edge(edge).head)))
                .collect();
            let spans: Vec<Span> = phrases.iter().map(|&(_, span)| span).collect();
            for (&(place, span), step) in phrases.iter().zip(placed(&spans, neighbour)) {
                orders[place] = Some(Order::new(step.before, against, span, source));
                against = Some(span);
            }
        }
    }
    orders
}
