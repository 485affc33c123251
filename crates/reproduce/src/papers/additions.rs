//! Beyond the papers: what each addition to the models is worth, alone and together.
//!
//! ```text
//! words never seen   rules for words like them and for their parts               crates/decode/src/unseen
//! word classes       a second language model, of classes of words                crates/lm/src/classes
//! consensus          what lists of trees, rules with gaps and phrases agree on   crates/eval/src/consensus.rs
//! ```

use super::rows::{CLASSES, Experiment, GAPS, NOTHING, PHRASES, TREES, UNSEEN, With};

const BOTH: With = With { classes: CLASSES.classes, ..UNSEEN };

pub(super) const ADDITIONS: Experiment = Experiment {
    name: "additions",
    title: "Beyond the papers: what each addition is worth",
    rows: &[
        ("trees", TREES, "cube", 500, NOTHING),
        ("trees, words never seen", TREES, "cube", 500, UNSEEN),
        ("trees, word classes", TREES, "cube", 500, CLASSES),
        ("trees, both", TREES, "cube", 500, BOTH),
        ("gaps", GAPS, "focus", 200, NOTHING),
        ("gaps, words never seen", GAPS, "focus", 200, UNSEEN),
        ("gaps, word classes", GAPS, "focus", 200, CLASSES),
        ("gaps, both", GAPS, "focus", 200, BOTH),
        ("phrases", PHRASES, "stacks", 120, NOTHING),
        ("phrases, words never seen", PHRASES, "stacks", 120, UNSEEN),
        ("phrases, word classes", PHRASES, "stacks", 120, CLASSES),
        ("phrases, both", PHRASES, "stacks", 120, BOTH),
    ],
    agreed: &[
        ("consensus alone", ["trees", "gaps", "phrases"]),
        ("both, consensus", ["trees, both", "gaps, both", "phrases, both"]),
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
    ],
};
