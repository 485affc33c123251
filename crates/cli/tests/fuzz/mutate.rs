//! How inputs are changed: text as broken disks, editors and enemies would; binary files inside their sections,
//! with the checksums made right again, so that readers see the lies.

use sylvan_base::Rng;
use sylvan_testkit::{damage, mutate, payload, seal};

/// An input made from one of the corpus, and perhaps another one.
pub(crate) fn text(parent: &[u8], other: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = mutate(parent, rng);
    let at = rng.below(bytes.len() + 1);
    match rng.below(12) {
        // The beginning of one and the end of another.
        0 => {
            bytes.truncate(at);
            bytes.extend_from_slice(&other[rng.below(other.len() + 1)..]);
        }
        // A number becomes an odd one.
        1 | 2 => odd_number(&mut bytes, rng),
        // A piece again and again: deep, wide and long things.
        3 => {
            let piece = bytes[at..(at + 1 + rng.below(24)).min(bytes.len())].to_vec();
            let times = 1 << rng.below(13);
            bytes.splice(at..at, piece.repeat(times));
        }
        // Lines in another order, or one twice.
        4 => {
            let mut lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
            let (from, to) = (rng.below(lines.len()), rng.below(lines.len()));
            if rng.chance(0.5) {
                lines.swap(from, to);
            } else {
                lines.insert(to, lines[from]);
            }
            bytes = lines.join(&b'\n');
        }
        _ => {}
    }
    bytes.truncate(1 << 20);
    bytes
}

fn odd_number(bytes: &mut Vec<u8>, rng: &mut Rng) {
    const ODD: [&str; 16] = [
        "0",
        "-1",
        "-0",
        "1",
        "255",
        "65536",
        "2147483647",
        "2147483648",
        "4294967295",
        "4294967296",
        "9223372036854775807",
        "18446744073709551616",
        "1e308",
        "-1e-320",
        "nan",
        "-inf",
    ];
    let digits: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at].is_ascii_digit()).collect();
    if digits.is_empty() {
        return;
    }
    let start = *rng.pick(&digits);
    let end = start + bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    bytes.splice(start..end, rng.pick(&ODD).bytes());
}

/// A container with a lie or two in it. Sections are chosen alike whatever their size, those of containers inside
/// as well, and the table of sections now and then. One in ten is damaged plainly.
pub(crate) fn binary(parent: &[u8], rng: &mut Rng) -> Vec<u8> {
    if rng.chance(0.1) {
        return damage(parent, rng).0;
    }
    let mut bytes = parent.to_vec();
    for _ in 0..*rng.pick(&[1, 1, 1, 2, 4]) {
        let range = place(&bytes, 0..bytes.len(), rng);
        if !range.is_empty() {
            lie(&mut bytes, range, rng);
        }
    }
    seal(&mut bytes);
    bytes
}

/// A section, or the table.
fn place(bytes: &[u8], container: std::ops::Range<usize>, rng: &mut Rng) -> std::ops::Range<usize> {
    let inside = &bytes[container.clone()];
    let end = payload(inside).start;
    if !inside.starts_with(b"SYLVAN\r\n") || end < 96 {
        return container;
    }
    if rng.chance(0.03) {
        return container.start + 64..container.start + end;
    }
    let row = 64 + 32 * rng.below((end - 64) / 32);
    let number = |at: usize| {
        let mut number = [0; 8];
        number.copy_from_slice(&inside[row + at..row + at + 8]);
        u64::from_le_bytes(number) as usize
    };
    let start = number(8).min(inside.len());
    let section = start..start.saturating_add(number(16)).min(inside.len());
    let section = container.start + section.start..container.start + section.end;
    let nested = bytes[section.clone()].starts_with(b"SYLVAN\r\n");
    if nested && section.len() < container.len() {
        return place(bytes, section, rng);
    }
    // A description in JSON or lines is refused whatever is wrong with it; tables are not.
    let again = bytes[section.clone()].starts_with(b"{") && rng.chance(0.8);
    if again { place(bytes, container, rng) } else { section }
}

fn lie(bytes: &mut [u8], range: std::ops::Range<usize>, rng: &mut Rng) {
    let at = range.start + rng.below(range.len());
    let width = *rng.pick(&[1, 2, 4, 8]);
    // Numbers lie at multiples of their width.
    let at = range.start + (at - range.start) / width * width;
    let end = (at + width).min(range.end);
    match rng.below(6) {
        0 => {
            let value = *rng.pick(&[0, 1, u64::MAX, u64::MAX - 1, 1 << 31, (1 << 31) - 1, 1 << 62, 255]);
            bytes[at..end].copy_from_slice(&value.to_le_bytes()[..end - at]);
        }
        1 => {
            let mut number = [0; 8];
            number[..end - at].copy_from_slice(&bytes[at..end]);
            let step = 1 + rng.below(3) as u64;
            let old = u64::from_le_bytes(number);
            let new = if rng.chance(0.5) { old.wrapping_add(step) } else { old.wrapping_sub(step) };
            bytes[at..end].copy_from_slice(&new.to_le_bytes()[..end - at]);
        }
        2 => bytes[at] ^= 1 << rng.below(8),
        3 => {
            // A piece of the section stands in another place of it as well.
            let length = (1 + rng.below(64)).min(range.len());
            let from = range.start + rng.below(range.len() - length + 1);
            let to = range.start + rng.below(range.len() - length + 1);
            bytes.copy_within(from..from + length, to);
        }
        _ => {
            for byte in &mut bytes[at..end] {
                *byte = rng.next_u64() as u8;
            }
        }
    }
}
