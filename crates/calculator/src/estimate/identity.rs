//! Identity of the estimated model, cluster, plan and software.

use crate::partition::{chunks_per_stage, recomputed_layers};
use crate::software::Software;
use railwright_spec::cluster::Cluster;
use railwright_spec::human;
use railwright_spec::model::{Model, ParameterCount};
use railwright_spec::plan::{Plan, Recompute};
use serde::Serialize;

/// The model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelIdentity {
    /// Its name.
    pub name: String,
    /// Its family.
    pub family: String,
    /// Layers.
    pub layers: u64,
    /// Width of the residual stream.
    pub hidden_size: u64,
    /// Vocabulary size.
    pub vocabulary: u64,
    /// Parameters in every convention.
    pub parameters: ParameterCount,
}

/// The cluster.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClusterIdentity {
    /// Its name.
    pub name: String,
    /// The accelerator's identifier in the catalogue.
    pub accelerator: String,
    /// The vendor's name for it.
    pub accelerator_name: String,
    /// Its architecture.
    pub architecture: String,
    /// Accelerators used.
    pub devices: u64,
    /// Devices of other kinds among them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<PoolIdentity>,
    /// Accelerators per server.
    pub devices_per_node: u64,
    /// Accelerators per scale-up domain.
    pub domain_size: u64,
    /// File of the calibration, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<String>,
}

impl ClusterIdentity {
    /// Devices by kind: `64 x H100 SXM5 80GB + 32 x A100 SXM4 80GB`.
    pub fn devices_by_kind(&self) -> String {
        let of_pools: u64 = self.pools.iter().map(|pool| pool.devices).sum();
        let main = (self.devices.saturating_sub(of_pools), self.accelerator_name.as_str());
        let pools = self.pools.iter().map(|pool| (pool.devices, pool.accelerator_name.as_str()));
        human::devices(std::iter::once(main).chain(pools))
    }
}

/// The software generation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SoftwareIdentity {
    /// Its identifier.
    pub id: String,
    /// Title for display.
    pub name: String,
    /// Origin of its constants.
    pub source: String,
}

/// Devices of a different kind in the job.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PoolIdentity {
    /// Name of the accelerator.
    pub accelerator_name: String,
    /// First rank on these devices.
    pub first_rank: u64,
    /// Number of devices.
    pub devices: u64,
}

pub(super) fn model(model: &Model) -> ModelIdentity {
    ModelIdentity {
        name: model.name.clone(),
        family: model.family.clone(),
        layers: model.num_layers(),
        hidden_size: model.hidden_size,
        vocabulary: model.vocabulary,
        parameters: model.parameters(),
    }
}

pub(super) fn cluster(cluster: &Cluster) -> ClusterIdentity {
    let accelerator = &cluster.accelerator;
    ClusterIdentity {
        name: cluster.name.clone(),
        accelerator: accelerator.id.clone(),
        accelerator_name: accelerator.name.clone(),
        architecture: accelerator.architecture.clone(),
        devices: cluster.devices,
        pools: cluster
            .pools
            .iter()
            .map(|pool| PoolIdentity {
                accelerator_name: pool.cluster.accelerator.name.clone(),
                first_rank: pool.first_rank,
                devices: pool.devices,
            })
            .collect(),
        devices_per_node: cluster.devices_per_node,
        domain_size: cluster.scale_up.domain_size,
        calibration: cluster.calibration.as_ref().map(|c| c.file.clone()),
    }
}

pub(super) fn software(software: &Software) -> SoftwareIdentity {
    SoftwareIdentity { id: software.id.clone(), name: software.name.clone(), source: software.source.clone() }
}

/// Degrees of a plan, without dimensions of one rank: `TP8 PP16 VP4 DP128 SP ZeRO-1`. `None` if all are.
pub fn plan_degrees(plan: &Plan) -> Option<String> {
    let mut degrees = Vec::new();
    let mut degree = |name: &str, n: u64| {
        if n > 1 {
            degrees.push(format!("{name}{n}"));
        }
    };
    degree("TP", plan.tensor_parallel);
    degree("CP", plan.context_parallel);
    degree("PP", plan.pipeline_parallel);
    degree("VP", plan.virtual_stages);
    degree("EP", plan.expert_parallel);
    if plan.expert_parallel > 1 {
        degree("ETP", plan.expert_tensor_parallel);
    }
    degree("DP", plan.data_parallel);
    if plan.sequence_parallel && plan.tensor_parallel > 1 {
        degrees.push("SP".into());
    }
    match (plan.sharding.zero_stage, plan.sharding.group) {
        (0, _) => {}
        (stage, None) => degrees.push(format!("ZeRO-{stage}")),
        (stage, Some(group)) => degrees.push(format!("ZeRO-{stage} over {group}")),
    }
    (!degrees.is_empty()).then(|| degrees.join(" "))
}

/// A plan in one line: `TP8 PP16 VP4 DP128 SP ZeRO-1, 1F1B, 16 micro-batches of 1 x 8192, bf16`.
pub fn plan_summary(plan: &Plan) -> String {
    let mut parts = Vec::from_iter(plan_degrees(plan));
    if plan.pipeline_parallel > 1 {
        parts.push(schedule_name(plan).to_owned());
    }
    parts.push(format!(
        "{} micro-batch{} of {} x {}",
        plan.micro_batches(),
        if plan.micro_batches() == 1 { "" } else { "es" },
        plan.micro_batch,
        plan.sequence_length
    ));
    parts.push(plan.precision.compute.name().to_owned());
    if let Some(segment) = plan.segment {
        parts.push(format!("segments of {segment}"));
    }
    match &plan.recompute {
        _ if plan.stage_recompute.is_some() => parts.push("recompute by stage".into()),
        Recompute::None => {}
        Recompute::Selective { .. } => parts.push("selective recompute".into()),
        Recompute::Full { layers: None } => parts.push("full recompute".into()),
        Recompute::Full { layers: Some(_) } => {
            let place = if chunks_per_stage(plan) == 1 { "stage" } else { "virtual stage" };
            parts.push(format!(
                "full recompute of {} per {place}",
                human::several(recomputed_layers(plan), "layer")
            ));
        }
    }
    parts.join(", ")
}

/// The usual name of the schedule.
pub(super) fn schedule_name(plan: &Plan) -> &'static str {
    plan.schedule.label(plan.virtual_stages)
}
