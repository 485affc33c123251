//! Heads and relations of words.

use sylvan_base::Vocab;
use sylvan_trees::{DependencyTree, Head};

use super::brackets::Mismatch;
use super::percent;

/// Counts over sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AttachmentScore {
    /// Sentences compared.
    pub sentences: u64,
    /// Sentences whose heads are all right.
    pub exact: u64,
    /// Over all words.
    pub all: Attachments,
    /// Without words whose universal tag in the right tree is `PUNCT`, or whose relation is `punct`.
    pub without_punctuation: Attachments,
    /// Words with the right tag of the treebank's own set.
    pub xpos: u64,
    /// Words with the right universal tag.
    pub upos: u64,
}

/// Counts over words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attachments {
    /// Words compared.
    pub words: u64,
    /// Words with the right head.
    pub heads: u64,
    /// Words with the right head and relation.
    pub labelled: u64,
}

impl Attachments {
    /// Words with the right head, per cent.
    pub fn uas(&self) -> f64 {
        percent(self.heads, self.words)
    }

    /// Words with the right head and relation, per cent.
    pub fn las(&self) -> f64 {
        percent(self.labelled, self.words)
    }
}

impl AttachmentScore {
    /// Compares two trees of the same sentence with one vocabulary. Relations count whole, with subtypes.
    pub fn add(
        &mut self,
        gold: &DependencyTree,
        predicted: &DependencyTree,
        vocab: &Vocab,
    ) -> Result<(), Mismatch> {
        if gold.len() != predicted.len() {
            return Err(Mismatch::Length { gold: gold.len(), predicted: predicted.len() });
        }
        let mut exact = true;
        for (index, (right, found)) in gold.words().iter().zip(predicted.words()).enumerate() {
            if right.form != found.form {
                return Err(Mismatch::Word { position: index + 1 });
            }
            let head = right.head == found.head && found.head != Head::Missing;
            let labelled = head && right.deprel == found.deprel;
            exact &= head;
            let is_punctuation = vocab.text(right.upos) == "PUNCT" || vocab.text(right.deprel) == "punct";
            let count = |counts: &mut Attachments| {
                counts.words += 1;
                counts.heads += u64::from(head);
                counts.labelled += u64::from(labelled);
            };
            count(&mut self.all);
            if !is_punctuation {
                count(&mut self.without_punctuation);
            }
            self.xpos += u64::from(right.xpos == found.xpos);
            self.upos += u64::from(right.upos == found.upos);
        }
        self.sentences += 1;
        self.exact += u64::from(exact);
        Ok(())
    }

    /// Sentences whose heads are all right, per cent.
    pub fn exact_match(&self) -> f64 {
        percent(self.exact, self.sentences)
    }

    /// Words with the right tag of the treebank's own set, per cent.
    pub fn tag_accuracy(&self) -> f64 {
        percent(self.xpos, self.all.words)
    }

    /// Words with the right universal tag, per cent.
    pub fn upos_accuracy(&self) -> f64 {
        percent(self.upos, self.all.words)
    }
}
