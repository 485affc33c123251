//! Grammars with gaps: every search finds what a slow decoder of another hand found.
#![allow(clippy::unwrap_used, unreachable_pub)]

mod vectors;

use sylvan_search::{
    Beam, BoundaryEstimate, BoundaryWords, Cube, Derivations, Future, Missing, NoLanguageModel, Parents,
    Prediction, Undirected, brute_force, cube_pruning, incremental, prediction, refine, undirected,
};
use vectors::vectors;

#[test]
fn every_search_has_the_best_scores_of_the_specification() {
    for (index, vector) in vectors().iter().enumerate() {
        let (forest, lm) = (&vector.forest, vector.lm());
        assert_eq!(Derivations::of(forest).count() as f64, vector.number("derivations"), "{index}");
        let pieces = BoundaryWords::new(&lm);
        let wide = Beam::UNLIMITED;
        let found = [
            brute_force(forest, &lm, 200_000),
            cube_pruning(forest, &pieces, Cube::new(wide)),
            cube_pruning(forest, &pieces, Cube::focused(wide)),
            refine(forest, &pieces, wide),
            incremental(forest, &lm, wide, Future::Inside),
            prediction(forest, &lm, wide, Prediction::default()),
            undirected(forest, &pieces, Undirected::new(wide)),
            undirected(forest, &pieces, Undirected::paper(wide)),
        ];
        let best = vector.number("best_score");
        let words = vector.json["best_words"].as_array().unwrap();
        let words: Vec<&str> = words[1..words.len() - 1].iter().map(|word| word.as_str().unwrap()).collect();
        for (search, found) in found.into_iter().enumerate() {
            let found = found.unwrap();
            assert!((found.score - best).abs() < 1e-6, "{index}, {search}: {} not {best}", found.score);
            assert_eq!(vector.vocab.join(&found.words(forest)), words.join(" "), "{index}, {search}");
        }
        // The specification's own left-to-right decoder, without limits.
        let left_to_right = incremental(forest, &lm, wide, Future::Inside).unwrap().score;
        if let Some(expected) = vector.json["lr_unbounded"].as_f64() {
            assert!((left_to_right - expected).abs() < 1e-6, "{index}: {left_to_right} not {expected}");
        }
        let without = refine(forest, &BoundaryWords::new(&NoLanguageModel), wide).unwrap().score;
        assert!((without - vector.number("viterbi_minus_lm")).abs() < 1e-6, "{index}: {without}");
    }
}

#[test]
fn cube_pruning_keeps_what_the_slow_decoder_kept() {
    for (index, vector) in vectors().iter().enumerate() {
        let (forest, lm) = (&vector.forest, vector.lm());
        let pieces = BoundaryWords::new(&lm);
        for beam in [1, 2, 4] {
            let limits = Cube { pops: beam, boundary: BoundaryEstimate::Local, ..Cube::new(Beam(beam)) };
            let found = cube_pruning(forest, &pieces, limits).unwrap().score;
            let expected = vector.number(&format!("bd_k{beam}"));
            assert!((found - expected).abs() < 1e-6, "{index}, beam {beam}: {found} not {expected}");
        }
    }
}

#[test]
fn undirected_search_takes_what_the_slow_decoder_took() {
    let mut better = [0, 0];
    for (index, vector) in vectors().iter().enumerate() {
        let (forest, lm) = (&vector.forest, vector.lm());
        let pieces = BoundaryWords::new(&lm);
        for beam in [1, 2, 4] {
            let mut scores = Vec::new();
            for (name, parents) in
                [("none", Parents::None), ("literal", Parents::New), ("propagate", Parents::All)]
            {
                // One nat of the model for each word that is missing; its weight is part of the score.
                let missing = Missing::per_word(-vector.number("lambda_lm"));
                let paper = Undirected { parents, missing, ..Undirected::paper(Beam(beam)) };
                let found = undirected(forest, &pieces, paper).unwrap().score;
                let expected = vector.number(&format!("ud_{name}_k{beam}_a-1"));
                assert!(
                    (found - expected).abs() < 1e-6,
                    "{index}, {name}, beam {beam}: {found} not {expected}"
                );
                scores.push(found);
                if parents != Parents::All {
                    let bounded = undirected(forest, &pieces, Undirected { bounded: true, ..paper }).unwrap();
                    assert!((bounded.score - found).abs() < 1e-9, "{index}, {name}, beam {beam}");
                }
            }
            better[0] += usize::from(scores[2] > scores[0] + 1e-6);
            better[1] += usize::from(scores[2] < scores[0] - 1e-6);
        }
    }
    // Contexts change something, in both directions.
    assert!(better[0] > 2 && better[1] > 2, "{better:?}");
}
