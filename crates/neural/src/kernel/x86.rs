//! Kernels for AVX-512 and for AVX2 with FMA. Lanes lie along the columns, so each sum is still one chain.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_set1_ps, _mm256_setzero_ps, _mm256_storeu_ps, _mm512_fmadd_ps,
    _mm512_loadu_ps, _mm512_set1_ps, _mm512_setzero_ps, _mm512_storeu_ps,
};

use super::{HEIGHT, Kernel, Tile, WIDTH};

/// Rows in the registers of AVX-512: 24 of the 32 hold sums.
const HIGH: usize = 12;
const _: () = assert!(HIGH <= HEIGHT && WIDTH == 32);

/// Rows in the registers of AVX2: 12 of the 16 hold sums, half a strip at a time.
const LOW: usize = 6;

/// The kernels that this processor can run, best first.
pub(super) fn all() -> Vec<(Kernel, usize)> {
    let mut kernels: Vec<(Kernel, usize)> = Vec::new();
    if is_x86_feature_detected!("avx512f") {
        // SAFETY (of the calls in `wide`): the processor has AVX-512.
        kernels.push((wide, HIGH));
    }
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        kernels.push((narrow, LOW));
    }
    kernels
}

/// The best of them.
pub(super) fn best() -> Option<(Kernel, usize)> {
    all().first().copied()
}

fn wide(band: &[f32], strip: &[f32], tile: &mut Tile) {
    assert!(band.len() / HIGH == strip.len() / WIDTH);
    // SAFETY: only `all` gives this function out, and only where AVX-512 was found.
    unsafe { wide_inside(band, strip, tile) }
}

fn narrow(band: &[f32], strip: &[f32], tile: &mut Tile) {
    assert!(band.len() / LOW == strip.len() / WIDTH);
    // SAFETY: only `all` gives this function out, and only where AVX2 and FMA were found.
    unsafe { narrow_inside(band, strip, tile) }
}

#[target_feature(enable = "avx512f")]
fn wide_inside(band: &[f32], strip: &[f32], tile: &mut Tile) {
    let mut sums = [[_mm512_setzero_ps(); 2]; HIGH];
    for (sums, row) in sums.iter_mut().zip(tile.iter()) {
        // SAFETY: a row has 32 numbers.
        unsafe {
            sums[0] = _mm512_loadu_ps(row.as_ptr());
            sums[1] = _mm512_loadu_ps(row.as_ptr().add(16));
        }
    }
    let (band, strip) = (band.as_chunks::<HIGH>().0, strip.as_chunks::<WIDTH>().0);
    for (a, b) in band.iter().zip(strip) {
        // SAFETY: there are 32 numbers.
        let (first, second) = unsafe { (_mm512_loadu_ps(b.as_ptr()), _mm512_loadu_ps(b.as_ptr().add(16))) };
        for row in 0..HIGH {
            let a = _mm512_set1_ps(a[row]);
            sums[row][0] = _mm512_fmadd_ps(a, first, sums[row][0]);
            sums[row][1] = _mm512_fmadd_ps(a, second, sums[row][1]);
        }
    }
    for (sums, row) in sums.iter().zip(tile.iter_mut()) {
        // SAFETY: a row has 32 numbers.
        unsafe {
            _mm512_storeu_ps(row.as_mut_ptr(), sums[0]);
            _mm512_storeu_ps(row.as_mut_ptr().add(16), sums[1]);
        }
    }
}

#[target_feature(enable = "avx2,fma")]
fn narrow_inside(band: &[f32], strip: &[f32], tile: &mut Tile) {
    for half in [0, 16] {
        let mut sums = [[_mm256_setzero_ps(); 2]; LOW];
        for (sums, row) in sums.iter_mut().zip(tile.iter()) {
            // SAFETY: a row has 32 numbers, of which 16 begin at `half`.
            unsafe {
                sums[0] = _mm256_loadu_ps(row.as_ptr().add(half));
                sums[1] = _mm256_loadu_ps(row.as_ptr().add(half + 8));
            }
        }
        let (band, strip) = (band.as_chunks::<LOW>().0, strip.as_chunks::<WIDTH>().0);
        for (a, b) in band.iter().zip(strip) {
            // SAFETY: there are 32 numbers, of which 16 begin at `half`.
            let (first, second) =
                unsafe { (_mm256_loadu_ps(b.as_ptr().add(half)), _mm256_loadu_ps(b.as_ptr().add(half + 8))) };
            for row in 0..LOW {
                let a = _mm256_set1_ps(a[row]);
                sums[row][0] = _mm256_fmadd_ps(a, first, sums[row][0]);
                sums[row][1] = _mm256_fmadd_ps(a, second, sums[row][1]);
            }
        }
        for (sums, row) in sums.iter().zip(tile.iter_mut()) {
            // SAFETY: a row has 32 numbers, of which 16 begin at `half`.
            unsafe {
                _mm256_storeu_ps(row.as_mut_ptr().add(half), sums[0]);
                _mm256_storeu_ps(row.as_mut_ptr().add(half + 8), sums[1]);
            }
        }
    }
}
