//! Parts of speech by number.
//!
//! A treebank of Universal Dependencies has two for each word: its own fine one (`VBD`, `IN`) and a universal one
//! (`VERB` or `AUX`, `ADP` or `SCONJ`). Neither says it all, so each pair that occurs is one tag here: `VBD` + `AUX`
//! and `VBD` + `VERB` are two. The *group* of a tag is coarser: the universal one, or where there is none the first
//! two characters of its name.

use sylvan_base::HashMap;

/// Between the two names of a tag, in files and while a treebank is read.
const JOINT: char = '\t';

/// The tags of a model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct TagSet {
    own: Vec<String>,
    universal: Vec<String>,
    groups: Vec<u8>,
    /// Per tag the first that has the same own name.
    same: Vec<u8>,
}

/// The two names of a tag as one. Without an own name the universal one takes its place.
pub(crate) fn pair(own: &str, universal: &str) -> String {
    match (own, universal) {
        ("_" | "", universal) => universal.to_string(),
        (own, "_" | "") => own.to_string(),
        (own, universal) => format!("{own}{JOINT}{universal}"),
    }
}

impl TagSet {
    /// From names as [`pair`] makes them.
    pub(crate) fn new(names: &[String]) -> Self {
        let mut set = Self::default();
        let mut groups: HashMap<String, u8> = HashMap::default();
        let mut first: HashMap<String, u8> = HashMap::default();
        for (index, name) in names.iter().enumerate() {
            let (own, universal) = name.split_once(JOINT).unwrap_or((name, ""));
            let group = match universal {
                "" => own.chars().take(2).collect(),
                universal => universal.to_string(),
            };
            let count = groups.len() as u8;
            set.groups.push(*groups.entry(group).or_insert(count));
            set.same.push(*first.entry(own.to_string()).or_insert(index as u8));
            set.own.push(own.to_string());
            set.universal.push(universal.to_string());
        }
        set
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.own.len()
    }

    /// The treebank's own names.
    pub(crate) fn own(&self) -> &[String] {
        &self.own
    }

    /// The universal name of a tag; `_` where there is none.
    pub(crate) fn universal(&self, tag: u8) -> &str {
        match self.universal.get(usize::from(tag)).map(String::as_str) {
            None | Some("") => "_",
            Some(name) => name,
        }
    }

    /// The group of a tag.
    #[inline]
    pub(crate) fn group(&self, tag: u8) -> u8 {
        self.groups.get(usize::from(tag)).copied().unwrap_or(u8::MAX)
    }

    /// Whether the treebank's own names of two tags are the same.
    pub(crate) fn same(&self, a: u8, b: u8) -> bool {
        let first = |tag: u8| self.same.get(usize::from(tag)).copied().unwrap_or(tag);
        first(a) == first(b)
    }

    /// One line per tag.
    pub(crate) fn to_text(&self) -> String {
        let lines: Vec<String> =
            self.own.iter().zip(&self.universal).map(|(own, universal)| pair(own, universal)).collect();
        lines.join("\n")
    }

    /// Reads what [`to_text`](Self::to_text) wrote.
    pub(crate) fn from_text(text: &str) -> Self {
        Self::new(&text.lines().map(str::to_string).collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_have_own_names_and_groups() {
        let names =
            [pair("VBD", "VERB"), pair("VBD", "AUX"), pair("VBZ", "AUX"), pair("NN", "_"), pair("NNS", "")];
        let set = TagSet::new(&names);
        assert_eq!(set.own(), ["VBD", "VBD", "VBZ", "NN", "NNS"]);
        assert!(set.same(0, 1) && !set.same(1, 2));
        assert_eq!(set.group(1), set.group(2));
        assert_ne!(set.group(0), set.group(1));
        assert_eq!(set.group(3), set.group(4));
        assert_eq!([set.universal(1), set.universal(3), set.universal(9)], ["AUX", "_", "_"]);
        assert_eq!(TagSet::from_text(&set.to_text()), set);
        assert_eq!(pair("_", "NOUN"), "NOUN");
    }
}
