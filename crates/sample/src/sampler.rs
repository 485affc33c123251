//! The corpus: pair number `i` of a seed, alone or in whole ranges.

use std::fmt;
use std::ops::Range;

use sylvan_base::Rng;

use crate::derive::{Budget, Derivation, OpenCounts};
use crate::grammar::Grammar;
use crate::layout::Layout;
use crate::write;

/// What corpus to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Different seeds give different corpora.
    pub seed: u64,
    /// Fewest words of either side, final punctuation included.
    pub min_words: usize,
    /// Most words of either side; at most [`MAX_WORDS`].
    pub max_words: usize,
    /// With `Some(n)`, names and numbers come from an open vocabulary of `n` words with Zipf frequencies.
    pub types: Option<usize>,
}

impl Default for Config {
    fn default() -> Self {
        Self { seed: 1, min_words: 4, max_words: 60, types: None }
    }
}

/// The longest sentences that can be asked for.
pub const MAX_WORDS: usize = 200;
/// The largest open vocabulary.
pub const MAX_TYPES: usize = 10_000_000;
/// The smallest open vocabulary: below it there is nothing open about it.
pub const MIN_TYPES: usize = 300;

/// A setting that no corpus can satisfy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The limits contradict each other.
    #[error("found min words {min} above max words {max}, expected min <= max; swap them or widen the range")]
    Reversed {
        /// The lower limit asked for.
        min: usize,
        /// The upper limit asked for.
        max: usize,
    },
    /// Longer than the generator goes.
    #[error("found max words {0}, expected at most {MAX_WORDS}")]
    TooLong(usize),
    /// Almost no sentence has this length on both sides.
    #[error("found min words {min} and max words {max}, expected a range that sentences fall into; widen it")]
    NoSentence {
        /// The lower limit asked for.
        min: usize,
        /// The upper limit asked for.
        max: usize,
    },
    /// Too few or too many open words.
    #[error("found {0} types, expected {MIN_TYPES} to {MAX_TYPES}")]
    Types(usize),
}

/// A grammar with settings: gives pairs. Immutable; share it between threads, with a [`Workspace`] each.
#[derive(Debug)]
pub struct Sampler {
    grammar: Grammar,
    config: Config,
    open: OpenCounts,
    /// An item known to fit the limits, for the rare index whose own draws all miss them.
    spare: u64,
}

/// Buffers that one thread uses again for every pair.
#[derive(Debug, Default)]
pub struct Workspace {
    derivation: Derivation,
    layout: Layout,
    stack: Vec<(u32, u32)>,
}

impl Workspace {
    /// Empty buffers.
    pub fn new() -> Self {
        Self::default()
    }
}

/// The texts of the five corpus files; whole ranges are appended.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FileBuffers {
    /// Source sentences, one per line.
    pub source: Vec<u8>,
    /// Target sentences, one per line.
    pub target: Vec<u8>,
    /// Source trees, one per line.
    pub source_tree: Vec<u8>,
    /// Target dependency trees, CoNLL-U.
    pub target_conllu: Vec<u8>,
    /// Word alignments, one sentence per line.
    pub align: Vec<u8>,
}

impl FileBuffers {
    /// Empties the buffers and keeps their memory.
    pub fn clear(&mut self) {
        for buffer in [
            &mut self.source,
            &mut self.target,
            &mut self.source_tree,
            &mut self.target_conllu,
            &mut self.align,
        ] {
            buffer.clear();
        }
    }
}

/// Draws of one item before the spare one is taken.
const ATTEMPTS: u32 = 400;
/// Items that are tried for a spare one before the limits are called impossible.
const PROBES: u64 = 200;

impl Sampler {
    /// The shipped grammar with these settings.
    ///
    /// # Errors
    /// When the limits contradict each other or no sentence satisfies them.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        Self::with_grammar(crate::shipped_grammar(), config)
    }

    /// Any grammar with these settings.
    ///
    /// # Errors
    /// When the limits contradict each other or no sentence satisfies them.
    pub fn with_grammar(grammar: Grammar, config: Config) -> Result<Self, ConfigError> {
        let (min, max) = (config.min_words, config.max_words);
        if min > max {
            return Err(ConfigError::Reversed { min, max });
        }
        if max > MAX_WORDS {
            return Err(ConfigError::TooLong(max));
        }
        let mut open = OpenCounts::default();
        if let Some(types) = config.types {
            if !(MIN_TYPES..=MAX_TYPES).contains(&types) {
                return Err(ConfigError::Types(types));
            }
            let third = (types / 3) as u32;
            open = OpenCounts { person: third, place: third, number: types as u32 - 2 * third };
        }
        let mut sampler = Self { grammar, config, open, spare: 0 };
        let mut workspace = Workspace::new();
        // Items far from those of any real corpus, so that the spare one is not one of its neighbours.
        let spare =
            (0..PROBES).map(|probe| u64::MAX - probe).find(|&item| sampler.draw(item, &mut workspace));
        sampler.spare = spare.ok_or(ConfigError::NoSentence { min, max })?;
        Ok(sampler)
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The grammar.
    pub fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    /// Makes pair number `index`, which depends on nothing but the settings and `index`.
    pub fn pair<'a>(&'a self, index: u64, workspace: &'a mut Workspace) -> Pair<'a> {
        self.make(index, workspace);
        Pair { sampler: self, workspace, index }
    }

    fn make(&self, index: u64, workspace: &mut Workspace) {
        if !self.draw(index, workspace) {
            let fits = self.draw(self.spare, workspace);
            debug_assert!(fits, "the spare item fitted when the sampler was made");
        }
    }

    /// Draws item `index` until it fits the limits; returns whether it did.
    fn draw(&self, index: u64, workspace: &mut Workspace) -> bool {
        let mut rng = Rng::for_item(self.config.seed, index);
        let limits = self.config.min_words..=self.config.max_words;
        let Workspace { derivation, layout, .. } = workspace;
        for _ in 0..ATTEMPTS {
            let budget = Budget { max_words: self.config.max_words as u32, want: self.wanted(&mut rng) };
            derivation.draw(&self.grammar, budget, self.open, &mut rng);
            derivation.choose_freely(&self.grammar, &mut rng);
            layout.place_source(&self.grammar, derivation);
            if !limits.contains(&layout.source.len()) || !layout.is_distinct(&self.grammar, derivation) {
                continue;
            }
            layout.place_target(&self.grammar, derivation);
            if limits.contains(&layout.target.len()) {
                return true;
            }
        }
        false
    }

    /// The length a sentence should grow to; 0 leaves it to the grammar, which is natural for ordinary limits.
    fn wanted(&self, rng: &mut Rng) -> u32 {
        let (min, max) = (self.config.min_words, self.config.max_words);
        if min <= NATURAL {
            if max < 2 * NATURAL || !rng.chance(0.1) {
                return 0;
            }
            // A tail that thins out towards the maximum: the smaller of two uniform draws.
            let room = max - 2 * NATURAL + 1;
            return (2 * NATURAL + rng.below(room).min(rng.below(room))) as u32;
        }
        let room = (max - min) * 3 / 4 + 1;
        (min + 4 + rng.below(room).min(rng.below(room))).min(max) as u32
    }

    /// Appends the source and target lines of a range of pairs.
    pub fn write_text(&self, range: Range<u64>, source: &mut Vec<u8>, target: &mut Vec<u8>) {
        let mut workspace = Workspace::new();
        for index in range {
            let pair = self.pair(index, &mut workspace);
            pair.write_source(source);
            source.push(b'\n');
            pair.write_target(target);
            target.push(b'\n');
        }
    }

    /// Appends the lines of all five files for a range of pairs.
    pub fn write_all(&self, range: Range<u64>, files: &mut FileBuffers) {
        let mut workspace = Workspace::new();
        for index in range {
            let mut pair = self.pair(index, &mut workspace);
            pair.append_all(files);
        }
    }

    /// Appends the oracle's target lines for a range of pairs.
    pub fn write_oracle(&self, range: Range<u64>, oracle: &mut Vec<u8>) {
        let mut workspace = Workspace::new();
        for index in range {
            let mut pair = self.pair(index, &mut workspace);
            pair.write_oracle(oracle);
            oracle.push(b'\n');
        }
    }
}

/// Up to this minimum, sentences are as long as the grammar's weights make them.
const NATURAL: usize = 12;

/// One sentence pair, borrowed from a [`Workspace`]; texts are made when asked for.
pub struct Pair<'a> {
    sampler: &'a Sampler,
    workspace: &'a mut Workspace,
    index: u64,
}

impl Pair<'_> {
    /// Appends the source words.
    pub fn write_source(&self, out: &mut Vec<u8>) {
        write::source(&self.sampler.grammar, &self.workspace.layout.source, out);
    }

    /// Appends the target words.
    pub fn write_target(&self, out: &mut Vec<u8>) {
        write::target(&self.sampler.grammar, &self.workspace.layout.target, out);
    }

    /// Appends the target words with the free choice made as the most probable one.
    pub fn write_oracle(&mut self, out: &mut Vec<u8>) {
        let grammar = &self.sampler.grammar;
        let Workspace { derivation, layout, .. } = &mut *self.workspace;
        let chosen: Vec<u32> = derivation.nodes.iter().map(|node| node.variant).collect();
        derivation.choose_defaults(grammar);
        layout.place_target(grammar, derivation);
        write::target(grammar, &layout.target, out);
        for (node, variant) in derivation.nodes.iter_mut().zip(chosen) {
            node.variant = variant;
        }
        layout.place_target(grammar, derivation);
    }

    /// Appends the source tree.
    pub fn write_source_tree(&mut self, out: &mut Vec<u8>) {
        let Workspace { derivation, layout, stack } = &mut *self.workspace;
        write::tree(&self.sampler.grammar, derivation, &layout.source, stack, out);
    }

    /// Appends one line to each of the five files (and a block to the CoNLL-U file).
    pub fn append_all(&mut self, files: &mut FileBuffers) {
        self.write_source(&mut files.source);
        files.source.push(b'\n');
        self.write_target(&mut files.target);
        files.target.push(b'\n');
        self.write_source_tree(&mut files.source_tree);
        files.source_tree.push(b'\n');
        self.analyse();
        write::alignment(&self.workspace.layout, &mut files.align);
        files.align.push(b'\n');
        write::conllu(&self.sampler.grammar, &self.workspace.layout, self.index, &mut files.target_conllu);
    }

    fn analyse(&mut self) {
        let Workspace { derivation, layout, .. } = &mut *self.workspace;
        layout.analyse(&self.sampler.grammar, derivation);
    }

    /// The source sentence: words separated by spaces.
    pub fn source(&self) -> String {
        text(|out| self.write_source(out))
    }

    /// The target sentence: words separated by spaces.
    pub fn target(&self) -> String {
        text(|out| self.write_target(out))
    }

    /// The target sentence of an oracle that knows everything but the free choice.
    pub fn oracle(&mut self) -> String {
        text(|out| self.write_oracle(out))
    }

    /// The source tree in one line of Penn brackets.
    pub fn source_tree(&mut self) -> String {
        text(|out| self.write_source_tree(out))
    }

    /// The word alignment: `i-j` sure, `ipj` possible; 0-based source and target positions, sorted.
    pub fn alignment(&mut self) -> String {
        self.analyse();
        text(|out| write::alignment(&self.workspace.layout, out))
    }

    /// The target dependency tree as a CoNLL-U block.
    pub fn conllu(&mut self) -> String {
        self.analyse();
        text(|out| write::conllu(&self.sampler.grammar, &self.workspace.layout, self.index, out))
    }

    /// The names of the phenomena in the pair, in the order of the grammar.
    pub fn phenomena(&self) -> Vec<&str> {
        let bits = self.workspace.derivation.phenomena(&self.sampler.grammar);
        let names = self.sampler.grammar.phenomena.iter().enumerate();
        names.filter(|(at, _)| bits >> at & 1 == 1).map(|(_, name)| name.as_str()).collect()
    }

    /// How many choices were left to chance in the target: 0 or 1.
    pub fn free_choices(&self) -> usize {
        self.workspace.derivation.free_nodes().min(1)
    }
}

impl fmt::Debug for Pair<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pair {} ({} ||| {})", self.index, self.source(), self.target())
    }
}

fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).expect("words and numbers are UTF-8")
}
