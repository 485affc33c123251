//! An allocator that counts: how much memory an input makes a reader ask for.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The system's allocator, with counters.
pub(crate) struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);
static CALLS: AtomicUsize = AtomicUsize::new(0);

fn grow(bytes: usize) {
    let now = NOW.fetch_add(bytes, Relaxed) + bytes;
    MOST.fetch_max(now, Relaxed);
    CALLS.fetch_add(1, Relaxed);
}

// SAFETY: every call goes on to the system's allocator unchanged, with the layout that it came with; counting
// touches atomics alone and allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above; the pointer came from the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        grow(size);
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// What was asked for since the beginning of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Used {
    /// The most bytes at a time.
    pub(crate) bytes: usize,
    /// How many times.
    pub(crate) calls: usize,
}

/// Measures from here.
pub(crate) fn begin() -> Used {
    let now = NOW.load(Relaxed);
    MOST.store(now, Relaxed);
    Used { bytes: now, calls: CALLS.load(Relaxed) }
}

/// What was asked for since `begin`.
pub(crate) fn since(start: Used) -> Used {
    let bytes = MOST.load(Relaxed).saturating_sub(start.bytes);
    Used { bytes, calls: CALLS.load(Relaxed) - start.calls }
}
