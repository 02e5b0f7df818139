//! What several findings cost together.
//!
//! Responsible for: which part of the step a finding's cost is counted in, and how much of it findings with a larger cost already count. Every nanosecond of a rank has one label of
//! the waterfall, so a finding takes its cost from the labels that its rule looks at, and no label is taken twice: the sum never exceeds the step. Refuses to divide a
//! cost that a replay found by label: such a finding takes first what others count as well.

use super::Context;
use crate::profile::{Finding, Joint};
use crate::waterfall::{Label, Share};
use railwright_step::Dimension;

/// Whether the cost of a rule's findings is counted in the time of a label.
fn covers(id: &str, label: Label) -> bool {
    let exposed = |dimension: Dimension| matches!(label, Label::Exposed(d, Share::Transfer | Share::Undivided) if d == dimension);
    let waits = matches!(label, Label::Exposed(_, Share::Wait));
    let bubble = matches!(label, Label::Bubble(_));
    let compute = matches!(
        label,
        Label::Ideal
            | Label::MatrixProduct
            | Label::Attention
            | Label::Recompute
            | Label::MemoryBound
            | Label::Optimizer
            | Label::OtherCompute
            | Label::SlowerChip
    );
    match id {
        "data-loading" => label == Label::DataLoading,
        "synchronisation" | "blocking-copies" => label == Label::Sync,
        "memory-allocation" => label == Label::Allocation,
        "host-bound" | "compilation" | "garbage-collection" | "checkpoint" | "evaluation"
        | "profiler-overhead" | "other-thread" | "launch-latency" | "idle-unknown" | "host-work" => {
            label == Label::Host
        }
        "unexplained" => label == Label::Unexplained,
        "small-kernels" => label.is_host_idle() || label == Label::Gap,
        "host-pauses" => waits || label.is_host_idle(),
        "waiting" => waits,
        "exposed-tensor" => exposed(Dimension::Tensor),
        "exposed-context" => exposed(Dimension::Context),
        "exposed-expert" => exposed(Dimension::Expert),
        "exposed-pipeline" => exposed(Dimension::Pipeline),
        "exposed-data" | "unused-overlap" => exposed(Dimension::Data),
        "exposed-other" => exposed(Dimension::Other),
        "low-bandwidth" | "fragmented-collectives" => matches!(label, Label::Exposed(_, _)),
        "memory-bound" => label == Label::MemoryBound,
        "memory-copies" => label == Label::Copy,
        "recompute" => label == Label::Recompute,
        "optimizer" => label == Label::Optimizer,
        "below-roofline" | "unfused-attention" | "layout-copies" | "float32-products" | "matrix-shapes"
        | "clock-throttling" => compute,
        "slow-chip" | "unbalanced-experts" => waits || bubble || compute,
        "pipeline-bubble" => bubble,
        // By replay, or by whole steps: anything.
        _ => true,
    }
}

/// Notes in every finding what those before it count already, and gives what all of them cost together. Findings are in the order of their cost.
pub(super) fn joint(context: &Context<'_>, found: &mut [Finding]) -> Option<Joint> {
    let mut left: Vec<(Label, f64)> = Label::all().map(|label| (label, context.mean(label))).collect();
    let claims =
        |label: Label| found.iter().filter(|one| one.cost.is_some() && covers(&one.id, label)).count();
    // What most findings count is taken first: a finding that may lie anywhere lies where others do.
    let mut order: Vec<(usize, usize)> =
        left.iter().enumerate().map(|(at, (label, _))| (claims(*label), at)).collect();
    order.sort_by_key(|&(claims, at)| (std::cmp::Reverse(claims), at));
    let mut joint = Joint::default();
    for finding in found.iter_mut() {
        let Some(cost) = finding.cost.filter(|cost| *cost > 0.0) else { continue };
        let mut open = cost;
        for &(_, at) in &order {
            let (label, time) = &mut left[at];
            if covers(&finding.id, *label) {
                let taken = open.min(*time);
                *time -= taken;
                open -= taken;
            }
        }
        // Rounding is no overlap.
        let shared = if open < 1e-3 * cost { 0.0 } else { open };
        finding.shared = shared;
        joint.cost += cost - shared;
        joint.shared += shared;
        joint.findings += 1;
    }
    (joint.findings > 1).then_some(joint)
}
