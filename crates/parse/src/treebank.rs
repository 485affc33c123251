//! Treebanks for training and evaluation, whatever their format: Penn brackets (one tree per line or over many),
//! CoNLL-U, Egret forests. The first line decides the format.

use std::path::Path;

use sylvan_base::{Fault, Result, Symbol, Vocab};
use sylvan_store::TextReader;
use sylvan_trees::conllu::Columns;
use sylvan_trees::penn::Layout;
use sylvan_trees::{
    Child, ConlluReader, DependencyTree, EgretReader, HeadRules, PennOptions, PennReader, Phrases, Tags,
    Tree, surface, to_constituents, to_dependencies,
};

use crate::conventions::{Conventions, Learner, Written, guess_joins};

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

/// How the treebanks of some files write what people write otherwise.
pub fn conventions<P: AsRef<Path>>(paths: &[P]) -> Result<Conventions> {
    let mut learner = Learner::default();
    for path in paths {
        let path = path.as_ref();
        let mut vocab = Vocab::new();
        let mut sentences: Vec<Vec<Written>> = match format_of(path)? {
            Format::Conllu => {
                let mut reader = ConlluReader::open(path, Columns::All)?;
                let mut sentences = Vec::new();
                while let Some(tree) = reader.next_tree(&mut vocab)? {
                    sentences.extend(tree.map(|tree| written_words(&tree, &vocab)));
                }
                sentences
            }
            _ => {
                let trees = read_constituents(path, &mut vocab)?;
                trees.iter().flatten().map(|tree| written_leaves(tree, &vocab)).collect()
            }
        };
        let says_joins = |piece: &Written| piece.joined || piece.words.len() > 1;
        if !sentences.iter().flatten().any(says_joins) {
            sentences.iter_mut().for_each(|sentence| guess_joins(sentence));
        }
        sentences.iter().for_each(|sentence| learner.add(sentence));
    }
    Ok(learner.finish())
}

/// What Universal Dependencies say about the text of a sentence.
fn written_words(tree: &DependencyTree, vocab: &Vocab) -> Vec<Written> {
    let joined = |misc: &str| misc.split('|').any(|field| field == "SpaceAfter=No");
    let words: Vec<&str> = tree.words().iter().map(|word| vocab.text(word.form)).collect();
    let mut pieces = Vec::with_capacity(words.len());
    let mut at = 0;
    // Lines of contractions stand before their first word.
    let mut contractions = tree.extra_lines.iter().filter_map(|line| {
        let fields: Vec<&str> = line.text.split('\t').collect();
        let (first, last) = fields.first()?.split_once('-')?;
        let range = first.parse::<usize>().ok()?.checked_sub(1)?..last.parse::<usize>().ok()?;
        let whole = words.get(range.clone())?.iter().copied().map(str::to_string).collect();
        Some((range, fields.get(1)?.to_string(), whole, joined(fields.last()?)))
    });
    let mut next = contractions.next();
    while at < words.len() {
        if let Some((range, text, words, joined)) = next.take_if(|(range, ..)| range.start <= at) {
            next = contractions.next();
            if range.start == at {
                at = range.end;
                pieces.push(Written { text, words, joined, hyphen: false });
            }
            continue;
        }
        let text = words[at].to_string();
        let joined = joined(vocab.text(tree.words()[at].misc));
        pieces.push(Written { words: vec![text.clone()], text, joined, hyphen: false });
        at += 1;
    }
    if let Some(text) = tree.comments.iter().find_map(|comment| comment.strip_prefix("# text = ")) {
        follow(text, &mut pieces);
    }
    pieces
}

/// Sees in the text of a sentence which pieces are joined. Some treebanks have it nowhere else; it counts only if it
/// has all the pieces.
fn follow(text: &str, pieces: &mut [Written]) {
    let mut joined = Vec::with_capacity(pieces.len());
    let mut rest = text.trim_start();
    for piece in pieces.iter() {
        let Some(after) = rest.strip_prefix(piece.text.as_str()) else { return };
        rest = after.trim_start();
        joined.push(rest.len() == after.len() && !rest.is_empty());
    }
    pieces.iter_mut().zip(joined).for_each(|(piece, joined)| piece.joined = joined);
}

/// What a tree in brackets says: its leaves, and which are hyphens inside words.
fn written_leaves(tree: &Tree, vocab: &Vocab) -> Vec<Written> {
    let leaf = |&word: &Symbol| {
        let text = vocab.text(word);
        Written {
            text: surface(text).into_owned(),
            words: vec![text.to_string()],
            joined: false,
            hyphen: false,
        }
    };
    let mut leaves: Vec<Written> = tree.words().iter().map(leaf).collect();
    for node in tree.nodes().filter(|&node| vocab.text(tree.label(node)) == "HYPH") {
        if let &[Child::Leaf(position)] = tree.children(node) {
            leaves[position as usize].hyphen = true;
        }
    }
    leaves
}
