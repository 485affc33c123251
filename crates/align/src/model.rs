//! A trained model as a file: written once, read back to align more text.
//!
//! It keeps expected link counts of word pairs (docs/formats/align.md), the words without links, jumps and
//! fertilities. From these every model's parameters follow, and a sampler can continue from where training
//! stopped.

use std::path::Path;
use std::sync::Arc;

use sylvan_base::{Id, Result, Symbol, Vocab};
use sylvan_store::{Container, ContainerWriter, FrozenVocab, Name, name};

use crate::bitext::Bitext;
use crate::counts::LinkCounts;
use crate::em::{Em, Lexicon, Position};
use crate::gibbs::{Base, BaseCounts, FERTILITIES, JUMPS, PairTable};
use crate::pairs::{Once, Pairs};
use crate::side::Side;

const KIND: Name = name("align");
const VERSION: u32 = 1;
const SECTIONS: usize = FrozenVocab::SECTIONS + 15;

/// What kind of model the counts belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelKind {
    /// IBM 1.
    Ibm1,
    /// Diagonal IBM 2.
    Diagonal,
    /// Hidden Markov model.
    Hmm,
    /// Bayesian hidden Markov model with fertility.
    Fertility,
}

impl ModelKind {
    const ALL: [Self; 4] = [Self::Ibm1, Self::Diagonal, Self::Hmm, Self::Fertility];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ibm1 => "IBM 1",
            Self::Diagonal => "diagonal IBM 2",
            Self::Hmm => "HMM",
            Self::Fertility => "HMM with fertility",
        }
    }
}

/// A trained model.
#[derive(Debug, Clone)]
pub struct Model {
    pub(crate) kind: ModelKind,
    pub(crate) vocab: Vocab,
    pub(crate) links: LinkCounts,
    /// How many pairs it was trained on.
    pub(crate) pairs: u64,
    /// Dirichlet prior times the number of words met, by given type.
    pub(crate) priors: [Vec<f32>; 2],
    /// Jump counts (sampler) or weights (HMM) or the tension (diagonal).
    pub(crate) positions: [Vec<f32>; 2],
    /// By given type; only the sampler has them.
    pub(crate) fertility: [Vec<[f32; FERTILITIES]>; 2],
    /// alpha, null_alpha, null, smoothing.
    pub(crate) numbers: [f64; 4],
}

/// Section names, forward and reverse.
const COUNTS: [Name; 2] = [name("count-f"), name("count-r")];
const TOTALS: [Name; 2] = [name("total-f"), name("total-r")];
const NULLS: [Name; 2] = [name("null-f"), name("null-r")];
const PRIORS: [Name; 2] = [name("prior-f"), name("prior-r")];
const POSITIONS: [Name; 2] = [name("place-f"), name("place-r")];
const FERTILITY: [Name; 2] = [name("fert-f"), name("fert-r")];
const ROWS: Name = name("rows");
const TARGETS: Name = name("targets");
const NUMBERS: Name = name("numbers");

impl Model {
    /// What kind it is.
    pub fn kind(&self) -> ModelKind {
        self.kind
    }

    /// How many sentence pairs it was trained on.
    pub fn pairs(&self) -> u64 {
        self.pairs
    }

    /// How many word pairs it knows.
    pub fn entries(&self) -> usize {
        self.links.targets.len()
    }

    /// The probability of a target word given a source word (forward) or the reverse; none for unknown words.
    pub fn translation(&self, source: &str, target: &str) -> Option<[f64; 2]> {
        let (source, target) = (self.vocab.get(source)?, self.vocab.get(target)?);
        let counts = self.links.get(source.0, target.0);
        let share = |which: usize, given: Symbol| {
            let total = self.links.totals[which][given.index()];
            if total > 0.0 { f64::from(counts[which]) / f64::from(total) } else { 0.0 }
        };
        Some([share(0, source), share(1, target)])
    }

    /// Writes a model file.
    pub fn save(&self, path: &Path) -> Result<()> {
        let mut writer = ContainerWriter::create(path, KIND, VERSION, SECTIONS)?;
        FrozenVocab::append(&mut writer, self.vocab.len(), self.vocab.iter().map(|(_, text)| text))?;
        writer.section(ROWS, &self.links.rows)?;
        writer.section(TARGETS, &self.links.targets)?;
        let kind = ModelKind::ALL.iter().position(|&kind| kind == self.kind).unwrap_or(0);
        let mut numbers = vec![kind as f64, self.pairs as f64];
        numbers.extend(self.numbers);
        writer.section(NUMBERS, &numbers)?;
        for which in 0..2 {
            writer.section(COUNTS[which], &self.links.counts[which])?;
            writer.section(TOTALS[which], &self.links.totals[which])?;
            writer.section(NULLS[which], &self.links.nulls[which])?;
            writer.section(PRIORS[which], &self.priors[which])?;
            writer.section(POSITIONS[which], &self.positions[which])?;
            writer.section(FERTILITY[which], self.fertility[which].as_flattened())?;
        }
        writer.finish()
    }

    /// Reads a model file and checks all of it.
    pub fn open(path: &Path) -> Result<Self> {
        let file = Arc::new(Container::open(path, KIND, VERSION..=VERSION)?);
        file.check_all()?;
        let frozen = FrozenVocab::inside(&file)?;
        let mut vocab = Vocab::new();
        for index in 0..frozen.len() {
            let text = frozen.text(Symbol::from_index(index)).unwrap_or_default();
            if vocab.intern(text).index() != index {
                return Err(file.bad(format!("the word {text:?} twice"), "different words".into()));
            }
        }
        let types = vocab.len();
        let floats = |name: Name, len: Option<usize>| -> Result<Vec<f32>> {
            let values = file.section::<f32>(name)?;
            let sound = values.iter().all(|value| *value >= 0.0 && value.is_finite());
            if !sound || len.is_some_and(|len| values.len() != len) {
                let found =
                    format!("{} values in section {:?}", values.len(), String::from_utf8_lossy(&name));
                return Err(file.bad(found, "one number that is not negative for each word".into()));
            }
            Ok(values.to_vec())
        };
        let both = |names: [Name; 2], len: Option<usize>| -> Result<[Vec<f32>; 2]> {
            Ok([floats(names[0], len)?, floats(names[1], len)?])
        };
        let rows = file.section::<u64>(ROWS)?.to_vec();
        let targets = file.section::<u32>(TARGETS)?.to_vec();
        let ordered =
            rows.is_sorted() && rows.first() == Some(&0) && rows.last() == Some(&(targets.len() as u64));
        if rows.len() != types + 1 || !ordered || targets.iter().any(|&target| target as usize >= types) {
            return Err(file.bad("rows that do not fit their entries".into(), "one row for each word".into()));
        }
        let links = LinkCounts {
            counts: both(COUNTS, Some(targets.len()))?,
            totals: both(TOTALS, Some(types))?,
            nulls: both(NULLS, Some(types))?,
            rows,
            targets,
        };
        let numbers = file.section::<f64>(NUMBERS)?;
        let &[kind, pairs, alpha, null_alpha, null, smoothing] = numbers else {
            return Err(file.bad(format!("{} numbers", numbers.len()), "6".into()));
        };
        let kind = ModelKind::ALL.into_iter().enumerate().find(|&(index, _)| index as f64 == kind);
        let Some((_, kind)) = kind else {
            return Err(file.bad("an unknown kind of model".into(), "one of four".into()));
        };
        let numbers = [alpha, null_alpha, null, smoothing];
        if numbers.iter().any(|number| !(0.0..=1e6).contains(number)) {
            return Err(file.bad("priors out of range".into(), "numbers that are not negative".into()));
        }
        let fertilities = if kind == ModelKind::Fertility { types * FERTILITIES } else { 0 };
        let fertility = both(FERTILITY, Some(fertilities))?.map(|flat| flat.as_chunks().0.to_vec());
        let positions = both(POSITIONS, (kind == ModelKind::Fertility).then_some(JUMPS))?;
        let priors = both(PRIORS, Some(types))?;
        let model = Self { kind, vocab, links, pairs: pairs as u64, priors, positions, fertility, numbers };
        if (0..2).any(|which| model.position(which).is_none()) {
            return Err(file.bad("positions that fit no model".into(), "those of its kind".into()));
        }
        Ok(model)
    }

    /// The model's number of each word of another text.
    fn numbers_of(&self, bitext: &Bitext) -> Vec<Option<u32>> {
        bitext.vocab().iter().map(|(_, text)| self.vocab.get(text).map(|symbol| symbol.0)).collect()
    }

    /// Counts for the samplers of both directions, under the numbers of another text; hashed without its slots.
    pub(crate) fn base(&self, bitext: &Bitext, pairs: Option<&Pairs>) -> [Base; 2] {
        let known = self.numbers_of(bitext);
        let by_type = |values: &[f32]| -> Vec<f32> {
            known.iter().map(|word| word.map_or(0.0, |word| values[word as usize])).collect()
        };
        let [forward, reverse] = match pairs {
            Some(pairs) => {
                let mut counts = [vec![0f32; pairs.len()], vec![0f32; pairs.len()]];
                self.for_slots(pairs, &known, |slot, found| {
                    counts[0][slot] = found[0];
                    counts[1][slot] = found[1];
                });
                counts.map(BaseCounts::BySlot)
            }
            None => self.hashed(&known).map(BaseCounts::Hashed),
        };
        [(0, forward), (1, reverse)].map(|(which, counts)| {
            let mut totals = by_type(&self.links.totals[which]);
            for (total, prior) in totals.iter_mut().zip(by_type(&self.priors[which])) {
                *total += prior;
            }
            Base {
                counts,
                totals,
                nulls: by_type(&self.links.nulls[which]),
                null_total: self.links.nulls[which].iter().sum(),
                jumps: self.positions[which].clone(),
                fertility: known
                    .iter()
                    .map(|word| word.map_or([0.0; FERTILITIES], |word| self.fertility[which][word as usize]))
                    .collect(),
            }
        })
    }

    /// The counts of all entries whose words are in a text, by the text's numbers: given and generated word.
    fn hashed(&self, known: &[Option<u32>]) -> [PairTable; 2] {
        let mut back = vec![None; self.vocab.len()];
        for (word, number) in known.iter().enumerate() {
            if let Some(number) = *number {
                back[number as usize] = Some(word as u32);
            }
        }
        let mut tables = [PairTable::default(), PairTable::default()];
        for (source, row) in self.links.rows.windows(2).enumerate() {
            let Some(source) = back[source] else { continue };
            for at in row[0] as usize..row[1] as usize {
                if let Some(target) = back[self.links.targets[at] as usize] {
                    *tables[0].entry(source, target) = self.links.counts[0][at].to_bits();
                    *tables[1].entry(target, source) = self.links.counts[1][at].to_bits();
                }
            }
        }
        tables
    }

    fn for_slots(&self, pairs: &Pairs, known: &[Option<u32>], mut see: impl FnMut(usize, [f32; 2])) {
        for (word, source) in known.iter().enumerate() {
            let Some(source) = *source else { continue };
            for slot in pairs.row(word) {
                if let Some(target) = known[pairs.targets()[slot] as usize] {
                    see(slot, self.links.get(source, target));
                }
            }
        }
    }

    /// Translation tables of both directions for another text.
    fn lexicons(&self, bitext: &Bitext, pairs: &Pairs) -> [Lexicon; 2] {
        let known = self.numbers_of(bitext);
        let mut tables = [vec![0f32; pairs.len()], vec![0f32; pairs.len()]];
        let share = |which: usize, count: f32, given: u32| {
            let total = self.links.totals[which][given as usize] + self.priors[which][given as usize];
            let alpha = self.numbers[0] as f32;
            (count + alpha) / (total + alpha)
        };
        self.for_slots(pairs, &known, |slot, counts| {
            let target = known[pairs.targets()[slot] as usize].unwrap_or(0);
            tables[1][slot] = share(1, counts[1], target);
            tables[0][slot] = counts[0];
        });
        for (word, source) in known.iter().enumerate() {
            if let Some(source) = *source {
                for slot in pairs.row(word) {
                    tables[0][slot] = share(0, tables[0][slot], source);
                }
            }
        }
        let [forward, reverse] = tables;
        [(Side::Source, forward), (Side::Target, reverse)].map(|(given, table)| {
            let which = usize::from(given == Side::Target);
            let nulls = &self.links.nulls[which];
            let sum: f32 = nulls.iter().sum::<f32>() + 1.0;
            let null = |word: &Option<u32>| word.map_or(0.1, |word| nulls[word as usize] + 0.1) / sum;
            Lexicon::new(given, table, known.iter().map(null).collect())
        })
    }

    /// The model as one of expectation maximisation, for another text.
    pub(crate) fn em<'a>(&self, bitext: &'a Bitext) -> Em<'a> {
        let pairs = Pairs::build(bitext, Once::Own);
        let lexicons = self.lexicons(bitext, &pairs);
        let positions = [0, 1].map(|which| self.position(which).unwrap_or(Position::Uniform));
        Em::known(bitext, pairs, lexicons, positions)
    }

    /// Where links go, as a model of expectation maximisation.
    fn position(&self, which: usize) -> Option<Position> {
        let values: Vec<f64> = self.positions[which].iter().map(|&value| f64::from(value)).collect();
        let [_, _, null, smoothing] = self.numbers;
        match self.kind {
            ModelKind::Ibm1 => Some(Position::Uniform),
            ModelKind::Diagonal => {
                let &[tension] = values.as_slice() else { return None };
                Some(Position::diagonal_with(null, tension))
            }
            ModelKind::Hmm => Position::hmm_with(null, smoothing, values),
            ModelKind::Fertility => Position::hmm_from_counts(null, &values),
        }
    }
}
