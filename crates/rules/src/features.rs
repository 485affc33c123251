//! The registry of features that rules have: one name, sign and unit each, and what other toolkits call them.
//!
//! A table keeps bare names; the decoder puts the layer before them (`tm0.p_ef`). Values are natural logarithms
//! where they are logarithms at all, and larger is better.

use crate::Weights;

/// One feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feature {
    /// The name.
    pub name: &'static str,
    /// What it says.
    pub meaning: &'static str,
    /// What its values are.
    pub unit: &'static str,
    /// What Travatar calls it.
    pub travatar: Option<&'static str>,
}

/// The features of orientations, in the order of their tallies. `prev` is towards what is translated before. A phrase
/// counts only those of its orientations.
pub const ORIENTATIONS: [&str; 6] =
    ["msd.prev.mono", "msd.prev.swap", "msd.prev.disc", "msd.next.mono", "msd.next.swap", "msd.next.disc"];

const LN: &str = "natural logarithm";
const NUMBER: &str = "count";

/// All features, in the order of tables, then those of other parts of a model.
pub const FEATURES: [Feature; 23] = [
    feature("p_ef", "how likely the target side is for the source side of a rule", LN, Some("egfp")),
    feature("p_fe", "how likely the source side is for the target side of a rule", LN, Some("fgep")),
    feature(
        "lex_ef",
        "how likely its target words are for the source words they are linked to",
        LN,
        Some("egfl"),
    ),
    feature(
        "lex_fe",
        "how likely its source words are for the target words they are linked to",
        LN,
        Some("fgel"),
    ),
    feature("rare", "1 divided by how often the rule was seen", NUMBER, None),
    feature("lexical", "1 for each rule with source words", NUMBER, None),
    feature(
        "rules",
        "1 for each rule: whether few large rules or many small ones are wanted",
        NUMBER,
        Some("p"),
    ),
    feature(
        "words",
        "1 for each target word of a rule: whether long translations are wanted",
        NUMBER,
        Some("w"),
    ),
    feature(
        "glue",
        "1 for each place where no rule matches and parts stay in source order",
        NUMBER,
        Some("unk"),
    ),
    feature("oov", "1 for each source word that is copied because no rule has it", NUMBER, None),
    feature(
        "unseen.related",
        "minus the letters at the end of words that no rule translates that are others in the words they are translated as",
        NUMBER,
        None,
    ),
    feature(
        "unseen.parts",
        "minus the parts more than one that words that no rule translates are taken apart into",
        NUMBER,
        None,
    ),
    feature("parse", "how likely the tree is, if the input is a forest of trees", LN, Some("parse")),
    feature("lm", "how likely the target words are, each after those before it", LN, None),
    feature(
        "slm",
        "how good the dependency tree is that the target words build",
        "score of the parser",
        None,
    ),
    feature(
        "neural",
        "how likely the network thinks the whole translation is, having read the whole source sentence",
        LN,
        None,
    ),
    feature(
        "msd.",
        "how likely a phrase pair or rule follows what is before, or is followed, in order (mono), swapped or apart (disc)",
        LN,
        None,
    ),
    feature(
        "distortion",
        "minus the source words that are jumped over: between phrases, or from left to right by a rule with gaps",
        NUMBER,
        None,
    ),
    feature(
        "glue_distortion",
        "minus the source words that glue jumps over, from left to right",
        NUMBER,
        None,
    ),
    feature(
        "crossing",
        "minus the gaps that cross constituents of the source tree, from left to right",
        NUMBER,
        None,
    ),
    feature("tw.", "sparse: 1 for each time that this target word is used", NUMBER, None),
    feature("wp.", "sparse: 1 for each time that these two words are linked", NUMBER, None),
    feature("ro.", "sparse: 1 for each rule of this label that puts its parts in this order", NUMBER, None),
];

const fn feature(
    name: &'static str,
    meaning: &'static str,
    unit: &'static str,
    travatar: Option<&'static str>,
) -> Feature {
    Feature { name, meaning, unit, travatar }
}

/// What a feature of a model says, by its full name (`tm0.p_ef`, `lm1`, `tw.book`); nothing if it is not known.
pub fn meaning(name: &str) -> &'static str {
    let bare = match name.strip_prefix("tm").and_then(|rest| rest.split_once('.')) {
        Some((layer, bare)) if layer.bytes().all(|byte| byte.is_ascii_digit()) => bare,
        _ if name.starts_with("lm") => name.trim_end_matches(|c: char| c.is_ascii_digit()),
        _ => name,
    };
    let known = |feature: &&Feature| {
        if feature.name.ends_with('.') { bare.starts_with(feature.name) } else { bare == feature.name }
    };
    FEATURES.iter().find(known).map_or("", |feature| feature.meaning)
}

/// The registry's name for Travatar's.
pub fn from_travatar(name: &str) -> Option<&'static str> {
    FEATURES.iter().find(|feature| feature.travatar == Some(name)).map(|feature| feature.name)
}

/// Travatar's name for the registry's.
pub fn to_travatar(name: &str) -> Option<&'static str> {
    FEATURES.iter().find(|feature| feature.name == name)?.travatar
}

/// Weights of a Travatar model under the registry's names. Its language-model feature is a base-10 logarithm, ours
/// a natural one, so that weight is divided by ln 10; all others keep their values. Unknown names stay.
pub fn weights_from_travatar(weights: &Weights) -> Weights {
    let mut converted = Weights::default();
    for (name, value) in weights.iter() {
        match name {
            "lm" => converted.set("lm", value / std::f64::consts::LN_10),
            _ => converted.set(from_travatar(name).unwrap_or(name), value),
        }
    }
    converted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_a_model_has_a_meaning() {
        for name in [
            "tm0.p_ef",
            "tm1.rare",
            "lm0",
            "lm",
            "glue",
            "tw.the",
            "wp.a~b",
            "ro.NP.2-1",
            "tm0.msd.prev.mono",
        ] {
            assert!(!meaning(name).is_empty(), "{name}");
        }
        assert_eq!(meaning("tm0.p_ef"), FEATURES[0].meaning);
        assert!(meaning("lm0").contains("target words") && meaning("mine").is_empty());
    }

    #[test]
    fn the_glossary_in_the_documentation_is_this_one() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/features.md");
        let text = std::fs::read_to_string(path).unwrap();
        for Feature { name, meaning, unit, travatar } in FEATURES {
            let row = format!("| `{name}` | {meaning} | {unit} | {} |", travatar.unwrap_or(""));
            assert!(text.contains(&row), "missing in docs/features.md: {row}");
        }
    }

    #[test]
    fn travatar_weights_change_their_names_and_the_base_of_the_language_model() {
        let theirs = Weights::of([("egfp", 0.5), ("w", 0.25), ("lm", 1.0), ("unk", -3.0), ("mine", 7.0)]);
        let ours = weights_from_travatar(&theirs);
        let expected = [
            ("p_ef", 0.5),
            ("words", 0.25),
            ("lm", 1.0 / std::f64::consts::LN_10),
            ("glue", -3.0),
            ("mine", 7.0),
        ];
        assert_eq!(ours, Weights::of(expected));
        assert!(FEATURES.iter().all(|f| f.travatar.is_none_or(|name| to_travatar(f.name) == Some(name))));
    }
}
