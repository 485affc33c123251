//! The combinations of the items of one round with their options, taken best first.
//!
//! ```text
//!                    options of the class, best estimate first
//!                    o1     o2     o3
//!  items  i1, merit  1st    2nd    4th      value of a cell: the item's merit without its next symbol,
//!  of one i2         3rd    ..              plus the option's estimate; exact except for words at the joint
//!  class  i3         ..
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use sylvan_base::HashSet;

use super::nodes::NodeId;
use crate::deduction::{Choice, ClassId, Deduction, ListId};
use crate::total::Total;

/// A surviving item as a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) node: NodeId,
    /// Score and the estimate of all but the option.
    pub(super) merit: f64,
    pub(super) hash: u64,
}

/// The items of one class: a range of rows, and options of the class that lead equally far.
#[derive(Debug)]
struct Grid {
    rows: Range<usize>,
    options: Range<usize>,
    offset: f64,
}

/// Options of one list that lead equally far, best estimate first.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) options: Range<usize>,
    pub(super) advance: u32,
    /// What the class adds to their estimates.
    pub(super) offset: f64,
}

/// A place in a grid that is worth trying next; ordered by merit, then by content, then by place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Cell {
    merit: Total,
    hash: Reverse<u64>,
    /// Row, option and grid.
    place: Reverse<(u32, u32, u32)>,
}

#[derive(Debug, Default)]
pub(super) struct Grids {
    /// By class: its columns, once they have been asked for.
    classes: Vec<Option<Range<usize>>>,
    columns: Vec<Column>,
    /// By list: its columns, once they have been asked for: options, and how far they lead.
    lists: Vec<Option<Range<usize>>>,
    list_columns: Vec<(Range<usize>, u32)>,
    listed: Vec<(ListId, f64)>,
    pool: Vec<Choice>,
    /// By class: its grid in this round.
    place: Vec<u32>,
    rows: Vec<Row>,
    grids: Vec<Grid>,
    heap: BinaryHeap<Cell>,
    /// Cells that were in the queue from the beginning, as grid, row and option.
    started: HashSet<(u32, u32, u32)>,
    sorting: Vec<(u32, Row)>,
}

const NOWHERE: u32 = u32::MAX;

impl Grids {
    /// Forgets a sentence and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.classes.clear();
        self.columns.clear();
        self.lists.clear();
        self.list_columns.clear();
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
        deduction: &mut impl Deduction,
    ) {
        self.heap.clear();
        self.rows.clear();
        self.grids.clear();
        self.sorting.clear();
        // Grids in the order of their best item, which no hash map decides.
        let mut classes: Vec<ClassId> = Vec::new();
        for (class, row) in survivors {
            let index = class.0 as usize;
            while self.place.len() <= index {
                self.place.push(NOWHERE);
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
            for column in self.columns_of(class, deduction) {
                let Column { options, offset, .. } = self.column(column);
                self.grids.push(Grid { rows: start..end, options, offset });
            }
            start = end;
        }
    }

    /// The columns of a class, for [`column`](Self::column).
    pub(super) fn columns_of(&mut self, class: ClassId, deduction: &mut impl Deduction) -> Range<usize> {
        let index = class.0 as usize;
        while self.classes.len() <= index {
            self.classes.push(None);
        }
        if let Some(known) = &self.classes[index] {
            return known.clone();
        }
        let mut listed = std::mem::take(&mut self.listed);
        listed.clear();
        deduction.lists(class, &mut listed);
        let first = self.columns.len();
        for &(list, offset) in &listed {
            for column in self.columns_of_list(list, deduction) {
                let (options, advance) = self.list_columns[column].clone();
                self.columns.push(Column { options, advance, offset });
            }
        }
        self.listed = listed;
        let range = first..self.columns.len();
        self.classes[index] = Some(range.clone());
        range
    }

    fn columns_of_list(&mut self, list: ListId, deduction: &mut impl Deduction) -> Range<usize> {
        let index = list.0 as usize;
        while self.lists.len() <= index {
            self.lists.push(None);
        }
        if let Some(known) = &self.lists[index] {
            return known.clone();
        }
        let first = self.pool.len();
        deduction.options(list, &mut self.pool);
        self.pool[first..].sort_by(|a, b| {
            a.advance.cmp(&b.advance).then(b.estimate.total_cmp(&a.estimate)).then(a.id.cmp(&b.id))
        });
        let (first_column, mut start) = (self.list_columns.len(), first);
        for part in self.pool[first..].chunk_by(|a, b| a.advance == b.advance) {
            let options = start..start + part.len();
            start = options.end;
            self.list_columns.push((options, part[0].advance));
        }
        let range = first_column..self.list_columns.len();
        self.lists[index] = Some(range.clone());
        range
    }

    pub(super) fn column(&self, column: usize) -> Column {
        self.columns[column].clone()
    }

    pub(super) fn option(&self, option: usize) -> Choice {
        self.pool[option]
    }

    /// Puts the best cell of each grid into the queue, from which no more than `pops` will be taken.
    pub(super) fn queue(&mut self, pops: usize) {
        let mut cells = std::mem::take(&mut self.heap).into_vec();
        cells.clear();
        let best = |grid: usize| self.cell(grid, self.grids[grid].rows.start, 0);
        cells.extend((0..self.grids.len()).filter_map(best).map(|(cell, _, _)| cell));
        // What as many others are better than is never taken.
        if cells.len() > pops {
            cells.select_nth_unstable_by(pops, |a, b| b.cmp(a));
            cells.truncate(pops);
        }
        self.heap = BinaryHeap::from(cells);
    }

    fn push(&mut self, grid: usize, row: usize, option: usize) {
        if let Some((cell, _, _)) = self.cell(grid, row, option) {
            self.heap.push(cell);
        }
    }

    /// A cell by its estimate, if there is one.
    fn cell(&self, grid: usize, row: usize, option: usize) -> Option<(Cell, NodeId, Choice)> {
        let Grid { rows, options, offset } = &self.grids[grid];
        if row >= rows.end || options.start + option >= options.end {
            return None;
        }
        let choice = self.pool[options.start + option];
        let Row { node, merit, hash } = self.rows[row];
        let merit = Total(merit + offset + choice.estimate);
        let place = Reverse((row as u32, option as u32, grid as u32));
        Some((Cell { merit, hash: Reverse(hash), place }, node, choice))
    }

    /// Puts the first cells of each grid into the queue, best estimate first, each with its value.
    pub(super) fn queue_valued(&mut self, first: usize, mut value: impl FnMut(NodeId, Choice, f64) -> f64) {
        self.started.clear();
        let mut cells = Vec::new();
        for grid in 0..self.grids.len() {
            self.heap.clear();
            self.push(grid, self.grids[grid].rows.start, 0);
            for _ in 0..first {
                let Some(place) = self.heap.peek().map(|cell| cell.place.0) else { break };
                self.next();
                cells.push(place);
            }
        }
        self.heap.clear();
        for (row, option, grid) in cells {
            self.started.insert((grid, row, option));
            self.push_valued(grid as usize, row as usize, option as usize, &mut value);
        }
    }

    fn push_valued(
        &mut self,
        grid: usize,
        row: usize,
        option: usize,
        value: &mut impl FnMut(NodeId, Choice, f64) -> f64,
    ) {
        if let Some((cell, node, choice)) = self.cell(grid, row, option) {
            let merit = Total(value(node, choice, cell.merit.0));
            self.heap.push(Cell { merit, ..cell });
        }
    }

    /// The cell with the best value left.
    pub(super) fn next_valued(
        &mut self,
        mut value: impl FnMut(NodeId, Choice, f64) -> f64,
    ) -> Option<(NodeId, Choice)> {
        let Reverse((row, option, grid)) = self.heap.pop()?.place;
        let (below, behind) = ((option == 0).then_some((row + 1, 0)), Some((row, option + 1)));
        for (row, option) in behind.into_iter().chain(below) {
            if !self.started.contains(&(grid, row, option)) {
                self.push_valued(grid as usize, row as usize, option as usize, &mut value);
            }
        }
        let (_, node, choice) = self.cell(grid as usize, row as usize, option as usize)?;
        Some((node, choice))
    }

    /// The best cell left. Each cell has one predecessor, so none is met twice: the next option of the same row,
    /// and from a row's first option also the next row's.
    pub(super) fn next(&mut self) -> Option<(NodeId, Choice)> {
        let Reverse((row, option, grid)) = self.heap.pop()?.place;
        let (row, option, grid) = (row as usize, option as usize, grid as usize);
        self.push(grid, row, option + 1);
        if option == 0 {
            self.push(grid, row + 1, 0);
        }
        let choice = self.pool[self.grids[grid].options.start + option];
        Some((self.rows[row].node, choice))
    }
}
