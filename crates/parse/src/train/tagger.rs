//! Training a tagger alone.

use sylvan_base::{Progress, Vocab};
use sylvan_trees::DependencyTree;

use super::{Prepared, Report, TrainConfig, TrainError};
use crate::model::{Body, Parser};

/// The words and tags of a sentence: the treebank's own ones, the universal ones where there are none.
pub(crate) fn tagged<'a>(tree: &DependencyTree, vocab: &'a Vocab) -> Vec<(&'a str, &'a str)> {
    let tag = |word: &sylvan_trees::DependencyWord| match vocab.text(word.xpos) {
        "_" => vocab.text(word.upos),
        own => own,
    };
    tree.words().iter().map(|word| (vocab.text(word.form), tag(word))).collect()
}

/// Trains a tagger of the treebank's own tags.
pub fn train_tagger(
    train: &[DependencyTree],
    dev: &[DependencyTree],
    vocab: &Vocab,
    config: &TrainConfig,
    progress: &dyn Progress,
    report: Report<'_>,
) -> Result<Parser, TrainError> {
    let sentences =
        |trees: &[DependencyTree]| trees.iter().map(|tree| tagged(tree, vocab)).collect::<Vec<_>>();
    let prepared = Prepared::new(&sentences(train), &sentences(dev))?;
    let (tagger, accuracy) = prepared.tagger(config, progress, report);
    let notes = vec![
        ("training sentences".to_string(), train.len().to_string()),
        ("held-out tag accuracy".to_string(), format!("{accuracy:.2}")),
    ];
    Ok(Parser { lexicon: prepared.lexicon, tags: prepared.tags, tagger, body: Body::Nothing, notes })
}
