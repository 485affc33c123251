//! Few numbers that make an expensive function large, without derivatives (Hooke & Jeeves 1961).
//!
//! ```text
//! explore   each number in turn, up or down by its step, where that is better
//! move      once more by as much as the exploration went, and explore from there
//! no gain   halve the steps, until they are as small as they may be
//! ```

use sylvan_base::HashMap;

/// A number to be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Knob {
    /// Where to begin.
    pub start: i64,
    /// The first step, and the last.
    pub step: i64,
    /// The last step.
    pub least: i64,
    /// The smallest and the largest value.
    pub range: (i64, i64),
}

/// The numbers that make `worth` largest, as far as the search finds them, and what they are worth. No point is asked
/// for twice.
pub fn pattern_search(knobs: &[Knob], worth: impl FnMut(&[i64]) -> f64) -> (Vec<i64>, f64) {
    let mut known = Known { knobs, worth, values: HashMap::default() };
    let mut at: Vec<i64> = knobs.iter().map(|knob| knob.start.clamp(knob.range.0, knob.range.1)).collect();
    let mut best = known.worth(&at);
    let mut steps: Vec<i64> = knobs.iter().map(|knob| knob.step).collect();
    loop {
        let (mut next, mut value) = known.explore(&at, best, &steps);
        while value > best {
            let ahead: Vec<i64> = next.iter().zip(&at).map(|(next, at)| 2 * next - at).collect();
            (at, best) = (next, value);
            let ahead = known.clamp(ahead);
            let there = known.worth(&ahead);
            (next, value) = known.explore(&ahead, there, &steps);
        }
        let halved: Vec<i64> =
            steps.iter().zip(knobs).map(|(step, knob)| (step / 2).max(knob.least)).collect();
        if halved == steps {
            return (at, best);
        }
        steps = halved;
    }
}

struct Known<'k, F> {
    knobs: &'k [Knob],
    worth: F,
    values: HashMap<Vec<i64>, f64>,
}

impl<F: FnMut(&[i64]) -> f64> Known<'_, F> {
    fn worth(&mut self, at: &[i64]) -> f64 {
        if let Some(&value) = self.values.get(at) {
            return value;
        }
        let value = (self.worth)(at);
        self.values.insert(at.to_vec(), value);
        value
    }

    fn clamp(&self, mut at: Vec<i64>) -> Vec<i64> {
        for (value, knob) in at.iter_mut().zip(self.knobs) {
            *value = (*value).clamp(knob.range.0, knob.range.1);
        }
        at
    }

    fn explore(&mut self, from: &[i64], mut best: f64, steps: &[i64]) -> (Vec<i64>, f64) {
        let mut at = from.to_vec();
        for (index, step) in steps.iter().enumerate() {
            for way in [*step, -step] {
                let mut there = at.clone();
                there[index] += way;
                let there = self.clamp(there);
                let value = self.worth(&there);
                if value > best {
                    (at, best) = (there, value);
                    break;
                }
            }
        }
        (at, best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_of_a_hill_is_found_within_its_range() {
        let knob = |start, range| Knob { start, step: 400, least: 1, range };
        let hill = |at: &[i64]| {
            let (x, y) = (at[0] as f64 + 730.0, at[1] as f64 - 55.0);
            -(x * x + 2.0 * y * y)
        };
        let mut asked = 0;
        let (at, value) = pattern_search(&[knob(0, (-2000, 0)), knob(900, (-1000, 1000))], |at| {
            asked += 1;
            hill(at)
        });
        assert_eq!((at, value), (vec![-730, 55], 0.0));
        assert!(asked < 120, "{asked}");
        // At the edge of what is allowed; and a start outside of it.
        let (at, _) = pattern_search(&[knob(-3000, (-500, 0)), knob(0, (0, 0))], hill);
        assert_eq!(at, vec![-500, 0]);
        // Nothing better anywhere: the start stays.
        assert_eq!(pattern_search(&[knob(7, (0, 100))], |_| 1.0), (vec![7], 1.0));
    }
}
