//! Parsers and their trees.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::PyList;
use sylvan_base::limits::SENTENCE_WORDS;
use sylvan_base::{Vocab, parallel};
use sylvan_parse::{
    Kind, News, Parser as Native, TrainConfig, Workspace, train_constituency, train_dependency, train_tagger,
    treebank,
};
use sylvan_trees::{Child, NodeId, Tree as NativeTree, escape};

use crate::errors::Refused;
use crate::model::Lines;
use crate::pickled;
use crate::running::run;
use crate::text::file;

const MOST_STATES: usize = u32::MAX as usize;

/// A constituent: a label, and children that are constituents or words.
#[pyclass(frozen, module = "sylvan", eq)]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tree {
    /// Its label.
    #[pyo3(get)]
    label: String,
    children: Vec<Branch>,
    /// Of a whole sentence: the parser's score; only differences mean something.
    #[pyo3(get)]
    score: Option<i64>,
}

#[derive(Debug, Clone, PartialEq)]
enum Branch {
    Node(Tree),
    Word(String),
}

impl Tree {
    fn of(tree: &NativeTree, vocab: &Vocab) -> Self {
        // Children are made before their parents, so deep trees need no deep stack.
        let mut made: Vec<Option<Self>> = Vec::with_capacity(tree.len());
        for node in tree.nodes() {
            let mut children = Vec::new();
            for child in tree.children(node) {
                match child {
                    Child::Node(below) => {
                        let below: &NodeId = below;
                        children.extend(made[below.0 as usize].take().map(Branch::Node));
                    }
                    Child::Leaf(word) => {
                        let word = vocab.text(tree.words()[*word as usize]);
                        children.push(Branch::Word(word.to_string()));
                    }
                }
            }
            let label = vocab.text(tree.label(node)).to_string();
            made.push(Some(Self { label, children, score: None }));
        }
        let root = tree.root().0 as usize;
        made.get_mut(root).and_then(Option::take).unwrap_or(Self {
            label: String::new(),
            children: Vec::new(),
            score: None,
        })
    }
}

impl Drop for Tree {
    /// Without recursion: a parser may make trees of any depth.
    fn drop(&mut self) {
        let mut below = std::mem::take(&mut self.children);
        while let Some(branch) = below.pop() {
            if let Branch::Node(mut tree) = branch {
                below.append(&mut tree.children);
            }
        }
    }
}

/// What is still to be written of a tree.
enum Open<'t> {
    Branch(&'t Branch),
    End,
}

#[pymethods]
impl Tree {
    /// Constituents and words.
    #[getter]
    fn children<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for child in &self.children {
            match child {
                Branch::Node(tree) => list.append(Bound::new(py, tree.clone())?)?,
                Branch::Word(word) => list.append(word)?,
            }
        }
        Ok(list)
    }

    /// The words.
    fn leaves(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut open: Vec<&Branch> = self.children.iter().rev().collect();
        while let Some(branch) = open.pop() {
            match branch {
                Branch::Word(word) => words.push(word.clone()),
                Branch::Node(tree) => open.extend(tree.children.iter().rev()),
            }
        }
        words
    }

    /// In Penn brackets.
    fn __str__(&self) -> String {
        let mut out = format!("({}", escape(&self.label));
        let mut open: Vec<Open<'_>> = vec![Open::End];
        open.extend(self.children.iter().rev().map(Open::Branch));
        while let Some(next) = open.pop() {
            match next {
                Open::End => out.push(')'),
                Open::Branch(Branch::Word(word)) => out.push_str(&format!(" {}", escape(word))),
                Open::Branch(Branch::Node(tree)) => {
                    out.push_str(&format!(" ({}", escape(&tree.label)));
                    open.push(Open::End);
                    open.extend(tree.children.iter().rev().map(Open::Branch));
                }
            }
        }
        out
    }

    fn __repr__(&self) -> String {
        format!("Tree({:?})", self.__str__())
    }

    fn __len__(&self) -> usize {
        self.children.len()
    }
}

/// Words with parts of speech and, of a dependency parser, heads and relations.
#[pyclass(frozen, module = "sylvan", eq, get_all)]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Dependencies {
    /// The words.
    words: Vec<String>,
    /// Their parts of speech, as the treebank calls them.
    tags: Vec<String>,
    /// Their universal parts of speech.
    universal: Vec<String>,
    /// The number of each word's head, counted from 0; None for the root, and of a tagger for all.
    heads: Vec<Option<u32>>,
    /// Relations to the heads.
    relations: Vec<String>,
}

#[pymethods]
impl Dependencies {
    /// As CoNLL-U.
    fn __str__(&self) -> String {
        let mut out = String::new();
        for (at, word) in self.words.iter().enumerate() {
            let (head, relation) = match self.relations.get(at) {
                Some(relation) => (self.heads[at].map_or(0, |head| head + 1).to_string(), relation.as_str()),
                None => ("_".to_string(), "_"),
            };
            let (tag, universal) = (&self.tags[at], &self.universal[at]);
            out += &format!("{}\t{word}\t_\t{universal}\t{tag}\t_\t{head}\t{relation}\t_\t_\n", at + 1);
        }
        out
    }

    fn __len__(&self) -> usize {
        self.words.len()
    }

    fn __repr__(&self) -> String {
        format!("Dependencies({:?})", self.words.join(" "))
    }
}

/// A tagger, or a parser of constituents or dependencies.
#[pyclass(frozen, module = "sylvan")]
#[derive(Debug)]
pub(crate) struct Parser {
    parser: Native,
    file: Option<pickled::File>,
}

/// What a sentence becomes.
enum Made {
    /// Best first.
    Trees(Vec<Tree>),
    Dependencies(Dependencies),
}

impl Parser {
    fn read(path: &Path) -> Result<Self, Refused> {
        let file = pickled::File::new(path)?;
        Ok(Self { parser: Native::open(file.path())?, file: Some(file) })
    }

    fn parse_words(&self, words: &[&str], beam: usize, nbest: usize, workspace: &mut Workspace) -> Made {
        if self.parser.kind() == Kind::Constituency {
            let mut vocab = Vocab::new();
            let parsed = self.parser.constituents(words, beam.max(nbest), nbest, &mut vocab, workspace);
            let trees = parsed.iter().map(|one| {
                let mut tree = Tree::of(&one.tree, &vocab);
                tree.score = Some(one.score);
                tree
            });
            return Made::Trees(trees.collect());
        }
        let parsed = self.parser.dependencies(words, beam, None, workspace);
        let numbers = match &parsed {
            Some(parsed) => parsed.tags.clone(),
            None => self.parser.tag_numbers(words, workspace),
        };
        let name = |number: &u8| self.parser.tags()[usize::from(*number)].to_string();
        let relation = |number: &u8| self.parser.relations()[usize::from(*number)].to_string();
        Made::Dependencies(Dependencies {
            words: words.iter().map(ToString::to_string).collect(),
            tags: numbers.iter().map(name).collect(),
            universal: numbers.iter().map(|tag| self.parser.universal_tag(*tag).to_string()).collect(),
            heads: parsed.as_ref().map_or(vec![None; words.len()], |parsed| parsed.heads.clone()),
            relations: parsed.iter().flat_map(|parsed| parsed.relations.iter().map(relation)).collect(),
        })
    }

    /// What is given back for a sentence: a tree or a list of them, dependencies, None for a line without words.
    fn shown<'py>(py: Python<'py>, made: Made, nbest: Option<usize>) -> PyResult<Bound<'py, PyAny>> {
        match (made, nbest) {
            (Made::Dependencies(found), _) => Ok(Bound::new(py, found)?.into_any()),
            (Made::Trees(trees), Some(_)) => trees.into_pyobject(py),
            (Made::Trees(trees), None) => match trees.into_iter().next() {
                Some(tree) => Ok(Bound::new(py, tree)?.into_any()),
                None => Ok(py.None().into_bound(py)),
            },
        }
    }
}

#[pymethods]
impl Parser {
    /// Opens a parser.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| Self::read(&path)).map_err(PyErr::from)
    }

    /// Learns from treebanks: Penn brackets, CoNLL-U or Egret forests. Kinds: constituency, dependency, tagger.
    #[staticmethod]
    #[pyo3(signature = (treebanks, *, kind="constituency", dev=Vec::new(), epochs=None, members=None, threads=None, on_progress=None))]
    #[allow(clippy::too_many_arguments)]
    fn train(
        py: Python<'_>,
        treebanks: Vec<PathBuf>,
        kind: &str,
        dev: Vec<PathBuf>,
        epochs: Option<usize>,
        members: Option<usize>,
        threads: Option<usize>,
        on_progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let [treebanks, dev] = [treebanks, dev].map(|paths| paths.into_iter().map(file).collect::<Vec<_>>());
        let kind = match kind {
            "constituency" => Kind::Constituency,
            "dependency" => Kind::Dependency,
            "tagger" => Kind::Tagger,
            other => {
                return Err(Refused::setting("kind", other, "constituency, dependency or tagger").into());
            }
        };
        for (name, given) in [("epochs", epochs), ("members", members)] {
            if given == Some(0) {
                return Err(Refused::setting(name, "0", "at least 1").into());
            }
        }
        let count = crate::running::threads(threads);
        run(py, on_progress, |reporter| {
            let usual = TrainConfig::default();
            let config = TrainConfig {
                epochs: epochs.unwrap_or(usual.epochs),
                members: members.unwrap_or(if kind == Kind::Dependency { 3 } else { 2 }),
                threads: count,
                conventions: treebank::conventions(&treebanks)?,
                ..usual
            };
            let mut vocab = Vocab::new();
            let mut hear = |news: News<'_>| {
                if let News::Line(line) = news {
                    reporter.say(line);
                }
            };
            let refused = |error: sylvan_parse::TrainError| Refused::new(error.to_string());
            let parser = match kind {
                Kind::Constituency => {
                    let mut read = |paths: &[PathBuf]| -> Result<Vec<NativeTree>, Refused> {
                        let mut trees = Vec::new();
                        for path in paths {
                            trees
                                .extend(treebank::read_constituents(path, &mut vocab)?.into_iter().flatten());
                        }
                        Ok(trees)
                    };
                    let (train, dev) = (read(&treebanks)?, read(&dev)?);
                    let rules = treebank::head_rules(&train, &vocab);
                    train_constituency(&train, &dev, &rules, &mut vocab, &config, reporter, &mut hear)
                        .map_err(refused)?
                }
                other => {
                    let mut read = |paths: &[PathBuf]| -> Result<Vec<sylvan_trees::DependencyTree>, Refused> {
                        let mut trees = Vec::new();
                        for path in paths {
                            trees.extend(treebank::read_dependencies(path, &mut vocab)?);
                        }
                        Ok(trees)
                    };
                    let (train, dev) = (read(&treebanks)?, read(&dev)?);
                    match other {
                        Kind::Tagger => train_tagger(&train, &dev, &vocab, &config, reporter, &mut hear),
                        _ => train_dependency(&train, &dev, &vocab, &config, reporter, &mut hear),
                    }
                    .map_err(refused)?
                }
            };
            Ok(Self { parser, file: None })
        })
    }

    /// Writes the parser to a file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        Ok(py.detach(|| self.parser.write(&path)).map_err(Refused::from)?)
    }

    /// constituency, dependency or tagger.
    #[getter]
    fn kind(&self) -> &'static str {
        self.parser.kind().name()
    }

    /// Parses a sentence, whose words spaces separate, or each of several. With `nbest`, lists of trees.
    #[pyo3(signature = (text, *, beam=16, nbest=None, threads=None))]
    fn parse<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        beam: usize,
        nbest: Option<usize>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        for (name, given) in [("beam", Some(beam)), ("nbest", nbest)] {
            // As much as the program takes.
            if let Some(given) = given.filter(|given| !(1..=MOST_STATES).contains(given)) {
                let expected = format!("1 to {MOST_STATES}");
                return Err(Refused::setting(name, &given.to_string(), &expected).into());
            }
        }
        let given = Lines::read(text)?;
        let lines = match &given {
            Lines::One(line) => std::slice::from_ref(line),
            Lines::Many(lines) => lines.as_slice(),
        };
        if let Some(long) = lines.iter().find(|line| line.split_ascii_whitespace().count() > SENTENCE_WORDS) {
            let found = format!("{} words", long.split_ascii_whitespace().count());
            return Err(Refused::setting("a sentence", &found, &format!("at most {SENTENCE_WORDS}")).into());
        }
        let count = crate::running::threads(threads);
        let made: Vec<Made> = run(py, None, |reporter| {
            let parsed = parallel::map(lines, count, Workspace::new, |workspace, _, line: &String| {
                if reporter.is_over() {
                    return None;
                }
                let words: Vec<&str> = line.split_ascii_whitespace().collect();
                Some(self.parse_words(&words, beam, nbest.unwrap_or(1), workspace))
            });
            reporter.look();
            Ok(parsed.into_iter().flatten().collect())
        })?;
        let mut shown = made.into_iter().map(|made| Self::shown(py, made, nbest));
        match given {
            Lines::One(_) => shown.next().unwrap_or_else(|| Ok(py.None().into_bound(py))),
            Lines::Many(_) => Ok(PyList::new(py, shown.collect::<PyResult<Vec<_>>>()?)?.into_any()),
        }
    }

    fn __repr__(&self) -> String {
        format!("Parser({})", self.parser.kind().name())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (PathBuf, u64))> {
        let this = slf.get();
        let state = slf.py().detach(|| pickled::file(this.file.as_ref())).map_err(PyErr::from)?;
        Ok((slf.get_type().getattr("_reopen")?, state))
    }

    #[staticmethod]
    fn _reopen(py: Python<'_>, path: PathBuf, content: u64) -> PyResult<Self> {
        py.detach(|| {
            pickled::check(&path, content)?;
            Self::read(&path)
        })
        .map_err(PyErr::from)
    }
}
