//! Training a dependency parser.

use sylvan_base::{Progress, Vocab, parallel};
use sylvan_trees::{DependencyTree, Head, projective};

use super::passes::Passes;
use super::tagger::tagged;
use super::{News, Prepared, Report, TrainConfig, TrainError, by_frequency, tag_all};
use crate::dependency::aside::{Aside, Divided};
use crate::dependency::attach::{self, Attaching};
use crate::dependency::guess::guess;
use crate::dependency::relations::{RelationSystem, Tree as Arcs};
use crate::dependency::system::{DependencySystem, Sentence, heads, oracle};
use crate::lexicon::Word;
use crate::machine::beam::Update;
use crate::machine::{Example, LearnConfig, Rows, Search, learn};
use crate::model::{Body, Parser, Relations};

const RELATION_EPOCHS: usize = 4;
/// Greedy passes before the beam.
const WARM_UP: usize = 5;
const FOLDS: usize = 4;
/// Greedy passes of the backward parsers of the folds and of the one for all, and passes with the beam after them.
const FOLD_WARM_UP: usize = 3;
const BACKWARD_WARM_UP: usize = 4;
const BACKWARD_EPOCHS: usize = 2;
const ASIDE_EPOCHS: usize = 5;
/// A tag is put aside when at least this share of its words is punctuation.
const PUNCTUATION: f64 = 0.9;

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
    let trees = Trees::new(&train, &prepared, tags, &names, vocab);
    report(News::Line(&format!(
        "{} trees, {} of them with crossing arcs; {} relations",
        train.len(),
        trees.lifted,
        names.len()
    )));
    let learning = LearnConfig {
        beam: config.beam,
        epochs: config.epochs,
        batch: 8,
        threads: config.threads,
        update: if config.beam == 1 { Update::Local } else { Update::MaxViolation { horizon: 60 } },
        warm_up: if config.beam == 1 { 0 } else { WARM_UP },
        patience: 3,
        least: 0.02,
        room: config.size,
        members: config.members,
        seed: 5,
    };
    let mut aside = Aside::nothing();
    if system.looks_around() {
        aside.relations = trees.punctuation(&prepared, &names);
    }
    let divided = trees.divide(&aside);
    let relation_system = RelationSystem { relations: names.len() };
    let named = trees.naming(&divided, &relation_system, &learning, progress);
    let relations = Relations { system: relation_system, names, rows: named };
    let mut examples = trees.parsing(&divided, &prepared);
    let mut backwards = None;
    if system.looks_around() {
        let first = Backwards::learn(&system, &examples, &learning, progress);
        if !aside.relations.is_empty() {
            aside.rows = trees.attaching(&divided, &first.found, &relations, &learning);
        }
        for (example, heads) in examples.iter_mut().zip(&first.found) {
            example.sentence = example.sentence.clone().with_guess(heads);
        }
        backwards = Some(first.rows);
    }
    let dev_words: Vec<&[Word]> = prepared.dev.iter().map(|tagged| &tagged.words[..]).collect();
    let dev_tags = tag_all(&tagger, &dev_words, config.tags_alone, config.threads);
    let dev_divided: Vec<Divided> =
        dev_words.iter().zip(&dev_tags).map(|(words, tags)| aside.divide(words, tags)).collect();
    let sentence =
        |index: usize| dev_divided[index].sentence(dev_words[index], &dev_tags[index], &prepared.tags);
    let held_out: Vec<Sentence> = match &backwards {
        None => (0..dev.len()).map(sentence).collect(),
        Some(rows) => (0..dev.len())
            .map(|index| {
                let sentence = sentence(index);
                let heads = guess(&system, rows, &sentence, config.beam, &mut Search::new());
                sentence.with_guess(&heads)
            })
            .collect(),
    };
    let dev_heads: Vec<Vec<Option<u32>>> = dev.iter().map(|tree| heads_of(tree)).collect();
    // Words that are put aside are not counted: that takes a tree with names.
    let uas = |actions: &[Vec<u8>]| {
        let (mut right, mut all) = (0, 0);
        for ((actions, divided), gold) in actions.iter().zip(&dev_divided).zip(&dev_heads) {
            let found = heads(actions, divided.kept.len());
            let among_all = |head: Option<u32>| head.map(|head| divided.kept[head as usize]);
            let gold = divided.of(gold);
            right += found.iter().zip(&gold).filter(|&(&found, &gold)| among_all(found) == gold).count();
            all += gold.len();
        }
        right as f64 * 100.0 / all.max(1) as f64
    };
    let assemble = |rows: Rows, figure: Option<f64>| {
        let mut notes = vec![("training trees".to_string(), examples.len().to_string())];
        if let Some(figure) = figure {
            notes.push(("held-out tag accuracy".to_string(), format!("{accuracy:.2}")));
            notes.push((
                format!("held-out UAS without what is put aside, beam {}", config.beam),
                format!("{figure:.2}"),
            ));
        }
        let body = Body::Dependency {
            system: system.clone(),
            rows,
            relations: Box::new(relations.clone()),
            aside: Box::new(aside.clone()),
            backwards: backwards.clone(),
            tags_alone: config.tags_alone,
        };
        let (lexicon, tags) = (prepared.lexicon.clone(), prepared.tags.clone());
        let parser = Parser {
            lexicon,
            tags,
            tagger: tagger.clone(),
            body,
            conventions: config.conventions.clone(),
            notes,
        };
        parser.with_usual_scores(examples.iter().map(|example| &example.sentence))
    };
    let others = tagger.rows.bytes()
        + relations.rows.bytes()
        + aside.rows.bytes()
        + backwards.as_ref().map_or(0, Rows::bytes);
    let learning = LearnConfig { room: config.size.saturating_sub(others), ..learning };
    let passes = Passes { system: &system, examples: &examples, held_out: &held_out, figure: "UAS" };
    Ok(passes.run(&learning, config, progress, report, uas, assemble))
}

/// The training trees in numbers.
struct Trees<'a> {
    words: Vec<&'a [Word]>,
    /// As a tagger that has not seen them finds them.
    tags: Vec<Vec<u8>>,
    heads: Vec<Vec<Option<u32>>>,
    relations: Vec<Vec<u8>>,
    /// Trees whose arcs crossed.
    lifted: usize,
}

impl<'a> Trees<'a> {
    fn new(
        train: &[&DependencyTree],
        prepared: &'a Prepared,
        tags: Vec<Vec<u8>>,
        names: &[String],
        vocab: &Vocab,
    ) -> Self {
        let number = |name: &str| names.iter().position(|known| known == name).unwrap_or(0) as u8;
        let words = prepared.train.iter().map(|tagged| &tagged.words[..]).collect();
        let mut trees = Self { words, tags, heads: Vec::new(), relations: Vec::new(), lifted: 0 };
        for tree in train {
            let (tree, changed) = projective(tree);
            trees.lifted += usize::from(changed > 0);
            trees.heads.push(heads_of(&tree));
            trees.relations.push(tree.words().iter().map(|word| number(vocab.text(word.deprel))).collect());
        }
        trees
    }

    /// Per tag the relation of its words, plus 1, if it is a tag of punctuation.
    fn punctuation(&self, prepared: &Prepared, names: &[String]) -> Vec<u8> {
        let mut counts = vec![[0u64; 2]; prepared.tags.len()];
        let Some(punctuation) = names.iter().position(|name| name == "punct") else { return Vec::new() };
        for (tagged, relations) in prepared.train.iter().zip(&self.relations) {
            for (&tag, &relation) in tagged.tags.iter().zip(relations) {
                counts[usize::from(tag)][usize::from(usize::from(relation) == punctuation)] += 1;
            }
        }
        let is = |[other, mark]: [u64; 2]| mark as f64 >= (other + mark) as f64 * PUNCTUATION && mark > 0;
        counts.into_iter().map(|counts| if is(counts) { punctuation as u8 + 1 } else { 0 }).collect()
    }

    fn divide(&self, aside: &Aside) -> Vec<Divided> {
        self.words.iter().zip(&self.tags).map(|(words, tags)| aside.divide(words, tags)).collect()
    }

    /// Learns to attach what is put aside, to trees that are as good and as bad as those it will get.
    fn attaching(
        &self,
        divided: &[Divided],
        heads: &[Vec<Option<u32>>],
        names: &Relations,
        learning: &LearnConfig,
    ) -> Rows {
        let relations: Vec<Vec<u8>> =
            parallel::map(divided, learning.threads, Search::new, |search, index, divided| {
                let (words, tags) = (divided.of(self.words[index]), divided.of(&self.tags[index]));
                let arcs = Arcs::new(&words, &tags, &heads[index], &divided.marks);
                search.run(&names.system, &names.rows, &arcs, 1);
                search.actions(search.beam[0])
            });
        let examples: Vec<_> = (0..divided.len())
            .map(|index| {
                let attaching = Attaching {
                    words: self.words[index],
                    tags: &self.tags[index],
                    divided: &divided[index],
                    heads: &heads[index],
                    relations: &relations[index],
                };
                (attaching, &self.heads[index][..])
            })
            .collect();
        attach::learn(&examples, ASIDE_EPOCHS, learning.least, learning.room / 10)
    }

    /// Learns to name arcs.
    fn naming(
        &self,
        divided: &[Divided],
        system: &RelationSystem,
        learning: &LearnConfig,
        progress: &dyn Progress,
    ) -> Rows {
        let examples: Vec<_> = (0..divided.len())
            .map(|index| {
                let divided = &divided[index];
                let (words, tags) = (divided.of(self.words[index]), divided.of(&self.tags[index]));
                let heads = divided.reduce(&self.heads[index]);
                let sentence = Arcs::new(&words, &tags, &heads, &divided.marks);
                Example { sentence, gold: divided.of(&self.relations[index]) }
            })
            .collect();
        let learning = LearnConfig {
            beam: 1,
            epochs: RELATION_EPOCHS,
            update: Update::MaxViolation { horizon: 60 },
            members: 1,
            warm_up: 0,
            room: learning.room / 5,
            ..learning.clone()
        };
        let mut epoch = 0.0;
        let last_wins = |_: &Rows| {
            epoch += 1.0;
            epoch
        };
        learn(system, &examples, &learning, "relations", progress, last_wins, |_, _| {})
    }

    /// What the parser learns from.
    fn parsing(&self, divided: &[Divided], prepared: &Prepared) -> Vec<Example<Sentence>> {
        let mut examples = Vec::with_capacity(divided.len());
        for (index, divided) in divided.iter().enumerate() {
            let heads = divided.reduce(&self.heads[index]);
            let gold = oracle(&heads).expect("a projective tree stays one without some of its words");
            let sentence = divided.sentence(self.words[index], &self.tags[index], &prepared.tags);
            examples.push(Example { sentence: sentence.with_heads(heads), gold });
        }
        examples
    }
}

/// A parser that reads backwards.
struct Backwards {
    rows: Rows,
    /// Trees of the training sentences by backward parsers that have not seen them.
    found: Vec<Vec<Option<u32>>>,
}

impl Backwards {
    fn learn(
        system: &DependencySystem,
        examples: &[Example<Sentence>],
        learning: &LearnConfig,
        progress: &dyn Progress,
    ) -> Self {
        let turned: Vec<Example<Sentence>> = examples
            .iter()
            .map(|example| {
                let sentence = example.sentence.reversed();
                let gold = oracle(sentence.gold()).expect("a projective tree is one from its end as well");
                Example { sentence, gold }
            })
            .collect();
        let learned = |examples: &[&Example<Sentence>], warm_up: usize, stage: &str| {
            let mut epoch = 0.0;
            let last_wins = |_: &Rows| {
                epoch += 1.0;
                epoch
            };
            // Without a beam all passes are greedy ones.
            let (warm_up, epochs) = match learning.beam {
                1 => (0, warm_up + 1),
                _ => (warm_up, BACKWARD_EPOCHS),
            };
            let own =
                LearnConfig { warm_up, epochs, members: 1, room: learning.room / 4, ..learning.clone() };
            learn(system, examples, &own, stage, progress, last_wins, |_, _| {})
        };
        let mut found = vec![Vec::new(); examples.len()];
        for fold in 0..FOLDS {
            let own = |index: &usize| index % FOLDS == fold;
            let others: Vec<&Example<Sentence>> =
                (0..turned.len()).filter(|index| !own(index)).map(|index| &turned[index]).collect();
            let rows = learned(&others, FOLD_WARM_UP, &format!("backwards {} of {FOLDS}", fold + 1));
            let mine: Vec<usize> = (0..turned.len()).filter(own).collect();
            let parsed = parallel::map(&mine, learning.threads, Search::new, |search, _, &index| {
                guess(system, &rows, &examples[index].sentence, learning.beam, search)
            });
            for (index, heads) in mine.into_iter().zip(parsed) {
                found[index] = heads;
            }
        }
        let all: Vec<&Example<Sentence>> = turned.iter().collect();
        Self { rows: learned(&all, BACKWARD_WARM_UP, "backwards"), found }
    }
}

/// The heads of a complete tree.
fn heads_of(tree: &DependencyTree) -> Vec<Option<u32>> {
    let head = |word: &sylvan_trees::DependencyWord| match word.head {
        Head::Word(head) => Some(head),
        Head::Root | Head::Missing => None,
    };
    tree.words().iter().map(head).collect()
}
