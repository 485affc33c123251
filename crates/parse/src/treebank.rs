//! Treebanks for training and evaluation, whatever their format: Penn brackets (one tree per line or over many),
//! CoNLL-U, Egret forests. The first line decides the format.

use std::path::Path;

use sylvan_base::{Fault, Result, Vocab};
use sylvan_store::TextReader;
use sylvan_trees::conllu::Columns;
use sylvan_trees::penn::Layout;
use sylvan_trees::{
    ConlluReader, DependencyTree, EgretReader, HeadRules, PennOptions, PennReader, Phrases, Tags, Tree,
    to_constituents, to_dependencies,
};

/// The format of a treebank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Penn brackets, one tree per line.
    Penn,
    /// Penn brackets over several lines.
    PennLines,
    /// Universal Dependencies.
    Conllu,
    /// Egret's packed forests, of which the best tree is taken.
    Egret,
}

/// Tells the format of a file from its first line that is not blank.
pub fn format_of(path: &Path) -> Result<Format> {
    let mut reader = TextReader::open(path)?;
    while let Some(line) = reader.next_line()? {
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        if line.starts_with('(') {
            let depth = |sum: i64, byte: u8| sum + i64::from(byte == b'(') - i64::from(byte == b')');
            let open = line.bytes().fold(0, depth);
            return Ok(if open == 0 { Format::Penn } else { Format::PennLines });
        }
        if line.starts_with("sentence ") {
            return Ok(Format::Egret);
        }
        if line.starts_with('#') || line.contains('\t') {
            return Ok(Format::Conllu);
        }
        let start: String = line.chars().take(40).collect();
        let fault = Fault::new(1, format!("'{start}'"), "a tree in brackets, CoNLL-U or an Egret forest");
        return Err(reader.locate(fault));
    }
    let fault = Fault::new(0, "nothing", "trees").advise("is this the right file?");
    Err(reader.locate(fault))
}

/// The constituency trees of a file, cleaned of wrappers, traces and function tags; `None` for sentences without
/// one. Dependencies become constituents around their heads.
pub fn read_constituents(path: &Path, vocab: &mut Vocab) -> Result<Vec<Option<Tree>>> {
    let mut trees = Vec::new();
    match format_of(path)? {
        format @ (Format::Penn | Format::PennLines) => {
            let layout = if format == Format::Penn { Layout::OnePerLine } else { Layout::ManyLines };
            let mut reader = PennReader::open(path, PennOptions { layout, ..PennOptions::standard() })?;
            while let Some(tree) = reader.next_tree(vocab)? {
                trees.push(tree);
            }
        }
        Format::Conllu => {
            let mut reader = ConlluReader::open(path, Columns::Basic)?;
            while let Some(tree) = reader.next_tree(vocab)? {
                trees.push(
                    tree.and_then(|tree| to_constituents(&tree, Tags::default(), Phrases::default(), vocab)),
                );
            }
        }
        Format::Egret => {
            let mut reader = EgretReader::open(path)?;
            let clean_up = sylvan_trees::CleanUp::standard();
            while let Some(forest) = reader.next_forest(vocab)? {
                trees.push(forest.and_then(|forest| clean_up.apply(forest.best().0, vocab)));
            }
        }
    }
    Ok(trees)
}

/// The dependency trees of a file; sentences without one are left out. Constituents become dependencies by head
/// rules.
pub fn read_dependencies(path: &Path, vocab: &mut Vocab) -> Result<Vec<DependencyTree>> {
    if format_of(path)? == Format::Conllu {
        let mut reader = ConlluReader::open(path, Columns::Basic)?;
        let mut trees = Vec::new();
        while let Some(tree) = reader.next_tree(vocab)? {
            trees.extend(tree);
        }
        return Ok(trees);
    }
    let trees: Vec<Tree> = read_constituents(path, vocab)?.into_iter().flatten().collect();
    let rules = head_rules(&trees, vocab);
    Ok(trees.iter().map(|tree| to_dependencies(tree, &rules, vocab)).collect())
}

/// The head rules that fit the labels of a treebank.
pub fn head_rules(trees: &[Tree], vocab: &Vocab) -> HeadRules {
    let has = |label: &str| {
        vocab.get(label).is_some_and(|label| trees.iter().any(|tree| tree.labels().contains(&label)))
    };
    if has("VP") && has("IP") && (has("VV") || has("PU")) {
        HeadRules::chinese()
    } else if has("VP") && has("NP") && has("IN") {
        HeadRules::english()
    } else {
        HeadRules::generic()
    }
}
