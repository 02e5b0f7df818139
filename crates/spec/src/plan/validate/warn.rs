//! Warnings about valid plans.

use super::super::{AttentionKernel, Plan, Recompute, RecomputeModule};
use crate::cluster::Cluster;
use crate::human;
use crate::model::{Mixer, Model};
use crate::problem::Warning;

/// Warnings about a plan that passed [`super::validate`].
pub fn warnings(model: &Model, cluster: &Cluster, plan: &Plan) -> Vec<Warning> {
    let mut found = Vec::new();
    let mut warn = |id: &str, message: String| found.push(Warning::new(id, message));
    let (tp, pp, cp) = (plan.tensor_parallel, plan.pipeline_parallel, plan.context_parallel);
    let domain = plan.domain(cluster);
    if tp > domain && tp > 1 {
        warn(
            "tensor-parallel-leaves-domain",
            format!(
                "{tp} tensor-parallel ranks exceed the scale-up domain of {domain}; expect less than half of the throughput"
            ),
        );
    }
    if plan.sequence_parallel && tp == 1 {
        warn(
            "sequence-parallel-without-tensor",
            "sequence parallelism has no effect without tensor parallelism".to_owned(),
        );
    }
    if !plan.sequence_parallel && tp > 1 && plan.expert_parallel > 1 {
        warn(
            "expert-and-tensor-without-sequence",
            "Megatron rejects expert parallelism with tensor parallelism unless sequence parallelism is on"
                .to_owned(),
        );
    }
    let is_once = plan.gathers_once()
        || plan.gradient_reductions(plan.micro_batches()) == 1 && plan.sharding.zero_stage == 2;
    if plan.sharding.zero_stage >= 2 && pp > 1 && !is_once {
        warn(
            "zero-with-pipeline",
            if plan.sharding.zero_stage == 3 {
                "ZeRO stage 3 with pipeline stages gathers and reduces in every micro-batch; \
                 stage 1 is common, and PyTorch's pipelines gather once (`--sharding fsdp-no-reshard`)"
                    .to_owned()
            } else {
                "ZeRO stage 2 with several chunks per pipeline stage reduces in every round of micro-batches; \
                 stage 1 is common"
                    .to_owned()
            },
        );
    }
    let count = plan.micro_batches();
    if pp > 1 && count < pp {
        warn(
            "few-micro-batches",
            format!("{count} micro-batches do not fill {pp} pipeline stages; most of the step is bubble"),
        );
    }
    let interleaved = plan.is_interleaved();
    if interleaved && !count.is_multiple_of(pp) {
        warn(
            "micro-batches-not-in-rounds",
            format!(
                "interleaving works best with a multiple of {pp} micro-batches, found {count}; older Megatron \
                 rejects other numbers"
            ),
        );
    }
    if model.max_positions > 0 && plan.sequence_length > model.max_positions {
        warn(
            "sequence-beyond-declared",
            format!(
                "{} supports at most {} tokens per sequence, but the plan has {}",
                model.name,
                human::whole(model.max_positions),
                human::whole(plan.sequence_length)
            ),
        );
    }
    if cp > 1 && model.layer_kinds.iter().any(|l| matches!(l.mixer, Mixer::Linear(_) | Mixer::StateSpace(_)))
    {
        warn(
            "context-parallel-recurrent",
            "few frameworks support context parallelism of recurrent layers".to_owned(),
        );
    }
    if let Recompute::Selective { modules, .. } = &plan.recompute
        && modules.contains(&RecomputeModule::Moe)
        && !model.is_mixture_of_experts()
    {
        warn("recompute-without-experts", "the model has no expert blocks to recompute".to_owned());
    }
    let architectures = cluster.kinds().map(|(kind, _)| kind.accelerator.architecture.as_str());
    for architecture in architectures.filter(|architecture| !plan.attention_kernel.runs_on(architecture)) {
        let version = if plan.attention_kernel == AttentionKernel::Flash3 { 3 } else { 2 };
        warn("kernel-too-new", format!("FlashAttention {version} does not run on {architecture}"));
    }
    if cluster.devices > cluster.devices_per_node && !cluster.devices.is_multiple_of(cluster.devices_per_node)
    {
        warn(
            "node-partly-used",
            format!(
                "{} devices are not a multiple of the {} devices per node",
                cluster.devices, cluster.devices_per_node
            ),
        );
    }
    let tiers = &cluster.network.tiers;
    if let Some(last) = tiers.last()
        && cluster.devices > last.devices
        && cluster.devices > domain
    {
        warn(
            "fabric-too-small",
            format!(
                "the tiers of the fabric connect {} devices, but the run has {}",
                human::whole(last.devices),
                human::whole(cluster.devices)
            ),
        );
    }
    found.extend(super::tensor::copied_heads(model, plan));
    super::lora::warnings(model, plan, &mut found);
    found.extend(super::framework::check(model, plan));
    found
}
