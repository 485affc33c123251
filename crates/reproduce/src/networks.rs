//! Networks, each trained once.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use sylvan_base::hash::{content_hash, fold};
use sylvan_decode::{Error, Result};
use sylvan_neural::train::{Config, train};
use sylvan_neural::{NeuralModel, Reader, Size};
use sylvan_store::{Output, read_lines};
use sylvan_train::Learnt;

use crate::content::hash;
use crate::corpora::Corpus;
use crate::lab::Lab;
use crate::measured::Measured;
use crate::system::{Extra, Kind};

/// A network that was trained on a corpus, and how many minutes that took.
#[derive(Debug, Clone)]
pub(crate) struct Trained {
    pub(crate) path: PathBuf,
    pub(crate) minutes: f64,
}

/// A network of the usual size, of as many pairs (0 for all); of the built-in corpus a tiny one.
pub(crate) fn network(lab: &Lab<'_>, corpus: Corpus, pairs: usize, seed: u64) -> Result<Trained> {
    let learnt = lab.learn_with(corpus, Kind::Hiero, &Extra { pairs, ..Extra::default() })?;
    let usual = Config::default();
    let tiny = corpus == Corpus::Sample;
    let config = Config {
        train: learnt.train,
        dev: [learnt.dev.source, learnt.dev.target],
        size: if tiny { Size { width: 32, inner: 64, heads: 2, encoder: 1, decoder: 1 } } else { usual.size },
        epochs: if tiny { Some(3) } else { usual.epochs },
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
        let of = if pairs == 0 { String::new() } else { format!(", {pairs} pairs") };
        (lab.say)(&format!("training a network, {}{of}, seed {seed}", corpus.title()));
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

/// Histories of the search with a network alone.
pub(crate) const BEAM: usize = 5;

/// What a network makes of the text to report on without rules.
pub(crate) fn alone(lab: &Lab<'_>, trained: &Trained, learnt: &Learnt) -> Result<Measured> {
    let Some(text) = &learnt.holdout else { return Ok(Measured::default()) };
    let key = fold(fold(hash(&trained.path)?, hash(&text.source)?), BEAM as u64);
    let texts = lab.once("alone", key, || {
        let reader = Arc::new(Reader::new(Arc::new(NeuralModel::open(&trained.path)?)));
        let lines = read_lines(&text.source)?;
        lab.progress.begin("the network alone", Some(lines.len() as u64));
        let texts = sylvan_base::parallel::map(
            &lines,
            lab.threads,
            || (),
            |(), number, line| {
                lab.progress.at(number as u64);
                reader.translate(line, BEAM)
            },
        );
        lab.progress.end();
        Ok(texts)
    })?;
    Ok(Measured { texts, ..Measured::default() })
}
