//! Alignment models of every version open, and align as they did when they were made.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use sylvan_align::{Aligner, Bitext, Heuristic, Model, ModelKind, Preset, ReadConfig};
use sylvan_base::Silent;

const PAIR: (&str, &str) =
    ("下个月 我 叔叔 和 杰克 会 见 我 的 邻居 。", "next month my uncle and Jack will meet my neighbour .");

/// What a model says about some words and about a sentence.
fn about(kind: ModelKind, file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats").join(file);
    let model = Model::open(&path).unwrap();
    assert_eq!((model.kind(), model.pairs()), (kind, 8), "{file}");
    let words = [("我", "my"), ("会", "will"), ("。", ".")].map(|(source, target)| {
        let [forward, reverse] = model.translation(source, target).unwrap();
        format!("{forward:.4} {reverse:.4}")
    });
    assert!(model.translation("邻居", "dog").is_none());
    let mut bitext = Bitext::default();
    bitext.push(PAIR.0, PAIR.1, ReadConfig::default()).unwrap();
    let [forward, reverse] = Aligner::scores(&bitext, &model, 1).unwrap()[0];
    let method = Preset::Default.method(8, 1);
    let aligner = Aligner::apply(&bitext, &model, &method, 1, &Silent).unwrap();
    let links = aligner.posteriors(0).unwrap().links(Heuristic::Mean(0.4));
    let links: Vec<String> = links.iter().map(|link| format!("{}-{}", link.source, link.target)).collect();
    let (entries, words, links) = (model.entries(), words.join(", "), links.join(" "));
    format!("{entries} entries; {words}; {forward:.3} {reverse:.3}; {links}")
}

#[test]
fn version_1_of_each_kind_opens() {
    let kinds = [
        (
            ModelKind::Ibm1,
            "align-ibm1-v1.align",
            "188 entries; 0.0000 0.2500, 1.0000 1.0000, 0.3513 0.8001; -31.154 -26.427; 5-6",
        ),
        (
            ModelKind::Diagonal,
            "align-diagonal-v1.align",
            "95 entries; 0.0000 0.1165, 1.0000 1.0000, 1.0000 1.0000; -25.785 -23.001; 0-0 1-1 2-2 3-3 4-4 5-6 7-7 9-8 10-10",
        ),
        (
            ModelKind::Hmm,
            "align-hmm-v1.align",
            "96 entries; 0.0000 0.2222, 1.0000 1.0000, 0.4154 1.0000; -28.115 -26.160; 0-0 2-2 5-6",
        ),
        (
            ModelKind::Fertility,
            "align-fertility-v1.align",
            "123 entries; 0.5007 0.6095, 0.9994 0.8384, 1.0000 1.0000; -12.289 -13.110; 0-0 0-1 1-2 2-3 3-4 4-5 5-6 6-7 7-8 9-9 10-10",
        ),
    ];
    for (kind, file, expected) in kinds {
        assert_eq!(about(kind, file), expected, "{file}");
    }
}
