//! The network once more, in double precision and without any cleverness: vectors, loops, definitions.

use crate::END;
use crate::network::{Attention, Feed, Linear, Network, Normal, Pair};
use crate::parameters::{Layout, Part};

struct Twin<'t> {
    network: &'t Network,
    layout: &'t Layout,
    numbers: &'t [f64],
}

type Rows = Vec<Vec<f64>>;

impl Twin<'_> {
    fn at(&self, part: Part, row: usize, column: usize) -> f64 {
        let columns = self.layout.size(part).1;
        self.numbers[self.layout.range(part).start + row * columns + column]
    }

    fn linear(&self, linear: Linear, x: &[f64]) -> Vec<f64> {
        let columns = self.layout.size(linear.bias).1;
        let column = |column: usize| {
            let sum: f64 = x.iter().enumerate().map(|(row, x)| x * self.at(linear.weight, row, column)).sum();
            sum + self.at(linear.bias, 0, column)
        };
        (0..columns).map(column).collect()
    }

    fn normal(&self, normal: Normal, x: &[f64]) -> Vec<f64> {
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / x.len() as f64;
        let one = |(place, x): (usize, &f64)| {
            (x - mean) / (variance + 1e-5).sqrt() * self.at(normal.gain, 0, place)
                + self.at(normal.bias, 0, place)
        };
        x.iter().enumerate().map(one).collect()
    }

    fn all(&self, rows: &Rows, of: impl Fn(&[f64]) -> Vec<f64>) -> Rows {
        rows.iter().map(|row| of(row)).collect()
    }

    fn attention(&self, attention: Attention, x: &Rows, memory: &Rows) -> Rows {
        let (width, heads) = (self.network.size.width, self.network.size.heads);
        let own = width / heads;
        let keys = self.all(memory, |x| self.linear(attention.key, x));
        let values = self.all(memory, |x| self.linear(attention.value, x));
        self.all(x, |x| {
            let query = self.linear(attention.query, x);
            let mut found = vec![0.0; width];
            for head in 0..heads {
                let part = head * own..(head + 1) * own;
                let score = |key: &Vec<f64>| {
                    let dot: f64 = part.clone().map(|lane| query[lane] * key[lane]).sum();
                    (dot / (own as f64).sqrt()).exp()
                };
                let scores: Vec<f64> = keys.iter().map(score).collect();
                let total: f64 = scores.iter().sum();
                for lane in part.clone() {
                    found[lane] =
                        scores.iter().zip(&values).map(|(score, value)| score / total * value[lane]).sum();
                }
            }
            self.linear(attention.out, &found)
        })
    }

    fn feed(&self, feed: Feed, x: &Rows) -> Rows {
        self.all(x, |x| {
            let inner = self.linear(feed.inner, &self.normal(feed.normal, x));
            let inner: Vec<f64> = inner.into_iter().map(|value| value.max(0.0)).collect();
            self.linear(feed.out, &inner)
        })
    }

    fn rows(&self, table: Part, units: &[u32]) -> Rows {
        let (width, scale) = (self.network.size.width, (self.network.size.width as f64).sqrt());
        let row =
            |&unit: &u32| (0..width).map(|column| self.at(table, unit as usize, column) * scale).collect();
        units.iter().map(row).collect()
    }

    fn encode(&self, source: &[u32]) -> Rows {
        let width = self.network.size.width;
        let mut x = self.rows(self.network.tables[0], source);
        for (place, row) in x.iter_mut().enumerate() {
            for pair in 0..width / 2 {
                let angle = place as f64 * 10_000_f64.powf(-2.0 * pair as f64 / width as f64);
                row[2 * pair] += angle.sin();
                row[2 * pair + 1] += angle.cos();
            }
        }
        for layer in &self.network.encoder {
            let inside = self.all(&x, |x| self.normal(layer.attention.normal, x));
            x = sum(&x, &self.attention(layer.attention, &inside, &inside));
            x = sum(&x, &self.feed(layer.feed, &x));
        }
        self.all(&x, |x| self.normal(self.network.encoded, x))
    }

    fn decode(&self, memory: &Rows, before: &[u32]) -> Rows {
        let width = self.network.size.width;
        let mut y = self.rows(self.network.tables[1], before);
        for layer in &self.network.decoder {
            let mut cell = vec![0.0; width];
            let mut out = Rows::new();
            for y in &y {
                let inside = self.normal(layer.recurrence.normal, y);
                let gate = self.linear(layer.recurrence.gate, &inside);
                let input = self.linear(layer.recurrence.input, &inside);
                for lane in 0..width {
                    let keep = 1.0 / (1.0 + (-gate[lane]).exp());
                    cell[lane] = keep * cell[lane] + (1.0 - keep) * input[lane];
                }
                out.push(cell.iter().map(|cell| cell.max(0.0)).collect());
            }
            y = sum(&y, &out);
            let inside = self.all(&y, |y| self.normal(layer.attention.normal, y));
            y = sum(&y, &self.attention(layer.attention, &inside, memory));
            y = sum(&y, &self.feed(layer.feed, &y));
        }
        self.all(&y, |y| {
            let y = self.normal(self.network.decoded, y);
            let units = self.layout.size(self.network.bias).1;
            let score = |unit: usize| {
                let dot: f64 =
                    (0..width).map(|lane| y[lane] * self.at(self.network.tables[1], unit, lane)).sum();
                dot + self.at(self.network.bias, 0, unit)
            };
            (0..units).map(score).collect()
        })
    }
}

fn sum(a: &Rows, b: &Rows) -> Rows {
    a.iter().zip(b).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + b).collect()).collect()
}

/// The loss of some pairs.
pub(super) fn loss(
    network: &Network,
    layout: &Layout,
    numbers: &[f64],
    pairs: &[Pair],
    smoothing: f64,
) -> f64 {
    let twin = Twin { network, layout, numbers };
    let mut loss = 0.0;
    for Pair { source, target } in pairs {
        let memory = twin.encode(source);
        let before: Vec<u32> =
            std::iter::once(END).chain(target[..target.len() - 1].iter().copied()).collect();
        for (scores, &wanted) in twin.decode(&memory, &before).iter().zip(target) {
            let z = scores.iter().map(|score| score.exp()).sum::<f64>().ln();
            let even = scores.iter().map(|score| score - z).sum::<f64>() / scores.len() as f64;
            loss -= (1.0 - smoothing) * (scores[wanted as usize] - z) + smoothing * even;
        }
    }
    loss
}
