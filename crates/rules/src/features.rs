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

const LN: &str = "natural logarithm";
const NUMBER: &str = "count";

/// All features that this crate gives rules, in the order of tables.
pub const FEATURES: [Feature; 11] = [
    Feature { name: "p_ef", meaning: "p(target side | source side)", unit: LN, travatar: Some("egfp") },
    Feature { name: "p_fe", meaning: "p(source side | target side)", unit: LN, travatar: Some("fgep") },
    Feature { name: "lex_ef", meaning: "target words given source words", unit: LN, travatar: Some("egfl") },
    Feature { name: "lex_fe", meaning: "source words given target words", unit: LN, travatar: Some("fgel") },
    Feature {
        name: "rare",
        meaning: "1 divided by how often the rule was seen",
        unit: NUMBER,
        travatar: None,
    },
    Feature { name: "lexical", meaning: "1 for each rule with source words", unit: NUMBER, travatar: None },
    Feature { name: "rules", meaning: "1 for each rule of the table", unit: NUMBER, travatar: Some("p") },
    Feature { name: "words", meaning: "target words of rules", unit: NUMBER, travatar: Some("w") },
    Feature { name: "glue", meaning: "1 for each default rule", unit: NUMBER, travatar: Some("unk") },
    Feature { name: "oov", meaning: "copied words of default rules", unit: NUMBER, travatar: None },
    Feature { name: "parse", meaning: "score of the parse", unit: LN, travatar: Some("parse") },
];

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
