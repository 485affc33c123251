//! Hash maps whose behaviour is the same in every run, and the content hash for files and tie-breaks.

/// A hash map with a fixed seed. Its iteration order must still never reach an output (a lint watches).
pub type HashMap<K, V> = hashbrown::HashMap<K, V, foldhash::fast::FixedState>;
/// A hash set with a fixed seed.
pub type HashSet<K> = hashbrown::HashSet<K, foldhash::fast::FixedState>;

/// A 64-bit hash of bytes that is the same on every machine and in every version: the only hash that may be
/// written to a file or decide a tie.
#[inline]
pub fn content_hash(bytes: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(bytes)
}

/// [`content_hash`] of bytes that come in parts.
#[derive(Default)]
pub struct ContentHasher(xxhash_rust::xxh3::Xxh3Default);

impl std::fmt::Debug for ContentHasher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ContentHasher at {:x}", self.finish())
    }
}

impl ContentHasher {
    /// Adds a part.
    pub fn update(&mut self, part: &[u8]) {
        self.0.update(part);
    }

    /// The hash of all parts, one after the other.
    pub fn finish(&self) -> u64 {
        self.0.digest()
    }
}

/// Folds `value` into a running content hash. Order matters: a derivation's hash is the fold over its steps.
#[inline]
pub fn fold(hash: u64, value: u64) -> u64 {
    let mixed = (hash.rotate_left(23) ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ (mixed >> 32)
}
