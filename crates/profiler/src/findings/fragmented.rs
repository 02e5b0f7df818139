//! Many small collectives.
//!
//! Responsible for: collectives limited by latency, by group. Without recorded sizes, only many very short
//! calls count.

use super::purpose::reduces_by_ddp;
use super::words::time;
use super::{Context, Inference, Rule};
use crate::profile::{Explained, Finding};
use crate::replay::lower_median;
use railwright_step::CollectiveKind;
use std::collections::BTreeMap;

pub(super) struct Fragmented;

/// Bytes below which latency, not bandwidth, determines the time of a collective on current networks.
const SMALL: u64 = 1 << 20;
/// Minimum number per step.
const MANY: f64 = 32.0;

impl Rule for Fragmented {
    fn id(&self) -> &'static str {
        "fragmented-collectives"
    }

    fn title(&self) -> &'static str {
        "Many small collectives"
    }

    fn text(&self) -> &'static str {
        "Collectives below 1 MiB are limited by latency. Reported if a rank has 32 of one kind and group per \
         step and they take 1% of the step. Cost: three quarters of their shortest times, the saving if four \
         are merged into one. Without recorded sizes, 100 calls of one kind per step whose median is below 50 us are reported.\n\n\
         Remedies: buckets (`--ddp-bucket-size`, `reduce_bucket_size`), coalesced calls, flattened \
         parameters."
    }

    fn inference(&self) -> Inference {
        Inference::Advice(
            "fuse each all-reduce with the adjacent norm or GEMM (the server's fused kernels), or use fewer tensor-parallel ranks",
        )
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let (from, to) = context.windows.span();
        let steps = context.windows.steps.len().max(1) as f64;
        let mut groups: BTreeMap<(u32, &'static str), (f64, i64, u64)> = BTreeMap::new();
        let matching = &context.joined.matching;
        for collective in &matching.collectives {
            let Some(bytes) = collective.bytes.filter(|b| *b < SMALL) else { continue };
            let Some(operation) = collective.operation else { continue };
            let parts = || matching.members(collective).iter().map(|at| matching.part(*at));
            let Some(start) = parts().map(|p| p.start).max().filter(|s| (from..to).contains(s)) else {
                continue;
            };
            let Some(end) = parts().map(|p| p.end).min() else { continue };
            let entry = groups.entry((collective.communicator, operation.name())).or_default();
            entry.0 += 1.0;
            entry.1 += (end - start).max(0);
            entry.2 += bytes;
        }
        let mut found: Vec<Finding> = unsized_calls(context).into_iter().collect();
        for ((communicator, operation), (count, transfer, bytes)) in groups {
            let each = transfer as f64 / steps;
            if count / steps < MANY || context.share(each) < 0.01 {
                continue;
            }
            let ranks = matching.communicators[communicator as usize].members.len();
            found.push(Finding {
                id: self.id().to_owned(),
                message: format!("{:.0} small {operation} calls per step over {ranks} ranks", count / steps),
                cost: Some(0.75 * each),
                explained: Explained::Whole,
                evidence: vec![format!(
                    "{:.0} KiB each on average, {} in total per step",
                    bytes as f64 / count / 1024.0,
                    time(each)
                )],
                advice: "merge small collectives: larger buckets, coalesced calls".to_owned(),
                ..Finding::default()
            });
        }
        found
    }
}

/// Maximum median duration of calls without sizes in nanoseconds, and minimum number per step: only latency
/// explains so short a collective.
const SHORT: i64 = 50_000;
const UNSIZED: f64 = 100.0;

/// Many short calls of one kind on ranks whose collectives have no recorded size: the kind with most calls.
fn unsized_calls(context: &Context<'_>) -> Option<Finding> {
    let (from, to) = context.windows.span();
    let matching = &context.joined.matching;
    let mut durations: BTreeMap<CollectiveKind, Vec<i64>> = BTreeMap::new();
    for rank in &context.waterfall.ranks {
        let parts = context.job.position(rank.rank).and_then(|member| matching.parts.get(member))?;
        for part in parts.iter().filter(|part| part.start >= from && part.start < to && part.bytes.is_none())
        {
            if let Some(operation) =
                part.operation.filter(|one| !matches!(one, CollectiveKind::Copy | CollectiveKind::Barrier))
            {
                durations.entry(operation).or_default().push(part.duration());
            }
        }
    }
    let (operation, mut all) = durations.into_iter().max_by_key(|(_, all)| all.len())?;
    let count = all.len() as f64 / context.samples();
    let median = lower_median(&mut all).filter(|median| *median <= SHORT)?;
    let each = count * median as f64;
    let by_ddp = operation == CollectiveKind::AllReduce && reduces_by_ddp(context);
    (count >= UNSIZED).then(|| Finding {
        id: "fragmented-collectives".to_owned(),
        message: format!("{count:.0} short {} calls per step, with a median of {}", operation.name(), time(median as f64)),
        cost: Some(0.75 * each),
        explained: Explained::Whole,
        evidence: vec![format!("{} per step at the median duration; sizes are not recorded", time(each))],
        advice: if by_ddp {
            "gradients are reduced one by one: use buckets (`bucket_cap_mb`), and keep them with compiled models \
             (`torch._dynamo.config.optimize_ddp`)"
        } else {
            "merge small collectives: larger buckets, coalesced calls"
        }
        .to_owned(),
        ..Finding::default()
    })
}
