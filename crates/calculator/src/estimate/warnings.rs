//! Doubts about an estimate, as warnings with identifiers documented by `railwright explain`.

mod calibration;

use super::{Estimate, MemoryEstimate, breakdown::Part};
use crate::collectives::{MEASURED_RACKS, Source};
use crate::costing::{Costing, clusters_of_stage};
use crate::memory::{FUSED_LOSS, Kind, MemoryInput, SoftwareCatalogue, UNSHARDED_ACCUMULATION, chance, peak};
use railwright_spec::cluster::Cluster;
use railwright_spec::human;
use railwright_spec::model::Mixer;
use railwright_spec::plan::{AttentionKernel, Layout, Recompute};
use railwright_spec::problem::{Warning, either};
use railwright_spec::quantity::{Bytes, Seconds};
use railwright_spec::software::{feature, features_of};

/// Margin below which a fit is a near miss of the limit, as a share of the device's memory.
const CLOSE: f64 = 0.05;
/// Minimum bubble share for a warning.
const MUCH_BUBBLE: f64 = 0.30;
/// Minimum host share for a warning.
const MUCH_HOST: f64 = 0.15;
/// Maximum ratio of the busiest stage's work to the mean without a warning.
const UNEVEN: f64 = 1.15;
/// Minimum share of communication in the step for a warning.
const LITTLE: f64 = 0.01;
/// Tokens per micro-batch and rank that the operator tables cover.
const MEASURED_TOKENS: (f64, f64) = (512.0, 65_536.0);

/// All warnings, the most severe first.
pub(super) fn all(costing: &Costing<'_>, estimate: &Estimate) -> Vec<Warning> {
    let mut list = Vec::new();
    left_out(costing, &mut list);
    kinds_of_device(costing, &mut list);
    memory(costing, estimate, &mut list);
    accumulation(costing, estimate, &mut list);
    pipeline(costing, estimate, &mut list);
    groups(costing, &mut list);
    documents(costing, &mut list);
    foundation(costing, estimate, &mut list);
    list
}

/// Adds the warnings of the plan. Of duplicates, the estimate's is kept, because it has the figures.
pub(super) fn with_plan(list: &mut Vec<Warning>, of_plan: Vec<Warning>) {
    /// Warnings of the plan that the estimate repeats with figures.
    const SAME: [(&str, &str); 1] = [("tensor-parallel-leaves-domain", "tensor-parallel-across-domains")];
    for warning in of_plan {
        let other = SAME.iter().find(|(plan, _)| *plan == warning.id).map(|(_, estimate)| *estimate);
        if !list.iter().any(|known| known.id == warning.id || Some(known.id.as_str()) == other) {
            list.push(warning);
        }
    }
}

fn share(estimate: &Estimate, id: &str) -> f64 {
    estimate.time.find(id).map_or(0.0, |p: &Part| p.share)
}

/// Warns about devices of several kinds: no measured run has several, although stages can.
fn kinds_of_device(costing: &Costing<'_>, list: &mut Vec<Warning>) {
    if !costing.is_mixed() {
        return;
    }
    let plan = costing.plan;
    let is_shared = |stage: &usize| clusters_of_stage(costing.cluster, plan, *stage).nth(1).is_some();
    let shared = (0..plan.pipeline_parallel as usize).filter(is_shared).count();
    let of_stages = if shared == 0 {
        "each stage of this plan has one kind of device".to_owned()
    } else {
        let count = human::several(shared as u64, "stage");
        format!("devices of several kinds share {count}, which runs at the speed of the slowest kind")
    };
    let is_unfused = |kind: &Cluster| {
        let kernel = costing.software.asked_kernel(plan, kind.accelerator.device_architecture());
        kernel == AttentionKernel::Unfused
    };
    let main = is_unfused(costing.cluster);
    let of_memory = if costing.cluster.kinds().any(|(kind, _)| is_unfused(kind) != main) {
        let name = &costing.cluster.accelerator.name;
        format!("; the memory of all stages assumes the attention kernel of {name}")
    } else {
        String::new()
    };
    list.push(Warning::new(
        "devices-of-several-kinds",
        format!("the interval is derived from runs on one kind of device; {of_stages}{of_memory}"),
    ));
}

/// Warns about parts of the model that the time and the memory exclude.
fn left_out(costing: &Costing<'_>, list: &mut Vec<Warning>) {
    let model = costing.model;
    let mut parts: Vec<String> =
        model.towers.iter().map(|tower| format!("the stack `{}`", tower.name)).collect();
    parts.extend(model.left_out.iter().map(|key| format!("`{key}`")));
    for mixer in model.layer_kinds.iter().flat_map(|layer| layer.mixer.each()) {
        if let Mixer::Unpriced { name } = mixer {
            let part = format!("layers of `{name}`");
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
    }
    if !parts.is_empty() {
        list.push(Warning::new(
            "model-part-not-priced",
            format!(
                "time and memory exclude part of the model ({}), so both are lower bounds",
                parts.join(", ")
            ),
        ));
    }
}

/// Remedies of a stage that needs too much memory: those that the plan leaves open. More stages or shards are
/// none if replicas do not provide the devices, or if the logits alone exceed the device.
fn less_memory(costing: &Costing<'_>, memory: &MemoryEstimate) -> String {
    let plan = costing.plan;
    let is_full = plan.recompute == Recompute::Full { layers: None } && plan.stage_recompute.is_none();
    let shares = plan.data_parallel * plan.context_parallel > 1;
    let is_sharded = plan.sharding.zero_stage >= 3 && plan.sharding.group.is_none();
    let mut ways = Vec::new();
    // The items are in order of size.
    let logits = memory.top.first().filter(|item| item.kind == Kind::Logits);
    let fused = costing.software.with_feature(FUSED_LOSS, &costing.machine.architecture);
    if let (Some(_), Some(software)) = (logits, fused) {
        ways.push(format!("a fused loss, since logits are the largest item (`--software {}`)", software.id));
    }
    if logits.is_none_or(|logits| logits.bytes <= memory.device_memory) {
        let layers = costing.model.num_layers();
        let more = [
            ("recompute", !is_full),
            ("sharding", shares && !is_sharded),
            ("stages", plan.data_parallel > 1 && plan.pipeline_parallel < layers),
        ];
        let open = more.into_iter().filter(|(_, is_open)| *is_open);
        let more: Vec<String> = open.map(|(name, _)| name.to_owned()).collect();
        if !more.is_empty() {
            ways.push(format!("more {}", either(&more)));
        }
    }
    if plan.micro_batch > 1 {
        ways.push("smaller micro-batches".to_owned());
    }
    if ways.is_empty() {
        ways.push("more devices, or offload to the host".to_owned());
    }
    format!("use {}", ways.join(", or "))
}

/// Warns that gradients of several micro-batches may be whole under full sharding, where the framework has
/// both ways.
fn accumulation(costing: &Costing<'_>, estimate: &Estimate, list: &mut Vec<Warning>) {
    let plan = costing.plan;
    let is_known = features_of(&plan.software).any(|own| own == UNSHARDED_ACCUMULATION);
    let id = format!("{}+{UNSHARDED_ACCUMULATION}", plan.software);
    let has_both = feature(UNSHARDED_ACCUMULATION)
        .is_some_and(|feature| costing.software.may_have(feature, &costing.machine.architecture));
    if is_known || plan.micro_batches() < 2 || !plan.holds_gradient_shards() || !has_both {
        return;
    }
    let Ok(catalogue) = SoftwareCatalogue::shared() else { return };
    let input = MemoryInput {
        model: costing.model,
        cluster: costing.cluster,
        plan,
        software: catalogue.get(&id),
        in_flight: None,
    };
    let other = peak(&input).device;
    if other > estimate.memory.peak * (1.0 + CLOSE) {
        list.push(Warning::new(
            "gradients-may-accumulate-whole",
            format!(
                "gradients are assumed to be reduced in each of {} micro-batches; with `no_sync` in the training loop, they stay unsharded and the peak is {} (`--software {id}`)",
                plan.micro_batches(),
                human::bytes(other)
            ),
        ));
    }
}

fn memory(costing: &Costing<'_>, estimate: &Estimate, list: &mut Vec<Warning>) {
    let memory = &estimate.memory;
    let remedies = || less_memory(costing, memory);
    if !memory.fit.is_possible() {
        list.push(Warning::new(
            "memory-does-not-fit",
            format!(
                "stage {} needs {} of {}; {}",
                memory.worst,
                human::bytes(memory.peak),
                human::bytes(memory.device_memory),
                remedies()
            ),
        ));
        return;
    }
    if memory.least > memory.device_memory {
        list.push(Warning::new(
            "memory-margin-small",
            format!(
                "stage {} needs {} of {} even after the allocator releases unused memory (expected peak {}): it fits with a \
                 probability of {}; {}",
                memory.worst,
                human::bytes(memory.least),
                human::bytes(memory.device_memory),
                human::bytes(memory.peak),
                chance(memory.probability_of_fitting),
                remedies()
            ),
        ));
    } else if memory.margin < Bytes::ZERO {
        list.push(Warning::new(
            "memory-margin-small",
            format!(
                "stage {} reserves {} of {}, or {} after the allocator releases unused memory: it fits with a probability of {}",
                memory.worst,
                human::bytes(memory.peak),
                human::bytes(memory.device_memory),
                human::bytes(memory.least),
                chance(memory.probability_of_fitting)
            ),
        ));
    } else if memory.margin < memory.device_memory * CLOSE {
        list.push(Warning::new(
            "memory-margin-small",
            format!(
                "only {} of {} are free on stage {}: it fits with a probability of {}",
                human::bytes(memory.margin),
                human::bytes(memory.device_memory),
                memory.worst,
                chance(memory.probability_of_fitting)
            ),
        ));
    }
    if memory.near_limit {
        list.push(Warning::new(
            "memory-soft-wall",
            "memory is nearly full: expect allocator retries, which are not included in the step time",
        ));
    }
}

fn pipeline(costing: &Costing<'_>, estimate: &Estimate, list: &mut Vec<Warning>) {
    let plan = costing.plan;
    if plan.pipeline_parallel > 1 && plan.micro_batches() < plan.pipeline_parallel {
        list.push(Warning::new(
            "few-micro-batches",
            format!(
                "{} micro-batches cannot fill {} stages; use a larger global batch, smaller micro-batches or \
                 fewer stages",
                plan.micro_batches(),
                plan.pipeline_parallel
            ),
        ));
    }
    let bubble = share(estimate, "bubble");
    if bubble > MUCH_BUBBLE {
        list.push(Warning::new(
            "bubble-large",
            format!(
                "the pipeline bubble is {} of the step; use more micro-batches, more virtual stages or fewer stages",
                human::percent(bubble)
            ),
        ));
    }
    let busy: Vec<Seconds> = estimate.stages.iter().map(|s| s.busy).collect();
    let mean = busy.iter().copied().sum::<Seconds>() / busy.len().max(1) as f64;
    if let Some(worst) = estimate.stages.iter().find(|s| s.critical)
        && estimate.stages.len() > 1
        && worst.busy > mean * UNEVEN
    {
        list.push(Warning::new(
            "stages-uneven",
            format!(
                "stage {} takes {} longer than the mean stage and delays the others; set plan.layers_per_stage",
                worst.stage,
                human::percent(worst.busy / mean - 1.0)
            ),
        ));
    }
    let host = share(estimate, "host");
    if host > MUCH_HOST {
        list.push(Warning::new(
            "host-bound",
            format!(
                "devices wait for kernel launches for {} of the step; use larger micro-batches, CUDA graphs or fewer kernels",
                human::percent(host)
            ),
        ));
    }
}

fn groups(costing: &Costing<'_>, list: &mut Vec<Warning>) {
    let layout = &costing.layout;
    let domain = costing.plan.domain(costing.cluster);
    let has_experts = costing.model.is_mixture_of_experts();
    for (name, group) in layout.torn().filter(|(name, _)| has_experts || !name.starts_with("expert")) {
        let whole = match Layout::segment(costing.plan, domain) {
            Some(size) => format!(
                "; `plan.segment={size}` keeps them within a domain and leaves {} of its {domain} devices idle",
                domain - size
            ),
            None => String::new(),
        };
        list.push(Warning::new(
            "groups-across-two-domains",
            format!(
                "some {name}-parallel groups of {} ranks span two scale-up domains of {domain}, with {} ranks in one of them; these groups delay all others{whole}",
                group.ranks, group.least
            ),
        ));
    }
    if !layout.tensor.is_inside_domain() && !layout.tensor.straddles_domains() {
        let is_in_server = layout.tensor.ranks <= costing.cluster.devices_per_node;
        list.push(Warning::new(
            "tensor-parallel-across-domains",
            format!(
                "{} tensor-parallel ranks span {} scale-up domains of {}, so every layer communicates over {}; keep TP within a domain",
                layout.tensor.ranks,
                layout.tensor.domains(),
                domain,
                if is_in_server { "the bus of the server" } else { "the network" }
            ),
        ));
    }
    let is_wide = !layout.expert.is_inside_domain() && !layout.expert.straddles_domains();
    let is_hidden = costing.plan.overlap.expert || costing.software.overlap_spanning_experts;
    if costing.plan.expert_parallel > 1 && is_wide && !is_hidden {
        // Recommended only if it has an effect.
        let overlap = if costing.software.expert_overlap_exposed < 1.0 { "overlap.expert or " } else { "" };
        list.push(Warning::new(
            "expert-parallel-across-domains",
            format!(
                "the all-to-all of {} expert-parallel ranks spans {} scale-up domains and is not overlapped; use {overlap}a smaller group",
                layout.expert.ranks,
                layout.expert.domains()
            ),
        ));
    }
    let software = costing.software;
    let is_same = software.expert_overlap_exposed >= 1.0 || is_wide && software.overlap_spanning_experts;
    // A default that has no effect is no choice of the user.
    let is_chosen = costing.plan.overlap.expert && !software.overlap.expert;
    if costing.plan.expert_parallel > 1 && is_chosen && is_same {
        let of = if is_wide { " across scale-up domains" } else { "" };
        list.push(Warning::new(
            "expert-overlap-without-effect",
            format!(
                "overlap.expert has no effect on the step time here: measured runs of {} with and without it show \
                 the same cost of expert communication{of}",
                software.id
            ),
        ));
    }
    let (low, high) = MEASURED_TOKENS;
    if !(low..=high).contains(&costing.tokens) {
        list.push(Warning::new(
            "tokens-outside-measurements",
            format!(
                "{} tokens per micro-batch and rank are outside the measured range of {low} to {high}",
                human::count(costing.tokens)
            ),
        ));
    }
}

/// Warns about ranks with unequal attention work, which the step time excludes.
fn documents(costing: &Costing<'_>, list: &mut Vec<Warning>) {
    if costing.plan.document_length_cv > 0.0 {
        list.push(Warning::new(
            "documents-imbalanced",
            "sequences with long documents need more attention compute; the step time excludes waits for them and is a lower bound"
                .to_owned(),
        ));
    }
}

fn foundation(costing: &Costing<'_>, estimate: &Estimate, list: &mut Vec<Warning>) {
    let name = &costing.cluster.accelerator.name;
    let weak = super::provenance::weak_operator_share(&estimate.provenance);
    if weak > 0.5 {
        list.push(Warning::new(
            "operators-derived",
            format!(
                "{} of operator time is derived from other accelerators or the data sheet: no measurements on {name}",
                human::percent(weak)
            ),
        ));
    }
    if estimate.communication.iter().any(|r| r.domains > 1 && r.source == Source::Derived) {
        list.push(Warning::new(
            "network-uncalibrated",
            format!(
                "inter-domain collectives use the data-sheet bandwidth of {}, not measurements of this fabric",
                costing.cluster.network.kind
            ),
        ));
    }
    racks(estimate, list);
    calibration::warnings(costing, estimate, list);
    let software = costing.software;
    let architecture = costing.machine.architecture.as_str();
    let has = costing.machine.device.includes_sustained_gemm_rate(costing.compute_type())
        || software.matmul.keys().any(|key| key.split('.').next() == Some(architecture));
    if !has {
        list.push(Warning::new(
            "software-uncalibrated",
            format!(
                "the constants of generation `{}` are not fitted to runs on {architecture}; its defaults are \
                 used",
                software.id
            ),
        ));
    }
}

/// Warns about the costliest collective over a number of racks without measurements.
fn racks(estimate: &Estimate, list: &mut Vec<Warning>) {
    let costly = estimate.communication.iter().filter(|row| row.time > estimate.step_time * LITTLE);
    let open = costly.filter_map(|row| row.unmeasured.map(|bounds| (row, bounds)));
    let worst = open.max_by(|a, b| a.0.time.get().total_cmp(&b.0.time.get()));
    if let Some((row, [least, most])) = worst {
        let [near, far] = MEASURED_RACKS;
        list.push(Warning::new(
            "racks-unmeasured",
            format!(
                "{} in {} spans {} racks, but measurements are published only for {near} and {far} racks: one call takes {} to {}, and all calls of a step take {} to {}",
                row.operation.replace('_', "-"),
                row.title,
                row.domains,
                human::seconds(least),
                human::seconds(most),
                human::seconds(least * row.count),
                human::seconds(most * row.count)
            ),
        ));
    }
}

#[cfg(test)]
mod tests;
