//! A weight in one byte: its sign and one of 127 sizes.
//!
//! Sizes are whole units up to 29 and then grow by about a fourteenth at a time, so that a weight is off by half a
//! unit or at most by a twenty-eighth of itself. A score is the sum of a hundred weights, and their errors have both
//! signs.

/// The sizes, from the code 1 on; the code 0 is no weight at all.
const SIZES: [i32; 128] = {
    let mut sizes = [0; 128];
    let (mut code, mut size) = (1, 4);
    while code < 128 {
        sizes[code] = size;
        let step = (size * 18) >> 8;
        size += if step < 1 { 1 } else { step };
        code += 1;
    }
    sizes
};

/// What each code stands for.
pub(crate) const VALUES: [i32; 256] = {
    let mut values = [0; 256];
    let mut code = 0;
    while code < 128 {
        values[code] = SIZES[code];
        values[code + 128] = -SIZES[code];
        code += 1;
    }
    values
};

/// The largest size there is.
pub(crate) const LARGEST: i32 = SIZES[127];

/// The code whose value is nearest; 0 for weights nearest to 0.
pub(crate) fn encode(weight: f64) -> u8 {
    let size = weight.abs();
    let above = SIZES.partition_point(|&known| f64::from(known) < size).min(127);
    let below = above.saturating_sub(1);
    let nearer_below = size - f64::from(SIZES[below]) < f64::from(SIZES[above]) - size;
    let code = if nearer_below { below } else { above } as u8;
    if weight < 0.0 && code > 0 { code | 128 } else { code }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_near_and_survive() {
        for code in (0..=255u8).filter(|&code| code != 128) {
            assert_eq!(encode(f64::from(VALUES[usize::from(code)])), code);
        }
        for tenth in 40..10 * LARGEST {
            for weight in [f64::from(tenth) / 10.0, f64::from(-tenth) / 10.0] {
                let found = f64::from(VALUES[usize::from(encode(weight))]);
                assert!((found - weight).abs() <= (weight.abs() / 28.0).max(0.5), "{weight} {found}");
            }
        }
        assert_eq!(encode(1.9), 0);
        assert_eq!(encode(-1e9), 255);
        const { assert!(LARGEST > 20_000) };
    }
}
