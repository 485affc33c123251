//! Where the tags of a segment go in its translation.
//!
//! ```text
//! source words, links --> each pair of tags: the run of target words that holds most of what its words became
//!                         each single tag:   the gap that most of the links lie on the right sides of
//! ```
//!
//! Tags are nested as in the source: what is inside a pair stays inside. Tags at an edge of the segment, or of the pair
//! around them, stay at that edge.

use crate::segment::{Segment, What};

/// Where a tag goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed {
    pub(crate) mark: usize,
    /// Before this target word,
    pub(crate) place: usize,
    /// or inside of it, at this byte.
    pub(crate) inside: Option<usize>,
}

/// So many words before a note may be one thing with the last of them.
const NOTED: usize = 2;

/// What a target word without links is worth inside a pair: less than nothing, so that it is in only between others.
const UNLINKED: f64 = -0.1;

/// Part of a segment: all of it, what two tags are around, or one tag.
#[derive(Debug, Default)]
struct Node {
    open: Option<usize>,
    close: Option<usize>,
    /// For one tag alone: whether it belongs to what comes before it and to what comes after it.
    single: Option<[bool; 2]>,
    /// Its source words; of a single tag, the gap.
    source: [usize; 2],
    /// Its target words.
    target: [usize; 2],
    /// Its bytes, if it is part of a word.
    part: Option<[usize; 2]>,
    /// The bytes of its one target word, if it is part of that.
    target_part: Option<[usize; 2]>,
    children: Vec<usize>,
}

/// Links by target word: what share of them a source word has.
struct Shares<'l> {
    /// Sorted by target word.
    links: &'l [(usize, usize)],
    ends: Vec<usize>,
}

impl<'l> Shares<'l> {
    fn new(links: &'l [(usize, usize)], targets: usize) -> Self {
        let mut ends = vec![0; targets + 1];
        for &(target, _) in links {
            ends[target + 1] += 1;
        }
        for at in 0..targets {
            ends[at + 1] += ends[at];
        }
        Self { links, ends }
    }

    fn of(&self, target: usize) -> impl Iterator<Item = usize> + '_ {
        self.links[self.ends[target]..self.ends[target + 1]].iter().map(|&(_, source)| source)
    }

    /// The share of a target word's links that go to these source words; none if it has no links.
    fn inside(&self, target: usize, [start, end]: [usize; 2]) -> Option<f64> {
        let all = self.ends[target + 1] - self.ends[target];
        let inside = self.of(target).filter(|&source| start <= source && source < end).count();
        (all > 0).then(|| inside as f64 / all as f64)
    }
}

impl Segment {
    /// Places the tags, all of them in order: `words` are the bytes of the source words in the text, `targets` the target
    /// words, and links pairs of a source word and a target word.
    pub(crate) fn place(&self, words: &[[usize; 2]], targets: &[&str], links: &[(u32, u32)]) -> Vec<Placed> {
        let texts = Texts { text: &self.text, words, targets };
        let targets = targets.len();
        let mut sorted: Vec<(usize, usize)> = links
            .iter()
            .map(|&(source, target)| (target as usize, source as usize))
            .filter(|&(target, source)| target < targets && source < words.len())
            .collect();
        sorted.sort_unstable();
        sorted.dedup();
        let shares = Shares::new(&sorted, targets);
        let mut nodes = self.nodes(words);
        nodes[0].target = [0, targets];
        let mut open = vec![0];
        while let Some(at) = open.pop() {
            inside(&mut nodes, at, &shares, &texts);
            open.extend(&nodes[at].children);
        }
        let mut placed = in_order(&nodes);
        // No tag may come before one that it comes after, or it would be lost.
        for at in 1..placed.len() {
            if placed[at].place < placed[at - 1].place {
                (placed[at].place, placed[at].inside) = (placed[at - 1].place, placed[at - 1].inside);
            }
        }
        placed
    }

    /// The segment as a tree; the first node is all of it.
    fn nodes(&self, words: &[[usize; 2]]) -> Vec<Node> {
        let starts = |at: usize| words.partition_point(|[_, end]| *end <= at);
        let ends = |at: usize| words.partition_point(|[start, _]| *start < at);
        let mut nodes = vec![Node { source: [0, words.len()], ..Node::default() }];
        let mut open = vec![0];
        let add = |nodes: &mut Vec<Node>, parent: usize, node: Node| {
            nodes.push(node);
            let new = nodes.len() - 1;
            nodes[parent].children.push(new);
            new
        };
        for (number, mark) in self.marks.iter().enumerate() {
            let top = *open.last().unwrap_or(&0);
            let single = match mark.what {
                What::Opens(_) => {
                    let source = [starts(mark.at), words.len()];
                    let node = Node { open: Some(number), source, ..Node::default() };
                    open.push(add(&mut nodes, top, node));
                    continue;
                }
                What::Closes(Some(opening)) => {
                    while let Some(node) = open.pop().filter(|&node| node > 0) {
                        let start = nodes[node].source[0];
                        let empty = nodes[node].open.is_some_and(|open| self.marks[open].at == mark.at);
                        nodes[node].source[1] = if empty { start } else { ends(mark.at).max(start) };
                        nodes[node].part = nodes[node]
                            .open
                            .and_then(|open| part([self.marks[open].at, mark.at], nodes[node].source, words));
                        if nodes[node].open == Some(opening) {
                            nodes[node].close = Some(number);
                            break;
                        }
                    }
                    if open.is_empty() {
                        open.push(0);
                    }
                    continue;
                }
                What::Closes(None) => {
                    // All that is before it in the same part is inside of it.
                    let children = std::mem::take(&mut nodes[top].children);
                    let start = nodes[top].source[0];
                    let source = [start, ends(mark.at).max(start)];
                    add(&mut nodes, top, Node { close: Some(number), source, children, ..Node::default() });
                    continue;
                }
                What::Begins => [false, true],
                What::Ends => [true, false],
                // One that touches the end of a word belongs to it: a note. One before a word may be a break, and that
                // the word goes elsewhere does not move it.
                What::Alone => [mark.touches[0], false],
            };
            let gap = starts(mark.at);
            let source = [gap, gap];
            add(
                &mut nodes,
                top,
                Node { open: Some(number), single: Some(single), source, ..Node::default() },
            );
        }
        nodes
    }
}

/// What words are written like.
struct Texts<'t> {
    text: &'t str,
    words: &'t [[usize; 2]],
    targets: &'t [&'t str],
}

impl Texts<'_> {
    /// The target word that has the same part as a source word, and where: one that is linked to it, or one that has all of
    /// it.
    fn same_part(
        &self,
        node: &Node,
        [low, high]: [usize; 2],
        shares: &Shares<'_>,
    ) -> Option<(usize, [usize; 2])> {
        let (part, word) = (node.part?, node.source[0]);
        let [start, end] = self.words[word];
        let (wanted, whole) = (self.text[part[0]..part[1]].trim(), &self.text[start..end]);
        let linked = |target: &usize| shares.of(*target).any(|source| source == word);
        let find = |target: usize| {
            let text = self.targets[target];
            // At the same place of the word, if it has all of it.
            let at = match text.find(whole) {
                Some(at) => Some(at + part[0] - start),
                None => text.find(wanted),
            };
            at.map(|at| (target, [at, at + wanted.len()]))
        };
        let copies = (low..high).filter(|&target| self.targets[target].contains(whole));
        (low..high).filter(linked).find_map(find).or_else(|| copies.into_iter().find_map(find))
    }
}

/// The bytes of a pair that has only part of one word.
fn part([from, to]: [usize; 2], [first, end]: [usize; 2], words: &[[usize; 2]]) -> Option<[usize; 2]> {
    let [start, stop] = *words.get(first).filter(|_| end == first + 1)?;
    let part = [from.max(start), to.min(stop)];
    (part[0] < part[1] && part != [start, stop]).then_some(part)
}

/// Places what is inside a node.
fn inside(nodes: &mut [Node], at: usize, shares: &Shares<'_>, texts: &Texts<'_>) {
    if let Some(part) = nodes[at].target_part {
        // What is inside part of a word is at its beginning.
        let (target, children) = (nodes[at].target, nodes[at].children.clone());
        for child in children {
            nodes[child].target = target;
            nodes[child].target_part = Some([part[0], part[0]]);
        }
        return;
    }
    let (outer, [low, high]) = (nodes[at].source, nodes[at].target);
    let children = nodes[at].children.clone();
    let mut free = vec![true; high - low];
    // Pairs that are surest of their words choose first.
    let mut pairs: Vec<(f64, usize, [usize; 2])> = Vec::new();
    for &child in &children {
        if nodes[child].single.is_some() {
            continue;
        }
        if let Some((word, part)) = texts.same_part(&nodes[child], [low, high], shares) {
            nodes[child].target = [word, word + 1];
            nodes[child].target_part = Some(part);
            free[word - low] = false;
            continue;
        }
        let (sum, run) = run_of(&nodes[child], outer, [low, high], &free, shares);
        pairs.push((sum, child, run));
    }
    pairs.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    let clash = |free: &[bool], [start, end]: [usize; 2]| free[start - low..end - low].contains(&false);
    for (_, child, mut run) in pairs {
        if clash(&free, run) {
            run = run_of(&nodes[child], outer, [low, high], &free, shares).1;
        }
        free[run[0] - low..run[1] - low].fill(false);
        nodes[child].target = run;
    }
    join(nodes, &children, &free, low, shares);
    // For each place the pair that it is inside of.
    let mut around: Vec<Option<[usize; 2]>> = vec![None; high - low + 1];
    let is_pair = |node: &Node| node.single.is_none() && node.target_part.is_none();
    for &child in children.iter().filter(|&&child| is_pair(&nodes[child])) {
        let [start, end] = nodes[child].target;
        around[start - low..end - low].iter_mut().skip(1).for_each(|around| *around = Some([start, end]));
    }
    for &child in &children {
        let Some(sides) = nodes[child].single else { continue };
        let gap = nodes[child].source[0];
        let place = single(gap, sides, outer, [low, high], shares);
        // Not inside a pair that it is not inside of in the source.
        let place = match around[place - low] {
            Some([start, end]) if place - start < end - place => start,
            Some([_, end]) => end,
            None => place,
        };
        nodes[child].target = [place, place];
    }
}

/// Where one pair ends another begins: words without links between them belong to the second.
fn join(nodes: &mut [Node], children: &[usize], free: &[bool], low: usize, shares: &Shares<'_>) {
    for pair in children.windows(2) {
        let [one, other] = [&nodes[pair[0]], &nodes[pair[1]]];
        let are_pairs = [one, other].iter().all(|node| node.single.is_none() && node.target_part.is_none());
        let ([start, end], [next, stop]) = (one.target, other.target);
        let touch = one.source[1] == other.source[0] && start < end && end < next && next < stop;
        let is_open = |word: usize| free[word - low] && shares.of(word).next().is_none();
        if are_pairs && touch && (end..next).all(is_open) {
            nodes[pair[1]].target[0] = end;
        }
    }
}

/// The target words of a pair, and how sure that is.
fn run_of(
    node: &Node,
    outer: [usize; 2],
    [low, high]: [usize; 2],
    free: &[bool],
    shares: &Shares<'_>,
) -> (f64, [usize; 2]) {
    let source = node.source;
    if source == outer && free.iter().all(|free| *free) {
        return (f64::INFINITY, [low, high]);
    }
    // A tag without its other end reaches to the edge.
    let from_edge = node.open.is_none();
    let to_edge = node.close.is_none();
    let value = |target: usize| match free[target - low] {
        true => shares.inside(target, source).map_or(UNLINKED, |share| 2.0 * share - 1.0),
        false => f64::NEG_INFINITY,
    };
    let mut best = (0.0, None);
    let (mut start, mut sum) = (low, 0.0);
    for target in low..high {
        sum += value(target);
        if sum > best.0 && (!to_edge || target + 1 == high) {
            best = (sum, Some([start, target + 1]));
        }
        if sum <= 0.0 && !from_edge {
            (start, sum) = (target + 1, 0.0);
        }
    }
    if let (sum, Some(run)) = best {
        return (sum, run);
    }
    let place = match (from_edge, to_edge) {
        (true, _) => low,
        (_, true) => high,
        _ => single(source[0], [false, true], outer, [low, high], shares),
    };
    (0.0, outside(place, [low, high], free))
}

/// An empty run near a place that is not inside what is taken.
fn outside(place: usize, [low, high]: [usize; 2], free: &[bool]) -> [usize; 2] {
    let is_inside =
        |place: usize| low < place && place < high && !free[place - low] && !free[place - 1 - low];
    let after = (place..=high).find(|&place| !is_inside(place)).unwrap_or(high);
    [after, after]
}

/// The place of what has no words: at an edge of what is around it, it stays there.
fn single(
    gap: usize,
    sides: [bool; 2],
    outer: [usize; 2],
    [low, high]: [usize; 2],
    shares: &Shares<'_>,
) -> usize {
    match gap {
        _ if gap <= outer[0] => low,
        _ if gap >= outer[1] => high,
        _ => gap_of(gap, sides, [low, high], shares),
    }
}

/// The gap between target words for a gap between source words.
fn gap_of(gap: usize, [left, right]: [bool; 2], [low, high]: [usize; 2], shares: &Shares<'_>) -> usize {
    // Links on the wrong side, for each place.
    let before = |target: usize| shares.inside(target, [0, gap]).unwrap_or(0.5);
    let mut wrong: f64 = (low..high).map(before).sum();
    let mut costs = vec![wrong];
    for target in low..high {
        wrong += 1.0 - 2.0 * before(target);
        costs.push(wrong);
    }
    let linked = |target: usize, source: Option<usize>| {
        source.is_some_and(|source| shares.of(target).any(|linked| linked == source))
    };
    // Right behind what the word before it became, or right before what the next one did.
    let is_behind = |place: usize| place > low && linked(place - 1, gap.checked_sub(1));
    let further = |place: usize| {
        // The words before that may come after it, as adjectives do.
        let unlinked = |word: &usize| shares.of(*word).next().is_none();
        let mut place = place;
        for source in (gap.saturating_sub(NOTED)..gap).rev().skip(1) {
            let next = (place..high).find(|word| !unlinked(word)).filter(|&word| linked(word, Some(source)));
            place = next.map_or(place, |word| word + 1);
        }
        place
    };
    let ends: Vec<usize> = (low..=high).filter(|&place| is_behind(place)).map(further).collect();
    let behind = |place: usize| if left { ends.contains(&place) } else { is_behind(place) };
    let ahead = |place: usize| place < high && linked(place, Some(gap));
    let touches = |place: &usize| left && behind(*place) || right && ahead(*place);
    let cheapest = |places: &mut dyn Iterator<Item = usize>| {
        places.min_by(|&one, &other| {
            let prefers = |place: usize| !(behind(place) || ahead(place));
            let cost = |place: usize| costs[place - low];
            cost(one).total_cmp(&cost(other)).then(prefers(one).cmp(&prefers(other)))
        })
    };
    cheapest(&mut (low..=high).filter(touches)).or_else(|| cheapest(&mut (low..=high))).unwrap_or(low)
}

/// All tags in order.
fn in_order(nodes: &[Node]) -> Vec<Placed> {
    enum Step {
        Node(usize),
        Tag(Placed),
    }
    let mut placed = Vec::new();
    let mut open = vec![Step::Node(0)];
    while let Some(step) = open.pop() {
        let node = match step {
            Step::Tag(tag) => {
                placed.push(tag);
                continue;
            }
            Step::Node(node) => &nodes[node],
        };
        let [start, end] = match (node.target, node.target_part) {
            ([start, end], None) => [(start, None), (end, None)],
            ([word, _], Some([start, end])) => [(word, Some(start)), (word, Some(end))],
        };
        let tag = |mark, (place, inside)| Placed { mark, place, inside };
        placed.extend(node.open.map(|mark| tag(mark, start)));
        open.extend(node.close.map(|mark| Step::Tag(tag(mark, end))));
        let mut children = node.children.clone();
        // What has no words comes before what begins at the same place.
        children.sort_by_key(|&child| {
            let [start, end] = nodes[child].target;
            (start, end > start, nodes[child].target_part)
        });
        open.extend(children.into_iter().rev().map(Step::Node));
    }
    placed
}
