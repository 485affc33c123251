//! Where a rule's words stand in a training line.

/// The narrowest place of a text that has all words in order, as positions; the first of several. `None` if there is
/// none.
pub(super) fn narrowest(words: &[&str], text: &[&str]) -> Option<Vec<u32>> {
    let Some((first, rest)) = words.split_first() else { return Some(Vec::new()) };
    let mut best: Option<Vec<u32>> = None;
    // For each beginning, taking each next word as soon as it comes ends earliest.
    for start in (0..text.len()).filter(|&start| text[start] == *first) {
        let mut places = vec![start as u32];
        let mut at = start + 1;
        for word in rest {
            let Some(ahead) = text[at..].iter().position(|other| other == word) else { return best };
            places.push((at + ahead) as u32);
            at += ahead + 1;
        }
        let width =
            |places: &[u32]| places.last().zip(places.first()).map_or(0, |(last, first)| last - first);
        if best.as_ref().is_none_or(|best| width(&places) < width(best)) {
            best = Some(places);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_narrowest_place_is_found() {
        let text = ["a", "x", "b", "a", "b", "c", "a"];
        let find = |words: &[&str]| narrowest(words, &text);
        assert_eq!(find(&["a", "b"]), Some(vec![3, 4]));
        assert_eq!(find(&["a", "b", "c"]), Some(vec![3, 4, 5]));
        assert_eq!(find(&["a"]), Some(vec![0]));
        assert_eq!(find(&["c", "b"]), None, "not in this order");
        assert_eq!(find(&["a", "a", "a"]), Some(vec![0, 3, 6]));
        assert_eq!(find(&["d"]), None);
        assert_eq!(find(&[]), Some(vec![]));
    }
}
