//! How a treebank writes what people write otherwise: `(` as `-LRB-`, `don't` as `do n't`, `zum` as `zu dem`.
//!
//! ```text
//! treebank --learn--> Conventions, in the parser's file
//! line, tokens --cut--> words of the treebank, each with the bytes that it stands for --forms--> what features see
//! ```
//!
//! The two halves are kept apart, because they do different things to a sentence. *Cuts* decide what the words are:
//! whoever learns from the parser's trees must cut as the parser wants it. *Forms* change no word: a tree has the words
//! that were given, and only the parser's features see the treebank's way of writing them. So no code of a treebank
//! leaves this crate.

mod cuts;
mod forms;
mod learn;

use sylvan_base::Span;

use cuts::Cuts;
use forms::Forms;
pub(crate) use learn::{Learner, Written, guess_joins};

/// How a treebank writes what people write otherwise.
///
/// ```
/// use sylvan_base::Span;
/// use sylvan_parse::Conventions;
/// let penn = Conventions::from_text("form\t(\t-LRB-\t-LRB-\nsuffix\tn't\nword\tzum\tzu\tdem\n").unwrap();
/// let line = "Don't zum";
/// let tokens = [Span::new(0, 3), Span::new(3, 5), Span::new(6, 9)];
/// let words = penn.cut(line, &tokens, &[]);
/// let shown: Vec<String> = words.iter().map(|word| format!("{} {:?}", word.text, word.span.range())).collect();
/// assert_eq!(shown, ["Do 0..2", "n't 2..5", "zu 6..9", "dem 6..9"]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conventions {
    forms: Forms,
    cuts: Cuts,
}

/// A word as a treebank has it, and the bytes of the line that it stands for: its own, or, where the treebank writes a
/// contraction in full, those of the whole contraction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreebankWord {
    /// The word.
    pub text: String,
    /// Its bytes.
    pub span: Span,
}

impl Conventions {
    /// What can be told from the words that a parser knows: forms, but no cuts. For files that say nothing.
    pub(crate) fn of_words(knows: impl Fn(&str) -> bool) -> Self {
        Self { forms: Forms::learn(|word| u64::from(knows(word))), cuts: Cuts::default() }
    }

    /// Whether lines are cut as their tokeniser cuts them.
    pub fn has_no_cuts(&self) -> bool {
        self.cuts.is_empty()
    }

    /// The words of a line, whose tokens are given by their bytes. What is `kept` (byte ranges in order) stays as it
    /// is.
    pub fn cut(&self, line: &str, tokens: &[Span], kept: &[(usize, usize)]) -> Vec<TreebankWord> {
        self.cuts.apply(line, tokens, kept)
    }

    /// The words of a sentence as the treebank writes them, one for one.
    pub(crate) fn forms<'w>(&'w self, words: &[&'w str]) -> Vec<&'w str> {
        self.forms.of(words)
    }

    /// As lines: `form`, a mark, how the treebank writes it where it opens and where it closes; `word`, a word, its
    /// pieces; `prefix` and `suffix` for what is cut off any word; `hyphens` if they cut, and `bound` for what they do not cut
    /// off.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        self.forms.write(&mut text);
        self.cuts.write(&mut text);
        text
    }

    /// Reads what [`to_text`](Self::to_text) wrote; `None` if it is something else.
    pub fn from_text(text: &str) -> Option<Self> {
        let mut conventions = Self::default();
        for line in text.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            if fields.iter().any(|field| field.is_empty()) {
                return None;
            }
            match *fields {
                ["form", mark, opening, closing] => conventions.forms.add(mark, [opening, closing]),
                ["word", word, ref pieces @ ..] if !pieces.is_empty() => {
                    conventions.cuts.add_word(word, pieces);
                }
                ["prefix", prefix] => conventions.cuts.prefixes.push(prefix.to_string()),
                ["suffix", suffix] => conventions.cuts.suffixes.push(suffix.to_string()),
                ["bound", part] => conventions.cuts.bound.push(part.to_string()),
                ["hyphens"] => conventions.cuts.hyphens = true,
                _ => return None,
            }
        }
        Some(conventions)
    }
}
