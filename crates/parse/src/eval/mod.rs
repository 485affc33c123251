//! How good parses are. The conventions are fixed here, once:
//!
//! *Constituents* ([`brackets`]) are counted as EVALB counts them: labelled brackets, each as often as it stands in
//! the tree; words that the right tree tags as punctuation are deleted from both trees, and with them brackets over
//! nothing else; an outermost bracket that is unlabelled, `ROOT`, `TOP` or `S1` is ignored; parts of speech are no
//! brackets; function tags and traces are removed. `TITLE`, `HEADING` and `CAPTION` count as other labels do, and
//! `PRT` is not `ADVP`. All lengths count. A missing tree has no brackets.
//!
//! *Dependencies* ([`attachments`]): the share of words with the right head (UAS), and with the right head and
//! relation (LAS), over all words and without punctuation. The artificial root is a head like any other.

pub mod attachments;
pub mod brackets;

/// A share in per cent; 100 of nothing.
fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 100.0 } else { part as f64 * 100.0 / whole as f64 }
}
