//! Training a tagger alone.

use sylvan_base::{Progress, Vocab};
use sylvan_trees::DependencyTree;

use super::{Prepared, Report, Tokens, TrainConfig, TrainError};
use crate::model::{Body, Parser};
use crate::tags::pair;

/// The words and tags of a sentence: the treebank's own ones with the universal ones.
pub(crate) fn tagged<'a>(tree: &DependencyTree, vocab: &'a Vocab) -> Vec<Tokens<'a>> {
    let tag = |word: &sylvan_trees::DependencyWord| pair(vocab.text(word.xpos), vocab.text(word.upos));
    tree.words().iter().map(|word| (vocab.text(word.form), tag(word).into())).collect()
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
    let (tagger, accuracy) = prepared.tagger_alone(config, progress, report);
    let mut notes = vec![("training sentences".to_string(), train.len().to_string())];
    notes.extend(accuracy.map(|accuracy| ("held-out tag accuracy".to_string(), format!("{accuracy:.2}"))));
    let (lexicon, tags, conventions) = (prepared.lexicon, prepared.tags, config.conventions.clone());
    Ok(Parser { lexicon, tags, tagger, body: Body::Nothing, conventions, notes })
}
