//! Training a constituency parser.

use sylvan_base::{Progress, Symbol, Vocab};
use sylvan_trees::{HeadRules, Tree};

use super::passes::Passes;
use super::{News, Prepared, Report, TrainConfig, TrainError, tag_all};
use crate::constituency::labels::{Counts, Labels};
use crate::constituency::oracle::{self, Plan};
use crate::constituency::system::{ConstituencySystem, Sentence};
use crate::eval::brackets::BracketScore;
use crate::lexicon::Word;
use crate::machine::beam::Update;
use crate::machine::{Example, LearnConfig, Rows};
use crate::model::{Body, Parser};

/// The tag of words that stand beside nodes.
const NO_TAG: &str = "_";

/// Trains a parser from trees that are cleaned of wrappers, traces and function tags.
pub fn train_constituency(
    train: &[Tree],
    dev: &[Tree],
    rules: &HeadRules,
    vocab: &mut Vocab,
    config: &TrainConfig,
    progress: &dyn Progress,
    report: Report<'_>,
) -> Result<Parser, TrainError> {
    let plans: Vec<Plan> = train.iter().map(|tree| Plan::of(tree, vocab)).collect();
    let prepared = {
        let text = |symbol: Option<Symbol>| symbol.map_or(NO_TAG, |symbol| vocab.text(symbol));
        let sentence = |tree: &Tree, tags: &[Option<Symbol>]| {
            let words = tree.words().iter().map(|&word| vocab.text(word));
            words.zip(tags.iter().map(|&tag| text(tag).into())).collect::<Vec<_>>()
        };
        let train: Vec<_> = train.iter().zip(&plans).map(|(tree, plan)| sentence(tree, &plan.tags)).collect();
        let dev: Vec<_> = dev.iter().map(|tree| sentence(tree, &Plan::of(tree, vocab).tags)).collect();
        Prepared::new(&train, &dev)?
    };
    let (tagger, accuracy) = prepared.tagger(config, progress, report);
    let tags = prepared.jackknife(config, progress, report);

    let mut counts = Counts::default();
    for (tree, plan) in train.iter().zip(&plans) {
        plan.count(tree, &mut counts);
    }
    let labels = Labels::new(&counts);
    let mut examples = Vec::with_capacity(train.len());
    for (index, (tree, plan)) in train.iter().zip(&plans).enumerate() {
        if let Some(gold) = plan.actions(tree, &rules.heads(tree, vocab), &labels) {
            let sentence = Sentence::new(&prepared.train[index].words, &tags[index]);
            examples.push(Example { sentence, gold });
        }
    }
    report(News::Line(&format!(
        "{} labels; {} trees, {} of them with labels too rare to learn",
        labels.len(),
        train.len(),
        train.len() - examples.len()
    )));
    drop(tags);

    let system = ConstituencySystem { labels };
    let dev_words: Vec<&[Word]> = prepared.dev.iter().map(|tagged| &tagged.words[..]).collect();
    let dev_tags = tag_all(&tagger, &dev_words, false, config.threads);
    let tag_symbols: Vec<Symbol> = prepared.tags.own().iter().map(|tag| vocab.intern(tag)).collect();
    let dev_sentences: Vec<Sentence> =
        dev_words.iter().zip(&dev_tags).map(|(words, tags)| Sentence::new(words, tags)).collect();
    let f1 = |actions: &[Vec<u8>]| {
        let mut score = BracketScore::default();
        for ((tree, actions), tags) in dev.iter().zip(actions).zip(&dev_tags) {
            let tags: Vec<Symbol> = tags.iter().map(|&tag| tag_symbols[usize::from(tag)]).collect();
            let found = oracle::build(actions, &system.labels, tree.words(), &tags, vocab);
            let same = score.add(tree, found.as_ref(), vocab);
            debug_assert_eq!(same, Ok(()), "the words are the same");
        }
        score.f1()
    };
    let learning = LearnConfig {
        beam: config.beam,
        epochs: config.epochs,
        batch: 8,
        threads: config.threads,
        update: Update::MaxViolation { horizon: 24 },
        warm_up: 0,
        patience: 3,
        least: 0.02,
        room: config.size.saturating_sub(tagger.rows.bytes()),
        members: config.members,
        seed: 7,
    };
    let assemble = |rows: Rows, figure: Option<f64>| {
        let mut notes = vec![
            ("training trees".to_string(), examples.len().to_string()),
            ("labels".to_string(), system.labels.len().to_string()),
        ];
        if let Some(figure) = figure {
            notes.push(("held-out tag accuracy".to_string(), format!("{accuracy:.2}")));
            notes.push((format!("held-out F1, beam {}", config.beam), format!("{figure:.2}")));
        }
        let body = Body::Constituency { system: Box::new(system.clone()), rows };
        let (lexicon, tags) = (prepared.lexicon.clone(), prepared.tags.clone());
        Parser { lexicon, tags, tagger: tagger.clone(), body, conventions: config.conventions.clone(), notes }
    };
    let passes = Passes { system: &system, examples: &examples, held_out: &dev_sentences, figure: "F1" };
    Ok(passes.run(&learning, config, progress, report, f1, assemble))
}
