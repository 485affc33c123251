//! proto
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

#[path = "../tests/reference/mod.rs"]
mod reference;

use std::time::Instant;

use reference::Reference;
use sylvan::Translator;
use sylvan_search::{Beam, Effort, exact};

fn cpu() -> f64 {
    let s = std::fs::read_to_string("/proc/self/schedstat").unwrap();
    s.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1e9
}

fn main() {
    let mut times = Vec::new();
    let Some(Reference { model, trees, defaults, .. }) = Reference::load() else { return };
    let t = Instant::now();
    println!("bounds in {:?}", t.elapsed());
    let translator = Translator::with_defaults(&model, defaults);
    let args: Vec<usize> = std::env::args().skip(1).filter_map(|w| w.parse().ok()).collect();
    let (from, to, beam, limit) = (args[0], args[1], args[2], args[3] as u64);
    let mut proven = 0;
    for (i, tree) in trees.iter().enumerate().take(to).skip(from) {
        let forest = translator.forest(tree);
        let c0 = cpu();
        let t = Instant::now();
        let c = exact(&forest, translator.scorer(), Effort { joins: limit, beam: Beam(beam) }, &mut || cpu() - c0 > 3.0).unwrap();
        let t2 = cpu() - c0;
        times.push((c.proven, t2, c.joins));
        proven += usize::from(c.proven);
        println!("{i} edges {} best {:.4} ub {:.4} proven {} cpu {t2:.3}", forest.edge_ids().len(), c.best.as_ref().unwrap().score, c.upper_bound, c.proven);
        for t in c.rounds {
            println!("   {t:.4?}");
        }
    }
    for limit in [0.1, 0.5, 1.0, 2.0, 5.0, 10.0] {
        println!("proven within {limit}: {}", times.iter().filter(|t| t.0 && t.1 <= limit).count());
    }
    println!("proven {proven} cpu {:.1}", times.iter().map(|t| t.1).sum::<f64>());
}
