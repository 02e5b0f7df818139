//! The second round: simulated steps decide between networks.
//!
//! Responsible for: simulating the step of the cheapest networks under the routing that is bought, in the order of their cost in closed form, until no other network can be
//! cheaper; then the references, the neighbours of the best and the fronts; their cost per token with an interval; and a winner only where its interval lies below all others. The closed form sees no oversubscription of sends, no NICs that
//! dimensions share and no hashes, so its cost is taken for a lower bound. Refuses to search plans again: each network keeps the plan that the closed form found best on it.

use super::fabric::cluster_on;
use super::front::{Codesign, Found, Row};
use crate::simulate::step_time_watched;
use railwright_network::simulate::Wiring;
use railwright_network::topology::{Design, Kind, Routing};
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::quantity::{Dollars, Seconds};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// Minimum number of cheapest networks to simulate.
const FIRST: usize = 3;

/// Maximum number of simulated networks.
const MOST: usize = 48;

/// By how much flows miss packets, as a share of the time that the network takes: a fluid bound was 14% low against packets (`docs/concepts/flow-model.md`).
const MISSED: f64 = 0.14;

/// Hash seeds of networks whose routes are drawn by hashes: the interval covers all of them, and the step is their median.
const DRAWS: u32 = 3;

/// A simulated step on a network, and what a token costs there.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Simulated {
    /// How messages are routed.
    pub routing: &'static str,
    /// The step.
    pub step_time: Seconds,
    /// Bounds of the step: the network's part of it shorter or longer by what flows miss packets by, over all hash seeds.
    pub step_low: Seconds,
    /// The upper bound.
    pub step_high: Seconds,
    /// Dollars for a million tokens, devices and network.
    pub dollars: Dollars,
    /// Its bounds.
    pub dollars_low: Dollars,
    /// The upper bound.
    pub dollars_high: Dollars,
}

/// What is asked of the second round.
#[derive(Clone, Copy, Debug)]
pub struct Judging<'a> {
    /// The model.
    pub model: &'a Model,
    /// The machine whose devices are joined.
    pub machine: &'a Cluster,
    /// The best plan of every class.
    pub found: &'a [Result<Found, String>],
    /// The routing that is bought; what is usual for each kind where none is named.
    pub routing: Option<Routing>,
}

/// Independent pieces of work, on threads or in turn. The order of the results is that of the items.
pub trait Workers {
    /// Pieces that run at the same time.
    fn count(&self) -> usize;

    /// The result of every item.
    fn map<T: Sync, U: Send>(&self, items: &[T], make: impl Fn(&T) -> U + Sync + Send) -> Vec<U>;
}

/// One piece after the other.
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

/// Receives the number of simulated networks and an estimate of all, and may stop the work.
pub type Progress<'a> = &'a (dyn Fn(usize, usize) -> ControlFlow<()> + Sync);

/// A simulated network; none if it cannot be simulated, with the reason if there is one.
type Outcome = Result<Option<Simulated>, String>;

/// Simulates the networks that may be cheapest, and names the winner if there is one. `watch` may end it: then nothing is named.
///
/// Workers simulate networks ahead of their turn. Results that the order of turns does not need are dropped, so that their number has no effect.
pub fn judge(
    answer: &mut Codesign,
    asked: &Judging<'_>,
    workers: &impl Workers,
    watch: Progress<'_>,
) -> ControlFlow<()> {
    for row in &mut answer.rows {
        row.cheapest_token = false;
        row.is_reference = row.design.kind == Kind::RailOptimized
            && row.oversubscription == 1.0
            && row.domain == asked.machine.scale_up.domain_size;
    }
    let priced = |row: &Row| {
        row.domain <= asked.machine.scale_up.domain_size || answer.scale_up_prices.contains_key(&row.domain)
    };
    let mut order: Vec<(usize, f64)> = answer
        .rows
        .iter()
        .enumerate()
        .filter(|(_, row)| priced(row))
        .filter_map(|(index, row)| Some((index, closed_cost(row)?)))
        .collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    let references: Vec<usize> =
        (0..answer.rows.len()).filter(|&index| answer.rows[index].is_reference).collect();
    let mut lowest = f64::INFINITY;
    let mut left_out = 0;
    let all = order.len().min(MOST) + references.len();
    let mut done = 0;
    let mut ahead: BTreeMap<usize, Outcome> = BTreeMap::new();
    for (turn, &(index, cost)) in order.iter().enumerate() {
        // A closed-form cost above the upper bound of the cheapest is always higher.
        if done >= FIRST && cost > lowest {
            break;
        }
        if done >= MOST {
            left_out += 1;
            continue;
        }
        if !ahead.contains_key(&index) {
            let next: Vec<usize> = order
                .iter()
                .skip(turn)
                .enumerate()
                .take_while(|(n, (_, cost))| done + n < FIRST || *cost <= lowest)
                .map(|(_, (index, _))| *index)
                .take(workers.count().clamp(1, MOST - done))
                .collect();
            ahead.extend(together(answer, asked, &next, workers, &|| watch(done, all))?);
        }
        if let Some(outcome) = ahead.remove(&index)
            && let Some(simulated) = recorded(answer, index, outcome)
        {
            lowest = lowest.min(simulated.dollars_high.get());
        }
        done += 1;
    }
    // Also simulated: neighbours of the best, and the other members of the fronts.
    let best = cheapest(answer, &order);
    let beside = best.map_or_else(Vec::new, |best| neighbours(&answer.rows, best));
    let fronts = order.iter().map(|&(index, _)| index).filter(|&index| answer.rows[index].on_front);
    let mut seen = BTreeSet::new();
    let more: Vec<usize> = references
        .into_iter()
        .chain(beside)
        .chain(fronts.take(MOST))
        .filter(|&index| seen.insert(index))
        .filter(|&index| answer.rows[index].simulated.is_none() && closed_cost(&answer.rows[index]).is_some())
        .collect();
    for (index, outcome) in together(answer, asked, &more, workers, &|| watch(done, all))? {
        recorded(answer, index, outcome);
    }
    if left_out > 0 {
        let message =
            format!("{left_out} more networks may be as cheap, but were not simulated; pass fewer designs");
        answer.warnings.push(Warning::new("network-not-simulated", message));
    }
    contend(answer, &order);
    ControlFlow::Continue(())
}

/// Marks the networks with the lowest cost per token within intervals; a single one is the winner.
fn contend(answer: &mut Codesign, candidates: &[(usize, f64)]) {
    let of = |index: usize| {
        answer.rows[index].simulated.as_ref().map(|s| (index, s.dollars, s.dollars_low, s.dollars_high))
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
    let cost = |index: usize| answer.rows[index].simulated.as_ref().map(|simulated| simulated.dollars.get());
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

fn closed_cost(row: &Row) -> Option<f64> {
    Some(row.share.cluster?.dollars_per_million_tokens?.get())
}

/// Simulates networks at the same time.
fn together(
    answer: &Codesign,
    asked: &Judging<'_>,
    rows: &[usize],
    workers: &impl Workers,
    watch: &(dyn Fn() -> ControlFlow<()> + Sync),
) -> ControlFlow<(), Vec<(usize, Outcome)>> {
    let outcomes = workers.map(rows, |&index| one(&answer.rows[index], asked, watch));
    let mut found = Vec::with_capacity(rows.len());
    for (&index, outcome) in rows.iter().zip(outcomes) {
        found.push((index, outcome?));
    }
    ControlFlow::Continue(found)
}

/// Writes a simulated network into its row, or the reason why there is none among the warnings.
fn recorded(answer: &mut Codesign, index: usize, outcome: Outcome) -> Option<Simulated> {
    let row = &mut answer.rows[index];
    match outcome {
        Ok(simulated) => {
            row.simulated.clone_from(&simulated);
            simulated
        }
        Err(message) => {
            let message = format!("{} is not simulated and cannot win: {message}", row.design.name);
            answer.warnings.push(Warning::new("network-not-simulated", message));
            None
        }
    }
}

/// Simulates the plan of a row on its network.
fn one(
    row: &Row,
    asked: &Judging<'_>,
    watch: &(dyn Fn() -> ControlFlow<()> + Sync),
) -> ControlFlow<(), Outcome> {
    watch()?;
    let Some(Ok(found)) = asked.found.get(row.class) else { return ControlFlow::Continue(Ok(None)) };
    let Some(cost) = closed_cost(row) else { return ControlFlow::Continue(Ok(None)) };
    let mut design = row.design.clone();
    if let Some(routing) = asked.routing.or(design.kind.usual_routing()) {
        design.routing = routing;
    }
    let mut stopped = false;
    let step = step(&design, asked, found, &mut |_, _| {
        let goes = watch();
        stopped |= goes.is_break();
        goes
    });
    if stopped {
        return ControlFlow::Break(());
    }
    let step = match step {
        Ok(step) => step,
        Err(problem) => return ControlFlow::Continue(Err(problem.message)),
    };
    // What the network takes of the simulated step is uncertain by what flows miss packets by; the rest is the same on all networks.
    let fresh = found.fresh_step_time;
    let rest = fresh.get() * (1.0 - found.network_share).clamp(0.0, 1.0);
    let missed = |step: Seconds| MISSED * (step.get() - rest).max(0.0);
    let retries = found.step_time / found.fresh_step_time;
    let [low, step, high] = step;
    let times = [step.get(), low.get() - missed(low), high.get() + missed(high)];
    let [step_time, step_low, step_high] = times.map(|time| Seconds::new(time * retries));
    let [dollars, dollars_low, dollars_high] = times.map(|time| Dollars::new(cost * time / fresh.get()));
    let routing = design.routing.name();
    ControlFlow::Continue(Ok(Some(Simulated {
        routing,
        step_time,
        step_low,
        step_high,
        dollars,
        dollars_low,
        dollars_high,
    })))
}

/// The step: the shortest, the median and the longest over hash seeds.
fn step(
    design: &Design,
    asked: &Judging<'_>,
    found: &Found,
    watch: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<[Seconds; 3], Problem> {
    let cluster = cluster_on(design, asked.machine)?;
    let wiring = Wiring::new(design, &[])?;
    let run = (asked.model, &cluster, &found.plan);
    let mut times = vec![step_time_watched(run, &wiring, watch)?];
    let draws = if design.routing.is_hashed() { DRAWS } else { 1 };
    for draw in 1..draws {
        times.push(step_time_watched(run, &wiring.redrawn(draw)?, watch)?);
    }
    times.sort_by(|a, b| a.get().total_cmp(&b.get()));
    let at = |place: usize| times.get(place).copied().unwrap_or(Seconds::ZERO);
    Ok([at(0), at(times.len() / 2), at(times.len() - 1)])
}
