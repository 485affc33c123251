//! One level: all items that the level before leaves possible, with the best that each can be part of.
//!
//! ```text
//! item   <t, l, r> : in         t a table, l and r its ends (boundary.rs), in the most that its words can score
//!
//! <t1, l1, r1> : in1    <t2, l2, r2> : in2
//! ------------------------------------------------------------------  a join
//! <t, l, r> : in1 + in2 + change(r1, l2) + score of a completed edge
//! ```
//!
//! Inside scores go up, outside scores come down. A join whose inside and outside scores together stay below the
//! threshold cannot be part of a derivation that reaches the threshold, and is dropped. The next level knows more
//! words at the ends and looks only at joins of items whose images have a join here.

use sylvan_base::HashMap;
use sylvan_forest::{Derivation, EdgeId, TranslationForest};

use super::boundary::{Boundaries, Ends, LeftId};
use super::meter::{Meter, Stopped};
use super::plan::{Kind, Plan, Step, TableId};
use super::table::{Back, Groups, Table};
use crate::LanguageModel;

/// Two items side by side, and what they make.
#[derive(Debug, Clone, Copy)]
struct Join {
    first: u32,
    /// An item, or for hooks the number of a left end.
    second: u32,
    out: u32,
    /// What knowing the first changes about the second.
    change: f32,
}

/// The second of a join of one item alone.
const NOBODY: u32 = u32::MAX;

/// What a level leaves possible.
#[derive(Debug)]
pub(super) struct Possible {
    /// By step.
    joins: Vec<Vec<Join>>,
    /// By table and item: the most that the rest of a derivation can score.
    outside: Vec<Vec<f64>>,
    /// Of hooks: the most that all but the hook and what it waits for can score.
    beyond: Vec<Vec<f64>>,
    groups: Vec<Groups>,
}

impl Possible {
    /// Everything, as one item per table of which nothing is known.
    pub(super) fn everything(plan: &Plan) -> Self {
        let join = Join { first: 0, second: 0, out: 0, change: 0.0 };
        Self {
            joins: vec![vec![join]; plan.steps.len()],
            outside: vec![vec![f64::INFINITY]; plan.tables()],
            beyond: vec![vec![f64::INFINITY]; plan.tables()],
            groups: vec![Groups { of: vec![0], count: 1 }; plan.tables()],
        }
    }
}

/// All items of a level.
#[derive(Debug)]
pub(super) struct Level {
    tables: Vec<Table>,
    joins: Vec<Vec<Join>>,
    /// By item of the goal, what the sentence's start and end add.
    completions: Vec<f64>,
    /// The best item of the goal, and the most that a derivation can score according to it.
    best: Option<(u32, f64)>,
}

impl Level {
    /// Builds the items above `threshold` whose images are possible. `last` says that no level will follow.
    pub(super) fn new<L: LanguageModel>(
        forest: &TranslationForest,
        plan: &Plan,
        ends: &mut Boundaries<'_, L>,
        before: &Possible,
        threshold: f64,
        last: bool,
        meter: &mut Meter<'_>,
    ) -> Result<Self, Stopped> {
        let mut tables: Vec<Table> = (0..plan.tables()).map(|_| Table::default()).collect();
        for &(table, bundle) in &plan.bundles {
            let (score, ends) = ends.piece(forest.bundle(bundle));
            let item = tables[table as usize].add(ends, ends.left, 0, Back::NONE);
            tables[table as usize].inside[item as usize] = score;
        }
        let mut joins: Vec<Vec<Join>> = vec![Vec::new(); plan.steps.len()];
        // The known items of the current vertex and of the table between.
        let (mut heads, mut others) = (HashMap::default(), HashMap::default());
        let mut head = TableId::MAX;
        for (index, step) in plan.steps.iter().enumerate() {
            if step.edge.is_some() && step.out != head {
                head = step.out;
                heads.clear();
            }
            if before.joins[index].is_empty() {
                continue;
            }
            others.clear();
            let known = if step.edge.is_some() { &mut heads } else { &mut others };
            for table in [step.first, step.second] {
                let hooks = step.kind == Kind::Attach && table == step.first;
                tables[table as usize].finish(hooks, &before.groups[table as usize]);
            }
            let out = std::mem::take(&mut tables[step.out as usize]);
            let mut builder =
                Builder { step, index: index as u32, known, out, made: Vec::new(), threshold, last };
            let (first, second) = (&tables[step.first as usize], &tables[step.second as usize]);
            let (outside, beyond) = (&before.outside[step.out as usize], &before.beyond[step.out as usize]);
            for join in &before.joins[index] {
                let beyond = beyond.get(join.out as usize).copied().unwrap_or(f64::INFINITY);
                let rest = Rest { outside: outside[join.out as usize], beyond };
                builder.refine(ends, first, second, join, rest, meter)?;
            }
            (tables[step.out as usize], joins[index]) = (builder.out, builder.made);
        }
        for (index, table) in tables.iter_mut().enumerate() {
            table.finish(plan.is_hook[index], &before.groups[index]);
        }
        let goal = &tables[plan.goal as usize];
        let completions: Vec<f64> = goal.ends.iter().map(|&item| ends.complete(item)).collect();
        let mut best: Option<(u32, f64)> = None;
        for (index, (inside, completion)) in goal.inside.iter().zip(&completions).enumerate() {
            let merit = inside + completion;
            if merit >= threshold && best.is_none_or(|(_, score)| merit > score) {
                best = Some((index as u32, merit));
            }
        }
        Ok(Self { tables, joins, completions, best })
    }

    /// The most that a derivation above the threshold can score; `None` if there is none.
    pub(super) fn bound(&self) -> Option<f64> {
        self.best.map(|(_, score)| score)
    }

    /// The derivation that scores highest if everything is as good as it looks.
    pub(super) fn derivation(&self, plan: &Plan) -> Option<Derivation> {
        let (goal, _) = self.best?;
        let mut edges: Vec<EdgeId> = Vec::new();
        let mut open = vec![(plan.goal, goal)];
        while let Some((mut table, mut item)) = open.pop() {
            // Down the beginnings of target sides, so that their last symbols are pushed first.
            loop {
                let back = self.tables[table as usize].back[item as usize];
                let Some(step) = plan.steps.get(back.step as usize) else { break };
                edges.extend(step.edge);
                if matches!(step.kind, Kind::Join | Kind::Attach) {
                    open.push((step.second, back.second));
                }
                (table, item) = (step.first, back.first);
            }
        }
        Some(Derivation::new(edges))
    }

    /// Outside scores, and the joins that reach the threshold.
    pub(super) fn prune(mut self, plan: &Plan, threshold: f64) -> Possible {
        let mut outside: Vec<Vec<f64>> =
            self.tables.iter().map(|table| vec![f64::NEG_INFINITY; table.len()]).collect();
        outside[plan.goal as usize] = self.completions;
        let hooks = |table: usize| if plan.is_hook[table] { self.tables[table].len() } else { 0 };
        let mut beyond: Vec<Vec<f64>> =
            (0..plan.tables()).map(|table| vec![f64::NEG_INFINITY; hooks(table)]).collect();
        for (step, joins) in plan.steps.iter().zip(&mut self.joins).rev() {
            let first = &self.tables[step.first as usize].inside;
            let second = &self.tables[step.second as usize].inside;
            let two = matches!(step.kind, Kind::Join | Kind::Attach);
            joins.retain(|join| {
                let rest =
                    outside[step.out as usize][join.out as usize] + f64::from(join.change) + step.score;
                let x = first[join.first as usize];
                let y = if two { second[join.second as usize] } else { 0.0 };
                if rest + x + y < threshold {
                    return false;
                }
                let place = &mut outside[step.first as usize][join.first as usize];
                *place = place.max(rest + y);
                if step.kind == Kind::Attach {
                    let place = &mut beyond[step.first as usize][join.first as usize];
                    *place = place.max(rest);
                }
                if two {
                    let place = &mut outside[step.second as usize][join.second as usize];
                    *place = place.max(rest + x);
                }
                true
            });
        }
        let groups = self.tables.iter().map(Table::groups).collect();
        Possible { joins: self.joins, outside, beyond, groups }
    }

    /// How many items there are.
    pub(super) fn len(&self) -> usize {
        self.tables.iter().map(Table::len).sum()
    }
}

/// The most that the rest of a derivation can score, according to the level before.
#[derive(Debug, Clone, Copy)]
struct Rest {
    outside: f64,
    /// Of hooks, without what the hook waits for.
    beyond: f64,
}

/// Builds the items of one step.
struct Builder<'a> {
    step: &'a Step,
    index: u32,
    known: &'a mut HashMap<(Ends, LeftId), u32>,
    out: Table,
    made: Vec<Join>,
    threshold: f64,
    last: bool,
}

impl Builder<'_> {
    /// Makes all joins whose image is `join`; `rest` is the most that all else can score.
    fn refine<L: LanguageModel>(
        &mut self,
        ends: &mut Boundaries<'_, L>,
        first: &Table,
        second: &Table,
        join: &Join,
        rest: Rest,
        meter: &mut Meter<'_>,
    ) -> Result<(), Stopped> {
        let Rest { outside, beyond } = rest;
        // What the parts must have together; joining them more precisely only takes away.
        let needed = self.threshold - outside - self.step.score - f64::from(join.change);
        let firsts = first.children(join.first);
        match self.step.kind {
            Kind::Alone => {
                for &x in firsts {
                    let (inside, x_ends) = (first.inside[x as usize], first.ends[x as usize]);
                    if inside >= needed {
                        self.add(x_ends, x_ends.left, inside + self.step.score, join.out, (x, NOBODY), 0.0);
                    }
                }
                meter.count(firsts.len() as u64)?;
            }
            Kind::Join => {
                let seconds = second.children(join.second);
                for &x in firsts {
                    let (x_inside, x_ends) = (first.inside[x as usize], first.ends[x as usize]);
                    meter.count(seconds.len() as u64)?;
                    for &y in seconds {
                        let both = x_inside + second.inside[y as usize];
                        if both < needed {
                            continue;
                        }
                        let y_ends = second.ends[y as usize];
                        let change = ends.change(x_ends.right, y_ends.left);
                        let inside = both + change + self.step.score;
                        if inside + outside >= self.threshold {
                            let joined = ends.join(x_ends, y_ends);
                            self.add(joined, joined.left, inside, join.out, (x, y), change);
                        }
                    }
                }
            }
            Kind::Hook => {
                let lefts = second.left_children(join.second);
                for &x in firsts {
                    let (x_inside, x_ends) = (first.inside[x as usize], first.ends[x as usize]);
                    if x_inside < needed {
                        continue;
                    }
                    meter.count(lefts.len() as u64)?;
                    for left in lefts.clone() {
                        let next = second.lefts[left as usize];
                        let change = ends.change(x_ends.right, next);
                        let inside = x_inside + change;
                        let most = outside.min(second.left_best[left as usize] + beyond);
                        if inside + most >= self.threshold {
                            self.add(ends.hook(x_ends, next), next, inside, join.out, (x, left), change);
                        }
                    }
                }
            }
            Kind::Attach => {
                let seconds = second.children(join.second);
                let (mut hooks, mut pieces) = (firsts, seconds);
                // Both are sorted by the left end in question.
                while let (Some(&x), Some(&y)) = (hooks.first(), pieces.first()) {
                    let (wanted, there) = (first.next[x as usize], second.ends[y as usize].left);
                    if wanted < there {
                        hooks = &hooks[1..];
                        continue;
                    }
                    if wanted > there {
                        pieces = &pieces[1..];
                        continue;
                    }
                    let agreeing = |&&y: &&u32| second.ends[y as usize].left == wanted;
                    let x_inside = first.inside[x as usize];
                    let mut tried = 0;
                    for &y in pieces.iter().take_while(agreeing) {
                        tried += 1;
                        let both = x_inside + second.inside[y as usize];
                        if both < needed {
                            break;
                        }
                        let joined = ends.attach(first.ends[x as usize], second.ends[y as usize]);
                        self.add(joined, joined.left, both + self.step.score, join.out, (x, y), 0.0);
                    }
                    meter.count(tried)?;
                    hooks = &hooks[1..];
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, ends: Ends, next: LeftId, inside: f64, image: u32, parts: (u32, u32), change: f64) {
        let (first, second) = parts;
        let back = Back { step: self.index, first, second };
        let item = *self.known.entry((ends, next)).or_insert_with(|| self.out.add(ends, next, image, back));
        let place = item as usize;
        debug_assert_eq!(self.out.image[place], image, "ends at one level decide those at the level before");
        if inside > self.out.inside[place] {
            self.out.inside[place] = inside;
            self.out.back[place] = back;
        }
        if !self.last {
            self.made.push(Join { first, second, out: item, change: change as f32 });
        }
    }
}
