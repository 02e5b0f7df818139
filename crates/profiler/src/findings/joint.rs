//! Joint cost of several findings.
//!
//! Responsible for: the part of the step that a finding can remove, and the part that findings with a larger
//! cost remove already. Every nanosecond of a rank is in one cell: a label of the waterfall, for host time
//! with its cause. A finding takes its cost from the cells of its rule, and no cell is taken twice: the sum
//! never exceeds the step. Findings about kernels take theirs from the labels of these kernels. Findings by
//! replay or by whole steps take their cost from the cells of their cause: waits of others, cells of the
//! named ranks, or excess of cells over their median step.

use super::{Context, Rule};
use crate::attribution::Kind;
use crate::causes::{Cause, CauseTimes};
use crate::profile::{Finding, Joint};
use crate::waterfall::{Label, Parts, Share};
use railwright_step::Dimension;
use std::collections::{BTreeMap, BTreeSet};

/// A part of a rank's time that findings can remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cell {
    /// A label other than host time.
    Label(Label),
    /// Host time of a cause.
    Host(Cause),
}

impl Cell {
    /// All cells: the labels in their order, then the causes of host time.
    fn all() -> impl Iterator<Item = Self> {
        let labels = Label::all().filter(|label| *label != Label::Host).map(Self::Label);
        labels.chain(Cause::ALL.into_iter().map(Self::Host))
    }

    fn label(self) -> Label {
        match self {
            Self::Label(label) => label,
            Self::Host(_) => Label::Host,
        }
    }
}

/// Time of every cell, in nanoseconds. Host time is divided like the causes with its label; without such
/// causes it is launch-bound.
fn cells(parts: &Parts, causes: &CauseTimes) -> Vec<f64> {
    let host = parts.get(Label::Host) as f64;
    // Idle time without a recorded launch has no cause either, but a label of its own.
    let unlaunched = parts.get(Label::Unexplained) - causes[Cause::NotRecorded as usize];
    let of = |cause: Cause| {
        let time = causes[cause as usize] - if cause == Cause::Unknown { unlaunched.max(0) } else { 0 };
        if cause.label() == Label::Host { time.max(0) as f64 } else { 0.0 }
    };
    let all: f64 = Cause::ALL.into_iter().map(of).sum();
    let time = |cell: Cell| match cell {
        Cell::Label(label) => parts.get(label) as f64,
        Cell::Host(cause) if all > 0.0 => host * of(cause) / all,
        Cell::Host(cause) => {
            if cause == Cause::LaunchBound {
                host
            } else {
                0.0
            }
        }
    };
    Cell::all().map(time).collect()
}

/// Idle time by cause of one rank, or of all displayed ranks in one step.
fn causes<'a>(times: impl Iterator<Item = &'a CauseTimes>) -> CauseTimes {
    times.fold([0; Cause::ALL.len()], |mut sum, times| {
        sum.iter_mut().zip(times).for_each(|(sum, time)| *sum += time);
        sum
    })
}

/// Tests whether the time of a cell contains the cost of a rule's findings.
fn covers(id: &str, cell: Cell) -> bool {
    let label = cell.label();
    let exposed = |dimension: Dimension| matches!(label, Label::Exposed(d, Share::Transfer | Share::Undivided) if d == dimension);
    let waits = matches!(label, Label::Exposed(_, Share::Wait));
    let bubble = matches!(label, Label::Bubble(_));
    // A short gap before a late launch is launch overhead.
    let is_launching = cell == Cell::Host(Cause::LaunchBound);
    if let Some(rule) = super::idle::IDLE.iter().find(|rule| rule.id() == id) {
        return match cell {
            Cell::Host(cause) => cause == rule.cause,
            Cell::Label(label) => rule.cause.label() != Label::Host && label == rule.cause.label(),
        };
    }
    match id {
        "unexplained" => label == Label::Unexplained,
        "small-kernels" => is_launching,
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
        // Without savings by kernel, any compute.
        "below-roofline" | "unfused-attention" | "layout-copies" | "float32-products" | "matrix-shapes"
        | "clock-throttling" | "page-migration" => label.is_compute(),
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

/// Time by cell that a rule's findings can remove, per rank and step, in nanoseconds.
fn removable(context: &Context<'_>, id: &str) -> Vec<f64> {
    let samples = context.samples();
    if by_steps(id) {
        return beyond_median(context);
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
    let of_ranks: Vec<(u32, Vec<f64>)> = if named.is_empty() {
        Vec::new()
    } else {
        let of = |rank: &crate::waterfall::RankWaterfall| {
            (rank.rank, cells(&rank.total, &causes(rank.step_causes.iter())))
        };
        context.waterfall.ranks.iter().map(of).collect()
    };
    let own = |at: usize| {
        let mut times: Vec<f64> = of_ranks.iter().map(|(_, cells)| cells[at]).collect();
        times.sort_by(f64::total_cmp);
        let usual = times.get(times.len() / 2).copied().unwrap_or(0.0);
        let ranks = of_ranks.iter().filter(|(rank, _)| named.contains(rank));
        ranks.map(|(_, cells)| (cells[at] - usual).max(0.0)).sum::<f64>() / samples
    };
    // Without the idle time, ranks wait less for each other.
    let waits = |label: Label| {
        let of_others = matches!(label, Label::Exposed(_, Share::Wait) | Label::Bubble(_));
        of_others && is_of_idle(context, id)
    };
    let means = means(context);
    let has = |cell: Cell| covers(id, cell) || waits(cell.label());
    Cell::all().enumerate().map(|(at, cell)| if has(cell) { means[at] } else { own(at) }).collect()
}

/// Mean time of every cell per rank and step, in nanoseconds.
fn means(context: &Context<'_>) -> Vec<f64> {
    let held = |rank: &'_ crate::waterfall::RankWaterfall, step: usize| !rank.missing.contains(&step);
    let times = context.waterfall.ranks.iter().flat_map(|rank| {
        rank.step_causes.iter().enumerate().filter(move |(step, _)| held(rank, *step)).map(|(_, times)| times)
    });
    let all = cells(&context.waterfall.total, &causes(times));
    all.into_iter().map(|time| time / context.samples()).collect()
}

/// Excess of every cell in the mean step over its median step, per rank, in nanoseconds: `max(0, mean_s(t_s)
/// - median_s(t_s)) / ranks`.
fn beyond_median(context: &Context<'_>) -> Vec<f64> {
    let of = |(at, parts): (usize, &Parts)| {
        let ranks = context.waterfall.ranks.iter().filter(|rank| !rank.missing.contains(&at));
        cells(parts, &causes(ranks.filter_map(|rank| rank.step_causes.get(at))))
    };
    let steps: Vec<Vec<f64>> = context.waterfall.steps.iter().enumerate().map(of).collect();
    let beyond = |at: usize| {
        let mut times: Vec<f64> = steps.iter().map(|cells| cells[at]).collect();
        times.sort_by(f64::total_cmp);
        let usual = times.get(times.len() / 2).copied().unwrap_or(0.0);
        (times.iter().sum::<f64>() - usual * times.len() as f64).max(0.0) / context.samples()
    };
    (0..Cell::all().count()).map(beyond).collect()
}

/// Time by cell of the kernels that a finding saves, per rank and step, in nanoseconds.
fn of_kernels(context: &Context<'_>, savings: &[(String, f64)]) -> Vec<f64> {
    let names: BTreeSet<&str> = savings.iter().map(|saving| saving.0.as_str()).collect();
    let mut times = Parts::default();
    for (part, _) in context.uses().filter(|(_, name)| names.contains(name)) {
        times.add(part.label, part.time);
    }
    cells(&times, &[0; Cause::ALL.len()]).into_iter().map(|time| time / context.samples()).collect()
}

/// Adds to every finding the share that previous ones remove already, and returns the joint cost. Findings
/// are in order of cost.
pub(super) fn joint(context: &Context<'_>, found: &mut [Finding]) -> Option<Joint> {
    let all: Vec<Cell> = Cell::all().collect();
    let mut left = means(context);
    let mut budgets: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for finding in found.iter().filter(|one| one.cost.is_some()) {
        budgets.entry(finding.id.clone()).or_insert_with(|| match finding.savings.as_slice() {
            [] => removable(context, &finding.id),
            savings => of_kernels(context, savings),
        });
    }
    let claims = |at: usize| {
        let claimed = |one: &&Finding| budgets.get(&one.id).is_some_and(|budget| budget[at] > 0.0);
        found.iter().filter(|one| one.cost.is_some()).filter(claimed).count()
    };
    // Cells claimed by most findings come first: a cause that may lie in several cells is charged where other
    // findings agree.
    let mut order: Vec<(usize, usize)> = (0..left.len()).map(|at| (claims(at), at)).collect();
    order.sort_by_key(|&(claims, at)| (std::cmp::Reverse(claims), at));
    let mut joint = Joint::default();
    let mut of_kernels = kernels(context, found);
    let mut towards_roofline: BTreeMap<String, f64> = BTreeMap::new();
    let repeated: Vec<f64> = (0..found.len()).map(|at| repeated(found, at)).collect();
    for (finding, repeated) in found.iter_mut().zip(repeated) {
        let Some(cost) = finding.cost.filter(|cost| *cost > 0.0) else { continue };
        let Some(budget) = budgets.get_mut(&finding.id) else { continue };
        let over = twice(&mut of_kernels, &finding.savings);
        let over = over.max(contained(&mut towards_roofline, &finding.id, &finding.savings)).max(repeated);
        let mut open = (cost - over).max(0.0);
        // Idle time takes its own label before the waits that it causes.
        let own_first = is_of_idle(context, &finding.id);
        let (own, others): (Vec<_>, Vec<_>) = order
            .iter()
            .partition(|(_, at)| !own_first || all.get(*at).is_some_and(|cell| covers(&finding.id, *cell)));
        for (_, at) in own.into_iter().chain(others) {
            let taken = open.min(left[at]).min(budget[at]).max(0.0);
            left[at] -= taken;
            budget[at] -= taken;
            open -= taken;
        }
        open += over.min(cost);
        // A rounding error is not overlap.
        // Savings may exceed the named kernels: only what previous findings remove is shared.
        let shared = if open < 1e-3 * cost { 0.0 } else { open.min(joint.cost) };
        // All findings together cannot remove more than the step.
        let shared = shared.max(joint.cost + cost - context.step()).min(cost);
        finding.shared = shared;
        joint.cost += cost - shared;
        joint.shared += shared;
        joint.findings += 1;
    }
    (joint.findings > 1).then_some(joint)
}

/// Tests whether a rule's findings are delays by their ranks.
fn is_of_ranks(id: &str) -> bool {
    matches!(id, "straggler" | "slow-chip" | "unbalanced-experts" | "host-pauses" | "clock-throttling")
}

/// Cost of a finding that findings before it contain because they are about the same delay: the same activity
/// of the same ranks. Without it, both are gone.
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

/// Savings of kernels that a finding about the same inefficiency contains: aligned shapes and narrower
/// formats are ways to a faster kernel, as is its roofline, so the larger saving counts.
fn contained(saved: &mut BTreeMap<String, f64>, id: &str, savings: &[(String, f64)]) -> f64 {
    if !matches!(id, "below-roofline" | "matrix-shapes" | "float32-products") {
        return 0.0;
    }
    let mut own: BTreeMap<&str, f64> = BTreeMap::new();
    for (name, saving) in savings {
        *own.entry(name).or_default() += saving;
    }
    let of = |(name, saving): (&str, f64)| {
        let known = saved.entry(name.to_owned()).or_default();
        let twice = known.min(saving);
        *known = known.max(saving);
        twice
    };
    own.into_iter().map(of).sum()
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

    /// Unaligned GEMMs are far from the roofline: with aligned shapes they are nearer, which saves the time
    /// once.
    #[test]
    fn two_findings_of_one_inefficiency_save_the_larger_part() {
        let mut saved = BTreeMap::new();
        let of = |saving: f64| vec![("gemm".to_owned(), saving)];
        assert!(contained(&mut saved, "below-roofline", &of(50.0)).abs() < 1e-9);
        assert!((contained(&mut saved, "matrix-shapes", &of(20.0)) - 20.0).abs() < 1e-9);
        assert!((contained(&mut saved, "float32-products", &of(60.0)) - 50.0).abs() < 1e-9);
        assert!(contained(&mut saved, "unfused-attention", &of(20.0)).abs() < 1e-9);
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
