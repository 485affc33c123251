//! The combinations of the items of one round with their options, taken best first.
//!
//! ```text
//!                    options of the class, best estimate first
//!                    o1     o2     o3
//!  items  i1, merit  1st    2nd    4th      value of a cell: the item's merit without its next symbol,
//!  of one i2         3rd    ..              plus the option's estimate; exact but for the words at the joint
//!  class  i3         ..
//! ```

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::nodes::NodeId;
use crate::deduction::{Choice, ClassId};

/// A surviving item as a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) node: NodeId,
    /// Score and the estimate of all but the option.
    pub(super) merit: f64,
    pub(super) hash: u64,
}

/// The items of one class: a range of rows, and the class's options.
#[derive(Debug)]
struct Grid {
    rows: Range<usize>,
    options: Range<usize>,
}

/// A place in a grid that is worth trying next.
#[derive(Debug, Clone, Copy)]
struct Cell {
    merit: f64,
    hash: u64,
    grid: u32,
    row: u32,
    option: u32,
}

impl Ord for Cell {
    fn cmp(&self, other: &Self) -> Ordering {
        self.merit
            .total_cmp(&other.merit)
            .then_with(|| other.hash.cmp(&self.hash))
            .then_with(|| (other.row, other.option).cmp(&(self.row, self.option)))
    }
}
impl PartialOrd for Cell {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Cell {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Cell {}

#[derive(Debug, Default)]
pub(super) struct Grids {
    /// By class: its sorted options in `pool`, once they were asked for.
    options: Vec<Option<Range<usize>>>,
    pool: Vec<Choice>,
    /// By class: its grid in this round.
    place: Vec<u32>,
    rows: Vec<Row>,
    grids: Vec<Grid>,
    heap: BinaryHeap<Cell>,
    sorting: Vec<(u32, Row)>,
}

const NOWHERE: u32 = u32::MAX;

impl Grids {
    /// Forgets a sentence and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.options.clear();
        self.pool.clear();
        self.place.clear();
        self.rows.clear();
        self.grids.clear();
        self.heap.clear();
    }

    /// Arranges the survivors of a round, which come best merit first, into one grid per class.
    pub(super) fn fill(
        &mut self,
        survivors: impl Iterator<Item = (ClassId, Row)>,
        mut options: impl FnMut(ClassId, &mut Vec<Choice>),
    ) {
        self.heap.clear();
        self.rows.clear();
        self.grids.clear();
        self.sorting.clear();
        // Grids in the order of their best item, which no hash map decides.
        let mut classes: Vec<ClassId> = Vec::new();
        for (class, row) in survivors {
            let index = class.0 as usize;
            if self.place.len() <= index {
                self.place.resize(index + 1, NOWHERE);
                self.options.resize(index + 1, None);
            }
            if self.place[index] == NOWHERE {
                self.place[index] = classes.len() as u32;
                classes.push(class);
            }
            self.sorting.push((self.place[index], row));
        }
        self.sorting.sort_by(|(x, a), (y, b)| {
            x.cmp(y).then(b.merit.total_cmp(&a.merit)).then(a.hash.cmp(&b.hash)).then(a.node.cmp(&b.node))
        });
        self.rows.extend(self.sorting.iter().map(|&(_, row)| row));
        let mut start = 0;
        for (number, class) in classes.into_iter().enumerate() {
            let index = class.0 as usize;
            self.place[index] = NOWHERE;
            let end = start + self.sorting[start..].partition_point(|&(place, _)| place <= number as u32);
            let range = self.options[index].clone().unwrap_or_else(|| {
                let first = self.pool.len();
                options(class, &mut self.pool);
                self.pool[first..].sort_by(|a, b| b.estimate.total_cmp(&a.estimate).then(a.id.cmp(&b.id)));
                let range = first..self.pool.len();
                self.options[index] = Some(range.clone());
                range
            });
            self.grids.push(Grid { rows: start..end, options: range });
            start = end;
        }
    }

    /// Puts the best cell of each grid into the queue.
    pub(super) fn queue(&mut self) {
        for grid in 0..self.grids.len() {
            self.push(grid, self.grids[grid].rows.start, 0);
        }
    }

    fn push(&mut self, grid: usize, row: usize, option: usize) {
        let Grid { rows, options } = &self.grids[grid];
        if row < rows.end && options.start + option < options.end {
            let choice = self.pool[options.start + option];
            let Row { merit, hash, .. } = self.rows[row];
            let (grid, row, option) = (grid as u32, row as u32, option as u32);
            self.heap.push(Cell { merit: merit + choice.estimate, hash, grid, row, option });
        }
    }

    /// The best cell left. Each cell has one predecessor, so none is met twice: the next option of the same row,
    /// and from a row's first option also the next row's.
    pub(super) fn next(&mut self) -> Option<(NodeId, u32)> {
        let cell = self.heap.pop()?;
        let (grid, row, option) = (cell.grid as usize, cell.row as usize, cell.option as usize);
        self.push(grid, row, option + 1);
        if option == 0 {
            self.push(grid, row + 1, 0);
        }
        let choice = self.pool[self.grids[grid].options.start + option];
        Some((self.rows[row].node, choice.id))
    }

    /// How many grids there are.
    pub(super) fn len(&self) -> usize {
        self.grids.len()
    }

    /// The rows and options of a grid.
    pub(super) fn grid(&self, grid: usize) -> (Range<usize>, Range<usize>) {
        (self.grids[grid].rows.clone(), self.grids[grid].options.clone())
    }

    /// A cell by its row and option.
    pub(super) fn cell(&self, row: usize, option: usize) -> (NodeId, u32) {
        (self.rows[row].node, self.pool[option].id)
    }
}
