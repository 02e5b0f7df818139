//! A slow optimizer.
//!
//! Responsible for: compute of updates. Excludes its communication, which is data parallel.

use super::context::EXPLAINED;
use super::words::{percent, time};
use super::{Context, Inference, Rule};
use crate::profile::{Explained, Finding, Subject};
use crate::view::Role;
use crate::waterfall::Label;
use railwright_step::Phase;

pub(super) struct Optimizer;

/// Minimum ratio of the other compute to that of the updates: a forward and a backward pass read each
/// parameter more often than an update. With less, only updates were recorded, and their share of a step is
/// unknown.
const RECORDED: f64 = 0.1;

impl Rule for Optimizer {
    fn id(&self) -> &'static str {
        "optimizer"
    }

    fn title(&self) -> &'static str {
        "Large share of time in the optimizer"
    }

    fn text(&self) -> &'static str {
        "Compute of gradient clipping and parameter update. Threshold: 8% of the step. Cost: the time \
         above 4%, which is usual for fused and sharded optimizers.\n\n\
         Remedies: fused or multi-tensor updates, an optimizer sharded over replicas \
         (`--use-distributed-optimizer`, ZeRO), more micro-batches per update."
    }

    fn inference(&self) -> Inference {
        Inference::Silent
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let all = context.mean(Label::Optimizer);
        let computes = |label: Label| label.is_compute() && label != Label::Optimizer;
        if context.share(all) < 0.08 || context.sum(computes) < RECORDED * all {
            return Vec::new();
        }
        let updates =
            || context.kernels().filter(|(k, _)| k.phase == Phase::Optimizer && k.role == Role::Compute);
        let kernels: u64 = updates().map(|(k, _)| k.count).sum();
        let whole: i64 = updates().map(|(k, _)| k.duration).sum();
        let fused: i64 = updates().filter(|(_, name)| is_fused(name)).map(|(k, _)| k.duration).sum();
        let fused = fused as f64 / whole.max(1) as f64;
        let is_fused = fused >= EXPLAINED;
        let mut evidence = vec![
            format!("optimizer: {} per step, {}", time(all), percent(context.share(all))),
            format!("{:.0} {} per step", kernels as f64 / context.samples(), context.work()),
        ];
        if is_fused {
            evidence.push(format!("{} of it in kernels that update many tensors at once", percent(fused)));
        }
        let is_one_of_many = context.kernels().any(|(k, _)| k.role == Role::Communication);
        vec![Finding {
            id: self.id().to_owned(),
            message: "optimizer time above 4% of the step".to_owned(),
            cost: Some(all - 0.04 * context.step()),
            explained: Explained::Whole,
            subject: Subject::of_phase(Phase::Optimizer),
            evidence,
            advice: advice(is_fused, is_one_of_many),
            ..Finding::default()
        }]
    }
}

/// Tests whether a kernel updates many tensors at once: multi-tensor kernels of PyTorch and Apex, and fused
/// optimizers by name.
fn is_fused(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ["multi_tensor", "multitensor", "fusedadam", "fused_adam", "fusedoptimizer"]
        .iter()
        .any(|word| lower.contains(word))
}

/// Remaining advice: fusing if updates are not fused, sharding if there are other ranks.
fn advice(is_fused: bool, is_one_of_many: bool) -> String {
    let fuse = (!is_fused).then_some("fuse updates (`fused=True`, multi-tensor)");
    let shard = is_one_of_many.then_some("shard them over replicas, unless they are already sharded");
    let fewer = "use more micro-batches per update";
    let all: Vec<&str> = [fuse, shard, Some(fewer)].into_iter().flatten().collect();
    match all.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{}, or {last}", others.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{advice, is_fused};

    #[test]
    fn advice_follows_the_evidence() {
        assert_eq!(advice(true, false), "use more micro-batches per update");
        assert!(!advice(true, true).contains("fuse ") && advice(true, true).contains("shard"));
        assert!(advice(false, false).starts_with("fuse updates") && !advice(false, false).contains("shard"));
        assert!(is_fused(
            "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor>"
        ));
        assert!(!is_fused("void at::native::vectorized_elementwise_kernel<4, addcdiv>"));
    }
}
