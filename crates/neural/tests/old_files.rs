//! Networks of every version open, and say what they said when they were made, to the last bit, on any processor.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;

use sylvan_neural::{NeuralModel, Reader};

#[test]
fn version_1_opens() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats/backwards-v1.neural");
    let reader = Arc::new(Reader::new(Arc::new(NeuralModel::open(&path).unwrap())));
    assert_eq!(reader.translate("uno tres tres", 1), "tres tres uno");
    assert_eq!(reader.translate("duo quattuor", 5), "quattuor duo");
    let said = reader.score("tres uno tres tres", "tres tres uno tres");
    let shown: Vec<String> = said.iter().map(|value| format!("{value:.6}")).collect();
    assert_eq!(shown, ["-0.009397", "-0.159383", "-0.006474", "-0.241096", "-0.000255"]);
}
