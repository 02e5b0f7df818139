//! A predicted step with communication as flows on a topology: cost of congestion, oversubscription, failed
//! parts and other jobs.
//!
//! Responsible for: the calculator's passes in order, with flows instead of fixed communication times,
//! started after their dependencies, with contention on shared links; and the comparison with the closed
//! form. Excludes the price of compute, and links (see `railwright_network::simulate`).
//!
//! All replicas are synchronous: they run the same passes, and communication ends for all its groups when the
//! slowest group ends. This is exact if groups are equivalent in the network ([`Simulation::is_exact`]).
//! Otherwise, real replicas can drift between two reductions and lose slightly less.

mod background;
mod classes;
mod jobs;
mod passes;
mod placed;
mod seeds;
mod staged;
#[cfg(test)]
mod tests;
pub mod trace;
mod update;

pub use background::Background;
pub use jobs::{Job, SharedJob, together};
pub use placed::{Order, Ordered, Placed, placed};
pub use seeds::{MOST_SEEDS, OverSeeds, over_seeds, quantile};
use staged::Staged;

use crate::collective::Network;
use crate::exchanges::numbering;
use classes::{Classes, Dim};
use railwright_calculator::costing::{Costing, Machine};
use railwright_calculator::evaluate::{Evaluation, evaluate};
use railwright_network::failures::Recovery;
use railwright_network::simulate::{
    Bundle, Class, FEW, LayerLoad, Links, Members, OverTime, Played, Script, StageWaits, Wiring, Work,
    layers, over_time, waits,
};
use railwright_network::traffic::RankPlacement;
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::Plan;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use serde::Serialize;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Maximum number of tasks.
const MOST_TASKS: usize = 2_000_000;

/// A simulated step.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Simulation {
    /// The topology's name.
    pub topology: String,
    /// Routing on it.
    pub routing: &'static str,
    /// Failed parts.
    pub failed: Vec<String>,
    /// Devices that carry the traffic of NICs with lost ports, if parts failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Recovery>,
    /// The other jobs on it.
    pub background: Option<Background>,
    /// Ranks of the run.
    pub ranks: u64,
    /// Devices of the network.
    pub devices: u64,
    /// The step on this network.
    pub step_time: Seconds,
    /// The step with other hash seeds, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_seeds: Option<OverSeeds>,
    /// Placement of the ranks, and step times of other orders of the hosts. `None` unless hosts are
    /// specified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placed: Option<Placed>,
    /// This run and another on the same network; empty without another.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<SharedJob>,
    /// The step of `estimate`, in closed form.
    pub closed_form: Seconds,
    /// Differences between both, step by step.
    pub changes: Vec<Change>,
    /// Rows of all dimensions with exchanges.
    pub dimensions: Vec<DimensionRow>,
    /// Compute and waits of each pipeline stage.
    pub waits: Vec<StageWaits>,
    /// Load of links, from the devices outwards.
    pub layers: Vec<LayerLoad>,
    /// True if groups of each kind are equivalent in the network, so that replicas are synchronous.
    pub is_exact: bool,
    /// Exchanges through third groups of a dragonfly, if its routing selects these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub detours: Vec<String>,
    /// The load of links over the step: the mean of each layer and its busiest links, in equal intervals.
    pub over_time: OverTime,
    /// Number of simulated passes and exchanges.
    pub tasks: usize,
    /// Number of flows that represent all of them.
    pub flows: usize,
}

/// An additional effect, and the step with it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Change {
    /// Name of the added effect.
    pub what: &'static str,
    /// Step time with it and all previous effects.
    pub step_time: Seconds,
    /// Added time.
    pub cost: Seconds,
}

/// Time of one dimension's exchanges, on the stage with the longest.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DimensionRow {
    /// Its name.
    pub dimension: &'static str,
    /// The stage.
    pub stage: u32,
    /// Number of exchanges in the step.
    pub exchanges: usize,
    /// Time of all of them in closed form, hidden and exposed, on a network without oversubscription.
    pub closed_form: Seconds,
    /// Time on the topology, each kind alone.
    pub alone: Seconds,
    /// Time in the step, with contention.
    pub in_step: Seconds,
    /// `in_step / closed_form`.
    pub slowdown: f64,
}

/// Simulation settings in addition to the run.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// The network.
    pub network: Network<'a>,
    /// Other jobs.
    pub background: Option<Background>,
    /// Devices of the ranks. `None` selects the first ones.
    pub seats: Option<&'a RankPlacement>,
}

impl<'a> Setting<'a> {
    /// A design without other jobs, with ranks on the first devices.
    pub const fn on(wiring: &'a Wiring) -> Self {
        Self { network: Network::Design(wiring), background: None, seats: None }
    }
}

/// Simulates a step. Fails if the plan is invalid, or if failed parts disconnect ranks.
pub fn simulate(
    model: &Model,
    cluster: &Cluster,
    plan: &Plan,
    setting: &Setting<'_>,
) -> Result<Simulation, Problem> {
    simulate_watched(model, cluster, plan, setting, &mut |_, _| ControlFlow::Continue(()))
}

/// Cancellable variant: `watch` receives finished and total tasks. Cancellation is an error.
pub fn simulate_watched(
    model: &Model,
    cluster: &Cluster,
    plan: &Plan,
    setting: &Setting<'_>,
    watch: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Simulation, Problem> {
    let network = setting.network;
    let Prepared { staged, mut classes, after, closed_form, unblocked, free } =
        Prepared::new((model, cluster, plan), setting)?;
    let ranks = plan.world_size();
    let own_classes = classes.len();
    let idle = setting
        .background
        .map(|background| background::add(background, &mut classes, network, (ranks, setting.seats)))
        .transpose()?;

    let failed = network.failed();
    let is_broken = !failed.is_empty();
    let plays = 2 + usize::from(is_broken || idle.is_some()) + usize::from(is_broken && idle.is_some());
    let (all, mut before) = (plays * staged.script.len(), 0);
    let mut watched = |script: &Script, bundle: &Bundle| {
        // Set-up between two simulations also takes time.
        if watch(before, all).is_break() {
            return Err(Problem::new("stopped while simulating the step"));
        }
        let played = script.play_watched(bundle, &mut |ended| watch(before + ended, all));
        before += staged.script.len();
        played
    };
    let alone = watched(&staged.script, &Bundle::free(classes.len()))?;
    let mut changes = Vec::new();
    let mut last = closed_form;
    let mut change = |what, step_time: Seconds| {
        changes.push(Change { what, step_time, cost: step_time - last });
        last = step_time;
    };
    if (unblocked / closed_form - 1.0).abs() > 1e-9 {
        let has_own_links =
            free.scale_up == cluster.scale_up && free.network.bandwidth == cluster.network.bandwidth;
        change(
            if has_own_links {
                "only the oversubscription of the topology"
            } else {
                "domains and speeds of the topology, non-blocking"
            },
            unblocked,
        );
    }
    change("communication starts after its dependencies", after.total(&alone, &staged));
    // Only the actual network needs all values; the others are counterfactual.
    let mut play = |links: &dyn Links, with_background: bool| -> Result<(Bundle, Played), Problem> {
        let mut bundle = Bundle::new(links, &classes, FEW)?;
        let mut script = staged.script.clone();
        if let (Some((class, pace)), true) = (idle, with_background) {
            bundle.cap(class as usize, pace);
            script.add(Work::Endless { class }, []);
        }
        let played = watched(&script, &bundle)?;
        Ok((bundle, played))
    };
    if is_broken || idle.is_some() {
        let whole = match network {
            Network::Design(wiring) if is_broken => Some(Wiring::new(&wiring.topology.design, &[])?),
            _ => None,
        };
        let whole: &dyn Links = whole.as_ref().map_or(network.links(), |whole| whole);
        let (_, played) = play(whole, false)?;
        change("contention and oversubscription", after.total(&played, &staged));
        if is_broken && idle.is_some() {
            let (_, played) = play(whole, true)?;
            change("other jobs", after.total(&played, &staged));
        }
    }
    let (bundle, played) = play(network.links(), true)?;
    let step_time = after.total(&played, &staged);
    change(
        match (is_broken, idle) {
            (true, _) => "failed parts",
            (false, Some(_)) => "other jobs",
            (false, None) => "contention and oversubscription",
        },
        step_time,
    );
    let dimensions = rows(&staged, &bundle, &played);
    let busy = layers(network.links(), &bundle, &played.moved, step_time);
    let over_time = over_time(network.links(), &bundle, &staged.script, &played, step_time);
    Ok(Simulation {
        topology: network.name(),
        routing: network.routing().name(),
        failed,
        recovery: match network {
            Network::Design(wiring) if is_broken => Some(wiring.recovery()),
            _ => None,
        },
        background: setting.background,
        ranks,
        devices: u64::from(network.devices()),
        step_time,
        over_seeds: None,
        placed: None,
        jobs: Vec::new(),
        closed_form,
        changes,
        dimensions,
        waits: waits(&staged.script, &played, &staged.works, staged.end),
        layers: busy,
        over_time,
        // Other jobs may differ: no rank waits for them.
        is_exact: bundle.uniform.iter().take(own_classes).all(|uniform| *uniform),
        detours: detours(&bundle, classes.get(..own_classes).unwrap_or_default()),
        tasks: staged.script.len(),
        flows: bundle.units.len(),
    })
}

/// A step as a script and classes of flows, before routing on a network.
struct Prepared {
    staged: Staged,
    classes: Vec<Class>,
    after: After,
    closed_form: Seconds,
    /// The step on a non-blocking network, and its cluster.
    unblocked: Seconds,
    free: Cluster,
}

impl Prepared {
    fn new(
        (model, cluster, plan): (&Model, &Cluster, &Plan),
        setting: &Setting<'_>,
    ) -> Result<Self, Problem> {
        let Setting { network, seats, .. } = *setting;
        cluster.require_one_kind("network simulation")?;
        if let Some(problem) = railwright_spec::plan::validate(model, cluster, plan).into_iter().next() {
            return Err(problem);
        }
        network.check_placement(plan.world_size(), seats)?;
        let own = Machine::new(cluster);
        let closed_form = evaluate(&Costing::new(model, cluster, plan, &own)?)?.time.total;
        let free = network.unblocked(cluster)?;
        let machine = Machine::new(&free);
        let costing = Costing::new(model, &free, plan, &machine)?;
        let evaluation = evaluate(&costing)?;
        let classes = Classes::new(
            &costing,
            &evaluation,
            &numbering(plan),
            (&network.frame()?, seats),
            network.is_torus_law(cluster),
        );
        let staged = stage(&costing, &evaluation, &classes)?;
        let after = After::new(&evaluation, &staged)?;
        let unblocked = evaluation.time.total;
        Ok(Self { staged, classes: classes.list, after, closed_form, unblocked, free })
    }
}

/// The time of a step on a network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timed {
    /// The step.
    pub step_time: Seconds,
    /// True if groups of one kind with different routes progress at the rate of the slowest.
    pub is_merged: bool,
}

/// Limits of a simulation.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Flows of a step from which on all groups of a kind are one flow ([`Members::coarse`]).
    pub most_flows: usize,
    /// Time above which the simulation stops.
    pub limit: Seconds,
}

impl Extent {
    /// No limits, as in [`simulate`].
    pub const WHOLE: Self = Self { most_flows: usize::MAX, limit: Seconds::new(f64::INFINITY) };
}

/// A step before its routes: networks that differ in their hash seed alone share it.
pub(crate) struct Unrouted(Prepared);

impl Unrouted {
    /// A run with its setting. Fails as [`simulate`].
    pub(crate) fn new(run: (&Model, &Cluster, &Plan), setting: &Setting<'_>) -> Result<Self, Problem> {
        Prepared::new(run, setting).map(Self)
    }

    /// The time of the step on a network, as in [`simulate`], without the figures of a report. `None` above
    /// the limit. `watch` as in [`simulate_watched`].
    pub(crate) fn time_within(
        &self,
        links: &dyn Links,
        extent: Extent,
        watch: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
    ) -> Result<Option<Timed>, Problem> {
        let Prepared { staged, classes, after, .. } = &self.0;
        let members = Members::new(links, classes)?;
        let is_large = staged.script.flows(&members.units(FEW)) > extent.most_flows;
        let bundle = if is_large { members.coarse() } else { members.bundle(FEW) };
        drop(members);
        let all = staged.script.len();
        let limit = extent.limit / (1.0 + after.jitter) + staged.earlier;
        // Without contention of different exchanges the step is no longer, and far sooner known.
        let rests = if extent.limit.is_finite() { staged.script.rests(&bundle) } else { None };
        if rests.as_ref().is_some_and(|rests| rests.whole > limit) {
            return Ok(None);
        }
        let within = (limit, rests.as_ref());
        let played = staged.script.play_within(&bundle, within, &mut |ended| watch(ended, all))?;
        let is_merged = bundle.is_merged();
        Ok(played.map(|played| Timed { step_time: after.total(&played, staged), is_merged }))
    }
}

/// The time of a step on a network, as in [`simulate`], without the figures of a report. `None` above the
/// limit. `watch` as in [`simulate_watched`].
pub fn step_time_within(
    run: (&Model, &Cluster, &Plan),
    setting: &Setting<'_>,
    extent: Extent,
    watch: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Option<Timed>, Problem> {
    Unrouted::new(run, setting)?.time_within(setting.network.links(), extent, watch)
}

/// The time of a step without limits.
pub fn step_time_watched(
    run: (&Model, &Cluster, &Plan),
    wiring: &Wiring,
    watch: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Seconds, Problem> {
    whole(run, &Setting::on(wiring), watch)
}

/// The time of a step with its setting, without other jobs.
fn whole(
    run: (&Model, &Cluster, &Plan),
    setting: &Setting<'_>,
    watch: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Seconds, Problem> {
    let timed = step_time_within(run, setting, Extent::WHOLE, watch)?;
    timed.map(|timed| timed.step_time).ok_or_else(|| Problem::new("the step does not finish"))
}

/// Distinct names of the classes that take detours.
fn detours(bundle: &Bundle, classes: &[Class]) -> Vec<String> {
    let taken = classes.iter().zip(&bundle.detours).filter(|(_, taken)| **taken);
    let names: BTreeSet<&str> = taken.map(|(class, _)| class.name.as_str()).collect();
    names.into_iter().map(str::to_owned).collect()
}

fn stage(costing: &Costing<'_>, evaluation: &Evaluation, classes: &Classes) -> Result<Staged, Problem> {
    let mut staged = Staged {
        script: Script::default(),
        moves: Vec::new(),
        works: Vec::new(),
        end: 0,
        earlier: Seconds::ZERO,
    };
    let ends = passes::write(&mut staged, costing, evaluation, classes)?;
    staged.earlier = evaluation.overlap_of_steps;
    staged.end = update::write(&mut staged, costing, evaluation, classes, &ends);
    if staged.script.len() > MOST_TASKS {
        return Err(Problem::new(format!(
            "a step of {} tasks is too large to simulate",
            staged.script.len()
        ))
        .at_key("plan.global_batch")
        .hint("simulate a step with fewer micro-batches"));
    }
    Ok(staged)
}

/// Terms after the tasks: overlap of consecutive zero-bubble steps, and the jitter allowance, which is
/// proportional to the step.
struct After {
    jitter: f64,
}

impl After {
    fn new(evaluation: &Evaluation, staged: &Staged) -> Result<Self, Problem> {
        let time = &evaluation.time;
        if staged.script.is_empty() {
            return Err(Problem::new("the step has no passes to simulate"));
        }
        let body = time.total - time.jitter;
        let jitter = if body > Seconds::ZERO { time.jitter / body } else { 0.0 };
        Ok(Self { jitter })
    }

    fn total(&self, played: &Played, staged: &Staged) -> Seconds {
        self.of(played.ends[staged.end as usize], staged)
    }

    /// The step time for this time of the tasks.
    fn of(&self, tasks: Seconds, staged: &Staged) -> Seconds {
        (tasks - staged.earlier) * (1.0 + self.jitter)
    }
}

/// Each dimension on the stage with its longest exchanges.
fn rows(staged: &Staged, bundle: &Bundle, played: &Played) -> Vec<DimensionRow> {
    let paces = bundle.uncontended_speeds();
    let mut rows: Vec<DimensionRow> = Vec::new();
    for dimension in Dim::ALL {
        let mut stages: std::collections::BTreeMap<u32, DimensionRow> = std::collections::BTreeMap::new();
        for moved in staged.moves.iter().filter(|moved| moved.dimension == dimension) {
            let row = stages.entry(moved.stage).or_insert_with(|| DimensionRow {
                dimension: dimension.name(),
                stage: moved.stage,
                exchanges: 0,
                closed_form: Seconds::ZERO,
                alone: Seconds::ZERO,
                in_step: Seconds::ZERO,
                slowdown: 1.0,
            });
            let task = moved.task as usize;
            row.exchanges += 1;
            row.closed_form += moved.latency + moved.amount;
            row.alone += moved.latency + moved.amount / paces[moved.class as usize];
            row.in_step += moved.latency + (played.ends[task] - played.starts[task]);
        }
        let longest = stages.into_values().reduce(|a, b| if b.in_step > a.in_step { b } else { a });
        rows.extend(
            longest
                .filter(|row| row.closed_form > Seconds::ZERO)
                .map(|row| DimensionRow { slowdown: row.in_step / row.closed_form, ..row }),
        );
    }
    rows
}
