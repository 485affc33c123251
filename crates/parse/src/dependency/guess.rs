//! A first guess at the tree, by a parser that reads from the end to the beginning.
//!
//! Reading from left to right, the hard part is what the rest of the sentence will bring: whether a word still gets
//! children, whether its head is yet to come. A parser that comes from the other side knows that side. So the
//! sentence is first parsed backwards, and the parser proper sees the result as features (after the
//! reverse revision of Attardi & Dell'Orletta 2009). Both are linear in the length of the sentence.

use super::system::{DependencySystem, Item, Sentence, heads, reversed};
use crate::machine::{Rows, Search};

/// At most this many states per step of a guess.
const WIDEST: usize = 8;

/// The heads that the backward parser finds with a beam, or with a narrower one if that is enough for a guess.
pub(crate) fn guess(
    system: &DependencySystem,
    rows: &Rows,
    sentence: &Sentence,
    beam: usize,
    search: &mut Search<Item>,
) -> Vec<Option<u32>> {
    let backwards = sentence.reversed();
    search.run(system, rows, &backwards, beam.min(WIDEST));
    reversed(&heads(&search.actions(search.beam[0]), sentence.length))
}
