//! Features of a software stack that its generation does not determine: token dispatcher, CUDA graphs, no
//! overlap.
//!
//! Responsible for: the features in `catalog/software.toml`, and stacks named `generation+feature+feature`.
//! Excludes detection of a run's features, see `identified`.

use super::{Software, catalogue, generations};
use crate::cluster::Cluster;
use crate::plan::Overlap;
use crate::precision::DataType;
use crate::problem::{Problem, did_you_mean};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

/// A feature: its changes to a generation's constants.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Feature {
    /// Identifier, as after a `+` in `plan.software`.
    pub id: String,
    /// Title for reports.
    pub name: String,
    /// Evidence for its effect.
    pub source: String,
    /// Lowercase phrases that identify it in free text.
    pub words: Vec<String>,
    /// Lowercase phrases that exclude it.
    #[serde(default)]
    pub unless: Vec<String>,
    /// Name of a choice; a stack has at most one of its features. The others are then no alternatives.
    #[serde(default)]
    pub choice: Option<String>,
    /// True if only runs of a certain purpose have it, such as reinforcement learning. Other runs then do
    /// not have it as an alternative.
    #[serde(default)]
    pub situational: bool,
    /// Frameworks that may have it, by name in generations; empty: all.
    #[serde(default)]
    pub frameworks: Vec<String>,
    /// Accelerator architectures that support it; empty: all.
    #[serde(default)]
    pub architectures: Vec<String>,
    /// Changes of time constants.
    #[serde(default)]
    changes: Changes,
    /// True if it changes memory: `catalog/memory.toml` has the constants under the same identifier.
    #[serde(default)]
    pub memory: bool,
}

/// Constants changed by a feature; absent ones are unchanged.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Changes {
    fused_expert_dispatch: Option<bool>,
    overlap: Option<Overlap>,
    broadcasts_parameters: Option<bool>,
    parks_moments: Option<bool>,
    recomputes_exchange: Option<bool>,
    wide_attention_rate: Option<f64>,
    /// Factor on the host's speed; divides all host costs.
    host_rate: Option<f64>,
    /// Lower bound on the bytes per logit of the loss: separate operators.
    least_loss_bytes_per_logit: Option<f64>,
    /// Upper bound on the bytes per logit of the loss: a fused kernel.
    most_loss_bytes_per_logit: Option<f64>,
    /// Lower bounds on the bytes per element of an RMSNorm, forward and backward: separate operators.
    least_norm_bytes: Option<[f64; 2]>,
    gathers_logits: Option<bool>,
    gathers_tokens: Option<bool>,
    /// Host time per layer and direction, in microseconds.
    host_us_per_layer: Option<f64>,
    /// Host time per pass of a layer of routed experts, in microseconds.
    host_us_per_expert_layer: Option<f64>,
    /// Host time per local expert and GEMM, in microseconds.
    host_us_per_expert_product: Option<f64>,
    masks_attention: Option<bool>,
    contiguous_context: Option<bool>,
    /// Sustained over measured rate of collectives.
    collective_rate: Option<f64>,
    /// Slowdown of compute by overlapped communication.
    overlap_slowdown: Option<f64>,
    /// One kernel or separate operators for scale, mask and softmax of unfused attention.
    fused_softmax: Option<bool>,
    /// Number format of accumulated gradients.
    gradients: Option<DataType>,
    /// Number format of gradients during reduction.
    gradient_reduce: Option<DataType>,
    /// One kernel for each norm, rotary embedding and activation, in place of the framework's operators.
    fuses_layers: bool,
}

/// Bundled features.
pub fn features() -> &'static [Feature] {
    catalogue().map_or(&[], |catalogue| &catalogue.features)
}

/// Maximum ranks per node, and maximum nodes, supported by DeepEP.
const DISPATCHED_NODE: u64 = 8;
const DISPATCHED_NODES: u64 = 20;
/// Identifier of fused token dispatch.
const FUSED_DISPATCH: &str = "fused-dispatch";

impl Software {
    /// True if an architecture supports fused token dispatch.
    pub fn dispatches_fused_on(architecture: &str) -> bool {
        feature(FUSED_DISPATCH).is_some_and(|feature| feature.runs_on(architecture))
    }

    /// Maximum expert-parallel size with fused dispatch. DeepEP's internode kernels are compiled for up to 20
    /// nodes of 8 ranks (`SWITCH_RDMA_RANKS` in `csrc/kernels/launch.cuh`); in rack-scale domains,
    /// HybridEP is limited to one domain.
    pub fn most_dispatched_ranks(cluster: &Cluster) -> u64 {
        let domain = cluster.scale_up.domain_size;
        if domain > DISPATCHED_NODE { domain } else { domain.saturating_mul(DISPATCHED_NODES) }
    }

    /// True if a stack of this framework on an architecture may have a feature that it does not name.
    pub fn may_have(&self, feature: &Feature, architecture: &str) -> bool {
        let is_offered = feature.id != FUSED_DISPATCH || self.offers.fused_dispatch;
        let is_of_framework = feature.frameworks.is_empty() || feature.frameworks.contains(&self.framework);
        let is_open = !self.includes.contains(&feature.id) && !self.has_chosen(feature);
        is_offered && is_of_framework && is_open && !feature.situational && feature.runs_on(architecture)
    }

    /// True if the stack names another feature of the same choice.
    fn has_chosen(&self, feature: &Feature) -> bool {
        let other = |id: &str| self::feature(id).is_some_and(|own| own.choice == feature.choice);
        feature.choice.is_some() && features_of(&self.id).any(other)
    }

    /// Same stack with fused token dispatch; `None` as in [`Self::with_feature`].
    pub fn with_fused_dispatch(&self, architecture: &str) -> Option<&'static Self> {
        if self.fused_expert_dispatch { None } else { self.with_feature(FUSED_DISPATCH, architecture) }
    }

    /// Same stack with a feature; `None` if it has it, or if framework or architecture do not support it.
    pub fn with_feature(&self, id: &str, architecture: &str) -> Option<&'static Self> {
        let is_new = |feature: &&Feature| features_of(&self.id).all(|own| own != feature.id);
        let may_have = |feature: &&Feature| self.may_have(feature, architecture);
        let feature = feature(id).filter(is_new).filter(may_have)?;
        by_id(&format!("{}+{}", self.id, feature.id)).ok()
    }
}

impl Feature {
    fn runs_on(&self, architecture: &str) -> bool {
        self.architectures.is_empty() || self.architectures.iter().any(|own| own == architecture)
    }
}

/// Feature by identifier.
pub fn feature(id: &str) -> Option<&'static Feature> {
    features().iter().find(|feature| feature.id == id)
}

/// Generation of a stack, without its features: `megatron-core-2025` of `megatron-core-2025+cuda-graphs`.
pub fn generation_of(id: &str) -> &str {
    id.split('+').next().unwrap_or(id)
}

impl Changes {
    fn apply(&self, software: &Software) -> Software {
        let mut software =
            self.host_rate.map_or_else(|| software.clone(), |rate| software.with_host_rate(rate));
        if self.gathers_tokens == Some(true) {
            // Megatron-Core overlaps only an all-to-all (transformer_config.py,
            // overlap_moe_expert_parallel_comm).
            (software.overlap.expert, software.offers.overlap.expert) = (false, false);
        }
        Software {
            fused_expert_dispatch: self.fused_expert_dispatch.unwrap_or(software.fused_expert_dispatch),
            overlap: self.overlap.unwrap_or(software.overlap),
            broadcasts_parameters: self.broadcasts_parameters.unwrap_or(software.broadcasts_parameters),
            parks_moments: self.parks_moments.unwrap_or(software.parks_moments),
            recomputes_exchange: self.recomputes_exchange.unwrap_or(software.recomputes_exchange),
            wide_attention_rate: self.wide_attention_rate.unwrap_or(software.wide_attention_rate),
            gathers_tokens: self.gathers_tokens.unwrap_or(software.gathers_tokens),
            gathers_logits: self.gathers_logits.unwrap_or(software.gathers_logits),
            host_us_per_layer: self.host_us_per_layer.unwrap_or(software.host_us_per_layer),
            host_us_per_expert_layer: self
                .host_us_per_expert_layer
                .unwrap_or(software.host_us_per_expert_layer),
            host_us_per_expert_product: self
                .host_us_per_expert_product
                .unwrap_or(software.host_us_per_expert_product),
            collective_rate: self.collective_rate.unwrap_or(software.collective_rate),
            overlap_slowdown: self.overlap_slowdown.unwrap_or(software.overlap_slowdown),
            masks_attention: self.masks_attention.unwrap_or(software.masks_attention),
            contiguous_context: self.contiguous_context.unwrap_or(software.contiguous_context),
            fused_softmax: self.fused_softmax.unwrap_or(software.fused_softmax),
            gradients: self.gradients.or(software.gradients),
            gradient_reduce: self.gradient_reduce.or(software.gradient_reduce),
            loss_bytes_per_logit: software
                .loss_bytes_per_logit
                .max(self.least_loss_bytes_per_logit.unwrap_or(0.0))
                .min(self.most_loss_bytes_per_logit.unwrap_or(f64::INFINITY)),
            uncast_norm_bytes: software.uncast_norm_bytes.filter(|_| !self.fuses_layers),
            rotary_bytes: software.rotary_bytes.filter(|_| !self.fuses_layers),
            composed_gelu_bytes: software.composed_gelu_bytes.filter(|_| !self.fuses_layers),
            clamp_bytes: software.clamp_bytes.filter(|_| !self.fuses_layers),
            norm_bytes: match (software.norm_bytes.filter(|_| !self.fuses_layers), self.least_norm_bytes) {
                (Some(own), Some(least)) => Some([own[0].max(least[0]), own[1].max(least[1])]),
                (own, least) => own.or(least),
            },
            ..software
        }
    }
}

/// Features of a stack: `cuda-graphs` of `megatron-core-2025+cuda-graphs`.
pub fn features_of(id: &str) -> impl Iterator<Item = &str> {
    id.split('+').skip(1)
}

/// Features in `id`, without duplicates, in alphabetical order.
fn named(id: &str) -> Result<Vec<&'static Feature>, Problem> {
    let mut chosen = Vec::new();
    for part in features_of(id) {
        // Phrases for a feature, such as `+deepep`, are accepted as its name.
        let is_meant = |f: &&Feature| f.id == part || f.words.iter().any(|word| word == part);
        let Some(feature) = features().iter().find(is_meant) else {
            let names = features().iter().map(|f| f.id.as_str());
            return Err(Problem::new(format!("unknown software feature `{part}`"))
                .at_key("plan.software")
                .hint(did_you_mean(part, names, "list them with `railwright explain software`")));
        };
        chosen.push(feature);
    }
    chosen.sort_unstable_by(|a, b| a.id.cmp(&b.id));
    chosen.dedup_by(|a, b| a.id == b.id);
    Ok(chosen)
}

/// `base` with the features in `id`, for trial constants outside the catalogue.
pub fn with_features(base: &Software, id: &str) -> Result<Software, Problem> {
    let mut software = base.clone();
    for feature in named(id)? {
        software = feature.changes.apply(&software);
        software.id = format!("{}+{}", software.id, feature.id);
    }
    Ok(software)
}

/// Stack by identifier: a generation, or one with features after `+` in any order.
///
/// Stacks with features are computed once and never freed: at most generations x 2^features.
pub fn by_id(id: &str) -> Result<&'static Software, Problem> {
    static STACKS: RwLock<BTreeMap<String, &'static Software>> = RwLock::new(BTreeMap::new());
    let own = generation_of(id);
    let Some(generation) = generations().iter().find(|g| g.id == own) else {
        let names = generations().iter().map(|g| g.id.as_str());
        return Err(Problem::new(format!("unknown software generation `{own}`"))
            .at_key("plan.software")
            .hint(did_you_mean(own, names, "list them with `railwright explain software`")));
    };
    if id.len() == own.len() {
        return Ok(generation);
    }
    if let Some(found) = STACKS.read().unwrap_or_else(PoisonError::into_inner).get(id) {
        return Ok(found);
    }
    let software = with_features(generation, id)?;
    let mut stacks = STACKS.write().unwrap_or_else(PoisonError::into_inner);
    Ok(stacks.entry(software.id.clone()).or_insert_with(|| Box::leak(Box::new(software))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_laid_over_a_generation_in_any_order() {
        let plain = by_id("megatron-core-2025").expect("known");
        let own = by_id("megatron-core-2025").expect("known").with_fused_dispatch("Hopper").expect("offered");
        assert_eq!(own.id, "megatron-core-2025+fused-dispatch");
        assert!(own.with_fused_dispatch("Hopper").is_none());
        for (id, architecture) in [("megatron-core-2025", "Ampere"), ("torchtitan-2025", "Hopper")] {
            assert!(by_id(id).expect("known").with_fused_dispatch(architecture).is_none(), "{id}");
        }
        let fused = by_id("megatron-core-2025+fused-dispatch+cuda-graphs").expect("known");
        let same = by_id("megatron-core-2025+cuda-graphs+fused-dispatch+cuda-graphs").expect("known");
        assert!(std::ptr::eq(fused, same));
        assert!(std::ptr::eq(fused, by_id("megatron-core-2025+deepep+cuda-graphs").expect("an alias")));
        assert_eq!(fused.id, "megatron-core-2025+cuda-graphs+fused-dispatch");
        assert_eq!(generation_of(&fused.id), plain.id);
        assert!(!plain.fused_expert_dispatch && fused.fused_expert_dispatch);
        assert!(fused.host_us_per_kernel < plain.host_us_per_kernel / 2.0);
        assert_eq!(fused.matmul, plain.matmul);
    }

    /// Captured parts of a layer cost the host less than none, the whole iteration least; of a generation
    /// with full graphs as of others.
    #[test]
    fn graphs_order_the_cost_of_expert_layers() {
        let host = |id: &str| by_id(id).expect("known").host_us_per_expert_layer;
        for id in ["megatron-core-2025", "megatron-core-2026-06"] {
            let none = host(&format!("{id}+no-cuda-graphs"));
            let partial = host(&format!("{id}+partial-cuda-graphs"));
            assert!(partial < none && host(&format!("{id}+cuda-graphs")) < partial, "{id}");
        }
        let plain = by_id("megatron-core-2025").expect("known").host_us_per_expert_layer;
        assert_eq!(host("megatron-core-2025+no-cuda-graphs"), plain);
    }

    /// Without this, a script that named full graphs had partial ones as an alternative, and early 2026 those
    /// that it already has.
    #[test]
    fn graphs_are_a_choice() {
        let open = |id: &str| {
            let stack = by_id(id).expect("known");
            let is_open = |name: &&str| stack.may_have(feature(name).expect("a feature"), "Hopper");
            ["cuda-graphs", "partial-cuda-graphs", "no-cuda-graphs"]
                .into_iter()
                .filter(is_open)
                .collect::<Vec<_>>()
        };
        assert_eq!(open("megatron-core-2025"), ["cuda-graphs", "partial-cuda-graphs"]);
        assert_eq!(open("megatron-core-2026"), ["cuda-graphs", "no-cuda-graphs"]);
        assert_eq!(open("megatron-core-2026-06"), ["partial-cuda-graphs", "no-cuda-graphs"]);
        assert!(open("megatron-core-2025+cuda-graphs").is_empty());
        assert!(open("megatron-core-2026-06+fused-dispatch+no-cuda-graphs").is_empty());
    }

    /// Without this, Liger was a loss alone, and Qwen3 0.6B on H100 was predicted 147% too slow.
    #[test]
    fn fused_layers_have_one_kernel_for_each_norm_and_rotation() {
        let composed = by_id("transformers-2026").expect("known");
        let fused = by_id("transformers-2026+fused-layers").expect("known");
        assert!(composed.norm_bytes.is_some() && composed.rotary_bytes.is_some());
        assert!(
            fused.norm_bytes.is_none() && fused.uncast_norm_bytes.is_none() && fused.rotary_bytes.is_none()
        );
    }

    #[test]
    fn every_feature_changes_every_generation_that_lacks_it() {
        for feature in features() {
            assert!(!feature.words.is_empty() && !feature.source.is_empty(), "{}", feature.id);
            assert!(feature.memory || feature.changes != Changes::default(), "{}", feature.id);
            for generation in generations() {
                let with = by_id(&format!("{}+{}", generation.id, feature.id)).expect("reads");
                assert_eq!(with.name, generation.name);
                assert_eq!(with.matmul, generation.matmul);
            }
        }
    }

    #[test]
    fn unknown_features_are_refused_with_the_nearest() {
        let problem = by_id("megatron-core-2025+cuda-graph").expect_err("unknown");
        assert!(problem.hint.expect("hint").contains("cuda-graphs"));
    }
}
