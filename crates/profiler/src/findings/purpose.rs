//! Exposed communication without a known dimension, by group and operation.
//!
//! Responsible for: names of the groups as in `railwright comm`, and the remedies that their operations
//! allow. Excludes groups with a known dimension. Parallel sizes attribute only groups whose ranks the traces
//! list.

use super::Context;
use super::remedies::is_forward;
use super::words::time;
use crate::groups::{Evidence, Group};
use crate::matching::Lane;
use crate::occupancy::Intervals;
use crate::trace::HostKind;
use crate::view::{Role, View};
use crate::waterfall::{Label, Share};
use crate::windows::CutBy;
use railwright_spec::human;
use railwright_step::{CollectiveKind, Dimension, Phase};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of listed groups and operations.
const LISTED: usize = 3;

/// Exposed communication of unknown dimension.
pub(super) struct Unattributed {
    /// Its groups, for a sentence.
    pub(super) groups: String,
    /// Time by group and operation.
    pub(super) evidence: Vec<String>,
    pub(super) advice: String,
}

/// Identification of a group by the traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Known {
    /// Its ranks are listed, and parallel sizes can name it.
    BySizes,
    /// Its ranks are listed, and parallel sizes do not change it.
    Listed,
    /// It is inferred from matching collectives.
    Inferred,
    /// No trace records it.
    No,
}

/// A group with a known purpose, label and operation.
type Key = (Known, String, Option<CollectiveKind>);

/// Sums the exposed communication of unknown dimension by group and operation, and derives the advice.
/// `undivided` is true if transfers and waits are not separable.
pub(super) fn unattributed(context: &Context<'_>, undivided: bool) -> Unattributed {
    let times = times(context);
    let all: i64 = times.values().sum();
    let mut rows: Vec<(&Key, i64)> = times.iter().map(|(key, time)| (key, *time)).collect();
    rows.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let most = |fits: &dyn Fn(&Key) -> bool| {
        2 * times.iter().filter(|(key, _)| fits(key)).map(|(_, time)| *time).sum::<i64>() > all
    };
    let unrecorded = all == 0 || most(&|key| key.0 == Known::No);
    let leading = rows.first().map(|row| row.0);
    let groups = match leading {
        Some((_, label, _)) if !unrecorded => {
            let named: BTreeSet<&str> = times.keys().map(|key| key.1.as_str()).collect();
            if named.len() > 1 { format!("{label} and other groups") } else { label.clone() }
        }
        _ => "groups that the traces do not record".to_owned(),
    };
    // Labels divide the time of a group between steps and overlaps: they give the sum, and these rows the
    // shares.
    let exposed =
        |label: Label| matches!(label, Label::Exposed(Dimension::Other, Share::Transfer | Share::Undivided));
    let lost = context.sum(exposed);
    let name =
        |operation: Option<CollectiveKind>| operation.map_or("other collectives", CollectiveKind::name);
    let line = |(key, part): &(&Key, i64)| {
        let (_, label, operation) = key;
        format!("{} of {label}: {} per step", name(*operation), time(lost * *part as f64 / all.max(1) as f64))
    };
    let mut evidence: Vec<String> = rows.iter().take(LISTED).map(line).collect();
    if unrecorded {
        evidence.push("no trace records the groups of these collectives: parallel sizes (`--layout`) cannot attribute them".to_owned());
    }
    let by_sizes = most(&|key| key.0 == Known::BySizes);
    let mut operations: BTreeMap<Option<CollectiveKind>, i64> = BTreeMap::new();
    for (key, time) in &times {
        *operations.entry(key.2).or_default() += time;
    }
    let operation = operations.into_iter().max_by_key(|of| of.1).and_then(|of| of.0);
    let mut advice = Vec::new();
    if by_sizes {
        advice.push("pass the parallel sizes with `--layout` to attribute these groups");
    }
    // Waits have other remedies than transfers.
    if undivided {
        advice.push("record all ranks of these groups to separate transfers from waits");
    }
    advice.push(remedy(operation, context));
    Unattributed { groups, evidence, advice: advice.join("; ") }
}

/// Tests whether the names of most exposed kernels of NCCL or RCCL have a format of 16 bits or fewer, as in
/// `ncclDevKernel_AllReduce_Sum_f16_RING_LL`.
fn reduces_16_bits(context: &Context<'_>) -> bool {
    let (mut narrow, mut all) = (0, 0);
    for (name, time) in context.times_under(|label| matches!(label, Label::Exposed(_, _))) {
        all += time;
        if ["_f16", "_bf16", "_f8", "_half", "_bfloat16"].iter().any(|format| name.contains(format)) {
            narrow += time;
        }
    }
    2 * narrow > all
}

/// Minimum share of exposed reductions in the forward and in the backward pass, for reductions of
/// activations: gradients are reduced in the backward pass or after it.
const BOTH: f64 = 0.25;

/// Maximum mean duration of small reductions, in nanoseconds: several times the latency of a collective
/// between nodes (about 20 us).
const SMALL: i64 = 100_000;

/// Advice for reductions that the next layer waits for.
const ACTIVATIONS: &str = "these reductions sum activations that the next layer needs: overlap them with GEMMs in parts (`--tp-comm-overlap`), use \
                           fewer tensor-parallel ranks, or a fused all-reduce";

/// Tests whether operators of the hosts were recorded.
fn has_operators(context: &Context<'_>) -> bool {
    context.views.iter().any(|view| view.trace.host.kinds().contains(&HostKind::Operator))
}

/// Kernels of reductions.
#[derive(Clone, Copy, Debug, Default)]
struct Reductions {
    /// Exposed time, in all phases and by phase, in nanoseconds.
    exposed: i64,
    forward: i64,
    backward: i64,
    /// Number, and time including overlapped time in nanoseconds.
    count: i64,
    duration: i64,
}

impl Reductions {
    fn new(context: &Context<'_>) -> Self {
        let (from, to) = context.windows.span();
        let mut sums = Self::default();
        for view in context.views {
            let compute = compute(view);
            for (at, row) in view.gpu.iter().enumerate() {
                let is_one = view.role.get(at) == Some(&Role::Communication)
                    && view.trace.names.get(row.name).to_ascii_lowercase().contains("reduce");
                if !is_one || row.start < from || row.start >= to {
                    continue;
                }
                let exposed = row.duration() - compute.within(row.start, row.end);
                sums.exposed += exposed;
                sums.count += 1;
                sums.duration += row.duration();
                match view.phase.get(at) {
                    Some(Phase::Forward) => sums.forward += exposed,
                    Some(
                        Phase::Backward | Phase::BackwardInput | Phase::BackwardWeight | Phase::Recompute,
                    ) => sums.backward += exposed,
                    _ => {}
                }
            }
        }
        sums
    }

    /// Tests whether both passes have them.
    fn of_activations(&self) -> bool {
        let least = BOTH * self.exposed as f64;
        self.exposed > 0 && self.forward as f64 >= least && self.backward as f64 >= least
    }

    fn are_small(&self) -> bool {
        self.count > 0 && self.duration < SMALL * self.count
    }
}

/// Remedy for an operation of unknown purpose.
fn remedy(operation: Option<CollectiveKind>, context: &Context<'_>) -> &'static str {
    match operation {
        Some(CollectiveKind::AllReduce | CollectiveKind::ReduceScatter) if reduces_by_ddp(context) => {
            "these reductions belong to DistributedDataParallel: check that they start within the backward pass, use larger buckets \
             (`bucket_cap_mb`), or compress gradients (`bf16_compress_hook`)"
        }
        Some(CollectiveKind::AllToAll | CollectiveKind::Dispatch | CollectiveKind::Combine) => {
            "overlap these exchanges with compute that does not need their result (dense layers, the next micro-batch), or exchange \
             narrower formats"
        }
        Some(CollectiveKind::AllReduce | CollectiveKind::ReduceScatter) => {
            let seen = Reductions::new(context);
            let is_forward = is_forward(context.views);
            // Without operators, the passes are unknown.
            if seen.of_activations() || is_forward && has_operators(context) {
                return ACTIVATIONS;
            }
            if is_forward {
                return "overlap these reductions with compute that does not need their result";
            }
            match (seen.are_small(), reduces_16_bits(context)) {
                (true, true) => "merge these small reductions, and overlap them with the backward pass",
                (true, false) => {
                    "merge these small reductions, overlap them with the backward pass, or reduce in bf16"
                }
                (false, true) => "start these reductions earlier, so that the backward pass overlaps them",
                (false, false) => {
                    "start these reductions earlier, so that the backward pass overlaps them, or reduce in bf16"
                }
            }
        }
        Some(CollectiveKind::AllGather | CollectiveKind::Gather) => {
            "gather earlier (prefetch the next layer), or gather narrower formats"
        }
        Some(CollectiveKind::Send | CollectiveKind::Receive | CollectiveKind::SendReceive) => {
            "start these messages earlier, and overlap them with compute that does not need them"
        }
        // Nothing shows that they recur.
        Some(CollectiveKind::Broadcast) if context.windows.cut_by == CutBy::Nothing => {
            "record steps after the start, where parameters are broadcast once; if broadcasts recur, broadcast less often \
             (DistributedDataParallel with `broadcast_buffers=False` sends no buffers)"
        }
        Some(CollectiveKind::Broadcast) => {
            "broadcast less often; DistributedDataParallel with `broadcast_buffers=False` sends no buffers"
        }
        _ => "overlap these collectives with compute that does not need their result",
    }
}

/// Tests whether hosts ran DistributedDataParallel.
pub(super) fn reduces_by_ddp(context: &Context<'_>) -> bool {
    let is_ddp =
        |name: &str| name.contains("DistributedDataParallel") || name.contains("torch.distributed.ddp");
    context.names.iter().any(|names| names.iter().any(is_ddp))
}

/// Exposed time by group and operation, in nanoseconds, over all displayed ranks and steps.
fn times(context: &Context<'_>) -> BTreeMap<Key, i64> {
    let matching = &context.joined.matching;
    let (from, to) = context.windows.span();
    let mut times: BTreeMap<Key, i64> = BTreeMap::new();
    let sized = context.joined.groups.groups.iter().any(|group| group.dimension.evidence == Evidence::Sizes);
    for (view, rank) in context.views.iter().zip(&context.waterfall.ranks) {
        let member = context.job.position(rank.rank);
        let Some(parts) = member.and_then(|at| Some((matching.parts.get(at)?, matching.of.get(at)?))) else {
            continue;
        };
        let compute = compute(view);
        for (part, of) in parts.0.iter().zip(parts.1) {
            let on_device = matches!(part.lane, Lane::Stream(_)) != view.from_host;
            let (start, end) = (part.start.max(from), part.end.min(to));
            if !on_device || start >= end || part.operation == Some(CollectiveKind::Copy) {
                continue;
            }
            let collective = of.and_then(|at| matching.collectives.get(at as usize));
            let group = part.group.or_else(|| matching.communicator(collective?).group);
            let group = group.and_then(|group| context.joined.groups.get(group));
            if group.is_some_and(|group| group.dimension.dimension != Dimension::Other) {
                continue;
            }
            let exposed = end - start - compute.within(start, end);
            if exposed > 0 {
                let (known, label) = named(group, sized);
                *times.entry((known, label, part.operation)).or_default() += exposed;
            }
        }
    }
    times
}

/// Compute of a rank.
fn compute(view: &View<'_>) -> Intervals {
    let rows = view.gpu.starts().iter().zip(view.gpu.ends()).zip(&view.role);
    Intervals::union(
        rows.filter(|(_, role)| **role == Role::Compute).map(|((start, end), _)| (*start, *end)).collect(),
    )
}

/// Identification and label of a group. `sized` is true if parallel sizes name some group.
fn named(group: Option<&Group>, sized: bool) -> (Known, String) {
    let Some(group) = group else { return (Known::No, "an unrecorded group".to_owned()) };
    let label = group.dimension.label.clone();
    if group.inferred {
        return (
            Known::Inferred,
            format!("an inferred group of {}", human::several(u64::from(group.size), "rank")),
        );
    }
    if label == "whole world" {
        return (Known::Listed, "the whole world".to_owned());
    }
    let has_stride = group.ranks.as_ref().is_some_and(|ranks| ranks.stride().is_some());
    let is_known = group.dimension.evidence != Evidence::Nothing;
    (if has_stride && !sized && !is_known { Known::BySizes } else { Known::Listed }, format!("group {label}"))
}
