//! The items of one table at one level.

use super::boundary::{Ends, LeftId};

/// How an item's inside score came about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Back {
    /// The step, or [`Back::NONE`].
    pub(super) step: u32,
    pub(super) first: u32,
    pub(super) second: u32,
}

impl Back {
    /// A bundle's item: nothing is below it.
    pub(super) const NONE: Back = Back { step: u32::MAX, first: 0, second: 0 };
}

/// Items, and how they relate to those of the level before: each has an image there.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) ends: Vec<Ends>,
    /// Of hooks, the left end that they wait for.
    pub(super) next: Vec<LeftId>,
    pub(super) inside: Vec<f64>,
    pub(super) image: Vec<u32>,
    pub(super) back: Vec<Back>,
    /// By item, the number of its left end in `lefts`.
    pub(super) group: Vec<u32>,
    /// The distinct left ends, grouped by their images.
    pub(super) lefts: Vec<LeftId>,
    /// The best inside score with each of them.
    pub(super) left_best: Vec<f64>,
    /// Items sorted by image, then by what an attachment must agree in, then from the best down.
    order: Vec<u32>,
    starts: Vec<u32>,
    left_starts: Vec<u32>,
}

impl Table {
    pub(super) fn add(&mut self, ends: Ends, next: LeftId, image: u32, back: Back) -> u32 {
        self.ends.push(ends);
        self.next.push(next);
        self.inside.push(f64::NEG_INFINITY);
        self.image.push(image);
        self.back.push(back);
        self.ends.len() as u32 - 1
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Sorts the items, once, when there will be no more. `groups` has the left end's number of each possible image.
    pub(super) fn finish(&mut self, is_hook: bool, groups: &Groups) {
        if !self.starts.is_empty() {
            return;
        }
        let keys: Vec<LeftId> =
            if is_hook { self.next.clone() } else { self.ends.iter().map(|ends| ends.left).collect() };
        self.order = (0..self.len() as u32).collect();
        let (image, inside) = (&self.image, &self.inside);
        self.order.sort_unstable_by(|&a, &b| {
            let (a, b) = (a as usize, b as usize);
            let by_place = image[a].cmp(&image[b]).then(keys[a].cmp(&keys[b]));
            by_place.then(inside[b].total_cmp(&inside[a])).then(a.cmp(&b))
        });
        self.starts = starts(groups.of.len(), image.iter().copied());
        if is_hook {
            self.group = vec![0; self.len()];
            return;
        }
        let mut lefts: Vec<(u32, LeftId)> =
            (0..self.len()).map(|item| (groups.of[image[item] as usize], keys[item])).collect();
        lefts.sort_unstable();
        lefts.dedup();
        self.left_starts = starts(groups.count, lefts.iter().map(|&(image, _)| image));
        self.group = (0..self.len())
            .map(|item| {
                let wanted = (groups.of[image[item] as usize], keys[item]);
                lefts.partition_point(|&left| left < wanted) as u32
            })
            .collect();
        self.left_best = vec![f64::NEG_INFINITY; lefts.len()];
        for (&group, &inside) in self.group.iter().zip(&self.inside) {
            let best = &mut self.left_best[group as usize];
            *best = best.max(inside);
        }
        self.lefts = lefts.into_iter().map(|(_, left)| left).collect();
    }

    /// The items with a given image, those that agree in what attachments ask for side by side.
    pub(super) fn children(&self, image: u32) -> &[u32] {
        let image = image as usize;
        &self.order[self.starts[image] as usize..self.starts[image + 1] as usize]
    }

    /// The numbers of the left ends whose images have a given number.
    pub(super) fn left_children(&self, group: u32) -> std::ops::Range<u32> {
        self.left_starts[group as usize]..self.left_starts[group as usize + 1]
    }

    /// What the next level must know.
    pub(super) fn groups(&self) -> Groups {
        Groups { of: self.group.clone(), count: self.lefts.len() }
    }
}

/// Which items of a table share their left end.
#[derive(Debug, Clone)]
pub(super) struct Groups {
    pub(super) of: Vec<u32>,
    pub(super) count: usize,
}

/// Where each of `count` groups begins when numbers are sorted.
fn starts(count: usize, numbers: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut starts = vec![0; count + 1];
    for number in numbers {
        starts[number as usize + 1] += 1;
    }
    for index in 1..starts.len() {
        starts[index] += starts[index - 1];
    }
    starts
}
