//! What training needs to go on where it was interrupted, kept beside its result after each pass.

use std::path::PathBuf;

use sylvan_base::hash::{content_hash, fold};
use sylvan_base::{InputError, Result};
use sylvan_store::{Container, ContainerWriter, Name, name};

use super::{Adam, Config};
use crate::network::Pair;
use crate::parameters::{Layout, Parameters};

const KIND: Name = name("nntrain");
/// Of a file that lasts as long as a training: there are no older ones to be read.
const FORM: u32 = 1;

#[derive(Debug)]
pub(super) struct State {
    pub(super) epoch: u32,
    pub(super) epochs_since_best: u32,
    /// The lowest loss of the other text.
    pub(super) best: f64,
    pub(super) parameters: Parameters,
    pub(super) adam: Adam,
}

/// Where it is kept.
fn path(config: &Config) -> PathBuf {
    let mut name = config.out.as_os_str().to_os_string();
    name.push(".state");
    PathBuf::from(name)
}

/// What training depends on: another text or setting begins anew. How long it goes on is not part of it.
fn stamp(config: &Config, train: &[Pair]) -> u64 {
    let Config { size, units, batch, dropout, unread, smoothing, pace, seed, .. } = config;
    let settings = format!("{size:?} {units:?} {batch} {dropout} {unread} {smoothing} {pace:?} {seed}");
    let mut stamp = content_hash(settings.as_bytes());
    for unit in train.iter().flat_map(|pair| pair.source.iter().chain(&pair.target)) {
        stamp = fold(stamp, u64::from(*unit));
    }
    stamp
}

impl State {
    pub(super) fn new(parameters: Parameters) -> Self {
        let adam = Adam::new(&parameters.values);
        Self { epoch: 0, epochs_since_best: 0, best: f64::INFINITY, parameters, adam }
    }

    /// What an interrupted training left.
    pub(super) fn resume(config: &Config, layout: &Layout, train: &[Pair]) -> Result<Option<Self>> {
        let path = path(config);
        if !path.exists() || !config.out.exists() {
            return Ok(None);
        }
        let file = Container::open(&path, KIND, FORM..=FORM)?;
        let section = |name| -> Result<Vec<f32>> { Ok(file.section::<f32>(name)?.to_vec()) };
        let numbers = file.section::<u64>(name("numbers"))?;
        let &[stamped, epoch, since, best, steps] = numbers else { return Ok(None) };
        if stamped != stamp(config, train) {
            return Ok(None);
        }
        let adam = Adam {
            steps,
            first: section(name("first"))?,
            second: section(name("second"))?,
            mean: section(name("mean"))?,
        };
        let values = section(name("values"))?;
        if [&values, &adam.first, &adam.second, &adam.mean].iter().any(|part| part.len() != layout.len()) {
            return Ok(None);
        }
        Ok(Some(Self {
            epoch: epoch as u32,
            epochs_since_best: since as u32,
            best: f64::from_bits(best),
            parameters: Parameters { layout: layout.clone(), values },
            adam,
        }))
    }

    pub(super) fn keep(&self, config: &Config, train: &[Pair]) -> Result<()> {
        let mut file = ContainerWriter::create(&path(config), KIND, FORM, 5)?;
        let (epoch, since) = (u64::from(self.epoch), u64::from(self.epochs_since_best));
        let numbers = [stamp(config, train), epoch, since, self.best.to_bits(), self.adam.steps];
        file.section(name("numbers"), &numbers)?;
        file.section(name("values"), &self.parameters.values)?;
        file.section(name("first"), &self.adam.first)?;
        file.section(name("second"), &self.adam.second)?;
        file.section(name("mean"), &self.adam.mean)?;
        file.finish()
    }

    /// Nothing is left to go on with.
    pub(super) fn done(&self, config: &Config) -> Result<()> {
        let path = path(config);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(InputError::io(path, "remove")(error))
            }
            _ => Ok(()),
        }
    }
}
