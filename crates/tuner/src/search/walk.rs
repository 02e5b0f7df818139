//! Walking one piece: every strategy of its degrees, what cannot be better left out.
//!
//! Responsible for: the nesting of choices, the bounds at each level, and counting what becomes of every strategy. Refuses to price: times
//! and bytes are the calculator's.
//!
//! A bound may only leave out what is strictly worse than what is wanted. The rules, each proven where it stands: the time of a step is
//! at least the compute of the busiest stage; hiding communication is never slower; more layers recomputed are never faster.

use super::candidate::memory_of;
use super::counts::divisors;
use super::engine::{Objective, Search, Worker};
use super::incumbent::Incumbent;
use super::pieces::Degrees;
use super::results::{Entry, Results};
use super::shapes::{self, Shape};
use super::space::{Shardings, Space, overlap};
use super::strategy::{Split, Strategy};
use railwright_calculator::costing::Costing;
use railwright_calculator::evaluate::evaluate_with;
use railwright_calculator::memory::{Peak, retry_slowdown};
use railwright_calculator::stage;
use railwright_spec::plan::{ContextKind, Overlap, Sharding, validate};

/// Sorts the pieces, the most promising first.
pub(super) fn sort(search: &mut Search<'_>) {
    let mut pieces = search.pieces().to_vec();
    // Little model parallelism is usually fast, and memory says no to too little quickly.
    pieces.sort_by_key(|d| (d.tensor * d.pipeline * d.context, *d));
    search.set_pieces(pieces);
}

/// The strategies of one piece.
pub(super) fn piece(
    search: &Search<'_>,
    degrees: Degrees,
    worker: &mut Worker,
    incumbent: &Incumbent,
    found: &mut Results,
) {
    let space = &search.space;
    let per_replica = space.base.global_batch / degrees.data;
    if !space.base.global_batch.is_multiple_of(degrees.data) {
        found.counters.invalid += 1;
        return;
    }
    let shardings = shardings(space, &degrees);
    for micro_batch in space.micro_batch.of(divisors(per_replica)) {
        if micro_batch == 0 || !per_replica.is_multiple_of(micro_batch) {
            found.counters.invalid += 1;
            continue;
        }
        let (shapes, refused) = shapes::all(space, search.model, &degrees, per_replica / micro_batch);
        found.counters.invalid += refused;
        if shapes.is_empty() {
            continue;
        }
        let rungs: u64 = shapes.iter().map(|shape| rungs(space, shape)).sum();
        for sequence_parallel in sequence_parallel(space, &degrees) {
            for context_kind in context_kinds(space, &degrees) {
                let mut strategy = Strategy {
                    tensor: degrees.tensor,
                    pipeline: degrees.pipeline,
                    context: degrees.context,
                    expert: degrees.expert,
                    expert_tensor: degrees.expert_tensor,
                    data: degrees.data,
                    micro_batch,
                    sequence_parallel,
                    context_kind,
                    rank_order: space.rank_orders[0],
                    sharding: Sharding { zero_stage: 0, group: None, reshard_after_forward: false },
                    overlap: space.base.overlap,
                    schedule: shapes[0].schedule,
                    virtual_stages: shapes[0].virtual_stages,
                    split: shapes[0].split,
                    policy: 0,
                    layers: None,
                };
                if !possible(search, worker, &strategy, &shapes[0]) {
                    found.counters.invalid += 1;
                    continue;
                }
                let (best, switches) = switches(space, &strategy);
                strategy.overlap = best;
                let all = rungs * switches * shardings.len() as u64 * space.rank_orders.len() as u64;
                found.counters.enumerated += all;
                let bound = compute_bound(search, worker, &strategy);
                if search.options.objective != Objective::Headroom
                    && !search.options.front
                    && bound > incumbent.get()
                {
                    found.counters.bounded_away += all;
                    continue;
                }
                for &rank_order in &space.rank_orders {
                    strategy.rank_order = rank_order;
                    for &sharding in &shardings {
                        strategy.sharding = sharding;
                        for shape in &shapes {
                            strategy.schedule = shape.schedule;
                            strategy.virtual_stages = shape.virtual_stages;
                            strategy.split = shape.split;
                            let counted = rungs_of(space, shape) * (switches - 1);
                            found.counters.dominated += counted;
                            for policy in 0..space.policies.len() {
                                strategy.policy = policy as u16;
                                ladder(search, worker, strategy, shape, incumbent, found);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Strategies that differ in recompute alone.
fn rungs_of(space: &Space, shape: &Shape) -> u64 {
    space.policies.iter().map(|policy| space.ladder(policy, shape.most).len() as u64).sum()
}

fn rungs(space: &Space, shape: &Shape) -> u64 {
    rungs_of(space, shape)
}

/// One policy on ever more layers, until it fits with room to spare: from there on more is slower.
fn ladder(
    search: &Search<'_>,
    worker: &mut Worker,
    mut strategy: Strategy,
    shape: &Shape,
    incumbent: &Incumbent,
    found: &mut Results,
) {
    let space = &search.space;
    let policy = &space.policies[usize::from(strategy.policy)];
    let ladder = space.ladder(policy, shape.most);
    let every_rung = search.options.front || search.options.objective == Objective::Headroom;
    for (done, &layers) in ladder.iter().enumerate() {
        strategy.layers = layers;
        strategy.write(space, search.model, &mut worker.plan);
        let memory = memory_of(search, &worker.plan);
        if !search.fits(memory.least()) {
            found.counters.did_not_fit += 1;
            found.misses.offer(&Entry { strategy, time: f64::INFINITY, memory: memory.device.get() });
            continue;
        }
        time(search, worker, strategy, &memory, incumbent, found);
        let share = memory.device / search.cluster.accelerator.memory;
        if !every_rung && retry_slowdown(share) <= 1.0 {
            found.counters.dominated += (ladder.len() - done - 1) as u64;
            return;
        }
    }
}

fn time(
    search: &Search<'_>,
    worker: &mut Worker,
    strategy: Strategy,
    memory: &Peak,
    incumbent: &Incumbent,
    found: &mut Results,
) {
    found.counters.timed += 1;
    let costing =
        Costing::with_software(search.model, search.cluster, &worker.plan, &search.machine, search.software);
    let Ok(evaluation) = evaluate_with(&costing, &mut worker.workspace) else { return };
    let total = evaluation.time.total.get();
    if !total.is_finite() || total <= 0.0 {
        return;
    }
    let share = memory.device / search.cluster.accelerator.memory;
    let entry = Entry { strategy, time: total * retry_slowdown(share), memory: memory.device.get() };
    if found.best.offer(&entry) {
        incumbent.lower(found.best.threshold());
    }
    if search.options.front {
        found.front.offer(&entry);
    }
}

/// A step takes at least the compute of the busiest stage, which is at least the mean over stages: `m x sum of chunks / stages`. Neither
/// recompute, nor communication, nor bubbles, nor the host make it less.
fn compute_bound(search: &Search<'_>, worker: &mut Worker, strategy: &Strategy) -> f64 {
    let plan = &mut worker.plan;
    let costing =
        Costing::with_software(search.model, search.cluster, plan, &search.machine, search.software);
    let chunks = stage::chunks(&costing);
    let sum: f64 = chunks
        .iter()
        .map(|c| {
            (c.cost.forward.compute_time()
                + c.cost.backward_input.compute_time()
                + c.cost.backward_weight.compute_time())
            .get()
        })
        .sum();
    let micro_batches = strategy.micro_batches(search.space.base.global_batch) as f64;
    // A little less, so that rounding never makes a bound of its own.
    sum * micro_batches / strategy.pipeline as f64 * (1.0 - 1e-9)
}

/// Whether degrees, batch and sequence are possible, leaving the strategy in the worker's plan with nothing sharded or recomputed.
fn possible(search: &Search<'_>, worker: &mut Worker, strategy: &Strategy, shape: &Shape) -> bool {
    let plan = &mut worker.plan;
    Strategy { policy: 0, ..*strategy }.write(&search.space, search.model, plan);
    plan.recompute = railwright_spec::plan::Recompute::None;
    if shape.split != Split::Even {
        plan.layers_per_stage = Some(shape.layers.clone());
    }
    validate(search.model, search.cluster, plan).is_empty()
}

fn sequence_parallel(space: &Space, degrees: &Degrees) -> Vec<bool> {
    if degrees.tensor > 1 {
        space.sequence_parallel.clone()
    } else {
        vec![space.said.sequence_parallel.unwrap_or(false)]
    }
}

fn context_kinds(space: &Space, degrees: &Degrees) -> Vec<ContextKind> {
    if degrees.context > 1 { space.context_kinds.clone() } else { vec![space.base.context_kind] }
}

/// What can be sharded among the ranks of a piece.
fn shardings(space: &Space, degrees: &Degrees) -> Vec<Sharding> {
    let ranks = degrees.data * degrees.context;
    match &space.sharding {
        Shardings::Listed(list) => list
            .iter()
            .copied()
            .filter(|s| {
                s.zero_stage == 0 || s.group.is_none_or(|group| group > 0 && ranks.is_multiple_of(group))
            })
            .collect(),
        Shardings::Open { stages, groups, reshard } => {
            let limits = space.offers.as_ref();
            let mut found = Vec::new();
            for &zero_stage in stages {
                let works = limits.is_none_or(|o| {
                    (degrees.pipeline == 1 || o.zero_stages_with_pipeline.contains(&zero_stage))
                        && (degrees.tensor == 1 || o.zero_stages_with_tensor.contains(&zero_stage))
                });
                // Nobody to share with: nothing is sharded.
                if !works || zero_stage > 0 && ranks == 1 {
                    continue;
                }
                let suggested = divisors(ranks).into_iter().filter(|&g| g > 1 && g < ranks);
                let groups: Vec<Option<u64>> = if zero_stage == 0 {
                    vec![None]
                } else {
                    let some = groups.of(suggested).into_iter();
                    [None]
                        .into_iter()
                        .chain(some.filter(|g| *g > 0 && ranks.is_multiple_of(*g)).map(Some))
                        .collect()
                };
                for group in groups {
                    let again: &[bool] = if zero_stage == 3 { reshard } else { &[false] };
                    found.extend(again.iter().map(|&reshard_after_forward| Sharding {
                        zero_stage,
                        group,
                        reshard_after_forward,
                    }));
                }
            }
            // One replica cannot shard, whatever the list says.
            if found.is_empty() && ranks == 1 {
                found.push(Sharding { zero_stage: 0, group: None, reshard_after_forward: false });
            }
            found
        }
    }
}

/// The switches at their best, and in how many ways they could be set.
///
/// Hiding is never slower: what is hidden costs at most its slowdown share of what it cost exposed (a share below 1 in every
/// generation), and a pipeline's recurrence only has sums and maxima, so shorter passes and transfers never make it longer.
fn switches(space: &Space, strategy: &Strategy) -> (Overlap, u64) {
    let best = overlap(space);
    let base = space.base.overlap;
    let peers = strategy.data * strategy.context > 1;
    let mut ways = 1;
    let mut set = |matters: bool, list: &[bool], best: bool, base: bool| {
        if !matters {
            return if list.len() == 1 { list[0] } else { base };
        }
        ways *= list.len() as u64;
        best
    };
    // Kernels that overlap need the sequence-parallel form of the collectives.
    let tensor = strategy.tensor > 1
        && (space.offers.is_none() || strategy.sequence_parallel || space.said.overlap_tensor.is_some());
    let overlap = Overlap {
        gradient_reduce: set(
            peers,
            &space.overlap_gradient_reduce,
            best.gradient_reduce,
            base.gradient_reduce,
        ),
        parameter_gather: set(
            peers,
            &space.overlap_parameter_gather,
            best.parameter_gather,
            base.parameter_gather,
        ),
        tensor: set(tensor, &space.overlap_tensor, best.tensor, false),
        pipeline: set(strategy.pipeline > 1, &space.overlap_pipeline, best.pipeline, base.pipeline),
        expert: set(strategy.expert > 1, &space.overlap_expert, best.expert, base.expert),
    };
    (overlap, ways)
}
