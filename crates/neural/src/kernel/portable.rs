//! The kernel of processors that no other is written for.

use super::WIDTH;

/// Rows that it works on at once.
pub(super) const HEIGHT: usize = 4;

pub(super) fn kernel(band: &[f32], strip: &[f32], tile: &mut [f32], stride: usize) {
    for (a, b) in band.chunks_exact(HEIGHT).zip(strip.chunks_exact(WIDTH)) {
        for (row, a) in tile.chunks_mut(stride).zip(a) {
            for (sum, b) in row.iter_mut().zip(b) {
                *sum = a.mul_add(*b, *sum);
            }
        }
    }
}
