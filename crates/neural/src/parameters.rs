//! All numbers that a network learns, in one row, and what each part of it is.

use sylvan_base::Rng;

/// A matrix of parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Part(usize);

/// What a part is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shape {
    name: String,
    rows: usize,
    columns: usize,
    from: usize,
}

/// Where the numbers of a part begin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Start {
    /// Uniform, so that what comes out varies as what goes in (Glorot & Bengio 2010).
    Even,
    /// Uniform with this deviation.
    Deviation(f32),
    /// The same number everywhere.
    Constant(f32),
}

/// The shapes of all parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    shapes: Vec<Shape>,
    len: usize,
}

impl Layout {
    /// Adds a part.
    pub(crate) fn add(&mut self, name: String, rows: usize, columns: usize) -> Part {
        self.shapes.push(Shape { name, rows, columns, from: self.len });
        self.len += rows * columns;
        Part(self.shapes.len() - 1)
    }

    /// How many numbers there are.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Rows and columns of a part.
    pub(crate) fn size(&self, part: Part) -> (usize, usize) {
        (self.shapes[part.0].rows, self.shapes[part.0].columns)
    }

    /// Where a part lies.
    pub(crate) fn range(&self, part: Part) -> std::ops::Range<usize> {
        let Shape { rows, columns, from, .. } = self.shapes[part.0];
        from..from + rows * columns
    }

    /// Names, rows and columns of all parts.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (&str, usize, usize)> {
        self.shapes.iter().map(|shape| (shape.name.as_str(), shape.rows, shape.columns))
    }
}

/// Shapes and numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameters {
    pub(crate) layout: Layout,
    pub(crate) values: Vec<f32>,
}

impl Parameters {
    /// The numbers that training starts from.
    pub(crate) fn start(layout: Layout, starts: &[Start], seed: u64) -> Self {
        let mut values = Vec::with_capacity(layout.len);
        let mut rng = Rng::new(seed);
        for (shape, start) in layout.shapes.iter().zip(starts) {
            let count = shape.rows * shape.columns;
            let bound = match *start {
                Start::Even => (6.0 / (shape.rows + shape.columns) as f32).sqrt(),
                Start::Deviation(deviation) => deviation * 3.0_f32.sqrt(),
                Start::Constant(constant) => {
                    values.resize(values.len() + count, constant);
                    continue;
                }
            };
            values.extend((0..count).map(|_| (rng.unit() as f32 * 2.0 - 1.0) * bound));
        }
        Self { layout, values }
    }

    /// The numbers of a part.
    pub(crate) fn of(&self, part: Part) -> &[f32] {
        &self.values[self.layout.range(part)]
    }
}
