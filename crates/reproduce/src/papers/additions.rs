//! Beyond the papers: what each addition to the models is worth, alone and together.
//!
//! ```text
//! words never seen   rules for words like them and for their parts               crates/decode/src/unseen
//! word classes       a second language model, of classes of words                crates/lm/src/classes
//! two sets of links  rules from the links of two ways to put directions together  crates/rules/src/train
//! more to tune on    pairs of the training text, translated without them        crates/train/src/stages/set_aside.rs
//! sparse features    weights of words, tuned by MIRA on as much                  crates/decode/src/features
//! packed forests     instead of one tree                                          crates/parse
//! consensus          what lists of trees, rules with gaps and phrases agree on   crates/eval/src/consensus.rs
//! ```

use super::rows::{
    CLASSES, Experiment, FORESTS, GAPS, MORE, NOTHING, PHRASES, SETS, SPARSE, TREES, UNSEEN, With,
};

const ALL: With = With { classes: CLASSES.classes, two_sets: true, more: MORE.more, ..UNSEEN };

pub(super) const ADDITIONS: Experiment = Experiment {
    name: "additions",
    title: "Beyond the papers: what each addition is worth",
    rows: &[
        ("trees", TREES, "cube", 500, NOTHING),
        ("trees, words never seen", TREES, "cube", 500, UNSEEN),
        ("trees, word classes", TREES, "cube", 500, CLASSES),
        ("trees, two sets of links", TREES, "cube", 500, SETS),
        ("trees, all four", TREES, "cube", 500, ALL),
        ("trees, more to tune on", TREES, "cube", 500, MORE),
        ("trees, sparse features", TREES, "cube", 500, SPARSE),
        ("packed forests", FORESTS, "cube", 500, NOTHING),
        ("gaps", GAPS, "focus", 200, NOTHING),
        ("gaps, words never seen", GAPS, "focus", 200, UNSEEN),
        ("gaps, word classes", GAPS, "focus", 200, CLASSES),
        ("gaps, two sets of links", GAPS, "focus", 200, SETS),
        ("gaps, all four", GAPS, "focus", 200, ALL),
        ("phrases", PHRASES, "stacks", 120, NOTHING),
        ("phrases, words never seen", PHRASES, "stacks", 120, UNSEEN),
        ("phrases, word classes", PHRASES, "stacks", 120, CLASSES),
        ("phrases, two sets of links", PHRASES, "stacks", 120, SETS),
        ("phrases, all four", PHRASES, "stacks", 120, ALL),
    ],
    agreed: &[
        ("consensus alone", ["trees", "gaps", "phrases"]),
        ("all four, consensus", ["trees, all four", "gaps, all four", "phrases, all four"]),
    ],
    claims: &[
        (
            "words never seen",
            "(ours) rules for words like them and for their parts translate better than copies",
            &[
                ("trees, words never seen", "trees"),
                ("gaps, words never seen", "gaps"),
                ("phrases, words never seen", "phrases"),
            ],
        ),
        (
            "word classes",
            "(ours) a second language model, of 200 word classes, translates better",
            &[
                ("trees, word classes", "trees"),
                ("gaps, word classes", "gaps"),
                ("phrases, word classes", "phrases"),
            ],
        ),
        (
            "two sets of links",
            "(ours) rules from two sets of links translate better than those from one",
            &[
                ("trees, two sets of links", "trees"),
                ("gaps, two sets of links", "gaps"),
                ("phrases, two sets of links", "phrases"),
            ],
        ),
        (
            "more to tune on",
            "(ours) 1,000 pairs of the training text to tune on as well translate better",
            &[("trees, more to tune on", "trees")],
        ),
        (
            "Chiang 2009",
            "weights of sparse features, tuned by MIRA, translate better",
            &[("trees, sparse features", "trees, more to tune on")],
        ),
        ("Mi 2008", "packed forests translate better than one tree", &[("packed forests", "trees")]),
    ],
};
