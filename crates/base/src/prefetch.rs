//! Asking the processor for memory before it is needed.
#![allow(unsafe_code)]

/// Starts to fetch the cache line of `value`. Never faults, and does nothing on other processors.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is a hint. It has no visible effect and ignores addresses that it
        // cannot reach; this one comes from a live reference anyway.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
