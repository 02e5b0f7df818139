//! Attention that is not fused.
//!
//! Responsible for: separate softmax kernels between GEMMs. Excludes fused attention, however slow.

use super::{Context, Rule};
use crate::profile::{Explained, Finding, Subject};
use railwright_step::OperatorFamily;

pub(super) struct UnfusedAttention;

fn is_plain_softmax(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let softmax = name.contains("softmax") && !name.contains("log_softmax") && !name.contains("logsoftmax");
    softmax
        && !["flash", "fmha", "sdpa", "attn_fwd", "attn_bwd", "cross_entropy", "topk", "router"]
            .iter()
            .any(|word| name.contains(word))
}

impl Rule for UnfusedAttention {
    fn id(&self) -> &'static str {
        "unfused-attention"
    }

    fn title(&self) -> &'static str {
        "Attention is not fused"
    }

    fn text(&self) -> &'static str {
        "A separate softmax kernel writes and reads the whole score matrix. Reported if such kernels take 2% \
         of the step that also has GEMMs. Cost: their time. The scores also need memory.\n\n\
         Remedies: flash attention (`--attention-backend flash` or `fused`), `scaled_dot_product_attention`."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let (plain, all) = context.arithmetic(|_, name| is_plain_softmax(name));
        // Attention is a softmax between two GEMMs.
        let has_gemms =
            || context.kernels().any(|(kernel, _)| kernel.family == OperatorFamily::MatrixProduct);
        if context.share(all) < 0.02 || !has_gemms() {
            return Vec::new();
        }
        vec![Finding {
            id: self.id().to_owned(),
            message: "attention is not fused: separate softmax kernels".to_owned(),
            cost: Some(all),
            savings: context.savings(&plain, 1.0),
            explained: Explained::Whole,
            subject: Subject::of_kernels(Context::leading(plain.iter().copied())),
            evidence: context.costliest(plain, 3),
            advice: "use fused attention".to_owned(),
            ..Finding::default()
        }]
    }
}
