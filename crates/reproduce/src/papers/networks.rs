//! Beyond the papers: what a network is worth, which re-ranks what a search lists or is asked inside it
//! (`crates/decode/src/models/neural.rs`), beside all else.

use super::rows::{Experiment, GAPS, NOTHING, PHRASES, TREES, UNSEEN, With};

const NETWORK: With = With { network: true, ..NOTHING };
const BOTH: With = With { network: true, ..UNSEEN };
const INSIDE: &str = "incremental --network inside";

pub(super) const NETWORKS: Experiment = Experiment {
    name: "networks",
    title: "Beyond the papers: what a network is worth",
    rows: &[
        ("trees", TREES, "cube", 500, NOTHING),
        ("trees, network re-ranking", TREES, "cube", 500, NETWORK),
        ("trees, network inside", TREES, INSIDE, 100, NETWORK),
        ("trees, words never seen, network re-ranking", TREES, "cube", 500, BOTH),
        ("trees, words never seen, network inside", TREES, INSIDE, 100, BOTH),
        ("gaps, words never seen, network re-ranking", GAPS, "focus", 200, BOTH),
        ("phrases, words never seen, network re-ranking", PHRASES, "stacks", 120, BOTH),
    ],
    agreed: &[(
        "all together",
        [
            "trees, words never seen, network inside",
            "gaps, words never seen, network re-ranking",
            "phrases, words never seen, network re-ranking",
        ],
    )],
    claims: &[
        (
            "re-ranking",
            "(ours) a network that re-ranks translates better",
            &[("trees, network re-ranking", "trees")],
        ),
        (
            "inside",
            "(ours) asked inside left-to-right search it translates better than re-ranking",
            &[("trees, network inside", "trees, network re-ranking")],
        ),
    ],
};
