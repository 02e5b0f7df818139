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
mod share;
mod table;
#[cfg(test)]
mod tests;
mod trial;
mod uniform;

pub use advice::Remedy;
pub use flags::{Flags, flags, framework_name};
use lay::bare;
pub(crate) use share::{best_of_group, groups, treatments};
pub use table::{LayerTable, ModuleRow};
use trial::Trial;
pub use trial::{Options, StageRow, Variant};
pub(crate) use trial::{choice, is_bidirectional};

use railwright_calculator::choices::Choices;
use railwright_calculator::costing::{Costing, Machine};
use railwright_calculator::memory::{Kind, MemoryReport, StageRoom, layers_per_chunk};
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::{Plan, Recompute, StageRecompute};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Bytes;
use serde::Serialize;

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

/// The plan with one entry per virtual stage.
pub(crate) fn laid(bare: &Plan, entries: Vec<StageRecompute>) -> Plan {
    lay::plan(bare, entries)
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
