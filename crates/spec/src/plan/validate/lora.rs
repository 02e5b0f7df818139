//! Adapters against the model's weights.

use super::super::{FrozenWeights, Plan};
use crate::model::Model;
use crate::problem::{Problem, Warning};

/// At least one target must have a weight: PEFT and Megatron-Bridge refuse to train nothing.
pub(super) fn check(model: &Model, plan: &Plan, problems: &mut Vec<Problem>) {
    let Some(lora) = plan.adapters() else { return };
    if lora.unmatched(model).len() == lora.targets.len() {
        let names: Vec<String> = lora.targets.iter().map(|target| target.name()).collect();
        problems.push(
            Problem::new(format!(
                "{} has no `{}`, so nothing would be trained",
                model.name,
                names.join("`, `")
            ))
            .at_key("plan.lora_targets")
            .hint("use `all-linear`"),
        );
    }
}

/// PEFT ignores a target without a weight if another target has one. Without LoRA, rank and targets have no
/// effect.
pub(super) fn warnings(model: &Model, plan: &Plan, found: &mut Vec<Warning>) {
    let Some(lora) = plan.adapters() else {
        if plan.frozen_weights != FrozenWeights::Parameters {
            let message =
                "frozen weights in four bits have no effect: the optimizer trains all weights".to_owned();
            found.push(Warning::new("frozen-weights-without-adapters", message));
        }
        if plan.lora.is_some() {
            let message =
                "the LoRA rank and targets have no effect: the optimizer trains all weights".to_owned();
            found.push(Warning::new("lora-without-optimizer", message));
        }
        return;
    };
    let unmatched = lora.unmatched(model);
    if !unmatched.is_empty() && unmatched.len() < lora.targets.len() {
        let names: Vec<String> = unmatched.iter().map(|target| target.name()).collect();
        let message =
            format!("{} has no `{}`, so these LoRA targets add no adapters", model.name, names.join("`, `"));
        found.push(Warning::new("lora-target-missing", message));
    }
}
