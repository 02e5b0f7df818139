//! Attention that is not fused.
//!
//! Responsible for: separate softmax kernels between GEMMs. Excludes fused attention, however slow.

use super::{Context, Rule};
use crate::profile::{Explained, Finding, Subject};
use crate::view::{Role, View};
use railwright_step::OperatorFamily;
use std::collections::BTreeMap;

pub(super) struct UnfusedAttention;

fn is_plain_softmax(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let softmax = name.contains("softmax") && !name.contains("log_softmax") && !name.contains("logsoftmax");
    softmax
        && !["flash", "fmha", "sdpa", "attn_fwd", "attn_bwd", "cross_entropy", "topk", "router"]
            .iter()
            .any(|word| name.contains(word))
}

/// Maximum number of kernels between a GEMM of attention and its softmax: scale, bias, mask, dropout and
/// casts.
const BETWEEN: usize = 6;

/// Adds the times of softmax kernels with a GEMM shortly before and after them on their stream: those of
/// routers, losses and samplers have only one, by name.
fn add_between<'a>(view: &'a View<'a>, (from, to): (i64, i64), times: &mut BTreeMap<&'a str, i64>) {
    let mut streams: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (at, stream) in view.gpu.streams().iter().enumerate() {
        if view.role[at] == Role::Compute {
            streams.entry(*stream).or_default().push(at);
        }
    }
    let plain: Vec<bool> = view.trace.names.iter().map(is_plain_softmax).collect();
    for rows in streams.values() {
        let multiplies = |row: &usize| view.family[*row] == OperatorFamily::MatrixProduct;
        for (place, &at) in rows.iter().enumerate() {
            let (name, start) = (view.gpu.names()[at], view.gpu.starts()[at]);
            if plain.get(name.0 as usize) != Some(&true) || start < from || start >= to {
                continue;
            }
            let before = rows[..place].iter().rev().take(BETWEEN + 1).any(multiplies);
            if before && rows[place + 1..].iter().take(BETWEEN + 1).any(multiplies) {
                *times.entry(view.trace.names.get(name)).or_default() += view.gpu.ends()[at] - start;
            }
        }
    }
}

impl Rule for UnfusedAttention {
    fn id(&self) -> &'static str {
        "unfused-attention"
    }

    fn title(&self) -> &'static str {
        "Attention is not fused"
    }

    fn text(&self) -> &'static str {
        "A separate softmax kernel writes and reads the whole score matrix. Reported if such kernels, \
         shortly after a GEMM and before another one, take 2% of the step. Cost: their time. The scores also need memory.\n\n\
         Remedies: flash attention (`--attention-backend flash` or `fused`), `scaled_dot_product_attention`."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let (_, most) = context.arithmetic(|_, name| is_plain_softmax(name));
        if context.share(most) < 0.02 {
            return Vec::new();
        }
        let mut times = BTreeMap::new();
        context.views.iter().for_each(|view| add_between(view, context.windows.span(), &mut times));
        let plain: Vec<(&str, i64)> = times.into_iter().collect();
        let all = plain.iter().map(|(_, time)| time).sum::<i64>() as f64 / context.samples();
        if context.share(all) < 0.02 {
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
