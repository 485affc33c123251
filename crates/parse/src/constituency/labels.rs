//! The labels that constituents get, as actions.
//!
//! A constituent is built two parts at a time, around its head. While parts are missing it has an *open* label,
//! `NP*`; with the last part it gets a *complete* one. A chain of unary nodes is one complete label,
//! topmost first: `S+VP` is an S with nothing below it but a VP. The label 0 is none: a word that is part of a
//! constituent as it is.

use sylvan_base::HashMap;

use crate::machine::ActionSet;
use crate::machine::system::MAX_ACTIONS;

/// The label of a word that has none.
pub(crate) const NONE: u8 = 0;
/// Between the labels of a unary chain. No treebank uses it in labels; where one does, it becomes `_`.
pub(crate) const JOINT: char = '+';

/// All labels of a model, by number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Labels {
    names: Vec<String>,
    /// Labels from here on are open.
    open_from: usize,
    /// Per label the open label that leads to it, or that it is.
    base: Vec<u8>,
    over_word: ActionSet,
    /// What a constituent of two fresh parts may become.
    fresh: Choices,
    /// What one that was open may become, by its open label (from `open_from` on).
    grown: Vec<Choices>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Choices {
    complete: ActionSet,
    all: ActionSet,
}

/// How often complete labels were seen over a word and over several.
pub(crate) type Counts = HashMap<String, [u64; 2]>;

impl Labels {
    /// The most frequent labels, as many as there is room for.
    pub(crate) fn new(counts: &Counts) -> Self {
        let mut seen: Vec<(&String, [u64; 2])> = counts.iter().map(|(name, &count)| (name, count)).collect();
        seen.sort_by(|a, b| (b.1[0] + b.1[1]).cmp(&(a.1[0] + a.1[1])).then_with(|| a.0.cmp(b.0)));
        let mut bases: Vec<&str> = Vec::new();
        let mut complete: Vec<(String, [bool; 2])> = Vec::new();
        for (name, [word, phrase]) in seen {
            let base = base_of(name);
            let mut room = 1 + complete.len() + bases.len() + 1;
            // A chain over several words needs its lowest label, open and complete.
            let needs_base = phrase > 0 && !bases.contains(&base);
            room += usize::from(needs_base) * 2;
            if room > MAX_ACTIONS {
                continue;
            }
            if needs_base {
                bases.push(base);
            }
            match complete.iter_mut().find(|(known, _)| known == name) {
                Some((_, over)) => *over = [over[0] || word > 0, over[1] || phrase > 0],
                None => complete.push((name.clone(), [word > 0, phrase > 0])),
            }
            if needs_base && base != name && !complete.iter().any(|(known, _)| known == base) {
                complete.push((base.to_string(), [false, true]));
            }
        }
        Self::with(&complete, &bases)
    }

    fn with(complete: &[(String, [bool; 2])], bases: &[&str]) -> Self {
        let mut names = vec![String::new()];
        names.extend(complete.iter().map(|(name, _)| name.clone()));
        let open_from = names.len();
        names.extend(bases.iter().map(|base| format!("{base}*")));
        let open_of = |name: &str| {
            let base = base_of(name);
            bases.iter().position(|&known| known == base).map_or(NONE, |at| (open_from + at) as u8)
        };
        let mut base = vec![NONE];
        base.extend(complete.iter().map(|(name, _)| open_of(name)));
        base.extend((open_from..names.len()).map(|label| label as u8));
        let mut over_word = ActionSet::default();
        over_word.insert(NONE);
        let mut fresh = Choices::default();
        let mut grown = vec![Choices::default(); bases.len()];
        for (index, (_, [word, phrase])) in complete.iter().enumerate() {
            let label = index as u8 + 1;
            if *word {
                over_word.insert(label);
            }
            if *phrase
                && let Some(choices) = grown.get_mut((base[label as usize] as usize).wrapping_sub(open_from))
            {
                fresh.complete.insert(label);
                choices.complete.insert(label);
            }
        }
        fresh.all = fresh.complete;
        for (index, choices) in grown.iter_mut().enumerate() {
            let open = (open_from + index) as u8;
            fresh.all.insert(open);
            choices.all = choices.complete;
            choices.all.insert(open);
        }
        Self { names, open_from, base, over_word, fresh, grown }
    }

    /// How many labels there are.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// The number of a complete label that may stand over several words, or over one.
    pub(crate) fn complete(&self, name: &str, over_word: bool) -> Option<u8> {
        let label = self.names[1..self.open_from].iter().position(|known| known == name)? as u8 + 1;
        let set = if over_word { &self.over_word } else { &self.fresh.complete };
        set.contains(label).then_some(label)
    }

    /// The open label that leads to a complete one.
    #[inline]
    pub(crate) fn open_of(&self, label: u8) -> u8 {
        self.base[label as usize]
    }

    #[inline]
    pub(crate) fn is_open(&self, label: u8) -> bool {
        label as usize >= self.open_from
    }

    /// The labels of a complete one, topmost first; none for [`NONE`].
    pub(crate) fn chain(&self, label: u8) -> impl DoubleEndedIterator<Item = &str> {
        let name = self.names.get(label as usize).map_or("", String::as_str);
        name.split(JOINT).filter(|part| !part.is_empty())
    }

    /// What may stand over a word.
    #[inline]
    pub(crate) fn over_word(&self) -> ActionSet {
        self.over_word
    }

    /// What may stand over two parts, of which the head had the label `head`.
    #[inline]
    pub(crate) fn over_parts(&self, head: u8, may_stay_open: bool) -> ActionSet {
        let choices = match (head as usize).checked_sub(self.open_from) {
            Some(open) => &self.grown[open],
            None => &self.fresh,
        };
        if may_stay_open { choices.all } else { choices.complete }
    }

    /// Everything, as lines of text.
    pub(crate) fn to_text(&self) -> String {
        let mut text = String::new();
        for (index, name) in self.names[1..self.open_from].iter().enumerate() {
            let label = index as u8 + 1;
            let flag = |yes: bool| if yes { '1' } else { '0' };
            text.push(flag(self.over_word.contains(label)));
            text.push(flag(self.fresh.complete.contains(label)));
            text.push_str(name);
            text.push('\n');
        }
        text.push('\n');
        for name in &self.names[self.open_from..] {
            text.push_str(name.strip_suffix('*').unwrap_or(name));
            text.push('\n');
        }
        text
    }

    /// Parses the output of [`to_text`](Self::to_text); `None` if it is something else.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let (complete, open) = text.split_once("\n\n")?;
        let complete: Option<Vec<(String, [bool; 2])>> = complete
            .lines()
            .map(|line| {
                let (flags, name) = line.split_at_checked(2)?;
                let flags = flags.as_bytes();
                Some((name.to_string(), [flags[0] == b'1', flags[1] == b'1']))
            })
            .collect();
        let (complete, open) = (complete?, open.lines().collect::<Vec<_>>());
        let fits = complete.len() + open.len() < MAX_ACTIONS && !open.is_empty();
        // Every open label must be completable, or a parse could get stuck.
        let labels = fits.then(|| Self::with(&complete, &open))?;
        let closed = labels.grown.iter().all(|choices| choices.complete != ActionSet::default());
        closed.then_some(labels)
    }
}

/// The lowest label of a chain.
fn base_of(name: &str) -> &str {
    name.rsplit(JOINT).next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels() -> Labels {
        let counts: Counts = [("NP", [9, 9]), ("S+VP", [1, 2]), ("S", [0, 5]), ("ADJP", [3, 0])]
            .into_iter()
            .map(|(name, counts)| (name.to_string(), counts))
            .collect();
        Labels::new(&counts)
    }

    #[test]
    fn labels_know_where_they_may_stand() {
        let labels = labels();
        assert!(labels.complete("ADJP", true).is_some() && labels.complete("ADJP", false).is_none());
        let chain = labels.complete("S+VP", false).unwrap();
        assert_eq!(labels.chain(chain).collect::<Vec<_>>(), ["S", "VP"]);
        let open = labels.open_of(chain);
        assert!(labels.is_open(open) && !labels.is_open(chain));
        // VP itself was never seen over several words, but what is open must be able to end as it.
        let vp = labels.complete("VP", false).unwrap();
        let choices = labels.over_parts(open, true);
        assert_eq!(choices.iter().collect::<Vec<_>>().len(), 3);
        assert!(choices.contains(vp) && choices.contains(chain) && choices.contains(open));
        assert!(!labels.over_parts(open, false).contains(open));
    }

    #[test]
    fn labels_survive_their_text() {
        let labels = labels();
        assert_eq!(Labels::from_text(&labels.to_text()), Some(labels));
        for broken in ["", "\n\n", "1", "11NP\n\nVP\n"] {
            assert_eq!(Labels::from_text(broken), None, "{broken:?}");
        }
    }

    #[test]
    fn too_many_labels_leave_the_frequent_ones() {
        let counts: Counts = (0..1000).map(|n| (format!("L{n:04}"), [0, 1000 - n])).collect();
        let labels = Labels::new(&counts);
        assert!(labels.len() <= MAX_ACTIONS);
        assert!(labels.complete("L0000", false).is_some() && labels.complete("L0999", false).is_none());
    }
}
