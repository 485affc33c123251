//! Parsing sentences with a trained parser.

use sylvan_base::{Symbol, Vocab};
use sylvan_trees::{Tree, TreeBuilder};

use crate::constituency::oracle;
use crate::constituency::system::{ConstituencySystem, Node, Sentence};
use crate::dependency::attach::Attaching;
use crate::dependency::guess::guess;
use crate::dependency::relations::Tree as Arcs;
use crate::dependency::system::{self, Item};
use crate::lexicon::Word;
use crate::machine::Search;
use crate::machine::merge::MergingSearch;
use crate::model::{Body, Parser};

/// The memory of one thread, used again for each sentence.
pub struct Workspace {
    tags: Search<u8>,
    nodes: Search<Node>,
    items: Search<Item>,
    merging: MergingSearch<Item>,
}

impl Default for Workspace {
    fn default() -> Self {
        Self::new()
    }
}

impl Workspace {
    /// An empty one.
    pub fn new() -> Self {
        Self {
            tags: Search::new(),
            nodes: Search::new(),
            items: Search::new(),
            merging: MergingSearch::new(),
        }
    }
}

impl std::fmt::Debug for Workspace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Workspace with room for {} states", self.nodes.states.capacity())
    }
}

/// A tree of a sentence with its score.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The tree.
    pub tree: Tree,
    /// The sum of the weights of all decisions, in the model's own unit; only differences mean something.
    pub score: i64,
}

impl Parser {
    /// The numbers of the parts of speech of a sentence.
    pub(crate) fn tag_words(&self, words: &[Word], workspace: &mut Workspace) -> Vec<u8> {
        let alone = matches!(self.body, Body::Dependency { tags_alone: true, .. });
        self.tagger.tag_either(words, alone, &mut workspace.tags)
    }

    /// The parts of speech of a sentence, as numbers of [`Parser::tags`].
    pub fn tag_numbers(&self, words: &[&str], workspace: &mut Workspace) -> Vec<u8> {
        let words = self.atoms(words);
        self.tag_words(&words, workspace)
    }

    /// The parts of speech of a sentence.
    pub fn tag(&self, words: &[&str], workspace: &mut Workspace) -> Vec<&str> {
        let tags = self.tag_numbers(words, workspace);
        tags.into_iter().map(|tag| self.tags.own()[usize::from(tag)].as_str()).collect()
    }

    /// The best constituency trees of a sentence that the beam holds, at most `most`, best first. Their leaves are the
    /// words as they are given, brackets included. None for a sentence without words or a parser of another kind.
    pub fn constituents(
        &self,
        words: &[&str],
        beam: usize,
        most: usize,
        vocab: &mut Vocab,
        workspace: &mut Workspace,
    ) -> Vec<Parsed> {
        let Body::Constituency { system, rows } = &self.body else { return Vec::new() };
        if words.is_empty() {
            return Vec::new();
        }
        let atoms = self.atoms(words);
        let tags = self.tag_words(&atoms, workspace);
        let sentence = Sentence::new(&atoms, &tags);
        let system: &ConstituencySystem = system;
        let search = &mut workspace.nodes;
        search.run(system, rows, &sentence, beam);
        let symbols: Vec<Symbol> = words.iter().map(|word| vocab.intern(word)).collect();
        let tags: Vec<Symbol> =
            tags.iter().map(|&tag| vocab.intern(&self.tags.own()[usize::from(tag)])).collect();
        let mut parsed: Vec<Parsed> = Vec::new();
        for &state in &search.beam {
            if parsed.len() >= most {
                break;
            }
            let score = i64::from(search.states[state as usize].score);
            let actions = search.actions(state);
            if let Some(tree) = oracle::build(&actions, &system.labels, &symbols, &tags, vocab)
                && !parsed.iter().any(|known| known.tree == tree)
            {
                parsed.push(Parsed { tree, score });
            }
        }
        parsed
    }
}

/// The heads and relations of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedDependencies {
    /// The part of speech of each word, as a number of [`Parser::tags`].
    pub tags: Vec<u8>,
    /// The 0-based head of each word; `None` for the root.
    pub heads: Vec<Option<u32>>,
    /// The relation of each word to its head, as a number of [`Parser::relations`].
    pub relations: Vec<u8>,
    /// The sum of the weights of all decisions about heads, in the model's own unit.
    pub score: i64,
}

/// What merging of states did for a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MergeStatistics {
    /// States that were made; merged ones count once.
    pub states: usize,
    /// Whole sequences of actions that those at the end stand for.
    pub derivations: f64,
}

impl Parser {
    /// The names of relations; none unless the parser makes dependencies.
    pub fn relations(&self) -> &[String] {
        match &self.body {
            Body::Dependency { relations, .. } => &relations.names,
            _ => &[],
        }
    }

    /// The heads and relations of a sentence; `None` for a sentence without words or a parser of another kind. With
    /// `merge`, states with the same future are merged, and the statistics say what came of it.
    pub fn dependencies(
        &self,
        words: &[&str],
        beam: usize,
        merge: Option<&mut MergeStatistics>,
        workspace: &mut Workspace,
    ) -> Option<ParsedDependencies> {
        let Body::Dependency { system, rows, relations, aside, backwards, .. } = &self.body else {
            return None;
        };
        if words.is_empty() {
            return None;
        }
        let atoms = self.atoms(words);
        let tags = self.tag_words(&atoms, workspace);
        let divided = aside.divide(&atoms, &tags);
        let mut sentence = divided.sentence(&atoms, &tags, &self.tags);
        if let Some(rows) = backwards {
            let heads = guess(system, rows, &sentence, beam, &mut workspace.items);
            sentence = sentence.with_guess(&heads);
        }
        let (actions, score) = match merge {
            None => {
                let search = &mut workspace.items;
                search.run(system, rows, &sentence, beam);
                let best = search.beam[0];
                (search.actions(best), search.states[best as usize].score)
            }
            Some(statistics) => {
                let found = workspace.merging.run(system, rows, &sentence, beam);
                *statistics = MergeStatistics { states: found.states, derivations: found.derivations };
                (found.actions, found.score)
            }
        };
        let heads = system::heads(&actions, divided.kept.len());
        let arcs = Arcs::new(&divided.of(&atoms), &divided.of(&tags), &heads, &divided.marks);
        let search = &mut workspace.tags;
        search.run(&relations.system, &relations.rows, &arcs, 1);
        let named = search.actions(search.beam[0]);
        let attaching =
            Attaching { words: &atoms, tags: &tags, divided: &divided, heads: &heads, relations: &named };
        let (heads, named) = (attaching.heads(&aside.rows), attaching.names(aside));
        Some(ParsedDependencies { tags, heads, relations: named, score: i64::from(score) })
    }
}

/// A tree that says nothing: all words, tagged as given, below one node. For sentences that a parser cannot take.
pub fn flat(words: &[&str], tags: &[&str], label: &str, vocab: &mut Vocab) -> Option<Tree> {
    let mut builder = TreeBuilder::new();
    builder.open(vocab.intern(label));
    for (index, word) in words.iter().enumerate() {
        builder.open(vocab.intern(tags.get(index).unwrap_or(&"X")));
        builder.leaf(vocab.intern(word));
        builder.close();
    }
    builder.close();
    builder.finish().ok()
}
