//! Chooses and prints the examples of `docs/sample-corpus.md`: thirty short pairs that together show every
//! phenomenon of the grammar.

use sylvan_sample::{Config, Sampler, Workspace};

const PAIRS: usize = 30;

/// The examples as Markdown.
pub(crate) fn examples() -> String {
    let config = Config { max_words: 16, ..Config::default() };
    let sampler = Sampler::new(config).expect("the settings work");
    let mut workspace = Workspace::new();
    let mut chosen: Vec<u64> = Vec::new();
    let mut missing: Vec<String> = sampler.grammar().phenomena().to_vec();
    // Take the pair with the most phenomena that are still missing, the earliest of equals, until none is.
    while !missing.is_empty() && chosen.len() < PAIRS {
        let gain = |index: u64, workspace: &mut Workspace| {
            let pair = sampler.pair(index, workspace);
            let names = pair.phenomena();
            missing.iter().filter(|name| names.contains(&name.as_str())).count()
        };
        // Small steps keep the examples simple: at most three new phenomena at a time.
        let best = (0..4000u64).max_by_key(|&index| (gain(index, &mut workspace).min(3), u64::MAX - index));
        let Some(best) = best else { break };
        let pair = sampler.pair(best, &mut workspace);
        let names: Vec<String> = pair.phenomena().iter().map(|&name| name.to_owned()).collect();
        missing.retain(|name| !names.contains(name));
        chosen.push(best);
    }
    let mut next = 0;
    while chosen.len() < PAIRS {
        if !chosen.contains(&next) {
            chosen.push(next);
        }
        next += 1;
    }
    let mut out = String::new();
    for (number, &index) in chosen.iter().enumerate() {
        let mut pair = sampler.pair(index, &mut workspace);
        let (number, names) = (number + 1, pair.phenomena().join(", "));
        out += &format!("### {number}. Pair {index}: {names}\n\n```text\n");
        out +=
            &format!("{}\n{}\n{}\n{}\n", pair.source(), pair.target(), pair.source_tree(), pair.alignment());
        out += "```\n\n";
    }
    out
}
