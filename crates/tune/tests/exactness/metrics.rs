//! Mixtures of metrics.

use sylvan_eval::{Bleu, Chrf, Metric, Ribes, Ter, Tokenizer, Workspace};
use sylvan_tune::Mixture;

const TEXT: [(&str, &str); 2] = [("a b c d e f", "a b c d f g"), ("x y z z u", "x z y u")];

/// The metric of the whole text.
fn value<M: Metric>(metric: &M) -> f64 {
    let mut workspace = Workspace::default();
    let lines: Vec<M::Stats> =
        TEXT.iter().map(|(line, reference)| metric.line(line, &[reference], &mut workspace)).collect();
    let mut total = metric.sum(&lines);
    // Taken out and put in again.
    total -= lines[0];
    total += lines[0];
    metric.value(&total)
}

#[test]
fn a_mixture_is_the_weighted_mean_of_its_parts() {
    let bleu = Bleu { tokenizer: Tokenizer::None, ..Bleu::default() };
    let ribes = Ribes { tokenizer: Tokenizer::None, ..Ribes::default() };
    let parts = [value(&bleu), 100.0 - value(&Ter::default()), value(&Chrf::default()), value(&ribes)];
    assert!(parts.iter().all(|part| *part > 1.0 && *part < 99.0), "{parts:?}");
    for (text, weights) in [
        ("bleu", [1.0, 0.0, 0.0, 0.0]),
        ("ter:2", [0.0, 2.0, 0.0, 0.0]),
        ("chrf", [0.0, 0.0, 1.0, 0.0]),
        ("ribes:0.5", [0.0, 0.0, 0.0, 0.5]),
        ("bleu:3,ter", [3.0, 1.0, 0.0, 0.0]),
        ("ribes:2,chrf:3", [0.0, 0.0, 3.0, 2.0]),
        ("ter:2,chrf:2", [0.0, 2.0, 2.0, 0.0]),
        ("bleu,ter,ribes", [1.0, 1.0, 0.0, 1.0]),
        ("chrf,ribes", [0.0, 0.0, 1.0, 1.0]),
        ("bleu:1,ter:2,chrf:3,ribes:4", [1.0, 2.0, 3.0, 4.0]),
    ] {
        let mixture = Mixture::parse(text, Tokenizer::None).unwrap();
        let sum: f64 = weights.iter().zip(parts).map(|(weight, part)| weight * part).sum();
        let wanted = sum / weights.iter().sum::<f64>();
        assert!((value(&mixture) - wanted).abs() < 1e-9, "{text}");
        assert_eq!(mixture.only_bleu(), (text == "bleu").then_some(bleu), "{text}");
    }
    // Without any weight there is no score.
    let none = Mixture { bleu: (bleu, 0.0), ..Mixture::default() };
    assert_eq!((value(&none), none.name().as_str(), none.signature(1).as_str()), (0.0, "", ""));
}

#[test]
fn a_mixture_names_the_parts_that_count() {
    let mixture = Mixture::parse("bleu:3,ter", Tokenizer::None).unwrap();
    assert_eq!(mixture.name(), "3 BLEU + 1 TER");
    let (bleu, ter) = (mixture.bleu.0.signature(2), mixture.ter.0.signature(2));
    assert_eq!(mixture.signature(2), format!("3*({bleu}) + 1*({ter})"));
    assert!(bleu.contains("nrefs:2") && bleu.contains("tok:none"), "{bleu}");
    let mixture = Mixture::parse("ribes,chrf:2", Tokenizer::Char).unwrap();
    assert_eq!(mixture.name(), format!("2 {} + 1 {}", mixture.chrf.0.name(), mixture.ribes.0.name()));
    assert_eq!((mixture.bleu.0.tokenizer, mixture.ribes.0.tokenizer), (Tokenizer::Char, Tokenizer::Char));
    for wrong in ["blue", "bleu:", "bleu:-1", "bleu:0", "bleu:inf", "bleu:NaN", "", "ter,"] {
        let fault = Mixture::parse(wrong, Tokenizer::None).unwrap_err();
        assert!(fault.found.starts_with("the metric ") && fault.column == 0, "{wrong}: {fault:?}");
    }
}
