//! Damaged binary files: what disks, transfers and enemies make of a container.
//!
//! The layout is known here a second time, on purpose: a helper that used the program's own code would make the
//! same mistakes (docs/formats/container.md).

use sylvan_base::Rng;
use sylvan_base::hash::content_hash;

const MAGIC: &[u8] = b"SYLVAN\r\n";
const HEADER: usize = 64;
const ENTRY: usize = 32;

/// One accident: bits turn over, bytes change, the end is missing or doubled, blocks change places or are filled
/// with something else. Returns the bytes, which always differ, and what was done.
pub fn damage(good: &[u8], rng: &mut Rng) -> (Vec<u8>, String) {
    loop {
        let mut bytes = good.to_vec();
        let at = rng.below(bytes.len().max(1));
        let block = 1 << rng.below(13);
        let what = match rng.below(8) {
            0 | 1 => {
                let bit = rng.below(8);
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << bit;
                }
                format!("bit {bit} of byte {at}")
            }
            2 => {
                let many = 2 + rng.below(30);
                for _ in 0..many {
                    let at = rng.below(bytes.len().max(1));
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte = rng.next_u64() as u8;
                    }
                }
                format!("{many} bytes changed")
            }
            3 => {
                bytes.truncate(at);
                format!("cut to {at} bytes")
            }
            4 => {
                let end = (at + block).min(bytes.len());
                bytes.drain(at.min(end)..end);
                format!("{block} bytes lost at {at}")
            }
            5 => {
                let piece = bytes[at.min(bytes.len())..(at + block).min(bytes.len())].to_vec();
                let to = rng.below(bytes.len() + 1);
                bytes.splice(to..to, piece);
                format!("{block} bytes of {at} doubled at {to}")
            }
            6 => {
                let from = at / block * block;
                let to = rng.below(bytes.len().max(1)) / block * block;
                let (low, high) = (from.min(to), from.max(to));
                if low + block <= high && high + block <= bytes.len() {
                    let (front, back) = bytes.split_at_mut(high);
                    front[low..low + block].swap_with_slice(&mut back[..block]);
                }
                format!("blocks of {block} bytes at {low} and {high} swapped")
            }
            _ => {
                let end = (at + block).min(bytes.len());
                let fill = *rng.pick(&[0x00, 0xff]);
                bytes[at.min(end)..end].fill(fill);
                format!("{block} bytes at {at} filled with {fill:#04x}")
            }
        };
        if bytes != good {
            return (bytes, what);
        }
    }
}

/// Makes all checksums of a container right again, those of containers inside it first, so that a lie gets past
/// them and every reader behind them is tried. Does what it can with a header that is damaged itself.
pub fn seal(bytes: &mut [u8]) {
    if bytes.len() < HEADER || !bytes.starts_with(MAGIC) {
        return;
    }
    let length = bytes.len() as u64;
    bytes[24..32].copy_from_slice(&length.to_le_bytes());
    let sections = u32::from_le_bytes([bytes[20], bytes[21], bytes[22], bytes[23]]) as usize;
    let end = (HEADER + ENTRY * sections.min(256)).min(bytes.len());
    for row in (HEADER..end).step_by(ENTRY).take_while(|row| row + ENTRY <= end) {
        let number = |at: usize| {
            let mut number = [0; 8];
            number.copy_from_slice(&bytes[row + at..row + at + 8]);
            u64::from_le_bytes(number) as usize
        };
        let (start, size) = (number(8), number(16));
        let Some(section) = start.checked_add(size).and_then(|end| bytes.get_mut(start..end)) else {
            continue;
        };
        // A section may lie anywhere, over the table too; then no sum can be right, and that is an error as well.
        if start >= end {
            seal(section);
        }
        let sum = content_hash(section);
        bytes[row + 24..row + 32].copy_from_slice(&sum.to_le_bytes());
    }
    let sum = content_hash(&[&bytes[8..32], &bytes[HEADER..end]].concat());
    bytes[32..40].copy_from_slice(&sum.to_le_bytes());
}

/// What is behind the header and the table of sections: where a lie can be told that [`seal`] makes good.
pub fn payload(bytes: &[u8]) -> std::ops::Range<usize> {
    let sections = bytes.get(20..24).map_or(0, |at| u32::from_le_bytes([at[0], at[1], at[2], at[3]]));
    (HEADER + ENTRY * sections as usize).min(bytes.len())..bytes.len()
}
