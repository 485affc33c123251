//! A structured language model as a file: a parser, or probabilities.

use std::path::Path;

use sylvan_base::Result;
use sylvan_store::{Container, Name, kind_of};

use super::{Generative, Perceptron, generative};
use crate::model::{self, Parser};

/// A structured language model.
#[derive(Debug, Clone)]
pub enum StructuredLm {
    /// A parser's own weights.
    Perceptron(Box<Perceptron>),
    /// Probabilities.
    Generative(Box<Generative>),
}

impl StructuredLm {
    /// Whether a file is one, by what it says of itself: a parser may be one that does not work word by word.
    pub fn is_one(path: &Path) -> bool {
        kind_of(path).is_some_and(|kind| [generative::KIND, model::KIND].contains(&kind))
    }

    /// Opens a file of either kind.
    pub fn open(path: &Path) -> Result<Self> {
        if kind_of(path) == Some(model::KIND) {
            return Self::of_parser(|| Container::open(path, model::KIND, model::OLDEST..=model::VERSION));
        }
        let file = Container::open(path, generative::KIND, generative::VERSION..=generative::VERSION)?;
        Ok(Self::Generative(Box::new(Generative::from_container(file)?)))
    }

    /// Opens one that is a section of a larger file, in place.
    pub fn inside(file: &Container, section: Name) -> Result<Self> {
        if file.kind_of_part(section) == Some(model::KIND) {
            return Self::of_parser(|| file.part(section, model::KIND, model::OLDEST..=model::VERSION));
        }
        let part = file.part(section, generative::KIND, generative::VERSION..=generative::VERSION)?;
        Ok(Self::Generative(Box::new(Generative::from_container(part)?)))
    }

    fn of_parser(open: impl Fn() -> Result<Container>) -> Result<Self> {
        let parser = Parser::from_container(open()?)?;
        let found = format!("a {} parser that does not work word by word", parser.kind().name());
        let expected =
            "a structured language model, or a dependency parser that looks at most one word ahead";
        match Perceptron::new(parser) {
            Some(perceptron) => Ok(Self::Perceptron(Box::new(perceptron))),
            None => Err(open()?.bad(found, expected.to_string())),
        }
    }
}
