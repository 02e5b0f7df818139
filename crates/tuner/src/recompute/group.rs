//! Recompute of one stage: the number of its layers under each treatment, so that it fits in minimum time.
//!
//! Responsible for: an exact search. Layers of one kind on one virtual stage are interchangeable, so a choice
//! is a number of layers for each treatment. Branch and bound: the bound relaxes the numbers to fractions,
//! where the best mixture is on the lower hull of memory against time. Independent of other stages.

use super::hull::{Relaxation, Step};
use railwright_calculator::choices::{Choices, Load, Part};
use railwright_calculator::memory::StageRoom;
use railwright_spec::quantity::{Bytes, Seconds};

/// Interchangeable layers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Class {
    /// The virtual stage, in pipeline order.
    pub chunk: usize,
    /// Index among the virtual stages that share the memory.
    pub local: usize,
    pub kind: usize,
    pub count: u64,
    /// Micro-batches in flight.
    pub alive: f64,
}

/// Virtual stages that share one device's memory.
pub(super) struct Group<'a> {
    pub chunks: Vec<usize>,
    pub classes: Vec<Class>,
    pub room: &'a StageRoom,
    /// Number of virtual stages of the whole pipeline.
    pub of: usize,
    /// True if multi-token prediction is on this stage.
    pub beside: bool,
}

/// A choice.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Solution {
    /// Numbers of layers, by class and treatment.
    pub counts: Vec<Vec<u64>>,
    /// The treatment of multi-token prediction.
    pub beside: usize,
    /// Time of forward, backward and recompute of one micro-batch through all virtual stages of the group.
    pub time: Seconds,
    /// Lower bound on the time of any choice.
    pub bound: Seconds,
}

/// Maximum number of nodes; then the search ends with a proven gap.
const MOST_NODES: u64 = 400_000;

impl<'a> Group<'a> {
    /// The group of a stage.
    pub(super) fn new(room: &'a StageRoom, kinds: &[usize], of: usize, beside: bool) -> Self {
        let mut classes = Vec::new();
        for (local, (chunk, &alive)) in room.chunks.iter().zip(&room.alive).enumerate() {
            let here = kinds.get(chunk.start..chunk.start + chunk.count).unwrap_or_default();
            let mut seen: Vec<usize> = Vec::new();
            for &kind in here {
                if !seen.contains(&kind) {
                    seen.push(kind);
                    let count = here.iter().filter(|&&k| k == kind).count() as u64;
                    classes.push(Class { chunk: chunk.chunk, local, kind, count, alive });
                }
            }
        }
        let beside = beside && room.chunks.iter().any(|chunk| chunk.head);
        Self { chunks: room.chunks.iter().map(|c| c.chunk).collect(), classes, room, of, beside }
    }

    fn parts(&self, counts: &[Vec<u64>], chunk: usize) -> Vec<Part> {
        let own = self.classes.iter().zip(counts).filter(|(class, _)| class.chunk == chunk);
        own.flat_map(|(class, counts)| {
            let some = counts.iter().enumerate().filter(|(_, n)| **n > 0);
            some.map(|(treatment, &count)| Part { kind: class.kind, treatment, count })
        })
        .collect()
    }

    fn time(&self, choices: &Choices<'_>, counts: &[Vec<u64>], beside: usize) -> Seconds {
        self.chunks
            .iter()
            .map(|&chunk| choices.time(chunk, self.of, &self.parts(counts, chunk), beside).total())
            .sum()
    }

    /// The fastest choice among some treatments within the limit, if it is faster than the best known one.
    pub(super) fn solve(
        &self,
        choices: &Choices<'_>,
        limit: Bytes,
        treatments: &[usize],
        known: Option<Solution>,
    ) -> Option<Solution> {
        let mut best = known;
        let mut working: Vec<Bytes> = self
            .classes
            .iter()
            .flat_map(|class| treatments.iter().map(|&t| choices.working(class.kind, t)))
            .collect();
        working.sort_by(|a, b| a.get().total_cmp(&b.get()));
        working.dedup();
        if working.is_empty() {
            working.push(Bytes::ZERO);
        }
        let besides = if self.beside { treatments } else { &treatments[..1] };
        for &beside in besides {
            let more = if self.beside { choices.prediction_working_memory(beside) } else { Bytes::ZERO };
            for &most in &working {
                let Some(left) = self.room.left(most + more, limit) else { continue };
                let found = Search::new(self, choices, treatments, beside, most, left, best.clone());
                best = found.and_then(Search::run).or(best);
            }
        }
        best
    }
}

#[derive(Clone, Copy, Debug)]
struct Item {
    treatment: usize,
    /// Bytes kept of all micro-batches in flight.
    weight: f64,
    /// Lower bound on the additional time per layer, in s.
    cost: f64,
}

struct Search<'a, 'b> {
    group: &'a Group<'a>,
    choices: &'a Choices<'b>,
    beside: usize,
    left: f64,
    /// Options by class.
    items: Vec<Vec<Item>>,
    relaxation: Relaxation,
    fixed: f64,
    counts: Vec<Vec<u64>>,
    best: Option<Solution>,
    improved: bool,
    nodes: u64,
    /// Lowest bound of the parts skipped for lack of trials.
    open: f64,
}

impl<'a, 'b> Search<'a, 'b> {
    fn new(
        group: &'a Group<'a>,
        choices: &'a Choices<'b>,
        treatments: &[usize],
        beside: usize,
        most: Bytes,
        left: Bytes,
        best: Option<Solution>,
    ) -> Option<Self> {
        let allowed = |class: &Class| -> Vec<usize> {
            treatments.iter().copied().filter(|&t| choices.working(class.kind, t) <= most).collect()
        };
        let options: Vec<Vec<usize>> =
            group.classes.iter().map(|class| efficient(choices, class.kind, &allowed(class))).collect();
        if options.iter().any(Vec::is_empty) {
            return None;
        }
        // The bound is tight near the load of its gradient: that of the best choice so far, otherwise of the
        // lightest one.
        let mut counts = vec![vec![0; choices.treatments().len()]; group.classes.len()];
        for ((class, options), counts) in group.classes.iter().zip(&options).zip(&mut counts) {
            let lightest = |&&t: &&usize| choices.saved(class.kind, t).get();
            let least = options.iter().min_by(|a, b| lightest(a).total_cmp(&lightest(b)));
            counts[*least?] = class.count;
        }
        let reference = best.as_ref().map_or(&counts, |best| &best.counts);
        let slopes: Vec<Load> = group
            .chunks
            .iter()
            .map(|&chunk| choices.chunk_load(chunk, group.of, &group.parts(reference, chunk), beside).slope())
            .collect();
        let items: Vec<Vec<Item>> = group
            .classes
            .iter()
            .zip(&options)
            .map(|(class, options)| {
                let item = |&treatment: &usize| Item {
                    treatment,
                    weight: choices.saved(class.kind, treatment).get() * class.alive,
                    cost: slopes[class.local].dot(&choices.load(class.kind, treatment)),
                };
                options.iter().map(item).collect()
            })
            .collect();
        let fixed = group
            .chunks
            .iter()
            .zip(&slopes)
            .map(|(&chunk, slope)| slope.dot(&choices.chunk_load(chunk, group.of, &[], beside)))
            .sum();
        let points: Vec<(u64, Vec<Step>)> = group
            .classes
            .iter()
            .zip(&items)
            .map(|(class, items)| {
                (class.count, items.iter().map(|i| Step { weight: i.weight, cost: i.cost }).collect())
            })
            .collect();
        for counts in &mut counts {
            counts.fill(0);
        }
        Some(Self {
            group,
            choices,
            beside,
            left: left.get(),
            relaxation: Relaxation::new(&points),
            items,
            fixed,
            counts,
            best,
            improved: false,
            nodes: 0,
            open: f64::INFINITY,
        })
    }

    fn run(mut self) -> Option<Solution> {
        self.visit(0, 0, self.group.classes.first().map_or(0, |c| c.count), 0.0, self.fixed);
        if let Some(best) = &mut self.best {
            let bound = best.bound.get().min(self.open).min(best.time.get());
            best.bound = Seconds::new(bound);
        }
        if self.improved || self.open.is_finite() { self.best } else { None }
    }

    /// Selects the number of the `left` layers of a class without treatment for the item, and recurses.
    fn visit(&mut self, class: usize, item: usize, left: u64, weight: f64, cost: f64) {
        if class == self.items.len() {
            self.leaf();
            return;
        }
        let Some(bound) = self.relaxation.bound(class, item, left, self.left - weight) else { return };
        let bound = cost + bound;
        // Rounding of sums must not keep a choice that is no better.
        if self.best.as_ref().is_some_and(|best| bound >= best.time.get() * (1.0 - 1e-12)) {
            return;
        }
        self.nodes += 1;
        if self.nodes > MOST_NODES {
            self.open = self.open.min(bound);
            return;
        }
        let Item { treatment, weight: each, cost: adds } = self.items[class][item];
        let is_last = item + 1 == self.items[class].len();
        let least = if is_last { left } else { 0 };
        for count in (least..=left).rev() {
            let weight = weight + each * count as f64;
            let cost = cost + adds * count as f64;
            self.counts[class][treatment] = count;
            if is_last {
                let next = self.group.classes.get(class + 1).map_or(0, |c| c.count);
                if weight <= self.left * (1.0 + 1e-12) {
                    self.visit(class + 1, 0, next, weight, cost);
                }
            } else {
                self.visit(class, item + 1, left - count, weight, cost);
            }
        }
        self.counts[class][treatment] = 0;
    }

    fn leaf(&mut self) {
        let time = self.group.time(self.choices, &self.counts, self.beside);
        if self.best.as_ref().is_none_or(|best| time < best.time) {
            let bound = self.best.as_ref().map_or(time, |best| best.bound.min(time));
            self.best = Some(Solution { counts: self.counts.clone(), beside: self.beside, time, bound });
            self.improved = true;
        }
    }
}

/// Treatments of a kind of layer, without those that another one dominates in memory and in every component
/// of its load.
fn efficient(choices: &Choices<'_>, kind: usize, treatments: &[usize]) -> Vec<usize> {
    let load = |t: usize| choices.load(kind, t);
    let no_worse = |a: usize, b: usize| {
        choices.saved(kind, a) <= choices.saved(kind, b)
            && load(a).passes.iter().flatten().zip(load(b).passes.iter().flatten()).all(|(a, b)| a <= b)
    };
    let beaten = |place: usize, b: usize| {
        let beats = |other: usize, a: usize| a != b && no_worse(a, b) && (!no_worse(b, a) || other < place);
        treatments.iter().enumerate().any(|(other, &a)| beats(other, a))
    };
    let kept = treatments.iter().enumerate().filter(|&(place, &t)| !beaten(place, t));
    let mut list: Vec<usize> = kept.map(|(_, &t)| t).collect();
    // In descending order of memory: the first has the lowest cost, and trials begin with the maximum number
    // of layers on it that fits.
    list.sort_by(|&a, &b| choices.saved(kind, b).get().total_cmp(&choices.saved(kind, a).get()));
    list
}
