//! Which source word a target word belongs to, for joint models (Devlin et al. 2014).

use sylvan_base::Span;

use crate::{Source, WordLink};

/// The leaves that the words of a source side stand for, in order. `span` is what the rule is applied to,
/// `end` says where a variable's leaves end.
pub fn source_leaves(source: &[Source], span: Span, end: impl Fn(usize) -> u32) -> Vec<u32> {
    let (mut leaves, mut at, mut variable) = (Vec::new(), span.start, 0);
    for token in source {
        match token {
            Source::Open(..) => {}
            Source::Word(_) => {
                leaves.push(at);
                at += 1;
            }
            Source::Var(_) => {
                at = end(variable);
                variable += 1;
            }
        }
    }
    leaves
}

/// For each of `words` target words the leaf that it is affiliated with: its link; of several the middle one; without
/// any, that of the nearest linked word, the right one of two; and where no word has a link, the rule's middle leaf,
/// or where its span begins.
pub(super) fn affiliations(links: &[WordLink], leaves: &[u32], words: usize, start: u32) -> Vec<u32> {
    let own = |word: usize| {
        let mut linked: Vec<u32> = links
            .iter()
            .filter(|&&(_, target)| target as usize == word)
            .filter_map(|&(source, _)| leaves.get(source as usize).copied())
            .collect();
        linked.sort_unstable();
        (!linked.is_empty()).then(|| linked[linked.len() / 2])
    };
    let own: Vec<Option<u32>> = (0..words).map(own).collect();
    let otherwise = leaves.get(leaves.len() / 2).copied().unwrap_or(start);
    let nearest = |word: usize| {
        (0..words).find_map(|distance| {
            let right = own.get(word + distance).copied().flatten();
            right.or_else(|| own[word.checked_sub(distance)?])
        })
    };
    (0..words).map(|word| nearest(word).unwrap_or(otherwise)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devlin_2014_section_2_affiliation() {
        let leaves = [3, 4, 7, 9];
        // One link; several: the middle one; none: the nearest, to the right if two are equally near.
        let links = [(0, 0), (1, 2), (2, 2), (3, 2), (3, 4)];
        assert_eq!(affiliations(&links, &leaves, 6, 3), [3, 7, 7, 9, 9, 9]);
        assert_eq!(affiliations(&[], &leaves, 2, 3), [7, 7]);
        assert_eq!(affiliations(&[], &[], 1, 5), [5]);
        // A damaged table links words that are not there.
        assert_eq!(affiliations(&[(9, 0)], &leaves, 1, 3), [7]);
    }
}
