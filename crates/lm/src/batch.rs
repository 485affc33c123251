//! Many queries at once.
//!
//! A query spends most of its time waiting for memory. While one waits, others can run (compare Kocberber, Falsafi &
//! Grot 2015 on interleaved walks): the results are those of the queries one by one, only sooner.

use crate::WordId;
use crate::layout::Layout;
use crate::state::State;
use crate::walk::{Walk, walk};

/// How many queries are prefetched before the first is answered. Today's processors do not take many more
/// outstanding requests.
const AHEAD: usize = 16;

/// For layouts where a query knows all its places at once: each is announced some time before it is answered.
pub(crate) fn rolling<L: Layout>(layout: &L, queries: &[(State, WordId)], results: &mut Vec<(f32, State)>) {
    let announce = |(state, word): &(State, WordId)| layout.announce(*word, state.words());
    let mut hints = [L::Hints::default(); AHEAD];
    for (place, query) in hints.iter_mut().zip(queries) {
        *place = announce(query);
    }
    for (index, (state, word)) in queries.iter().enumerate() {
        let place = &mut hints[index % AHEAD];
        let known = *place;
        if let Some(later) = queries.get(index + AHEAD) {
            *place = announce(later);
        }
        results.push(walk(layout, state, *word, known).finish(state, *word));
    }
}

/// How many queries go through the rounds together.
const TOGETHER: usize = 16;

/// For layouts where each place depends on the one before: all queries take their first step, then all their
/// second, and so on.
pub(crate) fn by_rounds<L: Layout>(layout: &L, queries: &[(State, WordId)], results: &mut Vec<(f32, State)>) {
    let mut walks: Vec<Walk> = Vec::with_capacity(TOGETHER);
    let mut active: Vec<usize> = Vec::with_capacity(TOGETHER);
    for group in queries.chunks(TOGETHER) {
        group.iter().for_each(|(_, word)| layout.announce_word(*word));
        walks.clear();
        walks.extend(group.iter().map(|(_, word)| Walk::start(layout, *word)));
        active.clear();
        active.extend(0..group.len());
        while !active.is_empty() {
            active.retain(|&index| {
                let walk = &walks[index];
                let next = group[index].0.words().get(walk.used).filter(|_| walk.grows_left);
                if let Some(&oldest) = next {
                    layout.announce_longer(walk.used + 2, walk.cursor, oldest);
                }
                next.is_some()
            });
            active.retain(|&index| walks[index].step(layout, group[index].0.words(), L::Hints::default()));
        }
        results.extend(walks.iter().zip(group).map(|(walk, (state, word))| walk.finish(state, *word)));
    }
}
