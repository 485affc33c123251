//! Training a dependency parser.

use sylvan_base::{Progress, Vocab};
use sylvan_trees::{DependencyTree, Head, projective};

use super::tagger::tagged;
use super::{News, Prepared, Report, TrainConfig, TrainError, by_frequency, in_parallel, tag_all};
use crate::dependency::relations::{RelationSystem, Tree as Arcs};
use crate::dependency::system::{DependencySystem, Sentence, heads, oracle};
use crate::lexicon::Word;
use crate::machine::beam::Update;
use crate::machine::{Example, LearnConfig, Rows, Search, learn};
use crate::model::{Body, Parser, Relations};

/// Trains a parser from dependency trees. Crossing arcs are lifted; trees with missing heads are left out.
pub fn train_dependency(
    train: &[DependencyTree],
    dev: &[DependencyTree],
    vocab: &Vocab,
    config: &TrainConfig,
    progress: &dyn Progress,
    report: Report<'_>,
) -> Result<Parser, TrainError> {
    let train: Vec<&DependencyTree> = train.iter().filter(|tree| tree.is_complete()).collect();
    let dev: Vec<&DependencyTree> = dev.iter().filter(|tree| tree.is_complete()).collect();
    let sentences =
        |trees: &[&DependencyTree]| trees.iter().map(|tree| tagged(tree, vocab)).collect::<Vec<_>>();
    let prepared = Prepared::new(&sentences(&train), &sentences(&dev))?;
    let (tagger, accuracy) = prepared.tagger(config, progress, report);
    let tags = prepared.jackknife(config, progress, report);

    let system = DependencySystem { templates: config.templates, lookahead: config.window };
    let names = by_frequency(train.iter().flat_map(|tree| tree.words()).map(|word| vocab.text(word.deprel)));
    // What is too rare to have a number is named like the most frequent relation.
    let names: Vec<String> = names.into_iter().take(255).collect();
    let number = |name: &str| names.iter().position(|known| known == name).unwrap_or(0) as u8;
    let mut examples = Vec::with_capacity(train.len());
    let mut arcs = Vec::with_capacity(train.len());
    let mut lifted = 0;
    for (index, tree) in train.iter().enumerate() {
        let (tree, changed) = projective(tree);
        lifted += usize::from(changed > 0);
        let heads = heads_of(&tree);
        let words = &prepared.train[index].words;
        if let Some(gold) = oracle(&heads) {
            examples.push(Example { sentence: Sentence::new(words, &tags[index]), gold });
        }
        let named = tree.words().iter().map(|word| number(vocab.text(word.deprel))).collect();
        arcs.push(Example { sentence: Arcs::new(words, &tags[index], &heads), gold: named });
    }
    report(News::Line(&format!(
        "{} trees, {lifted} of them with crossing arcs; {} relations",
        train.len(),
        names.len()
    )));

    let dev_words: Vec<&[Word]> = prepared.dev.iter().map(|tagged| &tagged.words[..]).collect();
    let dev_tags = tag_all(&tagger, &dev_words, config.tags_alone, config.threads);
    let dev_sentences: Vec<Sentence> =
        dev_words.iter().zip(&dev_tags).map(|(words, tags)| Sentence::new(words, tags)).collect();
    let dev_heads: Vec<Vec<Option<u32>>> = dev.iter().map(|tree| heads_of(tree)).collect();
    let mut epochs_so_far = 0.0;
    let mut judge = |rows: &Rows| -> f64 {
        if dev.is_empty() {
            // Nothing to judge by: the last epoch wins.
            epochs_so_far += 1.0;
            return epochs_so_far;
        }
        let found = in_parallel(&dev_sentences, config.threads, Search::new, |search, sentence| {
            search.run(&system, rows, sentence, config.beam);
            heads(&search.actions(search.beam[0]), sentence.length)
        });
        let pairs = || found.iter().flatten().zip(dev_heads.iter().flatten());
        let right = pairs().filter(|(found, gold)| found == gold).count();
        right as f64 * 100.0 / pairs().count().max(1) as f64
    };
    let learning = LearnConfig {
        beam: config.beam,
        epochs: config.epochs,
        batch: 8,
        threads: config.threads,
        update: Update::MaxViolation { horizon: 60 },
        patience: 3,
        least: 0.02,
        seed: 5,
    };
    // Relations first: they do not depend on the parser, and every parser of an epoch is then whole.
    let relation_system = RelationSystem { relations: names.len() };
    let naming = LearnConfig { beam: 1, epochs: RELATION_EPOCHS, ..learning.clone() };
    let mut epoch = 0.0;
    let last_wins = |_: &Rows| {
        epoch += 1.0;
        epoch
    };
    let named = learn(&relation_system, &arcs, &naming, "relations", progress, last_wins, |_, _| {});
    let relations = Relations { system: relation_system, names, rows: named.within(config.size / 5) };
    let room = config.size.saturating_sub(tagger.rows.bytes() + relations.rows.bytes());
    let assemble = |rows: Rows, figure: f64| {
        let mut notes = vec![("training trees".to_string(), examples.len().to_string())];
        if !dev.is_empty() {
            notes.push(("held-out tag accuracy".to_string(), format!("{accuracy:.2}")));
            notes.push((format!("held-out UAS, beam {}", config.beam), format!("{figure:.2}")));
        }
        let body = Body::Dependency {
            system: system.clone(),
            rows,
            relations: relations.clone(),
            tags_alone: config.tags_alone,
        };
        let (lexicon, tags) = (prepared.lexicon.clone(), prepared.tags.clone());
        Parser { lexicon, tags, tagger: tagger.clone(), body, notes }
    };
    let rows = learn(&system, &examples, &learning, "parser", progress, &mut judge, |epoch, rows| {
        report(News::Line(&format!(
            "parser epoch {:>2}: {:>6} sentences wrong, UAS {:.2}",
            epoch.number, epoch.updates, epoch.figure
        )));
        if epoch.best {
            report(News::Better(&assemble(rows.within(room), epoch.figure)));
        }
    });
    // Without the smallest weights it is another parser: its own figure counts.
    let rows = rows.within(room);
    let figure = judge(&rows);
    Ok(assemble(rows, figure))
}

const RELATION_EPOCHS: usize = 4;

/// The heads of a complete tree.
fn heads_of(tree: &DependencyTree) -> Vec<Option<u32>> {
    let head = |word: &sylvan_trees::DependencyWord| match word.head {
        Head::Word(head) => Some(head),
        Head::Root | Head::Missing => None,
    };
    tree.words().iter().map(head).collect()
}
