//! Flows that a lossless network may delay: an upper bound on their end with congested receivers.
//!
//! Responsible for: links at which senders converge with more than twice the capacity; the links that pauses
//! spread to; the latest end of the flows on them. Does not estimate when such a flow ends within the bounds:
//! that depends on buffers, thresholds and congestion control.
//!
//! **Method.** At the time when most flows cross a link, each offers its share of the fullest link before it.
//! If the sum exceeds twice the capacity, buffers fill and the links before it are paused (priority flow
//! control, or credits of InfiniBand). A paused link holds every flow on it, and so the links before that one
//! (head-of-line blocking), until the last of the converging flows has ended. A flow on a paused link ends at
//! the latest at
//!
//! `end of the congestion + its own time without it`
//!
//! and its followers begin later by the same time. So does a flow whose acknowledgements return over a paused
//! link. Up to twice the capacity, fair shares of a paused link are at least half of those without pauses.
//! The simulated end is then right within a factor of two, and no bound is given.
//!
//! Packet simulations (csg-htsim, RoCE with PFC, 64 hosts, 102 runs with up to 32 converging senders) are
//! inside these bounds except for a margin of 15%: `tests/packet-cases`.

use super::{Interval, Listed, Routes};
use crate::flow::LinkPath;
use railwright_spec::quantity::Seconds;
use std::collections::BTreeMap;

/// Offered load over capacity above which pauses spread.
const OVERLOAD: f64 = 2.0;

/// Programs with more flows have no bounds.
pub const MOST_FLOWS: usize = 200_000;

/// Flows on a link over time.
#[derive(Default)]
struct Crowd {
    /// Times with the share of a flow that begins or ends then, in order.
    begins: Vec<(f64, f64)>,
    ends: Vec<(f64, f64)>,
    /// The flows.
    flows: Vec<u32>,
    /// The time with the largest sum of shares, and that sum.
    peak: (f64, f64),
}

impl Crowd {
    fn finish(&mut self) {
        for list in [&mut self.begins, &mut self.ends] {
            list.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut sum = 0.0;
            for one in list.iter_mut() {
                sum += one.1;
                one.1 = sum;
            }
        }
        for n in 0..self.begins.len() {
            let time = self.begins.get(n).map_or(0.0, |one| one.0);
            let here = self.at(time);
            if here > self.peak.1 {
                self.peak = (time, here);
            }
        }
    }

    /// Shares at a time.
    fn at(&self, time: f64) -> f64 {
        let sum = |list: &[(f64, f64)]| {
            let before = list.partition_point(|one| one.0 <= time);
            before.checked_sub(1).and_then(|last| list.get(last)).map_or(0.0, |one| one.1)
        };
        sum(&self.begins) - sum(&self.ends)
    }
}

/// Until when a link is paused, and since when.
type Pause = (f64, f64);

/// Latest end of every flow that may be delayed, and of its followers. `None` for the others, for which the
/// simulated end holds.
pub fn held(
    routes: &impl Routes,
    flows: &[Listed],
    draw: u32,
    intervals: &[Interval],
) -> Vec<Option<Seconds>> {
    if flows.len() > MOST_FLOWS {
        return vec![None; flows.len()];
    }
    let capacities = routes.capacities();
    let link_paths: Vec<LinkPath> = flows
        .iter()
        .enumerate()
        .map(|(tag, flow)| {
            let link_path = (flow.from != flow.to && flow.bytes.get() > 0.0)
                .then(|| routes.link_path(flow.from, flow.to, super::label(draw, tag as u64)));
            link_path.flatten().unwrap_or_default()
        })
        .collect();
    let mut crowds: BTreeMap<u32, Crowd> = BTreeMap::new();
    for ((number, link_path), interval) in link_paths.iter().enumerate().zip(intervals) {
        for &(link, share) in &link_path.links {
            let crowd = crowds.entry(link).or_default();
            crowd.begins.push((interval.begin.get(), share));
            crowd.ends.push((interval.end.get(), share));
            crowd.flows.push(number as u32);
        }
    }
    crowds.values_mut().for_each(Crowd::finish);
    let mut own = vec![0.0_f64; flows.len()];
    let mut paused = pauses(&link_paths, intervals, &crowds, &capacities, &mut own);
    if paused.is_empty() {
        return vec![None; flows.len()];
    }
    spread(&link_paths, intervals, &crowds, &mut paused);
    // Acknowledgements return in the other direction.
    let back: Vec<LinkPath> = flows
        .iter()
        .zip(&link_paths)
        .enumerate()
        .map(|(tag, (flow, link_path))| {
            let back = (!link_path.links.is_empty())
                .then(|| routes.link_path(flow.to, flow.from, super::label(draw, tag as u64)));
            back.flatten().unwrap_or_default()
        })
        .collect();
    latest(flows, (&link_paths, &back), intervals, (&paused, &own))
}

/// Links before those at which more is offered than twice the capacity, with the time of the congestion.
fn pauses(
    link_paths: &[LinkPath],
    intervals: &[Interval],
    crowds: &BTreeMap<u32, Crowd>,
    capacities: &[f64],
    own: &mut [f64],
) -> BTreeMap<u32, Pause> {
    let mut paused: BTreeMap<u32, Pause> = BTreeMap::new();
    let mut members: Vec<(u32, u32, f64)> = Vec::new();
    for (&link, crowd) in crowds {
        let capacity = capacities.get(link as usize).copied().unwrap_or(f64::INFINITY);
        let (time, most) = crowd.peak;
        if crowd.flows.len() < 3 || most <= OVERLOAD {
            continue;
        }
        let mut offered = 0.0;
        let (mut since, mut until) = (f64::INFINITY, 0.0_f64);
        for &flow in &crowd.flows {
            let (Some(link_path), Some(interval)) =
                (link_paths.get(flow as usize), intervals.get(flow as usize))
            else {
                continue;
            };
            if interval.begin.get() > time || interval.end.get() <= time {
                continue;
            }
            let before = link_path.links.iter().take_while(|own| own.0 != link);
            let rate = before
                .filter(|(_, share)| *share > 0.0)
                .map(|(own, share)| {
                    let capacity = capacities.get(*own as usize).copied().unwrap_or(f64::INFINITY);
                    // The flow's rate on the link applies to all of its bytes, but only a share of them
                    // crosses it.
                    capacity / crowds.get(own).map_or(1.0, |crowd| crowd.at(time)).max(*share)
                })
                .fold(f64::INFINITY, f64::min);
            let share = link_path.links.iter().find(|own| own.0 == link).map_or(0.0, |own| own.1);
            if rate.is_finite() {
                offered += rate * share;
                since = since.min(interval.begin.get());
                until = until.max(interval.end.get());
            }
        }
        if offered <= OVERLOAD * capacity {
            continue;
        }
        for &flow in &crowd.flows {
            members.push((flow, link, until));
            for (own, _) in link_paths.get(flow as usize).map_or(&[][..], |link_path| &link_path.links) {
                if *own == link {
                    break;
                }
                widen(&mut paused, *own, (since, until));
            }
        }
    }
    // A congested link that is not itself paused is never idle: regardless of the order of service, all have
    // ended by then.
    for (flow, link, until) in members {
        if !paused.contains_key(&link)
            && let Some(end) = own.get_mut(flow as usize)
        {
            *end = end.max(until);
        }
    }
    paused
}

fn widen(paused: &mut BTreeMap<u32, Pause>, link: u32, (since, until): Pause) -> bool {
    let Some(known) = paused.get_mut(&link) else {
        paused.insert(link, (since, until));
        return true;
    };
    let wider = (known.0.min(since), known.1.max(until));
    let changed = wider != *known;
    *known = wider;
    changed
}

/// Tests whether a flow is active during a pause.
fn meets(interval: &Interval, pause: Pause) -> bool {
    interval.begin.get() < pause.1 && interval.end.get() > pause.0
}

/// Pauses spread from a link to all links before it, over the flows that cross it.
fn spread(
    link_paths: &[LinkPath],
    intervals: &[Interval],
    crowds: &BTreeMap<u32, Crowd>,
    paused: &mut BTreeMap<u32, Pause>,
) {
    let mut open: Vec<u32> = paused.keys().copied().collect();
    while let Some(link) = open.pop() {
        let Some(&pause) = paused.get(&link) else { continue };
        for &flow in crowds.get(&link).map_or(&[][..], |crowd| &crowd.flows) {
            let (Some(link_path), Some(interval)) =
                (link_paths.get(flow as usize), intervals.get(flow as usize))
            else {
                continue;
            };
            if !meets(interval, pause) {
                continue;
            }
            for (own, _) in link_path.links.iter().take_while(|own| own.0 != link) {
                if widen(paused, *own, pause) {
                    open.push(*own);
                }
            }
        }
    }
}

/// The latest end of each flow, in the order in which flows begin.
fn latest(
    flows: &[Listed],
    (link_paths, back): (&[LinkPath], &[LinkPath]),
    intervals: &[Interval],
    (paused, own): (&BTreeMap<u32, Pause>, &[f64]),
) -> Vec<Option<Seconds>> {
    let mut order: Vec<u32> = (0..flows.len() as u32).collect();
    let begin = |n: &u32| intervals.get(*n as usize).map_or(0.0, |interval| interval.begin.get());
    let end = |n: &u32| intervals.get(*n as usize).map_or(0.0, |interval| interval.end.get());
    order.sort_by(|a, b| begin(a).total_cmp(&begin(b)).then(end(a).total_cmp(&end(b))).then(a.cmp(b)));
    let mut late = vec![0.0_f64; flows.len()];
    for number in order {
        let (Some(flow), Some(link_path), Some(interval)) =
            (flows.get(number as usize), link_paths.get(number as usize), intervals.get(number as usize))
        else {
            continue;
        };
        let before = flow.after.iter().filter_map(|before| late.get(*before as usize)).copied();
        let shift = before.fold(0.0, f64::max);
        let back = back.get(number as usize).map_or(&[][..], |link_path| &link_path.links);
        let pause = link_path
            .links
            .iter()
            .chain(back)
            .filter_map(|(link, _)| paused.get(link))
            .filter(|pause| meets(interval, **pause))
            .map(|pause| pause.1)
            .fold(0.0, f64::max);
        let waits = pause > 0.0 && interval.end.get() < pause * (1.0 - 1e-9);
        let congested = own.get(number as usize).copied().unwrap_or(0.0);
        let held = match (waits, pause <= congested) {
            (false, _) => 0.0,
            // Flows that converge end with the congestion at the latest.
            (true, true) => (congested - interval.end.get()).max(0.0),
            (true, false) => (pause - interval.begin.get()).max(0.0),
        };
        if let Some(late) = late.get_mut(number as usize) {
            *late = shift.max(0.0) + held;
        }
    }
    late.iter()
        .zip(intervals)
        .map(|(late, interval)| (*late > 0.0).then(|| interval.end + Seconds::new(*late)))
        .collect()
}
