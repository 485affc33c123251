//! The network: learnt from the words of the two texts.

use sylvan_neural::Size;
use sylvan_neural::train::{Config, train};

use crate::run::Run;
use crate::work::Stage;
use sylvan_decode::{Error, Result};

pub(crate) fn run(run: &mut Run<'_>, say: &mut dyn FnMut(&str)) -> Result<()> {
    if !run.config.neural {
        return Ok(());
    }
    let network = run.work.file("neural");
    let width = run.config.neural_width;
    let config = Config {
        train: [run.text_to_learn_once().source.clone(), run.text_to_learn_once().target.clone()],
        dev: [run.dev.source.clone(), run.dev.target.clone()],
        out: network.clone(),
        size: Size { width, inner: 4 * width, ..Size::default() },
        epochs: run.config.neural_epochs,
        seed: run.config.seed,
        threads: run.threads,
        ..Config::default()
    };
    let stage = Stage {
        name: "neural",
        inputs: config.train.iter().chain(&config.dev).map(std::path::PathBuf::as_path).collect(),
        settings: config.settings(),
        outputs: vec![&network],
    };
    let progress = run.progress;
    run.work.run(&stage, say, |say| {
        train(&config, progress, &mut |epoch| say(&format!("  {epoch}"))).map_err(Error::from)
    })?;
    run.neural = Some(network);
    Ok(())
}
