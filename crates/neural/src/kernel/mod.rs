//! The product of matrices, the same to the last bit on every processor.
//!
//! Each element of `A B` is one chain of fused multiplications and additions over the inner dimension, in its order, from
//! what stood there before. How the work is cut into tiles, how wide the registers are and how many rows there are
//! changes nothing of that, so a sentence scored alone has the scores that it has among others, and a network trained on
//! one machine is trained on all.
//!
//! ```text
//! B  is packed into strips as wide as a tile, row after row       Packed
//! A  is packed into bands as high as a tile, column after column  (in `multiply`)
//! C  is gone through tile by tile; a tile is kept in registers    portable.rs, x86.rs
//! ```
//!
//! What is no product goes through [`wide`], which has the compiler use the same registers: the same numbers, sooner.

mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::sync::OnceLock;

/// How far the inner dimension is gone through before the next tile: what is packed of it fits the nearest caches.
const DEPTH: usize = 256;

/// The columns of a strip, whichever kernel works on it.
pub(crate) const WIDTH: usize = 32;

/// The most rows that a kernel works on at once.
const HEIGHT: usize = 12;

/// Adds to a tile of `C` the product of a band of `A` (as many numbers for each step as the tile has rows) and a strip of
/// `B` (`WIDTH` numbers for each step). A row of the tile has `WIDTH` numbers and begins `stride` after the one before.
type Kernel = fn(band: &[f32], strip: &[f32], tile: &mut [f32], stride: usize);

/// A kernel and the height of the bands that it takes.
#[derive(Clone, Copy)]
struct Chosen {
    kernel: Kernel,
    height: usize,
}

/// The best kernel of this processor.
fn chosen() -> Chosen {
    static CHOSEN: OnceLock<Chosen> = OnceLock::new();
    *CHOSEN.get_or_init(|| {
        #[cfg(target_arch = "x86_64")]
        if let Some((kernel, height)) = x86::best() {
            return Chosen { kernel, height };
        }
        Chosen { kernel: portable::kernel, height: portable::HEIGHT }
    })
}

/// Does something that is nothing but plain arithmetic with the widest registers of this processor. What `work` calls has
/// to be inlined to gain from it; see [`widely`].
#[inline(always)]
pub(crate) fn wide<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    return x86::wide(work);
    #[cfg(not(target_arch = "x86_64"))]
    work()
}

/// Makes a function one whose body is compiled for the widest registers as well. Additions keep their order and are not
/// fused with multiplications, so it gives the same bits.
macro_rules! widely {
    ($(#[$attribute:meta])* $visible:vis fn $name:ident($($argument:ident: $of:ty),* $(,)?) $(-> $result:ty)? $body:block) => {
        $(#[$attribute])*
        $visible fn $name($($argument: $of),*) $(-> $result)? {
            #[inline(always)]
            fn body($($argument: $of),*) $(-> $result)? $body
            crate::kernel::wide(|| body($($argument),*))
        }
    };
}
pub(crate) use widely;

/// How a matrix lies in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lying {
    /// Row after row.
    Rows,
    /// Column after column: the rows in memory are the columns of the matrix.
    Columns,
}

/// A matrix with as many rows as the inner dimension, in strips.
#[derive(Debug, Clone, Default)]
pub(crate) struct Packed {
    strips: Vec<f32>,
    inner: usize,
    columns: usize,
}

impl Packed {
    /// Packs a matrix of `inner` rows and `columns` columns.
    pub(crate) fn new(b: &[f32], lying: Lying, inner: usize, columns: usize) -> Self {
        let mut packed = Self::default();
        packed.pack(b, lying, inner, columns);
        packed
    }

    /// The same in memory that was used before.
    pub(crate) fn pack(&mut self, b: &[f32], lying: Lying, inner: usize, columns: usize) {
        assert_eq!(b.len(), inner * columns);
        (self.inner, self.columns) = (inner, columns);
        let strips = columns.div_ceil(WIDTH);
        self.strips.clear();
        self.strips.resize(strips * inner * WIDTH, 0.0);
        // Blocks of the inner dimension are outermost, so that a strip of a block is contiguous.
        let mut place = 0;
        for from in (0..inner).step_by(DEPTH) {
            let depth = DEPTH.min(inner - from);
            for strip in 0..strips {
                let first = strip * WIDTH;
                let width = WIDTH.min(columns - first);
                let out = &mut self.strips[place..place + depth * WIDTH];
                place += depth * WIDTH;
                match lying {
                    Lying::Rows => {
                        for (step, out) in out.chunks_exact_mut(WIDTH).enumerate() {
                            let at = (from + step) * columns + first;
                            out[..width].copy_from_slice(&b[at..at + width]);
                        }
                    }
                    Lying::Columns => {
                        for column in 0..width {
                            let at = (first + column) * inner + from;
                            let line = &b[at..at + depth];
                            for (value, out) in line.iter().zip(out[column..].iter_mut().step_by(WIDTH)) {
                                *out = *value;
                            }
                        }
                    }
                }
            }
        }
    }

    /// How many rows it has.
    pub(crate) fn inner(&self) -> usize {
        self.inner
    }

    fn strip(&self, from: usize, depth: usize, strip: usize) -> &[f32] {
        let strips = self.columns.div_ceil(WIDTH);
        let at = from * strips * WIDTH + strip * depth * WIDTH;
        &self.strips[at..at + depth * WIDTH]
    }
}

/// Memory that a product needs, to be used again.
#[derive(Debug, Default)]
pub(crate) struct Room {
    bands: Vec<f32>,
    packed: Packed,
}

/// `c += a b`, where `b` is packed. `c` lies in rows.
pub(crate) fn multiply(room: &mut Room, a: &[f32], lying: Lying, b: &Packed, c: &mut [f32]) {
    multiply_by(chosen(), &mut room.bands, a, lying, b, c);
}

/// `c += a b` for a matrix `b` with this many columns, which is packed on the way.
pub(crate) fn multiply_once(
    room: &mut Room,
    (a, a_lying): (&[f32], Lying),
    (b, b_lying): (&[f32], Lying),
    (inner, columns): (usize, usize),
    c: &mut [f32],
) {
    room.packed.pack(b, b_lying, inner, columns);
    multiply_by(chosen(), &mut room.bands, a, a_lying, &room.packed, c);
}

fn multiply_by(chosen: Chosen, bands: &mut Vec<f32>, a: &[f32], lying: Lying, b: &Packed, c: &mut [f32]) {
    let Chosen { kernel, height } = chosen;
    let (inner, columns) = (b.inner, b.columns);
    if columns == 0 || inner == 0 {
        return;
    }
    let rows = c.len() / columns;
    assert_eq!(c.len(), rows * columns);
    assert_eq!(a.len(), rows * inner);
    let strips = columns.div_ceil(WIDTH);
    // Stands in where a tile sticks out of `c`.
    let mut edge = [0.0; WIDTH * HEIGHT];
    for from in (0..inner).step_by(DEPTH) {
        let depth = DEPTH.min(inner - from);
        pack_bands(bands, a, lying, (rows, inner), (from, depth), height);
        for strip in 0..strips {
            let packed = b.strip(from, depth, strip);
            let first = strip * WIDTH;
            let width = WIDTH.min(columns - first);
            for (band, packed_band) in bands.chunks_exact(depth * height).enumerate() {
                let top = band * height;
                let high = height.min(rows - top);
                let at = |row: usize| (top + row) * columns + first;
                if high == height && width == WIDTH {
                    kernel(packed_band, packed, &mut c[at(0)..], columns);
                    continue;
                }
                for (row, edge) in edge.chunks_exact_mut(WIDTH).take(high).enumerate() {
                    edge[..width].copy_from_slice(&c[at(row)..at(row) + width]);
                }
                kernel(packed_band, packed, &mut edge, WIDTH);
                for (row, edge) in edge.chunks_exact(WIDTH).take(high).enumerate() {
                    c[at(row)..at(row) + width].copy_from_slice(&edge[..width]);
                }
            }
        }
    }
}

/// Packs a block of the inner dimension of all rows of `a`; rows that there are not are zeros.
fn pack_bands(
    bands: &mut Vec<f32>,
    a: &[f32],
    lying: Lying,
    (rows, inner): (usize, usize),
    (from, depth): (usize, usize),
    height: usize,
) {
    bands.clear();
    bands.resize(rows.div_ceil(height) * height * depth, 0.0);
    for (band, out) in bands.chunks_exact_mut(depth * height).enumerate() {
        let top = band * height;
        let high = height.min(rows - top);
        match lying {
            Lying::Rows => {
                for row in 0..high {
                    let at = (top + row) * inner + from;
                    let line = &a[at..at + depth];
                    for (value, out) in line.iter().zip(out[row..].iter_mut().step_by(height)) {
                        *out = *value;
                    }
                }
            }
            Lying::Columns => {
                for (step, out) in out.chunks_exact_mut(height).enumerate() {
                    let at = (from + step) * rows + top;
                    out[..high].copy_from_slice(&a[at..at + high]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sylvan_base::Rng;

    /// The definition.
    fn plain(a: &[f32], b: &[f32], inner: usize, columns: usize, c: &mut [f32]) {
        for (row, c) in c.chunks_exact_mut(columns).enumerate() {
            for (column, c) in c.iter_mut().enumerate() {
                for step in 0..inner {
                    *c = a[row * inner + step].mul_add(b[step * columns + column], *c);
                }
            }
        }
    }

    fn transposed(matrix: &[f32], columns: usize) -> Vec<f32> {
        let rows = matrix.len() / columns;
        (0..columns).flat_map(|column| (0..rows).map(move |row| matrix[row * columns + column])).collect()
    }

    fn random(rng: &mut Rng, length: usize) -> Vec<f32> {
        (0..length).map(|_| rng.unit() as f32 - 0.5).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(sylvan_testkit::cases(60, 2_000) as u32))]
        #[test]
        fn every_kernel_gives_the_bits_of_the_definition(
            rows in 1..40_usize, inner in 1..600_usize, columns in 1..100_usize, seed in 0..u64::MAX,
        ) {
            let mut rng = Rng::new(seed);
            let a = random(&mut rng, rows * inner);
            let b = random(&mut rng, inner * columns);
            let before = random(&mut rng, rows * columns);
            let mut wanted = before.clone();
            plain(&a, &b, inner, columns, &mut wanted);
            let mut kernels = vec![Chosen { kernel: portable::kernel, height: portable::HEIGHT }];
            #[cfg(target_arch = "x86_64")]
            kernels.extend(x86::all().into_iter().map(|(kernel, height)| Chosen { kernel, height }));
            let a_columns = transposed(&a, inner);
            let b_columns = transposed(&b, columns);
            for chosen in kernels {
                for (a, a_lying) in [(&a, Lying::Rows), (&a_columns, Lying::Columns)] {
                    for (b, b_lying) in [(&b, Lying::Rows), (&b_columns, Lying::Columns)] {
                        let mut c = before.clone();
                        let packed = Packed::new(b, b_lying, inner, columns);
                        multiply_by(chosen, &mut Vec::new(), a, a_lying, &packed, &mut c);
                        prop_assert_eq!(&c, &wanted);
                    }
                }
            }
        }
    }
}
