//! A step on the hosts of an allocation: placement of its ranks, cost relative to neighbouring hosts, and
//! gain by a different order of the same hosts.
//!
//! Responsible for: the step with the hosts in the given order, with ranks on the first devices of the
//! network, and with two other orders. These are the hosts sorted by the network, and swaps of hosts that
//! reduce the bytes above leaves. All are simulated equally; the fastest is reported only if it is faster
//! than the given order by more than [`GAIN`]. Does not move ranks within hosts.

use super::{Setting, Simulation, quantile, whole};
use crate::collective::Network;
use crate::exchanges::traffic;
use railwright_calculator::costing::{Costing, Machine};
use railwright_calculator::evaluate::evaluate;
use railwright_network::placement::{
    Allocation, Between, ByLevel, Spot, Survey, Tree, by_network, refined, spots, survey,
};
use railwright_network::traffic::{Loads, Matrix, Place};
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::Plan;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// Minimum gain as a share of the step. Less is rounding, or hosts with equivalent places.
const GAIN: f64 = 1e-3;
/// Number of hash seeds of each order.
const DRAWS: u32 = 5;

/// An order of hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Ranks on the first devices of the network.
    Contiguous,
    /// The order of the allocation.
    Given,
    /// Sorted by pod, leaf group and domain.
    ByNetwork,
    /// After swaps of two hosts that reduce the bytes above leaves.
    Swapped,
}

/// The step with an order of hosts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ordered {
    /// The order.
    pub order: Order,
    /// Step time, median over hash seeds if routes are hashed.
    pub step_time: Seconds,
    /// Step time over that with ranks on the first devices, minus 1. `None` if failed parts disconnect
    /// these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_contiguous: Option<f64>,
    /// Bytes of all ranks by the highest level that they pass.
    pub bytes: ByLevel,
}

/// A run on an allocation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Placed {
    /// Placement of its ranks.
    pub survey: Option<Survey>,
    /// Orders of hosts: contiguous and given first.
    pub orders: Vec<Ordered>,
    /// The fastest order of the allocation's hosts.
    pub best: Order,
    /// Share of the given order's step that the best one saves.
    pub gain: f64,
    /// Hosts in the best order, by name.
    pub hosts: Vec<String>,
    /// Number of hash seeds behind each median; 1 unless routes are hashed.
    pub seeds: u32,
    /// The allocation in that order.
    #[serde(skip)]
    pub reordered: Allocation,
    /// True if its host file has only slots, which every launcher can read.
    #[serde(skip)]
    pub is_plain: bool,
}

/// Adds the placement of its hosts, and steps with other host orders, to a simulation. The setting has the
/// seats of the allocation.
pub fn placed(
    (model, cluster, plan): (&Model, &Cluster, &Plan),
    (setting, own): (&Setting<'_>, &mut Simulation),
    allocation: &Allocation,
    watch: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<(), Problem> {
    let Network::Design(wiring) = setting.network else {
        return Err(Problem::new("a fabric from a file already determines its hosts"));
    };
    let design = &wiring.topology.design;
    let tree = Tree::new(&wiring.topology);
    let machine = Machine::new(cluster);
    let costing = Costing::new(model, cluster, plan, &machine)?;
    let traffic = traffic(&costing, &evaluate(&costing)?);
    let first = Place::on(design, traffic.numbering.ranks())?;
    let levels = |place: &Place| -> Result<ByLevel, Problem> {
        let matrix = Matrix::new(&traffic, place);
        Loads::check(&matrix)?;
        Ok(ByLevel::new(&matrix, place, tree.as_ref()))
    };
    let mut orders = vec![(Order::Given, Some((0..allocation.hosts.len()).collect()))];
    // Failed parts may disconnect the first devices, and not those of the allocation.
    if wiring.check(u32::try_from(first.ranks).unwrap_or(u32::MAX)).is_ok() {
        orders.insert(0, (Order::Contiguous, None));
    }
    if let Some(tree) = &tree {
        let matrix = Matrix::new(&traffic, &first);
        Loads::check(&matrix)?;
        orders.extend(others(allocation, tree, &matrix, &mut || watch(0, 1)));
    }
    let mut rows: Vec<(Ordered, Option<Vec<usize>>)> = Vec::new();
    let mut contiguous = None;
    let all = orders.len();
    for (number, (order, hosts)) in orders.into_iter().enumerate() {
        let seats = hosts.as_ref().map(|hosts| allocation.ordered(hosts).seats()).transpose()?;
        let on = Setting { seats: seats.as_ref(), background: None, ..*setting };
        let mut watch = |at: usize, of: usize| watch(number * of + at, all * of);
        let step_time = over_draws((model, cluster, plan), &on, &mut watch)?;
        if order == Order::Contiguous {
            contiguous = Some(step_time);
        }
        let bytes = levels(&first.clone().seated(seats.as_ref()))?;
        let over_contiguous = contiguous.map(|contiguous: Seconds| step_time / contiguous - 1.0);
        rows.push((Ordered { order, step_time, over_contiguous, bytes }, hosts));
    }
    let given = rows.iter().find(|(row, _)| row.order == Order::Given);
    let given = given.map_or(own.step_time, |(row, _)| row.step_time);
    let mut best = (Order::Given, given, None);
    for (row, hosts) in rows.iter().filter(|(row, _)| row.order > Order::Given) {
        if row.step_time < best.1 && row.step_time < given * (1.0 - GAIN) {
            best = (row.order, row.step_time, hosts.as_deref());
        }
    }
    let reordered = best.2.map_or_else(|| allocation.clone(), |hosts| allocation.ordered(hosts));
    own.placed = Some(Placed {
        survey: tree.as_ref().map(|tree| survey(allocation, tree)),
        best: best.0,
        gain: 1.0 - best.1 / given,
        seeds: draws(setting),
        is_plain: is_plain(&reordered, cluster.devices_per_node),
        hosts: reordered.hosts.iter().map(|host| host.name.clone()).collect(),
        reordered,
        orders: rows.into_iter().map(|(row, _)| row).collect(),
    });
    Ok(())
}

/// Hash seeds of a simulated order.
fn draws(setting: &Setting<'_>) -> u32 {
    if setting.network.routing().is_hashed() { DRAWS } else { 1 }
}

/// Tests whether every host is in one line with its first devices.
fn is_plain(allocation: &Allocation, per_host: u64) -> bool {
    let mut names = BTreeSet::new();
    allocation.hosts.iter().all(|host| {
        let first = host.devices.first().copied().unwrap_or(0);
        let is_first = |(n, device): (usize, &u32)| *device == first + n as u32;
        names.insert(&host.name)
            && u64::from(first) % per_host.max(1) == 0
            && host.devices.iter().enumerate().all(is_first)
    })
}

/// Step time, median over hash seeds if routes are hashed, so that orders do not differ by one seed.
fn over_draws(
    run: (&Model, &Cluster, &Plan),
    setting: &Setting<'_>,
    watch: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Seconds, Problem> {
    let draws = draws(setting);
    let mut times = Vec::with_capacity(draws as usize);
    for draw in 0..draws {
        let done = draw as usize;
        let mut watch = |at: usize, all: usize| watch(done * all + at, draws as usize * all);
        times.push(
            setting
                .network
                .redrawn(draw, |network| whole(run, &Setting { network, ..*setting }, &mut watch))?,
        );
    }
    times.sort_by(|a, b| a.get().total_cmp(&b.get()));
    Ok(quantile(&times, 0.5))
}

/// Sorted hosts, and those after swaps from the better of the sorted and the given order, without equivalent
/// ones.
fn others(
    allocation: &Allocation,
    tree: &Tree,
    matrix: &Matrix,
    watch: &mut dyn FnMut() -> ControlFlow<()>,
) -> Vec<(Order, Option<Vec<usize>>)> {
    let given: Vec<usize> = (0..allocation.hosts.len()).collect();
    let spots = spots(allocation, tree);
    // Domains of one leaf group are equivalent, but hosts that share one are not: domains count by their
    // first appearance.
    let parts = |order: &[usize]| {
        let mut domains: BTreeMap<u32, usize> = BTreeMap::new();
        let mut part = |host: &usize| {
            let Spot { leaf, domain, .. } = spots[*host];
            let next = domains.len();
            (leaf, *domains.entry(domain).or_insert(next))
        };
        order.iter().map(&mut part).collect::<Vec<_>>()
    };
    let sorted = by_network(allocation, tree);
    let between = Between::new(matrix, allocation);
    let cost = |order: &[usize]| between.cost(&spots, tree, order);
    let swapped = [&sorted, &given]
        .into_iter()
        .filter_map(|start| refined(allocation, tree, &between, start, watch))
        .reduce(|best, next| if cost(&next) < cost(&best) { next } else { best });
    let mut known = vec![parts(&given)];
    let mut orders = Vec::new();
    for (order, hosts) in [(Order::ByNetwork, Some(sorted)), (Order::Swapped, swapped)] {
        let Some(hosts) = hosts else { continue };
        let parts = parts(&hosts);
        if !known.contains(&parts) {
            known.push(parts);
            orders.push((order, Some(hosts)));
        }
    }
    orders
}

impl Order {
    /// Text for a report.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Contiguous => "contiguous",
            Self::Given => "given",
            Self::ByNetwork => "sorted by network",
            Self::Swapped => "swapped hosts",
        }
    }
}
