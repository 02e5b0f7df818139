//! Software generations: the behaviour of a framework version that a plan does not specify.
//!
//! Responsible for: the few calibrated constants of each generation, documented with their origin in
//! `catalog/software.toml`. They are fused kernels, host cost of a launch, exposed share of communication,
//! and sustained over burst rate of GEMMs. Constants depend on generation, accelerator architecture and
//! operator, never on a run.

mod calibrated;
mod dated;
mod features;
mod front_end;
mod identified;
mod inferred;
mod offers;
mod overlap;
mod parts;
pub mod phrases;

pub use calibrated::calibrated;
pub use features::{Feature, by_id, feature, features, features_of, generation_of, with_features};
pub use front_end::{FrontEnd, front_end, front_ends};
pub(crate) use identified::on;
pub use identified::{Refinement, Stack, identify};
pub use inferred::{Usual, UsualPlans, inferred, usual_among};
pub use offers::Offers;
pub use parts::{PARTS, Part};

use crate::plan::{AttentionKernel, Overlap, Plan, StageSplit};
use crate::precision::DataType;
use dated::Release;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Execution mode of a framework, which determines the number of kernels and the host cost of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Execution {
    /// PyTorch modules, operation by operation.
    Eager,
    /// Modules with hand-fused kernels (Transformer Engine, C++ and CUDA).
    Fused,
    /// Compiled graphs (`torch.compile`, XLA).
    Compiled,
}

/// A software generation.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Software {
    /// Identifier as in `plan.software`, with its features: `megatron-core-2025+cuda-graphs`.
    pub id: String,
    /// Framework by its name in `catalog/intervals.toml`. Generations of a different kind have a framework
    /// of their own.
    pub framework: String,
    /// Title for reports.
    pub name: String,
    /// Origin of the constants.
    pub source: String,
    /// Lowercase fragments of framework names that identify this generation in logs and tables.
    #[serde(default)]
    pub matches: Vec<String>,
    /// Fragments of a description's parts, such as a way to shard or a kernel. They identify the generation
    /// only if no framework is named.
    #[serde(default)]
    pub parts: Vec<String>,
    /// Plans and accelerators with this generation as default.
    #[serde(default)]
    pub usual: Vec<Usual>,
    /// Attention kernel by architecture; `default` for others.
    pub attention: BTreeMap<String, AttentionKernel>,
    /// Sustained over burst rate of GEMMs by architecture and width: `Hopper`, `Hopper.fp8`, `default`.
    pub matmul: BTreeMap<String, f64>,
    /// Sustained over burst rate of attention by architecture and kernel (`Hopper.flash3`); `default` for
    /// others. Kernels with higher utilization of the matrix units are limited more by power.
    pub attention_rate: BTreeMap<String, f64>,
    /// Rate of attention with heads wider than 256 relative to narrower ones. No kernel of FlashAttention up
    /// to version 3 has them, so kernels of Triton or TileLang run.
    pub wide_attention_rate: f64,
    /// True if one kernel scales, masks and normalizes scores of unfused attention.
    pub fused_softmax: bool,
    /// Maximum number of keys of that kernel, beyond which operators are separate. Absent: no maximum.
    #[serde(default)]
    pub fused_softmax_keys: Option<u64>,
    /// Bytes moved by element-wise kernels, relative to the minimum of full fusion.
    pub elementwise_passes: f64,
    /// Bytes per input element moved by an RMSNorm composed of the framework's operators, forward and
    /// backward. Absent if one kernel does it, which moves the minimum times `elementwise_passes`.
    #[serde(default)]
    pub norm_bytes: Option<[f64; 2]>,
    /// As `norm_bytes`, where weights are held in the format of activations, so that the residual stream has
    /// it too. FSDP and ZeRO cast their shards, and frozen weights are loaded so. Absent: as
    /// `norm_bytes`.
    #[serde(default)]
    pub uncast_norm_bytes: Option<[f64; 2]>,
    /// Bytes moved by rotary embedding composed of the framework's operators, per rotated element of queries
    /// and keys, forward and backward.
    #[serde(default)]
    pub rotary_bytes: Option<[f64; 2]>,
    /// Bytes per element moved by GELU composed of the framework's operators, forward and backward. Absent
    /// if one kernel does it.
    #[serde(default)]
    pub composed_gelu_bytes: Option<[f64; 2]>,
    /// True if full sharding copies gathered parameters out of the collective's buffer, and gradients into
    /// it: FSDP of one tensor each, ZeRO-3. False for flat parameters and compilers that plan the
    /// buffers.
    #[serde(default)]
    pub copies_shards: bool,
    /// True if full recompute of a layer leaves out its last GEMM, whose output the backward pass does not
    /// need: a compiler removes it as dead code.
    #[serde(default)]
    pub skips_last_gemm: bool,
    /// True if recompute stops at the last tensor that the backward pass needs, before the last GEMM of a
    /// layer and before its experts' outputs are combined (`torch.utils.checkpoint`, `early_stop`).
    #[serde(default)]
    pub stops_recompute_early: bool,
    /// Bytes per element moved by the clamps before a gated activation, forward and backward, if they are
    /// operators of their own. Absent if the kernel of the activation clamps.
    #[serde(default)]
    pub clamp_bytes: Option<[f64; 2]>,
    /// Bytes per element of the experts' outputs moved by their biases, forward and backward, if each is
    /// added expert by expert. Absent if one operator adds them.
    #[serde(default)]
    pub expert_bias_bytes: Option<[f64; 2]>,
    /// Bytes per trained parameter and pass moved by a cast of fp32 weights to the compute format, if it
    /// runs in every micro-batch (autocast). There is one pass forward, one for the gradient, and one
    /// more if the forward pass is recomputed.
    #[serde(default)]
    pub weight_cast_bytes: f64,
    /// Bytes per input element of an adapter and pass moved by casts between the activations and the fp32 of
    /// the adapter's weights.
    #[serde(default)]
    pub adapter_cast_bytes: f64,
    /// True if grouped GEMMs of experts run in the format of the master weights, because automatic casts do
    /// not apply to them.
    #[serde(default)]
    pub experts_in_master_format: bool,
    /// True if attention receives a mask of all pairs of positions. PyTorch's fused kernels for causal
    /// attention do not accept one, so its memory-efficient kernel runs, over the whole square
    /// (`sdp_utils.cpp`, `check_for_attn_mask`).
    #[serde(default)]
    pub masks_attention: bool,
    /// True if context parallelism gives each rank one contiguous part of a sequence, without load balance.
    #[serde(default)]
    pub contiguous_context: bool,
    /// Bytes moved by casts to narrow formats, relative to the minimum of full fusion: scales, casts and
    /// transposes, separate or fused.
    pub cast_passes: f64,
    /// Bytes moved per logit by softmax and cross entropy, forward and backward together.
    pub loss_bytes_per_logit: f64,
    /// True if each tensor-parallel rank gathers the logits and computes the loss on all of them.
    #[serde(default)]
    pub gathers_logits: bool,
    /// Host microseconds to launch one kernel, framework and autograd included; with CUDA graphs near zero.
    pub host_us_per_kernel: f64,
    /// Host microseconds per layer and direction beyond launches: modules, their context managers, hooks and
    /// nodes of autograd. Zero in compiled layers and in CUDA graphs.
    #[serde(default)]
    pub host_us_per_layer: f64,
    /// Additional host microseconds per kernel of a plan with tensor parallelism: dispatch of tensors that
    /// carry their placement (DTensor). Zero for compiled layers, which are traced once.
    #[serde(default)]
    pub placement_us_per_kernel: f64,
    /// Host stall in microseconds, per rank of the tensor group, at each tensor-parallel collective while
    /// receives from a pipeline stage on another node are pending. With one hardware queue, the
    /// collective is launched behind them. Zero if receives have a queue of their own.
    pub pipelined_collective_stall_us: f64,
    /// Wait in microseconds of each collective for host proxy threads, per rank of a tensor group that spans
    /// scale-up domains: ring steps are sequential. Part of the collective, at the rate of collectives.
    pub spanning_collective_stall_us: f64,
    /// Host microseconds per transfer between stages while both ends wait: shapes and types are sent as
    /// separate messages. Zero if shapes are agreed once.
    pub host_us_per_transfer: f64,
    /// Host microseconds per micro-batch and pipeline stage, independent of layers.
    pub host_us_per_micro_batch: f64,
    /// Host milliseconds per step: data loader, logging, loss reduction, gradient-norm synchronization.
    pub host_ms_per_step: f64,
    /// Exposed share of tensor-parallel communication when overlapped.
    pub tensor_overlap_exposed: f64,
    /// Exposed share of the second gather of inputs, for weight gradients, even without other overlap.
    pub weight_gather_exposed: f64,
    /// Exposed share of expert-parallel communication when overlapped.
    pub expert_overlap_exposed: f64,
    /// True if dispatch and combine are fused kernels that send a token once per node (DeepEP, HybridEP).
    pub fused_expert_dispatch: bool,
    /// True if each rank gathers the tokens of all ranks of its expert group instead of receiving those of
    /// its experts.
    #[serde(default)]
    pub gathers_tokens: bool,
    /// Rate of grouped expert GEMMs relative to dense ones, in addition to their tables (uneven groups,
    /// separate launches), by architecture and format as in `matmul`.
    pub expert_rate: BTreeMap<String, f64>,
    /// True if expert communication that spans scale-up domains is overlapped without the plan's setting.
    pub overlap_spanning_experts: bool,
    /// Host microseconds per expert layer and direction to read token counts back and size buffers; zero if
    /// shapes stay on the device.
    pub host_us_per_expert_layer: f64,
    /// Host microseconds per local expert and GEMM where grouped GEMMs are loops over experts: its launch,
    /// slices and hooks of its weight (Transformer Engine, `multi_stream_cublas_gemm`, commit d0067d0). Zero
    /// where one kernel runs all groups, and in CUDA graphs.
    #[serde(default)]
    pub host_us_per_expert_product: f64,
    /// Kernels of routing and permutation per layer and direction.
    pub router_kernels: f64,
    /// Reads and writes of each routed copy of a token, forward and backward, where PyTorch's indexing
    /// permutes tokens; absent: `4 elementwise_passes` each way.
    #[serde(default)]
    pub permutation_passes: Option<[f64; 2]>,
    /// Sustained over measured rate of collectives, reduced by other streams, PCIe and unequal arrival.
    pub collective_rate: f64,
    /// Slowdown of compute, as a share of the overlapped data-parallel communication time.
    pub overlap_slowdown: f64,
    /// Growth of step time per doubling of devices beyond one domain, from unequal devices and noise.
    pub jitter_per_doubling: f64,
    /// Bytes of memory traffic per parameter in the optimizer step, over all passes (Adam, fp32 states).
    pub optimizer_bytes_per_parameter: f64,
    /// Share of a rank's part of the host's memory bandwidth that an offloaded optimizer reaches.
    pub host_update_rate: f64,
    /// Elements per gradient bucket; each bucket is reduced separately.
    pub gradient_bucket_elements: f64,
    /// Minimum elements per gradient bucket and data-parallel rank: the bucket grows to this size.
    pub gradient_bucket_elements_per_rank: f64,
    /// True if each rank of a ZeRO-1 or ZeRO-2 group broadcasts its updated tensors, one rank after another;
    /// false if all shards are gathered at once.
    pub broadcasts_parameters: bool,
    /// True if the optimizer's moments are in pageable host memory between steps, for inference meanwhile.
    #[serde(default)]
    pub parks_moments: bool,
    /// True if full sharding in pipelines keeps parameters gathered over a step by default.
    #[serde(default)]
    pub keeps_gathered_in_pipelines: bool,
    /// True if recompute by operator repeats the all-to-alls of experts; false if it keeps their results.
    #[serde(default)]
    pub recomputes_exchange: bool,
    /// True if tensor parallelism always shards the residual stream (XLA's sharding rules, torchtitan's
    /// plans), as sequence parallelism does elsewhere if it is set.
    #[serde(default)]
    pub shards_residual: bool,
    /// Execution mode.
    pub execution: Execution,
    /// True if replicas without sharding (ZeRO-0) reduce gradients in hooks of the backward pass (PyTorch's
    /// DDP): of the last micro-batch, or of every one if passes of pipeline stages interleave.
    pub replicas_reduce_in_hooks: bool,
    /// Communication overlapped by default.
    pub overlap: Overlap,
    /// Communication overlapped by the framework's arguments where they are not set. Absent if the same as
    /// `overlap`, which then does not depend on recipes.
    #[serde(default)]
    pub overlap_of_arguments: Option<Overlap>,
    /// Distributions whose recipes set `overlap`, in lower case, as in the name of a measured run's
    /// framework.
    #[serde(default)]
    pub recipes: Vec<String>,
    /// Default ZeRO stage.
    pub zero_stage: u8,
    /// Number format of accumulated gradients; absent: fp32. `bf16` represents the 16-bit format of the run.
    #[serde(default)]
    pub gradients: Option<DataType>,
    /// Number format of gradients during reduction; absent: fp32. `bf16` is the 16-bit format of the run.
    #[serde(default)]
    pub gradient_reduce: Option<DataType>,
    /// Features that the generation has without their names in a stack.
    #[serde(default)]
    pub includes: Vec<String>,
    /// True if recipes of the generation use dropout.
    pub dropout: bool,
    /// True if tensor parallelism shards experts by default.
    pub expert_tensor_follows_tensor: bool,
    /// Default assignment of layers to pipeline stages.
    pub stage_split: StageSplit,
    /// Multiple to which the vocabulary is padded, times the tensor-parallel size.
    pub vocabulary_multiple: u64,
    /// Features available to users.
    pub offers: Offers,
}

/// Parsed catalogue of generations.
#[derive(Debug)]
struct Catalogue {
    generations: Vec<Software>,
    features: Vec<Feature>,
    releases: Vec<Release>,
    refinements: Vec<Refinement>,
}

static CATALOGUE: LazyLock<Result<Catalogue, String>> =
    LazyLock::new(|| Catalogue::parse(railwright_catalog::SOFTWARE));

/// Reads a catalogue of generations. Each `[[generation]]` overrides the one in its `based_on`, or
/// `[defaults]`.
pub fn parse(text: &str) -> Result<Vec<Software>, String> {
    Catalogue::parse(text).map(|catalogue| catalogue.generations)
}

fn id_of(table: &toml::Table) -> Option<&str> {
    table.get("id").and_then(toml::Value::as_str)
}

/// Constants of a generation from its keys.
fn software(table: toml::Table) -> Result<Software, String> {
    let id = id_of(&table).ok_or("a generation has no id")?.to_owned();
    table.try_into().map_err(|e: toml::de::Error| format!("generation `{id}`: {e}"))
}

/// Merges keys: tables by architecture are merged key by key, other values replaced.
fn lay_over(below: &mut toml::Table, above: &toml::Table) {
    for (key, value) in above {
        match (below.get_mut(key), value) {
            (Some(toml::Value::Table(below)), toml::Value::Table(above)) => below.extend(above.clone()),
            _ => {
                below.insert(key.clone(), value.clone());
            }
        }
    }
}

impl Catalogue {
    fn parse(text: &str) -> Result<Self, String> {
        let mut file: toml::Table = toml::from_str(text).map_err(|e| e.to_string())?;
        let defaults = file.get("defaults").and_then(toml::Value::as_table).cloned().unwrap_or_default();
        let mut tables: Vec<toml::Table> = Vec::new();
        for entry in file.get("generation").and_then(toml::Value::as_array).into_iter().flatten() {
            let mut own = entry.as_table().ok_or("a generation is not a table")?.clone();
            let mut base = match own.remove("based_on").as_ref().and_then(toml::Value::as_str) {
                Some(name) => {
                    let found = tables.iter().find(|table| id_of(table) == Some(name)).cloned();
                    found
                        .ok_or_else(|| format!("`based_on` refers to `{name}`, which is not defined above"))?
                }
                None => defaults.clone(),
            };
            // Derived generations do not inherit the role of default.
            base.remove("usual");
            lay_over(&mut base, &own);
            tables.push(base);
        }
        let generations = tables.into_iter().map(software).collect::<Result<_, _>>()?;
        let mut list = |key: &str| file.remove(key).unwrap_or_else(|| toml::Value::Array(Vec::new()));
        let features = list("feature").try_into().map_err(|e: toml::de::Error| format!("feature: {e}"))?;
        let refinements =
            list("refinement").try_into().map_err(|e: toml::de::Error| format!("refinement: {e}"))?;
        let releases = list("release").try_into().map_err(|e: toml::de::Error| format!("release: {e}"))?;
        Ok(Self { generations, features, releases, refinements })
    }
}

/// Bundled catalogue; `None` if it is invalid, which a test excludes.
fn catalogue() -> Option<&'static Catalogue> {
    CATALOGUE.as_ref().ok()
}

/// Bundled generations.
pub fn generations() -> &'static [Software] {
    catalogue().map_or(&[], |catalogue| &catalogue.generations)
}

/// Generations of one framework, oldest first.
pub fn generations_of(framework: &str) -> impl Iterator<Item = &'static Software> {
    generations().iter().filter(move |generation| generation.framework == framework)
}

impl Software {
    /// True if full sharding drops gathered parameters after the forward pass in a pipeline of `stages`.
    pub fn reshards_by_default(&self, stages: u64) -> bool {
        stages <= 1 || !self.keeps_gathered_in_pipelines
    }

    /// Constant by architecture and number format: `Hopper.fp8`, then `Hopper`, then `default`, then 1.
    pub fn rate(table: &BTreeMap<String, f64>, architecture: &str, format: &str) -> f64 {
        let exact = format!("{architecture}.{format}");
        let by_format = format!("default.{format}");
        let keys = [exact.as_str(), architecture, by_format.as_str(), "default"];
        keys.iter().find_map(|key| table.get(*key)).copied().unwrap_or(1.0)
    }

    /// Host microseconds to launch one kernel in a plan with this tensor-parallel size.
    pub fn launch_us(&self, tensor_parallel: u64) -> f64 {
        let placement = if tensor_parallel > 1 { self.placement_us_per_kernel } else { 0.0 };
        self.host_us_per_kernel + placement
    }

    /// Scales the host's speed by `rate`: launches, stalls, and costs per micro-batch and expert layer.
    #[must_use]
    pub fn with_host_rate(&self, rate: f64) -> Self {
        Self {
            host_us_per_kernel: self.host_us_per_kernel / rate,
            placement_us_per_kernel: self.placement_us_per_kernel / rate,
            host_us_per_layer: self.host_us_per_layer / rate,
            host_us_per_micro_batch: self.host_us_per_micro_batch / rate,
            host_us_per_expert_layer: self.host_us_per_expert_layer / rate,
            host_us_per_expert_product: self.host_us_per_expert_product / rate,
            pipelined_collective_stall_us: self.pipelined_collective_stall_us / rate,
            ..self.clone()
        }
    }

    /// Attention kernel of a plan; if `auto`, the generation's default on the architecture.
    pub fn asked_kernel(&self, plan: &Plan, architecture: &str) -> AttentionKernel {
        match (plan.attention_kernel, self.attention_kernel(architecture)) {
            (AttentionKernel::Auto, own) if own != AttentionKernel::Unfused && self.masks_attention => {
                AttentionKernel::Flash1
            }
            (AttentionKernel::Auto, own) => own,
            (named, _) => named,
        }
    }

    /// Tests whether a plan's attention has a mask of all pairs of positions. Named FlashAttention has none.
    pub fn has_whole_mask(&self, plan: &Plan) -> bool {
        self.masks_attention && plan.attention_kernel == AttentionKernel::Auto
    }

    /// Sustained over burst rate of an attention kernel on an architecture.
    pub fn attention_rate(&self, architecture: &str, kernel: AttentionKernel) -> f64 {
        Self::rate(&self.attention_rate, architecture, kernel.name())
    }

    /// Default attention kernel on an architecture. Where the generation's kernel does not run, PyTorch's
    /// attention uses its memory-efficient kernel, which keeps no scores and is priced as FlashAttention
    /// 1.
    pub fn attention_kernel(&self, architecture: &str) -> AttentionKernel {
        let usual = self
            .attention
            .get(architecture)
            .or_else(|| self.attention.get("default"))
            .copied()
            .unwrap_or(AttentionKernel::Flash2);
        if usual.runs_on(architecture) { usual } else { AttentionKernel::Flash1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bundled_file_reads() {
        CATALOGUE.as_ref().expect("catalog/software.toml");
        let list = parse(railwright_catalog::SOFTWARE).expect("catalog/software.toml");
        assert!(list.len() > 10);
        assert_eq!(list.len(), generations().len());
    }

    #[test]
    fn a_generation_inherits_and_overrides() {
        let hopper = by_id("megatron-core-2025").expect("known");
        assert_eq!(hopper.attention_kernel("Hopper"), AttentionKernel::Flash3);
        assert_eq!(hopper.attention_kernel("Ampere"), AttentionKernel::Flash2);
        // FlashAttention 2 does not run on these.
        for old in ["Pascal", "Volta", "Turing"] {
            assert_eq!(hopper.attention_kernel(old), AttentionKernel::Flash1);
        }
        assert!(
            by_id("megatron-core-2052")
                .expect_err("unknown")
                .hint
                .expect("hint")
                .contains("megatron-core-2025")
        );
    }

    #[test]
    fn rates_prefer_the_narrower_key() {
        let table =
            BTreeMap::from([("Hopper".into(), 0.9), ("Hopper.fp8".into(), 0.8), ("default".into(), 0.7)]);
        assert_eq!(Software::rate(&table, "Hopper", "fp8"), 0.8);
        assert_eq!(Software::rate(&table, "Hopper", "bf16"), 0.9);
        assert_eq!(Software::rate(&table, "Volta", "fp16"), 0.7);
    }

    /// FlashAttention 3 was released for Hopper in 2024. A generation with a specified kernel does not
    /// inherit another one for that architecture.
    #[test]
    fn a_named_attention_kernel_holds_on_hopper() {
        let file: toml::Table = toml::from_str(railwright_catalog::SOFTWARE).expect("reads");
        for entry in file["generation"].as_array().expect("a list") {
            let Some(kernels) = entry.get("attention").and_then(toml::Value::as_table) else { continue };
            assert!(!kernels.contains_key("default") || kernels.contains_key("Hopper"), "{entry:?}");
        }
        let kernel = |id: &str| by_id(id).expect("known").attention_kernel("Hopper");
        assert_eq!(kernel("fsdp1-2023"), AttentionKernel::Flash1);
        assert_eq!(kernel("nanotron-2024"), AttentionKernel::Flash2);
    }

    /// Rates of different kernels on one architecture are independent.
    #[test]
    fn attention_rates_are_of_a_kernel() {
        let fused = by_id("megatron-core-2024").expect("known");
        let of = |kernel| fused.attention_rate("Hopper", kernel);
        assert!(of(AttentionKernel::Flash3) < of(AttentionKernel::Flash2));
    }
}
