//! Element-wise work and norms limited by memory bandwidth.
//!
//! Responsible for: a large share of memory-bound kernels. A usual share is no finding.

use super::{Context, Inference, Rule, percent};
use crate::kernels::KernelTable;
use crate::profile::{Explained, Finding, Subject};
use crate::waterfall::Label;
use railwright_step::OperatorFamily;

pub(super) struct BoundByMemory;

/// Share of the step in fused transformers: norms, activations and residuals of a compiled model take a sixth (MegaScale and torchtitan
/// report 10% to 20%).
const USUAL: f64 = 0.20;

impl Rule for BoundByMemory {
    fn id(&self) -> &'static str {
        "memory-bound"
    }

    fn title(&self) -> &'static str {
        "Large share of element-wise kernels"
    }

    fn text(&self) -> &'static str {
        "Norms, activations, residuals, and casts are limited by memory bandwidth. Fused \
         implementations spend up to 20% of the step in them. Threshold: 25%. Cost: the time above 20%.\n\n\
         Remedies: torch.compile, fused norms, rotary embeddings, activations and cross-entropy (Transformer \
         Engine, Liger), fewer casts."
    }

    fn inference(&self) -> Inference {
        Inference::Advice(
            "fuse norms, activations, rotary embeddings and quantization with their neighbours (the server's compiled or custom kernels)",
        )
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let fits = |label: Label| label == Label::MemoryBound;
        // Parameters are initialized once, before the first step. Fusion affects neither them nor values that the host reads nor embedding
        // tables, whose kernels contain the whole lookup or update.
        let table = KernelTable::shipped();
        let is_other = |name: &str| is_not_fused(name) || table.family(name) == OperatorFamily::Embedding;
        let other = context.times_under(fits).filter(|(name, _)| is_other(name));
        let other = other.map(|(_, time)| time).sum::<i64>() as f64 / context.samples();
        let all = context.mean(Label::MemoryBound) - other;
        if context.share(all) < 0.25 || context.has_launches_alone() {
            return Vec::new();
        }
        // Names of compiler-generated kernels.
        let are_mostly = |made: fn(&str) -> bool| {
            let by_it = context.times_under(fits).filter(|(name, _)| made(name)).map(|(_, time)| time);
            by_it.sum::<i64>() as f64 / context.samples() > 0.5 * all
        };
        let fused: Vec<(&str, i64)> = context.times_under(fits).filter(|(name, _)| !is_other(name)).collect();
        let cost = all - USUAL * context.step();
        vec![Finding {
            id: self.id().to_owned(),
            message: "element-wise kernels and norms above 20% of the step".to_owned(),
            cost: Some(cost),
            savings: context.savings(&fused, cost / all.max(1.0)),
            explained: Explained::Whole,
            subject: Subject::of_kernels(Context::leading(context.times_under(fits).filter(|(name, _)| !is_other(name)))),
            evidence: [format!("these kernels take {} of the step", percent(context.share(all)))]
                .into_iter()
                .chain(context.costliest(context.times_under(fits).filter(|(name, _)| !is_other(name)), 4))
                .collect(),
            advice: if are_mostly(is_fusion_of_xla) {
                "XLA has fused these kernels already: look for casts, transposes and recomputed values among them, and use kernels of cuDNN or Transformer Engine for attention, norms and cross-entropy"
            } else if are_mostly(|name| name.starts_with("triton_")) {
                "these kernels are already compiled: remove graph breaks and casts between them, and use hand-fused norms, activations and cross-entropy for the largest"
            } else {
                "fuse them: torch.compile, or fused norms, activations, rotary embeddings and cross-entropy"
            }
            .to_owned(),
            ..Finding::default()
        }]
    }
}

/// Tests whether XLA named a kernel, as in `input_convert_reduce_fusion.13`.
fn is_fusion_of_xla(name: &str) -> bool {
    let is_number = |text: &str| text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '_'));
    name.split_once("_fusion").is_some_and(|(_, number)| is_number(number))
}

/// Tests whether a host operator draws parameters at random or reads a value: neither can be fused.
fn is_not_fused(name: &str) -> bool {
    [
        "aten::uniform_",
        "aten::normal_",
        "aten::random_",
        "aten::trunc_normal_",
        "aten::log_normal_",
        "aten::item",
        "aten::is_nonzero",
        "aten::_local_scalar_dense",
    ]
    .contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_xla_differ_from_others() {
        assert!(is_fusion_of_xla("input_convert_reduce_fusion.13") && is_fusion_of_xla("loop_add_fusion"));
        assert!(!is_fusion_of_xla("triton_poi_fused_cat_clone_3") && !is_fusion_of_xla("my_fusion_kernel"));
    }
}
