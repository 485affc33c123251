//! Symmetrisation against the tool `atools`, whose answers on 10,000 random pairs are frozen here as hashes; with
//! SYLVAN_ATOOLS naming the program, its answers are compared line by line.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::io::Write as _;

use sylvan_align::{Heuristic, symmetrize};
use sylvan_base::Rng;
use sylvan_base::hash::content_hash;
use sylvan_corpus::{Alignment, Base, Link};

/// Links as two aligners make them: one source word for most target words, and the reverse.
fn random_links(rng: &mut Rng, source: usize, target: usize) -> [Vec<Link>; 2] {
    let mut forward = Vec::new();
    let mut reverse = Vec::new();
    for j in 0..target {
        if rng.chance(0.85) {
            let near = (j * source / target + rng.below(3)).saturating_sub(1).min(source - 1);
            let i = if rng.chance(0.8) { near } else { rng.below(source) };
            forward.push(Link::new(i as u32, j as u32));
        }
    }
    for i in 0..source {
        if rng.chance(0.85) {
            let near = (i * target / source + rng.below(3)).saturating_sub(1).min(target - 1);
            let j = if rng.chance(0.8) { near } else { rng.below(target) };
            reverse.push(Link::new(i as u32, j as u32));
        }
    }
    forward.sort_unstable();
    [forward, reverse]
}

fn pairs() -> Vec<[Vec<Link>; 2]> {
    let mut rng = Rng::new(2024);
    (0..10_000)
        .map(|_| {
            let (source, target) = (1 + rng.below(20), 1 + rng.below(20));
            random_links(&mut rng, source, target)
        })
        .collect()
}

fn text(links: &[Link]) -> String {
    Alignment::new(links.to_vec(), Vec::new()).to_string()
}

/// Name for us, name for atools, hash of atools' output.
const CASES: [(&str, &str, u64); 5] = [
    ("intersection", "intersect", 6921777718196480797),
    ("union", "union", 3460778479212352970),
    ("grow-diag", "grow-diag", 689051396562112179),
    ("grow-diag-final", "grow-diag-final", 8807200511141455006),
    ("grow-diag-final-and", "grow-diag-final-and", 2790720298882777482),
];

#[test]
fn ten_thousand_random_pairs_equal_atools() {
    let pairs = pairs();
    let (mut hashes, mut expected) = (Vec::new(), Vec::new());
    for (ours, theirs, frozen) in CASES {
        let heuristic: Heuristic = ours.parse().unwrap();
        let mut lines = String::new();
        for [forward, reverse] in &pairs {
            writeln!(lines, "{}", text(&symmetrize(forward, reverse, heuristic))).unwrap();
        }
        if let Some(program) = std::env::var_os("SYLVAN_ATOOLS") {
            let dir = tempfile::tempdir().unwrap();
            let files = ["forward", "reverse"].map(|name| dir.path().join(name));
            for (which, path) in files.iter().enumerate() {
                let mut file = std::fs::File::create(path).unwrap();
                for pair in &pairs {
                    writeln!(file, "{}", text(&pair[which])).unwrap();
                }
            }
            let run = std::process::Command::new(program)
                .args(["-c", theirs, "-i"])
                .arg(&files[0])
                .arg("-j")
                .arg(&files[1])
                .output()
                .unwrap();
            let answers = String::from_utf8(run.stdout).unwrap();
            let mut compared = 0;
            for (number, (found, expected)) in lines.lines().zip(answers.lines()).enumerate() {
                // Its links stand in an order of their own.
                let expected = Alignment::parse(expected, Base::Zero).unwrap().to_string();
                assert_eq!(found, expected, "{ours}, pair {number}");
                compared += 1;
            }
            assert_eq!(compared, pairs.len());
        }
        hashes.push((ours, content_hash(lines.as_bytes())));
        expected.push((ours, frozen));
    }
    assert_eq!(hashes, expected);
}

#[test]
fn heuristics_contain_each_other_as_they_should() {
    let contains = |large: &[Link], small: &[Link]| small.iter().all(|link| large.contains(link));
    for [forward, reverse] in pairs().iter().take(2000) {
        let get = |name: &str| symmetrize(forward, reverse, name.parse().unwrap());
        let (both, all) = (get("intersection"), get("union"));
        let grown = get("grow-diag");
        assert!(contains(&grown, &both));
        for name in ["grow-diag-final", "grow-diag-final-and"] {
            let links = get(name);
            assert!(contains(&links, &grown) && contains(&all, &links), "{name}");
        }
        // One-to-one links out of the union.
        let nested = get("itg");
        assert!(contains(&all, &nested));
        for (a, link) in nested.iter().enumerate() {
            assert!(
                nested[a + 1..]
                    .iter()
                    .all(|other| other.source != link.source && other.target != link.target)
            );
        }
        let flip = |links: &[Link]| {
            let mut flipped: Vec<Link> =
                links.iter().map(|link| Link::new(link.target, link.source)).collect();
            flipped.sort_unstable();
            flipped
        };
        for name in ["intersection", "union"] {
            let swapped = symmetrize(&flip(reverse), &flip(forward), name.parse().unwrap());
            assert_eq!(flip(&swapped), get(name), "{name}");
        }
    }
}
