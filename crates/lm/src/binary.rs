//! Compiled models: the container kind `lm` (docs/formats/lm.md).
//!
//! ```text
//! "meta"                            numbers: layout, order, sizes, widths
//! "ends" "bytes" "slots"            the vocabulary; of word classes: the words
//! "classof" "classes"               word classes: the class of each word, the names of the classes
//! "grams1"                          the 1-grams
//! "grams2" ..                       hash: lines of the tables;  trie: records
//! "words2" "pilots2" .. "probs2" .. trie: words or hash functions; tables of codes where there are any
//! "best1" .. "extra1" ..            upper bounds, if asked for
//! ```
//!
//! Opening compares the numbers with the sizes of the sections; all later reads stay inside them, whatever the
//! sections hold.

use std::path::Path;
use std::sync::Arc;

use sylvan_base::{Id, InputError, Result};
use sylvan_store::{Container, ContainerWriter, FrozenVocab, Name, Section, TextReader, is_container, name};

use crate::beside::Bounds;
use crate::hash::{HashLayout, Table, cursor_of, key};
use crate::layout::Layout;
use crate::query::{AnyLayout, with_layout};
use crate::trie::bits::{WIDEST, bytes_for, mask, width_below};
use crate::trie::build::{Scatter, build, is_together};
use crate::trie::codes::Codes;
use crate::trie::level::{Level, Order};
use crate::trie::perfect::{Perfect, buckets_for, cells_for};
use crate::trie::{TrieLayout, scale_for};
use crate::words::{Classed, Words};
use crate::{ArpaConfig, Lm, MAX_ORDER, WordId};

const KIND: Name = name("lm");
/// Version 1 knows only sorted tries, version 2 no classes. A model of words is still written as version 2, which says
/// all there is to say of it.
const VERSION: u32 = 3;
const OF_WORDS: u32 = 2;
const OLDEST: u32 = 1;
const META: Name = name("meta");
const CLASS_OF: Name = name("classof");
const CLASSES: Name = name("classes");
/// How many numbers the section "meta" has.
const NUMBERS: usize = 40;
const MOST_SECTIONS: usize = 64;

/// How the n-grams of a compiled model are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LayoutKind {
    /// Hash tables: fast.
    #[default]
    Hash,
    /// A packed trie: small.
    Trie,
}

/// How a model is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CompileConfig {
    /// Fast or small.
    pub layout: LayoutKind,
    /// Bits per probability and per back-off weight, 2 to 16, or the exact floats. Only tries are quantised.
    pub quantize: Option<u32>,
    /// Whether upper bounds are computed and kept.
    pub bounds: bool,
}

/// What a file says about itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Info {
    /// `arpa`, `hash` or `trie`.
    pub layout: &'static str,
    /// Bits of quantisation.
    pub quantize: Option<u32>,
    /// Whether there are upper bounds.
    pub bounds: bool,
    /// How many n-grams of length 1, 2, ... the model states.
    pub counts: Vec<u64>,
    /// Names and lengths in bytes of the sections of a compiled file.
    pub sections: Vec<(String, u64)>,
}

/// The numbers of "meta".
#[derive(Debug, Clone, Copy, Default)]
struct Meta {
    layout: u64,
    order: u64,
    begin: u64,
    end: u64,
    vocab: u64,
    word_width: u64,
    quantize: u64,
    bounds: u64,
    /// N-grams that the model states, by length.
    stated: [u64; MAX_ORDER],
    /// All n-grams, by length.
    kept: [u64; MAX_ORDER],
    /// Widths of probabilities, back-off weights and starts, by length from 2 on; bit 8 means a table.
    widths: [[u64; 3]; MAX_ORDER - 1],
}

const TABLE: u64 = 1 << 8;
/// In the width of starts: each word stands before its record.
const TOGETHER: u64 = 1 << 9;
/// In the width of starts: the n-grams are hashed, with a seed in the bits from [`SEED`] on.
const HASHED: u64 = 1 << 10;
const SEED: u32 = 16;
/// Which bounds there are, in "meta".
const BEST_ONLY: u64 = 1;
const WITH_EXTRA: u64 = 2;

impl Meta {
    fn numbers(&self) -> Vec<u64> {
        let mut numbers = vec![
            self.layout,
            self.order,
            self.begin,
            self.end,
            self.vocab,
            self.word_width,
            self.quantize,
            self.bounds,
        ];
        numbers.extend(self.stated);
        numbers.extend(self.kept);
        numbers.extend(self.widths.as_flattened());
        debug_assert_eq!(numbers.len(), NUMBERS);
        numbers
    }

    fn from_numbers(numbers: &[u64]) -> Option<Self> {
        let numbers: &[u64; NUMBERS] = numbers.try_into().ok()?;
        let [layout, order, begin, end, vocab, word_width, quantize, bounds] = *numbers.first_chunk()?;
        let mut meta =
            Self { layout, order, begin, end, vocab, word_width, quantize, bounds, ..Self::default() };
        meta.stated.copy_from_slice(&numbers[8..8 + MAX_ORDER]);
        meta.kept.copy_from_slice(&numbers[8 + MAX_ORDER..8 + 2 * MAX_ORDER]);
        meta.widths.as_flattened_mut().copy_from_slice(&numbers[8 + 2 * MAX_ORDER..]);
        Some(meta)
    }
}

const _: () = assert!(8 + 2 * MAX_ORDER + 3 * (MAX_ORDER - 1) == NUMBERS);

/// The name of a section that each n-gram length has.
fn numbered(stem: &str, n: usize) -> Name {
    let mut name = [0; 8];
    name[..stem.len()].copy_from_slice(stem.as_bytes());
    name[stem.len()] = b'0' + n as u8;
    name
}

impl Lm {
    /// Opens a model: a compiled file, or ARPA text (plain, gzip or zstd; `-` is standard input).
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_with(path, ArpaConfig::default())
    }

    /// The same; `config` says how ARPA text is read.
    pub fn open_with(path: &Path, config: ArpaConfig) -> Result<Self> {
        if is_container(path) {
            Self::open_compiled(path)
        } else {
            Self::read_arpa_with(&mut TextReader::open(path)?.tolerant(), config)
        }
    }

    fn open_compiled(path: &Path) -> Result<Self> {
        Self::from_container(Container::open(path, KIND, OLDEST..=VERSION)?)
    }

    /// Opens a compiled model that is a section of a larger file, in place.
    pub fn inside(file: &Container, section: Name) -> Result<Self> {
        Self::from_container(file.part(section, KIND, OLDEST..=VERSION)?)
    }

    fn from_container(file: Container) -> Result<Self> {
        file.check_all()?;
        let file = Arc::new(file);
        let meta = Meta::from_numbers(file.section(META)?);
        let meta =
            meta.ok_or_else(|| file.bad("another section \"meta\"".into(), format!("{NUMBERS} numbers")))?;
        let words = open_words(&file)?;
        let vocab = words.len();
        let sound = (1..=MAX_ORDER as u64).contains(&meta.order)
            && meta.vocab == vocab as u64
            && meta.begin.max(meta.end) < meta.vocab
            && meta.kept.iter().all(|&count| count < 1 << 32);
        if !sound {
            return Err(file.bad("sizes that do not fit together".into(), "a model".into()));
        }
        let layout = match meta.layout {
            0 => AnyLayout::Hash(open_hash(&file, &meta)?),
            1 => AnyLayout::Trie(open_trie(&file, &meta)?),
            other => return Err(file.bad(format!("layout {other}"), "0 (hash) or 1 (trie)".into())),
        };
        let bounds = if meta.bounds == 0 { None } else { Some(open_bounds(&file, &meta, &layout)?) };
        let (begin, end) = (WordId(meta.begin as u32), WordId(meta.end as u32));
        let mut lm = Self::new(words, layout, meta.stated, begin, end);
        lm.bounds = bounds;
        lm.file = Some(file);
        Ok(lm)
    }

    /// Writes the model as a compiled file. Only models that were read from ARPA text or estimated can be compiled.
    pub fn compile(&self, path: &Path, config: CompileConfig) -> Result<()> {
        let words_needed = config.bounds || config.layout == LayoutKind::Trie;
        let list = self.list.as_ref().filter(|list| list.is_whole() || !words_needed);
        let (AnyLayout::Hash(layout), Some(list)) = (&self.layout, list) else {
            return Err(InputError::Format {
                path: self.file.as_ref().map(|file| file.path().to_path_buf()).unwrap_or_default(),
                found: "a compiled language model".into(),
                expected: "ARPA text".into(),
                advice: "compile the ARPA file that it was made from".into(),
            });
        };
        let version = if matches!(*self.words, Words::Classed(_)) { VERSION } else { OF_WORDS };
        let mut writer = ContainerWriter::create(path, KIND, version, MOST_SECTIONS)?;
        let mut meta = Meta {
            order: self.order() as u64,
            begin: u64::from(self.begin_word().0),
            end: u64::from(self.end_word().0),
            vocab: self.vocab_len() as u64,
            stated: self.counts,
            ..Meta::default()
        };
        meta.kept[0] = meta.vocab;
        for n in 2..=self.order() {
            meta.kept[n - 1] = list.kept(n) as u64;
        }
        // By slot of the hash layout; the trie has them in another order.
        let bounds = if config.bounds { self.computed_bounds() } else { None };
        let has_extra = |(_, extra): &(_, Vec<Vec<f32>>)| extra.iter().flatten().any(|&extra| extra > 0.0);
        meta.bounds =
            bounds.as_ref().map_or(0, |bounds| if has_extra(bounds) { WITH_EXTRA } else { BEST_ONLY });
        // Values beside the n-grams of one length, in the order of the layout.
        let bound_stems: &[&str] = if meta.bounds == WITH_EXTRA { &["best", "extra"] } else { &["best"] };
        let put = |writer: &mut ContainerWriter, stem: &str, n: usize, values: &[f32]| {
            writer.section(numbered(stem, n), values)
        };
        match config.layout {
            LayoutKind::Hash => {
                let in_order: Vec<WordId> = (0..self.vocab_len()).map(WordId::from_index).collect();
                self.write_words(&mut writer, &in_order, &in_order)?;
                writer.section(numbered("grams", 1), &layout.words)?;
                for (table, n) in layout.middle.iter().zip(2..) {
                    writer.section(numbered("grams", n), &table.lines)?;
                }
                if let Some(table) = &layout.longest {
                    writer.section(numbered("grams", self.order()), &table.lines)?;
                }
                if let Some((best, extra)) = &bounds {
                    for (stem, lengths) in bound_stems.iter().zip([best, extra]) {
                        for (values, n) in lengths.iter().zip(1..) {
                            put(&mut writer, stem, n, values)?;
                        }
                    }
                }
            }
            LayoutKind::Trie => {
                let scatter = Scatter::of(&self.words);
                self.write_words(&mut writer, &scatter.old, &scatter.new)?;
                (meta.layout, meta.quantize) = (1, u64::from(config.quantize.unwrap_or(0)));
                meta.begin = u64::from(scatter.new[self.begin_word().index()].0);
                meta.end = u64::from(scatter.new[self.end_word().index()].0);
                meta.word_width = u64::from(width_below(meta.vocab));
                let order = self.order();
                if let (Some((best, extra)), true) = (&bounds, order > 1) {
                    let moved = |values: &[f32]| -> Vec<f32> {
                        scatter.old.iter().map(|word| values[word.index()]).collect()
                    };
                    for (stem, lengths) in bound_stems.iter().zip([best, extra]) {
                        put(&mut writer, stem, 1, &moved(&lengths[0]))?;
                    }
                }
                let words = build(layout, list, &scatter, config.quantize, |n, level| {
                    let flag = |table: &Option<Vec<f32>>| if table.is_some() { TABLE } else { 0 };
                    meta.widths[n - 2] = [
                        u64::from(level.prob.width) | flag(&level.prob.table),
                        u64::from(level.backoff.width) | flag(&level.backoff.table),
                        u64::from(level.next_width),
                    ];
                    let together = is_together(n, level.perfect.is_some());
                    meta.widths[n - 2][2] |= if together { TOGETHER } else { 0 };
                    if !together {
                        writer.section(numbered("words", n), &level.words)?;
                    }
                    writer.section(numbered("grams", n), &level.records)?;
                    if let Some(perfect) = &level.perfect {
                        meta.widths[n - 2][2] |= HASHED | u64::from(perfect.seed) << SEED;
                        writer.section(numbered("pilots", n), &perfect.pilots)?;
                    }
                    for (stem, table) in [("probs", &level.prob.table), ("backs", &level.backoff.table)] {
                        if let Some(table) = table {
                            put(&mut writer, stem, n, table)?;
                        }
                    }
                    if let (Some((best, extra)), true) = (&bounds, n < order) {
                        for (stem, values) in bound_stems.iter().zip([&best[n - 1], &extra[n - 1]]) {
                            let mut moved = vec![0.0; level.cells];
                            for (words, &place) in list.grams(n).zip(&level.places) {
                                if let Some((slot, _)) = layout.middle[n - 2].find(key(cursor_of(words))) {
                                    moved[place as usize] = values[slot];
                                }
                            }
                            put(&mut writer, stem, n, &moved)?;
                        }
                    }
                    Ok::<(), InputError>(())
                })?;
                writer.section(numbered("grams", 1), &words)?;
            }
        }
        writer.section(META, &meta.numbers())?;
        writer.finish()
    }

    /// Writes the vocabulary with other ids: `old` and `new` say which was which.
    fn write_words(&self, writer: &mut ContainerWriter, old: &[WordId], new: &[WordId]) -> Result<()> {
        let Words::Classed(classed) = &*self.words else {
            return FrozenVocab::append(writer, old.len(), old.iter().map(|&word| self.text(word)));
        };
        let words = (0..classed.words.len()).map(|index| classed.words.text(WordId::from_index(index)));
        FrozenVocab::append(writer, classed.words.len(), words)?;
        let class_of: Vec<u32> = classed.class_of.iter().map(|&class| new[WordId(class).index()].0).collect();
        writer.section(CLASS_OF, &class_of)?;
        let names: Vec<&str> = old.iter().map(|&class| self.text(class)).collect();
        writer.section(CLASSES, names.join("\n").as_bytes())
    }

    /// Checks the checksums and the structure of a compiled model; models in memory are sound.
    pub fn verify(&self) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        match &*self.words {
            Words::File(vocab) => vocab.verify()?,
            Words::Memory(_) | Words::Classed(_) => file.verify()?,
        }
        let meta = Meta::from_numbers(file.section(META)?).unwrap_or_default();
        let fault = match &self.layout {
            AnyLayout::Hash(layout) => {
                let kept = |n: usize| meta.kept[n - 1];
                let mut middle = layout.middle.iter().zip(2..);
                middle
                    .find_map(|(table, n)| table.fault(kept(n)))
                    .or_else(|| layout.longest.as_ref().and_then(|table| table.fault(kept(self.order()))))
            }
            AnyLayout::Trie(layout) => layout.fault(&meta.kept),
        };
        match fault {
            Some(fault) => Err(file.bad(fault, "the structure of a model".into())),
            None => Ok(()),
        }
    }

    /// What the model is made of.
    pub fn info(&self) -> Info {
        let meta = self.file.as_ref().and_then(|file| Meta::from_numbers(file.section(META).ok()?));
        let layout = match (&self.layout, &self.file) {
            (_, None) => "arpa",
            (AnyLayout::Hash(_), _) => "hash",
            (AnyLayout::Trie(_), _) => "trie",
        };
        Info {
            layout,
            quantize: meta.map(|meta| meta.quantize as u32).filter(|&bits| bits > 0),
            bounds: self.has_bounds(),
            counts: (1..=self.order()).map(|n| self.count(n) as u64).collect(),
            sections: self.file.iter().flat_map(|file| file.sections()).collect(),
        }
    }
}

/// The vocabulary, of classes if there are some.
fn open_words(file: &Arc<Container>) -> Result<Words> {
    let words = FrozenVocab::inside(file)?;
    if !file.has(CLASS_OF) {
        return Ok(Words::File(words));
    }
    let class_of: Section<u32> = Section::from_file(file, CLASS_OF)?;
    let names = std::str::from_utf8(file.section(CLASSES)?);
    let names = names.map_err(|_| file.bad("names of classes that are not UTF-8".into(), "UTF-8".into()))?;
    let names: Vec<Box<str>> = names.split('\n').map(Box::from).collect();
    if class_of.len() != words.len() || class_of.iter().any(|&class| class as usize >= names.len()) {
        let found = "classes that do not fit the words".into();
        return Err(file.bad(found, format!("a number below {} for each word", names.len())));
    }
    Ok(Words::Classed(Classed { words: Box::new(Words::File(words)), class_of, names }))
}

fn open_hash(file: &Arc<Container>, meta: &Meta) -> Result<HashLayout> {
    let order = meta.order as usize;
    let words = Section::from_file(file, numbered("grams", 1))?;
    if words.len() as u64 != meta.vocab {
        return Err(file.bad(format!("{} 1-grams", words.len()), format!("{}", meta.vocab)));
    }
    let middle = (2..order).map(|n| Ok(Table { lines: Section::from_file(file, numbered("grams", n))? }));
    let middle = middle.collect::<Result<Vec<_>>>()?;
    let longest = match order {
        1 => None,
        _ => Some(Table { lines: Section::from_file(file, numbered("grams", order))? }),
    };
    Ok(HashLayout { words, middle, longest })
}

fn open_trie(file: &Arc<Container>, meta: &Meta) -> Result<TrieLayout> {
    let order = meta.order as usize;
    let words: Section<_> = Section::from_file(file, numbered("grams", 1))?;
    if words.len() as u64 != meta.vocab + 1 {
        return Err(file.bad(format!("{} 1-grams", words.len()), format!("{}", meta.vocab + 1)));
    }
    let codes = |stem: &str, n: usize, width: u64| -> Result<Codes> {
        let table =
            if width & TABLE != 0 { Some(Section::from_file(file, numbered(stem, n))?) } else { None };
        Ok(Codes { width: (width & !TABLE) as u32, table })
    };
    let mut levels: Vec<Level> = Vec::new();
    let mut parents = meta.vocab;
    for n in 2..=order {
        let [prob, backoff, next] = meta.widths[n - 2];
        let (together, hashed, seed) = (next & TOGETHER != 0, next & HASHED != 0, next >> SEED);
        let next = next & (TOGETHER - 1);
        let widths = [prob & !TABLE, backoff & !TABLE, next, meta.word_width];
        // A width of 0 would make any number of words fit; only the true one bounds the count by the file's size.
        let words_fit = meta.word_width == u64::from(width_below(meta.vocab)) && meta.word_width > 0;
        if !words_fit || widths.iter().any(|&width| width > u64::from(WIDEST)) {
            let expected = format!("at most {WIDEST}, and as many as words need");
            return Err(file.bad(format!("fields of {widths:?} bits"), expected));
        }
        // The place of the shorter n-gram stands behind the word, and only hashed ones follow no sorted ones.
        let follows = n == 2 || matches!(levels[n - 3].order, Order::Hashed { .. });
        if hashed && !(together && follows && n < order) {
            return Err(file.bad(format!("{n}-grams that cannot be hashed"), "sorted ones".into()));
        }
        let count = meta.kept[n - 1];
        let seed = u32::try_from(seed).unwrap_or(u32::MAX);
        let cells = if hashed { cells_for(count, seed) } else { count };
        let parent_width = if hashed { width_below(parents) } else { 0 };
        let [prob_width, backoff_width, next_width, word_width] = widths.map(|width| width as u32);
        let record = prob_width + backoff_width + next_width;
        let records = Section::from_file(file, numbered("grams", n))?;
        let (words, stride, record_offset, record_stride) = if together {
            let front = word_width + parent_width;
            (Section::clone(&records), front + record, front, front + record)
        } else {
            (Section::from_file(file, numbered("words", n))?, word_width, 0, record)
        };
        let more = u64::from(n < order);
        let words_expected = if together { cells + more } else { cells };
        let expected = (bytes_for(words_expected, stride), bytes_for(cells + more, record_stride));
        let found = (Some(words.len() as u64), Some(records.len() as u64));
        if found != expected || cells > u64::from(u32::MAX) {
            return Err(file.bad(format!("{found:?} bytes of {n}-grams"), format!("{expected:?}")));
        }
        let cells = cells as usize;
        let order = if hashed {
            let pilots: Section<u8> = Section::from_file(file, numbered("pilots", n))?;
            if pilots.len() as u64 != buckets_for(count) {
                let expected = format!("{} bytes", buckets_for(count));
                return Err(file.bad(format!("{} bytes of pilots", pilots.len()), expected));
            }
            let perfect = Perfect { seed, cells, pilots };
            Order::Hashed { perfect, word_width, parent_mask: mask(parent_width) }
        } else {
            Order::Sorted
        };
        let level = Level {
            cells,
            word_mask: mask(word_width),
            stride,
            words,
            record_offset,
            record_stride,
            records,
            order,
            prob: codes("probs", n, prob)?,
            backoff: codes("backs", n, backoff)?,
            next_width,
        };
        levels.push(level);
        parents = cells as u64;
    }
    Ok(TrieLayout { words, levels, scale: scale_for(meta.vocab as usize) })
}

fn open_bounds(file: &Arc<Container>, meta: &Meta, layout: &AnyLayout) -> Result<Bounds> {
    let open = |stem: &str| -> Result<Vec<Section<f32>>> {
        (1..meta.order as usize)
            .map(|n| {
                let values = Section::from_file(file, numbered(stem, n))?;
                let slots = with_layout!(layout, layout => layout.slots(n));
                if values.len() == slots {
                    Ok(values)
                } else {
                    Err(file.bad(format!("{} bounds of {n}-grams", values.len()), slots.to_string()))
                }
            })
            .collect()
    };
    let extra = if meta.bounds == WITH_EXTRA { Some(open("extra")?) } else { None };
    Ok(Bounds { best: open("best")?, extra })
}
