//! Beyond the papers: what a network is worth, which re-ranks what a search lists or is asked inside it
//! (`crates/decode/src/models/neural.rs`), beside all else.

use super::rows::{Experiment, GAPS, NOTHING, PHRASES, SETS, TREES, UNSEEN, With};

const NETWORK: With = With { network: true, ..NOTHING };
/// And what else pays without taking pairs from the text that the network learns from.
const ALL: With = With { network: true, two_sets: SETS.two_sets, ..UNSEEN };
const INSIDE: &str = "prediction --network inside";

pub(super) const NETWORKS: Experiment = Experiment {
    name: "networks",
    title: "Beyond the papers: what a network is worth",
    rows: &[
        ("trees", TREES, "cube", 500, NOTHING),
        ("trees, network re-ranking", TREES, "cube", 500, NETWORK),
        ("trees, network inside", TREES, INSIDE, 100, NETWORK),
        ("trees, all else, network re-ranking", TREES, "cube", 500, ALL),
        ("trees, all else, network inside", TREES, INSIDE, 100, ALL),
        ("gaps, all else, network re-ranking", GAPS, "focus", 200, ALL),
        ("phrases, all else, network re-ranking", PHRASES, "stacks", 120, ALL),
    ],
    agreed: &[(
        "all together",
        [
            "trees, all else, network inside",
            "gaps, all else, network re-ranking",
            "phrases, all else, network re-ranking",
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
