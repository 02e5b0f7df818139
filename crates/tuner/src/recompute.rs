//! Selection of recompute: modules, layers and stages, so that every stage fits with the shortest step.
//!
//! Responsible for: an optimal solution. A pipeline is never faster with a slower stage, so each stage has
//! its own fastest choice that fits: `group` finds it exactly. If a stage holds several virtual stages, its
//! time is still minimal, but the distribution over them has a small effect on the pipeline; the result then
//! includes a proven bound. Does not change the layout.

mod advice;
mod bound;
mod flags;
mod group;
mod hull;
mod lay;
pub mod policies;
mod table;
#[cfg(test)]
mod tests;
mod uniform;

pub use advice::Remedy;
pub use flags::{Flags, flags, framework_name};
pub use table::{LayerTable, ModuleRow};

use group::{Group, Solution};
use railwright_calculator::choices::{Choices, Treatment};
use railwright_calculator::costing::{Costing, Machine};
use railwright_calculator::evaluate::{evaluate, local_chunks};
use railwright_calculator::memory::{
    self, Kind, MemoryInput, MemoryReport, SURE_TO_FIT, SoftwareCatalogue, StageRoom, layers_per_chunk,
    probability_of_fitting,
};
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::{Plan, Recompute, RecomputeModule, StageRecompute};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Bytes, Seconds};
use serde::Serialize;
use std::collections::BTreeSet;

/// Options of the solver.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Required probability of fitting for every stage.
    pub probability: f64,
    /// True for the same policy on all stages, as with framework flags.
    pub uniform: bool,
    /// True to allow activations in host memory.
    pub offload: bool,
    /// Modules that may be recomputed, offered by the software or not. `None` is all that it offers. Whole
    /// layers are always allowed.
    pub modules: Option<BTreeSet<RecomputeModule>>,
}

impl Default for Options {
    fn default() -> Self {
        Self { probability: SURE_TO_FIT, uniform: false, offload: false, modules: None }
    }
}

/// A recompute setting with its price.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Variant {
    /// The plan.
    #[serde(skip)]
    pub plan: Plan,
    /// Recomputed modules, in short.
    pub what: String,
    /// Step time.
    pub step_time: Seconds,
    /// Tokens per second of the whole cluster.
    pub tokens_per_second: f64,
    /// Memory of the stage with the largest peak, as in an estimate.
    pub memory: Bytes,
    /// Probability that every stage fits.
    pub probability_of_fitting: f64,
    /// True if that is at least the required probability.
    pub fits: bool,
}

/// One stage of the result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StageRow {
    /// The stage, from 0.
    pub stage: usize,
    /// Layers on it.
    pub layers: u64,
    /// Recompute and offload, by virtual stage.
    pub choice: Vec<String>,
    /// Recompute time of one micro-batch.
    pub recompute: Seconds,
    /// Time in passes of one micro-batch.
    pub time: Seconds,
    /// Memory without recompute.
    pub memory_none: Bytes,
    /// Memory with full recompute.
    pub memory_full: Bytes,
    /// Memory with the selected recompute.
    pub memory: Bytes,
    /// Probability that it fits with the selected recompute.
    pub probability_of_fitting: f64,
}

/// Share of one kind of memory on the stage with the largest peak.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KindShare {
    /// Purpose.
    pub kind: Kind,
    /// Amount.
    pub bytes: Bytes,
    /// Share of the stage's need (0 to 1).
    pub share: f64,
}

/// Result of the solver.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answer {
    /// Memory and cost of each module of a layer.
    pub layers: Vec<LayerTable>,
    /// Memory by kind without recompute, on the stage with the largest peak.
    pub kinds: Vec<KindShare>,
    /// Index of that stage.
    pub fullest: usize,
    /// Device memory.
    pub device_memory: Bytes,
    /// Memory limit of a stage for the required probability.
    pub limit: Bytes,
    /// That probability.
    pub probability: f64,
    /// Variant without recompute.
    pub none: Variant,
    /// Variant with full recompute of every layer.
    pub full: Variant,
    /// The original plan. `None` if it is one of the two.
    pub given: Option<Variant>,
    /// The best uniform policy that framework flags can express.
    pub uniform: Option<Variant>,
    /// The best uniform policy, with or without framework flags.
    pub uniform_any: Option<Variant>,
    /// The best variant. `None` if none fits.
    pub best: Option<Variant>,
    /// Its stages.
    pub stages: Vec<StageRow>,
    /// Upper bound on the remaining gain over the best, as a share of the step: zero if it is proven
    /// optimal.
    pub gap: f64,
    /// Throughput of the best over that of full recompute, minus 1.
    pub gain_over_full: Option<f64>,
    /// Changes that make it fit; empty if something fits.
    pub remedies: Vec<Remedy>,
}

/// Number of steps of the share of activations in host memory: sixteenths.
const SHARES: u32 = 16;

/// Solves a plan. Fails if it cannot be priced.
pub fn solve(model: &Model, cluster: &Cluster, plan: &Plan, options: &Options) -> Result<Answer, Problem> {
    cluster.require_one_kind("the choice of recompute per stage")?;
    let machine = Machine::new(cluster);
    // A run with activations in host memory accepts them there.
    let options = &Options { offload: options.offload || plan.offload.activations > 0.0, ..options.clone() };
    let trial = Trial { model, cluster, machine: &machine, options };
    let bare = bare(plan);
    let costing = Costing::new(model, cluster, &bare, &machine)?;
    let allowed = match &options.modules {
        Some(modules) => &policies::named_modules(model, &plan.software) & modules,
        None => policies::modules(model, &plan.software),
    };
    let policies = policies::policies(model, &allowed);
    let mut choices = Choices::new(&costing, treatments(&policies, options.offload))?;
    let split = layers_per_chunk(model, &bare, costing.stage_split);
    let rooms = choices.rooms(&split);
    let limit = choices.limit(options.probability);

    let none = trial.variant(&bare)?;
    let full = trial.variant(&Plan { recompute: Recompute::Full { layers: None }, ..bare.clone() })?;
    let uniform = uniform::best(&trial, &bare, &split, &policies)?;
    let uniform_any = uniform::best_of_any(&trial, &bare, &split, &policies)?;
    let uniform_any = match (uniform_any, &uniform) {
        (Some(any), Some(own)) if own.step_time <= any.step_time => Some(own.clone()),
        (any, _) => any,
    };
    let by_stage =
        if options.uniform { None } else { by_stage(&trial, &choices, &bare, &split, &rooms, limit)? };
    let gap = by_stage.as_ref().map_or(0.0, |(_, gap)| *gap);
    let given = (*plan != none.plan && *plan != full.plan).then(|| trial.variant(plan)).transpose()?;
    // The solver's shares of offload are sixteenths, so a given share may be the only one that fits, or a
    // faster one.
    let own =
        given.clone().filter(|given| given.fits && !(options.uniform && plan.stage_recompute.is_some()));
    let found = [by_stage.map(|(variant, _)| variant), uniform.clone(), own];
    let best = found.into_iter().flatten().min_by(|a, b| a.step_time.get().total_cmp(&b.step_time.get()));
    let stages = match &best {
        Some(best) => trial.stages(&none, &full, best)?,
        None => Vec::new(),
    };
    let report = trial.report(&bare)?;
    let remedies = if best.is_none() { advice::remedies(&trial, &bare, rooms.len()) } else { Vec::new() };
    let gain = best.as_ref().map(|best| best.tokens_per_second / full.tokens_per_second - 1.0);
    Ok(Answer {
        layers: table::tables(model, &choices),
        kinds: kinds(&report),
        fullest: report.worst,
        device_memory: cluster.accelerator.memory,
        limit: choices.device(limit),
        probability: options.probability,
        none,
        full,
        given,
        uniform,
        uniform_any,
        best,
        stages,
        gap,
        gain_over_full: gain,
        remedies,
    })
}

/// The plan without any recompute and activation offload.
fn bare(plan: &Plan) -> Plan {
    let mut bare = Plan { recompute: Recompute::None, stage_recompute: None, ..plan.clone() };
    bare.offload.activations = 0.0;
    bare
}

pub(crate) fn treatments(policies: &[Recompute], offload: bool) -> Vec<Treatment> {
    let shares = (0..=if offload { SHARES } else { 0 }).map(|i| f64::from(i) / f64::from(SHARES));
    shares
        .flat_map(|offload| policies.iter().map(move |p| Treatment { recompute: p.clone(), offload }))
        .collect()
}

/// Recompute of virtual stages that share a device's memory.
pub(crate) struct Choice {
    /// The entry of each virtual stage, with its place in the pipeline.
    pub(crate) entries: Vec<(usize, StageRecompute)>,
    /// Time of the passes of one micro-batch.
    time: Seconds,
    /// Lower bound on the time of any choice.
    bound: Seconds,
}

/// The best choice for virtual stages that share a device's memory. `None` if none fits.
pub(crate) fn best_of_group(
    choices: &Choices<'_>,
    model: &Model,
    room: &StageRoom,
    chunks: usize,
    limit: Bytes,
) -> Option<Choice> {
    let group = Group::new(room, &model.layers, chunks, model.multi_token_prediction.is_some());
    let solution = solve_group(choices, &group, limit)?;
    let entries = lay::entries(model, choices.treatments(), &group, &solution);
    Some(Choice { entries, time: solution.time, bound: solution.bound })
}

fn solve_group(choices: &Choices<'_>, group: &Group<'_>, limit: Bytes) -> Option<Solution> {
    let mut best = None;
    let treatments = choices.treatments();
    let mut start = 0;
    // One share of offload per stage: a longer list of treatments is divided into one list per share.
    while start < treatments.len() {
        let share = treatments[start].offload;
        let end = (start..treatments.len()).find(|&t| treatments[t].offload != share);
        let end = end.unwrap_or(treatments.len());
        let own: Vec<usize> = (start..end).collect();
        best = group.solve(choices, limit, &own, best);
        start = end;
    }
    best
}

/// Combines the best choice of every stage, with an upper bound on the remaining gain.
fn by_stage(
    trial: &Trial<'_>,
    choices: &Choices<'_>,
    bare: &Plan,
    split: &[u64],
    rooms: &[StageRoom],
    limit: Bytes,
) -> Result<Option<(Variant, f64)>, Problem> {
    let mut entries = vec![StageRecompute::default(); split.len()];
    let mut least = Vec::new();
    for room in groups(bare, rooms) {
        let Some(own) = best_of_group(choices, trial.model, room, split.len(), limit) else {
            return Ok(None);
        };
        for (chunk, entry) in own.entries {
            entries[chunk] = entry;
        }
        least.push((own.time, own.bound));
    }
    let plan = lay::plan(bare, entries);
    let variant = trial.variant(&plan)?;
    let gap = bound::gap(trial, &plan, rooms, &least, trial.options.offload)?;
    Ok(Some((variant, gap)))
}

/// Tests whether each stage holds virtual stages of both directions, so that every one of them is on two
/// stages.
pub(crate) fn is_bidirectional(plan: &Plan) -> bool {
    plan.schedule.has_two_directions()
}

/// The plan with one entry per virtual stage.
pub(crate) fn laid(bare: &Plan, entries: Vec<StageRecompute>) -> Plan {
    lay::plan(bare, entries)
}

/// The groups of stages that select independently: `DualPipe` holds each virtual stage twice, on mirrored
/// stages.
pub(crate) fn groups<'r>(plan: &Plan, rooms: &'r [StageRoom]) -> &'r [StageRoom] {
    if is_bidirectional(plan) { &rooms[..rooms.len().div_ceil(2)] } else { rooms }
}

fn kinds(report: &MemoryReport) -> Vec<KindShare> {
    let Some(stage) = report.stages.get(report.worst) else { return Vec::new() };
    let mut list: Vec<KindShare> = Vec::new();
    for item in &stage.items {
        match list.iter_mut().find(|k| k.kind == item.kind) {
            Some(known) => known.bytes += item.bytes,
            None => list.push(KindShare { kind: item.kind, bytes: item.bytes, share: 0.0 }),
        }
    }
    for kind in &mut list {
        kind.share = kind.bytes / stage.device;
    }
    list.sort_by(|a, b| b.bytes.get().total_cmp(&a.bytes.get()));
    list
}

/// Context in which variants are priced.
struct Trial<'a> {
    model: &'a Model,
    cluster: &'a Cluster,
    machine: &'a Machine,
    options: &'a Options,
}

impl Trial<'_> {
    fn report(&self, plan: &Plan) -> Result<MemoryReport, Problem> {
        let software = SoftwareCatalogue::shared()?.get(&plan.software);
        let Self { model, cluster, .. } = *self;
        Ok(memory::report(&MemoryInput { model, cluster, plan, software, in_flight: None }))
    }

    fn variant(&self, plan: &Plan) -> Result<Variant, Problem> {
        let costing = Costing::new(self.model, self.cluster, plan, self.machine)?;
        let step_time = evaluate(&costing)?.time.total;
        let software = SoftwareCatalogue::shared()?.get(&plan.software);
        let (model, cluster) = (self.model, self.cluster);
        let peak = memory::peak(&MemoryInput { model, cluster, plan, software, in_flight: None });
        let probability = probability_of_fitting(peak.least(), cluster.accelerator.memory, software.sigma);
        Ok(Variant {
            what: what(plan),
            plan: plan.clone(),
            step_time,
            tokens_per_second: plan.tokens_per_step() as f64 / step_time.get(),
            memory: peak.device,
            probability_of_fitting: probability,
            // The solver's limit is the inverse of this function, except for rounding.
            fits: probability >= self.options.probability - 1e-9,
        })
    }

    fn stages(&self, none: &Variant, full: &Variant, best: &Variant) -> Result<Vec<StageRow>, Problem> {
        let costing = Costing::new(self.model, self.cluster, &best.plan, self.machine)?;
        let evaluation = evaluate(&costing)?;
        let reports = [&none.plan, &full.plan, &best.plan].map(|plan| self.report(plan));
        let [none, full, chosen] = reports;
        let (none, full, chosen) = (none?, full?, chosen?);
        let sigma = SoftwareCatalogue::shared()?.get(&best.plan.software).sigma;
        let memory =
            |report: &MemoryReport, stage: usize| report.stages.get(stage).map_or(Bytes::ZERO, |s| s.device);
        // The allocator releases half of the unused memory.
        let least = |stage: usize| {
            chosen.stages.get(stage).map_or(Bytes::ZERO, |s| s.device - (s.reserved - s.allocated) * 0.5)
        };
        let share = if is_bidirectional(&best.plan) { 0.5 } else { 1.0 };
        let row = |stage: usize| {
            let local = local_chunks(&best.plan, stage);
            let sum = |of: &dyn Fn(usize) -> Seconds| local.iter().map(|&c| of(c)).sum::<Seconds>() * share;
            StageRow {
                stage,
                layers: local.iter().map(|&c| evaluation.chunks[c].layers).sum(),
                choice: local.iter().map(|&c| choice(&best.plan, c, stage)).collect(),
                recompute: sum(&|c| evaluation.chunks[c].time.recompute),
                time: sum(&|c| evaluation.chunks[c].time.total()),
                memory_none: memory(&none, stage),
                memory_full: memory(&full, stage),
                memory: memory(&chosen, stage),
                probability_of_fitting: probability_of_fitting(
                    least(stage),
                    self.cluster.accelerator.memory,
                    sigma,
                ),
            }
        };
        Ok((0..chosen.stages.len()).map(row).collect())
    }
}

/// Recompute of a virtual stage, as text.
pub(crate) fn choice(plan: &Plan, chunk: usize, stage: usize) -> String {
    match &plan.stage_recompute {
        None => plan.recompute.short(),
        Some(list) if list.len() == plan.pipeline_parallel as usize && !is_bidirectional(plan) => {
            list.get(stage).map_or_else(String::new, StageRecompute::short)
        }
        Some(list) => list.get(chunk).map_or_else(String::new, StageRecompute::short),
    }
}

/// Recompute of a plan, as short text.
pub(crate) fn what(plan: &Plan) -> String {
    match &plan.stage_recompute {
        Some(list) if list.windows(2).all(|pair| pair[0] == pair[1]) => {
            list.first().map_or_else(|| "none".to_owned(), |s| format!("{} on every stage", s.short()))
        }
        Some(_) => "by stage".to_owned(),
        None => plan.recompute.short(),
    }
}
