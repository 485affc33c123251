//! The network: an encoder of self-attention over the source, a decoder of recurrence and attention over the target.
//!
//! ```text
//! encoder   rows + positions, then in each layer   x + attention(normal x),  x + feed(normal x)   (Vaswani et al. 2017,
//!           with the normalisation first)                                                          Xiong et al. 2020)
//! decoder   rows, then in each layer               y + recurrence(normal y), y + attention(normal y; encoder), y + feed
//! scores    normal y, times the rows of the target table
//! ```
//!
//! What the decoder remembers of the words before is one vector a layer, the cells of its recurrence (Kim et al. 2019),
//! so that a search can keep thousands of histories: attention over the words before would keep all of them for each.

use std::ops::Range;
use std::sync::Arc;

use sylvan_base::Rng;

use crate::functions::Heads;
use crate::kernel::Lying;
use crate::parameters::{Layout, Parameters, Part, Start};
use crate::tape::{Sentences, Tape, Value, position};
use crate::units::{END, UnitId};

/// How large a network is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Numbers in a row of a table, and in what is between layers.
    pub width: usize,
    /// Numbers inside the layers that see one place alone.
    pub inner: usize,
    /// Heads of each attention; divides the width.
    pub heads: usize,
    /// Layers of the encoder.
    pub encoder: usize,
    /// Layers of the decoder.
    pub decoder: usize,
}

impl Size {
    /// Whether there can be a network of this size.
    pub fn is_sane(self) -> bool {
        self.width > 0
            && self.heads > 0
            && self.width.is_multiple_of(self.heads)
            && self.inner > 0
            && self.decoder > 0
    }
}

impl Default for Size {
    fn default() -> Self {
        Self { width: 256, inner: 1024, heads: 4, encoder: 4, decoder: 2 }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Normal {
    pub(crate) gain: Part,
    pub(crate) bias: Part,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Linear {
    pub(crate) weight: Part,
    pub(crate) bias: Part,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Attention {
    pub(crate) normal: Normal,
    pub(crate) query: Linear,
    pub(crate) key: Linear,
    pub(crate) value: Linear,
    pub(crate) out: Linear,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Feed {
    pub(crate) normal: Normal,
    pub(crate) inner: Linear,
    pub(crate) out: Linear,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Recurrence {
    pub(crate) normal: Normal,
    pub(crate) gate: Linear,
    pub(crate) input: Linear,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct EncoderLayer {
    pub(crate) attention: Attention,
    pub(crate) feed: Feed,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct DecoderLayer {
    pub(crate) recurrence: Recurrence,
    pub(crate) attention: Attention,
    pub(crate) feed: Feed,
}

/// Which parameters are what.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    pub(crate) size: Size,
    /// Rows of source and target units.
    pub(crate) tables: [Part; 2],
    pub(crate) encoder: Vec<EncoderLayer>,
    pub(crate) encoded: Normal,
    pub(crate) decoder: Vec<DecoderLayer>,
    pub(crate) decoded: Normal,
    /// By target unit: what is added to its score.
    pub(crate) bias: Part,
}

/// Adds parts to a layout, and says what they start from.
struct Builder {
    layout: Layout,
    starts: Vec<Start>,
    size: Size,
}

impl Builder {
    fn add(&mut self, name: String, rows: usize, columns: usize, start: Start) -> Part {
        self.starts.push(start);
        self.layout.add(name, rows, columns)
    }

    fn normal(&mut self, name: &str, width: usize) -> Normal {
        Normal {
            gain: self.add(format!("{name}.gain"), 1, width, Start::Constant(1.0)),
            bias: self.add(format!("{name}.bias"), 1, width, Start::Constant(0.0)),
        }
    }

    fn linear(&mut self, name: &str, from: usize, to: usize) -> Linear {
        Linear {
            weight: self.add(format!("{name}.weight"), from, to, Start::Even),
            bias: self.add(format!("{name}.bias"), 1, to, Start::Constant(0.0)),
        }
    }

    fn attention(&mut self, name: &str) -> Attention {
        let width = self.size.width;
        Attention {
            normal: self.normal(&format!("{name}.normal"), width),
            query: self.linear(&format!("{name}.query"), width, width),
            key: self.linear(&format!("{name}.key"), width, width),
            value: self.linear(&format!("{name}.value"), width, width),
            out: self.linear(&format!("{name}.out"), width, width),
        }
    }

    fn feed(&mut self, name: &str) -> Feed {
        let Size { width, inner, .. } = self.size;
        Feed {
            normal: self.normal(&format!("{name}.normal"), width),
            inner: self.linear(&format!("{name}.inner"), width, inner),
            out: self.linear(&format!("{name}.out"), inner, width),
        }
    }

    fn recurrence(&mut self, name: &str) -> Recurrence {
        let width = self.size.width;
        Recurrence {
            normal: self.normal(&format!("{name}.normal"), width),
            gate: self.linear(&format!("{name}.gate"), width, width),
            input: self.linear(&format!("{name}.input"), width, width),
        }
    }
}

/// What training does besides the computation itself.
#[derive(Debug)]
pub(crate) struct Noise<'r> {
    /// Share of numbers that are left out.
    pub(crate) dropout: f32,
    /// Share of units that are read as nothing.
    pub(crate) unread: f32,
    pub(crate) rng: &'r mut Rng,
}

impl Noise<'_> {
    fn drop(&mut self, tape: &mut Tape, x: Value) -> Value {
        tape.dropped(x, self.dropout, self.rng)
    }

    fn read(&mut self, unit: UnitId) -> Option<u32> {
        let is_read = self.unread <= 0.0 || !self.rng.chance(f64::from(self.unread));
        is_read.then_some(unit)
    }
}

impl Network {
    /// The layout of a network, and the numbers that it starts from.
    pub(crate) fn new(size: Size, units: [usize; 2]) -> (Self, Layout, Vec<Start>) {
        let mut builder = Builder { layout: Layout::default(), starts: Vec::new(), size };
        let deviation = Start::Deviation((size.width as f32).sqrt().recip());
        let [source, target] = units;
        let tables = [
            builder.add("source".to_string(), source, size.width, deviation),
            builder.add("target".to_string(), target, size.width, deviation),
        ];
        let encoder = (0..size.encoder).map(|layer| EncoderLayer {
            attention: builder.attention(&format!("encoder{layer}.attention")),
            feed: builder.feed(&format!("encoder{layer}.feed")),
        });
        let encoder = encoder.collect();
        let encoded = builder.normal("encoded", size.width);
        let decoder = (0..size.decoder).map(|layer| DecoderLayer {
            recurrence: builder.recurrence(&format!("decoder{layer}.recurrence")),
            attention: builder.attention(&format!("decoder{layer}.attention")),
            feed: builder.feed(&format!("decoder{layer}.feed")),
        });
        let decoder = decoder.collect();
        let decoded = builder.normal("decoded", size.width);
        let bias = builder.add("bias".to_string(), 1, target, Start::Constant(0.0));
        let network = Self { size, tables, encoder, encoded, decoder, decoded, bias };
        (network, builder.layout, builder.starts)
    }

    pub(crate) fn heads(&self) -> Heads {
        Heads { count: self.size.heads, width: self.size.width }
    }

    /// What rows of tables are multiplied with, so that they are about as large as what layers add to them.
    pub(crate) fn scale(&self) -> f32 {
        (self.size.width as f32).sqrt()
    }

    /// The loss of some pairs of sentences, and what of it is for want of the right unit alone.
    pub(crate) fn loss(
        &self,
        parameters: &Parameters,
        tape: &mut Tape,
        pairs: &[&Pair],
        noise: &mut Noise<'_>,
        (smoothing, scale): (f32, f32),
    ) -> [f64; 2] {
        let source = sentences(pairs.iter().map(|pair| pair.source.len()));
        let target = sentences(pairs.iter().map(|pair| pair.target.len()));
        let memory = self.encode(parameters, tape, pairs, &source, noise);
        // What comes before each unit; the end of the last sentence comes before the first.
        let before =
            pairs.iter().flat_map(|pair| std::iter::once(&END).chain(&pair.target[..pair.target.len() - 1]));
        let rows = before.map(|&unit| if unit == END { Some(END) } else { noise.read(unit) }).collect();
        let mut y = tape.rows(parameters, self.tables[1], rows, self.scale(), None);
        y = noise.drop(tape, y);
        let linear = |tape: &mut Tape, x, linear: Linear| {
            tape.linear(parameters, x, linear.weight, Lying::Rows, linear.bias)
        };
        for layer in &self.decoder {
            let Recurrence { normal, gate, input } = layer.recurrence;
            let x = tape.normal(parameters, y, normal.gain, normal.bias);
            let [gates, inputs] = [gate, input].map(|part| linear(tape, x, part));
            let x = tape.recurrence(gates, inputs, &target);
            let x = noise.drop(tape, x);
            y = tape.sum(y, x);
            let x = tape.normal(parameters, y, layer.attention.normal.gain, layer.attention.normal.bias);
            let query = linear(tape, x, layer.attention.query);
            let [key, value] =
                [layer.attention.key, layer.attention.value].map(|part| linear(tape, memory, part));
            let x = tape.attention([query, key, value], self.heads(), &target, &source);
            let x = linear(tape, x, layer.attention.out);
            let x = noise.drop(tape, x);
            y = tape.sum(y, x);
            y = self.feed(parameters, tape, y, &layer.feed, noise);
        }
        let y = tape.normal(parameters, y, self.decoded.gain, self.decoded.bias);
        let y = noise.drop(tape, y);
        let scores = tape.linear(parameters, y, self.tables[1], Lying::Columns, self.bias);
        let wanted: Vec<UnitId> = pairs.iter().flat_map(|pair| pair.target.iter().copied()).collect();
        tape.loss(scores, &wanted, smoothing, scale)
    }

    fn encode(
        &self,
        parameters: &Parameters,
        tape: &mut Tape,
        pairs: &[&Pair],
        source: &Sentences,
        noise: &mut Noise<'_>,
    ) -> Value {
        let units = pairs.iter().flat_map(|pair| pair.source.iter());
        let rows: Vec<Option<u32>> = units.map(|&unit| noise.read(unit)).collect();
        let mut signals = vec![0.0; rows.len() * self.size.width];
        let places = source.iter().flat_map(|sentence| 0..sentence.len());
        for (place, row) in places.zip(signals.chunks_exact_mut(self.size.width)) {
            position(place, row);
        }
        let mut x = tape.rows(parameters, self.tables[0], rows, self.scale(), Some(&signals));
        x = noise.drop(tape, x);
        let linear = |tape: &mut Tape, x, linear: Linear| {
            tape.linear(parameters, x, linear.weight, Lying::Rows, linear.bias)
        };
        for layer in &self.encoder {
            let Attention { normal, query, key, value, out } = layer.attention;
            let inside = tape.normal(parameters, x, normal.gain, normal.bias);
            let of = [query, key, value].map(|part| linear(tape, inside, part));
            let inside = tape.attention(of, self.heads(), source, source);
            let inside = linear(tape, inside, out);
            let inside = noise.drop(tape, inside);
            x = tape.sum(x, inside);
            x = self.feed(parameters, tape, x, &layer.feed, noise);
        }
        tape.normal(parameters, x, self.encoded.gain, self.encoded.bias)
    }

    fn feed(
        &self,
        parameters: &Parameters,
        tape: &mut Tape,
        x: Value,
        feed: &Feed,
        noise: &mut Noise<'_>,
    ) -> Value {
        let Feed { normal, inner, out } = *feed;
        let inside = tape.normal(parameters, x, normal.gain, normal.bias);
        let inside = tape.linear(parameters, inside, inner.weight, Lying::Rows, inner.bias);
        let inside = tape.positive(inside);
        let inside = noise.drop(tape, inside);
        let inside = tape.linear(parameters, inside, out.weight, Lying::Rows, out.bias);
        let inside = noise.drop(tape, inside);
        tape.sum(x, inside)
    }
}

/// A pair of sentences in units; both end with [`END`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) source: Vec<UnitId>,
    pub(crate) target: Vec<UnitId>,
}

/// The rows of sentences of these lengths.
fn sentences(lengths: impl Iterator<Item = usize>) -> Sentences {
    let mut from = 0;
    let ranges = lengths.map(|length| {
        let range: Range<usize> = from..from + length;
        from += length;
        range
    });
    Arc::from(ranges.collect::<Vec<_>>())
}
