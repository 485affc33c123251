//! Parts of speech, left to right: a transition system whose only action is to give the next word a tag.
//!
//! How many words after the current one a feature may see is the *lookahead*: two for finished text, none for
//! words that are generated one at a time.

use sylvan_base::Progress;

use crate::lexicon::Word;
use crate::machine::beam::Update;
use crate::machine::learn::Epoch;
use crate::machine::{ActionSet, Effect, Example, LearnConfig, Rows, Search, System, Templates, View, learn};

/// The transition system. An item is a tag, plus 1 so that 0 is "before the sentence".
#[derive(Debug, Clone)]
pub(crate) struct TagSystem {
    pub(crate) tags: usize,
    /// How many words after the current one are seen: 0 to 2.
    pub(crate) lookahead: usize,
}

/// A sentence to tag.
#[derive(Debug, Clone)]
pub(crate) struct TagSentence {
    /// Two words of nothing, the words, two words of nothing.
    words: Vec<Word>,
}

const PAD: usize = 2;

impl TagSentence {
    pub(crate) fn new(words: &[Word]) -> Self {
        let pad = [Word::default(); PAD];
        Self { words: [&pad, words, &pad].concat() }
    }
}

const SHARED: u64 = 100;
const HISTORY: u64 = 200;

impl System for TagSystem {
    type Sentence = TagSentence;
    type Item = u8;

    fn steps(&self, sentence: &TagSentence) -> usize {
        sentence.words.len() - 2 * PAD
    }

    fn actions(&self) -> usize {
        self.tags
    }

    fn legal(&self, _: &TagSentence, _: View<'_, u8>) -> ActionSet {
        ActionSet::first(self.tags)
    }

    fn shared_keys(&self, sentence: &TagSentence, step: usize, keys: &mut Vec<u64>) {
        let at = step + PAD;
        let w = &sentence.words;
        let [p2, p1, w0] = [&w[at - 2], &w[at - 1], &w[at]];
        let nothing = Word::default();
        let n1 = if self.lookahead >= 1 { &w[at + 1] } else { &nothing };
        let n2 = if self.lookahead >= 2 { &w[at + 2] } else { &nothing };
        let mut t = Templates::new(keys, SHARED);
        t.one(0);
        t.one(w0.form);
        t.one(w0.lower);
        t.one(w0.shape);
        for suffix in w0.suffixes {
            t.one(suffix);
        }
        for prefix in w0.prefixes {
            t.one(prefix);
        }
        t.two(w0.shape, w0.suffixes[2]);
        t.two(w0.shape, u64::from(step == 0));
        t.one(p1.lower);
        t.one(p2.lower);
        t.one(n1.lower);
        t.one(n2.lower);
        t.one(p1.suffixes[2]);
        t.one(n1.suffixes[2]);
        t.one(n1.shape);
        t.one(n1.class);
        t.one(n2.class);
        t.two(p1.lower, w0.form);
        t.two(w0.form, n1.form);
        t.two(w0.class, n1.class);
        t.two(p1.class, w0.class);
        t.three(w0.class, n1.class, n2.class);
        t.two(p1.lower, n1.lower);
        t.two(n1.lower, n2.lower);
        t.two(p2.lower, p1.lower);
        t.two(w0.suffixes[2], n1.suffixes[2]);
        t.two(w0.suffixes[2], p1.lower);
        t.two(w0.suffixes[2], n1.lower);
        t.one(w0.low_class);
        t.two(w0.low_class, w0.shape);
        t.three(p1.low_class, w0.low_class, n1.low_class);
        t.two(w0.lower, n1.low_class);
        t.two(p1.low_class, w0.lower);
        t.three(p1.lower, w0.lower, n1.lower);
        t.two(n1.low_class, n2.low_class);
        t.two(p2.low_class, p1.low_class);
        t.two(w0.lower, n1.suffixes[1]);
        t.two(w0.suffixes[3], w0.prefixes[1]);
        t.three(w0.suffixes[2], p1.suffixes[2], n1.suffixes[2]);
        t.two(w0.shape, n1.shape);
        t.two(w0.shape, p1.shape);
        t.three(p1.shape, w0.shape, n1.shape);
    }

    fn keys(&self, sentence: &TagSentence, view: View<'_, u8>, keys: &mut Vec<u64>) {
        let [t1, t2, t3] = view.items().map(|&tag| u64::from(tag));
        let at = view.step + PAD;
        let w0 = &sentence.words[at];
        let nothing = Word::default();
        let n1 = if self.lookahead >= 1 { &sentence.words[at + 1] } else { &nothing };
        let mut t = Templates::new(keys, HISTORY);
        t.one(t1);
        t.two(t1, t2);
        t.three(t1, t2, t3);
        t.two(t1, w0.form);
        t.three(t1, t2, w0.lower);
        t.two(t1, w0.class);
        t.two(t1, w0.suffixes[2]);
        t.two(t1, w0.shape);
        t.two(t1, n1.lower);
        t.three(t1, w0.class, n1.class);
        t.three(t1, w0.suffixes[1], n1.suffixes[1]);
        t.three(t1, t2, w0.low_class);
        t.three(t1, w0.lower, n1.low_class);
        t.three(t1, t2, w0.suffixes[2]);
    }

    fn digest(&self, tag: &u8, _: usize) -> u64 {
        u64::from(*tag)
    }

    fn apply(&self, _: &TagSentence, _: View<'_, u8>, action: u8) -> Effect<u8> {
        Effect::Push(action + 1)
    }
}

/// A trained tagger.
#[derive(Debug, Clone)]
pub(crate) struct Tagger {
    pub(crate) system: TagSystem,
    pub(crate) rows: Rows,
    pub(crate) beam: usize,
}

/// How wide a tagger searches.
pub(crate) const BEAM: usize = 4;

/// How a tagger is trained.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TaggerTraining {
    pub(crate) lookahead: usize,
    pub(crate) epochs: usize,
    pub(crate) threads: usize,
}

impl Tagger {
    /// Learns from sentences and their tags. `judge` gets each epoch's tagger and gives it a figure.
    pub(crate) fn train(
        sentences: &[(&[Word], &[u8])],
        tags: usize,
        training: TaggerTraining,
        stage: &str,
        progress: &dyn Progress,
        mut judge: impl FnMut(&Self) -> f64,
        mut report: impl FnMut(Epoch),
    ) -> Self {
        let system = TagSystem { tags, lookahead: training.lookahead };
        let examples: Vec<Example<TagSentence>> = sentences
            .iter()
            .map(|(words, tags)| Example { sentence: TagSentence::new(words), gold: tags.to_vec() })
            .collect();
        let config = LearnConfig {
            beam: BEAM,
            epochs: training.epochs,
            batch: 8,
            threads: training.threads,
            update: Update::MaxViolation { horizon: 40 },
            warm_up: 0,
            patience: 3,
            least: 0.02,
            room: usize::MAX,
            members: 1,
            seed: 11,
        };
        let with = |rows: &Rows| Self { system: system.clone(), rows: rows.clone(), beam: BEAM };
        let rows = learn(
            &system,
            &examples,
            &config,
            stage,
            progress,
            |rows| judge(&with(rows)),
            |epoch, _| report(epoch),
        );
        with(&rows)
    }

    /// The tags of a sentence, each word in its context or each alone.
    pub(crate) fn tag_either(&self, words: &[Word], alone: bool, search: &mut Search<u8>) -> Vec<u8> {
        match (words, alone) {
            ([], _) => Vec::new(),
            (words, false) => self.tag(words, search),
            (words, true) => words.iter().flat_map(|&word| self.tag(&[word], search)).collect(),
        }
    }

    /// The tags of a sentence of at least one word.
    pub(crate) fn tag(&self, words: &[Word], search: &mut Search<u8>) -> Vec<u8> {
        search.run(&self.system, &self.rows, &TagSentence::new(words), self.beam);
        search.actions(search.beam[0])
    }
}
