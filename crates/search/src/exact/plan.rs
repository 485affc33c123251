//! The forest as a list of steps that join two things at a time.
//!
//! A target side `x1 x2 x3` is joined from the left: `x1 x2`, then `(x1 x2) x3`. Edges whose target sides begin
//! alike share the beginning, wherever they are. Of edges with equal head and target side only the best can be
//! part of an optimum, so the others are left out.
//!
//! Where both sides have many items the join is done in two halves (Huang, Zhang & Gildea 2005): first an item and a
//! *left end* of the other side make a hook, which forgets the item's own right end; then the hook meets the items
//! with that left end. What was a product of four numbers of ends becomes two products of three.

use sylvan_base::{HashMap, Id};
use sylvan_forest::{BundleId, EdgeId, Target, TranslationForest, VertexId};

/// Number of a table: the items of a vertex, a bundle, or a beginning of target sides.
pub(super) type TableId = u32;

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Items of the first table as they are.
    Alone,
    /// Items of two tables side by side.
    Join,
    /// Items of the first table and left ends of the second: a hook.
    Hook,
    /// Hooks and the items of the second table that they wait for.
    Attach,
}

/// Items of two tables make items of a third.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) kind: Kind,
    pub(super) first: TableId,
    /// The same as `first` if there is only one.
    pub(super) second: TableId,
    pub(super) out: TableId,
    /// The edge that is complete with this step.
    pub(super) edge: Option<EdgeId>,
    /// Its score, or 0.
    pub(super) score: f64,
}

/// Steps in an order in which a table is complete before it is used.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    /// Which tables are bundles.
    pub(super) bundles: Vec<(TableId, BundleId)>,
    pub(super) goal: TableId,
    /// By table, whether its items are hooks.
    pub(super) is_hook: Vec<bool>,
}

impl Plan {
    pub(super) fn new(forest: &TranslationForest) -> Self {
        let reached = reachable(forest);
        // Vertices have the first tables, by id.
        let plan = Self {
            steps: Vec::new(),
            bundles: Vec::new(),
            goal: forest.goal().0,
            is_hook: vec![false; reached.len()],
        };
        let (bundles, beginnings) = (HashMap::default(), HashMap::default());
        let mut planner = Planner { plan, bundles, beginnings };
        for vertex in forest.vertices().filter(|vertex| reached[vertex.index()]) {
            for edge in best_edges(forest, vertex) {
                planner.edge(forest, edge);
            }
        }
        planner.plan
    }

    /// How many tables there are.
    pub(super) fn tables(&self) -> usize {
        self.is_hook.len()
    }
}

struct Planner {
    plan: Plan,
    bundles: HashMap<BundleId, TableId>,
    beginnings: HashMap<(TableId, TableId), TableId>,
}

impl Planner {
    /// The next table, whose items are hooks or not.
    fn table(&mut self, is_hook: bool) -> TableId {
        let table = self.plan.tables() as TableId;
        self.plan.is_hook.push(is_hook);
        table
    }

    fn symbol(&mut self, symbol: Target) -> TableId {
        let bundle = match symbol {
            Target::Vertex(vertex) => return vertex.0,
            Target::Bundle(bundle) => bundle,
        };
        if let Some(&table) = self.bundles.get(&bundle) {
            return table;
        }
        let table = self.table(false);
        self.bundles.insert(bundle, table);
        self.plan.bundles.push((table, bundle));
        table
    }

    fn edge(&mut self, forest: &TranslationForest, edge: EdgeId) {
        let (symbols, spec) = (forest.target(edge), &forest.edge(edge).spec);
        let (&last, rest) = symbols.split_last().expect("a target side has a symbol");
        let mut so_far: Option<(TableId, bool)> = None;
        for &symbol in rest {
            let table = self.symbol(symbol);
            so_far = Some(match so_far {
                None => (table, matches!(symbol, Target::Bundle(_))),
                Some((first, single)) => match self.beginnings.get(&(first, table)) {
                    Some(&known) => (known, false),
                    None => {
                        let out = self.table(false);
                        self.beginnings.insert((first, table), out);
                        self.join(first, single, symbol, out, None, 0.0);
                        (out, false)
                    }
                },
            });
        }
        let out = forest.edge(edge).head.0;
        match so_far {
            Some((first, single)) => self.join(first, single, last, out, Some(edge), spec.score),
            None => {
                let first = self.symbol(last);
                let step = Step {
                    kind: Kind::Alone,
                    first,
                    second: first,
                    out,
                    edge: Some(edge),
                    score: spec.score,
                };
                self.plan.steps.push(step);
            }
        }
    }

    /// Appends a symbol to a table; `single` says that the table has only one item.
    fn join(
        &mut self,
        first: TableId,
        single: bool,
        symbol: Target,
        out: TableId,
        edge: Option<EdgeId>,
        score: f64,
    ) {
        let second = self.symbol(symbol);
        if single || matches!(symbol, Target::Bundle(_)) {
            self.plan.steps.push(Step { kind: Kind::Join, first, second, out, edge, score });
            return;
        }
        let hook = self.table(true);
        self.plan.steps.push(Step { kind: Kind::Hook, first, second, out: hook, edge: None, score: 0.0 });
        self.plan.steps.push(Step { kind: Kind::Attach, first: hook, second, out, edge, score });
    }
}

/// The best of each group of edges that differ only in score.
fn best_edges(forest: &TranslationForest, vertex: VertexId) -> Vec<EdgeId> {
    let mut best: Vec<EdgeId> = Vec::new();
    let mut places: HashMap<&[Target], usize> = HashMap::default();
    for edge in forest.edges(vertex) {
        let place = *places.entry(forest.target(edge)).or_insert(best.len());
        if place == best.len() {
            best.push(edge);
            continue;
        }
        let (new, old) = (&forest.edge(edge).spec, &forest.edge(best[place]).spec);
        if crate::outcome::better(new.score, new.hash, old.score, old.hash) {
            best[place] = edge;
        }
    }
    best
}

/// Which vertices some derivation of the goal can use.
fn reachable(forest: &TranslationForest) -> Vec<bool> {
    let mut reached = vec![false; forest.vertices().count()];
    reached[forest.goal().index()] = true;
    for vertex in forest.vertices().rev() {
        if reached[vertex.index()] {
            for edge in forest.edges(vertex) {
                forest.tails(edge).for_each(|tail| reached[tail.index()] = true);
            }
        }
    }
    reached
}
