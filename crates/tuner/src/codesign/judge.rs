//! The second round: simulated steps decide between networks.
//!
//! Responsible for: simulating the step of the cheapest networks under the routing that is bought, in the order of their cost in closed form, until no other network can be
//! cheaper; then the references, the neighbours of the best and the fronts; their cost per token with an interval; and a winner only where its interval lies below all others. The closed form sees no oversubscription of sends, no NICs that
//! dimensions share and no hashes, so its cost is taken for a lower bound. Refuses to search plans again: each network keeps the plan that the closed form found best on it.

use super::fabric::cluster_on;
use super::front::{Codesign, Found, Row};
use crate::simulate::{Setting, simulate_watched};
use railwright_network::simulate::Wiring;
use railwright_network::topology::{Design, Kind, Routing};
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::quantity::{Dollars, Seconds};
use serde::Serialize;
use std::ops::ControlFlow;

/// So many of the cheapest networks are simulated in any case.
const FIRST: usize = 3;

/// So many are simulated at most.
const MOST: usize = 48;

/// By how much flows miss packets, as a share of the time that the network takes: a fluid bound was 14% low against packets (`docs/concepts/flow-model.md`).
const MISSED: f64 = 0.14;

/// A simulated step on a network, and what a token costs there.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Simulated {
    /// How messages are routed.
    pub routing: &'static str,
    /// The step.
    pub step_time: Seconds,
    /// Bounds of the step: the network's part of it shorter or longer by what flows miss packets by.
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

/// Simulates the networks that may be cheapest, and names the winner if there is one. `watch` may end it: then nothing is named.
pub fn judge(
    answer: &mut Codesign,
    asked: &Judging<'_>,
    watch: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
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
    for &(index, cost) in &order {
        // What costs more in closed form than the cheapest may cost at most is dearer in any case.
        if done >= FIRST && cost > lowest {
            break;
        }
        if done >= MOST {
            left_out += 1;
            continue;
        }
        watch(done, all)?;
        if let Some(simulated) = one(answer, asked, index, &mut || watch(done, all))? {
            lowest = lowest.min(simulated.dollars_high.get());
            answer.rows[index].simulated = Some(simulated);
        }
        done += 1;
    }
    // Whoever reads the answer asks next for one step to each side of the best, and for the other members of the fronts.
    let best = cheapest(answer, &order);
    let beside = best.map_or_else(Vec::new, |best| neighbours(&answer.rows, best));
    let fronts = order.iter().map(|&(index, _)| index).filter(|&index| answer.rows[index].on_front);
    let more: Vec<usize> = references.into_iter().chain(beside).chain(fronts.take(MOST)).collect();
    for index in more {
        if answer.rows[index].simulated.is_none() && closed_cost(&answer.rows[index]).is_some() {
            watch(done, all)?;
            answer.rows[index].simulated = one(answer, asked, index, &mut || watch(done, all))?;
        }
    }
    if left_out > 0 {
        let message =
            format!("{left_out} more networks may be as cheap and were not simulated; name fewer designs");
        answer.warnings.push(Warning::new("network-not-simulated", message));
    }
    contend(answer, &order);
    ControlFlow::Continue(())
}

/// Marks the networks whose cost per token cannot be told from the lowest; the winner where there is one of them.
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

/// Simulates the plan of a row on its network. None where that cannot be simulated, with a warning.
fn one(
    answer: &mut Codesign,
    asked: &Judging<'_>,
    index: usize,
    watch: &mut dyn FnMut() -> ControlFlow<()>,
) -> ControlFlow<(), Option<Simulated>> {
    let row = &answer.rows[index];
    let Some(Ok(found)) = asked.found.get(row.class) else { return ControlFlow::Continue(None) };
    let Some(cost) = closed_cost(row) else { return ControlFlow::Continue(None) };
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
        Err(problem) => {
            let message = format!("{} is not simulated and cannot win: {}", design.name, problem.message);
            answer.warnings.push(Warning::new("network-not-simulated", message));
            return ControlFlow::Continue(None);
        }
    };
    // What the network takes of the simulated step is uncertain by what flows miss packets by; the rest is the same on all networks.
    let fresh = found.fresh_step_time;
    let rest = fresh.get() * (1.0 - found.network_share).clamp(0.0, 1.0);
    let network = (step.get() - rest).max(0.0);
    let retries = found.step_time / found.fresh_step_time;
    let times = [step.get(), step.get() - MISSED * network, step.get() + MISSED * network];
    let [step_time, step_low, step_high] = times.map(|time| Seconds::new(time * retries));
    let [dollars, dollars_low, dollars_high] = times.map(|time| Dollars::new(cost * time / fresh.get()));
    let routing = design.routing.name();
    ControlFlow::Continue(Some(Simulated {
        routing,
        step_time,
        step_low,
        step_high,
        dollars,
        dollars_low,
        dollars_high,
    }))
}

fn step(
    design: &Design,
    asked: &Judging<'_>,
    found: &Found,
    watch: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Seconds, Problem> {
    let cluster = cluster_on(design, asked.machine)?;
    let wiring = Wiring::new(design, &[])?;
    let setting = Setting { wiring: &wiring, background: None };
    Ok(simulate_watched(asked.model, &cluster, &found.plan, &setting, watch)?.step_time)
}
