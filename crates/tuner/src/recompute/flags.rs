//! Framework flags of recompute.
//!
//! Responsible for: Megatron-LM flags and torchtitan settings of a choice, and its parts that are not
//! expressible. Excludes other parts of a launch file.

use super::policies::by_operators;
use railwright_spec::model::{FeedForward, Model};
use railwright_spec::plan::{Plan, Recompute, RecomputeModule, StageRecompute};
use serde::Serialize;

/// A family of frameworks with equal settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framework {
    Megatron,
    Torchtitan,
}

impl Framework {
    pub(super) fn of(software: &str) -> Self {
        if by_operators(software) { Self::Torchtitan } else { Self::Megatron }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Megatron => "Megatron-LM",
            Self::Torchtitan => "torchtitan",
        }
    }
}

/// The framework with the flags for a software generation.
pub fn framework_name(software: &str) -> &'static str {
    Framework::of(software).name()
}

/// The settings of one framework.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Flags {
    /// The framework.
    pub framework: &'static str,
    /// Flags, or lines of a settings file.
    pub lines: Vec<String>,
    /// Settings that are not expressible.
    pub cannot: Vec<String>,
}

/// Tests whether framework flags can express a policy for all layers.
pub(super) fn is_expressible(model: &Model, framework: Framework, policy: &Recompute) -> bool {
    match (framework, policy) {
        (_, Recompute::None | Recompute::Full { layers: None })
        | (Framework::Megatron, Recompute::Full { .. }) => true,
        (Framework::Megatron, Recompute::Selective { modules, layers: None }) => {
            modules.iter().all(|&module| megatron_module(model, module).is_some())
        }
        (Framework::Torchtitan, Recompute::Selective { modules, layers: None }) => {
            modules.iter().eq([&RecomputeModule::Operators])
        }
        _ => false,
    }
}

/// Megatron's name of a module.
fn megatron_module(model: &Model, module: RecomputeModule) -> Option<&'static str> {
    let is_mixture = |layer: &_| matches!(layer, &FeedForward::MixtureOfExperts(_));
    match module {
        RecomputeModule::CoreAttention => Some("core_attn"),
        RecomputeModule::Norm => Some("layernorm"),
        // For dense MLPs Megatron recomputes only the activation's output or the whole block.
        RecomputeModule::Activation => {
            let all = model.layer_kinds.iter().all(|layer| is_mixture(&layer.feed_forward));
            all.then_some("moe_act")
        }
        RecomputeModule::Mlp => Some("mlp"),
        RecomputeModule::Moe => Some("moe"),
        RecomputeModule::LatentUpProjection => Some("mla_up_proj"),
        RecomputeModule::Operators => None,
    }
}

/// The recompute settings of both frameworks for a plan.
pub fn flags(model: &Model, plan: &Plan) -> Vec<Flags> {
    let policy = same_everywhere(plan);
    vec![megatron(model, plan, policy.as_ref()), torchtitan(model, plan, policy.as_ref())]
}

/// The common policy of all stages, with its number of layers on each virtual stage. `None` if stages differ.
fn same_everywhere(plan: &Plan) -> Option<Recompute> {
    let Some(list) = &plan.stage_recompute else { return Some(plan.recompute.clone()) };
    let first = list.first()?;
    if list.iter().any(|s| s != first) || first.offload.is_some() || first.segments.len() > 1 {
        return None;
    }
    let policy = first.segments.first().cloned().unwrap_or(Recompute::None);
    // An entry of a stage with several virtual stages counts layers of the stage, the flag those of each
    // virtual stage.
    let per_stage = list.len() == plan.pipeline_parallel as usize && plan.virtual_stages > 1;
    (policy.layers().is_none() || !per_stage).then_some(policy)
}

fn megatron(model: &Model, plan: &Plan, policy: Option<&Recompute>) -> Flags {
    let mut lines = Vec::new();
    let mut cannot = Vec::new();
    match policy {
        None => {
            cannot.push(
                "recompute that differs by stage: set the recompute_* fields of the TransformerConfig of each \
                 stage"
                    .to_owned(),
            );
            cannot.extend(mixtures(plan));
        }
        Some(Recompute::None) => lines.push("# no --recompute-* flag".to_owned()),
        Some(Recompute::Full { layers: None }) => {
            lines.push("--recompute-granularity full".to_owned());
            lines.push("--recompute-method uniform".to_owned());
            lines.push("--recompute-num-layers 1".to_owned());
        }
        Some(Recompute::Full { layers: Some(n) }) => {
            lines.push("--recompute-granularity full".to_owned());
            lines.push("--recompute-method block".to_owned());
            lines.push(format!("--recompute-num-layers {n}"));
        }
        Some(Recompute::Selective { modules, layers }) => {
            let names: Vec<&str> = modules.iter().filter_map(|&m| megatron_module(model, m)).collect();
            if !names.is_empty() {
                lines.push("--recompute-granularity selective".to_owned());
                lines.push(format!("--recompute-modules {}", names.join(" ")));
            }
            let lost = modules.iter().filter(|&&m| megatron_module(model, m).is_none());
            cannot.extend(lost.map(|m| format!("recompute of `{}`", m.name())));
            if let Some(n) = layers {
                cannot.push(format!(
                    "recompute of modules in {n} layers only: --recompute-modules applies to all layers"
                ));
            }
        }
    }
    if offloads(plan) {
        cannot.push(
            "offload of a share of activations: --cpu-offloading-num-layers counts whole layers".to_owned(),
        );
    }
    Flags { framework: Framework::Megatron.name(), lines, cannot }
}

fn torchtitan(model: &Model, plan: &Plan, policy: Option<&Recompute>) -> Flags {
    let mut lines = vec!["[activation_checkpoint]".to_owned()];
    let mut cannot = Vec::new();
    let mut say = |mode: &str, option: Option<String>| {
        lines.push(format!("mode = \"{mode}\""));
        lines.extend(option.map(|option| format!("selective_ac_option = \"{option}\"")));
    };
    match policy {
        None => {
            cannot.push("recompute that differs by stage: wrap the layers in parallelize_llama".to_owned());
        }
        Some(Recompute::None) => say("none", None),
        Some(Recompute::Full { layers: None }) => say("full", None),
        Some(Recompute::Full { layers: Some(n) }) => {
            let split = model.num_layers() as f64
                / (plan.pipeline_parallel * plan.virtual_stages.max(1)).max(1) as f64;
            let every = (split / *n as f64).round().max(1.0) as u64;
            if (split / *n as f64 - every as f64).abs() < 1e-9 {
                say("selective", Some(every.to_string()));
            } else {
                say("selective", Some(every.to_string()));
                cannot.push(format!("{n} layers of {split:.1}: the nearest possible is one in {every}"));
            }
        }
        Some(Recompute::Selective { modules, layers: None })
            if modules.iter().eq([&RecomputeModule::Operators]) =>
        {
            say("selective", Some("op".to_owned()));
        }
        Some(Recompute::Selective { modules, .. }) => {
            let names: Vec<String> = modules.iter().map(|m| m.name()).collect();
            cannot.push(format!(
                "recompute of {} only: checkpoint these submodules manually",
                names.join(", ")
            ));
        }
    }
    if lines.len() == 1 {
        lines.clear();
    }
    if offloads(plan) {
        cannot.push("offload of a share of activations".to_owned());
    }
    Flags { framework: Framework::Torchtitan.name(), lines, cannot }
}

fn offloads(plan: &Plan) -> bool {
    let by_stage = plan.stage_recompute.iter().flatten().any(|s| s.offload.is_some_and(|x| x > 0.0));
    by_stage || plan.offload.activations > 0.0
}

/// Mixed policies within a stage, as text. `None` without any.
fn mixtures(plan: &Plan) -> Option<String> {
    let list = plan.stage_recompute.as_ref()?;
    let mixed = list.iter().filter(|s| is_mixture(s)).count();
    (mixed > 0).then(|| {
        let stages = if mixed == 1 { "1 stage".to_owned() } else { format!("{mixed} stages") };
        format!(
            "policies that differ within a stage, as on {stages}: select the policy by layer number in the constructor of the layer"
        )
    })
}

fn is_mixture(stage: &StageRecompute) -> bool {
    let named = |s: &&Recompute| !matches!(s, Recompute::None) && s.everywhere() != Recompute::None;
    stage.segments.iter().filter(named).count() > 1
}

#[cfg(test)]
mod tests {
    use super::super::policies::has;
    use super::*;

    #[test]
    fn modules_that_no_layer_has_are_never_named() {
        let model = railwright_spec::model::by_name("llama-3-8b").expect("known");
        assert!(model.layer_kinds.iter().all(|layer| !has(layer, RecomputeModule::Moe)));
        assert_eq!(megatron_module(&model, RecomputeModule::Activation), None);
        let mixture = railwright_spec::model::by_name("mixtral-8x7b").expect("known");
        assert_eq!(megatron_module(&mixture, RecomputeModule::Activation), Some("moe_act"));
    }
}
