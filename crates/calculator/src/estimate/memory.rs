//! The memory report, summed up by kind for every stage, with the largest items of the worst one.

use crate::costing::Costing;
use crate::memory::{Fit, Item, Kind, MemoryInput, Moment, SoftwareCatalogue, report};
use railwright_spec::model::Module;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Bytes;
use serde::Serialize;
use std::collections::BTreeMap;

/// Number of listed items of the worst stage.
const TOP: usize = 12;

/// Memory of the run, compared with the device's.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryEstimate {
    /// Memory of the device of the worst stage.
    pub device_memory: Bytes,
    /// Memory of the worst stage, including context.
    pub peak: Bytes,
    /// Free memory on it; negative if the allocator must release reserved memory, or if the plan does not
    /// fit.
    pub margin: Bytes,
    /// Minimum memory with which the worst stage runs, after the allocator releases unused memory.
    pub least: Bytes,
    /// Verdict by the probability of fitting.
    pub fit: Fit,
    /// Probability that the real peak fits.
    pub probability_of_fitting: f64,
    /// True if the peak is close enough to the limit to cause allocator retries.
    pub near_limit: bool,
    /// The stage with the largest need.
    pub worst: usize,
    /// Memory of every stage.
    pub stages: Vec<StageMemory>,
    /// The largest items of the worst stage.
    pub top: Vec<TopItem>,
}

/// One stage.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StageMemory {
    /// The stage, from 0.
    pub stage: usize,
    /// Time of its peak.
    pub moment: Moment,
    /// Micro-batches in flight, per chunk.
    pub in_flight: Vec<f64>,
    /// Bytes allocated by tensors.
    pub allocated: Bytes,
    /// Bytes reserved by the allocator.
    pub reserved: Bytes,
    /// Memory reported by the device; the kinds sum to it.
    pub device: Bytes,
    /// Memory of the device; that of the smallest kind on the stage.
    pub available: Bytes,
    /// Memory by kind, in the order of [`Kind`].
    pub kinds: Vec<KindBytes>,
}

/// Memory of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KindBytes {
    /// Purpose.
    pub kind: Kind,
    /// Amount.
    pub bytes: Bytes,
}

/// Memory of one kind and module, over all layers of the stage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TopItem {
    /// Purpose.
    pub kind: Kind,
    /// Module, if any.
    pub module: Option<Module>,
    /// Amount.
    pub bytes: Bytes,
}

pub(super) fn estimate(costing: &Costing<'_>) -> Result<MemoryEstimate, Problem> {
    let catalogue = SoftwareCatalogue::shared()?;
    let report = report(&MemoryInput {
        model: costing.model,
        cluster: costing.cluster,
        plan: costing.plan,
        software: catalogue.get(&costing.plan.software),
        in_flight: None,
    });
    let stages: Vec<StageMemory> = report
        .stages
        .iter()
        .map(|s| StageMemory {
            stage: s.stage,
            moment: s.moment,
            in_flight: s.in_flight.clone(),
            allocated: s.allocated,
            reserved: s.reserved,
            device: s.device,
            available: s.available,
            kinds: by_kind(&s.items),
        })
        .collect();
    Ok(MemoryEstimate {
        device_memory: report.device_memory,
        peak: report.device_memory - report.margin,
        margin: report.margin,
        least: report.least,
        fit: report.fit,
        probability_of_fitting: report.probability_of_fitting,
        near_limit: report.near_limit,
        worst: report.worst,
        top: report.stages.get(report.worst).map_or_else(Vec::new, |s| top(&s.items)),
        stages,
    })
}

fn by_kind(items: &[Item]) -> Vec<KindBytes> {
    let mut sums: BTreeMap<Kind, Bytes> = BTreeMap::new();
    for item in items {
        *sums.entry(item.kind).or_default() += item.bytes;
    }
    sums.into_iter().map(|(kind, bytes)| KindBytes { kind, bytes }).collect()
}

fn top(items: &[Item]) -> Vec<TopItem> {
    let mut list: Vec<TopItem> = Vec::new();
    for item in items {
        match list.iter_mut().find(|t| t.kind == item.kind && t.module == item.module) {
            Some(known) => known.bytes += item.bytes,
            None => list.push(TopItem { kind: item.kind, module: item.module, bytes: item.bytes }),
        }
    }
    list.sort_by(|a, b| b.bytes.get().total_cmp(&a.bytes.get()));
    list.truncate(TOP);
    list
}
