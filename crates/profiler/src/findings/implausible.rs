//! Collectives that last far longer than their bytes require, with one recorded rank of their group.
//!
//! Responsible for: both interpretations of such a rank (others late, or a broken transport), with the
//! implied bandwidth. Excludes groups with more recorded ranks: these show which one applies.

use super::words::{percent, time};
use super::{Context, Rule};
use crate::certainty::Certainty;
use crate::collectives::bus_factor;
use crate::groups::RankSet;
use crate::matching::Part;
use crate::profile::{Finding, Subject};
use crate::waterfall::{Label, Share};
use railwright_spec::human;
use railwright_spec::quantity::BytesPerSecond;
use railwright_step::{CollectiveKind, Dimension};
use std::collections::BTreeMap;

/// Minimum share of the link's rate for a plausible transfer: rings over sockets reach more. Below it, even
/// the fastest collective of its kind includes waiting.
const IMPLAUSIBLE: f64 = 0.05;

/// Minimum time on the link in seconds; shorter collectives are limited by latency.
const LARGE: f64 = 20e-6;

/// Minimum number of one kind: of fewer, the fastest may include a wait.
const FEWEST: u32 = 3;

pub(super) struct ImplausibleBandwidth;

/// Collectives of one dimension and operation on ranks whose peers were not recorded.
#[derive(Default)]
struct Sum {
    count: u32,
    /// The fastest one: its bus bandwidth and the rate of its links, in bytes per second.
    fastest: (f64, f64),
    /// Total time in nanoseconds, the minimum for their bytes with any algorithm, and the time at a bus
    /// bandwidth as high as the links'.
    time: f64,
    least: f64,
    ring: f64,
    /// Label of the group of the first one.
    label: Option<String>,
}

impl Rule for ImplausibleBandwidth {
    fn id(&self) -> &'static str {
        "implausible-bandwidth"
    }

    fn title(&self) -> &'static str {
        "Collectives are much slower than their bytes explain"
    }

    fn text(&self) -> &'static str {
        "Only one rank of a group was recorded. The bus bandwidth of even the fastest of at least three collectives of one kind is below 5% \
         of the links'. Either other ranks were late in all of them, or the \
         transport is wrong (sockets instead of RDMA or NVLink). Cost: an upper bound, all exposed time of \
         these collectives beyond bytes / link bandwidth. Threshold: 3% of the step. Collectives shorter \
         than 20 us at full rate are excluded."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let tell = |((dimension, operation), sum): ((Dimension, Option<CollectiveKind>), Sum)| {
            let (rate, link) = sum.fastest;
            let undivided = context.mean(Label::Exposed(dimension, Share::Undivided));
            let beyond = (1.0 - sum.least / sum.time.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
            let share = context.share(undivided);
            if sum.count < FEWEST || rate >= IMPLAUSIBLE * link || share < 0.03 {
                return None;
            }
            let shown = |rate: f64| human::bandwidth(BytesPerSecond::new(rate));
            let label = sum.label.as_deref().filter(|_| dimension == Dimension::Other);
            let what = label.unwrap_or_else(|| dimension.name());
            Some(Finding {
                id: self.id().to_owned(),
                message: format!(
                    "{} of {what} reaches a bus bandwidth of at most {} of {} ({}): other ranks are late, or the \
                     transport is wrong",
                    operation.map_or("communication", |operation| operation.name()),
                    shown(rate),
                    shown(link),
                    percent(rate / link)
                ),
                cost: Some(undivided * beyond),
                certainty: Some(Certainty::AtMost),
                subject: Subject::of_dimension(dimension),
                evidence: vec![
                    format!("{} collectives; the fastest is compared", sum.count),
                    format!(
                        "{} on average at the full bandwidth of the links, {} measured",
                        time(sum.ring / f64::from(sum.count)),
                        time(sum.time / f64::from(sum.count))
                    ),
                ],
                advice: "record all ranks of the group in the same steps; check NCCL_DEBUG=INFO for NET/Socket where RDMA or NVLink is expected".to_owned(),
                ..Finding::default()
            })
        };
        sums(context).into_iter().filter_map(tell).collect()
    }
}

fn sums(context: &Context<'_>) -> BTreeMap<(Dimension, Option<CollectiveKind>), Sum> {
    let joined = context.joined;
    let matching = &joined.matching;
    let mut sums: BTreeMap<(Dimension, Option<CollectiveKind>), Sum> = BTreeMap::new();
    let (from, to) = context.windows.span();
    for (parts, of) in matching.parts.iter().zip(&matching.of) {
        for (part, collective) in parts.iter().zip(of) {
            let recorded = collective
                .and_then(|at| matching.collectives.get(at as usize))
                .map_or(1, |collective| matching.members(collective).len());
            let moves = !matches!(part.operation, Some(CollectiveKind::Copy | CollectiveKind::Barrier));
            if recorded > 1 || !moves || part.start < from || part.end > to {
                continue;
            }
            let group = part.group.and_then(|id| joined.groups.get(id));
            let Some((bytes, link)) = joined.least.load(part, group) else { continue };
            let seconds = part.duration() as f64 * 1e-9;
            if bytes / link < LARGE || seconds <= 0.0 {
                continue;
            }
            let dimension = group.map_or(Dimension::Other, |group| group.dimension.dimension);
            let ranks = group.and_then(|group| group.ranks.as_ref()).map_or(0, RankSet::len);
            let bus = part.bytes.unwrap_or(0) as f64 * bus_factor(part.operation, ranks);
            let sum = sums.entry((dimension, part.operation)).or_default();
            sum.label = sum.label.take().or_else(|| group.map(|group| group.dimension.label.clone()));
            add(sum, part, (bytes, bus, link, seconds));
        }
    }
    sums
}

fn add(sum: &mut Sum, part: &Part, (bytes, bus, link, seconds): (f64, f64, f64, f64)) {
    sum.count = sum.count.saturating_add(1);
    sum.time += part.duration() as f64;
    sum.least += bytes / link * 1e9;
    sum.ring += bus / link * 1e9;
    if sum.fastest.1 <= 0.0 || bus / seconds / link > sum.fastest.0 / sum.fastest.1 {
        sum.fastest = (bus / seconds, link);
    }
}
