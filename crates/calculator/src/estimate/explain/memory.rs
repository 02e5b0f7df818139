//! The worst stage's memory by kind.

use super::super::Estimate;
use super::explanation::{Explanation, explanation, given, measure};
use crate::costing::Costing;
use crate::evaluate::stage_parameters;
use crate::memory::{Kind, SoftwareCatalogue, chance};
use crate::partition::padded_vocabulary;
use crate::stage;

/// Formula of a kind of memory.
const fn formula(kind: Kind) -> &'static str {
    match kind {
        Kind::Parameters => "(dense / shards + routed / expert_shards) x bytes per parameter",
        Kind::Gradients => "(dense / shards + routed / expert_shards) x bytes per gradient",
        Kind::MasterWeights => "(dense / shards + routed / expert_shards) x bytes per master weight",
        Kind::OptimizerMoments => "(dense / shards + routed / expert_shards) x moments x bytes per moment",
        Kind::NarrowWeights => "matrix parameters x bytes of narrow copies",
        Kind::Activations => {
            "sum over layers of tensors kept for backward x micro-batches in flight; with dropout and unfused \
             attention sbh(34 + 5as/h) per layer"
        }
        Kind::WorkingSet => "recomputed tensors and activation gradients of the largest layer",
        Kind::Logits => "tokens x vocabulary / tensor parallel x bytes per logit",
        Kind::CommunicationBuffers => {
            "gathered parameters, full gradients, buckets, and buffers between stages"
        }
        Kind::OptimizerTemporaries => "parameters stepped x temporary bytes",
        Kind::Workspace => "libraries' workspaces, a constant of the software generation",
        Kind::Fragmentation => "allocated x fragmentation",
        Kind::Context => "driver context and communicators",
    }
}

/// The identifier of a kind.
pub(in super::super) const fn kind_id(kind: Kind) -> &'static str {
    match kind {
        Kind::Parameters => "parameters",
        Kind::Gradients => "gradients",
        Kind::MasterWeights => "master_weights",
        Kind::OptimizerMoments => "optimizer_moments",
        Kind::NarrowWeights => "narrow_weights",
        Kind::Activations => "activations",
        Kind::WorkingSet => "working_set",
        Kind::Logits => "logits",
        Kind::CommunicationBuffers => "communication_buffers",
        Kind::OptimizerTemporaries => "optimizer_temporaries",
        Kind::Workspace => "workspace",
        Kind::Fragmentation => "fragmentation",
        Kind::Context => "context",
    }
}

/// Explanations of the peak, of each kind of it, and of the probability of fitting.
pub(super) fn memory(costing: &Costing<'_>, estimate: &Estimate) -> Vec<Explanation> {
    let memory = &estimate.memory;
    let Some(worst) = memory.stages.get(memory.worst) else { return Vec::new() };
    let place = format!("stage {}", memory.worst);
    let kinds = worst
        .kinds
        .iter()
        .map(|k| measure(kind_id(k.kind), k.bytes.get(), "B", &format!("memory.{}", kind_id(k.kind))));
    let mut list = vec![explanation(
        "memory.peak",
        "memory of the worst stage at its peak",
        (worst.device.get(), "B"),
        "sum of all kinds",
        kinds.collect(),
        &format!("{place}, {:?}", worst.moment),
    )];
    let chunks = stage::chunks(costing);
    let mut local = stage_parameters(costing, &chunks).get(memory.worst).copied().unwrap_or_default();
    // Memory also contains the rows that pad the vocabulary.
    let ends = estimate.stages.get(memory.worst).map_or(0, |stage| match (stage.embedding, stage.head) {
        (true, true) if costing.model.tied_embeddings => 1,
        (embedding, head) => u64::from(embedding) + u64::from(head),
    });
    let padding = padded_vocabulary(costing.model.vocabulary, costing.plan) - costing.model.vocabulary as f64;
    let padded = if costing.trains_weights() { &mut local.dense } else { &mut local.frozen_dense };
    *padded += ends as f64 * padding / costing.plan.tensor_parallel as f64 * costing.model.hidden_size as f64;
    let precision = &costing.plan.precision;
    for kind in &worst.kinds {
        // Memory that each rank holds whole below the ZeRO stage that shards it.
        let held = |from: u8, more: &[(&str, f64, &str)]| {
            let held = if from == 3 { local.whole() } else { local };
            let mut inputs = super::explanation::shards(
                costing.plan,
                held,
                &place,
                costing.plan.sharding.zero_stage >= from,
            );
            inputs.extend(more.iter().map(|(name, value, source)| given(name, *value, source)));
            inputs
        };
        let inputs = match kind.kind {
            Kind::Parameters => {
                held(3, &[("bytes per parameter", precision.parameters.bytes(), "plan.precision.parameters")])
            }
            Kind::Gradients => {
                held(2, &[("bytes per gradient", precision.gradients.bytes(), "plan.precision.gradients")])
            }
            Kind::MasterWeights => {
                let each = kind.bytes.get() / super::explanation::per_shard(&held(1, &[])).max(1.0);
                held(1, &[("bytes per master weight", each, "plan.precision.master")])
            }
            Kind::OptimizerMoments => {
                let each = precision.moments.bytes();
                let moments = kind.bytes.get() / super::explanation::per_shard(&held(1, &[])).max(1.0) / each;
                held(
                    1,
                    &[
                        ("moments", moments, "plan.optimizer"),
                        ("bytes per moment", each, "plan.precision.moments"),
                    ],
                )
            }
            Kind::Activations => worst
                .in_flight
                .iter()
                .enumerate()
                .map(|(c, &n)| given(&format!("in flight on chunk {c}"), n, "schedule"))
                .chain([given("tokens", costing.tokens, "micro-batch x sequence / context parallel")])
                .collect(),
            Kind::Logits => vec![
                given("tokens", costing.tokens, "micro-batch x sequence / context parallel"),
                given("vocabulary", padded_vocabulary(costing.model.vocabulary, costing.plan), "padded"),
                given("tensor parallel", costing.plan.tensor_parallel as f64, "plan"),
            ],
            _ => Vec::new(),
        };
        let id = kind_id(kind.kind);
        list.push(explanation(
            &format!("memory.{id}"),
            &format!("{} of {place}", id.replace('_', " ")),
            (kind.bytes.get(), "B"),
            formula(kind.kind),
            inputs,
            "catalog/memory.toml: tensors kept by the software generation",
        ));
    }
    if let Ok(catalogue) = SoftwareCatalogue::shared() {
        let sigma = catalogue.get(&costing.plan.software).sigma;
        let mut fits = explanation(
            "memory.probability_of_fitting",
            "probability that it fits",
            (memory.probability_of_fitting * 100.0, "%"),
            "100 x Phi(ln(device_memory / peak) / sigma)",
            vec![
                measure("device_memory", memory.device_memory.get(), "B", "as reported by the driver"),
                measure("peak", memory.peak.get(), "B", "memory.peak"),
                given("sigma", sigma, "spread of past errors, catalog/memory.toml"),
            ],
            "measured / predicted is log-normal",
        );
        fits.text = chance(memory.probability_of_fitting);
        list.push(fits);
    }
    list
}
