//! Features of a software stack that a generation alone does not fix: a dispatcher of tokens, CUDA graphs, no overlap.
//!
//! Responsible for: the features of `catalog/software.toml`, and for stacks named as `generation+feature+feature`. Refuses to find out
//! which features a run has: that is `identified`'s.

use super::{Software, catalogue, generations};
use crate::cluster::Cluster;
use crate::plan::Overlap;
use crate::problem::{Problem, did_you_mean};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

/// One feature: what it changes of a generation's constants.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Feature {
    /// Its identifier, as it stands behind a `+` in `plan.software`.
    pub id: String,
    /// Title for people.
    pub name: String,
    /// What its effect rests on.
    pub source: String,
    /// Lowercase phrases that mean it in free text.
    pub words: Vec<String>,
    /// Lowercase phrases that rule it out where they stand.
    #[serde(default)]
    pub unless: Vec<String>,
    /// Whether only runs of a certain purpose have it, such as reinforcement learning: it is no alternative of a run that does not name it.
    #[serde(default)]
    pub situational: bool,
    /// Frameworks that may have it, as generations name them; none is all.
    #[serde(default)]
    pub frameworks: Vec<String>,
    /// Architectures of accelerators that it runs on; none is all.
    #[serde(default)]
    pub architectures: Vec<String>,
    /// What it changes of time.
    #[serde(default)]
    changes: Changes,
    /// Whether it changes what is kept in memory: `catalog/memory.toml` has the constants under the same identifier.
    #[serde(default)]
    pub memory: bool,
}

/// The constants that a feature changes; what is absent stays.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Changes {
    fused_expert_dispatch: Option<bool>,
    overlap: Option<Overlap>,
    broadcasts_parameters: Option<bool>,
    parks_moments: Option<bool>,
    /// Multiple of the host's rate: all its costs are divided by it.
    host_rate: Option<f64>,
}

/// The bundled features.
pub fn features() -> &'static [Feature] {
    catalogue().map_or(&[], |catalogue| &catalogue.features)
}

/// Ranks of a node and nodes that DeepEP serves at most.
const DISPATCHED_NODE: u64 = 8;
const DISPATCHED_NODES: u64 = 20;
/// The feature of fused token dispatch.
const FUSED_DISPATCH: &str = "fused-dispatch";

impl Software {
    /// Whether fused token dispatch runs on an architecture.
    pub fn dispatches_fused_on(architecture: &str) -> bool {
        fused_dispatch().is_some_and(|feature| feature.runs_on(architecture))
    }

    /// Ranks over which fused dispatch may spread experts. DeepEP's internode kernels are compiled for up to 20 nodes of 8 ranks
    /// (`SWITCH_RDMA_RANKS` in `csrc/kernels/launch.cuh`); in scale-up domains of racks HybridEP has one domain.
    pub fn most_dispatched_ranks(cluster: &Cluster) -> u64 {
        let domain = cluster.scale_up.domain_size;
        if domain > DISPATCHED_NODE { domain } else { domain.saturating_mul(DISPATCHED_NODES) }
    }

    /// Whether a stack of this framework on an architecture may have a feature that it does not name.
    pub fn may_have(&self, feature: &Feature, architecture: &str) -> bool {
        let is_offered = feature.id != FUSED_DISPATCH || self.offers.fused_dispatch;
        let is_of_framework = feature.frameworks.is_empty() || feature.frameworks.contains(&self.framework);
        is_offered && is_of_framework && !feature.situational && feature.runs_on(architecture)
    }

    /// The same stack with fused token dispatch; `None` where it has it already, does not offer it, or the architecture does not run it.
    pub fn with_fused_dispatch(&self, architecture: &str) -> Option<&'static Self> {
        let may_get =
            |feature: &&Feature| !self.fused_expert_dispatch && self.may_have(feature, architecture);
        let feature = fused_dispatch().filter(may_get)?;
        by_id(&format!("{}+{}", self.id, feature.id)).ok()
    }
}

impl Feature {
    fn runs_on(&self, architecture: &str) -> bool {
        self.architectures.is_empty() || self.architectures.iter().any(|own| own == architecture)
    }
}

fn fused_dispatch() -> Option<&'static Feature> {
    features().iter().find(|feature| feature.id == FUSED_DISPATCH)
}

/// The generation of a stack, without its features: `megatron-core-2025` of `megatron-core-2025+cuda-graphs`.
pub fn generation_of(id: &str) -> &str {
    id.split('+').next().unwrap_or(id)
}

impl Changes {
    fn apply(&self, software: &Software) -> Software {
        let software = self.host_rate.map_or_else(|| software.clone(), |rate| software.with_host_rate(rate));
        Software {
            fused_expert_dispatch: self.fused_expert_dispatch.unwrap_or(software.fused_expert_dispatch),
            overlap: self.overlap.unwrap_or(software.overlap),
            broadcasts_parameters: self.broadcasts_parameters.unwrap_or(software.broadcasts_parameters),
            parks_moments: self.parks_moments.unwrap_or(software.parks_moments),
            ..software
        }
    }
}

/// The features of a stack as it names them: `cuda-graphs` of `megatron-core-2025+cuda-graphs`.
pub fn features_of(id: &str) -> impl Iterator<Item = &str> {
    id.split('+').skip(1)
}

/// The features that `id` names behind its generation, each once, in alphabetical order.
fn named(id: &str) -> Result<Vec<&'static Feature>, Problem> {
    let mut chosen = Vec::new();
    for part in features_of(id) {
        // `+deepep` is as good a name as any that texts have for it.
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

/// `base` with the features that `id` names behind its generation: for constants that are tried and do not stand in the catalogue.
pub fn with_features(base: &Software, id: &str) -> Result<Software, Problem> {
    let mut software = base.clone();
    for feature in named(id)? {
        software = feature.changes.apply(&software);
        software.id = format!("{}+{}", software.id, feature.id);
    }
    Ok(software)
}

/// A stack by identifier: a generation, or one with features behind `+` in any order.
///
/// Stacks with features are worked out once and live on: at most generations x 2^features of them.
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
