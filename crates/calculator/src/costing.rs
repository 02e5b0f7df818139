//! Context of every cost formula: the run, the device's operator models, the fabric's collective models, the
//! layout.
//!
//! Responsible for: building these once per evaluation, and the few shared numbers of many formulas (tokens
//! per rank, element sizes, rates). Does not price anything.

mod kinds;

pub use kinds::Kind;
pub(crate) use kinds::clusters_of_stage;

use crate::disturbance::Disturbance;
pub use crate::machine::Machine;
use crate::memory::{SoftwareCatalogue, StageSplit};
use crate::operators::{self, Cost, Pass, ProductMemo, Width};
use crate::program::MicroBatch;
use crate::software::{self, Software};
use railwright_spec::Portable as _;
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::{AttentionKernel, FrozenWeights, Layout, Optimizer, Plan};
use railwright_spec::precision::DataType;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::FlopPerSecond;
use std::sync::Arc;

/// One evaluation's context.
#[derive(Clone, Debug)]
pub struct Costing<'a> {
    /// Trained model.
    pub model: &'a Model,
    /// Cluster of the run.
    pub cluster: &'a Cluster,
    /// Layout and training settings.
    pub plan: &'a Plan,
    /// Operator and collective models.
    pub machine: &'a Machine,
    /// Constants of the software generation.
    pub software: &'a Software,
    /// Division of layers over stages in this generation.
    pub stage_split: StageSplit,
    /// Placement of process groups.
    pub layout: Layout,
    /// Tokens of a micro-batch on one rank: `micro_batch x sequence / context_parallel`.
    pub tokens: f64,
    /// Tokens of a micro-batch on one rank after sequence parallelism: `/ tensor_parallel`.
    pub sequence_shard_tokens: f64,
    /// Bytes per activation element.
    pub activation_bytes: f64,
    /// The attention kernel.
    pub attention_kernel: operators::AttentionKernel,
    /// Sustained over burst rate of GEMMs in the compute format.
    pub matmul_rate: f64,
    /// Sustained over burst rate of GEMMs in the activations' format (the head and the router stay wide).
    pub wide_matmul_rate: f64,
    /// Rate of grouped expert GEMMs relative to dense ones.
    pub expert_rate: f64,
    /// Sustained over burst rate of attention.
    pub attention_rate: f64,
    /// Width of the operands of fused attention.
    pub attention_width: Width,
    /// Slow members, if any.
    pub disturbance: Option<&'a Disturbance>,
    /// Cache of GEMM prices, if many plans are priced.
    pub(crate) memo: Option<Arc<ProductMemo>>,
}

impl<'a> Costing<'a> {
    /// The same context with a cache of known prices.
    #[must_use]
    pub fn remembering(self, memo: &Arc<ProductMemo>) -> Self {
        Self { memo: Some(Arc::clone(memo)), ..self }
    }

    /// True if automatic casts (autocast) convert weights to the compute format in each pass, so that
    /// residual stream and norms have the master format. FSDP and ZeRO convert their shards instead, and
    /// the weights below adapters are loaded in the compute format, unless they are quantized.
    pub(crate) fn casts_whole_weights(&self) -> bool {
        let plan = self.plan;
        let is_sharded = plan.sharding.zero_stage > 0 && plan.shard_group() > 1;
        let is_loaded = plan.adapters().is_some() && plan.frozen_weights == FrozenWeights::Parameters;
        !is_sharded && !is_loaded
    }

    /// Burst time of one GEMM of a linear layer, as [`crate::operators::Device::gemm`].
    pub(crate) fn gemm(&self, m: f64, n: f64, k: f64, data_type: DataType, pass: Pass) -> Cost {
        let price = || self.machine.device.gemm(m, n, k, data_type, pass);
        match &self.memo {
            Some(memo) => memo.get([1.0, m, n, k], data_type, pass, price),
            None => price(),
        }
    }

    /// Burst time of the GEMMs of `groups` experts, as [`crate::operators::Device::grouped_gemm`].
    pub(crate) fn grouped_gemm(&self, [groups, m, n, k]: [f64; 4], data_type: DataType, pass: Pass) -> Cost {
        let price = || self.machine.device.grouped_gemm(groups, m, n, k, data_type, pass);
        match &self.memo {
            // One group is priced as a group, not as a single GEMM.
            Some(memo) => memo.get([-groups, m, n, k], data_type, pass, price),
            None => price(),
        }
    }

    /// Gathers the context. Fails on an unknown software generation.
    pub fn new(
        model: &'a Model,
        cluster: &'a Cluster,
        plan: &'a Plan,
        machine: &'a Machine,
    ) -> Result<Self, Problem> {
        if plan.precision.narrow_attention && plan.precision.compute.is_narrow() {
            return Err(Problem::new(format!(
                "attention in {} is not supported: no measurements are known",
                plan.precision.compute
            ))
            .at_key("plan.precision.narrow_attention")
            .hint("set it to false: attention then uses the format of the activations"));
        }
        let software = machine.software(software::by_id(&plan.software)?, model, plan.precision.compute);
        Ok(Self::with_software(model, cluster, plan, machine, software))
    }

    /// Gathers the context for given constants.
    pub fn with_software(
        model: &'a Model,
        cluster: &'a Cluster,
        plan: &'a Plan,
        machine: &'a Machine,
        software: &'a Software,
    ) -> Self {
        let MicroBatch { tokens, sequence_shard_tokens, activation_bytes } = MicroBatch::new(plan);
        let architecture = machine.architecture.as_str();
        let format = plan.precision.compute.name();
        let power = power_limit(cluster);
        // Constants calibrated within runs already include the generation's share and the power limit.
        let product_rate = |data_type: DataType| {
            if machine.device.includes_sustained_gemm_rate(data_type) {
                1.0
            } else {
                let rate = Software::rate(&software.matmul, architecture, data_type.name());
                machine.device.sustained(rate, data_type) * power
            }
        };
        let asked = software.asked_kernel(plan, architecture);
        let attention_kernel = attention_kernel(asked, plan, software, architecture);
        Self {
            model,
            cluster,
            plan,
            machine,
            software,
            stage_split: SoftwareCatalogue::shared()
                .map_or(StageSplit::Even, |c| c.get(&plan.software).stage_split),
            layout: Layout::new(plan, plan.domain(cluster)),
            tokens,
            sequence_shard_tokens,
            activation_bytes,
            attention_kernel,
            matmul_rate: product_rate(plan.precision.compute),
            wide_matmul_rate: product_rate(plan.precision.wide_products()),
            expert_rate: Software::rate(&software.expert_rate, architecture, format),
            attention_rate: if machine.device.sustains_attention(Pass::Forward) {
                1.0
            } else {
                let rate = software.attention_rate(architecture, asked);
                machine.device.sustained(rate, plan.precision.wide_products()) * power
            },
            attention_width: attention_width(cluster, plan.precision.wide_products()),
            disturbance: None,
            memo: None,
        }
    }

    /// The same context with slow members.
    #[must_use]
    pub fn disturbed(self, disturbance: &'a Disturbance) -> Self {
        Self { disturbance: (!disturbance.is_empty()).then_some(disturbance), ..self }
    }

    /// The context of a different plan with the same software, precision, kernel and dropout. Values that
    /// depend only on these are reused.
    #[must_use]
    pub fn for_plan<'b>(&self, plan: &'b Plan) -> Costing<'b>
    where
        'a: 'b,
    {
        let MicroBatch { tokens, sequence_shard_tokens, .. } = MicroBatch::new(plan);
        Costing {
            plan,
            layout: Layout::new(plan, plan.domain(self.cluster)),
            tokens,
            sequence_shard_tokens,
            ..self.clone()
        }
    }

    /// Rows of a micro-batch's input on one rank: tokens, or a number of positions per sample outside the
    /// sequence, which context parallelism does not divide.
    pub(crate) fn tokens_at(&self, positions: Option<u64>) -> f64 {
        positions.map_or(self.tokens, |positions| (self.plan.micro_batch * positions) as f64)
    }

    /// The number format of a layer's GEMMs.
    pub fn compute_type(&self) -> DataType {
        self.plan.precision.compute
    }

    /// Tests whether base weights have gradients (false with low-rank adapters).
    pub fn trains_weights(&self) -> bool {
        self.plan.optimizer != Optimizer::Lora
    }
}

/// The attention kernel. Newer than FlashAttention 2 means FlashAttention 3 on Hopper and the vendor's
/// kernels elsewhere.
fn attention_kernel(
    asked: AttentionKernel,
    plan: &Plan,
    software: &Software,
    architecture: &str,
) -> operators::AttentionKernel {
    match asked {
        AttentionKernel::Unfused => operators::AttentionKernel::Unfused {
            fused_softmax: software.fused_softmax
                && software.fused_softmax_keys.is_none_or(|most| plan.sequence_length <= most),
            dropout: plan.dropout,
            format: scores_format(plan),
        },
        AttentionKernel::Flash1 => operators::AttentionKernel::Flash1,
        AttentionKernel::Auto | AttentionKernel::Flash2 => operators::AttentionKernel::Flash2,
        AttentionKernel::Flash3 if architecture.starts_with("Hopper") => operators::AttentionKernel::Flash3,
        AttentionKernel::Flash3 => operators::AttentionKernel::CuDnn,
    }
}

/// The format of GEMMs between activations: 16 bits in mixed precision, independent of narrower weight
/// formats; with 32-bit activations that of the other GEMMs, such as TF32.
fn scores_format(plan: &Plan) -> DataType {
    if plan.precision.activations.bytes() > 2.0 { plan.precision.wide_products() } else { DataType::Bf16 }
}

/// Rate share of the matrix units under a power limit below the architecture's usual one.
///
/// Power is proportional to clock times voltage squared and voltage to clock, so the clock follows the cube
/// root of the limit: 500 W for a 700 W part leaves 0.89. Operator tables were measured at the usual power.
pub(crate) fn power_limit(cluster: &Cluster) -> f64 {
    // Parts with fewer units or a lower clock by design have a lower specified peak, and are not derated
    // again.
    let peak = cluster.accelerator.peak_rate(DataType::Bf16).map_or(0.0, FlopPerSecond::tera);
    let usual = match cluster.accelerator.architecture.as_str() {
        "Hopper" if peak > 900.0 => 700.0,
        "Ampere" if peak > 300.0 && cluster.accelerator.scale_up_bandwidth.gb() >= 200.0 => 400.0,
        _ => return 1.0,
    };
    cluster.accelerator.power.map_or(1.0, |limit| (limit.get() / usual).clamp(0.1, 1.0).portable_cbrt())
}

/// Width of fused attention in this format: wider ones run at the rate of their matrix units.
fn attention_width(cluster: &Cluster, format: DataType) -> Width {
    let rate = |data_type| cluster.accelerator.peak_rate(data_type).map_or(0.0, FlopPerSecond::tera);
    let (wide, sixteen) = (rate(format), rate(DataType::Bf16));
    if format.bytes() > 2.0 && wide > 0.0 && sixteen > 0.0 {
        Width { rate: (wide / sixteen).min(1.0), bytes: format.bytes() }
    } else {
        Width::SIXTEEN
    }
}
