//! Words with a hole: what is known of a candidate's target side, and what a context makes of it.

use sylvan_base::Id;
use sylvan_forest::{EdgeId, Target, TranslationForest};

use crate::TwoSided;

/// The tail that is missing.
pub(crate) const HOLE: u32 = u32::MAX;

/// The boundaries of a candidate's words.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Yield<S> {
    /// All words.
    Whole(S),
    /// Those before and after the hole, if there are any.
    Holed(Option<S>, Option<S>),
}

/// What is known of a candidate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known<S> {
    /// What its edge adds to its tails: rule, words, joints.
    pub(crate) added: f64,
    /// The sum of both.
    pub(crate) score: f64,
    pub(crate) words: Yield<S>,
}

/// An edge with items for its tails, [`HOLE`] for the one that is missing; and the words scored where parts meet. `item`
/// gives the score and the boundary of an item.
pub(crate) fn known<'a, M: TwoSided>(
    forest: &TranslationForest,
    lm: &M,
    bundles: &'a [(f64, M::State)],
    edge: EdgeId,
    tails: &[u32],
    item: impl Fn(u32) -> (f64, &'a M::State),
) -> (Known<M::State>, usize) {
    let target = forest.target(edge);
    let (mut own, mut below, mut queries) = (forest.edge(edge).spec.score, 0.0, 0);
    let mut segment = |symbols: &[Target], tails: &[u32]| {
        let mut tails = tails.iter();
        let parts = symbols.iter().enumerate().map(|(index, symbol)| {
            let state = match symbol {
                Target::Bundle(bundle) => {
                    let (score, state) = &bundles[bundle.index()];
                    own += score;
                    state
                }
                Target::Vertex(_) => {
                    let (score, state) = item(*tails.next().expect("as many tails as vertices"));
                    below += score;
                    state
                }
            };
            queries += if index > 0 { lm.open(state) } else { 0 };
            state
        });
        let (change, state) = lm.join(parts);
        own += change;
        state
    };
    let is_vertex = |symbol: &&Target| matches!(symbol, Target::Vertex(_));
    let mut words = match tails.iter().position(|&tail| tail == HOLE) {
        None => Yield::Whole(segment(target, tails)),
        Some(hole) => {
            let mut vertices = target.iter().enumerate().filter(|(_, symbol)| is_vertex(symbol));
            let (before, after) = vertices
                .nth(hole)
                .map_or((target, &[][..]), |(place, _)| (&target[..place], &target[place + 1..]));
            let left = (!before.is_empty()).then(|| segment(before, &tails[..hole]));
            let right = (!after.is_empty()).then(|| segment(after, &tails[hole + 1..]));
            Yield::Holed(left, right)
        }
    };
    let begun = matches!(target.first(), Some(&Target::Vertex(tail)) if forest.begins(tail));
    if forest.begins(forest.edge(edge).head)
        && !begun
        && let Yield::Whole(first) | Yield::Holed(Some(first), _) = &mut words
    {
        queries += lm.open(first);
        let (change, state) = lm.begin(first);
        own += change;
        *first = state;
    }
    (Known { added: own, score: own + below, words }, queries)
}

/// What the language model changes when a candidate fills the hole of `context`, and the words scored for it. If what
/// fills it `begins` the sentence, words that come first are scored as such.
pub(crate) fn fill<M: TwoSided>(
    lm: &M,
    begins: bool,
    context: &Yield<M::State>,
    filler: &Yield<M::State>,
) -> (f64, usize) {
    let Yield::Holed(left, right) = context else { return (0.0, 0) };
    let (mut change, mut queries) = (0.0, 0);
    let mut join = |parts: [Option<&M::State>; 3], begins: bool| {
        let parts = || parts.iter().copied().flatten();
        if parts().count() > 1 || begins {
            queries += parts().skip(1).map(|part| lm.open(part)).sum::<usize>();
            let (more, state) = lm.join(parts());
            change += more;
            if begins && parts().next().is_some() {
                queries += lm.open(&state);
                change += lm.begin(&state).0;
            }
        }
    };
    let begins = begins && left.is_none();
    match filler {
        Yield::Whole(words) => join([left.as_ref(), Some(words), right.as_ref()], begins),
        Yield::Holed(before, after) => {
            join([left.as_ref(), before.as_ref(), None], begins);
            join([after.as_ref(), right.as_ref(), None], false);
        }
    }
    (change, queries)
}
