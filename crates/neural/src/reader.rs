//! A network at work: what it says of the words of a translation, one history or many at once.
//!
//! ```text
//! Reader     the network with its matrices packed; shared by threads
//! Encoded    a source sentence: the keys and values of the decoder's layers
//! Histories  what has been said so far, in as many ways as a search likes; each history is a few vectors
//! ```
//!
//! The numbers are those of training to the last bit, whichever histories are computed together.

use std::sync::Arc;

use crate::file::NeuralModel;
use crate::functions::{attend, log_sum_exp, normalize, recur};
use crate::kernel::{Lying, Packed, Room, multiply};
use crate::network::{Attention, Feed, Linear, Normal};
use crate::parameters::{Parameters, Part};
use crate::tape::position;
use crate::units::{END, UnitId};

/// Histories that are computed together, so that what is between layers stays in the cache.
const TOGETHER: usize = 48;

#[derive(Debug)]
struct ReadyLinear {
    weight: Packed,
    bias: Vec<f32>,
}

#[derive(Debug)]
struct ReadyNormal {
    gain: Vec<f32>,
    bias: Vec<f32>,
}

#[derive(Debug)]
struct ReadyAttention {
    normal: ReadyNormal,
    query: ReadyLinear,
    key: ReadyLinear,
    value: ReadyLinear,
    out: ReadyLinear,
}

#[derive(Debug)]
struct ReadyFeed {
    normal: ReadyNormal,
    inner: ReadyLinear,
    out: ReadyLinear,
}

#[derive(Debug)]
struct ReadyDecoder {
    normal: ReadyNormal,
    gate: ReadyLinear,
    input: ReadyLinear,
    attention: ReadyAttention,
    feed: ReadyFeed,
}

/// A network, ready to read and to say.
#[derive(Debug)]
pub struct Reader {
    model: Arc<NeuralModel>,
    encoder: Vec<(ReadyAttention, ReadyFeed)>,
    encoded: ReadyNormal,
    decoder: Vec<ReadyDecoder>,
    decoded: ReadyNormal,
    scores: ReadyLinear,
}

/// Memory for what is between layers, used again.
#[derive(Debug, Default)]
pub struct Scratch {
    room: Room,
    inside: Vec<f32>,
    other: Vec<f32>,
    third: Vec<f32>,
    wide: Vec<f32>,
    shares: Vec<f32>,
}

fn fill(memory: &mut Vec<f32>, count: usize) -> &mut [f32] {
    memory.clear();
    memory.resize(count, 0.0);
    memory
}

impl ReadyLinear {
    fn new(parameters: &Parameters, Linear { weight, bias }: Linear, lying: Lying) -> Self {
        let bias = parameters.of(bias).to_vec();
        let weight = parameters.of(weight);
        Self { weight: Packed::new(weight, lying, weight.len() / bias.len(), bias.len()), bias }
    }

    fn apply(&self, room: &mut Room, x: &[f32], out: &mut Vec<f32>) {
        let rows = x.len() / self.weight.inner();
        out.clear();
        for _ in 0..rows {
            out.extend_from_slice(&self.bias);
        }
        multiply(room, x, Lying::Rows, &self.weight, out);
    }
}

impl ReadyNormal {
    fn new(parameters: &Parameters, Normal { gain, bias }: Normal) -> Self {
        let of = |part: Part| parameters.of(part).to_vec();
        Self { gain: of(gain), bias: of(bias) }
    }

    fn apply(&self, x: &[f32], out: &mut Vec<f32>) {
        normalize(x, &self.gain, &self.bias, fill(out, x.len()));
    }
}

impl ReadyAttention {
    fn new(parameters: &Parameters, attention: Attention) -> Self {
        let linear = |linear| ReadyLinear::new(parameters, linear, Lying::Rows);
        let Attention { normal, query, key, value, out } = attention;
        let [query, key, value, out] = [query, key, value, out].map(linear);
        Self { normal: ReadyNormal::new(parameters, normal), query, key, value, out }
    }
}

impl ReadyFeed {
    fn new(parameters: &Parameters, Feed { normal, inner, out }: Feed) -> Self {
        let linear = |linear| ReadyLinear::new(parameters, linear, Lying::Rows);
        Self { normal: ReadyNormal::new(parameters, normal), inner: linear(inner), out: linear(out) }
    }

    /// Adds to `x` what the layer makes of it.
    fn add_to(&self, x: &mut [f32], scratch: &mut Scratch) {
        self.normal.apply(x, &mut scratch.inside);
        self.inner.apply(&mut scratch.room, &scratch.inside, &mut scratch.wide);
        scratch.wide.iter_mut().for_each(|value| *value = value.max(0.0));
        self.out.apply(&mut scratch.room, &scratch.wide, &mut scratch.inside);
        add(x, &scratch.inside);
    }
}

fn add(to: &mut [f32], from: &[f32]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
}

/// The keys and values of each layer of the decoder.
#[derive(Debug)]
pub struct Encoded {
    layers: Vec<[Vec<f32>; 2]>,
}

impl Reader {
    /// Makes a network ready.
    pub fn new(model: Arc<NeuralModel>) -> Self {
        let (network, parameters) = (&model.network, &model.parameters);
        let linear = |linear| ReadyLinear::new(parameters, linear, Lying::Rows);
        let encoder = network.encoder.iter();
        let encoder = encoder.map(|layer| {
            (ReadyAttention::new(parameters, layer.attention), ReadyFeed::new(parameters, layer.feed))
        });
        let decoder = network.decoder.iter().map(|layer| ReadyDecoder {
            normal: ReadyNormal::new(parameters, layer.recurrence.normal),
            gate: linear(layer.recurrence.gate),
            input: linear(layer.recurrence.input),
            attention: ReadyAttention::new(parameters, layer.attention),
            feed: ReadyFeed::new(parameters, layer.feed),
        });
        let scores = Linear { weight: network.tables[1], bias: network.bias };
        Self {
            encoder: encoder.collect(),
            encoded: ReadyNormal::new(parameters, network.encoded),
            decoder: decoder.collect(),
            decoded: ReadyNormal::new(parameters, network.decoded),
            scores: ReadyLinear::new(parameters, scores, Lying::Columns),
            model,
        }
    }

    /// The network.
    pub fn model(&self) -> &Arc<NeuralModel> {
        &self.model
    }

    fn width(&self) -> usize {
        self.model.network.size.width
    }

    fn row(&self, table: usize, unit: UnitId, out: &mut Vec<f32>) {
        let numbers = self.model.parameters.of(self.model.network.tables[table]);
        let (width, scale) = (self.width(), self.model.network.scale());
        let from = unit as usize * width;
        out.extend(numbers[from..from + width].iter().map(|number| number * scale));
    }

    /// Reads a source sentence, which ends with [`END`].
    pub fn encode(&self, source: &[UnitId], scratch: &mut Scratch) -> Encoded {
        let (width, heads) = (self.width(), self.model.network.heads());
        let mut x = Vec::with_capacity(source.len() * width);
        for (place, &unit) in source.iter().enumerate() {
            self.row(0, unit, &mut x);
            let mut signal = vec![0.0; width];
            position(place, &mut signal);
            add(&mut x[place * width..], &signal);
        }
        let [mut query, mut key, mut value] = [const { Vec::new() }; 3];
        for (attention, feed) in &self.encoder {
            attention.normal.apply(&x, &mut scratch.inside);
            attention.query.apply(&mut scratch.room, &scratch.inside, &mut query);
            attention.key.apply(&mut scratch.room, &scratch.inside, &mut key);
            attention.value.apply(&mut scratch.room, &scratch.inside, &mut value);
            let shares = fill(&mut scratch.shares, heads.count * source.len());
            let out = fill(&mut scratch.other, x.len());
            for (query, out) in query.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
                attend(heads, query, &key, &value, shares, out);
            }
            attention.out.apply(&mut scratch.room, &scratch.other, &mut scratch.inside);
            add(&mut x, &scratch.inside);
            feed.add_to(&mut x, scratch);
        }
        let mut memory = Vec::new();
        self.encoded.apply(&x, &mut memory);
        let layers = self.decoder.iter().map(|layer| {
            [&layer.attention.key, &layer.attention.value].map(|linear| {
                let mut out = Vec::new();
                linear.apply(&mut scratch.room, &memory, &mut out);
                out
            })
        });
        Encoded { layers: layers.collect() }
    }

    /// Some histories one unit on: `y` has the rows of the units and becomes the scores of all units, `cells` are those
    /// of each history and layer and become those after the unit.
    fn decode(&self, encoded: &Encoded, y: &mut Vec<f32>, cells: &mut [f32], scratch: &mut Scratch) {
        let (width, heads) = (self.width(), self.model.network.heads());
        let count = y.len() / width;
        for (number, layer) in self.decoder.iter().enumerate() {
            layer.normal.apply(y, &mut scratch.inside);
            layer.gate.apply(&mut scratch.room, &scratch.inside, &mut scratch.other);
            layer.input.apply(&mut scratch.room, &scratch.inside, &mut scratch.third);
            for history in 0..count {
                let row = history * width..(history + 1) * width;
                let own = (history * self.decoder.len() + number) * width;
                let cell = &mut cells[own..own + width];
                recur(&scratch.other[row.clone()], &scratch.third[row.clone()], cell);
                for (y, cell) in y[row].iter_mut().zip(cell) {
                    *y += cell.max(0.0);
                }
            }
            layer.attention.normal.apply(y, &mut scratch.inside);
            layer.attention.query.apply(&mut scratch.room, &scratch.inside, &mut scratch.third);
            let [key, value] = &encoded.layers[number];
            let shares = fill(&mut scratch.shares, heads.count * key.len() / width);
            let out = fill(&mut scratch.other, y.len());
            for (query, out) in scratch.third.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
                attend(heads, query, key, value, shares, out);
            }
            layer.attention.out.apply(&mut scratch.room, &scratch.other, &mut scratch.inside);
            add(y, &scratch.inside);
            layer.feed.add_to(y, scratch);
        }
        self.decoded.apply(y, &mut scratch.inside);
        self.scores.apply(&mut scratch.room, &scratch.inside, y);
    }
}

/// A history, numbered within a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct History(pub u32);

impl History {
    /// Nothing was said so far.
    pub const EMPTY: Self = Self(0);
}

/// Histories of one sentence, and what the network expects after each: the logarithms of the probabilities of some units.
#[derive(Debug)]
pub struct Histories {
    reader: Arc<Reader>,
    encoded: Encoded,
    /// The units that may come, in order; [`END`] is one of them.
    units: Arc<[UnitId]>,
    cells: Vec<f32>,
    expected: Vec<f32>,
    scratch: Scratch,
}

impl Histories {
    /// Reads a source sentence of which translations can have these units; [`END`] is added.
    pub fn new(reader: Arc<Reader>, source: &[UnitId], units: impl IntoIterator<Item = UnitId>) -> Self {
        let mut units: Vec<UnitId> = units.into_iter().chain([END]).collect();
        units.sort_unstable();
        units.dedup();
        let mut scratch = Scratch::default();
        let encoded = reader.encode(source, &mut scratch);
        let units = Arc::from(units);
        let mut histories = Self { reader, encoded, units, cells: Vec::new(), expected: Vec::new(), scratch };
        histories.append(&[(None, END)]);
        histories
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.expected.len() / self.units.len()
    }

    /// There always is the empty one.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Says one unit more after each of some histories; the first of the new ones, which follow each other.
    pub fn say(&mut self, steps: &[(History, UnitId)]) -> History {
        let first = History(self.len() as u32);
        let steps: Vec<(Option<History>, UnitId)> =
            steps.iter().map(|&(history, unit)| (Some(history), unit)).collect();
        for together in steps.chunks(TOGETHER) {
            self.append(together);
        }
        first
    }

    fn append(&mut self, steps: &[(Option<History>, UnitId)]) {
        let own = self.reader.width() * self.reader.decoder.len();
        let (from, mut y) = (self.cells.len(), Vec::with_capacity(steps.len() * self.reader.width()));
        for &(history, unit) in steps {
            self.reader.row(1, unit, &mut y);
            match history {
                Some(History(history)) => {
                    let cells = history as usize * own;
                    self.cells.extend_from_within(cells..cells + own);
                }
                None => self.cells.resize(self.cells.len() + own, 0.0),
            }
        }
        let reader = Arc::clone(&self.reader);
        reader.decode(&self.encoded, &mut y, &mut self.cells[from..], &mut self.scratch);
        for scores in y.chunks_exact(reader.scores.bias.len()) {
            let z = log_sum_exp(scores);
            self.expected.extend(self.units.iter().map(|&unit| scores[unit as usize] - z));
        }
    }

    /// The logarithm of the probability that a unit comes next; `None` if it is not one of those that may come.
    pub fn expects(&self, history: History, unit: UnitId) -> Option<f32> {
        let place = self.units.binary_search(&unit).ok()?;
        Some(self.expected[history.0 as usize * self.units.len() + place])
    }

    /// What may come after a history: units and the logarithms of their probabilities.
    pub fn expected(&self, history: History) -> impl Iterator<Item = (UnitId, f32)> {
        let from = history.0 as usize * self.units.len();
        self.units.iter().copied().zip(self.expected[from..from + self.units.len()].iter().copied())
    }
}

/// A translation is not longer than this many times its source, and this many units more.
const LONGEST: [usize; 2] = [3, 10];

impl Reader {
    /// Translates a line of words by the network alone: the best of a beam of histories, by the mean of their logarithms.
    pub fn translate(self: &Arc<Self>, line: &str, beam: usize) -> String {
        let [source, target] = &self.model.units;
        let source = source.of_line(line);
        let mut histories =
            Histories::new(Arc::clone(self), &source, (2..target.len() as UnitId).collect::<Vec<_>>());
        let mut alive: Vec<(f32, History, Vec<UnitId>)> = vec![(0.0, History::EMPTY, Vec::new())];
        let mut best: (f32, Vec<UnitId>) = (f32::NEG_INFINITY, Vec::new());
        for length in 1..=source.len() * LONGEST[0] + LONGEST[1] {
            let mut next: Vec<(f32, usize, UnitId)> = Vec::new();
            for (place, (score, history, _)) in alive.iter().enumerate() {
                for (unit, gain) in histories.expected(*history) {
                    next.push((score + gain, place, unit));
                }
            }
            next.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2))));
            next.truncate(beam);
            let (ended, going): (Vec<_>, Vec<_>) = next.into_iter().partition(|step| step.2 == END);
            for (score, place, _) in ended {
                let mean = score / length as f32;
                if mean > best.0 {
                    best = (mean, alive[place].2.clone());
                }
            }
            // Whatever follows cannot make a mean better than this by much; greedy search ends with its first end.
            if going.is_empty() || going.iter().all(|&(score, ..)| score / (length as f32) < best.0) {
                break;
            }
            let steps: Vec<(History, UnitId)> =
                going.iter().map(|&(_, place, unit)| (alive[place].1, unit)).collect();
            let first = histories.say(&steps);
            let extended = going.iter().enumerate().map(|(number, &(score, place, unit))| {
                let mut units = alive[place].2.clone();
                units.push(unit);
                (score, History(first.0 + number as u32), units)
            });
            alive = extended.collect();
        }
        if best.0 == f32::NEG_INFINITY {
            best.1 = alive.swap_remove(0).2;
        }
        target.line(&best.1)
    }

    /// The logarithms of the probabilities of the words of a translation, and of its end.
    pub fn score(self: &Arc<Self>, source: &str, target: &str) -> Vec<f64> {
        let [source_units, target_units] = &self.model.units;
        let of = target_units.of_line(target);
        let mut histories = Histories::new(Arc::clone(self), &source_units.of_line(source), of);
        let (mut history, mut values, mut units) = (History::EMPTY, Vec::new(), Vec::new());
        // All units of the target may come.
        let said =
            |histories: &Histories, history, unit| histories.expects(history, unit).map_or(0.0, f64::from);
        for word in target.split_ascii_whitespace() {
            units.clear();
            target_units.of_word(word, &mut units);
            let mut value = 0.0;
            for &unit in &units {
                value += said(&histories, history, unit);
                history = histories.say(&[(history, unit)]);
            }
            values.push(value);
        }
        values.push(said(&histories, history, END));
        values
    }
}
