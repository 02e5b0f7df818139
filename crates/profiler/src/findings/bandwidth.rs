//! Transfers far below the bandwidth of their link.
//!
//! Responsible for: bus bandwidth of large collectives, by dimension and operation, relative to the limit of
//! the link of their groups, if known. Excludes small messages, which latency dominates, and collectives
//! without all ranks recorded, whose transfer time is unknown.

use super::words::percent;
use super::{Context, Rule};
use crate::bandwidth::accelerator;
use crate::collectives::{bus_factor, ceiling};
use crate::groups::RankSet;
use crate::profile::{Explained, Finding, Subject};
use crate::waterfall::{Label, Share};
use railwright_spec::human;
use railwright_spec::median;
use railwright_spec::quantity::{Bytes, BytesPerSecond};
use railwright_step::{CollectiveKind, Dimension};
use std::collections::BTreeMap;

/// Threshold of a low rate, as a share of the ceiling; good rings reach 0.8 and more with large messages.
const LOW: f64 = 0.5;

/// Share of the ceiling that a good ring reaches. The cost is the time above that of this rate.
const REACHABLE: f64 = 0.8;

/// Minimum link time of a large message: launches and hops take tens of microseconds for any size.
const LARGE: f64 = 100e-6;

/// Minimum bytes of a large message, if the limit is unknown.
const LARGE_BYTES: f64 = 1e6;

pub(super) struct LowBandwidth;

/// Large collectives of one dimension and operation.
#[derive(Default)]
struct Sum {
    rates: Vec<f64>,
    bytes: Vec<f64>,
    /// Seconds of all transfers, and seconds saved at the reachable rate (`saved`).
    transfers: f64,
    saved: f64,
    link: Option<(String, f64)>,
    ranks: String,
}

impl Rule for LowBandwidth {
    fn id(&self) -> &'static str {
        "low-bandwidth"
    }

    fn title(&self) -> &'static str {
        "Collectives are far below the bandwidth of their link"
    }

    fn text(&self) -> &'static str {
        "Bus bandwidth (as in nccl-tests) of collectives with all ranks recorded, from the time the last rank entered. \
         The limit is that of the accelerator's scale-up link if all ranks are in one domain, else of its network. \
         Messages shorter than 100 us at full rate are \
         excluded, because latency dominates. Reported if the median is below half of the limit and exposed \
         transfers of the dimension take 1% of the step. Cost: exposed transfer time saved at 80% of the \
         limit. With an unknown limit (accelerator not in the catalogue, PCIe without a known network), the threshold \
         is 3% of the step, and no cost is given.\n\n\
         Common causes: a NIC or cable at a lower rate; traffic over PCIe or sockets instead of NVLink or RDMA; rank \
         placements with rings that cross the network more than once; too few channels; compute kernels that occupy \
         the SMs. `railwright comm` shows the rate of every group; `nccl-tests` on the \
         same machines separates link problems from job problems."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let sums = sums(context);
        let tell = |((dimension, operation), mut sum): ((Dimension, Option<CollectiveKind>), Sum)| {
            let exposed = context.mean(Label::Exposed(dimension, Share::Transfer));
            let (share, rate) = (context.share(exposed), median(&mut sum.rates));
            let what = format!(
                "{} {}",
                if dimension == Dimension::Other { "unknown" } else { dimension.name() },
                operation.map_or("collective", |operation| operation.name())
            );
            let shown = |rate: f64| human::bandwidth(BytesPerSecond::new(rate));
            let size = human::bytes_decimal(Bytes::new(median(&mut sum.bytes)));
            let (message, cost, last) = match &sum.link {
                Some((name, ceiling)) if rate < LOW * ceiling && share >= 0.01 => (
                    format!(
                        "{what} reaches {} of {} per link ({}, {name})",
                        shown(rate),
                        shown(*ceiling),
                        percent(rate / ceiling)
                    ),
                    Some(exposed * sum.saved / sum.transfers.max(f64::MIN_POSITIVE)),
                    format!("limit: {name} of the accelerator in the traces"),
                ),
                None if share >= 0.03 => (
                    format!("{what} reaches {} per link; the bandwidth of the link is unknown", shown(rate)),
                    None,
                    "limit: unknown".to_owned(),
                ),
                _ => return None,
            };
            Some(Finding {
                id: self.id().to_owned(),
                message,
                cost,
                explained: Explained::Whole,
                subject: Subject::of_dimension(dimension),
                evidence: vec![
                    format!("{} of {size}, median, over ranks {}", sum.rates.len(), sum.ranks),
                    format!("exposed transfers: {} of the step", percent(share)),
                    last,
                ],
                advice: "compare with nccl-tests on the same machines; check NIC rates, NVLink and RDMA in \
                    NCCL_DEBUG=INFO, and rank placement"
                    .to_owned(),
                ..Finding::default()
            })
        };
        sums.into_iter().filter_map(tell).collect()
    }
}

fn sums(context: &Context<'_>) -> BTreeMap<(Dimension, Option<CollectiveKind>), Sum> {
    let Context { job, joined, .. } = *context;
    let accelerator = accelerator(job);
    let matching = &joined.matching;
    let mut sums: BTreeMap<(Dimension, Option<CollectiveKind>), Sum> = BTreeMap::new();
    for collective in &matching.collectives {
        let usable = collective.complete && collective.consistent && !joined.misses_ranks(collective);
        let (Some(bytes), true) = (collective.bytes, usable) else { continue };
        let communicator = matching.communicator(collective);
        let parts = || matching.members(collective).iter().map(|&at| matching.part(at));
        let Some(shortest) = parts().map(crate::matching::Part::duration).min().filter(|time| *time > 0)
        else {
            continue;
        };
        let group = communicator.group.and_then(|id| joined.groups.get(id));
        let dimension = match (group, communicator.channel) {
            (Some(group), _) => group.dimension.dimension,
            (None, Some(_)) => Dimension::Pipeline,
            (None, None) => Dimension::Other,
        };
        let ranks: Vec<u32> = communicator.members.iter().map(|member| member.rank).collect();
        let set = RankSet::new(&ranks);
        let moved = bytes as f64 * bus_factor(collective.operation, ranks.len() as u32);
        let (seconds, link) = (shortest as f64 * 1e-9, accelerator.as_ref().and_then(|a| ceiling(a, &set)));
        let large = link.as_ref().map_or(moved >= LARGE_BYTES, |link| moved / link.bytes_per_second >= LARGE);
        if !large {
            continue;
        }
        let sum = sums.entry((dimension, collective.operation)).or_default();
        sum.rates.push(moved / seconds);
        sum.bytes.push(bytes as f64);
        sum.transfers += seconds;
        if let Some(link) = &link {
            sum.saved += (seconds - moved / (REACHABLE * link.bytes_per_second)).max(0.0);
        }
        // The slowest link of any of its groups limits the dimension.
        let known = sum.link.as_ref().map_or(f64::INFINITY, |link| link.1);
        if sum.ranks.is_empty() || link.as_ref().is_some_and(|link| link.bytes_per_second < known) {
            sum.ranks = set.to_string();
            sum.link = link.map(|link| (link.name, link.bytes_per_second));
        }
    }
    sums
}
