//! The native half of the Python package `sylvan`.
//!
//! ```text
//! Python call --GIL let go, a thread of its own--> library crates --> frozen objects
//!      ^--- messages, signals ---+
//! ```
//!
//! Every file is one thing that people import: models (`model.rs`, `translation.rs`), training (`train.rs`), word links
//! (`aligner.rs`), n-gram models (`lm.rs`), metrics (`metrics.rs`), parsers (`parser.rs`), words (`text.rs`), the built-in
//! corpus (`sample.rs`). Objects never
//! change after they were made, so threads may share them.

mod aligner;
mod errors;
mod lm;
mod metrics;
mod model;
mod parser;
mod pickled;
mod running;
mod sample;
mod text;
mod train;
mod translation;

use pyo3::prelude::*;

/// What `import sylvan` finds; `sylvan/__init__.py` gives it its names.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    running::end_silently();
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    let error = py.get_type::<errors::Error>();
    // Those that have no place, and those that others make.
    error.setattr("file", py.None())?;
    error.setattr("line", py.None())?;
    module.add("Error", error)?;
    module.add_class::<model::Model>()?;
    module.add_class::<translation::Translation>()?;
    module.add_class::<translation::Explanation>()?;
    module.add_class::<model::Correction>()?;
    module.add_class::<train::Trained>()?;
    module.add_class::<aligner::Aligner>()?;
    module.add_class::<lm::Lm>()?;
    module.add_class::<metrics::Score>()?;
    module.add_class::<metrics::Comparison>()?;
    module.add_class::<parser::Parser>()?;
    module.add_class::<parser::Tree>()?;
    module.add_class::<parser::Dependencies>()?;
    module.add_function(wrap_pyfunction!(model::reopen, module)?)?;
    module.add_function(wrap_pyfunction!(translation::remake, module)?)?;
    module.add_function(wrap_pyfunction!(train::train, module)?)?;
    module.add_function(wrap_pyfunction!(sample::sample, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::bleu, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::chrf, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::ter, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::compare, module)?)?;
    module.add_function(wrap_pyfunction!(text::tokenize, module)?)?;
    module.add_function(wrap_pyfunction!(text::detokenize, module)?)?;
    Ok(())
}
