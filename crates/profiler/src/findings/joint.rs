//! Joint cost of several findings.
//!
//! Responsible for: the part of the step that a finding can remove, and the part that findings with a larger cost remove already. Every
//! nanosecond of a rank has one label of the waterfall. A finding takes its cost from the labels of its rule, and no label is taken twice:
//! the sum never exceeds the step. Findings by replay or by whole steps take their cost from the labels of their cause: waits of others,
//! labels of the named ranks, or excess of labels over their median step.

use super::{Context, Rule};
use crate::attribution::Kind;
use crate::profile::{Finding, Joint};
use crate::waterfall::{Label, Share};
use railwright_step::Dimension;
use std::collections::{BTreeMap, BTreeSet};

/// Tests whether the time of a label contains the cost of a rule's findings.
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
        "synchronization" | "blocking-copies" => label == Label::Sync,
        "memory-allocation" => label == Label::Allocation,
        "host-bound" | "compilation" | "garbage-collection" | "checkpoint" | "evaluation"
        | "profiler-overhead" | "other-thread" | "launch-latency" | "idle-unknown" | "host-work" => {
            label == Label::Host
        }
        "unexplained" => label == Label::Unexplained,
        "small-kernels" => label.is_host_idle(),
        "device-gaps" => label == Label::Gap,
        "host-pauses" => waits || label.is_host_idle(),
        "waiting" => waits,
        "exposed-tensor" => exposed(Dimension::Tensor),
        "exposed-context" => exposed(Dimension::Context),
        "exposed-expert" => exposed(Dimension::Expert),
        "exposed-pipeline" => exposed(Dimension::Pipeline),
        "exposed-data" | "unused-overlap" => exposed(Dimension::Data),
        "exposed-other" => exposed(Dimension::Other),
        "implausible-bandwidth" => matches!(label, Label::Exposed(_, Share::Undivided)),
        "low-bandwidth" | "fragmented-collectives" => matches!(label, Label::Exposed(_, _)),
        "memory-bound" => label == Label::MemoryBound,
        "memory-copies" => label == Label::Copy,
        "recompute" => label == Label::Recompute,
        "optimizer" => label == Label::Optimizer,
        "below-roofline" | "unfused-attention" | "layout-copies" | "float32-products" | "matrix-shapes"
        | "clock-throttling" => compute,
        // The excess of the slow rank is a share of one rank; the cost to the step is the wait of the others.
        "slow-chip" => waits || bubble || label == Label::SlowerChip,
        // Waits of others; `removable` adds the named ranks' own time.
        "straggler" | "unbalanced-experts" => waits || bubble,
        "slow-group" => bubble || matches!(label, Label::Exposed(_, _)),
        "pipeline-bubble" => bubble,
        _ => false,
    }
}

/// Tests whether a rule compares whole steps with each other.
fn by_steps(id: &str) -> bool {
    matches!(id, "varying-steps" | "step-time-drift")
}

/// Tests whether a rule's cost is a replay without idle time: other ranks waited for some of it.
fn is_of_idle(context: &Context<'_>, id: &str) -> bool {
    context.replays.is_some() && super::idle::IDLE.iter().any(|rule| rule.id() == id)
}

/// Time by label that a rule's findings can remove, per rank and step, in nanoseconds.
fn removable(context: &Context<'_>, id: &str) -> Vec<f64> {
    let samples = context.samples();
    if by_steps(id) {
        return Label::all().map(|label| beyond_median(context, label)).collect();
    }
    let named: BTreeSet<u32> = match (id, context.stragglers) {
        ("straggler" | "slow-group", Some(report)) => {
            let stage = id == "slow-group";
            let wanted = report.culprits.iter().filter(|one| (one.kind != Kind::Rank) == stage);
            wanted.flat_map(|one| one.ranks.iter().copied()).collect()
        }
        _ => BTreeSet::new(),
    };
    // Excess of the named ranks over the median rank.
    let own = |label: Label| {
        let mut times: Vec<i64> = context.waterfall.ranks.iter().map(|rank| rank.total.get(label)).collect();
        times.sort_unstable();
        let usual = times.get(times.len() / 2).copied().unwrap_or(0);
        let ranks = context.waterfall.ranks.iter().filter(|rank| named.contains(&rank.rank));
        ranks.map(|rank| (rank.total.get(label) - usual).max(0)).sum::<i64>() as f64 / samples
    };
    // Without the idle time, ranks wait less for each other.
    let waits = |label: Label| {
        let of_others = matches!(label, Label::Exposed(_, Share::Wait) | Label::Bubble(_));
        of_others && is_of_idle(context, id)
    };
    let has = |label: Label| covers(id, label) || waits(label);
    Label::all().map(|label| if has(label) { context.mean(label) } else { own(label) }).collect()
}

/// Excess of a label in the mean step over its median step, per rank, in nanoseconds: `max(0, mean_s(t_s) - median_s(t_s)) / ranks`.
fn beyond_median(context: &Context<'_>, label: Label) -> f64 {
    let mut times: Vec<i64> = context.waterfall.steps.iter().map(|step| step.get(label)).collect();
    if times.is_empty() {
        return 0.0;
    }
    times.sort_unstable();
    let mean = times.iter().sum::<i64>() as f64 / times.len() as f64;
    let steps = times.len() as f64;
    (mean - times[times.len() / 2] as f64).max(0.0) * steps / context.samples()
}

/// Adds to every finding the share that previous ones remove already, and returns the joint cost. Findings are in order of cost.
pub(super) fn joint(context: &Context<'_>, found: &mut [Finding]) -> Option<Joint> {
    let labels: Vec<Label> = Label::all().collect();
    let mut left: Vec<f64> = labels.iter().map(|&label| context.mean(label)).collect();
    let mut budgets: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for finding in found.iter().filter(|one| one.cost.is_some()) {
        budgets.entry(finding.id.clone()).or_insert_with(|| removable(context, &finding.id));
    }
    let claims = |at: usize| {
        let claimed = |one: &&Finding| budgets.get(&one.id).is_some_and(|budget| budget[at] > 0.0);
        found.iter().filter(|one| one.cost.is_some()).filter(claimed).count()
    };
    // Labels claimed by most findings come first: a cause that may lie in several labels is charged where other findings agree.
    let mut order: Vec<(usize, usize)> = (0..left.len()).map(|at| (claims(at), at)).collect();
    order.sort_by_key(|&(claims, at)| (std::cmp::Reverse(claims), at));
    let mut joint = Joint::default();
    let mut of_kernels = kernels(context, found);
    let repeated: Vec<f64> = (0..found.len()).map(|at| repeated(found, at)).collect();
    for (finding, repeated) in found.iter_mut().zip(repeated) {
        let Some(cost) = finding.cost.filter(|cost| *cost > 0.0) else { continue };
        let Some(budget) = budgets.get_mut(&finding.id) else { continue };
        let over = twice(&mut of_kernels, &finding.savings).max(repeated);
        let mut open = (cost - over).max(0.0);
        // Idle time takes its own label before the waits that it causes.
        let own_first = is_of_idle(context, &finding.id);
        let (own, others): (Vec<_>, Vec<_>) = order.iter().partition(|(_, at)| {
            !own_first || labels.get(*at).is_some_and(|label| covers(&finding.id, *label))
        });
        for (_, at) in own.into_iter().chain(others) {
            let taken = open.min(left[at]).min(budget[at]).max(0.0);
            left[at] -= taken;
            budget[at] -= taken;
            open -= taken;
        }
        open += over.min(cost);
        // A rounding error is no overlap.
        let shared = if open < 1e-3 * cost { 0.0 } else { open };
        finding.shared = shared;
        joint.cost += cost - shared;
        joint.shared += shared;
        joint.findings += 1;
    }
    (joint.findings > 1).then_some(joint)
}

/// Tests whether a rule's findings are delays by their ranks.
fn is_of_ranks(id: &str) -> bool {
    matches!(id, "straggler" | "slow-chip" | "unbalanced-experts" | "host-pauses")
}

/// Cost of a finding that findings before it contain because they are about the same delay: the same activity of the same ranks. Without it,
/// both are gone.
fn repeated(found: &[Finding], at: usize) -> f64 {
    let (before, rest) = found.split_at(at);
    let Some(one) = rest.first().filter(|one| is_of_ranks(&one.id)) else { return 0.0 };
    let ranks = |finding: &Finding| finding.subject.ranks.iter().copied().collect::<BTreeSet<u32>>();
    let own = ranks(one);
    let is_same = |other: &&Finding| {
        let others = ranks(other);
        is_of_ranks(&other.id)
            && other.subject.spans == one.subject.spans
            && !own.is_empty()
            && !others.is_empty()
            && (own.is_subset(&others) || others.is_subset(&own))
    };
    before.iter().filter(is_same).filter_map(|other| other.cost).sum::<f64>().min(one.cost.unwrap_or(0.0))
}

/// Time of the kernels that several findings count, per rank and step in nanoseconds.
fn kernels(context: &Context<'_>, found: &[Finding]) -> BTreeMap<String, f64> {
    let names: BTreeSet<&str> =
        found.iter().flat_map(|one| &one.savings).map(|saving| saving.0.as_str()).collect();
    let mut times: BTreeMap<String, f64> = BTreeMap::new();
    if names.is_empty() {
        return times;
    }
    for (kernel, name) in context.kernels().filter(|(_, name)| names.contains(name)) {
        *times.entry(name.to_owned()).or_default() += kernel.duration as f64 / context.samples();
    }
    times
}

/// Part of the savings that exceeds what previous findings leave of these kernels.
fn twice(left: &mut BTreeMap<String, f64>, savings: &[(String, f64)]) -> f64 {
    let over = |(name, saving): &(String, f64)| {
        let Some(left) = left.get_mut(name) else { return 0.0 };
        let taken = saving.min(*left);
        *left -= taken;
        saving - taken
    };
    savings.iter().map(over).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Subject;
    use railwright_step::columns::Class;

    /// A slow device is a finding of its kernels and a straggler.
    #[test]
    fn one_delay_of_a_rank_is_saved_once() {
        let of = |id: &str, ranks: &[u32], cost: f64, spans: &[Class]| Finding {
            id: id.to_owned(),
            cost: Some(cost),
            subject: Subject::of_ranks(ranks, spans),
            ..Finding::default()
        };
        let (compute, host) = (&Subject::COMPUTE[..], &[Class::Host][..]);
        let found = [
            of("slow-chip", &[3, 8], 50.0, compute),
            of("straggler", &[8], 40.0, compute),
            of("straggler", &[3], 30.0, compute),
            of("straggler", &[3], 20.0, host),
            of("host-pauses", &[], 10.0, host),
        ];
        assert_eq!([0, 1, 2, 3, 4].map(|at| repeated(&found, at) as i64), [0, 40, 30, 0, 0]);
    }

    /// Fused attention removes the softmax that a faster softmax would shorten.
    #[test]
    fn a_kernel_is_saved_once() {
        let mut left = BTreeMap::from([("softmax".to_owned(), 50.0), ("gemm".to_owned(), 80.0)]);
        let savings = |softmax: f64| vec![("softmax".to_owned(), softmax), ("gemm".to_owned(), 30.0)];
        assert!((twice(&mut left, &[("softmax".to_owned(), 50.0)])).abs() < 1e-9);
        assert!((twice(&mut left, &savings(40.0)) - 40.0).abs() < 1e-9);
        assert!((left["gemm"] - 50.0).abs() < 1e-9);
    }
}
