//! The reference search problem, loaded from SYLVAN_DATA: another toolkit's rules, language model and weights.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use sylvan::Model;
use sylvan_base::Vocab;
use sylvan_lm::Lm;
use sylvan_rules::apply::DefaultRules;
use sylvan_rules::{Weights, read_travatar};
use sylvan_store::TextReader;
use sylvan_trees::{Direction, Tree, binarise};

pub struct Reference {
    pub folder: PathBuf,
    pub model: Model,
    pub trees: Vec<Tree>,
    pub defaults: DefaultRules,
}

impl Reference {
    /// `None`, after a loud word, without the data.
    pub fn load() -> Option<Self> {
        let folder = sylvan_testkit::data("travatar-enja")?;
        let dev = sylvan_testkit::data("enja/dev.en.tree")?;
        let open = |name: &str| TextReader::open(&folder.join(name)).unwrap();
        let mut vocab = Vocab::new();
        let mut weights = Weights::read(&mut open("weights")).unwrap();
        let names: Vec<String> = weights.iter().map(|(name, _)| name.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).filter(|&name| name != "lm").collect();
        let grammar = read_travatar(&mut open("rule-table.gz"), &names, &mut vocab).unwrap();
        let lm = Lm::read_arpa(&mut open("ja.5.arpa.gz")).unwrap();
        // Their language-model feature is a base-10 logarithm.
        weights.set("lm", weights.get("lm") / std::f64::consts::LN_10);
        let defaults = DefaultRules::Missing { per_rule: weights.get("unk"), per_word: 0.0 };
        let mut model = Model { vocab, grammar, lm, weights };
        let mut trees = Vec::new();
        for line in lines(&dev) {
            let tree = model.read_tree(&line).unwrap().unwrap();
            trees.push(binarise(&tree, Direction::Right, &mut model.vocab));
        }
        Some(Self { folder, model, trees, defaults })
    }

    /// The other toolkit's model scores.
    pub fn scores(&self, name: &str) -> Vec<f64> {
        lines(&self.folder.join(name)).iter().map(|line| line.trim().parse().unwrap()).collect()
    }
}

pub fn lines(path: &Path) -> Vec<String> {
    let mut reader = TextReader::open(path).unwrap();
    let mut lines = Vec::new();
    while let Some(line) = reader.next_line().unwrap() {
        lines.push(line.to_string());
    }
    lines
}
