//! What is doubtful about an estimate, each under an identifier that `railwright explain` knows.

mod calibration;

use super::{Estimate, breakdown::Part};
use crate::collectives::Source;
use crate::costing::Costing;
use railwright_spec::human;
use railwright_spec::plan::Layout;
use railwright_spec::problem::Warning;
use railwright_spec::quantity::{Bytes, Seconds};

/// Margin below which a fit is called close, as a share of the device's memory.
const CLOSE: f64 = 0.05;
/// Bubble share from which a warning is due.
const MUCH_BUBBLE: f64 = 0.30;
/// Host share from which a warning is due.
const MUCH_HOST: f64 = 0.15;
/// How much longer the busiest stage may work than the mean.
const UNEVEN: f64 = 1.15;
/// Tokens per micro batch and rank that the operator tables cover.
const MEASURED_TOKENS: (f64, f64) = (512.0, 65_536.0);

/// All warnings, the gravest first.
pub(super) fn all(costing: &Costing<'_>, estimate: &Estimate) -> Vec<Warning> {
    let mut list = Vec::new();
    memory(estimate, &mut list);
    pipeline(costing, estimate, &mut list);
    groups(costing, &mut list);
    foundation(costing, estimate, &mut list);
    list
}

fn share(estimate: &Estimate, id: &str) -> f64 {
    estimate.time.find(id).map_or(0.0, |p: &Part| p.share)
}

fn memory(estimate: &Estimate, list: &mut Vec<Warning>) {
    let memory = &estimate.memory;
    if !memory.fits {
        list.push(Warning::new(
            "memory-does-not-fit",
            format!(
                "stage {} needs {} of {}; recompute, shard or split more, or use smaller micro batches",
                memory.worst,
                human::bytes(memory.peak),
                human::bytes(memory.device_memory)
            ),
        ));
        return;
    }
    if memory.margin < Bytes::ZERO {
        list.push(Warning::new(
            "memory-margin-small",
            format!(
                "stage {} would take {} of {} and runs in {} only if the allocator gives back what it holds unused: it fits with a \
                 probability of {}",
                memory.worst,
                human::bytes(memory.peak),
                human::bytes(memory.device_memory),
                human::bytes(memory.least),
                human::percent(memory.probability_of_fitting)
            ),
        ));
    } else if memory.margin < memory.device_memory * CLOSE {
        list.push(Warning::new(
            "memory-margin-small",
            format!(
                "only {} of {} are left on stage {}: it fits with a probability of {}",
                human::bytes(memory.margin),
                human::bytes(memory.device_memory),
                memory.worst,
                human::percent(memory.probability_of_fitting)
            ),
        ));
    }
    if memory.near_limit {
        list.push(Warning::new(
            "memory-soft-wall",
            "memory is so nearly full that the allocator will free and ask again, which can slow every step; the step time assumes that it does not",
        ));
    }
}

fn pipeline(costing: &Costing<'_>, estimate: &Estimate, list: &mut Vec<Warning>) {
    let plan = costing.plan;
    if plan.pipeline_parallel > 1 && plan.micro_batches() < plan.pipeline_parallel {
        list.push(Warning::new(
            "few-micro-batches",
            format!(
                "{} micro batches cannot fill {} stages; use a larger global batch, smaller micro batches or fewer stages",
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
                "the pipeline idles for {} of the step; more micro batches, virtual stages or fewer stages shrink it",
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
                "stage {} works {} longer than the mean stage and the others wait for it; set plan.layers_per_stage",
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
                "devices wait for the host to launch kernels for {} of the step; larger micro batches, CUDA graphs or fewer kernels help",
                human::percent(host)
            ),
        ));
    }
}

fn groups(costing: &Costing<'_>, list: &mut Vec<Warning>) {
    let layout = &costing.layout;
    let domain = costing.cluster.scale_up.domain_size;
    let has_experts = costing.model.is_mixture_of_experts();
    for (name, group) in layout.torn().filter(|(name, _)| has_experts || !name.starts_with("expert")) {
        let whole = match Layout::segment(costing.plan, domain) {
            Some(size) => format!(
                "; `cluster.scale_up.domain={size}` keeps all of them whole and leaves {} of {domain} devices idle",
                domain - size
            ),
            None => String::new(),
        };
        list.push(Warning::new(
            "groups-across-two-domains",
            format!(
                "some {name}-parallel groups of {} ranks lie across two scale-up domains of {domain}, with {} ranks in one of them, and all wait for these{whole}",
                group.ranks, group.least
            ),
        ));
    }
    if !layout.tensor.is_inside_domain() && !layout.tensor.is_torn() {
        list.push(Warning::new(
            "tensor-parallel-across-domains",
            format!(
                "{} tensor-parallel ranks span {} scale-up domains of {}, so every layer waits for the network; keep tensor parallel inside a domain",
                layout.tensor.ranks,
                layout.tensor.domains(),
                costing.cluster.scale_up.domain_size
            ),
        ));
    }
    let is_wide = !layout.expert.is_inside_domain() && !layout.expert.is_torn();
    if costing.plan.expert_parallel > 1 && is_wide && !costing.plan.overlap.expert {
        list.push(Warning::new(
            "expert-parallel-across-domains",
            format!(
                "tokens of {} expert-parallel ranks cross {} scale-up domains and nothing hides it; overlap.expert or a smaller group helps",
                layout.expert.ranks,
                layout.expert.domains()
            ),
        ));
    }
    let (low, high) = MEASURED_TOKENS;
    if !(low..=high).contains(&costing.tokens) {
        list.push(Warning::new(
            "tokens-outside-measurements",
            format!(
                "{} tokens per micro batch and rank lie outside of the {low} to {high} that operators were measured at",
                human::count(costing.tokens)
            ),
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
                "{} of the operators' time rests on laws of other accelerators or on the data sheet, for lack of measurements on {name}",
                human::percent(weak)
            ),
        ));
    }
    if estimate.communication.iter().any(|r| r.domains > 1 && r.source == Source::Derived) {
        list.push(Warning::new(
            "network-uncalibrated",
            format!(
                "collectives between domains follow from data-sheet bandwidths of {}, not from measurements of this fabric",
                costing.cluster.network.kind
            ),
        ));
    }
    calibration::warnings(costing, estimate, list);
    let software = costing.software;
    let architecture = costing.machine.architecture.as_str();
    let knows = costing.machine.device.sustains_products(costing.compute_type())
        || software.matmul.keys().any(|key| key.split('.').next() == Some(architecture));
    if !knows {
        list.push(Warning::new(
            "software-uncalibrated",
            format!(
                "the generation `{}` has no runs on {architecture} behind its constants; its defaults are used",
                software.id
            ),
        ));
    }
}

#[cfg(test)]
mod tests;
