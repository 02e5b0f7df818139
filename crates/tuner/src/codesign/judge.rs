//! Second round: simulated steps decide between networks.
//!
//! Responsible for: simulating the step of the cheapest networks under the purchased routing, in the order of
//! their cost in closed form. This ends when no other network can be cheaper; the references, the neighbours
//! of the best network and the fronts follow. It also gives their cost per token with an interval, and a
//! winner only if its interval is below all others. The closed form excludes oversubscription of sends, NICs
//! shared by dimensions and hashes; without oversubscription and forwarding between rails, its cost is a
//! lower bound. Does not repeat the search: each network keeps its best plan in closed form.

use super::fabric::{share_of, step_time, unblocked_on};
use super::front::{Codesign, Found, NoPlan, Row, mark_simulated};
use super::simulated::{Simulated, TokenCost, Unsimulated};
use crate::simulate::{Extent, Setting, Timed, Unrouted};
use railwright_network::simulate::Wiring;
use railwright_network::topology::{Design, Kind, Routing};
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::Plan;
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::quantity::{Dollars, Seconds};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// Minimum number of cheapest networks to simulate.
const FIRST: usize = 3;

/// Maximum number of simulated networks.
const MOST: usize = 48;

/// Maximum number of simulated networks of the fronts without a price of the devices: no cost bounds their
/// simulation.
const MOST_UNPRICED: usize = 12;

/// Error of flows relative to packets, as a share of the network's time: a fluid bound was 14% low against
/// packets (`docs/concepts/flow-model.md`).
pub const MISSED: f64 = 0.14;

/// Minimum number of flows of a simulated step for merging all groups of a kind into one flow, at the rate of
/// the slowest: a second of simulation.
pub const MOST_FLOWS: usize = 400_000;

/// Additional error of a step with merged groups, as a share of the same time. The largest difference in the
/// tests is below this.
pub const MISSED_BY_MERGING: f64 = 0.06;

/// A simulated step is computed exactly up to this multiple of the step in closed form, even if its network
/// cannot be cheapest.
const SLOW: f64 = 1.1;

/// Number of hash seeds for networks with hashed routes: the interval covers all of them, and the step is
/// their median.
const DRAWS: u32 = 3;

/// Inputs of the second round.
#[derive(Clone, Copy, Debug)]
pub struct SecondRound<'a> {
    /// The model.
    pub model: &'a Model,
    /// The machine whose devices are connected.
    pub machine: &'a Cluster,
    /// The best plan of every class.
    pub found: &'a [Result<Found, NoPlan>],
    /// The purchased routing. `None` selects the usual one for each kind.
    pub routing: Option<Routing>,
    /// True to simulate networks that cannot be cheapest by their cost in closed form as well, to check that
    /// this cost is a lower bound. Each simulation still ends once a token costs more.
    pub every_network: bool,
}

/// Executor of independent work, on threads or in sequence. Results have the order of the items.
pub trait Workers {
    /// Number of concurrent items.
    fn count(&self) -> usize;

    /// Returns the result of every item.
    fn map<T: Sync, U: Send>(&self, items: &[T], make: impl Fn(&T) -> U + Sync + Send) -> Vec<U>;
}

/// Executor in sequence.
#[derive(Clone, Copy, Debug, Default)]
pub struct InTurn;

impl Workers for InTurn {
    fn count(&self) -> usize {
        1
    }

    fn map<T: Sync, U: Send>(&self, items: &[T], make: impl Fn(&T) -> U + Sync + Send) -> Vec<U> {
        items.iter().map(make).collect()
    }
}

/// Receives the number of simulated networks and an estimate of their total, and may stop the work.
pub type Progress<'a> = &'a (dyn Fn(usize, usize) -> ControlFlow<()> + Sync);

/// A simulated network. `None` above a limit; the error is the reason why it cannot be simulated.
type Outcome = Result<Option<Simulated>, String>;

/// Simulates the networks that may be cheapest, and marks the winner if there is one. `watch` may stop the
/// work: then there is no winner.
///
/// Workers simulate networks ahead of the sequence. Results that the sequence does not need are dropped, so
/// the number of workers has no effect.
pub fn judge(
    answer: &mut Codesign,
    asked: &SecondRound<'_>,
    workers: &impl Workers,
    watch: Progress<'_>,
) -> ControlFlow<()> {
    let judged = simulate_candidates(answer, asked, workers, watch);
    mark_simulated(answer);
    judged
}

fn simulate_candidates(
    answer: &mut Codesign,
    asked: &SecondRound<'_>,
    workers: &impl Workers,
    watch: Progress<'_>,
) -> ControlFlow<()> {
    for row in &mut answer.rows {
        row.cheapest_token = false;
        row.unsimulated = row.step_time.map(|_| Unsimulated::Stopped);
        row.is_reference = row.design.kind == Kind::RailOptimized
            && row.oversubscription == 1.0
            && row.domain == asked.machine.scale_up.domain_size;
    }
    let mut order: Vec<(usize, f64)> = answer
        .rows
        .iter()
        .enumerate()
        .filter(|(_, row)| !answer.unpriced_domains.contains(&row.domain))
        .filter_map(|(index, row)| Some((index, least_cost(row, asked)?)))
        .collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    let references: Vec<usize> =
        (0..answer.rows.len()).filter(|&index| answer.rows[index].is_reference).collect();
    let mut lowest = f64::INFINITY;
    let mut left_out: Vec<usize> = Vec::new();
    let all = order.len().min(MOST) + references.len();
    let mut done = 0;
    // The closed form of networks without oversubscription is close to their simulation: the cheapest of them
    // bounds all others from the start.
    let open =
        order.iter().map(|(index, _)| *index).find(|index| answer.rows[*index].oversubscription <= 1.0);
    for (index, outcome) in together(answer, asked, (open.as_slice(), lowest), workers, &|| watch(done, all))?
    {
        let cost = recorded(answer, index, outcome).and_then(|simulated| simulated.cost);
        lowest = cost.map_or(f64::INFINITY, |cost| cost.dollars_high.get());
    }
    let mut ahead: BTreeMap<usize, Outcome> = BTreeMap::new();
    for (turn, &(index, cost)) in order.iter().enumerate() {
        // A lower bound on the cost above the upper bound on the cheapest is always higher.
        if done >= FIRST && cost > lowest && !asked.every_network {
            break;
        }
        if done >= MOST && !asked.every_network {
            left_out.push(index);
            continue;
        }
        if open == Some(index) {
            done += 1;
            continue;
        }
        if !ahead.contains_key(&index) {
            let next: Vec<usize> = order
                .iter()
                .skip(turn)
                .enumerate()
                .take_while(|(n, (_, cost))| done + n < FIRST || *cost <= lowest || asked.every_network)
                .map(|(_, (index, _))| *index)
                .filter(|index| open != Some(*index))
                .take(workers.count().clamp(1, MOST.saturating_sub(done).max(1)))
                .collect();
            ahead.extend(together(answer, asked, (&next, lowest), workers, &|| watch(done, all))?);
        }
        if let Some(outcome) = ahead.remove(&index)
            && let Some(simulated) =
                recorded(answer, index, within(outcome, &answer.rows[index], asked, lowest))
        {
            lowest = lowest.min(simulated.cost.map_or(f64::INFINITY, |cost| cost.dollars_high.get()));
        }
        done += 1;
    }
    // Also simulated: neighbours of the best, and the other members of the fronts.
    let best = cheapest(answer, &order);
    let beside = best.map_or_else(Vec::new, |best| neighbours(&answer.rows, best));
    let has_price = answer.rows.iter().any(|row| closed_cost(row).is_some());
    let mut fronts: Vec<usize> = if has_price {
        order.iter().map(|&(index, _)| index).collect()
    } else {
        (0..answer.rows.len()).collect()
    };
    fronts.retain(|&index| answer.rows[index].on_front);
    fronts.truncate(if has_price { MOST } else { MOST_UNPRICED });
    let mut seen = BTreeSet::new();
    let more: Vec<usize> = references
        .into_iter()
        .chain(beside)
        .chain(fronts)
        .filter(|&index| seen.insert(index))
        .filter(|&index| answer.rows[index].simulated.is_none() && answer.rows[index].step_time.is_some())
        .collect();
    for (index, outcome) in together(answer, asked, (&more, f64::INFINITY), workers, &|| watch(done, all))? {
        recorded(answer, index, outcome);
    }
    left_out.retain(|&index| answer.rows[index].simulated.is_none());
    explain(answer, &left_out);
    if !left_out.is_empty() {
        let more = left_out.len();
        let message = format!(
            "{more} more networks may be equally cheap, but were not simulated; restrict the designs"
        );
        answer.warnings.push(Warning::new("network-not-simulated", message));
    }
    contend(answer, &order);
    ControlFlow::Continue(())
}

/// Writes why a network has no simulated step.
fn explain(answer: &mut Codesign, left_out: &[usize]) {
    for (index, row) in answer.rows.iter_mut().enumerate() {
        if row.unsimulated != Some(Unsimulated::Stopped) {
            continue;
        }
        row.unsimulated = Some(if closed_cost(row).is_none() {
            Unsimulated::NoDevicePrice
        } else if answer.unpriced_domains.contains(&row.domain) {
            Unsimulated::NoDomainPrice
        } else if left_out.contains(&index) {
            Unsimulated::TooMany
        } else {
            Unsimulated::CostsMore
        });
    }
}

/// Marks the networks with the lowest cost per token within intervals; a single one is the winner.
fn contend(answer: &mut Codesign, candidates: &[(usize, f64)]) {
    let of = |index: usize| {
        let simulated = answer.rows[index].simulated.as_ref()?;
        let cost = simulated.cost?;
        Some((index, cost.dollars, cost.dollars_low, cost.dollars_high))
    };
    let mut known: Vec<(usize, Dollars, Dollars, Dollars)> =
        candidates.iter().filter_map(|&(index, _)| of(index)).collect();
    known.sort_by(|a, b| a.1.get().total_cmp(&b.1.get()).then(a.0.cmp(&b.0)));
    let Some(best) = known.first().copied() else { return };
    answer.contenders = known.iter().filter(|one| one.2.get() <= best.3.get()).map(|one| one.0).collect();
    if let [winner] = *answer.contenders.as_slice() {
        answer.rows[winner].cheapest_token = true;
    }
}

/// The network with the lowest simulated cost.
fn cheapest(answer: &Codesign, candidates: &[(usize, f64)]) -> Option<usize> {
    let cost = |index: usize| Some(answer.rows[index].simulated.as_ref()?.cost?.dollars.get());
    let known = candidates.iter().filter_map(|&(index, _)| cost(index).map(|cost| (index, cost)));
    known.min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0))).map(|(index, _)| index)
}

/// Networks of the same kind and domain with the next oversubscription or the next speed, on either side.
fn neighbours(rows: &[Row], best: usize) -> Vec<usize> {
    let own = &rows[best];
    let alike = |row: &&(usize, &Row)| row.1.topology == own.topology && row.1.domain == own.domain;
    let all: Vec<(usize, &Row)> = rows.iter().enumerate().collect();
    let mut found = Vec::new();
    let next = |of: &dyn Fn(&Row) -> f64, rest: &dyn Fn(&Row) -> bool| {
        let near: Vec<(usize, f64)> =
            all.iter().filter(alike).filter(|row| rest(row.1)).map(|row| (row.0, of(row.1))).collect();
        let here = of(own);
        let below = near.iter().filter(|row| row.1 < here).max_by(|a, b| a.1.total_cmp(&b.1));
        let above = near.iter().filter(|row| row.1 > here).min_by(|a, b| a.1.total_cmp(&b.1));
        [below, above].map(|row| row.map(|row| row.0))
    };
    let same_speed = |row: &Row| row.speed == own.speed;
    let same_ratio = |row: &Row| row.oversubscription == own.oversubscription;
    found.extend(next(&|row| row.oversubscription, &same_speed));
    found.extend(next(&|row| row.speed.get(), &same_ratio));
    found.into_iter().flatten().collect()
}

/// Lower bound on the cost per token on a network, independent of its simulation: the cost in closed form
/// without oversubscription and forwarding between rails. The closed form has both in sequence with
/// everything else, and flows may hide them. The error of flows is subtracted, because networks with
/// overlapping intervals are equal.
fn least_cost(row: &Row, asked: &SecondRound<'_>) -> Option<f64> {
    let cost = closed_cost(row)?;
    let Some(Ok(found)) = asked.found.get(row.class) else { return Some(cost) };
    let unblocked = unblocked_on(&row.design, asked.machine)
        .and_then(|cluster| step_time(asked.model, &cluster, &found.plan));
    Some(unblocked.map_or(cost, |least| {
        let least = least.get().min(found.fresh_step_time.get());
        let low = least - (MISSED + MISSED_BY_MERGING) * (least - rest(found)).max(0.0);
        cost * low / found.fresh_step_time.get()
    }))
}

fn closed_cost(row: &Row) -> Option<f64> {
    Some(row.share.cluster?.dollars_per_million_tokens?.get())
}

/// Maximum useful simulated step, in the time of the closed form without memory retries, if a token costs at
/// most `lowest` on another network. At longer ones the lower bound on its cost is above that. It solves `c
/// (t - m (t - r)) / f = lowest` for `t`. `c` is the cost of the step time `f` in closed form, of which `r`
/// is not the network's; `m` is the missed share. With hashed routes, it applies to the fastest of the seeds.
fn limit(row: &Row, asked: &SecondRound<'_>, lowest: f64) -> Seconds {
    let (Some(Ok(found)), Some(cost)) = (asked.found.get(row.class), closed_cost(row)) else {
        return Seconds::new(f64::INFINITY);
    };
    let fresh = found.fresh_step_time.get();
    let share = MISSED + MISSED_BY_MERGING;
    let beaten = (lowest * fresh / cost - share * rest(found)) / (1.0 - share);
    Seconds::new(beaten.max(SLOW * fresh))
}

/// Part of a step outside the network, in seconds.
fn rest(found: &Found) -> f64 {
    found.fresh_step_time.get() * (1.0 - found.network_share).clamp(0.0, 1.0)
}

/// Removes the step of an outcome above the limit, as in a simulation in sequence.
fn within(outcome: Outcome, row: &Row, asked: &SecondRound<'_>, lowest: f64) -> Outcome {
    let retries = match asked.found.get(row.class) {
        Some(Ok(found)) => found.step_time / found.fresh_step_time,
        _ => 1.0,
    };
    let limit = limit(row, asked, lowest) * retries;
    outcome.map(|simulated| simulated.filter(|one| one.fastest <= limit))
}

/// Simulates networks concurrently.
fn together(
    answer: &Codesign,
    asked: &SecondRound<'_>,
    (rows, lowest): (&[usize], f64),
    workers: &impl Workers,
    watch: &(dyn Fn() -> ControlFlow<()> + Sync),
) -> ControlFlow<(), Vec<(usize, Outcome)>> {
    let outcomes = workers.map(rows, |&index| one(&answer.rows[index], asked, lowest, watch));
    let mut found = Vec::with_capacity(rows.len());
    for (&index, outcome) in rows.iter().zip(outcomes) {
        found.push((index, outcome?));
    }
    ControlFlow::Continue(found)
}

/// Writes a simulated network into its row, or the reason for having none into the warnings.
fn recorded(answer: &mut Codesign, index: usize, outcome: Outcome) -> Option<Simulated> {
    let row = &mut answer.rows[index];
    match outcome {
        Ok(simulated) => {
            row.simulated.clone_from(&simulated);
            if simulated.is_some() {
                row.unsimulated = None;
            }
            simulated
        }
        Err(message) => {
            row.unsimulated = Some(Unsimulated::Failed);
            let message = format!("{} is not simulated and not ranked: {message}", row.design.name);
            answer.warnings.push(Warning::new("network-not-simulated", message));
            None
        }
    }
}

/// Simulates the plan of a row on its network.
fn one(
    row: &Row,
    asked: &SecondRound<'_>,
    lowest: f64,
    watch: &(dyn Fn() -> ControlFlow<()> + Sync),
) -> ControlFlow<(), Outcome> {
    watch()?;
    let Some(Ok(found)) = asked.found.get(row.class) else { return ControlFlow::Continue(Ok(None)) };
    let cost = closed_cost(row);
    let mut design = row.design.clone();
    if let Some(routing) = asked.routing.or(design.kind.usual_routing()) {
        design.routing = routing;
    }
    let mut stopped = false;
    let extent = Extent { most_flows: MOST_FLOWS, limit: limit(row, asked, lowest) };
    let step = step(&design, asked, (found, extent), &mut |_, _| {
        let goes = watch();
        stopped |= goes.is_break();
        goes
    });
    if stopped {
        return ControlFlow::Break(());
    }
    let (step, is_merged) = match step {
        Ok(Some(step)) => step,
        Ok(None) => return ControlFlow::Continue(Ok(None)),
        Err(problem) => return ControlFlow::Continue(Err(problem.message)),
    };
    // The error of flows applies to the network's part of the simulated step; the rest is the same on all
    // networks.
    let fresh = found.fresh_step_time;
    let rest = rest(found);
    let share = if is_merged { MISSED + MISSED_BY_MERGING } else { MISSED };
    let missed = |step: Seconds| share * (step.get() - rest).max(0.0);
    let retries = found.step_time / found.fresh_step_time;
    let [low, step, high] = step;
    let fastest = low * retries;
    let times = [step.get(), low.get() - missed(low), high.get() + missed(high)];
    let [step_time, step_low, step_high] = times.map(|time| Seconds::new(time * retries));
    let cost = cost.map(|cost| {
        let [dollars, dollars_low, dollars_high] = times.map(|time| Dollars::new(cost * time / fresh.get()));
        TokenCost { dollars, dollars_low, dollars_high }
    });
    let routing = design.routing.name();
    let network_share = share_of(step, Seconds::new(rest));
    let simulated =
        Simulated { routing, step_time, is_merged, step_low, step_high, fastest, network_share, cost };
    ControlFlow::Continue(Ok(Some(simulated)))
}

/// The step: the shortest, the median and the longest over hash seeds; and true if groups were merged. `None`
/// above the limit.
fn step(
    design: &Design,
    asked: &SecondRound<'_>,
    (found, extent): (&Found, Extent),
    watch: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Option<Steps>, Problem> {
    simulated_step((asked.model, asked.machine, &found.plan), design, extent, watch)
}

/// Step times of a simulation: the shortest, the median and the longest over hash seeds; and true if groups
/// of one kind with different routes were simulated at the rate of the slowest.
pub type Steps = ([Seconds; 3], bool);

/// Simulates a plan on a design with the devices of a machine. `None` above the limit: with hashed routes, if
/// the steps of all hash seeds are.
pub fn simulated_step(
    (model, machine, plan): (&Model, &Cluster, &Plan),
    design: &Design,
    extent: Extent,
    watch: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Option<Steps>, Problem> {
    let whole = Wiring::new(&design.clone().fed(machine.device_limit()), &[])?;
    over_draws(&unrouted((model, machine, plan), (design, &whole))?, &whole, extent, watch)
}

/// A plan on a design with the devices of a machine, before its routes: failed parts do not change it.
pub(super) fn unrouted(
    (model, machine, plan): (&Model, &Cluster, &Plan),
    (design, whole): (&Design, &Wiring),
) -> Result<Unrouted, Problem> {
    let cluster = unblocked_on(design, machine)?;
    Unrouted::new((model, &cluster, plan), &Setting::on(whole))
}

/// Its step on the design's wiring, which may lack failed parts.
pub(super) fn over_draws(
    step: &Unrouted,
    first: &Wiring,
    extent: Extent,
    watch: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Option<Steps>, Problem> {
    let draws = if first.topology.design.routing.is_hashed() { DRAWS } else { 1 };
    let mut timed = |draw: u32, limit: Seconds| -> Result<Option<Timed>, Problem> {
        let extent = Extent { limit, ..extent };
        if draw == 0 {
            return step.time_within(first, extent, watch);
        }
        step.time_within(&first.redrawn(draw), extent, watch)
    };
    // The interval covers the slower seeds as well, so one seed within the limit requires all of them.
    let mut within = None;
    for draw in 0..draws {
        within = timed(draw, extent.limit)?.map(|one| (draw, one));
        if within.is_some() {
            break;
        }
    }
    let Some((known, one)) = within else { return Ok(None) };
    let mut times = vec![one.step_time];
    let mut is_merged = one.is_merged;
    for draw in (0..draws).filter(|draw| *draw != known) {
        let Some(one) = timed(draw, Seconds::new(f64::INFINITY))? else { return Ok(None) };
        times.push(one.step_time);
        is_merged |= one.is_merged;
    }
    times.sort_by(|a, b| a.get().total_cmp(&b.get()));
    let at = |place: usize| times.get(place).copied().unwrap_or(Seconds::ZERO);
    Ok(Some(([at(0), at(times.len() / 2), at(times.len() - 1)], is_merged)))
}
