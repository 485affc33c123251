//! The reference search problem, loaded from SYLVAN_DATA: another toolkit's rules, language model and weights, through
//! the same path as `sylvan grammar import` and `sylvan decode`.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sylvan_base::Silent;
use sylvan_decode::{Input, Model, Sentence, SentenceForest, With, Worker};
use sylvan_rules::formats::TextFormat;
use sylvan_rules::{ImportConfig, Preprocessing, Weights, import};
use sylvan_store::{TextReader, read_lines};
use sylvan_trees::{CleanUp, Direction, Root};

pub struct Reference {
    pub folder: PathBuf,
    pub model: Arc<Model>,
    pub sentences: Vec<Sentence>,
}

impl Reference {
    /// `None`, with a message, if the data is missing.
    pub fn load() -> Option<Self> {
        let folder = sylvan_testkit::data("travatar-enja")?;
        let dev = sylvan_testkit::data("enja/dev.en.tree")?;
        let temporary = tempfile::tempdir().unwrap();
        let rules = temporary.path().join("rules");
        let preprocessing = Preprocessing {
            clean_up: CleanUp { root: Root::Keep, ..CleanUp::as_is() },
            binarise: Some(Direction::Right),
            ..Preprocessing::as_is()
        };
        let config = ImportConfig { preprocessing, ..ImportConfig::default() };
        import(&folder.join("rule-table.gz"), TextFormat::Travatar, &rules, &config, &Silent).unwrap();
        let weights = Weights::read(&mut TextReader::open(&folder.join("weights")).unwrap()).unwrap();
        let (model, converted) = Model::open_parts(&rules, &[folder.join("ja.5.arpa.gz")], &weights).unwrap();
        assert!(converted);
        let model = Arc::new(model);
        let mut worker = Worker::new(Arc::clone(&model));
        let read = |line: &String| worker.read(line, Input::Tree, With::default()).unwrap().unwrap();
        let sentences = read_lines(&dev).unwrap().iter().map(read).collect();
        Some(Self { folder, model, sentences })
    }

    /// The other toolkit's model scores.
    pub fn scores(&self, name: &str) -> Vec<f64> {
        lines(&self.folder.join(name)).iter().map(|line| line.trim().parse().unwrap()).collect()
    }

    /// All forests.
    pub fn forests(&self) -> Vec<SentenceForest> {
        let mut worker = Worker::new(Arc::clone(&self.model));
        self.sentences.iter().map(|sentence| worker.forest(sentence, With::default())).collect()
    }
}

pub fn lines(path: &Path) -> Vec<String> {
    read_lines(path).unwrap()
}
