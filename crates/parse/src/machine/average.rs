//! From what was learnt to what is kept: averages over time and over tables, and the choice of those worth
//! their room.
//!
//! What a weight is worth is not its size alone. One that changed once, early, has a large average and has learnt
//! nothing but one sentence; one that changed often stands for many (Goldberg & Elhadad 2011 drop weights by the number
//! of their changes).

use super::codes::{LARGEST, VALUES, encode};
use super::rows::{Rows, line_bytes, row_bytes};
use super::table::Table;

/// Units in a weight of one.
const UNIT: f64 = 512.0;

/// One weight of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Average {
    pub(crate) key: u64,
    mean: f32,
    /// How often it changed, up to 65,535.
    changes: u16,
    pub(crate) action: u8,
    /// The weight as it is written.
    pub(crate) code: u8,
}

impl Average {
    /// How much this weight is worth keeping.
    fn worth(&self) -> u32 {
        VALUES[usize::from(self.code)].unsigned_abs() * u32::from(self.changes.min(CHANGES))
    }
}

/// More changes than this say no more.
const CHANGES: u16 = 4;

impl Rows {
    /// The mean over tables of the average of all weights over `time` updates, without those whose size is below
    /// `least`, and of the others those most worth keeping, up to `room` bytes.
    pub(crate) fn average(tables: &[&Table], time: i64, least: f64, room: usize) -> Self {
        let mut weights = averages(tables, time);
        weights.retain(|weight| f64::from(weight.mean).abs() >= least);
        let largest = weights.iter().fold(0f64, |most, weight| most.max(f64::from(weight.mean).abs()));
        let unit = UNIT.min(f64::from(LARGEST) / largest.max(1.0));
        for weight in &mut weights {
            weight.code = encode(f64::from(weight.mean) * unit);
        }
        weights.retain(|weight| weight.code != 0);
        keep(&mut weights, room);
        Self::pack(&weights)
    }
}

/// All averages that are not 0, by key and action.
fn averages(tables: &[&Table], time: i64) -> Vec<Average> {
    let share = 1.0 / tables.len().max(1) as f64;
    let mut all = Vec::new();
    for table in tables {
        for (key, row) in table.rows() {
            for (action, weight, sum, changes) in row {
                let mean = f64::from(weight) - sum as f64 / time.max(1) as f64;
                if mean != 0.0 {
                    all.push(Average { key, mean: (mean * share) as f32, changes, action, code: 0 });
                }
            }
        }
    }
    // Stable, so that the sums below have one order.
    all.sort_by_key(|weight| (weight.key, weight.action));
    all.dedup_by(|next, kept| {
        let same = (next.key, next.action) == (kept.key, kept.action);
        if same {
            kept.mean += next.mean;
            kept.changes = kept.changes.saturating_add(next.changes);
        }
        same
    });
    all
}

/// Drops what is worth least until the rest fits, if that can be done.
fn keep(weights: &mut Vec<Average>, room: usize) {
    let bytes = |least: u32| {
        let (mut pool, mut rows) = (0, 0);
        for row in weights.chunk_by(|a, b| a.key == b.key) {
            let kept = row.iter().filter(|weight| weight.worth() >= least);
            let bytes = row_bytes(kept.map(|weight| weight.action));
            pool += bytes;
            rows += usize::from(bytes > 0);
        }
        pool + line_bytes(rows)
    };
    if bytes(0) <= room {
        return;
    }
    // The smallest worth that fits is above `low` and at most `high`.
    let (mut low, mut high) = (0, LARGEST.unsigned_abs() * u32::from(CHANGES) + 1);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if bytes(middle) <= room {
            high = middle;
        } else {
            low = middle;
        }
    }
    weights.retain(|weight| weight.worth() >= high);
}

#[cfg(test)]
mod tests {
    use super::super::beam::Weights;
    use super::super::features::key1;
    use super::super::system::MAX_ACTIONS;
    use super::*;
    use sylvan_base::Rng;

    /// Some tables with rows of all shapes.
    fn tables() -> Vec<Table> {
        let mut rng = Rng::new(3);
        [3, 40, 256]
            .map(|actions| {
                let mut table = Table::new();
                for time in 0..50 {
                    for _ in 0..400 {
                        let key = key1(1, rng.below(3000) as u64);
                        table.change(key, rng.below(actions) as u8, 1 - 2 * rng.below(2) as i32, time);
                    }
                }
                table
            })
            .into()
    }

    fn scores(rows: &Rows, key: u64) -> [i32; MAX_ACTIONS] {
        let mut scores = [0; MAX_ACTIONS];
        rows.add(&[key], &mut scores);
        scores
    }

    fn total(rows: &Rows, table: &Table) -> f64 {
        table
            .rows()
            .map(|(key, _)| scores(rows, key).iter().map(|score| f64::from(score.abs())).sum::<f64>())
            .sum()
    }

    #[test]
    fn rows_give_the_averages_of_the_table() {
        for table in tables() {
            let rows = Rows::average(&[&table], 50, 0.0, usize::MAX);
            let (mut wrong, mut all) = (0, 0);
            for (key, entries) in table.rows() {
                let scores = scores(&rows, key);
                for (action, weight, sum, _) in entries {
                    let average = f64::from(weight) - sum as f64 / 50.0;
                    let found = f64::from(scores[usize::from(action)]) / UNIT;
                    wrong += usize::from((average - found).abs() > (average.abs() / 28.0).max(2.0 / UNIT));
                    all += 1;
                }
            }
            assert!(wrong * 500 < all, "{wrong} of {all} differ by more than rounding and rare collisions");
            let distinct = table.rows().filter(|(key, _)| scores(&rows, *key) != [0; MAX_ACTIONS]).count();
            assert!(rows.len() >= distinct && rows.len() <= table.len());
            // The mean of a table and itself is the table; that of a table and nothing is half of it.
            assert_eq!(
                total(&Rows::average(&[&table, &table], 50, 0.0, usize::MAX), &table),
                total(&rows, &table)
            );
            let half = total(&Rows::average(&[&table, &Table::new()], 50, 0.0, usize::MAX), &table);
            assert!((half * 2.0 / total(&rows, &table) - 1.0).abs() < 0.1, "{half}");
        }
    }

    #[test]
    fn what_is_dropped_is_small_and_as_much_as_needed() {
        for table in tables() {
            let all = Rows::average(&[&table], 50, 0.0, usize::MAX);
            assert!(Rows::average(&[&table], 50, 0.5, usize::MAX).bytes() < all.bytes());
            let room = all.bytes() * 3 / 4;
            let some = Rows::average(&[&table], 50, 0.0, room);
            assert!(some.bytes() <= room && some.bytes() > room * 4 / 5, "{} {room}", some.bytes());
            let left = total(&some, &table) / total(&all, &table);
            assert!(left > 0.8 && left < 1.0, "{left}");
            let none = Rows::average(&[&table], 50, 0.0, 0);
            assert_eq!(total(&none, &table), 0.0);
        }
    }

    #[test]
    fn weights_that_changed_often_stay_longer() {
        let mut table = Table::new();
        let (once, often) = (key1(1, 1), key1(1, 2));
        table.change(once, 0, 1, 0);
        for time in 0..3 {
            table.change(often, 0, 1 - 2 * (time % 2), i64::from(time));
        }
        let both = Rows::average(&[&table], 10, 0.0, usize::MAX);
        assert!(scores(&both, once)[0] > scores(&both, often)[0]);
        let one = Rows::average(&[&table], 10, 0.0, both.bytes() - 1);
        assert_eq!((scores(&one, once)[0], scores(&one, often)), (0, scores(&both, often)));
    }

    #[test]
    fn an_empty_table_has_no_rows() {
        let rows = Rows::average(&[&Table::new()], 0, 0.0, usize::MAX);
        let mut scores = [0; MAX_ACTIONS];
        rows.add(&[0, 1, u64::MAX], &mut scores);
        assert_eq!((scores, rows.len()), ([0; MAX_ACTIONS], 0));
    }
}
