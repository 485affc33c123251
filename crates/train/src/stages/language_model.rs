//! The language model: estimated from the target text and from more text, if there is any.

use std::path::PathBuf;

use sylvan_lm::{CompileConfig, EstimateConfig, Estimator, LayoutKind, Lm, Marks, Prune};
use sylvan_store::{Output, TextReader};

use crate::run::{Of, Run};
use crate::work::Stage;
use sylvan_decode::{Error, Result};

/// What language models are learnt from.
pub(super) fn texts(run: &Run<'_>, of: Of) -> Vec<PathBuf> {
    std::iter::once(&run.text(of).target).chain(&run.config.lm_text).cloned().collect()
}

/// How they are estimated: of any text, however small.
pub(super) fn estimating(run: &Run<'_>, order: usize) -> EstimateConfig {
    EstimateConfig {
        order,
        fallback: Some([0.5, 1.0, 1.5]),
        prune: Prune::default(),
        marks: Marks::Skip,
        memory: run.config.memory,
        threads: run.threads,
    }
}

pub(crate) fn run(run: &mut Run<'_>, say: &mut dyn FnMut(&str)) -> Result<()> {
    run.texts().try_for_each(|of| learn(run, of, say))
}

fn learn(run: &mut Run<'_>, of: Of, say: &mut dyn FnMut(&str)) -> Result<()> {
    let model = run.language_model(of).to_path_buf();
    let texts = texts(run, of);
    let order = run.config.lm_order;
    let config = estimating(run, order);
    let stage = Stage {
        name: of.name(["lm", "lm-rest"]),
        inputs: texts.iter().map(PathBuf::as_path).collect(),
        settings: order.to_string(),
        outputs: vec![&model],
    };
    let (progress, arpa) = (run.progress, run.work.file("lm.arpa"));
    run.work.run(&stage, say, |_| {
        let mut estimator = Estimator::with_temp(config, &sylvan_lm::temp_folder(&model))?;
        for text in &texts {
            estimator.read(&mut TextReader::open(text)?.tolerant(), progress)?;
        }
        let mut out = Output::create(&arpa)?;
        estimator.write_arpa(&mut out, progress)?;
        out.finish()?;
        let layout = LayoutKind::Hash;
        Lm::open(&arpa)?.compile(&model, CompileConfig { layout, quantize: None, bounds: false })?;
        // Only the compiled model is needed.
        std::fs::remove_file(&arpa).map_err(sylvan_base::InputError::io(&arpa, "remove"))?;
        Ok::<(), Error>(())
    })
}
