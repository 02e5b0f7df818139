//! Search over divisions.
//!
//! Responsible for: the best division, or an upper bound on its distance from the one found. Moves of single
//! layers find a good one; then a branch and bound covers all that could be better. Does not price: see the
//! calculator.
//!
//! The bound. Let `T = F + B` be the times of one micro-batch on a stage, with `m` micro-batches and `p`
//! stages. The first micro-batch passes all stages, and the rest of a stage's work follows the return of its
//! gradient. Under 1F1B the pipeline takes at least `sum T + (m-1) B_s + (m - min(m, p-s)) F_s` for every
//! stage `s`. Interleaved schedules have the same bound with the chunks of their warm-up. Under GPipe it is
//! `sum T + (m-1) T_s`, and under any schedule `m T_s`.

use super::division::Pricer;
use railwright_calculator::evaluate::local_chunks;
use railwright_calculator::stage::{chunks_per_stage, virtual_stages};
use railwright_spec::plan::{Plan, balanced_layers};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;

/// Result.
pub(super) struct Found {
    pub best: Option<(Vec<u64>, Plan)>,
    /// Lower bound on the step of any division.
    pub bound: Seconds,
}

/// Maximum number of priced divisions in each part of the search.
const MOST_PRICED: u64 = 2000;
/// Maximum number of nodes of the branch and bound.
const MOST_NODES: u64 = 50_000;

pub(super) fn best(pricer: &mut Pricer<'_>, start: &[u64]) -> Result<Found, Problem> {
    let mut state = State { best: None, layers: start.iter().sum() };
    let chunks = start.len() as u64;
    state.consider(pricer, start)?;
    state.consider(pricer, &balanced_layers(state.layers, chunks))?;
    let bounds = Bounds::new(pricer, start)?;
    for seed in bounds.seeds(state.layers) {
        state.consider(pricer, &seed)?;
    }
    state.improve(pricer, &bounds)?;
    let mut tree = Tree { bounds: &bounds, state: &mut state, nodes: 0, open: f64::INFINITY, priced: 0 };
    let mut division = Vec::new();
    let layers = tree.state.layers;
    tree.visit(pricer, &mut division, layers)?;
    let open = tree.open;
    let best = state.best.map(|(step, layers, plan)| (step, (layers, plan)));
    let bound = best.as_ref().map_or(Seconds::ZERO, |(step, _)| Seconds::new(step.get().min(open)));
    Ok(Found { best: best.map(|(_, found)| found), bound })
}

struct State {
    best: Option<(Seconds, Vec<u64>, Plan)>,
    layers: u64,
}

impl State {
    /// Prices a division and keeps it if it is the best so far. Returns its step if it fits.
    fn consider(&mut self, pricer: &mut Pricer<'_>, layers: &[u64]) -> Result<Option<Seconds>, Problem> {
        if layers.iter().sum::<u64>() != self.layers || !is_sound(layers) {
            return Ok(None);
        }
        let Some((step, plan)) = pricer.price(layers)? else { return Ok(None) };
        if self.best.as_ref().is_none_or(|(best, ..)| step < *best) {
            self.best = Some((step, layers.to_vec(), plan));
        }
        Ok(Some(step))
    }

    /// Moves single layers from one virtual stage to another while that shortens the step, from the slowest
    /// stages first.
    fn improve(&mut self, pricer: &mut Pricer<'_>, bounds: &Bounds) -> Result<(), Problem> {
        let begun = pricer.priced();
        while let Some((step, layers, _)) = self.best.clone() {
            let mut order: Vec<usize> = (0..layers.len()).collect();
            let busy = bounds.busy(&layers);
            order.sort_by(|&a, &b| busy[b].total_cmp(&busy[a]));
            let givers: Vec<usize> = order.iter().copied().take(8).collect();
            'round: for &from in &givers {
                for &to in order.iter().rev().filter(|&&to| to != from && layers[from] > 0) {
                    let mut moved = layers.clone();
                    moved[from] -= 1;
                    moved[to] += 1;
                    self.consider(pricer, &moved)?;
                    if pricer.priced() - begun > MOST_PRICED {
                        return Ok(());
                    }
                    if self.best.as_ref().is_some_and(|(best, ..)| *best < step) {
                        break 'round;
                    }
                }
            }
            if self.best.as_ref().is_none_or(|(best, ..)| *best >= step) {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Tests whether every virtual stage except the two ends has a layer.
fn is_sound(layers: &[u64]) -> bool {
    let inner = layers.get(1..layers.len().saturating_sub(1)).unwrap_or_default();
    inner.iter().all(|&n| n > 0)
}

/// Lower bounds on times, by virtual stage and number of layers.
///
/// A virtual stage's time is convex in its layers, so from two layers on each adds at least as much as the
/// second one.
struct Bounds {
    plan: Plan,
    /// Forward and backward of a virtual stage: time without layers, and minimum per layer.
    ends: Vec<(f64, f64)>,
    each: Vec<(f64, f64)>,
    /// Minimum time per layer on any virtual stage.
    layer: f64,
    /// Time of the step outside the pipeline, and the factor of the whole step.
    rest: f64,
    factor: f64,
    /// The stage of each virtual stage.
    stage: Vec<usize>,
    per_stage: usize,
    chunks: usize,
    layers: u64,
    /// Lower bound on the longest of the remaining stages for a number of layers: by stage, then layers.
    remaining: Vec<Vec<f64>>,
}

impl Bounds {
    fn new(pricer: &mut Pricer<'_>, start: &[u64]) -> Result<Self, Problem> {
        let plan = pricer.plan().clone();
        let chunks = virtual_stages(&plan) as usize;
        let lines = pricer.lines(chunks)?;
        let even = Plan { layers_per_stage: Some(start.to_vec()), ..super::without_recompute(&plan) };
        let evaluation = pricer.evaluate(&even)?;
        let body = (evaluation.time.total - evaluation.time.jitter).get();
        let count = evaluation.updates.len().max(1) as f64;
        // The longest of the stages' updates is at least their mean, which is independent of the division.
        // Unless devices are of several kinds: parameters take longer on some of them.
        let all = evaluation.updates.iter().map(|u| u.optimizer.get()).sum::<f64>();
        let optimizer = if pricer.is_mixed() { 0.0 } else { all / count };
        let mut stage = vec![0; chunks];
        for s in 0..plan.pipeline_parallel as usize {
            for c in local_chunks(&plan, s) {
                stage[c] = s;
            }
        }
        let mut bounds = Self {
            layer: lines.iter().map(|(_, each)| each.0 + each.1).fold(f64::INFINITY, f64::min),
            ends: lines.iter().map(|line| line.0).collect(),
            each: lines.iter().map(|line| line.1).collect(),
            rest: evaluation.time.fixed.get() + optimizer * (1.0 - 1e-6),
            factor: evaluation.time.total.get() / body,
            stage,
            per_stage: chunks_per_stage(&plan) as usize,
            chunks,
            layers: start.iter().sum(),
            remaining: Vec::new(),
            plan,
        };
        if bounds.per_stage == 1 {
            bounds.remaining = (0..chunks)
                .map(|from| (0..=bounds.layers).map(|left| bounds.longest(from, left)).collect())
                .collect();
        }
        Ok(bounds)
    }

    fn of(&self, chunk: usize, layers: u64) -> (f64, f64) {
        let n = layers as f64;
        let ((forward, backward), each) = (self.ends[chunk], self.each[chunk]);
        (forward + each.0 * n, backward + each.1 * n)
    }

    /// Lower bound on the sum over all stages.
    fn all(&self) -> f64 {
        self.ends.iter().map(|(f, b)| f + b).sum::<f64>() + self.layer * self.layers as f64
    }

    /// Time of one micro-batch on the stage of each virtual stage.
    fn busy(&self, layers: &[u64]) -> Vec<f64> {
        let mut stages = vec![0.0; self.chunks];
        for (chunk, &n) in layers.iter().enumerate() {
            let (forward, backward) = self.of(chunk, n);
            stages[self.stage[chunk]] += forward + backward;
        }
        (0..layers.len()).map(|chunk| stages[self.stage[chunk]]).collect()
    }

    fn micro_batches(&self) -> f64 {
        self.plan.micro_batches().max(1) as f64
    }

    /// Lower bound on the pipeline's duration from a stage with one virtual stage; `all` is the sum over all
    /// stages.
    fn through(&self, stage: usize, (forward, backward): (f64, f64), all: f64) -> f64 {
        let (m, p) = (self.micro_batches(), self.plan.pipeline_parallel as f64);
        if self.plan.schedule.divides_backward() {
            return m * (forward + backward);
        }
        // If passes do not alternate, all forward passes except the first run before any backward pass.
        let ahead = if self.plan.schedule.interleaves() { (p - stage as f64).min(m) } else { 1.0 };
        all + (m - 1.0) * backward + (m - ahead) * forward
    }

    /// Lower bound on the step of any division with this prefix.
    fn step(&self, division: &[u64], left: u64) -> f64 {
        if self.plan.schedule.has_two_directions() {
            // Fused passes save time on both, so there is no useful bound.
            return 0.0;
        }
        let longest = if self.per_stage == 1 {
            let all = self.all();
            let assigned = division.iter().enumerate().map(|(s, &n)| self.through(s, self.of(s, n), all));
            let behind = self.remaining.get(division.len()).and_then(|of| of.get(left as usize));
            assigned.fold(behind.copied().unwrap_or(0.0), f64::max)
        } else {
            self.shared(division, left)
        };
        (longest + self.rest) * self.factor
    }

    /// Lower bound on the pipeline's duration from stages with several virtual stages. Under interleaved 1F1B
    /// the first micro-batch passes all virtual stages and returns to the stage. All its backward passes
    /// and the forward passes beyond its warm-up then remain. Under other schedules every stage is busy
    /// for all its passes.
    fn shared(&self, division: &[u64], left: u64) -> f64 {
        let (m, p) = (self.micro_batches(), self.plan.pipeline_parallel as usize);
        let own: Vec<(f64, f64)> =
            (0..self.chunks).map(|c| self.of(c, division.get(c).copied().unwrap_or(0))).collect();
        let is_interleaved = self.plan.schedule.interleaves();
        let forward = self.each.iter().map(|e| e.0).fold(f64::INFINITY, f64::min) * self.layers as f64
            + self.ends.iter().map(|e| e.0).sum::<f64>();
        let mut stages = vec![if is_interleaved { forward } else { 0.0 }; p];
        let mut slopes = vec![f64::INFINITY; p];
        for (chunk, &(f, b)) in own.iter().enumerate() {
            let stage = self.stage[chunk];
            let done = if is_interleaved { self.warm(stage, chunk / p) } else { 0.0 };
            stages[stage] += m * b + (m - done) * f;
            let each = self.each[chunk];
            slopes[stage] = slopes[stage].min(m * each.1 + (m - done) * each.0);
        }
        if is_interleaved {
            for (stage, time) in stages.iter_mut().enumerate() {
                let last = self.chunks - p + stage;
                let behind = own.iter().enumerate().filter(|(c, _)| *c < stage || *c > last);
                *time += behind.map(|(_, own)| own.1).sum::<f64>();
            }
        }
        // Remaining layers fill the stages to an equal level, in whole layers.
        let mut level = stages.iter().copied().fold(0.0, f64::max);
        for _ in 0..left {
            let with = |s: usize| stages[s] + slopes[s];
            let Some(next) = (0..p).min_by(|&a, &b| with(a).total_cmp(&with(b))) else { break };
            stages[next] = with(next);
            level = level.max(stages[next]);
        }
        level
    }

    /// Maximum number of forward passes of a stage's virtual stage before its first backward pass: the
    /// warm-up of interleaved 1F1B and one more.
    fn warm(&self, stage: usize, local: usize) -> f64 {
        let (p, v) = (self.plan.pipeline_parallel as usize, self.per_stage);
        let slots = 2 * (p - 1 - stage) + (v - 1) * p + 1;
        let (rounds, rest) = (slots / (p * v), slots % (p * v));
        let count = rounds * p + rest.saturating_sub(local * p).min(p);
        (count as f64).min(self.micro_batches())
    }

    /// Lower bound on the longest of the remaining stages, which share the remaining layers: the lowest limit
    /// under which the layers fit, by bisection, as every stage's time is linear in its layers.
    fn longest(&self, from: usize, left: u64) -> f64 {
        let all = self.all();
        let lines: Vec<(f64, f64)> = (from..self.chunks)
            .map(|s| {
                let none = self.through(s, self.of(s, 0), all);
                (none, self.through(s, self.of(s, 1), all) - none)
            })
            .collect();
        let fits = |limit: f64| {
            let room = |&(none, each): &(f64, f64)| {
                if limit < none {
                    0.0
                } else if each > 0.0 {
                    ((limit - none) / each).floor()
                } else {
                    f64::INFINITY
                }
            };
            lines.iter().map(room).sum::<f64>() >= left as f64
        };
        let mut fails = 0.0;
        let mut holds =
            lines.iter().map(|(none, each)| none + each * left as f64).fold(0.0, f64::max) * (1.0 + 1e-9);
        for _ in 0..48 {
            let middle = f64::midpoint(fails, holds);
            if fits(middle) { holds = middle } else { fails = middle }
        }
        fails
    }

    /// Divisions with the lowest bound, with the excess layers removed in different places.
    fn seeds(&self, layers: u64) -> Vec<Vec<u64>> {
        if self.per_stage > 1 {
            return self.seeds_by_stage(layers);
        }
        let all = self.all();
        let limit = self.longest(0, layers) * (1.0 + 1e-6);
        let most = |stage: usize| {
            (0..=layers).take_while(|&n| self.through(stage, self.of(stage, n), all) <= limit).last()
        };
        let full: Vec<u64> = (0..self.chunks).map(|s| most(s).unwrap_or(0)).collect();
        thinned(&full, layers)
    }

    fn seeds_by_stage(&self, layers: u64) -> Vec<Vec<u64>> {
        // Each layer is added to the virtual stage whose stage is the least busy, and there to the one with
        // the fewest layers.
        let layer = self.layer;
        let mut busy = vec![0.0; self.plan.pipeline_parallel as usize];
        for (chunk, ends) in self.ends.iter().enumerate() {
            busy[self.stage[chunk]] += ends.0 + ends.1;
        }
        let mut division: Vec<u64> =
            (0..self.chunks).map(|c| u64::from(c > 0 && c + 1 < self.chunks)).collect();
        for (chunk, &n) in division.iter().enumerate() {
            busy[self.stage[chunk]] += layer * n as f64;
        }
        let given: u64 = division.iter().sum();
        for _ in given..layers {
            let next = (0..self.chunks).min_by(|&a, &b| {
                let key = |c: usize| (busy[self.stage[c]], division[c]);
                key(a).0.total_cmp(&key(b).0).then(key(a).1.cmp(&key(b).1)).then(a.cmp(&b))
            });
            if let Some(next) = next {
                division[next] += 1;
                busy[self.stage[next]] += layer;
            }
        }
        vec![division]
    }
}

/// Divisions with the right number of layers, from one with too many: removed from the front, the back, all
/// around, or the middle.
fn thinned(full: &[u64], layers: u64) -> Vec<Vec<u64>> {
    let chunks = full.len();
    let orders: [Vec<usize>; 4] = [
        (0..chunks).collect(),
        (0..chunks).rev().collect(),
        (0..chunks).flat_map(|i| [i, chunks - 1 - i]).take(chunks).collect(),
        (0..chunks)
            .map(|i| (chunks / 2 + if i % 2 == 0 { i / 2 } else { chunks - 1 - i / 2 }) % chunks)
            .collect(),
    ];
    orders
        .iter()
        .map(|order| {
            let mut division = full.to_vec();
            let mut over = division.iter().sum::<u64>().saturating_sub(layers);
            while over > 0 {
                let before = over;
                for &chunk in order {
                    if over > 0 && division[chunk] > 1 {
                        division[chunk] -= 1;
                        over -= 1;
                    }
                }
                if over == before {
                    break;
                }
            }
            division
        })
        .collect()
}

struct Tree<'a> {
    bounds: &'a Bounds,
    state: &'a mut State,
    nodes: u64,
    priced: u64,
    /// Lowest bound of the parts skipped for lack of trials.
    open: f64,
}

impl Tree<'_> {
    fn visit(&mut self, pricer: &mut Pricer<'_>, division: &mut Vec<u64>, left: u64) -> Result<(), Problem> {
        let bound = self.bounds.step(division, left);
        if self.state.best.as_ref().is_some_and(|(best, ..)| bound >= best.get() * (1.0 - 1e-12)) {
            return Ok(());
        }
        self.nodes += 1;
        if self.nodes > MOST_NODES || self.priced > MOST_PRICED {
            self.open = self.open.min(bound);
            return Ok(());
        }
        let chunk = division.len();
        if chunk + 1 == self.bounds.chunks {
            division.push(left);
            if self.bounds.step(division, 0) < self.state.best.as_ref().map_or(f64::INFINITY, |b| b.0.get()) {
                self.priced += 1;
                self.state.consider(pricer, division)?;
            }
            division.pop();
            return Ok(());
        }
        let least = u64::from(chunk > 0);
        // Virtual stages after this one need a layer each, except for the last.
        let kept = (self.bounds.chunks - chunk - 2) as u64;
        if left < kept {
            return Ok(());
        }
        // Near the mean first: good divisions found early prune the rest.
        let mean = left / (self.bounds.chunks - chunk) as u64;
        let mut numbers: Vec<u64> = (least..=left - kept).collect();
        numbers.sort_by_key(|&n| (n.abs_diff(mean), n));
        for n in numbers {
            division.push(n);
            self.visit(pricer, division, left - n)?;
            division.pop();
        }
        Ok(())
    }
}
