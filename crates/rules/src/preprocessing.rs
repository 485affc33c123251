//! What is done to trees before rules are learnt from them or matched against them.
//!
//! Both must see the same trees, so every table records it and the decoder does it again.

use serde::{Deserialize, Serialize};
use sylvan_base::{Symbol, Vocab};
use sylvan_trees::{
    CleanUp, Direction, EmptyCategories, FunctionTags, PackedForest, Root, Tree, Unaries, binarise,
    binarise_forest, surface,
};

use crate::forest_roots;
use crate::{Rule, Source};

/// How the words at the leaves are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Leaves {
    /// As in the trees: `-LRB-` is a word.
    Written,
    /// As people write them ([`sylvan_trees::surface`]), so that no code of a treebank is in a rule or a copy.
    #[default]
    Surface,
}

impl Leaves {
    /// Changes a word of a tree.
    pub fn change(self, word: &mut Symbol, vocab: &mut Vocab) {
        if self == Self::Surface {
            let text = surface(vocab.text(*word));
            if *text != *vocab.text(*word) {
                let text = text.into_owned();
                *word = vocab.intern(&text);
            }
        }
    }

    /// Changes the source words of a rule that was written for such trees.
    pub(crate) fn change_rule(self, rule: &mut Rule, vocab: &mut Vocab) {
        let mut source = rule.source().to_vec();
        for token in &mut source {
            if let Source::Word(word) = token {
                self.change(word, vocab);
            }
        }
        if source != rule.source()
            && let Ok(changed) = Rule::new(source, rule.target().to_vec())
        {
            *rule = changed;
        }
    }
}

/// The steps, in the order in which they are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Preprocessing {
    /// Traces, function tags, the outermost bracket, unary chains.
    pub clean_up: CleanUp,
    /// The words.
    pub leaves: Leaves,
    /// Whether and how nodes with more than two children are divided.
    pub binarise: Option<Direction>,
}

impl Preprocessing {
    /// Nothing is changed.
    pub fn as_is() -> Self {
        Self { clean_up: CleanUp::as_is(), leaves: Leaves::Written, binarise: None }
    }

    /// The tree as rules see it; `None` if nothing is left of it.
    pub fn apply(&self, tree: Tree, vocab: &mut Vocab) -> Option<Tree> {
        let tree = self.clean_up.apply(tree, vocab)?.map_words(|word| self.leaves.change(word, vocab));
        Some(match self.binarise {
            Some(direction) if tree.nodes().any(|node| tree.children(node).len() > 2) => {
                binarise(&tree, direction, vocab)
            }
            _ => tree,
        })
    }

    /// A packed forest as rules see it. Forests come from parsers, without traces, and their unary chains stay. A
    /// wrapper with several nodes below it in different trees cannot go; [`forest_roots`](Self::forest_roots) can
    /// drop it.
    pub fn apply_forest(&self, forest: PackedForest, vocab: &mut Vocab) -> PackedForest {
        let forest = self.treated(forest, 1.0, vocab);
        let mut roots = forest_roots::divide(&forest, self.clean_up.root, vocab);
        let forest = if roots.len() == 1 { roots.pop().map_or(forest, |(forest, _)| forest) } else { forest };
        self.binarised(forest, vocab)
    }

    /// The same, but where different trees have different nodes below a wrapper that goes, each of them is a forest
    /// of its own, with the log weight of its trees. Edge scores are first multiplied by `scale`.
    pub fn forest_roots(
        &self,
        forest: PackedForest,
        scale: f64,
        vocab: &mut Vocab,
    ) -> Vec<(PackedForest, f64)> {
        let forest = self.treated(forest, scale, vocab);
        let roots = forest_roots::divide(&forest, self.clean_up.root, vocab);
        roots.into_iter().map(|(forest, weight)| (self.binarised(forest, vocab), weight)).collect()
    }

    fn treated(&self, forest: PackedForest, scale: f64, vocab: &mut Vocab) -> PackedForest {
        let forest = forest_roots::treat(forest, self.clean_up, scale, vocab);
        forest.map_words(|word| self.leaves.change(word, vocab))
    }

    fn binarised(&self, forest: PackedForest, vocab: &mut Vocab) -> PackedForest {
        match self.binarise {
            Some(direction) => binarise_forest(&forest, direction, vocab),
            None => forest,
        }
    }
}

impl Default for Preprocessing {
    /// Wrappers, traces, tags and codes go; nothing is binarised.
    fn default() -> Self {
        Self { clean_up: CleanUp::standard(), leaves: Leaves::default(), binarise: None }
    }
}

/// The words that files use.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    root: String,
    empty_categories: String,
    function_tags: String,
    unaries: String,
    /// Not in tables of version 1, whose words are as written.
    #[serde(default = "written")]
    leaves: String,
    binarise: String,
}

fn written() -> String {
    "written".to_string()
}

impl Serialize for Preprocessing {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let CleanUp { empty_categories, function_tags, root, unaries } = self.clean_up;
        let word = |text: &str| text.to_string();
        Written {
            root: word(match root {
                Root::Keep => "keep",
                Root::Name => "name",
                Root::Drop => "drop",
            }),
            empty_categories: word(match empty_categories {
                EmptyCategories::Keep => "keep",
                EmptyCategories::Drop => "drop",
            }),
            function_tags: word(match function_tags {
                FunctionTags::Keep => "keep",
                FunctionTags::Strip => "strip",
            }),
            unaries: word(match unaries {
                Unaries::Keep => "keep",
                Unaries::Collapse => "collapse",
            }),
            leaves: word(match self.leaves {
                Leaves::Written => "written",
                Leaves::Surface => "surface",
            }),
            binarise: word(match self.binarise {
                None => "none",
                Some(Direction::Right) => "right",
                Some(Direction::Left) => "left",
            }),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Preprocessing {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Written::deserialize(deserializer)?;
        let unknown = |field: &str, word: &str| serde::de::Error::custom(format!("{field}: {word:?}"));
        Ok(Self {
            clean_up: CleanUp {
                empty_categories: match written.empty_categories.as_str() {
                    "keep" => EmptyCategories::Keep,
                    "drop" => EmptyCategories::Drop,
                    other => return Err(unknown("empty_categories", other)),
                },
                function_tags: match written.function_tags.as_str() {
                    "keep" => FunctionTags::Keep,
                    "strip" => FunctionTags::Strip,
                    other => return Err(unknown("function_tags", other)),
                },
                root: match written.root.as_str() {
                    "keep" => Root::Keep,
                    "name" => Root::Name,
                    "drop" => Root::Drop,
                    other => return Err(unknown("root", other)),
                },
                unaries: match written.unaries.as_str() {
                    "keep" => Unaries::Keep,
                    "collapse" => Unaries::Collapse,
                    other => return Err(unknown("unaries", other)),
                },
            },
            leaves: match written.leaves.as_str() {
                "written" => Leaves::Written,
                "surface" => Leaves::Surface,
                other => return Err(unknown("leaves", other)),
            },
            binarise: match written.binarise.as_str() {
                "none" => None,
                "right" => Some(Direction::Right),
                "left" => Some(Direction::Left),
                other => return Err(unknown("binarise", other)),
            },
        })
    }
}
