//! Links of one sentence pair, from what a model knows about its words.
//!
//! ```text
//! evidence --mutual best--> links --the rest, best first--> links --next to these--> links --gaps--> links
//! ```
//!
//! A word is linked to one word if nothing speaks for more (competitive linking, Melamed 2000). What has no evidence is
//! linked last, by elimination: where the neighbours of words without a link are linked to the neighbours of others
//! without one, or where one gap is left on each side. That is how a new word finds its new translation.

use sylvan_corpus::Link;

/// How much speaks for each pair of a source and a target word: from 0 (nothing) to 1.
#[derive(Debug, Clone)]
pub(super) struct Evidence {
    sources: usize,
    targets: usize,
    values: Vec<f64>,
    /// Target words that are known to belong to no source word.
    pub(super) alone: Vec<bool>,
    /// Source words that the model's own translation has no word for.
    pub(super) silent: Vec<bool>,
}

/// Less evidence than this is none.
const LEAST: f64 = 0.02;
/// Less is not enough to link a word to one that has a link already.
const MORE: f64 = 0.1;
/// How fast evidence fades with the distance from the diagonal.
const FADING: f64 = 3.0;
/// What a link of both neighbours is worth.
const NEIGHBOUR: f64 = 2.0;
/// Words of a gap that are linked by elimination.
const GAP: usize = 4;

impl Evidence {
    /// Nothing is known.
    pub(super) fn new(sources: usize, targets: usize) -> Self {
        let (alone, silent) = (vec![false; targets], vec![false; sources]);
        Self { sources, targets, values: vec![0.0; sources * targets], alone, silent }
    }

    pub(super) fn at(&self, source: usize, target: usize) -> f64 {
        self.values[source * self.targets + target]
    }

    /// Something speaks for a pair; what speaks most for it counts.
    pub(super) fn add(&mut self, source: usize, target: usize, value: f64) {
        if source < self.sources && target < self.targets {
            let known = &mut self.values[source * self.targets + target];
            *known = known.max(value.clamp(0.0, 1.0));
        }
    }

    /// How far from the diagonal a pair is, as a factor.
    fn place(&self, source: usize, target: usize) -> f64 {
        let share = |at: usize, of: usize| (at as f64 + 0.5) / of as f64;
        (-FADING * (share(source, self.sources) - share(target, self.targets)).abs()).exp()
    }

    fn weighed(&self, source: usize, target: usize) -> f64 {
        self.at(source, target) * self.place(source, target)
    }
}

/// Which words have which links.
struct Linked {
    of_source: Vec<Vec<usize>>,
    of_target: Vec<Vec<usize>>,
}

impl Linked {
    fn add(&mut self, source: usize, target: usize) {
        self.of_source[source].push(target);
        self.of_target[target].push(source);
    }

    fn has(&self, source: Option<usize>, target: Option<usize>) -> bool {
        let links = source.and_then(|source| self.of_source.get(source));
        links.zip(target).is_some_and(|(links, target)| links.contains(&target))
    }

    /// Whether both words before, or both words after a pair are linked; also in the opposite order.
    fn neighbours(&self, source: usize, target: usize) -> bool {
        let [(before, after), (left, right)] = [source, target].map(|at| (at.checked_sub(1), Some(at + 1)));
        self.has(before, left) || self.has(after, right) || self.has(before, right) || self.has(after, left)
    }
}

/// Links, sorted.
pub(super) fn link(evidence: &Evidence) -> Vec<Link> {
    let (sources, targets) = (evidence.sources, evidence.targets);
    let mut linked = Linked { of_source: vec![Vec::new(); sources], of_target: vec![Vec::new(); targets] };
    let mut pairs: Vec<(f64, usize, usize)> = Vec::new();
    for source in 0..sources {
        for target in 0..targets {
            if evidence.at(source, target) >= LEAST {
                pairs.push((evidence.weighed(source, target), source, target));
            }
        }
    }
    // What each word says is best, if the other says so too and no third is as good.
    let mut row = vec![[0.0f64; 2]; sources];
    let mut column = vec![[0.0f64; 2]; targets];
    for &(value, source, target) in &pairs {
        for best in [&mut row[source], &mut column[target]] {
            if value > best[0] {
                *best = [value, best[0]];
            } else if value > best[1] {
                best[1] = value;
            }
        }
    }
    pairs.retain(|&(value, source, target)| {
        let is_best = |best: [f64; 2]| value == best[0] && value > best[1];
        let mutual = is_best(row[source]) && is_best(column[target]);
        if mutual {
            linked.add(source, target);
        }
        !mutual
    });
    competitive(evidence, &mut linked, &mut pairs);
    grow(evidence, &mut linked, &pairs);
    fill_gaps(evidence, &mut linked);
    let mut links: Vec<Link> = Vec::new();
    for (source, targets) in linked.of_source.iter().enumerate() {
        links.extend(targets.iter().map(|&target| Link::new(source as u32, target as u32)));
    }
    links.sort_unstable();
    links.dedup();
    links
}

/// The best pair of two free words, then the next; beside what is linked counts more.
fn competitive(evidence: &Evidence, linked: &mut Linked, pairs: &mut [(f64, usize, usize)]) {
    for (value, source, target) in pairs.iter_mut() {
        if linked.neighbours(*source, *target) {
            *value *= NEIGHBOUR;
        }
    }
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    for &(_, source, target) in pairs.iter() {
        let free = linked.of_source[source].is_empty() && linked.of_target[target].is_empty();
        if free && !evidence.alone[target] {
            linked.add(source, target);
        }
    }
}

/// A word without a link joins a word that its neighbour is linked to.
fn grow(evidence: &Evidence, linked: &mut Linked, pairs: &[(f64, usize, usize)]) {
    for &(_, source, target) in pairs {
        if evidence.at(source, target) < MORE || evidence.alone[target] {
            continue;
        }
        let beside = |at: usize| [at.checked_sub(1), Some(at + 1)];
        let joins = match (linked.of_source[source].is_empty(), linked.of_target[target].is_empty()) {
            (true, false) => beside(source).into_iter().any(|other| linked.has(other, Some(target))),
            (false, true) => beside(target).into_iter().any(|other| linked.has(Some(source), other)),
            _ => false,
        };
        if joins {
            linked.add(source, target);
        }
    }
}

/// Runs of words without a link, by elimination.
fn fill_gaps(evidence: &Evidence, linked: &mut Linked) {
    let sources = runs(&linked.of_source, &[]);
    let targets = runs(&linked.of_target, &evidence.alone);
    let mut taken = vec![false; targets.len()];
    let mut left = Vec::new();
    for source in &sources {
        let before = source.start.checked_sub(1).map(|at| &linked.of_source[at]);
        let after = linked.of_source.get(source.end);
        // The ends of a sentence are linked to each other.
        let begins = |target: &std::ops::Range<usize>| match (before, target.start) {
            (None, 0) => true,
            (Some(links), start) if start > 0 => links.contains(&(start - 1)),
            _ => false,
        };
        let ends = |target: &std::ops::Range<usize>| match after {
            None => target.end == linked.of_target.len(),
            Some(links) => links.contains(&target.end),
        };
        // The same in the opposite order.
        let turned = |target: &std::ops::Range<usize>| {
            before.is_some_and(|links| links.contains(&target.end))
                && target.start > 0
                && after.is_some_and(|links| links.contains(&(target.start - 1)))
        };
        let fits: Vec<usize> = (0..targets.len())
            .filter(|&at| !taken[at] && (begins(&targets[at]) && ends(&targets[at]) || turned(&targets[at])))
            .collect();
        match fits[..] {
            [at] => {
                taken[at] = true;
                left.push((source.clone(), targets[at].clone()));
            }
            _ => left.push((source.clone(), 0..0)),
        }
    }
    let open: Vec<usize> = (0..targets.len()).filter(|&at| !taken[at]).collect();
    let unfilled: Vec<usize> = (0..left.len()).filter(|&at| left[at].1.is_empty()).collect();
    if let ([source], [target]) = (&unfilled[..], &open[..]) {
        left[*source].1 = targets[*target].clone();
    }
    for (source, target) in left {
        // Longer ones are another sentence rather than another word.
        if source.len() > GAP || target.len() > GAP {
            continue;
        }
        // What had no translation so far has none now, if somebody else can have the new one.
        let spoken = source.clone().any(|from| !evidence.silent[from]);
        for from in source.filter(|&from| !spoken || !evidence.silent[from]) {
            target.clone().for_each(|to| linked.add(from, to));
        }
    }
}

/// The longest runs of words that have no link and are not excused.
fn runs(links: &[Vec<usize>], excused: &[bool]) -> Vec<std::ops::Range<usize>> {
    let is_free = |at: usize| links[at].is_empty() && !excused.get(at).copied().unwrap_or(false);
    let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
    for at in (0..links.len()).filter(|&at| is_free(at)) {
        match runs.last_mut() {
            Some(last) if last.end == at => last.end = at + 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

/// The longest common subsequence of two rows of words: pairs of places, ascending. Of several, the one that takes
/// words of the first row as early as possible.
pub(crate) fn common<T: PartialEq>(one: &[T], other: &[T]) -> Vec<(usize, usize)> {
    let width = other.len() + 1;
    let mut longest = vec![0u32; (one.len() + 1) * width];
    for i in (0..one.len()).rev() {
        for j in (0..other.len()).rev() {
            longest[i * width + j] = if one[i] == other[j] {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while i < one.len() && j < other.len() {
        if one[i] == other[j] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Links of two sentences whose evidence is given by words: `source target value`; words in brackets had no
    /// translation so far.
    fn linked(source: &str, target: &str, known: &[(&str, &str, f64)]) -> String {
        let (sources, targets): (Vec<&str>, Vec<&str>) =
            (source.split(' ').collect(), target.split(' ').collect());
        let mut evidence = Evidence::new(sources.len(), targets.len());
        for (from, one) in sources.iter().enumerate() {
            for (to, other) in targets.iter().enumerate() {
                let values = known.iter().filter(|(s, t, _)| s == one && t == other);
                values.for_each(|&(_, _, value)| evidence.add(from, to, value));
            }
        }
        evidence.silent = sources.iter().map(|word| word.starts_with('[')).collect();
        let links = link(&evidence);
        links.iter().map(|link| format!("{}-{}", link.source, link.target)).collect::<Vec<_>>().join(" ")
    }

    const KNOWN: [(&str, &str, f64); 8] = [
        ("der", "the", 0.5),
        ("den", "the", 0.4),
        ("Hund", "dog", 0.9),
        ("jagt", "chases", 0.6),
        (".", ".", 0.9),
        ("zu", "home", 0.2),
        ("Hause", "home", 0.8),
        ("geht", "goes", 0.5),
    ];

    #[test]
    fn a_new_word_is_linked_to_its_new_translation() {
        let source = "der Hund jagt den Flummi .";
        assert_eq!(linked(source, "the dog chases the bouncer .", &KNOWN), "0-0 1-1 2-2 3-3 4-4 5-5");
        assert_eq!(linked(source, "the dog chases the bouncy ball .", &KNOWN), "0-0 1-1 2-2 3-3 4-4 4-5 5-6");
        // Both ends of a sentence are neighbours, too.
        assert_eq!(linked("Flummi .", "bouncer .", &KNOWN), "0-0 1-1");
        assert_eq!(linked("Flummi", "bouncer", &KNOWN), "0-0");
    }

    #[test]
    fn a_gap_that_moved_is_found_if_it_is_the_only_one() {
        assert_eq!(linked("gestern jagt der Hund", "the dog chases yesterday", &KNOWN), "0-3 1-2 2-0 3-1");
        // Two gaps: neighbours decide, or nobody.
        assert_eq!(
            linked("der Flummi jagt Hund neu", "the ball chases dog new", &KNOWN),
            "0-0 1-1 2-2 3-3 4-4"
        );
        assert_eq!(linked("neu jagt Flummi", "ball chases new", &KNOWN), "0-0 1-1 2-2");
        assert_eq!(linked("neu der alt Hund", "dog quick the slow", &KNOWN), "0-3 1-2 2-1 3-0");
        assert_eq!(linked("x der y Hund z", "a dog b the c", &KNOWN), "1-3 2-2 3-1");
    }

    #[test]
    fn words_that_mean_one_thing_are_linked_together_and_others_stay_alone() {
        assert_eq!(
            linked("der Hund geht zu Hause .", "the dog goes home .", &KNOWN),
            "0-0 1-1 2-2 3-3 4-3 5-4"
        );
        assert_eq!(linked("der Hund doch .", "the dog .", &KNOWN), "0-0 1-1 3-2");
        // What was silent stays so beside a word that was not.
        assert_eq!(linked("der [zum] Flummi .", "the bouncer .", &KNOWN), "0-0 2-1 3-2");
        assert_eq!(linked("der [zum] .", "the bouncer .", &KNOWN), "0-0 1-1 2-2");
        // Too much to be one word.
        assert_eq!(linked("der Hund x .", "the dog a b c d e .", &KNOWN), "0-0 1-1 3-7");
    }

    #[test]
    fn a_word_that_stands_twice_is_linked_where_it_stands() {
        assert_eq!(linked("der Hund jagt der Hund", "the dog chases the dog", &KNOWN), "0-0 1-1 2-2 3-3 4-4");
        assert_eq!(linked("der der", "the the", &KNOWN), "0-0 1-1");
    }

    #[test]
    fn the_longest_common_subsequence_is_found() {
        let pairs = |one: &str, other: &str| {
            common(&one.chars().collect::<Vec<_>>(), &other.chars().collect::<Vec<_>>())
        };
        assert_eq!(pairs("abcde", "xbdye"), [(1, 1), (3, 2), (4, 4)]);
        assert_eq!(pairs("", "a"), []);
        assert_eq!(pairs("aa", "a"), [(0, 0)]);
    }
}
