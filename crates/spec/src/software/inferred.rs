//! Inference of the software generation of a plan.
//!
//! Responsible for: the match of a plan and an accelerator with the defaults in `catalog/software.toml`.
//! Independent of model names and of measured runs.

use super::{Software, generations};
use crate::plan::PlanSpec;
use serde::Deserialize;

/// Plans and accelerators with a generation as default.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usual {
    /// Plans.
    pub plans: UsualPlans,
    /// Architectures, by prefix; `default` for those of no other generation.
    pub architectures: Vec<String>,
}

/// Kind of plan, from which the framework is inferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsualPlans {
    /// Full sharding without tensor and pipeline parallelism.
    FullSharding,
    /// All others.
    Others,
}

/// Generation if the catalogue has no default for a plan, which a test excludes.
const FALLBACK: &str = "megatron-core-2025";

/// Default generation of a plan on an architecture.
pub fn inferred(spec: &PlanSpec, architecture: &str) -> &'static str {
    let is_cut = |degree: Option<u64>| degree.is_some_and(|n| n > 1);
    let is_sharded = spec.sharding.is_some_and(|sharding| sharding.zero_stage == 3);
    let plans = if is_sharded && !is_cut(spec.tensor_parallel) && !is_cut(spec.pipeline_parallel) {
        UsualPlans::FullSharding
    } else {
        UsualPlans::Others
    };
    usual_among(plans, architecture, |_| true).map_or(FALLBACK, |generation| generation.id.as_str())
}

/// Default generation of plans on an architecture among the generations that `is_candidate` accepts; `None`
/// if none of them is a default.
pub fn usual_among(
    plans: UsualPlans,
    architecture: &str,
    is_candidate: impl Fn(&Software) -> bool,
) -> Option<&'static Software> {
    let of = |matches: &dyn Fn(&str) -> bool| {
        generations().iter().filter(|generation| is_candidate(generation)).find(|generation| {
            generation.usual.iter().any(|u| u.plans == plans && u.architectures.iter().any(|a| matches(a)))
        })
    };
    let architecture = architecture.to_ascii_lowercase();
    of(&|name| name != "default" && architecture.starts_with(&name.to_ascii_lowercase()))
        .or_else(|| of(&|name| name == "default"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{PlanSpec, Sharding};

    #[test]
    fn a_framework_is_inferred_from_plan_and_accelerator() {
        let full = Some(Sharding { zero_stage: 3, group: None, reshard_after_forward: true });
        let fsdp = PlanSpec { sharding: full, ..PlanSpec::default() };
        let pipelined = PlanSpec { pipeline_parallel: Some(4), ..fsdp.clone() };
        let cut = PlanSpec { tensor_parallel: Some(8), ..PlanSpec::default() };
        for (spec, architecture, expected) in [
            (&cut, "Hopper", "megatron-core-2025"),
            (&cut, "Ampere", "megatron-core-2025"),
            (&cut, "CDNA3", "megatron-core-2025"),
            (&cut, "Blackwell", "megatron-core-2026-06"),
            (&cut, "Blackwell Ultra", "megatron-core-2026-06"),
            (&fsdp, "Hopper", "torchtitan-2025"),
            (&fsdp, "Blackwell", "torchtitan-2025"),
            (&pipelined, "Hopper", "megatron-core-2025"),
            (&cut, "TPU v5p", "maxtext-tpu"),
            (&fsdp, "TPU v5p", "maxtext-tpu"),
        ] {
            assert_eq!(inferred(spec, architecture), expected, "{architecture}");
        }
    }
}
