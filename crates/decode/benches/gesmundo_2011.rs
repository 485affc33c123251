//! Figures 2 to 6 of Gesmundo & Henderson 2011: undirected search against cube pruning at equal beams.
//!
//! `cargo bench -p sylvan-decode --bench gesmundo_2011 -- RULES LM WEIGHTS TEXT NATS [figure2] [optimum] [figure5] [figure6] [BEAM..]`; NATS
//! is what is expected of a missing word, as `sylvan fit --plain --what word` finds it. Rows are named by the options of
//! the program; `b` is the beam.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

mod measure;

use std::path::PathBuf;
use std::sync::Arc;

use measure::{Duel, Measured, mean, search};
use sylvan_decode::{Input, List, Model, Sentence, With, Worker};
use sylvan_rules::Weights;
use sylvan_search::{Beam, Effort, OutForest, Search, Stop};
use sylvan_store::TextReader;

const BEAMS: [usize; 5] = [1, 2, 4, 8, 16];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let [rules, lm, weights, text, nats, figures @ ..] = arguments.as_slice() else {
        println!("expected RULES LM WEIGHTS TEXT NATS after --");
        return;
    };
    let weights = Weights::read(&mut TextReader::open(weights.as_ref()).unwrap()).unwrap();
    let (model, _) = Model::open_parts(rules.as_ref(), &[PathBuf::from(lm)], &weights).unwrap();
    let mut worker = Worker::new(Arc::new(model));
    let lines = sylvan_store::read_lines(text.as_ref()).unwrap();
    let mut read = |line: &String| worker.read(line, Input::Text, With::default()).unwrap();
    let sentences: Vec<Sentence> = lines.iter().filter_map(&mut read).collect();
    let beams: Vec<usize> = figures.iter().filter_map(|word| word.parse().ok()).collect();
    let beams = if beams.is_empty() { BEAMS.to_vec() } else { beams };
    let wanted = |figure: &str| figures.is_empty() || figures.iter().any(|word| word == figure);
    println!("{} sentences of {text}, {nats} nats per missing word", sentences.len());
    if wanted("figure2") {
        let optimum = if wanted("optimum") { proven(&mut worker, &sentences) } else { Vec::new() };
        figures_2_to_4(&mut worker, &sentences, nats, &optimum, &beams);
    }
    if wanted("figure5") {
        figure_5(&mut worker, &sentences, nats, &beams);
    }
    if wanted("figure6") {
        figure_6(&mut worker, &sentences, nats);
    }
}

/// Who finds the better translation, and by how much: cube pruning, all combinations from the bottom up, undirected
/// search with and without contexts, and bounded. The optimum where it is proven.
fn figures_2_to_4(
    worker: &mut Worker,
    sentences: &[Sentence],
    nats: &str,
    optimum: &[Option<f64>],
    beams: &[usize],
) {
    let wide = Measured::of(worker, sentences, search("refine", 500));
    let certain = optimum.iter().flatten().count();
    let reached = |scores: &[f64]| {
        let best =
            scores.iter().zip(optimum).filter(|(score, best)| best.is_some_and(|best| best < *score + 1e-4));
        100.0 * best.count() as f64 / certain.max(1) as f64
    };
    let row = |name: &str, beam: usize, found: &Measured, cube: &Measured| {
        let (duel, refine) = (Duel::of(&found.scores, &cube.scores), Duel::of(&found.scores, &wide.scores));
        let (share, columns) = (reached(&found.scores), found.columns());
        println!("| {name} | {beam} | {} | {} | {share:.0} | {columns} |", duel.percent(), refine.percent());
    };
    println!("\noptimum: percent of the {certain} sentences where it is proven\n");
    println!(
        "| search | b | against cube, percent better/equal/worse | against refine 500 | optimum | score | LM queries | items | ms |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for &beam in beams {
        let cube = Measured::of(worker, sentences, search("cube --pops b", beam));
        row("cube --pops b", beam, &cube, &cube);
        for parents in ["none", "new", "all"] {
            let name = format!("undirected --plain --parents {parents}");
            let options = format!("{name} --missing-word {nats}");
            row(&name, beam, &Measured::of(worker, sentences, search(&options, beam)), &cube);
        }
        row("cube --plain", beam, &Measured::of(worker, sentences, search("cube --plain", beam)), &cube);
    }
    for beam in [32, 64, 256, 500] {
        let cube = Measured::of(worker, sentences, search("cube --pops b", beam));
        row("cube --pops b", beam, &cube, &cube);
        row("undirected", beam, &Measured::of(worker, sentences, search("undirected", beam)), &cube);
    }
    row("refine", 500, &wide, &wide);
}

/// The best score there is, where that is proven with moderate effort.
fn proven(worker: &mut Worker, sentences: &[Sentence]) -> Vec<Option<f64>> {
    let exact = Search::Exact(Beam(500), Effort { joins: 2_000_000 });
    let best = sentences.iter().map(|sentence| {
        let found = worker.decode(sentence, With::default(), exact, List::default(), &Stop::NEVER);
        (found.gap == Some(0.0)).then(|| found.hypotheses[0].score)
    });
    best.collect()
}

/// How much is explored: nodes and arcs of the out-forest, all and those that a translation uses.
fn figure_5(worker: &mut Worker, sentences: &[Sentence], nats: &str, beams: &[usize]) {
    println!("\n| search | b | nodes | arcs | nodes in use | arcs in use | LM queries |");
    println!("|---|---|---|---|---|---|---|");
    for &beam in beams {
        let paper = format!("undirected --plain --missing-word {nats}");
        let enough = format!("{paper} --enough 1");
        for name in ["cube --pops b", &paper, &enough] {
            let mut sizes = [0.0; 5];
            for sentence in sentences {
                let list = List { best: 2, ..List::default() };
                let found = worker.decode(sentence, With::default(), search(name, beam), list, &Stop::NEVER);
                let [all, used] = found.out.as_ref().map_or([[0; 2]; 2], size);
                for (sum, value) in sizes.iter_mut().zip([all[0], all[1], used[0], used[1]]) {
                    *sum += value as f64 / sentences.len() as f64;
                }
                sizes[4] += found.counters.lm_queries as f64 / sentences.len() as f64;
            }
            println!("| {name} | {beam} | {} |", sizes.map(|size| format!("{size:.0}")).join(" | "));
        }
    }
}

/// Nodes and arcs: all, and those below the goal.
fn size(out: &OutForest) -> [[usize; 2]; 2] {
    let arcs = (0..out.nodes()).map(|node| out.arcs(node).len()).sum();
    let mut seen = vec![false; out.nodes()];
    let mut open = vec![out.goal()];
    let mut used = [0; 2];
    while let Some(node) = open.pop() {
        if std::mem::replace(&mut seen[node], true) {
            continue;
        }
        used[0] += 1;
        used[1] += out.arcs(node).len();
        open.extend(out.arcs(node).iter().flat_map(|arc| out.tails(arc)).map(|&tail| tail as usize));
    }
    [[out.nodes(), arcs], used]
}

/// Time against length.
fn figure_6(worker: &mut Worker, sentences: &[Sentence], nats: &str) {
    println!("\n| search | b | words | sentences | score | LM queries | items | ms |");
    println!("|---|---|---|---|---|---|---|---|");
    let paper = format!("undirected --plain --missing-word {nats}");
    let bounded = format!("{paper} --bounded");
    let enough = format!("{bounded} --enough 1");
    let rows = [
        (paper.as_str(), 8),
        (&bounded, 8),
        (&enough, 8),
        ("cube --pops b", 16),
        ("cube --pops b", 64),
        ("cube --pops b", 256),
        ("undirected", 64),
        ("undirected", 256),
    ];
    let lengths = [(1, 10), (11, 20), (21, 30), (31, 40), (41, 60), (61, 1000)];
    for (name, beam) in rows {
        let mut points = Vec::new();
        for (least, most) in lengths {
            let some: Vec<&Sentence> =
                sentences.iter().filter(|s| (least..=most).contains(&s.words.len())).collect();
            if some.is_empty() {
                continue;
            }
            let found = Measured::of(worker, &some, search(name, beam));
            println!("| {name} | {beam} | {least} to {most} | {} | {} |", some.len(), found.columns());
            points.push((mean(some.iter().map(|s| s.words.len() as f64)).ln(), found.time().ln()));
        }
        if let [.., from, to] = points.as_slice() {
            let first = points.iter().find(|point| point.0 > 2.9).unwrap_or(from);
            println!(
                "| | | slope from {:.0} to {:.0} words: {:.2} | | | | | |",
                first.0.exp(),
                to.0.exp(),
                (to.1 - first.1) / (to.0 - first.0)
            );
        }
    }
}
