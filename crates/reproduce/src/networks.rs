//! Networks, each trained once.

use std::path::PathBuf;
use std::time::Instant;

use sylvan_base::hash::{content_hash, fold};
use sylvan_decode::{Error, Result};
use sylvan_neural::Size;
use sylvan_neural::train::{Config, train};
use sylvan_store::Output;

use crate::corpora::Corpus;
use crate::lab::{Kind, Lab, hash};

/// A network that was trained on a corpus, and how many minutes that took.
#[derive(Debug, Clone)]
pub(crate) struct Trained {
    pub(crate) path: PathBuf,
    pub(crate) minutes: f64,
}

/// A network of the usual size; of the built-in corpus a tiny one.
pub(crate) fn network(lab: &Lab<'_>, corpus: Corpus, seed: u64) -> Result<Trained> {
    let learnt = lab.learn(corpus, Kind::Hiero)?;
    let usual = Config::default();
    let tiny = corpus == Corpus::Sample;
    let config = Config {
        train: learnt.train,
        dev: [learnt.dev.source, learnt.dev.target],
        size: if tiny { Size { width: 32, inner: 64, heads: 2, encoder: 1, decoder: 1 } } else { usual.size },
        epochs: if tiny { 3 } else { usual.epochs },
        batch: if tiny { 300 } else { usual.batch },
        seed,
        threads: lab.threads,
        ..usual
    };
    let mut key = content_hash(config.settings().as_bytes());
    for path in config.train.iter().chain(&config.dev) {
        key = fold(key, hash(path)?);
    }
    let path = lab.kept("networks", key);
    let minutes = path.with_extension("minutes");
    // Training writes the best network so far; how long it took is written when it is over.
    if !minutes.exists() {
        (lab.say)(&format!("training a network, {}, seed {seed}", corpus.title()));
        let begun = Instant::now();
        let config = Config { out: path.clone(), ..config };
        train(&config, lab.progress, &mut |epoch| (lab.say)(&format!("  {epoch}"))).map_err(Error::from)?;
        let mut out = Output::create(&minutes)?;
        out.line(&format!("{:.1}", begun.elapsed().as_secs_f64() / 60.0))?;
        out.finish()?;
    }
    let took = std::fs::read_to_string(&minutes).ok().and_then(|text| text.trim().parse().ok());
    Ok(Trained { path, minutes: took.unwrap_or(f64::NAN) })
}
