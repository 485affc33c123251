//! What some models hold beside their n-grams, by the slots of the layout: bounds (`bounds.rs`) and rest costs
//! (`rest.rs`).

use sylvan_store::Section;

/// Upper bounds: values of the n-grams of each length but the longest. The letters are those of `bounds.rs`.
#[derive(Debug, Clone)]
pub(crate) struct Bounds {
    /// `V`, without the longest n-grams, whose `V` is their probability.
    pub(crate) best: Vec<Section<f32>>,
    /// The maximum in `B`; absent if it is 0 everywhere.
    pub(crate) extra: Option<Vec<Section<f32>>>,
}

/// Rest costs: the guesses for n-grams of length 1, 2, ..
pub(crate) type RestCosts = Vec<Vec<f32>>;
