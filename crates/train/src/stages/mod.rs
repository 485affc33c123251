//! The stages of training, one file each, and which of them a formalism has.

mod check;
mod class_model;
mod coverage;
mod evaluate;
mod hold_out;
mod language_model;
mod lines;
mod links;
mod neural;
mod pack;
mod parser;
mod report;
mod rules;
mod set_aside;
mod structured;
mod tokenise;
mod trees;
mod truecase;
mod tune;

use std::path::Path;
use std::sync::Arc;

use sylvan_base::{InputError, parallel};
use sylvan_decode::{Input, Model, Sentence, With, Worker};
use sylvan_neural::NeuralModel;
use sylvan_parse::structured::StructuredLm;
use sylvan_rules::{Formalism, Weights};
use sylvan_store::{Output, TextReader};

use crate::run::{Besides, Run};
use sylvan_decode::Result;

/// A stage: reads what it needs from the run, records what it made, reports what happens.
pub(crate) type StageFn = fn(&mut Run<'_>, &mut dyn FnMut(&str)) -> Result<()>;

/// From two texts and trees, or a way to make them, to the parts of a model.
const TREE: [StageFn; 14] = [
    hold_out::run,
    tokenise::run,
    truecase::run,
    check::run,
    coverage::run,
    parser::run,
    trees::run,
    links::run,
    set_aside::run,
    rules::run,
    language_model::run,
    class_model::run,
    structured::run,
    neural::run,
];

/// The same from two texts alone.
const TEXT: [StageFn; 12] = [
    hold_out::run,
    tokenise::run,
    truecase::run,
    check::run,
    coverage::run,
    links::run,
    set_aside::run,
    rules::run,
    language_model::run,
    class_model::run,
    structured::run,
    neural::run,
];

/// From the parts to a tuned model.
pub(crate) const FINISHING: [StageFn; 5] = [tune::run, evaluate::run, lines::run, pack::run, report::run];

/// The stages that make the parts of a model, in order.
pub(crate) fn learning(formalism: Formalism) -> &'static [StageFn] {
    match formalism {
        Formalism::Tree => &TREE,
        _ => &TEXT,
    }
}

/// How many lines are processed at a time.
const CHUNK: usize = 4096;

/// Maps each line of a file, on several threads, and writes the results in order.
fn each_line(
    from: &Path,
    to: &Path,
    threads: usize,
    work: &(dyn Fn(&str) -> String + Sync),
    at: &mut dyn FnMut(u64),
) -> std::result::Result<(), InputError> {
    let mut reader = TextReader::open(from)?.tolerant();
    let mut out = Output::create(to)?;
    loop {
        let mut lines = Vec::with_capacity(CHUNK);
        while lines.len() < CHUNK {
            match reader.next_line()? {
                Some(line) => lines.push(line.to_string()),
                None => break,
            }
        }
        if lines.is_empty() {
            return out.finish();
        }
        for line in parallel::map(&lines, threads, || (), |(), _, line| work(line)) {
            out.line(&line)?;
        }
        at(reader.line_number());
    }
}

/// A model made of what was learnt so far.
fn open_model(rules: &Path, language_model: &Path, besides: &Besides, weights: &Weights) -> Result<Model> {
    let lms: Vec<_> =
        std::iter::once(language_model).chain(besides.classes.as_deref()).map(Path::to_path_buf).collect();
    let (mut model, _) = Model::open_parts(rules, &lms, weights)?;
    if let Some(path) = &besides.structured {
        model = model.with_structured(StructuredLm::open(path)?);
    }
    if let Some(path) = &besides.neural {
        model = model.with_neural(NeuralModel::open(path)?);
    }
    Ok(model.with_unseen(besides.unseen))
}

/// The sentences of a file of trees or of words; none where there is no parse.
fn read_sentences(model: &Arc<Model>, (path, input): (&Path, Input)) -> Result<Vec<Option<Sentence>>> {
    let mut worker = Worker::new(Arc::clone(model));
    let mut reader = TextReader::open(path)?.tolerant();
    let mut sentences = Vec::new();
    while let Some(line) = reader.next_line()? {
        let sentence = worker.read(line, input, With::default());
        let at = reader.line_number();
        sentences.push(sentence.map_err(|unread| unread.at(reader.name(), at))?);
    }
    Ok(sentences)
}

fn write(path: &Path, text: &str) -> Result<()> {
    let mut file = Output::create(path)?;
    file.write(text.as_bytes())?;
    Ok(file.finish()?)
}
