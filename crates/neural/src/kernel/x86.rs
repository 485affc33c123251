//! Kernels for AVX-512 and for AVX2 with FMA. Lanes lie along the columns, so each sum is still one chain.
//! And the way to other arithmetic that is compiled for these registers.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_set1_ps, _mm256_setzero_ps, _mm256_storeu_ps, _mm512_fmadd_ps,
    _mm512_loadu_ps, _mm512_set1_ps, _mm512_setzero_ps, _mm512_storeu_ps,
};

use super::{HEIGHT, Kernel, WIDTH};

/// Rows in the registers of AVX-512: 24 of the 32 hold sums.
const HIGH: usize = 12;
const _: () = assert!(HIGH <= HEIGHT && WIDTH == 32);

/// Rows in the registers of AVX2: 12 of the 16 hold sums, half a strip at a time.
const LOW: usize = 6;

/// The kernels that this processor can run, best first.
pub(super) fn all() -> Vec<(Kernel, usize)> {
    let mut kernels: Vec<(Kernel, usize)> = Vec::new();
    if is_x86_feature_detected!("avx512f") {
        kernels.push((high, HIGH));
    }
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        kernels.push((low, LOW));
    }
    kernels
}

/// The best of them.
pub(super) fn best() -> Option<(Kernel, usize)> {
    all().first().copied()
}

/// Does something with the widest registers.
#[inline(always)]
pub(super) fn wide<R>(work: impl FnOnce() -> R) -> R {
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has AVX-512.
        unsafe { in_avx512(work) }
    } else if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        unsafe { in_avx2(work) }
    } else {
        work()
    }
}

#[target_feature(enable = "avx512f")]
fn in_avx512<R>(work: impl FnOnce() -> R) -> R {
    work()
}

#[target_feature(enable = "avx2")]
fn in_avx2<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// Whether all rows of a tile of this height are there.
fn holds(tile: &[f32], stride: usize, height: usize) -> bool {
    stride >= WIDTH && tile.len() >= (height - 1) * stride + WIDTH
}

fn high(band: &[f32], strip: &[f32], tile: &mut [f32], stride: usize) {
    assert!(band.len() / HIGH == strip.len() / WIDTH && holds(tile, stride, HIGH));
    // SAFETY: only `all` gives this function out, and only where AVX-512 was found; the tile is whole.
    unsafe { high_inside(band, strip, tile.as_mut_ptr(), stride) }
}

fn low(band: &[f32], strip: &[f32], tile: &mut [f32], stride: usize) {
    assert!(band.len() / LOW == strip.len() / WIDTH && holds(tile, stride, LOW));
    // SAFETY: only `all` gives this function out, and only where AVX2 and FMA were found; the tile is whole.
    unsafe { low_inside(band, strip, tile.as_mut_ptr(), stride) }
}

/// # Safety
/// There are `HIGH` rows of `WIDTH` numbers at `tile`, `stride` apart.
#[target_feature(enable = "avx512f")]
unsafe fn high_inside(band: &[f32], strip: &[f32], tile: *mut f32, stride: usize) {
    let mut sums = [[_mm512_setzero_ps(); 2]; HIGH];
    for (number, sums) in sums.iter_mut().enumerate() {
        // SAFETY: a row has 32 numbers.
        unsafe {
            let row = tile.add(number * stride);
            sums[0] = _mm512_loadu_ps(row);
            sums[1] = _mm512_loadu_ps(row.add(16));
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
    for (number, sums) in sums.iter().enumerate() {
        // SAFETY: a row has 32 numbers.
        unsafe {
            let row = tile.add(number * stride);
            _mm512_storeu_ps(row, sums[0]);
            _mm512_storeu_ps(row.add(16), sums[1]);
        }
    }
}

/// # Safety
/// There are `LOW` rows of `WIDTH` numbers at `tile`, `stride` apart.
#[target_feature(enable = "avx2,fma")]
unsafe fn low_inside(band: &[f32], strip: &[f32], tile: *mut f32, stride: usize) {
    for half in [0, 16] {
        let mut sums = [[_mm256_setzero_ps(); 2]; LOW];
        for (number, sums) in sums.iter_mut().enumerate() {
            // SAFETY: a row has 32 numbers, of which 16 begin at `half`.
            unsafe {
                let row = tile.add(number * stride + half);
                sums[0] = _mm256_loadu_ps(row);
                sums[1] = _mm256_loadu_ps(row.add(8));
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
        for (number, sums) in sums.iter().enumerate() {
            // SAFETY: a row has 32 numbers, of which 16 begin at `half`.
            unsafe {
                let row = tile.add(number * stride + half);
                _mm256_storeu_ps(row, sums[0]);
                _mm256_storeu_ps(row.add(8), sums[1]);
            }
        }
    }
}
