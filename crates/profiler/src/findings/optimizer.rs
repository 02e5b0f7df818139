//! A slow optimizer.
//!
//! Responsible for: the arithmetic of updates. Refuses its communication, which is data parallel.

use super::{Context, Inference, Rule, percent, time};
use crate::profile::{Explained, Finding};
use crate::view::Role;
use crate::waterfall::Label;
use railwright_step::Phase;

pub(super) struct Optimizer;

impl Rule for Optimizer {
    fn id(&self) -> &'static str {
        "optimizer"
    }

    fn title(&self) -> &'static str {
        "The optimizer takes long"
    }

    fn text(&self) -> &'static str {
        "Compute of gradient clipping and parameter update. Reported from 8 % of the step. Cost: the time \
         above 4 %, which is usual for fused and sharded optimizers.\n\n\
         Remedies: fused or multi-tensor updates, an optimizer sharded over replicas \
         (`--use-distributed-optimizer`, ZeRO), more micro-batches per update."
    }

    fn inference(&self) -> Inference {
        Inference::Silent
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let all = context.mean(Label::Optimizer);
        if context.share(all) < 0.08 {
            return Vec::new();
        }
        let kernels: u64 = context
            .kernels()
            .filter(|(k, _)| k.phase == Phase::Optimizer && k.role == Role::Compute)
            .map(|(k, _)| k.count)
            .sum();
        vec![Finding {
            id: self.id().to_owned(),
            message: format!("the optimizer takes {} of the step", percent(context.share(all))),
            cost: Some(all - 0.04 * context.step()),
            explained: Explained::Whole,
            evidence: vec![
                format!("{} per step", time(all)),
                format!("{:.0} {} per step", kernels as f64 / context.samples(), context.work()),
            ],
            advice: "fuse updates (`fused=True`, multi-tensor) and shard them over replicas".to_owned(),
            ..Finding::default()
        }]
    }
}
