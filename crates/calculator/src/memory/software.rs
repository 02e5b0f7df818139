//! Memory behaviour of a software generation: a few physical constants each, from `catalog/memory.toml`.
//!
//! Responsible for: reading the constants and their inheritance. Contains no constants of single runs.

use crate::software::phrases::names;
use crate::software::{features_of, generation_of};
pub use railwright_spec::plan::StageSplit;
use railwright_spec::problem::Problem;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

const BUILT_IN: &str = railwright_catalog::MEMORY;

/// The generation whose constants replace those of an unknown one.
const FALLBACK: &str = "megatron-core-2025";

/// The feature of `whole_gradients`.
pub const UNSHARDED_ACCUMULATION: &str = "unsharded-accumulation";
/// The feature of a loss that never holds all logits.
pub const FUSED_LOSS: &str = "fused-loss";

fn even() -> StageSplit {
    StageSplit::Even
}

/// A peak-memory metric, as printed by frameworks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Published {
    /// Bytes allocated by tensors.
    Allocated,
    /// Bytes reserved by the allocator.
    Reserved,
    /// Memory reported by the device.
    Device,
}

/// Memory constants of one software generation. "Bytes per element" means per element of the named tensor of
/// one rank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MemorySoftware {
    /// The software generation.
    pub id: String,
    /// Origin of the constants.
    pub source: String,
    /// Default layer assignment to stages; in `catalog/software.toml`.
    #[serde(skip, default = "even")]
    pub stage_split: StageSplit,
    /// Bytes per attention score kept in addition to the softmax output and the dropout mask and output
    /// (copies for scaling, masks).
    pub score_extra: f64,
    /// Bytes per element of the residual stream kept in each layer beyond the operators' own inputs, sharded
    /// by sequence parallelism.
    pub hidden_extra: f64,
    /// The same under autocast over fp32 weights, where the residual stream has 32 bits and each GEMM casts
    /// its own copy of its input. Absent: `hidden_extra`.
    #[serde(default)]
    pub autocast_hidden_extra: Option<f64>,
    /// Bytes per element of queries and keys kept by their norms beyond one 16-bit input.
    #[serde(default)]
    pub query_norm_extra: f64,
    /// The same, but not sharded by tensor or sequence parallelism.
    pub hidden_replicated: f64,
    /// Bytes per element of queries, keys and values kept beyond one copy of each (rotation in fp32,
    /// transposes).
    pub qkv_extra: f64,
    /// Bytes per element of the inner width kept beyond gate, up and product (the activation's own output).
    /// An ungated GELU is one operator and keeps none.
    pub inner_extra: f64,
    /// Bytes per element of the inner width kept beyond the first product's output and the second one's
    /// input by a GELU that is composed of operators: under autocast, and if all is in 16 bits. Absent:
    /// none.
    #[serde(default)]
    pub composed_gelu_extra: Option<[f64; 2]>,
    /// The same per element of the residual stream of each layer for norms by the framework's LayerNorm.
    /// Absent: `hidden_extra`.
    #[serde(default)]
    pub layer_norm_extra: Option<[f64; 2]>,
    /// Bytes per element of the experts' outputs kept until the router weights them (0 if the weight is
    /// applied before the down projection).
    pub expert_output: f64,
    /// True if sequence-parallel inputs of tensor-parallel GEMMs are kept gathered.
    pub gathered_inputs: bool,
    /// True if narrow formats keep a GEMM's input in the narrow format (otherwise in the activation format).
    pub narrow_inputs: bool,
    /// True if a narrow copy of attention's output is kept for the output projection, in addition to the
    /// wide one kept by attention.
    pub narrow_attention_output: bool,
    /// True if narrow formats also keep a gated activation function's input in the narrow format.
    pub narrow_inner: bool,
    /// Bytes per weight of narrow copies that outlive a micro-batch.
    pub narrow_weight_bytes: f64,
    /// Under tensor parallelism, bytes per element of a stage's residual stream kept with every micro-batch,
    /// not sharded. These are gathered buffers that the stream of another kernel still holds because the
    /// host runs ahead.
    pub stage_replicated: f64,
    /// The same if the tensor-parallel group spans scale-up domains: the host then rarely runs ahead.
    pub stage_replicated_across: f64,
    /// True if a stage's output is kept until its backward pass.
    pub keeps_stage_output: bool,
    /// Bytes per logit at the peak of the loss.
    pub logit_bytes: f64,
    /// Bytes per logit kept for the backward pass.
    pub logit_saved_bytes: f64,
    /// True if every rank of a tensor group holds the logits of the whole vocabulary, gathered for a loss
    /// that is not vocabulary-parallel.
    pub gathered_logits: bool,
    /// Number of chunks of the loss. Memory kept for the backward pass is not divided.
    pub logit_chunks: f64,
    /// Bytes per element of the last hidden state, not sharded, at the peak of the loss.
    pub loss_hidden: f64,
    /// Bytes per element of the last hidden state, not sharded, of gathered buffers that the host has freed
    /// and another stream has not. The host runs ahead of the device, unless transfers between pipeline
    /// stages delay it.
    pub waiting_hidden: f64,
    /// True if the backward pass creates gradients as it reaches them, false if they have a permanent
    /// buffer. With one micro-batch, none of the former exist at the loss.
    pub lazy_gradients: bool,
    /// True if micro-batches accumulate whole gradients that are reduced after the last one, although
    /// gradients are sharded (`no_sync`).
    pub whole_gradients: bool,
    /// Bytes per parameter of flat buffers that data parallelism adds.
    pub gradient_bucket: f64,
    /// True if data parallelism without sharding copies gradients to its buckets.
    pub copies_gradients: bool,
    /// Bytes per stepped parameter that sharded optimizers keep in addition to master weights and moments
    /// (fp32 gradients).
    pub optimizer_extra: f64,
    /// Temporary bytes per stepped parameter in the optimizer.
    pub optimizer_temporary: f64,
    /// True if autocast casts fp32 weights where they are used: the 16-bit copy of a weight lasts from its
    /// forward to its backward pass.
    pub casts_weights: bool,
    /// ZeRO-3: true if the shard is kept in the low-precision format in addition to the master copy.
    pub keeps_low_precision_shard: bool,
    /// ZeRO-3: true if frozen weights are sharded in the format in which they were loaded, false if as fp32
    /// master weights.
    #[serde(default)]
    pub shards_frozen_as_loaded: bool,
    /// ZeRO-3: number of layers with gathered parameters at once.
    pub gathered_layers: f64,
    /// ZeRO-3: parameters that stay gathered after their use because they are used again soon, at most.
    #[serde(default)]
    pub live_parameters: f64,
    /// ZeRO-3: number of layers with full gradients at once.
    pub gradient_layers: f64,
    /// ZeRO-3: true if embedding and head stay gathered together through forward and backward.
    pub gathers_root: bool,
    /// Workspaces inside the allocator (GEMMs, attention), in MiB.
    pub workspace_mib: f64,
    /// The driver's context and code, outside the allocator, in MiB.
    pub context_mib: f64,
    /// Each communicator's buffers, outside the allocator, in MiB.
    pub communicator_mib: f64,
    /// Reserved over allocated memory at the peak.
    pub reserved_over_allocated: f64,
    /// Metric that the framework's users publish as peak memory.
    pub published: Published,
    /// True if the published figure is the first stage's (the rank that logs), false if it is the largest
    /// stage's.
    pub published_by_first_stage: bool,
    /// Standard deviation of ln(measured / predicted), for the probability of fitting.
    pub sigma: f64,
}

/// Memory constants of every software generation, alone and under combinations of features.
#[derive(Clone, Debug, PartialEq)]
pub struct SoftwareCatalogue {
    generations: BTreeMap<String, Stacks>,
    /// Features in the order of the file: if two change one constant, the later one applies.
    features: Vec<MemoryFeature>,
    /// Words that name a metric, in the order of the file.
    metrics: Vec<Metric>,
}

/// Words of a text that name the metric of a published peak.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Metric {
    /// Lowercase phrases.
    words: Vec<String>,
    /// The metric.
    published: Published,
    /// Evidence.
    source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    software: Vec<toml::Table>,
    #[serde(default)]
    feature: Vec<MemoryFeature>,
    #[serde(default)]
    metric: Vec<Metric>,
}

/// Changes of any generation's constants by a feature of `catalog/software.toml`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct MemoryFeature {
    /// The feature.
    id: String,
    /// Evidence for its constants.
    source: String,
    /// The constants.
    #[serde(default)]
    changes: Changes,
    /// Lower limits of constants: additional memory of unfused operators. A generation that already holds
    /// more is unchanged.
    #[serde(default)]
    at_least: Least,
    /// Upper limits of constants: memory of unfused operators that fused ones do not hold.
    #[serde(default)]
    at_most: Most,
}

/// Constants that a feature changes; absent ones are unchanged.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Changes {
    logit_bytes: Option<f64>,
    logit_saved_bytes: Option<f64>,
    logit_chunks: Option<f64>,
    gathered_logits: Option<bool>,
    whole_gradients: Option<bool>,
}

/// Lower limits that a feature sets; 0 is no limit.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(clippy::struct_field_names, reason = "keys of the catalogue")]
struct Least {
    score_extra: f64,
    hidden_extra: f64,
    inner_extra: f64,
}

/// Upper limits that a feature sets; absent is no limit.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(clippy::struct_field_names, reason = "keys of the catalogue")]
struct Most {
    hidden_extra: Option<f64>,
    autocast_hidden_extra: Option<f64>,
    query_norm_extra: Option<f64>,
    inner_extra: Option<f64>,
}

/// Maximum number of features. More have too many combinations for the table.
const MOST_FEATURES: usize = 12;

/// A generation and its constants under each combination of features, calculated at first use. Bit `n` of an
/// index is the feature at `n`; index 0 is the generation alone.
#[derive(Clone, Debug, PartialEq)]
struct Stacks {
    plain: MemorySoftware,
    featured: Vec<OnceLock<Box<MemorySoftware>>>,
}

impl SoftwareCatalogue {
    /// Parses the bundled catalogue.
    pub fn built_in() -> Result<Self, Problem> {
        Self::parse(BUILT_IN)
    }

    /// The bundled catalogue, parsed once.
    pub fn shared() -> Result<&'static Self, Problem> {
        static SHARED: LazyLock<Result<SoftwareCatalogue, Problem>> =
            LazyLock::new(SoftwareCatalogue::built_in);
        SHARED.as_ref().map_err(Clone::clone)
    }

    /// Parses text in the format of `catalog/memory.toml`: an entry inherits missing fields from an earlier
    /// one.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let file: File = toml::from_str(text).map_err(|e| {
            let problem = Problem::new(e.message()).in_file("memory.toml");
            e.span().map_or(problem.clone(), |span| problem.at_offset(text, span.start))
        })?;
        let features = file.feature;
        let metrics = file.metric;
        let sources = features.iter().map(|feature| &feature.source);
        let lacks_source = sources.chain(metrics.iter().map(|metric| &metric.source)).any(String::is_empty);
        if features.len() > MOST_FEATURES || lacks_source {
            let problem = format!("more than {MOST_FEATURES} features, or an entry without a source");
            return Err(Problem::new(problem).in_file("memory.toml"));
        }
        let mut tables: BTreeMap<String, toml::Table> = BTreeMap::new();
        let mut all = BTreeMap::new();
        for mut entry in file.software {
            let id = entry.get("id").and_then(toml::Value::as_str).unwrap_or_default().to_owned();
            if let Some(parent) = entry.remove("inherits") {
                let name = parent.as_str().unwrap_or_default();
                let Some(inherited) = tables.get(name) else {
                    return Err(Problem::new(format!(
                        "`{id}` inherits from `{name}`, which is not defined before it"
                    ))
                    .in_file("memory.toml"));
                };
                for (key, value) in inherited {
                    entry.entry(key.clone()).or_insert_with(|| value.clone());
                }
            }
            let mut software: MemorySoftware = entry.clone().try_into().map_err(|e: toml::de::Error| {
                Problem::new(format!("`{id}`: {}", e.message())).in_file("memory.toml")
            })?;
            if let Ok(generation) = crate::software::by_id(&id) {
                software.stage_split = generation.stage_split;
            }
            tables.insert(id.clone(), entry);
            let featured = vec![OnceLock::new(); 1 << features.len()];
            all.insert(id, Stacks { plain: software, featured });
        }
        if !all.contains_key(FALLBACK) {
            return Err(Problem::new(format!("the entry `{FALLBACK}` for unknown software is missing"))
                .in_file("memory.toml"));
        }
        Ok(Self { generations: all, features, metrics })
    }

    /// The constants of a generation with its features. For an unknown one, those of the newest calibrated
    /// Megatron Core.
    pub fn get(&self, id: &str) -> &MemorySoftware {
        let own = generation_of(id);
        let own = if self.generations.contains_key(own) { own } else { FALLBACK };
        let stacks = &self.generations[own];
        let named = |feature: &MemoryFeature| features_of(id).any(|name| name == feature.id);
        let place =
            self.features.iter().enumerate().fold(0, |place, (at, f)| place | usize::from(named(f)) << at);
        match stacks.featured.get(place) {
            Some(slot) if place > 0 => slot.get_or_init(|| {
                let mut software = stacks.plain.clone();
                for feature in self.features.iter().filter(|feature| named(feature)) {
                    feature.changes.apply(&mut software);
                    feature.at_least.apply(&mut software);
                    feature.at_most.apply(&mut software);
                }
                Box::new(software)
            }),
            _ => &stacks.plain,
        }
    }

    /// The metric of a peak that a description of its run names, in lowercase.
    pub fn metric_in(&self, text: &str) -> Option<Published> {
        let is_named = |metric: &&Metric| metric.words.iter().any(|word| names(text, word));
        self.metrics.iter().find(is_named).map(|metric| metric.published)
    }

    /// Tests whether a generation has its own constants.
    pub fn has(&self, id: &str) -> bool {
        self.generations.contains_key(generation_of(id))
    }

    /// All generations.
    pub fn iter(&self) -> impl Iterator<Item = &MemorySoftware> {
        self.generations.values().map(|stacks| &stacks.plain)
    }
}

impl Changes {
    fn apply(&self, to: &mut MemorySoftware) {
        let set = |slot: &mut f64, value: Option<f64>| *slot = value.unwrap_or(*slot);
        set(&mut to.logit_bytes, self.logit_bytes);
        set(&mut to.logit_saved_bytes, self.logit_saved_bytes);
        set(&mut to.logit_chunks, self.logit_chunks);
        to.gathered_logits = self.gathered_logits.unwrap_or(to.gathered_logits);
        to.whole_gradients = self.whole_gradients.unwrap_or(to.whole_gradients);
    }
}

impl Most {
    fn apply(&self, to: &mut MemorySoftware) {
        let limit = |own: f64, most: Option<f64>| own.min(most.unwrap_or(f64::INFINITY));
        to.hidden_extra = limit(to.hidden_extra, self.hidden_extra);
        to.autocast_hidden_extra = to.autocast_hidden_extra.map(|own| limit(own, self.autocast_hidden_extra));
        to.query_norm_extra = limit(to.query_norm_extra, self.query_norm_extra);
        to.inner_extra = limit(to.inner_extra, self.inner_extra);
    }
}

impl Least {
    fn apply(&self, to: &mut MemorySoftware) {
        to.score_extra = to.score_extra.max(self.score_extra);
        to.hidden_extra = to.hidden_extra.max(self.hidden_extra);
        to.inner_extra = to.inner_extra.max(self.inner_extra);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::software::features;

    #[test]
    fn every_generation_of_the_brief_is_known() {
        let catalogue = SoftwareCatalogue::built_in().expect("the built-in catalogue reads");
        for id in [
            "megatron-lm-2020",
            "megatron-lm-2022",
            "megatron-deepspeed-2022",
            "nemo-2022",
            "nemo-2024",
            "megatron-core-2024",
            "megatron-core-2025",
            "megatron-core-2026",
            "megatron-zero-bubble-2023",
            "torchtitan-2024-eager",
            "torchtitan-2024-compile",
            "torchtitan-2025",
            "fsdp1-2023",
            "deepspeed-zero3-2023",
            "nanotron-2024",
            "torchtune-2024",
            "maxtext-gpu-2024",
            "maxtext-tpu",
            "paxml-gpu-2023",
        ] {
            assert!(catalogue.has(id), "{id}");
        }
        assert_eq!(catalogue.get("no-such-software").id, FALLBACK);
    }

    #[test]
    fn an_unknown_parent_is_a_problem_with_its_name() {
        let problem =
            SoftwareCatalogue::parse("[[software]]\nid = \"a\"\ninherits = \"b\"\n").expect_err("refused");
        assert!(problem.to_string().contains("`b`"), "{problem}");
    }

    #[test]
    fn features_change_every_generation() {
        let catalogue = SoftwareCatalogue::built_in().expect("reads");
        let named: Vec<&str> = features().iter().filter(|f| f.memory).map(|f| f.id.as_str()).collect();
        let mut own: Vec<&str> = catalogue.features.iter().map(|f| f.id.as_str()).collect();
        assert!(own.contains(&"fused-loss"));
        for feature in &named {
            let changes =
                |id: &str| catalogue.get(&format!("{id}+cuda-graphs+{feature}")) != catalogue.get(id);
            if *feature == "fused-layers" {
                // Most generations hold no more.
                assert!(changes("transformers-2026") && !changes("megatron-core-2025"));
                continue;
            }
            if *feature == "plain-activation" {
                // Eager ones have it already.
                assert!(changes("torchtitan-2025") && !changes("torchtitan-2024-eager"));
                continue;
            }
            // One generation already has it.
            assert!(catalogue.generations.keys().filter(|id| !changes(id)).count() < 6, "{feature}");
        }
        // Both files have the same features.
        own.sort_unstable();
        let mut sorted = named.clone();
        sorted.sort_unstable();
        assert_eq!(own, sorted);
        let get = |id: &str| catalogue.get(id).clone();
        assert_eq!(get("nanotron-2024+cuda-graphs"), get("nanotron-2024"));
        assert_eq!(get("no-such+fused-loss"), get(&format!("{FALLBACK}+fused-loss")));
    }

    /// Features of different tensors are additive, in any order of their names.
    #[test]
    fn features_are_laid_over_one_another() {
        let catalogue = SoftwareCatalogue::built_in().expect("reads");
        let both = catalogue.get("megatron-core-2024+plain-norm+gathered-loss+plain-loss");
        assert_eq!(both, catalogue.get("megatron-core-2024+plain-loss+gathered-loss+plain-norm"));
        let plain = catalogue.get("megatron-core-2024+plain-loss");
        assert_eq!((both.logit_bytes, both.gathered_logits), (plain.logit_bytes, true));
        assert_eq!(both.hidden_extra, catalogue.get("torchtitan-2025+plain-norm").hidden_extra);
    }

    /// Unfused operators never hold less than fused ones: no constant of any generation decreases.
    #[test]
    fn plain_operators_lower_no_constant() {
        let catalogue = SoftwareCatalogue::built_in().expect("reads");
        let extra = |id: &str| {
            let software = catalogue.get(id);
            [software.hidden_extra, software.inner_extra, software.score_extra]
        };
        for id in catalogue.generations.keys() {
            let own = extra(id);
            let plain = extra(&format!("{id}+plain-norm+plain-activation+plain-softmax"));
            assert!(own.iter().zip(plain).all(|(own, plain)| plain >= *own), "{id}: {own:?} {plain:?}");
        }
        // Norms that keep the fp32 input and the normalized value hold 16 bytes, more than 12.
        assert_eq!(extra("torch-3d-2023+plain-norm"), extra("torch-3d-2023"));
        assert_eq!(extra("megatron-core-2025+plain-norm")[0], 12.0);
    }

    /// Two norms of Transformers under autocast keep, per element, the fp32 residual stream, the normalized
    /// value in fp32 and a 16-bit cast for each of the five GEMMs behind them, where 2 + 2 bytes a norm
    /// are counted elsewhere. Liger's kernels keep no normalized value.
    #[test]
    fn fused_layers_hold_only_inputs() {
        let catalogue = SoftwareCatalogue::built_in().expect("reads");
        let plain = catalogue.get("transformers-2026");
        let fused = catalogue.get("transformers-2026+fused-layers");
        assert_eq!((plain.hidden_extra, plain.inner_extra, plain.query_norm_extra), (12.0, 2.0, 4.0));
        assert_eq!((fused.hidden_extra, fused.inner_extra, fused.query_norm_extra), (0.0, 0.0, 0.0));
        let counted = 2.0 * (2.0 + 2.0);
        assert_eq!(plain.autocast_hidden_extra, Some(2.0 * (4.0 + 4.0) + 5.0 * 2.0 - counted));
        assert_eq!(fused.autocast_hidden_extra, Some(2.0 * 4.0 + 5.0 * 2.0 - counted));
    }

    #[test]
    fn a_text_names_the_metric_of_its_peak() {
        let catalogue = SoftwareCatalogue::built_in().expect("reads");
        let of = |text: &str| catalogue.metric_in(text);
        assert_eq!(of("megatron-lm; memory by nvidia-smi"), Some(Published::Device));
        assert_eq!(of("primus (megatron-lm, rocm)"), Some(Published::Device));
        assert_eq!(of("primus; max allocated 15754.9 mib"), Some(Published::Allocated));
        assert_eq!(of("max_memory_reserved"), Some(Published::Reserved));
        assert_eq!(of("megatron-lm, not nvidia-smi"), None);
        assert_eq!(of("megatron-core"), None);
    }

    #[test]
    fn a_misspelt_constant_is_refused() {
        let text = BUILT_IN.replacen("workspace_mib", "workspace_mb", 1);
        assert!(SoftwareCatalogue::parse(&text).expect_err("refused").to_string().contains("workspace_mb"));
    }
}
