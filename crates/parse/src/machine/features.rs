//! Features as 64-bit keys: a template number and up to three atoms, hashed.
//!
//! An atom is any small number: a word, a tag, a distance, or several of them packed into one. The atoms are
//! multiplied by different odd constants and added, which avoids a chain of dependent operations, and one final
//! step mixes the sum. No feature is ever spelt out.

const A: u64 = 0x9E37_79B9_7F4A_7C15;
const B: u64 = 0xC2B2_AE3D_27D4_EB4F;
const C: u64 = 0x1656_67B1_9E37_79F9;
const T: u64 = 0xA076_1D64_78BD_642F;

#[inline]
fn finish(sum: u64) -> u64 {
    let mixed = (sum ^ (sum >> 32)).wrapping_mul(0xE703_7ED1_A0B4_28DB);
    mixed ^ (mixed >> 29)
}

/// The key of a template with one atom.
#[inline]
pub(crate) fn key1(template: u64, a: u64) -> u64 {
    finish(template.wrapping_mul(T).wrapping_add(a.wrapping_mul(A)))
}

/// The key of a template with two atoms.
#[inline]
pub(crate) fn key2(template: u64, a: u64, b: u64) -> u64 {
    finish(template.wrapping_mul(T).wrapping_add(a.wrapping_mul(A)).wrapping_add(b.wrapping_mul(B)))
}

/// The key of a template with three atoms.
#[inline]
pub(crate) fn key3(template: u64, a: u64, b: u64, c: u64) -> u64 {
    let sum = template.wrapping_mul(T).wrapping_add(a.wrapping_mul(A));
    finish(sum.wrapping_add(b.wrapping_mul(B)).wrapping_add(c.wrapping_mul(C)))
}

/// Numbers the templates of a list as it is filled, so that no two can share a number.
pub(crate) struct Templates<'a> {
    keys: &'a mut Vec<u64>,
    template: u64,
}

impl<'a> Templates<'a> {
    /// Continues from template `first`.
    #[inline]
    pub(crate) fn new(keys: &'a mut Vec<u64>, first: u64) -> Self {
        Self { keys, template: first }
    }

    #[inline]
    pub(crate) fn one(&mut self, a: u64) {
        self.keys.push(key1(self.template, a));
        self.template += 1;
    }

    #[inline]
    pub(crate) fn two(&mut self, a: u64, b: u64) {
        self.keys.push(key2(self.template, a, b));
        self.template += 1;
    }

    #[inline]
    pub(crate) fn three(&mut self, a: u64, b: u64, c: u64) {
        self.keys.push(key3(self.template, a, b, c));
        self.template += 1;
    }
}
